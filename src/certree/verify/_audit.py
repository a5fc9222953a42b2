"""The parts of a verification: the claim, the data as plain values, and the path of each row."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._candidates import (
    CandidateRules,
    Candidates,
    StatedKeys,
    StatedTests,
    Test,
    outcome_of,
    plain_test,
)
from ._conditions import check_conditions
from ._plain_numbers import Exact, exact, last_bits, read_list, text
from ._raw_table import RawTable, read_table

_LOG = logging.getLogger("certree")


@dataclass(frozen=True)
class PlainTree:
    """A tree by its plain fields.

    Attributes
    ----------
    tests : list of dict
        The fields of its tests.
    asked : list of int
        The test of each node, -1 in leaves.
    children : list of range
        The children of each node, none for leaves.
    label : list of int
        Place of the prediction of each leaf among the values, -1 in other nodes.
    counts : list of list
        The weights that the tree states for each node.
    rows : list of list, or None
        The numbers of rows that it states; None: the weights are these.
    values : list
        What leaves predict.
    names : list of str
        What these are called, if they have names.
    columns : list of str
        The names of the raw columns.
    source : Tree
        The tree itself.
    """

    tests: Sequence[Test]
    asked: Sequence[int]
    children: Sequence[range]
    label: Sequence[int]
    counts: Sequence[Sequence[Any]]
    rows: Sequence[Sequence[Any]] | None
    values: Sequence[Any]
    names: Sequence[str]
    columns: Sequence[str]
    source: Any

    @classmethod
    def of(cls, tree: Any) -> PlainTree:
        """Read a tree.

        Raises
        ------
        CertificateError
            If it is not a tree.
        """
        try:
            columns = list(tree.feature_names)
            tests = [plain_test(test, len(columns)) for test in tree.tests]
            asked, first = tree.test.tolist(), tree.first_child.tolist()
            label, values = tree.label.tolist(), tree.classes.tolist()
            counts, names = tree.counts.tolist(), list(getattr(tree.payload, "names", ()))
            rows = None if tree.payload.rows is None else tree.payload.rows.tolist()
        except AttributeError:
            raise CertificateError(f"expected a tree, got a {type(tree).__name__}.") from None
        check_finite(tree.classes, "what leaves of the tree predict")
        check_finite(tree.counts, "the weight of rows in the tree")
        outcomes = [len(test["categories"]) if "categories" in test else 2 for test in tests]
        children = [
            range(start, start + outcomes[test]) if test >= 0 else range(0)
            for test, start in zip(asked, first, strict=True)
        ]
        good = all(
            (0 <= k < len(values) and test < 0)
            or (0 <= test < len(tests) and places.start > 0 and places.stop <= len(asked))
            for k, test, places in zip(label, asked, children, strict=True)
        )
        if not good or not asked:
            raise CertificateError("the tree has nodes without a label, a test or their children.")
        return cls(tests, asked, children, label, counts, rows, values, names, columns, tree)

    @property
    def n_columns(self) -> int:
        """Number of raw columns."""
        return len(self.columns)

    def value(self, leaf: int) -> Any:
        """Return what a leaf predicts."""
        return self.values[self.label[leaf]]

    def name(self, leaf: int) -> str | None:
        """Return what the prediction of a leaf is called."""
        return self.names[self.label[leaf]] if self.label[leaf] < len(self.names) else None


def check_finite(stated: Any, what: str) -> None:
    """Raise CertificateError if some numbers of a model are missing or infinite."""
    numbers = np.asarray(stated)
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        raise CertificateError(f"{what} is missing or infinite.")


@dataclass(frozen=True)
class GivenRows:
    """The data that a user passes to `verify`."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    exhaustive: bool = False
    costs: Any = None
    task: Any = None
    sensitive_features: Any = None


@dataclass
class Audit:
    """The claim, the checks that passed, and the differences that were found."""

    certificate: Any
    parameters: Mapping[str, Any]
    checks: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    @property
    def sizes(self) -> Any:
        """The certificate, for the sizes of trees for which a search makes room.

        With multiway tests, depth says little of the number of splits: there is room for any.
        """
        if self.parameters.get("splits", "binary") == "binary":
            return self.certificate
        return replace(self.certificate, max_depth=None, max_splits=None)

    def done(self, check: str) -> None:
        """Note a check that passed; the log of the package says so while others run."""
        self.checks.append(check)
        _LOG.info("verify: checked %s", check)

    def differ(self, what: str) -> None:
        """Note a difference."""
        self.differences.append(what)

    def compare(self, what: str, certified: object, recomputed: object) -> None:
        """Note a difference, if there is one."""
        if certified != recomputed:
            self.differ(f"{what}: certified {text(certified)}, recomputed {text(recomputed)}")

    def compare_within(
        self, what: str, certified: Exact, recomputed: Exact, slack: Exact = 0
    ) -> None:
        """Note a difference that is larger than allowed."""
        if abs(Fraction(certified) - recomputed) > slack:
            self.compare(what, certified, exact(recomputed))

    def raise_if_different(self) -> None:
        """Raise if anything differs.

        Raises
        ------
        CertificateError
            With all differences.
        """
        if self.differences:
            raise CertificateError(
                "the certificate does not hold for this model and data:\n"
                + "\n".join(f"  - {difference}" for difference in self.differences)
            )


@dataclass(frozen=True)
class Checked:
    """The result of a check: the audit, the cost if there is a tree, and the rows that count."""

    audit: Audit
    cost: Exact | None
    n_rows: int


@dataclass(frozen=True)
class Data:
    """The table, and exact weights of the rows that count.

    Weights are those given, unless class weights or rounded weights replace them.
    """

    table: RawTable
    weights: Mapping[int, Exact]
    tests: Sequence[Test] = ()
    """The candidates."""
    candidates: Candidates | None = None
    keys: StatedKeys | None = None
    """How the candidates divide the rows."""
    n_encoded: int = 0
    """Number of columns that encode the candidates; multiway tests have one for each outcome."""
    n_asked: int | None = None
    """Number of all candidates, if known; a budget may have left some out."""
    classes: Mapping[int, int] = field(default_factory=dict)
    """Place of the class of each row among those of the model, where rows have one."""
    slack: Exact = 0
    """How far sums of weights may be off, where weights were rounded as float64."""
    prices: Sequence[Sequence[Exact]] | None = None
    """What labels cost rows of each class, in place of one for every error."""
    labels: Sequence[Any] | None = None
    """What leaves may predict, in this order, as the user calls it; None: anything."""
    given: Mapping[int, Exact] | None = None
    """Sample weights, where others replace them in `weights`."""
    behind: Mapping[int, int] | None = None
    """How many rows of the table each row stands for, where that is more than one."""

    @property
    def sample_weights(self) -> Mapping[int, Exact]:
        """The weights of the rows, those of their classes and rounding aside."""
        return self.weights if self.given is None else self.given

    def n_behind(self, row: int) -> int:
        """Return how many rows of the table a row stands for."""
        return 1 if self.behind is None else self.behind[row]

    @property
    def dearest(self) -> Fraction:
        """The most that a label costs, for a weight of one."""
        return Fraction(1 if self.prices is None else max(max(line) for line in self.prices))

    def lost(self, row: int, label: int) -> Exact:
        """Return what a label costs a row: its weight, if it is wrong, or by a cost matrix."""
        of_class = self.classes[row]
        if self.prices is None:
            return self.weights[row] if of_class != label else 0
        return self.weights[row] * self.prices[of_class][label]

    @cached_property
    def rows(self) -> Sequence[int]:
        """The rows that count."""
        return list(self.weights)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(map(self.table.name, range(len(self.table.columns))))

    @property
    def n_rows(self) -> int:
        """Number of rows of the table, including those that do not count."""
        return self.table.n_rows

    def total(self) -> Fraction:
        """Return the weight of all rows."""
        return Fraction(sum(self.weights.values()))

    def weight(self, rows: Sequence[int]) -> Exact:
        """Return the weight of some rows."""
        return sum(self.weights[row] for row in rows)

    def column(self, test: Test) -> Sequence[Any]:
        """Return the column of a test."""
        return self.table.columns[test["feature"]].values

    def parts(self, test: Test) -> list[int]:
        """Return the rows of each outcome of a test as bits, without empty outcomes."""
        column, parts = self.column(test), dict[int, int]()
        for place, row in enumerate(self.weights):
            outcome = outcome_of(test, column[row])
            parts[outcome] = parts.get(outcome, 0) | 1 << place
        return list(parts.values())


@dataclass(frozen=True)
class Walk:
    """The rows that pass each node of a tree, and how deep each node is."""

    tree: PlainTree
    rows: Mapping[int, Sequence[int]]
    depths: Mapping[int, int]

    @property
    def leaves(self) -> list[int]:
        """The leaves."""
        return [node for node in self.rows if self.tree.asked[node] < 0]

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.rows) - len(self.leaves)

    @property
    def depth(self) -> int:
        """Depth of the tree."""
        return max(self.depths.values())


def read_rows(X: Any, sample_weight: Any) -> Data:
    """Read the table and the weights of its rows.

    Raises
    ------
    ValueError
        If a weight is negative, or the numbers do not fit the table.
    """
    table = read_table(X)
    weights = [Fraction(1)] * table.n_rows
    if sample_weight is not None:
        weights = read_list(sample_weight, table.n_rows, "sample_weight")
    if min(weights) < 0 or not any(weights):
        raise ValueError("sample_weight must not be negative, and some row must count.")
    return Data(table, {row: exact(weight) for row, weight in enumerate(weights) if weight})


def with_candidates(
    audit: Audit, data: Data, encoder: Any, is_exact: bool, least: Exact = 0, **more: bool
) -> Data:
    """Read the candidates of a model, and check them against its parameters.

    The leaves of any tree, whatever it asks, cost at least `least`.
    """
    n_columns = len(data.table.columns)
    try:
        stated, expected = encoder.candidates_, encoder.n_features_in_
    except AttributeError:
        raise CertificateError("the model has no encoder_ with candidates_.") from None
    if n_columns != expected:
        raise CertificateError(f"X has {n_columns} columns, but the tree was fitted on {expected}.")
    tests = StatedTests(stated, n_columns)
    parameters = audit.parameters
    rules = CandidateRules(
        parameters["thresholds"],
        parameters["categorical_features"],
        parameters.get("splits", "binary"),
        parameters.get("min_category_rows", 1),
        parameters.get("category_tests", "one"),
        parameters.get("identifiers", "drop"),
    )
    candidates = Candidates(data.table, rules, data.weights, is_exact)
    may_lack = _may_lack(audit, len(tests), least)
    keys, misnamed = candidates.read(tests)
    if misnamed is not None:
        audit.differ(misnamed)
    for difference in candidates.differences(keys, may_lack=may_lack, **more):
        audit.differ(difference)
    check_identifiers(audit, [data.table.name(i) for i in sorted(candidates.identifiers)])
    audit.done(f"{len(tests)} candidates, from the table and the parameters")
    n_asked = candidates.count() if may_lack else len(tests)
    return replace(
        data,
        tests=tests,
        candidates=candidates,
        keys=keys,
        n_asked=n_asked,
        n_encoded=len(encoder.tests_),
    )


def check_identifiers(audit: Audit, names: Iterable[str]) -> None:
    """Compare which columns have no tests since their values name single rows."""
    stated = getattr(audit.certificate, "identifiers", None)
    if stated is not None:
        audit.compare("columns like an identifier", stated, tuple(names))


def _may_lack(audit: Audit, n_tests: int, least: Exact) -> bool:
    """Return whether a budget may have left some candidates out."""
    certificate = audit.certificate
    is_stopped = getattr(certificate, "status", "optimal") in (
        "time_limit",
        "memory_limit",
        "interrupted",
    )
    if not hasattr(certificate, "n_tests_searched"):
        return is_stopped
    if certificate.n_tests_searched is None:
        return False
    audit.compare("number of questions searched", certificate.n_tests_searched, n_tests)
    if not is_stopped and not _costs_least(certificate, least):
        audit.differ(f"status is {certificate.status!r}, but not all questions were searched")
    return True


def _costs_least(certificate: Any, least: Exact) -> bool:
    """Return whether a tree costs no more than any tree does, whatever the tests are.

    A tree pays for one leaf, where leaves pay. The best single leaf is the best tree if there may
    be no split; and else every other tree pays for one split more. That the leaf is the best one is
    checked by its prediction.
    """
    cost: Exact | None = getattr(certificate, "cost", None)
    if cost is None:
        return False
    penalty = certificate.split_penalty
    if certificate.complexity_per == "leaf":
        least += penalty
    if certificate.n_splits == 0:
        if 0 in (certificate.max_depth, certificate.max_splits):
            return True
        least += penalty
    rounding: Exact = getattr(certificate, "rounding", 0)
    return cost <= least + rounding


def check_n_tests(audit: Audit, data: Data) -> None:
    """Compare the number of candidates, including those that a budget left out."""
    stated = audit.certificate.n_tests
    searched = getattr(audit.certificate, "n_tests_searched", None)
    if data.n_asked is not None and searched is not None and searched < stated < data.n_asked:
        return  # there was no time to count them all
    if data.n_asked is not None:
        audit.compare("number of questions", stated, data.n_asked)
    elif stated <= len(data.tests):
        audit.differ(f"number of questions: {stated}, of which {len(data.tests)} were searched")


def walk_down(audit: Audit, data: Data, tree: Any, where: str = "tree") -> Walk:
    """Send every row from the root to its leaf, by tests that are among the candidates."""
    plain = tree if isinstance(tree, PlainTree) else PlainTree.of(tree)
    if plain.n_columns != len(data.table.columns):
        raise CertificateError(
            f"X has {len(data.table.columns)} columns, but the tree was fitted on "
            f"{plain.n_columns}."
        )
    rows: dict[int, Sequence[int]] = {0: data.rows}
    depths = {0: 0}
    stack = [0]
    while stack:
        node = stack.pop()
        if plain.asked[node] < 0:
            continue
        test = plain.tests[plain.asked[node]]
        column = data.column(test)
        parts: list[list[int]] = [[] for _ in plain.children[node]]
        for row in rows[node]:
            parts[outcome_of(test, column[row])].append(row)
        for child, part in zip(plain.children[node], parts, strict=True):
            if child in depths:
                raise CertificateError(f"node {child} of the {where} is reached twice.")
            rows[child], depths[child] = part, depths[node] + 1
            stack.append(child)
    check_names(audit, data.names, plain, where)
    for test, source in zip(plain.tests, plain.source.tests, strict=True):
        difference = check_conditions(test, source)
        if difference is not None:
            audit.differ(f"{where}: what texts and exports show of {_plain(test)}: {difference}")
    _check_places(audit, data, plain, where)
    if data.labels is not None:
        check_labels(audit, data.labels, plain, where)
    if len(rows) != len(plain.asked):
        audit.differ(f"{where}: {len(plain.asked)} nodes, of which only {len(rows)} can be reached")
    if data.candidates is not None and data.keys is not None:
        for node in rows:
            place = plain.asked[node]
            if place >= 0 and data.candidates.key(plain.tests[place]) not in data.keys:
                said = _plain(plain.tests[place])
                audit.differ(f"{where}: node {node} asks {said}, which is not a candidate")
    return Walk(plain, rows, depths)


def check_names(audit: Audit, names: Sequence[str], tree: PlainTree, where: str = "tree") -> None:
    """Compare what a tree calls its columns with the names in the table."""
    pairs = enumerate(zip(tree.columns, names, strict=True))
    for place, (called, name) in pairs:
        if called != name:
            audit.compare(f"{where}: name of column {place}", called, name)
            break
    for test in tree.tests:
        name = names[test["feature"]]
        if test["name"] != name:
            audit.differ(f"{where}: a test asks for {test['name']!r}, but its column is {name!r}")


def _check_places(audit: Audit, data: Data, tree: PlainTree, where: str) -> None:
    """Compare where the tests of a tree are among the candidates, which exports may show."""
    if data.candidates is None:
        return
    stated, n_tests = tree.source.columns, len(data.tests)
    audit.compare(f"{where}: number of candidates", tree.source.n_columns, data.n_encoded)
    if audit.parameters.get("splits", "binary") != "binary":
        return
    key = data.candidates.key
    for place, test in zip(stated, tree.tests, strict=True):
        if place < n_tests and key(data.tests[place]) != key(test):
            audit.differ(f"{where}: candidate {place} is not the test of {test['name']!r}")


def check_labels(audit: Audit, labels: Sequence[Any], tree: PlainTree, where: str = "tree") -> None:
    """Compare what the leaves of a tree may predict with the labels of the user.

    Raises
    ------
    CertificateError
        If they differ: places among other labels say nothing.
    """
    if list(tree.values) != list(labels):
        audit.compare(f"labels of the {where}", list(tree.values), list(labels))
        audit.raise_if_different()


def _plain(test: Test) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in test.items() if value is not None)


def check_size(audit: Audit, walk: Walk, limits: Any, where: str = "") -> None:
    """Check that a tree keeps the limits on depth, splits and rows per leaf."""
    said = f"{where}: " if where else ""
    if limits.max_depth is not None and walk.depth > limits.max_depth:
        audit.differ(f"{said}depth {walk.depth} is above the limit max_depth={limits.max_depth}")
    if limits.max_splits is not None and walk.n_splits > limits.max_splits:
        audit.differ(
            f"{said}{walk.n_splits} splits are above the limit max_splits={limits.max_splits}"
        )
    for leaf in walk.leaves:
        # A tree without splits is allowed on any data, and so is an outcome without rows.
        if 0 < len(walk.rows[leaf]) < limits.min_samples_leaf and walk.n_splits:
            audit.differ(
                f"{said}leaf {leaf} has {len(walk.rows[leaf])} rows, fewer than "
                f"min_samples_leaf={limits.min_samples_leaf}"
            )


def predictions_of(audit: Audit, predict: Any, X: Any) -> list[Any] | None:
    """Return what a model predicts; None if it cannot, which is a difference."""
    try:
        return list(np.asarray(predict(X)).tolist())
    except Exception as error:
        audit.differ(f"the model cannot predict its rows: {str(error).partition(chr(10))[0]}")
        return None


def check_predictions(
    audit: Audit,
    predict: Any,
    X: Any,
    walk: Walk,
    says: Callable[[Any, int], tuple[Fraction, Fraction]] | None = None,
) -> None:
    """Check that a model predicts what its tree says.

    Where leaves hold formulas, `says` returns the number of a row and the size of its terms; terms
    may cancel, and float64 is off by a share of their size.
    """
    predicted = predictions_of(audit, predict, X)
    if predicted is None:
        return
    for leaf in walk.leaves:
        for row in walk.rows[leaf]:
            wanted, slack = walk.tree.value(leaf), 0.0
            if says is not None:
                wanted, size = map(float, says(wanted, row))
                slack = float(last_bits()) * size
            same = predicted[row] == wanted
            if not same and not (says is not None and abs(predicted[row] - wanted) <= slack):
                audit.differ(
                    f"prediction for row {row}: the model says {predicted[row]!r}, its tree "
                    f"{wanted!r}"
                )
                return
    audit.done("the model predicts what its tree says")
