"""Results of searches: certificates, paths, fronts, curves, and their pictures."""
