"""A report gives no value of a single row away, unless it is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certree import (
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    report,
)
from certree.report._ranges import FEWEST, bins_of, inner_ends, number_range, time_range

pd = pytest.importorskip("pandas")

N = 120


def data_of(page: Any) -> Any:
    """Return the data that a page embeds."""
    found = re.search(r'id="report-data">(.*?)</script>', str(page), re.DOTALL)
    assert found
    return json.loads(found[1])


def leaves_of(data: Any) -> Iterator[Any]:
    """Yield all texts and numbers of some data."""
    if isinstance(data, dict):
        for value in data.values():
            yield from leaves_of(value)
    elif isinstance(data, list):
        for value in data:
            yield from leaves_of(value)
    else:
        yield data


def people(seed: int = 0) -> Any:
    """Return columns whose values are those of one row or two, some of them missing."""
    rng = np.random.default_rng(seed)
    minutes = rng.permutation(N) * 437 + 13
    X = pd.DataFrame(
        {
            "income": rng.uniform(1000, 4000, N).round(7),
            "bonus": rng.uniform(10, 90, N).round(9),
            "name": [f"Person-{k // 2:03}" for k in rng.permutation(N)],
            "admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(minutes, "min"),
            "seen": pd.to_datetime(minutes * 61, unit="s", utc=True),
            "stay": pd.to_timedelta(minutes * 7, "s"),
            "town": [f"Town-{k}" if k < 6 else ("Bonn", "Ulm")[k % 2] for k in range(N)],
        }
    )
    for place, name in enumerate(X):
        X.loc[rng.permutation(N)[: 12 + place], name] = None
    return X


def values_of(column: Any) -> tuple[set[float], set[str]]:
    """Return the values of a column that few rows have, as numbers and as texts."""
    known = column.dropna()
    known = known[known.map(known.value_counts()) < FEWEST]
    if known.dtype.kind == "f":
        return set(known), {f"{x:.{digits}g}" for x in known for digits in (5, 6, 7)}
    if known.dtype.kind == "m":
        seconds = known.dt.total_seconds()
        return set(seconds) | set(seconds * 1e6) | set(seconds * 1e9), set(map(str, known))
    if hasattr(known, "dt"):
        instants = known.dt.tz_convert(None) if known.dt.tz is not None else known
        numbers = {float(x) for x in instants.astype("datetime64[ns]").astype(np.int64)}
        texts = {f"{x:%Y-%m-%d %H:%M}" for x in known} | {f"{x:%Y-%m-%dT%H:%M}" for x in known}
        return numbers | {x / 1000 for x in numbers}, texts
    return set(), set(known)


def given_away(page: Any, X: Any) -> set[Any]:
    """Return what a page tells of the values that few rows have."""
    data = data_of(page)
    for tree in data["trees"]:
        tree["view"] = None  # conditions are the model itself
    # What conditions compare with lies between the values of two rows.
    told = list(leaves_of(data))
    numbers = {float(x) for x in told if isinstance(x, int | float) and abs(x) > 1000}
    texts = [x for x in told if isinstance(x, str)]
    found: set[Any] = set()
    for name in X:
        own, words = values_of(X[name])
        found |= numbers & own
        found |= {word for word in words if any(word in text for text in texts)}
    return found


@pytest.mark.parametrize("column", list(people()))
def test_no_value_of_a_row_is_given_away(column: str) -> None:
    X = people()
    rng = np.random.default_rng(1)
    absent = X[column].isna()
    for y in (absent, _halves(X[column]) ^ (rng.random(N) < 0.1)):
        model = OptimalTreeClassifier(max_depth=2, min_category_rows=FEWEST).fit(X[[column]], y)
        assert model.tree_.n_splits or column == "name"
        page = report(model, X[[column]], y)
        assert given_away(page, X) == set()


def _halves(column: Any) -> Any:
    """Return whether values are in the upper half of a column; of texts, whether they are Bonn."""
    if column.dtype.kind in "fmM" or hasattr(column, "dt"):
        return column > column.median()
    return column == "Bonn"


def test_all_columns_at_once_and_a_path() -> None:
    X = people(2)
    y = (X["income"] > 2500) ^ X["name"].isna() ^ (X["admitted"] > "2024-01-20")
    model = OptimalTreeClassifier(max_depth=3, thresholds=8, min_category_rows=FEWEST).fit(
        X, y, path=True
    )
    assert given_away(report(model, X, y, X[:30], y[:30]), X) == set()


def test_linear_leaves_and_leaves_of_one_row() -> None:
    X = people(3)[["income", "bonus"]].fillna(50.0)
    y = X["income"] * 1.7 + X["bonus"]
    linear = LinearTreeRegressor(1, model_features=["bonus"], thresholds=4).fit(X, y)
    assert given_away(report(linear, X, y), X.assign(y=y)) == set()
    model = OptimalTreeRegressor(max_depth=4, thresholds=12, time_limit=5).fit(X, y)
    assert np.bincount(model.apply(X)).max() < N
    few = slice(0, 9)  # held-out rows: most leaves have one of them or none
    page = report(model, X, y, X[few], y[few])
    assert given_away(page, X.assign(y=y)) == set()
    held = data_of(page)["trees"][0]["quality"][0]
    assert all(rows >= FEWEST for _, _, rows, _ in held["means"]["points"])
    assert held["residuals"] is None


def test_values_are_shown_to_those_who_ask() -> None:
    X = people()
    y = (X["income"] > 2500) ^ X["name"].isna() ^ (X["town"] == "Bonn")
    model = OptimalTreeClassifier(max_depth=3, thresholds=8, min_category_rows=FEWEST).fit(X, y)
    shown = data_of(report(model, X, y, show_values=True))
    fields = {field["name"]: field for field in shown["form"]["fields"]}
    income = X["income"].dropna()
    assert fields["income"]["hint"] == f"{income.min():.5g} to {income.max():.5g} in the data"
    assert "Town-1" in fields["town"]["options"]
    assert given_away(report(model, X, y, show_values=True), X)
    fields = {f["name"]: f for f in data_of(report(model, X, y))["form"]["fields"]}
    assert fields["town"]["options"] == ["Bonn", "Ulm", "another value", "missing"]
    assert fields["town"]["hint"] == "rare values are not listed"
    assert fields["name"]["options"] == ["present", "missing"]
    assert fields["income"]["hint"] == "most rows: 1000 to 4000"


def test_numbers_of_two_kinds_of_tests_are_typed() -> None:
    from certree.encoding import Category, Flag, Threshold
    from certree.report._row_form import row_form
    from certree.tree import Tree

    tests = [Threshold(0, "x", 2.5), Category(0, "x", 2), Flag(0, "x")]
    shape = ([0, 1, 2, -1, -1, -1, -1], [1, 3, 5, -1, -1, -1, -1], [-1, -1, -1, 0, 1, 0, 1])
    counts = [[2, 2], [1, 1], [1, 1], [1, 0], [0, 1], [1, 0], [0, 1]]
    tree = Tree(tests, *shape, counts=counts, classes=["a", "b"])
    form = row_form([tree], None)
    assert form["fields"] == [{"name": "x", "kind": "number", "value": 2.5, "hint": ""}]
    assert form["tests"][0] == [
        {"field": 0, "cut": 2.5, "sides": [0, 1], "missing": 1},
        {"field": 0, "values": [[2.0, 0]], "other": 1, "missing": 1},
        {"field": 0, "cut": 0.5, "sides": [1, 0], "missing": 1},
    ]


# ---- ranges --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-9, 0.1, 1.0, 1e6, 1e15])
def test_ends_of_ranges_are_round_and_several_rows_are_beyond_them(scale: float) -> None:
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=300) * scale
    low, high = inner_ends(values, 0.01, FEWEST) or (0, 0)
    assert np.count_nonzero(values <= low) == np.count_nonzero(values >= high) == FEWEST
    told, typical = number_range(values, FEWEST) or ("", 0.0)
    first, last = map(float, told.removeprefix("most rows: ").split(" to "))
    assert first <= typical <= last
    assert not {first, last, typical} & set(values.tolist())
    start, end, number = bins_of(values, scale, FEWEST) or (0, 0, 0)
    assert start < scale < end
    assert 4 <= number <= 24
    assert number_range(values[: 2 * FEWEST - 1], FEWEST) is None


@pytest.mark.parametrize(
    "values", [[3.0] * 40, [1e300, -1e300] * 20, [1e16] * 20 + [1e16 + 2] * 20, [0.0] * 39 + [7.0]]
)
def test_odd_columns_have_a_range_or_none(values: list[float]) -> None:
    told, typical = number_range(np.array(values), FEWEST) or ("", 0.0)
    assert told.startswith("most rows: ")
    assert np.isfinite(typical)
    bins = bins_of(np.array(values), values[0], FEWEST)
    assert bins is None or bins[0] < values[0] < bins[1]


@pytest.mark.parametrize(
    "first, step, told",
    [
        ("2001-02-03", "30D", "most rows: 2001 to 2010"),
        ("2024-01-03", "1D", "most rows: 2024-01 to 2024-05"),
        ("2024-01-03", "3h", "most rows: 2024-01-03 to 2024-01-16"),
        ("2024-01-03 10:00", "7min", "most rows: 2024-01-03 10:00 to 2024-01-03 23:00"),
    ],
)
def test_ranges_of_dates_are_as_coarse_as_they_are_long(first: str, step: str, told: str) -> None:
    column = pd.date_range(first, periods=110, freq=step).to_numpy().astype("M8[us]")
    assert (time_range(column, "date", FEWEST) or ("",))[0] == told


def test_ranges_of_durations() -> None:
    column = np.arange(0, 1000, 7).astype("m8[h]").astype("m8[us]")
    told, typical = time_range(column, "duration", FEWEST) or ("", "")
    assert told == "most rows: 0 s to 40 days"
    assert typical == "20 days"


def test_the_command_line_can_ask_for_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("typer")
    from certree.cli._run import run

    monkeypatch.chdir(tmp_path)
    X = people()[["income"]].dropna()
    X.assign(sick=X["income"] > 2500).to_csv("rows.csv", index=False)
    assert run(["fit", "rows.csv", "--target", "sick", "-d", "1"]) == 0
    told = {}
    for options in ([], ["--show-values"]):
        assert run(["report", "model.json", "rows.csv", *options]) == 0
        told[len(options)] = Path("report.html").read_text(encoding="utf-8")
    assert '"hint":"most rows: 1000 to 4000"' in told[0]
    assert f"to {X['income'].max():.5g} in the data" in told[1]
