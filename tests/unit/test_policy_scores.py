"""Scores of treatments: the formulas against a direct computation, and the models behind them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from certree import datasets
from certree.decisions._policy_scores import Teacher, combine, policy_scores, read_history


class Mean(RegressorMixin, BaseEstimator):
    """Predicts the mean of what it was fitted on."""

    def fit(self, X: Any, y: Any) -> Mean:
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


class Shares(ClassifierMixin, BaseEstimator):
    """Predicts the class shares of what it was fitted on."""

    def fit(self, X: Any, y: Any) -> Shares:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.tile(self.shares_, (len(X), 1))


X = np.arange(6.0)[:, None]
TREATMENT = np.array(["a", "b", "b", "a", "b", "b"])
OUTCOME = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 13.0])
MODELS = {"outcome_model": Mean(), "propensity_model": Shares(), "cv": 1}


def test_the_three_formulas_are_those_of_the_definition() -> None:
    history = read_history(TREATMENT, OUTCOME, 6)
    v = {"a": 3.0, "b": 6.5}
    mu = {"a": 1 / 3, "b": 2 / 3}
    for method in ("dm", "ipw", "dr"):
        scores = policy_scores(X, history, Teacher(method=method, **MODELS)).rewards
        for i in range(6):
            for k, label in enumerate(("a", "b")):
                given = float(TREATMENT[i] == label)
                direct = {
                    "dm": v[label],
                    "ipw": OUTCOME[i] * given / mu[label],
                    "dr": v[label] + (OUTCOME[i] - v[label]) * given / mu[label],
                }[method]
                assert scores[i, k] == pytest.approx(direct, rel=1e-12)


def test_rows_are_estimated_by_models_that_have_not_seen_them() -> None:
    history = read_history(TREATMENT, OUTCOME, 6)
    scores = policy_scores(X, history, Teacher(method="dm", outcome_model=Mean(), cv=2))
    assert scores.outcomes is not None
    # Two rows were given "a", one in each fold: each fold is estimated by the other's outcome.
    assert set(scores.outcomes[:, 0]) == {1.0, 5.0}
    assert scores.outcomes[0, 0] == 5.0
    assert scores.outcomes[3, 0] == 1.0


def test_a_classifier_gives_the_expected_outcome() -> None:
    history = read_history(TREATMENT, (OUTCOME > 4).astype(float), 6)
    scores = policy_scores(X, history, Teacher(method="dm", outcome_model=Shares(), cv=1))
    np.testing.assert_allclose(scores.rewards, np.tile([0.5, 0.5], (6, 1)))


def test_doubly_robust_scores_are_right_if_one_of_the_models_is() -> None:
    data = datasets.make_policy_example(6000, random_state=1)
    history = read_history(data.treatment, data.outcome, 6000)
    truth = data.rewards.mean(axis=0)
    wrong_outcomes = np.zeros_like(data.rewards)
    by_propensity = policy_scores(
        data.data, history, Teacher("dr"), data.propensity, wrong_outcomes
    )
    np.testing.assert_allclose(by_propensity.rewards.mean(axis=0), truth, atol=0.4)
    wrong_propensity = np.full_like(data.propensity, 1 / 3)
    by_outcome = policy_scores(data.data, history, Teacher("dr"), wrong_propensity, data.rewards)
    np.testing.assert_allclose(by_outcome.rewards.mean(axis=0), truth, atol=0.1)


def test_default_models_come_near_the_truth_on_raw_tables() -> None:
    data = datasets.make_policy_example(800, random_state=2)
    history = read_history(data.treatment, data.outcome, 800)
    scores = policy_scores(data.data, history, Teacher("dr", cv=2))
    assert scores.rewards.mean(axis=0) == pytest.approx(data.rewards.mean(axis=0), abs=0.5)
    assert scores.propensities is not None
    np.testing.assert_allclose(scores.propensities.sum(axis=1), 1.0)


def test_binary_outcomes_are_probabilities_by_default() -> None:
    data = datasets.make_policy_example(400, binary=True, random_state=3)
    history = read_history(data.treatment, data.outcome, 400)
    scores = policy_scores(data.data, history, Teacher("dm", cv=2)).rewards
    assert scores.min() >= 0
    assert scores.max() <= 1


def test_poor_overlap_is_said_and_clipped() -> None:
    history = read_history(TREATMENT, OUTCOME, 6)
    propensity = np.full((6, 2), 0.5)
    propensity[:3] = [0.999, 0.001]
    with pytest.warns(UserWarning, match="Poor overlap: for 50% of the rows .* 'b'"):
        scores = policy_scores(X, history, Teacher("ipw", clip=0.1), propensity)
    assert scores.rewards[1, 1] == pytest.approx(20.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy_scores(X, history, Teacher("ipw", clip=0.1), np.full((6, 2), 0.5))


def test_any_estimator_of_scikit_learn_will_do() -> None:
    data = datasets.make_policy_example(200, randomised=True)
    numbers = data.data[:, :3].astype(float)
    history = read_history(data.treatment, data.outcome, 200)
    propensity = make_pipeline(StandardScaler(), LogisticRegression())
    teacher = Teacher("dr", LinearRegression(), propensity, cv=3)
    assert policy_scores(numbers, history, teacher).rewards.shape == (200, 3)


def test_treatments_may_be_of_any_type_and_order() -> None:
    history = read_history([True, False, True], [1, 2, 3], 3)
    assert history.treatments.tolist() == [False, True]
    history = read_history([3, 1, 3], [1, 2, 3], 3, treatments=[3, 1])
    assert history.codes.tolist() == [0, 1, 0]


def test_combine_without_propensities_is_the_direct_method() -> None:
    history = read_history(TREATMENT, OUTCOME, 6)
    outcomes = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(combine(history, outcomes, None), outcomes)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="treatment 'c' was never given"):
        read_history(TREATMENT, OUTCOME, 6, treatments=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"treatment\[1\] = 'b' is not among the treatments"):
        read_history(TREATMENT, OUTCOME, 6, treatments=["a"])
    with pytest.raises(ValueError, match=r"outcome\[2\] = nan is not a finite number"):
        read_history(TREATMENT, [1, 2, np.nan, 4, 5, 6], 6)
    history = read_history(TREATMENT, OUTCOME, 6)
    for bad, why in ((0.0, "but row 3 was given"), (-0.5, "is no prob"), (1.5, "is no prob")):
        with pytest.raises(ValueError, match=rf"propensity\[3\] = {bad},? {why}"):
            policy_scores(X, history, Teacher("ipw"), [0.5, 0.5, 0.5, bad, 0.5, 0.5])
    with pytest.raises(ValueError, match="treatment 'a' was given to 1 row"):
        policy_scores(
            X[:3], read_history(TREATMENT[:3], OUTCOME[:3], 3), Teacher("dm", outcome_model=Mean())
        )


def test_probabilities_of_a_row_sum_to_one() -> None:
    history = read_history(TREATMENT, OUTCOME, 6)
    table = np.full((6, 2), 0.5)
    table[4] = [0.9, 0.2]
    with pytest.raises(ValueError, match=r"propensity\[4\] sums to 1.1"):
        policy_scores(X, history, Teacher("ipw"), table)


def test_models_must_tell_probabilities() -> None:
    history = read_history(TREATMENT, OUTCOME > 3, 6)
    for model in (LinearSVC(), LinearRegression()):
        with pytest.raises(
            ValueError, match="propensity_model must be a classifier with predict_p"
        ):
            policy_scores(X, history, Teacher("ipw", propensity_model=model, cv=1))
    with pytest.raises(ValueError, match="outcome_model must be a classifier with predict_proba"):
        policy_scores(X, history, Teacher("dm", outcome_model=LinearSVC(), cv=1))


def test_an_outcome_is_not_divided_by_a_probability_of_zero() -> None:
    class Wrong(Shares):
        def predict_proba(self, X: Any) -> Any:
            return np.tile([0.0, 1.0], (len(X), 1))

    history = read_history(TREATMENT, OUTCOME, 6)
    teacher = Teacher("ipw", propensity_model=Wrong(), cv=1, clip=0.0)
    with pytest.raises(ValueError, match="propensity_model gives row 0 a probability of 0"):
        policy_scores(X, history, teacher)
