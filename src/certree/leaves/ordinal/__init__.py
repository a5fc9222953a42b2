"""A class out of an order for a leaf: distances of ranks, and the classifier."""
