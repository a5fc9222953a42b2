"""Trees to look at: text, Graphviz, matplotlib, HTML."""

from __future__ import annotations

import builtins
import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from tests.unit.trees import Case, cases, chain, leaf, mixed_tree, stump

from certree.encoding import Category, Multiway, Threshold, TimeThreshold
from certree.tree import Numbers, Tree
from certree.tree._layout import centres
from certree.tree._leaf_style import PALETTE, SCALE, colours
from certree.tree._wording import fitted_answer

HUGE = "very " * 2000 + "long"
NASTY = "a\"b'c\\N<script>&amp;$x^2$\n{new}|line\u2028漢字é🌳"


# ---- text ------------------------------------------------------------------------------------


def test_text() -> None:
    assert mixed_tree().to_text().splitlines() == [
        "age <= 35.5",
        "|   color = red: no (8 of 9, 88.9%)",
        "|   color != red",
        "|   |   income is missing: maybe (5 of 6, 83.3%)",
        "|   |   income is present",
        "|   |   |   income <= 1234.25: maybe (3 of 3, 100.0%)",
        "|   |   |   income > 1234.25: no (2 of 3, 66.7%)",
        "age > 35.5",
        "|   smoker",
        "|   |   age <= 60.25: no (4 of 6, 66.7%)",
        "|   |   age > 60.25: yes (6 of 6, 100.0%)",
        "|   not smoker: yes (7 of 7, 100.0%)",
    ]


def test_text_can_be_cut_and_rounded() -> None:
    assert mixed_tree().to_text(max_depth=2, decimals=0, show_counts=False).splitlines() == [
        "age <= 36",
        "|   color = red: no",
        "|   color != red: ... (2 splits)",
        "age > 36",
        "|   smoker: ... (1 split)",
        "|   not smoker: yes",
    ]
    assert mixed_tree().to_text(max_depth=0) == "... (6 splits)"
    with pytest.raises(ValueError, match="max_depth"):
        mixed_tree().to_text(max_depth=-1)


def test_text_of_a_single_leaf() -> None:
    assert leaf().to_text() == "class: yes (3 of 4, 75.0%)"


def test_text_of_real_weights() -> None:
    tree = Tree([], [-1], [-1], [0], counts=[[1.25, 1 / 3]], classes=["a", "b"], n_features=1)
    assert tree.to_text() == "class: a (78.9% of weight 1.58)"
    assert tree.to_text(decimals=3) == "class: a (78.9% of weight 1.583)"


@given(cases())
def test_text_has_one_line_per_branch(case: Case) -> None:
    lines = case.tree.to_text().split("\n")
    assert len(lines) == max(1, case.tree.n_nodes - 1)
    assert all(line.isprintable() for line in lines)


def test_names_cannot_break_the_text() -> None:
    lines = stump(name=HUGE, category=NASTY).to_text().splitlines()
    assert len(lines) == 2
    assert all(len(line) < 200 for line in lines)
    line = stump(name=NASTY).to_text().splitlines()[0]
    assert r"\n" in line
    assert "漢字é🌳" in line


# ---- Graphviz --------------------------------------------------------------------------------


def test_dot_has_all_nodes_and_edges() -> None:
    dot = mixed_tree().to_dot()
    assert dot.startswith("digraph tree {")
    assert dot.count(" -> ") == 12
    assert 'n0 [label="age <= 35.5"' in dot
    assert 'label="no\\n8 of 9 (88.9%)"' in dot
    assert "8 of 9" not in mixed_tree().to_dot(show_counts=False)


def test_dot_escapes_names() -> None:
    dot = stump([NASTY, "no"], name=NASTY, category=HUGE).to_dot()
    strings = re.findall(r'"(?:[^"\\]|\\.)*"', dot)
    rest = re.sub(r'"(?:[^"\\]|\\.)*"', "", dot)
    assert '"' not in rest
    assert "script" not in rest
    assert any("\\\\N<script>" in text for text in strings)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("tree", [mixed_tree(), leaf(), stump([NASTY, "b"], name=NASTY)])
def test_graphviz_reads_dot(tree: Tree) -> None:
    run = subprocess.run(
        ["dot", "-Tplain"], input=tree.to_dot().encode(), capture_output=True, check=True
    )
    assert run.stdout.decode().count("\nnode ") == tree.n_nodes


# ---- layout ----------------------------------------------------------------------------------


LONG = "the diagnosis as it was coded by the physician in charge at discharge"
CODE = "I21.4 Acute subendocardial myocardial infarction"


@pytest.mark.parametrize(
    "test", [Category(0, LONG, CODE), TimeThreshold(0, LONG, "2024-02-19T11:00")]
)
def test_what_is_asked_stays_visible_under_long_names(test: Any) -> None:
    """A long column is cut, the value that it is compared with is not."""
    pytest.importorskip("matplotlib")
    tree = Tree(
        *([test], [0, -1, -1], [1, -1, -1], [-1, 0, 1]),
        counts=[[2, 2], [2, 0], [0, 2]],
        classes=["no", "yes"],
    )
    asked = test.describe(0).removeprefix(f"{LONG} ")
    boxes = [text.get_text() for text in tree.plot().texts]
    drawing = re.sub(r"<title.*?</title>|<desc.*?</desc>", "", tree.to_html(interactive=False))
    pictures = {
        "plot": " ".join(boxes),
        "svg": " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawing)),
        "dot": re.search(r'n0 \[label="([^"]*)"', tree.to_dot())[1].replace("\\n", " "),  # type: ignore[index]
        "mermaid": tree.to_mermaid().split("\n")[1].replace("<br/>", " "),
    }
    pictures["mermaid"] = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), pictures["mermaid"])
    for name, shown in pictures.items():
        assert asked in html.unescape(shown), name
        assert LONG[:10] in shown, name


def test_long_outcomes_of_multiway_splits_lose_the_column_first() -> None:
    test = Multiway(0, LONG, ["appendicitis", "pneumonia", "none"])
    tree = Tree(
        *([test], [0, -1, -1, -1], [1, -1, -1, -1], [-1, 0, 1, 1]),
        counts=[[2, 2], [2, 0], [0, 1], [0, 1]],
        classes=["no", "yes"],
    )
    shown = [fitted_answer(tree, child, 26) for child in (1, 2, 3)]
    assert shown == ["= appendicitis", "= pneumonia", "= none"]
    short = fitted_answer(tree, 1, 200)
    assert short == f"{LONG} = appendicitis"


@given(cases())
def test_boxes_do_not_overlap_and_parents_are_centred(case: Case) -> None:
    tree = case.tree
    widths = [10.0 + 7 * (node % 3) for node in range(tree.n_nodes)]
    x = centres(tree, widths, gap=2.0)
    assert min(x[v] - widths[v] / 2 for v in range(tree.n_nodes)) == pytest.approx(0)
    for level in range(tree.depth + 1):
        nodes = [v for v in tree.preorder.tolist() if tree.node_depth[v] == level]
        for left, right in pairwise(nodes):
            assert x[right] - x[left] >= (widths[left] + widths[right]) / 2 + 2.0 - 1e-9
    for node in range(tree.n_nodes):
        if children := tree.children(node):
            assert x[node] == pytest.approx((x[children[0]] + x[children[-1]]) / 2)


def test_deep_drawings_are_possible() -> None:
    tree = chain(300, holds=True)
    assert len(centres(tree, [10.0] * tree.n_nodes, 1.0)) == tree.n_nodes


# ---- matplotlib ------------------------------------------------------------------------------

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    yield
    plt.close("all")


def _boxes(ax: Any) -> list[Any]:
    from matplotlib.patches import FancyBboxPatch

    ax.figure.canvas.draw()
    return [p.get_window_extent() for p in ax.patches if isinstance(p, FancyBboxPatch)]


def _overlap(a: Any, b: Any) -> bool:
    return bool(a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1)


@pytest.mark.parametrize("size", [None, (8, 5), (2, 2)])
@pytest.mark.parametrize("tree", [mixed_tree(), leaf(), stump(name=HUGE, category="x $ y $")])
def test_plot_shows_every_node_without_overlap(tree: Tree, size: Any) -> None:
    ax = None if size is None else plt.figure(figsize=size).add_subplot()
    drawn = tree.plot(ax)
    assert ax is None or drawn is ax
    boxes = _boxes(drawn)
    assert len(boxes) == tree.n_nodes
    assert not any(_overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    texts = [text.get_window_extent() for text in drawn.texts if text.get_text()]
    assert not any(_overlap(a, b) for i, a in enumerate(texts) for b in texts[:i])
    frame = drawn.get_window_extent()
    assert all(b.x0 >= frame.x0 - 1 and b.x1 <= frame.x1 + 1 for b in boxes + texts)
    assert all(b.y0 >= frame.y0 - 1 and b.y1 <= frame.y1 + 1 for b in boxes + texts)


def test_plot_without_counts_and_with_rounded_thresholds() -> None:
    texts = [t.get_text() for t in mixed_tree().plot(decimals=0, show_counts=False).texts]
    assert "age <= 36" in texts
    assert not any(" of " in text for text in texts)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_plot_takes_names_literally() -> None:
    ax = stump([NASTY, "b"], name="$\\frac{", category="$").plot()
    ax.figure.canvas.draw()
    assert any("$\\frac{" in text.get_text() for text in ax.texts)


def test_plot_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install certree\[plot\]"):
        mixed_tree().plot()


# ---- HTML ------------------------------------------------------------------------------------


class _Checker(HTMLParser):
    """Check that tags nest, and collect them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _check_html(text: str) -> list[str]:
    checker = _Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    return checker.tags


@settings(max_examples=40)
@given(cases())
def test_html_is_well_formed_and_loads_nothing(case: Case) -> None:
    html = case.tree.to_html(interactive=False)
    tags = _check_html(html)
    assert not {"script", "link", "img", "iframe"} & set(tags)
    assert tags.count("svg") == 1
    tags = _check_html(case.tree.to_html())
    assert not {"link", "img", "iframe"} & set(tags)
    assert tags.count("script") == 2
    for text in (html, case.tree.to_html()):
        urls = re.findall(r"https?://[^\"'\s]+", text)
        assert set(urls) <= {"http://www.w3.org/2000/svg"}
        assert "url(" not in text
    svg = re.search(r"<svg.*</svg>", html, re.DOTALL)
    assert svg is not None
    ElementTree.fromstring(svg.group())


def test_html_names_the_drawing_and_tells_it_in_words() -> None:
    html = mixed_tree().to_html(title="Will they <pay>?", interactive=False)
    assert "<strong>Will they &lt;pay&gt;?</strong>" in html
    assert 'role="img"' in html
    identifiers = re.findall(r' id="([^"]+-[td])"', html)
    assert re.findall(r'aria-labelledby="([^"]+)"', html) == [" ".join(identifiers)]
    assert "|   color = red: no (8 of 9, 88.9%)" in html
    assert mixed_tree()._repr_html_() == mixed_tree().to_html(interactive=False)
    assert "6 splits, 7 leaves, depth 4" in mixed_tree().to_html()


def test_html_of_two_trees_shares_no_id() -> None:
    first, second = (
        set(re.findall(r'id="([^"]+)"', tree.to_html())) for tree in (mixed_tree(), stump())
    )
    assert first.isdisjoint(second)


def test_html_page_is_a_whole_document() -> None:
    page = stump([NASTY, "b"], name=HUGE, category=NASTY).to_html(page=True)
    assert page.startswith("<!DOCTYPE html>")
    assert 'lang="en"' in page
    own = {"", ' type="application/json" class="certree-data"'}
    assert set(re.findall("<script([^>]*)>", page)) == own
    assert page.count("</script") == 2
    _check_html(page.removeprefix("<!DOCTYPE html>"))


def test_html_of_a_single_leaf_and_of_many_classes() -> None:
    assert "1 leaf" in leaf().to_html()
    assert _data(leaf())["nodes"][0]["rule"] == []
    tree = Tree(
        [Threshold(0, "x0", 0.5)],
        [0, -1, -1],
        [1, -1, -1],
        [-1, 0, 11],
        counts=np.ones((3, 12)),
        classes=np.arange(12),
    )
    _check_html(tree.to_html())
    assert tree.plot() is not None
    data = _data(tree)
    assert len(set(data["colours"])) == 12
    assert tree.to_html(interactive=False).count("<li title=") == 12


@pytest.mark.parametrize("n_classes", [2, 8, 9, 12, 26, 60, 150])
def test_all_classes_have_colours_of_their_own(n_classes: int) -> None:
    tree = Tree(
        [], [-1], [-1], [0], counts=[[1] * n_classes], classes=np.arange(n_classes), n_features=1
    )
    shades = colours(tree).contents
    assert len(set(shades)) == n_classes
    assert shades[:16] == PALETTE[:n_classes]


def test_numbers_have_a_scale_that_falls_in_lightness() -> None:
    tree = _of_numbers([-3.0, 0.0, 0.5, 2.0, 1e300])
    shades = colours(tree)
    assert (shades.low, shades.high) == (-3.0, 1e300)
    assert shades.contents[0] == SCALE[0]
    assert shades.contents[-1] == SCALE[-1]
    light = [sum(int(shade[k : k + 2], 16) for k in (1, 3, 5)) for shade in SCALE]
    assert light == sorted(light, reverse=True)
    assert shades.ink(0) != shades.ink(4)
    assert _data(tree)["scale"]["high"] == "1e+300"
    assert "linear-gradient" in tree.to_html()
    assert 'fontcolor="#ffffff"' in tree.to_dot()
    assert tree.plot() is not None


@pytest.mark.parametrize("values", [[7.0, 7.5], [-np.inf, 0.0, np.inf], [0.0, np.inf]])
def test_close_and_infinite_numbers_have_a_colour(values: list[float]) -> None:
    tree = _of_numbers(values)
    assert all(re.fullmatch("#[0-9A-F]{6}", shade) for shade in colours(tree).contents)
    _check_html(tree.to_html())


def _of_numbers(values: list[float]) -> Tree:
    """Return a tree that has a leaf for each number."""
    n = len(values)
    test = Multiway(0, "x0", tuple((str(k),) for k in range(n)), 0)
    payload = Numbers([-1, *range(n)], [n, *[1] * n], values)
    return Tree([test], [0] + [-1] * n, [1] + [-1] * n, payload=payload)


def test_the_data_of_a_page_says_what_nodes_are() -> None:
    data = _data(mixed_tree())
    root = data["nodes"][0]
    assert (root["says"], root["rule"], root["rows"]) == ("age <= 35.5", [], 40)
    assert root["children"] == [1, 2]
    assert sum(share for _, share, _ in root["mix"]) == pytest.approx(1)
    assert sum(rows for _, _, rows in root["mix"]) == 40
    assert data["classes"]
    assert set(data["contents"]) == {"no", "yes", "maybe"}


def _data(tree: Tree) -> Any:
    """Return what the script of a page reads."""
    found = re.search(r'class="certree-data">(.*?)</script>', tree.to_html(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])
