"""Sparse matrices as tables, and names of columns from pipelines."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import certree
from certree import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    TableEncoder,
    tasks,
)
from certree.encoding import read_table
from certree.encoding._test_budget import BudgetLeft

FORMATS = [
    sparse.csr_array,
    sparse.csc_array,
    sparse.coo_array,
    sparse.lil_array,
    sparse.dok_array,
    sparse.csr_matrix,
    sparse.csc_matrix,
]
RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((60, 6)) < 0.6, 0.0, RNG.integers(-3, 4, (60, 6)))
DENSE[:, 5] = DENSE[:, 5] != 0
DENSE[3, 1] = np.nan
Y = ((DENSE[:, 0] > 0) ^ (RNG.random(60) < 0.2)).astype(int)


@pytest.mark.parametrize("make", FORMATS)
class TestFormats:
    def test_tables_and_tests_are_those_of_the_dense_matrix(self, make: Any) -> None:
        table = read_table(make(DENSE))
        assert (table.n_rows, table.n_columns, table.kinds) == (60, 6, ["number"] * 6)
        for i in range(6):
            np.testing.assert_array_equal(table.column(i), DENSE[:, i])
        chosen = table.select(np.arange(60) % 2 == 0)
        np.testing.assert_array_equal(chosen.column(1), DENSE[::2, 1])
        for thresholds in ("all", 2):
            encoder = TableEncoder(thresholds=thresholds)
            np.testing.assert_array_equal(
                encoder.fit_transform(make(DENSE)), encoder.fit_transform(DENSE)
            )

    @pytest.mark.parametrize("thresholds", [2, "all"])
    def test_fits_and_predictions_are_the_same(self, make: Any, thresholds: Any) -> None:
        weights = np.arange(60) % 4
        X = make(DENSE)
        one = OptimalTreeClassifier(max_depth=2, thresholds=thresholds)
        one.fit(X, Y, sample_weight=weights)
        other = OptimalTreeClassifier(max_depth=2, thresholds=thresholds)
        other.fit(DENSE, Y, sample_weight=weights)
        assert one.tree_ == other.tree_
        assert one.certificate_.cost == other.certificate_.cost
        assert one.predict(X).tolist() == other.predict(DENSE).tolist()
        assert one.tree_.apply(X).tolist() == one.apply(DENSE).tolist()
        certree.verify(one, X, Y, weights)
        certree.verify(one, DENSE, Y, weights)


def test_flags_duplicates_and_the_users_matrix() -> None:
    flags = sparse.csr_array(DENSE[:, [0, 5]] > 0)
    encoder = TableEncoder().fit(flags)
    assert [str(test) for test in encoder.tests_] == ["x0", "x1"]
    twice = sparse.csr_array(([1.0, 2.0, 5.0], ([0, 0, 1], [0, 0, 0])), shape=(2, 1))
    repeated = sparse.csr_array((np.array([1.0, 2.0, 5.0]), [0, 0, 0], [0, 2, 3]), shape=(2, 1))
    for matrix in (twice, repeated):
        before = matrix.nnz
        assert read_table(matrix).column(0).tolist() == [3.0, 5.0]
        assert matrix.nnz == before


@pytest.mark.parametrize(
    "X, error, message",
    [
        (sparse.csr_array((0, 3)), ValueError, "0 sample"),
        (sparse.csr_array((3, 0)), ValueError, "0 feature"),
        (sparse.coo_array([1.0, 2.0]), ValueError, "Reshape your data"),
        (sparse.csr_array([[1.0], [np.inf]]), ValueError, "infinity.*column 0, row 1"),
        (sparse.csr_array([[1j]]), ValueError, "Complex data"),
        (sparse.csr_array([[2**60, 0], [2**60 + 1, 0]]), ValueError, "float64 cannot tell apart"),
    ],
)
def test_bad_matrices_are_refused(X: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        TableEncoder().fit(X)


def test_other_estimators() -> None:
    X = sparse.csr_array(DENSE)
    costs = RNG.random((60, 2))
    OptimalTreeRegressor(max_depth=2).fit(X, DENSE[:, 2]).predict(X)
    SPOTree(np.eye(2), max_depth=2).fit(X, costs).predict(X)
    PolicyTree(max_depth=1).fit(X, Y, RNG.random(60)).predict(X)
    OptimalTreeClassifierCV(depths=(1, 2), cv=3).fit(X, Y).predict(X)
    FairTreeClassifier(max_depth=1).fit(X, Y, sensitive_features=DENSE[:, 5]).predict(X)
    certree.optimality_gap(OptimalTreeClassifier(max_depth=1).fit(X, Y), X, Y)
    certree.solve(tasks.SquaredError(), X, DENSE[:, 2], max_depth=1)


def test_no_more_than_the_answers_is_dense() -> None:
    n_rows, n_columns = 2000, 600
    rng = np.random.default_rng(1)
    X = sparse.random_array((n_rows, n_columns), density=1e-3, rng=rng, format="csr")
    y = rng.integers(0, 2, n_rows)
    tracemalloc.start()
    encoder = TableEncoder(thresholds=1)
    columns = encoder._fit_within(X, None, lambda: BudgetLeft(None, 10**9))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert columns.shape == (n_rows, len(encoder.tests_))
    # The dense matrix takes 10 MB, the answers 1 MB.
    assert peak < 5 * 2**20
    model = OptimalTreeClassifier(max_depth=1, thresholds=1).fit(X, y)
    tracemalloc.start()
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


class TestNames:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "city": ["a", "b", "a", "c"]})

    @pytest.mark.parametrize("container", ["pandas", "polars"])
    def test_column_transformers_keep_names(self, container: str) -> None:
        pytest.importorskip(container)
        prepare = make_column_transformer(
            (StandardScaler(), ["age"]),
            (OneHotEncoder(sparse_output=False), ["city"]),
            verbose_feature_names_out=False,
        ).set_output(transform=container)
        pipeline = make_pipeline(prepare, OptimalTreeClassifier(max_depth=2))
        pipeline.fit(self.frame, [0, 1, 0, 1])
        assert list(pipeline[-1].feature_names_in_) == ["age", "city_a", "city_b", "city_c"]
        assert "city_a = 1" in pipeline[-1].tree_.to_text()
        pipeline.predict(self.frame)

    def test_the_encoder_names_what_a_pipeline_gives(self) -> None:
        prepare = make_column_transformer((StandardScaler(), ["age"]), ("passthrough", ["city"]))
        pipeline = make_pipeline(prepare, TableEncoder())
        pipeline.fit(self.frame)
        names = pipeline.get_feature_names_out().tolist()
        assert names[-3:] == [f"passthrough__city = {c}" for c in "abc"]

    def test_counted_words(self) -> None:
        texts = ["cheap pills", "dear friend", "cheap watch", "old friend"]
        pipeline = make_pipeline(CountVectorizer(), OptimalTreeClassifier(max_depth=1))
        pipeline.fit(texts, [1, 0, 1, 0])
        assert pipeline.predict(["cheap cheap"]).tolist() == [1]

    def test_sparse_columns_of_pandas(self) -> None:
        frame = self.pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(DENSE))
        frame.columns = list("abcdef")
        model = OptimalTreeClassifier(max_depth=2).fit(frame, Y)
        dense = OptimalTreeClassifier(max_depth=2).fit(DENSE, Y)
        assert model.certificate_.cost == dense.certificate_.cost
        certree.verify(model, frame, Y)
