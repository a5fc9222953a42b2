"""Commands that use a model file: predict, show, explain, verify, report, info."""

from __future__ import annotations

import csv
import io
import platform
import sys
from dataclasses import replace
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from certree._version import __version__
from certree.engine import build_info
from certree.fitting.budgets import machine_memory, processor_count
from certree.report import report
from certree.tree import Tree
from certree.verify import verify

from ._files import FileTable, read_file
from ._models import feature_names, load_model, write_text
from ._options import TableOptions
from ._printing import console, remark, say, say_json, say_result
from ._problems import PROVEN, UsageProblem, listed
from ._table_layout import Layout
from ._tables import LearningData, read_data

# Formats by the ends of file names.
_ENDS = {
    ".c": "c",
    ".dot": "dot",
    ".html": "html",
    ".json": "json",
    ".md": "mermaid",
    ".mmd": "mermaid",
    ".py": "python",
    ".sql": "sql",
    ".txt": "text",
}
_PICTURES = (".png", ".svg", ".pdf")
_NO_TEXT = ("dict", "sklearn")

VALUES = "--value"
"""In place of the name of a file: the row that options give."""

_OPTIONAL = ("matplotlib", "rich", "typer", "pandas", "polars", "pyarrow", "duckdb", "highspy")


def predict(
    model: str,
    table: TableOptions,
    data: str | None,
    value: list[str] | None,
    output: str | None,
    proba: bool,
    at: list[float] | None,
    keep: bool,
) -> int:
    """Predict rows; the result is CSV with a column "prediction", or one for each output."""
    fitted, known = load_model(model)
    raw = _rows(data, value, table, fitted)
    given = _features(raw, table.layout(known), fitted)
    columns: dict[str, NDArray[Any]] = {}
    if keep:
        columns.update(zip(raw.names, raw.columns, strict=True))
    predicted = fitted.predict(given.X)
    outputs = [name for name, _ in fitted.tree_.payload.outputs()] if _has_tree(fitted) else []
    for place, name in enumerate(outputs):
        columns[f"prediction of {name}"] = predicted[:, place]
    if not outputs:
        columns["prediction"] = predicted
    if proba:
        if not hasattr(fitted, "predict_proba"):
            raise UsageProblem(f"--proba needs classes, but the model is a {_kind(fitted)}.")
        shares, classes = fitted.predict_proba(given.X), fitted.classes_
        if not outputs:
            shares, classes, outputs = [shares], [classes], [""]
        for name, part, labels in zip(outputs, shares, classes, strict=True):
            for place, label in enumerate(labels.tolist()):
                columns[f"share of {name} {label}" if name else f"share of {label}"] = part[
                    :, place
                ]
    if at:
        if not _has_curves(fitted):
            raise UsageProblem(f"--at needs a survival tree, but the model is a {_kind(fitted)}.")
        functions = fitted.predict_survival_function(given.X)
        for time in at:
            columns[f"survival at {time:g}"] = np.array([one(time) for one in functions])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    _write(text.getvalue(), output)
    return PROVEN


def show(
    model: str,
    format: str | None,
    output: str | None,
) -> int:
    """Show the tree and its certificate, or write the tree in another form."""
    fitted, _ = load_model(model)
    tree = _tree(fitted)
    if output is not None and Path(output).suffix.lower() in _PICTURES:
        tree.plot().figure.savefig(output)
        return PROVEN
    if format is None and output is None:
        say_result(fitted.certificate_)
        say()
        say(tree.to_text())
        return PROVEN
    forms = sorted(name[3:] for name in dir(Tree) if name.startswith("to_"))
    forms = [name for name in forms if name not in _NO_TEXT]
    wanted = format or _ENDS.get(Path(str(output)).suffix.lower(), "text")
    if wanted not in forms:
        raise UsageProblem(f"--format {wanted} is unknown; there are {listed(forms)}.")
    _write(getattr(tree, f"to_{wanted}")(), output)
    return PROVEN


def explain(
    model: str,
    table: TableOptions,
    data: str | None,
    value: list[str] | None,
    row: list[int] | None,
    wanted: str | None,
    unseen: bool,
    json: bool,
    output: str | None,
) -> int:
    """Say why a row gets its prediction, and what would change it."""
    fitted, known = load_model(model)
    _tree(fitted)
    raw = _rows(data, value, table, fitted)
    places = row or [0]
    for place in places:
        if not 0 <= place < raw.n_rows:
            raise UsageProblem(f"--row {place}: {raw.where} has rows 0 to {raw.n_rows - 1}.")
    if row is None and raw.n_rows > 1:
        remark(f"{raw.where} has {raw.n_rows} rows; the first one is explained. Choose with --row.")
    given = _features(raw, table.layout(known), fitted)
    found = fitted.explain(
        given.X[np.array(places)], target=None if wanted is None else _answer(fitted, wanted)
    )
    each = [found] if len(places) == 1 else list(found)
    if not unseen:
        _check_seen(each, raw, places)
    heads = [_head(raw, place) for place in places]
    if output is not None:
        parts = (
            f"<h4>{escape(h)}</h4>\n{one.to_html()}" for h, one in zip(heads, each, strict=True)
        )
        write_text(output, "\n".join(parts))
    elif json:
        told = [
            {"row_number": place, **one.to_dict()} for place, one in zip(places, each, strict=True)
        ]
        say_json(told[0] if len(told) == 1 else told)
    else:
        say("\n\n".join(f"{h}\n{one.to_text()}" for h, one in zip(heads, each, strict=True)))
    return PROVEN


def verify_model(
    model: str,
    data: str,
    table: TableOptions,
    exhaustive: bool,
    json: bool,
) -> int:
    """Check a certificate against the training table, by code that knows nothing of the search."""
    fitted, known = load_model(model)
    given = _training(data, table, known, fitted)
    groups = {} if given.groups is None else {"sensitive_features": given.groups}
    found = verify(fitted, given.X, given.y, given.weights, exhaustive, **groups)
    if json:
        say_json({"verified": True, "checks": str(found).splitlines()})
    else:
        say(str(found))
    return PROVEN


def report_model(
    model: str,
    table: TableOptions,
    data: str | None,
    test: str | None,
    output: str,
    title: str | None,
    show_values: bool,
) -> int:
    """Write a page about the model: the tree, what is proven, and how good it is."""
    fitted, known = load_model(model)
    given: dict[str, Any] = {}
    for path, of in ((data, ""), (test, "_test")):
        if path is not None:
            found = _training(path, table, known, fitted)
            given |= {f"X{of}": found.X, f"y{of}": found.y}
            given[f"sensitive_features{of}"] = found.groups
    report(fitted, **given, title=title, show_values=show_values).save(output)
    say(f"report written to {output}")
    return PROVEN


def info(
    model: str | None,
    json: bool,
) -> int:
    """Describe a model file, or this installation."""
    facts = _installation() if model is None else _model_facts(model)
    if json:
        say_json(facts)
        return PROVEN
    wide = max(map(len, facts))
    for name, fact in facts.items():
        text = ", ".join(map(str, fact)) if isinstance(fact, list) else str(fact)
        console().print(f"{name:{wide}}  {text}", soft_wrap=True)
    return PROVEN


# ---- rows ----------------------------------------------------------------------------------------


def _rows(data: str | None, value: list[str] | None, table: TableOptions, model: Any) -> FileTable:
    """Return the rows of a file, or the one that is given by values."""
    if (data is None) == (not value):
        raise UsageProblem("Give either a file with rows or --value COLUMN=VALUE for one row.")
    if data is not None:
        return read_file(data, table.style)
    cells = {}
    for text in value or ():
        name, found, cell = text.partition("=")
        if not found:
            raise UsageProblem(f"--value {text} is not COLUMN=VALUE.")
        cells[name.strip()] = np.array([cell.strip()], dtype=object)
    lacking = [name for name in feature_names(model) if name not in cells]
    if lacking:
        raise UsageProblem(f"--value is missing for {listed(lacking)}; an empty one is unknown.")
    unknown = [name for name in cells if name not in feature_names(model)]
    if unknown:
        raise UsageProblem(f"The model has no column {unknown[0]!r}; leave its --value out.")
    return FileTable(VALUES, list(cells), list(cells.values()), [1])


def _features(raw: FileTable, layout: Layout, model: Any) -> LearningData:
    """Return the rows as the model takes them, without targets."""
    alone = replace(layout, target=(), weights=None, groups=())
    return read_data(raw, alone, features=feature_names(model))


def _training(path: str, table: TableOptions, known: Layout, model: Any) -> LearningData:
    """Return rows with targets."""
    layout = table.layout(known)
    raw, names = read_file(path, table.style), feature_names(model)
    if not get_tags(model).target_tags.required:
        return read_data(raw, replace(layout, target=()), features=names)
    if not layout.target:
        raise UsageProblem("The model file does not name its target; give it with --target.")
    given = read_data(raw, layout, features=names)
    return replace(given, y=np.asarray(given.y)) if _knows_no_outputs(model) else given


def _knows_no_outputs(model: Any) -> bool:
    """Return whether a model was fitted to columns without names, or to time and event."""
    payload = getattr(getattr(model, "tree_", None), "payload", None)
    return _has_curves(model) or getattr(payload, "output_names", ()) is None


def _head(raw: FileTable, place: int) -> str:
    """Return which row is explained, counted from 0 as in Python, and its line, from 1."""
    if raw.where == VALUES:
        return f"Row of {raw.where}"
    line = "" if raw.lines is None else f", in line {raw.lines[place]}"
    return f"Row {place} of {raw.where}{line}"


def _check_seen(found: Any, raw: FileTable, places: list[int]) -> None:
    """Refuse to explain values that training did not see, since the tree says little of them."""
    for explanation, place in zip(found, places, strict=True):
        for step in explanation.steps:
            if "in training" in step.note:
                value = "missing" if step.value is None else repr(step.value)
                raise UsageProblem(
                    f"{raw.where}, {raw.place(place)}: {step.column!r} is {value}, "
                    f"{step.note}; correct it, or explain the row as it is with --unseen."
                )


# ---- models --------------------------------------------------------------------------------------


def _has_tree(model: Any) -> bool:
    return hasattr(model, "tree_")


def _has_curves(model: Any) -> bool:
    return hasattr(model, "predict_survival_function")


def _tree(model: Any) -> Any:
    if not _has_tree(model):
        raise UsageProblem(f"The model is a {_kind(model)} without a single tree to show.")
    return model.tree_


def _kind(model: Any) -> str:
    return type(model).__name__


def _answer(model: Any, text: str) -> Any:
    """Return the prediction that a text names."""
    if getattr(model, "n_outputs_", 1) > 1:
        raise UsageProblem("--wanted needs a model with one output; leave it out.")
    classes = getattr(model, "classes_", None)
    if classes is None:
        try:
            return float(text)
        except ValueError:
            raise UsageProblem(f"--wanted {text}: the model predicts numbers; give one.") from None
    for label in classes.tolist():
        if str(label) == text:
            return label
    known = listed(list(map(str, classes.tolist())))
    raise UsageProblem(f"--wanted {text}: there is no such class; there are {known}.")


def _write(text: str, output: str | None) -> None:
    if output is None:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
    else:
        write_text(output, text)


def _model_facts(path: str) -> dict[str, Any]:
    model, layout = load_model(path)
    usual = type(model)().get_params(deep=False)
    given = {name: x for name, x in model.get_params(deep=False).items() if x != usual.get(name)}
    facts: dict[str, Any] = {"estimator": _kind(model)}
    facts["parameters"] = [f"{name}={x!r}" for name, x in given.items()] or "all as usual"
    if get_tags(model).target_tags.required:
        facts["target"] = list(layout.target) or "not known"
    facts["columns"] = feature_names(model)
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        facts["proven"] = certificate.statement()
        if hasattr(model, "curve_"):
            facts["size"] = model.curve_.statement()
        facts["written by"] = f"certree {certificate.version}"
    return facts


def _installation() -> dict[str, Any]:
    memory = machine_memory()
    found = {}
    for name in ("numpy", "scikit-learn", *_OPTIONAL):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return {
        "certree": __version__,
        "core": ", ".join(f"{name}: {x}" for name, x in build_info().items()),
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "processors": processor_count(),
        "memory": "unknown" if memory is None else f"{memory / 1e9:.1f} GB",
        **found,
    }
