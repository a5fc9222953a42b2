"""Extreme finite weights, targets and costs end in a model that verify accepts, or a ValueError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from certree import (
    CostSensitiveTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    SurvivalTree,
    oracles,
    verify,
)

pytestmark = pytest.mark.filterwarnings("ignore")

_SIZES = (5e-324, 1e-320, 1e-308, 1e-300, 1e-200, 1e-155, 1e-100, 1e-16, 0.1, 1.0)
_LARGE = (3.0, 1e9, 1e16, 1e100, 1e154, 1e155, 1e200, 1e300, 1e308, 1.7976931348623157e308)
EXTREME = st.sampled_from([*_SIZES, *_LARGE])
SIGNED = st.builds(lambda size, sign: sign * size, EXTREME, st.sampled_from([-1, 0, 1]))

Fit = Callable[[], Any]


def number_tree(criterion: str, draw: Any, X: Any, weights: Any) -> tuple[Fit, Fit]:
    """Draw targets for a criterion; return what fits a model, and what verifies it."""
    positive = criterion in ("poisson", "gamma")
    y = draw(st.lists(EXTREME if positive else SIGNED, min_size=len(X), max_size=len(X)))
    more = {"quantile": 0.25} if criterion == "quantile" else {}
    model = OptimalTreeRegressor(2, criterion=criterion, **more)
    path = draw(st.booleans())
    return (
        lambda: model.fit(X, y, sample_weight=weights, path=path),
        lambda: verify(model, X, y, weights),
    )


def line_tree(form: str, draw: Any, X: Any, weights: Any) -> tuple[Fit, Fit]:
    """The same for lines."""
    y = draw(st.lists(SIGNED, min_size=len(X), max_size=len(X)))
    model = LinearTreeRegressor(
        1, min_samples_leaf=1, leaf_model=form, complexity=0.01, complexity_per="leaf"
    )
    return (
        lambda: model.fit(X, y, sample_weight=weights),
        lambda: verify(model, X, y, weights),
    )


def other_tree(kind: str, draw: Any, X: Any, weights: Any) -> tuple[Fit, Fit]:
    """The same for trees of times, costs, rewards, decisions, classes and clusters."""
    n_rows, more = len(X), {"sample_weight": weights}
    costs = np.array(draw(st.lists(SIGNED, min_size=2 * n_rows, max_size=2 * n_rows)))
    table = costs.reshape(n_rows, 2)
    model: Any
    if kind == "survival":
        y = [[abs(t) or 1.0, k % 2] for k, t in enumerate(table[:, 0].tolist())]
        model = SurvivalTree(2)
    elif kind == "costs":
        model = CostSensitiveTreeClassifier(classes=["a", "b"], max_depth=2)
        return lambda: model.fit(X, costs=table, **more), lambda: verify(
            model, X, costs=table, **more
        )
    elif kind == "rewards":
        model = PolicyTree(max_depth=2)
        return lambda: model.fit(X, table, **more), lambda: verify(model, X, model.rewards_, **more)
    elif kind == "decisions":
        y, model = table, SPOTree(oracles.TopK(2, 1), max_depth=1)
    elif kind == "clusters":
        scaled = np.column_stack([X, table[:, 0]])
        model = OptimalTreeClusterer(2)
        return lambda: model.fit(scaled, **more), lambda: verify(model, scaled, **more)
    else:
        y = [k % 2 for k in range(n_rows)]
        model = OptimalTreeClassifier(2, objective=kind)
    return lambda: model.fit(X, y, **more), lambda: verify(model, X, y, **more)


KINDS: dict[str, Callable[[Any, Any, Any], tuple[Fit, Fit]]] = {
    **{
        name: lambda *given, name=name: number_tree(name, *given)
        for name in ("squared_error", "absolute_error", "quantile", "poisson", "gamma")
    },
    **{name: lambda *given, name=name: line_tree(name, *given) for name in ("simple", "ridge")},
    **{
        name: lambda *given, name=name: other_tree(name, *given)
        for name in (
            *("survival", "costs", "rewards", "decisions", "clusters"),
            *("accuracy", "balanced_accuracy", "f1", "gmean", "auc"),
        )
    },
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_model_that_verify_accepts_or_a_clear_refusal(kind: str, data: Any) -> None:
    n_rows = data.draw(st.integers(3, 6))
    X = data.draw(
        st.lists(
            st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=n_rows, max_size=n_rows
        )
    )
    numbers = st.lists(
        st.one_of(EXTREME, st.just(0.0), st.just(1.0)), min_size=n_rows, max_size=n_rows
    )
    weights = data.draw(st.one_of(st.none(), numbers))
    assume(weights is None or any(weights))
    fit, check = KINDS[kind](data.draw, np.array(X, float), weights)
    try:
        fit()
    except ValueError:
        return
    assert check()
