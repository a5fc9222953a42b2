"""Build the source archive and the wheel, and try the wheel in an empty environment.

The wheel is built from the archive, so that a file that the archive lacks is noticed. The new
environment has the wheel, what it needs, and pytest. There `tests/test_minimal.py` runs, from a
folder without the sources. Arguments after ``--`` are requirements for that environment, such as
``numpy==1.24.0``; ``--tests`` names other tests to run there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parent.parent
# In processor time, which other work on the machine lengthens less.
IMPORT_TIME = """
from time import process_time
import sklearn.tree
start = process_time()
import certree
print(f"import certree: {process_time() - start:.2f} s beyond the {start:.2f} s of scikit-learn")
"""


def main() -> None:
    """Build, install, test; raise at the first step that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", help="a wheel that is built already")
    parser.add_argument("--out", default="dist", help="folder of archive and wheel")
    parser.add_argument("--tests", nargs="+", default=["tests/test_minimal.py"])
    parser.add_argument("--extras", default="", help="such as cli,test")
    parser.add_argument("requirements", nargs="*")
    given = parser.parse_args()
    wheel = Path(given.wheel) if given.wheel else _build(ROOT / given.out)
    with tempfile.TemporaryDirectory() as folder:
        python = _environment(Path(folder) / "venv")
        extras = f"[{given.extras}]" if given.extras else ""
        _timed(
            "install the wheel",
            [*_pip(python), "install", f"{wheel.resolve()}{extras}", *given.requirements],
        )
        # What the settings of the suite need, and nothing else of it.
        tools = ("hypothesis", "pytest", "pytest-timeout")
        _timed("install pytest", [*_pip(python), "install", *tools])
        subprocess.run([python, "-c", IMPORT_TIME], check=True, cwd=folder)
        _timed("test", [*_pytest(python), *given.tests], cwd=ROOT)


def _build(out: Path) -> Path:
    """Return the wheel that was built from the archive of the sources."""
    for old in (*out.glob("certree-*.whl"), *out.glob("certree-*.tar.gz")):
        old.unlink()
    _timed("build archive and wheel", [sys.executable, "-m", "build", "--outdir", str(out)], ROOT)
    (wheel,) = out.glob("certree-*.whl")
    return wheel


def _environment(folder: Path) -> str:
    venv.create(folder, with_pip=True)
    return str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")


def _pip(python: str) -> list[str]:
    return [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def _pytest(python: str) -> list[str]:
    # The sources of the checkout stay unseen: what is tested is what was installed.
    check = "import certree; assert 'site-packages' in certree.__file__, certree.__file__"
    subprocess.run([python, "-c", check], check=True, cwd=tempfile.gettempdir())
    return [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def _timed(what: str, command: list[str], cwd: Path | str | None = None) -> None:
    start, before = perf_counter(), os.times()
    subprocess.run(command, check=True, cwd=cwd)
    after = os.times()
    used = sum(after[2:4]) - sum(before[2:4])
    print(f"{what}: {perf_counter() - start:.1f} s, of all processors {used:.1f} s", flush=True)


if __name__ == "__main__":
    main()
