"""Fronts: points, models, picks, certificates, verification, pictures."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from certree import (
    CertificateError,
    OptimalityWarning,
    OptimalTreeClassifier,
    ParetoFront,
    metrics,
    pareto_front,
    plot_roc,
    verify,
)
from certree.verify import _metric_audit as _metric

PICKS = [name for name in metrics.names() if metrics.get(name).kind not in ("front", "chain")]


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(21)
    X = rng.integers(0, 2, (60, 6))
    return X, (rng.random(60) < 0.1 + 0.4 * (X[:, 0] ^ X[:, 1]) + 0.3 * X[:, 2]).astype(int)


@pytest.fixture(scope="module")
def front(data: tuple[Any, Any]) -> ParetoFront:
    return pareto_front(*data, max_depth=2)


# ---- the points --------------------------------------------------------------------------------


@pytest.mark.parametrize("per_splits", [False, True])
@pytest.mark.parametrize("weights", ["none", "integers", "reals"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"pos_label": 0, "max_splits": 2},
        {"class_weight": {0: 1, 1: 2.5}, "min_samples_leaf": 5},
    ],
    ids=str,
)
def test_the_front_is_that_of_all_trees(
    data: tuple[Any, Any], per_splits: bool, weights: str, settings: dict[str, Any]
) -> None:
    X, y = data
    rng = np.random.default_rng(3)
    sample_weight = {
        "none": None,
        "integers": rng.integers(1, 5, len(y)),
        "reals": rng.random(len(y)),
    }[weights]
    found = pareto_front(
        X, y, max_depth=2, per_splits=per_splits, sample_weight=sample_weight, **settings
    )
    assert found.is_optimal
    assert verify(found, X, y, sample_weight, exhaustive=True)
    for model in found:
        assert verify(model, X, y, sample_weight, exhaustive=True)


def test_the_points_are_those_of_the_predictions(front: ParetoFront, data: tuple[Any, Any]) -> None:
    X, y = data
    assert len(front) > 3
    for model, point in zip(front, front.points, strict=True):
        _, fp, fn, _ = confusion_matrix(y, model.predict(X)).ravel()
        assert (fp, fn, model.tree_.n_splits) == tuple(point)
    assert (np.diff(front.fp) > 0).all()
    assert (np.diff(front.fn) < 0).all()
    assert front.splits.tolist() == [tree.n_splits for tree in front.trees]


def test_corners_of_the_hull_are_best_for_some_weights(data: tuple[Any, Any]) -> None:
    full = pareto_front(*data, max_depth=2)
    convex = pareto_front(*data, max_depth=2, supported_only=True)
    corners = full.points[full.is_supported]
    assert convex.points[:, :2].tolist() == corners[:, :2].tolist()
    assert convex.is_supported.all()
    assert verify(convex, *data, exhaustive=True)


# ---- picks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PICKS)
def test_a_pick_is_as_good_as_a_fit(front: ParetoFront, data: tuple[Any, Any], name: str) -> None:
    picked = front.best(name)
    fitted = OptimalTreeClassifier(max_depth=2, objective=metrics.get(name)).fit(*data)
    assert picked.certificate_.cost == fitted.certificate_.cost
    assert picked.certificate_.is_optimal
    assert picked.get_params()["max_depth"] == 2
    assert verify(picked, *data, exhaustive=True)


@pytest.mark.parametrize("per", ["split", "leaf"])
@pytest.mark.parametrize("name", ["accuracy", "f1", "mcc", "gmean"])
def test_a_pick_with_a_penalty_is_as_good_as_a_fit(
    data: tuple[Any, Any], name: str, per: Any
) -> None:
    front = pareto_front(*data, max_depth=2, per_splits=True)
    picked = front.best(name, complexity=0.02, complexity_per=per)
    fitted = OptimalTreeClassifier(
        max_depth=2, objective=metrics.get(name), complexity=0.02, complexity_per=per
    ).fit(*data)
    assert picked.certificate_.cost == fitted.certificate_.cost
    assert verify(picked, *data, exhaustive=True)


def test_a_function_picks_as_well(front: ParetoFront, data: tuple[Any, Any]) -> None:
    picked = front.best(lambda fp, fn, positives, negatives: -max(fp, fn))
    worst = np.maximum(front.fp, front.fn)
    assert max(picked.certificate_.fp, picked.certificate_.fn) == worst.min()
    assert verify(picked, *data)


def test_a_convex_front_serves_metrics_of_its_corners(data: tuple[Any, Any]) -> None:
    convex = pareto_front(*data, max_depth=2, supported_only=True)
    for name in ("f1", "mcc", "cohen_kappa", "accuracy"):
        assert verify(convex.best(name), *data, exhaustive=True)
    with pytest.raises(ValueError, match="metric 'gmean' may lie above the convex hull"):
        convex.best("gmean")


def test_what_a_front_cannot_tell_is_said(front: ParetoFront, data: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="metric 'auc' is not a function of false positives"):
        front.best("auc")
    with pytest.raises(ValueError, match=r"complexity=1/50 needs .*per_splits=True"):
        front.best("f1", complexity=0.02)
    with pytest.raises(ValueError, match="A front has no penalty"):
        OptimalTreeClassifier(objective=metrics.ErrorFront(), complexity=0.1).fit(*data)
    with pytest.raises(ValueError, match="supported_only=True has no trees per number"):
        pareto_front(*data, supported_only=True, per_splits=True)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        pareto_front([[0], [1], [2]], [0, 1, 2])


# ---- as an objective ---------------------------------------------------------------------------


def test_a_model_keeps_its_front_and_predicts_with_the_most_accurate_tree(
    data: tuple[Any, Any], front: ParetoFront
) -> None:
    X, y = data
    model = OptimalTreeClassifier(max_depth=2, objective=metrics.ErrorFront()).fit(X, y)
    assert model.front_.points.tolist() == front.points.tolist()
    assert model.score(X, y) == pytest.approx(1 - (front.fp + front.fn).min() / len(y))
    found = model.certificate_
    assert found.task == "front"
    assert found.cost == found.fn == found.lower_bound
    assert "false positives and fewer than" in found.statement()
    assert verify(model, X, y, exhaustive=True)
    model.set_params(objective="accuracy").fit(X, y)
    assert not hasattr(model, "front_")


def test_a_stopped_search_has_lower_points_and_warns() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 30)), rng.integers(0, 2, 300)
    with pytest.warns(OptimalityWarning, match="search for the front was interrupted"):
        front = pareto_front(X, y, max_depth=4, callback=lambda progress: True)
    assert front.status == "interrupted"
    assert "lower points" in front.certificate.statement()
    for fp, fn, _ in front.points:
        low = front.lower_points
        assert ((low[:, 0] <= fp) & (low[:, 1] <= fn)).any()
    picked = front.best("f1")
    assert picked.certificate_.lower_bound <= picked.certificate_.cost
    assert verify(front, X, y)
    assert verify(picked, X, y)


# ---- verification ------------------------------------------------------------------------------


def forged(front: ParetoFront, **changes: Any) -> ParetoFront:
    certificate = dataclasses.replace(front.certificate, **changes)
    return ParetoFront(front._model, front.trees, certificate)


def test_forged_points_are_caught(front: ParetoFront, data: tuple[Any, Any]) -> None:
    points = list(front.certificate.points)
    fp, fn, splits = points[2]
    wrong = (*points[:2], (fp, fn - 1, splits), *points[3:])
    with pytest.raises(CertificateError, match="point 2 of the front"):
        verify(forged(front, points=wrong, lower_points=wrong), *data)
    with pytest.raises(CertificateError, match="lower points of the front"):
        verify(forged(front, lower_points=front.certificate.points[1:]), *data)
    with pytest.raises(CertificateError, match="positives of the front"):
        verify(forged(front, positives=1), *data)


def test_points_that_others_beat_are_caught(front: ParetoFront, data: tuple[Any, Any]) -> None:
    single = OptimalTreeClassifier(max_depth=0).fit(*data).tree_
    errors = (0, int(np.sum(data[1])), 0)
    points = (*front.certificate.points, errors)
    fat = ParetoFront(
        front._model,
        (*front.trees, single),
        dataclasses.replace(front.certificate, points=points, lower_points=points),
    )
    with pytest.raises(CertificateError, match="is at least as good as point"):
        verify(fat, *data)


def test_missing_points_are_caught_by_trying_all(front: ParetoFront, data: tuple[Any, Any]) -> None:
    points = front.certificate.points[:-1]
    thin = ParetoFront(
        front._model,
        front.trees[:-1],
        dataclasses.replace(front.certificate, points=points, lower_points=points),
    )
    assert verify(thin, *data)
    with pytest.raises(CertificateError, match="1 points are missing"):
        verify(thin, *data, exhaustive=True)


def test_a_forged_certificate_of_one_point_is_caught(
    front: ParetoFront, data: tuple[Any, Any]
) -> None:
    model = copy.copy(front[3])
    certificate = model.certificate_
    model.certificate_ = dataclasses.replace(certificate, cost=0, upper_bound=0, lower_bound=0)
    with pytest.raises(CertificateError, match="cost: certified 0"):
        verify(model, *data)


# ---- reports -----------------------------------------------------------------------------------


def test_it_prints_converts_and_pickles(front: ParetoFront) -> None:
    text = str(front)
    assert text.startswith(f"Front of {len(front)} trees: proven optimal")
    assert "f1" in text
    assert repr(front) == f"ParetoFront({len(front)} trees, status='optimal')"
    values = json.loads(json.dumps(front.to_dict()))
    assert len(values["trees"]) == len(values["points"]) == len(front)
    again = pickle.loads(pickle.dumps(front))
    assert again.certificate == front.certificate
    assert again[1].tree_ == front[1].tree_
    assert [model.tree_ for model in front[1:3]] == list(front.trees[1:3])
    with pytest.raises(IndexError):
        front[len(front)]


def test_a_frame_has_one_row_per_tree(front: ParetoFront) -> None:
    pytest.importorskip("pandas")
    frame = front.to_frame()
    assert len(frame) == len(front)
    assert frame["f1"].max() == pytest.approx(front.best("f1").certificate_.objective)
    assert frame["is_supported"].tolist() == front.is_supported.tolist()


def test_the_picks_are_marked_in_a_picture(front: ParetoFront) -> None:
    pytest.importorskip("matplotlib")
    axes = front.plot(picks=("accuracy", "f1", "gmean"))
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert sum(label.startswith("best ") and "weights" not in label for label in labels) >= 1
    assert axes.get_xlabel().startswith("false positives")
    assert front.plot(picks=(), ax=axes) is axes


# ---- functions, penalties ----------------------------------------------------------------------


def test_a_function_that_rises_with_errors_is_refused() -> None:
    """The best tree for it need not be on the front: here the leaf that says 1."""
    small = pareto_front([[0], [1]], [0, 1], max_depth=1)
    with pytest.raises(ValueError, match=r"not monotone: fp=0, fn=0 .* fp=1, fn=0"):
        small.best(lambda fp, fn, positives, negatives: fp - fn)
    weighted = pareto_front([[0], [1]], [0, 1], max_depth=1, sample_weight=[0.25, 0.5])
    with pytest.raises(ValueError, match="not monotone"):
        weighted.best(lambda fp, fn, positives, negatives: fp - fn)


@pytest.mark.parametrize("max_depth", [1, 3])
def test_trying_all_trees_finds_what_is_no_part_of_the_front(
    data: tuple[Any, Any], max_depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all points, or where these are too many by monotonicity."""
    monkeypatch.setattr("certree.results._pareto.look_around", lambda *_: None)
    X, y = data[0][:, :3], data[1]
    front = pareto_front(X, y, max_depth=max_depth)

    def rises(fp: float, fn: float, positives: float, negatives: float) -> float:
        return fp + fn

    with pytest.raises(CertificateError, match="optimum"):
        verify(front.best(rises), X, y, exhaustive=True)

    def falls(fp: float, fn: float, positives: float, negatives: float) -> float:
        return -max(fp, 2 * fn)

    assert verify(front.best(falls), X, y, exhaustive=True)
    monkeypatch.setattr(_metric, "different", _too_many)
    assert verify(front.best(falls), X, y, exhaustive=True)
    with pytest.raises(CertificateError, match="not monotone"):
        verify(front.best(rises), X, y, exhaustive=True)


def _too_many(*_: Any) -> Any:
    raise ValueError("too large")


@pytest.mark.parametrize("complexity, per", [(2, "split"), ("5/2", "leaf"), (10**6, "split")])
def test_penalties_are_in_units_of_the_metric(
    data: tuple[Any, Any], complexity: Any, per: Any
) -> None:
    def price(fp: float, fn: float, positives: float, negatives: float) -> float:
        return -(fp + 5 * fn)

    sized = pareto_front(*data, max_depth=2, per_splits=True)
    for objective in (price, "mcc"):
        pick = sized.best(objective, complexity=complexity, complexity_per=per)
        settings: Any = {"objective": objective, "complexity": complexity, "complexity_per": per}
        direct = OptimalTreeClassifier(max_depth=2, **settings).fit(*data)
        assert direct.certificate_.cost == pick.certificate_.cost
        verify(direct, *data, exhaustive=True)
        verify(pick, *data, exhaustive=True)


def test_bad_penalties_are_named(front: ParetoFront, data: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="units of the metric 'f1'"):
        OptimalTreeClassifier(objective="f1", complexity=-1).fit(*data)
    with pytest.raises(ValueError, match="between 0 and 1 for the metric 'auc'"):
        OptimalTreeClassifier(objective="auc", complexity=2).fit(*data)
    with pytest.raises(ValueError, match="units of the metric 'f1'"):
        front.best("f1", complexity=-1)
    with pytest.raises(ValueError, match="share of all rows"):
        front.best("accuracy", complexity=2)
    with pytest.raises(ValueError, match="complexity_per must be 'split' or 'leaf', got 'foo'"):
        front.best("f1", complexity_per="foo")  # type: ignore[arg-type]


def test_a_roc_curve_of_a_front_is_refused(front: ParetoFront, data: tuple[Any, Any]) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(TypeError, match=r"got ParetoFront; of a front, .*front\.best\('f1'\)"):
        plot_roc(front, *data)


def test_another_task_is_caught(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifier(max_depth=2, objective=metrics.ErrorFront()).fit(*data)
    for task in ("f1", "accuracy", "nonsense"):
        model.certificate_ = dataclasses.replace(model.certificate_, task=task)
        with pytest.raises(CertificateError, match=f"task: certified '{task}'"):
            verify(model, *data)
