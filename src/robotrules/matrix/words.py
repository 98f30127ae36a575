"""
What a matrix says in words, and how text of strangers goes into a page or a picture.

Names, paths and rules come from files of strangers: each control character is made a plain one,
and then what HTML and XML read as markup is escaped. It does not know either form.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from robotrules.matrix.values import EVERYTHING, NOT_DECIDED, NOTHING, SOME, Asked, Cell, Matrix

# What stands on every form of a matrix.
TITLE = "Who may fetch what"
FOOTNOTE = (
    "robots.txt is a request to crawlers and not access control: those who do not ask are not "
    "kept out."
)
MAY_NOT_OBEY = "its operator says that it does not obey robots.txt, or not always"
LEGEND = {
    EVERYTHING: "every URL allowed",
    SOME: "some allowed, some not",
    NOTHING: "no URL allowed",
    NOT_DECIDED: "not decided",
}
# What is longer is cut, in titles that appear under the pointer.
LONGEST = 160


def plain(text: str, most: int = LONGEST) -> str:
    """Return text without control characters, which show as escapes, and cut where it is long."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(ord(c)) for c in text)


def _escaped(code: int) -> str:
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def markup(text: str, most: int = LONGEST) -> str:
    """Return text as it may stand in HTML and XML, between tags and in quoted attributes."""
    return escape(plain(text, most), quote=True)


def cell_words(asked: Asked, cell: Cell) -> str:
    """Return what a cell says and why, in one line."""
    return f"{asked.name} and {cell.path}: {cell.verdict} ({asked.group})"


def may_not_obey(asked: Asked) -> bool:
    """Tell whether a crawler's operator says that it does not always obey."""
    return asked.known is not None and asked.known.obeys in ("no", "partly")


def group_words(asked: Asked) -> str:
    """Return whose group somebody obeys, in a word or two."""
    return {
        "no group": "none",
        "the group for everyone": "everyone",
        "the group of its purpose": "purpose",
        "its own group": "own",
    }.get(asked.group.partition(" (")[0], asked.by or "own")


def about(asked: Asked) -> str:
    """Return who a crawler is, in a sentence or two."""
    known = asked.known
    if known is None:
        return ""
    parts = [f"{known.operator}."]
    if known.status != "active":
        parts.append("Retired.")
    if known.is_control:
        parts.append("A control, not a crawler.")
    parts.append(f"Obeys robots.txt: {known.obeys}.")
    return " ".join([*parts, known.remarks]).strip()


def counted(counts: Mapping[str, int]) -> str:
    """Return counts of summaries in words: `3 everything, 1 nothing`."""
    return ", ".join(f"{count} {summary}" for summary, count in counts.items() if count)


def headline(matrix: Matrix) -> str:
    """Return how many are asked, and how much of the site they are allowed, in a sentence."""
    counts = {summary: count for summary, count in matrix.counts.items() if count}
    undecided = counts.pop(NOT_DECIDED, 0)
    told = [f"{count:,} {summary}" for summary, count in counts.items()]
    if told:
        first, _, rest = told[0].partition(" ")
        told[0] = f"{first} {'is' if first == '1' else 'are'} allowed {rest}"
    parts = [f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else "".join(told)]
    if undecided:
        parts.append(f"{undecided:,} not decided")
    return f"Of {len(matrix.asked):,} asked, {'; '.join(filter(None, parts))}."


def notes(matrix: Matrix) -> list[str]:
    """Return what is to be known about a matrix, in sentences."""
    found = []
    if any(may_not_obey(asked) for asked in matrix.asked):
        found.append(f"† {MAY_NOT_OBEY[0].upper()}{MAY_NOT_OBEY[1:]}.")
    if matrix.left_out:
        noun = "name" if matrix.left_out == 1 else "names"
        found.append(f"{matrix.left_out:,} more {noun} of the file are not shown.")
    found.append(f"Well-known crawlers as of {matrix.checked}; profile {matrix.profile}.")
    return found
