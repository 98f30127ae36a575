"""
URLs: the text that the originals compare, for a URL as a caller passes it.

`urllib.parse`, which urllib.robotparser and Protego use, removes TAB, CR and LF (WHATWG URL §4.4),
so a line of a file with URLs can be passed with its line end. If it were encoded, `/*.pdf$` would
not match.
"""

from __future__ import annotations

from robotrules.robotstxt.ruleset import URL

_REMOVED = str.maketrans("", "", "\t\r\n")


def without_line_ends(url: URL) -> URL:
    """Return a URL without TAB, CR and LF; other types are left to the check, which raises."""
    if isinstance(url, str):
        # Three searches are faster than one with a regular expression.
        if "\n" in url or "\r" in url or "\t" in url:
            return url.translate(_REMOVED)
        return url
    return url.translate(None, b"\t\r\n") if isinstance(url, (bytes, bytearray)) else url
