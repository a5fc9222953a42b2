"""The command line names its own options, where Python names parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("typer")
from certree.cli._run import run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"code {i},{i % 5},{'ab'[i % 2]}" for i in range(100)]
    Path("codes.csv").write_text("\n".join(["code,x,y", *rows]), encoding="utf-8")


def test_options_of_other_packages_lead_to_those_of_certree(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["fit", "codes.csv", "-t", "y", "--ccp-alpha", "0.1"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "--ccp-alpha; certree calls it --complexity, the penalty" in told


def test_a_warning_says_which_option_keeps_identifiers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fit", "codes.csv", "-t", "y", "-d", "1"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "left out; --identifiers keep keeps it" in told


def test_a_hint_names_options_and_not_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{i % 7},{'sick' if i % 25 == 0 else 'well'}" for i in range(200)]
    Path("rare.csv").write_text("\n".join(["x,y", *rows]), encoding="utf-8")
    assert run(["fit", "rare.csv", "-t", "y", "-d", "1"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "--objective auc ranks rows by their risk" in told
    assert "--objective balanced_accuracy counts all classes alike" in told
    assert "objective='" not in told
