"""Search for rows on which a task breaks the laws that the search relies on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import TableEncoder

from . import Front, LeafCosts, Limited, Separable, Task
from ._check_separable import Failure, Indices, Law, SeparableHunt, limit_laws

# Two computations of one float cost may differ by this share of it.
_NOISE = 1e-9

_SUGGESTION = (
    "The cost was superadditive in all of them: if that is a law, declare it with "
    "bounds='superadditive', and the search uses more bounds."
)


@dataclass(frozen=True)
class TaskReport:
    """The result of :func:`check_task`. Its truth value is True if no law was seen to fail.

    Attributes
    ----------
    law : str or None
        The first law that fails: "shape", "finite", "deterministic", "additive",
        "context-free", "not negative", "superadditive" or "worst change"; for
        :class:`tasks.Separable`, "Markovian", "order", "order preserved" or "anti-monotonic"; None
        if none was seen to.
    message : str
        What was found, with the numbers.
    rows : tuple of arrays
        The sets of rows that show it, made as small as was easy.
    n_samples : int
        Number of pairs of row sets that were tried.
    suggestions : tuple of str
        Laws that are not declared, though no sample breaks them.
    """

    law: str | None
    message: str
    rows: tuple[Indices, ...]
    n_samples: int
    suggestions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.law is None

    def __str__(self) -> str:
        if self.law is None:
            lines = [f"No law was seen to fail in {self.n_samples} samples."]
            return "\n".join([*lines, *self.suggestions])
        sets = "; ".join(str(part.tolist()) for part in self.rows)
        return f"The law '{self.law}' fails: {self.message} Rows: {sets}."


def check_task(
    task: Task | Limited | Front | Separable,
    X: Any,
    y: Any = None,
    *,
    n_samples: int = 200,
    random_state: int = 0,
) -> TaskReport:
    """Look for rows that break a law which the search relies on.

    The search adds up statistics over the rows of a leaf and asks what the sum costs. That is right
    only if the statistics of a set of rows are the sum of theirs, and if the cost of a leaf depends
    on nothing else: not on the other leaves of the tree, nor on what was asked before. Laws that
    the task declares (superadditive, worst change per row) must hold as well, since bounds are
    built on them. Amounts of limits must add up in the same way, so that their totals are sums over
    rows. Samples cannot prove these laws, but most errors show at once.

    Parameters
    ----------
    task : tasks.Task, tasks.Limited, tasks.Front or tasks.Separable
        The task in question, with limits or without; or an objective by its parts, of which the
        conditions for being separable are tried.
    X : table of shape (n_rows, n_features)
        Rows; the sets that are tried are those that tests of its columns select, and random ones.
    y : array-like of shape (n_rows,), optional
        Classes or target, for tasks that need them.
    n_samples : int, default=200
        Number of pairs of sets to try.
    random_state : int, default=0
        Seed.

    Returns
    -------
    TaskReport
        True if nothing was found; otherwise with the law, and the rows that show it.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> import numpy as np
    >>> from certree import check_task, tasks
    >>> X, classes = np.eye(4), np.eye(2)[[0, 1, 0, 1]]
    >>> right = tasks.LeafCost(classes, lambda sums: sums.min(axis=1), bounds="superadditive")
    >>> bool(check_task(right, X))
    True
    >>> wrong = tasks.LeafCost(classes, lambda sums: sums.min(axis=1) - sums.mean())
    >>> check_task(wrong, X).law
    'context-free'
    """
    if not isinstance(task, Task | Limited | Front | Separable):
        raise TypeError(f"task must be a certree.tasks.Task, got {type(task).__name__}.")
    encoder = TableEncoder().set_output(transform="default")
    columns = encoder.fit_transform(X)
    if isinstance(task, Separable):
        task = task.bind(len(columns))
    samples = list(_samples(columns, np.random.default_rng(random_state), n_samples))
    for law in _laws(task, y, columns.shape[0], encoder.n_features_in_):
        for seen, (first, second) in enumerate(samples, start=1):
            found = law(first, second)
            if found is not None:
                return TaskReport(*_shrink(law, first, second, found), seen)
    is_suggested = isinstance(task, Task) and _looks_superadditive(task, y, len(columns), samples)
    return TaskReport(None, "", (), len(samples), (_SUGGESTION,) if is_suggested else ())


def _looks_superadditive(
    task: Task, y: Any, n_rows: int, samples: list[tuple[Indices, Indices]]
) -> bool:
    """Return whether no sample breaks a law that is not declared."""
    if task.laws.superadditive:
        return False
    hunt = _Hunt(task, task.leaf_costs(y, n_rows), n_rows)
    return not any(hunt.superadditive(first, second) for first, second in samples)


def _laws(
    task: Task | Limited | Front | Separable, y: Any, n_rows: int, n_columns: int
) -> list[Law]:
    """Return all laws that a task must keep."""
    if isinstance(task, Separable):
        return SeparableHunt(task, n_columns).laws()
    if isinstance(task, Task):
        return _Hunt(task, task.leaf_costs(y, n_rows), n_rows).laws()
    laws = [
        law for objective in task.objectives() for law in _laws(objective, y, n_rows, n_columns)
    ]
    n_labels = len(task.labels(y, n_rows))
    return laws + [law for limit in task.limits for law in limit_laws(limit, n_labels)]


class _Hunt:
    """The laws, each a function of two disjoint sets of rows that says what fails."""

    def __init__(self, task: Task, costs: LeafCosts, n_rows: int) -> None:
        self.task = task
        self.costs = costs
        self.n_rows = n_rows

    def laws(self) -> list[Law]:
        laws: list[Law] = [self.well_formed, self.deterministic]
        if self.costs.state is not None:
            laws.append(self.additive)
        laws.append(self.context_free)
        if not self.costs.any_sign:
            laws.append(self.not_negative)
        if self.task.laws.superadditive:
            laws.append(self.superadditive)
        if self.task.laws.worst_change is not None:
            laws.append(self.worst_change)
        return laws

    def sums(self, *sets: Indices) -> NDArray[Any]:
        return np.stack([self.costs.statistics[rows].sum(axis=0) for rows in sets])

    def cost(self, *sets: Indices) -> list[float]:
        return [float(self.costs.cost(self.sums(rows))[0]) for rows in sets]

    def well_formed(self, first: Indices, second: Indices) -> Failure | None:
        sums = self.sums(first, second, np.concatenate([first, second]))
        try:
            self.costs.cost(sums)
        except ValueError as error:
            law = "finite" if "finite" in str(error) else "shape"
            return Failure(law, str(error))
        return None

    def deterministic(self, first: Indices, second: Indices) -> Failure | None:
        sums = self.sums(first, second)
        before, after = self.costs.cost(sums), self.costs.cost(sums.copy())
        differ = before != after
        if not differ.any():
            return None
        place = int(np.argmax(differ))
        return Failure(
            "deterministic",
            f"the sums {sums[place].tolist()} cost {before[place].item()!r} at first and "
            f"{after[place].item()!r} later.",
        )

    def additive(self, first: Indices, second: Indices) -> Failure | None:
        state = self.costs.state
        assert state is not None
        both = np.asarray(state(np.concatenate([first, second])), dtype=np.float64)
        apart = np.asarray(state(first), dtype=np.float64) + np.asarray(state(second))
        if np.allclose(both, apart, rtol=_NOISE, atol=_NOISE):
            return None
        return Failure(
            "additive",
            f"the statistics of two sets of rows sum to {apart.tolist()}, those of the sets "
            f"together are {both.tolist()}.",
        )

    def context_free(self, first: Indices, second: Indices) -> Failure | None:
        sums = self.sums(first, second)
        alone = float(self.costs.cost(sums[:1])[0])
        beside = float(self.costs.cost(sums)[0])
        turned = float(self.costs.cost(sums[::-1].copy())[1])
        for other in (beside, turned):
            if not _equal(alone, other):
                return Failure(
                    "context-free",
                    f"a leaf with the sums {sums[0].tolist()} costs {alone!r} by itself and "
                    f"{other!r} beside a leaf with the sums {sums[1].tolist()}.",
                )
        return None

    def not_negative(self, first: Indices, second: Indices) -> Failure | None:
        sums = self.sums(first, second, np.concatenate([first, second]))
        costs = self.costs.cost(sums)
        if (costs < -_NOISE).any():
            place = int(np.argmin(costs))
            return Failure(
                "not negative",
                f"the sums {sums[place].tolist()} cost {costs[place].item()!r}.",
            )
        return None

    def superadditive(self, first: Indices, second: Indices) -> Failure | None:
        a, b, both = self.cost(first, second, np.concatenate([first, second]))
        if a + b <= both + _NOISE * max(1.0, abs(both)):
            return None
        return Failure(
            "superadditive",
            f"two leaves cost {a!r} + {b!r}, more than the {both!r} of one leaf with all rows.",
        )

    def worst_change(self, first: Indices, second: Indices) -> Failure | None:
        worst = self.task.laws.worst_change
        assert worst is not None
        row = second[:1]
        before, after = self.cost(first, np.concatenate([first, row]))
        most = float(np.asarray(worst)[row[0]])
        if after - before <= most + _NOISE * max(1.0, abs(after)):
            return None
        return Failure(
            "worst change",
            f"row {int(row[0])} in addition raises the cost of a leaf from {before!r} to "
            f"{after!r}, by more than its worst change {most!r}.",
        )


def _shrink(
    law: Law, first: Indices, second: Indices, found: Failure
) -> tuple[str, str, tuple[Indices, ...]]:
    """Leave out rows as long as the same law fails."""
    sets = [first, second]
    for _ in range(4):
        size = sum(map(len, sets))
        for which in (0, 1):
            for row in sets[which].tolist():
                smaller = list(sets)
                smaller[which] = sets[which][sets[which] != row]
                if len(smaller[which]) == 0:
                    continue
                again = law(smaller[0], smaller[1])
                if again is not None and again.law == found.law:
                    sets, found = smaller, again
        if sum(map(len, sets)) == size:
            break
    return found.law, found.text, tuple(sets)


def _samples(
    columns: NDArray[np.uint8], rng: np.random.Generator, n_samples: int
) -> Iterator[tuple[Indices, Indices]]:
    """Yield pairs of disjoint sets: the two sides of a test below some others, or random ones."""
    n_rows, n_columns = columns.shape
    if n_rows < 2:
        raise ValueError("check_task needs at least two rows to tell sets of rows apart.")
    if not n_columns:
        # No test tells rows apart, as if there were one that holds for all.
        columns, n_columns = np.ones((n_rows, 1), dtype=np.uint8), 1
    count = 0
    while count < n_samples:
        rows = np.arange(n_rows)
        for _ in range(int(rng.integers(0, 4))):
            column = columns[rows, rng.integers(n_columns)]
            part = rows[column == rng.integers(2)]
            rows = part if len(part) > 1 else rows
        sides = columns[rows, rng.integers(n_columns)] == 1
        if count % 3 == 2 or sides.all() or not sides.any():
            # Sets of a few rows show more than large ones do.
            rows = rng.permutation(rows)[: int(rng.integers(2, min(len(rows), 12) + 1))]
            sides = np.arange(len(rows)) < int(rng.integers(1, len(rows)))
        yield rows[sides], rows[~sides]
        count += 1


def _equal(a: float, b: float) -> bool:
    return abs(a - b) <= _NOISE * max(1.0, abs(a), abs(b))
