"""Limits on the whole tree against brute force: optima, bounds, infeasibility and fronts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import _core
from certree.engine import Nodes, Options
from certree.engine._within_limits import LimitedProblem, LimitedResult, search_inside
from certree.proofs._limit_front import solve_limited_front
from certree.proofs._limit_search import solve_limited
from tests.oracle.enumeration import all_trees
from tests.oracle.limits import LimitOracle, Point, feasible, front, least, value
from tests.problems import FUZZ, random_columns
from tests.registry import all_isas, settings_one_by_one

SWITCHES = [n for n in _core.switches() if n.startswith(("use_limit", "use_interval"))]


@dataclass(frozen=True)
class LimitCase:
    """A random problem with limits on the whole tree."""

    problem: LimitedProblem
    options: Options

    @property
    def planes(self) -> list[list[int]]:
        """All planes, as lists."""
        return [[int(v) for v in plane] for plane in self.problem.planes]

    @property
    def limits(self) -> list[tuple[list[int], int]]:
        """Planes and bounds of the limits."""
        return list(zip(self.planes[1:], self.problem.bounds, strict=True))

    @cached_property
    def points(self) -> set[Point]:
        """The points of all trees within the options."""
        assert self.options.max_depth is not None
        return self.oracle().points(self.options.max_depth, self.options.max_splits)

    def oracle(self) -> LimitOracle:
        """The brute force for this problem."""
        given = self.problem
        optional = (given.row_counts, given.label_counts, given.label_min)
        return LimitOracle(
            given.columns.tolist(),
            given.values.tolist(),
            *(None if part is None else part.tolist() for part in optional),
            min_leaf=self.options.min_leaf,
        )

    def optimum(self) -> int | None:
        """Least objective within the limits, or None."""
        return least(self.points, self.planes[0], self.limits)

    def with_options(self, **changes: Any) -> Options:
        """The options, with some that go to the core as they are."""
        return replace(self.options, extra=changes)

    def solve(self, **extra: Any) -> LimitedResult:
        """Ask the search."""
        return solve_limited(self.problem, self.with_options(**extra))


# ---- random problems ----------------------------------------------------------------------------


def random_values(
    rng: np.random.Generator, n_rows: int
) -> tuple[NDArray[np.int64], list[list[int]], list[int]]:
    """Any sums, objective and limits, two sides of some; often nobody can meet them."""
    n_labels, n_sums = int(rng.choice([1, 2, 2, 2, 3])), int(rng.choice([1, 2, 2, 3]))
    values = rng.integers(-2, 4, (n_rows, n_labels, n_sums))
    planes = [[1, *[0] * (n_sums - 1), int(rng.choice([0, 0, 1, 2]))]]
    bounds: list[int] = []
    for _ in range(int(rng.integers(0, 4))):
        plane = [*rng.integers(-2, 3, n_sums).tolist(), int(rng.choice([0, 0, 0, 1]))]
        planes.append(plane)
        bounds.append(int(rng.integers(-6, 10)))
        if plane[-1] == 0 and rng.random() < 0.5:
            planes.append([-v for v in plane])
            bounds.append(int(rng.integers(-4, 6)))
    return values, planes, bounds


def fairness_values(
    rng: np.random.Generator, columns: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], list[list[int]], list[int]]:
    """Errors, and how much more often one group is labelled 1, at tolerances that trees hit."""
    n_rows = len(columns)
    group = rng.integers(0, 2, n_rows)
    truth = (columns[:, 0] ^ (rng.random(n_rows) < 0.3)).astype(np.int64)
    counted = np.ones(n_rows, dtype=bool) if rng.random() < 0.5 else truth == 1
    sizes = [int((counted & (group == g)).sum()) for g in (0, 1)]
    values = np.zeros((n_rows, 2, 2), dtype=np.int64)
    values[:, 0, 0], values[:, 1, 0] = truth, 1 - truth
    values[counted, 1, 1] = np.where(group[counted] == 1, sizes[0], -sizes[1])
    tolerance = Fraction(str(rng.choice(["0", "0.1", "0.2", "1/3", "0.5"])))
    bound = int(tolerance * sizes[0] * sizes[1])
    penalty = int(rng.choice([0, 0, 0, 1]))
    return values, [[1, 0, penalty], [0, 1, 0], [0, -1, 0]], [bound, bound]


def capacity_values(
    rng: np.random.Generator, n_rows: int
) -> tuple[NDArray[np.int64], list[list[int]], list[int]]:
    """Costs of labels, and at most so many rows, or so much money, for some of them."""
    n_labels = int(rng.integers(2, 4))
    values = np.zeros((n_rows, n_labels, 3), dtype=np.int64)
    values[:, :, 0] = rng.integers(0, 6, (n_rows, n_labels))
    values[:, -1, 1] = 1
    values[:, :, 2] = np.arange(n_labels)
    planes = [[1, 0, 0, int(rng.choice([0, 0, 1, 3]))], [0, 1, 0, 0], [0, 0, 1, 0]]
    return values, planes, [int(rng.integers(0, n_rows + 1)), int(rng.integers(0, 2 * n_rows))]


def random_case(rng: np.random.Generator) -> LimitCase:
    """Ties, conflicting and equal rows, constant columns, one row, weights and limits together."""
    n_rows, n_columns = int(rng.integers(1, 11)), int(rng.integers(1, 4))
    columns = random_columns(rng, n_rows, n_columns)
    kind = rng.random()
    if kind < 0.4:
        values, planes, bounds = random_values(rng, n_rows)
    elif kind < 0.75:
        values, planes, bounds = fairness_values(rng, columns)
    else:
        values, planes, bounds = capacity_values(rng, n_rows)
    if rng.random() < 0.3:
        values = values * rng.integers(1, rng.choice([3, 40]), (n_rows, 1, 1))
        bounds = [bound * 3 for bound in bounds]
    extra: dict[str, Any] = {}
    if rng.random() < 0.2:
        extra["row_counts"] = rng.integers(1, 4, n_rows)
    if rng.random() < 0.25:
        extra["label_counts"] = rng.integers(0, 2, (n_rows, values.shape[1]))
        extra["label_min"] = rng.integers(0, 3, values.shape[1])
    problem = LimitedProblem(
        columns, values.astype(np.int64), np.array(planes, dtype=np.int64), tuple(bounds), **extra
    )
    splits = int(rng.choice([-1, -1, -1, 0, 1, 2, 3, 4]))
    options = Options(
        max_depth=int(rng.choice([0, 1, 2, 2, 3, 3])),
        max_splits=None if splits < 0 else splits,
        min_leaf=int(rng.choice([1, 1, 1, 2, 3])),
    )
    return LimitCase(problem, options)


def random_cases(seed: int, count: int) -> Iterator[LimitCase]:
    for number in range(count):
        yield random_case(np.random.default_rng([seed, number, FUZZ]))


# ---- checks -------------------------------------------------------------------------------------


def check_tree(case: LimitCase, nodes: Nodes, values: tuple[int, ...]) -> None:
    """A tree has the values that it is said to have, and keeps to all limits."""
    problem, options = case.problem, case.options
    leaf = nodes.route(problem.columns)
    label = nodes.label[leaf]
    sums = problem.values[np.arange(len(leaf)), label].sum(axis=0)
    n_splits = int((nodes.test >= 0).sum())
    point = (*(int(v) for v in sums), n_splits)
    assert tuple(value(plane, point) for plane in case.planes) == values
    assert point in case.points
    assert all(v <= b for v, b in zip(values[1:], problem.bounds, strict=True))
    assert options.max_splits is None or n_splits <= options.max_splits
    for node in np.unique(leaf):
        rows = leaf == node
        size = rows.sum() if problem.row_counts is None else problem.row_counts[rows].sum()
        assert n_splits == 0 or size >= options.min_leaf
        if problem.label_counts is not None and problem.label_min is not None:
            its = nodes.label[node]
            assert problem.label_counts[rows, its].sum() >= problem.label_min[its]


def check_cuts(case: LimitCase, found: LimitedResult) -> None:
    """No cut exceeds the value of any tree, and no bound the optimum."""
    optimum = case.optimum()
    for cut in found.cuts:
        mixed = [value(cut.multipliers, part) for part in zip(*case.planes, strict=True)]
        assert all(value(mixed, point) >= cut.value for point in case.points), case
        if cut.bound is not None and optimum is not None:
            assert cut.bound <= optimum, case
    if optimum is not None:
        assert found.lower_bound <= optimum


def check_closest(case: LimitCase, found: LimitedResult) -> None:
    """The least values of limits are those of all trees that keep to the other side."""
    assert [closest.limit for closest in found.closest] == list(range(len(case.limits)))
    for closest in found.closest:
        plane = case.planes[closest.limit + 1]
        opposite = [
            (other, bound)
            for j, (other, bound) in enumerate(case.limits)
            if j != closest.limit and all(a == -b for a, b in zip(plane, other, strict=True))
        ]
        expected = least(case.points, plane, opposite)
        if expected is None:
            expected = least(case.points, plane)
        assert closest.attained == expected, case
        assert expected is None or closest.lower_bound == expected, case


def check(case: LimitCase, found: LimitedResult) -> None:
    """The answer is that of brute force."""
    optimum = case.optimum()
    check_cuts(case, found)
    if optimum is None:
        assert found.status == "infeasible", case
        assert found.upper_bound is None
        assert len(found.nodes) == 0
        assert found.proof in ("dual", "search")
        check_closest(case, found)
        return
    assert found.status == "optimal", case
    assert (found.lower_bound, found.upper_bound) == (optimum, optimum), case
    assert found.proof == ""
    assert found.values[0] == optimum
    check_tree(case, found.nodes, found.values)


# ---- the best tree ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8000, 8008))
def test_the_best_tree_within_limits_is_that_of_all_trees(seed: int) -> None:
    """Objective, infeasibility, closest values, cuts; the tree is what it is said to be."""
    isas = all_isas()
    for number, case in enumerate(random_cases(seed, 250)):
        check(case, case.solve(isa=isas[number % len(isas)]))


def test_without_multipliers_the_best_tree_is_the_same() -> None:
    """The search that begins at once is exact, too."""
    for case in random_cases(12, 150):
        found = solve_limited(case.problem, case.options, dual=False)
        check(case, found)
        assert not found.cuts or found.status == "infeasible"


@pytest.mark.parametrize("seed", range(8100, 8104))
def test_no_switch_changes_the_best_tree(seed: int) -> None:
    """Every switch on and off, alone and with all others."""
    settings = settings_one_by_one()
    for number, case in enumerate(random_cases(seed, 150)):
        check(case, case.solve(**settings[number % len(settings)]))


def test_no_switch_of_the_limit_search_changes_the_best_tree() -> None:
    """All settings of its own switches, on the same problems."""
    for number, case in enumerate(random_cases(8200, 480)):
        on = {name: bool(number >> bit & 1) for bit, name in enumerate(SWITCHES)}
        check(case, case.solve(**on))


def test_bounds_that_trees_hit_are_kept_to_exactly() -> None:
    """A bound at the value of a tree lets it in, and one less does not."""
    rng = np.random.default_rng([8300, FUZZ])
    for case in random_cases(8300, 300):
        if not case.limits or not case.points:
            continue
        point = sorted(case.points)[int(rng.integers(len(case.points)))]
        at = tuple(value(plane, point) for plane in case.planes[1:])
        inside = replace(case, problem=replace(case.problem, bounds=at))
        check(inside, inside.solve())
        assert inside.optimum() is not None
        tighter = (*at[:-1], at[-1] - 1)
        check(
            outside := replace(case, problem=replace(case.problem, bounds=tighter)), outside.solve()
        )


def test_scaled_weights_give_scaled_results() -> None:
    """Values and bounds times a number: the objective times that number, the same feasibility."""
    for number, case in enumerate(random_cases(8400, 200)):
        factor = (2, 7, 1000, 2**30)[number % 4]
        given = case.problem
        planes = given.planes.copy()
        planes[:, -1] *= factor
        scaled = replace(
            given,
            values=given.values * factor,
            planes=planes,
            bounds=tuple(bound * factor for bound in given.bounds),
        )
        usual, found = case.solve(), solve_limited(scaled, case.options)
        assert found.status == usual.status
        if usual.upper_bound is not None:
            assert found.upper_bound == usual.upper_bound * factor
            assert found.lower_bound == found.upper_bound


def enlarged(case: LimitCase, rng: np.random.Generator) -> LimitCase:
    """Far bounds, sums far from zero, planes or weights that need 40 bits and more."""
    given, kind = case.problem, int(rng.integers(4))
    if kind == 0:
        far = (2**62, -(2**62), 2**63 - 1)
        bounds = tuple(int(rng.choice(far)) if rng.random() < 0.5 else b for b in given.bounds)
        return replace(case, problem=replace(given, bounds=bounds))
    if kind == 1:
        shift = 2**46
        moved = [
            bound + sum(plane[:-1]) * shift * len(given.values) for plane, bound in case.limits
        ]
        values = given.values + shift
        return replace(case, problem=replace(given, values=values, bounds=tuple(moved)))
    if kind == 2:
        factors = rng.integers(1, 2**44, len(given.planes))
        planes = given.planes * factors[:, None]
        scaled = tuple(int(f) * b for f, b in zip(factors[1:], given.bounds, strict=True))
        return replace(case, problem=replace(given, planes=planes, bounds=scaled))
    weights = rng.integers(1, 2**36, (len(given.values), 1, 1))
    bounds = tuple(bound * 2**35 for bound in given.bounds)
    return replace(case, problem=replace(given, values=given.values * weights, bounds=bounds))


def test_large_numbers_are_exact() -> None:
    """No value is rounded, whatever the multipliers."""
    for number, case in enumerate(random_cases(8450, 300)):
        large = enlarged(case, np.random.default_rng([8450, number, 1, FUZZ]))
        check(large, large.solve())


@pytest.mark.parametrize("seed", range(8500, 8503))
def test_bounds_of_a_stopped_search_hold(seed: int) -> None:
    """Whatever the work done so far; a tree that was found is within the limits."""
    for number, case in enumerate(random_cases(seed, 200)):
        found = case.solve(work_limit=1 + number % 25)
        optimum = case.optimum()
        check_cuts(case, found)
        if found.status == "infeasible":
            assert optimum is None
        if found.upper_bound is not None:
            check_tree(case, found.nodes, found.values)
            assert optimum is not None
            assert found.lower_bound <= optimum <= found.upper_bound
        if found.status == "optimal":
            assert found.lower_bound == found.upper_bound == optimum
        for closest in found.closest:
            assert closest.attained is None or closest.lower_bound <= closest.attained


def test_many_types_of_rows_are_solved_by_rows() -> None:
    """Rows that are all different, with weights and with counts."""
    for number in range(40):
        rng = np.random.default_rng([8600, number, FUZZ])
        columns = random_columns(rng, 80, 3)[:, :2]
        values = rng.integers(0, 10**6, (80, 2, 2))
        # Few different row sets: the oracle sees rows with equal columns as one.
        groups, where = np.unique(columns, axis=0, return_inverse=True)
        merged = np.zeros((len(groups), 2, 2), dtype=np.int64)
        np.add.at(merged, where.ravel(), values)
        bound = int(rng.integers(0, int(values[:, :, 1].sum())))
        planes = np.array([[1, 0, 0], [0, 1, 0]], dtype=np.int64)
        found = solve_limited(LimitedProblem(columns, values, planes, (bound,)), Options(2))
        points = LimitOracle(groups.tolist(), merged.tolist()).points(2)
        expected = least(points, [1, 0, 0], [([0, 1, 0], bound)])
        assert found.upper_bound == expected
        assert found.status == ("infeasible" if expected is None else "optimal")


# ---- fronts -------------------------------------------------------------------------------------


def random_scales(rng: np.random.Generator, case: LimitCase) -> list[int]:
    """Scales of some limits, or of all."""
    scales = [0, *rng.integers(0, 4, len(case.limits)).tolist()]
    if rng.random() < 0.1:
        # Gaps are fractions whose common denominator needs more than 64 bits.
        primes = (2**31 - 1, 10**9 + 7, 998244353, 1)
        scales = [0, *rng.choice(primes, len(case.limits)).tolist()]
    if not any(scales):
        scales[-1] = 1
    return scales


def random_fronts(seed: int, count: int) -> Iterator[tuple[LimitCase, list[int]]]:
    """Cases with limits, some of which are not to bind but to be traded off."""
    for number, case in enumerate(random_cases(seed, count)):
        rng = np.random.default_rng([seed, number, 1, FUZZ])
        if not case.limits:
            continue
        scales = random_scales(rng, case)
        if rng.random() < 0.7:
            loose = tuple(
                10**6 if scale else bound
                for scale, bound in zip(scales[1:], case.problem.bounds, strict=True)
            )
            case = replace(case, problem=replace(case.problem, bounds=loose))
        yield case, scales


def check_front(case: LimitCase, scales: list[int], dual: bool = True, **extra: Any) -> None:
    """The front is that of all trees, each of its trees has its pair."""
    found = solve_limited_front(case.problem, scales, case.with_options(**extra), dual=dual)
    expected = front(case.points, case.planes, case.limits, scales)
    assert [(tree.objective, tree.gap) for tree in found.trees] == expected, case
    assert found.status == ("optimal" if expected else "infeasible")
    assert found.lower_points == expected
    for one, other in pairwise(found.trees):
        assert one.objective < other.objective
        assert one.gap > other.gap
    for tree in found.trees:
        check_tree(case, tree.nodes, tree.values)
        pairs = zip(tree.values, scales, strict=True)
        assert tree.gap == max(Fraction(v, s) for v, s in pairs if s)


@pytest.mark.parametrize("seed", range(8700, 8704))
def test_the_front_of_objective_and_gap_is_that_of_all_trees(seed: int) -> None:
    """Every pair, and no other; every tree is within the limits."""
    isas = all_isas()
    for number, (case, scales) in enumerate(random_fronts(seed, 250)):
        check_front(case, scales, isa=isas[number % len(isas)])


def test_without_multipliers_the_front_is_the_same() -> None:
    """The search that begins at once finds the same pairs."""
    for case, scales in random_fronts(8720, 200):
        check_front(case, scales, dual=False)


def test_gaps_up_to_the_least_one_are_not_told_apart() -> None:
    """The front ends with the first pair whose gap is no more than that."""
    for number, (case, scales) in enumerate(random_fronts(8750, 300)):
        whole = front(case.points, case.planes, case.limits, scales)
        least_gap = (Fraction(1, 2), Fraction(3), Fraction(10))[number % 3]
        found = solve_limited_front(
            case.problem, scales, case.options, least_gap=least_gap, dual=number % 2 == 0
        )
        wide = [pair for pair in whole if pair[1] > least_gap]
        narrow = [pair for pair in whole if pair[1] <= least_gap]
        pairs = [(tree.objective, tree.gap) for tree in found.trees]
        assert pairs[: len(wide)] == wide, case
        assert [pair[0] for pair in pairs[len(wide) :]] == [pair[0] for pair in narrow[:1]], case
        assert all(pair[1] <= least_gap for pair in pairs[len(wide) :]), case


def test_no_switch_changes_the_front() -> None:
    """All settings of the limit search, and each other switch."""
    settings = settings_one_by_one()
    for number, (case, scales) in enumerate(random_fronts(8800, 400)):
        on = {name: bool(number >> bit & 1) for bit, name in enumerate(SWITCHES)}
        check_front(case, scales, **(settings[number % len(settings)] if number % 2 else on))


@pytest.mark.parametrize("seed", range(8900, 8902))
def test_lower_points_of_a_stopped_front_are_below_every_tree(seed: int) -> None:
    """Whatever the work done so far, and its trees are what they say."""
    for number, (case, scales) in enumerate(random_fronts(seed, 200)):
        options = case.with_options(work_limit=1 + number % 25)
        found = solve_limited_front(case.problem, scales, options)
        for objective, gap in front(case.points, case.planes, case.limits, scales):
            below = [o <= objective and g <= gap for o, g in found.lower_points]
            assert any(below), (case, objective, gap)
        for tree in found.trees:
            check_tree(case, tree.nodes, tree.values)


def medium_case(seed: int) -> tuple[LimitCase, list[int]]:
    """A few hundred rows, limits of one or two groups of amounts, and scales for the gap."""
    rng = np.random.default_rng([seed, FUZZ])
    columns = np.asfortranarray((rng.random((250, 14)) < rng.random(14)).astype(np.uint8))
    truth = (columns[:, 0] & columns[:, 1]) ^ (rng.random(250) < 0.25)
    groups = rng.integers(0, 2, 250) ^ (columns[:, 2] & (rng.random(250) < 0.7))
    n_labels = int(rng.integers(2, 4))
    values = np.zeros((250, n_labels, 3), dtype=np.int64)
    values[:, :, 0] = rng.integers(1, 4, (250, n_labels))
    values[np.arange(250), truth, 0] = 0
    values[:, 1, 1] = np.where(groups == 1, int((groups == 0).sum()), -int((groups == 1).sum()))
    values[:, -1, 2] = 1
    if seed % 2:
        values *= rng.integers(1, 30, (250, 1, 1))
    planes = [[1, 0, 0, int(rng.choice([0, 2]))], [0, 1, 0, 0], [0, -1, 0, 0], [0, 0, 1, 0]]
    room = int(np.abs(values[:, 1, 1]).sum()) // 60
    bounds = (room, room, int(values[:, -1, 2].sum()) // 4)
    problem = LimitedProblem(columns, values, np.array(planes, dtype=np.int64), bounds)
    return LimitCase(problem, Options(3)), [0, 1, 1, 0]


@pytest.mark.parametrize("seed", range(8950, 8958))
def test_medium_problems_have_one_answer(seed: int) -> None:
    """The same with each switch off, and by the front of all tolerances."""
    case, scales = medium_case(seed)
    usual = case.solve()
    assert usual.status == "optimal"
    for name in SWITCHES:
        found = case.solve(**{name: False})
        assert (found.status, found.upper_bound) == ("optimal", usual.upper_bound)
    tolerance = case.problem.bounds[0]
    wide = replace(case.problem, bounds=(10**9, 10**9, case.problem.bounds[2]))
    curve = solve_limited_front(wide, scales, case.options, least_gap=Fraction(tolerance, 2))
    inside = [tree.objective for tree in curve.trees if tree.gap <= tolerance]
    assert min(inside) == usual.upper_bound
    for tree in curve.trees[:-1:5]:
        less = int(tree.gap) - 1
        tighter = replace(wide, bounds=(less, less, wide.bounds[2]))
        best = solve_limited(tighter, case.options).upper_bound
        following = [t.objective for t in curve.trees if t.gap <= less]
        assert best == min(following)


# ---- the core alone -----------------------------------------------------------------------------


def inside_corners(case: LimitCase, corners: list[list[int]]) -> set[Point]:
    """The points whose planes are at most those of some corner."""
    return {
        point
        for corner in corners
        for point in feasible(case.points, list(zip(case.planes, corner, strict=True)))
    }


@pytest.mark.parametrize("seed", range(9000, 9003))
def test_the_search_inside_corners_finds_what_is_wanted(seed: int) -> None:
    """Any corners and multipliers, without the dual around it; all settings of the switches."""
    for number, case in enumerate(random_cases(seed, 250)):
        if not case.points:
            continue
        rng = np.random.default_rng([seed, number, 2, FUZZ])
        points = sorted(case.points)
        picked = [points[i] for i in rng.integers(0, len(points), int(rng.integers(1, 4)))]
        corners = [
            [value(plane, p) + int(rng.integers(-1, 3)) for plane in case.planes] for p in picked
        ]
        multipliers = rng.integers(0, 4, (int(rng.integers(0, 4)), len(case.planes))).tolist()
        on = {name: bool(rng.random() < 0.7) for name in SWITCHES}
        options = case.with_options(**on)
        if len(corners) == 1 or not case.limits:
            found = search_inside(case.problem, multipliers, corners[:1], options)
            expected = least(inside_corners(case, corners[:1]), case.planes[0])
            objectives = [value(case.planes[0], tuple(p)) for p in found.points.tolist()]
            assert objectives == ([] if expected is None else [expected]), case
        else:
            scales = random_scales(rng, case)
            found = search_inside(case.problem, multipliers, corners, options, scales)
            wanted = inside_corners(case, corners)
            pairs = front({tuple(p) for p in found.points.tolist()}, case.planes, [], scales)
            assert pairs == front(wanted, case.planes, [], scales), case
        assert found.status == "optimal"
        for i, point in enumerate(found.points.tolist()):
            assert tuple(point) in case.points
            tree = found.trees[i]
            label = tree.label[tree.route(case.problem.columns)]
            sums = case.problem.values[np.arange(len(label)), label].sum(axis=0)
            assert [*sums.tolist(), tree.n_splits] == point


def test_brute_force_agrees_with_walking_through_every_tree() -> None:
    """The oracle's own oracle: explicit trees of depth two, row by row."""
    rng = np.random.default_rng(9100)
    for _ in range(12):
        columns = random_columns(rng, 6, 2).tolist()
        values = rng.integers(-3, 4, (6, 2, 2)).tolist()
        points = set()
        for tree in all_trees(2, (2, 2), 2):
            sums, sizes = [0, 0], Counter[tuple[int, ...]]()
            for row, amounts in zip(columns, values, strict=True):
                node = tree
                way: tuple[int, ...] = ()
                while node.children:
                    way = (*way, row[node.test])
                    node = node.children[way[-1]]
                sizes[way] += 1
                sums = [s + a for s, a in zip(sums, amounts[node.label], strict=True)]
            if tree.splits == 0 or (len(sizes) > tree.splits and min(sizes.values()) >= 2):
                points.add((*sums, tree.splits))
        assert LimitOracle(columns, values, min_leaf=2).points(2) == points
