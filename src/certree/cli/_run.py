"""The application: its commands, and what becomes of warnings and errors."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import typer

from certree._version import __version__
from certree.exceptions import CertificateError

from . import _learning, _using
from ._printing import remark, say
from ._problems import FAILURE, USAGE, UsageProblem

_HELP = """Learn certified optimal decision trees from tables.

Exit codes: 0 proven best, 3 stopped with a gap, 2 wrong usage or input, 1 failure.

The first Ctrl-C ends a search with the best tree so far, which is kept; the second one ends the
program.
"""

_COMMANDS: dict[str, Callable[..., int]] = {
    "fit": _learning.fit,
    "predict": _using.predict,
    "show": _using.show,
    "explain": _using.explain,
    "verify": _using.verify_model,
    "path": _learning.path,
    "front": _learning.front,
    "compare": _learning.compare,
    "report": _using.report_model,
    "info": _using.info,
}


def run(arguments: Sequence[str]) -> int:
    """Run a command, and return its exit code."""
    app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback(help=_HELP)(_callback)
    for name, command in _COMMANDS.items():
        app.command(name)(_guarded(command))
    try:
        app(args=list(arguments), prog_name="certree")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILURE
    return 0


def _say_version(wanted: bool) -> None:
    if wanted:
        say(f"certree {__version__}")
        raise typer.Exit


def _callback(
    version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=_say_version
    ),
) -> None:
    """Do nothing but take the options that are for all commands."""


def _guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Turn errors of a command into one line and an exit code, and warnings into remarks."""

    @wraps(command)
    def guarded(*args: Any, **given: Any) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("always", UserWarning)
            raise typer.Exit(_code_of(lambda: command(*args, **given)))

    return guarded


def _code_of(command: Callable[[], int]) -> int:
    try:
        return command()
    except BrokenPipeError:  # such as `certree predict ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except CertificateError as error:
        remark(f"the certificate is wrong: {error}", "red")
        return FAILURE
    except (UsageProblem, ValueError, TypeError) as error:
        remark(str(error), "red")
        return USAGE
    except KeyboardInterrupt:
        remark("interrupted; nothing was written.", "red")
        return FAILURE
    except MemoryError:
        remark("the memory does not suffice; lower --memory-limit or --thresholds.", "red")
        return FAILURE
    except (ImportError, OSError) as error:
        remark(str(error), "red")
        return FAILURE
    except Exception as error:
        if "CERTREE_DEBUG" in os.environ:
            raise
        remark(
            f"an error of certree itself, {type(error).__name__}: {error}. Please report it, with "
            "the traceback that CERTREE_DEBUG=1 shows.",
            "red",
        )
        return FAILURE


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    remark(str(message))
