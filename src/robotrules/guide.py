"""
Guidance: one answer about one URL for one crawler, over all carriers, each part with its source.

A robots.txt says what may be fetched; fields and meta elements say what may be done with what was
fetched; App-Directives and Content-Usage say more. They are read by their own rooms; this puts
them side by side and looks at what none of them sees alone: a page that the robots.txt keeps from
being crawled has tags that nobody reads (AMB-119). What it says is guidance for those who want to
follow it, and no form of access authorization.

It does not fetch anything, has no clock, and does not know what a crawler does with the answer.
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

# Raised when a field of `Guidance.as_dict()` changes meaning or goes away.
SCHEMA_VERSION = 1


class TagsSeen(StrEnum):
    """What is known of the tag rules of a URL."""

    READ = "read"
    """The headers were read, and the page if it is HTML."""
    PARTLY = "partly-read"
    """Headers or page were read and the other was not, or not to its end: there may be more."""
    NOT_CRAWLED = "not-crawled"
    """The robots.txt disallows the URL, so its tags are unknown (XRT-18, AMB-119)."""
    NOT_FETCHED = "not-fetched"
    """Neither headers nor a page were given, so its tags are unknown."""


class Answer(NamedTuple):
    """One line of an answer for people: about what, what, and because of what."""

    subject: str
    answer: str
    because: tuple[str, ...] = ()


class Guidance(NamedTuple):
    """All that is said to one crawler about one URL."""

    url: str
    product_tokens: tuple[str, ...]
    purposes: tuple[str, ...]
    verdict: Verdict | None
    """Whether the rules allow a fetch; None: no robots.txt was given."""
    tags: TagsSeen
    usage: UsageRules | None
    """The tag rules in force, as far as `tags` says; None: they are unknown."""
    unseen: UsageRules | None
    """What a page says that was given although its URL may not be crawled: nobody reads it."""
    app_directives: AppDirectives | None
    """What is said to the application; None: none was asked about, or there is no robots.txt."""
    preferences: Preferences
    """Of robots.txt and of the Content-Usage field, combined."""
    reservation: TdmReservation
    """Whether rights to text and data mining are reserved (TDM-01 to TDM-03)."""
    notes: tuple[TagNote, ...]
    """What only shows when all carriers are seen together; each part has notes of its own."""

    @property
    def may_crawl(self) -> bool | None:
        """Whether the rules allow a fetch; None: no robots.txt was given."""
        return None if self.verdict is None else self.verdict.allowed

    @property
    def may_index(self) -> bool | None:
        """
        Whether nothing that was read speaks against indexing; None: the tags are unknown.

        None is not False: of a URL that was not crawled, nobody has said anything (AMB-119). Nor is
        it True: where a head was not read to its end, a rule behind that may forbid it. What was
        not given at all is told by `tags` alone.
        """
        return self._may(None if self.usage is None else self.usage.may_index)

    @property
    def may_snippet(self) -> bool | None:
        """Whether nothing that was read speaks against excerpts; None: the tags are unknown."""
        return self._may(None if self.usage is None else self.usage.may_snippet)

    @property
    def may_follow(self) -> bool | None:
        """Whether nothing that was read speaks against following links; None: unknown."""
        return self._may(None if self.usage is None else self.usage.may_follow)

    def _may(self, may: bool | None) -> bool | None:
        return None if may and any(one.code in UNREAD for one in self.notes) else may

    def answers(self) -> tuple[Answer, ...]:
        """Return the parts of the answer for people, the crawl first."""
        return tuple(_answers(self))

    def __str__(self) -> str:
        lines = [f"{self.url} for {', '.join(self.product_tokens)}"]
        shown = self.answers()
        wide, broad = (max(len(one[part]) for one in shown) for part in (0, 1))
        for subject, answer, because in shown:
            first, *more = because or ("",)
            lines.append(f"  {subject:{wide}}  {answer:{broad}}  {first}".rstrip())
            lines += [f"  {'':{wide}}  {'':{broad}}  {reason}" for reason in more]
        lines += [f"  {one.level}: {one.message}" for one in self.notes]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, as `docs/guidance.schema.json` describes."""
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
            "notes": [one.as_dict() for one in self.notes],
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
    Return what all carriers together say to a crawler about *url*.

    *robots* is the parsed file of its origin, *headers* those of the final response, *html* its
    initial HTML, *dom* the final DOM, *tdmrep* the octets of `/.well-known/tdmrep.json`. Whatever
    is not given is not known, and the answer says so. *application* is one that App-Directives may
    address. *profile* is for the tags; by default it is that of *robots*. The rest is as in
    `robotrules.tags.usage_rules` and `robotrules.preferences`.
    """
    if robots is not None:
        require_robots_txt(robots)
    validate_product_tokens(product_token)
    if robots is None and find_tag_profile(profile or "default").name != "google":
        # A robots.txt refuses what is no name; without one tags would be read for nobody (AMB-22).
        vet_names(product_token, DEFAULT)
    url = as_url(url)
    if application is not None and robots is None:
        directives_for(parse(b""), application)  # refuses what is no application
    if profile is None:
        profile = robots.profile if robots is not None else "default"
    chosen = find_tag_profile(profile)
    verdict = None if robots is None else robots.check(url, product_token, purposes)
    crawled = verdict is None or verdict.allowed
    fields = fields_of(headers)
    page = None if html is None else html_page(html, fields, chosen, complete=complete)
    given = any(one is not None for one in (headers, html, dom))
    found = None
    if given:
        found = usage_rules(
            headers=None if headers is None else fields,
            html=html if page is None else page,
            dom=dom,
            # Applebot may obey Googlebot's group; what a page says to Googlebot is not for it.
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
    seen, notes = _seen(crawled, found)
    # What came with a page that may not be crawled was not seen either (AMB-119).
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
        metas=_named(page) if crawled else (),
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
        found if seen in (TagsSeen.READ, TagsSeen.PARTLY) else None,
        found if seen is TagsSeen.NOT_CRAWLED else None,
        directives,
        stated,
        reservation,
        notes,
    )


def as_url(url: object) -> str | bytes:
    """Return a URL as text or octets: libraries have classes for them."""
    if isinstance(url, (str, bytes)):
        return url
    if hasattr(url, "scheme") and hasattr(url, "host"):
        return str(url)
    raise url_type_error(url)


def _seen(crawled: bool, found: UsageRules | None) -> tuple[TagsSeen, tuple[TagNote, ...]]:
    if crawled:
        if found is None:
            return TagsSeen.NOT_FETCHED, (note("tags-not-read"),)
        if "headers" not in found.read:
            return TagsSeen.PARTLY, (note("headers-not-read"),)
        if "html" not in found.read and is_html(found.fields):
            return TagsSeen.PARTLY, (note("page-not-read"),)
        if not found.complete:
            return TagsSeen.PARTLY, (note("page-not-read"),)
        return TagsSeen.READ, ()
    notes = [note("not-crawled")]
    if found is not None and found.values:
        notes.append(note("noindex-not-seen" if found.may_index is False else "tags-not-seen"))
    return TagsSeen.NOT_CRAWLED, tuple(notes)


def _field_lines(fields: Fields) -> list[bytes] | None:
    return fields.get("content-usage") or None


def _named(page: Page | None) -> Iterator[tuple[str, str]]:
    """Yield name and content of the elements that TDM-03 may be about."""
    for meta in page.metas if page else ():
        if meta.name and meta.content is not None and meta.place != "body":
            yield meta.name, meta.content


# --- For people ---------------------------------------------------------------------------------


def _answers(found: Guidance) -> Iterator[Answer]:
    verdict = found.verdict
    if verdict is None:
        yield Answer("crawl", "unknown", ("no robots.txt was given",))
    else:
        rule = verdict.rule
        why = f"line {rule.line}: {rule}" if rule else verdict.reason.sentence
        yield Answer("crawl", "yes" if verdict.allowed else "no", (why,))
    yield from _usage_answers(found)
    nothing = "nothing says"
    if not found.preferences.applicable:
        nothing = "not applicable: the URL is disallowed"  # attach-05 §3.1
    for category, value in found.preferences.values:
        because = tuple(map(_stated, found.preferences.statements_for(category)[:MOST_SOURCES]))
        yield Answer(category, str(value), because or (nothing,))
    if found.app_directives is not None:
        application = found.app_directives.application
        for directive in found.app_directives.directives:
            name, _, given = str(directive).partition("=")
            where = f"line {directive.record.line}"
            yield Answer(f"{application};{name}", given or "?1", (where,))
    if found.reservation.reserved is not None:
        answer = "reserved" if found.reservation.reserved else "not reserved"
        policy = (found.reservation.policy,) if found.reservation.policy else ()
        where = f"{found.reservation.carrier}"
        yield Answer("text and data mining", answer, (where, *policy))


def _usage_answers(found: Guidance) -> Iterator[Answer]:
    if found.usage is None:
        yield Answer("index", "unknown", (_WHY[found.tags],))
        yield Answer("snippet", "unknown", (_WHY[found.tags],))
        return
    usage = found.usage
    for name, subject in _SHOWN_APART.items():
        because = _sources(usage, name)
        answer = "no" if because else "yes"
        if not because and found._may(usage.complete or None) is None:
            answer, because = "unknown", ("not all of the page was read",)
        elif name == "noindex" and not because and (until := usage.unavailable_after):
            # There is no clock here: whether that moment has passed is for the reader to see.
            because = (f"until {to_json_value(until)}", *_sources(usage, "unavailable_after"))
        yield Answer(subject, answer, because or ("nothing that was read says otherwise",))
    for name, value in usage.values:
        if name not in _SHOWN_APART:
            answer = "in force" if value is True else str(to_json_value(value))
            yield Answer(name, answer, _sources(usage, name))


def _sources(usage: UsageRules, name: str) -> tuple[str, ...]:
    return tuple(f"{one.source}: {one.text}" for one in usage.mentions_of(name)[:MOST_SOURCES])


_SHOWN_APART = {"noindex": "index", "nosnippet": "snippet", "nofollow": "follow links"}
MOST_SOURCES = 5
_WHY = {
    TagsSeen.NOT_CRAWLED: "not crawled, so nothing of the page is known",
    TagsSeen.NOT_FETCHED: "neither headers nor a page were given",
}


def _stated(statement: Statement) -> str:
    if statement.source is StatementSource.ROBOTS:
        path = f"{statement.path} " if statement.path else ""
        return f"line {statement.line}: Content-Usage: {path}{statement.text}"
    return f"{statement.source}: {statement.text}".rstrip(": ")
