"""The first levels of a search that workers share: nodes, their bounds, and what was proven."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from certree.tree._nodes import Nodes

from ._workers import INFINITE, Entries, Proven, Reply

LOCAL = "this process"
"""The name of the coordinator among the workers."""

# A worker that has not replied while the others replied so many times each is taken as gone.
_MOST_TURNS = 8

# Lines that are kept for workers that have not seen them.
_MOST_KEPT = 1_000_000


@dataclass
class SharedSplit:
    """A split of a node, and what is known of the best tree that begins with it."""

    column: int
    lower: int
    guess: int
    upper: int = INFINITE
    nodes: Nodes | None = None
    busy: int = 0
    begun: bool = False
    sides: tuple[SharedNode, SharedNode] | None = None


@dataclass
class SharedNode:
    """A node of the first levels."""

    path: tuple[tuple[int, bool], ...]
    depth: int
    lower: int = 0
    upper: int = INFINITE
    nodes: Nodes | None = None
    splits: list[SharedSplit] = field(default_factory=list)
    is_open: bool = False

    def refresh(self, penalty: int) -> None:
        """Take in what is known of the nodes below."""
        for split in self.splits:
            if split.sides is None:
                continue
            for side in split.sides:
                side.refresh(penalty)
            yes, no = split.sides
            split.lower = max(split.lower, penalty + yes.lower + no.lower)
            if yes.nodes is not None and no.nodes is not None:
                self.offer(split, penalty + yes.upper + no.upper, (yes.nodes, no.nodes))
        if self.is_open:
            least = min((split.lower for split in self.splits), default=INFINITE)
            self.lower = max(self.lower, min(self.upper, least))

    def offer(self, split: SharedSplit, value: int, tree: Nodes | tuple[Nodes, Nodes]) -> None:
        """Keep a tree that begins with a split, or its two sides, if it is the best so far."""
        if value >= split.upper:
            return
        split.upper = value
        split.nodes = tree if isinstance(tree, Nodes) else join(split.column, *tree)
        if value < self.upper:
            self.upper, self.nodes = value, split.nodes


def join(column: int, yes: Nodes, no: Nodes) -> Nodes:
    """Return the tree with a test at its root and two trees below it."""
    pending = [(yes, 0), (no, 0)]
    test, first_child, label = [column], [1], [-1]
    for tree, node in pending:  # grows while it is read
        test.append(int(tree.test[node]))
        label.append(int(tree.label[node]))
        first_child.append(-1)
        if tree.test[node] >= 0:
            first_child[-1] = len(pending) + 1
            child = int(tree.first_child[node])
            pending += [(tree, child), (tree, child + 1)]
    return Nodes.of(test, first_child, label)


class SharedLog:
    """What workers have proven, one part of lines for each reply, and who has seen which parts."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, Entries]] = []
        self._dropped = 0
        self._seen: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._replies = 0

    def __len__(self) -> int:
        return self._dropped + len(self._parts)

    def add(self, reply: Reply) -> None:
        """Add what a worker has proven, and forget what all others know."""
        self._parts.append((reply.worker, reply.entries))
        if reply.worker != LOCAL:
            self._replies += 1
            self._seen[reply.worker], self._last[reply.worker] = reply.seen, self._replies
        # What only a worker that died has not seen would travel with every task.
        since = self._replies - _MOST_TURNS * len(self._last)
        self._last = {name: last for name, last in self._last.items() if last >= since}
        known = min((self._seen[name] for name in self._last), default=0) - self._dropped
        kept = np.cumsum([len(lines) for _, lines in reversed(self._parts)])
        fits = int(np.searchsorted(kept, _MOST_KEPT, side="right"))
        n_gone = max(known, len(self._parts) - fits, 0)
        self._parts = self._parts[n_gone:]
        self._dropped += n_gone

    @property
    def news(self) -> tuple[int, list[Proven]]:
        """How many parts there are, and those that some worker has not seen."""
        return len(self), [
            Proven(self._dropped + place, worker, lines)
            for place, (worker, lines) in enumerate(self._parts)
        ]
