"""
Historical verdicts: what the rules said about a URL at a time, and the evidence for it. Values
only.

`Evidence` creates them. Text from a store or an archive is included unchanged: escape it before
showing it on a terminal.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from robotrules.access import AccessState
from robotrules.cache import (
    EffectivePolicy,
    Entry,
    FetchRecord,
    FreshnessReason,
    Provenance,
    format_timestamp,
)
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.verdict import Explanation, Verdict

# Increased when a field of `HistoricalVerdict.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1


class EvidenceNote(NamedTuple):
    """A note that limits or supports a historical verdict."""

    code: str
    level: str
    """`error`: there is no verdict because of it; `warning`: a limitation; `info`: a fact."""
    message: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class HistoricalVerdict(NamedTuple):
    """What the rules said about a URL at a time, and the evidence for it."""

    url: str
    origin: str | None
    at: float
    """The time in question, in seconds since 1970."""
    product_token: str
    purposes: tuple[str, ...]
    profile: str
    access: str
    """The name of the access profile."""
    verdict: Verdict | None = None
    """None: unknown; the notes state why."""
    explanation: Explanation | None = None
    policy: EffectivePolicy = EffectivePolicy.NOTHING
    policy_reason: FreshnessReason = FreshnessReason.NEVER_FETCHED
    in_force: bool = False
    """Whether the state was valid at that time; False: it had expired, or there was none."""
    until: float | None = None
    """Expiry of that state; None if there was none."""
    entry: Entry | None = None
    """The cache entry of a client at that time."""
    fetch_record: FetchRecord | None = None
    """The fetch record in force: the one that decides."""
    robots: RobotsTxt | None = None
    """The file in force, if rules apply and its body is available."""
    next_fetch_record: FetchRecord | None = None
    """The first fetch of the same crawler after that time."""
    notes: tuple[EvidenceNote, ...] = ()

    @property
    def allowed(self) -> bool | None:
        """Whether the rules allowed the URL; None: unknown."""
        return None if self.verdict is None else self.verdict.allowed

    @property
    def source(self) -> str | None:
        """`own` or `import`, from the fetch record in force; None if there is none."""
        return None if self.fetch_record is None else self.fetch_record.source

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        entry, verdict = self.entry, self.verdict
        explanation = self.explanation.as_dict() if self.explanation else None
        if explanation is not None:
            del explanation["access"]  # part of the fetch record in force
        return {
            "schema": SCHEMA_VERSION,
            "url": self.url,
            "origin": self.origin,
            "at": format_timestamp(self.at),
            "product_token": self.product_token,
            "purposes": list(self.purposes),
            "profile": self.profile,
            "access_profile": self.access,
            "allowed": self.allowed,
            "reason": None if verdict is None else str(verdict.reason),
            "line": None if verdict is None else verdict.line,
            "policy": str(self.policy),
            "policy_reason": str(self.policy_reason),
            "in_force": self.in_force,
            "until": None if self.until is None else format_timestamp(self.until),
            "agent": entry.agent if entry else None,
            "source": self.source,
            "failing_since": format_timestamp(entry.failing_since)
            if entry and entry.last_failure
            else None,
            "failures": entry.failures if entry else 0,
            "fetch_record": self.fetch_record.as_dict() if self.fetch_record else None,
            "next_fetch_record": self.next_fetch_record.as_dict()
            if self.next_fetch_record
            else None,
            "explanation": explanation,
            "notes": [note.as_dict() for note in self.notes],
        }

    def __str__(self) -> str:
        verdict = "unknown" if self.verdict is None else str(self.verdict)
        lines = [f"{self.url} for {self.product_token} at {format_time(self.at)}: {verdict}"]
        if self.fetch_record:
            lines.append(f"  {describe_fetch(self.fetch_record)}")
        if self.until is not None:
            lines.append(f"  valid until {format_time(self.until)}")
        return "\n".join([*lines, *(f"  {note.level}: {note.message}" for note in self.notes)])


# Keeps pytest from collecting the class as a test.
HistoricalVerdict.__test__ = False  # type: ignore[attr-defined]


class Period(NamedTuple):
    """Consecutive fetches of one crawler with the same outcome."""

    first: FetchRecord
    last: FetchRecord
    fetches: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "from": format_timestamp(self.first.at),
            "to": format_timestamp(self.last.at),
            "fetches": self.fetches,
            "agent": self.first.agent,
            **{key: value for key, value in self.last.as_dict().items() if key != "at"},
        }


# --- Text -----------------------------------------------------------------------------------------


def format_time(at: float) -> str:
    """Return a time for display: UTC, to the second."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(at)


def describe_provenance(provenance: Provenance) -> str:
    """Return the origin of an imported record in words."""
    name = f" {provenance.archive!r}" if provenance.archive else " an archive"
    at = format_time(provenance.imported_at)
    return f"imported from{name}, SHA-256 {provenance.digest}, on {at}"


def describe_fetch(fetch_record: FetchRecord) -> str:
    """Return a fetch record as a sentence."""
    by = f"{format_time(fetch_record.at)} by {fetch_record.agent}"
    if fetch_record.provenance is not None:
        by += f" ({describe_provenance(fetch_record.provenance)})"
    if fetch_record.state is AccessState.UNREACHABLE:
        why = fetch_record.detail or (
            fetch_record.failure_reason.sentence if fetch_record.failure_reason else ""
        )
        return f"requested on {by}; unreachable: {why}"
    if fetch_record.state is AccessState.UNAVAILABLE:
        return f"requested on {by}; no file: {fetch_record.detail}"
    unchanged = ", unchanged (304)" if fetch_record.revalidated else ""
    return f"fetched on {by} from {fetch_record.url}{unchanged}, SHA-256 {fetch_record.digest}"
