"""Errors say "question" for what a node asks: readers take a test for a test set."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import certree

SOURCE = Path(certree.__file__).parent

# Tests of patients have prices, and these are arguments or keys of files.
MEANT = re.compile(
    r"prices? of tests|test_costs|'test'|\btest (and|must|refers)|list of tests|\d tests"
)


def texts_of(path: Path) -> list[str]:
    """Return the texts of all errors that a module raises, with 0 for what is put in."""
    texts = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Raise):
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.JoinedStr):
                pieces = (v.value if isinstance(v, ast.Constant) else "0" for v in part.values)
                texts.append("".join(map(str, pieces)))
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                texts.append(part.value)
    return texts


def test_no_error_says_test_for_a_question() -> None:
    folders = ("tree", "encoding", "files", "fitting", "estimators", "leaves", "tasks")
    wrong = [
        (path.name, text)
        for folder in folders
        for path in sorted((SOURCE / folder).rglob("*.py"))
        for text in texts_of(path)
        if " " in text and re.search(r"\btests?\b", MEANT.sub("", text))
    ]
    # The parts of a text that is put together are read by themselves, too.
    assert [one for one in wrong if not one[1].startswith((" tests; pass", " tests, got"))] == []
