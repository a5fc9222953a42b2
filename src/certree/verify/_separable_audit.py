"""Check solutions of objectives given by their parts, by the user's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ._audit import (
    Audit,
    Checked,
    Data,
    GivenRows,
    Walk,
    check_n_tests,
    check_size,
    read_rows,
    walk_down,
    with_candidates,
)
from ._force import AllTrees, Count, Point, Points, TreeSizes
from ._metric_audit import all_tests

_NOISE = 1e-9


def check_separable(solution: Any, given: GivenRows) -> Checked:
    """Check all trees of a separable objective: their values, and that no tree beats another."""
    certificate, task = solution.certificate, given.task or solution.task
    encoder = solution.encoder
    parameters = {
        "thresholds": encoder.thresholds,
        "categorical_features": encoder.categorical_features,
        "min_category_rows": encoder.min_category_rows,
        "category_tests": encoder.category_tests,
    }
    audit = Audit(certificate, parameters)
    data = with_candidates(audit, read_rows(given.X, None), encoder, True)
    audit.compare("number of rows", certificate.n_rows, len(data.rows))
    check_n_tests(audit, data)
    points = list(solution.front)
    audit.compare("number of trees", len(certificate.values), len(points))
    audit.raise_if_different()
    for place, (point, stated) in enumerate(zip(points, certificate.values, strict=True)):
        where = f"tree {place}"
        walk = walk_down(audit, data, point.tree, where)
        check_size(audit, walk, certificate, where)
        if walk.depth > certificate.depth:
            audit.differ(f"{where} is deeper than {certificate.depth}, up to which all were tried")
        value = _value(task, walk, 0)
        if not (same(value, stated) and same(value, point.value)):
            audit.differ(f"value of {where}: certified {stated!r}, recomputed {value!r}")
        if task.feasible is not None and not task.feasible(value, np.array(data.rows)):
            audit.differ(f"{where} is not allowed")
    audit.done(f"values of {len(points)} trees, by the functions of the task")
    _check_story(audit, certificate, task, data)
    audit.raise_if_different()
    if given.exhaustive:
        _check_all(audit, certificate, task, data)
        audit.raise_if_different()
    return Checked(audit, None, len(data.rows))


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, up to the noise of floats."""
    try:
        is_close = np.allclose(one, other, rtol=_NOISE, atol=_NOISE)
        return bool(is_close and np.shape(one) == np.shape(other))
    except (TypeError, ValueError):
        return bool(one == other)


def _value(task: Any, walk: Walk, node: int) -> Any:
    rows = np.array(walk.rows[node], dtype=np.intp)
    if walk.tree.asked[node] < 0:
        return task.cost(rows, walk.tree.value(node))
    values = [_value(task, walk, child) for child in walk.tree.children[node]]
    if task.split_cost is not None:
        column = walk.tree.tests[walk.tree.asked[node]]["feature"]
        values.append(task.split_cost(rows, column))
    return reduce(task.combine, values)


def _check_story(audit: Audit, certificate: Any, task: Any, data: Data) -> None:
    """Check that status, depth and values agree, and that no value beats another."""
    status, values = certificate.status, certificate.values
    if status not in ("optimal", "infeasible", "time_limit"):
        audit.differ(f"a search for a separable objective cannot end with status {status!r}")
    if (status == "infeasible" and values) or (status == "optimal" and not values):
        audit.differ(f"status {status!r} with {len(values)} trees")
    limits = [len(data.tests), max(len(data.rows) - 1, 0)]
    limits += [n for n in (certificate.max_depth, certificate.max_splits) if n is not None]
    if certificate.depth > min(limits):
        audit.differ(f"depth {certificate.depth} is more than trees can have")
    if status != "time_limit" and certificate.depth < min(limits) and data.tests:
        # Tests that divide the rows alike count once.
        parts = {frozenset(data.parts(test)) for test in data.tests}
        if certificate.depth < min([*limits, len(parts)]):
            audit.differ(f"all trees up to depth {certificate.depth} were tried, and no deeper")
    for i, one in enumerate(values):
        for j, other in enumerate(values):
            if i != j and (task.better(one, other) or same(one, other)):
                audit.differ(f"the value {one!r} is as good as {other!r}")
                return
    audit.done("status, depth, and that no value beats another")


def _check_all(audit: Audit, certificate: Any, task: Any, data: Data) -> None:
    """Find all nondominated values again by trying all trees."""
    rows = np.array(data.rows)

    def keep(points: Points, count: Count) -> list[Point]:
        kept: list[Point] = []
        for point in points:
            count(10 * len(kept) + 10)
            value, splits = point[1], point[-1]
            if task.feasible is not None and not task.feasible(value, rows[list(point[0])]):
                continue
            if any(_replaces(task, other, point) for other in kept):
                continue
            kept = [other for other in kept if not _replaces(task, point, other)]
            kept.append((point[0], value, splits))
        return kept

    def leaf(places: Sequence[int]) -> Points:
        members = tuple(places)
        return [(members, task.cost(rows[list(places)], label), 0) for label in task.labels]

    def join(one: Point, other: Point) -> Point:
        members = tuple(sorted((*one[0], *other[0])))
        return members, task.combine(one[1], other[1]), one[2] + other[2]

    def split(point: Point, places: Sequence[int], column: int, _: Any) -> Point:
        if task.split_cost is None:
            return point
        cost = task.split_cost(rows[list(places)], column)
        return point[0], task.combine(point[1], cost), point[2]

    sizes = TreeSizes(
        certificate.depth, certificate.max_splits, max(certificate.min_samples_leaf, 1)
    )
    found = AllTrees(all_tests(data), len(rows), sizes, leaf, join, keep, split).solve()
    for point in found:
        better = [v for v in certificate.values if task.better(v, point[1]) or same(v, point[1])]
        if not better:
            audit.differ(f"a tree has the value {point[1]!r}, which no certified one is as good as")
            break
    audit.done("all nondominated values, by trying all trees")


def _replaces(task: Any, one: Point, other: Point) -> bool:
    is_as_good = same(one[1], other[1]) or task.better(one[1], other[1])
    return bool(is_as_good and one[2] <= other[2])
