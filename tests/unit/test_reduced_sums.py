"""Reduced tables: memory, several targets, and prices and limits checked by sums over leaves."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    Reduced,
    SurvivalTree,
    reduce,
    tasks,
    verify,
)

pytest.importorskip("ibis")
duckdb = pytest.importorskip("duckdb")

NAMES = ["a", "b", "c", "d"]


def _frame(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 2, (n, len(NAMES))), columns=NAMES)
    noise = rng.random(n) < 0.2
    frame["y"] = np.where((frame.a & frame.b) ^ noise, "ill", "well")
    frame["none"], frame["drug"] = rng.integers(0, 9, n), 3 * frame.c + rng.integers(0, 9, n)
    return frame


def test_packed_rows_take_bits_and_are_read_in_batches() -> None:
    n, columns = 100_000, 20
    numbers = ", ".join(f"hash(range * {i + 3}) % 5000 / 8.0 AS c{i}" for i in range(columns))
    rows = duckdb.sql(f"SELECT {numbers}, range % 2 AS y FROM range({n})")
    tracemalloc.start()
    try:
        reduced = reduce(rows, target="y", form="rows", thresholds=4)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 8 * reduced.nbytes < 4 * n * columns
    # As numbers, the cells alone take 16 MB.
    assert peak < n * columns * 8 / 3


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (OptimalTreeClassifier(2), ["y", "none"]),
        (OptimalTreeRegressor(2, min_samples_leaf=30), ["none", "drug"]),
        (OptimalTreeRegressor(2, output_weights=[1, 3]), ["none", "drug"]),
        (SurvivalTree(2, min_samples_leaf=20), ["drug", "none"]),
    ],
    ids=["classes", "numbers", "weights", "survival"],
)
def test_several_targets_are_those_of_the_rows(
    model: Any, target: list[str], tmp_path: Path
) -> None:
    frame = _frame().assign(weight=1 + np.arange(400) % 3)
    if isinstance(model, SurvivalTree):
        frame = frame.assign(none=frame.none > 3, drug=frame.drug + 1)
    reduce(frame, features=NAMES, target=target, sample_weight="weight").to_parquet(
        tmp_path / "groups.parquet"
    )
    reduced = Reduced.from_parquet(tmp_path / "groups.parquet")
    assert reduced.n_groups < len(frame)
    found = clone(model).fit_reduced(reduced)
    expected = clone(model).fit(frame[NAMES], frame[target], frame.weight)
    assert found.certificate_.cost == expected.certificate_.cost
    assert found.certificate_.n_rows == len(frame)
    assert found.to_text() == expected.to_text()
    assert verify(found, frame[NAMES], frame[target], frame.weight)
    with pytest.raises(ValueError, match="pass the rows"):
        verify(found, reduced)


def test_targets_that_cannot_be_kept_are_refused() -> None:
    frame = _frame(1200).assign(many=np.arange(1200.0))
    with pytest.raises(ValueError, match="target column 'many' has more than 1000 different"):
        reduce(frame, features=NAMES, target=["many", "drug"])
    with pytest.raises(ValueError, match="target_kind='numbers' adds up one target"):
        reduce(frame, features=NAMES, target=["none", "drug"], target_kind="numbers")
    with pytest.raises(TypeError, match="one column, or several different ones"):
        reduce(frame, features=NAMES, target=["none", "none"])
    with pytest.raises(ValueError, match="target names the column 'zz'"):
        reduce(frame, features=NAMES, target=["none", "zz"])


def _tampered(model: Any, **fields: Any) -> Any:
    """Return the model with a certificate that says something else."""
    other = type(model)(**model.get_params(deep=False))
    vars(other).update(vars(model))
    other.certificate_ = replace(model.certificate_, **fields)
    return other


PRICES = {"a": 0.01, "b": 0.02}


@pytest.mark.parametrize("more", [{}, {"capacity": {"ill": 120}}], ids=["free", "capacity"])
def test_prices_of_tests_are_added_up(more: dict[str, Any]) -> None:
    frame = _frame()
    model = CostSensitiveTreeClassifier(max_depth=2, test_costs=PRICES, **more)
    reduced = reduce(frame, features=NAMES, target="y")
    model.fit_reduced(reduced)
    assert model.certificate_.test_cost > 0
    in_memory = CostSensitiveTreeClassifier(max_depth=2, test_costs=PRICES, **more)
    assert in_memory.fit(frame[NAMES], frame.y).certificate_.cost == model.certificate_.cost
    for given in ((reduced,), (duckdb.from_df(frame), "y")):
        report = verify(model, *given)
        assert report.cost == model.certificate_.cost
        assert any("prices of all tests" in check for check in report.checks)
    model.test_costs = {**PRICES, "a": 0.07}
    with pytest.raises(CertificateError, match="test cost: certified"):
        verify(model, reduced)


def test_capacities_are_counted() -> None:
    frame = _frame()
    reduced = reduce(frame, features=NAMES, target="y")
    model = CostSensitiveTreeClassifier(
        [[0, 5], [1, 0]], max_depth=3, capacity={"ill": 90}, min_samples_leaf=15
    ).fit_reduced(reduced)
    (limit,) = model.certificate_.limits
    assert 0 < limit.value <= 90
    for given in ((reduced,), (duckdb.from_df(frame), "y")):
        report = verify(model, *given)
        assert any("totals of all limits" in check for check in report.checks)
    false = _tampered(model, limits=(replace(limit, value=limit.value - 1),))
    with pytest.raises(CertificateError, match="total of 'class ill': certified"):
        verify(false, reduced)
    smaller = _tampered(model)
    smaller.capacity = {"ill": int(limit.value) - 1}
    with pytest.raises(CertificateError, match="limits: certified"):
        verify(smaller, reduced)
    low = _tampered(model, min_samples_leaf=200)
    with pytest.raises(CertificateError, match="fewer than min_samples_leaf=200"):
        verify(low, reduced)


def test_a_budget_of_treatments_is_added_up() -> None:
    frame = _frame()
    reduced = reduce(frame, features=NAMES, costs=["none", "drug"])
    model = PolicyTree(max_depth=2, treatment_costs={1: 2}, budget=250).fit_reduced(reduced)
    assert 0 < model.certificate_.limits[0].value <= 250
    assert verify(model, reduced)
    assert verify(model, duckdb.from_df(frame), costs=["none", "drug"])


def test_limits_of_single_rows_are_refused() -> None:
    frame = _frame()
    reduced = reduce(frame, features=NAMES, target="y")
    limit = tasks.Limit("beds", {"ill": 1}, at_most=90)
    model = CostSensitiveTreeClassifier(max_depth=2, limits=limit).fit_reduced(reduced)
    with pytest.raises(ValueError, match=r"limits may speak of single rows.*pass the rows"):
        verify(model, reduced)


def test_a_reduced_table_has_its_own_target() -> None:
    frame = _frame()
    reduced = reduce(frame, features=NAMES, target="y")
    model = OptimalTreeClassifier(max_depth=2).fit_reduced(reduced)
    assert verify(model, reduced)
    for name, value in {"y": frame.y, "sample_weight": np.ones(len(frame))}.items():
        with pytest.raises(TypeError, match=f"has its own {name}; call verify"):
            verify(model, reduced, **{name: value})
