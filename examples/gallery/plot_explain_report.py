"""
Explain one prediction, hand over a report
==========================================

Somebody was refused a loan and asks why. Later, a colleague asks for the whole story.
"""

# %%
# The tree that decides
# ---------------------
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from certree import OptimalTreeClassifier, datasets, report

X, y = datasets.load_credit(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = OptimalTreeClassifier(max_depth=3, complexity=0.01).fit(X_train, y_train)
model.plot()
plt.show()

# %%
# Why?
# ----
refused = X_test[model.predict(X_test) == "default"].iloc[[0]]
print(model.explain(refused))

# %%
# The same in a notebook. The last lines are the smallest change that leads to another
# answer.
model.explain(refused)

# %%
# The whole story
# ---------------
# One HTML file that needs no network: the tree to click on, what is proven, how good it
# is on rows that it has not seen, and a form for single rows. It works here, too.
page = report(model, X_train, y_train, X_test, y_test, title="Will the loan be repaid?")
page

# %%
# ``page.save("loans.html")`` writes the file.
