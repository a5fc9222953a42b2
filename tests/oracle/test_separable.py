"""Objectives by their parts against an enumeration of all trees, whatever the values are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from certree import OptimalityWarning, solve, tasks


def errors(y: Any) -> Any:
    return lambda rows, label: int((y[rows] != label).sum())


def pairs(y: Any) -> Any:
    return lambda rows, label: (int((y[rows] != label).sum()), int(label == 1) * len(rows))


def pareto(a: Any, b: Any) -> bool:
    return a != b and a[0] <= b[0] and a[1] <= b[1]


def add(a: Any, b: Any) -> Any:
    return (a[0] + b[0], a[1] + b[1])


OBJECTIVES: dict[str, tuple[Any, dict[str, Any]]] = {
    "sum": (errors, {}),
    "worst leaf": (errors, {"combine": max}),
    "sides are not alike": (errors, {"combine": lambda a, b: 2 * a + b}),
    "tests cost": (errors, {"split_cost": lambda rows, feature: 0.3 * (feature + 1)}),
    "front": (pairs, {"combine": add, "better": pareto}),
    "limit": (pairs, {"combine": add, "better": pareto, "feasible": lambda v, rows: v[1] <= 3}),
    "words": (
        lambda y: lambda rows, label: "x" * int((y[rows] != label).sum()),
        {"combine": lambda a, b: a + b, "better": lambda a, b: len(a) < len(b)},
    ),
}


def all_values(
    task: tasks.Separable, columns: Any, rows: Any, depth: int, min_leaf: int
) -> Iterator[tuple[Any, int]]:
    """Yield value and splits of every tree; parts that are not feasible are used all the same."""
    for label in task.labels:
        yield task.cost(rows, label), 0
    for column in range(columns.shape[1]) if depth > 0 else ():
        yes, no = rows[columns[rows, column] == 1], rows[columns[rows, column] == 0]
        if min(len(yes), len(no)) < max(min_leaf, 1):
            continue
        for a, splits_a in all_values(task, columns, yes, depth - 1, min_leaf):
            for b, splits_b in all_values(task, columns, no, depth - 1, min_leaf):
                value = task.combine(a, b)
                if task.split_cost is not None:
                    value = task.combine(value, task.split_cost(rows, column))
                yield value, splits_a + splits_b + 1


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("seed", range(12))
def test_all_nondominated_values_are_found(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 9))
    columns = rng.integers(0, 2, (n_rows, 3))
    columns[:, 0] = np.arange(n_rows) % 2
    y = rng.integers(0, 2, n_rows)
    cost, parts = OBJECTIVES[name]
    task = tasks.Separable([0, 1], cost(y), **parts)
    max_splits, min_leaf = [None, 2][seed % 2], 1 + seed % 3 // 2
    solution = solve(
        task, columns.astype(bool), max_depth=2, max_splits=max_splits, min_samples_leaf=min_leaf
    )
    rows = np.arange(n_rows)
    values = [
        value
        for value, splits in all_values(task, columns, rows, 2, min_leaf)
        if (max_splits is None or splits <= max_splits)
        and (task.feasible is None or task.feasible(value, rows))
    ]
    best = [v for v in values if not any(task.better(other, v) for other in values)]
    assert solution.certificate.is_optimal
    found = [point.value for point in solution]
    if name == "tests cost":
        assert found == pytest.approx([min(values)])
    else:
        assert sorted(set(best)) == sorted(found)


def test_values_are_those_of_the_trees() -> None:
    rng = np.random.default_rng(3)
    columns, y = rng.integers(0, 2, (30, 4)).astype(bool), rng.integers(0, 2, 30)
    task = tasks.Separable([0, 1], pairs(y), combine=add, better=pareto)
    solution = solve(task, columns, max_depth=2)
    assert len(solution) > 1
    for point in solution:
        predicted = point.tree.predict(columns)
        assert point.value == (int((predicted != y).sum()), int((predicted == 1).sum()))
    with pytest.raises(ValueError, match="nondominated trees; choose"):
        _ = solution.tree
    one = solve(tasks.Separable([0, 1], errors(y)), columns, max_depth=2)
    assert one.value == solve(tasks.Misclassification(), columns, y, max_depth=2).certificate.cost
    assert (one.predict(columns) == one.tree.predict(columns)).all()
    assert "if the objective is separable" in one.certificate.statement()


def test_what_is_not_separable_is_refused_with_rows_that_show_it() -> None:
    rng = np.random.default_rng(0)
    columns, y = rng.integers(0, 2, (12, 3)), rng.integers(0, 2, 12)
    half = tasks.Separable([0, 1], errors(y), better=lambda a, b: abs(a - 3) < abs(b - 3))
    with pytest.raises(ValueError, match=r"theorem 4\.6.*order preserved.*Rows"):
        solve(half, columns, max_depth=1)


@pytest.mark.parametrize(
    "settings",
    [
        {"sample_weight": [1.0] * 4},
        {"complexity": 0.1},
        {"gap": 1.0},
        {"path": True},
        {"test_costs": {0: 1.0}},
        {"max_depth": None},
    ],
)
def test_what_functions_do_not_know_is_refused(settings: dict[str, Any]) -> None:
    task = tasks.Separable([0, 1], errors(np.array([0, 1, 0, 1])))
    with pytest.raises(ValueError, match="Separable"):
        solve(task, np.eye(4), **settings)


def test_nothing_feasible_is_a_result() -> None:
    task = tasks.Separable([0, 1], errors(np.array([0, 1, 0, 1])), feasible=lambda v, rows: v < 0)
    solution = solve(task, np.eye(4), max_depth=1)
    assert solution.certificate.status == "infeasible"
    assert len(solution) == 0
    with pytest.raises(ValueError, match="is feasible"):
        _ = solution.value


def test_a_search_that_is_stopped_is_complete_up_to_a_depth() -> None:
    rng = np.random.default_rng(0)
    columns, y = rng.integers(0, 2, (200, 30)), rng.integers(0, 2, 200)

    def slow(rows: Any, label: Any) -> int:
        time.sleep(0.0005)
        return int((y[rows] != label).sum())

    with pytest.warns(OptimalityWarning, match="time limit"):
        solution = solve(tasks.Separable([0, 1], slow), columns, max_depth=4, time_limit=0.5)
    certificate = solution.certificate
    assert certificate.status == "time_limit"
    assert -1 <= certificate.depth < 4
