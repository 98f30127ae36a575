"""
The JSON of `robotrules guidance`: one answer about one URL, from inputs that apply to many pages.

Sections: queries · origins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.cache import format_timestamp
from robotrules.guide import Guidance, guidance
from robotrules.json_results.access import describe_response
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.octets import to_octets, to_text
from robotrules.robotstxt import RobotsTxt
from robotrules.tags.saved_responses import SavedResponse

if TYPE_CHECKING:
    from robotrules.client.pages import FetchResult

__all__ = ["GuidanceQuery", "GuidanceReport", "origin_of"]


class GuidanceReport(NamedTuple):
    """An answer and its inputs."""

    guidance: Guidance
    profile: str
    saved: SavedResponse | None
    elsewhere: str | None
    """The origin of the robots.txt, if it is not that of the URL."""
    fetched: FetchResult | None = None
    """The page and its robots.txt, if they were fetched."""


# --- Queries --------------------------------------------------------------------------------------


class GuidanceQuery(NamedTuple):
    """The crawler, and the inputs that apply to more than one page."""

    crawler: CrawlerChoice
    purposes: tuple[str, ...]
    robots: RobotsTxt | None
    tdmrep: bytes | None
    application: str | None
    profile: str
    origin: str | None
    """The only origin that robots.txt and tdmrep.json apply to (RFC 9309 §2.3); None: any."""

    def of_origin(self, origin: str | None) -> GuidanceQuery:
        """Return it with this origin, unless it has one."""
        return self if self.origin is not None else self._replace(origin=origin)

    def governs(self, url: bytes) -> bool:
        """Tell whether the robots.txt applies to a URL; it always applies to a path."""
        return self.origin is None or url.startswith(b"/") or origin_of(url) == self.origin

    def about(
        self,
        url: bytes,
        *,
        headers: object = None,
        html: Any = None,
        dom: Any = None,
        saved: SavedResponse | None = None,
    ) -> GuidanceReport:
        """Return the answer for a URL."""
        governed = self.governs(url)
        found = guidance(
            url,
            self.crawler.names,
            robots=self.robots if governed else None,
            tdmrep=self.tdmrep if governed else None,
            headers=headers,
            html=html,
            complete=saved is None or html is not saved.body or saved.complete,
            dom=dom,
            purposes=self.purposes,
            application=self.application,
            profile=self.profile,
        )
        if saved is not None and saved.notes:
            found = found._replace(notes=(*saved.notes, *found.notes))
        elsewhere = None if governed or self.robots is None else self.origin
        return GuidanceReport(found, self.profile, saved, elsewhere)

    def as_dict(self, found: GuidanceReport) -> dict[str, Any]:
        """Return an answer as `guidance.schema.json` describes it."""
        page = found.fetched
        per_origin = self.robots is not None or self.tdmrep is not None or page is not None
        status = found.saved.status if found.saved else None
        return {
            **found.guidance.as_dict(),
            "status": status if page is None else page.status,
            "robots_origin": self.origin if per_origin else None,
            "access": None if page is None else _access(page),
            "known": self.crawler.known_dict,
        }


def _access(page: FetchResult) -> dict[str, Any]:
    """Return how a page and its robots.txt were fetched."""
    origin_state = page.origin_state
    failed = origin_state.entry.last_failure if origin_state else None
    return {
        "hops": [hop._asdict() for hop in page.hops],
        "failure_reason": str(page.failure_reason) if page.failure_reason else None,
        "robots_state": str(origin_state.state) if origin_state else None,
        "robots_source": str(origin_state.source) if origin_state else None,
        "robots_until": format_timestamp(origin_state.until) if origin_state else None,
        "robots_failed_at": format_timestamp(failed.at) if failed else None,
        "robots_failure": describe_response(failed) if failed else None,
    }


# --- Origins --------------------------------------------------------------------------------------

# Scheme and authority (RFC 3986 §3), without user information.
_ORIGIN = re.compile(
    r"(https?)://(?:[^/?#\\@]*@)?(\[[^]/?#\\@]*\]|[^:/?#\\@]+)(?::([0-9]*))?(?=[/?#\\]|\Z)", re.I
)
_PORTS = {"http": "80", "https": "443"}


def origin_of(url: str | bytes) -> str | None:
    """Return the origin of a URL (RFC 9309 §2.3); None if it has none, such as a path."""
    found = _ORIGIN.match(to_text(to_octets(url)))
    if not found:
        return None
    scheme, port = found[1].lower(), found[3]
    beside = f":{port}" if port and port != _PORTS[scheme] else ""
    return f"{scheme}://{found[2].lower()}{beside}"
