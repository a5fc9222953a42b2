"""`verify`, and the registry of the checkers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from time import perf_counter
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._attributes import stated_list
from ._audit import Checked, GivenRows
from ._cells import cells_of_reduced, check_cells, check_has_leaves
from ._curve import check_curve
from ._errors import check_classifier, check_pareto_front
from ._fair_audit import check_fair
from ._fields import CERTIFICATES, check_types
from ._gap import check_gap
from ._limits_audit import check_limited, check_task_front
from ._plain_numbers import Exact, show
from ._queried_cells import cells_of_table, is_in_engine
from ._separable_audit import check_separable
from ._spo_audit import check_spo
from ._stated_parameters import check_parameters
from ._task_audit import check_task


def _check_task(model: Any, given: GivenRows) -> Checked:
    """Check a tree of a task; a tree that decides is checked with its oracle."""
    return (check_spo if hasattr(model, "oracle_") else check_task)(model, given)


CHECKERS: Mapping[str, Callable[[Any, GivenRows], Checked]] = {
    "Certificate": check_classifier,
    "TaskCertificate": _check_task,
    "LimitedCertificate": check_limited,
    "FairnessCertificate": check_fair,
    "FrontCertificate": check_pareto_front,
    "TaskFrontCertificate": check_task_front,
    "SeparableCertificate": check_separable,
    "FairnessCurve": check_curve,
    "OptimalityGap": check_gap,
}
"""The checkers of models, solutions, fronts and curves, by the class of certificate or result."""


# As the other results look in notebooks, which are drawn by code that checkers do not know.
_STYLE = (
    "font:14px/1.45 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:inherit;"
    "max-width:60em;text-align:left"
)


@dataclass(frozen=True, repr=False)
class VerificationReport:
    """What `verify` has checked. Its truth value is True, since a check that fails raises.

    Attributes
    ----------
    checks : tuple of str
        What was recomputed and agrees with the certificate.
    cost : int or Fraction or None
        The recomputed cost of the tree, or of the first of several trees; None without a tree.
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
        return f"<VerificationReport: {len(self.checks)} checks, {self._cost}, {self.n_rows} rows>"

    def __str__(self) -> str:
        return "\n".join([self._title, *(f"  ok  {check}" for check in self.checks)])

    def _repr_html_(self) -> str:
        checks = "".join(
            f"<li style=\"list-style:'\u2713\\00a0\\00a0'\">{escape(check)}</li>"
            for check in self.checks
        )
        return (
            f'<div style="{_STYLE}"><p style="margin:.35em 0;font-weight:600">{self._title}</p>'
            f'<ul style="margin:.35em 0;padding-left:1.6em">{checks}</ul></div>'
        )

    @property
    def _title(self) -> str:
        return f"Verified on {self.n_rows} rows in {self.seconds:.3g} s: {self._cost}"

    @property
    def _cost(self) -> str:
        return "no tree" if self.cost is None else f"cost {show(self.cost)}"


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

    Nothing of the model is trusted. From the raw table, the labels, the weights and the parameters,
    `verify` recomputes the candidates, and checks that the tree asks only these; the leaf of every
    row; counts, labels, costs, totals, rates and metrics, in exact arithmetic; the allowed
    rounding; the limits; and that bounds, gap and status agree. The guide lists every field of
    every certificate.

    Parameters
    ----------
    model : estimator, ParetoFront, FairnessCurve, OptimalityGap or any solution of :func:`solve`
        Anything that has a certificate, also trees within limits, proofs that no tree keeps them,
        and fronts of two tasks.
    X, y, sample_weight
        The data it was fitted on; for a :class:`PolicyTree`, y is its ``rewards_``, for an
        :class:`SPOTree` the cost vectors. X may be what :func:`reduce` returned, without y. It may
        also be an ibis table, a DuckDB relation or a path; the others are then names of columns,
        and one query of the engine adds up the rows of every leaf.
    exhaustive : bool, default=False
        Also prove the bound again by trying all trees, for small problems. Only this detects a
        lower bound that is too high, or a missing point of a front or tree of a path or curve.
    costs : array-like of shape (n_rows, n_classes), optional
        The costs that a :class:`CostSensitiveTreeClassifier` was fitted with, if any.
    task : tasks.Task, optional
        For a :class:`Solution` that was pickled: the task that was solved, if it has functions
        that a pickle cannot keep.
    sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns), optional
        The groups that a :class:`FairTreeClassifier` was fitted with, if any.

    Returns
    -------
    VerificationReport
        What was checked.

    Raises
    ------
    CertificateError
        If something differs; the message lists all differences.
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
    # A cross-validated model is checked as its final model.
    if hasattr(model, "best_estimator_"):
        model = _best_of(model)
    if hasattr(model, "get_params"):
        check_parameters(model)
    y = _one_column(model, y)
    given = GivenRows(X, y, sample_weight, exhaustive, costs, task, sensitive_features)
    try:
        result = _check(model, given)
    except (ArithmeticError, AttributeError, LookupError) as error:
        # Data are read, and found to be well-formed, before anything of the model is used.
        raise CertificateError(
            f"the model or its certificate is malformed: {type(error).__name__}: {error}"
        ) from error
    n_rows, cost = result.n_rows, result.cost
    _check_row_groups(model, n_rows)
    if isinstance(cost, Fraction) and cost.denominator == 1:
        cost = cost.numerator
    return VerificationReport(
        tuple(result.audit.checks), cost, n_rows, exhaustive, perf_counter() - start
    )


def _check_row_groups(model: Any, n_rows: int) -> None:
    """Raise if more rows are said to differ than there are: that number stands beside theirs."""
    for certificate in (getattr(model, "certificate", None), _fitted(model)):
        groups = getattr(certificate, "n_row_groups", None)
        if groups is not None and not (isinstance(groups, int) and 0 <= groups <= n_rows):
            raise CertificateError(f"{groups!r} different rows are stated among {n_rows}.")


def _check(model: Any, given: GivenRows) -> Checked:
    """Check a model by its rows, or by sums over them."""
    X, y = given.X, given.y
    if type(X).__name__ == "Reduced" or is_in_engine(X):
        return _check_sums(model, given)
    for name, value in (("y", y), ("sample_weight", given.sample_weight)):
        if isinstance(value, str):
            raise TypeError(
                f"{name}={value!r} names a column, which a table in an engine needs; pass the "
                "values for one in memory, or duckdb.from_df(X) in its place."
            )
    _check_given(model, y, given.costs)
    return _checker(model)(model, given)


def _best_of(search: Any) -> Any:
    """Return the final model of a search; raise if it has other parameters than are stated."""
    model, chosen = search.best_estimator_, getattr(search, "best_params_", {})
    known = model.get_params()
    wrong = [name for name, value in chosen.items() if name in known and known[name] != value]
    if wrong:
        raise CertificateError(
            f"best_params_ has {wrong[0]}={chosen[wrong[0]]!r}, but the final model was fitted "
            f"with {known[wrong[0]]!r}."
        )
    return model


def _check_given(model: Any, y: Any, costs: Any) -> None:
    """Raise if y is left out, or has another number of columns than the model has outputs."""
    is_solution = hasattr(model, "task") or not hasattr(model, "get_params")
    if y is None and costs is None and not is_solution and _takes_target(model):
        raise ValueError(
            f"verify recomputes every number from the rows, so it needs the y that this "
            f"{type(model).__name__} was fitted with; call verify(model, X, y)."
        )
    wanted, shape = _n_outputs(model), np.shape(y)
    n_columns = shape[1] if len(shape) > 1 else 1
    if wanted is not None and y is not None and n_columns != wanted:
        raise ValueError(f"y must have {wanted} columns, as in fit, got shape {shape}.")


def _n_outputs(model: Any) -> int | None:
    """Return the number of outputs of a model; None if it cannot have several."""
    wanted = getattr(model, "n_outputs_", None)
    tree = getattr(model, "tree_", None)
    if wanted is None or tree is None:
        return None
    shape = np.shape(getattr(tree.payload, "values", ()))
    n_held = shape[1] if len(shape) > 1 else 1
    if wanted != n_held:
        raise CertificateError(f"n_outputs_ is {wanted!r}, but leaves hold {n_held} outputs.")
    return n_held


def _one_column(model: Any, y: Any) -> Any:
    """Return a y of one column as one of no columns, as fit reads it, but for costs and rewards."""
    if hasattr(model, "treatments_") or hasattr(model, "oracle_"):
        return y
    if isinstance(y, list | tuple):
        is_column = y and all(isinstance(one, list | tuple) and len(one) == 1 for one in y)
        return [one[0] for one in y] if is_column else y
    shape = np.shape(y)
    return np.asarray(y)[:, 0] if len(shape) == 2 and shape[1] == 1 else y


def _takes_target(model: Any) -> bool:
    return bool(model.__sklearn_tags__().target_tags.required)


def _check_sums(model: Any, given: GivenRows) -> Checked:
    """Check a model by sums over the rows of its leaves."""
    if given.exhaustive:
        raise ValueError("exhaustive=True needs the rows themselves, in memory.")
    _checker(model)
    _n_outputs(model)
    check_has_leaves(model)
    if type(given.X).__name__ == "Reduced":
        for name in ("y", "sample_weight", "costs", "sensitive_features"):
            if getattr(given, name) is not None:
                raise TypeError(
                    f"A reduced table has its own {name}; call verify(model, reduced) without it, "
                    "or pass the rows in place of the reduced table."
                )
        cells, names = cells_of_reduced(model, given.X), list(given.X.feature_names)
        return check_cells(model, cells, names, given.X.encoder)
    columns = (given.y, given.sample_weight, given.costs, given.sensitive_features)
    cells = cells_of_table(model, given.X, *columns)
    return check_cells(model, cells, stated_list(model, "feature_names_in_"))


def _checker(model: Any) -> Callable[[Any, GivenRows], Checked]:
    """Return the checker of a model, and check the types of the certificate's fields."""
    if type(model).__name__.endswith("Certificate"):
        raise ValueError(
            f"A {type(model).__name__} does not contain its tree; pass the model, solution, front "
            "or curve that has it."
        )
    for certificate in (model, getattr(model, "certificate", None), _fitted(model)):
        name = type(certificate).__name__
        if name in CHECKERS:
            if name in CERTIFICATES:
                check_types(certificate)
            return CHECKERS[name]
    raise ValueError(
        f"{type(model).__name__} has no certificate_ to verify; pass a fitted estimator, front, "
        "curve, gap or solution of certree. A path is verified with the model that has it."
    )


def _fitted(model: Any) -> Any:
    return getattr(model, "certificate_", None)
