"""Write the tables of docs/guide/combinations.md from the table of routes.

    python tools/combinations_page.py

Every cell is a question to `certree.fitting.plan`: an objective, and something that is asked beside
it. The first estimator or function that has the parameter asks. A test compares the page with what
this program writes, and goes through the same cells with calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

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
)
from certree.estimators._solve import TaskTree
from certree.fitting.asked import Asked
from certree.fitting.law import Law
from certree.fitting.plan import ROUTES, refusal_of

PAGE = Path(__file__).parent.parent / "docs" / "guide" / "combinations.md"

_LIMIT = tasks.Limit("few", {1: 1}, at_most=5)
_MATRIX = [[0, 1], [3, 0]]
_COSTS = [[0.0, 1.0], [3.0, 0.0]]


@dataclass(frozen=True)
class Feature:
    """A column of the table.

    Attributes
    ----------
    title : str
        Its head.
    given : mapping
        Parameters that ask for it.
    is_task : bool
        Whether `solve` takes it as part of its task, ``task & limit`` or ``Front(task, other)``.
    """

    title: str
    given: Mapping[str, Any]
    is_task: bool = False


FEATURES = {
    "prices": Feature("prices of tests", {"test_costs": {"a": 0.5}}),
    "limit": Feature("a limit", {"limits": [_LIMIT]}, is_task=True),
    "limits": Feature("two limits", {"limits": [_LIMIT, _LIMIT]}, is_task=True),
    "front": Feature("a second objective", {"second_objective": True}, is_task=True),
    "fair": Feature("a fair rate", {"constraint": "demographic_parity"}),
    "rates": Feature("two fair rates", {"constraint": ["demographic_parity", "equal_opportunity"]}),
    "splits": Feature("`max_splits`", {"max_splits": 2}),
    "complexity": Feature("`complexity`", {"complexity": 0.01}),
    "multiway": Feature("multiway tests", {"splits": "multiway"}),
    "threads": Feature("`n_jobs`", {"n_jobs": 2}),
    "executor": Feature("`executor`", {"executor": object()}),
}


def _classes(objective: str, task: Any) -> tuple[Any, ...]:
    """Return who optimises an objective of classes: two estimators, and `solve` with a task."""
    return (
        OptimalTreeClassifier(2, objective=objective),
        FairTreeClassifier(max_depth=2, objective=objective),
        TaskTree(task, max_depth=2),
    )


def _parts() -> tasks.Separable:
    return tasks.Separable([0, 1], lambda rows, label: float(len(rows)))


ROWS: dict[str, tuple[Any, ...]] = {
    "accuracy": _classes("accuracy", tasks.Misclassification()),
    "balanced accuracy": _classes("balanced_accuracy", tasks.Misclassification("balanced")),
    "cost matrix": (
        CostSensitiveTreeClassifier(max_depth=2, cost_matrix=_MATRIX),
        FairTreeClassifier(max_depth=2, cost_matrix=_MATRIX),
        TaskTree(tasks.CostMatrix(_MATRIX), max_depth=2),
    ),
    "costs of rows": (
        CostSensitiveTreeClassifier(max_depth=2),
        TaskTree(tasks.RowCosts(_COSTS), max_depth=2),
    ),
    "policy": (PolicyTree(max_depth=2), TaskTree(tasks.Rewards(_COSTS), max_depth=2)),
    "F1": _classes("f1", metrics.F1()),
    "MCC": _classes("mcc", metrics.MCC()),
    "AUC": _classes("auc", metrics.AUC()),
    "squared error": (OptimalTreeRegressor(2), TaskTree(tasks.SquaredError(), max_depth=2)),
    "absolute error": (
        OptimalTreeRegressor(2, criterion="absolute_error"),
        TaskTree(tasks.AbsoluteError(), max_depth=2),
    ),
    "survival": (SurvivalTree(2), TaskTree(tasks.SurvivalLoss(), max_depth=2)),
    "SPO": (SPOTree(oracles.Decisions([[1, 0], [0, 1]]), max_depth=2),),
    "objective by its parts": (TaskTree(_parts(), max_depth=2),),
    "the same with a state": (TaskTree(_parts(), max_depth=2),),
}
"""Who optimises the objective of each line, in the order in which they are looked at."""


def _takes(model: Any, feature: Feature) -> bool:
    """Return whether an estimator, or `solve`, has the parameters of a feature."""
    is_solve = isinstance(model, TaskTree)
    if is_solve and feature.is_task:
        return True
    known = signature(solve if is_solve else type(model)).parameters
    return all(name in known for name in feature.given)


def asked_in(row: str, feature: str) -> Asked | None:
    """Return what a cell asks; None if nobody has such a parameter."""
    column = FEATURES[feature]
    for model in ROWS[row]:
        if _takes(model, column):
            asked: Asked = model._what_is_asked(**column.given)
            return asked
    return None


def law_of(row: str, feature: str) -> Law | None:
    """Return the law that forbids a cell; None if it has a route, or nobody asks."""
    asked = asked_in(row, feature)
    refusal = None if asked is None else refusal_of(asked)
    return None if refusal is None else refusal[0]


def _cell(row: str, feature: str) -> str:
    if asked_in(row, feature) is None:
        return "·"
    law = law_of(row, feature)
    return "✓" if law is None else law.word


def _table(head: Iterable[str], lines: Iterable[Iterable[str]], marks: str) -> str:
    texts = ["| " + " | ".join(line) + " |" for line in (head, *lines)]
    return "\n".join([texts[0].replace("|  |", "| |"), marks, *texts[1:]])


def combinations_table() -> str:
    """Return the table of objectives and features."""
    lines = ([row, *(_cell(row, feature) for feature in FEATURES)] for row in ROWS)
    head = ["", *(feature.title for feature in FEATURES.values())]
    return _table(head, lines, "|---|" + ":-:|" * len(FEATURES))


def routes_table() -> str:
    """Return the table of searches and proofs."""
    lines = (
        (
            route.answers,
            "none" if route.proof is None else f"[{route.proof}](../theory/{route.proof}.md)",
        )
        for route in ROUTES
    )
    return _table(("What is asked", "Proof"), lines, "|---|---|")


def written(page: str) -> str:
    """Return the page with the tables of today."""
    for name, table in (("combinations", combinations_table()), ("routes", routes_table())):
        begin, end = f"<!-- table of {name} -->", f"<!-- end of {name} -->"
        parts = re.split(f"({re.escape(begin)}|{re.escape(end)})", page)
        if len(parts) != 5:
            raise ValueError(f"The page needs {begin} and {end}, each once.")
        page = f"{parts[0]}{begin}\n\n{table}\n\n{end}{parts[4]}"
    return page


def main() -> None:
    """Write the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
