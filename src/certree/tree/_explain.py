"""Why a row gets its prediction, and the fewest changes that give it another one.

A leaf is reached if every test on its path has the outcome that leads there. A change of a column
answers all its tests, so to reach a leaf a row has to change exactly those columns of which some
test on the path has another outcome now. That number, the least over all leaves with another
prediction, is the fewest changes there can be.

Which values a column may take is found by trying: numbers at and just above each threshold, every
category that a test names, a value that none names, and a missing value. Two values between which
no test of the path tells apart have the same outcomes, so these few stand for all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Condition, Table, Test
from certree.encoding._cell_values import is_missing
from certree.encoding._time_tests import read_time_texts
from certree.encoding._times import DAY, form_of, is_time, parse_time, ticks, write_time

from ._explanation import Change, ColumnChange, Explanation, PathStep
from ._leaf_style import content_name
from ._payload_labels import Labels
from ._routing import route
from ._rules import merged, steps
from ._wording import one_line, plain

if TYPE_CHECKING:
    from ._tree import Tree

ANY = object()

Asked = list[tuple[Test, int]]
"""Tests of one column, each with the outcome that is wanted."""


class _Way(NamedTuple):
    """How a column can be made to lead to a leaf."""

    text: str
    example: Any
    needs_missing: bool


class Explainer:
    """Explains the predictions of one tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    asked : sequence of Test
        The tests of training, of which the tree has some. They tell which categories a column had,
        and whether it held numbers, text or times.
    """

    def __init__(self, tree: Tree, asked: Sequence[Test]) -> None:
        self.tree = tree
        self.categories = _known_categories(asked)
        self.typed = _typed_tests(asked)
        self._ways: dict[tuple[int, int], _Way | None] = {}

    def explain(self, table: Table, target: Any = ANY) -> list[Explanation]:
        """Return an explanation for each row; if there is a target, with changes towards it."""
        leaves = route(self.tree, table)
        wanted = None if target is ANY else self._contents_of(target)
        columns = {f: _reading_test(tests).column_of(table) for f, tests in self._tests.items()}
        return [
            self._explain_row(table, row, int(leaf), columns, wanted)
            for row, leaf in enumerate(leaves)
        ]

    def _contents_of(self, target: Any) -> set[int]:
        """Return the contents of leaves that are the target."""
        payload = self.tree.payload
        found = {
            int(payload.label[leaf])
            for leaf in self._paths
            if _is_same(payload.value(leaf), target) or payload.describe(leaf) == target
        }
        if not found:
            names = sorted({content_name(self.tree, int(payload.label[k])) for k in self._paths})
            more = ", ..." if len(names) > 10 else ""
            raise ValueError(
                f"No leaf of the tree predicts {target!r}; its leaves predict "
                f"{', '.join(names[:10])}{more}."
            )
        return found

    @cached_property
    def _paths(self) -> dict[int, dict[int, Asked]]:
        """By leaf and column the tests on the way, from the first column asked to the last."""
        found: dict[int, dict[int, Asked]] = {}
        for leaf in self.tree.preorder.tolist():
            if self.tree.test[leaf] < 0:
                by_column: dict[int, Asked] = {}
                for test, outcome in steps(self.tree, leaf):
                    by_column.setdefault(test.feature, []).append((test, outcome))
                found[leaf] = by_column
        return found

    @cached_property
    def _tests(self) -> dict[int, list[Test]]:
        """By column the tests that ask about it."""
        found: dict[int, list[Test]] = {}
        for test in self.tree.tests:
            found.setdefault(test.feature, []).append(test)
        return found

    # ---- one row ---------------------------------------------------------------------------------

    def _explain_row(
        self,
        table: Table,
        row: int,
        leaf: int,
        columns: Mapping[int, NDArray[Any]],
        wanted: set[int] | None,
    ) -> Explanation:
        tree = self.tree
        values = {feature: column[row : row + 1] for feature, column in columns.items()}
        said = {
            f: _value_of(values.get(f, table.column(f)[row : row + 1]), self._is_zoned(table, f))
            for f in range(table.n_columns)
        }
        payload = tree.payload
        counts = weights = None
        # With notes, other things are counted than the rows of a class.
        if isinstance(payload, Labels) and tree.notes is None:
            rows = payload.counts if payload.known_rows is None else payload.known_rows
            counts = dict(zip(map(plain, payload.values), rows[leaf].tolist(), strict=True))
            if payload.is_weighted:
                weights = dict(zip(counts, payload.counts[leaf].tolist(), strict=True))
        prediction, name = payload.value(leaf), content_name(tree, int(payload.label[leaf]))
        if payload.needs:
            # The leaf holds a formula of the row.
            prediction = plain(payload.predict([leaf], table.select(np.array([row])))[0])
            name = f"{prediction:.6g} = {name}"
        return Explanation(
            row={tree.feature_name(f): value for f, value in said.items()},
            prediction=prediction,
            name=name,
            leaf=leaf,
            support=self._support(leaf),
            rows=None if payload.node_rows is None else int(payload.node_rows[leaf]),
            weight=plain(tree.weights[leaf]),
            counts=counts,
            weights=weights,
            steps=tuple(
                self._step(test, outcome, values[test.feature], said[test.feature])
                for test, outcome in steps(tree, leaf)
            ),
            changes=tuple(self._changes(leaf, values, said, wanted)),
        )

    def _is_zoned(self, table: Table, feature: int) -> bool:
        """Return whether a column holds times with a time zone."""
        times = _time_of(self._tests.get(feature, ()))
        is_asked = times is not None and times.form == "zoned"
        return is_asked or table.kinds[feature] == "zoned"

    def _support(self, leaf: int) -> str:
        """Return what the training rows of a leaf say, in words."""
        tree = self.tree
        if not tree.counts[leaf].any():
            return "no training rows"
        if tree.notes is not None:
            return one_line(tree.notes[leaf])
        return ", ".join(tree.payload.support(leaf))

    def _step(self, test: Test, outcome: int, column: NDArray[Any], value: Any) -> PathStep:
        return PathStep(
            column=test.name,
            value=value,
            condition=one_line(test.condition(outcome).words()),
            note=self._note(test, column),
        )

    def _note(self, test: Test, column: NDArray[Any]) -> str:
        """Return how the tree treats a value that is missing, or that training did not see."""
        has_usual = test.usual_outcome is not None
        way = "it takes the usual way" if has_usual else "the answer is no"
        condition = test.condition(0)
        if is_missing(column)[0]:
            if condition.kind == "missing":
                return ""
            if condition.tells_missing or None in (condition.known or ()):
                return "missing values go this way"
            return f"no value was missing in training; {way}"
        known = condition.known or self.categories.get(test.feature)
        if known is None or _value_of(column) in known:
            return ""
        return f"not seen in training; {way}"

    # ---- changes ---------------------------------------------------------------------------------

    def _changes(
        self,
        leaf: int,
        values: Mapping[int, NDArray[Any]],
        said: Mapping[int, Any],
        wanted: set[int] | None,
    ) -> Iterator[Change]:
        """Yield for each other prediction the best change, in the order of their ranks."""
        payload = self.tree.payload
        best: dict[int, tuple[tuple[float, ...], int, list[int]]] = {}
        for place, (other, by_column) in enumerate(self._paths.items()):
            content = int(payload.label[other])
            if payload.same(leaf, other) or (wanted is not None and content not in wanted):
                continue
            broken = [f for f, asked in by_column.items() if not _leads(asked, values[f])]
            rank = self._rank(other, broken, place)
            if rank is not None and (content not in best or rank < best[content][0]):
                best[content] = rank, other, broken
        for _, other, broken in sorted(best.values(), key=lambda found: found[0]):
            yield self._change(other, broken, said)

    def _rank(self, leaf: int, broken: Sequence[int], place: int) -> tuple[float, ...] | None:
        """Return what orders changes, the best first; None if no values lead to the leaf."""
        ways = [self._way(leaf, feature) for feature in broken]
        if any(way is None for way in ways):
            return None
        n_missing = sum(way.needs_missing for way in ways if way is not None)
        return len(broken), n_missing, -float(self.tree.weights[leaf]), place

    def _change(self, leaf: int, broken: Sequence[int], said: Mapping[int, Any]) -> Change:
        columns = []
        for feature in broken:
            way = self._way(leaf, feature)
            assert way is not None
            columns.append(ColumnChange(self.tree.feature_name(feature), said[feature], *way[:2]))
        payload = self.tree.payload
        return Change(
            prediction=payload.value(leaf),
            name=content_name(self.tree, int(payload.label[leaf])),
            leaf=leaf,
            support=self._support(leaf),
            columns=tuple(columns),
        )

    def _way(self, leaf: int, feature: int) -> _Way | None:
        """Return how a column can lead to a leaf; None if no value does."""
        key = leaf, feature
        if key not in self._ways:
            self._ways[key] = self._find_way(self._paths[leaf][feature], feature)
        return self._ways[key]

    def _find_way(self, asked: Asked, feature: int) -> _Way | None:
        tests = [test for test, _ in asked]
        told = asked
        if feature in self.typed and all(test.condition(0).kind == "missing" for test in tests):
            # "is missing" suits any column; another test says what kind of value may be present.
            told = [*asked, (self.typed[feature], 0)]
            tests = [test for test, _ in told]
        for example in _examples(told, self.categories.get(feature, ())):
            if not _leads(asked, _column(example, tests)):
                continue
            if example is None:
                return _Way(f"{one_line(tests[0].name)} is missing", None, True)
            # To a present value, so that there is no need for words about missing ones.
            said = merged(
                test.without_missing_words().condition(outcome) for test, outcome in asked
            )
            return _Way(" and ".join(said), example, False)
        return None


def _leads(asked: Asked, column: NDArray[Any]) -> bool:
    """Return whether a value has all the outcomes."""
    return all(int(test.outcome(column)[0]) == outcome for test, outcome in asked)


def _reading_test(tests: Sequence[Test]) -> Test:
    """Return the test that says how the column is read: one about times reads texts, too."""
    return next((test for test in tests if test.condition(0).kind == "time"), tests[0])


def _time_of(tests: Sequence[Test]) -> Condition | None:
    """Return a condition about times, if there is one."""
    return next((c for c in (test.condition(0) for test in tests) if c.kind == "time"), None)


def _column(value: Any, tests: Sequence[Test]) -> NDArray[Any]:
    """Return a value as the column of a table."""
    times = _time_of(tests)
    if times is not None and value is not None:
        return read_time_texts(np.array([value], dtype=object), times.form, times.name)
    if any(test.is_text for test in tests) or isinstance(value, str):
        result = np.empty(1, dtype=object)
        result[0] = value
        return result
    return np.array([math.nan if value is None else float(value)])


def _value_of(column: NDArray[Any], is_zoned: bool = False) -> Any:
    """Return the one value of a column as a plain one, times as text; None if it is missing."""
    if is_missing(column)[0]:
        return None
    if is_time(column):
        numbers, size = ticks(column)
        return write_time(form_of(column, is_zoned), int(numbers[0]) * size)
    return _short(plain(column[0]))


def _short(value: Any) -> Any:
    """Return a number without a fraction as an integer, which reads better."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return int(value) if is_whole else value


def _is_same(value: Any, target: Any) -> bool:
    if isinstance(value, tuple):
        return np.shape(target) == (len(value),) and tuple(target) == tuple(value)
    return bool(np.ndim(target) == 0 and value == target)


# ---- values to try -------------------------------------------------------------------------------


def _examples(asked: Asked, categories: Sequence[Any]) -> Iterator[Any]:
    """Yield values that stand for all that the tests tell apart, the most readable first."""
    low, high = -math.inf, math.inf
    named: list[Any] = []
    for test, outcome in asked:
        condition = test.condition(outcome)
        named += condition.named
        ends = [end for end in (condition.low, condition.high) if end is not None]
        if condition.kind == "time":
            named += [time for end in ends for time in _times_around(end)]
        elif condition.kind in ("number", "flag") and condition.excluded:
            named += ends
        elif condition.kind in ("number", "flag"):
            low = low if condition.low is None else max(low, condition.low)
            high = high if condition.high is None else min(high, condition.high)
    yield from (value for value in (*named, *categories) if value is not None)
    if any(test.is_text for test, _ in asked):
        yield _other_text(named)
    elif _time_of([test for test, _ in asked]) is None:
        yield from _readable(low, high)
        yield from _between(low, high, named)
    yield None


def _between(low: float, high: float, named: Sequence[Any]) -> Iterator[float]:
    """Yield a number of every gap that named numbers leave between low and high, and high."""
    ends = [end for end in (low, high) if math.isfinite(end)]
    points = sorted({*ends, *(float(value) for value in named if value is not None)}) or [0.0]
    yield from (points[-1] + 1, points[0] - 1)
    for point in points:
        yield from (math.nextafter(point, math.inf), math.nextafter(point, -math.inf))
    if math.isfinite(high):
        yield high


def _readable(low: float, high: float) -> Iterator[float]:
    """Yield numbers of few digits with low < number <= high, near the finite end."""
    if math.isinf(low) and math.isinf(high):
        yield 0
        return
    for digits in range(17):
        try:
            number = round(high, digits) if math.isinf(low) else round(low, digits)
        except (OverflowError, ValueError):
            return
        step = 10.0**-digits
        for found in (number, number + step, number - step):
            if low < found <= high and math.isfinite(found):
                yield _short(round(found, digits))
                return


def _times_around(text: str) -> list[str]:
    """Return a time, the start of the next day, and the next microsecond."""
    form, moment, _ = parse_time(text)
    before = moment // 1000 * 1000
    later = (before // DAY + 1) * DAY
    found = []
    for moment in (before, later, before + 1000):
        # No date is later than the year 9999.
        with suppress(ValueError, OverflowError):
            found.append(write_time(form, moment))
    return found


def _other_text(named: Sequence[Any]) -> str:
    text = "other"
    while text in named:
        text += "*"
    return text


def _known_categories(tests: Sequence[Test]) -> dict[int, list[Any]]:
    """Return by column the categories that training has seen, as far as the tests say.

    If a column had just two categories, one test tells them apart, and the other is not known.
    """
    found: dict[int, dict[Any, None]] = {}
    joined = set()
    for condition in (test.condition(0) for test in tests):
        if condition.kind == "set" and condition.known is None:
            if len(condition.values) == 1 and condition.said is None:
                found.setdefault(condition.feature, {})[condition.values[0]] = None
            else:  # categories that are rare in training have one test together
                joined.add(condition.feature)
    return {
        feature: list(values)
        for feature, values in found.items()
        if len(values) > 1 and feature not in joined
    }


def _typed_tests(tests: Sequence[Test]) -> dict[int, Test]:
    """Return by column a test that tells numbers, text and times apart."""
    found: dict[int, Test] = {}
    for test in tests:
        if test.condition(0).kind != "missing":
            found.setdefault(test.feature, test)
    return found
