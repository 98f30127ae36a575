"""Escaping for Markdown: untrusted text as code spans and blocks that it cannot close."""

from __future__ import annotations

import re
from collections.abc import Sequence

from robotrules.cli.text import truncate
from robotrules.octets import visible

# How much of a long text is shown; JSON has all of it.
LONGEST = 120

_PLAIN = re.compile(r"[^`|\s](?:[^`|]*[^`|\s])?")
_WORD = re.compile(r"[A-Za-z0-9 ]")


def code(text: str) -> str:
    """Return text as a code span that its content cannot close."""
    shown = _shown(text)
    return f"`{shown}`" if _PLAIN.fullmatch(shown) else html_code(text)


def code_block(lines: Sequence[str]) -> list[str]:
    """Return lines as an indented code block; no content can close one."""
    return [f"    {visible(line)}".rstrip() for line in lines]


def html_code(text: str) -> str:
    """
    Return text as a code element, for text that a code span cannot hold.

    All characters but letters, digits and spaces are character references, which have no meaning in
    Markdown and HTML. Renderers disagree about other ways to escape the end of a span or table
    cell.
    """
    parts = (c if _WORD.fullmatch(c) else f"&#{ord(c)};" for c in _shown(text))
    return f"<code>{''.join(parts)}</code>"


def _shown(text: str) -> str:
    # Cut before escaping: a pattern can be as long as a file.
    return truncate(visible(text[: LONGEST + 1]), LONGEST)
