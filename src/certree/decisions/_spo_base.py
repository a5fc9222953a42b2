"""What trees and forests that decide share: their loss on any rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from certree.estimators._parameters import OneOf
from certree.oracles import Oracle

from ._spo_problem import read_costs, read_weights


class DecisionMixin(ABC):
    """Losses of an estimator that has `predict` (cost vectors), `decide`, and ``oracle_``."""

    oracle_: Oracle

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted cost vector of each row: the mean of its leaf, or of its leaves.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of shape (n_rows, n_costs)
        """
        costs = self._costs_of(X)
        # The training costs may have had one axis.
        return costs[:, 0] if getattr(self, "_is_flat", False) else costs

    def decide(self, X: Any) -> NDArray[np.float64]:
        """Return the decision for each row: the best one for its predicted cost vector.

        `X` and the shape of the result are those of :meth:`predict`.
        """
        return self._decisions_of(X)

    @abstractmethod
    def _costs_of(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted cost vector of each row."""

    @abstractmethod
    def _decisions_of(self, X: Any) -> NDArray[np.float64]:
        """Return the decision for each row."""

    def loss(
        self,
        X: Any,
        C: Any,
        sample_weight: Any = None,
        *,
        ties: str = "worst",
        normalize: bool = False,
    ) -> float:
        r"""Return the mean SPO loss: what the decisions cost above the best ones.

        The loss of a prediction :math:`\hat c` under the true costs :math:`c` is

        .. math:: \max_{w \in W^*(\hat c)} c^\top w - z^*(c),

        where :math:`W^*(\hat c)` are the decisions that are best for the prediction. It takes the
        worst of them, if there are several.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        C : array-like of shape (n_rows, n_costs)
            Their true cost vectors.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        ties : {"worst", "decided"}, default="worst"
            "decided": count the decision that `decide` returns, not the worst of equals.
        normalize : bool, default=False
            Return the normalised extra cost: the sum of the losses as a share of the sum of the
            best values.

        Returns
        -------
        float
        """
        losses, best = self._losses(X, C, ties)
        weights = read_weights(sample_weight, len(losses))
        total = float(weights @ losses)
        if not normalize:
            return total / float(weights.sum())
        scale = abs(float(weights @ best))
        if scale == 0:
            return 0.0 if total == 0 else float("inf")
        return total / scale

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the negative normalised extra cost, so that greater is better and 0 is best.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        y : array-like of shape (n_rows, n_costs)
            Their true cost vectors.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        """
        return -self.loss(X, y, sample_weight, normalize=True) + 0.0

    def _losses(self, X: Any, C: Any, ties: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the loss of each row, and its best value."""
        check_is_fitted(self)
        OneOf(("worst", "decided"))("ties", ties)
        predicted = self._costs_of(X)
        costs = read_costs(C, len(predicted))
        if costs.shape[1] != self.oracle_.n_costs:
            raise ValueError(
                f"C has {costs.shape[1]} columns, but {self.oracle_!r} decides on "
                f"{self.oracle_.n_costs} costs."
            )
        best = self.oracle_.solve(costs).values
        if ties == "decided":
            decisions = self._decisions_of(X)
        else:
            decisions = self.oracle_.worst(predicted, costs)
        sign = 1.0 if self.oracle_.sense == "min" else -1.0
        losses = sign * (np.einsum("ij,ij->i", costs, decisions) - best)
        return np.maximum(losses, 0.0), best
