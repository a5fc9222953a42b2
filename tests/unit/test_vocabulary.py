"""One vocabulary: parameters and attributes of all estimators, as code, docstrings and docs say."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import certree
from certree import estimators, metrics
from certree.estimators import _settings, _vocabulary
from certree.estimators._solve import TaskTree
from certree.estimators._task_tree import BaseTaskTree

PAGE = Path(__file__).parents[2] / "docs" / "api" / "parameters.md"

FUNCTIONS = (
    certree.solve,
    certree.regularization_path,
    certree.pareto_front,
    certree.optimality_gap,
)
ESTIMATORS = [
    one
    for one in (getattr(estimators, name) for name in estimators.__all__)
    if isinstance(one, type) and issubclass(one, BaseEstimator)
]
COLUMNS: dict[str, list[type]] = {
    "classifier": [certree.OptimalTreeClassifier],
    "CV": [certree.OptimalTreeClassifierCV],
    "regressor CV": [certree.OptimalTreeRegressorCV],
    "any CV": [certree.TreeCV],
    "fair": [certree.FairTreeClassifier],
    "task trees": [
        one
        for one in ESTIMATORS
        if issubclass(one, BaseTaskTree)
        and one not in (certree.LinearTreeRegressor, certree.OptimalTreeClusterer)
    ],
    "linear": [certree.LinearTreeRegressor],
    "clusterer": [certree.OptimalTreeClusterer],
    "forest": [certree.SPOForest],
}
SHARED = dict.fromkeys(
    name
    for group in (
        _vocabulary.SizeParameters,
        _vocabulary.ClassParameters,
        _vocabulary.TableParameters,
        _vocabulary.SearchParameters,
        _vocabulary.BudgetParameters,
    )
    for name in inspect.signature(group).parameters
)


def _named(one: Any) -> Any:
    return one.__name__


# ---- the page ----------------------------------------------------------------------------------


def _table(heading: str) -> tuple[list[str], list[dict[str, str]]]:
    """Return the columns of the table below a heading, and its lines."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    columns, rows = cells[0], cells[2:]
    return columns, [dict(zip(columns, row, strict=True)) for row in rows]


def _cell(of: Any, name: str, default: Any) -> str:
    """Return what the page has to say of a parameter."""
    parameter = inspect.signature(of).parameters.get(name)
    if parameter is None:
        return ""
    return "yes" if parameter.default == default else _code(parameter.default)


def _code(value: Any) -> str:
    return "`" + repr(value).replace("'", '"') + "`"


def test_every_estimator_is_in_one_column() -> None:
    placed = [one for column in COLUMNS.values() for one in column]
    assert sorted(map(_named, placed)) == sorted(map(_named, ESTIMATORS))


def test_the_page_lists_the_parameters_of_estimators() -> None:
    columns, rows = _table("Parameters of estimators")
    assert columns == ["Parameter", "Default", "Meaning", *COLUMNS]
    assert [row["Parameter"] for row in rows] == [f"`{name}`" for name in SHARED]
    for row in rows:
        name, default = row["Parameter"].strip("`"), ast.literal_eval(row["Default"].strip("`"))
        declared = inspect.signature(certree.OptimalTreeClassifier).parameters[name].default
        assert default == declared, name
        assert row["Meaning"], name
        for column, members in COLUMNS.items():
            assert {_cell(one, name, default) for one in members} == {row[column]}, (name, column)


def test_the_page_lists_the_parameters_of_functions() -> None:
    columns, rows = _table("Parameters of functions")
    assert columns == ["Parameter", *(f"`{_named(function)}`" for function in FUNCTIONS)]
    assert [row["Parameter"] for row in rows] == [f"`{name}`" for name in SHARED]
    for row in rows:
        name = row["Parameter"].strip("`")
        default = inspect.signature(certree.OptimalTreeClassifier).parameters[name].default
        for function in FUNCTIONS:
            stated = row[f"`{_named(function)}`"]
            assert stated == _cell(function, name, default), (name, _named(function))


def _fitted(one: type) -> set[str]:
    """Return the public attributes that fits leave behind, on request or not."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = pandas.DataFrame(rng.integers(0, 2, (24, 3)), columns=["a", "b", "c"])
    y = (X["a"] ^ (rng.random(24) < 0.1)).to_numpy()
    if not one().__sklearn_tags__().target_tags.single_output:
        y = np.column_stack([y, 1 - y])
    if one().__sklearn_tags__().target_tags.positive_only:
        y = y + 1
    more = {"path": True} if "path" in inspect.signature(one.fit).parameters else {}
    fits = [one().fit(X, y, **more)]
    if one is certree.OptimalTreeClassifier:
        fits.append(one(objective=metrics.ErrorFront()).fit(X, y))
    found = {name for fit in fits for name in dir(fit) if hasattr(fit, name)}
    return {name for name in found if name.endswith("_") and not name.startswith("_")}


@pytest.fixture(scope="module")
def fitted() -> dict[type, set[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {one: _fitted(one) for one in ESTIMATORS}


def test_the_page_lists_the_fitted_attributes(fitted: dict[type, set[str]]) -> None:
    columns, rows = _table("Fitted attributes")
    assert columns == ["Attribute", "Meaning", *COLUMNS]
    for column, members in COLUMNS.items():
        stated = {row["Attribute"].strip("`") for row in rows if row[column] == "yes"}
        common = set.intersection(*(fitted[one] for one in members))
        listed = {row["Attribute"].strip("`") for row in rows}
        assert stated == common & listed, column
        if column == "classifier":
            assert stated == common


# ---- the docstrings ----------------------------------------------------------------------------


def _entries(thing: Any, section: str) -> dict[str, str]:
    """Return the names in a section of a docstring, each with what stands after the colon."""
    text = inspect.getdoc(thing) or ""
    match = re.search(rf"^{section}\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.DOTALL | re.M)
    lines = [line for line in match.group(1).splitlines() if match and re.match(r"\S", line)]
    found = {}
    for line in lines:
        names, _, kind = line.partition(" : ")
        found.update(dict.fromkeys(names.split(", "), kind))
    return found


@pytest.mark.parametrize("thing", [*ESTIMATORS, *FUNCTIONS], ids=_named)
def test_docstrings_list_all_parameters_and_their_defaults(thing: Any) -> None:
    stated = _entries(thing, "Parameters")
    parameters = inspect.signature(thing).parameters
    assert set(stated) == set(parameters)
    for name, kind in stated.items():
        written = re.search(r"default=(.*)$", kind)
        if written:
            assert ast.literal_eval(written.group(1)) == parameters[name].default, name


@pytest.mark.parametrize("one", ESTIMATORS, ids=_named)
def test_docstrings_list_all_fitted_attributes(one: type, fitted: dict[type, set[str]]) -> None:
    assert set(_entries(one, "Attributes")) == fitted[one]


# ---- the code ----------------------------------------------------------------------------------


def test_no_estimator_writes_its_own_constructor() -> None:
    for one in ESTIMATORS:
        assert "__dataclass_fields__" in vars(one), one
        assert set(one().get_params()) == set(inspect.signature(one).parameters)


@pytest.mark.parametrize("one", ESTIMATORS, ids=_named)
def test_parameters_survive_clones_pickles_and_the_text_of_a_model(one: type) -> None:
    given = one(n_jobs=2)
    if "thresholds" in given.get_params(deep=False):
        given.set_params(thresholds=7)
    for other in (
        clone(given),
        pickle.loads(pickle.dumps(given)),
        eval(repr(given), {one.__name__: getattr(certree, one.__name__)}),
    ):
        assert other.get_params() == given.get_params()
    assert repr(one()) == f"{one.__name__}()"


@pytest.mark.parametrize("one", ESTIMATORS, ids=_named)
def test_own_parameters_are_shown_before_the_shared_ones(one: type) -> None:
    names = [
        name
        for name, parameter in inspect.signature(one).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    shared = [name for name in SHARED if name in names]
    assert names[len(names) - len(shared) :] == shared


@pytest.mark.parametrize(
    "settings, of",
    [
        (_settings.FrontSettings, certree.OptimalTreeClassifier),
        (_settings.PathSettings, certree.OptimalTreeClassifier),
        (_settings.GapSettings, certree.OptimalTreeClassifier),
        (_settings.TaskSettings, TaskTree),
    ],
    ids=lambda one: one.__name__,
)
def test_settings_of_functions_have_the_types_of_parameters(settings: Any, of: Any) -> None:
    declared = inspect.signature(of).parameters
    stated = {name: one.__forward_arg__ for name, one in settings.__annotations__.items()}
    assert {name: declared[name].annotation for name in stated} == stated


def test_functions_refuse_parameters_that_they_do_not_take() -> None:
    with pytest.raises(TypeError, match=r"pareto_front\(\) got .* 'complexity'"):
        certree.pareto_front([[0], [1]], [0, 1], complexity=0.1)  # type: ignore[call-arg]


def test_a_parameter_with_one_value_is_no_parameter() -> None:
    with pytest.raises(TypeError, match="max_splits"):
        certree.OptimalTreeClusterer(max_splits=3)  # type: ignore[call-arg]
    assert certree.OptimalTreeClusterer().max_splits is None
