"""Columns of text that name single rows have no tests, unless asked for."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certree
from certree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    pareto_front,
    regularization_path,
    solve,
    verify,
)
from certree.encoding import NamedArray, TableEncoder
from certree.exceptions import CertificateError
from certree.tasks import Misclassification

LEFT_OUT = "'patient' has a different value in nearly every row.*identifiers='keep' keeps it"


def patients(n_rows: int = 40, **columns: Any) -> NamedArray:
    """Return a table of texts and numbers with a column that names the rows."""
    rng = np.random.default_rng(n_rows)
    table = {
        "patient": [f"p{i:04}" for i in range(n_rows)],
        "city": rng.choice(["Bonn", "Jena", "Ulm"], n_rows).tolist(),
        "age": rng.integers(20, 90, n_rows).tolist(),
        **columns,
    }
    array = np.empty((n_rows, len(table)), dtype=object)
    for place, column in enumerate(table.values()):
        array[:, place] = column
    return NamedArray(array, list(table))


def target(X: Any, seed: int = 0) -> Any:
    """Return two classes that depend on the age and on chance."""
    rng = np.random.default_rng(seed)
    return (X[:, 2].astype(float) + rng.normal(0, 20, len(X)) > 50).astype(int)


def kept(values: list[Any], **parameters: Any) -> bool:
    """Return whether the categories of a column have tests."""
    X = np.array(values, dtype=object)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = TableEncoder(**parameters).fit(X)
    tests = [test for test in encoder.tests_ if test.kind != "missing"]
    assert bool(tests) == (encoder.identifiers_ == ())
    return bool(tests)


NAMES = [f"id{i}" for i in range(100)]


@pytest.mark.parametrize(
    "values, is_kept",
    [
        (NAMES, False),
        (NAMES[:20], False),
        (NAMES[:19], True),  # a small table: each category may have one row
        (["a", "b", "c", "d"], True),
        ([*NAMES[:19], None], True),  # 19 rows have a value
        ([*NAMES[:20], None, None], False),
        ([*NAMES[:91], *["x"] * 8], False),
        ([*NAMES[:91], *["x"] * 9], False),
        ([*NAMES[:90], *["x"] * 10], True),  # ten rows are a group; nine tenths are not exceeded
        ([*NAMES, *[f"more{i}" for i in range(100)], *["x"] * 10], True),  # ten rows are a group
        ([*NAMES[:90], *NAMES[:10]], True),  # nine tenths are different, not more
        ([*NAMES[:91], *NAMES[:9]], False),
        (list(range(100)), True),  # numbers
        ([i / 7 for i in range(100)], True),
    ],
)
def test_columns_that_name_rows_have_no_tests(values: list[Any], is_kept: bool) -> None:
    assert kept(values) is is_kept


@pytest.mark.parametrize(
    "settings",
    [
        {"identifiers": "keep"},
        {"categorical_features": [0]},
        {"categorical_features": [True]},
        {"categorical_features": "all"},
    ],
)
def test_who_asks_for_the_column_gets_it(settings: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kept(NAMES, **settings)


def test_joining_rare_categories_keeps_the_others() -> None:
    values = [*NAMES[:95], *["x"] * 5]
    assert not kept(values)
    assert kept(values, min_category_rows=5)


def test_missing_values_of_an_identifier_may_be_asked_for() -> None:
    X = np.array([*NAMES[:30], None, None], dtype=object)[:, None]
    for splits in ("binary", "multiway", "both"):
        y = [0] * 30 + [1] * 2
        model = OptimalTreeClassifier(max_depth=1, splits=splits)
        with pytest.warns(UserWarning, match="left out"):
            model.fit(X, y)
        assert [str(test) for test in model.encoder_.candidates_] == ["x0 is missing"]
        assert model.certificate_.cost == 0
        verify(model, X, y)


def test_categorical_types_are_looked_at_and_ordered_ones_are_not() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"id": pd.Categorical(NAMES), "level": pd.Categorical(NAMES, ordered=True)}
    )
    with pytest.warns(UserWarning, match="'id' has a different value"):
        encoder = TableEncoder().fit(frame)
    assert encoder.identifiers_ == ("id",)
    assert {test.name for test in encoder.tests_} == {"level"}


def test_rows_without_weight_do_not_count() -> None:
    X = np.array([*NAMES[:30], *["x"] * 30], dtype=object)[:, None]
    weights = np.repeat([1, 0], 30)
    with pytest.warns(UserWarning, match="left out"):
        encoder = TableEncoder().fit(X, sample_weight=weights)
    assert encoder.identifiers_ == ("x0",)
    assert TableEncoder().fit(X).identifiers_ == ()


def test_numbers_as_text_are_said_to_be_that() -> None:
    X = np.array([f"{i}.5" for i in range(30)], dtype=object)[:, None]
    with pytest.warns(UserWarning, match="If its texts are numbers, convert it to num") as caught:
        TableEncoder().fit(X)
    assert len(caught) == 1


@pytest.mark.parametrize("value", ["dropped", ""])
def test_other_words_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="identifiers must be one of drop, keep, got"):
        TableEncoder(identifiers=value).fit([["a"], ["b"]])
    with pytest.raises(ValueError, match='the supported values are "drop", "keep"'):
        OptimalTreeClassifier(identifiers=value).fit([["a"], ["b"]], [0, 1])


# ---- models --------------------------------------------------------------------------------------


def test_a_fit_names_the_column_and_predicts_with_it() -> None:
    X = patients()
    y = target(X)
    model = OptimalTreeClassifier(max_depth=2)
    with pytest.warns(UserWarning, match=LEFT_OUT) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.certificate_.identifiers == ("patient",)
    assert "not asked    patient, like an identifier" in str(model.certificate_)
    assert {test.name for test in model.encoder_.tests_} == {"city", "age"}
    assert len(model.predict(X)) == len(X)
    # The same tree, cost and number of tests as without the column.
    without = NamedArray(np.asarray(X)[:, 1:], ["city", "age"])
    plain = OptimalTreeClassifier(max_depth=2).fit(without, y)
    assert plain.certificate_.cost == model.certificate_.cost
    assert plain.certificate_.n_tests == model.certificate_.n_tests
    assert plain.to_text() == model.to_text()


def test_keep_searches_the_column() -> None:
    X = patients()
    y = target(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OptimalTreeClassifier(max_depth=1, identifiers="keep").fit(X, y)
    assert model.certificate_.identifiers == ()
    assert "patient = p0000" in [str(test) for test in model.encoder_.tests_]
    verify(model, X, y)


@pytest.mark.filterwarnings("ignore:The column 'patient'")
def test_verify_derives_the_same_columns() -> None:
    X = patients()
    y = target(X)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    verify(model, X, y)
    certificate = model.certificate_
    for named in ((), ("age",), ("patient", "city")):
        model.certificate_ = replace(certificate, identifiers=named)
        with pytest.raises(CertificateError, match="columns like an identifier"):
            verify(model, X, y)
    model.certificate_ = certificate
    # Candidates and the parameter must agree.
    model.identifiers = "keep"
    with pytest.raises(CertificateError, match="candidates lack 40 tests of column 'patient'"):
        verify(model, X, y)


@pytest.mark.filterwarnings("ignore:The column 'patient'")
def test_every_way_to_fit_takes_the_parameter() -> None:
    X = patients()
    y = target(X)
    for identifiers, n_tests in (("drop", 0), ("keep", 40)):
        asked: dict[str, Any] = {"max_depth": 1, "identifiers": identifiers}
        regressor = OptimalTreeRegressor(**asked).fit(X, X[:, 2].astype(float))
        assert _n_tests_of_patients(regressor.encoder_) == n_tests
        verify(regressor, X, X[:, 2].astype(float))
        solution = solve(Misclassification(), X, y, **asked)
        assert _n_tests_of_patients(solution.encoder) == n_tests
        path = regularization_path(X, y, **asked)
        front = pareto_front(X, y, **asked)
        asks = [test.name for entry in path for test in entry.tree.tests]
        asks += [test.name for point in front for test in point.tree_.tests]
        assert identifiers == "keep" or "patient" not in asks


def _n_tests_of_patients(encoder: Any) -> int:
    return sum(test.name == "patient" for test in encoder.tests_)


def test_cross_validation_warns_once() -> None:
    X = patients(60)
    y = target(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = OptimalTreeClassifierCV(depths=(1, 2), cv=3).fit(X, y)
    assert sum("like an identifier" in str(one.message) for one in caught) == 1
    assert model.certificate_.identifiers == ("patient",)
    assert model.identifiers == "drop"


@pytest.mark.filterwarnings("ignore:The column 'patient'")
@pytest.mark.parametrize("identifiers", ["drop", "keep"])
def test_saved_models_keep_it(tmp_path: Path, identifiers: Any) -> None:
    X = patients()
    y = target(X)
    model = OptimalTreeClassifier(max_depth=1, identifiers=identifiers).fit(X, y)
    model.save(tmp_path / "model.json")
    again = certree.load(tmp_path / "model.json")
    assert again.identifiers == identifiers
    assert again.encoder_.identifiers_ == model.encoder_.identifiers_
    assert again.certificate_ == model.certificate_
    verify(again, X, y)


@pytest.mark.filterwarnings("ignore:The column 'patient'")
def test_a_budget_does_not_count_what_is_left_out() -> None:
    rng = np.random.default_rng(0)
    X = patients(3000, weight=rng.normal(70, 9, 3000).tolist())
    y = target(X)
    model = OptimalTreeClassifier(max_depth=1, memory_limit=3_000_000).fit(X, y)
    assert model.certificate_.identifiers == ("patient",)
    verify(model, X, y)


# ---- reduced tables ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [60, 1500])
def test_reduced_tables_leave_out_the_same_columns(tmp_path: Path, n_rows: int) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("ibis")
    X = patients(n_rows)
    frame = pd.DataFrame(np.asarray(X), columns=X.columns).astype({"age": float})
    frame.loc[3, "patient"] = None
    frame["y"] = target(X)
    with pytest.warns(UserWarning, match=LEFT_OUT):
        reduced = certree.reduce(frame, target="y")
    assert reduced.n_groups < n_rows
    model = OptimalTreeClassifier(max_depth=2).fit_reduced(reduced)
    with pytest.warns(UserWarning, match=LEFT_OUT):
        in_memory = OptimalTreeClassifier(max_depth=2).fit(frame.drop(columns="y"), frame["y"])
    assert [str(test) for test in model.encoder_.tests_] == [
        str(test) for test in in_memory.encoder_.tests_
    ]
    assert model.certificate_.identifiers == ("patient",) == in_memory.certificate_.identifiers
    assert model.certificate_.cost == in_memory.certificate_.cost
    verify(model, reduced)
    verify(model, frame.drop(columns="y"), frame["y"])
    reduced.to_parquet(tmp_path / "reduced.parquet")
    again = certree.Reduced.from_parquet(tmp_path / "reduced.parquet")
    assert again.encoder.identifiers_ == ("patient",)
    model.certificate_ = replace(model.certificate_, identifiers=())
    with pytest.raises(CertificateError, match="columns like an identifier"):
        verify(model, again)


def test_reduced_tables_hold_no_identifiers(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("ibis")
    X = patients(60)
    frame = pd.DataFrame(np.asarray(X), columns=X.columns).astype({"age": float})
    frame["y"] = target(X)
    with pytest.warns(UserWarning, match=LEFT_OUT):
        reduced = certree.reduce(frame, target="y")
    reduced.to_parquet(tmp_path / "reduced.parquet")
    assert b"p0007" not in (tmp_path / "reduced.parquet").read_bytes()
    kept_ones = certree.reduce(frame, target="y", identifiers="keep")
    assert kept_ones.n_groups == 60
    with pytest.raises(ValueError, match="identifiers must be one of drop, keep, got 'no'"):
        certree.reduce(frame, target="y", identifiers="no")


# ---- the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["p{:04}", "{:04}"], ids=["texts", "codes with zeros"])
def test_the_command_line_leaves_them_out_unless_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, names: str
) -> None:
    pytest.importorskip("typer")
    from certree.cli._run import run

    monkeypatch.chdir(tmp_path)
    lines = [f"{names.format(i)},{i % 7},{'yes' if i % 7 > 3 else 'no'}" for i in range(40)]
    Path("table.csv").write_text("\n".join(["patient,age,y", *lines]) + "\n", encoding="utf-8")
    assert run(("fit", "table.csv", "--target", "y", "-d", "1")) == 0
    assert "like an identifier" in capsys.readouterr().err
    assert certree.load("model.json").certificate_.identifiers == ("patient",)
    assert run(("fit", "table.csv", "--target", "y", "-d", "1", "--identifiers", "keep")) == 0
    assert "like an identifier" not in capsys.readouterr().err
    assert certree.load("model.json").certificate_.n_tests == 6 + 40
