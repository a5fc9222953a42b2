"""The judge of the attacks notes every untrue statement, and no true one."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from .checks import ABSURD, HARD, ORDINARY, Attack, Refused, table
from .problems import Draw, Problem


def _attack(nature: int = ORDINARY) -> Attack:
    attack = Attack("test", Draw(0, 0))
    sizes = {"max_depth": 1, "max_splits": None, "min_samples_leaf": 1}
    attack.begin(Problem("0:0", np.array([[0], [1]]), [0, 1], None, nature, sizes))
    return attack


def _judged(
    status: str,
    cost: int,
    bound: int,
    found: int | None,
    optimum: int | None,
    rounding: int = 0,
    nature: int = ORDINARY,
) -> set[str]:
    attack = _attack(nature)
    certificate = SimpleNamespace(status=status, cost=cost, lower_bound=bound)
    true = [None if x is None else Fraction(x) for x in (found, optimum)]
    attack.judge(certificate, *true, Fraction(rounding))
    return {category for category, _ in attack.report.failures}


@pytest.mark.parametrize(
    "said, failures",
    [
        (("optimal", 4, 4, 4, 4), set()),
        (("optimal", 5, 5, 5, 4), {"status"}),  # not the least, and the bound is too high
        (("optimal", 5, 4, 5, 4), {"status"}),  # not the least
        (("precision", 5, 5, 5, 4, 0, HARD), {"status"}),  # the bound is too high
        (("precision", 5, 3, 5, 4, 0, HARD), set()),
        (("precision", 5, 3, 5, 4), {"precision"}),  # ordinary numbers have no such excuse
        (("optimal", 3, 3, 4, 4), {"stated"}),  # the tree costs more
        (("optimal", 4, 4, 5, 4, 1), set()),  # all is said of rounding
        (("optimal", 4, 4, 7, 4, 1), {"status", "stated"}),
        (("infeasible", 0, 0, None, None), set()),
        (("infeasible", 0, 0, None, 4), {"status"}),
        (("infeasible", 4, 4, 4, 4), {"status"}),
        (("optimal", 4, 4, None, 4), {"status"}),
        (("optimal", 4, 4, 4, None), {"limit"}),
        (("time_limit", 4, 4, 4, 4), {"status"}),
    ],
)
def test_what_is_not_true_is_noted(said: tuple[Any, ...], failures: set[str]) -> None:
    """By status, bound and cost, of the tree found and of the best one."""
    assert _judged(*said) == failures


def test_errors_are_refusals_or_raw() -> None:
    """A ValueError is one only where numbers are absurd."""

    def refuse() -> None:
        raise ValueError("too large")

    def fail() -> None:
        raise OverflowError("too large")

    for nature, call, expected in (
        (ORDINARY, refuse, ["refused"]),
        (HARD, refuse, ["refused"]),
        (ABSURD, refuse, []),
        (ABSURD, fail, ["raw"]),
    ):
        attack = _attack(nature)
        with pytest.raises(Refused):
            attack.call(call)
        assert [category for category, _ in attack.report.failures] == expected


def test_rounding_that_is_not_negligible_is_not_optimal() -> None:
    """It is fine to answer precision."""
    for status, expected in (("optimal", ["coarse"]), ("precision", [])):
        attack = _attack(HARD)
        attack.report.status = status
        attack.check_rounding(Fraction(2), Fraction(1))
        assert [category for category, _ in attack.report.failures] == expected


def test_the_table_counts_problems_by_kind() -> None:
    """One line each, and one for all."""
    attack = _attack()
    attack.report.fail("status", "one")
    attack.report.fail("status", "another of the same problem")
    lines = [line.split() for line in table([attack.report, _attack().report]).splitlines()]
    assert lines[0][:4] == ["kind", "problems", "failing", "status"]
    assert lines[1][:4] == ["test", "2", "1", "1"]
    assert lines[2][:4] == ["all", "2", "1", "1"]
