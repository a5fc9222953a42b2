"""Conditions: what each outcome of a test says, and that others read nothing else of a test."""

from __future__ import annotations

import ast
import ctypes
import json
import math
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.unit.test_tree_code import compiled, queried

import certree
from certree.encoding import (
    Category,
    Condition,
    Flag,
    Level,
    Missing,
    Multiway,
    Subset,
    Test,
    Threshold,
    TimeThreshold,
    _tests,
    kinds_of_tests,
    read_table,
)
from certree.report._distributions import distributions
from certree.report._row_form import row_form
from certree.tree import Tree
from certree.tree._explain import Explainer
from certree.verify._candidates import plain_test
from certree.verify._conditions import check_conditions

NUMBERS = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 99.0, np.nan])
TEXTS = np.array(["I", "II", "III", "red", "", None], dtype=object)
TIMES = np.array(["2024-02-29", "2024-03-01", "2024-03-02", "NaT"], dtype="M8[us]")


def _kinds() -> Iterator[tuple[Test, Any]]:
    for side in (None, False, True):
        yield Threshold(0, "x", 2.0, side), NUMBERS
        yield Flag(0, "x", False, side), NUMBERS
        yield Flag(0, "x", True, side), np.array([True, False])
        yield Level(0, "x", ("I", "II", "III"), "II", side), TEXTS
        yield Level(0, "x", (3, 1, 2), 1, side), NUMBERS
        for rest in (False, True):
            yield Subset(0, "x", ("I", "red"), rest, side), TEXTS
            yield Subset(0, "x", (3,), rest, side), NUMBERS
        yield TimeThreshold(0, "x", "2024-03-01", side), TIMES
    for told in (None, False):
        yield Category(0, "x", "red", told), TEXTS
        yield Category(0, "x", 2, told), NUMBERS
    yield Missing(0, "x"), TEXTS
    yield Missing(0, "x"), NUMBERS
    for default in range(3):
        yield Multiway(0, "x", (("I", None), "red", ("II", "III")), default), TEXTS
        yield Multiway(0, "x", (1, (2, 3), None), default), NUMBERS
        yield Multiway(0, "x", (1, (2, 3), 4), default), NUMBERS


@pytest.mark.parametrize(("test", "column"), list(_kinds()))
def test_conditions_say_the_outcomes(test: Test, column: Any) -> None:
    """Each value meets the condition of its outcome, and no other."""
    met = np.array([condition.holds(column) for condition in test.conditions])
    assert met.sum(axis=0).tolist() == [1] * len(column)
    assert met.argmax(axis=0).tolist() == test.outcome(column).tolist()
    assert [c.missing for c in test.conditions].index(True) == test.missing_outcome
    assert sum(c.missing for c in test.conditions) == 1
    assert len({c.kind for c in test.conditions}) == 1
    assert {(c.feature, c.name) for c in test.conditions} == {(0, "x")}


def test_every_kind_of_test_is_here() -> None:
    assert {type(test) for test, _ in _kinds()} == set(kinds_of_tests())


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(0, "x", "number", low=1.0, high=2.5), "1 < x <= 2.5"),
        (Condition(0, "x", "number", low=1.0, high=2.5, excluded=True), "not 1 < x <= 2.5"),
        (Condition(0, "x", "number", high=2.5, excluded=True), "x > 2.5"),
        (Condition(0, "x", "number", low=2.5, excluded=True), "x <= 2.5"),
        (Condition(0, "x", "level", low="I", high="II", known=("I", "II")), "I < x <= II"),
        (Condition(0, "x", "set", values=(1, 2), excluded=True), "x not in {1, 2}"),
        (Condition(0, "x", "missing", missing=True), "x is missing"),
        (
            Condition(0, "x", "time", low="2024-03-01", high="2024-04-01"),
            "2024-03-01 < x <= 2024-04-01",
        ),
    ],
)
def test_words_follow_from_the_fields(condition: Condition, words: str) -> None:
    assert condition.words() == condition.describe() == words


def test_ranges_can_be_narrowed() -> None:
    levels = ("I", "II", "III", "IV")
    wide = Condition(0, "x", "level", low="I", known=levels, missing=True)
    narrow = wide.narrowed(Condition(0, "x", "level", high="III", known=levels))
    assert (narrow.listed, narrow.missing) == ((("II", "III"), False), False)
    assert narrow.narrowed(Condition(0, "x", "level", high="I", known=levels)).is_empty
    # What is above a level may be no level at all.
    assert wide.listed == (("I",), True)


# ---- kinds of tests that no other file knows -----------------------------------------------------


@dataclass(frozen=True)
class Between(Test):
    """``low < x <= high``; missing values are outside."""

    kind: ClassVar[str] = "between"
    feature: int
    name: str
    low: float
    high: float

    def condition(self, outcome: int) -> Condition:
        """Return that the value is inside, or outside."""
        return Condition(
            self.feature,
            self.name,
            "number",
            low=self.low,
            high=self.high,
            excluded=outcome == 1,
            missing=outcome == 1,
            tells_missing=True,
        )


@dataclass(frozen=True)
class Bands(Test):
    """``x <= low``, ``low < x <= high`` or missing, and ``x > high``."""

    kind: ClassVar[str] = "bands"
    feature: int
    name: str
    low: float
    high: float

    @property
    def n_outcomes(self) -> int:
        """Number of outcomes."""
        return 3

    def condition(self, outcome: int) -> Condition:
        """Return that the value is in one of three ranges."""
        ends = ((None, self.low), (self.low, self.high), (self.high, None))[outcome]
        return Condition(
            *(self.feature, self.name, "number", *ends), missing=outcome == 1, tells_missing=True
        )


@dataclass(frozen=True)
class Ending(Test):
    """Whether a text is one of some, and what it is of these."""

    kind: ClassVar[str] = "ending"
    feature: int
    name: str
    values: tuple[str, ...]

    def condition(self, outcome: int) -> Condition:
        """Return that the value is listed, or that it is not."""
        said = f"{self.name} is {'good' if outcome == 0 else 'bad'}"
        return Condition(
            *(self.feature, self.name, "set"),
            values=self.values,
            excluded=outcome == 1,
            missing=outcome == 0,
            said=said,
        )


NEW_KINDS = (Between, Bands, Ending)
ROWS: list[list[Any]] = [
    [age, stay, word]
    for age in (10.0, 20.0, 20.5, 30.0, 31.0, None)
    for stay in (0.0, 1.0, 1.5, 5.0, 6.0, None)
    for word in ("a", "b", "c", None)
]


def new_tree() -> Tree:
    tests = [
        Between(0, "age", 20.0, 30.0),
        Bands(1, "stay", 1.0, 5.0),
        Ending(2, "word", ("a", "b")),
    ]
    #        0    1   2   3   4   5   6   7
    test = [0, 1, 2, -1, -1, -1, -1, -1]
    first = [1, 3, 6, -1, -1, -1, -1, -1]
    label = [-1, -1, -1, 0, 1, 2, 3, 4]
    counts = np.zeros((8, 5), dtype=np.int64)
    for node in reversed(range(8)):
        if test[node] < 0:
            counts[node, label[node]] = 3
        else:
            size = tests[test[node]].n_outcomes
            counts[node] = counts[first[node] : first[node] + size].sum(axis=0)
    classes = np.array(["short", "medium", "long", "fine", "poor"])
    names = ["age", "stay", "word"]
    return Tree.from_arrays(
        tests, test, first, label, counts=counts, classes=classes, feature_names=names
    )


def expected(row: list[Any]) -> str:
    """Return what the tree means."""
    age, stay, word = row
    if age is not None and 20 < age <= 30:
        if stay is None or 1 < stay <= 5:
            return "medium"
        return "short" if stay <= 1 else "long"
    return "fine" if word in ("a", "b", None) else "poor"


EXPECTED = [expected(row) for row in ROWS]


def test_trees_predict_with_new_kinds() -> None:
    assert new_tree().predict(ROWS).tolist() == EXPECTED


def test_python_asks_new_kinds() -> None:
    predict = compiled(new_tree())
    assert [predict(row) for row in ROWS] == EXPECTED
    with_nan = [[math.nan if v is None else v for v in row[:2]] + row[2:] for row in ROWS]
    assert [predict(row) for row in with_nan] == EXPECTED


def test_sql_asks_new_kinds() -> None:
    assert queried(new_tree(), ROWS) == EXPECTED


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_asks_new_kinds(tmp_path: Path) -> None:
    class Row(ctypes.Structure):
        _fields_ = (("age", ctypes.c_double), ("stay", ctypes.c_double), ("word", ctypes.c_char_p))

    predict = _function(new_tree(), tmp_path, ctypes.c_char_p)
    found = []
    for row in ROWS:
        numbers = [math.nan if value is None else value for value in row[:2]]
        word = None if row[2] is None else row[2].encode()
        found.append(predict(ctypes.byref(Row(*numbers, word))).decode())
    assert found == EXPECTED


def _function(tree: Tree, folder: Path, answer: Any) -> Any:
    """Compile a tree, and return its function."""
    source, library = folder / "tree.c", folder / "tree.so"
    source.write_text(tree.to_c(), encoding="utf-8")
    compiler = [shutil.which("cc") or "cc", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*compiler, "-o", str(library), str(source), "-lm"], check=True)
    predict = ctypes.CDLL(str(library)).predict
    predict.restype = answer
    return predict


def test_texts_tell_new_kinds() -> None:
    tree = new_tree()
    text = tree.to_text(decimals=1)
    for words in ("20.0 < age <= 30.0", "not 20.0 < age <= 30.0 or missing", "word is good"):
        assert words in text
    assert "stay > 5.0" in text
    drawings = (tree.to_dot(), tree.to_mermaid(), tree.to_html(), tree.to_html(interactive=False))
    assert all("stay" in drawing and "30" in drawing for drawing in drawings)
    assert [rule.body for rule in tree.rules()] == [
        "20 < age <= 30 and stay <= 1",
        "20 < age <= 30 and (1 < stay <= 5 or missing)",
        "20 < age <= 30 and stay > 5",
        "(not 20 < age <= 30 or missing) and word is good",
        "(not 20 < age <= 30 or missing) and word is bad",
    ]
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = tree.plot()
    assert any("20 < age <= 30" in shown.get_text() for shown in axes.texts)
    plt.close(axes.figure)


def test_explanations_tell_new_kinds() -> None:
    tree = new_tree()
    found = Explainer(tree, tree.tests).explain(read_table([[25.0, 0.5, "a"], [40.0, None, "c"]]))
    assert [step.condition for step in found[0].steps] == ["20 < age <= 30", "stay <= 1"]
    for explanation in found:
        assert {change.name for change in explanation.changes} | {explanation.name} == {
            *("short", "medium", "long", "fine", "poor")
        }
        for change in explanation.changes:
            row = {**explanation.row, **{one.column: one.example for one in change.columns}}
            assert tree.predict([list(row.values())]).tolist() == [change.name]


def test_pages_ask_new_kinds() -> None:
    tree = new_tree()
    form = row_form([tree], read_table(ROWS), 1)
    for asked, test in zip(form["tests"][0], tree.tests, strict=True):
        field = form["fields"][asked["field"]]
        assert field["kind"] == "choice"
        if test.kind != "ending":  # a value of a list answers that one
            assert field["options"] == [condition.describe() for condition in test.conditions]
            assert asked["outcomes"] == list(range(test.n_outcomes))
    told = distributions(tree, read_table(ROWS), None, 1)
    assert [row[0] for row in told["0"]["values"]] == [
        "20 < age <= 30",
        "not 20 < age <= 30 or missing",
    ]
    assert '"options":["20 < age <= 30"' in str(certree.report(tree, ROWS, EXPECTED)).replace(
        "\\u003c", "<"
    )


def test_files_keep_new_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = new_tree()
    with pytest.raises(ValueError, match="Unknown kind of question 'between'"):
        Tree.from_json(tree.to_json())
    for kind in NEW_KINDS:
        monkeypatch.setitem(_tests._KINDS, kind.kind, kind)
    again = Tree.from_json(tree.to_json())
    assert again.tests == tree.tests
    assert json.loads(again.to_json()) == json.loads(tree.to_json())


def test_scikit_learn_cannot_compare_twice() -> None:
    with pytest.raises(ValueError, match="3 outcomes"):
        new_tree().to_sklearn()
    tree = Tree(
        *([Between(0, "age", 20.0, 30.0)], [0, -1, -1], [1, -1, -1], [-1, 0, 1]),
        counts=[[2, 2], [2, 0], [0, 2]],
        classes=["in", "out"],
    )
    with pytest.raises(ValueError, match="compares numbers only"):
        tree.to_sklearn()


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_excludes_a_single_number(tmp_path: Path) -> None:
    """``!x == 3`` would compare the negated number."""
    tree = Tree(
        *([Subset(0, "code", (3,), rest=True)], [0, -1, -1], [1, -1, -1], [-1, 0, 1]),
        counts=[[2, 2], [2, 0], [0, 2]],
        classes=[0, 1],
    )
    predict = _function(tree, tmp_path, ctypes.c_longlong)
    codes = [1.0, 3.0, 0.0, math.nan]
    found = [predict(ctypes.byref(ctypes.c_double(code))) for code in codes]
    assert found == tree.predict([[1], [3], [0], [None]]).tolist() == [0, 1, 0, 1]


# ---- who may know kinds of tests -----------------------------------------------------------------

PACKAGE = Path(certree.__file__).parent


@pytest.mark.parametrize("folder", ["tree", "report", "files", "cli"])
def test_folders_name_no_kind_of_test(folder: str) -> None:
    """A new kind of test is a matter of encoding/ alone: others read conditions."""
    names = {kind.__name__ for kind in kinds_of_tests()} | {"SidedTest"}
    found = set()
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            imported = node.names if isinstance(node, ast.ImportFrom | ast.Import) else []
            used = {alias.name for alias in imported}
            used |= {node.attr} if isinstance(node, ast.Attribute) else set()
            # A tree of scikit-learn becomes thresholds: they are made there, not told apart.
            if used & names and path.name != "_from_sklearn.py":
                found.add(f"{path.name}: {sorted(used & names)}")
            is_check = isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"
            if is_check and names & {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
                found.add(f"{path.name}: {ast.unparse(node)}")
    assert not found


# ---- verify --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("test", "column"), list(_kinds()))
def test_verify_reads_the_same_conditions(test: Test, column: Any) -> None:
    """By its own code, which knows the fields of every kind."""
    fields = plain_test(test, 1)
    assert check_conditions(fields, test) is None
    for changed in _wrong(test):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(test), "conditions", changed)
            assert check_conditions(fields, test) is not None


def _wrong(test: Test) -> Iterator[tuple[Condition, ...]]:
    """Yield conditions that do not say what the test says."""
    first, *others = test.conditions
    yield (*others, first)
    yield (first, first, *others[1:])
    yield (first._replace(name="y"), *others)
    if first.kind != "missing":
        yield (first._replace(excluded=not first.excluded), *others)
        yield (first._replace(missing=not first.missing), *others)
    if first.kind == "number":
        yield (first._replace(high=math.nextafter(first.high, math.inf)), *others)
        yield (first._replace(low=-1e300), *others)
    if first.kind == "set":
        yield (first._replace(values=(*first.values, "new")), *others)
        yield (first._replace(values=()), *others)


def test_verify_refuses_conditions_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = certree.OptimalTreeClassifier(max_depth=1).fit(X, y)
    certree.verify(model, X, y)
    true = Threshold.condition

    def false(self: Threshold, outcome: int) -> Condition:
        said = true(self, outcome)
        return said._replace(high=2.5) if outcome == 0 else said

    monkeypatch.setattr(Threshold, "condition", false)
    with pytest.raises(certree.CertificateError, match="texts and exports show"):
        certree.verify(model, X, y)
