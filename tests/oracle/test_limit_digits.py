"""Limits in several digits are the same limits: the search answers as it does for one digit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree.engine._within_limits import Finer, LimitedProblem, LimitedResult
from certree.numbers import _digits
from certree.numbers._digits import Amounts, bound_digits, to_digits, whole_numbers
from certree.proofs._limit_front import solve_limited_front
from certree.proofs._limit_search import solve_limited
from tests.registry import all_isas, settings_one_by_one

from .limits import front, least
from .test_limits import LimitCase, check_tree, random_cases


def in_digits(problem: LimitedProblem, leading_bits: int) -> LimitedProblem:
    """Return a problem with all limits but those on splits in digits of their own."""
    parts = [problem.values]
    width = problem.values.shape[2]
    digits: dict[int, tuple[Amounts, int, int]] = {}
    for j, plane in enumerate(problem.planes[1:]):
        if plane[-1]:
            continue
        opposite = [k for k in digits if not (problem.planes[k + 1] + plane).any()]
        if opposite and digits[opposite[0]][1] == 1:
            amounts, _, place = digits[opposite[0]]
            digits[j] = amounts, -1, place
            continue
        amounts = to_digits(problem.values @ plane[:-1], "amounts", 2**leading_bits)
        digits[j] = amounts, 1, width
        parts += [amounts.leading[:, :, None], amounts.finer]
        width += 1 + amounts.n_finer
    planes = np.zeros((len(problem.planes), width + 1), dtype=np.int64)
    planes[:, : problem.planes.shape[1] - 1] = problem.planes[:, :-1]
    planes[:, -1] = problem.planes[:, -1]
    bounds, finer = list(problem.bounds), [None] * len(problem.bounds)
    for j, (amounts, sign, place) in digits.items():
        lines = np.zeros((1 + amounts.n_finer, width + 1), dtype=np.int64)
        lines[np.arange(len(lines)), place + np.arange(len(lines))] = sign
        planes[j + 1] = lines[0]
        bound = amounts.within(bounds[j], sign)
        bounds[j] = amounts.leading_bound(bound, sign)
        if amounts.n_finer:
            least_of = amounts.least_finer(sign), amounts.least_total(sign)
            finer[j] = Finer(lines[1:], amounts.bits, bound, *least_of)
    values = np.ascontiguousarray(np.concatenate(parts, axis=2))
    return replace(problem, values=values, planes=planes, bounds=tuple(bounds), finer=tuple(finer))


def check(case: LimitCase, wide: LimitedProblem, found: LimitedResult) -> None:
    optimum = case.optimum()
    if optimum is None:
        assert found.status == "infeasible", case
        for closest in found.closest:
            plane = case.planes[closest.limit + 1]
            own = wide.planes[closest.limit + 1]
            opposite = [
                one
                for one, line in zip(case.limits, wide.planes[1:], strict=True)
                if line is not own and not (line + own).any()
            ]
            expected = least(case.points, plane, opposite)
            if expected is None:
                expected = least(case.points, plane)
            if expected is not None:
                assert closest.attained is not None
                assert closest.lower_bound <= expected <= closest.attained, case
        return
    assert (found.status, found.lower_bound, found.upper_bound) == ("optimal", optimum, optimum)
    point = np.array(sums_of(case.problem, found), dtype=np.int64)
    check_tree(case, found.nodes, tuple(int(v) for v in case.problem.planes @ point))
    for cut in found.cuts:
        assert cut.bound is None or cut.bound <= optimum, case


def sums_of(problem: LimitedProblem, found: Any) -> list[int]:
    labels = found.nodes.label[found.nodes.route(problem.columns)]
    sums = problem.values[np.arange(len(labels)), labels].sum(axis=0)
    return [*sums.tolist(), found.nodes.n_splits]


@pytest.fixture(params=[1, 2, 5, 40])
def digit_bits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Digits so small that most totals have several of them, and carry."""
    bits: int = request.param
    monkeypatch.setattr(_digits, "_SUM_BITS", bits + 4)  # four bits for up to 15 rows
    return bits


@pytest.mark.parametrize("seed", range(9000, 9003))
def test_the_best_tree_is_the_same_in_digits(seed: int, digit_bits: int) -> None:
    isas = all_isas()
    n_wide = 0
    for number, case in enumerate(random_cases(seed + 10 * digit_bits, 120)):
        wide = in_digits(case.problem, number % 3)
        n_wide += any(one is not None for one in wide.finer)
        options = case.with_options(isa=isas[number % len(isas)])
        check(case, wide, solve_limited(wide, options, dual=number % 4 > 0))
    assert n_wide > 20


@pytest.mark.parametrize("seed", range(9100, 9102))
def test_no_switch_changes_the_best_tree_in_digits(seed: int, digit_bits: int) -> None:
    settings = settings_one_by_one()
    for number, case in enumerate(random_cases(seed + 10 * digit_bits, 60)):
        wide = in_digits(case.problem, number % 3)
        options = case.with_options(**settings[number % len(settings)])
        check(case, wide, solve_limited(wide, options))


def test_fronts_keep_to_limits_in_digits(digit_bits: int) -> None:
    for number, case in enumerate(random_cases(9200 + digit_bits, 80)):
        planes = case.problem.planes
        if len(planes) < 3 or planes[1:, -1].any():
            continue
        wide = in_digits(case.problem, number % 3)
        # The first limit is the gap, in one digit; the others are kept to.
        line = np.zeros(wide.planes.shape[1], dtype=np.int64)
        line[: planes.shape[1] - 1] = planes[1, :-1]
        first = replace(
            wide,
            planes=np.vstack([wide.planes[:1], line[None], wide.planes[2:]]),
            bounds=(case.problem.bounds[0], *wide.bounds[1:]),
            finer=(None, *wide.finer[1:]),
        )
        scales = [0, 1, *[0] * (len(planes) - 2)]
        found = solve_limited_front(first, scales, case.options)
        expected = front(case.points, case.planes, case.limits, scales)
        pairs = [(tree.objective, tree.gap) for tree in found.trees]
        assert pairs == expected, case
        assert found.status == ("optimal" if expected else "infeasible")


# ---- digits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 10**6, 10**18, 10**40, 10**300])
def test_digits_of_rows_add_up_to_the_total(size: int) -> None:
    rng = np.random.default_rng(size.bit_length())
    table = np.empty((30, 3), dtype=object)
    for place in np.ndindex(*table.shape):
        table[place] = int(rng.integers(-(2**62), 2**62)) * size // 2**62
    amounts = to_digits(table, "amounts")
    for _ in range(20):
        labels = rng.integers(0, 3, 30)
        total = sum(table[row, label] for row, label in enumerate(labels.tolist()))
        assert amounts.total(labels) == total
        for sign in (1, -1):
            leading = sign * int(amounts.leading[np.arange(30), labels].sum())
            # Every total within a bound keeps to that of the leading digits.
            assert leading <= amounts.leading_bound(sign * total, sign)
    assert np.abs(amounts.finer).max(initial=0) <= 2**56


def test_digits_of_a_bound_are_those_of_its_number() -> None:
    for bound in (0, 1, -1, 10**30, -(10**30)):
        leading, *finer = bound_digits(bound, 40, 3)
        for digit in finer:
            assert 0 <= digit < 2**40
            leading = (leading << 40) + digit
        assert leading == bound


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.1, 2.5, 1e-300, 1e300, 5e-324, 3.0]),
        np.array([2**62, 3, -7]),
        np.array([2**64 - 1, 1], dtype=np.uint64),
        np.array(["1/3", "0.25", "7"]),
        np.array([10**400, 3], dtype=object),
        np.array([0.0, 0.0]),
    ],
)
def test_numbers_are_read_exactly_as_they_are_written(values: Any) -> None:
    integers, unit = whole_numbers(values, "numbers")
    assert [i * unit for i in integers.tolist()] == [Fraction(str(v)) for v in values.tolist()]
