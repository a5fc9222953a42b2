"""The best trees for metrics of false positives and negatives, with proof.

One tree for a metric, one for every number of splits, or all that are best for some weights of the
two errors. See docs/theory/metrics.md for the theorems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from certree import engine
from certree.engine._alarms import check_bounds
from certree.metrics import Metric
from certree.metrics._monotonicity import check_monotone, is_taken_on_trust

from ._metric_limits import LimitedSession, with_time_left
from ._metric_monotone import MonotoneSearch, monotone_path
from ._metric_outer import MetricResult, Search
from ._metric_path import MetricPath, PathSearch
from ._metric_solves import Found, Weighable
from ._metric_supported import SupportedFront, SupportedSearch

__all__ = [
    "MetricPath",
    "MetricResult",
    "SupportedFront",
    "solve_metric",
    "solve_metric_path",
    "solve_metric_within",
    "supported_front",
]


def solve_metric(
    problem: Weighable,
    metric: Metric,
    options: engine.Options,
    *,
    complexity: Fraction = Fraction(0),
    per: Literal["split", "leaf"] = "split",
    gap: Fraction = Fraction(0),
    first: engine.Nodes | None = None,
    callback: Callable[[engine.Event], object] | None = None,
) -> MetricResult:
    """Find a tree that maximises a metric less a penalty for its size.

    Parameters
    ----------
    problem : Session, LimitedSession or Problem
        Rows of the types 0 (negative) and 1 (positive); a cost matrix is not used.
    metric : Metric
        What is maximised.
    options : Options
        Limits, which all solves share; penalty, gap and known value are set here.
    complexity : Fraction
        Penalty per split (or leaf), in units of the metric.
    per : {"split", "leaf"}
        What the penalty counts.
    gap : Fraction
        Stop when the bound is within this of the objective.
    first : Nodes, optional
        A tree within the limits to start from; its leaves get the labels that are best.
    callback : callable, optional
        Called now and then with seconds, work, upper_bound and lower_bound, where the bounds are
        one minus the objective; a true answer stops the search.

    Returns
    -------
    MetricResult
    """
    _check_kind(metric)
    kind = MonotoneSearch if metric.kind == "monotone" else Search
    if metric.kind == "supported" and isinstance(problem, LimitedSession):
        # Corners bound such metrics above the values of single leaves only.
        kind = Search if problem.has_leaves else MonotoneSearch
    search = kind(problem, metric, options, Fraction(complexity), callback)
    if first is not None:
        search.consider_labels(search.solves.rows.found(first))
    status = search.run(Fraction(gap))
    offset = Fraction(complexity) if per == "leaf" else Fraction(0)
    if not options.partial:
        return search.result(status, offset)
    # The proof covers only the tests that were searched; a bound without a search holds for all.
    check_bounds(1 - search.first_bound, 1 - search.objective)
    search.bound, search.solves.cuts = search.first_bound, []
    best = float(search.bound)
    search.history = [(s, work, objective, best) for s, work, objective, _ in search.history]
    return search.result(options.status(status), offset)


@dataclass(frozen=True)
class WithinLimits:
    """What searches for a metric within limits have found.

    Attributes
    ----------
    free : MetricResult
        The best tree of all, or the best so far.
    found : MetricResult or None
        The best tree within the limits; None if there is none, or none was found.
    without : Result or None
        In that case, the search that shows it.
    is_free : bool
        Whether the best tree of all keeps the limits, and is the tree found.
    """

    free: MetricResult
    found: MetricResult | None
    without: engine.Result | None = None
    is_free: bool = False


def solve_metric_within(
    search: Callable[..., MetricResult],
    metric: Metric,
    problem: Weighable,
    options: engine.Options,
    limited: Callable[[], LimitedSession],
    *,
    is_kept: Callable[[engine.Nodes], bool],
    go_on: Callable[[MetricResult], None] = lambda free: None,
    callback: Callable[[engine.Event], object] | None = None,
) -> WithinLimits:
    """Find a tree that maximises a metric among the trees within limits.

    The best tree of all comes first, in half of the time: if it keeps the limits, there is nothing
    else to do.

    Parameters
    ----------
    search : callable
        `solve_metric` with all that is asked of it but rows and options.
    metric : Metric
        What it maximises.
    problem : Session or Problem
        The rows, without limits.
    options : Options
        Limits on the size of trees, and the time for all searches.
    limited : callable
        Returns the rows with limits, if they are needed.
    is_kept : callable
        Whether a tree of the first search keeps the limits.
    go_on : callable
        Told of the best tree of all before trees within the limits are searched.
    callback : callable, optional
        As for `solve_metric`.
    """
    half = None if options.time_limit is None else options.time_limit / 2
    free = search(problem, options=replace(options, time_limit=half))
    go_on(free)
    keeps = is_kept(free.nodes)
    if free.status in ("optimal", "gap") and keeps:
        return WithinLimits(free, free, is_free=True)
    session, left = limited(), with_time_left(options)
    if keeps:
        session.trees.append(free.nodes)
    if free.status == "interrupted":
        left = replace(left, time_limit=1e-3)
    if not session.trees:
        errors = np.array([[0, 1], [1, 0]], dtype=np.int64)
        first = session.solve(errors, replace(left, error_scale=1), callback)
        if not session.trees:
            return WithinLimits(free, None, first)
        left = with_time_left(options)
    found = search(session, options=left)
    status = "interrupted" if free.status == "interrupted" else found.status
    found = replace(found, status=status, n_solves=found.n_solves + free.n_solves)
    if free.bound < found.bound:
        # What holds for all trees holds for those within the limits.
        if free.bound < found.objective and is_taken_on_trust(metric):
            check_monotone(metric.name, free.values | found.values)
        check_bounds(1 - free.bound, 1 - found.objective)
        found = replace(found, bound=free.bound, cuts=[*free.cuts, *found.cuts])
    return WithinLimits(free, found)


def solve_metric_path(
    problem: Weighable,
    metric: Metric,
    options: engine.Options,
    *,
    callback: Callable[[engine.Event], object] | None = None,
    known: Iterable[Found] = (),
) -> MetricPath:
    """Find the best tree for every number of splits.

    Parameters
    ----------
    problem : Session or Problem
        As for `solve_metric`.
    metric : Metric
        What is maximised.
    options : Options
        Limits, of which `max_depth` or `max_splits` is needed.
    callback : callable, optional
        As for `solve_metric`; the bounds are those of the largest trees.
    known : iterable of Found
        Trees within the limits that are known: only better ones are looked for.

    Returns
    -------
    MetricPath
        One entry for each number of splits with which the metric is greater than with fewer.
    """
    _check_kind(metric)
    if options.max_depth is None and options.max_splits is None:
        raise ValueError(
            "A path over numbers of splits needs max_depth or max_splits; give one of them."
        )
    if metric.kind == "monotone":
        return monotone_path(problem, metric, options, callback, known)
    return PathSearch(problem, metric, options, callback, known).find()


def supported_front(
    problem: Weighable,
    options: engine.Options,
    *,
    callback: Callable[[engine.Event], object] | None = None,
) -> SupportedFront:
    """Find all trees that are corners of the convex hull: best for some weights of the two errors.

    Parameters
    ----------
    problem : Session or Problem
        As for `solve_metric`.
    options : Options
        Limits.
    callback : callable, optional
        Called now and then with seconds and work; a true answer stops the search.

    Returns
    -------
    SupportedFront
    """
    return SupportedSearch(problem, options, callback).find()


def _check_kind(metric: Metric) -> None:
    if metric.kind in ("front", "chain"):
        raise ValueError(
            f"{metric.name} is not a function of one confusion matrix, so no search for a metric "
            "finds it."
        )
