"""The options that commands share, as groups: each is a dataclass, and a command takes several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from ._files import FileFormat
from ._tables import Layout

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


def names(given: list[str]) -> tuple[str, ...]:
    """Return names that were given one by one or with commas."""
    parts = (part.strip() for text in given for part in text.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _option(*flags: str, help: str, panel: str, **more: Any) -> Any:
    return typer.Option(*flags, help=help, rich_help_panel=panel, **more)


_TABLE = "Table"
_TREE = "Tree"
_SEARCH = "Search"


@dataclass(frozen=True)
class TableOptions:
    """What the columns of the table are."""

    target: Annotated[
        str | None, _option("--target", "-t", help="The column to predict.", panel=_TABLE)
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
            target=self.target or known.target,
            weights=self.weights or known.weights,
            drop=names(self.drop or []) or known.drop,
            groups=known.groups,
            missing=tuple(self.missing or ()) or known.missing,
            decimal=self.decimal or known.decimal,
            types=known.types,
        )


@dataclass(frozen=True)
class TreeOptions:
    """Which trees are searched, and what is best."""

    max_depth: Annotated[
        int | None,
        _option(
            "--max-depth",
            "-d",
            help="Most tests on a path, or none.",
            panel=_TREE,
            parser=whole_or_none,
            metavar="N|none",
        ),
    ] = "3"  # type: ignore[assignment]
    max_splits: Annotated[
        int | None,
        _option(
            "--max-splits",
            help="Most tests in the tree.",
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
            help="Fewest rows in a leaf: a number, or a share such as 0.05.",
            panel=_TREE,
            parser=count_or_share,
            metavar="N|SHARE",
        ),
    ] = "1"
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


def _parameter(one: Any, kind: type) -> Parameter:
    hint = get_type_hints(kind, include_extras=True)[one.name]
    default = Parameter.empty if one.default is MISSING else one.default
    return Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
