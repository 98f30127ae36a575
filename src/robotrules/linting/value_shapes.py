"""
Value shapes: recognise values that are not what their record requires.

A user-agent line may hold a name with digits, a complete User-Agent header or a list; a path
pattern may hold a URL, an authority or a regular expression. This module tells these apart, so that
exactly one check reports each.

Sections: user-agent lines · path patterns · edits.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.octets import to_text
from robotrules.robotstxt import normalize_path
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import is_compared_whole
from robotrules.robotstxt.values import Record

# --- User-agent lines -----------------------------------------------------------------------------

_IDENTIFIER = re.compile(rb"[-A-Z_a-z]*")
_NAME = re.compile(rb"[-\w.]+")
_LISTED = re.compile(rb"\s*(?:\*|[-\w.]+(?:/[\w.]+)?)\s*")
_BROWSER = re.compile(rb"\W?mozilla/", re.IGNORECASE)
# A name with a remark in brackets, which may be a URL.
_REMARK = re.compile(rb"[-A-Z_a-z]+(?:/\S*)?\s*\([^()]*\)")


def identifier(value: bytes) -> bytes:
    """Return the part that the grammar allows: leading letters, `_` and `-`."""
    match = _IDENTIFIER.match(value)
    return match[0] if match else b""


def is_name(value: bytes) -> bool:
    """Return whether a value is a single crawler name, which may have digits and dots."""
    return _NAME.fullmatch(value) is not None


def is_header(value: bytes) -> bool:
    """
    Return whether a value is the User-Agent header of a request: a browser's, or one with a URL.

    A value that starts with `*` is not, whatever follows.
    """
    if _BROWSER.match(value):
        return True
    return b"://" in value and value[:1] != b"*" and _REMARK.fullmatch(value) is None


def split_list(value: bytes) -> tuple[bytes, ...]:
    """Return the names of a comma-separated list; empty: it is not a list."""
    if b"," not in value:
        return ()
    members = [part for part in value.split(b",") if part.strip()]
    if len(members) < 2 or not all(map(_LISTED.fullmatch, members)):
        return ()
    return tuple(member.strip() for member in members)


def crawler_name(record: Record) -> str:
    """Return the crawler that a user-agent line names, in lower case: all of it, or its prefix."""
    value = record.value
    return to_text(value if is_name(value) or value == b"*" else identifier(value)).lower()


def matching_token(context: LintContext, record: Record) -> str:
    """Return a product token for which a profile would choose the line's group; empty: none."""
    profile, name = context.robots.profile, crawler_name(record)
    literal = record.value == b"*" or profile.literal_tokens
    # A line may hold a name that is not a valid product token (AMB-22).
    if literal and is_compared_whole(name, profile):
        return name
    return to_text(identifier(record.value)).lower()


# --- Path patterns --------------------------------------------------------------------------------

_URL = re.compile(rb"(?:[a-z][a-z0-9+.-]*:)?//?[^/]*(/.*)?", re.IGNORECASE | re.DOTALL)
_SCHEME = re.compile(rb"https?:\s*/", re.IGNORECASE)
LONGEST_AUTHORITY = 260
# Top-level domains that are not file extensions.
_AUTHORITY = re.compile(
    rb"(?:www\.[a-z0-9-]+(?:\.[a-z0-9-]+)*|(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|info|biz|eu|uk|de"
    rb"|fr|nl|it|es|ca|au|co|jp|br|in|ch|at|be|se|no|dk|fi|cz|us)(?:\.[a-z]{2})?)(?::\d+)?(/.*)?",
    re.IGNORECASE | re.DOTALL,
)
_EXPRESSION = re.compile(
    rb"\\[./dwsDWSb?*+$()\[-]|\[(?:0-9|a-z|A-Z|\^|\\|\.\])|\([^()|]*\|[^()]*\)|\A/?\^|\]\+|\.\+"
    # `.*` alone is a dot and anything, as in `/index.*` and `/a/*.*/b`.
    rb"|\(\?|\(\.\*\)|/\.\*[$/]|\|/"
)


def is_url(value: bytes) -> bool:
    """Return whether a pattern is a URL with its scheme."""
    return _SCHEME.match(value) is not None


def is_authority(value: bytes) -> bool:
    """Return whether a pattern starts with a host name, such as `www.example.com`."""
    return _authority_of(value) is not None


def _authority_of(value: bytes) -> re.Match[bytes] | None:
    # No host name is longer, and matching a longer value may take long.
    if value.find(b"/", 0, LONGEST_AUTHORITY) < 0 and len(value) > LONGEST_AUTHORITY:
        return None
    return _AUTHORITY.fullmatch(value)


def is_expression(value: bytes) -> bool:
    """Return whether a pattern has the syntax of a regular expression."""
    return _EXPRESSION.search(value) is not None


def may_have_expressions(body: bytes) -> bool:
    """Return whether a file has a character that each expression has; most files have none."""
    return any(
        text in body for text in (b"\\", b"[", b"|", b"^", b"]", b".+", b"(?", b"(.*", b"/.*")
    )


def extract_path(value: bytes) -> bytes:
    """Return the path of a URL, or of an authority with a path; empty: it has none."""
    match = _URL.fullmatch(value) if is_url(value) else _authority_of(value)
    return (match[1] or b"") if match else b""


def example_url(context: LintContext, pattern: bytes) -> str | None:
    """Return the URL that a pattern spells out; None if the pattern does not match it."""
    profile = context.robots.profile
    form = normalize_path(pattern, pattern=True, profile=profile).removesuffix("$")
    path = form.replace("*", "x" if form[:1] == "/" else "/x", 1).replace("*", "x")
    url = ORIGIN + path
    matches = path.startswith("/") and RuleSet.from_patterns([pattern], profile).tied_rules(url)
    return url if matches else None


# --- Edits ----------------------------------------------------------------------------------------


def line_end(context: LintContext, number: int) -> bytes:
    """Return the line ending of a line; for a last line without one, that of the line before."""
    _, end = context.whole_line(number)
    ending = context.robots.body[context.line(number).end : end]
    if not ending and number > 1:
        return line_end(context, number - 1)
    return ending or b"\n"


def insert_line_after(context: LintContext, number: int, text: bytes) -> Edit:
    """Return the edit that inserts a line after another."""
    _, end = context.whole_line(number)
    ending = line_end(context, number)
    last = end == context.line(number).end
    return Edit(end, end, ending + text if last else text + ending)


def remove_line(context: LintContext, number: int) -> Fix | None:
    """Return the fix that removes a line; None if the line has a comment."""
    if context.line(number).comment is not None:
        return None
    return Fix("Remove the line", (Edit(*context.whole_line(number), b""),))


class PathSuggestion(NamedTuple):
    """How to correct a rule that has a host before its path."""

    words: str
    """The advice, as the end of a sentence; empty: nothing is certain."""
    fix: Fix | None
    """The fix that keeps only the path; None unless the host is known to be the file's own."""


def suggest_path(context: LintContext, record: Record) -> PathSuggestion:
    """
    Return how to correct a rule with a host; with a fix if the host is known to be the file's own.

    Only the URL of the file tells its host. A Sitemap record may name another host, and the path of
    another host's URL may be a section of this site that should stay allowed.
    """
    path, host = extract_path(record.value), _authority(record.value)
    if path in (b"", b"/", b"/*") or b" " in path:
        return PathSuggestion("", None)
    own = _authority((context.received.url or "").encode("utf-8", "surrogateescape"))
    if not own:
        return PathSuggestion(f". If this file is for {quote(host)}, write {quote(path)}", None)
    if host != own:
        return PathSuggestion(f". It belongs in the robots.txt of {quote(host)}", None)
    edit = Edit(record.start, record.end, path)
    fix = Fix(f"Write {quote(path)}", (edit,), changes_verdicts=True)
    return PathSuggestion(f". Write {quote(path)}", fix)


def _authority(url: bytes) -> bytes:
    _, scheme, rest = url.partition(b"//")
    return (rest if scheme else url).partition(b"/")[0].lower()
