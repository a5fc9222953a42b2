"""The tree whose depth and size are chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from certree.encoding._classes import check_labels, encode_labels
from certree.engine._budget import Budget, budget
from certree.exceptions import OptimalityWarning, warn
from certree.numbers._error_weights import class_fractions
from certree.numbers._weights import read_weights, relative_weights
from certree.results._activity import step
from certree.results._progress import Callback
from certree.tree import Tree

from ._binary_statement import find_positive
from ._budgets import open_call
from ._classifier import OptimalTreeClassifier
from ._metric_fit import TrainingRows
from ._objective import is_direct, read_metric, task_name
from ._parameters import OneOf, WholeNumber, is_whole
from ._reading import PredictsClasses
from ._sizes import TreesOfSizes, trees_of_all_sizes
from ._vocabulary import (
    BudgetParameters,
    ClassParameters,
    TableParameters,
    check_parameters,
    fitted,
    parameter,
    same_parameters,
    with_parameters,
)


@dataclass(frozen=True)
class _Part:
    """Some rows: a training or a test part."""

    X: Any
    y: NDArray[Any]
    weights: NDArray[Any] | None

    def rows(self, indices: NDArray[np.intp]) -> _Part:
        weights = None if self.weights is None else self.weights[indices]
        return _Part(_safe_indexing(self.X, indices), self.y[indices], weights)


def _held(name: str, meaning: str) -> Any:
    """Return an attribute of the model that was refitted to all rows."""

    def read(self: OptimalTreeClassifierCV) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)

    return property(read, doc=meaning)


@with_parameters
class OptimalTreeClassifierCV(PredictsClasses, ClassParameters, BudgetParameters, TableParameters):
    """An optimal tree whose depth and number of splits are chosen by cross-validation.

    For every depth and every number of splits from 1 to ``2**depth - 1`` the best tree for the
    training part of each fold is scored on the rest, by the metric that the trees are optimised
    for. The depth and size with the best mean score are then used on all rows. One search per fold
    and depth gives the trees of all sizes.

    Parameters
    ----------
    depths : sequence of int, default=(1, 2, 3)
        Depths to try.
    max_splits : int or None, default=None
        Most splits to try; None: as many as the depth allows.
    cv : int, splitter or iterable, default=5
        How rows are divided, as in scikit-learn: a number of stratified folds, a splitter, or pairs
        of training and test rows.
    rule : {"best", "one_se"}, default="best"
        "best": the best mean score, of equal ones the fewest splits. "one_se": the fewest splits
        whose mean score is within one standard error of the best.
    objective, pos_label, min_samples_leaf, class_weight
        As for :class:`OptimalTreeClassifier`.
    categorical_features, thresholds, min_category_rows, category_tests
        As for :class:`OptimalTreeClassifier`.
    time_limit : float or None, default=60.0
        Seconds for all searches together: each fold has an equal share of what is left, and so has
        the tree for all rows.
    memory_limit, n_jobs, verbose
        As for :class:`OptimalTreeClassifier`.

    Attributes
    ----------
    best_depth_, best_splits_ : int
        The limits chosen.
    best_score_ : float
        Their mean score on rows that were not trained on.
    cv_results_ : dict of str to array
        One entry for each pair of limits: param_max_depth, param_max_splits,
        split0_test_score, ..., mean_test_score, std_test_score, rank_test_score.
    n_splits_ : int
        Number of folds.
    best_estimator_ : OptimalTreeClassifier
        The model fitted to all rows with these limits.
    tree_ : Tree
        Its tree.
    certificate_ : Certificate
        What is proven about it.
    encoder_, classes_, n_classes_, n_features_in_, feature_names_in_, feature_importances_, path_
        Those of this model, as for :class:`OptimalTreeClassifier`.

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
    >>> model.best_splits_ <= 3
    True
    """

    depths: Sequence[int] = parameter(default=(1, 2, 3), kw_only=False)
    max_splits: int | None = parameter(default=None, check=WholeNumber(0, none="no limit"))
    cv: Any = 5
    rule: Literal["best", "one_se"] = parameter(default="best", check=OneOf(("best", "one_se")))

    best_estimator_: OptimalTreeClassifier = fitted()
    best_depth_: int = fitted()
    best_splits_: int = fitted()
    best_score_: float = fitted()
    cv_results_: dict[str, Any] = fitted()
    n_splits_: int = fitted()

    tree_ = _held("tree_", "The tree for all rows.")
    certificate_ = _held("certificate_", "What is proven about it, within the limits chosen.")
    encoder_ = _held("encoder_", "The tests derived from the columns.")
    path_ = _held("path_", "The best tree for every number of splits; ``fit(..., path=True)``.")
    classes_ = _held("classes_", "The class labels.")
    n_classes_ = _held("n_classes_", "Number of classes.")
    n_features_in_ = _held("n_features_in_", "Number of columns in `fit`.")
    feature_names_in_ = _held("feature_names_in_", "Their names, if they were text.")

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        callback: Callback | None = None,
        path: bool = False,
    ) -> OptimalTreeClassifierCV:
        """Choose depth and size by cross-validation, and find the best tree for all rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Training rows, as for :class:`OptimalTreeClassifier`.
        y : array-like of shape (n_rows,)
            Class labels.
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

        Returns
        -------
        OptimalTreeClassifierCV
            The fitted estimator itself.
        """
        check_parameters(self)
        depths = self._depths()
        n_rows = self._row_count(X)
        labels = check_labels(y, n_rows, type(self).__name__)
        table = X if hasattr(X, "__getitem__") else np.asarray(X)
        if issparse(X):  # some formats have no rows to select
            table = X.tocsr()
        data = _Part(table, labels, _weights(sample_weight, n_rows))
        if n_rows < 2:
            raise ValueError("Cross-validation needs more than 1 sample, got n_samples = 1.")
        folds = list(
            check_cv(self.cv, data.y, classifier=True).split(np.zeros(n_rows), data.y, groups)
        )
        with open_call(self) as call:
            found = self._search(data, [train for train, _ in folds], depths, call)
            tests = [test for _, test in folds[: len(found)]]
            limits = [(depth, size) for depth in depths for size in self._sizes(depth)]
            self._choose(limits, self._scores(data, found, tests, limits))
            self.n_splits_ = len(found)
            self._refit(X, y, sample_weight, callback, path)
        self._warn(found, len(folds))
        return self

    def _search(
        self, data: _Part, parts: list[NDArray[np.intp]], depths: list[int], call: Budget
    ) -> list[list[TreesOfSizes]]:
        """Return the best trees of all sizes for parts of the rows; for the first ones on Ctrl-C.

        Each has an equal share of the time that is left, and so has the refit.
        """
        found: list[list[TreesOfSizes]] = []
        for number, rows in enumerate(parts):
            share = call.remaining(1 / (len(parts) - number + 1))
            with budget(share, None), step(f"fold {number + 1} of {len(parts)}"):
                found.append(self._sizes_of(data.rows(rows), depths))
            if call.is_interrupted:
                break
        return found

    def _scores(
        self,
        data: _Part,
        found: list[list[TreesOfSizes]],
        tests: list[NDArray[np.intp]],
        limits: list[tuple[int, int]],
    ) -> NDArray[np.float64]:
        """Return the score of each pair of limits on the rows that were left out each time."""
        scoring = self._scoring(data)
        scores = np.empty((len(limits), len(tests)))
        for number, test in enumerate(tests):
            rows, weights = data.rows(test), None if scoring is None else scoring[test]
            scores[:, number] = self._score_all(found[number], limits, rows, weights)
        return scores

    def _depths(self) -> list[int]:
        try:
            depths = list(self.depths)
        except TypeError:
            depths = []
        if not depths or not all(is_whole(depth) and 1 <= depth <= 20 for depth in depths):
            raise ValueError(
                f"depths must be a few integers from 1 to 20, such as (1, 2, 3), got "
                f"{self.depths!r}."
            )
        return sorted({int(depth) for depth in depths})

    def _sizes(self, depth: int) -> range:
        most = 2**depth - 1
        if self.max_splits is not None:
            most = min(most, max(int(self.max_splits), 1))
        return range(1, most + 1)

    def _tree(self, depth: int) -> OptimalTreeClassifier:
        """Return the estimator for one depth."""
        shared = same_parameters(self, OptimalTreeClassifier)
        return OptimalTreeClassifier(**{**shared, "max_depth": depth})

    def _sizes_of(self, rows: _Part, depths: list[int]) -> list[TreesOfSizes]:
        """Return for each depth the best trees of all sizes."""
        return trees_of_all_sizes(
            self._tree(depths[-1]), TrainingRows(rows.X, rows.y, rows.weights), depths
        )

    # ---- scores ---------------------------------------------------------------------------------

    def _scoring(self, data: _Part) -> NDArray[np.float64] | None:
        """Return the weights of rows in scores, those of the classes included."""
        weights = None if data.weights is None else relative_weights(data.weights)
        if self.class_weight is None:
            return weights
        classes, codes = encode_labels(data.y)
        counts = np.bincount(codes).tolist()
        wanted = class_fractions(self.class_weight, classes.tolist(), counts)
        by_class = relative_weights(wanted)[codes]
        return by_class if weights is None else by_class * weights

    def _score_all(
        self,
        found: list[TreesOfSizes],
        limits: list[tuple[int, int]],
        rows: _Part,
        weights: NDArray[np.float64] | None,
    ) -> list[float]:
        """Return the score of the tree for each pair of limits on rows not trained on."""
        by_depth = {sizes.depth: sizes for sizes in found}
        known: dict[int, float] = {}
        scores = []
        for depth, size in limits:
            tree = by_depth[depth].best(size)
            if id(tree) not in known:
                known[id(tree)] = self._score(tree, rows, weights)
            scores.append(known[id(tree)])
        return scores

    def _score(self, tree: Tree, rows: _Part, weights: NDArray[np.float64] | None) -> float:
        metric = read_metric(self.objective)
        if metric is None:
            is_plain = task_name(self.objective) == "accuracy"
            score = accuracy_score if is_plain else balanced_accuracy_score
            return float(score(rows.y, tree.predict(rows.X), sample_weight=weights))
        classes = tree.classes.tolist()
        positive = find_positive(classes, self.pos_label, metric.name)
        if metric.kind == "chain":
            answers: Any = tree.predict_proba(rows.X)[:, positive]
        else:
            answers = tree.predict(rows.X)
        return metric.score(rows.y, answers, pos_label=classes[positive], sample_weight=weights)

    def _choose(self, limits: list[tuple[int, int]], scores: NDArray[np.float64]) -> None:
        """Set the results, and the limits that are best by the rule."""
        means, spreads = scores.mean(axis=1), scores.std(axis=1)
        best = float(means.max())
        least = best
        if self.rule == "one_se" and scores.shape[1] > 1:
            place = int(means.argmax())
            least -= float(scores[place].std(ddof=1) / np.sqrt(scores.shape[1]))
        # Means of the same scores in another order differ by rounding.
        good = [i for i, mean in enumerate(means) if mean >= least - 1e-12]
        chosen = min(good, key=lambda i: (limits[i][1], limits[i][0]))
        self.best_depth_, self.best_splits_ = limits[chosen]
        self.best_score_ = float(means[chosen])
        results: dict[str, Any] = {
            "params": [{"max_depth": depth, "max_splits": size} for depth, size in limits],
            "param_max_depth": np.array([depth for depth, _ in limits]),
            "param_max_splits": np.array([size for _, size in limits]),
        }
        for number in range(scores.shape[1]):
            results[f"split{number}_test_score"] = scores[:, number]
        results["mean_test_score"], results["std_test_score"] = means, spreads
        results["rank_test_score"] = 1 + np.array(
            [int(np.count_nonzero(means > mean + 1e-12)) for mean in means]
        )
        self.cv_results_ = results

    # ---- the tree for all rows ------------------------------------------------------------------

    def _refit(
        self, X: Any, y: Any, sample_weight: Any, callback: Callback | None, path: bool
    ) -> None:
        model = self._tree(self.best_depth_)
        model.max_splits = self.best_splits_
        with step("all rows"):
            model.fit(X, y, sample_weight, callback=callback, path=path)
        self.best_estimator_ = model

    def _warn(self, found: list[list[TreesOfSizes]], n_folds: int) -> None:
        if len(found) < n_folds:
            warn(
                f"Cross-validation was interrupted: depth and size were chosen by {len(found)} of "
                f"{n_folds} folds, and the tree for all rows is the best one found at once. Let it "
                "run longer.",
                OptimalityWarning,
            )
        stopped = [sizes for fold in found for sizes in fold if sizes.status != "optimal"]
        if stopped:
            total = sum(len(fold) for fold in found)
            warn(
                f"{len(stopped)} of {total} searches in cross-validation ended before their trees "
                f"were proven best ({stopped[0].status}), so that scores are those of the best "
                "trees found. Raise time_limit, or try smaller depths.",
                OptimalityWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = is_direct(self.objective)
        return tags


def _weights(sample_weight: Any, n_rows: int) -> NDArray[Any] | None:
    """Return the weights of rows as they were given, of which folds take some."""
    return None if sample_weight is None else read_weights(sample_weight, n_rows).numbers
