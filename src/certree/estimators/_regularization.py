"""The regularization path as a function."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from certree.fitting.budgets import open_call
from certree.fitting.certify import find_path
from certree.fitting.prove import state_sum
from certree.fitting.request import Request
from certree.fitting.unproven import warn_of_path
from certree.results._path import RegularizationPath
from certree.results._progress import Callback

from ._classifier import OptimalTreeClassifier
from ._rare_classes import ALIKE, hint_at_rare_classes
from ._settings import PathSettings, takes

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(PathSettings, OptimalTreeClassifier)
def regularization_path(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    callback: Callback | None = None,
    **settings: Unpack[PathSettings],
) -> RegularizationPath:
    """Find the best tree for every number of splits, in one search.

    That answers every ``max_splits`` and every ``complexity`` at once, with the exact complexities
    at which the best number of splits changes.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
        Training rows, as for :class:`OptimalTreeClassifier`.
    y : array-like of shape (n_rows,)
        Class labels.
    max_depth : int or None, default=3
        Largest depth; None: no limit, which needs `max_splits`.
    max_splits : int or None, default=None
        Largest number of splits; None: as many as the depth allows.
    max_leaf_nodes : int or None, default=None
        The same limit as a number of leaves, which is one more.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    objective, min_samples_leaf, class_weight
        As for :class:`OptimalTreeClassifier`.
    splits, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    time_limit : float or None, default=60.0
        Seconds; None: no limit. A search stopped by a limit warns (:class:`OptimalityWarning`)
        and returns the trees found, with lower bounds.
    memory_limit, n_jobs, verbose
        As for :class:`OptimalTreeClassifier`.
    callback : callable, optional
        Called with a :class:`Progress` now and then; a true answer stops the search.

    Returns
    -------
    RegularizationPath
        One tree for each number of splits that helps.

    See Also
    --------
    OptimalTreeClassifier : ``fit(X, y, path=True)`` keeps the path of a model as ``path_``.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import datasets, regularization_path
    >>> X, y = datasets.load_binary_example(return_X_y=True)
    >>> path = regularization_path(X, y, max_depth=3)
    >>> path.tree(complexity=1).n_splits
    0
    """
    model = OptimalTreeClassifier(**settings)
    request = Request.of(model, X, y, sample_weight, callback=callback, path=True)
    with open_call(request.by, request.budget):
        start = perf_counter()
        statement = state_sum(request)
        path = find_path(request, statement, seconds_before=perf_counter() - start)
    warn_of_path(path)
    if sample_weight is None and model._counts_rows_alike():
        hint_at_rare_classes(path.best(), ALIKE)
    return path
