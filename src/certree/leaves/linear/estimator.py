"""The optimal regression tree with linear models in its leaves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding import Table, read_table
from certree.encoding._asked import asked_columns, number_columns
from certree.encoding._named import count_outputs
from certree.estimators._parameters import Number, OneOf, RowsOrShare
from certree.estimators._sklearn_bases import RegressorMixin
from certree.estimators._task_tree import BaseTargetTree
from certree.estimators._vocabulary import DepthByPosition, fitted, parameter, with_parameters
from certree.exceptions import warn
from certree.fitting.fitted import Fitted
from certree.fitting.goals import TaskGoal
from certree.fitting.plan import plan
from certree.fitting.state_task import Reached, TaskStatement
from certree.leaves.linear.loss import LinearError, LinearProblem
from certree.leaves.numbers.estimator import read_numbers
from certree.leaves.numbers.squares import SquaredError
from certree.tasks._task import Task
from certree.tree import LinearLeaves
from certree.tree._payload_values import distinct
from certree.tree._structure import default_names

if TYPE_CHECKING:
    from typing_extensions import Self

# Models of one column choose among so many at most, and models of several have so many at most:
# the sums that the search adds up grow with them, by their square for the latter.
_MOST_SIMPLE = 32
_MOST_TOGETHER = 10

_FORMS = ("simple", "ridge", "constant")


class LinearStatement(TaskStatement):
    """Squared errors around linear models on the rows of a table; leaves get their formulas."""

    def payload(self, nodes: engine.Nodes, reached: Reached) -> LinearLeaves:
        problem = self.problem
        assert isinstance(problem, LinearProblem)
        given = getattr(self.encoder, "feature_names_in_", None)
        names = default_names(self.encoder.n_features_in_) if given is None else given.tolist()
        features = problem.task.features
        leaf = np.flatnonzero(nodes.is_leaf)
        lines = np.zeros((len(nodes), 1 + len(features)))
        for node in leaf.tolist():
            found = problem.fit(np.flatnonzero(reached.leaves == node), reached.sums[node])
            lines[node] = [found.intercept, *found.slopes]
        label, values = distinct(lines, nodes.is_leaf)
        # Leaves with one formula hold one model: its mean is that of the rows of all of them.
        first = np.array([leaf[label[leaf] == k][0] for k in range(len(values))])
        means = problem.read(reached.sums, first[label[reached.leaves]])[first]
        counts, rows = self.amounts(nodes, reached.leaves)
        columns = tuple(names[f] for f in features)
        return LinearLeaves(label, counts, values, features, columns, means, rows=rows)


@with_parameters
class LinearTreeRegressor(RegressorMixin, DepthByPosition, BaseTargetTree):
    r"""A regression tree with a linear model in every leaf that is proven best within its limits.

    Among all trees within the limits it finds one with the least

    .. math:: \sum_{\text{leaves}} \min_{a, b} \Big( \sum_{i \in \text{leaf}} w_i
              (y_i - a - b \cdot x_i)^2 + \text{ridge} \cdot |b|^2 \Big)
              + \text{complexity} \cdot S \cdot \text{splits},

    where :math:`S = \sum_i w_i (y_i - \bar y)^2`, on the training rows. Without a ridge that is the
    greatest :math:`R^2 - \text{complexity} \cdot \text{splits}`.

    Parameters
    ----------
    max_depth, max_splits, max_leaf_nodes
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    leaf_model : {"simple", "ridge", "constant"}, default="simple"
        What a leaf holds. "simple": a line over one column, for which every leaf takes the best.
        "ridge": a linear model of all columns that `model_features` names. "constant": the mean,
        as :class:`OptimalTreeRegressor` has it.
    ridge : float, default=0.0
        What the squared coefficients cost, as ``alpha`` of :class:`sklearn.linear_model.Ridge`. The
        intercept is free. It depends on the units of columns, so give columns of similar spread.
    model_features : list of column names or indices, optional
        The columns that models may use; tests may use all. By default all columns of numbers that
        have no missing values; if there are none, leaves hold constants. A model chooses among up
        to 32 columns, or has up to 10.
    min_samples_leaf : int or float, default=5
        Fewest rows of a leaf, for its first coefficient; each further one needs one more row. So a
        line over one column needs six, and a model of p columns five and p.
    complexity : float, default=0.0
        Penalty per split (or leaf) in units of R2, from 0 to 1: a split must raise R2 by as much.
    complexity_per, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit
        As for :class:`OptimalTreeClassifier`.
    gap : float, fraction or str, default=0.0
        Accept a tree whose cost is proven to be within this of the least.
    n_jobs, executor, verbose
        As for :class:`OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : Tree
        The tree; its leaves hold formulas.
    certificate_ : TaskCertificate
        What is proven about it: ``cost`` is the squared error, the ridge included, plus the
        penalty; ``objective`` is 1 less the share of ``cost`` in the squared error of the mean.
    model_features_ : array of shape (n_model_features,)
        Indices of the columns that models may use.
    model_units_ : tuple of Fraction
        What each of these columns was rounded to a multiple of; 0 if it was not rounded.
    intercepts_ : dict from int to float
        The intercept of each leaf, by its number in ``tree_``.
    coefficients_ : dict from int to array of shape (n_model_features,)
        The coefficients of each leaf.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of what splits save.

    Notes
    -----
    Columns of models that are short decimals are used exactly. Others are rounded to about six
    digits of their range at a thousand rows, and five at a hundred thousand, with weights that are
    no multiples of one unit to fewer: by two digits if the largest weight is 10 000 times the
    least. ``model_units_`` says to what. The proof is about these columns. What the rounding of
    targets, weights and float64 changes in the cost of any tree is at most
    ``certificate_.rounding``.

    Where columns depend on each other in a leaf, many models are best. The leaf takes the one with
    the smallest coefficients in units of the columns' spread in the leaf, the minimum-norm answer.
    A column that has one value in a leaf has the coefficient 0. If there are fewer rows in all than
    a model has coefficients, the tree is one leaf, with such an answer.

    A missing value in a column that the model of a leaf uses is an error in `predict`. Tests take
    missing values as usual.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import LinearTreeRegressor
    >>> X = [[x] for x in range(12)]
    >>> y = [2 * x if x < 6 else 40 - x for x in range(12)]
    >>> model = LinearTreeRegressor(max_depth=1).fit(X, y)
    >>> print(model.to_text())
    x0 <= 5.5: 0 + 2 * x0 (6 rows, error 0)
    x0 > 5.5: 40 - 1 * x0 (6 rows, error 0)
    >>> model.predict([[3], [10]]).tolist()
    [6.0, 30.0]
    """

    _needs_rows: ClassVar[str] = (
        "a linear model needs the numbers of every row, and groups share ranges of them"
    )

    leaf_model: Literal["simple", "ridge", "constant"] = parameter(
        default="simple", check=OneOf(_FORMS)
    )
    ridge: float = parameter(default=0.0, check=Number(0))
    model_features: Any = None
    min_samples_leaf: int | float = parameter(default=5, check=RowsOrShare())

    model_features_: NDArray[np.intp] = fitted()
    model_units_: tuple[Fraction, ...] = fitted()

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        if self.leaf_model == "constant":
            return SquaredError()
        return LinearError(np.zeros((n_rows, 0)), self.leaf_model == "simple", float(self.ridge))

    def _goal(self, X: Any, y: Any, sample_weight: Any, costs: Any = None, **call: Any) -> TaskGoal:
        goal = super()._goal(X, y, sample_weight, **call)
        if not isinstance(goal.task, LinearError):
            return goal
        table = read_table(X)
        features = self._choose_features(table)
        if not features:
            return replace(goal, task=SquaredError())
        columns = np.stack([table.column(f) for f in features], axis=1)
        task = LinearError(columns, goal.task.is_simple, goal.task.ridge, tuple(features))
        # Every coefficient beside the first needs a row of its own.
        more = 1 if task.is_simple else len(features)
        return replace(goal, task=task, kind=LinearStatement, more_rows=more)

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        self.model_features_, self.model_units_ = np.zeros(0, dtype=np.intp), ()
        assert isinstance(fitted.statement, TaskStatement)
        problem = fitted.statement.problem
        if isinstance(problem, LinearProblem):
            self.model_features_ = np.array(problem.task.features, dtype=np.intp)
            self.model_units_ = problem.units_of_columns
        return self

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if self.leaf_model != "constant":
            # A column without missing values in a fold may lack some in the rows left out.
            chosen = self._choose_features(read_table(X))
            if chosen:
                self.model_features = chosen
            else:
                self.leaf_model = "constant"
        return super()._prepare(X, y, params)

    def _choose_features(self, table: Table) -> list[int]:
        """Return the columns of models, and refuse those that hold no numbers."""
        numbers = number_columns(self.categorical_features, table)
        if self.model_features is None:
            found = [k for k in numbers if not np.isnan(table.column(k)).any()]
            if not found:
                warn(
                    "X has no column of numbers without missing values, which a linear model "
                    "needs, so that leaves hold constants; fill values in, or use "
                    "leaf_model='constant'.",
                    UserWarning,
                )
        else:
            found = self._named_features(table, numbers)
        simple = self.leaf_model == "simple"
        most = _MOST_SIMPLE if simple else _MOST_TOGETHER
        if len(found) > most:
            what = "choose among" if simple else "have"
            raise ValueError(
                f"Models in leaves can {what} up to {most} columns, got {len(found)}; name the "
                "columns to use in model_features."
            )
        return found

    def _named_features(self, table: Table, numbers: list[int]) -> list[int]:
        found = asked_columns(self.model_features, table, "model_features")
        if not found:
            raise ValueError(
                "model_features is empty; name a column, or use leaf_model='constant'."
            )
        for k in found:
            name = table.names[k]
            if k not in numbers:
                what = "category" if table.kinds[k] == "number" else table.kinds[k]
                raise ValueError(
                    f"model_features names the column {name!r}, which is of the kind {what}, and "
                    "models need numbers; leave it to the questions, or give zeros and ones."
                )
            lacking = np.isnan(table.column(k))
            if lacking.any():
                raise ValueError(
                    f"model_features names the column {name!r}, which is missing in row "
                    f"{int(np.argmax(lacking))}; fill values in, or leave it to the questions."
                )
        return found

    def _read_target(self, y: Any, n_rows: int) -> NDArray[np.float64]:
        if y is not None:
            plan(self._what_is_asked(n_outputs=count_outputs(y, n_rows)))
        return read_numbers(y, n_rows, type(self).__name__)

    def _measure_name(self) -> str:
        return "R2"

    @property
    def intercepts_(self) -> dict[int, float]:
        """The intercept of each leaf, by its number in ``tree_``."""
        return {node: float(line[0]) for node, line in self._lines().items()}

    @property
    def coefficients_(self) -> dict[int, NDArray[np.float64]]:
        """The coefficients of each leaf, in the order of ``model_features_``."""
        return {node: line[1:] for node, line in self._lines().items()}

    def _lines(self) -> dict[int, NDArray[np.float64]]:
        self._check_tree()
        label, values = self.tree_.label, self.tree_.classes
        lines = values.reshape(len(values), -1)
        return {node: lines[label[node]] for node in np.flatnonzero(label >= 0).tolist()}
