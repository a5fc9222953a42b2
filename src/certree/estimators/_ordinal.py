"""The classifier for classes that have an order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding._classes import check_labels
from certree.results._progress import Callback
from certree.tasks import OrdinalError, Task

from ._reading import PredictsClasses
from ._task_tree import BaseTaskTree
from ._vocabulary import fitted, parameter, with_parameters


@with_parameters
class OrdinalTreeClassifier(PredictsClasses, BaseTaskTree):
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
    max_depth, max_splits, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf), in units of the mean distance of a row.
    complexity_per, categorical_features, thresholds, search, time_limit, memory_limit
        As for :class:`OptimalTreeClassifier`.
    gap : float, fraction or str, default=0.0
        Accept a tree whose total distance is proven to be within this of the least.
    n_jobs, verbose
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

    classes_: NDArray[Any] = fitted()
    n_classes_: int = fitted()

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        callback: Callback | None = None,
        path: bool = False,
    ) -> OrdinalTreeClassifier:
        """Find the best tree for the training rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for :class:`OptimalTreeClassifier`.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, not negative. Rows of weight zero are left out.
        callback : callable, optional
            Called with a :class:`Progress` now and then; a true answer stops the search.
        path : bool, default=False
            Also find the best tree for every number of splits, as ``path_``.

        Returns
        -------
        OrdinalTreeClassifier
            The fitted estimator itself.
        """
        self._check_parameters()
        labels = check_labels(y, self._row_count(X), type(self).__name__)
        self._fit_and_report(OrdinalError(self.order), X, labels, sample_weight, callback, path)
        self.classes_ = self.tree_.classes.copy()
        self.n_classes_ = len(self.classes_)
        return self

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        return OrdinalError(self.order)

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
                f"y holds {unknown[0]!r}, which is none of the classes {list(rank)}; name all "
                "classes by the parameter order."
            )
        pairs = zip(predicted.tolist(), labels, strict=True)
        distances = [abs(rank[label] - rank[true]) for label, true in pairs]
        return -float(np.average(distances, weights=sample_weight))
