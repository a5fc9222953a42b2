"""Trees and forests that decide: laws, pruning, exports, persistence, bad input."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from certree import (
    CertificateError,
    SPOForest,
    SPOTree,
    datasets,
    engine,
    oracles,
    verify,
)

GRID = oracles.GridShortestPath(4, 4)


@pytest.fixture(scope="module")
def paths() -> Any:
    return datasets.make_shortest_path(n=120, random_state=3, n_test=200)


def test_two_roads_are_split_where_they_cross() -> None:
    roads = datasets.make_two_roads(2000, random_state=0)
    for method in ("exact", "greedy"):
        model = SPOTree(method=method, max_depth=1, thresholds="all").fit(roads.X, roads.C)
        assert model.tree_.tests[0].threshold == pytest.approx(0.28, abs=0.005)
        assert model.certificate_.cost == 0
        assert model.loss(roads.X, roads.C) == 0
        assert model.score(roads.X, roads.C) == 0


@given(st.integers(0, 10**6))
def test_the_mean_cost_vector_minimises_the_loss_within_a_leaf(seed: int) -> None:
    """Theorem 1: no prediction does better than the mean, if the mean has one best decision."""
    random = np.random.default_rng(seed)
    table = random.integers(0, 3, (5, 3)).astype(float)
    oracle = oracles.Decisions(table)
    costs = random.normal(size=(6, 3))

    def loss(prediction: np.ndarray) -> float:
        decisions = oracle.worst(np.tile(prediction, (len(costs), 1)), costs)
        return float(np.einsum("ij,ij->", costs, decisions) - oracle.solve(costs).values.sum())

    least = loss(costs.mean(axis=0))
    for prediction in random.normal(size=(20, 3)):
        assert loss(prediction) >= least - 1e-9


def test_ties_count_the_worst_of_the_best_decisions() -> None:
    X, C = [[0], [0]], [[0.0, 2.0], [2.0, 0.0]]
    model = SPOTree(max_depth=1).fit(X, C)
    np.testing.assert_array_equal(model.predict(X), [[1, 1], [1, 1]])
    assert model.certificate_.cost == 2
    assert model.loss(X, C) == 2.0
    assert model.loss(X, C, ties="decided") == 1.0


def test_maximising_is_minimising_the_negative() -> None:
    random = np.random.default_rng(0)
    X, C = random.integers(0, 2, (20, 4)), random.integers(0, 9, (20, 4))
    up = SPOTree(oracles.TopK(4, 2, sense="max"), max_depth=2).fit(X, C)
    down = SPOTree(oracles.TopK(4, 2), max_depth=2).fit(X, -C)
    assert up.certificate_.cost == down.certificate_.cost
    np.testing.assert_array_equal(up.decide(X), down.decide(X))
    np.testing.assert_allclose(up.predict(X), -down.predict(X))
    assert up.loss(X, C) == pytest.approx(down.loss(X, -C))


@pytest.mark.parametrize("max_listed", [0, 128])
def test_weights_are_repetitions(paths: Any, max_listed: int) -> None:
    X, C = paths.X[:40], paths.C[:40]
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    settings = {"max_depth": 2, "min_samples_leaf": 7, "max_listed": max_listed, "thresholds": 4}
    weighted = SPOTree(GRID, **settings).fit(X, C, weights)
    repeated = SPOTree(GRID, **settings).fit(
        np.repeat(X, weights, axis=0), np.repeat(C, weights, axis=0)
    )
    assert float(weighted.certificate_.cost) == pytest.approx(float(repeated.certificate_.cost))
    np.testing.assert_array_equal(weighted.decide(X), repeated.decide(X))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
    assert weighted.loss(X, C, weights) == pytest.approx(repeated.loss(X, C, weights))


def test_the_exact_tree_is_never_worse_than_the_greedy_one(paths: Any) -> None:
    for depth in (1, 2, 3):
        settings = {"max_depth": depth, "thresholds": 6, "min_samples_leaf": 10}
        exact = SPOTree(GRID, **settings).fit(paths.X, paths.C)
        greedy = SPOTree(GRID, method="greedy", **settings).fit(paths.X, paths.C)
        assert exact.certificate_.cost <= greedy.certificate_.cost
        assert exact.certificate_.is_optimal
        mean = float(exact.certificate_.cost) / len(paths.X)
        assert exact.loss(paths.X, paths.C) == pytest.approx(mean)
        assert exact.certificate_.objective == pytest.approx(mean)


def test_a_list_and_the_oracle_give_the_same_tree(paths: Any) -> None:
    settings = {"max_depth": 2, "thresholds": 4, "min_samples_leaf": 5}
    listed = SPOTree(GRID, **settings).fit(paths.X, paths.C)
    asked = SPOTree(GRID, max_listed=0, **settings).fit(paths.X, paths.C)
    flow = GRID.constraints()
    program = oracles.LinearProgram(A_eq=flow.matrix, b_eq=flow.row_lower, bounds=(0, 1))
    solved = SPOTree(program, **settings).fit(paths.X, paths.C)
    for other in (asked, solved):
        assert float(other.certificate_.cost) == pytest.approx(float(listed.certificate_.cost))
        assert other.certificate_.counters["oracle_vectors"] > 0
    assert listed.certificate_.counters["oracle_vectors"] == 0
    assert listed.certificate_.counters["decisions_listed"] <= 20


def test_a_certificate_that_is_not_true_does_not_pass(paths: Any) -> None:
    model = SPOTree(GRID, max_depth=1, thresholds=4).fit(paths.X, paths.C)
    verify(model, paths.X, paths.C, exhaustive=True)
    true = model.certificate_
    for claim in ({"cost": true.cost - 1}, {"leaf_cost": true.cost + 1}, {"n_splits": 2}):
        model.certificate_ = replace(true, **claim)
        with pytest.raises(CertificateError):
            verify(model, paths.X, paths.C)
    model.certificate_ = true
    model.decisions_ = np.repeat(GRID.decisions()[:1], len(model.decisions_), axis=0)
    with pytest.raises(CertificateError, match="decision"):
        verify(model, paths.X, paths.C)


def test_a_tampered_decision_is_refused(paths: Any) -> None:
    """In the tree, in the model, or in both, with a certificate to match."""
    model = SPOTree(GRID, max_depth=1, thresholds=4).fit(paths.X, paths.C)
    tree, taken, costs = model.tree_, model.decisions_, model.costs_
    payload = tree.payload
    others = np.setdiff1d(np.arange(20), [_place(w) for w in payload.values])
    other = GRID.decisions()[others[: len(payload.values)]]
    for held, message in (
        (replace(payload, values=other), "but its decision is"),
        (replace(payload, values=payload.values * 0.5), "but its decision is"),
        (replace(payload, names=("NENENE",) * len(payload.names)), "is called 'NENENE'"),
        (replace(payload, label=payload.label[[0, 2, 1]]), "but its decision is"),
    ):
        model.tree_ = tree._with(payload=held)
        with pytest.raises(CertificateError, match=message):
            verify(model, paths.X, paths.C)
    model.decisions_ = taken * 0.5
    names = tuple(GRID.describe(w) for w in payload.values * 0.5)
    model.tree_ = tree._with(payload=replace(payload, values=payload.values * 0.5, names=names))
    with pytest.raises(CertificateError, match="costs less than all that are feasible"):
        verify(model, paths.X, paths.C)
    model.tree_, model.decisions_, model.costs_ = tree, taken, costs + 1e-3
    with pytest.raises(CertificateError, match="which is not the mean"):
        verify(model, paths.X, paths.C)
    model.costs_ = costs
    verify(model, paths.X, paths.C)


def _place(decision: Any) -> int:
    return int(np.flatnonzero((GRID.decisions() == decision).all(axis=1))[0])


def test_a_fit_sends_the_rows_down_its_tree_once(
    paths: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    sent = engine.Nodes.route
    monkeypatch.setattr(engine.Nodes, "route", lambda *a: calls.append(1) or sent(*a))
    SPOTree(GRID, max_depth=1, thresholds=4).fit(paths.X, paths.C)
    # The engine recomputes what the tree of a search costs before the tree is grown.
    assert len(calls) == 2
    SPOTree(GRID, method="greedy", max_depth=1, thresholds=4).fit(paths.X, paths.C)
    # Before and after splits that do not pay are left out.
    assert len(calls) == 4


def test_squared_error_is_that_of_cart(paths: Any) -> None:
    model = SPOTree(
        GRID, method="greedy", criterion="squared_error", max_depth=2, thresholds="all"
    ).fit(paths.X, paths.C)
    cart = DecisionTreeRegressor(max_depth=2, random_state=0).fit(paths.X, paths.C)
    np.testing.assert_allclose(model.predict(paths.X), cart.predict(paths.X))


def test_pruning_keeps_a_smaller_tree_that_does_as_well(paths: Any) -> None:
    grown = SPOTree(GRID, method="greedy", max_depth=None).fit(paths.X, paths.C)
    whole = grown.tree_.n_splits
    best = clone(grown).fit(paths.X, paths.C).prune(paths.X_test, paths.C_test, rule="best")
    small = clone(grown).fit(paths.X, paths.C).prune(paths.X_test, paths.C_test)
    assert small.tree_.n_splits <= best.tree_.n_splits < whole
    on_others = [m.loss(paths.X_test, paths.C_test) for m in (best, grown)]
    assert on_others[0] <= on_others[1]
    for model in (best, small):
        verify(model, paths.X, paths.C)
        mean = float(model.certificate_.cost) / len(paths.X)
        assert model.loss(paths.X, paths.C) == pytest.approx(mean)
    again = SPOTree(
        GRID, method="greedy", max_depth=None, validation_fraction=0.2, random_state=0
    ).fit(paths.X, paths.C)
    assert again.certificate_.n_rows == 96
    looser = clone(again).set_params(pruning="best").fit(paths.X, paths.C)
    assert looser.tree_.n_splits > again.tree_.n_splits


def test_the_rule_of_pruning_is_chosen_by_validation(paths: Any) -> None:
    tree = SPOTree(GRID, method="greedy", max_depth=None, validation_fraction=0.2, random_state=0)
    search = GridSearchCV(tree, {"pruning": ["one_se", "best"]}, cv=3).fit(paths.X, paths.C)
    scores = dict(zip(("one_se", "best"), search.cv_results_["mean_test_score"], strict=True))
    assert scores["one_se"] != scores["best"]
    assert search.best_params_ == {"pruning": max(scores, key=lambda rule: scores[rule])}
    alone = clone(tree).set_params(**search.best_params_).fit(paths.X, paths.C)
    assert search.best_estimator_.tree_ == alone.tree_


def test_categories_are_asked_one_by_one() -> None:
    X = np.array([["a"], ["b"], ["c"], ["a"], ["b"], ["c"]], dtype=object)
    C = np.array([[0, 1], [1, 0], [0, 1]] * 2)
    for method in ("exact", "greedy"):
        model = SPOTree(method=method, max_depth=1).fit(X, C)
        assert model.tree_.to_text().splitlines()[0].startswith("x0 = b: 1 ")
        assert model.certificate_.cost == 0


def test_exports_show_the_decisions(paths: Any) -> None:
    model = SPOTree(GRID, max_depth=2, thresholds=4).fit(paths.X, paths.C)
    names = {GRID.describe(w) for w in model.decide(paths.X)}
    text = model.tree_.to_text()
    assert all(f": {name} (" in text for name in names)
    assert all(name in model.tree_.to_dot() for name in names)
    assert model.apply(paths.X).shape == (120,)
    named = oracles.Decisions(np.eye(2), names=["stay", "go"])
    small = SPOTree(named, max_depth=1).fit([[0], [1]], [[0, 1], [1, 0]])
    assert set(small.tree_.payload.names) == {"stay", "go"}
    assert [str(rule) for rule in small.tree_.rules()] == ["x0 = 1: go", "x0 = 0: stay"]
    assert sum(model.feature_importances_) == pytest.approx(1)


def test_models_are_cloned_pickled_and_tuned(paths: Any) -> None:
    model = SPOTree(GRID, max_depth=2, thresholds=4).fit(paths.X, paths.C)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decide(paths.X), model.decide(paths.X))
    search = GridSearchCV(SPOTree(GRID, thresholds=4), {"max_depth": [0, 2]}, cv=2)
    search.fit(paths.X, paths.C)
    assert search.best_params_ == {"max_depth": 2}


def test_the_path_has_the_best_tree_for_every_number_of_splits(paths: Any) -> None:
    model = SPOTree(GRID, max_depth=2, thresholds=3).fit(paths.X, paths.C, path=True)
    for entry in model.path_:
        fewer = SPOTree(GRID, max_depth=2, thresholds=3, max_splits=entry.splits)
        cost = fewer.fit(paths.X, paths.C).certificate_.cost
        assert float(cost) == pytest.approx(float(entry.errors))


def test_a_forest_is_reproducible_whatever_the_number_of_jobs(paths: Any) -> None:
    settings = {"n_estimators": 6, "min_samples_leaf": 5, "thresholds": 8}
    one = SPOForest(GRID, random_state=0, **settings).fit(paths.X, paths.C)
    two = SPOForest(GRID, random_state=0, n_jobs=2, **settings).fit(paths.X, paths.C)
    other = SPOForest(GRID, random_state=1, **settings).fit(paths.X, paths.C)
    np.testing.assert_array_equal(one.predict(paths.X), two.predict(paths.X))
    assert (one.predict(paths.X) != other.predict(paths.X)).any()
    assert one.apply(paths.X).shape == (120, 6)


def test_a_forest_chooses_how_many_columns_its_splits_consider() -> None:
    settings: dict[str, Any] = {"n_estimators": 12, "min_samples_leaf": 8, "thresholds": 8}
    data = datasets.make_shortest_path(n=150, degree=10, random_state=3)
    chosen = SPOForest(GRID, max_features=[5, 1, 3], random_state=0, **settings)
    chosen.fit(data.X, data.C)
    assert chosen.max_features_ in (1, 3, 5)
    losses = {k: _loss_left_out(k, data, settings) for k in (1, 3, 5)}
    assert losses[chosen.max_features_] == min(losses.values()) < max(losses.values())
    alone = SPOForest(GRID, max_features=chosen.max_features_, random_state=0, **settings)
    np.testing.assert_array_equal(alone.fit(data.X, data.C).predict(data.X), chosen.predict(data.X))
    one = SPOForest(GRID, max_features="sqrt", random_state=0, **settings).fit(data.X, data.C)
    assert one.max_features_ == 2


def _loss_left_out(max_features: int, data: Any, settings: dict[str, Any]) -> float:
    """Let the trees that did not draw a row decide about it, row by row."""
    forest = SPOForest(GRID, max_features=max_features, random_state=0, **settings)
    leaves = forest.fit(data.X, data.C).apply(data.X)
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=settings["n_estimators"])
    n = len(data.X)
    drawn = [set(np.random.default_rng(int(s)).integers(0, n, n).tolist()) for s in seeds]
    total = 0.0
    for row in range(n):
        others = [t for t, rows in enumerate(drawn) if row not in rows]
        if others:
            costs = [forest.estimators_[t].costs[leaves[row, t]] for t in others]
            decision = GRID.decide(np.mean(costs, axis=0)[None, :])[0]
            total += float(data.C[row] @ decision)
    return total


def test_a_forest_averages_costs_and_then_decides(paths: Any) -> None:
    forest = SPOForest(GRID, n_estimators=8, random_state=0, thresholds=8)
    forest.fit(paths.X, paths.C)
    np.testing.assert_array_equal(forest.decide(paths.X), GRID.decide(forest.predict(paths.X)))
    single = SPOForest(
        GRID, n_estimators=1, bootstrap=False, max_features=None, max_depth=2, thresholds=8
    ).fit(paths.X, paths.C)
    tree = SPOTree(GRID, method="greedy", max_depth=2, thresholds=8).fit(paths.X, paths.C)
    np.testing.assert_array_equal(single.decide(paths.X), tree.decide(paths.X))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, C: SPOTree(GRID).fit(X, C[:, :20]), "C has 20 columns, but GridShortestPath"),
        (lambda X, C: SPOTree(GRID).fit(X, C[:-1]), "C must have shape 120 x any"),
        (lambda X, C: SPOTree(GRID).fit(X, np.where(C > 2, np.nan, C)), r"C\[.*nan"),
        (lambda X, C: SPOTree(GRID, method="best").fit(X, C), "method='best'"),
        (lambda X, C: SPOTree(GRID, validation_fraction=0.2).fit(X, C), "for method='greedy'"),
        (lambda X, C: SPOTree(GRID, criterion="squared_error").fit(X, C), "method='greedy'"),
        (lambda X, C: SPOTree(GRID, "milp").fit(X, C), "benchmarks/papers/spo_program.py"),
        (lambda X, C: SPOTree(GRID).fit(X, C).prune(X, C), "prune is for method='greedy'"),
        (lambda X, C: SPOTree(GRID).fit(X, C).loss(X, C, ties="x"), "ties='x'"),
        (lambda X, C: SPOTree(GRID, max_depth=1).fit(X, C).loss(X, C[:, :3]), "decides on 24"),
        (lambda X, C: SPOForest(GRID, max_features=0.0).fit(X, C), "max_features"),
        (lambda X, C: SPOForest(GRID, max_features=[]).fit(X, C), "empty list"),
        (lambda X, C: SPOForest(GRID, max_features=[2, "all"]).fit(X, C), "list of these.*'all'"),
        (
            lambda X, C: SPOForest(GRID, max_features=[2, 3], bootstrap=False).fit(X, C),
            "did not draw",
        ),
        (lambda X, C: SPOTree(GRID, "greedy", pruning="none").fit(X, C), "pruning='none'"),
        (lambda X, C: datasets.make_shortest_path(grid=1), "grid must be at least 2"),
        (
            lambda X, C: SPOTree(lambda c: c * np.nan, max_depth=1).fit(X, C),
            "not finite numbers for cost vector 0",
        ),
        (
            lambda X, C: SPOTree(oracles.LinearProgram(n_costs=24), max_depth=1).fit(X, -C),
            "cost vector 0.*Unbounded",
        ),
    ],
)
def test_bad_input_is_refused(paths: Any, make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make(paths.X, paths.C)


def test_generators_are_reproducible_and_as_described() -> None:
    paths = datasets.make_shortest_path(n=30, noise=0.0, degree=3, random_state=1, n_test=5)
    again = datasets.make_shortest_path(n=30, noise=0.0, degree=3, random_state=1)
    np.testing.assert_array_equal(paths.X, again.X)
    np.testing.assert_allclose(paths.C, (paths.X @ paths.B.T / np.sqrt(5) + 1) ** 3)
    assert paths.X_test.shape == (5, 5)
    noisy = datasets.make_shortest_path(n=50, noise=0.25, random_state=1)
    ratio = noisy.C / (noisy.X @ noisy.B.T / np.sqrt(5) + 1) ** 2
    assert 0.75 <= ratio.min() < 0.8
    assert 1.2 < ratio.max() <= 1.25
    news = datasets.make_news(100, random_state=0, n_test=10)
    assert news.C.shape == (100, 6)
    assert ((news.C >= 0) & (news.C <= 1)).all()
    oracle = oracles.LinearProgram(
        A_ub=news.A, b_ub=news.b, A_eq=np.ones((1, 6)), b_eq=[1], sense="max"
    )
    model = SPOTree(oracle, max_depth=2, thresholds=3, min_samples_leaf=1000)
    model.fit(news.X, news.C, news.sample_weight)
    assert model.certificate_.is_optimal
    weights = np.bincount(model.apply(news.X), weights=news.sample_weight)
    assert weights[weights > 0].min() >= 1000
    assert (model.decide(news.X) @ news.A.T <= 1 + 1e-9).all()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_costs_may_be_tiny_or_huge(paths: Any, scale: float) -> None:
    plain = SPOTree(oracles.TopK(24, 3), max_depth=1, max_listed=0)
    cost = plain.fit(paths.X[:40], paths.C[:40, :24]).certificate_.cost
    found = plain.fit(paths.X[:40], paths.C[:40, :24] * scale).certificate_.cost
    assert float(found / Fraction(scale)) == pytest.approx(float(cost))


def test_complaints_are_about_the_rows_of_the_caller() -> None:
    def decide(costs: Any) -> Any:
        if (costs[:, 0] == 50).any():
            raise RuntimeError("fifty")
        return np.eye(2)[costs.argmin(axis=1)]

    C = np.array([[1.0, 2], [1, 2], [3, 2], [50, 2], [1, 2]])
    model = SPOTree(oracles.Function(decide, 2), max_depth=1)
    with pytest.raises(oracles.OracleError, match=r"cost vector 3, \[50"):
        model.fit(np.arange(5)[:, None], C, [0, 0, 1, 1, 1])
    C[0, 0] = 50
    C[3, 0] = 1
    assert model.fit(np.arange(5)[:, None], C, [0, 0, 1, 1, 1]).certificate_.n_rows == 3
