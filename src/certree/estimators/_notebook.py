"""What notebooks show of a fitted model: the tree, and what is proven about it."""

from __future__ import annotations

from html import escape
from typing import Any

from certree.results._card import card, facts_table, folded, sentence


def model_html(model: Any) -> str:
    """Return the tree as a picture and the certificate in a few lines, as HTML."""
    certificate = model.certificate_
    drawn = model.tree_.to_html(interactive=False) if certificate.has_tree else ""
    more = [f"{name}: {_count(found)}" for name, found in _collections(model)]
    return card(
        f"{type(model).__name__}: {certificate.summary()}",
        drawn,
        sentence(certificate.statement()),
        sentence(", ".join(more)),
        _choice(model),
        folded("Certificate", facts_table(certificate._facts())),
        folded("Parameters", f"<code>{escape(repr(model))}</code>"),
    )


def _choice(model: Any) -> str:
    """Return how the size was chosen, if it was."""
    curve = getattr(model, "curve_", None)
    if curve is None:
        return ""
    return sentence(curve.statement()) + folded("All sizes", curve._repr_html_())


def _collections(model: Any) -> list[tuple[str, Any]]:
    kept = [("path_", getattr(model, "_path", None)), ("front_", getattr(model, "front_", None))]
    return [(name, found) for name, found in kept if found is not None]


def _count(found: Any) -> str:
    return "1 tree" if len(found) == 1 else f"{len(found)} trees"
