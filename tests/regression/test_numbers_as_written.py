"""Costs, rewards, targets and parameters are the numbers that users write, or they are refused.

Found by attacks: integers beyond 2**53 and thirds were read as the nearest float, and a certificate
was exact about those; an exponent of eight digits took minutes to write out.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    oracles,
    solve,
    tasks,
    verify,
)

X = [[0], [0], [1], [1]]
Y = [0, 1, 0, 1]
BIG = 2**60

pytestmark = pytest.mark.filterwarnings("ignore::certree.exceptions.OptimalityWarning")


def regression(low: Any, high: Any) -> Any:
    return OptimalTreeRegressor(max_depth=1).fit(X, [low, low, high, high])


def costs(low: Any, high: Any) -> Any:
    table = [[low, high]] * 2 + [[high, low]] * 2
    return CostSensitiveTreeClassifier(max_depth=1).fit(X, Y, costs=table)


def matrix(low: Any, high: Any) -> Any:
    prices = [[0, low], [high, 0]]
    return CostSensitiveTreeClassifier(max_depth=1, cost_matrix=prices).fit(X, Y)


def rewards(low: Any, high: Any) -> Any:
    return PolicyTree(max_depth=1).fit_rewards(X, [[low, high]] * 2 + [[high, low]] * 2)


def decisions(low: Any, high: Any) -> Any:
    return SPOTree(oracles.TopK(2, 1), max_depth=1).fit(X, [[low, high]] * 2 + [[high, low]] * 2)


def statistics(low: Any, high: Any) -> Any:
    values = np.array([[low], [low], [high], [high]])
    return solve(tasks.LeafCost(values, lambda sums: np.zeros(len(sums))), X, max_depth=1)


def clone_of(model: Any, parameter: str, value: Any) -> Any:
    """The fitted model, as if it had been asked for something else."""
    return deepcopy(model).set_params(**{parameter: value})


FITS = [regression, costs, matrix, rewards, decisions, statistics]


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.__name__)
@pytest.mark.parametrize(
    ("low", "high"),
    [(BIG, BIG + 1), (np.int64(BIG), np.int64(BIG + 1)), (Fraction(1, 3), Fraction(2, 3))],
    ids=["int", "int64", "fraction"],
)
def test_numbers_that_float64_does_not_hold_are_refused(
    fit: Callable[[Any, Any], Any], low: Any, high: Any
) -> None:
    with pytest.raises(ValueError, match="has more digits than float64 holds"):
        fit(low, high)


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.__name__)
@pytest.mark.parametrize(
    ("low", "high"), [(10**18, 2 * 10**18), (Fraction(1, 4), Decimal("0.3")), (2**53 - 1, 2.5)]
)
def test_numbers_that_float64_holds_are_taken(
    fit: Callable[[Any, Any], Any], low: Any, high: Any
) -> None:
    fit(low, high)


def test_whole_numbers_beside_floats_stay_whole() -> None:
    with pytest.raises(ValueError, match=r"costs\[0, 0\] = 1152921504606846977 has more digits"):
        costs(BIG + 1, 0.5)


@pytest.mark.parametrize("at_most", [BIG + 1, BIG + 2])
def test_amounts_beside_floats_stay_whole(at_most: int) -> None:
    """A leaf of the second label has BIG + 1.5, between the two bounds; as a float, it is above."""
    amounts = [BIG + 1, 0.5, BIG + 1, 0.5]
    task = tasks.Rewards([[1, 2]] * 4) & tasks.Limit("second", {1: amounts}, at_most=at_most)
    solution = solve(task, X, max_depth=1)
    assert solution.certificate.cost == (4 if at_most == BIG + 1 else 2)
    assert verify(solution, X, exhaustive=True)


def test_targets_beyond_all_floats_are_named() -> None:
    with pytest.raises(ValueError, match="y holds a number beyond the range of float64"):
        regression(0, 10**400)
    with pytest.raises(ValueError, match="costs holds a number beyond the range of float64"):
        costs(0, 10**400)


@pytest.mark.parametrize("number", ["1e99999999", "1e-99999999", Decimal("1e-99999999")])
@pytest.mark.timeout(20)
def test_exponents_without_end_are_refused_at_once(number: Any) -> None:
    model = OptimalTreeClassifier(max_depth=1).fit(X, Y)
    for parameter in ("gap", "complexity"):
        with pytest.raises(ValueError, match=f"{parameter} must"):
            OptimalTreeClassifier(max_depth=1, **{parameter: number}).fit(X, Y)
        with pytest.raises(ValueError, match="finite number"):
            verify(clone_of(model, parameter, number), X, Y)
    with pytest.raises(ValueError, match="sample_weight"):
        OptimalTreeClassifier(max_depth=1).fit(X, Y, sample_weight=[Decimal(number), 1, 1, 1])


def test_costs_of_nothing_are_rounded_by_nothing() -> None:
    def first(costs: Any) -> Any:
        return np.eye(2)[np.zeros(len(costs), dtype=int)]

    nothing = np.zeros((4, 2))
    model = SPOTree(first, max_depth=1).fit(X, nothing)
    assert model.certificate_.rounding == 0
    assert verify(model, X, nothing)


def test_decisions_whose_losses_rounding_swallows_are_not_called_optimal() -> None:
    with pytest.warns(UserWarning, match="rounded"):
        model = decisions(1e18, 1e18 + 256)
    assert model.certificate_.status == "precision"
