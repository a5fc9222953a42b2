"""Objectives with a state, in batches, and joined by &, against enumerations of all trees."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from certree import CostSensitiveTreeClassifier, Measurement, check_task, solve, tasks, verify

LABELS = [0, 1]


def draw(seed: int, n_columns: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(4, 10))
    columns = rng.integers(0, 2, (n_rows, n_columns))
    columns[:, 0] = np.arange(n_rows) % 2
    return columns, rng.integers(0, 2, n_rows)


def trees(
    columns: Any, rows: Any, depth: int, path: tuple[tuple[int, bool], ...] = ()
) -> Iterator[list[Any]]:
    """Yield every tree as a list of leaves (rows, label, path) and tests (rows, column, path)."""
    for label in LABELS:
        yield [("leaf", rows, label, path)]
    for column in range(columns.shape[1]) if depth > 0 else ():
        yes, no = rows[columns[rows, column] == 1], rows[columns[rows, column] == 0]
        if min(len(yes), len(no)) == 0:
            continue
        for a in trees(columns, yes, depth - 1, (*path, (column, True))):
            for b in trees(columns, no, depth - 1, (*path, (column, False))):
                yield [("test", rows, column, path), *a, *b]


def by_hand(y: Any, tree: list[Any]) -> int:
    """Return errors, which cost more after test 1 held; and tests, which cost more further down."""
    total = 0
    for kind, rows, which, path in tree:
        if kind == "leaf":
            total += int((y[rows] != which).sum()) * (3 if (1, True) in path else 2)
        else:
            total += len(rows) * len(path) + which
    return total


def stateful(y: Any) -> tasks.Separable:
    """Return the same as functions of rows; the state has the depth and whether test 1 held."""
    return tasks.Separable(
        LABELS,
        lambda rows, label, state: int((y[rows] != label).sum()) * (3 if state[1] else 2),
        split_cost=lambda rows, column, state: len(rows) * state[0] + column,
        initial=(0, False),
        transition=lambda state, column, holds: (state[0] + 1, state[1] or (column == 1 and holds)),
    )


def batched(y: Any, n_columns: int) -> tasks.Separable:
    """Return the same as functions of sums."""
    return tasks.Separable(
        LABELS,
        lambda sums, state: sums[:, ::-1] * (3 if state[1] else 2),
        split_cost=lambda sums, state: (
            sums.sum(axis=1, keepdims=True) * state[0] + np.arange(n_columns)
        ),
        initial=(0, False),
        transition=lambda state, column, holds: (state[0] + 1, state[1] or (column == 1 and holds)),
        statistics=np.eye(2, dtype=int)[y],
    )


@pytest.mark.parametrize("seed", range(25))
def test_states_in_both_forms_equal_brute_force(seed: int) -> None:
    columns, y = draw(seed)
    rows = np.arange(len(y))
    depth = 1 + seed % 2
    best = min(by_hand(y, tree) for tree in trees(columns, rows, depth))
    for task in (stateful(y), batched(y, 3)):
        solution = solve(task, columns.astype(bool), max_depth=depth)
        assert solution.certificate.status == "optimal"
        assert solution.value == best
        verify(solution, columns.astype(bool), exhaustive=True)


@pytest.mark.parametrize("seed", range(8))
def test_deeper_trees_and_sizes_agree_in_both_forms(seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    columns, y = rng.integers(0, 2, (24, 5)).astype(bool), rng.integers(0, 2, 24)
    for sizes in ({"max_depth": 3}, {"max_depth": 2, "min_samples_leaf": 4}, {"max_splits": 2}):
        settings: Any = {"max_depth": None, **sizes}
        slow = solve(stateful(y), columns, **settings)
        fast = solve(batched(y, 5), columns, **settings)
        assert slow.value == fast.value
        verify(fast, columns)


def group_discounts(y: Any, prices: Any, less: Any, group: Any) -> tasks.Separable:
    """Return errors of cost 100 and prices of tests that fall within a group."""

    @cache
    def charged(made: frozenset[int]) -> Any:
        seen = {group[column] for column in made if group[column] >= 0}
        full = [less[c] if group[c] in seen else prices[c] for c in range(len(prices))]
        return np.array([0 if c in made else price for c, price in enumerate(full)])

    return tasks.Separable(
        LABELS,
        lambda sums: 100 * sums[:, ::-1],
        split_cost=lambda sums, made: sums.sum(axis=1, keepdims=True) * charged(made),
        initial=frozenset(),
        transition=lambda made, column, holds: made | {column},
        statistics=np.eye(2, dtype=int)[y],
    )


def priced(n_rows: int, n_columns: int, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 2, (n_rows, n_columns)).astype(bool)
    y = ((columns[:, 0] & columns[:, 1]) ^ (rng.random(n_rows) < 0.2)).astype(int)
    prices = rng.integers(1, 12, n_columns).tolist()
    less = [min(price, int(rng.integers(0, 4))) for price in prices]
    return columns, y, prices, less, [c % 4 - 1 for c in range(n_columns)]


def built_in(columns: Any, y: Any, prices: Any, less: Any, group: Any, depth: int) -> Any:
    measurements = [
        Measurement(c, prices[c] / 100)
        if group[c] < 0
        else Measurement(c, prices[c] / 100, group=f"g{group[c]}", discounted=less[c] / 100)
        for c in range(len(prices))
    ]
    model = CostSensitiveTreeClassifier([[0, 1], [1, 0]], measurements, max_depth=depth)
    return model.fit(columns, y).certificate_.cost * 100


@pytest.mark.parametrize("seed", range(6))
def test_group_discounts_of_a_user_equal_those_that_are_built_in(seed: int) -> None:
    columns, *rest = priced(60, 8, seed)
    for depth in (2, 3):
        solution = solve(group_discounts(*rest), columns, max_depth=depth)
        assert solution.value == built_in(columns, *rest, depth)


def test_fifty_columns_at_depth_three_take_seconds() -> None:
    columns, *rest = priced(300, 50, 0)
    task = group_discounts(*rest)
    start = time.perf_counter()
    solution = solve(task, columns, max_depth=3)
    seconds = time.perf_counter() - start
    assert solution.value == built_in(columns, *rest, 3)
    assert seconds < 10  # 2 on a machine that does nothing else; see benchmarks/leaf_cost.py


# ---- joined by & ---------------------------------------------------------------------------------


def errors(y: Any) -> tasks.Separable:
    return tasks.Separable(LABELS, lambda rows, label: int((y[rows] != label).sum()))


def worst_leaf(y: Any) -> tasks.Separable:
    def rate(rows: Any, label: int) -> float:
        return float(np.mean(y[rows] != label))

    return tasks.Separable(LABELS, rate, combine=max)


def counted(y: Any, tree: list[Any]) -> int:
    return sum(int((y[rows] != label).sum()) for _, rows, label, _ in leaves(tree))


def leaves(tree: list[Any]) -> list[Any]:
    return [part for part in tree if part[0] == "leaf"]


@pytest.mark.parametrize("bounds", [{"at_most": 1}, {"at_least": 2}, {"at_most": 3, "at_least": 1}])
@pytest.mark.parametrize("seed", range(8))
def test_an_objective_with_limits_equals_brute_force(seed: int, bounds: dict[str, Any]) -> None:
    columns, y = draw(seed)
    amounts = np.random.default_rng(seed).integers(-1, 3, (len(y), 2))
    limit = tasks.Limit("amount", amounts, **bounds)
    second = tasks.Limit("ones", {1: 1}, at_most=len(y) - 1)
    solution = solve(worst_leaf(y) & limit & second, columns.astype(bool), max_depth=2)
    found = []
    for tree in trees(columns, np.arange(len(y)), 2):
        total = sum(int(amounts[rows, label].sum()) for _, rows, label, _ in leaves(tree))
        ones = sum(len(rows) for _, rows, label, _ in leaves(tree) if label == 1)
        if not bounds.get("at_least", -99) <= total <= bounds.get("at_most", 99):
            continue
        if ones <= len(y) - 1:
            worst = max(float(np.mean(y[rows] != label)) for _, rows, label, _ in leaves(tree))
            found.append(worst)
    if not found:
        assert solution.certificate.status == "infeasible"
        return
    assert solution.value[0][0] == min(found)
    verify(solution, columns.astype(bool), exhaustive=True)


@pytest.mark.parametrize("seed", range(8))
def test_two_objectives_equal_brute_force(seed: int) -> None:
    columns, y = draw(seed)
    task = errors(y) & worst_leaf(y)
    solution = solve(task, columns.astype(bool), max_depth=2)
    every = {
        (
            counted(y, tree),
            max(float(np.mean(y[rows] != label)) for _, rows, label, _ in leaves(tree)),
        )
        for tree in trees(columns, np.arange(len(y)), 2)
    }
    best = [v for v in every if not any(o != v and o[0] <= v[0] and o[1] <= v[1] for o in every)]
    assert sorted(point.value for point in solution) == sorted(best)
    verify(solution, columns.astype(bool), exhaustive=True)


def test_a_limit_counts_with_a_state() -> None:
    columns, y = draw(4)
    limit = tasks.Limit("ones", {1: 1}, at_most=2)
    solution = solve(stateful(y) & limit, columns.astype(bool), max_depth=2)
    best = min(
        by_hand(y, tree)
        for tree in trees(columns, np.arange(len(y)), 2)
        if sum(len(rows) for _, rows, label, _ in leaves(tree) if label) <= 2
    )
    assert solution.value[0] == best
    verify(solution, columns.astype(bool), exhaustive=True)


# ---- what is refused -----------------------------------------------------------------------------

Y = np.array([0, 1, 0, 1, 1, 0])


def test_states_that_cannot_be_told_apart_are_refused() -> None:
    task = tasks.Separable(
        LABELS, errors(Y).cost, initial=(), transition=lambda state, column, holds: [column]
    )
    with pytest.raises(ValueError, match="is a list, which is not hashable"):
        solve(task, np.eye(6), max_depth=2)
    begins = tasks.Separable(
        LABELS, errors(Y).cost, initial={}, transition=lambda state, column, holds: 0
    )
    with pytest.raises(ValueError, match="initial is a dict, which is not hashable"):
        solve(begins, np.eye(6), max_depth=2)


def test_a_transition_that_looks_at_rows_is_refused() -> None:
    taking: Any = lambda state, column, holds, rows: len(rows)  # noqa: E731
    task = tasks.Separable(LABELS, errors(Y).cost, initial=0, transition=taking)
    with pytest.raises(ValueError, match="would not be Markovian"):
        solve(task, np.eye(6), max_depth=2)
    seen: list[int] = [0]

    def looking(rows: Any, label: Any) -> int:
        seen[0] = len(rows)
        return int((Y[rows] != label).sum())

    sly = tasks.Separable(
        LABELS, looking, initial=0, transition=lambda state, column, holds: seen[0]
    )
    report = check_task(sly, np.eye(6))
    assert report.law == "Markovian"
    assert "a state may depend on the questions above only" in report.message
    with pytest.raises(ValueError, match="Markovian"):
        solve(sly, np.eye(6), max_depth=2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: errors(Y) & tasks.Misclassification(), r"proposition A\.4"),
        (lambda: errors(Y) & tasks.LeafMinimum(2), r"proposition A\.4"),
        (lambda: errors(Y) & tasks.Separable([1, 2], errors(Y).cost), "labels must be the"),
        (lambda: errors(Y) & stateful(Y), "give both a split_cost, or neither"),
        (lambda: tasks.Separable([0], errors(Y).cost, initial=1), "give a transition"),
        (
            lambda: tasks.Separable([0], errors(Y).cost, statistics=[[1]], combine=max),
            "values are numbers that add up",
        ),
        (lambda: tasks.Separable([0], errors(Y).cost, statistics=[1, 2]), "statistics must be"),
        (lambda: tasks.Separable([0], errors(Y).cost, statistics=[[np.nan]]), "finite"),
    ],
)
def test_parts_that_do_not_fit_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (lambda sums: sums[:, :1], "2 labels"),
        (lambda sums: sums / 0.0, "finite"),
        (lambda sums: sums.astype(str), "must return numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_batches_of_another_form_are_refused(cost: Any, message: str) -> None:
    task = tasks.Separable(LABELS, cost, statistics=np.eye(2, dtype=int)[Y])
    with pytest.raises(ValueError, match=message):
        solve(task, np.eye(6), max_depth=1)
    with pytest.raises(ValueError, match="6 rows, but X has 5"):
        solve(task, np.eye(5), max_depth=1)


# ---- limits in batches ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_limits", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_limits_with_prices_in_batches_equal_brute_force(seed: int, n_limits: int) -> None:
    columns, y = draw(seed)
    rng = np.random.default_rng([seed, n_limits])
    tables = rng.integers(-1, 3, (n_limits, len(y), 2))
    bounds = [{"at_most": 2}, {"at_least": 1, "at_most": 5}][:n_limits]
    task: Any = batched(y, 3)
    for k, (table, bound) in enumerate(zip(tables, bounds, strict=True)):
        task = task & tasks.Limit(f"amount {k}", table, **bound)
    depth = 1 + seed % 2
    found = []
    for tree in trees(columns, np.arange(len(y)), depth):
        totals = [
            sum(int(table[rows, label].sum()) for _, rows, label, _ in leaves(tree))
            for table in tables
        ]
        within = zip(totals, bounds, strict=True)
        if all(b.get("at_least", -99) <= t <= b.get("at_most", 99) for t, b in within):
            found.append(by_hand(y, tree))
    solution = solve(task, columns.astype(bool), max_depth=depth)
    if not found:
        assert solution.certificate.status == "infeasible"
        return
    value = solution.value
    for _ in bounds:
        value = value[0]
    assert solution.certificate.status == "optimal"
    assert value == min(found)
    verify(solution, columns.astype(bool), exhaustive=True)


@pytest.mark.parametrize("seed", range(4))
def test_deeper_trees_with_limits_and_prices(seed: int) -> None:
    """A limit in batches gives what the search over values gives, which has no batches."""
    columns, *rest = priced(40, 5, seed)
    limit = tasks.Limit("ones", {1: 1}, at_most=6)
    task = group_discounts(*rest)
    fast = solve(task & limit, columns, max_depth=3, min_samples_leaf=2)
    slow = solve(task & limit, columns, max_depth=3, max_splits=7, min_samples_leaf=2)
    assert fast.value[0] == slow.value[0]
    assert fast.value[1] <= 6
    verify(fast, columns)


def charges_by_hand(tree: list[Any], prices: Any, less: Any, group: Any) -> int:
    """Return what rows pay for the tests of a tree, with discounts within groups."""
    total = 0
    for kind, rows, column, path in tree:
        made = {other for other, _ in path}
        if kind == "test" and column not in made:
            is_known = group[column] >= 0 and any(group[o] == group[column] for o in made)
            total += len(rows) * (less if is_known else prices)[column]
    return total


def priced_measurements(prices: Any, less: Any, group: Any) -> list[Measurement]:
    """Return prices per column, in tenths, with discounts within groups."""
    return [
        Measurement(c, price / 10, group=f"g{g}", discounted=discounted / 10)
        if g >= 0
        else Measurement(c, price / 10)
        for c, (price, discounted, g) in enumerate(zip(prices, less, group, strict=True))
    ]


SIZES: list[dict[str, Any]] = [
    {"max_depth": 2},
    {"max_depth": 2, "max_splits": 2},
    {"max_depth": None, "max_splits": 2},
    {"max_depth": 2, "complexity": 1 / 20},
    {"max_depth": 2, "min_samples_leaf": 2},
]


@pytest.mark.parametrize("seed", range(20))
def test_built_in_prices_with_limits_equal_brute_force(seed: int) -> None:
    columns, y = draw(seed)
    rng = np.random.default_rng([seed, 5])
    prices = rng.integers(0, 5, 3).tolist()
    less, group, size = [price // 2 for price in prices], [0, 0, -1], SIZES[seed % 5]
    amounts = rng.integers(-1, 3, (len(y), 2))
    bounds: dict[str, Any] = [{"at_most": 2}, {"at_least": 1}, {"at_most": 4, "at_least": 2}][
        seed % 3
    ]
    task = tasks.CostMatrix([[0, 1], [2, 0]]) & tasks.Limit("amount", amounts, **bounds)
    task = task & tasks.Limit("ones", {1: 1}, at_most=len(y) - 1)
    needed = 1 + seed % 4
    if seed % 2:
        task = task & tasks.LeafMinimum({1: needed})
    penalty = Fraction(size.get("complexity", 0)).limit_denominator() * len(y)
    found = []
    for tree in trees(columns, np.arange(len(y)), 2):
        n_splits = len(tree) - len(leaves(tree))
        smallest = min(len(rows) for _, rows, *_ in leaves(tree))
        if n_splits > size.get("max_splits", 3) or smallest < size.get("min_samples_leaf", 1):
            continue
        if seed % 2 and any(label and len(rows) < needed for _, rows, label, _ in leaves(tree)):
            continue
        total = sum(int(amounts[rows, label].sum()) for _, rows, label, _ in leaves(tree))
        ones = sum(len(rows) for _, rows, label, _ in leaves(tree) if label)
        if ones < len(y) and bounds.get("at_least", -99) <= total <= bounds.get("at_most", 99):
            errors = sum(
                int(np.where(y[rows] == 1, 2, 1)[y[rows] != label].sum())
                for _, rows, label, _ in leaves(tree)
            )
            charges = charges_by_hand(tree, prices, less, group)
            found.append(10 * errors + charges + 10 * penalty * n_splits)
    measurements = priced_measurements(prices, less, group)
    solution = solve(task, columns.astype(bool), y, test_costs=measurements, **size)
    certificate = solution.certificate
    if found:
        assert certificate.status == "optimal"
        assert certificate.cost * 10 == min(found)
    else:
        assert certificate.is_infeasible
    verify(solution, columns.astype(bool), y, exhaustive=True)


@pytest.mark.parametrize("n_objectives", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_fronts_with_prices_equal_brute_force(seed: int, n_objectives: int) -> None:
    """What tests cost counts for the first objective."""
    columns, y = draw(seed)
    rng = np.random.default_rng([seed, n_objectives])
    prices = rng.integers(0, 5, 3).tolist()
    less, group = [price // 2 for price in prices], [-1, 0, 0]
    costs = rng.integers(0, 5, (n_objectives, len(y), 2))
    points = set()
    for tree in trees(columns, np.arange(len(y)), 2):
        point = [
            10 * sum(int(table[rows, label].sum()) for _, rows, label, _ in leaves(tree))
            for table in costs
        ]
        points.add((point[0] + charges_by_hand(tree, prices, less, group), *point[1:]))
    best = sorted(
        p
        for p in points
        if not any(o != p and all(a <= b for a, b in zip(o, p, strict=True)) for o in points)
    )
    task = tasks.Front(*(tasks.RowCosts(table) for table in costs))
    measurements = priced_measurements(prices, less, group)
    front = solve(task, columns.astype(bool), max_depth=2, test_costs=measurements)
    assert front.certificate.status == "optimal"
    assert [tuple(10 * v for v in point.values) for point in front] == best
    verify(front, columns.astype(bool), exhaustive=True)


@pytest.mark.parametrize("seed", range(8))
def test_deep_built_in_prices_with_limits_equal_a_search_with_a_state(seed: int) -> None:
    """Trees of depth three and four, with repeated columns, weights and two or three labels."""
    rng = np.random.default_rng([seed, 7])
    n_rows, n_labels, depth = 24, 2 + seed % 2, 3 + (seed % 4 == 0)
    columns = rng.integers(0, 2, (n_rows, 5)).astype(bool)
    columns[:, 4] = columns[:, 3] if seed % 3 else ~columns[:, 3]
    y, weights = rng.integers(0, n_labels, n_rows), rng.integers(1, 4, n_rows)
    prices = rng.integers(0, 6, 5)
    less, group = prices // 2, np.array([0, 0, -1, 1, 1])
    matrix = rng.integers(0, 5, (n_labels, n_labels)) * (1 - np.eye(n_labels, dtype=int))
    amounts = rng.integers(-1, 3, (n_rows, n_labels))
    bound = int(amounts.mean() * weights.sum())
    limit = {"at_most": bound} if seed % 2 else {"at_least": bound - 2, "at_most": bound}

    def charged(made: frozenset[int]) -> Any:
        seen = np.isin(group, [group[c] for c in made if group[c] >= 0])
        now = np.where(seen, less, prices)
        now[list(made)] = 0
        return now

    own = tasks.Separable(
        list(range(n_labels)),
        lambda sums: sums[:, :-1],
        split_cost=lambda sums, made: sums[:, -1:] * charged(made),
        initial=frozenset(),
        transition=lambda made, column, holds: made | {column},
        statistics=np.column_stack([10 * matrix[y] * weights[:, None], weights]),
    )
    slow = solve(
        own & tasks.Limit("amount", amounts * weights[:, None], **limit), columns, max_depth=depth
    )
    solution = solve(
        tasks.CostMatrix(matrix) & tasks.Limit("amount", amounts, **limit),
        columns,
        y,
        sample_weight=weights,
        max_depth=depth,
        test_costs=priced_measurements(prices, less, group),
    )
    assert solution.certificate.is_optimal
    value = slow.value
    while isinstance(value, tuple):
        value = value[0]
    assert solution.certificate.cost * 10 == value
    verify(solution, columns, y, weights)


def test_capacity_of_an_estimator_with_prices() -> None:
    columns, y, prices, *_ = priced(80, 6, 1)
    costs = [price / 1000 for price in prices]
    weights = np.random.default_rng(0).integers(1, 4, 80)
    model = CostSensitiveTreeClassifier(
        [[0, 1], [1, 0]], costs, max_depth=3, capacity={1: 12}, complexity=0.001
    )
    model.fit(columns, y, sample_weight=weights)
    assert model.certificate_.is_optimal
    assert (model.predict(columns) == 1).sum() <= 12
    assert model.certificate_.test_cost > 0
    verify(model, columns, y, weights)
    free = CostSensitiveTreeClassifier([[0, 1], [1, 0]], costs, max_depth=3, complexity=0.001)
    free.fit(columns, y, sample_weight=weights)
    loose = CostSensitiveTreeClassifier(
        [[0, 1], [1, 0]], costs, max_depth=3, capacity={1: 10**6}, complexity=0.001
    )
    loose.fit(columns, y, sample_weight=weights)
    assert loose.certificate_.cost == free.certificate_.cost <= model.certificate_.cost
