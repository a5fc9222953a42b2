"""The tree as a dictionary of JSON values, and back without loss.

Format 1, of trees whose leaves hold labels::

    {"format": 1, "type": "certree.Tree",
     "classes": {"dtype": "<U3", "values": ["no", "yes"]},
     "feature_names": ["age"] or null, "n_features": 1,
     "tests": [{"column": 4, ...what the test's own to_dict gives...}], "n_columns": 9,
     "nodes": [{"test": 0, "children": [1, 2], "counts": [4, 3]},
               {"label": 0, "counts": [4, 1]}, {"label": 1, "counts": [0, 2]}]}

Nodes are a flat list, so a tree may have any depth. ``label`` and ``test`` are positions in
``classes`` and ``tests``. A tree with notes has a ``note`` in every node. ``counts`` are sums of
sample weights. If some weights differ from one, every node has its numbers of rows, too::

     "nodes": [{"test": 0, "children": [1, 2], "counts": [4.5, 3.0], "rows": [4, 3]}, ...]

Format 2, of trees whose leaves hold anything else, has ``leaves`` in place of ``classes``, a
``weight`` in place of ``counts``, and one number in ``rows``; ``label`` is a position in the lists
of ``leaves``::

     "leaves": {"kind": "numbers", "values": [1.5, 2.25]},
     "nodes": [{"test": 0, "children": [1, 2], "weight": 7},
               {"label": 0, "weight": 5}, {"label": 1, "weight": 2}]}

Regression trees and decisions were written in format 1 before. Both formats can be read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Test, kind_of_test, test_from_dict

from ._payload import Payload, known_kind, payload_from_dict
from ._payload_labels import Labels, read_classes
from ._plain import load_json, read, read_known, read_number, read_whole, shown

if TYPE_CHECKING:
    from ._tree import Tree

    TreeType = TypeVar("TreeType", bound=Tree)

LABELS, OTHERS = 1, 2
"""The formats of trees whose leaves hold labels, and of all others."""

MOST_COLUMNS = 10**8
"""Of a table or an encoder; also bounds the numbers of nodes, which a file has to list anyway."""

_MOST_WEIGHT = 1e300
_KEYS = ("feature_names", "n_features", "n_columns", "tests", "nodes")


def to_dict(tree: Tree) -> dict[str, Any]:
    """Return the tree in format 1 or 2."""
    payload = tree.payload
    head, has_labels = payload.to_dict(), isinstance(payload, Labels)
    if has_labels:
        del head["kind"]
    return {
        "format": LABELS if has_labels else OTHERS,
        "type": "certree.Tree",
        "classes" if has_labels else "leaves": head,
        "feature_names": list(tree.feature_names) if tree.has_names else None,
        "n_features": tree.n_features,
        "n_columns": tree.n_columns,
        "tests": [
            {"column": column, **test.to_dict()}
            for column, test in zip(tree.columns, tree.tests, strict=True)
        ],
        "nodes": _nodes(tree, payload.has_counts),
    }


def _nodes(tree: Tree, has_counts: bool) -> list[dict[str, Any]]:
    counts, rows = tree.counts.tolist(), tree.payload.rows
    nodes: list[dict[str, Any]] = []
    for node in range(tree.n_nodes):
        if tree.test[node] < 0:
            entry: dict[str, Any] = {"label": int(tree.label[node])}
        else:
            entry = {"test": int(tree.test[node]), "children": list(tree.children(node))}
        entry |= {"counts": counts[node]} if has_counts else {"weight": counts[node][0]}
        if rows is not None:
            entry["rows"] = rows[node].tolist() if has_counts else int(rows[node, 0])
        if tree.notes is not None:
            entry["note"] = tree.notes[node]
        nodes.append(entry)
    return nodes


def from_dict(cls: type[TreeType], data: Any) -> TreeType:
    """Read format 1 or 2."""
    found = data.get("format") if isinstance(data, Mapping) else None
    if found not in (LABELS, OTHERS) or isinstance(found, bool | float):
        raise ValueError(
            f"Cannot read a tree of format {shown(found)}; this version of certree reads the "
            f"formats {LABELS} and {OTHERS}. Update certree, or pass what Tree.to_dict returned."
        )
    keys = ("classes" if found == LABELS else "leaves", *_KEYS)
    missing = [key for key in keys if key not in data]
    if missing:
        raise ValueError(
            f"The dictionary is not a complete tree, it lacks {', '.join(missing)}; "
            "pass what Tree.to_dict returned."
        )
    return _build(cls, data, found)


def to_json(tree: Tree, indent: int | None) -> str:
    """Return the tree as JSON text, in ASCII so that every channel carries it."""
    return json.dumps(to_dict(tree), indent=indent, allow_nan=False)


def from_json(cls: type[TreeType], text: str | bytes) -> TreeType:
    """Read a tree from JSON text."""
    return from_dict(cls, load_json(text, "Tree.to_json"))


# ---- reading: every value is checked, since files come from anywhere -----------------------------


def _build(cls: type[TreeType], data: Mapping[str, Any], form: int) -> TreeType:
    listed, nodes = _list(data, "tests"), _list(data, "nodes")
    n_columns = read_whole(data["n_columns"], "n_columns", 0, MOST_COLUMNS)
    names = data["feature_names"]
    if names is not None:
        names = read(tuple[str, ...], names, "feature_names")
    tests = [_test(values, names) for values in listed]
    amount = "counts" if form == LABELS or _has_counts(data["leaves"]) else "weight"
    if any("rows" in node for node in nodes) and not all("rows" in node for node in nodes):
        raise ValueError("Either all nodes have the key 'rows', or none has it.")
    first_children = [_first_child(k, node, tests, amount) for k, node in enumerate(nodes)]
    has_notes = any("note" in node for node in nodes)
    return cls(
        tests,
        [node.get("test", -1) for node in nodes],
        first_children,
        payload=_payload(data, nodes, form),
        feature_names=names,
        n_features=read_whole(data["n_features"], "n_features", 0, MOST_COLUMNS),
        columns=[read_whole(test["column"], "column", 0, n_columns - 1) for test in listed],
        n_columns=n_columns,
        notes=[read(str, node.get("note"), "note") for node in nodes] if has_notes else None,
    )


def _payload(data: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], form: int) -> Payload:
    """Return what the leaves hold."""
    label = np.array([node.get("label", -1) for node in nodes], dtype=np.int32)
    rows = [node["rows"] for node in nodes] if any("rows" in node for node in nodes) else None
    if form == LABELS:
        classes = read_classes(data["classes"])
        counts = _counts([node["counts"] for node in nodes], len(classes))
        return Labels(label, counts, classes, rows=_rows(rows, len(classes)))
    leaves = data["leaves"]
    amounts: list[Any]
    if not _has_counts(leaves):
        rows, n_columns = None if rows is None else [[number] for number in rows], 1
        amounts = [[node["weight"]] for node in nodes]
    else:
        amounts = [node["counts"] for node in nodes]
        # As many as the first node has; the payload compares that with its classes.
        n_columns = max(len(line) if isinstance(line, list) else 1 for line in [*amounts[:1], [0]])
    payload = payload_from_dict(leaves, label, _counts(amounts, n_columns))
    return payload if rows is None else replace(payload, rows=_rows(rows, n_columns))


def _has_counts(leaves: Any) -> bool:
    """Return whether nodes have the weight of each class, by the kind of leaves."""
    kind = leaves.get("kind") if isinstance(leaves, Mapping) else None
    known = known_kind(kind) if isinstance(kind, str) else None
    return known is not None and known.has_counts and known is not Labels


def _list(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return a list of objects."""
    values = data[key]
    if not isinstance(values, list) or not all(isinstance(value, Mapping) for value in values):
        raise ValueError(f"{key} must be a list of objects, got {shown(values)}.")
    return values


def _test(values: Mapping[str, Any], names: Sequence[str] | None) -> Test:
    """Return one test, each of its values of the type that its class declares."""
    if "column" not in values:
        raise ValueError(
            f"A question has the key 'column', got {shown(', '.join(map(str, values)))}."
        )
    test = read_test({key: value for key, value in values.items() if key != "column"})
    most = MOST_COLUMNS if names is None else len(names)
    read_whole(test.feature, f"feature of the question {shown(str(test))}", 0, most - 1)
    if names is not None and names[test.feature] != test.name:
        raise ValueError(
            f"The question {shown(str(test))} asks about column {test.feature}, which is called "
            f"{shown(names[test.feature])}."
        )
    return test


def read_test(given: Mapping[str, Any]) -> Test:
    """Return a test from what its `to_dict` gave; ValueError for other values."""
    if not isinstance(given, Mapping):
        raise ValueError(f"A question must be an object, got {shown(given)}.")
    kind = read(str, given.get("kind"), "kind")
    known = read_known(kind_of_test(kind), given)
    groups = [*known.get("categories", ()), known.get("values", ())]
    for category in (value for group in groups for value in group):
        # Columns hold float64; other integers can also be made to share one hash value, and
        # looking for repetitions among them would take time quadratic in the file.
        if type(category) is int and int(float(category)) != category:
            raise ValueError(f"float64 does not hold the category {shown(category)} exactly.")
    return test_from_dict({**given, **known})


def _first_child(number: int, node: Mapping[str, Any], tests: Sequence[Test], amount: str) -> int:
    """Return the first of the children that a node names, -1 for a leaf."""
    keys = set(node) - {amount, "rows", "note"}
    if amount not in node or keys not in ({"label"}, {"test", "children"}):
        raise ValueError(
            f"Node {number} must have the keys '{amount}' and 'label', or '{amount}', 'test' and "
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
            f"outcome of its question, got {', '.join(map(str, children[:10]))}."
        )
    return first


def _rows(rows: Sequence[Any] | None, n_classes: int) -> NDArray[Any] | None:
    """Return the numbers of rows of all nodes."""
    return None if rows is None else _counts(rows, n_classes, "rows")


def _counts(counts: Sequence[Any], n_classes: int, what: str = "counts") -> NDArray[Any]:
    """Return the weights of all nodes, whole numbers if all of them are."""
    for number, of_node in enumerate(counts):
        if not isinstance(of_node, list) or len(of_node) != n_classes:
            raise ValueError(
                f"{what} of node {number} must be a list of {n_classes} numbers, one for each "
                f"class, got {shown(of_node)}."
            )
        total = math.fsum(read_number(count, f"{what} of node {number}") for count in of_node)
        if min(of_node) < 0 or not total <= _MOST_WEIGHT:
            raise ValueError(f"{what} of node {number} must be at least 0 and have a finite sum.")
    whole = all(type(count) is int for of_node in counts for count in of_node)
    if whole and any(sum(of_node) > np.iinfo(np.int64).max for of_node in counts):
        raise ValueError(f"{what} that are whole numbers must have sums below 2**63.")
    shape = (len(counts), n_classes)
    return np.array(counts, dtype=np.int64 if whole else np.float64).reshape(shape)
