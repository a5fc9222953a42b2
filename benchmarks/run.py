"""Measure certree against the published solvers, or against itself.

    python benchmarks/run.py accuracy --depth 4
    python benchmarks/run.py sparse --only monk1 monk2
    python benchmarks/run.py ablation --limit 20

Suites, data, measures and the latest figures: benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import instances, report, schedule  # noqa: E402
from harness.limit_suites import LIMIT_SUITES  # noqa: E402
from harness.metric_suites import METRIC_SUITES  # noqa: E402
from harness.number_solvers import NUMBER_SOLVERS  # noqa: E402
from harness.number_suites import NUMBER_SUITES  # noqa: E402
from harness.schedule import Row  # noqa: E402
from harness.suites import SUITES as PLAIN_SUITES  # noqa: E402
from harness.suites import Choice  # noqa: E402
from harness.task_suites import TASK_SUITES  # noqa: E402
from harness.worker import SOLVERS  # noqa: E402

SUITES = {**PLAIN_SUITES, **METRIC_SUITES, **TASK_SUITES, **LIMIT_SUITES, **NUMBER_SUITES}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", nargs="?", default="accuracy", choices=sorted(SUITES))
    parser.add_argument("--depth", type=int, help="depth limit instead of the suite's own")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these sets alone")
    parser.add_argument("--limit", type=float, metavar="S", help="seconds per fit")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    parser.add_argument(
        "--solvers",
        nargs="+",
        choices=sorted({*SOLVERS, *NUMBER_SOLVERS, "osrt"}),
        help="first: the reference",
    )
    parser.add_argument("--memory", type=float, default=12, metavar="GB", help="per process")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON (default: results/)")
    return parser.parse_args()


def summaries(suite: str, groups: list[list[Row]]) -> list[dict[str, Any]]:
    """Summarise every column of the comparison but the reference itself."""
    labels = [row.solver for row in groups[0][1:]]
    if suite != "continuous":
        return [report.summarise(suite, groups, label) for label in labels]
    # What is fast at one depth says little about another.
    found = []
    for setting in dict.fromkeys(group[0].setting for group in groups):
        alike = [group for group in groups if group[0].setting == setting]
        for label in labels:
            summary = report.summarise(suite, alike, label)
            found.append({**summary, "peer": f"{label}, {setting}"})
    return found


def record_name(suite: str, groups: list[list[Row]]) -> str:
    """Name a record after its suite, and after the depth where all rows share one."""
    settings = {group[0].setting for group in groups}
    setting = settings.pop().replace(" ", "-") if len(settings) == 1 else ""
    return f"{suite}-{setting}" if setting.startswith("depth") else suite


def main() -> int:
    """Run the suite, print the table and write the record."""
    settings = arguments()
    if instances.data_folder() is None and settings.suite != "small":
        print("CERTREE_DATA is not set: using bundled and generated sets.", file=sys.stderr)
    choice = Choice(
        depth=settings.depth,
        limit=settings.limit,
        solvers=tuple(settings.solvers) if settings.solvers else None,
        only=tuple(settings.only),
    )
    # Before the run: a commit made while it lasts is not what was measured.
    origin = report.provenance()
    groups = []
    for case in SUITES[settings.suite](choice):
        groups.append(schedule.run_case(case, settings.rounds, int(settings.memory * 2**30)))
        done = ", ".join(f"{row.solver} {report.seconds_text(row)} s" for row in groups[-1])
        print(f"{case.instance.name} ({case.setting}): {done}", file=sys.stderr, flush=True)
    if not groups:
        print(f"no data set of suite {settings.suite!r} is named {settings.only}.", file=sys.stderr)
        return 2
    print(report.table(settings.suite, groups))
    found = summaries(settings.suite, groups)
    for line in found:
        print("\n" + "\n".join(f"{key}: {text}" for key, text in line.items()))
    name = record_name(settings.suite, groups)
    path = settings.out or HERE / "results" / f"{name}.json"
    report.write(path, {"suite": name, **origin, "summary": found}, groups)
    return 0


if __name__ == "__main__":
    sys.exit(main())
