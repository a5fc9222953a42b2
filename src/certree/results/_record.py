"""The base of all certificates: summary, JSON, and checked reading."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

from certree.tree._plain import load_json, plain_fields, read_fields, shown

from ._card import beside, card, facts_table, sentence

STATUSES = {
    "optimal": "proven optimal",
    "gap": "optimal up to the accepted gap",
    "time_limit": "stopped by the time limit",
    "memory_limit": "stopped by the memory limit",
    "work_limit": "stopped by the work limit",
    "interrupted": "interrupted",
    "infeasible": "proven infeasible, no tree keeps to the limits",
    "greedy": "grown greedily, with no proof",
    "precision": "stopped where numbers exceed 64 bits",
}

_NOT_NEGATIVE = (
    *("n_splits", "depth", "n_rows", "n_row_groups", "n_tests", "n_solves", "n_rounds", "seconds"),
    *("max_depth", "max_splits", "min_samples_leaf", "complexity", "split_penalty"),
    *("total_weight", "weight_quantum", "positives", "negatives", "fp", "fn", "gap", "rounding"),
)

_OF_TREE = ("objective", "cost", "upper_bound", "gap", "leaf_cost")
"""Fields that are null if there is no tree."""

R = TypeVar("R", bound="Record")


def status_text(status: str) -> str:
    """Return a status in words."""
    return STATUSES.get(status, status)


class Record(ABC):
    """A dataclass with a status; the base of all certificates."""

    status: str

    @abstractmethod
    def _in_few_words(self) -> tuple[str, ...]:
        """Return the facts that matter most, beside the status."""

    @abstractmethod
    def statement(self) -> str:
        """Return the proven statement in one sentence."""

    def _facts(self) -> list[tuple[str, str]]:
        """Return what is printed of the certificate: names and texts."""
        return []

    @property
    def has_tree(self) -> bool:
        """Whether a tree was found."""
        return True

    @property
    def is_infeasible(self) -> bool:
        """Whether it is proven that no tree keeps to all limits."""
        return self.status == "infeasible"

    def summary(self) -> str:
        """Return the status and the facts that matter most in one line."""
        return ", ".join((status_text(self.status), *self._in_few_words()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"

    def __str__(self) -> str:
        lines = [f"Certificate: {status_text(self.status)}"]
        lines += [f"  {name:<12} {text}" for name, text in self._facts()]
        return "\n".join([*lines, self.statement()])

    def _chart(self) -> str:
        """Return a small picture of the search as HTML, if there is one."""
        return ""

    def _repr_html_(self) -> str:
        facts = beside(facts_table(self._facts()), self._chart())
        return card(f"Certificate: {status_text(self.status)}", sentence(self.statement()), facts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; exact numbers that are not whole become text such as "7/3"."""
        return plain_fields(self)

    @classmethod
    def from_dict(cls: type[R], data: Mapping[str, Any]) -> R:
        """Rebuild a certificate from what `to_dict` returned.

        Raises
        ------
        ValueError
            If a field is missing, unknown or of a wrong type, or contradicts the others.
        """
        values = read_fields(cls, data, may_be_none=(*_OF_TREE, "lower_bound"))
        _check_stated(values)
        return cls(**values)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_json(cls: type[R], text: str) -> R:
        """Rebuild a certificate from what `to_json` returned; ValueError if it is another text."""
        return cls.from_dict(load_json(text, f"{cls.__name__}.to_json"))


def _check_stated(values: Mapping[str, Any]) -> None:
    """Raise ValueError if fields that were read from a file contradict each other."""
    for name, allowed in (("status", STATUSES), ("complexity_per", ("split", "leaf"))):
        if name in values and values[name] not in allowed:
            raise ValueError(
                f"{name} must be one of {', '.join(allowed)}, got {shown(values[name])}."
            )
    for name in _NOT_NEGATIVE:
        value = values.get(name) or 0
        if min(value if isinstance(value, tuple) else (value,)) < 0:
            raise ValueError(f"{name} must not be negative, got {shown(values[name])}.")
    if values.get("total_weight") == 0:
        raise ValueError("total_weight must be positive, got 0.")
    missing = [name for name in _OF_TREE if values.get(name, 0) is None]
    if missing and len(missing) < len(_OF_TREE):
        raise ValueError(f"{', '.join(_OF_TREE)} are either all null or none of them is.")
    has_bound = values.get("lower_bound", 0) is not None
    if not has_bound and not (missing and values["status"] == "infeasible"):
        raise ValueError("lower_bound is null only if no tree keeps to the limits (infeasible).")
