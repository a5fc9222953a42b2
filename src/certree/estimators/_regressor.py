"""The optimal regression tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from certree.numbers._fixed_point import check_numbers
from certree.tasks._squares import SquaredError
from certree.tasks._task import Task

from ._sklearn_bases import RegressorMixin
from ._task_tree import BaseTargetTree
from ._vocabulary import DepthByPosition, with_parameters


@with_parameters
class OptimalTreeRegressor(RegressorMixin, DepthByPosition, BaseTargetTree):
    r"""A regression tree with constant leaves that is proven best within its limits.

    Among all trees within the limits it finds one that maximises

    .. math:: R^2 - \text{complexity} \cdot \text{splits}, \qquad
              R^2 = 1 - \frac{\sum_i w_i (y_i - \hat y_i)^2}{\sum_i w_i (y_i - \bar y)^2}

    on the training rows; every leaf predicts the weighted mean of its rows.

    Parameters
    ----------
    max_depth, max_splits, max_leaf_nodes, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf) in units of R2, from 0 to 1: a split must raise R2 by as much.
    complexity_per, categorical_features, thresholds, min_category_rows, category_tests
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit
        As for :class:`OptimalTreeClassifier`.
    gap : float, fraction or str, default=0.0
        Accept a tree whose squared error is proven to be within this of the least.
    n_jobs, verbose
        As for :class:`OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    certificate_ : TaskCertificate
        What is proven about it: ``cost`` is the squared error plus the penalty, ``objective`` is
        R2 less the complexity of the tree.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of the explained squares.

    Notes
    -----
    Targets and weights that are short decimals are exact integers of a power of ten. Others are
    rounded such that the squared error of a tree changes by about ``1e-9`` of that of a single
    leaf or less; more if there are more than some 10,000 rows, or if the targets lie so far from
    zero that float64 has few digits of their differences. Squared errors of leaves are fractions,
    which the search rounds down to a fine unit. ``certificate_.rounding`` bounds what all this can
    change in the cost of any tree.

    Absolute error is not offered: the median of a leaf is not a function of a sum over its rows, so
    the search cannot compute it from parts of a row set. With a list of values to predict it can:
    use :func:`tasks.pinball` with quantile 0.5.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import OptimalTreeRegressor
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [1.0, 2.0, 4.0, 4.5]
    >>> model = OptimalTreeRegressor(max_depth=1).fit(X, y)
    >>> model.predict([[0, 0], [1, 1]])
    array([1.5 , 4.25])
    >>> model.certificate_.cost
    Fraction(5, 8)
    """

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        return SquaredError()

    def _read_target(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        return read_numbers(y, n_rows, type(self).__name__)

    def _measure_name(self) -> str:
        return "R2"

    def to_sklearn(self, *, encoded: bool = False) -> Any:
        """Return a fitted scikit-learn DecisionTreeRegressor with the same predictions.

        Parameters
        ----------
        encoded : bool, default=False
            Whether it is over the 0/1 columns of the encoder, not over the raw ones.
        """
        return self.tree_.to_sklearn(encoded=encoded, regressor=True)


def read_numbers(y: Any, n_rows: int, who: str) -> NDArray[np.float64]:
    """Return one number per row, and refuse other targets."""
    if y is None:
        raise ValueError(
            f"{who} requires y to be passed, but the target y is None; give one number per row."
        )
    given = y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)
    if given.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y has dtype {given.dtype}.")
    if len(given) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(given)}; give one per row.")
    try:
        numbers = given.astype(np.float64)
    except OverflowError:
        raise ValueError(
            "y holds a number beyond the range of float64; divide all of them by one number."
        ) from None
    except (TypeError, ValueError):
        raise ValueError(
            f"y must hold numbers, got values of type {given.dtype}; for classes use "
            "OptimalTreeClassifier."
        ) from None
    if np.isnan(numbers).any():
        row = int(np.argmax(np.isnan(numbers)))
        raise ValueError(f"Input y contains NaN (first in row {row}); drop such rows.")
    if not np.isfinite(numbers).all():
        row = int(np.argmax(~np.isfinite(numbers)))
        raise ValueError(f"Input y contains infinity (first in row {row}); drop such rows.")
    return check_numbers(given, "y", (n_rows,), exactly=True)
