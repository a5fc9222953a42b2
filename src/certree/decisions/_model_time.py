"""Models of scikit-learn within a time limit: fitted to fewer rows where all would take too long.

A model that is being fitted cannot be stopped. So the first model is fitted to a few rows, then to
more, and what that took tells how many rows there is time for. Every model has an equal share of
the time. Without a limit, all models see all their rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

# The rows of the first try, and the fewest that a model is worth fitting to.
_FEW = 200
# No model is fitted in less than this.
_MOMENT = 0.02
# A larger number of rows is worth another try only if it is larger by this factor.
_WORTHWHILE = 1.5

Rows = NDArray[np.intp]
Predict = Callable[[Any], NDArray[np.float64]]


class ModelTime:
    """The time that several models have together.

    Parameters
    ----------
    seconds : float or None
        Time for all of them; None: no limit.
    n_models : int
        Number of models.

    Attributes
    ----------
    n_models : int
        Number of models.
    n_shortened, n_left_out : int
        How many models were fitted to some of their rows, and how many not at all.
    """

    def __init__(self, seconds: float | None, n_models: int) -> None:
        self.n_models = n_models
        self.n_shortened = 0
        self.n_left_out = 0
        self._end = None if seconds is None else perf_counter() + seconds
        self._n_waiting = n_models
        # Of the last fit, its rows and seconds, and the seconds of a row that is predicted.
        self._fitted: tuple[int, float] | None = None
        self._least_seconds = 0.0
        self._per_new = 0.0

    def estimate(
        self, fit: Callable[[Rows], Predict], rows: Rows, labels: NDArray[Any] | None, new: Any
    ) -> NDArray[np.float64] | None:
        """Return what a model says of new rows, or None if there is no time for it.

        Parameters
        ----------
        fit : callable
            From rows to the fitted model, as a function from a table to predictions.
        rows : array of int
            The rows to fit to.
        labels : array, optional
            Labels of all rows, each of which some rows must have.
        new : table
            The rows to predict for.
        """
        if self._end is None:
            return fit(rows)(new)
        end = perf_counter() + (self._end - perf_counter()) / max(self._n_waiting, 1)
        self._n_waiting -= 1
        n_new = _n_rows(new)
        model, n_rows = None, 0
        n_next = self._rows_until(end, len(rows), n_new)
        while n_next > _WORTHWHILE * n_rows or (n_next == len(rows) > n_rows):
            model, n_rows = self._fit(fit, rows, _some(rows, labels, n_next), new)
            n_next = self._rows_until(end, len(rows), n_new)
        if model is None:
            self.n_left_out += 1
            return None
        self.n_shortened += n_rows < len(rows)
        start = perf_counter()
        result = model(new)
        self._per_new = (perf_counter() - start) / max(n_new, 1)
        return result

    def _fit(
        self, fit: Callable[[Rows], Predict], rows: Rows, some: Rows, new: Any
    ) -> tuple[Predict, int]:
        """Fit to some of the rows; return the model and how many it saw; measure what it takes.

        A model that refuses these, such as one that needs more rows of each class, sees all rows.
        """
        start, model = perf_counter(), None
        if len(some) < len(rows):
            # What is said about a few rows need not be true of all.
            with suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = fit(some)
        if model is None:
            some, start = rows, perf_counter()
            model = fit(rows)
        seconds = perf_counter() - start
        if self._fitted is None:
            self._least_seconds = seconds
            few = _safe_indexing(new, np.arange(min(_n_rows(new), _FEW)))
            start = perf_counter()
            model(few)
            self._per_new = (perf_counter() - start) / max(_n_rows(few), 1)
        self._fitted = (len(some), seconds)
        return model, len(some)

    def _rows_until(self, end: float, most: int, n_new: int) -> int:
        """Return how many rows a model can be fitted to until `end`; 0 if there is no time."""
        left = end - perf_counter() - self._per_new * n_new
        if self._fitted is None:
            return min(most, _FEW) if left > _MOMENT else 0
        if left < self._least_seconds:
            return 0
        n_rows, seconds = self._fitted
        return min(most, max(int(n_rows * left / max(seconds, 1e-9)), _FEW))


def _some(rows: Rows, labels: NDArray[Any] | None, n: int) -> Rows:
    """Return some of the rows, drawn at random, with all labels among them."""
    if n >= len(rows):
        return rows
    drawn = np.random.default_rng(0).permutation(len(rows))
    if labels is not None:
        first = np.unique(labels[rows[drawn]], return_index=True)[1]
        rest = np.delete(np.arange(len(rows)), first)
        drawn = drawn[np.concatenate([first, rest])]
    return np.sort(rows[drawn[:n]])


def _n_rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)
