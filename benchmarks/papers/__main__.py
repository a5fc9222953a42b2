"""Run the papers' experiments, and write their tables and figures.

    python -m benchmarks.papers                          # a part that takes minutes
    python -m benchmarks.papers --full                   # all of it, with the papers' limits
    python -m benchmarks.papers --only branches streed   # some papers
    python -m benchmarks.papers --only branches:sparse   # one experiment
    python -m benchmarks.papers --peers                  # published solvers beside ours

Pages, pictures and records go to build/papers. What is in the record is not run again, unless it
was stopped by a shorter limit; `--fresh` runs all. CERTREE_DATA names the data folder; without it
the runs take bundled and generated tables, and the papers' values have nothing to be compared with.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.harness import instances, schedule

from . import branches, gosdt, nonlinear, spo, streed
from .experiments import Asked, Experiment, Paper, Record, Run, Scope, do_all, page

PAPERS: tuple[Paper, ...] = (
    streed.PAPER,
    gosdt.PAPER,
    nonlinear.PAPER,
    branches.PAPER,
    spo.PAPER,
)
OUT = Path(__file__).resolve().parents[2] / "build" / "papers"


def arguments(given: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--full", action="store_true", help="everything, with the papers' limits")
    parser.add_argument("--peers", action="store_true", help="install and run published solvers")
    parser.add_argument("--fresh", action="store_true", help="run again what is in the record")
    parser.add_argument("--only", nargs="+", default=[], metavar="PAPER[:EXPERIMENT]")
    parser.add_argument("--limit", type=float, metavar="S", help="seconds per run")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time (default 2)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER")
    return parser.parse_args(given)


def chosen(only: list[str]) -> list[tuple[Paper, list[Experiment]]]:
    """Find what was asked for; a wrong name ends the program with those there are."""
    known = {f"{p.key}:{e.key}": (p, e) for p in PAPERS for e in p.experiments}
    keys = {paper.key for paper in PAPERS}
    if wrong := [name for name in only if name not in known and name not in keys]:
        offered = ", ".join([*sorted(keys), *known])
        raise SystemExit(f"There is no {', '.join(wrong)}; --only takes {offered}.")
    wanted = [
        (paper, [e for e in paper.experiments if not only or asked(paper, e, only)])
        for paper in PAPERS
    ]
    return [(paper, experiments) for paper, experiments in wanted if experiments]


def asked(paper: Paper, experiment: Experiment, only: list[str]) -> bool:
    """Tell whether an experiment, or its paper, is named."""
    return paper.key in only or f"{paper.key}:{experiment.key}" in only


def main(given: list[str] | None = None) -> int:
    """Run what is asked for and not yet recorded, and write the pages."""
    settings = arguments(given)
    scope = Scope(settings.full, settings.peers, instances.data_folder(), settings.limit)
    if scope.data is None:
        print("CERTREE_DATA is not set: bundled and generated tables only.", file=sys.stderr)
    out = settings.out if scope.data else settings.out / "bundled"
    todo: list[tuple[Record, str, Run]] = []
    pages: list[tuple[Paper, Record, dict[str, Asked]]] = []
    kept = 0
    for paper, experiments in chosen(settings.only):
        record = Record.open(out / f"{paper.key}.json")
        asked_for = {experiment.key: Asked() for experiment in experiments}
        for experiment in experiments:
            for run in experiment.runs(scope):
                key = f"{experiment.key}: {run.name}"
                asked_for[experiment.key].names.append(run.name)
                if run.needs is not None and not run.needs.exists():
                    asked_for[experiment.key].missing.append(run.name)
                elif not settings.fresh and record.has(key, run):
                    kept += 1
                else:
                    todo.append((record, key, run))
        pages.append((paper, record, asked_for))
    if kept:
        print(f"{kept} runs are in the record already (--fresh runs them again).", file=sys.stderr)
    if settings.jobs > 1:
        # One thread per run, for the libraries below scikit-learn in other processes, too.
        os.environ.update(schedule.ONE_THREAD)
    failed: list[str] = []
    do_all(todo, settings.jobs, failed.append)
    for paper, record, asked_for in pages:
        path = out / f"{paper.key}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(paper, record, asked_for, out), encoding="utf-8")
        print(path)
    for text in failed:
        print(f"failed: {text}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
