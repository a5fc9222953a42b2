"""Beyond depth four, with a penalty, the first of equal trees was not always returned.

Two searches take turns there. The proof often came from the one without a depth limit, whose tree
was then returned as it was; and its value was taken for one that the other search could rebuild.
"""

from __future__ import annotations

from tests.problems import Problem, random_problems
from tests.registry import solve


def trees(problem: Problem, search: str) -> tuple[list[int], list[int]]:
    """Tests and labels of the answer."""
    result = solve(problem, search=search)
    assert result.status == "optimal"
    return result.test.tolist(), result.label.tolist()


def test_taking_turns_gives_the_tree_of_one_search() -> None:
    """The canonical tree does not depend on which search finished the proof."""
    for rows in ((20, 60), (60, 180)):
        for problem in random_problems(11, 120, rows=rows, columns=(8, 14), depths=(5, 6)):
            if problem.max_splits < 0 and problem.split_penalty > 0:
                assert trees(problem, "auto") == trees(problem, "depth-first"), problem
