"""A name that certree does not have gives an error with the name that it has."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import certree
from certree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    SPOForest,
    TreeCV,
    estimators,
    oracles,
    regularization_path,
)

X, Y = [[0], [1], [0], [1]], [0, 1, 0, 1]
ESTIMATORS = [
    found
    for name in estimators.__all__
    if inspect.isclass(found := getattr(estimators, name)) and hasattr(found, "get_params")
]

OF_SKLEARN = {
    "ccp_alpha": "certree calls it complexity",
    "min_impurity_decrease": "certree calls it complexity",
    "criterion": "certree calls it objective",
    "min_samples_split": "certree calls it min_samples_leaf",
    "min_weight_fraction_leaf": "certree calls it min_samples_leaf",
    "random_state": "leave it out: the search leaves nothing to chance",
    "splitter": "leave it out: all splits are searched",
    "max_features": "leave it out: all columns are searched",
    "monotonic_cst": "leave it out: certree has no constraints",
}


@pytest.mark.parametrize("name", OF_SKLEARN)
def test_names_of_scikit_learn_lead_to_those_of_certree(name: str) -> None:
    parameter: dict[str, Any] = {name: 1}
    with pytest.raises(
        TypeError, match=f"unexpected keyword argument {name!r}; {OF_SKLEARN[name]}"
    ):
        OptimalTreeClassifier(**parameter)
    with pytest.raises(ValueError, match=f"has no parameter {name!r}; {OF_SKLEARN[name]}"):
        OptimalTreeClassifier().set_params(**parameter)


@pytest.mark.parametrize("theirs", [DecisionTreeClassifier(), DecisionTreeRegressor()])
def test_every_parameter_of_their_trees_is_one_of_ours_or_has_advice(theirs: Any) -> None:
    ours = OptimalTreeClassifier if hasattr(theirs, "class_weight") else OptimalTreeRegressor
    for name in theirs.get_params():
        if name not in ours().get_params():
            with pytest.raises(TypeError, match=r"certree calls it|leave it out"):
                ours(**{name: 1})


@pytest.mark.parametrize(
    "make, name, advice",
    [
        (OptimalTreeClassifier, "max_dept", "did you mean max_depth"),
        (OptimalTreeClassifier, "class_weights", "did you mean class_weight"),
        (OptimalTreeClassifier, "depth_budget", "certree calls it max_depth"),
        (OptimalTreeClassifier, "frobnicate", "its parameters are max_depth, .*verbose"),
        (OptimalTreeRegressor, "loss", "certree calls it criterion"),
        (OptimalTreeRegressor, "objective", "certree calls it criterion"),
        (OptimalTreeRegressor, "scoring", "certree calls it criterion"),
        (OptimalTreeClassifier, "loss", "certree calls it objective"),
        (OptimalTreeClassifier, "depth", "certree calls it max_depth, the most questions on a"),
        (OptimalTreeClassifierCV, "ccp_alpha", "certree calls it complexities"),
        (OptimalTreeClassifierCV, "max_depth", "certree calls it depths"),
        (TreeCV, "max_leaf_nodes", "certree calls it sizes"),
        (SPOForest, "n_estimator", "did you mean n_estimators"),
    ],
)
def test_other_names_get_advice(make: Any, name: str, advice: str) -> None:
    with pytest.raises(TypeError, match=advice):
        make(**{name: 1})


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_constructors_stay_what_scikit_learn_asks_for(cls: Any) -> None:
    given = {"oracle": oracles.TopK(3, 1)} if "oracle" in inspect.signature(cls).parameters else {}
    kinds = {one.kind for one in inspect.signature(cls).parameters.values()}
    assert kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    model = cls(**given)
    assert set(model.get_params(deep=False)) == set(inspect.signature(cls).parameters)
    assert type(clone(model)) is cls
    assert type(pickle.loads(pickle.dumps(model))) is cls
    with pytest.raises(TypeError, match=f"{cls.__name__}.. got an unexpected keyword"):
        cls(nonsense=1)


def test_a_class_of_a_user_has_its_own_constructor() -> None:
    class Mine(OptimalTreeClassifier):
        def __init__(self, max_depth: int = 2, flavour: str = "plain") -> None:
            super().__init__(max_depth)
            self.flavour = flavour

    model = Mine(flavour="spicy")
    assert clone(model).flavour == "spicy"
    assert model.set_params(max_depth=1).fit(X, Y).tree_.depth == 1


def test_a_search_over_parameters_says_it_too() -> None:
    search = GridSearchCV(OptimalTreeClassifier(), {"ccp_alpha": [0.1]}, cv=2)
    with pytest.raises(ValueError, match="certree calls it complexity"):
        search.fit(X, Y)


def test_functions_give_the_same_advice() -> None:
    search: Any = regularization_path
    with pytest.raises(TypeError, match=r"'min_samples_split'; certree calls it min_samples_leaf"):
        search(X, Y, min_samples_split=2)
    with pytest.raises(TypeError, match=r"'random_state'; leave it out"):
        certree.optimality_gap(None, X, Y, random_state=0)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "theirs, ours",
    [
        ("roc_auc", "auc"),
        ("roc_auc_ovr", "auc"),
        ("average_precision", "auc"),
        ("neg_log_loss", "auc"),
        ("f1_macro", "macro_f1"),
        ("f1_weighted", "f1"),
        ("matthews_corrcoef", "mcc"),
        ("recall", "balanced_accuracy"),
        ("gini", "accuracy"),
        ("acuracy", "accuracy"),
        ("balanced accuracy", "balanced_accuracy"),
    ],
)
def test_scorers_of_scikit_learn_lead_to_objectives(theirs: str, ours: str) -> None:
    with pytest.raises(
        ValueError, match=f"'{theirs}' is not supported; .*The nearest is objective='{ours}'"
    ):
        OptimalTreeClassifier(objective=theirs).fit(X, Y)
    OptimalTreeClassifier(max_depth=1, objective=ours).fit(X, Y)


def test_an_objective_like_no_other_lists_all() -> None:
    with pytest.raises(ValueError, match='"accuracy", "balanced_accuracy", "auc"'):
        OptimalTreeClassifier(objective="r2").fit(X, Y)


@pytest.mark.parametrize(
    ("value", "nearest"),
    [
        *(("mse", "squared_error"), ("friedman_mse", "squared_error"), ("mae", "absolute_error")),
        *(("squared_eror", "squared_error"), ("absolute", "absolute_error")),
    ],
)
def test_criteria_of_others_lead_to_the_nearest(value: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"The nearest is criterion='{nearest}'"):
        OptimalTreeRegressor(criterion=value).fit([[0], [1]], [1.0, 2.0])


def test_other_parameters_have_nearest_values_too() -> None:
    with pytest.raises(ValueError, match="The nearest is objective='balanced_accuracy'"):
        OptimalTreeClassifier(objective="balanced").fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="The nearest is search='depth-first'"):
        OptimalTreeClassifier(search="depth_first").fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=r'"best-first"\.$'):
        OptimalTreeClassifier(search="xyz").fit([[0], [1]], [0, 1])
