"""Check that a certificate is consistent: its parameters, its bounds, its status."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._audit import Audit
from ._fields import is_exact
from ._plain_numbers import read, text


def check_parameters(audit: Audit, task: str, more_rows: int = 0) -> None:
    """Compare the parameters with those that the certificate states.

    Parameters
    ----------
    audit : Audit
        With certificate and parameters.
    task : str
        What the objective is called.
    more_rows : int
        How many rows a leaf needs beyond ``min_samples_leaf``.
    """
    certificate, parameters = audit.certificate, audit.parameters
    audit.compare("task", certificate.task, task)
    # The other fields are then about another problem.
    audit.raise_if_different()
    check_searched(audit, more_rows)
    audit.compare("search", certificate.search, parameters["search"])
    audit.done("the parameters in the certificate")


def check_searched(audit: Audit, more_rows: int = 0) -> None:
    """Compare the limits asked for with those that the certificate states."""
    certificate, parameters = audit.certificate, audit.parameters
    for name in ("max_depth", "complexity_per"):
        audit.compare(name, getattr(certificate, name), parameters[name])
    splits = parameters.get("max_splits")
    leaves = parameters.get("n_clusters", parameters.get("max_leaf_nodes"))
    audit.compare("max_splits", certificate.max_splits, splits if leaves is None else leaves - 1)
    least = parameters["min_samples_leaf"]
    if not isinstance(least, int | np.integer):
        # A share of the rows that count; where weights count as rows, of all weight.
        is_weight = certificate.task == "spo_loss"
        total = certificate.total_weight if is_weight else certificate.n_rows
        least = ceil(read(least, "min_samples_leaf") * total)
    audit.compare("min_samples_leaf", certificate.min_samples_leaf, least + more_rows)
    wanted = read(parameters["complexity"], "complexity")
    audit.compare("complexity", certificate.complexity, wanted)


_OF_TREE = ("objective", "cost", "upper_bound", "gap", "leaf_cost")
"""Fields that are None if there is no tree."""


def has_tree(certificate: Any, tree: Any) -> bool:
    """Return whether there is a tree; raise if model and certificate do not agree on it."""
    is_stated = certificate.cost is not None
    if is_stated != (tree is not None):
        raise CertificateError(
            "the certificate speaks of a tree, but the model has none."
            if is_stated
            else "the certificate says that no tree was found, but the model has one."
        )
    if is_stated and any(getattr(certificate, name) is None for name in (*_OF_TREE, "lower_bound")):
        raise CertificateError("the certificate has a tree, and lacks some of its costs.")
    return is_stated


def check_without_tree(audit: Audit) -> None:
    """Check that a certificate without a tree states nothing of a tree, and says why."""
    certificate = audit.certificate
    for name in _OF_TREE:
        audit.compare(name, getattr(certificate, name), None)
    audit.compare("size of no tree", (certificate.n_splits, certificate.depth), (0, 0))
    audit.compare("price of no tree's tests", getattr(certificate, "test_cost", 0), 0)
    if certificate.status in ("optimal", "gap", "greedy"):
        audit.differ(f"status {certificate.status!r} needs a tree")
    is_infeasible = certificate.status == "infeasible"
    if is_infeasible != (certificate.lower_bound is None):
        audit.differ("lower_bound: there is none if no tree exists, and otherwise there is one")


def check_bounds(audit: Audit) -> None:
    """Check that cost, bounds, gap, status and history agree."""
    certificate = audit.certificate
    audit.compare("upper bound", certificate.upper_bound, certificate.cost)
    if certificate.lower_bound > certificate.upper_bound:
        audit.differ(
            f"lower bound {text(certificate.lower_bound)} is above the cost "
            f"{text(certificate.upper_bound)}"
        )
    audit.compare("gap", certificate.gap, certificate.upper_bound - certificate.lower_bound)
    check_status(audit)
    check_history(audit)
    audit.done("bound, gap, status and history agree")


def check_status(audit: Audit) -> None:
    """Check that the status agrees with the gap."""
    certificate = audit.certificate
    accepted = read(audit.parameters.get("gap", 0), "gap")
    if certificate.status == "infeasible":
        audit.differ("status is 'infeasible', but there is a tree")
    elif certificate.status == "optimal" and certificate.gap != 0:
        audit.differ(f"status is 'optimal', but the gap is {text(certificate.gap)}")
    elif certificate.status not in ("optimal", "precision") and certificate.gap == 0:
        audit.differ(f"status is {certificate.status!r}, but the gap is 0, which is 'optimal'")
    elif certificate.status == "gap" and certificate.gap > accepted:
        audit.differ(f"status is 'gap', but {text(certificate.gap)} is above gap={accepted}")
    elif certificate.status == "precision" and certificate.gap == 0 and not certificate.rounding:
        audit.differ("status is 'precision', but nothing was rounded, and the gap is 0")
    elif certificate.status == "greedy" and audit.parameters.get("method") != "greedy":
        audit.differ("status is 'greedy', but no greedy method was asked for")


def check_history(audit: Audit) -> None:
    """Check that the history, which is informative, does not contradict the bounds."""
    certificate = audit.certificate
    history: Any = certificate.history
    good = isinstance(history, tuple) and all(
        isinstance(entry, tuple) and len(entry) == 4 and all(map(is_exact, entry[2:]))
        for entry in history
    )
    if not good:
        audit.differ("history: entries must be (seconds, work, upper bound, lower bound)")
        return
    for _, _, upper, lower in history:
        if lower > certificate.cost or upper < certificate.lower_bound:
            audit.differ(
                f"history: bounds {text(lower)} to {text(upper)} exclude the certified cost"
            )
            return


def check_no_confusion(audit: Audit) -> None:
    """Check that an objective without a positive class states none."""
    for name in ("fp", "fn", "positives", "negatives", "pos_label"):
        audit.compare(name, getattr(audit.certificate, name), None)
    # Limits and fairness have cuts of their own kind.
    if not hasattr(audit.certificate, "limits") and not hasattr(audit.certificate, "tolerance"):
        audit.compare("cuts", audit.certificate.cuts, None)
