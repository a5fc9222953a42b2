"""All (false positives, false negatives, splits) that trees can have: plain Python, by definition.

Nothing here comes from the package under test. Rows are bits of an integer, as in
:mod:`tests.oracle.brute_force`; a node is a leaf with either label, or a split whose parts are
combined in every way. Sets are complete: nothing is left out for being dominated.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.brute_force import BruteForce, Test, binary_tests

Triple = tuple[int, int, int]
"""False positives, false negatives, splits."""


class Confusions:
    """The triples of all trees over the columns.

    Parameters
    ----------
    columns : sequence of sequence of int
        Zeros and ones, row by row.
    row_types : sequence of int
        1 for positive rows, 0 for negative ones.
    weights : sequence of int, optional
        Weight of each row.
    min_leaf : int
        Fewest rows in a leaf of a tree that has a split.
    tests : sequence of tuple of int, optional
        Row sets of the outcomes of each test, in place of the columns.
    """

    def __init__(
        self,
        columns: Sequence[Sequence[int]],
        row_types: Sequence[int],
        weights: Sequence[int] | None = None,
        min_leaf: int = 1,
        tests: Sequence[Test] | None = None,
    ) -> None:
        asked = binary_tests(columns) if tests is None else tests
        self.splitter = BruteForce(asked, row_types, [[0, 1], [1, 0]], weights, min_leaf=min_leaf)
        self._known: dict[tuple[int, int], frozenset[Triple]] = {}

    def triples(
        self, max_depth: int | None = None, max_splits: int | None = None
    ) -> frozenset[Triple]:
        """Return what trees within the limits have."""
        root = self.splitter.root
        most = root.bit_count() - 1
        found = self._all(root, most if max_depth is None else min(max_depth, most))
        return frozenset(t for t in found if max_splits is None or t[2] <= max_splits)

    def _all(self, rows: int, depth: int) -> frozenset[Triple]:
        key = rows, depth
        if key not in self._known:
            found = set(self._leaves(rows))
            for test in self.splitter.tests if depth > 0 else ():
                parts = self.splitter.parts(rows, test)
                if parts is None:
                    continue
                whole = {(0, 0, 1)}
                for part in parts:
                    below = self._all(part, min(depth - 1, part.bit_count() - 1))
                    whole = {(a + d, b + e, c + f) for a, b, c in whole for d, e, f in below}
                found |= whole
            self._known[key] = frozenset(found)
        return self._known[key]

    def _leaves(self, rows: int) -> list[Triple]:
        totals = [0, 0]
        for i, row_type in enumerate(self.splitter.row_types):
            if rows >> i & 1:
                totals[row_type] += self.splitter.weights[i]
        return [(0, totals[1], 0), (totals[0], 0, 0)]
