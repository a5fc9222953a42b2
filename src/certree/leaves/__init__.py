"""What leaves cost and hold: a folder for each kind, with loss, payload and estimator.

A `payload` may import what :mod:`certree.tree` may, and that; an `estimator` what
:mod:`certree.estimators` may; every other module what :mod:`certree.tasks` may, and that.
"""
