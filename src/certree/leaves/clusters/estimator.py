"""Clusters that are the leaves of a tree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding import Table, read_table
from certree.encoding._asked import asked_columns, number_columns
from certree.encoding._named import NamedArray
from certree.estimators._parameters import OneOf, WholeNumber
from certree.estimators._sklearn_bases import ClusterMixin
from certree.estimators._task_tree import BaseTaskTree
from certree.estimators._vocabulary import fitted, fixed, parameter, with_parameters
from certree.exceptions import warn
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.goals import TaskGoal
from certree.fitting.read import count_rows
from certree.fitting.request import Request
from certree.fitting.state_task import Reached, TaskStatement
from certree.leaves.numbers.squares import SquaredError, SquareProblem
from certree.numbers._fixed_point import check_size, refuse_tiny
from certree.numbers._fractions import to_float
from certree.results._progress import Callback
from certree.tasks._task import Rows, Task
from certree.tree import Clusters

if TYPE_CHECKING:
    from typing_extensions import Self


class _Spread(SquaredError):
    """The squared distances of rows from the centre of their leaf."""

    def __init__(self, scale: str | None) -> None:
        super().__init__("balanced" if scale == "standard" else None)

    def on(self, y: Any, rows: Rows) -> SquareProblem:
        given: NamedArray = rows.select(y)  # type: ignore[assignment]
        means = [_mean(column, rows.floats, name) for column, name in _columns(given)]
        return self.on_outputs(_fill(given, means), rows)


def _columns(given: NamedArray) -> Iterable[tuple[NDArray[np.float64], str]]:
    return zip(np.asarray(given).T, given.columns or (), strict=True)


def _mean(column: NDArray[np.float64], weights: NDArray[np.float64], name: str) -> float:
    """Return the mean of the values that are not missing."""
    is_known = ~np.isnan(column)
    if not is_known.any():
        raise ValueError(
            f"The column {name!r} has no value in any row that counts; list the other columns in "
            "the parameter features."
        )
    check_size(column[is_known], f"the column {name!r}", are_squared=True)
    refuse_tiny(column[is_known], f"numbers of the column {name!r}")
    least = float(column[is_known].min())
    shares = weights[is_known] / weights[is_known].max()
    return least + math.fsum((column[is_known] - least) * shares) / math.fsum(shares)


def _fill(given: NamedArray, means: Sequence[float]) -> NamedArray:
    """Return the numbers, with means in place of missing values."""
    numbers = np.asarray(given)
    return NamedArray(np.where(np.isnan(numbers), means, numbers), given.columns or ())


class ClusterStatement(TaskStatement):
    """Squared distances from centres; leaves are numbered."""

    def payload(self, nodes: engine.Nodes, reached: Reached) -> Clusters:
        centres = self.problem.read(reached.sums, reached.leaves)
        counts, rows = self.amounts(nodes, reached.leaves)
        names = self.problem.output_names
        return Clusters.of_outputs(centres, nodes.is_leaf, counts, names, rows)


@dataclass(frozen=True, kw_only=True)
class CentreGoal(TaskGoal):
    """Clusters of a table.

    Attributes
    ----------
    columns : list of int
        The columns whose distances count.
    """

    columns: list[int]


@with_parameters
class OptimalTreeClusterer(ClusterMixin, BaseTaskTree):
    r"""Clusters that a tree describes, proven best within its limits.

    Every cluster is a leaf, so a few tests say which rows belong to it. Among all trees within the
    limits it finds one that minimises

    .. math:: \sum_{\text{leaves}} \sum_{i \in \text{leaf}} w_i
              \sum_j s_j (x_{ij} - c_{\text{leaf}, j})^2
              + \text{complexity} \cdot I_0 \cdot \text{splits},

    the squared distances of the rows from the centre c of their leaf, the mean of its rows, as
    k-means does without a tree. :math:`s_j` is one over the variance of column j, and
    :math:`I_0` is what a single cluster costs.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Most clusters; None: as many as the depth allows. There are fewer if that costs the same.
    max_depth : int or None, default=3
        Most questions on a path from the root to a leaf; None: no limit.
    features : list or None, default=None
        Names or numbers of the columns whose distances count; None: all columns of numbers that
        have values. Tests may ask for any column.
    scale : {"standard", None}, default="standard"
        "standard": columns are divided by their standard deviation; None: they are taken as they
        are.
    min_samples_leaf : int or float, default=1
        Fewest rows in a cluster, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf), as a share of what a single cluster costs: a split must explain
        as much of the variance.
    complexity_per, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit
        As for :class:`OptimalTreeClassifier`.
    gap : float, fraction or str, default=0.0
        Accept a tree whose cost is proven to be within this of the least.
    n_jobs, verbose
        As for :class:`OptimalTreeClassifier`.

    Attributes
    ----------
    labels_ : array of int, shape (n_rows,)
        The cluster of each row of `fit`.
    cluster_centers_ : array of shape (n_clusters, n_centre_columns)
        The centres in the units of the table, in the order of ``centre_names_``.
    centre_names_ : list of str
        The columns whose distances count.
    inertia_ : float
        The squared distances of all rows from their centres, scaled by `scale`.
    tree_ : Tree
        The tree; leaves with the same centre are one cluster.
    certificate_ : TaskCertificate
        What is proven about it: ``cost`` is the inertia plus the penalty, ``objective`` is the
        share of the variance that the clusters explain, less the complexity of the tree.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of the explained squares.

    See Also
    --------
    OptimalTreeRegressor : The same with other targets than the table itself.

    Notes
    -----
    Distances count a missing value as the mean of its column, and `fit` warns; tests see that it is
    missing. Numbers are rounded as for :class:`OptimalTreeRegressor`.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import OptimalTreeClusterer
    >>> X = [[1.0, 20.0], [1.2, 22.0], [5.0, 21.0], [5.2, 19.0]]
    >>> model = OptimalTreeClusterer(n_clusters=2, scale=None, max_depth=1).fit(X)
    >>> model.labels_.tolist(), model.cluster_centers_.tolist()
    ([0, 0, 1, 1], [[1.1, 21.0], [5.1, 20.0]])
    >>> print(model.to_text())
    x0 <= 3: cluster 0, x0 1.1, x1 21 (means of 2 rows)
    x0 > 3: cluster 1, x0 5.1, x1 20 (means of 2 rows)
    """

    _needs_rows: ClassVar[str] = (
        "it clusters the numbers themselves, and groups share ranges of them"
    )

    n_clusters: int | None = parameter(
        default=8, check=WholeNumber(1, none="no limit"), kw_only=False
    )
    features: Any = None
    scale: Literal["standard"] | None = parameter(
        default="standard", check=OneOf(("standard", None))
    )
    max_splits: int | None = fixed(default=None)
    max_leaf_nodes: int | None = fixed(default=None)
    executor: Any = fixed(default=None)

    labels_: NDArray[np.int32] = fitted()
    centre_names_: list[str] = fitted()
    inertia_: float = fitted()
    _scales: NDArray[np.float64] = fitted()
    _centre_columns: list[int] = fitted()

    _size_parameter = "n_clusters"
    _size_of_a_leaf = 1

    @property
    def _split_limit(self) -> int | None:
        return None if self.n_clusters is None else int(self.n_clusters) - 1

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        callback: Callback | None = None,
        path: bool = False,
    ) -> Self:
        """Find the best tree of clusters for the training rows.

        Parameters
        ----------
        X, sample_weight, callback, path
            As for :meth:`OptimalTreeClassifier.fit`.
        y : None
            Not used; pipelines pass it.

        Returns
        -------
        OptimalTreeClusterer
            The fitted estimator itself.
        """
        request = Request.of(self, X, y, sample_weight, callback=callback, path=path)
        self._take(fit(request))
        _warn_about_missing(request.goal.y)
        self.labels_ = self.predict(X)
        return self

    def _goal(
        self, X: Any, y: Any, sample_weight: Any, costs: Any = None, **call: Any
    ) -> CentreGoal:
        count_rows(X)  # refuses an empty table
        table = read_table(X)
        chosen = self._choose_columns(table)
        found = self._read_centres(table, chosen)
        task = self._task(found, table.n_rows)
        return CentreGoal(y=found, task=task, kind=ClusterStatement, columns=chosen)

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        goal, statement = fitted.goal, fitted.statement
        assert isinstance(goal, CentreGoal)
        assert isinstance(statement, TaskStatement)
        assert isinstance(statement.problem, SquareProblem)
        self._centre_columns, self.centre_names_ = goal.columns, list(goal.y.columns or ())
        self._scales = np.array(statement.problem.output_weights, dtype=np.float64)
        if fitted.certificate is not None:
            self.inertia_ = to_float(self.certificate_.leaf_cost)
        return self

    def _choose_columns(self, table: Table) -> list[int]:
        """Return the columns whose distances count."""
        if self.features is None:
            numbers = number_columns(self.categorical_features, table)
            chosen = [k for k in numbers if not np.isnan(_values(table, k)).all()]
        else:
            chosen = asked_columns(self.features, table, "features")
        others = [table.names[k] for k in chosen if table.kinds[k] not in ("number", "flag")]
        if others or not chosen:
            what = f"{others[0]!r} is not one" if others else "there is none"
            raise ValueError(
                f"{type(self).__name__} needs columns of numbers, but {what}; name such columns by "
                "the parameter features."
            )
        return chosen

    def _read_centres(self, table: Table, chosen: list[int]) -> NamedArray:
        """Return the numbers whose distances count, with the names of their columns."""
        names = [table.names[k] for k in chosen]
        return NamedArray(np.stack([_values(table, k) for k in chosen], axis=1), names)

    def _read_filled(self, X: Any) -> NDArray[np.float64]:
        """Return the numbers whose distances count, with means in place of missing values."""
        rows = self._read_centres(read_table(X), self._centre_columns)
        return np.asarray(_fill(rows, self._middle().tolist()))

    def _middle(self) -> NDArray[np.float64]:
        """Return the means of the training rows: the centre of a single cluster."""
        leaves = self.tree_.payload
        assert isinstance(leaves, Clusters)
        at = np.flatnonzero(leaves.label >= 0)
        weights = leaves.counts[at, 0]
        middle: NDArray[np.float64]
        middle = np.average(leaves.values[leaves.label[at]], axis=0, weights=weights)
        return middle

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        return _Spread(self.scale)

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        self._choose_columns(read_table(X))  # raises if there are no numbers
        return None, params

    def _score_part(self, X: Any, y: Any, **params: Any) -> float:
        weights = params.get("sample_weight")
        rows = self._read_filled(X)
        # What a single cluster of the training rows would leave.
        around = self._distances(rows, self._middle(), weights)
        return 1 + self.score(X, sample_weight=weights) / around if around else float("nan")

    def _distances(self, rows: NDArray[Any], centres: NDArray[Any], weights: Any) -> float:
        squares = ((rows - centres) ** 2 * self._scales).sum(axis=1)
        return float(squares.sum() if weights is None else squares @ weights)

    def _measure_name(self) -> str:
        return "share of the variance explained"

    @property
    def cluster_centers_(self) -> NDArray[np.float64]:
        """The centres of the clusters, in the units of the table."""
        self._check_tree()
        centres: NDArray[np.float64] = self.tree_.payload.values  # type: ignore[attr-defined]
        return centres

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the negative squared distances of rows from the centres of their clusters.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        y : None
            Not used; pipelines pass it.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        """
        centres = self.cluster_centers_[self.predict(X)]
        rows = self._read_filled(X)
        return -self._distances(rows, centres, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _warn_about_missing(target: NamedArray) -> None:
    """Say in which columns means stand for missing values."""
    names = [repr(name) for column, name in _columns(target) if np.isnan(column).any()]
    if names:
        warn(
            f"Values are missing in {', '.join(names)}; distances count them as the mean of their "
            "column. To leave such columns out, list the others in the parameter features.",
            UserWarning,
        )


def _values(table: Table, column: int) -> NDArray[np.float64]:
    return np.asarray(table.column(column), dtype=np.float64)
