"""
Shapes: what a value looks like that is not what its record asks for.

A user-agent line may hold a name with digits, a whole User-Agent header or a list; a path pattern a
URL, an authority or a regular expression. Each is one check's and no other's, so they are told
apart here. It looks at octets, and does not know what is said about them.

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
    """Return what a parser that keeps to the grammar reads: leading letters, `_` and `-`."""
    found = _IDENTIFIER.match(value)
    return found[0] if found else b""


def is_name(value: bytes) -> bool:
    """Tell whether a value is one name, as crawlers have them: with digits and dots too."""
    return _NAME.fullmatch(value) is not None


def is_header(value: bytes) -> bool:
    """
    Tell whether a value is the User-Agent header of a request, as a browser's or with a URL.

    A line for everyone is none, whatever stands behind its `*`.
    """
    if _BROWSER.match(value):
        return True
    return b"://" in value and value[:1] != b"*" and _REMARK.fullmatch(value) is None


def list_members(value: bytes) -> tuple[bytes, ...]:
    """Return the names of a list with commas; empty: it is none."""
    if b"," not in value:
        return ()
    members = [part for part in value.split(b",") if part.strip()]
    if len(members) < 2 or not all(map(_LISTED.fullmatch, members)):
        return ()
    return tuple(member.strip() for member in members)


def name_of(record: Record) -> str:
    """Return whom a user-agent line names, in lower case: a whole name, or its leading letters."""
    value = record.value
    return to_text(value if is_name(value) or value == b"*" else identifier(value)).lower()


def token_of(context: LintContext, record: Record) -> str:
    """Return a product token for which a profile would choose the line's group; empty: none."""
    profile, name = context.robots.profile, name_of(record)
    literal = record.value == b"*" or profile.literal_tokens
    # A line of a file may name what nobody can ask by (AMB-22).
    if literal and is_compared_whole(name, profile):
        return name
    return to_text(identifier(record.value)).lower()


# --- Path patterns --------------------------------------------------------------------------------

_URL = re.compile(rb"(?:[a-z][a-z0-9+.-]*:)?//?[^/]*(/.*)?", re.IGNORECASE | re.DOTALL)
_SCHEME = re.compile(rb"https?:\s*/", re.IGNORECASE)
LONGEST_AUTHORITY = 260
# Endings of names that are no endings of files.
_AUTHORITY = re.compile(
    rb"(?:www\.[a-z0-9-]+(?:\.[a-z0-9-]+)*|(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|info|biz|eu|uk|de"
    rb"|fr|nl|it|es|ca|au|co|jp|br|in|ch|at|be|se|no|dk|fi|cz|us)(?:\.[a-z]{2})?)(?::\d+)?(/.*)?",
    re.IGNORECASE | re.DOTALL,
)
_EXPRESSION = re.compile(
    rb"\\[./dwsDWSb?*+$()\[-]|\[(?:0-9|a-z|A-Z|\^|\\)|\([^()|]*\|[^()]*\)|\A\^|\]\+|\.\+"
)


def is_url(value: bytes) -> bool:
    """Tell whether a pattern is a URL with its scheme."""
    return _SCHEME.match(value) is not None


def is_authority(value: bytes) -> bool:
    """Tell whether a pattern starts with the name of a server, such as `www.example.com`."""
    return _authority_of(value) is not None


def _authority_of(value: bytes) -> re.Match[bytes] | None:
    # No name is longer, and what is may take long to tell.
    if value.find(b"/", 0, LONGEST_AUTHORITY) < 0 and len(value) > LONGEST_AUTHORITY:
        return None
    return _AUTHORITY.fullmatch(value)


def is_expression(value: bytes) -> bool:
    """Tell whether a pattern has what regular expressions have and paths do not."""
    return _EXPRESSION.search(value) is not None


def may_have_expressions(body: bytes) -> bool:
    """Tell whether a file has a sign that each expression has; most have none."""
    return any(sign in body for sign in (b"\\", b"[", b"|", b"^", b"]", b".+"))


def path_of(value: bytes) -> bytes:
    """Return the path of a URL, or of an authority with a path; empty: it has none."""
    found = _URL.fullmatch(value) if is_url(value) else _authority_of(value)
    return (found[1] or b"") if found else b""


def example(context: LintContext, pattern: bytes) -> str | None:
    """Return a URL that a pattern matches, as it spells it out; None: that one it does not."""
    profile = context.robots.profile
    form = normalize_path(pattern, pattern=True, profile=profile).removesuffix("$")
    path = form.replace("*", "x" if form[:1] == "/" else "/x", 1).replace("*", "x")
    url = ORIGIN + path
    matches = path.startswith("/") and RuleSet.from_patterns([pattern], profile).tied_rules(url)
    return url if matches else None


# --- Edits ----------------------------------------------------------------------------------------


def line_end(context: LintContext, number: int) -> bytes:
    """Return how a line ends; the last one, if it has no end, as the one before it."""
    _, end = context.whole_line(number)
    ending = context.robots.body[context.line(number).end : end]
    if not ending and number > 1:
        return line_end(context, number - 1)
    return ending or b"\n"


def line_after(context: LintContext, number: int, text: bytes) -> Edit:
    """Return the edit that puts a line after another."""
    _, end = context.whole_line(number)
    ending = line_end(context, number)
    last = end == context.line(number).end
    return Edit(end, end, ending + text if last else text + ending)


def taken_out(context: LintContext, number: int) -> Fix | None:
    """Return the fix that takes a line out; None where its comment would go with it."""
    if context.line(number).comment is not None:
        return None
    return Fix("Take the line out", (Edit(*context.whole_line(number), b""),))


class PathAlone(NamedTuple):
    """What to do about a rule that has a host before its path."""

    words: str
    """The end of a sentence that says it; empty: nothing is certain."""
    fix: Fix | None
    """The fix that leaves the path; None where the host is not known to be the file's own."""


def path_alone(context: LintContext, record: Record) -> PathAlone:
    """
    Return what to do about a rule with a host: a fix where the host is known to be the file's own.

    Only where the file was received from, or will be, tells its host. A Sitemap record may be on
    another one, and the path of another host's URL may be a section that is meant to be found.
    """
    path, host = path_of(record.value), _authority(record.value)
    if path in (b"", b"/", b"/*") or b" " in path:
        return PathAlone("", None)
    own = _authority((context.received.url or "").encode("utf-8", "surrogateescape"))
    if not own:
        return PathAlone(f"; if this file is for {quote(host)}, write {quote(path)}", None)
    if host != own:
        return PathAlone(f"; it belongs in the robots.txt of {quote(host)}", None)
    edit = Edit(record.start, record.end, path)
    return PathAlone("", Fix(f"Write {quote(path)}", (edit,), changes_verdicts=True))


def _authority(url: bytes) -> bytes:
    _, scheme, rest = url.partition(b"//")
    return (rest if scheme else url).partition(b"/")[0].lower()
