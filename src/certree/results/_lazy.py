"""Sequences whose entries are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Lazy(Sequence[Any]):
    """Trees or certificates of a front or curve, each made when first asked for: most never are."""

    def __init__(self, size: int, make: Callable[[int], Any]) -> None:
        self._size = size
        self._make = make
        self._made: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        place = range(len(self))[index]
        if place not in self._made:
            self._made[place] = self._make(place)
        return self._made[place]

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled and copied as they are: the training rows do not travel with them.
        return tuple, (list(self),)

    def __getstate__(self) -> list[Any]:
        # For skops, which takes nothing but a state.
        return list(self)

    def __setstate__(self, made: list[Any]) -> None:
        self._size, self._make, self._made = len(made), made.__getitem__, {}
