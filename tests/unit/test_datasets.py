"""The bundled data sets are what they say, on every machine."""

from __future__ import annotations

import hashlib
import sys
from typing import Any

import numpy as np
import pytest

from certree.datasets import load_binary_example, load_credit
from certree.encoding import TableEncoder


def _digest(rows: Any) -> str:
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def test_credit_has_everything_that_raw_tables_have() -> None:
    pytest.importorskip("pandas")
    loans = load_credit()
    assert loans.data.shape == (600, 10)
    assert list(loans.data.columns) == loans.feature_names
    assert list(loans.frame.columns) == [*loans.feature_names, "target"]
    assert sorted(set(loans.target)) == ["default", "repaid"] == list(loans.target_names)
    assert loans.data["has_guarantor"].to_numpy().dtype.kind == "b"
    assert loans.data.isna().sum()[["income", "savings"]].min() > 50
    assert set(loans.data["housing"]) == {"own", "rent", "free"}
    for name in loans.feature_names:
        assert name in loans.DESCR


def test_credit_never_changes() -> None:
    loans = load_credit(as_frame=False)
    assert _digest(loans.data.tolist()) == "11d8630f156a2430"
    assert int((loans.target == "default").sum()) == 215


def test_credit_is_the_same_with_and_without_pandas() -> None:
    pytest.importorskip("pandas")
    frame = TableEncoder().fit_transform(load_credit().data)
    array = TableEncoder().fit_transform(load_credit(as_frame=False).data)
    np.testing.assert_array_equal(frame, array)


def test_credit_without_pandas_is_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    loans = load_credit()
    assert isinstance(loans.data, np.ndarray)
    assert loans.data.dtype == object
    assert loans.frame is None
    with pytest.raises(ImportError, match="as_frame=True needs pandas"):
        load_credit(as_frame=True)


def test_credit_as_a_pair() -> None:
    data, target = load_credit(return_X_y=True, as_frame=False)
    assert data.shape == (600, 10)
    assert target.shape == (600,)


def test_credit_refuses_other_frames() -> None:
    with pytest.raises(ValueError, match="as_frame must be True, False or 'auto', got 'polars'"):
        load_credit(as_frame="polars")  # type: ignore[arg-type]


def test_binary_example_is_the_exclusive_or_of_two_columns() -> None:
    example = load_binary_example()
    assert example.data.shape == (100, 10)
    assert example.data.dtype == np.uint8
    np.testing.assert_array_equal(example.data[:, 2] ^ example.data[:, 7], example.target)
    agreement = [(example.data[:, i] == example.target).mean() for i in range(10)]
    assert int(np.argmax(agreement)) == 4
    assert agreement[2] == agreement[7] == 0.5


def test_binary_example_never_changes() -> None:
    data, target = load_binary_example(return_X_y=True)
    assert _digest((data.tolist(), target.tolist())) == "a92a28d871b74475"
