"""Survival trees: what they read, refuse, predict, draw and write."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from certree import (
    CertificateError,
    OptimalityWarning,
    StepFunction,
    SurvivalCurve,
    SurvivalTree,
    Tree,
    TreeCV,
    datasets,
    load,
    report,
    verify,
)
from certree.tree import SurvivalLeaves

TIME = [1.0, 2.0, 2.0, 3.5, 4.0, 5.0]
EVENT = [1, 1, 0, 1, 0, 1]
X = [[0], [0], [0], [1], [1], [1]]


def heart(n_rows: int = 120) -> tuple[Any, Any]:
    data = datasets.make_heart_failure(n_rows)
    return data.data, data.target


@pytest.fixture(scope="module")
def fitted() -> SurvivalTree:
    return SurvivalTree(max_depth=2, thresholds=6, min_samples_leaf=10).fit(*heart())


# ---- reading -----------------------------------------------------------------------------------


def _forms() -> dict[str, Any]:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pairs = list(zip(map(bool, EVENT), TIME, strict=True))
    flipped = [(time, event) for event, time in pairs]
    seen = list(map(bool, EVENT))
    return {
        "two columns": list(zip(TIME, EVENT, strict=True)),
        "structured": np.array(pairs, dtype=[("e", "?"), ("t", "f8")]),
        "structured, time first": np.array(flipped, dtype=[("t", "f8"), ("e", "?")]),
        "structured, numbers": np.array(pairs, dtype=[("a", "i8"), ("b", "f8")]),
        "pandas": pandas.DataFrame({"days": TIME, "observed": EVENT}),
        "pandas by type": pandas.DataFrame({"x": seen, "y": TIME}),
        "pandas by name": pandas.DataFrame({"status": EVENT, "days": TIME}),
        "polars": polars.DataFrame({"time": TIME, "event": seen}),
        "objects": np.array(list(zip(TIME, seen, strict=True)), dtype=object),
    }


@pytest.mark.parametrize("form", list(_forms()))
def test_all_forms_of_y_mean_the_same(form: str) -> None:
    y = _forms()[form]
    model = SurvivalTree(max_depth=1).fit(X, y)
    wanted = SurvivalTree(max_depth=1).fit(X, _forms()["two columns"])
    assert model.tree_ == wanted.tree_
    assert model.score(X, y) == wanted.score(X, _forms()["two columns"])
    assert verify(model, X, y)


def test_one_column_holds_times_that_all_ended_with_the_event() -> None:
    model = SurvivalTree(max_depth=1).fit(X, TIME)
    same = SurvivalTree(max_depth=1).fit(X, [(time, 1) for time in TIME])
    assert model.tree_ == same.tree_
    assert verify(model, X, TIME)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ({"time": TIME, "event": [1] * 6}, "y is of type dict; give scikit-survival's"),
        ([(0, 1)] * 6, "must be greater than 0, got 0.0 in row 0"),
        ([(1, 1)] * 5 + [(-2.5, 0)], "must be greater than 0, got -2.5 in row 5"),
        ([(1, 2)] * 6, "must be 0 or 1, got 2.0 in row 0"),
        ([(1, 0.5)] * 6, "must be 0 or 1, got 0.5"),
        ([(1, "dead")] * 6, "must be numbers"),
        ([(float("nan"), 1)] * 6, "contains NaN"),
        ([(1, None)] * 6, "contains NaN .first among the events in row 0.; drop such rows"),
        ([(float("inf"), 1)] * 6, "contains infinity"),
        ([(1, 1, 1)] * 6, r"y has shape \(6, 3\)"),
        ([(1, 1)] * 5, "X has 6 rows, but y has 5"),
        (np.ones(6, dtype=[("a", "?"), ("b", "f8"), ("c", "f8")]), "time and event are needed"),
        (np.array([(1, 1)] * 6, dtype="timedelta64[D]"), "in one unit, such as days"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_targets_are_refused_in_words(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SurvivalTree().fit(X, y)


def test_a_missing_event_of_pandas_is_named() -> None:
    pd = pytest.importorskip("pandas")
    event = pd.array([True, False, None, True, True, False], dtype="boolean")
    frame = pd.DataFrame({"time": TIME, "event": event})
    with pytest.raises(ValueError, match="first among the events in row 2"):
        SurvivalTree().fit(X, frame)
    frame["event"] = frame["event"].fillna(False)
    seen = [1, 0, 0, 1, 1, 0]
    same = SurvivalTree(max_depth=1).fit(X, list(zip(TIME, seen, strict=True)))
    assert SurvivalTree(max_depth=1).fit(X, frame).tree_ == same.tree_


def test_without_any_event_there_is_one_leaf_with_a_flat_curve_and_a_warning() -> None:
    y = [(time, 0) for time in TIME]
    with pytest.warns(UserWarning, match="y has no event"):
        model = SurvivalTree().fit(X, y)
    assert model.to_text().startswith("risk 0.")
    assert model.certificate_.cost == 0
    assert model.predict_survival_function(X)[0]([0, 10]).tolist() == [1, 1]
    assert model.curves_[0]([1, 9]).tolist() == [1, 1]
    assert verify(model, X, y)
    with pytest.raises(ValueError, match="No two rows can be compared"):
        model.score(X, y)


def test_a_leaf_without_events_predicts_half_an_event() -> None:
    y = [(1, 1), (2, 1), (3, 1), (4, 0), (5, 0), (6, 0)]
    model = SurvivalTree(max_depth=1).fit(X, y)
    total = 1 / 6 + 1 / 5 + 1 / 4
    assert model.predict([[1]])[0] == pytest.approx(0.5 / (3 * total), rel=1e-12)
    assert verify(model, X, y)


# ---- laws --------------------------------------------------------------------------------------


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    X, y = heart(60)
    weights = np.arange(60) % 3
    again = np.repeat(np.arange(60), weights)
    one = SurvivalTree(max_depth=2, thresholds={0: [65], 1: [30], 2: [1.5], 3: [137]})
    two = SurvivalTree(**one.get_params())
    one.fit(X, y, weights)
    two.fit(X[again], y[again])
    assert float(one.certificate_.cost) == pytest.approx(float(two.certificate_.cost), abs=1e-6)
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-9)
    assert one.score(X, y, weights) == pytest.approx(two.score(X[again], y[again]), abs=1e-12)
    for leaf, curve in one.curves_.items():
        np.testing.assert_allclose(curve.lower, two.curves_[leaf].lower, rtol=1e-12)
    assert verify(one, X, y, sample_weight=weights)


@pytest.mark.parametrize("unit", [1e-9, 0.1, 1e6])
def test_only_ratios_of_weights_matter(unit: float) -> None:
    X, y = heart(60)
    y["event"][np.argsort(y["time"])[:5]] = False
    weights = np.arange(60) % 4 + 1
    one = SurvivalTree(max_depth=2, thresholds={0: [65], 1: [30], 2: [1.5]}).fit(X, y, weights)
    other = SurvivalTree(max_depth=2, thresholds={0: [65], 1: [30], 2: [1.5]}).fit(
        X, y, weights * unit
    )
    np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=1e-9)
    assert other.certificate_.objective == pytest.approx(one.certificate_.objective, abs=1e-6)
    assert verify(other, X, y, sample_weight=weights * unit)


def test_more_splits_never_raise_the_loss() -> None:
    X, y = heart()
    model = SurvivalTree(max_depth=3, thresholds=4).fit(X, y, path=True)
    costs = [float(entry.errors) for entry in model.path_]
    assert costs == sorted(costs, reverse=True)
    assert model.path_.entries[0].accuracy == 0
    assert verify(model, X, y)


def test_a_penalty_per_leaf_makes_trees_smaller() -> None:
    X, y = heart()
    free = SurvivalTree(max_depth=2, thresholds=4).fit(X, y)
    paid = SurvivalTree(max_depth=2, thresholds=4, complexity=0.05, complexity_per="leaf")
    assert paid.fit(X, y).tree_.n_splits < free.tree_.n_splits
    assert verify(paid, X, y)


def test_a_stopped_search_has_a_tree_and_a_bound() -> None:
    X, y = heart()
    model = SurvivalTree(max_depth=4, time_limit=1e-4)
    with pytest.warns(OptimalityWarning):
        model.fit(X, y)
    assert model.certificate_.lower_bound < model.certificate_.cost
    assert verify(model, X, y)


def test_cross_validation_scores_by_concordance() -> None:
    X, y = heart()
    search = TreeCV(SurvivalTree(thresholds=4), depths=(1, 2), cv=3).fit(X, y)
    assert search.best_estimator_.tree_.n_splits >= 1
    assert 0.5 < search.score(X, y) < 1
    with pytest.raises(ValueError, match="scoring='r2' does not know censored times"):
        TreeCV(SurvivalTree(), depths=(1,), scoring="r2").fit(X, y)
    by_rows = TreeCV(SurvivalTree(thresholds=4), depths=(1,), cv=3, scoring=lambda m, X, y: len(X))
    assert by_rows.fit(X, y).best_score_ == 40
    # Folds keep the share of events, also where rows are in their order.
    order = np.argsort(y["event"], kind="stable")
    rare = y.copy()
    rare["event"][order[:-12]] = False
    sorted_rows = TreeCV(SurvivalTree(thresholds=4), depths=(1,), cv=4).fit(X[order], rare[order])
    assert np.isfinite(sorted_rows.cv_results_["mean_test_score"]).all()


# ---- predictions -------------------------------------------------------------------------------


def test_functions_are_the_baseline_by_risk(fitted: SurvivalTree) -> None:
    X, _ = heart()
    hazards = fitted.predict_cumulative_hazard_function(X, return_array=True)
    survival = fitted.predict_survival_function(X, return_array=True)
    assert hazards.shape == (120, len(fitted.unique_times_))
    np.testing.assert_allclose(survival, np.exp(-hazards))
    function = fitted.predict_survival_function(X)[5]
    assert isinstance(function, StepFunction)
    assert function.domain == (0, np.inf)
    assert "steps" in repr(function)
    np.testing.assert_array_equal(function(fitted.unique_times_), survival[5])
    assert function(0) == 1
    ratio = hazards[:, -1] / fitted.predict(X)
    np.testing.assert_allclose(ratio, ratio[0])


def test_rows_of_higher_risk_have_lower_curves(fitted: SurvivalTree) -> None:
    X, _ = heart()
    last = fitted.predict_survival_function(X, return_array=True)[:, -1]
    order = np.argsort(fitted.predict(X))
    assert (np.diff(last[order]) <= 1e-15).all()


# ---- files, exports, pictures ------------------------------------------------------------------


def test_files_keep_curves_and_baseline(fitted: SurvivalTree, tmp_path: Any) -> None:
    fitted.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.tree_ == fitted.tree_
    assert again.curves_ == fitted.curves_
    X, y = heart()
    assert verify(again, X, y)
    assert Tree.from_json(fitted.tree_.to_json()) == fitted.tree_


def test_exports_write_risks(fitted: SurvivalTree) -> None:
    X, _ = heart()
    risks = fitted.predict(X)
    scope: dict[str, Any] = {}
    exec(fitted.tree_.to_python(), scope)
    assert [scope["predict"](row) for row in X.tolist()] == risks.tolist()
    assert f"THEN {float(risks[0])!r}" in fitted.tree_.to_sql() or "ELSE" in fitted.tree_.to_sql()
    assert "events, " in fitted.tree_.to_dot()
    assert re.search(r"risk [0-9.]+ \(\d+ events, [0-9.]+ expected\)", fitted.to_text())
    assert "risk" in str(fitted.explain(X[:1]))


def test_pictures_have_a_curve_in_every_leaf(fitted: SurvivalTree) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    n_leaves = fitted.tree_.n_leaves
    still = fitted.tree_.to_html(interactive=False)
    assert still.count('class="curve"') == still.count('class="band"') == n_leaves
    data = re.search(r'class="certree-data">(.*?)</script>', fitted.tree_.to_html())
    assert data is not None
    nodes = json.loads(data.group(1))["nodes"]
    sketches = [node["sketch"] for node in nodes if not node["children"]]
    assert all(sketch["line"][0] == [0, 1] and sketch["told"] for sketch in sketches)
    assert all(node["sketch"] is None for node in nodes if node["children"])
    axes = fitted.plot()
    bands = [patch for patch in axes.patches if type(patch).__name__ == "Polygon"]
    assert len(bands) == n_leaves


def test_reports_tell_the_concordance(fitted: SurvivalTree, tmp_path: Any) -> None:
    X, y = heart()
    report(fitted, X, y).save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Concordance" in page
    assert f"{fitted.score(X, y):.4g}" in page


def test_the_certificate_speaks_of_loss(fitted: SurvivalTree) -> None:
    assert "has a loss below" in fitted.certificate_.statement()
    assert "explained deviance" in str(fitted.certificate_)


def test_curves_know_their_median() -> None:
    curve = SurvivalTree(max_depth=0).fit(X, [(time, 1) for time in TIME]).curves_[0]
    assert curve.median == 2
    assert curve.last == 5
    assert repr(curve) == "SurvivalCurve(events=6, median=2, last=5)"
    assert SurvivalCurve.from_dict(curve.to_dict()) == curve
    assert len({curve, SurvivalCurve.from_dict(curve.to_dict())}) == 1


# ---- what is changed is noticed ----------------------------------------------------------------


@pytest.mark.parametrize("part", ["values", "curves", "hazards", "times"])
def test_verify_notices_other_risks_curves_and_baselines(fitted: SurvivalTree, part: str) -> None:
    X, y = heart()
    data = fitted.tree_.to_dict()
    leaves = data["leaves"]
    if part == "values":
        leaves["values"][0] *= 1.001
    elif part == "curves":
        leaves["curves"][0]["survival"][0] -= 1e-6
    else:
        leaves["baseline"][{"hazards": "hazard", "times": "time"}[part]][-1] += 0.001
    other = SurvivalTree(max_depth=2, thresholds=6, min_samples_leaf=10).fit(X, y)
    other.tree_ = Tree.from_dict(data)
    with pytest.raises(CertificateError):
        verify(other, X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda leaves: leaves.pop("curves"), "have the keys"),
        (lambda leaves: leaves.update(curves=3), "curves must be a list"),
        (lambda leaves: leaves.update(curves=[]), "one risk for each curve"),
        (lambda leaves: leaves["values"].__setitem__(0, -1), "at least 0"),
        (lambda leaves: leaves["values"].__setitem__(0, "x"), "finite number"),
        (lambda leaves: leaves["baseline"].pop("time"), "keys time and hazard"),
        (lambda leaves: leaves["baseline"]["time"].pop(), "baseline has"),
        (lambda leaves: leaves["baseline"]["time"].reverse(), "must ascend"),
        (lambda leaves: leaves["curves"][0].pop("last"), "has the keys"),
        (lambda leaves: leaves["curves"][0]["time"].pop(), "differ in length"),
        (lambda leaves: leaves["curves"][0].update(lower=None), "list of numbers"),
    ],
)
def test_spoiled_files_are_refused(fitted: SurvivalTree, change: Any, message: str) -> None:
    data = fitted.tree_.to_dict()
    assert isinstance(fitted.tree_.payload, SurvivalLeaves)
    change(data["leaves"])
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(data)
