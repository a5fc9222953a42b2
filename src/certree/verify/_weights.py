"""Weights of rows and classes: as given, and as a search may have rounded them.

A search counts in 64-bit integers. Weights that fit are to be used exactly; others may be rounded,
and the certificate says to what. It may not be coarser than the range of the integers makes
necessary (docs/theory/exactness.md), so that nothing can hide behind a rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

from certree.exceptions import CertificateError

from ._audit import Audit, Data
from ._numbers import Exact, common_unit, decimals, exact, plain_list, read

# Sums of costs stay below this.
_RANGE = 2**62

# Real weights are rounded to the largest over this, if there is room for that.
_STEPS = 2**20

# What surely fits is exact, and what is rounded is no coarser than so much of the range leaves.
_MARGIN = 4


@dataclass(frozen=True)
class Room:
    """How many units all rows may weigh together, and how many their costs may have."""

    weights: int
    costs: int


def cost_range(n_rows: int, certificate: Any, share: Fraction = Fraction(1)) -> int:
    """Return how many units of cost a search can count, for trees of the size that is allowed.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    certificate : certificate
        With the limits on size.
    share : Fraction
        What a penalty is of the largest cost, at most.
    """
    most = most_splits(n_rows, certificate)
    return int(_RANGE // (16 * (most + 2)) / (1 + share * (most + 2)))


def most_splits(n_rows: int, certificate: Any) -> int:
    """Return a number of splits that no tree exceeds."""
    limits = [n for n in (certificate.max_depth, certificate.max_splits) if n is not None]
    return min(n_rows, 2 ** min([*limits, 40]) - 1)


def room_for_errors(data: Data, audit: Audit, reserve: int = 1) -> Room:
    """Return the room of a search that counts errors."""
    certificate = audit.certificate
    sizes: Any = certificate
    if audit.parameters.get("splits", "binary") != "binary":
        sizes = replace(certificate, max_depth=None, max_splits=None)
    share = min(Fraction(certificate.complexity), Fraction(1))
    costs = cost_range(data.n_rows, sizes, share) // reserve
    return Room(costs // 2**12, costs)


def room_for_metric(data: Data, audit: Audit) -> Room:
    """Return the room of a search for a metric: weights of the two errors need some."""
    costs = cost_range(data.n_rows, audit.certificate, Fraction(0)) // 2**21
    is_weighted = audit.parameters["class_weight"] is not None
    return Room(costs // 2**12 if is_weighted else costs, costs)


def room_for_area(data: Data, audit: Audit, rate: Fraction) -> Room:
    """Return the room of a search for an area: weights of the two classes are multiplied."""
    complexity = Fraction(audit.certificate.complexity)
    factor = max(rate.denominator, int(rate.numerator * complexity * (data.n_rows + 1)) + 1)
    costs = isqrt(2**58 // (factor * min(complexity.denominator, 1000)))
    is_weighted = audit.parameters["class_weight"] is not None
    return Room(costs // 2**12 if is_weighted else costs, costs)


def are_short(weights: Mapping[int, Exact], most: int) -> bool:
    """Return whether weights are short decimals of which so many units surely fit."""
    if decimals([Fraction(weight) for weight in set(weights.values())]) is None:
        return False
    return sum(weights.values()) <= common_unit(weights.values()) * most // _MARGIN


def check_quantum(audit: Audit, data: Data, most: int) -> None:
    """See that weights are rounded only where they have to be, and no more than that."""
    quantum = audit.certificate.weight_quantum
    if quantum is None:
        return
    if quantum <= 0:
        audit.differ(f"weight quantum: certified {quantum}, which is no weight")
        audit.raise_if_different()
    if are_short(data.weights, most):
        audit.compare("weight quantum", quantum, None)
    coarsest = max(
        Fraction(max(data.weights.values())) / _STEPS, data.total() * _MARGIN / max(most, 1)
    )
    if quantum > coarsest * (1 + Fraction(1, 2**40)):
        audit.differ(
            f"weight quantum: certified {float(quantum):.6g}, but weights need not be rounded to "
            f"more than {float(coarsest):.6g}"
        )


def counted(data: Data, quantum: Exact | None) -> Data:
    """Return the rows with weights that are rounded to multiples of a quantum."""
    if quantum is None:
        return data
    rounded = {
        row: exact(max(round(Fraction(weight) / quantum), 1) * Fraction(quantum))
        for row, weight in data.weights.items()
    }
    return replace(data, weights=rounded)


def with_classes(data: Data, y: Any, labels: Sequence[Any]) -> Data:
    """Return the rows with their classes.

    Raises
    ------
    CertificateError
        If the model does not know a label.
    """
    given = plain_list(y)
    if len(given) != data.n_rows:
        raise ValueError(f"X has {data.n_rows} rows, but y has {len(given)} labels.")
    code = {label: place for place, label in enumerate(labels)}
    unknown = {given[row] for row in data.rows} - set(code)
    if unknown:
        raise CertificateError(
            f"y has the labels {sorted(map(repr, unknown))}, which the model does not know; "
            f"its classes are {list(labels)}."
        )
    return replace(data, classes={row: code[given[row]] for row in data.rows})


def weighted_by_class(audit: Audit, data: Data, labels: Sequence[Any], room: Room) -> Data:
    """Return the rows with weights that include those of their classes, as certified."""
    wanted = wanted_class_weights(audit.parameters, data, labels)
    certified = audit.certificate.class_weights
    used = [Fraction(1)] * len(labels) if certified is None else list(map(Fraction, certified))
    totals = class_totals(data, len(labels))
    unit = common_unit(data.weights.values())
    whole = sum((w * t for w, t in zip(wanted, totals, strict=True)), Fraction(0))
    # What they change in the cost of a tree that gets everything wrong.
    off = sum((abs(u - w) * t for u, w, t in zip(used, wanted, totals, strict=False)), Fraction(0))
    slack = Fraction(0)
    if whole > common_unit(wanted) * unit * room.costs / _MARGIN:
        slack = max(Fraction(1, _STEPS), _MARGIN * sum(totals) / unit / room.costs) * whole
    if len(used) != len(labels) or min(used) < 0 or off > slack or not any(used):
        audit.compare("class weights", used, wanted)
        audit.raise_if_different()
    combined = {row: exact(data.weights[row] * used[data.classes[row]]) for row in data.rows}
    return replace(data, weights=combined)


def wanted_class_weights(
    parameters: Mapping[str, Any], data: Data, labels: Sequence[Any]
) -> list[Fraction]:
    """Return the weight that the parameters ask for, for each class."""
    asked, objective = parameters["class_weight"], parameters.get("objective")
    wanted = [Fraction(1)] * len(labels)
    if asked is not None and not isinstance(asked, str):
        plain = dict(zip(plain_list(list(asked)), asked.values(), strict=True))
        wanted = [read(plain.get(label, 1), "class_weight") for label in labels]
    is_balanced = isinstance(objective, str) and objective.lower() == "balanced_accuracy"
    if asked == "balanced" or is_balanced:
        totals = class_totals(data, len(labels))
        if not all(totals):
            lacking = [k for k, total in zip(labels, totals, strict=True) if not total]
            raise CertificateError(
                f"y lacks some of the classes that the model was fitted on: {lacking}."
            )
        # Every class then has the same total weight, but for the weights asked for.
        share = Fraction(sum(totals)) / len(labels)
        wanted = [w * share / total for w, total in zip(wanted, totals, strict=True)]
    return wanted


def class_totals(data: Data, n_classes: int) -> list[Exact]:
    """Return the weight of the rows of each class."""
    totals: list[Exact] = [0] * n_classes
    for row, klass in data.classes.items():
        totals[klass] += data.weights[row]
    return totals


def check_penalty(audit: Audit, whole: Fraction, unit: Exact, costs: int) -> None:
    """See that a penalty is what the complexity asks for; exactly, where that fits.

    Parameters
    ----------
    audit : Audit
        With the certificate.
    whole : Fraction
        What a complexity of one costs.
    unit : number
        All other costs are multiples of this.
    costs : int
        How many units a search can count.
    """
    certificate = audit.certificate
    wanted = read(audit.parameters["complexity"], "complexity") * whole
    if certificate.split_penalty < 0:
        audit.compare("penalty", certificate.split_penalty, wanted)
    slack = Fraction(0)
    if unit and wanted:
        finest = (wanted / unit).denominator * max(whole / unit, Fraction(1))
        slack = whole / 2**20 if finest > Fraction(costs, _MARGIN) else slack
    if abs(certificate.split_penalty - wanted) > slack:
        audit.compare(
            f"penalty per {certificate.complexity_per}", certificate.split_penalty, wanted
        )
