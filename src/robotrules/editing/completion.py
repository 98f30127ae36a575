"""
Completion: the completion items at the cursor.

At the start of a line: record names, the most likely first. After `User-agent:`: known crawlers.
After `User-Agent-Purpose:`: registered purposes. After `Content-Usage:`: categories of use. After
`App-Directives:`: applications and their registered directives. In a suppression comment: lint
checks. Paths and URLs are not completed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionItemTag,
    MarkupContent,
    MarkupKind,
    TextEdit,
)

from robotrules.editing.document import OpenDocument
from robotrules.editing.hover import describe_crawler
from robotrules.editing.markdown import escape, link_reference, truncate
from robotrules.editing.record_info import RECORDS, RecordInfo
from robotrules.extensions.content_signal import KEYS as SIGNALS
from robotrules.extensions.vocabulary import CATEGORIES
from robotrules.linting.checks import CHECKS
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import parse

__all__ = ["TRIGGER_CHARACTERS", "complete"]

# Characters after which a client requests completion by itself.
TRIGGER_CHARACTERS = (":", " ", ",", ";", "=", "[")
# Limit for names that the file already has.
MAX_NAMES = 200
MAX_LINE_LENGTH = 4_000
_SUPPRESSION = re.compile(
    r"#\s*robotrules:\s*ignore(?:-file)?\s*\[(?:[^\]#]*[\s,])?([\w-]*)$", re.I
)
# The part of a word after the cursor.
_WORD = re.compile(r"[-\w.=?]+")
_STARTS = ("user-agent", "user-agent-purpose")


class Candidate(NamedTuple):
    """One completion item, before it is given a range."""

    label: str
    detail: str = ""
    documentation: str = ""
    """Markdown."""
    kind: CompletionItemKind = CompletionItemKind.Value
    deprecated: bool = False
    new_text: str | None = None
    """The text to insert, if it is not *label*."""


def complete(document: OpenDocument, offset: int) -> list[CompletionItem]:
    """Return the completion items at an offset, the most likely first."""
    start, end = document.positions.line_span(document.positions.line_at(offset))
    if end - start > MAX_LINE_LENGTH:
        return []
    before = document.octets[start:offset].decode("utf-8", "replace").removeprefix("\ufeff")
    after = document.octets[offset:end].decode("utf-8", "replace")
    prefix, candidates = _find_candidates(document, offset, before, after)
    suffix = _WORD.match(after)
    word_end = offset + len(suffix[0].encode()) if suffix else offset
    word_range = document.positions.to_range(offset - len(prefix.encode()), word_end)
    return [
        CompletionItem(
            label=candidate.label,
            kind=candidate.kind,
            detail=candidate.detail or None,
            documentation=MarkupContent(MarkupKind.Markdown, candidate.documentation)
            if candidate.documentation
            else None,
            sort_text=f"{number:04d}",
            filter_text=candidate.new_text or candidate.label,
            text_edit=TextEdit(word_range, candidate.new_text or candidate.label),
            tags=[CompletionItemTag.Deprecated] if candidate.deprecated else None,
        )
        for number, candidate in enumerate(candidates)
    ]


# The part of a word before the cursor, and the candidates that replace it.
Completions = tuple[str, Iterable[Candidate]]


def _find_candidates(document: OpenDocument, offset: int, before: str, after: str) -> Completions:
    if "#" in before:
        suppression = _SUPPRESSION.search(before)
        return (suppression[1], _complete_checks()) if suppression else ("", ())
    if ":" not in before:
        return before.lstrip(), _complete_records(document, offset, after)
    # The parser resolves misspelled record names.
    records = parse(before.encode("utf-8", "replace"), document.profile).records
    complete_value = _VALUES.get(records[0].key) if records else None
    if complete_value is None:
        return "", ()
    return complete_value(document, before.partition(":")[2].lstrip())


# --- Record names ---------------------------------------------------------------------------------


def _complete_records(document: OpenDocument, offset: int, after: str) -> Iterator[Candidate]:
    # Insert a colon only if none follows.
    colon = "" if re.match(r"[-\w.=?]*\s*:", after) else ": "
    for info in sorted(RECORDS.values(), key=_sort_key(document, offset)):
        if info.is_offered:
            text = f"{info.description}\n\nReference: {link_reference(info.reference)}"
            detail = "applies to the file" if info.is_file_wide else "applies to a group"
            if info.name.lower() in _STARTS:
                detail = "opens a group"
            kind = CompletionItemKind.Keyword
            yield Candidate(info.name, detail, text, kind, new_text=info.name + colon)


def _sort_key(document: OpenDocument, offset: int) -> Callable[[RecordInfo], tuple[int, int]]:
    """Return the sort key of records at an offset: inside a group, rules come first."""
    before = document.record_before(offset)
    names = list(RECORDS)
    first = ["user-agent", "sitemap", "disallow", "allow"]
    if before is not None and before.group is not None:
        first = ["disallow", "allow", "user-agent", "sitemap"]
        line = document.positions.line_at(offset) + 1
        if before.key in _STARTS:
            first = ["disallow", "allow", before.key, "user-agent"]
        elif line - before.line > 1:  # after an empty line, a new group is likely
            first = ["user-agent", "sitemap", "disallow", "allow"]

    def _rank(info: RecordInfo) -> tuple[int, int]:
        key = info.name.lower()
        return (first.index(key) if key in first else len(first)), names.index(key)

    return _rank


# --- Values ---------------------------------------------------------------------------------------


def _complete_user_agent(document: OpenDocument, value: str) -> Completions:
    return value, _list_crawlers(document)


def _list_crawlers(document: OpenDocument) -> Iterator[Candidate]:
    text = "All crawlers that no other group names."
    yield Candidate("*", "all other crawlers", text, CompletionItemKind.Constant)
    known = sorted(
        KNOWN_CRAWLERS, key=lambda crawler: (crawler.status == "retired", not crawler.is_main)
    )
    kind = CompletionItemKind.Class
    for crawler in known:
        retired = crawler.status == "retired"
        purposes = ", ".join(crawler.purposes)
        detail = f"{crawler.operator}: {purposes}{', retired' if retired else ''}"
        text = "\n\n".join(describe_crawler(crawler))
        yield Candidate(crawler.product_token, detail, text, kind, retired)
    for name in _list_values(document, "user-agent"):
        if name not in KNOWN_CRAWLERS and not name.startswith("*"):
            yield Candidate(name, "in this file", "", kind)


def _list_values(document: OpenDocument, key: str) -> list[str]:
    """Return the distinct values of a record in the file, without long or unprintable ones."""
    values: dict[str, None] = {}
    for record in document.robots.records:
        if record.key == key and record.value and len(values) < MAX_NAMES:
            if record.text.isprintable() and len(record.text) <= 100:
                values.setdefault(record.text)
    return list(values)


def _complete_purpose(document: OpenDocument, value: str) -> Completions:
    registered = [
        Candidate(
            purpose.token,
            "registered",
            f"{escape(purpose.description)}\n\n{link_reference(purpose.reference)}",
        )
        for purpose in document.registries.purposes
    ]
    known = {candidate.label.lower() for candidate in registered}
    others = [
        Candidate(name, "in this file")
        for name in _list_values(document, "user-agent-purpose")
        if name.lower() not in known and name != value
    ]
    return value, [*registered, *others]


def _strip_path(value: str) -> str | None:
    """Return a value without its leading path; None while the path is incomplete."""
    if not value.startswith("/"):
        return value
    path = re.match(r"\S+[ \t]+", value)
    return value[path.end() :] if path else None


def _complete_pairs(names: Iterable[str], values: dict[str, str], value: str) -> Completions:
    """Return the completions in a list of `name=value`; *values* maps each to its meaning."""
    statement = _strip_path(value)
    if statement is None:
        return "", ()
    *done, word = re.split(r",[ \t]*", statement)
    stated = {pair.partition("=")[0].strip() for pair in done}
    _, equals, prefix = word.partition("=")
    if equals:
        return prefix, [Candidate(choice, meaning) for choice, meaning in values.items()]
    return word.lstrip(), [
        Candidate(f"{name}={choice}", f"{name}: {meaning}")
        for name in names
        if name not in stated
        for choice, meaning in values.items()
    ]


def _complete_content_usage(document: OpenDocument, value: str) -> Completions:
    return _complete_pairs(CATEGORIES, {"n": "disallowed", "y": "allowed"}, value)


def _complete_content_signal(document: OpenDocument, value: str) -> Completions:
    return _complete_pairs(SIGNALS, {"no": "disallowed", "yes": "allowed"}, value)


def _complete_app_directives(document: OpenDocument, value: str) -> Completions:
    statement = _strip_path(value)
    if statement is None or statement.count('"') % 2:  # no completion inside a string
        return "", ()
    application, *parts = re.split(r"[ \t]*;[ \t]*", re.split(r",[ \t]*", statement)[-1])
    if not parts:
        return application.lstrip(), [
            Candidate(
                entry.identifier,
                truncate(entry.product_token or "the group for '*'"),
                f"Registered by {escape(entry.change_controller)}.",
                CompletionItemKind.Module,
            )
            for entry in document.registries.applications
        ]
    stated = {part.partition("=")[0] for part in parts[:-1]}
    return parts[-1], _list_directives(document, application.strip(), stated)


def _list_directives(
    document: OpenDocument, application: str, stated: set[str]
) -> Iterator[Candidate]:
    for entry in document.registries.directives:
        if entry.application != application or entry.name in stated:
            continue
        deprecated = entry.status == "deprecated"
        text = f"{escape(entry.description)}\n\n{link_reference(entry.documentation)}"
        kind = CompletionItemKind.Property
        is_boolean = entry.value_type == "Boolean"
        new_text = entry.name if is_boolean else f"{entry.name}="
        yield Candidate(entry.name, entry.value_type, text, kind, deprecated, new_text)
        if is_boolean:
            yield Candidate(f"{entry.name}=?0", "Boolean, false", text, kind, deprecated)


_VALUES: dict[str, Callable[[OpenDocument, str], Completions]] = {
    "user-agent": _complete_user_agent,
    "user-agent-purpose": _complete_purpose,
    "content-usage": _complete_content_usage,
    "content-signal": _complete_content_signal,
    "app-directives": _complete_app_directives,
    "app-directive": _complete_app_directives,
}


# --- Suppression comments -------------------------------------------------------------------------


def _complete_checks() -> Iterator[Candidate]:
    for check in CHECKS:
        yield Candidate(check.code, check.slug, "", CompletionItemKind.EnumMember)
