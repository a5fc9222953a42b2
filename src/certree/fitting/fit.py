"""The way of a fit: from a request to a tree and its certificate.

The table of routes (`plan`) was asked when the request was made. A route reads the rows (`read`),
states the problem in integers (`state_*`), proves (`prove_*`) and certifies (`certify`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from certree.results._activity import proven

from .budgets import open_call
from .fitted import Fitted
from .request import Request
from .unproven import warn_of_endless_search, warn_of_unproven

_ROUTES = {
    "sum": ("prove", "fit_sum"),
    "outputs": ("prove", "fit_sum"),
    "limits": ("prove_limited", "fit_within"),
    "metric": ("prove_metric", "fit_metric"),
    "metric within limits": ("prove_metric_within", "fit_metric_within"),
    "area": ("prove_area", "fit_area"),
    "front of errors": ("prove_front", "fit_front"),
    "groups": ("prove_groups", "fit_groups"),
}
"""The module and the function that answer requests, by the names of their routes. A module, and the
proofs that it needs, loads with the first request of its route."""


def fit(request: Request) -> Fitted:
    """Find what is asked for, and warn of what was not proven."""
    warn_of_endless_search(request)
    fitted = find(request)
    warn_of_unproven(request, fitted)
    return fitted


def find(request: Request) -> Fitted:
    """Find what is asked for, within the budget of the request."""
    module, name = _ROUTES[request.route.name]
    # Before the budget of the call begins, since the first request of a route loads its modules.
    answer: Callable[[Request], Fitted] = getattr(import_module(f".{module}", __package__), name)
    with open_call(request.by, request.budget) as call:
        fitted = answer(request)
        proven(call, None if fitted.front is not None else fitted.certificate)
    return fitted
