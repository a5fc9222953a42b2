"""A linear model for a leaf: least squares, its formulas, and the tree of them."""
