"""A session answers as a solve that starts from nothing does, whatever was solved before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree import _core
from tests.oracle.evaluate import check_result
from tests.problems import FUZZ, SAFE, Problem, random_problems
from tests.registry import solve
from tests.strategies import any_options, cost_matrices, small_problems

LENGTH = 5


def open_session(problem: Problem) -> Any:
    """Return a session over the rows of a problem."""
    return _core.Session(problem.columns, problem.row_types, problem.weights)


def solve_in(session: Any, problem: Problem, callback: Any = None, /, **options: Any) -> Any:
    """Run a problem over the rows of the session."""
    return session.solve(problem.cost_matrix, {**problem.options(), **options}, callback)


def facts(result: Any, with_tree: bool = True) -> tuple[Any, ...]:
    """Everything about an answer that must not depend on what came before."""
    arrays = (result.test, result.first_child, result.label) if with_tree else ()
    bounds = (result.status, result.lower_bound, result.upper_bound)
    return (*bounds, *(array.tolist() for array in arrays))


def path_facts(result: Any) -> tuple[Any, ...]:
    """The same for the error-versus-splits curve."""
    entries = [(e[0], e[1], e[2], *(array.tolist() for array in e[3:])) for e in result.entries]
    return result.status, entries


@st.composite
def sequences(draw: st.DrawFn) -> tuple[list[Problem], list[dict[str, Any]]]:
    """Problems that share their rows and differ in everything else, with options for each."""
    first = draw(small_problems(max_rows=14, max_columns=4))
    n_types = first.cost_matrix.shape[0]
    problems = [first]
    for _ in range(draw(st.integers(1, 3))):
        other = draw(small_problems(max_rows=2, max_columns=1))
        changes = {
            name: getattr(other, name)
            for name in draw(
                st.lists(
                    st.sampled_from(
                        ["error_scale", "split_penalty", "max_depth", "max_splits", "min_leaf"]
                    ),
                    unique=True,
                )
            )
        }
        problem = problems[-1].but(cost_matrix=draw(cost_matrices(n_types)), **changes)
        problems.append(problem if problem.magnitude() <= SAFE else problems[-1])
    options = [draw(any_options()) for _ in problems]
    return problems, options


@given(drawn=sequences())
def test_a_session_gives_the_optimum_of_every_cost_matrix(
    drawn: tuple[list[Problem], list[dict[str, Any]]],
) -> None:
    """Bounds carried over from other costs, limits and leaf sizes hide no tree."""
    problems, options = drawn
    session = open_session(problems[0])
    for problem, setting in zip(problems, options, strict=True):
        result = solve_in(session, problem, **setting)
        assert result.status == "optimal"
        check_result(result, problem, problem.optimal_value(), setting)


def varied(rng: np.random.Generator, problem: Problem) -> Problem:
    """The same rows under other costs, mostly near the old ones, and other limits now and then."""
    costs = problem.cost_matrix
    if rng.random() < 0.7:
        costs = np.where(costs > 0, np.maximum(costs * 20 + rng.integers(-4, 5, costs.shape), 0), 0)
    else:
        costs = rng.integers(0, 6, costs.shape)
    changes: dict[str, Any] = {"cost_matrix": np.minimum(costs, 10**6).astype(np.int64)}
    if rng.random() < 0.3:
        changes["max_depth"] = int(rng.integers(1, 5))
    if rng.random() < 0.3:
        changes["split_penalty"] = int(rng.integers(0, 30))
    if rng.random() < 0.2:
        changes["max_splits"] = int(rng.integers(-1, 9))
    if rng.random() < 0.2:
        changes["min_leaf"] = int(rng.integers(1, 4))
    other = problem.but(**changes)
    return other if other.magnitude() <= SAFE else problem


def chains(seed: int) -> list[list[Problem]]:
    """Sequences of problems over the same rows, small ones full of ties and larger ones."""
    rng = np.random.default_rng([FUZZ, seed])
    drawn = [
        *random_problems(seed, 60),
        *random_problems(seed, 20, rows=(40, 200), columns=(6, 16), depths=(2, 3, 4)),
    ]
    found = []
    for problem in drawn:
        chain = [problem if problem.max_depth >= 0 else problem.but(max_depth=3)]
        for _ in range(LENGTH):
            chain.append(varied(rng, chain[-1]))
        found.append(chain)
    return found


def test_a_session_gives_the_canonical_trees_of_fresh_solves() -> None:
    """Status, bounds and tree, ties included."""
    for chain in chains(1):
        session = open_session(chain[0])
        for problem in chain:
            assert facts(solve_in(session, problem)) == facts(solve(problem)), problem


def test_a_session_with_two_threads_gives_the_same_trees() -> None:
    """Threads read what was proved before."""
    for chain in chains(2):
        session = open_session(chain[0])
        for problem in chain:
            assert facts(solve_in(session, problem, threads=2)) == facts(solve(problem)), problem


def test_paths_of_a_session_are_those_of_fresh_solves() -> None:
    """Curves and single solves in turn."""
    for chain in chains(3):
        session = open_session(chain[0])
        for number, problem in enumerate(chain):
            if number % 3 == 2:
                assert facts(solve_in(session, problem)) == facts(solve(problem)), problem
                continue
            fresh = _core.solve_path(
                problem.columns,
                problem.row_types,
                problem.cost_matrix,
                problem.weights,
                problem.options(),
            )
            found = session.solve_path(problem.cost_matrix, problem.options())
            assert path_facts(found) == path_facts(fresh), problem


def test_bounds_of_a_session_hold_when_solves_are_cut_short() -> None:
    """What a stopped solve has proved is as good as the rest."""
    rng = np.random.default_rng([FUZZ, 4])
    for chain in chains(4):
        session = open_session(chain[0])
        for problem in chain:
            optimum = solve(problem).upper_bound
            limit = int(rng.integers(1, 40)) if rng.random() < 0.6 else 0
            result = solve_in(session, problem, work_limit=limit)
            check_result(result, problem, optimum)
            if limit == 0:
                assert result.status == "optimal"


def test_a_known_value_in_a_session_hides_only_what_is_not_better() -> None:
    """At the optimum nothing is found, one above it the optimum is."""
    for chain in chains(5):
        session = open_session(chain[0])
        for problem in chain:
            optimum = solve(problem).upper_bound
            known = {"known_value": optimum, "known_splits": 0}
            result = solve_in(session, problem, **known)
            assert (result.status, result.lower_bound) == ("optimal", optimum), problem
            result = solve_in(session, problem, known_value=optimum + 1, known_splits=0)
            assert (result.status, result.upper_bound) == ("optimal", optimum), problem
            check_result(result, problem, optimum)


def test_a_small_memory_limit_changes_no_proven_value() -> None:
    """Tables of the past make room for the solve at hand."""
    for chain in chains(6):
        session = open_session(chain[0])
        for problem in chain:
            result = solve_in(session, problem, memory_limit=1 << 20)
            check_result(result, problem, solve(problem).upper_bound)


def table(seed: int = 3, n_rows: int = 300, n_columns: int = 14) -> tuple[Any, Any]:
    """Columns and types with some structure and much noise."""
    rng = np.random.default_rng(seed)
    columns = (rng.random((n_rows, n_columns)) < 0.4).astype(np.uint8)
    types = (columns[:, 0] & columns[:, 1]) | (columns[:, 2] & (rng.random(n_rows) < 0.7))
    return np.asfortranarray(columns), np.asarray(types ^ (rng.random(n_rows) < 0.2), np.int32)


def costs(false_positive: int, false_negative: int) -> Any:
    """Cost matrix of a binary problem."""
    return np.array([[0, false_positive], [false_negative, 0]], dtype=np.int64)


def evaluations(result: Any) -> int:
    """Work of a solve."""
    return int(result.counters["depth_two_evaluations"])


def test_costs_near_the_last_ones_are_much_less_work() -> None:
    """That is what a session is for; without the switch it saves the packing alone."""
    columns, types = table()
    options = {"max_depth": 4, "smallest": False}
    session = _core.Session(columns, types)
    session.solve(costs(100, 100), options)
    fresh = _core.solve(columns, types, costs(101, 100), None, options)
    without = session.solve(costs(101, 100), {**options, "use_weight_reuse": False})
    assert without.counters["reused_bounds"] == 0
    assert evaluations(without) == evaluations(fresh)
    session = _core.Session(columns, types)
    session.solve(costs(100, 100), options)
    second = session.solve(costs(101, 100), options)
    assert second.upper_bound == fresh.upper_bound
    assert second.counters["reused_bounds"] > 0
    assert 2 * evaluations(second) < evaluations(fresh)


def test_costs_between_two_earlier_ones_are_less_work_than_from_either() -> None:
    """The chord of two values lies above either of them scaled."""
    columns, types = table()
    options = {"max_depth": 4, "smallest": False}
    work = []
    for earlier in ([costs(80, 120)], [costs(120, 80)], [costs(80, 120), costs(120, 80)]):
        session = _core.Session(columns, types)
        for matrix in earlier:
            session.solve(matrix, options)
        work.append(evaluations(session.solve(costs(100, 100), options)))
    assert work[2] < min(work[:2])


def test_the_same_costs_again_take_up_where_the_last_solve_stopped() -> None:
    """A limit is a pause."""
    columns, types = table()
    session = _core.Session(columns, types)
    options = {"max_depth": 4}
    whole = _core.solve(columns, types, costs(1, 1), None, options)
    first = session.solve(costs(1, 1), {**options, "work_limit": evaluations(whole) // 2})
    second = session.solve(costs(1, 1), options)
    assert first.status == "work_limit"
    assert facts(second) == facts(whole)
    assert evaluations(second) < 0.7 * evaluations(whole)


def test_curves_are_reused_as_values_are() -> None:
    """The same costs under another penalty cost next to nothing, costs between others less."""
    columns, types = table()
    options = {"max_depth": 4, "max_splits": 6}
    session = _core.Session(columns, types)
    for matrix in (costs(80, 120), costs(120, 80), costs(100, 100)):
        last = session.solve(matrix, options)
    fresh = _core.solve(columns, types, costs(100, 100), None, options)
    assert facts(last) == facts(fresh)
    assert evaluations(last) < 0.8 * evaluations(fresh)
    again = session.solve(costs(100, 100), {**options, "split_penalty": 1})
    assert again.upper_bound == fresh.upper_bound + int(np.count_nonzero(fresh.test >= 0))
    assert 5 * evaluations(again) < evaluations(fresh)


def test_a_price_that_falls_to_nothing_leaves_no_bound() -> None:
    """No share of the old bound holds where a mistake is free."""
    columns, types = table()
    session = _core.Session(columns, types)
    session.solve(costs(5, 5), {"max_depth": 3})
    result = session.solve(costs(0, 5), {"max_depth": 3})
    assert (result.upper_bound, result.counters["reused_bounds"]) == (0, 0)


def test_a_session_solves_one_problem_at_a_time() -> None:
    """A solve from within a solve is refused by name, and the session stays usable."""
    columns, types = table()
    session = _core.Session(columns, types)

    def again(event: Any) -> bool:
        session.solve(costs(1, 2), {"max_depth": 2})
        return False

    with pytest.raises(ValueError, match="in the middle of a solve"):
        session.solve(costs(1, 1), {"max_depth": 3}, again)
    assert session.solve(costs(1, 1), {"max_depth": 3}).status == "optimal"


def test_a_session_accepts_another_number_of_types_and_labels() -> None:
    """Costs of another shape cannot be compared with the last ones, so nothing is carried over."""
    columns, types = table()
    session = _core.Session(columns, types)
    session.solve(costs(1, 1), {"max_depth": 3})
    for matrix in (np.array([[0, 1, 1], [1, 0, 1]]), np.array([[0, 1], [1, 0], [1, 1]])):
        result = session.solve(matrix.astype(np.int64), {"max_depth": 3})
        fresh = _core.solve(columns, types, matrix.astype(np.int64), None, {"max_depth": 3})
        assert facts(result) == facts(fresh)


def test_bad_arguments_of_a_session_are_named() -> None:
    """As for a single solve."""
    columns, types = table()
    with pytest.raises(ValueError, match="row_types and columns differ"):
        _core.Session(columns, types[:-1])
    session = _core.Session(columns, types)
    with pytest.raises(ValueError, match="outside 0"):
        session.solve(np.array([[0, 1]], dtype=np.int64), {})
    with pytest.raises(ValueError, match="unknown option"):
        session.solve(costs(1, 1), {"nonsense": 1})
