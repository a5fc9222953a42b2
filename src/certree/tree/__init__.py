"""The fitted tree: an immutable object that predicts, explains itself and exports itself.

One file per export; :mod:`certree.tree._tree` holds the object. Everything reads the same flat
arrays and the same test objects, so a new kind of test needs an outcome, a description, and one
line in each export that speaks another language (Python, SQL, scikit-learn).
"""

from ._rules import Rule
from ._tree import Tree

__all__ = ["Rule", "Tree"]
