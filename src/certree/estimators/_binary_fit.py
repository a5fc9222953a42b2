"""Which search an objective with a positive class calls for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certree.metrics import ErrorFront, Metric, PartialAUC
from certree.numbers._exact import parse_penalty
from certree.results._progress import Callback

from ._chain_fit import fit_chain
from ._front_fit import fit_front
from ._metric_fit import Fitted, TrainingRows, fit_metric

if TYPE_CHECKING:
    from ._classifier import OptimalTreeClassifier


def fit_binary(
    model: OptimalTreeClassifier, metric: Metric, rows: TrainingRows, callback: Callback | None
) -> Fitted:
    """Fit a model."""
    if isinstance(metric, PartialAUC):
        if parse_penalty(model.complexity, metric.name) > 1:
            raise ValueError(
                f"complexity must lie between 0 and 1 for the metric {metric.name!r}, got "
                f"{model.complexity!r}: areas do, so no split can be worth more."
            )
        return fit_chain(model, metric, rows, callback)
    if isinstance(metric, ErrorFront):
        return fit_front(model, metric, rows, callback)
    return fit_metric(model, metric, rows, callback)
