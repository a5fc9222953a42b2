"""Trees within limits on the whole tree: from a composed task to tree and certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree._version import __version__
from certree.engine._within_limits import DualCut, LimitedProblem, LimitedResult
from certree.exceptions import OptimalityWarning, warn
from certree.numbers._exact import read_fraction
from certree.proofs._limit_search import solve_limited
from certree.results._certificate import Exact, exact
from certree.results._limit_certificate import (
    Cut,
    LimitedCertificate,
    LimitValue,
    NoTreeCertificate,
    Reach,
)
from certree.results._progress import Callback, Observer
from certree.tasks._limited import Limited, LimitedOnRows, _Composed
from certree.tasks._task import Laws, LeafCosts, LeafProblem, Rows, Task
from certree.tree import Tree

from ._certify import count_tests
from ._task_setting import Setting, TaskObjective, hides_much, node_counts, node_notes, node_sums

if TYPE_CHECKING:
    from ._task_tree import BaseTaskTree

# The most that the splits of a tree may cost, and its leaves, in units of the search.
_MOST_PENALTIES = 2**56
_MOST_TOTAL = 2**46


class _Objective(Task):
    """The (first) objective of a composed task, which keeps what the whole became on the rows."""

    laws: Laws = Laws(superadditive=True)
    on_rows: LimitedOnRows

    def __init__(self, composed: _Composed) -> None:
        self.composed = composed
        self.name = composed.objectives()[0].name  # type: ignore[misc]

    def on(self, y: Any, rows: Rows) -> LeafProblem:
        self.on_rows = self.composed.on(y, rows)
        return self.on_rows.problems[0]

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        return self.composed.objectives()[0].leaf_costs(y, n_rows)

    def __repr__(self) -> str:
        return repr(self.composed)


@dataclass(frozen=True)
class LimitedSetting:
    """A composed task on the rows of a table, ready to be solved.

    Attributes
    ----------
    setting : Setting
        The first objective on these rows.
    on_rows : LimitedOnRows
        All of it.
    problem : LimitedProblem
        What the search is asked.
    sources : list of (limit, sign)
        Which limit each plane after the objectives stands for, and with which sign.
    """

    setting: Setting
    on_rows: LimitedOnRows
    problem: LimitedProblem
    sources: list[tuple[int, int]]

    @property
    def n_objectives(self) -> int:
        """Number of objectives."""
        return len(self.on_rows.problems)


def set_up_limited(
    model: BaseTaskTree, task: _Composed, X: Any, y: Any, sample_weight: Any
) -> LimitedSetting:
    """Encode the table and turn objectives and limits into integers."""
    objective = _Objective(task)
    setting = model._set_up(objective, X, y, sample_weight)
    setting = replace(setting, objective=_with_full_penalty(model, setting))
    on_rows = objective.on_rows
    scaled = setting.objective
    planes = on_rows.planes(scaled.error_scale, scaled.split_penalty)
    more = [problem.largest for problem in on_rows.problems[1:]]
    problem = LimitedProblem(
        columns=setting.columns,
        values=on_rows.values(),
        planes=np.stack(planes.lines),
        bounds=(*more, *planes.bounds),
        names=(*("second objective" for _ in more), *planes.names),
        label_counts=on_rows.label_counts,
        label_min=on_rows.label_min,
        finer=(*(None for _ in more), *planes.finer),
    )
    return LimitedSetting(setting, on_rows, problem, planes.sources)


def _with_full_penalty(model: BaseTaskTree, setting: Setting) -> TaskObjective:
    """Return the objective with the penalty as it was given.

    Without limits a penalty above all that a split can save is as good as any other; with them,
    trees may need splits at any price.
    """
    problem, objective = setting.problem, setting.objective
    wanted = objective.complexity * problem.complexity_unit
    units = wanted / problem.unit
    most = _MOST_PENALTIES // len(setting.rows.weights)
    if units > most:
        raise ValueError(
            f"complexity={model.complexity!r} is too large for a search with limits: a split would "
            f"cost {float(units):.3g} times the smallest difference between two costs, and at most "
            f"{most:.3g} times fits 64 bits."
        )
    room = min(setting.rows.budget, _MOST_TOTAL) // max(problem.largest, 1)
    room = max(min(room, most // max(ceil(units), 1)), 1)
    penalty = units.limit_denominator(room)
    if units > 0 and penalty == 0:
        penalty = Fraction(1, room)
    used = penalty * problem.unit
    return TaskObjective(
        error_scale=penalty.denominator,
        split_penalty=penalty.numerator,
        offset=0,
        unit=problem.unit / penalty.denominator,
        constant=problem.constant + (used if model.complexity_per == "leaf" else 0),
        penalty=used,
        complexity=objective.complexity,
    )


def fit_within(
    model: BaseTaskTree,
    task: Limited,
    X: Any,
    y: Any,
    sample_weight: Any,
    callback: Callback | None,
    *,
    path: bool,
) -> None:
    """Fit a model within limits, and warn if there is no tree or no proof."""
    if path:
        raise ValueError("There is no path of trees within limits; fit without path=True.")
    if model.test_costs is not None:
        raise ValueError(
            "test_costs cannot be combined with limits on the whole tree: what a test costs "
            "depends on the tests above it, and not on the rows of a leaf alone; leave one of the "
            "two out."
        )
    watch = fit_limited(model, task, X, y, sample_weight, callback)
    model._path = None
    certificate: Any = model.certificate_
    if not isinstance(certificate, NoTreeCertificate):
        model._finish(watch)
        return
    kind = UserWarning if certificate.is_infeasible else OptimalityWarning
    warn(f"{certificate.statement()} There is nothing to predict with.", kind)


def fit_limited(
    model: BaseTaskTree,
    task: _Composed,
    X: Any,
    y: Any,
    sample_weight: Any,
    callback: Callback | None = None,
    notes: Sequence[str] = (),
) -> Observer | None:
    """Find the best tree within limits; give a model its `tree_` and `certificate_`.

    If there is no tree within the limits, or none was found in time, the certificate is a
    :class:`NoTreeCertificate`, and the model has no ``tree_``. Returns what watched the search.
    """
    limited = set_up_limited(model, task, X, y, sample_weight)
    setting = limited.setting
    objective = setting.objective
    largest = setting.problem.largest * objective.error_scale
    gap = min(read_fraction(model.gap, "gap") / objective.unit, Fraction(largest))
    options = replace(model._engine_options(), gap=int(gap))
    watch = model._watch(objective.cost, None, callback)
    result = solve_limited(
        limited.problem, options, callback=None if watch is None else _Watch(watch, largest)
    )
    keep_limited(model, limited, result, notes)
    return watch


def keep_limited(
    model: BaseTaskTree, limited: LimitedSetting, result: LimitedResult, notes: Sequence[str] = ()
) -> None:
    """Give a fitted model its tree and certificate."""
    if hasattr(model, "tree_"):
        del model.tree_
    if not len(result.nodes):
        model.certificate_ = _no_tree(model, limited, result, notes)  # type: ignore[assignment]
        return
    model.tree_, sums = limited_tree(model, limited, result.nodes)
    model._node_costs = limited.setting.problem.units(sums).astype(np.float64)
    certificate = _certify(model, limited, result, notes)
    if certificate.status in ("optimal", "gap") and hides_much(limited.setting.problem):
        certificate = replace(certificate, status="precision")
    model.certificate_ = certificate


def limited_tree(
    model: BaseTaskTree, limited: LimitedSetting, nodes: engine.Nodes
) -> tuple[Tree, NDArray[np.int64]]:
    """Return a tree with the labels that the search gave its leaves, and the nodes' sums."""
    setting = limited.setting
    leaves = nodes.route(setting.columns)
    sums = node_sums(setting, nodes, leaves)
    classes = setting.problem.classes()
    assert classes is not None
    label = np.where(nodes.test < 0, nodes.label, -1).astype(np.int32)
    names = getattr(model, "feature_names_in_", None)
    counts = node_counts(setting, nodes, leaves, label[leaves], len(classes))
    tree = Tree.from_arrays(
        model.encoder_.candidates_,
        nodes.test,
        nodes.first_child,
        label,
        counts=counts,
        classes=classes,
        feature_names=None if names is None else names.tolist(),
        n_features=model.n_features_in_,
        n_columns=setting.columns.shape[1],
        notes=node_notes(setting.problem, sums, counts, label),
    )
    return tree, sums


def limit_totals(limited: LimitedSetting, nodes: engine.Nodes) -> list[Fraction]:
    """Return the total of each limit for a tree, in the user's terms."""
    labels = nodes.label[nodes.route(limited.setting.columns)]
    return [limit.amounts.total(labels) * limit.unit for limit in limited.on_rows.limits]


def limit_values(
    limited: LimitedSetting,
    nodes: engine.Nodes | None = None,
    reach: Mapping[tuple[int, int], Reach] | None = None,
) -> tuple[LimitValue, ...]:
    """Return the limits, with the totals of a tree or with how near trees come."""
    totals: Sequence[Fraction | None] = [None] * len(limited.on_rows.limits)
    if nodes is not None:
        totals = limit_totals(limited, nodes)
    near = {} if reach is None else reach
    return tuple(
        LimitValue(
            limit.name,
            None if total is None else exact(total),
            None if limit.at_most is None else exact(limit.at_most),
            None if limit.at_least is None else exact(limit.at_least),
            0,
            exact(limit.unit),
            near.get((j, 1)),
            near.get((j, -1)),
        )
        for j, (limit, total) in enumerate(zip(limited.on_rows.limits, totals, strict=True))
    )


def leaf_minimum(limited: LimitedSetting) -> tuple[tuple[str, int], ...]:
    """Return the rows that labels need in their leaves."""
    needed = limited.on_rows.label_min
    if needed is None:
        return ()
    labels = limited.on_rows.problems[0].labels.tolist()
    return tuple((str(k), n) for k, n in zip(labels, needed.tolist(), strict=True) if n > 0)


def user_cut(limited: LimitedSetting, cut: DualCut) -> Cut:
    """Return a cut in terms of the cost and the limits' totals.

    The search has shown ``m_0 U + sum m_e p_e >= v`` for the objective U in its units and planes
    ``p_e`` of the limits' leading digits, which are at most ``(sign * total - least) / unit``, with
    the least that finer digits add; the cost is ``(U + offset) unit + constant``.
    """
    objective = limited.setting.objective
    first = cut.multipliers[0] / objective.unit
    value = cut.value + first * objective.constant + cut.multipliers[0] * objective.offset
    totals = [Fraction(0)] * len(limited.on_rows.limits)
    for (j, sign), multiplier in zip(limited.sources, cut.multipliers[1:], strict=True):
        limit = limited.on_rows.limits[j]
        totals[j] += Fraction(sign * multiplier) / limit.leading_unit
        value += Fraction(multiplier * limit.amounts.least_finer(sign), 2**limit.amounts.shift)
    return tuple(exact(number) for number in (first, *totals, value))


def _dual_bound(limited: LimitedSetting, cuts: Sequence[DualCut]) -> Exact | None:
    """Return the best bound on the cost that follows from cuts for trees within the limits."""
    limits = limited.on_rows.limits
    sides = [
        Fraction(bound, 2**limit.amounts.shift) for limit in limits for bound, _ in limit.sides
    ]
    bounds = []
    for cut in cuts:
        first, *_, value = user_cut(limited, cut)
        if first:
            rest = sum(m * b for m, b in zip(cut.multipliers[1:], sides, strict=True))
            bounds.append(Fraction(value - rest) / first)
    return exact(max(bounds)) if bounds else None


def _no_tree(
    model: BaseTaskTree, limited: LimitedSetting, result: LimitedResult, notes: Sequence[str]
) -> NoTreeCertificate:
    setting, objective = limited.setting, limited.setting.objective
    reach: dict[tuple[int, int], Reach] = {}
    for closest in result.closest:
        j, sign = limited.sources[closest.limit]
        unit = sign * limited.on_rows.limits[j].unit
        attained = None if closest.attained is None else exact(closest.attained * unit)
        reach[j, sign] = Reach(exact(closest.lower_bound * unit), attained)
    return NoTreeCertificate(
        status=result.status,
        limits=limit_values(limited, None, reach),
        lower_bound=exact(objective.cost(result.lower_bound)),
        proof=result.proof,
        dual_cuts=tuple(user_cut(limited, cut) for cut in result.cuts),
        task=setting.name,
        max_depth=None if model.max_depth is None else int(model.max_depth),
        max_splits=None if model.max_splits is None else int(model.max_splits),
        complexity=exact(objective.complexity),
        complexity_per=model.complexity_per,
        split_penalty=exact(objective.penalty),
        min_samples_leaf=int(model.min_samples_leaf),
        n_rows=len(setting.rows.weights),
        **count_tests(model.encoder_),
        total_weight=exact(setting.rows.total_weight),
        seconds=setting.seconds + result.seconds,
        counters=dict(result.counters),
        n_solves=result.n_solves,
        n_rounds=result.n_rounds,
        rounding=exact(setting.problem.rounding),
        leaf_minimum=leaf_minimum(limited),
        notes=tuple(notes),
        version=__version__,
    )


def _certify(
    model: BaseTaskTree, limited: LimitedSetting, result: LimitedResult, notes: Sequence[str]
) -> LimitedCertificate:
    """Translate a result to the user's terms."""
    assert result.upper_bound is not None
    history = [
        (seconds, work, result.upper_bound if upper is None else upper, lower or 0)
        for seconds, work, upper, lower in result.history
    ]
    plain = model._certify_task(
        limited.setting,
        engine.Result(
            status=result.status,
            lower_bound=result.lower_bound,
            upper_bound=result.upper_bound,
            nodes=result.nodes,
            counters=result.counters,
            history=history,
            seconds=result.seconds,
        ),
    )
    values = {name: getattr(plain, name) for name in plain.__dataclass_fields__}
    values["n_solves"] = result.n_solves
    return LimitedCertificate(
        **values,
        limits=limit_values(limited, result.nodes),
        dual_cuts=tuple(user_cut(limited, cut) for cut in result.cuts),
        dual_bound=_dual_bound(limited, result.cuts),
        n_rounds=result.n_rounds,
        leaf_minimum=leaf_minimum(limited),
        notes=tuple(notes),
    )


class _Watch:
    """What watches a search, with the costliest tree as the best one until one is known."""

    def __init__(self, watch: Observer, largest: int) -> None:
        self.watch = watch
        self.largest = largest

    def __call__(self, event: engine.Event) -> bool:
        upper = event.get("upper_bound")
        lower = event.get("lower_bound")
        full = {
            **event,
            "upper_bound": self.largest if upper is None else upper,
            "lower_bound": 0 if lower is None else lower,
        }
        return self.watch(full)
