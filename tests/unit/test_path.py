"""The regularization path: entries, break-points, and how they are shown."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from certree import (
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    RegularizationPath,
    Tree,
    datasets,
    regularization_path,
)
from certree.results._path import PathEntry

mpl.use("Agg")


def table(seed: int = 0, n_rows: int = 120, n_columns: int = 7) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_columns))
    noise = rng.random(n_rows) < 0.25
    return X, np.where(noise, rng.integers(0, 2, n_rows), X[:, 0] ^ (X[:, 1] & X[:, 2]))


@pytest.fixture(scope="module")
def path() -> RegularizationPath:
    return regularization_path(*table(), max_depth=4)


def leaf() -> Tree:
    return Tree([], [-1], [-1], [0], counts=[[1, 1]], classes=["a", "b"], n_features=1)


def curve(*points: tuple[int, Any]) -> RegularizationPath:
    entries = [
        PathEntry(k, errors, errors, 1 - float(errors) / 100, leaf()) for k, errors in points
    ]
    return RegularizationPath(entries, total_weight=100)


# ---- the entries are the single solves -----------------------------------------------------------


@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 3},
        {"max_depth": 4, "max_splits": 9},
        {"max_depth": None, "max_splits": 5},
        {"max_depth": 3, "min_samples_leaf": 8},
        {"max_depth": 3, "class_weight": {0: 1, 1: 2.5}},
        {"max_depth": 3, "objective": "balanced_accuracy"},
    ],
)
def test_every_max_splits_is_answered(limits: dict[str, Any]) -> None:
    X, y = table(1)
    found = regularization_path(X, y, **limits)
    assert found.status == "optimal"
    most = limits.get("max_splits", 7)
    for k in range(most + 1):
        model = OptimalTreeClassifier(**{**limits, "max_splits": k}).fit(X, y)
        tree = found.best(max_splits=k)
        entry = next(e for e in found if e.tree == tree)
        assert entry.errors == entry.lower_bound == model.certificate_.cost
        assert tree.n_splits == entry.splits == model.tree_.n_splits


@pytest.mark.parametrize("weights", [None, "integers", "decimals", "reals"])
def test_errors_are_those_of_the_trees(weights: str | None) -> None:
    X, y = table(2)
    rng = np.random.default_rng(3)
    given = {
        "integers": rng.integers(0, 4, len(y)),
        "decimals": rng.integers(1, 9, len(y)) / 4,
        "reals": rng.random(len(y)),
    }.get(weights or "")
    found = regularization_path(X, y, max_depth=3, sample_weight=given)
    w = np.ones(len(y)) if given is None else given
    for entry in found:
        errors = w[entry.tree.predict(X) != y].sum()
        assert float(entry.errors) == pytest.approx(errors, rel=1e-5)
        assert entry.accuracy == pytest.approx(1 - errors / w.sum(), rel=1e-5)
    single = OptimalTreeClassifier(max_depth=3).fit(X, y, given).certificate_
    assert found[-1].errors == single.cost
    assert found.total_weight == single.total_weight


def test_raw_tables_are_welcome() -> None:
    X, y = datasets.load_credit(return_X_y=True)
    found = regularization_path(X, y, max_depth=2)
    assert [entry.splits for entry in found] == [0, 1, 2, 3]
    assert found.best().feature_names == tuple(X.columns)


# ---- break-points --------------------------------------------------------------------------------


def test_break_points_are_exact(path: RegularizationPath) -> None:
    X, y = table()
    assert path.breakpoints()
    for point in path.breakpoints():
        below, above = point * Fraction(999, 1000), point * Fraction(1001, 1000)
        sizes = []
        for complexity in (below, point, above):
            model = OptimalTreeClassifier(max_depth=4, complexity=complexity).fit(X, y)
            entry = path.entry(complexity)
            assert model.tree_.n_splits == entry.splits
            paid = entry.errors + complexity * len(y) * entry.splits
            assert model.certificate_.cost == paid
            sizes.append(entry.splits)
        assert sizes[0] > sizes[1] == sizes[2]


def test_between_break_points_one_tree_is_best(path: RegularizationPath) -> None:
    X, y = table()
    points = [Fraction(0), *path.breakpoints(), Fraction(1)]
    assert points == sorted(points)
    corners = path.hull()[::-1]
    assert len(corners) == len(points) - 1
    for lower, upper, corner in zip(points, points[1:], corners, strict=False):
        middle = (lower + upper) / 2
        assert path.tree(middle) == corner.tree
        assert OptimalTreeClassifier(max_depth=4, complexity=middle).fit(X, y).tree_ == corner.tree


def test_the_hull_leaves_out_what_is_best_nowhere() -> None:
    found = curve((0, 40), (1, 38), (2, 20), (3, 10), (4, 9))
    assert [e.splits for e in found.hull()] == [0, 3, 4]
    assert found.breakpoints() == (Fraction(1, 100), Fraction(1, 10))
    # Three points on a line: the one in the middle is never better than both others.
    assert [e.splits for e in curve((0, 40), (1, 30), (2, 20)).hull()] == [0, 2]
    assert curve((0, Fraction(7, 3))).breakpoints() == ()


def test_complexity_is_read_as_written() -> None:
    found = curve((0, 40), (3, 10))
    assert found.breakpoints() == (Fraction(1, 10),)
    assert [found.entry(c).splits for c in (0.1, "0.1", Fraction(1, 10), 0.0999, 0)] == [
        0,
        0,
        0,
        3,
        3,
    ]
    for bad in (-0.1, 1.5):
        with pytest.raises(ValueError, match="complexity must lie between 0 and 1"):
            found.tree(bad)


def test_best_takes_a_number_of_splits(path: RegularizationPath) -> None:
    assert path.best().n_splits == path[-1].splits
    assert path.best(max_splits=0).n_splits == 0
    assert path.best(10**6) == path.best()
    with pytest.raises(ValueError, match="at least 0"):
        path.best(max_splits=-1)


# ---- on request, by fit --------------------------------------------------------------------------


def test_fit_keeps_the_path_on_request_only(path: RegularizationPath) -> None:
    X, y = table()
    model = OptimalTreeClassifier(max_depth=4)
    with pytest.raises(AttributeError, match=r"fit\(\.\.\., path=True\)"):
        _ = model.path_
    assert not hasattr(model.fit(X, y), "path_")
    model.fit(X, y, path=True)
    assert [(e.splits, e.errors) for e in model.path_] == [(e.splits, e.errors) for e in path]
    assert model.path_.best() == model.tree_
    assert pickle.loads(pickle.dumps(model)).path_.best() == model.tree_
    assert not hasattr(model.fit(X, y), "path_")


# ---- limits and bad input ------------------------------------------------------------------------


def test_a_path_without_end_is_refused() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="path needs max_depth or max_splits"):
        regularization_path(X, y, max_depth=None)
    with pytest.raises(ValueError, match="path needs max_depth or max_splits"):
        OptimalTreeClassifier(max_depth=None, complexity=0.01).fit(X, y, path=True)


def test_parameters_are_checked_as_by_fit() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="max_depth must be an integer of at least 0"):
        regularization_path(X, y, max_depth=-1)
    with pytest.raises(ValueError, match="objective='gini' is not supported"):
        regularization_path(X, y, max_depth=2, objective="gini")
    with pytest.raises(ValueError, match="120 rows, but y has 3"):
        regularization_path(X, y[:3], max_depth=2)


def test_a_path_that_is_stopped_warns_and_has_bounds() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (1500, 60)), rng.integers(0, 2, 1500)
    with pytest.warns(
        OptimalityWarning, match=r"time limit: \d+ of \d+ trees are proven"
    ) as caught:
        found = regularization_path(X, y, max_depth=6, time_limit=0.2)
    assert caught[0].filename == __file__
    assert found.status == "time_limit"
    assert not found.is_optimal
    assert all(entry.lower_bound <= entry.errors for entry in found)
    assert "at least" in str(found)
    found.plot()


def test_a_callback_can_stop_it() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (1500, 60)), rng.integers(0, 2, 1500)
    seen = []

    def stop(progress: Any) -> bool:
        seen.append(progress)
        return True

    with pytest.warns(OptimalityWarning, match="interrupted"):
        found = regularization_path(X, y, max_depth=6, callback=stop)
    assert seen
    assert found.status == "interrupted"


# ---- how it is shown -----------------------------------------------------------------------------


def test_it_is_a_sequence_and_reads_well(path: RegularizationPath) -> None:
    assert len(path) == len(list(path))
    assert path[0].splits == 0
    assert repr(path) == (
        f"RegularizationPath({len(path)} trees, 0 to {path[-1].splits} splits, status='optimal')"
    )
    lines = str(path).splitlines()
    assert lines[0].startswith("Regularization path: proven optimal")
    assert len(lines) == len(path) + 2
    assert sum(" to " in line for line in lines) == len(path.hull())


def test_as_a_dictionary_and_as_a_frame(path: RegularizationPath) -> None:
    values = json.loads(json.dumps(path.to_dict()))
    assert [Fraction(p) for p in values["breakpoints"]] == list(path.breakpoints())
    assert [e["errors"] for e in values["entries"]] == [e.errors for e in path]
    assert Tree.from_dict(values["entries"][-1]["tree"]) == path.best()
    frame = path.to_frame()
    assert frame["splits"].tolist() == [e.splits for e in path]
    assert frame["on_hull"].sum() == len(path.hull())
    largest = frame.loc[frame["on_hull"], "complexity"].tolist()
    assert largest == [1.0, *map(float, reversed(path.breakpoints()))]
    assert frame.loc[~frame["on_hull"], "complexity"].isna().all()


def test_the_plot_marks_the_hull(path: RegularizationPath) -> None:
    ax = path.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("splits", "training error")
    marked = [line for line in ax.lines if line.get_label() == "best for some complexity"]
    assert marked[0].get_xdata().tolist() == [e.splits for e in path.hull()]
    assert path.plot(ax) is ax
    stopped = RegularizationPath(
        [replace(e, lower_bound=0) for e in path], total_weight=120, status="time_limit"
    )
    assert "proven lower bound" in [line.get_label() for line in stopped.plot().lines]


def test_paths_of_other_costs_than_errors_name_them() -> None:
    X, y = table(5, 60, 4)
    path = OptimalTreeRegressor(max_depth=2).fit(X, y, path=True).path_
    frame = path.to_frame()
    assert {"cost", "objective"} < set(frame)
    assert not {"errors", "accuracy"} & set(frame)
    assert frame["cost"].tolist() == [float(e.errors) for e in path]
    assert path.plot().get_ylabel() == "training cost per weight"
    assert "Training cost per weight against the number of splits" in path._repr_html_()


def test_the_history_of_a_search_is_drawn() -> None:
    X, y = table(5, 300, 12)
    certificate = OptimalTreeClassifier(max_depth=None, complexity=0.01).fit(X, y).certificate_
    ax = certificate.plot()
    upper, lower = (line.get_ydata().tolist() for line in ax.lines)
    assert upper == sorted(upper, reverse=True)
    assert lower == sorted(lower)
    assert upper[-1] == lower[-1] == float(certificate.cost)
    assert certificate.plot(ax) is ax


def test_paths_of_costs_do_not_speak_of_errors() -> None:
    model = OptimalTreeRegressor(max_depth=1).fit([[0], [0], [1]], [0.0, 1.0, 5.0], path=True)
    head, first, last = str(model.path_).splitlines()[1:]
    assert "cost" in head
    assert "objective" in head
    assert "errors" not in head
    assert first.endswith("to inf")
    assert last.split()[0] == "1"
