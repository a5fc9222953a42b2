"""The tables that the benchmarks solve: read from a data folder, bundled or generated.

The environment variable ``CERTREE_DATA`` names a folder with the preparation of the data sets that
the papers use (``accuracy/*.csv``: label first; ``sparse/*.txt``: label last; space separated 0/1
columns). Those files are not part of this repository. Without the variable the suites run on what
scikit-learn bundles and on tables generated from their published definition, so that the whole
machinery can be tried anywhere; the figures of the README need the folder.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Instance:
    """A named table of 0/1 columns with integer labels."""

    name: str
    columns: Array
    labels: Array
    extra: dict[str, Array] = field(default_factory=dict)  # costs, targets, prices


def data_folder() -> Path | None:
    """Give the folder that ``CERTREE_DATA`` names, or None where it is not set."""
    text = os.environ.get("CERTREE_DATA")
    if not text:
        return None
    folder = Path(text)
    if not folder.is_dir():
        raise SystemExit(
            f"CERTREE_DATA={text!r} is not a folder; point it at the data or unset it."
        )
    return folder


def accuracy_instances() -> Iterator[Instance]:
    """Yield the sets of the depth-limited comparisons, smallest file first."""
    folder = data_folder()
    if folder is None:
        yield from bundled_instances()
        return
    yield from (read_table(path) for path in sorted((folder / "accuracy").glob("*.csv")))


def read_table(path: Path, label: str = "first") -> Instance:
    """Read a table of small whole numbers whose label is in the first or the last column."""
    table = np.loadtxt(path, dtype=np.int64)
    if label == "last":
        return Instance(path.stem, table[:, :-1].astype(np.uint8), table[:, -1])
    return Instance(path.stem, table[:, 1:].astype(np.uint8), table[:, 0])


def sparse_instances(names: list[str]) -> Iterator[Instance]:
    """Yield the named sets of the sparse comparison (Branches, table 2)."""
    folder = data_folder()
    if folder is None:
        yield from (generate() for name, generate in GENERATED.items() if name in names)
        return
    yield from (read_table(folder / "sparse" / f"{name}.txt", "last") for name in names)


def random_instance(rows: int, columns: int, seed: int, noise: float = 0.1) -> Instance:
    """Draw a table whose label is a depth-three tree of its first columns, with noise."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, size=(rows, columns), dtype=np.uint8)
    labels = np.where(bits[:, 0] == 1, bits[:, 1] & bits[:, 2], bits[:, 3 % columns] ^ bits[:, 1])
    flips = rng.random(rows) < noise
    name = f"random-{rows}x{columns}"
    return Instance(name, bits, (labels ^ flips).astype(np.int64))


def bundled_instances() -> Iterator[Instance]:
    """Yield scikit-learn's bundled sets, binarised by certree's own encoder."""
    from sklearn import datasets

    from certree.encoding import TableEncoder

    for name, load, thresholds in (
        ("breast-cancer", datasets.load_breast_cancer, 3),
        ("wine", datasets.load_wine, 5),
        ("digits", datasets.load_digits, 1),
    ):
        values, labels = load(return_X_y=True)
        encoded = TableEncoder(thresholds=thresholds).fit_transform(values)
        yield Instance(name, np.asarray(encoded, dtype=np.uint8), labels.astype(np.int64))
    yield random_instance(500, 40, seed=1)


def one_hot(table: Array) -> Array:
    """Give one 0/1 column per category of every column."""
    return np.concatenate(
        [column[:, None] == np.unique(column)[None, :] for column in table.T], axis=1
    ).astype(np.uint8)


def monk(rule: Callable[[Array], Array], name: str) -> Instance:
    """Build all 432 rows of a MONK's problem (Thrun et al., 1991) from its rule."""
    table = np.array(list(itertools.product(*(range(1, k + 1) for k in (3, 3, 2, 3, 4, 2)))))
    return Instance(name, one_hot(table), rule(table).astype(np.int64))


def balance() -> Instance:
    """Build the 625 rows of the balance scale: which side is heavier, or neither."""
    table = np.array(list(itertools.product(range(1, 6), repeat=4)))
    torque = table[:, 0] * table[:, 1] - table[:, 2] * table[:, 3]
    return Instance("balance", one_hot(table), np.sign(torque).astype(np.int64) + 1)


def tic_tac_toe() -> Instance:
    """Build the 958 final boards of tic-tac-toe (x moves first): has x won?"""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    final: dict[tuple[int, ...], int] = {}
    start: tuple[int, ...] = (0,) * 9
    seen = {start}
    stack = [(start, 1)]
    while stack:
        board, player = stack.pop()
        for cell in (i for i in range(9) if board[i] == 0):
            after = (*board[:cell], player, *board[cell + 1 :])
            if after in seen:
                continue
            seen.add(after)
            if any(all(after[i] == player for i in line) for line in lines):
                final[after] = int(player == 1)
            elif 0 not in after:
                final[after] = 0
            else:
                stack.append((after, 3 - player))
    table = np.array(sorted(final))
    labels = np.array([final[tuple(row)] for row in table.tolist()])
    return Instance("tictactoe", one_hot(table), labels)


GENERATED: dict[str, Callable[[], Instance]] = {
    "monk1": lambda: monk(lambda t: (t[:, 0] == t[:, 1]) | (t[:, 4] == 1), "monk1"),
    "monk2": lambda: monk(lambda t: (t == 1).sum(axis=1) == 2, "monk2"),
    "monk3": lambda: monk(
        lambda t: ((t[:, 4] == 3) & (t[:, 3] == 1)) | ((t[:, 4] != 4) & (t[:, 1] != 3)), "monk3"
    ),
    "tictactoe": tic_tac_toe,
    "balance": balance,
}
