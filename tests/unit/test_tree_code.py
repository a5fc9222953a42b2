"""Trees as Python and SQL: run the code and compare its predictions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.unit.trees import MIXED_ROWS, Case, cases, chain, leaf, mixed_tree, stump

from certree.encoding import Category, Flag, Level, Threshold
from certree.tree import Tree


def compiled(tree: Tree, name: str = "predict") -> Callable[[Any], Any]:
    namespace: dict[str, Any] = {}
    exec(tree.to_python(name), namespace)
    function: Callable[[Any], Any] = namespace[name]
    return function


def queried(tree: Tree, rows: list[list[Any]]) -> list[Any]:
    """Let SQLite predict."""
    names = ['"' + name.replace('"', '""') + '"' for name in tree.feature_names]
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE data ({', '.join(names)})")
        marks = ", ".join("?" * len(names))
        connection.executemany(f"INSERT INTO data VALUES ({marks})", rows)
        query = f"SELECT {tree.to_sql(alias='prediction')} FROM data ORDER BY rowid"
        return [value for (value,) in connection.execute(query)]
    finally:
        connection.close()


# ---- Python ----------------------------------------------------------------------------------


@given(cases())
def test_python_predicts_the_same(case: Case) -> None:
    predict = compiled(case.tree)
    expected = case.tree.predict(case.rows).tolist()
    assert [predict(row) for row in case.rows] == expected
    mappings = [dict(zip(case.tree.feature_names, row, strict=True)) for row in case.rows]
    assert [predict(row) for row in mappings] == expected
    with_nan = [[np.nan if value is None else value for value in row] for row in case.rows]
    assert [predict(row) for row in with_nan] == expected


def test_python_reads_well() -> None:
    lines = mixed_tree().to_python("decide").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("    if age"))
    assert lines[0] == "def decide(row):"
    assert lines[start:] == [
        "    if age is not None and age <= 35.5:",
        "        if color == 'red':",
        "            return 'no'",
        "        if income is None or income != income:",
        "            return 'maybe'",
        "        if income is not None and income <= 1234.25:",
        "            return 'maybe'",
        "        return 'no'",
        "    if smoker is not None and smoker > 0.5:",
        "        if age is not None and age <= 60.25:",
        "            return 'no'",
        "        return 'yes'",
        "    return 'yes'",
    ]


@pytest.mark.parametrize("holds", [False, True])
def test_python_of_very_deep_trees_compiles(holds: bool) -> None:
    tree = chain(500, holds=holds)
    predict = compiled(tree)
    rows = [[float(x)] for x in (-5, 0, 1, 99, 250, 499, 500, 501)] + [[None]]
    assert [predict(row) for row in rows] == tree.predict(rows).tolist()


@pytest.mark.parametrize(
    "name",
    ["row", "hasattr", "class", "None", "predict", "x0", "a b", "'", '"""', "ﬁ", "é", "\\\n"],
)
def test_python_survives_any_column_name(name: str) -> None:
    predict = compiled(stump(name=name))
    assert predict({name: 0.0}) == "no"
    assert predict([1.0]) == "yes"


def test_python_variables_do_not_collide() -> None:
    tests = [Threshold(0, "class", 0.5), Threshold(1, "x0", 0.5)]
    tree = Tree(
        tests,
        [0, 1, -1, -1, -1],
        [1, 3, -1, -1, -1],
        [-1, -1, 0, 1, 2],
        counts=np.ones((5, 3)),
        classes=[0, 1, 2],
        feature_names=["class", "x0"],
    )
    predict = compiled(tree)
    assert [predict(row) for row in ([1, 0], [0, 0], [0, 1])] == [0, 1, 2]


def test_python_of_a_single_leaf_and_of_infinite_labels() -> None:
    assert compiled(leaf())([]) == "yes"
    assert compiled(stump(np.array([-np.inf, np.inf])))([1.0]) == np.inf


@pytest.mark.parametrize("name", ["", "1x", "a b", "class", "f(x"])
def test_python_refuses_names_that_are_no_identifier(name: str) -> None:
    with pytest.raises(ValueError, match="identifier"):
        stump().to_python(name)


def test_labels_that_have_no_source_are_named() -> None:
    classes = np.array([(1, 2), (3,)], dtype=object)
    with pytest.raises(TypeError, match="cannot be written as Python"):
        stump(classes).to_python()
    with pytest.raises(TypeError, match="no literal in standard SQL"):
        stump(classes).to_sql()
    with pytest.raises(TypeError, match="no literal in standard SQL"):
        stump(np.array([0.0, np.inf])).to_sql()


# ---- SQL -------------------------------------------------------------------------------------


@given(cases())
def test_sql_predicts_the_same(case: Case) -> None:
    assert queried(case.tree, case.rows) == case.tree.predict(case.rows).tolist()


def test_sql_reads_well() -> None:
    assert mixed_tree().to_sql() == "\n".join(
        [
            "CASE",
            "  WHEN \"age\" <= 35.5 AND \"color\" = 'red' THEN 'no'",
            '  WHEN "age" <= 35.5 AND "income" IS NULL THEN \'maybe\'',
            '  WHEN "age" <= 35.5 AND "income" <= 1234.25 THEN \'maybe\'',
            "  WHEN \"age\" <= 35.5 THEN 'no'",
            '  WHEN "smoker" AND "age" <= 60.25 THEN \'no\'',
            "  WHEN \"smoker\" THEN 'yes'",
            "  ELSE 'yes'",
            "END",
        ]
    )
    assert queried(mixed_tree(), MIXED_ROWS) == mixed_tree().predict(MIXED_ROWS).tolist()


@pytest.mark.parametrize("holds", [False, True])
def test_sql_of_very_deep_trees_is_flat(holds: bool) -> None:
    tree = chain(500, holds=holds)
    rows = [[float(x)] for x in (-5, 0, 1, 99, 250, 499, 500, 501)] + [[None]]
    assert queried(tree, rows) == tree.predict(rows).tolist()


def test_sql_columns_can_be_renamed() -> None:
    tree = mixed_tree()
    assert '"person age" <= 35.5' in tree.to_sql({"age": "person age"})
    assert 'WHEN "d" THEN' in tree.to_sql(["a", "b", "c", "d"])
    with pytest.raises(ValueError, match="'size', which is not a feature"):
        tree.to_sql({"size": "x"})
    for bad in (["a"], "abcd"):
        with pytest.raises(ValueError, match="each of the 4 features"):
            tree.to_sql(bad)


@pytest.mark.parametrize(
    "quote, expected", [('"', '"a""`]["'), ("`", '`a"``][`'), ("[", '[a"`]][]')]
)
def test_sql_quotes_identifiers(quote: str, expected: str) -> None:
    assert f"WHEN {expected} <= 0.5" in stump(name='a"`][').to_sql(quote=quote)


def test_sql_quotes_strings() -> None:
    tree = stump(["it's", "'; DROP TABLE data; --"], name="c", category="o'clock")
    assert "\"c\" = 'o''clock' THEN 'it''s'" in tree.to_sql()
    assert queried(tree, [["o'clock"], ["x"]]) == ["it's", "'; DROP TABLE data; --"]


def test_sql_of_a_single_leaf_is_a_literal() -> None:
    assert leaf().to_sql() == "'yes'"
    assert leaf([False, True]).to_sql(alias="p") == '(1 = 1) AS "p"'


def sided_tree() -> Tree:
    """Missing values join either side of a threshold, a flag and a level."""
    stages = ("I", "II", "III")
    tests = [
        Threshold(0, "age", 35.5, True),
        Threshold(0, "age", 20.0, False),
        Flag(1, "smoker", True, True),
        Level(2, "stage", stages, "II", True),
        Level(2, "stage", stages, "I", False),
    ]
    test = [0, 1, 2, -1, 3, -1, 4, -1, -1, -1, -1]
    first_child = [1, 3, 5, -1, 7, -1, 9, -1, -1, -1, -1]
    label = [-1 if t >= 0 else node % 3 for node, t in enumerate(test)]
    return Tree(
        tests,
        test,
        first_child,
        label,
        counts=np.ones((11, 3)),
        classes=["no", "yes", "maybe"],
        feature_names=["age", "smoker", "stage"],
    )


SIDED_ROWS = [
    [age, smoker, stage]
    for age in (None, 10.0, 30.0, 50.0)
    for smoker in (None, True, False)
    for stage in (None, "I", "II", "III", "IV")
]


def test_missing_values_and_levels_read_well_in_code() -> None:
    sql, source = sided_tree().to_sql(), sided_tree().to_python()
    age, stage = (
        '("age" <= 35.5 OR "age" IS NULL)',
        "(\"stage\" IN ('I', 'II') OR \"stage\" IS NULL)",
    )
    assert sql.splitlines()[1:4] == [
        "  WHEN \"age\" <= 20.0 THEN 'no'",
        f"  WHEN {age} AND {stage} THEN 'yes'",
        f"  WHEN {age} THEN 'maybe'",
    ]
    assert '("smoker" OR "smoker" IS NULL)' in sql
    assert "if age is None or age != age or age <= 35.5:" in source
    assert "if stage is None or stage != stage or stage in ('I', 'II'):" in source
    assert "if stage == 'I':" in source


def test_missing_values_and_levels_go_the_same_way_in_code() -> None:
    tree = sided_tree()
    expected = tree.predict(SIDED_ROWS).tolist()
    assert queried(tree, SIDED_ROWS) == expected
    assert [compiled(tree)(row) for row in SIDED_ROWS] == expected


def test_duckdb_agrees() -> None:
    duckdb = pytest.importorskip("duckdb")
    tree = sided_tree()
    connection = duckdb.connect()
    connection.execute("CREATE TABLE data (age DOUBLE, smoker BOOLEAN, stage VARCHAR)")
    connection.executemany("INSERT INTO data VALUES (?, ?, ?)", SIDED_ROWS)
    found = connection.execute(f"SELECT {tree.to_sql()} FROM data ORDER BY rowid").fetchall()
    assert [value for (value,) in found] == tree.predict(SIDED_ROWS).tolist()


@pytest.mark.parametrize("name", ["true", "TRUE", "False", "flag"])
def test_no_column_name_captures_a_truth_value(name: str) -> None:
    """SQLite takes TRUE for a column if there is one of that name."""
    tests = [Flag(0, "smoker", True)]
    parts: Any = (tests, [0, -1, -1], [1, -1, -1], [-1, 0, 1])
    tree = Tree(
        *parts, counts=np.ones((3, 2)), classes=[True, False], feature_names=["smoker", name]
    )
    rows = [[True, 5], [False, 6], [None, 7]]
    assert queried(tree, rows) == [1, 0, 0]


def test_truth_values_of_sql_server_are_bits() -> None:
    tests = [Flag(0, "smoker", True, True)]
    parts: Any = (tests, [0, -1, -1], [1, -1, -1], [-1, 0, 1])
    tree = Tree(*parts, counts=np.ones((3, 2)), classes=[True, False], feature_names=["smoker"])
    assert tree.to_sql(quote="[").splitlines()[1:3] == [
        "  WHEN ([smoker] = 1 OR [smoker] IS NULL) THEN CAST(1 AS BIT)",
        "  ELSE CAST(0 AS BIT)",
    ]


def test_sql_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(ValueError, match="zero character"):
        stump(name="a\0b").to_sql()
    with pytest.raises(ValueError, match="quote must be one of"):
        stump().to_sql(quote="'")


def test_sql_compares_coded_categories_with_numbers() -> None:
    tree = Tree(
        [Category(0, "code", 3)],
        [0, -1, -1],
        [1, -1, -1],
        [-1, 0, 1],
        counts=np.ones((3, 2)),
        classes=[10, 20],
        feature_names=["code"],
    )
    assert '"code" = 3 THEN 10' in tree.to_sql()
    assert queried(tree, [[3], [3.0], [4], [None]]) == [10, 10, 20, 20]
