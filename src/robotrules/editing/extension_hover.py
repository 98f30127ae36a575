"""
Hover text for extension records: Sitemap, Crawl-delay, Content-Usage, App-Directives and others.

The reader of each extension parses the record as the only one of a file, so that the text is about
this line and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from robotrules import extensions
from robotrules.editing.document import OpenDocument
from robotrules.editing.markdown import bullet_list, code_list, code_span, pluralize
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
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.values import Record

__all__ = ["describe_value"]

MAX_APPLICATIONS = 8
MAX_DIRECTIVES = 12
# draft-ietf-aipref-vocab-07 §4, paraphrased.
_USES = {"train-ai": "training AI models", "search": "search applications"}
_PREFERENCES = {
    Preference.ALLOWED: "is allowed",
    Preference.DISALLOWED: "is disallowed",
    Preference.UNKNOWN: "has no stated preference",
}
_SIGNALS = {
    "search": "search results",
    "ai-input": "giving pages to an AI model as input",
    "ai-train": "training AI models",
}


def describe_value(document: OpenDocument, record: Record) -> list[str]:
    """Return paragraphs about the value of a record; errors in the value come first."""
    isolated = _isolate(document, record)
    errors = [
        note.message
        for note in extensions.notes(isolated, document.registries)
        if note.level == "error"
    ]
    describe = _DESCRIBERS.get(record.key)
    paragraphs = describe(document, record, isolated) if describe else ()
    return [*dict.fromkeys(errors), *paragraphs]


def _isolate(document: OpenDocument, record: Record) -> RobotsTxt:
    """Return a parsed file that contains only this record."""
    line = f"User-agent: *\n{record.key}: ".encode() + record.value
    return parse(line, document.profile)


Describer = Callable[[OpenDocument, Record, RobotsTxt], Iterator[str]]


def _describe_sitemap(document: OpenDocument, record: Record, isolated: RobotsTxt) -> Iterator[str]:
    for sitemap in sitemaps(isolated):
        yield f"The sitemap is {code_span(sitemap.url, 300)}."
        if sitemap.relative:
            yield "A sitemap must have an absolute URL: this one is relative."


def _describe_crawl_delay(
    document: OpenDocument, record: Record, isolated: RobotsTxt
) -> Iterator[str]:
    if delay := crawl_delay(isolated, "*"):
        per_day = 86_400 / delay.seconds if delay.seconds > 0 else 0
        limit = f": at most {per_day:,.0f} requests per day" if per_day >= 1 else ""
        seconds = f"{delay.seconds:g}"
        noun = "second" if seconds == "1" else "seconds"
        yield f"Asks crawlers to wait **{seconds} {noun}** between two requests{limit}."


def _describe_request_rate(
    document: OpenDocument, record: Record, isolated: RobotsTxt
) -> Iterator[str]:
    for rate in request_rates(isolated, "*"):
        window = f" from {rate.window} UTC" if rate.window else ", all day"
        requests, period = pluralize(rate.requests, "request"), pluralize(rate.period, "second")
        yield (
            f"Asks for at most **{requests}** in {period}{window}: "
            f"one every {rate.seconds:g} seconds."
        )


def _describe_visit_time(
    document: OpenDocument, record: Record, isolated: RobotsTxt
) -> Iterator[str]:
    for visit_time in visit_times(isolated, "*"):
        yield f"Asks crawlers to fetch only during {code_span(str(visit_time.window))}, in UTC."


def _describe_clean_param(
    document: OpenDocument, record: Record, isolated: RobotsTxt
) -> Iterator[str]:
    for params in clean_params(isolated).records:
        where = f"below {code_span(params.path)}" if params.path else "on any path"
        yield f"The query parameters {code_list(params.parameters)} do not change a page {where}."


def _describe_host(document: OpenDocument, record: Record, isolated: RobotsTxt) -> Iterator[str]:
    if host := preferred_host(isolated):
        yield f"The preferred host is {code_span(str(host))}."


def _describe_scope(record: Record) -> str:
    path = split(record).path
    return "For every URL:" if path is None else f"For URLs that match {code_span(path)}:"


def _describe_content_usage(
    document: OpenDocument, record: Record, isolated: RobotsTxt
) -> Iterator[str]:
    parsed = parse_dictionary(split(record).statement)
    if not parsed.value:
        return
    stated = [f"{_USES[name]} **{_PREFERENCES[value]}**" for name, value in read_values(parsed)]
    yield f"{_describe_scope(record)}\n\n{bullet_list(stated)}"
    yield "This states a preference: it does not allow or block fetching."


def _describe_content_signal(
    document: OpenDocument, record: Record, isolated: RobotsTxt
) -> Iterator[str]:
    statement = parse(b"User-agent: *\nContent-Signal: " + split(record).statement)
    stated = [
        f"{_SIGNALS.get(key, code_span(key))}: "
        f"**{code_span(value) if key not in _SIGNALS else value}**"
        if value in ("yes", "no")
        else f"{_SIGNALS.get(key, code_span(key))}: {code_span(value)}"
        for key, value in content_signals(statement, "/", "*").values().items()
    ]
    if stated:
        yield f"{_describe_scope(record)}\n\n{bullet_list(stated[:MAX_APPLICATIONS])}"


def _describe_app_directives(
    document: OpenDocument, record: Record, isolated: RobotsTxt
) -> Iterator[str]:
    line = app_lines.read_line(record, document.robots)
    if not line.parameters:
        return
    items = []
    for application in list(line.parameters)[:MAX_APPLICATIONS]:
        statement = app_lines.statement_for(application, line, document.registries)
        directives = [
            _describe_directive(document, application, directive)
            for directive in statement.directives
        ]
        shown = ", ".join(directives[:MAX_DIRECTIVES]) or "no directives"
        rest = len(directives) - MAX_DIRECTIVES
        more = f" and {rest:,} more" if rest > 0 else ""
        items.append(f"{code_span(application)}: {shown}{more}")
    yield f"{_describe_scope(record)}\n\n{bullet_list(items)}"
    yield "App directives state preferences: they do not allow or block fetching."


def _describe_directive(
    document: OpenDocument, application: str, directive: app_lines.AppDirective
) -> str:
    text = f"{directive.name}={serialise(directive.value)}"
    entry = document.registries.directives.get((application, directive.name))
    status = f"{directive.status}" if entry is None else f"{directive.status}; {entry.description}"
    return f"{code_span(text)} ({status})"


_DESCRIBERS: dict[str, Describer] = {
    "sitemap": _describe_sitemap,
    "crawl-delay": _describe_crawl_delay,
    "request-rate": _describe_request_rate,
    "visit-time": _describe_visit_time,
    "clean-param": _describe_clean_param,
    "host": _describe_host,
    "content-usage": _describe_content_usage,
    "content-signal": _describe_content_signal,
    **dict.fromkeys(app_lines.KEYS, _describe_app_directives),
}
