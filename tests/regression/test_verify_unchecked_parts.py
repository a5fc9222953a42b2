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
    SPOTree,
    Tree,
    oracles,
    pareto_front,
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


_BY_CUTS = ["f1", "jaccard", "kappa", "informedness", "mcc", "fowlkes_mallows"]


@pytest.mark.parametrize("objective", _BY_CUTS)
def test_a_bound_of_a_metric_follows_from_its_cuts(objective: str) -> None:
    model = OptimalTreeClassifier(2, objective=objective).fit(X, Y)
    assert verify(model, X, Y, exhaustive=True)
    model.certificate_ = replace(model.certificate_, cuts=())
    with pytest.raises(CertificateError, match="does not follow from the cuts"):
        verify(model, X, Y)


@pytest.mark.parametrize("cuts", [(), None])
@pytest.mark.parametrize("objective", _BY_CUTS)
def test_a_fit_without_cuts_and_history_is_no_pick_of_a_front(objective: str, cuts: Any) -> None:
    model = OptimalTreeClassifier(2, objective=objective).fit(X, Y)
    model.certificate_ = replace(model.certificate_, cuts=cuts, history=())
    with pytest.raises(CertificateError, match="does not follow from the cuts"):
        verify(model, X, Y)


@pytest.mark.parametrize("supported_only", [False, True])
@pytest.mark.parametrize("objective", _BY_CUTS)
def test_a_pick_of_a_front_states_the_cuts_of_its_bound(
    objective: str, supported_only: bool
) -> None:
    front = pareto_front(X, Y, max_depth=2, supported_only=supported_only)
    model = front.best(objective)
    assert verify(model, X, Y, exhaustive=True)
    model.certificate_ = replace(model.certificate_, cuts=())
    with pytest.raises(CertificateError, match="does not follow from the cuts"):
        verify(model, X, Y)


def test_a_pick_of_a_stopped_front_is_accepted() -> None:
    front = pareto_front(X, Y, max_depth=2, callback=lambda _: True)
    for objective in _BY_CUTS:
        assert verify(front.best(objective), X, Y, exhaustive=True)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_none_are_refused_in_decisions_and_trees(number: float) -> None:
    costs = np.column_stack([Z, -Z])
    model = SPOTree(oracles.TopK(2, 1), max_depth=2).fit(X, costs)
    assert verify(model, X, costs)
    model.decisions_ = model.decisions_.copy()
    model.decisions_[-1, 0] = number
    with pytest.raises(CertificateError, match="missing or infinite"):
        verify(model, X, costs)
    for criterion in ("squared_error", "absolute_error", "poisson"):
        numbers = OptimalTreeRegressor(2, criterion=criterion).fit(X, np.abs(Z))
        numbers.tree_.classes.setflags(write=True)
        numbers.tree_.classes[0] = number
        with pytest.raises(CertificateError):
            verify(numbers, X, np.abs(Z))


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


def test_leaves_with_one_formula_share_its_mean() -> None:
    """Two leaves with the line y = x and other rows: fit kept the mean of one of them."""
    table = np.array([[a, b, x] for a in (0, 1) for b in (0, 1) for x in (1, 2, 4 + 3 * a * b)])
    target = np.where(table[:, 0] == table[:, 1], 1, -1) * table[:, 2]
    model = LinearTreeRegressor(2, min_samples_leaf=1, thresholds=1).fit(table, target)
    assert len(set(model.tree_.label[model.tree_.label >= 0].tolist())) == 2
    assert model.certificate_.n_splits == 3
    assert verify(model, table, target)
    lines = model.tree_.payload.means.tolist()
    assert lines == pytest.approx([-7 / 3, 17 / 6])
    model.tree_.payload.means.setflags(write=True)
    model.tree_.payload.means[0] += 0.5
    with pytest.raises(CertificateError, match="mean of the rows with formula 0"):
        verify(model, table, target)
