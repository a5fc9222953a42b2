"""
Choosing the size
=================

A larger tree always makes fewer errors on the rows that it was learned from. On other
rows it need not. Cross-validation says how large the tree should be.
"""

# %%
# One search for each fold
# ------------------------
# Each fold needs one search, which finds the best trees of all sizes. They are scored
# on the rows that were left out.
import matplotlib.pyplot as plt

from certree import OptimalTreeClassifierCV, datasets

X, y = datasets.load_credit(return_X_y=True)
model = OptimalTreeClassifierCV(depths=(1, 2, 3), cv=5, thresholds=8).fit(X, y)
print(model.best_params_)
print(f"accuracy on rows left out: {model.best_score_:.3f}")

# %%
# The curve
# ---------
# Mean accuracy on the rows left out, with one standard error on either side.
model.curve_.plot()
plt.show()

# %%
# A smaller tree that is about as good
# ------------------------------------
# ``rule="one_se"`` takes the smallest tree whose mean is within one standard error of
# the best.
small = OptimalTreeClassifierCV(
    depths=(1, 2, 3), cv=5, thresholds=8, rule="one_se"
).fit(X, y)
small

# %%
# The final tree is the best one of its size on all rows, with a certificate as always.
