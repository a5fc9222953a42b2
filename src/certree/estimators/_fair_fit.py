"""Fits of fair trees: the rows as a problem with limits, and the certificate of what is found."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from certree import engine
from certree.engine._budget import current
from certree.engine._within_limits import (
    DualCut,
    LimitedFront,
    LimitedProblem,
    LimitedResult,
    LimitedTree,
)
from certree.numbers._exact import cost_budget, read_fraction
from certree.proofs._fair_limits import FairLimits, fair_limits
from certree.proofs._limit_front import solve_limited_front
from certree.proofs._limit_search import solve_limited
from certree.results._answer import Answer
from certree.results._certificate import Exact, exact
from certree.results._fairness import CurvePoint, FairnessCertificate, FairnessCurve
from certree.results._progress import Callback, Observer
from certree.tasks._rates import disparity

from ._certify import certify, searched
from ._fair_rows import FairStatement
from ._fair_watch import FairObserver, watch_fair

if TYPE_CHECKING:
    from ._fair import FairTreeClassifier


# Trees of this depth, or with so few paths of tests, are searched without multipliers, which took
# 1 to 6 times as long.
_SHALLOW = 2
_FEW_PATHS = 1000

# Curves are, too, if there are not more tests than this: with 141 tests that took 5 times as long.
_FEW_TESTS = 70

# Where trees may be deeper than by one, or the best of all is not found in time, fair trees of this
# depth are looked for first.
_SMALLER = 3


def solve_fair(
    model: FairTreeClassifier, rows: FairStatement, callback: Callback | None
) -> Observer | None:
    """Find the best tree within the tolerance; give the model tree and certificate.

    The best tree of all comes first: if it is fair, there is nothing else to do.
    """
    scale = rows.scale
    accepted = read_fraction(model.gap, "gap")
    options = replace(model._engine_options(), gap=scale.gap(accepted, rows.most_cost))
    watch = watch_fair(model, rows, callback)
    free = _solve_freely(rows, options, watch)
    if watch is not None:
        watch.go_on(free)
    nodes = free.nodes.over(rows.places)
    rates = rows.rates(nodes)
    is_fair = disparity(rates) <= rows.tolerance and free.status in ("optimal", "gap")
    if is_fair or rows.comparison is None:
        model.tree_ = rows.grow(nodes)
        answer = replace(Answer.of(free, scale), nodes=nodes)
        model._keep_certificate(_certify(model, rows, answer, rates))
        return watch
    limits = _limits(rows, options, rows.tolerance)
    found = _solve_fairly(rows.with_limits(limits), options, free, watch)
    if found.upper_bound is None:
        if hasattr(model, "tree_"):
            del model.tree_
        certificate = _without_tree(model, rows, limits, found)
    else:
        nodes = found.nodes.over(rows.places)
        model.tree_ = rows.grow(nodes)
        certificate = _certify_limited(model, rows, limits, found, nodes)
    bound = exact(scale.cost(free.lower_bound))
    model._keep_certificate(replace(certificate, unconstrained_cost=bound))
    return watch


def _limits(
    rows: FairStatement, options: engine.Options, tolerance: Fraction, *, may_round: bool = False
) -> FairLimits:
    """Return the limits that a tolerance means, with what the search has room for."""
    sizes = [2 ** min(options.max_depth, 60) - 1] if options.max_depth is not None else []
    sizes += [options.max_splits] if options.max_splits is not None else []
    room = cost_budget(len(rows.columns), min(sizes, default=None))
    return fair_limits(rows.compared, tolerance, room, may_round=may_round)


def _solve_fairly(
    problem: LimitedProblem,
    options: engine.Options,
    free: engine.Result,
    watch: FairObserver | None,
) -> LimitedResult:
    """Find the best tree within limits, where the best of all is not."""
    options = _with_time_left(options)
    first = free.nodes
    if free.status == "interrupted":
        # Only other labels for the tree at hand are still looked for.
        options = replace(options, time_limit=1e-3)
    elif free.status not in ("optimal", "gap") or _is_deep(options.max_depth):
        smaller = _smaller(problem, options)
        options = _with_time_left(options)
        first = free.nodes if smaller.upper_bound is None else smaller.nodes
    dual = not _is_small(problem, options.max_depth)
    found = solve_limited(problem, options, first=first, dual=dual, callback=watch)
    return _join(free, found)


def _count_tests(model: FairTreeClassifier, rows: FairStatement) -> dict[str, Any]:
    """Return how many tests may be asked, and how many of them were searched if not all."""
    encoder, n_tests = model.encoder_, len(rows.places)
    asked = {encoder.tests_[place].feature for place in rows.places}
    n_left_out = sum(encoder._left_out.get(feature, 0) for feature in asked)
    return {
        "n_tests": n_tests + n_left_out,
        "n_tests_searched": n_tests if n_left_out else None,
    }


def _with_time_left(options: engine.Options) -> engine.Options:
    call = current()
    return options if call is None else replace(options, time_limit=call.remaining())


def _is_deep(depth: int | None) -> bool:
    return depth is None or depth > _SMALLER + 1


def _is_small(problem: LimitedProblem, depth: int | None) -> bool:
    if depth is None:
        return False
    return depth <= _SHALLOW or problem.columns.shape[1] ** min(depth, 40) <= _FEW_PATHS


def _smaller(problem: LimitedProblem, options: engine.Options) -> LimitedResult:
    """Find a tree of less depth, to have a good one where the search will not end in time."""
    depth = _SMALLER if options.max_depth is None else min(_SMALLER, options.max_depth - 1)
    depth = max(depth, 0)
    seconds = None if options.time_limit is None else options.time_limit / 4
    options = replace(options, max_depth=depth, time_limit=seconds)
    return solve_limited(problem, options, dual=not _is_small(problem, depth))


def _solve_freely(
    rows: FairStatement, options: engine.Options, watch: FairObserver | None
) -> engine.Result:
    """Find the best tree whatever its rates; where there are groups, in half of the time."""
    seconds = options.time_limit
    if rows.comparison is not None and seconds is not None:
        seconds = seconds / 2
    options = replace(
        options,
        error_scale=rows.scale.error_scale,
        split_penalty=rows.scale.split_penalty,
        time_limit=seconds,
    )
    return engine.solve(rows.problem, options, watch)


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


def find_curve(
    model: FairTreeClassifier, rows: FairStatement, least: Fraction, callback: Callback | None
) -> FairnessCurve:
    """Find the best tree for every tolerance from the least on."""
    if rows.comparison is None:
        raise ValueError(
            "A fairness curve compares groups: give sensitive_features, or name sensitive_columns."
        )
    found, rounding = _search_curve(model, rows, least, callback)
    # Every tree is at or above one of these, and known to be so up to the rounding of limits.
    lower_points = sorted(
        (exact(max(gap - rounding, Fraction(0))), exact(rows.scale.cost(value)))
        for value, gap in found.lower_points
    )
    base = copy.copy(model)
    points, nodes = _curve_points(rows, found.trees, is_rounded=rounding > 0)
    curve = FairnessCurve(
        base,
        Lazy(len(nodes), lambda place: rows.grow(nodes[place])),
        Lazy(len(nodes), lambda place: _curve_certificate(base, rows, found, curve, nodes, place)),
        points,
        found.status,
        lower_points,
        exact(least),
        rows.seconds + found.seconds,
    )
    return curve


def _curve_points(
    rows: FairStatement, trees: Sequence[LimitedTree], *, is_rounded: bool
) -> tuple[list[CurvePoint], list[engine.Nodes]]:
    """Return disparity, cost and splits of trees, by rising disparity, and the trees."""
    points = []
    for tree in trees:
        nodes = tree.nodes.over(rows.places)
        apart = disparity(rows.rates(nodes)) if is_rounded else tree.gap
        cost = exact(rows.scale.cost(tree.objective))
        points.append(((exact(apart), cost, nodes.n_splits), nodes))
    points.sort(key=lambda entry: entry[0])
    kept: list[tuple[CurvePoint, engine.Nodes]] = []
    for point, nodes in points:
        if not kept or point[1] < kept[-1][0][1]:
            kept.append((point, nodes))
    return [point for point, _ in kept], [nodes for _, nodes in kept]


def _curve_certificate(
    model: FairTreeClassifier,
    rows: FairStatement,
    found: LimitedFront,
    curve: FairnessCurve,
    nodes: Sequence[engine.Nodes],
    place: int,
) -> FairnessCertificate:
    """Return what is proven about a tree of a curve: it is best for its own disparity."""
    apart, cost, _ = curve.points[place]
    lower, status = curve.bound(place, apart)
    seconds, counters = curve.seconds - rows.seconds, dict(found.counters)
    answer = Answer(status, cost, lower, nodes[place], seconds, counters)
    rates = rows.rates(nodes[place])
    return _certify(model, rows, answer, rates, tolerance=exact(apart), n_row_groups=None)


def _search_curve(
    model: FairTreeClassifier, rows: FairStatement, least: Fraction, callback: Callback | None
) -> tuple[LimitedFront, Fraction]:
    """Return the front of cost and disparity, and by how much its disparities are rounded."""
    options = model._engine_options()
    limits = _limits(rows, options, Fraction(1), may_round=True)
    problem = rows.with_limits(limits)
    small = _is_small(problem, options.max_depth) and problem.columns.shape[1] <= _FEW_TESTS
    watch = watch_fair(model, rows, callback, has_bounds=False)
    front = solve_limited_front(
        problem,
        (0, *limits.scales),
        options,
        least_gap=least,
        dual=not small,
        callback=watch,
    )
    if limits.rounding and front.status == "optimal":
        return _exact_front(rows, front, least, options, limits.rounding)
    return front, limits.rounding


def _exact_front(
    rows: FairStatement,
    rounded: LimitedFront,
    least: Fraction,
    options: engine.Options,
    rounding: Fraction,
) -> tuple[LimitedFront, Fraction]:
    """Return the front of cost and exact disparity, and the rounding that is left in it.

    Each search asks for the least cost below the last disparity, in limits of several digits. The
    trees of the rounded front are nearly always the answer, which is then found at once.
    """
    limits = _limits(rows, options, Fraction(1))
    known = [
        replace(tree, gap=disparity(rows.rates(tree.nodes.over(rows.places))))
        for tree in rounded.trees
    ]
    found: list[LimitedTree] = []
    n_solves, seconds = rounded.n_solves, rounded.seconds
    while not found or found[-1].gap > least:
        if found:
            limits = limits.below(found[-1].gap)
        inside = [tree for tree in known if not found or tree.gap < found[-1].gap]
        first = min(inside, key=lambda tree: (tree.objective, tree.gap), default=None)
        answer = _solve_below(rows, limits, _with_time_left(options), first)
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
            apart = disparity(rows.rates(answer.nodes.over(rows.places)))
            best = LimitedTree(answer.nodes, answer.values, apart)
        if found and found[-1].objective == best.objective:
            found.pop()
        found.append(best)
    points = [(tree.objective, tree.gap) for tree in found]
    front = replace(rounded, trees=found, lower_points=points, n_solves=n_solves, seconds=seconds)
    return front, Fraction(0)


def _solve_below(
    rows: FairStatement, limits: FairLimits, options: engine.Options, first: LimitedTree | None
) -> LimitedResult:
    problem = rows.with_limits(limits)
    dual = not _is_small(problem, options.max_depth)
    nodes = None if first is None else first.nodes
    return solve_limited(problem, options, first=nodes, dual=dual)


class Lazy(Sequence[Any]):
    """Things of a curve, each made when it is first asked for: most never are."""

    def __init__(self, size: int, make: Callable[[int], Any]) -> None:
        self._size = size
        self._make = make
        self._made: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = range(len(self))[index]
        if place not in self._made:
            self._made[place] = self._make(place)
        return self._made[place]

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled and copied as they are: the training rows do not travel with a curve.
        return tuple, (list(self),)


# ---- certificates --------------------------------------------------------------------------------


def _certify(
    model: FairTreeClassifier,
    rows: FairStatement,
    answer: Answer,
    rates: Sequence[Sequence[Fraction]],
    **more: Any,
) -> FairnessCertificate:
    """Return what is proven of a tree and its rates."""
    fields = {**_about_groups(model, rows, rates), **more}
    return certify(model, rows, answer, FairnessCertificate, **fields)


def _certify_limited(
    model: FairTreeClassifier,
    rows: FairStatement,
    limits: FairLimits,
    found: LimitedResult,
    nodes: engine.Nodes,
) -> FairnessCertificate:
    rates = rows.rates(nodes)
    of = dict(zip((kind.name for kind in rows.compared.kinds), rates, strict=True))
    values = {i: of[rate][g] - of[rate][h] for i, (rate, g, h) in enumerate(limits.pairs)}
    return _certify(
        model,
        rows,
        replace(Answer.of(found, rows.scale), nodes=nodes),
        rates,
        n_row_groups=None,
        differences=_differences(rows, limits, values),
        cuts=_cuts(rows, limits, found.cuts),
        n_solves=found.n_solves,
    )


def _differences(
    rows: FairStatement, limits: FairLimits, values: Mapping[int, Fraction]
) -> tuple[tuple[str, Any, Any, Exact | None], ...]:
    """Return the differences of rates that limits speak of, as far as they are known."""
    names = rows.compared.groups.names
    return tuple(
        (rate, names[g], names[h], exact(values[i]) if i in values else None)
        for i, (rate, g, h) in enumerate(limits.pairs)
    )


def _cuts(
    rows: FairStatement, limits: FairLimits, cuts: Sequence[DualCut]
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
        factor = rows.scale.unit / first if first else Fraction(1)
        constant = rows.scale.constant if first else 0
        each = (exact(weight * factor) for weight in weights)
        stated.append((1 if first else 0, *each, exact(value * factor + constant)))
    return tuple(stated)


def _without_tree(
    model: FairTreeClassifier, rows: FairStatement, limits: FairLimits, found: LimitedResult
) -> FairnessCertificate:
    """Return what is proven if no tree is within the tolerance, or none was found in time."""
    least = None
    if found.status == "infeasible":
        front, rounding = _search_curve(model, rows, Fraction(0), None)
        if front.status == "optimal" and not rounding:
            least = exact(min(tree.gap for tree in front.trees))
    closest = {i: Fraction(lower, limits.scales[i]) for i, lower, _ in found.closest}
    nothing = dict.fromkeys(("objective", "cost", "upper_bound", "gap", "leaf_cost", "lower_bound"))
    if found.status != "infeasible":
        nothing["lower_bound"] = exact(rows.scale.cost(found.lower_bound))
    return FairnessCertificate(
        **searched(model, rows)
        | nothing
        | _about_groups(model, rows)
        | {
            "status": found.status,
            "n_splits": 0,
            "depth": 0,
            "seconds": rows.seconds + found.seconds,
            "counters": dict(found.counters),
            "history": (),
            "n_row_groups": None,
            "differences": _differences(rows, limits, closest),
            "cuts": _cuts(rows, limits, found.cuts),
            "n_solves": found.n_solves,
            "least_disparity": least,
        }
    )


def _about_groups(
    model: FairTreeClassifier, rows: FairStatement, rates: Sequence[Sequence[Fraction]] = ()
) -> dict[str, Any]:
    """Return the fields of a certificate that speak of groups, and of tests left out for them."""
    fields = {**_count_tests(model, rows), "left_out": rows.left_out}
    comparison = rows.comparison
    if comparison is None:
        return fields
    return fields | {
        "constraint": model.constraint,
        "tolerance": exact(rows.tolerance),
        "groups": comparison.groups.names,
        "rates": tuple(
            (kind.name, tuple(exact(rate) for rate in of_groups))
            for kind, of_groups in zip(comparison.kinds, rates, strict=bool(rates))
        ),
        "disparity": exact(disparity(rates)) if rates else None,
        "use_sensitive": bool(model.use_sensitive),
    }
