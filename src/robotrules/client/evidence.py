"""
Evidence: what the rules of an origin said at a moment, from the visits that a store keeps.

Visits are folded with `cache.recorded` into what was known then, each crawler's for itself, and
`cache.freshness` says what decided. So the answer is the one a client would have given. Own fetches
and imported visits are never folded together, and own ones go first: an archive answers where no
own visit is known at that moment, or where it is asked for, and the answer says so. Where
nothing was known, or the file is no longer there, that is said and there is no verdict. It fetches
nothing and has no clock.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from datetime import datetime
from math import inf, isfinite, nextafter
from operator import attrgetter
from typing import Any, NamedTuple

from robotrules.access import (
    AccessProfile,
    AccessResult,
    AccessState,
    FailureReason,
    classify_failed_redirect,
    classify_status,
    find_access_profile,
    find_profiles,
    next_url,
)
from robotrules.cache import (
    EffectivePolicy,
    Entry,
    FetchRecord,
    Freshness,
    Provenance,
    Store,
    body_digest,
    freshness,
    make_fetch_record,
    updated_entry,
)
from robotrules.client.historical_verdict import (
    EvidenceNote,
    HistoricalVerdict,
    Period,
    imported_from,
    when,
)
from robotrules.client.origin_state import OriginState, StateSource, held
from robotrules.client.sources import IMPORTED, OWN, chosen_source
from robotrules.errors import MissingExtraError, StoreError
from robotrules.http.caching import require_aware
from robotrules.http.origins import origin_of
from robotrules.http.validators import conditional_headers, confirms_stored, drop_invalid_validators
from robotrules.octets import to_text
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, Tokens, parse
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.verdict import Explanation

__all__ = ["Evidence", "EvidenceNote", "HistoricalVerdict", "Period"]

# Other crawlers that are named in a note.
MOST_NAMES = 5
# Redirects that did not lead to a file: what they mean is for the access profile to say.
LOST = (FailureReason.REDIRECTS, FailureReason.LOOP, FailureReason.LOCATION)


class Evidence:
    """
    The visits of a store, asked about moments of the past.

    *profile* is how files are read, and *access* how answers are (`default`, `strict`, `google`,
    `stale`, or an `AccessProfile`); without it, the one that goes with the profile.
    """

    def __init__(
        self,
        store: Store,
        profile: str | Profile = "default",
        access: str | AccessProfile | None = None,
    ) -> None:
        self.store = store
        self.profile, beside = find_profiles(profile)
        self.access = beside if access is None else find_access_profile(access)

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

        *agent* is the crawler whose visits count, by the product token it fetched with. None counts
        all, and a note says so where they found different files.

        *source* is where visits come from: `own`, `imported`, or the SHA-256 of an archive. None
        takes own visits, and imported ones only if no own visit is known at that moment.
        """
        chosen_source(source)  # vetted, whatever is known
        seconds, origin = _seconds(moment), origin_of(url)
        # The names are vetted in any case: whether they are in order does not depend on visits.
        parse(b"", self.profile).rules_for(product_token, purposes)
        names = (product_token,) if isinstance(product_token, str) else tuple(product_token)
        blank = HistoricalVerdict(
            to_text(url) if isinstance(url, bytes) else url,
            origin,
            seconds,
            ", ".join(names),
            tuple(purposes),
            self.profile.name,
            self.access.name,
        )
        if origin is None:
            words = "This is no http or https URL with a host, so no robots.txt governs it."
            return blank._replace(notes=(EvidenceNote("no-origin", "error", words),))
        folded = self._folded(origin, seconds, agent, source)
        known = [self._known(entry, seconds, doubt) for entry, doubt in folded.values()]
        if not known:
            return self._never(blank, origin, agent, source)
        tokens = {name.lower() for name in names}
        # What was fetched here goes before what an archive says: whoever wrote it chose its names
        # and times. Then what was known is worth more than what had lapsed, and what the crawler
        # itself was told more than what others were.
        known.sort(
            key=lambda one: (
                *(not one.imported, one.held, one.agent.lower() in tokens, one.entry.last_fetch_at),
            )
        )
        chosen = known.pop()
        beside = source or (IMPORTED if chosen.imported else OWN)
        visits = self._visits(origin, chosen.agent, beside, nextafter(seconds, inf))
        later = next(visits, None)
        visits.close()
        explained = self._explained(chosen, url, product_token, purposes)
        notes = *explained.notes, *_limits(chosen, known, explained.held.fetch_record, later)
        return blank._replace(
            verdict=explained.said.verdict if explained.said else None,
            explanation=explained.said,
            policy=chosen.fresh.policy,
            policy_reason=chosen.fresh.reason,
            in_force=chosen.held,
            until=chosen.until,
            entry=chosen.entry,
            fetch_record=explained.held.fetch_record,
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
        """Yield the visits to the origin of *url* in the order of their time."""
        origin = origin_of(url)
        if origin is None:
            raise ValueError(f"{url!r} has no origin: pass a URL such as 'https://example.com/a'")
        chosen_source(source)  # vetted now, and not when the first visit is asked for
        return self._visits(origin, agent, source, after, before)

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
        Return what was found over time: visits in a row that found the same are one period.

        Own visits and those of each archive are periods of their own.
        """
        periods: list[Period] = []
        current: dict[tuple[str, str | None], int] = {}
        for visit in self.fetch_records(
            url, agent=agent, source=source, after=after, before=before
        ):
            history = visit.agent, visit.provenance.digest if visit.provenance else None
            number = current.get(history)
            if number is not None and _outcome(periods[number].last) == _outcome(visit):
                first, _, visits = periods[number]
                periods[number] = Period(first, visit, visits + 1)
            else:
                current[history] = len(periods)
                periods.append(Period(visit, visit, 1))
        return periods

    # --- What was known ---------------------------------------------------------------------------

    def _visits(
        self,
        origin: str,
        agent: str | None,
        source: str | None,
        after: float | None = None,
        before: float | None = None,
    ) -> Generator[FetchRecord]:
        """Yield visits, those of one crawler or source or of all, `after <= at <= before`."""
        is_chosen = chosen_source(source)
        wanted = None if agent is None else agent.lower()
        visits = self.store.fetch_records(origin, after=after, before=before)
        with closing(visits) if isinstance(visits, Generator) else nullcontext():
            for visit in visits:
                if (wanted is None or visit.agent.lower() == wanted) and is_chosen(visit):
                    yield visit

    def _folded(
        self, origin: str, seconds: float, agent: str | None, source: str | None
    ) -> dict[tuple[str, str], tuple[Entry, FetchRecord | None]]:
        """
        Return what each crawler had at a moment, and the visit that puts its copy in doubt.

        Own visits and imported ones are two histories.
        """
        folded: dict[tuple[str, str], tuple[Entry, FetchRecord | None]] = {}
        for visit in self._visits(origin, agent, source, None, seconds):
            history = visit.agent, visit.source
            before, doubt = folded.get(history, (None, None))
            read = _read_as(visit, before, self.access)
            if read.usable:
                doubt = (doubt or _doubtful(before, read)) if read.revalidated else None
            folded[history] = updated_entry(before, read), doubt
        return folded

    def _known(self, entry: Entry, seconds: float, doubt: FetchRecord | None) -> _Known:
        """Return what decided at a moment; of what had lapsed, what decided last."""
        good, bad = entry.last_success, entry.last_failure
        ends = [min(good.until, good.at + self.access.max_ttl)] if good else []
        until = max([*ends, bad.until] if bad else ends)
        fresh = freshness(entry, min(seconds, nextafter(until, -inf)), self.access)
        held = seconds < until
        return _Known(entry, fresh, held, fresh.until if held else until, doubt)

    def _never(
        self, blank: HistoricalVerdict, origin: str, agent: str | None, source: str | None
    ) -> HistoricalVerdict:
        """Answer that nothing is known."""
        visits = self._visits(origin, agent, source, nextafter(blank.at, inf))
        first = next(visits, None)
        visits.close()
        by = f" by {agent}" if agent else ""
        words = f"No visit to {origin}{by}{f' ({source})' if source else ''} is known"
        words += f" before {when(first.at)}, the first one." if first else "."
        return blank._replace(
            next_fetch_record=first, notes=(EvidenceNote("never-visited", "error", words),)
        )

    def _explained(
        self, known: _Known, url: URL, product_token: Tokens, purposes: Sequence[str]
    ) -> _Explained:
        """Return what was said about a URL; the file is looked up if rules decide."""
        found: RobotsTxt | EvidenceNote | None = None
        if known.fresh.policy is EffectivePolicy.RULES and known.entry.last_success is not None:
            found = self._file(known.entry.last_success)
        note = found if isinstance(found, EvidenceNote) else None
        robots = found if isinstance(found, RobotsTxt) else None
        told = held(
            known.entry, known.fresh, robots, profile=self.profile, source=StateSource.STORE
        )
        if note is not None:
            return _Explained(told, None, None, (note,))
        return _Explained(told, told.explain(url, product_token, purposes), robots)

    def _file(self, good: FetchRecord) -> RobotsTxt | EvidenceNote:
        """Return the file that a visit found, or why it is not there."""
        if not good.may_store:
            words = "The file said no-store, so its SHA-256 was kept and its octets were not."
            return EvidenceNote("no-store", "error", words)
        try:
            body = self.store.body(good.digest or "")
        except StoreError as error:
            return EvidenceNote("body-missing", "error", f"The store cannot give the file: {error}")
        if body is None:
            words = "The store does not have the octets of the file, or they are damaged."
            if good.provenance is not None:
                words = "The archive did not have the octets of the file, or they were altered: "
                words += f"the visit was {imported_from(good.provenance)}."
            return EvidenceNote("body-missing", "error", words)
        if body_digest(body) != good.digest:
            words = "The octets in the store are not those of the file: their SHA-256 differs."
            return EvidenceNote("body-damaged", "error", words)
        return parse(body, self.profile, complete=good.complete)


class _Known(NamedTuple):
    """What one crawler had, and what decided."""

    entry: Entry
    fresh: Freshness
    held: bool
    until: float
    doubt: FetchRecord | None

    @property
    def agent(self) -> str:
        """Who that was."""
        return self.entry.agent

    @property
    def provenance(self) -> Provenance | None:
        """Where the last visit comes from."""
        visits = [visit for visit in (self.entry.last_success, self.entry.last_failure) if visit]
        return max(visits, key=attrgetter("at")).provenance

    @property
    def imported(self) -> bool:
        """Whether its visits were imported; own ones are never among them."""
        return self.provenance is not None

    def outcome(self) -> tuple[EffectivePolicy, str | None]:
        """Return what is compared between crawlers."""
        good = self.entry.last_success
        rules = self.fresh.policy is EffectivePolicy.RULES
        return self.fresh.policy, good.digest if good and rules else None


class _Explained(NamedTuple):
    """What was said about a URL, as far as it can be known."""

    held: OriginState
    said: Explanation | None
    robots: RobotsTxt | None
    notes: tuple[EvidenceNote, ...] = ()


def _read_as(visit: FetchRecord, before: Entry | None, profile: AccessProfile) -> FetchRecord:
    """Return a visit as this profile reads it: another may have recorded it (AMB-50, AMB-55)."""
    state = visit.state
    if visit.failure_reason is FailureReason.STATUS and visit.status is not None:
        state = classify_status(visit.status, profile)
    elif visit.failure_reason in LOST and _led_nowhere(visit):
        state = classify_failed_redirect(visit.failure_reason, profile)
    if state is not visit.state:
        result = AccessResult(
            *(visit.origin, state, visit.status, visit.failure_reason, visit.detail, visit.url),
            *(visit.hops, visit.fields, b"", visit.complete, visit.revalidated, visit.address),
        )
        agent, user_agent = visit.agent, visit.user_agent
        provenance = visit.provenance
        visit = make_fetch_record(
            result, before, at=visit.at, agent=agent, user_agent=user_agent, profile=profile
        )._replace(provenance=provenance)
    # What never held was in force when it was found all the same.
    return visit._replace(until=max(visit.until, nextafter(visit.at, inf)))


def _doubtful(before: Entry | None, visit: FetchRecord) -> FetchRecord | None:
    """
    Return a visit whose 304 cannot vouch for the copy that it renewed; None: it can.

    An earlier version sent conditions that any file meets (`If-None-Match: *`, a date in the
    future) and took a 304 with another ETag for a renewal (RFC 9111 §4.3.4).
    """
    good = before.last_success if before else None
    if good is None or good.digest != visit.digest:
        return None
    known = drop_invalid_validators(good.fields, good.at)
    vouches = bool(conditional_headers(known)) and confirms_stored(known, visit.fields)
    return None if vouches else visit


def _led_nowhere(visit: FetchRecord) -> bool:
    """Tell whether the redirects of a visit lead nowhere for any client that follows them."""
    if visit.failure_reason is not FailureReason.LOCATION or not visit.hops:
        return True
    try:
        return next_url(visit.hops[-1]) is None
    except MissingExtraError:
        return False  # to a name that the client of then could not read, nor this one


def _limits(
    chosen: _Known, others: list[_Known], visit: FetchRecord | None, later: FetchRecord | None
) -> Iterator[EvidenceNote]:
    """Yield what limits or supports an answer."""
    if not chosen.held:
        words = f"What was known held until {when(chosen.until)}, and nothing is known after it: "
        yield EvidenceNote("lapsed", "warning", f"{words}this is what was known last.")
    entry = chosen.entry
    if chosen.doubt is not None and chosen.fresh.policy is EffectivePolicy.RULES:
        words = f"The 304 of {when(chosen.doubt.at)} does not carry a validator of the copy, or "
        words += "answered a condition that any file meets: the file may have changed by then."
        yield EvidenceNote("renewal-in-doubt", "warning", words)
    if entry.last_failure is not None:
        times = "once" if entry.failures == 1 else f"{entry.failures:,} times in a row"
        words = f"Asking for the file failed {times}, first on {when(entry.failing_since)}."
        yield EvidenceNote("failing", "info", words)
    if later is not None and visit is not None:
        yield _found_later(visit, later)
    if visit is not None and visit.provenance is not None:
        words = (
            f"This store did not fetch the file: the visit was {imported_from(visit.provenance)}."
        )
        yield EvidenceNote("imported", "warning", words)
    if not chosen.imported:
        yield from _other_archives(chosen, [one for one in others if one.imported])
    differing = [
        one
        for one in others
        if (one.imported, one.held) == (chosen.imported, chosen.held)
        and one.outcome() != chosen.outcome()
    ]
    if differing:
        names = ", ".join(one.agent for one in differing[:MOST_NAMES])
        words = f"Not all crawlers found the same: this is what {chosen.agent} found, and {names} "
        yield EvidenceNote("crawlers-differ", "warning", f"{words}found something else.")


def _other_archives(chosen: _Known, imported: list[_Known]) -> Iterator[EvidenceNote]:
    """Yield what imported visits say beside own ones, which go first."""
    ask = "own visits go first; ask for source 'imported' to see it"
    differing = [one for one in imported if one.outcome() != chosen.outcome()]
    for one in differing:
        if one.held == chosen.held and one.provenance:
            words = f"A visit by {one.agent} that was {imported_from(one.provenance)} found "
            yield EvidenceNote("import-differs", "warning", f"{words}something else: {ask}.")
            break
    for one in imported:
        if one.held and not chosen.held and one.provenance:
            found = "something else" if one in differing else "the same"
            words = f"A visit by {one.agent} that was {imported_from(one.provenance)} held at this "
            yield EvidenceNote("import-held", "info", f"{words}moment, and found {found}: {ask}.")
            break


def _found_later(visit: FetchRecord, later: FetchRecord) -> EvidenceNote:
    """Say what the next visit found: the same file on both sides of a moment says a lot."""
    date = when(later.at)
    if later.state is AccessState.UNREACHABLE:
        return EvidenceNote("failed-later", "info", f"The next visit, on {date}, failed.")
    if (later.state, later.digest) == (visit.state, visit.digest):
        return EvidenceNote("same-later", "info", f"The next visit, on {date}, found the same.")
    found = "another file" if later.state is visit.state else "a file"
    found = found if later.state is AccessState.SUCCESS else "no file"
    return EvidenceNote("changed-later", "info", f"The next visit, on {date}, found {found}.")


def _outcome(visit: FetchRecord) -> tuple[Any, ...]:
    """Return what makes two visits the same to a reader of their history."""
    return (
        visit.state,
        visit.status if not visit.revalidated else 200,
        visit.failure_reason,
        visit.digest,
    )


def _seconds(given: datetime | float) -> float:
    if isinstance(given, datetime):
        return require_aware(given, "moment").timestamp()
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        name = type(given).__name__
        raise TypeError(f"a moment is a datetime with a zone or seconds since 1970, not {name}")
    if not isfinite(given):
        raise ValueError(f"a moment is {given!r}: pass seconds since 1970, such as time.time()")
    return float(given)
