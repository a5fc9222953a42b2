"""Capacities, budgets and minima of policies and costs, as a user writes them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from certree import (
    CostSensitiveTreeClassifier,
    InfeasibleError,
    OptimalityWarning,
    OptimalTreeClassifier,
    PolicyTree,
    datasets,
    tasks,
    verify,
)
from certree.fitting import prove_metric_within
from certree.fitting.prove_metric import metric_search
from certree.proofs._metric_limits import LimitedSession

PATIENTS = datasets.make_policy_example(120)
TREATMENTS = PATIENTS.treatments.tolist()


def policy(**parameters: Any) -> PolicyTree:
    model = PolicyTree(**{"max_depth": 2, "treatments": TREATMENTS, "thresholds": 6, **parameters})
    return model.fit_rewards(PATIENTS.data, PATIENTS.rewards, treatment=PATIENTS.treatment)


def given(model: PolicyTree, treatment: str) -> int:
    return int((model.predict(PATIENTS.data) == treatment).sum())


@pytest.mark.parametrize("capacity", [12, 0.1, "1/10", Fraction(1, 10), np.int64(12)])
def test_a_capacity_is_a_number_or_a_share(capacity: Any) -> None:
    free, model = policy(), policy(capacity={"surgery": capacity})
    assert given(free, "surgery") > 12
    assert given(model, "surgery") <= 12
    assert model.certificate_.is_optimal
    assert model.certificate_.cost > free.certificate_.cost
    assert model.certificate_.limits[0].at_most == 12
    assert verify(model, PATIENTS.data, PATIENTS.rewards)


def test_a_capacity_that_is_no_limit_changes_nothing() -> None:
    assert policy(capacity={"surgery": 1.0}).certificate_.cost == policy().certificate_.cost


def test_shares_are_weighed() -> None:
    weights = np.where(PATIENTS.best == "surgery", 0.5, 1.0)
    model = PolicyTree(max_depth=2, treatments=TREATMENTS, capacity={"surgery": 0.1}, thresholds=6)
    model.fit_rewards(PATIENTS.data, PATIENTS.rewards, weights)
    chosen = model.predict(PATIENTS.data) == "surgery"
    assert weights[chosen].sum() <= 0.1 * weights.sum()
    assert model.certificate_.limits[0].at_most == Fraction(str(weights.sum())) / 10
    assert verify(model, PATIENTS.data, PATIENTS.rewards, weights)


def test_a_budget_holds_what_treatments_cost() -> None:
    model = policy(treatment_costs={"surgery": 9.5, "drug": 1}, budget="200.5")
    assert 9.5 * given(model, "surgery") + given(model, "drug") <= 200.5
    assert model.certificate_.limits[0].name == "budget"
    per_row = np.column_stack([np.zeros(120), np.ones(120), np.arange(120)])
    costly = policy(treatment_costs=per_row, budget=500)
    chosen = [TREATMENTS.index(t) for t in costly.predict(PATIENTS.data).tolist()]
    assert per_row[np.arange(120), chosen].sum() <= 500


def test_leaves_hold_rows_that_received_their_treatment() -> None:
    model = policy(min_treated=8)
    leaves, chosen = model.apply(PATIENTS.data), model.predict(PATIENTS.data)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        assert (PATIENTS.treatment[rows] == chosen[rows][0]).sum() >= 8
    assert verify(model, PATIENTS.data, PATIENTS.rewards)


def test_fit_knows_what_rows_received() -> None:
    model = PolicyTree(max_depth=1, cv=2, min_treated={"surgery": 10}, thresholds=4, random_state=0)
    model.fit(PATIENTS.data, PATIENTS.treatment, PATIENTS.outcome)
    assert model.certificate_.is_optimal
    assert verify(model, PATIENTS.data, model.rewards_)


def test_nothing_within_the_limits_is_a_proof_and_no_policy() -> None:
    with pytest.warns(UserWarning, match="There is nothing to predict with"):
        model = policy(capacity=dict.fromkeys(TREATMENTS, 0.2))
    assert model.certificate_.is_infeasible
    assert model.treatments_.tolist() == TREATMENTS
    with pytest.raises(InfeasibleError, match="keeps to all 3 limits"):
        model.predict(PATIENTS.data)
    assert verify(model, PATIENTS.data, PATIENTS.rewards)
    model.set_params(capacity=None).fit_rewards(PATIENTS.data, PATIENTS.rewards)
    assert model.predict(PATIENTS.data).shape == (120,)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"capacity": {"knife": 3}}, ValueError, "'knife', which is not a treatment"),
        ({"capacity": {"surgery": -1}}, ValueError, "must not be negative"),
        ({"capacity": {"surgery": 1.5}}, ValueError, "is a share of the rows"),
        ({"capacity": {"surgery": None}}, TypeError, "must be a number"),
        ({"capacity": 3}, TypeError, "capacity must be a mapping"),
        ({"budget": 3}, ValueError, "budget needs treatment_costs"),
        ({"treatment_costs": [1, 2, 3]}, ValueError, "treatment_costs needs budget"),
        ({"treatment_costs": [1, 2], "budget": 3}, ValueError, "must have shape"),
        ({"min_treated": 1.5}, ValueError, "min_treated must be an integer"),
    ],
)
def test_bad_limits_are_refused(parameters: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        policy(**parameters)


def test_rows_of_unknown_treatment_have_no_minimum() -> None:
    model = PolicyTree(min_treated=2)
    with pytest.raises(ValueError, match="min_treated needs to know"):
        model.fit_rewards(PATIENTS.data, PATIENTS.rewards)


def test_there_is_no_path_within_limits() -> None:
    model = PolicyTree(capacity={0: 3})
    with pytest.raises(ValueError, match="path=True cannot be combined with limits"):
        model.fit_rewards(PATIENTS.data, PATIENTS.rewards, path=True)


def test_policies_within_limits_are_cloned_pickled_and_tuned() -> None:
    model = policy(capacity={"surgery": 0.1})
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(PATIENTS.data) == model.predict(PATIENTS.data)).all()
    assert clone(model).get_params()["capacity"] == {"surgery": 0.1}
    search = GridSearchCV(
        PolicyTree(capacity={1: 0.3}, thresholds=4, random_state=0), {"max_depth": [1, 2]}, cv=2
    )
    search.fit(PATIENTS.data, PATIENTS.rewards)
    assert (search.predict(PATIENTS.data) == 1).mean() <= 0.3


# ---- costs ---------------------------------------------------------------------------------------


def credit() -> tuple[Any, Any]:
    X, y = datasets.load_credit(return_X_y=True, as_frame=False)
    return X[:200], y[:200]


def test_labels_have_capacities_and_limits() -> None:
    X, y = credit()
    amount = X[:, 3].astype(float)
    lent = tasks.Limit("lent", {"repaid": amount}, at_most=0.8 * amount.sum())
    model = CostSensitiveTreeClassifier(
        [[0, 5], [1, 0]], capacity={"default": "1/4"}, limits=[lent], max_depth=2, thresholds=6
    )
    model.fit(X, y)
    predicted = model.predict(X)
    assert (predicted == "default").sum() <= 50
    assert amount[predicted == "repaid"].sum() <= 0.8 * amount.sum()
    assert model.classes_.tolist() == ["default", "repaid"]
    assert [limit.name for limit in model.certificate_.limits] == ["class default", "lent"]
    assert verify(model, X, y)
    assert model.expected_cost(X, y) == pytest.approx(float(model.certificate_.cost) / 200)


def test_errors_within_a_capacity() -> None:
    X, y = credit()
    model = CostSensitiveTreeClassifier(capacity={"default": 10}, max_depth=2, thresholds=6)
    model.fit(X, y)
    free = OptimalTreeClassifier(max_depth=2, thresholds=6).fit(X, y)
    assert model.certificate_.cost >= free.certificate_.cost
    assert (model.predict(X) == "default").sum() <= 10


def test_a_limit_alone_needs_no_list() -> None:
    X, y = credit()
    few = tasks.Limit("default", {"default": 1}, at_most=10)
    parameters: dict[str, Any] = {"max_depth": 2, "thresholds": 6}
    alone = CostSensitiveTreeClassifier(limits=few, **parameters).fit(X, y)
    listed = CostSensitiveTreeClassifier(limits=[few], **parameters).fit(X, y)
    assert alone.certificate_.cost == listed.certificate_.cost
    assert alone.certificate_.limits == listed.certificate_.limits
    assert verify(alone, X, y)
    minimum = tasks.LeafMinimum({"default": 30})
    alone = CostSensitiveTreeClassifier(limits=minimum, **parameters).fit(X, y)
    assert alone.certificate_.leaf_minimum == (("default", 30),)
    with pytest.raises(TypeError, match="limits must be a list"):
        CostSensitiveTreeClassifier(limits=3).fit(X, y)


def test_a_minimum_of_leaves_is_a_limit() -> None:
    X, y = credit()
    model = CostSensitiveTreeClassifier(
        limits=[tasks.LeafMinimum({"default": 30})], max_depth=2, thresholds=6
    ).fit(X, y)
    leaves, predicted = model.apply(X), model.predict(X)
    for leaf in np.unique(leaves[predicted == "default"]):
        assert (leaves == leaf).sum() >= 30
    assert verify(model, X, y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"capacity": {"maybe": 3}}, ValueError, "'maybe', which is not a class"),
        ({"limits": [3]}, TypeError, "limits must be a list of tasks.Limit"),
        ({"limits": [tasks.LeafMinimum(2), tasks.LeafMinimum(3)]}, TypeError, "one tasks.LeafMin"),
    ],
)
def test_bad_limits_of_costs_are_refused(parameters: Any, error: Any, message: str) -> None:
    X, y = credit()
    with pytest.raises(error, match=message):
        CostSensitiveTreeClassifier(**parameters).fit(X, y)


def test_a_search_that_is_stopped_keeps_what_the_search_of_all_trees_has_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = datasets.load_credit(return_X_y=True)
    known: list[int] = []

    def stopped(*given: Any) -> Any:
        search = metric_search(*given)

        def run(problem: Any, *, options: Any) -> Any:
            found = search(problem, options=options)
            if not isinstance(problem, LimitedSession):
                return replace(found, status="time_limit")
            known[:] = [nodes.n_splits for nodes in problem.trees]
            return replace(found, status="time_limit", bound=Fraction(1), cuts=[])

        return run

    settings: dict[str, Any] = {"objective": "f1", "pos_label": "default", "thresholds": 4}
    free = OptimalTreeClassifier(2, **settings).fit(X, y).certificate_
    monkeypatch.setattr(prove_metric_within, "metric_search", stopped)
    for most in (0.05, 0.9):
        model = OptimalTreeClassifier(2, capacity={"default": most}, **settings)
        if most == 0.05:
            with pytest.warns(OptimalityWarning, match="no tree can cost less than"):
                model.fit(X, y)
        else:
            model.fit(X, y)
            assert known[-1] == free.n_splits  # the best tree of all keeps this limit
        assert model.certificate_.lower_bound == free.cost
        assert verify(model, X, y)
