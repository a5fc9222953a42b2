"""What is asked of a search, as integers, and how its answer is read: the second step of a fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding import TableEncoder
from certree.encoding._row_cells import Cells
from certree.numbers._scale import Scale
from certree.results._answer import Answer
from certree.results._certificate import Exact
from certree.results._progress import Measure
from certree.results._record import Record
from certree.tree import Tree

from .counted_rows import CountedRows


@dataclass(frozen=True, kw_only=True)
class Statement(ABC):
    """Rows, tests and costs, ready to be searched.

    Every fit goes the same way: a table becomes a statement, a search gives an answer, and
    :func:`certify` makes a certificate of both.

    Attributes
    ----------
    task : str
        What certificates call the objective.
    columns : Cells
        Answers of the rows that count to the tests.
    encoder : TableEncoder
        The tests.
    scale : Scale
        The map between the integers of the search and costs.
    n_rows : int
        Number of rows that count, before equal ones are merged.
    total_weight : Fraction
        Their weight, by which errors are counted.
    counted : CountedRows
        Their numbers and sample weights, by which trees are described.
    seconds : float
        Time that stating took.
    least_rows : int
        Fewest rows in a leaf.
    row_counts : int64 array or None
        How many rows each row of `columns` stands for, if leaves have a least size; None: one each.
    """

    task: str
    columns: Cells
    encoder: TableEncoder
    scale: Scale
    n_rows: int
    total_weight: Fraction
    counted: CountedRows
    seconds: float
    least_rows: int
    row_counts: NDArray[np.int64] | None = None

    certificate_kind: ClassVar[type[Record]]
    """The class of certificates about trees."""

    @property
    def measures(self) -> tuple[str, str]:
        """What paths call the cost and the objective."""
        return "cost", "objective"

    @property
    def min_leaf(self) -> int:
        """Fewest rows in a leaf, as the search counts them."""
        return self.least_rows

    @property
    def may_share(self) -> bool:
        """Whether several threads may search."""
        return True

    @property
    @abstractmethod
    def complexity_unit(self) -> Fraction:
        """What a complexity of one costs."""

    @property
    @abstractmethod
    def most_cost(self) -> Fraction:
        """No leaf costs more; a gap beyond this accepts every tree."""

    @abstractmethod
    def solve(self, options: engine.Options, watch: engine.Callback | None) -> engine.Result:
        """Find the best tree."""

    @abstractmethod
    def solve_path(
        self, options: engine.Options, watch: engine.Callback | None
    ) -> engine.PathResult:
        """Find the best tree for every number of splits."""

    def paid_for_leaves(self, nodes: engine.Nodes) -> int:
        """Return what the search adds to the value of a tree beside leaf costs and splits."""
        return 0

    @abstractmethod
    def leaf_cost(self, units: int) -> Fraction:
        """Return the cost of leaves that cost so many units of the search, without penalty."""

    @abstractmethod
    def objective(self, cost: Exact) -> float:
        """Return a cost in the terms of the objective."""

    @abstractmethod
    def grow(self, nodes: engine.Nodes) -> Tree:
        """Return the tree that the nodes describe, with what its leaves predict."""

    def grow_whole(self, nodes: engine.Nodes) -> tuple[Tree, Any]:
        """Return the tree, and what else estimators keep of its nodes."""
        return self.grow(nodes), None

    @abstractmethod
    def stated_weights(self) -> dict[str, Any]:
        """Return the fields of a certificate that say how numbers were read and rounded."""

    def count_tests(self) -> tuple[int, int]:
        """Return how many tests were searched, and for how many more there was no room."""
        return len(self.encoder.candidates_), self.encoder._n_left_out

    @property
    def measure(self) -> Measure:
        """How people speak of the costs: as the objective."""
        return Measure(self.measures[1], self.objective)

    def n_paid(self, nodes: engine.Nodes, per: str) -> int:
        """Return how often a tree pays the penalty."""
        return nodes.n_splits + (per == "leaf")

    def test_cost(self, nodes: engine.Nodes) -> Exact:
        """Return what all rows pay for the tests of a tree."""
        return 0

    def doubted(self, answer: Answer, accepted: Fraction) -> Answer:
        """Return what is proven of the numbers as they were given, if rounding may hide much.

        Parameters
        ----------
        answer : Answer
            What is proven of the rounded numbers.
        accepted : Fraction
            The gap that the user accepts.
        """
        return answer

    @property
    def hidden(self) -> Fraction:
        """What rounding can hide from a comparison of two trees, if it is not negligible."""
        return Fraction(0)

    @property
    def least_leaf_cost(self) -> Fraction | None:
        """What the leaves of a tree cost at least, where rounding may count less than that."""
        return None

    def counters(self) -> dict[str, int]:
        """Return what the costs themselves have counted."""
        return {}


def tree_over(encoder: TableEncoder, nodes: engine.Nodes, **contents: Any) -> Tree:
    """Return nodes as a tree over the tests of an encoder, with the contents given."""
    names = getattr(encoder, "feature_names_in_", None)
    outcomes = nodes.outcomes
    return Tree.from_arrays(
        encoder.candidates_,
        nodes.test,
        nodes.first_child,
        feature_names=None if names is None else names.tolist(),
        n_features=encoder.n_features_in_,
        columns=None if outcomes is None else [int(places[0]) for places in outcomes],
        **contents,
    )
