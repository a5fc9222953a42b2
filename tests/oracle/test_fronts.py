"""Pareto fronts of (false positives, false negatives) against brute force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import _core
from certree.engine._front import FrontResult, solve_front
from certree.engine._scalar import Options
from certree.engine._scalar import Problem as EngineProblem
from tests.oracle.enumeration import all_trees
from tests.oracle.fronts import FrontOracle, Point, nondominated
from tests.problems import FUZZ, random_columns
from tests.registry import all_isas, settings_one_by_one


@dataclass(frozen=True)
class FrontCase:
    """A random question about a front."""

    problem: EngineProblem
    depth: int
    max_splits: int | None
    min_leaf: int
    per_splits: bool
    dominated: list[tuple[int, int]] | None

    def weights(self) -> NDArray[np.int64]:
        """Weights, ones where none are given."""
        weights = self.problem.weights
        return np.ones(len(self.problem.row_types), dtype=np.int64) if weights is None else weights

    def options(self, **extra: Any) -> Options:
        """The limits as the engine takes them."""
        return Options(self.depth, self.max_splits, self.min_leaf, extra=extra)

    def solve(self, **extra: Any) -> FrontResult:
        """Ask the engine."""
        return solve_front(
            self.problem, self.options(**extra), self.dominated, per_splits=self.per_splits
        )

    def is_wanted(self, point: Point) -> bool:
        """Is the point at or above none of the dominated ones?"""
        return not any(d[0] <= point[0] and d[1] <= point[1] for d in self.dominated or [])

    def all_points(self) -> list[Point]:
        """Nondominated and wanted (fp, fn, splits), by brute force."""
        oracle = FrontOracle(
            self.problem.columns.tolist(),
            self.problem.row_types.tolist(),
            self.weights().tolist(),
            self.min_leaf,
        )
        most = 99 if self.max_splits is None else self.max_splits
        return [p for p in oracle.front(self.depth, most) if self.is_wanted(p)]


def random_weights(rng: np.random.Generator, n_rows: int) -> NDArray[np.int64] | None:
    """No weights, small ones, or ones that need 32 or 64 bits."""
    most = rng.choice([0, 0, 0, 5, 5, 3000, 2**36])
    return None if most == 0 else rng.integers(1, most, n_rows)


def random_case(rng: np.random.Generator) -> FrontCase:
    """Ties, duplicates, conflicts, constant columns, one class, one row and limits of all kinds."""
    n_rows, n_columns = int(rng.integers(1, 22)), int(rng.integers(1, 6))
    columns = random_columns(rng, n_rows, n_columns)
    share = rng.choice([0, 0.2, 0.5, 0.8, 1.0], p=[0.04, 0.24, 0.44, 0.24, 0.04])
    types = rng.random(n_rows) < share
    if n_columns > 1 and rng.random() < 0.4:
        types = (columns[:, 0] ^ columns[:, 1]).astype(bool) ^ (rng.random(n_rows) < 0.2)
    row_types = types.astype(np.int32)
    weights = random_weights(rng, n_rows)
    totals = np.bincount(row_types, weights=weights, minlength=2)
    dominated = None
    if rng.random() < 0.4:
        dominated = [
            (int(rng.integers(0, totals[0] + 2)), int(rng.integers(0, totals[1] + 2)))
            for _ in range(rng.integers(0, 4))
        ]
    splits = int(rng.choice([-1, -1, 0, 1, 2, 3, 4, 5, 6]))
    return FrontCase(
        EngineProblem(columns, row_types, np.array([[0, 1], [1, 0]]), weights),
        depth=int(rng.choice([0, 1, 2, 3, 3, 3, 4 if n_columns < 5 else 3])),
        max_splits=None if splits < 0 else splits,
        min_leaf=int(rng.choice([1, 1, 1, 2, 3])),
        per_splits=bool(rng.random() < 0.4),
        dominated=dominated,
    )


def random_cases(seed: int, count: int) -> list[FrontCase]:
    rng = np.random.default_rng([seed, FUZZ])
    return [random_case(rng) for _ in range(count)]


def check_trees(case: FrontCase, found: FrontResult) -> None:
    """Every tree has its point and keeps to the limits."""
    types, weights = case.problem.row_types, case.weights()
    for i, point in enumerate(found.points.tolist()):
        tree = found.trees[i]
        leaf = tree.route(case.problem.columns)
        wrong = tree.label[leaf] != types
        fp, fn = (int(weights[wrong & (types == t)].sum()) for t in (0, 1))
        assert [fp, fn, tree.n_splits] == point
        assert case.max_splits is None or tree.n_splits <= case.max_splits
        assert depth_of(tree.test, tree.first_child) <= case.depth
        if tree.n_splits:
            sizes = np.bincount(leaf, minlength=len(tree.test))[tree.test < 0]
            assert sizes.min() >= case.min_leaf


def depth_of(test: NDArray[np.int32], first_child: NDArray[np.int32], node: int = 0) -> int:
    if test[node] < 0:
        return 0
    child = int(first_child[node])
    return 1 + max(depth_of(test, first_child, child), depth_of(test, first_child, child + 1))


def check_front(case: FrontCase, found: FrontResult) -> None:
    """The front is that of brute force, and its trees are what they say."""
    expected = case.all_points()
    points = [(fp, fn, k) for fp, fn, k in found.points.tolist()]
    assert found.status == "optimal"
    assert points == sorted(points, key=lambda p: (p[0], p[2]))
    if case.per_splits:
        assert sorted(points) == expected, case
    else:
        flat = nondominated((fp, fn, 0) for fp, fn, _ in expected)
        assert [p[:2] for p in points] == [p[:2] for p in flat], case
    check_trees(case, found)


@pytest.mark.parametrize("seed", range(7000, 7008))
def test_the_front_is_that_of_all_trees(seed: int) -> None:
    """Depths up to four, limits on splits and leaves, weights, points that are not wanted."""
    isas = all_isas()
    for number, case in enumerate(random_cases(seed, 250)):
        check_front(case, case.solve(isa=isas[number % len(isas)], threads=1 + number % 3))


@pytest.mark.parametrize("seed", range(7100, 7104))
def test_no_switch_changes_the_front(seed: int) -> None:
    """Every switch on and off, alone and with all others."""
    settings = settings_one_by_one()
    for number, case in enumerate(random_cases(seed, 250)):
        check_front(case, case.solve(**settings[number % len(settings)]))


@pytest.mark.parametrize("seed", range(7200, 7204))
def test_bounds_of_a_stopped_search_are_below_every_tree(seed: int) -> None:
    """Whatever the work done so far, and the trees found are what they say."""
    for number, case in enumerate(random_cases(seed, 200)):
        found = case.solve(work_limit=1 + number % 12, threads=1 + number % 2)
        for point in case.all_points():
            assert (found.lower_points <= point).all(axis=1).any(), (case, point)
        check_trees(case, found)


def test_a_table_that_forgets_changes_nothing() -> None:
    """Little memory: subproblems are solved again, or the status says so."""
    statuses = set()
    for number, case in enumerate(random_cases(7300, 150)):
        found = case.solve(memory_limit=(60_000, 100, 20_000)[number % 3])
        statuses.add(found.status)
        if found.status == "optimal":
            check_front(case, found)
        else:
            check_trees(case, found)
            for point in case.all_points():
                assert (found.lower_points <= point).all(axis=1).any(), (case, point)
    assert "optimal" in statuses


def test_brute_force_agrees_with_walking_through_every_tree() -> None:
    """The oracle's own oracle: explicit trees of depth two, row by row."""
    rng = np.random.default_rng(7400)
    for _ in range(12):
        columns = random_columns(rng, 6, 2).tolist()
        types = rng.integers(0, 2, 6).tolist()
        points = set()
        for tree in all_trees(2, (2, 2), 2):
            reached = {id(leaf): 0 for leaf in tree.leaves()}
            fp = fn = 0
            for row, row_type in zip(columns, types, strict=True):
                node = tree
                while node.children:
                    node = node.children[row[node.test]]
                reached[id(node)] += 1
                fp += node.label == 1 and row_type == 0
                fn += node.label == 0 and row_type == 1
            points.add((fp, fn, tree.splits))
        assert FrontOracle(columns, types, [1] * 6).front(2, 3) == nondominated(points)


def test_fronts_on_structured_data_of_medium_size() -> None:
    """Enough columns for all vector widths: both routes to depth three give the same front."""
    rng = np.random.default_rng(7500)
    columns = np.asfortranarray((rng.random((300, 40)) < rng.random(40)).astype(np.uint8))
    types = (columns[:, 3] & columns[:, 17]) ^ (rng.random(300) < 0.15)
    problem = EngineProblem(columns, types.astype(np.int32), np.array([[0, 1], [1, 0]]))
    usual = solve_front(problem, Options(3))
    others = ({"use_sibling_subtraction": False}, {"use_front_directions": False})
    for extra in others:
        other = solve_front(problem, Options(3, extra=extra))
        assert other.points[:, :2].tolist() == usual.points[:, :2].tolist()
    for weights in (np.full(300, 50), np.full(300, 2**35)):
        heavy = EngineProblem(columns, problem.row_types, problem.cost_matrix, weights)
        found = solve_front(heavy, Options(3))
        assert (found.points[:, :2] == usual.points[:, :2] * weights[0]).all()


def test_a_callback_stops_the_search_and_sees_points() -> None:
    """It is told seconds, work and the number of points."""
    case = random_cases(7600, 1)[0]
    rng = np.random.default_rng(7600)
    columns = np.asfortranarray((rng.random((200, 30)) < 0.5).astype(np.uint8))
    problem = EngineProblem(
        columns, rng.integers(0, 2, 200, dtype=np.int32), case.problem.cost_matrix
    )
    seen: list[Any] = []
    found = solve_front(problem, Options(4), callback=lambda event: seen.append(event) or True)
    assert found.status == "interrupted"
    assert set(seen[0]) == {"seconds", "work", "n_points"}
    assert len(found.lower_points)

    def fail(event: Any) -> bool:
        raise RuntimeError("from the callback")

    with pytest.raises(RuntimeError, match="from the callback"):
        solve_front(problem, Options(4), callback=fail)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"types": [0, 2]}, "row_types must be 0"),
        ({"dominated": np.zeros((1, 3), dtype=np.int64)}, "two columns"),
        ({"options": {"max_depth": -2}}, "max_depth"),
        ({"options": {"max_depth": 2, "min_leaf": 0}}, "min_leaf"),
        ({"options": {}, "per_splits": True}, "needs max_depth or max_splits"),
        ({"weights": np.array([2**60, 2**62])}, "overflows"),
    ],
)
def test_arguments_without_sense_are_refused(change: dict[str, Any], message: str) -> None:
    """The message names what was wrong."""
    with pytest.raises(ValueError, match=message):
        _core.solve_front(
            np.array([[0], [1]], dtype=np.uint8),
            np.array(change.get("types", [0, 1]), dtype=np.int32),
            change.get("weights"),
            change.get("options", {"max_depth": 2}),
            change.get("dominated"),
            change.get("per_splits", False),
        )
