"""
A policy with few places
========================

Who gets which treatment, if surgeons have time for one patient in ten? The tree below
is the best rule that keeps this capacity, by the estimated effects of the treatments.
"""

# %%
# What was observed
# -----------------
# 500 invented patients. Each received one treatment, and we see how that one worked.
import matplotlib.pyplot as plt
import numpy as np

from certree import PolicyTree, datasets

patients = datasets.make_policy_example(500)
names, counts = np.unique(patients.treatment, return_counts=True)
print(dict(zip(names.tolist(), counts.tolist(), strict=True)))

# %%
# The best rule without a limit
# -----------------------------
# The tree estimates what each treatment would have brought each patient (doubly
# robust), and then maximises the sum.
free = PolicyTree(
    max_depth=2, min_samples_leaf=20, thresholds=8, random_state=0, time_limit=300
)
free.fit(patients.data, patients.treatment, patients.outcome)
free.plot()
plt.show()

# %%
# At most one patient in ten
# --------------------------
# The same estimates, and a capacity. It is kept exactly, and the certificate says that
# no other rule within it is worth more.
settings = {"max_depth": 2, "min_samples_leaf": 20, "thresholds": 8}
scarce = PolicyTree(
    treatments=patients.treatments, capacity={"surgery": 0.1}, **settings
)
scarce.fit_rewards(patients.data, free.rewards_)
scarce.plot()
plt.show()
print(scarce.certificate_.statement())

# %%
# What a place is worth
# ---------------------
# The value on new patients, for whom we know the truth because we invented them:
new = datasets.make_policy_example(2000, random_state=1)
shares = [0, 0.05, 0.1, 0.2, 0.3, 0.4]
values = []
for share in shares:
    policy = PolicyTree(
        treatments=patients.treatments, capacity={"surgery": share}, **settings
    )
    policy.fit_rewards(patients.data, free.rewards_)
    values.append(policy.value(new.data, rewards=new.rewards).value)

figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
ax.plot([100 * share for share in shares], values, marker="o")
ax.set(xlabel="capacity for surgery (% of the patients)", ylabel="mean outcome")
ax.spines[["top", "right"]].set_visible(False)
ax.grid(axis="y", alpha=0.3)
plt.show()
