"""How far a tree of any origin is from the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from certree.encoding import read_table
from certree.encoding._classes import check_labels, encode_labels
from certree.fitting.fit import find
from certree.fitting.known_tree import read_tree
from certree.fitting.objectives import read_metric
from certree.fitting.prove_metric import in_units
from certree.fitting.read import least_rows
from certree.fitting.request import Request, Start
from certree.fitting.state_binary import BinaryStatement
from certree.fitting.state_errors import ErrorStatement
from certree.fitting.state_task import TaskStatement
from certree.leaves.numbers.estimator import OptimalTreeRegressor
from certree.numbers._fractions import is_whole
from certree.results._card import card, facts_table, folded, sentence
from certree.results._certificate import Certificate, Exact, exact, show
from certree.results._rounding import nearest
from certree.tree import Tree

from ._classifier import OptimalTreeClassifier
from ._given_tree import predicts_numbers, unwrap
from ._regression_gap import (
    cost_of,
    read_numbers_tree,
    refuse_settings_of_classes,
)
from ._settings import GapSettings, takes

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, repr=False)
class OptimalityGap:
    """How far a tree is from the best; made by :func:`optimality_gap`.

    Costs are weighted errors plus penalty, as exact numbers; for a metric, one minus it; for
    regression trees, squared or absolute errors plus penalty.

    Attributes
    ----------
    cost : int or Fraction
        Cost of the tree in question, with its own splits, and its own labels or values.
    lower_bound : int or Fraction
        No tree within the limits costs less.
    upper_bound : int or Fraction
        Cost of the best tree found.
    gap : int or Fraction
        ``cost - lower_bound``: no tree is better by more than this. Less than zero only if the
        tree in question breaks the limits.
    improvement : int or Fraction
        ``cost - upper_bound``: the best tree found is better by this much.
    total_weight : int or Fraction
        Weight of all rows, in which the costs can be read as shares.
    tree : Tree
        The tree in question, as a tree of certree.
    best_tree : Tree
        The best tree found; at least as good as the tree in question if that keeps the limits.
    certificate : Certificate
        What is proven about `best_tree`.
    keeps_limits : bool
        Whether the tree in question is itself within the limits.
    model : OptimalTreeClassifier or OptimalTreeRegressor
        The estimator that has found `best_tree`, with the parameters of the search.
    """

    cost: Exact
    lower_bound: Exact
    upper_bound: Exact
    gap: Exact
    improvement: Exact
    total_weight: Exact
    tree: Tree
    best_tree: Tree
    certificate: Certificate
    keeps_limits: bool
    model: OptimalTreeClassifier | OptimalTreeRegressor = field(compare=False)

    @property
    def is_optimal(self) -> bool:
        """Whether the tree in question is proven to be as good as any."""
        return self.gap <= 0

    @property
    def better_tree(self) -> Tree | None:
        """The best tree found, if it is better than the tree in question."""
        return self.best_tree if self.improvement > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; exact numbers that are not whole become text such as "7/3"."""
        names = ("cost", "lower_bound", "upper_bound", "gap", "improvement", "total_weight")
        exact_values = {name: getattr(self, name) for name in names}
        return {
            **{k: str(v) if isinstance(v, Fraction) else v for k, v in exact_values.items()},
            "keeps_limits": self.keeps_limits,
            "tree": self.tree.to_dict(),
            "best_tree": self.best_tree.to_dict(),
            "certificate": self.certificate.to_dict(),
        }

    def __repr__(self) -> str:
        found = "none" if self.gap <= 0 else f"at most {show(self.gap)}"
        return f"<OptimalityGap: {found}, cost {show(self.cost)}>"

    def __str__(self) -> str:
        whole = f" {self.certificate.of_all()}"
        text = f"The tree costs {show(self.cost)}{self._share(self.cost, whole)}"
        if self.is_optimal:
            return f"{text}, and no tree within the limits costs less."
        if self.certificate._proves_nothing and not self.certificate.is_optimal:
            text += ". Nothing is proven yet"
        else:
            text += (
                f". No tree within the limits costs less than {show(self.lower_bound)}, so it is "
                f"at most {show(self.gap)}{self._share(self.gap)} from the best"
            )
        if self.improvement > 0:
            proven = ", which is proven best" if self.certificate.is_optimal else ""
            text += f"; a tree that costs {show(self.upper_bound)} was found{proven}"
        return text + "."

    def _repr_html_(self) -> str:
        facts = [
            ("cost of this tree", show(self.cost)),
            ("best tree found", f"{show(self.upper_bound)} ({self.certificate.summary()})"),
            ("lower bound", show(self.lower_bound)),
            ("gap", show(self.gap)),
        ]
        if not self.keeps_limits:
            facts.append(("limits", "this tree breaks them"))
        better = self.better_tree
        return card(
            "Optimality gap: " + ("none" if self.is_optimal else f"at most {show(self.gap)}"),
            sentence(str(self)),
            facts_table(facts),
            "" if better is None else folded("The better tree", better.to_html(interactive=False)),
        )

    def _share(self, cost: Exact, of: str = "") -> str:
        if not self.certificate.counts_errors:
            return ""
        return f" ({float(cost / Fraction(self.total_weight)):.2%}{of})"


@takes(GapSettings, OptimalTreeClassifier)
def optimality_gap(
    tree: Any,
    X: Any,
    y: Any,
    *,
    max_depth: int | Literal["same"] | None = "same",
    max_splits: int | Literal["same"] | None = "same",
    sample_weight: Any = None,
    **settings: Unpack[GapSettings],
) -> OptimalityGap:
    """Return how far a tree is from the best one on some rows.

    By default it is compared with all trees that have at most its depth and its number of splits.
    The tests are those that :class:`TableEncoder` derives from the columns, and the tree's own.

    Parameters
    ----------
    tree : Tree, estimator, pipeline or search
        The tree in question: one of certree, a fitted estimator of certree, or a fitted
        DecisionTreeClassifier or DecisionTreeRegressor of scikit-learn. Also a fitted pipeline that
        ends with one of these, or a fitted search, such as GridSearchCV, whose ``best_estimator_``
        is one.
    X : table of shape (n_rows, n_features)
        The rows, with the columns that the tree was fitted on. For a pipeline, those that it takes;
        the trees are then over the columns that its last step gets.
    y : array-like of shape (n_rows,)
        Class labels; numbers for regression trees.
    max_depth, max_splits : int, "same" or None, default="same"
        Limits on the trees it is compared with; "same": those of the tree in question; None: no
        limit. A tree that breaks the limits may turn out better than all that keep to them.
    complexity, complexity_per, objective, pos_label, min_samples_leaf, class_weight
        What the cost of a tree is, as for :class:`OptimalTreeClassifier`. Regression trees are
        compared by squared errors, or by absolute ones if that was their criterion; `objective`,
        `pos_label`, `class_weight` and `splits` are for classes.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    splits, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit, gap, n_jobs, verbose
        As for :class:`OptimalTreeClassifier`. The bounds are valid also when a budget ends the
        search.

    Returns
    -------
    OptimalityGap
        Costs, bounds, and the best tree found.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from certree import datasets, optimality_gap
    >>> X, y = datasets.load_binary_example(return_X_y=True)
    >>> greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> found = optimality_gap(greedy, X, y)
    >>> found.lower_bound <= found.upper_bound <= found.cost
    True
    """
    given, X = unwrap(tree, X)
    limits = {"max_depth": max_depth, "max_splits": max_splits}
    if predicts_numbers(given):
        return _gap_of_numbers(given, X, y, sample_weight, limits, settings)
    return _gap_of_classes(given, X, y, sample_weight, limits, settings)


def _gap_of_numbers(
    tree: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    limits: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> OptimalityGap:
    """Return how far a regression tree is from the best."""
    refuse_settings_of_classes(settings)
    given, criterion = read_numbers_tree(tree, X)
    model = OptimalTreeRegressor(criterion=criterion, **_limits(limits, given), **settings)
    start = Start(given, must_keep_limits=False)
    fitted = find(Request.of(model, X, y, sample_weight, start=start))
    model._take(fitted)
    assert isinstance(fitted.statement, TaskStatement)
    cost = cost_of(given, model, fitted.statement, X, y)
    return _compared(given, model, cost, X, sample_weight)


def _gap_of_classes(
    tree: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    limits: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> OptimalityGap:
    """Return how far a tree that predicts classes is from the best."""
    table = read_table(X)
    classes, _ = encode_labels(check_labels(y, table.n_rows, "optimality_gap"))
    given = read_tree(tree, table, classes)
    model = OptimalTreeClassifier(**_limits(limits, given), **settings)
    start = Start(given, must_keep_limits=False)
    fitted = find(Request.of(model, X, y, sample_weight, start=start, optimality_gap=True))
    model._take(fitted)
    assert isinstance(fitted.statement, ErrorStatement)
    return _compared(given, model, _cost(given, model, fitted.statement, X), X, sample_weight)


def _compared(
    tree: Tree,
    model: OptimalTreeClassifier | OptimalTreeRegressor,
    cost: Exact,
    X: Any,
    sample_weight: Any,
) -> OptimalityGap:
    """Return how far a tree of this cost is from what a model has found and proven."""
    certificate = model.certificate_
    return OptimalityGap(
        cost=exact(cost),
        lower_bound=certificate.lower_bound,
        upper_bound=certificate.upper_bound,
        gap=exact(cost - certificate.lower_bound),
        improvement=exact(cost - certificate.upper_bound),
        total_weight=certificate.total_weight,
        tree=tree,
        best_tree=model.tree_,
        certificate=certificate,
        keeps_limits=_keeps_limits(tree, model, X, sample_weight),
        model=model,
    )


def _limits(limits: Mapping[str, Any], tree: Tree) -> dict[str, Any]:
    """Return the limits on the trees that a tree is compared with."""
    own = {"max_depth": tree.depth, "max_splits": tree.n_splits}
    return {name: _limit(name, value, own[name]) for name, value in limits.items()}


def _limit(name: str, value: Any, own: int) -> int | None:
    if value is None or is_whole(value):
        return value
    if isinstance(value, str) and value == "same":
        return own
    raise ValueError(
        f"{name} must be an integer, None (no limit) or 'same' (that of the tree), got {value!r}."
    )


def _cost(tree: Tree, model: OptimalTreeClassifier, statement: ErrorStatement, X: Any) -> Exact:
    """Return the cost of a tree with its own labels, also if y lacks some of them."""
    metric = read_metric(model.objective)
    predicted = tree.predict(X)
    predicted = predicted if statement.rows is None else predicted[statement.rows]
    n_paid = tree.n_splits
    if model.complexity_per == "leaf":
        # Where tests have any number of outcomes, leaves without rows are free.
        n_paid = len(np.unique(tree.apply(X))) if model.splits != "binary" else tree.n_leaves
    penalty = n_paid * Fraction(model.certificate_.split_penalty)
    multipliers = np.array(statement.weights.multipliers, dtype=np.int64)[statement.codes]
    units = statement.row_weights
    weights = multipliers if units is None else multipliers * units
    if metric is None:
        wrong = ~_same(predicted, statement.classes[statement.codes])
        return int(weights[wrong].sum()) * statement.unit + penalty
    assert isinstance(statement, BinaryStatement)
    says = _same(predicted, np.repeat(statement.classes[[statement.positive]], len(predicted)))
    is_positive = statement.row_types == 1
    fp, fn = int(weights[says & ~is_positive].sum()), int(weights[~says & is_positive].sum())
    totals = statement.positives, statement.negatives
    value = in_units(metric, statement.unit).exact(fp, fn, *totals)
    return nearest(1 - value + penalty)


def _same(labels: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    # As lists: NumPy does not compare texts with numbers.
    pairs = zip(labels.tolist(), others.tolist(), strict=True)
    return np.array([label == other for label, other in pairs], dtype=bool)


def _keeps_limits(
    tree: Tree, model: OptimalTreeClassifier | OptimalTreeRegressor, X: Any, sample_weight: Any
) -> bool:
    """Return whether a tree, as it stands, is within the limits."""
    if model.max_depth is not None and tree.depth > model.max_depth:
        return False
    if model._split_limit is not None and tree.n_splits > model._split_limit:
        return False
    leaves = tree.apply(X)
    if sample_weight is not None:
        leaves = leaves[np.broadcast_to(np.asarray(sample_weight) > 0, leaves.shape)]
    sizes = np.bincount(leaves, minlength=tree.n_nodes)[tree.test < 0]
    least = least_rows(model.min_samples_leaf, len(leaves))
    # Leaves without rows do not count: the trees searched have none.
    return tree.n_splits == 0 or int(sizes[sizes > 0].min()) >= least
