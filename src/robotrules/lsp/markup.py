"""
Words for an editor: markdown in which nothing of a file is taken for markdown.

What a robots.txt holds comes from strangers. It stands in code spans, with every character that
cannot be seen made visible, and not too much of it. It does not know what it quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from robotrules.octets import to_text, visible

__all__ = ["brief", "bulleted", "code", "linked", "many", "named", "plain"]

LONGEST = 120
LONGEST_SENTENCE = 600
# References that have a page of their own.
_RFC = re.compile(r"RFC (\d{3,5})(?: §([0-9.]+[0-9]))?")
_DRAFT = re.compile(r"draft-[a-z0-9-]+[a-z0-9]")
# What means something in CommonMark (§2.4).
_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#~|&!"})
# Our own list of what documents leave open is no page that a reader could look at.
_OURS = re.compile(r" \(AMB-[^)]*\)")
_URL = re.compile(r"https?://[^\s<>()\[\]]+")


def brief(text: str | bytes, most: int = LONGEST) -> str:
    """Return text on one line in which invisible characters show; cut at its end."""
    if isinstance(text, bytes):
        text = to_text(text[: 4 * most + 4])
    return visible(text if len(text) <= most else text[: most - 1] + "…")


def code(text: str | bytes, most: int = LONGEST) -> str:
    """Return text as a code span, whatever it holds (CommonMark §6.1)."""
    text = brief(text, most)
    if not text.strip():
        return "(empty)"
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    room = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{room}{text}{room}{fence}"


def plain(words: str) -> str:
    """Return a sentence in which markdown finds nothing, whatever it quotes."""
    return brief(words, LONGEST_SENTENCE).translate(_SIGNS)


def named(names: Iterable[str | bytes], most: int = 4) -> str:
    """Return names as code spans with commas, and how many more there are."""
    given = list(names)
    shown = ", ".join(code(name, 60) for name in given[:most])
    rest = len(given) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def many(count: int, noun: str) -> str:
    """Return `1 rule`, `2,000 rules`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def bulleted(items: Iterable[str]) -> str:
    """Return a list of lines."""
    return "\n".join(f"- {item}" for item in items)


def linked(reference: str) -> str:
    """Return a reference of ours with links to the documents that it names."""
    reference = _OURS.sub("", reference)
    if found := _URL.fullmatch(reference):
        return f"<{found[0]}>"
    text = _RFC.sub(_rfc, reference)
    return _DRAFT.sub(r"[\g<0>](https://datatracker.ietf.org/doc/\g<0>/)", text)


def _rfc(found: re.Match[str]) -> str:
    page = f"https://www.rfc-editor.org/rfc/rfc{found[1]}"
    return f"[{found[0]}]({page}#section-{found[2]})" if found[2] else f"[{found[0]}]({page})"
