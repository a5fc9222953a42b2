"""Leaves that predict several outputs: a number or a class for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certree.tree._payload import Payload
from certree.tree._payload_labels import Labels, percent, read_classes, write_array
from certree.tree._payload_values import Numbers, Values, Vectors, distinct
from certree.tree._plain import read, read_whole, shown
from certree.tree._structure import frozen
from certree.tree._wording import one_line, plain

if TYPE_CHECKING:
    from typing_extensions import Self


# So many outputs fit a line, or the box of a leaf.
_MOST_SHOWN = 4


def _named(texts: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Return what a leaf predicts for the first outputs, with their names if there are names."""
    some = list(texts[:_MOST_SHOWN])
    if names is not None:
        some = [f"{one_line(name)} {text}" for name, text in zip(names, some, strict=False)]
    return [*some, f"and {len(texts) - len(some)} more"] if len(texts) > len(some) else some


def _read_names(data: Mapping[str, Any], keys: set[str], n_outputs: int) -> tuple[str, ...] | None:
    """Return the names of the outputs in a file, whose other keys are checked, too."""
    if set(data) != {"kind", "outputs", *keys}:
        raise ValueError(
            f"Leaves of the kind {data['kind']} have the keys {', '.join(sorted(keys))} and "
            f"outputs, got {shown(', '.join(map(str, data)))}."
        )
    if data["outputs"] is None:
        return None
    names: tuple[str, ...] = read(tuple[str, ...], data["outputs"], "names of outputs")
    if len(names) != n_outputs:
        raise ValueError(f"{n_outputs} outputs have {len(names)} names.")
    return names


@dataclass(frozen=True, eq=False)
class SeveralNumbers(Vectors):
    """Leaves that predict a number for each output, in the columns of `values`.

    Parameters
    ----------
    output_names : sequence of str or None
        What the outputs are called.
    """

    output_names: tuple[str, ...] | None = field(default=None)

    kind: ClassVar[str] = "several numbers"
    noun: ClassVar[str] = "outputs"

    @classmethod
    def of_outputs(
        cls,
        values: ArrayLike,
        is_leaf: NDArray[np.bool_],
        counts: ArrayLike,
        names: Sequence[str] | None,
        rows: NDArray[np.int64] | None = None,
    ) -> Self:
        """Return the payload, given the numbers of every node; those of other nodes are dropped."""
        label, found = distinct(values, is_leaf)
        given = None if names is None else tuple(names)
        return cls(label, np.asarray(counts), found, given, rows=rows)

    def levels(self) -> None:
        # Outputs have units of their own, so no mean says which leaf has more.
        return None

    def lines(self, content: int) -> list[str]:
        return _named([f"{number:.4g}" for number in self.values[content]], self.output_names)

    def name(self, content: int) -> str:
        text = ", ".join(self.lines(content))
        return f"({text})" if self.output_names is None else text

    def outputs(self) -> list[tuple[str, Payload]]:
        parts = [
            Numbers.of_nodes(column[self.label], self.label >= 0, self.counts, self.rows)
            for column in self.values.T
        ]
        return list(zip(_titles(self.output_names, len(parts)), parts, strict=True))

    def to_dict(self) -> dict[str, Any]:
        names = self.output_names
        return {**super().to_dict(), "outputs": None if names is None else list(names)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Self:
        plain_part = {key: value for key, value in data.items() if key != "outputs"}
        numbers = Vectors.from_dict(plain_part, label, counts).values
        names = _read_names(data, {"values"}, numbers.shape[1])
        return cls(label, counts, numbers, names)


@dataclass(frozen=True, eq=False)
class SeveralLabels(Values):
    """Leaves that predict a class for each output, in the columns of `values`.

    Parameters
    ----------
    classes : sequence of arrays
        The classes of each output; `counts` has a column for each of them.
    output_names : sequence of str or None
        What the outputs are called.
    """

    classes: tuple[NDArray[Any], ...]
    output_names: tuple[str, ...] | None = field(default=None)

    kind: ClassVar[str] = "several labels"
    noun: ClassVar[str] = "outputs"
    has_counts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("values", frozen(self.values, None))
        self._put("classes", tuple(frozen(one, None) for one in self.classes))
        if self.values.ndim != 2 or self.values.shape[1] != len(self.classes):
            raise ValueError(
                f"A tree of {self.kind} needs a label for each of {len(self.classes)} outputs, got "
                f"shape {self.values.shape}."
            )
        self._put("_places", frozen(self._places, np.intp))

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Return the place of each label among the classes of its output."""
        columns = []
        for classes, column in zip(self.classes, self.values.T, strict=True):
            place = {label: k for k, label in enumerate(classes.tolist())}
            unknown = [label for label in column.tolist() if label not in place]
            if unknown:
                raise ValueError(
                    f"A leaf predicts {unknown[0]!r}, which is not among {list(place)}."
                )
            columns.append([place[label] for label in column.tolist()])
        places: NDArray[np.intp] = np.array(columns, dtype=np.intp).T
        return places

    @classmethod
    def of_outputs(
        cls,
        places: NDArray[np.intp],
        is_leaf: NDArray[np.bool_],
        counts: ArrayLike,
        classes: Sequence[NDArray[Any]],
        names: Sequence[str] | None,
        rows: NDArray[np.int64] | None = None,
    ) -> Self:
        """Return the payload, given the places of the labels of every node."""
        label, found = distinct(places, is_leaf)
        values = labels_at(found.astype(np.intp), classes)
        given = None if names is None else tuple(names)
        return cls(label, np.asarray(counts), values, tuple(classes), given, rows=rows)

    @property
    def n_columns(self) -> int:
        return sum(map(len, self.classes))

    def _totals(self, amounts: NDArray[Any]) -> NDArray[Any]:
        # Every output has all rows.
        return np.asarray(amounts[:, : len(self.classes[0])].sum(axis=1))

    def levels(self) -> None:
        # Outputs have units of their own, so no mean says which leaf has more.
        return None

    def lines(self, content: int) -> list[str]:
        return _named([str(plain(label)) for label in self.values[content]], self.output_names)

    def name(self, content: int) -> str:
        text = ", ".join(self.lines(content))
        return f"({text})" if self.output_names is None else text

    def outputs(self) -> list[tuple[str, Payload]]:
        ends = np.cumsum([len(one) for one in self.classes])[:-1]
        counts = np.split(self.counts, ends, axis=1)
        rows = None if self.rows is None else np.split(self.rows, ends, axis=1)
        is_leaf = self.label >= 0
        parts: list[Payload] = []
        for k, classes in enumerate(self.classes):
            label = np.where(is_leaf, self._places[:, k][self.label], -1)
            parts.append(Labels(label, counts[k], classes, rows=None if rows is None else rows[k]))
        return list(zip(_titles(self.output_names, len(parts)), parts, strict=True))

    def support(self, node: int, decimals: int | None = None) -> tuple[str, ...]:
        places = self._places[self.label[node]][:_MOST_SHOWN]
        shares = [part[0, k] for part, k in zip(self.shares([node]), places, strict=False)]
        return *super().support(node, decimals), ", ".join(map(percent, shares))

    def shares(self, nodes: Any) -> list[NDArray[np.float64]]:
        """Return the share of each class of each output in some nodes."""
        parts = [part for _, part in self.outputs()]
        return [part.shares(nodes) for part in parts if isinstance(part, Labels)]

    def to_dict(self) -> dict[str, Any]:
        written = [write_array(one, "Class labels") for one in self.classes]
        names = self.output_names
        return {
            "kind": self.kind,
            "values": self._places.tolist(),
            "classes": [{"dtype": dtype, "values": values} for dtype, values in written],
            "outputs": None if names is None else list(names),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Self:
        listed = data.get("classes")
        if not isinstance(listed, list) or not listed:
            raise ValueError(f"classes of leaves must be a list, got {shown(listed)}.")
        classes = tuple(map(read_classes, listed))
        names = _read_names(data, {"values", "classes"}, len(classes))
        lines = data["values"]
        if not isinstance(lines, list) or not lines:
            raise ValueError(f"values of leaves must be a list, got {shown(lines)}.")
        places = np.array([_read_places(line, classes) for line in lines], dtype=np.intp)
        return cls(label, counts, labels_at(places, classes), classes, names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SeveralLabels):
            return NotImplemented
        pairs = (self.label, other.label), (self.counts, other.counts), (self.rows, other.rows)
        return self.to_dict() == other.to_dict() and all(
            b is None if a is None else b is not None and np.array_equal(a, b) for a, b in pairs
        )

    def __hash__(self) -> int:
        return super().__hash__()


def labels_at(places: NDArray[np.intp], classes: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return labels by their places, as objects unless the classes of all outputs are of a kind."""
    columns = [one[places[:, k]] for k, one in enumerate(classes)]
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.stack(columns, axis=1)


def _titles(names: Sequence[str] | None, n_outputs: int) -> Sequence[str]:
    """Return the names of outputs, or numbered ones."""
    return [f"y{k}" for k in range(n_outputs)] if names is None else names


def _read_places(line: Any, classes: Sequence[NDArray[Any]]) -> list[int]:
    if not isinstance(line, list) or len(line) != len(classes):
        raise ValueError(
            f"values of leaves must be lists of {len(classes)} numbers, got {shown(line)}."
        )
    pairs = zip(line, classes, strict=True)
    return [read_whole(place, "label of a leaf", 0, len(one) - 1) for place, one in pairs]
