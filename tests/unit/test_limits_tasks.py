"""The algebra of tasks and limits: reading amounts exactly, composing, and refusing."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import tasks
from certree.numbers._exact import cost_budget, scale_weights
from certree.results._limit_certificate import LimitValue, Reach
from certree.tasks._limit import LimitOnRows
from certree.tasks._task import Rows

LABELS = np.array(["a", "b"])


def rows(n_rows: int, sample_weight: Any = None) -> Rows:
    budget = cost_budget(n_rows, 7)
    weights = scale_weights(sample_weight, n_rows, budget=budget)
    kept = None if weights.values.all() else np.flatnonzero(weights.values)
    values = weights.values if kept is None else weights.values[kept]
    given = None
    if not weights.is_exact:
        given = np.asarray(sample_weight, dtype=np.float64)
        given = given if kept is None else given[kept]
    return Rows(
        n_rows,
        kept,
        values,
        weights.quantum,
        budget // 1024,
        budget,
        8,
        given=given,
        sample_weight=sample_weight,
    )


def on(limit: tasks.Limit, n_rows: int = 3, sample_weight: Any = None) -> LimitOnRows:
    return limit.on(LABELS, rows(n_rows, sample_weight))


def totals(found: LimitOnRows) -> list[list[Fraction]]:
    """Return what every row adds with each label, from its digits."""
    amounts = found.amounts
    table = amounts.leading.astype(object)
    for digit in np.moveaxis(amounts.finer, 2, 0):
        table = table * 2**amounts.bits + digit
    return [[units * found.unit for units in line] for line in table.tolist()]


def bounds(found: LimitOnRows) -> list[Fraction]:
    """Return the bounds, each with the sign of its side."""
    return [bound * sign * found.unit for bound, sign in found.sides]


# ---- reading amounts ---------------------------------------------------------------------------


def test_amounts_may_be_per_label_or_per_row_and_label() -> None:
    per_label = on(tasks.Limit("x", [1, 3], at_most=5))
    assert totals(per_label) == [[1, 3]] * 3
    table = [[1, 3], [0, 2], [5, -4]]
    assert totals(on(tasks.Limit("x", table, at_most=5))) == table


def test_a_mapping_names_labels_with_numbers_or_with_one_per_row() -> None:
    limit = tasks.Limit("x", {"b": 2}, at_most=5)
    assert totals(on(limit)) == [[0, 2]] * 3
    limit = tasks.Limit("x", {"a": 0.5, "b": [1, 2, 3]}, at_most=5)
    assert totals(on(limit)) == [[Fraction(1, 2), 1], [Fraction(1, 2), 2], [Fraction(1, 2), 3]]


def test_a_function_of_rows_is_asked_about_each_of_them() -> None:
    table = np.array([[1, 3], [0, 2], [5, -4]])
    limit = tasks.Limit("x", lambda chosen: table[chosen].sum(axis=0), at_most=5)
    assert totals(on(limit)) == table.tolist()


def test_decimals_are_read_as_they_are_written() -> None:
    found = on(tasks.Limit("x", [0.1, 0.7], at_most=0.3))
    assert totals(found)[0] == [Fraction(1, 10), Fraction(7, 10)]
    assert bounds(found) == [Fraction(3, 10)]


@pytest.mark.parametrize("third", ["1/3", Fraction(1, 3)])
def test_fractions_are_exact(third: Any) -> None:
    found = on(tasks.Limit("x", [third, Decimal("0.25")], at_most="2/3"))
    assert totals(found)[0] == [Fraction(1, 3), Fraction(1, 4)]
    assert bounds(found) == [Fraction(2, 3)]


def test_a_bound_between_two_totals_is_the_nearest_total_within() -> None:
    found = on(tasks.Limit("x", [0, 2], at_most=5, at_least=1))
    assert bounds(found) == [4, 2]


def test_bounds_beyond_all_totals_stay_small() -> None:
    found = on(tasks.Limit("x", [0, 2], at_most=1e300))
    assert bounds(found) == [6]
    found = on(tasks.Limit("x", [0, 2], at_most=-1e300, at_least=-2e300))
    assert bounds(found) == [-2, 0]
    found = on(tasks.Limit("x", [0, 2], at_least=1e300))
    assert bounds(found) == [8]


def test_weights_multiply_amounts_exactly() -> None:
    found = on(tasks.Limit("x", [0, 0.1], at_most=1), 3, [0.5, 2, 0.3])
    assert [line[1] for line in totals(found)] == [
        Fraction(1, 20),
        Fraction(1, 5),
        Fraction(3, 100),
    ]


def test_rows_of_weight_zero_add_nothing() -> None:
    assert totals(on(tasks.Limit("x", [[0, 1], [0, 9], [0, 4]], at_most=1), 3, [1, 0, 1])) == [
        [0, 1],
        [0, 4],
    ]


def test_numbers_with_many_digits_are_added_up_exactly() -> None:
    amounts = np.random.default_rng(0).random((50, 2)) * np.pi
    found = on(tasks.Limit("x", amounts, at_most=30), 50)
    assert totals(found) == [[Fraction(str(a)) for a in line] for line in amounts.tolist()]


def test_real_weights_multiply_amounts_exactly() -> None:
    rng = np.random.default_rng(1)
    weights = rng.random(40) * 10.0 ** rng.integers(-9, 9, 40)
    amounts = rng.integers(0, 5, (40, 2))
    found = on(tasks.Limit("x", amounts, at_most=30), 40, weights)
    assert totals(found) == [
        [Fraction(str(w)) * a for a in line]
        for w, line in zip(weights.tolist(), amounts.tolist(), strict=True)
    ]


def test_huge_integers_and_fractions_are_exact_too() -> None:
    for amounts in ([0, 10**17 + 1], [0, Fraction(10**17, 7)], [1, 10**90]):
        found = on(tasks.Limit("x", amounts, at_most=10**18))
        assert totals(found)[0] == amounts
    found = on(tasks.Limit("x", np.array([0, 2**64 - 1], dtype=np.uint64), at_most=1))
    assert totals(found)[0][1] == 2**64 - 1


def test_numbers_further_apart_than_the_search_can_tell_are_refused() -> None:
    with pytest.raises(ValueError, match="limit 'x' times the weights span more than"):
        on(tasks.Limit("x", [Fraction(1, 10**9000), 10**9000], at_most=1))


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "", "amounts": [0, 1], "at_most": 1}, "name"),
        ({"name": 3, "amounts": [0, 1], "at_most": 1}, "name"),
        ({"name": "x", "amounts": [0, 1]}, "at_most, at_least"),
        ({"name": "x", "amounts": [0, 1], "at_most": float("nan")}, "at_most must be a finite"),
        ({"name": "x", "amounts": [0, 1], "at_least": float("inf")}, "at_least must be a finite"),
        ({"name": "x", "amounts": [0, 1], "at_most": 1, "at_least": 2}, "above at_most"),
    ],
)
def test_a_limit_needs_a_name_and_bounds_that_make_sense(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tasks.Limit(**arguments)


def test_a_bound_that_is_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="at_most must be a number"):
        tasks.Limit("x", [0, 1], at_most=[1])


@pytest.mark.parametrize(
    ("amounts", "message"),
    [
        ([1, 2, 3], r"3 x 2 \(rows x labels\) or 2 \(labels\), got 3"),
        (np.zeros((2, 2)), "got 2 x 2"),
        (7, "a single number"),
        ([[0, 1], [1]], "rows of equal length"),
        ([[0, 1], [0, float("nan")], [1, 1]], r"amounts of limit 'x'\[1, 1\] = nan"),
        ([0, float("inf")], r"'x'\[1\] = inf"),
        (["no", 1], "finite number"),
        ([None, 1], "must be a number"),
        ([1j, 1], "must hold numbers"),
        ({"c": 1}, r"\['c'\], but the labels of the task are \['a', 'b'\]"),
        ({"a": [1, 2]}, "or 3 of them"),
        ({"a": float("nan")}, "nan"),
        (lambda rows: [1, 2, 3], "one number per label"),
        (lambda rows: [1, 2] if len(rows) == 1 else [1], "rows 0 to 2 they have shape"),
        (lambda rows: [len(rows) ** 2, 0], r"not additive.*\[9, 0\].*\[3, 0\].*theorem 4\.6"),
        (lambda rows: [max(rows), 0], r"not additive.*rows 0 to 2"),
        (lambda rows: [0.1 * len(rows) + 1e-5, 0], "not additive"),
        # Right for all rows together, and wrong for some of them.
        (lambda rows: [1 if len(rows) == 2 else len(rows), 0], "not additive.*rows 1 to 2"),
    ],
)
def test_amounts_that_do_not_fit_are_refused_with_their_name(amounts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        on(tasks.Limit("x", amounts, at_most=1))


@pytest.mark.parametrize(
    ("minimum", "message"),
    [
        (tasks.LeafMinimum({"c": 1}), "labels of the task"),
        (tasks.LeafMinimum(1, [[1, 0]]), "3 x 2"),
        (tasks.LeafMinimum(1, [[1, 0], [0, -1], [0, 0]]), "whole numbers"),
    ],
)
def test_minima_that_do_not_fit_are_refused(minimum: tasks.LeafMinimum, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        minimum.on(LABELS, rows(3))


@pytest.mark.parametrize("at_least", [-1, 1.5, {"a": -1}, {"a": 2, "b": "1/2"}, float("nan")])
def test_minima_that_are_no_counts_are_refused_at_once(at_least: Any) -> None:
    with pytest.raises(ValueError, match="at_least of LeafMinimum"):
        tasks.LeafMinimum(at_least)


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_functions_of_rows_may_sum_decimals_in_floating_point(size: int) -> None:
    table = np.random.default_rng(1).random((size, 2)).round(3)
    limit = tasks.Limit("x", lambda chosen: table[chosen].sum(axis=0), at_most=5)
    assert (limit.table(LABELS, size) == table).all()
    exact = tasks.Limit("x", lambda chosen: [Fraction(len(chosen), 3), 0], at_most=5)
    assert exact.table(LABELS, size)[0].tolist() == [Fraction(1, 3), 0]


def test_minima_count_rows_by_label() -> None:
    counts, needed = tasks.LeafMinimum({"b": 2}).on(LABELS, rows(3, [1, 0, 1]))
    assert counts.tolist() == [[1, 1], [1, 1]]
    assert needed.tolist() == [0, 2]
    counts, needed = tasks.LeafMinimum(4, [[1, 0], [0, 1], [1, 1]]).on(LABELS, rows(3))
    assert counts.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert needed.tolist() == [4, 4]


# ---- composition -------------------------------------------------------------------------------

FIRST = tasks.Limit("first", [0, 1], at_most=1)
SECOND = tasks.Limit("second", [1, 0], at_least=1)


def test_limits_are_put_to_a_task_from_either_side() -> None:
    task = tasks.Misclassification() & FIRST & SECOND
    assert isinstance(task, tasks.Limited)
    assert task.limits == (FIRST, SECOND)
    assert task.name == "accuracy"
    assert (FIRST & tasks.Misclassification()).limits == (FIRST,)
    assert (tasks.LeafMinimum(2) & tasks.Rewards([[0, 1]])).minimum is not None


def test_composing_leaves_the_parts_as_they_are() -> None:
    one = tasks.Misclassification() & FIRST
    both = one & SECOND
    assert one.limits == (FIRST,)
    assert both.limits == (FIRST, SECOND)
    front = tasks.Front(tasks.Misclassification(), tasks.CostMatrix([[0, 1], [1, 0]]))
    assert (front & FIRST).limits == (FIRST,)
    assert front.limits == ()


def test_a_front_takes_over_the_limits_of_its_objectives() -> None:
    front = tasks.Front(tasks.Misclassification() & FIRST, tasks.Misclassification() & SECOND)
    assert front.limits == (FIRST, SECOND)
    assert isinstance(front.tasks[0], tasks.Misclassification)


def test_planes_are_the_objective_and_one_for_each_bound() -> None:
    both = tasks.Limit("both", [1, 0], at_least=1, at_most=2)
    task = tasks.Misclassification() & FIRST & both
    made = task.on(["a", "b", "b"], rows(3))
    planes = made.planes(5, 7)
    lines = [line.tolist() for line in planes.lines]
    assert lines == [[5, 0, 0, 7], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, -1, 0]]
    assert planes.bounds == [1, 2, -1]
    assert planes.finer == [None] * 3
    assert planes.names == ["first", "both", "both"]
    assert planes.sources == [(0, 1), (1, 1), (1, -1)]
    assert made.values().shape == (3, 2, 3)
    assert made.values()[:, :, 0].tolist() == [[0, 1], [1, 0], [1, 0]]


@pytest.mark.parametrize(
    "task",
    [
        tasks.SquaredError(),
        tasks.LeafCost(np.ones((3, 1)), lambda sums: sums[:, 0]),
        tasks.gini([0, 1, 1]),
        tasks.entropy([0, 1, 1]),
    ],
)
def test_tasks_without_labels_are_refused_with_the_condition_that_fails(task: tasks.Task) -> None:
    with pytest.raises(ValueError, match=r"theorem 4\.6.*Markovian.*labels"):
        task & FIRST
    with pytest.raises(ValueError, match=r"theorem 4\.6.*Markovian"):
        tasks.Front(task, tasks.Misclassification())


def test_two_objectives_are_refused_with_the_condition_that_fails() -> None:
    with pytest.raises(ValueError, match=r"theorem 4\.6.*preserve order.*tasks\.Front"):
        tasks.Misclassification() & tasks.Misclassification()
    with pytest.raises(ValueError, match=r"two objectives"):
        (tasks.Misclassification() & FIRST) & (tasks.Misclassification() & SECOND)


def test_limits_alone_have_no_objective() -> None:
    with pytest.raises(ValueError, match="no objective"):
        FIRST & SECOND


@pytest.mark.parametrize("other", [3, "limit", None, [FIRST]])
def test_only_tasks_and_limits_compose(other: Any) -> None:
    with pytest.raises(TypeError, match="combines a task with limits"):
        tasks.Misclassification() & other
    with pytest.raises(TypeError, match="combines a task with limits"):
        FIRST & other
    with pytest.raises(TypeError, match=r"certree\.tasks\.Task"):
        tasks.Front(tasks.Misclassification(), other)


def test_names_of_limits_are_distinct() -> None:
    with pytest.raises(ValueError, match=r"different names.*'first'"):
        tasks.Misclassification() & FIRST & tasks.Limit("first", [1, 1], at_most=9)
    with pytest.raises(ValueError, match="one LeafMinimum"):
        tasks.Misclassification() & tasks.LeafMinimum(1) & tasks.LeafMinimum(2)


def test_objectives_of_a_front_share_their_labels() -> None:
    front = tasks.Front(tasks.Misclassification(), tasks.RowCosts([[0, 1, 2]] * 3))
    with pytest.raises(ValueError, match="same labels"):
        front.on([0, 1, 1], rows(3))


def test_compositions_say_what_they_are() -> None:
    task = tasks.Misclassification() & FIRST & tasks.LeafMinimum(2)
    assert repr(task) == (
        "Misclassification(class_weight=None) & Limit('first', at_most=1) & LeafMinimum(2)"
    )
    front = tasks.Front(tasks.Misclassification(), tasks.CostMatrix([[0, 1], [1, 0]])) & SECOND
    assert repr(front).startswith("Front(Misclassification(class_weight=None), CostMatrix(")
    assert repr(front).endswith("& Limit('second', at_least=1)")
    assert repr(pickle.loads(pickle.dumps(task))) == repr(task)


# ---- what certificates say of limits -----------------------------------------------------------


def test_the_closest_total_is_the_one_least_out_of_bounds() -> None:
    limit = LimitValue("x", None, 5, 3, 0, 1, Reach(8, 8), Reach(2, 2))
    assert limit.closest == 2
    assert limit.excess(8) == 3
    assert limit.is_kept_alone is False
    assert LimitValue("x", 4, 5, 3).closest == 4
    assert LimitValue("x", None, 5, None, 0, 1, Reach(4, 4)).is_kept_alone is True
    assert LimitValue("x", None, 5, None, 0, 1, Reach(4, None)).is_kept_alone is None
    assert LimitValue("x", None, 5, None).closest is None


def test_limit_values_survive_being_written_down() -> None:
    limit = LimitValue(
        "x",
        Fraction(7, 3),
        5,
        None,
        Fraction(1, 10**9),
        Fraction(1, 3),
        Reach(Fraction(1, 3), None),
    )
    assert LimitValue.from_dict(limit.to_dict()) == limit
