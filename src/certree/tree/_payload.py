"""What the leaves of a tree hold: the protocol that tree, exports and files speak.

A tree has one payload for all its nodes. The payload has a list of distinct contents, and says for
every leaf which of them it holds, and for every node how many training rows it has and what they
weigh. So leaves hold the same if and only if they have the same number.

Labels, numbers and vectors are kinds of payload (:mod:`certree.tree._payload_labels`,
:mod:`certree.tree._payload_values`). Another kind, such as a fitted model or a curve per leaf, is a
subclass of :class:`Payload` with a `kind` of its own, in a folder of :mod:`certree.leaves`; tree,
text, pictures and files stay as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from ._plain import read, shown
from ._sketch import Sketch
from ._structure import are_whole, frozen, frozen_counts
from ._wording import n_rows, weight

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, eq=False)
class Payload(ABC):
    """What all leaves of a tree hold.

    Parameters
    ----------
    label : array-like of int, shape (n_nodes,)
        The number of what each leaf holds; -1 in other nodes.
    counts : array-like, shape (n_nodes,) or (n_nodes, n_columns)
        Sum of the sample weights of the training rows in each node; labels have a column for each
        class. Weights of classes, and others that only say what errors cost, do not enter.
    rows : array-like of int, of the shape of `counts`, optional
        Number of these rows. None if all weights are one, since `counts` are then the rows.
    """

    label: NDArray[np.int32]
    counts: NDArray[Any]
    rows: NDArray[np.int64] | None = field(default=None, kw_only=True)

    kind: ClassVar[str]
    """The name in files."""

    noun: ClassVar[str]
    """What a leaf holds, in one word."""

    has_counts: ClassVar[bool] = False
    """Whether nodes in files have the weight of each class, and not only of all rows."""

    kinds: ClassVar[dict[str, type[Payload]]] = {}
    """All kinds by their names; a subclass with a `kind` enters itself."""

    def __init_subclass__(cls, **parameters: Any) -> None:
        super().__init_subclass__(**parameters)
        if "kind" not in cls.__dict__:
            return
        known = Payload.kinds.setdefault(cls.kind, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(
                f"The kind {cls.kind!r} of payloads is {known.__qualname__} already; give "
                f"{cls.__qualname__} another one."
            )
        Payload.kinds[cls.kind] = cls

    def __post_init__(self) -> None:
        self._put("label", frozen(self.label, np.int32))
        self._put("counts", _lines(frozen_counts(self.counts)))
        if self.rows is not None:
            rows = _lines(frozen_counts(self.rows, "rows"))
            if rows.dtype != np.int64 or rows.shape != self.counts.shape:
                raise ValueError(
                    f"rows must be whole numbers of the shape of counts, {self.counts.shape}, got "
                    f"{rows.dtype} of shape {rows.shape}."
                )
            # Equal trees are made of equal parts: weights of one are no weights.
            self._put("rows", None if np.array_equal(rows, self.counts) else rows)

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    # ---- what a kind says ----------------------------------------------------------------------

    @property
    @abstractmethod
    def n_contents(self) -> int:
        """Number of distinct contents."""

    @abstractmethod
    def predict(self, leaves: Any, X: Any = None) -> NDArray[Any]:
        """Return the predictions for rows that reach these leaves.

        Parameters
        ----------
        leaves : array of int, shape (n_rows,)
            Node numbers.
        X : table, optional
            The rows themselves, for leaves whose prediction depends on them.
        """

    @abstractmethod
    def name(self, content: int) -> str:
        """Return content number `content` as one line of text."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the contents as JSON values; :meth:`from_dict` reads them."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Self:
        """Return the payload with contents that :meth:`to_dict` gave.

        Files come from anywhere: every error must be a ValueError, and time and memory must be
        linear in the size of the file.
        """

    @property
    def n_columns(self) -> int:
        """Number of columns that `counts` has."""
        return 1

    def value(self, node: int) -> Any:
        """Return what a leaf predicts as a plain value, or what it is called if it has none."""
        return self.describe(node)

    @property
    def needs(self) -> tuple[int, ...]:
        """The raw columns that predictions depend on, beside the leaf; none for constants."""
        return ()

    def support(self, node: int, decimals: int | None = None) -> tuple[str, ...]:
        """Return what exports say of the training rows of a leaf, in one or two parts."""
        told = [] if self.node_rows is None else [n_rows(int(self.node_rows[node]))]
        if self.is_weighted:
            told.append(f"weight {weight(self.weights[node], decimals)}")
        return tuple(told)

    def lines(self, content: int) -> list[str]:
        """Return content number `content` as lines of text, for the boxes of pictures."""
        return [self.name(content)]

    def outputs(self) -> list[tuple[str, Payload]]:
        """Return what leaves hold for each of several outputs, with its name; [] for one output."""
        return []

    def sketch(self, node: int) -> Sketch | None:
        """Return a small picture of what a leaf holds; None if there is nothing to draw."""
        return None

    def python_value(self, node: int) -> Any:
        """Return what the function written by ``Tree.to_python`` returns in a leaf."""
        self._refuse("to_python")

    def sql_value(self, node: int) -> Any:
        """Return what the expression written by ``Tree.to_sql`` gives in a leaf."""
        self._refuse("to_sql")

    def numbers(self) -> NDArray[np.float64]:
        """Return the contents as numbers, shape (n_contents, n_outputs), for scikit-learn."""
        self._refuse("to_sklearn")

    def _refuse(self, export: str) -> NoReturn:
        raise ValueError(
            f"{export} cannot write the leaves of this tree, which hold {self.kind}; use "
            "to_json, or predict."
        )

    # ---- what follows ------------------------------------------------------------------------

    @cached_property
    def weights(self) -> NDArray[Any]:
        """Weight of the training rows in each node."""
        return frozen(self._totals(self.counts), None)

    @cached_property
    def known_rows(self) -> NDArray[np.int64] | None:
        """Number of training rows in each node, by class as `counts`; None if only weights are."""
        if self.rows is not None:
            return self.rows
        return frozen(self.counts, np.int64) if are_whole(self.counts) else None

    @cached_property
    def node_rows(self) -> NDArray[np.int64] | None:
        """Number of training rows in each node; None if only weights are known."""
        return None if self.known_rows is None else frozen(self._totals(self.known_rows), np.int64)

    @property
    def is_weighted(self) -> bool:
        """Whether some rows have other weights than one."""
        return self.rows is not None or self.known_rows is None

    def _totals(self, amounts: NDArray[Any]) -> NDArray[Any]:
        """Return the amount of each node, given those of its classes."""
        return np.asarray(amounts.sum(axis=1))

    def describe(self, node: int) -> str:
        """Return what a leaf holds as one line of text."""
        return self.name(int(self.label[node]))

    def same(self, one: int, other: int) -> bool:
        """Return whether two leaves hold the same."""
        return bool(self.label[one] == self.label[other])

    def gathered(self, groups: Sequence[Sequence[int]]) -> Self:
        """Return the payload of a tree whose nodes are groups of nodes of this one.

        A node holds what the first of its group held, and has the rows and the weight of all.
        """
        label = np.array([int(self.label[group[0]]) for group in groups])

        def added(amounts: NDArray[Any]) -> NDArray[Any]:
            return np.array([amounts[list(group)].sum(axis=0) for group in groups])

        rows = None if self.rows is None else added(self.rows)
        return replace(self, label=label, counts=added(self.counts), rows=rows)

    def check(self, is_leaf: NDArray[np.bool_]) -> None:
        """Raise ValueError unless this is the payload of a tree with these leaves."""
        n_nodes = len(is_leaf)
        if self.label.shape != (n_nodes,):
            raise ValueError(
                f"label needs one entry per node, {n_nodes}, got shape {self.label.shape}."
            )
        if self.counts.shape != (n_nodes, self.n_columns):
            raise ValueError(
                f"counts must have shape ({n_nodes}, {self.n_columns}), a line for each node and a "
                f"column for each class, got {self.counts.shape}."
            )
        labels = self.label[is_leaf]
        if labels.min(initial=0) < 0 or labels.max(initial=-1) >= self.n_contents:
            raise ValueError(f"Leaf labels must lie in 0..{self.n_contents - 1}, got {labels}.")
        if (self.label[~is_leaf] != -1).any():
            raise ValueError("A node with a question has label -1.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Payload):
            return NotImplemented
        return type(self) is type(other) and all(
            np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
            for a, b in zip(self._parts(), other._parts(), strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.label.tobytes()))

    def __reduce__(self) -> Any:
        # By the constructor, so that arrays are read-only again.
        names = [one.name for one in fields(self)]
        return partial(type(self), **dict(zip(names, self._parts(), strict=True))), ()

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))


_LEAVES = {
    "clusters": "certree.leaves.clusters.payload",
    "decisions": "certree.decisions.payload",
    "linear": "certree.leaves.linear.payload",
    "several labels": "certree.leaves.outputs.payload",
    "several numbers": "certree.leaves.outputs.payload",
    "survival": "certree.leaves.survival.payload",
}
"""Where the kinds are that load when a file holds them."""


def known_kind(kind: str) -> type[Payload] | None:
    """Return the kind of leaves of this name, or None."""
    if kind in _LEAVES:
        import_module(_LEAVES[kind])
    return Payload.kinds.get(kind)


def payload_from_dict(data: Any, label: Any, counts: Any) -> Payload:
    """Return the payload of any kind that a file holds."""
    kind = read(str, data.get("kind") if isinstance(data, Mapping) else None, "kind of leaves")
    known = known_kind(kind)
    if known is None:
        names = ", ".join(sorted({*Payload.kinds, *_LEAVES}))
        raise ValueError(f"Unknown kind of leaves {shown(kind)}; known are {names}.")
    return known.from_dict(data, label, counts)


def _lines(amounts: NDArray[Any]) -> NDArray[Any]:
    return amounts[:, np.newaxis] if amounts.ndim == 1 else amounts


def contents(data: Mapping[str, Any], keys: set[str]) -> dict[str, list[Any]]:
    """Return the lists that a payload in a file has, all of the same length, at least one long."""
    if set(data) != {"kind", *keys}:
        raise ValueError(
            f"Leaves of the kind {data['kind']} have the keys {', '.join(sorted(keys))}, got "
            f"{shown(', '.join(map(str, data)))}."
        )
    for key in keys:
        if not isinstance(data[key], list) or not data[key]:
            raise ValueError(f"{key} of leaves must be a list, got {shown(data[key])}.")
    if len({len(data[key]) for key in keys}) > 1:
        raise ValueError(f"The lists {', '.join(sorted(keys))} of leaves differ in length.")
    return {key: data[key] for key in keys}
