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
    make_two_treatments,
    policy_teachers,
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


@pytest.mark.parametrize("n_features", [2, 10, 20])
def test_two_treatments_follow_the_equation_of_the_paper(n_features: int) -> None:
    rows = make_two_treatments(400, n_features, best_share=0.9, random_state=3)
    x = np.asarray(rows.data)
    for i in range(400):
        one = x[i]
        if n_features == 2:
            phi, kappa = one[0] / 2 + one[1], one[0] / 2
        elif n_features == 10:
            phi, kappa = sum(one[:2]) / 2 + sum(one[2:6]), sum(max(0, v) for v in one[:2])
        else:
            phi, kappa = sum(one[:4]) / 2 + sum(one[4:8]), sum(max(0, v) for v in one[:4])
        assert rows.rewards[i, 1] - rows.rewards[i, 0] == pytest.approx(kappa)
        assert abs(rows.rewards[i].mean() - phi) < 0.5
        assert rows.outcome[i] == rows.rewards[i, rows.treatment[i]]
        assert rows.rewards[i, rows.best[i]] == rows.rewards[i].max()
    noise = rows.rewards.mean(axis=1) - x @ _mean_effect(n_features)
    assert noise.std() == pytest.approx(0.1, rel=0.15)
    assert (rows.treatment == rows.best).mean() == pytest.approx(0.9, abs=0.05)
    chosen = rows.propensity[np.arange(400), rows.treatment]
    np.testing.assert_allclose(chosen, np.where(rows.treatment == rows.best, 0.9, 0.1))


def _mean_effect(n_features: int) -> Any:
    halved, whole = {2: (1, 2), 10: (2, 6), 20: (4, 8)}[n_features]
    return np.repeat([0.5, 1.0, 0.0], [halved, whole - halved, n_features - whole])


@pytest.mark.filterwarnings("ignore:Not identified")
def test_the_eleven_teachers_find_good_policies_on_new_rows() -> None:
    rows = make_two_treatments(500, best_share=0.75)
    new = make_two_treatments(10_000, random_state=1)
    teachers = policy_teachers(rows.propensity)
    assert len(teachers) == 11
    right = {}
    for name, (params, given) in teachers.items():
        policy = PolicyTree(max_depth=1, thresholds=9, **params)
        policy.fit(rows.data, rows.treatment, rows.outcome, **given)
        right[name] = (policy.predict(new.data) == new.best).mean()
    assert min(right[name] for name in right if not name.startswith("ipw")) > 0.85, right


def test_wrong_questions_for_two_treatments_are_named() -> None:
    with pytest.raises(ValueError, match=r"n_features=3 is not supported: .* 2, 10, 20"):
        make_two_treatments(n_features=3)
    with pytest.raises(ValueError, match="best_share=1 must lie strictly between 0 and 1"):
        make_two_treatments(best_share=1)
