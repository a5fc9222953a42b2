"""``certree.report`` in a browser: the form, the charts, the tables, paper and dark screens."""

from __future__ import annotations

import base64
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
            assert len(page.driver.find_elements("css selector", ".spread rect")) >= 24
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
