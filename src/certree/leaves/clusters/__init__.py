"""A cluster for a leaf: numbers and centres, and the tree that finds them."""
