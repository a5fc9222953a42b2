"""The largest area under the ROC convex hull: the entry point, and the area itself.

A tree scores the rows of a leaf by the leaf's share of positives, so its ROC curve is concave: the
leaves, as vectors (negatives, positives), sorted by falling slope and put end to end. Its area up
to a false positive rate, divided by this rate, is the normalised (partial) AUC. The core minimises

    U = error_scale * loss + split_penalty * (number of splits),
    loss = 2 P N a (1 - normalised area)   for the rate a / b,

where P and N are the weights of all positives and negatives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from math import ceil

import numpy as np

from certree import _core
from certree.tree._nodes import Nodes

from ._alarms import check_bounds, check_value
from ._scalar import Event, Options, Problem, call_core, read_nodes


@dataclass(frozen=True)
class ChainResult:
    """The best tree found and what is proven about it.

    Attributes
    ----------
    status : str
        As for any solve: "optimal", or the limit that was reached.
    area : Fraction
        Normalised (partial) area of the tree, exact.
    value, bound : Fraction
        U of the tree, and a number that no tree's U is below; equal if the status is "optimal".
    loss_unit : Fraction
        What one unit of loss is worth in normalised area.
    nodes : Nodes
        The tree. A leaf's label is 1 if its share of all positives is at least its share of all
        negatives.
    neg, pos : list of int
        Weights of both classes in the leaves.
    """

    status: str
    area: Fraction
    value: Fraction
    bound: Fraction
    loss_unit: Fraction
    nodes: Nodes
    neg: list[int]
    pos: list[int]
    counters: dict[str, int]
    history: list[tuple[float, int, int, int]]
    seconds: float


def roc_chain(neg: Sequence[int], pos: Sequence[int]) -> list[tuple[int, int]]:
    """Vertices of the ROC convex hull of leaves, from (0, 0) to the weights of both classes.

    Parameters
    ----------
    neg, pos : sequence of int
        Weights of negatives and positives in each leaf.

    Returns
    -------
    list of (int, int)
        Weights of negatives and positives in the steepest leaves, the corners only.
    """

    def by_slope(a: tuple[int, int], b: tuple[int, int]) -> int:
        return a[0] * b[1] - a[1] * b[0]

    leaves = [(int(n), int(p)) for n, p in zip(neg, pos, strict=True) if n or p]
    vertices = [(0, 0)]
    last: tuple[int, int] | None = None
    for leaf in sorted(leaves, key=cmp_to_key(by_slope)):
        x, y = vertices[-1]
        if last is not None and by_slope(last, leaf) == 0:
            vertices.pop()
        vertices.append((x + leaf[0], y + leaf[1]))
        last = leaf
    return vertices


def area(neg: Sequence[int], pos: Sequence[int], max_fpr: Fraction | int = 1) -> Fraction:
    """Normalised (partial) area under the ROC convex hull of leaves, exact.

    Parameters
    ----------
    neg, pos : sequence of int
        Weights of negatives and positives in each leaf.
    max_fpr : Fraction
        The area is that up to this false positive rate, divided by it.

    Returns
    -------
    Fraction
        Between 0 and 1.
    """
    vertices = roc_chain(neg, pos)
    negatives, positives = vertices[-1]
    if negatives == 0 or positives == 0:
        raise ValueError("the area under the ROC curve needs positives and negatives")
    end = _check_rate(max_fpr) * negatives
    twice = Fraction(0)
    for (left, low), (right, high) in itertools.pairwise(vertices):
        stop = min(Fraction(right), end)
        if stop <= left:
            continue
        inside = stop - left
        twice += inside * (2 * low + (high - low) * inside / (right - left))
    return twice / (2 * end * positives)


def solve_chain(
    problem: Problem,
    max_fpr: Fraction | int,
    options: Options,
    callback: Callable[[Event], object] | None = None,
) -> ChainResult:
    """Find the tree with the largest (partial) area within the options.

    Parameters
    ----------
    problem : Problem
        Rows of type 1 are positive, of type 0 negative; the cost matrix is not used.
    max_fpr : Fraction
        Above 0 and at most 1, which is full AUC.
    options : Options
        Limits and choices; `known` is not supported.
    callback : callable, optional
        As for `engine.solve`.

    Returns
    -------
    ChainResult
        The incumbent when the search ended, with its status and bounds.
    """
    rate = _check_rate(max_fpr)
    types = set(np.unique(problem.row_types).tolist())
    if types != {0, 1}:
        raise ValueError(
            "the area under the ROC curve needs rows of both types, 0 (negative) and 1 (positive), "
            f"got the types {sorted(types)}"
        )
    if options.known is not None:
        raise ValueError("known is not supported when an area is maximised")
    arguments = (
        problem.answers,
        problem.row_types,
        problem.weights,
        options.to_core(),
        rate.numerator,
        rate.denominator,
    )
    raw = call_core(_core.solve_chain, arguments, callback)
    status = options.status(raw.status)
    nodes = read_nodes(raw)
    neg, pos = _leaf_weights(nodes, problem)
    loss_unit = Fraction(*raw.loss_unit)
    reached = area(neg, pos, rate)
    penalties = options.split_penalty * nodes.n_splits
    value = options.error_scale * (1 - reached) / loss_unit + penalties
    check_bounds(raw.lower_bound, raw.upper_bound, raw.status)
    check_value(raw.upper_bound, ceil(value))  # the core counts in whole units
    return ChainResult(
        status=status,
        area=reached,
        value=value,
        bound=value if status == "optimal" else Fraction(options.bound(raw.lower_bound)),
        loss_unit=loss_unit,
        nodes=nodes,
        neg=neg,
        pos=pos,
        counters=raw.counters,
        history=raw.history,
        seconds=raw.seconds,
    )


def _check_rate(max_fpr: Fraction | int) -> Fraction:
    rate = Fraction(max_fpr)
    if not 0 < rate <= 1:
        raise ValueError(f"max_fpr must be above 0 and at most 1, got {max_fpr}")
    return rate


def _leaf_weights(nodes: Nodes, problem: Problem) -> tuple[list[int], list[int]]:
    """Weights of negatives and positives in the leaves, as Python integers."""
    leaf = nodes.route(problem.columns)
    weights = np.ones(len(leaf), np.int64) if problem.weights is None else problem.weights
    sums = np.zeros((len(nodes), 2), dtype=np.int64)
    np.add.at(sums, (leaf, problem.row_types), weights)
    found = sums[nodes.is_leaf]
    return found[:, 0].tolist(), found[:, 1].tolist()
