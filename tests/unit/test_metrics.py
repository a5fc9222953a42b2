"""Metrics as objects: values, kinds, conventions, scores and refusals."""

from __future__ import annotations

import math
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import sklearn.metrics
from sklearn.dummy import DummyClassifier

from certree import metrics
from certree.metrics._numbers import Root, signed_root

POINT_METRICS = [
    metrics.Accuracy(),
    metrics.WeightedAccuracy(2.5),
    metrics.BalancedAccuracy(),
    metrics.Informedness(),
    metrics.F1(),
    metrics.FBeta(2),
    metrics.FBeta("0.3"),
    metrics.Jaccard(),
    metrics.Tversky(0.3, 0.7),
    metrics.Tversky(0, 1),
    metrics.CohenKappa(),
    metrics.MCC(),
    metrics.FowlkesMallows(),
    metrics.GMean(),
    metrics.MacroF1(),
]


def _labels(fp: int, fn: int, positives: int, negatives: int) -> tuple[Any, Any]:
    truth = [1] * positives + [0] * negatives
    predicted = [0] * fn + [1] * (positives - fn) + [1] * fp + [0] * (negatives - fp)
    return np.array(truth), np.array(predicted)


def _fowlkes_mallows(truth: Any, predicted: Any, sample_weight: Any = None) -> float:
    precision, recall, _, _ = sklearn.metrics.precision_recall_fscore_support(
        truth, predicted, average="binary", zero_division=0, sample_weight=sample_weight
    )
    return math.sqrt(precision * recall)


def _gmean(truth: Any, predicted: Any, sample_weight: Any = None) -> float:
    matrix = sklearn.metrics.confusion_matrix(
        truth, predicted, labels=[0, 1], sample_weight=sample_weight
    )
    return math.sqrt(math.prod(matrix.diagonal() / matrix.sum(axis=1)))


def _f(beta: float) -> Any:
    return lambda truth, predicted, **more: sklearn.metrics.fbeta_score(
        truth, predicted, beta=beta, zero_division=0, **more
    )


REFERENCES = [
    (metrics.Accuracy(), sklearn.metrics.accuracy_score),
    (metrics.BalancedAccuracy(), sklearn.metrics.balanced_accuracy_score),
    (metrics.F1(), _f(1)),
    (metrics.FBeta(2), _f(2)),
    (metrics.FBeta(0.5), _f(0.5)),
    (metrics.Tversky(0.5, 0.5), _f(1)),
    (metrics.Jaccard(), sklearn.metrics.jaccard_score),
    (metrics.Tversky(0, 1), sklearn.metrics.recall_score),
    (metrics.CohenKappa(), sklearn.metrics.cohen_kappa_score),
    (metrics.MCC(), sklearn.metrics.matthews_corrcoef),
    (metrics.FowlkesMallows(), _fowlkes_mallows),
    (metrics.GMean(), _gmean),
]


@pytest.mark.parametrize(("metric", "reference"), REFERENCES, ids=lambda m: getattr(m, "name", ""))
def test_values_are_those_of_scikit_learn(metric: metrics.Metric, reference: Any) -> None:
    """On random labels with both classes, with and without weights."""
    rng = np.random.default_rng(0)
    for number in range(60):
        n = int(rng.integers(2, 40))
        truth = np.append([0, 1], rng.random(n) < rng.choice([0.05, 0.5, 0.9])).astype(int)
        predicted = (rng.random(n + 2) < rng.choice([0.0, 0.3, 0.9, 1.0])).astype(int)
        weights = None if number % 2 else rng.integers(1, 9, size=n + 2) / 4
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = reference(truth, predicted, sample_weight=weights)
        found = metric.score(truth, predicted, sample_weight=weights)
        assert found == pytest.approx(expected, abs=1e-12)


def test_macro_f1_is_that_of_scikit_learn_with_one_class_too() -> None:
    """A class that neither occurs nor is predicted is left out."""
    for fp, fn, positives, negatives in product(range(3), range(3), range(3), range(3)):
        if fp > negatives or fn > positives or not positives + negatives:
            continue
        truth, predicted = _labels(fp, fn, positives, negatives)
        expected = sklearn.metrics.f1_score(truth, predicted, average="macro", zero_division=0)
        assert metrics.MacroF1()(fp, fn, positives, negatives) == pytest.approx(expected)


@pytest.mark.parametrize("metric", POINT_METRICS, ids=repr)
def test_more_errors_are_never_better(metric: metrics.Metric) -> None:
    """On all points of small tables, those without a class included."""
    for positives, negatives in product((0, 1, 2, 5, 9), (0, 1, 3, 8)):
        if not positives + negatives:
            continue
        for fp, fn in product(range(negatives + 1), range(positives + 1)):
            value = metric.exact(fp, fn, positives, negatives)
            for more in ((fp + 1, fn), (fp, fn + 1)):
                if more[0] <= negatives and more[1] <= positives:
                    assert metric.exact(*more, positives, negatives) <= value


@pytest.mark.parametrize("metric", POINT_METRICS, ids=repr)
def test_perfect_predictions_are_worth_one(metric: metrics.Metric) -> None:
    """And nothing is worth more."""
    assert metric(0, 0, 4, 7) == 1.0
    assert metric.kind in metrics._metric.KINDS


@pytest.mark.parametrize("metric", [m for m in POINT_METRICS if hasattr(m, "level_line")], ids=repr)
def test_the_level_line_separates_better_from_other_points(metric: Any) -> None:
    """A ratio exceeds a level exactly where its affine function is negative."""
    for level in (Fraction(0), Fraction(1, 3), Fraction(3, 4)):
        line = metric.level_line(level, 4, 5)
        for fp, fn in product(range(6), range(5)):
            assert (metric.exact(fp, fn, 4, 5) > level) == (line(fp, fn) < 0)


@pytest.mark.parametrize("metric", [metrics.MCC(), metrics.FowlkesMallows()], ids=repr)
def test_tangents_are_orthogonal_to_level_curves(metric: Any) -> None:
    """The weights are proportional to the negative gradient, by central differences."""
    for fp, fn in ((1, 1), (3, 1), (1, 4), (0, 2), (2, 0)):
        w_fp, w_fn = metric.tangent(fp, fn, 7, 9)
        step = 1e-6
        values = [
            metric(max(fp + a * step, 0.0), max(fn + b * step, 0.0), 7, 9)
            for a, b in ((0, 0), (1, 0), (0, 1))
        ]
        d_fp, d_fn = values[0] - values[1], values[0] - values[2]
        assert float(w_fp) * d_fn == pytest.approx(float(w_fn) * d_fp, rel=1e-3)
        assert w_fp > 0
        assert w_fn > 0


def test_roots_are_compared_exactly() -> None:
    """Against decimals of sixty digits, on numbers that often are equal or nearly so."""
    from decimal import Decimal, localcontext

    rng = np.random.default_rng(1)
    parts = [
        Fraction(int(a), int(b))
        for a, b in zip(rng.integers(0, 6, 40), rng.integers(1, 5, 40), strict=True)
    ]
    numbers: list[Any] = []
    with localcontext() as context:
        context.prec = 60
        for square, shift, sign in zip(parts, parts[::-1], [1, -1] * 20, strict=True):
            root = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
            moved = Decimal(shift.numerator) / Decimal(shift.denominator)
            numbers.append((Root(sign, square, shift), sign * root + moved))
            numbers.append((shift, moved))
        for (one, first), (two, second) in product(numbers, numbers):
            difference = first - second
            expected = 0 if abs(difference) < Decimal(10) ** -50 else (1 if difference > 0 else -1)
            assert (one > two) - (one < two) == expected
            assert (one == two) == (expected == 0)
            if isinstance(one, Root):
                assert one._compare_exactly(two) == expected


def test_roots_shift_and_turn() -> None:
    """Adding, subtracting and negating is exact; what is rational becomes a fraction."""
    root = signed_root(1, Fraction(1, 2))
    assert signed_root(-1, Fraction(4, 9)) == Fraction(-2, 3)
    assert 1 - root == -(root - 1)
    assert 1 + root == root + 1
    assert float(root + Fraction(1, 2)) == pytest.approx(0.5 + math.sqrt(0.5))
    assert hash(root) == hash(Root(1, Fraction(1, 2)))
    assert repr(root - 1) == "-1 + sqrt(1/2)"
    with pytest.raises(TypeError):
        root + 0.5


@pytest.mark.parametrize("metric", [*POINT_METRICS, metrics.AUC(), metrics.ErrorFront()], ids=repr)
def test_metrics_are_values(metric: metrics.Metric) -> None:
    """Equal by what they are, printed as they are written, kept by pickle."""
    twin = pickle.loads(pickle.dumps(metric))
    assert twin == metric
    assert hash(twin) == hash(metric)
    assert eval(repr(metric), vars(metrics)) == metric


def test_names_lead_to_metrics() -> None:
    """Each name, each object, and functions."""
    for name in metrics.names():
        assert metrics.get(name).name == name
    f2 = metrics.FBeta(2)
    assert metrics.get(f2) is f2
    assert metrics.get(lambda fp, fn, positives, negatives: 0).kind == "monotone"
    with pytest.raises(ValueError, match="no metric called 'f3'"):
        metrics.get("f3")
    with pytest.raises(TypeError, match=r"write MCC\("):
        metrics.get(metrics.MCC)
    with pytest.raises(TypeError, match="must be a name"):
        metrics.get(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: metrics.FBeta(0), "beta must be greater than 0"),
        (lambda: metrics.FBeta(-1), "beta must be greater than 0"),
        (lambda: metrics.FBeta("nan"), "finite"),
        (lambda: metrics.Tversky(-1, 1), "alpha must be at least 0"),
        (lambda: metrics.Tversky(1, 0), "beta must be greater than 0"),
        (lambda: metrics.WeightedAccuracy(0), "weight must be greater than 0"),
        (lambda: metrics.PartialAUC(1.5), "at most 1"),
        (lambda: metrics.PartialAUC(0), "greater than 0"),
    ],
)
def test_parameters_out_of_range_are_named(make: Any, message: str) -> None:
    """With the metric that they belong to."""
    with pytest.raises(ValueError, match=message):
        make()


def test_decimals_are_read_as_written() -> None:
    """0.1 is one tenth."""
    assert metrics.FBeta(0.1).beta == Fraction(1, 10)
    assert metrics.Tversky("1/3", 0.7).alpha == Fraction(1, 3)


def test_what_is_no_point_is_refused() -> None:
    """More errors than rows, negative numbers, and areas of points."""
    f1 = metrics.F1()
    with pytest.raises(ValueError, match="more errors than rows"):
        f1(5, 0, 3, 4)
    with pytest.raises(ValueError, match="fn must be"):
        f1(0, -1, 3, 4)
    for metric in (metrics.AUC(), metrics.ErrorFront()):
        with pytest.raises(TypeError):
            metric(0, 0, 1, 1)


def test_scores_find_the_positive_class() -> None:
    """The greater one, unless another is named; more than two are refused."""
    truth, predicted = ["a", "b", "b"], ["a", "b", "a"]
    f1 = metrics.F1()
    assert f1.score(truth, predicted) == pytest.approx(2 / 3)
    assert f1.score(truth, predicted, pos_label="a") == pytest.approx(2 / 3)
    assert f1.score([0, 0], [0, 0]) == 0
    with pytest.raises(ValueError, match="f1 is a metric of two classes, got 3"):
        f1.score([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="pos_label='c' is not among"):
        f1.score(truth, predicted, pos_label="c")
    with pytest.raises(ValueError, match="give pos_label"):
        f1.score(["a"], ["a"])
    with pytest.raises(ValueError, match="equally long"):
        f1.score([0, 1], [0])
    with pytest.raises(ValueError, match="one entry per row"):
        f1.score([0, 1], [0, 1], sample_weight=[1])


def test_scorers_work_in_scikit_learn() -> None:
    """As scoring= of a model selection, for labels and for probabilities."""
    X, y = np.zeros((6, 1)), np.array([0, 1, 1, 1, 0, 1])
    model = DummyClassifier().fit(X, y)
    assert metrics.F1().scorer()(model, X, y) == pytest.approx(0.8)
    assert metrics.F1().scorer(pos_label=0)(model, X, y) == 0
    assert metrics.AUC().scorer()(model, X, y) == pytest.approx(0.5)


def test_areas_are_those_of_scikit_learn() -> None:
    """AUC on random scores, and the partial area by hand."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        truth = np.append([0, 1], rng.integers(0, 2, 20))
        scores = rng.integers(0, 6, 22)
        found = metrics.AUC().score(truth, scores)
        assert found == pytest.approx(sklearn.metrics.roc_auc_score(truth, scores))
    # A ROC curve from (0, 0) by (1/2, 1) to (1, 1).
    assert metrics.PartialAUC(0.25).score([0, 0, 1], [1, 0, 1]) == pytest.approx(0.25)
    assert metrics.PartialAUC(0.5).score([0, 0, 1], [1, 0, 1]) == pytest.approx(0.5)


def test_functions_that_fail_are_named_with_the_point() -> None:
    """NaN, no number, an exception."""

    def ratio(fp: int, fn: int, positives: int, negatives: int) -> float:
        return 1 / fp

    with pytest.raises(ValueError, match="'ratio' raised ZeroDivisionError at fp=0, fn=1"):
        metrics.get(ratio)(0, 1, 2, 3)
    for value in (math.nan, math.inf, None, "x", 1j):
        metric = metrics.Custom(lambda *point, value=value: value, name="mine")
        with pytest.raises(ValueError, match=r"'mine' returned .* at fp=1, fn=0"):
            metric(1, 0, 2, 3)
    with pytest.raises(TypeError, match="Custom needs a function"):
        metrics.Custom(3)  # type: ignore[arg-type]


def test_functions_get_whole_numbers_and_may_return_any() -> None:
    """Counts are ints; fractions, NumPy scalars and truth values are numbers."""
    seen = []

    def record(*point: Any) -> Any:
        seen.append(point)
        return np.float32(0.5)

    assert metrics.Custom(record)(1, 2, 3, 4) == 0.5
    assert seen == [(1, 2, 3, 4)]
    assert all(isinstance(number, int) for number in seen[0])
    assert metrics.Custom(lambda *_: Fraction(1, 3)).exact(0, 0, 1, 1) == Fraction(1, 3)
    assert metrics.Custom(lambda *_: True).exact(0, 0, 1, 1) == 1


def test_functions_may_return_decimals_and_arrays_but_no_huge_numbers() -> None:
    """What is too large for a float is named with the metric and the point."""
    assert metrics.Custom(lambda *_: Decimal("0.1")).exact(0, 0, 1, 1) == Fraction(1, 10)
    assert metrics.Custom(lambda *_: np.array(0.5)).exact(0, 0, 1, 1) == Fraction(1, 2)
    for value in (10**400, -Fraction(10**400, 3)):
        metric = metrics.Custom(lambda *point, value=value: value, name="mine")
        with pytest.raises(ValueError, match=r"'mine' returned a number of about .* at fp=1, fn=0"):
            metric(1, 0, 2, 3)


def test_names_may_be_in_capitals() -> None:
    assert metrics.get("F1") == metrics.F1()
    assert metrics.get("Kappa") == metrics.CohenKappa()
