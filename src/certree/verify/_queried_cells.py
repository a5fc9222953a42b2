"""Sums over the leaves of a tree, by one query of the engine that holds the table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._attributes import stated_list
from ._audit import PlainTree
from ._candidates import Test
from ._cells import Cell, adds_squares, is_a, refuse_rows_needed
from ._plain_numbers import read
from ._plain_times import nanoseconds_of_text


def is_in_engine(X: Any) -> bool:
    """Return whether a table is queried, and not read."""
    family = type(X).__module__.partition(".")[0]
    return isinstance(X, str | os.PathLike) or family in ("ibis", "duckdb", "_duckdb")


def cells_of_table(
    model: Any, table: Any, y: Any, sample_weight: Any, costs: Any, sensitive: Any
) -> list[Cell]:
    """Return the cells of all rows of a table, by one query of its engine.

    Parameters
    ----------
    model : estimator
        Its tree says which leaf a row reaches.
    table : ibis table, DuckDB relation or path
        The rows.
    y, sample_weight, costs, sensitive
        Names of columns.
    """
    import ibis

    refuse_rows_needed(model)
    with _naming_failures():
        rows, run = _open(table)
    tree = PlainTree.of(model.tree_)
    names = stated_list(model, "feature_names_in_")
    if names != list(tree.columns):
        raise CertificateError(f"the model has the columns {names}, its tree {list(tree.columns)}.")
    groups = [sensitive] if isinstance(sensitive, str) else list(sensitive or ())
    listed = list(costs or ())
    wanted = [name for name in (y, sample_weight) if name is not None]
    for name in [*names, *groups, *listed, *wanted]:
        if not isinstance(name, str):
            raise TypeError(
                "For a table that is queried, y, sample_weight, costs and sensitive_features are "
                f"names of columns, got {type(name).__name__}."
            )
        if name not in rows.columns:
            raise ValueError(f"The table has no column {name!r}.")
    is_number = is_a(model, "OptimalTreeRegressor")
    for name in (*listed, sample_weight, y if is_number else None):
        if name is not None:
            _check_numbers(name, rows[name])
    weight = ibis.literal(1, "int64") if sample_weight is None else rows[sample_weight]
    if sample_weight is not None:
        rows = rows.filter(rows[sample_weight] > 0)
        weight = rows[sample_weight]
    columns = {"leaf": _leaf(tree, names, rows, int).cast("int64"), "w": weight}
    if y is not None and adds_squares(model):
        value = _leaf(tree, names, rows, lambda leaf: float(tree.value(leaf)))
        columns["d"] = rows[y].cast("float64") - value
    elif y is not None:
        columns["y"] = rows[y]
    columns |= {f"g{i}": rows[name] for i, name in enumerate(groups)}
    columns |= {f"c{i}": rows[name].cast("float64") for i, name in enumerate(listed)}
    if listed:
        costs_of_rows = [columns[f"c{i}"] for i in range(len(listed))]
        columns["b"] = _best(costs_of_rows, is_a(model, "PolicyTree") and model.maximise)
    rows = rows.select(**columns)
    keys = ["leaf", *(name for name in ("y", "b") if name in columns)]
    keys += [f"g{i}" for i in range(len(groups))]
    asked = {"n": rows.count(), "w": rows.w.cast("decimal(38, 9)").sum()}
    if "d" in columns:
        asked |= {"off": (rows.w * rows.d).sum(), "square": (rows.w * rows.d * rows.d).sum()}
    if listed:
        each = [rows[f"c{i}"] for i in range(len(listed))]
        asked |= {f"s{i}": (rows.w * column).sum() for i, column in enumerate(each)}
        asked |= {"low": (rows.w * ibis.least(*each)).sum()}
        asked |= {"high": (rows.w * ibis.greatest(*each)).sum()}
        asked |= {"size": (rows.w * sum(column.abs() for column in each)).sum()}
    with _naming_failures():
        answer = run(rows.group_by(keys).aggregate(**asked))
    return [_cell(line, tree, len(groups), len(listed)) for line in answer]


def _check_numbers(name: str, column: Any) -> None:
    if not column.type().is_numeric():
        raise ValueError(f"The column {name!r} must hold numbers, but is of type {column.type()}.")


def _cell(line: Mapping[str, Any], tree: PlainTree, n_groups: int, n_costs: int) -> Cell:
    known = [line[f"g{i}"] for i in range(n_groups)]
    cell = Cell(
        int(line["leaf"]),
        int(line["n"]),
        Fraction(str(line["w"])),
        line.get("y"),
        tuple(known) if n_groups > 1 else known[0] if known else None,
    )
    if n_costs:
        cell.costs = [Fraction(float(line[f"s{i}"])) for i in range(n_costs)]
        cell.ends = Fraction(float(line["low"])), Fraction(float(line["high"]))
        cell.size = Fraction(float(line["size"]))
        cell.best = int(line["b"])
    if "square" in line:
        cell.label = read(tree.value(cell.leaf))
        cell.off, cell.square = Fraction(float(line["off"])), Fraction(float(line["square"]))
        cell.size = cell.square + cell.weight * abs(cell.label)
    return cell


@contextmanager
def _naming_failures() -> Iterator[None]:
    """Make one clear error of what engines raise."""
    try:
        yield
    except (ImportError, ValueError):
        raise
    except Exception as error:
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise RuntimeError(
            f"The engine could not add up the rows: {told[0]} ({type(error).__name__})."
        ) from error


def _open(table: Any) -> tuple[Any, Any]:
    """Return a table of ibis, and what answers a query of it by a list of lines."""
    import ibis

    if type(table).__module__.partition(".")[0] == "ibis":
        return table, lambda query: query.to_pyarrow().to_pylist()
    if isinstance(table, str | os.PathLike):
        import duckdb

        path = os.fspath(table)
        is_csv = path.lower().endswith((".csv", ".tsv", ".csv.gz"))
        try:
            table = (duckdb.connect().read_csv if is_csv else duckdb.connect().read_parquet)(path)
        except duckdb.Error as error:
            told = str(error).splitlines()[0]
            raise ValueError(f"{path!r} cannot be read as a table: {told}") from error
    schema = ibis.Schema.from_pyarrow(table.limit(0).to_arrow_table().schema)
    rows = ibis.table(schema, name="certree_rows")

    def run(query: Any) -> Any:
        text = str(ibis.to_sql(query, dialect="duckdb"))
        return table.query("certree_rows", text).to_arrow_table().to_pylist()

    return rows, run


def _leaf(tree: PlainTree, names: Sequence[str], rows: Any, number: Any, node: int = 0) -> Any:
    """Return a number for the leaf that each row reaches, as an expression."""
    import ibis

    if tree.asked[node] < 0:
        return ibis.literal(number(node))
    test = tree.tests[tree.asked[node]]
    first, second = (_leaf(tree, names, rows, number, child) for child in tree.children[node])
    return ibis.ifelse(_holds(test, rows[names[test["feature"]]]), first, second)


def _best(costs: Sequence[Any], maximise: bool) -> Any:
    """Return the place of the first label that is best for each row, as an expression."""
    import ibis

    best = (ibis.greatest if maximise else ibis.least)(*costs)
    found = ibis.literal(len(costs) - 1)
    for place in reversed(range(len(costs) - 1)):
        found = ibis.ifelse(costs[place] == best, ibis.literal(place), found)
    return found


def _holds(test: Test, column: Any) -> Any:
    """Return whether a test holds, as an expression."""
    import ibis

    dtype, kind = column.type(), test["kind"]
    absent = column.isnull()
    if dtype.is_numeric():
        column = column.cast("float64")
        if dtype.is_floating():
            absent = absent | column.isnan()
    if kind == "missing":
        return absent
    if kind == "threshold":
        _check_numbers(test["name"], column)
        holds = column <= test["threshold"]
    elif kind == "time":
        moment = np.datetime64(nanoseconds_of_text(test["value"]) // 1000, "us").item()
        holds = column.cast("timestamp") <= ibis.literal(moment, "timestamp")
    elif kind == "flag":
        holds = column if dtype.is_boolean() else column > 0.5
    elif kind == "level":
        holds = column.isin(list(test["levels"][: test["levels"].index(test["value"]) + 1]))
    elif kind == "subset":
        holds = column.isin(list(test["values"])) != bool(test["rest"])
    elif kind == "category":
        holds = column == test["value"]
    else:
        raise ValueError(f"A test of kind {kind!r} cannot be asked in SQL; pass the rows.")
    return ibis.ifelse(absent, ibis.literal(test["missing"] is True), holds)
