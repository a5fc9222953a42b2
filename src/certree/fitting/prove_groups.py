"""Fits of fair trees: the searches, and the certificate of what is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from certree import engine, metrics
from certree.engine._within_limits import (
    DualCut,
    LimitedFront,
    LimitedProblem,
    LimitedResult,
    LimitedTree,
)
from certree.exceptions import warn
from certree.numbers._exact import cost_budget
from certree.proofs._fair_limits import FairLimits, fair_limits
from certree.proofs._limit_front import solve_limited_front
from certree.proofs._limit_search import solve_limited
from certree.proofs._metric_limits import is_small, with_time_left
from certree.proofs._metric_search import MetricResult, solve_metric_within
from certree.results._activity import phase
from certree.results._answer import Answer
from certree.results._certificate import Exact, exact
from certree.results._fairness import (
    CurvePoint,
    FairnessCertificate,
    one_for_all,
)
from certree.results._progress import Observer
from certree.results._rounding import at_most
from certree.tasks._rates import disparity, read_tolerances
from certree.tree import Tree

from .certify import certify
from .fitted import Fitted
from .prove_metric import confusion_fields, metric_answer, metric_search
from .request import Request
from .state_groups import FairMetricStatement, FairStatement, state_groups
from .watch_groups import FairObserver, watch_fair

# Small problems are searched without multipliers (`is_small`). Curves are, too, if there are not
# more tests than this: with 141 tests that took 5 times as long.
_FEW_TESTS = 70

# Where the best tree of all is not found in time, fair trees of this depth are looked for first,
# unless trees may be deeper than by one: the search then begins with small trees anyway.
_SMALLER = 3


def fit_groups(request: Request) -> Fitted:
    """Find the best tree within the tolerance."""
    statement = state_groups(request)
    if statement.comparison is None:
        warn(
            "No sensitive_features were given, so there are no groups to compare: the tree "
            "is the best without a constraint. Call fit(X, y, sensitive_features=...), or "
            "name sensitive_columns.",
            UserWarning,
        )
    watch, nodes, certificate = solve_fair(request, statement)
    return Fitted(
        goal=request.goal,
        statement=statement,
        tree=statement.grow(nodes) if certificate.has_tree else None,
        certificate=certificate,
        was_stopped=watch is not None and watch.asked_to_stop,
    )


def solve_fair(
    request: Request, statement: FairStatement
) -> tuple[Observer | None, engine.Nodes, FairnessCertificate]:
    """Find the best tree within the tolerance; return what watched, the tree and what is proven.

    The best tree of all comes first: if it is fair, there is nothing else to do.
    """
    if isinstance(statement, FairMetricStatement):
        return _solve_fair_metric(request, statement)
    scale = statement.scale
    accepted = request.gap
    options = replace(request.options(statement), gap=scale.gap(accepted, statement.most_cost))
    watch = watch_fair(request, statement)
    phase("searching the best tree of all")
    free = _solve_freely(statement, options, watch)
    if watch is not None:
        watch.go_on(free)
    nodes = free.nodes.over(statement.places)
    rates = statement.rates(nodes)
    is_proven = free.status in ("optimal", "gap")
    if statement.comparison is None or (is_proven and statement.comparison.is_fair(rates)):
        answer = replace(Answer.of(free, scale), nodes=nodes)
        return watch, nodes, _certify(request, statement, answer, rates)
    phase("searching fair trees")
    limits = _limits(statement, options)
    found = _solve_fairly(statement.with_limits(limits), options, free, watch)
    nodes = found.nodes.over(statement.places)
    if found.upper_bound is None:
        certificate = _without_tree(request, statement, limits, found)
    else:
        certificate = _certify_limited(request, statement, limits, found, nodes)
    bound = exact(scale.cost(free.lower_bound))
    return watch, nodes, replace(certificate, unconstrained_cost=bound)


def _solve_fair_metric(
    request: Request, statement: FairMetricStatement
) -> tuple[Observer | None, engine.Nodes, FairnessCertificate]:
    """Find the tree with the best metric within the tolerances, as `solve_fair` does."""
    options = request.options(statement)
    watch = watch_fair(request, statement)
    metric = metrics.get(request.groups.objective)
    search = metric_search(request, metric, statement, watch)
    phase("searching the best tree of all")
    comparison = statement.comparison
    if comparison is None:
        return watch, *_certify_metric(
            request, statement, search(statement.problem, options=options)
        )
    limits = _limits(statement, options)

    def go_on(free: MetricResult) -> None:
        if watch is not None:
            watch.go_on(free)
        phase("searching fair trees")

    result = solve_metric_within(
        search,
        metric,
        statement.problem,
        options,
        partial(statement.fair_session, limits),
        is_kept=lambda nodes: comparison.is_fair(statement.rates(_over_all(statement, nodes))),
        go_on=go_on,
        callback=watch,
    )
    if result.is_free:
        return watch, *_certify_metric(request, statement, result.free)
    if result.found is None:
        assert result.without is not None
        answer = Answer.without_tree(result.without)
        return watch, answer.nodes, _no_fair_tree(request, statement, limits, answer)
    nodes, certificate = _certify_metric(request, statement, result.found, limits)
    unfair = exact(min(at_most(1 - result.free.bound), certificate.lower_bound))
    return watch, nodes, replace(certificate, unconstrained_cost=unfair)


def _over_all(statement: FairMetricStatement, nodes: engine.Nodes) -> engine.Nodes:
    """Return a tree of a search for metrics over all tests, with codes of classes as labels."""
    return statement.with_class_labels(nodes).over(statement.places)


def _certify_metric(
    request: Request,
    statement: FairMetricStatement,
    found: MetricResult,
    limits: FairLimits | None = None,
) -> tuple[engine.Nodes, FairnessCertificate]:
    """Return a tree over all tests, and what is proven of it."""
    nodes = _over_all(statement, found.nodes)
    rates = statement.rates(nodes)
    answer = metric_answer(found, statement, request.gap)
    more: dict[str, Any] = confusion_fields(found, statement)
    if limits is not None:
        more["n_solves"] = found.n_solves
        more["differences"] = _differences(statement, limits, _values(statement, limits, rates))
        more["n_row_groups"] = None
    return nodes, _certify(request, statement, replace(answer, nodes=nodes), rates, **more)


def _limits(
    statement: FairStatement,
    options: engine.Options,
    tolerance: Fraction | None = None,
    *,
    may_round: bool = False,
) -> FairLimits:
    """Return the limits of one tolerance, or of each rate's own, as the search has room for."""
    n_rows = len(statement.columns)
    room = cost_budget(n_rows, options.most_splits(n_rows))
    return fair_limits(statement.compared, tolerance, room, may_round=may_round)


def _solve_fairly(
    problem: LimitedProblem,
    options: engine.Options,
    free: engine.Result,
    watch: FairObserver | None,
) -> LimitedResult:
    """Find the best tree within limits, where the best of all is not."""
    options = with_time_left(options)
    first = free.nodes
    if free.status == "interrupted":
        # Only other labels for the tree at hand are still looked for.
        options = replace(options, time_limit=1e-3)
    elif free.status not in ("optimal", "gap") and not _is_deep(options.max_depth):
        smaller = _smaller(problem, options)
        options = with_time_left(options)
        first = free.nodes if smaller.upper_bound is None else smaller.nodes
    dual = not is_small(problem.columns.shape[1], options.max_depth)
    found = solve_limited(problem, options, first=first, dual=dual, callback=watch)
    return _join(free, found)


def _is_deep(depth: int | None) -> bool:
    return depth is None or depth > _SMALLER + 1


def _smaller(problem: LimitedProblem, options: engine.Options) -> LimitedResult:
    """Find a tree of less depth, to have a good one where the search will not end in time."""
    depth = _SMALLER if options.max_depth is None else min(_SMALLER, options.max_depth - 1)
    depth = max(depth, 0)
    seconds = None if options.time_limit is None else options.time_limit / 4
    options = replace(options, max_depth=depth, time_limit=seconds)
    return solve_limited(problem, options, dual=not is_small(problem.columns.shape[1], depth))


def _solve_freely(
    statement: FairStatement, options: engine.Options, watch: FairObserver | None
) -> engine.Result:
    """Find the best tree whatever its rates; where there are groups, in half of the time."""
    options = replace(
        _first_part(statement, options),
        error_scale=statement.scale.error_scale,
        split_penalty=statement.scale.split_penalty,
    )
    return engine.solve(statement.problem, options, watch)


def _first_part(statement: FairStatement, options: engine.Options) -> engine.Options:
    if statement.comparison is None or options.time_limit is None:
        return options
    return replace(options, time_limit=options.time_limit / 2)


def _join(free: engine.Result, found: LimitedResult) -> LimitedResult:
    """Add what the search for the best tree of all has taken and proven."""
    counters = dict(found.counters)
    for name, count in free.counters.items():
        counters[name] = counters.get(name, 0) + count
    status = "interrupted" if free.status == "interrupted" else found.status
    return replace(
        found,
        status=found.status if found.status == "infeasible" else status,
        lower_bound=max(found.lower_bound, free.lower_bound),
        counters=counters,
        history=[(s + free.seconds, work, u, l) for s, work, u, l in found.history],
        n_solves=found.n_solves + 1,
        seconds=found.seconds + free.seconds,
    )


@dataclass(frozen=True)
class CurveParts:
    """What a curve of fairness is made of.

    Attributes
    ----------
    request : Request
        What was asked.
    statement : FairStatement
        What was searched.
    found : LimitedFront
        What the search found.
    points : sequence of (disparity, cost, splits)
        The points, by rising disparity.
    nodes : sequence of Nodes
        Their trees.
    lower_points : sequence of (disparity, cost)
        Every tree is at or above one of these.
    """

    request: Request
    statement: FairStatement
    found: LimitedFront
    points: Sequence[CurvePoint]
    nodes: Sequence[engine.Nodes]
    lower_points: Sequence[tuple[Exact, Exact]]

    @property
    def seconds(self) -> float:
        """Wall-clock time."""
        return self.statement.seconds + self.found.seconds

    def tree(self, place: int) -> Tree:
        """Return a tree."""
        return self.statement.grow(self.nodes[place])

    def certificate(self, place: int, lower: Exact, status: str) -> FairnessCertificate:
        """Return what is proven about a tree: it is best for its own disparity."""
        apart, cost, _ = self.points[place]
        seconds, counters = self.found.seconds, dict(self.found.counters)
        answer = Answer(status, cost, lower, self.nodes[place], seconds, counters)
        rates = self.statement.rates(self.nodes[place])
        tolerance = one_for_all(self.request.groups.constraint, exact(apart))
        return _certify(
            self.request, self.statement, answer, rates, tolerance=tolerance, n_row_groups=None
        )


def find_curve(request: Request, least: Fraction) -> CurveParts:
    """Find the best tree for every tolerance from the least on."""
    statement = state_groups(request)
    found, rounding = _search_curve(request, statement, least)
    # Every tree is at or above one of these, and known to be so up to the rounding of limits.
    lower_points = sorted(
        (exact(max(gap - rounding, Fraction(0))), exact(statement.scale.cost(value)))
        for value, gap in found.lower_points
    )
    points, nodes = _curve_points(statement, found.trees, is_rounded=rounding > 0)
    return CurveParts(request, statement, found, points, nodes, lower_points)


def _curve_points(
    statement: FairStatement, trees: Sequence[LimitedTree], *, is_rounded: bool
) -> tuple[list[CurvePoint], list[engine.Nodes]]:
    """Return disparity, cost and splits of trees, by rising disparity, and the trees."""
    points = []
    for tree in trees:
        nodes = tree.nodes.over(statement.places)
        apart = disparity(statement.rates(nodes)) if is_rounded else tree.gap
        cost = exact(statement.scale.cost(tree.objective))
        points.append(((exact(apart), cost, nodes.n_splits), nodes))
    points.sort(key=lambda entry: entry[0])
    kept: list[tuple[CurvePoint, engine.Nodes]] = []
    for point, nodes in points:
        if not kept or point[1] < kept[-1][0][1]:
            kept.append((point, nodes))
    return [point for point, _ in kept], [nodes for _, nodes in kept]


def _search_curve(
    request: Request, statement: FairStatement, least: Fraction
) -> tuple[LimitedFront, Fraction]:
    """Return the front of cost and disparity, and by how much its disparities are rounded."""
    options = request.options(statement)
    limits = _limits(statement, options, Fraction(1), may_round=True)
    problem = statement.with_limits(limits)
    n_columns = problem.columns.shape[1]
    small = is_small(n_columns, options.max_depth) and n_columns <= _FEW_TESTS
    watch = watch_fair(request, statement, has_bounds=False)
    phase("searching trees for all tolerances")
    front = solve_limited_front(
        problem,
        (0, *limits.scales),
        options,
        least_gap=least,
        dual=not small,
        callback=watch,
    )
    if limits.rounding and front.status == "optimal":
        return _exact_front(statement, front, least, options, limits.rounding)
    return front, limits.rounding


def _exact_front(
    statement: FairStatement,
    rounded: LimitedFront,
    least: Fraction,
    options: engine.Options,
    rounding: Fraction,
) -> tuple[LimitedFront, Fraction]:
    """Return the front of cost and exact disparity, and the rounding that is left in it.

    Each search asks for the least cost below the last disparity, in limits of several digits. The
    trees of the rounded front are nearly always the answer, which is then found at once.
    """
    limits = _limits(statement, options, Fraction(1))
    known = [
        replace(tree, gap=disparity(statement.rates(tree.nodes.over(statement.places))))
        for tree in rounded.trees
    ]
    found: list[LimitedTree] = []
    n_solves, seconds = rounded.n_solves, rounded.seconds
    while not found or found[-1].gap > least:
        if found:
            limits = limits.below(found[-1].gap)
        inside = [tree for tree in known if not found or tree.gap < found[-1].gap]
        first = min(inside, key=lambda tree: (tree.objective, tree.gap), default=None)
        phase(f"making the curve exact, {len(found)} trees done")
        answer = _solve_below(statement, limits, with_time_left(options), first)
        n_solves, seconds = n_solves + answer.n_solves, seconds + answer.seconds
        if answer.status == "infeasible":
            break
        if answer.status != "optimal":
            known = [*found, *known]
            return replace(rounded, status=answer.status, trees=known, seconds=seconds), rounding
        assert answer.upper_bound is not None
        if first is not None and first.objective == answer.upper_bound:
            best = first
        else:
            apart = disparity(statement.rates(answer.nodes.over(statement.places)))
            best = LimitedTree(answer.nodes, answer.values, apart)
        if found and found[-1].objective == best.objective:
            found.pop()
        found.append(best)
    points = [(tree.objective, tree.gap) for tree in found]
    front = replace(rounded, trees=found, lower_points=points, n_solves=n_solves, seconds=seconds)
    return front, Fraction(0)


def _solve_below(
    statement: FairStatement, limits: FairLimits, options: engine.Options, first: LimitedTree | None
) -> LimitedResult:
    problem = statement.with_limits(limits)
    dual = not is_small(problem.columns.shape[1], options.max_depth)
    nodes = None if first is None else first.nodes
    return solve_limited(problem, options, first=nodes, dual=dual)


# ---- certificates --------------------------------------------------------------------------------


def _certify(
    request: Request,
    statement: FairStatement,
    answer: Answer,
    rates: Sequence[Sequence[Fraction]],
    **more: Any,
) -> FairnessCertificate:
    """Return what is proven of a tree and its rates."""
    fields = {**_about_groups(request, statement, rates), **more}
    return certify(request, statement, answer, FairnessCertificate, **fields)


def _certify_limited(
    request: Request,
    statement: FairStatement,
    limits: FairLimits,
    found: LimitedResult,
    nodes: engine.Nodes,
) -> FairnessCertificate:
    rates = statement.rates(nodes)
    return _certify(
        request,
        statement,
        replace(Answer.of(found, statement.scale), nodes=nodes),
        rates,
        n_row_groups=None,
        differences=_differences(statement, limits, _values(statement, limits, rates)),
        cuts=_cuts(statement, limits, found.cuts),
        n_solves=found.n_solves,
    )


def _values(
    statement: FairStatement, limits: FairLimits, rates: Sequence[Sequence[Fraction]]
) -> dict[int, Fraction]:
    """Return the difference of each limit."""
    of = dict(zip((kind.name for kind in statement.compared.kinds), rates, strict=True))
    return {i: of[rate][g] - of[rate][h] for i, (rate, g, h) in enumerate(limits.pairs)}


def _differences(
    statement: FairStatement, limits: FairLimits, values: Mapping[int, Fraction]
) -> tuple[tuple[str, Any, Any, Exact | None], ...]:
    """Return the differences of rates that limits speak of, as far as they are known."""
    names = statement.compared.groups.names
    return tuple(
        (rate, names[g], names[h], exact(values[i]) if i in values else None)
        for i, (rate, g, h) in enumerate(limits.pairs)
    )


def _cuts(
    statement: FairStatement, limits: FairLimits, cuts: Sequence[DualCut]
) -> tuple[tuple[Exact, ...], ...]:
    """Return what scalar searches have proven in terms of cost and differences of rates."""
    stated: list[tuple[Exact, ...]] = []
    for cut in cuts:
        first, *others = cut.multipliers
        # A limit is its scale times a difference, of which the leading digit has no more than what
        # finer ones leave at least.
        value = Fraction(cut.value)
        weights = []
        for m, scale, finer in zip(others, limits.scales, limits.finer, strict=True):
            weights.append(Fraction(m * scale, 1 if finer is None else 2**finer.shift))
            if finer is not None:
                value += Fraction(m * finer.least, 2**finer.shift)
        factor = statement.scale.unit / first if first else Fraction(1)
        constant = statement.scale.constant if first else 0
        each = (exact(weight * factor) for weight in weights)
        stated.append((1 if first else 0, *each, exact(value * factor + constant)))
    return tuple(stated)


def _without_tree(
    request: Request, statement: FairStatement, limits: FairLimits, found: LimitedResult
) -> FairnessCertificate:
    """Return what is proven if no tree is within the tolerance, or none was found in time."""
    closest = {i: Fraction(lower, limits.scales[i]) for i, lower, _ in found.closest}
    return _no_fair_tree(
        request,
        statement,
        limits,
        Answer.of(found, statement.scale),
        closest,
        cuts=_cuts(statement, limits, found.cuts),
        n_solves=found.n_solves,
    )


def _no_fair_tree(
    request: Request,
    statement: FairStatement,
    limits: FairLimits,
    answer: Answer,
    closest: Mapping[int, Fraction] | None = None,
    **more: Any,
) -> FairnessCertificate:
    """Return a certificate without a tree, with the least disparity if that is a proof."""
    least = None
    if answer.status == "infeasible":
        silent = replace(request, callback=None)
        front, rounding = _search_curve(silent, statement, Fraction(0))
        if front.status == "optimal" and not rounding:
            least = exact(min(tree.gap for tree in front.trees))
    return _certify(
        request,
        statement,
        answer,
        (),
        n_row_groups=None,
        differences=_differences(statement, limits, closest or {}),
        least_disparity=least,
        **more,
    )


def _about_groups(
    request: Request, statement: FairStatement, rates: Sequence[Sequence[Fraction]] = ()
) -> dict[str, Any]:
    """Return the fields of a certificate that speak of groups, and of tests left out for them."""
    fields: dict[str, Any] = {"left_out": statement.left_out}
    comparison = statement.comparison
    if comparison is None:
        return fields
    goal = request.groups
    several = not isinstance(goal.constraint, str)
    tolerances = tuple(map(exact, read_tolerances(goal.constraint, goal.tolerance)))
    return fields | {
        "constraint": tuple(goal.constraint) if several else goal.constraint,
        "tolerance": tolerances if several else tolerances[0],
        "groups": comparison.groups.names,
        "rates": tuple(
            (kind.name, tuple(exact(rate) for rate in of_groups))
            for kind, of_groups in zip(comparison.kinds, rates, strict=bool(rates))
        ),
        "disparity": exact(disparity(rates)) if rates else None,
        "use_sensitive": bool(goal.use_sensitive),
    }
