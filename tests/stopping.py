"""Estimators whose searches stop after a fixed amount of work, whatever the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from certree import engine
from certree.fitting.request import Request

_OPTIONS = Request.options


def limit_work(patch: pytest.MonkeyPatch, work: int | Callable[[Request], int]) -> None:
    """Let all searches stop after so much work."""

    def options(self: Request, statement: Any, share: float = 1.0) -> engine.Options:
        most = work if isinstance(work, int) else work(self)
        found = _OPTIONS(self, statement, share)
        return replace(found, extra={**found.extra, "work_limit": most})

    patch.setattr(Request, "options", options)


def stopping(kind: Any, work: int | Callable[[Request], int]) -> Any:
    """Return a class of estimators whose fits stop after so much work."""

    class Stopping(kind):  # type: ignore[misc]
        def fit(self, *given: Any, **more: Any) -> Any:
            with pytest.MonkeyPatch.context() as patch:
                limit_work(patch, work)
                return super().fit(*given, **more)

    Stopping.__name__ = kind.__name__
    return Stopping
