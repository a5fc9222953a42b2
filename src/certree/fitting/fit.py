"""The way of a fit: from a request to a tree and its certificate.

The table of routes (`plan`) was asked when the request was made. A route reads the rows (`read`),
states the problem in integers (`state_*`), proves (`prove_*`) and certifies (`certify`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from certree.results._activity import proven

from .budgets import open_call
from .fitted import Fitted
from .plan import Route
from .request import Request
from .unproven import warn_of_endless_search, warn_of_unproven


def fit(request: Request) -> Fitted:
    """Find what is asked for, and warn of what was not proven, if its route proves anything."""
    if request.route.proof is None:
        return find(request)
    warn_of_endless_search(request)
    fitted = find(request)
    warn_of_unproven(request, fitted)
    return fitted


def find(request: Request) -> Fitted:
    """Find what is asked for, within the budget of the request."""
    # Before the budget of the call begins, since the first request of a route loads its modules.
    answer: Callable[[Request], Fitted] = function_of(request.route)
    with open_call(request.by, request.budget) as call:
        fitted = answer(request)
        proven(call, None if fitted.front is not None else fitted.certificate)
    return fitted


def function_of(route: Route) -> Callable[[Request], Any]:
    """Return the function that answers requests of a route."""
    module, name = route.function.split(":")
    function: Callable[[Request], Any] = getattr(import_module(module, __package__), name)
    return function
