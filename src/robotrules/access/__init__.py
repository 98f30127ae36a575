"""
Access: how a robots.txt is got, and what an answer means (RFC 9309 §2.3.1; AMB-50 to AMB-57).

`access()` is a generator. It yields a `Request`, is sent a `Response` or a `Failure`, and returns
an `AccessResult`: success, unavailable or unreachable. Who drives it brings the HTTP library:

    flow = access("https://example.com")
    answer = None
    try:
        while True:
            answer = send(flow.send(answer))
    except StopIteration as end:
        result = end.value

It opens no connection, has no clock, and
remembers nothing: how long a result holds is `cache`'s to say.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import NamedTuple
from urllib.parse import quote_from_bytes, urljoin

from robotrules.access.profile import (
    ACCESS_PROFILES,
    AccessProfile,
    find_access_profile,
    find_profiles,
)
from robotrules.access.values import (
    SLACK,
    AccessResult,
    AccessState,
    CachedCopy,
    Failure,
    FailureReason,
    Hop,
    Request,
    Response,
)
from robotrules.errors import MissingExtraError
from robotrules.http.caching import merge_fields
from robotrules.http.fields import NO_FIELDS, Fields, read_fields
from robotrules.http.origins import authority_end, origin_of, robots_url
from robotrules.http.validators import conditional_headers, confirms_stored, drop_invalid_validators
from robotrules.profile import LEAST_MAX_BYTES

__all__ = [
    "ACCESS_PROFILES",
    "AccessProfile",
    "AccessResult",
    "AccessState",
    "CachedCopy",
    "Failure",
    "FailureReason",
    "Hop",
    "Request",
    "Response",
    "access",
    "classify_failed_redirect",
    "classify_status",
    "find_access_profile",
    "find_profiles",
    "next_url",
    "parse_location",
    "resolve_location",
]

# AMB-54: what is followed. 300 offers a choice, 304 to 306 are not redirects to a URL.
REDIRECTS = frozenset((301, 302, 303, 307, 308))
# A longer Location is a trap: nobody's URL has so many octets.
LONGEST_URL = 8 * 1024
_PRINTABLE = bytes(range(0x21, 0x7F)).decode("ascii")
# RFC 3986 §3.1: a scheme, and the colon behind it.
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

Flow = Generator[Request, Response | Failure, AccessResult]


def access(
    origin: str,
    *,
    profile: str | AccessProfile = "default",
    cached: CachedCopy | None = None,
    limit: int = LEAST_MAX_BYTES + SLACK,
) -> Flow:
    """
    Get the robots.txt of *origin*: yields requests, is sent answers, returns the result.

    *cached* is the file as it is known, so that a 304 can renew it; a 304 about another file is
    followed by a request without conditions. *limit* is how many octets
    are worth reading: those that the parser looks at.
    """
    chosen = find_access_profile(profile)
    found = origin_of(origin)
    if found is None:
        raise ValueError(f"{origin!r} is no origin: pass one such as 'https://example.com'")
    if cached is not None:
        # Whoever stored it may have kept what is not sent back.
        fields = drop_invalid_validators(cached.fields, cached.received)
        cached = cached._replace(fields=fields) if chosen.validators else None
    return _access(found, chosen, cached, limit)


def _access(origin: str, profile: AccessProfile, stored: CachedCopy | None, limit: int) -> Flow:
    url = robots_url(origin)
    hops: tuple[Hop, ...] = ()
    asked = {url}
    while True:
        asks = (
            conditional_headers(stored.fields) if stored is not None and stored.url == url else ()
        )
        answer = yield Request(url, asks, limit)
        if isinstance(answer, Failure):
            return _SoFar(origin, url, hops).unreachable(answer.reason, answer.detail)
        fields, status = read_fields(answer.headers), answer.status
        so_far = _SoFar(origin, url, hops, status, fields, answer.address)
        if status == 304 and stored is not None and asks:
            if confirms_stored(stored.fields, fields):
                return so_far.renewed(stored)
            # RFC 9111 §4.3.4: it is about another file than the stored one, and updates nothing.
            stored = None
            continue
        if not 300 <= status < 400:
            return _settled(so_far, answer, profile)
        # §2.3.1.2: redirects are followed, across authorities too.
        location = parse_location(fields)
        hops = (*hops, Hop(url, status, location))
        so_far = so_far._replace(hops=hops)
        try:
            target = next_url(hops[-1])
        except MissingExtraError as missing:
            # An international name, and this client cannot tell which host that is.
            return so_far.unreachable(FailureReason.LOCATION, str(missing))
        if target is None:
            return so_far.lost(profile, FailureReason.LOCATION, _why_broken(status))
        if target in asked:
            return so_far.lost(profile, FailureReason.LOOP, f"back to {target[:200]}")
        if len(hops) > profile.max_redirects:
            return so_far.lost(
                profile, FailureReason.REDIRECTS, f"more than {profile.max_redirects}"
            )
        asked.add(target)
        url = target


class _SoFar(NamedTuple):
    """What is known while the flow goes on, and the ways it ends."""

    origin: str
    url: str
    hops: tuple[Hop, ...]
    status: int | None = None
    fields: Fields = NO_FIELDS
    address: str | None = None

    def ended(
        self,
        state: AccessState,
        trouble: FailureReason | None,
        detail: str,
        body: bytes = b"",
        complete: bool = True,
    ) -> AccessResult:
        """End with what is known so far."""
        return AccessResult(
            *(self.origin, state, self.status, trouble, detail, self.url, self.hops, self.fields),
            *(body, complete, False, self.address),
        )

    def unreachable(self, trouble: FailureReason, detail: str) -> AccessResult:
        """End without an answer (§2.3.1.4)."""
        return self.ended(AccessState.UNREACHABLE, trouble, detail)

    def lost(self, profile: AccessProfile, trouble: FailureReason, detail: str) -> AccessResult:
        """End after redirects that do not lead to a file (AMB-54, AMB-55)."""
        return self.ended(classify_failed_redirect(trouble, profile), trouble, detail)

    def renewed(self, stored: CachedCopy) -> AccessResult:
        """End with the stored file, whose fields the 304 updates (RFC 9111 §4.3.4)."""
        fields = merge_fields(stored.fields, drop_invalid_validators(self.fields))
        ended = self.ended(AccessState.SUCCESS, None, "", stored.body, stored.complete)
        return ended._replace(fields=fields, revalidated=True)


def _settled(so_far: _SoFar, answer: Response, profile: AccessProfile) -> AccessResult:
    """End with an answer that is no redirect (§2.3.1.1, §2.3.1.3, §2.3.1.4)."""
    status = answer.status
    state = classify_status(status, profile)
    if state is AccessState.SUCCESS:
        body = b"" if status in (204, 205) else answer.body
        return so_far.ended(state, None, "", body, answer.complete)
    restricted = profile.deny_on_401_403 and status in (401, 403)
    ended = so_far.ended(state, FailureReason.STATUS, f"status {status}")
    return ended._replace(restricted=restricted)


def classify_status(status: int, profile: AccessProfile) -> AccessState:
    """Return what a final status means (AMB-50 to AMB-53)."""
    # A part of a file that nobody asked for a part of may lack the rule that counts (AMB-53).
    if 200 <= status < 300 and status != 206:
        return AccessState.SUCCESS
    if 400 <= status < 500 and status not in profile.unreachable_4xx:
        return AccessState.UNAVAILABLE
    return AccessState.UNREACHABLE


def classify_failed_redirect(trouble: FailureReason, profile: AccessProfile) -> AccessState:
    """
    Return what redirects mean that do not lead to a file.

    §2.3.1.2 lets a crawler assume unavailable after more than five redirects, a loop included
    (AMB-55). It does not say so of a broken one: a server that answers 300, 305, or 301 without
    a usable Location has said nothing about its rules (AMB-54).
    """
    broken = trouble is FailureReason.LOCATION and profile.broken_redirect == "unreachable"
    return (
        AccessState.UNREACHABLE
        if broken or profile.redirect_failure_unreachable
        else AccessState.UNAVAILABLE
    )


def next_url(hop: Hop) -> str | None:
    """Return the URL to ask for next; None: the redirect is broken (AMB-54)."""
    return resolve_location(hop.url, hop.location) if hop.status in REDIRECTS else None


def _why_broken(status: int) -> str:
    if status in REDIRECTS:
        return f"{status} without a usable Location"
    return "304 to a request without conditions" if status == 304 else f"{status} is not followed"


def parse_location(fields: Fields) -> str:
    """Return a Location in printable ASCII: what else it holds is percent-encoded."""
    raw = next(iter(fields.get("location")), b"")
    return quote_from_bytes(raw[: LONGEST_URL + 1], safe=_PRINTABLE)


def resolve_location(url: str, location: str) -> str | None:
    """Return where a Location leads; None: nowhere that is followed (AMB-56)."""
    if not location or len(location) > LONGEST_URL:
        return None
    # A scheme or an authority stands for itself (RFC 3986 §5.2.2). Python's urljoin takes
    # `https:a`, `https://` and `//` for something relative, and other programs do not.
    if location[:2] == "//":
        location = f"{url.partition(':')[0]}:{location}"
    target = location if _ABSOLUTE.match(location) else urljoin(url, location)
    target = target.partition("#")[0]
    origin = origin_of(target)
    if origin is None:
        return None
    # In normal form, so that a loop is seen; and without userinfo, which is nobody's to send.
    rest = target[authority_end(target) :]
    return origin + (rest if rest[:1] == "/" else f"/{rest}")
