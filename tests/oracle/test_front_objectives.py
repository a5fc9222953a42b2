"""Fronts of three and more objectives against an enumeration of all trees."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from certree import OptimalityWarning, solve, tasks, verify


def labellings(columns: Any, rows: Any, depth: int, n_labels: int) -> Iterator[dict[int, int]]:
    """Yield the labels that every tree gives the rows."""
    for label in range(n_labels):
        yield dict.fromkeys(rows.tolist(), label)
    for column in columns.T if depth > 0 else ():
        yes, no = rows[column[rows] == 1], rows[column[rows] == 0]
        if min(len(yes), len(no)) == 0:
            continue
        for a in labellings(columns, yes, depth - 1, n_labels):
            for b in labellings(columns, no, depth - 1, n_labels):
                yield a | b


def nondominated(points: set[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(
        p
        for p in points
        if not any(o != p and all(a <= b for a, b in zip(o, p, strict=True)) for o in points)
    )


@pytest.mark.parametrize("n_objectives", [2, 3, 4])
@pytest.mark.parametrize("seed", range(10))
def test_fronts_equal_brute_force(n_objectives: int, seed: int) -> None:
    rng = np.random.default_rng([seed, n_objectives])
    n_rows, n_labels = int(rng.integers(4, 9)), 2 + seed % 2
    columns = rng.integers(0, 2, (n_rows, 3))
    costs = rng.integers(-1, 5, (n_objectives, n_rows, n_labels))
    task: Any = tasks.Front(*(tasks.RowCosts(table) for table in costs))
    at_most = None
    if seed % 3 == 2:
        at_most = n_rows // 2
        task = task & tasks.Limit("ones", {1: 1}, at_most=at_most)
    front = solve(task, columns, max_depth=2)
    points = set()
    for labels in labellings(columns, np.arange(n_rows), 2, n_labels):
        if at_most is None or sum(label == 1 for label in labels.values()) <= at_most:
            points.add(
                tuple(sum(int(table[row, k]) for row, k in labels.items()) for table in costs)
            )
    assert front.certificate.status == "optimal"
    assert [point.values for point in front] == nondominated(points)
    verify(front, columns, exhaustive=True)
    for point in front:
        given = point.tree.predict(columns)
        own = [int(table[np.arange(n_rows), given].sum()) for table in costs]
        assert list(point.values) == own


def large(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 2, (1000, 30))
    y = (columns[:, 0] & columns[:, 1]) ^ (rng.random(1000) < 0.2)
    harm = np.where(y[:, None] == [0, 1], 0, rng.integers(1, 4, (1000, 1)))
    few = rng.integers(0, 3, (1000, 1)) * [0, 1]
    return columns, tasks.Front(*(tasks.RowCosts(t) for t in (1 * (harm > 0), harm, few)))


def test_three_objectives_of_a_thousand_rows_take_seconds() -> None:
    columns, task = large(0)
    start = time.perf_counter()
    front = solve(task, columns, max_depth=2)
    assert front.is_optimal
    assert len(front) > 5
    assert time.perf_counter() - start < 20  # see benchmarks/leaf_cost.py
    verify(front, columns)


def test_a_stopped_search_says_so() -> None:
    columns, task = large(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimalityWarning)
        front = solve(task, columns, max_depth=4, time_limit=0.5)
    assert front.certificate.status == "time_limit"
    assert front.certificate.lower_points == ((0, 0, 0),)
    verify(front, columns)


def test_one_objective_is_no_front() -> None:
    with pytest.raises(ValueError, match="two objectives or more"):
        tasks.Front(tasks.Misclassification())
