"""The largest rounding that a certificate may state, by the formulas of docs/theory/exactness.md.

Numbers that surely fit 64 bits must not be rounded. Others must not be rounded more than the range
of the integers makes necessary, up to a small factor. A certificate with more rounding is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ._audit import Audit, Data
from ._brute_force import Charges
from ._leaf_costs import Leaves, Rates
from ._leaves import units_of_weight
from ._plain_numbers import Exact, above_short, common_unit, decimals, exact, root_above
from ._stated_weights import are_short, cost_range, most_splits

# The factor of the range that is kept free for the denominator of a penalty.
_RESERVED = 2**10

# Costs in problems with limits have at most this many units.
_MOST_WITH_LIMITS = 2**40

# Numbers that fit the range over this factor are exact; rounding may be coarser by this factor.
_MARGIN = 4

# With more rounding than this share of the cost and the weight of all rows, no tree is optimal.
_NOTICED = Fraction(1, 2**9)

# Rounding beyond this share of the largest cost of all rows needs the status "precision".
_COARSEST = Fraction(1, 2**10)


# Weights that are integers are counted in units so fine that there are about so many.
_FINE_UNITS = 2**25

# Up to so many units of weight, a row is rounded once for each of them.
_FEW_UNITS = 2**10

# The losses around quantiles of all rows.
_MOST_LOSS = 2**50


def units_of_cost(data: Data, certificate: Any, *, with_limits: bool = False) -> int:
    """Return how many units the costs of all rows may have together."""
    share = Fraction(1 if certificate.complexity else 0)
    most = cost_range(data.n_rows, certificate, share) // _RESERVED
    return max(min(most, _MOST_WITH_LIMITS) if with_limits else most, 1)


def allowed_for_labels(
    data: Data,
    leaves: Leaves,
    audit: Audit,
    charges: Charges | None = None,
    *,
    with_limits: bool = False,
) -> Fraction:
    """Return the most that rounding may take from costs per row and label."""
    assert leaves.amounts is not None
    certificate = audit.certificate
    n_outputs = max(len(leaves.outputs), 1)  # which share the range
    most = max(units_of_cost(data, audit.sizes, with_limits=with_limits) // n_outputs, 1)
    quantum = getattr(certificate, "weight_quantum", None)
    prices = [] if charges is None else [*charges.price, *charges.discounted]
    dearest = sorted(prices, reverse=True)[: certificate.max_depth]
    paid = sum(dearest, Fraction(0))
    total = largest = Fraction(0)
    numbers = set(prices)
    for row, line in leaves.amounts.items():
        total += data.weights[row] * (max(line) - min(line) + paid)
        numbers.update(line)
    largest = max(map(abs, numbers))
    unit = Fraction(common_unit(data.weights.values()) if quantum is None else quantum)
    places = decimals(list(numbers))
    are_exact = quantum is None and are_short(data.weights, most // 4)
    if are_exact and places is not None and total * 10**places <= unit * most // _MARGIN:
        return Fraction(0)
    if total == 0:
        return Fraction(0)
    if leaves.of_groups:
        # A reduced table rounds costs as its engine can add them up.
        return total * _coarsest(certificate)
    n_units = data.total() / unit
    heaviest = max(data.weights.values())
    error = max(total / most, largest * heaviest / 2**43)
    moved = Fraction(0) if quantum is None else len(data.weights) * quantum * paid
    noise = len(data.weights) * largest * heaviest / 2**46
    # Products of weights and costs are rounded to a power of ten; prices by units of weight.
    # With limits, the costs of two objectives share the range.
    coarse = 640 if with_limits else 20
    bound = coarse * error * (len(data.weights) + len(prices) * n_units) + noise + 2 * moved
    bound *= n_outputs
    if leaves.least(data.rows) == leaves.paid_by_all(data):
        # A tree without splits costs no more than any tree, so rounding cannot hide anything.
        return bound
    return min(bound, (total + noise) * n_outputs * _coarsest(certificate))


def _coarsest(certificate: Any) -> Fraction:
    return Fraction(1) if certificate.status == "precision" else _COARSEST


def allowed_for_squares(data: Data, leaves: Leaves, certificate: Any) -> Fraction:
    """Return the most that rounding may take from squared errors."""
    outputs = leaves.outputs or [(Fraction(1), leaves)]
    share = Fraction(1 if certificate.complexity else 0)
    most = cost_range(data.n_rows, certificate, share)
    n_leaves = (most_splits(data.n_rows, certificate) + 1) * len(outputs)
    targets = [list((one.target or {}).values()) for _, one in outputs]
    widths = [max(values) - min(values) for values in targets]
    pairs = zip(outputs, widths, strict=True)
    whole = data.total() * sum(weight * width**2 for (weight, _), width in pairs)
    # Integer parts of the leaves, in a unit that fills the range, and variances in float64.
    floors = n_leaves * 16 * whole / most + leaves.noise(data.rows)
    if whole == 0:
        # All targets are equal, so any unit is fine.
        return n_leaves * (1 + data.total() / 2**40)
    short = certificate.weight_quantum is None and are_short(data.weights, most // 2**12)
    places = decimals(list({value for values in targets for value in values}))
    if short and places is not None and len({weight for weight, _ in outputs}) == 1:
        units = data.total() / common_unit(data.weights.values())
        if sum((width * 10**places + 2) ** 2 for width in widths) * units * 16 <= most:
            return floors
    # By the proposition on squared errors, with means of rows that have half of the range's digits.
    n_numbers = len(data.weights) * len(outputs)
    error = root_above(Fraction(128 * n_numbers, most)) + Fraction(1, 2**28)
    parts = zip(targets, widths, strict=True)
    digits = max(max(map(abs, values)) / width for values, width in parts if width) / 2**46
    if short:
        error = min(error, _error_of_fine_weights(data, outputs, widths, most) / whole)
    return min(floors + 8 * whole * (error + digits), whole * _coarsest(certificate) + floors)


def _error_of_fine_weights(
    data: Data, outputs: Sequence[tuple[Fraction, Leaves]], widths: Sequence[Fraction], most: int
) -> Fraction:
    """Return what rounding takes where weights are integers, which a search counts in finer units.

    Products of weight and target then have more digits than targets alone.
    """
    unit, n_numbers = common_unit(data.weights.values()), len(data.weights) * len(outputs)
    n_units = data.total() / unit
    widest = min(_FINE_UNITS, most // (64 * len(outputs)) - len(data.weights))
    finer = max(Fraction(widest) / n_units / 2, Fraction(1))
    steps = root_above(most * finer / (n_units * len(outputs)))
    largest = max(weight * width**2 for (weight, _), width in zip(outputs, widths, strict=True))
    whole = data.total() * largest
    return 64 * n_numbers * largest * unit / steps + whole / 2**42


def allowed_for_quantiles(data: Data, leaves: Leaves, certificate: Any) -> Fraction:
    """Return the most that rounding may take from losses around quantiles."""
    assert leaves.target is not None
    assert leaves.slopes is not None
    values, n = leaves.target.values(), len(data.weights)
    width, total = Fraction(max(values) - min(values)), data.total()
    if width == 0:
        return Fraction(0)
    most = min(units_of_cost(data, certificate) * _RESERVED, _MOST_LOSS) // sum(leaves.slopes)
    units = Fraction(total / common_unit(data.weights.values()))
    places = decimals(list(set(values)))
    short = certificate.weight_quantum is None and are_short(data.weights, most // 2**12)
    if short and places is not None and units * width * 10**places * 16 <= most:
        return Fraction(0)
    # Digits of weights and of targets share the bits: with a root of them for each, both are off
    # by about the same. Where weights are short, all others may be for targets.
    error = 16 * root_above(Fraction(n, most))
    if short:
        error = min(error, 64 * units / most)
    error += max(map(abs, values)) / width / 2**46 + Fraction(n, 2**40)
    return Fraction(total * width) * min(error, _coarsest(certificate))


def allowed_for_function(data: Data, leaves: Leaves, certificate: Any, task: Any) -> Fraction:
    """Return the largest rounding for a function: integer parts, with at least 12 digits.

    The tasks of certree add the errors of float64 and of rounded statistics in their terms. These
    can be large if weights are far apart.
    """
    n_leaves = most_splits(data.n_rows, certificate) + 1
    seen = [leaves.least(data.rows), *(leaves.least([row]) for row in data.rows[:1000])]
    largest, total = max(seen), data.total()
    noise = Fraction(0)
    if leaves.rates is not None:
        noise = _noise_of_rates(leaves.rates, n_leaves, _times_rounded(data, certificate))
        # What rows would save at rates of their own has a last digit, too.
        n_leaves += 1
    elif getattr(task, "noise", None) is not None:
        share = max(Fraction(len(data.rows), 2**46), units_of_weight(data) / 2**48)
        noise = 2**10 * (largest + 64 * total) * share * total / min(data.weights.values())
    unit = getattr(task, "unit", None)
    if unit is not None:
        floors = n_leaves * Fraction(str(unit))
    else:
        most = min(units_of_cost(data, certificate), 2**44 // (64 * len(data.rows)), 10**12)
        # Costs of nothing, but for the last digits of float64, are counted in billionths.
        is_nothing = largest <= max(total / 2**44, noise)
        digits = 100 * largest / most
        floors = n_leaves * (max(Fraction(1, 10**9), digits) if is_nothing else digits)
    if certificate.status != "precision":
        noise = min(noise, (largest + total) * _NOTICED)
    return floors + noise


def _times_rounded(data: Data, certificate: Any) -> Mapping[int, Exact]:
    """Return how often the numbers of each row are rounded: once for every unit of its weight.

    Weights of many units, and those that are not multiples of one, are multiplied in before.
    """
    if certificate.weight_quantum is None:
        unit = common_unit(data.weights.values())
        times = {row: exact(weight / unit) for row, weight in data.weights.items()}
        if max(times.values()) <= _FEW_UNITS:
            return times
    return dict.fromkeys(data.weights, 1)


def _noise_of_rates(rates: Rates, n_leaves: int, times: Mapping[int, Exact]) -> Fraction:
    """Return what sums of 50 bits and logarithms of float64 take from the loss of rates.

    By docs/theory/exactness.md, with events and times that are off by a few units of their sums,
    as many `times` as a row is rounded.
    """
    few, factor = Fraction(1, 2**47), rates.factor
    counted = [row for row, events in rates.events.items() if events]
    if not counted:
        return Fraction(0)
    seen, time = (sum(part.values(), Fraction(0)) for part in (rates.events, rates.times))
    more = {row: (times[row] * seen + rates.events[row]) * few for row in counted}
    rate = {row: rates.events[row] / rates.times[row] * time / seen for row in counted}
    own = sum((rates.events[row] * abs(_log(rate[row])) for row in counted), Fraction(0))
    fastest = max((rates.events[row] + more[row]) / rates.times[row] for row in counted)
    slowest = min(rates.events[row] for row in counted) / time
    log = 1 + max(abs(_log(one * time / seen)) for one in (fastest, slowest))
    # Fractions with the times below the line would have denominators of many digits.
    pairs = ((rates.events[row] + more[row], rates.times[row]) for row in counted)
    squares = sum((above_short(e * e / t) for e, t in pairs), Fraction(0))
    longer = sum(
        (above_short(((times[row] * time + t) * few) ** 2 / t) for row, t in rates.times.items()),
        Fraction(0),
    )
    moved = root_above(squares * longer) / seen
    by_time = seen * (_log(1 + moved) if moved > few * 2**20 else moved)
    terms = own + seen * log
    n_rounded = sum(times[row] for row in counted)
    lost = terms * few + own * few * n_rounded + sum(more.values(), Fraction(0)) * log + by_time
    # Savings are whole numbers of at most 50 bits, in a power of ten; noise may coarsen it, too.
    return factor * (8 * lost + 20 * n_leaves * (own + 2 * seen) * few)


def _log(number: Fraction) -> Fraction:
    """Return the logarithm of a fraction of any size, as float64 has it."""
    return Fraction(math.log(number.numerator) - math.log(number.denominator))
