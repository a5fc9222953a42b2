"""The task of classes that have an order: how far labels are from the classes of rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding._classes import check_labels, encode_labels
from certree.encoding._texts import as_array
from certree.leaves.costs.loss import CostMatrix
from certree.tasks._label_costs import _LabelTask


class OrdinalError(_LabelTask):
    r"""How far labels are from the classes of rows, for classes that have an order.

    .. math:: \sum_i w_i\, |\text{rank}(\hat y_i) - \text{rank}(y_i)|

    A leaf takes the weighted median of its classes.

    Parameters
    ----------
    order : array-like of shape (n_classes,), optional
        The classes from first to last; by default those of y, sorted.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.OrdinalError(["low", "middle", "high"])
    >>> solution = solve(task, [[0], [1], [1]], ["low", "low", "high"], max_depth=0)
    >>> solution.certificate.cost, solution.predict([[0]]).tolist()
    (2, ['low'])
    """

    name: ClassVar[str] = "rank_distance"

    def __init__(self, order: Any = None) -> None:
        self.order = order

    def table(self, y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.float64], Any]:
        labels = check_labels(y, n_rows, type(self).__name__)
        order = encode_labels(labels)[0] if self.order is None else as_array(self.order)
        if order.ndim != 1 or not 0 < len(order) == len(set(order.tolist())):
            raise ValueError(
                "order must list the classes from first to last, each of them once, got "
                f"{self.order!r}."
            )
        ranks = np.arange(len(order))
        return CostMatrix(np.abs(ranks[:, None] - ranks), order).table(labels, n_rows)

    def __repr__(self) -> str:
        return f"OrdinalError(order={self.order!r})"
