"""Two outputs in one tree: the time of one output, and held-out scores beside scikit-learn's trees.

    python benchmarks/outputs.py

Processor seconds at depth 3 with default thresholds, one thread, the least of three. Scores are R2,
the mean over both outputs, on five folds, of trees of depth 3 that weigh the outputs by their
variances; scikit-learn's tree gets them divided by their standard deviations. Data come with
scikit-learn, or are generated. The table goes to the screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sizes import least_seconds
from sklearn.datasets import load_diabetes, load_iris, make_friedman1
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from certree import OptimalTreeRegressor

DEPTH = 3


def tables() -> Iterator[tuple[str, Any, Any]]:
    """Yield names, rows, and two targets per row."""
    iris = load_iris().data
    yield "iris: petals by sepals", iris[:, :2], iris[:, 2:]
    X, y = load_diabetes(return_X_y=True, scaled=False)
    yield "diabetes: progression, pressure", np.delete(X, 3, axis=1), np.column_stack([y, X[:, 3]])
    for rows in (500, 2000):
        X, y = make_friedman1(rows, n_features=8, noise=1.0, random_state=0)
        other = np.abs(X[:, 1] - X[:, 3]) + 0.1 * np.random.default_rng(1).normal(size=rows)
        yield f"generated {rows} x 8", X, np.column_stack([y, other])


def fit(X: Any, Y: Any, output_weights: Any = None) -> OptimalTreeRegressor:
    """Fit the tree that is timed."""
    return OptimalTreeRegressor(DEPTH, output_weights=output_weights).fit(X, Y)


def held_out(X: Any, Y: Any) -> tuple[float, float]:
    """Return the mean scores of certree and of scikit-learn on five folds."""
    scores = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        best = fit(X[train], Y[train], "balanced")
        spread = Y[train].std(axis=0)
        greedy = DecisionTreeRegressor(max_depth=DEPTH, random_state=0)
        greedy.fit(X[train], Y[train] / spread)
        found = best.predict(X[test]), greedy.predict(X[test]) * spread
        scores.append([r2_score(Y[test], one) for one in found])
    ours, theirs = np.mean(scores, axis=0).tolist()
    return ours, theirs


def main() -> None:
    """Measure, and print a table."""
    print("| table | one output, s | two, s | ratio | R2, certree | R2, scikit-learn |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, X, Y in tables():
        times = [least_seconds(lambda X=X, y=y: fit(X, y)) for y in Y.T]
        one, two = sum(times) / 2, least_seconds(lambda X=X, Y=Y: fit(X, Y, "balanced"))
        ours, theirs = held_out(X, Y)
        print(f"| {name} | {one:.3f} | {two:.3f} | {two / one:.1f} | {ours:.3f} | {theirs:.3f} |")


if __name__ == "__main__":
    main()
