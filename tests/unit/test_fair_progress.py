"""What is told of a search for fair trees is about fair trees."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from certree import FairTreeClassifier, datasets


def test_progress_speaks_of_fair_trees_only() -> None:
    X, y = datasets.load_credit(return_X_y=True)
    groups = np.where(X["housing"] == "own", "o", "n")
    seen: list[Any] = []
    model = FairTreeClassifier("equalized_odds", max_depth=3, thresholds=4)
    model.fit(X, y, sensitive_features=groups, callback=seen.append)
    cost = model.certificate_.cost
    assert all(p.upper_bound is None or p.upper_bound >= cost for p in seen)
    assert all((p.gap is None) == (p.upper_bound is None) for p in seen)
    assert any(p.upper_bound is not None for p in seen)
    assert all(p.lower_bound <= cost for p in seen)
    for before, after in itertools.pairwise(seen):
        assert before.lower_bound <= after.lower_bound
        assert before.seconds <= after.seconds


def test_progress_lines_wait_for_a_fair_tree(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = datasets.load_credit(return_X_y=True)
    groups = np.where(X["housing"] == "own", "o", "n")
    model = FairTreeClassifier("equalized_odds", max_depth=3, thresholds=4, verbose=1)
    model.fit(X, y, sensitive_features=groups)
    lines = capsys.readouterr().err.splitlines()
    assert f"errors {model.certificate_.cost} (gap 0), proven optimal" in lines[-1]
