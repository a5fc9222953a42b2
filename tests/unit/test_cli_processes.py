"""The command line as a program: what it loads, how it ends, and what it prints where."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

import certree
from certree import OptimalTreeClassifier
from certree.cli import _commands, _run, _using
from certree.cli._options import (
    FairOptions,
    LeafOptions,
    SearchOptions,
    TableOptions,
    TreeOptions,
)
from certree.cli._run import run

HEAVY = "{'sklearn', 'scipy', 'numpy', 'certree._core', 'certree.estimators'}"


def python(code: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **more}
    )


# ---- what is loaded ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["fit", "--help"], ["predict", "--help"], ["--version"], ["fit", "--dept"], []],
    ids=str,
)
def test_help_loads_nothing_that_takes_long(arguments: list[str]) -> None:
    done = python(
        f"import sys; from certree.cli._run import run; run({arguments});"
        f"sys.exit(str({HEAVY} & set(sys.modules)) if {HEAVY} & set(sys.modules) else 0)"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], []], ids=str)
def test_help_draws_its_panels_without_rich(arguments: list[str]) -> None:
    """Rich took half of the time of help; these modules load with it."""
    done = python(
        f"import sys; from certree.cli._run import run; run({arguments});"
        "loaded = {'rich', 'pygments', 'markdown_it', 'attr'} & {*sys.modules};"
        "sys.exit(str(loaded) if loaded else 0)",
        COLUMNS="80",
        PYTHONIOENCODING="utf-8",
    )
    assert done.returncode == 0, done.stderr
    shown = (done.stdout or done.stderr).splitlines()
    frames = [line for line in shown if line[:1] in "╭│╰" and line]
    assert frames
    assert {len(line) for line in frames} == {80}
    titles = {line.split()[1] for line in frames if line.startswith("╭")}
    panels = {"Arguments", "Table", "Tree", "Leaves", "Search", "Fairness"}
    assert titles == {"Options", *(panels if "fit" in arguments else {"Commands"})}


def test_help_names_every_option_whole() -> None:
    for columns in (20, 40, 80, 300):
        done = python(
            "from certree.cli._run import run; run(['fit', '--help'])", COLUMNS=str(columns)
        )
        words = done.stdout.replace(",", " ").split()
        for kind in (TableOptions, TreeOptions, LeafOptions, SearchOptions, FairOptions):
            assert {f"--{one.name.replace('_', '-')}" for one in fields(kind)} <= set(words)
        assert max(map(len, done.stdout.splitlines())) <= 100


def test_help_draws_plain_lines_where_the_output_has_no_others() -> None:
    code = "from certree.cli._run import run; run(['--help'])"
    shown = python(code, PYTHONIOENCODING="ascii").stdout
    assert shown.isascii()
    assert "+- Commands ---" in shown


def test_help_has_colours_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--help"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["--help"]) == 0
    assert "\x1b[36m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(["--help"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_the_package_loads_when_it_is_used() -> None:
    code = (
        f"import sys, certree; before = {HEAVY} & set(sys.modules); certree.OptimalTreeClassifier"
    )
    done = python(code + "; sys.exit(bool(before) or 'sklearn' not in sys.modules)")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["report", "verify"])
def test_a_function_keeps_the_name_of_its_folder(name: str) -> None:
    done = python(
        f"import certree.{name}; from certree.{name} import {name} as function; import certree;"
        f"assert certree.{name} is function; from certree import {name}; assert {name} is function"
    )
    assert done.returncode == 0, done.stderr


def test_the_package_has_its_names_and_no_others() -> None:
    assert set(certree.__all__) <= set(dir(certree))
    shown = {name for name in dir(certree) if not name.startswith("_")}
    assert {"encoding", "tree", "verify"} <= shown
    assert not shown & {"Any", "ModuleType", "TYPE_CHECKING", "annotations", "import_module", "sys"}
    assert all(getattr(certree, name) is not None for name in certree.__all__)
    with pytest.raises(AttributeError, match="module 'certree' has no attribute 'OptimalTree'"):
        certree.OptimalTree  # noqa: B018
    names: dict[str, object] = {}
    exec("from certree import *", names)
    assert set(certree.__all__) <= set(names)


@pytest.mark.parametrize("name", _run._COMMANDS)
def test_a_command_takes_what_its_work_takes(name: str) -> None:
    declared = inspect.unwrap(_run._COMMANDS[name])
    modules = [import_module(f"certree.cli.{module}") for module in ("_learning", "_using")]
    works = [getattr(module, declared.__name__, None) for module in modules]
    work = next(one for one in works if one is not None)
    assert list(inspect.signature(declared).parameters) == list(inspect.signature(work).parameters)
    assert declared.__module__ == _commands.__name__


# ---- how it ends ---------------------------------------------------------------------------------


def test_ctrl_c_before_the_work_begins_is_quiet() -> None:
    """Libraries may turn the interrupt of their import into an error of their own."""
    done = python(
        "import os, signal, certree.cli as cli\n"
        "def load(name):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except BaseException as error:\n"
        "        raise ImportError('broken') from error\n"
        "cli.import_module = load\n"
        "cli.main()"
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_in_the_work_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_using, "load_model", interrupted)
    assert run(["show", "model.json"]) == 130
    assert capsys.readouterr().err == "certree: interrupted; nothing was written.\n"


@pytest.mark.parametrize("arguments", [["predict", "m.json", "t.csv"], ["fit", "--help"]], ids=str)
def test_a_closed_pipe_is_no_error(tmp_path: Path, arguments: list[str]) -> None:
    """As `certree predict model.json table.csv | head` sees it."""
    X = [[k] for k in range(2000)]
    OptimalTreeClassifier(1).fit(X, [k > 5 for k in range(2000)]).save(tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("\n".join(["x0", *(str(k) for k in range(2000))]))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "certree", *arguments],
        cwd=tmp_path,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fit", "t.csv", "--max-dept", "3"], "--max-depth"),
        (["fit", "t.csv", "--targt", "y"], "--target"),
        (["predict", "m.json", "--prob"], "--proba"),
        (["fitt", "t.csv"], "'fit'"),
        (["fit"], "DATA"),
        (["fit", "t.csv", "--jobs", "many"], "--jobs"),
        (["fit", "t.csv", "--max-depth", "deep"], "'deep' is neither a whole number nor 'none'"),
        (["fit", "t.csv", "--task", "tree"], "classifier"),
    ],
    ids=str,
)
def test_misspelt_arguments_are_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("certree: ")
    assert printed.err.count("\n") == 1
    assert told in printed.err
    assert "--help" in printed.err


# ---- completion ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "place", "told"), [("certree fi", 1, "fit"), ("certree fit --max-", 2, "--max-depth")]
)
def test_shells_complete_commands_and_options(words: str, place: int, told: str) -> None:
    asked = {"_CERTREE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = python("from certree.cli import main; main()", **asked)
    assert told in done.stdout.split()
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_for_a_shell(shell: str) -> None:
    done = python(
        f"import sys; sys.argv = ['certree', '--show-completion', '{shell}'];"
        "from certree.cli import main; main()",
        _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1",
    )
    assert done.returncode == 0, done.stderr
    assert "_CERTREE_COMPLETE" in done.stdout
