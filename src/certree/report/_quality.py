"""How good a tree is on some rows: metrics, confusion, calibration, residuals, values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)

from certree.estimators._task_tree import BaseTaskTree
from certree.leaves.numbers.estimator import explained_share
from certree.leaves.survival.event_times import concordance
from certree.tree import SeveralNumbers, SurvivalLeaves, Tree
from certree.tree._wording import one_line, plain, shorten

from ._choices import objective_name
from ._given import MOST_LETTERS, ReportRows
from ._ranges import FEWEST, bins_of, counts_in_bins

Metric = tuple[str, float, str]


def quality(
    model: Any, kind: str, tree: Tree, rows: ReportRows, fewest: int = FEWEST
) -> dict[str, Any] | None:
    """Return the quality of a tree on rows, as far as something is known of them.

    Parameters
    ----------
    model : estimator or None
        Whose tree it is, or could be.
    kind : str
        What the tree predicts.
    tree : Tree
        The tree.
    rows : ReportRows
        The rows.
    fewest : int
        Leaves with fewer of these rows are left out of charts.
    """
    told = {"name": rows.name, "n": rows.table.n_rows}
    if kind == "treatments":
        found = _of_treatments(model, tree, rows)
    elif kind == "decisions":
        found = _of_decisions(model, tree, rows)
    elif kind == "clusters":
        found = _of_clusters(model, tree, rows)
    elif rows.y is None or kind == "other":
        found = None
    elif kind == "outputs":
        found = _of_outputs(tree, rows)
    elif kind == "numbers":
        found = _of_numbers(model, tree, rows, fewest)
    elif kind == "risks":
        found = _of_risks(tree, rows)
    else:
        found = _of_classes(model, tree, rows, fewest)
    if found is None:
        return None
    found["metrics"] = [[name, _number(value), help] for name, value, help in found["metrics"]]
    return {**told, **found}


def _number(value: float) -> str:
    return "not defined" if not np.isfinite(value) else f"{value:.4g}"


def class_codes(tree: Tree, rows: ReportRows) -> tuple[NDArray[np.intp], list[str]]:
    """Return the class of each row, and the names of all classes: those of the tree come first."""
    known = {plain(label): code for code, label in enumerate(tree.classes)}
    names = [str(label) for label in known]
    labels, codes = rows.labels
    places = []
    for label in labels:
        if label not in known:
            names.append(str(label))
        places.append(known.get(label, len(names) - 1))
    return np.array(places, dtype=np.intp)[codes], names


# ---- classes -------------------------------------------------------------------------------------


def _of_classes(model: Any, tree: Tree, rows: ReportRows, fewest: int) -> dict[str, Any]:
    true, names = class_codes(tree, rows)
    classes = [plain(label) for label in tree.classes]
    unseen = len(names) > len(classes)
    said = tree.label[tree.apply(rows.table)]
    table = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(table, (true, said), 1)
    metrics: list[Metric] = [
        ("Accuracy", float(np.mean(true == said)), "share of rows that are predicted right"),
        (
            "Balanced accuracy",
            float(_quietly(balanced_accuracy_score, true, said)),
            "mean over the classes of the share predicted right",
        ),
    ]
    shares = tree.predict_proba(rows.table)
    if len(names) == 2 and not unseen:
        metrics += _of_two(model, classes, true, said, shares)
    else:
        score = _quietly(f1_score, true, said, average="macro")
        metrics.append(("Macro F1", float(score), "mean of the F1 of all classes"))
    if not unseen and len(classes) > 1:
        loss = _quietly(log_loss, true, shares, labels=list(range(len(classes))))
        metrics.append(("Log loss", float(loss), "how well shares of leaves fit; less is better"))
    metrics += _of_task(model, tree, rows)
    return {
        "metrics": metrics,
        "confusion": {
            "names": [shorten(name, MOST_LETTERS) for name in names],
            "counts": table.tolist(),
        },
        "calibration": _calibration(model, tree, rows, true, shares, fewest),
    }


def _of_two(
    model: Any, classes: list[Any], true: Any, said: Any, shares: NDArray[np.float64]
) -> list[Metric]:
    positive = _positive(model, classes)
    name = one_line(str(classes[positive]))
    is_true, is_said = true == positive, said == positive
    hits = np.count_nonzero(is_true & is_said)

    def share(part: Any, whole: Any) -> float:
        return float(part) / float(whole) if whole else float("nan")

    metrics: list[Metric] = [
        (
            "Sensitivity",
            share(hits, np.count_nonzero(is_true)),
            f"share of {name} rows that are found (recall)",
        ),
        (
            "Specificity",
            share(np.count_nonzero(~is_true & ~is_said), np.count_nonzero(~is_true)),
            f"share of other rows that are not called {name}",
        ),
        (
            "Precision",
            share(hits, np.count_nonzero(is_said)),
            f"share of rows called {name} that are",
        ),
        (
            "F1",
            share(2 * hits, np.count_nonzero(is_true) + np.count_nonzero(is_said)),
            "harmonic mean of precision and sensitivity",
        ),
    ]
    if 0 < np.count_nonzero(is_true) < len(is_true):
        area = float(roc_auc_score(is_true, shares[:, positive]))
        metrics.append(("AUC", area, "area under the ROC curve"))
    brier = float(np.mean(np.square(shares[:, positive] - is_true)))
    metrics.append(("Brier score", brier, "mean square of share minus truth; less is better"))
    return metrics


def _positive(model: Any, classes: list[Any]) -> int:
    """Return the positive class of two: that of the model, or the second."""
    wanted = getattr(getattr(model, "certificate_", None), "pos_label", None)
    if wanted is None:
        wanted = getattr(model, "pos_label", None)
    return classes.index(wanted) if wanted is not None and wanted in classes else 1


def _of_task(model: Any, tree: Tree, rows: ReportRows) -> list[Metric]:
    """Return what estimators with a cost of their own minimise, by their score."""
    if not isinstance(model, BaseTaskTree) or tree is not model.tree_:
        return []
    scored: Any = model
    try:
        cost = -float(scored.score(rows.X, rows.y))
    except ValueError:  # the costs of rows were given to fit alone
        return []
    name = objective_name(dict(model.certificate_._facts())["objective"])
    return [(name[:1].upper() + name[1:], cost, "what the model minimises; less is better")]


def _calibration(
    model: Any, tree: Tree, rows: ReportRows, true: Any, shares: NDArray[np.float64], fewest: int
) -> dict[str, Any]:
    """Return for each leaf the share that it states, and the share among these rows."""
    leaves = tree.apply(rows.table)
    binary = len(tree.classes) == 2
    positive = _positive(model, [plain(label) for label in tree.classes]) if binary else -1
    points = []
    kept, n_left_out = _leaves_of_many(leaves, fewest)
    for leaf in kept:
        at = leaves == leaf
        code = positive if binary else int(tree.label[leaf])
        stated, seen = float(shares[at][0, code]), float(np.mean(true[at] == code))
        name = one_line(str(plain(tree.classes[code])))
        points.append([stated, seen, int(np.count_nonzero(at)), name])
    of = one_line(str(plain(tree.classes[positive]))) if binary else "the predicted class"
    return {"points": points, "of": of, "left_out": n_left_out}


def _leaves_of_many(leaves: NDArray[Any], fewest: int) -> tuple[list[int], int]:
    """Return the leaves that enough rows are in, and how many others there are."""
    found, sizes = np.unique(leaves, return_counts=True)
    kept = found[sizes >= fewest].tolist()
    return kept, len(found) - len(kept)


def _quietly(score: Any, *arguments: Any, **parameters: Any) -> Any:
    """Return a score; a class that does not occur is no reason to warn the reader."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return score(*arguments, **parameters)


# ---- numbers -------------------------------------------------------------------------------------


def _of_numbers(model: Any, tree: Tree, rows: ReportRows, fewest: int) -> dict[str, Any]:
    y = rows.y
    assert y is not None
    leaves = tree.apply(rows.table)
    said = np.asarray(tree.payload.predict(leaves, rows.table), dtype=np.float64)
    errors = y - said
    metrics: list[Metric] = [
        (
            "R2",
            float(r2_score(y, said)) if len(y) > 1 else float("nan"),
            "share of the squared deviations that is explained; 1 is best",
        ),
        ("MAE", float(mean_absolute_error(y, said)), "mean absolute error"),
        ("RMSE", float(np.sqrt(np.mean(np.square(errors)))), "root of the mean squared error"),
        ("Median error", float(np.median(np.abs(errors))), "half of the rows are closer"),
        ("Bias", _bias(errors), "mean of true minus predicted value"),
    ]
    if getattr(model, "criterion", "squared_error") != "squared_error" and len(y) > 1:
        help = f"share of the loss of criterion={model.criterion!r} that is explained; 1 is best"
        metrics.insert(0, ("D2", explained_share(model, y, said), help))
    points = []
    kept, n_left_out = _leaves_of_many(leaves, fewest)
    for leaf in kept:
        at = leaves == leaf
        n_rows = int(np.count_nonzero(at))
        # Constants stay what they are; formulas are compared by their mean.
        mean = said[at][0] if not tree.payload.needs else np.mean(said[at])
        points.append([float(mean), float(np.mean(y[at])), n_rows, tree.payload.describe(leaf)])
    means = {"points": points, "left_out": n_left_out}
    return {"metrics": metrics, "residuals": _residuals(errors, fewest), "means": means}


def _bias(errors: NDArray[np.float64]) -> float:
    """Return the mean error; what is only rounding is zero."""
    mean, size = float(np.mean(errors)), float(np.mean(np.abs(errors)))
    return 0.0 if abs(mean) < 1e-9 * size else mean


def _residuals(errors: NDArray[np.float64], fewest: int) -> dict[str, Any] | None:
    """Return the residuals in bars; the outer ones hold the rest. None if there are too few."""
    bins = bins_of(errors, 0.0, fewest)
    if bins is None:
        return None
    low, high, number = bins
    counts = np.bincount(counts_in_bins(errors, bins), minlength=number)
    return {"low": low, "high": high, "cut": 0.0, "bins": [counts.tolist()]}


# ---- risks ---------------------------------------------------------------------------------------


def _of_risks(tree: Tree, rows: ReportRows) -> dict[str, Any]:
    """Return whether risks put rows in order, and whether as many events happen as expected."""
    y, leaves = rows.y, tree.payload
    assert y is not None
    assert isinstance(leaves, SurvivalLeaves)
    risk = leaves.predict(tree.apply(rows.table))
    events = int(np.count_nonzero(y["event"]))
    expected = float(np.sum(risk * leaves.hazard_at(y["time"])))
    agree = concordance(y["time"], y["event"], risk, [1] * len(risk))
    metrics: list[Metric] = [
        ("Concordance", agree, "share of pairs that risks put in order (Harrell); 0.5 is chance"),
        ("Events", float(events), "rows whose event was seen"),
        ("Expected events", expected, "by the curves that the tree predicts"),
    ]
    return {"metrics": metrics}


def _of_outputs(tree: Tree, rows: ReportRows) -> dict[str, Any]:
    """Return how good the predictions of each output are."""
    y, said = rows.y, tree.predict(rows.table)
    assert y is not None
    names = [one_line(name) for name, _ in tree.payload.outputs()]
    if y.shape != said.shape:
        raise ValueError(f"y must have a column for each of {len(names)} outputs, got {y.shape}.")
    metrics: list[Metric] = []
    if isinstance(tree.payload, SeveralNumbers):
        for name, true, got in zip(names, y.astype(np.float64).T, said.T, strict=True):
            explained = float(r2_score(true, got)) if len(true) > 1 else float("nan")
            metrics += [
                (f"R2 of {name}", explained, "share of the squared deviations that is explained"),
                (f"MAE of {name}", float(mean_absolute_error(true, got)), "mean absolute error"),
            ]
        return {"metrics": metrics}
    right = y == said
    metrics.append(("All right", float(right.all(axis=1).mean()), "rows with no wrong output"))
    for name, of in zip(names, right.T, strict=True):
        metrics.append((f"Accuracy of {name}", float(of.mean()), "share that is predicted right"))
    return {"metrics": metrics}


def _of_clusters(model: Any, tree: Tree, rows: ReportRows) -> dict[str, Any]:
    """Return how many rows clusters have, and what their centres explain of the distances."""
    said = tree.predict(rows.table)
    sizes = np.bincount(said, minlength=tree.payload.n_contents)
    counts = [[f"cluster {number}", int(size)] for number, size in enumerate(sizes)]
    metrics: list[Metric] = []
    if model is not None and tree is model.tree_:
        share = model._score_part(rows.X, None)
        told = "of the squared distances from one centre, what the centres of all clusters save"
        metrics.append(("Variance explained", share, told))
    return {"metrics": metrics, "counts": {"title": "Rows of each cluster", "rows": counts}}


# ---- treatments and decisions --------------------------------------------------------------------


def _of_treatments(model: Any, tree: Tree, rows: ReportRows) -> dict[str, Any] | None:
    """Return the value of a policy, by rewards of all treatments; or whom it gives what."""
    said = tree.label[tree.apply(rows.table)]
    names = [one_line(str(plain(label))) for label in tree.classes]
    given = np.bincount(said, minlength=len(names))
    bars = {
        "title": "Rows that get each treatment",
        "rows": [[name, int(n)] for name, n in zip(names, given, strict=True)],
    }
    rewards = rows.y
    if rewards is None and len(model.rewards_) == rows.table.n_rows:
        rewards = model.rewards_
    if rewards is None or rewards.ndim == 1:
        return {"metrics": [], "counts": bars} if rewards is None else _agreement(tree, rows, bars)
    if rewards.shape[1] != len(names):
        raise ValueError(
            f"y has {rewards.shape[1]} columns of rewards, but there are {len(names)} treatments."
        )
    rewards = rewards.astype(np.float64)
    better = np.max if model.maximise else np.min
    reached = float(np.mean(rewards[np.arange(len(said)), said]))
    metrics: list[Metric] = [("Policy", reached, "mean reward of what the tree recommends")]
    for code, name in enumerate(names):
        all_get = float(np.mean(rewards[:, code]))
        metrics.append((f"{name} for all", all_get, "mean reward of one treatment for everyone"))
    best = float(np.mean(better(rewards, axis=1)))
    metrics.append(("Best for each", best, "mean of the best score of each row; an ideal"))
    return {"metrics": metrics, "counts": bars}


def _agreement(tree: Tree, rows: ReportRows, bars: dict[str, Any]) -> dict[str, Any]:
    """Return how often rows were given what the tree recommends."""
    assert rows.y is not None
    said = tree.predict(rows.table)
    same = [plain(a) == plain(b) for a, b in zip(said, rows.y, strict=True)]
    metrics: list[Metric] = [
        ("Agreement", float(np.mean(same)), "share of rows that were given what the tree says")
    ]
    return {"metrics": metrics, "counts": bars}


def _of_decisions(model: Any, tree: Tree, rows: ReportRows) -> dict[str, Any] | None:
    """Return what decisions cost, beside the best ones."""
    leaves = tree.apply(rows.table)
    taken = np.bincount(tree.label[leaves], minlength=tree.payload.n_contents)
    names = [one_line(tree.payload.name(k)) for k in range(tree.payload.n_contents)]
    bars = {
        "title": "Rows that get each decision",
        "rows": [[name, int(n)] for name, n in zip(names, taken, strict=True)],
    }
    if rows.y is None or model is None:
        return {"metrics": [], "counts": bars}
    costs = np.asarray(rows.y, dtype=np.float64).reshape(rows.table.n_rows, -1)
    oracle = model.oracle_
    if costs.shape[1] != oracle.n_costs:
        raise ValueError(
            f"y has {costs.shape[1]} columns, but the oracle decides on {oracle.n_costs} costs."
        )
    reached = np.einsum("ij,ij->i", costs, tree.payload.predict(leaves))
    best = oracle.solve(costs).values
    sign = 1.0 if oracle.sense == "min" else -1.0
    word = "cost" if sign > 0 else "reward"
    lost = float(np.mean(np.maximum(sign * (reached - best), 0.0)))
    metrics: list[Metric] = [
        (f"Mean {word}", float(np.mean(reached)), "of the decisions that the tree takes"),
        (f"Best {word}", float(np.mean(best)), "if all costs were known"),
        ("Mean loss", lost, "the difference: the SPO loss; less is better"),
    ]
    return {"metrics": metrics, "counts": bars}
