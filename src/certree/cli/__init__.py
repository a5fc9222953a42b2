"""The command line: ``certree fit``, ``predict``, ``show`` and so on.

It reads tables from files, asks the rest of the package, and prints. Typer and rich come with the
extra ``cli``; the rest of the package needs neither.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from importlib.util import find_spec

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    # Nothing has begun, and libraries may turn the interrupt of their import into another error.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    missing = [name for name in ("typer", "rich") if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"certree: the command line needs {' and '.join(missing)}; "
            'install them with: pip install "certree[cli]"\n'
        )
        sys.exit(1)
    # Only now, since its modules need both.
    sys.exit(import_module("certree.cli._run").run(sys.argv[1:]))
