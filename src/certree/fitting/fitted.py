"""What a fit returns, for an estimator to take over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from certree import engine
from certree.results._answer import Answer
from certree.results._path import RegularizationPath
from certree.results._progress import Observer
from certree.results._record import Record
from certree.tree import Tree

from .certify import certify
from .goals import Goal
from .request import Request
from .statement import Statement


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A tree and what is proven about it.

    Attributes
    ----------
    goal : Goal
        What was optimised.
    statement : Statement
        What was searched.
    tree : Tree or None
        The tree; None if there is none.
    details : object
        What else estimators keep of its nodes, such as what they cost.
    certificate : Record or None
        What is proven; None for trees that only choose a size.
    path : RegularizationPath or None
        The best tree for every number of splits, if asked for.
    front : object
        All nondominated trees, if asked for.
    was_stopped : bool
        Whether the callback stopped the search.
    """

    goal: Goal
    statement: Statement
    tree: Tree | None
    details: Any = None
    certificate: Any = None
    path: RegularizationPath | None = None
    front: Any = None
    was_stopped: bool = False


def conclude(
    request: Request,
    statement: Statement,
    answer: Answer,
    kind: type[Record] | None = None,
    *,
    watch: Observer | None = None,
    path: RegularizationPath | None = None,
    **more: Any,
) -> Fitted:
    """Grow the tree of an answer, and certify it.

    Parameters
    ----------
    request, statement, answer
        What was asked, searched and found.
    kind : type, optional
        The class of the certificate; by default that of the statement.
    watch : Observer, optional
        What watched the search.
    path : RegularizationPath, optional
        The trees of all sizes.
    **more
        Further fields of the certificate.
    """
    tree, details = (None, None) if answer.cost is None else statement.grow_whole(answer.nodes)
    kind = statement.certificate_kind if kind is None else kind
    return Fitted(
        goal=request.goal,
        statement=statement,
        tree=tree,
        details=details,
        certificate=certify(request, statement, answer, kind, **more),
        path=path,
        was_stopped=watch is not None and watch.asked_to_stop,
    )


def hold(goal: Goal, statement: Statement, nodes: engine.Nodes) -> Fitted:
    """Grow a tree to predict with, of which nothing is said."""
    tree, details = statement.grow_whole(nodes)
    return Fitted(goal=goal, statement=statement, tree=tree, details=details)
