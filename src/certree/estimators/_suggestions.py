"""The names of certree for what users call by the names of other packages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_PENALTY = "the penalty per split, in units of the objective"
_ROWS = "the fewest rows in a leaf, as a number or a share"
_MEASURE = "what is maximised"

_PARAMETERS = {
    "ccp_alpha": ("complexity", _PENALTY),
    "cost_complexity": ("complexity", _PENALTY),
    "min_impurity_decrease": ("complexity", _PENALTY),
    "regularization": ("complexity", _PENALTY),
    "alpha": ("complexity", _PENALTY),
    "criterion": ("objective", _MEASURE),
    "metric": ("objective", _MEASURE),
    "scoring": ("objective", _MEASURE),
    "loss": ("criterion", "what is minimised"),
    "optimization_task": ("objective", _MEASURE),
    "min_samples_split": ("min_samples_leaf", _ROWS),
    "min_weight_fraction_leaf": ("min_samples_leaf", _ROWS),
    "min_leaf_node_size": ("min_samples_leaf", _ROWS),
    "depth_budget": ("max_depth", "the most questions on a path"),
    "depth": ("max_depth", "the most questions on a path"),
    "max_num_nodes": ("max_splits", "the most questions in the tree"),
    "max_nodes": ("max_splits", "the most questions in the tree"),
    "max_leaves": ("max_leaf_nodes", "the most leaves"),
    "timeout": ("time_limit", "in seconds"),
    "max_time": ("time_limit", "in seconds"),
    "max_bins": ("thresholds", "the most cut points of a column"),
    "cat_features": ("categorical_features", "columns that hold names"),
    "scale_pos_weight": ("class_weight", "the weight of each class"),
    "n_threads": ("n_jobs", "the number of threads"),
}
"""Names of scikit-learn and of other packages for trees, and what certree has in their place."""

_IN_PLACE = {
    "objective": ("criterion", "what is minimised"),
    "criterion": ("objective", _MEASURE),
    "max_depth": ("depths", "the depths to choose from"),
    "max_splits": ("sizes", "the numbers of splits to choose from"),
    "max_leaf_nodes": ("sizes", "the numbers of splits to choose from"),
    "complexity": ("complexities", "the penalties to choose from"),
}
"""What an estimator has in place of a parameter of others, as cross-validation of a limit."""

_NEEDLESS = {
    "random_state": "the search leaves nothing to chance",
    "seed": "the search leaves nothing to chance",
    "splitter": "all splits are searched",
    "max_features": "all columns are searched",
    "presort": "certree sorts columns as it needs",
    "monotonic_cst": "certree has no constraints on the direction of a column",
}
"""Names of scikit-learn that stand for nothing here, and why."""

_SCORERS = {
    "roc_auc": "auc",
    "average_precision": "auc",
    "neg_log_loss": "auc",
    "log_loss": "auc",
    "neg_brier_score": "auc",
    "gini": "accuracy",
    "entropy": "accuracy",
    "misclassification": "accuracy",
    "f1_binary": "f1",
    "f1_score": "f1",
    "f1_macro": "macro_f1",
    "f1_micro": "accuracy",
    "matthews_corrcoef": "mcc",
    "cohen_kappa_score": "cohen_kappa",
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "balanced": "balanced_accuracy",
    "recall": "balanced_accuracy",
    "recall_macro": "balanced_accuracy",
    "precision": "f1",
    "sensitivity": "balanced_accuracy",
    "youden": "informedness",
    "iou": "jaccard",
    "geometric_mean": "gmean",
}
"""Names of scikit-learn's scorers and the like, and the nearest objective of certree."""


_VALUES = {
    "mse": "squared_error",
    "friedman_mse": "squared_error",
    "variance": "squared_error",
    "l2": "squared_error",
    "mae": "absolute_error",
    "l1": "absolute_error",
    "median": "absolute_error",
    "pinball": "quantile",
    "pinball_loss": "quantile",
    "poisson_deviance": "poisson",
    "gamma_deviance": "gamma",
}
"""Values of parameters in other packages, and those of certree."""


def advise(name: str, known: Iterable[str]) -> str:
    """Return what to write in place of a parameter that is not known.

    Parameters
    ----------
    name : str
        What was given.
    known : iterable of str
        The names of parameters.

    Examples
    --------
    >>> advise("ccp_alpha", ["complexity"])
    'certree calls it complexity, the penalty per split, in units of the objective.'
    >>> advise("max_dept", ["max_depth", "max_splits"])
    'did you mean max_depth?'
    """
    names = list(known)
    own = own_name(name, names)
    if own is not None:
        return f"certree calls it {own[0]}, {own[1]}."
    if name in _NEEDLESS:
        return f"leave it out: {_NEEDLESS[name]}."
    near = get_close_matches(name.lower(), names, n=1, cutoff=0.7)
    if near:
        return f"did you mean {near[0]}?"
    return f"its parameters are {', '.join(names)}."


def own_name(name: str, known: Iterable[str]) -> tuple[str, str] | None:
    """Return what certree calls a parameter of another package, and what it is; None: nothing.

    Examples
    --------
    >>> own_name("timeout", ["max_depth", "time_limit"])
    ('time_limit', 'in seconds')
    """
    names = list(known)
    other, meaning = _PARAMETERS.get(name, (name, ""))
    if other not in names:
        other, meaning = _IN_PLACE.get(other, (other, meaning))
    return (other, meaning) if other in names else None


def nearest_value(value: str, known: Iterable[str]) -> str | None:
    """Return the value of a parameter that a text most likely means; None if there is none.

    Examples
    --------
    >>> nearest_value("friedman_mse", ["squared_error", "absolute_error"])
    'squared_error'
    """
    names, plain = list(known), value.lower()
    if _VALUES.get(plain) in names:
        return _VALUES[plain]
    near = get_close_matches(plain, names, n=1, cutoff=0.7)
    return near[0] if near else None


def nearest_objective(name: str, known: Iterable[str]) -> str | None:
    """Return the objective that a name most likely means; None if there is none."""
    names = list(known)
    plain = name.lower().replace("-", "_").replace(" ", "_")
    plain = plain.removesuffix("_weighted").removesuffix("_ovr").removesuffix("_ovo")
    if plain in names:
        return plain
    near = get_close_matches(plain, names, n=1, cutoff=0.7)
    return _SCORERS.get(plain) or (near[0] if near else None)
