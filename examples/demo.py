"""Fit a certified optimal tree on a raw table, check its certificate, compare it with CART.

Run by ``make demo``.
"""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier, verify
from certree.datasets import load_credit


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


def greedy_tree(model: OptimalTreeClassifier, X: Any, y: Any) -> DecisionTreeClassifier:
    """Fit CART on the same tests, allowed as many leaves and as deep as the optimal tree."""
    greedy = DecisionTreeClassifier(
        max_leaf_nodes=max(model.tree_.n_leaves, 2), max_depth=model.max_depth, random_state=0
    )
    return greedy.fit(model.encoder_.transform(X), y)


def compare(model: OptimalTreeClassifier, data: dict[str, tuple[Any, Any]]) -> None:
    """Print accuracy on training and test rows, and the size, of both trees."""
    greedy = greedy_tree(model, *data["training"])
    print(f"{'':<22}{'optimal':>10}{'greedy':>10}")
    for part, (X, y) in data.items():
        best, cart = model.score(X, y), greedy.score(model.encoder_.transform(X), y)
        print(f"{part + ' accuracy':<22}{best:>10.3f}{cart:>10.3f}")
    print(f"{'leaves':<22}{model.tree_.n_leaves:>10}{greedy.get_n_leaves():>10}")


def main() -> None:
    """Run the demonstration."""
    loans = load_credit()
    X, X_test, y, y_test = train_test_split(
        loans.data, loans.target, test_size=1 / 3, random_state=0, stratify=loans.target
    )
    model = OptimalTreeClassifier(max_depth=4, complexity=0.005).fit(X, y)

    heading(f"The best tree for {len(y)} loans: depth at most 4, half a percent per split")
    print(model.tree_.to_text())

    heading("What is proven about it")
    print(model.certificate_)

    heading("Checked by code that shares nothing with the search")
    print(verify(model, X, y))

    heading("Against a greedy tree (CART) with the same tests and number of leaves")
    compare(model, {"training": (X, y), "test": (X_test, y_test)})


if __name__ == "__main__":
    main()
