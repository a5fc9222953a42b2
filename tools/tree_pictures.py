"""Draw the pictures of trees at the front of README and guide.

    python tools/tree_pictures.py

docs/two-trees.png shows CART beside the best tree of the same size, for the diagnosis in the
README; docs/guide/start.png the tree of "Getting started". Needs matplotlib.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalityGap, OptimalTreeClassifier, datasets, optimality_gap

DOCS = Path(__file__).parent.parent / "docs"


def compare() -> OptimalityGap:
    """Return how far the tree of CART in the README is from the best."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    return optimality_gap(cart, X, y)


def titles(found: OptimalityGap) -> tuple[str, str]:
    """Return what stands above the two trees."""
    proof = "no tree of this size makes fewer" if found.certificate.is_optimal else "best found"
    return f"CART: {found.cost} errors", f"certree: {found.upper_bound} errors, and {proof}"


def draw_two(found: OptimalityGap) -> Any:
    """Draw both trees, one beside the other."""
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 2.1), layout="constrained")
    for ax, tree, title in zip(axes, (found.tree, found.best_tree), titles(found), strict=True):
        tree.plot(ax, decimals=2, show_counts=False)
        ax.set_title(title, fontsize=10.5, fontweight="bold")
    return figure


def draw_start() -> Any:
    """Draw the tree of "Getting started"."""
    X, y = datasets.load_credit(return_X_y=True)
    return OptimalTreeClassifier(max_depth=3, complexity=0.01).fit(X, y).plot().figure


def main() -> None:
    """Write the pictures."""
    draw_two(compare()).savefig(DOCS / "two-trees.png", dpi=160)
    draw_start().savefig(DOCS / "guide" / "start.png", dpi=160)
    print("wrote two-trees.png and start.png")


if __name__ == "__main__":
    main()
