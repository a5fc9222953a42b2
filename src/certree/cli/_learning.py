"""Commands that learn from a table: fit, path, front, compare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from certree import estimators
from certree.estimators import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    pareto_front,
    regularization_path,
)

from ._cart import compare_with_cart
from ._files import read_file
from ._models import check_output, save_model
from ._options import SearchOptions, TableOptions, TreeOptions, names, number, takes
from ._printing import remark, say, say_json, say_result
from ._problems import FAILURE, PROVEN, STOPPED, UsageProblem, listed
from ._tables import LearningData, is_number, read_data

# Whole numbers with more different values than this are quantities and not classes.
_MOST_CLASSES = 20


class TaskName(str, Enum):
    """What is learned."""

    auto = "auto"
    classifier = "classifier"
    regressor = "regressor"
    ordinal = "ordinal"
    fair = "fair"


@dataclass(frozen=True)
class FairOptions:
    """What a fair tree has to keep."""

    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            "--sensitive",
            help="Columns of the groups to compare; they are not used by the tree.",
            rich_help_panel="Fairness",
        ),
    ] = None
    constraint: Annotated[
        list[str] | None,
        typer.Option(
            "--constraint",
            help="Such as equalized_odds; may be given several times. [default: "
            "demographic_parity]",
            rich_help_panel="Fairness",
        ),
    ] = None
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            "--tolerance",
            help="Largest difference of rates, one for all or one for each constraint. "
            "[default: 0.01]",
            rich_help_panel="Fairness",
        ),
    ] = None


DataFile = Annotated[str, typer.Argument(metavar="DATA", help="A CSV or Parquet file; -: stdin.")]
AsTask = Annotated[
    TaskName, typer.Option("--task", help="What to learn; auto: by the type of the target.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
PlotFile = Annotated[
    str | None, typer.Option("--plot", metavar="FILE", help="Draw it: a PNG, SVG or PDF file.")
]


@takes(table=TableOptions, tree=TreeOptions, search=SearchOptions, fair=FairOptions)
def fit(
    data: DataFile,
    table: TableOptions,
    tree: TreeOptions,
    search: SearchOptions,
    fair: FairOptions,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model.")
    ] = "model.json",
    task: AsTask = TaskName.auto,
    gap: Annotated[
        Any,
        typer.Option(
            "--gap", help="Accept a tree this close to the best.", parser=number, metavar="NUMBER"
        ),
    ] = "0",
    cv: Annotated[
        int | None,
        typer.Option("--cv", metavar="FOLDS", help="Choose the size with so many folds."),
    ] = None,
    json: AsJson = False,
) -> int:
    """Learn the best tree, and write it to a model file with its certificate."""
    check_output(output)
    given = _read(data, table, fair)
    model = _make(_task(task, given, fair), given, tree, search, fair, cv)
    if cv is None:
        model.set_params(gap=gap)
    _fit(model, given)
    certificate = model.certificate_
    if not certificate.has_tree:
        say(certificate.statement())
        return FAILURE
    save_model(model, given.layout, output)
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
    return PROVEN if certificate.is_optimal or certificate.status == "gap" else STOPPED


@takes(table=TableOptions, tree=TreeOptions, search=SearchOptions)
def path(
    data: DataFile,
    table: TableOptions,
    tree: TreeOptions,
    search: SearchOptions,
    task: AsTask = TaskName.auto,
    plot: PlotFile = None,
    json: AsJson = False,
) -> int:
    """Find the best tree for every number of splits, in one search."""
    _check_plot(plot)
    given = _read(data, table)
    learned = _task(task, given)
    if learned is TaskName.classifier:
        settings = _settings(learned, given, tree, search)
        for name in ("complexity", "pos_label"):
            settings.pop(name)
        found = regularization_path(given.X, given.y, sample_weight=given.weights, **settings)
    else:
        model = _make(learned, given, tree, search)
        model.fit(given.X, given.y, given.weights, path=True)
        found = model.path_
    return _show_many(found, plot, json, quiet=search.quiet)


@takes(table=TableOptions, tree=TreeOptions, search=SearchOptions, fair=FairOptions)
def front(
    data: DataFile,
    table: TableOptions,
    tree: TreeOptions,
    search: SearchOptions,
    fair: FairOptions,
    plot: PlotFile = None,
    json: AsJson = False,
) -> int:
    """Find all trees that no other beats: in false positives and negatives, or in fairness."""
    _check_plot(plot)
    given = _read(data, table, fair)
    if given.groups is not None:
        model = _make(TaskName.fair, given, tree, search, fair)
        found: Any = model.fairness_curve(given.X, given.y, given.groups, given.weights)
    else:
        settings = _settings(TaskName.classifier, given, tree, search)
        for name in ("complexity", "objective"):
            settings.pop(name)
        found = pareto_front(given.X, given.y, sample_weight=given.weights, **settings)
    return _show_many(found, plot, json, quiet=search.quiet)


@takes(table=TableOptions, tree=TreeOptions, search=SearchOptions)
def compare(
    data: DataFile,
    table: TableOptions,
    tree: TreeOptions,
    search: SearchOptions,
    task: AsTask = TaskName.auto,
    test: Annotated[
        str | None, typer.Option("--test", metavar="FILE", help="Rows that were held out.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Compare scikit-learn's greedy tree (CART) with the best tree of the same limits."""
    given = _read(data, table)
    learned = _task(task, given)
    if learned not in (TaskName.classifier, TaskName.regressor):
        raise UsageProblem(f"compare has no --task {learned.value}; use classifier or regressor.")
    held = None
    if test is not None:
        raw = read_file(test, table.style)
        held = read_data(raw, given.layout, features=list(given.X.columns or ()))
    settings = _settings(learned, given, tree, search)
    found = compare_with_cart(learned is TaskName.classifier, given, held, settings)
    if json:
        say_json(found.to_dict())
    elif not search.quiet:
        found.say()
    return PROVEN if found.is_proven else STOPPED


# ---- from options to estimators ------------------------------------------------------------------


def _read(path: str, table: TableOptions, fair: FairOptions | None = None) -> LearningData:
    raw = read_file(path, table.style)
    if table.target is None:
        raise UsageProblem(
            f"Name the column to predict with --target; the columns of {raw.where} are "
            f"{listed(raw.names)}."
        )
    groups = () if fair is None else names(fair.sensitive or [])
    return read_data(raw, replace(table.layout(), groups=groups))


def _task(task: TaskName, given: LearningData, fair: FairOptions | None = None) -> TaskName:
    """Return what is learned, by the type of the target unless it is said."""
    if task is not TaskName.auto:
        return task
    if fair is not None and fair.sensitive:
        return TaskName.fair
    target = given.layout.target
    assert target is not None
    assert given.y is not None
    kind = given.layout.types[target]
    n_values = len(np.unique(given.y))
    if kind in ("text", "flag") or (kind == "whole" and n_values <= _MOST_CLASSES):
        return TaskName.classifier
    remark(
        f"{target!r} has {n_values} different numbers, so that a regression tree is learned; "
        "--task classifier takes them as classes."
    )
    return TaskName.regressor


def _settings(
    task: TaskName, given: LearningData, tree: TreeOptions, search: SearchOptions
) -> dict[str, Any]:
    """Return the options as parameters of an estimator."""
    settings = {
        "max_depth": tree.max_depth,
        "max_splits": tree.max_splits,
        "complexity": tree.complexity,
        "min_samples_leaf": tree.min_samples_leaf,
        "thresholds": tree.thresholds,
        "categorical_features": _categories(given, tree) or "auto",
        "min_category_rows": tree.min_category_rows,
        "category_tests": tree.category_tests,
        **search.settings(),
    }
    of_classes = {
        "objective": tree.objective,
        "pos_label": tree.pos_label,
        "class_weight": tree.class_weight,
    }
    known = {
        TaskName.classifier: tuple(of_classes),
        TaskName.fair: ("pos_label", "class_weight"),
    }.get(task, ())
    for name, value in of_classes.items():
        if value is not None and name not in known:
            option = name.replace("_", "-")
            raise UsageProblem(f"--{option} has no meaning for --task {task.value}; leave it out.")
    assert given.y is not None
    if "objective" in known:
        settings["objective"] = tree.objective or "accuracy"
    if "pos_label" in known:
        label, weight = tree.pos_label, tree.class_weight
        settings["pos_label"] = None if label is None else _label(label, given.y, "--pos-label")
        if isinstance(weight, dict):
            weight = {_label(name, given.y, "--class-weight"): w for name, w in weight.items()}
        settings["class_weight"] = weight
    return settings


def _categories(given: LearningData, tree: TreeOptions) -> list[str]:
    """Return the columns of categories that look like numbers: those given, and codes."""
    columns = given.X.columns or ()
    codes = [
        name
        for place, name in enumerate(columns)
        if given.layout.types[name] == "text" and all(map(is_number, given.X[:, place]))
    ]
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


def _make(
    task: TaskName,
    given: LearningData,
    tree: TreeOptions,
    search: SearchOptions,
    fair: FairOptions | None = None,
    cv: int | None = None,
) -> Any:
    """Return the estimator that the options ask for."""
    settings = _settings(task, given, tree, search)
    if cv is not None:
        if cv < 2:
            raise UsageProblem(f"--cv needs at least 2 folds, got {cv}.")
        return _make_cv(task, settings, cv)
    if task is TaskName.fair:
        if given.groups is None or fair is None:
            raise UsageProblem("--task fair compares groups; name their columns with --sensitive.")
        kind: Any = FairTreeClassifier
        return kind(
            _one_or_all(fair.constraint or ["demographic_parity"]),
            _one_or_all(fair.tolerance or ["0.01"]),
            **settings,
        )
    if given.groups is not None:
        raise UsageProblem(f"--sensitive has no meaning for --task {task.value}; use --task fair.")
    kinds = {TaskName.classifier: OptimalTreeClassifier, TaskName.regressor: OptimalTreeRegressor}
    # All others have their name from the task.
    kind = kinds.get(task) or getattr(estimators, f"{task.value.title()}TreeClassifier")
    return kind(**settings)


def _one_or_all(given: list[str]) -> str | list[str]:
    return given[0] if len(given) == 1 else given


def _make_cv(task: TaskName, settings: dict[str, Any], cv: int) -> Any:
    """Return the estimator that chooses the size by cross-validation."""
    kinds = {
        TaskName.classifier: "OptimalTreeClassifierCV",
        TaskName.regressor: "OptimalTreeRegressorCV",
    }
    kind = getattr(estimators, kinds.get(task, ""), None)
    if kind is None:
        raise UsageProblem(f"--cv has no meaning for --task {task.value}; give --max-splits.")
    depth, splits = settings.pop("max_depth"), settings.pop("max_splits")
    if depth is None or settings.pop("complexity") != 0:
        raise UsageProblem("--cv chooses the size up to --max-depth, without --complexity.")
    sizes = "all" if splits is None else range(1, splits + 1)
    return kind(range(1, depth + 1), sizes=sizes, cv=cv, **settings)


def _fit(model: Any, given: LearningData) -> None:
    if isinstance(model, FairTreeClassifier):
        model.fit(given.X, given.y, given.groups, given.weights)
    else:
        model.fit(given.X, given.y, sample_weight=given.weights)


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
