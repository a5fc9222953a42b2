"""Several outputs of a leaf: what it holds for each, and what each counts."""
