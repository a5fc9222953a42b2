"""Fronts of several objectives."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from certree.engine._within_limits import LimitedFront, LimitedTree
from certree.exceptions import OptimalityWarning, warn
from certree.proofs._limit_front import solve_limited_front, solve_objectives
from certree.results._answer import Answer
from certree.results._certificate import exact
from certree.results._progress import FrontObserver
from certree.results._task_front import Costs, FrontPoint, TaskFront, TaskFrontCertificate
from certree.tasks import Front
from certree.tree._nodes import Nodes

from .budgets import open_call
from .certify import certify
from .prove_limited import LimitedStatement, limit_values, state_limited
from .request import Request
from .state_task import hides_much


def solve_for_front(request: Request) -> TaskFront:
    """Find all trees that no other beats in all objectives."""
    task = request.task.task
    with open_call(request.by, request.budget):
        statement = state_limited(request)
        options = request.options(statement)
        watch = None
        if request.is_watched:
            watch = FrontObserver(exact(statement.most_cost), request.callback)
        problem, n_objectives = statement.limited_problem, len(task.tasks)
        if n_objectives == 2:
            scales = [0, 1, *(0 for _ in statement.sources)]
            result = solve_limited_front(problem, scales, options, callback=watch)
        else:
            result = solve_objectives(problem, n_objectives, options, watch)
        certificate = _certify_front(request, task, statement, result)
        points = [_point(statement, tree) for tree in result.trees]
    if not certificate.is_optimal:
        warn(
            f"{certificate.statement()} Raise the limit, or ask for smaller trees.",
            OptimalityWarning,
        )
    return TaskFront(points, certificate, statement.encoder, task, request.task.parameters)


def _costs(statement: LimitedStatement, values: Sequence[Fraction | int]) -> Costs:
    """Return costs by each objective, of values of the search."""
    others = zip(statement.limited.problems[1:], values[1:], strict=True)
    rest = (exact(Fraction(value) * other.unit + other.constant) for other, value in others)
    return exact(statement.scale.cost(values[0])), *rest


def _point(statement: LimitedStatement, found: LimitedTree) -> FrontPoint:
    tree = statement.grow(found.nodes)
    problems = statement.limited.problems
    values = _costs(statement, found.values[: len(problems)])
    each = zip(problems, values, strict=True)
    objectives = tuple(problem.objective(Fraction(value)) for problem, value in each)
    return FrontPoint(tree, values, objectives, statement.limit_values(found.nodes))


def _lower_points(statement: LimitedStatement, result: LimitedFront) -> tuple[Costs, ...]:
    """Return points of which every tree is at or above one."""
    problems = statement.limited.problems
    if len(problems) == 2:
        return tuple(_costs(statement, point) for point in result.lower_points)
    if result.status in ("optimal", "infeasible"):
        return tuple(_costs(statement, tree.values[: len(problems)]) for tree in result.trees)
    # A search that was stopped has proven nothing beyond what every tree costs.
    return (_costs(statement, [0] * len(problems)),)


def _certify_front(
    request: Request, task: Front, statement: LimitedStatement, result: LimitedFront
) -> TaskFrontCertificate:
    problems = statement.limited.problems
    status = result.status
    if status == "optimal" and any(map(hides_much, problems)):
        status = "precision"
    return certify(
        request,
        statement,
        Answer(status, None, 0, Nodes.empty(), result.seconds, result.counters),
        TaskFrontCertificate,
        points=tuple(_costs(statement, tree.values[: len(problems)]) for tree in result.trees),
        lower_points=_lower_points(statement, result),
        tasks=tuple(one.name for one in task.tasks),
        limits=limit_values(statement.limited),
        leaf_minimum=statement.needed(),
        rounding=tuple(exact(problem.rounding) for problem in problems),
        n_solves=result.n_solves,
    )
