"""Costs, risks and curves of survival trees, recomputed from times and events."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._audit import Audit, Data, Walk
from ._leaf_costs import Leaves, Rates
from ._notes import Note, Printed, RowsOf, mean
from ._plain_numbers import last_bits, read, share_explained
from ._raw_frames import as_frame

# Cumulative hazards are integers of this unit, which float64 cannot tell from the exact ones.
_FINE = 2**160

_EVENT_NAMES = ("event", "events", "status", "death", "died", "dead", "observed", "failure")
_NORMAL = 1.959963984540054


@dataclass(frozen=True)
class Observed:
    """Time and event of the rows that count, and the cumulative hazard of all of them."""

    data: Data
    time: Mapping[int, Fraction]
    event: Mapping[int, bool]
    steps: Sequence[tuple[Fraction, Fraction]]
    """Times of events, and the cumulative hazard from each on."""
    hazard: Mapping[int, Fraction]
    """The cumulative hazard at the time of each row."""

    def expected(self, rows: Sequence[int]) -> Fraction:
        """Return the number of events that the hazard of all rows lets expect."""
        return sum((self.data.weights[row] * self.hazard[row] for row in rows), Fraction(0))

    def seen(self, rows: Sequence[int]) -> Fraction:
        """Return the number of events."""
        return Fraction(sum(self.data.weights[row] for row in rows if self.event[row]))

    def rates(self) -> Rates:
        """Return events and cumulative hazards, with weights."""
        weights = {row: Fraction(weight) for row, weight in self.data.weights.items()}
        return Rates(
            {row: weight * self.event[row] for row, weight in weights.items()},
            {row: weight * self.hazard[row] for row, weight in weights.items()},
            1,
        )

    def loss(self, rows: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Return the loss of a leaf, and how far float64 may be off."""
        seen = self.seen(rows)
        if not seen:
            return Fraction(0), Fraction(0)
        terms = [
            -float(self.data.weights[row]) * math.log(self.hazard[row])
            for row in rows
            if self.event[row]
        ]
        terms.append(-float(seen) * math.log(seen / self.expected(rows)))
        size = Fraction(math.fsum(map(abs, terms))) + seen
        return max(Fraction(math.fsum(terms)), Fraction(0)), size * last_bits(len(rows))


def survival(data: Data, y: Any, is_weighted: bool = False) -> Leaves:
    """Return leaves that cost the loss of their best risk, with curves to be looked at."""
    found = _observe(data, y)
    half = Fraction(min(data.weights.values())) / 2

    def of(rows: Sequence[int], value: Any) -> Fraction:
        risk = (found.seen(rows) or half) / found.expected(rows)
        if not isinstance(value, float | int) or abs(read(value) - risk) > risk / 10**11:
            raise CertificateError(
                f"a leaf predicts {value!r}, but the risk of its rows is {float(risk)!r}."
            )
        return found.loss(rows)[0]

    whole = found.loss(data.rows)[0]
    return Leaves(
        "survival",
        of,
        lambda rows: found.loss(rows)[0],
        lambda cost: share_explained(cost, whole),
        whole,
        noise=lambda rows: found.loss(rows)[1],
        rates=found.rates(),
        note=lambda rows, off: _note(found, rows, is_weighted=is_weighted),
        inspect=lambda audit, tree, walk: _check_curves(found, audit, tree, walk),
    )


def _note(found: Observed, rows: Sequence[int], *, is_weighted: bool) -> Note:
    """Return what trees note on a node."""
    seen, expected = found.seen(rows), found.expected(rows)
    off = found.data.total() * last_bits(len(found.data.rows))
    told = mean(seen, 1, off, ".6g")
    others: list[str | Printed] = [", ", mean(expected, 1, off + expected / 2**30), " expected"]
    if is_weighted:
        return [RowsOf(), ", events of weight ", told, *others]
    return [told, " event" if seen == 1 else " events", *others]


# ---- reading -----------------------------------------------------------------------------------


def _observe(data: Data, y: Any) -> Observed:
    times, events = _columns(y)
    if len(times) != data.n_rows:
        raise ValueError(f"X has {data.n_rows} rows, but y has {len(times)}.")
    time = {row: read(times[row], "a time") for row in data.rows}
    event = {row: events is None or bool(read(events[row], "an event")) for row in data.rows}
    steps: list[tuple[Fraction, Fraction]] = []
    at_risk, total = data.total(), 0
    by_time: dict[Fraction, list[int]] = {}
    for row in data.rows:
        by_time.setdefault(time[row], []).append(row)
    hazard: dict[int, Fraction] = {}
    early: list[int] = []
    for moment in sorted(by_time):
        rows = by_time[moment]
        ended = Fraction(sum(data.weights[row] for row in rows if event[row]))
        if ended:
            total += int(ended / at_risk * _FINE)
            steps.append((moment, Fraction(total, _FINE)))
        if not steps:
            early += rows
        hazard.update(dict.fromkeys(rows, Fraction(total, _FINE)))
        at_risk -= Fraction(sum(data.weights[row] for row in rows))
    # Rows that are censored before the first event count a little, too.
    lightest = Fraction(min(data.weights.values()))
    hazard.update(dict.fromkeys(early, lightest / (data.total() + lightest)))
    return Observed(data, time, event, steps, hazard)


def _columns(y: Any) -> tuple[Sequence[Any], Sequence[Any] | None]:
    """Return times and events as lists; no events, if all were seen."""
    if y is None:
        raise ValueError("y must be passed: time and event of each row.")
    dtype: Any = getattr(y, "dtype", None)
    frame = as_frame(y)
    names: list[Any] = list(getattr(dtype, "names", None) or ())
    columns = [np.asarray(y[name]) for name in names]
    if frame is not None:
        names = frame[0]
        columns = [np.asarray(series.to_numpy()) for series in frame[1].iter_columns()]
    if not names:
        array = np.asarray(y)
        if array.ndim == 2 and array.shape[1] == 2:
            return array[:, 0].tolist(), array[:, 1].tolist()
        return array.ravel().tolist(), None
    if len(columns) == 1:
        return columns[0].tolist(), None
    if len(columns) != 2:
        raise ValueError(f"y must have two columns, time and event, got {names}.")
    places = [k for k in (0, 1) if columns[k].dtype.kind == "b"]
    if len(places) != 1:
        places = [k for k in (0, 1) if str(names[k]).lower() in _EVENT_NAMES]
    if len(places) != 1:
        places = [0 if frame is None else 1]
    return columns[1 - places[0]].tolist(), columns[places[0]].tolist()


# ---- curves ------------------------------------------------------------------------------------


def _check_curves(found: Observed, audit: Audit, tree: Any, walk: Walk) -> None:
    """Compare the baseline, and the Kaplan-Meier curve of every leaf."""
    payload: Any = getattr(tree, "payload", None)
    if not hasattr(payload, "curves"):
        return
    _compare(audit, "times of the baseline", payload.times, [float(t) for t, _ in found.steps])
    _compare(audit, "hazards of the baseline", payload.hazards, [float(h) for _, h in found.steps])
    for leaf in walk.leaves:
        curve = payload.curves[walk.tree.label[leaf]]
        for name, values in _kaplan_meier(found, walk.rows[leaf]).items():
            _compare(audit, f"{name} of the curve of leaf {leaf}", getattr(curve, name), values)
    audit.done("the baseline hazard, and the survival curve of every leaf")


def _kaplan_meier(found: Observed, rows: Sequence[int]) -> dict[str, list[float]]:
    weights, share, variance = found.data.weights, Fraction(1), 0.0
    columns = ("time", "survival", "lower", "upper", "at_risk", "events")
    curve: dict[str, list[float]] = {name: [] for name in columns}
    at_risk = Fraction(sum(weights[row] for row in rows))
    by_time: dict[Fraction, list[int]] = {}
    for row in rows:
        by_time.setdefault(found.time[row], []).append(row)
    for moment in sorted(by_time):
        here = by_time[moment]
        ended = Fraction(sum(weights[row] for row in here if found.event[row]))
        if ended:
            left = at_risk - ended
            share = Fraction(int(share * left / at_risk * _FINE), _FINE)
            low = high = 0.0
            if share:
                variance += float(ended / (at_risk * left))
                log = math.log1p(share - 1) if 2 * share > 1 else math.log(share)
                width = _NORMAL * math.sqrt(variance) / log
                low, high = (math.exp(log * math.exp(min(sign * width, 700))) for sign in (-1, 1))
            values: tuple[Any, ...] = (moment, share, low, high, at_risk, ended)
            for name, value in zip(columns, values, strict=True):
                curve[name].append(float(value))
        at_risk -= Fraction(sum(weights[row] for row in here))
    curve["last"] = [float(max(by_time))]
    return curve


def _compare(audit: Audit, what: str, stated: Any, wanted: Sequence[float]) -> None:
    given = np.atleast_1d(np.asarray(stated, dtype=np.float64)).tolist()
    same = len(given) == len(wanted) and all(
        math.isclose(one, other, rel_tol=1e-8, abs_tol=1e-12)
        for one, other in zip(given, wanted, strict=True)
    )
    if not same:
        audit.differ(f"{what}: the tree has other numbers than its rows give")
