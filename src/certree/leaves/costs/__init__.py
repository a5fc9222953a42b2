"""The cheapest label for a leaf: matrices, costs of rows and rewards, and the classifier."""
