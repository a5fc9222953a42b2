"""The evaluator accepts good trees with their value and refuses every kind of bad one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.oracle.evaluate import tree_value
from tests.problems import make_problem

PROBLEM = make_problem(
    [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 1, 1, 0, 1], error_scale=10, split_penalty=3
)
GOOD: dict[str, list[int]] = {
    "test": [0, 1, 1, -1, -1, -1, -1],
    "first_child": [1, 3, 5, -1, -1, -1, -1],
    "label": [-1, -1, -1, 0, 1, 1, 0],
}


def result(**changes: list[int]) -> Any:
    """A result with the good tree, some arrays replaced."""
    return SimpleNamespace(**{**GOOD, **changes})


def test_value_counts_errors_and_splits() -> None:
    """The first child takes the rows whose bit is 1."""
    facts = tree_value(result(), PROBLEM)
    assert (facts.value, facts.cost, facts.splits, facts.depth) == (10 + 9, 1, 3, 2)
    assert sorted(facts.leaf_sizes) == [1, 1, 1, 2]


def test_a_wrong_label_is_a_worse_value() -> None:
    """The tree's labels count, not the best ones."""
    worse = tree_value(result(label=[-1, -1, -1, 0, 0, 1, 0]), PROBLEM)
    assert worse.cost == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"first_child": [1, 3, 3, -1, -1, -1, -1]},
        {"first_child": [1, 3, 6, -1, -1, -1, -1]},
        {"first_child": [0, 3, 5, -1, -1, -1, -1]},
        {"first_child": [1, 3, 5, 5, -1, -1, -1]},
        {"test": [0, 2, 1, -1, -1, -1, -1]},
        {"test": [0, 1, -1, -1, -1, -1, -1]},
        {"label": [-1, -1, -1, 0, 2, 1, 0]},
        {"label": [-1, -1, -1, 0, -1, 1, 0]},
        {"label": [0, -1, -1, 0, 1, 1, 0]},
        {"label": [-1, -1, -1]},
    ],
)
def test_broken_arrays_are_refused(changes: dict[str, list[int]]) -> None:
    """Shared or missing children, columns and labels out of range."""
    with pytest.raises(AssertionError):
        tree_value(result(**changes), PROBLEM)


@pytest.mark.parametrize("limit", [{"min_leaf": 2}, {"max_depth": 1}, {"max_splits": 2}])
def test_broken_limits_are_refused(limit: dict[str, int]) -> None:
    """A good tree for other limits."""
    with pytest.raises(AssertionError):
        tree_value(result(), PROBLEM.but(**limit))
