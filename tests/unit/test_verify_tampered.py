"""No certificate that was tampered with passes, whichever field, whatever it is about."""

from __future__ import annotations

import copy
import dataclasses
import re
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from tests.problems import FUZZ
from tests.tampering import (
    Case,
    attributes_of,
    cases,
    forged_attributes,
    forged_trees,
    forgeries,
    model_of,
    outcome,
    trees_of,
)

import certree
from certree import CertificateError, Tree, metrics, tasks, verify
from certree.estimators._solve import TaskTree
from certree.files._model import _declared
from certree.tree._payload import Payload
from certree.verify import _attributes, _fields, _formulas, _leaves, _verify

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "verification.md"

# Of more than ten thousand tampered certificates so many are tried, unless CERTREE_FUZZ is set.
_SOME = 700

sound = cache(cases)


@pytest.mark.parametrize("name", list(sound()))
def test_what_is_sound_passes_and_is_proven_again(name: str) -> None:
    case = sound()[name]
    assert verify(case.subject, **case.data, exhaustive=True)


def test_no_tampered_field_passes_and_none_raises_anything_else() -> None:
    everything = list(forgeries(sound(), FUZZ))
    assert len(everything) > 10_000
    chosen = everything
    if not FUZZ:
        places = np.random.default_rng(0).permutation(len(everything))[:_SOME]
        chosen = [everything[place] for place in places]
    found = [(forgery, outcome(forgery)) for forgery in chosen]
    found = [(forgery, said) for forgery, said in found if said != "nothing"]
    bad = [f"{f}: {said}" for f, said in found if said not in ("caught", "no matter")]
    assert not bad, "\n".join(bad[:20])
    assert sum(said == "caught" for _, said in found) > 0.9 * len(found)


# ---- nothing that users read is left out -------------------------------------------------------


def _estimators() -> list[type]:
    """Return all classes that are fitted, those behind solutions included."""
    named = [getattr(certree, name) for name in certree.__all__]
    classes = [cls for cls in named if isinstance(cls, type) and hasattr(cls, "get_params")]
    return [*(cls for cls in classes if dataclasses.is_dataclass(cls)), TaskTree]


@pytest.mark.parametrize("cls", _estimators(), ids=lambda cls: cls.__name__)
def test_every_attribute_of_a_model_is_recomputed_or_its_own(cls: type) -> None:
    known = {*_attributes.RECOMPUTED, *_attributes.ELSEWHERE, *_attributes.OWN}
    assert set(_declared(cls)) <= known


def test_every_attribute_and_every_value_of_a_tree_is_tampered_with() -> None:
    tampered: dict[str, set[str]] = {}
    for forgery in forgeries(sound()):
        tampered.setdefault(forgery.name, set()).add(forgery.field_name)
    seen: set[str] = set()
    for name, case in sound().items():
        model = model_of(case.subject)
        for attribute in [] if model is None else attributes_of(model):
            seen.add(attribute)
            is_nothing = getattr(model, attribute) is None
            assert is_nothing or f"attribute {attribute}" in tampered[name], (name, attribute)
        for where, tree, _ in trees_of(case.subject):
            for part in _parts(tree.to_dict()):
                assert f"{where}: {part}" in tampered[name], (name, part)
    # All that is compared is an attribute of some case, and so is tampered with.
    whole = {"tree_", "certificate_", "encoder_", "front_", "_path"}
    of_searches = {"best_estimator_", "best_params_"}
    checked = {*_attributes.RECOMPUTED, *_attributes.ELSEWHERE} - whole - of_searches
    assert checked <= seen


def _parts(plain: Any, path: str = "") -> set[str]:
    """Return the names of all values that a tree has in a file."""
    if isinstance(plain, dict):
        return set().union(*(_parts(value, f"{path}.{key}") for key, value in plain.items()))
    own = {path[1:]} if path else set()
    several = plain if isinstance(plain, list) else []
    return own.union(*(_parts(value, path) for value in several))


def test_every_kind_of_leaf_is_tampered_with() -> None:
    held = {tree.payload.kind for case in sound().values() for _, tree, _ in trees_of(case.subject)}
    # Vectors without names of outputs are read from old files only.
    own = {kind for kind, cls in Payload.kinds.items() if cls.__module__.startswith("certree.")}
    assert held >= own - {"vectors"}


def test_other_parameters_of_a_search_are_refused() -> None:
    case = sound()["cv"]
    other = copy.copy(case.subject)
    other.best_params_ = {**other.best_params_, "max_depth": 7}
    with pytest.raises(CertificateError, match="best_params_ has max_depth=7"):
        verify(other, **case.data)


@pytest.mark.parametrize("name", ["reduced", "queried"])
def test_no_tampered_tree_passes_by_sums_over_leaves(name: str) -> None:
    pd, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    pytest.importorskip("ibis")
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.integers(0, 4, 40), "b": rng.integers(0, 3, 40)})
    table["y"] = np.where(rng.random(40) < 0.3, "no", np.where(table["a"] > 1, "yes", "no"))
    table["z"] = (table["a"] * 2 + table["b"]).astype(float)
    for target, model in (
        ("y", certree.OptimalTreeClassifier(max_depth=2)),
        ("y", certree.CostSensitiveTreeClassifier([[0, 1], [3, 0]], max_depth=2)),
        ("z", certree.OptimalTreeRegressor(max_depth=2)),
    ):
        reduced = certree.reduce(table, features=["a", "b"], target=target)
        model.fit_reduced(reduced)
        data = {"X": reduced} if name == "reduced" else {"X": duckdb.from_df(table), "y": target}
        weaker = frozenset({"tree: tests.threshold", "tree: tests.missing"})
        case = Case(model, data, lambda m: m.certificate_, lambda m, _: m, weaker)
        assert verify(model, **data)
        found = [*forged_trees(name, case, rng), *forged_attributes(name, case, rng)]
        for forgery in [found[k] for k in rng.permutation(len(found))[:150]]:
            # Sums over the leaves do not tell how many candidates there were.
            if forgery.field_name not in ("tree: n_columns", "tree: tests.column"):
                assert outcome(forgery) in ("caught", "nothing", "no matter"), forgery


def _with_tree(case: Case, **changes: Any) -> Any:
    """Return a model whose tree asks other tests, or holds something else in its leaves."""
    tree = case.subject.tree_
    parts = {"tests": tree.tests, "payload": tree.payload, **changes}
    names = tree.feature_names if tree.has_names else None
    other = copy.copy(case.subject)
    other.tree_ = Tree(
        test=tree.test,
        first_child=tree.first_child,
        feature_names=names,
        n_features=tree.n_features,
        **parts,
    )
    return other


WITH_TREE = (
    "errors",
    "table",
    "reals",
    "f1",
    "regression",
    "costs",
    "policy",
    "capacity",
    "fair",
    "decisions",
)


@pytest.mark.parametrize("name", WITH_TREE)
def test_no_tampered_tree_passes(name: str) -> None:
    case = sound()[name]
    tree = case.subject.tree_
    for leaf in np.flatnonzero(tree.test < 0):
        label = tree.label.copy()
        label[leaf] = (label[leaf] + 1) % len(tree.classes)
        other = _with_tree(case, payload=dataclasses.replace(tree.payload, label=label))
        with pytest.raises(CertificateError):
            verify(other, **case.data)
    for place, test in enumerate(tree.tests):
        moved = dataclasses.replace(test, feature=(test.feature + 1) % tree.n_features)
        tests = [*tree.tests[:place], moved, *tree.tests[place + 1 :]]
        with pytest.raises(CertificateError):
            verify(_with_tree(case, tests=tests), **case.data)


@pytest.mark.parametrize(
    "changes",
    [{"thresholds": "all"}, {"thresholds": 2}, {"categorical_features": "all"}, {"max_depth": 3}],
    ids=str,
)
def test_no_other_parameters_pass(changes: dict[str, Any]) -> None:
    case = sound()["table"]
    other = copy.copy(case.subject).set_params(**changes)
    with pytest.raises(CertificateError):
        verify(other, **case.data)


# ---- everything has its checker ----------------------------------------------------------------


def _stating() -> list[type]:
    """Return all classes that state something about trees."""
    named = [getattr(certree, name) for name in certree.__all__]
    classes = [cls for cls in named if isinstance(cls, type) and dataclasses.is_dataclass(cls)]
    others = ("LimitValue", "PathEntry", "OptimalityGap")
    return [c for c in classes if c.__name__.endswith("Certificate") or c.__name__ in others]


@pytest.mark.parametrize("cls", _stating(), ids=lambda cls: cls.__name__)
def test_every_field_is_recomputed_or_informative(cls: type) -> None:
    assert cls.__name__ in _fields.CERTIFICATES
    checked, names = set(_fields.checked_fields(cls)), {f.name for f in dataclasses.fields(cls)}
    assert checked
    assert names - checked == names & _fields.INFORMATIVE


@pytest.mark.parametrize("cls", _stating(), ids=lambda cls: cls.__name__)
def test_every_checked_field_has_a_type_that_is_compared(cls: type) -> None:
    """A field of any type would accept anything."""
    free = {"pos_label", "tree", "best_tree", "certificate", "model"}
    hints = get_type_hints(cls)
    for name in set(_fields.checked_fields(cls)) - free:
        assert not _fields._is_a(object(), hints[name]), name


@pytest.mark.parametrize("cls", _stating(), ids=lambda cls: cls.__name__)
def test_the_guide_lists_every_field(cls: type) -> None:
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| `{cls.__name__}` |"))
    _, _, checked, informative, _ = row.split("|")
    stated = [set(re.findall(r"`(\w+)`", part)) for part in (checked, informative)]
    if "`Certificate`" in checked or "`TaskCertificate`" in checked:
        parent = "TaskCertificate" if "`TaskCertificate`" in checked else "Certificate"
        of_parent = {f.name for f in dataclasses.fields(getattr(certree, parent))}
        stated[0] = stated[0] - {parent} | of_parent - _fields.INFORMATIVE
        stated[1] |= of_parent & _fields.INFORMATIVE
    names = {f.name for f in dataclasses.fields(cls)}
    assert stated == [set(_fields.checked_fields(cls)), names & _fields.INFORMATIVE]


def test_every_certificate_task_and_metric_has_a_checker() -> None:
    certificates = {c.__name__ for c in _stating()} - {"LimitValue", "PathEntry"}
    assert certificates <= set(_verify.CHECKERS)
    named = (getattr(tasks, name) for name in tasks.__all__)
    stated = [cls for cls in named if isinstance(cls, type)]
    own = {cls.__name__ for cls in stated if issubclass(cls, tasks.Task) and cls is not tasks.Task}
    assert own == set(_leaves.TASKS)
    assert set(_leaves.ESTIMATORS) <= set(certree.__all__)
    by_value = {
        cls.__name__
        for cls in vars(metrics).values()
        if isinstance(cls, type) and issubclass(cls, metrics.Metric)
    } - {"Metric", "Custom", "AUC", "PartialAUC", "ErrorFront"}
    assert by_value == set(_formulas.FORMULAS)
