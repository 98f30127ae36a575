"""
data-nosnippet: the texts of a page that its author keeps out of snippets (XRT-19).

The attribute counts on `span`, `div` and `section`, with any value or none, and nowhere else. A
marked element in a marked element adds nothing: the outermost has its text. This needs the body,
so the document is parsed as far as the limit allows, with scripting on, as a page is when snippets
are made of it.

It does not know what else keeps a text out of a snippet: that is for `rules`.
"""

from __future__ import annotations

from robotrules.tags.bounds import bounded
from robotrules.tags.encoding import decoded, encoding_of, well_formed
from robotrules.tags.html import MOST_HTML, check_limit
from robotrules.tags.trees import builder

__all__ = ["nosnippet_texts"]

ATTRIBUTE = "data-nosnippet"
MARKED = ("span", "div", "section")


def nosnippet_texts(
    html: bytes | str, *, charset: str | None = None, limit: int = MOST_HTML
) -> tuple[str, ...]:
    """
    Return the texts that a page marks with data-nosnippet, in its order.

    Runs of white space are one space, as they are shown; scripts and styles are no text. Only
    *limit* octets or characters are read. Raises MissingExtraError where no tree builder is
    installed; content never raises.

        >>> nosnippet_texts("<p>Seen. <span data-nosnippet>Not <b>quoted</b>.</span></p>")
        ('Not quoted.',)
    """
    check_limit(limit)
    if isinstance(html, str):
        text = well_formed(html[:limit])
    elif isinstance(html, (bytes, bytearray, memoryview)):
        data = bytes(memoryview(html).cast("B")[:limit])
        text = decoded(data, encoding_of(data, charset))
    else:
        raise TypeError(f"HTML comes as bytes or str, not as {type(html).__name__}")
    tree = builder()(text[: bounded(text, True)], True)
    found = (" ".join(one.split()) for one in tree.texts(MARKED, ATTRIBUTE))
    return tuple(one for one in found if one)
