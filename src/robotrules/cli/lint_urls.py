"""
Lint of URLs: fetches robots.txt files and pages, and lints them.

The robots.txt is fetched through the client like that of any command; how it was served is passed
to the checks. An unreachable one is an error. The page is fetched if the rules allow it. Imported
only if a URL is linted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from robotrules import parse
from robotrules.access import resolve_location
from robotrules.cache import EffectivePolicy, FreshnessReason
from robotrules.cli.access_text import describe_page, describe_state, format_time
from robotrules.cli.client import ClientOptions, library_errors
from robotrules.cli.console import CliError, report
from robotrules.cli.lint_inputs import LintSettings
from robotrules.cli.origin_lookup import OriginLookup
from robotrules.cli.page_inputs import can_read_html, warn_html_not_read
from robotrules.cli.text import truncate
from robotrules.client.origin_state import StateSource
from robotrules.http.media_types import is_html, parse_charset, parse_media_type
from robotrules.http.origins import robots_url
from robotrules.linting import ServedResponse, lint, lint_page
from robotrules.linting.note import ROBOTS_TXT
from robotrules.linting.render import LintedFile
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import FetchRecord
    from robotrules.client.origin_state import OriginState
    from robotrules.client.pages import FetchResult
    from robotrules.client.sync import Client


LONGEST = 200
# The checks that report an unreachable robots.txt.
UNREACHABLE = ("RR704", "RR711")
# Paths for which no page is fetched.
NO_PAGE = ("", "/", "/robots.txt")


class LiveSite:
    """Lints URLs; a context manager. The client is opened for the first URL."""

    def __init__(self, client_options: ClientOptions, profile: str) -> None:
        self._client_options = client_options
        self._profile = profile
        self._opened = ExitStack()
        self._client: Client | None = None
        self._lookup: OriginLookup | None = None
        self._warned_about_html = False

    def __enter__(self) -> LiveSite:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    def robots(self, url: str, settings: LintSettings) -> tuple[LintedFile, OriginState]:
        """Fetch and lint the robots.txt of a URL's origin; return the result and its state."""
        origin_state = self._open().look_up_url(os.fsencode(url))
        record, name = origin_state.fetch_record, truncate(visible(origin_state.origin), LONGEST)
        if record is None or (
            origin_state.policy is not EffectivePolicy.RULES and record.status is None
        ):
            raise CliError(f"{name} was not linted: {describe_state(origin_state)}")
        rules = origin_state.policy is EffectivePolicy.RULES
        robots = origin_state.robots if rules else parse(b"", settings.profile)
        received = served_response(origin_state, record)
        notes = lint(
            robots,
            select=settings.select,
            ignore=settings.ignore,
            received=received,
            max_states=settings.max_states,
        )
        if not rules:  # notes about the response, not about an empty file
            notes = [note for note in notes if note.part != ROBOTS_TXT]
        if origin_state.policy is EffectivePolicy.DISALLOW and not any(
            note.code in UNREACHABLE for note in notes
        ):
            raise CliError(f"{name} was not linted: {describe_state(origin_state)}")
        if (
            origin_state.reason is FreshnessReason.FRESH
            and origin_state.source is StateSource.STORE
        ):
            at = format_time(record.at)
            report(
                f"{name}: the robots.txt was fetched {at}; use --refresh to fetch it now",
                label="hint",
            )
        if origin_state.reason is not FreshnessReason.FRESH or (not rules and not notes):
            level = "warning" if origin_state.policy is EffectivePolicy.DISALLOW else "hint"
            report(f"{name}: {describe_state(origin_state)}", label=level, style="warning")
        where = os.fsencode(received.url or "")
        found = LintedFile(where, False, tuple(notes), robots.body, fail_on=settings.fail_on)
        return found, origin_state

    def page(
        self, url: str, origin_state: OriginState, settings: LintSettings
    ) -> Iterator[LintedFile]:
        """Fetch and lint the page of a URL, if the rules allow it."""
        if urlsplit(url).path in NO_PAGE and not urlsplit(url).query:
            return
        assert self._client is not None
        with library_errors():
            page = self._client.fetch(url)
        name = truncate(visible(page.url), LONGEST)
        if not page.verdict:
            report(f"{name} was not fetched: the rules disallow it", label="hint")
            return
        if page.failure_reason is not None or not page.ok:
            raise CliError(f"{name} was not linted: {describe_page(page)}")
        with library_errors():
            notes = lint_page(
                page.url,
                headers=page.fields,
                html=self._html(page),
                complete=page.complete,
                robots=origin_state.robots
                if page.origin_state is None
                else page.origin_state.robots,
                select=settings.select,
                ignore=settings.ignore,
            )
        yield LintedFile(os.fsencode(page.url), False, tuple(notes), fail_on=settings.fail_on)

    def _html(self, page: FetchResult) -> bytes | None:
        if not is_html(page.fields):
            return None
        if can_read_html():
            return page.body
        if not self._warned_about_html:
            self._warned_about_html = True
            warn_html_not_read()
        return None

    def _open(self) -> OriginLookup:
        if self._lookup is None:
            self._client = self._opened.enter_context(self._client_options.client(self._profile))
            lookup = OriginLookup(
                self._client, refresh=self._client_options.refresh, profile=self._profile
            )
            self._lookup = self._opened.enter_context(lookup)
        return self._lookup


def served_response(origin_state: OriginState, record: FetchRecord) -> ServedResponse:
    """Return how a robots.txt was served."""
    targets = (resolve_location(hop.url, hop.location) or hop.location for hop in record.hops)
    cache_control = b", ".join(record.fields.get("cache-control"))
    return ServedResponse(
        url=robots_url(origin_state.origin),
        # After a 304 the fields are those of the response that it revalidates.
        status=200 if record.revalidated else record.status,
        media_type=parse_media_type(record.fields) or "",
        charset=parse_charset(record.fields),
        redirects=tuple(targets),
        cache_control=visible(cache_control) if cache_control else None,
    )
