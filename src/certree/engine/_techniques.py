"""The techniques of the search, and how to switch them off to see what they save."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from math import comb

from certree import _core
from certree.numbers._exact import read_fraction

_OFF: ContextVar[frozenset[str]] = ContextVar("certree_techniques_off", default=frozenset())


def techniques() -> dict[str, str]:
    """Return the names of all techniques that can be switched off, and what each one does.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> import certree
    >>> certree.techniques()["use_table"]
    'look subproblems up in the transposition table'
    """
    return dict(_core.switches())


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Switch techniques of the search off, to see what they save.

    Every call inside the ``with`` block searches without them: estimators, :func:`certree.solve`,
    paths and fronts. The optimum and its proof stay the same; time and counters change. Blocks may
    be nested. They hold for the thread (or the task of asyncio) that opens them; other processes,
    such as those of joblib, know nothing of them.

    Parameters
    ----------
    *names : str
        Names from :func:`certree.techniques`.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> import certree
    >>> X, y = certree.datasets.load_binary_example(return_X_y=True)
    >>> model = certree.OptimalTreeClassifier(max_depth=4).fit(X, y)
    >>> with certree.without("use_table", "use_split_similarity"):
    ...     plain = certree.OptimalTreeClassifier(max_depth=4).fit(X, y)
    >>> plain.certificate_.cost == model.certificate_.cost
    True
    """
    known = _core.switches()
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"{name!r} is no technique that can be switched off.{hint} certree.techniques() "
                "lists them all."
            )
    token = _OFF.set(_OFF.get() | frozenset(names))
    try:
        yield
    finally:
        _OFF.reset(token)


def most_branches(
    n_features: int, n_categories: int, complexity: float | Fraction, n_classes: int = 2
) -> int:
    r"""Return how many branches the best-first search of the paper evaluates at most.

    Theorem 4.4 of Chaouki, Read and Bifet, *Branches: Efficiently seeking optimal sparse decision
    trees via AO\** (ICML 2025): with :math:`q` features of :math:`C` categories each, :math:`K`
    classes and a penalty :math:`\lambda` per split, there are at most

    .. math:: \sum_{h=0}^{\kappa} (q - h)\, C^{h+1} \binom{q}{h}, \qquad
              \kappa = \min\Bigl(\Bigl\lfloor \frac{K - 1}{K \lambda} \Bigr\rfloor - 1,\; q\Bigr)

    evaluations. The paper prints :math:`1 / (K \lambda)`, which its proof gives for two classes
    only. Compare with ``certificate_.counters["branches_evaluated"]``.

    Parameters
    ----------
    n_features : int
        Number of columns, at least 1.
    n_categories : int
        Categories of each column, at least 2; if they differ, the largest number.
    complexity : float or Fraction
        Penalty per split, above 0.
    n_classes : int, default=2
        Number of classes, at least 2.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import most_branches
    >>> most_branches(2, 2, 0.2)  # depth up to 1: 2 * 2, and 1 * 4 * 2
    12
    """
    for name, value, least in (
        ("n_features", n_features, 1),
        ("n_categories", n_categories, 2),
        ("n_classes", n_classes, 2),
    ):
        if int(value) != value or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}.")
    penalty = read_fraction(complexity, "complexity")
    if penalty <= 0:
        raise ValueError(
            f"complexity must be above 0, got {complexity!r}: otherwise trees may have any size."
        )
    q, c = int(n_features), int(n_categories)
    deepest = min(Fraction(n_classes - 1, n_classes) // penalty - 1, q)
    return sum((q - h) * c ** (h + 1) * comb(q, h) for h in range(deepest + 1))


def switched_off() -> dict[str, bool]:
    """Return the options of the core for what is switched off here."""
    return dict.fromkeys(sorted(_OFF.get()), False)
