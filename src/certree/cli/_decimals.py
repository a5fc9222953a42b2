"""The decimal sign of the columns of a CSV file: a point, or the comma of many countries."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from ._files import FileTable
from ._printing import remark
from ._problems import listed
from ._table_layout import Layout

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A number with a decimal point."""

# 1,234 may be a number above a thousand, or one and a bit.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")

# 1.234,5 has points at its thousands.
_POINTED = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d*)?")

_MONEY = re.compile(r"([€$£¥]|EUR|USD|GBP|CHF)?\s?[+-]?\d[\d.,]*\s?([€$£¥%]|EUR|USD|GBP|CHF)?")

Sign = Literal[",", ".,"]
"""A comma, or a comma with points at the thousands."""


def decimal_signs(raw: FileTable, missing: Collection[str], layout: Layout) -> dict[str, Sign]:
    """Return the columns whose numbers have decimal commas.

    A column has them if its cells are numbers with commas, and some of these cannot mark thousands.
    If all of them can, they are decimal signs only where another column has such, and no column has
    points; otherwise they are texts. What is guessed is said.
    """
    if raw.lines is None:
        return {}
    signs: dict[str, Sign] = {}
    doubted, money, has_points = [], [], False
    for name, values in zip(raw.names, raw.columns, strict=True):
        known = layout.types.get(name)
        if name in layout.drop or known not in (None, "number", "whole"):
            continue
        cells = set(values.tolist()) - set(missing)
        commas, points = ({cell for cell in cells if sign in cell} for sign in ",.")
        if all(NUMBER.fullmatch(cell.replace(",", ".")) for cell in cells):
            has_points |= bool(points)
            if commas and not all(map(_THOUSANDS.fullmatch, commas)):
                # Beside decimal commas, 1.561 is above a thousand.
                signs[name] = ".," if points and all(map(_POINTED.fullmatch, points)) else ","
            elif commas and known is not None:
                signs[name] = ","
            elif commas:
                doubted.append(name)
        elif all(map(_POINTED.fullmatch, cells)) and commas & points:
            signs[name] = ".,"
        elif known is None and commas and all(map(_is_grouped, cells)):
            # Several commas in a number stand for thousands.
            doubted.append(name)
        elif known is None and all(map(_MONEY.fullmatch, cells)):
            money.append(name)
    if signs and not has_points:
        like_numbers = _thousands_of_numbers(raw, missing, doubted)
        signs |= dict.fromkeys(like_numbers, ",")
        doubted = [name for name in doubted if name not in like_numbers]
    _tell(raw.where, [name for name in signs if name not in layout.types], doubted, money)
    return signs


def _thousands_of_numbers(raw: FileTable, missing: Collection[str], names: list[str]) -> list[str]:
    """Return those of some columns whose cells have at most one comma each."""
    cells = {name: set(raw.columns[raw.names.index(name)].tolist()) for name in names}
    return [
        name
        for name in names
        if all(NUMBER.fullmatch(cell.replace(",", ".")) for cell in cells[name] - set(missing))
    ]


def _tell(where: str, found: list[str], doubted: list[str], money: list[str]) -> None:
    """Say what is guessed of columns."""
    if doubted:
        remark(
            f"{where}: {_named(doubted)} may be numbers with commas, and are read as texts; take "
            "the commas out if they mark thousands, or give --decimal , if they are decimal signs."
        )
    if found:
        remark(
            f"{where}: the decimal sign is a comma, as in {_named(found)}; give --decimal . if "
            "these are texts."
        )
    if money:
        remark(
            f"{where}: {_named(money)} may be numbers with a sign of money or %, and are read as "
            "texts; take the sign out."
        )


def _named(names: list[str]) -> str:
    return listed([repr(name) for name in names])


def with_point(cell: str, sign: str) -> str:
    """Return a number with a decimal point, given its decimal sign."""
    text = cell.replace(".", "") if sign == ".," else cell
    return text.replace(sign[-1], ".")


def _is_grouped(cell: str) -> bool:
    """Return whether a cell is a number, perhaps with commas at its thousands."""
    whole, _, rest = cell.partition(".")
    if not _THOUSANDS.fullmatch(whole):
        return bool(NUMBER.fullmatch(cell))
    return not rest or rest.isdecimal()
