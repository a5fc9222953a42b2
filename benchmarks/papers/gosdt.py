"""GOSDT (Lin, Zhong, Hu, Rudin and Seltzer, ICML 2020): sparse trees for many objectives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness.instances import Instance
from benchmarks.harness.suites import Entry
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier, TableEncoder, datasets, metrics

from .branches import generated, load, source
from .experiments import (
    Experiment,
    Figure,
    Found,
    Numbers,
    Paper,
    Run,
    Scope,
    Table,
    number,
    peer_columns,
    percent,
    seconds,
    solve,
    timed,
)

# All of the paper's penalties per leaf, and those of a quick run.
PENALTIES = (
    *(0.2, 0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01, 0.009, 0.008, 0.007, 0.006),
    *(0.005, 0.004, 0.003, 0.002, 0.001),
    *(0.0009, 0.0008, 0.0007, 0.0006, 0.0005, 0.0004, 0.0003, 0.0002, 0.0001),
)
FEW = (0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003)
# The paper's trees of the MONK's problems hold for encodings without the last category.
TABLES = ("monk1-l", "monk2-l", "monk3-l", "tictactoe-f", "careval-f")


def mixed(folder: Path, name: str, thresholds: Any) -> Instance:
    """Read a table of numbers and encode it, with a 0/1 column for each threshold."""
    table = np.loadtxt(folder / "mixed" / f"{name}.csv", delimiter=",", skiprows=1)
    columns = TableEncoder(thresholds=thresholds).fit_transform(table[:, :-1])
    return Instance(name, np.asarray(columns, dtype=np.uint8), table[:, -1].astype(np.int64))


# Objectives --------------------------------------------------------------------------------------

OBJECTIVES: dict[str, Any] = {
    "accuracy": metrics.Accuracy(),
    "balanced accuracy": metrics.BalancedAccuracy(),
    "weighted accuracy, 0.5": metrics.WeightedAccuracy(0.5),
    "F1": metrics.F1(),
    "AUC": metrics.AUC(),
    "partial AUC, 0.1": metrics.PartialAUC(0.1),
}


def roc_runs(scope: Scope) -> Iterator[Run]:
    """Six objectives on points of two classes."""
    tiny = scope.data is None
    for name in list(OBJECTIVES)[: 1 if tiny else None]:
        work = partial(roc, name, 4 if tiny else 40 if scope.full else 16)
        yield Run(name, work, scope.seconds(20, 1800))


def roc(name: str, thresholds: int, limit: float) -> Numbers:
    """Fit one objective with a penalty of 0.01 per leaf; score half of the points held out."""
    points = datasets.make_fourclass()
    train = np.arange(len(points.target)) % 2 == 0
    model = OptimalTreeClassifier(
        max_depth=None if name == "accuracy" else 5,
        complexity=0.01,
        complexity_per="leaf",
        objective=OBJECTIVES[name],
        thresholds=thresholds,
        time_limit=limit,
        verbose=0,
    )
    _, cpu = timed(partial(model.fit, points.data[train], points.target[train]))
    found: Numbers = {
        "leaves": model.tree_.n_leaves,
        "cpu": cpu,
        "proven": bool(model.certificate_.is_optimal),
        "value": float(model.certificate_.objective),
    }
    for part, rows in (("training", train), ("test", ~train)):
        scores = model.predict_proba(points.data[rows])[:, 1]
        found[f"{part} AUC"] = float(roc_auc_score(points.target[rows], scores))
        fpr, tpr, _ = roc_curve(points.target[rows], scores)
        found[f"{part} curve"] = [fpr.tolist(), tpr.tolist()]
    return found


def roc_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Value, size and areas of each objective."""
    header = ["objective", "value minus penalty", "leaves", "training AUC", "test AUC", "CPU s"]
    lines = []
    for name, of in found.items():
        values = [number(of["value"], 4), str(of["leaves"])]
        areas = [number(of["training AUC"]), number(of["test AUC"])]
        lines.append([name, *values, *areas, seconds(of)])
    return header, lines


def roc_figure(found: Found) -> Any:
    """Draw the ROC curves."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), constrained_layout=True)
    for ax, part in zip(axes, ("training", "test"), strict=True):
        for name, of in found.items():
            ax.plot(*of[f"{part} curve"], label=f"{name} / {of[f'{part} AUC']:.3f}", alpha=0.8)
        ax.set(title=part, xlabel="false positive rate", ylabel="true positive rate")
        ax.legend(fontsize=8)
    return figure


# Accuracy against sparsity -----------------------------------------------------------------------


def frontier_runs(scope: Scope) -> Iterator[Run]:
    """Five folds of each table."""
    if scope.data is None:
        work = partial(frontier, partial(generated, "monk1"), (0.2, 0.05), 3, False)
        yield Run("monk1", work, 5.0)
        return
    penalties = PENALTIES if scope.full else FEW
    for name in TABLES:
        work = partial(frontier, partial(load, scope.data, name), penalties, 5, scope.peers)
        yield Run(name, work, scope.seconds(5, 300), source(scope.data, name))
    work = partial(frontier, partial(mixed, scope.data, "compas", 8), penalties, 5, scope.peers)
    yield Run("compas", work, scope.seconds(5, 300), scope.data / "mixed" / "compas.csv")


def frontier(read: Any, penalties: Any, folds: int, peers: bool, limit: float) -> Numbers:
    """Fit every penalty, and CART with every depth, in every fold; late proofs do not count."""
    table = read()
    points: dict[str, list[list[float]]] = {}
    cpu = 0.0
    for train, test in KFold(folds, shuffle=True, random_state=0).split(table.columns):
        parts = [(table.columns[rows], table.labels[rows]) for rows in (train, test)]
        for penalty in penalties:
            model = OptimalTreeClassifier(
                max_depth=None, complexity=penalty, time_limit=limit, verbose=0
            )
            cpu += timed(partial(model.fit, *parts[0]))[1]
            if model.certificate_.is_optimal:
                scores = [float(model.score(*part)) for part in parts]
                points.setdefault(f"certree {penalty}", []).append([model.tree_.n_leaves, *scores])
        for depth in range(1, 7):
            cart = DecisionTreeClassifier(
                max_depth=depth, max_leaf_nodes=2**depth, random_state=0
            ).fit(*parts[0])
            scores = [float(cart.score(*part)) for part in parts]
            points.setdefault(f"CART {depth}", []).append([cart.get_n_leaves(), *scores])
    found = {
        key: {
            "median": np.median(of, axis=0).tolist(),
            "low": np.percentile(of, 25, axis=0).tolist(),
            "high": np.percentile(of, 75, axis=0).tolist(),
            "folds": len(of),
        }
        for key, of in points.items()
    }
    proven = all(of["folds"] == folds for of in found.values())
    beside = dl85(table, limit) if peers else {}
    return {"points": found, "cpu": cpu, "beside": beside, "proven": proven}


def dl85(table: Instance, limit: float) -> Numbers:
    """Run DL8.5 with the paper's depths on all rows."""
    ours = Entry("certree", "certree", 1)
    theirs = (Entry(str(depth), "pydl8.5", depth) for depth in range(1, 7))
    return dict(solve(lambda: table, (ours, *theirs), limit)["peers"])


def frontier_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Medians over the folds; DL8.5, where it runs, on all rows."""
    header = ["data set", "learner", "setting", "folds", "leaves", "training %", "test %"]
    lines = []
    for name, of in found.items():
        for key, point in of["points"].items():
            learner, setting = key.split()
            leaves, training, test = point["median"]
            values = [str(point["folds"]), f"{leaves:g}", percent(training), percent(test)]
            lines.append([name, learner, setting, *values])
        for depth, fit in of["beside"].items():
            if "accuracy" in fit:
                values = ["all rows", str(fit["splits"] + 1), percent(fit["accuracy"]), "-"]
                lines.append([name, "DL8.5", depth, *values])
    return header, lines


def frontier_figure(found: Found) -> Any:
    """Draw medians with quartiles, training above and test below."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        2, len(found), figsize=(3.2 * len(found), 6.2), constrained_layout=True, squeeze=False
    )
    for place, (name, of) in enumerate(found.items()):
        for learner in ("certree", "CART"):
            points = [p for key, p in of["points"].items() if key.startswith(learner)]
            points.sort(key=lambda p: p["median"][0])
            x = [p["median"][0] for p in points]
            for row in (0, 1):
                y = np.array(
                    [[100 * p[q][1 + row] for q in ("low", "median", "high")] for p in points]
                )
                bars = [y[:, 1] - y[:, 0], y[:, 2] - y[:, 1]]
                axes[row, place].errorbar(x, y[:, 1], bars, fmt="o-", capsize=2, label=learner)
        axes[0, place].set(title=name, ylabel="training accuracy, %")
        axes[1, place].set(xlabel="leaves", ylabel="test accuracy, %")
    axes[0, 0].legend()
    return figure


# Scaling -----------------------------------------------------------------------------------------

PER_LEAF = 1 / 32


def scaling_runs(scope: Scope) -> Iterator[Run]:
    """More columns with all rows, and more rows with all columns."""
    if scope.data is None:
        entry = (Entry("certree", "certree", None, PER_LEAF),)
        work = partial(solve, partial(part_of, partial(generated, "monk1"), 8, None), entry)
        yield Run("monk1, 8 columns", work, 5.0)
        return
    tables = {"compas": "all", "coupon_carryout": "all"}
    names = ("certree", "gosdt") if scope.peers else ("certree",)
    entries = tuple(Entry(name, name, None, PER_LEAF) for name in names)
    for name, thresholds in tables.items():
        read = partial(mixed, scope.data, name, thresholds)
        for columns in (10, 20, 40, 60, 80, 100, 120, 160) if scope.full else (10, 20, 40, 80):
            work = partial(solve, partial(part_of, read, columns, None), entries)
            needs = scope.data / "mixed" / f"{name}.csv"
            yield Run(f"{name}, {columns} columns", work, scope.seconds(10, 300), needs)
        for rows in (100, 250, 500, 1000, 2000, 4000, 6900) if scope.full else (100, 500, 2000):
            work = partial(solve, partial(part_of, read, None, rows), entries)
            yield Run(f"{name}, {rows} rows", work, scope.seconds(10, 300), needs)


def part_of(read: Any, columns: int | None, rows: int | None) -> Instance:
    """Take evenly spread columns, in the paper's order, or the first rows of a shuffle."""
    table = read()
    if columns is not None:
        chosen = np.linspace(0, table.columns.shape[1] - 1, columns).astype(int)
        return Instance(table.name, table.columns[:, np.unique(chosen)], table.labels)
    order = np.random.default_rng(0).permutation(len(table.labels))[:rows]
    return Instance(table.name, table.columns[order], table.labels[order])


def scaling_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Work and time, relative to the smallest part of the same table, too."""
    header = ["data set", "part", "rows", "columns", "objective", "evaluations", "CPU s"]
    header += ["slow-down", *peer_columns(found)]
    least: dict[tuple[str, str], float] = {}
    lines = []
    for key, of in found.items():
        name, part = key.split(", ")
        kind = part.split()[1]
        base = least.setdefault((name, kind), of["cpu"])
        shape = [str(of["rows"]), str(of["columns"]), number(of["value"], 4)]
        slower = f"{of['cpu'] / base:.1f}" if of["proven"] else "-"
        beside = [seconds(of["peers"][p]) if p in of["peers"] else "-" for p in peer_columns(found)]
        lines.append([name, part, *shape, f"{of['work']:,}", seconds(of), slower, *beside])
    return header, lines


def scaling_figure(found: Found) -> Any:
    """Draw seconds against columns and against rows."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    for ax, kind in zip(axes, ("columns", "rows"), strict=True):
        curves: dict[str, list[tuple[int, float]]] = {}
        for key, of in found.items():
            name, part = key.split(", ")
            if not part.endswith(kind):
                continue
            for label, fit in {"certree": of, **of["peers"]}.items():
                if fit.get("cpu") is not None and fit["proven"]:
                    point = (of[kind], max(fit["cpu"], 1e-4))
                    curves.setdefault(f"{name}, {label}", []).append(point)
        for label, points in curves.items():
            ax.plot(*zip(*points, strict=True), "o-", label=label)
        ax.set(xlabel=kind, ylabel="processor seconds", yscale="log")
        if curves:
            ax.legend(fontsize=8)
    return figure


# Time to optimality ------------------------------------------------------------------------------


def history_runs(scope: Scope) -> Iterator[Run]:
    """The best objective over time, with a penalty of 0.005."""
    if scope.data is None:
        yield Run("monk1", partial(history, partial(generated, "monk1")), 5.0)
        return
    for name in TABLES:
        work = partial(history, partial(load, scope.data, name))
        yield Run(name, work, scope.seconds(15, 1800), source(scope.data, name))
    work = partial(history, partial(mixed, scope.data, "compas", 8))
    yield Run("compas", work, scope.seconds(15, 1800), scope.data / "mixed" / "compas.csv")


def history(read: Any, limit: float) -> Numbers:
    """Fit once, and keep how cost and bound came together, in shares of the rows."""
    table = read()
    model = OptimalTreeClassifier(max_depth=None, complexity=0.005, time_limit=limit, verbose=0)
    _, cpu = timed(partial(model.fit, table.columns, table.labels))
    n = len(table.labels)
    steps = [(s, float(up) / n, float(low) / n) for s, _, up, low in model.certificate_.history]
    best = steps[-1][1]
    return {
        "steps": steps,
        "cpu": cpu,
        "seconds": float(model.certificate_.seconds),
        "to best": next(s for s, up, _ in steps if up <= best + 1e-12),
        "objective": best,
        "leaves": model.tree_.n_leaves,
        "proven": bool(model.certificate_.is_optimal),
    }


def history_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """When the best tree was found, and when it was proven."""
    header = ["data set", "errors and penalty", "leaves", "s to the best tree", "s to the proof"]
    lines = []
    for name, of in found.items():
        proof = f"{of['seconds']:.2g}" if of["proven"] else "not proven"
        values = [number(of["objective"], 4), str(of["leaves"]), f"{of['to best']:.2g}", proof]
        lines.append([name, *values])
    return header, lines


def history_figure(found: Found) -> Any:
    """Draw cost and bound over time."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        1, len(found), figsize=(3.2 * len(found), 3.4), constrained_layout=True, squeeze=False
    )
    for ax, (name, of) in zip(axes[0], found.items(), strict=True):
        times = [max(step[0], 1e-4) for step in of["steps"]]
        ax.step(times, [s[1] for s in of["steps"]], where="post", label="best tree")
        ax.step(times, [s[2] for s in of["steps"]], where="post", label="bound", linestyle="--")
        ax.set(title=name, xscale="log", xlabel="seconds", xlim=(1e-4, None))
        ax.tick_params(axis="x", which="minor", labelbottom=False)
    axes[0, 0].set_ylabel("errors and penalty")
    axes[0, 0].legend()
    return figure


# Trees -------------------------------------------------------------------------------------------

# Leaves, and accuracies of BinOCT, DL8.5 and GOSDT; figures 18 to 20.
DRAWN = {
    "monk1-l": (8, "91", "-", "100"),
    "monk2-l": (7, "-", "76.3", "79.3"),
    "tictactoe-f": (16, "82.4", "86.9", "90.9"),
}


def drawn_runs(scope: Scope) -> Iterator[Run]:
    """The best accuracy with a number of leaves: of all rows, and of each fold."""
    if scope.data is None:
        return
    for name, (leaves, *_) in DRAWN.items():
        work = partial(drawn, partial(load, scope.data, name), leaves)
        yield Run(name, work, scope.seconds(20, 300), source(scope.data, name))


def drawn(read: Any, leaves: int, limit: float) -> Numbers:
    """Find the best trees with so many leaves."""
    table = read()
    every = np.arange(len(table.labels))
    folds = [train for train, _ in KFold(5, shuffle=True, random_state=0).split(every)]
    found = []
    for rows in (every, *folds):
        model = OptimalTreeClassifier(
            max_depth=None, max_leaf_nodes=leaves, time_limit=limit, verbose=0
        )
        _, cpu = timed(partial(model.fit, table.columns[rows], table.labels[rows]))
        accuracy = float(model.score(table.columns[rows], table.labels[rows]))
        found.append((accuracy, cpu, bool(model.certificate_.is_optimal)))
    accuracies = [accuracy for accuracy, _, _ in found]
    return {
        "accuracy": accuracies[0],
        "folds": accuracies[1:],
        "cpu": found[0][1],
        "proven": all(proven for _, _, proven in found),
    }


def drawn_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Accuracy of trees of one size."""
    header = ["data set", "leaves", "BinOCT, paper", "DL8.5, paper", "GOSDT, paper", "all rows"]
    header += ["folds", "CPU s", "why it differs"]
    lines = []
    for name, of in found.items():
        leaves, *printed = DRAWN[name]
        low, high = percent(min(of["folds"])), percent(max(of["folds"]))
        same = abs(100 * of["accuracy"] - float(printed[2])) <= 0.05
        reason = "" if same else "the paper draws a tree of one of five folds; ours are beside"
        values = [percent(of["accuracy"]), f"{low} to {high}", seconds(of), reason]
        lines.append([name, str(leaves), *printed, *values])
    return header, lines


PAPER = Paper(
    "gosdt",
    "GOSDT",
    (
        Experiment(
            "objectives",
            "Six objectives with a penalty of 0.01 per leaf, on half of 862 points in the plane. "
            "FourClass is not at hand: the points are generated like it "
            "(`certree.datasets.make_fourclass`).",
            roc_runs,
            (
                Figure("objectives", "Figures 2 and 10: ROC curves of six objectives", roc_figure),
                Table(
                    "Figures 2, 3 and 10 in numbers",
                    roc_table,
                    "Trees other than the most accurate have at most depth 5; the paper has no "
                    "such limit, and labels leaves for F1 by a fixed weight, which is not exact.",
                ),
            ),
        ),
        Experiment(
            "sparsity",
            "Training and test accuracy against leaves, medians of five folds. Penalties per leaf "
            "for certree, depths 1 to 6 for CART. Fits that reach the limit are left out. COMPAS "
            "is encoded here with eight thresholds per column; the paper's binary form is not "
            "published with it.",
            frontier_runs,
            (
                Figure(
                    "sparsity", "Figures 4, 11 and 12: accuracy against leaves", frontier_figure
                ),
                Table("Figures 4, 11 and 12 in numbers", frontier_table),
            ),
        ),
        Experiment(
            "scaling",
            "Growing numbers of columns with all rows, and of rows with all columns, with a "
            "penalty of 1/32 (the captions print 0.3125). Every value has its column. bar-7, "
            "COMPAS-2016 and FICO are not at hand: COMPAS in another preparation and the coupons "
            "of which bar-7 is a part stand in.",
            scaling_runs,
            (
                Figure("scaling", "Figures 5 and 13 to 16: scaling", scaling_figure),
                Table("Figures 5 and 13 to 16 in numbers", scaling_table),
            ),
        ),
        Experiment(
            "optimality",
            "Cost of the best tree and bound over time, with a penalty of 0.005.",
            history_runs,
            (
                Figure("optimality", "Figure 17: time to optimality", history_figure),
                Table("Figure 17 in numbers", history_table),
            ),
        ),
        Experiment(
            "trees",
            "The most accurate trees with a given number of leaves.",
            drawn_runs,
            (
                Table(
                    "Figures 18 to 20: accuracy of trees of one size, %",
                    drawn_table,
                    "Which category is dropped matters: without the first one, the best tree of "
                    "monk1 with 8 leaves has 86.3 %.",
                ),
            ),
        ),
    ),
    "Figure 1 is a proof (see the guide on thresholds), figures 6 to 9 explain bounds, tables 1 "
    "and 2 methods and data. BinOCT needs CPLEX, OSDT and PyGOSDT are not on PyPI.",
)
