"""Customers of a shop: a small table with all kinds of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd


def shop(n_rows: int = 600, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 60, n_rows),
            "spent": random.normal(50, 10, n_rows).round(1),
            "member": random.random(n_rows) < 0.5,
            "city": random.choice(
                ["Bonn", "Ulm", "Kiel", "Jena"], n_rows, p=[0.6, 0.3, 0.06, 0.04]
            ),
            "size": pd.Categorical(
                random.choice(["S", "M", "L"], n_rows), categories=["S", "M", "L"], ordered=True
            ),
        }
    )
    frame.loc[random.random(n_rows) < 0.1, "spent"] = np.nan
    frame.loc[random.random(n_rows) < 0.1, "city"] = None
    signal = (frame["age"] > 35) ^ (frame["spent"].fillna(0) > 52) ^ (random.random(n_rows) < 0.1)
    frame["back"] = np.where(signal, "yes", "no")
    frame["paid"] = (frame["age"] / 3 + random.normal(0, 2, n_rows)).round(2)
    return frame


FEATURES = ["age", "spent", "member", "city", "size"]
