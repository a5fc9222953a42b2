"""What a policy is worth on new rows, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from certree.numbers._exact import check_weights

from ._policy_scores import History, Teacher, policy_scores

# Parts that are left out one after the other: more cost time, fewer make the error itself unsure.
_PARTS = 10


class PolicyValue(NamedTuple):
    """What a policy is estimated to be worth.

    Attributes
    ----------
    value : float
        Estimated mean outcome of a row under the policy.
    standard_error : float
        Standard error of this mean. For "ipw" and "dr" it is that of the scores. Predictions vary
        less than what they predict, so for "dm" the outcome models are fitted again without each
        tenth of the rows, and the standard error is that of the jackknife. If predictions or
        rewards were given, their own errors are unknown, and it is about the choice of rows only.
    n_rows : int
        Number of rows it was estimated from.
    n_extrapolated : int
        Number of these rows that the policy gives a treatment which they could not have received
        (its propensity is 0). Their part of the value rests on the outcome model alone, or for
        "ipw" on nothing, and the standard error does not cover that.
    """

    value: float
    standard_error: float
    n_rows: int
    n_extrapolated: int = 0


def mean_value(
    scores: NDArray[np.float64], sample_weight: Any, extrapolated: NDArray[np.bool_] | None = None
) -> PolicyValue:
    """Return the weighted mean of the rows' scores and its standard error."""
    weights = np.ones(len(scores))
    if sample_weight is not None:
        weights = check_weights(sample_weight, len(scores))
    total = float(weights.sum())
    mean = float(weights @ scores) / total
    n_rows = int(np.count_nonzero(weights))
    spread = float(np.square(weights * (scores - mean)).sum())
    correction = n_rows / (n_rows - 1) if n_rows > 1 else float("nan")
    beyond = 0 if extrapolated is None else int(np.count_nonzero(extrapolated & (weights > 0)))
    return PolicyValue(mean, float(np.sqrt(spread * correction)) / total, n_rows, beyond)


def refitted_error(
    X: Any, history: History, teacher: Teacher, chosen: NDArray[np.intp], sample_weight: Any
) -> float:
    """Return the standard error of the direct method by a jackknife over parts of the rows.

    The models are fitted again without each part, so the error of their coefficients counts, too.
    It is nan if a treatment has too few rows to leave some out.
    """
    n_parts = min(_PARTS, int(np.unique(history.codes, return_counts=True)[1].min()))
    if n_parts < 3:
        return float("nan")
    if not isinstance(teacher.cv, int) and not hasattr(teacher.cv, "split"):
        teacher = replace(teacher, cv=5)  # Lists of row numbers do not fit a part of the rows.
    weights = np.ones(len(chosen))
    if sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
    folds = StratifiedKFold(n_parts, shuffle=True, random_state=teacher.random_state)
    means = []
    for rest, _ in folds.split(np.zeros((len(chosen), 1)), history.codes):
        part = History(history.treatments, history.codes[rest], history.outcome[rest])
        scores = policy_scores(_safe_indexing(X, rest), part, teacher).rewards
        means.append(np.average(scores[np.arange(len(rest)), chosen[rest]], weights=weights[rest]))
    return float(np.sqrt((n_parts - 1) * np.var(means)))
