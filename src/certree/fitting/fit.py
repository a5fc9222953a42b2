"""The way of a fit: from a request to a tree and its certificate.

The table of routes (`plan`) was asked when the request was made. A route reads the rows (`read`),
states the problem in integers (`state_*`), proves (`prove_*`) and certifies (`certify`).
"""

from __future__ import annotations

from collections.abc import Callable

from certree.results._activity import proven

from .budgets import open_call
from .fitted import Fitted
from .prove import fit_sum
from .prove_area import fit_area
from .prove_front import fit_front
from .prove_groups import fit_groups
from .prove_limited import fit_within
from .prove_metric import fit_metric
from .prove_metric_within import fit_metric_within
from .request import Request
from .unproven import warn_of_endless_search, warn_of_unproven

_ROUTES: dict[str, Callable[[Request], Fitted]] = {
    "sum": fit_sum,
    "outputs": fit_sum,
    "limits": fit_within,
    "metric": fit_metric,
    "metric within limits": fit_metric_within,
    "area": fit_area,
    "front of errors": fit_front,
    "groups": fit_groups,
}
"""What answers requests, by the names of their routes."""


def fit(request: Request) -> Fitted:
    """Find what is asked for, and warn of what was not proven."""
    warn_of_endless_search(request)
    fitted = find(request)
    warn_of_unproven(request, fitted)
    return fitted


def find(request: Request) -> Fitted:
    """Find what is asked for, within the budget of the request."""
    with open_call(request.by, request.budget) as call:
        fitted = _ROUTES[request.route.name](request)
        proven(call, None if fitted.front is not None else fitted.certificate)
    return fitted
