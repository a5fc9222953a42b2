"""
Medical tests with prices
=========================

A blood test costs money, a scan costs more, and a missed illness costs most. The best
tree asks the cheap questions first, and the expensive ones only of those for whom the
answer matters.
"""

# %%
# The patients
# ------------
# 800 invented patients. Everyone can tell age and pain. The laboratory draws blood
# once: the second value of the same sample is nearly free. The scan is the best test
# and the most expensive one.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from certree import CostSensitiveTreeClassifier, Measurement

rng = np.random.RandomState(0)
n = 800
is_ill = rng.rand(n) < 0.3
patients = pd.DataFrame(
    {
        "age": np.clip(rng.normal(48 + 10 * is_ill, 14), 18, 90).round(),
        "pain": np.clip(rng.normal(3 + 2 * is_ill, 2), 0, 10).round(),
        "marker_a": rng.normal(20 + 9 * is_ill, 6).round(1),
        "marker_b": rng.normal(5 + 2 * is_ill, 2).round(1),
        "scan": rng.normal(1 + 2.2 * is_ill, 0.8).round(2),
    }
)
illness = np.where(is_ill, "ill", "healthy")

# %%
# What errors and tests cost
# --------------------------
# In euros. Rows of the matrix are the truth, columns the prediction: to miss an illness
# costs 1000, to treat a healthy person 200.
matrix = [[0, 200], [1000, 0]]
prices = [
    Measurement("marker_a", 25, group="blood", discounted=5),
    Measurement("marker_b", 25, group="blood", discounted=5),
    Measurement("scan", 70),
]
model = CostSensitiveTreeClassifier(matrix, prices, max_depth=3, thresholds=8)
model.fit(patients, illness)
model

# %%
# What a patient costs
# --------------------
# The tree is the one with the least sum of both costs, for errors and for tests.
paid = model.test_cost(patients)
certificate = model.certificate_
print(f"tests  {float(certificate.test_cost) / n:7.2f} euros per patient")
print(f"errors {float(certificate.leaf_cost) / n:7.2f} euros per patient")
print(f"share of the patients who are scanned: {(paid >= 70).mean():.0%}")

# %%
# If the scan were cheaper, more patients would get one, and errors would cost less:
scan_prices = [0, 20, 40, 60, 80, 100, 120, 140, 160]
costs = []
for price in scan_prices:
    tree = CostSensitiveTreeClassifier(
        matrix, [*prices[:2], Measurement("scan", price)], max_depth=3, thresholds=8
    ).fit(patients, illness)
    costs.append(
        [float(tree.certificate_.test_cost) / n, float(tree.certificate_.leaf_cost) / n]
    )

figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
ax.stackplot(scan_prices, np.transpose(costs), labels=["tests", "errors"], alpha=0.85)
ax.set(xlabel="price of a scan (euros)", ylabel="euros per patient", xlim=(0, 160))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(loc="upper left", frameon=False)
plt.show()
