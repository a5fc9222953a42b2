"""Messages about groups that cannot be compared, and about fair trees that do not exist."""

from __future__ import annotations

import pickle
import re
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    FairnessCertificate,
    FairTreeClassifier,
    InfeasibleError,
    OptimalTreeClassifier,
    PolicyTree,
    tasks,
)

X8 = np.arange(8)[:, None] % 3
Y8 = [0, 1, 1, 0, 1, 0, 1, 1]


def infeasible(**parameters: Any) -> FairTreeClassifier:
    """Fit a tree that cannot be as accurate for one group as for the other."""
    model = FairTreeClassifier("accuracy_parity", tolerance=0.1, max_depth=1, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit([[0]] * 5, [0, 0, 1, 0, 0], sensitive_features=[0, 0, 1, 1, 0])


@pytest.mark.parametrize("gap", [float("nan"), None, np.nan])
@pytest.mark.parametrize("make", [list, tuple])
def test_gaps_in_lists_are_no_group(make: Any, gap: Any) -> None:
    with pytest.raises(ValueError, match="sensitive_features has a missing"):
        FairTreeClassifier().fit(X8, Y8, sensitive_features=make(["a", gap] * 4))


def test_lists_of_several_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="values of type int, str"):
        FairTreeClassifier().fit(X8, Y8, sensitive_features=["a", 1] * 4)
    with pytest.raises(TypeError, match="values of type bool, int"):
        FairTreeClassifier().fit(X8, Y8, sensitive_features=[True, 2] * 4)
    with pytest.raises(TypeError, match="values of type list"):
        FairTreeClassifier().fit(X8, Y8, sensitive_features=[["a"], ["a", "b"]] * 4)


@pytest.mark.parametrize(
    ("given", "groups"),
    [
        (["a", "b"] * 4, ["a", "b"]),
        ([True, False] * 4, [False, True]),
        ([0, 1.0] * 4, [0, 1]),
        ([np.int64(3), 5] * 4, [3, 5]),
        ([np.str_("x"), "y"] * 4, ["x", "y"]),
        ([["a", 1], ["b", 2]] * 4, [("a", 1), ("b", 2)]),
    ],
)
def test_lists_of_one_kind_are_groups(given: Any, groups: Any) -> None:
    model = FairTreeClassifier(max_depth=1, tolerance=1).fit(X8, Y8, sensitive_features=given)
    assert model.groups_.tolist() == groups


def test_gaps_in_a_column_are_those_of_the_column() -> None:
    X = np.array([[20.0], [np.nan]] * 4)
    with pytest.raises(ValueError, match=re.escape("sensitive_columns=0 has a missing")):
        FairTreeClassifier(sensitive_columns=0).fit(X, Y8)


def test_an_unknown_positive_class_is_one_of_the_constraint() -> None:
    model = FairTreeClassifier(pos_label="yes")
    with pytest.raises(ValueError, match="for the constraint 'demographic_parity'"):
        model.fit(X8, Y8, sensitive_features=[0, 1] * 4)


def test_without_a_tree_nothing_of_a_tree_is_told() -> None:
    model = infeasible()
    with pytest.raises(InfeasibleError):
        _ = model.feature_importances_
    with pytest.raises(InfeasibleError):
        model.apply([[0]])
    limit = tasks.Limit("both", [1, 1], at_most=3)
    costly = CostSensitiveTreeClassifier([[0, 1], [5, 0]], limits=[limit])
    policy = PolicyTree(capacity={0: 1, 1: 1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        costly.fit(X8, Y8)
        policy.fit_rewards(X8, np.eye(2)[Y8])
    for other in (costly, policy):
        with pytest.raises(InfeasibleError):
            _ = other.feature_importances_


def test_certificates_without_a_tree_equal_their_copies() -> None:
    certificate = infeasible().certificate_
    assert certificate.is_infeasible
    assert FairnessCertificate.from_json(certificate.to_json()) == certificate
    assert pickle.loads(pickle.dumps(certificate)) == certificate
    assert "over 1 question\n" in str(certificate)


def test_the_tolerance_that_is_named_can_be_kept_to() -> None:
    rng = np.random.default_rng(4)
    X, a = np.zeros((97, 1)), np.arange(97) % 2
    y = (rng.random(97) < 0.3 + 0.4 * a).astype(int)
    weights = rng.integers(1, 1000, 97)
    model = FairTreeClassifier("accuracy_parity", tolerance=0, max_depth=1)
    with pytest.warns(UserWarning, match="can be kept to") as caught:
        model.fit(X, y, sensitive_features=a, sample_weight=weights)
    named = re.search(r"A tolerance of (\S+) can", str(caught[0].message))
    assert named is not None
    least = model.certificate_.least_disparity
    assert least is not None
    assert least < Fraction(named[1]) < least + Fraction(1, 10**6)
    model.set_params(tolerance=named[1]).fit(X, y, sensitive_features=a, sample_weight=weights)
    assert model.certificate_.has_tree


def test_a_single_leaf_may_have_fewer_rows_than_leaves_of_a_split() -> None:
    model = OptimalTreeClassifier(max_depth=1, min_samples_leaf=9).fit(X8, Y8)
    assert "at least 9 rows in every leaf of a split" in model.certificate_.statement()
    model = OptimalTreeClassifier(max_depth=1, min_samples_leaf=2).fit(X8, Y8)
    assert "at least 2 rows in every leaf over" in model.certificate_.statement()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"constraint": []}, "constraint is empty"),
        ({"constraint": ["equalized_odds", "equalized_odds"]}, "'equalized_odds' twice"),
        ({"constraint": ["demographic_parity", "parity"]}, "'parity' is not supported"),
        (
            {"constraint": ["demographic_parity", "equal_opportunity"], "tolerance": [0.1]},
            "1 entries, but there are 2 constraints",
        ),
        (
            {"constraint": ["demographic_parity"], "tolerance": {"equalized_odds": 0.1}},
            r"tolerance names \['equalized_odds'\]",
        ),
        ({"tolerance": [2]}, "between 0 and 1"),
        ({"objective": "auc"}, "Markovian"),
        ({"objective": "front"}, "Markovian"),
        ({"objective": "g-mean"}, "is not supported"),
    ],
)
def test_constraints_and_objectives_that_make_no_sense(
    parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        FairTreeClassifier(**parameters).fit(X8, Y8, sensitive_features=[0, 1] * 4)


def test_a_curve_needs_an_objective_that_is_a_sum() -> None:
    model = FairTreeClassifier(objective="f1")
    with pytest.raises(ValueError, match="order that combining preserves"):
        model.fairness_curve(X8, Y8, sensitive_features=[0, 1] * 4)


def test_a_metric_of_three_classes_is_refused() -> None:
    model = FairTreeClassifier("accuracy_parity", objective="f1")
    with pytest.raises(ValueError, match="binary classification"):
        model.fit(X8, [0, 1, 2, 0, 1, 2, 0, 1], sensitive_features=[0, 1] * 4)


def test_several_tolerances_are_read_by_name_and_survive_a_file() -> None:
    names = ["demographic_parity", "equal_opportunity"]
    by_name = FairTreeClassifier(names, {"equal_opportunity": 0.3, "demographic_parity": 0.5})
    by_name.fit(X8, Y8, sensitive_features=[0, 1] * 4)
    certificate = by_name.certificate_
    assert certificate.tolerance == (Fraction(1, 2), Fraction(3, 10))
    assert certificate.allowed == {
        "selection_rate": Fraction(1, 2),
        "true_positive_rate": Fraction(3, 10),
    }
    assert "allowed" in certificate.report()
    assert "at most 0.5 apart" in certificate.statement()
    assert FairnessCertificate.from_json(certificate.to_json()) == certificate
    broken = {**certificate.to_dict(), "tolerance": ["1/2"]}
    with pytest.raises(ValueError, match="one number for each of 2 constraints"):
        FairnessCertificate.from_dict(broken)


def test_a_curve_of_several_constraints_has_one_tolerance_for_all() -> None:
    model = FairTreeClassifier(["demographic_parity", "equal_opportunity"], [0.5, 0.3])
    curve = model.fairness_curve(X8, Y8, sensitive_features=[0, 1] * 4)
    best = curve.at(1)
    assert best.certificate_.tolerance == (1, 1)
    fitted = FairTreeClassifier(model.constraint, 1).fit(X8, Y8, sensitive_features=[0, 1] * 4)
    assert best.certificate_.cost == fitted.certificate_.cost
