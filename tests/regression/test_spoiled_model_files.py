"""Spoiled model files that were read, and failed with another error than ValueError in use."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier, SPOForest
from certree.files import model_from_json, model_to_json
from certree.oracles import TopK

rng = np.random.default_rng(0)
BINARY = rng.integers(0, 2, (12, 2))
NUMBERS = rng.normal(size=(12, 2))


def plain(model: Any) -> Any:
    return json.loads(model_to_json(model))


def test_an_encoder_that_answers_with_its_columns_needs_a_question_for_each() -> None:
    costs = rng.normal(size=(12, 3))
    forest = SPOForest(TopK(3, 1), n_estimators=2, random_state=0)
    assert model_from_json(model_to_json(forest.fit(BINARY, costs)))
    data = plain(forest.fit(NUMBERS, costs))
    data["fitted"]["encoder_"]["encoder"]["fitted"]["_is_binary"] = True
    with pytest.raises(ValueError, match="one question for each of its 2 columns"):
        model_from_json(json.dumps(data))


def test_an_objective_that_is_no_metric_is_refused() -> None:
    data = plain(OptimalTreeClassifier(1).fit(BINARY, BINARY[:, 0]))
    data["parameters"]["objective"] = 0
    with pytest.raises(ValueError, match="objective=0 is not supported"):
        model_from_json(json.dumps(data))
