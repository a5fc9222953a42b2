"""Check a certificate against the data, by code that shares nothing with the search.

Everything is recomputed from what the user holds: the raw table, the labels, the weights and the
parameters of the model. Rows walk down the tree one by one, by the meaning of the tests as
``tree_.to_dict()`` states it; sums are exact fractions. Neither the encoded table nor the scaled
integers of the solve are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np

from ._reprove import Question, best_cost, best_multiway_cost
from .certificate import STATUSES, Certificate, Exact, exact, show
from .exceptions import CertificateError

# Class weights and penalties that do not fit the integers of the search are rounded there, by no
# more than these shares of the largest class weight and of the total weight.
_CLASS_WEIGHT_ROUNDING = Fraction(1, 2**19)
_PENALTY_ROUNDING = Fraction(1, 2**30)


@dataclass(frozen=True)
class VerificationReport:
    """What `verify` has checked. It is true: a check that fails raises instead.

    Attributes
    ----------
    checks : tuple of str
        What was recomputed and found as certified.
    cost : int or Fraction
        The recomputed cost of the tree.
    n_rows : int
        Number of rows that count.
    exhaustive : bool
        Whether optimality was proven again by brute force.
    seconds : float
        Time it took.
    """

    checks: tuple[str, ...]
    cost: Exact
    n_rows: int
    exhaustive: bool
    seconds: float

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        lines = [f"Verified on {self.n_rows} rows in {self.seconds:.3g} s: cost {show(self.cost)}"]
        return "\n".join([*lines, *(f"  ok  {check}" for check in self.checks)])


def verify(
    model: Any, X: Any, y: Any, sample_weight: Any = None, exhaustive: bool = False
) -> VerificationReport:
    """Recompute what a fitted model certifies, and raise if anything differs.

    Checked are: the parameters, rows and weights that the certificate speaks of; the class counts
    and the label of every leaf; the limits on depth, splits and leaf size; the cost, the bound, the
    gap, the status and the objective; and that the model predicts what its tree says.

    Parameters
    ----------
    model : OptimalTreeClassifier
        A fitted model.
    X, y, sample_weight
        The data it was fitted on.
    exhaustive : bool, default=False
        Also prove the bound again by trying all trees, for small problems.

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
    audit = _Audit(_Claim.of(model))
    data = _read_data(audit, X, y, sample_weight)
    walk = _walk(audit, data)
    audit.done("the leaf of every row, by the stated tests")
    _check_parameters(audit)
    _check_weights(audit, data)
    _check_counts(audit, data, walk)
    _check_limits(audit, walk)
    cost = _check_cost(audit, data, walk)
    _check_bounds(audit)
    _check_predictions(audit, model, X, walk)
    audit.raise_if_different()
    if exhaustive:
        _check_optimum(audit, data)
        audit.raise_if_different()
    return VerificationReport(
        tuple(audit.checks), exact(cost), len(data.rows), exhaustive, perf_counter() - start
    )


@dataclass(frozen=True)
class _Claim:
    """What a model says of itself, in plain values."""

    certificate: Certificate
    parameters: Mapping[str, Any]
    tree: Mapping[str, Any]
    tests: Sequence[Mapping[str, Any]]
    classes: list[Any]

    @classmethod
    def of(cls, model: Any) -> _Claim:
        certificate = getattr(model, "certificate_", None)
        if not isinstance(certificate, Certificate):
            raise ValueError(
                f"{type(model).__name__} has no certificate_ to verify; "
                "pass a fitted estimator of certree."
            )
        return cls(
            certificate,
            model.get_params(deep=False),
            model.tree_.to_dict(),
            [test.to_dict() for test in model.encoder_.candidates_],
            model.classes_.tolist(),
        )

    @property
    def nodes(self) -> Sequence[Mapping[str, Any]]:
        return self.tree["nodes"]  # type: ignore[no-any-return]


@dataclass
class _Audit:
    """The claim, what was found to hold, and what was found to differ."""

    claim: _Claim
    checks: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def done(self, check: str) -> None:
        self.checks.append(check)

    def differ(self, what: str) -> None:
        self.differences.append(what)

    def compare(self, what: str, certified: object, recomputed: object) -> None:
        if certified != recomputed:
            self.differ(f"{what}: certified {_text(certified)}, recomputed {_text(recomputed)}")

    def raise_if_different(self) -> None:
        if self.differences:
            raise CertificateError(
                "the certificate does not hold for this model and data:\n"
                + "\n".join(f"  - {difference}" for difference in self.differences)
            )


@dataclass(frozen=True)
class _Data:
    """Columns of raw values, and class and exact weight of the rows that count.

    Weights include those of the classes, and are ints where they are whole: sums are faster.
    """

    columns: Sequence[Sequence[Any]]
    rows: Sequence[int]
    classes: Mapping[int, int]
    weights: Mapping[int, Exact]

    def total(self) -> Fraction:
        return Fraction(sum(self.weights.values()))


@dataclass(frozen=True)
class _Walk:
    """The rows that pass each node, and how deep each node is."""

    rows: Mapping[int, Sequence[int]]
    depth: Mapping[int, int]

    def leaves(self, nodes: Sequence[Mapping[str, Any]]) -> list[int]:
        return [node for node in self.rows if "test" not in nodes[node]]


# ---- reading the user's data -------------------------------------------------------------------


def _read_data(audit: _Audit, X: Any, y: Any, sample_weight: Any) -> _Data:
    claim = audit.claim
    columns = _columns(X)
    labels = _plain_list(y)
    if len(columns) != claim.tree["n_features"]:
        raise CertificateError(
            f"X has {len(columns)} columns, but the tree was fitted on {claim.tree['n_features']}."
        )
    if len(columns[0]) != len(labels):
        raise ValueError(f"X has {len(columns[0])} rows, but y has {len(labels)} labels.")
    weights = _row_weights(sample_weight, len(labels), claim.certificate.weight_quantum)
    rows = [row for row, weight in enumerate(weights) if weight > 0]
    code = {label: position for position, label in enumerate(claim.classes)}
    unknown = {labels[row] for row in rows} - set(code)
    if unknown:
        raise CertificateError(
            f"y has the labels {sorted(map(repr, unknown))}, which the model does not know; "
            f"its classes are {claim.classes}."
        )
    classes = {row: code[labels[row]] for row in rows}
    row_weights = {row: weights[row] for row in rows}
    class_weights = _class_weights(audit, classes, row_weights)
    combined = {row: exact(row_weights[row] * class_weights[classes[row]]) for row in rows}
    return _Data(columns, rows, classes, combined)


def _columns(X: Any) -> list[list[Any]]:
    """Return a raw table as columns of Python values."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, i].tolist() for i in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [series.to_list() for series in X.get_columns()]
    array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"X must be a table of rows and columns, got shape {array.shape}.")
    return [array[:, i].tolist() for i in range(array.shape[1])]


def _plain_list(values: Any) -> list[Any]:
    return list(np.asarray(values).ravel().tolist())


def _row_weights(sample_weight: Any, n_rows: int, quantum: Exact | None) -> list[Fraction]:
    if sample_weight is None:
        return [Fraction(1)] * n_rows
    given = _plain_list(sample_weight)
    if np.ndim(sample_weight) == 0:
        given *= n_rows
    if len(given) != n_rows:
        raise ValueError(f"there are {n_rows} rows, but sample_weight has {len(given)} entries.")
    if quantum is None:
        return [_decimal(weight) for weight in given]
    return [
        max(Fraction(1), Fraction(round(Fraction(weight) / quantum))) * quantum
        if weight > 0
        else Fraction(0)
        for weight in given
    ]


def _decimal(number: Any) -> Fraction:
    """Return the decimal that a number is written as."""
    if isinstance(number, Fraction):
        return number
    return Fraction(number) if isinstance(number, int) else Fraction(str(number))


def _class_weights(
    audit: _Audit, classes: Mapping[int, int], weights: Mapping[int, Fraction]
) -> list[Fraction]:
    """Return the class weights that the parameters ask for, or their certified rounding."""
    claim = audit.claim
    asked = claim.parameters["class_weight"]
    n_classes = len(claim.classes)
    wanted = [Fraction(1)] * n_classes
    if asked is not None and asked != "balanced":
        wanted = [_decimal(asked.get(label, 1)) for label in claim.classes]
    if asked == "balanced" or claim.parameters["objective"] == "balanced_accuracy":
        totals = [Fraction(0)] * n_classes
        for row, klass in classes.items():
            totals[klass] += weights[row]
        if not all(totals):
            raise CertificateError(
                "y lacks some of the classes that the model was fitted on: "
                f"{[c for c, total in zip(claim.classes, totals, strict=True) if not total]}."
            )
        # Every class then has the same total weight, but for the weights asked for.
        wanted = [
            weight * sum(totals) / (n_classes * total)
            for weight, total in zip(wanted, totals, strict=True)
        ]
    certified = claim.certificate.class_weights
    used = wanted if certified is None else [Fraction(weight) for weight in certified]
    slack = max(wanted) * _CLASS_WEIGHT_ROUNDING
    if len(used) != n_classes or any(abs(u - w) > slack for u, w in zip(used, wanted, strict=True)):
        audit.differ(f"class weights: certified {_text(used)}, recomputed {_text(wanted)}")
        return wanted
    if certified is None:
        audit.compare("class weights", [Fraction(1)] * n_classes, wanted)
    return used


# ---- walking down the tree ---------------------------------------------------------------------


def _walk(audit: _Audit, data: _Data) -> _Walk:
    """Send every row from the root to its leaf."""
    nodes, tests = audit.claim.nodes, audit.claim.tree["tests"]
    rows: dict[int, Sequence[int]] = {0: data.rows}
    depth = {0: 0}
    stack = [0]
    while stack:
        node = stack.pop()
        if "test" not in nodes[node]:
            continue
        test = tests[nodes[node]["test"]]
        column = data.columns[test["feature"]]
        parts: list[list[int]] = [[] for _ in nodes[node]["children"]]
        for row in rows[node]:
            parts[_outcome(test, column[row])].append(row)
        for child, part in zip(nodes[node]["children"], parts, strict=True):
            if child in depth:
                raise CertificateError(f"node {child} of the tree is reached twice.")
            rows[child], depth[child] = part, depth[node] + 1
            stack.append(child)
    if len(rows) != len(nodes):
        audit.differ(f"tree: {len(nodes)} nodes, of which only {len(rows)} can be reached")
    return _Walk(rows, depth)


def _outcome(test: Mapping[str, Any], value: Any) -> int:
    """Return 0 if the test holds for a raw value, 1 if not; the outcome of a multiway test."""
    kind = test["kind"]
    if kind == "multiway":
        return _multiway_outcome(test, value)
    if _is_missing(value):
        return 0 if kind == "missing" else 1
    if kind == "missing":
        holds = False
    elif kind == "threshold":
        holds = float(value) <= test["threshold"]
    elif kind == "flag":
        holds = float(value) > 0.5
    elif kind == "category":
        holds = _same_category(value, test["value"])
    else:
        raise CertificateError(f"the tree asks a test of unknown kind {kind!r}.")
    return 0 if holds else 1


def _multiway_outcome(test: Mapping[str, Any], value: Any) -> int:
    for number, group in enumerate(test["categories"]):
        for category in group:
            if category is None or _is_missing(value):
                same = category is None and _is_missing(value)
            else:
                same = _same_category(value, category)
            if same:
                return number
    return int(test["default"])


def _is_missing(value: Any) -> bool:
    # pandas' NA compares to neither true nor false, and pandas need not be installed.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _same_category(value: Any, category: Any) -> bool:
    if isinstance(category, str):
        text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
        return str(text) == category
    return float(value) == float(category)


# ---- the checks --------------------------------------------------------------------------------


def _check_parameters(audit: _Audit) -> None:
    certificate, parameters = audit.claim.certificate, audit.claim.parameters
    for name in ("max_depth", "max_splits", "min_samples_leaf", "complexity_per"):
        audit.compare(name, getattr(certificate, name), parameters[name])
    audit.compare("task", certificate.task, parameters["objective"])
    audit.compare("complexity", certificate.complexity, _decimal(parameters["complexity"]))
    audit.compare("number of tests", certificate.n_tests, len(audit.claim.tests))
    audit.done("the parameters that the certificate speaks of")


def _check_weights(audit: _Audit, data: _Data) -> None:
    certificate = audit.claim.certificate
    total = data.total()
    audit.compare("number of rows", certificate.n_rows, len(data.rows))
    audit.compare("total weight", certificate.total_weight, total)
    penalty = _decimal(audit.claim.parameters["complexity"]) * total
    if abs(certificate.split_penalty - penalty) > total * _PENALTY_ROUNDING:
        audit.compare(
            f"penalty per {certificate.complexity_per}", certificate.split_penalty, penalty
        )
    audit.done("rows, weights and penalty")


def _check_counts(audit: _Audit, data: _Data, walk: _Walk) -> None:
    """Compare the class counts of all nodes, and see that no other label suits a leaf better."""
    classes = audit.claim.classes
    for node, rows in sorted(walk.rows.items()):
        claimed = audit.claim.nodes[node]
        counts: list[Exact] = [0] * len(classes)
        for row in rows:
            counts[data.classes[row]] += data.weights[row]
        if [float(count) for count in counts] != [float(count) for count in claimed["counts"]]:
            audit.compare(f"class counts of node {node}", claimed["counts"], counts)
        if "test" not in claimed and counts[claimed["label"]] < max(counts):
            best = classes[counts.index(max(counts))]
            audit.differ(
                f"label of leaf {node}: {classes[claimed['label']]!r}, but {best!r} has more weight"
            )
    audit.done("class counts of all nodes, labels of all leaves")


def _check_limits(audit: _Audit, walk: _Walk) -> None:
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


def _check_cost(audit: _Audit, data: _Data, walk: _Walk) -> Fraction:
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


def _check_bounds(audit: _Audit) -> None:
    """See that bound, gap and status tell one story."""
    certificate = audit.claim.certificate
    audit.compare("upper bound", certificate.upper_bound, certificate.cost)
    if certificate.lower_bound > certificate.upper_bound:
        audit.differ(
            f"lower bound {_text(certificate.lower_bound)} is above the cost "
            f"{_text(certificate.upper_bound)}"
        )
    audit.compare("gap", certificate.gap, certificate.upper_bound - certificate.lower_bound)
    accepted = _decimal(audit.claim.parameters["gap"])
    if certificate.status not in STATUSES:
        audit.differ(f"status {certificate.status!r} is unknown")
    if certificate.status == "optimal" and certificate.gap != 0:
        audit.differ(f"status is 'optimal', but the gap is {_text(certificate.gap)}")
    if certificate.status == "gap" and certificate.gap > accepted:
        audit.differ(f"status is 'gap', but {_text(certificate.gap)} is above gap={accepted}")
    for _, _, upper, lower in certificate.history:
        if lower > certificate.cost or upper < certificate.lower_bound:
            audit.differ(
                f"history: bounds {_text(lower)} to {_text(upper)} exclude the certified cost"
            )
            break
    audit.done("bound, gap, status and history agree")


def _check_predictions(audit: _Audit, model: Any, X: Any, walk: _Walk) -> None:
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


def _check_optimum(audit: _Audit, data: _Data) -> None:
    """Prove the optimum again by brute force, over all the tests that the encoder made."""
    certificate = audit.claim.certificate
    tests = []
    for test in audit.claim.tests:
        column = data.columns[test["feature"]]
        parts: dict[int, int] = {}
        for i, row in enumerate(data.rows):
            outcome = _outcome(test, column[row])
            parts[outcome] = parts.get(outcome, 0) | 1 << i
        tests.append(tuple(parts.values()))
    is_multiway = any(test["kind"] == "multiway" for test in audit.claim.tests)
    penalty = Fraction(certificate.split_penalty)
    best = (best_multiway_cost if is_multiway else best_cost)(
        Question(
            tests,
            [data.classes[row] for row in data.rows],
            [Fraction(data.weights[row]) for row in data.rows],
            len(audit.claim.classes),
            penalty,
            certificate.max_depth,
            certificate.max_splits,
            certificate.min_samples_leaf,
            certificate.complexity_per == "leaf",
        )
    )
    if not certificate.lower_bound <= best <= certificate.cost:
        audit.differ(
            f"optimum: the best tree costs {_text(best)}, outside of the certified bounds "
            f"{_text(certificate.lower_bound)} to {_text(certificate.cost)}"
        )
    audit.done(f"optimum {show(best)}, by trying all trees")


def _text(value: object) -> str:
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return show(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    return repr(value)
