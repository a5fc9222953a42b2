"""What the prompt and notebooks show of results: one readable line, never a page of fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.documents import Document, documents, table
from tests.tampering import cases

import certree
from certree import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    optimality_gap,
    pareto_front,
    regularization_path,
    solve,
    tasks,
    verify,
)
from certree.results._record import STATUSES, Record


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
def test_one_line_shows_any_document(document: Document) -> None:
    text = repr(document.written)
    assert "\n" not in text
    assert len(text) <= 200
    assert type(document.written).__name__ in text


def test_a_certificate_shows_status_cost_and_sizes() -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[0], [1], [1], [1]], [0, 1, 0, 1])
    assert repr(model.certificate_) == (
        "<Certificate: proven optimal, cost 1, 1 split, depth 1, 4 rows>"
    )
    assert str(model.certificate_).startswith("Certificate: proven optimal\n  objective")


def test_a_gap_is_shown() -> None:
    model = OptimalTreeClassifier(max_depth=2, gap=0.4).fit(np.eye(8), range(8))
    certificate = model.certificate_
    assert (f"gap {certificate.gap_text()}" in repr(certificate)) == (certificate.gap > 0)


def test_metrics_and_groups_are_shown() -> None:
    X, y = table()
    model = OptimalTreeClassifier(max_depth=2, objective="f1", pos_label="yes").fit(X, y)
    assert f"f1 {model.certificate_.objective:.6g}, " in repr(model.certificate_)
    fair = FairTreeClassifier(max_depth=1).fit(X, y, sensitive_features=[r[3] for r in X])
    assert " apart, " in repr(fair.certificate_)


def test_solutions_fronts_paths_and_reports_are_one_line() -> None:
    X, y = table()
    task = tasks.Misclassification()
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    shown = [
        solve(task, X, y, max_depth=1),
        solve(task & tasks.Limit("yes", {"yes": 1}, at_most=6), X, y, max_depth=1),
        solve(task & tasks.Limit("yes", {"yes": 1}, at_most=-1), X, y, max_depth=1),
        solve(tasks.Front(task, tasks.CostMatrix([[0, 1], [9, 0]])), X, y, max_depth=1),
        pareto_front(X, y, max_depth=1, pos_label="yes"),
        pareto_front(X, y, max_depth=1, pos_label="yes").certificate,
        regularization_path(X, y, max_depth=2),
        FairTreeClassifier(max_depth=1).fairness_curve(X, y, sensitive_features=[r[3] for r in X]),
        optimality_gap(model, X, y, max_depth=2),
        verify(model, X, y),
    ]
    for result in shown:
        assert len(repr(result)) <= 120, repr(result)
        assert "\n" not in repr(result)
    assert repr(shown[0]).startswith("<Solution: proven optimal, ")
    assert repr(shown[2]).startswith("<Solution: proven infeasible")
    assert repr(shown[-1]).endswith(f"cost {model.certificate_.cost}, 40 rows>")


def _certificates() -> list[type[Record]]:
    """Return all public classes of certificates, those of the future included."""
    named = [getattr(certree, name) for name in certree.__all__ if name.endswith("Certificate")]
    assert {one.__name__ for one in named} >= {"Certificate", "SeparableCertificate"}
    return named


@pytest.fixture(scope="module")
def stated() -> list[Any]:
    return [case.read(case.subject) for case in cases().values()]


@pytest.mark.parametrize("cls", _certificates(), ids=lambda cls: cls.__name__)
def test_every_certificate_goes_to_json_and_back_and_sums_itself_up(
    cls: type[Record], stated: list[Any]
) -> None:
    """A new class of certificates needs a case in tests/tampering.py, and is then tested here."""
    found = [certificate for certificate in stated if type(certificate) is cls]
    assert found, f"tests/tampering.py has no {cls.__name__}"
    for certificate in found:
        assert cls.from_json(certificate.to_json()) == certificate
        assert cls.from_json(certificate.to_json(indent=2)) == certificate
        assert cls.from_dict(certificate.to_dict()) == certificate
        assert repr(certificate) == f"<{cls.__name__}: {certificate.summary()}>"
        assert certificate.summary().startswith(STATUSES[certificate.status])
        assert "\n" not in certificate.summary()
        assert certificate.statement().endswith(".")
