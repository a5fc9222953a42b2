"""What a certificate says of tests that a budget left out is counted as verify counts it.

A column of two categories counted as two tests, and verify took "optimal" for a lie where a tree
costs what every tree does, but not nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from certree import (
    CertificateError,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    solve,
    tasks,
    verify,
)

pytestmark = pytest.mark.filterwarnings("ignore::certree.exceptions.OptimalityWarning")

X = [[-1.0, 4.0], [1.8, 9.0], [0.2, 5.0]]
COSTS = tasks.RowCosts([[1.0, 1.5], [1.0, 1.5], [1.0, 2.0]], labels=[0, 1])


@pytest.mark.parametrize("category_tests", ["one", "drop-first", "drop-last"])
@pytest.mark.parametrize("min_category_rows", [1, 2])
@pytest.mark.parametrize(
    "column", [["d", "d", "a"], ["d", "d", "a", "b", "b", "c"], ["d", "d", None, "a", "a"]]
)
def test_tests_of_categories_are_counted_alike(
    column: list[Any], min_category_rows: int, category_tests: str
) -> None:
    rows, y = [[value] for value in column], [k % 2 for k in range(len(column))]
    options = {"min_category_rows": min_category_rows, "category_tests": category_tests}
    counts = []
    for limit in ("auto", 1):
        model = OptimalTreeClassifier(1, objective="f1", memory_limit=limit, **options)
        model.fit(rows, y)
        assert verify(model, rows, y)
        counts.append(model.certificate_.n_tests)
    assert counts[0] == counts[1]


@pytest.mark.parametrize("task", [COSTS, COSTS & tasks.Limit("few", {1: 1}, at_most=3)])
@pytest.mark.parametrize("more", [{}, {"complexity": 0.1, "complexity_per": "leaf"}])
def test_a_tree_that_costs_what_every_tree_does_is_optimal(task: Any, more: Any) -> None:
    found = solve(task, X, max_depth=2, thresholds="all", memory_limit=1, **more)
    assert found.certificate.n_tests_searched < found.certificate.n_tests
    assert found.certificate.is_optimal
    assert verify(found, X)


def test_a_single_leaf_is_optimal_where_no_split_may_be_or_every_split_costs_more() -> None:
    y = [0, 1, 1]
    for more in ({"max_splits": 0}, {"complexity": "1/2", "complexity_per": "leaf"}):
        model = OptimalTreeClassifier(2, objective="f1", memory_limit=1, **more).fit(X, y)
        certificate = model.certificate_
        assert certificate.n_tests_searched < certificate.n_tests
        assert certificate.is_optimal
        assert certificate.cost > 0
        assert verify(model, X, y)


def test_a_single_leaf_is_not_called_optimal_if_a_split_could_cost_less() -> None:
    model = OptimalTreeClassifier(2, objective="f1", memory_limit=1, complexity="1/20")
    model.fit(X, [0, 1, 1])
    assert model.certificate_.status == "memory_limit"
    model.certificate_ = replace(
        model.certificate_, status="optimal", lower_bound=model.certificate_.cost, gap=0
    )
    with pytest.raises(CertificateError, match="not all questions were searched"):
        verify(model, X, [0, 1, 1])


def test_a_deviance_of_nothing_is_proven_where_memory_ended_the_search() -> None:
    rows = [[1, 2, 1], [2, None, None], [0, 1, 1], [2, 1, None], [2, 1, None]]
    y, weights = [4, 0, 8, 3, 3], [2**53 - 1, 2, 2, 1, 1]
    model = OptimalTreeRegressor(2, criterion="poisson", memory_limit=6000)
    model.fit(rows, y, sample_weight=weights)
    assert model.certificate_.gap == 0
    assert model.certificate_.status == "precision"
    assert verify(model, rows, y, sample_weight=weights)
