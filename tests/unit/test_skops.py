"""Models in the files of skops, and in those of MLflow, which uses skops by default."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fitted import cases

from certree import FairTreeClassifier, OptimalTreeClassifier, verify
from certree.files import model_to_json


def _json(model: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # functions are left out of JSON
        return model_to_json(model)


@pytest.mark.parametrize("name", cases())
def test_every_model_comes_back_from_skops(name: str) -> None:
    skops = pytest.importorskip("skops.io")
    case = cases()[name]
    data = skops.dumps(case.model)
    types = skops.get_untrusted_types(data=data)
    foreign = {one for one in types if not one.startswith("certree.")}
    assert foreign <= {"datetime.timedelta", "datetime.timezone", "fractions.Fraction"}
    loaded = skops.loads(data, trusted=types)
    assert _json(loaded) == _json(case.model)
    assert np.array_equal(loaded.predict(case.X), case.model.predict(case.X))
    assert repr(loaded) == repr(case.model)


def test_a_model_of_skops_is_verified() -> None:
    skops = pytest.importorskip("skops.io")
    case = cases()["OptimalTreeClassifier"]
    data = skops.dumps(case.model)
    loaded = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    assert loaded.tree_ == case.model.tree_
    verify(loaded, case.X, **case.given)


@pytest.mark.parametrize("groups", [[False, True], [(1, "a"), (2, "b")], [1, 2], ["a", "b"]])
def test_groups_stay_what_they_are(groups: list[Any]) -> None:
    """skops writes keys of maps as texts."""
    skops = pytest.importorskip("skops.io")
    given = np.array(groups * 6, dtype=object) if isinstance(groups[0], tuple) else groups * 6
    model = FairTreeClassifier(max_depth=1, tolerance=1)
    model.fit([[0], [1], [1], [0]] * 3, [0, 1, 1, 1] * 3, sensitive_features=given)
    data = skops.dumps(model)
    loaded = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    assert loaded.group_rates_ == model.group_rates_
    assert pickle.loads(pickle.dumps(model)).group_rates_ == model.group_rates_


def test_parameters_with_keys_that_are_no_texts_stay_as_they_are() -> None:
    skops = pytest.importorskip("skops.io")
    weights = {True: 3, False: 1}
    model = OptimalTreeClassifier(1, class_weight=weights).fit([[0], [1]], [False, True])
    data = skops.dumps(model)
    assert skops.loads(data, trusted=skops.get_untrusted_types(data=data)).class_weight == weights


def test_mlflow_saves_and_loads_a_model(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    flow = pytest.importorskip("mlflow.sklearn")
    case = cases()["OptimalTreeClassifier"]
    types = skops.get_untrusted_types(data=skops.dumps(case.model))
    flow.save_model(case.model, tmp_path / "model", skops_trusted_types=types)
    flow.save_model(case.model, tmp_path / "pickled", serialization_format="cloudpickle")
    for folder in ("model", "pickled"):
        loaded = flow.load_model(str(tmp_path / folder))
        assert loaded.predict(case.X).tolist() == case.model.predict(case.X).tolist()
        verify(loaded, case.X, **case.given)


def test_mlflow_names_the_types_that_it_is_not_told_to_trust(tmp_path: Path) -> None:
    """So does it for every estimator that is not of scikit-learn; the guide says what to write."""
    skops = pytest.importorskip("skops.io")
    flow = pytest.importorskip("mlflow.sklearn")
    model = cases()["OptimalTreeClassifier"].model
    types = skops.get_untrusted_types(data=skops.dumps(model))
    with pytest.raises(Exception, match="set the 'skops_trusted_types' parameter") as caught:
        flow.save_model(model, tmp_path / "model")
    assert all(name in str(caught.value) for name in types)
