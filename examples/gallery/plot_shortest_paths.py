"""
Shortest paths
==============

A courier crosses a town from the south-west to the north-east. Travel times depend on
weather, hour and traffic. We do not need to know the times, only the way to take: the
tree below minimises what its ways cost.
"""

# %%
# The town
# --------
# A grid of 4 x 4 crossings. For each of 200 past days we know five features and the
# travel time on each of the 24 streets. The oracle finds the shortest path for any
# travel times.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeRegressor

from certree import SPOTree, datasets, oracles

days = datasets.make_shortest_path(
    n=200, grid=4, features=5, degree=8, random_state=0, n_test=1000
)
grid = oracles.GridShortestPath(4, 4)

# %%
# The best tree for the decision
# ------------------------------
# Each leaf takes one way: N is a step to the north, E one to the east.
model = SPOTree(grid, max_depth=2, min_samples_leaf=20, thresholds=10).fit(
    days.X, days.C
)
print(model.to_text())
print(model.certificate_.statement())

# %%
# The ways of the leaves
# ----------------------
leaves = model.apply(days.X)
ways = model.decide(days.X)
figure, axes = plt.subplots(1, 4, figsize=(9, 2.7), layout="constrained")
for ax, leaf in zip(axes, np.unique(leaves), strict=True):
    ax.set_title(f"{(leaves == leaf).mean():.0%} of the days", fontsize=10)
    for used, (start, end) in zip(ways[leaves == leaf][0], grid.edges, strict=True):
        (y0, x0), (y1, x1) = start, end
        colour, width = ("tab:blue", 4) if used else ("0.8", 1)
        ax.plot([x0, x1], [y0, y1], color=colour, linewidth=width, zorder=width)
    ax.set_aspect("equal")
    ax.axis("off")
plt.show()

# %%
# Against a tree that predicts
# ----------------------------
# A regression tree of the same size predicts the times as well as it can. The extra
# cost of its ways on 1000 new days:
regression = DecisionTreeRegressor(max_depth=2, min_samples_leaf=20, random_state=0)
predicted = regression.fit(days.X, days.C).predict(days.X_test)
best = grid.solve(days.C_test).values.sum()
for name, taken in (
    ("regression tree", grid.solve(predicted).decisions),
    ("SPO tree", model.decide(days.X_test)),
):
    extra = (np.asarray(taken) * days.C_test).sum() / best - 1
    print(f"{name:16} {extra:6.1%} longer than the shortest way of each day")
