"""How well trees of different sizes predict rows that they were not fitted to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._certificate import many
from ._chart import Chart
from ._charts import validation_chart
from ._trees import Charted

# Means of the same scores in another order differ by rounding.
_ROUNDING = 1e-12


class ValidationCurve(Charted):
    """Scores of trees of different sizes on rows left out; ``curve_`` of a cross-validation.

    Parameters
    ----------
    params : sequence of dict
        The limits that were tried: max_depth, and max_splits, n_clusters or complexity.
    scores : array of shape (n_limits, n_folds)
        The score of each on the rows that each fold leaves out; greater is better. NaN where no
        tree keeps the limits.
    rule : {"best", "one_se"}
        How limits are chosen.
    measure : str
        The name of the score.

    Attributes
    ----------
    mean, standard_error : array of shape (n_limits,)
        Mean over the folds, and its standard error.
    chosen : int
        The place of the limits that the rule chooses.
    best : int
        The place of the best mean score; of equal ones that of the smallest tree.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import ValidationCurve
    >>> params = [{"max_depth": 1}, {"max_depth": 2}]
    >>> curve = ValidationCurve(params, [[0.6, 0.8], [0.7, 0.8]], rule="one_se")
    >>> curve.params[curve.best], curve.params[curve.chosen]
    ({'max_depth': 2}, {'max_depth': 1})
    """

    def __init__(
        self,
        params: Sequence[Mapping[str, Any]],
        scores: Any,
        *,
        rule: str = "best",
        measure: str = "score",
    ) -> None:
        self.params = [dict(one) for one in params]
        self.scores: NDArray[np.float64] = np.asarray(scores, dtype=np.float64)
        self.rule = rule
        self.measure = measure
        self.mean: NDArray[np.float64] = self.scores.mean(axis=1)
        self.standard_error = _standard_errors(self.scores)
        if np.isnan(self.mean).all():
            raise ValueError(
                "No limits have a score in every fold: either no tree keeps the other limits, or "
                "the score is not defined for the rows left out. Relax the limits, or give "
                "another scoring or fewer folds."
            )
        top = float(np.nanmax(self.mean))
        self.best = self._smallest(top)
        least = top
        if rule == "one_se" and self.n_folds > 1:
            least -= float(self.standard_error[self.best])
        self.chosen = self._smallest(least)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.scores.shape[1])

    def _smallest(self, least: float) -> int:
        """Return the place of the smallest tree whose mean score is at least this."""
        least -= _ROUNDING * max(abs(least), 1.0)
        places: list[int] = np.flatnonzero(self.mean >= least).tolist()
        return min(places, key=self._size)

    def _size(self, place: int) -> tuple[float, float, float]:
        """Return what orders limits from the smallest trees to the largest."""
        one = self.params[place]
        most = (one.get("max_splits", one.get("n_clusters")), one.get("max_depth"))
        size, depth = (math.inf if limit is None else limit for limit in most)
        return -float(one.get("complexity", 0)), size, depth

    def statement(self) -> str:
        """Return the choice as one sentence."""
        limits = ", ".join(f"{n}={_text(v)}" for n, v in self.params[self.chosen].items())
        told = f"Cross-validation with {many(self.n_folds, 'fold')} chose {limits}: "
        told += f"{self.measure} {self.mean[self.chosen]:.4g} on rows left out"
        error = self.standard_error[self.chosen]
        told += "" if math.isnan(error) else f", with standard error {error:.2g}"
        if self.chosen != self.best:
            told += f" (the best mean is {self.mean[self.best]:.4g})"
        return told + "."

    def cv_results(self) -> dict[str, Any]:
        """Return the scores in the form of scikit-learn's ``cv_results_``."""
        results: dict[str, Any] = {"params": self.params}
        for name in self.params[0]:
            results[f"param_{name}"] = np.array([one[name] for one in self.params])
        for number in range(self.n_folds):
            results[f"split{number}_test_score"] = self.scores[:, number]
        results["mean_test_score"] = self.mean
        results["std_test_score"] = self.scores.std(axis=1)
        tolerance = _ROUNDING * np.maximum(np.abs(self.mean), 1.0)
        results["rank_test_score"] = np.array(
            [self._rank(mean, slack) for mean, slack in zip(self.mean, tolerance, strict=True)]
        )
        return results

    def _rank(self, mean: float, slack: float) -> int:
        if math.isnan(mean):
            return int(np.count_nonzero(~np.isnan(self.mean))) + 1
        return 1 + int(np.count_nonzero(self.mean > mean + slack))

    def to_frame(self) -> Any:
        """Return a pandas data frame: one row per limits, with mean, error and fold scores."""
        return super().to_frame()

    def _columns(self) -> Mapping[str, Any]:
        columns: dict[str, Any] = {
            name: [one[name] for one in self.params] for name in self.params[0]
        }
        columns["mean"], columns["standard_error"] = self.mean, self.standard_error
        columns |= {f"fold {k}": self.scores[:, k] for k in range(self.n_folds)}
        columns["chosen"] = [place == self.chosen for place in range(len(self.params))]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "params": [dict(one) for one in self.params],
            "scores": self.scores.tolist(),
            "mean": self.mean.tolist(),
            "standard_error": self.standard_error.tolist(),
            "rule": self.rule,
            "measure": self.measure,
            "best": self.best,
            "chosen": self.chosen,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw mean scores with bands of one standard error, and return the axes.

        One line for each depth against the number of splits or the complexity, or one line against
        the depth. The chosen limits are marked.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        """
        return super().plot(ax)

    def _chart(self) -> Chart:
        return validation_chart(self)

    def _lines(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        names = list(self.params[0])
        marked = {self.best: "best", self.chosen: "chosen"}
        if self.best == self.chosen:
            marked = {self.best: "best, chosen"}
        lines = [
            (
                *(_text(one[name]) for name in names),
                f"{mean:.4g}",
                f"{error:.2g}",
                marked.get(place, ""),
            )
            for place, (one, mean, error) in enumerate(
                zip(self.params, self.mean.tolist(), self.standard_error.tolist(), strict=True)
            )
        ]
        return (*names, "mean", "standard error", ""), lines

    def _title(self) -> str:
        return f"{self.measure} on rows left out, mean of {many(self.n_folds, 'fold')}"

    def _by_depth(self) -> tuple[str, list[float], list[tuple[str, list[int]]]]:
        """Return what runs across a chart, where limits stand there, and the lines by label.

        There is one line for each depth, if anything but the depth varies.
        """
        known = ("max_splits", "n_clusters", "complexity")
        across = next((name for name in known if name in self.params[0]), "max_depth")
        given = [one[across] for one in self.params]
        # No limit comes after all others.
        last = max((float(limit) for limit in given if limit is not None), default=0.0) + 1
        x = [last if limit is None else float(limit) for limit in given]
        lines: dict[str, list[int]] = {}
        for place, one in enumerate(self.params):
            depth = one["max_depth"]
            label = "any depth" if depth is None else f"depth {depth}"
            lines.setdefault("mean" if across == "max_depth" else label, []).append(place)
        names = {"max_depth": "depth", "max_splits": "most splits", "n_clusters": "most clusters"}
        name = names.get(across, across)
        return name, x, list(lines.items())

    def __len__(self) -> int:
        return len(self.params)

    def __repr__(self) -> str:
        limits = ", ".join(f"{name}={value}" for name, value in self.params[self.chosen].items())
        return f"ValidationCurve({len(self)} limits, {self.n_folds} folds, chosen: {limits})"

    def __str__(self) -> str:
        names = list(self.params[0])
        head = " ".join(f"{name:>10}" for name in names)
        lines = [
            self._title(),
            f"{head} {'mean':>10} {'error':>9}",
        ]
        for place, one in enumerate(self.params):
            limits = " ".join(f"{_text(one[name]):>10}" for name in names)
            error = self.standard_error[place]
            marks = [name for name in ("chosen", "best") if getattr(self, name) == place]
            numbers = f"{self.mean[place]:>10.4g} {error:>9.2g}"
            lines.append(f"{limits} {numbers}  {', '.join(marks)}".rstrip())
        return "\n".join(lines)


def _text(limit: Any) -> str:
    return "none" if limit is None else f"{float(limit):.4g}"


def _standard_errors(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard error of the mean of each line; NaN where there is one score."""
    n_folds = scores.shape[1]
    if n_folds < 2:
        return np.full(len(scores), np.nan)
    errors: NDArray[np.float64] = scores.std(axis=1, ddof=1) / math.sqrt(n_folds)
    return errors
