"""What an experiment of a paper is, how it is run, and how its pages are written.

An experiment is a list of runs and the tables and figures that are made of them. A run is a call
that gives numbers; it has a name, a limit in seconds, and the file that it reads. Runs are kept in
a record, one JSON file per paper, after each of them: a call that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from benchmarks.harness import report, schedule
from benchmarks.harness.instances import Instance
from benchmarks.harness.suites import Case, Entry

Numbers = dict[str, Any]
Found = Mapping[str, Numbers]
"""Names of runs, and what they gave."""

MEMORY = 12 * 2**30
RUN_FAILED = "failure"


@dataclass(frozen=True)
class Scope:
    """How much is asked for."""

    full: bool = False  # all that the paper has, with its limits
    peers: bool = False  # published solvers beside ours
    data: Path | None = None  # None: bundled and generated tables alone
    limit: float | None = None  # seconds per run, in place of the experiment's own

    def seconds(self, quick: float, full: float) -> float:
        """Choose the limit of a run."""
        return self.limit or (full if self.full else quick)

    def some(self, quick: Iterable[Any], more: Iterable[Any]) -> list[Any]:
        """Choose what is run: a part, or with it all the rest."""
        return [*quick, *(more if self.full else ())]


@dataclass(frozen=True)
class Run:
    """One call of an experiment; `work` takes the seconds it has and gives numbers."""

    name: str
    work: Callable[[float], Numbers]
    limit: float
    needs: Path | None = None  # a run whose file is not there is skipped by name


@dataclass(frozen=True)
class Table:
    """A table of the paper, made of the runs of an experiment."""

    title: str
    lines: Callable[[Found], tuple[list[str], list[list[str]]]]
    why: str = ""  # why ours differ from the printed values


@dataclass(frozen=True)
class Figure:
    """A figure of the paper; `draw` gives a figure of matplotlib, or None without data."""

    name: str
    title: str
    draw: Callable[[Found], Any]
    why: str = ""


@dataclass(frozen=True)
class Experiment:
    """Runs, and what is shown of them."""

    key: str
    setting: str  # what is run, in a sentence or two
    runs: Callable[[Scope], Iterable[Run]]
    shown: tuple[Table | Figure, ...]


@dataclass(frozen=True)
class Paper:
    """A paper with its experiments."""

    key: str
    title: str
    experiments: tuple[Experiment, ...]
    notes: str = ""  # what of the paper is not run, and why


def solve(load: Callable[[], Instance], entries: tuple[Entry, ...], limit: float) -> Numbers:
    """Run the harness on one table: the first entry is ours, the others are peers."""
    limited = tuple(replace(entry, limit=limit) for entry in entries)
    rows = schedule.run_case(
        Case(load(), "", limited, repeats=1), rounds=1, memory_limit=MEMORY, in_process=True
    )
    ours, *others = (of_row(row) for row in rows)
    return ours | {"peers": {row.solver: of for row, of in zip(rows[1:], others, strict=True)}}


def of_row(row: schedule.Row) -> Numbers:
    """Keep of a measured row what tables show."""
    if row.failure:
        return {RUN_FAILED: row.failure, "proven": False}
    kept: Numbers = {
        "cpu": row.processor_seconds,
        "seconds": row.seconds,
        "megabytes": round((row.peak_kib or 0) / 1024, 1),
        "proven": row.proven,
        "splits": row.splits,
        "rows": row.rows,
        "columns": row.columns,
        "work": row.counters.get("depth_two_evaluations", 0),
    }
    if row.objective is not None:
        kept["value"] = float(Fraction(row.objective))
    if row.errors is not None:
        kept["errors"], kept["accuracy"] = row.errors, 1 - row.errors / row.rows
    extra = {"gap": row.gap, "points": row.points, "within": row.within, "depth": row.depth}
    return kept | {name: value for name, value in extra.items() if value is not None}


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Run an action without warnings; give its value and its processor seconds."""
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = action()
    return value, process_time() - start


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share."""
    return "-" if value is None else f"{100 * value:.{digits}f}"


def number(value: float | None, digits: int = 3) -> str:
    """Write a value with a fixed number of digits."""
    return "-" if value is None else f"{value:.{digits}f}"


def seconds(of: Numbers, key: str = "cpu") -> str:
    """Write processor seconds; a search that was stopped shows as such."""
    if RUN_FAILED in of:
        return "failed"
    if of.get(key) is None:
        return "-"
    return f"{of[key]:.2g}{'' if of.get('proven', True) else ' (stopped)'}"


def peer_columns(found: Found) -> list[str]:
    """List the peers of any run."""
    return list(dict.fromkeys(name for of in found.values() for name in of.get("peers", ())))


def solved_within(curves: Mapping[str, Iterable[float | None]], title: str = "") -> Any:
    """Draw the share of problems that are solved within so many seconds; None is unsolved."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), constrained_layout=True)
    for name, times in curves.items():
        listed = list(times)
        done = sorted(max(t, 1e-4) for t in listed if t is not None)
        if listed and done:
            share = 100 * np.arange(1, len(done) + 1) / len(listed)
            axes.step(done, share, where="post", label=f"{name} ({len(listed)})", linewidth=2)
    axes.set_xscale("log")
    axes.set(xlabel="seconds", ylabel="problems solved, %", ylim=(0, 104), title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def panels(
    tables: Mapping[str, Mapping[str, list[list[float]]]], x: str, heights: Sequence[str]
) -> Any:
    """Draw points of learners, a place on x and its heights, in columns of panels, six across."""
    from matplotlib import pyplot as plt

    across, down, tall = min(len(tables), 6), -(-len(tables) // 6), len(heights)
    size = (3.2 * across, 3 * tall * down)
    figure, axes = plt.subplots(
        tall * down, across, figsize=size, constrained_layout=True, squeeze=False
    )
    for ax in axes.ravel():
        ax.set_axis_off()
    for place, (name, learners) in enumerate(tables.items()):
        column = axes[tall * (place // 6) : tall * (place // 6 + 1), place % 6]
        for row, (ax, height) in enumerate(zip(column, heights, strict=True)):
            ax.set_axis_on()
            for learner, points in learners.items():
                drawn = sorted([p[0], p[1 + row]] for p in points)
                ax.plot(*zip(*drawn, strict=True), "o-", label=learner, alpha=0.8)
            ax.set(ylabel=height)
        column[0].set(title=name)
        column[-1].set(xlabel=x)
    axes[0, 0].legend()
    return figure


def call_text(given: Any) -> str:
    """Write a call with its arguments; of files, only what does not depend on the machine."""
    if isinstance(given, partial):
        values = [*given.args, *given.keywords.values()]
        return f"{given.func.__name__}({', '.join(map(call_text, values))})"
    if isinstance(given, (tuple, list)):
        return f"({', '.join(map(call_text, given))})"
    if isinstance(given, Path):
        return given.name
    return str(getattr(given, "__name__", given))


@dataclass
class Record:
    """What the runs of one paper gave, in a file that is written after each of them."""

    path: Path
    runs: dict[str, Numbers] = field(default_factory=dict)
    made: dict[str, Any] = field(default_factory=report.provenance)

    @classmethod
    def open(cls, path: Path) -> Record:
        """Read the record, or begin one."""
        if not path.exists():
            return cls(path)
        return cls(path, json.loads(path.read_text(encoding="utf-8"))["runs"])

    def written(self) -> dict[str, Any]:
        """Say where and when the latest of the runs were made."""
        if not self.path.exists():
            return self.made
        header: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return header

    def has(self, key: str, run: Run) -> bool:
        """Tell whether the same call ended, or was stopped by a limit no shorter than now."""
        known = self.runs.get(key)
        if known is None or RUN_FAILED in known or known.get("call") != call_text(run.work):
            return False
        return bool(known.get("proven", True)) or known["limit"] >= run.limit

    def add(self, key: str, numbers: Numbers, run: Run, took: float) -> None:
        """Keep a run."""
        made = {"call": call_text(run.work), "limit": run.limit, "took": round(took, 2)}
        self.runs[key] = {**numbers, **made}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A line for each run, so that changes of one can be seen.
        header = json.dumps(self.made, indent=1).removesuffix("\n}")
        lines = (f"  {json.dumps(k)}: {json.dumps(v, default=float)}" for k, v in self.runs.items())
        text = f'{header},\n "runs": {{\n' + ",\n".join(lines) + "\n }\n}\n"
        self.path.write_text(text, encoding="utf-8")

    def of(self, experiment: Experiment, order: Iterable[str]) -> dict[str, Numbers]:
        """Give the runs of an experiment by their names: those of the order first, then others."""
        start = f"{experiment.key}: "
        mine = {k.removeprefix(start): v for k, v in self.runs.items() if k.startswith(start)}
        return {name: mine[name] for name in dict.fromkeys([*order, *mine]) if name in mine}


@dataclass
class Bar:
    """A line that says how far things are; a new line for each step where there is no terminal."""

    total: int
    done: int = 0

    def step(self, name: str) -> None:
        """Count a run."""
        self.done += 1
        width = 20 * self.done // max(1, self.total)
        text = f"{'#' * width:.<20} {self.done:>3} of {self.total}  {name}"
        if sys.stderr.isatty():
            print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line."""
        if sys.stderr.isatty():
            print(file=sys.stderr)


def call(run: Run) -> tuple[Numbers, float]:
    """Do a run; an exception is an answer, too."""
    start = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            numbers = run.work(run.limit)
    except Exception as error:
        numbers = {RUN_FAILED: schedule.without_paths(f"{type(error).__name__}: {error}")}
    return numbers, perf_counter() - start


def do_all(
    runs: list[tuple[Record, str, Run]], jobs: int, note: Callable[[str], None] = lambda _: None
) -> None:
    """Do the runs, `jobs` at a time, and keep each as it ends."""
    bar = Bar(len(runs))
    for (record, key, run), (numbers, took) in results(runs, jobs):
        record.add(key, numbers, run, took)
        bar.step(key)
        if RUN_FAILED in numbers:
            note(f"{key}: {numbers[RUN_FAILED]}")
    bar.end()


def results(
    runs: list[tuple[Record, str, Run]], jobs: int
) -> Iterator[tuple[tuple[Record, str, Run], tuple[Numbers, float]]]:
    """Yield runs with what they gave, as they end."""
    if jobs == 1:
        yield from ((one, call(one[2])) for one in runs)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting: dict[Future[Any], tuple[Record, str, Run]] = {}
        for one in runs:
            waiting[pool.submit(call, one[2])] = one
        try:
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), future.result()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@dataclass
class Asked:
    """The runs of an experiment that were asked for, and those among them without data."""

    names: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def page(paper: Paper, record: Record, asked: Mapping[str, Asked], folder: Path) -> str:
    """Write the page of a paper, and its pictures into the folder."""
    made = record.written()
    commit = (made["commit"] or "unknown")[:10]
    parts = [
        f"## {paper.title}",
        f"Made by `make papers`; latest runs: commit {commit}, {made['date'][:10]}, {made['cpu']}.",
    ]
    for experiment in paper.experiments:
        runs = asked.get(experiment.key, Asked())
        found = record.of(experiment, runs.names)
        if not found and not runs.missing:
            continue
        parts.append(experiment.setting)
        for shown in experiment.shown:
            parts += shown_as_text(shown, found, folder, paper.key)
        failed = [f"{k}: {v[RUN_FAILED]}" for k, v in found.items() if RUN_FAILED in v]
        if failed:
            parts.append("Failed: " + "; ".join(failed) + ".")
        if runs.missing:
            # A table is named once, whatever is done with it.
            ends = re.compile(r", depth .*| (low|middle|high)$")
            named = dict.fromkeys(ends.sub("", name) for name in runs.missing)
            parts.append("Not in the data folder: " + ", ".join(named) + ".")
    return "\n\n".join(map(wrapped, [*parts, paper.notes])).rstrip() + "\n"


def wrapped(part: str) -> str:
    """Break the lines of prose."""
    if part.startswith(("|", "#", "!")):
        return part
    return textwrap.fill(part, 100, break_on_hyphens=False, break_long_words=False)


def shown_as_text(shown: Table | Figure, found: Found, folder: Path, key: str) -> list[str]:
    """Give the parts of a page that show a table or a figure."""
    ended = {name: of for name, of in found.items() if RUN_FAILED not in of}
    if not ended:
        return []
    if isinstance(shown, Table):
        header, lines = shown.lines(ended)
        if not lines:
            return []
        return [f"### {shown.title}", report.markdown(header, lines), *filter(None, [shown.why])]
    figure = shown.draw(ended)
    if figure is None:
        return []
    from matplotlib import pyplot as plt

    name = f"{key}-{shown.name}.png"
    figure.savefig(folder / name, dpi=110)
    plt.close(figure)
    return [f"### {shown.title}", f"![{shown.title}]({name})", *filter(None, [shown.why])]
