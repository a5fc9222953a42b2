"""Certified optimal decision trees: the best tree there is, and the proof."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._public import *
    from ._public import __all__ as __all__

_FUNCTIONS = ("report", "verify")
"""Public functions that have the name of their folder."""


class _Package(ModuleType):
    """A package that loads scikit-learn and all its parts when the first of them is asked for."""

    def __setattr__(self, name: str, value: Any) -> None:
        # The import of a folder binds its name here, which belongs to the function.
        if name not in _FUNCTIONS or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name not in _FUNCTIONS:
            try:
                return import_module(f"{__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":
                    raise
        public = import_module(f"{__name__}.{'_version' if name == '__version__' else '_public'}")
        if not hasattr(public, name):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(public, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        public = self.__all__  # first: what is loaded for it changes the names of the package
        folders = (name for _, name, _ in iter_modules(self.__path__) if not name.startswith("_"))
        dunders = (name for name in vars(self) if name.startswith("__"))
        return sorted({*public, *folders, *dunders})


sys.modules[__name__].__class__ = _Package
