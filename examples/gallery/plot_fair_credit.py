"""
Fair credit
===========

A bank accepts or refuses loans with a small tree. The tree must not favour people who
own their home. What does that cost, and which tree is best under this condition?
"""

# %%
# The most accurate tree is not fair
# ----------------------------------
# We compare, between owners and others, how many of the loans that will be repaid are
# accepted (true positive rate) and how many of the bad ones (false positive rate).
import matplotlib.pyplot as plt
import numpy as np

from certree import FairTreeClassifier, datasets

X, y = datasets.load_credit(return_X_y=True)
groups = np.where(X["housing"] == "own", "owner", "other")

settings = {"max_depth": 3, "thresholds": 4, "pos_label": "repaid"}
free = FairTreeClassifier("equalized_odds", tolerance=1, **settings)
free.fit(X, y, sensitive_features=groups)
print(free.certificate_.report())

# %%
# The most accurate fair tree
# ---------------------------
# Now the rates may differ by at most one percentage point. Among all trees that keep
# this, the next one makes the fewest errors, and that is proven.
fair = FairTreeClassifier("equalized_odds", tolerance=0.01, **settings)
fair.fit(X, y, sensitive_features=groups)
print(fair.certificate_.report())
print("errors without the condition:", free.certificate_.cost)
print("errors with it:", fair.certificate_.cost)

# %%
fair.plot()
plt.show()

# %%
# The price of fairness
# ---------------------
# One search finds the least error for *every* tolerance. Each step of the curve is a
# tree.
curve = fair.fairness_curve(X, y, sensitive_features=groups)
curve.plot()
plt.show()

# sphinx_gallery_thumbnail_number = 2

# %%
# The tree above is one point of the curve. Whoever has to decide about the tolerance
# can see here what each percentage point costs.
