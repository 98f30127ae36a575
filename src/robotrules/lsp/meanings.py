"""
What a record says, in words, for records that are no rules and name no crawler.

Each value is read by the reader of its record, put alone into a file of its own, so that the words
are about this line and no other. It does not know how words are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from robotrules import extensions
from robotrules.extensions import app_lines
from robotrules.extensions.clean_param import clean_params
from robotrules.extensions.content_signal import content_signals
from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.extensions.host import preferred_host
from robotrules.extensions.request_rate import request_rates
from robotrules.extensions.scoped import split
from robotrules.extensions.sitemap import sitemaps
from robotrules.extensions.visit_time import visit_times
from robotrules.extensions.vocabulary import Preference, read_values
from robotrules.http.structured_fields import parse_dictionary, serialise
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.markup import bulleted, code, many, named
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.values import Record

__all__ = ["meaning"]

MOST_APPLICATIONS = 8
MOST_DIRECTIVES = 12
# draft-ietf-aipref-vocab-07 §4, in our words.
_USES = {"train-ai": "training AI models", "search": "search applications"}
_STATED = {
    Preference.ALLOWED: "is allowed",
    Preference.DISALLOWED: "is disallowed",
    Preference.UNKNOWN: "is left open",
}
_SIGNALS = {
    "search": "search results",
    "ai-input": "giving pages to an AI model as input",
    "ai-train": "training AI models",
}


def meaning(document: OpenDocument, record: Record) -> list[str]:
    """Return what the value of a record says, as paragraphs; what cannot be used is said first."""
    alone = _alone(document, record)
    wrong = [
        note.message
        for note in extensions.notes(alone, document.registries)
        if note.level == "error"
    ]
    said = _READERS[record.key](document, record, alone) if record.key in _READERS else iter(())
    return [*dict.fromkeys(wrong), *said]


def _alone(document: OpenDocument, record: Record) -> RobotsTxt:
    """Return a file that has this record and no other."""
    line = f"User-agent: *\n{record.key}: ".encode() + record.value
    return parse(line, document.profile)


Reader = Callable[[OpenDocument, Record, RobotsTxt], Iterator[str]]


def _sitemap(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    for found in sitemaps(alone):
        yield f"The sitemap is {code(found.url, 300)}."
        if found.relative:
            yield "A sitemap is named by an absolute URL: this one is relative."


def _crawl_delay(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    if found := crawl_delay(alone, "*"):
        most = 86_400 / found.seconds if found.seconds > 0 else 0
        each = f": that is {most:,.0f} in a day at most" if most >= 1 else ""
        plain = f"{found.seconds:g}"
        noun = "second" if plain == "1" else "seconds"
        yield f"Please wait **{plain} {noun}** between two requests{each}."


def _request_rate(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    for rate in request_rates(alone, "*"):
        window = f" from {rate.window} UTC" if rate.window else ", all day"
        yield (
            f"Please make at most **{many(rate.requests, 'request')}** in "
            f"{many(rate.period, 'second')}{window}: one every {rate.seconds:g} seconds."
        )


def _visit_time(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    for found in visit_times(alone, "*"):
        yield f"Please come between {code(str(found.window))}, in UTC."


def _clean_param(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    for found in clean_params(alone).records:
        where = f"below {code(found.path)}" if found.path else "anywhere"
        yield f"The query parameters {named(found.parameters)} change nothing on a page {where}."


def _host(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    if found := preferred_host(alone):
        yield f"The preferred host is {code(str(found))}."


def _scope(record: Record) -> str:
    path = split(record).path
    return "For every URL:" if path is None else f"For URLs that match {code(path)}:"


def _content_usage(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    parsed = parse_dictionary(split(record).statement)
    if not parsed.value:
        return
    stated = [f"{_USES[name]} **{_STATED[value]}**" for name, value in read_values(parsed)]
    yield f"{_scope(record)}\n\n{bulleted(stated)}"
    yield "It is a stated preference: it has no effect on what crawlers fetch."


def _content_signal(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    statement = parse(b"User-agent: *\nContent-Signal: " + split(record).statement)
    stated = [
        f"{_SIGNALS.get(key, code(key))}: **{code(value) if key not in _SIGNALS else value}**"
        if value in ("yes", "no")
        else f"{_SIGNALS.get(key, code(key))}: {code(value)}"
        for key, value in content_signals(statement, "/", "*").values().items()
    ]
    if stated:
        yield f"{_scope(record)}\n\n{bulleted(stated[:MOST_APPLICATIONS])}"


def _app_directives(document: OpenDocument, record: Record, alone: RobotsTxt) -> Iterator[str]:
    line = app_lines.read_line(record, document.robots)
    if not line.parameters:
        return
    told = []
    for application in list(line.parameters)[:MOST_APPLICATIONS]:
        statement = app_lines.statement_for(application, line, document.registries)
        said = [_directive(document, application, one) for one in statement.directives]
        rest = len(said) - MOST_DIRECTIVES
        more = f" and {rest:,} more" if rest > 0 else ""
        told.append(f"{code(application)}: {', '.join(said[:MOST_DIRECTIVES]) or 'nothing'}{more}")
    yield f"{_scope(record)}\n\n{bulleted(told)}"
    yield "App directives are stated preferences: they say nothing about what crawlers fetch."


def _directive(document: OpenDocument, application: str, found: app_lines.AppDirective) -> str:
    text = f"{found.name}={serialise(found.value)}"
    entry = document.registries.directives.get((application, found.name))
    known = f"{found.status}" if entry is None else f"{found.status}; {entry.description}"
    return f"{code(text)} ({known})"


_READERS: dict[str, Reader] = {
    "sitemap": _sitemap,
    "crawl-delay": _crawl_delay,
    "request-rate": _request_rate,
    "visit-time": _visit_time,
    "clean-param": _clean_param,
    "host": _host,
    "content-usage": _content_usage,
    "content-signal": _content_signal,
    **dict.fromkeys(app_lines.KEYS, _app_directives),
}
