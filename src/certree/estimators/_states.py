"""The state of a model for pickle and skops: maps whose keys are no texts, as pairs.

skops writes the keys of maps as texts, and takes the group False for True.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_PAIRS = "__pairs__"


def to_state(value: Any) -> Any:
    """Return a value whose maps have texts for keys."""
    if type(value) is not dict:
        return value
    if all(type(key) is str for key in value):
        return _each(to_state, value)
    return {_PAIRS: [(key, to_state(one)) for key, one in value.items()]}


def from_state(value: Any) -> Any:
    """Return the value that :func:`to_state` was given."""
    if type(value) is not dict:
        return value
    if set(value) == {_PAIRS}:
        return {key: from_state(one) for key, one in value[_PAIRS]}
    return _each(from_state, value)


def _each(change: Callable[[Any], Any], value: dict[str, Any]) -> dict[str, Any]:
    """Return a map with changed values, or itself if none changes."""
    changed = {key: change(one) for key, one in value.items()}
    return changed if any(changed[key] is not value[key] for key in value) else value
