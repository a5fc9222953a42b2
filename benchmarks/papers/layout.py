"""Lay the data folder out from the folders that the papers' authors publish.

    python -m benchmarks.papers.layout DATA pystreed branches contree

DATA becomes the folder that CERTREE_DATA names. The others are clones or unpacked archives of
AlgTUDelft/pystreed, Chaoukia/branches and ConSol-Lab/contree, in any order; what is in none of them
is named, and skipped by the experiments. Folders are linked, and copied where the system has no
links.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

# Folder of DATA: where the authors have it.
SOURCES = {
    "accuracy": "data/classification",
    "cost-sensitive": "data/cost-sensitive",
    "fairness": "data/fairness",
    "instance-cost": "data/instance-cost-sensitive",
    "policy": "data/prescriptive-policy/warfarin",
    "regression": "data/regression",
    "sparse": "data/preprocessed",
    "continuous": "datasets",
}


def lay_out(target: Path, published: list[Path]) -> tuple[list[str], list[str]]:
    """Fill the data folder; return the names of what it has and of what nobody gave."""
    target.mkdir(parents=True, exist_ok=True)
    for name, place in SOURCES.items():
        found = [folder / place for folder in published if (folder / place).is_dir()]
        if found and not (target / name).exists():
            put(target / name, found[0])
    has = [name for name in SOURCES if (target / name).is_dir()]
    return has, [name for name in SOURCES if name not in has]


def put(place: Path, source: Path) -> None:
    """Link a folder, or copy it."""
    try:
        place.symlink_to(source.resolve(), target_is_directory=True)
    except OSError:
        shutil.copytree(source, place)


def main(given: list[str] | None = None) -> int:
    """Read the command line, lay the folder out, and say what is there."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.layout",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("published", type=Path, nargs="+")
    settings = parser.parse_args(given)
    if missing := [str(folder) for folder in settings.published if not folder.is_dir()]:
        print(f"{', '.join(missing)}: no such folder.", file=sys.stderr)
        return 2
    has, lacks = lay_out(settings.data, settings.published)
    print(f"{settings.data} has {', '.join(has) or 'nothing'}.")
    if lacks:
        print(f"In none of the folders: {', '.join(f'{n} ({SOURCES[n]})' for n in lacks)}.")
    return 0 if has else 1


if __name__ == "__main__":
    sys.exit(main())
