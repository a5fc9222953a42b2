"""What choosing the size costs: a path, and a cross-validation, in units of one fit.

    python benchmarks/sizes.py

Processor seconds at depth 3 with default thresholds, the least of three, on tables that come with
scikit-learn and on generated ones. The table goes to the screen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification

from certree import OptimalTreeClassifier, OptimalTreeClassifierCV, regularization_path

DEPTH = 3


def tables() -> Iterator[tuple[str, Any, Any]]:
    """Yield names, rows and classes."""
    yield ("breast cancer", *load_breast_cancer(return_X_y=True))
    yield ("wine", *load_wine(return_X_y=True))
    X, y = load_digits(return_X_y=True)
    yield "digits, even or odd", X, y % 2
    for rows, columns, seed in ((1000, 10, 7), (5000, 20, 8)):
        options: dict[str, Any] = {"n_informative": 6, "flip_y": 0.1, "random_state": seed}
        yield (f"generated {rows} x {columns}", *make_classification(rows, columns, **options))


def least_seconds(action: Callable[[], Any]) -> float:
    """Return the least processor time of three runs."""
    found = []
    for _ in range(3):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Measure, and print a table."""
    print("| table | fit, s | path | five folds |\n| --- | ---: | ---: | ---: |")
    for name, X, y in tables():
        fit = least_seconds(lambda X=X, y=y: OptimalTreeClassifier(DEPTH).fit(X, y))
        path = least_seconds(lambda X=X, y=y: regularization_path(X, y, max_depth=DEPTH))
        chosen = OptimalTreeClassifierCV(depths=(DEPTH,), cv=5)
        folds = least_seconds(lambda X=X, y=y, model=chosen: model.fit(X, y))
        print(f"| {name} | {fit:.2f} | {path / fit:.1f} | {folds / fit:.1f} |", flush=True)


if __name__ == "__main__":
    main()
