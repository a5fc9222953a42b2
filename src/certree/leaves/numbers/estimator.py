"""The optimal regression tree."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import d2_pinball_score, d2_tweedie_score
from sklearn.utils import column_or_1d

from certree.encoding import Reduced
from certree.encoding._named import count_outputs, read_outputs
from certree.estimators._parameters import Number, OneOf
from certree.estimators._reading import labels_of
from certree.estimators._sklearn_bases import RegressorMixin
from certree.estimators._task_tree import BaseTargetTree
from certree.estimators._vocabulary import DepthByPosition, fitted, parameter, with_parameters
from certree.fitting.asked import LEAVES, Objective
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.plan import plan
from certree.fitting.request import Request
from certree.fitting.state_task import TaskStatement
from certree.leaves.numbers.deviances import Deviance
from certree.leaves.numbers.quantiles import AbsoluteError, QuantileLoss
from certree.leaves.numbers.squares import SquaredError, target_numbers
from certree.leaves.outputs.weights import refuse_for_one
from certree.numbers._exact import read_fraction
from certree.numbers._fixed_point import refuse_times
from certree.numbers._fixed_squares import SquareSums
from certree.tasks._task import Task

if TYPE_CHECKING:
    from typing_extensions import Self

CRITERIA = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")


def refuse_targets(criterion: str, y: NDArray[np.float64]) -> None:
    """Raise ValueError for targets that a deviance is not defined for."""
    bad = {"poisson": y < 0, "gamma": y <= 0}.get(criterion)
    if bad is not None and bad.any():
        row = int(np.argmax(bad))
        least = "counts of at least 0" if criterion == "poisson" else "amounts above 0"
        raise ValueError(
            f"y[{row}] = {float(y[row])!r}, but criterion={criterion!r} needs {least}. Use "
            'criterion="squared_error", or leave such rows out.'
        )


@with_parameters
class LossParameters:
    """What a leaf of a regression tree minimises, and how outputs count."""

    criterion: Literal["squared_error", "absolute_error", "quantile", "poisson", "gamma"] = (
        parameter(default="squared_error", check=OneOf(CRITERIA))
    )
    quantile: float | Fraction | str = parameter(
        default=0.5, check=Number(0, 1, minimum_allowed=False, maximum_allowed=False, text=True)
    )
    output_weights: Any = None


@with_parameters
class OptimalTreeRegressor(RegressorMixin, DepthByPosition, LossParameters, BaseTargetTree):
    r"""A regression tree with constant leaves that is proven best within its limits.

    Among all trees within the limits it finds one that maximises

    .. math:: R^2 - \text{complexity} \cdot \text{splits}, \qquad
              R^2 = 1 - \frac{\sum_i w_i (y_i - \hat y_i)^2}{\sum_i w_i (y_i - \bar y)^2}

    on the training rows; every leaf predicts the weighted mean of its rows. If y has several
    columns, the outputs, the squared errors of all of them are added, above and below the line.
    Other criteria have another loss in place of the squares, and :math:`D^2`, the share of the loss
    of a tree without splits that the tree explains, in place of :math:`R^2`.

    Parameters
    ----------
    criterion : str, default="squared_error"
        What is minimised. "squared_error": squares around the mean of each leaf. "absolute_error":
        distances from its median. "quantile": the pinball loss around its `quantile`. "poisson":
        the deviance of counts, which must not be negative, from its mean. "gamma": that of
        positive amounts.
    quantile : float, fraction or str, default=0.5
        For "quantile", and refused otherwise: above 0 and below 1, with at most six decimals.
    max_depth, max_splits, max_leaf_nodes, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf) in units of R2 or D2, from 0 to 1: a split must raise it by as
        much.
    output_weights : array-like of shape (n_outputs,), "balanced" or None, default=None
        What the squared error of each output counts, if y has several columns: positive numbers;
        "balanced": one over the variance of the output, so that R2 is the mean of the outputs' R2;
        None: 1 each.
    complexity_per, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit
        As for :class:`OptimalTreeClassifier`.
    gap : float, fraction or str, default=0.0
        Accept a tree whose squared error, or other loss, is proven to be within this of the least.
    n_jobs, executor, verbose
        As for :class:`OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    certificate_ : TaskCertificate
        What is proven about it: ``cost`` is the squared error, or other loss, plus the penalty,
        ``objective`` is R2 or D2 less the complexity of the tree.
    n_outputs_ : int
        Number of columns of y.
    output_weights_ : array of shape (n_outputs,)
        What each of them counts.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of the explained loss.

    Notes
    -----
    Targets and weights that are short decimals are exact integers of a power of ten. Others are
    rounded such that the squared error of a tree changes by about ``1e-9`` of that of a single
    leaf or less; more if there are more than some 10,000 rows, or if the targets lie so far from
    zero that float64 has few digits of their differences. Squared errors of leaves are fractions,
    which the search rounds down to a fine unit. ``certificate_.rounding`` bounds what all this can
    change in the cost of any tree.

    Absolute errors and pinball losses are exact for short decimals. A leaf that has several best
    values, as the median of an even number of rows often has, predicts the middle of them. With an
    exposure, give rates as y and exposures as `sample_weight` for Poisson deviance, as for
    scikit-learn's regressors. Deviances are computed in float64, and ``certificate_.rounding``
    bounds the error. `score` is R2 for every criterion.

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

    Two outputs:

    >>> model = OptimalTreeRegressor(max_depth=1).fit(X, [[1, 30], [2, 30], [4, 20], [4, 20]])
    >>> model.predict([[0, 0], [1, 1]])
    array([[ 1.5, 30. ],
           [ 4. , 20. ]])
    """

    n_outputs_: int = fitted()
    output_weights_: NDArray[np.float64] = fitted()

    def _what_is_optimised(self) -> Objective:
        return Objective(LEAVES, str(self.criterion))

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        if self.criterion == "squared_error":
            return SquaredError(self.output_weights)
        if self.criterion == "absolute_error":
            return AbsoluteError()
        if self.criterion == "quantile":
            return QuantileLoss(self.quantile)
        return Deviance(self.criterion)

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        assert isinstance(fitted.statement, TaskStatement)
        weights = getattr(fitted.statement.problem, "output_weights", [Fraction(1)])
        self.n_outputs_, self.output_weights_ = len(weights), np.array(weights, dtype=np.float64)
        return self

    def _read_target(self, y: Any, n_rows: int) -> NDArray[np.float64] | SquareSums:
        is_squared = self.criterion == "squared_error"
        if isinstance(y, SquareSums):
            plan(self._what_is_asked(reduced="squares"))
            refuse_for_one(self.output_weights)
            return y
        if not is_squared:
            plan(self._what_is_asked(n_outputs=count_outputs(y, n_rows)))
        numbers = read_numbers(y, n_rows, type(self).__name__, several=is_squared)
        refuse_targets(self.criterion, numbers)
        return numbers

    def _fit_groups(self, reduced: Reduced, **more: Any) -> None:
        y = labels_of(self, reduced) if reduced.sums is None else reduced.sums
        request = Request.of(self, reduced, y, reduced.weights, reduced=True, **more)
        self._take(fit(request))

    def _measure_name(self) -> str:
        return "R2" if self.criterion == "squared_error" else "D2"

    def _score_part(self, X: Any, y: Any, **params: Any) -> float:
        if self.criterion == "squared_error":
            return super()._score_part(X, y, **params)
        truth = self._read_target(y, len(y))
        assert isinstance(truth, np.ndarray)
        return explained_share(self, truth, self.predict(X), params.get("sample_weight"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion == "squared_error"
        tags.target_tags.single_output = True
        tags.target_tags.positive_only = self.criterion in ("poisson", "gamma")
        return tags

    def to_sklearn(self, *, encoded: bool = False) -> Any:
        """Return a fitted scikit-learn DecisionTreeRegressor with the same predictions.

        Parameters
        ----------
        encoded : bool, default=False
            Whether it is over the 0/1 columns of the encoder, not over the raw ones.
        """
        return self.tree_.to_sklearn(encoded=encoded, regressor=True)


def read_numbers(y: Any, n_rows: int, who: str, several: bool = False) -> NDArray[np.float64]:
    """Return one number per row, or several if that is fine, and refuse other targets."""
    if y is None:
        raise ValueError(
            f"{who} requires y to be passed, but the target y is None; give one number per row."
        )
    given = read_outputs(y, n_rows) if several else None
    if given is None:
        given = y if type(y) is np.ndarray and y.ndim == 1 else column_or_1d(y, warn=True)
    if given.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y has dtype {given.dtype}.")
    refuse_times(given, "y")
    if len(given) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(given)}; give one per row.")
    try:
        numbers = np.asarray(given).astype(np.float64)
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
        row = int(np.argwhere(np.isnan(numbers))[0, 0])
        raise ValueError(f"Input y contains NaN (first in row {row}); drop such rows.")
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0, 0])
        raise ValueError(f"Input y contains infinity (first in row {row}); drop such rows.")
    return target_numbers(given, n_rows)


def explained_share(
    model: OptimalTreeRegressor, truth: NDArray[Any], predicted: NDArray[Any], weights: Any = None
) -> float:
    """Return D2, the share of the loss of a constant that predictions explain."""
    if np.ptp(truth) == 0:  # as for R2
        return float((predicted == truth).all())
    if model.criterion in ("poisson", "gamma"):
        # A leaf without a count would make one that is left out infinitely bad.
        predicted = np.maximum(predicted, np.finfo(np.float64).tiny)
        power = 1 if model.criterion == "poisson" else 2
        return float(d2_tweedie_score(truth, predicted, sample_weight=weights, power=power))
    level = model.quantile if model.criterion == "quantile" else "1/2"
    alpha = float(read_fraction(level, "quantile"))
    return float(d2_pinball_score(truth, predicted, sample_weight=weights, alpha=alpha))
