"""Float costs of ready-made tasks were certified as if float64 had computed them exactly."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from certree import solve, tasks


def _deviance(groups):
    with localcontext() as context:
        context.prec = 60
        total = Decimal(0)
        for group in groups:
            mean = Decimal(sum(group)) / len(group)
            total += 2 * sum(y * (Decimal(y) / mean).ln() for y in map(Decimal, group) if y)
        return Fraction(total)


@pytest.mark.parametrize("shift", [0, 100, 10**5, 10**8])
def test_the_true_deviance_lies_within_the_rounding(shift):
    counts = [shift + 3, shift + 9, shift + 10, shift + 1]
    certificate = solve(
        tasks.poisson_deviance(counts), [[0], [0], [1], [1]], max_depth=1
    ).certificate
    best = min(_deviance([counts]), _deviance([counts[:2], counts[2:]]))
    assert abs(certificate.cost - best) <= certificate.rounding
    assert certificate.lower_bound - certificate.rounding <= best


@pytest.mark.filterwarnings("ignore::certree.OptimalityWarning")
def test_large_counts_are_not_said_to_break_a_law():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.integers(0, 2, (30, 4))
        counts = np.round(1e8 + 5 * rng.normal(size=30))
        # Deviances of a few units are differences of terms near 1e10, of which float64 loses some.
        status = solve(tasks.poisson_deviance(counts), X, max_depth=2).certificate.status
        assert status in ("optimal", "precision")


def test_small_counts_keep_a_small_rounding():
    X = np.random.default_rng(1).integers(0, 2, (40, 4))
    counts = np.random.default_rng(2).poisson(50, 40)
    certificate = solve(tasks.poisson_deviance(counts), X, max_depth=2).certificate
    assert 0 < certificate.rounding < Fraction(1, 10**7)
