"""What is nearly a table is refused in one line that says what to pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certree
from certree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    PolicyTree,
    solve,
    tasks,
    verify,
)
from certree.encoding import TableEncoder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = RNG.integers(0, 2, 60)
MODEL = OptimalTreeClassifier(max_depth=1).fit(X, Y)

USES: dict[str, Callable[[Any], Any]] = {
    "classifier": lambda given: OptimalTreeClassifier().fit(given, Y),
    "regressor": lambda given: OptimalTreeRegressor().fit(given, Y),
    "clusterer": lambda given: OptimalTreeClusterer(2).fit(given),
    "cross-validation": lambda given: OptimalTreeClassifierCV().fit(given, Y),
    "policy": lambda given: PolicyTree().fit(given, Y, X[:, 0]),
    "solve": lambda given: solve(tasks.Misclassification(), given, Y, max_depth=1),
    "encoder": lambda given: TableEncoder().fit(given),
    "predict": MODEL.predict,
    "explain": MODEL.explain,
    "verify": lambda given: verify(MODEL, given, Y),
    "gap": lambda given: certree.optimality_gap(MODEL, given, Y),
}


def _dicts() -> Any:
    return [{"a": float(a), "b": float(b)} for a, b in X]


def _lazy() -> Any:
    return pytest.importorskip("polars").LazyFrame({"a": X[:, 0], "b": X[:, 1]})


def _levels() -> Any:
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", 1)]))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    "make, advice",
    [
        (_dicts, r"pass pandas.DataFrame\(X\)"),
        (_lazy, r"X is a polars LazyFrame, which holds no data yet; call .collect\(\)"),
        (_levels, r"names of 2 levels, such as \('a', 'x'\).*X.columns = "),
    ],
    ids=["dicts", "lazy", "levels"],
)
def test_one_line_says_what_to_pass(use: str, make: Callable[[], Any], advice: str) -> None:
    with pytest.raises((TypeError, ValueError), match=advice) as caught:
        USES[use](make())
    assert "\n" not in str(caught.value)


def test_the_advice_for_columns_of_several_levels_works() -> None:
    frame = _levels()
    frame.columns = ["_".join(map(str, name)) for name in frame.columns]
    model = OptimalTreeClassifier(max_depth=1).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a_x", "b_1"]


def test_a_target_without_data_is_refused() -> None:
    pl = pytest.importorskip("polars")
    lazy = pl.LazyFrame({"y": Y})
    for model in (OptimalTreeClassifier(), OptimalTreeRegressor()):
        with pytest.raises(TypeError, match=r"y is a polars LazyFrame.*call .collect\(\)"):
            model.fit(X, lazy)


def test_an_iterator_is_refused() -> None:
    with pytest.raises(TypeError, match=r"an iterator of type generator.*pass list\(X\)"):
        OptimalTreeClassifier().fit((row for row in X), Y)


# ---- policies ------------------------------------------------------------------------------------

OUTCOME = X[:, 0]


@pytest.mark.parametrize(
    "treatment, outcome, message",
    [
        (OUTCOME, Y, "treatment holds numbers that are not whole, as if they were swapped"),
        ((100 * OUTCOME).astype(int), Y, r"treatment has \d+ different numbers in 60 rows, and"),
        (Y, np.where(Y, "drug", "none"), "outcome holds texts, and treatment holds numbers"),
    ],
)
def test_swapped_arguments_of_a_policy_are_named(
    treatment: Any, outcome: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        PolicyTree(max_depth=1).fit(X, treatment, outcome)
    assert "fit(X, treatment=..., outcome=...)" in str(caught.value)


def test_a_table_in_place_of_treatments_is_named() -> None:
    with pytest.raises(ValueError, match=r"got shape \(60, 2\); the table comes first"):
        PolicyTree(max_depth=1).fit(Y, X, OUTCOME)


@pytest.mark.parametrize("treatment", [Y, Y.astype(float), np.where(Y, "drug", "none"), Y == 1])
def test_treatments_in_their_place_are_taken(treatment: Any) -> None:
    PolicyTree(max_depth=1, cv=2).fit(X, treatment, OUTCOME)
    PolicyTree(max_depth=1, cv=2).fit(X, treatment, Y)


@pytest.mark.parametrize("use", sorted(set(USES) - {"verify"}))
@pytest.mark.parametrize("name", ["loans.csv", b"loans.csv", Path("loans.csv")])
def test_the_name_of_a_file_is_no_table(use: str, name: Any) -> None:
    """The letters of the name were counted as rows; `verify` reads files."""
    with pytest.raises(TypeError, match=r"must be a table, got .*loans\.csv.*read a file first"):
        USES[use](name)
