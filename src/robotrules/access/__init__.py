"""
Access: fetching a robots.txt, and what each response means (RFC 9309 §2.3.1; AMB-50 to AMB-57).

`access()` is a generator. It yields a `Request`, is sent a `Response` or a `Failure`, and returns
an `AccessResult`: success, unavailable or unreachable. The driver supplies the HTTP library:

    flow = access("https://example.com")
    answer = None
    try:
        while True:
            answer = send(flow.send(answer))
    except StopIteration as end:
        result = end.value

The generator opens no connection, reads no clock and stores nothing; `cache` determines how long a
result is valid.
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

# AMB-54: statuses that are followed. 300 offers a choice; 304 to 306 do not redirect to a URL.
REDIRECTS = frozenset((301, 302, 303, 307, 308))
# A longer Location is rejected: real URLs are shorter.
MAX_URL_LENGTH = 8 * 1024
_PRINTABLE = bytes(range(0x21, 0x7F)).decode("ascii")
# RFC 3986 §3.1: a scheme and its colon.
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
    Fetch the robots.txt of *origin*: yields requests, receives responses, returns the result.

    *cached* is the stored file, which a 304 can revalidate; after a 304 about another file, an
    unconditional request follows. *limit* is the number of bytes to read, as many as the parser
    uses.
    """
    chosen = find_access_profile(profile)
    found = origin_of(origin)
    if found is None:
        raise ValueError(f"{origin!r} is not an origin: pass one such as 'https://example.com'")
    if cached is not None:
        # The store may contain validators that must not be sent back.
        fields = drop_invalid_validators(cached.fields, cached.received)
        cached = cached._replace(fields=fields) if chosen.validators else None
    return _access(found, chosen, cached, limit)


def _access(origin: str, profile: AccessProfile, stored: CachedCopy | None, limit: int) -> Flow:
    url = robots_url(origin)
    hops: tuple[Hop, ...] = ()
    requested = {url}
    while True:
        conditions = (
            conditional_headers(stored.fields) if stored is not None and stored.url == url else ()
        )
        answer = yield Request(url, conditions, limit)
        if isinstance(answer, Failure):
            return _Progress(origin, url, hops).unreachable(answer.reason, answer.detail)
        fields, status = read_fields(answer.headers), answer.status
        progress = _Progress(origin, url, hops, status, fields, answer.address)
        if status == 304 and stored is not None and conditions:
            if confirms_stored(stored.fields, fields):
                return progress.revalidated(stored)
            # RFC 9111 §4.3.4: the 304 is about another file than the stored one; update nothing.
            stored = None
            continue
        if not 300 <= status < 400:
            return _finish(progress, answer, profile)
        # §2.3.1.2: redirects are followed, also to other authorities.
        location = parse_location(fields)
        hops = (*hops, Hop(url, status, location))
        progress = progress._replace(hops=hops)
        try:
            target = next_url(hops[-1])
        except MissingExtraError as missing:
            # An international name, and the library that decodes it is not installed.
            return progress.unreachable(FailureReason.LOCATION, str(missing))
        if target is None:
            return progress.failed_redirect(profile, FailureReason.LOCATION, _why_broken(status))
        if target in requested:
            return progress.failed_redirect(profile, FailureReason.LOOP, f"back to {target[:200]}")
        if len(hops) > profile.max_redirects:
            return progress.failed_redirect(
                profile, FailureReason.REDIRECTS, f"more than {profile.max_redirects}"
            )
        requested.add(target)
        url = target


class _Progress(NamedTuple):
    """The state of the flow so far, and the ways it can end."""

    origin: str
    url: str
    hops: tuple[Hop, ...]
    status: int | None = None
    fields: Fields = NO_FIELDS
    address: str | None = None

    def finish(
        self,
        state: AccessState,
        reason: FailureReason | None,
        detail: str,
        body: bytes = b"",
        complete: bool = True,
    ) -> AccessResult:
        """Return a result with the current state."""
        return AccessResult(
            *(self.origin, state, self.status, reason, detail, self.url, self.hops, self.fields),
            *(body, complete, False, self.address),
        )

    def unreachable(self, reason: FailureReason, detail: str) -> AccessResult:
        """Return the result for a missing response (§2.3.1.4)."""
        return self.finish(AccessState.UNREACHABLE, reason, detail)

    def failed_redirect(
        self, profile: AccessProfile, reason: FailureReason, detail: str
    ) -> AccessResult:
        """Return the result for redirects that do not lead to a file (AMB-54, AMB-55)."""
        return self.finish(classify_failed_redirect(reason, profile), reason, detail)

    def revalidated(self, stored: CachedCopy) -> AccessResult:
        """Return the stored file, with its fields updated by the 304 (RFC 9111 §4.3.4)."""
        fields = merge_fields(stored.fields, drop_invalid_validators(self.fields))
        result = self.finish(AccessState.SUCCESS, None, "", stored.body, stored.complete)
        return result._replace(fields=fields, revalidated=True)


def _finish(progress: _Progress, answer: Response, profile: AccessProfile) -> AccessResult:
    """Return the result for a response that is not a redirect (§2.3.1.1, §2.3.1.3, §2.3.1.4)."""
    status = answer.status
    state = classify_status(status, profile)
    if state is AccessState.SUCCESS:
        body = b"" if status in (204, 205) else answer.body
        return progress.finish(state, None, "", body, answer.complete)
    restricted = profile.deny_on_401_403 and status in (401, 403)
    result = progress.finish(state, FailureReason.STATUS, f"status {status}")
    return result._replace(restricted=restricted)


def classify_status(status: int, profile: AccessProfile) -> AccessState:
    """Return what a final status means (AMB-50 to AMB-53)."""
    # A 206 that was not requested may lack the rule that decides (AMB-53).
    if 200 <= status < 300 and status != 206:
        return AccessState.SUCCESS
    if 400 <= status < 500 and status not in profile.unreachable_4xx:
        return AccessState.UNAVAILABLE
    return AccessState.UNREACHABLE


def classify_failed_redirect(reason: FailureReason, profile: AccessProfile) -> AccessState:
    """
    Return what redirects that do not lead to a file mean.

    §2.3.1.2 lets a crawler assume unavailable after more than five redirects, including loops
    (AMB-55). It does not do so for a broken redirect: a server that sends 300, 305, or 301 without
    a usable Location has not said anything about its rules (AMB-54).
    """
    broken = reason is FailureReason.LOCATION and profile.broken_redirect == "unreachable"
    return (
        AccessState.UNREACHABLE
        if broken or profile.redirect_failure_unreachable
        else AccessState.UNAVAILABLE
    )


def next_url(hop: Hop) -> str | None:
    """Return the next URL to request; None: the redirect is broken (AMB-54)."""
    return resolve_location(hop.url, hop.location) if hop.status in REDIRECTS else None


def _why_broken(status: int) -> str:
    if status in REDIRECTS:
        return f"{status} without a usable Location"
    return "304 to a request without conditions" if status == 304 else f"{status} is not followed"


def parse_location(fields: Fields) -> str:
    """Return Location in printable ASCII; other bytes are percent-encoded."""
    raw = next(iter(fields.get("location")), b"")
    return quote_from_bytes(raw[: MAX_URL_LENGTH + 1], safe=_PRINTABLE)


def resolve_location(url: str, location: str) -> str | None:
    """Return the target of a Location; None: it is not followed (AMB-56)."""
    if not location or len(location) > MAX_URL_LENGTH:
        return None
    # A reference with a scheme or authority is not relative (RFC 3986 §5.2.2). Python's urljoin
    # treats `https:a`, `https://` and `//` as relative; other programs do not.
    if location[:2] == "//":
        location = f"{url.partition(':')[0]}:{location}"
    target = location if _ABSOLUTE.match(location) else urljoin(url, location)
    target = target.partition("#")[0]
    origin = origin_of(target)
    if origin is None:
        return None
    # Normalised, so that loops are detected, and without userinfo, which must not be sent.
    rest = target[authority_end(target) :]
    return origin + (rest if rest[:1] == "/" else f"/{rest}")
