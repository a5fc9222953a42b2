"""Oracles: sets of feasible decisions that know the best one for any cost vector.

An oracle answers many cost vectors at once. :class:`Decisions` has an explicit list;
:class:`DAGShortestPath` and :class:`GridShortestPath` run a dynamic programme; :class:`TopK`,
:class:`BoxSimplex` and :class:`Assignment` choose or distribute; :class:`LinearProgram` and
:class:`MixedIntegerProgram` ask HiGHS; :class:`Function` and :func:`from_model` wrap your own code.
"""

from __future__ import annotations

from .decisions.oracles._decisions import Decisions
from .decisions.oracles._function import Function, as_oracle, from_model
from .decisions.oracles._oracle import Constraints, Oracle, OracleError, Solutions
from .decisions.oracles._paths import DAGShortestPath, GridShortestPath
from .decisions.oracles._program import LinearProgram, MixedIntegerProgram
from .decisions.oracles._selection import Assignment, BoxSimplex, TopK

__all__ = [
    "Assignment",
    "BoxSimplex",
    "Constraints",
    "DAGShortestPath",
    "Decisions",
    "Function",
    "GridShortestPath",
    "LinearProgram",
    "MixedIntegerProgram",
    "Oracle",
    "OracleError",
    "Solutions",
    "TopK",
    "as_oracle",
    "from_model",
]
