"""How often policies learned on Warfarin dosing give the best treatment to patients held out.

    python benchmarks/warfarin.py

Doubly robust scores from the teachers' estimates in the files, depth 1 to 5; the mean over the
training sets of the folder that CERTREE_DATA names, each with its own test set.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from certree import PolicyTree

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.instances import data_folder
from harness.report import markdown
from harness.task_solvers import doubly_robust

# Label, treatment, outcome, propensity and three estimates; the best treatment; then the columns.
HISTORY, BEST, FIRST_COLUMN = slice(1, 7), 7, 11


def main() -> None:
    """Print a line per depth."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("CERTREE_DATA must name the folder with policy/.")
    trains = sorted((folder / "policy").glob("*_train_*.csv"))
    lines = []
    for depth in range(1, 6):
        shares = []
        for path in trains:
            train = np.loadtxt(path)
            test = np.loadtxt(path.with_name(path.name.replace("_train_", "_test_")))
            model = PolicyTree(max_depth=depth, random_state=0)
            model.fit_rewards(train[:, FIRST_COLUMN:], doubly_robust(train[:, HISTORY]))
            given = model.predict(test[:, FIRST_COLUMN:])
            shares.append(np.mean(np.asarray(given).astype(int) == test[:, BEST]))
        percent = [f"{100 * share:.1f}" for share in (*shares, np.mean(shares))]
        lines.append([str(depth), *percent])
    print(markdown(["depth", *(path.stem for path in trains), "mean %"], lines))


if __name__ == "__main__":
    main()
