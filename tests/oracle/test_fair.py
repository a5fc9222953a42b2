"""Fair trees equal brute force, at tolerances that trees hit exactly."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import FairTreeClassifier, verify
from certree.fitting import prove_groups
from certree.proofs import _metric_limits
from certree.tasks._rates import CONSTRAINTS

from . import fair

TOLERANCES = (0, 0.1, 0.2, "1/3", 0.5, 1)


def draw(rng: Any, constraint: str, n_groups: int) -> tuple[Any, ...]:
    """Draw a small table in which every group has rows of both classes."""
    n_rows = int(rng.integers(4 * n_groups, 13))
    n_classes = 3 if constraint == "accuracy_parity" and rng.random() < 0.3 else 2
    groups = np.arange(n_rows) % n_groups
    classes = rng.integers(0, n_classes, n_rows)
    classes[:n_groups], classes[n_groups : 2 * n_groups] = 0, 1
    table = rng.integers(0, 2, (n_rows, int(rng.integers(1, 5))))
    weights = rng.integers(1, 4, n_rows) if rng.random() < 0.4 else np.ones(n_rows, dtype=int)
    # Ties with the groups make tests that are left out.
    if rng.random() < 0.3:
        table[:, 0] = groups == 0
    return table, classes, groups, weights


def fit(model: FairTreeClassifier, *data: Any) -> FairTreeClassifier:
    table, classes, groups, weights = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(table, classes, sensitive_features=groups, sample_weight=weights)


def asked(table: Any, groups: Any) -> Any:
    """Drop the columns that are a function of the group."""
    kept = []
    for column in table.T:
        by_group = [set(column[groups == group].tolist()) for group in set(groups.tolist())]
        if len(set(column.tolist())) < 2 or any(len(values) > 1 for values in by_group):
            kept.append(column)
    return np.array(kept, dtype=int).reshape(len(kept), len(table)).T


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_cost_and_feasibility_equal_brute_force(
    constraint: str, n_groups: int, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small problems are searched at once; with multipliers the answer is the same."""
    if not at_once:
        monkeypatch.setattr(_metric_limits, "_SHALLOW", -1)
        monkeypatch.setattr(_metric_limits, "_FEW_PATHS", -1)
    rng = np.random.default_rng([n_groups, *map(ord, constraint)])
    for _ in range(12):
        data = table, classes, groups, weights = draw(rng, constraint, n_groups)
        depth = int(rng.integers(0, 3))
        min_leaf = int(rng.integers(1, 3))
        max_splits = [None, 1, 2][int(rng.integers(3))]
        complexity = [0, 0.05, 0.01][int(rng.integers(3))]
        found = list(
            fair.points(
                constraint,
                asked(table, groups).tolist(),
                classes.tolist(),
                groups.tolist(),
                weights.tolist(),
                depth=depth,
                min_leaf=min_leaf,
                max_splits=max_splits,
                penalty=Fraction(str(complexity)) * int(weights.sum()),
            )
        )
        for tolerance in TOLERANCES:
            model = FairTreeClassifier(
                constraint,
                tolerance,
                max_depth=depth,
                max_splits=max_splits,
                min_samples_leaf=min_leaf,
                complexity=complexity,
                pos_label=1,
            )
            fit(model, *data)
            expected = fair.best(found, Fraction(str(tolerance)))
            certificate = model.certificate_
            if expected is None:
                assert certificate.is_infeasible
                assert certificate.least_disparity == min(gap for gap, _ in found)
                continue
            assert certificate.status == "optimal"
            assert certificate.cost == expected
            predicted = tuple(model.predict(table).tolist())
            of_rates = fair.rates(
                constraint, predicted, classes.tolist(), groups.tolist(), weights.tolist()
            )
            assert certificate.disparity == fair.apart(of_rates) <= Fraction(str(tolerance))


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_curves_equal_brute_force(
    constraint: str, n_groups: int, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not at_once:
        monkeypatch.setattr(prove_groups, "_FEW_TESTS", -1)
    rng = np.random.default_rng([7, n_groups, *map(ord, constraint)])
    for _ in range(8):
        table, classes, groups, weights = draw(rng, constraint, n_groups)
        depth = int(rng.integers(0, 3))
        complexity = [0, 0.05][int(rng.integers(2))]
        expected = fair.curve(
            list(
                fair.points(
                    constraint,
                    asked(table, groups).tolist(),
                    classes.tolist(),
                    groups.tolist(),
                    weights.tolist(),
                    depth=depth,
                    penalty=Fraction(str(complexity)) * int(weights.sum()),
                )
            )
        )
        model = FairTreeClassifier(constraint, max_depth=depth, complexity=complexity, pos_label=1)
        curve = model.fairness_curve(
            table, classes, sensitive_features=groups, sample_weight=weights, least_tolerance=0
        )
        assert curve.status == "optimal"
        assert [point[:2] for point in curve.points] == expected


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_certificates_are_verified_by_trying_all_trees(constraint: str) -> None:
    rng = np.random.default_rng([3, *map(ord, constraint)])
    for _ in range(4):
        data = table, classes, groups, weights = draw(rng, constraint, 2)
        model = fit(FairTreeClassifier(constraint, 0.2, max_depth=2, pos_label=1), *data)
        report = verify(model, table, classes, weights, exhaustive=True, sensitive_features=groups)
        assert report.exhaustive
        curve = model.fairness_curve(table, classes, groups, weights)
        for one in curve:
            assert verify(one, table, classes, weights, exhaustive=True, sensitive_features=groups)


def all_fair(
    constraints: list[str], tolerances: list[Any], data: tuple[Any, ...], depth: int
) -> list[tuple[int, ...]]:
    """Return the labellings that keep every constraint, each with its own tolerance."""
    classes, groups, weights = (part.tolist() for part in data[1:])
    tests = asked(data[0], data[2]).tolist()
    return [
        labels
        for labels in fair.labellings(tests, 2, depth)
        if all(
            fair.apart(fair.rates(one, labels, classes, groups, weights)) <= Fraction(str(most))
            for one, most in zip(constraints, tolerances, strict=True)
        )
    ]


def confusion(labels: Any, classes: Any, weights: Any) -> tuple[int, int, int]:
    """Return the weights of true positives, false positives and false negatives."""
    rows = list(zip(labels, classes.tolist(), weights.tolist(), strict=True))
    return (
        sum(w for label, y, w in rows if label and y),
        sum(w for label, y, w in rows if label and not y),
        sum(w for label, y, w in rows if y and not label),
    )


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    "constraints",
    [
        ["demographic_parity", "equal_opportunity"],
        ["equal_opportunity", "equalized_odds"],
        ["demographic_parity", "predictive_equality", "accuracy_parity"],
    ],
)
def test_several_constraints_equal_brute_force(
    constraints: list[str], at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not at_once:
        monkeypatch.setattr(_metric_limits, "_SHALLOW", -1)
        monkeypatch.setattr(_metric_limits, "_FEW_PATHS", -1)
    rng = np.random.default_rng([len(constraints), at_once])
    n_infeasible = 0
    for trial in range(30):
        data = table, classes, groups, weights = draw(rng, constraints[0], 2 + trial % 2)
        depth = int(rng.integers(1, 3))
        tolerances = [TOLERANCES[int(k)] for k in rng.integers(0, 5, len(constraints))]
        model = FairTreeClassifier(constraints, tolerances, max_depth=depth, pos_label=1)
        fit(model, *data)
        found = all_fair(constraints, tolerances, data, depth)
        certificate = model.certificate_
        if found:
            errors = (sum(confusion(labels, classes, weights)[1:]) for labels in found)
            assert certificate.status == "optimal"
            assert certificate.cost == min(errors)
            predicted = tuple(model.predict(table).tolist())
            assert predicted in found
        else:
            n_infeasible += 1
            assert certificate.is_infeasible
        verify(model, table, classes, weights, exhaustive=True, sensitive_features=groups)
    assert n_infeasible > 0 or "accuracy_parity" not in constraints


def f1(tp: int, fp: int, fn: int, rest: int) -> Fraction:
    return Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else Fraction(1)


def signed_square_of_mcc(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    above = tp * tn - fp * fn
    return Fraction(above * abs(above), below) if below else Fraction(0)


def square_of_gmean(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return Fraction(tp * tn, (tp + fn) * (tn + fp))


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize(
    ("objective", "value"),
    [("f1", f1), ("mcc", signed_square_of_mcc), ("gmean", square_of_gmean)],
)
@pytest.mark.parametrize("constraint", ["demographic_parity", "accuracy_parity"])
def test_metrics_of_fair_trees_equal_brute_force(
    constraint: str,
    objective: str,
    value: Any,
    positive: int,
    at_once: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not at_once:
        monkeypatch.setattr(_metric_limits, "_SHALLOW", -1)
        monkeypatch.setattr(_metric_limits, "_FEW_PATHS", -1)
    rng = np.random.default_rng([positive, at_once, *map(ord, objective)])
    for trial in range(12):
        data = table, classes, groups, weights = draw(rng, "demographic_parity", 2)
        depth, tolerance = int(rng.integers(1, 3)), TOLERANCES[trial % 5]
        model = FairTreeClassifier(
            constraint, tolerance, objective=objective, max_depth=depth, pos_label=positive
        )
        fit(model, *data)
        # Labels are those of the positive class.
        turned = (table, classes if positive else 1 - classes, groups, weights)
        found = all_fair([constraint], [tolerance], turned, depth)
        if not found:
            assert model.certificate_.is_infeasible
            continue
        total = int(weights.sum())
        counts = [confusion(labels, turned[1], weights) for labels in found]
        best = max(value(*one, total - sum(one)) for one in counts)
        labels = (model.predict(table) == positive).astype(int).tolist()
        own = confusion(labels, turned[1], weights)
        assert tuple(labels) in found
        assert value(*own, total - sum(own)) == best
        assert model.certificate_.status == "optimal"
        verify(model, table, classes, weights, exhaustive=True, sensitive_features=groups)


def test_a_penalty_in_units_of_a_metric_counts_for_fair_trees() -> None:
    rng = np.random.default_rng(5)
    for trial in range(10):
        data = table, classes, groups, weights = draw(rng, "demographic_parity", 2)
        complexity = ["1/20", "1/7"][trial % 2]
        model = FairTreeClassifier(
            tolerance=0.2, objective="f1", complexity=complexity, max_depth=2, pos_label=1
        )
        fit(model, *data)
        splits = fair.labellings(asked(table, groups).tolist(), 2, 2)
        best = max(
            f1(*confusion(labels, classes, weights), 0) - Fraction(complexity) * splits[labels]
            for labels in all_fair(["demographic_parity"], [0.2], data, 2)
        )
        assert model.certificate_.status == "optimal"
        assert 1 - model.certificate_.cost == best
        verify(model, table, classes, weights, exhaustive=True, sensitive_features=groups)
