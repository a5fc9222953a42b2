"""Certificates and leaves read as a person would write them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.documents import Document, documents, table

from certree import (
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    solve,
    tasks,
)

X, Y = table()


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
def test_no_certificate_spells_out_long_numbers(document: Document) -> None:
    """No number has more than ten digits, and there is no plural of one."""
    text = str(document.written)
    digits = [word.strip("~(),.=").replace(".", "") for word in text.split()]
    assert max((len(word) for word in digits if word.isdecimal()), default=0) <= 10
    assert " 1 splits" not in text
    assert " - -" not in text


def test_a_negative_metric_is_put_in_brackets() -> None:
    def dear(fp: int, fn: int, positives: int, negatives: int) -> int:
        return -(fp + 5 * fn)

    model = OptimalTreeClassifier(max_depth=1, objective=dear, pos_label="yes").fit(X, Y)
    cost = model.certificate_.cost
    assert f"cost         {cost} = 1 - ({1 - cost})" in str(model.certificate_)


def test_leaves_of_policies_say_what_is_counted() -> None:
    rewards = np.array([[1.0, 0.0], [0.0, 3.0], [2.0, 1.0], [0.0, 1.0]])
    policy = PolicyTree(max_depth=1).fit_rewards([[0], [1], [1], [1]], rewards)
    assert policy.tree_.to_text() == (
        "x0 = 1: 1 (best for 2 of 3, 66.7%)\nx0 = 0: 0 (best for 1 of 1, 100.0%)"
    )
    text = str(policy.certificate_)
    assert "1 = 1 lost against the best treatment of every row" in text
    assert text.endswith("over this question loses less than 1 on these rows.")
    limited = tasks.Rewards(rewards) & tasks.Limit("ones", {1: 1}, at_most=4)
    assert "(best for " in str(solve(limited, [[0], [1], [1], [1]], max_depth=1))


def test_regression_speaks_of_squared_error() -> None:
    model = OptimalTreeRegressor(max_depth=1).fit([[0], [0], [1]], [1.0, 2.0, 7.5])
    assert "cost         0.5 = 0.5 squared error\n" in str(model.certificate_)
    assert "has a squared error below 0.5 on these rows." in str(model.certificate_)


def test_a_bound_of_nothing_is_called_that() -> None:
    found = OptimalTreeClassifier(max_depth=1).fit(X, Y).certificate_
    stopped = replace(found, status="time_limit", lower_bound=0, gap=found.cost)
    assert stopped.statement().startswith(
        f"Nothing is proven yet; the tree found makes {found.cost}"
    )


def test_a_bound_of_nothing_is_called_that_for_other_losses_too() -> None:
    found = OptimalTreeRegressor(max_depth=1).fit([[0], [0], [1]], [1.0, 2.0, 7.5]).certificate_
    stopped = replace(found, status="time_limit", lower_bound=0, gap=found.cost)
    assert stopped.statement() == (
        "Nothing is proven yet; the tree found has a squared error of 0.5, at most 0.5 more than "
        "the best."
    )
    paid = replace(stopped, complexity=1, split_penalty=1)
    assert paid.statement().startswith("Nothing is proven yet; the tree found costs 0.5")
    # Other costs may be negative, so that a bound of zero is news.
    costs = replace(stopped, task="cost")
    assert "costs less than 0 on these rows" in costs.statement()


def test_weighted_accuracy_is_called_that() -> None:
    plain = OptimalTreeClassifier(max_depth=1).fit(X, Y).certificate_
    balanced = OptimalTreeClassifier(max_depth=1, class_weight="balanced").fit(X, Y).certificate_
    assert "  objective    accuracy 0." in str(plain)
    assert "  objective    weighted accuracy 0." in str(balanced)


def test_tasks_use_weights_as_they_are_and_do_not_say_otherwise() -> None:
    weights = np.random.default_rng(0).random(len(X))
    model = OptimalTreeRegressor(max_depth=1).fit(X, np.arange(len(X)), sample_weight=weights)
    assert model.certificate_.weight_quantum is not None
    assert "\n  rounding " in str(model.certificate_)
    assert "\n  weights " not in str(model.certificate_)


def test_what_was_not_counted_is_not_shown() -> None:
    with pytest.warns(OptimalityWarning):
        model = OptimalTreeClassifier(memory_limit=1).fit(X, Y)
    assert "different" not in str(model.certificate_)
