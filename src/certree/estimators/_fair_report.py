"""Rates of groups under a fitted model, on any rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certree.encoding._classes import check_labels
from certree.fitting.goals import sensitive_name
from certree.fitting.plan import plan
from certree.fitting.state_errors import find_positive
from certree.fitting.state_groups import read_sensitive
from certree.numbers._exact import check_weights
from certree.results._fairness import FairnessReport
from certree.tasks._rates import CONSTRAINTS, constraint_names, rates_on_rows, read_groups

if TYPE_CHECKING:
    from ._fair import FairTreeClassifier


def report_on(
    model: FairTreeClassifier, X: Any, y: Any, sensitive_features: Any, sample_weight: Any
) -> FairnessReport:
    """Compare the groups of some rows."""
    predicted = model.predict(X)
    n_rows = len(predicted)
    labels = check_labels(y, n_rows, type(model).__name__)
    plan(model._what_is_asked(fairness_report=True, sensitive_features=sensitive_features))
    goal = model._goal(X, y, sample_weight, sensitive_features)
    groups = read_groups(read_sensitive(goal, X), n_rows, what=sensitive_name(goal), least=1)
    weights = np.ones(n_rows) if sample_weight is None else check_weights(sample_weight, n_rows)
    classes = model.classes_.tolist()
    place = {label: code for code, label in enumerate(classes)}
    rates = rates_on_rows(
        groups,
        np.array([place.get(label, -1) for label in labels.tolist()]),
        np.array([place[label] for label in predicted.tolist()]),
        find_positive(classes, model.pos_label, str(model.constraint), "constraint"),
        weights,
        binary=len(classes) <= 2,
    )
    apart = {name: _apart(values) for name, values in rates.items()}
    compared = [
        kind.name for one in constraint_names(model.constraint) for kind in CONSTRAINTS[one]
    ]
    return FairnessReport(
        groups.names,
        tuple(np.bincount(groups.codes[weights > 0], minlength=len(groups)).tolist()),
        tuple(np.bincount(groups.codes, weights, minlength=len(groups)).tolist()),
        {name: dict(zip(groups.names, values, strict=True)) for name, values in rates.items()},
        apart,
        max(apart[name] for name in compared),
    )


def _apart(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return max(known) - min(known) if known else float("nan")
