"""Tables, summary and picture of certree over time beside its peers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from . import report
from .anytime_peers import (
    SYSTEMS,
    Run,
    best_known,
    best_point,
    bound_at,
    errors_at,
    points,
    seconds_counted,
    seconds_within,
)

TELLING = (
    ("german-credit", 6),
    ("german-credit", 8),
    ("kr-vs-kp", 6),
    ("anneal", 8),
    ("fault (numbers)", 6),
    ("page (numbers)", 5),
)
"""The runs that the picture shows, where they are among those measured."""


def number(value: float | None) -> str:
    """Write a count, or a dash where there is none."""
    return "-" if value is None else f"{value:.0f}"


def seconds(value: float | None) -> str:
    """Write a time, or a dash where there is none."""
    return "-" if value is None else f"{value:.2g}"


def table(runs: list[Run], limit: float) -> str:
    """Lay out one line per run: certree's errors and bounds, and every peer's best fit.

    For a peer: its errors, its seconds, and certree's errors at that moment.
    """
    systems = [name for name in SYSTEMS if any(name in run["peers"] for run in runs)]
    header = [
        "set",
        "depth",
        "best known",
        "at 1 s",
        f"at {limit:g} s",
        "bound 1 s",
        f"bound {limit:g} s",
    ]
    header += ["within 5 % s", *(f"{name}: errors (s) / certree" for name in systems)]
    lines = []
    for run in runs:
        line = [run["set"], str(run["depth"]), str(best_known(run)), number(errors_at(run, 1.0))]
        line.append(number(errors_at(run, limit)))
        line += [f"{bound_at(run, moment):.0f}" for moment in (1.0, limit)]
        line.append(seconds(seconds_within(run, "certree")))
        for name in systems:
            best = best_point(run, name)
            if best is None:
                line.append("-")
                continue
            ours = number(errors_at(run, best["seconds"]))
            line.append(f"{best['errors']} ({seconds(best['seconds'])}) / {ours}")
        lines.append(line)
    return report.markdown(header, lines)


def line(run: Run) -> str:
    """Write one run in a line, for those who watch."""
    others = [
        f"{name} {best['errors']} ({seconds(best['seconds'])} s)"
        for name in run["peers"]
        if (best := best_point(run, name))
    ]
    ours = f"certree {number(errors_at(run, 1.0))} (1 s), {run['certree']['errors']} (end)"
    return f"{run['set']} (depth {run['depth']}): {ours}, " + ", ".join(others)


def beside(runs: list[Run], system: str) -> dict[str, Any]:
    """Compare certree at the moment where a peer ends with that peer.

    A run in which certree has no tree yet counts as worse; in the means it has the errors of its
    first tree, which is a single leaf.
    """
    pairs = []
    for run in runs:
        for found in points(run, system):
            ours = errors_at(run, found["seconds"])
            first = run["certree"]["history"][0][1]
            pairs.append((run, first if ours is None else ours, ours is None, found["errors"]))
    if not pairs:
        return {"peer": system, "fits": 0}
    worse = [
        f"{run['set']} {run['depth']}: {'none' if is_none else number(ours)} against {theirs}"
        for run, ours, is_none, theirs in pairs
        if is_none or ours > theirs + 1
    ]
    relative = [(ours - theirs) / max(theirs, 1) for _, ours, _, theirs in pairs]
    return {
        "peer": system,
        "fits": len(pairs),
        "runs without an answer": len(runs) - len({id(run) for run, *_ in pairs}),
        "at most its errors + 1": len(pairs) - len(worse),
        "mean relative difference": round(sum(relative) / len(relative), 4),
        "difference of all errors": round(
            sum(ours for _, ours, _, _ in pairs) / max(1, sum(p[3] for p in pairs)) - 1, 4
        ),
        "worse": worse,
    }


def summary(runs: list[Run], limit: float) -> dict[str, Any]:
    """Collect the figures over all runs."""
    systems = [name for name in SYSTEMS if any(name in run["peers"] for run in runs)]
    above = []
    for run in runs:
        greedy, ours = best_point(run, "CART"), errors_at(run, 1.0)
        if greedy is not None and (ours is None or ours > greedy["errors"]):
            above.append(f"{run['set']} {run['depth']}: {number(ours)} against {greedy['errors']}")
    times = {}
    for name in ("certree", *systems):
        mean = report.geometric_mean(seconds_counted(run, name, limit) for run in runs)
        reached = sum(seconds_within(run, name) is not None for run in runs)
        times[name] = {"geometric mean s": mean and round(mean, 4), "reached": reached}
    return {
        "runs": len(runs),
        "beside": [beside(runs, name) for name in systems],
        "above CART after 1 s": above,
        "bound above 0 after 1 s": sum(bound_at(run, 1.0) > 0 for run in runs),
        "proven": sum(run["certree"]["status"] == "optimal" for run in runs),
        "within 5 % of the best known": times,
    }


def summary_text(found: dict[str, Any]) -> str:
    """Write the summary for the screen."""
    lines = [f"{found['runs']} runs, {found['proven']} proven"]
    for line in found["beside"]:
        if not line["fits"]:
            lines.append(f"- {line['peer']}: no answer in any run")
            continue
        lines.append(
            f"- when {line['peer']} ends ({line['fits']} fits, {line['runs without an answer']} "
            f"runs without): at most its errors + 1 in {line['at most its errors + 1']}; "
            f"errors {line['mean relative difference']:+.1%} on the mean, "
            f"{line['difference of all errors']:+.1%} in all"
        )
        lines += [f"    {text}" for text in line["worse"]]
    above = found["above CART after 1 s"]
    lines.append(f"- above CART after 1 s in {len(above)} runs")
    lines += [f"    {text}" for text in above]
    lines.append(f"- bound above 0 after 1 s in {found['bound above 0 after 1 s']} runs")
    lines.append("- seconds to within 5 % of the best known, geometric mean (runs that reach it):")
    for name, line in found["within 5 % of the best known"].items():
        lines.append(f"    {name}: {line['geometric mean s']} ({line['reached']})")
    return "\n".join(lines)


def plot(runs: list[Run], limit: float, target: Path) -> None:
    """Draw six runs: certree's two curves over time, and a point for each fit of a peer."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    chosen = [run for run in runs if (run["set"], run["depth"]) in TELLING]
    chosen += sorted((run for run in runs if run not in chosen), key=lambda run: -best_known(run))
    figure, axes = pyplot.subplots(2, 3, figsize=(14, 8), squeeze=False)
    for axis, run in zip(axes.flat, chosen, strict=False):
        draw(axis, run, limit)
    for axis in axes.flat[len(chosen) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("training errors")
    for axis in axes[-1]:
        axis.set_xlabel("seconds since the call of fit")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=3, frameon=False, fontsize=11)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    figure.savefig(target, dpi=110)
    pyplot.close(figure)


def draw(axis: Any, run: Run, limit: float) -> None:
    """Draw one run."""
    certree = run["certree"]
    moments = [s for s, _, _ in certree["history"]] + [max(certree["seconds"], limit)]
    upper = [u for _, u, _ in certree["history"]] + [certree["errors"]]
    lower = [low for _, _, low in certree["history"]] + [certree["lower_bound"]]
    best = {name: found for name in run["peers"] if (found := best_point(run, name))}
    times = [found["seconds"] for found in best.values()]
    # The first tree is one leaf: what follows is what the picture is about.
    top = 1.2 * max([found["errors"] for found in best.values()] + [certree["errors"], 1])
    axis.set_xscale("log")
    axis.set_xlim(min([moments[0], *times]) / 1.6, max([moments[-1], *times]) * 1.6)
    axis.set_ylim(-0.03 * top, top)
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.fill_between(moments, lower, upper, step="post", color="tab:blue", alpha=0.10, lw=0)
    style: dict[str, Any] = {"where": "post", "lw": 2}
    axis.step(moments, upper, color="tab:blue", label="certree: best tree so far", **style)
    axis.step(moments, lower, color="tab:gray", label="certree: no tree has fewer", **style)
    axis.plot([], [], "o", color="tab:red", label="a peer's tree, when its fit ends")
    for name in best:
        fits = sorted((p["seconds"], p["errors"]) for p in points(run, name))
        if name == "DL8.5 LDS":  # one search with several time limits
            axis.plot(*zip(*fits, strict=True), "o:", color="tab:red", ms=3, lw=1)
    label_points(axis, best, top)
    axis.grid(alpha=0.25)
    shape = f"{run['rows']:,} rows, {run['columns']} columns"
    axis.set_title(f"{run['set']}, depth {run['depth']} ({shape})", fontsize=10)


def label_points(axis: Any, best: dict[str, dict[str, Any]], top: float) -> None:
    """Draw the peers' points with their names, moved apart where they would meet."""
    taken: list[tuple[float, float]] = []
    low, high = (math.log(x) for x in axis.get_xlim())
    for name, found in sorted(best.items(), key=lambda item: item[1]["errors"]):
        axis.plot(found["seconds"], found["errors"], "o", color="tab:red", ms=6, zorder=5)
        x = (math.log(found["seconds"]) - low) / (high - low)
        y = (found["errors"] + 0.03 * top) / (1.03 * top) + 0.045
        while any(abs(x - a) < 0.3 and abs(y - b) < 0.05 for a, b in taken):
            y += 0.01
        taken.append((x, y))
        axis.annotate(
            f"{name}: {found['errors']}",
            (found["seconds"], found["errors"]),
            xytext=(x, y),
            textcoords="axes fraction",
            ha="left" if x < 0.2 else "right" if x > 0.8 else "center",
            va="center",
            fontsize=8.5,
            color="darkred",
            zorder=6,
            bbox={"boxstyle": "square,pad=0.1", "color": "white", "alpha": 0.75, "lw": 0},
            arrowprops={"arrowstyle": "-", "color": "tab:red", "lw": 0.6},
        )
