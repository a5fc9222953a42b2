"""Suites of costs, policies and regression: their data, and the settings of their comparisons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .instances import Array, Instance, data_folder, random_instance
from .suites import Case, Choice, Entry
from .task_solvers import doubly_robust

LEVELS = ("low", "middle", "high")


def compare(kind: str, choice: Choice, depth: int, limit: float) -> tuple[Entry, ...]:
    """Make one entry per solver of a kind of task."""
    names = choice.solvers or (f"certree-{kind}", f"pystreed-{kind}")
    return tuple(
        Entry(name.removesuffix(f"-{kind}"), name, depth, limit=choice.limit or limit)
        for name in names
    )


def costs(choice: Choice) -> Iterator[Case]:
    """Cost matrices and prices of tests, all splits and cost levels, against STreeD."""
    depth = choice.depth or 4
    entries = compare("costs", choice, depth, 300.0)
    for instance in cost_instances():
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
    """Squared error against STreeD."""
    depth = choice.depth or 4
    for found in regression_instances():
        if choice.wants(found.name):
            yield Case(found, f"depth {depth}", compare("regression", choice, depth, 300.0))


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
    for home in sorted((folder / "cost-sensitive").iterdir()):
        for level in LEVELS:
            matrix, prices = read_costs(home / f"{home.name}-{level}-costs.csv")
            for path in sorted(home.glob(f"{home.name}-train-*.csv")):
                table = np.loadtxt(path, dtype=np.int64)
                number = path.stem.rsplit("-", 1)[1]
                name = f"{home.name}-{number}-{level}"
                bare = Instance(name, table[:, 1:].astype(np.uint8), table[:, 0])
                yield with_costs(bare, matrix, prices)


def with_costs(table: Instance, matrix: list[list[float]], prices: dict[str, Any]) -> Instance:
    """Add a cost matrix and prices to a table."""
    costs = np.array(matrix)[table.labels]
    setting = json.dumps({"matrix": matrix, "prices": prices})
    return Instance(
        table.name, table.columns, table.labels, {"costs": costs, "setting": np.array(setting)}
    )


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
    for path in sorted((folder / "policy").glob("*_train_*.csv")):
        rows = np.loadtxt(path)
        yield with_history(path.stem, rows[:, 11:].astype(np.uint8), rows[:, 1:7])


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
    for path in sorted((folder / "instance-cost").glob("*.txt")):
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


TASK_SUITES = {
    "costs": costs,
    "policy": policy,
    "instance": instance,
    "regression": regression,
}
