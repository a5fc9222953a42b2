"""The way from what is asked to a fitted tree.

`plan` is the first step: one table says which search and proof answer what is asked, or which law
forbids it. Nothing here sees an estimator.
"""
