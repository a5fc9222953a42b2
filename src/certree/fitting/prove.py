"""Objectives that one search answers: sums over the leaves."""

from __future__ import annotations

from dataclasses import replace

from certree.results._answer import Answer

from .certify import find_path
from .fitted import Fitted, conclude
from .goals import TaskGoal
from .known_tree import WarmTree, better_of
from .request import Request
from .start import start_with_classes, start_with_task
from .state_errors import state_classes
from .state_task import TaskStatement, state_task
from .statement import Statement

# Of the time left, so much is for the tree if a path is asked for, too.
SHARE_BEFORE_PATH = 0.5


def fit_sum(request: Request) -> Fitted:
    """Find the best tree, and the path if it is asked for."""
    start = request.start
    warm: WarmTree | None = None
    if isinstance(request.goal, TaskGoal):
        task = _state_task(request)
        if start is not None:
            warm, task = start_with_task(request, start, task)
        return prove(request, task, warm)
    errors = state_classes(request).with_multiway_leaves(request.size.complexity_per)
    if start is not None:
        warm, errors = start_with_classes(request, start, errors)
    return prove(request, errors, warm)


def state_sum(request: Request) -> Statement:
    """Return what trees of all sizes are searched in."""
    is_task = isinstance(request.goal, TaskGoal)
    return _state_task(request) if is_task else state_classes(request)


def _state_task(request: Request) -> TaskStatement:
    kind = request.task.kind or TaskStatement
    return state_task(request, "path" if request.path else "tree", kind)


def prove(request: Request, statement: Statement, warm: WarmTree | None = None) -> Fitted:
    """Search for the best tree, and for the path."""
    scale = statement.scale
    known = None
    if warm is not None:
        value = warm.value(scale) + statement.paid_for_leaves(warm.nodes)
        known = (value, warm.nodes.n_splits)
    options = replace(
        request.options(statement, SHARE_BEFORE_PATH if request.path else 1.0),
        error_scale=scale.error_scale,
        split_penalty=scale.split_penalty,
        gap=scale.gap(request.gap, statement.most_cost),
        known=known,
    )
    watch = request.watch(scale.cost, statement.measure)
    result = statement.solve(options, watch)
    if warm is not None and known is not None:
        result = better_of(result, warm, known[0])
    fitted = conclude(request, statement, Answer.of(result, scale), watch=watch)
    if not request.path:
        return fitted
    paid = statement.paid_for_leaves(result.nodes)
    found = options.sized(replace(result, upper_bound=result.upper_bound - paid))
    return replace(fitted, path=find_path(request, statement, known=[found]))
