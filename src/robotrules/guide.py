"""
Guidance: one answer about one URL for one crawler, over all carriers, each part with its source.

A robots.txt has the rules for fetching; fields and meta elements have rules for the use of fetched
pages; App-Directives and Content-Usage add preferences. Other packages read them; this module
combines their results and finds what none of them sees alone: a crawler does not see the tags of a
page that the robots.txt blocks (AMB-119). The result is guidance for crawlers that follow it, not a
form of access authorization.

It does not fetch anything and reads no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules._engine.url_type import url_type_error
from robotrules.extensions import require_robots_txt
from robotrules.extensions.app_directives import AppDirectives, directives_for
from robotrules.extensions.content_usage import preferences
from robotrules.extensions.vocabulary import Preference, Preferences, Statement, StatementSource
from robotrules.http.fields import NO_FIELDS, Fields
from robotrules.http.media_types import is_html
from robotrules.octets import to_octets, to_text
from robotrules.profile import DEFAULT, Profile
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import RobotsTxt, Tokens, parse
from robotrules.robotstxt.tokens import CrawlerNames, vet_names
from robotrules.robotstxt.verdict import Verdict
from robotrules.tags import (
    Html,
    TagNote,
    TagProfile,
    UsageRules,
    html_page,
    usage_rules,
    validate_product_tokens,
)
from robotrules.tags import read_fields as fields_of
from robotrules.tags.codes import note
from robotrules.tags.html import Page
from robotrules.tags.known_rules import to_json_value
from robotrules.tags.profile import find_tag_profile
from robotrules.tags.rules import UNREAD
from robotrules.tags.tdm import TdmReservation, tdm_reservation

# Incremented when a field of `Guidance.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1


class TagsSeen(StrEnum):
    """How much of the tag rules of a URL is known."""

    READ = "read"
    """The headers were read, and the page if it is HTML."""
    PARTLY = "partly-read"
    """Headers or page were not read, or not to the end: there may be more rules."""
    NOT_CRAWLED = "not-crawled"
    """The robots.txt disallows the URL, so its tags are unknown (XRT-18, AMB-119)."""
    NOT_FETCHED = "not-fetched"
    """Neither headers nor a page were given, so its tags are unknown."""


class Answer(NamedTuple):
    """One line of readable guidance: subject, answer and reasons."""

    subject: str
    answer: str
    because: tuple[str, ...] = ()


class Guidance(NamedTuple):
    """The guidance of all carriers for one crawler about one URL."""

    url: str
    product_tokens: tuple[str, ...]
    purposes: tuple[str, ...]
    verdict: Verdict | None
    """Whether the rules allow a fetch; None: no robots.txt was given."""
    tags: TagsSeen
    usage: UsageRules | None
    """The tag rules in force, as complete as `tags` says; None: they are unknown."""
    unseen: UsageRules | None
    """The tag rules of a page that was given although its URL is blocked: crawlers miss them."""
    app_directives: AppDirectives | None
    """The app directives; None: no application or no robots.txt was given."""
    preferences: Preferences
    """The combined preferences of robots.txt and the Content-Usage field."""
    reservation: TdmReservation
    """Whether rights to text and data mining are reserved (TDM-01 to TDM-03)."""
    notes: tuple[TagNote, ...]
    """Notes on the combination of carriers; each part has further notes."""

    @property
    def may_crawl(self) -> bool | None:
        """Whether the rules allow a fetch; None: no robots.txt was given."""
        return None if self.verdict is None else self.verdict.allowed

    @property
    def may_index(self) -> bool | None:
        """
        Whether nothing that was read forbids indexing; None: the tags are unknown.

        None is not False: the tags of a URL that was not crawled are unknown (AMB-119). It is not
        True either: if a head was not read to its end, a rule in the rest may forbid indexing. Only
        `tags` shows which inputs were not given.
        """
        return self._may(None if self.usage is None else self.usage.may_index)

    @property
    def may_snippet(self) -> bool | None:
        """Whether nothing that was read forbids excerpts; None: the tags are unknown."""
        return self._may(None if self.usage is None else self.usage.may_snippet)

    @property
    def may_follow(self) -> bool | None:
        """Whether nothing that was read forbids following links; None: unknown."""
        return self._may(None if self.usage is None else self.usage.may_follow)

    def _may(self, may: bool | None) -> bool | None:
        return None if may and any(note.code in UNREAD for note in self.notes) else may

    def answers(self) -> tuple[Answer, ...]:
        """Return the guidance as readable lines, crawling first."""
        return tuple(_make_answers(self))

    def __str__(self) -> str:
        lines = [f"{self.url} for {', '.join(self.product_tokens)}"]
        answers = self.answers()
        first_width, second_width = (max(len(one[part]) for one in answers) for part in (0, 1))
        for subject, answer, reasons in answers:
            first, *more = reasons or ("",)
            lines.append(f"  {subject:{first_width}}  {answer:{second_width}}  {first}".rstrip())
            lines += [f"  {'':{first_width}}  {'':{second_width}}  {reason}" for reason in more]
        lines += [f"  {note.level}: {note.message}" for note in self.notes]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, as `guidance.schema.json` describes."""
        return {
            "schema_version": SCHEMA_VERSION,
            "url": self.url,
            "product_tokens": list(self.product_tokens),
            "purposes": list(self.purposes),
            "may_crawl": self.may_crawl,
            "may_index": self.may_index,
            "may_snippet": self.may_snippet,
            "may_follow": self.may_follow,
            "verdict": None if self.verdict is None else self.verdict.as_dict(),
            "tags": str(self.tags),
            "usage": self.usage.as_dict() if self.usage else None,
            "unseen": self.unseen.as_dict() if self.unseen else None,
            "app_directives": self.app_directives.as_dict() if self.app_directives else None,
            "preferences": self.preferences.as_dict(),
            "reservation": self.reservation.as_dict(),
            "notes": [note.as_dict() for note in self.notes],
        }


def guidance(
    url: str | bytes,
    product_token: Tokens,
    *,
    robots: RobotsTxt | None = None,
    headers: object = None,
    html: Html | None = None,
    dom: Html | None = None,
    purposes: Sequence[str] = (),
    application: str | None = None,
    tdmrep: bytes | str | None = None,
    agreement: Mapping[str, Preference | str] | None = None,
    profile: str | TagProfile | Profile | None = None,
    received: datetime | None = None,
    recrawl_interval: timedelta | float | None = None,
    registries: Registries = SHIPPED,
    complete: bool = True,
) -> Guidance:
    """
    Return the guidance of all carriers for a crawler about *url*.

    *robots* is the parsed file of its origin, *headers* are those of the final response, *html* is
    its initial HTML, *dom* the final DOM, *tdmrep* the octets of `/.well-known/tdmrep.json`. The
    result shows which of these were not given. *application* is the identifier of an application
    for App-Directives. *profile* is for the tags; by default it is that of *robots*. The other
    arguments are those of `robotrules.tags.usage_rules` and `robotrules.preferences`.
    """
    if robots is not None:
        require_robots_txt(robots)
    validate_product_tokens(product_token)
    if robots is None and find_tag_profile(profile or "default").name != "google":
        # A robots.txt rejects invalid names; without one, tags would be read for no crawler
        # (AMB-22).
        vet_names(product_token, DEFAULT)
    url = as_url(url)
    if application is not None and robots is None:
        directives_for(parse(b""), application)  # raises for an invalid application
    if profile is None:
        profile = robots.profile if robots is not None else "default"
    chosen = find_tag_profile(profile)
    verdict = None if robots is None else robots.check(url, product_token, purposes)
    crawled = verdict is None or verdict.allowed
    fields = fields_of(headers)
    page = None if html is None else html_page(html, fields, chosen, complete=complete)
    given = any(part is not None for part in (headers, html, dom))
    usage = None
    if given:
        usage = usage_rules(
            headers=None if headers is None else fields,
            html=html if page is None else page,
            dom=dom,
            # Applebot may obey Googlebot's group, but not the tags for Googlebot.
            product_token=product_token[0]
            if isinstance(product_token, CrawlerNames)
            else product_token,
            url=url,
            profile=chosen,
            received=received,
            recrawl_interval=recrawl_interval,
            registries=registries,
            complete=complete,
        )
    seen, notes = _find_tags_seen(crawled, usage)
    # The headers of a page that may not be crawled are not seen either (AMB-119).
    stated = preferences(
        url,
        product_token,
        robots=robots,
        purposes=purposes,
        field=_field_lines(fields) if crawled else None,
        agreement=agreement,
    )
    reservation = tdm_reservation(
        url,
        tdmrep=tdmrep,
        headers=fields if crawled else NO_FIELDS,
        metas=_name_contents(page) if crawled else (),
    )
    directives = None
    if application is not None and robots is not None:
        directives = directives_for(robots, application, registries=registries).for_url(url)
    tokens = (product_token,) if isinstance(product_token, str) else tuple(product_token)
    if isinstance(product_token, CrawlerNames):
        tokens = product_token[:1]
    return Guidance(
        to_text(to_octets(url)),
        tokens,
        tuple(purposes),
        verdict,
        seen,
        usage if seen in (TagsSeen.READ, TagsSeen.PARTLY) else None,
        usage if seen is TagsSeen.NOT_CRAWLED else None,
        directives,
        stated,
        reservation,
        notes,
    )


def as_url(url: object) -> str | bytes:
    """Return a URL as text or octets; libraries have classes for URLs."""
    if isinstance(url, (str, bytes)):
        return url
    if hasattr(url, "scheme") and hasattr(url, "host"):
        return str(url)
    raise url_type_error(url)


def _find_tags_seen(
    crawled: bool, usage: UsageRules | None
) -> tuple[TagsSeen, tuple[TagNote, ...]]:
    if crawled:
        if usage is None:
            return TagsSeen.NOT_FETCHED, (note("tags-not-read"),)
        if "headers" not in usage.read:
            return TagsSeen.PARTLY, (note("headers-not-read"),)
        if "html" not in usage.read and is_html(usage.fields):
            return TagsSeen.PARTLY, (note("page-not-read"),)
        if not usage.complete:
            return TagsSeen.PARTLY, (note("page-not-read"),)
        return TagsSeen.READ, ()
    notes = [note("not-crawled")]
    if usage is not None and usage.values:
        notes.append(note("noindex-not-seen" if usage.may_index is False else "tags-not-seen"))
    return TagsSeen.NOT_CRAWLED, tuple(notes)


def _field_lines(fields: Fields) -> list[bytes] | None:
    return fields.get("content-usage") or None


def _name_contents(page: Page | None) -> Iterator[tuple[str, str]]:
    """Yield name and content of the elements in the head, for TDM-03."""
    for meta in page.metas if page else ():
        if meta.name and meta.content is not None and meta.place != "body":
            yield meta.name, meta.content


# --- Readable answers ---------------------------------------------------------------------------


def _make_answers(guidance: Guidance) -> Iterator[Answer]:
    verdict = guidance.verdict
    if verdict is None:
        yield Answer("crawl", "unknown", ("no robots.txt was given",))
    else:
        rule = verdict.rule
        reason = f"line {rule.line}: {rule}" if rule else verdict.reason.sentence
        yield Answer("crawl", "yes" if verdict.allowed else "no", (reason,))
    yield from _make_usage_answers(guidance)
    default = "not stated"
    if not guidance.preferences.applicable:
        default = "not applicable: the URL is disallowed"  # attach-05 §3.1
    for category, value in guidance.preferences.values:
        statements = guidance.preferences.statements_for(category)[:MAX_SOURCES]
        reasons = tuple(map(_describe_statement, statements))
        yield Answer(category, str(value), reasons or (default,))
    if guidance.app_directives is not None:
        application = guidance.app_directives.application
        for directive in guidance.app_directives.directives:
            name, _, given = str(directive).partition("=")
            where = f"line {directive.record.line}"
            yield Answer(f"{application};{name}", given or "?1", (where,))
    if guidance.reservation.reserved is not None:
        answer = "reserved" if guidance.reservation.reserved else "not reserved"
        policy = (guidance.reservation.policy,) if guidance.reservation.policy else ()
        where = f"{guidance.reservation.carrier}"
        yield Answer("text and data mining", answer, (where, *policy))


def _make_usage_answers(guidance: Guidance) -> Iterator[Answer]:
    if guidance.usage is None:
        yield Answer("index", "unknown", (_UNKNOWN_BECAUSE[guidance.tags],))
        yield Answer("snippet", "unknown", (_UNKNOWN_BECAUSE[guidance.tags],))
        return
    usage = guidance.usage
    for name, subject in _SUBJECTS.items():
        reasons = _describe_sources(usage, name)
        answer = "no" if reasons else "yes"
        if not reasons and guidance._may(usage.complete or None) is None:
            answer, reasons = "unknown", ("not all of the page was read",)
        elif name == "noindex" and not reasons and (until := usage.unavailable_after):
            # There is no clock here: the reader decides whether that moment has passed.
            sources = _describe_sources(usage, "unavailable_after")
            reasons = (f"until {to_json_value(until)}", *sources)
        yield Answer(subject, answer, reasons or ("nothing that was read forbids it",))
    for name, value in usage.values:
        if name not in _SUBJECTS:
            answer = "in force" if value is True else str(to_json_value(value))
            yield Answer(name, answer, _describe_sources(usage, name))


def _describe_sources(usage: UsageRules, name: str) -> tuple[str, ...]:
    mentions = usage.mentions_of(name)[:MAX_SOURCES]
    return tuple(f"{mention.source}: {mention.text}" for mention in mentions)


# Rules with a line of their own, and its subject.
_SUBJECTS = {"noindex": "index", "nosnippet": "snippet", "nofollow": "follow links"}
MAX_SOURCES = 5
_UNKNOWN_BECAUSE = {
    TagsSeen.NOT_CRAWLED: "not crawled, so nothing of the page is known",
    TagsSeen.NOT_FETCHED: "neither headers nor a page were given",
}


def _describe_statement(statement: Statement) -> str:
    if statement.source is StatementSource.ROBOTS:
        path = f"{statement.path} " if statement.path else ""
        return f"line {statement.line}: Content-Usage: {path}{statement.text}"
    return f"{statement.source}: {statement.text}".rstrip(": ")
