"""The best trees of all sizes, for several depths, from as few searches as the objective allows."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from certree.engine import SizedTree
from certree.exceptions import OptimalityWarning
from certree.metrics import Metric
from certree.proofs._metric_search import solve_metric_path
from certree.proofs._metric_solves import Found
from certree.results._activity import step
from certree.tree import Tree

from ._certify import solve_path, state_path
from ._classifier import OptimalTreeClassifier
from ._error_statement import state_errors
from ._metric_fit import TrainingRows, in_units, state_metric
from ._objective import read_metric


@dataclass(frozen=True)
class TreesOfSizes:
    """The best trees within a depth, by rising number of splits."""

    depth: int
    status: str
    trees: tuple[tuple[int, Tree], ...]

    def best(self, max_splits: int) -> Tree:
        """Return the best tree with at most so many splits."""
        return [tree for splits, tree in self.trees if splits <= max_splits][-1]


def trees_of_all_sizes(
    model: OptimalTreeClassifier, rows: TrainingRows, depths: Sequence[int]
) -> list[TreesOfSizes]:
    """Return for each depth the best trees of all sizes within the model's other limits.

    One search per depth, on a table that is encoded once; an area under the ROC curve takes one
    search per size. The trees of one depth are known to the search of the next, so that no depth is
    worse than a smaller one, wherever searches are stopped.
    """
    metric = read_metric(model.objective)
    if metric is None:
        return list(_by_errors(model, rows, depths))
    model._refuse_with_metric(metric, None, path=False)
    if metric.kind == "front":
        raise ValueError("A front has no score to choose a size by; give a metric.")
    if metric.kind == "chain":
        return [_one_by_one(model, rows, depth) for depth in depths]
    return list(_by_metric(model, metric, rows, depths))


def _by_errors(
    model: OptimalTreeClassifier, rows: TrainingRows, depths: Sequence[int]
) -> Iterator[TreesOfSizes]:
    statement = state_errors(model, rows.X, rows.y, rows.sample_weight, model.objective)
    known: list[SizedTree] = []
    for number, depth in enumerate(depths):
        model.max_depth = depth
        with step(f"depth {depth}"):
            result = solve_path(model, statement, share=1 / (len(depths) - number), known=known)
        known = result.entries
        path = state_path(model, statement, result)
        yield TreesOfSizes(depth, path.status, tuple((entry.splits, entry.tree) for entry in path))


def _by_metric(
    model: OptimalTreeClassifier, metric: Metric, rows: TrainingRows, depths: Sequence[int]
) -> Iterator[TreesOfSizes]:
    statement, _ = state_metric(model, metric.name, rows)
    known: list[Found] = []
    for number, depth in enumerate(depths):
        model.max_depth = depth
        with step(f"depth {depth}"):
            path = solve_metric_path(
                statement.problem,
                in_units(metric, statement.unit),
                model._engine_options(1 / (len(depths) - number)),
                known=known,
            )
        known = [entry.tree for entry in path.entries]
        trees = []
        for entry in path.entries:
            nodes = statement.with_class_labels(entry.tree.nodes)
            trees.append((nodes.n_splits, statement.grow(nodes)))
        yield TreesOfSizes(depth, path.status, tuple(trees))


def _one_by_one(model: OptimalTreeClassifier, rows: TrainingRows, depth: int) -> TreesOfSizes:
    most = 2**depth - 1 if model.max_splits is None else min(2**depth - 1, int(model.max_splits))
    trees: list[tuple[int, Tree]] = []
    status = "optimal"
    for size in range(most + 1):
        one = copy.copy(model)
        one.max_depth, one.max_splits = depth, size
        with warnings.catch_warnings(), step(f"depth {depth}, {size} of {most} splits"):
            warnings.simplefilter("ignore", OptimalityWarning)
            one.fit(rows.X, rows.y, rows.sample_weight)
        if one.certificate_.status != "optimal":
            status = one.certificate_.status
        trees.append((size, one.tree_))
    return TreesOfSizes(depth, status, tuple(trees))
