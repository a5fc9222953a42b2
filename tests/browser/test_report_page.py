"""``certree.report`` in a browser: the form, the charts, the tables, paper and dark screens."""

from __future__ import annotations

import base64
import re
import time
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

from certree import (
    FairTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SPOTree,
    datasets,
    pareto_front,
    report,
)
from certree.encoding._times import parse_time, time_words, write_time
from certree.tree._html import asset

from .conftest import Page

HOSTILE = "</script><script>document.title = 'broken'</script><b>\"'"


@cache
def table() -> tuple[Any, Any]:
    """Return numbers, flags, categories, levels and missing values, and classes."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame(
        {
            "income": rng.normal(40, 10, n).round(1),
            HOSTILE: rng.choice(["Bonn", "Ulm", HOSTILE], n),
            "smoker": rng.random(n) < 0.3,
            "stage": pd.Categorical(rng.choice(list("abc"), n), list("abc"), ordered=True),
        }
    )
    pays = (X["income"] > 42) ^ (X[HOSTILE] == "Bonn") ^ (X["smoker"] & (X["stage"] > "a"))
    y = np.where(pays, "pay", "default")
    X.loc[::9, "income"] = np.nan
    X.loc[::11, HOSTILE] = None
    return X, y


@cache
def fitted(splits: str = "binary") -> OptimalTreeClassifier:
    """Return a model that keeps its path."""
    X, y = table()
    path = splits == "binary"
    return OptimalTreeClassifier(max_depth=3, splits=splits).fit(X[:200], y[:200], path=path)


@cache
def html_of(splits: str = "binary") -> str:
    """Return the report of this model."""
    X, y = table()
    return str(report(fitted(splits), X[:200], y[:200], X[200:], y[200:]))


@pytest.mark.parametrize("width", [320, 800, 1400])
def test_the_page_fits_every_width(page: Page, width: int) -> None:
    page.open(html_of(), width=width)
    page.settle()
    assert page.overflow() == []
    assert page.ask("document.documentElement.scrollWidth") <= width


def fill(page: Page, row: Any) -> None:
    """Enter a row into the form."""
    for label in page.all("#form label"):
        name = page.ask("arguments[0].childNodes[0].textContent", label)
        value = row[name]
        is_missing = value is None or value != value
        fields = label.find_elements("css selector", "select")
        if fields:
            flags = {True: "yes", False: "no"}
            text = "missing" if is_missing else flags.get(value, value)
            page.ask(
                "[...arguments[0].options].find((o) => o.text === arguments[1]).selected = true",
                fields[0],
                text,
            )
        else:
            field = label.find_element("css selector", "input")
            page.ask("arguments[0].value = arguments[1]", field, "" if is_missing else str(value))
    page.ask("document.getElementById('form').requestSubmit()")


@pytest.mark.parametrize("splits", ["binary", "both"])
def test_the_form_shows_the_way_that_the_model_takes(page: Page, splits: str) -> None:
    X, _ = table()
    model = fitted(splits)
    page.open(html_of(splits))
    paths = model.decision_path(X)
    leaves, said = model.apply(X), model.predict(X)
    for i in (0, 1, 9, 11, 99, 205, 250):
        fill(page, X.iloc[i])
        marked = {int(e.get_attribute("data-node")) for e in page.all(".node.on")}
        assert marked == set(paths[i].indices.tolist()), i
        assert int(leaves[i]) in marked
        assert f"Prediction: {said[i]}" in page.text("#answer")
    page.one("#forget").click()
    assert not page.all(".node.on")
    assert page.text("#answer") == ""


def test_the_form_computes_what_linear_models_say(page: Page) -> None:
    """The leaves use columns that no test asks for."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"rooms": rng.integers(1, 6, 80), "area": rng.integers(20, 150, 80)})
    y = np.where(X["rooms"] > 3, 2.5 * X["area"], 400 - X["area"])
    model = LinearTreeRegressor(1, model_features=["area"]).fit(X, y)
    page.open(str(report(model, X, y)))
    assert len(page.all("#form label")) == 2
    for i in (0, 1, 7, 33):
        fill(page, X.iloc[i])
        assert f"Prediction: {model.predict(X[i : i + 1])[0]:g} = " in page.text("#answer")
    fill(page, {"rooms": 2, "area": None})
    assert "no number without area" in page.text("#answer")


def test_dates_and_sets_of_categories(page: Page) -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 200), "D")
    X = pd.DataFrame({"admitted": days, "city": rng.choice(list("abcdef"), 200)})
    y = (X["admitted"] > pd.Timestamp("2024-02-10")) ^ X["city"].isin(["a", "c", "f"])
    X.loc[::9, "admitted"] = pd.NaT
    model = OptimalTreeClassifier(max_depth=2, category_tests="subsets").fit(X, y)
    page.open(str(report(model, X, y)))
    leaves = model.apply(X)
    for i in (0, 1, 5, 9, 100):
        day = X["admitted"][i]
        fill(page, {"admitted": None if day is pd.NaT else f"{day:%Y-%m-%d}", "city": X["city"][i]})
        assert "on" in page.node(int(leaves[i])).get_attribute("class").split(), i
    dates = [v for v in range(model.tree_.n_nodes) if "admitted" in page.node(v).text]
    page.node(dates[0]).click()
    assert page.text(".spread .cut-text").startswith("2024-")


def times() -> Any:
    """Return dates, times with a zone and durations, and a column that is only absent or not."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(6)
    minutes = rng.integers(0, 200_000, 160)
    start = pd.Timestamp("2023-11-20")
    X = pd.DataFrame(
        {
            "admitted": start + pd.to_timedelta(minutes, "min"),
            "seen": (start + pd.to_timedelta(minutes[::-1], "min")).tz_localize("Europe/Berlin"),
            "stay": pd.to_timedelta(rng.integers(-9000, 90_000, 160), "s"),
            "income": rng.integers(1000, 4000, 160).astype(float),
        }
    )
    for place, name in enumerate(X):
        X.loc[place :: 9 + place, name] = None
    return X


@pytest.mark.parametrize("column", ["admitted", "seen", "stay", "income"])
def test_times_and_numbers_are_typed_and_go_where_predict_sends_them(
    page: Page, column: str
) -> None:
    pd = pytest.importorskip("pandas")
    X = times()[[column]]
    known = X[column].dropna()
    low, high = known.quantile(0.3), known.quantile(0.7)
    y = X[column].isna() if column == "income" else (X[column] > low) ^ (X[column] > high)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    page.open(str(report(model, X, y)))
    field = page.one("#form input")
    forms = {"admitted": "date", "seen": "zoned", "stay": "duration"}
    rows = [*known[:12], known.min(), known.max()]
    if column != "income":
        # Beyond all rows of training, and at the cut points themselves.
        rows += [known.max() + pd.Timedelta("4000 days"), known.min() - pd.Timedelta("900 days")]
        for test in model.tree_.tests:
            one = getattr(test, "value", None)
            if one is not None:
                at = pd.Timedelta(one) if column == "stay" else pd.Timestamp(one)
                rows += [at, at + pd.Timedelta("1us"), at - pd.Timedelta("1us")]
    for value in rows:
        text = str(value) if column == "income" else _text(value, forms[column])
        field.clear()
        field.send_keys(text)
        page.ask("document.getElementById('form').requestSubmit()")
        one = pd.DataFrame({column: pd.Series([value]).astype(X[column].dtype)})
        leaf = int(model.apply(one)[0])
        assert "on" in page.node(leaf).get_attribute("class").split(), text
        assert f"Prediction: {model.predict(one)[0]}" in page.text("#answer")
    field.clear()
    page.ask("document.getElementById('form').requestSubmit()")
    leaf = int(model.apply(pd.DataFrame({column: pd.Series([None], dtype=X[column].dtype)}))[0])
    assert "on" in page.node(leaf).get_attribute("class").split()
    assert "missing" in page.text("#answer")


def _text(value: Any, form: str) -> str:
    offset = 0 if form != "zoned" else int(value.utcoffset().total_seconds())
    moment = value.as_unit("ns").value
    return (write_time if moment % 7 else time_words)(form, moment, offset)  # type: ignore[arg-type]


def test_what_cannot_be_read_is_said(page: Page) -> None:
    X = times()[["admitted", "income"]]
    y = (X["admitted"] > X["admitted"].median()) ^ (X["income"] > 2500)
    page.open(str(report(OptimalTreeClassifier(max_depth=2).fit(X, y), X, y)))
    when, income = page.all("#form input")
    when.clear()
    when.send_keys("2024-02-30")
    income.clear()
    income.send_keys("1e")
    page.one('#form [type="submit"]').click()
    told = page.text("#answer")
    assert "admitted is a date or a time, such as 2024-03-01 12:30, but here it is" in told
    assert "“2024-02-30”" in told
    assert "income is a number, such as 12.5." in told
    assert [e.get_attribute("aria-invalid") for e in (when, income)] == ["true", "true"]
    assert not page.all(".node.on")
    when.clear()
    when.send_keys("2024-02-29")
    income.clear()
    income.send_keys("2000")
    assert "Prediction: " in page.text("#answer")
    assert [e.get_attribute("aria-invalid") for e in (when, income)] == [None, None]


TEXTS = [
    *("2024-03-01", "0001-01-01", "9999-12-31T23:59:59.999999999", "0024-02-29", "1900-02-29"),
    *("2024-03-01 12:30", "2024-03-01T12:30:15.000000001", "2024-13-01", "2024-3-1", "0000-01-01"),
    *("2024-03-01 24:00", "2024-03-01 12:60", "2024-03-01Z", "2024-03-01 12:30Z", "2024-03-01T12"),
    *("2024-03-01 12:30 UTC", "2024-03-01 12:30+01:00", "2024-03-01 12:30-0530", "x", "", "P"),
    *("2024-03-01 12:30+24:00", "0001-01-01T00:00+01:00", "9999-12-31T23:00-02:00", "PT", "P3D"),
    *("-P3DT4H5M6.5S", "PT36H", "P1DT", "P-1D", "PT0.000000001S", "12", "1e5", "２０２４-03-01"),
]


def test_texts_of_times_are_read_as_python_reads_them(page: Page) -> None:
    page.open("<!DOCTYPE html>")
    script = asset("certree.report", "times.js") + "return String(momentOf(...arguments));"
    for text in TEXTS:
        for form in ("date", "zoned", "duration"):
            try:
                found, moment, _ = parse_time(text)
            except ValueError:
                found, moment = "date", None  # type: ignore[assignment]
            wanted = "null" if moment is None or found != form else str(moment)
            assert page.driver.execute_script(script, text, form) == wanted, (text, form)


def test_durations_may_be_words_as_trees_show_them(page: Page) -> None:
    page.open("<!DOCTYPE html>")
    reading = "return String(momentOf(arguments[0], 'duration'));"
    script = asset("certree.report", "times.js") + reading
    for moment in (0, 1, 86_400 * 10**9, 273_906_500_000_000, 3600 * 10**9, 60 * 10**9, 5 * 10**8):
        for sign in (1, -1):
            words = time_words("duration", sign * moment)
            assert page.driver.execute_script(script, words) == str(sign * moment), words


def test_values_at_a_threshold_go_the_right_way(page: Page) -> None:
    X = np.array([[0.1], [0.2], [0.1 + 0.2], [0.4]])
    model = OptimalTreeClassifier(max_depth=1, thresholds="all").fit(X, [0, 0, 1, 1])
    page.open(str(report(model, X)))
    cut = model.tree_.node_test(0).threshold
    for value in (cut, np.nextafter(cut, 1), np.nextafter(cut, 0)):
        fill(page, {"x0": repr(float(value))})
        leaf = int(model.apply([[value]])[0])
        assert "on" in page.node(leaf).get_attribute("class").split(), value


def test_unfolding_follows_the_row(page: Page) -> None:
    X, _ = table()
    page.open(html_of())
    page.one('[aria-label^="Fold all"]').click()
    fill(page, X.iloc[0])
    assert int(fitted().apply(X.iloc[[0]])[0]) in page.shown_nodes()


def test_click_shows_the_distribution_with_the_threshold(page: Page) -> None:
    model = fitted()
    page.open(html_of())
    kinds = set()
    for node in np.flatnonzero(model.tree_.test >= 0).tolist():
        page.node(node).click()
        if page.all(".spread svg"):
            kinds.add("bins")
            cut = float(page.text(".spread .cut-text"))
            assert cut == pytest.approx(model.tree_.node_test(node).threshold)
            assert len(page.driver.find_elements("css selector", ".spread rect")) >= 8
        else:
            kinds.add("values")
            assert page.all(".spread table")
    assert kinds == {"bins", "values"}


def test_the_chart_exchanges_the_tree(page: Page) -> None:
    model = fitted()
    page.open(html_of())
    points = page.all("#chart .point")
    assert len(points) == len(model.path_)
    assert page.all('.point[aria-checked="true"]') == [points[-1]]
    before = page.text("#quality-body")
    points[1].click()
    entry = model.path_[1]
    assert page.shown_nodes() == entry.tree.preorder.tolist()
    assert "another tree than that of the model" in page.text("#exchanged")
    assert f"at most {entry.splits} split" in page.text("#proof-body")
    assert page.text("#quality-body") != before
    asked = {entry.tree.feature_name(test.feature) for test in entry.tree.tests}
    assert len(page.all("#form label")) == len(asked)
    page.press("ARROW_RIGHT")
    assert page.shown_nodes() == model.path_[2].tree.preorder.tolist()
    page.one("#exchanged button").click()
    assert page.shown_nodes() == model.tree_.preorder.tolist()
    assert page.text("#quality-body") == before


def test_fronts_and_curves_exchange_trees_too(page: Page) -> None:
    X, y = table()
    groups = np.where(np.arange(300) % 3 == 0, "f", "m")
    front = pareto_front(X, y, max_depth=1, thresholds=3, pos_label="pay")
    curve = FairTreeClassifier(max_depth=1).fairness_curve(X, y, sensitive_features=groups)
    for family in (front, curve):
        page.open(str(report(family, X, y)))
        points = page.all("#chart .point")
        assert len(points) == len(family)
        points[0].click()
        assert page.shown_nodes() == family.trees[0].preorder.tolist()
    assert "selection rate" in page.text("#groups-body")


def test_quality_is_shown(page: Page) -> None:
    page.open(html_of())
    told = page.text("#quality-body")
    for text in ("Accuracy", "Sensitivity", "Confusion: held-out rows", "Calibration"):
        assert text in told
    assert "proven optimal" in page.text("#proof-body")


def test_regression_and_decisions(page: Page) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + rng.normal(size=150)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    page.open(str(report(model, X, y)))
    assert "R2" in page.text("#quality-body")
    assert "Residuals" in page.text("#quality-body")
    assert page.all(".ramp")
    roads = datasets.make_two_roads(60, random_state=0)
    model = SPOTree(max_depth=1).fit(roads.X, roads.C)
    page.open(str(report(model, roads.X, roads.C)))
    assert "Rows that get each decision" in page.text("#quality-body")


def test_without_rows(page: Page) -> None:
    page.open(str(report(fitted())))
    assert "made without rows" in page.text("#quality")
    page.node(0).click()
    assert not page.all(".spread")
    page.open(str(report(fitted().tree_)))
    assert "without a certificate" in page.text("#proof-body")


def test_hostile_texts_stay_texts(page: Page) -> None:
    X, y = table()
    page.open(str(report(fitted(), X, np.asarray(y, dtype=object), title=HOSTILE)))
    assert page.driver.title == HOSTILE
    assert page.text("h1") == HOSTILE
    assert not page.all("b")
    assert HOSTILE in page.text("#form")


def test_dark_screens(page: Page) -> None:
    for dark in (False, True):
        page.open(html_of(), dark=dark)
        ground = page.ask("getComputedStyle(document.body).backgroundColor")
        light = sum(map(int, ground[4:-1].split(","))) > 380
        assert light != dark


def test_paper(page: Page) -> None:
    page.open(html_of(), dark=True)
    page.one('[aria-label^="Fold all"]').click()
    page.scheme("dark", media="print")
    assert page.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.all("#form")
    assert not page.all(".bar")
    page.ask("window.dispatchEvent(new Event('beforeprint'))")
    # Nothing is folded on paper, and the certificate is open.
    assert len(page.shown_nodes()) == fitted().tree_.n_nodes
    assert "lower bound" in page.text("#proof-body").lower()
    page.ask("window.dispatchEvent(new Event('afterprint'))")
    assert len(page.shown_nodes()) == 3
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")


def pages_of(page: Page) -> list[bool]:
    """Return for each page on paper whether it is a landscape."""
    wanted = {"printBackground": True, "preferCSSPageSize": True}
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", wanted)
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", base64.b64decode(printed["data"]))
    return [float(width) > float(height) for width, height in boxes]


@pytest.mark.parametrize("width", [400, 1400])
def test_paper_has_the_tree_on_one_landscape_page(page: Page, width: int) -> None:
    page.open(html_of(), width=width)
    page.settle()
    assert bool(page.all(".stage.list")) == (width == 400)
    assert sum(pages_of(page)) == 1
    page.ask("window.dispatchEvent(new Event('beforeprint'))")
    assert page.all(".stage.picture")
    page.ask("window.dispatchEvent(new Event('afterprint'))")
    assert bool(page.all(".stage.list")) == (width == 400)


def test_a_tree_alone_is_one_landscape_page(page: Page) -> None:
    page.open(fitted().tree_.to_html(page=True))
    assert pages_of(page) == [True]


def test_a_notebook_shows_it_in_a_frame(page: Page) -> None:
    X, y = table()
    page.open(f"<!DOCTYPE html><body>{report(fitted(), X, y)._repr_html_()}")
    page.driver.switch_to.frame(page.one("iframe"))
    assert page.all('[role="tree"]')
    page.driver.switch_to.default_content()


def test_the_report_of_many_rows_is_small_and_opens_at_once(page: Page) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(10_000, 12)).round(2)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=10_000) > 0).astype(int)
    model = OptimalTreeClassifier(max_depth=4, thresholds=8, time_limit=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the proof is not complete
        model.fit(X, y)
    html = str(report(model, X, y, X[:2000], y[:2000]))
    assert len(html.encode()) < 1_000_000
    times = []
    for _ in range(3):  # other programs may keep the machine busy
        start = time.perf_counter()
        page.open(html)
        times.append(time.perf_counter() - start)
    assert page.shown_nodes() == model.tree_.preorder.tolist()
    assert min(times) < 2
