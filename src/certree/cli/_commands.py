"""The commands: what they take, in words that help shows. Other modules do the work.

This module loads nothing but Typer, so that help and completion are there at once.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from enum import Enum
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

import typer

from ._options import (
    FairOptions,
    LeafOptions,
    SearchOptions,
    TableOptions,
    TreeOptions,
    number,
    takes,
)


class TaskName(str, Enum):
    """What is learned."""

    auto = "auto"
    classifier = "classifier"
    regressor = "regressor"
    ordinal = "ordinal"
    fair = "fair"
    survival = "survival"
    linear = "linear"
    clusters = "clusters"


DataFile = Annotated[str, typer.Argument(metavar="DATA", help="A CSV or Parquet file; -: stdin.")]
AsTask = Annotated[
    TaskName, typer.Option("--task", help="What to learn; auto: by the type of the target.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
PlotFile = Annotated[
    str | None, typer.Option("--plot", metavar="FILE", help="Draw it: a PNG, SVG or PDF file.")
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model file of certree fit.")]
SomeRows = Annotated[
    str | None, typer.Argument(metavar="[DATA]", help="A CSV or Parquet file; -: stdin.")
]
Values = Annotated[
    list[str] | None,
    typer.Option("--value", metavar="COLUMN=VALUE", help="A value of a single row, without DATA."),
]
OutputFile = Annotated[
    str | None,
    typer.Option("--output", "--out", "-o", metavar="FILE", help="Where to write; else printed."),
]


def done_in(module: str) -> Callable[[Callable[..., None]], Callable[..., int]]:
    """Let the function of the same name in a module of this folder do what a command says."""

    def decorate(command: Callable[..., None]) -> Callable[..., int]:
        @wraps(command)
        def run(**given: Any) -> int:
            work = getattr(import_module(f"certree.cli.{module}"), command.__name__)
            if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
                # From here on, a search ends with the best tree so far.
                signal.signal(signal.SIGINT, signal.default_int_handler)
            done: int = work(**given)
            return done

        return run

    return decorate


@takes(
    table=TableOptions, tree=TreeOptions, leaves=LeafOptions, search=SearchOptions, fair=FairOptions
)
@done_in("_learning")
def fit(
    data: DataFile,
    table: TableOptions,
    tree: TreeOptions,
    leaves: LeafOptions,
    search: SearchOptions,
    fair: FairOptions,
    output: Annotated[
        str,
        typer.Option("--output", "--out", "-o", metavar="FILE", help="Where to write the model."),
    ] = "model.json",
    page: Annotated[
        str | None,
        typer.Option("--report", metavar="FILE", help="Also write a page about the model: HTML."),
    ] = None,
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
) -> None:
    """Learn the best tree, and write it to a model file with its certificate."""


@takes(table=TableOptions, tree=TreeOptions, leaves=LeafOptions, search=SearchOptions)
@done_in("_learning")
def path(
    data: DataFile,
    table: TableOptions,
    tree: TreeOptions,
    leaves: LeafOptions,
    search: SearchOptions,
    task: AsTask = TaskName.auto,
    plot: PlotFile = None,
    json: AsJson = False,
) -> None:
    """Find the best tree for every number of splits, in one search."""


@takes(table=TableOptions, tree=TreeOptions, search=SearchOptions, fair=FairOptions)
@done_in("_learning")
def front(
    data: DataFile,
    table: TableOptions,
    tree: TreeOptions,
    search: SearchOptions,
    fair: FairOptions,
    plot: PlotFile = None,
    json: AsJson = False,
) -> None:
    """Find all trees that no other beats: in false positives and negatives, or in fairness."""


@takes(table=TableOptions, tree=TreeOptions, search=SearchOptions)
@done_in("_learning")
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
) -> None:
    """Compare scikit-learn's greedy tree (CART) with the best tree of the same limits."""


@takes(table=TableOptions)
@done_in("_using")
def predict(
    model: ModelFile,
    table: TableOptions,
    data: SomeRows = None,
    value: Values = None,
    output: OutputFile = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the share of each class.")] = False,
    at: Annotated[
        list[float] | None,
        typer.Option(
            "--at", metavar="TIME", help="Survival: also the share without an event then."
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Also the columns of the table, as they are.")
    ] = False,
) -> None:
    """Predict rows; the result is CSV with a column "prediction", or one for each output."""


@done_in("_using")
def show(
    model: ModelFile,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help="text, json, dot, html, python, sql, ..."),
    ] = None,
    output: OutputFile = None,
) -> None:
    """Show the tree and its certificate, or write the tree in another form."""


@takes(table=TableOptions)
@done_in("_using")
def explain(
    model: ModelFile,
    table: TableOptions,
    data: SomeRows = None,
    value: Values = None,
    row: Annotated[
        list[int] | None,
        typer.Option(
            "--row",
            help="Which rows: 0 is the first below the header, as X[0] in Python. [default: 0]",
        ),
    ] = None,
    wanted: Annotated[
        str | None, typer.Option("--wanted", help="What should be predicted instead.")
    ] = None,
    unseen: Annotated[
        bool, typer.Option("--unseen", help="Also rows with values that training did not see.")
    ] = False,
    json: AsJson = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "--out", "-o", metavar="FILE", help="An HTML file to write."),
    ] = None,
) -> None:
    """Say why a row gets its prediction, and what would change it."""


@takes(table=TableOptions)
@done_in("_using")
def verify_model(
    model: ModelFile,
    data: DataFile,
    table: TableOptions,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="Also try all trees; for small tables.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Check a certificate against the training table, by code that knows nothing of the search."""


@takes(table=TableOptions)
@done_in("_using")
def report_model(
    model: ModelFile,
    table: TableOptions,
    data: SomeRows = None,
    test: Annotated[
        str | None, typer.Option("--test", metavar="FILE", help="Rows that were held out.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "--out", "-o", metavar="FILE", help="The page to write.")
    ] = "report.html",
    title: Annotated[str | None, typer.Option("--title", help="Its title.")] = None,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Tell values of single rows, not only ranges.")
    ] = False,
) -> None:
    """Write a page about the model: the tree, what is proven, and how good it is."""


@done_in("_using")
def info(
    model: Annotated[
        str | None, typer.Argument(metavar="[MODEL]", help="A model file to describe.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Describe a model file, or this installation."""
