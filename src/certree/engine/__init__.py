"""The doors to the core: problems and options go in, trees and proven bounds come out.

This is the only package that imports the extension module.
"""

from certree._core import build_info
from certree.tree._nodes import Nodes

from ._scalar import (
    Callback,
    Event,
    Options,
    PathResult,
    Problem,
    Result,
    Session,
    SizedTree,
    solve,
    solve_path,
)

__all__ = [
    "Callback",
    "Event",
    "Nodes",
    "Options",
    "PathResult",
    "Problem",
    "Result",
    "Session",
    "SizedTree",
    "build_info",
    "solve",
    "solve_path",
]
