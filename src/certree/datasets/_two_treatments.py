"""Two treatments whose effect depends on normal features, and models that estimate it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from certree.encoding import NamedArray

__all__ = ["make_two_treatments", "policy_teachers"]

_NOISE = 0.1

# Rows of a leaf of the tree of propensities: without a limit every leaf would be sure.
_LEAF_ROWS = 20

_DESCRIPTION = """\
Two treatments
--------------
Independent standard normal features x1, x2 and so on. Treatment k, 0 or 1, brings row x

    Y(k) = phi(x) + (2 k - 1) / 2 * kappa(x) + noise

with noise of standard deviation 0.1, the same for both treatments of a row. By number of features:

     2   phi = x1 / 2 + x2                        kappa = x1 / 2
    10   phi = (x1 + x2) / 2 + x3 + ... + x6      kappa = max(0, x1) + max(0, x2)
    20   phi = (x1 + ... + x4) / 2 + x5 + ... + x8
                                                  kappa = max(0, x1) + ... + max(0, x4)

Each row was given its better treatment (0 where they are equal) with one probability for all rows.
This is equation 66 with table 5 of van der Linden, de Weerdt and Demirovic, "Necessary and
Sufficient Conditions for Optimal Decision Trees using Dynamic Programming", 2023, after Athey and
Imbens, 2016.
"""

# Number of features: halved and whole ones of phi, and whether kappa is cut off at zero.
_FORMS = {2: (1, 2, False), 10: (2, 6, True), 20: (4, 8, True)}


def make_two_treatments(
    n_rows: int = 500, n_features: int = 2, *, best_share: float = 0.5, random_state: int = 0
) -> Bunch:
    """Make the synthetic data of the STreeD paper for learning policies.

    Parameters
    ----------
    n_rows : int, default=500
        Number of rows.
    n_features : {2, 10, 20}, default=2
        Number of features; it also decides how they act, see ``DESCR``.
    best_share : float, default=0.5
        Probability that a row was given its better treatment; between 0 and 1. The paper has 0.1,
        0.25, 0.5, 0.75 and 0.9.
    random_state : int, default=0
        Seed.

    Returns
    -------
    sklearn.utils.Bunch
        With the entries ``data`` (array with names of columns), ``feature_names``, ``treatment``
        (0 or 1), ``outcome``, ``rewards`` (outcome of both treatments for every row),
        ``propensity`` (probability of both), ``treatments``, ``best`` (better treatment of each
        row) and ``DESCR``.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import PolicyTree, datasets
    >>> rows = datasets.make_two_treatments(500, best_share=0.75)
    >>> policy = PolicyTree(max_depth=1, thresholds=9)
    >>> policy = policy.fit(rows.data, rows.treatment, rows.outcome, propensity=rows.propensity)
    >>> policy.tree_.n_splits
    1
    """
    if n_features not in _FORMS:
        raise ValueError(
            f"n_features={n_features!r} is not supported: the paper defines effects for "
            f"{', '.join(map(str, _FORMS))} features."
        )
    if not 0 < best_share < 1:
        raise ValueError(f"best_share={best_share!r} must lie strictly between 0 and 1.")
    halved, whole, cut_off = _FORMS[n_features]
    rng = np.random.default_rng(random_state)
    x = rng.normal(size=(n_rows, n_features))
    mean = x[:, :halved].sum(axis=1) / 2 + x[:, halved:whole].sum(axis=1)
    effect = np.maximum(x[:, :halved], 0).sum(axis=1) if cut_off else x[:, 0] / 2
    noise = rng.normal(scale=_NOISE, size=n_rows)
    rewards = (mean + noise)[:, None] + effect[:, None] * np.array([-0.5, 0.5])
    best = rewards.argmax(axis=1)
    given = np.where(rng.random(n_rows) < best_share, best, 1 - best)
    propensity = np.full((n_rows, 2), 1 - best_share)
    propensity[np.arange(n_rows), best] = best_share
    names = [f"x{j + 1}" for j in range(n_features)]
    return Bunch(
        data=NamedArray(x, names),
        feature_names=names,
        treatment=given,
        outcome=rewards[np.arange(n_rows), given],
        rewards=rewards,
        propensity=propensity,
        treatments=np.arange(2),
        best=best,
        DESCR=_DESCRIPTION,
    )


def policy_teachers(
    propensity: NDArray[np.float64], *, random_state: int = 0
) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return the eleven teachers of the STreeD paper.

    A teacher estimates what treatments bring. The paper has inverse propensity weighting by a
    tree, a logistic regression and the true propensities; the direct method by linear regression
    and by the lasso with a penalty of 0.08; and the six doubly robust combinations. They see the
    rows that they estimate for, as in the paper (``cv=1``). The paper does not say how its tree of
    propensities is limited; here its leaves have at least 20 rows.

    Parameters
    ----------
    propensity : array of shape (n_rows,) or (n_rows, n_treatments)
        The true propensities.
    random_state : int, default=0
        Seed of the tree.

    Returns
    -------
    dict
        From the name, such as ``"dr true lasso"``, to two mappings: parameters of
        :class:`certree.PolicyTree`, and arguments of its ``fit``.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import PolicyTree, datasets
    >>> rows = datasets.make_two_treatments(200)
    >>> teachers = datasets.policy_teachers(rows.propensity)
    >>> params, given = teachers["dr true lasso"]
    >>> policy = PolicyTree(max_depth=1, thresholds=9, **params)
    >>> policy = policy.fit(rows.data, rows.treatment, rows.outcome, **given)
    >>> list(teachers)[:5]
    ['ipw tree', 'ipw logistic', 'ipw true', 'dm linear', 'dm lasso']
    """
    # Models of scikit-learn are imported where they are used: that takes time.
    from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(min_samples_leaf=_LEAF_ROWS, random_state=random_state)
    chances: dict[str, Any] = {"tree": tree, "logistic": LogisticRegression(), "true": None}
    outcomes = {"linear": LinearRegression(), "lasso": Lasso(alpha=0.08)}

    def teacher(method: str, chance: str | None, outcome: str | None) -> tuple[Any, Any]:
        params: dict[str, Any] = {"method": method, "cv": 1}
        if chance is not None and chances[chance] is not None:
            params["propensity_model"] = chances[chance]
        if outcome is not None:
            params["outcome_model"] = outcomes[outcome]
        return params, {"propensity": propensity} if chance == "true" else {}

    return {
        **{f"ipw {chance}": teacher("ipw", chance, None) for chance in chances},
        **{f"dm {outcome}": teacher("dm", None, outcome) for outcome in outcomes},
        **{f"dr {c} {o}": teacher("dr", c, o) for c, o in product(chances, outcomes)},
    }
