"""The greedy tree of scikit-learn, and how far it is from the best one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE
from rich.table import Table as Grid
from sklearn.metrics import accuracy_score, r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree.encoding import TableEncoder
from certree.encoding._named import NamedArray
from certree.estimators import OptimalTreeRegressor, optimality_gap

from ._printing import console, say
from ._tables import LearningData


@dataclass(frozen=True)
class CartComparison:
    """Two trees, and what is proven.

    Attributes
    ----------
    measure : str
        What the values are.
    values : dict of str to (float, float)
        By rows, the value of CART and that of the best tree found.
    splits : pair of int
        Their sizes.
    statement : str
        How far CART is from the best.
    is_proven : bool
        Whether the other tree is proven best.
    """

    measure: str
    values: dict[str, tuple[float, float]]
    splits: tuple[int, int]
    statement: str
    is_proven: bool

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "measure": self.measure,
            "cart": {"splits": self.splits[0], **{of: v[0] for of, v in self.values.items()}},
            "best": {"splits": self.splits[1], **{of: v[1] for of, v in self.values.items()}},
            "is_proven": self.is_proven,
            "statement": self.statement,
        }

    def say(self) -> None:
        """Print both trees side by side, and the statement."""
        grid = Grid(box=SIMPLE)
        grid.add_column("")
        for head in ("splits", *(f"{self.measure}, {of} rows" for of in self.values)):
            grid.add_column(head, justify="right")
        for place, name in enumerate(("CART", "proven best" if self.is_proven else "best found")):
            cells = (f"{pair[place]:.4f}" for pair in self.values.values())
            grid.add_row(name, str(self.splits[place]), *cells)
        console().print(grid)
        say(self.statement)


def compare_with_cart(
    of_classes: bool, given: LearningData, held: LearningData | None, settings: dict[str, Any]
) -> CartComparison:
    """Grow a greedy tree, and find the best one with the same limits."""
    tables = _numbers([given.X] if held is None else [given.X, held.X], given.weights, settings)
    most = settings.get("max_splits")
    limits = {
        "max_depth": settings["max_depth"],
        "min_samples_leaf": settings.get("min_samples_leaf", 1),
        "max_leaf_nodes": None if most is None else most + 1,
    }
    if most == 0:
        limits |= {"max_depth": 1, "max_leaf_nodes": None, "min_samples_leaf": len(given.X)}
    # The columns are numbers now, whatever they were.
    settings = {**settings, "categorical_features": "auto", "category_tests": "one"}
    train = tables[0], given.y, given.weights
    compare = _classes if of_classes else _numbers_of
    cart, best, statement, is_proven = compare(train, limits, settings)
    values = {}
    score = accuracy_score if of_classes else r2_score
    for name, table, rows in zip(("training", "held-out"), tables, (given, held), strict=False):
        assert rows is not None
        values[name] = (
            score(rows.y, cart.predict(np.asarray(table)), sample_weight=rows.weights),
            score(rows.y, best.predict(table), sample_weight=rows.weights),
        )
    sizes = int(cart.get_n_leaves()) - 1, best.n_splits
    return CartComparison("accuracy" if of_classes else "R2", values, sizes, statement, is_proven)


def _classes(train: Any, limits: dict[str, Any], settings: dict[str, Any]) -> Any:
    X, y, weights = train
    weighting = settings.get("class_weight")
    cart = DecisionTreeClassifier(random_state=0, class_weight=weighting, **limits)
    cart.fit(np.asarray(X), y, sample_weight=weights)
    found = optimality_gap(cart, X, y, sample_weight=weights, **settings)
    return cart, found.best_tree, f"CART: {found}", found.certificate.is_optimal


def _numbers_of(train: Any, limits: dict[str, Any], settings: dict[str, Any]) -> Any:
    X, y, weights = train
    cart = DecisionTreeRegressor(random_state=0, **limits)
    cart.fit(np.asarray(X), y, sample_weight=weights)
    model = OptimalTreeRegressor(**settings).fit(X, y, weights)
    wrong = np.square(cart.predict(np.asarray(X)) - y)
    cost = float(wrong.sum() if weights is None else wrong @ weights)
    certificate = model.certificate_
    bound = float(certificate.lower_bound)
    statement = f"CART has the squared error {cost:.6g}. {certificate.statement()}"
    if cost < bound:
        statement += " CART uses other cut points; --thresholds all searches those, too."
    elif bound > 0:
        statement += f" So CART is at most {cost / bound - 1:.2%} above the best."
    return cart, model.tree_, statement, certificate.is_optimal


def _numbers(
    tables: list[NamedArray], weights: NDArray[Any] | None, settings: dict[str, Any]
) -> list[NDArray[Any]]:
    """Return tables of numbers as they are, and others as the 0/1 answers to all tests."""
    columns = list(tables[0].columns or ())
    if settings["categorical_features"] == "auto":
        try:
            numbers = [np.asarray(table, dtype=np.float64) for table in tables]
            if all(np.isfinite(table).all() for table in numbers):
                return [NamedArray(table, columns) for table in numbers]
        except (TypeError, ValueError):  # texts
            pass
    encoder = TableEncoder()
    encoder.set_params(**{k: v for k, v in settings.items() if k in encoder.get_params()})
    encoder.fit(tables[0], sample_weight=weights)
    tests = [str(test) for test in encoder.tests_]
    return [NamedArray(encoder.transform(table), tests) for table in tables]
