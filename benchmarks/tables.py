"""Put the latest tables of benchmarks/results/ into benchmarks/README.md.

    python benchmarks/tables.py

The README holds pairs of marks, ``<!-- table: NAME -->`` and ``<!-- end -->``. This script
replaces the text between them by the table and the summary of ``results/NAME.json``, so the page
shows the numbers of the latest records.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import report  # noqa: E402
from harness.schedule import Row  # noqa: E402

MARKED = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def summary_line(summary: dict[str, Any]) -> str:
    """Return the result of a comparison as an item of a list."""
    if "variant" in summary:
        extra = f", unproven: {', '.join(summary['unproven'])}" if summary["unproven"] else ""
        work = "" if summary["work"] is None else f", work x {summary['work']}"
        return f"- {summary['variant']}: time x {summary['time']}{work}{extra}"
    mean, least = summary["geometric_mean_ratio"], summary["least_ratio"]
    proven = f"{summary['proven_by_us']} against {summary['proven_by_peer']}"
    ratios = f"geometric mean of the ratios {mean} (over {summary['counted']} sets), least {least}"
    parts = [
        ratios if summary["counted"] else "no fit took long enough for its ratio to count",
        f"proven {proven} of {summary['instances']}",
    ]
    if summary.get("proven_by_both", 0) > summary["counted"]:
        of_all = f"{summary['geometric_mean_ratio_of_all']} over {summary['proven_by_both']}"
        parts.insert(1, f"with the short fits {of_all}")
    if summary.get("counted_by_processor"):
        by_processor = summary["geometric_mean_ratio_processor"]
        parts.insert(1, f"by processor time {by_processor} over {summary['counted_by_processor']}")
    keys = ("slower", "worse_objective", "better_objective", "more_memory")
    for key in (*keys, *(k for k in ("limit_broken", "limit_broken_by_peer") if k in summary)):
        parts.append(f"{key.replace('_', ' ')}: {', '.join(summary[key]) or 'none'}")
    line = f"- against {summary['peer']}: " + "; ".join(parts) + "."
    return textwrap.fill(line, 100, subsequent_indent="  ", break_on_hyphens=False)


def render(name: str) -> str:
    """Lay out one record."""
    record = json.loads((HERE / "results" / f"{name}.json").read_text())
    rows = [Row(**row) for row in record["rows"]]
    groups = [
        list(group)
        for _, group in itertools.groupby(rows, key=lambda row: (row.instance, row.setting))
    ]
    source = f"Commit {record['commit'][:10]}, {record['date'][:10]}, {record['cpu']}."
    lines = [summary_line(summary) for summary in record["summary"]]
    table = report.table(name.split("-")[0], groups)
    return "\n".join([source, "", table, "", *lines]) + "\n"


def main() -> None:
    """Rewrite every marked table of the README that has a record."""
    readme = HERE / "README.md"

    def replaced(match: re.Match[str]) -> str:
        if not (HERE / "results" / f"{match[2]}.json").exists():
            return match[0]
        return match[1] + render(match[2]) + match[3]

    readme.write_text(MARKED.sub(replaced, readme.read_text()))


if __name__ == "__main__":
    main()
