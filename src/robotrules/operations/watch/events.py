"""
Events: what changed at a target, when, how important it is, and the sentence that says so.

The id of an event is derived from its content and from the number of the change at its target: the
same change has the same id in every attempt to deliver it, also after a crash, and a later change
of the same kind has another one. Text of servers is escaped before it becomes part of a sentence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from robotrules.cache import format_timestamp

# Increased when a key of `WatchEvent.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1
# In the order of importance.
EVENT_LEVELS = ("error", "warning", "info")
# The longest sentence; details have the rest.
LONGEST_SENTENCE = 1_000


class EventKind(StrEnum):
    """What happened; new kinds may be added."""

    CRAWLERS_BLOCKED = "crawlers-blocked"
    """The meaning changed: some crawler may not fetch anything any more."""
    CRAWLERS_ALLOWED = "crawlers-allowed"
    """The meaning changed: some crawler that was blocked completely may fetch something."""
    RULES_CHANGED = "rules-changed"
    """The meaning changed: other URLs are allowed or disallowed."""
    RECORDS_CHANGED = "records-changed"
    """Records other than rules changed, such as Sitemap or Crawl-delay."""
    TEXT_CHANGED = "text-changed"
    """The file changed and means the same."""
    NOT_COMPARED = "not-compared"
    """The file changed, and the change of meaning is not known."""
    FILE_APPEARED = "file-appeared"
    """There is a robots.txt where there was none."""
    FILE_VANISHED = "file-vanished"
    """There is no robots.txt any more: everything is allowed (RFC 9309 §2.3.1.3)."""
    STATUS_CHANGED = "status-changed"
    """Another status, with the same meaning for a robots.txt."""
    UNREACHABLE = "unreachable"
    """Several fetches in a row failed."""
    REACHABLE = "reachable"
    """Reachable again, after `unreachable` was told."""
    REDIRECT_CHANGED = "redirect-changed"
    """A redirect appeared, leads elsewhere, or is gone."""
    MEDIA_TYPE_CHANGED = "media-type-changed"
    """Another media type."""
    HTML_PAGE = "html-page"
    """The robots.txt is an HTML page, or no longer one."""
    SIZE = "size"
    """The file is near or over 500 KiB, or no longer (RFC 9309 §2.5)."""
    SITEMAP_BLOCKED = "sitemap-blocked"
    """The robots.txt disallows a sitemap that it lists, or no longer does."""
    SITEMAP_LOST = "sitemap-lost"
    """A sitemap cannot be read any more, or can again."""
    SITEMAP_LISTS_BLOCKED = "sitemap-lists-blocked"
    """A sitemap lists URLs that the robots.txt disallows, or no longer does."""
    PAGE_TAGS_CHANGED = "page-tags-changed"
    """Other robots tags on a page: noindex, nosnippet and so on."""
    PAGE_BLOCKED = "page-blocked"
    """The robots.txt disallows a watched page to this program, or no longer does."""
    TEST = "test"
    """Sent to test the channels."""


class WatchEvent(NamedTuple):
    """A change at a target."""

    id: str
    """32 hexadecimal digits; the key by which receivers drop what they know."""
    at: float
    """When it was seen, in seconds since 1970."""
    origin: str
    target: str
    """The URL of the robots.txt, page or sitemap."""
    kind: EventKind
    level: str
    """One of `EVENT_LEVELS`."""
    sentence: str
    """The change in words, without the target; printable."""
    details: Mapping[str, Any]
    old_digest: str | None
    """SHA-256 of the robots.txt before, in hexadecimal; None: there was none, or a page."""
    new_digest: str | None

    @property
    def timestamp(self) -> str:
        """The time as ISO 8601, in UTC."""
        return format_timestamp(self.at)

    @property
    def uuid(self) -> UUID:
        """The id as a UUID, for formats that require one."""
        return UUID(hex=self.id, version=5)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `watch.schema.json` describes them."""
        return {
            "schema": SCHEMA_VERSION,
            "id": self.id,
            "at": self.timestamp,
            "origin": self.origin,
            "target": self.target,
            "kind": str(self.kind),
            "level": self.level,
            "sentence": self.sentence,
            "details": dict(self.details),
            "old_digest": self.old_digest,
            "new_digest": self.new_digest,
        }

    def as_row(self) -> str:
        """Return it as text for the state."""
        return json.dumps({**self.as_dict(), "at": self.at}, sort_keys=True)

    def as_json_line(self) -> bytes:
        """Return it as one line of JSON, always ASCII."""
        return json.dumps(self.as_dict()).encode("ascii") + b"\n"

    def as_text_line(self) -> bytes:
        """Return it as one line for people."""
        at = self.timestamp.partition(".")[0].replace("T", " ")
        return f"{at} UTC  {self.level:7}  {self.target}  {self.sentence}\n".encode()


def parse_event(row: str) -> WatchEvent:
    """Return the event that `WatchEvent.as_row()` wrote."""
    found = json.loads(row)
    found.pop("schema")
    return WatchEvent(**{**found, "kind": EventKind(found["kind"])})


def make_event(
    kind: EventKind,
    level: str,
    sentence: str,
    *,
    at: float,
    origin: str,
    target: str,
    revision: int,
    details: Mapping[str, Any] | None = None,
    digests: tuple[str | None, str | None] = (None, None),
) -> WatchEvent:
    """Return an event; *revision* is the number of the change at its target."""
    content = json.dumps([target, revision, str(kind), *digests, sentence])
    name = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    if len(sentence) > LONGEST_SENTENCE:
        sentence = f"{sentence[: LONGEST_SENTENCE - 1]}…"
    return WatchEvent(name, at, origin, target, kind, level, sentence, details or {}, *digests)


def is_at_least(level: str, least: str) -> bool:
    """Return whether a level is as important as another, or more."""
    return EVENT_LEVELS.index(level) <= EVENT_LEVELS.index(least)
