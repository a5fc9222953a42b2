"""How good certree is before it is done.

    CERTREE_DATA=... python benchmarks/anytime.py sparse   # no depth limit, over time
    CERTREE_DATA=... python benchmarks/anytime.py peers    # depth 4 to 10 beside heuristics
    python benchmarks/anytime.py scale                     # the first tree on 1 000 000 rows
    python benchmarks/anytime.py peers --only german-credit --depths 6 8 --limit 10
    python benchmarks/anytime.py peers --reuse benchmarks/results/anytime-peers.json

`sparse`: for every set of the sparse suite, seconds until the incumbent is within one percent of
the optimum (of the best known value where there is no proof), and the certified gap after 1, 10 and
60 seconds, in units of accuracy. The table goes to the screen, the histories to
``results/anytime.json``, the picture to ``results/anytime.png``. All is read off one fit's history:
``certificate_.history``.

`peers`: training errors of heuristics and anytime searches when they end, and of certree at the
same moment, after 1 second and at the limit; its lower bounds; seconds to a tree within 5 % of the
best known. The columns that peers get are certree's candidates, and its encoding counts in its own
time alone. `--reuse` takes the peers' fits from a record and runs certree alone. The record goes to
``results/anytime-peers.json``, the picture to ``results/anytime-peers.png``.

`scale`: seconds until certree has a tree as good as CART's, beside the seconds of CART.
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

from harness import anytime_peers, anytime_report, instances, report, schedule  # noqa: E402
from harness.number_suites import generated  # noqa: E402
from harness.suites import SPARSE, Case, Entry  # noqa: E402

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


def sparse(settings: argparse.Namespace) -> None:
    """Run the sparse suite, print, store."""
    limit = settings.limit or 60.0
    names = [name for name in SPARSE if not settings.only or name in settings.only]
    runs = []
    for instance in instances.sparse_instances(names):
        runs.append(measure(instance, SPARSE[instance.name][0], limit))
        print(
            f"{instance.name}: {runs[-1]['status']}, {runs[-1]['seconds']:.3g} s", file=sys.stderr
        )
    print(table(runs))
    record = {**report.provenance(), "limit": limit, "runs": runs}
    (HERE / "results" / "anytime.json").write_text(json.dumps(record, indent=1) + "\n")
    plot(runs, HERE / "results" / "anytime.png")


def peers(settings: argparse.Namespace) -> None:
    """Run certree beside its peers, print, store; the record is complete after every set."""
    origin, limit, memory = (
        report.provenance(),
        settings.limit or 10.0,
        int(settings.memory * 2**30),
    )
    systems = tuple(settings.systems or anytime_peers.SYSTEMS)
    stored = {}
    if settings.reuse:
        old = json.loads(settings.reuse.read_text())["runs"]
        stored = {(run["set"], run["depth"]): run["peers"] for run in old}
    target = settings.out or HERE / "results" / "anytime-peers.json"
    runs: list[dict[str, Any]] = []
    refits = []
    for instance, depths in anytime_peers.sets(tuple(settings.only)):
        chosen = tuple(depth for depth in depths if not settings.depths or depth in settings.depths)
        if "FastSmallTree" in systems and not runs and not stored:
            compile_first(instance, memory)
        for run in anytime_peers.measure(instance, chosen, systems, limit, memory, stored):
            runs.append(run)
            print(anytime_report.line(run), file=sys.stderr, flush=True)
            quick = anytime_peers.points(run, "LicketySPLIT 1")
            if quick and len(refits) < settings.refits:
                moment = quick[0]["seconds"]
                refits.append(anytime_peers.refit(instance, run, moment, memory))
        found = anytime_report.summary(runs, limit) if runs else {}
        record = {**origin, "limit": limit, "summary": found, "refits": refits, "runs": runs}
        target.write_text(json.dumps(record, indent=1) + "\n")
    if not runs:
        raise SystemExit(
            f"no set is named {settings.only}, or none has the depths {settings.depths}."
        )
    print(anytime_report.table(runs, limit) + "\n\n" + anytime_report.summary_text(found))
    for refit in refits:
        print("refit: " + ", ".join(f"{name} {value}" for name, value in refit.items()))
    anytime_report.plot(runs, limit, target.with_suffix(".png"))


def compile_first(instance: instances.Instance, memory: int) -> None:
    """Let numba compile FastSmallTree, which takes a minute once, before its time is measured."""
    small = instances.Instance("tiny", instance.columns[:50, :5], instance.labels[:50])
    entry = Entry("compile", "fast-small-tree", None, 0.01, 100.0)
    schedule.run_case(Case(small, "", (entry,), repeats=1), 1, memory)


def scale(settings: argparse.Namespace) -> None:
    """Time the first tree that is as good as CART's on the numbers, beside CART."""
    limit, memory = settings.limit or 60.0, int(settings.memory * 2**30)
    header = ["table", "depth", "CART s", "CART errors", "first tree s", "its errors"]
    header += ["as good as CART s", "its errors", "ratio", "end s", "errors"]
    lines = []
    instance = generated(settings.rows, 20)
    for depth in settings.depths or (3, 5):
        ours, greedy = anytime_peers.first_tree(instance, depth, limit, memory)
        history = ours["history"]
        first = next((h for h in history if h[1] < history[0][1]), history[0])
        good = next((h for h in history if h[1] <= greedy["errors"]), None)
        line = [instance.name, str(depth), f"{greedy['seconds']:.3g}", str(greedy["errors"])]
        line += [f"{first[0]:.3g}", f"{first[1]:.0f}"]
        line += ["-"] * 3 if good is None else [f"{good[0]:.3g}", f"{good[1]:.0f}"]
        line += [] if good is None else [f"{good[0] / greedy['seconds']:.2f}"]
        lines.append([*line, f"{ours['seconds']:.3g}", str(ours["errors"])])
        print(" | ".join(lines[-1]), file=sys.stderr, flush=True)
    print(report.markdown(header, lines))


def main() -> None:
    """Read the command line and run the part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", default="sparse", choices=("sparse", "peers", "scale"))
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="these sets alone")
    parser.add_argument("--depths", type=int, nargs="+", help="these depths alone")
    parser.add_argument("--limit", type=float, metavar="S", help="seconds per fit (60; peers: 10)")
    parser.add_argument("--systems", nargs="+", choices=anytime_peers.SYSTEMS, help="these peers")
    parser.add_argument("--reuse", type=Path, metavar="FILE", help="take the peers' fits from it")
    parser.add_argument("--refits", type=int, default=8, metavar="N", help="refits (default 8)")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the part scale")
    parser.add_argument("--memory", type=float, default=12, metavar="GB", help="per process")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON of the part peers")
    settings = parser.parse_args()
    if instances.data_folder() is None and settings.part != "scale":
        print("CERTREE_DATA is not set: running on generated sets.", file=sys.stderr)
    {"sparse": sparse, "peers": peers, "scale": scale}[settings.part](settings)


if __name__ == "__main__":
    main()
