"""`verify`, and the registry that says who checks what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any

from ._audit import Given, Result
from ._curve import check_curve
from ._errors import check_classifier, check_pareto_front
from ._fair_audit import check_fair
from ._fields import CHECKED, check_types
from ._gap import check_gap
from ._limits_audit import check_limited, check_task_front
from ._plain_numbers import Exact, show
from ._separable_audit import check_separable
from ._spo_audit import check_spo
from ._task_audit import check_task


def _check_task(model: Any, given: Given) -> Result:
    """Check a tree of a task: of one that decides, by its oracle."""
    return (check_spo if hasattr(model, "oracle_") else check_task)(model, given)


CHECKERS: Mapping[str, Callable[[Any, Given], Result]] = {
    "Certificate": check_classifier,
    "TaskCertificate": _check_task,
    "LimitedCertificate": check_limited,
    "NoTreeCertificate": check_limited,
    "FairnessCertificate": check_fair,
    "FrontCertificate": check_pareto_front,
    "TaskFrontCertificate": check_task_front,
    "SeparableCertificate": check_separable,
    "FairnessCurve": check_curve,
    "OptimalityGap": check_gap,
}
"""Who checks models, solutions, fronts and curves: by the class of their certificate or their own.
"""


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        cost = "no tree" if self.cost is None else f"cost {show(self.cost)}"
        return f"<VerificationReport: {len(self.checks)} checks, {cost}, {self.n_rows} rows>"

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

    Nothing of the model is trusted. Recomputed from the raw table, the labels, the weights and the
    parameters are: the candidates that trees may ask, and that the tree asks nothing else; the leaf
    of every row; counts, labels, costs, totals, rates and metrics, in exact arithmetic; what
    rounding may hide; the limits; and that bounds, gap and status tell one story. The guide lists
    every field of every certificate.

    Parameters
    ----------
    model : estimator, ParetoFront, FairnessCurve, OptimalityGap or any solution of :func:`solve`
        Anything that has a certificate: trees within limits, proofs that there is none, and fronts
        of two tasks as well.
    X, y, sample_weight
        The data it was fitted on; for a :class:`PolicyTree`, y is its ``rewards_``, for an
        :class:`SPOTree` the cost vectors.
    exhaustive : bool, default=False
        Also prove the bound again by trying all trees, for small problems. Only this finds out that
        a lower bound is too high, or that a point of a front or a tree of a path or a curve is
        missing.
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
    given = Given(X, y, sample_weight, exhaustive, costs, task, sensitive_features)
    # A cross-validated model is the one that it was refitted to.
    model = getattr(model, "best_estimator_", model)
    result = _checker(model)(model, given)
    n_rows, cost = result.n_rows, result.cost
    if isinstance(cost, Fraction) and cost.denominator == 1:
        cost = cost.numerator
    return VerificationReport(
        tuple(result.audit.checks), cost, n_rows, exhaustive, perf_counter() - start
    )


def _checker(model: Any) -> Callable[[Any, Given], Result]:
    """Return who checks a model, and see that its certificate is of the types that it has."""
    if type(model).__name__.endswith("Certificate"):
        raise ValueError(
            f"A {type(model).__name__} alone does not hold the tree that it is about; pass the "
            "model, solution, front or curve that has it."
        )
    for certificate in (model, getattr(model, "certificate", None), _fitted(model)):
        name = type(certificate).__name__
        if name in CHECKERS:
            if name in CHECKED:
                check_types(certificate)
            return CHECKERS[name]
    raise ValueError(
        f"{type(model).__name__} has no certificate_ to verify; pass a fitted estimator, front, "
        "curve, gap or solution of certree. A path is verified with the model that has it."
    )


def _fitted(model: Any) -> Any:
    return getattr(model, "certificate_", None)
