"""Check fronts: all trees that no other beats in both false positives and false negatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ._audit import Audit, Data, Walk, check_size, walk_down
from ._fields import check_types
from ._metric_audit import all_points, compare_positive, count_confusion, positive_class
from ._plain_numbers import text


def check_front(
    audit: Audit,
    data: Data,
    front: Any,
    labels: Sequence[Any],
    show: Callable[[Walk], None],
    *,
    is_of_model: bool,
) -> None:
    """Recompute every point of a front from its tree, and check that no point beats another.

    What a tree shows is compared by `show`.
    """
    claimed, positive = front.certificate, positive_class(audit, labels)
    check_types(claimed)
    trees = front.trees
    if len(trees) != len(claimed.points) or not trees:
        audit.differ(f"front: {len(trees)} trees, but {len(claimed.points)} points")
        return
    for place, (tree, point) in enumerate(zip(trees, claimed.points, strict=True)):
        where = f"point {place} of the front"
        walk = walk_down(audit, data, tree, where)
        show(walk)
        found = count_confusion(data, walk, positive)
        audit.compare_within(f"{where}, false positives", point[0], found.fp, data.slack)
        audit.compare_within(f"{where}, false negatives", point[1], found.fn, data.slack)
        audit.compare(f"{where}, splits", point[2], walk.n_splits)
        for name in ("positives", "negatives"):
            stated = getattr(claimed, name)
            audit.compare_within(f"{name} of the front", stated, getattr(found, name), data.slack)
        check_size(audit, walk, audit.certificate, where)
    compare_positive(audit, claimed.pos_label, labels[positive])
    _check_order(audit, claimed)
    objective = audit.parameters["objective"]
    if is_of_model:
        asked = getattr(objective, "supported_only", False)
        audit.compare("supported_only", claimed.supported_only, asked)
        audit.compare("per_splits", claimed.per_splits, False)
    audit.done(f"{len(trees)} points of the front, of which none beats another")


def _check_order(audit: Audit, claimed: Any) -> None:
    points = [tuple(p) if claimed.per_splits else tuple(p[:2]) for p in claimed.points]
    for i, one in enumerate(points):
        for j, other in enumerate(points):
            if i != j and all(a <= b for a, b in zip(one, other, strict=True)):
                audit.differ(f"front: point {i} is at least as good as point {j} in every respect")
                return
    if any(one[0] > other[0] for one, other in pairwise(claimed.points)):
        audit.differ("front: points are not in the order of rising false positives")
    if claimed.status in ("infeasible", "greedy", "gap"):
        audit.differ(f"front: the status cannot be {claimed.status!r}")
    if claimed.supported_only and set(points) != corners(points):
        audit.differ("front: some points are not corners of the convex hull")
    if claimed.status == "optimal" and not claimed.supported_only:
        audit.compare("lower points of the front", claimed.lower_points, claimed.points)
    for point in claimed.points:
        if not any(_is_below(low, point) for low in claimed.lower_points):
            audit.differ(f"front: no lower point is at or below {text(point)}")
            break


def _is_below(low: Sequence[Any], point: Sequence[Any]) -> bool:
    return all(a <= b for a, b in zip(low, point, strict=True))


def corners(points: Sequence[Any]) -> set[Any]:
    """Return the points that are strictly below the line between any two others around them."""
    return {
        p
        for p in points
        if not any(
            a[0] < p[0] < b[0] and (p[1] - a[1]) * (b[0] - a[0]) >= (b[1] - a[1]) * (p[0] - a[0])
            for a in points
            for b in points
        )
    }


def check_whole_front(audit: Audit, data: Data, front: Any, labels: Sequence[Any]) -> None:
    """Compare a front with that of all trees."""
    claimed = front.certificate
    points = all_points(audit, data, positive_class(audit, labels))
    size = 3 if claimed.per_splits else 2
    if not claimed.per_splits:
        points = [
            p
            for p in points
            if not any(
                q != p and q[0] <= p[0] and q[1] <= p[1] and (q[:2] != p[:2] or q[2] < p[2])
                for q in points
            )
        ]
    wanted = {tuple(point[:size]) for point in points}
    if claimed.supported_only:
        wanted = corners(list(wanted))
    found = {tuple(point[:size]) for point in claimed.points}
    if claimed.status == "optimal":
        missing, extra = wanted - found, found - wanted
        if missing or extra:
            audit.differ(
                f"front: {len(missing)} points are missing, {len(extra)} do not belong to it, by "
                "trying all trees"
            )
    if claimed.status != "optimal" or claimed.supported_only:
        for point in points:
            if not any(_is_below(low, point) for low in claimed.lower_points):
                audit.differ(f"front: the tree at {text(point)} has no lower point")
                break
    audit.done(f"{len(wanted)} points of the front, by trying all trees")
