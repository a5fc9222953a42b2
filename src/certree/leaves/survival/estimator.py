"""The optimal survival tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding import Reduced
from certree.estimators._reading import labels_of
from certree.estimators._task_tree import BaseTargetTree
from certree.estimators._vocabulary import DepthByPosition, with_parameters
from certree.exceptions import warn
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.request import Request
from certree.fitting.state_task import Reached, TaskStatement
from certree.leaves.survival.censored import read_censored
from certree.leaves.survival.event_times import concordance, kaplan_meier
from certree.leaves.survival.loss import SurvivalLoss, SurvivalProblem
from certree.numbers._exact import check_weights
from certree.results._progress import Callback
from certree.tasks._task import Task
from certree.tree import StepFunction, SurvivalCurve, SurvivalLeaves

if TYPE_CHECKING:
    from typing_extensions import Self


class SurvivalStatement(TaskStatement):
    """The loss of survival trees on the rows of a table; leaves get their curves."""

    def payload(self, nodes: engine.Nodes, reached: Reached) -> SurvivalLeaves:
        problem = self.problem
        assert isinstance(problem, SurvivalProblem)
        leaf = np.flatnonzero(nodes.is_leaf)
        label = np.full(len(nodes), -1, dtype=np.int32)
        label[leaf] = np.arange(len(leaf))
        risks = problem.read(reached.sums, reached.leaves)[leaf]
        curves = tuple(_curve(problem, np.flatnonzero(reached.leaves == node)) for node in leaf)
        counts, rows = self.amounts(nodes, reached.leaves)
        baseline = problem.times, problem.hazards
        return SurvivalLeaves(label, counts, risks, curves, *baseline, rows=rows)


def _curve(problem: SurvivalProblem, rows: NDArray[np.intp]) -> SurvivalCurve:
    target = problem.target[rows]
    found = kaplan_meier(target["time"], target["event"], problem.weights[rows])
    return SurvivalCurve(*found, last=float(target["time"].max(initial=0.0)))


@with_parameters
class SurvivalTree(DepthByPosition, BaseTargetTree):
    r"""A tree for times until an event, some of them censored, proven best within its limits.

    A leaf has the hazard of all rows times a number of its own, its risk :math:`\theta`. Among all
    trees within the limits it finds one with the greatest likelihood, that is with the least

    .. math:: \sum_{\text{leaves}} \Big( -\sum_i w_i \delta_i \log \Lambda(t_i)
              - D \log \frac{D}{S} \Big) + \text{complexity} \cdot L_0 \cdot \text{splits},
              \qquad D = \sum_i w_i \delta_i, \quad S = \sum_i w_i \Lambda(t_i).

    :math:`\Lambda` is the cumulative hazard of all rows by Nelson and Aalen, :math:`\delta_i` is 1
    where the event was seen, D is the number of events in a leaf, S the number that the hazard of
    all rows lets expect there, and :math:`L_0` is the loss of a tree without splits. That is the
    loss of SurTree.

    Parameters
    ----------
    max_depth, max_splits, max_leaf_nodes, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf), as a share of the loss of a tree without splits.
    complexity_per, categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit
        As for :class:`OptimalTreeClassifier`.
    gap : float, fraction or str, default=0.0
        Accept a tree whose loss is proven to be within this of the least.
    n_jobs, executor, verbose
        As for :class:`OptimalTreeClassifier`.

    Attributes
    ----------
    tree_ : Tree
        The tree; its leaves hold risks and curves.
    certificate_ : TaskCertificate
        What is proven about it: ``cost`` is the loss plus the penalty, ``objective`` the share of
        the loss of a tree without splits that the tree explains, less the penalty.
    curves_ : dict from int to SurvivalCurve
        The Kaplan-Meier curve of the training rows of each leaf, with its confidence band.
    unique_times_ : array of shape (n_times,)
        The times of events in training, at which predicted functions have their steps.
    encoder_, n_features_in_, feature_names_in_, feature_importances_, path_
        As for :class:`OptimalTreeClassifier`; importances are shares of the loss saved.

    See Also
    --------
    tasks.SurvivalLoss : The same objective for :func:`solve`.

    Notes
    -----
    A leaf without events costs nothing, and its risk would be 0. It predicts the risk that it had
    with half an event, as LeBlanc and Crowley propose. A row that is censored before the first
    event has the cumulative hazard ``w / (W + w)``, and not 0, where W is the weight of all rows
    and w that of the lightest: one over the number of rows and one, if all weigh the same.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import SurvivalTree
    >>> X = [[0], [0], [1], [1]]
    >>> y = [[1, 1], [2, 1], [4, 1], [8, 0]]  # time, and whether the event was seen
    >>> model = SurvivalTree(max_depth=1).fit(X, y)
    >>> model.predict([[0], [1]]).round(3).tolist()
    [2.4, 0.462]
    >>> round(model.score(X, y), 3)
    0.833
    """

    _statement_kind: ClassVar[type[TaskStatement]] = SurvivalStatement

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        callback: Callback | None = None,
        path: bool = False,
    ) -> Self:
        """Find the best tree for the training rows.

        Parameters
        ----------
        y : structured array, frame or array of shape (n_rows, 2)
            Event and time of each row: a structured array with a field of truth values for the
            event and one for the time, as scikit-survival has it; a frame with these columns; or an
            array with the columns time and event. An event is 1 (True) where it was seen, and 0
            where the row is censored. One column alone holds times that all ended with the event.
        X, sample_weight, callback, path
            As for :meth:`OptimalTreeClassifier.fit`; a row of weight 2 counts as two.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        return super().fit(X, y, sample_weight, callback=callback, path=path)

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        if fitted.certificate is not None and not len(self.unique_times_):
            warn(
                "y has no event, so that every survival curve is flat and all rows have the same "
                "risk; check that events are 1 where they were seen.",
                UserWarning,
            )
        return self

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        return SurvivalLoss()

    def _read_target(self, y: Any, n_rows: int) -> NDArray[Any]:
        return read_censored(y, n_rows, type(self).__name__)

    def _fit_groups(self, reduced: Reduced, **more: Any) -> None:
        labels = np.asarray(labels_of(self, reduced))
        request = Request.of(self, reduced, labels, reduced.weights, reduced=True, **more)
        self._take(fit(request))

    def _measure_name(self) -> str:
        return "concordance"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    @property
    def _leaves(self) -> SurvivalLeaves:
        self._check_tree()
        payload = self.tree_.payload
        assert isinstance(payload, SurvivalLeaves)
        return payload

    @property
    def curves_(self) -> dict[int, SurvivalCurve]:
        """The Kaplan-Meier curve of each leaf, by its number in ``tree_``."""
        leaves = self._leaves
        return {node: leaves.curve(node) for node in np.flatnonzero(leaves.label >= 0).tolist()}

    @property
    def unique_times_(self) -> NDArray[np.float64]:
        """The times of events in training."""
        return self._leaves.times

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the risk of each row: its hazard as a multiple of the hazard of all rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.

        Returns
        -------
        array of shape (n_rows,)
            Risks; 1 is the average, and greater means earlier events.
        """
        return super().predict(X)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> NDArray[Any]:
        r"""Return the share without an event by time, :math:`e^{-\theta \Lambda(t)}`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        return_array : bool, default=False
            Return the values at ``unique_times_``, and not functions.

        Returns
        -------
        array of StepFunction, or array of shape (n_rows, n_times)
            Call a function with times for the values at these times.
        """
        return self._functions(X, return_array, lambda hazard: np.exp(-hazard), before=1.0)

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False
    ) -> NDArray[Any]:
        r"""Return the cumulative hazard by time, :math:`\theta \Lambda(t)`.

        Parameters
        ----------
        X, return_array
            As for :meth:`predict_survival_function`, which returns the same form.
        """
        return self._functions(X, return_array, lambda hazard: hazard, before=0.0)

    def _functions(self, X: Any, return_array: bool, form: Any, before: float) -> NDArray[Any]:
        leaves, places = self._leaves, self.apply(X)
        values = form(leaves.values[:, None] * leaves.hazards[None, :])
        if return_array:
            return np.asarray(values[leaves.label[places]])
        known = [StepFunction(leaves.times, line, before) for line in values]
        found = np.empty(len(places), dtype=object)
        found[:] = [known[content] for content in leaves.label[places].tolist()]
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Harrell's concordance: the share of pairs of rows that risks put in order.

        A pair counts if one row had its event while the other was still observed; it is in order
        if the first has the greater risk, and counts half if both have the same.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Raw rows, with the columns seen in `fit`.
        y : structured array, frame or array of shape (n_rows, 2)
            Event and time of each row, as in `fit`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows; a pair counts by the product.
        """
        risk = self.predict(X)
        target = read_censored(y, len(risk), type(self).__name__)
        weights: list[Any] = [1] * len(risk)
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(risk)).tolist()
        found = concordance(target["time"], target["event"], risk, weights)
        if found != found:
            raise ValueError(
                "No two rows can be compared: none had its event while another was still observed. "
                "Give more rows, fewer folds, or folds that all have events."
            )
        return found

    def _fold_classes(self, y: Any) -> Any:
        # A fold without an event has no pairs to score.
        return read_censored(y, len(y), type(self).__name__)["event"]

    def to_sklearn(self, *, encoded: bool = False) -> Any:
        """Return a fitted scikit-learn DecisionTreeRegressor that predicts the same risks.

        Parameters
        ----------
        encoded : bool, default=False
            Whether it is over the 0/1 columns of the encoder, not over the raw ones.
        """
        self._check_tree()
        return self.tree_.to_sklearn(encoded=encoded, regressor=True)
