"""Every example in README, documentation and docstrings runs, and prints what is shown."""

from __future__ import annotations

import difflib
import doctest
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.base import BaseEstimator

import certree
from certree.results._progress import Measure

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parent.parent
WIDTH = 100
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _tool() -> ModuleType:
    """Import the tool that runs pages; it belongs to no package."""
    path = ROOT / "tools" / "refresh_outputs.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


tool = _tool()
PAGES: list[Path] = tool.pages()
# Kinds of blocks that hold no example: other languages, and directives of Sphinx.
OTHER_KINDS = r"cpp|sql|json|ini|toml|yaml|mermaid|make|\{[a-z-]+\}.*"
MARKS = {("python", "not run"), ("text", "not compared")}


def _read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _runs(page: Path) -> bool:
    return any(
        block.kind == "python" or "$ certree " in block.text for block in tool.blocks(_read(page))
    )


@pytest.mark.parametrize(
    "page", [page for page in PAGES if _runs(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_the_examples_of_a_page_run_and_print_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of one page run in order in one namespace, and print its output blocks."""
    monkeypatch.chdir(tmp_path)
    shown = _read(page)
    printed = tool.refreshed(shown, str(page))
    stale = difflib.unified_diff(shown.splitlines(), printed.splitlines(), "shown", "printed")
    assert printed == shown, "\n".join(["stale; run python tools/refresh_outputs.py", *stale])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_output_escapes_the_comparison(page: Path) -> None:
    """All fenced blocks are of known kinds, and a mark names a block and a reason."""
    text = _read(page)
    blocks = tool.blocks(text)
    kinds = re.findall(r"^ *```+ *(.*)$", text, re.MULTILINE)[::2]
    assert [kind for kind in kinds if kind not in tool.KINDS] == [
        kind for kind in kinds if re.fullmatch(OTHER_KINDS, kind)
    ]
    assert [kind for kind in kinds if kind in tool.KINDS] == [block.kind for block in blocks]
    marked = [(block.kind, block.mark) for block in blocks if block.mark is not None]
    assert set(marked) <= MARKS
    assert len(re.findall(r"<!-- not (?:run|compared)", text)) == len(marked)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_outputs_are_blocks_and_not_comments(page: Path) -> None:
    """Nothing compares a comment with what the line prints."""
    values = r"^ *print\(.*\) +# (?:[-\d<\[({'\"]|True|False|None).*$"
    code = "".join(block.text for block in tool.blocks(_read(page)) if block.kind == "python")
    assert re.findall(values, code, re.MULTILINE) == []


def test_the_live_line_of_the_guide_is_worded_as_a_fit_words_it() -> None:
    """The line of one moment cannot be compared with a run, but its words can."""
    line = Measure("errors", lambda cost: cost, whole=1500).text(371, 207)
    assert f"searching  {line}\n" in _read(ROOT / "docs" / "guide" / "limits.md")


def _plain_install() -> set[str]:
    """Return the distributions that ``pip install certree`` brings."""
    project = tomllib.loads(_read(ROOT / "pyproject.toml"))["project"]
    waiting, found = list(project["dependencies"]), {"certree"}
    while waiting:
        requirement = waiting.pop()
        name = re.match(r"[\w.-]+", requirement)[0].lower()  # type: ignore[index]
        if name not in found and "extra ==" not in requirement:
            found.add(name)
            waiting += metadata.requires(name) or []
    return found


_BARE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"{{name}} is not installed here", name=name)
sys.meta_path.insert(0, Absent())
sys.path.insert(0, {tools!r})
import refresh_outputs
page = open({page!r}, encoding="utf-8").read().replace("$ certree ", "$ ")
assert refresh_outputs.refreshed(page, {page!r}) == page
"""


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/guide/start.md"])
def test_first_examples_need_no_more_than_the_plain_install(page: str, tmp_path: Path) -> None:
    """They print the same without pandas, matplotlib and all others that are not required."""
    needed = _plain_install()
    assert {"numpy", "scikit-learn"} < needed
    blocked = {
        name
        for name, owners in metadata.packages_distributions().items()
        if not needed & {owner.lower() for owner in owners}
    }
    assert "pandas" in blocked
    code = _BARE.format(blocked=blocked, tools=str(ROOT / "tools"), page=str(ROOT / page))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_demo_runs_and_finds_what_the_readme_says() -> None:
    """The numbers of the greedy tree are scikit-learn's and may change with its version."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"], capture_output=True, text=True, check=True
    )
    readme = _read(ROOT / "README.md")
    tree, certificate = (tool.squeezed(block.text) for block in tool.outputs(readme)[1:3])
    assert tree in tool.squeezed(done.stdout)
    assert certificate in tool.squeezed(done.stdout)
    optimal = re.search(r"^test accuracy +(\S+)", done.stdout, re.MULTILINE)
    assert optimal is not None
    assert f"on test rows is {optimal[1]}" in tool.squeezed(readme)


def _modules() -> list[str]:
    """Return the modules of the package that import without an optional dependency."""
    return [
        info.name
        for info in pkgutil.walk_packages(certree.__path__, prefix="certree.")
        if info.name != "certree._core" and not info.name.endswith("__main__")
    ]


@pytest.mark.parametrize("name", ["certree", *_modules()])
def test_the_examples_in_docstrings_run(name: str) -> None:
    """Docstring examples are part of the promise."""
    module = importlib.import_module(name)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def _public_names() -> list[str]:
    things = {name: getattr(certree, name) for name in certree.__all__}
    return [n for n, thing in things.items() if not isinstance(thing, ModuleType | str)]


@pytest.mark.parametrize("name", _public_names())
def test_public_names_are_documented(name: str) -> None:
    """Each public name has a docstring, and its place in the API reference."""
    thing = getattr(certree, name)
    assert inspect.getdoc(thing), f"certree.{name} has no docstring"
    reference = "\n".join(
        page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md")
    )
    # Estimators are listed by docs/conf.py.
    is_estimator = isinstance(thing, type) and issubclass(thing, BaseEstimator)
    is_listed = is_estimator or re.search(rf"\bcertree\.{name}\b", reference)
    assert is_listed, f"certree.{name} is not in docs/api"


def test_all_estimators_are_in_the_reference() -> None:
    """The pages of the reference ask docs/conf.py for the estimators of every topic, once."""
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md")]
    asked = sorted(re.findall(r"^\.\. estimators:: (\w+)$", "\n".join(pages), re.MULTILINE))
    assert asked == ["classifiers", "clusterers", "decisions", "regressors", "sizes"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_files_lead_somewhere(page: Path) -> None:
    """A relative link names a file that exists."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    missing = []
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" in target or target.startswith("mailto:"):
            continue
        if not (page.parent / target).exists():
            missing.append(target)
    assert not missing, f"{page.name} links to {missing}"


def _prose(page: Path) -> list[tuple[int, str]]:
    """Return the numbered lines of a page outside of code, formulas, tables and pictures."""
    found, fence, in_formula = [], "", False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.strip()
        if words.startswith("```"):
            fence = "" if fence else words
        elif fence and "{admonition}" not in fence:
            continue
        elif "$$" in words:
            in_formula ^= words.count("$$") % 2 == 1
        elif not in_formula and not words.startswith(("|", "![")):
            found.append((number, line))
    return found


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "benchmarks" / "README.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_lines_of_prose_are_wrapped(page: Path) -> None:
    """A line has at most 100 characters, unless it is one formula, link or piece of code."""
    long = [
        f"{page.name}:{number}: {len(line)} characters"
        for number, line in _prose(page)
        if len(line) > WIDTH
        and " " in re.sub(r"`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\)", "", line.strip())
    ]
    assert not long, "\n".join(long)
