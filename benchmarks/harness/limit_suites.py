"""Suites with limits on the whole tree: fairness, its price, and capacities of treatments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .instances import Instance, data_folder, random_instance, read_table
from .suites import Case, Choice, Entry, of_solvers
from .task_suites import policy_instances

TOLERANCE = "0.01"
CONSTRAINTS = ("demographic_parity", "equal_opportunity")
# The set with by far the most rows has few columns, and is solved one level deeper, too.
DEEPER = "adult"


def fairness(choice: Choice) -> Iterator[Case]:
    """The most accurate tree with at most one percent between two groups, against STreeD."""
    for instance in fair_instances():
        if not choice.wants(instance.name):
            continue
        own = (2, 3, 4) if instance.name == DEEPER else (2, 3)
        for constraint in CONSTRAINTS:
            for depth in own if choice.depth is None else (choice.depth,):
                yield fair_case(instance, constraint, depth, choice)


def fair_case(instance: Instance, constraint: str, depth: int, choice: Choice) -> Case:
    """Compare the solvers in one setting."""
    limit = choice.limit or 300.0
    options = {"constraint": constraint, "tolerance": TOLERANCE}
    entries = (
        Entry("certree", "certree-fair", depth, 0.0, limit, options),
        Entry("pystreed", "pystreed-fair", depth, 0.0, limit, options),
    )
    setting = f"{constraint.replace('_', ' ')}, depth {depth}"
    return Case(instance, setting, of_solvers(choice, entries))


def curve(choice: Choice) -> Iterator[Case]:
    """What the best trees for all tolerances take beside the one for a single tolerance."""
    depth = choice.depth or 3
    limit = choice.limit or 120.0
    for instance in fair_instances():
        for constraint in CONSTRAINTS:
            if not choice.wants(instance.name):
                continue
            options = {"constraint": constraint, "tolerance": TOLERANCE}
            entries = (
                Entry("one tolerance", "certree-fair", depth, 0.0, limit, options),
                Entry("all tolerances", "certree-curve", depth, 0.0, limit, options),
            )
            yield Case(instance, f"{constraint.replace('_', ' ')}, depth {depth}", entries)


def capacity(choice: Choice) -> Iterator[Case]:
    """Doubly robust policies that may give one of the treatments to a fifth of the rows."""
    depth = choice.depth or 3
    limit = choice.limit or 120.0
    for instance in policy_instances():
        if not choice.wants(instance.name):
            continue
        for treatment in reversed(range(instance.extra["costs"].shape[1])):
            options = {"capacity": {str(treatment): "0.2"}}
            entry = Entry("certree", "certree-capacity", depth, 0.0, limit, options)
            setting = f"depth {depth}, a fifth on treatment {treatment}"
            yield Case(instance, setting, (entry,))


def fair_instances() -> Iterator[Instance]:
    """Yield the sets of the comparison (STreeD, tables 8 and 9); the first column is sensitive."""
    folder = data_folder()
    if folder is None:
        yield random_instance(300, 12, seed=6)
        return
    for path in sorted((folder / "fairness").glob("*.csv")):
        yield replace(read_table(path), name=path.stem.removesuffix("-binarized"))


LIMIT_SUITES: dict[str, Callable[[Choice], Iterator[Case]]] = {
    "fairness": fairness,
    "curve": curve,
    "capacity": capacity,
}
