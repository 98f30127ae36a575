"""
Inputs and outputs of the `access` flow: requests, responses, failures and results.

These are plain values, independent of any HTTP library; the driver of the flow converts them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.http.fields import NO_FIELDS, Fields
from robotrules.profile import LEAST_MAX_BYTES, Profile
from robotrules.robotstxt import RobotsTxt, parse

# A line that starts inside the size limit may end this far past it (AMB-18).
SLACK = 16 * 1024
DISALLOW_ALL = b"User-agent: *\nDisallow: /\n"


class AccessState(StrEnum):
    """The outcome of requesting a robots.txt (§2.3.1)."""

    SUCCESS = "success"
    """There is a file: its rules apply (§2.3.1.1)."""
    UNAVAILABLE = "unavailable"
    """There is no file: any resource may be accessed (§2.3.1.3)."""
    UNREACHABLE = "unreachable"
    """Unknown: complete disallow is assumed (§2.3.1.4)."""


class FailureReason(StrEnum):
    """Why there is no file: a code for programs."""

    # Reported by transports: network errors (§2.3.1.4, AMB-57).
    DNS = "dns"
    """The host has no address."""
    REFUSED = "refused-address"
    """All addresses of the host are private, and the client does not connect to them (AMB-56)."""
    CONNECT = "connect"
    """No connection: refused, reset or no route."""
    TLS = "tls"
    """No secure connection, a bad certificate included."""
    TIMEOUT = "timeout"
    """No complete response in time."""
    CUT = "cut"
    """The response ended prematurely."""
    PROTOCOL = "protocol"
    """The response is not HTTP."""
    CODING = "coding"
    """An unknown or invalid Content-Encoding (AMB-61)."""
    # Reported by the response itself.
    STATUS = "status"
    """A status that means there is no usable file."""
    REDIRECTS = "redirects"
    """Too many redirects (AMB-55)."""
    LOOP = "loop"
    """A redirect to a URL that was already requested (AMB-55)."""
    LOCATION = "location"
    """A broken redirect: no usable Location, or a status that is not followed (AMB-54)."""

    @property
    def sentence(self) -> str:
        """The reason as a sentence."""
        return _SENTENCES[self]


_SENTENCES = {
    FailureReason.DNS: "the host has no address",
    FailureReason.REFUSED: "the address is private, and this client does not connect to it",
    FailureReason.CONNECT: "no connection",
    FailureReason.TLS: "no secure connection",
    FailureReason.TIMEOUT: "no response in time",
    FailureReason.CUT: "the response was cut short",
    FailureReason.PROTOCOL: "the response is not HTTP",
    FailureReason.CODING: "the body has an unknown or invalid content coding",
    FailureReason.STATUS: "the status means that there is no usable file",
    FailureReason.REDIRECTS: "too many redirects",
    FailureReason.LOOP: "a redirect loop",
    FailureReason.LOCATION: "a redirect that cannot be followed",
}


class Request(NamedTuple):
    """A GET request to be sent. The driver must not follow redirects."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    """Fields for this request, in addition to those of the client."""
    limit: int = LEAST_MAX_BYTES + SLACK
    """Maximum number of decoded bytes to read; a longer body is truncated, not an error."""
    timeout: float | None = None
    """Total seconds, from name resolution to the last byte; None: the transport's default."""

    def wants_body(self, status: int) -> bool:
        """Return whether the body of a response with this status is needed."""
        return 200 <= status < 300 and status not in (204, 205)


class Response(NamedTuple):
    """A response as received, with any status."""

    status: int
    headers: object = NO_FIELDS
    """Anything that `robotrules.tags.read_fields` accepts: pairs, a mapping, a library's object."""
    body: bytes = b""
    """Decoded; at most as long as the limit of the request."""
    complete: bool = True
    """False: the body was longer than the limit, and is truncated there."""
    address: str | None = None
    """The IP address of the server."""


class Failure(NamedTuple):
    """No response, and the reason."""

    reason: FailureReason
    detail: str = ""
    """One line: what happened, and where."""


class Hop(NamedTuple):
    """A redirect, followed or not."""

    url: str
    status: int
    location: str
    """As received."""


class AccessResult(NamedTuple):
    """The outcome of one attempt to fetch a robots.txt."""

    origin: str
    """The origin that the result governs: the one requested first (REP-2.3.1.2-04)."""
    state: AccessState
    status: int | None
    """The status of the last response; None if there was none."""
    failure_reason: FailureReason | None
    """Why there is no file; None if there is one."""
    detail: str
    """One line about the failure."""
    url: str
    """The URL requested last."""
    hops: tuple[Hop, ...]
    fields: Fields
    body: bytes
    complete: bool
    revalidated: bool
    """True: a 304 confirmed the stored body (AMB-54)."""
    address: str | None
    restricted: bool = False
    """True: access was denied, which this client treats as complete disallow (AMB-51)."""

    def robots(self, profile: str | Profile = "default") -> RobotsTxt:
        """
        Return the parsed file; without one, an equivalent file.

        Unavailable is equivalent to an empty file, unreachable to one that disallows everything
        (§2.3.1.3, §2.3.1.4). A client's verdicts also state the reason.
        """
        if self.state is AccessState.UNREACHABLE or self.restricted:
            return parse(DISALLOW_ALL, profile)
        return parse(self.body, profile, complete=self.complete)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, without the body."""
        return {
            "origin": self.origin,
            "state": str(self.state),
            "status": self.status,
            "failure_reason": str(self.failure_reason) if self.failure_reason else None,
            "detail": self.detail,
            "url": self.url,
            "hops": [hop._asdict() for hop in self.hops],
            "fields": self.fields.as_dict()["lines"],
            "octets": len(self.body),
            "complete": self.complete,
            "revalidated": self.revalidated,
            "address": self.address,
            "restricted": self.restricted,
        }


class CachedCopy(NamedTuple):
    """A stored file, with the data needed for a conditional request."""

    url: str
    """The URL it came from: validators apply to that URL only (RFC 9110 §8.8)."""
    body: bytes
    fields: Fields
    complete: bool = True
    received: float | None = None
    """Time of receipt in seconds since 1970; None: unknown, so Last-Modified is not sent."""
