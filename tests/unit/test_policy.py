"""Policies: data with a known truth, values with standard errors, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV

from certree import PolicyTree, datasets


@pytest.mark.parametrize("method", ["dm", "ipw", "dr"])
def test_the_right_policy_is_found(method: str) -> None:
    data = datasets.make_policy_example(2000, random_state=4)
    policy = PolicyTree(method, cv=2, max_depth=2, min_samples_leaf=50, random_state=0)  # type: ignore[arg-type]
    policy.fit(data.data, data.treatment, data.outcome)
    new = datasets.make_policy_example(2000, random_state=5)
    # Weighting by propensities is noisier than having a model of outcomes.
    assert (policy.predict(new.data) == new.best).mean() > (0.7 if method == "ipw" else 0.9)
    best = new.rewards.max(axis=1).mean()
    assert policy.value(new.data, rewards=new.rewards).value > 0.85 * best


def test_the_value_is_that_of_the_policy() -> None:
    data = datasets.make_policy_example(3000, random_state=6)
    policy = PolicyTree(treatments=data.treatments, max_depth=2, thresholds="all")
    policy.fit_rewards(data.data, data.rewards)
    assert (policy.predict(data.data) == data.best).all()
    assert policy.certificate_.cost == 0
    truth = data.rewards.max(axis=1).mean()
    assert policy.certificate_.objective == pytest.approx(truth)
    for method in ("ipw", "dr"):
        found = policy.value(
            data.data,
            data.treatment,
            data.outcome,
            propensity=data.propensity,
            outcomes=data.rewards,
            method=method,  # type: ignore[arg-type]
        )
        assert abs(found.value - truth) < 4 * found.standard_error
        assert found.n_rows == 3000
    known = policy.value(data.data, rewards=data.rewards)
    spread = data.rewards.max(axis=1).std(ddof=1) / np.sqrt(3000)
    assert known.standard_error == pytest.approx(spread)


def test_outcomes_may_be_minimised() -> None:
    data = datasets.make_policy_example(300)
    most = PolicyTree(max_depth=2).fit_rewards(data.data, data.rewards)
    least = PolicyTree(max_depth=2, maximise=False).fit_rewards(data.data, -data.rewards)
    assert (most.predict(data.data) == least.predict(data.data)).all()
    assert least.certificate_.objective == pytest.approx(-most.certificate_.objective)
    assert least.score(data.data, -data.rewards) == pytest.approx(
        most.score(data.data, data.rewards)
    )


def test_one_column_is_a_treatment_against_none() -> None:
    X = np.array([[0], [0], [1], [1]])
    policy = PolicyTree(max_depth=1).fit_rewards(X, [[-1.0], [-0.5], [2.0], [-1.0]])
    assert policy.predict(X).tolist() == [0, 0, 1, 1]
    assert policy.certificate_.objective == 0.25


def test_rows_of_weight_zero_are_as_if_absent() -> None:
    data = datasets.make_policy_example(200, random_state=7)
    weights = np.ones(200)
    weights[:50] = 0
    whole = PolicyTree(cv=2, max_depth=1, random_state=0).fit(
        data.data, data.treatment, data.outcome, weights
    )
    part = PolicyTree(cv=2, max_depth=1, random_state=0)
    part.fit(data.data[50:], data.treatment[50:], data.outcome[50:])
    assert whole.certificate_.cost == part.certificate_.cost


def test_a_policy_can_be_tuned() -> None:
    data = datasets.make_policy_example(300, random_state=8)
    search = GridSearchCV(PolicyTree(random_state=0), {"max_depth": [0, 1, 2]}, cv=3)
    search.fit(data.data, data.rewards)
    assert search.best_params_ == {"max_depth": 2}
    assert search.best_score_ == pytest.approx(data.rewards.max(axis=1).mean(), rel=0.02)


def test_outcomes_are_routed_to_fit_and_score() -> None:
    data = datasets.make_policy_example(150, randomised=True)
    policy = PolicyTree("ipw", propensity_model=DummyClassifier(strategy="prior"), cv=2)
    with config_context(enable_metadata_routing=True):
        policy.set_fit_request(outcome=True).set_score_request(outcome=True)
        search = GridSearchCV(policy, {"max_depth": [0, 1]}, cv=2)
        search.fit(data.data, data.treatment, outcome=data.outcome)
    assert set(search.best_params_) == {"max_depth"}


def test_the_tree_shows_treatments() -> None:
    data = datasets.make_policy_example(300)
    policy = PolicyTree(cv=2, max_depth=2, random_state=0).fit(
        data.data, data.treatment, data.outcome
    )
    text = policy.tree_.to_text()
    assert any(name in text for name in data.treatments)


def test_what_is_wrong_is_named() -> None:
    data = datasets.make_policy_example(60)
    X, treatment, outcome = data.data, data.treatment, data.outcome
    with pytest.raises(ValueError, match=r"rewards\[1, 0\] = nan"):
        PolicyTree().fit_rewards([[0], [1]], [[1, 2], [np.nan, 0]])
    with pytest.raises(ValueError, match="treatment 'none' was never given"):
        PolicyTree(treatments=[*data.treatments, "none"]).fit(X, treatment, outcome)
    with pytest.raises(ValueError, match=r"propensity\[0\] = 0.0 must lie strictly"):
        PolicyTree("ipw").fit(X, treatment, outcome, propensity=np.zeros(60))
    with pytest.raises(ValueError, match=r"propensity\[0\] = 1.0 must lie strictly"):
        PolicyTree("ipw").fit(X, treatment, outcome, propensity=np.ones(60))
    with pytest.raises(ValueError, match="needs outcomes"):
        PolicyTree().fit(X, treatment)
    with pytest.raises(ValueError, match="requires y to be passed"):
        PolicyTree().fit(X)
    with pytest.raises(ValueError, match="method='best' is not supported"):
        PolicyTree(method="best").fit(X, treatment, outcome)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="clip must be a number from 0 to 1"):
        PolicyTree(clip=2).fit(X, treatment, outcome)
    with pytest.raises(ValueError, match="outcomes must have shape 60 x 3"):
        PolicyTree("dm").fit(X, treatment, outcome, outcomes=np.zeros((60, 2)))
    policy = PolicyTree(max_depth=1).fit_rewards(X, data.rewards)
    with pytest.raises(ValueError, match="value needs rewards, or treatment and outcome"):
        policy.value(X)
    with pytest.raises(ValueError, match="one column for each of the 3 treatments"):
        policy.value(X, rewards=np.zeros((60, 2)))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0] + [1.0] * 29, r"sample_weight\[0\] = -1.0 is negative"),
        ([0.0] * 30, "All sample weights are zero"),
        ([1.0] * 6, "sample_weight has 6 entries, but there are 30 rows"),
    ],
)
def test_wrong_weights_of_an_evaluation_are_named(weights, message) -> None:
    data = datasets.make_policy_example(30, random_state=0)
    policy = PolicyTree(max_depth=1).fit_rewards(data.data, data.rewards)
    with pytest.raises(ValueError, match=message):
        policy.value(data.data, rewards=data.rewards, sample_weight=weights)


def test_a_treatment_that_nobody_got_can_be_valued_without_a_model_of_outcomes() -> None:
    data = datasets.make_policy_example(200, random_state=1)
    policy = PolicyTree(treatments=data.treatments, max_depth=2)
    policy.fit_rewards(data.data, data.rewards)
    one = data.treatment == data.treatments[0]
    table = data.data.iloc[one] if hasattr(data.data, "iloc") else data.data[one]
    given = (data.treatment[one], data.outcome[one])
    chance = np.full(int(one.sum()), 0.4)
    found = policy.value(table, *given, method="ipw", propensity=chance)
    right = policy.predict(table) == data.treatments[0]
    assert found.value == pytest.approx((data.outcome[one] * right / 0.4).mean())
    outcomes = data.rewards[one]
    for method in ("dm", "dr"):
        assert policy.value(table, *given, method=method, outcomes=outcomes, propensity=chance)
        with pytest.raises(ValueError, match="was never given"):
            policy.value(table, *given, method=method, propensity=chance)
    with pytest.warns(UserWarning, match="Poor overlap"):
        policy.value(table, *given, method="ipw")


def test_positions_are_those_of_the_caller() -> None:
    data = datasets.make_policy_example(30, random_state=0)
    weights, chance = np.ones(30), np.full(30, 0.5)
    weights[:4], chance[:4], chance[9] = 0, 7.0, 0
    outcomes = np.zeros((30, len(data.treatments)))
    outcomes[:4], outcomes[8, 1] = np.nan, np.nan
    given = (data.data, data.treatment, data.outcome, weights)
    with pytest.raises(ValueError, match=r"propensity\[9\] = 0"):
        PolicyTree(method="ipw").fit(*given, propensity=chance)
    with pytest.raises(ValueError, match=r"outcomes\[8, 1\] = nan"):
        PolicyTree(method="dm").fit(*given, outcomes=outcomes)
