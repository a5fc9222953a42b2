"""Trees before the proof: certree over time, beside heuristics and anytime searches.

One run is a set and a depth. Peers are measured from outside: seconds of `fit`, errors counted from
predictions. A peer with a setting to choose, such as a time limit, is fitted with several, and each
fit is a point. certree is fitted once, and its errors at any moment are read off its history. What
certree does before its clock starts and after it stops is added to all moments of the history.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from . import instances, schedule
from .instances import Instance
from .number_suites import continuous_instances
from .suites import Case, Entry

BINARY_DEPTHS = (5, 6, 8, 10)
NUMBER_DEPTHS = (4, 5, 6, 8)
SYSTEMS = ("CART", "LicketySPLIT 1", "LicketySPLIT 2", "LGDT", "DL8.5 LDS", "FastSmallTree")
"""The peers; LicketySPLIT with its look-ahead."""
SHORT = 0.02
"""Seconds of the fit that tells how long certree takes around its search."""

Run = dict[str, Any]


def sets(only: tuple[str, ...]) -> Iterator[tuple[Instance, tuple[int, ...]]]:
    """Yield the sets with their depths; sets of numbers as certree's candidates, and as numbers."""
    from certree.encoding import TableEncoder

    for found in instances.accuracy_instances():
        if not only or found.name in only:
            yield found, BINARY_DEPTHS
    for found in continuous_instances():
        name = f"{found.name} (numbers)"
        if not only or name in only or found.name in only:
            columns = np.asarray(TableEncoder().fit_transform(found.columns), dtype=np.uint8)
            extra = {"numbers": np.ascontiguousarray(found.columns, dtype=np.float64)}
            yield Instance(name, columns, found.labels, extra), NUMBER_DEPTHS


def entries(system: str, depth: int, rows: int, limit: float) -> list[Entry]:
    """Return the fits of one peer."""
    base = Entry(system, "", depth, limit=limit)
    if system == "CART":
        return [replace(base, solver="greedy")]
    if system.startswith("LicketySPLIT"):
        return [replace(base, solver="licketysplit", options={"lookahead_k": int(system[-1])})]
    if system == "LGDT":
        return [replace(base, solver="lgdt")]
    if system == "DL8.5 LDS":
        limits = sorted({min(seconds, limit) for seconds in (0.1, 1.0, limit)})
        return [replace(base, solver="discrepancies", limit=seconds) for seconds in limits]
    # No limit on the depth: prices of a leaf that lead to trees of different sizes.
    prices = (0.01, 0.003, 1 / rows)
    return [replace(base, solver="fast-small-tree", complexity=price) for price in prices]


def point(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what a run keeps of one fit of a peer: its least time and its errors."""
    if "failure" in answer:
        return {"failure": schedule.without_paths(answer["failure"])}
    kept = {name: answer[name] for name in ("errors", "depth", "splits", "proven", "version")}
    return {"seconds": min(answer["times"]), **kept}


class Bench:
    """Runs fits on one set; what does not depend on the depth is fitted once."""

    def __init__(self, instance: Instance, data: Path, limit: float, memory: int) -> None:
        self.instance, self.data, self.limit, self.memory = instance, data, limit, memory
        self.small_trees: list[dict[str, Any]] | None = None

    def fit(self, entry: Entry, repeats: int = 1) -> dict[str, Any]:
        case = Case(self.instance, "", (entry,), repeats=repeats)
        return schedule.run_worker(entry, case, self.data, self.memory)

    def peer(self, system: str, depth: int) -> list[dict[str, Any]]:
        """Return the points of a peer whose trees keep to the depth."""
        rows = len(self.instance.labels)
        if system == "FastSmallTree" and self.small_trees is not None:
            found = self.small_trees
        else:
            wanted = entries(system, depth, rows, self.limit)
            found = [point(self.fit(entry, repeats=5)) for entry in wanted]
        if system == "FastSmallTree":
            self.small_trees = found
        return [p for p in found if "failure" in p or p["depth"] <= depth]

    def certree(self, depth: int, limit: float | None = None) -> dict[str, Any]:
        """Fit certree once; its history with the time around the search added to all moments.

        A short fit tells that time: a long one also frees much memory at its end.
        """
        entry = Entry("certree", "certree-history", depth, limit=limit or self.limit)
        answer, short = self.fit(entry), self.fit(replace(entry, limit=SHORT))
        for found in (answer, short):
            if "failure" in found:
                raise SystemExit(f"certree failed on {self.instance.name}: {found['failure']}")
        around = max(0.0, min(a["times"][0] - a["certificate_seconds"] for a in (answer, short)))
        history = [(around + s, upper, lower) for s, upper, lower in answer["history"]]
        return {
            "seconds": answer["times"][0],
            "seconds_around": around,
            "status": answer["status"],
            "errors": answer["errors"],
            "lower_bound": answer["lower_bound"],
            "history": history,
        }


def measure(
    instance: Instance,
    depths: tuple[int, ...],
    systems: tuple[str, ...],
    limit: float,
    memory: int,
    stored: dict[tuple[str, int], dict[str, Any]],
) -> Iterator[Run]:
    """Run one set at every depth; peers whose points are stored are not fitted again.

    certree has the seconds of the limit, or of the slowest peer where that is more: at the moment
    where a peer ends, certree is still at work.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.npz")
        np.savez(data, columns=instance.columns, labels=instance.labels, **instance.extra)
        bench = Bench(instance, data, limit, memory)
        for depth in depths:
            known = stored.get((instance.name, depth), {})
            found = {
                name: known[name] if name in known else bench.peer(name, depth) for name in systems
            }
            rows, columns = instance.columns.shape
            run: Run = {"set": instance.name, "rows": rows, "columns": columns, "depth": depth}
            run["peers"] = found
            slowest = max((p["seconds"] for name in systems for p in points(run, name)), default=0)
            run["certree"] = bench.certree(depth, max(limit, slowest))
            yield run


def refit(instance: Instance, run: Run, moment: float, memory: int) -> dict[str, Any]:
    """Fit certree again with a moment as its time limit, to see that the history tells the truth.

    The limit ends where the moment is in the history, so the time around the search is taken off.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.npz")
        np.savez(data, columns=instance.columns, labels=instance.labels, **instance.extra)
        limit = max(1e-3, moment - run["certree"]["seconds_around"])
        again = Bench(instance, data, limit, memory).certree(run["depth"])
    return {
        "set": run["set"],
        "depth": run["depth"],
        "moment": moment,
        "errors_of_history": errors_at(run, moment),
        "errors_of_refit": again["errors"],
        "seconds_of_refit": again["seconds"],
    }


def first_tree(
    instance: Instance, depth: int, limit: float, memory: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fit certree and CART on numbers; return certree's run and CART's point."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.npz")
        np.savez(data, columns=instance.columns, labels=instance.labels)
        bench = Bench(instance, data, limit, memory)
        return bench.certree(depth), bench.peer("CART", depth)[0]


def errors_at(run: Run, moment: float) -> float | None:
    """Return certree's errors at a moment; None before its first tree."""
    seen = [upper for s, upper, _ in run["certree"]["history"] if s <= moment]
    return seen[-1] if seen else None


def bound_at(run: Run, moment: float) -> float:
    """Return certree's lower bound at a moment."""
    certree = run["certree"]
    if moment >= certree["seconds"]:
        return float(certree["lower_bound"])
    return max([0.0, *(lower for s, _, lower in certree["history"] if s <= moment)])


def points(run: Run, system: str) -> list[dict[str, Any]]:
    """Return the fits of a peer that gave a tree within the depth."""
    return [p for p in run["peers"].get(system, []) if "failure" not in p]


def best_point(run: Run, system: str) -> dict[str, Any] | None:
    """Return a peer's fit with the fewest errors, the fastest of them; None where it has none."""
    found = points(run, system)
    return min(found, key=lambda p: (p["errors"], p["seconds"])) if found else None


def best_known(run: Run) -> int:
    """Return the fewest errors that any system reaches."""
    others = [p["errors"] for system in run["peers"] for p in points(run, system)]
    return int(min([run["certree"]["errors"], *others]))


def seconds_within(run: Run, system: str, share: float = 0.05) -> float | None:
    """Return the seconds to a tree within a share of the best known; None where it has none."""
    most = best_known(run) * (1 + share)
    if system == "certree":
        return next((s for s, upper, _ in run["certree"]["history"] if upper <= most), None)
    return min((p["seconds"] for p in points(run, system) if p["errors"] <= most), default=None)


def seconds_counted(run: Run, system: str, limit: float) -> float:
    """Return the same for a mean: whoever never comes near counts with the whole time of the run.

    That is the limit, or the longest fit of all systems where it is longer.
    """
    within = seconds_within(run, system)
    if within is not None:
        return within
    fits = [p["seconds"] for name in run["peers"] for p in points(run, name)]
    return max([limit, run["certree"]["seconds"], *fits])
