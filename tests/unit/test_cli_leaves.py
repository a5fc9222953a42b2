"""The command line with models whose leaves hold more than a label, saved by Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certree import (
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    SurvivalTree,
)
from certree.encoding._named import NamedArray

pytest.importorskip("typer")
from certree.cli._run import run

X = NamedArray(np.random.default_rng(0).integers(0, 9, (40, 2)).astype(float), ["a", "b"])
KIND, SEEN = np.where(X[:, 0] > 4, "ill", "well"), np.asarray(X[:, 1] > 3)
TIME = np.asarray(1 + X[:, 0] + X[:, 1] / 2)
LABELS = NamedArray(np.array([KIND, SEEN.astype(int)], dtype=object).T, ["kind", "seen"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{a},{b},{k},{s:d},{t}" for (a, b), k, s, t in zip(X, KIND, SEEN, TIME, strict=True)]
    Path("people.csv").write_text("\n".join(["a,b,kind,seen,time", *rows]), encoding="utf-8")


@pytest.mark.parametrize(
    ("model", "y", "target"),
    [
        (OptimalTreeClassifier(2), LABELS, ["-t", "kind,seen"]),
        (OptimalTreeRegressor(2), np.column_stack([TIME, SEEN]), ["-t", "time,seen"]),
        (OptimalTreeRegressor(2, criterion="absolute_error"), TIME, ["-t", "time"]),
        (SurvivalTree(max_depth=1), np.column_stack([TIME, SEEN]), ["-t", "time, seen"]),
        (OptimalTreeClusterer(3), None, []),
        (LinearTreeRegressor(1), TIME, ["-t", "time"]),
    ],
    ids=["classes", "numbers", "median", "survival", "clusters", "lines"],
)
def test_models_are_verified_and_reported(model: Any, y: Any, target: list[str]) -> None:
    model.fit(X, y).save("model.json")
    assert run(["verify", "model.json", "people.csv", *target]) == 0
    assert run(["report", "model.json", "people.csv", *target]) == 0
    assert run(["predict", "model.json", "people.csv"]) == 0


def test_every_output_has_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    model = OptimalTreeClassifier(2).fit(X, LABELS)
    model.save("model.json")
    assert run(["predict", "model.json", "people.csv", "--proba"]) == 0
    header, first, *_ = capsys.readouterr().out.splitlines()
    assert header.startswith("prediction of kind,prediction of seen,share of kind ill,")
    assert first.split(",")[:2] == [str(label) for label in model.predict(X[:1])[0]]


def test_what_is_wanted_must_be_a_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    for model, message in (
        (OptimalTreeClassifier(2).fit(X, LABELS), "--wanted needs a model with one output"),
        (LinearTreeRegressor(1).fit(X, TIME), "--wanted ill: the model predicts numbers"),
    ):
        model.save("model.json")
        assert run(["explain", "model.json", "people.csv", "--wanted", "ill"]) == 2
        assert message in capsys.readouterr().err
