"""The layers of the Python package: who may import whom, by the syntax trees."""

from __future__ import annotations

import ast
import re
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


def _below_estimators() -> Iterator[tuple[Path, ast.Module]]:
    """Yield the modules below the estimators, which get records and no estimators."""
    for path in _files():
        layer = _folder(path)
        if layer in LAYERS[: LAYERS.index("estimators")]:
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def _estimators() -> set[str]:
    """Return the names of all classes that can be fitted, and of their bases."""
    bases = {
        node.name: {ast.unparse(base).split("[")[0] for base in node.bases}
        for path in _files()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    found = {"ReadsTables"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


# Fronts and curves are sequences of fitted models, which estimators give them.
_HOLD_MODELS = {"results/_pareto.py", "results/_fairness.py"}


def test_nothing_below_the_estimators_takes_an_estimator() -> None:
    """`Request.of` reads the parameters of one; all else gets frozen records."""
    names = _estimators()
    assert {"OptimalTreeClassifier", "BaseTaskTree", "SPOTree", "SurvivalTree"} <= names
    bad = []
    for path, tree in _below_estimators():
        place = path.relative_to(PACKAGE).as_posix()
        if place in _HOLD_MODELS:
            continue
        for function in _functions(tree):
            for one in _arguments(function):
                noted = (
                    set()
                    if one.annotation is None
                    else set(re.findall(r"\w+", ast.unparse(one.annotation)))
                )
                is_reader = function.name == "of" and one.arg == "owner"
                is_named = one.arg in ("model", "estimator", "owner") and not is_reader
                if noted & names or (is_named and _folder(path) == "fitting"):
                    bad.append(f"{place}: {function.name}({one.arg})")
    assert not bad, "\n".join(bad)


def test_no_record_is_made_of_the_fields_of_another_by_vars() -> None:
    """`kind(**vars(other))` hides which fields there are."""
    bad = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in _files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg is None and "vars(" in ast.unparse(keyword.value)
    ]
    assert not bad, "\n".join(bad)


def test_no_step_of_a_fit_sets_an_attribute_of_what_it_gets() -> None:
    """Every step takes frozen records and returns one."""
    bad = []
    for path, tree in _below_estimators():
        if _folder(path) != "fitting":
            continue
        for function in _functions(tree):
            given = {one.arg for one in _arguments(function)} - {"self"}
            targets = [
                target
                for node in ast.walk(function)
                if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            ]
            bad += [
                f"{path.relative_to(PACKAGE)}:{target.lineno}"
                for target in targets
                if isinstance(target, ast.Attribute) and ast.unparse(target).split(".")[0] in given
            ]
    assert not bad, "\n".join(bad)


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
