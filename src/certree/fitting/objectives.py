"""Objectives to maximise: names, metrics and plain functions, read and checked."""

from __future__ import annotations

from typing import Any

from certree import metrics
from certree.metrics import Metric

from .asked import ERRORS, METRICS, WEIGHTS, Objective

DIRECT = ("accuracy", "balanced_accuracy")
"""Objectives for any number of classes that one search answers, in units of weighted errors."""


def read_metric(objective: Any) -> Metric | None:
    """Return the metric that an objective stands for; None for a direct one."""
    return None if is_direct(objective) else metrics.get(objective)


def objective_asked(objective: Any) -> Objective:
    """Return an objective as the table of routes knows it."""
    metric = read_metric(objective)
    if metric is None:
        return Objective(ERRORS, str(objective).lower())
    return Objective(metric.kind if metric.kind in METRICS else WEIGHTS, metric.name)


def is_direct(objective: object) -> bool:
    """Return whether an objective is one that counts weighted errors."""
    return isinstance(objective, str) and objective.lower() in DIRECT


def task_name(objective: Any) -> str:
    """Return the name that certificates give an objective."""
    metric = read_metric(objective)
    return str(objective).lower() if metric is None else metric.name
