"""The tree classifier that treats groups alike, within a tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Reduced
from certree.encoding._classes import check_labels
from certree.encoding._texts import as_array
from certree.exceptions import OptimalityWarning, warn
from certree.fitting.asked import Objective
from certree.fitting.budgets import open_call
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.goals import GroupGoal
from certree.fitting.objectives import objective_asked, task_name
from certree.fitting.prove_groups import find_curve
from certree.fitting.read import count_rows
from certree.fitting.request import Request
from certree.fitting.state_groups import FairStatement, read_prices
from certree.results._certificate import exact
from certree.results._fairness import FairnessCertificate, FairnessCurve, FairnessReport
from certree.results._lazy import Lazy
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
from ._rare_classes import ALIKE, hint_at_rare_classes
from ._reading import PredictsClasses, labels_of
from ._scoring import metric_score, with_class_weights
from ._vocabulary import ClassParameters, fitted, parameter, with_parameters

if TYPE_CHECKING:
    from typing_extensions import Self


Tolerance = float | Fraction | str
"""A share, as the decimal or fraction that is written."""


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
        given = {"sensitive_features": sensitive_features, "callback": callback}
        self._take(fit(Request.of(self, X, y, sample_weight, **given)))
        is_plain = self.class_weight is None and self.cost_matrix is None and sample_weight is None
        if is_plain and str(self.objective).lower() == "accuracy" and hasattr(self, "tree_"):
            hint_at_rare_classes(self.tree_, ALIKE)
        return self

    def _goal(
        self, X: Any, y: Any, sample_weight: Any, sensitive_features: Any = None, **call: Any
    ) -> GroupGoal:
        read_tolerances(self.constraint, self.tolerance)  # refuses numbers that are not shares
        return GroupGoal(
            y=y,
            objective=self.objective,
            pos_label=self.pos_label,
            class_weight=self.class_weight,
            constraint=self.constraint,
            tolerance=self.tolerance,
            use_sensitive=bool(self.use_sensitive),
            sensitive_columns=self.sensitive_columns,
            sensitive_features=sensitive_features,
            cost_matrix=self.cost_matrix,
        )

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        assert isinstance(fitted.statement, FairStatement)
        self.classes_ = fitted.statement.classes
        self.n_classes_ = len(self.classes_)
        if fitted.certificate is not None:
            self._keep_certificate(fitted.certificate)
        return self

    def _fit_groups(self, reduced: Reduced, **more: Any) -> None:
        given = {"sensitive_features": reduced.sensitive, "reduced": True, **more}
        labels = labels_of(self, reduced)
        self._take(fit(Request.of(self, reduced, labels, reduced.weights, **given)))

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
        least = read_tolerance(least_tolerance)
        given = {"sensitive_features": sensitive_features, "callback": callback}
        request = Request.of(self, X, y, sample_weight, fairness_curve=True, **given)
        with open_call(request.by, request.budget):
            parts = find_curve(request, least)
        # A shallow copy with the same parameters takes what fitting leaves behind.
        model = type(self)(**self.get_params(deep=False))
        model._take(Fitted(goal=request.goal, statement=parts.statement, tree=None))
        curve = FairnessCurve(
            model,
            Lazy(len(parts.nodes), parts.tree),
            Lazy(
                len(parts.nodes),
                lambda place: parts.certificate(place, *curve.bound(place, parts.points[place][0])),
            ),
            parts.points,
            parts.found.status,
            parts.lower_points,
            exact(least),
            parts.seconds,
        )
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
        return check_labels(y, count_rows(X), type(self).__name__), params

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        known = all(one in CONSTRAINTS for one in constraint_names(self.constraint))
        tags.classifier_tags.multi_class = known and not needs_two_classes(self.constraint)
        return tags
