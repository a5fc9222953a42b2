"""What texts, rules and pictures say about missing values: where they go, if training had any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier
from certree.encoding import Category, Flag, Level, Missing, Multiway, Test, Threshold
from certree.tree import Tree

STAGES = ("I", "II", "III", "IV")


def line(*steps: tuple[Test, int]) -> Tree:
    """Return a tree that goes on along some outcomes; its last leaf is the end of the path."""
    test, first_child, node = [-1], [-1], 0
    for position, (asked, outcome) in enumerate(steps):
        test[node], first_child[node] = position, len(test)
        node = len(test) + outcome
        test += [-1] * asked.n_outcomes
        first_child += [-1] * asked.n_outcomes
    label = [0 if t < 0 else -1 for t in test]
    label[node] = 1
    tests, counts = [asked for asked, _ in steps], np.ones((len(test), 2))
    return Tree(tests, test, first_child, label, counts=counts, classes=["no", "end"])


def conditions(*steps: tuple[Test, int]) -> tuple[str, ...]:
    """Return the conditions of the leaf at the end of a path."""
    return next(rule.conditions for rule in line(*steps).rules() if rule.prediction == "end")


def at(cut: float, missing: bool | None = None) -> Threshold:
    return Threshold(0, "x", cut, missing)


IS_MISSING = Missing(0, "x")


@pytest.mark.parametrize(
    "steps, expected",
    [
        ([(at(5, True), 0)], ["x <= 5 or missing"]),
        ([(at(5, True), 1)], ["x > 5"]),
        ([(at(5, False), 0)], ["x <= 5"]),
        ([(at(5, False), 1)], ["x > 5 or missing"]),
        ([(at(5, True), 0), (at(3, False), 1)], ["3 < x <= 5 or missing"]),
        ([(at(5, True), 0), (at(3, True), 1)], ["3 < x <= 5"]),
        ([(at(5, True), 0), (at(3, False), 0)], ["x <= 3"]),
        ([(at(5, False), 1), (IS_MISSING, 0)], ["x is missing"]),
        ([(at(5, False), 1), (IS_MISSING, 1)], ["x > 5"]),
        ([(IS_MISSING, 1), (at(5, False), 1)], ["x > 5"]),
        ([(at(3, True), 0), (at(5, False), 1)], ["x is missing"]),
        ([(at(5), 1), (IS_MISSING, 1)], ["x > 5", "x is present"]),
        ([(Flag(0, "x", True, True), 0)], ["x or missing"]),
        ([(Flag(0, "x", False, False), 1)], ["x = 0 or missing"]),
        ([(Flag(0, "x", False, True), 0), (Flag(0, "x", False, False), 1)], ["x is missing"]),
        (
            [(Category(0, "x", "a", False), 1), (Category(0, "x", "b", False), 1)],
            ["x not in {a, b} or missing"],
        ),
        ([(Category(0, "x", "a", False), 1), (IS_MISSING, 1)], ["x != a"]),
        (
            [(Level(0, "x", STAGES, "III", True), 0), (Level(0, "x", STAGES, "I", False), 1)],
            ["I < x <= III or missing"],
        ),
        ([(Level(0, "x", STAGES, "II"), 1)], ["x > II"]),
        (
            [(Level(0, "x", STAGES, "II"), 0), (Level(0, "x", ("II", "I"), "II"), 1)],
            ["x <= II", "x > II"],
        ),
        ([(Multiway(0, "x", ["a", None]), 1)], ["x is missing"]),
    ],
)
def test_rules_say_where_missing_values_go(
    steps: list[tuple[Test, int]], expected: list[str]
) -> None:
    assert conditions(*steps) == tuple(expected)


def test_rules_are_read_in_one_way() -> None:
    """Conditions that say "or" stand in brackets beside others."""
    rule = line((at(5, False), 1), (Flag(1, "y", True), 0)).rules()[1]
    assert str(rule) == "(x > 5 or missing) and y: end"
    assert str(line((at(5, False), 1)).rules()[1]) == "x > 5 or missing: end"


def test_text_is_silent_where_no_missing_value_arrives() -> None:
    tree = line((IS_MISSING, 1), (at(5, False), 1), (at(9, True), 1))
    assert tree.to_text(show_counts=False).splitlines() == [
        "x is missing: no",
        "x is present",
        "|   x <= 5: no",
        "|   x > 5",
        "|   |   x <= 9: no",
        "|   |   x > 9: end",
    ]
    tree = line((at(5, False), 1), (at(9, True), 0), (at(7, False), 1))
    assert tree.to_text(show_counts=False, decimals=1).splitlines() == [
        "x <= 5.0: no",
        "x > 5.0 or missing",
        "|   x <= 9.0 or missing",
        "|   |   x <= 7.0: no",
        "|   |   x > 7.0 or missing: end",
        "|   x > 9.0: no",
    ]


def test_pictures_say_where_missing_values_go() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    tree = line((at(5, False), 1), (at(9, True), 0))
    drawn = [text.get_text() for text in tree.plot().texts]
    assert {"x <= 5", "no or missing", "x <= 9", "yes or missing"} <= set(drawn)
    assert drawn.count("yes") == 1
    for text in (tree.to_dot(), tree.to_html()):
        assert "no or missing" in text
        assert "yes or missing" in text


def test_long_names_do_not_hide_the_threshold_in_pictures() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    name = "income of the whole household before taxes"
    tree = line((Threshold(0, name, 1234.5, True), 0))
    drawn = [text.get_text() for text in tree.plot().texts]
    assert any(text.endswith("<= 1234.5") for text in drawn)
    assert "yes or missing" in drawn


@pytest.mark.parametrize("shown", ["text", "dot", "html"])
def test_nothing_is_said_if_nothing_was_missing(shown: str) -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) > 7
    tree = OptimalTreeClassifier(max_depth=1).fit(X, y).tree_
    assert "missing" not in getattr(tree, f"to_{shown}")()
    assert "missing" not in str(tree.rules())


def test_a_fitted_tree_says_it() -> None:
    """A node of 14 rows read ``visits > 7.5``, although 4 of them were missing."""
    visits: list[Any] = [*range(20), *[None] * 4]
    y = [v is None or v > 9 for v in visits]
    model = OptimalTreeClassifier(max_depth=1).fit([[v] for v in visits], y)
    assert model.tree_.to_text().splitlines() == [
        "x0 <= 9.5: False (10 of 10, 100.0%)",
        "x0 > 9.5 or missing: True (14 of 14, 100.0%)",
    ]
    y = [v is None or v <= 9 for v in visits]
    model = OptimalTreeClassifier(max_depth=1).fit([[v] for v in visits], y)
    assert str(model.tree_.rules()[0]) == "x0 <= 9.5 or missing: True"
