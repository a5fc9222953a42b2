"""Data frames as narwhals shows them, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse


def as_frame(given: Any) -> tuple[list[Any], Any] | None:
    """Return the labels of a frame and the frame as one of narwhals; None for anything else."""
    if given is None or isinstance(given, np.ndarray | list | tuple | dict) or issparse(given):
        return None
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    labels = list(getattr(given, "column_names", getattr(given, "columns", ())))
    try:
        frame: Any = nw.from_native(given, pass_through=True)
    except DuplicateError:
        # Columns without text for names may repeat them.
        frame = nw.from_native(given.set_axis(range(len(labels)), axis=1))
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_polars():
            raise ValueError(
                "X is a polars LazyFrame, which holds no data yet; call .collect() on it."
            )
        raise ValueError(f"X is a query of {frame.implementation}; make a frame of it.")
    return (labels, frame) if isinstance(frame, nw.DataFrame) else None


def plain_columns(given: Any) -> list[list[Any]] | None:
    """Return the columns of a frame, or a column alone, as Python values; None for others."""
    found = as_frame(given)
    if found is not None:
        return [series.to_list() for series in found[1].iter_columns()]
    if given is None or isinstance(given, np.ndarray | list | tuple):
        return None
    import narwhals.stable.v2 as nw

    series: Any = nw.from_native(given, pass_through=True, series_only=True)
    return [series.to_list()] if isinstance(series, nw.Series) else None
