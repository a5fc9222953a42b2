"""The largest (partial) area against listing all trees, for every switch and limit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from certree import _core
from certree.engine._chain import ChainResult, area, roc_chain, solve_chain
from certree.engine._scalar import Options, Problem
from tests.oracle.areas import AllTrees, curve_area, rank_area
from tests.problems import FUZZ
from tests.registry import all_isas, settings_one_by_one

RATES = [Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(3, 7), Fraction(9, 10)]


@dataclass(frozen=True)
class Case:
    """A problem, its limits, and all of its trees."""

    problem: Problem
    options: Options
    max_fpr: Fraction
    trees: AllTrees
    depth: int

    @property
    def unit(self) -> Fraction:
        """One split, in normalised area."""
        weights = self.trees.weights
        positives = sum(w for w, t in zip(weights, self.trees.row_types, strict=True) if t)
        loss = 2 * positives * (sum(weights) - positives) * self.max_fpr.numerator
        return Fraction(self.options.split_penalty, self.options.error_scale * loss)

    def best(self) -> Fraction:
        """Largest area less penalties."""
        return self.trees.best(self.depth, self.max_fpr, self.unit, self.options.max_splits)

    def objective(self, leaves: list[tuple[int, int]], splits: int) -> Fraction:
        """Area less penalties, by the oracle's formulas."""
        full = self.max_fpr == 1
        reached = rank_area(leaves) if full else curve_area(leaves, self.max_fpr)
        return reached - self.unit * splits

    def check(self, result: ChainResult) -> None:
        """The tree is one of the trees, it is the best one, and the bound says so."""
        assert result.status == "optimal"
        leaves = list(zip(result.neg, result.pos, strict=True))
        assert (result.nodes.n_splits, tuple(sorted(leaves))) in self.trees.trees(self.depth)
        assert result.area == area(result.neg, result.pos, self.max_fpr)
        assert self.objective(leaves, result.nodes.n_splits) == self.best()
        assert result.bound == result.value


def _columns(rng: np.random.Generator, n_rows: int, n_columns: int) -> NDArray[np.uint8]:
    densities = rng.choice([0.2, 0.4, 0.5, 0.7], size=n_columns)
    columns = (rng.random((n_rows, n_columns)) < densities).astype(np.uint8)
    if rng.random() < 0.2:
        columns[:, rng.integers(n_columns)] = rng.integers(2)
    if rng.random() < 0.3:  # equal rows, which may be in conflict
        columns = columns[rng.integers(0, max(1, n_rows // 2), size=n_rows)]
    return np.asfortranarray(columns)


def _weights(rng: np.random.Generator, n_rows: int) -> NDArray[np.int64] | None:
    kind = rng.random()
    if kind < 0.6:
        return None
    return rng.integers(1, 5 if kind < 0.9 else 10**4, size=n_rows, dtype=np.int64)


def draw_case(seed: int, number: int, rows: int = 13, columns: int = 5) -> Case:
    """Any mixture of imbalance, weights, penalties, rates and limits."""
    rng = np.random.default_rng([FUZZ, seed, number])
    n_rows = int(rng.integers(2, rows))
    matrix = _columns(rng, n_rows, int(rng.integers(1, columns)))
    types = (rng.random(n_rows) < rng.choice([0.1, 0.5, 0.8])).astype(np.int32)
    if types.min() == types.max():
        types[rng.integers(n_rows)] = 1 - types[0]
    weights = _weights(rng, n_rows)
    depth = int(rng.choice([0, 1, 2, 3, 3, 3]))
    min_leaf = int(rng.choice([1, 1, 1, 2, 3]))
    rate = RATES[int(rng.integers(len(RATES)))]
    listed = [1] * n_rows if weights is None else weights.tolist()
    trees = AllTrees(matrix.tolist(), types.tolist(), listed, min_leaf)
    scale = int(rng.choice([1, 1, 3, 100]))
    negatives, positives = trees.leaf((1 << n_rows) - 1)
    whole = 2 * scale * positives * negatives * rate.numerator
    options = Options(
        max_depth=depth,
        max_splits=int(rng.integers(0, 7)) if rng.random() < 0.2 else None,
        min_leaf=min_leaf,
        error_scale=scale,
        split_penalty=int(rng.choice([0, 0, 0, 1, whole // 50 + 1, whole // 10 + 1])),
    )
    problem = Problem(matrix, types, np.array([[0, 1], [1, 0]]), weights)
    return Case(problem, options, rate, trees, depth)


def _solve(case: Case, **extra: Any) -> ChainResult:
    options = Options(**{**case.options.__dict__, "extra": extra})
    return solve_chain(case.problem, case.max_fpr, options)


def test_the_area_is_the_largest_of_all_trees() -> None:
    """Two thousand small problems of every kind."""
    for number in range(2000):
        case = draw_case(1, number)
        case.check(_solve(case))


def test_larger_problems_have_the_largest_area() -> None:
    """More columns than the smallest problems have, so that lists of chains matter."""
    for number in range(40):
        case = draw_case(2, number, rows=30, columns=6)
        case.check(_solve(case))


@pytest.mark.parametrize("setting", settings_one_by_one(), ids=str)
def test_every_switch_leaves_the_area_unchanged(setting: dict[str, bool]) -> None:
    """Bounds change the work, never the value."""
    for number in range(60):
        case = draw_case(3, number)
        case.check(_solve(case, **setting))


def test_random_switches_and_instruction_sets_leave_the_area_unchanged() -> None:
    """Any combination."""
    names = tuple(_core.switches())
    for number in range(500):
        case = draw_case(4, number)
        rng = np.random.default_rng([FUZZ, 5, number])
        setting: dict[str, Any] = {name: bool(rng.integers(2)) for name in names}
        setting["isa"] = str(rng.choice(all_isas()))
        case.check(_solve(case, **setting))


def test_four_levels() -> None:
    """One level more than pair counts reach from the children of the root."""
    for number in range(60):
        case = draw_case(6, number, rows=12, columns=5)
        case = Case(
            case.problem,
            Options(**{**case.options.__dict__, "max_depth": 4, "max_splits": None}),
            case.max_fpr,
            case.trees,
            4,
        )
        case.check(_solve(case))


def test_no_depth_limit() -> None:
    """Penalties alone limit the tree, or nothing does."""
    for number in range(100):
        case = draw_case(13, number, rows=9, columns=5)
        options = Options(**{**case.options.__dict__, "max_depth": None})
        case = Case(case.problem, options, case.max_fpr, case.trees, 9)
        case.check(_solve(case))


def _without_depth_limit(number: int) -> Case:
    """More columns than shallow solves have levels, and a penalty for every split."""
    case = draw_case(14, number, rows=11, columns=8)
    rng = np.random.default_rng([FUZZ, 15, number])
    negatives, positives = case.trees.leaf((1 << len(case.problem.row_types)) - 1)
    whole = 2 * case.options.error_scale * positives * negatives * case.max_fpr.numerator
    penalty = int(whole * rng.choice([0.01, 0.03, 0.06, 0.12])) + 1
    changes = {"max_depth": None, "split_penalty": penalty}
    options = Options(**{**case.options.__dict__, **changes})
    return Case(case.problem, options, case.max_fpr, case.trees, 7)


def test_penalties_instead_of_a_depth_limit() -> None:
    """Shallow solves to start from, and no more splits than can pay."""
    for number in range(60):
        case = _without_depth_limit(number)
        case.check(_solve(case))
        names = ["use_chain_split_limit", "use_chain_tangents", "use_chain_equivalent_points"]
        case.check(_solve(case, **{names[number % 3]: False}))


def test_bounds_without_a_depth_limit_are_valid_when_work_runs_out() -> None:
    """As with a depth limit, while shallow solves run and after them."""
    for number in range(60):
        case = _without_depth_limit(number)
        rng = np.random.default_rng([FUZZ, 16, number])
        result = _solve(case, work_limit=int(rng.integers(1, 40)))
        least = case.options.error_scale * (1 - case.best()) / result.loss_unit
        assert result.bound <= least <= result.value


def _rule_table(n_rows: int) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Six categories as indicators; positive are rows whose first two agree, and some others."""
    rng = np.random.default_rng([17, n_rows])
    codes = np.stack([rng.integers(0, k, n_rows) for k in (3, 3, 2, 3, 4, 2)], axis=1)
    types = (codes[:, 0] == codes[:, 1]) | (codes[:, 4] == 0)
    types ^= rng.random(n_rows) < 0.05
    columns = [codes[:, j] == value for j in range(6) for value in range(codes[:, j].max() + 1)]
    return np.asfortranarray(np.stack(columns, axis=1).astype(np.uint8)), types.astype(np.int32)


@pytest.mark.parametrize("share", [0.01, 0.025])
def test_no_depth_limit_is_never_worse_than_depth_three(share: float) -> None:
    """Within seconds, on a table whose perfect tree has many splits that do not pay."""
    columns, types = _rule_table(130)
    problem = Problem(columns, types, np.array([[0, 1], [1, 0]]))
    positives = int(types.sum())
    penalty = int(2 * positives * (len(types) - positives) * share)
    limited = Options(max_depth=3, split_penalty=penalty, time_limit=5)
    shallow = solve_chain(problem, 1, limited)
    assert shallow.status == "optimal"
    free = solve_chain(problem, 1, Options(max_depth=None, split_penalty=penalty, time_limit=5))
    assert free.bound <= free.value <= shallow.value
    assert (free.value - free.bound) * free.loss_unit <= Fraction(1, 20)


def test_bounds_are_valid_when_work_runs_out() -> None:
    """A stopped search has a tree and a bound on both sides of the best value."""
    stopped = 0
    for number in range(300):
        case = draw_case(7, number)
        rng = np.random.default_rng([FUZZ, 8, number])
        result = _solve(case, work_limit=int(rng.integers(1, 10)))
        least = case.options.error_scale * (1 - case.best()) / result.loss_unit
        assert result.bound <= least <= result.value
        stopped += result.status == "work_limit"
    assert stopped > 10


def test_a_callback_stops_the_search() -> None:
    """What it raises comes back; a true answer ends with a valid bound."""
    rng = np.random.default_rng(9)
    columns = np.asfortranarray((rng.random((300, 40)) < 0.5).astype(np.uint8))
    types = rng.integers(0, 2, size=300).astype(np.int32)
    problem = Problem(columns, types, np.array([[0, 1], [1, 0]]))
    result = solve_chain(problem, 1, Options(max_depth=4), lambda event: True)
    assert result.status == "interrupted"
    assert result.bound <= result.value

    def fail(event: object) -> None:
        raise KeyError("from the callback")

    with pytest.raises(KeyError, match="from the callback"):
        solve_chain(problem, 1, Options(max_depth=4), fail)


def test_a_small_memory_limit_is_a_result() -> None:
    """The tree so far and a valid bound."""
    rng = np.random.default_rng(10)
    columns = np.asfortranarray((rng.random((200, 30)) < 0.5).astype(np.uint8))
    types = rng.integers(0, 2, size=200).astype(np.int32)
    problem = Problem(columns, types, np.array([[0, 1], [1, 0]]))
    result = solve_chain(problem, 1, Options(max_depth=3, memory_limit=10_000))
    assert result.status == "memory_limit"
    assert result.bound <= result.value


def test_the_area_is_that_of_scikit_learn() -> None:
    """Leaf shares as scores."""
    for number in range(100):
        case = draw_case(11, number)
        if case.max_fpr != 1:
            continue
        result = _solve(case)
        leaf = result.nodes.route(case.problem.columns)
        share = np.zeros(len(result.nodes))
        share[result.nodes.is_leaf] = [
            p / (n + p) for n, p in zip(result.neg, result.pos, strict=True)
        ]
        theirs = roc_auc_score(
            case.problem.row_types, share[leaf], sample_weight=case.problem.weights
        )
        assert abs(theirs - float(result.area)) < 1e-12


def test_the_area_of_leaves_is_the_oracles() -> None:
    """Ties, pure leaves and any rate."""
    rng = np.random.default_rng([FUZZ, 12])
    for _ in range(500):
        leaves = [tuple(v) for v in rng.integers(0, 5, size=(int(rng.integers(1, 7)), 2)).tolist()]
        leaves = [leaf for leaf in leaves if sum(leaf)]
        neg, pos = [leaf[0] for leaf in leaves], [leaf[1] for leaf in leaves]
        if not sum(neg) or not sum(pos):
            continue
        assert area(neg, pos) == rank_area(leaves)
        rate = Fraction(int(rng.integers(1, 20)), 20)
        assert area(neg, pos, rate) == curve_area(leaves, rate)
        assert roc_chain(neg, pos)[-1] == (sum(neg), sum(pos))


def test_bad_questions_are_refused() -> None:
    """One class, other classes, rates outside (0, 1]."""
    columns = np.array([[0], [1], [1]], dtype=np.uint8)
    costs = np.array([[0, 1], [1, 0]])
    one = Problem(columns, np.zeros(3, dtype=np.int32), costs)
    with pytest.raises(ValueError, match="both types"):
        solve_chain(one, 1, Options(max_depth=1))
    three = Problem(columns, np.array([0, 1, 2], dtype=np.int32), costs)
    with pytest.raises(ValueError, match="both types"):
        solve_chain(three, 1, Options(max_depth=1))
    two = Problem(columns, np.array([0, 1, 1], dtype=np.int32), costs)
    for rate in (Fraction(0), Fraction(3, 2), Fraction(-1, 2)):
        with pytest.raises(ValueError, match="max_fpr"):
            solve_chain(two, rate, Options(max_depth=1))
    with pytest.raises(ValueError, match="known"):
        solve_chain(two, 1, Options(max_depth=1, known=(1, 1)))
    huge = Problem(columns, two.row_types, costs, np.full(3, 2**40))
    with pytest.raises(ValueError, match="overflows"):
        solve_chain(huge, Fraction(1, 2**20), Options(max_depth=1))
