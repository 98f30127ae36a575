"""
Robots meta elements: the metas of a page, and what they say (draft-illyes-repext §3.1.2, §4).

`name` is `robots` or a product token, `content` has words with commas between. Only the head
counts, in the initial HTML and in the final DOM alike (AMB-87, AMB-94). Where an element is, `html`
has found out; who asks is given, because any name may be somebody's product token.

It does not read HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from robotrules.tags.codes import Carrier, PageState, TagNote, TagSource, note
from robotrules.tags.header import CUT, LONGEST_KEPT, MOST_KEPT, Said, expanded, lifts
from robotrules.tags.html import ElementPosition, Meta, Page
from robotrules.tags.known import EVERYONE, ROBOTS, Value, read_text
from robotrules.tags.profile import TagProfile
from robotrules.tags.words import SPACE, is_rule, words

# Elements that look like robots meta elements to people and are none (AMB-91).
_FIELD_NAMES = ("robots-tag", "x-robots-tag")
MOST_NOTES = 100
# A page may have many elements with long contents; so many of the longest are read, all together.
MOST_CONTENTS = 8
# Elements for others that are looked at.
MOST_OTHERS = 500


class MetaRule(NamedTuple):
    """A rule in the content of an element."""

    name: str
    value: Value | None
    text: str
    start: int
    end: int
    recovered: bool = False
    """As in `Said`."""


class PageSays(NamedTuple):
    """What the meta elements of a page say, to whomever, and what is odd about them."""

    said: tuple[tuple[Said, TagSource], ...] = ()
    notes: tuple[TagNote, ...] = ()


def page_rules(
    page: Page,
    state: PageState,
    tokens: Sequence[str],
    profile: TagProfile,
    *,
    over_tls: bool | None = None,
    more: frozenset[str] = frozenset(),
) -> PageSays:
    """Return what a page's meta elements say; *tokens*, in lower case, are who asks."""
    said: list[tuple[Said, TagSource]] = []
    notes: list[TagNote] = []
    room = MOST_CONTENTS * profile.max_field_bytes
    others = 0
    for meta in page.metas:
        source = TagSource(Carrier.META, None, meta.element, state, over_tls)
        token = _token(meta, tokens, profile)
        if token is None:
            if _looks_like_one(meta) and len(notes) < MOST_NOTES:
                notes.append(note("not-a-carrier", source))
            others += 1
            if others <= MOST_OTHERS:
                said += _to_others(meta, source, tokens, profile, more)
            continue
        if meta.place is ElementPosition.BODY and not profile.body_metas:
            if len(notes) < MOST_NOTES:
                notes.append(note("meta-outside-head", source))
            continue
        if meta.place is ElementPosition.NOSCRIPT and len(notes) < MOST_NOTES:
            notes.append(note("only-without-scripting", source))
        content = meta.content or ""
        room -= min(len(content), profile.max_field_bytes)
        if room < 0:
            notes.append(note(CUT, source))
            break
        rules, odd = content_rules(content, profile)
        said += [(Said(token, *rule[:3], 0, *rule[3:]), source) for rule in rules]
        left = max(0, MOST_NOTES - len(notes))
        notes += [note(code, source, start, end) for code, start, end in odd[:left]]
    if not page.is_final:
        notes.append(note("head-not-final" if page.is_cut else "page-too-complex"))
    return PageSays(tuple(said), tuple(notes))


def _token(meta: Meta, tokens: Sequence[str], profile: TagProfile) -> str | None:
    """Return whom an element is for, if it is for one who asks (AMB-90)."""
    if meta.name is None:
        return None
    name = _lower(meta.name.strip(SPACE))
    if name == EVERYONE:
        return None  # an element calls everyone `robots` (§3.1.2)
    if name == ROBOTS or (name == "robot" and profile.robot_name):
        return EVERYONE
    if profile.names is not None and name not in profile.names:
        return None
    return name if name in tokens else None


def _lower(text: str) -> str:
    """Return text with ASCII letters in lower case: `K` as a Kelvin sign is no k."""
    return text.lower() if text.isascii() else text


def _looks_like_one(meta: Meta) -> bool:
    equivalent = (meta.http_equiv or "").strip(SPACE).lower()
    named = [(one or "").strip(SPACE).lower() for one in (meta.property, meta.itemprop)]
    return equivalent in _FIELD_NAMES or ROBOTS in named


def _to_others(
    meta: Meta,
    source: TagSource,
    tokens: Sequence[str],
    profile: TagProfile,
    more: frozenset[str],
) -> Iterator[tuple[Said, TagSource]]:
    """Yield one rule of an element that speaks to another crawler, to tell that it does."""
    if meta.place is ElementPosition.BODY or not meta.name or not meta.content:
        return
    if len(meta.name) > LONGEST_KEPT:
        return
    name = _lower(meta.name.strip(SPACE))
    if name == EVERYONE or name in tokens:
        return  # a name that means nothing here, or one that this profile does not read
    # One rule tells enough, and a description has many words: nothing of it is kept.
    content = meta.content[:LONGEST_KEPT]
    for word in words(content, scopes=False, space_separates=profile.space_separates):
        value = read_text(word.name, word.value).value
        if is_rule(word.name, more) and value is not None:
            yield Said(name, word.name, value, word.text, 0, word.start, word.end), source
            return


Odd = tuple[str, int, int]


def content_rules(
    content: str, profile: TagProfile
) -> tuple[tuple[MetaRule, ...], tuple[Odd, ...]]:
    """Return the rules in a `content` attribute, and codes of notes with their spans (AMB-93)."""
    short = len(content) <= LONGEST_KEPT
    return (_kept_content if short else _content)(content, profile)


def _content(content: str, profile: TagProfile) -> tuple[tuple[MetaRule, ...], tuple[Odd, ...]]:
    odd: list[Odd] = []
    limit, given = profile.max_field_bytes, content
    if len(content) > limit:
        # §4 wants a limit with the floor of §3.1.1; a cut word is not used, as in a field.
        odd.append((CUT, limit, len(content)))
        content = content[: max(content.rfind(",", 0, limit), 0)]
    rules = []
    for word in words(content, scopes=False, space_separates=profile.space_separates):
        read = read_text(word.name, word.value)
        if word.by_space:
            odd.append(("space-separated", word.start, word.end))
        if read.note and is_rule(word.name):
            odd.append((read.note, word.start, word.end))
        for name in expanded(word.name, profile):
            rules.append(MetaRule(name, read.value, word.text, word.start, word.end))
    return tuple(_restrained(rules, given, profile, bool(odd))), tuple(odd)


def _restrained(
    rules: Sequence[MetaRule], content: str, profile: TagProfile, is_odd: bool
) -> Iterator[MetaRule]:
    """Yield rules with a mark at those that may not permit anything, as in a field (AMB-67)."""
    sure: set[tuple[str, Value | None]] | None = None
    for rule in rules:
        if is_odd and lifts(rule.name, rule.value):
            if sure is None:
                sure = set(_by_the_grammar(content, profile))
            rule = rule._replace(recovered=rule[:2] not in sure)
        yield rule


def _by_the_grammar(content: str, profile: TagProfile) -> Iterator[tuple[str, Value | None]]:
    """Yield what words say that only commas part; nothing, if there is more than was read."""
    if len(content) > profile.max_field_bytes and profile.space_separates:
        return
    for word in words(content, scopes=False, space_separates=False):
        value = read_text(word.name, word.value).value
        yield from ((name, value) for name in expanded(word.name, profile))


_kept_content = lru_cache(MOST_KEPT)(_content)
