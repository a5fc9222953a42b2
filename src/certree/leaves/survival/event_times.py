"""Times until an event, some of them censored: cumulative hazards, survival curves, concordance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Cumulative hazards are added up in units of 2**-128, and rounded to float64 at the end.
_UNIT = 2**128

# The normal quantile that leaves 2.5 % above it.
_QUANTILE = 1.959963984540054


class EventSteps(NamedTuple):
    """The times of events, their weight, and the weight of all rows still observed."""

    time: NDArray[np.float64]
    events: NDArray[Any]
    at_risk: NDArray[Any]


def event_steps(time: NDArray[Any], event: NDArray[Any], weights: NDArray[Any]) -> EventSteps:
    """Return the times of events in ascending order; rows of weight zero count for nothing.

    Sums are exact for weights that are integers, or fractions in an array of objects.
    """
    times, places = np.unique(time, return_inverse=True)
    leaving, ended = (np.zeros(len(times), dtype=weights.dtype) for _ in range(2))
    np.add.at(leaving, places, weights)
    np.add.at(ended, places[event], weights[event])
    at_risk = leaving[::-1].cumsum()[::-1]
    seen = ended > 0
    return EventSteps(times[seen], ended[seen], at_risk[seen])


def _latest_first(time: NDArray[Any]) -> Iterator[tuple[float, list[int]]]:
    """Yield the distinct times from last to first, each with its rows."""
    times = time.tolist()
    order = np.argsort(time, kind="stable")[::-1].tolist()
    for moment, rows in groupby(order, key=times.__getitem__):
        yield moment, list(rows)


def nelson_aalen(
    time: NDArray[Any], event: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the times of events, and the cumulative hazard from each of them on.

    Weights are integers or fractions, and every number returned is the float64 next to the exact
    one.
    """
    found = event_steps(time, event, weights)
    pairs = zip(found.events.tolist(), found.at_risk.tolist(), strict=True)
    sums = accumulate(events * _UNIT // at_risk for events, at_risk in pairs)
    # A division by a power of two rounds nothing.
    return found.time, np.fromiter(map(float, sums), np.float64, len(found.time)) / float(_UNIT)


class KaplanMeier(NamedTuple):
    """Shares of rows without an event, from each time of an event on, with bands of 95 %."""

    time: NDArray[np.float64]
    survival: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    at_risk: NDArray[np.float64]
    events: NDArray[np.float64]


def kaplan_meier(time: NDArray[Any], event: NDArray[Any], weights: NDArray[Any]) -> KaplanMeier:
    """Return the Kaplan-Meier curve, with Greenwood's variance on the scale of log(-log).

    Weights are integers or fractions, so that nothing is left where nothing should be.
    """
    found = event_steps(time, event, weights)
    events, at_risk = found.events.astype(np.float64), found.at_risk.astype(np.float64)
    left = (found.at_risk - found.events).astype(np.float64)
    with np.errstate(all="ignore"):
        survival = np.asarray(np.cumprod(left / at_risk), dtype=np.float64)
        greenwood = np.cumsum(events / (at_risk * left))
        # Near one, the logarithm has digits that the share of survivors itself has lost.
        steps = np.where(events < left, np.log1p(-events / at_risk), np.log(left / at_risk))
        logs = np.cumsum(steps)
        width = _QUANTILE * np.sqrt(greenwood) / logs
        lower, upper = np.exp(logs * np.exp(-width)), np.exp(logs * np.exp(width))
    lower, upper = (np.where(survival > 0, band, 0.0) for band in (lower, upper))
    return KaplanMeier(found.time, survival, lower, upper, at_risk, events)


def concordance(
    time: NDArray[Any], event: NDArray[Any], risk: NDArray[Any], weights: Sequence[Any]
) -> float:
    """Return Harrell's concordance; NaN if no two rows can be compared.

    Two rows can be compared if one had its event, and the other was observed for longer, or just
    as long without an event. They agree if the first has the greater risk, and count half if both
    have the same. A pair counts by the product of its weights.
    """
    levels, codes = np.unique(risk, return_inverse=True)
    places = codes.ravel().tolist()
    # Sums of Python numbers are exact where weights are.
    counts: list[Any] = [0] * len(levels)
    agree: Any = 0
    pairs: Any = 0
    for _, rows in _latest_first(time):
        ended = [row for row in rows if event[row]]
        for row in rows:
            if not event[row]:
                counts[places[row]] += weights[row]
        if ended:
            below, total = [], 0
            for count in counts:
                below.append(total)
                total += count
            for row in ended:
                own = places[row]
                agree += weights[row] * (2 * below[own] + counts[own])
                pairs += weights[row] * total
            for row in ended:
                counts[places[row]] += weights[row]
    return float(Fraction(agree) / (2 * Fraction(pairs))) if pairs else float("nan")
