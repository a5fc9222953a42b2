"""What predictions are worth on some rows: metrics of two classes, and what trees cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from certree import metrics
from certree.encoding._texts import as_array
from certree.metrics._binary_labels import confusion, positive_class

from ._card import beside, card, facts_table, sentence, table

_COUNTS = ("tp", "fp", "fn", "tn")


class ClassificationSummary(Mapping[str, float]):
    """Confusion matrix and metrics of binary predictions; made by :func:`classification_summary`.

    A mapping from names to numbers: "tp", "fp", "fn", "tn" (weights of rows), "positives",
    "negatives", "precision", "recall", "specificity", and every metric of :mod:`certree.metrics` by
    its name. "auc" is there for models that give probabilities.

    Parameters
    ----------
    values : mapping of str to number
        The numbers, in the order in which they are printed.
    pos_label : object
        The positive class.

    Notes
    -----
    .. versionadded:: 0.1
    """

    def __init__(self, values: Mapping[str, float], pos_label: Any) -> None:
        self._values = dict(values)
        self.pos_label = pos_label

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, the positive class among them."""
        return {"pos_label": self.pos_label, **self._values}

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={self._values[name]:g}" for name in _COUNTS)
        return f"ClassificationSummary({counts}, pos_label={self.pos_label!r})"

    def __str__(self) -> str:
        cells = {name: f"{self._values[name]:.10g}" for name in _COUNTS}
        wide = max(8, *(len(cell) for cell in cells.values()))
        lines = [
            f"positive class {self.pos_label!r}",
            f"{'':<20} {'positive':>{wide}} {'negative':>{wide}}",
            f"{'predicted positive':<20} {cells['tp']:>{wide}} {cells['fp']:>{wide}}",
            f"{'predicted negative':<20} {cells['fn']:>{wide}} {cells['tn']:>{wide}}",
        ]
        return "\n".join(
            [*lines, *(f"{name:<20} {value:>{wide}.4f}" for name, value in self._rates)]
        )

    @property
    def _rates(self) -> list[tuple[str, float]]:
        """All that is no count."""
        skipped = (*_COUNTS, "positives", "negatives")
        kept = [(name, value) for name, value in self._values.items() if name not in skipped]
        return [(name.replace("_", " "), value) for name, value in kept]

    def _repr_html_(self) -> str:
        cells = {name: f"{self._values[name]:.10g}" for name in _COUNTS}
        lines = [
            ("predicted positive", cells["tp"], cells["fp"]),
            ("predicted negative", cells["fn"], cells["tn"]),
        ]
        rates = [(name, f"{value:.4f}") for name, value in self._rates]
        return card(
            "Classification summary",
            sentence(f"Positive class: {self.pos_label}"),
            beside(table(("", "positive", "negative"), lines), facts_table(rates)),
        )


def classification_summary(
    model_or_y_true: Any,
    X_or_y_pred: Any,
    y: Any = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> ClassificationSummary:
    """Return false positives, false negatives, and the value of every metric.

    Parameters
    ----------
    model_or_y_true : fitted classifier, or array-like of shape (n_rows,)
        A classifier with `predict`; or the true labels.
    X_or_y_pred : table, or array-like of shape (n_rows,)
        The rows to predict; or the predicted labels.
    y : array-like of shape (n_rows,), optional
        The true labels, for a model.
    pos_label : label, optional
        The positive class; by default that of the model, or the greater of the two.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    ClassificationSummary
        Numbers by name; it prints as a table.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import classification_summary
    >>> summary = classification_summary([0, 1, 1, 0, 1], [0, 1, 0, 1, 1])
    >>> summary["fp"], summary["fn"], round(summary["f1"], 4)
    (1, 1, 0.6667)
    """
    predict = getattr(model_or_y_true, "predict", None)
    scores = None
    if predict is None:
        if y is not None:
            raise ValueError(
                "Give either a model, a table and labels, or true and predicted labels; got "
                f"{type(model_or_y_true).__name__}, which has no predict, and y."
            )
        truth, predicted = as_array(model_or_y_true), as_array(X_or_y_pred)
    else:
        model = model_or_y_true
        if y is None:
            raise ValueError(
                "The true labels are missing: classification_summary(model, X, y), or "
                "classification_summary(y_true, y_pred)."
            )
        truth, predicted = as_array(y), as_array(predict(X_or_y_pred))
        pos_label = _positive_of(model) if pos_label is None else pos_label
        scores = _scores(model, X_or_y_pred, pos_label)
    return _summarise(truth, predicted, scores, pos_label, sample_weight)


def _positive_of(model: Any) -> Any:
    """Return the positive class of a model of two classes."""
    own = getattr(model, "pos_label", None)
    classes = getattr(model, "classes_", None)
    if own is not None or classes is None or len(classes) != 2:
        return own
    return classes[1:].tolist()[0]


def _scores(model: Any, X: Any, pos_label: Any) -> Any:
    """Return the probability of the positive class, if the model gives one."""
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        return None
    classes = model.classes_.tolist()
    if pos_label not in classes or len(classes) != 2:
        return None
    return model.predict_proba(X)[:, classes.index(pos_label)]


def _summarise(
    truth: Any, predicted: Any, scores: Any, pos_label: Any, sample_weight: Any
) -> ClassificationSummary:
    name = "classification_summary"
    fp, fn, positives, negatives = confusion(name, truth, predicted, pos_label, sample_weight)
    positive = positive_class(name, np.union1d(truth, predicted), pos_label)
    tp, tn = positives - fn, negatives - fp
    values = {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "positives": positives}
    values["negatives"] = negatives
    values["precision"] = _share(tp, tp + fp)
    values["recall"] = _share(tp, positives)
    values["specificity"] = _share(tn, negatives)
    for metric in map(metrics.get, metrics.names()):
        if metric.kind not in ("front", "chain"):
            values[metric.name] = metric(fp, fn, positives, negatives)
    if scores is not None and positives > 0 and negatives > 0:
        area = metrics.AUC()
        values["auc"] = area.score(truth, scores, pos_label=positive, sample_weight=sample_weight)
    return ClassificationSummary(values, positive)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, repr=False)
class CostReport:
    """What a tree asks and costs on some rows, by :meth:`CostSensitiveTreeClassifier.cost_report`.

    All numbers are means over the rows, by their weights.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_tests : float
        Tests on the way of a row to its leaf.
    n_columns : float
        Different columns that these ask, each of which has to be known once.
    test_cost : float
        Price of the tests, with discounts.
    label_cost : float or None
        What the labels cost; None without true classes or costs.
    cost : float or None
        Both together.
    normalized_cost : float or None
        The cost as a share of the standard cost, where that is known: see
        :meth:`CostSensitiveTreeClassifier.normalized_cost`.
    measured : dict
        For each column that the tree asks, the share of rows for which it has to be known.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import CostSensitiveTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["a", "b", "c", "c"]
    >>> model = CostSensitiveTreeClassifier(test_costs=[0.1, 0.2]).fit(X, y)
    >>> print(model.cost_report([[0, 0], [1, 1]], ["a", "b"]))
    2 rows, means of a row:
    questions asked         1.5
    columns asked           1.5
    price of tests          0.2
    cost of labels          0.5
    cost                    0.7
    normalized cost      0.8750
    asks column 0        100.0%
    asks column 1         50.0%
    """

    n_rows: int
    n_tests: float
    n_columns: float
    test_cost: float
    label_cost: float | None
    cost: float | None
    normalized_cost: float | None
    measured: dict[Any, float]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; columns become texts."""
        return {
            **asdict(self),
            "measured": {str(column): share for column, share in self.measured.items()},
        }

    def __repr__(self) -> str:
        cost = "" if self.cost is None else f"cost {self.cost:.6g}, "
        return f"<CostReport: {cost}price of tests {self.test_cost:.6g}, {self.n_rows} rows>"

    def __str__(self) -> str:
        lines = self._lines()
        wide = max(16, *map(len, lines))
        rows = [f"{name:<{wide}} {text:>10}" for name, text in lines.items()]
        return "\n".join([f"{self.n_rows} rows, means of a row:", *rows])

    def _repr_html_(self) -> str:
        facts = table(("mean of a row", "value"), list(self._lines().items()))
        return card(f"Cost report on {self.n_rows} rows", facts)

    def _lines(self) -> dict[str, str]:
        """Return all numbers by their names in words."""
        shown = {
            "questions asked": self.n_tests,
            "columns asked": self.n_columns,
            "price of tests": self.test_cost,
            "cost of labels": self.label_cost,
            "cost": self.cost,
        }
        lines = {name: f"{number:.6g}" for name, number in shown.items() if number is not None}
        if self.normalized_cost is not None:
            lines["normalized cost"] = f"{self.normalized_cost:.4f}"
        for column, share in self.measured.items():
            name = f"column {column}" if isinstance(column, int) else str(column)
            lines[f"asks {name}"] = f"{share:.1%}"
        return lines
