"""
The legacy grammar: words with commas between, as X-Robots-Tag and robots meta elements have them.

Nobody has written it down but vendors, for people (XRT-01 to XRT-13). A word is a name, maybe with
a value after a colon. A field line may say whom its words are for, by a product token and a colon.
A date has commas of its own. Every text has words; one that nobody knows is a word too.

It does not know what a word means, only which names take values and which are rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from robotrules.http.dates import parse_date
from robotrules.tags.known import KNOWN, NONE

# HTML's and HTTP's whitespace together; neither is more than these.
SPACE = " \t\n\r\f"
_DATED = re.compile(r"(?:^|(?<=[ \t\n\r\f]))unavailable_after[ \t\n\r\f]*:", re.IGNORECASE)
# AMB-83: a weekday and its comma belong to the date.
_WEEKDAY = re.compile(
    r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\.?", re.IGNORECASE
)
_ONE = re.compile(r"([^ \t\n\r\f:]+)(?:[ \t\n\r\f]*:[ \t\n\r\f]*([^ \t\n\r\f]*))?")
_PART = re.compile(r"[^ \t\n\r\f]+")
# The longest date has no more words than this.
MOST_PARTS = 8
_SCOPE = re.compile(r"\*|[-\w.+]+", re.ASCII)


class Word(NamedTuple):
    """One word of the legacy grammar, and where it stands."""

    name: str
    """In lower case."""
    value: str | None
    """What stands after its colon; None: it has none."""
    scope: str | None
    """The product token it is for, in lower case; None: the text does not say."""
    inherited: bool
    """Whether the scope stands before an earlier comma: it may be of another line (AMB-82)."""
    by_space: bool
    """Whether only whitespace parts it from the word before (AMB-93)."""
    text: str
    """The word as written."""
    start: int
    end: int


def words(text: str, *, scopes: bool, space_separates: bool) -> Iterator[Word]:
    """
    Yield the words of *text*, in order; the cost grows with its length.

    *scopes*: a product token and a colon may stand before a word, and hold until the next such
    (XRT-04). *space_separates*: whitespace parts words as commas do.
    """
    scope: str | None = None
    at, length = 0, len(text)
    while at < length:
        end = _comma(text, at)
        start = at
        inherited = scope is not None
        while scopes and (after := _scope(text, start, end)):
            scope, inherited = text[start : after - 1].strip(SPACE).lower(), False
            start = after
        dated = _DATED.search(text, start, end)
        if dated and (dated.start() == _skip(text, start, end) or space_separates):
            if _WEEKDAY.fullmatch(text[dated.end() : end].strip(SPACE)):
                after = _skip(text, min(end + 1, length), length)
                # `Wed, 03 Dec`: the day follows. In `Wed, noindex` there is no date to go on with.
                end = _comma(text, after) if text[after : after + 1].isdigit() else end
            yield from _words(text, start, dated.start(), scope, inherited, space_separates)
            by_space = dated.start() > _skip(text, start, end)
            over = _date_end(text, dated.end(), end) if space_separates else end
            start, value = dated.start(), text[dated.end() : over].strip(SPACE)
            written = text[start:over].strip(SPACE)
            yield Word("unavailable_after", value, scope, inherited, by_space, written, start, over)
            for word in _words(text, over, end, scope, inherited, space_separates):
                yield word._replace(by_space=True)
        else:
            yield from _words(text, start, end, scope, inherited, space_separates)
        at = end + 1


def _comma(text: str, at: int) -> int:
    found = text.find(",", at)
    return len(text) if found < 0 else found


def _skip(text: str, start: int, end: int) -> int:
    while start < end and text[start] in SPACE:
        start += 1
    return start


def _date_end(text: str, start: int, end: int) -> int:
    """Return where a date ends that may have words behind it; *end*: there is none, or all is."""
    parts = list(islice(_PART.finditer(text, start, end), MOST_PARTS + 1))
    names = [part[0].partition(":")[0].lower() for part in parts]
    # A name that nobody knows may be a zone; the name of a rule is none.
    rules = [at for at, name in enumerate(names) if name in KNOWN or name == NONE]
    if not rules and len(parts) <= MOST_PARTS and parse_date(text[start:end].strip(SPACE)):
        return end
    for part in reversed(parts[: rules[0] if rules else MOST_PARTS]):
        if parse_date(text[start : part.end()].strip(SPACE)):
            return part.end()
    if not rules or parse_date(text[start:end].strip(SPACE)):
        return end
    return parts[rules[0]].start()


def _scope(text: str, start: int, end: int) -> int:
    """
    Return where the text after a scope starts; 0: there is no scope here.

    The name of a rule is no scope, so `max-snippet: 20` is a rule (XRT-05); and what is followed
    by a number, or is called `max-`, is a rule that nobody knows yet, not a crawler.
    """
    colon = text.find(":", start, end)
    if colon < 0:
        return 0
    name = text[start:colon].strip(SPACE).lower()
    if name in KNOWN or name == NONE or name.startswith("max-") or not _SCOPE.fullmatch(name):
        return 0
    after = _skip(text, colon + 1, end)
    return colon + 1 if after == end or text[after].isalpha() else 0


def _words(
    text: str, start: int, end: int, scope: str | None, inherited: bool, space_separates: bool
) -> Iterator[Word]:
    """Yield the words between two commas: one, or several where whitespace parts them."""
    start = _skip(text, start, end)
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
            yield Word(name, given, scope, inherited, False, written, start, end)
        return
    for number, found in enumerate(_ONE.finditer(text, start, end)):
        name, given = found[1].lower(), found[2]
        yield Word(name, given, scope, inherited, number > 0, found[0], found.start(), found.end())


def is_rule(name: str, more: frozenset[str] = frozenset()) -> bool:
    """Tell whether a word is a known rule; *more* are names that a registry adds."""
    return name in KNOWN or name == NONE or name in more
