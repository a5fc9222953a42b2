"""The tree that decides who gets which treatment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from certree.encoding import Reduced, read_table
from certree.encoding._reduced import CostSums
from certree.estimators._parameters import Number, OneOf, WholeNumber
from certree.estimators._task_tree import BaseTaskTree
from certree.estimators._vocabulary import fitted, parameter, with_parameters
from certree.fitting.asked import COSTS, Objective
from certree.fitting.budgets import BudgetRequest, open_call
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.plan import plan
from certree.fitting.read import count_rows
from certree.fitting.request import Request
from certree.fitting.tree_limits import (
    budget_limits,
    capacity_limits,
    received_minimum,
    with_limits,
)
from certree.leaves.costs.loss import Rewards
from certree.numbers._fractions import is_whole
from certree.results._activity import phase, proven
from certree.results._progress import Callback
from certree.tasks._limited import Limited
from certree.tasks._task import Task

from ._policy_rows import (
    PolicyGoal,
    PolicyRows,
    named_treatments,
    read_rewards,
    rows_of_weight,
    spread_scores,
)
from ._policy_scores import (
    METHODS,
    History,
    PolicyScores,
    Teacher,
    check_given,
    policy_scores,
    read_history,
)
from ._policy_value import PolicyValue, mean_value, refitted_error

if TYPE_CHECKING:
    from typing_extensions import Self


@with_parameters
class PolicyTree(BaseTaskTree):
    r"""A decision tree that gives each row the treatment with the best outcome, proven best.

    Every training row was given one treatment. The estimator first estimates the outcome of every
    treatment for every row (`method`), and then finds, among all trees within the limits, one that
    maximises

    .. math:: \frac1W \sum_i w_i \Gamma_{i\,\pi(x_i)} - \text{complexity} \cdot \text{splits}

    for these scores :math:`\Gamma`. The certificate is exact about the scores; it cannot prove that
    the scores are right.

    Parameters
    ----------
    method : {"dr", "dm", "ipw"}, default="dr"
        How scores are estimated, see Notes: doubly robust, by the direct method (regress and
        compare), or by inverse propensity weighting.
    outcome_model : estimator, default=None
        Estimates the outcome, one fit for each treatment. A classifier is used by its
        ``predict_proba`` (outcomes are then numbers that serve as classes, such as 0 and 1).
        None: a random forest on the 0/1 columns of :class:`TableEncoder`.
    propensity_model : estimator, default=None
        Classifier that estimates the probability of each treatment. None: logistic regression on
        the 0/1 columns of :class:`TableEncoder`.
    cv : int, splitter or iterable, default=5
        Folds of the cross-fitting: a row is scored by models that have not seen it. 1: no folds.
    clip : float, default=0.01
        Propensities below this are raised to it, so that no row counts too much; `fit` warns if
        that concerns many rows. 0: no clipping.
    maximise : bool, default=True
        Whether larger outcomes are better.
    treatments : array-like, default=None
        The treatments, in the order of columns; by default those seen, sorted. One that was never
        given is an error.
    capacity : mapping or None, default=None
        How many rows may get a treatment: a number of rows (an integer) or a share of all rows (a
        float, fraction or text), for some of the treatments. With weights, both are weighed.
    treatment_costs : mapping, array-like or None, default=None
        What treatments cost: a mapping from treatment to a number (or one number per row), or an
        array of shape (n_treatments,) or (n_rows, n_treatments). Used with `budget`.
    budget : float, Fraction, str or None, default=None
        The most that the treatments of all rows may cost together.
    min_treated : int, mapping from treatment to int, or None, default=None
        A leaf that gives a treatment holds at least this many rows that have received it, so that
        its score rests on evidence.
    max_depth, max_splits, max_leaf_nodes, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf), in units of the mean outcome.
    complexity_per, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit
        As for :class:`OptimalTreeClassifier`. Half of the time is for models. If that is too
        little, they see fewer rows, or averages replace them, and `fit` warns.
    gap : float, fraction or str, default=0.0
        Accept a tree whose total reward is proven to be within this of the best.
    n_jobs, executor, verbose
        As for :class:`OptimalTreeClassifier`.
    random_state : int or None, default=None
        Seed of the folds and of the default models.

    Attributes
    ----------
    tree_ : Tree
        The policy.
    certificate_ : TaskCertificate
        What is proven: ``objective`` is the mean reward, ``cost`` the total regret, what is lost
        against the best-scored treatment of each row. With limits (`capacity`, `budget`,
        `min_treated`) a :class:`LimitedCertificate`; if no tree keeps to them, it says so, and
        there is no ``tree_``.
    treatments_ : array of shape (n_treatments,)
        The treatments.
    rewards_ : array of shape (n_rows, n_treatments)
        The scores that were maximised.
    outcomes_, propensities_ : array of shape (n_rows, n_treatments), or None
        The estimates behind them; a propensity that is not known is nan.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of the gained reward.

    Notes
    -----
    For row :math:`i` with treatment :math:`t_i` and outcome :math:`y_i`, estimated outcomes
    :math:`\hat v_k` and propensities :math:`\hat\mu_k`:

    .. math::

        \Gamma^{DM}_{ik} &= \hat v_k(x_i) \\
        \Gamma^{IPW}_{ik} &= y_i\, 1[t_i = k] / \hat\mu_k(x_i) \\
        \Gamma^{DR}_{ik} &= \hat v_k(x_i) + (y_i - \hat v_k(x_i))\, 1[t_i = k] / \hat\mu_k(x_i)

    DR is right if one of the two models is. All assume that everything that drove both treatment
    and outcome is among the columns.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import PolicyTree, datasets
    >>> patients = datasets.make_policy_example(300)
    >>> policy = PolicyTree(max_depth=2, cv=2)
    >>> policy = policy.fit(patients.data, patients.treatment, patients.outcome)
    >>> bool((policy.predict(patients.data) == patients.best).mean() > 0.8)
    True
    """

    method: Literal["dr", "dm", "ipw"] = parameter(
        default="dr", check=OneOf(METHODS), kw_only=False
    )
    outcome_model: Any = None
    propensity_model: Any = None
    cv: Any = 5
    clip: float = parameter(default=0.01, check=Number(0, maximum=1))
    maximise: bool = True
    treatments: Any = None
    capacity: Mapping[Any, Any] | None = None
    treatment_costs: Any = None
    budget: Any = None
    min_treated: Any = None
    random_state: int | None = None

    treatments_: NDArray[Any] = fitted()
    rewards_: NDArray[np.float64] = fitted()
    outcomes_: NDArray[np.float64] | None = fitted()
    propensities_: NDArray[np.float64] | None = fitted()
    _received: NDArray[Any] | None = fitted()

    def fit(
        self,
        X: Any,
        y: Any = None,
        outcome: Any = None,
        sample_weight: Any = None,
        *,
        treatment: Any = None,
        propensity: Any = None,
        outcomes: Any = None,
        callback: Callback | None = None,
        path: bool = False,
    ) -> PolicyTree:
        """Estimate what treatments bring, and find the best policy.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for :class:`OptimalTreeClassifier`; the user's own models see it as it is.
        y : array-like of shape (n_rows,)
            The treatment that each row was given: texts, truth values or integers. An array
            of shape (n_rows, n_treatments) without `outcome` is a table of rewards, as for
            :meth:`fit_rewards`, so that policies can be tuned as other estimators are.
        outcome : array-like of shape (n_rows,)
            The observed outcome: numbers.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in the objective. Rows of weight zero are left out.
        treatment : array-like of shape (n_rows,), optional
            Another name of `y`: ``fit(X, treatment=..., outcome=...)``.
        propensity : array-like of shape (n_rows,) or (n_rows, n_treatments), optional
            Known probability of the treatment given, or of all (which sum to 1), as in an
            experiment. No model is fitted then. Rows that could not have been given some
            treatment (its propensity is 0, or that of the treatment given is 1) tell nothing
            about it; `fit` warns and says how many they are.
        outcomes : array-like of shape (n_rows, n_treatments), optional
            Outcomes predicted by other means. No model is fitted then.
        callback, path
            As for :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        PolicyTree
            The fitted estimator itself.
        """
        options = BudgetRequest.of(self)
        with open_call(type(self).__name__, options) as call:
            with call.nothing_to_return():
                rows = self._read_rows(
                    X, y, outcome, sample_weight, treatment, propensity, outcomes
                )
            given: dict[str, Any] = {"path": path, "treatment": rows.received}
            request = Request.of(self, X, rows, sample_weight, callback=callback, **given)
            fitted = fit(request)
            proven(call, fitted.certificate)
        return self._take(fitted)

    def _read_rows(
        self,
        X: Any,
        y: Any,
        outcome: Any = None,
        sample_weight: Any = None,
        treatment: Any = None,
        propensity: Any = None,
        outcomes: Any = None,
    ) -> PolicyRows:
        """Estimate what treatments bring the rows, or read the rewards that are given."""
        if (y is None) == (treatment is None):
            raise ValueError(
                "PolicyTree requires y to be passed, but the target y is None; call "
                "fit(X, treatment, outcome), or fit_rewards(X, rewards)."
            )
        given = treatment if y is None else y
        self._check_parameters()
        plan(self._what_is_asked(treatment=None if outcome is None else given))
        if is_whole(self.cv):
            WholeNumber(1)("cv", self.cv)
        n_rows = count_rows(X)
        if outcome is None:
            if np.asarray(given).ndim == 2:
                return self._read_rewards(n_rows, given)
            read_table(X)
            raise ValueError(
                "PolicyTree needs outcomes: fit(X, treatment, outcome), or fit(X, rewards) with a "
                "table of shape (n_rows, n_treatments)."
            )
        if np.ndim(given) == 2 and np.shape(given)[1] > 1:
            raise ValueError(
                f"treatment must have one entry per row, got shape {np.shape(given)}; the table "
                "comes first: fit(X, treatment, outcome)."
            )
        phase("estimating outcomes")
        history = read_history(given, outcome, n_rows, self.treatments)
        scores = self._scores(X, history, sample_weight, propensity, outcomes)
        return PolicyRows(
            scores.rewards,
            named_treatments(history.treatments, scores.rewards),
            None if self.min_treated is None else history.codes,
            scores.outcomes,
            scores.propensities,
        )

    def _scores(
        self, X: Any, history: History, sample_weight: Any, propensity: Any, outcomes: Any
    ) -> PolicyScores:
        """Estimate what treatments bring the rows that count; the others have zeros."""
        n_rows = len(history.codes)
        kept = rows_of_weight(sample_weight, n_rows)
        if kept is None:
            return policy_scores(X, history, self._teacher(), propensity, outcomes)
        check_given(history, kept, propensity, outcomes)
        part = read_history(
            history.treatments[history.codes[kept]],
            history.outcome[kept],
            len(kept),
            history.treatments,
        )
        scores = policy_scores(
            _safe_indexing(X, kept),
            part,
            self._teacher(),
            None if propensity is None else np.asarray(propensity)[kept],
            None if outcomes is None else np.asarray(outcomes)[kept],
        )
        return spread_scores(scores, kept, n_rows)

    def fit_rewards(
        self,
        X: Any,
        rewards: Any,
        sample_weight: Any = None,
        *,
        treatment: Any = None,
        callback: Callback | None = None,
        path: bool = False,
    ) -> PolicyTree:
        """Find the best policy for given scores.

        Parameters
        ----------
        X, sample_weight, callback, path
            As for :meth:`fit`.
        rewards : array-like of shape (n_rows, n_treatments)
            What each treatment brings each row. A single column is what a treatment brings over
            none: the treatments are then 0, with no reward, and 1.
        treatment : array-like of shape (n_rows,), optional
            What each row was given, for `min_treated`.

        Returns
        -------
        PolicyTree
            The fitted estimator itself.
        """
        self._check_parameters()
        plan(self._what_is_asked(treatment=treatment, path=path))
        rows = self._read_rewards(count_rows(X), rewards, treatment)
        given = {"callback": callback, "path": path, "treatment": treatment}
        return self._take(fit(Request.of(self, X, rows, sample_weight, **given)))

    def _what_is_optimised(self) -> Objective:
        return Objective(COSTS, "rewards")

    def _fit_groups(self, reduced: Reduced, **more: Any) -> None:
        if reduced.costs is None or len(reduced.costs.names) < 2:
            raise ValueError(
                "PolicyTree needs a column of rewards for each treatment; call "
                "reduce(..., costs=[...]) with two columns at least."
            )
        rows = self._read_rewards(len(reduced), reduced.costs)
        request = Request.of(self, reduced, rows, reduced.weights, reduced=True, **more)
        self._take(fit(request))

    def _read_rewards(self, n_rows: int, rewards: Any, treatment: Any = None) -> PolicyRows:
        """Read rewards that are given, and what the rows have received."""
        table = read_rewards(rewards, n_rows)
        labels = np.arange(table.shape[1]) if self.treatments is None else self.treatments
        received = None
        if treatment is not None:
            nothing = np.zeros(len(table))
            received = read_history(treatment, nothing, len(table), labels, all_seen=False).codes
        sums = rewards if isinstance(rewards, CostSums) else None
        return PolicyRows(table, named_treatments(labels, table), received, sums=sums)

    def _goal(
        self, X: Any, y: Any, sample_weight: Any, costs: Any = None, **call: Any
    ) -> PolicyGoal:
        rows: PolicyRows = y
        task = self._task_on(rows, sample_weight)
        return PolicyGoal(y=None, task=task, kind=self._statement_kind, rows=rows)

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        assert isinstance(fitted.goal, PolicyGoal)
        rows = fitted.goal.rows
        self.rewards_, self.treatments_, self._received = (
            rows.rewards,
            rows.treatments,
            rows.received,
        )
        self.outcomes_, self.propensities_ = rows.outcomes, rows.propensities
        return self

    def _task(
        self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None
    ) -> Task | Limited:
        received = getattr(self, "_received", None)
        rows = PolicyRows(read_rewards(y, n_rows), self.treatments_, received)
        return self._task_on(rows, sample_weight)

    def _task_on(self, rows: PolicyRows, sample_weight: Any) -> Task | Limited:
        """Return what is maximised on rows, within which limits."""
        rewards = rows.rewards if rows.sums is None else rows.sums
        task = Rewards(rewards, rows.treatments, maximise=bool(self.maximise))
        names, n_rows = rows.treatments.tolist(), len(rows.rewards)
        limits = [
            *capacity_limits(self.capacity, names, n_rows, sample_weight, "treatment"),
            *budget_limits(self.treatment_costs, self.budget),
        ]
        return with_limits(task, limits, received_minimum(self.min_treated, rows.received, names))

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        # Scores are estimated once for all rows, each by models that have not seen it.
        rows = self._read_rows(X, y, **params)
        self.treatments = rows.treatments
        kept = {name: params[name] for name in ("sample_weight",) if name in params}
        if rows.received is not None:
            kept["treatment"] = rows.treatments[rows.received]
        return rows.rewards, kept

    def _path_request(
        self, X: Any, y: Any, sample_weight: Any = None, **more: Any
    ) -> Request | None:
        rows = self._read_rewards(count_rows(X), y, **more)
        return super()._path_request(X, rows, sample_weight, **more)

    def _fit_part(self, X: Any, y: Any, **params: Any) -> None:
        self.fit_rewards(X, y, **params)

    def _teacher(self) -> Teacher:
        return Teacher(
            self.method,
            self.outcome_model,
            self.propensity_model,
            int(self.cv) if is_whole(self.cv) else self.cv,
            float(self.clip),
            self.random_state,
        )

    def _measure_name(self) -> str:
        return "mean outcome" if self.maximise else "negative mean outcome"

    def value(
        self,
        X: Any,
        treatment: Any = None,
        outcome: Any = None,
        *,
        rewards: Any = None,
        propensity: Any = None,
        outcomes: Any = None,
        method: Literal["dr", "dm", "ipw"] | None = None,
        sample_weight: Any = None,
    ) -> PolicyValue:
        """Estimate the mean outcome under this policy, with its standard error.

        Use other rows than in training: on the training rows the value is too good.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        treatment, outcome : array-like of shape (n_rows,), optional
            What these rows were given and what came of it; scores are estimated from these rows
            as in `fit`.
        rewards : array-like of shape (n_rows, n_treatments), optional
            Scores, or true outcomes, in place of treatment and outcome.
        propensity, outcomes
            As for :meth:`fit`.
        method : {"dr", "dm", "ipw"}, optional
            How to estimate scores; by default as in `fit`. Treatments that none of these rows was
            given need "ipw", or `outcomes`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        """
        check_is_fitted(self)
        chosen = self._chosen(X)
        n_rows = len(chosen)
        rows = np.arange(n_rows)
        if rewards is not None:
            table = read_rewards(rewards, n_rows)
            if table.shape[1] != len(self.treatments_):
                raise ValueError(
                    f"rewards must have one column for each of the {len(self.treatments_)} "
                    f"treatments, got {table.shape[1]}."
                )
            return mean_value(table[rows, chosen], sample_weight)
        teacher = self._teacher()
        if method is not None:
            OneOf(METHODS)("method", method)
            teacher = replace(teacher, method=method)
        history, scores = self._score_rows(X, treatment, outcome, teacher, propensity, outcomes)
        never = None if scores.never is None else scores.never[rows, chosen]
        found = mean_value(scores.rewards[rows, chosen], sample_weight, never)
        if teacher.method == "dm" and outcomes is None:
            error = refitted_error(X, history, teacher, chosen, sample_weight)
            return found._replace(standard_error=error)
        return found

    def _score_rows(
        self, X: Any, treatment: Any, outcome: Any, teacher: Teacher, *given: Any
    ) -> tuple[History, PolicyScores]:
        """Estimate what treatments bring new rows; `given` are propensity and outcomes."""
        if treatment is None or outcome is None:
            raise ValueError("value needs rewards, or treatment and outcome.")
        # Only a model of outcomes needs to have seen all treatments.
        all_seen = teacher.method != "ipw" and (len(given) < 2 or given[1] is None)
        n_rows = count_rows(X)
        history = read_history(treatment, outcome, n_rows, self.treatments_, all_seen=all_seen)
        return history, policy_scores(X, history, teacher, *given)

    def _chosen(self, X: Any) -> NDArray[np.intp]:
        """Return the positions of the treatments that the policy gives."""
        position = {label: k for k, label in enumerate(self.treatments_.tolist())}
        return np.array([position[label] for label in self.predict(X).tolist()], dtype=np.intp)

    def score(self, X: Any, y: Any, outcome: Any = None, sample_weight: Any = None) -> float:
        """Return the estimated mean outcome, or its negative if outcomes are minimised.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        y, outcome : array-like of shape (n_rows,)
            What these rows were given and what came of it; or, as `y` alone, rewards of shape
            (n_rows, n_treatments).
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        """
        if outcome is None and np.asarray(y).ndim == 2:
            found = self.value(X, rewards=y, sample_weight=sample_weight)
        else:
            # The value alone: a standard error may need models to be fitted again.
            chosen = self._chosen(X)
            _, scores = self._score_rows(X, y, outcome, self._teacher())
            found = mean_value(scores.rewards[np.arange(len(chosen)), chosen], sample_weight)
        return found.value if self.maximise else -found.value

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # What is learned from besides X is a table of rewards, or treatment and outcome.
        tags.target_tags.required = True
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags
