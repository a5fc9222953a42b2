"""Alarms: an answer of the core is looked at before it is handed out.

The search is trusted with nothing that one pass over the rows can tell: what its tree costs, and
whether its bounds fit. What is wrong stops with an `InternalError`; it is never repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from certree.exceptions import InternalError
from certree.tree._nodes import Nodes


def alarm(what: str) -> NoReturn:
    """Stop, since a proof contradicts itself."""
    raise InternalError(
        f"internal error: {what}. This is a bug in certree, so that no answer is returned. Please "
        "report it, with the data and the parameters if you can share them."
    )


def check_bounds(lower: Any, upper: Any, status: str = "") -> None:
    """Stop if no value is between the bounds, or if these differ and are called optimal."""
    if lower > upper:
        alarm(f"a lower bound of {lower} is above a tree of {upper}")
    if status == "optimal" and lower != upper:
        alarm(f"bounds of {lower} and {upper} are called optimal")


def check_value(said: Any, recomputed: Any) -> None:
    """Stop if a tree costs other than the search says."""
    if said != recomputed:
        alarm(f"a tree is said to have the value {said}, and has {recomputed}")


def check_points(points: NDArray[np.int64], recomputed: Sequence[Sequence[int]]) -> None:
    """Stop if a tree of a front has another point than the search says."""
    for said, found in zip(points.tolist(), recomputed, strict=True):
        if said != list(found):
            alarm(f"a tree is said to have the point {said}, and has {list(found)}")


def label_cost(
    nodes: Nodes,
    leaves: NDArray[np.intp],
    row_types: NDArray[np.int32],
    cost_matrix: NDArray[np.int64],
    weights: NDArray[np.int64] | None,
) -> int:
    """Return what the labels of a tree cost, given the leaf of each row."""
    costs = cost_matrix[row_types, nodes.label[leaves]]
    return int(costs.sum() if weights is None else costs @ weights)
