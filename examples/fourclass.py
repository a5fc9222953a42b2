"""One table, six objectives: what a proven optimal tree looks like depends on what it is asked for.

    python examples/fourclass.py             # writes fourclass.png
    python examples/fourclass.py picture.svg --depth 3

Points of two interlocked classes, a penalty of 0.01 per split, and the best tree within the depth
for accuracy, balanced accuracy, weighted accuracy, F-score, the area under the ROC curve and the
part of that area where few negatives are taken for positives. Above: the share of the second class
in the leaf of each place. Below: the ROC curve. After figure 2 of Lin et al., "Generalized and
scalable optimal sparse decision trees" (ICML 2020). Needs matplotlib.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from certree import OptimalTreeClassifier, classification_summary, datasets, metrics, plot_roc

OBJECTIVES: dict[str, Any] = {
    "accuracy": "accuracy",
    "balanced accuracy": "balanced_accuracy",
    "weighted accuracy (10)": metrics.WeightedAccuracy(10),
    "F-score": "f1",
    "AUC": "auc",
    "partial AUC (FPR ≤ 0.2)": metrics.PartialAUC(0.2),
}
COMPLEXITY = 0.01
GRID = 201


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("picture", nargs="?", default="fourclass.png", help="file to write")
    parser.add_argument("--depth", type=int, default=4, help="depth limit (default 4)")
    parser.add_argument("--thresholds", type=int, default=10, help="per column (default 10)")
    parser.add_argument("--limit", type=float, default=60, metavar="S", help="seconds per tree")
    return parser.parse_args()


def draw_regions(ax: Any, model: OptimalTreeClassifier, data: Any, target: Any) -> None:
    """Colour the square by the share of the second class in the leaf, and draw the points."""
    side = np.linspace(0, 1, GRID)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    share = model.predict_proba(grid)[:, 1].reshape(GRID, GRID)
    ax.imshow(share, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu_r", vmin=-0.4, vmax=1.4)
    for label, colour in ((0, "navy"), (1, "darkred")):
        ax.scatter(*data[target == label].T, s=2, color=colour)
    ax.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))


def main() -> None:
    """Fit the six trees, print what they reach, and write the picture."""
    settings = arguments()
    points = datasets.make_fourclass()
    # Three trees side by side, and three below them, each with its curve.
    figure, axes = plt.subplots(4, 3, figsize=(9, 12.4), layout="constrained")
    columns = [*axes[:2].T, *axes[2:].T]
    print(
        f"{'objective':25}{'status':12}{'splits':>6}{'FP':>5}{'FN':>5}{'F1':>8}{'AUC':>8}{'s':>7}"
    )
    for (name, objective), column in zip(OBJECTIVES.items(), columns, strict=True):
        start = time.perf_counter()
        model = OptimalTreeClassifier(
            objective=objective,
            complexity=COMPLEXITY,
            max_depth=settings.depth,
            thresholds=settings.thresholds,
            time_limit=settings.limit,
        ).fit(points.data, points.target)
        seconds = time.perf_counter() - start
        summary = classification_summary(model, points.data, points.target)
        print(
            f"{name:25}{model.certificate_.status:12}{model.tree_.n_splits:6}"
            f"{summary['fp']:5g}{summary['fn']:5g}{summary['f1']:8.3f}{summary['auc']:8.3f}"
            f"{seconds:7.2f}"
        )
        draw_regions(column[0], model, points.data, points.target)
        column[0].set_title(f"{name}\n{model.tree_.n_splits} splits")
        plot_roc(model, points.data, points.target, ax=column[1])
        column[1].set_title(f"FP {summary['fp']:g}, FN {summary['fn']:g}, AUC {summary['auc']:.3f}")
    figure.savefig(settings.picture, dpi=120)
    print(f"written: {settings.picture}")


if __name__ == "__main__":
    main()
