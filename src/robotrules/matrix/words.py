"""
What a matrix says in words, and how text of strangers goes into a page or a picture.

Names, paths and rules come from files of strangers: each control character is made a plain one,
and then what HTML and XML read as markup is escaped. It does not know either form.
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
# What stands beside some names, and what it means.
BADGES = {
    "control": "fetches nothing; says what may be done with what others fetch",
    "retired": "nobody comes by this name any more",
}
_SHARES = {EVERYTHING: "everything", SOME: "some URLs", NOTHING: "nothing"}
# What is longer is cut, in titles that appear under the pointer.
LONGEST = 160


def plain(text: str, most: int = LONGEST) -> str:
    """Return text without control characters, which show as escapes, and cut where it is long."""
    return visible(text if len(text) <= most else text[: most - 1] + "…")


def markup(text: str, most: int = LONGEST) -> str:
    """Return text as it may stand in HTML and XML, between tags and in quoted attributes."""
    return escape(plain(text, most), quote=True)


def cell_words(asked: MatrixRow, cell: Cell) -> str:
    """Return what a cell says and why, in one line."""
    return f"{asked.name} and {cell.path}: {cell.verdict} ({asked.group})"


def may_not_obey(asked: MatrixRow) -> bool:
    """Tell whether a crawler's operator says that it does not always obey."""
    return asked.known is not None and asked.known.obeys in ("no", "partly")


def group_words(asked: MatrixRow) -> str:
    """Return whose group somebody obeys, in a word or two."""
    return {
        "no group": "none",
        "the group for everyone": "everyone",
        "the group of its purpose": "purpose",
        "its own group": "own",
    }.get(asked.group.partition(" (")[0], asked.by or "own")


def about(asked: MatrixRow) -> str:
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


def badges(asked: MatrixRow) -> tuple[str, ...]:
    """Return what is to be said of a name in a word, which `BADGES` explains."""
    known = asked.known
    if known is None:
        return ()
    control = ("control",) if known.is_control else ()
    return (*control, "retired") if known.status != "active" else control


def badges_of(matrix: Matrix) -> dict[str, str]:
    """Return the badges that some name of a matrix has, each with what it means."""
    shown = {badge for asked in matrix.rows for badge in badges(asked)}
    return {badge: words for badge, words in BADGES.items() if badge in shown}


def counted(counts: Mapping[str, int]) -> str:
    """Return counts of summaries in words: `3 may fetch everything, 1 nothing`."""
    told = _shares(counts)
    if undecided := counts.get(NOT_DECIDED, 0):
        told.append(f"{undecided:,} not decided")
    return ", ".join(told)


def _shares(counts: Mapping[str, int]) -> list[str]:
    told = [(f"{counts[one]:,}", words) for one, words in _SHARES.items() if counts.get(one)]
    verbs = [" may fetch", *[""] * len(told)]
    return [f"{count}{verb} {words}" for (count, words), verb in zip(told, verbs, strict=False)]


def headline(matrix: Matrix) -> str:
    """Return how much of the site those who are shown may fetch, in a sentence."""
    counts = {summary: count for summary, count in matrix.counts.items() if count}
    if len(counts) == 1:
        (summary,) = counts
        many = "both" if len(matrix.rows) == 2 else f"all {len(matrix.rows):,}"
        who = f"{many} shown here"
        if len(matrix.rows) == 1:
            who = plain(matrix.rows[0].name, 60)
        if summary == NOT_DECIDED:
            return f"What {who} may fetch was not decided."
        # A name stands as it is spelled, also at the start of a sentence.
        who = who.capitalize() if len(matrix.rows) > 1 or who == OTHERS else who
        return f"{who} may fetch {_SHARES[summary]}."
    told = _shares(counts)
    if undecided := counts.get(NOT_DECIDED, 0):
        told.append(f"for {undecided:,} it was not decided")
    return f"Of the {len(matrix.rows):,} shown here, {', '.join(told[:-1])} and {told[-1]}."


def notes(matrix: Matrix) -> list[str]:
    """Return what is to be known about a matrix, in sentences."""
    found = []
    if any(may_not_obey(asked) for asked in matrix.rows):
        found.append(f"† {MAY_NOT_OBEY[0].upper()}{MAY_NOT_OBEY[1:]}.")
    if matrix.left_out:
        noun = "name of the file is" if matrix.left_out == 1 else "names of the file are"
        found.append(f"{matrix.left_out:,} more {noun} not shown.")
    found.append(f"Well-known crawlers as of {matrix.checked}; profile {matrix.profile}.")
    return found
