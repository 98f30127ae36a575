"""
Texts of a matrix, and the escaping of untrusted text for HTML and SVG.

Names, paths and rules come from untrusted files: control characters are escaped, then the
characters that are markup in HTML and XML. The module does not render either format.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from robotrules.matrix.values import (
    EVERYTHING,
    NOT_DECIDED,
    NOTHING,
    OTHERS,
    SOME,
    Cell,
    Matrix,
    MatrixRow,
)
from robotrules.octets import visible

# Texts in every format of a matrix.
TITLE = "Who may fetch what"
FOOTNOTE = (
    "robots.txt is a request, not access control: it does not keep out crawlers that ignore it."
)
MAY_NOT_OBEY = "its operator says that it does not obey robots.txt, or not always"
LEGEND = {
    EVERYTHING: "every URL allowed",
    SOME: "some allowed, some not",
    NOTHING: "no URL allowed",
    NOT_DECIDED: "not decided",
}
# Badges beside names, and their meaning.
BADGES = {
    "control": "fetches nothing; controls the use of what other crawlers fetch",
    "retired": "no crawler uses this name any more",
}
_SHARES = {EVERYTHING: "everything", SOME: "some URLs", NOTHING: "nothing"}
# Longer text is truncated in tooltips.
MAX_LENGTH = 160


def to_plain_text(text: str, most: int = MAX_LENGTH) -> str:
    """Return text with control characters escaped, truncated to *most* characters."""
    return visible(text if len(text) <= most else text[: most - 1] + "…")


def to_markup(text: str, most: int = MAX_LENGTH) -> str:
    """Return text escaped for HTML and XML, between tags and in quoted attributes."""
    return escape(to_plain_text(text, most), quote=True)


def describe_cell(row: MatrixRow, cell: Cell) -> str:
    """Return the verdict of a cell with its reason, in one line."""
    return f"{row.name} and {cell.path}: {cell.verdict} ({row.group})"


def may_not_obey(row: MatrixRow) -> bool:
    """Return whether a crawler's operator says that it does not always obey."""
    return row.known is not None and row.known.obeys in ("no", "partly")


def group_label(row: MatrixRow) -> str:
    """Return the group that a crawler obeys, in a word or two."""
    return {
        "no group": "none",
        "the group for everyone": "everyone",
        "the group of its purpose": "purpose",
        "its own group": "own",
    }.get(row.group.partition(" (")[0], row.by or "own")


def describe_crawler(row: MatrixRow) -> str:
    """Return a description of a crawler, in a sentence or two."""
    known = row.known
    if known is None:
        return ""
    parts = [f"{known.operator}."]
    if known.status != "active":
        parts.append("Retired.")
    if known.is_control:
        parts.append("A control, not a crawler.")
    parts.append(f"Obeys robots.txt: {known.obeys}.")
    return " ".join([*parts, known.remarks]).strip()


def badges(row: MatrixRow) -> tuple[str, ...]:
    """Return the badges of a name, which `BADGES` explains."""
    known = row.known
    if known is None:
        return ()
    control = ("control",) if known.is_control else ()
    return (*control, "retired") if known.status != "active" else control


def used_badges(matrix: Matrix) -> dict[str, str]:
    """Return the badges that a matrix uses, each with its meaning."""
    used = {badge for row in matrix.rows for badge in badges(row)}
    return {badge: meaning for badge, meaning in BADGES.items() if badge in used}


def format_counts(counts: Mapping[str, int]) -> str:
    """Return counts of summaries in words: `3 may fetch everything, 1 nothing`."""
    parts = _shares(counts)
    if undecided := counts.get(NOT_DECIDED, 0):
        parts.append(f"{undecided:,} not decided")
    return ", ".join(parts)


def _shares(counts: Mapping[str, int]) -> list[str]:
    parts = [(f"{counts[key]:,}", share) for key, share in _SHARES.items() if counts.get(key)]
    verbs = [" may fetch", *[""] * len(parts)]
    return [f"{count}{verb} {share}" for (count, share), verb in zip(parts, verbs, strict=False)]


def headline(matrix: Matrix) -> str:
    """Return how much of the site the crawlers may fetch, in a sentence."""
    counts = {summary: count for summary, count in matrix.counts.items() if count}
    if len(counts) == 1:
        (summary,) = counts
        many = "both" if len(matrix.rows) == 2 else f"all {len(matrix.rows):,}"
        who = f"{many} shown here"
        if len(matrix.rows) == 1:
            who = to_plain_text(matrix.rows[0].name, 60)
        if summary == NOT_DECIDED:
            return f"It was not decided what {who} may fetch."
        # A name keeps its spelling, also at the start of a sentence.
        who = who.capitalize() if len(matrix.rows) > 1 or who == OTHERS else who
        return f"{who} may fetch {_SHARES[summary]}."
    parts = _shares(counts)
    if undecided := counts.get(NOT_DECIDED, 0):
        parts.append(f"for {undecided:,} it was not decided")
    return f"Of the {len(matrix.rows):,} shown here, {', '.join(parts[:-1])} and {parts[-1]}."


def footnotes(matrix: Matrix) -> list[str]:
    """Return the notes below a matrix, in sentences."""
    found = []
    if any(may_not_obey(row) for row in matrix.rows):
        found.append(f"† {MAY_NOT_OBEY[0].upper()}{MAY_NOT_OBEY[1:]}.")
    if matrix.left_out:
        noun = "name of the file is" if matrix.left_out == 1 else "names of the file are"
        found.append(f"{matrix.left_out:,} more {noun} not shown.")
    found.append(f"Well-known crawlers as of {matrix.checked}; profile {matrix.profile}.")
    return found
