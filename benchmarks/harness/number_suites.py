"""Suites of tables of numbers, with every threshold, and the tables themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .instances import Instance, data_folder
from .suites import Case, Choice, Entry

DEPTHS = {2: 60.0, 3: 60.0, 4: 120.0}
"""Depths of the comparison, and the seconds that a fit of each has."""


def continuous_instances() -> Iterator[Instance]:
    """Yield the sets of numbers: those of the data folder, or what scikit-learn bundles."""
    folder = data_folder()
    if folder is None:
        from sklearn import datasets

        for name in ("iris", "wine", "breast_cancer"):
            values, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
            yield Instance(name.replace("_", "-"), values, labels.astype(np.int64))
        return
    for path in sorted((folder / "continuous").glob("*.txt")):
        table = np.loadtxt(path)
        yield Instance(path.stem, table[:, 1:], table[:, 0].astype(np.int64))


def generated(rows: int, features: int) -> Instance:
    """Draw a table of numbers with 8 informative features and a tenth of the labels flipped."""
    from sklearn.datasets import make_classification

    values, labels = make_classification(
        rows, features, n_informative=8, flip_y=0.1, random_state=0
    )
    return Instance(f"{rows:,} x {features}", values, labels.astype(np.int64))


def generated_target(rows: int) -> Instance:
    """Draw ten columns of numbers, of which five say something of a target, and noise."""
    from sklearn.datasets import make_friedman1

    values, target = make_friedman1(rows, 10, noise=1.0, random_state=0)
    return Instance(f"{rows:,} x 10", values, np.round(target, 3))


def entry(solver: str, depth: int, limit: float) -> Entry:
    """Make the entry of a solver for trees over all thresholds."""
    if solver == "certree":
        return Entry(solver, "certree-numbers", depth, 0.0, limit, {"thresholds": "all"})
    return Entry(solver, solver, depth, 0.0, limit)


def continuous(choice: Choice) -> Iterator[Case]:
    """Fewest training errors over all thresholds, against ConTree."""
    solvers = choice.solvers or ("certree", "pycontree")
    for depth in DEPTHS if choice.depth is None else (choice.depth,):
        limit = choice.limit or DEPTHS.get(depth, 120.0)
        entries = tuple(entry(solver, depth, limit) for solver in solvers)
        for instance in continuous_instances():
            if choice.wants(instance.name):
                yield Case(instance, f"depth {depth}", entries)


def ablation_ordered(choice: Choice) -> Iterator[Case]:
    """Every technique of the core switched off in turn, on ranks of numbers."""
    from certree import _core

    depth, limit = choice.depth or 3, choice.limit or 60.0
    entries = [Entry("all on", "certree-ordered", depth, limit=limit)]
    for switch in _core.switches():
        label, off = f"without {switch}", {switch: False}
        entries.append(Entry(label, "certree-ordered", depth, limit=limit, options=off))
    for instance in continuous_instances():
        if instance.name in (choice.only or ("bank", "page", "raisin", "segment", "wilt")):
            yield Case(instance, f"depth {depth}", tuple(entries))


NUMBER_SUITES: dict[str, Callable[[Choice], Iterator[Case]]] = {
    "continuous": continuous,
    "ablation_ordered": ablation_ordered,
}
