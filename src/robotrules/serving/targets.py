"""
Request targets: path and query, percent-encoded, as in the request line.

Servers pass them as bytes, as text or decoded. Nothing here raises, whatever a client sent.
"""

from __future__ import annotations

from urllib.parse import quote

from robotrules.octets import visible

# A prefix, so that `//x` is a path and not a host.
ORIGIN = "http://host"
_RAW_ORIGIN = ORIGIN.encode()
# Characters that a path has unencoded, beside letters and digits (RFC 3986 §3.3).
_SAFE = "/:@!$&'()*+,;=-._~"


def encode_path(path: bytes) -> bytes:
    """Return a decoded path, percent-encoded; `%2F` and `/` cannot be told apart any more."""
    return quote(path, safe=_SAFE).encode("ascii")


def make_url(target: str | bytes) -> str | bytes:
    """Return a URL with this path and query, for matching."""
    if isinstance(target, bytes):
        return _RAW_ORIGIN + (target if target[:1] == b"/" else b"/" + target)
    return ORIGIN + (target if target[:1] == "/" else "/" + target)


def shown_path(target: str | bytes, longest: int) -> str:
    """Return the path as printable text of at most *longest* characters; a query is left out."""
    text = visible(target[:longest])
    return text.partition("?")[0].partition("#")[0][:longest]
