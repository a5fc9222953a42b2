"""The version, as recorded when the package was installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("certree")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+unknown"
