"""Hypothesis strategies for problems and for the options of a solve."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.problems import SAFE, Problem, zero_one_costs
from tests.registry import all_isas, all_searches, all_switches

MAX_ROWS, MAX_COLUMNS, MAX_TYPES = 24, 6, 4


@st.composite
def matrices(draw: st.DrawFn, max_rows: int = MAX_ROWS, max_columns: int = MAX_COLUMNS) -> Any:
    """Binary matrix whose columns are free, copies, complements or constant; rows may repeat."""
    n_rows = draw(st.integers(1, max_rows))
    n_columns = draw(st.integers(1, max_columns))
    everything = (1 << n_rows) - 1
    masks: list[int] = []
    for _ in range(n_columns):
        kinds = ["free", "free", "free", "constant"] + ["copy", "complement"] * bool(masks)
        kind = draw(st.sampled_from(kinds))
        if kind == "free":
            masks.append(draw(st.integers(0, everything)))
        elif kind == "constant":
            masks.append(draw(st.sampled_from([0, everything])))
        else:
            source = draw(st.sampled_from(masks))
            masks.append(source if kind == "copy" else everything ^ source)
    columns = np.array([[m >> i & 1 for m in masks] for i in range(n_rows)], dtype=np.uint8)
    if draw(st.booleans()):
        # Repeated rows; with free types below these are often in conflict.
        kept = draw(st.integers(1, n_rows))
        columns = columns[np.arange(n_rows) % kept]
    return np.asfortranarray(columns)


def weight_vectors(n_rows: int) -> st.SearchStrategy[Any]:
    """No weights, small ones, large ones, powers of two."""
    element = st.one_of(
        st.integers(1, 3),
        st.sampled_from([1, 10**6, 10**6 + 1]),
        st.integers(0, 40).map(lambda k: 2**k),
    )
    vector = st.lists(element, min_size=n_rows, max_size=n_rows)
    return st.one_of(st.none(), vector.map(lambda w: np.array(w, dtype=np.int64)))


@st.composite
def cost_matrices(draw: st.DrawFn, n_types: int) -> Any:
    """0/1, weighted by type, or anything, with labels that need not match the types."""
    kind = draw(st.sampled_from(["zero-one", "weighted", "any"]))
    if kind == "zero-one":
        return zero_one_costs(n_types)
    if kind == "weighted":
        by_type = draw(st.lists(st.integers(0, 5), min_size=n_types, max_size=n_types))
        return zero_one_costs(n_types) * np.array(by_type, dtype=np.int64)[:, None]
    n_labels = draw(st.integers(1, n_types + 2))
    row = st.lists(st.integers(0, 9), min_size=n_labels, max_size=n_labels)
    return np.array(draw(st.lists(row, min_size=n_types, max_size=n_types)), dtype=np.int64)


@st.composite
def small_problems(
    draw: st.DrawFn, max_rows: int = MAX_ROWS, max_columns: int = MAX_COLUMNS
) -> Problem:
    """Problems that the oracle solves in milliseconds, with every kind of limit."""
    columns = draw(matrices(max_rows, max_columns))
    n_rows = columns.shape[0]
    n_types = draw(st.integers(1, MAX_TYPES))
    types = draw(st.lists(st.integers(0, n_types - 1), min_size=n_rows, max_size=n_rows))
    problem = Problem(
        columns,
        np.array(types, dtype=np.int32),
        draw(cost_matrices(n_types)),
        draw(weight_vectors(n_rows)),
        error_scale=draw(st.sampled_from([1, 1, 2, 3, 1000])),
        split_penalty=draw(st.sampled_from([0, 0, 1, 2, 3, 1000, 10**7])),
        max_depth=draw(st.integers(-1, 4)),
        max_splits=draw(st.one_of(st.just(-1), st.integers(-1, 7))),
        min_leaf=draw(st.one_of(st.just(1), st.integers(1, 5))),
    )
    return problem if problem.magnitude() <= SAFE else problem.but(weights=None)


@st.composite
def any_options(draw: st.DrawFn) -> dict[str, Any]:
    """Everything about a solve that may change the work, never the value."""
    options: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(all_switches()), unique=True)):
        options[name] = draw(st.booleans())
    if draw(st.booleans()):
        options["isa"] = draw(st.sampled_from(("auto", *all_isas())))
    if draw(st.booleans()):
        options["search"] = draw(st.sampled_from(("auto", *all_searches())))
    if draw(st.booleans()):
        options["threads"] = draw(st.integers(1, 2))
    if draw(st.booleans()):
        options["smallest"] = draw(st.booleans())
    return options
