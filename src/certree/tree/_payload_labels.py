"""Leaves that hold class labels, with the weight of the training rows of every class."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._payload import Payload
from ._payload_values import Values
from ._plain import plain_float, read, read_float, read_number, read_whole, shown
from ._structure import frozen
from ._wording import plain, weight

if TYPE_CHECKING:
    from typing_extensions import Self

_DTYPE = re.compile(
    r"str|[<>=|]?(?:b1|[iu][1248]|f[248]|(?P<object>O)|(?P<text>U[0-9]{1,9}))", re.ASCII
)


@dataclass(frozen=True, eq=False)
class Labels(Values):
    """Leaves that predict classes: `values` are the classes, and `counts` has a column for each."""

    kind: ClassVar[str] = "labels"
    noun: ClassVar[str] = "class"
    has_counts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("values", frozen(self.values, None))
        if self.values.ndim != 1 or self.values.size == 0:
            raise ValueError(f"classes must be a non-empty list, got shape {self.values.shape}.")

    @property
    def n_columns(self) -> int:
        return len(self.values)

    def name(self, content: int) -> str:
        return str(plain(self.values[content]))

    def support(self, node: int, decimals: int | None = None) -> tuple[str, ...]:
        label, rows = int(self.label[node]), self.known_rows
        share = percent(self.shares([node])[0, label])
        told = [] if rows is None else [f"{rows[node, label]} of {rows[node].sum()}"]
        if not self.is_weighted:
            return *told, share
        told = [f"{rows} rows" for rows in told]
        return *told, f"{share} of weight {weight(self.weights[node], decimals)}"

    def shares(self, nodes: Any) -> NDArray[np.float64]:
        """Return the share of each class in the weight of the training rows of some nodes.

        A node without rows is sure of its label.
        """
        counts = self.counts[nodes]
        totals = counts.sum(axis=1, keepdims=True)
        shares = counts / np.where(totals > 0, totals, 1)
        empty = np.flatnonzero(totals[:, 0] <= 0)
        shares[empty, np.maximum(self.label[nodes][empty], 0)] = 1.0
        return np.asarray(shares, dtype=np.float64)

    def sql_value(self, node: int) -> Any:
        return self.value(node)

    def numbers(self) -> NDArray[np.float64]:
        if self.values.dtype.kind not in "iuf":
            raise ValueError(
                "A regression tree predicts numbers, but this tree predicts "
                f"{self.values.tolist()}; use to_sklearn(regressor=False)."
            )
        return self.values.astype(np.float64)[:, np.newaxis]

    def to_dict(self) -> dict[str, Any]:
        dtype, values = write_array(self.values, "Class labels")
        return {"kind": self.kind, "dtype": dtype, "values": values}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Self:
        return cls(label, counts, read_classes(data))


def one_payload(
    payload: Payload | None,
    label: ArrayLike | None,
    counts: ArrayLike | None,
    classes: ArrayLike | None,
    rows: ArrayLike | None = None,
) -> Payload:
    """Return what leaves hold: a payload, or labels by their parts."""
    parts = (label, counts, classes)
    if payload is None and label is not None and counts is not None and classes is not None:
        given = None if rows is None else np.asarray(rows)
        return Labels(np.asarray(label), np.asarray(counts), np.asarray(classes), rows=given)
    if payload is None or any(part is not None for part in (*parts, rows)):
        raise TypeError("A tree needs either label, counts and classes, or a payload.")
    return payload


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f}%"


# ---- files ---------------------------------------------------------------------------------------


def write_array(values: NDArray[Any], what: str = "Values") -> tuple[str, list[Any]]:
    """Return the type and the values of an array with one axis, in the terms of JSON."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind not in "biufUOT" or (kind == "f" and size > 8):
        raise TypeError(
            f"{what} of dtype {values.dtype} have no JSON form; "
            "train with strings, integers, floats or booleans."
        )
    dtype = "str" if kind == "T" else values.dtype.str
    return dtype, [_label_to_json(value) for value in values]


def read_classes(data: Any) -> NDArray[Any]:
    """Return the class labels; a short list of types, and no wider than the labels need."""
    if not isinstance(data, Mapping) or not set(data) - {"kind"} == {"dtype", "values"}:
        raise ValueError(f"classes must have the keys 'dtype' and 'values', got {shown(data)}.")
    if not isinstance(data["values"], list) or not data["values"]:
        raise ValueError(f"values of classes must be a list, got {shown(data['values'])}.")
    return read_array(data["dtype"], data["values"], "class label")


def read_array(dtype: Any, values: list[Any], what: str) -> NDArray[Any]:
    """Return an array with one axis of what :func:`write_array` gave."""
    form = _DTYPE.fullmatch(read(str, dtype, f"dtype of {what}"))
    if form is None:
        raise ValueError(
            f"dtype of {what} must be that of strings, integers, floats, booleans or objects, got "
            f"{shown(dtype)}."
        )
    labels = [_label_from_json(value, what) for value in values]
    if form[0] == "str" or form["text"]:
        return _texts(labels, what)
    if form["object"]:
        result = np.empty(len(labels), dtype=object)
        result[:] = labels
        return result
    return _numbers(labels, np.dtype(form[0]), what)


def _texts(labels: list[Any], what: str) -> NDArray[Any]:
    lengths = [0, *(len(read(str, label, what)) for label in labels)]
    # NumPy gives every label the room of the longest.
    if max(lengths) * len(lengths) > 100 * sum(lengths) + 10_000:
        raise ValueError(f"A {what} has {max(lengths)} characters, which is too long.")
    return np.array(labels, dtype=f"U{max(1, *lengths)}")


def _numbers(labels: list[Any], dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    wanted = {"b": (bool,), "f": (int, float)}.get(dtype.kind, (int,))
    for label in labels:
        if type(label) not in wanted:
            raise ValueError(f"A {what} of dtype {dtype} cannot be {shown(label)}.")
        if dtype.kind in "iu":
            read_whole(label, what, np.iinfo(dtype).min, np.iinfo(dtype).max)
        elif dtype.kind == "f" and math.isfinite(label):
            read_number(label, what)
    with np.errstate(over="ignore"):
        return np.array(labels, dtype=dtype)


def _label_to_json(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, float):
        return plain_float(value)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    raise TypeError(
        f"Class label {value!r} of type {type(value).__name__} has no JSON form; "
        "train with strings, integers, floats or booleans."
    )


def _label_from_json(value: Any, what: str) -> Any:
    if isinstance(value, dict):
        return read_float(value, what)
    return read(str | int | float | bool | None, value, what)
