"""Targets and weights far apart are rounded no more than they have to be, and verify knows it.

The rounding of gamma deviances bounded logarithms by their arguments, and rounded amounts once for
every unit of weight. For quantiles the search for the best division of the bits ended at once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeRegressor, verify
from certree.leaves.numbers.quantiles import _GivenLosses, _ScaledLosses
from tests.attack.honest import logarithm

NEAR = [1000000000.2819285, 1000000000.0001997, 1000000000.6487728]

pytestmark = pytest.mark.filterwarnings("ignore::certree.exceptions.OptimalityWarning")


@pytest.mark.parametrize(
    "criterion, x, y, weights, largest",
    [
        ("gamma", [0, 3], [1e9, 1.0], [0.36768924129422564, 0.1290887099863356], 1e-6),
        ("gamma", [1, 1], [1e-9, 1e9], None, 60),
        ("gamma", [2, 0, 3], NEAR, [1e-6, 1, 1e6], 0.002),
        ("absolute_error", [2, 0, 3], NEAR, [1e-6, 1e6, 1e-6], 1),
        ("absolute_error", [1, 5, 0], NEAR, [1e-6, 1e6, 1e-6], 1),
        ("quantile", [2, 0, 2], [8e9, 4e5, 9e6], [1e-6, 1e-6, 1e6], 1e10),
    ],
)
def test_rounding_is_as_small_as_it_can_be(
    criterion: str, x: list[float], y: list[float], weights: Any, largest: float
) -> None:
    more: dict[str, Any] = {"quantile": 0.25} if criterion == "quantile" else {}
    X = np.array(x, float)[:, None]
    model = OptimalTreeRegressor(1, criterion=criterion, thresholds="all", **more)
    model.fit(X, y, sample_weight=weights)
    assert model.certificate_.rounding <= largest
    assert verify(model, X, y, weights)


def test_the_cost_is_within_the_rounding() -> None:
    model = OptimalTreeRegressor(1, criterion="gamma").fit([[0], [0]], [1e-9, 1e9])
    certificate = model.certificate_
    mean = (Fraction("1e-9") + 10**9) / 2
    deviance = 2 * (2 * logarithm(mean) - logarithm(Fraction("1e-9")) - logarithm(Fraction(10**9)))
    assert abs(Fraction(certificate.cost) - deviance) <= certificate.rounding


def test_rounded_weights_count_beside_rounded_targets() -> None:
    """Light rows of one unit each pay for targets that are off, which the bound left out."""
    X = [[2, 0], [2, 1], [0, 0], [1, 3], [3, 3]]
    y, weights = [-1.0, 2.0, 3.5, -1.0, -1.0], [1e200, 1.0, 1.0, 1e200, 1e200]
    model = OptimalTreeRegressor(1, criterion="absolute_error")
    model.fit(X, y, sample_weight=weights, path=True)
    assert abs(Fraction(model.path_[0].errors) - Fraction(15, 2)) <= model.certificate_.rounding
    assert verify(model, X, y, weights)


def test_every_division_of_the_bits_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where exact weights leave next to nothing for targets."""
    found: list[_ScaledLosses] = []
    scaled = _GivenLosses.scaled

    def spy(self: _GivenLosses, most: int) -> _ScaledLosses:
        found.append(scaled(self, most))
        least = min(self._hidden(w, self._targets(w, most)) for w in self._weighings(most))
        assert found[-1].rounding <= Fraction(least) * self.largest * Fraction(101, 100)
        return found[-1]

    monkeypatch.setattr(_GivenLosses, "scaled", spy)
    OptimalTreeRegressor(1, criterion="absolute_error").fit(
        [[2], [0], [3]], NEAR, sample_weight=[1e-6, 1e6, 1e-6]
    )
    assert found


@pytest.mark.parametrize(
    "criterion, y, weights",
    [
        ("gamma", [2.7e14, 9.6, 0.029], [0.1, 0.1, 100]),
        ("poisson", [0.0, 1e-8, 1e9], [1e-6, 1.0, 1e6]),
    ],
)
def test_a_leaf_of_one_row_has_no_deviance(
    criterion: str, y: list[float], weights: list[float]
) -> None:
    """Sums that the search had rounded gave such leaves a mean deviance of 13.82."""
    model = OptimalTreeRegressor(2, criterion=criterion, thresholds="all")
    model.fit([[0], [1], [2]], y, sample_weight=weights)
    notes = [note for note in model.tree_.notes if note.startswith("mean of 1 row")]
    assert notes
    assert all(note.endswith(", mean deviance 0") for note in notes)


@pytest.mark.parametrize("criterion", ["gamma", "poisson"])
@pytest.mark.parametrize("width", [1e-9, 1e-3, 1.0, 12.0])
def test_mean_deviances_are_true(criterion: str, width: float) -> None:
    rng = np.random.default_rng(3)
    y, weights = np.exp(width * rng.standard_normal(6)), 10.0 ** rng.integers(-3, 3, 6)
    targets, shares = ([Fraction(str(n)) for n in each.tolist()] for each in (y, weights))
    mean = sum(t * w for t, w in zip(targets, shares, strict=True)) / sum(shares)
    logs = [logarithm(t / mean) for t in targets]
    parts = {
        "gamma": [t / mean - 1 - log for t, log in zip(targets, logs, strict=True)],
        "poisson": [t * log - t + mean for t, log in zip(targets, logs, strict=True)],
    }[criterion]
    wanted = 2 * sum(p * w for p, w in zip(parts, shares, strict=True)) / sum(shares)
    model = OptimalTreeRegressor(0, criterion=criterion).fit(
        np.zeros((6, 1)), y, sample_weight=weights
    )
    assert model.tree_.notes[0].endswith(f", mean deviance {float(wanted):.4g}")


def test_the_poisson_deviance_of_light_rows_is_verified() -> None:
    X, y = [[2], [0], [1], [5]], [*NEAR, 1000000000.9865577]
    weights = [7e-15, 8e-15, 9e-15, 1e-15]
    model = OptimalTreeRegressor(1, criterion="poisson", thresholds="all")
    assert verify(model.fit(X, y, sample_weight=weights), X, y, weights)
