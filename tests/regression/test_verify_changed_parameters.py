"""A model whose parameters no fit accepts is refused by name, in memory and in its file."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certree
from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    verify,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 9, (60, 3))
Y = np.where(X[:, 0] + RANDOM.integers(0, 5, 60) > 6, "sick", "well")
GROUPS = RANDOM.choice(["a", "b"], 60)


def _refused(model: Any, parameter: str, value: Any, **given: Any) -> str:
    changed = deepcopy(model)
    setattr(changed, parameter, value)
    with pytest.raises(CertificateError) as caught:
        verify(changed, X, Y, **given)
    return str(caught.value)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("thresholds", "autox"),
        ("thresholds", 2.5),
        ("class_weight", 1),
        ("min_category_rows", None),
        ("gap", None),
        ("complexity", None),
        ("complexity", "half"),
        ("min_samples_leaf", None),
        ("identifiers", "dropx"),
        ("category_tests", "onex"),
        ("categorical_features", "autox"),
        ("max_depth", "x"),
        ("splits", "x"),
        ("capacity", 3),
    ],
)
def test_values_that_no_fit_accepts_are_named(parameter: str, value: Any) -> None:
    """Also those that the checks of this model would not have read."""
    model = OptimalTreeClassifier(max_depth=2).fit(X, Y)
    assert f"{parameter} = {value!r}" in _refused(model, parameter, value)


def test_names_that_the_rows_do_not_have_are_refused() -> None:
    """A class that is not among those of y, and an objective without a meaning."""
    limited = OptimalTreeClassifier(max_depth=2, capacity={"sick": 20}).fit(X, Y)
    assert "'sickx'" in _refused(limited, "capacity", {"sickx": 20})
    fair = FairTreeClassifier(max_depth=2).fit(X, Y, sensitive_features=GROUPS)
    assert "pos_label=1" in _refused(fair, "pos_label", 1, sensitive_features=GROUPS)
    assert "'accuracyx'" in _refused(fair, "objective", "accuracyx", sensitive_features=GROUPS)
    costs = CostSensitiveTreeClassifier(max_depth=2, cost_matrix=[[0, 1], [2, 0]]).fit(X, Y)
    assert "test_costs = 1" in _refused(costs, "test_costs", 1)


def test_no_more_rows_can_differ_than_there_are() -> None:
    """The number of different rows stands beside that of all rows."""
    model = OptimalTreeClassifier(max_depth=2).fit(X, Y)
    for number in (61, -1, 2.5):
        changed = deepcopy(model)
        object.__setattr__(changed.certificate_, "n_row_groups", number)
        with pytest.raises(CertificateError, match="different rows are stated among 60"):
            verify(changed, X, Y)


@pytest.mark.parametrize(
    ("parameter", "value"), [("min_category_rows", None), ("identifiers", "dropx"), ("gap", -1)]
)
def test_files_with_such_parameters_are_not_loaded(
    tmp_path: Path, parameter: str, value: Any
) -> None:
    """The error names the parameter."""
    path = tmp_path / "model.json"
    OptimalTreeClassifier(max_depth=2).fit(X, Y).save(path)
    assert certree.load(path).max_depth == 2
    data = json.loads(path.read_text(encoding="utf-8"))
    data["parameters"][parameter] = value
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match=f"Cannot load.*{parameter}"):
        certree.load(path)
