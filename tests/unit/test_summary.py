"""classification_summary: counts and metrics, of models and of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics
from sklearn.tree import DecisionTreeClassifier

from certree import ClassificationSummary, OptimalTreeClassifier, classification_summary, metrics


@pytest.fixture
def labels() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 80)
    return truth, np.where(rng.random(80) < 0.3, 1 - truth, truth)


def test_the_numbers_are_those_of_scikit_learn(labels: tuple[Any, Any]) -> None:
    summary = classification_summary(*labels)
    tn, fp, fn, tp = sklearn_metrics.confusion_matrix(*labels).ravel()
    assert (summary["tn"], summary["fp"], summary["fn"], summary["tp"]) == (tn, fp, fn, tp)
    for name, score in {
        "precision": sklearn_metrics.precision_score,
        "recall": sklearn_metrics.recall_score,
        "accuracy": sklearn_metrics.accuracy_score,
        "balanced_accuracy": sklearn_metrics.balanced_accuracy_score,
        "f1": sklearn_metrics.f1_score,
        "mcc": sklearn_metrics.matthews_corrcoef,
        "cohen_kappa": sklearn_metrics.cohen_kappa_score,
        "jaccard": sklearn_metrics.jaccard_score,
    }.items():
        assert summary[name] == pytest.approx(score(*labels)), name
    assert "auc" not in summary


def test_every_metric_of_two_counts_is_there(labels: tuple[Any, Any]) -> None:
    summary = classification_summary(*labels)
    kinds = {name: metrics.get(name).kind for name in metrics.names()}
    wanted = {metrics.get(n).name for n, kind in kinds.items() if kind not in ("front", "chain")}
    assert wanted <= set(summary)


def test_weights_and_the_other_class(labels: tuple[Any, Any]) -> None:
    truth, predicted = labels
    weights = np.random.default_rng(0).random(80)
    summary = classification_summary(truth, predicted, sample_weight=weights, pos_label=0)
    assert summary.pos_label == 0
    expected = sklearn_metrics.f1_score(truth, predicted, sample_weight=weights, pos_label=0)
    assert summary["f1"] == pytest.approx(expected)
    assert summary["fp"] == pytest.approx(weights[(truth == 1) & (predicted == 0)].sum())


@pytest.mark.parametrize("kind", [OptimalTreeClassifier, DecisionTreeClassifier])
def test_a_model_is_asked_for_predictions_and_scores(labels: tuple[Any, Any], kind: Any) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (80, 4)), np.array(["bad", "good"])[labels[0]]
    model = kind(max_depth=2).fit(X, y)
    summary = classification_summary(model, X, y)
    assert summary.pos_label == "good"
    scores = model.predict_proba(X)[:, 1]
    assert summary["auc"] == pytest.approx(sklearn_metrics.roc_auc_score(y, scores))
    assert summary["accuracy"] == pytest.approx(model.score(X, y))
    assert classification_summary(model, X, y, pos_label="bad")["fp"] == summary["fn"]


def test_the_positive_class_of_a_model_is_used(labels: tuple[Any, Any]) -> None:
    X = np.random.default_rng(1).integers(0, 2, (80, 4))
    model = OptimalTreeClassifier(max_depth=2, pos_label=0).fit(X, labels[0])
    assert classification_summary(model, X, labels[0]).pos_label == 0


def test_it_prints_and_converts(labels: tuple[Any, Any]) -> None:
    summary = classification_summary(*labels)
    assert isinstance(summary, ClassificationSummary)
    text = str(summary)
    assert text.startswith("positive class 1\n")
    assert "predicted positive" in text
    assert "balanced accuracy" in text
    assert summary.to_dict()["pos_label"] == 1
    assert repr(summary).startswith("ClassificationSummary(tp=")
    assert len(summary) == len(list(summary))


def test_what_is_missing_is_said(labels: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="The true labels are missing"):
        classification_summary(model, [[0], [1]])
    with pytest.raises(ValueError, match="Give either a model"):
        classification_summary([0, 1], [[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="two classes"):
        classification_summary([0, 1, 2], [0, 1, 2])
