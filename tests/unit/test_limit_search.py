"""Limits on the whole tree: bad input, stops, known trees, gaps, and the choice of multipliers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree.engine import Nodes
from certree.engine._budget import budget
from certree.engine._scalar import Options
from certree.engine._within_limits import LimitedProblem
from certree.proofs._limit_front import solve_limited_front
from certree.proofs._limit_model import best_in_model, best_on_line, model_value
from certree.proofs._limit_rows import LimitedRows, row_types
from certree.proofs._limit_search import LimitedSearch, solve_limited

PLANES = np.array([[1, 0, 0], [0, 1, 0]], dtype=np.int64)


def capacity(
    n_rows: int = 60, n_columns: int = 12, most: int = 10, seed: int = 0
) -> LimitedProblem:
    """Errors of two labels, of which the second may be given to a few rows only."""
    rng = np.random.default_rng(seed)
    columns = np.asfortranarray(rng.integers(0, 2, (n_rows, n_columns)), dtype=np.uint8)
    truth = (columns[:, 0] & columns[:, 1]) | (rng.random(n_rows) < 0.3)
    values = np.zeros((n_rows, 2, 2), dtype=np.int64)
    values[:, 0, 0], values[:, 1, 0] = truth, 1 - truth
    values[:, 1, 1] = 1
    return LimitedProblem(columns, values, PLANES, (most,), ("treated",))


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": np.zeros((3, 2), dtype=np.uint8)}, "60 rows, but columns have 3"),
        ({"values": np.zeros((60, 0, 2), dtype=np.int64)}, "rows, labels and sums"),
        ({"planes": PLANES[:, :2]}, "3 entries each"),
        ({"bounds": (1, 2)}, "2 planes and 2 bounds"),
        ({"planes": PLANES - [[0, 0, 1], [0, 0, 0]]}, "must not be negative"),
        ({"names": ("a", "b")}, "2 names for 1 limits"),
        ({"label_min": np.array([1, 1])}, "go together"),
        ({"values": capacity().values * np.array([1, 2**57])}, "'treated' could reach"),
    ],
)
def test_problems_without_sense_are_refused(change: dict[str, Any], message: str) -> None:
    """The message names what was wrong."""
    with pytest.raises(ValueError, match=message):
        replace(capacity(), **change)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(), "max_depth may be None only"),
        (Options(2, split_penalty=1), "those of the planes"),
        (Options(2, max_splits=-1), "must not be negative"),
    ],
)
def test_options_without_sense_are_refused(options: Options, message: str) -> None:
    """The message names what was wrong."""
    with pytest.raises(ValueError, match=message):
        solve_limited(capacity(), options)


@pytest.mark.parametrize("scales", [[0, 0], [1, 1], [0, -1], [0]])
def test_scales_without_sense_are_refused(scales: list[int]) -> None:
    """One of the limits has a scale, and the objective none."""
    with pytest.raises(ValueError, match="scales must be"):
        solve_limited_front(capacity(), scales, Options(2))


def test_amounts_too_large_to_search_with_are_refused_by_name() -> None:
    """They fit into a sum, but not into the search, which multiplies them."""
    given = capacity()
    values = given.values * np.array([1, 2**53])
    with pytest.raises(ValueError, match="limit 'treated' can differ"):
        solve_limited(replace(given, values=values), Options(3))


# ---- depth, known trees, gap --------------------------------------------------------------------


def test_without_a_depth_splits_or_their_penalty_limit_the_tree() -> None:
    """The same tree as with the depth that they imply."""
    given = capacity(n_rows=30, n_columns=4)
    few = solve_limited(given, Options(max_splits=2))
    assert few.upper_bound == solve_limited(given, Options(2, max_splits=2)).upper_bound
    planes = PLANES.copy()
    planes[0, -1] = 3
    dear = replace(given, planes=planes)
    free = solve_limited(dear, Options())
    assert free.status == "optimal"
    assert free.upper_bound == solve_limited(dear, Options(4)).upper_bound


def test_a_limit_that_no_tree_exceeds_changes_nothing() -> None:
    """One solve, and no search inside a gap."""
    found = solve_limited(capacity(most=60), Options(2))
    assert (found.status, found.n_rounds) == ("optimal", 0)
    alone = replace(capacity(), planes=PLANES[:1], bounds=(), names=())
    assert solve_limited(alone, Options(2)).upper_bound == found.upper_bound


def test_a_tree_that_the_caller_knows_is_used_if_it_is_within_all_limits() -> None:
    """With no work left, it is the answer; a tree that is too deep is not."""
    given = capacity()
    best = solve_limited(given, Options(2))
    nodes = best.nodes
    stopped = Options(2, extra={"work_limit": 1})
    assert solve_limited(given, stopped, first=nodes).upper_bound == best.upper_bound
    assert best.upper_bound is not None
    shallow = solve_limited(given, replace(stopped, max_depth=1), first=nodes)
    exact = solve_limited(given, Options(1))
    assert shallow.upper_bound is not None
    assert exact.upper_bound is not None
    assert shallow.upper_bound >= exact.upper_bound
    large = solve_limited(given, replace(stopped, min_leaf=31), first=nodes)
    assert large.nodes.n_splits == 0


def test_a_gap_ends_the_search_early() -> None:
    """The bounds are as near as was asked for."""
    given = capacity(seed=3)
    exact = solve_limited(given, Options(2))
    found = solve_limited(given, Options(2, gap=1000))
    assert found.status in ("gap", "optimal")
    assert found.upper_bound is not None
    assert exact.upper_bound is not None
    assert found.lower_bound <= exact.upper_bound <= found.upper_bound
    assert found.n_rounds == 0


# ---- stops --------------------------------------------------------------------------------------


def test_a_callback_stops_the_search_and_sees_bounds() -> None:
    """It is told seconds, work and bounds; what it raises is raised."""
    given = capacity(400, 40, 50)
    seen: list[Any] = []
    found = solve_limited(given, Options(4), callback=lambda event: seen.append(event) or True)
    assert found.status == "interrupted"
    assert {"seconds", "work", "upper_bound", "lower_bound"} <= set(seen[0])

    def fail(event: Any) -> bool:
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        solve_limited(given, Options(4), callback=fail)


def test_a_callback_stops_a_front() -> None:
    """What is known then is a front with lower points."""
    seen: list[Any] = []
    found = solve_limited_front(
        capacity(400, 40, 400),
        [0, 1],
        Options(4),
        callback=lambda event: seen.append(event) or True,
    )
    assert found.status == "interrupted"
    assert {"seconds", "work", "n_points"} <= set(seen[0])
    assert found.lower_points
    assert found.trees


def test_ctrl_c_between_solves_ends_the_search_with_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A tree within the limits is returned, if one was met."""
    rounds = LimitedSearch._rounds
    with budget(None, None) as call:

        def stop(search: LimitedSearch) -> None:
            call.interrupt()
            monkeypatch.setattr(call, "must_stop", lambda: True)
            rounds(search)

        monkeypatch.setattr(LimitedSearch, "_rounds", stop)
        monkeypatch.setattr(LimitedSearch, "is_closed", lambda self: False)
        found = solve_limited(capacity(), Options(2))
    assert found.status == "interrupted"
    assert found.upper_bound is not None


@pytest.mark.parametrize("limit", [{"time_limit": 1e-9}, {"extra": {"work_limit": 1}}])
def test_limits_of_time_and_work_are_results(limit: dict[str, Any]) -> None:
    """The status says which, and the bounds hold."""
    given = capacity(seed=5)
    exact = solve_limited(given, Options(3))
    found = solve_limited(given, Options(3, **limit))
    assert exact.upper_bound is not None
    assert found.status in ("time_limit", "work_limit")
    assert found.lower_bound <= exact.upper_bound
    assert found.upper_bound is None or found.upper_bound >= exact.upper_bound


# ---- infeasible problems ------------------------------------------------------------------------


def test_a_limit_that_nobody_can_meet_is_proven_and_the_closest_value_told() -> None:
    """Treated rows cannot be fewer than none."""
    found = solve_limited(capacity(most=-1), Options(2))
    assert (found.status, found.proof) == ("infeasible", "dual")
    assert found.closest == [(0, 0, 0)]
    cut = found.cuts[-1]
    assert cut.bound is None
    assert cut.value > cut.multipliers[1] * -1


def test_a_value_between_those_of_trees_is_proven_by_search() -> None:
    """Between none and all rows there is nothing, though there is in the mean."""
    columns = np.zeros((4, 1), dtype=np.uint8)
    values = np.zeros((4, 2, 2), dtype=np.int64)
    values[:, 1, 1] = 1
    planes = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 0]], dtype=np.int64)
    found = solve_limited(LimitedProblem(columns, values, planes, (3, -1)), Options(2))
    assert (found.status, found.proof) == ("infeasible", "search")
    assert [(one.lower_bound, one.attained) for one in found.closest] == [(4, 4), (0, 0)]


# ---- rows and trees -----------------------------------------------------------------------------


def test_rows_are_multiples_of_few_types() -> None:
    """With weights too; otherwise there are no types."""
    rng = np.random.default_rng(1)
    kinds = np.array([[[0, 1], [1, 5]], [[1, 0], [0, -3]], [[0, 0], [0, 0]]], dtype=np.int64)
    picked = rng.integers(0, 3, 500)
    plain = row_types(kinds[picked])
    assert plain is not None
    assert plain.weights is None
    weights = rng.integers(1, 10**6, 500)
    weighted = row_types(kinds[picked] * weights[:, None, None])
    assert weighted is not None
    assert weighted.weights is not None
    again = weighted.values[weighted.types] * weighted.weights[:, None, None]
    assert (again == kinds[picked] * weights[:, None, None]).all()
    assert weighted.totals.sum() == weighted.weights.sum()
    assert row_types(rng.integers(0, 10**6, (500, 2, 2))) is None


def test_values_of_trees_are_the_same_by_types_and_by_rows() -> None:
    """Every leaf's sums are those of its rows."""
    given = capacity(100)
    by_row = replace(given, values=given.values * 1000)
    by_row.values[:, 0, 0] += np.arange(100)
    found = solve_limited(given, Options(3))
    tree = found.nodes
    for problem in (given, by_row):
        rows = LimitedRows(problem)
        node = np.zeros(len(problem.columns), dtype=np.intp)
        for _ in range(3):
            test = tree.test[node]
            inner = test >= 0
            child = tree.first_child[node] + (problem.columns[np.arange(len(node)), test] == 0)
            node = np.where(inner, child, node)
        sums = problem.values[np.arange(len(node)), tree.label[node]].sum(axis=0)
        expected = problem.planes @ np.append(sums, tree.n_splits)
        assert rows.evaluate(tree).values == tuple(expected.tolist())
    assert LimitedRows(given).types is not None
    assert LimitedRows(by_row).types is None


def test_splits_between_leaves_of_one_label_are_merged() -> None:
    """From below, as far as it goes."""
    nodes = Nodes.of([0, 1, -1, -1, -1], [1, 3, -1, -1, -1], [-1, -1, 1, 0, 0])
    tree = nodes.merged()
    assert tree.test.tolist() == [0, -1, -1]
    assert tree.label.tolist() == [-1, 0, 1]
    assert nodes.with_labels(np.ones(5)).merged().n_splits == 0


# ---- multipliers --------------------------------------------------------------------------------


def slow_line(points: list[tuple[int, int]]) -> Fraction:
    """The greatest least height of lines, over all their crossings."""
    crossings = [Fraction(0)]
    for o, e in points:
        crossings += [Fraction(q - o, e - f) for q, f in points if e != f]
    return max(min(o + at * e for o, e in points) for at in crossings if at >= 0)


def test_the_best_multiplier_of_one_limit_is_where_lines_cross() -> None:
    """The same as by looking at all crossings; none if all trees are beyond the limit."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        points: list[Any] = rng.integers(-9, 10, (int(rng.integers(1, 8)), 2)).tolist()
        best = best_on_line([(o, e) for o, e in points])
        if min(e for _, e in points) > 0:
            assert best is None
        else:
            assert best is not None
            assert best[1] == slow_line(points)


def grid_best(points: NDArray[np.int64], bounds: list[int]) -> float:
    """The best value of the model on a grid of multipliers."""
    grid = np.linspace(0, 20, 201)
    first, second = np.meshgrid(grid, grid)
    excess = points[:, 1:] - np.array(bounds)
    heights = points[:, 0, None, None] + excess[:, 0, None, None] * first
    heights = heights + excess[:, 1, None, None] * second
    return float(heights.min(axis=0).max())


def test_the_best_multipliers_of_several_limits_are_no_worse_than_those_of_a_grid() -> None:
    """Where a mixture of the trees is within the limits; otherwise without the objective."""
    rng = np.random.default_rng(3)
    n_rays = 0
    for _ in range(60):
        points = rng.integers(-9, 10, (6, 3))
        trees = [tuple(int(v) for v in p) for p in points]
        step = best_in_model(trees, [0, 0])
        if step.multipliers[0] == 0:
            n_rays += 1
            assert model_value(step.multipliers, trees, [0, 0]) > 0
        else:
            assert float(step.value or 0) >= grid_best(points, [0, 0]) - 1e-3
    assert 0 < n_rays < 60


@pytest.mark.parametrize("n_columns", [6, 24])
def test_equal_rows_of_large_problems_count_as_one(n_columns: int) -> None:
    """Copies of rows, in any order, give multiples of the values; also with weights."""
    few = capacity(n_rows=90, n_columns=n_columns, most=20)
    rng = np.random.default_rng(7)
    copies = rng.permutation(np.arange(90 * 60) % 90)
    many = replace(few, columns=few.columns[copies], values=few.values[copies], bounds=(20 * 60,))
    merged_rows = LimitedRows(many)
    assert len(merged_rows.columns) <= 90
    assert len(LimitedRows(many, min_leaf=2).columns) == len(copies)
    once, often = solve_limited(few, Options(2)), solve_limited(many, Options(2))
    assert once.upper_bound is not None
    assert often.upper_bound == 60 * once.upper_bound
    assert often.status == "optimal"
    weights = rng.integers(1, 10**4, len(copies))
    heavy = replace(many, values=many.values * weights[:, None, None], bounds=(10**6,))
    found = solve_limited(heavy, Options(2))
    tree = found.nodes
    assert LimitedRows(heavy, min_leaf=2).evaluate(tree).values == found.values


def test_penalties_of_deep_trees_leave_room_for_multipliers() -> None:
    """The core makes room for as many paying splits as there are rows."""
    rng = np.random.default_rng(0)
    columns = np.asfortranarray(rng.integers(0, 2, (3000, 16)), dtype=np.uint8)
    truth = (rng.random(3000) < 0.4).astype(np.int64)
    values = np.zeros((3000, 2, 2), dtype=np.int64)
    values[:, 0, 0], values[:, 1, 0] = truth, 1 - truth
    values[:, 1, 1] = np.where(columns[:, 0] == 1, 10007, -20011)
    planes = np.array([[50, 0, 1500], [0, 1, 0], [0, -1, 0]], dtype=np.int64)
    problem = LimitedProblem(columns, values, planes, (1000, 1000))
    search = LimitedSearch(problem, Options(extra={"work_limit": 10**5}))
    multipliers = search.scalars.whole([Fraction(1), Fraction(1234567, 10**9), Fraction(0)])
    assert multipliers[0] > 0
    assert multipliers[1] > 0
    assert search.scalars.solve(multipliers, None, search.spent) is not None
