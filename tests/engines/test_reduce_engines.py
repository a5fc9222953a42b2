"""A tree from groups that an engine makes is the tree from the rows, in every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from certree import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    reduce,
    verify,
)
from certree.encoding import _sources

FEATURES = ["age", "income", "smoker", "city", "admitted"]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning")]


def patients(n_rows: int = 400) -> pd.DataFrame:
    """Return rows with all kinds of columns, in all of which values are missing."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n_rows).astype(float),
            "income": random.normal(3, 1, n_rows).round(2),
            "smoker": random.random(n_rows) < 0.4,
            "city": random.choice(["Bonn", "Ulm", "O'Fallon", 'x"; DROP TABLE t; --'], n_rows),
            "admitted": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(random.integers(0, 300, n_rows), unit="D"),
            "site": random.choice(["north", "south"], n_rows),
            "weight": random.choice([0.0, 0.5, 1.0, 2.25], n_rows),
        }
    )
    frame["admitted"] = frame["admitted"].astype("datetime64[us]")
    risk = (frame["age"] > 50).astype(int) + (frame["income"] > 3.2) + frame["smoker"]
    late = frame["admitted"] > pd.Timestamp("2024-06-01")
    frame["sick"] = np.where(risk + late + random.normal(0, 0.7, n_rows) > 1.5, "yes", "no")
    frame["stay"] = (risk * 2 + random.normal(0, 1, n_rows)).round(1)
    frame["drug"] = (risk + random.normal(0, 1, n_rows)).round(2)
    frame["rest"] = (3 - risk + random.normal(0, 1, n_rows)).round(2)
    for column in ("income", "city", "admitted"):
        frame.loc[random.random(n_rows) < 0.1, column] = None
    return frame


def same_tree(first: Any, second: Any) -> bool:
    """Return whether two trees ask and predict the same."""
    a, b = first.tree_, second.tree_
    structure = [np.array_equal(x, y) for x, y in ((a.test, b.test), (a.label, b.label))]
    return all(structure) and [*map(str, a.tests)] == [*map(str, b.tests)]


def test_classes_weights_and_rates_are_those_of_the_rows(load: Any) -> None:
    frame = patients()
    table = load(frame)
    roles = {"target": "sick", "sample_weight": "weight", "sensitive": "site"}
    reduced = reduce(table, features=FEATURES, thresholds=6, **roles)
    counted = int((frame["weight"] > 0).sum())
    assert reduced.n_rows == counted >= reduced.n_groups
    X, y, weight = frame[FEATURES], frame["sick"], frame["weight"]

    model = OptimalTreeClassifier(max_depth=2).fit_reduced(reduced)
    rows = OptimalTreeClassifier(max_depth=2, thresholds=6).fit(X, y, weight)
    assert list(model.encoder_.tests_) == list(rows.encoder_.tests_)
    assert model.certificate_.cost == rows.certificate_.cost
    assert model.certificate_.lower_bound == rows.certificate_.lower_bound
    assert model.certificate_.n_rows == rows.certificate_.n_rows == counted
    assert same_tree(model, rows)
    assert verify(model, reduced).cost == model.certificate_.cost
    assert verify(model, table, "sick", "weight").cost == model.certificate_.cost
    assert verify(rows, table, "sick", "weight").n_rows == counted

    limits = {"max_depth": 2, "tolerance": 0.05, "min_samples_leaf": 20}
    fair = FairTreeClassifier(**limits).fit_reduced(reduced)
    fair_rows = FairTreeClassifier(**limits, thresholds=6).fit(X, y, frame["site"], weight)
    assert fair.certificate_.cost == fair_rows.certificate_.cost
    assert fair.certificate_.rates == fair_rows.certificate_.rates
    assert verify(fair, table, "sick", "weight", sensitive_features="site")


def test_numbers_and_rewards_are_those_of_the_rows(load: Any) -> None:
    frame = patients()
    table = load(frame)
    X, weight = frame[FEATURES], frame["weight"]
    reduced = reduce(table, features=FEATURES, target="stay", sample_weight="weight", thresholds=6)
    model = OptimalTreeRegressor(max_depth=2).fit_reduced(reduced)
    rows = OptimalTreeRegressor(max_depth=2, thresholds=6).fit(X, frame["stay"], weight)
    slack = model.certificate_.rounding + rows.certificate_.rounding
    assert abs(model.certificate_.cost - rows.certificate_.cost) <= slack < 1e-6
    assert same_tree(model, rows)
    assert verify(model, table, "stay", "weight")

    costs = ["drug", "rest"]
    reduced = reduce(table, features=FEATURES, costs=costs, thresholds=6)
    policy = PolicyTree(max_depth=2).fit_reduced(reduced)
    policy_rows = PolicyTree(max_depth=2, thresholds=6).fit_rewards(X, frame[costs])
    assert policy.certificate_.cost == policy_rows.certificate_.cost
    assert policy.certificate_.objective == pytest.approx(policy_rows.certificate_.objective)
    assert same_tree(policy, policy_rows)
    assert verify(policy, table, costs=costs)


def test_many_values_have_the_same_quantiles(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to find cut points of long columns: by bins, and by sorting."""
    monkeypatch.setattr("certree.encoding._columns._MOST_VALUES", 40)
    random = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "even": random.normal(size=300),
            "tail": np.exp(12 * random.random(300)),
            "ties": np.where(random.random(300) < 0.7, 0.0, random.random(300)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(300), unit="D"),
        }
    )
    frame["day"] = frame["day"].astype("datetime64[us]")
    frame["y"] = random.integers(0, 2, 300)
    reduced = reduce(load(frame), target="y", thresholds=5)
    rows = OptimalTreeClassifier(max_depth=1, thresholds=5).fit(frame.drop(columns="y"), frame["y"])
    assert list(reduced.encoder.tests_) == list(rows.encoder_.tests_)


def test_predictions_run_in_the_engine(load: Any) -> None:
    """What `to_sql` writes is what the model predicts, where the table is."""
    frame = patients(60)
    table = load(frame)
    model = OptimalTreeClassifier(max_depth=2).fit_reduced(
        reduce(table, features=["age", "income", "city"], target="sick", thresholds=4)
    )
    backend = table.get_backend()
    case = model.tree_.to_sql(dialect={"pyspark": "spark"}.get(backend.name, backend.name))
    answer = backend.raw_sql(f"SELECT age, {case} AS answer FROM {table.get_name()}")
    lines = answer.collect() if hasattr(answer, "collect") else answer.fetchall()
    found = sorted((line[0], line[1]) for line in lines)
    wanted = model.predict(frame[["age", "income", "city"]]).tolist()
    assert found == sorted(zip(frame["age"].tolist(), wanted, strict=True))


def test_a_server_that_dies_gives_one_error(
    doomed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer comes, then the server is gone: nothing hangs, and nothing is written."""
    load, kill = doomed
    table = load(patients(50))
    calls, stream = 0, _sources._stream_ibis

    def watched(query: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            kill()
        return stream(query)

    monkeypatch.setattr(_sources, "_stream_ibis", watched)
    with pytest.raises(RuntimeError, match=r"engine failed while reading .* Nothing was kept"):
        reduce(table, target="sick").to_parquet(tmp_path / "reduced.parquet")
    assert calls == 2
    assert not list(tmp_path.iterdir())
