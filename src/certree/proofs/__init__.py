"""Proofs that take several searches: metrics, limits on the whole tree, separable objectives."""
