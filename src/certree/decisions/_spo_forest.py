"""Forests of greedy SPO trees: averaged cost vectors, then one decision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from certree import engine
from certree.encoding._row_cells import as_columns
from certree.engine._budget import Budget
from certree.engine._workers import leaving_interrupts
from certree.estimators._parameters import OneOf, WholeNumber, check_verbose
from certree.estimators._reading import EncodesTables
from certree.estimators._vocabulary import check_parameters, fitted, parameter, with_parameters
from certree.exceptions import OptimalityWarning, warn
from certree.files import written_by_fields
from certree.fitting.budgets import BudgetRequest, open_call, run_jobs
from certree.fitting.read import TableRequest, count_rows, encode, least_rows, refuse_reduced
from certree.numbers._exact import scale_weights
from certree.numbers._fractions import is_whole
from certree.oracles import Oracle
from certree.tasks._task import Rows

from . import _greedy
from ._spo_base import DecisionMixin
from ._spo_nodes import growth_of, least_units, mean_costs
from ._spo_problem import SPOLoss, SPOProblem, read_target
from ._spo_tree import CRITERIA

_MOST = 2**52


@written_by_fields
@dataclass(frozen=True)
class ForestTree:
    """A tree of a forest: nodes over the columns of its encoder, and their mean cost vectors."""

    nodes: engine.Nodes
    costs: NDArray[np.float64]


@with_parameters
class SPOForest(DecisionMixin, EncodesTables):
    """Many greedy SPO trees, which average their cost vectors and then take one decision.

    Every tree is grown on rows drawn with replacement, and considers only some columns, drawn anew
    for each split.

    Parameters
    ----------
    oracle : oracle, array, callable or None, default=None
        Which decisions are feasible, as for :class:`SPOTree`.
    n_estimators : int, default=100
        Number of trees.
    max_depth : int or None, default=None
        Most questions on a path from the root to a leaf; None: no limit.
    min_samples_leaf : int or float, default=1
        Least weight of the rows in a leaf, counted as often as they were drawn; or a share of the
        weight of all rows.
    max_features : int, float, "sqrt", None or list of these, default="sqrt"
        How many raw columns a split considers: a number, a share, the root of their number, or
        all. If none of those drawn splits the rows, further ones are tried. Of a list, the number
        is used whose trees decide best about the rows that they did not draw.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement; otherwise every tree sees all rows.
    criterion : {"spo", "squared_error"}, default="spo"
        What splits make small.
    max_listed : int, default=1000
        As for :class:`SPOTree`.
    categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    n_jobs : int or None, default=1
        Number of jobs of joblib that grow trees; its backends (such as Dask and Ray) apply. The
        forest does not depend on it.
    verbose : int or "auto", default="auto"
        As for :class:`OptimalTreeClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of all that is drawn.

    Attributes
    ----------
    estimators_ : list of ForestTree
        The trees.
    max_features_ : int
        Number of raw columns that a split considers.
    oracle_ : Oracle
        The oracle.
    encoder_ : TableEncoder
        The questions derived from the columns.
    n_features_in_, feature_names_in_
        As for :class:`OptimalTreeClassifier`.

    See Also
    --------
    SPOTree : A single tree, that can be read and proven best.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import SPOForest, datasets, oracles
    >>> roads = datasets.make_shortest_path(n=100, random_state=0)
    >>> forest = SPOForest(oracles.GridShortestPath(4, 4), n_estimators=5, random_state=0)
    >>> forest.fit(roads.X, roads.C).decide(roads.X).shape
    (100, 24)
    """

    oracle: Any = parameter(default=None, kw_only=False)
    n_estimators: int = parameter(default=100, check=WholeNumber(1))
    max_depth: int | None = parameter(default=None, check=WholeNumber(0, none="no limit"))
    max_features: Any = "sqrt"
    bootstrap: bool = True
    criterion: Literal["spo", "squared_error"] = parameter(default="spo", check=OneOf(CRITERIA))
    max_listed: int = parameter(default=1000, check=WholeNumber(0))
    n_jobs: int | None = 1
    verbose: int | Literal["auto"] = parameter(default="auto", check=check_verbose)
    random_state: Any = None

    estimators_: list[ForestTree] = fitted()
    max_features_: int = fitted()
    oracle_: Oracle = fitted()
    _is_flat: bool = fitted()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SPOForest:
        """Grow the trees.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for :class:`OptimalTreeClassifier`.
        y : array-like of shape (n_rows, n_costs)
            Observed cost vectors, C elsewhere; rewards, if the oracle maximises.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows. Rows are drawn with equal chances, and count with their weight.

        Returns
        -------
        SPOForest
            The fitted estimator itself.
        """
        check_parameters(self)
        n_rows = count_rows(X)
        options = BudgetRequest.of(self)
        with self._unchanged_if_raised(), open_call(type(self).__name__, options) as call:
            with call.nothing_to_return():
                growing = self._set_up(X, y, sample_weight, n_rows)
            self.max_features_, self.estimators_ = self._grow_best(growing, call)
        if len(self.estimators_) < int(self.n_estimators):
            warn(
                f"The forest was interrupted: it has {len(self.estimators_)} of "
                f"{self.n_estimators} trees.",
                OptimalityWarning,
            )
        return self

    def _set_up(self, X: Any, y: Any, sample_weight: Any, n_rows: int) -> _Growing:
        """Encode the table, and ask the oracle what it must know of the rows."""
        costs, self._is_flat = read_target(y, n_rows, type(self).__name__)
        weights = scale_weights(sample_weight, n_rows, budget=2**40)
        kept = None if weights.values.all() else np.flatnonzero(weights.values)
        given = None if sample_weight is None else weights.values
        question = engine.Question(self.max_depth, search="rows")
        refuse_reduced(X)
        encoded = encode(TableRequest.of(self), X, given, question)
        self._take_encoder(encoded.encoder, encoded.least_rows)
        columns = as_columns(encoded.cells)
        values = weights.values if kept is None else weights.values[kept]
        total = weights.quantum * int(values.sum())
        rows = Rows(n_rows, kept, values, weights.quantum, _MOST, _MOST, n_rows)
        problem = SPOLoss(costs, self.oracle, int(self.max_listed)).on(None, rows)
        self.oracle_ = problem.oracle
        return _Growing(
            columns,
            problem,
            values,
            np.array([test.feature for test in self.encoder_.tests_], dtype=np.intp),
            0,
            None if self.max_depth is None else int(self.max_depth),
            least_units(least_rows(self.min_samples_leaf, total), weights.quantum),
            self.criterion,
            bool(self.bootstrap),
        )

    def _grow_best(self, growing: _Growing, call: Budget) -> tuple[int, list[ForestTree]]:
        """Grow the trees for each number of columns; return the best number and its trees."""
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=int(self.n_estimators))
        forests: dict[int, list[ForestTree]] = {}
        for number in self._numbers_drawn():
            forests[number] = self._grow(replace(growing, n_drawn=number), seeds, call)
            if call.is_interrupted:
                break
        if len(forests) == 1:
            return next(iter(forests.items()))
        # A forest that Ctrl-C ended has seen fewer rows, so it is compared with none.
        whole = {k: trees for k, trees in forests.items() if len(trees) == len(seeds)}
        losses = {k: growing.loss_left_out(trees, seeds) for k, trees in whole.items()}
        best = min(losses, key=lambda number: losses[number])
        return best, forests[best]

    def _grow(self, growing: _Growing, seeds: NDArray[np.int64], call: Budget) -> list[ForestTree]:
        """Grow the trees; on Ctrl-C return those that there are, at least one."""
        jobs = (delayed(_grow_in_job)(growing, int(seed)) for seed in seeds)
        return run_jobs(jobs, len(seeds), self.n_jobs, call, "growing trees")

    def _numbers_drawn(self) -> list[int]:
        """Return how many raw columns a split may consider: each number that is to be tried."""
        given = self.max_features
        if not isinstance(given, (list, tuple, range)):
            return [self._n_drawn(given)]
        if not given:
            raise ValueError("max_features is an empty list; give one number of columns or more.")
        numbers = sorted({self._n_drawn(one) for one in given})
        if len(numbers) > 1 and not self.bootstrap:
            raise ValueError(
                f"max_features={given!r} is chosen by the rows that trees did not draw, and with "
                "bootstrap=False they draw all; give one number or set bootstrap=True."
            )
        return numbers

    def _n_drawn(self, given: Any) -> int:
        """Return how many raw columns one setting means."""
        n = int(self.n_features_in_)
        if given is None:
            return n
        if isinstance(given, str) and given == "sqrt":
            return max(1, int(np.sqrt(n)))
        if is_whole(given) and given >= 1:
            return min(int(given), n)
        if isinstance(given, float) and 0 < given <= 1:
            return max(1, int(given * n))
        raise ValueError(
            f"max_features must be a number of columns, a share of them from 0 to 1, 'sqrt', None "
            f"or a list of these, got {given!r}."
        )

    def _costs_of(self, X: Any) -> NDArray[np.float64]:
        columns = self._answers(X)
        total = np.zeros((len(columns), self.oracle_.n_costs))
        for tree in self.estimators_:
            total += tree.costs[tree.nodes.route(columns)]
        return np.asarray(total / len(self.estimators_))

    def _decisions_of(self, X: Any) -> NDArray[np.float64]:
        return self.oracle_.decide(self._costs_of(X))

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of int, shape (n_rows, n_estimators)
        """
        columns = self._answers(X)
        return np.column_stack([tree.nodes.route(columns) for tree in self.estimators_])

    def _answers(self, X: Any) -> NDArray[np.uint8]:
        check_is_fitted(self)
        answers: NDArray[np.uint8] = self.encoder_.transform(X)
        return answers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


@dataclass(frozen=True)
class _Growing:
    """What all trees of a forest are grown from."""

    columns: NDArray[np.uint8]
    problem: SPOProblem
    weights: NDArray[np.int64]
    features: NDArray[np.intp]
    n_drawn: int
    max_depth: int | None
    min_weight: int
    criterion: str
    bootstrap: bool

    def times_drawn(self, random: np.random.Generator) -> NDArray[np.int64]:
        """Draw how often each row is seen by a tree."""
        n_rows = len(self.weights)
        if not self.bootstrap:
            return np.ones(n_rows, dtype=np.int64)
        return np.bincount(random.integers(0, n_rows, n_rows), minlength=n_rows)

    def loss_left_out(self, trees: list[ForestTree], seeds: NDArray[np.int64]) -> float:
        """Return what decisions cost rows if only trees that did not draw a row speak for it."""
        true, oracle = self.problem.true_costs, self.problem.oracle
        total, heard = np.zeros(true.shape), np.zeros(len(true))
        for tree, seed in zip(trees, seeds, strict=True):
            out = np.flatnonzero(self.times_drawn(np.random.default_rng(int(seed))) == 0)
            total[out] += tree.costs[tree.nodes.route(self.columns[out])]
            heard[out] += 1
        rows = np.flatnonzero(heard)
        if not len(rows):
            return 0.0
        decided = oracle.decide(total[rows] / heard[rows, None])
        sign = 1.0 if oracle.sense == "min" else -1.0
        return float(sign * self.weights[rows] @ np.einsum("ij,ij->i", true[rows], decided))


def _grow_in_job(growing: _Growing, seed: int) -> ForestTree:
    """Grow one tree; in a process of its own, Ctrl-C is left to the one that waits for it."""
    with leaving_interrupts():
        return _grow_one(growing, seed)


def _grow_one(growing: _Growing, seed: int) -> ForestTree:
    """Grow one tree on rows and columns that the seed draws."""
    random = np.random.default_rng(seed)
    problem = growing.problem
    times = growing.times_drawn(random)
    growth = growth_of(problem, growing.columns, growing.weights, growing.criterion, times)
    nodes = _greedy.grow(
        growth,
        max_depth=growing.max_depth,
        min_weight=growing.min_weight,
        bagging=_greedy.Bagging(growing.features, growing.n_drawn, random),
    )
    drawn = problem.true_costs[times > 0]
    means = mean_costs(nodes, nodes.route(growth.columns), drawn, growth.weights)
    return ForestTree(nodes, means)
