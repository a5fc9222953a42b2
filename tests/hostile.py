"""Spoiled files: ``python -m tests.hostile --files 10000 --seed 7``."""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import time
import tracemalloc
import warnings
from collections.abc import Iterator
from typing import Any

from certree import Tree
from certree.files import model_from_json, model_to_json

from .documents import Document, documents, model_files, spoiled

MOST_SECONDS, MOST_BYTES = 1.0, 100 * 2**20
MOST_SECONDS_OF_USE = 5.0


def wrong_files(n_files: int, seed: str) -> Iterator[AssertionError]:
    """Spoil so many files, and yield those that are no ValueError and do not work either."""
    random_ = random.Random(seed)
    tracemalloc.start()
    try:
        for number in range(n_files):
            document = random_.choice((*documents(), *model_files()))
            text = spoiled(document.text, random_)
            try:
                read_within_limits(document, text)
            except ValueError:
                continue
            except Exception as error:
                what = f"file {number} of seed {seed}, {document.name}: {type(error).__name__}"
                yield AssertionError(f"{what}: {error}: {text!r}")
    finally:
        tracemalloc.stop()


def read_within_limits(document: Document, text: bytes) -> None:
    """Read a file and use what it holds, in bounded time and memory."""
    tracemalloc.reset_peak()
    # Processor time, so that a busy machine does no harm.
    before, start = tracemalloc.get_traced_memory()[0], time.thread_time()
    try:
        read = document.read(text)
        assert time.thread_time() - start < MOST_SECONDS
        use(read)
    finally:
        assert time.thread_time() - start < MOST_SECONDS_OF_USE
        assert tracemalloc.get_traced_memory()[1] - before < MOST_BYTES


def use(read: Any) -> None:
    """Ask for everything that a reader may want to see; a ValueError says why it cannot be."""
    if hasattr(read, "get_params"):
        use_model(read)
        return
    if not isinstance(read, Tree):
        assert type(read).from_json(read.to_json()) == read
        assert all((str(read), repr(read), read.statement()))
        hash(read)
        return
    for show in (Tree.to_text, Tree.to_dot, Tree.to_html, Tree.to_python, Tree.rules, repr):
        show(read)
    assert Tree.from_json(read.to_json()) == read
    for value in (None, 0.5, True, "red"):
        if 0 < read.n_features < 1000:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    read.predict([[value] * read.n_features])
                    read.predict_proba([[value] * read.n_features])
                except ValueError:
                    continue


def use_model(model: Any) -> None:
    """Predict, and write the model once more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        repr(model)
        model_from_json(model_to_json(model))
        for value in (None, 0.5, True, "red"):
            if not 0 < model.n_features_in_ < 1000:
                continue
            with contextlib.suppress(ValueError):
                model.predict([[value] * model.n_features_in_])


def main() -> int:
    """Spoil many files; return 1 if one does harm."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", default="7")
    options = parser.parse_args()
    n_wrong = 0
    for error in wrong_files(options.files, options.seed):
        n_wrong += 1
        sys.stdout.write(f"{error!s:.2000}\n")
    sys.stdout.write(f"{options.files} spoiled files, {n_wrong} of them do harm\n")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
