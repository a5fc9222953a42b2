"""Scores of models on rows that they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

import numpy as np

from certree import metrics
from certree.encoding._classes import encode_labels
from certree.encoding._texts import as_array
from certree.fitting.objectives import DIRECT, is_direct
from certree.fitting.state_errors import find_positive
from certree.metrics import Metric
from certree.numbers._error_weights import class_fractions
from certree.numbers._weights import relative_weights
from certree.tree import Tree

Scorer = Callable[..., float]
"""Called with a model, a table, its targets, and what else `fit` took for these rows."""


def accepted(function: Callable[..., Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of some keywords that a function takes."""
    known = signature(function).parameters.values()
    if any(one.kind is Parameter.VAR_KEYWORD for one in known):
        return dict(params)
    names = {one.name for one in known}
    return {name: value for name, value in params.items() if name in names}


def read_scorer(scoring: Any, model: Any) -> Scorer | None:
    """Return what scores a model by what a user gave; None for the model's own objective.

    Parameters
    ----------
    scoring : str, Metric, callable or None
        A metric of certree, which takes the positive class of the model; a name or a scorer of
        scikit-learn; or a function of a fitted model, a table and its targets.
    model : estimator
        Whose kind says which metrics there are.
    """
    if scoring is None:
        return None
    has_classes = hasattr(model, "pos_label")
    known = (*DIRECT, *metrics.names())
    if has_classes and (
        isinstance(scoring, Metric) or (isinstance(scoring, str) and scoring.lower() in known)
    ):
        return _by_metric(scoring)
    if isinstance(scoring, Metric):
        raise ValueError(
            f"scoring={scoring!r} needs a classifier with a positive class, got "
            f"{type(model).__name__}; give a scorer of scikit-learn, or a function of a model, a "
            "table and its targets."
        )
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(
            "scoring must be a name, a metric of certree, a scorer of scikit-learn, a function of "
            f"a model, a table and its targets, or None, got {scoring!r}."
        )
    if isinstance(scoring, str) and hasattr(model, "predict_survival_function"):
        raise ValueError(
            f"scoring={scoring!r} does not know censored times; leave it out for the concordance, "
            "or give a function of a model, a table and its targets."
        )
    from sklearn.metrics import get_scorer

    try:
        scorer: Scorer = get_scorer(scoring)
    except ValueError:
        raise ValueError(
            f"scoring={scoring!r} is neither a metric of certree nor a scorer of scikit-learn; "
            "sklearn.metrics.get_scorer_names() lists the latter."
        ) from None

    def score(model: Any, X: Any, y: Any, **params: Any) -> float:
        takes = scorer if not hasattr(scorer, "_score_func") else _weighted
        return float(scorer(model, X, y, **accepted(takes, params)))

    return score


def _weighted(sample_weight: Any = None) -> None:
    """Show what the scorers that scikit-learn makes take."""


def _by_metric(objective: Any) -> Scorer:
    def score(model: Any, X: Any, y: Any, **params: Any) -> float:
        return metric_score(model, objective, X, y, params.get("sample_weight"))

    return score


def metric_score(model: Any, objective: Any, X: Any, y: Any, weights: Any = None) -> float:
    """Return the value of an objective of classifiers on any rows."""
    tree: Tree = model.tree_
    if is_direct(objective):
        from sklearn.metrics import accuracy_score, balanced_accuracy_score

        plain = objective.lower() == "accuracy"
        score = accuracy_score if plain else balanced_accuracy_score
        return float(score(as_array(y), tree.predict(X), sample_weight=weights))
    metric = metrics.get(objective)
    classes = tree.classes.tolist()
    positive = find_positive(classes, model.pos_label, metric.name)
    if metric.kind == "chain":
        answers: Any = tree.predict_proba(X)[:, positive]
    else:
        answers = tree.predict(X)
    return metric.score(y, answers, pos_label=classes[positive], sample_weight=weights)


def with_class_weights(model: Any, y: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of scores with weights of rows that include those of their classes."""
    weights = params.get("sample_weight")
    if model.class_weight is not None:
        classes, codes = encode_labels(y)
        wanted = class_fractions(model.class_weight, classes.tolist(), np.bincount(codes).tolist())
        by_class = relative_weights(wanted)[codes]
        weights = by_class if weights is None else by_class * weights
    return dict(params) if weights is None else {**params, "sample_weight": weights}
