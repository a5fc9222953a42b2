"""The front of all nondominated trees, as a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from certree.fitting.fit import fit
from certree.fitting.request import Request
from certree.metrics import ErrorFront
from certree.results._pareto import ParetoFront
from certree.results._progress import Callback

from ._classifier import OptimalTreeClassifier
from ._settings import FrontSettings, takes

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(FrontSettings, OptimalTreeClassifier)
def pareto_front(
    X: Any,
    y: Any,
    *,
    supported_only: bool = False,
    per_splits: bool = False,
    sample_weight: Any = None,
    callback: Callback | None = None,
    **settings: Unpack[FrontSettings],
) -> ParetoFront:
    """Find all trees that no other beats in both false positives and false negatives.

    One front answers every metric that does not rise with either error:
    :meth:`ParetoFront.best` picks its best tree without another search.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
        Training rows, as for :class:`OptimalTreeClassifier`.
    y : array-like of shape (n_rows,)
        Labels of two classes.
    max_depth, max_splits, max_leaf_nodes : int or None
        Limits on the trees.
    supported_only : bool, default=False
        Only the corners of the convex hull: the trees that are best for some weights of the two
        errors. That is enough for accuracies, F-scores, kappa and MCC, and faster.
    per_splits : bool, default=False
        Also keep trees that only larger ones beat, for picks with a penalty per split.
    pos_label : label or None, default=None
        The positive class; None: the greater of the two.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    min_samples_leaf, class_weight
        As for :class:`OptimalTreeClassifier`.
    categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    time_limit : float or None, default=60.0
        Seconds; None: no limit. A search stopped by a limit warns (:class:`OptimalityWarning`)
        and returns the trees found, with lower points.
    memory_limit, n_jobs, verbose
        As for :class:`OptimalTreeClassifier`.
    callback : callable, optional
        Called with a :class:`Progress` now and then; a true answer stops the search.

    Returns
    -------
    ParetoFront
        The trees, by rising false positives.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import datasets, pareto_front
    >>> X, y = datasets.load_binary_example(return_X_y=True)
    >>> front = pareto_front(X, y, max_depth=2)
    >>> front.best("mcc").certificate_.status
    'optimal'
    """
    objective = ErrorFront(supported_only=supported_only)
    model = OptimalTreeClassifier(objective=objective, **settings)
    given: dict[str, Any] = {
        "supported_only": supported_only,
        "per_splits": per_splits,
        "callback": callback,
    }
    model._take(fit(Request.of(model, X, y, sample_weight, **given)))
    return model.front_
