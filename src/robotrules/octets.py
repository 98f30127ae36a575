"""
Octets as text, and text as octets: UTF-8, without losing what is not UTF-8.

A robots.txt and a header field are octets. People and JSON need text, and callers pass text that a
lenient decoder made.
"""

from __future__ import annotations


def to_text(octets: bytes) -> str:
    """Return octets as text for people and JSON; an octet that is not UTF-8 becomes `\\xNN`."""
    return octets.decode("utf-8", "backslashreplace")


def visible(text: str | bytes) -> str:
    """
    Return text with every octet that is not UTF-8, and every invisible character, escaped.

    From `\\x80` on, `\\xNN` is an octet that is not UTF-8, and a character is `\\uNNNN`.
    """
    text = to_text(text) if isinstance(text, bytes) else text
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(ord(c)) for c in text)


def _escape(code: int) -> str:
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def to_octets(text: str | bytes | bytearray | memoryview) -> bytes:
    """Return text as UTF-8; surrogates that a lenient decoder made become their octets again."""
    if not isinstance(text, str):
        return bytes(text)
    for errors in ("strict", "surrogateescape"):
        try:
            return text.encode("utf-8", errors)
        except UnicodeEncodeError:
            continue
    return text.encode("utf-8", "surrogatepass")
