"""The oracles of :mod:`certree.oracles`: how sets of decisions answer many cost vectors at once."""
