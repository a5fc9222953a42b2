"""Rows of few types: counted by type they have the optima that they have one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import _core
from certree.engine import Options, _vector
from certree.engine._row_types import RowTypes, row_types
from tests.oracle.test_test_costs import Case, Enumeration, check, random_cases
from tests.oracle.vector_problems import VectorCase
from tests.problems import FUZZ, random_columns
from tests.registry import all_isas, all_searches, settings_one_by_one


@dataclass(frozen=True, eq=False)
class TypedCase(Case):
    """Rows that are multiples of a few types; costs and weights are those of the rows."""

    types: RowTypes
    free: bool

    def extra(self) -> dict[str, Any]:
        """Types, and prices unless tests are free."""
        extra: dict[str, Any] = {"row_types": self.types.types}
        if self.types.weights is not None:
            extra["row_weights"] = self.types.weights
        if self.free:
            return extra
        prices = super().extra()
        return {**prices, **extra, "weights": np.ones(len(self.types.totals), dtype=np.int64)}

    def _call(self, function: Any, options: dict[str, Any]) -> Any:
        given = {**self.options, **options}
        lines = np.ascontiguousarray(self.types.values)
        return function(self.columns, lines, "min_label", None, given, None, self.extra())

    def solve(self, **options: Any) -> Any:
        """Run the engine by type."""
        return self._call(_core.solve_vector, options)

    def solve_path(self, **options: Any) -> Any:
        """Run the engine by type, for every number of splits."""
        return self._call(_core.solve_vector_path, options)

    def solve_by_row(self, **options: Any) -> Any:
        """Run the engine row by row."""
        extra = {} if self.free else Case.extra(self)
        given = {**self.options, **options}
        return _core.solve_vector(self.columns, self.costs, "min_label", None, given, None, extra)


# Costs as they are; with a common factor; with many digits, which need several products of 16 bits;
# and beyond these. Weights beyond 16 bits.
FACTORS = ((1, 1), (97, 1), (2**17 + 1, 1), (2**34 + 12345, 1), (1, 20_011))


def typed(case: Case, rng: np.random.Generator) -> TypedCase:
    """Give the rows of a case few types."""
    n, n_labels = case.costs.shape
    n_types = int(rng.integers(1, 7))
    factor, heavy = FACTORS[int(rng.integers(len(FACTORS)))]
    lines = rng.integers(0, 30, (n_types, n_labels)) * factor
    if factor > 2**16:
        lines += rng.integers(0, 1000, lines.shape)
    kinds = rng.integers(0, n_types, n).astype(np.int32)
    weights = None
    if rng.random() < 0.4 or heavy > 1:
        weights = rng.integers(1, 6, n).astype(np.int64) * heavy
    totals = np.zeros(n_types, dtype=np.int64)
    np.add.at(totals, kinds, 1 if weights is None else weights)
    types = RowTypes(kinds, np.ascontiguousarray(lines, dtype=np.int64), weights, totals)
    free = rng.random() < 0.3
    price = case.price * (0 if free else max(1, factor // 40))
    discounted = case.discounted * (0 if free else max(1, factor // 40))
    return TypedCase(
        case.columns,
        types.by_row(),
        case.feature,
        case.group,
        price,
        discounted,
        weights,
        case.options,
        types,
        free,
    )


def typed_cases(seed: int, count: int, **shape: Any) -> Iterator[TypedCase]:
    """As random_cases, of few types."""
    rng = np.random.default_rng([seed, 7, FUZZ])
    for case in random_cases(seed, count, **shape):
        yield typed(case, rng)


@pytest.mark.parametrize("seed", range(100, 102))
def test_the_cost_is_the_least_over_all_trees(seed: int) -> None:
    """Free tests, prices, discounts, weights, least leaves, splits and a penalty."""
    isas = cycle(all_isas())
    for case in typed_cases(seed, 150):
        check(case, case.solve(isa=next(isas)), Enumeration(case).value())


def test_every_switch_alone_leaves_the_optimum_unchanged() -> None:
    """Each technique off by itself, and on by itself."""
    for case in typed_cases(110, 20):
        optimum = Enumeration(case).value()
        for setting in settings_one_by_one():
            check(case, case.solve(**setting), optimum, setting)


def test_every_search_and_instruction_set() -> None:
    """Orders of search, kernels and threads differ in work only."""
    settings = cycle(product(all_searches(), all_isas(), (True, False), (1, 3)))
    for case in typed_cases(120, 120):
        search, isa, smallest, threads = next(settings)
        options = {"search": search, "isa": isa, "smallest": smallest, "threads": threads}
        check(case, case.solve(**options), Enumeration(case).value(), options)


def test_every_entry_of_the_path_is_optimal() -> None:
    """Costs by number of splits, tests included."""
    for case in typed_cases(130, 60):
        options = {**case.options, "max_splits": 7, "split_penalty": 0, "error_scale": 1}
        free = replace(case, options=options)
        exact = Enumeration(free).costs()[:8]
        least = [min(exact[: k + 1]) for k in range(len(exact))]
        expected = {k: c for k, c in enumerate(least) if k == 0 or c < least[k - 1]}
        result = free.solve_path()
        assert result.status == "optimal", free
        assert {entry[0]: entry[2] for entry in result.entries} == expected, free


def test_both_ways_agree_on_larger_tables() -> None:
    """More columns than a register holds, more rows than a word, deeper trees."""
    isas = cycle(all_isas())
    for case in typed_cases(140, 20, rows=(50, 300), columns=(10, 36), depths=(2, 3, 3)):
        isa = next(isas)
        one, other = case.solve(isa=isa), case.solve_by_row(isa=isa)
        assert one.status == other.status == "optimal"
        assert one.upper_bound == other.upper_bound, case


def test_leaf_functions_see_the_same_sums() -> None:
    """Callbacks with and without laws, with statistics of any sign."""
    rng = np.random.default_rng([150, FUZZ])
    isas = cycle(all_isas())
    for number in range(60):
        n = int(rng.integers(2, 30))
        columns = random_columns(rng, n, int(rng.integers(1, 7)))
        low = 0 if number % 2 else -9
        lines = rng.integers(low, 10, (int(rng.integers(1, 5)), 2)).astype(np.int64)
        lines[:, -1] = np.abs(lines[:, -1])
        kinds = rng.integers(0, len(lines), n).astype(np.int32)
        weights = rng.integers(1, 5, n).astype(np.int64)
        case = VectorCase(
            columns,
            lines[kinds] * weights[:, None],
            "unlawful",
            max_depth=int(rng.integers(0, 4)),
            min_leaf=int(rng.choice([1, 2, 3])),
        )
        extra = {**case.extra(), "row_types": kinds, "row_weights": weights}
        options = {**case.options(), "isa": next(isas)}
        found = _core.solve_vector(columns, lines, "callback", None, options, None, extra)
        assert found.status == "optimal"
        assert found.upper_bound == case.optimal_value(), case


def test_row_types_are_the_rows() -> None:
    """What is found stands for the rows; too many types are told."""
    rng = np.random.default_rng([160, FUZZ])
    for _ in range(50):
        n, n_types = int(rng.integers(1, 200)), int(rng.integers(1, 9))
        lines = rng.integers(0, 9, (n_types, 3)).astype(np.int64)
        rows = lines[rng.integers(0, n_types, n)] * rng.integers(1, 40, (n, 1))
        found = row_types(rows)
        assert found is not None
        assert np.array_equal(found.by_row(), rows)
        places = rng.integers(0, 4, n)
        sums = np.zeros((4, 3), dtype=np.int64)
        np.add.at(sums, places, rows)
        assert np.array_equal(found.sums(places, 4), sums)
    assert row_types(np.arange(1, 401, dtype=np.int64).reshape(200, 2) ** 2) is None


def _arguments(problem: _vector.VectorProblem) -> tuple[NDArray[np.int64], dict[str, Any]]:
    (_, vectors, *_), extra = problem.to_core(Options(max_depth=2))
    return vectors, extra


def test_the_engine_chooses_the_way() -> None:
    """Few types are counted, also with weights and prices; many types are added up row by row."""
    rng = np.random.default_rng([170, FUZZ])
    columns = random_columns(rng, 300, 8)
    matrix = rng.integers(1, 50, (5, 5)).astype(np.int64)
    classes, weights = rng.integers(0, 5, 300), rng.integers(1, 9, 300)
    rows = matrix[classes] * weights[:, None]
    n = columns.shape[1]
    prices = {
        "feature": np.arange(n, dtype=np.int32),
        "group": np.zeros(n, dtype=np.int32),
        "price": np.full(n, 7),
        "discounted": np.full(n, 2),
    }
    vectors, extra = _arguments(_vector.VectorProblem(columns, rows))
    assert len(vectors) <= 5
    assert "row_types" in extra
    paid = _vector.VectorProblem(columns, rows, test_costs=prices, weights=weights)
    vectors, extra = _arguments(paid)
    assert np.array_equal(extra["weights"][extra["row_types"]] * extra["row_weights"], weights)
    # Rows pay once each: weights of costs are not those of prices.
    once = _vector.VectorProblem(columns, rows, test_costs=prices)
    vectors, extra = _arguments(once)
    assert np.array_equal(vectors[extra["row_types"]], rows)
    assert extra["weights"].tolist() == [1] * len(vectors)
    for counted in (
        _vector.VectorProblem(columns, rng.integers(0, 10**6, (300, 3))),
        _vector.VectorProblem(columns, rows, row_counts=weights),
    ):
        vectors, extra = _arguments(counted)
        assert len(vectors) == 300
        assert "row_types" not in extra


def test_types_that_make_no_sense_are_refused() -> None:
    """The message says what is wrong."""
    columns = np.array([[0], [1]], dtype=np.uint8)
    lines = np.array([[0, 1]], dtype=np.int64)

    def solve(kind: str, types: list[int], rows: Any = None) -> Any:
        extra = {"row_types": np.array(types, dtype=np.int32)}
        return _core.solve_vector(columns, lines, kind, rows, {"max_depth": 1}, None, extra)

    with pytest.raises(ValueError, match="row_types has a value outside"):
        solve("min_label", [0, 1])
    with pytest.raises(ValueError, match="leave row_counts out"):
        solve("min_label", [0, 0], np.ones(2, dtype=np.int64))
    with pytest.raises(ValueError, match="has 3 entries, expected 2"):
        solve("min_label", [0, 0, 0])
