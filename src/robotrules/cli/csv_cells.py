"""
Cells of CSV that are safe for spreadsheets and terminals.

A spreadsheet may run a cell that starts with `=`, `+`, `-` or `@` as a formula, so such a text gets
an apostrophe in front, as do the full-width forms of these characters. Control and invisible
characters are escaped as in `\\x0a`, so a record is always one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from robotrules.octets import visible

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
# A semicolon separates columns in some languages, and spaces at an end may be removed.
_QUOTED = re.compile(r'[",;]|^ | $')

Cell = str | bytes | int | bool | None


def csv_cell(value: Cell) -> str:
    """Return a value as a cell: numbers as they are, `true` and `false`, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    text = visible(value)
    if text.lstrip(" ").startswith(_FORMULA):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def csv_line(cells: Iterable[Cell]) -> str:
    """Return a record with its line end."""
    return ",".join(map(csv_cell, cells)) + "\n"
