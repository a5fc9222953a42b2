"""Model files: fitted estimators as JSON that no code runs from, and back."""

from ._model import FORMAT, load, model_from_json, model_to_json, register_estimator
from ._values import Omitted, written_by_fields
from ._writing import check_place, write_whole

__all__ = [
    "FORMAT",
    "Omitted",
    "check_place",
    "load",
    "model_from_json",
    "model_to_json",
    "register_estimator",
    "write_whole",
    "written_by_fields",
]
