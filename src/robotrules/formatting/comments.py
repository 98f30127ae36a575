"""
The formatting of comments, which changes little.

A comment gets a space after its `#` if it starts with a word, and loses whitespace at its ends; it
is never wrapped, and its text is never moved. Adjacent comments are formatted together: if one of
them is drawn (a banner, a box, a table, ASCII art), none of them is moved relative to another. The
module does not use records.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SPACE = b" \t"
# Words: nothing, or at most one space and a letter or digit, perhaps after a quote or a bracket.
_WORDS = re.compile(r"#(?: ?[\"'(\[]?[^\W_]|$)")
# Repeated characters, or wide gaps: a drawing, or text in columns.
_DRAWN = re.compile(r"(\S)\1{4}|[ \t]{3}")
_NO_SPACE = re.compile(r"#[^\W_]")


def add_space(comment: bytes) -> bytes:
    """Return a comment with a space after its `#`, if it starts with a letter or digit."""
    # Four octets contain one character, and an incomplete second one does not matter.
    start = comment[:5].decode("utf-8", "ignore")
    return b"# " + comment[1:] if _NO_SPACE.match(start) else comment


def format_trailing_comment(comment: bytes) -> bytes:
    """Return a comment that follows a record on its line."""
    comment = comment.rstrip(SPACE)
    return comment if _is_drawn(comment) else add_space(comment)


def format_comment_block(lines: Sequence[bytes]) -> list[bytes]:
    """Return adjacent comment lines."""
    inner = [line.strip(SPACE) for line in lines]
    if not any(map(_is_drawn, inner)):
        return [add_space(comment) for comment in inner]
    # With one common margin, removing it does not move any line relative to another.
    margins = {line[: len(line) - len(line.lstrip(SPACE))] for line in lines}
    return inner if len(margins) == 1 else [line.rstrip(SPACE) for line in lines]


def _is_drawn(comment: bytes) -> bool:
    text = comment.decode()
    return not _WORDS.match(text) or _DRAWN.search(text) is not None
