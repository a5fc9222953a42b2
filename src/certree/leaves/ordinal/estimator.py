"""The classifier for classes that have an order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding._classes import check_labels
from certree.estimators._reading import PredictsClasses
from certree.estimators._task_tree import BaseTargetTree
from certree.estimators._vocabulary import parameter, with_parameters
from certree.tasks import OrdinalError, Task


@with_parameters
class OrdinalTreeClassifier(PredictsClasses, BaseTargetTree):
    r"""A decision tree classifier for classes that have an order, proven best within its limits.

    To take the highest grade for the lowest is worse than to take it for the one below. Among all
    trees within the limits it finds one that minimises

    .. math:: \sum_i w_i\, |\text{rank}(\hat y_i) - \text{rank}(y_i)|
              + \text{complexity} \cdot W \cdot \text{splits}

    on the training rows, where W is their weight. A leaf takes the weighted median of its classes.

    Parameters
    ----------
    order : array-like of shape (n_classes,), default=None
        The classes from first to last; None: those of y, sorted.
    max_depth, max_splits, max_leaf_nodes, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf), in units of the mean distance of a row.
    complexity_per, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit
        As for :class:`OptimalTreeClassifier`.
    gap : float, fraction or str, default=0.0
        Accept a tree whose total distance is proven to be within this of the least.
    n_jobs, executor, verbose
        As for :class:`OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    certificate_ : TaskCertificate
        What is proven about it: ``cost`` is the total distance plus the penalty, ``objective`` the
        mean distance of a row.
    classes_ : array of shape (n_classes,)
        The classes from first to last.
    n_classes_ : int
        Their number.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of the distance saved.

    See Also
    --------
    tasks.OrdinalError : The same objective for :func:`solve`.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import OrdinalTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["low", "low", "middle", "high"]
    >>> model = OrdinalTreeClassifier(["low", "middle", "high"], max_depth=1).fit(X, y)
    >>> model.predict([[0, 0], [1, 1]]).tolist(), model.certificate_.cost
    (['low', 'middle'], 1)
    """

    order: Any = parameter(default=None, kw_only=False)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes from first to last."""
        return self.tree_.classes

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        return check_labels(y, n_rows, type(self).__name__)

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        labels, params = super()._prepare(X, y, params)
        if self.order is None:
            self.order = np.unique(labels)
        return labels, params

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        return OrdinalError(self.order)

    def _measure_name(self) -> str:
        return "negative distance in rank"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the negative mean distance of a row in rank, so that greater is better.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        y : array-like of shape (n_rows,)
            Their classes.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        """
        rank = {label: k for k, label in enumerate(self.classes_.tolist())}
        predicted = self.predict(X)
        labels = check_labels(y, len(predicted), type(self).__name__).tolist()
        unknown = [label for label in labels if label not in rank]
        if unknown:
            raise ValueError(
                f"y holds {unknown[0]!r}, which is not among the classes {list(rank)}; name all "
                "classes by the parameter order."
            )
        pairs = zip(predicted.tolist(), labels, strict=True)
        distances = [abs(rank[label] - rank[true]) for label, true in pairs]
        return -float(np.average(distances, weights=sample_weight))
