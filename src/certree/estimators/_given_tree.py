"""The one tree that users ask about: alone, in a pipeline, or in a fitted search."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from certree.tree import Labels, Numbers, Tree
from certree.tree._from_sklearn import is_sklearn_tree


def unwrap(given: Any, X: Any) -> tuple[Any, Any]:
    """Return the tree inside pipelines and searches, and the table that it was fitted on.

    Parameters
    ----------
    given : object
        A tree, a fitted estimator with one, a pipeline that ends with one, or a fitted search.
    X : table
        What the outermost of these takes.

    Raises
    ------
    TypeError
        If there is not one tree.
    ValueError
        If something is not fitted.
    """
    while not isinstance(getattr(given, "tree_", given), Tree) and not is_sklearn_tree(given):
        if hasattr(given, "steps") and hasattr(given, "named_steps"):
            X, given = _transformed(given, X), given.steps[-1][1]
        elif hasattr(given, "best_estimator_"):
            given = given.best_estimator_
        else:
            raise _refusal(given)
    return given, X


def _transformed(pipeline: Any, X: Any) -> Any:
    """Return the table that the last step of a pipeline gets."""
    try:
        check_is_fitted(pipeline)
    except NotFittedError:
        raise ValueError("The pipeline is not fitted; call its fit first.") from None
    return pipeline[:-1].transform(X) if len(pipeline.steps) > 1 else X


def _refusal(given: Any) -> Exception:
    """Return the error for something that is not one tree."""
    name = type(given).__name__
    if hasattr(given, "estimators_") or hasattr(given, "n_estimators"):
        return TypeError(f"{name} has many trees; pass one of them, such as estimators_[0].")
    if hasattr(given, "estimator") and hasattr(given, "refit"):
        return ValueError(f"{name} has no best_estimator_; call its fit, with refit=True.")
    if hasattr(given, "get_params") and type(given).__module__.startswith("certree"):
        return ValueError(f"This {name} is not fitted; call its fit first.")
    return TypeError(
        "A tree must be a certree Tree, a fitted estimator of certree, a fitted scikit-learn "
        "DecisionTreeClassifier or DecisionTreeRegressor, a pipeline that ends with one of these, "
        f"or a fitted search for one; got {name}."
    )


def predicts_numbers(given: Any) -> bool:
    """Return whether a tree is one for regression.

    Raises
    ------
    TypeError
        If its leaves hold neither classes nor numbers.
    """
    tree = getattr(given, "tree_", given)
    if isinstance(tree, Tree):
        if not isinstance(tree.payload, Labels | Numbers):
            raise TypeError(
                f"optimality_gap compares trees that predict a class or a number, and this "
                f"{type(given).__name__} predicts something else; the certificate_ of its "
                "estimator says how far it is from the best."
            )
        return isinstance(tree.payload, Numbers)
    return bool(hasattr(given, "get_params") and is_regressor(given))
