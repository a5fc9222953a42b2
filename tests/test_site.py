"""What the site is made of: its formulas, its pictures, and the check of its pages."""

from __future__ import annotations

import importlib.util
import re
import runpy
import warnings
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.base import BaseEstimator

from certree import estimators

ROOT = Path(__file__).parent.parent


def _load(path: str) -> ModuleType:
    """Import a file that belongs to no package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- which estimator do I need? ----------------------------------------------------------------


def test_the_picture_of_estimators_is_drawn_from_the_table() -> None:
    """docs/guide/choose.svg is what tools/estimator_picture.py draws today."""
    tool = _load("tools/estimator_picture.py")
    choices = tool.read_choices(tool.PAGE.read_text(encoding="utf-8"))
    assert len(choices) > 8
    assert tool.PICTURE.read_text(encoding="utf-8") == tool.draw(choices)


def test_every_estimator_can_be_chosen() -> None:
    """By name in the table of estimators, or in the table of tasks that it leads to."""
    guide = ROOT / "docs" / "guide"
    words = (guide / "choose.md").read_text() + (guide / "tasks.md").read_text()
    missing = [
        name
        for name in estimators.__all__
        if isinstance(getattr(estimators, name), type)
        and issubclass(getattr(estimators, name), BaseEstimator)
        and not re.search(rf"\b{name}\b", words)
    ]
    assert missing == []


def test_functions_that_answer_with_many_trees_are_on_the_page() -> None:
    page = (ROOT / "docs" / "guide" / "choose.md").read_text()
    functions = [name for name in estimators.__all__ if name.islower()]
    assert [name for name in functions if f"`{name}`" not in page] == []


def test_getting_started_names_all_extras_for_users() -> None:
    """Those that are for work on certree itself are in CONTRIBUTING.md."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = ", section, re.MULTILINE))
    page = (ROOT / "docs" / "guide" / "start.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`certree\[(\w+)\]`", page))
    assert named == extras - {"test", "lint", "docs", "dev"}


# ---- pictures ----------------------------------------------------------------------------------

PICTURES = sorted(
    path
    for kind in ("png", "svg")
    for path in (ROOT / "docs").rglob(f"*.{kind}")
    if not {"_build", "gallery"} & set(path.parts)
)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_every_picture_has_a_program_that_draws_it(picture: Path) -> None:
    """A program of three folders names it, or an example of its page writes it."""
    folders = ("examples", "tools", "benchmarks")
    programs = [path for folder in folders for path in ROOT.glob(f"{folder}/*.py")]
    words = "\n".join(path.read_text(encoding="utf-8") for path in programs)
    page = picture.with_suffix(".md")
    own = page.read_text(encoding="utf-8") if page.exists() else ""
    assert picture.name in words or f'savefig("{picture.name}"' in own


def test_the_first_picture_says_what_is_true() -> None:
    """CART beside the best tree: the numbers of the README are those of the picture's program."""
    pytest.importorskip("matplotlib")
    tool = _load("tools/tree_pictures.py")
    found = tool.compare()
    assert found.certificate.is_optimal
    cart, best = tool.titles(found)
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert cart == f"CART: {found.cost} errors"
    assert f"CART makes {found.cost} errors, the best tree {found.upper_bound}." in readme
    assert f"{found.upper_bound} errors, and no tree of this size makes fewer" in best
    assert len(tool.draw_two(found).axes) == 2
    assert tool.draw_start().axes


# ---- the gallery -------------------------------------------------------------------------------

EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_of_the_gallery_runs_and_draws(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a warning, and it leaves no file behind."""
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        runpy.run_path(str(example), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")
    assert list(tmp_path.iterdir()) == []


def test_the_gallery_tells_the_stories_that_it_promises() -> None:
    assert len(EXAMPLES) >= 9
    for example in EXAMPLES:
        text = example.read_text(encoding="utf-8")
        assert re.match(r'"""\n[^\n]+\n=+\n\n[A-Z]', text), example.name


# ---- formulas ----------------------------------------------------------------------------------


def test_formulas_need_neither_script_nor_network() -> None:
    """They are drawn in the colour of the text, and screen readers can read them."""
    pytest.importorskip("sphinx")
    pytest.importorskip("ziamath")
    formulas = _load("docs/formulas.py")
    drawn = formulas.draw(r"\frac{a}{b} < \hat c", is_inline=True)
    assert drawn.startswith(
        '<svg class="formula" role="img" aria-label="\\frac{a}{b} &lt; \\hat c"'
    )
    assert "<path" in drawn
    assert "<rect" in drawn
    assert set(re.findall(r'fill="([^"]*)"', drawn)) == {"currentColor"}
    assert not re.search(r"\bid=|<script|href", drawn)
    with pytest.raises(ValueError, match="not known"):
        formulas.draw(r"\nonsense{a}", is_inline=True)


# ---- the check of the pages that were built ----------------------------------------------------


def _site(folder: Path, body: str, style: str = "") -> list[str]:
    """Return what the check says about a site of two pages."""
    (folder / "a.html").write_text(body)
    (folder / "b.html").write_text('<h1 id="top">B</h1>')
    (folder / "s.css").write_text(style)
    found: list[str] = _load("tools/check_pages.py").check(folder)
    return found


def test_a_site_whose_links_lead_somewhere_passes(tmp_path: Path) -> None:
    body = '<a href="b.html#top">b</a><a href="#here" id="here">a</a><a href="https://x.org">x</a>'
    assert _site(tmp_path, body) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="c.html">c</a>', "a.html links to c.html, which does not exist"),
        ('<a href="b.html#end">b</a>', "a.html links to b.html#end, a place that does not exist"),
        ('<img src="p.png">', "a.html links to p.png, which does not exist"),
        ('<script src="https://cdn.org/m.js"></script>', "a.html loads https://cdn.org/m.js"),
        ('<link href="https://cdn.org/m.css">', "a.html loads https://cdn.org/m.css"),
    ],
)
def test_a_site_with_a_broken_link_or_a_foreign_script_fails(
    tmp_path: Path, body: str, problem: str
) -> None:
    assert _site(tmp_path, body) == [problem]


def test_a_style_that_loads_a_font_from_elsewhere_fails(tmp_path: Path) -> None:
    style = '@font-face { src: url("https://fonts.org/f.woff") }'
    assert _site(tmp_path, "", style) == ["s.css loads https://fonts.org/f.woff"]
