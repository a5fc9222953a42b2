r"""What each treatment would have brought each row, from data in which each row had only one.

Row :math:`i` has features :math:`x_i`, was given treatment :math:`t_i` and had outcome
:math:`y_i`. Let :math:`\hat v_k(x)` estimate the outcome under treatment :math:`k`, and
:math:`\hat\mu_k(x)` the probability of being given it. The scores are

.. math::

    \Gamma^{DM}_{ik} &= \hat v_k(x_i) \\
    \Gamma^{IPW}_{ik} &= y_i\, 1[t_i = k] / \hat\mu_k(x_i) \\
    \Gamma^{DR}_{ik} &= \hat v_k(x_i) + (y_i - \hat v_k(x_i))\, 1[t_i = k] / \hat\mu_k(x_i)

and the mean of :math:`\Gamma_{i \pi(x_i)}` estimates the value of a policy :math:`\pi`. Both models
are cross-fitted: the estimate for a row comes from models that have not seen it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing

from certree.encoding import TableEncoder
from certree.encoding._classes import check_labels, encode_labels
from certree.encoding._texts import as_array
from certree.engine._budget import current
from certree.exceptions import OptimalityWarning, warn
from certree.numbers._fixed_point import check_numbers, first_place

from ._model_time import ModelTime, Predict

METHODS = ("dm", "ipw", "dr")

# The probabilities of a row sum to one up to this.
_SUM_ROUNDING = 1e-6

# More rows than this share with a propensity below the clip: the data say little about them.
_POOR_OVERLAP = 0.05

# Of a time limit, so much is for models; the search for the policy has the rest.
_SHARE_OF_MODELS = 0.5

# Up to so many different outcomes may be treatments in a wrong place.
_FEW_VALUES = 10


@dataclass(frozen=True)
class History:
    """Treatments and outcomes of the rows.

    Attributes
    ----------
    treatments : array of shape (n_treatments,)
        The treatments there are, in sorted order or the one given.
    codes : int array of shape (n_rows,)
        Position of the treatment of each row among them.
    outcome : float array of shape (n_rows,)
        What was observed.
    """

    treatments: NDArray[Any]
    codes: NDArray[np.int32]
    outcome: NDArray[np.float64]


@dataclass(frozen=True)
class Teacher:
    """How missing outcomes are estimated.

    Attributes
    ----------
    method : {"dm", "ipw", "dr"}
        Direct method, inverse propensity weighting, or doubly robust.
    outcome_model, propensity_model : estimator or None
        Any of scikit-learn's; None: a forest for outcomes and a logistic regression for
        propensities, both on the 0/1 columns of :class:`TableEncoder`.
    cv : int, splitter or iterable
        Number of folds for cross-fitting; 1: models see all rows, also those they estimate. Or
        folds as scikit-learn has them.
    clip : float
        Propensities below this are raised to it.
    random_state : int or None
        Seed of the folds and of the default models.
    """

    method: Literal["dm", "ipw", "dr"] = "dr"
    outcome_model: Any = None
    propensity_model: Any = None
    cv: Any = 5
    clip: float = 0.01
    random_state: int | None = 0


@dataclass(frozen=True)
class PolicyScores:
    """Scores of all treatments for all rows, and what they were made from.

    Attributes
    ----------
    rewards : float array of shape (n_rows, n_treatments)
        The scores.
    outcomes, propensities : float array of the same shape, or None
        Estimated outcomes and probabilities (clipped), where the method uses them. Probabilities
        that are not known are nan.
    never : bool array of the same shape, or None
        Where a row could not have been given a treatment: its propensity was 0 before clipping.
    """

    rewards: NDArray[np.float64]
    outcomes: NDArray[np.float64] | None
    propensities: NDArray[np.float64] | None
    never: NDArray[np.bool_] | None = None


def read_history(
    treatment: Any,
    outcome: Any,
    n_rows: int,
    treatments: Any = None,
    name: str = "PolicyTree",
    *,
    all_seen: bool = True,
) -> History:
    """Check treatments and outcomes, one each per row.

    Raises
    ------
    ValueError
        If a treatment of `treatments` was never given (unless `all_seen` is false), or another one
        was; if something is missing or not finite.
    """
    _refuse_swapped(treatment, outcome, n_rows)
    labels = check_labels(treatment, n_rows, name)
    values = check_numbers(outcome, "outcome", (n_rows,))
    seen, codes = encode_labels(labels)
    if treatments is None:
        return History(seen, codes, values)
    wanted = as_array(treatments)
    positions = {label: k for k, label in enumerate(wanted.tolist())}
    for label in seen.tolist():
        if label not in positions:
            row = labels.tolist().index(label)
            raise ValueError(
                f"treatment[{row}] = {label!r} is not among the treatments {wanted.tolist()}."
            )
    known = set(seen.tolist())
    for label in wanted.tolist():
        if all_seen and label not in known:
            raise ValueError(
                f"treatment {label!r} was never given, so nothing tells what it does; the "
                f"treatments seen are {seen.tolist()}."
            )
    order = np.array([positions[label] for label in seen.tolist()], dtype=np.int32)
    return History(wanted, order[codes], values)


def _refuse_swapped(treatment: Any, outcome: Any, n_rows: int) -> None:
    """Refuse what looks like outcomes in place of treatments."""
    if np.shape(treatment) != (n_rows,) or np.shape(outcome) != (n_rows,):
        return
    given, values = np.asarray(treatment), np.asarray(outcome)
    if given.dtype.kind not in "iuf":
        return
    n_given, n_values = len(np.unique(given)), len(set(values.tolist()))
    if values.dtype.kind not in "biuf" and isinstance(values[0], str):
        why = "outcome holds texts, and treatment holds numbers"
    elif given.dtype.kind == "f" and (np.isfinite(given) & (given % 1 != 0)).any():
        why = "treatment holds numbers that are not whole"
    elif 2 * n_given > n_rows >= 20 and n_values <= _FEW_VALUES:
        why = f"treatment has {n_given} different numbers in {n_rows} rows, and outcome {n_values}"
    else:
        return
    raise ValueError(
        f"{why}, as if they were swapped; call fit(X, treatment, outcome), or name them: "
        "fit(X, treatment=..., outcome=...)."
    )


def check_given(
    history: History, kept: NDArray[np.intp], propensity: Any = None, outcomes: Any = None
) -> None:
    """Check estimates of the rows that count, by the numbers of all rows."""
    n_treatments = len(history.treatments)
    for what, values, filler in (
        ("propensity", propensity, 1 / max(n_treatments, 2)),
        ("outcomes", outcomes, 0.0),
    ):
        if values is None or len(values) != len(history.codes):
            continue
        table = np.full(np.shape(values), filler)
        table[kept] = np.asarray(values)[kept]
        if what == "propensity":
            _read_propensity(table, history)
        else:
            check_numbers(table, what, (len(table), n_treatments))


def policy_scores(
    X: Any,
    history: History,
    teacher: Teacher,
    propensity: Any = None,
    outcomes: Any = None,
) -> PolicyScores:
    """Return the scores of all treatments for all rows.

    Parameters
    ----------
    X : table of shape (n_rows, n_features)
        Raw rows; models of the user see them as they are.
    history : History
        Treatments and outcomes.
    teacher : Teacher
        The method, its models and settings.
    propensity : array-like of shape (n_rows,) or (n_rows, n_treatments), optional
        Known probabilities, of the treatment given or of all; no model is fitted then.
    outcomes : array-like of shape (n_rows, n_treatments), optional
        Outcomes predicted by other means; no model is fitted then.
    """
    n_rows, n_treatments = len(history.codes), len(history.treatments)
    predicted = chances = never = None
    folds = _Folds(X, history, teacher)
    seconds = _time_for_models()
    start = perf_counter()
    needs_outcomes = teacher.method in ("dm", "dr") and outcomes is None
    if teacher.method in ("ipw", "dr"):
        if propensity is None:
            # Mostly the faster ones: what they leave is for the models of outcomes.
            share = seconds / 2 if seconds is not None and needs_outcomes else seconds
            chances = folds.propensities(share)
        else:
            chances = _read_propensity(propensity, history)
        never = chances == 0
        chances = _clipped(chances, history, teacher.clip)
        _warn_of_never(never, history, teacher.method)
    if needs_outcomes:
        predicted = folds.outcomes(None if seconds is None else seconds + start - perf_counter())
    elif teacher.method in ("dm", "dr"):
        predicted = check_numbers(outcomes, "outcomes", (n_rows, n_treatments))
    folds.warn()
    return PolicyScores(combine(history, predicted, chances), predicted, chances, never)


def _time_for_models() -> float | None:
    """Return the seconds that all models may take; None: no limit."""
    call = current()
    return None if call is None else call.remaining(_SHARE_OF_MODELS)


def combine(
    history: History,
    outcomes: NDArray[np.float64] | None,
    propensities: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the scores of the direct method, IPW or DR, by which of the estimates are given."""
    n_rows, n_treatments = len(history.codes), len(history.treatments)
    rows = np.arange(n_rows)
    if outcomes is None:
        scores = np.zeros((n_rows, n_treatments))
        left = history.outcome
    else:
        scores = outcomes.copy()
        left = history.outcome - outcomes[rows, history.codes]
    if propensities is not None:
        scores[rows, history.codes] += left / propensities[rows, history.codes]
    return scores


class _Folds:
    """Models fitted on some rows that estimate for others."""

    def __init__(self, X: Any, history: History, teacher: Teacher) -> None:
        self.X = X
        self.history = history
        self.teacher = teacher
        self.known: list[tuple[NDArray[np.intp], NDArray[np.intp]]] | None = None
        self.times: dict[str, ModelTime] = {}

    def splits(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return pairs of rows to fit on and rows to estimate for."""
        if self.known is not None:
            return self.known
        n_rows = len(self.history.codes)
        if not isinstance(self.teacher.cv, int):
            splitter = check_cv(self.teacher.cv, self.history.codes, classifier=True)
            self.known = list(splitter.split(np.zeros((n_rows, 1)), self.history.codes))
            return self.known
        seen, counts = np.unique(self.history.codes, return_counts=True)
        fewest = int(counts.min())
        n_folds = min(self.teacher.cv, fewest)
        if n_folds < 2:
            if self.teacher.cv > 1:
                rare = self.history.treatments.tolist()[int(seen[counts.argmin()])]
                raise ValueError(
                    f"treatment {rare!r} was given to {fewest} row(s) only; cross-fitting needs "
                    "at least 2. Leave the treatment out, or use cv=1."
                )
            every = np.arange(n_rows)
            self.known = [(every, every)]
            return self.known
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.teacher.random_state)
        self.known = list(folds.split(np.zeros((n_rows, 1)), self.history.codes))
        return self.known

    def outcomes(self, seconds: float | None = None) -> NDArray[np.float64]:
        """Estimate the outcome of every treatment, by one model for each."""
        history = self.history
        model = self.teacher.outcome_model
        if model is None:
            model = _default_outcome_model(history.outcome, self.teacher.random_state)
        n_treatments = len(history.treatments)
        result = np.empty((len(history.codes), n_treatments))
        time = self.times["outcomes"] = ModelTime(seconds, len(self.splits()) * n_treatments)
        for fitted, estimated in self.splits():
            new = _safe_indexing(self.X, estimated)
            for k in range(n_treatments):
                rows = fitted[history.codes[fitted] == k]
                found = time.estimate(partial(self._expectation, model), rows, None, new)
                # Without time for a model, the mean outcome of the treatment is its estimate.
                result[estimated, k] = history.outcome[rows].mean() if found is None else found
        return result

    def _expectation(self, model: Any, rows: NDArray[np.intp]) -> Predict:
        """Return a model of the outcome, fitted to some rows."""
        values = self.history.outcome[rows]
        if is_classifier(model):
            if (values == values[0]).all():
                return lambda new: np.full(_n_rows(new), values[0])
            _need_probabilities(model, "outcome_model")
            done = self._fit(model, rows, values)
            classes = np.asarray(done.classes_, dtype=np.float64)
            return lambda new: done.predict_proba(new) @ classes
        fitted = self._fit(model, rows, values)

        def predict(new: Any) -> NDArray[np.float64]:
            predicted = np.asarray(fitted.predict(new), dtype=np.float64).ravel()
            if not np.isfinite(predicted).all():
                raise ValueError("outcome_model predicts values that are not finite numbers.")
            return predicted

        return predict

    def propensities(self, seconds: float | None = None) -> NDArray[np.float64]:
        """Estimate the probability of every treatment."""
        history = self.history
        n_treatments = len(history.treatments)
        model = self.teacher.propensity_model
        if model is None:
            model = _default_propensity_model()
        if n_treatments == 1:
            return np.ones((len(history.codes), 1))
        _need_probabilities(model, "propensity_model")
        if len(np.unique(history.codes)) == 1:
            # A model of a single class would say no more.
            return np.asarray(np.eye(n_treatments)[history.codes])
        result = np.zeros((len(history.codes), n_treatments))
        time = self.times["propensities"] = ModelTime(seconds, len(self.splits()))
        for fitted, estimated in self.splits():
            new = _safe_indexing(self.X, estimated)
            found = time.estimate(partial(self._chances, model), fitted, history.codes, new)
            if found is None:
                counts = np.bincount(history.codes[fitted], minlength=n_treatments)
                found = counts / counts.sum()
            result[estimated] = found
        return result

    def _chances(self, model: Any, rows: NDArray[np.intp]) -> Predict:
        """Return a model of the treatment, fitted to some rows."""
        done = self._fit(model, rows, self.history.codes[rows])
        seen = np.asarray(done.classes_, dtype=np.intp)

        def predict(new: Any) -> NDArray[np.float64]:
            result = np.zeros((_n_rows(new), len(self.history.treatments)))
            result[:, seen] = done.predict_proba(new)
            return result

        return predict

    def warn(self) -> None:
        """Say which models the time limit has made simpler."""
        parts = []
        for what, time in self.times.items():
            if time.n_shortened:
                some = f"{time.n_shortened} of {time.n_models} models of {what}"
                parts.append(f"{some} were fitted to some of their rows")
            if time.n_left_out:
                some = f"{time.n_left_out} of {time.n_models} models of {what}"
                parts.append(f"{some} were replaced by averages")
        if parts:
            warn(
                f"Models get half of time_limit, which was not enough: {', '.join(parts)}. The "
                "scores are less precise, and so is the policy. Raise time_limit, give faster "
                "models or fewer folds (cv), or estimate before and give outcomes and propensity.",
                OptimalityWarning,
            )

    def _fit(self, model: Any, rows: NDArray[np.intp], target: NDArray[Any]) -> Any:
        return clone(model).fit(_safe_indexing(self.X, rows), target)


def _need_probabilities(model: Any, what: str) -> None:
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{what} must be a classifier with predict_proba, which {type(model).__name__} does "
            "not have; wrap it in CalibratedClassifierCV, or use another one."
        )


def _default_propensity_model() -> Any:
    # The models of scikit-learn are imported where they are used: that takes time.
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    # Few cut points and some regularisation: propensities near 0 are worse than smooth ones.
    return make_pipeline(TableEncoder(thresholds=8), LogisticRegression(C=0.3, max_iter=1000))


def _default_outcome_model(outcome: NDArray[np.float64], random_state: int | None) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.pipeline import make_pipeline

    settings = {"n_estimators": 50, "min_samples_leaf": 5, "random_state": random_state}
    if len(np.unique(outcome)) <= 2:
        return make_pipeline(TableEncoder(), RandomForestClassifier(**settings))
    return make_pipeline(TableEncoder(), RandomForestRegressor(**settings))


def _read_propensity(propensity: Any, history: History) -> NDArray[np.float64]:
    """Return the probabilities of all treatments; those that nobody tells are nan."""
    n_rows, n_treatments = len(history.codes), len(history.treatments)
    rows = np.arange(n_rows)
    shape = (n_rows, n_treatments) if np.ndim(propensity) == 2 else (n_rows,)
    given = check_numbers(propensity, "propensity", shape)
    bad = (given < 0) | (given > 1)
    if bad.any():
        place, value = first_place(bad, given)
        raise ValueError(f"propensity{place} = {value!r} is no probability: it must be 0 to 1.")
    if given.ndim == 2:
        totals = given.sum(axis=1)
        off = np.abs(totals - 1) > _SUM_ROUNDING
        if n_treatments > 1 and off.any():
            place, value = first_place(off, totals)
            raise ValueError(
                f"propensity{place} sums to {value!r}; the probabilities of all treatments of a "
                "row must sum to 1. Give one column if only that of the treatment given is known."
            )
        chances = given
    else:
        chances = np.full((n_rows, n_treatments), np.nan)
        if n_treatments == 2:
            chances[:] = 1 - given[:, None]
        chances[given == 1] = 0
        chances[rows, history.codes] = given
    impossible = chances[rows, history.codes] == 0
    if impossible.any():
        row = int(impossible.argmax())
        place = f"[{row}]" if given.ndim == 1 else f"[{row}, {history.codes[row]}]"
        raise ValueError(
            f"propensity{place} = 0.0, but row {row} was given this treatment; the probability "
            "of what happened must be greater than 0."
        )
    return chances


def _warn_of_never(never: NDArray[np.bool_], history: History, method: str) -> None:
    """Warn of treatments that rows could not have been given."""
    rows = never.any(axis=1)
    n_never = int(np.count_nonzero(rows))
    if not n_never:
        return
    shares = never.mean(axis=0)
    labels = history.treatments.tolist()
    which = ", ".join(f"{labels[k]!r}: {shares[k]:.0%}" for k in np.flatnonzero(shares))
    basis = (
        'with method="ipw" it counts as an outcome of 0'
        if method == "ipw"
        else "it is what the outcome model extrapolates"
    )
    warn(
        f"Not identified: {n_never} of {len(never)} rows could not have been given every "
        f"treatment (rows with a propensity of 0 by treatment: {which}). The data do not tell what "
        f"it would bring them; {basis}. min_treated keeps policies to leaves where it was given.",
        UserWarning,
    )


def _clipped(
    propensities: NDArray[np.float64], history: History, clip: float
) -> NDArray[np.float64]:
    """Raise small propensities to the clip, and warn where that concerns many rows."""
    small = (propensities > 0) & (propensities < clip)
    for k, label in enumerate(history.treatments.tolist()):
        share = float(small[:, k].mean())
        if share > _POOR_OVERLAP:
            warn(
                f"Poor overlap: for {share:.0%} of the rows the propensity of treatment {label!r} "
                f"is below clip={clip:g} and is raised to it. What that treatment would bring "
                "them is an extrapolation; a policy that gives it to them rests on few rows.",
                UserWarning,
            )
    clipped: NDArray[np.float64] = np.maximum(propensities, clip)
    given = clipped[np.arange(len(clipped)), history.codes]
    if not given.all():
        row = int(np.argmin(given))
        raise ValueError(
            f"propensity_model gives row {row} a probability of 0 for the treatment that it was "
            f"given, by which its outcome cannot be divided; use a clip greater than {clip:g}."
        )
    return clipped


def _n_rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)
