"""Leaves that are clusters, with their numbers and centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from certree.leaves.outputs.payload import SeveralNumbers
from certree.tree._payload import Payload


@dataclass(frozen=True, eq=False)
class Clusters(SeveralNumbers):
    """Leaves that are clusters: they predict their number, and `values` has their centres."""

    kind: ClassVar[str] = "clusters"
    noun: ClassVar[str] = "cluster"

    def predict(self, leaves: Any, X: Any = None) -> NDArray[Any]:
        numbers: NDArray[Any] = self.label[leaves]
        return numbers

    def lines(self, content: int) -> list[str]:
        return [f"cluster {content}", *super().lines(content)]

    def name(self, content: int) -> str:
        return ", ".join(self.lines(content))

    def outputs(self) -> list[tuple[str, Payload]]:
        return []

    def value(self, node: int) -> Any:
        return int(self.label[node])

    def sql_value(self, node: int) -> Any:
        return self.value(node)
