"""
Pages: fetching any URL as politely as a robots.txt, the rules asked again at each redirect.

A page that redirects to what another robots.txt disallows is not followed there: that is what a
crawler that checks only its first URL gets wrong. The flow is a generator, driven by `sync` and
`aio`; `guidance_of()` makes of its end what all carriers say. It knows nothing of HTML.
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

# What readers of HTML look at (docs/tags.md), and more than any head has.
MOST_OCTETS = 2 * 1024 * 1024
# As many as browsers follow, or fewer: pages are not robots.txt files, so §2.3.1.2 is not about
# them.
MOST_REDIRECTS = 10
_FOLLOWED = frozenset((301, 302, 303, 307, 308))


class Look(NamedTuple):
    """What is held of the origin of a URL is needed."""

    url: str


class Paced(NamedTuple):
    """A request that waits for its turn."""

    request: Request
    held: OriginState
    allows: Callable[[OriginState], bool]
    """Whether it is still to be made, by what is held when its turn comes."""


class Sent(NamedTuple):
    """What came of a request whose turn it was."""

    response: Response | Failure | None
    """None: the rules were renewed while it waited, and disallow it now."""
    at: float
    held: OriginState
    """What was held when its turn came."""


Effect = Look | Paced


class FetchResult(NamedTuple):
    """A page, or why there is none."""

    url: str
    """What was asked for last, or would have been."""
    verdict: Verdict
    """On that URL: disallowed means that it was not fetched, unless the site is one's own."""
    origin_state: OriginState | None
    """What decided; None: the URL has no origin."""
    status: int | None = None
    fields: Fields = NO_FIELDS
    body: bytes = b""
    complete: bool = True
    hops: tuple[Hop, ...] = ()
    failure_reason: FailureReason | None = None
    detail: str = ""
    address: str | None = None
    at: float = 0.0
    """When the answer came; 0: there is none."""

    @property
    def headers(self) -> Headers:
        """The fields of the answer as a mapping; `headers.get_list(name)` has lines apart."""
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


def fetching(
    url: str,
    tokens: Tokens,
    purposes: Sequence[str],
    *,
    profile: str,
    limit: int,
    timeout: float,
    ignore_disallow: bool = False,
) -> Generator[Effect, Any, FetchResult]:
    """
    Fetch a page: yields what is needed, returns the page.

    *ignore_disallow*: the site is the caller's, who may read what it asks others to leave alone.
    """

    def allows(held: OriginState) -> bool:
        """Tell whether the URL that is next may be asked for."""
        return ignore_disallow or held.check(url, tokens, purposes).allowed

    hops: tuple[Hop, ...] = ()
    seen = {url}
    while True:
        held: OriginState | None = yield Look(url)
        if held is None:
            return FetchResult(
                url, Verdict(False, Reason.NO_ORIGIN, None, profile), None, hops=hops
            )
        if not allows(held):
            return _not_asked(url, held, tokens, purposes, hops)
        sent: Sent = yield Paced(Request(url, (), limit, timeout), held, allows)
        response, at, held = sent
        # A turn may be hours away: what was held before it may be old by then.
        if response is None:
            return _not_asked(url, held, tokens, purposes, hops)
        so_far = FetchResult(url, held.check(url, tokens, purposes), held, hops=hops)
        if isinstance(response, Failure):
            return so_far._replace(failure_reason=response.reason, detail=response.detail)
        fields = read_fields(response.headers)
        so_far = so_far._replace(
            status=response.status,
            fields=fields,
            body=response.body,
            complete=response.complete,
            address=response.address,
            at=at,
        )
        if response.status not in _FOLLOWED:
            return so_far
        location = parse_location(fields)
        hops = (*hops, Hop(url, response.status, location))
        so_far = so_far._replace(hops=hops)
        target = resolve_location(url, location)
        if target is None:
            return so_far._replace(
                failure_reason=FailureReason.LOCATION, detail=FailureReason.LOCATION.sentence
            )
        if target in seen or len(hops) > MOST_REDIRECTS:
            trouble = FailureReason.LOOP if target in seen else FailureReason.REDIRECTS
            return so_far._replace(failure_reason=trouble, detail=trouble.sentence)
        seen.add(target)
        url = target


def _not_asked(
    url: str, held: OriginState, tokens: Tokens, purposes: Sequence[str], hops: tuple[Hop, ...]
) -> FetchResult:
    """Return what is known of a page that is not asked for, and why it is not."""
    verdict = held.check(url, tokens, purposes)
    found = FetchResult(url, verdict, held, hops=hops)
    bad = held.entry.last_failure
    if verdict.reason is Reason.UNREACHABLE and bad is not None:
        return found._replace(failure_reason=bad.failure_reason, detail=f"robots.txt: {bad.detail}")
    return found


def guidance_of(
    page: FetchResult,
    tokens: Tokens,
    purposes: Sequence[str],
    *,
    application: str | None,
    profile: str,
    registries: Registries = SHIPPED,
    html: bool = True,
) -> Guidance:
    """Return what all carriers say about the URL fetched last; *html*: its page among them."""
    given = page.ok
    found = guidance(
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
    # The reason is how the file was got, where no rules decide.
    return found._replace(verdict=page.verdict)
