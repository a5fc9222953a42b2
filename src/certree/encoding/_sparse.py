"""Sparse matrices as columns, of which one at a time is dense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["SparseColumns"]


class SparseColumns(Sequence[NDArray[Any]]):
    """The columns of a sparse matrix, each made when it is asked for.

    What the matrix does not store is zero. NaN that it stores is missing.

    Parameters
    ----------
    matrix : sparse matrix or array of SciPy
        Numbers or truth values.
    """

    def __init__(self, matrix: Any) -> None:
        kept: Any = sparse.csc_array(matrix)
        # Entries that are stored twice add up; the user's matrix is left as it is.
        self.matrix: Any = kept if kept.has_canonical_format else _summed(kept)

    def __len__(self) -> int:
        return int(self.matrix.shape[1])

    def __getitem__(self, index: Any) -> Any:
        start, end = self.matrix.indptr[index], self.matrix.indptr[index + 1]
        values = self.matrix.data
        dtype = np.bool_ if values.dtype == np.bool_ else np.float64
        column = np.zeros(self.matrix.shape[0], dtype=dtype)
        column[self.matrix.indices[start:end]] = values[start:end]
        return column

    def select(self, rows: NDArray[Any]) -> SparseColumns:
        """Return some rows, given by a mask or by indices."""
        places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return SparseColumns(self.matrix.tocsr()[places])


def _summed(matrix: Any) -> Any:
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix
