"""Suites of F1, other metrics of two kinds of error, fronts and areas under the ROC curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from . import instances
from .instances import Instance
from .suites import Case, Choice, Entry, of_solvers


def two_classes(choice: Choice) -> Iterator[Instance]:
    """Yield the sets of the depth-limited comparisons that have two classes."""
    for instance in instances.accuracy_instances():
        if choice.wants(instance.name) and len(np.unique(instance.labels)) == 2:
            yield instance


def f1(choice: Choice) -> Iterator[Case]:
    """The best F1 of a depth, against STreeD."""
    limit = choice.limit or 300.0
    for instance in two_classes(choice):
        for depth in (3, 4) if choice.depth is None else (choice.depth,):
            entries = (
                Entry("certree", "certree-metric", depth, 0.0, limit, {"objective": "f1"}, "f1"),
                Entry("pystreed", "pystreed-f1", depth, 0.0, limit, {}, "f1"),
            )
            yield Case(instance, f"depth {depth}", of_solvers(choice, entries))


def front(choice: Choice) -> Iterator[Case]:
    """All nondominated trees of a depth, against STreeD, which needs them for its F1."""
    depth = choice.depth or 3
    limit = choice.limit or 300.0
    entries = (
        Entry("certree", "certree-front", depth, 0.0, limit, {}, "f1"),
        Entry("pystreed", "pystreed-f1", depth, 0.0, limit, {}, "f1"),
    )
    for instance in two_classes(choice):
        yield Case(instance, f"depth {depth}", of_solvers(choice, entries))


def metrics(choice: Choice) -> Iterator[Case]:
    """What other metrics take beside F1."""
    depth = choice.depth or 4
    limit = choice.limit or 120.0
    entries = tuple(
        Entry(name, "certree-metric", depth, 0.0, limit, {"objective": name}, name)
        for name in ("f1", "mcc", "fowlkes_mallows")
    )
    for instance in two_classes(choice):
        yield Case(instance, f"depth {depth}", entries)


def auc(choice: Choice) -> Iterator[Case]:
    """The largest area under the ROC curve, and how far its proof has come."""
    depth = choice.depth or 3
    limit = choice.limit or 120.0
    entry = Entry("certree", "certree-area", depth, 0.0, limit, {"objective": "auc"}, "auc")
    for instance in area_instances():
        if choice.wants(instance.name):
            yield Case(instance, f"depth {depth}", (entry,))


def area_instances() -> Iterator[Instance]:
    """Yield the MONK's problems, a spiral, and two tables of the depth-limited comparisons."""
    yield from instances.sparse_instances(["monk1", "monk2", "monk3"])
    folder = instances.data_folder()
    if folder is None:
        return
    from certree.encoding import TableEncoder

    table = np.loadtxt(folder / "mixed" / "spiral.csv", delimiter=",", skiprows=1)
    encoded = TableEncoder(thresholds="all").fit_transform(table[:, :-1])
    yield Instance("spiral", np.asarray(encoded, dtype=np.uint8), table[:, -1].astype(np.int64))
    for instance in instances.accuracy_instances():
        if instance.name in ("diabetes", "german-credit"):
            yield instance


METRIC_SUITES: dict[str, Callable[[Choice], Iterator[Case]]] = {
    "f1": f1,
    "front": front,
    "metrics": metrics,
    "auc": auc,
}
