"""Fits whose objective is the front of all nondominated trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from certree import engine, metrics
from certree.engine._front import solve_front
from certree.metrics import ErrorFront
from certree.proofs._metric_search import supported_front
from certree.results._answer import Answer
from certree.results._certificate import Certificate
from certree.results._lazy import Lazy
from certree.results._pareto import FrontCertificate, Point
from certree.results._progress import FrontObserver, Observer

from .certify import certify
from .fitted import Fitted
from .prove_metric import state_metric
from .request import Request
from .state_binary import BinaryStatement


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


@dataclass(frozen=True)
class FrontParts:
    """What a front is made of.

    Attributes
    ----------
    trees : sequence of Tree
        The trees, in the order of the points.
    certificate : FrontCertificate
        The points and their proof.
    """

    trees: Lazy
    certificate: FrontCertificate


def fit_front(request: Request) -> Fitted:
    """Find the front; the tree is the first of it."""
    metric = metrics.get(request.classes.objective)
    assert isinstance(metric, ErrorFront)
    statement, _ = state_metric(request, "front", "front")
    watch = None
    if request.is_watched:
        watch = FrontObserver(statement.weight(statement.positives), request.callback)
    per_splits, supported_only = bool(request.asked["per_splits"]), metric.supported_only
    options = request.options(statement)
    if supported_only:
        found = _search_supported(statement, options, watch)
    else:
        found = _search(statement, options, watch, per_splits)
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
    return Fitted(
        goal=request.goal,
        statement=statement,
        tree=trees[0],
        certificate=_first_certificate(request, statement, found, certificate),
        front=FrontParts(trees, certificate),
    )


def _search(
    statement: BinaryStatement, options: engine.Options, watch: Observer | None, per_splits: bool
) -> FoundFront:
    result = solve_front(statement.problem, options, per_splits=per_splits, callback=watch)
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
    statement: BinaryStatement, options: engine.Options, watch: Observer | None
) -> FoundFront:
    result = supported_front(statement.problem, options, callback=watch)
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
    request: Request,
    statement: BinaryStatement,
    found: FoundFront,
    front: FrontCertificate,
) -> Certificate:
    """Return what the certificates of all points have in common, filled in for the first."""
    fp, fn, splits = front.points[0]
    return certify(
        request,
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
