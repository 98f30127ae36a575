"""
URLs: the text that is compared, for a URL as a caller of a drop-in passes it.

`urllib.parse`, which urllib.robotparser and Protego use, removes CR and LF (WHATWG URL §4.4), so a
line of a file with URLs can be passed with its line end. If it were encoded, `/*.pdf$` would not
match. A TAB is also removed there; here it is compared as `%09`, because a pattern may have one.
"""

from __future__ import annotations

from robotrules.robotstxt.ruleset import URL

_LINE_ENDS = str.maketrans("", "", "\r\n")


def without_line_ends(url: URL) -> URL:
    """Return a URL without CR and LF; other types are left to the check, which raises."""
    if isinstance(url, str):
        # Two searches are faster than one with a regular expression.
        return url.translate(_LINE_ENDS) if "\n" in url or "\r" in url else url
    return url.translate(None, b"\r\n") if isinstance(url, (bytes, bytearray)) else url
