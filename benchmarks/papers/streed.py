"""STreeD (van der Linden, de Weerdt and Demirović, NeurIPS 2023): separable tasks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.harness import limit_suites, task_suites
from benchmarks.harness.instances import Instance, random_instance, read_table
from benchmarks.harness.suites import Entry
from benchmarks.harness.task_solvers import CertreeCosts, doubly_robust
from sklearn.model_selection import ShuffleSplit

from certree import CostSensitiveTreeClassifier, PolicyTree, TreeCV, datasets

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
    solved_within,
    timed,
)

LEVELS = task_suites.LEVELS

# Normalised costs, %. Table 2: TMDP and STreeD; table 3: STreeD at low, middle and high costs.
COSTS: dict[str, tuple[str, ...]] = {
    "annealing": ("1.6", "1.2", "1.3", "1.2", "1.2"),
    "breast": ("21.0", "20.4", "8.3", "15.7", "37.3"),
    "car": ("16.1", "14.8", "9.8", "14.0", "20.5"),
    "diabetes": ("14.2", "14.1", "7.3", "11.6", "23.4"),
    "flare": ("18.0", "16.7", "9.9", "15.2", "24.9"),
    "glass": ("14.3", "14.4", "10.9", "13.8", "18.5"),
    "heart": ("9.5", "9.3", "4.0", "7.2", "16.7"),
    "hepatitis": ("16.2", "15.6", "8.4", "12.9", "25.6"),
    "iris": ("12.8", "12.8", "7.5", "10.7", "20.2"),
    "krk": ("-", "1.7", "1.8", "1.8", "1.7"),
    "mushroom": ("-", "1.9", "1.7", "1.8", "2.1"),
    "nursery": ("0.1", "0.1", "0.1", "0.1", "0.1"),
    "soybean": ("15.4", "11.4", "10.9", "11.6", "11.8"),
    "tictactoe": ("16.1", "16.1", "6.8", "12.7", "28.8"),
    "wine": ("12.2", "10.4", "8.0", "11.9", "11.2"),
}

# Out-of-sample correct treatments, %, at depth 1 to 5.
WARFARIN = {1: "83.1", 2: "84.6", 3: "86.6", 4: "88.0", 5: "89.7"}

# Seconds of MurTree and STreeD for F1 at depth 3 and 4 (table 7), then of DL8.5, MurTree and STreeD
# for accuracy at depth 4 and 5 (table 10; "" where the paper leaves the set out).
TABLES: dict[str, tuple[str, ...]] = {
    "anneal": ("<1", "<1", "24", "2", "2", "<1", "<1", "17", "2", "5"),
    "audiology": ("<1", "<1", "54", "2", "4", "<1", "<1", "<1", "<1", "<1"),
    "australian-credit": ("2", "<1", "139", "19", "23", "1", "2", "-", "21", "37"),
    "breast-wisconsin": ("<1", "<1", "61", "7", "4", "<1", "1", "15", "1", "7"),
    "compas": ("2", "<1", "7", "<1", *[""] * 6),
    "diabetes": ("3", "<1", "117", "13", "24", "1", "2", "-", "22", "34"),
    "fico": ("6", "<1", "26", "3", "<1", "<1", "<1", "<1", "1", "2"),
    "german-credit": ("6", "<1", "164", "34", "36", "2", "3", "-", "61", "94"),
    "heart-cleveland": ("<1", "<1", "43", "6", "6", "<1", "<1", "80", "3", "7"),
    "hepatitis": ("<1", "<1", "6", "<1", "<1", "<1", "<1", "2", "<1", "<1"),
    "hypothyroid": ("<1", "<1", "28", "3", "5", "1", "<1", "94", "13", "11"),
    "ionosphere": ("26", "11", "-", "-", "-", "69", "152", "-", "146", "112"),
    "kr-vs-kp": ("<1", "<1", "22", "3", "2", "<1", "<1", "18", "6", "4"),
    "letter": ("46", "7", "-", "469", "547", "200", "145", "-", "-", "-"),
    "lymph": ("<1", "<1", "8", "1", "1", "<1", "<1", "<1", "<1", "<1"),
    "mushroom": ("<1", "<1", "<1", "<1", "3", "<1", "<1", "1", "<1", "<1"),
    "pendigits": ("13", "4", "-", "240", "160", "60", "74", "-", "240", "109"),
    "primary-tumor": ("<1", "<1", "<1", "<1", *[""] * 6),
    "segment": ("<1", "<1", "<1", "<1", *[""] * 6),
    "soybean": ("<1", "<1", "3", "<1", "<1", "<1", "<1", "6", "<1", "1"),
    "splice-1": ("17", "9", "-", "-", "-", "148", "156", "-", "-", "-"),
    "tic-tac-toe": ("<1", "<1", "1", "<1", "<1", "<1", "<1", "2", "<1", "<1"),
    "vehicle": ("5", "2", "-", "130", "79", "8", "15", "-", "137", "343"),
    "vote": ("<1", "<1", "3", "1", "<1", "<1", "<1", "5", "<1", "1"),
    "yeast": ("5", "<1", "68", "8", "10", "<1", "1", "280", "13", "18"),
}
SLOW = ("ionosphere", "letter", "pendigits", "splice-1", "vehicle")

# Seconds of DPF and STreeD for demographic parity at depth 2 and 3 (table 8), and of STreeD for
# equal opportunity (table 9).
FAIR: dict[str, tuple[str, ...]] = {
    "adult": ("<1", "<1", "<1", "2", "<1", "1"),
    "bank": ("<1", "<1", "3", "4", "<1", "7"),
    "communities": ("<1", "<1", "5", "29", "<1", "11"),
    "compas-recid": ("<1", "<1", "<1", "<1", "<1", "<1"),
    "compas-violent": ("<1", "<1", "<1", "<1", "<1", "<1"),
    "dutch": ("<1", "<1", "6", "8", "<1", "7"),
    "german-credit": ("<1", "<1", "2", "62", "<1", "50"),
    "census-income": ("1", "3", "39", "26", "3", "37"),
    "oulad": ("<1", "<1", "3", "19", "<1", "19"),
    "ricci": ("<1", "<1", "<1", "<1", "<1", "<1"),
    "student-mat": ("<1", "<1", "<1", "2", "<1", "<1"),
    "student-por": ("<1", "<1", "<1", "3", "<1", "1"),
}


def of_paper(text: str) -> float | None:
    """Read a printed time; "<1" counts as one second, a time-out is unsolved."""
    return None if text in ("-", "") else float(text.lstrip("<"))


# Costs -------------------------------------------------------------------------------------------


def cost_runs(scope: Scope) -> Iterator[Run]:
    """Every table at every level of costs, over its divisions into training and test rows."""
    if scope.data is None:
        yield Run("generated low", tuned_generated, 10.0)
        return
    for name in COSTS:
        home = scope.data / "cost-sensitive" / name
        for level in LEVELS:
            costs = home / f"{name}-{level}-costs.csv"
            work = partial(tuned_costs, home, level, 100 if scope.full else 3)
            yield Run(f"{name} {level}", work, scope.seconds(20, 300), costs)


def tuned_generated(limit: float) -> Numbers:
    """Tune on a generated table with prices."""
    table = next(iter(task_suites.cost_instances()))
    return mean_of([tuned(table, table, limit)])


def tuned_costs(home: Path, level: str, most: int, limit: float) -> Numbers:
    """Tune on every training set, and score on the test set that belongs to it."""
    matrix, prices = task_suites.read_costs(home / f"{home.name}-{level}-costs.csv")
    found = []
    for path in sorted(home.glob(f"{home.name}-train-*.csv"))[:most]:
        tables = (
            task_suites.with_costs(read_table(p), matrix, prices)
            for p in (path, path.with_name(path.name.replace("-train-", "-test-")))
        )
        found.append(tuned(*tables, limit))
    return mean_of(found)


def tuned(train: Instance, test: Instance, limit: float) -> Numbers:
    """Choose the number of splits of a tree of depth 4 as the paper does, and score it."""
    columns, data = CertreeCosts({"limit": limit}).prepare(
        train.columns, {"setting": task_suites.setting_of(train)}
    )
    matrix = data["setting"]["matrix"]
    tree = CostSensitiveTreeClassifier(matrix, data["measurements"], classes=range(len(matrix)))
    model = TreeCV(
        tree,
        depths=(4,),
        sizes=range(16),
        cv=ShuffleSplit(5, test_size=0.2, random_state=0),
        time_limit=limit,
        verbose=0,
    )
    _, cpu = timed(partial(model.fit, columns, train.labels))
    asked = model.best_estimator_.cost_report(test.columns, test.labels)
    return {
        "cost": asked.cost / standard_cost(data["setting"], test.labels),
        "depth": model.tree_.depth,
        "leaves": model.tree_.n_leaves,
        "tests": asked.n_tests,
        "cpu": cpu,
        "proven": bool(model.certificate_.is_optimal),
    }


def standard_cost(setting: dict[str, Any], labels: Any) -> float:
    """Give what normalised costs are divided by: all tests, and the dearest error of most rows.

    Equation 61 reads "the sum of all feature costs". The printed values hold if tests that are made
    together have their discounts in this sum.
    """
    prices = setting["prices"]
    price, less = np.array(prices["price"]), np.array(prices["discounted"])
    groups = np.array([str(group) for group in prices["group"]])
    first = sum(float((price - less)[groups == group].max()) for group in np.unique(groups))
    rarest = 1 - np.bincount(labels).max() / len(labels)
    return float(less.sum()) + first + float(rarest) * float(np.max(setting["matrix"]))


def mean_of(found: list[Numbers]) -> Numbers:
    """Average over divisions; keep their processor seconds for the figures."""
    kept = {key: float(np.mean([of[key] for of in found])) for key in found[0] if key != "proven"}
    costs = [of["cost"] for of in found]
    kept["error"] = float(np.std(costs, ddof=1) / len(costs) ** 0.5) if len(costs) > 1 else 0.0
    each = [of["cpu"] if of["proven"] else None for of in found]
    proven = all(of["proven"] for of in found)
    return {**kept, "each": each, "divisions": len(found), "proven": proven}


def cost_reason(of: Numbers, printed: str) -> str:
    """Say why a normalised cost is not the printed one; nothing where it rounds to it."""
    if not printed or abs(100 * of["cost"] - float(printed)) <= 0.05:
        return ""
    few = f"{of['divisions']} of 100 divisions"
    far = abs(of["cost"] - float(printed) / 100) / max(of["error"], 1e-9)
    return f"{few}: {far:.1f} standard errors" if of["divisions"] < 100 else "other tuning rows"


def table_2(found: Found) -> tuple[list[str], list[list[str]]]:
    """Normalised costs, averaged over the levels."""
    lines = []
    for name in dict.fromkeys(key.rsplit(" ", 1)[0] for key in found):
        mine = [of for key, of in found.items() if key.rsplit(" ", 1)[0] == name]
        # The levels share their divisions, so their errors do not cancel.
        keys = ("cost", "error", "divisions")
        mean = {key: float(np.mean([of[key] for of in mine])) for key in keys}
        mean["divisions"] = int(mean["divisions"])
        tmdp, streed, *_ = COSTS.get(name, ("", ""))
        values = [percent(mean["cost"]), percent(mean["error"])]
        lines.append([name, tmdp, streed, *values, cost_reason(mean, streed)])
    header = ["data set", "TMDP, paper", "STreeD, paper", "certree", "standard error"]
    return [*header, "why it differs"], lines


def table_3(found: Found) -> tuple[list[str], list[list[str]]]:
    """Normalised costs at each level."""
    lines = []
    for key, of in found.items():
        name, level = key.rsplit(" ", 1)
        printed = COSTS.get(name, [""] * 5)[2 + LEVELS.index(level)]
        values = [percent(of["cost"]), percent(of["error"]), seconds(of)]
        lines.append([name, level, printed, *values, cost_reason(of, printed)])
    header = ["data set", "costs", "STreeD, paper", "certree", "standard error"]
    return [*header, "CPU s per division", "why it differs"], lines


def table_4(found: Found) -> tuple[list[str], list[list[str]]]:
    """Sizes of the trees, over all tables and levels."""
    printed = {
        "tree depth": ("7.9", "1.9", "2.2", "depth"),
        "number of leaves": ("26.1", "7.4", "5.4", "leaves"),
        "question length": ("4.4", "1.7", "2.8", "tests"),
    }
    lines = [
        [what, c45, tmdp, streed, number(float(np.mean([of[key] for of in found.values()])), 1)]
        for what, (c45, tmdp, streed, key) in printed.items()
    ]
    return ["mean", "C4.5, paper", "TMDP, paper", "STreeD, paper", "certree"], lines


def each_figure(found: Found) -> Any:
    """Draw how many searches are done within so many seconds."""
    return solved_within({"certree": [t for of in found.values() for t in of["each"]]})


# Policies ----------------------------------------------------------------------------------------


def policy_runs(scope: Scope) -> Iterator[Run]:
    """Warfarin dosing: all training sets at a depth are one run."""
    if scope.data is None:
        return
    files = task_suites.warfarin_files(scope.data)
    needs = files[0] if files else scope.data / "policy" / "train_rf_dt_0.06_0_0.csv"
    for depth in WARFARIN:
        work = partial(policies, tuple(files), depth)
        yield Run(f"depth {depth}", work, scope.seconds(20, 300), needs)


# Label, treatment, outcome, propensity and three estimates; the best treatment; then the columns.
HISTORY, BEST, FIRST_COLUMN = slice(1, 7), 7, 11


def policies(files: tuple[Path, ...], depth: int, limit: float) -> Numbers:
    """Learn a policy on each training set; count how often it gives the best treatment."""
    shares, each, work = [], [], 0
    for path in files:
        train, test = np.loadtxt(path), np.loadtxt(task_suites.test_set_of(path))
        model = PolicyTree(max_depth=depth, time_limit=limit, random_state=0, verbose=0)
        scores = doubly_robust(train[:, HISTORY])
        _, cpu = timed(partial(model.fit_rewards, train[:, FIRST_COLUMN:], scores))
        given = np.asarray(model.predict(test[:, FIRST_COLUMN:])).astype(int)
        shares.append(float(np.mean(given == test[:, BEST])))
        each.append(cpu if model.certificate_.is_optimal else None)
        work += int(model.certificate_.counters["depth_two_evaluations"])
    return {
        "correct": float(np.mean(shares)),
        "sets": len(files),
        "each": each,
        "cpu": float(np.mean([t for t in each if t is not None] or [np.nan])),
        "work": work // len(files),
        "proven": None not in each,
    }


def table_6(found: Found) -> tuple[list[str], list[list[str]]]:
    """Share of new patients who get the best treatment."""
    lines = []
    for key, of in found.items():
        depth = int(key.rsplit(" ", 1)[1])
        printed = WARFARIN[depth]
        time = "3" if depth == 5 else "<1"
        same = abs(100 * of["correct"] - float(printed)) <= 0.05
        few = f"{of['sets']} of the paper's 75 training sets; doubly robust scores alone"
        values = [percent(of["correct"]), time, seconds(of), f"{of['work']:,}", str(of["sets"])]
        lines.append([str(depth), printed, *values, "" if same or of["sets"] == 75 else few])
    header = ["depth", "correct %, paper", "certree", "s, paper", "CPU s", "evaluations"]
    return [*header, "training sets", "why it differs"], lines


def synthetic_runs(scope: Scope) -> Iterator[Run]:
    """Generated treatments: eleven teachers and three depths are one run."""
    if scope.data is None:
        yield Run("2 features, share 0.5, set 0", partial(synthetic, 2, 0.5, 0, (1,), 100), 5.0)
        return
    shares = (0.1, 0.25, 0.5, 0.75, 0.9) if scope.full else (0.25, 0.75)
    for features in (2, 10, 20):
        for share in shares:
            for seed in range(5 if scope.full else 1):
                name = f"{features} features, share {share}, set {seed}"
                work = partial(synthetic, features, share, seed, (1, 2, 3), 10_000)
                yield Run(name, work, scope.seconds(20, 300))


def synthetic(
    features: int, share: float, seed: int, depths: tuple[int, ...], n_new: int, limit: float
) -> Numbers:
    """Learn a policy for every teacher and depth; score on new rows."""
    rows = datasets.make_two_treatments(500, features, best_share=share, random_state=seed)
    new = datasets.make_two_treatments(n_new, features, random_state=1000 + seed)
    each: list[float | None] = []
    correct: dict[str, list[float]] = {}
    for name, (params, given) in datasets.policy_teachers(rows.propensity).items():
        for depth in depths:
            model = PolicyTree(max_depth=depth, thresholds=9, time_limit=limit, verbose=0, **params)
            fit = partial(model.fit, rows.data, rows.treatment, rows.outcome, **given)
            timed(fit)
            done = model.certificate_
            each.append(float(done.seconds) if done.is_optimal else None)
            best = np.asarray(model.predict(new.data)).astype(int) == new.best
            correct.setdefault(f"{name.split()[0]} {depth}", []).append(float(np.mean(best)))
    means = {key: float(np.mean(values)) for key, values in correct.items()}
    return {"each": each, "correct": means, "proven": None not in each}


def synthetic_table(found: Found) -> tuple[list[str], list[list[str]]]:
    """Problems solved, their slowest, and how good the policies are on new rows."""
    lines = []
    for name, of in found.items():
        times = [t for t in of["each"] if t is not None]
        solved = f"{len(times)} of {len(of['each'])}"
        shown = [f"{key}: {percent(value)}" for key, value in of["correct"].items()]
        lines.append([name, solved, f"{max(times):.2g}" if times else "-", "; ".join(shown)])
    return ["data", "solved", "slowest, s", "best treatment, % (teacher and depth)"], lines


# Metrics, fairness, accuracy ----------------------------------------------------------------------


def binary_runs(scope: Scope, entries: Any, depths: tuple[int, ...], full: float) -> Iterator[Run]:
    """All tables of the depth-limited comparisons at some depths."""
    if scope.data is None:
        read = partial(random_instance, 100, 8, 1)
        yield Run("generated, depth 2", partial(solve, read, entries(2, False)), 5.0)
        return
    for name in TABLES:
        path = scope.data / "accuracy" / f"{name}.csv"
        for depth in depths if scope.full or name not in SLOW else depths[:1]:
            work = partial(solve, partial(read_table, path), entries(depth, scope.peers))
            yield Run(f"{name}, depth {depth}", work, scope.seconds(10, full), path)


def f1_entries(depth: int, peers: bool) -> tuple[Entry, ...]:
    """The best F1."""
    ours = Entry("certree", "certree-metric", depth, options={"objective": "f1"}, metric="f1")
    theirs = Entry("pystreed", "pystreed-f1", depth, metric="f1")
    return (ours, theirs) if peers else (ours,)


def accuracy_entries(depth: int, peers: bool) -> tuple[Entry, ...]:
    """The fewest errors."""
    names = ("certree", "pystreed", "pydl8.5") if peers else ("certree",)
    return tuple(Entry(name, name, depth) for name in names)


Printed = dict[str, tuple[str, ...]]


def time_table(found: Found, table: Printed, first: dict[int, int], names: list[str]) -> Any:
    """Lay out values and times; `first` is where the printed times of a depth begin."""
    value = "F1" if table is TABLES and 3 in first else "errors"
    header = ["data set", "depth", value, "accuracy %", *(f"{name} s, paper" for name in names)]
    header += ["CPU s", "evaluations", *(f"{peer}, here" for peer in peer_columns(found))]
    lines = []
    for key, of in found.items():
        name, depth = key.split(", depth ")
        start = first.get(int(depth), 0)
        printed = table.get(name, ("",) * 10)[start : start + len(names)]
        ours = exact_text(of, value) + ("" if of["proven"] else " (not proven)")
        values = [ours, percent(of["accuracy"], 2), *printed, seconds(of), f"{of['work']:,}"]
        beside = [peer_text(of["peers"].get(peer), value) for peer in peer_columns(found)]
        lines.append([name, depth, *values, *beside])
    return header, lines


def exact_text(of: Numbers, value: str) -> str:
    """Write the F1 or the number of errors."""
    return number(of["value"], 4) if value == "F1" else str(of["errors"])


def peer_text(of: Numbers | None, value: str) -> str:
    """Write what a peer found, and its processor seconds."""
    missing = of is None or "errors" not in of
    return "-" if missing else f"{exact_text(of, value)}, {seconds(of)} s"


def time_figure(found: Found, table: Printed, first: dict[int, int], names: list[str]) -> Any:
    """Draw our times, and the printed ones of the same problems."""
    curves: dict[str, list[float | None]] = {"certree": [], **{f"{n}, paper": [] for n in names}}
    for key, of in found.items():
        name, depth = key.split(", depth ")
        curves["certree"].append(of["cpu"] if of["proven"] else None)
        start = first.get(int(depth))
        for place, label in enumerate(names):
            if name in table and start is not None:
                printed = table[name][start + place]
                curves[f"{label}, paper"] += [of_paper(printed)] if printed else []
    return solved_within({label: times for label, times in curves.items() if times})


def fair_runs(scope: Scope, constraint: str) -> Iterator[Run]:
    """All tables with groups, at most one percent between them, depth 2 and 3."""
    options = {"constraint": constraint, "tolerance": limit_suites.TOLERANCE}
    if scope.data is None:
        entry = Entry("certree", "certree-fair", 2, options=options)
        yield Run("generated, depth 2", partial(solve, generated_groups, (entry,)), 5.0)
        return
    for name in FAIR:
        path = scope.data / "fairness" / f"{name}-binarized.csv"
        for depth in (2, 3):
            packages = ("certree", "pystreed") if scope.peers else ("certree",)
            entries = tuple(Entry(p, f"{p}-fair", depth, options=options) for p in packages)
            work = partial(solve, partial(read_table, path), entries)
            yield Run(f"{name}, depth {depth}", work, scope.seconds(20, 600), path)


def generated_groups() -> Instance:
    """Give a small table whose first column names a group."""
    return next(iter(limit_suites.fair_instances()))


# Where the printed times of each depth begin, and whose they are.
OF_F1: dict[str, Any] = {"table": TABLES, "first": {3: 0, 4: 2}, "names": ["MurTree", "STreeD"]}
OF_ACCURACY: dict[str, Any] = {
    "table": TABLES,
    "first": {4: 4, 5: 7},
    "names": ["DL8.5", "MurTree", "STreeD"],
}
OF_PARITY: dict[str, Any] = {"table": FAIR, "first": {2: 0, 3: 2}, "names": ["DPF", "STreeD"]}
OF_OPPORTUNITY: dict[str, Any] = {"table": FAIR, "first": {2: 4, 3: 5}, "names": ["STreeD"]}

TIMES = (
    "The paper prints times only; values are ours. Its times are seconds of a 2.6 GHz i7, "
    "ours are processor seconds of one thread. A peer that runs here has values of its own beside."
)
PAPER = Paper(
    "streed",
    "STreeD",
    (
        Experiment(
            "costs",
            "Cost matrices and prices of tests with discounts; depth 4, the number of splits "
            "chosen by five random divisions of the training rows, scored on test rows.",
            cost_runs,
            (
                Table(
                    "Table 2: normalised costs on new rows, %",
                    table_2,
                    "Costs are divided by the price of all tests with their discounts plus the "
                    "dearest error: with the plain sum of prices that the paper writes (equation "
                    "61) all tables with discounts would be lower than printed, those without, "
                    "such as iris, the same. The published divisions are 100, the data folder may "
                    "hold fewer.",
                ),
                Table("Table 3: the same at each level of costs", table_3),
                Table(
                    "Table 4: sizes of the trees",
                    table_4,
                    "Means over the tables at hand; the paper's are over 13 tables. The paper's "
                    "row of leaves is set in one line with its row of depths.",
                ),
                Figure(
                    "costs",
                    "Figures 2a and 4: time of tuning",
                    each_figure,
                    "Processor seconds of a whole tuning, 75 trees in five divisions.",
                ),
            ),
        ),
        Experiment(
            "warfarin",
            "Policies for Warfarin dosing from doubly robust scores, scored on test patients.",
            policy_runs,
            (
                Table("Table 6: best treatment for new patients", table_6),
                Figure("warfarin", "Figure 2b: time of policies", each_figure),
            ),
        ),
        Experiment(
            "synthetic",
            "The treatments of equation 66 and table 5, generated: 500 rows to learn from, 10 "
            "columns for each feature, eleven teachers, depth 1 to 3, 10 000 new rows.",
            synthetic_runs,
            (
                Figure(
                    "synthetic",
                    "Figure 5: time of policies on generated data",
                    each_figure,
                    "Seconds of the search with its encoding, without the teachers.",
                ),
                Table(
                    "Figure 5 in numbers",
                    synthetic_table,
                    "The paper shows times alone. Table 5 is the definition of the data.",
                ),
            ),
        ),
        Experiment(
            "f1",
            "The best F1 within a depth; the greater label is positive.",
            partial(binary_runs, entries=f1_entries, depths=(3, 4), full=600.0),
            (
                Table("Table 7: F1", partial(time_table, **OF_F1), TIMES),
                Figure(
                    "f1",
                    "Figure 2c: time to the best F1",
                    partial(time_figure, **OF_F1),
                    'A printed "<1" is drawn at one second.',
                ),
            ),
        ),
        Experiment(
            "parity",
            "The fewest errors with at most one percent between the rates of two groups.",
            partial(fair_runs, constraint="demographic_parity"),
            (
                Table("Table 8: demographic parity", partial(time_table, **OF_PARITY), TIMES),
                Figure(
                    "parity", "Figure 2d: time of fair trees", partial(time_figure, **OF_PARITY)
                ),
            ),
        ),
        Experiment(
            "opportunity",
            "The same with the rates among rows of the positive class.",
            partial(fair_runs, constraint="equal_opportunity"),
            (
                Table(
                    "Table 9: equality of opportunity",
                    partial(time_table, **OF_OPPORTUNITY),
                    TIMES,
                ),
            ),
        ),
        Experiment(
            "accuracy",
            "The fewest errors within a depth.",
            partial(binary_runs, entries=accuracy_entries, depths=(4, 5), full=600.0),
            (
                Table("Table 10: accuracy", partial(time_table, **OF_ACCURACY), TIMES),
                Figure(
                    "accuracy",
                    "Figure 6: time to the fewest errors",
                    partial(time_figure, **OF_ACCURACY),
                    'A printed "<1" is drawn at one second.',
                ),
            ),
        ),
    ),
    "Table 1 and table 5 describe data, figures 1 and 3 the method.",
)
