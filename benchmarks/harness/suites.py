"""What each suite measures: which instances, which settings, which solvers, which limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from . import instances
from .instances import Instance


@dataclass(frozen=True)
class Entry:
    """One column of a comparison: a solver with its settings."""

    label: str
    solver: str
    max_depth: int | None
    complexity: float = 0.0
    limit: float = 300.0
    options: dict[str, Any] = field(default_factory=dict)
    metric: str = "accuracy"  # what the objective column shows


@dataclass(frozen=True)
class Case:
    """One row of a comparison: an instance and the entries that run on it."""

    instance: Instance
    setting: str
    entries: tuple[Entry, ...]
    expected: Fraction | None = None  # the published objective, rounded to three digits
    repeats: int = 5


@dataclass(frozen=True)
class Choice:
    """What the command line may change in a suite; None means the suite's own value."""

    depth: int | None = None
    limit: float | None = None
    solvers: tuple[str, ...] | None = None
    only: tuple[str, ...] = ()

    def wants(self, name: str) -> bool:
        """Tell whether an instance is asked for; no name means all."""
        return not self.only or name in self.only


def compare(
    solvers: tuple[str, ...], choice: Choice, depth: int | None, complexity: float, limit: float
) -> tuple[Entry, ...]:
    """Make one entry per solver, all with the same setting."""
    return tuple(
        Entry(name, name, depth, complexity, choice.limit or limit)
        for name in choice.solvers or solvers
    )


def of_solvers(choice: Choice, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Keep the entries of the packages that the command line names, in its order."""
    if choice.solvers is None:
        return entries
    known = {entry.label: entry for entry in entries}
    if wrong := [name for name in choice.solvers if name not in known]:
        raise SystemExit(
            f"{', '.join(map(repr, wrong))} cannot solve this suite; use {' or '.join(known)}."
        )
    return tuple(known[name] for name in choice.solvers)


def accuracy(choice: Choice) -> Iterator[Case]:
    """Depth-limited training accuracy against STreeD."""
    depth = choice.depth or 4
    entries = compare(("certree", "pystreed"), choice, depth, 0.0, 120.0 if depth > 4 else 300.0)
    for instance in instances.accuracy_instances():
        if choice.wants(instance.name):
            yield Case(instance, f"depth {depth}", entries)


def pydl85(choice: Choice) -> Iterator[Case]:
    """Depth-limited training accuracy against DL8.5."""
    depth = choice.depth or 4
    entries = compare(("certree", "pydl8.5"), choice, depth, 0.0, 300.0)
    for instance in instances.accuracy_instances():
        if choice.wants(instance.name):
            yield Case(instance, f"depth {depth}", entries)


def small(choice: Choice) -> Iterator[Case]:
    """The fixed price of a fit: tables so small that the search hardly counts."""
    for rows, columns in ((100, 10), (100, 20), (1000, 10)):
        instance = instances.random_instance(rows, columns, seed=0)
        for depth in (2, 3, 4) if choice.depth is None else (choice.depth,):
            entries = compare(("certree", "pystreed"), choice, depth, 0.0, 60.0)
            if choice.wants(instance.name):
                yield Case(instance, f"depth {depth}", entries, repeats=200)


# Complexity and published objective (accuracy - complexity * splits) of the binary sets in table 2
# of the Branches paper (Chaouki, Read, Bifet 2024). None: no published system has proven one.
SPARSE: dict[str, tuple[float, str | None]] = {
    "monk1": (0.01, "0.940"),
    "monk1-l": (0.01, "0.930"),
    "monk1-f": (0.001, "0.983"),
    "monk2": (0.001, "0.968"),
    "monk2-f": (0.001, "0.933"),
    "monk3": (0.001, "0.985"),
    "monk3-f": (0.001, "0.983"),
    "tictactoe": (0.005, None),
    "tictactoe-f": (0.005, "0.850"),
    "careval": (0.005, "0.852"),
    "careval-f": (0.005, "0.799"),
    "mushroom": (0.01, "0.955"),
    "krvskp": (0.01, "0.900"),
    "balance": (0.01, None),
    "balance-f": (0.01, None),
    "lymph": (0.01, None),
    "lymph-f": (0.01, None),
}


def sparse(choice: Choice) -> Iterator[Case]:
    """Sparse trees without a depth limit against STreeD (depth 20) and GOSDT."""
    solvers = ("certree", "pystreed", "gosdt")
    published = instances.data_folder() is not None
    for instance in instances.sparse_instances([name for name in SPARSE if choice.wants(name)]):
        complexity, objective = SPARSE[instance.name]
        entries = compare(solvers, choice, choice.depth, complexity, 60.0)
        expected = Fraction(objective) if published and objective else None
        yield Case(instance, f"complexity {complexity}", entries, expected)


# The same for the sets of that table in which columns are categories ("ordinal encoding"). The
# figures look cut to three digits there, so the middle of what they can stand for is expected.
MULTIWAY: dict[str, tuple[float, str | None]] = {
    "monk1-o": (0.01, "0.900"),
    "monk2-o": (0.001, "0.955"),
    "monk3-o": (0.001, "0.987"),
    "tictactoe-o": (0.005, "0.773"),
    "careval-o": (0.005, "0.812"),
    "mushroom-o": (0.01, "0.975"),
    "lymph-o": (0.01, "0.852"),
    "balance-o": (0.01, None),
}


def multiway(choice: Choice) -> Iterator[Case]:
    """Sparse trees of tests with one outcome per category, without a depth limit."""
    for instance in instances.sparse_instances([name for name in MULTIWAY if choice.wants(name)]):
        complexity, objective = MULTIWAY[instance.name]
        options = {"splits": "multiway", "categorical_features": "all"}
        limit = choice.limit or 60.0
        entry = Entry("certree", "certree", choice.depth, complexity, limit, options)
        expected = Fraction(objective) + Fraction(1, 2000) if objective else None
        yield Case(instance, f"complexity {complexity}", (entry,), expected)


def hard_subset(choice: Choice, names: tuple[str, ...]) -> Iterator[Instance]:
    """Yield the instances asked for, or else a representative few of the data folder."""
    everything = list(instances.accuracy_instances())
    chosen = [i for i in everything if i.name in (choice.only or names)]
    yield from chosen or everything


def ablation(choice: Choice) -> Iterator[Case]:
    """Every technique of the core switched off in turn: what it saves in work and in time."""
    from certree import _core

    depth = choice.depth or 4
    limit = choice.limit or 60.0
    entries = [Entry("all on", "certree-core", depth, limit=limit)]
    # Not a technique but a promise: among the best trees the smallest. Its proof has a price too.
    any_tree = {"smallest": False}
    entries.append(Entry("any best tree", "certree-core", depth, limit=limit, options=any_tree))
    for switch in _core.switches():
        label = f"without {switch}"
        entries.append(Entry(label, "certree-core", depth, limit=limit, options={switch: False}))
    names = ("anneal", "diabetes", "hepatitis", "kr-vs-kp", "tic-tac-toe", "vote")
    for instance in hard_subset(choice, names):
        yield Case(instance, f"depth {depth}", tuple(entries))


def threads(choice: Choice) -> Iterator[Case]:
    """The same search with more threads, up to the cores of the machine."""
    depth = choice.depth or 5
    limit = choice.limit or 120.0
    counts = [n for n in (1, 2, 4, 8, 16) if n <= max(2, os.cpu_count() or 1)]
    entries = tuple(
        Entry(f"{n} threads", "certree", depth, limit=limit, options={"n_jobs": n}) for n in counts
    )
    for instance in hard_subset(choice, ("anneal", "diabetes", "german-credit", "kr-vs-kp")):
        yield Case(instance, f"depth {depth}", entries)


SUITES: dict[str, Callable[[Choice], Iterator[Case]]] = {
    "accuracy": accuracy,
    "pydl85": pydl85,
    "small": small,
    "sparse": sparse,
    "multiway": multiway,
    "ablation": ablation,
    "threads": threads,
}
