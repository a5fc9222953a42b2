"""Every Python example in the README, the documentation and the docstrings runs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sklearn.base import BaseEstimator

import certree

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
    if "_build" not in path.parts
)
WIDTH = 100
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _blocks(page: Path) -> list[tuple[int, str]]:
    """Return the ```python blocks of a page with the line each begins on."""
    text = page.read_text(encoding="utf-8")
    pattern = r"^```(?:\{code-block\} )?python\n(.*?)^```"
    return [
        (text.count("\n", 0, match.start(1)), match.group(1))
        for match in re.finditer(pattern, text, flags=re.DOTALL | re.MULTILINE)
    ]


def _run_doctest(code: str, names: dict[str, Any], page: Path, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report: list[str] = []
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if _blocks(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of one page run in order in one namespace; prompts are checked with output."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for line, code in _blocks(page):
        if code.lstrip().startswith(">>>"):
            _run_doctest(code, names, page, line)
        else:
            tree = ast.parse(code, filename=str(page))
            ast.increment_lineno(tree, line)
            exec(compile(tree, str(page), "exec"), names)


def _outputs(page: Path) -> list[str]:
    """Return the ```text blocks of a page: what a command printed."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```text\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def _squeeze(text: str) -> str:
    """Return a text with single spaces, and without the time that something took."""
    return " ".join(re.sub(r"seconds +\S+", "seconds", text).split())


@pytest.mark.parametrize(("page", "count"), [("README.md", 3), ("docs/guide/start.md", 2)])
def test_a_page_shows_what_its_examples_print(
    page: str,
    count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The output blocks are printed by the examples of the page, up to line breaks and time."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for _, code in _blocks(ROOT / page):
        exec(code, names)
    printed = _squeeze(capsys.readouterr().out)
    shown = [_squeeze(block) for block in _outputs(ROOT / page)]
    assert len(shown) == count
    assert [block for block in shown if block not in printed] == []


def test_the_demo_runs_and_finds_what_the_readme_says() -> None:
    """The numbers of the greedy tree are scikit-learn's and may change with its version."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"], capture_output=True, text=True, check=True
    )
    tree, certificate = map(_squeeze, _outputs(ROOT / "README.md")[1:])
    assert tree in _squeeze(done.stdout)
    assert certificate in _squeeze(done.stdout)
    optimal = re.search(r"^test accuracy +(\S+)", done.stdout, re.MULTILINE)
    assert optimal is not None
    assert f"on test rows is {optimal[1]}" in _squeeze((ROOT / "README.md").read_text())


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
