"""A sample of the attacks: no certificate says what is not true.

``python -m tests.attack`` runs as many as one likes; ``CERTREE_FUZZ=<seed>`` draws other samples.
"""

from __future__ import annotations

import pytest

from tests.problems import FUZZ

from .checks import table
from .kinds import KINDS, run

PROBLEMS = 200 if FUZZ else 20


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_true_whatever_the_numbers(kind: str) -> None:
    """Statuses, bounds, costs and totals agree with all trees in fractions, and verify agrees."""
    found = [run(kind, FUZZ, index).report for index in range(PROBLEMS)]
    failing = [str(report) for report in found if report.failures]
    assert not failing, "\n".join([*failing[:10], table(found)])


@pytest.mark.parametrize(
    "kind, seed, index",
    [("costs", 424242, 11093), ("front", 424242, 8563), ("front", 424242, 8731)],
)
def test_what_was_found_stays_mended(kind: str, seed: int, index: int) -> None:
    """A proof by leading digits alone, and fronts of rows that weigh more than floats hold."""
    assert not run(kind, seed, index).report.failures


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_and_a_number_name_a_problem(kind: str) -> None:
    """What was found once can be found again."""
    first, second = (run(kind, 3, 5) for _ in range(2))
    assert str(first.problem) == str(second.problem)
    assert first.report.failures == second.report.failures
