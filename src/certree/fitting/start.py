"""A tree to start from, over the columns of a statement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Table, read_table
from certree.encoding._row_cells import Cells

from .known_tree import WarmTree, broken_limits, express, read_tree
from .objectives import is_direct
from .request import Request, Start
from .state_errors import ErrorStatement
from .state_task import TaskStatement

E = TypeVar("E", bound=ErrorStatement)


@dataclass(frozen=True)
class _NoLabels:
    """Rows that cost nothing, with one label, for which a tree is read without its leaves."""

    columns: Cells
    row_types: NDArray[np.int32]
    cost_matrix: NDArray[np.int64]
    weights: None = None


def start_with_classes(request: Request, start: Start, statement: E) -> tuple[WarmTree | None, E]:
    """Return a user's tree over the columns, and the statement with columns for its tests."""
    table = read_table(request.X)
    tree = read_tree(start.tree, table, statement.classes)
    # A metric may want other labels, with which leaves of the same label here differ.
    merges = is_direct(request.classes.objective)
    counted = _counted(table, statement.rows)
    encoder, problem = statement.encoder, statement.error_problem
    warm, added, columns = express(tree, counted, encoder, problem, merges=merges)
    encoder._add_tests(added)
    broken = _broken(request, statement.least_rows, warm)
    if broken and start.must_keep_limits:
        raise ValueError(
            f"warm_start_tree is outside the search: {' and '.join(broken)}. Relax the "
            "limits, or fit without it."
        )
    return None if broken else warm, replace(statement, columns=columns)


def start_with_task(
    request: Request, start: Start, statement: TaskStatement
) -> tuple[WarmTree | None, TaskStatement]:
    """Do so for a task; a tree that breaks the limits is left out."""
    n_rows = len(statement.rows.weights)
    counted = _counted(read_table(request.X), statement.rows.kept)
    costs = np.zeros((1, 1), dtype=np.int64)
    rows: Any = _NoLabels(statement.columns, np.zeros(n_rows, dtype=np.int32), costs)
    warm, added, columns = express(start.tree, counted, statement.encoder, rows, merges=False)
    statement.encoder._add_tests(added)
    statement = replace(statement, columns=columns)
    if _broken(request, statement.least_rows, warm):
        return None, statement
    sums = statement.reach(warm.nodes).sums
    units = int(statement.problem.units(sums)[warm.nodes.is_leaf].sum())
    return replace(warm, leaf_cost=units), statement


def _counted(table: Table, kept: NDArray[np.intp] | None) -> Table:
    return table if kept is None else table.select(kept)


def _broken(request: Request, least_rows: int, warm: WarmTree) -> list[str]:
    return broken_limits(warm, request.size.max_depth, request.size.max_splits, least_rows)
