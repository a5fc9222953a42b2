"""What pages show is compared with what their examples print, and rewritten."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "tools" / "refresh_outputs.py"
_spec = importlib.util.spec_from_file_location("refresh_outputs", PATH)
assert _spec is not None
assert _spec.loader is not None
tool = importlib.util.module_from_spec(_spec)
sys.modules["refresh_outputs"] = tool  # where dataclasses look for it
_spec.loader.exec_module(tool)

CODE = 'print("a tree")\nprint("seconds  0.5")\nprint("the end of it")\n'


def page(output: str, mark: str = "") -> str:
    return f"Text.\n\n```python\n{CODE}```\n\nIt prints:\n\n{mark}```text\n{output}```\n"


@pytest.mark.parametrize(
    "output",
    [
        "a tree\nseconds  0.5\nthe end of it\n",
        "a tree\nseconds  0.7\n",
        "the end\nof it\n",
    ],
    ids=["all", "a part, with another time", "other line breaks"],
)
def test_what_the_code_prints_stays(output: str) -> None:
    assert tool.refreshed(page(output)) == page(output)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a bush\n", "a tree\n"),
        ("the end of that\n", "the end of it\n"),
        ("a tree\n\nthe end of it\n", "a tree\nseconds  0.5\nthe end of it\n"),
        ("a bush\nseconds  0.2\n", "a tree\nseconds  0.2\n"),
    ],
)
def test_what_the_code_does_not_print_is_replaced_by_what_is_most_like_it(
    old: str, new: str
) -> None:
    assert tool.refreshed(page(old)) == page(new)


def test_an_output_is_that_of_the_code_before_it() -> None:
    """A later block of code does not print what an earlier one did."""
    both = page("a tree\n") + '\n```python\nprint("a leaf")\n```\n\n```text\na tree\n```\n'
    assert tool.refreshed(both) == both[: both.rindex("a tree")] + "a leaf\n```\n"


def test_marked_blocks_are_left_alone() -> None:
    text = page("something else\n", "<!-- not compared: it depends on the weather -->\n")
    assert tool.refreshed(text) == text
    code = "<!-- not run: needs a server -->\n```python\nraise SystemError\n```\n"
    assert tool.refreshed(code) == code


def test_a_mark_needs_a_reason() -> None:
    text = page("a bush\n", "<!-- not compared -->\n")
    assert tool.refreshed(text) != text


def test_code_that_prints_nothing_leaves_no_output() -> None:
    text = "```python\nx = 1\n```\n\n```text\n1\n```\n"
    assert "```text\n```" in tool.refreshed(text)


def test_commands_show_what_they_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command whose output is not shown stays without, and its comment stays."""
    monkeypatch.chdir(tmp_path)
    command = "certree fit credit.csv --target outcome --max-depth 1"
    old = f"```console\n$ pip install certree\n$ {command}  # small\n$ {command}\nold\n```\n"
    new = tool.refreshed(old)
    assert new.startswith(old.partition("old")[0])
    assert "old" not in new
    assert "model written to model.json\n```" in new


def test_the_command_names_and_mends_stale_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.md"
    file.write_text(page("a bush\n"), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["refresh_outputs", "--check", str(file)])
    assert tool.main() == 1
    assert "stale" in capsys.readouterr().out
    assert "a bush" in file.read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["refresh_outputs", str(file)])
    assert tool.main() == 0
    assert file.read_text(encoding="utf-8") == page("a tree\n")
