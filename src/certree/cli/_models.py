"""Model files of the command line: those of `save`, with what the columns of the table are."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_args

from certree.encoding import Test
from certree.files import check_place, load, model_to_json, write_whole

from ._problems import UsageProblem
from ._table_layout import ColumnType, Layout

_KEY = "table"
_TYPES = get_args(ColumnType)


def save_model(model: Any, layout: Layout, path: str) -> None:
    """Write a model, and the layout of its table; an existing file is replaced at the end."""
    data = {**json.loads(model_to_json(model)), _KEY: asdict(layout)}
    write_text(path, json.dumps(data))


def check_output(path: str) -> None:
    """Refuse a place where nothing can be written, before a long search."""
    try:
        check_place(path)
    except OSError as error:
        raise UsageProblem(str(error)) from None


def write_text(path: str, text: str) -> None:
    """Write a file, which is complete or not there."""
    check_output(path)
    try:
        write_whole(path, text)
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written: {error.strerror}.") from None


def load_model(path: str) -> tuple[Any, Layout]:
    """Read a model file, and the layout of the table that it was fitted to."""
    try:
        model = load(path)
        known = json.loads(Path(path).read_bytes()).get(_KEY)
    except FileNotFoundError:
        raise UsageProblem(
            f"{path} does not exist; make a model with: certree fit DATA --target COLUMN -o {path}"
        ) from None
    except IsADirectoryError:
        raise UsageProblem(f"{path} is a folder; give a model file.") from None
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise UsageProblem(str(error)) from None
    return model, _read_layout(known, model, path)


def _read_layout(known: Any, model: Any, path: str) -> Layout:
    if known is None:  # written by Python
        return Layout(types=_types_of(model))
    try:
        layout = Layout(**{one.name: _plain(known[one.name]) for one in fields(Layout)})
        fine = set(layout.types.values()) <= set(_TYPES) and isinstance(layout.target, tuple)
    except (AttributeError, KeyError, TypeError):
        fine = False
    if not fine:
        raise UsageProblem(f"{path} is damaged: its part {_KEY!r} is not what certree writes.")
    return layout


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _types_of(model: Any) -> dict[str, Any]:
    """Return the types of columns, as far as the tests show them."""
    names = feature_names(model)
    found = ((names[test.feature], _type_of(test)) for test in model.encoder_.candidates_)
    return {name: kind for name, kind in found if kind is not None}


def _type_of(test: Test) -> ColumnType | None:
    condition = test.condition(0)
    if condition.kind == "time":
        return "duration" if condition.form == "duration" else "date"
    # Truth values may be written as true and false, or as 1 and 0.
    if test.is_text is None or condition.kind == "flag":
        return None
    return "text" if test.is_text else "number"


def feature_names(model: Any) -> list[str]:
    """Return the names of the columns that a model was fitted to."""
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return [f"x{place}" for place in range(model.n_features_in_)]
    return [str(name) for name in known]
