"""The fitted tree: an immutable object that predicts, explains itself and exports itself.

One file per export; :mod:`certree.tree._tree` holds the object, and :mod:`certree.tree._payload`
says what leaves may hold. Everything reads the same flat arrays, the same test objects and the same
payload. So a new kind of test needs an outcome, a description, and one line in each export that
speaks another language (Python, SQL, scikit-learn); a new kind of payload needs nothing but itself.
Payloads of one leaf cost are in its folder of :mod:`certree.leaves`, and load when asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._explanation import Change, ColumnChange, Explanation, Explanations, PathStep
from ._payload import Payload
from ._payload_labels import Labels
from ._payload_values import Numbers, Vectors
from ._rules import Rule
from ._tree import Tree

if TYPE_CHECKING:
    from certree.decisions.payload import ChosenDecisions
    from certree.leaves.clusters.payload import Clusters
    from certree.leaves.linear.payload import LinearLeaves
    from certree.leaves.outputs.payload import SeveralLabels, SeveralNumbers
    from certree.leaves.survival.payload import StepFunction, SurvivalCurve, SurvivalLeaves

__all__ = [
    "Change",
    "ChosenDecisions",
    "Clusters",
    "ColumnChange",
    "Explanation",
    "Explanations",
    "Labels",
    "LinearLeaves",
    "Numbers",
    "PathStep",
    "Payload",
    "Rule",
    "SeveralLabels",
    "SeveralNumbers",
    "StepFunction",
    "SurvivalCurve",
    "SurvivalLeaves",
    "Tree",
    "Vectors",
]

_LEAVES = {
    "ChosenDecisions": "certree.decisions.payload",
    "Clusters": "certree.leaves.clusters.payload",
    "LinearLeaves": "certree.leaves.linear.payload",
    "SeveralLabels": "certree.leaves.outputs.payload",
    "SeveralNumbers": "certree.leaves.outputs.payload",
    "StepFunction": "certree.leaves.survival.payload",
    "SurvivalCurve": "certree.leaves.survival.payload",
    "SurvivalLeaves": "certree.leaves.survival.payload",
}
"""Where the payloads of leaf costs are."""


def __getattr__(name: str) -> Any:
    if name not in _LEAVES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LEAVES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
