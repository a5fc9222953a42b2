"""Make the environment of the published solvers, apart from the project's own.

Run as a script to create it beforehand; the benchmarks call :func:`interpreter` and create it when
they first need it. ``CERTREE_PEERS`` moves it elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1]
REQUIREMENTS = BENCHMARKS / "peers.txt"


def folder() -> Path:
    """Say where the peers' environment is or will be."""
    return Path(os.environ.get("CERTREE_PEERS", BENCHMARKS.parent / ".venv-peers")).absolute()


def interpreter() -> Path:
    """Give the Python of the peers' environment, made now if it is missing or out of date."""
    python = folder() / "bin" / "python"
    stamp = folder() / "installed.txt"
    wanted = REQUIREMENTS.read_text()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"creating the peers' environment in {folder().name} ...", file=sys.stderr)
    venv.create(folder(), with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
    stamp.write_text(wanted)
    return python


if __name__ == "__main__":
    interpreter()
