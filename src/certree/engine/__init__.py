"""The entry points of the core: problems and options go in, trees and proven bounds come out.

This is the only package that imports the extension module.
"""

from certree._core import build_info
from certree.tree._nodes import Nodes

from ._choice import Question, Search
from ._scalar import Callback, Event, Options, PathResult, Problem, Result, SizedTree
from ._search import Session, solve, solve_path
from ._vector import VectorProblem

__all__ = [
    "Callback",
    "Event",
    "Nodes",
    "Options",
    "PathResult",
    "Problem",
    "Question",
    "Result",
    "Search",
    "Session",
    "SizedTree",
    "VectorProblem",
    "build_info",
    "solve",
    "solve_path",
]
