"""
What `robotrules lint` finds on the web: the robots.txt of a URL, how it is served, and the page.

A server that answers is linted, whatever it answers: that there is no robots.txt is a thing to
know. One that does not answer is trouble. The page is asked for if the rules allow it. Fetching is
the client's, with its store, its limits and its care about private addresses.
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
from robotrules.cli.access_text import moment_words, page_words, state_words
from robotrules.cli.client import Opening, told
from robotrules.cli.lint_given import LintSettings
from robotrules.cli.origin_lookup import Looker
from robotrules.cli.page_inputs import can_read_html, warn_html_unread
from robotrules.cli.streams import CliError, say
from robotrules.cli.text import shortened
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
# The checks that say why a robots.txt is unreachable.
UNREACHABLE = ("RR704", "RR711")
# What has no page of its own to look at.
NO_PAGE = ("", "/", "/robots.txt")


class Live:
    """Lints what URLs lead to; a context manager. The client is opened when the first one comes."""

    def __init__(self, opening: Opening, profile: str) -> None:
        self._opening = opening
        self._profile = profile
        self._opened = ExitStack()
        self._client: Client | None = None
        self._looker: Looker | None = None
        self._told_html = False

    def __enter__(self) -> Live:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    def robots(self, url: str, settings: LintSettings) -> tuple[LintedFile, OriginState]:
        """Ask for the robots.txt that governs a URL; return what is found, and what is held."""
        held = self._open().held_of(os.fsencode(url))
        visit, name = held.fetch_record, shortened(visible(held.origin), LONGEST)
        if visit is None or (held.policy is not EffectivePolicy.RULES and visit.status is None):
            raise CliError(f"{name} was not linted: {state_words(held)}")
        rules = held.policy is EffectivePolicy.RULES
        robots = held.robots if rules else parse(b"", settings.profile)
        received = _received(held, visit)
        notes = lint(
            robots,
            select=settings.select,
            ignore=settings.ignore,
            received=received,
            budget=settings.budget,
        )
        if not rules:  # what there is to say is about the response, and not about an empty file
            notes = [note for note in notes if note.part != ROBOTS_TXT]
        if held.policy is EffectivePolicy.DISALLOW and not any(
            note.code in UNREACHABLE for note in notes
        ):
            raise CliError(f"{name} was not linted: {state_words(held)}")
        if held.reason is FreshnessReason.FRESH and held.source is StateSource.STORE:
            at = moment_words(visit.at)
            say(f"{name}: the robots.txt was fetched {at}; --fresh asks now", label="hint")
        if held.reason is not FreshnessReason.FRESH or (not rules and not notes):
            level = "warning" if held.policy is EffectivePolicy.DISALLOW else "hint"
            say(f"{name}: {state_words(held)}", label=level, style="warning")
        where = os.fsencode(received.url or "")
        found = LintedFile(where, False, tuple(notes), robots.body, fail_on=settings.fail_on)
        return found, held

    def page(self, url: str, held: OriginState, settings: LintSettings) -> Iterator[LintedFile]:
        """Ask for the page of a URL, if the rules allow it; yield what its tags say."""
        if urlsplit(url).path in NO_PAGE and not urlsplit(url).query:
            return
        assert self._client is not None
        with told():
            page = self._client.fetch(url)
        name = shortened(visible(page.url), LONGEST)
        if not page.verdict:
            say(f"{name} was not asked for: the rules disallow it", label="hint")
            return
        if page.failure_reason is not None or not page.ok:
            raise CliError(f"{name} was not linted: {page_words(page)}")
        with told():
            notes = lint_page(
                page.url,
                headers=page.fields,
                html=self._html(page),
                complete=page.complete,
                robots=held.robots if page.origin_state is None else page.origin_state.robots,
                select=settings.select,
                ignore=settings.ignore,
            )
        yield LintedFile(os.fsencode(page.url), False, tuple(notes), fail_on=settings.fail_on)

    def _html(self, page: FetchResult) -> bytes | None:
        if not is_html(page.fields):
            return None
        if can_read_html():
            return page.body
        if not self._told_html:
            self._told_html = True
            warn_html_unread()
        return None

    def _open(self) -> Looker:
        if self._looker is None:
            self._client = self._opened.enter_context(self._opening.client(self._profile))
            looker = Looker(self._client, fresh=self._opening.fresh, profile=self._profile)
            self._looker = self._opened.enter_context(looker)
        return self._looker


def _received(held: OriginState, visit: FetchRecord) -> ServedResponse:
    """Return how a file was served."""
    targets = (resolve_location(hop.url, hop.location) or hop.location for hop in visit.hops)
    cache_control = b", ".join(visit.fields.get("cache-control"))
    return ServedResponse(
        url=robots_url(held.origin),
        # After a 304 the fields are those of the answer that it renews.
        status=200 if visit.revalidated else visit.status,
        media_type=parse_media_type(visit.fields) or "",
        charset=parse_charset(visit.fields),
        redirects=tuple(targets),
        cache_control=visible(cache_control) if cache_control else None,
    )
