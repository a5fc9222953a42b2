"""The objects that model files hold: trees, encoders, certificates, paths, oracles, metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from certree import metrics, oracles
from certree.decisions.oracles._oracle import Constraints
from certree.encoding import TableEncoder, Test, kinds_of_tests
from certree.encoding._test_list import Cuts, CutTests, TestList
from certree.results._certificate import Certificate
from certree.results._fairness import FairnessCertificate
from certree.results._limit_certificate import LimitedCertificate
from certree.results._pareto import FrontCertificate, ParetoFront
from certree.results._path import PathEntry, RegularizationPath
from certree.results._record import Record
from certree.results._task_certificate import TaskCertificate
from certree.results._validation import ValidationCurve
from certree.tasks import LeafMinimum, Limit
from certree.tree import Tree
from certree.tree._json import MOST_COLUMNS, read_test
from certree.tree._nodes import Nodes
from certree.tree._plain import read, read_whole, shown

from ._values import (
    FORMS,
    TAGS,
    Form,
    form,
    from_plain,
    plain_or_omitted,
    read_list,
    read_object,
    to_plain,
    written_as,
    written_by_fields,
)


@form("tree", Tree)
class _Tree:
    @staticmethod
    def write(value: Tree) -> Any:
        return value.to_dict()

    @staticmethod
    def read(value: Any, where: str) -> Tree:
        return Tree.from_dict(value)


def _certificate(cls: type[Record]) -> None:
    FORMS[cls.__name__] = Form(lambda value: value.to_dict(), lambda value, _: cls.from_dict(value))
    TAGS[cls] = cls.__name__


for _kind in (
    *(Certificate, TaskCertificate, LimitedCertificate, FairnessCertificate, FrontCertificate),
):
    _certificate(_kind)


# ---- tests and encoders --------------------------------------------------------------------------


@form("tests", TestList)
class _Tests:
    """The tests of an encoder: those of a column with many cut points by the values around them."""

    @staticmethod
    def write(value: TestList) -> Any:
        return [_write_part(part) for part in value.parts]

    @staticmethod
    def read(value: Any, where: str) -> TestList:
        return TestList([_read_part(part, where) for part in read_list(value, where)])


def _write_part(part: Any) -> Any:
    if not isinstance(part, CutTests) or type(part.cuts) is not Cuts or part.cuts.given is not None:
        return [test.to_dict() for test in part]
    gaps = part.cuts.gaps
    return {
        "feature": part.feature,
        "name": part.name,
        "missing": part.missing,
        "values": part.cuts.values.tolist(),
        "gaps": None if gaps is None else gaps.tolist(),
    }


def _read_part(part: Any, where: str) -> Any:
    if isinstance(part, list):
        return [_read_test(test, where) for test in part]
    given = read_object(part, {"feature", "name", "missing", "values", "gaps"}, where)
    values = np.array(read(tuple[float, ...], given["values"], f"values of {where}"))
    gaps = read(tuple[int, ...] | None, given["gaps"], f"gaps of {where}")
    if len(values) < 2 or not (np.diff(values) > 0).all():
        raise ValueError(f"values of {where} must rise, and be at least two.")
    inside = gaps is None or (bool(gaps) and min(gaps) >= 0 and max(gaps) < len(values) - 1)
    if not inside:
        raise ValueError(f"gaps of {where} must lie between its values.")
    return CutTests(
        read_whole(given["feature"], f"feature of {where}", 0, MOST_COLUMNS),
        read(str, given["name"], f"name of {where}"),
        Cuts(values, None if gaps is None else np.array(gaps, dtype=np.intp)),
        read(bool | None, given["missing"], f"missing of {where}"),
    )


def _read_test(value: Any, where: str) -> Test:
    test = read_test(value)
    read_whole(test.feature, f"feature of a question of {where}", 0, MOST_COLUMNS)
    return test


FORMS["test"] = Form(lambda test: test.to_dict(), _read_test)
TAGS.update(dict.fromkeys(kinds_of_tests(), "test"))


_ENCODER: dict[str, Any] = {
    "tests_": TestList,
    "n_features_in_": int,
    "feature_names_in_": np.ndarray,
    "_is_binary": bool,
    "_multiway": list,
    "identifiers_": tuple,
    "_left_out": dict,
    "_stopped_by": str,
    "_is_counted": bool,
}
"""What an encoder keeps of a table, with types."""


@form("encoder", TableEncoder)
class _Encoder:
    @staticmethod
    def write(value: TableEncoder) -> Any:
        check_is_fitted(value)
        kept = {name: vars(value)[name] for name in _ENCODER if name in vars(value)}
        return {
            "parameters": {
                name: plain_or_omitted(name, given)
                for name, given in value.get_params(deep=False).items()
            },
            "fitted": {name: to_plain(part) for name, part in kept.items()},
        }

    @staticmethod
    def read(value: Any, where: str) -> TableEncoder:
        given = read_object(value, {"parameters", "fitted"}, where)
        encoder = TableEncoder()
        parameters = set(encoder.get_params(deep=False))
        for name, part in read_object(given["parameters"], parameters, where).items():
            setattr(encoder, name, from_plain(part, f"{name} of {where}"))
        fitted = given["fitted"]
        if not isinstance(fitted, dict) or not set(fitted) <= set(_ENCODER):
            raise ValueError(f"{where} keeps {', '.join(_ENCODER)}, got {shown(fitted)}.")
        for name, part in fitted.items():
            found = from_plain(part, f"{name} of {where}")
            if type(found) is not _ENCODER[name]:
                raise ValueError(f"{name} of {where} has the type {type(found).__name__}.")
            setattr(encoder, name, found)
        _check_encoder(encoder, where)
        encoder.set_output(transform="default")
        return encoder


def _check_encoder(encoder: TableEncoder, where: str) -> None:
    """Refuse an encoder whose parts do not fit together."""
    needed = ("tests_", "n_features_in_", "_is_binary", "_multiway")
    lacking = [name for name in needed if name not in vars(encoder)]
    if lacking:
        raise ValueError(f"{where} lacks {', '.join(lacking)}.")
    n_tests, width = len(encoder.tests_), encoder.n_features_in_
    names = getattr(encoder, "feature_names_in_", None)
    if names is not None and (names.shape != (width,) or not all(type(n) is str for n in names)):
        raise ValueError(f"{where} must have a name for each of its {width} columns.")
    features = [part[0].feature for part in encoder.tests_.parts]
    features += [
        test.feature for part in encoder.tests_.parts if type(part) is list for test in part
    ]
    if max(features, default=-1) >= width:
        raise ValueError(f"{where} has questions of columns beyond its {width} columns.")
    if encoder._is_binary and features[1:] != [*range(width)]:
        # Such an encoder answers with the columns themselves.
        raise ValueError(f"{where} must have one question for each of its {width} columns.")
    pairs: list[Any] = encoder._multiway
    for pair in pairs:
        is_pair = type(pair) is tuple and len(pair) == 2 and isinstance(pair[0], Test)
        has_usual = is_pair and pair[0].usual_outcome is not None
        if not has_usual or not isinstance(pair[1], np.ndarray) or pair[1].dtype != np.int32:
            raise ValueError(f"{where} must list multiway questions with their columns.")
        columns = pair[1].tolist()
        if len(columns) != pair[0].n_outcomes or not 0 <= min(columns) <= max(columns) < n_tests:
            raise ValueError(
                f"{where} must have one column for each outcome of a multiway question."
            )
    left_out = getattr(encoder, "_left_out", {})
    if not all(type(n) is int for pair in left_out.items() for n in pair):
        raise ValueError(f"{where} must say by column how many questions were left out.")


# ---- paths, fronts, nodes ------------------------------------------------------------------------

written_by_fields(PathEntry)

_PATH = (
    *("entries", "total_weight", "status", "max_depth", "max_splits", "min_samples_leaf"),
    *("seconds", "counters", "measures"),
)


def _path(entries: Any, **others: Any) -> RegularizationPath:
    is_path = bool(entries) and all(isinstance(entry, PathEntry) for entry in entries)
    if not is_path or not all(isinstance(entry.tree, Tree) for entry in entries):
        raise ValueError("A path needs entries, each with its tree.")
    path = RegularizationPath(entries, **others)
    repr((str(path), path.to_dict()))
    return path


written_as(
    RegularizationPath, "path", lambda path: {n: getattr(path, n) for n in _PATH}, _PATH, _path
)


_CURVE = ("params", "scores", "rule", "measure")


def _curve(params: Any, scores: Any, rule: Any, measure: Any) -> ValidationCurve:
    is_table = isinstance(scores, np.ndarray) and scores.dtype == np.float64 and scores.ndim == 2
    is_list = isinstance(params, list) and all(isinstance(one, dict) for one in params)
    if not is_table or not is_list or not params or scores.shape[0] != len(params):
        raise ValueError("A curve needs limits, and a line of scores for each of them.")
    if rule not in ("best", "one_se") or type(measure) is not str:
        raise ValueError("A curve needs a rule, best or one_se, and the name of its score.")
    curve = ValidationCurve(params, scores, rule=rule, measure=measure)
    repr((str(curve), curve.cv_results()))
    return curve


written_as(
    ValidationCurve, "curve", lambda curve: {n: getattr(curve, n) for n in _CURVE}, _CURVE, _curve
)


def _front(model: Any, trees: Any, certificate: Any) -> ParetoFront:
    are_trees = isinstance(trees, tuple) and all(isinstance(tree, Tree) for tree in trees)
    if not isinstance(certificate, FrontCertificate) or not are_trees or not trees:
        raise ValueError("A front needs a certificate and trees.")
    if len(trees) != len(certificate.points) or not hasattr(model, "certificate_"):
        raise ValueError("A front needs a fitted model and one tree for each point.")
    return ParetoFront(model, trees, certificate)


written_as(
    ParetoFront,
    "front",
    lambda front: {"model": front._model, "trees": front.trees, "certificate": front.certificate},
    ("model", "trees", "certificate"),
    _front,
)


def _nodes(test: Any, first_child: Any, label: Any) -> Nodes:
    arrays = (test, first_child, label)
    if not all(isinstance(a, np.ndarray) and a.dtype == np.int32 for a in arrays):
        raise ValueError("Nodes are three lists of int32 numbers.")
    inner = np.flatnonzero(test >= 0)
    first = first_child[inner]
    fits = len({a.shape for a in arrays}) == 1 and test.ndim == 1 and len(test) > 0
    if not fits or (first <= inner).any() or (first + 1 >= len(test)).any():
        raise ValueError("The children of a node come after it.")
    return Nodes(test, first_child, label)


written_as(
    Nodes,
    "nodes",
    lambda nodes: {"test": nodes.test, "first_child": nodes.first_child, "label": nodes.label},
    ("test", "first_child", "label"),
    _nodes,
)

# ---- what users pass -----------------------------------------------------------------------------


def _constructed(cls: Any, make: Callable[..., Any] | None = None, **attributes: str) -> None:
    """Let files hold what users make by a constructor; where its arguments are kept, by name."""

    def parts(value: Any) -> dict[str, Any]:
        return {name: getattr(value, kept) for name, kept in attributes.items()}

    written_as(cls, cls.__name__, parts, tuple(attributes), make)


_constructed(Limit, name="name", amounts="amounts", at_most="at_most", at_least="at_least")
_constructed(LeafMinimum, at_least="at_least", counts="counts")
_constructed(oracles.Decisions, decisions="_table", names="names", sense="sense")
_constructed(oracles.TopK, n="n_costs", k="k", names="names", sense="sense")
_constructed(oracles.Assignment, n="n", sense="sense")
_constructed(
    *(oracles.DAGShortestPath,), edges="edges", source="source", target="target", sense="sense"
)

# A short file must not ask for large arrays: sizes are read with what they are the size of.
_MOST_EDGES = 10**6


def _grid(rows: int, cols: int, sense: str) -> oracles.GridShortestPath:
    if rows * cols > _MOST_EDGES:
        raise ValueError(f"A grid of {rows} times {cols} nodes is too large for a file.")
    return oracles.GridShortestPath(rows, cols, sense)


_constructed(oracles.GridShortestPath, _grid, rows="rows", cols="cols", sense="sense")


def _simplex(upper: Any, **others: Any) -> oracles.BoxSimplex:
    return oracles.BoxSimplex(len(upper), upper, **others)


_BOX = ("upper", "lower", "total", "names", "sense")
_constructed(oracles.BoxSimplex, _simplex, **{name: name for name in _BOX})


def _program(cls: Any, read_more: Callable[[Constraints], dict[str, Any]]) -> None:
    def parts(value: Any) -> dict[str, Any]:
        stated: Constraints = value.constraints()
        is_equal = stated.row_lower == stated.row_upper
        return {
            "A_ub": stated.matrix[~is_equal],
            "b_ub": stated.row_upper[~is_equal],
            "A_eq": stated.matrix[is_equal],
            "b_eq": stated.row_upper[is_equal],
            "bounds": np.column_stack([stated.lower, stated.upper]).tolist(),
            "sense": value.sense,
            **read_more(stated),
        }

    def make(bounds: Any, **others: Any) -> Any:
        return cls(bounds=bounds, n_costs=len(bounds), **others)

    names = ("A_ub", "b_ub", "A_eq", "b_eq", "bounds", "sense")
    more = () if cls is oracles.LinearProgram else ("integrality",)
    written_as(cls, cls.__name__, parts, (*names, *more), make)


_program(oracles.LinearProgram, lambda stated: {})
_program(oracles.MixedIntegerProgram, lambda stated: {"integrality": stated.integer})


_PLAIN_METRICS = [
    one
    for one in (getattr(metrics, name) for name in metrics.__all__)
    if isinstance(one, type) and one not in (metrics.Metric, metrics.Custom)
]


def _metric(cls: Any) -> None:
    _constructed(cls, None, **{name: name for name in cls._parameters})


for _class in _PLAIN_METRICS:
    _metric(_class)
