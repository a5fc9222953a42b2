"""Leaves of survival trees: a risk, the survival curve of the leaf's rows, and one baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.tree._payload_values import Values
from certree.tree._plain import read_number, shown
from certree.tree._sketch import Sketch, round_end, staircase
from certree.tree._structure import frozen

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """The Kaplan-Meier curve of some rows, with a band of 95 % around it.

    The curve is 1 before the first time, and has the value of a time from that time on.

    Attributes
    ----------
    time : array of shape (n_times,)
        The times of events, ascending.
    survival : array of shape (n_times,)
        Share of the rows that have no event up to this time and at it.
    lower, upper : array of shape (n_times,)
        Ends of the confidence interval of 95 %, by Greenwood's variance of ``log(-log(survival))``.
    at_risk : array of shape (n_times,)
        Weight of the rows that are observed up to this time at least.
    events : array of shape (n_times,)
        Weight of the rows with an event at this time.
    last : float
        The longest time under observation; nothing is known of later times.

    Examples
    --------
    >>> from certree import SurvivalTree
    >>> model = SurvivalTree().fit([[0], [0], [0]], [[1, 1], [2, 0], [3, 1]])
    >>> curve = model.curves_[0]
    >>> curve.survival.round(3).tolist(), float(curve(2.5).round(3))
    ([0.667, 0.0], 0.667)
    """

    time: NDArray[np.float64]
    survival: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    at_risk: NDArray[np.float64]
    events: NDArray[np.float64]
    last: float

    def __post_init__(self) -> None:
        for field in fields(self)[:-1]:
            value = frozen(getattr(self, field.name), np.float64)
            object.__setattr__(self, field.name, value)

    @property
    def median(self) -> float:
        """The first time at which half of the rows or fewer are left; infinite if there is none."""
        reached = np.flatnonzero(self.survival <= 0.5)
        return float(self.time[reached[0]]) if len(reached) else float("inf")

    def __call__(self, time: Any) -> Any:
        """Return the share of the rows without an event up to some times."""
        return np.append(1.0, self.survival)[np.searchsorted(self.time, time, side="right")]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SurvivalCurve):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, one.name), getattr(other, one.name))
            for one in fields(self)
        )

    def __hash__(self) -> int:
        return hash((self.time.tobytes(), self.survival.tobytes()))

    def __repr__(self) -> str:
        return (
            f"SurvivalCurve(events={self.events.sum():g}, median={self.median:g}, "
            f"last={self.last:g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as JSON values."""
        lists = {one.name: getattr(self, one.name).tolist() for one in fields(self)[:-1]}
        return {**lists, "last": self.last}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Return the curve that :meth:`to_dict` wrote."""
        names = [one.name for one in fields(cls)]
        if not isinstance(data, Mapping) or set(data) != set(names):
            keys = ", ".join(names)
            raise ValueError(f"A survival curve has the keys {keys}, got {shown(data)}.")
        lists = {name: _numbers(data[name], name) for name in names[:-1]}
        if len({len(values) for values in lists.values()}) > 1:
            raise ValueError("The lists of a survival curve differ in length.")
        return cls(**lists, last=read_number(data["last"], "last"))


@dataclass(frozen=True, eq=False)
class SurvivalLeaves(Values):
    """Leaves that hold a risk, `values`, and the survival curve of their rows.

    Parameters
    ----------
    curves : tuple of SurvivalCurve
        One for each content.
    times, hazards : array-like of shape (n_times,)
        The cumulative hazard of all rows, which risks multiply, from each of these times on.
    """

    curves: tuple[SurvivalCurve, ...]
    times: NDArray[np.float64]
    hazards: NDArray[np.float64]

    kind: ClassVar[str] = "survival"
    noun: ClassVar[str] = "risk"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("values", frozen(self.values, np.float64))
        self._put("curves", tuple(self.curves))
        self._put("times", frozen(self.times, np.float64))
        self._put("hazards", frozen(self.hazards, np.float64))
        if self.values.ndim != 1 or len(self.values) != len(self.curves) or not len(self.values):
            raise ValueError(
                f"A survival tree needs one risk for each curve, got {self.values.shape} risks and "
                f"{len(self.curves)} curves."
            )
        if not (np.isfinite(self.values) & (self.values >= 0)).all():
            risks = shown(self.values.tolist())
            raise ValueError(f"Risks must be finite and at least 0, got {risks}.")
        if self.times.ndim != 1 or self.times.shape != self.hazards.shape:
            raise ValueError(
                f"The baseline has {self.times.shape} times, but {self.hazards.shape} hazards."
            )
        if (np.diff(self.times) <= 0).any() or (np.diff(self.hazards, prepend=0.0) < 0).any():
            raise ValueError("The times and hazards of the baseline must ascend.")

    def hazard_at(self, time: Any) -> NDArray[np.float64]:
        """Return the cumulative hazard of all rows at some times."""
        places = np.searchsorted(self.times, time, side="right")
        return np.asarray(np.append(0.0, self.hazards)[places])

    def curve(self, node: int) -> SurvivalCurve:
        """Return the survival curve of the rows of a leaf."""
        return self.curves[int(self.label[node])]

    def sketch(self, node: int) -> Sketch:
        """Return the curve of a leaf; all leaves have the same axis of time."""
        curve, longest = self.curve(node), round_end(max(one.last for one in self.curves))
        time, end = curve.time / longest, curve.last / longest
        line, low, high = (
            staircase(time, values, end) for values in (curve.survival, curve.lower, curve.upper)
        )
        median = curve.median
        told = f"median {median:.3g}" if np.isfinite(median) else "median not reached"
        return Sketch(line, low + high[::-1], "0", f"{longest:.6g}", f"Survival curve, {told}")

    def name(self, content: int) -> str:
        return f"risk {self.values[content]:.4g}"

    def numbers(self) -> NDArray[np.float64]:
        return self.values[:, np.newaxis]

    def sql_value(self, node: int) -> Any:
        return self.value(node)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "values": self.values.tolist(),
            "curves": [curve.to_dict() for curve in self.curves],
            "baseline": {"time": self.times.tolist(), "hazard": self.hazards.tolist()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], label: Any, counts: Any) -> Self:
        keys = ("values", "curves", "baseline")
        if set(data) != {"kind", *keys}:
            raise ValueError(f"Leaves of the kind survival have the keys {', '.join(keys)}.")
        baseline, curves = data["baseline"], data["curves"]
        if not isinstance(baseline, Mapping) or set(baseline) != {"time", "hazard"}:
            raise ValueError(f"baseline has the keys time and hazard, got {shown(baseline)}.")
        if not isinstance(curves, list):
            raise ValueError(f"curves must be a list, got {shown(curves)}.")
        return cls(
            label,
            counts,
            _numbers(data["values"], "values"),
            tuple(SurvivalCurve.from_dict(curve) for curve in curves),
            _numbers(baseline["time"], "time"),
            _numbers(baseline["hazard"], "hazard"),
        )


class StepFunction:
    """A function that keeps its value until the next step, as scikit-survival has them.

    Parameters
    ----------
    x : array of shape (n_steps,)
        Where the steps are, ascending.
    y : array of shape (n_steps,)
        The value from each of them on.
    before : float
        The value before the first.

    Examples
    --------
    >>> from certree import SurvivalTree
    >>> model = SurvivalTree().fit([[0], [0]], [[1, 1], [2, 1]])
    >>> survival = model.predict_survival_function([[0]])[0]
    >>> survival([0.5, 1, 9]).round(3).tolist()
    [1.0, 0.607, 0.223]
    """

    def __init__(self, x: NDArray[np.float64], y: NDArray[np.float64], before: float) -> None:
        self.x, self.y, self.before = x, y, before

    @property
    def domain(self) -> tuple[float, float]:
        """The range of times that it answers for: all."""
        return 0.0, float("inf")

    def __call__(self, x: Any) -> Any:
        """Return the values at some places."""
        places = np.searchsorted(self.x, np.asarray(x, dtype=np.float64), side="right")
        return np.append(self.before, self.y)[places]

    def __repr__(self) -> str:
        return f"StepFunction({len(self.x)} steps)"


def _numbers(values: Any, where: str) -> NDArray[np.float64]:
    if not isinstance(values, list):
        raise ValueError(f"{where} must be a list of numbers, got {shown(values)}.")
    return np.array([read_number(value, where) for value in values], dtype=np.float64)
