"""The doors to the core: problems and options go in, trees and proven bounds come out.

This is the only package that imports the extension module.
"""

from ._scalar import (
    Callback,
    Event,
    Nodes,
    Options,
    Problem,
    Result,
    Session,
    leaves_of_rows,
    solve,
    solve_path,
    sums_of_nodes,
)

__all__ = [
    "Callback",
    "Event",
    "Nodes",
    "Options",
    "Problem",
    "Result",
    "Session",
    "leaves_of_rows",
    "solve",
    "solve_path",
    "sums_of_nodes",
]
