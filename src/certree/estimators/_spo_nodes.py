"""Sums over the nodes of a tree that decides: statistics, weights, cost vectors, squared errors."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.numbers._fractions import to_float

from ._greedy import Growth
from ._task_setting import Setting, node_sums


def sums_of_nodes(setting: Setting, nodes: engine.Nodes) -> NDArray[np.int64]:
    """Return the sums of the statistics of the search in every node."""
    return node_sums(setting, nodes, nodes.route(setting.columns))


def value_of_tree(setting: Setting, nodes: engine.Nodes) -> int:
    """Return what the search minimises, for a tree of any origin."""
    leaf = nodes.test < 0
    units = int(setting.problem.units(sums_of_nodes(setting, nodes)[leaf]).sum())
    n_splits = int(np.count_nonzero(~leaf))
    objective = setting.objective
    return objective.error_scale * units + objective.split_penalty * n_splits


def least_units(min_samples_leaf: int, quantum: Fraction) -> int:
    """Return the least weight of a leaf in units of the integer weights; 1 allows all leaves."""
    return 1 if min_samples_leaf == 1 else ceil(min_samples_leaf / quantum)


def moments(costs: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what the squared error of cost vectors is computed from."""
    centred = costs - costs.mean(axis=0)
    table = np.column_stack([np.ones(len(costs)), centred, np.square(centred).sum(axis=1)])
    weighted: NDArray[np.float64] = table * weights[:, None]
    return weighted


def squared_error(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared error of leaves that predict the mean."""
    weight = np.maximum(sums[:, 0], 1e-300)
    error = sums[:, -1] - np.square(sums[:, 1:-1]).sum(axis=1) / weight
    # A rounding error of a leaf without loss counts as zero.
    return np.where(error <= 1e-12 * sums[:, -1], 0.0, error)


def totals_of_nodes(growth: Growth, nodes: engine.Nodes) -> NDArray[np.float64]:
    """Return the sums of the statistics in every node."""
    leaves = nodes.route(growth.columns)
    sums = np.zeros((len(nodes.test), growth.statistics.shape[1]))
    np.add.at(sums, leaves, growth.statistics)
    for node in range(len(nodes.test) - 1, -1, -1):
        if nodes.test[node] >= 0:
            child = int(nodes.first_child[node])
            sums[node] = sums[child] + sums[child + 1]
    return sums


def weights_of_nodes(setting: Setting, nodes: engine.Nodes) -> NDArray[np.float64]:
    """Return the weight of the rows in every node."""
    leaves = nodes.route(setting.columns)
    if setting.rows.given is not None:
        given = np.zeros(len(nodes.test))
        np.add.at(given, leaves, setting.rows.given)
        return nodes.sums(given)
    sums = np.zeros(len(nodes.test), dtype=np.int64)
    np.add.at(sums, leaves, setting.rows.weights)
    units = nodes.sums(sums)
    return np.array([to_float(int(u) * setting.rows.quantum) for u in units])


def mean_costs(
    setting: Setting, nodes: engine.Nodes, costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weighted mean of the cost vectors in every node."""
    leaves = nodes.route(setting.columns)
    given = setting.rows.given
    weights = setting.rows.weights.astype(np.float64) if given is None else given / given.max()
    growth_sums = np.zeros((len(nodes.test), costs.shape[1] + 1))
    np.add.at(growth_sums, leaves, np.column_stack([costs * weights[:, None], weights]))
    for node in range(len(nodes.test) - 1, -1, -1):
        if nodes.test[node] >= 0:
            child = int(nodes.first_child[node])
            growth_sums[node] = growth_sums[child] + growth_sums[child + 1]
    means: NDArray[np.float64] = growth_sums[:, :-1] / growth_sums[:, -1:]
    return means
