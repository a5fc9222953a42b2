"""Branches (Chaouki, Read and Bifet, ICML 2025): sparse trees of binary and multiway tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.harness.instances import GENERATED, Instance, read_table
from benchmarks.harness.suites import Entry
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier

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
    panels,
    peer_columns,
    percent,
    seconds,
    solve,
    timed,
)

MULTIWAY = {"splits": "multiway", "categorical_features": "all"}
PENALTIES = (0.1, 0.05, 0.025, 0.01, 0.005, 0.001)


class Printed(NamedTuple):
    """A line of tables 2 and 4: penalty, then what Branches found, and the depth of its tree."""

    penalty: float
    value: str
    accuracy: str
    splits: int
    time: str
    iterations: int
    depth: int


# The penalty of balance is the one that the authors' own script uses and their values hold for.
PRINTED = {
    "monk1": Printed(0.01, "0.940", "1", 6, "0.05", 146, 4),
    "monk1-l": Printed(0.01, "0.930", "1", 7, "0.02", 117, 5),
    "monk1-f": Printed(0.001, "0.983", "1", 17, "0.39", 2125, 7),
    "monk1-o": Printed(0.01, "0.900", "1", 10, "0.02", 64, 3),
    "monk2": Printed(0.001, "0.968", "1", 32, "14.2", 60611, 6),
    "monk2-f": Printed(0.001, "0.933", "1", 67, "2.94", 28968, 9),
    "monk2-o": Printed(0.001, "0.955", "1", 45, "0.18", 1213, 3),
    "monk3": Printed(0.001, "0.985", "1", 15, "4.05", 14807, 8),
    "monk3-f": Printed(0.001, "0.983", "1", 17, "0.36", 3026, 7),
    "monk3-o": Printed(0.001, "0.987", "1", 13, "0.03", 156, 4),
    "tictactoe": Printed(0.005, "0.838", "0.928", 18, "TO", 390000, 6),
    "tictactoe-f": Printed(0.005, "0.850", "0.945", 19, "16.3", 74627, 6),
    "tictactoe-o": Printed(0.005, "0.773", "0.858", 17, "0.68", 3339, 5),
    "careval": Printed(0.005, "0.852", "0.927", 15, "204", 456452, 8),
    "careval-f": Printed(0.005, "0.799", "0.869", 14, "26.6", 108640, 8),
    "careval-o": Printed(0.005, "0.812", "0.882", 14, "0.09", 579, 4),
    "nursery": Printed(0.01, "0.812", "0.872", 6, "TO", 110000, 6),
    "nursery-f": Printed(0.01, "0.772", "0.842", 7, "24.9", 48063, 4),
    "nursery-o": Printed(0.01, "0.822", "0.892", 7, "0.24", 195, 3),
    "mushroom": Printed(0.01, "0.955", "0.985", 3, "TO", 21000, 3),
    "mushroom-f": Printed(0.01, "0.945", "0.985", 4, "TO", 24000, 3),
    "mushroom-o": Printed(0.01, "0.975", "0.985", 1, "0.15", 6, 1),
    "krvskp": Printed(0.01, "0.900", "0.940", 4, "TO", 46000, 4),
    "zoo": Printed(0.001, "0.992", "1", 8, "44.6", 39199, 6),
    "zoo-f": Printed(0.001, "0.992", "1", 8, "2.09", 4659, 7),
    "zoo-o": Printed(0.001, "0.993", "1", 7, "0.87", 1456, 5),
    "lymph": Printed(0.01, "0.828", "0.898", 7, "TO", 100000, 4),
    "lymph-f": Printed(0.01, "0.811", "0.891", 8, "TO", 170000, 5),
    "lymph-o": Printed(0.01, "0.852", "0.952", 10, "12.3", 16154, 4),
    "balance": Printed(0.005, "0.776", "0.806", 8, "TO", 640000, 8),
    "balance-f": Printed(0.005, "0.673", "0.723", 10, "190", 676149, 10),
    "balance-o": Printed(0.005, "0.713", "0.763", 10, "0.004", 178, 3),
}

# Objectives that table 2 prints for STreeD and GOSDT, and table 5 for OSDT and PyGOSDT.
OTHERS = {
    "monk1": ("0.940", "0.940", "0.940", "0.940"),
    "monk1-l": ("0.930", "0.930", "0.930", "0.930"),
    "monk1-f": ("0.983", "0.983", "0.971", "0.970"),
    "monk2": ("-", "0.968", "0.948", "0.948"),
    "monk2-f": ("-", "0.933", "0.904", "0.903"),
    "monk3": ("0.985", "0.985", "0.976", "0.976"),
    "monk3-f": ("0.983", "0.983", "0.975", "0.973"),
    "tictactoe": ("-", "0.757", "0.794", "0.794"),
    "tictactoe-f": ("0.850", "0.850", "0.764", "0.808"),
    "careval": ("-", "0.852", "", ""),
    "careval-f": ("-", "0.799", "", ""),
    "nursery": ("-", "0.810", "", ""),
    "nursery-f": ("-", "0.765", "", ""),
    "mushroom": ("0.955", "0.925", "0.955", "0.955"),
    "mushroom-f": ("0.945", "0.925", "0.945", "0.945"),
    "krvskp": ("-", "0.815", "0.900", "0.900"),
    "zoo": ("0.992", "0.992", "", ""),
    "zoo-f": ("0.992", "0.992", "", ""),
    "lymph": ("-", "0.790", "", ""),
    "lymph-f": ("-", "0.784", "", ""),
    "balance": ("-", "0.712", "", ""),
    "balance-f": ("-", "0.673", "", ""),
}

STOPPED = "stopped by the limit, so the best tree may be another; the paper's search had 300 s"
BETTER = "the paper's search was stopped after 300 s; this tree is better"
REASONS = {
    "balance": "a misprint: 0.806 - 8 x 0.005 is 0.766; this tree is better",
}


def load(folder: Path, name: str) -> Instance:
    """Read a table; one without first or last categories is made if its file is missing."""
    path = folder / "sparse" / f"{name}.txt"
    if path.exists():
        return read_table(path, "last")
    table = read_table(source(folder, name), "last")
    kept = slice(1, None) if name.endswith("-f") else slice(None, -1)
    columns = [column == value for column in table.columns.T for value in np.unique(column)[kept]]
    return Instance(name, np.stack(columns, axis=1).astype(np.uint8), table.labels)


def source(folder: Path, name: str) -> Path:
    """Name the file that a table is read or made from."""
    path = folder / "sparse" / f"{name}.txt"
    made = name.endswith(("-f", "-l")) and not path.exists()
    return path.with_name(f"{name[:-2]}-o.txt") if made else path


def generated(name: str) -> Instance:
    """Make a table from its definition."""
    return GENERATED[name]()


def entries(name: str, penalty: float, depth: int | None, peers: bool) -> tuple[Entry, ...]:
    """List the solvers of a table; only certree has multiway tests."""
    multiway = name.endswith("-o")
    ours = Entry("certree", "certree", depth, penalty, options=MULTIWAY if multiway else {})
    others = ("pystreed", "gosdt") if peers and not multiway else ()
    return (ours, *(Entry(peer, peer, depth, penalty) for peer in others))


def sparse_runs(scope: Scope) -> Iterator[Run]:
    """All encodings, without a depth limit."""
    limit = scope.seconds(60, 300)
    if scope.data is None:
        work = partial(solve, partial(generated, "monk1"), entries("monk1", 0.01, None, False))
        yield Run("monk1", work, limit)
        return
    for name, line in PRINTED.items():
        read = partial(load, scope.data, name)
        work = partial(solve, read, entries(name, line.penalty, None, scope.peers))
        yield Run(name, work, limit, source(scope.data, name))


def why(name: str, of: Numbers) -> str:
    """Say why our objective is not the one printed; nothing where it is."""
    value, printed = of["value"], float(PRINTED[name].value)
    # The paper rounds some of its values and cuts others.
    if abs(value - printed) < 0.00101:
        return ""
    if name in REASONS:
        return REASONS[name]
    if value > printed and PRINTED[name].time == "TO":
        return BETTER
    return "not explained" if of["proven"] else STOPPED


def bound(of: Numbers) -> str:
    """Write the objective; if it is not proven, with the proven bound."""
    text = f"{of['value']:.4f}"
    return text if of["proven"] else f"{text} (at most {of['value'] + of['gap'] / of['rows']:.4f})"


def table_2(found: Found) -> tuple[list[str], list[list[str]]]:
    """Objective, accuracy, splits and work of every encoding."""
    header = ["data set", "penalty", "Branches", "STreeD", "GOSDT", "certree", "accuracy, paper"]
    header += ["accuracy", "splits, paper", "splits", "depth, paper", "depth", "s, paper"]
    header += ["CPU s", "iterations, paper", "iterations"]
    header += [*(f"{peer}, here" for peer in peer_columns(found)), "why it differs"]
    lines = []
    for name, of in found.items():
        line = PRINTED[name]
        streed, gosdt, *_ = OTHERS.get(name, ("", ""))
        beside = [peer_text(of, peer) for peer in peer_columns(found)]
        values = [line.value, streed, gosdt, bound(of), line.accuracy, number(of["accuracy"])]
        sizes = [line.splits, of["splits"], line.depth, of["depth"]]
        work = [line.time, seconds(of), f"{line.iterations:,}", f"{of['work']:,}"]
        lines.append(
            [name, str(line.penalty), *values, *map(str, sizes), *work, *beside, why(name, of)]
        )
    return header, lines


def peer_text(of: Numbers, peer: str) -> str:
    """Write objective and processor seconds of a peer."""
    theirs = of["peers"].get(peer)
    if theirs is None or "value" not in theirs:
        return "-"
    return f"{theirs['value']:.4f}, {seconds(theirs)} s"


def table_5(found: Found) -> tuple[list[str], list[list[str]]]:
    """The same objectives beside those of the searches in Python."""
    lines = [
        [name, OTHERS[name][2], OTHERS[name][3], PRINTED[name].value, bound(of), why(name, of)]
        for name, of in found.items()
        if OTHERS.get(name, ("",))[-1]
    ]
    return ["data set", "OSDT", "PyGOSDT", "Branches", "certree", "why it differs"], lines


def both_runs(scope: Scope) -> Iterator[Run]:
    """Tests of one category and of all categories in the same tree."""
    if scope.data is None:
        return
    names = ("monk1-o", "monk2-o", "monk3-o", "balance-o", "lymph-o")
    for name in scope.some(names, ("tictactoe-o", "careval-o", "mushroom-o")):
        options = {**MULTIWAY, "splits": "both"}
        entry = Entry("certree", "certree", None, PRINTED[name].penalty, options=options)
        work = partial(solve, partial(load, scope.data, name), (entry,))
        yield Run(name, work, scope.seconds(120, 300), source(scope.data, name))


def both_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """The objective beside those of multiway tests, and of one-hot columns at the same penalty."""
    header = ["data set", "penalty", "multiway, paper", "one-hot, paper", "both", "splits", "CPU s"]
    header.append("evaluations")
    lines = []
    for name, of in found.items():
        line, columns = PRINTED[name], PRINTED[name.removesuffix("-o")]
        one_hot = columns.value if columns.penalty == line.penalty else "-"
        values = [line.value, one_hot, bound(of), str(of["splits"]), seconds(of)]
        lines.append([name, str(line.penalty), *values, f"{of['work']:,}"])
    return header, lines


def bound_runs(scope: Scope) -> Iterator[Run]:
    """The bound of theorem 4.4 on the number of branches, for all settings of table 1."""
    yield Run("theorem 4.4", all_bounds, 10.0)


def all_bounds(limit: float) -> Numbers:
    """Compute the bounds."""
    settings = itertools.product((0.1, 0.05, 0.01), (10, 15, 20))
    return {f"{penalty} {q}": branches_bound(q, 2, 2, penalty) for penalty, q in settings}


def branches_bound(q: int, categories: int, classes: int, penalty: float) -> int:
    """Give the bound; its depth is (K - 1) / (K penalty) - 1, as the proof of the paper derives."""
    depth = math.floor((classes - 1) / (classes * penalty) + 1e-9) - 1
    return sum((q - h) * categories ** (h + 1) * math.comb(q, h) for h in range(min(depth, q) + 1))


def table_1(found: Found) -> tuple[list[str], list[list[str]]]:
    """Orders of magnitude of the bound, beside those printed."""
    of = found["theorem 4.4"]
    printed = {
        (0.1, 10): (4, "13"),
        (0.1, 15): (5, "16"),
        (0.1, 20): (6, "18"),
        (0.05, 10): (5, "271"),
        (0.05, 15): (7, "473"),
        (0.05, 20): (9, "576"),
        (0.01, 10): (5, "392"),
        (0.01, 15): (8, "INF"),
        (0.01, 20): (10, "INF"),
    }
    lines = []
    for (penalty, q), (branches, osdt) in printed.items():
        value = of[f"{penalty} {q}"]
        reason = "" if math.floor(math.log10(value)) == branches else "rounded up in the paper"
        theirs = f"10^{osdt}" if osdt != "INF" else osdt
        lines.append([str(penalty), str(q), theirs, f"10^{branches}", f"{value:.2e}", reason])
    header = ["penalty", "features", "OSDT, paper", "Branches, paper", "ours", "why it differs"]
    return header, lines


SHAPES = {"monk1-l": (7, 7), "monk1-f": (17, 17), "monk1-o": (10, 7), "mushroom-o": (1, 1)}


def shape_runs(scope: Scope) -> Iterator[Run]:
    """The trees that the paper draws: figures 6 to 12."""
    if scope.data is None:
        return
    for name in (*SHAPES, "mushroom"):
        work = partial(shape, partial(load, scope.data, name), name)
        yield Run(name, work, scope.seconds(12, 300), source(scope.data, name))


def shape(read: Any, name: str, limit: float) -> Numbers:
    """Fit a tree, and merge the categories that lead to equal subtrees."""
    table = read()
    options = MULTIWAY if name.endswith("-o") else {}
    model = learner(PRINTED[name].penalty, limit, options)
    model.fit(table.columns, table.labels)
    small = model.tree_.collapsed()
    sizes = {"splits": model.tree_.n_splits, "leaves": model.tree_.n_leaves}
    return {
        **sizes,
        "collapsed splits": small.n_splits,
        "collapsed leaves": small.n_leaves,
        "proven": bool(model.certificate_.is_optimal),
    }


def learner(penalty: float, limit: float, options: dict[str, Any]) -> OptimalTreeClassifier:
    """Make the estimator of a sparse tree."""
    return OptimalTreeClassifier(
        max_depth=None, complexity=penalty, time_limit=limit, verbose=0, **options
    )


def shape_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Sizes of the trees, before and after categories are merged."""
    header = ["data set", "splits, paper", "splits", "leaves"]
    header += ["collapsed, paper", "collapsed splits", "collapsed leaves"]
    lines = []
    for name, of in found.items():
        plain, merged = SHAPES.get(name, (3, 3))
        sizes = [plain, of["splits"], of["leaves"], merged]
        sizes += [of["collapsed splits"], of["collapsed leaves"]]
        lines.append([name, *map(str, sizes)])
    return header, lines


def front_runs(scope: Scope) -> Iterator[Run]:
    """Accuracy against splits in ten folds."""
    if scope.data is None:
        work = partial(front, partial(generated, "monk1"), None, (0.1, 0.025), 3)
        yield Run("monk1", work, 5.0)
        return
    penalties = PENALTIES if scope.full else (0.1, 0.05, 0.025, 0.01)
    small = ("monk1-f", "monk2-f", "monk3-f", "tictactoe-f", "careval-f")
    for name in scope.some(small, (n for n in PRINTED if n not in small and n[-2:] != "-o")):
        base = name.removesuffix("-f").removesuffix("-l")
        categories = scope.data / "sparse" / f"{base}-o.txt"
        coded = partial(load, scope.data, f"{base}-o") if categories.exists() else None
        work = partial(front, partial(load, scope.data, name), coded, penalties, 10)
        yield Run(name, work, scope.seconds(5, 300), source(scope.data, name))


def front(read: Any, coded: Any, penalties: Any, folds: int, limit: float) -> Numbers:
    """Fit every penalty in every fold; fits that are stopped by the limit are left out."""
    table = read()
    found: dict[str, list[list[float]]] = {}
    tables = {"certree": (table, {})}
    if coded is not None:
        tables["certree, multiway"] = (coded(), MULTIWAY)
    cpu = 0.0
    for train, test in KFold(folds, shuffle=True, random_state=0).split(table.columns):
        for penalty in penalties:
            for label, (given, options) in tables.items():
                model = learner(penalty, limit, options)
                _, took = timed(partial(model.fit, given.columns[train], given.labels[train]))
                cpu += took
                if model.certificate_.is_optimal:
                    point = scored(model, given, train, test, model.tree_.n_splits)
                    found.setdefault(f"{label} {penalty}", []).append(point)
            greedy = DecisionTreeClassifier(ccp_alpha=penalty, random_state=0)
            greedy.fit(table.columns[train], table.labels[train])
            point = scored(greedy, table, train, test, greedy.get_n_leaves() - 1)
            found.setdefault(f"CART {penalty}", []).append(point)
    medians = {key: np.median(points, axis=0).tolist() for key, points in found.items()}
    done = {key: len(points) for key, points in found.items()}
    proven = set(done.values()) == {folds}
    return {"medians": medians, "done": done, "folds": folds, "cpu": cpu, "proven": proven}


def scored(model: Any, table: Instance, train: Any, test: Any, splits: int) -> list[float]:
    """Give splits, training accuracy and test accuracy."""
    return [
        float(splits),
        *(
            float(np.mean(model.predict(table.columns[r]) == table.labels[r]))
            for r in (train, test)
        ),
    ]


def front_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Medians over the folds."""
    header = ["data set", "learner", "penalty", "folds", "splits", "training %", "test %"]
    lines = []
    for name, of in found.items():
        for key, (splits, training, test) in of["medians"].items():
            learner, penalty = key.rsplit(" ", 1)
            done = f"{of['done'][key]} of {of['folds']}"
            values = [f"{splits:g}", percent(training), percent(test)]
            lines.append([name, learner, penalty, done, *values])
    return header, sorted(lines, key=lambda line: (line[0], line[1], -float(line[2])))


def front_figure(found: Found) -> Any:
    """Draw training and test accuracy against the number of splits."""
    tables: dict[str, dict[str, list[list[float]]]] = {}
    for name, of in found.items():
        for key, (splits, *shares) in of["medians"].items():
            points = tables.setdefault(name, {}).setdefault(key.rsplit(" ", 1)[0], [])
            points.append([splits, *(100 * share for share in shares)])
    return panels(tables, "splits", ("training accuracy, %", "test accuracy, %"))


def depth_runs(scope: Scope) -> Iterator[Run]:
    """The same objectives with a limit on the depth: figures 19 to 40."""
    if scope.data is None:
        entry = entries("monk1", 0.01, 4, False)
        yield Run("monk1, depth 4", partial(solve, partial(generated, "monk1"), entry), 5.0)
        return
    quick = ("monk1-f", "monk2-f", "monk3-f", "tictactoe-f", "careval-f", "mushroom")
    names = scope.some(quick, (n for n in PRINTED if n not in quick and n[-2:] != "-o"))
    for name in names:
        for depth in range(4, 21) if scope.full else (4, 6, 10, 20):
            read = partial(load, scope.data, name)
            work = partial(solve, read, entries(name, PRINTED[name].penalty, depth, scope.peers))
            limit = scope.seconds(5, 300)
            yield Run(f"{name}, depth {depth}", work, limit, source(scope.data, name))


def depth_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Objective, size and work at each depth."""
    header = ["data set", "depth limit", "objective", "accuracy", "splits", "depth", "CPU s"]
    header += ["evaluations", *peer_columns(found)]
    lines = []
    for key, of in found.items():
        name, depth = key.split(", depth ")
        values = [bound(of), number(of["accuracy"]), str(of["splits"]), str(of["depth"])]
        beside = [peer_text(of, peer) for peer in peer_columns(found)]
        lines.append([name, depth, *values, seconds(of), f"{of['work']:,}", *beside])
    return header, lines


def depth_figure(found: Found) -> Any:
    """Draw objective and seconds against the limit on the depth."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    names: dict[str, list[tuple[int, Numbers]]] = {}
    for key, of in found.items():
        name, depth = key.split(", depth ")
        names.setdefault(name, []).append((int(depth), of))
    for place, (name, points) in enumerate(names.items()):
        style = "o-" if place < 10 else "s--"  # there are ten colours
        depths = [depth for depth, _ in points]
        axes[0].plot(depths, [of["value"] for _, of in points], style, label=name)
        axes[1].plot(depths, [max(of["cpu"], 1e-4) for _, of in points], style, label=name)
    axes[1].set_yscale("log")
    axes[0].set(xlabel="limit on the depth", ylabel="objective")
    axes[1].set(xlabel="limit on the depth", ylabel="processor seconds")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    return figure


def support_runs(scope: Scope) -> Iterator[Run]:
    """DL8.5 with growing depths, and at the depth of the best sparse tree with growing leaves."""
    if scope.data is None or not scope.peers:
        return
    supports = np.unique(np.linspace(1, 50, 20 if scope.full else 4).astype(int)).tolist()
    for name in scope.some(("monk1-f", "monk2-f", "monk3-f"), ("tictactoe-f", "careval-f")):
        line = PRINTED[name]
        peers = [
            Entry(f"depth {d}", "pydl8.5", d) for d in (range(1, 11) if scope.full else range(1, 6))
        ]
        peers += [
            Entry(f"support {s}", "pydl8.5", line.depth, options={"min_sup": s}) for s in supports
        ]
        ours = entries(name, line.penalty, None, False)
        work = partial(solve, partial(load, scope.data, name), (*ours, *peers))
        yield Run(name, work, scope.seconds(10, 300), source(scope.data, name))


def support_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Accuracy, splits and objective of DL8.5 beside the best sparse tree."""
    lines = []
    for name, of in found.items():
        for label, fit in {"certree": of, **of["peers"]}.items():
            if "accuracy" in fit:
                value = fit["accuracy"] - PRINTED[name].penalty * fit["splits"]
                values = [number(fit["accuracy"]), str(fit["splits"]), number(value)]
                lines.append([name, label, *values])
    return ["data set", "DL8.5 with", "accuracy", "splits", "objective"], lines


def support_figure(found: Found) -> Any:
    """Draw accuracy and objective of DL8.5 against splits, and the best sparse tree."""
    tables: dict[str, dict[str, list[list[float]]]] = {}
    for name, of in found.items():
        for label, fit in {"best sparse tree": of, **of["peers"]}.items():
            if "accuracy" in fit:
                kind = {"depth": "more depth", "support": "larger leaves"}.get(label.split()[0])
                learner = f"DL8.5, {kind}" if kind else label
                value = fit["accuracy"] - PRINTED[name].penalty * fit["splits"]
                point = [fit["splits"], 100 * fit["accuracy"], value]
                tables.setdefault(name, {}).setdefault(learner, []).append(point)
    return panels(tables, "splits", ("accuracy, %", "objective")) if tables else None


PAPER = Paper(
    "branches",
    "Branches",
    (
        Experiment(
            "bounds",
            "The bound of theorem 4.4 on the number of branches that are evaluated, for two "
            "classes and binary features.",
            bound_runs,
            (
                Table(
                    "Table 1: bounds on the work",
                    table_1,
                    "The paper states a depth of 1/(K penalty) - 1 and derives "
                    "(K - 1)/(K penalty) - 1, which is the same for two classes. The bound for "
                    "OSDT is another paper's and is shown as printed.",
                ),
            ),
        ),
        Experiment(
            "sparse",
            "Accuracy minus penalty times splits, without a limit on the depth, for all encodings "
            "of 11 tables: one-hot, first (`-f`) or last (`-l`) category dropped, categories "
            "(`-o`, multiway tests).",
            sparse_runs,
            (
                Table(
                    "Tables 2 and 4: optimal sparse trees",
                    table_2,
                    "TO: stopped after 300 s. The paper's table 4 gives balance a penalty of 0.01; "
                    "its values hold for 0.005, which its published script uses, too, and are "
                    "compared with these. Iterations are expansions in the paper and depth-two "
                    "evaluations here. Splits, accuracy and depth can differ where the objective "
                    "is the same: several trees are best. `mushroom-f` is made from `mushroom-o` "
                    "where its file is missing.",
                ),
                Table("Table 5: searches in Python", table_5),
            ),
        ),
        Experiment(
            "both",
            "Beyond the paper: tests of one category and multiway tests in one tree "
            '(`splits="both"`).',
            both_runs,
            (Table("Both kinds of tests", both_table, "0.776 is a misprint of 0.766, see above."),),
        ),
        Experiment(
            "shapes",
            "The trees that the paper draws, and the same trees with equal branches merged.",
            shape_runs,
            (Table("Figures 6 to 12: sizes of the drawn trees", shape_table),),
        ),
        Experiment(
            "fronts",
            "Ten folds, medians; every learner with the same penalties (CART: `ccp_alpha`). Fits "
            "that reach the limit are left out.",
            front_runs,
            (
                Figure("fronts", "Figures 13 and 14: accuracy against splits", front_figure),
                Table("Figures 13 and 14 in numbers", front_table),
            ),
        ),
        Experiment(
            "depths",
            "The objectives of table 2 with limits on the depth from 4 to 20.",
            depth_runs,
            (
                Figure("depths", "Figures 19 to 40: limits on the depth", depth_figure),
                Table("Figures 19 to 40 in numbers", depth_table),
            ),
        ),
        Experiment(
            "dl85",
            "DL8.5 on all rows, with limits on the depth and on the rows of a leaf (`PEERS=1`).",
            support_runs,
            (
                Figure("dl85", "Figures 15 to 18: DL8.5 beside sparse trees", support_figure),
                Table("Figures 15 to 18 in numbers", support_table),
            ),
        ),
    ),
    "Figures 1 to 5 explain the method. Figures 15 to 18 need DL8.5, which `PEERS=1` installs.",
)
