"""Lists of tests in which a column with many cut points takes no object per cut point."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from operator import eq
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ._cuts import midpoints
from ._tests import Test, Threshold

__all__ = ["CutTests", "Cuts", "TestList"]

# Up to this many cut points are computed together and kept.
_FEW = 256

# So many cut points are computed at a time where all of them are asked for.
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Cuts:
    """Gaps between neighbouring values of a column, in each of which lies one cut point.

    Attributes
    ----------
    values : array
        Different values, in increasing order: float64, or times.
    gaps : int array or None
        After which of them to cut; None: after each, except the last.
    given : array or None
        The cut points, if a user chose them.
    """

    values: NDArray[Any]
    gaps: NDArray[np.intp] | None = None
    given: NDArray[Any] | None = None

    @classmethod
    def between(cls, values: NDArray[Any], gaps: NDArray[np.intp]) -> Cuts:
        """Return the cuts after some of the values; only those next to a cut are kept."""
        if len(gaps) == len(values) - 1:
            return cls(values)
        near = np.union1d(gaps, gaps + 1)
        return cls(values[near], np.searchsorted(near, gaps))

    def __len__(self) -> int:
        return len(self.values) - 1 if self.gaps is None else len(self.gaps)

    @property
    def low(self) -> NDArray[Any]:
        """The value below each cut point."""
        return self.values[:-1] if self.gaps is None else self.values[self.gaps]

    def points(self, start: int, stop: int) -> NDArray[Any]:
        """Return some of the cut points."""
        if self.given is not None:
            return self.given[start:stop]
        if self.gaps is None:
            return midpoints(self.values[start:stop], self.values[start + 1 : stop + 1])
        below = self.gaps[start:stop]
        return midpoints(self.values[below], self.values[below + 1])

    def test(self, feature: int, name: str, cut: Any, missing: bool | None) -> Test:
        """Return the test at a cut point."""
        return Threshold(feature, name, cut, missing)

    def point(self, place: int) -> Any:
        """Return one of the cut points."""
        if len(self) <= _FEW:
            return float(self._few[place])
        return float(self.points(place, place + 1)[0])

    def ends(self, place: int) -> tuple[Any, Any] | None:
        """Return the values around one of the cut points; None if it is no midpoint of them."""
        if type(self) is not Cuts or self.given is not None:
            return None
        index = range(len(self))[place]
        below = index if self.gaps is None else self.gaps[index]
        return self.values[below], self.values[below + 1]

    @cached_property
    def _few(self) -> NDArray[np.float64]:
        return self.points(0, len(self))

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _BLOCK):
            yield from self.points(start, min(start + _BLOCK, len(self))).tolist()


@dataclass(frozen=True, eq=False)
class CutTests(Sequence[Test]):
    """The thresholds of one column, each made when it is asked for.

    Attributes
    ----------
    feature, name, missing
        As for :class:`Threshold`.
    cuts : Cuts
        Where the thresholds are.
    """

    feature: int
    name: str
    cuts: Cuts
    missing: bool | None = None

    def __len__(self) -> int:
        return len(self.cuts)

    @overload
    def __getitem__(self, index: int) -> Test: ...
    @overload
    def __getitem__(self, index: slice) -> list[Test]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return [self[i] for i in range(start, stop, step)]
            return [self._test(cut) for cut in self.cuts.points(start, max(start, stop)).tolist()]
        return self._test(self.cuts.point(range(len(self))[index]))

    def __iter__(self) -> Iterator[Test]:
        return map(self._test, self.cuts)

    def _test(self, cut: Any) -> Test:
        return self.cuts.test(self.feature, self.name, cut, self.missing)


class TestList(Sequence[Test]):
    """A list of tests that cannot be changed; it equals any list of the same tests.

    Parameters
    ----------
    parts : iterable of sequences of Test
        One after the other; those of a column with many cut points are :class:`CutTests`.

    Examples
    --------
    >>> tests = TestList([CutTests(0, "age", Cuts(np.array([20.0, 30.0, 50.0])))])
    >>> len(tests), str(tests[-1])
    (2, 'age <= 40')
    """

    # The name would make pytest collect it where it is imported.
    __test__ = False

    def __init__(self, parts: Iterable[Sequence[Test]] = ()) -> None:
        self.parts = tuple(part for part in parts if len(part))
        self._ends = list(accumulate(map(len, self.parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def nbytes(self) -> int:
        """Memory of the values between which thresholds lie."""
        return sum(part.cuts.values.nbytes for part in self.parts if isinstance(part, CutTests))

    def features(self) -> NDArray[np.intp]:
        """Return the raw column of every test, without making the tests."""
        found = [
            [part.feature] * len(part)
            if isinstance(part, CutTests)
            else [test.feature for test in part]
            for part in self.parts
        ]
        return np.array([feature for part in found for feature in part], dtype=np.intp)

    def samples(self) -> list[Test]:
        """Return one threshold of each column with many, and all other tests."""
        return [
            test
            for part in self.parts
            for test in (part[:1] if isinstance(part, CutTests) else part)
        ]

    @overload
    def __getitem__(self, index: int) -> Test: ...
    @overload
    def __getitem__(self, index: slice) -> list[Test]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return [self[i] for i in range(start, stop, step)]
            firsts = [0, *self._ends]
            return [
                test
                for part, first in zip(self.parts, firsts, strict=False)
                for test in part[max(start - first, 0) : max(stop - first, 0)]
            ]
        place = range(len(self))[index]
        part = bisect_right(self._ends, place)
        # Counted from the end of its part.
        return self.parts[part][place - self._ends[part]]

    def take(self, places: Sequence[int]) -> list[Test]:
        """Return the tests at some places; cut points of all columns are computed together."""
        found: dict[int, Test] = {}
        gaps: dict[int, tuple[CutTests, Any, Any]] = {}
        for place in places:
            part = bisect_right(self._ends, place)
            tests, index = self.parts[part], place - self._ends[part]
            ends = tests.cuts.ends(index) if isinstance(tests, CutTests) else None
            if isinstance(tests, CutTests) and ends is not None:
                gaps[place] = (tests, *ends)
            else:
                found[place] = tests[index]
        low, high = (np.array([gap[end] for gap in gaps.values()]) for end in (1, 2))
        cuts = midpoints(low, high).tolist() if gaps else []
        for (place, (tests, *_)), cut in zip(gaps.items(), cuts, strict=True):
            found[place] = tests._test(cut)
        return [found[place] for place in places]

    def __iter__(self) -> Iterator[Test]:
        return chain.from_iterable(self.parts)

    def __add__(self, others: Sequence[Test]) -> TestList:
        return TestList([*self.parts, others])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TestList | list):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:5]))
        return f"[{shown}, ...]" if len(self) > 5 else f"[{shown}]"
