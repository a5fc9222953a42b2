"""From a statement and an answer to what users read: the certificate, and the path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from certree import engine
from certree._version import __version__
from certree.engine._alarms import check_bounds
from certree.results._activity import phase
from certree.results._answer import Answer
from certree.results._certificate import exact
from certree.results._path import PathEntry, RegularizationPath
from certree.results._progress import Observer
from certree.results._record import Record
from certree.tree._plain import type_hints

from .request import Request
from .statement import Statement

C = TypeVar("C", bound=Record)


def certify(
    request: Request, statement: Statement, answer: Answer, kind: type[C], **more: Any
) -> C:
    """Return what an answer proves, in the user's terms.

    Parameters
    ----------
    request : Request
        What was asked for.
    statement : Statement
        What was searched.
    answer : Answer
        What was found.
    kind : type
        The class of the certificate.
    **more
        Fields that only some certificates have, or that differ here.
    """
    answer = _lifted(request, statement, answer)
    answer = statement.doubted(answer, request.gap)
    if answer.cost is not None:
        check_bounds(answer.lower_bound, answer.cost, answer.status)
    values = {
        **_searched(request, statement),
        **_measured(statement, answer),
        **_of_tree(request, statement, answer),
    }
    known = {name: values[name] for name in type_hints(kind) if name in values}
    return kind(**known | more)


def _lifted(request: Request, statement: Statement, answer: Answer) -> Answer:
    """Return an answer whose leaves cost no less than is known of all leaves.

    The true cost of the tree is not below that either, so the cost stays within the rounding of it.
    """
    least, counted = statement.least_leaf_cost, answer.cost
    if least is None or counted is None:
        return answer
    penalties = (
        statement.n_paid(answer.nodes, request.size.complexity_per) * statement.scale.penalty
    )
    cost = exact(max(counted, penalties + least))
    lower = cost if answer.lower_bound == counted else exact(max(answer.lower_bound, least))
    # A tree that costs what every tree does is optimal, wherever the search was stopped.
    is_proven = lower == cost and answer.lower_bound != counted
    return replace(
        answer,
        status="optimal" if is_proven else answer.status,
        cost=cost,
        lower_bound=lower,
        history=tuple(
            (seconds, work, max(upper, cost), exact(min(max(bound, least), lower)))
            for seconds, work, upper, bound in answer.history
        ),
    )


def _of_tree(request: Request, statement: Statement, answer: Answer) -> dict[str, Any]:
    """Return the fields that speak of the tree; None if there is no tree."""
    cost, nodes = answer.cost, answer.nodes
    if cost is None:
        nothing = dict.fromkeys(("objective", "cost", "upper_bound", "gap", "leaf_cost"))
        # If no tree exists, there is no cost to bound.
        bound = None if answer.status == "infeasible" else answer.lower_bound
        return {**nothing, "lower_bound": bound, "n_splits": 0, "depth": 0}
    paid = statement.test_cost(nodes)
    penalties = statement.n_paid(nodes, request.size.complexity_per) * statement.scale.penalty
    return {
        "objective": statement.objective(cost),
        "cost": cost,
        "upper_bound": cost,
        "gap": exact(cost - answer.lower_bound),
        "leaf_cost": exact(cost - penalties - paid),
        "test_cost": exact(paid),
        "n_splits": nodes.n_splits,
        "depth": nodes.depth,
    }


def _searched(request: Request, statement: Statement) -> dict[str, Any]:
    """Return the fields of a certificate that say what was searched, whatever was found."""
    n_tests, n_left_out = statement.count_tests()
    return {
        "task": statement.task,
        "max_depth": request.size.max_depth,
        "max_splits": request.size.max_splits,
        "complexity": exact(statement.scale.complexity),
        "complexity_per": request.size.complexity_per,
        "split_penalty": exact(statement.scale.penalty),
        "min_samples_leaf": statement.least_rows,
        "n_rows": statement.n_rows,
        "n_tests": n_tests + n_left_out,
        "n_tests_searched": n_tests if n_left_out else None,
        "identifiers": statement.encoder.identifiers_,
        "total_weight": exact(statement.total_weight),
        **statement.stated_weights(),
        "search": request.search.search,
        "version": __version__,
    }


def _measured(statement: Statement, answer: Answer) -> dict[str, Any]:
    """Return the fields that say how the search went, and what it proved."""
    before = statement.seconds
    return {
        "status": answer.status,
        "lower_bound": answer.lower_bound,
        "n_row_groups": answer.counters.get("row_groups"),
        "seconds": before + answer.seconds,
        "counters": {**answer.counters, **statement.counters()},
        "history": tuple((before + seconds, *rest) for seconds, *rest in answer.history),
    }


def find_path(
    request: Request,
    statement: Statement,
    *,
    known: Iterable[engine.SizedTree] = (),
    seconds_before: float = 0.0,
) -> RegularizationPath:
    """Find the best tree for every number of splits.

    Trees that are `known` replace those of a search that was stopped, where they cost less.
    """
    result = solve_path(request, statement, known=known)
    return state_path(request, statement, result, seconds_before)


def solve_path(
    request: Request,
    statement: Statement,
    *,
    share: float = 1.0,
    known: Iterable[engine.SizedTree] = (),
) -> engine.PathResult:
    """Search for the trees of a path in a share of the time left."""
    phase("searching trees of all sizes")
    watch = (
        None if request.callback is None else Observer(statement.leaf_cost, request.callback, None)
    )
    options = path_options(request.options(statement, share))
    return statement.solve_path(options, watch).with_trees(known)


def path_options(options: engine.Options) -> engine.Options:
    """Return options that take any of the best trees with the fewest splits.

    To find the first of them by its columns, too, takes four times as long as the path itself.
    """
    return replace(options, extra={**options.extra, "smallest": False})


def state_path(
    request: Request,
    statement: Statement,
    result: engine.PathResult,
    seconds_before: float = 0.0,
) -> RegularizationPath:
    """Return a path in the user's terms.

    Trees that differ in the units of the search may cost the same in these terms, which know that
    nothing costs less than `least_leaf_cost`. The one with the fewest splits is kept.
    """
    # Nothing costs less than what every tree pays.
    least = statement.leaf_cost(0)
    entries: list[PathEntry] = []
    for entry in result.entries:
        cost = statement.leaf_cost(entry.upper_bound)
        if entries and cost >= entries[-1].errors:
            continue
        bound = exact(max(statement.leaf_cost(entry.lower_bound) - statement.hidden, least))
        # A search that was stopped may have a tree with fewer splits than it was looking for.
        splits = min(entry.splits, entry.nodes.n_splits)
        while entries and entries[-1].splits >= splits:
            bound = max(bound, entries.pop().lower_bound)
        check_bounds(bound, cost)
        tree = statement.grow(entry.nodes)
        value = statement.objective(cost)
        entries.append(PathEntry(splits, exact(cost), bound, value, tree))
    is_doubted = statement.hidden and result.status == "optimal"
    return RegularizationPath(
        entries,
        total_weight=exact(statement.complexity_unit),
        status="precision" if is_doubted else result.status,
        max_depth=request.size.max_depth,
        max_splits=request.size.max_splits,
        min_samples_leaf=statement.min_leaf,
        seconds=seconds_before + result.seconds,
        counters=result.counters,
        measures=statement.measures,
    )
