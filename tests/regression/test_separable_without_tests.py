"""Separable tasks on tables whose columns are all constant have a tree of one leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import check_task, solve, tasks

Y = np.array([0, 1, 1])
X = [[7.5], [7.5], [7.5]]


def errors(rows: Any, label: int) -> int:
    return int((Y[rows] != label).sum())


@pytest.mark.parametrize(
    "more",
    [
        {},
        {
            "split_cost": lambda rows, column, state: 1,
            "initial": 0,
            "transition": lambda state, column, holds: state + 1,
        },
    ],
)
def test_one_leaf_is_the_best_tree(more: dict[str, Any]) -> None:
    task = tasks.Separable([0, 1], errors, **more)
    assert check_task(task, X)
    found = solve(task, X, max_depth=2)
    assert found.value == 1
    assert found.tree.n_splits == 0
