"""Leaves that take decisions, which are vectors with names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certree.tree._payload import contents
from certree.tree._payload_values import Vectors, distinct
from certree.tree._plain import read, shown
from certree.tree._wording import one_line

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, eq=False)
class ChosenDecisions(Vectors):
    """Leaves that take decisions, which are vectors with names.

    Parameters
    ----------
    names : sequence of str
        What people call each of `values`.
    """

    names: tuple[str, ...]

    kind: ClassVar[str] = "decisions"
    noun: ClassVar[str] = "decision"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("names", tuple(map(str, self.names)))
        if len(self.names) != len(self.values):
            raise ValueError(f"{len(self.values)} decisions have {len(self.names)} names.")

    @classmethod
    def called(
        cls,
        values: ArrayLike,
        is_leaf: NDArray[np.bool_],
        counts: ArrayLike,
        describe: Callable[[NDArray[np.float64]], str],
        rows: NDArray[np.int64] | None = None,
    ) -> Self:
        """Return the payload, in the order of names, given the decision of every node."""
        label, found = distinct(values, is_leaf)
        names = list(map(describe, found))
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.argsort(order)
        label[is_leaf] = place[label[is_leaf]]
        ordered = tuple(names[k] for k in order)
        return cls(label, np.asarray(counts), found[order], ordered, rows=rows)

    def levels(self) -> None:
        return None

    def name(self, content: int) -> str:
        return one_line(self.names[content])

    def sql_value(self, node: int) -> Any:
        name = self.names[self.label[node]]
        if self.names.count(name) > 1:
            raise ValueError(
                f"to_sql writes decisions by their names, but several are called {shown(name)}; "
                "use to_python, or an oracle that tells them apart."
            )
        return name

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "names": list(self.names)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Self:
        lists = contents(data, {"values", "names"})
        names = tuple(read(str, name, "name of a decision") for name in lists["names"])
        return cls(label, counts, cls._read(lists["values"]), names)
