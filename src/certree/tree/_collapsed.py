"""What multiway tests need of a tree: defaults for unseen values, an order for code, collapsing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Test
from certree.encoding._test_list import TestList

if TYPE_CHECKING:
    from ._tree import Tree


def with_defaults(
    tests: Sequence[Test],
    test: NDArray[np.int32],
    first_child: NDArray[np.int32],
    weights: NDArray[Any],
) -> tuple[list[Test], NDArray[np.int32], list[int]]:
    """Let each node's multiway test send unseen values to the child with the most weight.

    Returns the tests, the position of each node's test among them, and the position of each
    in the list that was given.
    """
    found: dict[Test, int] = {}
    origin: list[int] = []
    result = np.full(test.shape, -1, dtype=np.int32)
    inner_nodes = np.flatnonzero(test >= 0)
    places = test[inner_nodes].tolist()
    chosen = tests.take(places) if isinstance(tests, TestList) else [tests[k] for k in places]
    for node, asked in zip(inner_nodes.tolist(), chosen, strict=True):
        if asked.usual_outcome is not None:
            first = int(first_child[node])
            asked = asked.with_usual(int(weights[first : first + asked.n_outcomes].argmax()))
        if asked not in found:
            found[asked] = len(origin)
            origin.append(int(test[node]))
        result[node] = found[asked]
    # In the order of the list that was given, so that equal trees are made of equal parts.
    listed = list(found)
    order = sorted(range(len(origin)), key=lambda k: (origin[k], listed[k].usual_outcome or 0))
    place = {old: new for new, old in enumerate(order)}
    inner = result >= 0
    result[inner] = [place[int(k)] for k in result[inner]]
    return [listed[k] for k in order], result, [origin[k] for k in order]


def default_last(tree: Tree) -> Tree:
    """Return the tree with the default outcome of every multiway test as its last.

    Code can then ask for all outcomes but the last, and end with an else.
    """
    if all(_is_last(test) for test in tree.tests):
        return tree
    tests = [
        test if _is_last(test) else test.joined([[k] for k in _usual_last(test)])
        for test in tree.tests
    ]
    order = np.arange(tree.n_nodes)
    for node in np.flatnonzero(tree.test >= 0).tolist():
        children = np.array(tree.children(node))
        order[children] = children[_usual_last(tree.node_test(node))]
    return tree._with(
        tests=tests,
        test=tree.test[order],
        first_child=tree.first_child[order],
        payload=tree.payload.gathered(order[:, np.newaxis].tolist()),
        notes=None if tree.notes is None else [tree.notes[node] for node in order],
    )


def _is_last(test: Test) -> bool:
    return test.usual_outcome in (None, test.n_outcomes - 1)


def _usual_last(test: Test) -> list[int]:
    """Return the outcomes of a test, the usual one at the end."""
    return sorted(range(test.n_outcomes), key=lambda outcome: outcome == test.usual_outcome)


# ---- collapsing ----------------------------------------------------------------------------------


@dataclass
class _Node:
    """A node of the collapsed tree; `form` is the same for subtrees that predict the same way."""

    origin: list[int]  # the nodes of the tree that it stands for
    weight: float
    column: int = -1
    test: Test | None = None
    children: list[_Node] = field(default_factory=list)
    form: Hashable = None


def collapsed(tree: Tree) -> Tree:
    """Merge siblings with equal subtrees below a multiway test into one edge."""
    made: dict[int, _Node] = {}
    for node in reversed(tree.preorder.tolist()):
        made[node] = _collapse(tree, node, [made.pop(child) for child in tree.children(node)])
    return _rebuild(tree, made[0])


def _collapse(tree: Tree, node: int, children: list[_Node]) -> _Node:
    result = _Node([node], float(tree.weights[node]))
    if not children:
        result.form = int(tree.label[node])
        return result
    test = tree.node_test(node)
    if test.usual_outcome is not None:
        groups: dict[Hashable, list[int]] = {}
        for outcome, child in enumerate(children):
            groups.setdefault(child.form, []).append(outcome)
        if len(groups) == 1:
            # All outcomes lead to the same: nothing is asked.
            return _merge(children)
        test = test.joined(list(groups.values()))
        children = [_merge([children[o] for o in outcomes]) for outcomes in groups.values()]
    result.test, result.children = test, children
    result.column = tree.columns[int(tree.test[node])]
    result.form = _form(test, children)
    return result


def _form(test: Test, children: list[_Node]) -> Hashable:
    if test.usual_outcome is None:
        return (test, *(child.form for child in children))
    groups = zip(_groups(test), children, strict=True)
    return (test.feature, frozenset((group, child.form) for group, child in groups))


def _groups(test: Test) -> list[frozenset[Any]]:
    """Return for each outcome the categories that it names."""
    return [condition.known_that_meet for condition in test.conditions]


def _merge(nodes: list[_Node]) -> _Node:
    """Return one subtree for several of the same form, with the counts of all."""
    first = nodes[0]
    if len(nodes) == 1:
        return first
    origin = [place for node in nodes for place in node.origin]
    weight = sum(node.weight for node in nodes)
    if first.test is None or first.test.usual_outcome is None:
        children = [
            _merge([node.children[k] for node in nodes]) for k in range(len(first.children))
        ]
        return replace(first, origin=origin, weight=weight, children=children)
    # Equal forms have the same sets of categories, perhaps in another order.
    edges: list[dict[frozenset[Any], _Node]] = []
    usual = set()
    for node in nodes:
        assert node.test is not None
        groups = _groups(node.test)
        edges.append(dict(zip(groups, node.children, strict=True)))
        usual.add(groups[node.test.usual_outcome or 0])
    test = first.test
    children = [_merge([edge[group] for edge in edges]) for group in _groups(test)]
    if len(usual) > 1:
        test = test.with_usual(int(np.argmax([child.weight for child in children])))
    return replace(first, origin=origin, weight=weight, children=children, test=test)


def _rebuild(tree: Tree, root: _Node) -> Tree:
    """Return the flat arrays of a collapsed tree."""
    tests: dict[Test, tuple[int, int]] = {}
    nodes, test, first_child = [root], [], []
    for node in nodes:  # grows while it is walked
        if node.test is None:
            test.append(-1)
            first_child.append(-1)
            continue
        test.append(tests.setdefault(node.test, (len(tests), node.column))[0])
        first_child.append(len(nodes))
        nodes.extend(node.children)
    return tree._with(
        tests=list(tests),
        test=test,
        first_child=first_child,
        payload=tree.payload.gathered([node.origin for node in nodes]),
        columns=[column for _, column in tests.values()],
        notes=None,
    )
