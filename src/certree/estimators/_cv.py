"""Choosing the size of a tree by its scores on rows left out: one machinery for all estimators."""

from __future__ import annotations

import copy
import math
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from contextvars import copy_context
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from certree.encoding import read_table
from certree.engine._budget import Budget, budget
from certree.engine._workers import leaving_interrupts
from certree.exceptions import OptimalityWarning, RareClassWarning, warn
from certree.fitting.asked import Asked
from certree.fitting.budgets import BudgetRequest, job_count, open_call, run_jobs, shares_memory
from certree.fitting.certify import find_path
from certree.fitting.plan import plan
from certree.fitting.prove import state_sum
from certree.fitting.read import count_rows
from certree.numbers._exact import read_fraction
from certree.numbers._fractions import is_whole
from certree.numbers._weights import read_weights, relative_weights
from certree.results._activity import proven, step
from certree.results._progress import Callback
from certree.results._validation import ValidationCurve

from ._optimal_tree import BaseOptimalTree
from ._parameters import Number, OneOf
from ._reading import PredictsByTree
from ._scoring import Scorer, read_scorer
from ._sizes import Limits, Part, Tried, models_within
from ._vocabulary import (
    BudgetParameters,
    check_parameters,
    fitted,
    parameter,
    with_parameters,
)

# The deepest trees of which all sizes can be listed.
_DEEPEST = 20

# What ends a search before its tree is proven best.
_STOPPED = ("time_limit", "memory_limit", "interrupted", "precision")

Rows = NDArray[np.intp]


class _Fold(NamedTuple):
    """What came of one fold: a score for each of the limits, and the status of the searches."""

    scores: list[float]
    status: list[str]


class _Job(NamedTuple):
    """A fold: what is searched and scored, and what that may take."""

    model: BaseOptimalTree
    train: Part
    test: Part
    limits: list[Limits]
    scorer: Scorer | None
    seconds: float | None
    memory: int | None

    def run(self) -> _Fold:
        """Search and score."""
        with budget(self.seconds, self.memory):
            tried = models_within(copy.copy(self.model), self.train, self.limits)
        return _Fold(_scores(tried, self.test, self.scorer), [one.status for one in tried])

    def run_elsewhere(self) -> _Fold:
        """Do so in a process that works for another one, which gives the warnings."""
        with leaving_interrupts(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.run()


def _held(name: str, meaning: str) -> Any:
    """Return an attribute of the model that was refitted to all rows."""

    def read(self: ChoosesSize) -> Any:
        return getattr(self._model(), name)

    return property(read, doc=meaning)


def _check_truth(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")


@with_parameters
class ChoosesSize(BudgetParameters, PredictsByTree):
    """Tries limits on the size in every fold, chooses by the scores, and refits to all rows."""

    depths: Sequence[int] | None = parameter(default=(1, 2, 3))
    sizes: Literal["all"] | Sequence[int] | None = "all"
    complexities: Literal["auto"] | Sequence[Any] | None = None
    cv: Any = 5
    rule: Literal["best", "one_se"] = parameter(default="best", check=OneOf(("best", "one_se")))
    scoring: Any = None
    refit: bool = parameter(default=True, check=_check_truth)

    best_estimator_: Any = fitted()
    best_params_: dict[str, Any] = fitted()
    best_index_: int = fitted()
    best_score_: float = fitted()
    curve_: ValidationCurve = fitted()
    n_splits_: int = fitted()

    tree_ = _held("tree_", "The tree for all rows.")
    certificate_ = _held("certificate_", "What is proven about it, within the limits chosen.")
    encoder_ = _held("encoder_", "The questions derived from the columns.")
    path_ = _held("path_", "The best tree for every number of splits; ``fit(..., path=True)``.")
    n_features_in_ = _held("n_features_in_", "Number of columns in `fit`.")
    feature_names_in_ = _held("feature_names_in_", "Their names, if they were text.")
    feature_importances_ = _held("feature_importances_", "What the splits on each column gain.")

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The scores in scikit-learn's form."""
        check_is_fitted(self)
        return self.curve_.cv_results()

    @abstractmethod
    def _tree(self) -> BaseOptimalTree:
        """Return the estimator whose size is chosen, not fitted."""

    def _model(self) -> Any:
        """Return the model that was refitted to all rows."""
        check_is_fitted(self)
        if "best_estimator_" not in vars(self):
            raise AttributeError(
                f"This {type(self).__name__} holds no model: refit=False only finds scores. Set "
                "refit=True, or fit an estimator with best_params_."
            )
        return self.best_estimator_

    def _read(self, X: Any, method: str) -> Any:
        return getattr(self._model(), method)(X)

    # ---- the steps ---------------------------------------------------------------------------

    def _choose(
        self,
        X: Any,
        y: Any,
        params: dict[str, Any],
        groups: Any,
        callback: Callback | None,
        path: bool,
    ) -> None:
        """Choose the limits, and find the best tree for all rows within them."""
        check_parameters(self)
        model = self._tree()
        if model._size_parameter == "max_splits":
            # Both names of the limit on splits mean the same.
            model.set_params(max_splits=model._split_limit, max_leaf_nodes=None)
        depths = self._depths()
        self._plan(model)
        scorer = read_scorer(self.scoring, model)
        n_rows = count_rows(X)
        if n_rows < 2:
            raise ValueError("Cross-validation needs more than 1 sample, got n_samples = 1.")
        options = BudgetRequest.of(self)
        with self._unchanged_if_raised(), open_call(type(self).__name__, options) as call:
            with call.nothing_to_return():
                data = _prepared(model, X, y, params, n_rows)
            shares = model._fold_classes(data.y)
            by = y if shares is None else shares
            splitter = check_cv(self.cv, by, classifier=shares is not None)
            folds = list(splitter.split(np.zeros(n_rows), by, groups))
            limits = self._limits(model, data, depths, call, len(folds))
            found = self._try(model, data, folds, limits, scorer, call)
            weights = _scored(model, data, scorer).params.get("sample_weight")
            self._keep_scores(limits, found, self._measure(weights))
            if self.refit:
                self._refit(model, data, callback, path)
                proven(call, self.best_estimator_.certificate_)
            elif "best_estimator_" in vars(self):
                del self.best_estimator_
        self._warn(found, len(folds), len(limits))

    def _try(
        self,
        model: BaseOptimalTree,
        data: Part,
        folds: list[tuple[Rows, Rows]],
        limits: list[Limits],
        scorer: Scorer | None,
        call: Budget,
    ) -> list[_Fold]:
        """Return the scores of all limits in the folds; of those that were begun, on Ctrl-C.

        Each round of folds has an equal share of the time that is left, and so has the refit.
        """
        jobs = min(job_count(self.n_jobs), len(folds))
        memory = None if call.memory is None else call.memory // jobs
        scored = _scored(model, data, scorer)

        def job(number: int) -> _Job:
            train, test = folds[number]
            rounds = math.ceil((len(folds) - number) / jobs) + bool(self.refit)
            share = call.remaining(1 / rounds)
            rows = data.rows(train), scored.rows(test)
            return _Job(model, *rows, limits, scorer, share, memory)

        def run(number: int) -> _Fold | None:
            if call.is_interrupted and number >= jobs:
                return None
            with step(f"fold {number + 1} of {len(folds)}"):
                return job(number).run()

        numbers = range(len(folds))
        with warnings.catch_warnings():
            # One warning at the end speaks of all searches.
            warnings.simplefilter("ignore", OptimalityWarning)
            warnings.filterwarnings("ignore", ".*nothing to\\s+predict with")
            if self.refit:
                # The fit to all rows gives these.
                warnings.filterwarnings("ignore", ".*like an identifier")
                warnings.simplefilter("ignore", RareClassWarning)
            if jobs == 1:
                found = [run(number) for number in numbers]
            elif shares_memory():
                # Threads share the budget of the call; the core lets all of them run at once.
                found = Parallel(n_jobs=jobs, require="sharedmem")(
                    delayed(copy_context().run)(run, number) for number in numbers
                )
            else:
                elsewhere = (delayed(job(number).run_elsewhere)() for number in numbers)
                found = run_jobs(elsewhere, len(folds), jobs, call, "searching folds")
        return [fold for fold in found if fold is not None]

    def _keep_scores(self, limits: list[Limits], found: list[_Fold], measure: str) -> None:
        scores = np.array([fold.scores for fold in found]).T
        shown = [self._tree()._as_parameters(one) for one in limits]
        self.curve_ = ValidationCurve(shown, scores, rule=self.rule, measure=measure)
        self.best_index_ = self.curve_.chosen
        self.best_params_ = shown[self.best_index_]
        self.best_score_ = float(self.curve_.mean[self.best_index_])
        self.n_splits_ = len(found)

    def _measure(self, weights: Any) -> str:
        """Return the name of the score of rows with these weights."""
        if self.scoring is None:
            name: Any = self._tree()._measure_name()
        else:
            name = getattr(self.scoring, "name", getattr(self.scoring, "__name__", self.scoring))
        is_weighted = weights is not None and bool(np.any(np.asarray(weights) != 1))
        return f"weighted {name}" if name == "accuracy" and is_weighted else str(name)

    def _refit(
        self, model: BaseOptimalTree, data: Part, callback: Callback | None, path: bool
    ) -> None:
        refitted = copy.copy(model).set_params(**self.best_params_)
        asked = {"callback": callback, "path": path or None}
        given = {name: value for name, value in asked.items() if value is not None}
        with step("all rows"):
            refitted._fit_part(data.X, data.y, **data.params, **given)
        self.best_estimator_ = refitted

    def _warn(self, found: list[_Fold], n_folds: int, n_limits: int) -> None:
        if len(found) < n_folds:
            warn(
                f"Cross-validation was interrupted: the size was chosen by {len(found)} of "
                f"{n_folds} folds, and the tree for all rows is the best one found at once. Let it "
                "run longer.",
                OptimalityWarning,
            )
        status = [one for fold in found for one in fold.status]
        stopped = [one for one in status if one in _STOPPED]
        if stopped:
            warn(
                f"{len(stopped)} of {len(status)} trees in cross-validation ({n_limits} in each "
                f"fold) were not proven best ({stopped[0]}), so that scores are those of the best "
                "trees found. Raise time_limit, or try smaller depths.",
                OptimalityWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags, held = super().__sklearn_tags__(), get_tags(self._tree())
        tags.estimator_type = held.estimator_type
        tags.classifier_tags, tags.regressor_tags = held.classifier_tags, held.regressor_tags
        tags.target_tags, tags.input_tags = held.target_tags, held.input_tags
        return tags

    def _plan(self, model: BaseOptimalTree) -> None:
        """Refuse choices that leave nothing to choose, or too much."""
        given = {name: getattr(self, name) for name in ("depths", "sizes", "complexities")}
        given |= {"cross_validation": True, "max_splits": model._split_limit}
        plan(Asked(type(self).__name__, model._what_is_optimised(), given))

    # ---- the limits to try -------------------------------------------------------------------

    def _depths(self) -> list[int | None]:
        if self.depths is None:
            return [None]
        try:
            depths = list(self.depths)
        except TypeError:
            depths = []
        if not depths or not all(is_whole(depth) and 0 <= depth <= _DEEPEST for depth in depths):
            raise ValueError(
                f"depths must be a few integers from 0 to {_DEEPEST}, such as (1, 2, 3), or None "
                f"(no limit), got {self.depths!r}."
            )
        return [*sorted({int(depth) for depth in depths})]

    def _limits(
        self,
        model: BaseOptimalTree,
        data: Part,
        depths: list[int | None],
        call: Budget,
        n_folds: int,
    ) -> list[Limits]:
        """Return the limits to try, each depth with its numbers of splits or complexities."""
        if self.complexities is not None:
            # A round of folds, the refit, and this search have equal shares.
            with budget(call.remaining(1 / (n_folds + 2)), None), step("complexities"):
                tried = self._complexities(model, data, depths)
            return [{"max_depth": depth, "complexity": one} for depth in depths for one in tried]
        if self.sizes is None:
            return [{"max_depth": depth} for depth in depths]
        n_rows = count_rows(data.X)
        return [
            {"max_depth": depth, "max_splits": size}
            for depth in depths
            for size in self._sizes(model, depth, n_rows)
        ]

    def _sizes(self, model: BaseOptimalTree, depth: int | None, n_rows: int) -> list[int]:
        """Return the numbers of splits to try for a depth."""
        limit = n_rows - 1 if depth is None else min(2**depth - 1, n_rows - 1)
        if model.splits != "binary" and not _is_text(self.sizes, "all"):
            limit = n_rows - 1  # a test may have many outcomes with further tests
        if model._split_limit is not None:
            limit = min(limit, model._split_limit)
        if _is_text(self.sizes, "all"):
            return list(range(min(1, limit), limit + 1))
        try:
            sizes: list[Any] = list(self.sizes)  # type: ignore[arg-type]
        except TypeError:
            sizes = []
        more = model._size_of_a_leaf
        if not sizes or not all(is_whole(size) and size >= more for size in sizes):
            of = "clusters" if more else "splits"
            raise ValueError(
                f'sizes must be "all", numbers of {of} such as range({1 + more}, 8), or None '
                f"(choose the depth alone), got {self.sizes!r}."
            )
        return sorted({min(int(size) - more, limit) for size in sizes})

    def _complexities(
        self, model: BaseOptimalTree, data: Part, depths: list[int | None]
    ) -> list[Any]:
        """Return the complexities to try, in falling order."""
        if not _is_text(self.complexities, "auto"):
            if isinstance(self.complexities, str) or not np.iterable(self.complexities):
                raise ValueError(
                    'complexities must be "auto", numbers such as (0.001, 0.01), or None, got '
                    f"{self.complexities!r}."
                )
            listed: list[Any] = list(self.complexities)
            for one in listed:
                Number(0, text=True)("complexities", one)
            if not listed:
                raise ValueError("complexities is empty; give at least one number.")
            # Fractions that are written as texts become numbers, which curves can show.
            numbers = [
                read_fraction(one, "complexities") if isinstance(one, str) else one
                for one in listed
            ]
            return sorted(numbers, key=float, reverse=True)
        searched = copy.copy(model)
        searched.max_depth = depths[-1]
        plan(searched._what_is_asked(auto_complexities=True))
        request = searched._path_request(data.X, data.y, **data.params)
        assert request is not None
        return _between(find_path(request, state_sum(request)).breakpoints())


def _between(points: Sequence[Any]) -> list[float]:
    """Return one complexity for each tree that is best for some, given where the best changes."""
    if not points:
        return [0.0]
    middle = [math.sqrt(float(low) * float(high)) for low, high in pairwise(points)]
    return [math.nextafter(float(points[-1]), math.inf), *reversed(middle), 0.0]


def _is_text(value: object, text: str) -> bool:
    return isinstance(value, str) and value == text


def _prepared(model: BaseOptimalTree, X: Any, y: Any, params: dict[str, Any], n_rows: int) -> Part:
    """Return all rows in a form that can be divided, after all checks."""
    given = {name: value for name, value in params.items() if value is not None}
    if "sample_weight" in given:
        # As they were given: exact numbers stay exact.
        given["sample_weight"] = read_weights(given["sample_weight"], n_rows).numbers
    for name, value in given.items():
        if not hasattr(value, "__len__") or len(value) != n_rows:
            raise ValueError(f"{name} must have one value for each of the {n_rows} rows.")
    table = X if hasattr(X, "__getitem__") else np.asarray(X)
    if issparse(X):  # some formats have no rows to select
        table = X.tocsr()
    target, kept = model._prepare(table, y, given)
    return Part(table, target, kept)


def _scored(model: BaseOptimalTree, data: Part, scorer: Scorer | None) -> Part:
    """Return all rows with what their scores take."""
    params = dict(data.params)
    if "sample_weight" in params:
        params["sample_weight"] = relative_weights(params["sample_weight"])
    if scorer is None:
        params = model._score_params(data.y, params)
    return Part(data.X, data.y, params)


def _scores(tried: list[Tried], rows: Part, scorer: Scorer | None) -> list[float]:
    """Return the scores of models on rows that they were not fitted to; NaN without a tree."""
    known: dict[int, float] = {}
    # All models read the same rows, which takes longer than to score them.
    table = read_table(rows.X) if scorer is None else rows.X
    for one in tried:
        if id(one.model) in known:
            continue
        score = float("nan")
        if one.has_tree and scorer is None:
            score = one.model._score_part(table, rows.y, **rows.params)
        elif one.has_tree and scorer is not None:
            score = scorer(one.model, table, rows.y, **rows.params)
        known[id(one.model)] = score
    return [known[id(one.model)] for one in tried]
