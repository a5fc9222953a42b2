"""Ordered features with a vector per row: against brute force, and the engine of 0/1 columns.

Small problems are compared with all trees. Medium ones become problems of one 0/1 column per
threshold, which the search over columns, compared with brute force elsewhere, solves too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import _core
from tests.oracle.ordered import expand, random_ranks
from tests.oracle.test_ordered_medium import numbers, random_setting
from tests.oracle.vector_problems import (
    RATE_SCALE,
    VectorCase,
    check_optimal,
    check_tree,
    random_statistics,
)
from tests.problems import FUZZ
from tests.registry import settings_one_by_one

SUMS = ("min_label", "squares", "label_outputs", "square_outputs")
ASKED = ("callback", "rates", "linear", "quantile")
KINDS = (*SUMS, *ASKED)
SCALES = {"rates": RATE_SCALE}


@dataclass(frozen=True)
class OrderedCase:
    """Ranks by feature and row, and the same problem over 0/1 columns."""

    ranks: NDArray[np.int32]
    n_ranks: NDArray[np.int32]
    case: VectorCase

    def solve(self, **options: Any) -> Any:
        """Run the engine on the ranks; ``options`` come on top of the problem's own."""
        case = self.case
        return _core.solve_ordered_vector(
            self.ranks,
            self.n_ranks,
            case.statistics,
            case.core_kind,
            {**case.options(), **options},
            None,
            case.extra(),
        )

    def __repr__(self) -> str:
        return f"OrderedCase({self.ranks.tolist()}, {self.n_ranks.tolist()}, {self.case!r})"


def random_limits(rng: np.random.Generator, case: VectorCase) -> VectorCase:
    """Draw penalty, scale, and the least size of a leaf."""
    leaf = max(case.whole, 1)
    return case.but(
        error_scale=int(rng.choice([1, 1, 3])),
        split_penalty=int(rng.choice([0, 0, 1, max(1, leaf // 50), max(1, leaf // 10)])),
        min_leaf=int(rng.choice([1, 1, 1, 2, 3, max(1, len(case.columns) // 6)])),
    )


def make_case(
    rng: np.random.Generator,
    kind: str,
    ranks: NDArray[np.int32],
    n_ranks: NDArray[np.int32],
    depth: int,
) -> OrderedCase:
    """Draw the vectors of rows, and the limits on trees."""
    n_rows = ranks.shape[1]
    weights = rng.integers(1, 4, n_rows) if rng.random() < 0.3 else np.ones(n_rows, dtype=np.int64)
    case = VectorCase(
        expand(ranks, n_ranks),
        random_statistics(rng, kind, n_rows, weights),
        kind,
        scale=int(rng.choice([1, 1, 7])) if kind.startswith("square") else SCALES.get(kind, 1),
        max_depth=depth,
        laws=("superadditive", "worst")[: int(rng.integers(1, 3))] if kind == "callback" else (),
    )
    return OrderedCase(ranks, n_ranks, random_limits(rng, case))


def small(rng: np.random.Generator, kind: str) -> OrderedCase:
    """Draw a problem that brute force can solve."""
    n_rows, n_features = int(rng.integers(1, 15)), int(rng.integers(1, 4))
    ranks, n_ranks = random_ranks(rng, n_rows, n_features, 5)
    return make_case(rng, kind, ranks, n_ranks, int(rng.integers(0, 5)))


def medium(rng: np.random.Generator, kind: str, n_rows: int, ties: int, depth: int) -> OrderedCase:
    """Draw a problem of dependent features, whose vectors depend on these; ties 0: none."""
    ranks = numbers(rng, n_rows, int(rng.integers(3, 6)), ties)
    ordered = make_case(rng, kind, ranks, ranks.max(axis=1) + 1, depth)
    if rng.random() < 0.3 or kind in ("square_outputs", "linear"):
        return ordered
    # Rows on one side of two cuts have other vectors.
    chosen = rng.integers(0, len(ranks), 2)
    side = np.logical_xor(*(ranks[f] <= rng.choice(ranks[f]) for f in chosen))
    statistics = ordered.case.statistics.copy()
    if kind == "squares":
        w, y = statistics[:, 0], statistics[:, 1] // statistics[:, 0] + 5 * side
        statistics = np.stack([w, w * y, w * y * y], axis=1)
    elif kind == "quantile":
        statistics[:, 1] += 5 * side
    elif kind == "rates":
        # With rare events on one side.
        statistics[side & (statistics[:, 1] > 2)] *= [[0, 1, 0]]
    else:
        statistics[side] = statistics[side][:, ::-1]
    statistics = np.ascontiguousarray(statistics)
    return OrderedCase(ranks, ordered.n_ranks, ordered.case.but(statistics=statistics))


def check_equal(ordered: OrderedCase, setting: dict[str, Any]) -> None:
    """Compare the value and the size of the tree with those over 0/1 columns."""
    expected = ordered.case.solve()
    assert expected.status == "optimal"
    splits = int((expected.test >= 0).sum())
    for options in ({}, setting):
        result = ordered.solve(**options)
        assert result.status == "optimal", (ordered, options)
        assert result.lower_bound == result.upper_bound, (ordered, options)
        facts = check_tree(result, ordered.case)
        found = (facts.value, facts.splits)
        assert found == (expected.upper_bound, splits), (found, splits, ordered, options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_value_is_the_least_over_all_trees(kind: str, seed: int) -> None:
    """Default options: proven optimal, and the smallest tree of that value."""
    for number in range(200):
        ordered = small(np.random.default_rng([FUZZ, 15, seed, number]), kind)
        facts = check_optimal(ordered.solve(), ordered.case, ordered)
        best = tuple(ordered.case.optimum())
        assert (facts.value, facts.splits, facts.depth) == best, ordered


@pytest.mark.parametrize("kind", KINDS)
def test_every_switch_alone_leaves_the_optimum_unchanged(kind: str) -> None:
    """Each technique off by itself, and on by itself."""
    for number in range(40):
        ordered = small(np.random.default_rng([FUZZ, 16, number]), kind)
        for setting in settings_one_by_one():
            check_optimal(ordered.solve(**setting), ordered.case, (ordered, setting))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("rows", "ties", "depth", "count"),
    [
        ((100, 300), 0, 2, 12),
        ((100, 400), 40, 2, 30),
        ((60, 100), 0, 3, 3),
        ((100, 300), 30, 3, 12),
        ((50, 100), 8, 4, 10),
    ],
    ids=str,
)
def test_columns_of_all_thresholds_have_the_same_optimum(
    kind: str, rows: tuple[int, int], ties: int, depth: int, count: int
) -> None:
    """Bins with many thresholds, intervals of thresholds, and sets that come again."""
    rng = np.random.default_rng([FUZZ, 17, ties, depth])
    for _ in range(count):
        n_rows = int(rng.integers(rows[0], rows[1] + 1))
        check_equal(medium(rng, kind, n_rows, ties, depth), random_setting(rng))


@pytest.mark.parametrize("kind", KINDS)
def test_limits_enclose_the_optimum(kind: str) -> None:
    """Cut off after any amount of work, bounds stay on their side of the optimum."""
    rng = np.random.default_rng([FUZZ, 18])
    for _ in range(4):
        ordered = medium(rng, kind, 150, 25, depth=3)
        optimum = ordered.case.solve().upper_bound
        for limits in ({"work_limit": n} for n in (1, 2, 3, 5, 8, 20, 50, 200)):
            check_interval(ordered, optimum, limits)
        for seconds in (1e-4, 1e-3, 1e-2):
            check_interval(ordered, optimum, {"time_limit": seconds})


def check_interval(ordered: OrderedCase, optimum: int, limits: dict[str, Any]) -> None:
    """The optimum lies between the bounds, and the tree is worth the upper one."""
    result = ordered.solve(**limits)
    assert result.status in ("optimal", *limits), (ordered, limits)
    assert result.lower_bound <= optimum <= result.upper_bound, (ordered, limits)
    assert check_tree(result, ordered.case).value == result.upper_bound, (ordered, limits)
    if result.status == "optimal":
        assert result.lower_bound == result.upper_bound == optimum, (ordered, limits)


@pytest.mark.parametrize("kind", SUMS)
@pytest.mark.parametrize("bits", [31, 33, 45])
def test_sums_beyond_32_bits(kind: str, bits: int) -> None:
    """Sums of any size that fits 64 bits are exact."""
    rng = np.random.default_rng([FUZZ, 19, bits])
    for _ in range(10):
        ranks = numbers(rng, 60, 3, 20)
        if kind.startswith("square"):
            y = rng.integers(-(2 ** (bits // 2)), 2 ** (bits // 2), 60)
            statistics = np.stack([np.ones_like(y), y, y * y], axis=1)
        else:
            statistics = rng.integers(0, 2**bits, (60, 3))
        n_ranks = ranks.max(axis=1) + 1
        statistics = np.ascontiguousarray(statistics, dtype=np.int64)
        case = VectorCase(expand(ranks, n_ranks), statistics, kind, max_depth=2)
        check_equal(OrderedCase(ranks, n_ranks, case), {})


# Where the rows of a column of many rows lie: anywhere, mostly at one rank, or at the ends, as
# missing values do.
PILES = {"even": (), "pile": (30,), "first": (0,), "both ends": (0, 79)}


def many_rows(rng: np.random.Generator, pile: str, n_outputs: int, bits: int) -> OrderedCase:
    """Draw squared errors of so many rows that runs of one feature are looked at by blocks."""
    n_rows, n_features = int(rng.choice([4096, 4097, 5000])), int(rng.integers(1, 3))
    ranks = rng.integers(0, 80, (n_features, n_rows))
    for rank in PILES[pile]:
        ranks[rng.random(ranks.shape) < 0.4] = rank
    weights = rng.integers(1, 4, (n_rows, 1))
    noise = rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=(n_rows, n_outputs))
    signal = np.sin(ranks[0] / rng.integers(5, 40))[:, None] * rng.normal(size=n_outputs)
    y = np.round((signal + noise) * 2 ** (bits // 2) / 8).astype(np.int64)
    factors = 1 if n_outputs == 1 else np.arange(1, n_outputs + 1)
    squares = (weights * factors * y**2).sum(axis=1, keepdims=True)
    statistics = np.ascontiguousarray(np.concatenate([weights, weights * y, squares], axis=1))
    table, n_ranks = ranks.astype(np.int32), np.full(n_features, 80, dtype=np.int32)
    kind = "squares" if n_outputs == 1 else "square_outputs"
    case = VectorCase(
        expand(table, n_ranks),
        statistics,
        kind,
        split_penalty=int(rng.choice([0, 0, int(squares.sum()) // 500])),
        max_depth=2,
        max_splits=int(rng.choice([-1, -1, 2])),
        min_leaf=int(rng.choice([1, 1, 1, 2, 60])),
    )
    return OrderedCase(table, n_ranks, case)


@pytest.mark.parametrize("pile", PILES)
@pytest.mark.parametrize(("n_outputs", "bits"), [(1, 4), (1, 24), (1, 46), (3, 12), (3, 42)])
def test_runs_of_many_rows(pile: str, n_outputs: int, bits: int) -> None:
    """Bounds of blocks of thresholds in doubles leave the optimum exact, up to sums of 60 bits."""
    rng = np.random.default_rng([FUZZ, 21, n_outputs, bits, list(PILES).index(pile)])
    for _ in range(3):
        case = many_rows(rng, pile, n_outputs, bits)
        check_equal(case, {})
        check_equal(case, {"use_run_blocks": False})


@pytest.mark.parametrize("kind", ["min_label", "squares"])
def test_arguments_that_make_no_sense_are_refused(kind: str) -> None:
    """The entry point checks shapes, signs and names before it searches."""
    ranks, n_ranks = np.array([[0, 1, 2]], dtype=np.int32), np.array([3], dtype=np.int32)
    good = np.array([[1, 2, 4], [1, 3, 9], [1, 1, 1]], dtype=np.int64)

    def ask(
        given: NDArray[np.int32] = ranks, costs: NDArray[np.int64] = good, name: str = kind
    ) -> Any:
        return _core.solve_ordered_vector(given, n_ranks, costs, name, {"max_depth": 1})

    assert ask().status == "optimal"
    with pytest.raises(ValueError):
        ask(given=ranks + 1)
    with pytest.raises(ValueError):
        ask(costs=good[:2].copy())
    with pytest.raises(ValueError):
        ask(costs=-good)
    with pytest.raises(ValueError):
        ask(name="callback")
