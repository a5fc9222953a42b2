"""A tree whose class names are exchanged predicts the wrong class for every row.

`verify` compared the places of classes, and not the classes, so it accepted such a tree, in memory
and from a file, by every way to check it.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certree
from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OrdinalTreeClassifier,
    PolicyTree,
    Tree,
    optimality_gap,
    pareto_front,
    solve,
    tasks,
    verify,
)

X = np.array([[0], [0], [0], [1], [1], [1]])
Y = np.array(["no", "no", "no", "yes", "yes", "yes"])
GROUPS = ["a", "b", "a", "a", "b", "a"]


def _fair() -> Any:
    model = FairTreeClassifier("demographic_parity", 1, max_depth=1)
    return model.fit(X, Y, sensitive_features=GROUPS)


MODELS = {
    "accuracy": lambda: OptimalTreeClassifier(1).fit(X, Y),
    "f1": lambda: OptimalTreeClassifier(1, objective="f1").fit(X, Y),
    "auc": lambda: OptimalTreeClassifier(1, objective="auc").fit(X, Y),
    "capacity": lambda: OptimalTreeClassifier(1, capacity={"yes": 3}).fit(X, Y),
    "costs": lambda: CostSensitiveTreeClassifier([[0, 1], [2, 0]], max_depth=1).fit(X, Y),
    "order": lambda: OrdinalTreeClassifier(["no", "yes"], max_depth=1).fit(X, Y),
    "fair": _fair,
}


def _other_classes(tree: Tree, classes: list[str] | None = None) -> Tree:
    """Return the tree with its classes exchanged, or with others."""
    plain = tree.to_dict()
    plain["classes"]["values"] = plain["classes"]["values"][::-1] if classes is None else classes
    plain["classes"]["dtype"] = "<U9" if classes else plain["classes"]["dtype"]
    return Tree.from_dict(plain)


def _refused(model: Any, **data: Any) -> None:
    with pytest.raises(CertificateError, match="labels of the"):
        verify(model, **data)


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_exchanged_classes_are_refused(name: str, exhaustive: bool, tmp_path: Path) -> None:
    model = MODELS[name]()
    data = {"X": X, "y": Y, "exhaustive": exhaustive}
    if name == "fair":
        data["sensitive_features"] = GROUPS
    assert verify(model, **data)
    path = tmp_path / "model.json"
    model.save(path)
    model.tree_ = _other_classes(model.tree_)
    assert (model.predict(X) != Y).all()
    _refused(model, **data)
    saved = json.loads(path.read_text())
    saved["fitted"]["tree_"]["tree"]["classes"]["values"].reverse()
    path.write_text(json.dumps(saved))
    _refused(certree.load(path), **data)


@pytest.mark.parametrize("name", MODELS)
def test_classes_that_y_never_had_are_refused(name: str) -> None:
    model = MODELS[name]()
    model.tree_ = _other_classes(model.tree_, ["maybe", "never"])
    data = {"sensitive_features": GROUPS} if name == "fair" else {}
    _refused(model, X=X, y=Y, **data)
    if "classes_" in vars(model):
        model.classes_ = model.tree_.classes
    with pytest.raises(CertificateError):
        verify(model, X, Y, **data)


def test_exchanged_classes_are_refused_in_every_tree() -> None:
    with_path = OptimalTreeClassifier(1).fit(X, Y, path=True)
    entry = with_path._path.entries[-1]
    changed = _other_classes(entry.tree)
    with_path._path.entries = (*with_path._path.entries[:-1], _with(entry, tree=changed))
    _refused(with_path, X=X, y=Y)
    front = pareto_front(X, Y, max_depth=1)
    front._trees = [_other_classes(tree) for tree in front.trees]
    _refused(front, X=X, y=Y)
    curve = FairTreeClassifier(max_depth=1).fairness_curve(X, Y, GROUPS)
    curve._trees = [_other_classes(tree) for tree in curve._trees]
    _refused(curve, X=X, y=Y, sensitive_features=GROUPS)
    gap = optimality_gap(MODELS["accuracy"](), X, Y)
    for name in ("tree", "best_tree"):
        forged = _with(gap, **{name: _other_classes(getattr(gap, name))})
        with pytest.raises(CertificateError):
            verify(forged, X, Y)


def test_exchanged_labels_of_solutions_are_refused() -> None:
    rewards = np.column_stack([Y == "no", Y == "yes"]).astype(float)
    policy = PolicyTree(max_depth=1, treatments=["no", "yes"]).fit_rewards(X, rewards)
    policy.tree_ = _other_classes(policy.tree_)
    _refused(policy, X=X, y=rewards)
    errors = tasks.Misclassification()
    both = tasks.Front(errors, tasks.RowCosts(1 - rewards, labels=["no", "yes"]))
    parts = tasks.Separable(["no", "yes"], lambda rows, label: int(np.sum(Y[rows] != label)))
    for task in (errors, errors & tasks.Limit("yes", {"yes": 1}, at_most=3), both, parts):
        solution = solve(task, X, None if task is parts else Y, max_depth=1)
        if hasattr(solution, "front"):
            points = [_with(p, tree=_other_classes(p.tree)) for p in solution.front]
            forged = _with(solution, front=tuple(points))
        else:
            forged = _with(solution, tree=_other_classes(solution.tree))
        _refused(forged, X=X, y=None if task is parts else Y)


def test_exchanged_classes_are_refused_by_sums_over_leaves() -> None:
    duckdb, pd = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    pytest.importorskip("ibis")
    table = pd.DataFrame({"x": X[:, 0], "y": Y})
    reduced = certree.reduce(table, features=["x"], target="y")
    for grouped in (
        OptimalTreeClassifier(1).fit_reduced(reduced),
        CostSensitiveTreeClassifier([[0, 1], [2, 0]], max_depth=1).fit_reduced(reduced),
    ):
        assert verify(grouped, reduced)
        assert verify(grouped, duckdb.from_df(table), "y")
        grouped.tree_ = _other_classes(grouped.tree_)
        _refused(grouped, X=reduced)
        _refused(grouped, X=duckdb.from_df(table), y="y")


def _with(subject: Any, **changes: Any) -> Any:
    """Return a copy with other attributes, also of classes that check them."""
    other = copy.copy(subject)
    for name, value in changes.items():
        object.__setattr__(other, name, value)
    return other
