"""Leaves that hold one value for all their rows: numbers and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._payload import Payload, contents
from ._plain import plain_float, read_float, shown
from ._structure import frozen
from ._wording import plain

if TYPE_CHECKING:
    from typing_extensions import Self


_WHERE = "values of leaves"


@dataclass(frozen=True, eq=False)
class Values(Payload):
    """Leaves that hold values, the same for all rows.

    Parameters
    ----------
    values : array-like, shape (n_contents, ...)
        The values; `label` says which of them a leaf holds.
    """

    values: NDArray[Any]

    @property
    def n_contents(self) -> int:
        return len(self.values)

    def predict(self, leaves: Any, X: Any = None) -> NDArray[Any]:
        predicted: NDArray[Any] = self.values[self.label[leaves]]
        return predicted

    def value(self, node: int) -> Any:
        value = self.values[self.label[node]]
        if self.values.ndim > 1:
            return NamedVector(value.tolist(), self.describe(node))
        return plain(value)

    def python_value(self, node: int) -> Any:
        return self.value(node)

    def levels(self) -> NDArray[np.float64] | None:
        """Return a number for each content, for a scale of colours: the mean of a vector.

        None if no number says which leaf has more.
        """
        with np.errstate(over="ignore"):
            means = np.asarray(self.values, dtype=np.float64).reshape(len(self.values), -1)
            return np.asarray(means.mean(axis=1))


@dataclass(frozen=True, eq=False)
class Vectors(Values):
    """Leaves that predict vectors, `values` has one in each line: mean costs, several outputs."""

    values: NDArray[np.float64]

    kind: ClassVar[str] = "vectors"
    noun: ClassVar[str] = "vector"
    _n_axes: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        values = frozen(self.values, np.float64)
        if values.ndim != self._n_axes or values.size == 0:
            raise ValueError(
                f"A tree of {self.kind} needs an array of values with {self._n_axes} axes, got "
                f"shape {values.shape}."
            )
        if np.isnan(values).any():
            raise ValueError(f"A leaf cannot hold NaN; {self.kind} must be known.")
        if len(set(_keys(values))) < len(values):
            raise ValueError(
                "Some values are listed twice; leaves that hold the same have one label."
            )
        self._put("values", values)

    @classmethod
    def of_nodes(
        cls,
        values: ArrayLike,
        is_leaf: NDArray[np.bool_],
        counts: ArrayLike,
        rows: NDArray[np.int64] | None = None,
    ) -> Self:
        """Return the payload, given a value for every node; those of other nodes are dropped."""
        label, found = distinct(values, is_leaf)
        return cls(label, np.asarray(counts), found, rows=rows)

    def name(self, content: int) -> str:
        return "(" + ", ".join(f"{number:.6g}" for number in self.values[content]) + ")"

    def numbers(self) -> NDArray[np.float64]:
        return self.values.reshape(len(self.values), -1)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": [_plain(value) for value in self.values.tolist()]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Self:
        return cls(label, counts, cls._read(contents(data, {"values"})["values"]))

    @classmethod
    def _read(cls, values: list[Any]) -> NDArray[np.float64]:
        """Return the values of a file, vectors of the same length or numbers."""
        if cls._n_axes == 1:
            return np.array([read_float(number, _WHERE) for number in values])
        length = len(values[0]) if isinstance(values[0], list) else 0
        for value in values:
            if not isinstance(value, list) or len(value) != length:
                raise ValueError(f"{_WHERE} must be lists of {length} numbers, got {shown(value)}.")
        return np.array([[read_float(number, _WHERE) for number in value] for value in values])


@dataclass(frozen=True, eq=False)
class Numbers(Vectors):
    """Leaves that predict numbers."""

    kind: ClassVar[str] = "numbers"
    noun: ClassVar[str] = "number"
    _n_axes: ClassVar[int] = 1

    def name(self, content: int) -> str:
        return f"{self.values[content]:.6g}"

    def sql_value(self, node: int) -> Any:
        return self.value(node)


class NamedVector(tuple[float, ...]):
    """The numbers of a vector, which print as what people call it."""

    name: str

    def __new__(cls, numbers: Sequence[float], name: str) -> NamedVector:
        vector = super().__new__(cls, numbers)
        vector.name = name
        return vector

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.name

    def __str__(self) -> str:
        return self.name


def distinct(
    values: ArrayLike, is_leaf: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the distinct values of leaves in ascending order, and which of them each leaf has."""
    given = np.asarray(values, dtype=np.float64)[is_leaf]
    keys = _keys(given)
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    order = sorted(first, key=lambda key: given[first[key]].tolist())
    number = {key: k for k, key in enumerate(order)}
    label = np.full(len(is_leaf), -1, dtype=np.int32)
    label[is_leaf] = [number[key] for key in keys]
    return label, given[[first[key] for key in order]]


def _keys(values: NDArray[np.float64]) -> list[bytes]:
    """Return the same bytes for equal values; adding 0 makes one zero of the two."""
    return [value.tobytes() for value in values + 0.0]


def _plain(value: Any) -> Any:
    return list(map(plain_float, value)) if isinstance(value, list) else plain_float(value)
