"""The price of fairness: the least error of a tree for every tolerance, for four constraints.

    python examples/fairness.py              # writes fairness.png
    python examples/fairness.py picture.svg --depth 2

Synthetic loans, of which those of home owners default less often. Each curve comes from one search
and is proven: no tree of this depth over these tests has less error within the tolerance. Needs
matplotlib.
"""

from __future__ import annotations

import argparse

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from certree import FairTreeClassifier, datasets

CONSTRAINTS = ("demographic_parity", "equal_opportunity", "equalized_odds", "accuracy_parity")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("picture", nargs="?", default="fairness.png", help="file to write")
    parser.add_argument("--depth", type=int, default=3, help="depth limit (default 3)")
    parser.add_argument("--thresholds", type=int, default=4, help="per column (default 4)")
    return parser.parse_args()


def main() -> None:
    """Find the curves, print and draw them."""
    settings = arguments()
    loans = datasets.load_credit(as_frame=False)
    is_owner = loans.data[:, loans.feature_names.index("housing")] == "own"
    groups = np.where(is_owner, "owner", "other")
    figure, grid = plt.subplots(2, 2, figsize=(8.4, 5.6), layout="constrained", sharey=True)
    for constraint, ax in zip(CONSTRAINTS, grid.ravel(), strict=True):
        model = FairTreeClassifier(
            constraint, max_depth=settings.depth, thresholds=settings.thresholds, pos_label="repaid"
        )
        curve = model.fairness_curve(loans.data, loans.target, sensitive_features=groups)
        print(constraint.replace("_", " "))
        print(f"{curve}\n")
        curve.plot(ax=ax)
        ax.set_title(constraint.replace("_", " "), fontsize=10)
    for ax in grid[0]:
        ax.set_xlabel("")
    for ax in grid[:, 1]:
        ax.set_ylabel("")
    figure.savefig(settings.picture, dpi=150)
    print(f"wrote {settings.picture}")


if __name__ == "__main__":
    main()
