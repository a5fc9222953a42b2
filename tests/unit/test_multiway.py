"""Multiway tests from the table to the exports."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from certree import (
    CostSensitiveTreeClassifier,
    Measurement,
    OptimalTreeClassifier,
    TreeCV,
    metrics,
    optimality_gap,
    regularization_path,
    verify,
)
from certree.encoding import Category, Flag, Missing, Multiway, TableEncoder
from certree.encoding import test_from_dict as read_test
from certree.tree import Tree

COLORS = ["blue", "green", "red", None]


def table(seed: int, n_rows: int = 60) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two text columns, one with missing values, an integer column and a number column."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, 4), dtype=object)
    X[:, 0] = rng.choice(np.array(COLORS, dtype=object), n_rows)
    X[:, 1] = rng.choice(np.array(["a'b", "c", 'd"e'], dtype=object), n_rows)
    X[:, 2] = rng.integers(0, 4, n_rows)
    X[:, 3] = rng.random(n_rows).round(2)
    score = (X[:, 0] == "red") * 2 + (X[:, 1] == "c") + X[:, 2] % 2 + rng.integers(0, 2, n_rows)
    return X, np.array(["no", "maybe", "yes"])[score.astype(int) % 3]


def fit(seed: int = 0, **changes: Any) -> tuple[OptimalTreeClassifier, NDArray[Any], NDArray[Any]]:
    """Fit a multiway tree with the integer column as categories."""
    X, y = table(seed)
    parameters = {
        "max_depth": 3,
        "complexity": 0.01,
        "splits": "multiway",
        "categorical_features": [2],
    }
    return OptimalTreeClassifier(**{**parameters, **changes}).fit(X, y), X, y


def strange_rows(X: NDArray[Any]) -> NDArray[Any]:
    """The training rows, and rows with unseen and missing values."""
    strange = X[:40].copy()
    strange[:10, 0] = "pink"
    strange[10:20, 1] = None
    strange[20:30, 2] = 17
    strange[30:, 2] = None
    strange[5:15, 3] = None
    return np.concatenate([X, strange])


class TestTheTest:
    def test_outcomes_are_numbered_by_category(self) -> None:
        test = Multiway(0, "x", [3, 5, None], default=1)
        assert test.n_outcomes == 3
        assert test.outcome(np.array([5.0, 3.0, np.nan, 4.0])).tolist() == [1, 0, 2, 1]

    def test_missing_goes_to_the_default_unless_it_is_a_category(self) -> None:
        test = Multiway(0, "x", ["a", "b"], default=1)
        assert test.outcome(np.array(["a", None], dtype=object)).tolist() == [0, 1]
        assert test.outcome(np.array([np.nan])).tolist() == [1]

    def test_the_other_type_is_refused(self) -> None:
        with pytest.raises(ValueError, match="held text in training"):
            Multiway(0, "x", ["a", "b"]).outcome(np.array([1.0]))
        with pytest.raises(ValueError, match="held numbers in training"):
            Multiway(0, "x", [1, 2]).outcome(np.array(["a"], dtype=object))

    def test_dictionaries_go_there_and_back(self) -> None:
        test = Multiway(1, "x", [("a", "b"), None], default=1)
        assert read_test(json.loads(json.dumps(test.to_dict()))) == test

    @pytest.mark.parametrize(
        ("categories", "default", "message"),
        [
            (["a"], 0, "at least two outcomes"),
            (["a", ()], 0, "at least two outcomes"),
            (["a", "b", "a"], 0, "different categories"),
            (["a", 1], 0, "both text and numbers"),
            (["a", "b"], 2, "default must be an outcome"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, categories: Any, default: int, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            Multiway(0, "x", categories, default)

    def test_descriptions(self) -> None:
        test = Multiway(0, "x", ["a", None, ("b", "c"), ("d", "")])
        texts = [test.describe(k) for k in range(4)]
        assert texts == ["x = a", "x is missing", "x in {b, c}", 'x in {d, ""}']
        with pytest.raises(ValueError, match=r"outcomes 0\.\.3, got 4"):
            test.describe(4)


class TestTheEncoder:
    def test_one_column_per_outcome(self) -> None:
        encoder = TableEncoder(splits="multiway").fit([["a", 1], ["b", 2], [None, 3]])
        assert [type(test) for test in encoder.tests_[:3]] == [Category, Category, Missing]
        columns = encoder.multiway_columns_
        assert columns is not None
        assert [part.tolist() for part in columns] == [[3], [4], [0, 1, 2]]
        assert encoder.candidates_[-1] == Multiway(0, "x0", ("a", "b", None))

    def test_both_keeps_the_binary_tests(self) -> None:
        encoder = TableEncoder(splits="both").fit([["a"], ["b"], ["c"]])
        assert encoder.candidates_[:-1] == encoder.tests_

    def test_flags_stay_flags(self) -> None:
        encoder = TableEncoder(splits="multiway", categorical_features="all")
        encoder.fit([[0, 5], [1, 6], [1, 7]])
        assert encoder.candidates_[0] == Flag(0, "x0", False)
        assert encoder.fit([[0], [1]]).multiway_columns_ is None

    def test_binary_is_as_it_was(self) -> None:
        encoder = TableEncoder().fit([["a"], ["b"], ["c"]])
        assert encoder.candidates_ is encoder.tests_
        assert encoder.multiway_columns_ is None

    def test_a_continuous_column_is_refused(self) -> None:
        for splits in ("multiway", "both"):
            encoder = TableEncoder(splits=splits, categorical_features="all")
            with pytest.raises(ValueError, match=r"'x1' holds numbers that are not whole.* 0\.5"):
                encoder.fit([[1, 0.5], [2, 1.0], [3, 2.0]])

    def test_a_table_without_categories_is_refused(self) -> None:
        with pytest.raises(ValueError, match="needs columns of categories"):
            TableEncoder(splits="multiway").fit([[1.5], [2.5]])
        with pytest.raises(ValueError, match="splits must be one of"):
            TableEncoder(splits="ternary").fit([[1.5], [2.5]])


class TestTheEstimator:
    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("per", ["split", "leaf"])
    @pytest.mark.parametrize("min_samples_leaf", [1, 4])
    def test_the_certificate_is_verified(
        self, splits: str, per: str, min_samples_leaf: int
    ) -> None:
        model, X, y = fit(
            splits=splits, complexity_per=per, min_samples_leaf=min_samples_leaf, max_depth=2
        )
        assert model.certificate_.is_optimal
        assert verify(model, X, y)

    @pytest.mark.parametrize("seed", range(6))
    def test_the_optimum_is_proven_again_by_brute_force(self, seed: int) -> None:
        X, y = table(seed, 14)
        weights = np.random.default_rng(seed).integers(0, 4, 14)
        weights[:3] = 1
        model = OptimalTreeClassifier(
            max_depth=(None, 2)[seed % 2],
            complexity=0.03,
            complexity_per=("split", "leaf")[seed // 2 % 2],
            splits=("multiway", "both")[seed // 3],
            min_samples_leaf=1 + seed % 3,
            thresholds=2,
        ).fit(X, y, weights)
        assert verify(model, X, y, weights, exhaustive=True).exhaustive

    def test_both_is_never_worse(self) -> None:
        values = {s: fit(splits=s)[0].certificate_.cost for s in ("binary", "multiway", "both")}
        assert values["both"] <= min(values["binary"], values["multiway"])

    @pytest.mark.parametrize("per", ["split", "leaf"])
    def test_without_categories_both_is_binary(self, per: str) -> None:
        X = table(0)[0][:, 2:].astype(float)
        y = table(0)[1]
        costs = []
        for splits in ("binary", "both"):
            model = OptimalTreeClassifier(2, complexity=0.02, complexity_per=per, splits=splits)
            assert verify(model.fit(X, y), X, y)
            costs.append(model.certificate_.cost)
        assert costs[0] == costs[1]

    def test_a_multiway_column_is_asked_once_on_a_path(self) -> None:
        model, _, _ = fit(max_depth=None, complexity=0.001)
        tree = model.tree_
        for node in range(tree.n_nodes):
            asked = []
            above = int(tree.parent[node])
            while above >= 0:
                test = tree.node_test(above)
                asked += [test.feature] if isinstance(test, Multiway) else []
                above = int(tree.parent[above])
            assert len(asked) == len(set(asked))

    def test_unseen_values_go_to_the_heaviest_child(self) -> None:
        X = [["a"], ["b"], ["b"], ["c"]] * 5
        y = [0, 1, 1, 0] * 5
        model = OptimalTreeClassifier(max_depth=1, splits="multiway").fit(X, y)
        assert model.predict([["z"], [None], ["a"]]).tolist() == [1, 1, 0]

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"max_leaf_nodes": 3}, "max_leaf_nodes=3 needs splits='binary'.* give max_splits"),
            ({"categorical_features": "all"}, "not whole"),
        ],
    )
    def test_what_is_not_supported_is_refused(self, parameters: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            fit(**parameters)

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    def test_a_limit_on_splits(self, splits: str) -> None:
        costs = []
        for most in range(6):
            model, X, y = fit(splits=splits, max_depth=None, max_splits=most, complexity=0)
            assert model.certificate_.is_optimal
            assert model.certificate_.max_splits == most >= model.tree_.n_splits
            assert verify(model, X, y)
            costs.append(model.certificate_.cost)
        path = regularization_path(
            *table(0), max_depth=None, max_splits=5, splits=splits, categorical_features=[2]
        )
        assert path.is_optimal
        assert {entry.splits: entry.errors for entry in path} == {
            costs.index(cost): cost for cost in costs
        }
        assert costs == sorted(costs, reverse=True)
        assert costs[0] > costs[5]

    @pytest.mark.parametrize("per", ["split", "leaf"])
    def test_the_path_of_a_model_is_verified(self, per: str) -> None:
        X, y = table(0)
        model = OptimalTreeClassifier(
            max_depth=2,
            complexity=0.01,
            complexity_per=per,
            splits="multiway",
            categorical_features=[2],
        ).fit(X, y, path=True)
        assert model.path_.is_optimal
        assert verify(model, X, y)
        if per == "split":
            assert model.path_.tree(complexity=0.01).n_splits == model.tree_.n_splits

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("objective", ["f1", "mcc", "balanced_accuracy"])
    @pytest.mark.parametrize("complexity", [0, 0.02])
    def test_metrics_are_proven_again_by_brute_force(
        self, splits: str, objective: str, complexity: float
    ) -> None:
        X, y = table(3, 14)
        model = OptimalTreeClassifier(
            max_depth=2, objective=objective, complexity=complexity, splits=splits, thresholds=2
        ).fit(X, y == "no")
        assert model.certificate_.is_optimal
        assert verify(model, X, y == "no", exhaustive=True).exhaustive

    @pytest.mark.parametrize(
        "objective", ["auc", lambda fp, fn, *_: -max(fp, fn), metrics.ErrorFront()]
    )
    def test_metrics_of_fronts_are_refused(self, objective: Any) -> None:
        X, y = table(0)
        with pytest.raises(ValueError, match=r"whole fronts of trees.* binary questions only"):
            OptimalTreeClassifier(2, objective=objective, splits="both").fit(X, y == "no")
        with pytest.raises(ValueError, match="use complexity_per='split'"):
            OptimalTreeClassifier(
                2, objective="f1", splits="both", complexity=0.1, complexity_per="leaf"
            ).fit(X, y == "no")

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("per", ["split", "leaf"])
    def test_a_search_starts_from_a_known_tree(self, splits: str, per: str) -> None:
        model, X, y = fit(splits=splits, complexity_per=per)
        again = fit(splits=splits, complexity_per=per)[0]
        again.fit(X, y, warm_start_tree=model)
        assert again.certificate_.cost == model.certificate_.cost
        assert (again.predict(X) == model.predict(X)).all()
        assert verify(again, X, y)
        greedy = OptimalTreeClassifier(1, categorical_features=[2]).fit(X, y)
        again.fit(X, y, warm_start_tree=greedy)
        assert again.certificate_.cost == model.certificate_.cost
        assert verify(again, X, y)

    def test_a_known_tree_of_other_categories_is_refused(self) -> None:
        model, X, y = fit(complexity=0)
        with pytest.raises(ValueError, match="outcomes, but splits='binary' has no question"):
            OptimalTreeClassifier(3).fit(X, y, warm_start_tree=model)

    @pytest.mark.parametrize("per", ["split", "leaf"])
    def test_the_gap_of_a_multiway_tree(self, per: str) -> None:
        model, X, y = fit(complexity_per=per, max_depth=2)
        settings = {"complexity": 0.01, "complexity_per": per, "categorical_features": [2]}
        own = optimality_gap(model, X, y, splits="multiway", max_splits=None, **settings)
        assert own.is_optimal
        assert own.cost == model.certificate_.cost
        both = optimality_gap(model, X, y, splits="both", max_splits=None, **settings)
        assert both.cost == own.cost
        assert both.gap >= 0

    def test_sizes_are_chosen_by_cross_validation(self) -> None:
        X, y = table(0, 90)
        tree = OptimalTreeClassifier(splits="both", categorical_features=[2])
        model = TreeCV(tree, depths=(1, 2), sizes=range(9), cv=3).fit(X, y)
        assert {one["max_splits"] for one in model.cv_results_["params"]} == set(range(9))
        assert model.best_estimator_.splits == "both"
        assert verify(model.best_estimator_, X, y)
        by_metric = TreeCV(clone(tree).set_params(objective="f1"), depths=(1, 2), cv=3)
        assert by_metric.fit(X, y == "no").tree_.n_splits >= 1


class TestRealWeights:
    """The search makes room for a split per row, whatever the depth, and verify knows that."""

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("limits", [{}, {"max_splits": 2, "complexity": 0.01}])
    @pytest.mark.parametrize(("objective", "n_rows"), [("f1", 60), ("mcc", 60), ("mcc", 400)])
    def test_metrics_fit_the_range_and_are_verified(
        self, objective: str, n_rows: int, limits: Any, splits: str
    ) -> None:
        for seed in range(3):
            X, y = table(seed, n_rows)
            weights = np.random.default_rng(seed).random(n_rows) + 0.001
            model = OptimalTreeClassifier(
                objective=objective, splits=splits, max_depth=2, thresholds=3, **limits
            ).fit(X, y == "yes", weights)
            assert model.certificate_.is_optimal
            assert verify(model, X, y == "yes", weights)

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("prices", [None, [0.1, 0.2, 0.3, 0.1]])
    def test_rounding_of_costs_is_verified(self, prices: Any, splits: str) -> None:
        for seed in range(6):
            X, y = table(seed, 50)
            weights = np.random.default_rng(seed).random(50) + 0.001
            model = CostSensitiveTreeClassifier(
                [[0, 1, 3], [4, 0, 1], [2, 2, 0]], prices, splits=splits, max_depth=2, thresholds=3
            ).fit(X, y, weights)
            assert model.certificate_.rounding > 0
            assert verify(model, X, y, weights)

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("prices", [None, [0.1, 0.2, 0.3, 0.1]])
    @pytest.mark.filterwarnings("ignore:Numbers were rounded")
    def test_every_row_may_cost_something_else(self, prices: Any, splits: str) -> None:
        X, y = table(0, 150)
        weights = np.random.default_rng(0).random(150) + 0.001
        settings: Any = {"splits": splits, "max_depth": 1, "thresholds": 2, "max_splits": 1}
        model = CostSensitiveTreeClassifier(TestCosts.COSTS, prices, **settings)
        model.fit(X, y, weights)
        assert verify(model, X, y, weights, exhaustive=True).exhaustive
        assert model.expected_cost(X, y, weights) == pytest.approx(
            model.certificate_.objective, abs=2 * model.certificate_.rounding / weights.sum() + 1e-9
        )


class TestExports:
    @pytest.fixture(params=[False, True], ids=["plain", "collapsed"])
    def tree(self, request: pytest.FixtureRequest) -> Tree:
        tree = fit(max_depth=None, complexity=0.005)[0].tree_
        return tree.collapsed() if request.param else tree

    @pytest.fixture
    def rows(self) -> NDArray[Any]:
        return strange_rows(table(0)[0])

    def test_python(self, tree: Tree, rows: NDArray[Any]) -> None:
        names: dict[str, Any] = {}
        exec(tree.to_python(), names)
        assert [names["predict"](row) for row in rows.tolist()] == tree.predict(rows).tolist()

    def test_sql(self, tree: Tree, rows: NDArray[Any]) -> None:
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE t (x0 TEXT, x1 TEXT, x2 INTEGER, x3 REAL)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows.tolist())
        found = [row[0] for row in database.execute(f"SELECT {tree.to_sql()} FROM t")]
        assert found == tree.predict(rows).tolist()

    def test_json(self, tree: Tree, rows: NDArray[Any]) -> None:
        back = Tree.from_json(tree.to_json())
        assert back == tree
        assert back.predict(rows).tolist() == tree.predict(rows).tolist()

    def test_pictures(self, tree: Tree) -> None:
        for text in (tree.to_text(), tree.to_dot(), tree.to_html()):
            assert "x0" in text
        assert all(rule.conditions for rule in tree.rules())
        pytest.importorskip("matplotlib").use("Agg")
        assert tree.plot() is not None

    def test_scikit_learn_is_refused(self, tree: Tree) -> None:
        for encoded in (False, True):
            with pytest.raises(ValueError, match="multiway question"):
                tree.to_sklearn(encoded=encoded)


class TestCollapsing:
    @pytest.mark.parametrize("seed", range(10))
    def test_predictions_for_known_categories_are_unchanged(self, seed: int) -> None:
        model, X, _ = fit(
            seed, max_depth=None, complexity=0.002, splits=("multiway", "both")[seed % 2]
        )
        small = model.tree_.collapsed()
        assert small.n_splits <= model.tree_.n_splits
        assert small.n_leaves <= model.tree_.n_leaves
        rng = np.random.default_rng(seed)
        mixed = np.stack([rng.permutation(X[:, j]) for j in range(4)], axis=1)
        assert small.predict(mixed).tolist() == model.predict(mixed).tolist()
        assert small.counts[0].tolist() == model.tree_.counts[0].tolist()
        leaf = small.test < 0
        assert small.counts[leaf].sum(axis=0).tolist() == small.counts[0].tolist()
        assert small.collapsed() == small

    def test_equal_leaves_share_an_edge(self) -> None:
        X = [["a"], ["b"], ["c"], ["d"]] * 3
        model = OptimalTreeClassifier(splits="multiway").fit(X, [0, 1, 0, 1] * 3)
        tree = model.tree_.collapsed()
        assert (tree.n_splits, tree.n_leaves) == (1, 2)
        assert tree.to_text() == (
            "x0 in {a, c}: 0 (6 of 6, 100.0%)\nx0 in {b, d}: 1 (6 of 6, 100.0%)"
        )

    def test_a_test_that_makes_no_difference_is_dropped(self) -> None:
        tree = Tree(
            [Multiway(0, "x", ["a", "b"])],
            [0, -1, -1],
            [1, -1, -1],
            [-1, 1, 1],
            counts=[[1, 5], [1, 2], [0, 3]],
            classes=["no", "yes"],
        )
        assert tree.collapsed().to_text() == "class: yes (5 of 6, 83.3%)"


class TestCosts:
    COSTS = ((0, 2, 7), (5, 0, 1), (9, 3, 0))

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("limits", [{}, {"max_splits": 2}, {"complexity": 0.1}])
    def test_the_least_cost_is_proven_again_by_brute_force(self, splits: str, limits: Any) -> None:
        X, y = table(1, 14)
        weights = np.random.default_rng(1).integers(1, 4, 14)
        model = CostSensitiveTreeClassifier(
            self.COSTS, max_depth=2, splits=splits, thresholds=2, **limits
        ).fit(X, y, weights)
        assert model.certificate_.is_optimal
        assert verify(model, X, y, weights, exhaustive=True).exhaustive

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("seed", range(6))
    def test_prices_are_proven_again_by_brute_force(self, splits: str, seed: int) -> None:
        """A multiway test has one price; what is asked again on a path is free or discounted."""
        X, y = table(seed, 14)
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, 4, 14) if seed % 2 else None
        prices: Any = rng.integers(0, 3, 4).tolist()
        if seed > 2:
            prices = [
                Measurement([0], price=0.9, group="g", discounted=0.2),
                Measurement([1, 2], price=0.5, group="g", discounted=0.1),
            ]
        limits: Any = [{}, {"max_splits": 3}, {"complexity": 0.05}][seed % 3]
        model = CostSensitiveTreeClassifier(
            self.COSTS,
            test_costs=prices,
            max_depth=3 if seed % 2 else 2,
            splits=splits,
            thresholds=1,
            **limits,
        ).fit(X, y, weights, path=True)
        assert model.certificate_.is_optimal
        assert verify(model, X, y, weights, exhaustive=True).exhaustive
        penalty = 0.05 * model.tree_.n_splits if "complexity" in limits else 0
        mean = model.certificate_.objective
        assert model.expected_cost(X, y, weights) + penalty == pytest.approx(mean)

    def test_free_prices_change_nothing_and_high_ones_leave_a_leaf(self) -> None:
        X, y = table(0)
        settings: Any = {"max_depth": 3, "splits": "both", "categorical_features": [2]}
        plain = CostSensitiveTreeClassifier(self.COSTS, **settings).fit(X, y)
        free = CostSensitiveTreeClassifier(self.COSTS, [0, 0, 0, 0], **settings).fit(X, y)
        dear = CostSensitiveTreeClassifier(self.COSTS, [99, 99, 99, 99], **settings).fit(X, y)
        assert free.certificate_.cost == plain.certificate_.cost
        assert dear.tree_.n_splits == 0

    def test_paths_and_sizes(self) -> None:
        X, y = table(0, 90)
        settings: Any = {"splits": "both", "categorical_features": [2]}
        model = CostSensitiveTreeClassifier(self.COSTS, max_depth=2, **settings)
        assert model.fit(X, y, path=True).path_.is_optimal
        assert verify(model, X, y)
        costs = [
            CostSensitiveTreeClassifier(self.COSTS, max_depth=2, max_splits=k, **settings)
            .fit(X, y)
            .certificate_.cost
            for k in range(5)
        ]
        assert {e.splits: e.errors for e in model.path_ if e.splits < 5} == {
            costs.index(cost): cost for cost in costs
        }
        chosen = TreeCV(clone(model), depths=(1, 2), sizes=range(6), cv=3).fit(X, y)
        assert chosen.best_estimator_.splits == "both"

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"capacity": {"no": 3}}, "totals add up over any number of outcomes"),
            ({"complexity": 1, "complexity_per": "leaf"}, "leaves are not one more"),
        ],
    )
    def test_what_needs_binary_tests(self, parameters: Any, message: str) -> None:
        X, y = table(0)
        model = CostSensitiveTreeClassifier(self.COSTS, splits="multiway", **parameters)
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)

    def test_costs_of_many_single_rows_are_refused(self) -> None:
        X, y = table(0, 4097)
        costs = np.random.default_rng(0).random((4097, 3))
        with pytest.raises(ValueError, match=r"4097 rows are of too many kinds.* splits='binary'"):
            CostSensitiveTreeClassifier(splits="multiway").fit(X, y, costs=costs)
