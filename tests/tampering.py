"""Certificates of every kind, and every way to tamper with what a user reads.

That is every field of a certificate, every attribute of a fitted model, and every value and text
that a tree has in a file: names, classes, counts, notes, formulas, curves. ``python -m
tests.tampering --certificates 5000 --seed 7`` tampers with models of new data, prints what passes,
sound models that are refused, and a table.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from certree import CertificateError, Tree, verify
from certree.verify._attributes import OWN
from certree.verify._fields import checked_fields
from tests.sound_models import Case, cases, with_entry


@dataclass(frozen=True)
class Forgery:
    """A subject with one thing changed.

    Attributes
    ----------
    name : str
        The case.
    case : Case
        What was changed.
    field_name : str
        Where: a field of the certificate, ``attribute classes_``, or ``tree: nodes.counts``.
    old, new : object
        What it was, and what it is.
    subject : callable
        Returns the subject that states the new value; None if that is no value, or the same.
    """

    name: str
    case: Case = field(repr=False)
    field_name: str
    old: Any
    new: Any
    subject: Callable[[], Any] = field(repr=False)


# Of the models of one seed so many tampered ones are tried.
_EACH = 600

_WRONG = (None, "x", float("nan"), 1.5, (), True, object)
"""Values that are wrong for every number."""


def other_values(old: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Yield values of all kinds that differ from one."""
    number = isinstance(old, int | Fraction) and not isinstance(old, bool)
    if isinstance(old, bool):
        yield from (not old, None, 2)
    elif number:
        some = Fraction(int(rng.integers(1, 10**6)), int(rng.integers(1, 10**6)))
        yield from (old + 1, old - 1, 2 * old + 1, -old - 1, old + Fraction(1, 7), 10**9)
        yield from (old + some, old - some, old * (1 + some) + 1, 0)
        yield from _WRONG
    elif isinstance(old, float):
        yield from (old + 0.01, old - 1e-3, 2 * old + 1, -old - 1, float("nan"), float("inf"))
        yield from (None, "x", ())
    elif isinstance(old, str):
        yield from ("x", "optimal", "infeasible", "time_limit", "gap", "greedy", "leaf", None, 3)
    elif isinstance(old, tuple):
        yield from ((), None, "x", (*old, 1), (*old, *old[-1:]), old[:-1])
        for place, part in enumerate(old):
            for new in other_values(part, rng):
                yield (*old[:place], new, *old[place + 1 :])
    elif old is None:
        yield from (1, 0, Fraction(1, 3), "x", (), 2.5)
    elif dataclasses.is_dataclass(old):
        for name in checked_fields(type(old)):
            for new in other_values(getattr(old, name), rng):
                if not is_same(getattr(old, name), new):
                    yield dataclasses.replace(old, **{name: new})


def is_same(old: Any, new: Any) -> bool:
    """Return whether two values state the same."""
    return type(old) is type(new) and bool(old == new)


def forgeries(found: dict[str, Case], seed: int = 0) -> Iterator[Forgery]:
    """Yield every tampered certificate, model and tree."""
    rng = np.random.default_rng(seed)
    for name, case in found.items():
        yield from _forged_fields(name, case, rng)
        yield from forged_attributes(name, case, rng)
        yield from forged_trees(name, case, rng)


def _forged_fields(name: str, case: Case, rng: np.random.Generator) -> Iterator[Forgery]:
    certificate = case.read(case.subject)
    for one in dataclasses.fields(certificate):
        if one.name not in checked_fields(type(certificate)):
            continue
        old = getattr(certificate, one.name)
        for new in other_values(old, rng):
            if not is_same(old, new):
                changed = dataclasses.replace(certificate, **{one.name: new})
                make = partial(case.write, case.subject, changed)
                yield Forgery(name, case, one.name, old, new, make)


# ---- attributes --------------------------------------------------------------------------------


def model_of(subject: Any) -> Any:
    """Return the fitted estimator of a subject; None if users do not see one."""
    model = getattr(subject, "best_estimator_", subject)
    return model if hasattr(model, "get_params") else None


def attributes_of(model: Any) -> list[str]:
    """Return the attributes of a model that users may read, and that are no trees or proofs."""
    fitted = set(vars(model)) - set(model.get_params(deep=False)) - OWN
    whole = {"tree_", "certificate_", "encoder_", "front_", "_path"}
    return sorted(fitted - whole)


def forged_attributes(name: str, case: Case, rng: np.random.Generator) -> Iterator[Forgery]:
    """Yield models with one attribute changed."""
    model = model_of(case.subject)
    for attribute in [] if model is None else attributes_of(model):
        old = getattr(model, attribute)
        for new in other_plain(old, rng):
            if not _is_equal(old, new):
                make = partial(_with_attribute, case.subject, attribute, new)
                yield Forgery(name, case, f"attribute {attribute}", old, new, make)


def _with_attribute(subject: Any, attribute: str, value: Any) -> Any:
    if hasattr(subject, "best_estimator_"):
        best = _with_attribute(subject.best_estimator_, attribute, value)
        return _with_attribute_itself(subject, "best_estimator_", best)
    return _with_attribute_itself(subject, attribute, value)


def _with_attribute_itself(subject: Any, attribute: str, value: Any) -> Any:
    if not hasattr(subject, "__dict__") or isinstance(subject, tuple):
        return subject._replace(**{attribute: value})
    # A copy of a solution would lose its task, if that has functions.
    other = object.__new__(type(subject))
    other.__dict__.update(vars(subject))
    object.__setattr__(other, attribute, value)
    return other


def other_plain(old: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Yield values that differ from that of an attribute, in kind or in one of its parts.

    Raises
    ------
    NotImplementedError
        For values of other kinds, which need a way to tamper with them.
    """
    if isinstance(old, np.ndarray):
        yield from (None, old[::-1], old[:-1], np.append(old, old[-1:], axis=0))
        for place in {0, len(old) - 1, int(rng.integers(len(old)))}:
            for new in other_plain(old[place], rng):
                changed = old.astype(object) if isinstance(new, str) else old.copy()
                with contextlib.suppress(TypeError, ValueError):
                    changed[place] = new
                    yield changed
    elif isinstance(old, np.generic):
        yield from other_plain(old.item(), rng)
    elif isinstance(old, bool):
        yield not old
    elif isinstance(old, int | Fraction):
        yield from (old + 1, 2 * old + 1, -old - 1)
    elif isinstance(old, float):
        yield from (old + 0.5, 2 * old + 1, -old - 1, 0.0)
    elif isinstance(old, str):
        yield from ("another", old + "s", old[::-1])
    elif isinstance(old, dict):
        yield from ({}, None)
        for key, value in old.items():
            yield from ({**old, key: new} for new in other_plain(value, rng))
            yield {f"{key}s" if k == key else k: v for k, v in old.items()}
    elif isinstance(old, list | tuple):
        yield from (None, old[::-1], old[:-1], old + old[-1:])
        for place, part in enumerate(old):
            for new in other_plain(part, rng):
                yield type(old)([*old[:place], new, *old[place + 1 :]])
    elif old is not None:
        raise NotImplementedError(f"tamper with a {type(old).__name__}, too")


def _is_equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and bool((one == other).all())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_is_equal, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(_is_equal(one[k], other[k]) for k in one)
    return bool(one == other or (one != one and other != other))


# ---- trees -------------------------------------------------------------------------------------


def trees_of(subject: Any) -> Iterator[tuple[str, Tree, Callable[[Tree], Any]]]:
    """Yield the trees of a subject, and what puts another in the place of each."""
    model = model_of(subject)
    if model is not None and getattr(model, "tree_", None) is not None:
        yield "tree", model.tree_, partial(_with_attribute, subject, "tree_")
    if getattr(model, "_path", None) is not None:
        entry = model._path.entries[-1]
        replaced = partial(_with_attribute_itself, entry, "tree")
        yield "path", entry.tree, lambda tree: with_entry(subject, replaced(tree))
    if model is None and isinstance(getattr(subject, "tree", None), Tree):
        name = "best_tree" if hasattr(subject, "best_tree") else "tree"
        if not hasattr(subject, "front"):
            yield name, getattr(subject, name), partial(_with_attribute_itself, subject, name)
    front = getattr(subject, "front_", subject)
    if hasattr(front, "_trees"):
        trees = list(front._trees)

        def put(tree: Tree) -> Any:
            other = _with_attribute_itself(front, "_trees", [*trees[:-1], tree])
            return other if front is subject else _with_attribute(subject, "front_", other)

        yield "front", trees[-1], put
    elif isinstance(getattr(subject, "front", None), tuple) and subject.front:
        points = subject.front

        def put_point(tree: Tree) -> Any:
            last = _with_attribute_itself(points[-1], "tree", tree)
            return _with_attribute_itself(subject, "front", (*points[:-1], last))

        yield "front", points[-1].tree, put_point


def forged_trees(name: str, case: Case, rng: np.random.Generator) -> Iterator[Forgery]:
    """Yield subjects with a tree of which one value in its file is another."""
    for where, tree, put in trees_of(case.subject):
        plain = tree.to_dict()
        for path in _paths(plain):
            old = _at(plain, path)
            told = ".".join(key for key in path if isinstance(key, str))
            for new in other_json(old, rng):
                make = partial(_with_value, tree, plain, path, new, put)
                yield Forgery(name, case, f"{where}: {told}", old, new, make)


def _paths(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all values in a file, and of all lists."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from _paths(value, (*path, key))
        return
    if path:
        yield path
    if isinstance(plain, list):
        for key, value in enumerate(plain):
            yield from _paths(value, (*path, key))


def _at(plain: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        plain = plain[key]
    return plain


def other_json(old: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Yield values that differ from one in a file."""
    if isinstance(old, list):
        yield from (old[::-1], old[:-1])
    elif isinstance(old, bool):
        yield not old
    elif isinstance(old, int | float):
        yield from (old + 1, 2 * old + 1, 0, old + int(rng.integers(2, 9)))
    elif isinstance(old, str):
        yield from ("another", f"{old} not", old.replace("1", "7").replace("2", "1"))
    elif old is None:
        yield from ("another", 1, True)


def _with_value(
    tree: Tree, plain: Any, path: tuple[Any, ...], new: Any, put: Callable[[Tree], Any]
) -> Any:
    """Return the subject whose tree has another value in its file; None if it has no meaning."""
    other = copy.deepcopy(plain)
    _at(other, path[:-1])[path[-1]] = new
    try:
        made = Tree.from_dict(other)
    except (ValueError, TypeError):
        return None
    return None if made == tree else put(made)


# ---- outcomes ----------------------------------------------------------------------------------


def may_be_true(forgery: Forgery) -> bool:
    """Return whether what is stated may be true, or nothing that sums show.

    A lower bound that is too high, and a cut or a nearest total that no tree has, are found out by
    trying all trees; bounds that are too low, and a search that is said to have been stopped, state
    less than is known. With another test, a tree may have its rows all the same.
    """
    if forgery.field_name in forgery.case.weaker:
        return True
    if forgery.field_name == "attribute _node_costs":
        pair = [model_of(one) for one in (forgery.case.subject, forgery.subject())]
        shown = [one.feature_importances_ for one in pair]
        return bool(np.allclose(*shown, atol=1e-5))
    where, _, part = forgery.field_name.partition(": ")
    if not part.startswith("tests") or part.endswith(".name"):
        return False
    other = {name: tree for name, tree, _ in trees_of(forgery.subject())}
    return _has_its_rows(other[where], forgery.case)


def _has_its_rows(tree: Tree, case: Case) -> bool:
    """Return whether the rows of all nodes weigh what a tree says, by its own paths."""
    passed = tree.decision_path(case.data["X"]).toarray().astype(bool)
    weights = case.data.get("sample_weight")
    weights = np.ones(len(passed)) if weights is None else np.asarray(weights)
    columns = [weights]
    if len(tree.counts[0]) > 1 and tree.notes is None and np.ndim(case.data.get("y")) == 1:
        columns = [weights * (case.data["y"] == label) for label in tree.classes]
    found = np.stack([passed.T @ column for column in columns], axis=1)
    stated = tree.counts if len(columns) > 1 else tree.weights[:, None]
    return bool(np.allclose(found, stated))


def outcome(forgery: Forgery) -> str:
    """Return the outcome of `verify` for a tampered certificate.

    "caught"; "no matter" if it may pass; "nothing" if nothing was changed, or it cannot be read;
    otherwise "passed", or an error of another kind.
    """
    subject = forgery.subject()
    if subject is None:
        return "nothing"
    try:
        verify(subject, **forgery.case.data)
    except CertificateError:
        return "caught"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no matter" if may_be_true(forgery) else "passed"


def accepted(case: Case) -> str:
    """Return why `verify` refuses something sound; nothing, if it accepts it."""
    try:
        verify(case.subject, **case.data)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def in_turns(found: dict[str, Case], seed: int) -> Iterator[Forgery]:
    """Yield a few tampered subjects for each field of each case, in any order."""
    groups: dict[tuple[str, str], list[Forgery]] = {}
    for forgery in forgeries(found, seed):
        groups.setdefault((forgery.name, forgery.field_name), []).append(forgery)
    rng = np.random.default_rng(seed)
    lists = list(groups.values())
    for place in rng.permutation(len(lists)):
        some = rng.permutation(len(lists[place]))[:3]
        yield from (lists[place][one] for one in some)


def main() -> int:
    """Tamper with many certificates; return 1 if one passes that must not."""
    parser = argparse.ArgumentParser(prog="python -m tests.tampering")
    parser.add_argument("--certificates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    seen: Counter[tuple[str, str]] = Counter()
    seed, n_honest, n_refused = options.seed, 0, 0
    while seen.total() < options.certificates:
        found = cases(seed)
        for name, case in found.items():
            said = accepted(case)
            n_honest += 1
            if said:
                sys.stdout.write(f"seed {seed}: {name} is sound, and refused: {said}\n")
                n_refused += 1
        for forgery in islice(in_turns(found, seed), _EACH):
            if seen.total() == options.certificates:
                break
            said = outcome(forgery)
            if said == "nothing":
                continue
            if said not in ("caught", "no matter"):
                sys.stdout.write(f"seed {seed}: {forgery}: {said}\n")
                said = "wrong"
            seen[forgery.name, said] += 1
        seed += 1
    columns = ("caught", "no matter", "wrong")
    sys.stdout.write(f"{'kind':<18}" + "".join(f"{name:>11}" for name in columns) + "\n")
    for kind in [*sorted({kind for kind, _ in seen}), "all"]:
        counts = [
            sum(n for (k, s), n in seen.items() if s == c and kind in (k, "all")) for c in columns
        ]
        sys.stdout.write(f"{kind:<18}" + "".join(f"{count:>11}" for count in counts) + "\n")
    sys.stdout.write(f"{n_honest} sound models, of which {n_refused} were refused\n")
    return int(n_refused > 0 or any(said == "wrong" for _, said in seen))


if __name__ == "__main__":
    sys.exit(main())
