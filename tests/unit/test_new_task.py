"""The walk-through of a new task is true of its example, and no task lacks an entry."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from certree import estimators, tasks
from certree.estimators._task_tree import BaseTaskTree
from certree.verify import _leaves, _verify

ROOT = Path(__file__).parents[2]
ORACLES = "\n".join(path.read_text() for path in (ROOT / "tests" / "oracle").glob("*.py"))
GUIDE = "\n".join(path.read_text() for path in (ROOT / "docs" / "guide").glob("*.md"))


def _list(page: str, heading: str) -> list[str]:
    """Return the files that the numbered items of a section name first."""
    section = (ROOT / page).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    items = re.findall(r"^\d\. (.*?)(?=^\d\. |^\S)", section + "\n$", re.DOTALL | re.MULTILINE)
    return [re.findall(r"`((?:src|tests|docs)/[\w/.]+)`", item)[0] for item in items]


def test_every_file_of_the_list_names_the_example() -> None:
    names = r"\b(?:OrdinalError|OrdinalTreeClassifier|rank_distance)\b"
    for path in _list("CONTRIBUTING.md", "Adding a task"):
        assert re.search(names, (ROOT / path).read_text(encoding="utf-8")), path


def test_the_guide_walks_through_the_same_files() -> None:
    walked = _list("docs/guide/tasks.md", "From a task to an estimator")
    assert walked == _list("CONTRIBUTING.md", "Adding a task")


def _is_task(one: Any) -> bool:
    """Return whether a public name of certree.tasks is something to be minimised."""
    if isinstance(one, type):
        return issubclass(one, tasks.Task) and one is not tasks.Task
    return inspect.isfunction(one)


@pytest.mark.parametrize("name", [n for n in tasks.__all__ if _is_task(getattr(tasks, n))])
def test_every_task_has_a_checker_an_oracle_and_a_place_in_the_guide(name: str) -> None:
    one = getattr(tasks, name)
    if isinstance(one, type):
        assert name in _leaves.TASKS
    else:
        # A function that makes one of the classes.
        assert inspect.signature(one).return_annotation in _leaves.TASKS
    assert re.search(rf"\btasks\.{name}\b", ORACLES)
    page = (ROOT / "docs" / "guide" / "tasks.md").read_text()
    assert re.search(rf"^\|[^|\n]*`{name}`", page, re.MULTILINE)


TREES = [
    one
    for one in (getattr(estimators, name) for name in estimators.__all__)
    if isinstance(one, type) and issubclass(one, BaseTaskTree)
]


@pytest.mark.parametrize("one", TREES, ids=lambda one: one.__name__)
def test_every_estimator_of_a_task_has_a_checker_an_oracle_and_a_page(one: type) -> None:
    name = one.__name__
    # Trees that decide are checked by their oracle.
    assert name in _leaves.ESTIMATORS or name == "SPOTree"
    assert "TaskCertificate" in _verify.CHECKERS
    assert f"{name}(" in ORACLES
    assert f"{name}(" in GUIDE


def test_checkers_are_for_what_there_is() -> None:
    # The classifier has a task where y has several columns.
    known = {one.__name__ for one in TREES} - {"SPOTree"} | {"OptimalTreeClassifier"}
    assert set(_leaves.ESTIMATORS) == known
    assert set(_leaves.TASKS) <= set(tasks.__all__)
