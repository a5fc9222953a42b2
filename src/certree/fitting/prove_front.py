"""Fits whose objective is the front of all nondominated trees."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from certree import engine
from certree.engine._front import solve_front
from certree.metrics import ErrorFront
from certree.proofs._metric_search import supported_front
from certree.results._activity import activity
from certree.results._answer import Answer
from certree.results._certificate import Certificate
from certree.results._lazy import Lazy
from certree.results._pareto import FrontCertificate, ParetoFront, Point, most_accurate
from certree.results._progress import Callback, FrontObserver, Observer

from .certify import certify
from .prove_metric import Fitted, TrainingRows, state_metric
from .state_binary import BinaryStatement

if TYPE_CHECKING:
    from certree.estimators._classifier import OptimalTreeClassifier


@dataclass(frozen=True)
class FoundFront:
    """What a search for a front found, in integer weights."""

    status: str
    points: Sequence[tuple[int, int, int]]
    trees: Sequence[engine.Nodes]
    lower_points: Sequence[tuple[int, int, int]]
    counters: dict[str, int]
    seconds: float
    n_solves: int


def fit_front(
    model: OptimalTreeClassifier, metric: ErrorFront, rows: TrainingRows, callback: Callback | None
) -> Fitted:
    """Find the front, and fit the model to its most accurate tree."""
    statement, _ = state_metric(model, "front", rows, model._question("front"))
    front = find_front(model, statement, callback, supported_only=metric.supported_only)
    pick = front[most_accurate(front.certificate.points)]
    model.tree_, model.certificate_, model.front_ = pick.tree_, pick.certificate_, front
    return None, statement


def find_front(
    model: OptimalTreeClassifier,
    statement: BinaryStatement,
    callback: Callback | None,
    *,
    supported_only: bool = False,
    per_splits: bool = False,
) -> ParetoFront:
    """Find the front within a model's limits."""
    watch = None
    if callback is not None or activity() is not None:
        watch = FrontObserver(statement.weight(statement.positives), callback)
    search = _search_supported if supported_only else _search
    found = search(model, statement, watch, per_splits)
    if found.status == "optimal" and statement.loses_shares:
        found = replace(found, status="precision")
    points = [_weigh(statement, point) for point in found.points]
    lower = points
    if supported_only or found.status != "optimal":
        lower = [_weigh(statement, point) for point in found.lower_points]
    trees = Lazy(
        len(found.trees),
        lambda place: statement.grow(statement.with_class_labels(found.trees[place])),
    )
    certificate = FrontCertificate(
        status=found.status,
        points=tuple(points),
        lower_points=tuple(lower),
        **statement.totals(),
        supported_only=supported_only,
        per_splits=per_splits,
        seconds=statement.seconds + found.seconds,
        counters=dict(found.counters),
        n_solves=found.n_solves,
    )
    base = copy.copy(model)
    base._path = None
    base.tree_ = trees[0]
    base.certificate_ = _first_certificate(model, statement, found, certificate)
    return ParetoFront(base, trees, certificate)


def _search(
    model: OptimalTreeClassifier,
    statement: BinaryStatement,
    watch: Observer | None,
    per_splits: bool,
) -> FoundFront:
    result = solve_front(
        statement.problem,
        model._engine_options(),
        per_splits=per_splits,
        callback=watch,
    )
    return FoundFront(
        result.status,
        [(fp, fn, splits) for fp, fn, splits in result.points.tolist()],
        result.trees,
        [(fp, fn, splits) for fp, fn, splits in result.lower_points.tolist()],
        result.counters,
        result.seconds,
        1,
    )


def _search_supported(
    model: OptimalTreeClassifier, statement: BinaryStatement, watch: Observer | None, _: bool
) -> FoundFront:
    result = supported_front(
        statement.problem,
        model._engine_options(),
        callback=watch,
    )
    return FoundFront(
        "precision" if result.status == "gap" else result.status,
        result.points,
        [tree.nodes for tree in result.trees],
        result.lower_points,
        result.counters,
        result.seconds,
        result.n_solves,
    )


def _weigh(statement: BinaryStatement, point: tuple[int, int, int]) -> Point:
    return statement.weight(point[0]), statement.weight(point[1]), point[2]


def _first_certificate(
    model: OptimalTreeClassifier,
    statement: BinaryStatement,
    found: FoundFront,
    front: FrontCertificate,
) -> Certificate:
    """Return what the certificates of all points have in common, filled in for the first."""
    fp, fn, splits = front.points[0]
    return certify(
        model,
        statement,
        Answer(front.status, fn, fn, found.trees[0], found.seconds, dict(found.counters)),
        Certificate,
        status=front.status,
        objective=float(1 - fn / Fraction(front.positives)),
        n_splits=splits,
        depth=0,
        task="front",
        fp=fp,
        fn=fn,
        **statement.totals(),
        n_solves=found.n_solves,
    )
