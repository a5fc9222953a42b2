"""Machinery of the benchmarks: instances, solvers, scheduling and reports."""
