"""The parameters that estimators share: name, type, default and check of each, declared once.

An estimator is a dataclass of its parameters. What it shares with others it inherits from a group
below, and what is its own it declares itself; `with_parameters` makes the constructor of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from certree.encoding._identifiers import IDENTIFIERS

from ._parameters import (
    Check,
    Number,
    OneOf,
    RowsOrShare,
    WholeNumber,
    check_objective,
    check_verbose,
)
from ._suggestions import advise

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[Any], Any]:
        """Return what tells type checkers of constructors, and does nothing else."""
        return lambda decorator: decorator


C = TypeVar("C", bound=type)

SEARCHES = ("auto", "depth-first", "best-first")

_LIMIT = WholeNumber(0, none="no limit")

_SHARED: list[str] = []
"""The names of shared parameters, in the order in which signatures show them."""


def parameter(*, default: Any, check: Check | None = None, kw_only: bool = True) -> Any:
    """Return a parameter of an estimator, with the check that `fit` makes of it.

    Unless `kw_only`, it can also be passed by position.
    """
    return field(default=default, kw_only=kw_only, metadata={"check": check})


def fixed(*, default: Any, init: Literal[False] = False) -> Any:
    """Return what is a parameter of other estimators, and has one value in this one."""
    return field(default=default, init=init)


def fitted(*, init: Literal[False] = False) -> Any:
    """Return an attribute that `fit` sets."""
    return field(init=init)


@dataclass_transform(
    eq_default=False, kw_only_default=True, field_specifiers=(parameter, fixed, fitted)
)
def with_parameters(cls: C) -> C:
    """Give a class the constructor of its parameters: its own first, then the shared ones."""
    made: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=True)(cls)
    checks = {one.name: one.metadata.get("check") for one in fields(made)}
    made._checks = [(name, check) for name, check in checks.items() if check is not None]
    if made.__module__ == __name__:
        _SHARED.extend(one.name for one in fields(made))
        return cls

    def place(one: Parameter) -> tuple[int, int]:
        return one.kind, _SHARED.index(one.name) if one.name in _SHARED else -1

    stated = signature(made.__init__)
    shown = stated.replace(parameters=sorted(stated.parameters.values(), key=place))
    made.__init__ = _with_advice(made.__init__, shown)
    return cls


def _with_advice(plain: Callable[..., None], shown: Signature) -> Callable[..., None]:
    """Return a constructor that says what to write in place of a name that is not known."""
    known = [name for name in shown.parameters if name != "self"]

    @wraps(plain)
    def __init__(self: Any, *args: Any, **given: Any) -> None:
        for name in given:
            if name not in known:
                raise TypeError(
                    f"{type(self).__name__}() got an unexpected keyword argument {name!r}; "
                    f"{advise(name, known)}"
                )
        plain(self, *args, **given)

    __init__.__signature__ = shown  # type: ignore[attr-defined]
    return __init__


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator that have a check."""
    for name, check in estimator._checks:
        check(name, getattr(estimator, name))


def same_parameters(estimator: Any, other: type) -> dict[str, Any]:
    """Return the values of the parameters that another class of estimators has, too."""
    names = {one.name for one in fields(other) if one.init}
    return {
        one.name: getattr(estimator, one.name)
        for one in fields(estimator)
        if one.init and one.name in names
    }


@with_parameters
class SizeParameters:
    """What limits the size of a tree."""

    max_depth: int | None = parameter(default=3, check=_LIMIT)
    max_splits: int | None = parameter(default=None, check=_LIMIT)
    max_leaf_nodes: int | None = parameter(default=None, check=WholeNumber(1, none="no limit"))
    complexity: float = 0.0
    complexity_per: Literal["split", "leaf"] = parameter(
        default="split", check=OneOf(("split", "leaf"))
    )

    # The parameter that a choice of sizes sets, and what it is for a tree without splits.
    _size_parameter: ClassVar[str] = "max_splits"
    _size_of_a_leaf: ClassVar[int] = 0

    def _as_parameters(self, limits: Mapping[str, Any]) -> dict[str, Any]:
        """Return limits on depth, splits and complexity as parameters."""
        named = dict(limits)
        if "max_splits" in named and self._size_parameter != "max_splits":
            most = named.pop("max_splits")
            named[self._size_parameter] = None if most is None else most + self._size_of_a_leaf
        return named

    @property
    def _split_limit(self) -> int | None:
        """Most splits; a binary tree has one leaf more."""
        if self.max_leaf_nodes is not None:
            return int(self.max_leaf_nodes) - 1
        return None if self.max_splits is None else int(self.max_splits)


@with_parameters
class DepthByPosition:
    """The same limit on the depth, which may be passed by position."""

    max_depth: int | None = parameter(default=3, check=_LIMIT, kw_only=False)


@with_parameters
class ClassParameters:
    """What is maximised, and how classes count."""

    objective: Any = parameter(default="accuracy", check=check_objective)
    pos_label: Any = None
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None


@with_parameters
class TableParameters:
    """How tests are derived from a table, and how many rows they must leave together."""

    min_samples_leaf: int | float = parameter(default=1, check=RowsOrShare())
    categorical_features: Any = "auto"
    thresholds: Literal["auto", "all"] | int | Mapping[Any, Any] = "auto"
    min_category_rows: int = parameter(default=1, check=WholeNumber(1))
    category_tests: Literal["one", "subsets", "drop-first", "drop-last"] = parameter(
        default="one", check=OneOf(("one", "subsets", "drop-first", "drop-last"))
    )
    identifiers: Literal["drop", "keep"] = parameter(default="drop", check=OneOf(IDENTIFIERS))


@with_parameters
class SearchParameters:
    """How the search proceeds, and when it may end early."""

    search: Literal["auto", "depth-first", "best-first"] = parameter(
        default="auto", check=OneOf(SEARCHES)
    )
    gap: float = parameter(default=0.0, check=Number(0, text=True))


@with_parameters
class BudgetParameters:
    """What a call may take, and what it shows meanwhile."""

    time_limit: float | None = parameter(
        default=60.0, check=Number(0, minimum_allowed=False, none="no limit")
    )
    memory_limit: int | str | None = "auto"
    n_jobs: int | None = 1
    verbose: int | Literal["auto"] = parameter(default="auto", check=check_verbose)
