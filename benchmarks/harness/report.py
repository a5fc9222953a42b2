"""Turn rows into a table for people and JSON for the record."""

from __future__ import annotations

import datetime
import json
import math
import platform
import subprocess
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from .schedule import Row

REPOSITORY = Path(__file__).resolve().parents[2]
# Below this a peer's time is mostly its fixed price, and a ratio says little about the search.
COUNTED_FROM_S = 0.05
# Suites whose rows are variants of certree, not different solvers.
VARIANT_SUITES = ("ablation", "ablation_ordered", "threads", "metrics", "curve")
WORK_COUNTERS = ("depth_two_evaluations", "table_hits", "splits_pruned")


def git(*arguments: str) -> str:
    """Ask git about this repository; empty where there is none."""
    done = subprocess.run(
        ["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def processor() -> str:
    """Name the processor model."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def provenance() -> dict[str, Any]:
    """Collect what a reader needs to judge or repeat a measurement."""
    changed = [
        line for line in git("status", "--porcelain").splitlines() if "benchmarks/" not in line
    ]
    return {
        "commit": git("rev-parse", "HEAD") or None,
        "uncommitted_changes": bool(changed),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def ratio(ours: Row, peer: Row) -> float | None:
    """Give how many times longer the peer takes; None unless both have proven their tree."""
    failed = ours.failure or peer.failure
    if ours.seconds and peer.seconds and ours.proven and peer.proven and not failed:
        return peer.seconds / ours.seconds
    return None


def geometric_mean(values: Iterable[float]) -> float | None:
    """Average ratios in the logarithm; None for none."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def pairs(groups: list[list[Row]], peer: str) -> list[tuple[Row, Row]]:
    """Match the first row of every group (the reference) with the peer's row."""
    found = []
    for group in groups:
        found += [(group[0], row) for row in group[1:] if row.solver == peer]
    return found


def summary(groups: list[list[Row]], peer: str) -> dict[str, Any]:
    """Compare the reference with one peer over all instances."""
    matched = pairs(groups, peer)
    ratios = [(ours, other, r) for ours, other in matched if (r := ratio(ours, other)) is not None]
    counted = [r for _, other, r in ratios if (other.seconds or 0) >= COUNTED_FROM_S]
    # Trees that break the limit are left out of the comparison.
    both = [(a, b) for a, b in matched if a.objective and b.objective and b.within is not False]
    mean = geometric_mean(counted)
    mean_of_all = geometric_mean(r for _, _, r in ratios)
    by_processor = [
        other.processor_seconds / ours.processor_seconds
        for ours, other, _ in ratios
        if ours.processor_seconds and (other.processor_seconds or 0) >= COUNTED_FROM_S
    ]
    processor_mean = geometric_mean(by_processor)
    return {
        "peer": peer,
        "instances": len(matched),
        "proven_by_peer": sum(other.proven for _, other in matched),
        "proven_by_us": sum(ours.proven for ours, _ in matched),
        "counted": len(counted),
        "geometric_mean_ratio": None if mean is None else round(mean, 2),
        "geometric_mean_ratio_processor": processor_mean and round(processor_mean, 2),
        "counted_by_processor": len(by_processor),
        "least_ratio": round(min(counted), 2) if counted else None,
        "proven_by_both": len(ratios),
        "geometric_mean_ratio_of_all": mean_of_all and round(mean_of_all, 2),
        "slower": [ours.instance for ours, _, r in ratios if r < 1],
        "worse_objective": [a.instance for a, b in both if value(a) < value(b)],
        "better_objective": [a.instance for a, b in both if value(a) > value(b)],
        **broken_limits(matched),
        "more_memory": [a.instance for a, b in matched if (a.peak_kib or 0) > (b.peak_kib or 0)],
    }


def broken_limits(matched: list[tuple[Row, Row]]) -> dict[str, Any]:
    """Name the sets on which a tree does not keep to the limit, where there is one."""
    if all(row.within is None for pair in matched for row in pair):
        return {}
    return {
        "limit_broken": [name_of(a) for a, _ in matched if a.within is False],
        "limit_broken_by_peer": [name_of(b) for _, b in matched if b.within is False],
    }


def name_of(row: Row) -> str:
    """Name a set with its setting."""
    return f"{row.instance} ({row.setting})"


def value(row: Row) -> Fraction:
    """Give the exact objective of a row that has one."""
    return Fraction(row.objective or 0)


def seconds_text(row: Row) -> str:
    """Write a time in three digits; a limit that was hit shows as such."""
    if row.failure:
        return "failed"
    if row.seconds is None:
        return "-"
    text = f"{row.seconds:.3g}" if row.seconds < 100 else f"{row.seconds:.0f}"
    return text if row.proven else f"> {text}"


def matches(row: Row) -> str:
    """Compare the objective with the published one at the published number of digits."""
    if row.expected is None or row.objective is None:
        return ""
    return "" if abs(value(row) - Fraction(row.expected)) <= Fraction(1, 2000) else " (!)"


def markdown(header: list[str], lines: list[list[str]]) -> str:
    """Lay out a table; all columns but the first are right-aligned."""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]

    def row(cells: list[str]) -> str:
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    return "\n".join([row(header), row(rule), *(row(line) for line in lines)])


def ratio_text(ours: Row, peer: Row) -> str:
    """Write a ratio; where only the peer gave up it is a lower bound."""
    exact = ratio(ours, peer)
    if exact is not None:
        return f"{exact:.1f}"
    if ours.proven and ours.seconds and peer.seconds and not ours.failure:
        return f"> {peer.seconds / ours.seconds:.0f}"
    return "-"


def comparison_table(groups: list[list[Row]]) -> str:
    """Show the reference beside its peers, with work counters."""
    peers = [row.solver for row in groups[0][1:]]
    counters = [name for name in WORK_COUNTERS if any(name in g[0].counters for g in groups)]
    has_points = any(group[0].points is not None for group in groups)
    has_rates = any(row.apart is not None for group in groups for row in group)
    header = ["data set", "setting", "objective", f"{groups[0][0].solver} s"]
    if has_points:
        header.insert(3, "points")
    if has_rates:
        header.insert(3, "apart")
    for peer in peers:
        header += [f"{peer} s", "ratio"] + ([f"{peer} apart"] if has_rates else [])
    header += ["MB", *(f"{peer} MB" for peer in peers), *(c.replace("_", " ") for c in counters)]
    lines = []
    for group in groups:
        ours = group[0]
        line = [ours.instance, ours.setting, objective_text(ours), seconds_text(ours)]
        if has_points:
            line.insert(3, f"{ours.points or 0:,}")
        if has_rates:
            line.insert(3, apart_text(ours))
        for row in group[1:]:
            line += [seconds_text(row), ratio_text(ours, row)]
            line += [apart_text(row)] if has_rates else []
        line += [f"{(row.peak_kib or 0) / 1024:.1f}" for row in group]
        line += [f"{ours.counters.get(name, 0):,}" for name in counters]
        lines.append(line)
    return markdown(header, lines)


def apart_text(row: Row) -> str:
    """Write how far the rates of groups are apart; (!) if that is over the limit."""
    if row.apart is None:
        return "-"
    return f"{float(Fraction(row.apart)):.6f}{'' if row.within else ' (!)'}"


def objective_text(row: Row) -> str:
    """Write training errors, or for penalised runs the objective; (!) if not the published one."""
    if row.objective is None:
        return "none"
    if row.cost is not None:
        return f"cost {row.cost:.6g}"
    if row.setting.startswith("complexity") or row.metric != "accuracy":
        return f"{float(value(row)):.5f}{matches(row)}"
    return f"{row.errors} errors"


def variants_table(groups: list[list[Row]]) -> str:
    """Show variants of one solver below each other, relative to the first of each group."""
    header = ["data set", "variant", "objective", "s", "time", "MB", "work", "hits", "pruned"]
    lines = []
    several = len({group[0].setting for group in groups}) > 1
    for group in groups:
        base = group[0]
        for row in group:
            relative = (row.seconds or 0) / base.seconds if base.seconds else 0.0
            work = [f"{row.counters.get(name, 0):,}" for name in WORK_COUNTERS]
            memory = f"{(row.peak_kib or 0) / 1024:.1f}"
            name = name_of(row) if several else row.instance
            line = [name, row.solver, objective_text(row), seconds_text(row)]
            lines.append([*line, f"x {relative:.2f}", memory, *work])
    return markdown(header, lines)


def proof_table(groups: list[list[Row]]) -> str:
    """Show how far the proof of one solver has come."""
    header = ["data set", "rows", "columns", "setting", "objective", "s", "status", "gap", "MB"]
    lines = []
    for row in (row for group in groups for row in group):
        gap = "-" if row.gap is None else f"{row.gap:.5f}"
        shape = [f"{row.rows:,}", f"{row.columns:,}"]
        found = [row.setting, objective_text(row), seconds_text(row), row.status or "-", gap]
        lines.append([row.instance, *shape, *found, f"{(row.peak_kib or 0) / 1024:.1f}"])
    return markdown(header, lines)


def variants_summary(groups: list[list[Row]], variant: str) -> dict[str, Any]:
    """Average the price of a variant relative to the reference, in time and in work."""
    matched = [(a, b) for a, b in pairs(groups, variant) if a.seconds and b.seconds]
    work = WORK_COUNTERS[0]
    time_mean = geometric_mean((b.seconds or 0) / (a.seconds or 1) for a, b in matched)
    work_mean = geometric_mean(
        b.counters[work] / a.counters[work]
        for a, b in matched
        if a.counters.get(work) and b.counters.get(work)
    )
    return {
        "variant": variant,
        "time": None if time_mean is None else round(time_mean, 2),
        "work": None if work_mean is None else round(work_mean, 2),
        "unproven": [b.instance for _, b in matched if not b.proven],
        "other_value": [
            b.instance
            for a, b in matched
            if a.proven and b.proven and a.metric == b.metric and a.objective != b.objective
        ],
    }


def table(suite: str, groups: list[list[Row]]) -> str:
    """Lay out a suite in the form that suits it."""
    if suite == "auc":
        layout = proof_table
    else:
        layout = variants_table if suite in VARIANT_SUITES else comparison_table
    text = layout(groups)
    failed = [row for group in groups for row in group if row.failure]
    notes = [f"{row.solver} on {row.instance} ({row.setting}): {row.failure}" for row in failed]
    return "\n\n".join([text, *notes])


def summarise(suite: str, groups: list[list[Row]], label: str) -> dict[str, Any]:
    """Summarise one column of a suite against its reference."""
    return (variants_summary if suite in VARIANT_SUITES else summary)(groups, label)


def write(path: Path, header: dict[str, Any], groups: list[list[Row]]) -> None:
    """Write the record of a run; the header holds suite, provenance and summaries."""
    versions = {row.solver: row.version for group in groups for row in group if row.version}
    record = {
        **header,
        "versions": versions,
        "rows": [row.to_dict() for group in groups for row in group],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
