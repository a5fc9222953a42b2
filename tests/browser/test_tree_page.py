"""``tree.to_html()`` in a browser: it fits, folds, and answers to mouse and keyboard."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeRegressor
from certree.encoding import Multiway, Threshold
from certree.tree import Labels, Numbers, Tree
from tests.unit.trees import mixed_tree, stump

from .conftest import Page

WIDTHS = [320, 800, 1400]


def full_tree(depth: int = 4, names: int = 3) -> Tree:
    """Return a tree with all nodes down to a depth, about columns with names of a usual length."""
    n_splits = 2**depth - 1
    columns = ["mean radius of cells", "age", "serum creatinine"][:names]
    tests = [Threshold(k % names, columns[k % names], 1.25 * k) for k in range(n_splits)]
    n_nodes = 2 * n_splits + 1
    test = [*range(n_splits), *[-1] * (n_splits + 1)]
    first = [2 * k + 1 for k in range(n_splits)] + [-1] * (n_splits + 1)
    label = [-1] * n_splits + [k % 2 for k in range(n_splits + 1)]
    counts = np.zeros((n_nodes, 2), dtype=int)
    for leaf in range(n_splits, n_nodes):
        counts[leaf] = [1000 + leaf, 40]
    for node in reversed(range(n_splits)):
        counts[node] = counts[2 * node + 1] + counts[2 * node + 2]
    payload = Labels(np.array(label), counts, np.array(["benign", "malignant"]))
    return Tree(tests, test, first, payload=payload, feature_names=columns)


def fan(n_leaves: int, payload: Any) -> Tree:
    """Return a tree with one test and many leaves."""
    test = Multiway(0, "x0", tuple((str(k),) for k in range(n_leaves)), 0)
    return Tree([test], [0] + [-1] * n_leaves, [1] + [-1] * n_leaves, payload=payload)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("tree", [full_tree(), mixed_tree(), stump()], ids=repr)
def test_the_tree_fits_every_width(page: Page, tree: Tree, width: int) -> None:
    page.open(tree.to_html(page=True), width=width)
    assert page.overflow() == []
    assert page.shown_nodes() == tree.preorder.tolist()
    assert page.node(0).is_displayed()


def test_letters_stay_large_enough_to_read(page: Page) -> None:
    page.open(full_tree().to_html(page=True), width=1400)
    for width in (1400, 1000, 640, 320):
        page.resize(width)
        page.settle()
        assert page.overflow() == [], width
        box = page.node(0).find_element("css selector", ".says")
        scale = page.ask(
            "arguments[0].getBoundingClientRect().height / arguments[0].offsetHeight", box
        )
        assert scale >= 0.59, width


def test_the_drawing_without_a_script_fits_too(page: Page) -> None:
    html = full_tree().to_html(page=True, interactive=False)
    for width, shown, hidden in ((1400, ".drawing", ".outline"), (320, ".outline", ".drawing")):
        page.open(html, width=width)
        assert page.all(shown)
        assert not page.all(hidden)
        assert page.ask("document.documentElement.scrollWidth") <= width


def test_click_shows_rule_rows_and_classes(page: Page) -> None:
    tree = mixed_tree()
    page.open(tree.to_html(page=True))
    leaf = int(tree.preorder[2])
    page.node(leaf).click()
    told = page.text(".detail")
    for text in ("Prediction: no", "color = red", "age <= 35.5", "9 of 40", "88.9"):
        assert text in told
    assert page.node(leaf).get_attribute("aria-selected") == "true"
    page.node(0).click()
    assert "Question: age <= 35.5?" in page.text(".detail")
    assert "All rows come here." in page.text(".detail")


def test_folding_hides_what_is_below(page: Page) -> None:
    tree = mixed_tree()
    page.open(tree.to_html(page=True))
    first = tree.children(0)[0]
    page.node(first).find_element("css selector", ".fold").click()
    below = page.shown_nodes()
    assert first in below
    assert not set(tree.children(first)) & set(below)
    assert page.node(first).get_attribute("aria-expanded") == "false"
    assert page.overflow() == []
    page.one('[aria-label="Unfold all"]').click()
    assert len(page.shown_nodes()) == tree.n_nodes
    page.one('[aria-label^="Fold all"]').click()
    assert page.shown_nodes() == [0, *tree.children(0)]


def test_keys_move_fold_and_choose(page: Page) -> None:
    tree = mixed_tree()
    page.open(tree.to_html(page=True))
    assert page.ask("document.querySelectorAll('[role=treeitem][tabindex=\"0\"]').length") == 1
    page.ask("document.querySelector('[data-node=\"0\"]').focus()")
    order = tree.preorder.tolist()
    page.press("ARROW_DOWN")
    assert page.focused() == order[1]
    page.press("ENTER")
    assert page.node(order[1]).get_attribute("aria-selected") == "true"
    page.press("ARROW_LEFT")
    assert page.node(order[1]).get_attribute("aria-expanded") == "false"
    page.press("ARROW_RIGHT", "ARROW_RIGHT")
    assert page.focused() == tree.children(order[1])[0]
    page.press("ARROW_LEFT")
    assert page.focused() == order[1]
    page.press("END")
    assert page.focused() == order[-1]
    page.press("HOME", "ARROW_UP")
    assert page.focused() == 0
    # The focus can be seen, and Tab leaves the tree again.
    outline = "getComputedStyle(document.activeElement.querySelector('.box')).outlineStyle"
    assert page.ask(outline) == "solid"
    page.press("TAB")
    assert not page.ask("document.activeElement.matches('[role=treeitem]')")


def test_screen_readers_hear_a_tree(page: Page) -> None:
    tree = mixed_tree()
    page.open(tree.to_html(page=True))
    assert page.one('[role="tree"]').get_attribute("aria-label") == page.text("strong")
    for node in tree.preorder.tolist():
        item = page.node(node)
        assert int(item.get_attribute("aria-level")) == tree.node_depth[node] + 1
        assert item.get_attribute("aria-label")
        assert (item.get_attribute("aria-expanded") is None) == (tree.test[node] < 0)
    assert page.one(".detail").get_attribute("aria-live") == "polite"


def test_zoom_scrolls_and_fit_returns(page: Page) -> None:
    page.open(full_tree().to_html(page=True))
    width = "arguments[0].getBoundingClientRect().width"
    before = page.ask(width, page.node(0))
    for _ in range(3):
        page.one('[aria-label="Zoom in"]').click()
    assert page.ask(width, page.node(0)) > 1.5 * before
    assert page.ask("document.documentElement.scrollWidth") <= 1400
    page.one('[aria-label^="Fit"]').click()
    assert page.overflow() == []
    page.one('[aria-label="Show the tree as a list"]').click()
    assert page.ask("document.querySelector('.stage').className") == "stage list"
    assert page.overflow() == []


def test_more_than_eight_classes_keep_their_colours(page: Page) -> None:
    n = 14
    counts = np.vstack([np.ones(n, dtype=int), np.eye(n, dtype=int)])
    tree = fan(
        n, Labels(np.array([-1, *range(n)]), counts, np.array([f"class {k}" for k in range(n)]))
    )
    for width in WIDTHS:
        page.open(tree.to_html(page=True), width=width)
        assert page.overflow() == []
    swatches = page.all(".legend .swatch")
    colours = [swatch.value_of_css_property("background-color") for swatch in swatches]
    assert len(set(colours)) == n
    assert [item.text for item in page.all(".legend li")] == [f"class {k}" for k in range(n)]


def test_numbers_have_a_scale_and_text_that_can_be_read(page: Page) -> None:
    payload = Numbers([-1, *range(6)], [21, *range(1, 7)], [-2.0, 0.0, 1.5, 3.0, 7.0, 9.5])
    for dark in (False, True):
        page.open(fan(6, payload).to_html(page=True), dark=dark)
        assert "-2" in page.text(".scale")
        assert "9.5" in page.text(".scale")
        assert not page.all(".legend")
        for node in range(1, 7):
            assert contrast(page, page.node(node).find_element("css selector", ".box")) >= 4.5
        page.node(0).click()
        assert "What rows here get (number)" in page.text(".detail")


def test_numbers_are_not_broken_into_lines(page: Page) -> None:
    X, y = np.arange(80.0).reshape(-1, 1), np.sin(np.arange(80.0)) * np.arange(80) / 7
    model = OptimalTreeRegressor(max_depth=3, thresholds=7).fit(X, y)
    page.open(model.tree_.to_html(page=True), width=1400)
    lines = "arguments[0].offsetHeight / parseFloat(getComputedStyle(arguments[0]).lineHeight)"
    for box in page.all(".picture .told"):
        assert box.text.startswith("mean of")
        assert page.ask(lines, box) < 2.5, box.text


def contrast(page: Page, box: Any) -> float:
    """Return the contrast of text and ground, as WCAG defines it."""
    ink, ground = (_luminance(box.value_of_css_property(p)) for p in ("color", "background-color"))
    return (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05)


def _luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_dark_pages_have_light_text(page: Page) -> None:
    for dark in (False, True):
        page.open(mixed_tree().to_html(page=True), dark=dark)
        ink = _luminance(page.node(0).value_of_css_property("color"))
        assert (ink > 0.5) == dark


def test_hostile_names_stay_text(page: Page) -> None:
    name = "</script><script>document.title = 'broken'</script><b>\"'&amp;"
    tree = stump([name, "no"], name=name, category=name)
    page.open(tree.to_html(page=True, title=name))
    assert page.driver.title == name
    assert name in page.node(0).text
    page.node(0).click()
    assert name in page.text(".detail")
    assert not page.all("b")


def test_endless_names_take_little_room(page: Page) -> None:
    name = "very " * 500 + "long" + "x" * 500
    tree = stump([name, "no"], name=name, category=name)
    for width in WIDTHS:
        page.open(tree.to_html(page=True), width=width)
        assert page.overflow() == []
        assert page.ask("document.documentElement.scrollHeight") < 1500


def test_several_trees_share_a_page(page: Page) -> None:
    html = mixed_tree().to_html() + stump().to_html() + mixed_tree().to_html(interactive=False)
    page.open(f"<!DOCTYPE html><meta charset=utf-8><body>{html}")
    assert len(page.all('[role="tree"]')) == 2
    assert len(page.all("svg.drawing")) == 1
