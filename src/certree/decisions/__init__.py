"""Trees that decide: policies, SPO trees and forests, and the oracles that know the best decision.

:mod:`certree.oracles` has the oracles, :mod:`certree.estimators` the estimators.
"""
