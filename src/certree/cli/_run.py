"""The application: its commands, and what becomes of warnings and errors."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any

import typer

from certree.exceptions import CertificateError

from . import _commands
from ._help import Command, Group
from ._printing import remark, say
from ._problems import FAILURE, INTERRUPTED, PIPE_CLOSED, PROVEN, USAGE, UsageProblem

_HELP = """Learn certified optimal decision trees from tables.

Exit codes: 0 proven best, 3 stopped with a gap, 2 wrong usage or input, 1 failure, 130 Ctrl-C.

The first Ctrl-C ends a search with the best tree so far, which is kept; the second one ends the
program.
"""

_COMMANDS: dict[str, Callable[..., int]] = {
    "fit": _commands.fit,
    "predict": _commands.predict,
    "show": _commands.show,
    "explain": _commands.explain,
    "verify": _commands.verify_model,
    "path": _commands.path,
    "front": _commands.front,
    "compare": _commands.compare,
    "report": _commands.report_model,
    "info": _commands.info,
}


def run(arguments: Sequence[str]) -> int:
    """Run a command, and return its exit code."""
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback(cls=Group, help=_HELP)(_callback)
    # Typer takes its time for each command.
    asked = [name for name in arguments[:1] if name in _COMMANDS]
    for name in asked or _COMMANDS:
        app.command(name, cls=Command)(_guarded(_COMMANDS[name]))
    try:
        code = app(args=list(arguments), prog_name="certree", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as end:
        # Typer and rich end like this, and completion does.
        code = PIPE_CLOSED if isinstance(end.__context__, BrokenPipeError) else end.code
    except BrokenPipeError:
        code = PIPE_CLOSED
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return _refuse(error)
    if code == PIPE_CLOSED:  # as by `certree predict ... | head`: what is left has no reader
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code if isinstance(code, int) else PROVEN


def _refuse(error: Any) -> int:
    """Say in one line what is wrong with the arguments; without any, show what there is."""
    context = getattr(error, "ctx", None)
    text = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(text, err=True)
        return USAGE
    where = "certree" if context is None else context.command_path
    is_unknown = type(error).__name__ == "NoSuchOption" and not error.possibilities
    if is_unknown and context is not None:
        text = f"{text.removesuffix('.')}{_advice(error.option_name, context)}"
    remark(f"{text.removesuffix('.')}; see {where} --help.", "red")
    return USAGE


def _advice(name: str, context: Any) -> str:
    """Return what certree calls an option of another package; nothing if it has none."""
    own = import_module("certree.estimators._suggestions").own_name  # scikit-learn takes its time
    known = [_plain(option) for one in context.command.params for option in one.opts]
    found = own(_plain(name), known)
    return "" if found is None else f"; certree calls it --{found[0].replace('_', '-')}, {found[1]}"


def _plain(option: str) -> str:
    """Return the name that an option has in Python."""
    return option.lstrip("-").replace("-", "_")


def _say_version(wanted: bool) -> None:
    if wanted:
        say(f"certree {import_module('certree._version').__version__}")
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
    except BrokenPipeError:
        raise
    except CertificateError as error:
        remark(f"the certificate is wrong: {error}", "red")
        return FAILURE
    except (UsageProblem, ValueError, TypeError) as error:
        remark(str(error), "red")
        return USAGE
    except KeyboardInterrupt:
        remark("interrupted; nothing was written.", "red")
        return INTERRUPTED
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
    # Python's way to say it, in the words of the command line.
    remark(re.sub(r"\b(objective|identifiers)='(\w+)'", r"--\1 \2", str(message)))
