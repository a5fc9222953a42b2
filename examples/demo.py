"""Fit a certified optimal tree on a raw table, check its certificate, compare it with CART.

Run by ``make demo``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier, verify
from certree.datasets import load_credit

N_SPLITS = 10


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


def optimal_tree() -> OptimalTreeClassifier:
    """Return the model of this demonstration: at most three questions, each worth its place."""
    return OptimalTreeClassifier(max_depth=3, complexity=0.01)


def greedy_tree(model: OptimalTreeClassifier, X: Any, y: Any) -> DecisionTreeClassifier:
    """Fit CART on the same tests, allowed as many leaves and as deep as the optimal tree."""
    greedy = DecisionTreeClassifier(
        max_leaf_nodes=max(model.tree_.n_leaves, 2), max_depth=model.max_depth, random_state=0
    )
    return greedy.fit(model.encoder_.transform(X), y)


def compare(X: Any, y: Any) -> None:
    """Print the mean accuracy of both trees over random divisions into training and test rows."""
    scores = []
    for seed in range(N_SPLITS):
        parts = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
        X_train, X_test, y_train, y_test = parts
        model = optimal_tree().fit(X_train, y_train)
        greedy = greedy_tree(model, X_train, y_train)
        bits_train, bits_test = map(model.encoder_.transform, (X_train, X_test))
        scores.append(
            [
                [model.score(X_train, y_train), greedy.score(bits_train, y_train)],
                [model.score(X_test, y_test), greedy.score(bits_test, y_test)],
                [model.tree_.n_leaves, greedy.get_n_leaves()],
            ]
        )
    names = ("training accuracy", "test accuracy", "leaves")
    print(f"{'':<20}{'optimal':>10}{'greedy':>10}")
    for name, (best, cart) in zip(names, np.mean(scores, axis=0), strict=True):
        print(f"{name:<20}{best:>10.3f}{cart:>10.3f}")


def main() -> None:
    """Run the demonstration."""
    loans = load_credit()
    X, y = loans.data, loans.target
    model = optimal_tree().fit(X, y)

    heading(f"The best tree for {len(y)} loans: depth at most 3, one percent per split")
    print(model.tree_.to_text())

    heading("What is proven about it")
    print(model.certificate_)

    heading("Checked by code that shares nothing with the search")
    print(verify(model, X, y))

    heading(f"Against a greedy tree (CART) of the same size: mean of {N_SPLITS} random divisions")
    compare(X, y)


if __name__ == "__main__":
    main()
