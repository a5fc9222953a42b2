"""The trees that a report can show: that of the model, and those of a path, a front or a curve."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from certree.estimators import SPOForest
from certree.estimators._solve import Solution
from certree.exceptions import InfeasibleError
from certree.results._certificate import many, show
from certree.results._fairness import FairnessCertificate, FairnessCurve
from certree.results._pareto import ParetoFront
from certree.results._path import RegularizationPath
from certree.results._record import Record, status_text
from certree.results._validation import ValidationCurve
from certree.tree import Tree

MOST = 30
"""The most trees of a report; of more, some in between are left out."""

NOTHING = "Nothing is proven yet"
"""How the statement of a search begins that ended before it had a bound."""

SeveralTrees = RegularizationPath | ParetoFront | FairnessCurve


@dataclass(frozen=True)
class Choice:
    """One tree, with what is proven about it.

    Attributes
    ----------
    tree : Tree
        The tree.
    name : str
        What distinguishes it from the others.
    statement : str
        The proven statement; empty if there is no certificate.
    status : str
        The status in words.
    is_proven : bool
        Whether it is proven best.
    facts : tuple of (str, str)
        What the certificate says: names and texts.
    rates : tuple of (str, tuple of number)
        Rates of groups on the training rows.
    groups : tuple
        The groups.
    place : pair of float or None
        Where it is on the chart.
    """

    tree: Tree
    name: str
    statement: str = ""
    status: str = ""
    is_proven: bool = False
    facts: tuple[tuple[str, str], ...] = ()
    rates: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    groups: tuple[Any, ...] = ()
    place: tuple[float, float] | None = None


@dataclass(frozen=True)
class Choices:
    """All trees of a report.

    Attributes
    ----------
    model : object
        The fitted model; None if there is only a tree or a path.
    trees : tuple of Choice
        The trees, in the order of the chart.
    shown : int
        The one that is shown at first: that of the model.
    title, x_label, y_label : str
        Texts of the chart; empty if there is one tree only.
    n_left_out : int
        How many trees the report has no room for.
    n_rows : int or None
        Number of training rows, if the certificate says it.
    curve : ValidationCurve or None
        How cross-validation chose the size, if it did.
    """

    model: Any
    trees: tuple[Choice, ...]
    shown: int = 0
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    n_left_out: int = 0
    n_rows: int | None = None
    curve: ValidationCurve | None = None


def read_choices(model: Any, choices: Any = None) -> Choices:
    """Return the trees of a model, and those that it can be exchanged with."""
    if choices is not None and not isinstance(choices, SeveralTrees):
        raise TypeError(
            "choices must be a RegularizationPath, ParetoFront or FairnessCurve, got "
            f"{type(choices).__name__}."
        )
    if isinstance(model, SeveralTrees):
        choices, model = model, _best_of(model)
    own, fitted, certificate = _own(model)
    n_rows = getattr(certificate, "n_rows", None)
    several = _kept(model) if choices is None else choices
    found = Choices(fitted, (own,)) if several is None else _of_several(several, own, fitted)
    curve = getattr(model, "curve_", None)
    return replace(
        found, n_rows=n_rows, curve=curve if isinstance(curve, ValidationCurve) else None
    )


def _best_of(several: SeveralTrees) -> Any:
    """Return the model that makes the fewest errors, or its tree."""
    if not len(several):
        raise ValueError(f"This {type(several).__name__} has no trees to report on.")
    if isinstance(several, ParetoFront):
        points = several.certificate.points
        return several[min(range(len(points)), key=lambda i: points[i][0] + points[i][1])]
    return several[-1] if isinstance(several, FairnessCurve) else several[-1].tree


def _own(model: Any) -> tuple[Choice, Any, Record | None]:
    """Return the tree of a model, the model itself if it is an estimator, and its certificate."""
    if isinstance(model, Tree):
        return Choice(model, _size(model)), None, None
    if isinstance(model, Solution):
        if model.tree is None:
            raise InfeasibleError(model.certificate)
        return _certified(model.tree, model.certificate), None, model.certificate
    if isinstance(model, SPOForest):
        raise TypeError(
            "report shows one tree, but an SPOForest has many; report on an SPOTree instead."
        )
    # A search over parameters holds the model that it chose.
    model = getattr(model, "best_estimator_", model)
    check = getattr(model, "_check_tree", None)
    if check is None or isinstance(model, type):
        raise TypeError(
            "report needs a fitted estimator of certree, a Tree, a path, a front or a curve, got "
            f"{model.__name__ if isinstance(model, type) else type(model).__name__}."
        )
    check()
    return _certified(model.tree_, model.certificate_), model, model.certificate_


def _kept(model: Any) -> SeveralTrees | None:
    """Return the front or the path that a model keeps, if there is one."""
    if isinstance(model, Solution):
        return model.path
    model = getattr(model, "best_estimator_", model)
    kept = getattr(model, "front_", None)
    return kept if kept is not None else getattr(model, "path_", None)


def _certified(tree: Tree, certificate: Record, name: str | None = None) -> Choice:
    choice = Choice(
        tree,
        _size(tree) if name is None else name,
        certificate.statement(),
        status_text(certificate.status),
        bool(getattr(certificate, "is_optimal", False)),
        tuple(certificate._facts()),
    )
    if isinstance(certificate, FairnessCertificate):
        return replace(choice, rates=certificate.rates, groups=certificate.groups)
    return choice


def _of_several(several: SeveralTrees, own: Choice, model: Any) -> Choices:
    """Return the trees of a path, a front or a curve, with that of the model among them."""
    of: Callable[[int], Choice]
    if isinstance(several, RegularizationPath):
        trees, of = tuple(entry.tree for entry in several), partial(_of_path, several)
        texts = ("Size against quality", "number of splits", f"training {_measure(several, own)}")
    elif isinstance(several, ParetoFront):
        trees, of = several.trees, partial(_of_front, several)
        fp, fn = several.measures
        positive = f"(positive: {several.certificate.pos_label})"
        texts = ("Two kinds of errors", f"{fp} {positive}", fn)
    else:
        trees, of = several.trees, partial(_of_curve, several)
        what = f"training {several.measure}"
        texts = ("The price of fairness", "largest difference between groups", what)
    shown = next((place for place, tree in enumerate(trees) if tree == own.tree), None)
    kept = _thinned(len(trees), shown)
    choices = [of(place) for place in kept]
    if shown is None:
        choices.append(replace(own, name=f"{own.name} (the model)"))
        place = len(kept)
    else:
        place = kept.index(shown)
        choices[place] = replace(own, name=choices[place].name, place=choices[place].place)
    return Choices(model, tuple(choices), place, *texts, n_left_out=len(trees) - len(kept))


def _measure(path: RegularizationPath, own: Choice) -> str:
    """Return what the path calls accuracy or, of a task, what its certificate calls it."""
    objective = dict(own.facts).get("objective")
    if path.measures[1] != "objective" or objective is None:
        return path.measures[1]
    return objective_name(objective)


def objective_name(fact: str) -> str:
    """Return the name of an objective, given the name and the number that a certificate states."""
    named = re.match(r"(.*?) ~?-?\d", fact)
    return named[1] if named else "objective"


def _of_path(path: RegularizationPath, place: int) -> Choice:
    entry = path.entries[place]
    cost, size = path.measures[0], many(entry.splits, "split")
    least = show(entry.errors if entry.is_optimal else entry.lower_bound)
    told = f"No tree within the limits and with at most {size} has {cost} below {least}"
    if not entry.is_optimal:
        told += f"; this one has {show(entry.errors)}"
    if not entry.is_optimal and entry.lower_bound == 0:
        told = f"{NOTHING}; this tree has {cost} {show(entry.errors)}"
    return Choice(
        entry.tree,
        _size(entry.tree),
        told + ".",
        "proven optimal" if entry.is_optimal else status_text(path.status),
        entry.is_optimal,
        ((cost, show(entry.errors)), (path.measures[1], f"{entry.accuracy:.6g}")),
        place=(float(entry.splits), float(entry.accuracy)),
    )


def _of_front(front: ParetoFront, place: int) -> Choice:
    fp, fn, _ = front.certificate.points[place]
    name = f"{show(fp)} {front.measures[0]}, {show(fn)} {front.measures[1]}"
    choice = _certified(front.trees[place], front[place].certificate_, name)
    return replace(choice, place=(float(fp), float(fn)))


def _of_curve(curve: FairnessCurve, place: int) -> Choice:
    apart = float(curve.points[place][0])
    name = f"groups {apart:.4g} apart"
    choice = _certified(curve.trees[place], curve.certificates[place], name)
    return replace(choice, place=(apart, float(curve.errors[place])))


def _thinned(n_trees: int, shown: int | None) -> list[int]:
    """Return the places of at most so many trees, evenly spread, the one shown among them."""
    if n_trees <= MOST:
        return list(range(n_trees))
    kept = {round(k * (n_trees - 1) / (MOST - 2)) for k in range(MOST - 1)}
    return sorted(kept if shown is None else {*kept, shown})


def _size(tree: Tree) -> str:
    return f"{many(tree.n_splits, 'split')}, depth {tree.depth}"
