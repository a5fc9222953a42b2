"""One search over several workers against the oracle, and against one process."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import pytest

from certree import engine
from certree.engine import _shared_search
from certree.engine._shared_search import solve_shared
from tests.problems import Problem, random_problems


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as executor:
        yield executor


def _asked(problem: Problem, **more: Any) -> tuple[engine.Problem, engine.Options]:
    given = {name: limit for name, limit in problem.options().items() if limit >= 0}
    rows = (problem.columns, problem.row_types, problem.cost_matrix, problem.weights)
    return engine.Problem(*rows), engine.Options(**given, **more)


def _shape(result: engine.Result) -> list[Any]:
    nodes = result.nodes
    return [nodes.test.tolist(), nodes.first_child.tolist(), nodes.label.tolist()]


@pytest.mark.parametrize("seed", range(700, 706))
@pytest.mark.parametrize("least_depth", [3, 4])
def test_the_answer_is_that_of_all_trees_and_of_one_process(
    seed: int, least_depth: int, threads: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left to the first search, and nodes are divided from some depth on."""
    monkeypatch.setattr(_shared_search, "FIRST_WORK", 1)
    monkeypatch.setattr(_shared_search, "_LEAST_DEPTH", least_depth)
    for drawn in random_problems(seed, 40, rows=(4, 30), columns=(3, 7), depths=(3, 4, 5)):
        problem = drawn.but(max_splits=-1)
        shared = solve_shared(*_asked(problem, executor=threads))
        assert shared.status == "optimal", problem
        assert shared.lower_bound == shared.upper_bound == problem.optimal_value(), problem
        alone = engine.solve(*_asked(problem))
        assert _shape(shared) == _shape(alone), problem
