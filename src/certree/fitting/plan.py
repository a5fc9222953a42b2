"""One table of routes: which search and proof answer what is asked, or the law that forbids it.

`plan` goes in order through those of `LAWS` that are about something asked, and raises the text of
the first that forbids it. If none does, it returns the first of `ROUTES` that serves what is asked.
What depends on the values of rows is checked where rows are read, not here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .asked import CHAIN, DECISIONS, ERRORS, FRONT, METRICS, PARTS, SEVERAL, Asked
from .law import Law
from .laws import LAWS


@dataclass(frozen=True)
class Route:
    """A line of the table that answers something.

    Attributes
    ----------
    name : str
        What estimators call it.
    function : str
        What answers its requests, as "module:function". The module, and the proofs that it needs,
        load with the first request.
    serves : callable
        Whether it answers what is asked, where no line before it does.
    answers : str
        What that is, for the page of combinations.
    proof : str or None
        The page of docs/theory that shows why nothing better is missed; None for searches that
        prove nothing.
    """

    name: str
    function: str
    serves: Callable[[Asked], bool]
    answers: str
    proof: str | None


def plan(asked: Asked) -> Route:
    """Return the route for what is asked; raise ValueError with the first law that forbids it."""
    refusal = refusal_of(asked)
    if refusal is not None:
        raise ValueError(refusal[1])
    return next(route for route in ROUTES if route.serves(asked))


def refusal_of(asked: Asked) -> tuple[Law, str] | None:
    """Return the first law that forbids what is asked, and its text; None if it has a route."""
    found = [name for name in asked.named if name in _ABOUT and asked.asks(name)]
    for number in sorted({number for name in found for number in _ABOUT[name]}):
        text = LAWS[number].broken_by(asked)
        if text is not None:
            return LAWS[number], text
    return None


_ABOUT: dict[str, list[int]] = {}
"""The numbers of the laws that are about a feature, in their order."""
for _number, _law in enumerate(LAWS):
    for _feature in _law.features:
        _ABOUT.setdefault(_feature, []).append(_number)


def _is_metric(asked: Asked) -> bool:
    return asked.objective.kind in METRICS


ROUTES: tuple[Route, ...] = (
    Route(
        "parts",
        ".prove_parts:solve_separable",
        lambda asked: asked.objective.kind == PARTS,
        "objectives by their parts",
        "limits",
    ),
    Route(
        "front of costs",
        ".prove_task_front:solve_for_front",
        lambda asked: asked.objective.kind == SEVERAL,
        "several objectives",
        "limits",
    ),
    Route(
        "greedy decisions",
        "certree.decisions._fit_greedy:fit_greedy",
        lambda asked: asked.objective.kind == DECISIONS and asked["method"] == "greedy",
        'decisions with `method="greedy"`',
        None,
    ),
    Route(
        "groups",
        ".prove_groups:fit_groups",
        lambda asked: asked.asks("constraint"),
        "rates of groups",
        "limits",
    ),
    Route(
        "outputs",
        ".prove:fit_sum",
        lambda asked: asked.n_outputs > 1 and asked.objective.kind == ERRORS,
        "several outputs with classes",
        "vector-statistics",
    ),
    Route(
        "area",
        ".prove_area:fit_area",
        lambda asked: asked.objective.kind == CHAIN,
        "areas under curves",
        "auc",
    ),
    Route(
        "front of errors",
        ".prove_front:fit_front",
        lambda asked: asked.objective.kind == FRONT,
        "all trade-offs of two errors",
        "front",
    ),
    Route(
        "metric within limits",
        ".prove_metric_within:fit_metric_within",
        lambda asked: _is_metric(asked) and asked.has_limits,
        "metrics within limits",
        "limits",
    ),
    Route("metric", ".prove_metric:fit_metric", _is_metric, "metrics", "metrics"),
    Route(
        "limits",
        ".prove_limited:fit_within",
        lambda asked: asked.has_limits,
        "limits on the whole tree",
        "limits",
    ),
    Route(
        "sum",
        ".prove:fit_sum",
        lambda asked: True,
        "all other objectives, sums over the leaves",
        "search",
    ),
)
"""The searches, each with its proof, in the order in which they are tried."""
