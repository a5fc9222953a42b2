"""Objectives to maximise: names, metrics and plain functions, read and checked."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from certree import metrics
from certree.metrics import Metric

from ._parameters import OneOf
from ._suggestions import nearest_objective

WITHOUT_LABELLING = (
    "it is not a function of one labelling of the leaves, so that totals of labels, which limits "
    "and rates of groups are, are not defined for it (the cost function must be Markovian, theorem "
    "4.6 of the STreeD paper)."
)
"""Why areas and fronts of errors have no limits."""

DIRECT = ("accuracy", "balanced_accuracy")
"""Objectives for any number of classes that one search answers, in units of weighted errors."""


def check_objective(name: str, value: object) -> None:
    """Raise TypeError or ValueError unless `value` can be an objective."""
    if isinstance(value, type):
        raise TypeError(
            f"{name}={value.__name__} is a class; give one of its instances, {value.__name__}()."
        )
    if isinstance(value, Metric) or callable(value):
        return
    if isinstance(value, str):
        # Some have further names.
        with suppress(ValueError):
            metrics.get(value)
            return
    supported = OneOf((*DIRECT, *(other for other in metrics.names() if other not in DIRECT)))
    try:
        supported(name, value)
    except ValueError as error:
        near = nearest_objective(str(value), metrics.names())
        hint = "" if near is None else f" The nearest is {name}={near!r}."
        raise ValueError(f"{error}{hint}") from None


def read_metric(objective: Any) -> Metric | None:
    """Return the metric that an objective stands for; None for a direct one."""
    return None if is_direct(objective) else metrics.get(objective)


def is_direct(objective: object) -> bool:
    """Return whether an objective is one that counts weighted errors."""
    return isinstance(objective, str) and objective.lower() in DIRECT


def task_name(objective: Any) -> str:
    """Return the name that certificates give an objective."""
    metric = read_metric(objective)
    return str(objective).lower() if metric is None else metric.name
