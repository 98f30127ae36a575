"""
Evidence: what the rules of an origin said at a time, from the fetch records of a store.

The records of each crawler are replayed with `cache.updated_entry` up to that time, and
`cache.freshness` gives the policy then in effect: the verdict is the one that a client would have
given. Fetches of clients and imported records are separate histories, and the former take
precedence: an archive is used if no client had fetched by that time, or if it is requested, and the
verdict says so. If nothing was known, or the file is lost, a note states it and there is no
verdict. The module fetches nothing and has no clock.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from datetime import datetime
from math import inf, isfinite, nextafter
from typing import Any, NamedTuple

from robotrules.access import (
    AccessProfile,
    AccessState,
    find_access_profile,
    find_profiles,
)
from robotrules.cache import (
    EffectivePolicy,
    FetchRecord,
    Store,
    body_digest,
)
from robotrules.client.historical_verdict import (
    EvidenceNote,
    HistoricalVerdict,
    Period,
    describe_provenance,
    format_time,
)
from robotrules.client.origin_state import OriginState, StateSource, make_origin_state
from robotrules.client.past_states import Histories, PastState, find_states, replay, sort_states
from robotrules.client.source_filter import IMPORTED, OWN, make_source_filter
from robotrules.errors import StoreError
from robotrules.http.caching import require_aware
from robotrules.http.origins import origin_of
from robotrules.octets import to_text
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, Tokens, parse
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.verdict import Explanation

__all__ = ["Evidence", "EvidenceNote", "HistoricalVerdict", "Period"]

# Maximum number of other crawlers named in a note.
MAX_NAMES = 5


class Evidence:
    """
    The fetch records of a store, as evidence for verdicts of the past.

    *profile* determines how files are parsed, and *access* how responses are interpreted
    (`default`, `strict`, `google`, `stale`, or an `AccessProfile`); by default that of the profile.
    """

    def __init__(
        self,
        store: Store,
        profile: str | Profile = "default",
        access: str | AccessProfile | None = None,
    ) -> None:
        self.store = store
        self.profile, default_access = find_profiles(profile)
        self.access = default_access if access is None else find_access_profile(access)

    def at(
        self,
        url: URL,
        moment: datetime | float,
        product_token: Tokens,
        purposes: Sequence[str] = (),
        *,
        agent: str | None = None,
        source: str | None = None,
    ) -> HistoricalVerdict:
        """
        Return what the rules said about *url* at *moment* for the crawler *product_token*.

        *agent* selects the fetches of one crawler, by the product token it fetched with. None
        selects all, and a note reports where they found different files.

        *source* selects fetches by source: `own`, `imported`, or the SHA-256 of an archive. None
        selects own fetches, and imported ones only if there is no own fetch at that time.
        """
        make_source_filter(source)  # validates it in any case
        seconds, origin = _seconds(moment), origin_of(url)
        # Validates the names in any case, independent of the records.
        parse(b"", self.profile).rules_for(product_token, purposes)
        names = (product_token,) if isinstance(product_token, str) else tuple(product_token)
        unknown = HistoricalVerdict(
            to_text(url) if isinstance(url, bytes) else url,
            origin,
            seconds,
            ", ".join(names),
            tuple(purposes),
            self.profile.name,
            self.access.name,
        )
        if origin is None:
            message = (
                "This is not an http or https URL with a host, so no robots.txt applies to it."
            )
            return unknown._replace(notes=(EvidenceNote("no-origin", "error", message),))
        histories = self._replay(origin, seconds, agent, source)
        states = find_states(histories, seconds, self.access)
        if not states:
            return self._without_evidence(unknown, origin, agent, source)
        sort_states(states, names)
        chosen = states.pop()
        same_source = source or (IMPORTED if chosen.imported else OWN)
        following = self._select(origin, chosen.agent, same_source, nextafter(seconds, inf))
        later = next(following, None)
        following.close()
        explained = self._explain(chosen, url, product_token, purposes)
        fetch_record = explained.state.fetch_record
        notes = *explained.notes, *_find_limits(chosen, states, fetch_record, later)
        return unknown._replace(
            verdict=explained.explanation.verdict if explained.explanation else None,
            explanation=explained.explanation,
            policy=chosen.fresh.policy,
            policy_reason=chosen.fresh.reason,
            in_force=chosen.in_force,
            until=chosen.until,
            entry=chosen.entry,
            fetch_record=fetch_record,
            robots=explained.robots,
            next_fetch_record=later,
            notes=notes,
        )

    def fetch_records(
        self,
        url: URL,
        *,
        agent: str | None = None,
        source: str | None = None,
        after: float | None = None,
        before: float | None = None,
    ) -> Iterator[FetchRecord]:
        """Yield the fetch records of the origin of *url* in chronological order."""
        origin = origin_of(url)
        if origin is None:
            raise ValueError(f"{url!r} has no origin: pass a URL such as 'https://example.com/a'")
        make_source_filter(source)  # validates it now, not at the first iteration
        return self._select(origin, agent, source, after, before)

    def periods(
        self,
        url: URL,
        *,
        agent: str | None = None,
        source: str | None = None,
        after: float | None = None,
        before: float | None = None,
    ) -> list[Period]:
        """
        Return the outcomes over time: consecutive fetches with the same outcome are one period.

        Own fetches and those of each archive form separate periods.
        """
        periods: list[Period] = []
        current: dict[tuple[str, str | None], int] = {}
        for fetch_record in self.fetch_records(
            url, agent=agent, source=source, after=after, before=before
        ):
            history = (
                fetch_record.agent,
                fetch_record.provenance.digest if fetch_record.provenance else None,
            )
            number = current.get(history)
            if number is not None and _outcome(periods[number].last) == _outcome(fetch_record):
                first, _, fetches = periods[number]
                periods[number] = Period(first, fetch_record, fetches + 1)
            else:
                current[history] = len(periods)
                periods.append(Period(fetch_record, fetch_record, 1))
        return periods

    # --- States of the past -----------------------------------------------------------------------

    def _select(
        self,
        origin: str,
        agent: str | None,
        source: str | None,
        after: float | None = None,
        before: float | None = None,
    ) -> Generator[FetchRecord]:
        """Yield records of one crawler or source, or of all, `after <= at <= before`."""
        has_source = make_source_filter(source)
        lower_agent = None if agent is None else agent.lower()
        fetch_records = self.store.fetch_records(origin, after=after, before=before)
        with closing(fetch_records) if isinstance(fetch_records, Generator) else nullcontext():
            for fetch_record in fetch_records:
                has_agent = lower_agent is None or fetch_record.agent.lower() == lower_agent
                if has_agent and has_source(fetch_record):
                    yield fetch_record

    def _replay(
        self, origin: str, seconds: float, agent: str | None, source: str | None
    ) -> Histories:
        """Return the entry of each crawler at a time."""
        histories: Histories = {}
        for fetch_record in self._select(origin, agent, source, None, seconds):
            replay(histories, fetch_record, self.access)
        return histories

    def _without_evidence(
        self, unknown: HistoricalVerdict, origin: str, agent: str | None, source: str | None
    ) -> HistoricalVerdict:
        """Return a verdict that states that there is no evidence."""
        following = self._select(origin, agent, source, nextafter(unknown.at, inf))
        first = next(following, None)
        following.close()
        by = f" by {agent}" if agent else ""
        message = f"There is no fetch of {origin}{by}{f' ({source})' if source else ''}"
        message += f" before {format_time(first.at)}, the first one." if first else "."
        return unknown._replace(
            next_fetch_record=first, notes=(EvidenceNote("never-visited", "error", message),)
        )

    def _explain(
        self, past: PastState, url: URL, product_token: Tokens, purposes: Sequence[str]
    ) -> _Explained:
        """Return the explanation for a URL; the file is read if rules apply."""
        file: RobotsTxt | EvidenceNote | None = None
        if past.fresh.policy is EffectivePolicy.RULES and past.entry.last_success is not None:
            file = self.read_file(past.entry.last_success)
        note = file if isinstance(file, EvidenceNote) else None
        robots = file if isinstance(file, RobotsTxt) else None
        state = make_origin_state(
            past.entry, past.fresh, robots, profile=self.profile, source=StateSource.STORE
        )
        if note is not None:
            return _Explained(state, None, None, (note,))
        return _Explained(state, state.explain(url, product_token, purposes), robots)

    def read_file(self, good: FetchRecord) -> RobotsTxt | EvidenceNote:
        """Return the file of a successful fetch, or a note that states why it is missing."""
        if not good.may_store:
            message = "The file has no-store, so its SHA-256 was stored but not its content."
            return EvidenceNote("no-store", "error", message)
        try:
            body = self.store.body(good.digest or "")
        except StoreError as error:
            return EvidenceNote("body-missing", "error", f"The store cannot read the file: {error}")
        if body is None:
            message = "The store does not have the content of the file, or it is damaged."
            if good.provenance is not None:
                message = "The archive did not have the content of the file, or it was altered: "
                message += f"the record was {describe_provenance(good.provenance)}."
            return EvidenceNote("body-missing", "error", message)
        if body_digest(body) != good.digest:
            message = "The content in the store is not that of the file: its SHA-256 differs."
            return EvidenceNote("body-damaged", "error", message)
        return parse(body, self.profile, complete=good.complete)


class _Explained(NamedTuple):
    """The state and the explanation for a URL, as far as they are known."""

    state: OriginState
    explanation: Explanation | None
    robots: RobotsTxt | None
    notes: tuple[EvidenceNote, ...] = ()


def _find_limits(
    chosen: PastState,
    others: list[PastState],
    fetch_record: FetchRecord | None,
    later: FetchRecord | None,
) -> Iterator[EvidenceNote]:
    """Yield notes that limit or support a verdict."""
    if not chosen.in_force:
        message = f"The last known state expired on {format_time(chosen.until)}, and nothing is "
        yield EvidenceNote("lapsed", "warning", f"{message}known after it: this is that state.")
    entry = chosen.entry
    if chosen.doubt is not None and chosen.fresh.policy is EffectivePolicy.RULES:
        message = f"The 304 of {format_time(chosen.doubt.at)} has no validator of the copy, or "
        message += "answered a condition that any file meets: the file may have changed by then."
        yield EvidenceNote("renewal-in-doubt", "warning", message)
    if entry.last_failure is not None:
        times = "once" if entry.failures == 1 else f"{entry.failures:,} times in a row"
        message = f"Fetching the file failed {times}, first on {format_time(entry.failing_since)}."
        yield EvidenceNote("failing", "info", message)
    if later is not None and fetch_record is not None:
        yield _describe_later(fetch_record, later)
    if fetch_record is not None and fetch_record.provenance is not None:
        provenance = describe_provenance(fetch_record.provenance)
        message = f"No client of this store fetched the file: the record was {provenance}."
        yield EvidenceNote("imported", "warning", message)
    if not chosen.imported:
        yield from _compare_archives(chosen, [other for other in others if other.imported])
    differing = [
        other
        for other in others
        if (other.imported, other.in_force) == (chosen.imported, chosen.in_force)
        and other.outcome() != chosen.outcome()
    ]
    if differing:
        names = ", ".join(other.agent for other in differing[:MAX_NAMES])
        message = f"Crawlers found different files: this is what {chosen.agent} found; {names} "
        yield EvidenceNote("crawlers-differ", "warning", f"{message}found something else.")


def _compare_archives(chosen: PastState, imported: list[PastState]) -> Iterator[EvidenceNote]:
    """Yield notes on imported records, over which own records take precedence."""
    fix = "own fetches take precedence; use source 'imported' to see it"
    differing = [other for other in imported if other.outcome() != chosen.outcome()]
    for other in differing:
        if other.in_force == chosen.in_force and other.provenance:
            message = f"A fetch by {other.agent}, {describe_provenance(other.provenance)}, found "
            yield EvidenceNote("import-differs", "warning", f"{message}something else: {fix}.")
            break
    for other in imported:
        if other.in_force and not chosen.in_force and other.provenance:
            found = "something else" if other in differing else "the same"
            message = f"A fetch by {other.agent}, {describe_provenance(other.provenance)}, was "
            message += f"valid at this time, and found {found}: {fix}."
            yield EvidenceNote("import-held", "info", message)
            break


def _describe_later(fetch_record: FetchRecord, later: FetchRecord) -> EvidenceNote:
    """Return a note on the next fetch: the same file before and after a time is strong evidence."""
    date = format_time(later.at)
    if later.state is AccessState.UNREACHABLE:
        return EvidenceNote("failed-later", "info", f"The next fetch, on {date}, failed.")
    if (later.state, later.digest) == (fetch_record.state, fetch_record.digest):
        return EvidenceNote("same-later", "info", f"The next fetch, on {date}, found the same.")
    found = "another file" if later.state is fetch_record.state else "a file"
    found = found if later.state is AccessState.SUCCESS else "no file"
    return EvidenceNote("changed-later", "info", f"The next fetch, on {date}, found {found}.")


def _outcome(fetch_record: FetchRecord) -> tuple[Any, ...]:
    """Return the values that distinguish the outcomes of fetches."""
    return (
        fetch_record.state,
        fetch_record.status if not fetch_record.revalidated else 200,
        fetch_record.failure_reason,
        fetch_record.digest,
    )


def _seconds(given: datetime | float) -> float:
    if isinstance(given, datetime):
        return require_aware(given, "moment").timestamp()
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        name = type(given).__name__
        raise TypeError(f"a moment must be a datetime with zone or seconds since 1970, not {name}")
    if not isfinite(given):
        raise ValueError(f"moment is {given!r}: pass seconds since 1970, such as time.time()")
    return float(given)
