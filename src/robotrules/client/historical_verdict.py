"""
Testimony: what the rules said about a URL at a moment, and how that is known. Values alone.

`Evidence` makes them. What a store or a stranger's file holds is in them as it is: who shows it on
a terminal makes it visible first.
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

# Raised when a field of `HistoricalVerdict.as_dict()` changes meaning or goes away.
SCHEMA_VERSION = 1


class EvidenceNote(NamedTuple):
    """What limits an answer, or supports it."""

    code: str
    level: str
    """`error`: there is no verdict because of it; `warning`: mind it; `info`: good to know."""
    message: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class HistoricalVerdict(NamedTuple):
    """What the rules said about a URL at a moment, and how that is known."""

    url: str
    origin: str | None
    at: float
    """The moment that was asked about, in seconds since 1970."""
    product_token: str
    purposes: tuple[str, ...]
    profile: str
    access: str
    """The name of the access profile that chose the reading."""
    verdict: Verdict | None = None
    """None: nothing is known, and the notes say why."""
    explanation: Explanation | None = None
    policy: EffectivePolicy = EffectivePolicy.NOTHING
    policy_reason: FreshnessReason = FreshnessReason.NEVER_FETCHED
    in_force: bool = False
    """Whether the moment lies within what was known; False: it had lapsed, or never was."""
    until: float | None = None
    """Until when that was known; None: nothing was."""
    entry: Entry | None = None
    """What a client had at the moment."""
    fetch_record: FetchRecord | None = None
    """The visit in force: the one that decides."""
    robots: RobotsTxt | None = None
    """The file in force, if rules decide and its octets are there."""
    next_fetch_record: FetchRecord | None = None
    """The first visit of the same crawler after the moment."""
    notes: tuple[EvidenceNote, ...] = ()

    @property
    def allowed(self) -> bool | None:
        """Whether the rules allowed the URL; None: nobody knows."""
        return None if self.verdict is None else self.verdict.allowed

    @property
    def source(self) -> str | None:
        """`own` or `import`, as the visit in force has it; None: there is none."""
        return None if self.fetch_record is None else self.fetch_record.source

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        entry, verdict = self.entry, self.verdict
        explained = self.explanation.as_dict() if self.explanation else None
        if explained is not None:
            del explained["access"]  # the visit in force has it
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
            "explanation": explained,
            "notes": [note.as_dict() for note in self.notes],
        }

    def __str__(self) -> str:
        said = "unknown" if self.verdict is None else str(self.verdict)
        lines = [f"{self.url} for {self.product_token} at {when(self.at)}: {said}"]
        if self.fetch_record:
            lines.append(f"  {told(self.fetch_record)}")
        if self.until is not None:
            lines.append(f"  held until {when(self.until)}")
        return "\n".join([*lines, *(f"  {note.level}: {note.message}" for note in self.notes)])


# No test, though pytest would take it for one by its name.
HistoricalVerdict.__test__ = False  # type: ignore[attr-defined]


class Period(NamedTuple):
    """Visits of one crawler in a row that found the same."""

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


# --- Words ----------------------------------------------------------------------------------------


def when(at: float) -> str:
    """Return a moment for people: UTC, to the second."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(at)


def imported_from(provenance: Provenance) -> str:
    """Return where an imported visit comes from, in words."""
    name = f" {provenance.archive!r}" if provenance.archive else " an archive"
    at = when(provenance.imported_at)
    return f"imported from{name}, SHA-256 {provenance.digest}, on {at}"


def told(visit: FetchRecord) -> str:
    """Return a visit as a sentence."""
    by = f"{when(visit.at)} by {visit.agent}"
    if visit.provenance is not None:
        by += f" ({imported_from(visit.provenance)})"
    if visit.state is AccessState.UNREACHABLE:
        why = visit.detail or (visit.failure_reason.sentence if visit.failure_reason else "")
        return f"asked for on {by}, and unreachable: {why}"
    if visit.state is AccessState.UNAVAILABLE:
        return f"asked for on {by}, and there was none: {visit.detail}"
    renewed = ", unchanged (304)" if visit.revalidated else ""
    return f"fetched on {by} from {visit.url}{renewed}, SHA-256 {visit.digest}"
