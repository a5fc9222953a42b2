"""Which search an objective with a positive class calls for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certree._progress import Callback, Observer
from certree.metrics import Front, Metric, PartialAUC

from ._chain_fit import fit_chain
from ._front_fit import fit_front
from ._metric_fit import Rows, fit_metric

if TYPE_CHECKING:
    from ._classifier import OptimalTreeClassifier


def fit_binary(
    model: OptimalTreeClassifier, metric: Metric, rows: Rows, callback: Callback | None
) -> Observer | None:
    """Fit a model, and return what watched the search."""
    if isinstance(metric, PartialAUC):
        return fit_chain(model, metric, rows, callback)
    if isinstance(metric, Front):
        return fit_front(model, metric, rows, callback)
    return fit_metric(model, metric, rows, callback)
