"""Attack with many problems: ``python -m tests.attack --problems 20000 --seed 7 --jobs 1``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from multiprocessing import get_context
from pprint import pformat
from time import perf_counter

import numpy as np

from .checks import FAILURES, Report, table
from .kinds import KINDS, reports, run

_MOST_SHOWN = 40


def main() -> int:
    """Run the attack, print what failed and a table, and return 1 if anything did."""
    options = _options()
    kinds = list(KINDS) if options.kind is None else options.kind.split(",")
    if options.only is not None:
        return _one(kinds[options.only % len(kinds)], options)
    start, done = perf_counter(), []
    shown = 0
    for report in _all(kinds, options):
        done.append(report)
        if report.failures and shown < options.show:
            shown += 1
            _print(str(report))
        if len(done) % 1000 == 0:
            failing = sum(bool(r.failures) for r in done)
            sys.stderr.write(f"{len(done)} problems, {failing} failing\n")
    _print(table(done))
    _print("\n".join(f"  {name}: {meaning}" for name, meaning in FAILURES.items()))
    _print(f"{len(done)} problems in {perf_counter() - start:.0f} s")
    return int(any(report.failures for report in done))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kind", help=f"some of: {', '.join(KINDS)}")
    parser.add_argument("--only", type=int, help="number of one problem, to look at closely")
    parser.add_argument("--show", type=int, default=_MOST_SHOWN, help="most failures to print")
    parser.add_argument("--no-missing", action="store_true", help="tables without missing values")
    return parser.parse_args()


def _all(kinds: list[str], options: argparse.Namespace) -> Iterator[Report]:
    indices = range(options.first, options.first + options.problems)
    if options.jobs == 1:
        yield from reports(options.seed, indices, kinds, missing=not options.no_missing)
        return
    work = partial(_report, kinds, options.seed, not options.no_missing)
    with get_context("spawn").Pool(options.jobs) as pool:
        yield from pool.imap(work, indices, chunksize=20)


def _report(kinds: list[str], seed: int, missing: bool, index: int) -> Report:
    return next(reports(seed, [index], kinds, missing=missing))


def _one(kind: str, options: argparse.Namespace) -> int:
    """Run one problem and print it whole."""
    attack = run(kind, options.seed, options.only, missing=not options.no_missing)
    problem = attack.problem
    with np.printoptions(floatmode="unique", threshold=10_000):
        for name in ("X", "classes", "given_weights", "sizes", "notes"):
            _print(f"{name} = {pformat(getattr(problem, name), width=100)}")
    _print(f"{attack.report}\nstatus {attack.report.status}")
    return int(bool(attack.report.failures))


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
