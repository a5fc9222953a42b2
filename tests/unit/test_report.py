"""Reports: what they say about every estimator, what they refuse, and that texts stay texts."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, confusion_matrix, mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    InfeasibleError,
    LinearTreeRegressor,
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    PolicyTree,
    Report,
    SPOForest,
    SPOTree,
    Tree,
    TreeCV,
    datasets,
    estimators,
    metrics,
    oracles,
    pareto_front,
    regularization_path,
    report,
    solve,
    tasks,
)
from certree.encoding import Condition, Table, Test, TimeThreshold
from certree.report._choices import MOST
from certree.report._distributions import distributions

HOSTILE = "</script><script>alert(1)</script>\"'&lt;{{DATA}}\u2028"


@cache
def table() -> tuple[Any, Any, Any]:
    """Return mixed columns with missing values and hostile texts, classes and groups."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 240
    X = pd.DataFrame(
        {
            HOSTILE: rng.normal(40, 10, n).round(1),
            "city": rng.choice(["Bonn", "Ulm", HOSTILE], n),
            "smoker": rng.random(n) < 0.3,
            "stage": pd.Categorical(rng.choice(list("abc"), n), list("abc"), ordered=True),
        }
    )
    y = np.where((X[HOSTILE] > 42) ^ (X["city"] == "Bonn"), "pay", HOSTILE)
    X.loc[::7, HOSTILE] = np.nan
    X.loc[::11, "city"] = None
    return X, y, rng.choice(["f", "m"], n)


def data_of(page: Report) -> Any:
    """Return what the script of the page reads."""
    found = re.search(r'id="report-data">(.*?)</script>', str(page), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def shown(page: Report) -> Any:
    """Return what is said about the tree that is shown first."""
    data = data_of(page)
    return data["trees"][data["shown"]]


def metrics_of(told: Any, place: int = 0) -> dict[str, str]:
    """Return the metrics of the first or second set of rows."""
    return {name: value for name, value, _ in told["quality"][place]["metrics"]}


def check_page(page: Report) -> None:
    """Check that a page is whole, loads nothing, and holds no markup of others."""
    html = str(page)
    assert html.startswith("<!DOCTYPE html>")
    assert html.rstrip().endswith("</html>")
    assert html.count("<script") == html.count("</script>") == 2
    assert "alert(1)</script>" not in html
    assert "{{" not in html.replace(HOSTILE, "").split("<script>")[0].replace("{{DATA}}", "")
    assert set(re.findall(r"https?://[^\"'\s<]+", html)) <= {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"<(?:link|img|iframe|script[^>]* src)", html)
    assert len(html.encode("utf-8", "replace")) < 1_000_000


# ---- every estimator -----------------------------------------------------------------------------


def _classes(model: Any, **fit: Any) -> Report:
    X, y, _ = table()
    return report(model.fit(X[:180], y[:180], **fit), X[:180], y[:180], X[180:], y[180:])


@pytest.mark.parametrize(
    "model",
    [
        OptimalTreeClassifier(max_depth=2),
        OptimalTreeClassifier(max_depth=2, splits="both"),
        OptimalTreeClassifier(max_depth=2, objective="f1", pos_label="pay"),
        OptimalTreeClassifier(max_depth=2, objective="auc", pos_label="pay"),
        OptimalTreeClassifierCV(depths=(1, 2), cv=2),
        CostSensitiveTreeClassifier([[0, 5], [1, 0]], max_depth=2),
    ],
    ids=["accuracy", "multiway", "f1", "auc", "cv", "costs"],
)
def test_classifiers(model: Any) -> None:
    X, y, _ = table()
    page = _classes(model)
    check_page(page)
    told = shown(page)
    assert told["statement"] == model.certificate_.statement()
    assert told["proven"]
    assert "best tree of its kind" in told["meaning"]
    held, train = told["quality"]
    assert (held["name"], train["name"]) == ("Held-out rows", "Training rows")
    said = model.predict(X[180:])
    expected = accuracy_score(y[180:], said)
    assert metrics_of(told)["Accuracy"] == f"{expected:.4g}"
    classes = model.tree_.classes.tolist()
    assert held["confusion"]["counts"] == confusion_matrix(y[180:], said, labels=classes).tolist()
    assert sum(point[2] for point in held["calibration"]["points"]) == 60
    assert set(told["spread"]) == {str(v) for v in np.flatnonzero(model.tree_.test >= 0)}


def test_searches_over_parameters_show_what_they_chose() -> None:
    X, y, _ = table()
    search = GridSearchCV(OptimalTreeClassifier(), {"max_depth": [1, 2]}, cv=2).fit(X, y)
    told = shown(report(search, X, y))
    assert told["statement"] == search.best_estimator_.certificate_.statement()
    assert metrics_of(told)["Accuracy"] == f"{search.score(X, y):.4g}"


def test_costs_and_ranks_are_told() -> None:
    assert "Mean cost" in metrics_of(shown(_classes(CostSensitiveTreeClassifier(max_depth=1))))
    X, _, _ = table()
    y = np.arange(240) % 4
    ordinal = next(name for name in estimators.__all__ if name.startswith("Ordinal"))
    model = getattr(estimators, ordinal)(max_depth=2).fit(X, y)
    told = shown(report(model, X, y))
    apart = np.abs(model.predict(X) - y).mean()
    assert metrics_of(told)["Rank distance"] == f"{apart:.4g}"


def test_sensitivity_is_that_of_the_positive_class() -> None:
    X, y, _ = table()
    model = OptimalTreeClassifier(max_depth=1, objective="f1", pos_label=HOSTILE).fit(X, y)
    told = metrics_of(shown(report(model, X, y)))
    is_true, is_said = y == HOSTILE, model.predict(X) == HOSTILE
    assert told["Sensitivity"] == f"{(is_true & is_said).sum() / is_true.sum():.4g}"
    assert told["Precision"] == f"{(is_true & is_said).sum() / is_said.sum():.4g}"


def test_regression() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * 3 + rng.normal(size=200)
    model = OptimalTreeRegressor(max_depth=2).fit(X[:150], y[:150], path=True)
    page = report(model, X[:150], y[:150], X[150:], y[150:])
    check_page(page)
    told = shown(page)
    said = model.predict(X[150:])
    assert metrics_of(told)["R2"] == f"{r2_score(y[150:], said):.4g}"
    assert metrics_of(told)["MAE"] == f"{mean_absolute_error(y[150:], said):.4g}"
    assert sum(told["quality"][0]["residuals"]["bins"][0]) == 50
    assert told["view"]["scale"] is not None
    assert data_of(page)["chart"]["y"] == "training R2"
    assert len(data_of(page)["trees"]) == len(model.path_)


def test_treatments() -> None:
    people = datasets.make_policy_example(200)
    model = PolicyTree(max_depth=2, cv=2).fit(people.data, people.treatment, people.outcome)
    page = report(model, people.data)
    check_page(page)
    rewards = model.rewards_
    codes = np.searchsorted(model.treatments_, model.predict(people.data))
    value = rewards[np.arange(200), codes].mean()
    assert metrics_of(shown(page))["Policy"] == f"{value:.4g}"
    assert "predicts treatments" in str(page)
    again = report(model, people.data, rewards, people.data, rewards)
    assert metrics_of(shown(again)) == metrics_of(shown(page))
    given = shown(report(model, people.data, people.treatment))
    share = (model.predict(people.data) == people.treatment).mean()
    assert metrics_of(given)["Agreement"] == f"{share:.4g}"
    with pytest.raises(ValueError, match="2 columns of rewards, but there are 3 treatments"):
        report(model, people.data, rewards[:, :2])


def test_decisions() -> None:
    roads = datasets.make_two_roads(100, random_state=0)
    oracle = oracles.Decisions([[1, 0], [0, 1]], names=["road 1", HOSTILE])
    model = SPOTree(oracle, max_depth=1).fit(roads.X, roads.C)
    page = report(model, roads.X, roads.C)
    check_page(page)
    told = metrics_of(shown(page))
    assert told["Mean loss"] == f"{model.loss(roads.X, roads.C, ties='decided'):.4g}"
    with pytest.raises(ValueError, match="y has 3 columns, but the oracle decides on 2 costs"):
        report(model, roads.X, np.ones((100, 3)))


def test_solutions_and_trees() -> None:
    X = np.arange(20.0)[:, None]
    y = np.arange(20.0) % 7
    solution = solve(tasks.SquaredError(), X, y, max_depth=2, path=True)
    told = shown(report(solution, X, y))
    assert metrics_of(told)["MAE"]
    assert told["statement"] == solution.certificate.statement()
    told = shown(report(solution.tree, X, y))
    assert told["statement"] == ""
    assert metrics_of(told)["R2"]


def test_a_single_leaf_and_one_class() -> None:
    X, _, _ = table()
    y = np.zeros(240, dtype=int)
    page = report(OptimalTreeClassifier(max_depth=1).fit(X, y), X, y)
    check_page(page)
    assert metrics_of(shown(page))["Accuracy"] == "1"
    assert data_of(page)["form"]["fields"] == []


# ---- trees to choose among -----------------------------------------------------------------------


def test_a_path_can_be_looked_through() -> None:
    X, y, _ = table()
    model = OptimalTreeClassifier(max_depth=2).fit(X, y, path=True)
    data = data_of(report(model, X, y))
    assert [tree["place"][0] for tree in data["trees"]] == [e.splits for e in model.path_]
    own = data["trees"][data["shown"]]
    assert own["statement"] == model.certificate_.statement()
    for tree, entry in zip(data["trees"], model.path_, strict=True):
        assert tree["tests"] == entry.tree.test.tolist()
        assert metrics_of(tree)["Accuracy"] == f"{entry.accuracy:.4g}"
    path = regularization_path(X, y, max_depth=2)
    assert data_of(report(path, X, y))["chart"]["title"] == "Size against quality"
    assert data_of(report(OptimalTreeClassifier(max_depth=1).fit(X, y), choices=path))["trees"]


def test_a_front_can_be_looked_through() -> None:
    X, y, _ = table()
    front = pareto_front(X, y, max_depth=2, pos_label="pay")
    data = data_of(report(front, X, y))
    assert [tree["place"] for tree in data["trees"]] == front.points[:, :2].tolist()
    assert data["trees"][0]["statement"] == front[0].certificate_.statement()
    model = OptimalTreeClassifier(max_depth=2, objective=metrics.ErrorFront()).fit(X, y)
    page = report(model, X, y)
    assert shown(page)["tests"] == model.tree_.test.tolist()


def test_a_size_that_was_chosen_shows_its_curve() -> None:
    X, y = datasets.load_credit(return_X_y=True)
    model = OptimalTreeClassifierCV([1, 2], cv=3).fit(X, y)
    page = str(report(model, X, y))
    assert model.curve_.statement() in page
    assert "Choosing the size" in page
    assert 'fill-opacity="0.15"' in page
    assert "Choosing the size" not in str(report(model.best_estimator_, X, y))
    assert model.curve_.statement() in model._repr_html_()
    assert "accuracy on rows left out against the" in model.curve_._repr_html_()


def test_a_curve_and_rates_of_groups() -> None:
    X, y, groups = table()
    curve = FairTreeClassifier(max_depth=1).fairness_curve(X, y, sensitive_features=groups)
    data = data_of(report(curve, X, y))
    assert [tree["place"][0] for tree in data["trees"]] == curve.tolerances.tolist()
    assert data["trees"][0]["groups"][0]["groups"] == ["f", "m"]
    model = FairTreeClassifier(max_depth=1, tolerance=0.5).fit(X, y, sensitive_features=groups)
    page = report(
        model, X, y, X, y, sensitive_features=groups, sensitive_features_test=groups, choices=curve
    )
    rates = model.fairness_report(X, y, sensitive_features=groups)
    first = shown(page)["groups"][0]
    assert first["name"] == "Held-out rows"
    assert dict(first["rates"])["error rate"] == pytest.approx(
        list(rates.rates["error_rate"].values())
    )


def test_many_trees_are_thinned() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 6)).round(1)
    y = (X.sum(axis=1) + rng.normal(size=400) > 0).astype(int)
    front = pareto_front(X, y, max_depth=2, thresholds=6)
    assert len(front) > MOST
    page = report(front, X, y)
    data = data_of(page)
    assert len(data["trees"]) <= MOST
    assert data["trees"][0]["place"] == front.points[0, :2].tolist()
    assert data["trees"][-1]["place"] == front.points[-1, :2].tolist()
    assert f"{len(data['trees'])} of {len(front)} trees are shown." in str(page)


# ---- rows ----------------------------------------------------------------------------------------


def test_distributions_count_the_rows_that_arrive() -> None:
    X, y, _ = table()
    model = OptimalTreeClassifier(max_depth=2, splits="both").fit(X, y)
    told = shown(report(model, X, y))
    passed = np.asarray(model.decision_path(X).sum(axis=0)).ravel()
    kinds = set()
    for node, spread in told["spread"].items():
        assert spread["rows"] == passed[int(node)]
        if "bins" in spread:
            kinds.add("bins")
            assert np.sum(spread["bins"]) + spread["missing"] == spread["rows"]
            assert spread["low"] < spread["cut"] < spread["high"]
            assert spread["cut"] == model.tree_.node_test(int(node)).threshold
        else:
            kinds.add("values")
            assert sum(sum(counts) for _, _, counts in spread["values"]) == spread["rows"]
    assert kinds == {"bins", "values"}


def test_dates_have_bins_too() -> None:
    days = np.array([*np.arange("2024-12-01", "2025-02-01", dtype="M8[D]"), "NaT"], "M8[us]")
    tree = Tree(
        *([TimeThreshold(0, "day", "2024-12-31")], [0, -1, -1], [1, -1, -1], [-1, 0, 1]),
        counts=[[31, 32], [31, 0], [0, 32]],
        classes=["old", "new"],
    )
    rows = Table([days], ["number"], ["day"])
    spread = distributions(tree, rows, None)["0"]
    assert (sum(spread["bins"][0]), spread["missing"], spread["missing_side"]) == (62, 1, 1)
    assert spread["cut_text"] == "2024-12-31"
    assert spread["cut"] == np.datetime64("2024-12-31", "us").astype(np.int64)
    texts = [text for _, text in spread["labels"]]
    assert texts == sorted(texts)
    assert "2024-12-01" < texts[0] < texts[1] < texts[2] < "2025-02-01"


def test_the_form_knows_all_values() -> None:
    X, y, _ = table()
    data = data_of(report(OptimalTreeClassifier(max_depth=2).fit(X, y), X, y))
    fields = {field["name"]: field for field in data["form"]["fields"]}
    city = next(field for name, field in fields.items() if name == "city")
    assert {"Bonn", "Ulm", "another value", "missing"} <= set(city["options"])
    number = next(field for field in fields.values() if field["kind"] == "number")
    assert "most rows: " in number["hint"]


class Odd(Test):
    """A test of a kind that reports do not know: whether a number is odd."""

    kind, feature, name = "odd", 0, "x0"

    def holds(self, column: Any) -> Any:
        return column % 2 == 1

    def condition(self, outcome: int) -> Condition:
        return Condition(
            0, "x0", "other", missing=outcome == 1, said=f"x0 is {('odd', 'even')[outcome]}"
        )


def test_a_test_of_any_kind_is_asked_as_it_is_worded() -> None:
    tree = Tree(
        *([Odd()], [0, -1, -1], [1, -1, -1], [-1, 0, 1]),
        counts=[[2, 2], [2, 0], [0, 2]],
        classes=["odd", "even"],
    )
    for rows in ((), ([[1], [2], [3], [4]], ["odd", "even", "odd", "even"])):
        page = report(tree, *rows)
        form = data_of(page)["form"]
        assert form["fields"][0]["options"] == ["x0 is odd", "x0 is even"]
        assert form["tests"][0][0] == {"field": 0, "outcomes": [0, 1]}
    assert shown(page)["spread"]["0"]["values"] == [
        ["x0 is odd", 0, [2, 0]],
        ["x0 is even", 1, [0, 2]],
    ]


def test_rows_with_classes_unseen_in_training() -> None:
    X, y, _ = table()
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    other = y.copy()
    other[:5] = "moved"
    told = shown(report(model, X, y, X, other))
    assert told["quality"][0]["confusion"]["names"][-1] == "moved"
    assert np.sum(told["quality"][0]["confusion"]["counts"][-1]) == 5


def test_numbers_as_classes_and_lists_as_rows() -> None:
    X, y = [[0, 1.5], [1, 2.5], [1, 3.5], [0, 0.5]], [0, 1, 1, 0]
    page = report(OptimalTreeClassifier(max_depth=1).fit(X, y), X, y)
    assert metrics_of(shown(page))["Accuracy"] == "1"
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [0, 1, 1, 0], "b": [1.5, 2.5, 3.5, 0.5]})
    page = report(OptimalTreeClassifier(max_depth=1).fit(frame, y), frame, pl.Series(y))
    assert metrics_of(shown(page))["Accuracy"] == "1"


@pytest.mark.parametrize("criterion", ["absolute_error", "quantile", "poisson", "gamma"])
def test_a_criterion_has_its_own_figure(criterion: str) -> None:
    X = np.arange(24.0).reshape(-1, 1)
    y = 1 + np.arange(24.0) // 8 + np.arange(24) % 2
    level = "3/4" if criterion == "quantile" else 0.5
    tree = OptimalTreeRegressor(criterion=criterion, quantile=level)
    for model in (tree.set_params(max_depth=1), TreeCV(tree, depths=(1,), sizes=None, cv=2)):
        found = metrics_of(shown(report(model.fit(X, y), X, y)))
        assert float(found["D2"]) == pytest.approx(model.certificate_.objective, rel=1e-3)


def test_every_output_has_its_figures() -> None:
    X = np.arange(8.0).reshape(-1, 1)
    y = np.hstack([X, X**2])
    page = report(OptimalTreeRegressor(1).fit(X, y), X, y)
    found = metrics_of(shown(page))
    said = OptimalTreeRegressor(1).fit(X, y).predict(X)
    for k, name in enumerate(("y0", "y1")):
        assert float(found[f"R2 of {name}"]) == pytest.approx(r2_score(y[:, k], said[:, k]), 1e-3)
    assert "predicts several outputs from" in str(page)
    labels = np.column_stack([X[:, 0] > 3, X[:, 0] % 2 == 0])
    found = metrics_of(shown(report(OptimalTreeClassifier(1).fit(X, labels), X, labels)))
    said = OptimalTreeClassifier(1).fit(X, labels).predict(X)
    assert float(found["Accuracy of y0"]) == accuracy_score(labels[:, 0], said[:, 0])
    assert float(found["All right"]) == (said == labels).all(axis=1).mean()
    with pytest.raises(ValueError, match="y must have a column for each output"):
        report(OptimalTreeClassifier(1).fit(X, labels), X, labels[:, 0])


def test_clusters_are_counted_and_need_no_target() -> None:
    X = np.array([[0.0], [1], [2], [10], [11], [30]])
    model = OptimalTreeClusterer(2, max_depth=1).fit(X[:5])
    page = shown(report(model, X[:5], X_test=X))
    assert [set_["name"] for set_ in page["quality"]] == ["Held-out rows", "Training rows"]
    assert page["quality"][0]["counts"]["rows"] == [["cluster 0", 3], ["cluster 1", 3]]
    explained = 1 - model.inertia_ / 5  # of five rows that are divided by their deviation
    assert float(page["quality"][1]["metrics"][0][1]) == pytest.approx(explained, rel=1e-3)


def test_columns_of_formulas_are_fields_without_rows_too() -> None:
    X = np.column_stack([np.arange(20) % 2, np.arange(20.0)])
    y = np.where(X[:, 0] > 0, X[:, 1], 5 - X[:, 1])
    model = LinearTreeRegressor(1, model_features=[1]).fit(X, y)
    form = data_of(report(model))["form"]
    assert [field["name"] for field in form["fields"]] == ["x0", "x1"]
    lines = {
        (round(a, 9), *(round(slope, 9) for _, slope in terms)) for a, terms in form["formulas"][0]
    }
    assert lines == {(0, 1), (5, -1)}


# ---- bad input -----------------------------------------------------------------------------------


def test_without_rows_the_report_says_what_to_add() -> None:
    X, y, _ = table()
    page = report(OptimalTreeClassifier(max_depth=2).fit(X, y))
    check_page(page)
    assert "This report was made without rows." in str(page)
    assert shown(page)["quality"] == []
    assert "hold out rows" in str(report(OptimalTreeClassifier(max_depth=2).fit(X, y), X, y))


def test_bad_input_gets_one_clear_line() -> None:
    X, y, groups = table()
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    cases: list[tuple[type[Exception], str, Any]] = [
        (ValueError, "y was given without X", {"y": y}),
        (ValueError, "y_test was given without X_test", {"X": X, "y": y, "y_test": y}),
        (ValueError, "X_test was given without y_test", {"X": X, "y": y, "X_test": X}),
        (ValueError, "X has 240 rows, but y has 3 values", {"X": X, "y": y[:3]}),
        (ValueError, "one value per row", {"X": X, "y": np.zeros((240, 2))}),
        (ValueError, "feature names should match", {"X": X.rename(columns={"city": "town"})}),
        (ValueError, "but there are 2 sens", {"X": X, "y": y, "sensitive_features": groups[:2]}),
        (TypeError, "choices must be a Regul", {"choices": [model]}),
    ]
    for kind, message, given in cases:
        with pytest.raises(kind, match=message) as caught:
            report(model, **given)
        assert "\n" not in str(caught.value) or "feature names" in message
    numbers = OptimalTreeRegressor(max_depth=1).fit(X, np.arange(240.0))
    with pytest.raises(ValueError, match="y must hold numbers"):
        report(numbers, X, y)
    with pytest.raises(ValueError, match="finite numbers"):
        report(numbers, X, np.full(240, np.nan))


def test_only_models_with_a_tree_have_a_report() -> None:
    roads = datasets.make_two_roads(30, random_state=0)
    with pytest.raises(TypeError, match="SPOForest has many"):
        report(SPOForest(n_estimators=2).fit(roads.X, roads.C))
    with pytest.raises(TypeError, match="got DecisionTreeClassifier"):
        report(DecisionTreeClassifier())
    with pytest.raises(TypeError, match="got OptimalTreeClassifier"):
        report(OptimalTreeClassifier)
    with pytest.raises(NotFittedError):
        report(OptimalTreeClassifier())
    X, y, _ = table()
    model = CostSensitiveTreeClassifier(max_depth=1, capacity={"pay": 0, HOSTILE: 0})
    with pytest.warns(UserWarning, match="nothing to predict with"):
        model.fit(X, y)
    with pytest.raises(InfeasibleError):
        report(model)


def test_saving(tmp_path: Path) -> None:
    X, y, _ = table()
    page = report(OptimalTreeClassifier(max_depth=1).fit(X, y), X, y, title="Title \ud800 <i>")
    assert "Title" in repr(page)
    assert page.save(tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE")
    assert page.save(str(tmp_path / "page.html")) == tmp_path / "page.html"
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        page.save(tmp_path / "none" / "page.html")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        page.save(tmp_path)
    framed = page._repr_html_()
    assert framed.startswith("<iframe srcdoc=")
    assert "<script" not in framed
    assert "<i>" not in str(page)


def test_a_stopped_search_and_a_grown_tree_promise_less() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 8))
    y = rng.integers(0, 2, 300)
    model = OptimalTreeClassifier(max_depth=5, time_limit=0.05)
    with pytest.warns(OptimalityWarning):
        model.fit(X, y)
    told = shown(report(model, X, y))
    assert not told["proven"]
    assert "before the proof was complete" in told["meaning"]
    reason = "A much better tree may exist" in told["meaning"]
    assert reason == told["statement"].startswith("Nothing is proven yet")
    costs = rng.normal(size=(300, 2))
    grown = SPOTree(method="greedy", max_depth=1).fit(X, costs)
    assert "grown step by step" in shown(report(grown, X, costs))["meaning"]


def test_the_same_model_gives_the_same_page() -> None:
    X, y, _ = table()
    model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert str(report(model, X, y)) == str(report(model, X, y))
