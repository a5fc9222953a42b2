"""
A sparse tree for a serious decision
====================================

Some courts use scores to guess whether a person will be arrested again. Such a score
should be short enough to be read out, and nobody should be able to say that a shorter
or better one exists.

The persons here are invented: their columns resemble the published studies, and nothing
can be concluded about real people.
"""

# %%
# The table
# ---------
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from certree import OptimalTreeClassifier, regularization_path

rng = np.random.RandomState(3)
n = 2000
age = np.clip(18 + rng.gamma(1.6, 10, n), 18, 75).round()
priors = np.minimum(rng.poisson(np.where(age < 25, 1.6, 2.6) * rng.gamma(1, 1, n)), 20)
persons = pd.DataFrame(
    {
        "age": age,
        "priors": priors,
        "juvenile_crimes": rng.poisson(0.2, n),
        "charge": rng.choice(["drugs", "theft", "violence", "traffic"], n),
        "is_felony": rng.rand(n) < 0.6,
        "employed": rng.rand(n) < 0.5,
    }
)
risk = -0.9 + 0.28 * priors + 1.3 * (age < 24) + 0.8 * persons["juvenile_crimes"]
again = np.where(
    rng.rand(n) < 1 / (1 + np.exp(-risk + 0.3 * persons["employed"])),
    "again",
    "not again",
)

# %%
# A price per split instead of a depth
# ------------------------------------
# A split must save one error in two hundred rows. Among *all* trees, of any depth and
# any size, this one has the best balance of errors and splits:
model = OptimalTreeClassifier(max_depth=None, complexity=0.005, thresholds=8).fit(
    persons, again
)
model

# %%
# As rules that can be read out:
print(model.to_text())

# %%
# What a larger tree would bring
# ------------------------------
# The best tree for every number of splits, up to seven. After a few splits there is
# little to gain.
path = regularization_path(persons, again, max_depth=3, thresholds=8)
path.plot()
plt.show()
