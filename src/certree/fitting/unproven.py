"""Warnings of a fit: what was not proven, and why."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from certree.exceptions import OptimalityWarning, warn
from certree.numbers._exact import read_fraction
from certree.results._certificate import Exact, show
from certree.results._pareto import FrontCertificate
from certree.results._path import RegularizationPath
from certree.results._record import status_text

from .fitted import Fitted
from .goals import GroupGoal, TaskGoal
from .request import Request


def warn_of_endless_search(request: Request) -> None:
    """Warn if nothing limits the size of the tree and that makes the search endless."""
    size = request.size
    if size.max_depth is not None or size.max_splits is not None:
        return
    # With leaves of a single row, a tree that separates all it can is best, and found at once.
    if request.table.min_samples_leaf != 1 and read_fraction(size.complexity, "complexity") == 0:
        warn(
            "Nothing limits the size of the tree: max_depth and max_splits are None, and "
            "complexity is 0, so that trees with as many splits as there are rows are "
            "searched. The search may well end at time_limit or memory_limit; set a "
            "complexity or a limit.",
            UserWarning,
        )


def warn_of_unproven(request: Request, fitted: Fitted) -> None:
    """Warn with the gap if a limit ended a search."""
    if fitted.front is not None:
        _warn_of_front(fitted.front.certificate)
        return
    _warn_of_tree(request, fitted)
    if fitted.path is not None:
        warn_of_path(fitted.path)


def warn_of_path(path: RegularizationPath) -> None:
    """Warn if a limit ended the search for a path."""
    if path.is_optimal:
        return
    proven = sum(entry.is_optimal for entry in path)
    warn(
        f"The path was {status_text(path.status)}: {proven} of {len(path)} trees "
        "are proven best for their number of splits. Raise the limit, or ask for a smaller "
        "max_depth or max_splits.",
        OptimalityWarning,
    )


def _warn_of_front(front: FrontCertificate) -> None:
    if front.is_optimal:
        return
    warn(
        f"The search for the front was {status_text(front.status)}: "
        f"{len(front.points)} trees were found, and others may be missing; its lower_points bound "
        "what any tree can reach. Raise the limit, or ask for smaller trees.",
        OptimalityWarning,
    )


def _warn_of_tree(request: Request, fitted: Fitted) -> None:
    certificate = fitted.certificate
    if not certificate.has_tree:
        _warn_without_tree(request, certificate)
        return
    if certificate.status in ("optimal", "gap"):
        return
    if certificate.status == "precision" and certificate.gap == 0:
        rounding = show(certificate.rounding)
        warn(
            f"Numbers were rounded by {rounding} in all to fit 64 bits, so the proof is not "
            f"exact: the cost is {show(certificate.cost)}, and another tree may cost less by "
            f"up to twice the rounding. {_advice_on_digits(certificate)}",
            OptimalityWarning,
        )
        return
    if certificate.status == "precision":
        cause = "The search needed numbers of more than 64 bits"
        advice = f"Accept a gap. {_advice_on_digits(certificate)}"
    elif certificate.status != "interrupted":
        limit = getattr(request.budget, certificate.status, None)
        cause = f"The search reached {certificate.status}={limit!r}"
        advice = f"Raise {certificate.status}, accept a gap, or ask for a smaller tree."
    elif fitted.was_stopped:
        cause, advice = "The callback stopped the search", "Let it run longer for a proof."
    else:
        cause, advice = "The search was interrupted", "Let it run longer for a proof."
    warn(
        f"{cause} before the tree was proven optimal: its cost is {show(certificate.cost)}, no "
        f"tree can cost less than {show(certificate.lower_bound)}, so the gap is "
        f"{certificate.gap_text()}. {advice}",
        OptimalityWarning,
    )


def _advice_on_digits(certificate: Any) -> str:
    """Return which numbers need fewer digits, so that nothing has to be rounded."""
    if certificate.weight_quantum is not None:
        return (
            "Round sample_weight yourself, for example to two decimals: weights of few digits "
            "are counted exactly, and leave room for the digits of the other numbers."
        )
    if certificate.task in ("poisson", "gamma", "survival"):
        return (
            "The rows differ so little by this criterion that logarithms in float64 do not "
            "show it; 'squared_error' tells such rows apart."
        )
    return (
        "Round the numbers that are given for rows, as y or costs, yourself: those of few "
        "digits are counted exactly."
    )


def _warn_without_tree(request: Request, certificate: Any) -> None:
    """Say why there is no tree."""
    goal = request.goal
    if isinstance(goal, GroupGoal):
        _warn_without_fair_tree(goal, certificate)
        return
    is_answer = isinstance(goal, TaskGoal) and goal.allows_no_tree
    if certificate.is_infeasible and is_answer:
        return
    kind = UserWarning if certificate.is_infeasible else OptimalityWarning
    warn(f"{certificate.statement()} There is nothing to predict with.", kind)


def _warn_without_fair_tree(goal: GroupGoal, certificate: Any) -> None:
    if not certificate.is_infeasible:
        warn(
            f"{certificate.statement()} There is nothing to predict with: raise the limit, or "
            "the tolerance.",
            OptimalityWarning,
        )
        return
    closest = certificate.least_disparity
    advice = "" if closest is None else f" A tolerance of {_at_least(closest)} can be kept to."
    warn(
        f"No tree is within tolerance={goal.tolerance!r}, which is proven; there is nothing to "
        f"predict with.{advice}",
        UserWarning,
    )


def _at_least(number: Exact) -> str:
    """Return a number as text, rounded up where it is rounded: what it allows is kept."""
    text = show(number)
    if not text.startswith("~"):
        return text
    places = 7 - math.ceil(math.log10(number))
    return str(Decimal(math.ceil(number * 10**places)).scaleb(-places))
