"""The options that commands share, as groups: each is a dataclass, and a command takes several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import cache, wraps
from inspect import Parameter, signature
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from ._problems import UsageProblem
from ._table_layout import FileFormat, Layout

F = TypeVar("F", bound=Callable[..., Any])

NONE = "none"


def whole_or_none(text: str) -> int | None:
    """Read a number, or that there is no limit."""
    if text.lower() == NONE:
        return None
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor {NONE!r}.") from None


def text_or_whole(text: str) -> int | str:
    """Read a number; that there is no limit stays a text, which differs from what is not given."""
    found = whole_or_none(text)
    return NONE if found is None else found


def seconds_or_none(text: str) -> float | None:
    """Read seconds, also as 5m or 2h, or that there is no limit."""
    if text.lower() == NONE:
        return None
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:].lower())
    try:
        return float(text) if unit is None else float(text[:-1]) * unit
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a time; write seconds, 5m, 2h or {NONE!r}."
        ) from None


def number(text: str) -> float | str:
    """Read a number; a fraction such as 1/3 stays a text, which is exact."""
    try:
        return float(text)
    except ValueError:
        return text


def count_or_share(text: str) -> int | float | str:
    """Read a number of rows, or a share of them."""
    return int(text) if text.isdecimal() else number(text)


def cut_points(text: str) -> str | int:
    """Read how many cut points columns have."""
    return int(text) if text.isdecimal() else text


def class_weights(text: str) -> str | dict[str, float]:
    """Read ``balanced``, or weights such as ``yes=2,no=1``."""
    if text == "balanced":
        return text
    weights = {}
    for part in text.split(","):
        name, found, weight = part.rpartition("=")
        try:
            weights[name.strip()] = float(weight)
        except ValueError:
            found = ""
        if not found:
            raise typer.BadParameter(
                f"{text!r} is not class weights; write balanced, or yes=2,no=1."
            )
    return weights


def output_weights(text: str) -> str | list[float]:
    """Read ``balanced``, or one number for each target."""
    if text == "balanced":
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not weights of targets; write balanced, or numbers such as 2,1."
        ) from None


def names(given: list[str]) -> tuple[str, ...]:
    """Return names that were given one by one or with commas."""
    parts = (part.strip() for text in given for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _option(*flags: str, help: str, panel: str, **more: Any) -> Any:
    return typer.Option(*flags, help=help, rich_help_panel=panel, **more)


_TABLE = "Table"
_TREE = "Tree"
_LEAVES = "Leaves"
_SEARCH = "Search"
_FAIRNESS = "Fairness"


@dataclass(frozen=True)
class TableOptions:
    """What the columns of the table are."""

    target: Annotated[
        list[str] | None,
        _option("--target", "-t", help="The column to predict; may be repeated.", panel=_TABLE),
    ] = None
    event: Annotated[
        str | None,
        _option(
            "--event",
            help="Survival: the column with 1 where the event was seen; --target has the times.",
            panel=_TABLE,
        ),
    ] = None
    weights: Annotated[
        str | None, _option("--weights", help="The column with row weights.", panel=_TABLE)
    ] = None
    drop: Annotated[
        list[str] | None,
        _option("--drop", help="Columns to leave out; may be repeated.", panel=_TABLE),
    ] = None
    missing: Annotated[
        list[str] | None,
        _option("--missing", help="A text that stands for a missing value.", panel=_TABLE),
    ] = None
    separator: Annotated[
        str | None,
        _option("--separator", help="Between values of CSV; found by itself.", panel=_TABLE),
    ] = None
    decimal: Annotated[
        str | None, _option("--decimal", help="The decimal sign of CSV.", panel=_TABLE)
    ] = None
    encoding: Annotated[str, _option("--encoding", help="The encoding of CSV.", panel=_TABLE)] = (
        "utf-8"
    )

    @property
    def style(self) -> FileFormat:
        """How CSV files are written."""
        separator = "\t" if self.separator in ("tab", "\\t") else self.separator
        if separator is not None and len(separator) != 1:
            raise typer.BadParameter(f"--separator {separator!r} is not one character.")
        encoding = "utf-8-sig" if self.encoding.lower() in ("utf-8", "utf8") else self.encoding
        return FileFormat(separator, encoding)

    def layout(self, known: Layout | None = None) -> Layout:
        """Return what the columns are; what is not given is as a model file knows it."""
        known = Layout() if known is None else known
        return Layout(
            target=self._target() or known.target,
            weights=self.weights or known.weights,
            drop=names(self.drop or []) or known.drop,
            groups=known.groups,
            missing=tuple(self.missing or ()) or known.missing,
            decimal=self.decimal or known.decimal,
            types=known.types,
        )

    def _target(self) -> tuple[str, ...]:
        times = tuple(self.target or ())
        if self.event is None:
            return times
        if not times:
            raise UsageProblem("--event goes with the column of times; name it with --target.")
        return (*times, self.event)


@dataclass(frozen=True)
class TreeOptions:
    """Which trees are searched, and what is best."""

    max_depth: Annotated[
        int | None,
        _option(
            "--max-depth",
            "-d",
            help="Most questions on a path, or none.",
            panel=_TREE,
            parser=whole_or_none,
            metavar="N|none",
        ),
    ] = "3"  # type: ignore[assignment]
    max_splits: Annotated[
        int | None,
        _option(
            "--max-splits",
            help="Most questions in the tree.",
            panel=_TREE,
            parser=whole_or_none,
            metavar="N|none",
        ),
    ] = NONE  # type: ignore[assignment]
    objective: Annotated[
        str | None,
        _option(
            "--objective",
            help="What is maximised: accuracy, balanced_accuracy, f1, mcc, auc, ...",
            panel=_TREE,
        ),
    ] = None
    complexity: Annotated[
        Any,
        _option(
            "--complexity",
            help="Penalty per split, such as 0.01.",
            panel=_TREE,
            parser=number,
            metavar="NUMBER",
        ),
    ] = "0"
    min_samples_leaf: Annotated[
        Any,
        _option(
            "--min-samples-leaf",
            help="Fewest rows in a leaf: a number, or a share such as 0.05. [default: 1, or 5 for "
            "linear models]",
            panel=_TREE,
            parser=count_or_share,
            metavar="N|SHARE",
        ),
    ] = None
    thresholds: Annotated[
        Any,
        _option(
            "--thresholds",
            help="Cut points of numeric columns: auto, all or a number.",
            panel=_TREE,
            parser=cut_points,
            metavar="auto|all|N",
        ),
    ] = "auto"
    categorical: Annotated[
        list[str] | None,
        _option("--categorical", help="Columns of numbers that are names.", panel=_TREE),
    ] = None
    min_category_rows: Annotated[
        int,
        _option("--min-category-rows", help="Categories with fewer rows are joined.", panel=_TREE),
    ] = 1
    category_tests: Annotated[
        str,
        _option(
            "--category-tests",
            help="one category against all others, subsets of them, or all but the first or last.",
            panel=_TREE,
            metavar="one|subsets|drop-first|drop-last",
        ),
    ] = "one"
    identifiers: Annotated[
        str,
        _option(
            "--identifiers",
            help="drop columns of text with a different value in nearly every row, or keep them.",
            panel=_TREE,
            metavar="drop|keep",
        ),
    ] = "drop"
    pos_label: Annotated[
        str | None, _option("--pos-label", help="The positive class.", panel=_TREE)
    ] = None
    class_weight: Annotated[
        Any,
        _option(
            "--class-weight",
            help="balanced, or weights such as yes=2,no=1.",
            panel=_TREE,
            parser=class_weights,
            metavar="balanced|NAME=W,...",
        ),
    ] = None


@dataclass(frozen=True)
class LeafOptions:
    """What leaves hold, beside classes; what is not given is as the estimator has it."""

    criterion: Annotated[
        str | None,
        _option(
            "--criterion",
            help="regressor: squared_error, absolute_error, quantile, poisson or gamma.",
            panel=_LEAVES,
        ),
    ] = None
    quantile: Annotated[
        Any,
        _option(
            "--quantile",
            help="Which one, such as 0.9; asks for --criterion quantile.",
            panel=_LEAVES,
            parser=number,
            metavar="NUMBER",
        ),
    ] = None
    output_weights: Annotated[
        Any,
        _option(
            "--output-weights",
            help="What each target counts: balanced, or numbers such as 2,1.",
            panel=_LEAVES,
            parser=output_weights,
            metavar="balanced|W,...",
        ),
    ] = None
    leaf_model: Annotated[
        str | None,
        _option(
            "--leaf-model",
            help="linear: a line over the best column, or a ridge model of several.",
            panel=_LEAVES,
            metavar="simple|ridge|constant",
        ),
    ] = None
    ridge: Annotated[
        float | None,
        _option("--ridge", help="linear: what squared coefficients cost.", panel=_LEAVES),
    ] = None
    model_features: Annotated[
        list[str] | None,
        _option(
            "--model-features",
            help="linear: columns of the models; may be repeated.",
            panel=_LEAVES,
        ),
    ] = None
    n_clusters: Annotated[
        Any,
        _option(
            "--n-clusters",
            help="clusters: most of them, or none for no limit. [default: 8]",
            panel=_LEAVES,
            parser=text_or_whole,
            metavar="N|none",
        ),
    ] = None
    features: Annotated[
        list[str] | None,
        _option(
            "--features",
            help="clusters: columns whose distances count; may be repeated.",
            panel=_LEAVES,
        ),
    ] = None
    scale: Annotated[
        str | None,
        _option(
            "--scale",
            help="clusters: divide columns by their standard deviation, or take them as they are.",
            panel=_LEAVES,
            metavar="standard|none",
        ),
    ] = None

    def settings(self) -> dict[str, Any]:
        """Return the options that were given as parameters of an estimator."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        settings = {name: value for name, value in given.items() if value is not None}
        if "quantile" in settings:
            settings.setdefault("criterion", "quantile")
        for name in {"model_features", "features"} & settings.keys():
            settings[name] = list(names(settings[name]))
        return {name: None if value == NONE else value for name, value in settings.items()}


@dataclass(frozen=True)
class SearchOptions:
    """When the search ends."""

    time_limit: Annotated[
        float | None,
        _option(
            "--time-limit",
            help="Seconds, 5m, 2h or none.",
            panel=_SEARCH,
            parser=seconds_or_none,
            metavar="TIME",
        ),
    ] = "60"  # type: ignore[assignment]
    memory_limit: Annotated[
        str, _option("--memory-limit", help="Such as 2GB; auto: half of it.", panel=_SEARCH)
    ] = "auto"
    jobs: Annotated[int, _option("--jobs", "-j", help="Threads; -1: all.", panel=_SEARCH)] = 1
    quiet: Annotated[
        bool, _option("--quiet", "-q", help="Show no progress and no result.", panel=_SEARCH)
    ] = False

    def settings(self) -> dict[str, Any]:
        """Return these options as parameters of an estimator."""
        return {
            "time_limit": self.time_limit,
            "memory_limit": self.memory_limit,
            "n_jobs": self.jobs,
            "verbose": 0 if self.quiet else "auto",
        }


@dataclass(frozen=True)
class FairOptions:
    """What a fair tree has to keep."""

    sensitive: Annotated[
        list[str] | None,
        _option(
            "--sensitive",
            help="Columns of the groups to compare; they are not used by the tree.",
            panel=_FAIRNESS,
        ),
    ] = None
    constraint: Annotated[
        list[str] | None,
        _option(
            "--constraint",
            help="Such as equalized_odds; may be given several times. [default: "
            "demographic_parity]",
            panel=_FAIRNESS,
        ),
    ] = None
    tolerance: Annotated[
        list[str] | None,
        _option(
            "--tolerance",
            help="Largest difference of rates, one for all or one for each constraint. "
            "[default: 0.01]",
            panel=_FAIRNESS,
        ),
    ] = None


def takes(**groups: type) -> Callable[[F], F]:
    """Let a command take groups of options: each arrives as one argument, by its name."""

    def decorate(command: F) -> F:
        hints = get_type_hints(command, include_extras=True)
        own = [
            one.replace(annotation=hints[one.name])
            for one in signature(command).parameters.values()
            if one.name not in groups
        ]
        options = [_parameter(one, kind) for kind in groups.values() for one in fields(kind)]

        @wraps(command)
        def run(**given: Any) -> Any:
            made = {
                name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
                for name, kind in groups.items()
            }
            return command(**given, **made)

        shown = [*own, *options]
        run.__signature__ = signature(command).replace(parameters=shown)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in shown}
        return run  # type: ignore[return-value]

    return decorate


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _parameter(one: Any, kind: type) -> Parameter:
    hint = _hints(kind)[one.name]
    default = Parameter.empty if one.default is MISSING else one.default
    return Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
