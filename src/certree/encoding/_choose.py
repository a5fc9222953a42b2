"""The tests of one column of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.exceptions import warn

from ._asked import AskedCuts
from ._cuts import Counted, as_ordered, choose_gaps
from ._encode import NoTimeLeftError
from ._integers import EXACT_INTEGERS
from ._multiway import Multiway
from ._ranks import rank_values
from ._subsets import MOST_GROUPS, Subset, subset_tests
from ._table import Table
from ._test_list import Cuts, CutTests
from ._tests import Category, Flag, Level, Missing, Test, is_missing, level_ranks
from ._time_tests import TimeCuts
from ._times import form_of, is_time

__all__ = ["ColumnRules", "column_tests", "is_binary", "multiway_test", "without_needless"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ColumnRules:
    """What is asked of a column.

    Attributes
    ----------
    is_category : bool
        Whether its values are categories.
    is_multiway : bool
        Whether one test asks for all categories at once.
    is_identifier : bool
        Whether its values name single rows, so that they have no tests.
    min_category_rows : int
        Categories of fewer rows are joined.
    category_tests : str
        What is asked of categories: "one", "subsets", "drop-first" or "drop-last".
    asked : AskedCuts
        The cut points.
    weights, most, counted
        As for :func:`~certree.encoding._cuts.choose_gaps`; `most` holds for categories, too.
    ranks : dict or None
        Takes the ranks of numbers, by column, where finding all cut points gives them, too.
    rows : int64 array or None
        How many rows each entry of the column stands for; None: one each.
    is_possible : callable or None
        Asked with a number of categories: whether there is time for so many tests.
    """

    is_category: bool
    asked: AskedCuts
    weights: NDArray[np.int64] | None
    is_multiway: bool = False
    is_identifier: bool = False
    min_category_rows: int = 1
    category_tests: str = "one"
    most: int | None = None
    counted: Counted | None = None
    ranks: dict[int, NDArray[np.int32]] | None = None
    rows: NDArray[np.int64] | None = None
    is_possible: Callable[[int], bool] | None = None


def is_binary(values: NDArray[Any]) -> bool:
    """Return whether all values are 0 or 1."""
    if values.dtype == np.bool_:
        return True
    if values.dtype.kind in "iu":
        return bool(values.max() <= 1) and bool(values.min() >= 0)
    # Most tables of other numbers have some in the first rows.
    return all(
        bool(np.logical_or(part == 0, part == 1).all()) for part in (values[:64], values[64:])
    )


def column_tests(table: Table, index: int, rules: ColumnRules) -> list[Sequence[Test]]:
    """Return the tests of one column; for a multiway test one for each of its outcomes.

    They come in parts, of which the thresholds of each side for missing values are one.
    """
    name, column = table.names[index], table.column(index)
    absent = is_missing(column)
    has_missing = bool(absent.any())
    if has_missing:
        column = column[~absent]
        weights, rows = (
            None if numbers is None else numbers[~absent] for numbers in (rules.weights, rules.rows)
        )
        rules = replace(rules, weights=weights, rows=rows)
    if len(column) == 0:
        # All values are missing, so the column is the same for all rows.
        return []
    is_flag = table.kinds[index] == "flag"
    has_numbers = column.dtype != object and not is_time(column)
    has_two = is_flag or (has_numbers and is_binary(column))
    # Missing values may join either side of a threshold, a level or a flag.
    sides = (False, True) if has_missing else (None,)
    parts: list[Sequence[Test]]
    if rules.is_identifier:
        parts = []
    elif rules.is_multiway and (has_missing or not has_two):
        parts = [_outcome_tests(index, name, column, has_missing, rules)]
    elif rules.is_category and not has_two:
        parts = [_category_tests(index, name, column, has_missing, rules)]
    elif table.kinds[index] == "ordered" and not rules.is_category:
        levels = table.levels[index]
        ranks = level_ranks(levels, column)
        values, gaps = _choose_gaps(ranks, rules)
        chosen = [levels[rank] for rank in values[gaps].tolist()]
        parts = [[Level(index, name, levels, v, side) for v in chosen] for side in sides]
    elif has_two and rules.asked.points is None:
        parts = [[Flag(index, name, is_flag, side) for side in sides]]
    else:
        cuts = _choose_cuts(table, index, column, rules)
        parts = [CutTests(index, name, cuts, side) for side in sides]
    return [*parts, [Missing(index, name)]] if has_missing else parts


def _choose_cuts(table: Table, index: int, column: NDArray[Any], rules: ColumnRules) -> Cuts:
    """Return the cut points of a column of numbers or times."""
    gaps: NDArray[np.intp] | None = None
    asked = rules.asked
    if rules.ranks is not None and (asked.limit, asked.points, rules.most) == (None,) * 3:
        values, rules.ranks[index] = rank_values(column)
    else:
        values, gaps = _choose_gaps(as_ordered(column), rules)
    if is_time(values):
        form = form_of(values, table.kinds[index] == "zoned")
        cuts: Cuts = TimeCuts.of(values, gaps, form, table.zones.get(index))
    else:
        cuts = Cuts(values) if gaps is None else Cuts.between(values, gaps)
    if asked.points is None:
        return cuts
    # The first point in each gap.
    chosen = np.searchsorted(asked.points, cuts.low)
    return replace(cuts, given=(asked.points if asked.texts is None else asked.texts)[chosen])


def _choose_gaps(column: NDArray[Any], rules: ColumnRules) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values in increasing order, and after which of them to cut."""
    asked = rules.asked
    return choose_gaps(column, asked.limit, rules.weights, rules.most, rules.counted, asked.points)


def _category_tests(
    index: int, name: str, column: NDArray[Any], has_missing: bool, rules: ColumnRules
) -> list[Test]:
    """Return the tests of the categories of a column, or of the most frequent ones."""
    values, counts = _categories(name, column, rules.rows)
    known, has_others = _frequent(values, counts, rules)
    if rules.is_possible is not None and not rules.is_possible(len(known)):
        raise NoTimeLeftError
    if rules.category_tests == "subsets":
        single = _one_by_one(index, name, known, has_others, has_missing)
        found = subset_tests(single, has_missing)
        if found is not None:
            return found
        warn(
            f"The column {name!r} has {len(single) + has_missing} categories, too many for all "
            f"sets of them: trees ask for single ones. category_tests='subsets' takes "
            f"{MOST_GROUPS} at most; join rare ones with min_category_rows."
        )
    others = [None] if has_others else []  # stands for all that are rare
    asked = without_needless([*known, *others], has_missing, rules.category_tests)
    values = [value for value in asked if value is not None]
    if rules.most is not None and rules.most < len(values):
        kept = set(sorted(values, key=lambda value: -counts[value])[: rules.most])
        values = [value for value in values if value in kept]
    side = False if has_missing else None
    # Made last, since an object for each of many categories takes time.
    tests: list[Test] = [Category(index, name, value, side) for value in values]
    return tests if None not in asked else [*tests, Subset(index, name, tuple(known), True, side)]


def _frequent(
    values: list[Any], counts: Mapping[Any, int], rules: ColumnRules
) -> tuple[list[Any], bool]:
    """Return the categories that have enough rows, and whether others make one of their own."""
    known = [value for value in values if counts[value] >= rules.min_category_rows]
    return known, 0 < len(known) < len(values)


def without_needless(tests: Sequence[T], has_missing: bool, category_tests: str) -> list[T]:
    """Return what is asked of one category at a time, without what other tests tell."""
    if category_tests == "drop-last":
        return list(tests[:-1])
    if category_tests == "drop-first" or (not has_missing and len(tests) <= 2):
        # One category needs no test, and two categories need one.
        return list(tests[1:])
    # Where there is one category, the test for missing values is enough.
    return [] if len(tests) == 1 else list(tests)


def _one_by_one(
    index: int, name: str, known: list[Any], has_others: bool, has_missing: bool
) -> list[Test]:
    """Return a test for each category that has enough rows, and one for all others."""
    side = False if has_missing else None
    tests: list[Test] = [Category(index, name, value, side) for value in known]
    return [*tests, Subset(index, name, tuple(known), True, side)] if has_others else tests


def _outcome_tests(
    index: int, name: str, column: NDArray[Any], has_missing: bool, rules: ColumnRules
) -> list[Test]:
    """Return one test for each category of a column; none for a single category."""
    column = column.astype(np.float64) if column.dtype == np.bool_ else column
    if column.dtype != object:
        broken = column[column != np.floor(column)]
        if len(broken):
            raise ValueError(
                f"Multiway questions are for categories, but the column {name!r} holds numbers "
                f"that are not whole, such as {broken[0]:g}; leave it out of "
                "categorical_features, or use splits='binary'."
            )
    known, has_others = _frequent(*_categories(name, column, rules.rows), rules)
    tests = _one_by_one(index, name, known, has_others, has_missing)
    return tests if len(tests) + has_missing >= 2 else []


def multiway_test(outcomes: Sequence[Test], column: NDArray[Any]) -> Multiway:
    """Return the test whose outcomes are those for which the given tests of a column hold."""
    first = outcomes[0]
    groups: list[Any] = []
    for test in outcomes:
        if isinstance(test, Subset):
            # The rare categories that occur.
            groups.append(tuple(sorted(set(column[test.holds(column)].tolist()))))
        else:
            groups.append(test.value if isinstance(test, Category) else None)
    return Multiway(first.feature, first.name, tuple(groups))


def _categories(
    name: str, column: NDArray[Any], rows: NDArray[np.int64] | None
) -> tuple[list[Any], Counter[Any]]:
    """Return the different values of a column of categories, and how many rows each has."""
    counts = Counter(column.tolist())
    if rows is not None:
        counts = Counter(dict(zip(column.tolist(), rows.tolist(), strict=True)))
    values = sorted(counts)
    if column.dtype != object and max(abs(values[0]), abs(values[-1])) > EXACT_INTEGERS:
        raise ValueError(
            f"The categorical column {name!r} holds integers beyond 2**53, which float64 "
            "cannot tell apart; give the categories as strings."
        )
    return values, counts
