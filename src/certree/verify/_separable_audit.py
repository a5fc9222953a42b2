"""Check solutions of objectives given by their parts, by the user's own functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import product
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
from ._brute_force import WORK_LIMIT
from ._candidates import outcome_of
from ._shown import check_given_labels

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
        "identifiers": encoder.identifiers,
    }
    audit = Audit(certificate, parameters)
    data = with_candidates(audit, read_rows(given.X, None), encoder, True)
    audit.compare("number of rows", certificate.n_rows, len(data.rows))
    check_n_tests(audit, data)
    task = task.bind(data.n_rows)
    data = replace(data, labels=list(task.labels))
    points = list(solution.front)
    audit.compare("number of trees", len(certificate.values), len(points))
    audit.raise_if_different()
    for place, (point, stated) in enumerate(zip(points, certificate.values, strict=True)):
        where = f"tree {place}"
        walk = walk_down(audit, data, point.tree, where)
        check_size(audit, walk, certificate, where)
        check_given_labels(audit, data, walk, where)
        if walk.depth > certificate.depth:
            audit.differ(f"{where} is deeper than {certificate.depth}, up to which all were tried")
        value = _value(task, walk, 0, task.initial)
        if not (same(value, stated) and same(value, point.value)):
            audit.differ(f"value of {where}: certified {stated!r}, recomputed {value!r}")
        if task.feasible is not None and not task.feasible(value, np.array(data.rows)):
            audit.differ(f"{where} is not allowed")
    audit.done(f"values of {len(points)} trees, by the functions of the task")
    _check_consistency(audit, certificate, task, data)
    audit.raise_if_different()
    if given.exhaustive:
        _check_all(audit, certificate, task, data)
        audit.raise_if_different()
    return Checked(audit, None, len(data.rows))


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, up to the noise of floats."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    try:
        is_close = np.allclose(one, other, rtol=_NOISE, atol=_NOISE)
        return bool(is_close and np.shape(one) == np.shape(other))
    except (TypeError, ValueError):
        return bool(one == other)


def _value(task: Any, walk: Walk, node: int, state: Any) -> Any:
    rows = np.array(walk.rows[node], dtype=np.intp)
    if walk.tree.asked[node] < 0:
        return task.leaf_value(rows, walk.tree.value(node), state)
    column = walk.tree.tests[walk.tree.asked[node]]["feature"]
    values = [
        _value(task, walk, child, task.next_state(state, column, holds))
        for child, holds in zip(walk.tree.children[node], (True, False), strict=True)
    ]
    if task.split_cost is not None:
        values.append(task.split_value(rows, column, state))
    return reduce(task.combine, values)


def _check_consistency(audit: Audit, certificate: Any, task: Any, data: Data) -> None:
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
            if i != j and (task.whole_better(one, other) or task.whole_same(one, other)):
                audit.differ(f"the value {one!r} is as good as {other!r}")
                return
    audit.done("status, depth, and that no value beats another")


def _check_all(audit: Audit, certificate: Any, task: Any, data: Data) -> None:
    """Find all nondominated values again by trying all trees."""
    every = _AllValues(task, certificate, data)
    for value, _ in every.of(tuple(range(len(data.rows))), task.initial, certificate.depth):
        known = certificate.values
        if not any(task.whole_better(v, value) or task.whole_same(v, value) for v in known):
            audit.differ(f"a tree has the value {value!r}, which no certified one is as good as")
            break
    audit.done("all nondominated values, by trying all trees")


class _AllValues:
    """The nondominated values of all trees over some rows, in a state."""

    def __init__(self, task: Any, certificate: Any, data: Data) -> None:
        self.task = task
        self.rows = np.array(data.rows)
        self.least = max(certificate.min_samples_leaf, 1)
        self.max_splits = certificate.max_splits
        self.work = 0
        self.known: dict[Any, list[tuple[Any, int]]] = {}
        self.tests: dict[Any, tuple[tuple[bool, ...], int]] = {}
        matters = task.split_cost is not None or task.transition is not None
        for test in data.tests:
            column = data.column(test)
            holds = tuple(outcome_of(test, column[row]) == 0 for row in data.rows)
            key = (holds, test["feature"] if matters else None)
            self.tests.setdefault(key, (holds, test["feature"]))

    def of(self, places: tuple[int, ...], state: Any, depth: int) -> list[tuple[Any, int]]:
        """Return values and splits, of which none is as good as another in both."""
        key = places, state, depth
        if key not in self.known:
            members = self.rows[list(places)]
            kept: list[tuple[Any, int]] = []
            for found in self._candidates(places, members, state, depth):
                self._count(10 * len(kept) + 10)
                feasible = self.task.feasible
                if feasible is not None and not feasible(found[0], members):
                    continue
                if not any(self._replaces(other, found) for other in kept):
                    kept = [other for other in kept if not self._replaces(found, other)]
                    kept.append(found)
            self.known[key] = kept
        return self.known[key]

    def _candidates(
        self, places: tuple[int, ...], members: Any, state: Any, depth: int
    ) -> Iterator[tuple[Any, int]]:
        task = self.task
        for label in task.labels:
            yield task.leaf_value(members, label, state), 0
        for holds, column in self.tests.values() if depth > 0 else ():
            yes = tuple(place for place in places if holds[place])
            no = tuple(place for place in places if not holds[place])
            if min(len(yes), len(no)) < self.least:
                continue
            sides = [
                self.of(part, task.next_state(state, column, side), depth - 1)
                for part, side in ((yes, True), (no, False))
            ]
            for (a, splits), (b, others) in product(*sides):
                value, total = task.combine(a, b), splits + others + 1
                if task.split_cost is not None:
                    value = task.combine(value, task.split_value(members, column, state))
                if self.max_splits is None or total <= self.max_splits:
                    yield value, total

    def _replaces(self, one: tuple[Any, int], other: tuple[Any, int]) -> bool:
        is_as_good = same(one[0], other[0]) or self.task.better(one[0], other[0])
        return bool(is_as_good and one[1] <= other[1])

    def _count(self, amount: int) -> None:
        self.work += amount
        if self.work > WORK_LIMIT:
            raise ValueError(
                "the problem is too large for a proof by brute force; use exhaustive=False, fewer "
                "questions or fewer rows."
            )
