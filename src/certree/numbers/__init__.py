"""Users' decimals and fractions, and the integers that a search counts in."""
