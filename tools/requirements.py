"""Print the requirements that pyproject.toml states, one per line, for ``pip install -r``.

Usage: ``python tools/requirements.py [extra ...]``. The run-time dependencies always come first.
Installing them apart from the package lets a rebuild of the extension skip the resolver, and lets
the environment exist before the extension compiles.
"""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:  # scikit-build-core, a build requirement, depends on tomli there
    import tomli as tomllib


def main(extras: list[str]) -> int:
    """Write the requirements of `extras` to standard output."""
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    known = project["optional-dependencies"]
    unknown = [extra for extra in extras if extra not in known]
    if unknown:
        print(f"unknown extra {unknown[0]!r}; pyproject.toml has {sorted(known)}", file=sys.stderr)
        return 2
    for requirement in [*project["dependencies"], *(r for extra in extras for r in known[extra])]:
        print(requirement)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
