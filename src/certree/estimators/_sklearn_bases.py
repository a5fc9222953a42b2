"""The base classes of scikit-learn, with the types that it does not ship.

Without these, type checkers take our classes for anything at all, and accept every argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

    class BaseEstimator:
        """Parameters by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
        def __sklearn_clone__(self) -> Self: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...
        def _repr_html_inner(self) -> str: ...
        def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]: ...

    class ClassifierMixin:
        """A score: the accuracy."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin(ClassifierMixin):
        """A score: R2."""

    class ClusterMixin:
        """Clusters of the rows of `fit`."""

        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin

__all__ = ["BaseEstimator", "ClassifierMixin", "ClusterMixin", "RegressorMixin"]
