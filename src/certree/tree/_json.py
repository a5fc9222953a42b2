"""The tree as a dictionary of JSON values, and back without loss.

Format 1::

    {"format": 1, "type": "certree.Tree",
     "classes": {"dtype": "<U3", "values": ["no", "yes"]},
     "feature_names": ["age"] or null, "n_features": 1,
     "tests": [{"column": 4, ...what the test's own to_dict gives...}], "n_columns": 9,
     "nodes": [{"test": 0, "children": [1, 2], "counts": [4, 3]},
               {"label": 0, "counts": [4, 1]}, {"label": 1, "counts": [0, 2]}]}

Nodes are a flat list, so a tree may have any depth. ``label`` and ``test`` are positions in
``classes`` and ``tests``. A tree with notes has a ``note`` in every node. A later format gets
another number, and this reader keeps reading format 1.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Test, kind_of_test, test_from_dict

from ._leaf_text import plain
from ._plain import load_json, read, read_known, read_number, read_whole, shown

if TYPE_CHECKING:
    from ._tree import Tree

    TreeType = TypeVar("TreeType", bound=Tree)

FORMAT = 1

MOST_COLUMNS = 10**8
"""Of a table or an encoder; also bounds the numbers of nodes, which a file has to list anyway."""

_MOST_WEIGHT = 1e300
_KEYS = ("classes", "feature_names", "n_features", "n_columns", "tests", "nodes")
_DTYPE = re.compile(
    r"str|[<>=|]?(?:b1|[iu][1248]|f[248]|(?P<object>O)|(?P<text>U[0-9]{1,9}))", re.ASCII
)


def to_dict(tree: Tree) -> dict[str, Any]:
    """Return the tree in format 1."""
    counts = tree.counts.tolist()
    nodes: list[dict[str, Any]] = []
    for node in range(tree.n_nodes):
        if tree.test[node] < 0:
            nodes.append({"label": int(tree.label[node]), "counts": counts[node]})
        else:
            children = list(tree.children(node))
            nodes.append(
                {"test": int(tree.test[node]), "children": children, "counts": counts[node]}
            )
        if tree.notes is not None:
            nodes[-1]["note"] = tree.notes[node]
    return {
        "format": FORMAT,
        "type": "certree.Tree",
        "classes": _classes_to_dict(tree.classes),
        "feature_names": list(tree.feature_names) if tree.has_names else None,
        "n_features": tree.n_features,
        "n_columns": tree.n_columns,
        "tests": [
            {"column": column, **test.to_dict()}
            for column, test in zip(tree.columns, tree.tests, strict=True)
        ],
        "nodes": nodes,
    }


def from_dict(cls: type[TreeType], data: Any) -> TreeType:
    """Read format 1."""
    found = data.get("format") if isinstance(data, Mapping) else None
    if found != FORMAT or isinstance(found, bool):
        raise ValueError(
            f"Cannot read a tree of format {shown(found)}; this version of certree reads format "
            f"{FORMAT}. Update certree, or pass what Tree.to_dict returned."
        )
    missing = [key for key in _KEYS if key not in data]
    if missing:
        raise ValueError(
            f"The dictionary is not a complete tree, it lacks {', '.join(missing)}; "
            "pass what Tree.to_dict returned."
        )
    return _build(cls, data)


def to_json(tree: Tree, indent: int | None) -> str:
    """Return format 1 as JSON text, in ASCII so that every channel carries it."""
    return json.dumps(to_dict(tree), indent=indent, allow_nan=False)


def from_json(cls: type[TreeType], text: str | bytes) -> TreeType:
    """Read format 1 from JSON text."""
    return from_dict(cls, load_json(text, "Tree.to_json"))


# ---- reading: every value is checked, since files come from anywhere -----------------------------


def _build(cls: type[TreeType], data: Mapping[str, Any]) -> TreeType:
    listed, nodes = _list(data, "tests"), _list(data, "nodes")
    classes = _classes_from_dict(data["classes"])
    n_columns = read_whole(data["n_columns"], "n_columns", 0, MOST_COLUMNS)
    names = data["feature_names"]
    if names is not None:
        names = read(tuple[str, ...], names, "feature_names")
    tests = [_test(values, names) for values in listed]
    first_children = [_first_child(number, node, tests) for number, node in enumerate(nodes)]
    has_notes = any("note" in node for node in nodes)
    return cls(
        tests,
        [node.get("test", -1) for node in nodes],
        first_children,
        [node.get("label", -1) for node in nodes],
        counts=_counts(nodes, len(classes)),
        classes=classes,
        feature_names=names,
        n_features=read_whole(data["n_features"], "n_features", 0, MOST_COLUMNS),
        columns=[read_whole(test["column"], "column", 0, n_columns - 1) for test in listed],
        n_columns=n_columns,
        notes=[read(str, node.get("note"), "note") for node in nodes] if has_notes else None,
    )


def _list(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return a list of objects."""
    values = data[key]
    if not isinstance(values, list) or not all(isinstance(value, Mapping) for value in values):
        raise ValueError(f"{key} must be a list of objects, got {shown(values)}.")
    return values


def _test(values: Mapping[str, Any], names: Sequence[str] | None) -> Test:
    """Return one test, each of its values of the type that its class declares."""
    if "column" not in values:
        raise ValueError(f"A test has the key 'column', got {shown(', '.join(map(str, values)))}.")
    given = {key: value for key, value in values.items() if key != "column"}
    kind = read(str, given.get("kind"), "kind")
    known = read_known(kind_of_test(kind), given)
    for category in (value for group in known.get("categories", ()) for value in group):
        # Columns hold float64; other integers can also be made to share one hash value, and
        # looking for repetitions among them would take time quadratic in the file.
        if type(category) is int and int(float(category)) != category:
            raise ValueError(f"float64 does not hold the category {shown(category)} exactly.")
    test = test_from_dict({**given, **known})
    most = MOST_COLUMNS if names is None else len(names)
    read_whole(test.feature, f"feature of the test {shown(str(test))}", 0, most - 1)
    if names is not None and names[test.feature] != test.name:
        raise ValueError(
            f"The test {shown(str(test))} asks about column {test.feature}, which is called "
            f"{shown(names[test.feature])}."
        )
    return test


def _first_child(number: int, node: Mapping[str, Any], tests: Sequence[Test]) -> int:
    """Return the first of the children that a node names, -1 for a leaf."""
    keys = set(node) - {"counts", "note"}
    if "counts" not in node or keys not in ({"label"}, {"test", "children"}):
        raise ValueError(
            f"Node {number} must have the keys 'counts' and 'label', or 'counts', 'test' and "
            f"'children', got {shown(', '.join(map(str, node)))}."
        )
    if "label" in node:
        read_whole(node["label"], f"label of node {number}", 0, MOST_COLUMNS)
        return -1
    asked = read_whole(node["test"], f"test of node {number}", 0, len(tests) - 1)
    children = read(tuple[int, ...], node["children"], f"children of node {number}")
    wanted = tests[asked].n_outcomes
    first = read_whole(children[0] if children else -1, f"child of node {number}", 1, MOST_COLUMNS)
    if len(children) != wanted or children != tuple(range(first, first + wanted)):
        raise ValueError(
            f"The children of node {number} must be {wanted} consecutive numbers, one for each "
            f"outcome of its test, got {', '.join(map(str, children[:10]))}."
        )
    return first


def _counts(nodes: Sequence[Mapping[str, Any]], n_classes: int) -> NDArray[Any]:
    """Return the weights of all nodes, whole numbers if all of them are."""
    counts = [node["counts"] for node in nodes]
    for number, of_node in enumerate(counts):
        if not isinstance(of_node, list) or len(of_node) != n_classes:
            raise ValueError(
                f"counts of node {number} must be a list of {n_classes} numbers, one for each "
                f"class, got {shown(of_node)}."
            )
        total = math.fsum(read_number(count, f"counts of node {number}") for count in of_node)
        if min(of_node) < 0 or not total <= _MOST_WEIGHT:
            raise ValueError(f"counts of node {number} must be at least 0 and have a finite sum.")
    whole = all(type(count) is int for of_node in counts for count in of_node)
    if whole and any(sum(of_node) > np.iinfo(np.int64).max for of_node in counts):
        raise ValueError("counts that are whole numbers must have sums below 2**63.")
    shape = (len(nodes), n_classes)
    return np.array(counts, dtype=np.int64 if whole else np.float64).reshape(shape)


def _classes_to_dict(classes: NDArray[Any]) -> dict[str, Any]:
    """Return the class labels with what is needed to restore their type."""
    kind, size = classes.dtype.kind, classes.dtype.itemsize
    if kind not in "biufUOT" or (kind == "f" and size > 8):
        raise TypeError(
            f"Class labels of dtype {classes.dtype} have no JSON form; "
            "train with strings, integers, floats or booleans."
        )
    dtype = "str" if kind == "T" else classes.dtype.str
    return {"dtype": dtype, "values": [_label_to_json(value) for value in classes]}


def _classes_from_dict(data: Any) -> NDArray[Any]:
    """Return the class labels; a short list of types, and no wider than the labels need."""
    if not isinstance(data, Mapping) or set(data) != {"dtype", "values"}:
        raise ValueError(f"classes must have the keys 'dtype' and 'values', got {shown(data)}.")
    form = _DTYPE.fullmatch(read(str, data["dtype"], "dtype of classes"))
    if form is None:
        raise ValueError(
            "dtype of classes must be that of strings, integers, floats, booleans or objects, got "
            f"{shown(data['dtype'])}."
        )
    if not isinstance(data["values"], list) or not data["values"]:
        raise ValueError(f"values of classes must be a list, got {shown(data['values'])}.")
    values = [_label_from_json(value) for value in data["values"]]
    if form[0] == "str" or form["text"]:
        return _text_labels(values)
    if form["object"]:
        result = np.empty(len(values), dtype=object)
        result[:] = values
        return result
    return _number_labels(values, np.dtype(form[0]))


def _text_labels(labels: list[Any]) -> NDArray[Any]:
    lengths = [len(read(str, label, "class label")) for label in labels]
    # NumPy gives every label the room of the longest.
    if max(lengths) * len(lengths) > 100 * sum(lengths) + 10_000:
        raise ValueError(f"One class label of {max(lengths)} characters is much too long.")
    return np.array(labels, dtype=f"U{max(1, *lengths)}")


def _number_labels(labels: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    wanted = {"b": (bool,), "f": (int, float)}.get(dtype.kind, (int,))
    for label in labels:
        if type(label) not in wanted:
            raise ValueError(f"A class label of dtype {dtype} cannot be {shown(label)}.")
        if dtype.kind in "iu":
            read_whole(label, "class label", np.iinfo(dtype).min, np.iinfo(dtype).max)
        elif dtype.kind == "f" and math.isfinite(label):
            read_number(label, "class label")
    with np.errstate(over="ignore"):
        return np.array(labels, dtype=dtype)


def _label_to_json(value: Any) -> Any:
    """Return one label; infinities, which JSON lacks, as ``{"float": "inf"}``."""
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(
        f"Class label {value!r} of type {type(value).__name__} has no JSON form; "
        "train with strings, integers, floats or booleans."
    )


def _label_from_json(value: Any) -> Any:
    if isinstance(value, dict):
        infinite = value.get("float") if set(value) == {"float"} else None
        if infinite not in ("inf", "-inf", "nan"):
            raise ValueError(f"A class label must be one value, got {shown(value)}.")
        return float(infinite)
    return read(str | int | float | bool | None, value, "class label")
