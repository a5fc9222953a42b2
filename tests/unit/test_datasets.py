"""The bundled data sets are what they say, on every machine."""

from __future__ import annotations

import hashlib
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from certree import OptimalTreeClassifier, PolicyTree, verify
from certree.datasets import (
    _credit,
    load_binary_example,
    load_credit,
    make_fourclass,
    make_policy_example,
)
from certree.encoding import NamedArray, TableEncoder, read_table


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
    assert loans.data.columns == tuple(loans.feature_names)
    with pytest.raises(ImportError, match="as_frame=True needs pandas"):
        load_credit(as_frame=True)


def test_bundled_data_keep_their_names_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_credit, "_pandas", lambda as_frame: None)
    X, y = load_credit(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=1).fit(X[::2], y[::2])
    assert list(model.feature_names_in_) == list(X.columns)
    assert "amount <= " in model.tree_.to_text()
    train, test = train_test_split(X, random_state=0)
    assert train.columns == test.columns == X.columns
    assert verify(model.fit(train, y[: len(train)]), train, y[: len(train)])
    assert pickle.loads(pickle.dumps(X)).columns == X.columns
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[:, ::-1])
    patients = make_policy_example(60)
    policy = PolicyTree(max_depth=1).fit_rewards(patients.data, patients.rewards)
    assert list(policy.feature_names_in_) == patients.feature_names


def test_names_never_move_to_other_columns() -> None:
    square = NamedArray(np.arange(9).reshape(3, 3), ["a", "b", "c"])
    assert square[1:, ::-1].columns == ("c", "b", "a")
    assert square[[0, 2], ...].columns == square[np.array([True, False, True])].columns
    assert square[:, [True, False, True]].columns == ("a", "c")
    assert square[..., :2].columns is None or square[..., :2].columns == ("a", "b")
    for other in (square.T, square + square, square.reshape(9, 1), np.fliplr(square), square[0]):
        assert getattr(other, "columns", None) in (None, ("c", "b", "a"))
    assert not read_table(square.T).has_names
    with pytest.raises(ValueError, match="2 names for an array of shape"):
        NamedArray([[1]], ["a", "b"])
    with pytest.raises(TypeError, match=r"dict of columns; pass pandas.DataFrame\(X\)"):
        OptimalTreeClassifier().fit({"a": [1, 2]}, [0, 1])


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


def test_fourclass_is_deterministic_by_its_seed() -> None:
    first, again, other = (make_fourclass(random_state=seed) for seed in (None, 0, 1))
    np.testing.assert_array_equal(first.data, again.data)
    np.testing.assert_array_equal(first.target, again.target)
    assert not np.array_equal(first.data, other.data)
    assert _digest((first.data.tolist(), first.target.tolist())) == "2856a3cf02f89d52"


def test_fourclass_has_two_numbers_and_two_classes_in_the_published_proportion() -> None:
    points = make_fourclass()
    assert points.data.shape == (862, 2)
    assert points.data.dtype == np.float64
    assert points.data.min() >= 0
    assert points.data.max() <= 1
    assert points.feature_names == ["x", "y"]
    for seed in range(5):
        assert 0.3 < make_fourclass(random_state=seed).target.mean() < 0.42


def test_fourclass_needs_more_than_a_few_straight_cuts() -> None:
    points = make_fourclass()
    errors = []
    for column in points.data.T:
        order = np.argsort(column, kind="stable")
        positives = np.cumsum(points.target[order])
        negatives = np.arange(1, len(order) + 1) - positives
        wrong = positives + negatives[-1] - negatives
        errors.append(min(wrong.min(), (len(order) - wrong).min()))
    assert min(errors) > 0.25 * len(points.target)


def test_fourclass_classes_do_not_touch_without_noise() -> None:
    points = make_fourclass()
    ones, zeros = points.data[points.target == 1], points.data[points.target == 0]
    distances = np.abs(ones[:, None] - zeros[None]).max(axis=2)
    assert distances.min() > 0.005


def test_fourclass_noise_flips_labels_and_moves_no_point() -> None:
    clean, noisy = make_fourclass(), make_fourclass(noise=0.2)
    np.testing.assert_array_equal(clean.data, noisy.data)
    assert 0.04 < (clean.target != noisy.target).mean() < 0.16


@pytest.mark.parametrize(("bad", "message"), [(0, "n must be"), (2.5, "n must be")])
def test_fourclass_refuses_other_sizes(bad: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_fourclass(bad)


@pytest.mark.parametrize("bad", [-0.1, 1.5, "much", float("nan")])
def test_fourclass_refuses_other_shares_of_noise(bad: Any) -> None:
    with pytest.raises(ValueError, match="noise must be a number between 0 and 1"):
        make_fourclass(noise=bad)
