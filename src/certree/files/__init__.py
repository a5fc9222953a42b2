"""Model files: fitted estimators as JSON that no code runs from, and back."""

from ._model import FORMAT, load, model_from_json, model_to_json, register_estimator
from ._values import Omitted, written_by_fields

__all__ = [
    "FORMAT",
    "Omitted",
    "load",
    "model_from_json",
    "model_to_json",
    "register_estimator",
    "written_by_fields",
]
