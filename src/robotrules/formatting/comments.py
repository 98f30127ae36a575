"""
Comments: what may be done to them, which is little.

A comment is somebody's text. It gets a space after its `#` where it is words, and loses whitespace
at its ends; it is never wrapped, and what stands in it is never moved. Comments that stand together
are looked at together: where one of them is drawn (a banner, a box, a table, a picture made of
signs) none of them is moved against another. It does not know what lines are about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SPACE = b" \t"
# Words: nothing, or at most one space and a letter or digit, perhaps in a quote or a bracket.
_WORDS = re.compile(r"#(?: ?[\"'(\[]?[^\W_]|$)")
# Signs that repeat, or room that is left inside: it was drawn, or stands in columns.
_DRAWN = re.compile(r"(\S)\1{4}|[ \t]{3}")
_NO_SPACE = re.compile(r"#[^\W_]")


def spaced(comment: bytes) -> bytes:
    """Return a comment with a space after its `#`, if it starts with a letter or digit."""
    # Four octets hold one character, and half of another does not matter.
    start = comment[:5].decode("utf-8", "ignore")
    return b"# " + comment[1:] if _NO_SPACE.match(start) else comment


def beside(comment: bytes) -> bytes:
    """Return a comment that stands behind a record on its line."""
    comment = comment.rstrip(SPACE)
    return comment if _is_drawn(comment) else spaced(comment)


def together(lines: Sequence[bytes]) -> list[bytes]:
    """Return comments that stand together, each on a line of its own."""
    inner = [line.strip(SPACE) for line in lines]
    if not any(map(_is_drawn, inner)):
        return [spaced(comment) for comment in inner]
    # Where all stand equally far in, nothing is moved against anything if they do not.
    margins = {line[: len(line) - len(line.lstrip(SPACE))] for line in lines}
    return inner if len(margins) == 1 else [line.rstrip(SPACE) for line in lines]


def _is_drawn(comment: bytes) -> bool:
    text = comment.decode()
    return not _WORDS.match(text) or _DRAWN.search(text) is not None
