"""What a fitted model states in its own attributes, beside its tree and its certificate.

An attribute is either recomputed here or where the costs of leaves are, or it is for the code of
the model alone: then no prediction, text or report shows it. A test goes through all attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._audit import Audit, GivenRows, check_finite
from ._leaf_costs import Leaves
from ._plain_numbers import last_bits, read_list, read_table


@dataclass(frozen=True)
class Facts:
    """What is known of a model, from the data and the parameters.

    Attributes
    ----------
    audit : Audit
        The claim.
    names : list of str
        The columns of the table.
    labels : list or None
        What leaves may predict; None: anything.
    leaves : Leaves or None
        What leaves cost, if they belong to a task.
    given : GivenRows or None
        The rows, if they were given one by one.
    """

    audit: Audit
    names: Sequence[str]
    labels: Sequence[Any] | None = None
    leaves: Leaves | None = None
    given: GivenRows | None = None

    @property
    def outputs(self) -> Sequence[Any]:
        """What each of several outputs counts, and what its leaves cost."""
        return () if self.leaves is None else self.leaves.outputs

    @property
    def classes(self) -> Any:
        """The classes; a list of them for each of several outputs."""
        return [list(one.labels or ()) for _, one in self.outputs] or self.labels

    @property
    def n_classes(self) -> Any:
        """Their number, or that of each output."""
        several = [len(one.labels or ()) for _, one in self.outputs]
        return several or len(self.labels or ())

    @property
    def off(self) -> float:
        """How far weights of outputs may be off, as a share: float64 has few digits of some."""
        if not self.outputs or self.leaves is None or self.leaves.target is None:
            return float(last_bits())
        rows = list(self.leaves.target)
        least = self.leaves.least(rows)
        noise = self.leaves.noise(rows) / least if least else 0
        return float(last_bits(len(rows)) + noise)

    @property
    def rates(self) -> dict[str, dict[Any, float]]:
        """The rates of all groups, as the certificate states them."""
        certificate = self.audit.certificate
        return {
            name: dict(zip(certificate.groups, map(float, rates), strict=False))
            for name, rates in certificate.rates
        }

    @property
    def disparity(self) -> float:
        """The largest difference between two groups."""
        apart = self.audit.certificate.disparity
        return float("nan") if apart is None else float(apart)

    @property
    def rewards(self) -> Any:
        """The rewards of all treatments."""
        assert self.given is not None
        lines = read_table(self.given.y, "rewards", (None, None))
        numbers = [[float(number) for number in line] for line in lines]
        return [[0.0, *line] if len(line) == 1 else line for line in numbers]


RECOMPUTED: Mapping[str, Callable[[Facts], Any]] = {
    "n_features_in_": lambda facts: len(facts.names),
    "feature_names_in_": lambda facts: list(facts.names),
    "classes_": lambda facts: facts.classes,
    "n_classes_": lambda facts: facts.n_classes,
    "n_outputs_": lambda facts: max(len(facts.outputs), 1),
    "output_weights_": lambda facts: [float(weight) for weight, _ in facts.outputs] or [1.0],
    "treatments_": lambda facts: facts.labels,
    "groups_": lambda facts: list(facts.audit.certificate.groups),
    "group_rates_": lambda facts: facts.rates,
    "disparity_": lambda facts: facts.disparity,
}
"""What attributes must be, by their names."""

ELSEWHERE = {
    "tree_",
    "certificate_",
    "encoder_",
    "front_",
    "_path",
    "_node_costs",
    "rewards_",
    "labels_",
    "inertia_",
    "centre_names_",
    "model_features_",
    "model_units_",
    "decisions_",
    "costs_",
    "_is_flat",
    "_scales",
    "_centre_columns",
    "best_estimator_",
    "best_params_",
}
"""Attributes that are compared with the rows where the costs of leaves are."""

OWN = {
    # How a search went on, or where another starts.
    "_least_rows",
    "_asks",
    "_least_weight",
    "_decided",
    "_grown_costs",
    "_loss_unit",
    # The user's own data and functions, which are trusted.
    "oracle_",
    "outcomes_",
    "propensities_",
    "_received",
    # Fits to parts of the rows.
    "best_index_",
    "best_score_",
    "curve_",
    "n_splits_",
    # A forest has no certificate.
    "estimators_",
    "max_features_",
}
"""Attributes that are for the code of a model, or that rows alone do not tell."""


def stated_classes(model: Any) -> list[Any]:
    """Return the classes of a model.

    Raises
    ------
    CertificateError
        If it has no list of classes.
    """
    listed = stated_list(model, "classes_")
    if not listed:
        raise CertificateError("classes_ lists no classes.")
    return listed


def stated_list(model: Any, name: str) -> list[Any]:
    """Return an attribute that is a list or an array of one axis.

    Raises
    ------
    CertificateError
        If it is something else.
    """
    value = getattr(model, name, None)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        raise CertificateError(f"{name} must be a list, got {value!r:.60}.")
    return list(value)


def check_attributes(model: Any, facts: Facts) -> None:
    """Compare the attributes of a model, and of its encoder, with what they must be."""
    stated = vars(model)
    for name in RECOMPUTED:
        _compare(stated, name, facts)
    if facts.given is not None and facts.leaves is not None and facts.leaves.of_groups:
        _compare_sums(stated, facts, facts.given)
    elif facts.given is not None:
        _compare(stated, "rewards_", facts)
    encoder = vars(getattr(model, "encoder_", facts))
    for name in ("n_features_in_", "feature_names_in_"):
        _compare(encoder, name, facts, " of encoder_")
    facts.audit.done("the attributes of the model")


def _compare(stated: Mapping[str, Any], name: str, facts: Facts, of: str = "") -> None:
    """Compare an attribute, if there is one."""
    if name not in stated:
        return
    wanted = facts.rewards if name == "rewards_" else RECOMPUTED[name](facts)
    off = facts.off if name == "output_weights_" else float(last_bits())
    if not _is_same(stated[name], wanted, off):
        facts.audit.differ(
            f"{name}{of}: the model has {stated[name]!r:.100}, recomputed {wanted!r:.100}"
        )


def _compare_sums(stated: Mapping[str, Any], facts: Facts, given: GivenRows) -> None:
    """Compare rewards of groups of rows, weights included, by their sums."""
    # A fit to rows that found no tree has no notes, either.
    if "rewards_" not in stated or _is_same(stated["rewards_"], facts.rewards, float(last_bits())):
        return
    lines = read_table(given.y, "rewards", (None, None))
    weights = read_list(1 if given.sample_weight is None else given.sample_weight, len(lines), "w")
    rewards = np.asarray(stated["rewards_"])
    check_finite(rewards, "a number in rewards_")
    if rewards.dtype.kind not in "fiu" or rewards.ndim != 2 or rewards.shape[1] != len(lines[0]):
        facts.audit.differ(f"rewards_: the model has {rewards!r:.100}")
        return
    told = read_table(rewards, "rewards_", rewards.shape)
    for place in range(len(lines[0])):
        terms = [weight * line[place] for weight, line in zip(weights, lines, strict=True)]
        off = facts.audit.certificate.rounding + sum(map(abs, terms)) * last_bits(len(terms))
        total = sum((line[place] for line in told), Fraction(0))
        what = f"sum of treatment {place} in rewards_"
        facts.audit.compare_within(what, total, sum(terms, Fraction(0)), off)


def _is_same(stated: Any, wanted: Any, off: float) -> bool:
    """Return whether an attribute is what it must be, up to a share of floats."""
    if isinstance(wanted, dict):
        return (
            isinstance(stated, dict)
            and list(stated) == list(wanted)
            and all(_is_same(stated[key], value, off) for key, value in wanted.items())
        )
    plain = stated.tolist() if isinstance(stated, np.ndarray | np.generic) else stated
    if isinstance(wanted, list):
        return (
            isinstance(plain, list | tuple)
            and len(plain) == len(wanted)
            and all(_is_same(one, other, off) for one, other in zip(plain, wanted, strict=True))
        )
    if isinstance(wanted, float) and isinstance(plain, float | int):
        both_missing = wanted != wanted and plain != plain
        return both_missing or abs(plain - wanted) <= off * abs(wanted)
    return bool(plain == wanted)
