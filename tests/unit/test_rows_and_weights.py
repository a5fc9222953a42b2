"""What a tree calls rows are rows, what it calls weight are sums of sample weights."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    OrdinalTreeClassifier,
    PolicyTree,
    SPOTree,
    SurvivalTree,
    Tree,
    metrics,
    optimality_gap,
    reduce,
    tasks,
    verify,
)
from certree.exceptions import CertificateError
from certree.tree._payload_labels import Labels
from certree.tree._view import view
from certree.tree._wording import weight

N_ROWS = 80
_RANDOM = np.random.default_rng(3)
X = np.round(_RANDOM.normal(size=(N_ROWS, 3)), 1)
GROUPS = np.array(["lady", "male"])[_RANDOM.integers(0, 2, N_ROWS)]
SICK = np.where(_RANDOM.random(N_ROWS) < np.where(X[:, 0] > 0, 0.25, 0.04), "sick", "well")
AMOUNT = np.round(X[:, 0] * 2 + _RANDOM.random(N_ROWS), 2) + 10
COSTS = np.round(_RANDOM.random((N_ROWS, 3)), 2)
TIMES = np.column_stack([np.round(_RANDOM.random(N_ROWS), 2) + 0.1, _RANDOM.random(N_ROWS) < 0.7])

WEIGHTS: dict[str, Any] = {
    "none": None,
    "whole": _RANDOM.integers(0, 4, N_ROWS),
    "decimal": _RANDOM.integers(1, 30, N_ROWS) / 10,
    "real": _RANDOM.random(N_ROWS) + 0.1,
}

# By name: the model, its target, and the classes that nodes count rows by, if they do.
Fit = tuple[Callable[[], Any], Any, Any]
MODELS: dict[str, Fit] = {
    "classifier": (lambda: OptimalTreeClassifier(2), SICK, SICK),
    "balanced": (lambda: OptimalTreeClassifier(2, objective="balanced_accuracy"), SICK, SICK),
    "class weights": (lambda: OptimalTreeClassifier(2, class_weight={"sick": 7.5}), SICK, SICK),
    "metric": (lambda: OptimalTreeClassifier(2, objective="f1", pos_label="sick"), SICK, SICK),
    "auc": (lambda: OptimalTreeClassifier(2, objective="auc", pos_label="sick"), SICK, SICK),
    "several labels": (
        lambda: OptimalTreeClassifier(2, output_weights=[3, 1]),
        np.column_stack([SICK, GROUPS]),
        np.column_stack([SICK, GROUPS]),
    ),
    "regressor": (lambda: OptimalTreeRegressor(2), AMOUNT, None),
    "median": (lambda: OptimalTreeRegressor(2, criterion="absolute_error"), AMOUNT, None),
    "poisson": (lambda: OptimalTreeRegressor(2, criterion="poisson"), np.floor(AMOUNT), None),
    "several numbers": (lambda: OptimalTreeRegressor(2), COSTS[:, :2], None),
    "linear": (lambda: LinearTreeRegressor(1), AMOUNT, None),
    "survival": (lambda: SurvivalTree(2), TIMES, None),
    "costs": (
        lambda: CostSensitiveTreeClassifier([[0, 5], [1, 0]], max_depth=2),
        SICK,
        SICK,
    ),
    "ordinal": (lambda: OrdinalTreeClassifier(max_depth=2), (AMOUNT > 10).astype(int), None),
    "clusters": (lambda: OptimalTreeClusterer(max_depth=2), None, None),
    "decisions": (lambda: SPOTree(np.eye(3), max_depth=2), COSTS, None),
}


def _fitted(name: str, weights: Any) -> Any:
    make, y, _ = MODELS[name]
    return make().fit(X, y, sample_weight=weights)


def _counted(weights: Any) -> Any:
    return np.ones(N_ROWS, dtype=bool) if weights is None else np.asarray(weights) > 0


def _in_nodes(tree: Tree, amounts: Any) -> Any:
    """Return the sums of some amounts of rows in every node, by the leaf that each row reaches."""
    sums = np.zeros(tree.n_nodes)
    np.add.at(sums, tree.apply(X), amounts)
    for node in reversed(tree.preorder.tolist()):
        for child in tree.children(node):
            sums[node] += sums[child]
    return sums


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", MODELS)
def test_rows_are_rows_and_weights_are_sums_of_sample_weights(name: str, kind: str) -> None:
    weights = WEIGHTS[kind]
    counted = _counted(weights)
    model = _fitted(name, weights)
    tree, classes = model.tree_, MODELS[name][2]
    given = counted.astype(float) if weights is None else np.asarray(weights, dtype=float)
    rows = _in_nodes(tree, counted)
    assert tree.payload.node_rows.tolist() == rows.tolist()
    assert tree.weights == pytest.approx(_in_nodes(tree, given))
    if classes is not None:
        outputs = classes.reshape(N_ROWS, -1)
        found = [
            (
                _in_nodes(tree, counted & (column == label)),
                _in_nodes(tree, given * (column == label)),
            )
            for column in outputs.T
            for label in np.unique(column[counted])
        ]
        assert tree.rows.T.tolist() == [of_rows.tolist() for of_rows, _ in found]
        assert pytest.approx(np.array([of_weights for _, of_weights in found])) == tree.counts.T
    _check_words(model, rows, is_weighted=weights is not None)


def _check_words(model: Any, rows: Any, *, is_weighted: bool) -> None:
    """Compare all rows that texts, rules, explanations and pages speak of."""
    tree = model.tree_
    leaves = [node for node in tree.preorder.tolist() if tree.test[node] < 0]
    texts = [tree.to_text(), tree.to_dot(), tree.to_mermaid(), tree.to_html(interactive=False)]
    for text in [*texts, str(model.explain(X[:5]))]:
        assert ("weight" in text.replace("font-weight", "")) == is_weighted
    for leaf, line in zip(leaves, re.findall(r": .*\((.*)\)$", tree.to_text(), re.M), strict=True):
        for number in re.findall(r"(?:of )?(\d+) rows?\b", line):
            assert int(number) == rows[leaf]
        for part, whole in re.findall(r"(\d+) of (\d+)\b(?!\.)", line):
            assert int(whole) == rows[leaf]
            assert int(part) <= int(whole)
    assert [rule.support for rule in tree.rules()] == [rows[leaf] for leaf in leaves]
    for one in model.explain(X[:5]):
        assert one.rows == rows[one.leaf]
        if one.counts is not None:
            assert sum(one.counts.values()) == one.rows
            assert (one.weights is not None) == is_weighted
    for node, own in enumerate(view(tree, "tree")["nodes"]):
        assert own["rows"] == rows[node]
        assert (own["weight"] is not None) == is_weighted
        assert not own["mix"] or sum(number for *_, number in own["mix"]) == rows[node]
    assert ("weight" in str(model.certificate_)) <= is_weighted or model.certificate_.class_weights


BALANCED: dict[str, Callable[[], Any]] = {
    "text": lambda: OptimalTreeClassifier(1, objective="balanced_accuracy"),
    "metric": lambda: OptimalTreeClassifier(
        1, objective=metrics.BalancedAccuracy(), pos_label="sick"
    ),
    "class_weight": lambda: OptimalTreeClassifier(1, class_weight="balanced"),
    "both": lambda: OptimalTreeClassifier(
        1, objective="balanced_accuracy", class_weight="balanced"
    ),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_every_way_to_ask_for_an_objective_gives_the_same_probabilities(kind: str) -> None:
    models = [make().fit(X, SICK, sample_weight=WEIGHTS[kind]) for make in BALANCED.values()]
    fair = FairTreeClassifier(max_depth=1, objective="balanced_accuracy", tolerance=1)
    models.append(fair.fit(X, SICK, GROUPS, sample_weight=WEIGHTS[kind]))
    first = models[0]
    for model in models:
        assert model.tree_ == first.tree_
        assert model.tree_.to_text() == first.tree_.to_text()
        assert model.predict_proba(X).tolist() == first.predict_proba(X).tolist()
        assert np.array_equal(model.predict(X), first.predict(X))
    given = np.ones(N_ROWS) if WEIGHTS[kind] is None else WEIGHTS[kind]
    leaves = first.tree_.apply(X)
    for leaf in np.unique(leaves):
        share = given[(leaves == leaf) & (SICK == "sick")].sum() / given[leaves == leaf].sum()
        assert first.predict_proba(X)[leaves == leaf, 0] == pytest.approx(share)


def test_costs_and_weights_of_classes_leave_probabilities_alone() -> None:
    by_weight = OptimalTreeClassifier(1, class_weight={"sick": 5}).fit(X, SICK)
    by_cost = CostSensitiveTreeClassifier([[0, 5], [1, 0]], max_depth=1).fit(X, SICK)
    assert by_weight.tree_ == by_cost.tree_


def test_policies_say_how_many_rows_they_decide_for() -> None:
    model = PolicyTree(max_depth=1).fit_rewards(X, COSTS, sample_weight=WEIGHTS["decimal"])
    rows = _in_nodes(model.tree_, np.ones(N_ROWS))
    assert model.tree_.payload.node_rows.tolist() == rows.tolist()
    _check_words(model, rows, is_weighted=True)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", ["classifier", "balanced", "fair", "regressor", "costs"])
def test_reduced_tables_give_the_rows_of_the_table(name: str, kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    if kind == "real":
        pytest.skip("weights of a reduced table are decimals")
    weights = WEIGHTS[kind]
    frame = pandas.DataFrame(np.round(X), columns=["a", "b", "c"])
    frame["y"] = AMOUNT if name == "regressor" else SICK
    asked: dict[str, Any] = {"target": "y"}
    if weights is not None:
        frame["w"], asked["sample_weight"] = weights, "w"
    if name == "fair":
        frame["g"], asked["sensitive"] = GROUPS, "g"
        model: Any = FairTreeClassifier(max_depth=2, tolerance=0.2)
        whole = copy.deepcopy(model)
        whole.fit(frame[["a", "b", "c"]], frame["y"], GROUPS, sample_weight=weights)
    else:
        model = MODELS[name][0]()
        whole = MODELS[name][0]().fit(frame[["a", "b", "c"]], frame["y"], sample_weight=weights)
    model.fit_reduced(reduce(frame, **asked))
    assert model.tree_.payload.node_rows.tolist() == whole.tree_.payload.node_rows.tolist()
    assert model.tree_.rows.tolist() == whole.tree_.rows.tolist()
    assert model.tree_.counts == pytest.approx(whole.tree_.counts)


@pytest.mark.parametrize("name", MODELS)
def test_rows_survive_files_and_copies(name: str) -> None:
    tree = _fitted(name, WEIGHTS["decimal"]).tree_
    assert tree.payload.rows is not None
    for other in (Tree.from_json(tree.to_json()), pickle.loads(pickle.dumps(tree))):
        assert other == tree
        assert other.payload.rows.tolist() == tree.payload.rows.tolist()
    plain = _fitted(name, None).tree_
    assert plain.payload.rows is None
    assert "rows" not in plain.to_dict()["nodes"][0]
    assert Tree.from_json(plain.to_json()) == plain


def test_weights_of_one_are_no_weights() -> None:
    plain = OptimalTreeClassifier(2).fit(X, SICK)
    for ones in (np.ones(N_ROWS, dtype=int), np.ones(N_ROWS), 1):
        assert OptimalTreeClassifier(2).fit(X, SICK, sample_weight=ones).tree_ == plain.tree_


def test_a_file_without_rows_speaks_of_weights_only_where_it_must() -> None:
    written = OptimalTreeClassifier(1).fit(X, SICK, sample_weight=WEIGHTS["decimal"])
    old = written.tree_.to_dict()
    for node in old["nodes"]:
        del node["rows"]
    tree = Tree.from_dict(json.loads(json.dumps(old)))
    assert tree.rows is None
    assert tree.payload.node_rows is None
    assert re.search(r"\(\d+\.\d% of weight [\d.]+\)$", tree.to_text())
    assert "rows" not in tree.to_text()
    assert tree.predict_proba(X).tolist() == written.predict_proba(X).tolist()
    assert view(tree, "tree")["nodes"][0]["rows"] is None
    assert tree.rules()[0].support == tree.weights[tree.preorder[1]]
    model = copy.copy(written)
    model.tree_ = tree
    assert "Training weight in this leaf" in str(model.explain(X[:1]))


@pytest.mark.parametrize(
    "rows", [[[5, 3]], [[4.0, 4.0], [4, 4], [4, 4]], [[-1, 4], [4, 4], [4, 4]], [7, 3, 4], "many"]
)
def test_a_tree_refuses_rows_that_are_none(rows: Any) -> None:
    written = OptimalTreeClassifier(1).fit(X, SICK, sample_weight=WEIGHTS["decimal"]).tree_
    data = written.to_dict()
    for place, node in enumerate(data["nodes"]):
        node["rows"] = rows[place] if place < len(rows) else None
    with pytest.raises(ValueError, match="rows"):
        Tree.from_dict(data)
    del data["nodes"][0]["rows"]
    with pytest.raises(ValueError, match="Either all nodes"):
        Tree.from_dict(data)


@pytest.mark.parametrize("kind", ["none", "decimal", "real"])
@pytest.mark.parametrize("name", ["balanced", "class weights", "several labels", "regressor"])
def test_verify_recomputes_rows_and_weights(name: str, kind: str) -> None:
    weights, y = WEIGHTS[kind], MODELS[name][1]
    model = _fitted(name, weights)
    verify(model, X, y, sample_weight=weights)
    payload = model.tree_.payload
    for field in ("counts", "rows"):
        amounts = payload.counts if field == "counts" else payload.known_rows
        forged = copy.copy(payload)
        changed = amounts.copy()
        changed[1, 0] += 1
        object.__setattr__(forged, field, changed)
        tampered = copy.copy(model)
        tampered.tree_ = model.tree_._with(payload=forged)
        with pytest.raises(CertificateError, match=r"(class counts|weight|rows) of node 1"):
            verify(tampered, X, y, sample_weight=weights)


def test_no_probability_is_hidden_by_labels() -> None:
    """A leaf of labels has a row of shares, which add up to one."""
    for name in MODELS:
        payload = _fitted(name, None).tree_.payload
        if isinstance(payload, Labels):
            assert payload.shares(np.arange(len(payload.label))).sum(axis=1) == pytest.approx(1)


def test_limits_and_tasks_count_rows_too() -> None:
    limit = tasks.Limit("sick", {"sick": 1}, at_most=30)
    weights = WEIGHTS["whole"]
    model = CostSensitiveTreeClassifier([[0, 5], [1, 0]], max_depth=2, limits=limit)
    model.fit(X, SICK, sample_weight=weights)
    rows = _in_nodes(model.tree_, _counted(weights))
    assert model.tree_.payload.node_rows.tolist() == rows.tolist()
    assert model.tree_.weights.tolist() == _in_nodes(model.tree_, weights).tolist()


def test_a_tree_of_scikit_learn_has_rows_unless_it_was_weighted() -> None:
    greedy = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, SICK)
    tree = optimality_gap(greedy, X, SICK).tree
    assert tree.rows is not None
    assert tree.payload.node_rows.tolist() == _in_nodes(tree, np.ones(N_ROWS)).tolist()
    assert "weight" not in tree.to_text()
    weighted = DecisionTreeClassifier(max_depth=3, class_weight="balanced").fit(X, SICK)
    assert optimality_gap(weighted, X, SICK).tree.rows is None


def test_scikit_learn_gets_rows_labels_and_shares_that_add_up_to_one() -> None:
    model = OptimalTreeClassifier(1, objective="balanced_accuracy").fit(X, SICK, WEIGHTS["decimal"])
    other = model.tree_.to_sklearn()
    assert other.tree_.n_node_samples.tolist() == model.tree_.payload.node_rows.tolist()
    assert other.tree_.weighted_n_node_samples == pytest.approx(model.tree_.weights)
    assert other.predict(X).tolist() == model.predict(X).tolist()
    assert other.predict_proba(X).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(
    ("value", "text"), [(12.0, "12"), (29.5, "29.5"), (25.0000001, "25"), (0.00125, "0.00125")]
)
def test_weights_are_written_without_zeros_at_the_end(value: float, text: str) -> None:
    assert weight(value) == text
