"""The techniques of the search, and how to switch them off to see what they save."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from certree import _core

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


def switched_off() -> dict[str, bool]:
    """Return the options of the core for what is switched off here."""
    return dict.fromkeys(sorted(_OFF.get()), False)
