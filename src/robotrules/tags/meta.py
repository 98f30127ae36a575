"""
Robots meta elements: from the metas of a page to statements (draft-illyes-repext §3.1.2, §4).

`name` is `robots` or a product token, `content` is a comma-separated list of rules. Only elements
in the head count, in the initial HTML and in the final DOM (AMB-87, AMB-94). `html` finds the
position of an element. The caller passes the crawler's product tokens, because any name may be a
product token.

It does not parse HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from robotrules.tags.codes import Carrier, PageState, TagNote, TagSource, note
from robotrules.tags.header import (
    CACHE_SIZE,
    CUT,
    MAX_CACHED_LENGTH,
    TagStatement,
    expand_rule,
    may_lift,
)
from robotrules.tags.html import ElementPosition, Meta, Page
from robotrules.tags.known_rules import EVERYONE, ROBOTS, Value, read_text
from robotrules.tags.legacy_grammar import SPACE, is_rule, parse_legacy_rules
from robotrules.tags.profile import TagProfile

# Values of http-equiv that look like robots meta elements and are not (AMB-91).
_FIELD_NAMES = ("robots-tag", "x-robots-tag")
MAX_NOTES = 100
# The total length of contents that is read, in contents of the maximum length.
MAX_CONTENTS = 8
# Elements for other crawlers that are read.
MAX_OTHERS = 500


class MetaRule(NamedTuple):
    """A rule in the content of an element."""

    name: str
    value: Value | None
    text: str
    start: int
    end: int
    recovered: bool = False
    """As in `TagStatement`."""


class PageRules(NamedTuple):
    """The statements of a page's meta elements, for all crawlers, and notes on them."""

    statements: tuple[tuple[TagStatement, TagSource], ...] = ()
    notes: tuple[TagNote, ...] = ()


def read_page_rules(
    page: Page,
    state: PageState,
    tokens: Sequence[str],
    profile: TagProfile,
    *,
    over_tls: bool | None = None,
    more: frozenset[str] = frozenset(),
) -> PageRules:
    """Return the rules of a page's meta elements; *tokens* are the crawler's, in lower case."""
    statements: list[tuple[TagStatement, TagSource]] = []
    notes: list[TagNote] = []
    room = MAX_CONTENTS * profile.max_field_bytes
    others = 0
    for meta in page.metas:
        source = TagSource(Carrier.META, None, meta.element, state, over_tls)
        token = _token(meta, tokens, profile)
        if token is None:
            if _looks_like_robots_meta(meta) and len(notes) < MAX_NOTES:
                notes.append(note("not-a-carrier", source))
            others += 1
            if others <= MAX_OTHERS:
                statements += _find_rule_for_others(meta, source, tokens, profile, more)
            continue
        if meta.place is ElementPosition.BODY and not profile.body_metas:
            if len(notes) < MAX_NOTES:
                notes.append(note("meta-outside-head", source))
            continue
        if meta.place is ElementPosition.NOSCRIPT and len(notes) < MAX_NOTES:
            notes.append(note("only-without-scripting", source))
        content = meta.content or ""
        room -= min(len(content), profile.max_field_bytes)
        if room < 0:
            notes.append(note(CUT, source))
            break
        rules, content_notes = parse_content(content, profile)
        statements += [(TagStatement(token, *rule[:3], 0, *rule[3:]), source) for rule in rules]
        left = max(0, MAX_NOTES - len(notes))
        notes += [note(code, source, start, end) for code, start, end in content_notes[:left]]
    if not page.is_final:
        notes.append(note("head-not-final" if page.is_cut else "page-too-complex"))
    return PageRules(tuple(statements), tuple(notes))


def _token(meta: Meta, tokens: Sequence[str], profile: TagProfile) -> str | None:
    """Return the token that an element is for, or None if it is not for this crawler (AMB-90)."""
    if meta.name is None:
        return None
    name = _lower(meta.name.strip(SPACE))
    if name == EVERYONE:
        return None  # in an element, `robots` stands for all crawlers (§3.1.2)
    if name == ROBOTS or (name == "robot" and profile.robot_name):
        return EVERYONE
    if profile.names is not None and name not in profile.names:
        return None
    return name if name in tokens else None


def _lower(text: str) -> str:
    """Return ASCII text in lower case: the Kelvin sign must not become `k`."""
    return text.lower() if text.isascii() else text


def _looks_like_robots_meta(meta: Meta) -> bool:
    equivalent = (meta.http_equiv or "").strip(SPACE).lower()
    named = [(value or "").strip(SPACE).lower() for value in (meta.property, meta.itemprop)]
    return equivalent in _FIELD_NAMES or ROBOTS in named


def _find_rule_for_others(
    meta: Meta,
    source: TagSource,
    tokens: Sequence[str],
    profile: TagProfile,
    more: frozenset[str],
) -> Iterator[tuple[TagStatement, TagSource]]:
    """Yield one rule of an element for another crawler, so that `others` can list that crawler."""
    if meta.place is ElementPosition.BODY or not meta.name or not meta.content:
        return
    if len(meta.name) > MAX_CACHED_LENGTH:
        return
    name = _lower(meta.name.strip(SPACE))
    if name == EVERYONE or name in tokens:
        return  # `*` has no meaning in an element; other names are not read by this profile
    # One rule is enough. A description has many words, so nothing of it is cached.
    content = meta.content[:MAX_CACHED_LENGTH]
    for rule in parse_legacy_rules(content, scopes=False, space_separates=profile.space_separates):
        value = read_text(rule.name, rule.value).value
        if is_rule(rule.name, more) and value is not None:
            yield TagStatement(name, rule.name, value, rule.text, 0, rule.start, rule.end), source
            return


# The code of a note, and its span in the content.
ContentNote = tuple[str, int, int]


def parse_content(
    content: str, profile: TagProfile
) -> tuple[tuple[MetaRule, ...], tuple[ContentNote, ...]]:
    """Return the rules in a `content` attribute, and codes of notes with their spans (AMB-93)."""
    short = len(content) <= MAX_CACHED_LENGTH
    return (_parse_content_cached if short else _parse_content)(content, profile)


def _parse_content(
    content: str, profile: TagProfile
) -> tuple[tuple[MetaRule, ...], tuple[ContentNote, ...]]:
    notes: list[ContentNote] = []
    limit, given = profile.max_field_bytes, content
    if len(content) > limit:
        # §4 requires the limit of §3.1.1; a cut rule is not used, as in a field.
        notes.append((CUT, limit, len(content)))
        content = content[: max(content.rfind(",", 0, limit), 0)]
    rules = []
    for rule in parse_legacy_rules(content, scopes=False, space_separates=profile.space_separates):
        parsed = read_text(rule.name, rule.value)
        if rule.by_space:
            notes.append(("space-separated", rule.start, rule.end))
        if parsed.note and is_rule(rule.name):
            notes.append((parsed.note, rule.start, rule.end))
        for name in expand_rule(rule.name, profile):
            rules.append(MetaRule(name, parsed.value, rule.text, rule.start, rule.end))
    return tuple(_mark_recovered(rules, given, profile, bool(notes))), tuple(notes)


def _mark_recovered(
    rules: Sequence[MetaRule], content: str, profile: TagProfile, has_notes: bool
) -> Iterator[MetaRule]:
    """Yield rules with those marked that must not permit anything, as in a field (AMB-67)."""
    sure: set[tuple[str, Value | None]] | None = None
    for rule in rules:
        if has_notes and may_lift(rule.name, rule.value):
            if sure is None:
                sure = set(_parse_by_grammar(content, profile))
            rule = rule._replace(recovered=rule[:2] not in sure)
        yield rule


def _parse_by_grammar(content: str, profile: TagProfile) -> Iterator[tuple[str, Value | None]]:
    """Yield the rules separated by commas only; nothing if the content is over the limit."""
    if len(content) > profile.max_field_bytes and profile.space_separates:
        return
    for rule in parse_legacy_rules(content, scopes=False, space_separates=False):
        value = read_text(rule.name, rule.value).value
        yield from ((name, value) for name in expand_rule(rule.name, profile))


_parse_content_cached = lru_cache(CACHE_SIZE)(_parse_content)
