"""Solving with limits and for fronts: certificates, results without a tree, and verification."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    CertificateError,
    InfeasibleError,
    LimitedCertificate,
    OptimalityWarning,
    Progress,
    Solution,
    TaskFrontCertificate,
    check_task,
    solve,
    tasks,
    verify,
)
from certree.fitting.prove_limited import stated_proof
from certree.results._limit_certificate import LimitValue, Reach

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 1]])
Y = np.array(["no", "yes", "yes", "no", "yes", "no"])
ERRORS = tasks.Misclassification()
FEW = tasks.Limit("yes", {"yes": 1}, at_most=1)
MANY = tasks.Limit("yes", {"yes": 1}, at_least=7)


def limited(task: Any = ERRORS & FEW, **settings: Any) -> Solution[LimitedCertificate]:
    solution = solve(task, X, Y, **{"max_depth": 2, **settings})
    assert isinstance(solution, Solution)
    return solution


def changed(solution: Solution[LimitedCertificate], **fields: Any) -> Solution[LimitedCertificate]:
    return replace(solution, certificate=replace(solution.certificate, **fields))


# ---- results -----------------------------------------------------------------------------------


def test_the_certificate_states_totals_and_what_was_searched() -> None:
    solution = limited()
    certificate = solution.certificate
    assert isinstance(certificate, LimitedCertificate)
    assert certificate.is_optimal
    assert certificate.limits[0].value == int((solution.predict(X) == "yes").sum()) <= 1
    assert certificate.cost == int((solution.predict(X) != Y).sum())
    assert certificate.objective == pytest.approx(1 - certificate.cost / 6)
    assert certificate.dual_bound is not None
    assert certificate.dual_bound <= certificate.lower_bound == certificate.cost
    assert "a total of 'yes' of at most 1" in certificate.statement()
    assert "yes: " in str(certificate)
    assert str(solution).endswith(certificate.statement())
    assert solution.apply(X).shape == (6,)


def test_a_limit_that_never_binds_changes_nothing() -> None:
    loose = limited(ERRORS & tasks.Limit("yes", {"yes": 1}, at_most=100)).certificate
    free = solve(ERRORS, X, Y, max_depth=2).certificate
    assert loose.cost == free.cost
    assert loose.objective == free.objective


@pytest.mark.parametrize("per", ["split", "leaf"])
def test_penalties_count_as_without_limits(per: Any) -> None:
    loose = tasks.Limit("yes", {"yes": 1}, at_most=100)
    settings: dict[str, Any] = {"complexity": 0.1, "complexity_per": per}
    with_limit = limited(ERRORS & loose, **settings).certificate
    free = solve(ERRORS, X, Y, max_depth=2, **settings).certificate
    for name in ("cost", "leaf_cost", "objective", "split_penalty", "lower_bound"):
        assert getattr(with_limit, name) == getattr(free, name), name


def test_a_penalty_above_all_savings_is_paid_where_limits_need_splits() -> None:
    """Without limits such a penalty may be replaced by a smaller one; not here."""
    half = tasks.Limit("yes", {"yes": 1}, at_most=3, at_least=3)
    for complexity in (1, 50):
        solution = limited(ERRORS & half, complexity=complexity)
        certificate = solution.certificate
        assert certificate.cost == certificate.leaf_cost + 6 * complexity * certificate.n_splits
        assert verify(solution, X, Y, exhaustive=True)
    with pytest.raises(ValueError, match="complexity=1e"):
        limited(ERRORS & half, complexity=1e20)


def test_certificates_survive_being_written_down() -> None:
    third = tasks.Limit("third", {"yes": "1/3"}, at_most="2/3")
    for task in (ERRORS & FEW, ERRORS & third & tasks.LeafMinimum({"no": 2}), ERRORS & MANY):
        certificate = limited(task).certificate
        assert LimitedCertificate.from_json(certificate.to_json()) == certificate
    with pytest.raises(ValueError, match="missing fields"):
        LimitedCertificate.from_dict({"status": "infeasible"})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cost": 3}, "either all null or none"),
        ({"status": "time_limit"}, "lower_bound is null only if"),
    ],
)
def test_a_file_without_a_tree_states_nothing_of_a_tree(
    fields: dict[str, Any], message: str
) -> None:
    written = limited(ERRORS & MANY).certificate.to_dict()
    with pytest.raises(ValueError, match=message):
        LimitedCertificate.from_dict(written | fields)


def test_solutions_can_be_pickled() -> None:
    for task in (ERRORS & FEW, ERRORS & MANY):
        solution = limited(task)
        again = pickle.loads(pickle.dumps(solution))
        assert again.certificate == solution.certificate
        assert verify(again, X, Y)


def test_limits_nobody_can_meet_are_a_result() -> None:
    solution = limited(ERRORS & MANY)
    certificate = solution.certificate
    assert solution.tree is None
    assert not certificate.has_tree
    assert [certificate.cost, certificate.gap, certificate.lower_bound] == [None] * 3
    assert certificate.is_infeasible
    assert not certificate.is_optimal
    assert certificate.limits[0].closest == 6
    assert certificate.limits[0].is_kept_alone is False
    assert "has a total of 'yes' of at least 7" in certificate.statement()
    assert "the greatest that any tree has is 6" in str(solution)
    with pytest.raises(InfeasibleError, match="at least 7"):
        certificate.plot()
    with pytest.raises(InfeasibleError, match="at least 7") as caught:
        solution.predict(X)
    assert caught.value.certificate == certificate
    assert pickle.loads(pickle.dumps(caught.value)).certificate == certificate


def test_limits_that_cannot_be_met_together_say_so() -> None:
    no = tasks.Limit("no", {"no": 1}, at_most=2)
    certificate = limited(ERRORS & FEW & no).certificate
    assert [limit.is_kept_alone for limit in certificate.limits] == [True, True]
    assert "not all of them by one tree" in certificate.statement()


def test_labels_that_lack_rows_everywhere_leave_no_tree() -> None:
    solution = limited(ERRORS & tasks.LeafMinimum(7))
    assert solution.tree is None
    assert "enough rows" in solution.certificate.statement()
    assert verify(solution, X, Y, exhaustive=True)
    certificate = limited(ERRORS & tasks.LeafMinimum({"yes": 3}), max_depth=1).certificate
    assert "at least 3 rows for 'yes' in every leaf that has it" in certificate.statement()


def test_a_search_that_is_stopped_says_what_it_knows() -> None:
    rng = np.random.default_rng(0)
    table, labels = rng.integers(0, 2, (400, 25)), rng.integers(0, 2, 400)
    parity = tasks.Limit("parity", {1: rng.choice([-1, 1], 400)}, at_most=0, at_least=0)
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return True

    with pytest.warns(OptimalityWarning):
        solution = solve(ERRORS & parity, table, labels, max_depth=4, callback=stop)
    assert seen
    assert seen[0].lower_bound <= seen[0].upper_bound
    certificate = solution.certificate
    assert certificate.status == "interrupted"
    if certificate.has_tree:
        assert certificate.lower_bound <= certificate.cost
        assert certificate.limits[0].value == 0
    else:
        assert "before a tree was found" in certificate.statement()
    assert verify(solution, table, labels)


def test_verbose_draws_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    limited(verbose=1)
    assert "optimal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"path": True}, "path"),
        ({"max_depth": None}, "max_depth or max_splits"),
        ({"max_depth": -1}, "max_depth"),
    ],
)
def test_what_limits_do_not_know_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        limited(**settings)


def test_no_depth_limit_is_needed_with_splits_or_a_penalty() -> None:
    for settings in ({"max_splits": 2}, {"complexity": 0.1}):
        solution = limited(max_depth=None, **settings)
        assert solution.certificate.status == "optimal"
        assert verify(solution, X, Y, exhaustive=True)


def test_what_is_no_task_is_refused() -> None:
    for other in (FEW, tasks.LeafMinimum(1), 3):
        with pytest.raises(TypeError, match=r"certree\.tasks\.Task"):
            solve(other, X, Y)  # type: ignore[type-var]


def test_an_accepted_gap_ends_the_search() -> None:
    certificate = limited(gap=6).certificate
    assert certificate.status in ("gap", "optimal")
    assert certificate.gap <= 6


# ---- fronts ------------------------------------------------------------------------------------

HARM = tasks.RowCosts(np.arange(12).reshape(6, 2), labels=["no", "yes"])


def test_a_front_is_a_sequence_of_trees_with_their_values() -> None:
    front = solve(tasks.Front(ERRORS, HARM), X, Y, max_depth=2)
    assert front.is_optimal
    assert len(front) == len(front.front) == len(list(front)) > 1
    for point in front:
        predicted = point.tree.predict(X)
        assert point.values[0] == int((predicted != Y).sum())
        assert point.values[1] == 30 + int((predicted == "yes").sum())
        assert point.objectives[0] == pytest.approx(1 - point.values[0] / 6)
    assert [point.values for point in front[1:]] == list(front.certificate.points[1:])
    certificate = front.certificate
    assert TaskFrontCertificate.from_json(certificate.to_json()) == certificate
    assert certificate.statement() in str(front)
    assert "trees, optimal" in repr(front)
    assert verify(front, X, Y, exhaustive=True)


def test_a_front_can_be_drawn() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    axes = solve(tasks.Front(ERRORS, HARM), X, Y, max_depth=1).plot()
    assert axes.get_xlabel() == "first: accuracy"


def test_a_front_within_limits_that_nobody_meets_is_empty() -> None:
    front = solve(tasks.Front(ERRORS, HARM) & MANY, X, Y, max_depth=1)
    assert len(front) == 0
    assert front.certificate.status == "infeasible"
    assert "keeps to all limits" in front.certificate.statement()
    assert verify(front, X, Y, exhaustive=True)


def test_a_front_has_no_gap_and_no_path() -> None:
    with pytest.raises(ValueError, match="gap"):
        solve(tasks.Front(ERRORS, HARM), X, Y, gap=1)
    with pytest.raises(ValueError, match="path"):
        solve(tasks.Front(ERRORS, HARM), X, Y, path=True)


@pytest.mark.parametrize(
    "task",
    [
        ERRORS & tasks.Limit("yes", {"yes": 1}, at_most=150),
        ERRORS
        & tasks.Limit("a", {"yes": 1}, at_most=150)
        & tasks.Limit("b", {"no": 1}, at_most=50),
        tasks.Front(ERRORS, tasks.RowCosts(np.arange(400).reshape(200, 2), labels=["no", "yes"])),
    ],
    ids=["with a tree", "without", "front"],
)
def test_warnings_point_to_the_line_that_called_solve(task: Any) -> None:
    rng = np.random.default_rng(2)
    table, labels = rng.integers(0, 2, (200, 40)), np.where(rng.random(200) < 0.5, "yes", "no")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solve(task, table, labels, max_depth=6, time_limit=1e-3)
    assert [w.filename for w in caught if w.category is OptimalityWarning] == [__file__]


def test_a_statement_about_no_tests_reads_well() -> None:
    nothing = np.full((3, 1), 7.5)
    task = ERRORS & tasks.Limit("yes", {"yes": 1}, at_most=2, at_least=1)
    solution = solve(task, nothing, ["yes", "no", "no"], max_depth=2)
    assert "over an empty set of questions" in solution.certificate.statement()
    near = "the least of at least 1 that any tree has is 3 and the greatest of at most 2 that any"
    assert near in solution.certificate.statement()
    free = solve(ERRORS, nothing, ["yes", "no", "no"], max_depth=2)
    assert "over an empty set of questions" in free.certificate.statement()


# ---- verification ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cost": 1}, "cost"),
        ({"leaf_cost": 0}, "leaf cost"),
        ({"objective": 0.9}, "objective"),
        ({"lower_bound": 0}, "gap"),
        ({"status": "time_limit"}, "status"),
        ({"status": "infeasible"}, "infeasible"),
        ({"n_splits": 7}, "splits"),
        ({"max_depth": 1}, "max_depth"),
        ({"dual_bound": 5}, "dual bound"),
        ({"cuts": ((1, 0, 100),)}, "dual cut 0"),
        ({"cuts": ((1, -1, 0),)}, "does not match the limits"),
        ({"cuts": ((1, 1),)}, "does not match the limits"),
        ({"leaf_minimum": (("yes", 2),)}, "minima of labels"),
    ],
)
def test_a_changed_certificate_is_found_out(fields: dict[str, Any], message: str) -> None:
    solution = limited()
    assert verify(solution, X, Y, exhaustive=True)
    with pytest.raises(CertificateError, match=message):
        verify(changed(solution, **fields), X, Y, exhaustive=True)


def test_changed_limits_are_found_out() -> None:
    solution = limited()
    limit = solution.certificate.limits[0]
    for fields, message in (
        ({"value": 0}, "total of 'yes'"),
        ({"at_most": 3}, "limits"),
        ({"name": "other"}, "limits"),
        ({"unit": 2}, "multiple of the unit"),
    ):
        other = replace(limit, **fields)  # type: ignore[arg-type]
        with pytest.raises(CertificateError, match=message):
            verify(changed(solution, limits=(other,)), X, Y)


def test_other_data_and_other_tasks_do_not_pass() -> None:
    solution = limited()
    with pytest.raises(CertificateError, match="cost"):
        verify(solution, X, Y[::-1])
    with pytest.raises(CertificateError, match="number of rows"):
        verify(solution, X, Y, sample_weight=[1, 1, 1, 1, 1, 0])
    other = ERRORS & tasks.Limit("yes", {"yes": 1}, at_most=2)
    with pytest.raises(CertificateError, match="limits"):
        verify(solution, X, Y, task=other)
    free = limited(ERRORS & tasks.Limit("yes", {"yes": 1}, at_most=6))
    tight = replace(free.certificate.limits[0], at_most=0)
    task = ERRORS & tasks.Limit("yes", {"yes": 1}, at_most=0)
    with pytest.raises(CertificateError, match="not at most 0"):
        verify(changed(free, limits=(tight,)), X, Y, task=task)


def test_a_wrong_proof_that_there_is_no_tree_is_found_out() -> None:
    solution = limited(ERRORS & MANY)
    assert verify(solution, X, Y, exhaustive=True)
    limit = solution.certificate.limits[0]
    for fields, message in (
        ({"cuts": ()}, "no dual cut proves"),
        ({"proof": ""}, "status"),
        ({"limits": (replace(limit, greatest=Reach(5, 5)),)}, "nearest total"),
        ({"limits": (replace(limit, greatest=Reach(5, 6)),)}, "nearer than the bound"),
    ):
        with pytest.raises(CertificateError, match=message):
            verify(changed(solution, **fields), X, Y, exhaustive=True)


def test_a_false_claim_that_there_is_no_tree_is_found_by_a_single_leaf() -> None:
    task = ERRORS & tasks.Limit("yes", {"yes": 1}, at_least=6)
    honest = limited(ERRORS & MANY)
    limit = replace(honest.certificate.limits[0], at_least=6, greatest=None)
    claim = changed(honest, limits=(limit,), proof="search", cuts=())
    with pytest.raises(CertificateError, match="'yes' keeps to all limits"):
        verify(claim, X, Y, task=task)


def test_totals_that_a_single_leaf_comes_nearer_to_are_found_out() -> None:
    none = tasks.Limit("no", {"no": 1}, at_most=1)
    solution = limited(ERRORS & FEW & none, max_depth=1)
    report = verify(solution, X, Y, exhaustive=True)
    assert report.cost is None
    assert str(report).splitlines()[0].endswith("no tree")
    first, second = solution.certificate.limits
    assert first.least == Reach(0, 0)
    for reach in (Reach(2, 2), Reach(2, None)):
        claim = changed(solution, limits=(replace(first, least=reach), second))
        with pytest.raises(CertificateError, match="nearest total"):
            verify(claim, X, Y)
    cut = (0, 1, 1, 7)
    with pytest.raises(CertificateError, match="dual cut 0"):
        verify(changed(solution, cuts=(cut, *solution.certificate.cuts)), X, Y)


def test_a_certificate_about_a_tree_needs_one_and_the_other_way_round() -> None:
    solution, none = limited(), limited(ERRORS & MANY)
    for claim in (replace(solution, tree=None), replace(none, tree=solution.tree)):
        with pytest.raises(CertificateError, match="but the model has"):
            verify(claim, X, Y)


def test_a_bound_above_a_single_leaf_is_found_out() -> None:
    solution = limited(ERRORS & tasks.Limit("yes", {"yes": 1}, at_most=5), max_depth=0)
    assert verify(solution, X, Y)
    other = limited(ERRORS & MANY)
    limit = replace(other.certificate.limits[0], at_least=6, greatest=None)
    fields = {"status": "time_limit", "proof": "", "lower_bound": 4, "cuts": ()}
    claim = changed(other, limits=(limit,), **fields)
    task = ERRORS & tasks.Limit("yes", {"yes": 1}, at_least=6)
    with pytest.raises(CertificateError, match="less than the lower bound 4"):
        verify(claim, X, Y, task=task)


def test_a_false_claim_that_there_is_no_tree_is_found_by_force() -> None:
    task = ERRORS & tasks.Limit("yes", {"yes": 1}, at_least=2, at_most=4)
    honest = limited(ERRORS & MANY)
    limit = replace(honest.certificate.limits[0], at_least=2, at_most=4, greatest=None)
    claim = changed(honest, limits=(limit,), proof="search", cuts=())
    assert verify(claim, X, Y, task=task)
    with pytest.raises(CertificateError, match="a tree keeps to all limits"):
        verify(claim, X, Y, task=task, exhaustive=True)


def test_a_front_with_a_point_changed_or_missing_is_found_out() -> None:
    front = solve(tasks.Front(ERRORS, HARM), X, Y, max_depth=2)
    certificate = front.certificate
    front.certificate = replace(certificate, points=certificate.points[:-1])
    with pytest.raises(CertificateError, match="number of points"):
        verify(front, X, Y)
    points = ((certificate.points[0][0] + 1, certificate.points[0][1]), *certificate.points[1:])
    front.certificate = replace(certificate, points=points)
    with pytest.raises(CertificateError, match="point 0"):
        verify(front, X, Y)
    fewer = certificate.points[1:]
    front.certificate = replace(certificate, points=fewer, lower_points=fewer)
    front.front = front.front[1:]
    assert verify(front, X, Y)
    with pytest.raises(CertificateError, match="front"):
        verify(front, X, Y, exhaustive=True)


def test_brute_force_refuses_what_is_too_large() -> None:
    rng = np.random.default_rng(0)
    table, labels = rng.integers(0, 2, (60, 12)), rng.integers(0, 2, 60)
    near = tasks.Limit("near", {1: rng.integers(-99, 99, 60)}, at_most=9, at_least=-9)
    large = solve(ERRORS & near, table, labels, max_depth=3)
    with pytest.raises(ValueError, match="too large"):
        verify(large, table, labels, exhaustive=True)


def test_real_amounts_are_kept_and_proved_exactly() -> None:
    amounts = np.random.default_rng(0).random(6)
    most = sum(Fraction(str(a)) for a in amounts[:2].tolist())
    solution = limited(ERRORS & tasks.Limit("real", {"yes": amounts}, at_most=most))
    assert solution.certificate.limits[0].rounding == 0
    assert solution.certificate.limits[0].at_most == most
    assert verify(solution, X, Y, exhaustive=True)


def test_weights_and_fractions_are_verified_exactly() -> None:
    weights = [0.5, 2, 1, 0, 0.25, 3]
    limit = tasks.Limit("share", {"yes": ["1/3", "1/7", 0.1, 2, 1, "5/9"]}, at_most="10/9")
    solution = solve(ERRORS & limit, X, Y, sample_weight=weights, max_depth=2)
    assert solution.certificate.limits[0].rounding == 0
    assert verify(solution, X, Y, sample_weight=weights, exhaustive=True)
    predicted = solution.predict(X) == "yes"
    amounts = [Fraction(1, 3), Fraction(1, 7), Fraction(1, 10), 2, 1, Fraction(5, 9)]
    total = sum(
        Fraction(str(w)) * a for w, a, yes in zip(weights, amounts, predicted, strict=True) if yes
    )
    assert solution.certificate.limits[0].value == total <= Fraction(10, 9)


# ---- check_task --------------------------------------------------------------------------------


def test_amounts_that_are_no_sums_are_found() -> None:
    values = np.arange(6.0)
    honest = tasks.Limit("sum", lambda rows: [0, values[rows].sum()], at_most=3)
    assert check_task(ERRORS & FEW & honest, X, Y)
    mean = tasks.Limit("mean", lambda rows: [0, values[rows].mean()], at_most=3)
    report = check_task(ERRORS & mean, X, Y)
    assert report.law == "additive"
    assert "'mean'" in report.message
    assert sum(map(len, report.rows)) <= 3
    assert check_task(tasks.Front(ERRORS, HARM) & mean, X, Y).law == "additive"
    wrong = tasks.Limit("wrong", lambda rows: [0], at_most=3)
    assert check_task(ERRORS & wrong, X, Y).law == "shape"
    nan = tasks.Limit("nan", lambda rows: [0, np.nan], at_most=3)
    assert check_task(ERRORS & nan, X, Y).law == "finite"
    rng = np.random.default_rng(0)
    moody = tasks.Limit("moody", lambda rows: [0, rng.random()], at_most=3)
    assert check_task(ERRORS & moody, X, Y).law == "deterministic"


def test_laws_of_objectives_are_tried_within_compositions() -> None:
    broken = tasks.RowCosts([[0, 1]] * 5)
    with pytest.raises(ValueError, match="5"):
        check_task(broken & tasks.Limit("x", [0, 1], at_most=1), X)


IS_YES = Y == "yes"


def errors_of(rows: Any, label: Any) -> int:
    return int((IS_YES[rows] != label).sum())


def test_separable_objectives_pass() -> None:
    labels = [False, True]
    assert check_task(tasks.Separable(labels, errors_of), X)
    assert check_task(tasks.Separable(labels, errors_of, combine=max), X)
    pair = tasks.Separable(
        labels,
        lambda rows, label: (errors_of(rows, label), len(rows) * label),
        combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
        better=lambda a, b: a != b and a[0] <= b[0] and a[1] <= b[1],
        feasible=lambda value, rows: value[1] <= 2,
    )
    assert check_task(pair, X)


@pytest.mark.parametrize(
    ("parts", "law"),
    [
        ({"better": lambda a, b: abs(a - 2) < abs(b - 2)}, "order preserved"),
        ({"combine": lambda a, b: a * b, "better": lambda a, b: a > b}, None),
        ({"combine": lambda a, b: a - b}, "order preserved"),
        ({"better": lambda a, b: a <= b}, "order"),
        ({"better": lambda a, b: (a - b) % 3 == 1}, "order"),
        ({"feasible": lambda value, rows: 2 * value <= len(rows)}, "anti-monotonic"),
        ({"feasible": lambda value, rows: value <= 2}, None),
    ],
)
def test_conditions_of_separability_that_fail_are_found(
    parts: dict[str, Any], law: str | None
) -> None:
    report = check_task(tasks.Separable([False, True], errors_of, **parts), X)
    assert report.law == law
    if law is not None:
        assert sum(map(len, report.rows)) <= 6
        assert str(report).startswith(f"The law '{law}' fails")


def test_a_cost_with_a_memory_is_not_markovian() -> None:
    calls = [0]

    def moody(rows: Any, label: Any) -> int:
        calls[0] += 1
        return calls[0]

    assert check_task(tasks.Separable([0, 1], moody), X).law == "Markovian"


def test_parts_of_a_separable_objective_are_checked() -> None:
    with pytest.raises(ValueError, match="at least one label"):
        tasks.Separable([], errors_of)
    with pytest.raises(TypeError, match="better must be callable"):
        tasks.Separable([0], errors_of, better=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Task"):
        check_task(FEW, X)  # type: ignore[arg-type]


def test_an_objective_by_its_parts_is_verified_by_its_own_functions() -> None:
    solution = solve(tasks.Separable([False, True], errors_of), X, max_depth=2)
    assert verify(solution, X, exhaustive=True)
    true = solution.certificate
    for change, message in (
        ({"values": (true.values[0] + 1,)}, "value of tree 0"),
        ({"n_rows": 7}, "number of rows"),
        ({"n_tests": 9}, "number of questions"),
        ({"status": "infeasible"}, "infeasible"),
        ({"depth": 1}, "up to"),
        ({"max_depth": 1}, "more than trees can have"),
    ):
        solution.certificate = replace(true, **change)
        with pytest.raises(CertificateError, match=message):
            verify(solution, X)


def test_a_proof_is_dual_only_if_a_cut_shows_it_by_itself() -> None:
    """Whole leading digits may prove more than a cut in the user's terms says."""
    limit = LimitValue("spent", None, Fraction(5, 2), None, unit=1)
    assert stated_proof("dual", [limit], [(0, 1, 3)]) == "dual"  # totals are whole, at most 2
    assert stated_proof("dual", [limit], [(0, 1, 2)]) == "search"
    assert stated_proof("dual", [limit], [(1, 1, 3)]) == "search"  # the cost has a part in it
    empty = LimitValue("spent", None, Fraction(5, 2), Fraction(9, 4), unit=1)
    assert stated_proof("dual", [empty], []) == "dual"  # no whole number lies between
    assert stated_proof("search", [limit], []) == "search"
