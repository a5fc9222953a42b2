"""Check paths: the best tree for every number of splits, from the entry to its tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ._audit import Audit, Data, Walk, check_size, walk_down
from ._brute_force import TreeSizes, cost_points
from ._fields import STATUSES, check_types
from ._metric_audit import all_tests
from ._plain_numbers import Exact, exact, is_close, show


def check_path(
    audit: Audit,
    data: Data,
    path: Any,
    show: Callable[[Walk], None],
    cost_of: Callable[[Walk], Exact] | None = None,
    objective: Callable[[Fraction], float] | None = None,
    slack: Exact = 0,
    share: float = 0.0,
) -> None:
    """Check that entries state the cost of their trees, with rising splits and falling costs.

    Parameters
    ----------
    audit : Audit
        With the certificate of the model that has the path.
    data : Data
        The rows.
    path : RegularizationPath or None
        The path; None: there is nothing to check.
    show : callable
        Compares what a tree shows.
    cost_of : callable, optional
        What a tree costs; by default its errors.
    objective : callable, optional
        From a cost to the user's terms; by default the accuracy.
    slack : number
        How far costs may be off.
    share : float
        How far values in the user's terms may be off.
    """
    if path is None:
        return
    if path.status not in STATUSES:
        audit.differ(f"status {path.status!r} of the path is unknown")
    total = data.total()
    names = ("errors", "accuracy") if cost_of is None else ("cost", "objective")
    if cost_of is None and any(weight != 1 for weight in data.weights.values()):
        is_balanced = audit.certificate.task == "balanced_accuracy"
        names = "weighted errors", "balanced accuracy" if is_balanced else "weighted accuracy"
    audit.compare("measures of the path", tuple(path.measures), names)
    for place, entry in enumerate(path.entries):
        check_types(entry)
        where = f"entry {place} of the path"
        walk = walk_down(audit, data, entry.tree, where)
        show(walk)
        cost = _errors(data, walk) if cost_of is None else cost_of(walk)
        audit.compare(f"{where}: splits", entry.splits, walk.n_splits)
        audit.compare_within(f"{where}: errors", entry.errors, cost, slack + data.slack)
        score = (lambda errors: float(1 - errors / total)) if objective is None else objective
        stated = score(Fraction(entry.errors))
        if not is_close(entry.accuracy, stated, share + 1e-9 * abs(stated) * bool(slack)):
            audit.compare(f"{where}: accuracy", entry.accuracy, stated)
        if entry.lower_bound > entry.errors:
            audit.differ(f"{where}: the lower bound is above the errors")
        if path.status == "optimal" and entry.lower_bound != entry.errors:
            audit.differ(f"{where}: status is 'optimal', but there is a gap")
        check_size(audit, walk, path, where)
    for one, other in pairwise(path.entries):
        if not (one.splits < other.splits and one.errors > other.errors):
            audit.differ("path: splits do not rise while errors fall")
            break
    certificate = audit.certificate
    for name in ("max_depth", "max_splits", "min_samples_leaf"):
        audit.compare(f"{name} of the path", getattr(path, name), getattr(certificate, name))
    if cost_of is None:
        audit.compare_within("total weight of the path", path.total_weight, total, data.slack)
    audit.done(f"{len(path.entries)} trees of the path")


def check_whole_path(
    audit: Audit,
    data: Data,
    path: Any,
    leaf: Callable[[Sequence[int]], Fraction],
    slack: Exact,
) -> None:
    """Find the path again by trying all trees.

    Parameters
    ----------
    audit, data, path
        As for :func:`check_path`.
    leaf : callable
        What a leaf with some of the rows costs, given their places among those that count.
    slack : number
        How far costs may be off.
    """
    if path is None:
        return
    found = cost_points(all_tests(data), len(data.rows), leaf, Fraction(0), TreeSizes.of(path))
    for cost, splits in found:
        for entry in path.entries:
            if entry.splits >= splits and cost < entry.lower_bound - slack:
                audit.differ(
                    f"path: no tree with {entry.splits} splits is said to be below "
                    f"{show(entry.lower_bound)}, but one has {show(exact(cost))}"
                )
        stated = [entry.errors for entry in path.entries if entry.splits <= splits]
        if path.status == "optimal" and cost < min(stated, default=cost + slack + 1) - slack:
            audit.differ(f"the path misses a tree with {splits} splits and {show(exact(cost))}")
    audit.done(f"all {len(found)} trees of the path, by trying all trees")


def _errors(data: Data, walk: Walk) -> Exact:
    label = walk.tree.label
    return sum(
        data.weights[row]
        for leaf in walk.leaves
        for row in walk.rows[leaf]
        if data.classes[row] != label[leaf]
    )
