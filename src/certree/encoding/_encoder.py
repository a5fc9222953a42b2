"""The transformer that turns raw tables into 0/1 columns, one per test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from certree.numbers._exact import scale_weights

from ._asked import asked_cuts, declared_categories, is_index, warn_of_texts
from ._choose import ColumnRules, column_tests, is_binary, multiway_test
from ._encode import NoTimeLeftError, encode_tests
from ._identifiers import check_identifiers, find_identifiers, warn_of_identifier
from ._integers import check_integers
from ._multiway import Multiway
from ._ranks import MOST_TESTS, count_ranks, rank_columns
from ._row_cells import Cells
from ._table import Table, compare_columns, read_table, remember_columns
from ._test_budget import BudgetLeft, Pace, thin_out
from ._test_list import TestList
from ._tests import Flag, Test

__all__ = ["TableEncoder"]

SPLITS = ("binary", "multiway", "both")
CATEGORY_TESTS = ("one", "subsets", "drop-first", "drop-last")
MULTIWAY_CATEGORIES = (
    "a multiway question asks for all categories at once, and binary ones beside it ask for one "
    "category each."
)

# So many tests are looked at one by one in an instant.
_FEW_TESTS = 10_000

PrefersRanks = Callable[[int, NDArray[np.int32]], bool]
"""From the number of rows, and of ranks of each feature, to whether ranks are wanted."""


class SeenColumn(NamedTuple):
    """The weight of each value of a column, and the number of its rows."""

    weights: NDArray[np.int64]
    rows: NDArray[np.int64]


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Encode a raw table as 0/1 columns, one per test, and remember what each means.

    =====================================  =====================================================
    Column                                 Tests
    =====================================  =====================================================
    booleans; numbers that are all 0 or 1  ``smoker``; ``smoker = 1``
    numbers                                ``age <= t`` for cut points between observed values
    dates, times, durations                ``admitted <= 2024-03-01``, in the same way
    ordered categories                     ``stage <= II`` for levels that occur
    strings, other categories              ``color = a`` for each category; if there are just two
                                           and none is missing, for the last in sorted order
    any, with values missing in training   in addition ``income is missing``
    =====================================  =====================================================

    A column is 1 where its test holds. If values of a column are missing in training, they may join
    either side of a cut or flag: each of these tests then comes twice, as ``age <= t``, which does
    not hold for a missing value, and as ``age <= t or missing``. If none is missing in training, a
    missing value fails every test in prediction. So does a category that training did not see.
    Constant columns give no test, except 0/1 columns, which always give one.

    Parameters
    ----------
    thresholds : {"auto", "all"}, int or dict, default="auto"
        Cut points of number columns. ``"all"``: one between any two consecutive distinct values,
        so that trees lose nothing on the training data. An integer ``k``: at most ``k``, near the
        :math:`1/(k+1), \dots, k/(k+1)` quantiles. ``"auto"``: all for columns with up to 32
        distinct values, 32 quantiles otherwise. A dict has one of these, or a list of cut points,
        for some columns by name or index, such as ``{"bmi": [18.5, 25, 30], "age": "all"}``; other
        columns have ``"auto"``. Cut points of dates may be texts, those of ordered categories are
        levels. Of several cut points between the same two neighbouring values the lowest is kept,
        and one with all values on one side is left out.
    categorical_features : {"auto", "all"} or sequence of str, int or bool, default="auto"
        Columns to treat as categories without an order. ``"auto"``: strings and categorical types
        that are not ordered. ``"all"``: every column. A sequence of names, indices or one truth
        value per column: these, and those that hold text. A category column gives one test for each
        of its categories. A column of text that is not named here gives a warning if all its
        values are numbers.
    splits : {"binary", "multiway", "both"}, default="binary"
        What trees may ask of a category column: one category against all others, all categories
        at once (:class:`Multiway`, with missing values as one more category), or either. There
        is one output column per category in any case.
    min_category_rows : int, default=1
        Categories with fewer rows are joined: trees ask ``city is rare`` in place of one question
        for each. A category that training did not see is then rare, too.
    category_tests : {"one", "subsets", "drop-first", "drop-last"}, default="one"
        What binary splits ask of a category column. ``"one"``: one category against all others.
        ``"subsets"``: any set of categories against all others, such as ``city in {Bonn, Ulm}``,
        with missing values and rare categories on either side. Columns with more than ten
        categories, of which these two are one each, have single ones and give a warning.
        ``"drop-first"``, ``"drop-last"``: one category against all others, for all but the first
        or last one of each column, as one-hot encodings with a dropped category have it.
    identifiers : {"drop", "keep"}, default="drop"
        What becomes of columns of text or categories whose values name single rows, such as
        numbers of patients. ``"drop"``: trees do not ask for these values, only whether one is
        missing, and a warning names the column. ``"keep"``: they are categories like any others.
        A column is such an identifier if at least 20 rows have a value, more than nine tenths of
        the values are different, no value is that of ten rows or more, `categorical_features` does
        not name it, and `min_category_rows` is 1.

    Attributes
    ----------
    tests_ : sequence of Test
        What each output column means. It equals a list of these tests. A test is made when it is
        asked for, so that many cut points take little memory.
    candidates_ : sequence of Test
        What trees may ask: `tests_` for binary splits, otherwise with the multiway tests at the
        end, and for ``splits="multiway"`` without those of single categories.
    multiway_columns_ : list of ndarray, or None
        For each candidate its output column, or columns, one per outcome; None if all are binary.
    identifiers_ : tuple of str
        The columns whose values have no tests since they name single rows.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has names.

    Notes
    -----
    A cut point is the shortest decimal in the middle half between two observed values, and of
    several the nearest to the middle. It separates the two values also where float64 has no number
    between them, and as float32 numbers wherever these differ. A cut point of dates is the first of
    a year, of a month, a day, or a time of day, whatever is the first to lie in that middle half.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree.encoding import TableEncoder
    >>> encoder = TableEncoder().fit([[35, "red"], [20, "blue"], [None, "blue"]])
    >>> [str(test) for test in encoder.tests_]
    ['x0 <= 30', 'x0 <= 30 or missing', 'x0 is missing', 'x1 = red']
    >>> encoder.transform([[40, "green"]])
    array([[0, 0, 0, 0]], dtype=uint8)
    """

    def __init__(
        self,
        thresholds: str | int | Mapping[Any, Any] = "auto",
        categorical_features: str | Sequence[Any] = "auto",
        splits: str = "binary",
        min_category_rows: int = 1,
        category_tests: str = "one",
        identifiers: str = "drop",
    ) -> None:
        self.thresholds = thresholds
        self.categorical_features = categorical_features
        self.splits = splits
        self.min_category_rows = min_category_rows
        self.category_tests = category_tests
        self.identifiers = identifiers

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TableEncoder:
        """Choose the tests.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            The table.
        y : ignored
            Present for pipelines.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows for quantiles: a row of weight two counts as two rows. Rows of
            weight zero are not looked at.

        Returns
        -------
        TableEncoder
            This encoder.
        """
        self._read_and_fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.uint8]:
        """Choose the tests and answer them for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            The table.
        y : ignored
            Present for pipelines.
        sample_weight : array-like of shape (n_rows,), optional
            As for :meth:`fit`.

        Returns
        -------
        ndarray of uint8, shape (n_rows, n_tests), in Fortran order
            1 where the test holds, else 0; a data frame after ``set_output``.
        """
        return self._encode_table(self._read_and_fit(X, sample_weight))

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Answer the tests for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            A table with the columns of training.

        Returns
        -------
        ndarray of uint8, shape (n_rows, n_tests), in Fortran order
            1 where the test holds, else 0; a data frame after ``set_output``.
        """
        check_is_fitted(self)
        table = read_table(X)
        compare_columns(self, X, table)
        return self._encode_table(table)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """Return the tests in words.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the table's columns. They must be those of training if it had names, and
            replace ``x0``, ``x1``, ... otherwise.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        tests: Sequence[Test] = self.tests_
        if input_features is not None:
            names = [str(name) for name in input_features]
            known = getattr(self, "feature_names_in_", None)
            if known is not None and list(known) != names:
                raise ValueError(
                    "input_features is not equal to feature_names_in_: got "
                    f"{names}, expected {list(known)}."
                )
            if len(names) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(names)}."
                )
            tests = [replace(cast(Any, test), name=names[test.feature]) for test in tests]
        return np.array([test.describe(0) for test in tests], dtype=object)

    def _read_and_fit(self, X: Any, sample_weight: Any) -> Table:
        table, weights = self._read(X, sample_weight)
        self._choose_tests(table, weights)
        return table

    def _read(self, X: Any, sample_weight: Any) -> tuple[Table, NDArray[np.int64] | None]:
        table = read_table(X)
        remember_columns(self, X, table)
        check_integers(X, table)
        if sample_weight is None:
            return table, None
        return table, scale_weights(sample_weight, table.n_rows, reserve=1).values

    def _fit_seen(self, table: Table, seen: Sequence[SeenColumn]) -> TableEncoder:
        """Choose the tests from what was seen of each column, which need not be all rows.

        Parameters
        ----------
        table : Table
            Different values of each column, whose lengths may differ.
        seen : sequence of SeenColumn
            How often each of them was seen.
        """
        self.n_features_in_ = table.n_columns
        self.feature_names_in_ = np.array(table.names, dtype=object)
        self._choose_tests(table, None, seen=seen)
        return self

    def _fit_within(
        self,
        X: Any,
        sample_weight: Any,
        budget: Callable[[], BudgetLeft],
        prefers_ranks: PrefersRanks | None = None,
    ) -> Cells:
        """Choose tests, and answer them for the rows that count, as ranks if these are preferred.

        Where ranks are not asked for, or do not fit the budget, as many tests as fit are chosen.
        """
        table, weights = self._read(X, sample_weight)
        counted = table if weights is None or weights.all() else table.select(weights > 0)
        if prefers_ranks is None:
            return self._encode_within(table, counted, weights, budget)
        ranks: dict[int, NDArray[np.int32]] = {}
        fits = False
        with suppress(MemoryError, NoTimeLeftError):
            pace = Pace(budget, table.n_columns)
            self._choose_tests(
                table,
                weights,
                ranks=ranks,
                must_stop=pace.must_stop,
                is_possible=partial(_is_possible, budget, table.n_rows),
            )
            n_tests, n_ranks = len(self.tests_), count_ranks(self.tests_)
            fits = not budget().most_tests(table.n_rows, n_tests)[1]
            # If ranks save memory, no test is left out.
            is_wanted = not fits and len(n_ranks) < n_tests
            is_wanted = is_wanted or prefers_ranks(counted.n_rows, n_ranks)
            can_rank = budget().fits_ranks(counted.n_rows, len(n_ranks), n_tests)
            if is_wanted and can_rank and n_tests <= MOST_TESTS:
                # If that takes too long, there is no time to choose once more.
                in_memory = replace(budget(), seconds=None, is_interrupted=False)
                is_small = n_tests <= _FEW_TESTS
                fits |= is_small and not in_memory.most_tests(table.n_rows, n_tests)[1]
                pace = Pace(budget, table.n_columns)
                is_over = partial(_is_over, budget)
                return rank_columns(self.tests_, counted, ranks, pace.must_stop, is_over)
        ranks.clear()
        return self._encode_within(table, counted, weights, budget, are_chosen=fits)

    def _answer_within(
        self, table: Table, budget: Callable[[], BudgetLeft], prefers_ranks: PrefersRanks | None
    ) -> Cells:
        """Answer tests that are chosen: as ranks if these are preferred or answers do not fit."""
        n_tests, n_ranks = len(self.tests_), count_ranks(self.tests_)
        most, stopped_by = budget().most_tests(table.n_rows, n_tests)
        if prefers_ranks is not None:
            is_wanted = bool(stopped_by) or prefers_ranks(table.n_rows, n_ranks)
            if is_wanted and budget().fits_ranks(table.n_rows, len(n_ranks), n_tests):
                return rank_columns(self.tests_, table)
        if stopped_by:
            kept, self._left_out = thin_out(self.tests_, most)
            self.tests_, self._stopped_by = TestList([kept]), stopped_by
        return self._encode_table(table)

    def _encode_within(
        self,
        table: Table,
        counted: Table,
        weights: NDArray[np.int64] | None,
        budget: Callable[[], BudgetLeft],
        are_chosen: bool = False,
    ) -> NDArray[np.uint8]:
        """Choose as many tests as fit the budget, unless all are chosen and fit.

        Answer them for the rows that count.
        """
        n_tried: int | None = None
        if not are_chosen:
            self.tests_ = TestList()
        while True:
            left = budget()
            try:
                if not are_chosen:
                    self._choose_tests(table, weights, budget)
                return self._encode_in_time(counted, budget)
            except MemoryError:
                # The machine has less memory than it reports, so the next try takes half of it.
                n_tests = len(self.tests_)
                if n_tried is not None and n_tests >= n_tried:
                    raise MemoryError(
                        f"There is no memory for {n_tests} questions about {table.n_rows} rows; "
                        "fit fewer rows or columns."
                    ) from None
                are_chosen = False
                n_tried, needed = n_tests, table.n_rows * max(n_tests, 1)
                memory = needed if left.memory is None else min(needed, left.memory)
                budget = partial(_with_memory, budget, memory // 2)

    def _encode_in_time(self, table: Table, budget: Callable[[], BudgetLeft]) -> NDArray[np.uint8]:
        """Answer the tests; only some of them if there is no time left for all."""
        if self._multiway or self._is_binary:
            return self._encode_table(table)
        columns = None
        with suppress(NoTimeLeftError):
            columns = self._encode_table(table, partial(_is_over, budget))
        left = replace(budget(), memory=None)
        most, stopped_by = left.most_tests(table.n_rows, len(self.tests_))
        # A search without time would not even read what does not fit.
        if columns is not None and not (left.is_over and stopped_by):
            return columns
        if stopped_by:
            columns = None
            kept, left_out = thin_out(self.tests_, most)
            self.tests_ = TestList([kept])
            self._left_out = Counter(self._left_out) + Counter(left_out)
            self._stopped_by = stopped_by if left_out else self._stopped_by
        return self._encode_table(table)

    def _choose_tests(
        self,
        table: Table,
        weights: NDArray[np.int64] | None,
        budget: Callable[[], BudgetLeft] | None = None,
        *,
        ranks: dict[int, NDArray[np.int32]] | None = None,
        must_stop: Callable[[], bool] | None = None,
        is_possible: Callable[[int], bool] | None = None,
        seen: Sequence[SeenColumn] | None = None,
    ) -> None:
        """Choose the tests: all, or those that fit; on the way, perhaps, ranks of the values."""
        declared = declared_categories(self.categorical_features, table)
        if self.splits not in SPLITS:
            raise ValueError(f"splits must be one of {', '.join(SPLITS)}, got {self.splits!r}.")
        if self.category_tests not in CATEGORY_TESTS:
            raise ValueError(
                f"category_tests must be one of {', '.join(CATEGORY_TESTS)}, got "
                f"{self.category_tests!r}."
            )
        if self.category_tests != "one" and self.splits != "binary":
            raise ValueError(
                f"category_tests={self.category_tests!r} needs splits='binary', got "
                f"splits={self.splits!r}: {MULTIWAY_CATEGORIES}"
            )
        if not is_index(self.min_category_rows) or self.min_category_rows < 1:
            raise ValueError(
                "min_category_rows must be an integer of at least 1, got "
                f"{self.min_category_rows!r}."
            )
        check_identifiers(self.identifiers)
        if weights is not None and not weights.all():
            counts = weights > 0
            table, weights = table.select(counts), weights[counts]
        self._multiway: list[tuple[Multiway, NDArray[np.int32]]] = []
        are_categories = [
            is_declared or kind in ("text", "category")
            for is_declared, kind in zip(declared, table.kinds, strict=True)
        ]
        asked = asked_cuts(self.thresholds, table, are_categories)
        are_given = any(cuts.points is not None for cuts in asked)
        self._is_binary = not are_given and table.matrix is not None and is_binary(table.matrix)
        if self.splits == "multiway" and not any(are_categories):
            raise ValueError(
                "splits='multiway' needs columns of categories, but the table has none: strings "
                "and categorical types are categories, other columns if categorical_features "
                "names them."
            )
        identifiers = self._find_identifiers(table, declared)
        self._left_out, self._stopped_by, self._is_counted = {}, "", True
        if self._is_binary:
            boolean = table.kinds[0] == "flag"
            self.tests_ = TestList([[Flag(i, name, boolean) for i, name in enumerate(table.names)]])
            return
        cap = (
            None
            if budget is None
            else budget().cap(
                table,
                are_categories,
                asked,
                weights,
                budget,
                min_category_rows=self.min_category_rows,
                category_tests=self.category_tests,
                without=identifiers,
            )
        )
        if cap is not None:
            self._stopped_by, self._is_counted = cap.stopped_by, not cap.uncounted
        parts: list[Sequence[Test]] = []
        n_tests = 0
        for i, is_category in enumerate(are_categories):
            if must_stop is not None and must_stop():
                raise NoTimeLeftError
            if cap is not None and i in cap.uncounted:
                self._left_out[i] = cap.uncounted[i]
                continue
            is_multiway = self.splits != "binary" and is_category
            rules = ColumnRules(
                is_category=is_category,
                is_multiway=is_multiway,
                is_identifier=i in identifiers,
                min_category_rows=self.min_category_rows,
                category_tests=self.category_tests,
                asked=asked[i],
                weights=weights if seen is None else seen[i].weights,
                rows=None if seen is None else seen[i].rows,
                most=None if cap is None or is_multiway else cap.most,
                counted=None if cap is None else cap.known.get(i),
                ranks=ranks,
                is_possible=is_possible,
            )
            found = TestList(column_tests(table, i, rules))
            if cap is not None and not is_multiway:
                self._left_out[i] = cap.count_left_out(i, found)
            if is_multiway and len(found) > 1:
                columns = np.arange(n_tests, n_tests + len(found), dtype=np.int32)
                self._multiway.append((multiway_test(found, table.column(i)), columns))
            parts += found.parts
            n_tests += len(found)
        self.tests_ = TestList(parts)

    def _find_identifiers(self, table: Table, declared: Sequence[bool]) -> list[int]:
        """Return the columns whose values have no tests, and warn of them and of other texts."""
        found: list[int] = []
        if self.identifiers == "drop" and self.min_category_rows == 1:
            found = find_identifiers(table, declared)
        self.identifiers_ = tuple(table.names[i] for i in found)
        warn_of_texts(table, [d or i in found for i, d in enumerate(declared)])
        for i in found:
            warn_of_identifier(table.names[i], table.column(i))
        return found

    tests_: TestList
    identifiers_: tuple[str, ...]
    # By column, how many tests did not fit, and the status of the budget that left them out. The
    # defaults are for encoders without a budget.
    _left_out: Mapping[int, int] = MappingProxyType({})
    _stopped_by = ""
    # Whether there was time to count what is left out; if not, there may be more.
    _is_counted = True

    @property
    def _n_left_out(self) -> int:
        return sum(self._left_out.values())

    @property
    def candidates_(self) -> Sequence[Test]:
        """What trees may ask."""
        return [test for test, _ in self._asked()] if self._multiway else self.tests_

    @property
    def multiway_columns_(self) -> list[NDArray[np.int32]] | None:
        """Columns of each candidate: one, or one per outcome; None if no test is multiway."""
        return [columns for _, columns in self._asked()] if self._multiway else None

    def _asked(self) -> list[tuple[Test, NDArray[np.int32]]]:
        """Return the tests that trees may ask, each with its columns."""
        hidden = self._hidden_columns()
        single: list[tuple[Test, NDArray[np.int32]]] = [
            (test, np.array([c], dtype=np.int32))
            for c, test in enumerate(self.tests_)
            if c not in hidden
        ]
        return [*single, *self._multiway]

    def _hidden_columns(self) -> set[int]:
        """Return the columns that are only outcomes of multiway tests."""
        if self.splits != "multiway":
            return set()
        return {int(c) for _, columns in self._multiway for c in columns}

    def _add_tests(self, tests: Sequence[Test]) -> None:
        """Append tests that a user's tree asks."""
        if tests:
            self.tests_ = self.tests_ + tests
            self._is_binary = False

    def _encode_table(
        self, table: Table, must_stop: Callable[[], bool] | None = None
    ) -> NDArray[np.uint8]:
        """Answer the tests for a table that has been read and has the columns of training."""
        if self._is_binary and table.matrix is not None:
            bits: NDArray[np.bool_] = np.greater(table.matrix, 0.5, order="F")
            return bits.view(np.uint8)
        return encode_tests(self.tests_, table, must_stop)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _is_over(budget: Callable[[], BudgetLeft]) -> bool:
    return budget().is_over


def _is_possible(budget: Callable[[], BudgetLeft], n_rows: int, n_tests: int) -> bool:
    """Whether so many tests can be answered in the time that is left."""
    return not replace(budget(), memory=None).most_tests(n_rows, n_tests)[1]


def _with_memory(budget: Callable[[], BudgetLeft], memory: int) -> BudgetLeft:
    return replace(budget(), memory=memory)
