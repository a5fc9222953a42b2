"""Trees as C, in dialects of SQL, as ONNX, Mermaid and frames: each predicts the same."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.fitted import cases as fitted_cases
from tests.unit.trees import MIXED_ROWS, Case, cases, chain, leaf, mixed_tree, stump

from certree import OptimalTreeClassifier, OptimalTreeRegressor, SPOTree, oracles
from certree.encoding import Multiway, Subset, Threshold, TimeThreshold
from certree.tree import Tree
from certree.tree._sql_dialect import DIALECTS
from certree.tree._wording import answer

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler, cc")


def multiway_tree() -> Tree:
    """Sets of categories, missing values among them, and a default."""
    test = Multiway(0, "c", [("a", "b"), ("it's", None), ("é\\n",)], default=1)
    return Tree(
        *([test, Threshold(1, "x", 0.1 + 0.2, True)], [0, -1, 1, -1, -1, -1]),
        *([1, -1, 4, -1, -1, -1], [-1, 0, -1, 2, 1, 0]),
        counts=np.ones((6, 3)),
        classes=["?", "b", "??/"],
        feature_names=["c", "x"],
    )


MULTIWAY_ROWS = [
    [category, number]
    for category in ("a", "b", "it's", "é\\n", "new", None)
    for number in (0.1 + 0.2, 0.1 + 0.2 + 1e-16, 0.3, 5.0, None)
]

# ---- C ---------------------------------------------------------------------------------------


_VECTORS = ("const double *", "const char *const *")


def run_c(tree: Tree, rows: list[list[Any]], folder: Path, name: str = "predict") -> list[Any]:
    """Compile the function, warnings as errors, and let it predict."""
    return run_all([(tree, rows, name)], folder)[0]


def run_all(jobs: list[tuple[Tree, list[list[Any]], str]], folder: Path) -> list[list[Any]]:
    source, library = folder / "trees.c", folder / f"trees{len(list(folder.iterdir()))}.so"
    source.write_text("\n".join(tree.to_c(name) for tree, _, name in jobs), encoding="utf-8")
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    command = [str(COMPILER), *flags, str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + source.read_text(encoding="utf-8")
    loaded = ctypes.CDLL(str(library))
    return [_call(loaded, *job) for job in jobs]


def _call(loaded: Any, tree: Tree, rows: list[list[Any]], name: str) -> list[Any]:
    source = tree.to_c(name)
    row = source.partition("\n};")[0]
    members = re.findall(r"^    (const char \*|double )(\w+); /\*", row, flags=re.MULTILINE)
    asked = sorted({test.feature for test in tree.tests if test in set(_used(tree))})
    is_text = [kind.startswith("const") for kind, _ in members]
    kinds = [ctypes.c_char_p if text else ctypes.c_double for text in is_text]
    row_type = type("Row", (ctypes.Structure,), {"_fields_": _fields(members, kinds)})
    function = loaded[name]
    returns = re.search(rf"^(.*?){name}\(const struct", source, flags=re.MULTILINE)
    assert returns is not None
    first_leaf = int(np.flatnonzero(tree.test < 0)[0])
    width = len(tree.payload.value(first_leaf)) if returns[1].endswith(_VECTORS) else 0
    outputs = re.findall(r"^    (const char \*|double )(y\d+); /\*", source, flags=re.MULTILINE)
    kinds_of_outputs = [ctypes.c_char_p if "char" in one else ctypes.c_double for one, _ in outputs]
    fields = {"_fields_": _fields(outputs, kinds_of_outputs)}
    function.restype = {
        "const char *const *": ctypes.POINTER(ctypes.c_char_p),
        f"const struct {name}_outputs *": ctypes.POINTER(
            type("Outputs", (ctypes.Structure,), fields)
        ),
        "const char *": ctypes.c_char_p,
        "long long ": ctypes.c_longlong,
        "int ": ctypes.c_int,
        "double ": ctypes.c_double,
        "const double *": ctypes.POINTER(ctypes.c_double),
    }[returns[1]]
    found = []
    for row in rows:
        values = [_c_value(row[f], kind) for f, kind in zip(asked, kinds, strict=True)]
        result = function(ctypes.byref(row_type(*values)))
        if isinstance(result, bytes):
            result = result.decode("utf-8")
        elif outputs:
            result = [_text(getattr(result[0], output)) for _, output in outputs]
        elif width:
            result = [_text(part) for part in result[:width]]
        elif returns[1] == "int ":
            result = bool(result)
        found.append(result)
    return found


def _text(part: Any) -> Any:
    return part.decode("utf-8") if isinstance(part, bytes) else part


def _used(tree: Tree) -> list[Any]:
    return [tree.tests[k] for k in tree.test.tolist() if k >= 0]


def _fields(members: Any, kinds: Any) -> list[Any]:
    return [(name, kind) for (_, name), kind in zip(members, kinds, strict=True)]


def _c_value(value: Any, kind: Any) -> Any:
    if kind is ctypes.c_char_p:
        return None if value is None else value.encode("utf-8")
    if value is None:
        return float("nan")
    # A column of text that is asked only whether it is missing is a number.
    return 0.0 if isinstance(value, str) else float(value)


@needs_compiler
# Shrinking would compile thousands of files.
@settings(
    max_examples=12,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(st.lists(cases(), min_size=1, max_size=12))
def test_c_predicts_the_same(tmp_path_factory: Any, batch: list[Case]) -> None:
    folder = tmp_path_factory.mktemp("c")
    jobs = [(case.tree, case.rows, f"tree_{i}") for i, case in enumerate(batch)]
    for case, found in zip(batch, run_all(jobs, folder), strict=True):
        assert found == case.tree.predict(case.rows).tolist()


@needs_compiler
def test_c_knows_sets_of_categories_vectors_and_single_leaves(tmp_path: Path) -> None:
    tree = multiway_tree()
    assert run_c(tree, MULTIWAY_ROWS, tmp_path) == tree.predict(MULTIWAY_ROWS).tolist()
    assert run_c(mixed_tree(), MIXED_ROWS, tmp_path) == mixed_tree().predict(MIXED_ROWS).tolist()
    assert run_c(leaf(), [[0, 0]], tmp_path) == ["yes"]
    deep = chain(500, holds=True)
    rows = [[float(x)] for x in (-5, 0, 1, 99, 250, 499, 500, 501)] + [[None]]
    assert run_c(deep, rows, tmp_path) == deep.predict(rows).tolist()
    roads = oracles.Decisions([[1, 0], [0, 1]], names=["*/ coast", "hills"])
    decides = SPOTree(roads, max_depth=1).fit([[0], [1]], [[1, 2], [2, 1]]).tree_
    assert run_c(decides, [[0], [1]], tmp_path) == [[1, 0], [0, 1]]
    numbers = OptimalTreeRegressor(max_depth=2).fit([[0], [1], [2]], [0.1, 1 / 3, -5e-7]).tree_
    assert run_c(numbers, [[0], [1], [2]], tmp_path) == [0.1, 1 / 3, -5e-7]


@needs_compiler
@pytest.mark.parametrize(
    "y",
    [
        [["hi", "é"], ["hi", "?"], ["lo", "?"]],
        [["hi", 0], ["hi", 1], ["lo", -7]],
        [[True, "*/"], [True, "no"], [False, "*/"]],
        [[3, 0], [3, 1], [-2, 1]],
    ],
    ids=str,
)
def test_c_returns_all_outputs(y: list[list[Any]], tmp_path: Path) -> None:
    rows = [[0], [1], [2]]
    outputs = pd.DataFrame(y, columns=["*/ a", "b"])
    tree = OptimalTreeClassifier(max_depth=2).fit(rows, outputs).tree_
    assert run_c(tree, rows, tmp_path) == tree.predict(rows).tolist() == y


@needs_compiler
@pytest.mark.parametrize("missing", [None, True, False])
@pytest.mark.parametrize("rest", [True, False])
def test_c_knows_joined_categories(rest: bool, missing: bool | None, tmp_path: Path) -> None:
    for values, rows in (
        (("a", "b"), [["a"], ["b"], ["c"], [None]]),
        ((1, 2), [[1], [2.0], [3], [None]]),
    ):
        tree = Tree(
            *([Subset(0, "city", values, rest, missing)], [0, -1, -1], [1, -1, -1], [-1, 0, 1]),
            counts=np.ones((3, 2)),
            classes=["no", "yes"],
            feature_names=["city"],
        )
        assert run_c(tree, rows, tmp_path) == tree.predict(rows).tolist()


def test_c_has_no_times() -> None:
    tree = fitted_cases()["times"].model.tree_
    with pytest.raises(TypeError, match="since C has no type for it; train with numbers"):
        tree.to_c()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_times_suit_the_dialect(dialect: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    tests = [TimeThreshold(0, "c0", "2024-03-01"), TimeThreshold(1, "c1", "2024-03-01T12:30")]
    parts: Any = (tests, [0, 1, -1, -1, -1], [1, 3, -1, -1, -1], [-1, -1, 0, 1, 0])
    tree = Tree(*parts, counts=np.ones((5, 2)), classes=["no", "yes"], n_features=2)
    if dialect == "sqlite":
        with pytest.raises(TypeError, match="for sqlite, which has no type"):
            tree.to_sql(dialect=dialect)
        return
    rows = [["2024-03-01", t] for t in ("2024-03-01 12:30:00", "2024-03-01 12:30:01", None)]
    rows += [["2024-03-02", "2020-01-01"], [None, None]]
    assert sqlglot.parse_one(f"SELECT {tree.to_sql(dialect=dialect)}", read=dialect)
    found = in_duckdb(tree, rows, ["DATE", "TIMESTAMP"], dialect)
    assert found == ["yes", "no", "no", "no", "no"]


@needs_compiler
@pytest.mark.parametrize(
    "name", ["row", "int", "x0", "a b", "*/ int y; /*", "\\", "??/", "é", "\n", "NULL", "a" * 99]
)
def test_c_survives_any_name(name: str, tmp_path: Path) -> None:
    assert run_c(stump(name=name), [[0.0], [1.0], [None]], tmp_path) == ["no", "yes", "yes"]
    assert run_c(stump((name, "yes")), [[0.0]], tmp_path) == [name]
    assert run_c(stump(category=name), [[name], ["?"]], tmp_path) == ["no", "yes"]


@needs_compiler
def test_c_returns_whole_numbers_of_64_bits(tmp_path: Path) -> None:
    for classes in ([-(2**63) + 1, 2**63 - 1], [False, True], [0.5, np.inf], [-1, 0]):
        tree = stump(np.array(classes))
        assert run_c(tree, [[0.0], [1.0]], tmp_path) == classes


def test_c_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(ValueError, match="identifier of C, got 'int'"):
        stump().to_c("int")
    with pytest.raises(TypeError, match="cannot be written as C source"):
        stump(np.array([(1, 2), (3,)], dtype=object)).to_c()
    with pytest.raises(ValueError, match="zero character"):
        stump(("a\0b", "c")).to_c()


# ---- dialects of SQL -------------------------------------------------------------------------


def in_duckdb(tree: Tree, rows: list[list[Any]], kinds: list[str], dialect: str) -> list[Any]:
    """Translate from a dialect to that of DuckDB, and let it predict."""
    duckdb, sqlglot = pytest.importorskip("duckdb"), pytest.importorskip("sqlglot")
    names = [f"c{i}" for i in range(tree.n_features)]
    query = f"SELECT {tree.to_sql(names, dialect=dialect, alias='p')} FROM data ORDER BY place"
    translated = sqlglot.transpile(query, read=dialect, write="duckdb")[0]
    connection = duckdb.connect()
    columns = [f"{n} {k}" for n, k in zip(names, kinds, strict=True)]
    connection.execute(f"CREATE TABLE data (place INTEGER, {', '.join(columns)})")
    marks = ", ".join("?" * (len(names) + 1))
    connection.executemany(
        f"INSERT INTO data VALUES ({marks})", [[i, *row] for i, row in enumerate(rows)]
    )
    return [value for (value,) in connection.execute(translated).fetchall()]


_TYPES = {"number": "DOUBLE", "flag": "INTEGER", "boolean": "BOOLEAN", "code": "INTEGER"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_predicts_the_same(dialect: str) -> None:
    tree = multiway_tree()
    found = in_duckdb(tree, MULTIWAY_ROWS, ["VARCHAR", "DOUBLE"], dialect)
    assert found == tree.predict(MULTIWAY_ROWS).tolist()
    kinds = ["DOUBLE", "VARCHAR", "DOUBLE", "BOOLEAN"]
    if dialect in ("oracle", "tsql"):
        kinds[3] = "INTEGER"  # they have no truth values
    assert in_duckdb(mixed_tree(), MIXED_ROWS, kinds, dialect) == (
        mixed_tree().predict(MIXED_ROWS).tolist()
    )


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(cases(), st.sampled_from([d for d in DIALECTS if d not in ("oracle", "tsql")]))
def test_dialects_quote_any_text(case: Case, dialect: str) -> None:
    kinds = [_TYPES.get(kind, "VARCHAR") for kind in case.kinds]
    expected = case.tree.predict(case.rows).tolist()
    assert in_duckdb(case.tree, case.rows, kinds, dialect) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_survive_every_dialect(dialect: str) -> None:
    exp, sqlglot = pytest.importorskip("sqlglot.expressions"), pytest.importorskip("sqlglot")
    hostile = 'a"`]["; DROP TABLE x; -- \\'
    if dialect == "oracle":
        with pytest.raises(ValueError, match="Oracle allows no quotation mark"):
            stump(name=hostile).to_sql(dialect=dialect)
        return
    sql = stump(name=hostile).to_sql(dialect=dialect)
    statements = sqlglot.parse(f"SELECT {sql} FROM t", read=dialect)
    assert len(statements) == 1
    assert [column.name for column in statements[0].find_all(exp.Column)] == [hostile]


def test_truth_values_suit_the_dialect() -> None:
    tree = stump(np.array([False, True]))
    assert "THEN (1 = 0)" in tree.to_sql(dialect="postgres")
    assert "THEN CAST(0 AS BIT)" in tree.to_sql(dialect="tsql")
    assert "THEN 0" in tree.to_sql(dialect="oracle")
    assert '"smoker" = 1' in mixed_tree().to_sql(dialect="oracle")
    assert "N'é'" in stump(("é", "a")).to_sql(dialect="tsql")


def test_dialects_say_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"dialect must be one of bigquery.*got 'cobol'"):
        stump().to_sql(dialect="cobol")
    with pytest.raises(ValueError, match="says how to quote"):
        stump().to_sql(dialect="mysql", quote="`")
    with pytest.raises(ValueError, match="empty text for NULL"):
        stump(category="").to_sql(dialect="oracle")
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(ImportError, match=r"certree\[sql\]"):
        stump().to_sql(dialect="mysql")
    assert stump().to_sql()


# ---- ONNX and SHAP, by way of scikit-learn ---------------------------------------------------


def run_onnx(model: Any, X: Any) -> Any:
    skl2onnx, onnx = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    numbers = np.asarray(X, dtype=np.float32)
    converted = skl2onnx.to_onnx(model, numbers[:1])
    session = onnx.InferenceSession(converted.SerializeToString())
    return session.run(None, {session.get_inputs()[0].name: numbers})[0]


@pytest.mark.parametrize("name", ["path", "all thresholds", "metric", "named columns"])
def test_onnx_predicts_the_same_over_encoded_columns(name: str) -> None:
    case = fitted_cases()[name]
    tree, columns = case.model.tree_, case.model.encoder_.transform(case.X)
    found = run_onnx(tree.to_sklearn(encoded=True), columns)
    assert found.tolist() == case.model.predict(case.X).tolist()


def test_onnx_predicts_the_same_over_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    classes = OptimalTreeClassifier(max_depth=3).fit(X, X[:, 0] * X[:, 1] > 0)
    assert run_onnx(classes.tree_.to_sklearn(X), X).tolist() == classes.predict(X).tolist()
    numbers = OptimalTreeRegressor(max_depth=2).fit(X, X[:, 0] * 3)
    found = run_onnx(numbers.tree_.to_sklearn(X), X)
    assert np.allclose(found[:, 0], numbers.predict(X))


def test_shap_explains_the_same_tree() -> None:
    shap = pytest.importorskip("shap")
    X = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32)
    model = OptimalTreeClassifier(max_depth=2).fit(X, X[:, 0] > 0)
    explainer = shap.TreeExplainer(model.tree_.to_sklearn(X))
    values = np.asarray(explainer.shap_values(X))
    total = values.sum(axis=1) + explainer.expected_value
    assert np.allclose(total, model.predict_proba(X))


# ---- Mermaid and frames ----------------------------------------------------------------------


def _unescaped(text: str) -> str:
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text)


@given(cases())
def test_mermaid_has_the_nodes_and_edges_of_the_tree(case: Case) -> None:
    tree = case.tree
    lines = tree.to_mermaid().splitlines()
    assert lines[0] == "flowchart TD"
    edges = [re.fullmatch(r'  n(\d+) -->\|"(.*)"\| n(\d+)', line) for line in lines]
    found = {(int(e[1]), int(e[3])): _unescaped(e[2]) for e in edges if e is not None}
    expected = {(v, c): answer(tree, c) for v in range(tree.n_nodes) for c in tree.children(v)}
    assert found.keys() == expected.keys()
    assert {k: v for k, v in found.items() if len(v) < 48} == {
        k: v for k, v in expected.items() if len(v) < 48
    }
    nodes = [re.fullmatch(r'  n(\d+)(\(\[|\[)"([^"]*)"(\]\)|\])', line) for line in lines]
    shapes = {int(n[1]): n[2] == "([" for n in nodes if n is not None}
    assert shapes == {v: bool(tree.test[v] < 0) for v in range(tree.n_nodes)}


def test_mermaid_reads_well() -> None:
    assert stump().to_mermaid().splitlines()[:4] == [
        "flowchart TD",
        '  n0["age #60;= 0.5"]',
        '  n0 -->|"yes"| n1',
        '  n0 -->|"no"| n2',
    ]


def test_a_frame_has_one_rule_per_leaf() -> None:
    tree = mixed_tree()
    frame = tree.to_frame()
    assert list(frame.columns) == ["leaf", "depth", "rule", "prediction", "rows", "share"]
    assert [f"{r}: {p}" for r, p in zip(frame["rule"], frame["prediction"], strict=True)] == [
        str(rule) for rule in tree.rules()
    ]
    by_leaf = frame.set_index("leaf")["prediction"]
    assert by_leaf[tree.apply(MIXED_ROWS)].tolist() == tree.predict(MIXED_ROWS).tolist()
    assert frame["rows"].tolist() == tree.weights[frame["leaf"]].tolist()
    numbers = OptimalTreeRegressor(max_depth=1).fit([[0], [1]], [1.5, 2.5]).tree_.to_frame()
    assert "share" not in numbers
    assert numbers["prediction"].dtype == np.float64
    assert leaf().to_frame()["rule"].tolist() == ["always"]
