"""Which form of the rows every kind of question gets: a column per test, or ranks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    PolicyTree,
    SPOForest,
    SPOTree,
    SurvivalTree,
    metrics,
    oracles,
    pareto_front,
    reduce,
    regularization_path,
    solve,
    tasks,
)
from certree.encoding import TableEncoder
from certree.encoding._row_cells import has_columns

RNG = np.random.default_rng(0)
N = 800
X = RNG.normal(size=(N, 3))
FEW = X[:60]
BITS = (X > 0).astype(int)
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GROUP = np.where(RNG.random(N) < 0.5, "a", "b")
COSTS = RNG.integers(0, 9, (N, 3))
NUMBERS = X[:, 1] + RNG.normal(size=N)
WEIGHTS = RNG.integers(1, 4, N)
TIMES = RNG.integers(1, 50, N)
ALL = {"max_depth": 2, "thresholds": "all"}
LISTED = oracles.Decisions(np.eye(3))


class _ChosenError(Exception):
    """Ends a fit once the form of its rows is chosen."""


def _classifier(**options: Any) -> OptimalTreeClassifier:
    return OptimalTreeClassifier(**{**ALL, **options})


def _with_categories() -> pd.DataFrame:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["d"] = np.where(GROUP == "a", "x", np.where(Y, "y", "z"))
    return frame


def _reduced(**options: Any) -> Any:
    frame = pd.DataFrame(np.round(X, 1), columns=["a", "b", "c"])
    frame["y"] = Y
    reduced = reduce(frame, target="y", thresholds="all")
    return OptimalTreeClassifier(max_depth=2, **options).fit_reduced(reduced)


def _distance(sums: Any) -> Any:
    return np.minimum(sums[:, 0], sums[:, 1])


QUESTIONS: dict[str, tuple[str, Any]] = {
    "a tree": ("ranks", lambda: _classifier().fit(X, Y)),
    "of any depth with a price": (
        "ranks",
        lambda: _classifier(max_depth=None, complexity=0.1).fit(X, Y),
    ),
    "of any size": ("columns", lambda: _classifier(max_depth=None).fit(X, Y)),
    "with few splits": ("ranks", lambda: _classifier(max_depth=None, max_splits=2).fit(X, Y)),
    "with a few rows": ("columns", lambda: _classifier().fit(FEW, Y[:60])),
    "with few cut points": ("columns", lambda: _classifier(thresholds=8).fit(X, Y)),
    "over bits": ("columns", lambda: _classifier().fit(BITS, Y)),
    "deeper": ("ranks", lambda: _classifier(max_depth=4).fit(X, Y)),
    "with large leaves": ("ranks", lambda: _classifier(min_samples_leaf=20).fit(X, Y)),
    "with weights": ("ranks", lambda: _classifier().fit(X, Y, sample_weight=WEIGHTS)),
    "with a tree to start from": (
        "ranks",
        lambda: _classifier().fit(X, Y, warm_start_tree=OptimalTreeClassifier(1).fit(BITS, Y)),
    ),
    "a path": ("ranks", lambda: _classifier().fit(X, Y, path=True)),
    "a path of a function": ("ranks", lambda: regularization_path(X, Y, **ALL)),
    "by several processes": (
        "columns",
        lambda: _classifier(executor=ThreadPoolExecutor).fit(X, Y),
    ),
    "over multiway tests": (
        "columns",
        lambda: _classifier(splits="both").fit(_with_categories(), Y),
    ),
    "several outputs": ("ranks", lambda: _classifier().fit(X, np.column_stack([Y, Y[::-1]]))),
    "F1": ("ranks", lambda: _classifier(objective="f1").fit(X, Y)),
    "F1 with a price": ("ranks", lambda: _classifier(objective="f1", complexity=0.01).fit(X, Y)),
    "a metric that is only monotone": (
        "columns",
        lambda: _classifier(objective=metrics.Custom(lambda fp, fn, p, n: -max(fp, fn))).fit(X, Y),
    ),
    "the area under the curve": ("columns", lambda: _classifier(objective="auc").fit(X, Y)),
    "a front of errors": ("columns", lambda: pareto_front(X, Y, **ALL)),
    "a capacity": ("ranks", lambda: _classifier(capacity={1: 100}).fit(X, Y)),
    "F1 within a capacity": (
        "columns",
        lambda: _classifier(objective="f1", capacity={1: 100}).fit(X, Y),
    ),
    "fair rates": (
        "ranks",
        lambda: FairTreeClassifier(**ALL).fit(X, Y, sensitive_features=GROUP),
    ),
    "fair rates and F1": (
        "columns",
        lambda: FairTreeClassifier(**ALL, objective="f1").fit(X, Y, sensitive_features=GROUP),
    ),
    "costs of classes": ("ranks", lambda: CostSensitiveTreeClassifier(**ALL).fit(X, Y)),
    "costs of rows": ("ranks", lambda: solve(tasks.RowCosts(COSTS), X, **ALL)),
    "prices of tests": (
        "columns",
        lambda: CostSensitiveTreeClassifier(**ALL, test_costs=[1, 1, 1]).fit(X, Y),
    ),
    "squared errors": ("ranks", lambda: OptimalTreeRegressor(**ALL).fit(X, NUMBERS)),
    "quantiles of deeper trees": (
        "columns",
        lambda: OptimalTreeRegressor(4, thresholds=100, criterion="absolute_error").fit(X, NUMBERS),
    ),
    "a path of deep trees": (
        "columns",
        lambda: _classifier(max_depth=4, thresholds=60).fit(X, Y, path=True),
    ),
    "deep trees": ("ranks", lambda: _classifier(max_depth=4, thresholds=60).fit(X, Y)),
    "quantiles": (
        "ranks",
        lambda: OptimalTreeRegressor(**ALL, criterion="absolute_error").fit(X, NUMBERS),
    ),
    "a path of squared errors": (
        "ranks",
        lambda: OptimalTreeRegressor(**ALL).fit(X, NUMBERS, path=True),
    ),
    "linear models": ("ranks", lambda: LinearTreeRegressor(**ALL).fit(X, NUMBERS)),
    "survival": (
        "ranks",
        lambda: SurvivalTree(**ALL).fit(X, np.column_stack([TIMES, Y])),
    ),
    "clusters": ("ranks", lambda: OptimalTreeClusterer(**ALL).fit(X)),
    "rewards": ("ranks", lambda: PolicyTree(**ALL).fit_rewards(X, COSTS)),
    "decisions": ("ranks", lambda: SPOTree(LISTED, **ALL).fit(X, COSTS)),
    "decisions with weights": (
        "columns",
        lambda: SPOTree(LISTED, **ALL).fit(X, COSTS, sample_weight=WEIGHTS),
    ),
    "grown decisions": (
        "columns",
        lambda: SPOTree(LISTED, **ALL, method="greedy").fit(X, COSTS),
    ),
    "a forest of decisions": ("columns", lambda: SPOForest(LISTED, **ALL).fit(X, COSTS)),
    "a leaf cost of its own": (
        "columns",
        lambda: solve(tasks.LeafCost(np.eye(2, dtype=int)[Y], _distance), X, **ALL),
    ),
    "a front of costs": (
        "columns",
        lambda: solve(tasks.Front(tasks.RowCosts(COSTS), tasks.RowCosts(COSTS[::-1])), X, **ALL),
    ),
    "groups of rows": ("ranks", lambda: _reduced()),
    "groups of rows with large leaves": ("columns", lambda: _reduced(min_samples_leaf=5)),
    "without memory for columns": (
        "ranks",
        lambda: _classifier(max_depth=4, memory_limit="2MB").fit(X, Y),
    ),
}


@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_form_of_the_rows(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(name: str) -> None:
        encode = getattr(TableEncoder, name)

        def spy(encoder: Any, table: Any, *others: Any) -> Any:
            cells = encode(encoder, table, *others)
            if table is BITS and asked != "over bits":  # for the tree to start from
                return cells
            raise _ChosenError("columns" if has_columns(cells) else "ranks")

        monkeypatch.setattr(TableEncoder, name, spy)

    for name in ("_fit_within", "_answer_within"):
        ends(name)
    form, fit = QUESTIONS[asked]
    with pytest.raises(_ChosenError, match=form):
        fit()
