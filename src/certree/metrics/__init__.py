"""Metrics of binary predictions, as objectives for trees and as scores.

Every metric states its `kind` for the search, computes exact values, and scores predictions of any
model.

Examples
--------
>>> from certree import metrics
>>> metrics.get("f1").score([0, 1, 1, 0], [0, 1, 0, 0])
0.6666666666666666
>>> metrics.MCC().kind
'supported'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._custom import Custom
from ._fractional import F1, CohenKappa, FBeta, Jaccard, Tversky
from ._linear import Accuracy, BalancedAccuracy, Informedness, WeightedAccuracy
from ._metric import Metric
from ._monotone import GMean, MacroF1
from ._rank import AUC, ErrorFront, PartialAUC
from ._supported import MCC, FowlkesMallows

__all__ = [
    "AUC",
    "F1",
    "MCC",
    "Accuracy",
    "BalancedAccuracy",
    "CohenKappa",
    "Custom",
    "ErrorFront",
    "FBeta",
    "FowlkesMallows",
    "GMean",
    "Informedness",
    "Jaccard",
    "MacroF1",
    "Metric",
    "PartialAUC",
    "Tversky",
    "WeightedAccuracy",
    "get",
    "names",
]

_NAMED: dict[str, Callable[[], Metric]] = {
    "accuracy": Accuracy,
    "auc": AUC,
    "balanced_accuracy": BalancedAccuracy,
    "cohen_kappa": CohenKappa,
    "f1": F1,
    "fowlkes_mallows": FowlkesMallows,
    "front": ErrorFront,
    "gmean": GMean,
    "informedness": Informedness,
    "jaccard": Jaccard,
    "macro_f1": MacroF1,
    "mcc": MCC,
}

# Other names for the same.
_ALIASES = {"kappa": "cohen_kappa"}


def names() -> tuple[str, ...]:
    """Return the names that :func:`get` knows.

    Examples
    --------
    >>> "f1" in names()
    True
    """
    return tuple(_NAMED)


def get(metric: Any) -> Metric:
    """Return the metric that a name, a metric or a function stands for.

    Parameters
    ----------
    metric : str, Metric or callable
        One of :func:`names`, in any case; a metric, returned as it is; or a function of
        ``(fp, fn, positives, negatives)``, which becomes a :class:`Custom` metric.

    Returns
    -------
    Metric

    Examples
    --------
    >>> get("mcc")
    MCC()
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, type) and issubclass(metric, Metric):
        raise TypeError(f"{metric.__name__} is a class; write {metric.__name__}(...).")
    if isinstance(metric, str):
        name = metric.lower()
        name = _ALIASES.get(name, name)
        if name not in _NAMED:
            raise ValueError(
                f"There is no metric called {metric!r}; names are {', '.join(_NAMED)}, and others "
                "are objects such as certree.metrics.FBeta(2)."
            )
        return _NAMED[name]()
    if callable(metric):
        return Custom(metric)
    raise TypeError(
        f"A metric must be a name, an object of certree.metrics or a function, got {metric!r} of "
        f"type {type(metric).__name__}."
    )
