"""
Questions: the crawler, the profile and the URL of a request, from its query string or its body.

The parameters of a query string are those of the command line: `as` and `purpose` may be repeated.
An unknown parameter is a problem: it is a typing error, or the rest of a URL that was not
percent-encoded, and an answer about another URL could be "allowed" where the right one is not.

Sections: crawlers · query strings · URLs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import Meta

from robotrules.errors import MissingExtraError, ProductTokenError
from robotrules.http.origins import origin_of
from robotrules.json_results.crawlers import CrawlerChoice, choose_crawler
from robotrules.profile import PROFILES
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.tokens import product_token
from robotrules.service.live.fetching import Fetching
from robotrules.service.problems import Problem
from robotrules.service.schemas import RequestBody, Token

FetchingProfile = Literal["default", "strict", "google", "stale"]
PROFILE_NAMES: tuple[str, ...] = get_args(FetchingProfile)
# As long as the longest that servers accept; the client follows no longer redirects.
MAX_URL = 8 * 1024
# Names of one crawler, and purposes.
MAX_NAMES = 16
MAX_NAME = 1_000
# Crawlers that are kept with their rules, and the characters of their names and purposes; when
# there are more, all are dropped.
MAX_CRAWLERS = 1_024
MAX_LETTERS = 1_000_000
# A character that no URL has: a URL with one was not encoded, and its meaning is not clear.
_NOT_IN_URL = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")
# Browsers and Node take a backslash before the query as a slash (https://url.spec.whatwg.org/), so
# they would request another path than the one that was checked.
_BACKSLASH = re.compile(r"[^?#]*\\")

UrlText = Annotated[
    str,
    Meta(
        description="An http or https URL.",
        examples=["https://example.com/a"],
        max_length=MAX_URL,
    ),
]
Names = Annotated[
    str | Annotated[list[Token], Meta(min_length=1)] | None,
    Meta(
        description="The crawler's product token, or several, the preferred one first. Defaults to "
        "that of the User-Agent of the service, if it has one.",
        examples=["ExampleBot"],
    ),
]
Purposes = Annotated[
    list[Token],
    Meta(description="Purposes of the crawler, such as EXAMPLE-PURPOSE-1.", max_length=MAX_NAMES),
]


class WhoInput(RequestBody, kw_only=True):
    """The crawler that a question is about."""

    as_: Names = msgspec.field(name="as", default=None)
    purpose: Purposes = msgspec.field(default_factory=list)
    literal: Annotated[
        bool, Meta(description="Select groups without the registry of well-known crawlers.")
    ] = False
    profile: Annotated[
        FetchingProfile | None,
        Meta(
            description="How to parse what RFC 9309 leaves open; 'stale' uses an old copy while "
            "the file is unreachable. Defaults to the profile of the service."
        ),
    ] = None


# --- Crawlers -------------------------------------------------------------------------------------


class QuestionedCrawler:
    """The crawler of a question, and the profile to answer with."""

    __slots__ = ("answers", "choice", "given_purposes", "names", "profile", "purposes")

    def __init__(
        self, choice: CrawlerChoice, given_purposes: tuple[str, ...], profile: str
    ) -> None:
        self.choice = choice
        self.names: Tokens = choice.names
        """The product tokens whose rules apply: one, several, or those of a well-known crawler."""
        self.given_purposes = given_purposes
        self.profile = profile
        """The profile of the client."""
        reads = PROFILES[parsing_profile(profile)].reads_purposes()
        self.purposes = given_purposes if reads else ()
        """The purposes that have an effect."""
        self.answers: dict[str, Any] = {}
        """What `checks` keeps for each origin."""


def parsing_profile(profile: str) -> str:
    """Return the profile that files are parsed with: `stale` concerns fetching alone."""
    return profile if profile in PROFILES else "default"


class Crawlers:
    """Makes crawlers from names, and keeps them, so that their rules are selected once."""

    def __init__(self, fetching: Fetching) -> None:
        self._default = fetching.product_token
        self._profile = fetching.profile
        self._kept: dict[tuple[Any, ...], QuestionedCrawler] = {}
        self._letters = 0
        self.by_query: dict[bytes, QuestionedCrawler] = {}
        """Crawlers by a part of a query string: see `CheckQueries`."""

    def find(
        self,
        names: Sequence[str],
        purposes: Sequence[str] = (),
        *,
        literal: bool = False,
        profile: str | None = None,
    ) -> QuestionedCrawler:
        """Return a crawler; without names, that of the User-Agent of the service."""
        key = (*names, None, *purposes, None, literal, profile)
        crawler = self._kept.get(key)
        if crawler is None:
            crawler = self._make(tuple(names), tuple(purposes), literal, profile or self._profile)
            self._letters += sum(map(len, names)) + sum(map(len, purposes))
            if len(self._kept) >= MAX_CRAWLERS or self._letters > MAX_LETTERS:
                self._kept.clear()
                self.by_query.clear()
                self._letters = 0
            self._kept[key] = crawler
        return crawler

    def find_given(self, given: WhoInput) -> QuestionedCrawler:
        """Return the crawler of a body."""
        names = [given.as_] if isinstance(given.as_, str) else given.as_ or []
        return self.find(names, given.purpose, literal=given.literal, profile=given.profile)

    def _make(
        self, names: tuple[str, ...], purposes: tuple[str, ...], literal: bool, profile: str
    ) -> QuestionedCrawler:
        if not names:
            if self._default is None:
                raise Problem(
                    "invalid-request",
                    "missing as: pass the crawler's product token, such as as=ExampleBot, or start "
                    "the service with --user-agent",
                    at="as",
                )
            names = (self._default,)
        if max(len(names), len(purposes)) > MAX_NAMES:
            raise Problem("invalid-request", f"pass at most {MAX_NAMES} names", at="as")
        if not all(purpose.strip() and len(purpose) <= MAX_NAME for purpose in purposes):
            raise Problem(
                "invalid-request", "pass a purpose of 1 to 1,000 characters", at="purpose"
            )
        if not all(names):
            # Profile google reads an empty name as '*'; the tags of a page do not.
            raise Problem("invalid-request", "an empty product token: pass a name, or '*'", at="as")
        if any(len(name) > MAX_NAME for name in names):
            raise Problem("invalid-request", "pass a shorter product token", at="as")
        try:
            choice = choose_crawler(names, parsing_profile(profile), literal=literal)
        except ProductTokenError:
            raise _token_problem(names) from None
        return QuestionedCrawler(choice, purposes, profile)


def _token_problem(names: Sequence[str]) -> Problem:
    """Return the problem of names of which one is not a product token (AMB-22)."""
    for name in names:
        found = product_token(name)
        if found and found != name:
            detail = f"{name[:80]!r} is not a product token: pass {found}"
            return Problem("invalid-request", detail, at="as")
    shown = ", ".join(repr(name[:80]) for name in names[:3])
    return Problem(
        "invalid-request",
        f"not a product token: {shown}; pass letters, '_' and '-', such as ExampleBot",
        at="as",
    )


# --- Query strings --------------------------------------------------------------------------------


class Query:
    """The parameters of a query string: each with all of its values."""

    __slots__ = ("_values",)

    def __init__(self, raw: bytes, known: frozenset[str]) -> None:
        """*known*: the parameters of the verb."""
        self._values: dict[str, list[str]] = {}
        parts = raw.split(b"&") if raw else []
        for number, part in enumerate(parts, 1):
            name, _, value = part.partition(b"=")
            key = _decode(name, "the query string")
            if key not in known:
                raise Problem(
                    "invalid-request",
                    f"unknown parameter {key[:80]!r}: pass {', '.join(sorted(known))}; "
                    "percent-encode '&' in a URL as %26",
                    at=key[:80],
                )
            if key == "url" and b"?" in value and number < len(parts):
                # What follows may be meant as a part of the URL.
                raise Problem(
                    "invalid-request",
                    "where the URL ends is not clear: percent-encode its '?' as %3F and its '&' as "
                    "%26",
                    at="url",
                )
            self._values.setdefault(key, []).append(_decode(value, key))

    def one(self, name: str) -> str | None:
        """Return the value of a parameter that is passed once at most."""
        values = self._values.get(name)
        if values is None:
            return None
        if len(values) > 1:
            raise Problem("invalid-request", f"pass {name} once", at=name)
        return values[0]

    def all(self, name: str) -> list[str]:
        """Return the values of a parameter that may be repeated."""
        return self._values.get(name, [])

    def url(self) -> str:
        """Return the URL that the question is about."""
        url = self.one("url")
        if url is None:
            raise Problem(
                "invalid-request", "missing url: pass url=https%3A%2F%2Fexample.com%2F", at="url"
            )
        return url

    def options(self) -> tuple[bool, str | None]:
        """Return whether the registry of crawlers is not used, and the profile."""
        literal, profile = self.one("literal") or "false", self.one("profile")
        if literal not in ("true", "false"):
            raise Problem("invalid-request", "pass true or false", at="literal")
        if profile is not None and profile not in PROFILE_NAMES:
            raise Problem("invalid-request", f"pass {', '.join(PROFILE_NAMES)}", at="profile")
        return literal == "true", profile

    def crawler(self, crawlers: Crawlers) -> QuestionedCrawler:
        """Return the crawler that the question is about."""
        literal, profile = self.options()
        return crawlers.find(self.all("as"), self.all("purpose"), literal=literal, profile=profile)


class CheckQueries:
    """
    Reads the query strings of checks. What is beside the URL is the same for many of them.

    Only `url=…&rest` and `rest&url=…` are read here, with a *rest* that `Query` has accepted beside
    a URL, and nothing else. Everything else, such as parameters on both sides, is read by `Query`.
    """

    def __init__(self, crawlers: Crawlers) -> None:
        self._crawlers = crawlers
        self._kept = crawlers.by_query

    def read(self, raw: bytes) -> tuple[str, QuestionedCrawler]:
        """Return the URL and the crawler of a query string."""
        if raw.startswith(b"url="):
            value, _, rest = raw[4:].partition(b"&")
            is_simple = b"?" not in value
        else:
            rest, separator, value = raw.rpartition(b"&url=")
            is_simple = bool(separator) and b"&" not in value
        if is_simple and (crawler := self._kept.get(rest)) is not None:
            return _decode(value, "url"), crawler
        query = Query(raw, ABOUT_URL)
        url, crawler = query.url(), query.crawler(self._crawlers)
        if is_simple and len(rest) <= MAX_NAME:
            if len(self._kept) >= MAX_CRAWLERS:
                self._kept.clear()
            self._kept[rest] = crawler
        return url, crawler


WHO = frozenset(("as", "purpose", "profile", "literal"))
ABOUT_URL = WHO | {"url"}


def _decode(raw: bytes, name: str) -> str:
    """Return a part of a query string as text; forms encode a space as a plus sign."""
    if b"+" in raw:
        raw = raw.replace(b"+", b" ")
    if b"%" in raw:
        # What every URL has first: `unquote_to_bytes` takes more time than the whole check. None of
        # these yields a percent sign, so nothing is decoded twice.
        raw = raw.replace(b"%3A", b":").replace(b"%2F", b"/")
        raw = raw.replace(b"%3F", b"?").replace(b"%3D", b"=")
        if b"%" in raw:
            raw = unquote_to_bytes(raw)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Problem(
            "invalid-request",
            "the value is not UTF-8: percent-encode the percent signs of a URL, too, as %25",
            at=name,
        ) from None


# --- URLs -----------------------------------------------------------------------------------------


def vet_url(url: str, fetching: Fetching) -> str:
    """Return the origin of a URL that this service may fetch from; otherwise raise a problem."""
    if len(url) > MAX_URL:
        raise _refusal(f"the URL has {len(url):,} characters: pass at most {MAX_URL:,}")
    if _NOT_IN_URL.search(url):
        raise _refusal(
            "the URL has a space or a control character: percent-encode it; in a query string, "
            "write '+' as %2B and '%' as %25"
        )
    if _BACKSLASH.match(url):
        raise _refusal(
            "the URL has a backslash, which some HTTP clients send as '/': pass the URL that is "
            "requested, with '/' or with %5C (%255C in a query string)"
        )
    try:
        origin = origin_of(url)
    except MissingExtraError as error:
        raise _refusal(str(error)) from None
    if origin is None:
        raise _refusal("pass an http or https URL with a valid host, such as https://example.com/a")
    if "@" in re.split(r"[/?#\\]", url, maxsplit=3)[2]:
        raise _refusal("the URL has a user name: pass it without everything up to '@'")
    fetching.require_host(origin)
    return origin


def is_unusual(url: str) -> bool:
    """Return whether `vet_url` may refuse the URL of an origin that it has accepted before."""
    # Without a regular expression, because every check passes here. Some letters count as unusual,
    # too, which only costs time.
    return not url.isprintable() or " " in url or "@" in url or "\\" in url or len(url) > MAX_URL


def _refusal(detail: str) -> Problem:
    return Problem("invalid-request", detail, at="url")
