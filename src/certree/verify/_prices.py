"""Prices of tests as the user gave them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ._brute_force import Charges
from ._plain_numbers import read


def read_charges(test_costs: Any, n_columns: int, names: Sequence[str] | None) -> Charges:
    """Read prices of tests: by column, in order, or as measurements of several columns."""
    listed: list[tuple[Any, Any]]
    if hasattr(test_costs, "items"):
        listed = [
            (cost.columns if hasattr(cost, "price") else column, cost)
            for column, cost in test_costs.items()
        ]
    else:
        listed = [
            (cost.columns if hasattr(cost, "price") else column, cost)
            for column, cost in enumerate(test_costs)
        ]
    measurement: dict[int, int] = {}
    group, price, discounted = [], [], []
    for number, (columns, cost) in enumerate(listed):
        several = isinstance(columns, list | tuple | range | np.ndarray)
        for column in columns if several else [columns]:
            place = list(names or ()).index(column) if isinstance(column, str) else int(column)
            measurement[place] = number
        full = read(getattr(cost, "price", cost), "test_costs")
        less = getattr(cost, "discounted", None)
        group.append(getattr(cost, "group", None))
        price.append(full)
        discounted.append(full if less is None else read(less, "test_costs"))
    for column in range(n_columns):
        if column not in measurement:
            measurement[column] = len(price)
            group.append(None)
            price.append(Fraction(0))
            discounted.append(Fraction(0))
    return Charges([measurement[c] for c in range(n_columns)], group, price, discounted)
