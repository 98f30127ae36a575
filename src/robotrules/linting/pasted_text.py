"""
Foreign: what people paste into a robots.txt that belongs elsewhere.

Signs that nobody sees, comments as other languages write them, and lines of other files. Several
checks look at these, so that each line is spoken of once. It does not know those checks, and does
not say what is wrong with anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from robotrules.linting.names import KNOWN

if TYPE_CHECKING:
    from robotrules.linting.context import LintContext

# Signs that look like nothing or like a space, or like a colon, by code point.
SIGNS = {
    0x0085: "next line",
    0x00A0: "no-break space",
    0x00AD: "soft hyphen",
    **dict.fromkeys(range(0x2000, 0x200B), "wide space"),
    0x200B: "zero width space",
    0x200C: "zero width non-joiner",
    0x200D: "zero width joiner",
    0x200E: "left-to-right mark",
    0x200F: "right-to-left mark",
    0x2028: "line separator",
    0x2029: "paragraph separator",
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "direction mark"),
    0x202F: "narrow no-break space",
    0x205F: "wide space",
    0x2060: "word joiner",
    0x3000: "ideographic space",
    0xFEFF: "byte order mark",
    0xFF1A: "full-width colon",
}
# A UTF-8 byte order mark that was read as Latin-1 and saved as UTF-8.
GARBLED_BOM = "ï»¿".encode()
FULL_WIDTH_COLON = "\uff1a".encode()
# Scripts such as Persian and Hindi spell with these, so inside a word they may be meant.
JOINERS = ("\u200c".encode(), "\u200d".encode())
_SIGN = b"|".join(chr(point).encode() for point in SIGNS)
SIGN = re.compile(b"(?:" + _SIGN + b")")
LEADING = re.compile(b"(?:" + _SIGN + rb"|[ \t])*")


def sign_name(octets: bytes) -> str:
    """Return how a sign is called, with its code point."""
    point = ord(octets.decode())
    return f"U+{point:04X} ({SIGNS[point]})"


def unseen(octets: bytes) -> bool:
    """Tell whether there is nothing to see: signs and whitespace only, and at least one sign."""
    left = SIGN.sub(b"", octets)
    return len(left) < len(octets) and not left.strip()


def strangers(context: LintContext) -> Iterator[tuple[int, int]]:
    """Yield the span of what is written in each line that is no record of a known name."""
    for note in context.noted("no-separator"):
        yield note.start, note.end
    for key in context.keys:
        if key not in KNOWN:
            yield from ((record.key_start, record.end) for record in context.records(key))


class Mark(NamedTuple):
    """How another language starts a comment, or marks text up."""

    text: bytes
    where: str


# `/*?sort=` is a pattern that lost its name: a comment has a blank after the star, or an end.
_MARK = re.compile(
    rb"[ \t]*(?:(//|;|<!--|-->|```|~~~)|(/\*)(?=[ \t*]|$|.*\*/[ \t]*$)|(\*/)[ \t]*$"
    rb"|(</?(?:br|p|pre|code|div|span|html|body|head)\b[^<>]*>))",
    re.IGNORECASE | re.DOTALL,
)
# What editors of web pages put at the end of a line.
TAG_AT_END = re.compile(rb"[ \t]*(</?(?:br|p|pre|code|div|span|li)\b[ \t]*/?>)$", re.IGNORECASE)
_WHERE = {b"//": "program code", b";": "settings files", b"<!--": "HTML", b"-->": "HTML"}


def mark(line: bytes) -> Mark | None:
    """Return the mark that a line starts with."""
    found = _MARK.match(line)
    if not found:
        return None
    text = next(filter(None, found.groups()))
    if text[:1] == b"<":
        where = "HTML"
    elif text in (b"/*", b"*/"):
        where = "program code"
    else:
        where = _WHERE.get(text, "Markdown")
    return Mark(text, where)


# --- Lines of other files -------------------------------------------------------------------------

# Fields of HTTP responses that people take for records; in lower case.
FIELDS = frozenset(
    {
        *("x-robots-tag", "robots-tag", "content-type", "content-length", "content-encoding"),
        *("cache-control", "set-cookie", "last-modified", "etag", "x-frame-options"),
        *("content-security-policy", "strict-transport-security", "x-content-type-options"),
        *("x-xss-protection", "referrer-policy", "permissions-policy"),
        *("access-control-allow-origin", "x-powered-by", "transfer-encoding"),
    }
)
# Those of a security.txt (RFC 9116 §2.5): one alone may be a record that somebody invented.
SECURITY = frozenset(
    {
        *("acknowledgments", "canonical", "contact", "encryption", "expires", "hiring", "policy"),
        "preferred-languages",
    }
)
_ADS = re.compile(rb"[\w.-]+\.\w+[ \t]*,[^,]+,[ \t]*(?:DIRECT|RESELLER)\b", re.IGNORECASE)
_SERVER = re.compile(
    rb"(?:Rewrite(?:Engine|Cond|Rule|Base)|Redirect(?:Match|Permanent)?|ErrorDocument|AddType"
    rb"|AddHandler|AddDefaultCharset|DirectoryIndex|SetEnvIf(?:NoCase)?|Order[ \t]+(?:allow|deny)"
    rb"|Deny[ \t]+from|Allow[ \t]+from|Header[ \t]+(?:set|add|append|always)|Options[ \t]+[-+]"
    rb"|</?(?:IfModule|Files|FilesMatch|Directory|Location|Limit|RequireAll)\b)(?:[ \t]|>|$)",
    re.IGNORECASE,
)
_META = re.compile(rb"</?(?:meta|link|title|script)\b", re.IGNORECASE)
_STATUS = re.compile(rb"HTTP/\d", re.IGNORECASE)


def home(line: bytes) -> str | None:
    """Return where a line belongs that has the form of another file's, by its text alone."""
    line = line.strip(b" \t")
    if _ADS.match(line):
        return "ads.txt"
    if _SERVER.match(line):
        return "the settings of a web server, such as .htaccess"
    if _META.match(line):
        return "the HTML of a page"
    if _STATUS.match(line):
        return "the head of an HTTP response"
    return None
