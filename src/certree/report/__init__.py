"""Reports: a model, its certificate and its quality as one page that needs no network."""

from ._page import Report, report

__all__ = ["Report", "report"]
