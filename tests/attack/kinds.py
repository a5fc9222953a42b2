"""The kinds of attacks, and how one of them is run."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import certree

from . import fair, honest, limited, squares, trees
from .checks import Attack, Refused, Report
from .problems import Draw

_PACKAGE = Path(certree.__file__).parent

KINDS: dict[str, Callable[[Attack], None]] = {
    "classifier": trees.classifier,
    "limits": limited.limits,
    "policy": limited.policy,
    "fair": fair.fair,
    "metric": trees.metric,
    "costs": limited.costs,
    "area": trees.area,
    "prices": limited.prices,
    "gap": trees.gap,
    "front": trees.front,
    "task front": limited.task_front,
    "curve": fair.curve,
    "path": trees.path,
    "regressor": squares.regressor,
    "criterion": honest.criterion,
    "survival": honest.survival,
    "lines": honest.lines,
    "memory": honest.memory,
    "reduced": honest.reduced,
}
"""What is attacked, by name."""

if any(find_spec(name) is None for name in ("pandas", "ibis", "duckdb")):
    del KINDS["reduced"]


def run(kind: str, seed: int, index: int, *, missing: bool = True) -> Attack:
    """Draw one problem, solve it, and compare the answer with the truth."""
    attack = Attack(kind, Draw(seed, index, missing=missing))
    try:
        KINDS[kind](attack)
    except Refused:
        pass
    except Exception as error:
        # What is made lazily may fail after the call that made it; an error of this harness may not
        # pass for one of the package.
        frames = traceback.extract_tb(error.__traceback__)
        if not any(_PACKAGE in Path(frame.filename).parents for frame in frames):
            raise
        attack.report.fail("raw", f"{type(error).__name__}: {str(error)[:300]}")
    attack.report.nature = attack.problem.nature
    attack.report.about = ", ".join(attack.draw.about)
    return attack


def reports(
    seed: int, indices: Iterable[int], kinds: Iterable[str] = KINDS, *, missing: bool = True
) -> Iterator[Report]:
    """Run many problems; the kinds take turns."""
    names = list(kinds)
    for index in indices:
        yield run(names[index % len(names)], seed, index, missing=missing).report
