"""The search for metrics against all trees, for every metric and every limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle
from time import perf_counter
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import engine, metrics
from certree.proofs._metric_corners import Triangle
from certree.proofs._metric_outer import Search
from certree.proofs._metric_search import (
    MetricResult,
    solve_metric,
    solve_metric_path,
    supported_front,
)
from certree.proofs._metric_solves import WeightedSolves
from tests.oracle.confusion import Confusions
from tests.problems import FUZZ, random_columns, random_types

METRICS = [
    metrics.Accuracy(),
    metrics.WeightedAccuracy("7/3"),
    metrics.BalancedAccuracy(),
    metrics.Informedness(),
    metrics.F1(),
    metrics.FBeta(2),
    metrics.FBeta(0.5),
    metrics.Jaccard(),
    metrics.Tversky(0.3, 0.9),
    metrics.Tversky(0, 1),
    metrics.CohenKappa(),
    metrics.MCC(),
    metrics.FowlkesMallows(),
]


@dataclass(frozen=True)
class Case:
    """A binary problem with limits."""

    columns: NDArray[np.uint8]
    row_types: NDArray[np.int32]
    weights: NDArray[np.int64] | None
    max_depth: int | None
    max_splits: int | None
    min_leaf: int

    @property
    def problem(self) -> engine.Problem:
        return engine.Problem(
            self.columns, self.row_types, np.zeros((2, 2), dtype=np.int64), self.weights
        )

    @property
    def totals(self) -> tuple[int, int]:
        """Weight of the positive and of the negative rows."""
        weights = np.ones(len(self.row_types)) if self.weights is None else self.weights
        return int(weights[self.row_types == 1].sum()), int(weights[self.row_types == 0].sum())

    def triples(self) -> frozenset[tuple[int, int, int]]:
        weights = None if self.weights is None else self.weights.tolist()
        oracle = Confusions(
            self.columns.tolist(), self.row_types.tolist(), weights, min_leaf=self.min_leaf
        )
        return oracle.triples(self.max_depth, self.max_splits)

    def options(self, **more: Any) -> engine.Options:
        return engine.Options(
            max_depth=self.max_depth,
            max_splits=self.max_splits,
            min_leaf=self.min_leaf,
            **more,
        )


def cases(
    seed: int, count: int, depths: tuple[int | None, ...] = (0, 1, 2, 2, 2, 2, 3)
) -> Iterator[Case]:
    """Draw problems: noise and planted trees, conflicts, weights, and very few positive rows."""
    for number in range(count):
        rng = np.random.default_rng([FUZZ, seed, number])
        depth = depths[int(rng.integers(len(depths)))]
        n_rows = int(rng.integers(1, 12 if depth is None or depth > 2 else 22, size=2).max())
        n_columns = int(rng.integers(1, 4 if depth is None or depth > 2 else 6, size=2).max())
        columns = random_columns(rng, n_rows, n_columns)
        types = random_types(rng, columns, 2)
        if rng.random() < 0.2:
            types = (np.arange(n_rows) < rng.integers(1, 3)).astype(np.int32)
        weights = None
        if rng.random() < 0.3:
            weights = rng.integers(1, rng.choice([3, 50]), size=n_rows, endpoint=True)
        yield Case(
            columns,
            types,
            weights,
            depth,
            int(rng.integers(0, 5)) if rng.random() < 0.25 else None,
            int(rng.integers(2, 5)) if rng.random() < 0.3 else 1,
        )


def best(
    case: Case, metric: metrics.Metric, penalty: Fraction = Fraction(0)
) -> tuple[Any, frozenset[tuple[int, int, int]]]:
    """Return the greatest objective of all trees, and what trees there are."""
    triples = case.triples()
    totals = case.totals
    return max(metric.exact(fp, fn, *totals) - penalty * k for fp, fn, k in triples), triples


def check(
    result: MetricResult,
    case: Case,
    metric: metrics.Metric,
    triples: frozenset[tuple[int, int, int]],
    penalty: Fraction = Fraction(0),
) -> None:
    """The tree is one within the limits, with the errors and the value that the result says."""
    assert (result.fp, result.fn, result.nodes.n_splits) in triples, case
    predicted = result.nodes.label[result.nodes.route(case.columns)]
    weights = np.ones(len(predicted), dtype=np.int64) if case.weights is None else case.weights
    assert result.fp == weights[(predicted == 1) & (case.row_types == 0)].sum(), case
    assert result.fn == weights[(predicted == 0) & (case.row_types == 1)].sum(), case
    assert result.value == metric.exact(result.fp, result.fn, *case.totals), case
    assert result.objective == result.value - penalty * result.nodes.n_splits, case
    for fp, fn, split, value, limit in result.cuts:
        assert all(
            fp * a + fn * b + split * k >= value
            for a, b, k in triples
            if limit is None or k <= limit
        ), (case, fp, fn, split, value, limit)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_the_value_is_the_greatest_of_all_trees(metric: metrics.Metric) -> None:
    """Without a penalty: proven, and reached by the smallest tree that does."""
    for case in cases(40, 150):
        value, triples = best(case, metric)
        result = solve_metric(case.problem, metric, case.options())
        assert result.status == "optimal", case
        assert result.objective == result.bound == value, case
        check(result, case, metric, triples)
        equal = [k for fp, fn, k in triples if metric.exact(fp, fn, *case.totals) == value]
        assert result.nodes.n_splits == min(equal), case


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_penalties_are_exact(metric: metrics.Metric) -> None:
    """Per split and per leaf, with depth limits and without."""
    penalties = cycle([Fraction(1, 100), Fraction(1, 20), Fraction(1, 7), Fraction(3, 1000)])
    pers: Iterator[Literal["split", "leaf"]] = cycle(["split", "split", "leaf"])  # type: ignore[list-item]
    for case in cases(50, 60, depths=(1, 2, 2, 3, None)):
        penalty, per = next(penalties), next(pers)
        value, _ = best(case, metric, penalty)
        result = solve_metric(case.problem, metric, case.options(), complexity=penalty, per=per)
        offset = penalty if per == "leaf" else 0
        assert result.status == "optimal", case
        assert result.objective + offset == result.bound + offset == value, (case, penalty)
        assert result.objective == result.value - penalty * result.nodes.n_splits - offset


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 50)], ids=str)
def test_a_search_that_is_stopped_has_a_valid_bound(
    metric: metrics.Metric, penalty: Fraction
) -> None:
    """Whatever the work done so far, the best value lies between objective and bound."""
    limits = cycle([1, 2, 3, 5, 8])
    for case in cases(60, 25, depths=(3,)):
        value, triples = best(case, metric, penalty)
        options = case.options(extra={"work_limit": next(limits)})
        result = solve_metric(case.problem, metric, options, complexity=penalty)
        assert result.objective <= value <= result.bound, case
        check(result, case, metric, triples, penalty)
        if result.status == "optimal":
            assert result.objective == value


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_every_number_of_splits_has_its_best_tree(metric: metrics.Metric) -> None:
    """One entry for each number of splits that helps, each the best of all trees so small."""
    for case in cases(70, 50, depths=(0, 1, 2, 2, 3)):
        triples, totals = case.triples(), case.totals
        path = solve_metric_path(case.problem, metric, case.options())
        assert path.status == "optimal", case
        greatest: list[Any] = []
        for k in range(max(splits for _, _, splits in triples) + 1):
            value = max(metric.exact(fp, fn, *totals) for fp, fn, s in triples if s <= k)
            if not greatest or value > greatest[-1][1]:
                greatest.append((k, value))
        assert [(e.tree.n_splits, e.value) for e in path.entries] == greatest, case
        for entry in path.entries:
            tree = entry.tree
            assert (tree.fp, tree.fn, tree.n_splits) in triples, case
            assert entry.bound == entry.value == metric.exact(tree.fp, tree.fn, *totals), case


def test_a_path_that_is_stopped_has_valid_bounds() -> None:
    """For every number of splits, whatever the work done so far."""
    metric = metrics.F1()
    for number, case in enumerate(cases(71, 60, depths=(3,))):
        triples, totals = case.triples(), case.totals
        options = case.options(extra={"work_limit": 1 + number % 6})
        for entry in solve_metric_path(case.problem, metric, options).entries:
            small = [t for t in triples if t[2] <= entry.tree.n_splits]
            value = max(metric.exact(fp, fn, *totals) for fp, fn, _ in small)
            assert metric.exact(*entry.tree.point, *totals) == entry.value <= value, case
            assert value <= entry.bound, case


def test_paths_without_an_end_are_refused() -> None:
    """Some limit on the number of splits is needed."""
    case = next(cases(72, 1, depths=(None,)))
    options = engine.Options()
    with pytest.raises(ValueError, match="needs max_depth or max_splits"):
        solve_metric_path(case.problem, metrics.F1(), options)


def _is_at_or_above(triple: tuple[int, int, int], low: tuple[int, int, int]) -> bool:
    return all(a >= b for a, b in zip(triple, low, strict=True))


def _hull(points: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Corners that are the only best points for some positive weights, by trying pairs."""

    def is_corner(p: tuple[int, int]) -> bool:
        if any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points):
            return False
        for a in points:
            for b in points:
                if a[0] < p[0] < b[0] and a[1] > p[1]:
                    # p is no corner if it is on or above the line from a to b.
                    height = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
                    if height >= 0:
                        return False
        return True

    return sorted(filter(is_corner, points))


def test_the_supported_front_is_the_hull_of_all_trees() -> None:
    """All corners and nothing else, each with a tree."""
    for case in cases(80, 400):
        triples = case.triples()
        front = supported_front(case.problem, case.options())
        assert front.status == "optimal", case
        found = [tree.point for tree in front.trees]
        assert found == _hull({(fp, fn) for fp, fn, _ in triples}), case
        for tree in front.trees:
            assert (tree.fp, tree.fn, tree.n_splits) in triples, case
        for triple in triples:
            assert any(
                all(a <= b for a, b in zip(low, triple, strict=True)) for low in front.lower_points
            ), case


def test_a_supported_front_that_is_stopped_is_bounded_from_below() -> None:
    """Every tree is at or above a lower point."""
    for number, case in enumerate(cases(81, 100, depths=(3,))):
        options = case.options(extra={"work_limit": 1 + number % 6})
        front = supported_front(case.problem, options)
        for triple in case.triples():
            assert any(
                all(a <= b for a, b in zip(low, triple, strict=True)) for low in front.lower_points
            ), case


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_metrics_with_convex_sublevel_sets_are_best_at_a_corner(metric: metrics.Metric) -> None:
    """Theorem 2, on random point sets that contain the single leaves."""
    rng = np.random.default_rng(90)
    for _ in range(60):
        positives, negatives = (int(n) for n in rng.integers(1, 30, size=2))
        points = {(0, positives), (negatives, 0)}
        for fp, fn in zip(
            rng.integers(0, negatives + 1, 12), rng.integers(0, positives + 1, 12), strict=True
        ):
            points.add((int(fp), int(fn)))
        values = {p: metric.exact(*p, positives, negatives) for p in points}
        assert max(values[p] for p in _hull(points)) == max(values.values())


def test_the_geometric_mean_is_not() -> None:
    """The counterexample: two single leaves, and one point above the line between them."""
    points = {(0, 100), (100, 0), (55, 55)}
    best_point = max(points, key=lambda p: metrics.GMean().exact(*p, 100, 100))
    assert best_point == (55, 55)
    assert best_point not in _hull(points)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_weights_beyond_64_bits_leave_a_valid_bound(metric: metrics.Metric) -> None:
    """Where products of weights overflow, directions are rounded; what is claimed holds."""
    for number, case in enumerate(cases(95, 30, depths=(2,))):
        rng = np.random.default_rng([FUZZ, 95, number])
        heavy = rng.integers(1, 10 ** int(rng.integers(9, 13)), size=len(case.row_types))
        case = replace(case, weights=heavy)
        penalty = Fraction(number % 2, 50)
        value, triples = best(case, metric, penalty)
        result = solve_metric(case.problem, metric, case.options(), complexity=penalty)
        assert result.status in ("optimal", "gap"), case
        assert result.objective <= value <= result.bound, case
        check(result, case, metric, triples, penalty)
        assert float(result.bound) - float(result.objective) < 1e-2, case


def test_a_callback_stops_the_search_with_a_valid_bound() -> None:
    """It sees one minus objective and bound, in order, and ends the search."""
    rng = np.random.default_rng(96)
    columns = np.asfortranarray(rng.integers(0, 2, size=(300, 14)).astype(np.uint8))
    types = ((columns[:, 0] & columns[:, 1]) ^ (rng.random(300) < 0.3)).astype(np.int32)
    problem = engine.Problem(columns, types, np.zeros((2, 2), dtype=np.int64))
    options = engine.Options(max_depth=3)
    for metric in (metrics.F1(), metrics.MCC(), metrics.GMean()):
        finished = solve_metric(problem, metric, options)
        for most in (1, 2, 4):
            events: list[Any] = []

            def stop(event: Any, events: list[Any] = events, most: int = most) -> bool:
                events.append(event)
                return len(events) >= most

            result = solve_metric(problem, metric, options, callback=stop)
            assert len(events) >= 1
            assert all(0 <= e["lower_bound"] <= e["upper_bound"] <= 1 for e in events)
            assert result.status in ("interrupted", "optimal")
            assert result.objective <= finished.objective <= result.bound


def many_sizes(n_rows: int) -> engine.Problem:
    """Return a noisy problem in which trees of very many sizes could be best."""
    rng = np.random.default_rng(99)
    values = rng.normal(size=(n_rows, 3)).round(1)
    steps = np.arange(-2.5, 2.5, 0.1)
    columns = np.asfortranarray((values[:, :, None] > steps).reshape(n_rows, -1).astype(np.uint8))
    score = values[:, 0] + values[:, 1] * values[:, 2] + rng.normal(size=n_rows)
    return engine.Problem(columns, (score > 0).astype(np.int32), np.zeros((2, 2), dtype=np.int64))


@pytest.mark.parametrize("metric", [metrics.F1(), metrics.MCC()], ids=repr)
def test_time_limits_hold_between_solves(metric: metrics.Metric) -> None:
    """Without a depth limit and with a small penalty, thousands of numbers of splits are open."""
    problem = many_sizes(4000)
    start = perf_counter()
    result = solve_metric(
        problem, metric, engine.Options(time_limit=1), complexity=Fraction(1, 100_000)
    )
    assert perf_counter() - start < 3
    assert result.status == "time_limit"
    assert result.objective < result.bound < 1


def test_callbacks_are_asked_between_solves() -> None:
    """The search stops soon after one says so."""
    events: list[float] = []

    def stop(event: Any) -> bool:
        events.append(event["seconds"])
        return event["seconds"] > 1

    result = solve_metric(
        many_sizes(4000),
        metrics.F1(),
        engine.Options(),
        complexity=Fraction(1, 100_000),
        callback=stop,
    )
    assert result.status == "interrupted"
    assert result.seconds < 3
    assert events == sorted(events)


@pytest.mark.parametrize("metric", [metrics.F1(), metrics.MCC()], ids=repr)
def test_bounds_hold_whenever_the_clock_runs_out(
    metric: metrics.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while slices of several numbers of splits are not yet divided or cut."""
    steps = cycle([0, 1, 2, 3, 5, 8, 13, 21])
    for case in cases(99, 60, depths=(3, None)):
        left = next(steps)

        def is_over(oracle: WeightedSolves) -> bool:
            nonlocal left
            left -= 1
            if left < 0:
                oracle.status = "time_limit"
            return left < 0

        monkeypatch.setattr(WeightedSolves, "is_over", is_over)
        penalty = Fraction(1, 60)
        value, triples = best(case, metric, penalty)
        result = solve_metric(case.problem, metric, case.options(), complexity=penalty)
        assert result.objective <= value <= result.bound, case
        check(result, case, metric, triples, penalty)


def test_the_best_labels_are_chosen_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding errors of quick values do not decide between labels of leaves."""
    noise = np.random.default_rng(100)
    exact = Search._about
    for case in cases(100, 60, depths=(3,)):
        case = replace(case, weights=np.full(len(case.row_types), 10**7))
        search = Search(case.problem, metrics.MCC(), case.options(), Fraction(0))
        found = search.solves.solve((1, 1, 0))
        if found is None:
            continue
        monkeypatch.setattr(
            Search, "_about", lambda self, *p: exact(self, *p) + noise.normal() * 1e-11
        )
        choices = search.solves.rows.relabellings(found)
        points = list(zip(choices.fp, choices.fn, strict=True))
        search.consider_labels(found)
        assert search.objective == max(map(search.value, points)), case
        for i, point in enumerate(points):
            tree = choices.tree(i)
            again = search.solves.rows.found(tree.nodes)
            assert (again.point, again.n_splits) == (point, choices.n_splits[i]), case


def test_cuts_without_a_solve_run_along_the_chord() -> None:
    """Weights of solves are rounded; such a line may be above one end, and cut off more."""
    rng = np.random.default_rng(101)
    n_higher = 0
    for _ in range(50):
        fp = sorted(rng.integers(0, 10**15, size=3).tolist())
        fn = sorted(rng.integers(0, 10**15, size=3).tolist(), reverse=True)
        around = Triangle([(fp[0], fn[0]), (fp[0], fn[2]), (fp[2], fn[2])], None)
        w_fp, w_fn, height = around.chord()
        assert w_fp * fp[0] + w_fn * fn[0] == w_fp * fp[2] + w_fn * fn[2] == height
        assert w_fp * fp[0] + w_fn * fn[2] < height
        w_fp, w_fn, height = around.line(2**62)
        n_higher += min(w_fp * fp[0] + w_fn * fn[0], w_fp * fp[2] + w_fn * fn[2]) < height
    assert n_higher > 0


def test_what_a_callback_raises_comes_out() -> None:
    """Not swallowed, and not turned into a status."""
    case = next(c for c in cases(97, 50, depths=(3,)) if min(c.totals) >= 2)

    def fail(event: Any) -> bool:
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        solve_metric(case.problem, metrics.MCC(), case.options(), callback=fail)


def test_a_gap_that_is_accepted_ends_the_search() -> None:
    """The bound is then within the gap."""
    for case in cases(98, 60):
        for metric in (metrics.F1(), metrics.MCC()):
            value, _ = best(case, metric)
            result = solve_metric(case.problem, metric, case.options(), gap=Fraction(1, 5))
            assert result.status in ("optimal", "gap"), case
            assert result.objective <= value <= result.bound, case
            assert result.bound - Fraction(1, 5) <= result.objective, case


def test_more_than_two_classes_are_refused() -> None:
    """With the row types that were given."""
    problem = engine.Problem(
        np.zeros((3, 1), dtype=np.uint8, order="F"),
        np.array([0, 1, 2], dtype=np.int32),
        np.zeros((2, 2), dtype=np.int64),
    )
    with pytest.raises(ValueError, match="row types 0 and 1"):
        solve_metric(problem, metrics.F1(), engine.Options(max_depth=1))
