"""Let a second virtual environment see the packages of the one that runs this script.

Usage: ``.venv/bin/python tools/link_packages.py other-venv``. The link is a ``.pth`` file; Python
does not read the ``.pth`` files of a directory added that way, so an editable install in the first
environment stays invisible in the second.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path


def main(environment: Path) -> None:
    """Write the link into `environment`."""
    own = sysconfig.get_paths()["purelib"]
    relative = Path(own).relative_to(sys.prefix)
    (environment / relative / "linked-packages.pth").write_text(own + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
