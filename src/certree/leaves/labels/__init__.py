"""A class for a leaf: errors in one output or several, and impurities."""
