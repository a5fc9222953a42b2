"""Laws of fair trees: what must not matter, and what can only help."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from certree import FairTreeClassifier
from certree.tasks._rates import CONSTRAINTS

TOLERANCES = st.sampled_from(["0", "0.05", "0.1", "0.2", "1/3", "1"])


@st.composite
def tables(draw: Any) -> dict[str, Any]:
    """Draw rows in two or three groups, each with rows of both classes."""
    n_groups = draw(st.integers(2, 3))
    n_rows = draw(st.integers(2 * n_groups, 24))
    bits = st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows)
    columns = draw(st.lists(bits, min_size=1, max_size=4))
    y = np.array(draw(bits))
    y[:n_groups], y[n_groups : 2 * n_groups] = 0, 1
    return {
        "X": np.array(columns).T,
        "y": y,
        "a": np.arange(n_rows) % n_groups,
        "constraint": draw(st.sampled_from(sorted(CONSTRAINTS))),
        "depth": draw(st.integers(0, 2)),
    }


def fit(table: dict[str, Any], tolerance: Any, **changes: Any) -> Any:
    """Return the certificate of the best fair tree."""
    table = table | changes
    model = FairTreeClassifier(
        table["constraint"],
        tolerance,
        max_depth=table["depth"],
        use_sensitive=True,
        pos_label=table.get("positive", 1),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(
            table["X"],
            table["y"],
            sensitive_features=table["a"],
            sample_weight=table.get("weights"),
        )
    return model.certificate_


@settings(deadline=None, max_examples=40)
@given(tables(), TOLERANCES, st.integers(0, 2**32 - 1))
def test_order_and_names_do_not_matter(table: Any, tolerance: str, seed: int) -> None:
    """Rows in another order, columns in another order or negated, groups with other names."""
    rng = np.random.default_rng(seed)
    expected = fit(table, tolerance)
    rows = rng.permutation(len(table["y"]))
    columns = rng.permutation(table["X"].shape[1])
    flips = rng.integers(0, 2, len(columns))
    names = np.array(["x", "y", "z"])[rng.permutation(3)]
    found = fit(
        table,
        tolerance,
        X=(table["X"][:, columns] ^ flips)[rows],
        y=table["y"][rows],
        a=names[table["a"]][rows],
    )
    assert (found.status, found.cost) == (expected.status, expected.cost)
    assert found.least_disparity == expected.least_disparity


@settings(deadline=None, max_examples=40)
@given(tables(), TOLERANCES)
def test_weights_are_repeated_rows_and_scale(table: Any, tolerance: str) -> None:
    weights = 1 + np.arange(len(table["y"])) % 3
    weighted = fit(table, tolerance, weights=weights)
    parts = {name: np.repeat(table[name], weights, axis=0) for name in ("X", "y", "a")}
    repeated = fit(table, tolerance, **parts)
    assert (weighted.status, weighted.cost) == (repeated.status, repeated.cost)
    scaled = fit(table, tolerance, weights=weights * 0.25)
    if scaled.has_tree:
        assert scaled.cost == Fraction(weighted.cost, 4)


@settings(deadline=None, max_examples=40)
@given(tables(), TOLERANCES, TOLERANCES)
def test_more_tolerance_and_more_depth_never_cost_more(table: Any, low: str, high: str) -> None:
    low, high = sorted((low, high), key=Fraction)
    strict, loose = fit(table, low), fit(table, high)
    if strict.has_tree:
        assert loose.has_tree
        assert loose.cost <= strict.cost
        deeper = fit(table, low, depth=table["depth"] + 1)
        assert deeper.cost <= strict.cost


@settings(deadline=None, max_examples=40)
@given(tables(), TOLERANCES)
def test_exchanging_the_classes_exchanges_the_rates(table: Any, tolerance: str) -> None:
    """Selection and errors are symmetric; true positive rates become one minus false ones."""
    other = {"equal_opportunity": "predictive_equality", "predictive_equality": "equal_opportunity"}
    constraint = other.get(table["constraint"], table["constraint"])
    expected = fit(table, tolerance)
    found = fit(table, tolerance, y=1 - table["y"], constraint=constraint)
    assert (found.status, found.cost) == (expected.status, expected.cost)
    # What is called positive does not matter for a difference of rates.
    named = fit(table, tolerance, positive=0, constraint=constraint)
    assert (named.status, named.cost) == (expected.status, expected.cost)


@settings(deadline=None, max_examples=40)
@given(tables())
def test_equalized_odds_is_no_easier_than_its_parts(table: Any) -> None:
    both = fit(table, "0.1", constraint="equalized_odds")
    for part in ("equal_opportunity", "predictive_equality"):
        assert fit(table, "0.1", constraint=part).cost <= both.cost
