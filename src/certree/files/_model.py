"""Fitted estimators as JSON.

Format 1::

    {"type": "certree.Model", "format": 1, "version": "0.1.0",
     "estimator": "OptimalTreeClassifier",
     "parameters": {"max_depth": 3, ...},
     "fitted": {"tree_": {"tree": {...}}, "certificate_": {"Certificate": {...}}, ...}}

``schemas/model-1.json`` of the package states it as a JSON schema. `fitted` has the attributes that
the class of the estimator declares, where they are set.
"""

from __future__ import annotations

import inspect
import json
import os
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from sklearn.utils.validation import check_is_fitted

from certree._version import __version__
from certree.encoding import TableEncoder
from certree.exceptions import warn
from certree.tree import Tree
from certree.tree._plain import load_json, shown

from ._values import (
    FORMS,
    TAGS,
    Form,
    NotWritableError,
    Omitted,
    fits,
    from_plain,
    plain_or_omitted,
    to_plain,
)

FORMAT = 1
TYPE = "certree.Model"

_KEYS = ("estimator", "parameters", "fitted")

_ESTIMATORS: dict[str, type] = {}

# Attributes with one line for each node of the tree.
_PER_NODE = ("costs_", "decisions_", "_node_costs")


def register_estimator(cls: type) -> None:
    """Let files hold estimators of a class."""
    _ESTIMATORS[cls.__name__] = cls
    TAGS[cls] = "model"


def _load_estimator(name: str) -> None:
    """Load a public estimator, which registers itself; other names load nothing."""
    public = import_module("certree.estimators")
    if name in public.__all__:
        getattr(public, name)


def _load_parts() -> None:
    """Load the forms of all that files hold, which a fit does not need."""
    import_module(f"{__package__}._parts")


# ---- writing -------------------------------------------------------------------------------------


def model_to_json(model: Any, *, indent: int | None = None) -> str:
    """Return a fitted estimator as the text of a model file.

    A parameter that files cannot hold, such as a function, is left out with a warning.
    """
    check_is_fitted(model)
    _load_parts()
    head = {"type": TYPE, "format": FORMAT, "version": __version__}
    return json.dumps({**head, **_write(model)}, indent=indent, allow_nan=False)


def _write(model: Any) -> dict[str, Any]:
    parameters = {}
    for name, value in model.get_params(deep=False).items():
        # The workers of a fit are no part of the model.
        parameters[name] = None if name == "executor" else _write_or_omit(name, value)
    kept = {name: vars(model)[name] for name in _declared(type(model)) if name in vars(model)}
    fitted = {name: _write_fitted(name, value) for name, value in kept.items()}
    return {"estimator": type(model).__name__, "parameters": parameters, "fitted": fitted}


def _write_or_omit(name: str, value: Any) -> Any:
    try:
        return to_plain(value)
    except NotWritableError as error:
        warn(
            f"{name} holds {error}, which a model file cannot hold, so it is left out. The loaded "
            f"model predicts without it; set_params({name}=...) gives it back for another fit.",
            UserWarning,
        )
        return plain_or_omitted(name, value)


def _write_fitted(name: str, value: Any) -> Any:
    # The parameter `oracle` holds the same, and its warning says what to do.
    return plain_or_omitted(name, value) if name == "oracle_" else to_plain(value)


def _declared(cls: Any) -> dict[str, Any]:
    """Return the attributes that `fit` sets, with their types."""
    hints = get_type_hints(cls)
    return {
        one.name: hints[one.name] for one in fields(cls) if not one.init and one.default is MISSING
    }


# ---- reading -------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that the method `save` of an estimator wrote.

    The file is data: reading it runs no code, also if it comes from elsewhere.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        As it was saved: it predicts the same, has its certificate and can be verified. A parameter
        that the file could not hold is a placeholder, which says so.

    Raises
    ------
    ValueError
        If the file is not a model of a format that this version reads.
    OSError
        If it cannot be read.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> import os, tempfile
    >>> from certree import OptimalTreeClassifier, load
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[0], [1]], ["no", "yes"])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> model.save(path)
    >>> load(path).predict([[1]])
    array(['yes'], dtype='<U3')
    """
    try:
        return model_from_json(Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f"Cannot load {os.fspath(path)!r}. {error}") from None


def model_from_json(text: str | bytes) -> Any:
    """Return the estimator that a model file holds; ValueError for any other text."""
    _load_parts()
    data = load_json(text, "save")
    kind = data.get("type") if isinstance(data, dict) else None
    if kind == "certree.Tree":
        raise ValueError("This is a tree and not a model; read it with Tree.from_json.")
    if kind != TYPE:
        raise ValueError(f"This is not a model file: its type is {shown(kind)}, not {TYPE!r}.")
    found = data.get("format")
    if type(found) is not int or found != FORMAT:
        raise ValueError(
            f"This model file has format {shown(found)}, written by certree "
            f"{shown(data.get('version'))}, but certree {__version__} reads format {FORMAT}; use "
            "the version that wrote it."
        )
    try:
        model = _read({key: data.get(key) for key in _KEYS}, "model")
    except RecursionError:
        raise ValueError("The model file nests too deeply; pass what save wrote.") from None
    _check_parts(model)
    return model


def _read(data: Any, where: str) -> Any:
    if not isinstance(data, dict) or set(data) != set(_KEYS):
        raise ValueError(f"{where} must have the keys {', '.join(_KEYS)}, got {shown(data)}.")
    for key in _KEYS[1:]:
        if not isinstance(data[key], dict):
            raise ValueError(f"{key} of {where} must be an object, got {shown(data[key])}.")
    cls = _class(data["estimator"])
    model = cls()
    known = set(model.get_params(deep=False))
    if set(data["parameters"]) != known:
        odd = sorted(set(data["parameters"]) ^ known)
        raise ValueError(
            f"The parameters of {cls.__name__} differ from those of the file in "
            f"{shown(', '.join(odd))}; use the version of certree that wrote it."
        )
    for name, value in data["parameters"].items():
        setattr(model, name, from_plain(value, name))
    for name, check in getattr(cls, "_checks", ()):
        if not isinstance(getattr(model, name), Omitted):
            try:
                check(name, getattr(model, name))
            except TypeError as error:
                raise ValueError(str(error)) from None
    declared = _declared(cls)
    for name, value in data["fitted"].items():
        if name not in declared:
            raise ValueError(f"{cls.__name__} has no fitted attribute {shown(name)}.")
        found = from_plain(value, name)
        if not fits(declared[name], found):
            raise ValueError(f"{name} has the type {type(found).__name__}, which does not fit.")
        setattr(model, name, found)
    # A parameter may be an estimator that is not fitted.
    if data["fitted"] or where == "model":
        _check_parts(model)
    return model


def _class(name: Any) -> Any:
    if isinstance(name, str) and name not in _ESTIMATORS:
        _load_estimator(name)
    cls = _ESTIMATORS.get(name) if isinstance(name, str) else None
    if cls is None or inspect.isabstract(cls) or not hasattr(cls, "fit"):
        raise ValueError(
            f"Unknown estimator {shown(name)}; update certree, or import what defines it first."
        )
    return cls


def _check_parts(model: Any) -> None:
    """Refuse a model whose parts do not fit together."""
    kept = vars(model)
    encoder, tree = kept.get("encoder_"), kept.get("tree_")
    needed = [name for name in ("encoder_", "n_features_in_") if name in _declared(type(model))]
    lacking = [name for name in needed if name not in kept]
    if lacking:
        raise ValueError(f"The model lacks {', '.join(lacking)}.")
    try:
        model.__sklearn_tags__()
    except TypeError as error:
        raise ValueError(f"The model has a parameter of the wrong type: {error}") from None
    if isinstance(encoder, TableEncoder):
        _check_columns(
            "encoder_", encoder.n_features_in_, getattr(encoder, "feature_names_in_", None), model
        )
    if isinstance(tree, Tree):
        # Names such as x0 are also those of a tree without names.
        is_named = tree.has_names or hasattr(model, "feature_names_in_")
        names = np.array(tree.feature_names, dtype=object) if is_named else None
        _check_columns("tree_", tree.n_features, names, model)
        for name in _PER_NODE:
            if name in kept and len(kept[name]) != tree.n_nodes:
                raise ValueError(f"{name} needs a line for each of the {tree.n_nodes} nodes.")
    for one in kept.get("estimators_", ()):
        n_nodes, n_tests = len(one.nodes), len(encoder.tests_)
        if one.costs.shape != (n_nodes, model.oracle_.n_costs) or one.nodes.test.max() >= n_tests:
            raise ValueError("A tree of the forest does not fit its encoder and its oracle.")
    if tree is None and getattr(kept.get("certificate_"), "has_tree", False):
        raise ValueError("The certificate is about a tree, but the model lacks tree_.")


def _check_columns(what: str, width: int, names: Any, model: Any) -> None:
    known = getattr(model, "feature_names_in_", None)
    listed = None if names is None else names.tolist()
    stated = None if known is None else known.tolist()
    if width != model.n_features_in_ or listed != stated:
        raise ValueError(f"The columns of {what} differ from those of the model.")


FORMS["model"] = Form(_write, _read)
