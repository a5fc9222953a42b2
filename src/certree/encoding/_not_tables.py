"""What users pass in place of a table, and what to pass instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from scipy.sparse import issparse

from ._frames import lazy_library

__all__ = ["refuse_lazy", "refuse_other_forms"]


def refuse_other_forms(X: Any) -> None:
    """Refuse forms of data that are nearly a table, and say how to make one of them.

    Raises
    ------
    TypeError
        If `X` is the name of a file, a mapping, rows that are mappings, an iterator, or a frame
        without data.
    ValueError
        If the columns of a frame have names of several levels.
    """
    if isinstance(X, str | bytes | PathLike):
        raise TypeError(
            f"X must be a table, got {str(X)!r}; read a file first, with pandas.read_csv or polars."
        )
    if isinstance(X, Mapping) and not issparse(X):
        raise TypeError(
            "X must be a table, got a dict of columns; pass pandas.DataFrame(X), or one of polars."
        )
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        raise TypeError(
            "X must be a table, got a list of dicts; pass pandas.DataFrame(X), or one of polars."
        )
    if isinstance(X, Iterator):
        raise TypeError(
            f"X must be a table, got an iterator of type {type(X).__name__}, which can be read "
            "only once; pass list(X)."
        )
    refuse_lazy(X, "X")
    labels: Any = getattr(X, "columns", None)
    n_levels = getattr(labels, "nlevels", 1)
    if isinstance(n_levels, int) and n_levels > 1:
        raise ValueError(
            f"The columns of X have names of {n_levels} levels, such as {tuple(labels[0])}; trees "
            'need one name each: X.columns = ["_".join(map(str, name)) for name in X.columns].'
        )


def refuse_lazy(given: Any, name: str) -> None:
    """Refuse a frame without data, of polars or any library that has them."""
    library = lazy_library(given)
    if library == "polars":
        raise TypeError(
            f"{name} is a polars LazyFrame, which holds no data yet; call .collect() on it first."
        )
    if library is not None:
        raise TypeError(
            f"{name} is a query of {library}, which holds no data yet; make a frame of it first, "
            "or give it to certree.reduce."
        )
