"""The papers' tables in their quick form on bundled tables, and the harness that makes them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.harness import peers, schedule
from benchmarks.harness.limit_suites import fairness
from benchmarks.harness.metric_suites import f1
from benchmarks.harness.suites import Choice
from benchmarks.harness.task_suites import costs, policy_instances
from benchmarks.papers import branches, experiments, layout, streed
from benchmarks.papers.__main__ import PAPERS, main
from benchmarks.papers.experiments import Experiment, Record, Run, Scope, Table, call_text

OURS = Choice(solvers=("certree",))


@pytest.fixture(autouse=True)
def _no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CERTREE_DATA", raising=False)


def test_all_papers_run_on_bundled_tables(tmp_path: Path) -> None:
    assert main(["--jobs", "1", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "bundled"
    titles = {
        "streed": ["Table 2", "Table 3", "Table 4", "Table 7", "Table 8", "Table 9", "Table 10"],
        "gosdt": ["Figures 2 and 10", "Figures 4, 11 and 12", "Figures 5 and 13", "Figure 17"],
        "nonlinear": ["Table 1", "Table 2"],
        "branches": ["Table 1", "Tables 2 and 4", "Table 5", "Figures 13", "Figures 19"],
        "spo": ["Figure 2", "Figures 3 and 6", "Figure 4"],
    }
    for key, wanted in titles.items():
        text = (folder / f"{key}.md").read_text(encoding="utf-8")
        assert "Failed" not in text
        for title in wanted:
            assert f"### {title}" in text, f"{key}: {title}"
    assert (folder / "streed-f1.png").stat().st_size > 5000


def test_what_is_recorded_is_not_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--only", "branches:bounds", "branches:sparse", "--jobs", "1", "--out", str(tmp_path)]
    main(asked)
    record = tmp_path / "bundled" / "branches.json"
    first = json.loads(record.read_text())["runs"]
    capsys.readouterr()
    main(asked)
    assert "2 runs are in the record already" in capsys.readouterr().err
    assert json.loads(record.read_text())["runs"] == first
    main(["--only", "branches:sparse", *asked[3:], "--fresh"])
    assert "already" not in capsys.readouterr().err
    assert json.loads(record.read_text())["runs"].keys() == first.keys()


def test_a_stopped_run_is_run_again_with_more_time(tmp_path: Path) -> None:
    record = Record(tmp_path / "record.json")
    run = Run("a", partial(_numbers, proven=False), 5.0)
    record.add("a", run.work(5.0), run, 5.0)
    again = Record.open(tmp_path / "record.json")
    assert again.has("a", run)
    assert not again.has("a", Run("a", run.work, 6.0))
    assert not again.has("a", Run("a", partial(_numbers, proven=True), 5.0))
    assert not again.has("b", run)


def _numbers(limit: float, proven: bool = True) -> dict[str, Any]:
    return {"value": limit, "proven": proven}


def _fails(limit: float) -> dict[str, Any]:
    raise ValueError("no rows in /some/where/rows.csv")


def test_a_failure_and_a_missing_file_are_named(tmp_path: Path) -> None:
    table = Table("values", lambda found: (["name"], [[name] for name in found]))
    experiment = Experiment("one", "What is run.", lambda scope: (), (table,))
    paper = experiments.Paper("paper", "A paper", (experiment,))
    record = Record(tmp_path / "paper.json")
    runs = [Run("good", _numbers, 1.0), Run("bad", _fails, 1.0)]
    notes: list[str] = []
    experiments.do_all([(record, f"one: {r.name}", r) for r in runs], 1, notes.append)
    asked = experiments.Asked(["good", "bad", "absent"], ["absent, depth 3", "absent, depth 4"])
    text = experiments.page(paper, record, {"one": asked}, tmp_path)
    assert "| good" in text
    assert "Failed: bad: ValueError: no rows in rows.csv." in text
    assert "Not in the data folder: absent." in text
    assert notes == ["one: bad: ValueError: no rows in rows.csv"]


def test_runs_end_in_other_processes_too(tmp_path: Path) -> None:
    record = Record(tmp_path / "record.json")
    runs = [(record, f"one: {k}", Run(str(k), _numbers, float(k))) for k in (1, 2, 3)]
    experiments.do_all(runs, 2)
    assert {key: of["value"] for key, of in record.runs.items()} == {
        "one: 1": 1.0,
        "one: 2": 2.0,
        "one: 3": 3.0,
    }


def test_calls_are_told_apart_by_their_settings_not_by_the_machine() -> None:
    here, there = (partial(_numbers, Path(folder) / "a.csv", 3) for folder in ("/x", "/y"))
    assert call_text(here) == call_text(there) == "_numbers(a.csv, 3)"
    assert call_text(partial(_numbers, Path("/x/a.csv"), 4)) != call_text(here)


def test_a_wrong_name_is_answered_by_the_right_ones() -> None:
    with pytest.raises(SystemExit, match=r"There is no sreed; .*streed:costs"):
        main(["--only", "sreed"])


def test_every_experiment_with_printed_values_shows_them() -> None:
    assert len(branches.PRINTED) == 32
    assert {branches.PRINTED[f"balance{kind}"].penalty for kind in ("", "-f", "-o")} == {0.005}
    shown = [item.title for paper in PAPERS for e in paper.experiments for item in e.shown]
    assert len(shown) == len(set(shown))


def test_printed_objectives_are_those_of_their_splits() -> None:
    """The one that contradicts itself is the one that the page calls a misprint."""
    wrong = [
        name
        for name, line in branches.PRINTED.items()
        if abs(float(line.accuracy) - line.penalty * line.splits - float(line.value)) > 0.0021
    ]
    assert wrong == ["balance"] == list(branches.REASONS)


def test_a_missing_encoding_is_made_from_the_categories(tmp_path: Path) -> None:
    (tmp_path / "sparse").mkdir()
    (tmp_path / "sparse" / "toy-o.txt").write_text("0 1 0\n1 2 1\n2 1 0\n")
    first = branches.load(tmp_path, "toy-f").columns.tolist()
    assert first == [[0, 0, 0], [1, 0, 1], [0, 1, 0]]
    assert branches.load(tmp_path, "toy-l").columns.tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert branches.source(tmp_path, "toy-f").name == "toy-o.txt"
    assert branches.source(tmp_path, "toy").name == "toy.txt"


def test_theorem_4_4_counts_branches() -> None:
    # Two features and two categories, no depth: the four branches of the root's children.
    assert branches.branches_bound(2, 2, 2, 0.5) == 4
    assert branches.branches_bound(2, 2, 2, 0.25) == 4 + 4 * 2


def test_costs_are_divided_by_all_tests_with_their_discounts() -> None:
    prices = {"price": [10.0, 6.0, 5.0], "discounted": [7.0, 3.0, 5.0], "group": ["a", "a", "2"]}
    setting = {"prices": prices, "matrix": [[0.0, 4.0], [8.0, 0.0]]}
    labels = np.array([0, 0, 0, 1])
    assert streed.standard_cost(setting, labels) == pytest.approx(10 + 3 + 5 + 0.25 * 8)


# The harness ------------------------------------------------------------------------------------


@pytest.fixture
def no_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise AssertionError("peers are not asked for")

    monkeypatch.setattr(peers, "interpreter", refuse)


@pytest.mark.usefixtures("no_peers")
@pytest.mark.parametrize("suite", [fairness, costs, f1])
def test_certree_alone_needs_no_peers_and_solves_the_task(suite: Any) -> None:
    case = next(iter(suite(OURS)))
    assert [entry.label for entry in case.entries] == ["certree"]
    assert case.entries[0].solver != "certree"  # which minimises errors
    rows = schedule.run_case(case, 1, 2**34, in_process=True)
    assert rows[0].failure is None
    if suite is fairness:
        assert rows[0].within
    if suite is costs:
        assert rows[0].cost is not None


def test_a_solver_of_another_suite_is_refused() -> None:
    with pytest.raises(SystemExit, match="'gosdt' cannot solve this suite; use certree or pystr"):
        next(iter(fairness(Choice(solvers=("gosdt",)))))


@pytest.mark.parametrize("prefix", ["", "warfarin_"])
def test_warfarin_files_are_found_by_both_names(
    prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "policy").mkdir()
    for part, rows in (("train", 60), ("test", 40)):
        bits = rng.integers(0, 2, (rows, 4))
        best = bits[:, 0] + bits[:, 1]
        given = rng.integers(0, 3, rows)
        table = np.column_stack(
            [given, given, given == best, np.full(rows, 1 / 3), np.eye(3)[best], best]
        )
        table = np.column_stack([table, np.eye(3)[best], bits])
        np.savetxt(tmp_path / "policy" / f"{prefix}{part}_rf_dt_0.06_0_0.csv", table)
    monkeypatch.setenv("CERTREE_DATA", str(tmp_path))
    assert [i.name for i in policy_instances()] == [f"{prefix}train_rf_dt_0.06_0_0"]
    runs = list(streed.policy_runs(Scope(data=tmp_path)))
    deep = runs[1].work(10.0)
    assert deep["sets"] == 1
    assert deep["correct"] == 1.0
    assert streed.table_6({"depth 2": deep})[1][0][:3] == ["2", "84.6", "100.0"]


def test_the_data_folder_is_laid_out_from_published_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published = tmp_path / "pystreed"
    for place in ("data/classification", "data/prescriptive-policy/warfarin"):
        (published / place).mkdir(parents=True)
    (published / "data/classification/anneal.csv").write_text("0 1\n")
    other = tmp_path / "branches"
    (other / "data/preprocessed").mkdir(parents=True)
    data = tmp_path / "data"
    assert layout.main([str(data), str(published), str(other)]) == 0
    assert (data / "accuracy" / "anneal.csv").read_text() == "0 1\n"
    out = capsys.readouterr().out
    assert "has accuracy, policy, sparse." in out
    assert "continuous (datasets)" in out
    assert layout.main([str(data), str(published)]) == 0  # again changes nothing
    assert layout.main([str(data), str(tmp_path / "nowhere")]) == 2
