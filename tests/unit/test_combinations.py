"""What goes together with what: every objective with every feature, one cell after the other.

A cell is a call. It either gives a proven tree, which `verify` compares with all trees one by one,
or raises one line that names the law or the limit of the search. Which of the two, says the table
of routes, from which tools/combinations_page.py writes docs/guide/combinations.md.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from itertools import combinations_with_replacement, product
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    SurvivalTree,
    metrics,
    oracles,
    solve,
    tasks,
    verify,
)
from certree.fitting import asked as kinds
from certree.fitting.asked import Asked, Objective
from certree.fitting.fit import function_of
from certree.fitting.laws import LAWS
from certree.fitting.plan import ROUTES, plan, refusal_of

ROOT = Path(__file__).parents[2]


def _load_tool() -> ModuleType:
    path = ROOT / "tools" / "combinations_page.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # its records look up the names of their types there
    spec.loader.exec_module(module)
    return module


TOOL = _load_tool()

_rng = np.random.default_rng(4)
N = 14
X = pd.DataFrame(
    {
        "a": _rng.permutation(np.arange(N) % 2),
        "b": _rng.permutation(np.arange(N) % 2),
        "c": _rng.permutation(["red", "green", "blue", "red", "green", "blue", "red"] * 2),
    }
)
Y = ((X["a"] + X["b"] > 1) | (_rng.random(N) < 0.3)).astype(int).to_numpy()
GROUPS = _rng.permutation(np.arange(N) % 2)
COSTS = _rng.integers(0, 9, (N, 2)).astype(float)
TARGET = _rng.integers(0, 20, N).astype(float)
TIMES = np.column_stack([_rng.integers(1, 30, N), _rng.permutation(np.arange(N) % 2)])
MATRIX = [[0, 1], [3, 0]]
PRICES = {"a": 0.5, "b": 0.25, "c": 0.125}
FEW = tasks.Limit("few", {1: 1}, at_most=5)
SOME = tasks.Limit("some", {1: Y}, at_least=2)
OTHER = tasks.RowCosts(COSTS[:, ::-1].copy())
SHARED = {"max_depth": 2}


def _own(state: bool = False) -> Any:
    """Return row costs as an objective by its parts; with a state, splits cost what is new."""
    if not state:
        return tasks.Separable([0, 1], lambda rows, label: COSTS[rows, label].sum())
    return tasks.Separable(
        [0, 1],
        lambda rows, label: COSTS[rows, label].sum(),
        split_cost=lambda rows, test, asked: 0.0 if test in asked else 0.25 * len(rows),
        initial=frozenset(),
        transition=lambda asked, test, answer: asked | {test},
    )


def _other_own(state: bool = False) -> Any:
    split: Any = (lambda rows, test: 0.0) if state else None
    return tasks.Separable(
        [0, 1], lambda rows, label: OTHER.costs[rows, label].sum(), split_cost=split
    )


def _solved(task: Any, y: Any = None, **settings: Any) -> Callable[[], object]:
    """Return a call of `solve`, and the check of its result by trying all trees."""

    def call() -> object:
        found = solve(
            task() if isinstance(task, FunctionType) else task, X, y, **{**SHARED, **settings}
        )
        assert found.certificate.is_optimal
        return verify(found, X, y, exhaustive=True)

    return call


def _fitted(kind: Any, *args: Any, given: Mapping[str, Any] | None = None, **settings: Any) -> Any:
    """Return a fit, and the check of its result by trying all trees."""

    def call() -> object:
        model = kind(**{**SHARED, **settings}).fit(X, *args, **(given or {}))
        assert model.certificate_.is_optimal
        assert model.tree_.n_splits <= settings.get("max_splits", 99)
        if kind is PolicyTree:
            return verify(model, X, model.rewards_, exhaustive=True)
        return verify(model, X, *args, exhaustive=True, **(given or {}))

    return call


def _policy(**settings: Any) -> Callable[[], object]:
    def call() -> object:
        model = PolicyTree(**{**SHARED, **settings}).fit_rewards(X, COSTS)
        assert model.certificate_.is_optimal
        return verify(model, X, COSTS, exhaustive=True)

    return call


def _spo(**settings: Any) -> Callable[[], object]:
    def call() -> object:
        model = SPOTree(oracles.Decisions(np.eye(2)), **{**SHARED, **settings}).fit(X, COSTS)
        assert model.certificate_.is_optimal
        return verify(model, X, COSTS, exhaustive=True)

    return call


def _with_executor(fit: Callable[..., Callable[[], object]]) -> Callable[[], object]:
    def call() -> object:
        with ThreadPoolExecutor(2) as executor:
            return fit(executor=executor)()

    return call


def _lacks(kind: Any, *names: str) -> str:
    """Return the note of a parameter that does not exist, after a look."""
    for name in names:
        assert name not in signature(kind).parameters, (kind, name)
    return "none"


RATES: dict[str, Any] = {
    "constraint": ["demographic_parity", "equal_opportunity"],
    "tolerance": 0.3,
}
GROUPED = {"sensitive_features": GROUPS}
SIZES: dict[str, dict[str, Any]] = {
    "splits": {"max_splits": 2},
    "complexity": {"complexity": 0.01},
    "threads": {"n_jobs": 2},
}


def _sizes(fit: Callable[..., Callable[[], object]]) -> dict[str, Any]:
    cells: dict[str, Any] = {name: fit(**given) for name, given in SIZES.items()}
    cells["executor"] = _with_executor(fit)
    return cells


def _classes(objective: str, task: Any) -> dict[str, Any]:
    """Return the cells of an objective of `OptimalTreeClassifier`; `task` is the same for solve."""

    def fit(**settings: Any) -> Callable[[], object]:
        return _fitted(OptimalTreeClassifier, Y, objective=objective, **settings)

    def fair(**settings: Any) -> Callable[[], object]:
        given = {"tolerance": 0.3, "objective": objective, **settings}
        return _fitted(FairTreeClassifier, Y, given=GROUPED, **given)

    return {
        "prices": _solved(task, Y, test_costs=PRICES),
        "limit": fit(limits=FEW),
        "limits": fit(limits=[FEW, SOME]),
        "front": _solved(lambda: tasks.Front(task, OTHER), Y),
        "fair": fair(),
        "rates": fair(**RATES),
        "multiway": fit(splits="multiway"),
        **_sizes(fit),
    }


def _costs() -> dict[str, Any]:
    def fit(**settings: Any) -> Callable[[], object]:
        return _fitted(CostSensitiveTreeClassifier, Y, cost_matrix=MATRIX, **settings)

    def fair(**settings: Any) -> Callable[[], object]:
        given = {"tolerance": 0.3, "cost_matrix": MATRIX, **settings}
        return _fitted(FairTreeClassifier, Y, given=GROUPED, **given)

    return {
        "prices": fit(test_costs=PRICES),
        "limit": fit(limits=FEW),
        "limits": fit(limits=[FEW, SOME], test_costs=PRICES),
        "front": _solved(lambda: tasks.Front(tasks.CostMatrix(MATRIX), OTHER), Y),
        "fair": fair(),
        "rates": fair(**RATES),
        "multiway": fit(splits="multiway"),
        **_sizes(fit),
    }


def _row_costs() -> dict[str, Any]:
    def fit(**settings: Any) -> Callable[[], object]:
        return _fitted(CostSensitiveTreeClassifier, given={"costs": COSTS}, **settings)

    return {
        "prices": fit(test_costs=PRICES),
        "limit": fit(limits=FEW),
        "limits": fit(limits=[FEW, SOME], test_costs=PRICES),
        "front": _solved(lambda: tasks.Front(tasks.RowCosts(COSTS), OTHER)),
        "fair": _lacks(FairTreeClassifier.fit, "costs"),
        "rates": _lacks(FairTreeClassifier.fit, "costs"),
        "multiway": fit(splits="multiway"),
        **_sizes(fit),
    }


def _policies() -> dict[str, Any]:
    rewards = tasks.Rewards(COSTS)
    return {
        "prices": _solved(rewards, test_costs=PRICES),
        "limit": _policy(capacity={1: 5}),
        "limits": _policy(capacity={1: 5}, treatment_costs={0: 1, 1: 2}, budget=20),
        "front": _solved(lambda: tasks.Front(rewards, OTHER)),
        "fair": _lacks(PolicyTree, "constraint"),
        "rates": _lacks(PolicyTree, "constraint"),
        "multiway": _lacks(PolicyTree, "splits"),
        **_sizes(_policy),
    }


def _leaf_costs(task: Any, y: Any, kind: Any, **own: Any) -> dict[str, Any]:
    """Return the cells of a task whose leaves have no labels."""

    def fit(**settings: Any) -> Callable[[], object]:
        return _fitted(kind, y, **own, **settings)

    return {
        "prices": _solved(task, y, test_costs=PRICES),
        "limit": _solved(lambda: task & FEW, y),
        "limits": _solved(lambda: task & FEW & SOME, y),
        "front": _solved(lambda: tasks.Front(task, OTHER), y),
        "fair": _lacks(kind, "constraint"),
        "rates": _lacks(kind, "constraint"),
        "multiway": _lacks(kind, "splits"),
        **_sizes(fit),
    }


def _decisions() -> dict[str, Any]:
    cells = dict.fromkeys(
        TOOL.FEATURES, _lacks(SPOTree, "test_costs", "limits", "splits", "executor")
    )
    return {**cells, **{name: _spo(**given) for name, given in SIZES.items()}}


def _parts(state: bool) -> dict[str, Any]:
    def own() -> Any:
        return _own(state)

    return {
        "prices": _solved(own, test_costs=PRICES),
        "limit": _solved(lambda: own() & FEW),
        "limits": _solved(lambda: own() & FEW & tasks.Limit("many", {0: 1}, at_most=12)),
        "front": _solved(lambda: own() & _other_own(state)),
        "fair": _lacks(solve, "constraint"),
        "rates": _lacks(solve, "constraint"),
        "splits": _solved(own, max_splits=2),
        "complexity": _solved(own, complexity=0.01),
        "multiway": _lacks(solve, "splits"),
        "threads": _solved(own, n_jobs=2),
        "executor": _lacks(solve, "executor"),
    }


TABLE: dict[str, dict[str, Any]] = {
    "accuracy": _classes("accuracy", tasks.Misclassification()),
    "balanced accuracy": _classes("balanced_accuracy", tasks.Misclassification("balanced")),
    "cost matrix": _costs(),
    "costs of rows": _row_costs(),
    "policy": _policies(),
    "F1": _classes("f1", metrics.F1()),
    "MCC": _classes("mcc", metrics.MCC()),
    "AUC": _classes("auc", metrics.AUC()),
    "squared error": _leaf_costs(tasks.SquaredError(), TARGET, OptimalTreeRegressor),
    "absolute error": _leaf_costs(
        tasks.AbsoluteError(), TARGET, OptimalTreeRegressor, criterion="absolute_error"
    ),
    "survival": _leaf_costs(tasks.SurvivalLoss(), TIMES, SurvivalTree),
    "SPO": _decisions(),
    "objective by its parts": _parts(False),
    "the same with a state": _parts(True),
}


def test_the_calls_are_those_of_the_table() -> None:
    assert list(TABLE) == list(TOOL.ROWS)
    for cells in TABLE.values():
        assert cells.keys() == TOOL.FEATURES.keys()


@pytest.mark.parametrize("feature", TOOL.FEATURES)
@pytest.mark.parametrize("row", TOOL.ROWS)
def test_a_cell_is_proven_or_refused(row: str, feature: str) -> None:
    call, law = TABLE[row][feature], TOOL.law_of(row, feature)
    nobody_asks = TOOL.asked_in(row, feature) is None
    assert (call == "none") is nobody_asks
    if nobody_asks:
        return  # the calls were made after a look at the parameters
    if law is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert call()
        return
    with pytest.raises(ValueError) as error:
        call()
    assert law.matches(str(error.value)), error.value
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: metrics.F1() & FEW, "not a task, a sum over the leaves"),
        (lambda: FEW & metrics.F1(), "not a task, a sum over the leaves"),
        (_fitted(OptimalTreeClassifier, Y, objective="f1", limits=[FEW, FEW]), "different names"),
        (_fitted(OptimalTreeClassifier, Y, objective="f1", capacity={7: 3}), "not a class"),
        (
            _fitted(OptimalTreeClassifier, Y, limits=FEW, splits="multiway"),
            "no law fails, but the proof joins the totals of two subtrees",
        ),
        (
            _fitted(OptimalTreeClassifier, Y, objective="mcc", limits=FEW, max_depth=None),
            "needs max_depth or max_splits",
        ),
        (
            _fitted(FairTreeClassifier, Y, cost_matrix=MATRIX, objective="f1", given=GROUPED),
            "a tree has one objective",
        ),
        (
            _fitted(FairTreeClassifier, Y, cost_matrix=np.ones((3, 3)), given=GROUPED),
            "for 3 classes, but y has 2",
        ),
    ],
)
def test_one_line_says_what_is_wrong(call: Callable[[], object], told: str) -> None:
    with pytest.raises(ValueError, match=told) as error:
        call()
    assert "\n" not in str(error.value)


def test_the_page_is_written_from_the_table_of_routes() -> None:
    """docs/guide/combinations.md is what tools/combinations_page.py writes today."""
    text = TOOL.PAGE.read_text(encoding="utf-8")
    assert TOOL.written(text) == text
    used = {
        law.word
        for row in TOOL.ROWS
        for feature in TOOL.FEATURES
        if (law := TOOL.law_of(row, feature)) is not None
    }
    assert used == set(re.findall(r"^- \*\*(\w+)\*\*:", text, re.MULTILINE))


def test_the_proof_of_every_route_has_a_page() -> None:
    for route in ROUTES:
        if route.proof is not None:
            assert (ROOT / "docs" / "theory" / f"{route.proof}.md").is_file()


def test_every_route_has_a_function() -> None:
    for route in ROUTES:
        assert signature(function_of(route)).parameters.keys() == {"request"}


@pytest.mark.parametrize(
    ("model", "y", "has_path"),
    [
        (OptimalTreeClassifier(None), Y, True),
        (OptimalTreeClassifier(2, objective="f1"), Y, False),
        (OptimalTreeClassifier(2, limits=[FEW]), Y, False),
        (OptimalTreeClassifier(2, splits="both", complexity_per="leaf"), Y, False),
        (CostSensitiveTreeClassifier(MATRIX, max_depth=2), Y, True),
        (CostSensitiveTreeClassifier(MATRIX, splits="both", complexity_per="leaf"), Y, False),
        (CostSensitiveTreeClassifier(MATRIX, max_depth=2, limits=[FEW]), Y, False),
        (FairTreeClassifier(max_depth=2), Y, False),
        (SPOTree(max_depth=2), COSTS, True),
        (SPOTree(method="greedy", max_depth=2), COSTS, False),
    ],
)
def test_sizes_are_chosen_by_a_path_where_the_table_has_one(
    model: Any, y: Any, has_path: bool
) -> None:
    request = model._path_request(X, y)
    assert (request is not None) is has_path
    assert request is None or request.path


def test_the_first_law_that_forbids_gives_the_text() -> None:
    both = Asked(
        "OptimalTreeClassifier",
        Objective("chain", "roc_auc"),
        {"limits": [FEW], "splits": "multiway", "max_depth": 2},
    )
    broken = [law for law in LAWS if law.broken_by(both) is not None]
    assert [law.word for law in broken] == ["pairs", "area", "fronts"]
    with pytest.raises(ValueError, match="limits needs splits='binary', got splits='multiway'"):
        plan(both)


KINDS = (
    *(kinds.ERRORS, kinds.COSTS, kinds.LEAVES, *kinds.METRICS),
    *(kinds.DECISIONS, kinds.SEVERAL, kinds.PARTS),
)
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"max_depth": 2},
    {"max_depth": 2, "complexity": 1, "complexity_per": "leaf"},
    {"max_depth": 2, "complexity": 2},
    {"method": "greedy"},
    {"sizes": [3]},
)
ASKED_BESIDE: dict[str, Any] = {
    **dict.fromkeys(("limits", "capacity", "test_costs", "class_weight", "cost_matrix"), (1,)),
    **dict.fromkeys(("treatment_costs", "budget", "min_treated", "max_leaf_nodes"), 3),
    **dict.fromkeys(("path", "prune", "cross_validation", "auto_complexities"), True),
    **dict.fromkeys(("fairness_curve", "fairness_report", "optimality_gap"), True),
    **dict.fromkeys(("sensitive_features", "sensitive_columns", "constraint"), "group"),
    **dict.fromkeys(("warm_start_tree", "task", "second_objective", "callback"), "one"),
    **dict.fromkeys(("sample_weight", "costs", "validation_fraction", "criterion"), "some"),
    "gap": 1,
    "complexity": 1,
    "max_splits": 7,
    "splits": "multiway",
    "executor": "pool",
    "search": "best-first",
    "reduced": "squares",
    "quantile": 0.9,
    "output_weights": (1, 2),
    "leaf_model": "simple",
    "method": "milp",
    "category_tests": "subsets",
    "supported_only": True,
    "per_splits": True,
    "objective": "f1",
    "sizes": "all",
    "complexities": [0.1],
}


def test_no_law_is_hidden_behind_another() -> None:
    """Some question reaches every text: no lines before it forbid all that it forbids."""
    reached = set()
    for kind, settings in product(KINDS, SETTINGS):
        objective = Objective(kind, "balanced_accuracy" if kind == kinds.ERRORS else kind)
        for names in combinations_with_replacement(ASKED_BESIDE, 2):
            given = {**settings, **{name: ASKED_BESIDE[name] for name in names}}
            for n_outputs in (1, 2) if kind in (kinds.ERRORS, kinds.LEAVES) else (1,):
                refusal = refusal_of(Asked("Someone", objective, given, n_outputs))
                reached |= set() if refusal is None else {LAWS.index(refusal[0])}
    hidden = [law.message for number, law in enumerate(LAWS) if number not in reached]
    assert not hidden
