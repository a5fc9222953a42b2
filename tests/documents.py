"""JSON documents of every kind that certree writes, and ways to spoil them."""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    PolicyTree,
    SPOForest,
    SPOTree,
    metrics,
    oracles,
    solve,
    tasks,
)
from certree.files import model_from_json, model_to_json

N_ROWS = 40


class Document(NamedTuple):
    """What was written, the text, and what reads it."""

    name: str
    written: Any
    text: str
    read: Callable[[Any], Any]


def table() -> tuple[list[list[Any]], np.ndarray[Any, Any]]:
    """Rows with numbers, gaps, categories and truth values, and a class for each."""
    rng = np.random.default_rng(5)
    rows = [
        [
            float(rng.integers(0, 9)) / 4,
            None if rng.random() < 0.2 else float(rng.integers(0, 5)),
            ["red", "green", 'blue "1/3"'][rng.integers(0, 3)],
            bool(rng.integers(0, 2)),
        ]
        for _ in range(N_ROWS)
    ]
    labels = [int((row[0] > 1) ^ (row[2] == "red") ^ (rng.random() < 0.2)) for row in rows]
    return rows, np.array(["no", "yes"])[labels]


def _dates_and_sets(y: Any) -> Any:
    """Return a tree that asks for a date, a duration, a set of categories and rare ones."""
    start, rows = np.datetime64("2024-02-01T12:00", "s"), np.arange(N_ROWS)
    X = np.empty((N_ROWS, 3), dtype=object)
    X[:, 0] = list(start + rows * np.timedelta64(7001, "s"))
    X[:, 1] = list((rows * 7 % N_ROWS) * np.timedelta64(90, "m"))
    X[:, 2] = [("Bonn", "Ulm", "Jena", "Trier")[k] for k in rows * 11 % 19 % 4]
    X[:2, 2] = "Rom", "Bern"
    model = OptimalTreeClassifier(max_depth=4, category_tests="subsets", min_category_rows=3)
    return model.fit(X, y)


def _models() -> list[tuple[str, Any]]:
    """Return a fitted model of every kind, with the certificates of all kinds among them."""
    X, y = table()
    rng = np.random.default_rng(6)
    numbers = rng.random(N_ROWS)
    groups = np.array(["f", "m"])[rng.integers(0, 2, N_ROWS)]
    treated = rng.integers(0, 2, N_ROWS)
    plain = OptimalTreeClassifier
    choice = oracles.Decisions([[1, 0], [0, 1]])
    return [
        ("accuracy", plain(max_depth=2).fit(X, y)),
        ("balanced", plain(class_weight="balanced", complexity="1/30").fit(X, y, numbers)),
        ("metric", plain(max_depth=2, objective="f1", complexity=0.01).fit(X, y)),
        ("area", plain(max_depth=1, objective="auc", pos_label="yes").fit(X, y)),
        ("multiway", plain(max_depth=2, splits="multiway").fit(X, y)),
        ("dates and sets", _dates_and_sets(y)),
        ("numbers as classes", plain(max_depth=1).fit(X, treated)),
        ("costs", CostSensitiveTreeClassifier([[0, 2], [3, 0]], max_depth=2).fit(X, y)),
        ("regression", OptimalTreeRegressor(max_depth=2).fit(X, numbers)),
        ("policy", PolicyTree(max_depth=1, random_state=0).fit(X, treated, numbers)),
        ("fair", FairTreeClassifier(max_depth=2).fit(X, y, sensitive_features=groups)),
        ("decisions", SPOTree(choice, max_depth=1).fit(X, rng.random((N_ROWS, 2)))),
    ]


@cache
def model_files() -> tuple[Document, ...]:
    """Return model files of every kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = table()
        models = _models()
        models.append(("path", OptimalTreeClassifier(max_depth=2).fit(X, y, path=True)))
        front = OptimalTreeClassifier(max_depth=1, objective=metrics.ErrorFront(), pos_label="yes")
        models.append(("front", front.fit(X, y)))
        models.append(("sizes", OptimalTreeClassifierCV(depths=(1,), cv=2).fit(X, y)))
        days = np.array(["2024-01-01", "2024-02-03", "NaT", "2024-05-01"], "datetime64[D]")
        times = OptimalTreeClassifier(max_depth=2, thresholds={0: ["2024-02-01", "2024-03-01"]})
        models.append(("times", times.fit(np.tile(days, 10)[:, None], np.tile([0, 1, 1, 0], 10))))
        costs = np.random.default_rng(8).random((N_ROWS, 3))
        forest = SPOForest(oracles.TopK(3, 2), n_estimators=2, max_depth=2, random_state=0)
        models.append(("forest", forest.fit(X, costs)))
    return tuple(
        Document(f"{name} model", model, model_to_json(model), model_from_json)
        for name, model in models
    )


@cache
def documents() -> tuple[Document, ...]:
    """Return trees and certificates of every kind as JSON."""
    X, y = table()
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in _models():
            for written in (model.tree_, model.certificate_):
                found.append((f"{name} {type(written).__name__}", written))
        objective = tasks.Misclassification()
        for bound in (6, -1):
            task = objective & tasks.Limit("yes", {"yes": 1}, at_most=bound)
            solution = solve(task, X, y, max_depth=2)
            found.append((f"limit {bound}", solution.certificate))
        front = tasks.Front(objective, tasks.CostMatrix([[0, 1], [9, 0]]))
        found.append(("front", solve(front, X, y, max_depth=1).certificate))
        fair = FairTreeClassifier("accuracy_parity", 0.5)
        fair.fit([[0]] * 4, [0, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
        found.append(("no fair tree", fair.certificate_))
    return tuple(
        Document(name, written, written.to_json(), type(written).from_json)
        for name, written in found
    )


# ---- spoiling ----------------------------------------------------------------------------------

# What stands in for a value: other types, limits of number formats, text that looks like numbers.
STRANGE: list[Any] = [
    *(None, True, False, [], {}, "", "x", 0, -1, 1, 2, 0.5, -0.0),
    *(2**31, 2**31 - 1, 2**53, 2**63, 2**63 - 1, -(2**63), 2**64, 10**9, 10**400, 5e-324, 1e308),
    *("1/0", "1/3", "-7/2", "1e4000000", "1e5", " 1", "0x1", "9" * 5000, "1/" + "7" * 4000, "nan"),
    *("\ud800", "\0", "'); --", "<U100000000", "|O", "M8[s]", "<f8", "optimal", "x" * 9999),
    *([[]], [[[[[[[[]]]]]]]], [0, 1], [1, 2], [1] * 500, {"float": "inf"}, {"kind": "flag"}),
    # Sizes that no values answer for.
    *([2**31, 0], [0, 2**31], [2**15, 2**15, 0], [0, 0, 2**31], [10**6, 0]),
    *(
        {"array": {"dtype": dtype, "shape": shape, "values": []}}
        for dtype in ("|O", "<f8", "<i4", "<U9")
        for shape in ([2**31, 0], [0, 2**31], [10**5, 0, 10**5], [0])
    ),
    {"TopK": {"n": 2**31, "k": 1, "names": None, "sense": "min"}},
    {"Assignment": {"n": 2**20, "sense": "min"}},
    {"GridShortestPath": {"rows": 2**20, "cols": 2**20, "sense": "min"}},
]
BYTES = [b"[", b"]", b"{", b"}", b",", b":", b'"', b"-", b"e9999999", b"0", b"null", b"\xff", b"\0"]
BYTES += [b"NaN", b"-Infinity", b"[" * 9000, b"9" * 9000, b"\\ud800", b"\\", b"/", b"1e999"]


def spoiled(text: str, random_: random.Random) -> bytes:
    """Return a document with one to three changes to its bytes or to its values."""
    if random_.random() < 0.35:
        return _spoil_bytes(text.encode(), random_)
    data = json.loads(text)
    for _ in range(random_.choice((1, 1, 2, 3))):
        _spoil_value(data, random_)
    return json.dumps(data).encode("utf-8", "surrogatepass")


def _spoil_bytes(text: bytes, random_: random.Random) -> bytes:
    for _ in range(random_.choice((1, 1, 2, 5))):
        at = random_.randrange(len(text) + 1)
        until = min(len(text), at + random_.choice((0, 1, 1, 3, 40)))
        how = random_.randrange(4)
        if how == 0:
            text = text[:at] + random_.choice(BYTES) + text[until:]
        elif how == 1:
            text = text[:at] + text[until:]
        elif how == 2:
            text = text[:until] + text[at:]
        else:
            text = text[:at] + bytes([random_.randrange(256)]) + text[at + 1 :]
    return text if random_.random() < 0.95 else text[: random_.randrange(len(text) + 1)]


def _spoil_value(data: Any, random_: random.Random) -> None:
    places = list(_places(data))
    # Large lists of numbers would get nearly all of the changes.
    depth = random_.choice(sorted({len(path) for path in places}))
    path = random_.choice([path for path in places if len(path) == depth])
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    key, how = path[-1], random_.randrange(8)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif how == 1:
        holder[str(random_.choice(STRANGE))] = holder.pop(key)
    elif how == 2 and isinstance(holder[key], int):
        holder[key] += random_.choice((-2, -1, 1, 2))
    elif how == 3:
        other: Any = data
        for step in random_.choice(places):
            other = other[step]
        holder[key] = copy.deepcopy(other)
    elif how == 4 and isinstance(holder, list):
        random_.shuffle(holder)
    else:
        holder[key] = copy.deepcopy(random_.choice(STRANGE))


def _places(data: Any, path: tuple[Any, ...] = ()) -> Any:
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*path, key))
