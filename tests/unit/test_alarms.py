"""Alarms: every fault that a proof must never have is planted, and stops with an error."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from certree import _core
from certree.encoding._ranks import RankedColumns
from certree.engine import Options, Problem, Session, solve, solve_path
from certree.engine._chain import solve_chain
from certree.engine._executors import Inline
from certree.engine._front import solve_front
from certree.engine._multiway_search import solve_multiway, solve_multiway_path
from certree.engine._ordered import solve_ordered, solve_ordered_path
from certree.engine._shared_search import solve_shared
from certree.engine._vector import RateLoss, VectorProblem
from certree.engine._vector import solve as solve_vector
from certree.engine._vector import solve_path as solve_vector_path
from certree.engine._within_limits import LimitedProblem, search_inside
from certree.exceptions import InternalError

RNG = np.random.default_rng(5)
N_ROWS, N_COLUMNS = 40, 5
COLUMNS = np.asfortranarray(RNG.integers(0, 2, (N_ROWS, N_COLUMNS)).astype(np.uint8))
TYPES = (COLUMNS[:, 0] ^ (RNG.random(N_ROWS) < 0.3)).astype(np.int32)
ERRORS = np.array([[0, 1], [1, 0]], dtype=np.int64)
PROBLEM = Problem(COLUMNS, TYPES, ERRORS, RNG.integers(1, 4, N_ROWS))
OPTIONS = Options(max_depth=2, error_scale=3, split_penalty=2)
BINARY = [np.array([column], dtype=np.int32) for column in range(N_COLUMNS)]
PRICES = {
    "feature": np.arange(N_COLUMNS, dtype=np.int32),
    "group": np.full(N_COLUMNS, -1, dtype=np.int32),
    "price": np.ones(N_COLUMNS, dtype=np.int64),
    "discounted": np.ones(N_COLUMNS, dtype=np.int64),
}


def _vectors(kind: str) -> VectorProblem:
    rng = np.random.default_rng(7)
    weights, targets = rng.integers(1, 4, N_ROWS), rng.integers(-9, 9, N_ROWS)
    costs = rng.integers(0, 9, (N_ROWS, 4))
    if kind == "min_label":
        return VectorProblem(columns=COLUMNS, statistics=costs)
    if kind == "outputs":
        return VectorProblem(columns=COLUMNS, statistics=costs, outputs=(2, 2))
    if kind == "priced":
        return VectorProblem(columns=COLUMNS, statistics=costs, test_costs=PRICES, weights=weights)
    if kind == "squares":
        moments = np.column_stack([weights, weights * targets, weights * targets**2])
        return VectorProblem(columns=COLUMNS, statistics=moments, kind=kind, scale=7)
    if kind == "quantile":
        both = np.column_stack([weights, targets])
        return VectorProblem(columns=COLUMNS, statistics=both, kind=kind, above=3, below=2)
    own = np.full(N_ROWS, 10_000)
    events = np.column_stack([TYPES, weights, own])
    loss = RateLoss(gain=100.0, ratio=0.5)
    return VectorProblem(columns=COLUMNS, statistics=events, kind="rates", rate_loss=loss)


def _ranked() -> RankedColumns:
    ranks = np.ascontiguousarray(np.random.default_rng(6).integers(0, 6, (3, N_ROWS)), np.int32)
    whole = np.zeros(3, dtype=np.intp)
    return RankedColumns(ranks, np.full(3, 6, dtype=np.int32), whole, np.arange(3))


LIMITED = LimitedProblem(
    columns=COLUMNS,
    values=np.stack([ERRORS[TYPES], np.tile([0, 1], (N_ROWS, 1))], axis=2),
    planes=np.array([[1, 0, 0], [0, 1, 0]], dtype=np.int64),
    bounds=(N_ROWS,),
)


class Bent:
    """What the core answered, with some fields changed."""

    def __init__(self, raw: Any, **changed: Any) -> None:
        self._raw = raw
        vars(self).update(changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


def _bend(monkeypatch: pytest.MonkeyPatch, name: str, bend: Callable[[Any], Any]) -> None:
    """Let a function of the core answer something else."""
    function = getattr(_core, name)
    monkeypatch.setattr(_core, name, lambda *given: bend(function(*given)))


@pytest.mark.parametrize("name", _core.faults())
def test_a_planted_fault_of_the_core_is_noticed(name: str) -> None:
    """The message asks for a report, and the error survives the way between processes."""
    with pytest.raises(InternalError, match="report") as raised:
        _core.plant_fault(name)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_there_is_no_other_fault() -> None:
    """A misspelled fault is not taken for one that was noticed."""
    with pytest.raises(ValueError, match="no fault"):
        _core.plant_fault("nothing")


Call = tuple[str, Callable[[], Any]]
PATH = Options(max_depth=2)


def _solves() -> dict[str, Call]:
    """Return the name of a function of the core for every kind of answer with a value."""
    ordered = Problem(_ranked(), TYPES, ERRORS, PROBLEM.weights)
    squares = _vectors("squares")
    vectors = VectorProblem(
        columns=_ranked(), statistics=squares.statistics, kind="squares", scale=squares.scale
    )
    calls: dict[str, Call] = {
        "types": ("solve", lambda: solve(PROBLEM, OPTIONS)),
        "area": ("solve_chain", lambda: solve_chain(PROBLEM, 1, OPTIONS)),
        "ordered": ("solve_ordered", lambda: solve_ordered(ordered, OPTIONS)),
        "ordered vectors": (
            "solve_ordered_vector",
            lambda: solve_ordered(vectors, OPTIONS),
        ),
        "multiway": ("solve_multiway", lambda: solve_multiway(PROBLEM, BINARY, OPTIONS, 4)),
        "multiway with prices": (
            "solve_multiway",
            lambda: solve_multiway(PROBLEM, BINARY, OPTIONS, prices=PRICES),
        ),
    }
    for kind in ("min_label", "outputs", "priced", "squares", "quantile", "rates"):
        calls[kind] = "solve_vector", lambda kind=kind: solve_vector(_vectors(kind), OPTIONS)
    return calls


def _paths() -> dict[str, Call]:
    ordered = Problem(_ranked(), TYPES, ERRORS, PROBLEM.weights)
    return {
        "types": ("solve_path", lambda: solve_path(PROBLEM, PATH)),
        "vectors": ("solve_vector_path", lambda: solve_vector_path(_vectors("squares"), PATH)),
        "ordered": ("solve_ordered_path", lambda: solve_ordered_path(ordered, PATH)),
        "multiway": (
            "solve_multiway_path",
            lambda: solve_multiway_path(PROBLEM, BINARY, PATH),
        ),
    }


@pytest.mark.parametrize("kind", _solves())
def test_a_tree_that_costs_other_than_its_answer_says_is_noticed(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One unit too much or too little, whatever a leaf costs."""
    name, ask = _solves()[kind]
    assert ask().status == "optimal"
    for more in (1, -1):
        with monkeypatch.context() as patch:
            _bend(
                patch,
                name,
                lambda raw, more=more: Bent(
                    raw, upper_bound=raw.upper_bound + more, lower_bound=raw.lower_bound + more
                ),
            )
            with pytest.raises(InternalError, match="is said to have the value"):
                ask()


@pytest.mark.parametrize("kind", _solves())
def test_bounds_that_cross_are_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are neither clipped nor called optimal."""
    name, ask = _solves()[kind]
    _bend(monkeypatch, name, lambda raw: Bent(raw, lower_bound=raw.upper_bound + 1))
    with pytest.raises(InternalError, match="is above a tree"):
        ask()


@pytest.mark.parametrize("kind", _solves())
def test_bounds_that_differ_are_not_optimal(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is called optimal only if it is proven."""
    name, ask = _solves()[kind]
    _bend(monkeypatch, name, lambda raw: Bent(raw, lower_bound=raw.lower_bound - 1))
    with pytest.raises(InternalError, match="are called optimal"):
        ask()


@pytest.mark.parametrize("kind", _paths())
def test_a_tree_of_a_path_that_costs_something_else_is_noticed(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every entry is looked at, the last one as well."""
    name, ask = _paths()[kind]
    assert len(ask().entries) > 1

    def bend(raw: Any) -> Bent:
        *others, (splits, lower, upper, *nodes) = raw.entries
        return Bent(raw, entries=[*others, (splits, lower - 1, upper - 1, *nodes)])

    _bend(monkeypatch, name, bend)
    with pytest.raises(InternalError, match="is said to have the value"):
        ask()


def test_the_answers_of_sessions_are_looked_at() -> None:
    """A session answers as the function does."""
    session = Session(COLUMNS, TYPES, PROBLEM.weights)
    core = session._packed
    assert session.solve(ERRORS, OPTIONS).status == "optimal"

    class Wrong:
        """A core whose trees cost more than it says."""

        def solve(self, *given: Any) -> Bent:
            raw = core.solve(*given)
            return Bent(raw, upper_bound=raw.upper_bound - 1, lower_bound=raw.lower_bound - 1)

    session._packed = Wrong()
    with pytest.raises(InternalError, match="is said to have the value"):
        session.solve(ERRORS, OPTIONS)


@pytest.mark.parametrize("name", ["solve_front", "solve_limited"])
def test_a_point_that_its_tree_does_not_have_is_noticed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fronts and searches within limits have many trees, and all are looked at."""

    def ask() -> Any:
        if name == "solve_front":
            return solve_front(PROBLEM, PATH).points
        return search_inside(LIMITED, [], [[N_ROWS, N_ROWS]], PATH).points

    assert len(ask())

    def bend(raw: Any) -> Bent:
        points = raw.points.copy()
        points[-1, 0] += 1
        return Bent(raw, points=points)

    _bend(monkeypatch, name, bend)
    with pytest.raises(InternalError, match="is said to have the point"):
        ask()


def test_the_answer_of_a_shared_search_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """What workers send is put together before it is looked at."""
    options = replace(OPTIONS, executor=Inline())
    assert solve_shared(PROBLEM, options).status == "optimal"
    monkeypatch.setattr(Problem, "cost_of", lambda *_: 10**6)
    with pytest.raises(InternalError, match="is said to have the value"):
        solve_shared(PROBLEM, options)


# ---- sums ------------------------------------------------------------------------------------

HUGE = 2**62


def _core_options(**more: Any) -> dict[str, Any]:
    return {**Options(max_depth=2).to_core(), **more}


@pytest.mark.parametrize("memory_limit", [0, 1])
@pytest.mark.parametrize("weights", [[HUGE] * 4, [2**63 - 1, 1, 1, 1]])
def test_a_sum_of_weights_never_wraps(weights: list[int], memory_limit: int) -> None:
    """The sum is refused, also where memory ends before the search begins."""
    columns = np.array([[0], [1], [0], [1]], dtype=np.uint8)
    types = np.zeros(4, dtype=np.int32)
    heavy = np.array(weights, dtype=np.int64)
    options = _core_options(memory_limit=memory_limit)
    with pytest.raises(ValueError, match="overflow"):
        _core.solve(columns, types, ERRORS, heavy, options)
    with pytest.raises(ValueError, match="overflow"):
        _core.solve_multiway(columns, types, ERRORS, heavy, [np.zeros(1, np.int32)], options)
    ranks = np.ascontiguousarray(columns.T.astype(np.int32))
    with pytest.raises(ValueError, match="overflow"):
        _core.solve_ordered(ranks, np.array([2], np.int32), types, ERRORS, heavy, options)


@pytest.mark.parametrize("memory_limit", [0, 1])
def test_a_cost_of_all_rows_never_wraps(memory_limit: int) -> None:
    """Weights fit, and so do costs; their product does not."""
    columns = np.array([[0], [1], [0], [1]], dtype=np.uint8)
    types = np.array([0, 1, 1, 0], dtype=np.int32)
    heavy = np.full(4, 2**40, dtype=np.int64)
    options = _core_options(memory_limit=memory_limit)
    with pytest.raises(ValueError, match="overflow"):
        _core.solve(columns, types, ERRORS * 2**40, heavy, options)
    with pytest.raises(ValueError, match="overflow"):
        _core.solve(columns, types, ERRORS, heavy, {**options, "error_scale": 2**40})


def test_row_counts_never_wrap() -> None:
    """They are summed for the minimum leaf size."""
    options = _core_options(min_leaf=2, row_counts=np.full(N_ROWS, HUGE, dtype=np.int64))
    with pytest.raises(ValueError, match="overflow"):
        _core.solve(COLUMNS, TYPES, ERRORS, None, options)


def test_a_known_value_never_wraps() -> None:
    """It is multiplied by a number that grows with the possible splits."""
    options = _core_options(known_value=HUGE, known_splits=1)
    for ask in (
        lambda: _core.solve(COLUMNS, TYPES, ERRORS, None, options),
        lambda: _core.solve_multiway(COLUMNS, TYPES, ERRORS, None, BINARY, options),
        lambda: _core.solve_ordered(
            _ranked().ranks, _ranked().n_ranks, TYPES, ERRORS, None, options
        ),
    ):
        with pytest.raises(ValueError, match="known_value overflows"):
            ask()


# ---- fingerprints ----------------------------------------------------------------------------


def test_the_key_of_fingerprints_changes_no_answer_and_no_work() -> None:
    """Not even where the table is too small for the search, and forgets."""
    rng = np.random.default_rng(8)
    columns = np.asfortranarray(rng.integers(0, 2, (300, 16)).astype(np.uint8))
    types = rng.integers(0, 2, 300).astype(np.int32)
    seen = []
    for seed in (0, 1, 2**64 - 1):
        options = _core_options(
            max_depth=5, split_penalty=1, memory_limit=300_000, assignment={"seed": seed}
        )
        raw = _core.solve(columns, types, ERRORS, None, options)
        seen.append((raw.test.tolist(), raw.upper_bound, raw.lower_bound, raw.counters))
    assert seen[0][-1]["table_evictions"] > 0
    assert seen[0] == seen[1] == seen[2]


def test_fingerprints_depend_on_their_key() -> None:
    """The lower half places an entry, the upper half is keyed."""
    part = {"factor": 100, "least_effort": 1}
    keys = []
    for seed in (1, 2, 1):
        options = _core_options(max_depth=4, assignment={**part, "seed": seed})
        keys.append(_core.solve(COLUMNS, TYPES, ERRORS, None, options).entries[:, :2])
    assert len(keys[0]) > 0
    np.testing.assert_array_equal(keys[0], keys[2])
    np.testing.assert_array_equal(keys[0][:, 0], keys[1][:, 0])
    assert not (keys[0][:, 1] == keys[1][:, 1]).any()


def test_every_process_draws_a_key() -> None:
    """And keeps it."""
    program = "from certree import _core as c; print(c.fingerprint_seed(), c.fingerprint_seed())"
    outputs = [
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    first, second = (set(output.stdout.split()) for output in outputs)
    assert len(first) == len(second) == 1
    assert first != second


# ---- callbacks and memory --------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_callbacks_are_called_without_a_lock(threads: int) -> None:
    """The alarm of the core is silent in all searches that have threads."""
    rng = np.random.default_rng(9)
    columns = np.asfortranarray(rng.integers(0, 2, (200, 10)).astype(np.uint8))
    types = rng.integers(0, 2, 200).astype(np.int32)
    problem = Problem(columns, types, ERRORS)
    limited = LimitedProblem(
        columns=columns,
        values=np.stack([ERRORS[types], np.tile([0, 1], (200, 1))], axis=2),
        planes=np.array([[1, 0, 0], [0, 1, 0]], dtype=np.int64),
        bounds=(60,),
    )
    calls: list[Any] = []
    options = Options(max_depth=3, threads=threads)
    solve(problem, options, calls.append)
    solve(problem, Options(split_penalty=3, threads=threads), calls.append)
    solve_multiway(problem, [np.array([c], np.int32) for c in range(10)], options, 0, calls.append)
    solve_chain(problem, 1, options, calls.append)
    assert calls
    # The main thread tells the caller; others may end a search this small before it can.
    for search in (
        partial(solve_front, problem, options),
        partial(search_inside, limited, [], [[100, 60]], options),
    ):
        before = len(calls)
        for _ in range(100):
            search(callback=calls.append)
            if len(calls) > before:
                break
        assert len(calls) > before


def test_evaluated_thresholds_are_charged() -> None:
    """Each of them has a bound for every side, division of splits and feature."""
    rng = np.random.default_rng(10)
    n_features, n_rows = 400, 40
    ranks = np.ascontiguousarray(rng.integers(0, 50, (n_features, n_rows)).astype(np.int32))
    types = rng.integers(0, 2, n_rows).astype(np.int32)
    n_ranks = np.full(n_features, 50, dtype=np.int32)
    few, many = (
        _core.solve_ordered(
            ranks,
            n_ranks,
            types,
            ERRORS,
            None,
            _core_options(max_depth=3, max_splits=5, work_limit=w),
        ).counters
        for w in (20, 300)
    )
    thresholds = many["splits_tried"] - few["splits_tried"]
    assert thresholds > 100
    assert many["peak_bytes"] - few["peak_bytes"] >= thresholds * 2 * n_features * 8


def test_packing_is_charged() -> None:
    """Bits of rows and their fingerprints are buffers of the solve, until rows are grouped."""
    n_rows, n_columns = 50_000, 40
    rng = np.random.default_rng(11)
    few = rng.integers(0, 2, (50, n_columns)).astype(np.uint8)
    columns = np.asfortranarray(few[rng.integers(0, 50, n_rows)])
    types = rng.integers(0, 2, n_rows).astype(np.int32)
    raw = _core.solve(columns, types, ERRORS, None, _core_options(max_depth=1))
    needed = n_rows * n_columns // 8 + 16 * n_rows + 4 * n_rows
    assert raw.counters["row_groups"] <= 50
    assert raw.counters["peak_bytes"] >= needed
    limited = _core.solve(
        columns, types, ERRORS, None, _core_options(max_depth=1, memory_limit=needed)
    )
    assert limited.status == "memory_limit"
