"""Certificates: exact numbers, plain words, and a way to disk and back."""

from __future__ import annotations

import dataclasses
import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import Certificate, OptimalTreeClassifier
from certree.results._certificate import exact, show


@pytest.fixture
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 5))
    return X, np.where(rng.random(50) < 0.3, rng.integers(0, 2, 50), X[:, 0] ^ X[:, 1])


@pytest.fixture
def certificate(data: tuple[Any, Any]) -> Certificate:
    return OptimalTreeClassifier(max_depth=2, complexity=0.03).fit(*data).certificate_


def stopped(certificate: Certificate, **changes: Any) -> Certificate:
    bound = certificate.lower_bound - 5
    values = {"status": "time_limit", "lower_bound": bound, "gap": certificate.cost - bound}
    return dataclasses.replace(certificate, **{**values, **changes})


def test_numbers_are_ints_when_whole_and_fractions_otherwise(data: tuple[Any, Any]) -> None:
    plain = OptimalTreeClassifier(max_depth=2).fit(*data).certificate_
    for name in ("cost", "lower_bound", "upper_bound", "gap", "leaf_cost", "total_weight"):
        assert type(getattr(plain, name)) is int
    third = OptimalTreeClassifier(max_depth=2).fit(*data, np.full(50, 0.25)).certificate_
    assert type(third.total_weight) is Fraction
    assert third.total_weight == Fraction(25, 2)
    assert exact(Fraction(6, 3)) == 2
    assert type(exact(Fraction(6, 3))) is int


def test_the_bounds_enclose_the_optimum_and_the_gap_is_their_difference(
    certificate: Certificate,
) -> None:
    assert certificate.lower_bound == certificate.upper_bound == certificate.cost
    assert certificate.gap == 0
    assert certificate.is_optimal
    assert not stopped(certificate).is_optimal


def test_the_parts_add_up(certificate: Certificate) -> None:
    penalty = certificate.n_splits * certificate.split_penalty
    assert certificate.cost == certificate.leaf_cost + penalty
    assert certificate.objective == float(1 - certificate.cost / Fraction(certificate.total_weight))


def test_it_says_what_was_searched(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifier(
        max_depth=3, max_splits=4, min_samples_leaf=2, complexity=0.01, complexity_per="leaf"
    ).fit(*data)
    found = model.certificate_
    assert (found.task, found.max_depth, found.max_splits) == ("accuracy", 3, 4)
    assert (found.complexity, found.complexity_per) == (Fraction(1, 100), "leaf")
    assert (found.min_samples_leaf, found.n_rows, found.n_tests) == (2, 50, 5)
    assert found.n_row_groups == len(np.unique(data[0], axis=0))
    assert found.search == "auto"
    assert found.version
    assert found.seconds > 0


def test_history_is_in_units_of_cost_and_monotone(data: tuple[Any, Any]) -> None:
    found = OptimalTreeClassifier(max_depth=3, complexity=0.01).fit(*data).certificate_
    assert found.history
    uppers = [upper for _, _, upper, _ in found.history]
    lowers = [lower for _, _, _, lower in found.history]
    assert uppers == sorted(uppers, reverse=True)
    assert lowers == sorted(lowers)
    assert uppers[-1] >= found.cost >= lowers[-1]


def test_it_cannot_be_changed(certificate: Certificate) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.cost = 0  # type: ignore[misc]
    assert hash(certificate) == hash(dataclasses.replace(certificate))


@pytest.mark.parametrize("weights", [None, "thirds", "random"])
def test_json_and_back_is_the_same(data: tuple[Any, Any], weights: str | None) -> None:
    X, y = data
    given = {"thirds": np.full(50, 1 / 8), "random": np.random.default_rng(1).random(50)}
    model = OptimalTreeClassifier(max_depth=2, complexity=0.007, class_weight="balanced")
    found = model.fit(X, y, given.get(weights or "")).certificate_
    assert Certificate.from_json(found.to_json()) == found
    assert Certificate.from_dict(found.to_dict()) == found
    assert json.loads(found.to_json(indent=1))["n_rows"] == 50


def test_a_dict_with_other_fields_is_refused(certificate: Certificate) -> None:
    values = certificate.to_dict()
    del values["cost"]
    values["price"] = 3
    with pytest.raises(ValueError, match=r"missing fields \['cost'\].*unknown fields \['price'\]"):
        Certificate.from_dict(values)


# ---- in words ----------------------------------------------------------------------------------


def test_an_optimal_certificate_states_the_theorem(data: tuple[Any, Any]) -> None:
    found = OptimalTreeClassifier(max_depth=2).fit(*data).certificate_
    assert found.statement() == (
        f"No tree with depth at most 2 over these 5 questions makes fewer than {found.cost} errors "
        "on these rows."
    )
    text = str(found)
    assert text.startswith("Certificate: proven optimal\n")
    assert text.endswith(found.statement())
    assert f"cost         {found.cost} = {found.cost} errors" in text


def test_texts_speak_of_questions_since_tests_are_rows_to_readers(data: tuple[Any, Any]) -> None:
    """To a data scientist, "over 174 tests" is about a test set."""
    model = OptimalTreeClassifier(max_depth=2).fit(*data)
    certificate, explanation = model.certificate_, model.explain(data[0][:1])
    texts = [str(certificate), certificate.statement(), certificate._repr_html_()]
    texts += [str(explanation), explanation._repr_html_()]
    assert "over 5 questions" in texts[0]
    assert [text for text in texts if re.search(r"\btests?\b", text, re.IGNORECASE)] == []


def test_all_limits_are_named(certificate: Certificate) -> None:
    three = dataclasses.replace(certificate, max_splits=3, min_samples_leaf=4)
    limits = "depth at most 2, at most 3 splits and at least 4 rows in every leaf"
    assert limits in three.statement()
    assert limits in str(three)
    none = dataclasses.replace(certificate, max_depth=None)
    assert none.statement().startswith("No tree over these 5 questions")
    assert "any depth" in str(none)


def test_a_penalty_is_shown_as_part_of_the_cost(certificate: Certificate) -> None:
    text = str(certificate)
    assert "penalty of 0.03 per split included" in text
    assert f"{certificate.leaf_cost} errors + {certificate.n_splits} splits x 1.5" in text
    assert "costs less than" in text
    cost = certificate.cost + certificate.split_penalty
    per_leaf = dataclasses.replace(certificate, complexity_per="leaf", cost=cost)
    assert f"{certificate.n_splits + 1} leaves x 1.5" in str(per_leaf)


def test_a_stopped_search_says_how_far_it_can_be(certificate: Certificate) -> None:
    text = str(stopped(certificate, status="time_limit"))
    assert text.startswith("Certificate: stopped by the time limit")
    assert "at most 5 (10.00% of the rows) more than the best." in text


def test_weighted_errors_are_called_so(data: tuple[Any, Any]) -> None:
    found = OptimalTreeClassifier(max_depth=2).fit(*data, np.full(50, 3)).certificate_
    assert "weighted errors" in found.statement()
    balanced = OptimalTreeClassifier(max_depth=2, objective="balanced_accuracy").fit(*data)
    assert "balanced accuracy" in str(balanced.certificate_)
    assert "per class    weights" in str(balanced.certificate_)


@pytest.mark.parametrize(
    "number, text",
    [
        (3, "3"),
        (Fraction(4, 2), "2"),
        (Fraction(1, 4), "0.25"),
        (Fraction(7, 3), "2.33333 (7/3)"),
        (Fraction(10**9 + 7, 10**9 + 9), "~1"),
    ],
)
def test_exact_numbers_are_short_to_read(number: Any, text: str) -> None:
    assert show(number) == text
