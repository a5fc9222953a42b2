"""The tree classifier that treats groups alike, within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Reduced
from certree.encoding._classes import check_labels
from certree.encoding._texts import as_array
from certree.exceptions import OptimalityWarning, warn
from certree.fitting.asked import Objective
from certree.fitting.objectives import objective_asked, task_name
from certree.fitting.prove_groups import find_curve, solve_fair
from certree.fitting.state_groups import read_prices, state_fairness
from certree.results._certificate import Exact, show
from certree.results._fairness import FairnessCertificate, FairnessCurve, FairnessReport
from certree.results._progress import Callback
from certree.results._record import status_text
from certree.tasks._rates import (
    CONSTRAINTS,
    check_constraint,
    constraint_names,
    needs_two_classes,
    read_tolerance,
    read_tolerances,
)

from ._fair_report import report_on
from ._optimal_tree import BaseOptimalTree
from ._parameters import check_objective
from ._reading import PredictsClasses, labels_of
from ._scoring import metric_score, with_class_weights
from ._vocabulary import ClassParameters, fitted, parameter, with_parameters

Tolerance = float | Fraction | str
"""A share, as the decimal or fraction that is written."""

# Part of the range of integers that costs of the rows leave to multipliers.
_ROOM_FOR_MULTIPLIERS = 2**8


def _at_least(number: Exact) -> str:
    """Return a number as text, rounded up where it is rounded: what it allows is kept."""
    text = show(number)
    if not text.startswith("~"):
        return text
    places = 7 - math.ceil(math.log10(number))
    return str(Decimal(math.ceil(number * 10**places)).scaleb(-places))


def _check_truth(name: str, value: object) -> None:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")


@with_parameters
class FairTreeClassifier(PredictsClasses, ClassParameters, BaseOptimalTree):
    r"""The most accurate decision tree among those that treat groups alike, proven.

    Among all trees within the limits whose rates differ by at most `tolerance` between any two
    groups, it finds one that maximises

    .. math:: \text{objective} - \text{complexity} \cdot \text{splits}

    on the training rows. Rates are compared exactly, as fractions: a tree whose rates differ by
    exactly the tolerance is allowed, and a tree above it is not, however close it is.

    Parameters
    ----------
    constraint : str or list of str, default="demographic_parity"
        Which rate is compared between groups; a list names several, which all must be kept:

        - "demographic_parity": the share of rows that are predicted positive (selection rate);
        - "equal_opportunity": the same among rows that are positive (true positive rate);
        - "predictive_equality": the same among rows that are not (false positive rate);
        - "equalized_odds": both of the last two;
        - "accuracy_parity": the share of rows that are wrong (error rate). It is the only one for
          more than two classes, and the only one that may be impossible to keep: a tree that
          gives all rows the same label keeps all others.
    tolerance : float, Fraction, str, list or dict, default=0.01
        Largest difference of a rate between two groups, from 0 to 1. Used as the decimal or
        fraction that is written: 0.1 is one tenth, "1/3" one third. Several constraints have one
        tolerance for all, a list with one for each, or a dict by their names.
    objective : str, Metric or callable, default="accuracy"
        What is maximised: "accuracy", "balanced_accuracy", or a metric of false positives and
        negatives ("f1", "mcc", "gmean", ..., or a function), as for
        :class:`OptimalTreeClassifier`. Areas under the ROC curve and fronts are refused: they
        belong to no single labelling of the leaves, whose rates could be compared.
    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        What a label costs a row of a class, in place of one for every error: rows are true classes,
        columns predicted ones, both in the order of ``classes_``. The mean cost is then minimised,
        for any number of classes that the constraints allow.
    use_sensitive : bool, default=False
        Whether the tree may ask for the group. By default, tests of X that only state the
        group (those that equal the sensitive feature, or its negation) are left out; the
        certificate lists them. A tree can only ask for columns of X in either case.
    sensitive_columns : str, int, list of them, or None, default=None
        Columns of X, by name or number, that hold the groups, in place of `sensitive_features` in
        `fit`.
    pos_label : label or None, default=None
        The positive class; None: the greater of the two.
    max_depth : int or None, default=3
        Most questions on a path from the root to a leaf; None: no limit, for which `max_splits` or
        a `complexity` is needed.
    max_splits, max_leaf_nodes, complexity, complexity_per, min_samples_leaf
        As for :class:`OptimalTreeClassifier`.
    class_weight : dict, "balanced" or None, default=None
        Weight of errors in each class. Rates do not depend on it.
    categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit, gap, n_jobs, verbose
        As for :class:`OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : Tree
        The tree; absent if no tree is within the tolerance, and predicting then raises
        :class:`InfeasibleError`.
    certificate_ : FairnessCertificate
        What is proven about it, with the exact rates.
    groups_ : array
        The groups, sorted; for several sensitive columns tuples.
    group_rates_ : dict
        For each rate that is compared, a dict from groups to their rate on the training rows.
    disparity_ : float
        The largest difference of a rate between two groups, rounded once from the exact value.
    classes_, n_classes_, encoder_, n_features_in_, feature_names_in_, feature_importances_
        As for :class:`OptimalTreeClassifier`.

    See Also
    --------
    fairness_curve : The price of fairness over all tolerances.
    verify : Recompute a certificate from the data.

    Notes
    -----
    Without any groups (neither `sensitive_features` nor `sensitive_columns`), `fit` warns, and
    finds the best tree without a constraint.

    For scikit-learn's metadata routing, ``set_fit_request(sensitive_features=True)``.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import FairTreeClassifier, datasets
    >>> X, y = datasets.load_credit(return_X_y=True, as_frame=False)
    >>> is_young = X[:, 0] < 30
    >>> model = FairTreeClassifier(max_depth=2, tolerance=0.01, pos_label="repaid")
    >>> model = model.fit(X, y, sensitive_features=is_young)
    >>> model.certificate_.status, model.disparity_ <= 0.01
    ('optimal', True)
    """

    constraint: str | Sequence[str] = parameter(
        default="demographic_parity", check=check_constraint, kw_only=False
    )
    tolerance: Tolerance | Sequence[Tolerance] | Mapping[str, Tolerance] = parameter(
        default=0.01, kw_only=False
    )
    use_sensitive: bool = parameter(default=False, check=_check_truth)
    sensitive_columns: Any = None
    objective: Any = parameter(default="accuracy", check=check_objective)
    cost_matrix: Any = None

    certificate_: FairnessCertificate = fitted()
    classes_: NDArray[Any] = fitted()
    n_classes_: int = fitted()
    groups_: NDArray[Any] = fitted()
    group_rates_: dict[str, dict[Any, float]] = fitted()
    disparity_: float = fitted()

    def fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        *,
        callback: Callback | None = None,
    ) -> FairTreeClassifier:
        """Find the best tree within the tolerance.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for :class:`OptimalTreeClassifier`.
        y : array-like of shape (n_rows,)
            Class labels.
        sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
            The group of each row: texts, truth values, integers or categories, without
            missing values. Several columns: groups are the combinations that occur.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows, in errors and in rates. Rows of weight zero are left out. Rates are
            exact for any weights; errors are, too, for decimals of up to 15 digits, and otherwise
            those of weights that are rounded to ``certificate_.weight_quantum``.
        callback : callable, optional
            As for :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        FairTreeClassifier
            The fitted estimator itself.
        """
        self._plan(sensitive_features=sensitive_features)
        read_tolerances(self.constraint, self.tolerance)
        with self._budget():
            statement = state_fairness(self, X, y, sensitive_features, sample_weight)
            if statement.comparison is None:
                warn(
                    "No sensitive_features were given, so there are no groups to compare: the tree "
                    "is the best without a constraint. Call fit(X, y, sensitive_features=...), or "
                    "name sensitive_columns.",
                    UserWarning,
                )
            self.classes_ = statement.classes
            self.n_classes_ = len(statement.classes)
            watch, nodes, certificate = solve_fair(self, statement, callback)
            if hasattr(self, "tree_"):
                del self.tree_
            if certificate.has_tree:
                self.tree_ = statement.grow(nodes)
            self._keep_certificate(certificate)
        self._finish(watch)
        return self

    def _fit_groups(self, reduced: Reduced, **more: Any) -> None:
        self._plan(reduced=True)
        labels = labels_of(self, reduced)
        self.fit(reduced, labels, reduced.sensitive, reduced.weights, **more)

    def fairness_curve(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        *,
        least_tolerance: float | Fraction | str = 0.001,
        callback: Callback | None = None,
    ) -> FairnessCurve:
        """Find the best tree for every tolerance, in one search.

        The estimator itself does not change. Its `tolerance` and `gap` are not used.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight
            As for :meth:`fit`.
        least_tolerance : float, Fraction or str, default=0.001
            Where the curve begins: its first tree is the best for this tolerance. Very small
            tolerances can take most of the time; 0 asks for them, too.
        callback : callable, optional
            As for :meth:`fit`.

        Returns
        -------
        FairnessCurve
            All trees that no other beats in both disparity and cost, with a plot.
        """
        self._plan(fairness_curve=True, sensitive_features=sensitive_features)
        # A shallow copy with the same parameters takes what fitting leaves behind.
        model = type(self)(**self.get_params(deep=False))
        with model._budget():
            statement = state_fairness(model, X, y, sensitive_features, sample_weight)
            model.classes_ = statement.classes
            model.n_classes_ = len(statement.classes)
            curve = find_curve(model, statement, read_tolerance(least_tolerance), callback)
        if not curve.is_optimal:
            warn(
                f"The search for the curve was {status_text(curve.status)}: "
                f"{len(curve)} trees were found, and others may be missing; its lower_points bound "
                "what any tree can reach. Raise the limit, or ask for smaller trees.",
                OptimalityWarning,
            )
        return curve

    def fairness_report(
        self, X: Any, y: Any, sensitive_features: Any = None, sample_weight: Any = None
    ) -> FairnessReport:
        """Return the rates of all groups on any rows, such as those held out.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        y : array-like of shape (n_rows,)
            Their classes.
        sensitive_features : array-like of shape (n_rows,) or (n_rows, n_columns)
            Their groups; by default those of `sensitive_columns`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        FairnessReport
            Selection, true positive, false positive and error rates, which print as a table. For
            more than two classes it has only error rates.
        """
        return report_on(self, X, y, sensitive_features, sample_weight)

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return check_labels(y, self._row_count(X), type(self).__name__), params

    def _score_params(self, y: Any, params: dict[str, Any]) -> dict[str, Any]:
        return with_class_weights(self, y, params)

    def _score_part(self, X: Any, y: Any, **params: Any) -> float:
        weights = params.get("sample_weight")
        prices = read_prices(self.cost_matrix)
        if prices is None:
            return metric_score(self, self.objective, X, y, weights)
        place = {label: k for k, label in enumerate(self.tree_.classes.tolist())}
        true, said = (
            np.array([place[label] for label in labels.tolist()])
            for labels in (as_array(y), self.tree_.predict(X))
        )
        units = np.average(prices.units[true, said], weights=weights)
        return -float(units) * float(prices.unit)

    def _measure_name(self) -> str:
        return "negative mean cost" if self.cost_matrix is not None else task_name(self.objective)

    def _what_is_optimised(self) -> Objective:
        return objective_asked(self.objective)

    def _keep_certificate(self, certificate: FairnessCertificate) -> None:
        """Give the fitted estimator a certificate, and what users read off it."""
        self.certificate_ = certificate
        groups = certificate.groups
        self.groups_ = np.empty(len(groups), dtype=object)
        self.groups_[:] = groups
        self.group_rates_ = {
            name: {group: float(rate) for group, rate in zip(groups, rates, strict=True)}
            for name, rates in certificate.rates
        }
        apart = certificate.disparity
        self.disparity_ = float("nan") if apart is None else float(apart)

    def _cost_budget(self, n_rows: int, complexity: Fraction) -> int:
        # Costs are added to multiples of differences of rates, which need room, too.
        prices = read_prices(self.cost_matrix)
        if prices is None:
            return super()._cost_budget(n_rows, complexity) // _ROOM_FOR_MULTIPLIERS
        share = complexity / prices.most
        room = _ROOM_FOR_MULTIPLIERS * int(prices.units.max())
        return max(super()._cost_budget(n_rows, share) // room, 1)

    def _warn_without_tree(self) -> None:
        certificate = self.certificate_
        if not certificate.is_infeasible:
            warn(
                f"{certificate.statement()} There is nothing to predict with: raise the limit, or "
                "the tolerance.",
                OptimalityWarning,
            )
            return
        closest = certificate.least_disparity
        advice = "" if closest is None else f" A tolerance of {_at_least(closest)} can be kept to."
        warn(
            f"No tree is within tolerance={self.tolerance!r}, which is proven; there is nothing to "
            f"predict with.{advice}",
            UserWarning,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        known = all(one in CONSTRAINTS for one in constraint_names(self.constraint))
        tags.classifier_tags.multi_class = known and not needs_two_classes(self.constraint)
        return tags
