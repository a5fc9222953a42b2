"""Hypothesis profile of the laws: the same examples on every run, unless fuzzing is asked for."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.problems import FUZZ

settings.register_profile(
    "laws",
    deadline=None,
    max_examples=2000 if FUZZ else 200,
    derandomize=not FUZZ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("laws")
