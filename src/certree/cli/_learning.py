"""Commands that learn from a table: fit, path, front, compare."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding._identifiers import has_identifiers
from certree.encoding._named import NamedArray
from certree.estimators import (
    FairTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    OrdinalTreeClassifier,
    SurvivalTree,
    TreeCV,
    pareto_front,
    regularization_path,
)
from certree.report import report

from ._cart import compare_with_cart
from ._commands import TaskName
from ._files import read_file
from ._models import check_output, save_model
from ._options import (
    FairOptions,
    LeafOptions,
    SearchOptions,
    TableOptions,
    TreeOptions,
    names,
)
from ._printing import remark, say, say_json, say_result
from ._problems import FAILURE, PROVEN, STOPPED, UsageProblem, listed
from ._tables import LearningData, is_number, read_data

# Whole numbers with more different values than this are quantities and not classes.
_MOST_CLASSES = 20


_ESTIMATORS: dict[TaskName, Any] = {
    TaskName.classifier: OptimalTreeClassifier,
    TaskName.regressor: OptimalTreeRegressor,
    TaskName.ordinal: OrdinalTreeClassifier,
    TaskName.fair: FairTreeClassifier,
    TaskName.survival: SurvivalTree,
    TaskName.linear: LinearTreeRegressor,
    TaskName.clusters: OptimalTreeClusterer,
}


def fit(
    data: str,
    table: TableOptions,
    tree: TreeOptions,
    leaves: LeafOptions,
    search: SearchOptions,
    fair: FairOptions,
    output: str,
    page: str | None,
    task: TaskName,
    gap: Any,
    cv: int | None,
    json: bool,
) -> int:
    """Learn the best tree, and write it to a model file with its certificate."""
    for path in (output, *([] if page is None else [page])):
        check_output(path)
    given = _read(data, table, task, fair)
    asked = _Asked(given, tree, search, leaves, fair)
    model = _make(_task(task, given, leaves, fair), asked, cv)
    if cv is None:
        model.set_params(gap=gap)
    _fit(model, given)
    certificate = model.certificate_
    if not certificate.has_tree:
        say(certificate.statement())
        return FAILURE
    save_model(model, given.layout, output)
    if page is not None:
        report(model, given.X, given.y, sensitive_features=given.groups).save(page)
    if json:
        say_json(certificate.to_dict())
    elif not search.quiet:
        say_result(certificate)
        say()
        say(model.tree_.to_text())
        say()
        if cv is not None:
            say(model.curve_.statement())
        say(f"model written to {output}")
        if page is not None:
            say(f"report written to {page}")
    return PROVEN if certificate.is_optimal or certificate.status == "gap" else STOPPED


def path(
    data: str,
    table: TableOptions,
    tree: TreeOptions,
    leaves: LeafOptions,
    search: SearchOptions,
    task: TaskName,
    plot: str | None,
    json: bool,
) -> int:
    """Find the best tree for every number of splits, in one search."""
    _check_plot(plot)
    given = _read(data, table, task)
    learned = _task(task, given, leaves)
    asked = _Asked(given, tree, search, leaves)
    if learned is TaskName.classifier and len(given.layout.target) == 1:
        settings = _settings(learned, asked)
        for name in ("complexity", "pos_label"):
            settings.pop(name, None)
        found = regularization_path(given.X, given.y, sample_weight=given.weights, **settings)
    else:
        model = _make(learned, asked)
        model.fit(given.X, given.y, given.weights, path=True)
        found = model.path_
    return _show_many(found, plot, json, quiet=search.quiet)


def front(
    data: str,
    table: TableOptions,
    tree: TreeOptions,
    search: SearchOptions,
    fair: FairOptions,
    plot: str | None,
    json: bool,
) -> int:
    """Find all trees that no other beats: in false positives and negatives, or in fairness."""
    _check_plot(plot)
    given = _read(data, table, TaskName.classifier, fair)
    asked = _Asked(given, tree, search, fair=fair)
    _one_target("front", given)
    if given.groups is not None:
        model = _make(TaskName.fair, asked)
        found: Any = model.fairness_curve(given.X, given.y, given.groups, given.weights)
    else:
        settings = _settings(TaskName.classifier, asked)
        for name in ("complexity", "objective"):
            settings.pop(name, None)
        found = pareto_front(given.X, given.y, sample_weight=given.weights, **settings)
    return _show_many(found, plot, json, quiet=search.quiet)


def compare(
    data: str,
    table: TableOptions,
    tree: TreeOptions,
    search: SearchOptions,
    task: TaskName,
    test: str | None,
    json: bool,
) -> int:
    """Compare scikit-learn's greedy tree (CART) with the best tree of the same limits."""
    given = _read(data, table, task)
    _one_target("compare", given)
    learned = _task(task, given)
    if learned not in (TaskName.classifier, TaskName.regressor):
        raise UsageProblem(f"compare has no --task {learned.value}; use classifier or regressor.")
    held = None
    if test is not None:
        raw = read_file(test, table.style)
        held = read_data(raw, given.layout, features=list(given.X.columns or ()))
    settings = _settings(learned, _Asked(given, tree, search))
    found = compare_with_cart(learned is TaskName.classifier, given, held, settings)
    if json:
        say_json(found.to_dict())
    elif not search.quiet:
        found.say()
    return PROVEN if found.is_proven else STOPPED


# ---- from options to estimators ------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """The rows, and all that was said of the estimator."""

    given: LearningData
    tree: TreeOptions
    search: SearchOptions
    leaves: LeafOptions = field(default_factory=LeafOptions)
    fair: FairOptions | None = None


def _read(
    path: str, table: TableOptions, task: TaskName, fair: FairOptions | None = None
) -> LearningData:
    raw = read_file(path, table.style)
    layout = table.layout()
    if task is TaskName.clusters:
        if layout.target:
            raise UsageProblem(
                "--target has no meaning for --task clusters; leave the column out with --drop."
            )
    elif not layout.target:
        raise UsageProblem(
            f"Name the column to predict with --target; the columns of {raw.where} are "
            f"{listed(raw.names)}."
        )
    groups = () if fair is None else names(fair.sensitive or [])
    given = read_data(raw, replace(layout, groups=groups))
    if table.event is None and task is not TaskName.survival:
        return given
    return _with_events(given, table, task)


def _with_events(given: LearningData, table: TableOptions, task: TaskName) -> LearningData:
    """Return rows with time and event as their target."""
    if task not in (TaskName.auto, TaskName.survival):
        raise UsageProblem("--event is for survival trees, of fit and path; leave it out.")
    columns = given.layout.target
    if len(columns) > 2:
        raise UsageProblem(f"A survival tree needs time and event, got {listed(columns)}.")
    if len(columns) == 1:
        remark(
            f"every row counts as one whose event was seen at {columns[0]!r}; name the column that "
            "says so with --event."
        )
    return replace(given, y=np.asarray(given.y))


def _one_target(command: str, given: LearningData) -> None:
    if len(given.layout.target) > 1:
        raise UsageProblem(
            f"{command} takes one target, got {listed(given.layout.target)}; name one of them."
        )


def _task(
    task: TaskName,
    given: LearningData,
    leaves: LeafOptions | None = None,
    fair: FairOptions | None = None,
) -> TaskName:
    """Return what is learned, by the type of the target unless it is said."""
    if task is not TaskName.auto:
        return task
    if fair is not None and fair.sensitive:
        return TaskName.fair
    assert given.y is not None
    if given.y.ndim == 2 and not isinstance(given.y, NamedArray):
        return TaskName.survival
    wanted = set() if leaves is None else leaves.settings().keys()
    if wanted & {"criterion", "quantile"}:
        return TaskName.regressor
    if wanted & {"leaf_model", "ridge", "model_features"}:
        return TaskName.linear
    return _by_type(given)


def _by_type(given: LearningData) -> TaskName:
    targets = np.asarray(given.y).reshape(len(given.X), -1).T
    kinds = [
        _kind_of(given.layout.types[name], values)
        for name, values in zip(given.layout.target, targets, strict=True)
    ]
    if len(set(kinds)) > 1:
        told = ", ".join(
            f"{n} ({k.value})" for n, k in zip(given.layout.target, kinds, strict=True)
        )
        raise UsageProblem(
            f"The targets are of different kinds: {told}; say with --task what to learn."
        )
    if kinds[0] is TaskName.regressor:
        found = ", ".join(
            f"{name!r} has {len(np.unique(values))} different numbers"
            for name, values in zip(given.layout.target, targets, strict=True)
        )
        are_whole = all(given.layout.types[name] == "whole" for name in given.layout.target)
        advice = "; --task classifier takes them as classes" if are_whole else ""
        remark(f"{found}, so that a regression tree is learned{advice}.")
    return kinds[0]


def _kind_of(kind: str, values: NDArray[Any]) -> TaskName:
    is_class = kind in ("text", "flag") or (
        kind == "whole" and len(np.unique(values)) <= _MOST_CLASSES
    )
    return TaskName.classifier if is_class else TaskName.regressor


def _settings(task: TaskName, asked: _Asked) -> dict[str, Any]:
    """Return the options as parameters of an estimator."""
    given, tree = asked.given, asked.tree
    options = {
        "max_splits": tree.max_splits,
        "min_samples_leaf": tree.min_samples_leaf,
        "objective": tree.objective,
        "pos_label": tree.pos_label,
        "class_weight": tree.class_weight,
    }
    settings = {name: value for name, value in options.items() if value is not None}
    settings |= asked.leaves.settings()
    known = _ESTIMATORS[task]().get_params(deep=False)
    for name in settings:
        if name not in known:
            option = name.replace("_", "-")
            raise UsageProblem(f"--{option} has no meaning for --task {task.value}; leave it out.")
    for name in {"pos_label", "class_weight"} & settings.keys():
        settings[name] = _labels(settings[name], given.y, f"--{name.replace('_', '-')}")
    return {
        "max_depth": tree.max_depth,
        "complexity": tree.complexity,
        "thresholds": tree.thresholds,
        "categorical_features": _categories(given, tree) or "auto",
        "min_category_rows": tree.min_category_rows,
        "category_tests": tree.category_tests,
        "identifiers": tree.identifiers,
        **asked.search.settings(),
        **settings,
    }


def _labels(named: Any, y: Any, option: str) -> Any:
    """Return what an option says of classes, by the classes themselves."""
    if isinstance(named, dict):
        return {_label(name, y, option): weight for name, weight in named.items()}
    return named if named == "balanced" else _label(named, y, option)


def _categories(given: LearningData, tree: TreeOptions) -> list[str]:
    """Return the columns of categories that look like numbers: those given, and codes."""
    columns = given.X.columns or ()
    codes = [
        name
        for place, name in enumerate(columns)
        if given.layout.types[name] == "text" and all(map(is_number, given.X[:, place]))
    ]
    if tree.identifiers == "drop":
        # A column that is named here is kept.
        codes = [name for name in codes if not has_identifiers(given.X[:, columns.index(name)])]
    return list(dict.fromkeys((*names(tree.categorical or []), *codes)))


def _label(text: str, y: NDArray[Any], option: str) -> Any:
    """Return the class that a text names."""
    labels = np.unique(y).tolist()
    for label in labels:
        if str(label) == text or (isinstance(label, bool) and str(label).lower() == text.lower()):
            return label
    raise UsageProblem(
        f"{option}: there is no class {text!r}; there are {listed(list(map(str, labels)))}."
    )


def _make(task: TaskName, asked: _Asked, cv: int | None = None) -> Any:
    """Return the estimator that the options ask for."""
    given, fair = asked.given, asked.fair
    settings = _settings(task, asked)
    if task is TaskName.fair:
        if given.groups is None or fair is None:
            raise UsageProblem("--task fair compares groups; name their columns with --sensitive.")
        settings["constraint"] = _one_or_all(fair.constraint or ["demographic_parity"])
        settings["tolerance"] = _one_or_all(fair.tolerance or ["0.01"])
    elif given.groups is not None:
        raise UsageProblem(f"--sensitive has no meaning for --task {task.value}; use --task fair.")
    return _ESTIMATORS[task](**settings) if cv is None else _make_cv(task, settings, cv)


def _one_or_all(given: list[str]) -> str | list[str]:
    return given[0] if len(given) == 1 else given


def _make_cv(task: TaskName, settings: dict[str, Any], cv: int) -> Any:
    """Return the estimator that chooses the size by cross-validation."""
    if cv < 2:
        raise UsageProblem(f"--cv needs at least 2 folds, got {cv}.")
    depth, splits = settings.pop("max_depth"), settings.pop("max_splits", None)
    if depth is None or settings.pop("complexity") != 0:
        raise UsageProblem("--cv chooses the size up to --max-depth, without --complexity.")
    sizes = "all" if splits is None else range(1, splits + 1)
    chosen: dict[str, Any] = {"depths": range(1, depth + 1), "sizes": sizes, "cv": cv}
    if task is TaskName.classifier:
        return OptimalTreeClassifierCV(**chosen, **settings)
    if task is TaskName.regressor:
        return OptimalTreeRegressorCV(**chosen, **settings)
    limits = {name: settings.pop(name) for name in SearchOptions().settings()}
    return TreeCV(_ESTIMATORS[task](**settings), **chosen, **limits)


def _fit(model: Any, given: LearningData) -> None:
    groups = {} if given.groups is None else {"sensitive_features": given.groups}
    model.fit(given.X, given.y, sample_weight=given.weights, **groups)


def _check_plot(plot: str | None) -> None:
    if plot is not None:
        check_output(plot)


def _show_many(found: Any, plot: str | None, json: bool, *, quiet: bool) -> int:
    """Print a path, a front or a curve, and draw it."""
    if json:
        say_json(found.to_dict())
    elif not quiet:
        say(str(found))
    if plot is not None:
        found.plot().figure.savefig(plot)
    return PROVEN if found.is_optimal else STOPPED
