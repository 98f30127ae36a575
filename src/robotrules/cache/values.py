"""
Values of the cache: fetch records, entries and freshness.

All are immutable. Times are seconds since 1970, UTC; `format_timestamp()` formats them for display.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.access import AccessState, FailureReason, Hop
from robotrules.http.fields import Fields


class Provenance(NamedTuple):
    """The archive that a fetch record was imported from; no client fetched it."""

    archive: str
    """The file name of the archive, without its folder; empty if unknown."""
    digest: str
    """SHA-256 of the archive, in hexadecimal."""
    imported_at: float
    """When it was imported."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "name": self.archive,
            "sha256": self.digest,
            "imported": format_timestamp(self.imported_at),
        }


class FetchRecord(NamedTuple):
    """One attempt to fetch a robots.txt and its outcome; stored as evidence."""

    origin: str
    agent: str
    """The product token of the User-Agent: sites respond differently to different crawlers."""
    user_agent: str
    at: float
    """When the response was received."""
    state: AccessState
    status: int | None
    failure_reason: FailureReason | None
    detail: str
    url: str
    """The URL requested last."""
    hops: tuple[Hop, ...]
    fields: Fields
    digest: str | None
    """SHA-256 of the body, in hexadecimal; None: there is no file."""
    size: int
    complete: bool
    revalidated: bool
    """True: a 304, so the body is that of an earlier fetch."""
    until: float
    """Expiry time; for a failure, when to retry."""
    may_store: bool
    """False: `no-store`, so the body is not stored beyond this process (HC-5.2.2-01)."""
    address: str | None
    provenance: Provenance | None = None
    """The archive it was imported from; None: fetched by a client."""

    @property
    def source(self) -> str:
        """`own`: fetched by a client of this store; `import`: imported from an archive."""
        return "own" if self.provenance is None else "import"

    @property
    def usable(self) -> bool:
        """Whether the outcome is known: there is a file, or there is none."""
        return self.state is not AccessState.UNREACHABLE

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "origin": self.origin,
            "user_agent": self.user_agent,
            "at": format_timestamp(self.at),
            "state": str(self.state),
            "status": self.status,
            "failure_reason": str(self.failure_reason) if self.failure_reason else None,
            "detail": self.detail,
            "url": self.url,
            "hops": [hop._asdict() for hop in self.hops],
            "fields": self.fields.as_dict()["lines"],
            "sha256": self.digest,
            "octets": self.size,
            "complete": self.complete,
            "revalidated": self.revalidated,
            "until": format_timestamp(self.until),
            "may_store": self.may_store,
            "address": self.address,
            "source": self.source,
            "archive": self.provenance.as_dict() if self.provenance else None,
        }


class Entry(NamedTuple):
    """What a client knows about one origin."""

    origin: str
    agent: str
    last_success: FetchRecord | None = None
    """The last usable fetch."""
    last_failure: FetchRecord | None = None
    """The last fetch, if it failed."""
    failing_since: float = 0.0
    """Time of the first failure after the last usable fetch (AMB-59); 0 if there is none."""
    failures: int = 0

    @property
    def last_fetch_at(self) -> float:
        """Time of the last fetch; 0 if there was none."""
        records = (self.last_success, self.last_failure)
        return max((record.at for record in records if record), default=0.0)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "origin": self.origin,
            "agent": self.agent,
            "last_success": self.last_success.as_dict() if self.last_success else None,
            "last_failure": self.last_failure.as_dict() if self.last_failure else None,
            "failing_since": format_timestamp(self.failing_since) if self.last_failure else None,
            "failures": self.failures,
        }


class EffectivePolicy(StrEnum):
    """The policy in effect for the URLs of an origin."""

    NOTHING = "nothing"
    """Unknown: fetch the robots.txt first."""
    RULES = "rules"
    """The rules of the last file."""
    ALLOW = "allow"
    """There is no file: everything is allowed (§2.3.1.3)."""
    DISALLOW = "disallow"
    """Complete disallow (§2.3.1.4)."""


class FreshnessReason(StrEnum):
    """Why this policy is in effect."""

    NEVER_FETCHED = "never-fetched"
    """The origin was never fetched."""
    FRESH = "fresh"
    """The last usable response is within its lifetime."""
    STALE = "stale"
    """The last usable response is past its lifetime, and no fetch has failed since."""
    UNREACHABLE = "unreachable"
    """Fetching failed: complete disallow (§2.3.1.4)."""
    STALE_COPY = "stale-copy"
    """Fetching failed for `stale_after` seconds: the stored copy decides (AMB-58)."""
    GAVE_UP = "gave-up"
    """Fetching failed for `give_up_after` seconds (§2.3.1.4, AMB-59)."""
    CLOCK_SET_BACK = "clock-set-back"
    """The stored response is from the future, so its age is unknown."""


class Freshness(NamedTuple):
    """The policy in effect at a time, its expiry, and whether to refresh."""

    policy: EffectivePolicy
    until: float
    """When to evaluate again; if a refresh is due, the current time."""
    must_refresh: bool
    """Whether to fetch before answering."""
    may_refresh: bool
    """Whether to fetch in the background; the policy stays in effect meanwhile."""
    reason: FreshnessReason


def format_timestamp(at: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC."""
    try:
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return str(at)
