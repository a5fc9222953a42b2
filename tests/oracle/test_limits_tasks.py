"""Tasks with limits against brute force: optima, proofs that there is none, closest totals, fronts.

Bounds are drawn from totals that trees have, so that many trees are exactly at a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import LimitedCertificate, solve, tasks, verify
from tests.oracle.limits import LimitOracle, Point, feasible, front, least

N_PROBLEMS = 150


@dataclass
class Drawn:
    """A small problem: its task, its table, and the points of all its trees, by brute force."""

    rng: np.random.Generator
    columns: np.ndarray[Any, Any]
    costs: np.ndarray[Any, Any]
    amounts: list[np.ndarray[Any, Any]]
    settings: dict[str, Any]
    weights: np.ndarray[Any, Any] | None
    minimum: tuple[np.ndarray[Any, Any], int] | None
    points: set[Point]
    penalty: Fraction

    @property
    def objective(self) -> list[Fraction]:
        """What is minimised, as a plane over sums and splits."""
        return [Fraction(1), *[Fraction(0)] * len(self.amounts), self.penalty]

    def limits(self, bounds: list[tuple[int | None, int | None]]) -> list[tuple[list[int], int]]:
        planes = []
        for j, (upper, lower) in enumerate(bounds):
            for bound, sign in ((upper, 1), (lower, -1)):
                if bound is not None:
                    plane = [0] * (len(self.amounts) + 2)
                    plane[1 + j] = sign
                    planes.append((plane, sign * bound))
        return planes

    def task(self, bounds: list[tuple[int | None, int | None]]) -> tasks.Limited:
        task: Any = tasks.Limited(tasks.RowCosts(self.costs))
        for j, (upper, lower) in enumerate(bounds):
            task &= tasks.Limit(f"limit {j}", self.amounts[j], at_most=upper, at_least=lower)
        if self.minimum is not None:
            task &= tasks.LeafMinimum(self.minimum[1], self.minimum[0])
        assert isinstance(task, tasks.Limited)
        return task

    def solve(self, task: Any) -> Any:
        return solve(task, self.columns, sample_weight=self.weights, **self.settings)

    def bounds(self) -> list[tuple[int | None, int | None]]:
        """Draw bounds near totals that trees have."""
        some = sorted(self.points)
        chosen: list[tuple[int | None, int | None]] = []
        for j in range(len(self.amounts)):
            at = int(self.rng.choice([p[1 + j] for p in some]))
            off, width = int(self.rng.integers(-2, 2)), int(self.rng.integers(0, 3))
            kind = self.rng.integers(3)
            if kind == 0:
                chosen.append((at + off, None))
            elif kind == 1:
                chosen.append((None, at + off))
            else:
                chosen.append((at + off + width, at + off))
        return chosen


def draw(seed: int, n_amounts: int | None = None) -> Drawn:
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    n_labels = int(rng.integers(1, 4))
    columns = rng.integers(0, 2, (n_rows, n_columns))
    # The encoder leaves out columns that are constant, as they are no tests.
    columns[:, 0] = np.arange(n_rows) % 2
    costs = rng.integers(-3, 6, (n_rows, n_labels))
    if n_amounts is None:
        n_amounts = int(rng.integers(1, 4))
    amounts = [rng.integers(-2, 4, (n_rows, n_labels)) for _ in range(n_amounts)]
    weights = rng.integers(1, 4, n_rows) if rng.random() < 0.3 else None
    settings = {
        "max_depth": int(rng.integers(0, 4)),
        "max_splits": [None, None, 1, 2][rng.integers(4)],
        "min_samples_leaf": int(rng.integers(1, 3)),
        "complexity": [0.0, 0.0, 0.25][rng.integers(3)],
    }
    minimum = None
    if rng.random() < 0.3:
        minimum = rng.integers(0, 2, (n_rows, n_labels)), int(rng.integers(0, 3))
    factors = np.ones(n_rows, dtype=int) if weights is None else weights
    values = np.stack([costs, *amounts], axis=2) * factors[:, None, None]
    oracle = LimitOracle(
        columns.tolist(),
        values.tolist(),
        label_counts=None if minimum is None else minimum[0].tolist(),
        label_min=None if minimum is None else [minimum[1]] * n_labels,
        min_leaf=settings["min_samples_leaf"],
    )
    points = oracle.points(settings["max_depth"], settings["max_splits"])
    penalty = Fraction(str(settings["complexity"])) * int(factors.sum())
    return Drawn(rng, columns, costs, amounts, settings, weights, minimum, points, penalty)


@pytest.mark.parametrize("seed", range(N_PROBLEMS))
def test_the_tree_is_best_within_the_limits(seed: int) -> None:
    """Or there is none, and the closest totals are those that trees have."""
    problem = draw(seed)
    if not problem.points:
        with_none = problem.solve(problem.task([(0, None)] * len(problem.amounts)))
        assert with_none.certificate.status == "infeasible"
        return
    for _ in range(3):
        bounds = problem.bounds()
        planes = problem.limits(bounds)
        best = least(problem.points, problem.objective, planes)  # type: ignore[arg-type]
        solution = problem.solve(problem.task(bounds))
        certificate = solution.certificate
        verify(solution, problem.columns, sample_weight=problem.weights, exhaustive=True)
        if best is None:
            assert not certificate.has_tree
            assert certificate.status == "infeasible"
            _compare_closest(problem, bounds, certificate)
        else:
            assert certificate.status == "optimal"
            assert certificate.cost == best
            assert certificate.dual_bound is None or certificate.dual_bound <= best


def _compare_closest(
    problem: Drawn, bounds: list[tuple[int | None, int | None]], certificate: LimitedCertificate
) -> None:
    for j, ((upper, lower), limit) in enumerate(zip(bounds, certificate.limits, strict=True)):
        for bound, other, sign, reach in (
            (upper, lower, 1, limit.least),
            (lower, upper, -1, limit.greatest),
        ):
            if bound is None:
                assert reach is None
                continue
            side = problem.limits(
                [(None, None)] * j + [(other, None) if sign < 0 else (None, other)]
            )
            plane = [0] * (len(problem.amounts) + 2)
            plane[1 + j] = sign
            nearest = least(problem.points, plane, side)
            if nearest is None:
                nearest = least(problem.points, plane)
            assert nearest is not None
            assert reach is not None
            assert reach.attained == reach.bound == sign * nearest


@pytest.mark.parametrize("seed", range(N_PROBLEMS))
def test_a_front_has_all_nondominated_pairs(seed: int) -> None:
    """Of two objectives, within a limit or without."""
    problem = draw(1000 + seed, n_amounts=2)
    second = tasks.RowCosts(problem.amounts[0])
    task: Any = tasks.Front(tasks.RowCosts(problem.costs), second)
    planes = []
    if problem.points and problem.rng.random() < 0.5:
        bounds: Any = [(None, None), problem.bounds()[1]]
        upper, lower = bounds[1]
        task &= tasks.Limit("limit", problem.amounts[1], at_most=upper, at_least=lower)
        planes = problem.limits(bounds)
    if problem.minimum is not None:
        task &= tasks.LeafMinimum(problem.minimum[1], problem.minimum[0])
    found = problem.solve(task)
    verify(found, problem.columns, sample_weight=problem.weights, exhaustive=True)
    wanted = front(
        problem.points,
        [problem.objective, [0, 1, 0, 0]],  # type: ignore[list-item]
        planes,
        [0, 1],
    )
    assert [point.values for point in found] == wanted
    assert found.certificate.status == ("optimal" if wanted else "infeasible")
    for point in found:
        assert all(limit.excess(limit.value) == 0 for limit in point.limits)


@pytest.mark.parametrize("tolerance", ["0", "0.1", "0.2", "1/3"])
@pytest.mark.parametrize("seed", range(20))
def test_tolerances_that_trees_hit_exactly(seed: int, tolerance: str) -> None:
    """Differences of rates between two groups, compared as fractions."""
    rng = np.random.default_rng(seed)
    n_rows = 10
    columns = rng.integers(0, 2, (n_rows, 3))
    columns[:, 0] = np.arange(n_rows) % 2
    y = rng.integers(0, 2, n_rows)
    group = np.repeat([0, 1], [5, 5] if seed % 2 else [4, 6])
    share = [Fraction(1, int((group == g).sum())) for g in (0, 1)]
    signed = [share[0] if g == 0 else -share[1] for g in group]
    limit = tasks.Limit("parity", {1: signed}, at_most=tolerance, at_least=-Fraction(tolerance))
    solution = solve(tasks.Misclassification() & limit, columns, y, max_depth=2)
    values = [[[int(k != y[i]), k * int(signed[i] * 60)] for k in (0, 1)] for i in range(n_rows)]
    points = LimitOracle(columns.tolist(), values).points(2)
    bound = int(Fraction(tolerance) * 60)
    inside = feasible(points, [([0, 1, 0], bound), ([0, -1, 0], bound)])
    assert solution.certificate.cost == min(p[0] for p in inside)
    assert abs(solution.certificate.limits[0].value) <= Fraction(tolerance)
    assert verify(solution, columns, y, exhaustive=True)


def draw_objective(rng: np.random.Generator, n_rows: int, n_classes: int) -> Any:
    kind = rng.integers(4)
    if kind == 0:
        weights: list[Any] = [None, "balanced", {0: 2, 1: 0.5}]
        return tasks.Misclassification(weights[rng.integers(3)])
    if kind == 1:
        return tasks.CostMatrix(np.round(rng.random((n_classes, n_classes)), 2))
    if kind == 2:
        return tasks.RowCosts(rng.random((n_rows, 3)), labels=["a", "b", "c"])
    rewards = np.round(rng.normal(size=(n_rows, 2)), 1)
    return tasks.Rewards(rewards, treatments=["x", "y"], maximise=bool(rng.integers(2)))


def draw_limit(rng: np.random.Generator, name: str, labels: list[Any], n_rows: int) -> tasks.Limit:
    amounts: list[Any] = [
        rng.integers(-2, 4, (n_rows, len(labels))),
        np.round(rng.random((n_rows, len(labels))), 1),
        [Fraction(int(a), 7) for a in rng.integers(0, 9, len(labels))],
        {labels[0]: 1},
        {labels[-1]: rng.integers(0, 5, n_rows)},
    ]
    low = float(np.round(rng.normal(), 1))
    high = low + float(rng.integers(0, 6))
    bounds: list[Any] = [
        {"at_most": high},
        {"at_least": low},
        {"at_most": high, "at_least": low},
    ]
    return tasks.Limit(name, amounts[rng.integers(5)], **bounds[rng.integers(3)])


def draw_weights(rng: np.random.Generator, n_rows: int) -> Any:
    whole = rng.integers(0, 3, n_rows) + (np.arange(n_rows) < 3)
    weights: list[Any] = [None, whole, np.round(rng.random(n_rows) + 0.1, 2), rng.random(n_rows)]
    return weights[rng.integers(4)]


@pytest.mark.parametrize("seed", [315, 1992, 2530, *range(60)])
def test_tasks_weights_and_kinds_of_amounts_hold_by_brute_force(seed: int) -> None:
    """What a certificate says is recomputed from the user's numbers, and from all trees."""
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(3, 10)), int(rng.integers(2, 4))
    columns = rng.integers(0, 2, (n_rows, int(rng.integers(1, 4))))
    columns[:, 0] = np.arange(n_rows) % 2
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    task: Any = tasks.Limited(draw_objective(rng, n_rows, n_classes))
    labels = task.labels(y, n_rows).tolist()
    for j in range(int(rng.integers(1, 3))):
        task &= draw_limit(rng, f"limit {j}", labels, n_rows)
    weights = draw_weights(rng, n_rows)
    settings: dict[str, Any] = {
        "max_depth": int(rng.integers(0, 4)),
        "complexity": [0, 0.01, 0.3][rng.integers(3)],
        "complexity_per": ["split", "leaf"][rng.integers(2)],
        "min_samples_leaf": int(rng.integers(1, 3)),
        "sample_weight": weights,
    }
    solution = solve(task, columns, y, **settings)
    is_exact = not any(limit.rounding for limit in solution.certificate.limits)
    assert verify(solution, columns, y, sample_weight=weights, exhaustive=is_exact)
    again = type(solution.certificate).from_json(solution.certificate.to_json())
    assert again == solution.certificate
    found = solve(tasks.Front(task, task.objective), columns, y, **settings)
    is_exact = is_exact and not any(found.certificate.rounding)
    assert verify(found, columns, y, sample_weight=weights, exhaustive=is_exact)
    if solution.certificate.has_tree:
        assert min(point.values[0] for point in found) == solution.certificate.cost
    else:
        assert len(found) == 0
