"""
Completion: what could stand at the cursor.

At the start of a line the names of records, those first that fit the place. After `User-agent:` the
crawlers that are known, after a purpose line the registered purposes, after Content-Usage the
categories of use, after App-Directives applications and what they have registered. In a comment
that starts to silence lint, its checks. Elsewhere nothing: a path is nobody's to guess.

It does not know which of it is wise.
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

from robotrules.extensions.content_signal import KEYS as SIGNALS
from robotrules.extensions.vocabulary import CATEGORIES
from robotrules.linting.checks import CHECKS
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.hover import crawler
from robotrules.lsp.markup import brief, linked, plain
from robotrules.lsp.records import RECORDS, About
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import parse

__all__ = ["TRIGGERS", "complete"]

# What an editor asks after unasked.
TRIGGERS = (":", " ", ",", ";", "=", "[")
# Names of a file that are offered again.
MOST_NAMES = 200
LONGEST_LINE = 4_000
_SILENCING = re.compile(r"#\s*robotrules:\s*ignore(?:-file)?\s*\[(?:[^\]#]*[\s,])?([\w-]*)$", re.I)
# What of a word stands behind the cursor.
_WORD = re.compile(r"[-\w.=?]+")
_STARTS = ("user-agent", "user-agent-purpose")


class Offer(NamedTuple):
    """One thing that could stand at the cursor."""

    text: str
    detail: str = ""
    words: str = ""
    """Markdown."""
    shape: CompletionItemKind = CompletionItemKind.Value
    retired: bool = False
    insert: str | None = None
    """What is written, where that is not *text*."""


def complete(document: OpenDocument, offset: int) -> list[CompletionItem]:
    """Return what could stand at an octet, the likeliest first."""
    start, end = document.places.span_of(document.places.line_of(offset))
    if end - start > LONGEST_LINE:
        return []
    before = document.octets[start:offset].decode("utf-8", "replace").removeprefix("\ufeff")
    after = document.octets[offset:end].decode("utf-8", "replace")
    word, offers = _offers(document, offset, before, after)
    rest = _WORD.match(after)
    upto = offset + len(rest[0].encode()) if rest else offset
    place = document.places.range(offset - len(word.encode()), upto)
    return [
        CompletionItem(
            label=offer.text,
            kind=offer.shape,
            detail=offer.detail or None,
            documentation=MarkupContent(MarkupKind.Markdown, offer.words) if offer.words else None,
            sort_text=f"{number:04d}",
            filter_text=offer.insert or offer.text,
            text_edit=TextEdit(place, offer.insert or offer.text),
            tags=[CompletionItemTag.Deprecated] if offer.retired else None,
        )
        for number, offer in enumerate(offers)
    ]


def _offers(
    document: OpenDocument, offset: int, before: str, after: str
) -> tuple[str, Iterable[Offer]]:
    """Return what of a word is there already, and what could take its place."""
    if "#" in before:
        found = _SILENCING.search(before)
        return (found[1], _checks()) if found else ("", ())
    if ":" not in before:
        return before.lstrip(), _records(document, offset, after)
    # The parser knows the spellings of names better than anyone.
    records = parse(before.encode("utf-8", "replace"), document.profile).records
    offer = _VALUES.get(records[0].key) if records else None
    if offer is None:
        return "", ()
    return offer(document, before.partition(":")[2].lstrip())


# --- Names of records -----------------------------------------------------------------------------


def _records(document: OpenDocument, offset: int, after: str) -> Iterator[Offer]:
    # Where a colon follows already, it is not written again.
    written = "" if re.match(r"[-\w.=?]*\s*:", after) else ": "
    for about in sorted(RECORDS.values(), key=_order(document, offset)):
        if about.offered:
            words = f"{about.words}\n\nReference: {linked(about.reference)}"
            detail = "the file" if about.of_file else "a group"
            if about.name.lower() in _STARTS:
                detail = "opens a group"
            shape = CompletionItemKind.Keyword
            yield Offer(about.name, detail, words, shape, insert=about.name + written)


def _order(document: OpenDocument, offset: int) -> Callable[[About], tuple[int, int]]:
    """Return the order of records at a place: in a group its rules come first."""
    before = document.record_before(offset)
    names = list(RECORDS)
    first = ["user-agent", "sitemap", "disallow", "allow"]
    if before is not None and before.group is not None:
        first = ["disallow", "allow", "user-agent", "sitemap"]
        here = document.places.line_of(offset) + 1
        if before.key in _STARTS:
            first = ["disallow", "allow", before.key, "user-agent"]
        elif here - before.line > 1:  # a line was left empty: this group is done
            first = ["user-agent", "sitemap", "disallow", "allow"]

    def _rank(about: About) -> tuple[int, int]:
        key = about.name.lower()
        return (first.index(key) if key in first else len(first)), names.index(key)

    return _rank


# --- Values ---------------------------------------------------------------------------------------


Offering = tuple[str, Iterable[Offer]]


def _user_agent(document: OpenDocument, value: str) -> Offering:
    return value, _crawlers(document)


def _crawlers(document: OpenDocument) -> Iterator[Offer]:
    words = "Every crawler that no other group names."
    yield Offer("*", "everyone else", words, CompletionItemKind.Constant)
    known = sorted(KNOWN_CRAWLERS, key=lambda one: (one.status == "retired", not one.is_main))
    for one in known:
        gone = one.status == "retired"
        detail = f"{one.operator}: {', '.join(one.purposes)}{', retired' if gone else ''}"
        shape = CompletionItemKind.Class
        yield Offer(one.product_token, detail, "\n\n".join(crawler(one)), shape, gone)
    for name in _written(document, "user-agent"):
        if name not in KNOWN_CRAWLERS and not name.startswith("*"):
            yield Offer(name, "in this file", "", CompletionItemKind.Class)


def _written(document: OpenDocument, key: str) -> list[str]:
    """Return values of a record that the file has already, each once and as it may be shown."""
    found: dict[str, None] = {}
    for record in document.robots.records:
        if record.key == key and record.value and len(found) < MOST_NAMES:
            if record.text.isprintable() and len(record.text) <= 100:
                found.setdefault(record.text)
    return list(found)


def _purpose(document: OpenDocument, value: str) -> Offering:
    registered = [
        Offer(one.token, "registered", f"{plain(one.description)}\n\n{linked(one.reference)}")
        for one in document.registries.purposes
    ]
    known = {offer.text.lower() for offer in registered}
    others = [
        Offer(name, "in this file")
        for name in _written(document, "user-agent-purpose")
        if name.lower() not in known and name != value
    ]
    return value, [*registered, *others]


def _statement(value: str) -> str | None:
    """Return what stands behind the path of a value; None: the path is not over."""
    if not value.startswith("/"):
        return value
    found = re.match(r"\S+[ \t]+", value)
    return value[found.end() :] if found else None


def _pairs(labels: Iterable[str], values: dict[str, str], value: str) -> Offering:
    """Return what could stand in a list of `label=value`."""
    statement = _statement(value)
    if statement is None:
        return "", ()
    *done, word = re.split(r",[ \t]*", statement)
    stated = {part.partition("=")[0].strip() for part in done}
    _, equals, part = word.partition("=")
    if equals:
        return part, [Offer(one, words) for one, words in values.items()]
    return word.lstrip(), [
        Offer(f"{one}={short}", f"{one}: {words}")
        for one in labels
        if one not in stated
        for short, words in values.items()
    ]


def _content_usage(document: OpenDocument, value: str) -> Offering:
    return _pairs(CATEGORIES, {"n": "disallowed", "y": "allowed"}, value)


def _content_signal(document: OpenDocument, value: str) -> Offering:
    return _pairs(SIGNALS, {"no": "not wanted", "yes": "welcome"}, value)


def _app_directives(document: OpenDocument, value: str) -> Offering:
    statement = _statement(value)
    if statement is None or statement.count('"') % 2:  # inside of a string nothing is known
        return "", ()
    application, *parts = re.split(r"[ \t]*;[ \t]*", re.split(r",[ \t]*", statement)[-1])
    if not parts:
        return application.lstrip(), [
            Offer(
                one.identifier,
                brief(one.product_token or "everyone's group"),
                f"Registered by {plain(one.change_controller)}.",
                CompletionItemKind.Module,
            )
            for one in document.registries.applications
        ]
    said = {part.partition("=")[0] for part in parts[:-1]}
    return parts[-1], _directives(document, application.strip(), said)


def _directives(document: OpenDocument, application: str, said: set[str]) -> Iterator[Offer]:
    for entry in document.registries.directives:
        if entry.application != application or entry.name in said:
            continue
        gone = entry.status == "deprecated"
        words = f"{plain(entry.description)}\n\n{linked(entry.documentation)}"
        shape = CompletionItemKind.Property
        truth = entry.value_type == "Boolean"
        written = entry.name if truth else f"{entry.name}="
        yield Offer(entry.name, entry.value_type, words, shape, gone, written)
        if truth:
            yield Offer(f"{entry.name}=?0", "Boolean, false", words, shape, gone)


_VALUES: dict[str, Callable[[OpenDocument, str], Offering]] = {
    "user-agent": _user_agent,
    "user-agent-purpose": _purpose,
    "content-usage": _content_usage,
    "content-signal": _content_signal,
    "app-directives": _app_directives,
    "app-directive": _app_directives,
}


# --- Comments -------------------------------------------------------------------------------------


def _checks() -> Iterator[Offer]:
    for check in CHECKS:
        yield Offer(check.code, check.slug, "", CompletionItemKind.EnumMember)
