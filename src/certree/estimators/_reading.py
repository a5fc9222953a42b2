"""Reading tables and predicting by a fitted tree: methods that estimators share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from certree.encoding import Reduced, TableEncoder, compare_columns, read_table
from certree.encoding._named import read_outputs
from certree.encoding._texts import as_array
from certree.files import model_to_json, register_estimator, write_whole
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.request import Request
from certree.results._path import RegularizationPath
from certree.results._progress import Callback
from certree.tree import Tree

from ._explaining import explain
from ._notebook import model_html
from ._sklearn_bases import BaseEstimator, ClassifierMixin
from ._states import from_state, to_state
from ._suggestions import advise
from ._vocabulary import TableParameters, fitted, with_parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


class ReadsTables(BaseEstimator):
    """Takes raw tables, with categories, missing values and sparse ones, and can be saved."""

    def __init_subclass__(cls, **parameters: Any) -> None:
        super().__init_subclass__(**parameters)
        register_estimator(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``part__name`` is a parameter of a part, such as an oracle.

        Parameters
        ----------
        **params
            Parameters of this estimator.

        Returns
        -------
        estimator
            This estimator.
        """
        known = self.get_params(deep=False)
        for name in params:
            own = name.partition("__")[0]
            if own not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {own!r}; {advise(own, known)}"
                )
        return super().set_params(**params)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, which :func:`certree.load` reads.

        The file is JSON and holds no training rows, except what the model itself keeps, such as
        ``rewards_`` of a :class:`PolicyTree`. A parameter that JSON cannot hold, such as a
        function, is left out with a warning.

        Parameters
        ----------
        path : str or path
            Where to write; an existing file is replaced once the new one is complete.
        """
        write_whole(path, model_to_json(self))

    @contextmanager
    def _unchanged_if_raised(self) -> Iterator[None]:
        """Keep the attributes as they are if a call raises: no estimator is half fitted."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def __getstate__(self) -> dict[str, Any]:
        return {name: to_state(value) for name, value in super().__getstate__().items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: from_state(value) for name, value in state.items()})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags


@with_parameters
class EncodesTables(TableParameters, ReadsTables):
    """Derives tests from a raw table, and answers them."""

    splits = "binary"

    encoder_: TableEncoder = fitted()
    n_features_in_: int = fitted()
    feature_names_in_: NDArray[Any] = fitted()

    _least_rows: int = fitted()
    """Fewest rows in a leaf, once the rows that count are known."""

    def _take_encoder(self, encoder: TableEncoder, least_rows: int) -> None:
        """Take over the tests that were chosen."""
        self.encoder_, self.n_features_in_ = encoder, encoder.n_features_in_
        self._least_rows = least_rows
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def fit_reduced(
        self, reduced: Reduced, *, callback: Callback | None = None, path: bool = False
    ) -> Self:
        """Find the best tree for the rows of a reduced table.

        The tree, its cost and the proof are those of :meth:`fit` on the table itself, and the
        certificate states the number of its rows.

        Parameters
        ----------
        reduced : Reduced
            What :func:`reduce` made of a table. Tests were chosen there: parameters of this
            estimator that choose tests must be at their defaults, or those of `reduce`.
        callback, path
            As for :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        if not isinstance(reduced, Reduced):
            raise TypeError(
                f"fit_reduced learns from what certree.reduce returns, got "
                f"{type(reduced).__name__}; call fit for a table in memory."
            )
        defaults = {one.name: one.default for one in fields(cast(Any, TableParameters))}
        for name, asked in {**reduced.asked, "splits": "binary"}.items():
            value, default = getattr(self, name), defaults.get(name, "binary")
            if not any(type(value) is type(one) and value == one for one in (asked, default)):
                raise ValueError(
                    f"{name}={value!r} cannot be asked of a table that was reduced with {asked!r}: "
                    "its questions are chosen. Leave it at its default"
                    + (f", or call reduce(..., {name}={value!r})." if name in defaults else ".")
                )
        more: dict[str, Any] = {"path": True} if path else {}
        if path and "path" not in signature(cast(Any, self).fit).parameters:
            raise TypeError(f"{type(self).__name__} has no path of sizes; leave out path=True.")
        self._fit_groups(reduced, callback=callback, **more)
        return self

    _needs_rows: ClassVar[str] = "it needs single rows"

    def _fit_groups(self, reduced: Reduced, **more: Any) -> None:
        """Fit to groups of rows; each estimator that can says how."""
        raise TypeError(
            f"{type(self).__name__} does not learn from reduced tables: {self._needs_rows}. Call "
            "fit with rows."
        )


def labels_of(model: Any, reduced: Reduced) -> NDArray[Any]:
    """Return the classes of the groups of a reduced table."""
    labels = reduced.target
    if labels is not None:
        return labels
    named = "no target" if reduced.target_name is None else f"sums of {reduced.target_name!r}"
    raise ValueError(
        f"{type(model).__name__} needs classes, but the reduced table has {named}; call "
        "reduce(..., target=..., target_kind='classes')."
    )


class PredictsByTree(ReadsTables):
    """Predicts what the leaves of ``tree_`` say."""

    if TYPE_CHECKING:

        @property
        def tree_(self) -> Tree:
            """The fitted tree."""
            ...

    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the leaf of each row predicts.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_outputs)
            Labels from ``classes_``, treatments from ``treatments_``, lines of
            ``cluster_centers_``, or numbers: means, quantiles, what a linear model says.
        """
        predicted: NDArray[Any] = self._read(X, "predict")
        return predicted

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of int, shape (n_rows,)
            Number of the leaf in ``tree_``.
        """
        leaves: NDArray[np.intp] = self._read(X, "apply")
        return leaves

    def decision_path(self, X: Any) -> Any:
        """Return which nodes each row passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            CSR; one where a row passes a node.
        """
        return self._read(X, "decision_path")

    def get_depth(self) -> int:
        """Return the depth of the tree: the most tests on a path; 0 for a single leaf."""
        self._check_tree()
        return int(self.tree_.depth)

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree."""
        self._check_tree()
        return int(self.tree_.n_leaves)

    def explain(self, X: Any, *, target: Any = None) -> Any:
        """Say why rows get their predictions, and what it would take to get another one.

        Parameters
        ----------
        X : table of shape (n_rows, n_features), mapping or Series
            Raw rows, with the columns seen in `fit`; one row may be a mapping from columns to
            values, or a row of a data frame.
        target : object, optional
            Only changes that lead to this prediction; by default those to every other one.

        Returns
        -------
        Explanation or Explanations
            The tests on the way with the values of the row, the training rows of the leaf, and for
            other predictions the fewest columns that have to change. For several rows, a sequence
            with one for each.
        """
        self._check_tree()
        return explain(self, X, target)

    def to_text(
        self,
        max_depth: int | None = None,
        decimals: int | None = None,
        show_counts: bool = True,
    ) -> str:
        """Return the tree as indented text; the parameters are those of :meth:`Tree.to_text`."""
        self._check_tree()
        return self.tree_.to_text(max_depth, decimals, show_counts)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the tree with matplotlib and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure of the right size.
        **options
            As for :meth:`Tree.plot`.
        """
        self._check_tree()
        return self.tree_.plot(ax, **options)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Normalised decrease of the Gini impurity by the splits on each column."""
        self._check_tree()
        return self.tree_.feature_importances

    def _repr_html_inner(self) -> str:
        # scikit-learn's property `_repr_html_` asks this, if its configuration wants HTML.
        if _is_certified(self):
            return model_html(self)
        return super()._repr_html_inner()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**options)
        if "text/html" in bundle and _is_certified(self):
            bundle["text/html"] = model_html(self)
        return bundle

    def _check_tree(self) -> None:
        """Refuse to go on if there is no fitted tree."""
        check_is_fitted(self)

    def _read(self, X: Any, method: str) -> Any:
        self._check_tree()
        table = read_table(X)
        compare_columns(self, X, table)
        return getattr(self.tree_, method)(table)


def _is_certified(model: Any) -> bool:
    try:
        return model.certificate_ is not None
    except (AttributeError, NotFittedError):
        return False


class PredictsClasses(ClassifierMixin, PredictsByTree):
    """Predicts classes by a tree whose leaves know how often each occurs."""

    if TYPE_CHECKING:

        def _take(self, fitted: Fitted) -> Self:
            """Every estimator has its own."""
            ...

    def _fit_groups(self, reduced: Reduced, **more: Any) -> None:
        labels = labels_of(self, reduced)
        request = Request.of(self, reduced, labels, reduced.weights, reduced=True, **more)
        self._take(fit(request))

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class among the training rows of the leaf that a row reaches.

        Each training row counts with its sample weight. Weights of classes and of the objective do
        not enter: they say what errors cost. So the label of a leaf, the one that costs least, may
        differ from its most frequent class, and may have a share below one half.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Shares of the training rows, by sample weight, in the order of ``classes_``.
            For several outputs, a list with such an array for each.
        """
        return self._read(X, "predict_proba")

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of what `predict_proba` returns; minus infinity for 0.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of shape (n_rows, n_classes)
            In the order of ``classes_``. For several outputs, a list with such an array for each.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [*map(np.log, shares)] if isinstance(shares, list) else np.log(shares)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose prediction is right, in all outputs.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Their classes.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        """
        predicted = self.predict(X)
        if predicted.ndim == 1:
            return float(super().score(X, as_array(y), sample_weight))
        given = read_outputs(y, len(predicted))
        if given is None or given.shape != predicted.shape:
            raise ValueError(
                f"y must have {predicted.shape[1]} columns, one for each output of the model, got "
                f"shape {np.shape(y)}."
            )
        right = (np.asarray(given) == predicted).all(axis=1)
        return float(np.average(right, weights=sample_weight))


class KeepsPath:
    """Finds the best tree for every number of splits on request, and keeps it."""

    _path: RegularizationPath | None = None

    @property
    def path_(self) -> RegularizationPath:
        """The best tree for every number of splits, after ``fit(..., path=True)``."""
        if self._path is None:
            raise AttributeError(
                f"{type(self).__name__} has no path_: it is computed on request only, by "
                "fit(..., path=True)."
            )
        return self._path
