"""One answer: whatever the threads, the instruction set, the switches or the neighbours."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier, pareto_front, tasks
from certree import solve as solve_task
from tests.oracle.evaluate import check_result
from tests.problems import FUZZ, Problem, random_problems
from tests.registry import all_isas, all_searches, all_switches, settings_one_by_one, solve


def answer(problem: Problem, **options: Any) -> tuple[int, list[int], list[int], list[int]]:
    """Value and tree of a proven answer."""
    result = solve(problem, **options)
    assert result.status == "optimal", (problem, options)
    check_result(result, problem, about=options)
    arrays = (result.test, result.first_child, result.label)
    return (result.upper_bound, *(array.tolist() for array in arrays))


def problems(seed: int, small: int = 400, medium: int = 40) -> list[Problem]:
    """Small ones full of ties, and some that need several words and some work."""
    return [
        *random_problems(seed, small),
        *random_problems(seed, medium, rows=(40, 200), columns=(6, 20), depths=(2, 3, 4)),
    ]


def limited_problems(seed: int) -> list[Problem]:
    """Those for which the rule for ties is complete: with a depth limit (docs/guide/ties.md)."""
    return [problem for problem in problems(seed) if problem.max_depth >= 0]


def test_two_threads_give_the_answer_of_one() -> None:
    """Value and tree."""
    for problem in problems(1):
        assert answer(problem, threads=2) == answer(problem), problem


def test_the_same_solve_twice_is_the_same_work() -> None:
    """One thread is deterministic to the last counter."""
    for problem in problems(2, small=40):
        first, second = solve(problem), solve(problem)
        assert first.counters == second.counters, problem


@pytest.mark.parametrize("isa", all_isas())
def test_every_instruction_set_gives_the_same_tree(isa: str) -> None:
    """Value and tree."""
    for problem in problems(3):
        assert answer(problem, isa=isa) == answer(problem), problem


@pytest.mark.parametrize("search", all_searches())
def test_every_search_gives_the_same_tree(search: str) -> None:
    """The canonical tree does not depend on the order in which it was found."""
    for problem in limited_problems(4):
        assert answer(problem, search=search) == answer(problem), problem


def test_every_switch_gives_the_same_tree() -> None:
    """Ties are settled by the rule, not by what was pruned."""
    rng = np.random.default_rng([FUZZ, 5])
    settings = settings_one_by_one()
    for problem in limited_problems(5):
        expected = answer(problem)
        for number in rng.integers(0, len(settings), size=4):
            assert answer(problem, **settings[number]) == expected, (problem, settings[number])


def test_threads_and_switches_together() -> None:
    """Random settings of both."""
    rng = np.random.default_rng([FUZZ, 6])
    for problem in limited_problems(6):
        setting = {name: bool(rng.integers(0, 2)) for name in all_switches()}
        assert answer(problem, threads=2, **setting) == answer(problem), (problem, setting)


def test_two_solves_at_once_do_not_disturb_each_other() -> None:
    """No state is shared between solves."""
    drawn = problems(7)
    expected = [answer(problem) for problem in drawn]
    with ThreadPoolExecutor(max_workers=2) as pool:
        assert list(pool.map(answer, drawn)) == expected


def drawn(seed: int, number: int) -> tuple[np.random.Generator, Any, Any]:
    """Columns with a rule and noise in the labels."""
    rng = np.random.default_rng([seed, number])
    n_rows, n_columns = int(rng.integers(20, 120)), int(rng.integers(4, 12))
    columns = rng.integers(0, 2, (n_rows, n_columns))
    noise = rng.random(n_rows) < (0.2 if number % 3 else 0.5)
    return rng, columns, (columns[:, 0] & columns[:, 1]) ^ noise


@pytest.mark.parametrize("number", range(24))
def test_threads_give_the_same_tree_of_the_largest_area(number: int) -> None:
    rng, columns, y = drawn(8, number)
    settings: dict[str, Any] = {
        "max_depth": 3 + (number % 5 == 0),
        "complexity": [0, 0.01][number % 2],
        "min_samples_leaf": 1 + number % 3,
        "max_splits": 4 if number % 6 == 1 else None,
    }
    weights = rng.integers(1, 4, len(y)) if number % 4 == 0 else None
    found = [
        OptimalTreeClassifier(objective="auc", n_jobs=n_jobs, **settings).fit(columns, y, weights)
        for n_jobs in (1, 2, 3)
    ]
    assert found[0].certificate_.is_optimal
    for other in found[1:]:
        assert other.certificate_.cost == found[0].certificate_.cost
        assert other.tree_.to_text() == found[0].tree_.to_text()


def test_trees_of_the_largest_area_that_tangents_find_are_the_same_with_threads() -> None:
    """Equally good trees, found before the proof begins, in a race that many runs would show."""
    rng = np.random.default_rng(335)
    n_rows, n_columns = int(rng.integers(40, 150)), int(rng.integers(4, 9))
    columns = rng.integers(0, 2, (n_rows, n_columns))
    y = columns[:, 0] ^ columns[:, 1] ^ (rng.random(n_rows) < 0.3)
    model = OptimalTreeClassifier(3, objective="auc", complexity=0.01)
    found = {
        model.set_params(n_jobs=n_jobs).fit(columns, y).tree_.to_text()
        for n_jobs in [1] + 100 * [2]
    }
    assert len(found) == 1


@pytest.mark.parametrize("number", range(24))
def test_threads_give_the_same_tree_within_limits(number: int) -> None:
    rng, columns, y = drawn(9, number)
    tables = rng.integers(-2, 4, (2, len(y), 2))
    middle = (tables.mean(axis=(1, 2)) * len(y)).astype(int).tolist()
    task: Any = tasks.Misclassification() & tasks.Limit("a", tables[0], at_most=middle[0])
    if number % 3 == 0:
        limit = {"at_least": middle[1] - 5, "at_most": middle[1]}
        task = task & tasks.Limit("b", tables[1], **limit)
    settings: dict[str, Any] = {
        "max_depth": 3 + (number % 4 == 0),
        "complexity": [0, 0.01][number % 2],
        "min_samples_leaf": 1 + number % 2,
        "max_splits": 5 if number % 5 == 1 else None,
        "test_costs": [0.01 * (c % 3) for c in range(columns.shape[1])]
        if number % 3 == 1
        else None,
    }
    found = [solve_task(task, columns, y, n_jobs=n_jobs, **settings) for n_jobs in (1, 2, 3)]
    for solution in found:
        assert solution.certificate.status in ("optimal", "infeasible")
        assert solution.certificate.cost == found[0].certificate.cost
        assert solution.certificate.limits == found[0].certificate.limits
        if solution.certificate.has_tree:
            assert solution.tree.to_text() == found[0].tree.to_text()


def sparse_settings(number: int) -> dict[str, Any]:
    """Without a depth, or with one that is searched best-first in turns."""
    return {
        "max_depth": [None, None, 5][number % 3],
        "complexity": [0.005, 0.02][number % 2],
        "min_samples_leaf": 1 + number % 2,
        "max_splits": None,
    }


@pytest.mark.parametrize("number", range(24))
def test_threads_give_the_same_sparse_tree(number: int) -> None:
    """Best-first; the tree has the first columns of all equally good ones."""
    rng, columns, y = drawn(10, number)
    weights = rng.integers(1, 4, len(y)) if number % 4 == 0 else None
    model = OptimalTreeClassifier(**sparse_settings(number))
    found = [
        model.set_params(n_jobs=jobs).fit(columns, y, weights)
        and (model.certificate_.status, model.certificate_.cost, model.tree_.to_text())
        for jobs in (1, 2, 4)
    ]
    assert found[0][0] == "optimal"
    assert found[1] == found[2] == found[0]


@pytest.mark.parametrize("number", range(24))
def test_threads_give_the_same_tree_of_multiway_tests(number: int) -> None:
    """One branch per category, alone or beside binary tests; with and without a depth."""
    rng, columns, y = drawn(11, number)
    table = columns[:, :6] + rng.integers(0, 3, (len(y), min(6, columns.shape[1])))
    settings: dict[str, Any] = {
        "splits": ["multiway", "both"][number % 2],
        "categorical_features": "all",
        "max_depth": [None, 3, 4][number % 3],
        "complexity": [0.01, 0.03][number % 2],
    }
    model = OptimalTreeClassifier(**settings)
    found = [
        model.set_params(n_jobs=jobs).fit(table, y)
        and (model.certificate_.status, model.certificate_.cost, model.tree_.to_text())
        for jobs in (1, 2, 4)
    ]
    assert found[0][0] == "optimal"
    assert found[1] == found[2] == found[0]


@pytest.mark.parametrize("number", range(24))
def test_threads_give_the_same_front(number: int) -> None:
    """Every point, and the tree of every point."""
    rng, columns, y = drawn(12, number)
    settings: dict[str, Any] = {
        "max_depth": 3 + (number % 3 == 0),
        "per_splits": number % 2 == 0,
        "min_samples_leaf": 1 + number % 3,
        "max_splits": 5 if number % 5 == 1 else None,
        "sample_weight": rng.integers(1, 2000, len(y)) if number % 4 == 0 else None,
    }
    fronts = [pareto_front(columns, y, n_jobs=jobs, **settings) for jobs in (1, 2, 4)]
    assert fronts[0].status == "optimal"
    texts = [[model.tree_.to_text() for model in front] for front in fronts]
    assert texts[1] == texts[2] == texts[0]


SHORT_OF_THREADS = """
import resource
import numpy as np
from certree import OptimalTreeClassifier, pareto_front, solve, tasks
rng = np.random.default_rng(0)
X, y = rng.integers(0, 2, (120, 8)), rng.integers(0, 2, 120)
task = tasks.Misclassification() & tasks.Limit("a", rng.integers(0, 4, (120, 2)), at_most=150)
def answers(n_jobs):
    auc = OptimalTreeClassifier(3, objective="auc", n_jobs=n_jobs).fit(X, y)
    plain = OptimalTreeClassifier(4, n_jobs=n_jobs).fit(X, y)
    limited = solve(task, X, y, max_depth=3, n_jobs=n_jobs)
    sparse = OptimalTreeClassifier(None, complexity=0.02, n_jobs=n_jobs).fit(X, y)
    front = [model.tree_ for model in pareto_front(X, y, max_depth=3, n_jobs=n_jobs)]
    trees = (auc.tree_, plain.tree_, limited.tree, sparse.tree_, *front)
    return [tree.to_text() for tree in trees]
expected = answers(1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 9 * 2**29, resource.RLIM_INFINITY))
assert answers(8) == expected
"""


@pytest.mark.skipif(sys.platform != "linux", reason="stacks are limited in this way on Linux")
def test_a_system_short_of_threads_gives_the_same_trees() -> None:
    """A stack takes 1 GiB here, and there is room for four."""
    shell = ["sh", "-c", 'ulimit -S -s 1048576 && exec "$@"', "sh"]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [*shell, sys.executable, "-c", SHORT_OF_THREADS],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
