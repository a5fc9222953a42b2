"""Rules that keep the code base in order: layers, sizes, versions, documented switches."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parent.parent
CORE = ROOT / "cpp" / "core"
BINDINGS = ROOT / "cpp" / "bindings"
MAX_LINES = 600
# Inverted negation, which readers have to solve like a riddle: say what a thing is, or "is not a".
RIDDLES = (
    r"(?<!here )\b(?:is|are|was|were)\s+none\b",
    r"(?<!here )\b(?:is|are)\s+no\s+(?:class|column|decimal|function|integer|label|number|sum)",
    r"\bnone\s+but\b",
    r"\b[Ww]hat\s+(?:is\s+)?no\b",
)
# From below to above; a layer includes its own headers and those of the layers before it. Kernels
# count bits in plain views, so they need neither tasks nor data sets.
LAYERS = ("base", "counts", "tasks", "data", "bounds", "search")
# What the folders of the searches include beside themselves.
SEARCHES: dict[str, set[str]] = {
    "shared": set(),
    "columns": {"shared"},
    "vectors": {"columns/depth_two.hpp"},
    "ordered": {"shared"},
    "multiway": {"shared"},
    "chains": {"shared"},
    "fronts": {"shared"},
    "limits": {"shared", "vectors/sums.hpp", "vectors/prices.hpp"},
}


def _cpp_files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in {".cpp", ".hpp", ".tpp"})


def _without_comments(text: str) -> str:
    """Blank out comments and string literals, keeping the lines."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda match: "\n" * match.group().count("\n"), text, flags=re.DOTALL)


def _lines_matching(paths: list[Path], pattern: str) -> list[str]:
    """Return ``file:line: text`` for every line of code, not comment, that matches."""
    found = []
    for path in paths:
        code = _without_comments(path.read_text(encoding="utf-8"))
        for number, line in enumerate(code.splitlines(), start=1):
            if re.search(pattern, line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    return found


_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def _includes(text: str) -> list[str]:
    """Return what a text includes, with the bracket or quotation mark before the name."""
    return ["".join(match.groups()) for match in _INCLUDE.finditer(text)]


def _included_file(include: str, folder: Path) -> Path | None:
    """Return the file of ours that a file of this folder includes, as the compiler finds it."""
    places = (folder, CORE, CORE.parent)
    found = (Path(os.path.normpath(place / include[1:])) for place in places)
    return next((path for path in found if path.is_file()), None)


def _wrong_includes_of_layer(layer: str, text: str) -> list[str]:
    """Return what a file of a layer of the core must not include: all but itself and below.

    The lists at the top of the core belong to every layer; whatever else is there is above them.
    """
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    bad = []
    for include in _includes(text):
        path = _included_file(include, CORE / layer)
        if path is None:
            bad += [include] if include[0] == '"' else []
        elif not (path.is_relative_to(CORE) and path.relative_to(CORE).parts[0] in allowed):
            bad += [] if path.parent == CORE and path.suffix == ".def" else [include]
    return bad


def _wrong_includes_of_bindings(text: str) -> list[str]:
    """Return what bindings must not include: all but entry points, lists and themselves."""
    allowed = [*CORE.glob("*solver.hpp"), *CORE.glob("*.def")]
    allowed += [CORE / "session.hpp", CORE / "alarms.hpp"]
    bad = []
    for include in _includes(text):
        path = _included_file(include, BINDINGS)
        if path is None:
            is_foreign = re.match(r"<(nanobind/|Python\.h$|\w+$)", include)
            bad += [] if is_foreign else [include]
        elif path not in allowed and path.parent != BINDINGS:
            bad.append(include)
    return bad


def _pyproject() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _hand_written_files() -> list[Path]:
    folders = ("cpp", "src", "tests", "benchmarks", "examples", "tools", "docs")
    suffixes = {".py", ".cpp", ".hpp", ".tpp", ".sh"}
    return sorted(p for f in folders for p in (ROOT / f).rglob("*") if p.suffix in suffixes)


def test_the_core_includes_no_python_header() -> None:
    """The core is a C++ library of its own."""
    bad = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in _cpp_files(CORE)
        for name in _includes(path.read_text(encoding="utf-8"))
        if re.match(r".(nanobind|pybind11|numpy)/|.Python\.h|.(.*/)?bindings/", name)
    ]
    assert not bad, "\n".join(bad)


def test_a_layer_of_the_core_includes_only_itself_and_those_below() -> None:
    """base < counts < tasks < data < bounds < search < entry points."""
    bad = [
        f"{path.relative_to(ROOT)} includes {name}"
        for layer in LAYERS
        for path in _cpp_files(CORE / layer)
        for name in _wrong_includes_of_layer(layer, path.read_text(encoding="utf-8"))
    ]
    assert not bad, "\n".join(bad)


def test_a_search_includes_what_is_shared_and_no_other_search() -> None:
    """Each folder of cpp/core/search is one search."""
    search = CORE / "search"
    assert {path.name for path in search.iterdir()} == set(SEARCHES)
    bad = []
    for folder, allowed in SEARCHES.items():
        for path in _cpp_files(search / folder):
            for include in _includes(path.read_text(encoding="utf-8")):
                found = _included_file(include, path.parent)
                if found is None or not found.is_relative_to(search):
                    continue
                name = found.relative_to(search)
                if name.parts[0] not in {folder, *allowed} and name.as_posix() not in allowed:
                    bad.append(f"{path.relative_to(ROOT)} includes {include[1:]}")
    assert not bad, "\n".join(bad)


def test_the_page_about_internals_says_what_each_search_uses() -> None:
    """The column "Uses" of its table of searches."""
    page = (ROOT / "docs" / "internals.md").read_text(encoding="utf-8")
    table = page.partition("| Folder of `core/search` |")[2].partition("\n\n")[0]
    lines = [line.split("|") for line in table.splitlines()[2:]]
    stated = {line[1].strip(" `"): set(re.findall(r"`(.+?)`", line[3])) for line in lines}
    assert stated == SEARCHES


def test_every_folder_of_the_core_is_a_layer() -> None:
    """A folder without a place in the order could include anything."""
    assert {path.name for path in CORE.iterdir() if path.is_dir()} == set(LAYERS)


@pytest.mark.parametrize(
    ("layer", "line"),
    [
        ("base", '#include "data/node.hpp"'),
        ("data", '#include "../search/shared/tree.hpp"'),
        ("counts", "  # include <tasks/count_task.hpp>"),
        ("bounds", '#include "core/search/shared/tree.hpp"'),
        ("search", '#include "session.hpp"'),
        ("search", '#include "entry_point.hpp"'),
        ("search", '#include "bindings/arguments.hpp"'),
        ("search", '#include "no_such_file.hpp"'),
    ],
)
def test_an_include_of_a_layer_above_is_found(layer: str, line: str) -> None:
    """The check can fail, in every spelling that compiles."""
    good = '#include <vector>\n#include "base/cost.hpp"\n#include "counters.def"\n'
    assert not _wrong_includes_of_layer(layer, good)
    assert _wrong_includes_of_layer(layer, good + line + "\n") == _includes(line)


def test_the_core_never_prints_and_never_ends_the_process() -> None:
    """Errors are exceptions; progress goes through the observer."""
    pattern = (
        r"\b(?:std::)?(?:exit|_exit|quick_exit|abort|terminate)\s*\("
        r"|\bstd::(?:cout|cerr|clog)\b|\b(?:f|v|vf)?printf\s*\(|\bputs\s*\("
    )
    bad = _lines_matching(_cpp_files(CORE), pattern)
    assert not bad, "\n".join(bad)


def test_the_core_has_no_mutable_global_state() -> None:
    """Two solves may run in two threads, so nothing outlives a solve but constants."""
    pattern = r"^(?:inline\s+)?static\s+(?!const|constexpr|inline|constinit|_assert)[^()=;]*(?:=|;)"
    bad = _lines_matching(_cpp_files(CORE), pattern)
    bad += _lines_matching(_cpp_files(CORE), r"\bthread_local\b(?!.*\bconst)")
    assert not bad, "\n".join(bad)


def test_the_bindings_include_entry_points_only() -> None:
    """Of the core, bindings include entry points and the lists of options and counters."""
    bad = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in _cpp_files(BINDINGS)
        for name in _wrong_includes_of_bindings(path.read_text(encoding="utf-8"))
    ]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(
    "line",
    [
        '#include "search/shared/tree.hpp"',
        '#include "core/search/shared/tree.hpp"',
        '#include "../core/data/dataset.hpp"',
        "#include <data/dataset.hpp>",
        '#include "run.hpp"',
        '#include "entry_point.hpp"',
        '#include "no_such_file.hpp"',
    ],
)
def test_an_include_of_the_inner_core_is_found(line: str) -> None:
    """The check can fail, in every spelling that compiles, also for what entry points share."""
    good = '#include <nanobind/nanobind.h>\n#include "session.hpp"\n#include "options.def"\n'
    assert not _wrong_includes_of_bindings(good)
    assert _wrong_includes_of_bindings(good + line + "\n") == _includes(line)


def test_the_bindings_hold_no_algorithm() -> None:
    """Thin files: conversion only, so no search words and no file over 300 lines."""
    files = _cpp_files(BINDINGS)
    bad = _lines_matching(
        files, r"\b(popcount|priority_queue|std::(sort|stable_sort|nth_element))\b"
    )
    bad += [
        f"{path.relative_to(ROOT)}: {n} lines, at most 300 in bindings"
        for path in files
        if (n := len(path.read_text(encoding="utf-8").splitlines())) > 300
    ]
    assert not bad, "\n".join(bad)


def test_every_header_is_included_once() -> None:
    """#pragma once guards headers, but for kernels_impl, compiled once per instruction set."""
    bad = [
        str(path.relative_to(ROOT))
        for path in _cpp_files(ROOT / "cpp")
        if path.suffix == ".hpp"
        and "_impl" not in path.stem
        and "#pragma once" not in path.read_text(encoding="utf-8")
    ]
    assert not bad, "\n".join(bad)


def test_no_file_is_too_long() -> None:
    """A file over 600 lines does several things."""
    bad = []
    for path in _hand_written_files():
        n_lines = len(path.read_text(encoding="utf-8").splitlines())
        if n_lines > MAX_LINES:
            bad.append(f"{path.relative_to(ROOT)}: {n_lines} lines, at most {MAX_LINES}")
    assert not bad, "\n".join(bad)


def test_verify_imports_nothing_of_what_it_checks() -> None:
    """From certree the package imports itself and the exceptions, whatever these import."""
    package = ROOT / "src" / "certree"
    todo = [f"certree.verify.{path.stem}" for path in (package / "verify").glob("*.py")]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        path = package.joinpath(*name.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        todo += (
            _imported(ast.parse(path.read_text(encoding="utf-8")), name) if path.exists() else []
        )
    ours = {name for name in seen if name.startswith("certree") and ".verify" not in name}
    assert ours == {"certree.exceptions"}


def _imported(tree: ast.AST, name: str) -> list[str]:
    """Return the modules of certree that run when a module is imported."""
    found = []
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: -node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found += [module] if node.module else [f"{module}.{a.name}" for a in node.names]
    return [module for module in found if module.split(".")[0] == "certree"]


def test_nothing_is_left_unfinished() -> None:
    """Work to be done belongs in the tracker, not in comments."""
    words = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"))
    bad = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in _hand_written_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(rf"\b(?:{words})\b", line)
    ]
    assert not bad, "\n".join(bad)


def test_sentences_are_no_riddles() -> None:
    """Comments, messages and pages say what is, in positive form."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("docs/**/*.md")]
    bad = []
    for path in [*_hand_written_files(), *(p for p in pages if "_build" not in p.parts)]:
        text = path.read_text(encoding="utf-8")
        for match in (m for riddle in RIDDLES for m in re.finditer(riddle, text)):
            line = text.count("\n", 0, match.start()) + 1
            bad.append(f"{path.relative_to(ROOT)}:{line}: {' '.join(match.group().split())!r}")
    assert not bad, "\n".join(bad)


def test_pages_named_in_comments_exist() -> None:
    """A bound cites the page that proves it."""
    bad = [
        f"{path.relative_to(ROOT)} names {name}"
        for path in _hand_written_files()
        for name in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))
        if not (ROOT / name).is_file()
    ]
    assert not bad, "\n".join(bad)


def test_every_bound_cites_its_proof() -> None:
    """One theorem per file, and its page in docs/theory."""
    bad = [
        str(path.relative_to(ROOT))
        for path in _cpp_files(CORE / "bounds")
        if path.suffix == ".hpp" and "docs/theory/" not in path.read_text(encoding="utf-8")
    ]
    assert not bad, "\n".join(bad)


def test_nothing_is_built_for_this_machine_alone() -> None:
    """A wheel must run on machines other than the one that built it."""
    assert "march=native" not in re.sub(
        r"#[^\n]*", "", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    )


def test_every_switch_is_documented() -> None:
    """A technique that can be turned off has its place in docs/theory/switches.md."""
    from certree import _core

    page = (ROOT / "docs" / "theory" / "switches.md").read_text(encoding="utf-8")
    switches = page.partition("## Counters")[0]
    documented = set(re.findall(r"^\| `(\w+)`", switches, flags=re.MULTILINE))
    assert documented == set(_core.switches())


def test_every_counter_is_documented() -> None:
    """What the certificate counts is explained on the same page."""
    page = (ROOT / "docs" / "theory" / "switches.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", page.partition("## Counters")[2], flags=re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    defined = (CORE / "counters.def").read_text(encoding="utf-8")
    assert documented == set(re.findall(r"^CERTREE_COUNTER\((\w+)", defined, flags=re.MULTILINE))


def test_every_switch_has_a_help_text() -> None:
    """The help is a sentence that says what the technique does."""
    from certree import _core

    assert not [name for name, text in _core.switches().items() if len(str(text).split()) < 3]


def test_every_switch_is_toggled_by_the_suite() -> None:
    """The registry of the suite asks the engine for its switches and turns each on and off."""
    from certree import _core
    from tests.registry import settings_one_by_one

    settings = settings_one_by_one()
    for name in _core.switches():
        assert {True, False} <= {setting[name] for setting in settings if name in setting}, name


def test_versions_agree() -> None:
    """pyproject.toml states the version; the package and CITATION.cff repeat it."""
    import certree

    version = _pyproject()["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert certree.__version__ == version
    assert re.findall(r"^version: [\"']?([^\"'\n]+)", citation, flags=re.MULTILINE) == [version]


def test_the_changelog_knows_the_version() -> None:
    """A release has its section; a development version writes to Unreleased."""
    version = _pyproject()["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = "Unreleased" if "dev" in version else version
    assert re.search(rf"^## \[{re.escape(section)}\]", changelog, flags=re.MULTILINE)


def test_the_build_requirements_of_make_are_those_of_pyproject() -> None:
    """`make` installs them before a build without isolation."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for requirement in _pyproject()["build-system"]["requires"]:
        assert f'"{requirement}"' in makefile


@pytest.mark.parametrize("name", ["py.typed", "_core.pyi"])
def test_the_package_ships_its_types(name: str) -> None:
    """The marker and the generated stub are installed with the extension."""
    import certree
    from certree import _core

    folders = {Path(str(_core.__file__)).parent, Path(str(certree.__file__)).parent}
    assert any((folder / name).is_file() for folder in folders)
