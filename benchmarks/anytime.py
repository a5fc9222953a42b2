"""How good certree is before it is done: sparse trees without a depth limit, over time.

    CERTREE_DATA=... python benchmarks/anytime.py [--only NAME ...] [--limit S]

For every set of the sparse suite: seconds until the incumbent is within one percent of the optimum
(of the best known value where there is no proof), and the certified gap after 1, 10 and 60 seconds,
in units of accuracy. The table goes to the screen, the histories to ``results/anytime.json``, the
picture to ``results/anytime.png``. All is read off one fit's history: ``certificate_.history``.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import instances, report  # noqa: E402
from harness.suites import SPARSE  # noqa: E402

from certree import OptimalityWarning, OptimalTreeClassifier  # noqa: E402

MOMENTS = (1.0, 10.0, 60.0)


def measure(instance: instances.Instance, complexity: float, limit: float) -> dict[str, Any]:
    """Fit once and keep the history in units of accuracy."""
    model = OptimalTreeClassifier(max_depth=None, complexity=complexity, time_limit=limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimalityWarning)
        model.fit(instance.columns, instance.labels)
    certificate = model.certificate_
    rows = len(instance.labels)
    history = [
        (seconds, float(upper) / rows, float(lower) / rows)
        for seconds, _, upper, lower in certificate.history
    ]
    return {
        "name": instance.name,
        "complexity": complexity,
        "status": certificate.status,
        "seconds": certificate.seconds,
        "cost": float(certificate.cost) / rows,
        "history": history,
    }


def within(run: dict[str, Any], share: float = 0.01) -> float:
    """Seconds until the incumbent's accuracy is within `share` of the final one."""
    return next(s for s, upper, _ in run["history"] if upper <= run["cost"] + share)


def gap_after(run: dict[str, Any], moment: float) -> float:
    """Certified gap at a moment, zero once the optimum is proven."""
    if run["status"] == "optimal" and run["seconds"] <= moment:
        return 0.0
    seen = [upper - lower for s, upper, lower in run["history"] if s <= moment]
    return seen[-1] if seen else 1.0


def table(runs: list[dict[str, Any]]) -> str:
    """Lay the figures out."""
    header = ["data set", "status", "objective", "proof s", "within 1 % s"]
    header += [f"gap after {moment:g} s" for moment in MOMENTS]
    lines = [
        [
            run["name"],
            run["status"],
            f"{1 - run['cost']:.5f}",
            f"{run['seconds']:.3g}" if run["status"] == "optimal" else "-",
            f"{within(run):.3g}",
            *(f"{gap_after(run, moment):.4f}" for moment in MOMENTS),
        ]
        for run in runs
    ]
    return report.markdown(header, lines)


def plot(runs: list[dict[str, Any]], target: Path) -> None:
    """Draw incumbent and bound over time for the sets that take longest."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    hardest = sorted(runs, key=lambda run: -run["seconds"])[:6]
    figure, axes = pyplot.subplots(2, 3, figsize=(11, 5.5), squeeze=False)
    for axis, run in zip(axes.flat, hardest, strict=False):
        seconds = [max(s, 1e-4) for s, _, _ in run["history"]] + [run["seconds"]]
        last = run["history"][-1]
        upper = [1 - u for _, u, _ in run["history"]] + [1 - run["cost"]]
        closed = run["cost"] if run["status"] == "optimal" else last[2]
        lower = [1 - low for _, _, low in run["history"]] + [1 - closed]
        axis.step(seconds, lower, where="post", label="no tree is better", color="tab:gray")
        axis.step(seconds, upper, where="post", label="best tree so far", color="tab:blue")
        axis.set_xscale("log")
        axis.set_title(f"{run['name']} ({run['status']})", fontsize=10)
        axis.set_xlabel("seconds")
        axis.set_ylabel("accuracy - complexity x splits", fontsize=8)
    axes[0, 0].legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(target, dpi=110)


def main() -> None:
    """Run, print, store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--limit", type=float, default=60.0)
    arguments = parser.parse_args()
    if instances.data_folder() is None:
        print("CERTREE_DATA is not set: running on generated sets.", file=sys.stderr)
    names = [name for name in SPARSE if not arguments.only or name in arguments.only]
    runs = []
    for instance in instances.sparse_instances(names):
        runs.append(measure(instance, SPARSE[instance.name][0], arguments.limit))
        print(
            f"{instance.name}: {runs[-1]['status']}, {runs[-1]['seconds']:.3g} s", file=sys.stderr
        )
    print(table(runs))
    record = {**report.provenance(), "limit": arguments.limit, "runs": runs}
    (HERE / "results" / "anytime.json").write_text(json.dumps(record, indent=1) + "\n")
    plot(runs, HERE / "results" / "anytime.png")


if __name__ == "__main__":
    main()
