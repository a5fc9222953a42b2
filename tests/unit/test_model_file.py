"""Model files: what is loaded predicts, certifies and verifies as what was saved."""

from __future__ import annotations

import json
import pickle
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from tests.fitted import Case, cases

import certree
from certree import (
    FairTreeClassifier,
    InfeasibleError,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    load,
    verify,
)
from certree.files import Omitted, model_to_json


@pytest.fixture(params=list(cases()))
def case(request: Any) -> Case:
    return cases()[request.param]


def _again(model: Any, tmp_path: Path) -> Any:
    model.save(tmp_path / "model.json")
    return load(str(tmp_path / "model.json"))


def test_a_loaded_model_does_what_the_saved_one_did(case: Case, tmp_path: Path) -> None:
    model, loaded = case.model, _again(case.model, tmp_path)
    assert type(loaded) is type(model)
    assert vars(loaded).keys() == vars(model).keys()
    assert vars(loaded.encoder_).keys() == vars(model.encoder_).keys()
    assert repr(loaded) == repr(model)
    for method in ("predict", "apply", "decide", "predict_proba"):
        if hasattr(model, method):
            found, expected = getattr(loaded, method)(case.X), getattr(model, method)(case.X)
            np.testing.assert_equal(found, expected)
    for name in ("tree_", "certificate_", "front_", "_path"):
        if hasattr(model, name) and name not in ("front_", "_path"):
            assert getattr(loaded, name) == getattr(model, name)
        elif getattr(model, name, None) is not None:
            assert getattr(loaded, name).to_dict() == getattr(model, name).to_dict()
    if hasattr(model, "feature_importances_"):
        assert np.array_equal(loaded.feature_importances_, model.feature_importances_)
    assert list(loaded.encoder_.tests_) == list(model.encoder_.tests_)


def test_a_loaded_model_can_be_verified_and_saved_again(case: Case, tmp_path: Path) -> None:
    loaded = _again(case.model, tmp_path)
    assert json.loads(model_to_json(loaded)) == json.loads(model_to_json(case.model))
    if hasattr(loaded, "certificate_"):
        report = verify(case.model, case.X, **case.given)
        assert verify(loaded, case.X, **case.given).checks == report.checks


def test_files_keep_to_the_published_schema(case: Case) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from referencing import Registry, Resource

    folder = resources.files("certree") / "schemas"
    schemas = [json.loads((folder / f"{n}.json").read_text()) for n in ("model-1", "tree-2")]
    registry = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas])
    checker = jsonschema.Draft202012Validator(schemas[0], registry=registry)
    checker.check_schema(schemas[0])
    checker.check_schema(schemas[1])
    data = json.loads(model_to_json(case.model))
    checker.validate(data)
    if "tree_" in data["fitted"]:
        del data["fitted"]["tree_"]["tree"]["nodes"]
        assert not checker.is_valid(data)


def test_a_model_without_a_tree_is_saved_with_its_proof(tmp_path: Path) -> None:
    model = FairTreeClassifier("accuracy_parity", 0.5)
    with pytest.warns(UserWarning, match="No tree is within"):
        model.fit([[0]] * 4, [0, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    loaded = _again(model, tmp_path)
    assert loaded.certificate_ == model.certificate_
    with pytest.raises(InfeasibleError):
        loaded.predict([[0]])


def test_functions_are_left_out_with_a_warning_and_can_be_given_back(tmp_path: Path) -> None:
    X, y = [[0], [1], [1]], [0, 1, 0]

    def share(fp: int, fn: int, positives: int, negatives: int) -> float:
        return 1 - (fp + fn) / (positives + negatives)

    model = OptimalTreeClassifier(max_depth=1, objective=share).fit(X, y)
    with pytest.warns(UserWarning, match=r"objective holds function .* left out") as caught:
        loaded = _again(model, tmp_path)
    assert len(caught) == 1
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert isinstance(loaded.objective, Omitted)
    assert "objective=function" in repr(loaded.objective)
    with pytest.raises(ValueError, match="could not hold objective"):
        loaded.fit(X, y)
    assert verify(loaded.set_params(objective=share), X, y)


def test_an_oracle_that_is_a_function_is_not_needed_to_decide(tmp_path: Path) -> None:
    costs = np.array([[1.0, 2.0], [2.0, 1.0]])
    model = SPOTree(lambda c: np.eye(2)[np.argmin(c, axis=1)], max_depth=1).fit([[0], [1]], costs)
    with pytest.warns(UserWarning, match="oracle holds function"):
        loaded = _again(model, tmp_path)
    assert loaded.decide([[0], [1]]).tolist() == model.decide([[0], [1]]).tolist()
    with pytest.raises(AttributeError, match="could not hold oracle_=Function"):
        loaded.loss([[0], [1]], costs)


def test_a_file_of_a_method_that_is_gone_loads_and_decides(tmp_path: Path) -> None:
    costs = np.array([[1.0, 2.0], [2.0, 1.0]])
    model = SPOTree(max_depth=1).fit([[0], [1]], costs)
    model.method = "milp"  # type: ignore[assignment]
    loaded = _again(model, tmp_path)
    assert loaded.decide([[0], [1]]).tolist() == model.decide([[0], [1]]).tolist()
    assert verify(loaded, [[0], [1]], costs)
    with pytest.raises(ValueError, match="method='milp' is not part of certree any more"):
        loaded.fit([[0], [1]], costs)


def test_estimators_may_be_parameters(tmp_path: Path) -> None:
    rows = np.arange(40)[:, None] % 7
    own = PolicyTree(max_depth=1, cv=2, outcome_model=OptimalTreeRegressor(max_depth=1))
    loaded = _again(own.fit(rows, rows[:, 0] % 2, rows[:, 0]), tmp_path)
    assert repr(loaded.outcome_model) == repr(own.outcome_model)
    assert loaded.fit(rows, rows[:, 0] % 2, rows[:, 0]).predict(rows).size == 40
    other = PolicyTree(max_depth=1, cv=2, outcome_model=LinearRegression())
    other.fit(rows, rows[:, 0] % 2, (rows[:, 0] - 3) ** 2)
    with pytest.warns(UserWarning, match="outcome_model holds LinearRegression"):
        loaded = _again(other, tmp_path)
    assert loaded.predict(rows).tolist() == other.predict(rows).tolist()


def test_numbers_and_labels_of_any_type_survive(tmp_path: Path) -> None:
    X = [[1.5], [2.5], [None]]
    for y in (
        [2**53 + 1, 0, 0],
        [True, False, False],
        np.array([1, 2, 2], np.int8),
        ["ä", "'", '"'],
    ):
        loaded = _again(OptimalTreeClassifier(max_depth=2).fit(X, y), tmp_path)
        assert loaded.predict(X).tolist() == np.asarray(y).tolist()
        assert loaded.classes_.dtype == np.asarray(y).dtype


def test_bad_files_are_one_clear_line(tmp_path: Path) -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1])
    data = json.loads(model_to_json(model))
    path = tmp_path / "model.json"
    wrong: list[tuple[Any, str]] = [
        ({**data, "format": 2}, r"has format 2, written by certree .* reads format 1"),
        ({**data, "format": True}, "has format True"),
        ({**data, "type": "certree.Tree"}, "a tree and not a model"),
        ({}, "not a model file: its type is None"),
        ([], "not a model file"),
        ({**data, "estimator": "Popen"}, "Unknown estimator 'Popen'"),
        ({**data, "estimator": "ReadsTables"}, "Unknown estimator"),
        ({**data, "parameters": {}}, "The parameters of OptimalTreeClassifier differ"),
        ({**data, "fitted": {}}, "The model lacks encoder_, n_features_in_"),
        ({**data, "fitted": {**data["fitted"], "predict": 3}}, "no fitted attribute 'predict'"),
        ({**data, "fitted": {**data["fitted"], "tree_": 3}}, "tree_ has the type int"),
        ({**data, "fitted": {**data["fitted"], "n_features_in_": 7}}, "columns of encoder_ differ"),
    ]
    for content, message in wrong:
        path.write_text(json.dumps(content))
        with pytest.raises(ValueError, match=message) as error:
            load(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
    path.write_bytes(pickle.dumps(model))
    with pytest.raises(ValueError, match="not JSON"):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.json")


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        OptimalTreeClassifier().save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_a_place_where_no_file_can_be_is_named(tmp_path: Path) -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1])
    for write in (model.save, certree.report(model).save):
        with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"):
            write(tmp_path)
        with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
            write(tmp_path / "none" / "file")
    assert not list(tmp_path.iterdir())


def test_an_old_file_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text("old")
    model = OptimalTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1])
    model.classes_ = np.array([0, object()], dtype=object)
    with pytest.raises(TypeError):
        model.save(path)
    assert path.read_text() == "old"
    assert certree.load.__doc__
