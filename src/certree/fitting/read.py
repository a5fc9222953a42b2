"""From a user's table, classes and weights to rows: the first step of a fit."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from certree import engine
from certree.encoding import Reduced, TableEncoder
from certree.encoding._classes import check_labels, encode_labels
from certree.encoding._not_tables import refuse_other_forms
from certree.encoding._row_cells import Cells
from certree.numbers._exact import cost_budget
from certree.numbers._fractions import is_whole, read_fraction
from certree.numbers._weights import GivenWeights, read_weights, refuse_few_digits, scale_given

from .budgets import encode_within

if TYPE_CHECKING:
    from .request import Request

# Shares of the weight of rows choose thresholds; weights that are rounded have so many steps there.
_ENCODER_STEPS = 2**30


@dataclass(frozen=True)
class TableRequest:
    """How tests are derived from a table, and how many rows they must leave together."""

    min_samples_leaf: Any
    categorical_features: Any
    thresholds: Any
    min_category_rows: Any
    category_tests: Any
    identifiers: Any
    splits: Any

    @classmethod
    def of(cls, owner: Any) -> TableRequest:
        """Read the parameters of an estimator."""
        return cls(*(getattr(owner, one.name) for one in fields(cls)))


@dataclass(frozen=True)
class Encoded:
    """A table that was read.

    Attributes
    ----------
    cells : Cells
        Answers of the rows that count to the tests.
    encoder : TableEncoder
        The tests.
    least_rows : int
        Fewest rows in a leaf.
    row_counts : int64 array or None
        How many rows each row stands for, if leaves have a least size; None: one each.
    """

    cells: Cells
    encoder: TableEncoder
    least_rows: int
    row_counts: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class ClassRows:
    """Rows with classes, and their weights.

    Attributes
    ----------
    start : float
        When reading began.
    n_rows : int
        Number of rows of the table.
    kept : int array or None
        The rows of the table that count; None: all.
    classes, codes : arrays
        The classes, and that of each row that counts.
    given : GivenWeights
        The weights of these rows.
    for_encoder : int64 array or None
        Weights of all rows, by which thresholds are chosen.
    """

    start: float
    n_rows: int
    kept: NDArray[np.intp] | None
    classes: NDArray[Any]
    codes: NDArray[np.int32]
    given: GivenWeights
    for_encoder: NDArray[np.int64] | None


def count_rows(X: Any) -> int:
    """Return the number of rows of a raw table, and refuse an empty one."""
    refuse_other_forms(X)
    n_rows = int(_num_samples(X))
    if n_rows == 0:
        raise ValueError(
            "Found a table with 0 sample(s) while a minimum of 1 is required; give X at least "
            "one row."
        )
    return n_rows


def refuse_reduced(X: Any) -> None:
    """Refuse a reduced table where rows are needed."""
    if isinstance(X, Reduced):
        raise TypeError(
            "A reduced table has groups of rows, which are not rows; call fit_reduced(reduced)."
        )


def rows_behind(X: Any) -> NDArray[np.int64] | None:
    """Return how many rows each row of a table stands for; None: one each."""
    return X.counts if isinstance(X, Reduced) else None


def least_rows(limit: Any, total: Fraction | int) -> int:
    """Return a number of rows as it is, and a share of `total` rows rounded up.

    The share is the decimal that is written: 0.07 of 100 rows is 7.
    """
    return int(limit) if is_whole(limit) else ceil(read_fraction(limit, "min_samples_leaf") * total)


def encode(
    table: TableRequest,
    X: Any,
    sample_weight: NDArray[np.int64] | None,
    question: engine.Question,
    more_rows: int = 0,
) -> Encoded:
    """Choose tests, and answer them for the rows that count.

    Parameters
    ----------
    table : TableRequest
        How tests are chosen.
    X : table or Reduced
        The rows; the tests of a reduced table are chosen.
    sample_weight : int64 array or None
        Rows of weight zero do not count.
    question : Question
        What the rows will be searched for.
    more_rows : int, default=0
        How many rows a leaf needs beyond `min_samples_leaf`.
    """
    if isinstance(X, Reduced):
        encoder = X.seen.encoder().set_output(transform="default")
        least = least_rows(table.min_samples_leaf, X.n_rows)
        counts = X.counts if least > 1 else None
        question = replace(question, has_row_counts=counts is not None)
        return Encoded(encode_within(encoder, X.table(), None, question), encoder, least, counts)
    encoder = TableEncoder(
        thresholds=table.thresholds,
        categorical_features=table.categorical_features,
        splits=table.splits,
        min_category_rows=table.min_category_rows,
        category_tests=table.category_tests,
        identifiers=table.identifiers,
    ).set_output(transform="default")
    cells = encode_within(encoder, X, sample_weight, question)
    return Encoded(cells, encoder, least_rows(table.min_samples_leaf, len(cells)) + more_rows)


def read_classes(request: Request) -> ClassRows:
    """Read classes and weights of the rows."""
    start = perf_counter()
    n_rows, sample_weight = request.n_rows, request.sample_weight
    labels = check_labels(request.goal.y, n_rows, request.by)
    given, kept, for_encoder = read_weights(sample_weight, n_rows), None, None
    refuse_few_digits(given.numbers)
    if sample_weight is not None:
        for_encoder = scale_given(given, cost_budget(n_rows), _ENCODER_STEPS).values
        if not for_encoder.all():
            kept = np.flatnonzero(for_encoder)
            labels, given = labels[kept], given.select(kept)
    classes, codes = encode_labels(labels)
    return ClassRows(start, n_rows, kept, classes, codes, given, for_encoder)
