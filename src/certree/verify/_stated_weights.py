"""Weights of rows and classes: as given, and as a search may have rounded them.

A search counts in 64-bit integers. Products of the weights of rows and classes that fit are to be
used exactly; others may be rounded, and the certificate says to which unit, and how much that
changes in all. It may not be coarser than the range of the integers makes necessary
(docs/theory/exactness.md), so that rounding cannot hide an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import Any

from certree.exceptions import CertificateError

from ._audit import Audit, Data
from ._plain_numbers import Exact, common_unit, decimals, exact, plain_list, read

# Sums of costs stay below this.
_RANGE = 2**62

# Real weights are rounded to the largest over this, if there is room for that.
_STEPS = 2**20
_FEWEST_STEPS = 2**12

# Products of weights that are rounded have no more units than this, unless they are very small.
_FINE_TOTAL = 2**44

# Weights that fit the range over this factor are exact; rounding may be coarser by this factor.
_MARGIN = 4

# Weights that have to be rounded are read as float64 first, which changes them, and the balanced
# weights of classes that follow from their totals, by less than this share.
_FLOATS = Fraction(1, 2**44)

# float64 may have changed rounded weights by this share: products of two are rounded thrice.
_FLOAT_PRODUCTS = Fraction(1, 2**48)

# A penalty is exact if the total cost has fewer than this many units.
_SURELY_FITS = 2**32

# A tree is not optimal if the cost of an error in a row is rounded by more than this share. For a
# metric, it is not optimal if the weight of a class is rounded by more than the second share.
_NEGLIGIBLE = Fraction(1, 2**20)
_NEGLIGIBLE_SHARE = Fraction(1, 2**10)


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
    depth: int = min([*limits, 40])
    return min(n_rows, (1 << depth) - 1)


def units_for_errors(data: Data, audit: Audit, reserve: int = 1) -> int:
    """Return how many units a search that counts errors may add up."""
    share = min(Fraction(audit.certificate.complexity), Fraction(1))
    return cost_range(data.n_rows, audit.sizes, share) // reserve


def units_for_metric(data: Data, audit: Audit, reserve: int = 1) -> int:
    """Return the same for a metric: weights of the two errors take a part of the range."""
    return cost_range(data.n_rows, audit.sizes, Fraction(0)) // reserve // 2**21


def units_for_area(data: Data, audit: Audit, rate: Fraction) -> int:
    """Return the same for an area: weights of the two classes are multiplied."""
    complexity = Fraction(audit.certificate.complexity)
    factor = max(rate.denominator, int(rate.numerator * complexity * (data.n_rows + 1)) + 1)
    return isqrt(2**58 // (factor * min(complexity.denominator, 1000)))


def are_short(weights: Mapping[int, Exact], most: int) -> bool:
    """Return whether weights are short decimals whose total surely fits this many units."""
    if decimals([Fraction(weight) for weight in set(weights.values())]) is None:
        return False
    return sum(weights.values()) <= common_unit(weights.values()) * most // _MARGIN


def check_quantum(audit: Audit, data: Data, most: int, *, may_be_short: bool = False) -> None:
    """Check that weights are rounded only where necessary, and no more than necessary."""
    quantum = audit.certificate.weight_quantum
    if quantum is None:
        return
    if quantum <= 0:
        audit.differ(f"weight quantum: certified {quantum}, which must be positive")
        audit.raise_if_different()
    if are_short(data.weights, most) and not may_be_short:
        audit.compare("weight quantum", quantum, None)
    # Prices of tests have the more digits the fewer the weights have, by which rows pay them.
    steps = _FEWEST_STEPS if may_be_short else _STEPS
    coarsest = max(
        Fraction(max(data.weights.values())) / steps, data.total() * _MARGIN / max(most, 1)
    )
    # The unit is a power of two.
    if quantum > 2 * coarsest:
        audit.differ(
            f"weight quantum: certified {float(quantum):.6g}, but weights need not be rounded to "
            f"more than {float(coarsest):.6g}"
        )


def counted(data: Data, quantum: Exact | None) -> Data:
    """Return the rows with weights that are rounded to multiples of a quantum."""
    if quantum is None:
        return data
    return replace(data, weights={r: _nearest(_float(w), quantum) for r, w in data.weights.items()})


def _nearest(weight: Fraction, quantum: Exact) -> Exact:
    """Return the nearest multiple of a unit, at least one of it if there is any weight."""
    return exact(max(round(weight / quantum), 1) * Fraction(quantum)) if weight else 0


def _float(weight: Exact) -> Fraction:
    """Return the binary fraction that float64 holds for a weight: that is what is rounded."""
    # Numbers below all floats count as the smallest float.
    return Fraction(float(weight) or 5e-324)


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
    seen = {given[row] for row in data.rows}
    if seen - set(code):
        raise CertificateError(
            f"y has the labels {sorted(map(repr, seen - set(code)))}, which the model does not "
            f"know; its classes are {list(labels)}."
        )
    return replace(data, classes={row: code[given[row]] for row in data.rows})


def with_all_classes(data: Data, y: Any, labels: Sequence[Any]) -> Data:
    """Return the rows with their classes, which must be those of the model, in order.

    Raises
    ------
    CertificateError
        If the model has other classes than the rows.
    """
    data = with_classes(data, y, labels)
    given = plain_list(y)
    wanted = sorted({given[row] for row in data.rows})
    lacking = [label for label in labels if label not in wanted]
    if lacking:
        raise CertificateError(
            f"y lacks some of the classes that the model was fitted on: {lacking}."
        )
    if list(labels) != wanted:
        raise CertificateError(f"classes: the model has {list(labels)}, but y has {wanted}.")
    return replace(data, labels=wanted)


def weighted_by_class(audit: Audit, data: Data, labels: Sequence[Any], most: int) -> Data:
    """Return the rows with weights that include those of their classes, rounded as certified."""
    quantum = audit.certificate.weight_quantum
    wanted = wanted_class_weights(audit.parameters, data, labels)
    used = stated_class_weights(audit, wanted)
    given = {row: data.weights[row] * used[data.classes[row]] for row in data.rows}
    if quantum is None:
        audit.compare("rounding of weights", audit.certificate.rounding, 0)
        return by_stated_weights(data, used, None)
    _check_unit(audit, data, wanted, given, most)
    rounded = by_stated_weights(data, used, quantum)
    _check_change(audit, data, given, rounded.weights)
    return rounded


def by_stated_weights(data: Data, used: Sequence[Exact], quantum: Exact | None) -> Data:
    """Return the rows with the weights of the certificate."""
    weights: dict[int, Exact] = {}
    are_equal = len(set(data.weights.values())) == 1
    for row, weight in data.weights.items():
        factor = Fraction(used[data.classes[row]])
        if quantum is None:
            weights[row] = exact(weight * factor)
        else:
            weights[row] = _nearest((weight if are_equal else _float(weight)) * factor, quantum)
    slack = 0 if quantum is None else sum(weights.values()) * _FLOAT_PRODUCTS
    return replace(data, weights=weights, slack=slack, given=data.sample_weights)


def stated_class_weights(audit: Audit, wanted: Sequence[Fraction]) -> list[Fraction]:
    """Return the class weights that are certified, if they are those that were asked for."""
    certified = audit.certificate.class_weights
    if all(weight == 1 for weight in wanted):
        audit.compare("class weights", certified, None)
    used = [Fraction(1)] * len(wanted) if certified is None else list(map(Fraction, certified))
    share = 0 if audit.certificate.weight_quantum is None else _FLOATS
    are_far = len(used) != len(wanted) or any(
        abs(u - w) > w * share for u, w in zip(used, wanted, strict=True)
    )
    if are_far:
        audit.compare("class weights", used, wanted)
        audit.raise_if_different()
    return used


def _check_unit(
    audit: Audit,
    data: Data,
    wanted: Sequence[Fraction],
    given: Mapping[int, Exact],
    most: int,
) -> None:
    """Check that weights are rounded only where necessary, and no more than necessary."""
    quantum, whole = audit.certificate.weight_quantum, Fraction(sum(given.values()))
    if quantum <= 0:
        audit.differ(f"weight quantum: certified {quantum}, which must be positive")
        audit.raise_if_different()
    unit = common_unit(wanted) * common_unit(data.weights.values())
    is_short = decimals([Fraction(weight) for weight in set(data.weights.values())]) is not None
    if is_short and whole * _MARGIN <= unit * most:
        audit.compare("weight quantum", quantum, None)
    coarsest = max(whole * _MARGIN / max(most, 1), whole / _FINE_TOTAL)
    if quantum > 2 * coarsest:
        audit.differ(
            f"weight quantum: certified {float(quantum):.6g}, but weights need not be rounded to "
            f"more than {float(2 * coarsest):.6g}"
        )


def _check_change(
    audit: Audit, data: Data, given: Mapping[int, Exact], used: Mapping[int, Exact]
) -> None:
    """Compare the sum of all changes by rounding with the certificate and its status."""
    certificate = audit.certificate
    change = sum((abs(Fraction(used[row]) - given[row]) for row in given), Fraction(0))
    most = change * Fraction(102, 100) + sum(given.values()) * _FLOATS
    if not change <= certificate.rounding / data.dearest <= most:
        audit.compare("rounding of weights", certificate.rounding, change * data.dearest)
    if certificate.status != "optimal":
        return
    if certificate.positives is not None:
        totals = class_totals(replace(data, weights=used), len(certificate.class_weights or (1, 1)))
        least = min(Fraction(total) for total in totals if total)
        if change > least * _NEGLIGIBLE_SHARE * 2:
            audit.differ("status is 'optimal', but classes are rounded by more than is negligible")
    elif certificate.cost and any(
        abs(Fraction(used[row]) - given[row]) > 2 * given[row] * _NEGLIGIBLE for row in given
    ):
        audit.differ("status is 'optimal', but weights are rounded by more than is negligible")


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
        # Every class then has the same total weight.
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
    """Check that a penalty is the one that the complexity asks for; exactly, where that fits.

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
        is_rounded = certificate.weight_quantum is not None
        if is_rounded or finest > min(Fraction(costs, _MARGIN), Fraction(_SURELY_FITS)):
            # The nearest fraction that fits, and never zero.
            slack = min(whole / 2**20, wanted / 2**10 + whole * 16 / costs)
    if abs(certificate.split_penalty - wanted) > slack:
        audit.compare(
            f"penalty per {certificate.complexity_per}", certificate.split_penalty, wanted
        )
