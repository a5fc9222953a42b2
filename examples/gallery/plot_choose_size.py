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
import numpy as np

from certree import OptimalTreeClassifierCV, datasets

X, y = datasets.load_credit(return_X_y=True)
model = OptimalTreeClassifierCV(depths=(1, 2, 3), cv=5, thresholds=8).fit(X, y)
print("depth", model.best_depth_, "and splits", model.best_splits_)
print(f"accuracy on rows left out: {model.best_score_:.3f}")

# %%
# The curve
# ---------
results = model.cv_results_
depth = np.asarray(results["param_max_depth"])
splits = np.asarray(results["param_max_splits"])
mean = np.asarray(results["mean_test_score"])
error = np.asarray(results["std_test_score"]) / np.sqrt(5)

figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for one in np.unique(depth):
    here = depth == one
    ax.plot(splits[here], mean[here], marker="o", label=f"depth {one}")
    ax.fill_between(
        splits[here], (mean - error)[here], (mean + error)[here], alpha=0.15
    )
ax.set(xlabel="number of splits", ylabel="accuracy on rows left out")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
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
