"""The tree that decides: exact or greedy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from certree import engine
from certree.estimators._parameters import Number, OneOf, WholeNumber
from certree.estimators._task_tree import BaseTaskTree
from certree.estimators._vocabulary import fitted, fixed, parameter, with_parameters
from certree.fitting.asked import DECISIONS, Objective
from certree.fitting.budgets import open_call
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.plan import plan
from certree.fitting.read import count_rows
from certree.fitting.request import Request
from certree.oracles import Oracle
from certree.results._certificate import exact
from certree.results._progress import Callback
from certree.tasks._task import Task

from . import _greedy
from ._fit_greedy import DecisionGoal, GrownNodes
from ._spo_base import DecisionMixin
from ._spo_nodes import DecidedNodes, DecisionStatement, decision_tree
from ._spo_problem import SPOLoss, read_costs, read_target, read_weights

METHODS = ("exact", "greedy")
CRITERIA = ("spo", "squared_error")
RULES = ("one_se", "best")


def check_method(name: str, value: object) -> None:
    """Refuse unknown methods. Old model files hold "milp", which a law refuses at `fit`."""
    if value != "milp":
        OneOf(METHODS)(name, value)


@with_parameters
class SPOTree(DecisionMixin, BaseTaskTree):
    r"""A tree that decides: it minimises the cost of the decisions that follow its predictions.

    Each leaf predicts the mean cost vector of its rows and takes the decision that the oracle
    finds best for it. Among all trees within the limits it minimises, on the training rows, the
    mean SPO loss plus a penalty,

    .. math:: \frac{1}{\sum_i w_i} \sum_i w_i \bigl(c_i^\top d(x_i) - z^*(c_i)\bigr)
              + \text{complexity} \cdot \text{splits},

    where :math:`d(x)` is the decision of the leaf and :math:`z^*(c)` the value of the best one.

    Parameters
    ----------
    oracle : oracle, array, callable or None, default=None
        Which decisions are feasible, see :mod:`certree.oracles`; or an array of decisions, one per
        line; or a function from cost vectors to decisions; or a model in the manner of PyEPO.
        None: exactly one of the columns of C is chosen.
    method : {"exact", "greedy"}, default="exact"
        "exact": the best tree, with a proof. "greedy": recursive partitioning, one split at a
        time.
    max_depth, max_splits, max_leaf_nodes, complexity_per
        As for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf), in units of the mean loss.
    min_samples_leaf : int or float, default=1
        Least weight of the rows in a leaf; without sample weights, their number. With 1 every leaf
        that has rows is allowed, also if they weigh less. A share, such as 0.05, is of all weight,
        rounded up.
    criterion : {"spo", "squared_error"}, default="spo"
        What the greedy method minimises: the SPO loss, or, like CART, the squared error of the
        predicted costs.
    validation_fraction : float or None, default=None
        Greedy only: share of the rows to be held out, on which the tree is pruned; see
        :meth:`prune`.
    pruning : {"one_se", "best"}, default="one_se"
        Which of the pruned trees is kept by its loss on the rows held out: the smallest one within
        one standard error of the least loss, or the smallest of those with the least.
    max_listed : int, default=1000
        Oracles with at most so many decisions are turned into a list of these, which the search
        handles fastest; others are asked during the search. A given list is always used.
    categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit, n_jobs, verbose
        As for :class:`OptimalTreeClassifier`. Searches that ask an oracle use one thread.
    gap : float, fraction or str, default=0.0
        Accept a tree whose total loss is proven to be within this of the least.
    random_state : int, RandomState or None, default=None
        Draws the rows that are held out.

    Attributes
    ----------
    tree_ : Tree
        The tree; its leaves hold decisions, and its text and pictures show what these are called.
    certificate_ : TaskCertificate
        What is proven about it: ``cost`` is the total loss plus the penalty; ``counters`` say how
        often the oracle was asked.
    costs_, decisions_ : array of shape (n_nodes, n_costs)
        Mean cost vector and best decision of every node.
    oracle_ : Oracle
        The oracle.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of the loss saved.

    See Also
    --------
    SPOForest : Many greedy trees whose predictions are averaged.

    Notes
    -----
    If several decisions are best for the rows of a leaf, the first that the oracle returns is
    taken; all have the same training loss, and `cost` counts it. The paper's definition of the
    loss instead takes, row by row, the worst of the decisions that are best for the predicted cost
    vector, which is what :meth:`loss` reports. Both are the same where leaves have a single best
    decision.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import SPOTree, datasets, oracles
    >>> roads = datasets.make_two_roads(200, random_state=0)
    >>> oracle = oracles.Decisions([[1, 0], [0, 1]], names=["road 1", "road 2"])
    >>> model = SPOTree(oracle, max_depth=1, thresholds="all").fit(roads.X, roads.C)
    >>> model.certificate_.cost, model.decide([[0.1], [0.9]]).tolist()
    (0, [[0.0, 1.0], [1.0, 0.0]])
    """

    _needs_rows: ClassVar[str] = "the oracle decides for the costs of every row"

    oracle: Any = parameter(default=None, kw_only=False)
    method: Literal["exact", "greedy"] = parameter(
        default="exact", check=check_method, kw_only=False
    )
    criterion: Literal["spo", "squared_error"] = parameter(default="spo", check=OneOf(CRITERIA))
    validation_fraction: float | None = parameter(
        default=None, check=Number(0, maximum=0.999, minimum_allowed=False, none="no pruning")
    )
    pruning: Literal["one_se", "best"] = parameter(default="one_se", check=OneOf(RULES))
    max_listed: int = parameter(default=1000, check=WholeNumber(0))
    random_state: Any = None
    executor: Any = fixed(default=None)

    costs_: NDArray[np.float64] = fitted()
    decisions_: NDArray[np.float64] = fitted()
    oracle_: Oracle = fitted()
    _is_flat: bool = fitted()
    _asks: bool = fitted()
    _least_weight: int = fitted()
    _decided: DecidedNodes = fitted()
    _grown_costs: NDArray[Any] = fitted()
    _loss_unit: Fraction = fitted()

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        callback: Callback | None = None,
        path: bool = False,
    ) -> SPOTree:
        """Learn a tree from rows and their cost vectors.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for :class:`OptimalTreeClassifier`.
        y : array-like of shape (n_rows, n_costs)
            Observed cost vectors, C elsewhere; rewards, if the oracle maximises.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows; a row of weight two is two rows. Rows of weight zero are left out.
        callback, path
            Exact only: as for :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        SPOTree
            The fitted estimator itself.
        """
        request = Request.of(self, X, y, sample_weight, callback=callback, path=path)
        if self.validation_fraction is not None:
            return self._fit_and_prune(request, y)
        return self._take(fit(request))

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        has_penalty = self.complexity != 0
        return SPOLoss(y, self.oracle, int(self.max_listed), has_penalty)

    def _what_is_optimised(self) -> Objective:
        return Objective(DECISIONS, "spo")

    def _goal(
        self, X: Any, y: Any, sample_weight: Any, costs: Any = None, **call: Any
    ) -> DecisionGoal:
        n_rows = count_rows(X)
        vectors, is_flat = read_target(y, n_rows, type(self).__name__)
        return DecisionGoal(
            y=None,
            task=self._task(vectors, n_rows),
            kind=DecisionStatement,
            is_searched=self.method == "exact",
            weights_are_rows=True,
            criterion=self.criterion,
            is_flat=is_flat,
        )

    def _take(self, fitted: Fitted) -> SPOTree:
        super()._take(fitted)
        goal, statement = fitted.goal, fitted.statement
        assert isinstance(goal, DecisionGoal)
        assert isinstance(statement, DecisionStatement)
        self._is_flat = goal.is_flat
        self.oracle_, self._loss_unit = statement.problem.oracle, statement.problem.unit
        self._asks, self._least_weight = not statement.may_share, statement.least_weight
        decided = fitted.details
        if isinstance(decided, GrownNodes):
            self._grown_costs, decided = decided.costs, decided.decided
        self._keep_decided(decided)
        return self

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        read_target(y, count_rows(X), type(self).__name__)
        return y, params

    def _measure_name(self) -> str:
        return "negative extra cost"

    # ---- pruning -----------------------------------------------------------------------------

    def _fit_and_prune(self, whole: Request, y: Any) -> SPOTree:
        """Grow on some rows, and prune on the others."""
        X, n_rows = whole.X, whole.n_rows
        costs, is_flat = read_target(y, n_rows, whole.by)
        n_held = round(float(self.validation_fraction or 0.0) * n_rows)
        if not 0 < n_held < n_rows:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {n_rows} rows leaves no rows "
                "to grow on, or none to prune on."
            )
        order = check_random_state(self.random_state).permutation(n_rows)
        held, used = np.sort(order[:n_held]), np.sort(order[n_held:])
        weights = None if whole.sample_weight is None else np.asarray(whole.sample_weight)
        parts = [None if weights is None else weights[rows] for rows in (used, held)]
        grown_on = costs[used, 0] if is_flat else costs[used]
        with self._unchanged_if_raised(), open_call(whole.by, whole.budget):
            request = Request.of(self, _safe_indexing(X, used), grown_on, parts[0])
            self._take(fit(request))
            return self.prune(_safe_indexing(X, held), costs[held], parts[1], rule=self.pruning)

    def prune(
        self,
        X: Any,
        C: Any,
        sample_weight: Any = None,
        *,
        rule: Literal["one_se", "best"] = "one_se",
    ) -> SPOTree:
        """Prune a greedy tree on rows that it was not grown on.

        Weakest-link pruning removes, step by step, the splits that save least on the training
        rows. One of the resulting nested trees is kept, by its loss on the given rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        C : array-like of shape (n_rows, n_costs)
            Their cost vectors.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        rule : {"one_se", "best"}, default="one_se"
            Keep the smallest tree whose loss is within one standard error of the least, or the
            smallest of those with the least.

        Returns
        -------
        SPOTree
            The estimator itself, with the smaller tree.
        """
        OneOf(RULES)("rule", rule)
        plan(self._what_is_asked(prune=True))
        leaves = self.apply(X)
        costs = read_costs(C, len(leaves))
        weights = read_weights(sample_weight, len(leaves))
        nodes = self._decided.nodes
        trees = _greedy.weakest_links(nodes, self._grown_costs)
        losses = np.stack([self._row_losses(is_leaf, leaves, costs) for is_leaf in trees])
        kept = trees[_greedy.choose_tree(losses, weights, rule)]
        self._shorten(*nodes.cut(kept))
        return self

    def _row_losses(
        self, is_leaf: NDArray[np.bool_], leaves: NDArray[np.intp], costs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what each row loses if the marked nodes are leaves."""
        parent = self.tree_.parent
        stop = np.arange(len(parent))
        for node in range(len(parent)):
            # Parents come first, so they know already where their rows stop.
            above = int(parent[node])
            if above >= 0 and (is_leaf[above] or stop[above] != above):
                stop[node] = stop[above]
        at = stop[leaves]
        if self.criterion == "squared_error":
            return np.asarray(np.square(costs - self.costs_[at]).sum(axis=1))
        sign = 1.0 if self.oracle_.sense == "min" else -1.0
        best = self.oracle_.solve(costs).values
        return np.asarray(sign * (np.einsum("ij,ij->i", costs, self.decisions_[at]) - best))

    def _shorten(self, nodes: engine.Nodes, origin: NDArray[np.intp]) -> None:
        """Replace the tree by one that ends earlier, and its certificate."""
        self._grown_costs = self._grown_costs[origin]
        self._keep_decided(self._decided.take(nodes, origin))
        self.tree_ = decision_tree(self._decided, self.encoder_, self.oracle_, self._loss_unit)
        old = self.certificate_
        n_splits = nodes.n_splits
        loss = self._decided.loss * self._loss_unit
        n_paid = n_splits + 1 if self.complexity_per == "leaf" else n_splits
        cost = loss + n_paid * Fraction(old.split_penalty)
        self.certificate_ = replace(
            old,
            status="optimal" if cost == old.lower_bound else "greedy",
            objective=float(cost / Fraction(old.total_weight)),
            cost=exact(cost),
            upper_bound=exact(cost),
            gap=exact(cost - old.lower_bound),
            leaf_cost=exact(loss),
            n_splits=n_splits,
            depth=self.tree_.depth,
            history=(),
        )

    def _keep_decided(self, decided: DecidedNodes) -> None:
        self._decided = decided
        self.costs_, self.decisions_ = decided.costs, decided.decisions
        self._node_costs = decided.units.astype(np.float64)

    # ---- reading the fitted tree -------------------------------------------------------------

    def _costs_of(self, X: Any) -> NDArray[np.float64]:
        leaves = self.apply(X)
        costs: NDArray[np.float64] = self.costs_[leaves]
        return costs

    def _decisions_of(self, X: Any) -> NDArray[np.float64]:
        leaves = self.apply(X)
        decisions: NDArray[np.float64] = self.decisions_[leaves]
        return decisions

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
