"""What a verification works with: the claim, the user's data as plain values, and the rows' ways.

Nothing here is shared with the search: raw values are compared by what the tests say, and weights
are exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .certificate import Certificate, Exact, exact, show
from .exceptions import CertificateError

# Weights that have to be rounded are read as float64 first, which changes them, and the balanced
# weights of classes that follow from their totals, by less than this share.
_ROUNDING_OF_FLOATS = Fraction(1, 2**45)

# A tree is not called optimal if what an error in a row costs is rounded by more than this share.
_NEGLIGIBLE = Fraction(1, 2**20)


@dataclass(frozen=True)
class Claim:
    """What a model says of itself, in plain values."""

    certificate: Certificate
    parameters: Mapping[str, Any]
    tree: Mapping[str, Any]
    tests: Sequence[Mapping[str, Any]]
    classes: list[Any]

    @classmethod
    def of(cls, model: Any) -> Claim:
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
class Audit:
    """The claim, what was found to hold, and what was found to differ."""

    claim: Claim
    checks: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def done(self, check: str) -> None:
        self.checks.append(check)

    def differ(self, what: str) -> None:
        self.differences.append(what)

    def compare(self, what: str, certified: object, recomputed: object) -> None:
        if certified != recomputed:
            self.differ(f"{what}: certified {text(certified)}, recomputed {text(recomputed)}")

    def raise_if_different(self) -> None:
        if self.differences:
            raise CertificateError(
                "the certificate does not hold for this model and data:\n"
                + "\n".join(f"  - {difference}" for difference in self.differences)
            )


@dataclass(frozen=True)
class Data:
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
class Walk:
    """The rows that pass each node, and how deep each node is."""

    rows: Mapping[int, Sequence[int]]
    depth: Mapping[int, int]

    def leaves(self, nodes: Sequence[Mapping[str, Any]]) -> list[int]:
        return [node for node in self.rows if "test" not in nodes[node]]


# ---- reading the user's data -------------------------------------------------------------------


def read_data(audit: Audit, X: Any, y: Any, sample_weight: Any) -> Data:
    claim = audit.claim
    columns = _columns(X)
    labels = _plain_list(y)
    if len(columns) != claim.tree["n_features"]:
        raise CertificateError(
            f"X has {len(columns)} columns, but the tree was fitted on {claim.tree['n_features']}."
        )
    if len(columns[0]) != len(labels):
        raise ValueError(f"X has {len(columns[0])} rows, but y has {len(labels)} labels.")
    weights = _row_weights(sample_weight, len(labels), None)
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
    quantum = claim.certificate.weight_quantum
    if quantum is None:
        combined = {row: exact(row_weights[row] * class_weights[classes[row]]) for row in rows}
    else:
        floats = _plain_floats(sample_weight, len(labels))
        combined = {
            row: exact(_rounded(floats[row] * class_weights[classes[row]], quantum)) for row in rows
        }
    given = {row: row_weights[row] * class_weights[classes[row]] for row in rows}
    _check_rounding(audit, given, combined)
    return Data(columns, rows, classes, combined)


def _rounded(weight: Fraction, quantum: Exact) -> Fraction:
    """Return the nearest multiple of a unit, at least one of it if there is any weight."""
    return max(Fraction(round(weight / quantum)), Fraction(1)) * quantum if weight else Fraction(0)


def _check_rounding(audit: Audit, given: Mapping[int, Exact], used: Mapping[int, Exact]) -> None:
    """Compare what rounding changed with what is stated, and see that it is no more than it may."""
    certificate = audit.claim.certificate
    change = sum((abs(Fraction(used[row]) - given[row]) for row in given), Fraction(0))
    if certificate.weight_quantum is None:
        audit.compare("rounding of weights", certificate.rounding, 0)
        return
    most = change * Fraction(101, 100) + sum(given.values()) * _ROUNDING_OF_FLOATS
    if not change <= certificate.rounding <= most:
        audit.compare("rounding of weights", certificate.rounding, change)
    lost = any(abs(Fraction(used[row]) - w) > w * _NEGLIGIBLE for row, w in given.items())
    if lost and certificate.counts_errors and certificate.status == "optimal" and certificate.cost:
        audit.differ("status is 'optimal', but weights are rounded by more than is negligible")


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
    given = _weight_list(sample_weight, n_rows)
    if len(given) != n_rows:
        raise ValueError(f"there are {n_rows} rows, but sample_weight has {len(given)} entries.")
    if quantum is None:
        return [decimal(weight) for weight in given]
    return [
        _rounded(Fraction(float(weight)), quantum) if weight > 0 else Fraction(0)
        for weight in given
    ]


def _weight_list(sample_weight: Any, n_rows: int) -> list[Any]:
    """Return weights as they are; NumPy would make floats of large integers in a list."""
    if sample_weight is None or np.ndim(sample_weight) == 0:
        return [1 if sample_weight is None else _plain_list(sample_weight)[0]] * n_rows
    return _plain_list(np.asarray(sample_weight, dtype=object))


def _plain_floats(sample_weight: Any, n_rows: int) -> list[Fraction]:
    """Return weights as the binary fractions that float64 holds: those are what is rounded."""
    given = _weight_list(sample_weight, n_rows)
    # What is below all floats counts as the smallest of them.
    return [Fraction(float(weight) or (5e-324 if weight else 0.0)) for weight in given]


def direct_name(objective: Any) -> str | None:
    """Return the name of an objective that counts weighted errors, None of any other."""
    name = objective.lower() if isinstance(objective, str) else None
    return name if name in ("accuracy", "balanced_accuracy") else None


def decimal(number: Any) -> Fraction:
    """Return the decimal that a number is written as."""
    if isinstance(number, Fraction):
        return number
    return Fraction(number) if isinstance(number, int | Decimal) else Fraction(str(number))


def _class_weights(
    audit: Audit, classes: Mapping[int, int], weights: Mapping[int, Fraction]
) -> list[Fraction]:
    """Return the class weights that the parameters ask for, or their certified rounding."""
    claim = audit.claim
    asked = claim.parameters["class_weight"]
    n_classes = len(claim.classes)
    wanted = [Fraction(1)] * n_classes
    if asked is not None and asked != "balanced":
        wanted = [decimal(asked.get(label, 1)) for label in claim.classes]
    if asked == "balanced" or direct_name(claim.parameters["objective"]) == "balanced_accuracy":
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
    share = 0 if claim.certificate.weight_quantum is None else _ROUNDING_OF_FLOATS
    if len(used) != n_classes or any(
        abs(u - w) > w * share for u, w in zip(used, wanted, strict=True)
    ):
        audit.differ(f"class weights: certified {text(used)}, recomputed {text(wanted)}")
        return wanted
    if certified is None and not share:
        audit.compare("class weights", [Fraction(1)] * n_classes, wanted)
    return used


# ---- walking down the tree ---------------------------------------------------------------------


def walk_down(audit: Audit, data: Data) -> Walk:
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
            parts[outcome_of(test, column[row])].append(row)
        for child, part in zip(nodes[node]["children"], parts, strict=True):
            if child in depth:
                raise CertificateError(f"node {child} of the tree is reached twice.")
            rows[child], depth[child] = part, depth[node] + 1
            stack.append(child)
    if len(rows) != len(nodes):
        audit.differ(f"tree: {len(nodes)} nodes, of which only {len(rows)} can be reached")
    return Walk(rows, depth)


def outcome_of(test: Mapping[str, Any], value: Any) -> int:
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


def text(value: object) -> str:
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return show(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "[" + ", ".join(text(item) for item in value) + "]"
    return repr(value)
