"""What leaves hold: every kind predicts, describes itself, compares, exports and survives files."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.unit.trees import stump

import certree
from certree import OptimalTreeRegressor, SPOTree, Tree, oracles
from certree.encoding import Multiway, Threshold
from certree.tree import ChosenDecisions, Labels, Numbers, Payload, Vectors, _payload

X = [[1.0], [2.0]]
COUNTS = [7, 5, 2]
LABEL = [-1, 1, 0]


@dataclass(frozen=True, eq=False)
class Lines(Payload):
    """A straight line per leaf, as a later kind would be: a subclass and nothing else."""

    slopes: tuple[float, ...]

    kind: ClassVar[str] = "lines of a test"
    noun: ClassVar[str] = "line"

    @property
    def n_contents(self) -> int:
        return len(self.slopes)

    def predict(self, leaves: Any, X: Any = None) -> Any:
        return np.array(self.slopes)[self.label[leaves]] * X.column(0)

    def name(self, content: int) -> str:
        return f"{self.slopes[content]:g} size"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "slopes": list(self.slopes)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Lines:
        return cls(label, counts, tuple(map(float, data["slopes"])))


def tree_of(payload: Payload, **others: Any) -> Tree:
    """One test, and leaves that hold something."""
    test = Threshold(0, "size", 1.5)
    return Tree([test], [0, -1, -1], [1, -1, -1], payload=payload, feature_names=["size"], **others)


def numbers() -> Numbers:
    return Numbers(LABEL, COUNTS, [1.25, 10 / 3])


def vectors() -> Vectors:
    return Vectors(LABEL, COUNTS, [[1.0, 2.5], [10 / 3, -4.0]])


def decisions() -> ChosenDecisions:
    return ChosenDecisions(LABEL, COUNTS, [[1, 0], [0, 1]], ["stay", "go"])


def labels() -> Labels:
    return Labels(LABEL, [[3, 4], [1, 4], [2, 0]], ["no", "yes"])


KINDS = [labels, numbers, vectors, decisions, lambda: Lines(LABEL, COUNTS, (2.0, 3.0))]


# ---- the protocol --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "predicted", "described"),
    [
        (labels(), ["yes", "no"], ["yes", "no"]),
        (numbers(), [10 / 3, 1.25], ["3.33333", "1.25"]),
        (vectors(), [[10 / 3, -4.0], [1.0, 2.5]], ["(3.33333, -4)", "(1, 2.5)"]),
        (decisions(), [[0.0, 1.0], [1.0, 0.0]], ["go", "stay"]),
        (Lines(LABEL, COUNTS, (2.0, 3.0)), [3.0, 4.0], ["3 size", "2 size"]),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_kind_predicts_and_describes_itself(
    payload: Payload, predicted: list[Any], described: list[str]
) -> None:
    tree = tree_of(payload)
    assert tree.predict(X).tolist() == predicted
    assert [payload.describe(node) for node in (1, 2)] == described
    assert payload.same(1, 1)
    assert not payload.same(1, 2)
    text = tree.to_text()
    assert all(f": {name} (" in text for name in described)
    assert all(name in tree.to_dot() and name in tree.to_html() for name in described)
    if not isinstance(payload, Numbers):
        assert [str(rule).split(": ")[1] for rule in tree.rules()] == described


@pytest.mark.parametrize("make", KINDS)
def test_a_kind_survives_json_pickle_and_copy(make: Any) -> None:
    for tree in (tree_of(make()), tree_of(make(), notes=["a", "b", "c"])):
        for again in (
            Tree.from_json(tree.to_json()),
            Tree.from_dict(tree.to_dict()),
            pickle.loads(pickle.dumps(tree)),
            copy.deepcopy(tree),
        ):
            assert again == tree
            assert again.payload == tree.payload
            assert hash(again) == hash(tree)
            assert type(again.payload) is type(tree.payload)
            assert not again.label.flags.writeable
            np.testing.assert_array_equal(again.predict(X), tree.predict(X))


@pytest.mark.parametrize("make", KINDS)
def test_payloads_are_compared_by_all_that_they_hold(make: Any) -> None:
    assert make() == make()
    assert make() != "a payload"
    others = [other() for other in KINDS if other is not make]
    assert all(make() != other for other in others)
    swapped = make().gathered([[0], [2], [1]])
    assert swapped != make()
    assert swapped.gathered([[0], [2], [1]]) == make()
    with pytest.raises(AttributeError):
        make().label = [0]


def test_gathered_leaves_have_the_weight_of_all() -> None:
    one = numbers().gathered([[1, 2]])
    assert (one.label.tolist(), one.weights.tolist()) == ([1], [7])
    assert labels().gathered([[1, 2]]).counts.tolist() == [[3, 4]]


def test_trees_differ_by_their_payload() -> None:
    assert tree_of(numbers()) != tree_of(Numbers(LABEL, COUNTS, [1.25, 3.0]))
    assert tree_of(numbers()) != tree_of(Numbers(LABEL, [7, 4, 3], [1.25, 10 / 3]))
    renamed = ChosenDecisions(LABEL, COUNTS, [[1, 0], [0, 1]], ["stay", "leave"])
    assert tree_of(decisions()) != tree_of(renamed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Numbers([-1, 0, 2], COUNTS, [1.0, 2.0]), "Leaf labels must lie in 0..1"),
        (lambda: Numbers([0, 0, 1], COUNTS, [1.0, 2.0]), "label -1"),
        (lambda: Numbers([-1, 0], COUNTS, [1.0, 2.0]), "one entry per node, 3"),
        (lambda: Numbers(LABEL, [[1, 2]] * 3, [1.0, 2.0]), r"counts must have shape \(3, 1\)"),
        (lambda: Numbers(LABEL, [1, -1, 2], [1.0, 2.0]), "not negative"),
        (lambda: Numbers(LABEL, COUNTS, [1.0, np.nan]), "cannot hold NaN"),
        (lambda: Numbers(LABEL, COUNTS, [0.0, -0.0]), "listed twice"),
        (lambda: Numbers(LABEL, COUNTS, [[1.0], [2.0]]), "with 1 axes"),
        (lambda: Vectors(LABEL, COUNTS, [1.0, 2.0]), "with 2 axes"),
        (lambda: Vectors(LABEL, COUNTS, [[1.0, 2.0]] * 2), "listed twice"),
        (lambda: ChosenDecisions(LABEL, COUNTS, [[1], [2]], ["a"]), "2 decisions have 1 names"),
        (lambda: Labels(LABEL, [[1, 2]] * 3, []), "classes must be a non-empty list"),
    ],
)
def test_what_fits_no_tree_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tree_of(make())


def test_a_tree_takes_a_payload_or_labels() -> None:
    parts = [[Threshold(0, "size", 1.5)], [0, -1, -1], [1, -1, -1]]
    for build in (Tree, Tree.from_arrays):
        for given in (
            {},
            {"payload": numbers(), "classes": [0, 1]},
            {"label": LABEL, "classes": [0, 1]},
        ):
            with pytest.raises(TypeError, match="either label, counts and classes, or a payload"):
                build(*parts, **given)
    assert Tree.from_arrays(*parts, payload=numbers()) == Tree(*parts, payload=numbers())


def test_two_kinds_cannot_have_the_same_name() -> None:
    with pytest.raises(TypeError, match="'numbers' of payloads is Numbers already"):
        type("Other", (Payload,), {"kind": "numbers"})
    assert Payload.kinds["numbers"] is Numbers


def test_values_of_nodes_become_the_distinct_values_of_leaves() -> None:
    is_leaf = np.array([False, True, True, True])
    found = Numbers.of_nodes([9.0, 2.0, -0.0, 2.0], is_leaf, [3, 1, 1, 1])
    assert (found.label.tolist(), found.values.tolist()) == ([-1, 1, 0, 1], [0.0, 2.0])
    pairs = Vectors.of_nodes([[9, 9], [1, 2], [1, 0], [1, 2]], is_leaf, [3, 1, 1, 1])
    assert (pairs.label.tolist(), pairs.values.tolist()) == ([-1, 1, 0, 1], [[1, 0], [1, 2]])
    named = ChosenDecisions.called(
        [[9, 9], [1, 2], [1, 0], [1, 2]], is_leaf, [3, 1, 1, 1], lambda w: "ba"[int(w[1]) // 2]
    )
    assert (named.names, named.label.tolist()) == (("a", "b"), [-1, 0, 1, 0])
    assert named.predict([1, 2]).tolist() == [[1, 2], [1, 0]]


# ---- exports -------------------------------------------------------------------------------------


def _call(tree: Tree, row: list[float]) -> Any:
    namespace: dict[str, Any] = {}
    exec(tree.to_python(), namespace)
    return namespace["predict"](row)


def test_python_returns_what_the_tree_predicts() -> None:
    for payload in (labels(), numbers(), vectors(), decisions()):
        tree = tree_of(payload)
        assert [_call(tree, row) for row in X] == tree.predict(X).tolist()
    assert '"""Return the predicted decision of one row.' in tree_of(decisions()).to_python()


def test_sql_writes_numbers_and_the_names_of_decisions() -> None:
    assert tree_of(numbers()).to_sql() == (
        'CASE\n  WHEN "size" <= 1.5 THEN 3.3333333333333335\n  ELSE 1.25\nEND'
    )
    assert "THEN 'go'\n  ELSE 'stay'" in tree_of(decisions()).to_sql()
    alike = ChosenDecisions(LABEL, COUNTS, [[1, 0], [0, 1]], ["go", "go"])
    with pytest.raises(ValueError, match="several are called 'go'"):
        tree_of(alike).to_sql()
    with pytest.raises(ValueError, match=r"to_sql cannot write .* which hold vectors"):
        tree_of(vectors()).to_sql()


def test_what_is_no_formula_says_so() -> None:
    tree = tree_of(Lines(LABEL, COUNTS, (2.0, 3.0)))
    for export in (tree.to_sql, tree.to_python, tree.to_sklearn):
        with pytest.raises(ValueError, match="cannot write the leaves of this tree"):
            export()
    with pytest.raises(ValueError, match="hold lines of a test, which have none"):
        _ = tree.classes
    assert tree.rules()[0].prediction == "3 size"
    assert tree.plot() is not None


@pytest.mark.parametrize("make", [numbers, vectors, decisions])
def test_scikit_learn_gets_a_regressor_with_all_outputs(make: Any) -> None:
    tree = tree_of(make())
    model = tree.to_sklearn()
    rows = np.array(X)
    del model.feature_names_in_
    np.testing.assert_allclose(model.predict(rows), tree.predict(rows))
    mean = np.average(tree.predict(rows), axis=0, weights=[5, 2])
    np.testing.assert_allclose(model.tree_.value[0].squeeze(), mean)


def test_importances_of_numbers_are_shares_of_the_squared_error_saved() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 4)), rng.random(60)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    importances = model.tree_.feature_importances
    assert importances.sum() == pytest.approx(1)
    assert importances == pytest.approx(model.feature_importances_)
    assert importances == pytest.approx(model.tree_.to_sklearn().feature_importances_)


def test_only_labels_have_shares_of_classes() -> None:
    for make in (numbers, vectors, decisions):
        tree = tree_of(make())
        with pytest.raises(ValueError, match="no shares of classes"):
            tree.predict_proba(X)
        assert tree.counts.tolist() == [[7], [5], [2]]
        assert tree.weights.tolist() == COUNTS
        assert tree.classes[tree.label[[1, 2]]].tolist() == tree.predict(X).tolist()
        assert repr(tree).endswith(f"leaves={make().kind!r})")
    assert tree_of(labels()).weights.tolist() == COUNTS


def test_a_single_leaf_says_what_it_is() -> None:
    for payload, text in (
        (Numbers([0], [3], [2.5]), "number: 2.5 (3 rows)"),
        (ChosenDecisions([0], [0.25], [[1.0]], ["go"]), "decision: go (weight 0.25)"),
        (Vectors([0], [0], [[1.0]]), "vector: (1) (no training rows)"),
    ):
        assert Tree([], [-1], [-1], payload=payload, n_features=1).to_text() == text


def test_bars_show_predictions_while_there_are_colours() -> None:
    def fan(n_leaves: int) -> Tree:
        test = Multiway(0, "x0", tuple((str(k),) for k in range(n_leaves)), 0)
        label = [-1, *range(n_leaves)]
        payload = Numbers(label, [n_leaves] + [1] * n_leaves, np.arange(n_leaves) / 2)
        return Tree([test], [0] + [-1] * n_leaves, [1] + [-1] * n_leaves, payload=payload)

    assert 'height="4"' in fan(8).to_html()
    assert "1.5 12.5%" in fan(8).to_html()
    assert 'height="4"' in fan(9).to_html()
    assert "1.5 11.1%" not in fan(9).to_html()
    assert 'height="4"' not in fan(65).to_html()


def test_long_decisions_lose_whole_parts() -> None:
    name = " + ".join(f"item {k}" for k in range(40))
    tree = Tree([], [-1], [-1], payload=ChosenDecisions([0], [3], [[1.0]], [name]), n_features=1)
    shown = tree.to_text(show_counts=False)
    assert shown.startswith("decision: item 0 + item 1 + ")
    assert shown.endswith(" + … + item 39")
    assert all(part.split()[-1].isdigit() or part == "…" for part in shown.split(" + "))
    assert name in tree.to_html()


def test_equal_leaves_of_any_kind_collapse() -> None:
    test = Multiway(0, "color", (("red",), ("green",), ("blue",)), 0)
    for payload in (
        Numbers([-1, 0, 1, 0], [6, 1, 2, 3], [0.5, 2.0]),
        ChosenDecisions([-1, 0, 1, 0], [6, 1, 2, 3], [[1, 0], [0, 1]], ["stay", "go"]),
    ):
        tree = Tree([test], [0, -1, -1, -1], [1, -1, -1, -1], payload=payload)
        small = tree.collapsed()
        assert small.n_leaves == 2
        assert sorted(small.weights.tolist()) == [2, 4, 6]
        rows = [["red"], ["green"], ["blue"], ["other"]]
        assert small.predict(rows).tolist() == tree.predict(rows).tolist()


# ---- files ---------------------------------------------------------------------------------------


def test_labels_are_written_in_format_1_and_all_others_in_format_2() -> None:
    data = tree_of(labels()).to_dict()
    assert data["format"] == 1
    assert data["nodes"][1] == {"label": 1, "counts": [1, 4]}
    assert "leaves" not in data
    data = tree_of(decisions()).to_dict()
    assert data["format"] == 2
    assert data["nodes"][1] == {"label": 1, "weight": 5}
    assert data["leaves"] == {
        "kind": "decisions",
        "values": [[1.0, 0.0], [0.0, 1.0]],
        "names": ["stay", "go"],
    }


def test_regression_trees_and_decisions_of_format_1_are_still_read() -> None:
    text = """{"format": 1, "type": "certree.Tree",
      "classes": {"dtype": "<f8", "values": [1.25, 3.3333333333333335]},
      "feature_names": null, "n_features": 1, "n_columns": 1,
      "tests": [{"column": 0, "kind": "threshold", "feature": 0, "name": "x0", "threshold": 1.5}],
      "nodes": [{"test": 0, "children": [1, 2], "counts": [2, 5], "note": "all"},
                {"label": 1, "counts": [0, 5], "note": "weight 5"},
                {"label": 0, "counts": [2, 0], "note": "weight 2"}]}"""
    tree = Tree.from_json(text)
    assert tree.predict(X).tolist() == [10 / 3, 1.25]
    assert tree.to_text() == "x0 <= 1.5: 3.33333 (weight 5)\nx0 > 1.5: 1.25 (weight 2)"
    assert Tree.from_json(tree.to_json()) == tree
    named = json.loads(text)
    named["classes"] = {"dtype": "<U3", "values": ["EEN", "NEE"]}
    assert Tree.from_dict(named).predict(X).tolist() == ["NEE", "EEN"]


def test_numbers_and_decisions_survive_files_exactly() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (50, 4))
    infinite = Numbers(LABEL, [0.1, 1 / 3, 5e-324], [-np.inf, np.inf])
    assert Tree.from_json(tree_of(infinite).to_json()) == tree_of(infinite)
    real = oracles.BoxSimplex(3, total=1.7)
    for model in (
        OptimalTreeRegressor(max_depth=2).fit(X, rng.random(50)),
        SPOTree(real, max_depth=2).fit(X, rng.random((50, 3))),
        SPOTree(oracles.GridShortestPath(3, 3), max_depth=2).fit(X, rng.random((50, 12))),
    ):
        tree = Tree.from_json(model.tree_.to_json())
        assert tree.payload.values.tobytes() == model.tree_.payload.values.tobytes()
        np.testing.assert_array_equal(tree.predict(X), model.tree_.predict(X))
        assert tree.to_text() == model.tree_.to_text()
    np.testing.assert_array_equal(tree.predict(X), model.decide(X))


def test_labels_of_any_type_stay_what_they_are() -> None:
    for classes in ([1, 2], [1.5, 2.5], [True, False], ["a", "b"]):
        tree = stump(classes)
        assert isinstance(tree.payload, Labels)
        assert tree.classes.tolist() == list(classes)


def test_files_find_every_kind_of_leaves() -> None:
    package = Path(certree.__file__).parent
    for path in [*package.glob("leaves/*/payload.py"), package / "decisions" / "payload.py"]:
        import_module(".".join(("certree", *path.relative_to(package).with_suffix("").parts)))
    modules = {
        kind: cls.__module__
        for kind, cls in Payload.kinds.items()
        if cls.__module__.endswith(".payload")
    }
    assert modules == _payload._LEAVES
