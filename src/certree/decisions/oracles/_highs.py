"""The interface to HiGHS: it takes programs, and returns decisions and the solver's status."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._oracle import Constraints, Matrix

# The tightest that HiGHS allows: a decision is best up to this share of the largest cost.
_TIGHTEST = 1e-10

# A reduced cost of the wrong sign below this share of the largest cost is noise of float64.
_NOISE = 1e-12


def import_highspy() -> Any:
    """Return highspy, or raise with the command that installs it."""
    try:
        import highspy
    except ImportError:
        raise ImportError(
            "This needs HiGHS; install it with pip install 'certree[lp]', or pip install highspy."
        ) from None
    return highspy


def new_model(constraints: Constraints, costs: NDArray[np.float64], relaxed: bool = False) -> Any:
    """Return a quiet HiGHS that holds a program."""
    highspy = import_highspy()
    from scipy.sparse import csr_array

    matrix = csr_array(constraints.matrix)
    n_rows, n_columns = matrix.shape
    kinds = constraints.integer & (not relaxed)
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    for kind in ("dual", "mip"):
        model.setOptionValue(f"{kind}_feasibility_tolerance", _TIGHTEST)
    # Arrays are copied at once; the attributes of a HighsLp would be copied number by number.
    model.passModel(
        n_columns,
        n_rows,
        matrix.nnz,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        *_float64(costs, constraints.lower, constraints.upper),
        *_float64(constraints.row_lower, constraints.row_upper),
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        kinds.astype(np.int32),
    )
    return model


def _float64(*arrays: Any) -> list[NDArray[np.float64]]:
    return [np.ascontiguousarray(array, dtype=np.float64) for array in arrays]


def run(model: Any) -> str:
    """Solve, and return the status of HiGHS, such as "Optimal" or "Infeasible"."""
    model.run()
    status = model.getModelStatus()
    if model.modelStatusToString(status) == "Primal infeasible or unbounded":
        # Presolve may leave the status open; without it HiGHS decides.
        model.setOptionValue("presolve", "off")
        model.run()
        status = model.getModelStatus()
    return str(model.modelStatusToString(status))


def set_costs(model: Any, costs: NDArray[np.float64]) -> None:
    """Replace the objective."""
    places = np.arange(len(costs), dtype=np.int32)
    model.changeColsCost(len(costs), places, np.asarray(costs, dtype=np.float64))


class Basis:
    """An optimal basis: its vertex, and for which other cost vectors it is optimal as well.

    With the basic columns B of [A, -I] the multipliers of the constraints are y = c_B B^-1 and the
    reduced costs c - y A: both linear in c. The vertex is optimal for every c for which the reduced
    costs have the signs that the bounds of the nonbasic variables require.
    """

    def __init__(self, model: Any, constraints: Constraints, vertex: NDArray[np.float64]) -> None:
        self.vertex = vertex
        basis = model.getBasis()
        status = [*(int(s) for s in basis.col_status), *(int(s) for s in basis.row_status)]
        matrix = constraints.matrix
        n_rows, n_columns = matrix.shape
        whole = np.hstack([matrix, -np.eye(n_rows)])
        basic = [j for j, s in enumerate(status) if s == 1]
        if len(basic) != n_rows:
            raise np.linalg.LinAlgError("not a basis")
        chosen = np.zeros((n_columns, n_rows))
        for place, j in enumerate(basic):
            if j < n_columns:
                chosen[j, place] = 1.0
        multipliers = np.linalg.solve(whole[:, basic].T, chosen.T).T if n_rows else chosen
        duals = np.hstack([np.eye(n_columns) - multipliers @ matrix, multipliers])
        lower = np.concatenate([constraints.lower, constraints.row_lower])
        upper = np.concatenate([constraints.upper, constraints.row_upper])
        # At a lower bound (0) a reduced cost must not be negative, at an upper bound (2) not
        # positive; a fixed variable may have any, a free one (3) must have none.
        signs = np.zeros((len(status), 2))
        for j, s in enumerate(status):
            if s == 1 or lower[j] == upper[j]:
                continue
            signs[j] = {0: (1, 0), 2: (0, 1)}.get(s, (1, 1))
        at_lower, at_upper = signs[:, 0] > 0, signs[:, 1] > 0
        self.conditions = np.hstack([duals[:, at_lower], -duals[:, at_upper]])

    def is_optimal(self, costs: Matrix) -> NDArray[np.bool_]:
        """Return for which cost vectors the vertex is optimal."""
        slack = costs @ self.conditions
        size = np.maximum(np.abs(costs).max(axis=1), 1e-300)
        return np.asarray((slack >= -_NOISE * size[:, None]).all(axis=1))
