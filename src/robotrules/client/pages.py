"""
Pages: fetching any URL at the rate limit of its origin, with the rules checked at each redirect.

A redirect to a URL that its robots.txt disallows is not followed: crawlers that check only the
first URL get this wrong. The flow is a generator, driven by `sync` and `aio`; `make_guidance()`
combines its result with all carriers. HTML is not parsed here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from robotrules.access import Failure, Hop, Request, Response, parse_location, resolve_location
from robotrules.access.values import FailureReason
from robotrules.client.origin_state import OriginState
from robotrules.guide import Guidance, guidance
from robotrules.http.fields import NO_FIELDS, Fields, Headers, read_fields
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.verdict import Reason, Verdict

# As much as the HTML readers use (docs/tags.md), and more than any head has.
MAX_BYTES = 2 * 1024 * 1024
# No more than browsers follow. The limit of §2.3.1.2 applies to robots.txt files, not to pages.
MAX_REDIRECTS = 10
_FOLLOWED = frozenset((301, 302, 303, 307, 308))


class LookUpState(NamedTuple):
    """Effect: look up the state of the origin of a URL."""

    url: str


class SendInSlot(NamedTuple):
    """Effect: send a request in the next slot of its origin."""

    request: Request
    state: OriginState
    allows: Callable[[OriginState], bool]
    """Whether to send it, given the state when the slot begins."""


class PageResponse(NamedTuple):
    """The outcome of `SendInSlot`."""

    response: Response | Failure | None
    """None: the rules were refreshed during the wait, and now disallow the URL."""
    at: float
    state: OriginState
    """The state when the slot began."""


Effect = LookUpState | SendInSlot


class FetchResult(NamedTuple):
    """A page, or why there is none."""

    url: str
    """The URL requested last, or the one that was not requested."""
    verdict: Verdict
    """On that URL. Disallowed means that it was not fetched, unless the caller owns the site."""
    origin_state: OriginState | None
    """The state that decided; None: the URL has no origin."""
    status: int | None = None
    fields: Fields = NO_FIELDS
    body: bytes = b""
    complete: bool = True
    hops: tuple[Hop, ...] = ()
    failure_reason: FailureReason | None = None
    detail: str = ""
    address: str | None = None
    at: float = 0.0
    """When the response was received; 0 if there is none."""

    @property
    def headers(self) -> Headers:
        """The header fields as a mapping; `headers.get_list(name)` keeps lines separate."""
        return Headers(self.fields)

    @property
    def ok(self) -> bool:
        """Whether there is a page: a status of 200 to 299."""
        return self.status is not None and 200 <= self.status < 300

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, without the body."""
        return {
            "url": self.url,
            "verdict": self.verdict.as_dict(),
            "access": self.origin_state.as_dict() if self.origin_state else None,
            "status": self.status,
            "fields": self.fields.as_dict()["lines"],
            "octets": len(self.body),
            "complete": self.complete,
            "hops": [hop._asdict() for hop in self.hops],
            "failure_reason": str(self.failure_reason) if self.failure_reason else None,
            "detail": self.detail,
            "address": self.address,
        }


def fetch_page(
    url: str,
    tokens: Tokens,
    purposes: Sequence[str],
    *,
    profile: str,
    limit: int,
    timeout: float,
    ignore_disallow: bool = False,
    others: Sequence[tuple[Tokens, Sequence[str]]] = (),
) -> Generator[Effect, Any, FetchResult]:
    """
    Fetch a page: yields effects, returns the page.

    *ignore_disallow*: for the owner of the site, who may fetch what it disallows to others.
    *others*: crawlers for which the page is fetched too, so that it is enough if one of them may.
    """
    crawlers = ((tokens, purposes), *others)

    def allows(state: OriginState) -> bool:
        """Return whether the next URL may be requested."""
        return ignore_disallow or any(state.check(url, *one).allowed for one in crawlers)

    hops: tuple[Hop, ...] = ()
    seen = {url}
    while True:
        state: OriginState | None = yield LookUpState(url)
        if state is None:
            return FetchResult(
                url, Verdict(False, Reason.NO_ORIGIN, None, profile), None, hops=hops
            )
        if not allows(state):
            return _not_requested(url, state, tokens, purposes, hops)
        sent: PageResponse = yield SendInSlot(Request(url, (), limit, timeout), state, allows)
        response, at, state = sent
        # The slot may have begun hours later: the state before it may have expired.
        if response is None:
            return _not_requested(url, state, tokens, purposes, hops)
        page = FetchResult(url, state.check(url, tokens, purposes), state, hops=hops)
        if isinstance(response, Failure):
            return page._replace(failure_reason=response.reason, detail=response.detail)
        fields = read_fields(response.headers)
        page = page._replace(
            status=response.status,
            fields=fields,
            body=response.body,
            complete=response.complete,
            address=response.address,
            at=at,
        )
        if response.status not in _FOLLOWED:
            return page
        location = parse_location(fields)
        hops = (*hops, Hop(url, response.status, location))
        page = page._replace(hops=hops)
        target = resolve_location(url, location)
        if target is None:
            return page._replace(
                failure_reason=FailureReason.LOCATION, detail=FailureReason.LOCATION.sentence
            )
        if target in seen or len(hops) > MAX_REDIRECTS:
            reason = FailureReason.LOOP if target in seen else FailureReason.REDIRECTS
            return page._replace(failure_reason=reason, detail=reason.sentence)
        seen.add(target)
        url = target


def _not_requested(
    url: str, state: OriginState, tokens: Tokens, purposes: Sequence[str], hops: tuple[Hop, ...]
) -> FetchResult:
    """Return the result for a page that is not requested, with the reason."""
    verdict = state.check(url, tokens, purposes)
    page = FetchResult(url, verdict, state, hops=hops)
    bad = state.entry.last_failure
    if verdict.reason is Reason.UNREACHABLE and bad is not None:
        return page._replace(failure_reason=bad.failure_reason, detail=f"robots.txt: {bad.detail}")
    return page


def make_guidance(
    page: FetchResult,
    tokens: Tokens,
    purposes: Sequence[str],
    *,
    application: str | None,
    profile: str,
    registries: Registries = SHIPPED,
    html: bool = True,
) -> Guidance:
    """Return the guidance of all carriers for the last URL; *html*: include its content."""
    given = page.ok
    result = guidance(
        page.url,
        tokens,
        robots=page.origin_state.robots if page.origin_state else None,
        headers=page.fields if given else None,
        html=page.body if given and html else None,
        complete=page.complete and (html or not given),
        purposes=purposes,
        application=application,
        profile=profile,
        received=datetime.fromtimestamp(page.at, UTC) if given else None,
        registries=registries,
    )
    # If no rules apply, the reason of the verdict is how the file was fetched.
    return result._replace(verdict=page.verdict)
