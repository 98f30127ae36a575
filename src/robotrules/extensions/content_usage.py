"""
Content-Usage (draft-ietf-aipref-attach-05): preferences in a robots.txt, and all of them together.

A rule is `[path] statement` in a group (§3). The group is chosen as for allow and disallow, the
longest matching path decides, statements of equal paths combine, and a URL that may not be crawled
has no preference (§3.1). The record never touches a verdict: for the groups of Allow and Disallow
it is an other record, as for every parser of RFC 9309. It is read over the groups of its own
document, where a user-agent line after it opens a new group (AMB-29). What a statement says is in
`vocabulary`.

It does not know HTTP: field lines are handed to it. It does not know what an application should do
where a preference is unknown; the drafts leave that to the application.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from robotrules.extensions import vet
from robotrules.extensions.codes import note
from robotrules.extensions.scoped import (
    Scoped,
    ScopedSet,
    document_groups,
    is_usable,
    records_for,
    split,
)
from robotrules.extensions.vocabulary import (
    CATEGORIES,
    LABELS,
    NOTHING,
    Preference,
    Preferences,
    Statement,
    StatementSource,
    agreed,
    combine_preferences,
    content_usage_field,
    read_values,
)
from robotrules.http.structured_fields import Parsed, is_token, parse_dictionary
from robotrules.octets import to_text
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.values import Note, Record

__all__ = [
    "CATEGORIES",
    "EXTENSION",
    "Preference",
    "PreferenceSet",
    "Preferences",
    "Statement",
    "StatementSource",
    "combine_preferences",
    "content_usage_field",
    "notes",
    "preferences",
    "preferences_for",
]

EXTENSION = Extension("Content-Usage", (), Role.OTHER, "group", "draft-ietf-aipref-attach-05 §3")
KEYS = ("content-usage",)

FieldLines = str | bytes | Sequence[str | bytes]


class PreferenceSet:
    """The Content-Usage rules that one crawler reads. Compiled once, immutable, shared."""

    __slots__ = ("_asked", "_count", "_not_applicable", "_notes", "_rules", "_scoped")

    def __init__(self, robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str]) -> None:
        """Use `preferences_for()`."""
        self._asked = robots, product_token, tuple(purposes)
        found = [_Found.of(record) for record in records_for(robots, KEYS, product_token, purposes)]
        entries = [(one.scoped.path, one.statement()) for one in found if one.is_rule]
        self._notes = notes = tuple(_notes(found, robots))
        self._scoped = ScopedSet(entries, robots, lambda stated: _together(stated, notes))
        self._count = len(entries)
        self._rules = robots.rules_for(product_token, purposes)
        self._not_applicable = Preferences(False, NOTHING, (), notes)

    def __reduce__(self) -> tuple[Any, ...]:
        return preferences_for, self._asked

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is odd about the Content-Usage records of these groups."""
        return self._notes

    def for_url(self, url: URL) -> Preferences:
        """Return the preferences that the robots.txt states for *url*."""
        if not self._rules.allows(url):
            return self._not_applicable
        return self._scoped.at(url)

    def for_urls(self, urls: Iterable[URL]) -> list[Preferences]:
        """
        Return the same for many URLs.

        Two crossings into the engine, for the preferences and for the verdicts; URLs with the same
        statements share one answer.
        """
        urls = urls if isinstance(urls, (list, tuple, str, bytes)) else list(urls)
        stated = self._scoped.at_many(urls)
        allowed = self._rules.allows_many(urls)
        if all(allowed):
            return stated
        nothing = self._not_applicable
        return [one if may else nothing for one, may in zip(stated, allowed, strict=True)]

    def __len__(self) -> int:
        return self._count

    def __bool__(self) -> bool:
        return True  # a set without rules still has answers

    def __repr__(self) -> str:
        return f"<PreferenceSet: {len(self)} rules>"


def _together(statements: tuple[Statement, ...], notes: tuple[Note, ...]) -> Preferences:
    return Preferences(True, tuple(combine_preferences(statements).items()), statements, notes)


def preferences_for(
    robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str] = ()
) -> PreferenceSet:
    """Return the Content-Usage rules that a crawler reads, ready to be asked."""
    vet(robots)
    return PreferenceSet(robots, product_token, purposes)


def preferences(
    url: URL,
    product_token: Tokens,
    *,
    robots: RobotsTxt | None = None,
    purposes: Sequence[str] = (),
    field: FieldLines | None = None,
    agreement: Mapping[str, Preference | str] | None = None,
) -> Preferences:
    """
    Return the preferences for the content fetched from *url*, from all that states some.

    *robots* is the file that was current at the fetch (attach-05 §3.3), *field* the Content-Usage
    lines of the final response: those of redirects are not carried over (AMB-114). *agreement*
    overrides both where it says something (vocab §5.2), such as `{"train-ai": "allowed"}`.
    """
    stated = Preferences(True, NOTHING, ())
    if robots is not None:
        stated = preferences_for(robots, product_token, purposes).for_url(url)
    if field is None and agreement is None:
        return stated
    # A robots.txt that disallows the URL takes nothing away from a field that came with content.
    statements = stated.statements
    if field is not None:
        statements += (content_usage_field(field),)
    if agreement is not None:
        statements += (agreed(agreement),)
    return stated._replace(
        values=tuple(combine_preferences(statements).items()), statements=statements
    )


# --- Records ----------------------------------------------------------------------------------


class _Found(NamedTuple):
    """A Content-Usage record, read."""

    record: Record
    scoped: Scoped
    parsed: Parsed

    @classmethod
    def of(cls, record: Record) -> _Found:
        """Read a record; its statement is octets and not text (attach §3.2, vocab §6.3)."""
        scoped = split(record)
        return cls(record, scoped, parse_dictionary(scoped.statement))

    @property
    def is_rule(self) -> bool:
        """
        Whether it states anything.

        An empty or broken statement is no rule, so shorter paths still count: a typo must not
        switch a wider `train-ai=n` off (AMB-111, RFC 9309 §2.3.1.5).
        """
        return bool(self.parsed.value)

    def statement(self) -> Statement:
        """Return what it states, and where."""
        path, text = self.scoped.path, to_text(self.scoped.statement)
        written = None if path is None else to_text(path)
        return Statement(
            StatementSource.ROBOTS, read_values(self.parsed), text, self.record, written
        )


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield what is odd about the Content-Usage records of a file."""
    found = [_Found.of(record) for record in robots.records if record.key in KEYS]
    yield from _notes(found, robots)


def _notes(found: Sequence[_Found], robots: RobotsTxt) -> Iterator[Note]:
    groups = document_groups(robots, KEYS)
    stated = _labels_by_path(found, groups)
    for one in found:
        if one.record.group is None:
            yield note("record-outside-group", one.record)
        if not one.is_rule:
            yield _why_no_rule(one)
            continue
        path = one.scoped.path
        if path is not None and not is_usable(path, robots):
            yield note("unusable-path", one.record, end=one.record.start + len(path))
        yield from _odd_members(one)
        group = groups[one.record.line]
        everywhere = stated.get((group, None), set())
        if path is not None and everywhere - stated[group, path]:
            # Nothing is inherited from a shorter path, category by category or at all (AMB-113).
            yield note("not-inherited", one.record)


def _labels_by_path(
    found: Sequence[_Found], groups: Mapping[int, int | None]
) -> dict[tuple[int | None, bytes | None], set[str]]:
    """Return the labels of the vocabulary that each group has for each path."""
    stated: dict[tuple[int | None, bytes | None], set[str]] = {}
    for one in found:
        if one.is_rule:
            group = groups[one.record.line]
            labels = stated.setdefault((group, one.scoped.path), set())
            labels.update(label for label in one.parsed.value if label in CATEGORIES)
    return stated


def _why_no_rule(one: _Found) -> Note:
    record, (_, statement, start), parsed = one
    if parsed.too_large:
        return note("too-large", record, start)
    if not statement:
        return note("empty-statement", record)
    word = re.match(rb"[^ \t]+", statement)
    # `*.pdf$ train-ai=n` has no path, because only `/` starts one, and `*` may start a key
    # (AMB-112): what was meant is `/*.pdf$`.
    if word and (statement.startswith(b"*") or b"/" in word[0]):
        rest = statement[word.end() :].strip(b" \t")
        if rest and parse_dictionary(rest).value:
            return note("unusable-path", record, start, start + word.end())
    return note("bad-structure", record, start)


def _odd_members(one: _Found) -> Iterator[Note]:
    odd = {
        label: "unknown-value" if label in CATEGORIES else "unknown-label"
        for label, (value, _) in one.parsed.value.items()
        if label not in CATEGORIES or not is_token(value) or str(value) not in LABELS
    }
    if odd:
        places = _places(one)
        for label, code in odd.items():
            yield note(code, one.record, *places.get(label, (one.scoped.start, one.record.end)))


def _places(one: _Found) -> dict[str, tuple[int, int]]:
    """Return where each label stands: its last place, as its last value counts."""
    _, statement, start = one.scoped
    # The statement is parsed already; this only looks for places, and not inside of strings.
    blanked = re.sub(rb'"(?:[^"\\]|\\.)*"', lambda text: b"_" * len(text[0]), statement)
    labels = re.finditer(rb"(?:^|,)[ \t]*([a-z*][a-z0-9_.*-]*)", blanked)
    return {label[1].decode(): (start + label.start(1), start + label.end(1)) for label in labels}
