"""The types of columns on the command line: decimal commas, dates, and types that models keep."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier, load
from certree.cli import _files
from certree.cli._run import run
from certree.cli._table_layout import Layout
from certree.cli._tables import Columns

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def certree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def write(name: str, *columns: list[str], separator: str = ";") -> None:
    rows = (separator.join(row) for row in zip(*columns, strict=True))
    Path(name).write_text("\n".join(rows) + "\n", encoding="utf-8")


def asked() -> str:
    """Return the first test of the model."""
    return str(load("model.json").tree_.tests[0])


# ---- the decimal sign --------------------------------------------------------------------------

Y = ["y", "a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("cells", "test"),
    [
        (["1,5", "2,5", "3,5", "4,25"], "x <= 3"),
        (["1,500", "2,5", "3", ""], "x <= 2.8"),
        (["-1,5e3", "0,125", "NA", "9"], "x <= 5"),
        (["0,125", "0,250", "0,375", "0,500"], "x <= 0.3"),
    ],
)
def test_decimal_commas_are_found_and_told(certree: Run, cells: list[str], test: str) -> None:
    write("t.csv", ["x", *cells], Y)
    code, _, errors = certree("fit", "t.csv", "-t", "y", "-d", "1")
    assert code == 0
    told = "the decimal sign is a comma, as in 'x'; give --decimal . if these are texts."
    assert errors == f"certree: t.csv: {told}\n"
    assert asked().startswith(test)


def test_a_decimal_sign_that_is_given_is_not_doubted(certree: Run) -> None:
    write("t.csv", ["x", "1,5", "2,5", "3,5", "4,5"], Y)
    assert certree("fit", "t.csv", "-t", "y", "--decimal", ",")[::2] == (0, "")
    assert asked() == "x <= 3"
    assert certree("fit", "t.csv", "-t", "y", "--decimal", ".")[::2] == (0, "")
    assert asked() == "x = 1,5"


@pytest.mark.parametrize(
    ("cells", "others"),
    [
        (["1,234", "2,345", "3,456", "4,567"], ["1", "2", "3", "4"]),
        (["1,234,567", "2,345", "345", "4,567"], ["1", "2", "3", "4"]),
        (["1,234.5", "2,345.25", "345", "4,567"], ["1", "2", "3", "4"]),
        (["1,234", "2,345", "3,456", "4,567"], ["0.5", "1.5", "2", "2.5"]),
    ],
    ids=["thousands", "millions", "both signs", "thousands beside points"],
)
def test_commas_that_may_mean_something_else_are_told(
    certree: Run, cells: list[str], others: list[str]
) -> None:
    write("t.csv", ["x", *cells], ["z", *others], Y)
    code, _, errors = certree("fit", "t.csv", "-t", "y", "-d", "1")
    assert code == 0
    assert "'x' may be numbers with commas, and are read as texts; take the commas out" in errors


@pytest.mark.parametrize(
    ("cells", "others", "between"),
    [
        (["1,5", "2,5", "3,5", "4,5"], ["0.5", "9", "2", "2.5"], (2.5, 3.5)),
        (["51,26", "52.26", "53,26", "54.26"], ["5", "9", "2", "2"], (52.26, 53.26)),
        (["561,0", "1.561,0", "1.234.567,5", "2.000.000"], ["5", "9", "2", "2"], (1561, 1234567.5)),
        (["1.561,0", "2.561,5", "3.561,0", "4.561,0"], ["0,5", "9,25", "2", "1"], (2561.5, 3561)),
    ],
    ids=["two signs in a table", "two signs in a column", "thousands", "thousands beside commas"],
)
def test_commas_that_mark_no_thousands_are_decimal_signs(
    certree: Run, cells: list[str], others: list[str], between: tuple[float, float]
) -> None:
    write("t.csv", ["x", *cells], ["z", *others], Y)
    code, _, errors = certree("fit", "t.csv", "-t", "y", "-d", "1")
    assert code == 0
    assert "the decimal sign is a comma, as in 'x'" in errors
    name, _, cut = asked().partition(" <= ")
    assert name == "x"
    assert between[0] <= float(cut) < between[1]
    assert certree("verify", "model.json", "t.csv")[0] == 0


@pytest.mark.parametrize("sign", ["€", "%", "USD"])
def test_numbers_with_a_sign_of_money_are_told(certree: Run, sign: str) -> None:
    write("t.csv", ["x", f"51,26 {sign}", f"1.561,0 {sign}", f"3 {sign}", f"4,5 {sign}"], Y)
    code, _, errors = certree("fit", "t.csv", "-t", "y", "-d", "1")
    assert code == 0
    assert "'x' may be numbers with a sign of money or %, and are read as texts" in errors


@pytest.mark.parametrize("cells", [["a,b", "c", "d", "e"], ["1,2 m", "3", "4", "5"], ["1;2"] * 4])
def test_texts_with_commas_are_texts(certree: Run, cells: list[str]) -> None:
    write("t.csv", ["x", *cells], ["z", "1", "2", "3", "4"], Y, separator="\t")
    assert certree("fit", "t.csv", "-t", "y", "-d", "1")[::2] == (0, "")


def test_a_model_takes_tables_of_both_signs(certree: Run) -> None:
    cells = ["1,5", "2,5", "3,5", "4,5"]
    write("comma.csv", ["x", *cells], Y)
    write("point.csv", ["x", *(cell.replace(",", ".") for cell in cells)], Y, separator=",")
    for fitted, other in (("comma.csv", "point.csv"), ("point.csv", "comma.csv")):
        assert certree("fit", fitted, "-t", "y", "-d", "1")[0] == 0
        for table in (fitted, other):
            code, out, errors = certree("predict", "model.json", table)
            assert (code, out.split(), errors) == (0, ["prediction", "a", "a", "b", "b"], "")
            assert certree("verify", "model.json", table)[0] == 0
        assert certree("predict", "model.json", "--value", "x=1,234")[1].split()[1] == "a"


# ---- types of Parquet ----------------------------------------------------------------------------

N = 40
DAY = datetime.datetime(2020, 1, 1)
UTC = datetime.timezone.utc
TYPED: dict[str, tuple[Any, Callable[[Any], str]]] = {
    "days": ([(DAY + datetime.timedelta(days=k)).date() for k in range(N)], str),
    "times": ([DAY + datetime.timedelta(hours=k) for k in range(N)], str),
    "iso": ([DAY + datetime.timedelta(hours=k) for k in range(N)], datetime.datetime.isoformat),
    "zoned": ([(DAY + datetime.timedelta(hours=k)).replace(tzinfo=UTC) for k in range(N)], str),
    "durations": (
        [datetime.timedelta(days=k % 2, minutes=90 * k) for k in range(N)],
        lambda value: f"P{value.days}DT{value.seconds}S",
    ),
    "flags": ([k > 20 for k in range(N)], str),
    "codes": ([f"{k % 4:03}" for k in range(N)], str),
    "years as texts": ([str(2000 + k % 5) for k in range(N)], str),
    "dates as texts": ([f"2020-01-{1 + k % 5:02}" for k in range(N)], str),
    "numbers": ([k / 4 for k in range(N)], str),
    "gaps": ([None if k % 7 == 0 else k for k in range(N)], str),
}


def tables(name: str) -> None:
    """Write the same table as Parquet and as CSV."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    values, text = TYPED[name]
    labels = ["b" if k % 4 == 1 or k > 25 else "a" for k in range(N)]
    parquet.write_table(arrow.table({"x": values, "y": labels}), "t.parquet")
    write("t.csv", ["x", *("" if v is None else text(v) for v in values)], ["y", *labels])


@pytest.mark.parametrize("name", TYPED)
def test_a_model_of_parquet_reads_the_same_table_as_csv(certree: Run, name: str) -> None:
    tables(name)
    assert certree("fit", "t.parquet", "-t", "y", "-d", "2")[0] == 0
    expected = certree("predict", "model.json", "t.parquet")[1]
    assert certree("predict", "model.json", "t.csv") == (0, expected, "")
    assert certree("verify", "model.json", "t.csv")[0] == 0
    assert certree("report", "model.json", "t.csv")[0] == 0
    told = certree("explain", "model.json", "t.parquet", "--row", "2")
    assert told[0] == 0
    # Only the lines of texts have numbers.
    in_line = told[1].replace("Row 2 of t.parquet", "Row 2 of t.csv, in line 4")
    assert certree("explain", "model.json", "t.csv", "--row", "2") == (0, in_line, "")


@pytest.mark.parametrize("name", ["days", "times", "zoned", "flags", "numbers", "gaps"])
def test_a_model_of_csv_reads_the_same_table_as_parquet(certree: Run, name: str) -> None:
    tables(name)
    assert certree("fit", "t.csv", "-t", "y", "-d", "2")[0] == 0
    expected = certree("predict", "model.json", "t.csv")[1]
    assert certree("predict", "model.json", "t.parquet") == (0, expected, "")


def test_durations_as_pandas_writes_them(certree: Run) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    lengths = pandas.to_timedelta(range(-20, 20), unit="h") * 1.5
    frame = pandas.DataFrame({"x": lengths, "y": ["a"] * 20 + ["b"] * 20})
    frame.to_parquet("t.parquet")
    frame.to_csv("t.csv", index=False)
    assert certree("fit", "t.parquet", "-t", "y", "-d", "1")[0] == 0
    assert certree("verify", "model.json", "t.csv")[0] == 0


def test_a_typed_file_of_texts_is_read_by_the_types_of_training(certree: Run) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    days = [f"2020-01-0{k + 1}" for k in range(4)]
    write("t.csv", ["x", *days], Y)
    parquet.write_table(arrow.table({"x": days, "y": Y[1:]}), "t.parquet")
    assert certree("fit", "t.csv", "-t", "y", "-d", "1")[0] == 0
    assert certree("verify", "model.json", "t.parquet")[0] == 0
    parquet.write_table(arrow.table({"x": ["today"] * 4, "y": Y[1:]}), "t.parquet")
    code, _, errors = certree("predict", "model.json", "t.parquet")
    assert code == 2
    assert "row 0: 'x' holds 'today', which is not a date such as 2024-03-01" in errors


def test_a_model_of_python_knows_its_types_by_its_tests(certree: Run) -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(
        {
            "code": ["01", "02", "01", "03"] * 5,
            "number": [1.5, 2.5, 1.5, 2.5] * 5,
            "lasts": pandas.to_timedelta([1, 2, 3, 4] * 5, unit="h"),
            "when": pandas.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03", None] * 5),
        }
    )
    y = ["a", "b", "a", "b"] * 5
    model = OptimalTreeClassifier(max_depth=2, categorical_features=["code"])
    model.fit(X, y).save("model.json")
    X.assign(y=y).to_csv("t.csv", index=False)
    assert certree("verify", "model.json", "t.csv", "-t", "y")[::2] == (0, "")


@pytest.mark.parametrize(
    ("cells", "kind", "first"),
    [
        (["1", "", "-3"], "whole", 1),
        (["1", "2.5e3"], "number", 1),
        (["TRUE", "false", "NA"], "flag", True),
        (["01", "22"], "text", "01"),
        (["2024-03-01", "2024-03-02 12:30"], "date", datetime.datetime(2024, 3, 1)),
        (["2024-03-01", "2024-02-30"], "text", "2024-03-01"),
        (["1,5", "2"], "number", 1.5),
        (["1,5", "2", "3.5"], "number", 1.5),
        (["1.561", "51,26"], "number", 1561),
        (["1.561", "1,561"], "text", "1.561"),
        (["", "NaN"], "number", None),
    ],
)
def test_a_column_has_the_type_of_all_its_values(cells: Any, kind: str, first: Any) -> None:
    raw = _files.FileTable("t.csv", ["a"], [np.array(cells, dtype=object)], [2, 3, 4])
    columns = Columns(raw, Layout())
    assert columns.read("a")[0] == first
    assert columns.types["a"] == kind
