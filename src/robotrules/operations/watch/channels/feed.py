"""
An Atom feed (RFC 4287): a file with the last events, for feed readers and chat systems.

The file is written anew from the state and replaced in one step, so an event is in it once, however
often it is written. A file that is not such a feed is never replaced.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from xml.etree import ElementTree

from robotrules.atomic_files import replace_file
from robotrules.octets import visible
from robotrules.operations.watch.channels import DELIVERED, Delivery
from robotrules.operations.watch.events import WatchEvent, is_at_least

ATOM = "http://www.w3.org/2005/Atom"
# Entries of a feed; readers poll it.
MAX_ENTRIES = 100
AUTHOR = "robotrules watch"
# How much of a file shows whether it is a feed of a watch.
MAX_HEAD = 4_096


class FeedChannel:
    """A file with an Atom feed."""

    batch = 1_000

    def __init__(
        self,
        path: str,
        *,
        feed_id: str,
        history: Callable[[int], Sequence[WatchEvent]],
        min_level: str = "info",
        title: str = "robots.txt changes",
    ) -> None:
        """*history* returns the last events, newest first; *feed_id* is a UUID."""
        self._path = path
        self._feed_id = feed_id
        self._history = history
        self._min_level = min_level
        self._title = title
        self.name = f"feed {visible(os.path.basename(path))}"
        whole = os.path.abspath(path)
        self.key = f"feed:{hashlib.sha256(os.fsencode(whole)).hexdigest()[:16]}"

    def create(self, at: float) -> None:
        """Write a feed without entries, so that readers find it; failures show with the first."""
        if check_replaceable(self._path):
            return
        with suppress(OSError):
            replace_file(self._path, make_feed(self._feed_id, self._title, (), at))

    def deliver(self, events: Sequence[WatchEvent]) -> Delivery:
        """Write the feed with the last events, which include these."""
        if why := check_replaceable(self._path):
            return Delivery(f"the file {why}")
        kept = [one for one in self._history(1_000) if is_at_least(one.level, self._min_level)]
        try:
            replace_file(self._path, make_feed(self._feed_id, self._title, kept[:MAX_ENTRIES]))
        except OSError as error:
            return Delivery(f"cannot be written: {error.strerror or type(error).__name__}")
        return DELIVERED


def check_replaceable(path: str) -> str:
    """Return why a file must not be replaced by a feed; empty: it may be, or there is none."""
    if not os.path.lexists(path):
        return ""
    if not os.path.isfile(path):
        return "is not a regular file"
    try:
        with open(path, "rb") as file:
            head = file.read(MAX_HEAD)
    except OSError as error:
        return f"cannot be read: {error.strerror or type(error).__name__}"
    is_feed = f'<feed xmlns="{ATOM}">' in (text := head.decode("utf-8", "replace"))
    if not head or (is_feed and f"<name>{AUTHOR}</name>" in text):
        return ""
    return "has other content than a feed of a watch, and is not replaced: name another file"


def make_feed(feed_id: str, title: str, events: Sequence[WatchEvent], at: float = 0.0) -> bytes:
    """Return a feed of events, the newest first; *at* is its time if it has none."""
    feed = ElementTree.Element("feed", {"xmlns": ATOM})
    _add(feed, "id", f"urn:uuid:{feed_id}")
    _add(feed, "title", visible(title))
    _add(feed, "updated", _time(max((event.at for event in events), default=at)))
    author = ElementTree.SubElement(feed, "author")
    _add(author, "name", AUTHOR)
    for event in events:
        entry = ElementTree.SubElement(feed, "entry")
        _add(entry, "id", event.uuid.urn)
        _add(entry, "title", visible(f"{event.origin.partition('://')[2]}: {event.sentence}"))
        _add(entry, "updated", _time(event.at))
        _add(entry, "published", _time(event.at))
        # An IRI: what is invisible in it is escaped, and spaces do not occur in a URL.
        href = visible(event.target).replace("\\", "%5C").replace(" ", "%20")
        ElementTree.SubElement(entry, "link", {"rel": "alternate", "href": href})
        ElementTree.SubElement(entry, "category", {"term": str(event.kind)})
        ElementTree.SubElement(entry, "category", {"term": event.level})
        content = _add(entry, "content", visible(f"{event.target}: {event.sentence}"))
        content.set("type", "text")
    ElementTree.indent(feed)
    octets: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return octets + b"\n"


def _add(parent: ElementTree.Element, name: str, text: str) -> ElementTree.Element:
    child = ElementTree.SubElement(parent, name)
    child.text = text
    return child


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
