"""What trees for a task share: the integers of the search, the solve, the tree, the certificate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree._version import __version__
from certree.engine import _vector
from certree.exceptions import InfeasibleError, warn
from certree.numbers._exact import (
    ScaledWeights,
    check_weights,
    cost_budget,
    read_fraction,
    scale_weights,
)
from certree.numbers._fractions import shown
from certree.numbers._weights import read_weights, scale_given
from certree.results._certificate import exact
from certree.results._limit_certificate import NoTreeCertificate
from certree.results._path import PathEntry, RegularizationPath
from certree.results._progress import Callback, Observer
from certree.results._task_certificate import TaskCertificate
from certree.tasks._limited import Limited
from certree.tasks._task import LeafProblem, Rows, Task
from certree.tree import Tree

from ._certify import count_tests
from ._limited_fit import fit_within
from ._measurements import Measurements
from ._optimal_tree import SHARE_BEFORE_PATH, BaseOptimalTree
from ._task_setting import (
    Setting,
    Stated,
    TaskObjective,
    hides_much,
    node_counts,
    node_notes,
    node_sums,
    units_paid,
)

# Share of the integer range kept free for the denominator of the complexity.
_RESERVED = 2**10

# Weights by which rows pay for tests, where they are rounded.
_STEPS = 2**20


class BaseTaskTree(BaseOptimalTree):
    """Base of the estimators whose leaves cost what a sum over their rows says."""

    splits = "binary"

    certificate_: TaskCertificate
    complexity_per: str
    gap: float

    test_costs: Any = None

    @abstractmethod
    def _task(
        self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None
    ) -> Task | Limited:
        """Return what is minimised, for what a user passes to `fit` or `verify`."""

    def _check_size_limits(self, path: bool = False) -> None:
        """Warn if nothing limits the size of the tree and that makes the search endless."""
        if self.max_depth is not None or self.max_splits is not None:
            return
        if path:
            raise ValueError(
                "The path needs max_depth or max_splits: without either it would go on until every "
                "row has a leaf of its own."
            )
        if int(self.min_samples_leaf) > 1 and _complexity(self.complexity) == 0:
            warn(
                "Nothing limits the size of the tree: max_depth and max_splits are None, and "
                "complexity is 0. The search may well end at time_limit or memory_limit; set a "
                "complexity or a limit.",
                UserWarning,
            )

    def _set_up(self, task: Task, X: Any, y: Any, sample_weight: Any) -> Setting:
        """Encode the table and turn the task into integers."""
        start = perf_counter()
        n_rows = self._row_count(X)
        weights = self._weights(n_rows, sample_weight)
        kept = None if weights.values.all() else np.flatnonzero(weights.values)
        columns = self._encode(X, None if sample_weight is None else weights.values, kept)
        stated = self._state_task(task, y, n_rows, sample_weight)
        return Setting(
            task.name,
            stated.rows,
            columns,
            stated.problem,
            stated.objective,
            stated.rows.given is None,
            stated.measurements,
            perf_counter() - start,
        )

    def _weights(self, n_rows: int, sample_weight: Any) -> ScaledWeights:
        budget = cost_budget(n_rows, self._most_splits(n_rows))
        return scale_weights(sample_weight, n_rows, budget=budget)

    def _state_task(self, task: Task, y: Any, n_rows: int, sample_weight: Any) -> Stated:
        """Return a task in the integers of the search; the encoder knows the columns by now."""
        weights = self._weights(n_rows, sample_weight)
        kept = None if weights.values.all() else np.flatnonzero(weights.values)
        most_splits = self._most_splits(n_rows)
        budget = cost_budget(n_rows, most_splits)
        measurements = None
        if self.test_costs is not None:
            measurements = Measurements.read(
                self.test_costs,
                [test.feature for test in self.encoder_.tests_],
                self.n_features_in_,
                getattr(self, "feature_names_in_", None),
            )
        rows = Rows(
            n_rows,
            kept,
            weights.values if kept is None else weights.values[kept],
            weights.quantum,
            budget // _RESERVED,
            budget,
            most_splits + 1,
            None if measurements is None else measurements.numbers(),
            0.0 if measurements is None else measurements.most_paid(self.max_depth),
            None if weights.is_exact else _given(sample_weight, n_rows, kept),
            sample_weight,
        )
        stated = Stated(rows, *self._state(task, y, rows, most_splits), measurements)
        if measurements is None or sample_weight is None or not stated.problem.rounding:
            return stated
        if rows.given is not None:
            return stated
        # Rows pay for tests by their weight, and prices have fewer digits the more it has.
        rounded = scale_given(read_weights(sample_weight, n_rows), 2**62, _STEPS, exact=False)
        values = rounded.values if kept is None else rounded.values[kept]
        given = _given(sample_weight, n_rows, kept)
        rows = replace(rows, weights=values, quantum=rounded.quantum, given=given)
        other = Stated(rows, *self._state(task, y, rows, most_splits), measurements)
        return min(stated, other, key=lambda one: one.problem.rounding)

    def _most_splits(self, n_rows: int) -> int:
        """Return a number of splits that no tree within the limits exceeds."""
        limits = [int(limit) for limit in (self.max_depth, self.max_splits) if limit is not None]
        depth = min(limits, default=40)
        return min(n_rows, (1 << min(depth, 40)) - 1)

    def _state(
        self, task: Task, y: Any, rows: Rows, most_splits: int
    ) -> tuple[LeafProblem, TaskObjective]:
        """Return the task in integers, and what the search minimises."""
        problem = task.on(y, rows)
        if rows.prices is not None and not hasattr(problem, "prices"):
            raise ValueError(
                f"test_costs need a task with costs per label, but {task!r} is none; leave them "
                "out."
            )
        # The search makes room for a tree with the most splits, which all pay the penalty.
        wanted = _complexity(self.complexity) * problem.complexity_unit / problem.unit
        share = min(wanted / max(problem.largest, 1), Fraction(1))
        room = int(rows.budget / (1 + share * (most_splits + 2)))
        if problem.largest > room:
            smaller = replace(rows, budget=room, most=max(room // _RESERVED, 1))
            problem = task.on(y, smaller)
        return problem, self._task_objective(problem, room)

    def _task_objective(self, problem: LeafProblem, budget: int) -> TaskObjective:
        complexity = _complexity(self.complexity)
        wanted = complexity * problem.complexity_unit
        room = max(budget // max(problem.largest, 1), 1)
        # No split saves more than the largest leaf costs, so a higher penalty is as good as that.
        most = Fraction(problem.largest + 1)
        units = min(wanted / problem.unit, most)
        penalty = units.limit_denominator(room)
        if units > 0 and penalty == 0:
            penalty = Fraction(1, room)
        used = wanted if units == most else penalty * problem.unit
        per_leaf = self.complexity_per == "leaf"
        return TaskObjective(
            error_scale=penalty.denominator,
            split_penalty=penalty.numerator,
            offset=0,
            unit=problem.unit / penalty.denominator,
            constant=problem.constant + (used if per_leaf else 0),
            penalty=used,
            complexity=complexity,
        )

    def _fit_and_report(
        self,
        task: Task | Limited,
        X: Any,
        y: Any,
        sample_weight: Any,
        callback: Callback | None,
        path: bool,
    ) -> None:
        """Solve a task, keep tree and certificate, and warn of what was not proven."""
        if isinstance(task, Limited):
            with self._limits():
                fit_within(self, task, X, y, sample_weight, callback, path=path)
            return
        self._check_size_limits(path)
        with self._limits():
            watch = self._fit_task(task, X, y, sample_weight, callback, path=path)
        self._finish(watch)
        self._warn_about_path(self._path)

    def _fit_task(
        self,
        task: Task,
        X: Any,
        y: Any,
        sample_weight: Any,
        callback: Callback | None = None,
        *,
        path: bool = False,
    ) -> Observer | None:
        """Solve a task, keep tree and certificate, and return what watched the search."""
        setting = self._set_up(task, X, y, sample_weight)
        objective = setting.objective
        gap = min(
            read_fraction(self.gap, "gap") / objective.unit,
            Fraction(setting.problem.largest * objective.error_scale),
        )
        options = replace(
            self._engine_options(SHARE_BEFORE_PATH if path else 1.0),
            error_scale=objective.error_scale,
            split_penalty=objective.split_penalty,
            gap=int(gap),
        )
        watch = self._watch(objective.cost, None, callback)
        result = _vector.solve(setting.engine_problem(), options, watch)
        self._keep(setting, result)
        self._path = self._solve_task_path(setting) if path else None
        return watch

    def _keep(self, setting: Setting, result: engine.Result) -> None:
        """Give the fitted estimator its tree and certificate."""
        leaves = engine.leaves_of_rows(result, setting.columns)
        sums = node_sums(setting, result, leaves)
        self.tree_ = self._task_tree(setting, result, leaves, sums)
        self._node_costs = setting.problem.units(sums).astype(np.float64)
        certificate = self._certify_task(setting, result)
        status = certificate.status
        if status in ("optimal", "gap") and hides_much(setting.problem):
            status = "precision"
        paid = units_paid(setting, result, leaves) * setting.problem.unit
        self.certificate_ = replace(
            certificate,
            status=status,
            leaf_cost=exact(certificate.leaf_cost - paid),
            test_cost=exact(paid),
        )

    def _task_tree(
        self,
        setting: Setting,
        result: engine.Nodes,
        leaves: NDArray[np.intp],
        sums: NDArray[np.int64],
    ) -> Tree:
        problem = setting.problem
        leaf = result.test < 0
        predictions = problem.read(sums, leaves)
        classes = problem.classes()
        if classes is None:
            classes = np.unique(predictions[leaf])
        positions = {value: k for k, value in enumerate(classes.tolist())}
        label = np.full(len(leaf), -1, dtype=np.int32)
        label[leaf] = [positions[value] for value in predictions[leaf].tolist()]
        names = getattr(self, "feature_names_in_", None)
        counts = node_counts(setting, result, leaves, label[leaves], len(classes))
        return Tree.from_arrays(
            self.encoder_.candidates_,
            result.test,
            result.first_child,
            label,
            counts=counts,
            classes=classes,
            feature_names=None if names is None else names.tolist(),
            n_features=self.n_features_in_,
            n_columns=setting.columns.shape[1],
            notes=node_notes(problem, sums, counts, label),
        )

    def _certify_task(self, setting: Setting, result: engine.Result) -> TaskCertificate:
        """Translate a result to the user's terms."""
        objective, problem = setting.objective, setting.problem
        # One bound of two stays from one entry of the history to the next.
        values = {value for *_, u, l in result.history for value in (u, l)}
        costs = {value: exact(objective.cost(value)) for value in values}
        cost = objective.cost(result.upper_bound)
        lower_bound = min(objective.cost(result.lower_bound), cost)
        n_splits = self.tree_.n_splits
        n_paid = n_splits + 1 if self.complexity_per == "leaf" else n_splits
        return TaskCertificate(
            status="optimal" if cost == lower_bound else result.status,
            objective=problem.objective(cost),
            cost=exact(cost),
            lower_bound=exact(lower_bound),
            upper_bound=exact(cost),
            gap=exact(cost - lower_bound),
            leaf_cost=exact(cost - n_paid * objective.penalty),
            n_splits=n_splits,
            depth=self.tree_.depth,
            seconds=setting.seconds + result.seconds,
            counters=dict(result.counters),
            history=tuple(
                (setting.seconds + s, work, costs[u], costs[l]) for s, work, u, l in result.history
            ),
            task=setting.name,
            max_depth=None if self.max_depth is None else int(self.max_depth),
            max_splits=None if self.max_splits is None else int(self.max_splits),
            complexity=exact(objective.complexity),
            complexity_per=self.complexity_per,
            split_penalty=exact(objective.penalty),
            min_samples_leaf=int(self.min_samples_leaf),
            n_rows=len(setting.rows.weights),
            n_row_groups=result.counters.get("row_groups"),
            **count_tests(self.encoder_),
            total_weight=exact(setting.rows.total_weight),
            weight_quantum=None if setting.weights_are_exact else exact(setting.rows.quantum),
            class_weights=None,
            search=self.search,
            version=__version__,
            rounding=exact(problem.rounding),
            unit=exact(objective.unit),
        )

    def _solve_task_path(self, setting: Setting) -> RegularizationPath:
        """Find the best tree for every number of splits."""
        problem = setting.problem
        options = self._engine_options()
        result = _vector.solve_path(setting.engine_problem(), options)
        entries = []
        for entry in result.entries:
            cost = entry.upper_bound * problem.unit + problem.constant
            bound = entry.lower_bound * problem.unit + problem.constant
            leaves = engine.leaves_of_rows(entry, setting.columns)
            tree = self._task_tree(setting, entry, leaves, node_sums(setting, entry, leaves))
            entries.append(
                PathEntry(entry.splits, exact(cost), exact(bound), problem.objective(cost), tree)
            )
        return RegularizationPath(
            entries,
            total_weight=exact(problem.complexity_unit),
            status=result.status,
            max_depth=options.max_depth,
            max_splits=options.max_splits,
            min_samples_leaf=options.min_leaf,
            seconds=setting.seconds + result.seconds,
            counters=result.counters,
            measures=("cost", "objective"),
        )

    def _check_tree(self) -> None:
        super()._check_tree()
        certificate: Any = self.certificate_
        if isinstance(certificate, NoTreeCertificate):
            raise InfeasibleError(certificate)

    @property
    def path_(self) -> RegularizationPath:
        """The best tree for every number of splits, after ``fit(..., path=True)``."""
        path: RegularizationPath | None = getattr(self, "_path", None)
        if path is None:
            raise AttributeError(
                f"{type(self).__name__} has no path_: it is computed on request only, by "
                "fit(..., path=True)."
            )
        return path

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Normalised decrease of the leaf cost by the splits on each column."""
        self._check_tree()
        tree = self.tree_
        result = np.zeros(tree.n_features)
        for node in np.flatnonzero(tree.test >= 0).tolist():
            below = self._node_costs[list(tree.children(node))].sum()
            result[tree.node_test(node).feature] += max(self._node_costs[node] - below, 0.0)
        total = result.sum()
        return result / total if total > 0 else result


def _complexity(value: Any) -> Fraction:
    complexity = read_fraction(value, "complexity")
    if not 0 <= complexity <= 10**200:
        raise ValueError(f"complexity must be at least 0, and at most 1e200, got {shown(value)}.")
    return complexity


def _given(weights: Any, n_rows: int, kept: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Return weights as they were given, of the rows that count."""
    numbers = check_weights(weights, n_rows)
    return numbers if kept is None else numbers[kept]
