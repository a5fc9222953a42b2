"""What the engine can do, asked of the engine itself, so that a new part is tested at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from certree import _core
from tests.problems import Problem

SEARCHES = ("depth-first", "best-first")


def solve(problem: Problem, callback: Any = None, /, **options: Any) -> Any:
    """Run the engine on a problem; ``options`` come on top of the problem's own."""
    return _core.solve(
        problem.columns,
        problem.row_types,
        problem.cost_matrix,
        problem.weights,
        {**problem.options(), **options},
        callback,
    )


@cache
def all_switches() -> tuple[str, ...]:
    """Names of the techniques that can be turned on and off."""
    return tuple(_core.switches())


@cache
def all_isas() -> tuple[str, ...]:
    """Instruction sets that this machine can run."""
    return tuple(_core.isas())


@cache
def all_searches() -> tuple[str, ...]:
    """Search orders that the engine offers; one that it refuses by name is not listed."""
    offered = []
    for search in SEARCHES:
        try:
            _core.solve(
                np.array([[0], [1]], dtype=np.uint8),
                np.array([0, 1], dtype=np.int32),
                np.array([[0, 1], [1, 0]], dtype=np.int64),
                None,
                {"search": search, "max_depth": 1},
            )
        except ValueError:
            continue
        offered.append(search)
    return tuple(offered)


def settings_one_by_one() -> list[dict[str, Any]]:
    """Everything on, everything off, and each switch alone off and alone on."""
    names = all_switches()
    settings: list[dict[str, Any]] = [{}, dict.fromkeys(names, True), dict.fromkeys(names, False)]
    settings += [{name: False} for name in names]
    settings += [{**dict.fromkeys(names, False), name: True} for name in names]
    return settings
