"""Policies: data with a known truth, values with standard errors, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

from certree import PolicyTree, datasets, load


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
    with pytest.raises(ValueError, match=r"propensity\[0\] = 0.0, but row 0 was given"):
        PolicyTree("ipw").fit(X, treatment, outcome, propensity=np.zeros(60))
    with pytest.raises(ValueError, match=r"propensity\[0\] = 1.5 is no probability"):
        PolicyTree("ipw").fit(X, treatment, outcome, propensity=np.full(60, 1.5))
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
    with pytest.warns(UserWarning, match="Not identified"):
        found = policy.value(table, *given, method="ipw")
    assert found.n_extrapolated == int((~right).sum())


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


def test_rows_that_were_always_treated_alike_are_accepted_and_named() -> None:
    data = datasets.make_policy_example(400, random_state=9)
    chance = data.propensity[np.arange(400), _codes(data)].copy()
    chance[:100] = 1.0
    policy = PolicyTree("dr", max_depth=2, treatments=data.treatments)
    with pytest.warns(UserWarning, match="Not identified: 100 of 400 rows .* outcome model"):
        policy.fit(
            data.data, data.treatment, data.outcome, propensity=chance, outcomes=data.rewards
        )
    rows = np.arange(400)
    expected = data.rewards.copy()
    expected[rows, _codes(data)] += (data.outcome - data.rewards[rows, _codes(data)]) / chance
    np.testing.assert_allclose(policy.rewards_, expected)
    # The score of a row with propensity 1 is its outcome.
    np.testing.assert_allclose(policy.rewards_[rows, _codes(data)][:100], data.outcome[:100])
    known = policy.propensities_
    assert known is not None
    assert (known[:100].sum(axis=1) <= 1 + 2 * policy.clip).all()
    # Where only the probability of one of three treatments is known, the others are not.
    assert np.isnan(known[100:]).sum() == 2 * 300
    with pytest.warns(UserWarning, match="Not identified"):
        found = policy.value(
            data.data, data.treatment, data.outcome, propensity=chance, outcomes=data.rewards
        )
    assert found.n_extrapolated == int((policy.predict(data.data) != data.treatment)[:100].sum())


def test_a_table_of_propensities_may_have_zeros_for_what_was_not_given() -> None:
    data = datasets.make_policy_example(60, random_state=3)
    table = np.eye(3)[_codes(data)]
    with pytest.warns(UserWarning, match="Not identified: 60 of 60 rows .* outcome of 0"):
        policy = PolicyTree("ipw", treatments=data.treatments, clip=0.0).fit(
            data.data, data.treatment, data.outcome, propensity=table
        )
    np.testing.assert_array_equal(policy.rewards_, table * data.outcome[:, None])
    with pytest.raises(ValueError, match=r"propensity\[0, \d\] = 0.0, but row 0 was given"):
        PolicyTree("ipw", treatments=data.treatments).fit(
            data.data, data.treatment, data.outcome, propensity=np.roll(table, 1, axis=1)
        )


def test_two_treatments_tell_both_probabilities_by_one() -> None:
    data = datasets.make_two_treatments(200, best_share=0.75)
    chance = data.propensity[np.arange(200), data.treatment]
    policy = PolicyTree("ipw", max_depth=1)
    policy.fit(data.data, data.treatment, data.outcome, propensity=chance)
    np.testing.assert_allclose(policy.propensities_, data.propensity)


def test_a_policy_with_unknown_propensities_can_be_saved(tmp_path: Path) -> None:
    data = datasets.make_policy_example(60)
    policy = PolicyTree("ipw", max_depth=1)
    policy.fit(data.data, data.treatment, data.outcome, propensity=np.full(60, 0.5))
    policy.save(tmp_path / "policy.json")
    again = load(tmp_path / "policy.json")
    np.testing.assert_array_equal(again.propensities_, policy.propensities_)


def test_the_error_of_the_direct_method_is_that_of_its_models() -> None:
    rng = np.random.default_rng(0)
    outcome = rng.normal(size=400)
    treatment = np.repeat([0, 1], 200)
    X = np.zeros((400, 1))
    policy = PolicyTree(max_depth=0, treatments=[0, 1], random_state=0)
    policy.fit_rewards(X, [[0.0, 1.0]] * 400)
    policy.outcome_model = DummyRegressor()
    found = policy.value(X, treatment, outcome, method="dm")
    # Every row has nearly the same prediction; the mean of 200 outcomes is what is unsure.
    exact = outcome[200:].std(ddof=1) / np.sqrt(200)
    assert found.value == pytest.approx(outcome[200:].mean())
    assert found.standard_error == pytest.approx(exact, rel=0.35)
    assert policy.set_params(method="dm").score(X, treatment, outcome) == pytest.approx(found.value)


@pytest.mark.parametrize("method", ["dm", "ipw", "dr"])
def test_intervals_of_the_value_hold_the_truth_as_often_as_they_say(method: str) -> None:
    policy = PolicyTree(max_depth=1, treatments=[0, 1], random_state=0)
    train = datasets.make_two_treatments(300, 10, random_state=1000)
    policy.fit_rewards(train.data, train.rewards)
    large = datasets.make_two_treatments(200_000, 10, random_state=1001)
    truth = policy.value(large.data, rewards=large.rewards).value
    policy.outcome_model = LinearRegression()
    policy.propensity_model = DummyClassifier(strategy="prior")
    inside = 0
    for seed in range(60):
        new = datasets.make_two_treatments(300, 10, random_state=seed)
        found = policy.value(new.data, new.treatment, new.outcome, method=method)  # type: ignore[arg-type]
        inside += abs(found.value - truth) < 2.26 * found.standard_error
    assert inside >= 52


def test_too_few_rows_leave_the_error_of_the_direct_method_open() -> None:
    policy = PolicyTree(max_depth=0, treatments=[0, 1], cv=1, outcome_model=DummyRegressor())
    policy.fit_rewards(np.zeros((4, 1)), [[0.0, 1.0]] * 4)
    found = policy.value(np.zeros((4, 1)), [0, 0, 1, 1], [1.0, 2.0, 3.0, 5.0], method="dm")
    assert found.value == 4
    assert np.isnan(found.standard_error)


def _codes(data: Any) -> NDArray[np.intp]:
    return np.array([data.treatments.tolist().index(label) for label in data.treatment])
