"""The command line with models whose leaves hold more than a label, saved by Python."""

from __future__ import annotations

import json
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
    datasets,
    load,
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


FITS = {
    "-t kind,seen": OptimalTreeClassifier(2),
    "-t time -t b --output-weights 2,1": OptimalTreeRegressor(2, output_weights=[2, 1]),
    "-t time --criterion absolute_error": OptimalTreeRegressor(2, criterion="absolute_error"),
    "-t time --quantile 0.9": OptimalTreeRegressor(2, criterion="quantile", quantile=0.9),
    "-t time --criterion poisson": OptimalTreeRegressor(2, criterion="poisson"),
    "-t time --criterion gamma": OptimalTreeRegressor(2, criterion="gamma"),
    "-t time --event seen": SurvivalTree(max_depth=2),
    "-t time,seen --task survival --complexity 0.01": SurvivalTree(max_depth=2, complexity=0.01),
    "-t time --task linear": LinearTreeRegressor(2),
    "-t time --leaf-model ridge --ridge 2 --model-features a,b": LinearTreeRegressor(
        2, leaf_model="ridge", ridge=2.0, model_features=["a", "b"]
    ),
    "--task clusters --n-clusters 3 --features a,b": OptimalTreeClusterer(
        3, max_depth=2, features=["a", "b"]
    ),
    "--task clusters --n-clusters none --scale none": OptimalTreeClusterer(
        None, max_depth=2, scale=None
    ),
}


@pytest.mark.parametrize("arguments", FITS)
def test_fit_writes_the_model_that_python_would_have_fitted(
    arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["people.csv", *arguments.split(), "-d", "2"]
    assert run(["fit", *given]) == 0, capsys.readouterr().err
    capsys.readouterr()
    loaded, wanted = load("model.json"), FITS[arguments]
    parameters = wanted.get_params()
    assert {name: loaded.get_params()[name] for name in parameters} == parameters
    for command in ("verify", "report", "predict"):
        assert run([command, "model.json", "people.csv"]) == 0
    assert run(["show", "model.json"]) == 0
    assert run(["info", "model.json"]) == 0
    assert run(["explain", "model.json", "people.csv"]) == 0
    for form in ("json", "dot", "html", "mermaid", "python", "sql", "c"):
        assert run(["show", "model.json", "-f", form, "-o", "tree.txt"]) == 0
        assert Path("tree.txt").stat().st_size > 50
    assert run(["show", "model.json", "-o", "tree.png"]) == 0
    capsys.readouterr()
    assert run(["path", *given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"][0]["splits"] == 0


@pytest.mark.parametrize("arguments", FITS)
def test_the_size_of_every_tree_is_chosen_by_folds(
    arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["people.csv", *arguments.replace("--complexity 0.01", "").split(), "-d", "2"]
    assert run(["fit", *given, "--cv", "3"]) == 0, capsys.readouterr().err
    assert "Cross-validation with 3 folds chose max_depth=" in capsys.readouterr().out
    loaded, wanted = load("model.json").best_estimator_, FITS[arguments]
    assert type(loaded) is type(wanted)
    for name in ("criterion", "quantile", "output_weights", "leaf_model", "features", "scale"):
        assert getattr(loaded, name, None) == getattr(wanted, name, None)
    for command in ("verify", "report", "predict"):
        assert run([command, "model.json", "people.csv"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit people.csv -t time,b --criterion poisson", "criterion='poisson' takes one"),
        ("fit people.csv -t kind,time", "different kinds: kind (classifier), time (reg"),
        ("fit people.csv -t time --quantile 1.5", "quantile must be"),
        ("fit people.csv -t time --quantile 0.9 --criterion poisson", "quantile=0.9 is for crit"),
        ("fit people.csv -t time --criterion fame", "criterion='fame' is not supp"),
        ("fit people.csv -t kind --leaf-model simple --task classifier", "has no meaning"),
        ("fit people.csv -t time --event a --task linear", "--event is for survival trees"),
        ("front people.csv -t time --event seen", "--event is for survival trees"),
        ("fit people.csv --event kind", "--event goes with the column of times"),
        ("fit people.csv -t time --event kind", "events of y must be numbers"),
        ("fit people.csv -t time --event a", "Events of y must be 0 or 1"),
        ("fit people.csv -t time,a,b --task survival", "needs time and event, got time"),
        ("fit people.csv --task clusters -t kind", "leave the column out with --drop"),
        ("fit people.csv --task clusters --max-splits 2", "--max-splits has no meaning"),
        ("fit people.csv --task clusters --features kind", "needs columns of numbers"),
        ("compare people.csv -t time,b", "compare takes one target"),
        ("fit people.csv -t time,time", "'time' is named twice; name every target once"),
        ("fit people.csv -t time -t time", "'time' is named twice; name every target once"),
        ("front people.csv -t kind,seen", "front takes one target"),
        ("predict model.json people.csv --at 3", "--at needs a survival tree"),
    ],
)
def test_bad_arguments_give_one_line_and_two(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    OptimalTreeClassifier(1).fit(X, KIND).save("model.json")
    assert run(arguments.split()) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("certree: ")
    assert message in errors
    assert errors.count("\n") == 1


def test_a_survival_tree_predicts_shares_at_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fit", "people.csv", "-t", "time", "--event", "seen", "--drop", "kind"]) == 0
    capsys.readouterr()
    assert run(["predict", "model.json", "people.csv", "--at", "2", "--at", "6.5"]) == 0
    header, first, *_ = capsys.readouterr().out.splitlines()
    assert header == "prediction,survival at 2,survival at 6.5"
    model = load("model.json")
    risk, early, late = map(float, first.split(","))
    assert risk == model.predict(X[:1])[0]
    assert [early, late] == [model.predict_survival_function(X[:1])[0](t) for t in (2, 6.5)]


def test_the_guide_shows_what_the_commands_print(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs" / "guide" / "cli.md"
    part = page.read_text(encoding="utf-8").partition("## What leaves hold")[2]
    block = part.partition("```console\n")[2].partition("```")[0]
    heart = datasets.make_heart_failure()
    rows = [
        [*row, time, int(event)]
        for row, (event, time) in zip(heart.data.tolist(), heart.target.tolist(), strict=True)
    ]
    lines = [",".join(map(str, row)) for row in [[*heart.feature_names, "days", "died"], *rows]]
    Path("heart.csv").write_text("\n".join(lines), encoding="utf-8")
    for shown in block.split("$ certree ")[1:]:
        command, _, printed = shown.partition("\n")
        assert run(command.split()) == 0
        assert capsys.readouterr().out == printed
    assert Path("survival.csv").read_text().startswith("prediction,survival at 365,survival at 730")


def test_times_alone_are_taken_as_events_with_a_remark(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fit", "people.csv", "-t", "time", "--task", "survival"]) == 0
    assert "name the column that says so with --event" in capsys.readouterr().err


def test_a_column_whose_name_has_a_comma_is_one_target() -> None:
    Path("comma.csv").write_text('a,"y, EUR"\n' + "\n".join(f"{k},{k % 7}.5" for k in range(9)))
    assert run(["fit", "comma.csv", "-t", "y, EUR"]) == 0
    assert load("model.json").n_outputs_ == 1
    assert run(["verify", "model.json", "comma.csv"]) == 0


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
