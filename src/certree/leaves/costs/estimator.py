"""The classifier that minimises costs: of wrong labels, per row, and of the tests it asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from certree.encoding import Reduced
from certree.encoding._classes import check_labels
from certree.encoding._reduced import CostSums
from certree.encoding._texts import as_array, equals
from certree.estimators._parameters import OneOf
from certree.estimators._reading import labels_of
from certree.estimators._sklearn_bases import ClassifierMixin
from certree.estimators._task_tree import BaseTaskTree
from certree.estimators._vocabulary import fitted, parameter, with_parameters
from certree.fitting.asked import COSTS, Objective
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.measurements import Measurements
from certree.fitting.plan import plan
from certree.fitting.read import count_rows
from certree.fitting.request import Request
from certree.fitting.state_task import TaskStatement
from certree.fitting.tree_limits import capacity_limits, split_limits, with_limits
from certree.leaves.costs.loss import CostMatrix, RowCosts
from certree.numbers._exact import check_weights
from certree.numbers._fixed_point import check_numbers
from certree.results._progress import Callback
from certree.results._summary import CostReport
from certree.tasks._label_costs import LabelProblem, _LabelTask, match_classes, read_labels, summed
from certree.tasks._limit import LeafMinimum, Limit
from certree.tasks._limited import Limited
from certree.tasks._task import Rows, Task

if TYPE_CHECKING:
    from typing_extensions import Self


class _LabelledCosts(RowCosts):
    """Costs per row and label, with the rows' own classes to count by."""

    def __init__(self, costs: NDArray[np.float64], labels: NDArray[Any], codes: Any) -> None:
        super().__init__(costs, labels)
        self.codes = codes

    def on(self, y: Any, rows: Rows) -> LabelProblem:
        labels, costs, _ = self.table(y, rows.n_rows)
        own = None if self.codes is None else rows.select(self.codes)
        return LabelProblem(labels, rows.select(costs), summed(rows, self), own)


class _Matrix(CostMatrix):
    """A cost matrix, by the name of the parameter."""

    argument = "cost_matrix"


@with_parameters
class CostSensitiveTreeClassifier(ClassifierMixin, BaseTaskTree):
    r"""A decision tree classifier with proven least cost.

    Among all trees within the limits it finds one that minimises, over the training rows,

    .. math:: \sum_i w_i \Big( C_{i\,\hat y_i} + \text{prices of the tests that row } i
              \text{ passes} \Big) + \text{complexity} \cdot W \cdot \text{splits},

    where :math:`C_{ik}` is what label :math:`k` costs row :math:`i`, by the cost matrix or by
    the costs passed to `fit`. The certificate is exact about it.

    Parameters
    ----------
    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        Row: true class; column: predicted class; entry: what that costs a row of weight one.
        None: 1 for every wrong label, which is the number of errors.
    test_costs : mapping, sequence or list of Measurement, default=None
        What a row pays when it reaches a test. A mapping from column (name or number) to price,
        a price for each column, or a list of :class:`Measurement`, which may reveal several
        columns at one price and form groups with discounts. All tests of one column are paid for
        once on a path: further thresholds or categories of it are free.
    classes : array-like of shape (n_classes,), default=None
        What rows and columns of the cost matrix stand for; by default the classes of y in sorted
        order, or 0 to ``n_classes - 1`` if y holds such numbers only.
    capacity : mapping or None, default=None
        How many rows may get a label: a number of rows (an integer) or a share of all rows (a
        float, fraction or text), for some of the labels. With weights, both are weighed.
    limits : tasks.Limit, tasks.LeafMinimum, a sequence of them, or None, default=None
        Further limits on the whole tree, such as budgets. With `test_costs`, limits and `capacity`
        need `max_depth`, and are kept by a slower search, in NumPy.
    splits : {"binary", "multiway", "both"}, default="binary"
        As for :class:`OptimalTreeClassifier`, with a cost matrix. A multiway test has the price of
        its column. Limits on the whole tree and penalties per leaf need "binary".
    max_depth, max_splits, max_leaf_nodes, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf), in units of the mean cost of a row.
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
        The tree.
    certificate_ : TaskCertificate
        What is proven about it; ``cost`` is the total cost, ``objective`` the mean cost of a row.
    classes_ : array of shape (n_classes,)
        The labels.
    n_classes_ : int
        Their number.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of the saved cost.

    See Also
    --------
    Measurement : Prices, groups and discounts of tests.
    tasks.CostMatrix, tasks.RowCosts : The same objectives for :func:`solve`.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import CostSensitiveTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> costs = [[0, 10], [50, 0]]  # a missed "yes" is five times as bad
    >>> model = CostSensitiveTreeClassifier(costs, test_costs=[3, 4], max_depth=2).fit(X, y)
    >>> model.certificate_.cost, model.tree_.n_splits
    (20, 0)
    >>> cheap = CostSensitiveTreeClassifier(costs, test_costs=[1, 2], max_depth=2).fit(X, y)
    >>> cheap.certificate_.cost, cheap.expected_cost(X, y)
    (12, 3.0)
    """

    cost_matrix: Any = parameter(default=None, kw_only=False)
    test_costs: Any = parameter(default=None, kw_only=False)
    classes: Any = None
    capacity: Mapping[Any, Any] | None = None
    limits: Limit | LeafMinimum | Sequence[Any] | None = None
    splits: Literal["binary", "multiway", "both"] = parameter(
        default="binary", check=OneOf(("binary", "multiway", "both"))
    )

    classes_: NDArray[Any] = fitted()
    n_classes_: int = fitted()

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        callback: Callback | None = None,
        path: bool = False,
    ) -> CostSensitiveTreeClassifier:
        """Find the tree of least cost for the training rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for :class:`OptimalTreeClassifier`.
        y : array-like of shape (n_rows,)
            Class labels; with `costs` they may be None, and labels are then the numbers of the
            columns, or `classes`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights: a row of weight two pays twice, for tests as well.
        costs : array-like of shape (n_rows, n_classes), optional
            What each label costs each row, in place of a cost matrix. Finite numbers of any sign.
        callback, path
            As for :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        CostSensitiveTreeClassifier
            The fitted estimator itself.
        """
        request = Request.of(self, X, y, sample_weight, callback=callback, path=path, costs=costs)
        return self._take(fit(request))

    def _what_is_optimised(self) -> Objective:
        return Objective(COSTS, "costs")

    def _fit_groups(self, reduced: Reduced, **more: Any) -> None:
        labels = reduced.target if reduced.costs is not None else labels_of(self, reduced)
        given = {"costs": reduced.costs, "reduced": True, **more}
        self._take(fit(Request.of(self, reduced, labels, reduced.weights, **given)))

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        assert isinstance(fitted.statement, TaskStatement)
        self.classes_ = as_array(fitted.statement.problem.classes())
        self.n_classes_ = len(self.classes_)
        return self

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        self._check_parameters()
        plan(self._what_is_asked(costs=params.get("costs")))
        n_rows, given = count_rows(X), (params.get("sample_weight"), params.get("costs"))
        labels = None if y is None else check_labels(y, n_rows, type(self).__name__)
        if self.classes is None:
            self.classes = self._objective(labels, n_rows, *given).table(labels, n_rows)[0]
        return labels, params

    def _task(
        self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None
    ) -> Task | Limited:
        """Return what is to be minimised, within which limits."""
        task = self._objective(y, n_rows, sample_weight, costs)
        if self.capacity is None and not self.limits:
            return task
        names = task.table(y, n_rows)[0].tolist()
        limits, minimum = split_limits(self.limits)
        held = capacity_limits(self.capacity, names, n_rows, sample_weight, "class")
        return with_limits(task, [*held, *limits], minimum)

    def _objective(self, y: Any, n_rows: int, sample_weight: Any, costs: Any) -> _LabelTask:
        if costs is None:
            if self.cost_matrix is not None:
                return _Matrix(self.cost_matrix, self.classes)
            return self._errors(check_labels(y, n_rows, type(self).__name__), sample_weight)
        table = costs
        if not isinstance(costs, CostSums):
            table = check_numbers(costs, "costs", (n_rows, None), exactly=True)
        if y is None:
            names = read_labels(self.classes, table.shape[1], "costs", "classes")
            return _LabelledCosts(table, names, None)
        labels = check_labels(y, n_rows, type(self).__name__)
        classes, codes = match_classes(labels, self.classes, table.shape[1], "costs")
        return _LabelledCosts(table, classes, codes)

    def _errors(self, labels: NDArray[Any], sample_weight: Any) -> _LabelTask:
        """Return the task of counting errors; only classes with weight are labels."""
        counted = labels
        weights = None if sample_weight is None else np.asarray(sample_weight)
        if weights is not None and weights.shape == labels.shape and weights.any():
            counted = labels[weights != 0]
        classes = np.unique(counted) if self.classes is None else as_array(self.classes)
        position = {label: k for k, label in enumerate(classes.tolist())}
        codes = np.array([position.get(label, 0) for label in labels.tolist()], dtype=np.intp)
        if self.classes is not None:
            classes, codes = match_classes(labels, self.classes, len(classes), "classes")
        costs = np.ones((len(labels), len(classes)))
        costs[np.arange(len(labels)), codes] = 0.0
        return _LabelledCosts(costs, classes, codes)

    def _measure_name(self) -> str:
        return "negative mean cost"

    def tests_used(self, X: Any) -> list[list[Any]]:
        """Return what has to be measured for each row, in the order of the tests.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        list of list
            For each row the columns that its tests ask, each once: names, or numbers if the
            columns have none.
        """
        check_is_fitted(self)
        tree = self.tree_
        names = tree.feature_names if tree.has_names else range(tree.n_features)
        by_leaf = {
            leaf: [names[column] for column in dict.fromkeys(columns)]
            for leaf, columns in self._asked().items()
        }
        return [list(by_leaf[leaf]) for leaf in self.apply(X).tolist()]

    def test_cost(self, X: Any) -> NDArray[np.float64]:
        """Return what the tests of each row cost.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of shape (n_rows,)
            Price of the tests that a row passes, with discounts; for a weight of one.
        """
        check_is_fitted(self)
        leaves = self.apply(X)
        prices = np.zeros(self.tree_.n_nodes)
        measurements = self._prices()
        if measurements is not None:
            for leaf, columns in self._asked().items():
                prices[leaf] = measurements.paid(columns)
        return np.asarray(prices[leaves])

    def expected_cost(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, costs: Any = None
    ) -> float:
        """Return the mean cost of a row: of its label, and of the tests it passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        y : array-like of shape (n_rows,), optional
            True classes. Without these and `costs` only the tests are counted.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        costs : array-like of shape (n_rows, n_classes), optional
            What each label costs each row, in place of the cost matrix.
        """
        paid = self.test_cost(X)
        if y is not None or costs is not None:
            table = self._cost_table(y, len(paid), costs)
            position = {label: k for k, label in enumerate(self.classes_.tolist())}
            codes = np.array([position[label] for label in self.predict(X).tolist()])
            paid = paid + table[np.arange(len(paid)), codes]
        return _mean(paid, sample_weight)

    def cost_report(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, costs: Any = None
    ) -> CostReport:
        """Return what the tree asks and costs on any rows, such as those held out.

        Parameters
        ----------
        X, y, sample_weight, costs
            As for :meth:`expected_cost`.

        Returns
        -------
        CostReport
            Means of a row: tests and columns asked, price of the tests, cost of the labels, and for
            each column the share of rows that need it. It prints as a table.
        """
        asked = self.tests_used(X)
        paid = _mean(self.test_cost(X), sample_weight)
        cost = normalized = None
        if y is not None or costs is not None:
            cost = self.expected_cost(X, y, sample_weight, costs=costs)
        if y is not None:
            normalized = self.normalized_cost(X, y, sample_weight, costs=costs)
        n_tests = np.asarray(self.decision_path(X).sum(axis=1)).ravel() - 1
        columns = list(dict.fromkeys(name for row in asked for name in row))
        return CostReport(
            n_rows=len(asked),
            n_tests=_mean(n_tests, sample_weight),
            n_columns=_mean([len(row) for row in asked], sample_weight),
            test_cost=paid,
            label_cost=None if cost is None else cost - paid,
            cost=cost,
            normalized_cost=normalized,
            measured={
                name: _mean([name in row for row in asked], sample_weight) for name in columns
            },
        )

    def _cost_table(self, y: Any, n_rows: int, costs: Any) -> NDArray[np.float64]:
        """Return what each label costs each row; classes that are not known cost one error."""
        n_classes = len(self.classes_)
        if costs is not None:
            return check_numbers(costs, "costs", (n_rows, n_classes))
        labels = check_labels(y, n_rows, type(self).__name__)
        if self.cost_matrix is None:
            return np.asarray(labels[:, None] != self.classes_[None, :], dtype=np.float64)
        _, codes = match_classes(labels, self.classes_, n_classes, "cost_matrix")
        return check_numbers(self.cost_matrix, "cost_matrix", (n_classes, n_classes))[codes]

    def normalized_cost(
        self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None
    ) -> float:
        r"""Return the mean cost as a share of the standard cost.

        The standard cost is the price of all tests together, plus the most expensive error for all
        rows except those of the most frequent class:

        .. math:: C + \min_k (1 - f_k) \cdot \max_{k, \hat k} C_{k \hat k}

        Parameters
        ----------
        X, y, sample_weight, costs
            As for :meth:`expected_cost`; the frequencies of classes are those in `y`.
        """
        mean = self.expected_cost(X, y, sample_weight, costs=costs)
        labels = check_labels(y, count_rows(X), type(self).__name__)
        weights = np.ones(len(labels))
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(labels))
        shares = [float(weights[equals(labels, label)].sum()) for label in np.unique(labels)]
        measurements = self._prices()
        every_test = 0.0 if measurements is None else float(measurements.price.sum())
        dearest = self._cost_table(y, len(labels), costs).max()
        if costs is None and self.cost_matrix is not None:
            dearest = np.asarray(self.cost_matrix, dtype=np.float64).max()
        standard = every_test + (1 - max(shares) / sum(shares)) * float(dearest)
        if standard == 0:
            return 0.0 if mean == 0 else float("inf")
        return mean / standard

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> float:
        """Return the negative mean cost of a row, so that greater is better.

        Parameters
        ----------
        X, y, sample_weight, costs
            As for :meth:`expected_cost`.
        """
        return -self.expected_cost(X, y, sample_weight, costs=costs)

    def _asked(self) -> dict[int, list[int]]:
        """Return the columns that are tested on the way to each leaf, in order."""
        tree = self.tree_
        above: dict[int, list[int]] = {0: []}
        for node in tree.preorder.tolist():
            for child in tree.children(node):
                above[child] = [*above[node], tree.node_test(node).feature]
        return {leaf: above[leaf] for leaf in np.flatnonzero(tree.test < 0).tolist()}

    def _prices(self) -> Measurements | None:
        if self.test_costs is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        return Measurements.read(self.test_costs, [], self.n_features_in_, names)


def _mean(values: Any, weights: Any) -> float:
    """Return the weighted mean of a number per row."""
    checked = None if weights is None else check_weights(weights, len(values))
    return float(np.average(values, weights=checked))
