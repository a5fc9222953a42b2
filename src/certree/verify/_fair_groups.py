"""The groups of fair trees, the rates that are compared between them, and what may be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._audit import Audit, Data, GivenRows
from ._candidates import Test, outcome_of
from ._plain_numbers import Exact, exact, read, read_list
from ._raw_frames import plain_columns

# The rates that each constraint compares: name, rows that count, and whether errors are counted.
_COMPARED = {
    "demographic_parity": (("selection_rate", "all"),),
    "equal_opportunity": (("true_positive_rate", "positives"),),
    "predictive_equality": (("false_positive_rate", "negatives"),),
    "equalized_odds": (("true_positive_rate", "positives"), ("false_positive_rate", "negatives")),
    "accuracy_parity": (("error_rate", "all"),),
}

Groups = Mapping[int, Any]
"""The group of every row that counts."""


@dataclass(frozen=True)
class Compared:
    """The rows of a rate, by group, and the labels with which they count.

    Attributes
    ----------
    name : str
        Name of the rate.
    tolerance : int or Fraction
        Largest difference between two groups.
    totals : dict
        Weight of the rows that count in each group.
    adds : dict
        For a row that counts: its group, its weight, and the places of the labels with which it
        has the property.
    """

    name: str
    tolerance: Exact
    totals: Mapping[Any, Fraction]
    adds: Mapping[int, tuple[Any, Fraction, frozenset[int]]]

    def rates(self, labels: Mapping[int, int]) -> dict[Any, Exact]:
        """Return the rate of every group, if rows are given these labels."""
        sums = dict.fromkeys(self.totals, Fraction(0))
        for row, (group, weight, counted) in self.adds.items():
            if labels[row] in counted:
                sums[group] += weight
        return {group: exact(sums[group] / total) for group, total in self.totals.items()}


def tolerances_of(asked: str | tuple[str, ...], given: Any) -> Any:
    """Return the tolerance of a constraint, or of each."""
    if isinstance(asked, str) and not isinstance(given, Mapping | list | tuple):
        return read(given, "tolerance")
    names = (asked,) if isinstance(asked, str) else asked
    if isinstance(given, Mapping):
        each = [given[name] for name in names]
    else:
        each = list(given) if isinstance(given, list | tuple) else [given] * len(names)
    found = tuple(read(one, "tolerance") for one in each)
    return found[0] if isinstance(asked, str) else found


def _allowed(certificate: Any) -> dict[tuple[str, str], Exact]:
    """Return the rates that the constraints compare, with the least tolerance of each."""
    names, most = certificate.constraint, certificate.tolerance
    if isinstance(names, str):
        names, most = (names,), (most,)
    if names is None or any(name not in _COMPARED for name in names):
        raise CertificateError(f"the constraint {certificate.constraint!r} is unknown.")
    if not isinstance(most, tuple) or len(most) != len(names):
        raise CertificateError("the certificate does not state a tolerance for each constraint.")
    allowed: dict[tuple[str, str], Exact] = {}
    for name, tolerance in zip(names, most, strict=True):
        for rate in _COMPARED[name]:
            allowed[rate] = min(tolerance, allowed.get(rate, tolerance))
    return allowed


def read_groups(parameters: Mapping[str, Any], data: Data, given: GivenRows) -> Groups | None:
    """Return the group of every row that counts; None if there are no groups."""
    named = parameters["sensitive_columns"]
    if given.sensitive_features is not None:
        columns = _sensitive_columns(given.sensitive_features)
    elif named is not None:
        wanted = list(named) if isinstance(named, list | tuple | np.ndarray) else [named]
        names = list(data.table.names or ())
        places = [names.index(w) if isinstance(w, str) else int(w) for w in wanted]
        columns = [list(data.table.columns[place].values) for place in places]
    else:
        return None
    for column in columns:
        if len(column) != data.n_rows:
            raise ValueError(f"X has {data.n_rows} rows, but sensitive_features has {len(column)}.")
    if len(columns) == 1:
        return {row: _whole(columns[0][row]) for row in data.rows}
    return {row: tuple(_whole(column[row]) for column in columns) for row in data.rows}


def _sensitive_columns(sensitive: Any) -> list[list[Any]]:
    columns = plain_columns(sensitive)
    if columns is not None:
        return columns
    array = sensitive if isinstance(sensitive, np.ndarray) else np.array(sensitive, dtype=object)
    if array.ndim == 2:
        return [array[:, i].tolist() for i in range(array.shape[1])]
    return [array.tolist()]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_hidden(audit: Audit, data: Data, groups: Groups, test: Test) -> bool:
    """Return whether a test only states the group, and must not be asked."""
    if audit.parameters["use_sensitive"]:
        return False
    column = data.column(test)
    seen = {(groups[row], outcome_of(test, column[row])) for row in data.rows}
    is_decided = len(seen) == len({group for group, _ in seen})
    return is_decided and len({outcome for _, outcome in seen}) > 1


def rates_to_compare(
    audit: Audit, data: Data, groups: Groups, given: GivenRows, labels: Sequence[Any]
) -> list[Compared]:
    """Return the rates that the constraint compares, with the rows that count for them."""
    certificate = audit.certificate
    allowed = _allowed(certificate)
    different_groups = set(groups.values())
    if len(certificate.groups) != len(different_groups) or set(certificate.groups) != (
        different_groups
    ):
        raise CertificateError(
            f"groups: certified {list(certificate.groups)}, but the rows have "
            f"{sorted(map(repr, different_groups))}; the certificate does not know the group."
        )
    # Rates are of the weights as given, also where costs are of rounded ones.
    weights = [Fraction(1)] * data.n_rows
    if given.sample_weight is not None:
        weights = read_list(given.sample_weight, data.n_rows, "sample_weight")
    wanted = audit.parameters["pos_label"]
    if wanted is not None and wanted not in labels:
        raise CertificateError(f"pos_label={wanted!r} is not among the classes {list(labels)}.")
    positive = len(labels) - 1 if wanted is None else labels.index(wanted)
    everything = frozenset(range(len(labels)))
    result = []
    for (name, among), tolerance in allowed.items():
        totals = dict.fromkeys(certificate.groups, Fraction(0))
        adds = {}
        for row in data.rows:
            is_positive = data.classes[row] == positive
            if among != "all" and is_positive != (among == "positives"):
                continue
            totals[groups[row]] += weights[row]
            counted = frozenset({positive})
            if name == "error_rate":
                counted = everything - {data.classes[row]}
            adds[row] = (groups[row], weights[row], counted)
        if not all(totals.values()):
            raise CertificateError(f"a group has no rows that count for the {name}: {totals}.")
        result.append(Compared(name, tolerance, totals, adds))
    return result
