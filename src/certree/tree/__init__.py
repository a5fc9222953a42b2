"""The fitted tree: an immutable object that predicts, explains itself and exports itself.

One file per export; :mod:`certree.tree._tree` holds the object, and :mod:`certree.tree._payload`
says what leaves may hold. Everything reads the same flat arrays, the same test objects and the same
payload. So a new kind of test needs an outcome, a description, and one line in each export that
speaks another language (Python, SQL, scikit-learn); a new kind of payload needs nothing but itself.
"""

from ._explanation import Change, ColumnChange, Explanation, Explanations, PathStep
from ._payload import Payload
from ._payload_labels import Labels
from ._payload_linear import LinearLeaves
from ._payload_outputs import Clusters, SeveralLabels, SeveralNumbers
from ._payload_survival import StepFunction, SurvivalCurve, SurvivalLeaves
from ._payload_values import ChosenDecisions, Numbers, Vectors
from ._rules import Rule
from ._tree import Tree

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
