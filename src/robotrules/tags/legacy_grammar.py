"""
The legacy grammar of X-Robots-Tag and robots meta elements: a comma-separated list of rules.

No specification defines it; vendors document it informally (XRT-01 to XRT-13). A rule is a name,
optionally with a value after a colon. In a field line, a product token and a colon before rules
limit them to one crawler. A date may contain commas. Every text parses; unknown rules are returned
too.

It does not interpret rules; it only knows which names are rules and which take values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from robotrules.http.dates import parse_date
from robotrules.tags.known_rules import KNOWN, NONE

# The whitespace of HTML and of HTTP.
SPACE = " \t\n\r\f"
_DATED = re.compile(r"(?:^|(?<=[ \t\n\r\f]))unavailable_after[ \t\n\r\f]*:", re.IGNORECASE)
# AMB-83: a weekday and its comma belong to the date.
_WEEKDAY = re.compile(
    r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\.?", re.IGNORECASE
)
_RULE = re.compile(r"([^ \t\n\r\f:]+)(?:[ \t\n\r\f]*:[ \t\n\r\f]*([^ \t\n\r\f]*))?")
_PART = re.compile(r"[^ \t\n\r\f]+")
# The maximum number of words in a date.
MAX_PARTS = 8
_SCOPE = re.compile(r"\*|[-\w.+]+", re.ASCII)


class LegacyRule(NamedTuple):
    """One rule of the legacy grammar, and its position."""

    name: str
    """In lower case."""
    value: str | None
    """The text after its colon; None: it has no colon."""
    scope: str | None
    """The product token that it is for, in lower case; None: not stated."""
    inherited: bool
    """Whether the scope is before an earlier comma: it may belong to another line (AMB-82)."""
    by_space: bool
    """Whether only whitespace separates it from the rule before (AMB-93)."""
    text: str
    """The rule as written."""
    start: int
    end: int


def parse_legacy_rules(text: str, *, scopes: bool, space_separates: bool) -> Iterator[LegacyRule]:
    """
    Yield the rules of *text*, in order, in linear time.

    With *scopes*, a product token and a colon may precede a rule, and apply until the next scope
    (XRT-04). With *space_separates*, whitespace separates rules as commas do.
    """
    scope: str | None = None
    at, length = 0, len(text)
    while at < length:
        end = _find_comma(text, at)
        start = at
        inherited = scope is not None
        while scopes and (after := _scope_end(text, start, end)):
            scope, inherited = text[start : after - 1].strip(SPACE).lower(), False
            start = after
        dated = _DATED.search(text, start, end)
        if dated and (dated.start() == _skip_space(text, start, end) or space_separates):
            if _WEEKDAY.fullmatch(text[dated.end() : end].strip(SPACE)):
                after = _skip_space(text, min(end + 1, length), length)
                # `Wed, 03 Dec`: the date continues. In `Wed, noindex` it does not.
                end = _find_comma(text, after) if text[after : after + 1].isdigit() else end
            yield from _parse_between_commas(
                text, start, dated.start(), scope, inherited, space_separates
            )
            by_space = dated.start() > _skip_space(text, start, end)
            over = _find_date_end(text, dated.end(), end) if space_separates else end
            start, value = dated.start(), text[dated.end() : over].strip(SPACE)
            written = text[start:over].strip(SPACE)
            yield LegacyRule(
                "unavailable_after", value, scope, inherited, by_space, written, start, over
            )
            for rule in _parse_between_commas(text, over, end, scope, inherited, space_separates):
                yield rule._replace(by_space=True)
        else:
            yield from _parse_between_commas(text, start, end, scope, inherited, space_separates)
        at = end + 1


def _find_comma(text: str, at: int) -> int:
    comma = text.find(",", at)
    return len(text) if comma < 0 else comma


def _skip_space(text: str, start: int, end: int) -> int:
    while start < end and text[start] in SPACE:
        start += 1
    return start


def _find_date_end(text: str, start: int, end: int) -> int:
    """Return where a date ends that rules may follow; *end* if no rule follows or it is no date."""
    parts = list(islice(_PART.finditer(text, start, end), MAX_PARTS + 1))
    names = [part[0].partition(":")[0].lower() for part in parts]
    # An unknown name may be a time zone; the name of a rule is not.
    rules = [at for at, name in enumerate(names) if name in KNOWN or name == NONE]
    if not rules and len(parts) <= MAX_PARTS and parse_date(text[start:end].strip(SPACE)):
        return end
    for part in reversed(parts[: rules[0] if rules else MAX_PARTS]):
        if parse_date(text[start : part.end()].strip(SPACE)):
            return part.end()
    if not rules or parse_date(text[start:end].strip(SPACE)):
        return end
    return parts[rules[0]].start()


def _scope_end(text: str, start: int, end: int) -> int:
    """
    Return where the text after a scope starts; 0 if there is no scope.

    The name of a rule is not a scope, so `max-snippet: 20` is a rule (XRT-05). A name that is
    followed by a number, or starts with `max-`, is an unknown rule, not a crawler.
    """
    colon = text.find(":", start, end)
    if colon < 0:
        return 0
    name = text[start:colon].strip(SPACE).lower()
    if name in KNOWN or name == NONE or name.startswith("max-") or not _SCOPE.fullmatch(name):
        return 0
    after = _skip_space(text, colon + 1, end)
    return colon + 1 if after == end or text[after].isalpha() else 0


def _parse_between_commas(
    text: str, start: int, end: int, scope: str | None, inherited: bool, space_separates: bool
) -> Iterator[LegacyRule]:
    """Yield the rules between two commas: one, or several if whitespace separates them."""
    start = _skip_space(text, start, end)
    while end > start and text[end - 1] in SPACE:
        end -= 1
    if start == end:
        return
    if not space_separates or not any(sign in SPACE for sign in text[start:end]):
        written = text[start:end]
        name, colon, value = written.partition(":")
        given = value.strip(SPACE) if colon else None
        name = name.strip(SPACE).lower()
        if name:
            yield LegacyRule(name, given, scope, inherited, False, written, start, end)
        return
    for number, match in enumerate(_RULE.finditer(text, start, end)):
        name, given = match[1].lower(), match[2]
        by_space = number > 0
        yield LegacyRule(name, given, scope, inherited, by_space, match[0], *match.span())


def is_rule(name: str, more: frozenset[str] = frozenset()) -> bool:
    """Return whether a name is a known rule; *more* are names that a registry adds."""
    return name in KNOWN or name == NONE or name in more
