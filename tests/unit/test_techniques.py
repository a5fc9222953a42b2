"""Techniques of the search are switched off in one way, for every search, and change no optimum."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import certree
from certree import TableEncoder, _core
from certree.engine import Options

ROOT = Path(__file__).resolve().parent.parent.parent


def _table() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(150, 9))
    y = (X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (rng.random(150) < 0.2)
    return X, y.astype(int)


def _fit(**settings: Any) -> Any:
    return certree.OptimalTreeClassifier(**settings).fit(*_table()).certificate_


SEARCHES = {
    "accuracy": lambda: _fit(max_depth=4),
    "sparse": lambda: _fit(max_depth=None, complexity=0.01),
    "f1": lambda: _fit(max_depth=3, objective="f1"),
    "auc": lambda: _fit(max_depth=3, objective="auc"),
    "front": lambda: certree.pareto_front(*_table(), max_depth=3).certificate,
    "fair": lambda: (
        certree.FairTreeClassifier(max_depth=2, tolerance=0.05)
        .fit(*_table(), sensitive_features=_table()[0][:, 3])
        .certificate_
    ),
    "regression": lambda: certree.OptimalTreeRegressor(max_depth=3).fit(*_table()).certificate_,
    "multiway": lambda: _fit(
        max_depth=None, complexity=0.01, splits="multiway", categorical_features="all"
    ),
}


def _answer(certificate: Any) -> Any:
    cost = getattr(certificate, "cost", None)
    return cost if cost is not None else certificate.to_dict()["points"]


def test_all_switches_of_the_core_are_public() -> None:
    assert certree.techniques() == _core.switches()
    assert {"use_table", "use_pair_counts", "use_upper_bounds"} <= set(certree.techniques())


@pytest.mark.parametrize("search", SEARCHES)
def test_no_optimum_depends_on_a_technique(search: str) -> None:
    expected = _answer(SEARCHES[search]())
    with certree.without(*certree.techniques()):
        assert _answer(SEARCHES[search]()) == expected
    for name in ("use_pair_counts", "use_upper_bounds"):
        with certree.without(name):
            assert _answer(SEARCHES[search]()) == expected


@pytest.mark.parametrize("search", ["accuracy", "sparse", "f1", "regression"])
def test_a_search_does_without_what_is_off(search: str) -> None:
    assert SEARCHES[search]().counters["table_hits"] > 0
    with certree.without("use_table"):
        assert SEARCHES[search]().counters["table_hits"] == 0


@pytest.mark.parametrize("search", SEARCHES)
def test_every_door_hears_of_it(search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []
    plain = Options.to_core

    def to_core(self: Options) -> dict[str, Any]:
        given.append(plain(self))
        return given[-1]

    monkeypatch.setattr(Options, "to_core", to_core)
    with certree.without("use_table"):
        SEARCHES[search]()
    assert given
    assert all(options["use_table"] is False for options in given)


def test_upper_bounds_save_work() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = TableEncoder(thresholds=3).fit_transform(X)
    work = {}
    for off in ((), ("use_upper_bounds",)):
        with certree.without(*off):
            found = certree.OptimalTreeClassifier(max_depth=4).fit(X, y).certificate_
        assert found.is_optimal
        work[off] = found.counters["depth_two_evaluations"]
    assert work["use_upper_bounds",] > work[()]


def test_blocks_nest_and_end() -> None:
    assert "use_table" not in Options().to_core()
    with certree.without("use_table"):
        with certree.without("use_nested_sets"):
            inner = Options().to_core()
            assert (inner["use_table"], inner["use_nested_sets"]) == (False, False)
        assert "use_nested_sets" not in Options().to_core()
    with pytest.raises(RuntimeError), certree.without("use_table"):
        raise RuntimeError
    assert "use_table" not in Options().to_core()


def test_a_block_is_of_its_thread_alone() -> None:
    seen: list[dict[str, Any]] = []
    with certree.without("use_table"):
        thread = threading.Thread(target=lambda: seen.append(Options().to_core()))
        thread.start()
        thread.join()
    assert "use_table" not in seen[0]


def test_a_wrong_name_is_named() -> None:
    message = r"'use_tables' is no technique .* mean 'use_table'\?"
    with pytest.raises(ValueError, match=message), certree.without("use_tables"):
        pass


def test_the_ablation_table_covers_every_kind_of_search() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "ablation.py"), "--quick"]
    command += ["--only", "use_table", "use_front_merge", "use_chain_dominance", "use_limit_planes"]
    searches = [
        "front",
        "front, many trees",
        "front, deep",
        "fair",
        "two limits",
        "scarce, no planes",
        "auc",
    ]
    searches += ["regression", "leaf function", "categories", "numbers, many rows", "rare columns"]
    command += ["--searches", *searches]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    lines = [line.split("|")[1].strip(" `") for line in run.stdout.splitlines()[2:]]
    assert lines == ["use_table", "use_front_merge", "use_chain_dominance", "use_limit_planes"]
    for search in searches:
        assert f"{search}:" in run.stderr


def test_the_ablation_shows_what_stopped_searches_reach() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "ablation.py"), "--quick"]
    command += ["--only", "use_greedy_incumbent"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in run.stdout.splitlines()]
    rows = [row for row in cells if row and row[0].startswith("breast cancer")]
    assert [row[2] for row in rows] == ["nothing", "`use_greedy_incumbent`"]
    assert all(float(row[3]) >= float(row[4]) for row in rows)


def test_rare_columns_need_nested_sets() -> None:
    """A child that lacks few rows of its parent is bounded by it, before any sibling is solved."""
    rng = np.random.default_rng(1)
    X = (rng.random((500, 20)) < 0.05).astype(int)
    y = X[:, :8].any(axis=1) ^ (rng.random(500) < 0.1)

    def evaluations() -> tuple[Any, int]:
        model = certree.OptimalTreeClassifier(max_depth=4, verbose=False).fit(X, y)
        counters = model.certificate_.counters
        return model.certificate_.cost, int(counters["depth_two_evaluations"])

    cost, work = evaluations()
    with certree.without("use_nested_sets"):
        same, more = evaluations()
    assert same == cost
    assert more > 1.1 * work


def test_the_bound_on_branches_by_hand() -> None:
    """Four columns of three categories, two classes: 1 / (2 * 0.15) is 3.3, so up to two tests."""
    by_hand = 4 * 3 + 3 * 9 * 4 + 2 * 27 * 6
    assert certree.most_branches(4, 3, 0.15) == by_hand
    # Three classes: (2 / 3) / 0.15 is 4.4, so up to three tests.
    assert certree.most_branches(4, 3, 0.15, n_classes=3) == by_hand + 1 * 81 * 4
    assert certree.most_branches(4, 3, 0.6) == 0
    assert certree.most_branches(2, 2, 1e-9) == 4 + 8


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_the_search_evaluates_fewer_branches_than_the_bound(splits: Any) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (60, 4))
    y = (codes[:, 0] == codes[:, 1]) ^ (rng.random(60) < 0.1)
    model = certree.OptimalTreeClassifier(
        max_depth=None, complexity=0.03, splits=splits, categorical_features="all"
    ).fit(codes.astype(str), y)
    counted = model.certificate_.counters["branches_evaluated"]
    q, c = (4, 3) if splits == "multiway" else (12, 2)
    assert 0 < counted <= certree.most_branches(q, c, 0.03)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 2, 0.1), "n_features must be an integer of at least 1"),
        ((2, 1, 0.1), "n_categories must be an integer of at least 2"),
        ((2, 2, 0), "complexity must be above 0"),
        ((2, 2, 0.1, 1), "n_classes must be an integer of at least 2"),
    ],
)
def test_a_bound_on_nothing_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        certree.most_branches(*arguments)
