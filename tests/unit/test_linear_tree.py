"""Trees with linear models: models, exports, files, missing values, weights, and bad input."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from certree import (
    CertificateError,
    LinearTreeRegressor,
    OptimalityWarning,
    OptimalTreeRegressor,
    Tree,
    TreeCV,
    load,
    report,
    verify,
)
from certree.engine._vector import LinearLoss
from certree.leaves.linear.loss import LinearError, moment_columns
from certree.tree import LinearLeaves

pandas = pytest.importorskip("pandas")


def table(n_rows: int = 90, seed: int = 0) -> tuple[Any, Any]:
    """A frame with numbers, a category, a flag and gaps, and a target with a line per region."""
    rng = np.random.default_rng(seed)
    X = pandas.DataFrame(
        {
            "size": np.round(rng.normal(size=n_rows), 2),
            "my age": rng.integers(20, 80, n_rows),
            "city": rng.choice(["Bonn", "Ulm"], n_rows),
            "is new": rng.random(n_rows) < 0.5,
            "score": np.where(rng.random(n_rows) < 0.2, np.nan, np.round(rng.random(n_rows), 1)),
        }
    )
    line = np.where(X["city"] == "Bonn", 3 * X["size"] + 1, 60 - X["my age"])
    return X, np.round(line + rng.normal(0, 0.2, n_rows), 2)


@pytest.fixture(scope="module")
def fitted() -> tuple[Any, Any, LinearTreeRegressor]:
    X, y = table()
    return X, y, LinearTreeRegressor(max_depth=2, max_splits=1).fit(X, y, path=True)


def test_leaves_hold_the_lines_of_scikit_learn(fitted: Any) -> None:
    X, y, model = fitted
    assert model.tree_.n_splits == 1
    assert [X.columns[k] for k in model.model_features_] == ["size", "my age"]
    leaves = model.apply(X)
    for leaf, slopes in model.coefficients_.items():
        (column,) = np.flatnonzero(slopes)
        at = leaves == leaf
        numbers = X.iloc[at][[X.columns[model.model_features_[column]]]]
        wanted = LinearRegression().fit(numbers, y[at])
        assert slopes[column] == pytest.approx(wanted.coef_[0], rel=1e-9)
        assert model.intercepts_[leaf] == pytest.approx(wanted.intercept_, rel=1e-9, abs=1e-9)
        assert model.predict(X[at]) == pytest.approx(wanted.predict(numbers), abs=1e-9)
    assert float(model.certificate_.objective) == pytest.approx(model.score(X, y), abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_models_are_those_of_scikit_learn(weighted: bool) -> None:
    X, y = table()
    weights = np.random.default_rng(1).random(len(y)) + 0.2 if weighted else None
    names = ["size", "my age"]
    model = LinearTreeRegressor(0, leaf_model="ridge", ridge=2.5, model_features=names)
    model.fit(X, y, weights)
    wanted = Ridge(2.5).fit(X[names], y, weights)
    assert model.coefficients_[0] == pytest.approx(wanted.coef_, rel=1e-9)
    own = np.ones(len(y)) if weights is None else weights
    cost = own @ np.square(y - wanted.predict(X[names])) + 2.5 * np.square(wanted.coef_).sum()
    assert float(model.certificate_.cost) == pytest.approx(cost, rel=1e-5)
    verify(model, X, y, sample_weight=weights)


def test_a_weight_of_two_is_two_rows() -> None:
    X, y = table(40)
    weights = np.arange(40) % 3
    rows = np.repeat(np.arange(40), weights)
    # Cut points depend on the rows, so the same ones are given to both fits.
    cuts = {name: [25.5, 40.5] if name == "my age" else [] for name in ("my age", "score", "size")}
    settings: dict[str, Any] = {"max_depth": 1, "min_samples_leaf": 1, "thresholds": cuts}
    one = LinearTreeRegressor(**settings).fit(X, y, weights)
    two = LinearTreeRegressor(**settings).fit(X.iloc[rows], y[rows])
    assert float(one.certificate_.cost) == pytest.approx(float(two.certificate_.cost), rel=1e-9)
    assert one.predict(X) == pytest.approx(two.predict(X), rel=1e-9)


def test_constant_leaves_are_those_of_the_regressor() -> None:
    X, y = table()
    one = LinearTreeRegressor(2, leaf_model="constant", min_samples_leaf=5).fit(X, y)
    two = OptimalTreeRegressor(2, min_samples_leaf=5).fit(X, y)
    assert one.certificate_.cost == two.certificate_.cost
    assert one.predict(X).tolist() == two.predict(X).tolist()
    assert set(one.intercepts_.values()) == set(two.tree_.classes.tolist())


def test_every_coefficient_takes_a_row() -> None:
    X, y = table()
    for form, more in (("simple", 1), ("ridge", 2), ("constant", 0)):
        model = LinearTreeRegressor(
            3, leaf_model=form, model_features=["size", "my age"], min_samples_leaf=4
        ).fit(X, y)
        assert model.certificate_.min_samples_leaf == 4 + more
        assert np.unique(model.apply(X), return_counts=True)[1].min() >= 4 + more


# ---- the cost ----------------------------------------------------------------------------------


def numbers_of(loss: LinearLoss, x: Any, y: Any) -> Any:
    """The cost of some rows by the core."""
    columns = np.column_stack([np.ones(len(y), dtype=int), y, x])
    pairs = moment_columns(x.shape[1], loss.is_simple)
    sums = [[int((columns[:, j] * columns[:, k]).sum()) for j, k in pairs]]
    return int(loss.costs(np.array(sums))[0]) / loss.scale


def test_a_ridge_breaks_the_law_of_sums() -> None:
    x = np.array([[0], [10], [1], [11]])
    one = LinearLoss(True, (1.0,), (0.0,), 2.0**20, 2**60)
    parts = [numbers_of(one, x[rows], x[rows, 0]) for rows in (slice(2), slice(2, 4))]
    assert numbers_of(one, x, x[:, 0]) < 1 < sum(parts)
    assert not LinearError(x.astype(float), ridge=1.0).laws.superadditive
    assert LinearError(x.astype(float)).laws.superadditive


@pytest.mark.parametrize("seed", range(40))
def test_the_core_keeps_its_digits_where_columns_nearly_depend(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_columns = int(rng.integers(1, 6))
    base = rng.integers(-(10**6), 10**6, (12, 1))
    x = base + rng.integers(-3, 4, (12, n_columns))
    y = rng.integers(-1000, 1000, 12)
    loss = LinearLoss(False, (0.0,) * n_columns, (0.0,) * n_columns, 1.0, 2**60)
    # All columns minus the first one span the same, and lstsq keeps all digits of these.
    plain = np.column_stack([x[:, 0] - x[:, 0].mean(), (x[:, 1:] - x[:, :1]).astype(float)])
    plain[:, 1:] -= plain[:, 1:].mean(axis=0)
    plain /= np.maximum(np.linalg.norm(plain, axis=0), 1e-9)
    target = y - y.mean()
    rest = target - plain @ np.linalg.lstsq(plain, target, rcond=1e-9)[0]
    assert numbers_of(loss, x, y) == pytest.approx(float(rest @ rest), rel=1e-6, abs=1.0)


@pytest.mark.parametrize("is_simple", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_the_core_and_numpy_compute_the_same_cost(is_simple: bool, ridge: float) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model = LinearTreeRegressor(
        0, leaf_model="simple" if is_simple else "ridge", ridge=ridge, min_samples_leaf=1
    ).fit(x, y)
    own = LinearError(x, is_simple, ridge).leaf_costs(y, 200)
    wanted = own.cost(own.statistics.sum(axis=0, keepdims=True))[0]
    assert float(model.certificate_.cost) == pytest.approx(wanted, rel=1e-6)


# ---- exports and files -------------------------------------------------------------------------


def test_formulas_in_text_pictures_and_pages(fitted: Any) -> None:
    X, y, model = fitted
    for text in (model.to_text(), model.tree_.to_dot()):
        assert "0.9751 + 3.037 * size" in text
        assert "60.18 - 1.003 * my age" in text
    assert "60.18 - 1.003" in model.tree_.to_mermaid()
    assert "* my age" in model.tree_.to_html()
    page = str(report(model, X, y))
    assert "* my age" in page
    assert "from 3 of 5 columns" in page
    assert model.plot() is not None


def test_exports_predict_the_same(fitted: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    X, _, model = fitted
    wanted = model.predict(X)
    scope: dict[str, Any] = {}
    exec(model.tree_.to_python(), scope)
    rows = X.to_dict("records")
    assert [scope["predict"](row) for row in rows] == pytest.approx(wanted.tolist(), rel=1e-12)
    query = f"SELECT {model.tree_.to_sql()} AS said FROM X"
    assert duckdb.sql(query).df()["said"].tolist() == pytest.approx(wanted.tolist(), rel=1e-12)


def test_c_predicts_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    X = np.round(rng.normal(size=(60, 2)), 2)
    y = np.round(np.where(X[:, 0] > 0, 2 * X[:, 1], -X[:, 0]), 3)
    model = LinearTreeRegressor(1).fit(X, y)
    source = tmp_path / "tree.c"
    calls = "".join(
        f'    {{ struct predict_row r = {{ {a!r}, {b!r} }}; printf("%.17g\\n", predict(&r)); }}\n'
        for a, b in X.tolist()
    )
    source.write_text(
        f"#include <stdio.h>\n{model.tree_.to_c()}\nint main(void)\n{{\n{calls}    return 0;\n}}\n"
    )
    program = tmp_path / "tree"
    subprocess.run(["cc", "-o", str(program), str(source), "-lm"], check=True)
    said = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    assert list(map(float, said.split())) == pytest.approx(model.predict(X).tolist(), rel=1e-12)


def test_files_keep_formulas(fitted: Any, tmp_path: Path) -> None:
    X, y, model = fitted
    model.save(tmp_path / "model.json")
    other = load(tmp_path / "model.json")
    assert other.predict(X).tolist() == model.predict(X).tolist()
    assert other.model_units_ == model.model_units_
    assert verify(other, X, y)
    tree = Tree.from_json(model.tree_.to_json())
    assert tree == model.tree_
    assert isinstance(tree.payload, LinearLeaves)


@pytest.mark.parametrize(
    "part, value, message",
    [
        ("features", [0, 0], "distinct columns"),
        ("features", [0, 77], "Leaves need the columns"),
        ("features", None, "lists of columns"),
        ("columns", ["a"], "coefficients"),
        ("means", [1.0], "differ in length"),
        ("values", [[1.0, 2.0, "x"], [1.0, 2.0, 3.0]], "values of leaves"),
    ],
)
def test_broken_files_are_refused(fitted: Any, part: str, value: Any, message: str) -> None:
    data = json.loads(fitted[2].tree_.to_json())
    data["leaves"][part] = value
    with pytest.raises(ValueError, match=message):
        Tree.from_json(json.dumps(data))


def test_explanations_have_the_number_and_the_formula(fitted: Any) -> None:
    X, _, model = fitted
    found = model.explain(X.iloc[[0]])
    assert found.prediction == pytest.approx(model.predict(X.iloc[[0]])[0])
    assert found.name.startswith(f"{found.prediction:.6g} = ")
    with pytest.raises(ValueError, match="to_sklearn cannot write"):
        model.tree_.to_sklearn(encoded=True)


def test_paths_and_cross_validation(fitted: Any) -> None:
    X, y, model = fitted
    scores = [entry.accuracy for entry in model.path_.entries]
    assert scores == sorted(scores)
    assert [entry.splits for entry in model.path_.entries] == [0, 1]
    search = TreeCV(LinearTreeRegressor(thresholds=6), depths=(0, 1), cv=3).fit(X, y)
    assert search.best_params_["max_depth"] == 1


def test_verify_finds_other_formulas(fitted: Any) -> None:
    X, y, model = fitted
    data = json.loads(model.tree_.to_json())
    data["leaves"]["values"][0][0] += 0.5
    other = load_with(model, Tree.from_json(json.dumps(data)))
    with pytest.raises(CertificateError):
        verify(other, X, y)
    other = load_with(model, model.tree_)
    other.model_units_ = (1, 1)
    with pytest.raises(CertificateError, match="was rounded to"):
        verify(other, X, y)


def load_with(model: Any, tree: Tree) -> Any:
    """The same model with another tree."""
    other = copy.copy(model)
    other.tree_ = tree
    return other


# ---- bad input ---------------------------------------------------------------------------------


def test_dependent_columns_get_the_smallest_coefficients() -> None:
    x = np.arange(12.0)
    X, y = np.column_stack([x, 2 * x, np.full(12, 7.0)]), 5 * x + 1
    model = LinearTreeRegressor(1, leaf_model="ridge").fit(X, y)
    assert model.tree_.n_splits == 0
    # The same share of the slope for both, in units of their spread, and none of a constant.
    assert model.coefficients_[0] == pytest.approx([2.5, 1.25, 0.0])
    assert model.predict(X) == pytest.approx(y)
    assert verify(model, X, y)


def test_dependent_columns_with_many_digits() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    X, y = np.column_stack([x, x / 3 + 1]), rng.normal(size=40)
    model = LinearTreeRegressor(0, leaf_model="ridge").fit(X, y)
    alone = LinearTreeRegressor(0, leaf_model="ridge", model_features=[0]).fit(X, y)
    assert float(model.certificate_.cost) == pytest.approx(float(alone.certificate_.cost), rel=1e-4)
    assert all(unit > 0 for unit in model.model_units_)
    assert verify(model, X, y)


def test_fewer_rows_than_coefficients_give_one_leaf() -> None:
    X = np.array([[1.0, 2.0, 4.0], [2.0, 1.0, 0.0]])
    model = LinearTreeRegressor(3, leaf_model="ridge", min_samples_leaf=1).fit(X, [1.0, 3.0])
    assert model.tree_.n_splits == 0
    assert model.predict(X) == pytest.approx([1.0, 3.0])


def test_constant_targets_cost_nothing() -> None:
    X, _ = table(30)
    for form in ("simple", "ridge", "constant"):
        model = LinearTreeRegressor(2, leaf_model=form).fit(X, np.full(30, 4.5))
        assert model.certificate_.cost == 0
        assert model.certificate_.objective == 1
        assert model.predict(X).tolist() == [4.5] * 30
        assert model.tree_.n_splits == 0


def test_missing_values_in_tests_and_in_models() -> None:
    X, y = table()
    model = LinearTreeRegressor(2, model_features=["size"]).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    lacking = X.copy()
    lacking.loc[3, "size"] = np.nan
    with pytest.raises(ValueError, match=r"'size' is missing in row 3, and the model of its leaf"):
        model.predict(lacking)
    with pytest.raises(ValueError, match=r"'score', which is missing in row \d+; fill values in"):
        LinearTreeRegressor(model_features=["score"]).fit(X, y)
    with pytest.warns(UserWarning, match="no column of numbers without missing values"):
        constant = LinearTreeRegressor(2).fit(X[["city", "score"]], y)
    assert constant.tree_.payload.kind == "numbers"
    assert len(constant.model_features_) == 0
    assert verify(constant, X[["city", "score"]], y)


@pytest.mark.parametrize(
    "settings, kind, message",
    [
        ({"leaf_model": "lines"}, ValueError, "leaf_model='lines' is not supported"),
        ({"ridge": -1.0}, ValueError, "ridge must be a finite number of at least 0"),
        ({"ridge": "much"}, TypeError, "ridge must be"),
        ({"model_features": "size"}, ValueError, "must be a list of columns, got 'size'"),
        ({"model_features": []}, ValueError, "model_features is empty"),
        ({"model_features": ["size", 0]}, ValueError, "names a column twice"),
        ({"model_features": ["city"]}, ValueError, "'city', which is of the kind text"),
        ({"model_features": ["is new"]}, ValueError, "'is new', which is of the kind flag"),
        ({"model_features": ["weight"]}, ValueError, "'weight', which the table does not have"),
        ({"model_features": [9]}, ValueError, "column index 9"),
    ],
)
def test_bad_parameters(settings: dict[str, Any], kind: type[Exception], message: str) -> None:
    X, y = table(30)
    with pytest.raises(kind, match=message):
        LinearTreeRegressor(**settings).fit(X, y)


def test_too_many_columns() -> None:
    X = np.random.default_rng(0).normal(size=(50, 40)).round(1)
    with pytest.raises(ValueError, match=r"can choose among up to 32 columns, got 40"):
        LinearTreeRegressor().fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"can have up to 10 columns, got 40"):
        LinearTreeRegressor(leaf_model="ridge").fit(X, X[:, 0])


def test_several_targets_are_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match=r"takes one\. Fit a tree for each column, or use Optimal"):
        LinearTreeRegressor().fit([[0.0], [1]], [[1, 2], [3, 4]])


def test_large_weights_and_large_numbers() -> None:
    X, y = table(40)
    for weights in (np.arange(1, 41) * 10**9 + 1, np.linspace(1e-6, 1, 40)):
        model = LinearTreeRegressor(1, thresholds=4).fit(X, y * 1e6, weights)
        assert np.isfinite(model.predict(X)).all()
        verify(model, X, y * 1e6, sample_weight=weights)


@pytest.mark.parametrize("ridge", [0.0, 1e-9, 1.0])
def test_columns_in_two_units_count_once(ridge: float) -> None:
    """A weight in pounds beside one in kilograms adds nothing, whatever the rounding leaves."""
    rng = np.random.default_rng(1)
    kilograms, age = rng.normal(70, 10, 200).round(1), rng.integers(20, 80, 200)
    pounds, y = kilograms / 0.45359237, (kilograms * 0.3 + rng.normal(size=200) * 3).round(1)
    costs = []
    for columns in ((pounds, kilograms, age), (kilograms, pounds, age), (age, pounds, kilograms)):
        X = np.column_stack(columns)
        model = LinearTreeRegressor(
            1, leaf_model="ridge", ridge=ridge, min_samples_leaf=20, thresholds=4
        ).fit(X, y)
        squares = float(np.square(y - model.predict(X)).sum())
        certificate = model.certificate_
        costs.append(float(certificate.cost))
        assert squares <= costs[-1] + float(certificate.rounding) + 1e-6 * squares
        assert verify(model, X, y)
    assert max(costs) - min(costs) <= 1e-6 * max(costs)


def test_sums_of_columns_are_verified() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        first, second = rng.normal(size=80).round(2), rng.integers(0, 5, 80)
        X = np.column_stack([first, second, first + second])
        y = (2 * first + second + rng.normal(size=80)).round(2)
        model = LinearTreeRegressor(1, leaf_model="ridge", thresholds=4).fit(X, y)
        assert float(model.certificate_.cost) == pytest.approx(
            float(np.square(y - model.predict(X)).sum()), rel=1e-6
        )
        assert verify(model, X, y)


def test_weights_so_far_apart_that_columns_are_coarse_are_not_called_optimal() -> None:
    """The columns of light rows had a few hundred steps, and a worse tree was called optimal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * (X[:, 1] > 0) + rng.normal(size=60) / 10
    weights = rng.random(60) * 10.0 ** rng.integers(0, 9, 60)
    model = LinearTreeRegressor(1, ridge=0.1, thresholds=4)
    with pytest.warns(OptimalityWarning, match="Round sample_weight"):
        model.fit(X, y, weights)
    assert model.certificate_.status == "precision"
    assert verify(model, X, y, weights)
    assert model.fit(X, y, np.clip(weights, 1e2, 1e4)).certificate_.is_optimal


def test_constant_columns_and_targets_are_exact_with_any_weights() -> None:
    for X, y, weights in (
        ([[2.0], [2.0]], [2, 1], [0.44, 0.09999999999999999]),
        ([[0], [1], [2]], [2, 2, 2], [2, 2, 2]),
        ([[0], [1], [2]], [2, 2, 2], [2.0**50] * 3),
        ([[0], [1], [2]], [2, 2, 2], [0.44, 0.09999999999999999, 1e-9]),
    ):
        model = LinearTreeRegressor(max_depth=0, min_samples_leaf=1)
        model.fit(X, y, sample_weight=weights)
        assert model.certificate_.rounding <= max(weights) * 1e-5
        verify(model, X, y, sample_weight=weights)
    assert model.model_units_[0] > 0
    model.fit([[2.0], [2.0]], [2, 1], sample_weight=[0.44, 0.09999999999999999])
    assert list(model.model_units_) == [0]


def test_verify_allows_for_terms_that_cancel() -> None:
    X = (1_700_000_000 + np.arange(200.0))[:, None]
    y = (np.arange(200) * 0.01 + np.random.default_rng(3).normal(size=200)).round(3)
    model = LinearTreeRegressor(max_depth=1).fit(X, y)
    verify(model, X, y)
    predict = model.predict
    model.predict = lambda table: predict(table) + 1e-3
    with pytest.raises(CertificateError, match="prediction for row"):
        verify(model, X, y)
