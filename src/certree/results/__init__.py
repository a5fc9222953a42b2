"""What a search found and proved: certificates, paths, fronts, curves, and their pictures."""
