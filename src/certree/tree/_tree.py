"""The tree object: flat arrays over nodes, the tests they ask, and what leaves hold.

Node 0 is the root. The children of node ``v`` are consecutive, one per outcome of its test, from
``first_child[v]`` on; a leaf has test -1. Nothing here assumes two outcomes, so multiway tests
and edges that carry a set of categories need no other tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certree.encoding import Table, Test, check_columns, read_table

from . import _json, _routing
from ._collapsed import collapsed, with_defaults
from ._exports import TreeExports
from ._payload import Payload
from ._payload_labels import Labels, one_payload
from ._payload_values import Values
from ._spread import importances, variances
from ._structure import check_shapes, column_names, default_names, frozen, walk

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


class Tree(TreeExports):
    """An immutable decision tree over raw tables.

    Trees come from a fitted estimator (``model.tree_``), from :meth:`from_arrays` or from
    :meth:`from_dict` and :meth:`from_json`.

    Parameters
    ----------
    tests : sequence of Test
        The distinct tests that the tree asks.
    test : array-like of int, shape (n_nodes,)
        Position in `tests` of the test of each node; -1 in leaves.
    first_child : array-like of int, shape (n_nodes,)
        First child of each node, -1 in leaves. Outcome ``k`` leads to ``first_child + k``.
    label : array-like of int, shape (n_nodes,), optional
        Position in `classes` of the prediction of each leaf, -1 in other nodes.
    counts : array-like, shape (n_nodes, n_classes), optional
        Weight of the training rows per node and class: their number, or the sum of sample weights.
    classes : array-like, shape (n_classes,), optional
        The class labels, of any type that NumPy arrays hold.
    rows : array-like of int, shape (n_nodes, n_classes), optional
        Number of training rows per node and class, if rows have weights other than one.
    payload : Payload, optional
        What leaves hold, in place of `label`, `counts` and `classes`: numbers, vectors, decisions.
    feature_names : sequence of str, optional
        Names of the raw columns. Unnamed columns are called ``x0``, ``x1``, ...
    n_features : int, optional
        Number of raw columns; by default as many as there are names.
    columns : sequence of int, optional
        Position of each test among all the columns of the encoder (by default 0, 1, ...).
    n_columns : int, optional
        Number of columns of the encoder.
    notes : sequence of str, optional
        A remark on each node, which exports show in place of the share of the predicted class.

    Examples
    --------
    >>> from certree.encoding import Threshold
    >>> tree = Tree([Threshold(0, "age", 35.5)], [0, -1, -1], [1, -1, -1], [-1, 0, 1],
    ...             counts=[[4, 3], [4, 1], [0, 2]], classes=["no", "yes"], feature_names=["age"])
    >>> print(tree.to_text())
    age <= 35.5: no (4 of 5, 80.0%)
    age > 35.5: yes (2 of 2, 100.0%)
    >>> tree.predict([[20.0], [50.0], [None]]).tolist()
    ['no', 'yes', 'yes']
    """

    __slots__ = (
        "_columns",
        "_depths",
        "_first_child",
        "_n_columns",
        "_n_features",
        "_names",
        "_notes",
        "_parent",
        "_payload",
        "_preorder",
        "_test",
        "_tests",
    )

    _columns: tuple[int, ...]
    _depths: IntArray
    _first_child: IntArray
    _n_columns: int
    _n_features: int
    _names: tuple[str, ...] | None
    _notes: tuple[str, ...] | None
    _parent: IntArray
    _payload: Payload
    _preorder: IntArray
    _test: IntArray
    _tests: tuple[Test, ...]

    def __init__(
        self,
        tests: Sequence[Test],
        test: ArrayLike,
        first_child: ArrayLike,
        label: ArrayLike | None = None,
        *,
        counts: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        rows: ArrayLike | None = None,
        payload: Payload | None = None,
        feature_names: Sequence[str] | None = None,
        n_features: int | None = None,
        columns: Sequence[int] | None = None,
        n_columns: int | None = None,
        notes: Sequence[str] | None = None,
    ) -> None:
        put = partial(object.__setattr__, self)
        put("_tests", tuple(tests))
        put("_test", frozen(test, np.int32))
        put("_first_child", frozen(first_child, np.int32))
        put("_payload", one_payload(payload, label, counts, classes, rows))
        names, width = column_names(feature_names, n_features, self._tests)
        put("_names", names)
        put("_n_features", width)
        put("_columns", tuple(range(len(self._tests)) if columns is None else map(int, columns)))
        put("_n_columns", max((-1, *self._columns)) + 1 if n_columns is None else int(n_columns))
        put("_notes", None if notes is None else tuple(map(str, notes)))
        check_shapes(self)
        parent, depths, preorder = walk(self)
        put("_parent", frozen(parent, np.int32))
        put("_depths", frozen(depths, np.int32))
        put("_preorder", frozen(preorder, np.int32))

    @classmethod
    def from_arrays(
        cls,
        tests: Sequence[Test],
        test: ArrayLike,
        first_child: ArrayLike,
        label: ArrayLike | None = None,
        *,
        counts: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        rows: ArrayLike | None = None,
        payload: Payload | None = None,
        columns: Sequence[int] | None = None,
        n_columns: int | None = None,
        **others: Any,
    ) -> Tree:
        """Build a tree from the solver's arrays, where `tests` is the encoder's whole list.

        Only the tests that the tree asks are kept, with their positions in the encoder's list
        (:attr:`columns`), or what `columns` has there. Multiway tests send values that were not
        seen in training to the child with the most training weight. The other parameters are
        those of the constructor.
        """
        index = np.asarray(test, dtype=np.int32)
        if index.size and index.max() >= len(tests):
            raise ValueError(
                f"test refers to position {index.max()} of {len(tests)} tests; "
                "pass the list of tests of the encoder that made the columns."
            )
        held = one_payload(payload, label, counts, classes, rows)
        used, renumbered, origin = with_defaults(
            tests, index, np.asarray(first_child, dtype=np.int32), held.weights
        )
        return cls(
            used,
            renumbered,
            first_child,
            payload=held,
            columns=origin if columns is None else [columns[i] for i in origin],
            n_columns=len(tests) if n_columns is None else n_columns,
            **others,
        )

    # ---- immutability, equality, copying -----------------------------------------------------

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Tree is immutable; cannot set {name!r}. Build a new tree instead.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Tree is immutable; cannot delete {name!r}.")

    def __getstate__(self) -> dict[str, Any]:
        """Return what the constructor makes this tree of."""
        return {
            "tests": self._tests,
            "test": self._test,
            "first_child": self._first_child,
            "payload": self._payload,
            "feature_names": self._names,
            "n_features": self._n_features,
            "columns": self._columns,
            "n_columns": self._n_columns,
            "notes": self._notes,
        }

    def _with(self, **changes: Any) -> Tree:
        """Return the tree with some of its parts replaced."""
        return type(self)(**{**self.__getstate__(), **changes})

    def __setstate__(self, state: dict[str, Any]) -> None:
        Tree.__init__(self, **state)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tree:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return all(
            np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
            for a, b in zip(
                self.__getstate__().values(), other.__getstate__().values(), strict=True
            )
        )

    def __hash__(self) -> int:
        arrays = (self._test.tobytes(), self._first_child.tobytes())
        return hash((self._names, self._n_features, *arrays, self._payload))

    def __repr__(self) -> str:
        held = f"leaves={self._payload.kind!r}"
        if isinstance(self._payload, Labels):
            many = self.classes.size > 6 or self.classes.dtype.kind == "f"
            held = f"classes={f'{self.classes.size} of them' if many else self.classes.tolist()}"
        return (
            f"Tree(n_splits={self.n_splits}, n_leaves={self.n_leaves}, depth={self.depth}, "
            f"n_features={self.n_features}, {held})"
        )

    def _repr_html_(self) -> str:
        return self.to_html(interactive=False)

    # ---- structure ---------------------------------------------------------------------------

    @property
    def tests(self) -> tuple[Test, ...]:
        """The distinct tests that the tree asks."""
        return self._tests

    @property
    def test(self) -> IntArray:
        """Position in :attr:`tests` of each node's test; -1 in leaves."""
        return self._test

    @property
    def first_child(self) -> IntArray:
        """First child of each node; -1 in leaves."""
        return self._first_child

    @property
    def payload(self) -> Payload:
        """What the leaves hold."""
        return self._payload

    @property
    def label(self) -> IntArray:
        """Position in :attr:`classes` of each leaf's prediction; -1 in other nodes."""
        return self._payload.label

    @property
    def counts(self) -> NDArray[Any]:
        """Weight of the training rows per node and class; one column without classes.

        The sum of their sample weights, which is the number of rows unless weights were given.
        Weights of classes and of the objective say what errors cost, and do not enter.
        """
        return self._payload.counts

    @property
    def rows(self) -> NDArray[np.int64] | None:
        """Number of training rows per node and class, as `counts`; None if only weights are known.

        Only weights are known of weighted trees of scikit-learn, and of files that earlier versions
        of certree wrote.
        """
        return self._payload.known_rows

    @property
    def weights(self) -> NDArray[Any]:
        """Weight of the training rows per node."""
        return self._payload.weights

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels; the distinct predictions of leaves that hold anything else."""
        if not isinstance(self._payload, Values):
            raise ValueError(f"The leaves of this tree hold {self._payload.kind}, which have none.")
        return self._payload.values

    @property
    def parent(self) -> IntArray:
        """Parent of each node; -1 for the root."""
        return self._parent

    @property
    def node_depth(self) -> IntArray:
        """Number of tests above each node."""
        return self._depths

    @property
    def preorder(self) -> IntArray:
        """All nodes, each before its children, earlier outcomes first."""
        return self._preorder

    @property
    def columns(self) -> tuple[int, ...]:
        """Position of each of :attr:`tests` among the columns of the encoder."""
        return self._columns

    @property
    def n_columns(self) -> int:
        """Number of columns of the encoder."""
        return self._n_columns

    @property
    def notes(self) -> tuple[str, ...] | None:
        """A remark on each node, if there are any."""
        return self._notes

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the raw columns; ``x0``, ``x1``, ... where the training table had none."""
        return self._names if self._names is not None else default_names(self._n_features)

    def feature_name(self, feature: int) -> str:
        """Return the name of one raw column."""
        return f"x{feature}" if self._names is None else self._names[feature]

    @property
    def has_names(self) -> bool:
        """Whether the training table named its columns."""
        return self._names is not None

    @property
    def n_features(self) -> int:
        """Number of raw columns."""
        return self._n_features

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return int(self._test.size)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self._test < 0))

    @property
    def n_splits(self) -> int:
        """Number of nodes that ask a test."""
        return self.n_nodes - self.n_leaves

    @property
    def depth(self) -> int:
        """Largest number of tests on a path from the root to a leaf."""
        return int(self._depths.max())

    @property
    def mean_questions(self) -> float:
        """Average number of tests that a training row passes, by weight."""
        leaf = self._test < 0
        weights = self.weights[leaf]
        total = weights.sum()
        return float(weights @ self._depths[leaf] / total) if total > 0 else 0.0

    @property
    def probabilities(self) -> FloatArray:
        """Share of each class in each node; a node without training rows is sure of its label."""
        if not isinstance(self._payload, Labels):
            raise ValueError(
                f"The leaves of this tree hold {self._payload.kind}, and no shares of classes."
            )
        return self._payload.shares(np.arange(self.n_nodes))

    @property
    def impurities(self) -> FloatArray:
        """Gini impurity of each node, ``1 - sum of squared class shares``, the mean over outputs.

        In trees of numbers or vectors: the variance between the predictions of the leaves below,
        summed over outputs.
        """
        parts = [part for _, part in self._payload.outputs() if isinstance(part, Labels)]
        if parts:
            each = [np.square(part.shares(np.arange(self.n_nodes))).sum(axis=1) for part in parts]
            return np.asarray(1.0 - np.mean(each, axis=0), dtype=np.float64)
        if not isinstance(self._payload, Labels):
            return variances(self)
        return np.asarray(1.0 - np.square(self.probabilities).sum(axis=1), dtype=np.float64)

    @property
    def feature_importances(self) -> FloatArray:
        r"""Importance of each raw column, as scikit-learn defines it.

        The weighted decrease of the impurity,
        :math:`w_v G_v - \sum_c w_c G_c` over the children ``c``, summed over the nodes ``v`` that
        test the column, and divided by the sum over all columns. All zero for a single leaf.
        """
        return importances(self, self.impurities * self.weights)

    def children(self, node: int) -> range:
        """Return the children of a node, one per outcome; none for a leaf."""
        test = self._test[node]
        if test < 0:
            return range(0)
        first = int(self._first_child[node])
        return range(first, first + self._tests[test].n_outcomes)

    def node_test(self, node: int) -> Test:
        """Return the test that a node asks."""
        position = int(self._test[node])
        if position < 0:
            raise ValueError(f"Node {node} is a leaf and asks no question.")
        return self._tests[position]

    def collapsed(self) -> Tree:
        """Return the tree with siblings that predict in the same way merged into one edge.

        Below a multiway test the categories whose subtrees are equal share an edge that carries
        the set of them, such as ``color in {blue, red}``; a test whose outcomes all lead to the
        same is dropped. Predictions for all categories that were seen in training are unchanged.
        An unseen one takes the way it took before, or, where merged subtrees differ in that, the
        way of the most training weight.
        """
        return collapsed(self)

    # ---- prediction --------------------------------------------------------------------------

    def _read(self, X: Any) -> Table:
        """Read a raw table and check that its columns are those of the training table."""
        table = read_table(X)
        check_columns(table, self.n_features, self._names)
        return table

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, list of rows, data frame, or a table read before.

        Returns
        -------
        ndarray of shape (n_rows,)
            Node numbers.
        """
        return _routing.route(self, self._read(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the leaf of each row predicts: a class, a number, a vector, a decision."""
        table = self._read(X)
        return self._payload.predict(_routing.route(self, table), table)

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class among the training rows of the leaf that a row reaches.

        Each training row counts with its sample weight. An array of shape (n_rows, n_classes); for
        several outputs a list of them.
        """
        parts = [part for _, part in self._payload.outputs() if isinstance(part, Labels)]
        if parts:
            leaves = self.apply(X)
            return [part.shares(leaves) for part in parts]
        result: FloatArray = self.probabilities[self.apply(X)]
        return result

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each row passes, as a 0/1 matrix of shape (n_rows, n_nodes)."""
        return _routing.path_matrix(self, self.apply(X))

    # ---- files ---------------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tree:
        """Build a tree from what :meth:`to_dict` returned."""
        return _json.from_dict(cls, data)

    @classmethod
    def from_json(cls, text: str | bytes) -> Tree:
        """Build a tree from what :meth:`to_json` returned."""
        return _json.from_json(cls, text)
