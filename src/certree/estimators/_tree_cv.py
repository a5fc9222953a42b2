"""Trees whose size is chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sklearn.base import clone
from sklearn.utils import get_tags

from certree.leaves.numbers.estimator import LossParameters, OptimalTreeRegressor
from certree.results._progress import Callback

from ._classifier import OptimalTreeClassifier
from ._cv import ChoosesSize, _held
from ._optimal_tree import BaseOptimalTree
from ._reading import PredictsClasses
from ._sklearn_bases import RegressorMixin
from ._vocabulary import (
    ClassParameters,
    TableParameters,
    parameter,
    same_parameters,
    with_parameters,
)


@with_parameters
class TreeCV(ChoosesSize):
    """Any tree of certree, with its size chosen by cross-validation.

    In each fold, the best trees within several limits are found for the training part and scored on
    the rows left out. The limits with the best mean score are then used on all rows. One search for
    each fold and depth gives the trees of all numbers of splits, or of all complexities, where the
    objective has a path; other objectives (fair trees, limits on the whole tree, areas under the
    ROC curve) take a search for each size that differs.

    Parameters
    ----------
    estimator : estimator of certree, default=None
        The tree whose size is chosen, with all its other parameters: an
        :class:`OptimalTreeClassifier` (also None), :class:`OptimalTreeRegressor`,
        :class:`CostSensitiveTreeClassifier`, :class:`FairTreeClassifier`, :class:`PolicyTree`,
        :class:`SPOTree`, :class:`SurvivalTree`, :class:`LinearTreeRegressor`,
        :class:`OptimalTreeClusterer` or another. Its `max_splits` or `n_clusters`, if set, bounds
        all sizes.
    depths : sequence of int or None, default=(1, 2, 3)
        Depths to try, from 0 (a single leaf) to 20; None: no limit on the depth.
    sizes : "all", sequence of int or None, default="all"
        Numbers of splits to try for each depth, or of clusters for an
        :class:`OptimalTreeClusterer`: "all" that the depth allows, from one split; a list such as
        ``range(6)``; None: only the depth is chosen.
    complexities : "auto", sequence of float or None, default=None
        Penalties per split to try in place of `sizes`. "auto": one for each tree that is best for
        some penalty, by the path of all rows.
    cv : int, splitter or iterable, default=5
        How rows are divided, as in scikit-learn: a number of folds, which keep the shares of
        classes and of events; a splitter; or pairs of training and test rows.
    rule : {"best", "one_se"}, default="best"
        "best": the best mean score, of equal ones the smallest tree. "one_se": the smallest tree
        whose mean score is within one standard error of the best.
    scoring : str, Metric, callable or None, default=None
        What scores trees on the rows left out: a metric of certree, a name or scorer of
        scikit-learn, or a function of model, table and targets. None: what the trees are
        optimised for, with `class_weight` and `cost_matrix`.
    refit : bool, default=True
        Whether to fit a tree to all rows with the limits chosen.
    time_limit : float or None, default=60.0
        Seconds for all searches together, in place of the limit of `estimator`: each round of
        folds has an equal share of what is left, and so has the tree for all rows.
    memory_limit : int, str or None, default="auto"
        The same for memory, as for :class:`OptimalTreeClassifier`.
    n_jobs : int or None, default=1
        Folds that are searched at the same time, each in a thread; -1: all processors. Another
        backend of ``joblib.parallel_config`` (loky, Dask, Ray, Spark) has them in its processes;
        None: as many as it says.
    verbose : "auto" or int, default="auto"
        As for :class:`OptimalTreeClassifier`; counts folds and depths.

    Attributes
    ----------
    best_params_ : dict
        The limits chosen: `max_depth`, and `max_splits`, `n_clusters` or `complexity` where they
        were tried.
    best_score_ : float
        Their mean score on rows that were not trained on.
    best_index_ : int
        Their place in ``cv_results_``.
    best_estimator_ : estimator
        The model fitted to all rows with these limits, unless ``refit=False``.
    curve_ : ValidationCurve
        All scores, to be plotted or printed.
    cv_results_ : dict of str to array
        The same in scikit-learn's form: params, param_max_depth, split0_test_score, ...,
        mean_test_score, std_test_score, rank_test_score.
    n_splits_ : int
        Number of folds that were scored.
    tree_, certificate_, encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        Those of ``best_estimator_``; so are all its other methods and attributes.

    See Also
    --------
    OptimalTreeClassifierCV, OptimalTreeRegressorCV : The same with the parameters of one estimator.

    Notes
    -----
    What trees are scored by is estimated once where it has to be estimated: the rewards of a
    :class:`PolicyTree` come from all rows, each by models that have not seen it, and folds divide
    rows with their rewards. Capacities and budgets are best given as shares: numbers of rows mean
    more in a fold than in the whole table.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import CostSensitiveTreeClassifier, TreeCV, datasets
    >>> X, y = datasets.load_binary_example(return_X_y=True)
    >>> tree = CostSensitiveTreeClassifier([[0, 1], [5, 0]])
    >>> model = TreeCV(tree, depths=(1, 2), cv=3, rule="one_se").fit(X, y)
    >>> model.best_params_
    {'max_depth': 2, 'max_splits': 3}
    """

    estimator: Any = parameter(default=None, kw_only=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        callback: Callback | None = None,
        path: bool = False,
        **params: Any,
    ) -> TreeCV:
        """Choose the size by cross-validation, and find the best tree for all rows.

        Parameters
        ----------
        X, y
            What `fit` of the estimator takes.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, in training and in scores.
        groups : array-like of shape (n_rows,), optional
            Groups of rows, for splitters that keep them together.
        callback : callable, optional
            Called with a :class:`Progress` during the last search, the one for all rows; a true
            answer stops it.
        path : bool, default=False
            Also find the best tree for all rows for every number of splits up to the chosen one, as
            ``path_``.
        **params
            What else `fit` of the estimator takes, with a value per row: `costs`,
            `sensitive_features`, `outcome`, `propensity`, ... Scores use those that they know.

        Returns
        -------
        TreeCV
            The fitted estimator itself.
        """
        given = {"sample_weight": sample_weight, **params}
        self._choose(X, y, given, groups, callback, path)
        return self

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score of the model fitted to all rows, by its own `score`.

        Parameters
        ----------
        X, y, **params
            What `score` of the estimator takes.
        """
        return float(self._model().score(X, y, **params))

    def _tree(self) -> BaseOptimalTree:
        given = OptimalTreeClassifier() if self.estimator is None else self.estimator
        if not isinstance(given, BaseOptimalTree):
            raise TypeError(
                "estimator must be a tree of certree, such as OptimalTreeRegressor(), got "
                f"{given!r}."
            )
        tree: BaseOptimalTree = clone(given)
        return tree.set_params(time_limit=self.time_limit, memory_limit=self.memory_limit)

    def __getattr__(self, name: str) -> Any:
        # Called only for what is not found here. Fitting the model that is held is no choice.
        held = vars(self).get("best_estimator_")
        if held is None or name.startswith(("_", "fit_")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(held, name)


class _FitsTargets(ChoosesSize):
    """A choice of sizes for trees that learn from one target per row."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        callback: Callback | None = None,
        path: bool = False,
    ) -> Any:
        """Choose the size by cross-validation, and find the best tree for all rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Training rows, as for :class:`OptimalTreeClassifier`.
        y : array-like of shape (n_rows,)
            Class labels, or numbers.
        sample_weight, groups, callback, path
            As for :meth:`TreeCV.fit`.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        self._choose(X, y, {"sample_weight": sample_weight}, groups, callback, path)
        return self


@with_parameters
class OptimalTreeClassifierCV(PredictsClasses, ClassParameters, TableParameters, _FitsTargets):
    """An optimal tree whose depth and number of splits are chosen by cross-validation.

    The same as :class:`TreeCV` with an :class:`OptimalTreeClassifier`.

    Parameters
    ----------
    depths, sizes, complexities, cv, rule, scoring, refit
        As for :class:`TreeCV`.
    objective, pos_label, class_weight, output_weights, min_samples_leaf
        As for :class:`OptimalTreeClassifier`.
    splits, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    time_limit, memory_limit, n_jobs, verbose
        As for :class:`TreeCV`.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, curve_, cv_results_, n_splits_
        As for :class:`TreeCV`.
    tree_ : Tree
        The tree for all rows.
    certificate_ : Certificate
        What is proven about it.
    encoder_, classes_, n_classes_, n_outputs_
        Those of ``best_estimator_``.
    n_features_in_, feature_names_in_, feature_importances_, path_
        Those of ``best_estimator_``, as for :class:`OptimalTreeClassifier`.

    See Also
    --------
    OptimalTreeClassifier : One tree for given limits.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import OptimalTreeClassifierCV, datasets
    >>> X, y = datasets.load_binary_example(return_X_y=True)
    >>> model = OptimalTreeClassifierCV(depths=(1, 2), cv=3, objective="f1").fit(X, y)
    >>> model.best_params_
    {'max_depth': 2, 'max_splits': 3}
    """

    depths: Sequence[int] | None = parameter(default=(1, 2, 3), kw_only=False)
    output_weights: Any = None
    splits: Literal["binary", "multiway", "both"] = "binary"

    classes_ = _held("classes_", "The class labels.")
    n_classes_ = _held("n_classes_", "Number of classes.")
    n_outputs_ = _held("n_outputs_", "Number of columns of y.")

    def _tree(self) -> OptimalTreeClassifier:
        return OptimalTreeClassifier(
            **{**same_parameters(self, OptimalTreeClassifier), "n_jobs": 1}
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The mixin of scikit-learn has put its own here.
        tags.classifier_tags = get_tags(self._tree()).classifier_tags
        return tags


@with_parameters
class OptimalTreeRegressorCV(RegressorMixin, LossParameters, TableParameters, _FitsTargets):
    """An optimal regression tree whose depth and number of splits are chosen by cross-validation.

    The same as :class:`TreeCV` with an :class:`OptimalTreeRegressor`.

    Parameters
    ----------
    depths, sizes, complexities, cv, rule, scoring, refit
        As for :class:`TreeCV`; the score is R2 by default, and D2 for other criteria than squared
        errors.
    criterion, quantile, output_weights
        As for :class:`OptimalTreeRegressor`.
    min_samples_leaf, categorical_features, thresholds, min_category_rows, category_tests
        As for :class:`OptimalTreeRegressor`.
    identifiers
        As for :class:`OptimalTreeRegressor`.
    time_limit, memory_limit, n_jobs, verbose
        As for :class:`TreeCV`.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, curve_, cv_results_, n_splits_
        As for :class:`TreeCV`.
    tree_ : Tree
        The tree for all rows.
    certificate_ : TaskCertificate
        What is proven about it.
    n_outputs_, output_weights_
        Those of ``best_estimator_``, as for :class:`OptimalTreeRegressor`.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        Those of ``best_estimator_``, as for :class:`OptimalTreeRegressor`.

    See Also
    --------
    OptimalTreeRegressor : One tree for given limits.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import OptimalTreeRegressorCV
    >>> X = [[number] for number in range(12)]
    >>> model = OptimalTreeRegressorCV(depths=(1, 2), cv=[([0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9])])
    >>> model.fit(X, [0.0] * 6 + [1.0] * 6).best_params_
    {'max_depth': 1, 'max_splits': 1}
    """

    depths: Sequence[int] | None = parameter(default=(1, 2, 3), kw_only=False)

    n_outputs_ = _held("n_outputs_", "Number of columns of y.")
    output_weights_ = _held("output_weights_", "What each of them counts.")

    def _tree(self) -> OptimalTreeRegressor:
        return OptimalTreeRegressor(**{**same_parameters(self, OptimalTreeRegressor), "n_jobs": 1})

    def to_sklearn(self, *, encoded: bool = False) -> Any:
        """Return a fitted scikit-learn DecisionTreeRegressor with the same predictions.

        Parameters
        ----------
        encoded : bool, default=False
            Whether it is over the 0/1 columns of the encoder, not over the raw ones.
        """
        return self._model().to_sklearn(encoded=encoded)
