"""
Dates, categories and missing values
====================================

Tables come as they are: with dates, cities, sizes and holes. Every estimator takes them
without preparation, and the tree speaks their language.
"""

# %%
# Deliveries
# ----------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from certree import OptimalTreeClassifier

rng = np.random.RandomState(5)
n = 600
ordered = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.randint(0, 366, n), unit="D")
deliveries = pd.DataFrame(
    {
        "ordered": ordered,
        "city": rng.choice(["Bonn", "Bern", "Graz", "Ulm", "Linz", "Jena"], n),
        "size": pd.Categorical(
            rng.choice(["S", "M", "L"], n), categories=["S", "M", "L"], ordered=True
        ),
        "weight": np.where(rng.rand(n) < 0.15, np.nan, rng.gamma(2, 3, n).round(1)),
        "express": rng.rand(n) < 0.3,
    }
)
is_far = deliveries["city"].isin(["Graz", "Linz", "Bern"])
in_december = ordered >= pd.Timestamp("2024-12-01")
chance = (
    0.05
    + 0.8 * (in_december & ~deliveries["express"])
    + 0.7 * (is_far & (deliveries["size"] == "L"))
)
outcome = np.where(rng.rand(n) < chance, "late", "in time")
deliveries.head()

# %%
# No preparation
# --------------
# ``category_tests="subsets"`` allows questions about sets of cities. The date is cut
# where it helps most, and the cut reads as a date.
model = OptimalTreeClassifier(max_depth=3, complexity=0.005, category_tests="subsets")
model.fit(deliveries, outcome)
model

# %%
# The same as a picture and as SQL
# --------------------------------
model.plot()
plt.show()

# %%
print(model.tree_.to_sql(alias="prediction"))

# %%
# Cut points of your own
# ----------------------
# Where a change has a known date or a number has known limits, say so:
own = OptimalTreeClassifier(
    max_depth=3,
    complexity=0.005,
    thresholds={"ordered": ["2024-07-01", "2024-12-01"], "weight": [2, 5, 10]},
)
print(own.fit(deliveries, outcome).to_text())
