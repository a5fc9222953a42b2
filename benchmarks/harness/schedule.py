"""Run the entries of a case in turn, each in a fresh process, so that ratios are fair.

Seconds on a shared machine drift: another job starts, the clock rate changes. Solvers are therefore
interleaved, one short process each and then the next round, and the best time of each is kept. A
slow stretch then hits all of them, and the minimum is the run that was least disturbed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from . import peers, scores, worker
from .suites import Case, Entry

WORKER = Path(__file__).with_name("worker.py")
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
# A fit longer than this is measured once: repeating it would cost more than the noise it removes.
LONG_FIT_S = 10.0
# Within one process short fits are repeated until this much time has been spent on them.
ENOUGH_S = 1.0
# What a worker may tell of a fit, beside its times.
ANSWERED = (
    *("errors", "cost", "positives", "fp", "fn", "area", "splits", "depth", "points"),
    *("apart", "within", "proven", "status", "gap", "counters", "version"),
)


@dataclass
class Row:
    """What one entry did on one instance."""

    instance: str
    rows: int
    columns: int
    setting: str
    solver: str
    seconds: float | None = None
    processor_seconds: float | None = None
    times: list[float] = field(default_factory=list)
    peak_kib: int | None = None
    errors: int | None = None
    cost: float | None = None
    splits: int | None = None
    depth: int | None = None
    proven: bool = False
    status: str | None = None
    objective: str | None = None  # exact: accuracy - complexity * splits; or a metric (scores.py)
    metric: str = "accuracy"
    positives: int | None = None
    fp: int | None = None
    fn: int | None = None
    area: str | None = None
    gap: float | None = None
    points: int | None = None  # of a front
    apart: str | None = None  # exact difference of rates between groups
    within: bool | None = None  # whether the tree keeps to the limit
    expected: str | None = None
    counters: dict[str, int] = field(default_factory=dict)
    version: str | None = None
    failure: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the row as JSON will hold it, with times to the microsecond."""
        record = asdict(self)
        record["times"] = [round(t, 6) for t in self.times]
        for name in ("seconds", "processor_seconds"):
            if record[name] is not None:
                record[name] = round(record[name], 6)
        return record


def without_paths(message: str) -> str:
    """Keep the last part of every file path: results travel, folders do not."""
    return re.sub(r"(?:/[^\s/:'\"]+)+/([^\s/:'\"]+)", r"\1", message.splitlines()[0])


def run_worker(
    entry: Entry, case: Case, data: Path, memory_limit: int, in_process: bool
) -> dict[str, Any]:
    """Run one entry once and give the worker's answer, in a process of its own unless told so."""
    job = asdict(entry) | {
        "data": str(data),
        "repeats": case.repeats,
        "enough": ENOUGH_S,
        "memory_limit": memory_limit,
    }
    ours = entry.solver.startswith("certree")
    if ours and in_process:
        return worker.run(job)
    python = sys.executable if ours else str(peers.interpreter())
    with tempfile.TemporaryDirectory() as folder:
        job_file, answer_file = Path(folder, "job.json"), Path(folder, "answer.json")
        job_file.write_text(json.dumps(job))
        try:
            # Not every peer keeps its limit; none gets more than this.
            done = subprocess.run(
                [python, str(WORKER), str(job_file), str(answer_file)],
                env=os.environ | ONE_THREAD,
                capture_output=True,
                text=True,
                timeout=1.5 * entry.limit + 60,
            )
        except subprocess.TimeoutExpired:
            return {"failure": f"killed: {1.5 * entry.limit + 60:.0f} s, limit {entry.limit:.0f} s"}
        if not answer_file.exists():
            print(done.stderr[-2000:], file=sys.stderr)
            return {"failure": f"the process ended with code {done.returncode}"}
        answer: dict[str, Any] = json.loads(answer_file.read_text())
        if trace := answer.pop("trace", None):
            print(trace, file=sys.stderr)
        return answer


def merge(row: Row, answer: dict[str, Any]) -> None:
    """Add one more run to a row: least time, greatest memory, everything else from the last."""
    if failure := answer.get("failure"):
        row.failure = without_paths(failure)
        return
    row.times += answer["times"]
    row.seconds = min(row.times)
    least = min(answer["processor_times"])
    row.processor_seconds = min(least, row.processor_seconds or least)
    row.peak_kib = max(row.peak_kib or 0, answer["peak_kib"])
    for name in ANSWERED:
        if name in answer:
            setattr(row, name, answer[name])


def run_case(case: Case, rounds: int, memory_limit: int, *, in_process: bool = False) -> list[Row]:
    """Run all entries of a case, interleaved over the rounds.

    With `in_process`, certree runs in this process, which its own limits must then stop.
    """
    instance = case.instance
    shape = instance.columns.shape
    rows = [
        Row(instance.name, shape[0], shape[1], case.setting, entry.label) for entry in case.entries
    ]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.npz")
        np.savez(data, columns=instance.columns, labels=instance.labels, **instance.extra)
        for _ in range(rounds):
            for entry, row in zip(case.entries, rows, strict=True):
                if row.failure is None:
                    merge(row, run_worker(entry, case, data, memory_limit, in_process))
            if any(row.failure or (row.seconds or 0) > LONG_FIT_S for row in rows):
                break
    for entry, row in zip(case.entries, rows, strict=True):
        if row.errors is not None and row.splits is not None:
            cost = Fraction(row.errors, shape[0]) + Fraction(repr(entry.complexity)) * row.splits
            row.objective = str(1 - cost)
        if row.cost is not None:
            # Sums of floats in another order differ in the last digits.
            row.objective = str(-Fraction(f"{row.cost:.9g}"))
        row.metric = entry.metric
        if row.metric != "accuracy" and row.objective is not None:
            row.objective = str(scores.value(row.metric, row.rows, asdict(row)))
        row.expected = None if case.expected is None else str(case.expected)
    return rows
