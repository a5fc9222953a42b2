"""The optimal classification tree."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from certree.encoding._classes import check_labels, encode_labels
from certree.encoding._named import read_outputs
from certree.fitting.asked import Objective
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.goals import ClassGoal, Goal, TaskGoal
from certree.fitting.objectives import is_direct, objective_asked, task_name
from certree.fitting.plan import plan
from certree.fitting.read import count_rows
from certree.fitting.request import Request, Start
from certree.fitting.state_errors import ErrorStatement, find_positive
from certree.fitting.state_task import TaskStatement
from certree.leaves.labels.errors import Misclassification, OutputErrors, encode_outputs
from certree.leaves.outputs.weights import refuse_for_one
from certree.results._pareto import ParetoFront, most_accurate
from certree.results._progress import Callback
from certree.tasks._limit import LeafMinimum, Limit
from certree.tasks._limited import Limited

from ._optimal_tree import SharesSearch
from ._parameters import OneOf
from ._rare_classes import ALIKE, RANKED, hint_at_rare_classes
from ._reading import PredictsClasses
from ._scoring import metric_score, with_class_weights
from ._vocabulary import ClassParameters, DepthByPosition, fitted, parameter, with_parameters

if TYPE_CHECKING:
    from typing_extensions import Self


@with_parameters
class OptimalTreeClassifier(PredictsClasses, DepthByPosition, ClassParameters, SharesSearch):
    r"""A decision tree classifier that is proven best within its limits.

    Among all trees within the limits (depth, number of splits, rows per leaf) over the questions
    that the encoder derives from the columns, it finds one that maximises

    .. math:: \text{accuracy} - \text{complexity} \cdot \text{splits}

    (or another metric in place of accuracy) on the training rows. ``certificate_`` holds the proof.
    If y has several columns, the outputs, accuracy is the mean over them, and a leaf has a label
    for each. Ties go to the tree with fewer splits, then, if all tests are binary, to the
    shallower one and, where there are few cut points, to earlier columns.

    Parameters
    ----------
    max_depth : int or None, default=3
        Most questions on a path from the root to a leaf; None: no limit.
    max_splits : int or None, default=None
        Most questions in the tree; None: no limit.
    complexity : float, default=0.0
        Penalty per split (or leaf), as a share of the weight of all rows, from 0 to 1; for
        objectives other than accuracies, in units of the metric. Used as the decimal fraction that
        is written: 0.1 is one tenth.
    complexity_per : {"split", "leaf"}, default="split"
        What the penalty counts.
    objective : str, Metric or callable, default="accuracy"
        What is maximised. "accuracy": the share of rows that are right; "balanced_accuracy": the
        mean of this share over the classes (weighted by `class_weight`, if given). For two
        classes: "f1", "mcc", "auc" and the other names of :func:`certree.metrics.names`, a metric
        of :mod:`certree.metrics`, or a function ``metric(fp, fn, positives, negatives)`` that does
        not rise with either error. ``metrics.ErrorFront()`` finds all nondominated trees, as
        ``front_``, and predicts with the most accurate of them.
    pos_label : label or None, default=None
        The positive class of objectives that have one; None: the greater of the two.
    max_leaf_nodes : int or None, default=None
        Most leaves, which is the same as ``max_splits=max_leaf_nodes - 1``.
    min_samples_leaf : int or float, default=1
        Fewest rows in a leaf. Rows are counted without their weights. A share, such as 0.05, is of
        the rows that have some weight, rounded up.
    output_weights : array-like of shape (n_outputs,) or None, default=None
        What an error in each output costs, if y has several columns: positive numbers; None: 1.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied with the rows' own; "balanced" gives all classes the same
        total. A metric is that of the rows with these weights.
        ``{positive: w}`` counts a false negative as much as `w` false positives.
    capacity : mapping or None, default=None
        From class to the most rows that may get it: a number of rows, or, as a float, a share of
        all rows. ``{"ill": 0.2}``: at most a fifth is called ill. See :class:`tasks.Limit`.
    limits : tasks.Limit, tasks.LeafMinimum, list of them, or None, default=None
        Further limits on the whole tree, such as a recall of at least 0.9. They hold for accuracies
        and for metrics of false positives and negatives; if no tree keeps them, predicting raises
        :class:`InfeasibleError`.
    splits : {"binary", "multiway", "both"}, default="binary"
        "binary": every test has two outcomes. "multiway": tests of category columns have one
        outcome for each category, and a path asks each such column at most once. "both": the
        search chooses. A limit on leaves needs "binary".
    categorical_features : "auto", "all" or list, default="auto"
        Columns whose values are names and not numbers; see :class:`TableEncoder`.
    thresholds : "auto", "all", int or dict, default="auto"
        Cut points of numeric columns; "all" considers every midpoint, so that the tree is best
        among all threshold trees. A dict has cut points, or one of these, for some columns. See
        :class:`TableEncoder`. With a depth limit and no other on
        the size, accuracies are searched by the order of the numbers, so that many cut points
        take no memory.
    min_category_rows : int, default=1
        Categories with fewer rows are joined: trees ask ``city is rare``.
    category_tests : {"one", "subsets", "drop-first", "drop-last"}, default="one"
        "subsets": tests may ask for any set of categories, such as ``city in {Bonn, Ulm}``, of
        columns with up to ten of them. "drop-first", "drop-last": trees do not ask for the first
        or last category of a column; see :class:`TableEncoder`.
    identifiers : {"drop", "keep"}, default="drop"
        Columns of text that have a different value in nearly every row are left out, with a
        warning; "keep" searches them, too. See :class:`TableEncoder`.
    search : {"auto", "depth-first", "best-first"}, default="auto"
        How the search proceeds. The value found is the same.
    time_limit : float or None, default=60.0
        Seconds for the whole call; None: no limit. A fit stopped by a limit keeps the best tree
        found and warns (:class:`OptimalityWarning`) with its gap.
    memory_limit : int, str or None, default="auto"
        Bytes, a text such as "2GB" or "1.5GiB", "auto" (half of the machine's memory) or None.
    gap : float, fraction or str, default=0.0
        Accept a tree whose cost is proven to be within this of the best, in units of
        ``certificate_.cost``: weighted errors, or one minus the metric. A fraction may be written
        as a text, ``"1/3"``.
    n_jobs : int or None, default=1
        Threads; -1: all processors. The tree does not depend on it. Multiway searches use one.
    executor : Executor, Dask client, ray, function or None, default=None
        What shares the search among processes or machines: a ``concurrent.futures.Executor``, a
        client of Dask, the module ``ray``, or a function that makes an executor, which is called
        again if workers die. The tree does not depend on it. Needs `max_depth`, accuracy or
        balanced accuracy, and binary tests; each test gets a column. Not kept in files and pickles.
    verbose : int or "auto", default="auto"
        Whether the best tree so far, the bound and the gap are shown while the search runs.
        "auto": after three seconds, on a terminal or in a notebook only; 0: never; 1: always, from
        the beginning. The logger "certree" has the same for logs.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    certificate_ : Certificate
        What is proven about it.
    encoder_ : TableEncoder
        The questions derived from the columns.
    classes_ : array of shape (n_classes,), or list of them
        The class labels; if y has several columns, a list with those of each.
    n_classes_ : int or list of int
        Number of classes.
    n_outputs_ : int
        Number of columns of y.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, if they were text.
    feature_importances_ : array of shape (`n_features_in_`,)
        Normalised decrease of the Gini impurity by the splits on each column.
    path_ : RegularizationPath
        The best tree for every number of splits, after ``fit(..., path=True)``.
    front_ : ParetoFront
        All nondominated trees, for ``objective=metrics.ErrorFront()``.

    See Also
    --------
    verify : Recompute a certificate from the data.
    regularization_path : The best tree for every number of splits.
    pareto_front : All nondominated pairs of false positives and false negatives.
    optimality_gap : How far any tree is from the best.
    TableEncoder : The tests that are considered.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import OptimalTreeClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = OptimalTreeClassifier(max_depth=2).fit(X, ["no", "yes", "yes", "no"])
    >>> model.predict([[0, 1]])
    array(['yes'], dtype='<U3')
    >>> print(model.certificate_.statement())
    No tree with depth at most 2 over these 2 questions makes fewer than 0 errors on these rows.
    """

    splits: Literal["binary", "multiway", "both"] = parameter(
        default="binary", check=OneOf(("binary", "multiway", "both"))
    )

    output_weights: Any = parameter(default=None)
    capacity: Mapping[Any, Any] | None = None
    limits: Limit | LeafMinimum | Sequence[Any] | None = None

    classes_: Any = fitted()
    n_classes_: Any = fitted()
    n_outputs_: int = fitted()
    front_: ParetoFront = fitted()

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        callback: Callback | None = None,
        warm_start_tree: Any = None,
        path: bool = False,
    ) -> OptimalTreeClassifier:
        """Find the best tree for the training rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            NumPy array, list of rows, data frame; numbers, booleans, categories, texts, missing
            values.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Class labels: texts, booleans or integers; several columns are several outputs.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, not negative. Rows of weight zero are left out. Integers, fractions and short
            decimals are exact where they fit 64 bits; other numbers are rounded to
            ``certificate_.weight_quantum``, and ``certificate_.rounding`` says by how much.
        callback : callable, optional
            Called with a :class:`Progress` now and then; a true answer stops the search.
        warm_start_tree : Tree, OptimalTreeClassifier or DecisionTreeClassifier, optional
            A tree to start from, of certree or a fitted one of scikit-learn. The search looks only
            for better trees; if none exists, it returns and certifies this one. The leaves get
            the best labels for the training rows, splits that the rows do not need are dropped,
            and tests that the encoder does not have are added to ``encoder_``. The tree must
            keep the limits.
        path : bool, default=False
            Also find the best tree for every number of splits, as ``path_``, by a second search.
            The first search has half of the time, the second one the rest.

        Returns
        -------
        OptimalTreeClassifier
            The fitted estimator itself.
        """
        start = None if warm_start_tree is None else Start(warm_start_tree)
        request = Request.of(self, X, y, sample_weight, callback=callback, path=path, start=start)
        self._take(fit(request))
        if sample_weight is None and self._counts_rows_alike() and hasattr(self, "tree_"):
            has_ranks = self.n_classes_ == 2 and not self._has_limits
            hint_at_rare_classes(self.tree_, RANKED if has_ranks else ALIKE)
        return self

    def _counts_rows_alike(self) -> bool:
        """Return whether the objective is the accuracy, as it is by default."""
        return self.class_weight is None and str(self.objective).lower() == "accuracy"

    def _what_is_optimised(self) -> Objective:
        return objective_asked(self.objective)

    def _goal(self, X: Any, y: Any, sample_weight: Any, **call: Any) -> Goal:
        n_rows = count_rows(X)
        several = None if y is None else read_outputs(y, n_rows)
        if several is not None:
            task = Misclassification(output_weights=self.output_weights)
            name = task_name(self.objective)
            return TaskGoal(y=several, n_outputs=several.shape[1], task=task, name=name)
        refuse_for_one(self.output_weights)
        goal = ClassGoal(
            y=y,
            objective=self.objective,
            pos_label=self.pos_label,
            class_weight=self.class_weight,
            capacity=self.capacity,
            limits=self.limits,
        )
        if not self._has_limits or not is_direct(self.objective):
            return goal
        classes, _ = encode_labels(check_labels(y, n_rows, type(self).__name__))
        find_positive(classes.tolist(), self.pos_label, task_name(self.objective))
        is_balanced = task_name(self.objective) == "balanced_accuracy"
        errors = Misclassification("balanced" if is_balanced else self.class_weight)
        limited = Limited(errors, *goal.limits_on(classes.tolist(), n_rows, sample_weight))
        return TaskGoal(y=y, task=limited, name=task_name(self.objective), classes=classes)

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        goal, statement = fitted.goal, fitted.statement
        self.n_outputs_ = goal.n_outputs
        if isinstance(statement, ErrorStatement):
            self.classes_ = statement.classes
        elif isinstance(goal, TaskGoal) and goal.classes is not None:
            self.classes_ = goal.classes
        elif isinstance(statement, TaskStatement):
            assert isinstance(statement.problem, OutputErrors)
            self.classes_ = list(statement.problem.output_classes)
        is_list = isinstance(self.classes_, list)
        self.n_classes_ = [*map(len, self.classes_)] if is_list else len(self.classes_)
        if hasattr(self, "front_"):
            del self.front_
        if fitted.front is not None:
            front = ParetoFront(copy.copy(self), fitted.front.trees, fitted.front.certificate)
            pick = front[most_accurate(front.certificate.points)]
            self.tree_, self.certificate_, self.front_ = pick.tree_, pick.certificate_, front
        return self

    @property
    def _has_limits(self) -> bool:
        """Whether there are limits on the whole tree."""
        return self.capacity is not None or bool(self.limits)

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        n_rows = count_rows(X)
        several = None if y is None else read_outputs(y, n_rows)
        if several is not None:
            plan(self._what_is_asked(n_outputs=several.shape[1]))
            encode_outputs(several, type(self).__name__)
            return several, params
        return check_labels(y, n_rows, type(self).__name__), params

    def _score_params(self, y: Any, params: dict[str, Any]) -> dict[str, Any]:
        return with_class_weights(self, y, params)

    def _score_part(self, X: Any, y: Any, **params: Any) -> float:
        if np.ndim(y) > 1:
            return self.score(X, y, params.get("sample_weight"))
        return metric_score(self, self.objective, X, y, params.get("sample_weight"))

    def _measure_name(self) -> str:
        return task_name(self.objective)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = is_direct(self.objective)
        # Several outputs are searched for errors alone.
        is_plain = task_name(self.objective) == "accuracy" and self.class_weight is None
        has_outputs = is_plain and self.splits == "binary"
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = has_outputs
        return tags
