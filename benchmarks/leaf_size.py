"""Do larger leaves predict new rows better? Scores on held-out rows for many `min_samples_leaf`.

    CERTREE_DATA=... nice python benchmarks/leaf_size.py [--repeats N] [--only NAME ...]
    python benchmarks/leaf_size.py --page      # put the latest record into the guide's page

Five-fold cross-validation, repeated, with the same folds for every leaf size, on the sets of the
data folder, on scikit-learn's bundled sets and on generated ones; at most 1000 rows of each. All
other parameters have their default, and a fit is stopped after some seconds of the processor. Each
set counts once: the table has the mean over the sets of the difference to `min_samples_leaf=1`, its
standard error, and on how many sets the larger leaf is better and worse. The record goes to
``results/leaf-size.json`` after every set, and a run that was stopped goes on where it was; the
sets come in a random order, the same in every run, so that a part of them is of all kinds. A run
with ``--only`` or ``--depth`` is stored only where ``--out`` says.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import instances, report  # noqa: E402
from harness.number_suites import continuous_instances  # noqa: E402
from sklearn import datasets, metrics  # noqa: E402
from sklearn.model_selection import KFold, StratifiedKFold  # noqa: E402

from certree import OptimalTreeClassifier, OptimalTreeRegressor  # noqa: E402
from certree import datasets as own  # noqa: E402

PAGE = HERE.parent / "docs" / "guide" / "limits.md"
RECORD = HERE / "results" / "leaf-size.json"
MARKED = re.compile(r"(<!-- table: leaf-size -->\n).*?(<!-- end -->)", re.DOTALL)
LEAVES: tuple[int | float, ...] = (1, 2, 3, 5, 10, 20, 0.01)
DEPTHS = (2, 3, 4, 5)
MOST_ROWS = 1000
LEAST_PROBABILITY = 1e-3
"""Probabilities are cut off here for the log-loss: a leaf of one class says 0, which costs all."""
MEASURES = {"accuracy": 100, "AUC": 100, "log-loss": 1, "R²": 100}
"""The measures with the factor of the table: points of accuracy, area and R²; log-loss as it is."""
GOOD = {"accuracy": 1, "AUC": 1, "log-loss": -1, "R²": 1}

Line = dict[str, Any]
Table = tuple[str, Any, Any]


# ---- tables ------------------------------------------------------------------------------------


def classification() -> Iterator[Table]:
    """Yield name, features and classes."""
    folder = instances.data_folder()
    if folder is not None:
        for found in instances.accuracy_instances():
            yield found.name, found.columns, found.labels
        for found in continuous_instances():
            yield f"{found.name} (numbers)", found.columns, found.labels
        for found in instances.sparse_instances(["balance", "careval", "monk1", "monk2", "monk3"]):
            yield found.name, found.columns, found.labels
        for path in sorted((folder / "mixed").glob("*.csv")):
            table = np.loadtxt(path, delimiter=",", skiprows=1)
            yield f"{path.stem} (mixed)", table[:, :-1], table[:, -1].astype(int)
        for name in ("bar-7", "compas-44", "fico"):
            found = instances.read_table(folder / "near-optimal" / f"{name}.csv")
            yield found.name, found.columns, found.labels
        for name in ("adult", "ricci", "student-por"):
            found = instances.read_table(folder / "fairness" / f"{name}-binarized.csv")
            yield found.name, found.columns, found.labels
    for name in ("breast_cancer", "wine", "iris", "digits"):
        yield (name.replace("_", " "), *getattr(datasets, f"load_{name}")(return_X_y=True))
    yield ("credit", *own.load_credit(return_X_y=True, as_frame=False))
    for n_rows in (100, 300, 1000):
        for flipped in (0.05, 0.2):
            drawn = datasets.make_classification(
                n_rows, 8, n_informative=4, flip_y=flipped, random_state=n_rows
            )
            yield (f"generated {n_rows}, {flipped:.0%} flipped", *drawn)


def regression() -> Iterator[Table]:
    """Yield name, features and target."""
    folder = instances.data_folder()
    if folder is not None:
        table = np.loadtxt(folder / "regression" / "airfoil.csv")
        yield "airfoil", table[:, 1:].astype(np.uint8), table[:, 0]
        table = np.loadtxt(folder / "instance-cost" / "maxsat21-32f.txt")
        yield "maxsat, log cost", table[:, 9:].astype(np.uint8), np.log1p(table[:, 1]).round(6)
        table = np.loadtxt(folder / "continuous" / "raisin.txt")
        yield "raisin, eccentricity", table[:, [1, 5, 6]], table[:, 4]
    yield ("diabetes, progression", *datasets.load_diabetes(return_X_y=True))
    for n_rows in (100, 300, 1000):
        for noise in (1.0, 4.0):
            values, target = datasets.make_friedman1(n_rows, 8, noise=noise, random_state=n_rows)
            yield f"Friedman 1, {n_rows}, noise {noise:g}", values, np.round(target, 3)
    for name, noise in (("2", 200.0), ("3", 0.2)):
        values, target = getattr(datasets, f"make_friedman{name}")(300, noise=noise, random_state=1)
        yield f"Friedman {name}, 300", values, np.round(target, 3)


def sample(values: Any, targets: Any) -> tuple[Any, Any]:
    """Draw at most MOST_ROWS rows, the same in every run."""
    if len(targets) <= MOST_ROWS:
        return values, targets
    rows = np.random.default_rng(0).permutation(len(targets))[:MOST_ROWS]
    return values[rows], targets[rows]


# ---- measuring ---------------------------------------------------------------------------------


def class_scores(model: Any, values: Any, labels: Any) -> dict[str, float]:
    """Score a classifier on held-out rows; no area where a class is missing among them."""
    chances = np.clip(model.predict_proba(values), LEAST_PROBABILITY, 1)
    chances /= chances.sum(axis=1, keepdims=True)
    found = {
        "accuracy": float(np.mean(model.predict(values) == labels)),
        "log-loss": float(metrics.log_loss(labels, chances, labels=model.classes_)),
    }
    if len(np.unique(labels)) == len(model.classes_):
        given = chances[:, 1] if len(model.classes_) == 2 else chances
        found["AUC"] = float(metrics.roc_auc_score(labels, given, multi_class="ovr"))
    return found


def measure(values: Any, targets: Any, depth: int, seed: int, limit: float) -> dict[str, Line]:
    """Give the mean scores of every leaf size over five folds, and the share of proven fits."""
    is_regression = targets.dtype.kind == "f"
    folds: Any = KFold if is_regression else StratifiedKFold
    scores: dict[str, list[dict[str, float]]] = {str(leaf): [] for leaf in LEAVES}
    for train, test in folds(5, shuffle=True, random_state=seed).split(values, targets):
        for leaf in LEAVES:
            kind: Any = OptimalTreeRegressor if is_regression else OptimalTreeClassifier
            model = kind(depth, min_samples_leaf=leaf, time_limit=None)
            end = process_time() + limit
            model.fit(
                values[train], targets[train], callback=lambda _, end=end: process_time() > end
            )
            if is_regression:
                found = {"R²": float(model.score(values[test], targets[test]))}
            else:
                found = class_scores(model, values[test], targets[test])
            scores[str(leaf)].append({**found, "proven": float(model.certificate_.is_optimal)})
    return {leaf: _means(each) for leaf, each in scores.items()}


def _means(folds: list[dict[str, float]]) -> Line:
    names = dict.fromkeys(name for fold in folds for name in fold)
    return {
        name: round(float(np.mean([fold[name] for fold in folds if name in fold])), 6)
        for name in names
    }


# ---- summary -----------------------------------------------------------------------------------


def differences(lines: list[Line], measure: str, leaf: str, depths: tuple[int, ...]) -> Any:
    """Give, for each set, the score with a leaf size minus that with leaves of one row."""
    per_set: dict[str, list[float]] = {}
    for line in lines:
        if line["depth"] in depths and measure in line["scores"]["1"]:
            change = line["scores"][leaf][measure] - line["scores"]["1"][measure]
            per_set.setdefault(line["name"], []).append(change)
    return np.array([np.mean(changes) for changes in per_set.values()])


def cell(lines: list[Line], measure: str, leaf: str, depths: tuple[int, ...]) -> str:
    """Write the mean difference, its standard error, and sets that gain and lose."""
    change = differences(lines, measure, leaf, depths)
    if len(change) < 2:
        return ""
    mean, error = change.mean(), change.std(ddof=1) / np.sqrt(len(change))
    gains, losses = (int((GOOD[measure] * change * sign > 1e-9).sum()) for sign in (1, -1))
    factor, digits = MEASURES[measure], 2 if MEASURES[measure] == 100 else 3
    return f"{factor * mean:+.{digits}f} ± {factor * error:.{digits}f} ({gains}:{losses})"


def leaf_text(leaf: str) -> str:
    """Write a number of rows, or a share of them."""
    return leaf if "." not in leaf else f"{float(leaf):.0%}".replace("%", " %")


def table(lines: list[Line], depths: tuple[int, ...]) -> str:
    """Lay out the differences to leaves of one row, over the given depths."""
    header = ["min_samples_leaf", *MEASURES]
    cells = [
        [leaf_text(str(leaf)), *(cell(lines, measure, str(leaf), depths) for measure in MEASURES)]
        for leaf in LEAVES[1:]
    ]
    return report.markdown(header, cells)


def tables(lines: list[Line]) -> str:
    """Lay out all depths together, and each."""
    depths = tuple(sorted({line["depth"] for line in lines}))
    parts = [f"All depths\n\n{table(lines, depths)}"]
    parts += [f"Depth {depth}\n\n{table(lines, (depth,))}" for depth in depths]
    return "\n\n".join(parts)


def extent_text(lines: list[Line]) -> str:
    """Write how many sets were measured at each depth, how often, and what share is proven."""
    parts = []
    for depth in sorted({line["depth"] for line in lines}):
        own = [line for line in lines if line["depth"] == depth]
        repeats = len({line["repeat"] for line in own})
        proven = np.mean([fit["proven"] for line in own for fit in line["scores"].values()])
        often = f", {repeats} times" if repeats > 1 else ""
        n_sets = len({line["name"] for line in own})
        parts.append(f"{n_sets} sets at depth {depth}{often} ({100 * proven:.0f} % proven)")
    return "; ".join(parts)


def write_page(record: Line) -> None:
    """Replace the table of the guide by the one of the record."""
    lines = record["lines"]
    seconds = sorted({line["limit"] for line in lines})
    limits = " or ".join(f"{limit:g}" for limit in seconds)
    source = (
        f"Measured on {record['date'][:10]} in five folds: {extent_text(lines)}. A fit was stopped "
        f"after {limits} seconds of the processor."
    )
    text = f"{textwrap.fill(source, 100)}\n\n{table(lines, DEPTHS)}\n"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARKED.sub(lambda m: m[1] + text + m[2], page), encoding="utf-8")


def study(settings: argparse.Namespace, done: list[Line]) -> Iterator[Line]:
    """Yield a line for each repeat, depth and set that is not done yet."""
    known = {(line["repeat"], line["depth"], line["name"]) for line in done}
    sets = [*classification(), *regression()]
    random.Random(0).shuffle(sets)
    for repeat, depth in itertools.product(range(settings.repeats), settings.depth):
        for name, values, targets in sets:
            is_wanted = not settings.only or name in settings.only
            if not is_wanted or (repeat, depth, name) in known:
                continue
            values, targets = sample(values, targets)
            head = {"name": name, "rows": values.shape[0], "columns": values.shape[1]}
            head |= {"depth": depth, "repeat": repeat, "limit": settings.limit}
            yield {**head, "scores": measure(values, targets, depth, repeat, settings.limit)}


def write(record: Line, path: Path) -> None:
    """Store a record, a line for each set."""
    head = {name: value for name, value in record.items() if name != "lines"}
    lines = ",\n  ".join(json.dumps(line, ensure_ascii=False) for line in record["lines"])
    text = json.dumps(head, indent=1)[:-2] + f',\n "lines": [\n  {lines}\n ]\n}}\n'
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Run, print and store, or rewrite the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these sets alone")
    parser.add_argument("--depth", type=int, nargs="+", default=list(DEPTHS))
    parser.add_argument("--repeats", type=int, default=2, metavar="N", help="of the five folds")
    parser.add_argument("--limit", type=float, default=0.25, metavar="S", help="seconds per fit")
    parser.add_argument("--page", action="store_true", help="measure nothing, rewrite the page")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON (default: results/)")
    settings = parser.parse_args()
    if settings.page:
        write_page(json.loads((settings.out or RECORD).read_text(encoding="utf-8")))
        return
    if instances.data_folder() is None:
        print("CERTREE_DATA is not set: using bundled and generated sets.", file=sys.stderr)
    warnings.simplefilter("ignore")
    is_whole = (
        not settings.only and settings.depth == list(DEPTHS) and instances.data_folder() is not None
    )
    out = settings.out or (RECORD if is_whole else None)
    record: Line = {**report.provenance(), "lines": []}
    if out is not None and out.exists():
        record["lines"] = json.loads(out.read_text(encoding="utf-8"))["lines"]
    for line in study(settings, record["lines"]):
        record["lines"].append(line)
        print(json.dumps(line), file=sys.stderr, flush=True)
        if out is not None:
            write(record, out)
    if not record["lines"]:
        parser.error(f"no set is named {settings.only}.")
    print(tables(record["lines"]))


if __name__ == "__main__":
    main()
