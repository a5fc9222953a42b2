"""Parameters of estimators as keywords of functions, without stating them again.

A function names the parameters that it takes by a `TypedDict`, which type checkers read. Defaults
and checks are those of the estimator that it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Literal, TypedDict, TypeVar, cast

from ._suggestions import advise

F = TypeVar("F", bound=Callable[..., Any])


class TableSettings(TypedDict, total=False):
    """What all functions take."""

    min_samples_leaf: int | float
    categorical_features: Any
    thresholds: Literal["auto", "all"] | int | Mapping[Any, Any]
    min_category_rows: int
    category_tests: Literal["one", "subsets", "drop-first", "drop-last"]
    identifiers: Literal["drop", "keep"]
    time_limit: float | None
    memory_limit: int | str | None
    n_jobs: int | None
    verbose: int | Literal["auto"]


class FrontSettings(TableSettings, total=False):
    """What `pareto_front` takes."""

    max_depth: int | None
    max_splits: int | None
    max_leaf_nodes: int | None
    pos_label: Any
    class_weight: Mapping[Any, float] | Literal["balanced"] | None


class PathSettings(TableSettings, total=False):
    """What `regularization_path` takes."""

    splits: Literal["binary", "multiway", "both"]
    max_depth: int | None
    max_splits: int | None
    max_leaf_nodes: int | None
    objective: Any
    class_weight: Mapping[Any, float] | Literal["balanced"] | None


class GapSettings(TableSettings, total=False):
    """What `optimality_gap` takes, beside limits of its own."""

    splits: Literal["binary", "multiway", "both"]
    complexity: float
    complexity_per: Literal["split", "leaf"]
    objective: Any
    pos_label: Any
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    search: Literal["auto", "depth-first", "best-first"]
    gap: float


class TaskSettings(TableSettings, total=False):
    """What `solve` takes."""

    max_depth: int | None
    max_splits: int | None
    max_leaf_nodes: int | None
    complexity: float
    complexity_per: Literal["split", "leaf"]
    test_costs: Any
    search: Literal["auto", "depth-first", "best-first"]
    gap: float


def takes(settings: type, of: type) -> Callable[[F], F]:
    """Let a function take settings that are parameters of an estimator, and show them as its own.

    The function itself has ``**settings``, which it passes to the estimator.
    """

    def decorate(function: F) -> F:
        names = settings.__annotations__
        own = signature(function)
        plain = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        shown = [one for one in signature(of).parameters.values() if one.name in names]
        known = dict.fromkeys([*(one.name for one in plain), *(one.name for one in shown)])

        @wraps(function)
        def checked(*args: Any, **given: Any) -> Any:
            unknown = [name for name in given if name not in known]
            if unknown:
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument {unknown[0]!r}; "
                    f"{advise(unknown[0], known)}"
                )
            return function(*args, **given)

        keywords = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in shown]
        checked.__signature__ = own.replace(parameters=[*plain, *keywords])  # type: ignore[attr-defined]
        return cast(F, checked)

    return decorate
