"""Draw the picture of the guide to the command line: run commands, and photograph the terminal.

Needs certree with its extra ``cli``, and chromium for the PNG file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from certree import datasets

COMMANDS = (
    "certree fit credit.csv --target outcome --max-depth 2",
    "certree compare credit.csv --target outcome --max-depth 3",
)
WIDTH = 100
TARGET = Path(__file__).parent.parent / "docs" / "guide" / "cli.png"


def write_credit(path: Path) -> None:
    """Write the bundled loans as CSV."""
    X, y = datasets.load_credit(return_X_y=True)
    names = [*X.columns, "outcome"]
    rows = np.column_stack([np.asarray(X, dtype=object), y]).tolist()
    cells = (["" if v is None or v != v else str(v) for v in row] for row in rows)
    path.write_text("\n".join(",".join(row) for row in [names, *cells]) + "\n", encoding="utf-8")


def record(folder: Path) -> Console:
    """Run the commands as on a terminal."""
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115
    shown = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    for command in COMMANDS:
        console.print(Text(f"$ {command}", style="bold"))
        arguments = [sys.executable, "-m", *command.split()]
        done = subprocess.run(arguments, cwd=folder, env=shown, capture_output=True, text=True)
        console.print(Text.from_ansi(done.stdout + done.stderr))
    return console


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_credit(folder / "credit.csv")
        svg = record(folder).export_svg(title="certree")
        # Fonts of the machine: the picture needs no network.
        svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
        svg = svg.replace("Fira Code", "DejaVu Sans Mono")
        width, height = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
        page = folder / "page.html"
        page.write_text(f"<body style='margin:0'>{svg}</body>", encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--hide-scrollbars")
        subprocess.run(
            [
                *("chromium", *options, f"--window-size={int(width)},{int(height)}"),
                *(f"--screenshot={TARGET}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
        )
    print(f"{TARGET} written")


if __name__ == "__main__":
    main()
