"""
What goes into the flow of `access` and what comes out of it: requests, answers, results.

All are values, and none knows an HTTP library: who drives the flow translates.
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
    """What came of asking for a robots.txt (§2.3.1)."""

    SUCCESS = "success"
    """There is a file: its rules are followed (§2.3.1.1)."""
    UNAVAILABLE = "unavailable"
    """There is none: any resource may be accessed (§2.3.1.3)."""
    UNREACHABLE = "unreachable"
    """Nobody knows: complete disallow is assumed (§2.3.1.4)."""


class FailureReason(StrEnum):
    """Why there was no file: a code that a program can switch on."""

    # What a transport reports: network errors (§2.3.1.4, AMB-57).
    DNS = "dns"
    """The host has no address."""
    REFUSED = "refused-address"
    """All addresses of the host are private, and this client does not go there (AMB-56)."""
    CONNECT = "connect"
    """No connection: refused, reset or no route."""
    TLS = "tls"
    """No secure connection, a bad certificate included."""
    TIMEOUT = "timeout"
    """No whole answer in time."""
    CUT = "cut"
    """The answer ended before its end."""
    PROTOCOL = "protocol"
    """What came is not HTTP."""
    CODING = "coding"
    """A Content-Encoding that is unknown or broken (AMB-61)."""
    # What an answer says.
    STATUS = "status"
    """A status that says so."""
    REDIRECTS = "redirects"
    """More redirects than are followed (AMB-55)."""
    LOOP = "loop"
    """A redirect to where it came from (AMB-55)."""
    LOCATION = "location"
    """A broken redirect: no usable Location, or a status that is not followed (AMB-54)."""

    @property
    def sentence(self) -> str:
        """The reason for people."""
        return _SENTENCES[self]


_SENTENCES = {
    FailureReason.DNS: "the host has no address",
    FailureReason.REFUSED: "the address is private, and this client does not go there",
    FailureReason.CONNECT: "no connection",
    FailureReason.TLS: "no secure connection",
    FailureReason.TIMEOUT: "no answer in time",
    FailureReason.CUT: "the answer was cut short",
    FailureReason.PROTOCOL: "the answer is not HTTP",
    FailureReason.CODING: "the body has an unknown or broken coding",
    FailureReason.STATUS: "the status says so",
    FailureReason.REDIRECTS: "too many redirects",
    FailureReason.LOOP: "a loop of redirects",
    FailureReason.LOCATION: "a redirect that cannot be followed",
}


class Request(NamedTuple):
    """A GET that the flow wants to be made. No redirect is to be followed by who makes it."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    """Fields that this request needs beside those of the client."""
    limit: int = LEAST_MAX_BYTES + SLACK
    """Decoded octets to read at most; more than that need not be read, and is no failure."""
    timeout: float | None = None
    """What it may take in all, from name to last octet; None: as long as the transport likes."""

    def wants_body(self, status: int) -> bool:
        """Tell whether the body of an answer with this status is of use."""
        return 200 <= status < 300 and status not in (204, 205)


class Response(NamedTuple):
    """An answer as it came, whatever its status."""

    status: int
    headers: object = NO_FIELDS
    """As `robotrules.tags.read_fields` takes them: pairs, a mapping, or a library's own."""
    body: bytes = b""
    """Decoded; at most as much as the request's limit."""
    complete: bool = True
    """False: the body was longer than the limit, and is cut there."""
    address: str | None = None
    """The address that answered."""


class Failure(NamedTuple):
    """No answer, and why."""

    reason: FailureReason
    detail: str = ""
    """One line for people: what happened, where."""


class Hop(NamedTuple):
    """One redirect that was followed, or could not be."""

    url: str
    status: int
    location: str
    """As it was given."""


class AccessResult(NamedTuple):
    """What came of one attempt to get a robots.txt."""

    origin: str
    """Whose URLs it governs: the one that was asked first (REP-2.3.1.2-04)."""
    state: AccessState
    status: int | None
    """Of the last answer; None: there was none."""
    failure_reason: FailureReason | None
    """Why there is no file; None: there is one."""
    detail: str
    """One line for people about the trouble."""
    url: str
    """What was asked for last."""
    hops: tuple[Hop, ...]
    fields: Fields
    body: bytes
    complete: bool
    revalidated: bool
    """True: a 304 says that the stored body is still the file (AMB-54)."""
    address: str | None
    restricted: bool = False
    """True: there is none for this client, which takes that as complete disallow (AMB-51)."""

    def robots(self, profile: str | Profile = "default") -> RobotsTxt:
        """
        Return the file; without one, a file that says the same.

        Unavailable is an empty file, and unreachable one that disallows everything (§2.3.1.3,
        §2.3.1.4). Who wants the reason too asks a client.
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
    """What a client has of the file already: enough to ask whether it changed."""

    url: str
    """Where it came from: validators are about that URL and no other (RFC 9110 §8.8)."""
    body: bytes
    fields: Fields
    complete: bool = True
    received: float | None = None
    """When it came, in seconds since 1970; None: unknown, so its Last-Modified is not sent."""
