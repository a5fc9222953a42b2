"""Files that are complete or not there."""

from __future__ import annotations

import os
from pathlib import Path


def check_place(path: str | os.PathLike[str]) -> Path:
    """Return the path; raise OSError in plain words where no file can be."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder {target.parent} does not exist; create it first.")
    return target


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write a file, which replaces an old one once it is complete, and return its path."""
    target = check_place(path)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        # Names may hold halves of surrogate pairs, which no file can.
        part.write_bytes(text.encode("utf-8", "replace"))
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return target
