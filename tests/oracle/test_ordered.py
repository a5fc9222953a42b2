"""Ordered features against a brute force over all thresholds, on thousands of small problems."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import pytest

from certree import _core
from tests.oracle.ordered import Ordered, make_ordered, random_ordered, random_ordereds
from tests.problems import FUZZ
from tests.registry import SEARCHES, all_switches, settings_one_by_one

WIDER: dict[str, Any] = {"rows": (12, 40), "most_ranks": 40, "features": (1, 3), "depths": (2, 3)}
"""More ranks than a node has bins, so that a bin holds several thresholds."""


def check_optimal(ordered: Ordered, about: Any = "", **options: Any) -> None:
    """Compare the value and the number of splits with those of the smallest best tree."""
    result = ordered.solve(**options)
    assert result.status == "optimal", (ordered, about, options)
    optimum = ordered.problem.optimum()
    facts = ordered.check(result, optimum.value, (about, options))
    found = (facts.value, facts.splits)
    assert found == (optimum.value, optimum.splits), (found, optimum, ordered, about, options)


@pytest.mark.parametrize("seed", range(8))
def test_the_value_is_the_least_over_all_thresholds(seed: int) -> None:
    """Default options: proven optimal, of the best trees one with the fewest splits."""
    for ordered in random_ordereds(seed, 600):
        check_optimal(ordered)


@pytest.mark.parametrize("seed", range(20, 24))
def test_the_value_is_the_least_where_ranks_are_many(seed: int) -> None:
    """Nearly all values differ."""
    for ordered in random_ordereds(seed, 80, **WIDER):
        check_optimal(ordered)


@pytest.mark.parametrize("seed", range(30, 32))
def test_any_best_tree_is_best(seed: int) -> None:
    """Without the promise of the smallest tree the value is the same."""
    for ordered in random_ordereds(seed, 400):
        result = ordered.solve(smallest=False)
        assert result.status == "optimal", ordered
        assert result.upper_bound == ordered.problem.optimal_value(), ordered
        ordered.check(result)


@pytest.mark.parametrize("seed", range(100, 104))
def test_every_switch_alone_leaves_the_optimum_unchanged(seed: int) -> None:
    """Each technique off by itself, on by itself, and all of them."""
    for ordered in random_ordereds(seed, 60):
        for setting in settings_one_by_one():
            check_optimal(ordered, **setting)


@pytest.mark.parametrize("seed", range(110, 112))
def test_every_switch_alone_where_ranks_are_many(seed: int) -> None:
    """The same where bounds over intervals of thresholds have work to do."""
    for ordered in random_ordereds(seed, 12, **WIDER):
        for setting in settings_one_by_one():
            check_optimal(ordered, **setting)


@pytest.mark.parametrize("seed", range(120, 122))
def test_any_mixture_of_switches(seed: int) -> None:
    """Techniques that meet do not spoil each other."""
    rng = np.random.default_rng([FUZZ, seed])
    for ordered in random_ordereds(seed, 250, rows=(6, 20), most_ranks=12):
        setting = {name: bool(rng.integers(0, 2)) for name in all_switches()}
        check_optimal(ordered, **setting)


@pytest.mark.parametrize("min_leaf", [2, 3, 4])
def test_minimum_leaf_size(min_leaf: int) -> None:
    """A bound that moves a threshold must know that a leaf may become too small."""
    settings = cycle(settings_one_by_one())
    for ordered in random_ordereds(200 + min_leaf, 300, rows=(4, 20), most_ranks=10):
        check_optimal(ordered.but(min_leaf=min_leaf), **next(settings))


@pytest.mark.parametrize("penalty", [1, 2, 5])
def test_splits_that_pay_a_little(penalty: int) -> None:
    """A bound that is off by one row or one split takes the wrong tree."""
    settings = cycle(settings_one_by_one())
    for ordered in random_ordereds(300 + penalty, 300, rows=(6, 20), most_ranks=10):
        scale = 1 + penalty % 3
        plain = ordered.but(weights=None, error_scale=scale, split_penalty=penalty)
        check_optimal(plain, **next(settings))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("min_leaf", [1, 2])
def test_both_searches_with_and_without_a_depth(search: str, min_leaf: int) -> None:
    """Best-first raises its ceiling round by round, depth-first has the incumbent's alone."""
    settings = cycle(settings_one_by_one())
    for number, ordered in enumerate(random_ordereds(310, 250, rows=(6, 14), most_ranks=8)):
        options = {**next(settings), "search": search}
        priced = ordered.but(min_leaf=min_leaf, error_scale=2, split_penalty=1 + number % 6)
        check_optimal(priced, **options)
        check_optimal(priced.but(max_depth=-1), **options)


def test_best_first_bounds_rise_before_the_proof() -> None:
    """After the same work its bound is higher than that of the depth-first search."""
    bounds = {}
    for search in SEARCHES:
        ordered = noise(3, rows=120, features=3).but(max_depth=-1, split_penalty=4)
        bounds[search] = ordered.solve(work_limit=4000, search=search).lower_bound
    assert bounds["best-first"] > bounds["depth-first"]


def test_many_classes_and_labels() -> None:
    """More types and labels than pairs of labels would be worth keeping."""
    rng = np.random.default_rng([FUZZ, 400])
    for _ in range(150):
        ordered = random_ordered(rng, rows=(6, 14), most_ranks=8, depths=(1, 2, 3))
        n_types = int(rng.integers(5, 10))
        types = rng.integers(0, n_types, size=ordered.problem.n_rows).astype(np.int32)
        costs = rng.integers(0, 9, size=(n_types, int(rng.integers(1, 12))))
        check_optimal(ordered.but(row_types=types, cost_matrix=costs, weights=None))


LIMITS: dict[str, tuple[float, ...]] = {
    "work_limit": (1, 2, 3, 5, 10, 40),
    "memory_limit": (1, 10_000, 200_000),
    "time_limit": (1e-9, 1e-6, 1e-5),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_gives_valid_bounds(name: str) -> None:
    """Wherever the search is cut off, the optimum lies between the bounds."""
    for ordered in random_ordereds(500, 150, rows=(4, 24), most_ranks=16, depths=(2, 3, 4)):
        for limit in LIMITS[name]:
            check_cut_off(ordered, name, **{name: limit})


def check_cut_off(ordered: Ordered, limit: str, **options: Any) -> None:
    """Check a result that a limit may have cut off, and every entry of its history."""
    result = ordered.solve(**options)
    assert result.status in ("optimal", limit), (ordered, options)
    optimum = ordered.problem.optimal_value()
    ordered.check(result, optimum, options)
    if result.status == "optimal":
        assert result.upper_bound == optimum, (ordered, options)
    lowers = [entry[3] for entry in result.history]
    uppers = [entry[2] for entry in result.history]
    assert lowers == sorted(lowers), (ordered, options)
    assert uppers == sorted(uppers, reverse=True), (ordered, options)
    assert all(lower <= optimum for lower in lowers), (ordered, options)
    assert all(upper >= optimum for upper in uppers), (ordered, options)


def noise(seed: int, rows: int = 300, features: int = 5, depth: int = 3) -> Ordered:
    """All values differ and labels are noise: far from solved after a little work."""
    rng = np.random.default_rng(seed)
    ranks = np.array([rng.permutation(rows) for _ in range(features)])
    return make_ordered(ranks, rng.integers(0, 2, size=rows), max_depth=depth)


@pytest.mark.parametrize("options", [{"work_limit": 2}, {"time_limit": 1e-3}], ids=str)
def test_a_limit_is_hit_on_a_hard_problem(options: dict[str, Any]) -> None:
    """So that the laws above are not empty; the bounds stay apart and enclose a later tree."""
    ordered = noise(1)
    result = ordered.solve(**options)
    assert result.status == next(iter(options)), options
    assert result.lower_bound < result.upper_bound
    ordered.check(result)
    longer = ordered.solve(time_limit=0.3)
    assert result.lower_bound <= longer.upper_bound
    assert longer.lower_bound <= result.upper_bound


def test_a_callback_may_stop_the_search() -> None:
    """The answer is the incumbent of that moment, with valid bounds."""
    ordered = noise(2)
    seen: list[dict[str, Any]] = []

    def stop(progress: dict[str, Any]) -> bool:
        seen.append(dict(progress))
        return len(seen) >= 2

    result = ordered.solve(stop, time_limit=20.0)
    assert len(seen) >= 2, "the callback was hardly called"
    assert result.status == "interrupted"
    ordered.check(result)
    assert all(event["lower_bound"] <= result.upper_bound for event in seen)


@pytest.mark.parametrize("seed", range(600, 602))
def test_an_accepted_gap_is_kept(seed: int) -> None:
    """The answer is within the gap of the optimum."""
    for ordered in random_ordereds(seed, 120, rows=(6, 20), most_ranks=10):
        optimum = ordered.problem.optimal_value()
        for gap in (1, 3 * ordered.problem.error_scale, max(1, optimum // 4), optimum + 1):
            result = ordered.solve(gap=gap)
            assert result.status in ("optimal", "gap"), (ordered, gap)
            assert result.upper_bound - result.lower_bound <= gap, (ordered, gap)
            ordered.check(result, optimum, gap)


@pytest.mark.parametrize("seed", range(610, 612))
def test_a_known_tree_is_beaten_or_proven_best(seed: int) -> None:
    """A known optimum is proven, with a tree of that size or none; a worse one is beaten."""
    for ordered in random_ordereds(seed, 150, rows=(4, 16), most_ranks=8):
        optimum = ordered.problem.optimum()
        same = ordered.solve(known_value=optimum.value, known_splits=optimum.splits)
        bounds = (same.status, same.lower_bound, same.upper_bound)
        assert bounds == ("optimal", optimum.value, optimum.value), ordered
        if len(same.test):
            facts = ordered.check(same, optimum.value, "best tree known")
            assert facts.splits == optimum.splits, ordered
        most = ordered.problem.n_rows
        above = ordered.solve(known_value=optimum.value + 1, known_splits=most)
        facts = ordered.check(above, optimum.value, "worse tree known")
        assert (facts.value, facts.splits) == (optimum.value, optimum.splits), ordered


def test_the_same_answer_every_time() -> None:
    """Two runs of one problem give one tree and one amount of work."""
    for ordered in random_ordereds(620, 60, rows=(10, 30), most_ranks=20):
        first, second = ordered.solve(), ordered.solve()
        for name in ("test", "first_child", "label"):
            assert getattr(first, name).tolist() == getattr(second, name).tolist(), ordered
        assert first.counters == second.counters, ordered


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("min_leaf", [1, 2, 20])
def test_tables_without_a_choice(depth: int, min_leaf: int) -> None:
    """One row, one class, one rank, equal rows: a single leaf with the right label."""
    limits = {"max_depth": depth, "min_leaf": min_leaf}
    for ordered in (
        make_ordered([[0]], [0], **limits),
        make_ordered([[3], [0]], [1], n_ranks=[6, 1], **limits),
        make_ordered([[0, 1, 2, 3]], [1, 1, 1, 1], **limits),
        make_ordered([[0, 0, 0], [0, 0, 0]], [0, 1, 1], **limits),
        make_ordered([[2, 2, 2, 2]], [0, 1, 1, 0], n_ranks=[5], **limits),
    ):
        check_optimal(ordered)
        assert len(ordered.solve().test) == 1, ordered


def test_ranks_that_no_row_has_are_no_splits() -> None:
    """Whatever position stands for a cut, both sides have rows."""
    ordered = make_ordered([[1, 1, 7, 7, 50]], [0, 0, 1, 1, 0], n_ranks=[100], max_depth=2)
    check_optimal(ordered)
    result = ordered.solve()
    assert result.upper_bound == 0
    cuts = sorted(int(test) for test in result.test if test >= 0)
    assert 1 <= cuts[0] < 7 <= cuts[1] < 50


def test_two_features_are_numbered_one_after_the_other() -> None:
    """A test is the number of positions before its feature, and its position."""
    ordered = make_ordered([[0, 1, 2, 0], [2, 0, 1, 3]], [0, 1, 1, 0], max_depth=1)
    result = ordered.solve()
    assert result.upper_bound == 0
    test = int(result.test[0])
    # Only the first position of feature 0 and position 1 of feature 1 part the classes.
    assert test in (0, 2 + 1)
    ordered.check(result)


def test_a_quantile_grid_loses_what_all_thresholds_keep() -> None:
    """A band of few rows decides; cut points at quantiles miss it, every threshold finds it."""
    rows = 200
    values = np.arange(rows)
    types = ((values >= 97) & (values < 100)).astype(np.int32)
    fine = make_ordered([values], types, max_depth=2)
    coarse = make_ordered([values * 8 // rows], types, max_depth=2)
    assert fine.solve().upper_bound == 0
    assert coarse.solve().upper_bound == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ranks": np.array([[0, 4]], dtype=np.int32)}, "rank"),
        ({"ranks": np.array([[-1, 0]], dtype=np.int32)}, "rank"),
        ({"n_ranks": np.array([0], dtype=np.int32)}, "rank"),
        ({"n_ranks": np.array([2, 2], dtype=np.int32)}, "."),
        ({"row_types": np.array([0], dtype=np.int32)}, "."),
        ({"row_types": np.array([0, 5], dtype=np.int32)}, "."),
    ],
    ids=["above", "negative", "no rank", "counts", "short", "type"],
)
def test_tables_that_make_no_sense_are_refused(changes: dict[str, Any], message: str) -> None:
    """With an error, never with memory of someone else."""
    given = {
        "ranks": np.array([[0, 1]], dtype=np.int32),
        "n_ranks": np.array([2], dtype=np.int32),
        "row_types": np.array([0, 1], dtype=np.int32),
        **changes,
    }
    costs = np.array([[0, 1], [1, 0]], dtype=np.int64)
    with pytest.raises((ValueError, TypeError), match=message):
        _core.solve_ordered(*given.values(), costs, None, {"max_depth": 1}, None)


def test_values_that_do_not_fit_are_refused() -> None:
    """An overflow is an error, never a wrong value."""
    ordered = make_ordered([[0, 1]], [0, 1], weights=[2**62, 2**62], max_depth=1)
    with pytest.raises(ValueError, match="overflow"):
        ordered.but(error_scale=8).solve()
