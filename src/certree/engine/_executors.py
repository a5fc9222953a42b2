"""Executors: what users give, what runs tasks, and which version of certree its workers have."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future
from importlib import import_module
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from certree._version import __version__

if TYPE_CHECKING:
    from ._scalar import Callback as SearchCallback
    from ._scalar import CoreTable, Options, Result


def solve_shared(
    problem: CoreTable, options: Options, callback: SearchCallback | None = None
) -> Result:
    """Share one search among the workers of an executor, by code that loads with the first one."""
    shared = import_module("certree.engine._shared_search")
    result: Result = shared.solve_shared(problem, options, callback)
    return result


class Inline(Executor):
    """An executor that does the work itself, at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function now."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class RayTasks(Executor):
    """Ray's tasks as an executor.

    Parameters
    ----------
    ray : module
        Ray, after ``ray.init()``.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._remote: dict[Any, Any] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a task."""
        if fn not in self._remote:
            self._remote[fn] = self._ray.remote(fn)
        future: Future[Any] = self._remote[fn].remote(*args, **kwargs).future()
        return future

    @property
    def n_workers(self) -> int:
        """Processors of the cluster."""
        return int(self._ray.cluster_resources().get("CPU", 1))


def is_executor(given: Any) -> bool:
    """Whether this is an executor, or something that makes or stands for one."""
    return (
        given is None
        or callable(getattr(given, "submit", None))
        or _is_ray(given)
        or callable(given)
    )


def _is_ray(given: Any) -> bool:
    return getattr(given, "__name__", None) == "ray" and hasattr(given, "cluster_resources")


def open_executor(given: Any) -> Executor:
    """Return the executor given, that of a Dask client or of Ray, or what a function makes."""
    if _is_ray(given):
        return RayTasks(given)
    if hasattr(given, "get_executor"):  # a client of Dask
        if getattr(given, "status", None) in ("closing", "closed"):
            raise ValueError(f"executor={given!r} takes no tasks: the client is closed.")
        return given.get_executor()  # type: ignore[no-any-return]
    if callable(getattr(given, "submit", None)):
        return given  # type: ignore[no-any-return]
    made = given()
    if not callable(getattr(made, "submit", None)):
        raise TypeError(
            f"executor={given!r} is a function that must return an executor, and returned {made!r}."
        )
    return made  # type: ignore[no-any-return]


def can_be_renewed(given: Any) -> bool:
    """Whether there is a second executor when the first one breaks."""
    return not callable(getattr(given, "submit", None)) and not _is_ray(given)


def close_executor(given: Any, executor: Executor) -> None:
    """Let go of the workers of an executor that a function made for one search."""
    if can_be_renewed(given):
        executor.shutdown(wait=False)


def worker_count(executor: Any) -> int:
    """Return how many tasks an executor runs at the same time, as far as it says so."""
    if isinstance(executor, Inline):
        return 1
    for name in ("n_workers", "_max_workers"):
        if isinstance(getattr(executor, name, None), int):
            return max(int(getattr(executor, name)), 1)
    client = getattr(executor, "_client", None)  # of Dask
    if client is not None and hasattr(client, "nthreads"):
        return max(int(sum(client.nthreads().values())), 1)
    return os.cpu_count() or 1


def check_workers(future: Future[Any], timeout: float | None) -> None:
    """Raise one clear error if a worker has no certree, or another version of it."""
    try:
        version = future.result(timeout)
    except ImportError as error:
        raise no_certree(error) from error
    check_version(version)


def no_certree(error: BaseException) -> RuntimeError:
    """Return the error for workers that cannot import certree."""
    return RuntimeError(
        f"A worker of the executor cannot import certree ({error}). Install certree {__version__} "
        "where the workers run."
    )


def check_version(version: str) -> None:
    """Raise if a worker has another version."""
    if version != __version__:
        raise RuntimeError(
            f"A worker of the executor has certree {version}, and this process has {__version__}: "
            "install the same version in both places."
        )


def ask_version(executor: Executor) -> Future[Any]:
    """Ask a worker for its version, by a function that Python itself has."""
    return executor.submit(resolve_name, "certree:__version__")
