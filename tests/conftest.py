"""Settings of the whole suite: Hypothesis profiles, and a plotting backend without a screen."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from certree.engine._budget import Budget

os.environ.setdefault("MPLBACKEND", "Agg")

_RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large]

# The same examples on every run and machine, so that a red suite means a changed program.
settings.register_profile(
    "ci", deadline=None, derandomize=True, max_examples=100, suppress_health_check=_RELAXED
)
# New examples on every run: for hunting.
settings.register_profile("dev", deadline=None, suppress_health_check=_RELAXED)
settings.register_profile("fuzz", deadline=None, max_examples=2000, suppress_health_check=_RELAXED)
# Instrumented code is about ten times slower.
settings.register_profile("sanitize", parent=settings.get_profile("ci"), max_examples=25)

# CERTREE_FUZZ, a seed, also moves the random problems that Hypothesis does not draw.
_DEFAULT = "fuzz" if os.environ.get("CERTREE_FUZZ") else "ci"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", _DEFAULT))


@pytest.fixture(autouse=True)
def no_loop_of_tests() -> None:
    """Let no test take an interrupted one before it for the same loop of a user."""
    Budget._last_interrupted = float("-inf")


@pytest.fixture
def listens_to_ctrl_c() -> Iterator[None]:
    """Shells start background jobs with the signal ignored, and Python leaves that as it is."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
