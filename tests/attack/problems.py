"""Random problems: small tables, and numbers of every kind that users might bring.

Everything comes from one generator, so that a seed and a number name a problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from . import truth

NATURES = ("ordinary", "hard", "absurd")
"""Ordinary numbers must be exact: no rounding matters, no answer "precision", no refusal. Hard
ones may end in "precision"; only absurd ones, such as 1e300, may be refused."""

_WIDE = ("2**53 and 1", "2**60", "range", "real range", "large")
"""Kinds of weights and numbers of which some are much larger than others."""

_MOST_POINTS = 60_000
"""Problems with more trees of depth two get trees of depth one."""

_LARGEST = 10**308
"""What floats hold."""

Nature = int
ORDINARY, HARD, ABSURD = range(3)


@dataclass
class Problem:
    """A table, the weights and classes of its rows, and limits on the size of trees."""

    name: str
    X: np.ndarray
    classes: list[int]
    given_weights: Any
    nature: Nature
    sizes: dict[str, Any]
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def y(self) -> np.ndarray:
        """The classes, as an array."""
        return np.array(self.classes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(self.classes) + 1

    def __post_init__(self) -> None:
        n_rows = len(self.X)
        given = self.given_weights
        every = [Fraction(1)] * n_rows if given is None else [truth.number(w) for w in given]
        self.rows = [i for i in range(n_rows) if every[i] > 0]
        """The rows that count."""
        self.weights = [every[i] for i in self.rows]
        self.total = sum(self.weights, Fraction(0))
        self.tests = truth.candidates([self.X[i].tolist() for i in self.rows])

    def of_rows(self, values: Sequence[Any]) -> list[Any]:
        """Return those of the rows that count."""
        return [values[i] for i in self.rows]

    def trees(
        self,
        amounts: Sequence[Sequence[Sequence[Fraction]]],
        tests: Sequence[int] | None = None,
        **options: Any,
    ) -> truth.LabelledTrees:
        """Return all trees within the limits on size, for amounts per row that counts and label."""
        return truth.LabelledTrees(
            self.tests if tests is None else tests,
            amounts,
            self.sizes["max_depth"],
            self.sizes["min_samples_leaf"],
            self.sizes["max_splits"],
            **options,
        )

    def harder(self, nature: Nature) -> None:
        """Note that other numbers of the problem are of some nature."""
        self.nature = max(self.nature, nature)


class Draw:
    """A generator of everything that makes up a problem."""

    def __init__(self, seed: int, index: int, *, missing: bool = True) -> None:
        self.name = f"{seed}:{index}"
        self.rng = np.random.default_rng([seed, index])
        self.missing = missing
        self.about: list[str] = []
        """What kinds of numbers were drawn, in a few words."""
        self.wide = False
        """Whether some of them differ by many powers of ten; products of two such are absurd."""

    def one_of(self, *options: Any) -> Any:
        """Return one of the options."""
        return options[int(self.rng.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        """Return True now and then."""
        return bool(self.rng.random() < probability)

    def problem(self, n_classes: int | None = None, min_rows: int = 4) -> Problem:
        """Draw a table with weights and classes, all of which occur in rows that count."""
        n_rows = int(self.rng.integers(min_rows, 13))
        k = self.one_of(2, 2, 3) if n_classes is None else n_classes
        X = self._table(n_rows, k)
        classes = self.rng.permutation(
            [i if i < k else int(self.rng.integers(k)) for i in range(n_rows)]
        )
        if self.chance(0.7):  # let the columns say something about the classes
            first = np.unique(X[:, 0].astype(str), return_inverse=True)[1]
            classes = np.where(self.rng.random(n_rows) < 0.7, first % k, classes)
        weights, nature = self.weights(n_rows)
        classes = [int(c) for c in classes]
        counted = range(n_rows) if weights is None else [i for i, w in enumerate(weights) if w > 0]
        if len({classes[i] for i in counted}) < k:
            for label, i in enumerate(list(counted)[:k]):
                classes[i] = label
        problem = Problem(self.name, X, classes, weights, nature, self._sizes(k))
        per_side = k + len(problem.tests) * k * k
        if len(problem.tests) * per_side**2 > _MOST_POINTS:
            problem.sizes["max_depth"] = 1
        return problem

    def _table(self, n_rows: int, n_classes: int) -> np.ndarray:
        n_columns = int(self.rng.integers(1, 5 if n_classes == 2 else 4))
        columns = []
        for _ in range(n_columns):
            n_values = self.one_of(2, 2, 2, 3, 4)
            column = self.rng.integers(0, n_values, n_rows).astype(float)
            if n_values > 2 and self.chance(0.3):
                column = column * self.one_of(0.1, 1e-7, 1e12) + self.one_of(0, -1, 0.05)
            if self.missing and self.chance(0.25):
                column[self.rng.random(n_rows) < 0.3] = np.nan
            columns.append(column)
        X = np.column_stack(columns)
        if self.chance(0.1):
            return self._with_texts(X)
        plain = not np.isnan(X).any() and bool((np.rint(X) == X).all()) and X.max() < 100
        return X.astype(int) if plain and self.chance(0.5) else X

    def _with_texts(self, X: np.ndarray) -> np.ndarray:
        """Return a table whose first column are texts, with None for what is missing."""
        table = X.astype(object)
        values = np.unique(X[~np.isnan(X[:, 0]), 0]).tolist()
        for row in table:
            row[0] = None if np.isnan(row[0]) else f"text {values.index(row[0])}"
        return table

    def _sizes(self, n_classes: int) -> dict[str, Any]:
        return {
            "max_depth": self.one_of(1, 1, 2, 2, 2) if n_classes == 2 else self.one_of(1, 1, 2),
            "max_splits": self.one_of(None, None, None, 0, 1, 2),
            "min_samples_leaf": self.one_of(1, 1, 1, 1, 2, 3),
        }

    def complexity(self) -> dict[str, Any]:
        """Draw a penalty for size, often none."""
        if self.chance(0.6):
            return {}
        amount = self.one_of(0.01, 0.05, 0.1, "1/7", Fraction(1, 12), 0.25, 1e-6, 0.123456789)
        return {"complexity": amount, "complexity_per": self.one_of("split", "split", "leaf")}

    def search(self) -> dict[str, str]:
        """Draw a way to search, which must not matter."""
        return {} if self.chance(0.7) else {"search": self.one_of("depth-first", "best-first")}

    # ---- weights ---------------------------------------------------------------------------------

    def weights(self, n: int) -> tuple[Any, Nature]:
        """Draw weights of rows, and their nature."""
        kind = self.one_of(*_WEIGHTS)
        weights, nature = _WEIGHTS[kind](self.rng, n)
        if weights is not None and self.chance(0.15):  # rows that do not count
            weights = list(weights) if isinstance(weights, list) else weights.copy()
            for i in self.rng.choice(
                n, size=int(self.rng.integers(1, max(2, n - 3))), replace=False
            ):
                weights[i] = 0 * weights[i]
        self.about.append(f"weights {kind}")
        self.wide = self.wide or kind in _WIDE
        return weights, nature

    def class_weight(self, n_classes: int) -> tuple[Any, Nature]:
        """Draw class weights, and their nature."""
        kind = self.one_of(
            "none", "balanced", "balanced", "small", "decimals", "reals", "wide", "vast"
        )
        self.about.append(f"class weights {kind}")
        if kind == "none":
            return None, ORDINARY
        if kind == "balanced":
            return "balanced", ORDINARY
        if kind == "small":
            return {k: int(self.rng.integers(1, 10)) for k in range(n_classes)}, ORDINARY
        if kind == "decimals":
            return {
                k: round(float(self.rng.uniform(0.1, 9)), 1) for k in range(n_classes)
            }, ORDINARY
        if kind == "reals":
            return {k: float(self.rng.uniform(0.1, 9)) for k in range(n_classes)}, HARD
        exponents = self.rng.integers(0, 19 if kind == "wide" else 260, n_classes)
        return {k: float(f"1e{e}") for k, e in enumerate(exponents.tolist())}, ABSURD

    # ---- numbers per row and label ---------------------------------------------------------------

    def numbers(self, shape: tuple[int, ...], *, signed: bool = True) -> tuple[np.ndarray, Nature]:
        """Draw costs, rewards, amounts or targets, and their nature."""
        kind = self.one_of(
            "small", "small", "decimals", "decimals", "reals", "large", "range", "tiny"
        )
        self.about.append(f"numbers {kind}")
        was_wide, self.wide = self.wide, self.wide or kind in _WIDE
        size = int(np.prod(shape))
        low = -5 if signed else 0
        if kind == "small":
            values, nature = self.rng.integers(low, 10, size), ORDINARY
        elif kind == "decimals":
            values, nature = np.round(self.rng.uniform(low, 10, size), 2), ORDINARY
        elif kind == "reals":
            values, nature = self.rng.uniform(low, 10, size), HARD
        elif kind == "large":
            values, nature = self.rng.integers(1, 2**52, size).astype(float), HARD
        elif kind == "range":
            values, nature = (
                np.array(
                    [
                        float(f"{self.rng.integers(1, 99)}e{e}")
                        for e in self.rng.integers(-9, 9, size)
                    ]
                ),
                HARD,
            )
        else:
            values, nature = self.rng.uniform(0, 1, size) * 1e-200, ABSURD
        return values.reshape(shape), ABSURD if was_wide and kind in _WIDE else nature

    # ---- bounds ----------------------------------------------------------------------------------

    def bound(self, total: Fraction, quantum: Fraction) -> Any:
        """Draw a bound at a total that a tree has, or next to it, in one of many ways to write."""
        how = self.one_of("exact", "exact", "exact", "text", "float", "next", "decimal", "beside")
        if how == "beside":
            total += self.one_of(-1, 1) * quantum * self.one_of(1, Fraction(1, 7))
        if how in ("float", "next") and abs(total) < _LARGEST:
            near = float(total)
            if how == "float":
                return near
            return float(np.nextafter(near, self.one_of(-1, 1) * np.inf))
        if how == "text":
            return str(total)
        if how == "decimal" and Fraction(Decimal(total.numerator) / total.denominator) == total:
            return Decimal(total.numerator) / total.denominator
        return total.numerator if total.denominator == 1 and self.chance(0.5) else total


def _halves(rng: np.random.Generator, n: int) -> np.ndarray:
    half = rng.random((n + 1) // 2) + 0.1
    return np.concatenate([half, half])[:n]


def _neighbours(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.5, (same := _halves(rng, n)), np.nextafter(same, 2))


def _decimal_range(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.array([float(f"{rng.integers(1, 99)}e{e}") for e in rng.integers(-9, 9, n)])


_WEIGHTS: dict[str, Any] = {
    "none": lambda rng, n: (None, ORDINARY),
    "small": lambda rng, n: (rng.integers(1, 6, n), ORDINARY),
    "int32": lambda rng, n: (rng.integers(1, 2**31, n), ORDINARY),
    "uneven": lambda rng, n: (rng.choice([1, 7, 2**31 - 1, 10**6], n), ORDINARY),
    "decimals": lambda rng, n: (np.round(rng.uniform(0.1, 3, n), 2), ORDINARY),
    "tenths": lambda rng, n: (rng.integers(1, 30, n) / 10, ORDINARY),
    "reals": lambda rng, n: (rng.random(n) + 0.1, HARD),
    "halves": lambda rng, n: (_halves(rng, n), HARD),
    "neighbours": lambda rng, n: (_neighbours(rng, n), HARD),
    "2**53": lambda rng, n: (2**53 - rng.integers(0, 9, n), HARD),
    "2**53 and 1": lambda rng, n: (rng.choice([2**53 - 1, 1, 2], n), HARD),
    "2**60": lambda rng, n: (rng.integers(1, 2**60, n), HARD),
    "equal 2**60": lambda rng, n: (np.full(n, 2**60), HARD),
    "2**62": lambda rng, n: (rng.integers(2**61, 2**62, n), HARD),
    "uint64": lambda rng, n: (rng.integers(2**62, 2**64 - 1, n, dtype=np.uint64), HARD),
    "python ints": lambda rng, n: ([int(w) ** 2 for w in rng.integers(1, 2**40, n)], ABSURD),
    "fractions": lambda rng, n: (
        [Fraction(int(a), int(b)) for a, b in rng.integers(1, 30, (n, 2))],
        HARD,
    ),
    "thirds": lambda rng, n: ([Fraction(1, 3)] * n, HARD),
    "range": lambda rng, n: (_decimal_range(rng, n), HARD),
    "real range": lambda rng, n: (10 ** rng.uniform(-9, 9, n), HARD),
    "survey": lambda rng, n: (rng.lognormal(5, 1, n), HARD),
    "one small": lambda rng, n: (np.where(np.arange(n) == 0, 1e-7, 1.0), HARD),
    "tiny": lambda rng, n: ((rng.random(n) + 0.1) * 1e-300, ABSURD),
    "huge": lambda rng, n: ((rng.random(n) + 0.1) * 1e300, ABSURD),
}
"""How weights are drawn: the weights, and their nature."""
