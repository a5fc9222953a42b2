"""A hint for users whose classes are far from equally frequent."""

from __future__ import annotations

import sys
from types import FrameType

import numpy as np

from certree.exceptions import RareClassWarning, warn
from certree.tree import Tree

# Fewer rows than this say little about how rare a class is.
_LEAST_ROWS = 100

# A class with a smaller share of the rows is rare.
_RARE = 0.05

# Modules of scikit-learn that fit to parts of the rows, once for each fold or model.
_PARTS = ("sklearn.model_selection._validation", "sklearn.ensemble", "sklearn.calibration")


def hint_at_rare_classes(tree: Tree) -> None:
    """Warn if a tree with the best accuracy neglects a rare class.

    That is a class with less than 5 % of at least 100 rows, of which the tree gets fewer than half
    right. Fits to folds are silent: a search over hundreds of models hints once, when the best one
    is fitted to all rows.

    Parameters
    ----------
    tree : Tree
        A tree of rows without weights.
    """
    counts, labels = np.asarray(tree.counts), np.asarray(tree.label)
    leaves = np.flatnonzero(tree.test < 0)
    totals = counts[leaves].sum(axis=0)
    if totals.sum() < _LEAST_ROWS or _fits_a_part():
        return
    right = np.array([counts[leaves[labels[leaves] == k], k].sum() for k in range(len(totals))])
    is_neglected = (totals > 0) & (totals < _RARE * totals.sum()) & (2 * right < totals)
    if not is_neglected.any():
        return
    rarest = tree.classes[is_neglected][np.argmin(totals[is_neglected])]
    ranking = "objective='auc' ranks rows by their risk, and " if len(totals) == 2 else ""
    warn(
        f"The class {rarest.item() if isinstance(rarest, np.generic) else rarest!r} has less than "
        "5 % of the rows, and the tree gets most of them wrong: a rare class counts little for "
        f"accuracy. {ranking}objective='balanced_accuracy' counts all classes alike.",
        RareClassWarning,
    )


def _fits_a_part() -> bool:
    """Return whether scikit-learn asked for a fit to a part of the rows."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(_PARTS):
            return True
        frame = frame.f_back
    return False
