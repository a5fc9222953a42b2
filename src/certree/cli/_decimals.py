"""The decimal sign of a CSV file: a point, or the comma of many countries."""

from __future__ import annotations

import re
from collections.abc import Collection

from ._files import FileTable
from ._printing import remark
from ._problems import listed
from ._table_layout import Layout

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A number with a decimal point."""

# 1,234 may be a number above a thousand, or one and a bit.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


def decimal_sign(raw: FileTable, missing: Collection[str], layout: Layout) -> str:
    """Return the decimal sign of the columns that are no texts.

    It is a comma if columns are numbers with commas, and no column has numbers with points. If all
    of these could be thousands, they are texts. Both is said, unless the columns are numbers of a
    model.
    """
    if raw.lines is None:
        return "."
    with_comma, is_certain, has_points = [], False, False
    for name, values in zip(raw.names, raw.columns, strict=True):
        known = layout.types.get(name)
        if name in layout.drop or known not in (None, "number", "whole"):
            continue
        cells = set(values.tolist()) - set(missing)
        commas = {cell for cell in cells if "," in cell}
        if not all(NUMBER.fullmatch(cell.replace(",", ".")) for cell in cells):
            # Several commas in a number stand for thousands.
            if known is None and commas and all(map(_is_grouped, cells)):
                with_comma.append(name)
            continue
        has_points |= any("." in cell for cell in cells)
        if commas:
            with_comma.append(name)
            is_certain |= known is not None or not all(map(_THOUSANDS.fullmatch, commas))
    if not with_comma:
        return "."
    told = listed([repr(name) for name in with_comma])
    if not is_certain or has_points:
        remark(
            f"{raw.where}: {told} may be numbers with commas, and are read as texts; take the "
            "commas out if they mark thousands, or give --decimal , if they are decimal signs."
        )
        return "."
    if any(name not in layout.types for name in with_comma):
        remark(
            f"{raw.where}: the decimal sign is a comma, as in {told}; give --decimal . if these "
            "are texts."
        )
    return ","


def _is_grouped(cell: str) -> bool:
    """Return whether a cell is a number, perhaps with commas at its thousands."""
    whole, _, rest = cell.partition(".")
    if not _THOUSANDS.fullmatch(whole):
        return bool(NUMBER.fullmatch(cell))
    return not rest or rest.isdecimal()
