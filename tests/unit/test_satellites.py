"""What loads when: a plain fit loads nothing of what it does not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from certree import OptimalTreeRegressor, estimators

SATELLITES = (
    "certree.cli",
    "certree.datasets",
    "certree.decisions",
    "certree.encoding._reduce",
    "certree.encoding._sources",
    "certree.engine._shared_nodes",
    "certree.engine._shared_search",
    "certree.engine._workers",
    "certree.estimators._fair",
    "certree.estimators._optimality",
    "certree.estimators._solve",
    "certree.estimators._tree_cv",
    "certree.files._parts",
    "certree.fitting.prove_groups",
    "certree.fitting.prove_limited",
    "certree.fitting.prove_metric",
    "certree.fitting.prove_parts",
    "certree.fitting.prove_task_front",
    "certree.leaves.clusters",
    "certree.leaves.costs",
    "certree.leaves.linear",
    "certree.leaves.numbers",
    "certree.leaves.ordinal",
    "certree.leaves.survival",
    "certree.proofs",
    "certree.oracles",
    "certree.report",
    "certree.results._separable_solution",
    "certree.results._summary",
    "certree.results._task_front",
    "certree.results._validation",
    "certree.tasks._check_task",
    "certree.verify",
    "matplotlib",
    "sklearn.metrics",
)


def python(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_plain_fit_loads_no_satellites() -> None:
    python(
        "import sys; from certree import OptimalTreeClassifier\n"
        "OptimalTreeClassifier().fit([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0])\n"
        f"loaded = [name for name in {SATELLITES} if name in sys.modules]\n"
        "assert not loaded, loaded"
    )


def test_the_import_of_the_package_loads_none_of_its_modules() -> None:
    python(
        "import sys, certree\n"
        "loaded = [name for name in sys.modules if name.startswith('certree.')]\n"
        "assert not loaded, loaded"
    )


def test_satellites_are_modules_that_there_are() -> None:
    source = Path(estimators.__file__).parents[2]
    for name in SATELLITES:
        place = source / name.replace(".", "/")
        assert not name.startswith("certree") or place.is_dir() or place.with_suffix(".py").exists()


def test_a_file_loads_the_estimator_that_it_holds(tmp_path: Path) -> None:
    OptimalTreeRegressor(1).fit([[0], [1], [2]], [0, 1, 3]).save(tmp_path / "model.json")
    python(
        "from certree.files import load\n"
        f"model = load({str(tmp_path / 'model.json')!r})\n"
        "assert type(model).__name__ == 'OptimalTreeRegressor', model"
    )


def test_estimators_has_its_names_and_no_others() -> None:
    assert set(estimators.__all__) <= set(dir(estimators))
    with pytest.raises(AttributeError, match="has no attribute 'OptimalTree'"):
        estimators.OptimalTree  # noqa: B018
