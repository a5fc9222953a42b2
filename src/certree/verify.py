"""Check a certificate against the data, by code that shares nothing with the search.

Everything is recomputed from what the user holds: the raw table, the labels, the weights and the
parameters of the model. Rows walk down the tree one by one, by the meaning of the tests as
``tree_.to_dict()`` states it; sums are exact fractions. Neither the encoded table nor the scaled
integers of the solve are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any

from . import metrics
from ._audit import Audit, Claim, Data, Walk, decimal, direct_name, read_data, text, walk_down
from ._limit_certificate import LimitedCertificate, NoTreeCertificate
from ._reprove import best_cost, best_multiway_cost
from ._solve_limited import LimitedSolution, TaskFront
from ._solve_separable import SeparableSolution
from ._task_certificate import TaskCertificate
from ._verify_curve import check_curve, check_whole_curve
from ._verify_fair import (
    check_fair_optimum,
    check_groups,
    check_without_tree,
    fair_audit,
    rates_to_compare,
    read_group_of_rows,
)
from ._verify_limits import check_limited, check_task_front
from ._verify_metric import (
    ask,
    check_front,
    check_metric_cost,
    check_metric_optimum,
    check_whole_front,
)
from ._verify_spo import check_spo_costs, check_spo_optimum
from ._verify_task import check_task_costs, check_task_optimum, task_audit
from .certificate import STATUSES, Exact, exact, show
from .exceptions import CertificateError
from .fairness import FairnessCertificate, FairnessCurve
from .front import ParetoFront

# Penalties that do not fit the integers of the search are rounded there, by no more than this share
# of the greatest cost.
_PENALTY_ROUNDING = Fraction(1, 2**30)


@dataclass(frozen=True)
class VerificationReport:
    """What `verify` has checked. It is true: a check that fails raises instead.

    Attributes
    ----------
    checks : tuple of str
        What was recomputed and found as certified.
    cost : int or Fraction or None
        The recomputed cost of the tree, of the first one of several; None if there is none.
    n_rows : int
        Number of rows that count.
    exhaustive : bool
        Whether optimality was proven again by brute force.
    seconds : float
        Time it took.
    """

    checks: tuple[str, ...]
    cost: Exact | None
    n_rows: int
    exhaustive: bool
    seconds: float

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        cost = "no tree" if self.cost is None else f"cost {show(self.cost)}"
        lines = [f"Verified on {self.n_rows} rows in {self.seconds:.3g} s: {cost}"]
        return "\n".join([*lines, *(f"  ok  {check}" for check in self.checks)])


def verify(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    exhaustive: bool = False,
    *,
    costs: Any = None,
    task: Any = None,
    sensitive_features: Any = None,
) -> VerificationReport:
    """Recompute what a fitted model certifies, and raise if anything differs.

    Checked are: the parameters, rows and weights that the certificate speaks of; the class counts
    and the label of every leaf; the limits on depth, splits and leaf size; the cost, the bound, the
    gap, the status and the objective; and that the model predicts what its tree says.

    Parameters
    ----------
    model : OptimalTreeClassifier, any other estimator, ParetoFront, FairnessCurve or Solution
        A fitted model, or what :func:`pareto_front`, :func:`solve` or
        :meth:`FairTreeClassifier.fairness_curve` returned: trees within limits, proofs that there
        is none, and fronts of two tasks as well. Of a task by its parts there is no independent
        account, so a :class:`SeparableSolution` is refused.
    X, y, sample_weight
        The data it was fitted on; for a :class:`PolicyTree`, y is its ``rewards_``, for an
        :class:`SPOTree` the cost vectors.
    exhaustive : bool, default=False
        Also prove the bound again by trying all trees, for small problems. Only this finds out that
        a point of a front or a tree of a curve is missing.
    costs : array-like of shape (n_rows, n_classes), optional
        The costs that a :class:`CostSensitiveTreeClassifier` was fitted with, if any.
    task : tasks.Task, optional
        For a :class:`Solution`: the task that was solved, if the solution was pickled; it does not
        keep it then.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns), optional
        The groups that a :class:`FairTreeClassifier` was fitted with, if any.

    Returns
    -------
    VerificationReport
        What was checked.

    Raises
    ------
    CertificateError
        If something differs; the message lists all that does.
    ValueError
        If the data are malformed, or too large for ``exhaustive=True``.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import OptimalTreeClassifier, verify
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> bool(verify(model, X, y, exhaustive=True))
    True
    """
    start = perf_counter()
    if isinstance(model, FairnessCurve):
        return _verify_curve(model, X, y, sample_weight, exhaustive, sensitive_features)
    if isinstance(model, SeparableSolution):
        raise ValueError(
            "verify cannot check a SeparableSolution: what its trees are worth is known to the "
            "functions of the task only, which the search has called. check_task tries whether "
            "they are separable; tasks with costs per label or leaf costs can be verified."
        )
    limited = _with_limits(model, y, sample_weight, costs, task)
    if limited is not None:
        return _verify_limits(limited, X, y, sample_weight, exhaustive, task)
    if hasattr(model, "_solved_model"):
        model = model._solved_model(task)
    if isinstance(getattr(model, "certificate_", None), TaskCertificate):
        return _verify_task(model, X, y, sample_weight, exhaustive, costs)
    if isinstance(getattr(model, "certificate_", None), FairnessCertificate):
        return _verify_fair(model, X, y, sample_weight, exhaustive, sensitive_features)
    model, front = _model_and_front(model)
    audit = Audit(Claim.of(model))
    data = read_data(audit, X, y, sample_weight)
    walk = walk_down(audit, data)
    audit.done("the leaf of every row, by the stated tests")
    _check_parameters(audit)
    _check_weights(audit, data)
    _check_counts(audit, data, walk)
    _check_limits(audit, walk)
    counts_errors = audit.claim.certificate.counts_errors
    cost = (_check_cost if counts_errors else check_metric_cost)(audit, data, walk)
    _check_bounds(audit)
    _check_predictions(audit, model, X, walk)
    if front is not None:
        check_front(audit, data, front)
    audit.raise_if_different()
    if exhaustive:
        (_check_optimum if counts_errors else check_metric_optimum)(audit, data)
        if front is not None:
            check_whole_front(audit, data, front)
        audit.raise_if_different()
    return VerificationReport(
        tuple(audit.checks), exact(cost), len(data.rows), exhaustive, perf_counter() - start
    )


def _verify_task(
    model: Any, X: Any, y: Any, sample_weight: Any, exhaustive: bool, costs: Any
) -> VerificationReport:
    """Check the certificate of a task."""
    start = perf_counter()
    audit = task_audit(model)
    if audit.claim.certificate.task == "spo_loss":
        return _verify_spo(audit, model, X, y, sample_weight, exhaustive)
    data, walk, cost, priced = check_task_costs(audit, model, X, y, sample_weight, costs)
    _check_limits(audit, walk)
    _check_bounds(audit)
    _check_predictions(audit, model, X, walk)
    audit.raise_if_different()
    if exhaustive:
        check_task_optimum(audit, data, priced)
        audit.raise_if_different()
    return VerificationReport(
        tuple(audit.checks), exact(cost), len(data.rows), exhaustive, perf_counter() - start
    )


def _verify_spo(
    audit: Audit, model: Any, X: Any, costs: Any, sample_weight: Any, exhaustive: bool
) -> VerificationReport:
    """Check the certificate of a tree that decides."""
    start = perf_counter()
    decided = check_spo_costs(audit, model, X, costs, sample_weight)
    _check_bounds(audit)
    audit.raise_if_different()
    if exhaustive:
        check_spo_optimum(audit, decided)
        audit.raise_if_different()
    n_rows = len(decided.data.rows)
    return VerificationReport(
        tuple(audit.checks), exact(decided.cost), n_rows, exhaustive, perf_counter() - start
    )


def _verify_fair(
    model: Any, X: Any, y: Any, sample_weight: Any, exhaustive: bool, sensitive_features: Any
) -> VerificationReport:
    """Check the certificate of a fair tree."""
    start = perf_counter()
    audit = fair_audit(model)
    data = read_data(audit, X, y, sample_weight)
    _check_weights(audit, data)
    groups = read_group_of_rows(audit, data, sensitive_features)
    cost: Exact | None = None
    if model.certificate_.has_tree:
        walk = walk_down(audit, data)
        audit.done("the leaf of every row, by the stated tests")
        _check_counts(audit, data, walk, any_label=True)
        _check_limits(audit, walk)
        cost = _check_cost(audit, data, walk)
        compared = check_groups(audit, data, walk, groups, sample_weight)
        _check_bounds(audit)
        _check_predictions(audit, model, X, walk)
    else:
        compared = check_groups(audit, data, None, groups, sample_weight)
        check_without_tree(audit)
    audit.raise_if_different()
    if exhaustive:
        check_fair_optimum(audit, data, groups, compared)
        audit.raise_if_different()
    return VerificationReport(
        tuple(audit.checks),
        None if cost is None else exact(cost),
        len(data.rows),
        exhaustive,
        perf_counter() - start,
    )


def _verify_curve(
    curve: FairnessCurve,
    X: Any,
    y: Any,
    sample_weight: Any,
    exhaustive: bool,
    sensitive_features: Any,
) -> VerificationReport:
    """Check all trees of a curve, and that they are one."""
    start = perf_counter()
    if not len(curve):
        raise ValueError("the curve has no trees to verify.")
    for place, model in enumerate(curve):
        try:
            report = _verify_fair(model, X, y, sample_weight, False, sensitive_features)
        except CertificateError as error:
            raise CertificateError(f"tree {place} of the curve: {error}") from None
    audit = fair_audit(curve[0])
    audit.done(f"all of the following, for each of {len(curve)} trees")
    audit.checks += report.checks
    check_curve(audit, curve)
    audit.raise_if_different()
    if exhaustive:
        data = read_data(audit, X, y, sample_weight)
        groups = read_group_of_rows(audit, data, sensitive_features)
        assert groups is not None
        compared = rates_to_compare(audit, data, groups, sample_weight)
        check_whole_curve(audit, data, groups, compared, curve)
        audit.raise_if_different()
    return VerificationReport(
        tuple(audit.checks),
        curve.points[0][1],
        report.n_rows,
        exhaustive,
        perf_counter() - start,
    )


def _with_limits(
    model: Any, y: Any, sample_weight: Any, costs: Any, task: Any
) -> LimitedSolution | TaskFront | None:
    """Return a solution within limits or a front of tasks, or what an estimator has of one."""
    if isinstance(model, LimitedSolution | TaskFront):
        return model
    certificate = getattr(model, "certificate_", None)
    if not isinstance(certificate, LimitedCertificate | NoTreeCertificate):
        return None
    asked = task
    if asked is None:
        asked = model._task(y, len(costs if y is None else y), sample_weight, costs)
    tree = getattr(model, "tree_", None)
    parameters = model.get_params(deep=False)
    if costs is not None:
        # Then it is these that count, and not a matrix that is not there.
        parameters.pop("cost_matrix", None)
    return LimitedSolution(tree, certificate, model.encoder_, asked, parameters)


def _verify_limits(
    solution: LimitedSolution | TaskFront,
    X: Any,
    y: Any,
    sample_weight: Any,
    exhaustive: bool,
    task: Any,
) -> VerificationReport:
    """Check trees within limits, or a front of two objectives."""
    start = perf_counter()
    if isinstance(solution, TaskFront):
        audit, cost, n_rows = check_task_front(solution, X, y, sample_weight, exhaustive, task)
    else:
        audit, cost, n_rows = check_limited(solution, X, y, sample_weight, exhaustive, task)
    return VerificationReport(tuple(audit.checks), cost, n_rows, exhaustive, perf_counter() - start)


def _model_and_front(given: Any) -> tuple[Any, Any]:
    """Return a model, and the front that it keeps or was given for it."""
    if isinstance(given, ParetoFront):
        return given._whole(), given
    return given, getattr(given, "front_", None)


# ---- the checks --------------------------------------------------------------------------------


def _check_parameters(audit: Audit) -> None:
    certificate, parameters = audit.claim.certificate, audit.claim.parameters
    for name in ("max_depth", "max_splits", "min_samples_leaf", "complexity_per"):
        audit.compare(name, getattr(certificate, name), parameters[name])
    objective = parameters["objective"]
    direct = direct_name(objective)
    task = metrics.get(objective).name if direct is None else direct
    audit.compare("task", certificate.task, task)
    if (direct is not None) != certificate.counts_errors:
        audit.differ(f"the cost of {objective!r} is not what the certificate speaks of")
    if certificate.task != task:
        # Whatever else it says is about something else.
        audit.raise_if_different()
    audit.compare("complexity", certificate.complexity, decimal(parameters["complexity"]))
    audit.compare("number of tests", certificate.n_tests, len(audit.claim.tests))
    audit.done("the parameters that the certificate speaks of")


def _check_weights(audit: Audit, data: Data) -> None:
    certificate = audit.claim.certificate
    total = data.total()
    audit.compare("number of rows", certificate.n_rows, len(data.rows))
    audit.compare("total weight", certificate.total_weight, total)
    whole = total if certificate.counts_errors else Fraction(1)
    penalty = decimal(audit.claim.parameters["complexity"]) * whole
    if abs(certificate.split_penalty - penalty) > whole * _PENALTY_ROUNDING:
        audit.compare(
            f"penalty per {certificate.complexity_per}", certificate.split_penalty, penalty
        )
    audit.done("rows, weights and penalty")


def _check_counts(audit: Audit, data: Data, walk: Walk, *, any_label: bool = False) -> None:
    """Compare the class counts of all nodes, and see that no other label suits a leaf better.

    A metric, or a limit on the whole tree, may well want another label than that of most rows.
    """
    any_label = any_label or not audit.claim.certificate.counts_errors
    classes = audit.claim.classes
    # Trees have shares of all weight where floats do not hold the weights.
    whole = data.total()
    scale = Fraction(1) if 1 <= whole * 10**290 <= 10**580 else 1 / whole
    for node, rows in sorted(walk.rows.items()):
        claimed = audit.claim.nodes[node]
        counts: list[Exact] = [0] * len(classes)
        for row in rows:
            counts[data.classes[row]] += data.weights[row]
        if [float(count * scale) for count in counts] != list(map(float, claimed["counts"])):
            audit.compare(f"class counts of node {node}", claimed["counts"], counts)
        if "test" not in claimed and not any_label and counts[claimed["label"]] < max(counts):
            best = classes[counts.index(max(counts))]
            audit.differ(
                f"label of leaf {node}: {classes[claimed['label']]!r}, but {best!r} has more weight"
            )
    audit.done("class counts of all nodes, labels of all leaves")


def _check_limits(audit: Audit, walk: Walk) -> None:
    certificate, nodes = audit.claim.certificate, audit.claim.nodes
    depth = max(walk.depth.values())
    leaves = walk.leaves(nodes)
    n_splits = len(walk.rows) - len(leaves)
    audit.compare("depth of the tree", certificate.depth, depth)
    audit.compare("number of splits", certificate.n_splits, n_splits)
    if certificate.max_depth is not None and depth > certificate.max_depth:
        audit.differ(f"depth {depth} is above the limit max_depth={certificate.max_depth}")
    if certificate.max_splits is not None and n_splits > certificate.max_splits:
        audit.differ(f"{n_splits} splits are above the limit max_splits={certificate.max_splits}")
    for leaf in leaves:
        # A tree without splits is allowed on any data, and so is an outcome without rows.
        if 0 < len(walk.rows[leaf]) < certificate.min_samples_leaf and n_splits:
            audit.differ(
                f"leaf {leaf} has {len(walk.rows[leaf])} rows, fewer than "
                f"min_samples_leaf={certificate.min_samples_leaf}"
            )
    audit.done("limits on depth, splits and rows per leaf")


def _check_cost(audit: Audit, data: Data, walk: Walk) -> Fraction:
    certificate, nodes = audit.claim.certificate, audit.claim.nodes
    leaves = walk.leaves(nodes)
    errors = sum(
        data.weights[row]
        for leaf in leaves
        for row in walk.rows[leaf]
        if data.classes[row] != nodes[leaf]["label"]
    )
    n_splits = len(walk.rows) - len(leaves)
    n_leaves = sum(1 for leaf in leaves if walk.rows[leaf])
    n_paid = n_leaves if certificate.complexity_per == "leaf" else n_splits
    cost = Fraction(errors + n_paid * certificate.split_penalty)
    audit.compare("weighted errors", certificate.leaf_cost, errors)
    audit.compare("cost", certificate.cost, cost)
    audit.compare("objective", certificate.objective, float(1 - cost / data.total()))
    audit.done("errors, cost and objective, in exact arithmetic")
    return cost


def _check_bounds(audit: Audit) -> None:
    """See that bound, gap and status tell one story."""
    certificate = audit.claim.certificate
    audit.compare("upper bound", certificate.upper_bound, certificate.cost)
    if certificate.lower_bound > certificate.upper_bound:
        audit.differ(
            f"lower bound {text(certificate.lower_bound)} is above the cost "
            f"{text(certificate.upper_bound)}"
        )
    audit.compare("gap", certificate.gap, certificate.upper_bound - certificate.lower_bound)
    accepted = decimal(audit.claim.parameters["gap"])
    if certificate.status not in STATUSES:
        audit.differ(f"status {certificate.status!r} is unknown")
    if certificate.status == "infeasible":
        audit.differ("status is 'infeasible', but there is a tree")
    if certificate.status == "optimal" and certificate.gap != 0:
        audit.differ(f"status is 'optimal', but the gap is {text(certificate.gap)}")
    if certificate.status == "gap" and certificate.gap == 0:
        audit.differ("status is 'gap', but the gap is 0, which is 'optimal'")
    if certificate.status == "gap" and certificate.gap > accepted:
        audit.differ(f"status is 'gap', but {text(certificate.gap)} is above gap={accepted}")
    for _, _, upper, lower in certificate.history:
        if lower > certificate.cost or upper < certificate.lower_bound:
            audit.differ(
                f"history: bounds {text(lower)} to {text(upper)} exclude the certified cost"
            )
            break
    audit.done("bound, gap, status and history agree")


def _check_predictions(audit: Audit, model: Any, X: Any, walk: Walk) -> None:
    predicted = model.predict(X).tolist()
    for leaf in walk.leaves(audit.claim.nodes):
        label = audit.claim.classes[audit.claim.nodes[leaf]["label"]]
        for row in walk.rows[leaf]:
            if predicted[row] != label:
                audit.differ(
                    f"prediction for row {row}: the model says {predicted[row]!r}, its tree "
                    f"{label!r}"
                )
                return
    audit.done("the model predicts what its tree says")


def _check_optimum(audit: Audit, data: Data) -> None:
    """Prove the optimum again by brute force, over all the tests that the encoder made."""
    certificate = audit.claim.certificate
    is_multiway = any(test["kind"] == "multiway" for test in audit.claim.tests)
    best = (best_multiway_cost if is_multiway else best_cost)(ask(audit, data))
    if not certificate.lower_bound <= best <= certificate.cost:
        audit.differ(
            f"optimum: the best tree costs {text(best)}, outside of the certified bounds "
            f"{text(certificate.lower_bound)} to {text(certificate.cost)}"
        )
    audit.done(f"optimum {show(best)}, by trying all trees")
