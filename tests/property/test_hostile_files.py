"""Files come from anywhere: what is malformed is a ValueError, and what loads works."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from certree import Certificate, SPOTree, Tree, oracles
from certree.files import model_from_json, model_to_json
from certree.tree import Numbers, Vectors
from tests.documents import STRANGE, Document, documents, model_files
from tests.hostile import MOST_SECONDS, use, wrong_files
from tests.problems import FUZZ
from tests.unit.trees import chain

N_FILES = 10_000 if FUZZ else 400
"""With CERTREE_FUZZ, a seed, other files and more of them."""


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
def test_every_document_reads_back_as_what_was_written(document: Document) -> None:
    assert document.read(document.text) == document.written
    assert document.read(document.text.encode()) == document.written
    use(document.read(document.text))


@pytest.mark.parametrize("part", range(4))
def test_spoiled_files_are_value_errors_or_work(part: int) -> None:
    bad = [str(error) for error in wrong_files(N_FILES // 4, f"{FUZZ} {part}")]
    assert not bad, "\n".join(bad[:5])


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
def test_every_value_may_be_replaced_by_any_other(document: Document) -> None:
    """Each field at the top, by each strange value."""
    data = json.loads(document.text)
    for key in data:
        for value in STRANGE:
            try:
                read = document.read(json.dumps({**data, key: value}))
            except ValueError:
                continue
            use(read)


# ---- particular files --------------------------------------------------------------------------


def _tree(**changes: Any) -> str:
    data = json.loads(documents()[0].text)
    return json.dumps({**data, **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000 + "]" * 100_000, "nests too deeply"),
        ("{", "not JSON"),
        ("1" * 5000, "5000 digits"),
        (_tree(nodes=[]), "at least one node"),
        (_tree(nodes=[{"label": 0, "counts": [1, float("nan")]}]), "NaN"),
        (_tree(n_columns=1e999), "not a number of JSON"),
        (_tree(n_features=10**9), "n_features must be a whole number from 0"),
        (_tree(classes={"dtype": "<U100000000", "values": [1, 2]}), "class label must be text"),
        (_tree(classes={"dtype": "M8[s]", "values": [1, 2]}), "dtype of class label"),
        (_tree(classes={"dtype": "|i1", "values": [1, 300]}), "class label must be a whole"),
        (_tree(classes={"dtype": "|O", "values": [1, [2]]}), "class label"),
    ],
    ids=range(11),
)
def test_trees_say_what_is_wrong_with_a_file(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tree.from_json(text)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("nodes", 0, "children"), [], "child of node 0"),
        (("nodes", 0, "children"), [0, 1], "child of node 0"),
        (("nodes", 0, "children"), [1, 2, 3], "2 consecutive numbers"),
        (("nodes", 0, "children"), [1, 1], "2 consecutive numbers"),
        (("nodes", 0, "test"), 2**63, "test of node 0"),
        (("nodes", 0, "test"), True, "test of node 0"),
        (("nodes", 0, "counts"), [2**62, 2**62], r"below 2\*\*63"),
        (("nodes", 0, "counts"), [1, -1], "at least 0"),
        (("nodes", 0, "counts"), [1], "a list of 2 numbers"),
        (("nodes", 0, "note"), "so", "note must be text"),
        (("tests", 0, "feature"), -1, "feature of the question"),
        (("tests", 0, "feature"), 4, "a test asks about|need 5 columns|lies|feature"),
        (("tests", 0, "column"), 10**6, "column must be"),
        (("tests", 0, "kind"), ["flag"], "kind must be text"),
        (("tests", 0, "kind"), "riddle", "Unknown kind"),
        (("tests", 0, "name"), 3, "name must be text"),
    ],
)
def test_trees_name_the_place_of_a_wrong_value(path: Any, value: Any, message: str) -> None:
    data = json.loads(documents()[0].text)
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(data)


NUMBERS = {"kind": "numbers", "values": [1.5, 2.5]}
DECISIONS = {"kind": "decisions", "values": [[0, 1], [1, 0]], "names": ["a", "b"]}
INFINITE = {"float": "inf"}


def _leaves(leaves: Any, **root: Any) -> dict[str, Any]:
    """Return a tree with one test, whose leaves hold something."""
    data = json.loads(_tree(format=2, leaves=leaves, feature_names=None, n_features=1))
    test = {"column": 0, "kind": "threshold", "feature": 0, "name": "x0", "threshold": 0.5}
    nodes = [{"test": 0, "children": [1, 2], "weight": 3, **root}]
    return {**data, "tests": [test], "nodes": nodes + [{"label": k, "weight": 1} for k in (0, 1)]}


@pytest.mark.parametrize(
    ("leaves", "message"),
    [
        *((None, "kind of leaves must be text"), ([], "kind of leaves must be text")),
        *(({}, "kind of leaves"), ({"kind": 3}, "kind of leaves"), ({"kind": "x"}, "Unknown kind")),
        ({"kind": "numbers"}, "have the keys values"),
        ({**NUMBERS, "names": ["a", "b"]}, "have the keys values"),
        ({**NUMBERS, "values": 3}, "values of leaves must be a list"),
        ({**NUMBERS, "values": []}, "values of leaves must be a list"),
        ({**NUMBERS, "values": [1.5]}, "Leaf labels must lie in 0..0"),
        ({**NUMBERS, "values": [1.5, 1.5]}, "listed twice"),
        ({**NUMBERS, "values": [0, -0.0]}, "listed twice"),
        ({**NUMBERS, "values": [1.5, "2"]}, "values of leaves must be a finite number"),
        ({**NUMBERS, "values": [1.5, True]}, "values of leaves must be a finite number"),
        ({**NUMBERS, "values": [1.5, 10**400]}, "values of leaves must be a finite number"),
        ({**NUMBERS, "values": [1.5, [2.5]]}, "values of leaves must be a finite number"),
        ({**NUMBERS, "values": [1.5, {"float": "nan"}]}, "cannot hold NaN"),
        ({**NUMBERS, "values": [1.5, {"float": "x"}]}, "values of leaves must be one number"),
        ({**DECISIONS, "kind": "numbers"}, "have the keys values"),
        ({**DECISIONS, "kind": "vectors"}, "have the keys values"),
        ({**DECISIONS, "values": [[0, 1], [0, 1]]}, "listed twice"),
        ({**DECISIONS, "values": [[0, 1], [1]]}, "must be lists of 2 numbers"),
        ({**DECISIONS, "values": [[0, 1], 1]}, "must be lists of 2 numbers"),
        ({**DECISIONS, "values": [[], []]}, "array of values"),
        ({**DECISIONS, "values": [0, 1]}, "must be lists of 0 numbers"),
        ({**DECISIONS, "values": [[0, 1], [1, None]]}, "values of leaves"),
        ({**DECISIONS, "values": [[0, 1], [1, [0]]]}, "values of leaves"),
        ({**DECISIONS, "names": ["a"]}, "names, values of leaves differ in length"),
        ({**DECISIONS, "names": ["a", 3]}, "name of a decision must be text"),
        ({**DECISIONS, "names": "ab"}, "names of leaves must be a list"),
        ({"kind": "labels", "dtype": "<U1", "values": ["a", "b"]}, "counts must have shape"),
        ({"kind": "labels", "dtype": "<U1"}, "keys 'dtype' and 'values'"),
    ],
    ids=range(32),
)
def test_payloads_say_what_is_wrong_with_a_file(leaves: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(_leaves(leaves))


@pytest.mark.parametrize(
    ("root", "message"),
    [
        *(({"weight": -1}, "at least 0"), ({"weight": [3]}, "finite number")),
        *(({"weight": None}, "finite number"), ({"weight": True}, "finite number")),
        *(({"weight": 10**400}, "finite number"), ({"weight": 2**63}, "below 2")),
        ({"counts": [1, 2]}, "must have the keys 'weight'"),
        ({"label": 0}, "must have the keys 'weight'"),
    ],
)
def test_weights_of_nodes_are_checked(root: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(_leaves(NUMBERS, **root))


def test_payloads_in_order_are_read() -> None:
    for leaves in (NUMBERS, DECISIONS, {**NUMBERS, "values": [INFINITE, -1]}):
        use(Tree.from_dict(_leaves(leaves)))


def test_large_payloads_load_in_proportion_to_their_size() -> None:
    """Many leaves, and long vectors: neither time nor memory is a product of the two."""
    seconds, peaks = [], []
    for size in (2_000, 16_000):
        tree = chain(size, holds=True)
        leaf = tree.test < 0
        numbers = Numbers.of_nodes(np.arange(tree.n_nodes) / 3, leaf, np.ones(tree.n_nodes))
        wide = Vectors([0], [1], np.arange(8.0 * size)[None, :])
        text = Tree(tree.tests, tree.test, tree.first_child, payload=numbers).to_json()
        long = Tree([], [-1], [-1], payload=wide, n_features=1).to_json()
        tracemalloc.start()
        start = time.thread_time()
        assert Tree.from_json(text).depth == size
        assert Tree.from_json(long).classes.shape == (1, 8 * size)
        seconds.append(time.thread_time() - start)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert seconds[1] < 40 * seconds[0]
    assert peaks[1] < 12 * peaks[0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("cost", "1e4000000"), ("cost", "1/0"), ("cost", {"a": 1}), ("cost", "9" * 5000)),
        *(("cost", 1.5), ("cost", True), ("cost", None), ("total_weight", 0), ("status", "fine")),
        *(("history", 3), ("history", [[1, 2, 3]]), ("counters", 3), ("counters", {"a": "b"})),
        *(("n_splits", -1), ("seconds", "1"), ("class_weights", 3), ("task", None)),
    ],
)
def test_certificates_name_the_field_of_a_wrong_value(field: str, value: Any) -> None:
    data = json.loads(documents()[1].text)
    with pytest.raises(ValueError, match=field):
        Certificate.from_json(json.dumps({**data, field: value}))


@pytest.mark.parametrize("text", ["{}", "[]", "null", "3", '{"status": 1}', "[" * 100_000])
def test_other_json_is_no_certificate(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a certificate|nests too deeply|not JSON"):
        Certificate.from_json(text)


def test_categories_that_share_a_hash_value_take_no_time() -> None:
    """All multiples of 2**61 - 1 have the same hash value."""
    values = [[k * (2**61 - 1)] for k in range(20_000)]
    test = {"column": 0, "kind": "multiway", "feature": 0, "name": "x0", "default": 0}
    text = _tree(tests=[{**test, "categories": values}], feature_names=None)
    start = time.thread_time()
    with pytest.raises(ValueError, match="float64 does not hold the category"):
        Tree.from_json(text)
    assert time.thread_time() - start < MOST_SECONDS


def test_large_files_load_in_proportion_to_their_size() -> None:
    seconds = []
    for depth in (1_000, 8_000):
        text = chain(depth, holds=True).to_json()
        start = time.thread_time()
        assert Tree.from_json(text).depth == depth
        seconds.append(time.thread_time() - start)
    assert seconds[1] < 40 * seconds[0]


@pytest.mark.parametrize("shape", [[2**31, 0], [0, 2**31], [2**15, 2**15, 0], [1, 0]], ids=str)
@pytest.mark.parametrize("place", ["classes_", "feature_names_in_"])
def test_an_array_without_values_states_no_size(place: str, shape: list[int]) -> None:
    """A file of a few thousand characters made lists of 2**31 empty lists."""
    data = json.loads(model_files()[0].text)
    data["fitted"][place] = {"array": {"dtype": "|O", "shape": shape, "values": []}}
    with pytest.raises(ValueError, match=f"{place} has no values, so its shape cannot be"):
        model_from_json(json.dumps(data))


def test_a_program_without_inequalities_is_read() -> None:
    oracle = oracles.LinearProgram(A_eq=[[1, 1, 1]], b_eq=[1], n_costs=3)
    model = SPOTree(oracle, max_depth=1).fit([[0], [1]], [[1, 2, 3], [3, 2, 1]])
    loaded = model_from_json(model_to_json(model))
    assert loaded.predict([[0], [1]]).tolist() == model.predict([[0], [1]]).tolist()


def test_many_unnamed_columns_take_no_memory() -> None:
    """A file of a few hundred characters must not make names for millions of columns."""
    text = _tree(n_features=10**7, feature_names=None)
    tracemalloc.start()
    tree = Tree.from_json(text)
    tree.to_sql()
    tree.to_python()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tree.n_features == 10**7
    assert peak < 2**20
