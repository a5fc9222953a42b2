"""
How far is my CART tree from the best?
======================================

You have a decision tree of scikit-learn, and wonder whether another tree of the same
size makes fewer errors. :func:`certree.optimality_gap` answers with a proof.
"""

# %%
# A greedy tree for a diagnosis
# -----------------------------
# 569 tumours with 30 measurements of their cells, benign or malignant. CART grows a
# tree with two questions on the way to an answer.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from certree import optimality_gap

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})

greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
print(f"CART: {(greedy.predict(X) != y).sum()} errors in {len(y)} rows")

# %%
# The answer
# ----------
# By default the tree is compared with all trees that are at most as deep and have at
# most as many splits.
found = optimality_gap(greedy, X, y)
print(found)

# %%
# The better tree comes with the answer:
found.better_tree.plot()
plt.show()

# %%
# More questions
# --------------
# The same for one, two and three questions on a path. The bars are training errors; the
# best trees are proven.
depths = (1, 2, 3)
errors = []
for depth in depths:
    greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    found = optimality_gap(greedy, X, y)
    assert found.lower_bound == found.upper_bound  # proven
    errors.append((float(found.cost), float(found.upper_bound)))

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for shift, name, bars in ((-0.2, "CART", 0), (0.2, "the best tree", 1)):
    places = [depth + shift for depth in depths]
    drawn = ax.bar(places, [pair[bars] for pair in errors], width=0.38, label=name)
    ax.bar_label(drawn, fmt="%g")
ax.set(xlabel="depth", ylabel="training errors", xticks=depths, ylim=(0, 50))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# sphinx_gallery_thumbnail_number = 2

# %%
# A small gap is good news, too: then nobody can do much better with a tree of this
# size.
