"""Fits of fair trees: the rows as a problem with limits, and the certificate of what is found."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from certree import _engine
from certree._exact import read_fraction
from certree._fairness import (
    Comparison,
    FairLimits,
    compare_groups,
    decided_by_group,
    disparity,
    fair_limits,
    needs_two_classes,
    read_groups,
    read_tolerance,
)
from certree._limit_front import solve_limited_front
from certree._limit_search import solve_limited
from certree._limited import DualCut, LimitedFront, LimitedProblem, LimitedResult
from certree._progress import Callback, Observer, Progress, ProgressLine
from certree.certificate import Certificate, Exact, exact
from certree.encoding import read_table
from certree.fairness import FairnessCertificate, FairnessCurve
from certree.tree import Tree

from ._binary import PlainNodes, find_positive
from ._certify import build_tree, certify, searched
from ._target import Target, read_target

if TYPE_CHECKING:
    from ._classifier import OptimalTreeClassifier
    from ._fair import FairTreeClassifier


@dataclass(frozen=True)
class FairRows:
    """A table with groups, encoded and ready to be solved.

    `places` are the tests that may be asked, and `columns` their outcomes; `all_columns` are those
    of all tests.
    """

    target: Target
    comparison: Comparison | None
    tolerance: Fraction
    places: NDArray[np.intp]
    columns: NDArray[np.uint8]
    all_columns: NDArray[np.uint8]
    left_out: tuple[str, ...]
    seconds: float

    def problem(self, limits: FairLimits) -> LimitedProblem:
        """Return the rows with limits, as the search takes them."""
        target, objective = self.target, self.target.objective
        costs = objective.cost_matrix[target.codes]
        if target.row_weights is not None:
            costs = costs * target.row_weights[:, None]
        values = np.concatenate([costs[:, :, None], limits.quantities], axis=2)
        n_limits, n_quantities = limits.planes.shape
        planes = np.zeros((1 + n_limits, 2 + n_quantities), dtype=np.int64)
        planes[0, 0], planes[0, -1] = objective.error_scale, objective.split_penalty
        planes[1:, 1:-1] = limits.planes
        return LimitedProblem(self.columns, values, planes, limits.bounds, limits.names)

    def nodes(self, found: _engine.Nodes) -> PlainNodes:
        """Return a tree over the tests that may be asked as one over all tests."""
        test = np.asarray(found.test)
        places = self.places if len(self.places) else np.zeros(1, dtype=np.intp)
        test = np.where(test >= 0, places[np.maximum(test, 0)], -1).astype(np.int32)
        return PlainNodes(test, np.asarray(found.first_child), np.asarray(found.label))

    def rates(self, nodes: PlainNodes) -> list[list[Fraction]]:
        """Return the rates of all groups under a tree over all tests."""
        if self.comparison is None:
            return []
        labels = nodes.label[_engine.leaves_of_rows(nodes, self.all_columns)]
        return self.comparison.rates(labels)


def prepare(
    model: FairTreeClassifier, X: Any, y: Any, sensitive_features: Any, sample_weight: Any
) -> FairRows:
    """Read and encode everything."""
    start = perf_counter()
    n_rows = model._row_count(X)
    tolerance = read_tolerance(model.tolerance)
    target = read_target(model, y, sample_weight, n_rows)
    classes = target.classes.tolist()
    positive = find_positive(classes, model.pos_label, str(model.constraint))
    if needs_two_classes(model.constraint) and len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported by constraint={model.constraint!r}: y has "
            f"{len(classes)} classes. Make it two classes, or use constraint='accuracy_parity', "
            "which speaks of no positive class."
        )
    given = _sensitive(model, X, sensitive_features)
    comparison = None
    if given is not None:
        comparison = compare_groups(
            model.constraint,
            read_groups(given, n_rows, target.rows),
            target.codes,
            positive,
            len(classes),
            target.row_weights,
            classes[positive],
        )
    columns = model._encode(X, target.sample_weight, target.rows)
    places, asked = np.arange(columns.shape[1]), columns
    left_out: tuple[str, ...] = ()
    if comparison is not None and not model.use_sensitive:
        hidden = decided_by_group(columns, comparison.groups)
        if hidden.any():
            places = np.flatnonzero(~hidden)
            asked = np.asfortranarray(columns[:, places])
            names = [model.encoder_.candidates_[i].describe(0) for i in np.flatnonzero(hidden)]
            left_out = tuple(names)
    return FairRows(
        target,
        comparison,
        tolerance,
        places,
        asked,
        columns,
        left_out,
        perf_counter() - start,
    )


def _sensitive(model: FairTreeClassifier, X: Any, given: Any) -> Any:
    """Return the groups, from `fit` or from the columns of X that the model names."""
    named = model.sensitive_columns
    if given is not None and named is not None:
        raise ValueError(
            f"sensitive_features were given to fit, and sensitive_columns={named!r} to the "
            "estimator; choose one of the two."
        )
    if given is not None or named is None:
        return given
    table = read_table(X)
    wanted = list(named) if isinstance(named, list | tuple | np.ndarray) else [named]
    if not wanted:
        raise ValueError("sensitive_columns is empty; name at least one column, or use None.")
    columns = []
    for entry in wanted:
        if isinstance(entry, str) and table.has_names and entry in table.names:
            columns.append(table.column(table.names.index(entry)))
        elif isinstance(entry, int | np.integer) and 0 <= entry < table.n_columns:
            columns.append(table.column(int(entry)))
        else:
            raise ValueError(
                f"sensitive_columns names {entry!r}, which is no column of X; give names of "
                f"columns, or numbers from 0 to {table.n_columns - 1}."
            )
    if len(columns) == 1:
        return columns[0]
    rows = np.empty((table.n_rows, len(columns)), dtype=object)
    for i, column in enumerate(columns):
        rows[:, i] = column
    return rows


def solve_fair(
    model: FairTreeClassifier, rows: FairRows, callback: Callback | None
) -> Observer | None:
    """Find the best tree within the tolerance; give the model tree and certificate."""
    objective = rows.target.objective
    options = replace(
        model._engine_options(rows.seconds),
        gap=int(min(read_fraction(model.gap, "gap"), objective.total_weight) / objective.unit),
    )
    watch = _watch(model, rows, callback)
    free = _solve_freely(rows, options, watch)
    nodes = rows.nodes(free)
    proven = free.status in ("optimal", "gap") or rows.comparison is None
    rates = rows.rates(nodes)
    if proven and disparity(rates) <= rows.tolerance:
        model.tree_ = _tree(model, rows, nodes)
        plain = certify(cast("OptimalTreeClassifier", model), free, rows.target, rows.seconds)
        model._keep_certificate(_extend(model, rows, plain, rates))
        return watch
    assert rows.comparison is not None
    limits = fair_limits(rows.comparison, rows.tolerance)
    if options.time_limit is not None:
        options = replace(options, time_limit=max(options.time_limit - free.seconds, 1e-3))
    found = solve_limited(rows.problem(limits), options, first=free, callback=watch)
    found = _join(free, found, rows)
    if found.upper_bound is None:
        if hasattr(model, "tree_"):
            del model.tree_
        certificate = _without_tree(model, rows, limits, found)
    else:
        nodes = rows.nodes(found)
        model.tree_ = _tree(model, rows, nodes)
        certificate = _certify_limited(model, rows, limits, found, nodes)
    bound = exact(objective.cost(free.lower_bound))
    model._keep_certificate(replace(certificate, unconstrained_cost=bound))
    return watch


def _solve_freely(
    rows: FairRows, options: _engine.Options, watch: Observer | None
) -> _engine.Result:
    """Find the best tree whatever its rates; where there are groups, in half of the time."""
    objective = rows.target.objective
    seconds = options.time_limit
    if rows.comparison is not None and seconds is not None:
        seconds = seconds / 2
    options = replace(
        options,
        error_scale=objective.error_scale,
        split_penalty=objective.split_penalty,
        time_limit=seconds,
    )
    return _engine.solve(rows.target.problem(rows.columns), options, watch)


def _join(free: _engine.Result, found: LimitedResult, rows: FairRows) -> LimitedResult:
    """Add what the search for the best tree of all has taken and proven."""
    counters = dict(found.counters)
    for name, count in free.counters.items():
        counters[name] = counters.get(name, 0) + count
    return replace(
        found,
        lower_bound=max(found.lower_bound, free.lower_bound),
        counters=counters,
        history=[(s + free.seconds, work, u, l) for s, work, u, l in found.history],
        n_solves=found.n_solves + 1,
        seconds=found.seconds + free.seconds,
    )


def find_curve(
    model: FairTreeClassifier, rows: FairRows, callback: Callback | None
) -> FairnessCurve:
    """Find the best tree for every tolerance."""
    if rows.comparison is None:
        raise ValueError(
            "A fairness curve compares groups: give sensitive_features, or name sensitive_columns."
        )
    found = _search_curve(model, rows, callback)
    objective = rows.target.objective
    # By rising disparity: the order of tolerances.
    ordered = sorted(found.trees, key=lambda tree: tree.gap)
    nodes = [rows.nodes(tree.nodes) for tree in ordered]
    trees = LazyFairTrees(model, rows, nodes)
    certificates = []
    for tree, plain in zip(ordered, nodes, strict=True):
        cost = exact(objective.cost(tree.objective))
        lower = cost
        if found.status != "optimal":
            reached = [value for value, gap in found.lower_points if gap <= tree.gap]
            lower = min([cost, *(exact(objective.cost(value)) for value in reached)])
        bare = _certificate(
            model,
            rows,
            nodes=plain,
            status="optimal" if lower == cost else found.status,
            cost=cost,
            lower_bound=lower,
            seconds=rows.seconds + found.seconds,
            counters=found.counters,
        )
        rates = rows.rates(plain)
        certificates.append(_extend(model, rows, bare, rates, tolerance=tree.gap))
    lower_points = [(exact(gap), exact(objective.cost(value))) for value, gap in found.lower_points]
    return FairnessCurve(
        copy.copy(model),
        trees,
        certificates,
        found.status,
        sorted(lower_points),
        rows.seconds + found.seconds,
    )


def _search_curve(
    model: FairTreeClassifier, rows: FairRows, callback: Callback | None
) -> LimitedFront:
    assert rows.comparison is not None
    limits = fair_limits(rows.comparison, Fraction(1))
    return solve_limited_front(
        rows.problem(limits),
        (0, *limits.scales),
        model._engine_options(rows.seconds),
        callback=_watch(model, rows, callback, has_bounds=False),
    )


class FairObserver(Observer):
    """Watch a search that may have no tree or bound yet: every row may then still be wrong."""

    def __init__(
        self,
        to_cost: Callable[[int], Exact],
        callback: Callback | None,
        line: ProgressLine | None,
        most: Exact,
        has_bounds: bool,
    ) -> None:
        super().__init__(to_cost, callback, line)
        self._most = most
        self._has_bounds = has_bounds

    def __call__(self, event: _engine.Event) -> bool:
        highest, lowest = self._most, cast(Exact, 0)
        if self._has_bounds:
            upper, lower = event["upper_bound"], event["lower_bound"]
            highest = highest if upper is None else exact(self._to_cost(upper))
            lowest = lowest if lower is None else exact(self._to_cost(lower))
        gap = exact(highest - lowest)
        return self._tell(Progress(event["seconds"], event["work"], highest, lowest, gap))


def _watch(
    model: FairTreeClassifier, rows: FairRows, callback: Callback | None, *, has_bounds: bool = True
) -> Observer | None:
    """Return what watches the search, if anything does."""
    if callback is None and not model.verbose:
        return None
    objective = rows.target.objective
    most = exact(objective.total_weight)
    line = ProgressLine(most) if model.verbose else None
    return FairObserver(objective.cost, callback, line, most, has_bounds)


class LazyFairTrees(Sequence[Tree]):
    """Trees of a curve, each built when it is first asked for."""

    def __init__(
        self, model: FairTreeClassifier, rows: FairRows, nodes: Sequence[PlainNodes]
    ) -> None:
        self._model = copy.copy(model)
        self._rows = rows
        self._nodes = nodes
        self._built: dict[int, Tree] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = range(len(self))[index]
        if place not in self._built:
            self._built[place] = _tree(self._model, self._rows, self._nodes[place])
        return self._built[place]

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled and copied as plain trees: the training rows do not travel with a curve.
        return tuple, (list(self),)


# ---- certificates --------------------------------------------------------------------------------


def _tree(model: FairTreeClassifier, rows: FairRows, nodes: PlainNodes) -> Tree:
    return build_tree(cast("OptimalTreeClassifier", model), nodes, rows.all_columns, rows.target)


def _certify_limited(
    model: FairTreeClassifier,
    rows: FairRows,
    limits: FairLimits,
    found: LimitedResult,
    nodes: PlainNodes,
) -> FairnessCertificate:
    objective = rows.target.objective
    assert found.upper_bound is not None
    cost = exact(objective.cost(found.upper_bound))
    lower = exact(objective.cost(found.lower_bound))
    bare = _certificate(
        model,
        rows,
        nodes=nodes,
        status="optimal" if cost == lower else found.status,
        cost=cost,
        lower_bound=lower,
        seconds=rows.seconds + found.seconds,
        counters=found.counters,
        history=_history(rows, found),
    )
    return replace(
        _extend(model, rows, bare, rows.rates(nodes)),
        differences=_differences(rows, limits, dict(enumerate(found.values[1:]))),
        dual=_dual(rows, limits, found.cuts),
        n_solves=found.n_solves,
    )


def _differences(
    rows: FairRows, limits: FairLimits, values: Mapping[int, int]
) -> tuple[tuple[str, Any, Any, Exact | None], ...]:
    """Return the differences of rates that limits speak of, from their integers."""
    assert rows.comparison is not None
    names = rows.comparison.groups.names
    return tuple(
        (rate, names[g], names[h], exact(Fraction(values[i], scale)) if i in values else None)
        for i, ((rate, g, h), scale) in enumerate(zip(limits.pairs, limits.scales, strict=True))
    )


def _dual(
    rows: FairRows, limits: FairLimits, cuts: Sequence[DualCut]
) -> tuple[tuple[Exact, tuple[Exact, ...], Exact], ...]:
    """Return what scalar searches have proven in terms of cost and differences of rates."""
    objective = rows.target.objective
    dual = []
    for cut in cuts:
        first, *others = cut.multipliers
        # The cost is unit * (U + offset), and a limit is its scale times a difference.
        value = cut.value + first * objective.offset
        weights = [m * scale for m, scale in zip(others, limits.scales, strict=True)]
        factor = objective.unit / first if first else Fraction(1)
        dual.append(
            (
                1 if first else 0,
                tuple(exact(weight * factor) for weight in weights),
                exact(value * factor),
            )
        )
    return tuple(dual)


def _without_tree(
    model: FairTreeClassifier, rows: FairRows, limits: FairLimits, found: LimitedResult
) -> FairnessCertificate:
    """Return what is proven if no tree is within the tolerance, or none was found in time."""
    least = None
    if found.status == "infeasible":
        front = _search_curve(model, rows, None)
        if front.status == "optimal":
            least = exact(min(tree.gap for tree in front.trees))
    nothing = cast(Any, None)
    bare = Certificate(
        status=found.status,
        objective=float("nan"),
        cost=nothing,
        lower_bound=nothing
        if found.status == "infeasible"
        else exact(rows.target.objective.cost(found.lower_bound)),
        upper_bound=nothing,
        gap=nothing,
        leaf_cost=nothing,
        n_splits=0,
        depth=0,
        seconds=rows.seconds + found.seconds,
        counters=dict(found.counters),
        history=(),
        **_asked(model, rows),
    )
    return replace(
        _extend(model, rows, bare),
        differences=_differences(
            rows, limits, {closest.limit: closest.lower_bound for closest in found.closest}
        ),
        dual=_dual(rows, limits, found.cuts),
        n_solves=found.n_solves,
        least_disparity=least,
    )


def _certificate(
    model: FairTreeClassifier,
    rows: FairRows,
    *,
    nodes: PlainNodes,
    status: str,
    cost: Any,
    lower_bound: Any,
    seconds: float,
    counters: dict[str, int],
    history: tuple[Any, ...] = (),
) -> Certificate:
    """Return what any certificate says of a tree."""
    objective = rows.target.objective
    n_splits = int(np.count_nonzero(nodes.test >= 0))
    penalty = objective.complexity_used * objective.total_weight
    n_paid = n_splits + (model.complexity_per == "leaf")
    return Certificate(
        status=status,
        objective=float(1 - cost / objective.total_weight),
        cost=cost,
        lower_bound=lower_bound,
        upper_bound=cost,
        gap=exact(cost - lower_bound),
        leaf_cost=exact(cost - n_paid * penalty),
        n_splits=n_splits,
        depth=_depth(nodes),
        seconds=seconds,
        counters=dict(counters),
        history=history,
        **_asked(model, rows),
    )


def _asked(model: FairTreeClassifier, rows: FairRows) -> dict[str, Any]:
    """Return the fields of a certificate that say what was asked for."""
    objective = rows.target.objective
    return {
        "task": "accuracy",
        "complexity": exact(objective.complexity),
        "split_penalty": exact(objective.complexity_used * objective.total_weight),
        "n_row_groups": None,
        **searched(cast("OptimalTreeClassifier", model), rows.target),
    }


def _extend(
    model: FairTreeClassifier,
    rows: FairRows,
    plain: Certificate,
    rates: Sequence[Sequence[Fraction]] = (),
    tolerance: Fraction | None = None,
) -> FairnessCertificate:
    """Add to a certificate what it says of groups."""
    values = {name: getattr(plain, name) for name in plain.__dataclass_fields__}
    values |= {"n_tests": len(rows.places), "left_out": rows.left_out}
    comparison = rows.comparison
    if comparison is None:
        return FairnessCertificate(**values)
    return FairnessCertificate(
        **values,
        constraint=model.constraint,
        tolerance=exact(rows.tolerance if tolerance is None else tolerance),
        groups=comparison.groups.names,
        rates=tuple(
            (kind.name, tuple(exact(rate) for rate in of_groups))
            for kind, of_groups in zip(comparison.kinds, rates, strict=bool(rates))
        ),
        disparity=exact(disparity(rates)) if rates else None,
        use_sensitive=bool(model.use_sensitive),
    )


def _history(rows: FairRows, found: LimitedResult) -> tuple[Any, ...]:
    """Return the moves of the bounds in units of cost, as far as both are known."""
    objective = rows.target.objective
    return tuple(
        (rows.seconds + seconds, work, exact(objective.cost(upper)), exact(objective.cost(lower)))
        for seconds, work, upper, lower in found.history
        if upper is not None and lower is not None
    )


def _depth(nodes: PlainNodes) -> int:
    depth = np.zeros(len(nodes.test), dtype=np.int64)
    for node in itertools.compress(range(len(depth)), (nodes.test >= 0).tolist()):
        child = int(nodes.first_child[node])
        depth[child : child + 2] = depth[node] + 1
    return int(depth.max(initial=0))
