"""
Verbs: parse and lint a robots.txt, read tags and guidance of a page, and URLs of a pasted list.

Nothing is fetched: pages and responses are in the request.

Sections: robots.txt · pages · lists of URLs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

import msgspec
from msgspec import Meta

from robotrules.errors import CheckError, SavedResponseError
from robotrules.extensions.app_directives import directives_for
from robotrules.http.origins import origin_of as web_origin_of
from robotrules.json_results.binary_files import describe_binary
from robotrules.json_results.guidance import GuidanceQuery, GuidanceReport, origin_of
from robotrules.json_results.lint import notes_on
from robotrules.json_results.parse import SECTIONS, parse_values
from robotrules.json_results.tags import (
    join_fields,
    robots_profile,
    split_header,
    tags_values,
    with_saved_notes,
)
from robotrules.json_results.urls import urls_values
from robotrules.linting import LEVELS, MAX_STATES, select_checks
from robotrules.linting.render import STDIN, LintedFile
from robotrules.linting.render.json_form import as_json
from robotrules.octets import visible
from robotrules.robotstxt import parse as parse_robots
from robotrules.service.problems import Problem
from robotrules.service.schemas import (
    Purposes,
    RequestBody,
    RobotsInput,
    Tokens,
    crawler_of,
    octets_of,
    purposes_of,
    shown,
)
from robotrules.service.settings import CURRENT_LIMITS
from robotrules.service.verbs import Verb
from robotrules.service.verbs.deciding import WHITE_SPACE
from robotrules.tags import Fields, read_fields, usage_rules
from robotrules.tags.known_rules import EVERYONE
from robotrules.tags.saved_responses import SavedResponse, read_response

# Names of checks, and of header lines.
MOST_NAMES = 200
LONGEST_NAME = 1_000
MOST_HEADERS = 1_000
# A greater number only makes the time limit end the work.
MOST_STATES = 1_000_000

TagProfileName = Literal["default", "strict", "google", "bing", "apple", "yandex"]
Level = Literal["error", "warning", "info"]
CheckNames = Annotated[
    list[Annotated[str, Meta(max_length=LONGEST_NAME)]], Meta(max_length=MOST_NAMES)
]


# --- robots.txt -----------------------------------------------------------------------------------


class ParseRequest(RobotsInput, kw_only=True):
    """The body of parse: if no section is chosen, the answer has all."""

    lines: Annotated[bool, Meta(description="The lines and how each was read.")] = False
    groups: Annotated[bool, Meta(description="The groups.")] = False
    records: Annotated[bool, Meta(description="The records with their positions.")] = False
    notes: Annotated[bool, Meta(description="Notes on what was tolerated or ignored.")] = False


def parse(request: ParseRequest) -> object:
    """Return how a file is parsed, line by line."""
    chosen = [name for name in SECTIONS if getattr(request, name)]
    return parse_values(request.parsed(), request.octets, chosen or SECTIONS)


class LintRequest(RobotsInput, kw_only=True):
    """The body of lint."""

    select: Annotated[
        CheckNames,
        Meta(
            description="Run only these checks: codes, prefixes of codes, or names.",
            examples=[["RR5", "bom"]],
        ),
    ] = msgspec.field(default_factory=list)
    ignore: Annotated[CheckNames, Meta(description="Skip these checks, named likewise.")] = (
        msgspec.field(default_factory=list)
    )
    min_level: Annotated[Level, Meta(description="Ignore notes below this level.")] = "info"
    max_states: Annotated[
        int, Meta(description="The state limit of the search for each proof.", ge=1, le=MOST_STATES)
    ] = MAX_STATES
    url: Annotated[
        str | None,
        Meta(
            description="The URL at which the file is served, for checks that need it.",
            examples=["https://example.com/robots.txt"],
        ),
    ] = None


def lint(request: LintRequest) -> object:
    """Return the notes on a file."""
    try:
        select_checks(request.select, request.ignore)
    except CheckError as error:
        words = str(error)
        raise Problem("invalid-request", visible(words), at=f"$.{words.split()[0]}") from None
    url = request.url
    if url is not None and web_origin_of(url) is None:
        words = f"{shown(url)} has no origin: pass an http or https URL with a host"
        raise Problem("invalid-request", words, at="$.url")
    where = STDIN.encode()
    if words := describe_binary(request.octets):
        return as_json([LintedFile(where, is_file=False, error=f"{STDIN} {words}")])
    robots = request.parsed()
    notes = notes_on(
        robots,
        select=request.select,
        ignore=request.ignore,
        url=url,
        max_states=request.max_states,
    )
    levels = LEVELS[: LEVELS.index(request.min_level) + 1]
    kept = tuple(note for note in notes if note.level in levels)
    return as_json([LintedFile(where, is_file=False, notes=kept, body=robots.body)])


# --- Pages ----------------------------------------------------------------------------------------

Headers = Annotated[
    list[str],
    Meta(
        description="Header lines of the response; added to those of `response`.",
        examples=[["Robots-Tag: *;noindex"]],
        max_length=MOST_HEADERS,
    ),
]
Html = Annotated[
    str | None, Meta(description="The initial HTML.", examples=["<meta name=robots content=none>"])
]
Dom = Annotated[str | None, Meta(description="The final DOM as HTML, after scripts ran.")]
SavedText = Annotated[
    str | None,
    Meta(description="A saved response with headers and body, as written by `curl -i`."),
]
TagProfile = Annotated[
    TagProfileName, Meta(description="How to parse what the specifications leave open.")
]


class _PageInput(Protocol):
    """The fields of a body that are about a page."""

    html: str | None
    dom: str | None
    headers: list[str]
    response: str | None


class TagsRequest(RequestBody, kw_only=True):
    """The body of tags: at least one of html, dom, headers and response."""

    html: Html = None
    dom: Dom = None
    headers: Headers = msgspec.field(default_factory=list)
    response: SavedText = None
    as_: Tokens | None = msgspec.field(name="as", default=None)
    url: Annotated[
        str | None,
        Meta(description="The URL of the response; with https it was received over TLS."),
    ] = None
    profile: TagProfile = "default"


class GuidanceRequest(RequestBody, kw_only=True):
    """The body of guidance: a URL, a crawler, and what is known about the page and its origin."""

    url: Annotated[str, Meta(description="A URL.", examples=["https://example.com/a"])]
    as_: Tokens = msgspec.field(name="as")
    purpose: Purposes = msgspec.field(default_factory=list)
    literal: Annotated[
        bool, Meta(description="Select groups without the registry of well-known crawlers.")
    ] = False
    robots: Annotated[str | None, Meta(description="The robots.txt as text.")] = None
    robots_base64: Annotated[
        bytes | None, Meta(description="The robots.txt as base64, where its bytes matter.")
    ] = None
    robots_url: Annotated[
        str | None,
        Meta(
            description="The URL of the robots.txt, which applies to that origin only. Defaults to "
            "the origin of the URL."
        ),
    ] = None
    html: Html = None
    dom: Dom = None
    headers: Headers = msgspec.field(default_factory=list)
    response: SavedText = None
    tdmrep: Annotated[
        str | None, Meta(description="The /.well-known/tdmrep.json of the same origin.")
    ] = None
    app: Annotated[
        str | None,
        Meta(
            description="An application identifier of App-Directives; case-sensitive.",
            examples=["examplesearch"],
        ),
    ] = None
    profile: TagProfile = "default"


def tags(request: TagsRequest) -> object:
    """Return the tag rules in force for a crawler, or for all crawlers."""
    if request.html is request.dom is request.response is None and not request.headers:
        words = "pass html, dom, headers or response"
        raise Problem("invalid-request", words, at="$.html")
    crawler: str | Sequence[str] = EVERYONE
    if request.as_ is not None:
        # The registry is about robots.txt: it does not say which tags a crawler obeys.
        profile = robots_profile(request.profile)
        crawler = crawler_of(request.as_, profile, literal=True).names
    saved, fields, html = _page(request)
    url = request.url.strip(WHITE_SPACE).encode("utf-8", "replace") if request.url else None
    rules = usage_rules(
        headers=fields,
        html=html,
        complete=saved is None or html is not saved.body or saved.complete,
        dom=request.dom,
        product_token=crawler,
        url=url,
        profile=request.profile,
    )
    status = saved.status if saved else None
    return tags_values(
        with_saved_notes(rules, saved), url=url, profile=request.profile, status=status
    )


def guidance(request: GuidanceRequest) -> object:
    """Return the combined answer of all carriers about a URL."""
    query = guidance_query(request)
    saved, fields, html = _page(request)
    found: GuidanceReport = query.about(
        request.url.strip(WHITE_SPACE).encode("utf-8", "replace"),
        headers=fields,
        html=html,
        dom=request.dom,
        saved=saved,
    )
    return query.as_dict(found)


def guidance_query(request: GuidanceRequest) -> GuidanceQuery:
    """Return the crawler and the inputs that do not belong to the page."""
    profile = robots_profile(request.profile)
    robots = None
    if request.robots is not None or request.robots_base64 is not None:
        octets = octets_of(request.robots, request.robots_base64, "robots")
        robots = parse_robots(octets, profile)
    if request.app is not None:
        _vet_application(request.app)
    origin = origin_of(request.url.strip(WHITE_SPACE))
    if request.robots_url is not None:
        origin = origin_of(request.robots_url.strip())
        if origin is None:
            words = f"{shown(request.robots_url)} has no origin: pass the URL of the robots.txt"
            raise Problem("invalid-request", words, at="$.robots_url")
    names = [request.as_] if isinstance(request.as_, str) else request.as_ or []
    if not all(names):
        # Profile google reads an empty name as '*'; the tags of a page do not.
        raise Problem("invalid-request", "an empty product token: pass a name, or '*'", at="$.as")
    return GuidanceQuery(
        crawler_of(request.as_, profile, literal=request.literal),
        purposes_of(request.purpose, profile),
        robots,
        None if request.tdmrep is None else request.tdmrep.encode("utf-8", "replace"),
        request.app,
        request.profile,
        origin,
    )


def _vet_application(name: str) -> None:
    try:
        directives_for(parse_robots(b""), name)
    except ValueError:
        raise Problem(
            "invalid-request",
            f"{shown(name)} is not an application identifier: pass a Token (RFC 9651 §3.3.4), "
            "which starts with a letter or '*' and has no spaces, such as examplesearch",
            at="$.app",
        ) from None


def _page(
    request: _PageInput,
) -> tuple[SavedResponse | None, Fields | None, str | bytes | None]:
    """Return the saved response, all header fields, and the initial HTML."""
    if request.html is not None and request.response is not None:
        words = "response includes the page: leave out html"
        raise Problem("invalid-request", words, at="$.html")
    for name, html in (("html", request.html), ("dom", request.dom)):
        if html is not None and html[:1024].lstrip().startswith("HTTP/"):
            words = f"{name} is a saved response: pass it in response"
            raise Problem("invalid-request", words, at=f"$.{name}")
    fields = _fields(request.headers)
    if request.response is None:
        return None, fields, request.html
    try:
        saved = read_response(request.response.encode("utf-8", "replace"))
    except SavedResponseError as error:
        words = f"response cannot be read: {visible(str(error))}"
        raise Problem("invalid-request", words, at="$.response") from None
    return saved, join_fields((saved.fields, fields)), saved.body


def _fields(lines: Sequence[str]) -> Fields | None:
    """Return header lines as fields; None if there are none."""
    pairs = []
    for number, line in enumerate(lines):
        pair = split_header(line.encode("utf-8", "replace"))
        if pair is None:
            raise Problem(
                "invalid-request",
                f"{shown(line)} is not a header line: pass a name, ':' and a value, such as "
                "'Robots-Tag: *;noindex'",
                at=f"$.headers[{number}]",
            )
        pairs.append(pair)
    return read_fields(pairs) if pairs else None


# --- Lists of URLs --------------------------------------------------------------------------------


class UrlsRequest(RequestBody, kw_only=True):
    """The body of urls: a list of URLs, an access log, JSON lines, CSV or a sitemap."""

    text: Annotated[str | None, Meta(description="The list as text.", examples=["/a\n/b\n"])] = None
    base64: Annotated[
        bytes | None, Meta(description="The list as base64, if it is compressed or not UTF-8.")
    ] = None


def urls(request: UrlsRequest) -> object:
    """Return the URLs of a list, and what was skipped."""
    octets = octets_of(request.text, request.base64, "text")
    return urls_values(octets, CURRENT_LIMITS.get().max_urls)


# --- All ------------------------------------------------------------------------------------------

_ROBOTS = "User-agent: *\nDisallow: /private\n"


VERBS: tuple[Verb, ...] = (
    Verb(
        "/v1/parse",
        "Show how a robots.txt is parsed, line by line",
        ParseRequest,
        parse,
        {"robots": _ROBOTS},
        "parse",
        command="parse",
        # Linear, but the answer of a large file has a hundred times its size.
        heavy=True,
    ),
    Verb(
        "/v1/lint",
        "Find problems in a robots.txt",
        LintRequest,
        lint,
        {"robots": "User-agent: *\nDisalow: /private\n"},
        "lint",
        command="lint",
        heavy=True,
    ),
    Verb(
        "/v1/tags",
        "Show the tag rules of a page and its headers",
        TagsRequest,
        tags,
        {"html": '<meta name="robots" content="noindex">', "headers": ["Robots-Tag: *;nosnippet"]},
        "tags",
        inline=1024,
        command="tags",
    ),
    Verb(
        "/v1/guidance",
        "Combine robots.txt, headers and page into one answer",
        GuidanceRequest,
        guidance,
        {
            "url": "https://example.com/a",
            "as": "ExampleBot",
            "robots": _ROBOTS,
            "headers": ["Robots-Tag: *;noindex"],
        },
        "guidance",
        inline=1024,
        command="guidance",
    ),
    Verb(
        "/v1/urls",
        "Read the URLs of a list, an access log, CSV or a sitemap",
        UrlsRequest,
        urls,
        {"text": "https://example.com/a\nhttps://example.com/b\n"},
        "urls",
        # Compressed lists expand.
        heavy=True,
    ),
)
