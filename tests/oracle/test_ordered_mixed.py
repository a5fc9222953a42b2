"""Tables of flags, small counts and numbers: columns of bits beside pair tables, sums of any width.

The search over 0/1 columns says what the best value is, as for other medium problems.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import _core
from tests.oracle.ordered import Ordered, make_ordered
from tests.oracle.test_ordered_medium import check_equal, labels
from tests.problems import FUZZ, zero_one_costs
from tests.registry import all_isas

KINDS = ("accuracy", "three labels", "label weights", "weights", "leaves", "penalty", "all")


def mixed(
    rng: np.random.Generator, kind: str, n_rows: int, numbers: int, flags: int, n_ranks: int
) -> Ordered:
    """Draw numbers, flags and a small count, and classes by a planted tree with noise."""
    n_types = 3 if kind in ("three labels", "all") else 2
    features = [rng.integers(0, n_ranks, n_rows) for _ in range(numbers)]
    features += [(rng.random(n_rows) < rng.uniform(0.05, 0.95)).astype(int) for _ in range(flags)]
    features.append(rng.integers(0, 5, n_rows))
    ranks = np.array(features, dtype=np.int32)
    given: dict[str, Any] = {"max_depth": 2, "cost_matrix": zero_one_costs(n_types)}
    if kind in ("label weights", "all"):
        given["cost_matrix"] = given["cost_matrix"] * rng.integers(1, 9, size=(n_types, 1))
    if kind == "weights":
        given["weights"] = rng.integers(1, 9, n_rows)
    if kind in ("leaves", "all"):
        given["min_leaf"] = int(rng.choice([2, 7, n_rows // 12]))
    if kind in ("penalty", "all"):
        given["split_penalty"] = int(rng.integers(1, 6))
    n = np.maximum(ranks.max(axis=1) + 1, 2)
    return make_ordered(ranks, labels(rng, ranks, n_types, 0.15), n_ranks=n, **given)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_flags_beside_numbers(kind: str, depth: int) -> None:
    """Pairs of flags are bits, others are tables; thresholds inside of bins are looked at."""
    rng = np.random.default_rng([FUZZ, 1, KINDS.index(kind), depth])
    for n_rows, numbers in ((60, 1), (250, 2), (250, 0)):
        ordered = mixed(rng, kind, n_rows, numbers, 7, 90 if depth == 2 else 50)
        check_equal(ordered.but(max_depth=depth), {"use_bit_pairs": False})


@pytest.mark.parametrize("kind", KINDS)
def test_flags_where_sides_are_subtracted(kind: str) -> None:
    """From 2 000 rows on, what the larger side counts is the node less the smaller side."""
    rng = np.random.default_rng([FUZZ, 2, KINDS.index(kind)])
    ordered = mixed(rng, kind, 2300, 2, 8, 9).but(max_depth=3)
    check_equal(ordered, {"use_bit_pairs": False})
    check_equal(ordered, {"use_sibling_subtraction": False})


@pytest.mark.parametrize("isa", all_isas())
@pytest.mark.parametrize("numbers", [0, 2])
def test_every_instruction_set_counts_alike(isa: str, numbers: int) -> None:
    """Value and work are those of the plainest code: bits, tables and second splits."""
    rng = np.random.default_rng([FUZZ, 3, numbers])
    for kind in KINDS:
        ordered = mixed(rng, kind, 500, numbers, 6, 400).but(max_depth=3)
        found, plain = ordered.solve(isa=isa), ordered.solve(isa="baseline")
        assert found.status == plain.status == "optimal"
        assert found.upper_bound == plain.upper_bound, (ordered, isa)


@pytest.mark.parametrize("n_rows", [16_381, 16_382, 16_383, 16_384, 20_000])
@pytest.mark.parametrize("n_types", [2, 3])
def test_sums_at_the_end_of_16_bits(n_rows: int, n_types: int) -> None:
    """Where all rows have one class but a few, sums are as large as the number of rows."""
    rng = np.random.default_rng([FUZZ, 4, n_rows, n_types])
    ranks = np.array([rng.permutation(n_rows), np.arange(n_rows) // 300], dtype=np.int32)
    types = np.where(np.arange(n_rows) % 500 == 7, rng.integers(0, n_types, n_rows), 0)
    types[ranks[0] > n_rows - 9] = 1
    costs, n_ranks = zero_one_costs(n_types), ranks.max(axis=1) + 1

    def least(weight: int) -> int:
        weights = None if weight == 1 else np.full(n_rows, weight)
        found = _core.solve_ordered(
            ranks, n_ranks, types.astype(np.int32), costs, weights, {"max_depth": 2}, None
        )
        assert found.status == "optimal"
        return int(found.upper_bound)

    errors = least(1)
    assert 0 < errors < (types > 0).sum()
    assert least(70_000) == 70_000 * errors
    assert least(2**40) == 2**40 * errors


def test_bits_are_chosen_where_features_have_few_ranks() -> None:
    """The model decides for each set of rows; the counter tells."""
    rng = np.random.default_rng(5)
    flags = mixed(rng, "accuracy", 400, 0, 12, 2).solve()
    assert flags.counters["bit_pairs"] > 0
    numbers = np.array([rng.permutation(400) for _ in range(4)], dtype=np.int32)
    types = rng.integers(0, 2, 400).astype(np.int32)
    ranked = make_ordered(numbers, types, zero_one_costs(2), max_depth=2).solve()
    assert ranked.counters["bit_pairs"] == 0
    assert ranked.counters["pair_tables"] > 0


def test_many_flags_are_searched_by_bits_alone() -> None:
    """A table of flags has no pair tables at all."""
    rng = np.random.default_rng(6)
    ordered = mixed(rng, "accuracy", 900, 0, 60, 2)
    n_columns = int((ordered.n_ranks - 1).sum())
    found = ordered.solve()
    assert found.counters["pair_tables"] == 0
    assert found.counters["bit_pairs"] == n_columns * (n_columns - 1) // 2
    problem = ordered.problem
    columns = _core.solve(
        problem.columns, problem.row_types, problem.cost_matrix, None, {"max_depth": 2}
    )
    assert found.upper_bound == columns.upper_bound
