"""
`robotrules guidance`: one answer over all carriers, for a URL or for each document of a HAR file.

A few lines over `robotrules.guidance`: may the URL be crawled, and what do its robots.txt, headers
and page say about the use of what is found there. Where the robots.txt keeps a page from being
read, its tags are unknown, and that is said. What is not given as a file is fetched, or, with any
file given, not known.

Sections: the command · what is asked with · origins.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import robotrules
from robotrules import RobotsTxt
from robotrules.access import FailureReason as AccessTrouble
from robotrules.cache import EffectivePolicy, format_timestamp
from robotrules.cli.access_text import answer_words
from robotrules.cli.client import Opening, client_options
from robotrules.cli.guidance_text import GuidancePage, GuidanceReport, GuidanceRows
from robotrules.cli.options import (
    ACCESS_ONLY,
    GivenCrawler,
    given_crawler,
    given_purposes,
    given_robots,
    given_urls,
    json_option,
    literal_option,
    parsing_profile,
    purpose_option,
    robots_option,
    say_notes,
    token_option,
)
from robotrules.cli.origin_lookup import hint_private, host_of, refuse_paths
from robotrules.cli.page_inputs import (
    carrier_options,
    fetching_tag_profile_option,
    given_har,
    given_headers,
    given_page,
    given_response,
    given_tdmrep,
    html_libraries,
    refuse_stdin_twice,
    robots_profile,
    warn_html_unread,
    with_headers,
)
from robotrules.cli.streams import CliError, Output, quoted, say
from robotrules.cli.text import plural
from robotrules.errors import MissingExtraError
from robotrules.extensions.app_directives import directives_for
from robotrules.guide import guidance as find_guidance
from robotrules.octets import to_octets, to_text, visible
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.tags.saved_responses import SavedResponse

if TYPE_CHECKING:
    from robotrules.client.pages import FetchResult


@click.command()
@click.argument("url", required=False, metavar="[URL]")
@robots_option
@token_option
@literal_option
@purpose_option
@click.option("--page", metavar="FILE", help="The page as saved, its initial HTML; '-' is stdin.")
@carrier_options
@click.option(
    "--har",
    metavar="FILE",
    help="A HAR file that a browser exported: an answer for each document in it. With a URL, for "
    "that one alone.",
)
@click.option(
    "--robots-url",
    metavar="URL",
    help="Where the robots.txt is from. It governs that origin and no other. Without this, it is "
    "taken to be of the URL's origin, or of that of the first document of --har.",
)
@click.option(
    "--tdmrep", metavar="FILE", help="The /.well-known/tdmrep.json of the same origin, saved."
)
@click.option(
    "--app",
    "application",
    metavar="NAME",
    help="An application that App-Directives may address, such as examplesearch; case matters.",
)
@fetching_tag_profile_option
@json_option("Print one JSON object for each URL; docs/guidance.schema.json describes it.")
@client_options()
def guidance(
    url: str | None,
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    page: str | None,
    headers: tuple[str, ...],
    response: str | None,
    dom: str | None,
    har: str | None,
    robots_url: str | None,
    tdmrep: str | None,
    application: str | None,
    profile: str,
    as_json: bool,
    opening: Opening,
) -> int:
    """
    Give one answer over all carriers.

    May the URL be crawled, indexed, shown as a snippet, used to train AI? Reads robots.txt,
    headers, meta elements, Content-Usage, App-Directives and TDM reservations, and shows where each
    answer comes from. With a URL alone, its robots.txt is fetched, and then the page, if the rules
    allow that; where you pass files, nothing is fetched. Where the robots.txt disallows the URL,
    the tags of its page are unknown, for nobody reads them. What is said are requests, and no form
    of access authorization. The exit code is 1 if crawling is disallowed, for any document, and
    else 0.

    \b
    Examples:
      robotrules guidance https://example.com/a --as ExampleBot
      robotrules guidance https://example.com/a --as ExampleBot --robots robots.txt --page a.html
      robotrules guidance https://example.com/a --as ExampleBot --robots robots.txt \\
        --response saved.http --tdmrep tdmrep.json --json
      robotrules guidance --har example.har --as ExampleBot --robots robots.txt
    """
    about_page = [one for one in (page, response, dom) if one] + list(headers)
    if url is None and har is None:
        raise CliError("no URL was given: pass one, such as https://example.com/a, or --har FILE")
    if har is not None and about_page:
        raise CliError("a HAR file has headers and pages of its own: leave out the others")
    if page is not None and response is not None:
        raise CliError("--response has the page as well: leave out --page")
    live = not (about_page or har or robots or tdmrep)
    refuse_stdin_twice(robots, page, response, dom, har, tdmrep)
    access, profile = profile, parsing_profile(profile, fetches=live)
    beside = robots_profile(profile)
    asked = _Asked(
        given_crawler(product_tokens, beside, literal=literal),
        given_purposes(purposes, beside),
        None if robots is None else given_robots(robots, beside),
        None if tdmrep is None else given_tdmrep(tdmrep),
        _given_application(application),
        profile,
        None if robots_url is None else _given_origin(robots_url),
    )
    if live:
        if robots_url is not None:
            raise CliError(
                "--robots-url is about a file: pass it with --robots FILE, or leave it out"
            )
        access = access if access in ACCESS_ONLY else beside
        return _about_live(asked, url or "", opening, access, as_json)
    opening.hint_unused()
    if asked.robots is not None:
        say_notes(asked.robots.notes, robots or "")
    if har is not None:
        return _about_har(asked, har, url, as_json)
    address = given_urls([url or ""], beside)[0]
    asked = asked.of_origin(origin_of(address))
    with ExitStack() as opened:
        saved = given_response(response) if response is not None else None
        found = asked.about(
            address,
            headers=with_headers(saved.fields if saved else None, given_headers(headers)),
            html=given_page(page, opened) if page is not None else saved.body if saved else None,
            dom=None if dom is None else given_page(dom, opened, "the DOM"),
            saved=saved,
        )
    output = Output()
    if as_json:
        output.json(asked.as_dict(found))
    else:
        output.lines(list(GuidancePage(found, output).lines()))
    output.flush()
    return int(found.guidance.may_crawl is False)


def _about_live(asked: _Asked, url: str, opening: Opening, access: str, as_json: bool) -> int:
    """Answer for a URL after its robots.txt and its page were fetched."""
    from robotrules.client.pages import make_guidance

    url = url.strip()
    refuse_paths([url])
    who = asked.crawler.names, asked.purposes
    # Groups for '*' are for this command too, whatever the crawler makes of them.
    polite = CrawlerNames(who[0]) if isinstance(who[0], CrawlerNames) else who[0]
    with opening.client(access) as client:
        first = client.refresh(url) if opening.fresh else client.lookup(url)
        page = client.fetch(url, polite, asked.purposes)
    if (
        first is not None
        and page.origin_state is not None
        and page.origin_state.origin == first.origin
    ):
        page = page._replace(origin_state=page.origin_state._replace(source=first.source))
    if page.origin_state is None and not page.hops:
        raise CliError(f"{quoted(url)} has no robots.txt: pass an http or https URL with a host")
    visit = page.origin_state.fetch_record if page.origin_state else None
    if AccessTrouble.REFUSED in (page.failure_reason, visit.failure_reason if visit else None):
        hint_private(host_of(page.url))
    find = partial(make_guidance, page, *who, application=asked.application, profile=asked.profile)
    try:
        found = find()
    except MissingExtraError:
        warn_html_unread()
        found = find(html=False)
    if asked.crawler.known is not None and page.origin_state is not None:
        found = found._replace(verdict=page.origin_state.check(page.url, *who))
    if page.origin_state is not None and page.origin_state.policy is EffectivePolicy.RULES:
        say_notes(page.origin_state.robots.notes, page.origin_state.origin)
    output = Output()
    answer = GuidanceReport(found, asked.profile, None, None, page)
    if as_json:
        output.json(asked.of_origin(page.origin_state and page.origin_state.origin).as_dict(answer))
    else:
        output.lines(list(GuidancePage(answer, output).lines()))
    output.flush()
    return int(not found.verdict)


def _about_har(asked: _Asked, name: str, url: str | None, as_json: bool) -> int:
    """Answer for each document of a HAR file, or for those of one URL."""
    documents = given_har(name)
    if url is not None:
        wanted = url.strip().partition("#")[0]
        documents = [one for one in documents if (one.url or "").partition("#")[0] == wanted]
        if not documents:
            raise CliError(
                f"no document of the HAR file has the URL {quoted(url)}: leave it out to see them "
                "all"
            )
    origins = (origin_of(saved.url or "") for saved in documents)
    governing = asked.of_origin(next(filter(None, origins), None))
    elsewhere = sum(not governing.governs(to_octets(saved.url or "")) for saved in documents)
    if elsewhere and asked.robots is not None and asked.origin is None:
        say(
            f"the robots.txt is taken to be of {visible(governing.origin or '')}, the origin of "
            f"the first document, and says nothing about {plural(elsewhere, 'document')} of "
            "others; --robots-url says where it is from",
            label="hint",
            style="warning",
        )
    output = Output()
    many: list[GuidanceReport] = []
    for saved in documents:
        address = to_octets(saved.url or "")
        many.append(governing.about(address, headers=saved.fields, html=saved.body, saved=saved))
        if as_json:
            output.json(governing.as_dict(many[-1]))
    if not as_json:
        output.lines(list(GuidanceRows(many, output).lines()))
    output.flush()
    return int(any(found.guidance.may_crawl is False for found in many))


def _given_application(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        directives_for(robotrules.parse(b""), name)
    except ValueError:
        raise CliError(
            f"{quoted(name)} is no application identifier: pass a Token (RFC 9651 §3.3.4), which "
            "starts with a letter or '*' and has no spaces, such as examplesearch"
        ) from None
    return name


# --- What is asked with ---------------------------------------------------------------------------


class _Asked(NamedTuple):
    """Who asks, with all that holds for more than one page."""

    crawler: GivenCrawler
    purposes: tuple[str, ...]
    robots: RobotsTxt | None
    tdmrep: bytes | None
    application: str | None
    profile: str
    origin: str | None
    """What robots.txt and tdmrep.json govern, and no other (RFC 9309 §2.3); None: all."""

    def of_origin(self, origin: str | None) -> _Asked:
        """Return it with this origin, if none was told."""
        return self if self.origin is not None else self._replace(origin=origin)

    def governs(self, url: bytes) -> bool:
        """Tell whether a robots.txt of the origin is about a URL; a path is always of it."""
        return self.origin is None or url.startswith(b"/") or origin_of(url) == self.origin

    def about(
        self,
        url: bytes,
        *,
        headers: object = None,
        html: Any = None,
        dom: Any = None,
        saved: SavedResponse | None = None,
    ) -> GuidanceReport:
        """Ask about a URL."""
        governed = self.governs(url)
        with html_libraries():
            found = find_guidance(
                url,
                self.crawler.names,
                robots=self.robots if governed else None,
                tdmrep=self.tdmrep if governed else None,
                headers=headers,
                html=html,
                complete=saved is None or html is not saved.body or saved.complete,
                dom=dom,
                purposes=self.purposes,
                application=self.application,
                profile=self.profile,
            )
        if saved is not None and saved.notes:
            found = found._replace(notes=(*saved.notes, *found.notes))
        elsewhere = None if governed or self.robots is None else self.origin
        return GuidanceReport(found, self.profile, saved, elsewhere)

    def as_dict(self, found: GuidanceReport) -> dict[str, Any]:
        """Return an answer as `docs/guidance.schema.json` describes it."""
        page = found.fetched
        per_origin = self.robots is not None or self.tdmrep is not None or page is not None
        status = found.saved.status if found.saved else None
        return {
            **found.guidance.as_dict(),
            "status": status if page is None else page.status,
            "robots_origin": self.origin if per_origin else None,
            "access": None if page is None else _access(page),
            "known": self.crawler.known_dict,
        }


def _access(page: FetchResult) -> dict[str, Any]:
    """Return how a page and its robots.txt were got."""
    held = page.origin_state
    failed = held.entry.last_failure if held else None
    return {
        "hops": [hop._asdict() for hop in page.hops],
        "failure_reason": str(page.failure_reason) if page.failure_reason else None,
        "robots_state": str(held.state) if held else None,
        "robots_source": str(held.source) if held else None,
        "robots_until": format_timestamp(held.until) if held else None,
        "robots_failed_at": format_timestamp(failed.at) if failed else None,
        "robots_failure": answer_words(failed) if failed else None,
    }


# --- Origins --------------------------------------------------------------------------------------

# Scheme and authority (RFC 3986 §3); user information is no part of an origin.
_ORIGIN = re.compile(
    r"(https?)://(?:[^/?#\\@]*@)?(\[[^]/?#\\@]*\]|[^:/?#\\@]+)(?::([0-9]*))?(?=[/?#\\]|\Z)", re.I
)
_PORTS = {"http": "80", "https": "443"}


def origin_of(url: str | bytes) -> str | None:
    """Return the origin of a URL as RFC 9309 §2.3 means it; None: it has none, as a path has."""
    found = _ORIGIN.match(to_text(to_octets(url)))
    if not found:
        return None
    scheme, port = found[1].lower(), found[3]
    beside = f":{port}" if port and port != _PORTS[scheme] else ""
    return f"{scheme}://{found[2].lower()}{beside}"


def _given_origin(url: str) -> str:
    origin = origin_of(url.strip())
    if origin is None:
        raise CliError(
            f"{quoted(url)} has no origin: pass where the robots.txt is from, such as "
            "--robots-url https://example.com/robots.txt"
        )
    return origin
