"""Run the examples of the pages, and write what they print into the output blocks of the pages.

    python tools/refresh_outputs.py                          # all pages
    python tools/refresh_outputs.py docs/guide/fairness.md   # some
    python tools/refresh_outputs.py --check                  # change nothing, name stale pages

The rules, which tests/test_docs.py checks:

- The ```python blocks of a page run in order, in one namespace and an empty folder.
- A ```text block after such a block is output: of the last ```python block, what all of its
  statements print, or what some consecutive ones print. Line breaks and seconds may differ.
- In a ```console block, the lines after ``$ certree ...`` are what this command prints.
- ``<!-- not run: reason -->`` before a ```python block says that it needs something that is not
  here. ``<!-- not compared: reason -->`` before a ```text block says that it is not the output of
  the code before it, or never the same twice.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100
SECONDS = r"seconds +\S+"
KINDS = ("python", "text", "console")
FENCE = re.compile(
    r"^(?:<!-- (?P<mark>not run|not compared): [^\n]+ -->\n\n?)?"
    rf"^```(?P<kind>{'|'.join(KINDS)})\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its kind, its text with its place, and the mark before it."""

    kind: str
    text: str
    start: int
    mark: str | None

    @property
    def end(self) -> int:
        """The place after the last line."""
        return self.start + len(self.text)


def pages() -> list[Path]:
    """Return the README and the pages of the documentation."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
    return sorted(path for path in found if "_build" not in path.parts)


def blocks(page: str) -> list[Block]:
    """Return the ```python, ```text and ```console blocks of a page, in order."""
    return [
        Block(match["kind"], match["text"], match.start("text"), match["mark"])
        for match in FENCE.finditer(page)
    ]


def outputs(page: str) -> list[Block]:
    """Return the ```text blocks that say what the code before them prints."""
    found, has_code = [], False
    for block in blocks(page):
        has_code |= block.kind == "python"
        if block.kind == "text" and has_code and block.mark is None:
            found.append(block)
    return found


# ---- running -----------------------------------------------------------------------------------


def run_code(code: str, names: dict[str, Any], source: str = "<page>", line: int = 0) -> list[str]:
    """Run statements, and return what each of them prints."""
    tree = ast.parse(code, filename=source)
    ast.increment_lineno(tree, line)
    printed = []
    for statement in tree.body:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(ast.Module([statement], []), source, "exec"), names)
        printed.append(out.getvalue())
    return printed


def run_command(command: str) -> str:
    """Run a command of certree, and return what it prints."""
    arguments = [sys.executable, "-m", *shlex.split(command, comments=True)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command!r} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def write_tables() -> None:
    """Write the tables that pages name into the current folder."""
    from certree import datasets

    loans = datasets.load_credit(as_frame=False)
    heart = datasets.make_heart_failure()
    events = [(time, int(event)) for event, time in heart.target.tolist()]
    rows = [[*row, label] for row, label in zip(loans.data.tolist(), loans.target, strict=True)]
    for name in ("credit.csv", "loans.csv", "new.csv", "held_out.csv"):
        _write_csv(name, [[*loans.feature_names, "outcome"], *rows])
    rows = [[*row, *event] for row, event in zip(heart.data.tolist(), events, strict=True)]
    _write_csv("heart.csv", [[*heart.feature_names, "days", "died"], *rows])


def _write_csv(name: str, rows: list[list[Any]]) -> None:
    cells = (["" if v is None or v != v else str(v) for v in row] for row in rows)
    Path(name).write_text("\n".join(map(",".join, cells)) + "\n", encoding="utf-8")


# ---- comparing ---------------------------------------------------------------------------------


def squeezed(text: str) -> str:
    """Return a text with single spaces, and without the time that something took."""
    return " ".join(re.sub(SECONDS, "seconds", text).split())


def shown_output(shown: str, printed: list[str]) -> str:
    """Return what an output block should show: itself, if consecutive statements print it.

    Otherwise the output of those consecutive statements that is most like it.
    """
    parts = [part for part in printed if part.strip()]
    runs = [
        "".join(parts[first:last])
        for first in range(len(parts))
        for last in range(first + 1, len(parts) + 1)
    ]
    if not runs:
        return ""
    if any(squeezed(shown) == squeezed(run) for run in runs):
        return shown
    found = max(runs, key=lambda run: _likeness(squeezed(shown), squeezed(run)))
    times = re.findall(SECONDS, shown)
    return wrapped(re.sub(SECONDS, lambda new: times.pop(0) if times else new[0], found))


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def wrapped(text: str) -> str:
    """Return a text whose long lines are broken as lines of the pages are."""
    lines = (line.rstrip() for line in text.strip("\n").splitlines())
    broken = (textwrap.fill(line, WIDTH) if len(line) > WIDTH else line for line in lines)
    return "\n".join(broken) + "\n"


def shown_console(shown: str) -> str:
    """Return a console block with what its commands print, where it shows that at all."""
    write_tables()
    found = []
    for part in re.split(r"^(?=\$ )", shown, flags=re.MULTILINE):
        command, _, output = part.partition("\n")
        if command.startswith("$ certree "):
            printed = run_command(command[2:])
            output = printed if output else ""
        found.append(f"{command}\n{output}" if part else "")
    return "".join(found)


def refreshed(page: str, source: str = "<page>") -> str:
    """Run the examples of a page in the current folder, and return the page with their outputs."""
    names: dict[str, Any] = {"__name__": "__main__"}
    is_output = {block.start for block in outputs(page)}
    printed: list[str] = []
    changes = []
    for block in blocks(page):
        if block.kind == "python" and block.mark is None:
            printed = run_code(block.text, names, source, page.count("\n", 0, block.start))
        elif block.kind == "console" and "$ certree " in block.text:
            changes.append((block, shown_console(block.text)))
        elif block.start in is_output:
            changes.append((block, shown_output(block.text, printed)))
    for block, text in reversed(changes):
        page = page[: block.start] + text + page[block.end :]
    return page


# ---- the command -------------------------------------------------------------------------------


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Work in an empty folder for a while."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def main() -> int:
    """Refresh pages, or name those that are stale."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path, help="default: all")
    parser.add_argument("--check", action="store_true", help="change nothing")
    settings = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "agg")
    n_stale = 0
    for path in [path.resolve() for path in settings.pages] or pages():
        page = path.read_text(encoding="utf-8")
        if not outputs(page) and "$ certree " not in page:
            continue
        with empty_folder():
            text = refreshed(page, str(path))
        if text != page:
            n_stale += 1
            print(f"{path}: {'stale' if settings.check else 'refreshed'}")
            if not settings.check:
                path.write_text(text, encoding="utf-8")
    return int(settings.check and n_stale > 0)


if __name__ == "__main__":
    sys.exit(main())
