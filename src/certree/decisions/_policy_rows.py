"""What treatments bring rows: given, or estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding._reduced import CostSums
from certree.fitting.goals import TaskGoal
from certree.numbers._fixed_point import check_numbers
from certree.tasks._label_costs import read_labels

from ._policy_scores import PolicyScores


@dataclass(frozen=True)
class PolicyRows:
    """What treatments bring the rows.

    Attributes
    ----------
    rewards : array of shape (n_rows, n_treatments)
        The scores to be maximised.
    treatments : array of shape (n_treatments,)
        The treatments.
    received : int array or None
        The treatment that each row has received, if that is known.
    outcomes, propensities : array of shape (n_rows, n_treatments), or None
        The estimates behind the scores.
    sums : CostSums or None
        The same scores as sums over the rows of groups, for reduced tables.
    """

    rewards: NDArray[np.float64]
    treatments: NDArray[Any]
    received: NDArray[Any] | None = None
    outcomes: NDArray[np.float64] | None = None
    propensities: NDArray[np.float64] | None = None
    sums: CostSums | None = None


@dataclass(frozen=True, kw_only=True)
class PolicyGoal(TaskGoal):
    """Treatments with the best outcomes.

    Attributes
    ----------
    rows : PolicyRows
        What treatments bring the rows.
    """

    rows: PolicyRows


def named_treatments(treatments: Any, rewards: NDArray[np.float64]) -> NDArray[Any]:
    """Return the treatments, one for each column of rewards."""
    return read_labels(treatments, rewards.shape[1], "rewards", "treatments")


def read_rewards(rewards: Any, n_rows: int) -> NDArray[np.float64]:
    """Return a table of rewards; a single column is what a treatment brings over none."""
    table = check_numbers(rewards, "rewards", (n_rows, None), exactly=True)
    if table.shape[1] == 1:
        return np.hstack([np.zeros((n_rows, 1)), table])
    return table


def rows_of_weight(sample_weight: Any, n_rows: int) -> NDArray[np.intp] | None:
    """Return the rows of positive weight, or None if that is all or not to be seen here."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.shape != (n_rows,) or weights.dtype.kind not in "iuf" or (weights > 0).all():
        return None
    return np.flatnonzero(weights > 0)


def spread_scores(scores: PolicyScores, kept: NDArray[np.intp], n_rows: int) -> PolicyScores:
    """Return scores for all rows, zero for those that do not count."""

    def spread(part: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if part is None:
            return None
        whole = np.zeros((n_rows, part.shape[1]))
        whole[kept] = part
        return whole

    rewards = spread(scores.rewards)
    assert rewards is not None
    return replace(
        scores,
        rewards=rewards,
        outcomes=spread(scores.outcomes),
        propensities=spread(scores.propensities),
    )
