"""
Pasted text: characters and lines in a robots.txt that come from elsewhere.

Invisible characters, comments in the syntax of other languages, and lines of other files. Several
checks use this module, so that each line is reported once. It does not know those checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from robotrules.linting.record_names import KNOWN

if TYPE_CHECKING:
    from robotrules.linting.context import LintContext

# Characters that are invisible or look like a space or a colon, by code point.
ODD_CHARACTERS = {
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
# Scripts such as Persian and Hindi use these in spelling, so inside a word they may be intended.
JOINERS = ("\u200c".encode(), "\u200d".encode())
_ANY_ODD = b"|".join(chr(point).encode() for point in ODD_CHARACTERS)
ODD_CHARACTER = re.compile(b"(?:" + _ANY_ODD + b")")
LEADING = re.compile(b"(?:" + _ANY_ODD + rb"|[ \t])*")


def name_character(octets: bytes) -> str:
    """Return the code point and the name of an odd character."""
    point = ord(octets.decode())
    return f"U+{point:04X} ({ODD_CHARACTERS[point]})"


def is_invisible(octets: bytes) -> bool:
    """Return whether a text has only odd characters and whitespace, with at least one of them."""
    left = ODD_CHARACTER.sub(b"", octets)
    return len(left) < len(octets) and not left.strip()


def find_unknown_lines(context: LintContext) -> Iterator[tuple[int, int]]:
    """Yield the span of each line that is not a record with a known name."""
    for note in context.parser_notes("no-separator"):
        yield note.start, note.end
    for key in context.keys:
        if key not in KNOWN:
            yield from ((record.key_start, record.end) for record in context.records(key))


class Mark(NamedTuple):
    """The start of a comment, or markup, in another language."""

    text: bytes
    where: str


# `/*?sort=` is a pattern without its `Disallow:`; a comment has a blank after the star, or an end.
_MARK = re.compile(
    rb"[ \t]*(?:(//|;|<!--|-->|```|~~~)|(/\*)(?=[ \t*]|$|.*\*/[ \t]*$)|(\*/)[ \t]*$"
    rb"|(</?(?:br|p|pre|code|div|span|html|body|head)\b[^<>]*>))",
    re.IGNORECASE | re.DOTALL,
)
# Tags that web page editors put at the end of a line.
TAG_AT_END = re.compile(rb"[ \t]*(</?(?:br|p|pre|code|div|span|li)\b[ \t]*/?>)$", re.IGNORECASE)
_WHERE = {b"//": "program code", b";": "settings files", b"<!--": "HTML", b"-->": "HTML"}


def find_mark(line: bytes) -> Mark | None:
    """Return the mark that a line starts with."""
    match = _MARK.match(line)
    if not match:
        return None
    text = next(filter(None, match.groups()))
    if text[:1] == b"<":
        where = "HTML"
    elif text in (b"/*", b"*/"):
        where = "program code"
    else:
        where = _WHERE.get(text, "Markdown")
    return Mark(text, where)


# --- Lines of other files -------------------------------------------------------------------------

# HTTP response fields that authors mistake for records, in lower case.
FIELDS = frozenset(
    {
        *("x-robots-tag", "robots-tag", "content-type", "content-length", "content-encoding"),
        *("cache-control", "set-cookie", "last-modified", "etag", "x-frame-options"),
        *("content-security-policy", "strict-transport-security", "x-content-type-options"),
        *("x-xss-protection", "referrer-policy", "permissions-policy"),
        *("access-control-allow-origin", "x-powered-by", "transfer-encoding"),
    }
)
# Fields of a security.txt (RFC 9116 §2.5); a single one may be an unknown record.
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


def guess_file(line: bytes) -> str | None:
    """Return the file in which a line belongs, by its form alone; None: no other file."""
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
