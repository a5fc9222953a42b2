"""What every entry point of the core tells while it searches, and when it is asked to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from certree import _core, engine
from certree.engine import _shared_search
from certree.engine._shared_search import solve_shared

RNG = np.random.default_rng(0)
N_ROWS, N_COLUMNS = 300, 24
COLUMNS = np.asfortranarray(RNG.integers(0, 2, (N_ROWS, N_COLUMNS)).astype(np.uint8))
TYPES = RNG.integers(0, 2, N_ROWS).astype(np.int32)
ERRORS = np.array([[0, 1], [1, 0]], dtype=np.int64)
LEAF = int(min(TYPES.sum(), N_ROWS - TYPES.sum()))

RANKS = np.array([RNG.permutation(N_ROWS) for _ in range(6)], dtype=np.int32)
N_RANKS = np.full(6, N_ROWS, dtype=np.int32)

COSTS = np.column_stack([TYPES, 1 - TYPES]).astype(np.int64)
SQUARES = np.column_stack([np.ones(N_ROWS), TYPES, TYPES]).astype(np.int64)
QUANTILES = np.column_stack([np.ones(N_ROWS), TYPES]).astype(np.int64)
MEDIAN = {"above": 1, "below": 1}

# Six questions with four outcomes each, and every outcome alone.
CODES = 2 * COLUMNS[:, :12:2] + COLUMNS[:, 1:12:2]
OUTCOMES = np.asfortranarray(np.column_stack([code == CODES for code in range(4)]).astype(np.uint8))
WIDE = [[test + 6 * code for code in range(4)] for test in range(6)]
TESTS = [np.array(test, dtype=np.int32) for test in [*WIDE, *([k] for k in range(24))]]

Callback = Callable[[dict[str, Any]], bool]
EntryPoint = Callable[[dict[str, Any], Callback], Any]


def _lines(kind: str) -> tuple[Any, dict[str, Any]]:
    return {
        "min_label": (COSTS, {}),
        "squares": (SQUARES, {"scale": 1}),
        "quantile": (QUANTILES, MEDIAN),
    }[kind]


def _vector(function: Any, kind: str) -> EntryPoint:
    lines, extra = _lines(kind)
    return lambda options, callback: function(
        COLUMNS, lines, kind, None, options, callback, extra=extra
    )


def _ranked(function: Any, kind: str) -> EntryPoint:
    lines, extra = _lines(kind)
    return lambda options, callback: function(
        RANKS, N_RANKS, lines, kind, options, callback, extra=extra
    )


ENTRY_POINTS: dict[str, EntryPoint] = {
    "solve": lambda o, c: _core.solve(COLUMNS, TYPES, ERRORS, None, o, c),
    "solve_path": lambda o, c: _core.solve_path(COLUMNS, TYPES, ERRORS, None, o, c),
    "session": lambda o, c: _core.Session(COLUMNS, TYPES).solve(ERRORS, o, c),
    "session_path": lambda o, c: _core.Session(COLUMNS, TYPES).solve_path(ERRORS, o, c),
    "vector": _vector(_core.solve_vector, "min_label"),
    "vector_quantile": _vector(_core.solve_vector, "quantile"),
    "vector_path": _vector(_core.solve_vector_path, "min_label"),
    "ordered": lambda o, c: _core.solve_ordered(RANKS, N_RANKS, TYPES, ERRORS, None, o, c),
    "ordered_path": lambda o, c: _core.solve_ordered_path(
        RANKS, N_RANKS, TYPES, ERRORS, None, o, c
    ),
    "ordered_quantile": _ranked(_core.solve_ordered_vector, "quantile"),
    "ordered_vector_path": _ranked(_core.solve_ordered_vector_path, "min_label"),
    "multiway": lambda o, c: _core.solve_multiway(OUTCOMES, TYPES, ERRORS, None, TESTS, o, c),
    "multiway_path": lambda o, c: _core.solve_multiway_path(
        OUTCOMES, TYPES, ERRORS, None, TESTS, o, c
    ),
    "chain": lambda o, c: _core.solve_chain(COLUMNS, TYPES, None, o, 1, 1, c),
    "front": lambda o, c: _core.solve_front(COLUMNS, TYPES, None, o, None, False, c),
}

BUDGETS: list[dict[str, Any]] = [
    {"work_limit": 60},
    {"time_limit": 1e-3},
    {"time_limit": 0.1},
    {"memory_limit": 200_000},
    {"memory_limit": 1},
]


def _options(name: str, **more: Any) -> dict[str, Any]:
    kinds = {"max_splits": 9} if "path" in name else {}
    return {"max_depth": 4, **kinds, **more}


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_nobody_is_told_of_a_value_that_no_tree_has(
    name: str, threads: int, budget: dict[str, Any]
) -> None:
    """Once, callbacks saw 144115188075855871 errors before there was a tree."""
    seen: list[dict[str, Any]] = []
    found = ENTRY_POINTS[name](
        _options(name, threads=threads, **budget), lambda event: bool(seen.append(event))
    )
    # Of a chain, what is lost of the largest area.
    most = 2 * N_ROWS**2 if name == "chain" else LEAF
    for event in seen:
        if "n_points" in event:
            assert 0 <= event["n_points"] <= N_ROWS
        else:
            assert 0 <= event["lower_bound"] <= event["upper_bound"] <= most
    for _, _, upper, lower in getattr(found, "history", []) if name != "front" else []:
        assert 0 <= lower <= upper <= most


@pytest.mark.parametrize("budget", [{}, *BUDGETS[:4]], ids=str)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_who_asks_to_stop_is_told_so(name: str, threads: int, budget: dict[str, Any]) -> None:
    """Whatever else ends a search while it is asked: once, the clock had the last word."""
    for patience in (0, 1, 3):
        asked: list[Any] = []

        def stop(_: Any, asked: list[Any] = asked, patience: int = patience) -> bool:
            asked.append(None)
            return len(asked) == patience + 1

        found = ENTRY_POINTS[name](_options(name, threads=threads, **budget), stop)
        if len(asked) > patience:
            assert found.status in ("interrupted", "optimal"), patience
            assert len(asked) == patience + 1, "who has asked to stop is not asked again"
        elif budget:
            assert found.status != "interrupted"


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.mark.parametrize("patience", range(6))
def test_who_asks_an_executor_to_stop_is_told_so(
    patience: int, threads: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, a stop while the executor was opened was forgotten: the time limit had to end it."""
    monkeypatch.setattr(_shared_search, "FIRST_WORK", 1)
    problem = engine.Problem(COLUMNS, TYPES, ERRORS)
    for limit in (None, 0.2):
        seen: list[Any] = []

        def stop(event: Any, seen: list[Any] = seen) -> bool:
            seen.append(event)
            return len(seen) == patience + 1

        options = engine.Options(max_depth=4, time_limit=limit, executor=threads)
        found = solve_shared(problem, options, stop)
        assert all(0 <= event["lower_bound"] <= event["upper_bound"] <= LEAF for event in seen)
        if len(seen) > patience:
            assert found.status in ("interrupted", "optimal")
            assert len(seen) == patience + 1
