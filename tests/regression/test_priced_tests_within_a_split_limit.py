"""Prices of tests with a limit on splits.

The search over numbers of splits once bounded a child by its parent's bound less the worst cost of
the sibling's rows. With prices this is wrong: the sibling's rows would pay for the child's tests
too. A tree that is not optimal was certified as optimal.
"""

from __future__ import annotations

import numpy as np

from tests.oracle.test_test_costs import Case, Enumeration, check, random_cases


def test_six_rows_and_three_splits() -> None:
    columns = [[1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1]]
    costs = [
        [96, 767, 707],
        [452, 937, 0],
        [571, 77, 690],
        [393, 59, 361],
        [641, 569, 868],
        [420, 272, 312],
    ]
    case = Case(
        np.array(columns, dtype=np.uint8),
        np.array(costs, dtype=np.int64),
        feature=np.zeros(3, dtype=np.int32),
        group=np.full(1, -1, dtype=np.int32),
        price=np.full(1, 62, dtype=np.int64),
        discounted=np.full(1, 62, dtype=np.int64),
        weights=None,
        options={
            "max_depth": 4,
            "max_splits": 3,
            "min_leaf": 1,
            "split_penalty": 0,
            "error_scale": 1,
        },
    )
    check(case, case.solve(), 1485)


def test_every_limit_on_splits() -> None:
    for case in random_cases(80, 120, rows=(4, 14), columns=(3, 6), depths=(4, 5)):
        for most in (2, 3, 4, 6):
            case.options["max_splits"] = most
            check(case, case.solve(), Enumeration(case).value(), most)
