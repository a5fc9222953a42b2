"""Copy the generated stub of the extension next to the Python sources.

Type checkers read ``src/certree``, not the installed package, and an editable install puts the stub
beside the extension only.
"""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path


def main() -> None:
    """Find the installed stub and copy it."""
    installed = Path(sysconfig.get_path("platlib")) / "certree" / "_core.pyi"
    shutil.copyfile(installed, Path(__file__).parent.parent / "src" / "certree" / "_core.pyi")


if __name__ == "__main__":
    main()
