"""The command line, end to end, on files in a temporary folder."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier, datasets, load
from certree.cli import _files, main
from certree.cli._run import run
from certree.encoding import Threshold

Run = Callable[..., tuple[int, str, str]]

X, Y = datasets.load_credit(return_X_y=True)
NAMES = list(X.columns)


def write(path: Path, header: list[str], rows: Any, separator: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def plain(value: Any) -> Any:
    return "" if value is None or value != value else value


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, ``credit.csv``, in which commands run."""
    rows = [[*map(plain, row), label] for row, label in zip(np.asarray(X).tolist(), Y, strict=True)]
    write(tmp_path / "credit.csv", [*NAMES, "outcome"], rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hard(folder: Path) -> str:
    """A table whose best tree takes long to prove."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 20)).round(3)
    labels = np.where(rows[:, 0] * rows[:, 1] + rng.normal(size=2000) > 0, "a", "b")
    lines = [[*row, label] for row, label in zip(rows.tolist(), labels, strict=True)]
    write(folder / "hard.csv", [*(f"x{i}" for i in range(20)), "y"], lines)
    return "hard.csv"


@pytest.fixture
def certree(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command, and return its exit code and what it printed."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def model(certree: Run) -> Run:
    """The same, with a model of depth 2 in ``model.json``."""
    code, _, errors = certree("fit", "credit.csv", "--target", "outcome", "-d", "2")
    assert (code, errors) == (0, "")
    return certree


# ---- learning ----------------------------------------------------------------------------------


def test_fit_writes_the_model_that_python_would_have_fitted(model: Run) -> None:
    fitted = OptimalTreeClassifier(max_depth=2).fit(X, Y)
    loaded = load("model.json")
    assert loaded.certificate_.cost == fitted.certificate_.cost
    assert loaded.certificate_.n_tests == fitted.certificate_.n_tests
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))


def test_fit_prints_the_statement_and_the_tree(certree: Run) -> None:
    code, out, _ = certree("fit", "credit.csv", "-t", "outcome", "-d", "1", "-o", "small.json")
    assert code == 0
    assert "proven best  No tree with depth at most 1" in out
    assert "income <= 1335 or missing: default" in out
    assert "model written to small.json" in out


def test_options_reach_the_estimator(certree: Run) -> None:
    options = "--max-splits 2 --objective f1 --pos-label default --min-samples-leaf 20"
    more = "--thresholds 4 --complexity 1/100 --time-limit 5m --jobs 2 --drop age,income"
    code, _, errors = certree("fit", "credit.csv", "-t", "outcome", *options.split(), *more.split())
    assert code == 0, errors
    fitted = load("model.json")
    assert fitted.max_splits == 2
    assert fitted.objective == "f1"
    assert fitted.pos_label == "default"
    assert fitted.min_samples_leaf == 20
    assert fitted.thresholds == 4
    assert fitted.complexity == "1/100"
    assert fitted.time_limit == 300
    assert fitted.n_jobs == 2
    assert "age" not in fitted.feature_names_in_
    assert "income" not in fitted.feature_names_in_


def test_none_lifts_a_limit_and_class_weights_have_names(certree: Run) -> None:
    code, _, errors = certree(
        *("fit", "credit.csv", "-t", "outcome", "-d", "none", "--max-splits", "1"),
        *("--time-limit", "none", "--class-weight", "default=2,repaid=1"),
    )
    assert code == 0, errors
    fitted = load("model.json")
    assert fitted.max_depth is None
    assert fitted.time_limit is None
    assert fitted.class_weight == {"default": 2.0, "repaid": 1.0}


def test_a_column_of_weights_counts_rows(certree: Run, folder: Path) -> None:
    write(folder / "w.csv", ["a", "n", "y"], [[0, 3, "x"], [0, 1, "z"], [1, 1, "x"], [1, 2, "z"]])
    assert certree("fit", "w.csv", "-t", "y", "--weights", "n")[0] == 0
    assert load("model.json").certificate_.total_weight == 7
    assert load("model.json").feature_names_in_.tolist() == ["a"]


@pytest.mark.parametrize(
    ("arguments", "estimator"),
    [
        (["-t", "outcome"], "OptimalTreeClassifier"),
        (["-t", "amount"], "OptimalTreeRegressor"),
        (["-t", "duration"], "OptimalTreeClassifier"),
        (["-t", "duration", "--task", "ordinal"], "Ordinal"),
        (["-t", "outcome", "--cv", "3"], "OptimalTreeClassifierCV"),
        (["-t", "outcome", "--cv", "3", "--max-splits", "2"], "OptimalTreeClassifierCV"),
        (["-t", "amount", "--cv", "3"], "OptimalTreeRegressorCV"),
        (["-t", "outcome", "--sensitive", "housing"], "FairTreeClassifier"),
        (["-t", "duration", "--task", "ordinal", "--cv", "3"], "TreeCV"),
        (["-t", "outcome", "--sensitive", "housing", "--cv", "2", "-d", "1"], "TreeCV"),
    ],
)
def test_every_kind_of_tree_is_fitted_used_and_verified(
    certree: Run, arguments: list[str], estimator: str
) -> None:
    settings = ["-d", "2", "--thresholds", "3"]
    code, _, errors = certree("fit", "credit.csv", *arguments, *settings)
    assert code == 0, errors
    assert type(load("model.json")).__name__.startswith(estimator)
    assert certree("verify", "model.json", "credit.csv")[0] == 0
    code, out, _ = certree("predict", "model.json", "credit.csv")
    assert code == 0
    assert len(out.splitlines()) == 601
    assert certree("explain", "model.json", "credit.csv", "--row", "3")[0] == 0
    assert certree("report", "model.json", "credit.csv", "--test", "credit.csv")[0] == 0
    page = Path("report.html").read_text(encoding="utf-8")
    asks_numbers = any(isinstance(test, Threshold) for test in load("model.json").tree_.tests)
    assert ("most rows: " in page) == asks_numbers
    code, out, _ = certree("info", "model.json")
    assert code == 0
    assert estimator in out


@pytest.mark.parametrize("place", [0, 2, 599])
def test_rows_are_counted_from_zero_as_in_python(certree: Run, place: int) -> None:
    assert certree("fit", "credit.csv", "-t", "outcome", "-d", "2")[0] == 0
    code, out, _ = certree("explain", "model.json", "credit.csv", "--row", str(place))
    assert code == 0
    assert out.startswith(f"Row {place} of credit.csv, in line {place + 2}\n")
    lines = Path("credit.csv").read_text(encoding="utf-8").splitlines()
    row = dict(zip(lines[0].split(","), lines[1 + place].split(","), strict=True))
    told = json.loads(
        certree("explain", "model.json", "credit.csv", "--row", str(place), "--json")[1]
    )
    assert told["row_number"] == place
    for step in told["steps"]:
        given = row[step["column"]]
        assert (step["value"] is None) == (given == "")
        assert step["value"] in (None, given) or float(step["value"]) == float(given)


def test_a_search_that_is_stopped_ends_with_three(certree: Run, hard: str) -> None:
    code, out, errors = certree("fit", hard, "-t", "y", "-d", "8", "--time-limit", "0.2")
    assert code == 3
    assert "not proven" in out
    assert errors.startswith("certree: ")
    assert "time_limit=0.2" in errors
    assert load("model.json").certificate_.status == "time_limit"


def test_an_accepted_gap_is_a_success(certree: Run) -> None:
    code, _, _ = certree("fit", "credit.csv", "-t", "outcome", "-d", "2", "--gap", "500")
    assert code == 0
    assert load("model.json").gap == 500


def test_path_and_front_list_trees(certree: Run) -> None:
    code, out, _ = certree("path", "credit.csv", "-t", "outcome", "-d", "2", "--plot", "path.png")
    assert code == 0
    assert "best for complexity" in out
    assert Path("path.png").stat().st_size > 1000
    code, out, _ = certree("path", "credit.csv", "-t", "amount", "-d", "1", "--json")
    assert code == 0
    assert [entry["splits"] for entry in json.loads(out)["entries"]] == [0, 1]
    code, out, _ = certree("front", "credit.csv", "-t", "outcome", "-d", "1")
    assert code == 0
    assert "nondominated" in out
    fair = ["--sensitive", "housing", "--thresholds", "2", "--json"]
    code, out, _ = certree("front", "credit.csv", "-t", "outcome", "-d", "1", *fair)
    assert code == 0
    assert json.loads(out)["status"] == "optimal"


def test_compare_says_how_far_cart_is_from_the_best(certree: Run) -> None:
    code, out, _ = certree("compare", "credit.csv", "-t", "outcome", "-d", "2")
    assert code == 0
    assert "CART" in out
    assert "proven best" in out
    assert "The tree costs 146" in out
    code, out, _ = certree(
        *("compare", "credit.csv", "-t", "amount", "-d", "2", "--json", "--test", "credit.csv"),
        *("--thresholds", "all", "--drop", "outcome"),
    )
    assert code == 0
    found = json.loads(out)
    assert found["measure"] == "R2"
    assert found["best"]["training"] >= found["cart"]["training"]
    assert found["best"]["training"] == found["best"]["held-out"]
    assert "above the best" in found["statement"]


def test_compare_takes_categories_and_cut_points_as_they_are_asked_for(certree: Run) -> None:
    rows = [f"{code},{'a' if code in (2, 4) else 'b'}" for code in (1, 2, 3, 4, 5) * 4]
    Path("codes.csv").write_text("code,y\n" + "\n".join(rows), "utf-8")
    asked = ("compare", "codes.csv", "-t", "y", "-d", "2", "--json")
    assert json.loads(certree(*asked)[1])["best"]["training"] < 1
    assert json.loads(certree(*asked, "--categorical", "code")[1])["best"]["training"] == 1
    asked = ("compare", "credit.csv", "-t", "outcome", "-d", "2", "--json", "--thresholds")
    few, many = (json.loads(certree(*asked, n)[1])["best"]["training"] for n in ("1", "all"))
    assert few < many


def test_categories_may_be_joined_and_asked_in_sets(certree: Run) -> None:
    rows = [f"{city},{'a' if city in 'PQ' else 'b'}" for city in "PPQQRRSSTU"]
    Path("cities.csv").write_text("city,y\n" + "\n".join(rows), "utf-8")
    fit = ("fit", "cities.csv", "-t", "y", "-d", "1", "--category-tests", "subsets")
    code, out, _ = certree(*fit, "--min-category-rows", "2")
    assert code == 0
    assert "fewer than 0 errors" in out
    assert "city in {P, Q}" in out
    assert certree("verify", "model.json", "cities.csv")[0] == 0
    code, out, _ = certree("compare", *fit[1:], "--json")
    assert json.loads(out)["best"]["training"] == 1
    code, _, err = certree(*fit[:-1], "sets")
    assert (code, err.count("\n")) == (2, 1)


def test_a_size_that_was_chosen_is_told(certree: Run) -> None:
    code, out, _ = certree("fit", "credit.csv", "-t", "outcome", "-d", "1", "--cv", "3")
    assert code == 0
    assert "Cross-validation with 3 folds chose max_depth=1" in out
    assert "Cross-validation with 3 folds" in certree("info", "model.json")[1]
    code, _, err = certree("fit", "credit.csv", "-t", "outcome", "--cv", "1")
    assert (code, err.count("\n")) == (2, 1)
    assert "--cv needs at least 2 folds, got 1" in err


# ---- using models ------------------------------------------------------------------------------


def test_predict_writes_csv(model: Run) -> None:
    fitted = load("model.json")
    code, out, _ = model("predict", "model.json", "credit.csv", "--proba")
    assert code == 0
    lines = list(csv.DictReader(io.StringIO(out)))
    assert [line["prediction"] for line in lines] == fitted.predict(X).tolist()
    shares = [float(line["share of default"]) for line in lines]
    np.testing.assert_allclose(shares, fitted.predict_proba(X)[:, 0])
    code, out, _ = model("predict", "model.json", "credit.csv", "--keep", "-o", "out.csv")
    assert (code, out) == (0, "")
    first = next(csv.DictReader(Path("out.csv").read_text(encoding="utf-8").splitlines()))
    assert first["age"] == str(X.iloc[0]["age"])
    assert first["prediction"] == fitted.predict(X)[0]


def test_dates_are_dates_and_targets_are_not(certree: Run, folder: Path) -> None:
    rows = [("2024-01-05", 1, "no"), ("2024-02-11", 2, "no"), ("", 3, "no")]
    rows += [("2024-03-09T12:30", 1, "yes"), ("2024-04-02", 2, "yes")]
    write(folder / "visits.csv", ["admitted", "n", "sick"], rows)
    code, out, err = certree("fit", "visits.csv", "--target", "sick", "--output", "visits.json")
    assert "admitted > 2024-03-01: yes" in out
    assert (code, err) == (0, "")
    write(folder / "new.csv", ["admitted", "n"], [("2024-01-20", 9), ("2025-01-01T00:00", 9)])
    assert certree("predict", "visits.json", "new.csv")[1].split() == ["prediction", "no", "yes"]
    assert certree("verify", "visits.json", "visits.csv")[0] == 0
    write(folder / "odd.csv", ["admitted", "n"], [("soon", 9)])
    code, _, err = certree("predict", "visits.json", "odd.csv")
    assert code == 2
    assert "'admitted' holds 'soon', which is not a date" in err
    write(folder / "days.csv", ["n", "day"], [(1, "2024-01-01"), (2, "2024-01-02")])
    assert certree("fit", "days.csv", "--target", "day", "--output", "days.json")[0] == 0


def test_a_fit_writes_its_model_and_its_page(certree: Run, folder: Path) -> None:
    write(folder / "small.csv", ["n", "sick"], [(1, "no"), (2, "no"), (3, "yes"), (4, "yes")])
    code, out, err = certree(
        "fit", "small.csv", "-t", "sick", "--out", "small.json", "--report", "small.html"
    )
    assert (code, err) == (0, "")
    assert "report written to small.html" in out
    assert "proven" in Path("small.html").read_text(encoding="utf-8")
    assert certree("verify", "small.json", "small.csv")[0] == 0


def test_columns_have_the_types_of_training(certree: Run, folder: Path) -> None:
    """Codes with zeros are names, also where all codes of a file look like numbers."""
    rows = [["01234", "a"], ["99999", "b"], ["01234", "a"]]
    write(folder / "zip.csv", ["zip", "y"], rows)
    code, _, errors = certree("fit", "zip.csv", "-t", "y")
    assert (code, errors) == (0, "")
    write(folder / "new.csv", ["zip"], [["99999"]])
    assert certree("predict", "model.json", "new.csv")[1] == "prediction\nb\n"


def test_dates_are_ordered_and_shares_of_rows_are_counted(certree: Run, folder: Path) -> None:
    rows = [[f"2024-0{month}-01", "b" if month > 4 else "a"] for month in range(1, 10)]
    write(folder / "dates.csv", ["admitted", "y"], rows)
    arguments = ("-t", "y", "--min-samples-leaf", "0.4")
    code, out, errors = certree("fit", "dates.csv", *arguments)
    assert code == 0, errors
    assert "admitted <= 2024-04-" in out
    assert load("model.json").min_samples_leaf == 0.4
    write(folder / "new.csv", ["admitted"], [["2023-12-31"], ["2031-01-01 08:15"]])
    assert certree("predict", "model.json", "new.csv")[1] == "prediction\na\nb\n"
    assert certree("verify", "model.json", "dates.csv")[0] == 0


@pytest.mark.parametrize(("ending", "text"), [("dot", "digraph"), ("py", "def predict"), ("", "|")])
def test_show_writes_many_forms(model: Run, ending: str, text: str) -> None:
    assert model("show", "model.json", "-o", f"tree.{ending}")[0] == 0
    assert text in Path(f"tree.{ending}").read_text(encoding="utf-8")


def test_show_draws_pictures_and_names_its_forms(model: Run) -> None:
    assert model("show", "model.json", "-o", "tree.png")[0] == 0
    assert Path("tree.png").read_bytes().startswith(b"\x89PNG")
    code, _, errors = model("show", "model.json", "-f", "poem")
    assert code == 2
    assert "there are" in errors
    assert "sql" in errors


def test_one_row_can_be_given_by_values(model: Run) -> None:
    values = [
        part
        for name, value in zip(NAMES, np.asarray(X)[1].tolist(), strict=True)
        for part in ("--value", f"{name}={plain(value)}")
    ]
    code, out, _ = model("predict", "model.json", *values)
    assert (code, out) == (0, f"prediction\n{load('model.json').predict(X)[1]}\n")
    code, out, _ = model("explain", "model.json", *values, "--json")
    assert code == 0
    assert json.loads(out)["steps"]
    code, out, _ = model("explain", "model.json", *values, "-o", "why.html")
    assert (code, out) == (0, "")
    assert "certree-why" in Path("why.html").read_text(encoding="utf-8")


def test_verify_fails_on_another_table(model: Run, folder: Path) -> None:
    lines = (folder / "credit.csv").read_text(encoding="utf-8").splitlines()
    (folder / "other.csv").write_text("\n".join(lines[:-1]), encoding="utf-8")
    code, _, errors = model("verify", "model.json", "other.csv")
    assert code == 1
    assert errors.startswith("certree: the certificate is wrong: ")


def test_a_model_that_python_saved_is_used_as_well(certree: Run) -> None:
    OptimalTreeClassifier(max_depth=2).fit(X, Y).save("python.json")
    assert certree("predict", "python.json", "credit.csv")[0] == 0
    code, _, errors = certree("verify", "python.json", "credit.csv")
    assert code == 2
    assert "--target" in errors
    assert certree("verify", "python.json", "credit.csv", "-t", "outcome")[0] == 0


def test_info_describes_the_installation(certree: Run) -> None:
    code, out, _ = certree("info")
    assert code == 0
    assert "scikit-learn" in out
    assert json.loads(certree("info", "--json")[1])["processors"] >= 1
    code, out, _ = certree("--version")
    assert code == 0
    assert out.startswith("certree 0.")


# ---- tables ------------------------------------------------------------------------------------


def test_parquet_is_read_by_pyarrow(certree: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = X.assign(outcome=Y)
    frame.to_parquet("credit.parquet")
    assert certree("fit", "credit.csv", "-t", "outcome", "-d", "2")[0] == 0
    cost = load("model.json").certificate_.cost
    assert certree("fit", "credit.parquet", "-t", "outcome", "-d", "2")[0] == 0
    assert load("model.json").certificate_.cost == cost
    assert certree("verify", "model.json", "credit.csv")[0] == 0
    assert certree("verify", "model.json", "credit.parquet")[0] == 0
    frame[:0].to_parquet("empty.parquet")
    assert "empty.parquet has no rows" in certree("fit", "empty.parquet", "-t", "outcome")[2]
    Path("text.parquet").write_text("a,b")
    assert "text.parquet is not Parquet: " in certree("fit", "text.parquet", "-t", "b")[2]
    monkeypatch.setattr(_files, "find_spec", lambda name: None)
    code, _, errors = certree("fit", "credit.parquet", "-t", "outcome")
    assert code == 2
    assert "pip install pyarrow" in errors


def test_csv_of_other_countries_and_pipes(
    certree: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "größe;name;y\n1,5;Müller;a\n2,5;?;b\n"
    (folder / "german.csv").write_bytes(text.encode("cp1252"))
    options = ["--decimal", ",", "--encoding", "cp1252", "--missing", "?"]
    assert certree("fit", "german.csv", "-t", "y", *options)[0] == 0
    assert str(load("model.json").tree_.tests[0]) == "größe <= 2"
    (folder / "utf16.csv").write_bytes(text.encode("utf-16"))
    assert certree("fit", "utf16.csv", "-t", "y", "--decimal", ",")[0] == 0
    assert load("model.json").encoder_.n_features_in_ == 2
    stream = io.TextIOWrapper(io.BytesIO((folder / "credit.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert certree("fit", "-", "-t", "outcome", "-d", "1")[0] == 0


BAD = {
    "a,b,y\n1,2,x\n3,4\n": "line 3 has 2 values, but the header has 3 columns",
    "": "is empty",
    "a,b,y\n": "has a header, but no rows",
    "a,a,y\n1,2,3\n": "two columns 'a'",
    "a,,y\n1,2,3\n": "no name for column 2",
    "a,b,y\n1,2,\n3,4,x\n": "line 2: 'y' is missing",
    "a,b,Y\n1,2,x\n": "no column 'y'; did you mean 'Y'?",
    "a,b,c\n1,2,x\n": "no column 'y'; its columns are a, b, c",
    "y\nx\nz\n": "no columns to learn from beside y",
    "a,n\xe4me,y\n1,2,x\n": "is not utf-8 text: byte 0xe4 in line 1",
    'a,y\n"1,x\n': "line 2 has 1 values",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_table_gives_one_line_and_two(certree: Run, folder: Path, text: str) -> None:
    (folder / "bad.csv").write_bytes(text.encode("latin-1"))
    code, out, errors = certree("fit", "bad.csv", "--target", "y")
    assert code == 2
    assert out == ""
    assert errors.startswith("certree: ")
    assert errors.count("\n") == 1
    assert BAD[text] in errors
    assert not Path("model.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit nothing.csv -t outcome", "does not exist"),
        ("fit . -t outcome", "is a folder"),
        ("fit sheet.xlsx -t outcome", "does not exist"),
        ("fit credit.csv", "Name the column to predict with --target"),
        ("fit credit.csv -t outcome --drop ages", "did you mean 'age'"),
        ("fit credit.csv -t outcome --weights housing", "are not numbers"),
        ("fit credit.csv -t outcome --objective fame", "objective='fame' is not supported"),
        ("fit credit.csv -t outcome --pos-label maybe", "there is no class 'maybe'"),
        ("fit credit.csv -t amount --pos-label yes", "--pos-label has no meaning"),
        ("fit credit.csv -t outcome --thresholds some", "thresholds must be"),
        ("fit credit.csv -t outcome --encoding klingon", "--encoding klingon is unknown"),
        ("fit credit.csv -t outcome --task fair", "--sensitive"),
        ("fit credit.csv -t outcome -o nowhere/model.json", "does not exist; create it first"),
        ("path credit.csv -t outcome --plot nowhere/path.png", "does not exist"),
        ("compare credit.csv -t outcome --task ordinal", "use classifier or regressor"),
        ("show nothing.json", "make a model with: certree fit"),
        ("show credit.csv", "is not JSON"),
        ("predict model.json", "either a file with rows or --value"),
        ("predict model.json few.csv", "lacks the columns"),
        ("predict model.json words.csv", "line 2: 'age' holds 'old', which is not a number"),
        ("predict model.json --value age", "is not COLUMN=VALUE"),
        ("predict model.json --value age=3", "--value is missing for income"),
        ("explain model.json credit.csv --row 600", "has rows 0 to 599"),
        ("explain model.json credit.csv --row 1 --wanted gold", "no such class"),
        ("explain model.json missing.csv", "no value was missing in training"),
        ("report model.json few.csv", "no column 'outcome'"),
        ("show newer.json", "format 99"),
        ("show torn.json", "is damaged"),
    ],
)
def test_bad_arguments_give_one_line_and_two(
    model: Run, folder: Path, arguments: str, message: str
) -> None:
    lines = (folder / "credit.csv").read_text(encoding="utf-8").splitlines()
    (folder / "few.csv").write_text("age,income\n3,4\n", encoding="utf-8")
    (folder / "words.csv").write_text(f"{lines[0]}\nold{lines[1][2:]}", encoding="utf-8")
    empty = f"{lines[0]}\n1,1,1,1,1,,rent,car,none,True,x\n"
    (folder / "missing.csv").write_text(empty, encoding="utf-8")
    newer = '{"type": "certree.Model", "format": 99, "version": "9.0"}'
    (folder / "newer.json").write_text(newer, encoding="utf-8")
    saved = json.loads(Path("model.json").read_bytes())
    (folder / "torn.json").write_text(json.dumps({**saved, "table": {"target": 3}}))
    code, out, errors = model(*arguments.split())
    assert code == 2, out + errors
    assert errors.splitlines()[-1].startswith("certree: ")
    assert message in errors
    assert "Traceback" not in errors


def test_unseen_values_are_explained_on_request(model: Run, folder: Path) -> None:
    header = ",".join(NAMES)
    (folder / "missing.csv").write_text(f"{header}\n1,1,1,1,1,,rent,car,none,True\n")
    code, out, _ = model("explain", "model.json", "missing.csv", "--unseen")
    assert code == 0
    assert "open_loans is missing (no value was missing in training" in out


def test_wrong_options_end_with_two(certree: Run) -> None:
    for arguments in (["fit", "credit.csv", "--deep"], ["dance"], ["fit", "a", "-d", "x"], []):
        assert certree(*arguments)[0] == 2


def test_without_typer_a_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("certree.cli.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert 'pip install "certree[cli]"' in capsys.readouterr().err


def test_the_guide_shows_what_the_commands_print(certree: Run, folder: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "guide" / "cli.md"
    block = page.read_text(encoding="utf-8").partition("```console\n")[2].partition("```")[0]
    table = (folder / "credit.csv").read_bytes()
    for name in ("new.csv", "held_out.csv"):
        (folder / name).write_bytes(table)
    for shown in block.split("$ certree ")[1:]:
        command, _, printed = shown.partition("\n")
        code, out, _ = certree(*command.split())
        assert code == 0
        assert out == printed or "report" in command


# ---- processes ---------------------------------------------------------------------------------


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "certree", *arguments]


def test_python_m_certree_is_the_command_line(folder: Path) -> None:
    done = subprocess.run(
        _command("fit", "credit.csv", "-t", "outcome", "-d", "1"), capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert done.stdout.startswith("proven best")


def test_ctrl_c_writes_the_best_tree_so_far(hard: str) -> None:
    pexpect = pytest.importorskip("pexpect")
    shown = {name: x for name, x in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    arguments = ("fit", hard, "-t", "y", "-d", "8")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "certree", *arguments],
        env={**shown, "TERM": "xterm"},
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 120),
    )
    child.expect(r"errors \d+, at least \d+")
    child.sendintr()
    child.expect("model written to model.json")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 3
    assert load("model.json").certificate_.status == "interrupted"
