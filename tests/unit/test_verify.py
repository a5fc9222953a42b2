"""verify accepts what is right and catches everything that was tampered with."""

from __future__ import annotations

import copy
import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    CertificateError,
    OptimalTreeClassifier,
    Tree,
    VerificationReport,
    pareto_front,
    verify,
)
from certree.verify import _brute_force


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 6))
    return X, np.where(rng.random(60) < 0.2, rng.integers(0, 2, 60), X[:, 0] ^ (X[:, 1] & X[:, 2]))


@pytest.fixture
def model(data: tuple[Any, Any]) -> OptimalTreeClassifier:
    return OptimalTreeClassifier(max_depth=2, complexity=0.01).fit(*data)


def with_certificate(model: OptimalTreeClassifier, **changes: Any) -> OptimalTreeClassifier:
    forged = copy.copy(model)
    forged.certificate_ = dataclasses.replace(model.certificate_, **changes)
    return forged


def with_tree(model: OptimalTreeClassifier, change: Any) -> OptimalTreeClassifier:
    forged = copy.copy(model)
    values = model.tree_.to_dict()
    change(values)
    forged.tree_ = Tree.from_dict(values)
    return forged


# ---- what is right -----------------------------------------------------------------------------


@pytest.mark.parametrize("thresholds", ["auto", 32])
@pytest.mark.parametrize("n_values", [32, 33, 34])
def test_columns_with_as_many_values_as_quantiles(thresholds: Any, n_values: int) -> None:
    rng = np.random.default_rng(18)
    X = np.repeat(np.arange(float(n_values)), 1 + rng.integers(0, 6, n_values))[:, None]
    y = np.arange(len(X)) % 2
    verify(OptimalTreeClassifier(max_depth=1, thresholds=thresholds).fit(X, y), X, y)


def test_a_sound_certificate_gives_a_report(
    model: OptimalTreeClassifier, data: tuple[Any, Any]
) -> None:
    report = verify(model, *data)
    assert isinstance(report, VerificationReport)
    assert report
    assert report.cost == model.certificate_.cost
    assert report.n_rows == 60
    assert not report.exhaustive
    assert "Verified on 60 rows" in str(report)
    assert all(f"ok  {check}" in str(report) for check in report.checks)


SETTINGS: list[dict[str, Any]] = [
    {},
    {"max_depth": 3, "max_splits": 4},
    {"max_depth": None, "max_splits": 3},
    {"max_depth": None, "complexity": 0.02},
    {"complexity": 0.013, "complexity_per": "leaf"},
    {"min_samples_leaf": 7, "max_depth": 3},
    {"class_weight": "balanced"},
    {"class_weight": {0: 0.3, 1: 2}, "complexity": 0.001},
    {"objective": "balanced_accuracy", "min_samples_leaf": 3},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("weights", ["none", "integers", "decimals", "reals"])
def test_every_setting_is_proven_again_by_brute_force(
    data: tuple[Any, Any], settings: dict[str, Any], weights: str
) -> None:
    X, y = data
    rng = np.random.default_rng(5)
    sample_weight = {
        "none": None,
        "integers": rng.integers(0, 4, 60),
        "decimals": rng.integers(0, 20, 60) / 10,
        "reals": rng.random(60),
    }[weights]
    model = OptimalTreeClassifier(**{"max_depth": 2, **settings}).fit(X, y, sample_weight)
    report = verify(model, X, y, sample_weight, exhaustive=True)
    assert report.exhaustive
    assert "by trying all trees" in report.checks[-1]


def test_more_classes_and_numbers_and_missing_values() -> None:
    rng = np.random.default_rng(6)
    X = np.round(rng.normal(size=(40, 2)), 1)
    X[rng.random((40, 2)) < 0.2] = np.nan
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 40)]
    model = OptimalTreeClassifier(max_depth=2, thresholds=5).fit(X, y)
    assert verify(model, X, y, exhaustive=True)
    assert verify(model, X.tolist(), y.tolist())


def test_one_weight_for_all_rows(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifier(max_depth=2).fit(*data, 2.5)
    assert model.certificate_.total_weight == 150
    assert verify(model, *data, 2.5, exhaustive=True)


def test_a_stopped_search_has_a_sound_certificate_too(
    model: OptimalTreeClassifier, data: tuple[Any, Any]
) -> None:
    bound = model.certificate_.lower_bound - 2
    stopped = with_certificate(
        model, status="time_limit", lower_bound=bound, gap=model.certificate_.cost - bound
    )
    assert verify(stopped, *data, exhaustive=True)


# ---- other data --------------------------------------------------------------------------------


def test_a_changed_label_is_caught(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    X, y = data
    for row in range(0, 60, 7):
        changed = y.copy()
        changed[row] = 1 - changed[row]
        with pytest.raises(CertificateError, match="class counts of node 0"):
            verify(model, X, changed)


def test_a_row_more_or_less_is_caught(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    X, y = data
    with pytest.raises(CertificateError, match="number of rows: certified 60, recomputed 59"):
        verify(model, X[1:], y[1:])


def test_changed_values_are_caught(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    X, y = data
    root = model.tree_.columns[model.tree_.test[0]]
    changed = X.copy()
    changed[0, root] ^= 1
    with pytest.raises(CertificateError, match="class counts of node"):
        verify(model, changed, y)


def test_other_weights_are_caught(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    X, y = data
    with pytest.raises(CertificateError, match="total weight: certified 60, recomputed 120"):
        verify(model, X, y, np.full(60, 2))


def test_other_columns_and_labels_are_caught(
    model: OptimalTreeClassifier, data: tuple[Any, Any]
) -> None:
    X, y = data
    with pytest.raises(CertificateError, match="X has 5 columns, but the tree was fitted on 6"):
        verify(model, X[:, 1:], y)
    with pytest.raises(CertificateError, match=r"labels \['7'\], which the model does not know"):
        verify(model, X, np.where(y == 1, 7, 0))


def test_a_class_that_has_gone_is_caught(data: tuple[Any, Any]) -> None:
    X, y = data
    model = OptimalTreeClassifier(max_depth=1, class_weight="balanced").fit(X, y)
    with pytest.raises(CertificateError, match="lacks some of the classes"):
        verify(model, X, np.zeros(60, dtype=int))


# ---- a forged certificate ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"cost": 1}, "cost: certified 1, recomputed"),
        ({"leaf_cost": 1}, "weighted errors: certified 1, recomputed"),
        ({"objective": 0.99}, "objective: certified 0.99, recomputed"),
        ({"upper_bound": 1}, "upper bound: certified 1"),
        ({"lower_bound": 59, "gap": -1}, "lower bound 59 is above the cost"),
        ({"lower_bound": 0}, "gap: certified 0, recomputed"),
        ({"gap": 1}, "gap: certified 1, recomputed 0"),
        ({"status": "solved"}, "status 'solved' is unknown"),
        ({"n_splits": 1}, "number of splits: certified 1, recomputed 3"),
        ({"depth": 1}, "depth of the tree: certified 1, recomputed 2"),
        ({"n_rows": 61}, "number of rows: certified 61, recomputed 60"),
        ({"n_tests": 5}, "number of questions: certified 5, recomputed 6"),
        ({"total_weight": 61}, "total weight: certified 61, recomputed 60"),
        ({"max_depth": 1}, "depth 2 is above the limit max_depth=1"),
        ({"max_depth": 3}, "max_depth: certified 3, recomputed 2"),
        ({"max_splits": 2}, "3 splits are above the limit max_splits=2"),
        ({"min_samples_leaf": 50}, "rows, fewer than min_samples_leaf=50"),
        ({"complexity": Fraction(1, 50)}, "complexity: certified 0.02, recomputed 0.01"),
        ({"split_penalty": 1}, "penalty per split: certified 1, recomputed 0.6"),
        ({"complexity_per": "leaf"}, "complexity_per: certified 'leaf', recomputed 'split'"),
        ({"task": "balanced_accuracy"}, "task: certified 'balanced_accuracy'"),
        ({"class_weights": (1, 2)}, r"class weights: certified \[1, 2\], recomputed \[1, 1\]"),
        ({"history": ((0.0, 0, 100, 99),)}, "history: bounds 99 to 100 exclude"),
    ],
    ids=str,
)
def test_a_forged_certificate_is_caught(
    model: OptimalTreeClassifier, data: tuple[Any, Any], changes: dict[str, Any], message: str
) -> None:
    assert model.tree_.n_splits == 3
    with pytest.raises(CertificateError, match=message):
        verify(with_certificate(model, **changes), *data)


def test_optimal_with_a_gap_is_caught(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    lower = model.certificate_.lower_bound
    forged = with_certificate(model, lower_bound=lower - 1, gap=1)
    with pytest.raises(CertificateError, match="status is 'optimal', but the gap is 1"):
        verify(forged, *data)
    forged = with_certificate(model, lower_bound=lower - 1, gap=1, status="gap")
    with pytest.raises(CertificateError, match="status is 'gap', but 1 is above gap=0"):
        verify(forged, *data)


def test_a_bound_that_is_too_good_is_caught_by_brute_force(data: tuple[Any, Any]) -> None:
    # The best tree of depth one, passed off as the best of depth two: all sums are right.
    model = OptimalTreeClassifier(max_depth=1).fit(*data)
    forged = with_certificate(model, max_depth=2)
    forged.max_depth = 2
    assert verify(forged, *data)
    with pytest.raises(CertificateError, match="optimum: the best tree costs"):
        verify(forged, *data, exhaustive=True)


def test_all_differences_are_listed(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    forged = with_certificate(model, cost=1, n_splits=7, n_rows=3)
    with pytest.raises(CertificateError) as caught:
        verify(forged, *data)
    for what in ("- cost:", "- number of splits:", "- number of rows:"):
        assert what in str(caught.value)


# ---- a forged tree -----------------------------------------------------------------------------


def test_a_flipped_leaf_label_is_caught(
    model: OptimalTreeClassifier, data: tuple[Any, Any]
) -> None:
    def flip(values: dict[str, Any]) -> None:
        leaf = next(node for node in values["nodes"] if "label" in node)
        leaf["label"] = 1 - leaf["label"]

    with pytest.raises(CertificateError, match="has more weight"):
        verify(with_tree(model, flip), *data)


def test_a_forged_count_is_caught(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    def forge(values: dict[str, Any]) -> None:
        values["nodes"][-1]["counts"][0] += 1

    with pytest.raises(CertificateError, match="class counts of node"):
        verify(with_tree(model, forge), *data)


def test_another_test_is_caught(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    def forge(values: dict[str, Any]) -> None:
        values["tests"][0]["feature"] = (values["tests"][0]["feature"] + 1) % 6

    with pytest.raises(CertificateError, match="class counts of node"):
        verify(with_tree(model, forge), *data)


def test_a_tree_for_another_model_is_caught(
    model: OptimalTreeClassifier, data: tuple[Any, Any]
) -> None:
    forged = copy.copy(model)
    forged.tree_ = OptimalTreeClassifier(max_depth=1).fit(*data).tree_
    with pytest.raises(CertificateError, match="number of splits"):
        verify(forged, *data)


def test_predictions_that_differ_from_the_tree_are_caught(
    model: OptimalTreeClassifier, data: tuple[Any, Any]
) -> None:
    class Liar(OptimalTreeClassifier):
        def predict(self, X: Any) -> Any:
            return 1 - super().predict(X)

    liar = Liar(max_depth=2, complexity=0.01).fit(*data)
    with pytest.raises(CertificateError, match="prediction for row"):
        verify(liar, *data)


def test_changed_parameters_are_caught(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    with pytest.raises(CertificateError, match="max_depth: certified 2, recomputed 5"):
        verify(model.set_params(max_depth=5), *data)


# ---- wrong use ---------------------------------------------------------------------------------


def test_an_unfitted_model_has_nothing_to_verify(data: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="has no certificate_ to verify"):
        verify(OptimalTreeClassifier(), *data)


def test_a_certificate_alone_cannot_be_verified(
    model: OptimalTreeClassifier, data: tuple[Any, Any]
) -> None:
    with pytest.raises(ValueError, match="Certificate does not contain its tree"):
        verify(model.certificate_, *data)


def test_lengths_must_match(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    X, y = data
    with pytest.raises(ValueError, match="X has 60 rows, but y has 59 labels"):
        verify(model, X, y[1:])
    with pytest.raises(ValueError, match="60 rows, but sample_weight has 3 entries"):
        verify(model, X, y, [1, 2, 3])


def test_a_problem_too_large_for_brute_force_is_refused_with_its_size(
    data: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = OptimalTreeClassifier(max_depth=3).fit(*data)
    monkeypatch.setattr(_brute_force, "WORK_LIMIT", 10)
    with pytest.raises(ValueError, match=r"\(6 different questions.*the limit is 10") as e:
        verify(model, *data, exhaustive=True)
    assert not isinstance(e.value, CertificateError)


def test_many_candidates_are_compared_without_a_proof_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = (X[:, 0] > 0.3).astype(int)
    model = OptimalTreeClassifier(1, thresholds="all").fit(X, y)
    report = verify(model, X, y)
    assert report.cost == 0
    assert any("7998 candidates" in check for check in report.checks)
    with pytest.raises(ValueError, match=r"7998 questions on 4000 rows; use exhaustive=False"):
        verify(model, X, y, exhaustive=True)
    model.encoder_.tests_ = model.encoder_.tests_ + model.encoder_.tests_[:1]
    with pytest.raises(CertificateError, match="number of questions"):
        verify(model, X, y)
    model.encoder_.tests_ = model.encoder_.tests_[:5] + model.encoder_.tests_[6:-1]
    with pytest.raises(CertificateError, match="3998 cut points, but 3999 gaps"):
        verify(model, X, y)


def test_repeated_candidates_are_found() -> None:
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 1, 0]
    front = pareto_front(X, y, max_depth=1)
    encoder = front._model.encoder_
    encoder.tests_ = [*encoder.tests_[1:], encoder.tests_[-1]]
    with pytest.raises(CertificateError, match="1 candidates are repeated"):
        verify(front, X, y)
