"""A hint for users whose classes are far from equally frequent."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np

from certree.exceptions import RareClassWarning, warn
from certree.tree import Tree

# Fewer rows than this say little about how rare a class is.
_LEAST_ROWS = 100

# A class with a smaller share of the rows is rare.
_RARE = 0.05

# Modules of scikit-learn that fit to parts of the rows, once for each fold or model.
_PARTS = ("sklearn.model_selection._validation", "sklearn.ensemble", "sklearn.calibration")


ALIKE = "objective='balanced_accuracy' counts all classes alike"
RANKED = f"objective='auc' ranks rows by their risk, and {ALIKE}"
"""What to use for one output, and what else for two classes."""

BY_WEIGHT = "tasks.Misclassification(class_weight='balanced') counts all classes alike"

_BY_ROW = (
    "sample_weight=sklearn.utils.class_weight.compute_sample_weight('balanced', y) counts all "
    "combinations of classes alike"
)
"""What to use for several outputs."""


def hint_at_rare_classes(tree: Tree, advice: str) -> None:
    """Warn if a tree with the best accuracy neglects a rare class.

    That is a class with less than 5 % of at least 100 rows, of which the tree gets fewer than half
    right. Fits to folds are silent: a search over hundreds of models hints once, when the best one
    is fitted to all rows.

    Parameters
    ----------
    tree : Tree
        A tree of rows without weights.
    advice : str
        What does not neglect it, if there is one output.
    """
    outputs = tree.payload.outputs()
    advice = _BY_ROW if outputs else advice
    each = outputs or [("", tree.payload)]
    found = [(name, _neglected(tree, payload)) for name, payload in each]
    named = next(((name, label) for name, label in found if label is not None), None)
    if named is None or _fits_a_part():
        return
    where = f" of {named[0]}" if named[0] else ""
    warn(
        f"The class {named[1]}{where} has less than 5 % of the rows, and the tree gets most of "
        f"them wrong: a rare class counts little for accuracy. {advice}.",
        RareClassWarning,
    )


def _neglected(tree: Tree, payload: Any) -> str | None:
    """Return the rarest class that one output of a tree neglects; None: there is none."""
    counts, labels = np.asarray(payload.counts), np.asarray(payload.label)
    leaves = np.flatnonzero(tree.test < 0)
    totals = counts[leaves].sum(axis=0)
    if totals.sum() < _LEAST_ROWS:
        return None
    right = np.array([counts[leaves[labels[leaves] == k], k].sum() for k in range(len(totals))])
    is_neglected = (totals > 0) & (totals < _RARE * totals.sum()) & (2 * right < totals)
    if not is_neglected.any():
        return None
    rarest = payload.values[is_neglected][np.argmin(totals[is_neglected])]
    return repr(rarest.item() if isinstance(rarest, np.generic) else rarest)


def _fits_a_part() -> bool:
    """Return whether scikit-learn asked for a fit to a part of the rows."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(_PARTS):
            return True
        frame = frame.f_back
    return False
