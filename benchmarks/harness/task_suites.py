"""Suites of costs, policies, regression and survival: their data, and what they compare."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from certree import TableEncoder

from .instances import Array, Instance, data_folder, random_instance
from .suites import Case, Choice, Entry, of_solvers
from .task_solvers import doubly_robust

LEVELS = ("low", "middle", "high")

# Generated tables: rows and classes; attributes and categories of each; the dearest test.
LARGE = ((28_000, 18), (13_000, 5))
SHAPES = ((10, 3), (9, 5), (10, 6))
PRICES = {"free": 0.0, "cheap": 1.0, "dear": 10.0}

SURVIVAL_SETS = (
    *("flchain", "rott2", "hdfail", "Framingham", "Aids2", "GBSG2", "LeukSurv", "TRACE"),
    *("actg", "colon", "grace", "prostate", "uis", "whas500"),
)


def compare(kind: str, choice: Choice, depth: int, limit: float, *others: str) -> tuple[Entry, ...]:
    """Make one entry per solver of a kind of task; the command line names the packages alone.

    The `others` run only if it names them.
    """
    entries = tuple(
        Entry(name, f"{name}-{kind}", depth, limit=choice.limit or limit)
        for name in ("certree", "pystreed", *others)
    )
    return entries[:2] if choice.solvers is None else of_solvers(choice, entries)


def costs(choice: Choice) -> Iterator[Case]:
    """Cost matrices and prices of tests, all splits and cost levels, against STreeD."""
    depth = choice.depth or 4
    entries = compare("costs", choice, depth, 300.0)
    for instance in itertools.chain(cost_instances(), large_cost_instances()):
        if choice.wants(instance.name) or choice.wants(instance.name.split("-")[0]):
            yield Case(instance, f"depth {depth}", entries)


def policy(choice: Choice) -> Iterator[Case]:
    """Doubly robust policies of growing depth against STreeD."""
    for instance in policy_instances():
        for depth in (1, 2, 3, 4, 5) if choice.depth is None else (choice.depth,):
            if choice.wants(instance.name):
                yield Case(instance, f"depth {depth}", compare("policy", choice, depth, 300.0))


def instance(choice: Choice) -> Iterator[Case]:
    """Costs per row and label against STreeD."""
    depth = choice.depth or 4
    for found in row_cost_instances():
        if choice.wants(found.name):
            yield Case(found, f"depth {depth}", compare("instance", choice, depth, 300.0))


def regression(choice: Choice) -> Iterator[Case]:
    """Squared error against STreeD, and against OSRT if it is named."""
    for found in (*regression_instances(), *linear_instances()):
        for depth in (4, 5) if choice.depth is None else (choice.depth,):
            if choice.wants(found.name):
                yield Case(
                    found, f"depth {depth}", compare("regression", choice, depth, 300.0, "osrt")
                )


def linear(choice: Choice) -> Iterator[Case]:
    """Squared error around a line over one column per leaf, against STreeD."""
    for found in linear_instances():
        for depth in (3, 4) if choice.depth is None else (choice.depth,):
            if choice.wants(found.name):
                yield Case(found, f"depth {depth}", compare("linear", choice, depth, 300.0))


def survival(choice: Choice) -> Iterator[Case]:
    """The likelihood of censored times against STreeD."""
    for found in survival_instances():
        for depth in (3, 4) if choice.depth is None else (choice.depth,):
            if choice.wants(found.name):
                yield Case(found, f"depth {depth}", compare("survival", choice, depth, 300.0))


def cost_instances() -> Iterator[Instance]:
    """Yield the training sets with their cost files, or a generated table."""
    folder = data_folder()
    if folder is None:
        table = random_instance(300, 12, seed=2)
        prices = {
            "of_column": [j // 2 for j in range(12)],
            "group": [0, 0, 1, 2, 3, 4],
            "price": [3.0, 2.0, 1.0, 1.5, 0.5, 4.0],
            "discounted": [1.0, 0.5, 1.0, 1.5, 0.5, 4.0],
        }
        yield with_costs(table, [[0.0, 20.0], [30.0, 0.0]], prices)
        return
    for home in sorted(p for p in (folder / "cost-sensitive").iterdir() if p.is_dir()):
        for level in LEVELS:
            matrix, prices = read_costs(home / f"{home.name}-{level}-costs.csv")
            for path in sorted(home.glob(f"{home.name}-train-*.csv")):
                table = np.loadtxt(path, dtype=np.int64)
                number = path.stem.rsplit("-", 1)[1]
                name = f"{home.name}-{number}-{level}"
                bare = Instance(name, table[:, 1:].astype(np.uint8), table[:, 0])
                yield with_costs(bare, matrix, prices)


def large_cost_instances() -> Iterator[Instance]:
    """Generate tables with many rows and several classes, with free tests and with priced ones."""
    for n_rows, n_classes in LARGE:
        for attributes, categories in SHAPES:
            table = scored_table(n_rows, n_classes, attributes, categories)
            rng = np.random.default_rng(n_classes)
            matrix = rng.integers(1, 100, (n_classes, n_classes))
            np.fill_diagonal(matrix, 0)
            for level, dearest in PRICES.items():
                price = np.round(rng.uniform(dearest / 4, dearest, attributes), 4)
                share = rng.uniform(0.2, 0.8, attributes)
                group = np.minimum(np.arange(attributes) // 2, 3)
                prices = {
                    "of_column": np.repeat(np.arange(attributes), categories).tolist(),
                    # The first six attributes have discounts in pairs, the others have none.
                    "group": [f"pair {g}" if g < 3 else f"{a}" for a, g in enumerate(group)],
                    "price": price.tolist(),
                    "discounted": np.where(group < 3, np.round(price * share, 4), price).tolist(),
                }
                named = replace(table, name=f"{table.name}-{level}")
                yield with_costs(named, matrix.astype(float).tolist(), prices)


def scored_table(n_rows: int, n_classes: int, attributes: int, categories: int) -> Instance:
    """Draw categories as 0/1 columns; the class is a score's rank, with noise."""
    rng = np.random.default_rng((n_rows, n_classes, attributes, categories))
    table = rng.integers(0, categories, (n_rows, attributes))
    score = rng.normal(0, 0.3, n_rows)
    for a in range(attributes):
        # Attributes matter less and less, and each one together with the next.
        effect = rng.normal(0, 1, (categories, categories)) / (1 + a)
        score += effect[table[:, a], table[:, (a + 1) % attributes]]
    rank = np.argsort(np.argsort(score))
    labels = (rank * n_classes // n_rows).astype(np.int64)
    columns = (table[:, :, None] == np.arange(categories)).reshape(n_rows, -1)
    name = f"scores-{n_rows}x{attributes * categories}-{n_classes}"
    return Instance(name, columns.astype(np.uint8), labels)


def with_costs(table: Instance, matrix: list[list[float]], prices: dict[str, Any]) -> Instance:
    """Add a cost matrix and prices to a table."""
    costs = np.array(matrix)[table.labels]
    setting = json.dumps({"matrix": matrix, "prices": prices})
    return Instance(
        table.name, table.columns, table.labels, {"costs": costs, "setting": np.array(setting)}
    )


def setting_of(table: Instance) -> dict[str, Any]:
    """Give the cost matrix and the prices of a table."""
    setting: dict[str, Any] = json.loads(str(table.extra["setting"]))
    return setting


def read_costs(path: Path) -> tuple[list[list[float]], dict[str, Any]]:
    """Read a cost file: the matrix, a header, and one line for each original attribute."""
    lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
    head = next(i for i, line in enumerate(lines) if line[0] == "Attribute-name")
    matrix = [[float(number) for number in line] for line in lines[:head]]
    of_column: dict[int, int] = {}
    prices: dict[str, list[Any]] = {"group": [], "price": [], "discounted": []}
    for number, (_, price, discounted, group, first, last) in enumerate(lines[head + 1 :]):
        prices["price"].append(float(price))
        prices["discounted"].append(float(discounted))
        prices["group"].append(f"{number}" if group == "x" else group)
        of_column |= dict.fromkeys(range(int(first), int(last) + 1), number)
    columns = [of_column[column] for column in sorted(of_column)]
    return matrix, {"of_column": columns, **prices}


def policy_instances() -> Iterator[Instance]:
    """Yield the sets of observed treatments with their teachers' estimates."""
    folder = data_folder()
    if folder is None:
        table = random_instance(400, 15, seed=3)
        rng = np.random.default_rng(3)
        given = rng.integers(0, 2, len(table.labels))
        outcome = (given == table.labels).astype(np.float64)
        guess = np.clip(np.eye(2)[table.labels] + rng.normal(0, 0.3, (len(given), 2)), 0, 1)
        history = np.column_stack([given, outcome, np.full(len(given), 0.5), guess])
        yield with_history(table.name, table.columns, history)
        return
    for path in warfarin_files(folder):
        rows = np.loadtxt(path)
        yield with_history(path.stem, rows[:, 11:].astype(np.uint8), rows[:, 1:7])


def warfarin_files(folder: Path) -> list[Path]:
    """List the training sets, named as their authors name them or with the table's name before."""
    return sorted((folder / "policy").glob("*train_*.csv"))


def test_set_of(path: Path) -> Path:
    """Name the test set that belongs to a training set."""
    return path.with_name(path.name.replace("train_", "test_"))


def with_history(name: str, columns: Array, history: Array) -> Instance:
    """Add what was given, what came of it, and what teachers make of it; costs are regrets."""
    scores = doubly_robust(history)
    regret = scores.max(axis=1, keepdims=True) - scores
    extra = {"history": history, "costs": regret, "setting": np.array("{}")}
    return Instance(name, columns, history[:, 0].astype(np.int64), extra)


def row_cost_instances() -> Iterator[Instance]:
    """Yield the sets with a cost for every row and label."""
    folder = data_folder()
    if folder is None:
        table = random_instance(300, 15, seed=4)
        costs = np.round(np.random.default_rng(4).exponential(10, (300, 4)), 2)
        extra = {"costs": costs, "setting": np.array("{}")}
        yield Instance(table.name, table.columns, table.labels, extra)
        return
    for path in sorted((folder / "instance-cost").glob("*f.txt")):
        rows = np.loadtxt(path)
        n_labels = int(path.stem.rpartition("-")[2].rstrip("f"))
        n_costs = rows.shape[1] - 1 - n_labels
        extra = {"costs": rows[:, 1 : 1 + n_costs], "setting": np.array("{}")}
        columns = rows[:, 1 + n_costs :].astype(np.uint8)
        yield Instance(path.stem, columns, rows[:, 0].astype(np.int64), extra)


def regression_instances() -> Iterator[Instance]:
    """Yield the sets with a real target."""
    folder = data_folder()
    if folder is None:
        table = random_instance(300, 15, seed=5)
        noise = np.random.default_rng(5).normal(0, 0.5, 300)
        target = np.round(3 * table.labels + table.columns[:, 0] + noise, 2)
        extra = {"target": target, "setting": np.array("{}")}
        yield Instance(table.name, table.columns, table.labels, extra)
        return
    for path in sorted((folder / "regression").glob("*.csv")):
        rows = np.loadtxt(path)
        extra = {"target": rows[:, 0], "setting": np.array("{}")}
        yield Instance(path.stem, rows[:, 1:].astype(np.uint8), np.zeros(len(rows), int), extra)


def linear_instances() -> Iterator[Instance]:
    """Yield tables of numbers with a real target: cut points as tests, numbers for the models."""
    rng = np.random.default_rng(6)
    diabetes = load_diabetes(scaled=False)
    tables = {"diabetes": (diabetes.data, diabetes.target)}
    for name, rows, columns in (("airfoil", 1503, 5), ("yacht", 308, 6), ("concrete", 1030, 8)):
        # Of the size of these sets: each region of two columns has a line of its own.
        numbers = np.round(rng.normal(size=(rows, columns)), 2)
        region = 2 * (numbers[:, 0] > 0.3) + (numbers[:, 1] > -0.4)
        slopes = rng.normal(size=(4, columns)) * (rng.random((4, columns)) < 0.4)
        target = np.sum(slopes[region] * numbers, axis=1) + region + rng.normal(0, 0.3, rows)
        tables[f"{name}-like"] = numbers, np.round(target, 2)
    for name, (numbers, target) in tables.items():
        columns = TableEncoder(thresholds=5).fit_transform(numbers)
        extra = {"models": numbers, "target": target, "setting": np.array("{}")}
        yield Instance(name, columns, np.zeros(len(target), dtype=np.int64), extra)


def survival_instances() -> Iterator[Instance]:
    """Yield the sets of the SurvSet package: ten cut points per number, a column per category.

    Rows with missing numbers or without any time are left out.
    """
    try:
        from SurvSet.data import SurvLoader
    except ImportError:
        raise SystemExit(
            "the survival suite needs the package SurvSet; install it first."
        ) from None
    loader = SurvLoader()
    for name in SURVIVAL_SETS:
        frame = loader.load_dataset(ds_name=name)["df"].drop(columns=["pid"])
        # The chapter of flchain is the cause of death.
        frame = frame.drop(columns=["fac_chapter"], errors="ignore")
        frame = frame[(frame["time"] > 0) & frame.notna().all(axis=1)]
        table = frame.drop(columns=["time", "event"])
        columns = TableEncoder(thresholds=10).fit_transform(table)
        extra = {
            "time": frame["time"].to_numpy(np.float64),
            "event": frame["event"].to_numpy() == 1,
            "setting": np.array("{}"),
        }
        yield Instance(name, columns, np.zeros(len(frame), dtype=np.int64), extra)


TASK_SUITES = {
    "linear": linear,
    "costs": costs,
    "policy": policy,
    "instance": instance,
    "regression": regression,
    "survival": survival,
}
