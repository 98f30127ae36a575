"""
Content-Usage (draft-ietf-aipref-attach-05): preferences of a robots.txt, a field and agreements.

A rule is `[path] statement` in a group (§3). The group is selected as for allow and disallow, the
longest matching path decides, statements of equal paths combine, and a URL that may not be crawled
has no preference (§3.1). The record does not change verdicts: for the groups of Allow and Disallow
it is another record, as for every parser of RFC 9309. It is read with the group structure of its
own document, where a user-agent line after it opens a new group (AMB-29). `vocabulary` parses
statements.

It does not read HTTP responses: the caller passes field lines. What to do where a preference is
unknown is up to the application, as in the drafts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from robotrules.extensions import require_robots_txt
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
    combine_preferences,
    content_usage_field,
    make_agreement,
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
    """The Content-Usage rules for one crawler, compiled. Immutable; share it between threads."""

    __slots__ = ("_arguments", "_count", "_not_applicable", "_notes", "_rules", "_scoped")

    def __init__(self, robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str]) -> None:
        """Use `preferences_for()`."""
        self._arguments = robots, product_token, tuple(purposes)
        records = records_for(robots, KEYS, product_token, purposes)
        parsed = [_ParsedRecord.of(record) for record in records]
        entries = [(one.scoped.path, one.statement()) for one in parsed if one.is_rule]
        self._notes = notes = tuple(_notes(parsed, robots))
        self._scoped = ScopedSet(entries, robots, lambda stated: _combine(stated, notes))
        self._count = len(entries)
        self._rules = robots.rules_for(product_token, purposes)
        self._not_applicable = Preferences(False, NOTHING, (), notes)

    def __reduce__(self) -> tuple[Any, ...]:
        return preferences_for, self._arguments

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the Content-Usage records of these groups."""
        return self._notes

    def for_url(self, url: URL) -> Preferences:
        """Return the preferences that the robots.txt states for *url*."""
        if not self._rules.allows(url):
            return self._not_applicable
        return self._scoped.at(url)

    def stated_for_url(self, url: URL) -> Preferences:
        """Return what the records state for *url*, whether or not it may be fetched."""
        return self._scoped.at(url)

    def for_urls(self, urls: Iterable[URL]) -> list[Preferences]:
        """
        Return the same for many URLs.

        It makes two calls into the engine, for the preferences and for the verdicts; URLs with the
        same statements share one result.
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
        return True  # a set without rules is a usable result

    def __repr__(self) -> str:
        return f"<PreferenceSet: {len(self)} rules>"


def _combine(statements: tuple[Statement, ...], notes: tuple[Note, ...]) -> Preferences:
    return Preferences(True, tuple(combine_preferences(statements).items()), statements, notes)


def preferences_for(
    robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str] = ()
) -> PreferenceSet:
    """Return the Content-Usage rules for a crawler, compiled for many URLs."""
    require_robots_txt(robots)
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
    Return the preferences for the content fetched from *url*, from all sources.

    *robots* is the file that was current at the fetch (attach-05 §3.3), *field* the Content-Usage
    lines of the final response: those of redirects do not count (AMB-114). *agreement*, such as
    `{"train-ai": "allowed"}`, overrides both for the categories that it has (vocab §5.2).
    """
    stated = Preferences(True, NOTHING, ())
    if robots is not None:
        stated = preferences_for(robots, product_token, purposes).for_url(url)
    if field is None and agreement is None:
        return stated
    # A field that came with content counts even if the robots.txt disallows the URL.
    statements = stated.statements
    if field is not None:
        statements += (content_usage_field(field),)
    if agreement is not None:
        statements += (make_agreement(agreement),)
    return stated._replace(
        values=tuple(combine_preferences(statements).items()), statements=statements
    )


# --- Records ----------------------------------------------------------------------------------


class _ParsedRecord(NamedTuple):
    """A parsed Content-Usage record."""

    record: Record
    scoped: Scoped
    parsed: Parsed

    @classmethod
    def of(cls, record: Record) -> _ParsedRecord:
        """Parse a record; its statement is octets, not text (attach §3.2, vocab §6.3)."""
        scoped = split(record)
        return cls(record, scoped, parse_dictionary(scoped.statement))

    @property
    def is_rule(self) -> bool:
        """
        Whether it states anything.

        An empty or malformed statement is not a rule, so shorter paths still count: a typo must not
        disable the `train-ai=n` of a shorter path (AMB-111, RFC 9309 §2.3.1.5).
        """
        return bool(self.parsed.value)

    def statement(self) -> Statement:
        """Return its statement."""
        path, text = self.scoped.path, to_text(self.scoped.statement)
        written = None if path is None else to_text(path)
        return Statement(
            StatementSource.ROBOTS, read_values(self.parsed), text, self.record, written
        )


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield notes on the Content-Usage records of a file."""
    parsed = [_ParsedRecord.of(record) for record in robots.records if record.key in KEYS]
    yield from _notes(parsed, robots)


def _notes(records: Sequence[_ParsedRecord], robots: RobotsTxt) -> Iterator[Note]:
    groups = document_groups(robots, KEYS)
    stated = _labels_by_path(records, groups)
    for parsed in records:
        record, path = parsed.record, parsed.scoped.path
        if record.group is None:
            yield note("record-outside-group", record)
        if not parsed.is_rule:
            yield _note_on_failure(parsed)
            continue
        if path is not None and not is_usable(path, robots):
            yield note("unusable-path", record, end=record.start + len(path))
        yield from _notes_on_members(parsed)
        group = groups[record.line]
        everywhere = stated.get((group, None), set())
        if path is not None and everywhere - stated[group, path]:
            # Nothing is inherited from a shorter path, not even by category (AMB-113).
            yield note("not-inherited", record)


def _labels_by_path(
    records: Sequence[_ParsedRecord], groups: Mapping[int, int | None]
) -> dict[tuple[int | None, bytes | None], set[str]]:
    """Return the labels of the vocabulary that each group has for each path."""
    stated: dict[tuple[int | None, bytes | None], set[str]] = {}
    for parsed in records:
        if parsed.is_rule:
            group = groups[parsed.record.line]
            labels = stated.setdefault((group, parsed.scoped.path), set())
            labels.update(label for label in parsed.parsed.value if label in CATEGORIES)
    return stated


def _note_on_failure(parsed_record: _ParsedRecord) -> Note:
    record, (_, statement, start), parsed = parsed_record
    if parsed.too_large:
        return note("too-large", record, start)
    if not statement:
        return note("empty-statement", record)
    word = re.match(rb"[^ \t]+", statement)
    # `*.pdf$ train-ai=n` has no path, because only `/` starts one, and `*` may start a key
    # (AMB-112): its author meant `/*.pdf$`.
    if word and (statement.startswith(b"*") or b"/" in word[0]):
        rest = statement[word.end() :].strip(b" \t")
        if rest and parse_dictionary(rest).value:
            return note("unusable-path", record, start, start + word.end())
    return note("bad-structure", record, start)


def _notes_on_members(parsed: _ParsedRecord) -> Iterator[Note]:
    codes = {
        label: "unknown-value" if label in CATEGORIES else "unknown-label"
        for label, (value, _) in parsed.parsed.value.items()
        if label not in CATEGORIES or not is_token(value) or str(value) not in LABELS
    }
    if codes:
        spans = _find_labels(parsed)
        for label, code in codes.items():
            span = spans.get(label, (parsed.scoped.start, parsed.record.end))
            yield note(code, parsed.record, *span)


def _find_labels(parsed: _ParsedRecord) -> dict[str, tuple[int, int]]:
    """Return the span of each label: of its last occurrence, because its last value counts."""
    _, statement, start = parsed.scoped
    # The statement has been parsed; this only finds positions, outside of strings.
    blanked = re.sub(rb'"(?:[^"\\]|\\.)*"', lambda text: b"_" * len(text[0]), statement)
    labels = re.finditer(rb"(?:^|,)[ \t]*([a-z*][a-z0-9_.*-]*)", blanked)
    return {label[1].decode(): (start + label.start(1), start + label.end(1)) for label in labels}
