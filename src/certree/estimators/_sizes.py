"""Fitted models for many limits on the size, from as few searches as the objective allows."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from sklearn.utils import _safe_indexing

from certree.engine import Nodes, SizedTree
from certree.engine._budget import budget, current
from certree.fitting.certify import path_options, solve_path
from certree.fitting.fitted import Fitted, hold
from certree.fitting.objectives import read_metric
from certree.fitting.plan import plan
from certree.fitting.prove import state_sum
from certree.fitting.prove_metric import in_units, state_metric
from certree.fitting.request import Request
from certree.fitting.statement import Statement
from certree.metrics import Metric
from certree.numbers._exact import read_fraction
from certree.proofs._metric_search import solve_metric_path
from certree.proofs._metric_solves import Found
from certree.results._activity import step
from certree.tree import Tree

from ._classifier import OptimalTreeClassifier
from ._optimal_tree import BaseOptimalTree

Limits = dict[str, Any]
"""What limits a tree: max_depth, and max_splits or complexity where they are tried."""


@dataclass(frozen=True)
class Part:
    """Some rows, with what `fit` takes beside the table: what has a value per row is divided."""

    X: Any
    y: Any
    params: dict[str, Any] = field(default_factory=dict)

    def rows(self, indices: Any) -> Part:
        """Return a part of the rows."""
        return Part(
            _safe_indexing(self.X, indices),
            None if self.y is None else _safe_indexing(self.y, indices),
            {name: _safe_indexing(value, indices) for name, value in self.params.items()},
        )


@dataclass(frozen=True)
class Tried:
    """A model that is best within its limits; without a tree if none keeps them."""

    limits: Limits
    model: BaseOptimalTree
    status: str

    @property
    def has_tree(self) -> bool:
        """Whether there is a tree to score."""
        return hasattr(self.model, "tree_")


def models_within(model: BaseOptimalTree, rows: Part, limits: Sequence[Limits]) -> list[Tried]:
    """Return a model for each of some limits, fitted to the rows.

    Where the objective has a path, one search for each depth answers all numbers of splits and all
    complexities. The trees of one depth are known to the search of the next, so that no depth is
    worse than a smaller one, wherever searches are stopped. Other objectives take one search for
    each limit, from the widest down: where its tree keeps further limits, it is best for them, too.
    When the time is over, limits that are left have a tree that was found for others.
    """
    metric = _metric(model)
    if metric is not None:
        plan(model._what_is_asked(**limits[0]))
    if metric is not None and metric.kind != "chain" and _has_sizes(limits):
        assert isinstance(model, OptimalTreeClassifier)
        found = _by_metric(model, metric, rows, limits)
    else:
        request = _path_request(model, rows, limits)
        if request is None:
            found = _one_by_one(model, rows, limits)
        else:
            found = _by_path(model, request, limits)
    by_limits = {tuple(tried.limits.items()): tried for tried in found}
    return [by_limits[tuple(one.items())] for one in limits]


def _metric(model: BaseOptimalTree) -> Metric | None:
    return read_metric(model.objective) if isinstance(model, OptimalTreeClassifier) else None


def _has_sizes(limits: Iterable[Limits]) -> bool:
    return all("max_splits" in one for one in limits)


def _path_request(model: BaseOptimalTree, rows: Part, limits: Sequence[Limits]) -> Request | None:
    """Return what asks for paths; None if other searches are needed, or faster."""
    by_depth_alone = all(one.keys() == {"max_depth"} for one in limits)
    is_endless = any(one["max_depth"] is None and "max_splits" not in one for one in limits)
    if by_depth_alone or is_endless or _metric(model) is not None:
        return None
    model.max_depth = _widest(one["max_depth"] for one in limits)
    return model._path_request(rows.X, rows.y, **rows.params)


def _by_path(model: BaseOptimalTree, request: Request, limits: Sequence[Limits]) -> Iterator[Tried]:
    statement = state_sum(request)
    known: list[SizedTree] = []
    # Several limits, also of different depths, have the same tree.
    holders: dict[int, BaseOptimalTree] = {}
    kept: list[Nodes] = []
    depths, most = _depths(limits), model._split_limit
    for number, depth in enumerate(depths):
        here = [one for one in limits if one["max_depth"] == depth]
        widest = _widest(one.get("max_splits", most) for one in here)
        model.set_params(**model._as_parameters({"max_depth": depth, "max_splits": widest}))
        size = replace(request.size, max_depth=depth, max_splits=widest)
        share = 1 / (len(depths) - number)
        with step(_place(depth)):
            result = solve_path(replace(request, size=size), statement, share=share, known=known)
        known = result.entries
        for one in here:
            nodes = _cheapest(model, statement, known, one).nodes
            if id(nodes) not in holders:
                holders[id(nodes)] = copy.copy(model)
                holders[id(nodes)]._take(hold(request.goal, statement, nodes))
                kept.append(nodes)
            yield Tried(one, holders[id(nodes)], result.status)


def _cheapest(
    model: BaseOptimalTree, statement: Statement, entries: Sequence[SizedTree], limits: Limits
) -> SizedTree:
    """Return the entry of a path that is best within limits; of equally good ones the smallest."""
    most = limits.get("max_splits")
    complexity = read_fraction(limits.get("complexity", model.complexity), "complexity")
    penalty = complexity * statement.complexity_unit

    def cost(entry: SizedTree) -> Fraction:
        return statement.leaf_cost(entry.upper_bound) + penalty * entry.splits

    return min((one for one in entries if most is None or one.splits <= most), key=cost)


def _by_metric(
    model: OptimalTreeClassifier, metric: Metric, rows: Part, limits: Sequence[Limits]
) -> Iterator[Tried]:
    request = Request.of(model, rows.X, rows.y, rows.params.get("sample_weight"))
    statement, _ = state_metric(request, metric.name, "metric path")
    known: list[Found] = []
    depths = _depths(limits)
    for number, depth in enumerate(depths):
        here = [one for one in limits if one["max_depth"] == depth]
        model.max_depth = depth
        model.max_splits = _widest(one["max_splits"] for one in here)
        size = replace(request.size, max_depth=depth, max_splits=model.max_splits)
        options = replace(request, size=size).options(statement, 1 / (len(depths) - number))
        with step(_place(depth)):
            path = solve_metric_path(
                statement.session,
                in_units(metric, statement.unit),
                path_options(options),
                known=known,
            )
        known = [entry.tree for entry in path.entries]
        trees: list[tuple[int, Tree]] = []
        for entry in path.entries:
            nodes = statement.with_class_labels(entry.tree.nodes)
            trees.append((nodes.n_splits, statement.grow(nodes)))
        for one in here:
            holder = copy.copy(model)
            tree = [tree for size, tree in trees if size <= one["max_splits"]][-1]
            holder._take(Fitted(goal=request.goal, statement=statement, tree=tree))
            yield Tried(one, holder, path.status)


def _one_by_one(model: BaseOptimalTree, rows: Part, limits: Sequence[Limits]) -> Iterator[Tried]:
    done: list[Tried] = []
    left = sorted(limits, key=_width, reverse=True)
    call = current()
    while left:
        is_over = call is not None and call.status() is not None
        # The tree of the narrowest limits keeps all, so it serves wherever there is no time left.
        one = left.pop(-1 if is_over and done else 0)
        serves = _keeps if is_over else _answers
        serving = [tried for tried in done if serves(tried, one)]
        known = min(serving, key=lambda tried: not tried.has_tree, default=None)
        if known is None:
            fitted = copy.copy(model).set_params(**model._as_parameters(one))
            share = None if call is None else call.remaining(1 / (len(left) + 1))
            with budget(share, None), step(_place(one["max_depth"], one.get("max_splits"))):
                fitted._fit_part(rows.X, rows.y, **rows.params)
            done.append(Tried(one, fitted, fitted.certificate_.status))
            yield done[-1]
        else:
            yield Tried(one, known.model, known.status)


def _place(depth: int | None, splits: int | None = None) -> str:
    """Return which trees are searched, in words."""
    words = "any depth" if depth is None else f"depth {depth}"
    return words if splits is None else f"{words}, {splits} splits"


def _answers(tried: Tried, limits: Limits) -> bool:
    """Return whether a model, best within wider limits, is known to be best within these."""
    if tried.status == "infeasible":
        # Without a tree within wide limits there is none within narrow ones.
        return _contains(tried.limits, limits)
    is_best = tried.status == "optimal" and _contains(tried.limits, limits)
    return is_best and _keeps(tried, limits)


def _keeps(tried: Tried, limits: Limits) -> bool:
    """Return whether the tree of a model is within limits, or there is none."""
    if not tried.has_tree:
        return True
    tree = tried.model.tree_
    reached = {"max_depth": tree.depth, "max_splits": tree.n_splits}
    return all(
        limits[name] is None or limits[name] >= size
        for name, size in reached.items()
        if name in limits
    )


def _contains(wide: Limits, narrow: Limits) -> bool:
    return all(
        wide[name] == most if name == "complexity" else _number(wide[name]) >= _number(most)
        for name, most in narrow.items()
    )


def _width(limits: Limits) -> tuple[float, float]:
    return _number(limits["max_depth"]), _number(limits.get("max_splits"))


def _number(limit: int | None) -> float:
    return float("inf") if limit is None else limit


def _widest(limits: Iterable[int | None]) -> int | None:
    most = max(map(_number, limits))
    return None if most == float("inf") else int(most)


def _depths(limits: Iterable[Limits]) -> list[int | None]:
    return sorted({one["max_depth"] for one in limits}, key=_number)
