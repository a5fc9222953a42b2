"""Objectives that need more than one confusion matrix: areas under the ROC curve, and the front."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np

from certree.encoding._texts import as_array, equals

from ._binary_labels import positive_class
from ._metric import Metric, read_parameter
from ._numbers import Exact


class PartialAUC(Metric):
    r"""The area under the ROC convex hull up to a false positive rate, divided by that rate.

    The leaves of a tree, ordered by their share of positive rows, are the steps of a concave ROC
    curve. With :math:`\theta` = `max_fpr` the value is

    .. math:: \frac1\theta \int_0^\theta \mathrm{TPR}(x) \, dx,

    1 for a perfect order; it is a function of the whole curve and not of one confusion matrix.

    Parameters
    ----------
    max_fpr : float
        Greater than 0 and at most 1, read as the decimal that is written; ``1 / 3`` is a third.
    """

    kind = "chain"
    _name = "partial_auc"
    _parameters: ClassVar[tuple[str, ...]] = ("max_fpr",)

    def __init__(self, max_fpr: Any) -> None:
        self.max_fpr = read_parameter(max_fpr, f"{type(self).__name__}: max_fpr")
        if self.max_fpr > 1:
            raise ValueError(
                f"{type(self).__name__}: max_fpr must be at most 1, got {max_fpr!r}; it is a rate."
            )

    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> NoReturn:
        """Refuse: an area is not a function of one confusion matrix."""
        raise TypeError(
            f"{self.name} is the area under a curve, not a function of false positives and "
            "negatives; score() takes scores."
        )

    def score(
        self, y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the area for labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_pred : array-like of shape (n_rows,)
            Scores: the higher, the more likely positive.
        pos_label : label, optional
            The positive class; by default the greater of the two.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        """
        from sklearn.metrics import roc_curve

        labels = as_array(y_true)
        positive = positive_class(self.name, np.unique(labels), pos_label)
        fpr, tpr, _ = roc_curve(
            equals(labels, positive), y_pred, sample_weight=sample_weight, drop_intermediate=False
        )
        end = float(self.max_fpr)
        kept = fpr <= end
        x = np.append(fpr[kept], end)
        y = np.append(tpr[kept], np.interp(end, fpr, tpr))
        return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2 / end)

    def scorer(self, pos_label: Any = None) -> Any:
        """Return a scorer for scikit-learn's ``scoring=``, of probabilities."""
        from sklearn.metrics import make_scorer

        return make_scorer(self.score, response_method="predict_proba", pos_label=pos_label)


class AUC(PartialAUC):
    """The area under the ROC convex hull: how well the leaves order the rows.

    The share of pairs of a positive and a negative row in which the positive one has the higher
    score, ties counting half.
    """

    _name = "auc"
    _parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__(1)


class ErrorFront(Metric):
    """All trees that no other tree beats in both false positives and false negatives.

    Parameters
    ----------
    supported_only : bool, default=False
        Only the corners of the convex hull: the trees that are best for some weights of the two
        errors. That takes a few solves instead of a front.
    """

    kind = "front"
    _name = "front"
    _parameters: ClassVar[tuple[str, ...]] = ("supported_only",)

    def __init__(self, supported_only: bool = False) -> None:
        self.supported_only = bool(supported_only)

    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> NoReturn:
        """Refuse: a front has no single value."""
        raise TypeError(
            "front is a set of trees and has no single value; choose one of them by a metric."
        )
