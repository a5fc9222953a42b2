"""No certificate that was tampered with passes, whichever field, whatever it is about."""

from __future__ import annotations

import copy
import dataclasses
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.problems import FUZZ
from tests.tampering import Case, cases, forgeries, outcome

import certree
from certree import CertificateError, Tree, metrics, tasks, verify
from certree.verify import _door, _fields, _formulas, _leaves

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
    bad = [f"{f}: {said}" for f, said in found if said not in ("caught", "no matter")]
    assert not bad, "\n".join(bad[:20])
    assert sum(said == "caught" for _, said in found) > 0.9 * len(chosen)


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
    checked, informative = _fields.CHECKED[cls.__name__], _fields.INFORMATIVE[cls.__name__]
    assert not set(checked) & informative
    assert {f.name for f in dataclasses.fields(cls)} == set(checked) | informative


@pytest.mark.parametrize("cls", _stating(), ids=lambda cls: cls.__name__)
def test_the_guide_lists_every_field(cls: type) -> None:
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| `{cls.__name__}` |"))
    _, _, checked, informative, _ = row.split("|")
    stated = [set(re.findall(r"`(\w+)`", part)) for part in (checked, informative)]
    if "`Certificate`" in checked or "`TaskCertificate`" in checked:
        parent = "TaskCertificate" if "`TaskCertificate`" in checked else "Certificate"
        stated[0] = stated[0] - {parent} | set(_fields.CHECKED[parent])
        stated[1] |= _fields.INFORMATIVE[parent]
    assert stated == [set(_fields.CHECKED[cls.__name__]), _fields.INFORMATIVE[cls.__name__]]


def test_every_certificate_task_and_metric_has_a_checker() -> None:
    certificates = {c.__name__ for c in _stating()} - {"LimitValue", "PathEntry"}
    assert certificates <= set(_door.CHECKERS)
    stated = [cls for cls in vars(tasks).values() if isinstance(cls, type)]
    own = {cls.__name__ for cls in stated if issubclass(cls, tasks.Task) and cls is not tasks.Task}
    assert own == set(_leaves.TASKS)
    assert set(_leaves.ESTIMATORS) <= set(certree.__all__)
    by_value = {
        cls.__name__
        for cls in vars(metrics).values()
        if isinstance(cls, type) and issubclass(cls, metrics.Metric)
    } - {"Metric", "Custom", "AUC", "PartialAUC", "ErrorFront"}
    assert by_value == set(_formulas.FORMULAS)
