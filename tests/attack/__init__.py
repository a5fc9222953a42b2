"""Attacks from outside: fresh random problems with hard numbers, against fractions.

``problems`` draws, ``truth`` looks at all trees, ``checks`` compares what a certificate says with
it, and the modules of kinds put them together: ``trees``, ``limited``, ``fair``, ``squares``.
``python -m tests.attack --problems 20000 --seed 7`` tries many and prints a table.
"""
