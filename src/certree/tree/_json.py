"""The tree as a dictionary of JSON values, and back without loss.

Format 1::

    {"format": 1, "type": "certree.Tree",
     "classes": {"dtype": "<U3", "values": ["no", "yes"]},
     "feature_names": ["age"] or null, "n_features": 1,
     "tests": [{"column": 4, ...what the test's own to_dict gives...}], "n_columns": 9,
     "nodes": [{"test": 0, "children": [1, 2], "counts": [4, 3]},
               {"label": 0, "counts": [4, 1]}, {"label": 1, "counts": [0, 2]}]}

Nodes are a flat list, so depth is no limit; ``label`` and ``test`` are positions in ``classes``
and ``tests``. A tree with notes has a ``note`` in every node. A later format gets another number,
and this reader keeps reading format 1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding import test_from_dict
from certree.tree._labels import plain

if TYPE_CHECKING:
    from certree.tree._tree import Tree

    TreeType = TypeVar("TreeType", bound=Tree)

FORMAT = 1


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
    if found != FORMAT:
        raise ValueError(
            f"Cannot read a tree of format {found!r}; this version of certree reads format "
            f"{FORMAT}. Update certree, or pass what Tree.to_dict returned."
        )
    try:
        return _build(cls, data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"The dictionary is not a complete tree ({type(error).__name__}: {error}); "
            "pass what Tree.to_dict returned."
        ) from error


def to_json(tree: Tree, indent: int | None) -> str:
    """Return format 1 as JSON text, in ASCII so that every channel carries it."""
    return json.dumps(to_dict(tree), indent=indent, allow_nan=False)


def from_json(cls: type[TreeType], text: str | bytes) -> TreeType:
    """Read format 1 from JSON text."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"The text is not JSON ({error}); pass what Tree.to_json gave.") from error
    return from_dict(cls, data)


def _build(cls: type[TreeType], data: Mapping[str, Any]) -> TreeType:
    nodes = data["nodes"]
    for number, node in enumerate(nodes):
        children = node.get("children", [])
        if children != list(range(children[0], children[0] + len(children)) if children else []):
            raise ValueError(f"The children of node {number} must be consecutive, got {children}.")
    tests = [test_from_dict({k: v for k, v in t.items() if k != "column"}) for t in data["tests"]]
    return cls(
        tests,
        [node.get("test", -1) for node in nodes],
        [node["children"][0] if "test" in node else -1 for node in nodes],
        [-1 if "test" in node else node["label"] for node in nodes],
        counts=[node["counts"] for node in nodes],
        classes=_classes_from_dict(data["classes"]),
        feature_names=data["feature_names"],
        n_features=data["n_features"],
        columns=[t["column"] for t in data["tests"]],
        n_columns=data["n_columns"],
        notes=[node["note"] for node in nodes] if "note" in nodes[0] else None,
    )


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


def _classes_from_dict(data: Mapping[str, Any]) -> NDArray[Any]:
    values = [_label_from_json(value) for value in data["values"]]
    if np.dtype(data["dtype"]).kind != "O":
        return np.array(values, dtype=data["dtype"])
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


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
    return float(value["float"]) if isinstance(value, dict) else value
