"""Leaves that hold linear models: formulas of raw columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Table
from certree.tree._formula import Formula
from certree.tree._payload import contents
from certree.tree._payload_values import Vectors
from certree.tree._plain import read, read_number, read_whole, shown
from certree.tree._structure import frozen
from certree.tree._wording import one_line

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, eq=False)
class LinearLeaves(Vectors):
    """Leaves that hold linear models; lines of `values` are an intercept and coefficients.

    Parameters
    ----------
    features : sequence of int
        The raw columns that the coefficients belong to.
    columns : sequence of str
        Their names.
    means : array-like of shape (n_contents,)
        The mean target of the training rows of each model.
    """

    features: tuple[int, ...]
    columns: tuple[str, ...]
    means: NDArray[np.float64]

    kind: ClassVar[str] = "linear"
    noun: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("features", tuple(map(int, self.features)))
        self._put("columns", tuple(map(str, self.columns)))
        self._put("means", frozen(self.means, np.float64))
        n_columns = self.values.shape[1] - 1
        if not len(self.features) == len(self.columns) == n_columns:
            raise ValueError(
                f"Linear models have {n_columns} coefficients, for {len(self.features)} columns "
                f"with {len(self.columns)} names."
            )
        if len(set(self.features)) < n_columns or min(self.features, default=0) < 0:
            raise ValueError(f"Linear models need distinct columns, got {self.features}.")
        if self.means.shape != (len(self.values),):
            raise ValueError(f"{len(self.values)} linear models have {self.means.shape} means.")
        if not (np.isfinite(self.values).all() and np.isfinite(self.means).all()):
            raise ValueError("Coefficients of linear models must be finite.")

    @property
    def needs(self) -> tuple[int, ...]:
        used = (self.values[:, 1:] != 0).any(axis=0)
        return tuple(f for f, is_used in zip(self.features, used.tolist(), strict=True) if is_used)

    def formula(self, content: int) -> Formula:
        """Return a model, without the columns that it does not use."""
        intercept, *slopes = self.values[content].tolist()
        pairs = zip(self.features, slopes, strict=True)
        return Formula(intercept, tuple((f, slope) for f, slope in pairs if slope))

    def predict(self, leaves: Any, X: Any = None) -> NDArray[np.float64]:
        assert isinstance(X, Table)
        lines = self.values[self.label[leaves]]
        said: NDArray[np.float64] = lines[:, 0].copy()
        for place, (feature, name) in enumerate(zip(self.features, self.columns, strict=True)):
            slopes = lines[:, place + 1]
            if not slopes.any():
                continue
            column = X.column(feature)
            if column.dtype.kind != "f":
                raise ValueError(
                    f"The column {name!r} must hold numbers, since models of leaves use it; got "
                    f"{X.kinds[feature]}."
                )
            lacking = np.isnan(column) & (slopes != 0)
            if lacking.any():
                raise ValueError(
                    f"The column {name!r} is missing in row {int(np.argmax(lacking))}, and the "
                    "model of its leaf needs it; fill it in, or leave the column out of "
                    "model_features."
                )
            said += np.where(slopes != 0, slopes * column, 0.0)
        return said

    def levels(self) -> NDArray[np.float64]:
        return self.means

    def name(self, content: int) -> str:
        names = dict(zip(self.features, map(one_line, self.columns), strict=True))
        return self.formula(content).write(names, lambda number: f"{number:.4g}")

    def lines(self, content: int) -> list[str]:
        names = dict(zip(self.features, map(one_line, self.columns), strict=True))
        return self.formula(content).lines(names)

    def value(self, node: int) -> Any:
        return self.describe(node)

    def python_value(self, node: int) -> Formula:
        return self.formula(int(self.label[node]))

    def sql_value(self, node: int) -> Formula:
        return self.formula(int(self.label[node]))

    def numbers(self) -> NDArray[np.float64]:
        self._refuse("to_sklearn")

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "means": self.means.tolist(),
            "features": list(self.features),
            "columns": list(self.columns),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Self:
        parts = {key: value for key, value in data.items() if key not in ("features", "columns")}
        lists = contents(parts, {"values", "means"})
        columns = [data.get("features"), data.get("columns")]
        if not all(isinstance(one, list) for one in columns):
            raise ValueError(f"Linear models need lists of columns, got {shown(columns)}.")
        features, names = columns
        return cls(
            label,
            counts,
            cls._read(lists["values"]),
            tuple(read_whole(feature, "features", 0) for feature in features or ()),
            tuple(read(str, name, "name of a column") for name in names or ()),
            np.array([read_number(mean, "means") for mean in lists["means"]]),
        )
