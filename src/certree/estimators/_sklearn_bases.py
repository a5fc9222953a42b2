"""The base classes of scikit-learn, with the types that it does not ship.

Without these, type checkers take our classes for anything at all, and accept every argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

    class BaseEstimator:
        """Parameters as attributes."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters by name."""
            ...

        def set_params(self, **params: Any) -> Self:
            """Set parameters by name."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """What scikit-learn adds to classifiers."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Return the accuracy."""
            ...

        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin:
        """What scikit-learn adds to regressors."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Return R2."""
            ...

        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin"]
