"""The layers of the Python package: who may import whom, by the syntax trees."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "certree"

# From below to above: a layer imports itself and those before it. Every layer may warn and raise.
LAYERS = (
    *("exceptions", "_version", "numbers", "encoding", "tree", "payloads", "engine", "metrics"),
    *("oracles", "tasks", "losses", "proofs", "results", "datasets", "files", "fitting"),
    *("estimators", "decisions", "report"),
)

# The parts that a kind of leaves has in its folder, whose name tells them apart.
ROLES = {"loss", "payload", "estimator"}


# What speaks of ranks: the form of the rows is chosen and read here, and nowhere else.
KNOW_RANKS = {
    *("encoding/_ranks.py", "encoding/_row_cells.py", "encoding/_encoder.py"),
    *("encoding/_choose.py", "engine/_choice.py", "engine/_search.py", "engine/_ordered.py"),
}


def _files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _layer(module: str) -> str:
    """Return the layer that a module of certree belongs to.

    A folder is a layer, but for two. In `leaves`, payloads are above `tree`, estimators are among
    the estimators, and all else says what leaves cost, above `tasks`. In `decisions`, payloads are
    with those of leaves and oracles below `tasks`.
    """
    _, folder, *names = module.split(".")
    if folder in ("leaves", "decisions") and names[-1:] == ["payload"]:
        return "payloads"
    if folder == "leaves":
        return "estimators" if names[-1:] == ["estimator"] else "losses"
    return "oracles" if folder == "decisions" and names[:1] == ["oracles"] else folder


def _folder(path: Path) -> str:
    """Return the layer that a file belongs to."""
    return _layer(".".join(("certree", *path.relative_to(PACKAGE).with_suffix("").parts)))


def _imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the modules of certree that a file imports, and whether it does so in a function.

    What is imported for type checkers only does not run.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unseen = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    package = ("certree", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(tree):
        if node in unseen or not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        is_lazy = node not in tree.body
        if isinstance(node, ast.Import):
            yield from ((alias.name, is_lazy) for alias in node.names)
            continue
        above = package[: len(package) - node.level + 1] if node.level else ()
        module = ".".join((*above, *(node.module or "").split("."))).strip(".")
        for alias in node.names:
            yield (f"{module}.{alias.name}" if module == "certree" else module), is_lazy


def _ours() -> Iterator[tuple[Path, str, bool]]:
    for path in _files():
        for module, is_lazy in _imports(path):
            if module.split(".")[0] == "certree":
                yield path, module, is_lazy


def test_a_folder_imports_only_itself_and_those_below() -> None:
    """numbers < encoding < tree < ... < report; verify stands by itself, cli above all."""
    bad = []
    for path, module, _ in _ours():
        own, other = _folder(path), _layer(module)
        if own in ("__init__", "__main__", "_public", "cli") or other == "_core" or own == other:
            continue
        allowed = LAYERS[: LAYERS.index(own)] if own in LAYERS else ("exceptions",)
        if other not in allowed:
            bad.append(f"{path.relative_to(PACKAGE)} ({own}) imports {module}")
    assert not bad, "\n".join(bad)


def test_modules_of_certree_are_imported_at_the_top() -> None:
    """An import inside a function hides a cycle; optional libraries are imported where needed."""
    bad = [f"{path.relative_to(PACKAGE)}: {module}" for path, module, is_lazy in _ours() if is_lazy]
    assert not bad, "\n".join(bad)


def test_only_the_engine_imports_the_extension() -> None:
    """All others speak of problems and options."""
    users = {_folder(path) for path, module, _ in _ours() if module.startswith("certree._core")}
    assert users == {"engine"}


def test_few_modules_know_ranks() -> None:
    """All others hold cells: whether these are columns or ranks is for the engine to choose."""
    known = {
        *("RankedColumns", "count_ranks", "rank_columns", "rank_values"),
        *("can_use_ranks", "prefers_ranks", "solve_ordered", "solve_ordered_path"),
    }
    users = set()
    for path in _files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = getattr(node, "id", None), getattr(node, "attr", None)
            imported = [
                alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")
            ]
            if known & {*named, *imported}:
                users.add(path.relative_to(PACKAGE).as_posix())
    assert users == KNOW_RANKS


def test_no_two_modules_have_the_same_name() -> None:
    """A name in a traceback says which file it is; of the parts of leaves, their folder does."""
    names = Counter(path.stem for path in _files() if path.stem not in {"__init__", *ROLES})
    assert not [name for name, count in names.items() if count > 1]


def test_no_two_classes_have_the_same_name() -> None:
    """A name stands for one idea; `verify` states ideas a second time, and may name them so."""
    names = Counter(
        (_folder(path) == "verify", node.name)
        for path in _files()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, count in names.items() if count > 1]


def test_few_modules_lie_outside_of_the_folders() -> None:
    """A newcomer places a line by its folder."""
    assert {path.stem for path in PACKAGE.glob("*.py")} == {
        *("__init__", "__main__", "_public", "_version", "exceptions", "oracles")
    }


def test_every_folder_says_what_it_is_for() -> None:
    """In its docstring, and on the page about internals."""
    page = (PACKAGE.parent.parent / "docs" / "internals.md").read_text(encoding="utf-8")
    for folder in sorted(path.parent for path in PACKAGE.rglob("__init__.py")):
        tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), folder.name
        assert folder.parent != PACKAGE or f"`{folder.name}`" in page, folder.name
