"""Parts of a model that users read, and that `verify` once did not compare with the rows."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Tree,
    verify,
)
from certree.encoding._named import NamedArray

rng = np.random.default_rng(0)
N = 24
X = NamedArray(
    np.column_stack([rng.integers(0, 5, N), np.round(rng.normal(size=N), 1)]), ["b", "f"]
)
Y, GROUPS = rng.integers(0, 2, N), rng.choice(["p", "q"], N)
Z = np.round(rng.normal(size=N) + X[:, 0], 2)
PAIR = np.column_stack([Z, Z**2])


def changed(tree: Tree, change: Callable[[Any], object]) -> Tree:
    plain = tree.to_dict()
    change(plain)
    return Tree.from_dict(plain)


def each_node(change: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda plain: [change(node) for node in plain["nodes"]]


TREES = {
    "counts of costs": (
        CostSensitiveTreeClassifier([[0, 1], [3, 0]], max_depth=2),
        Y,
        each_node(lambda node: node["counts"].reverse()),
        "class counts of node 0",
    ),
    "counts within limits": (
        OptimalTreeClassifier(2, capacity={1: 8}),
        Y,
        each_node(lambda node: node["counts"].reverse()),
        "class counts of node 0",
    ),
    "weights": (
        OptimalTreeRegressor(2),
        Z,
        each_node(lambda node: node.update(weight=1000 * node["weight"])),
        "weight of node 0",
    ),
    "notes": (
        OptimalTreeRegressor(2),
        Z,
        each_node(lambda node: node.update(note="mean of 9999 rows, deviation 0")),
        "has the note 'mean of 9999 rows",
    ),
    "formulas": (
        LinearTreeRegressor(1, leaf_model="ridge", min_samples_leaf=3),
        Z,
        lambda plain: plain["leaves"]["columns"].reverse(),
        "names of columns in formulas",
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_what_a_tree_shows_is_compared(name: str) -> None:
    model, y, change, message = TREES[name]
    model.fit(X, y)
    assert verify(model, X, y)
    model.tree_ = changed(model.tree_, change)
    with pytest.raises(CertificateError, match=message):
        verify(model, X, y)


def test_the_order_of_probabilities_is_compared() -> None:
    model = OptimalTreeClassifier(2, capacity={1: 8}).fit(X, Y)
    model.classes_ = model.classes_[::-1].copy()
    with pytest.raises(CertificateError, match="classes_"):
        verify(model, X, Y)


@pytest.mark.parametrize(
    "changes", [{"disparity_": 0.0}, {"group_rates_": None}, {"groups_": "pq"}]
)
def test_the_rates_of_groups_are_compared(changes: dict[str, Any]) -> None:
    model = FairTreeClassifier("demographic_parity", 0.2, max_depth=2)
    model.fit(X, Y, sensitive_features=GROUPS)
    assert verify(model, X, Y, sensitive_features=GROUPS)
    forged = copy.copy(model)
    vars(forged).update(changes)
    with pytest.raises(CertificateError, match=next(iter(changes))):
        verify(forged, X, Y, sensitive_features=GROUPS)


def test_the_rounding_of_several_outputs_is_bounded() -> None:
    model = OptimalTreeRegressor(2, output_weights="balanced").fit(X, PAIR)
    assert verify(model, X, PAIR)
    true = model.certificate_
    model.certificate_ = replace(true, rounding=true.rounding + Fraction(1, 1000))
    with pytest.raises(CertificateError, match="rounding: certified"):
        verify(model, X, PAIR)


def test_the_unit_of_absolute_errors_is_compared() -> None:
    model = OptimalTreeRegressor(2, criterion="absolute_error").fit(X, Z)
    model.certificate_ = replace(model.certificate_, unit=2 * model.certificate_.unit)
    with pytest.raises(CertificateError, match="unit"):
        verify(model, X, Z)


@pytest.mark.parametrize("objective", ["f1", "jaccard", "kappa", "informedness"])
def test_a_bound_of_ratios_follows_from_its_cuts(objective: str) -> None:
    model = OptimalTreeClassifier(2, objective=objective).fit(X, Y)
    assert verify(model, X, Y, exhaustive=True)
    model.certificate_ = replace(model.certificate_, cuts=())
    with pytest.raises(CertificateError, match="does not follow from the cuts"):
        verify(model, X, Y)


def test_leaves_without_rows_are_refused() -> None:
    y = np.abs(Z)
    model = OptimalTreeRegressor(2, criterion="poisson").fit(X, y)
    plain = model.tree_.to_dict()
    asking = [k for k, node in enumerate(plain["nodes"]) if "test" in node]
    for node in asking:
        for test in range(len(plain["tests"])):
            if plain["nodes"][node]["test"] != test:
                other = copy.deepcopy(plain)
                other["nodes"][node]["test"] = test
                forged = copy.copy(model)
                forged.tree_ = Tree.from_dict(other)
                with pytest.raises(CertificateError):
                    verify(forged, X, y)
