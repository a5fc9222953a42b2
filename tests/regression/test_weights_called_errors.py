"""Weights were called errors, and shares of weight accuracy, beside a tree that counts rows.

With a capacity and ``class_weight="balanced"`` a certificate said that no tree "makes fewer than
49.277 errors", and its tree makes 47.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certree import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    load,
    pareto_front,
    regularization_path,
    solve,
    tasks,
    verify,
)
from certree.exceptions import CertificateError

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.integers(18, 95, 120), RNG.integers(0, 9, 120)])
Y = np.where(X[:, 0] + RNG.normal(0, 20, 120) > 70, "sick", "well")
GROUP = RNG.integers(0, 2, 120)
WEIGHTS = RNG.integers(1, 4, 120)
ASKED: dict[str, tuple[dict[str, Any], Any]] = {
    "none": ({}, None),
    "classes": ({"class_weight": "balanced"}, None),
    "named classes": ({"class_weight": {"sick": 3}}, None),
    "objective": ({"objective": "balanced_accuracy"}, None),
    "rows": ({}, WEIGHTS),
    "real": ({"class_weight": "balanced"}, WEIGHTS / 3),
}


def check_words(text: str, *, is_weighted: bool) -> None:
    """Check that errors and accuracy are called weighted or balanced, or else that neither is."""
    assert bool(re.search("[Ww]eighted|balanced|by weight", text)) == is_weighted, text
    if is_weighted:
        assert not re.search(r"(?<!weighted )\berrors?\b", text), text
        assert not re.search(r"(?<!weighted )(?<!balanced )\baccuracy\b", text), text


def without_names(certificate: Any) -> str:
    """Return the words of a certificate that speak of errors."""
    words = certificate.statement(), certificate.summary(), str(certificate)
    return "\n".join(words)


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("more", [{}, {"capacity": {"sick": 40}}, {"complexity": 0.01}])
def test_certificates_of_classifiers(kind: str, more: dict[str, Any]) -> None:
    asked, weights = ASKED[kind]
    model = OptimalTreeClassifier(2, **asked, **more).fit(X, Y, sample_weight=weights)
    certificate, is_weighted = model.certificate_, kind != "none"
    check_words(without_names(certificate), is_weighted=is_weighted)
    assert certificate.task == asked.get("objective", "accuracy")
    assert ("per class" in str(certificate)) == ("class_weight" in asked or "objective" in asked)
    if not more:
        total = 1 - certificate.cost / certificate.total_weight
        assert certificate.objective == pytest.approx(float(total))
    verify(model, X, Y, sample_weight=weights)
    changes: list[dict[str, Any]] = [{"class_weights": (7, 9)}, {"task": "f1"}]
    changes += [{"class_weights": None}] if certificate.class_weights else []
    for change in changes:
        model.certificate_ = replace(certificate, **change)
        with pytest.raises(CertificateError):
            verify(model, X, Y, sample_weight=weights)


def test_a_capacity_states_weighted_errors_beside_the_errors_of_its_tree() -> None:
    model = OptimalTreeClassifier(2, class_weight="balanced", capacity={"sick": 30}).fit(X, Y)
    stated = float(model.certificate_.cost)
    assert stated != np.count_nonzero(model.predict(X) != Y)
    assert "weighted errors on these rows." in model.certificate_.statement()
    plain = OptimalTreeClassifier(2, capacity={"sick": 30}).fit(X, Y)
    wrong = np.count_nonzero(plain.predict(X) != Y)
    assert f"makes fewer than {wrong} errors on these rows." in plain.certificate_.statement()


@pytest.mark.parametrize("kind", ["none", "classes", "named classes", "rows", "real"])
def test_solutions(kind: str) -> None:
    asked, weights = ASKED[kind]
    task = tasks.Misclassification(**asked)
    solution = solve(task, X, Y, max_depth=2, sample_weight=weights)
    check_words(without_names(solution.certificate), is_weighted=kind != "none")
    assert ("per class" in str(solution.certificate)) == bool(asked)
    verify(solution, X, Y, sample_weight=weights)
    priced = solve(task, X, Y, max_depth=2, sample_weight=weights, test_costs=[0.001, 0.002])
    assert priced.certificate.is_optimal
    assert "costs less than" in priced.certificate.statement()
    verify(priced, X, Y, sample_weight=weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_several_outputs(weights: Any) -> None:
    both = np.column_stack([Y, np.where(X[:, 1] > 4, "a", "b")])
    model = OptimalTreeClassifier(2).fit(X, both, sample_weight=weights)
    check_words(without_names(model.certificate_), is_weighted=weights is not None)
    verify(model, X, both, sample_weight=weights)


@pytest.mark.parametrize("kind", ASKED)
def test_paths(kind: str, tmp_path: Any) -> None:
    asked, weights = ASKED[kind]
    path = regularization_path(X, Y, max_depth=2, sample_weight=weights, **asked)
    is_weighted = kind != "none"
    check_words(str(path), is_weighted=is_weighted)
    check_words(path._repr_html_(), is_weighted=is_weighted)
    names = set(path._columns())
    assert ("errors" in names, "accuracy" in names) == (not is_weighted, not is_weighted)
    model = OptimalTreeClassifier(2, **asked).fit(X, Y, sample_weight=weights, path=True)
    assert model.path_.measures == path.measures
    verify(model, X, Y, sample_weight=weights)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").path_.measures == path.measures
    model._path.measures = ("errors", "beauty")
    with pytest.raises(CertificateError, match="measures of the path"):
        verify(model, X, Y, sample_weight=weights)


@pytest.mark.parametrize("kind", ["none", "classes", "named classes", "rows"])
def test_fronts(kind: str) -> None:
    asked, weights = ASKED[kind]
    front = pareto_front(X, Y, max_depth=1, sample_weight=weights, **asked)
    is_weighted = kind != "none"
    for text in (str(front), front._title(), str(front[0].certificate_), " ".join(front.measures)):
        assert ("weight" in text) == is_weighted, text
    check_words(str(front.best("accuracy").certificate_), is_weighted=is_weighted)


@pytest.mark.parametrize("kind", ["none", "classes", "objective", "rows"])
def test_curves(kind: str) -> None:
    asked, weights = ASKED[kind]
    model = OptimalTreeClassifierCV(depths=(1, 2), cv=2, **asked)
    model.fit(X, Y, sample_weight=weights)
    measure = model.curve_.measure
    assert measure == asked.get("objective", "accuracy" if kind == "none" else "weighted accuracy")
    fair = FairTreeClassifier(max_depth=1, **asked)
    curve = fair.fairness_curve(X, Y, sensitive_features=GROUP, sample_weight=weights)
    assert curve.measure == ("error" if kind == "none" else "weighted error")
    assert curve.measure in str(curve)
