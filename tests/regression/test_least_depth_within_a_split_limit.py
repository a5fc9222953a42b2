"""With a limit on the splits, the tree had the fewest splits but not the least depth.

Found by comparison with the oracle: depth 4 where a tree of the same value and size has depth 3.
"""

from __future__ import annotations

from tests.oracle.evaluate import check_result
from tests.problems import make_problem
from tests.registry import solve


def test_the_shallowest_of_the_smallest_trees_is_returned() -> None:
    """Five splits suffice, and they fit into depth three."""
    columns = [
        [1, 0, 0, 0, 0], [1, 1, 1, 0, 0], [1, 0, 1, 1, 1], [1, 1, 0, 0, 0],
        [1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 0, 1, 0],
    ]  # fmt: skip
    problem = make_problem(columns, [0, 0, 1, 1, 0, 1, 1, 0], max_depth=4, max_splits=6)
    facts = check_result(solve(problem), problem)
    assert (facts.value, facts.splits, facts.depth) == tuple(problem.optimum()) == (0, 5, 3)
