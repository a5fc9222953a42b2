"""A risk and a survival curve for a leaf: censored times, their likelihood, and the tree."""
