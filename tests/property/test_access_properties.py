"""Properties of access, cache and origins: for any responses, any clock and any URL."""

from __future__ import annotations

import string
from collections.abc import Iterator
from itertools import pairwise
from math import inf
from typing import Any

import httpx2
import yarl
from hypothesis import assume, given
from hypothesis import strategies as st

from robotrules.access import (
    ACCESS_PROFILES,
    AccessProfile,
    AccessResult,
    AccessState,
    CachedCopy,
    Failure,
    FailureReason,
    Request,
    Response,
    access,
    classify_status,
)
from robotrules.cache import (
    MAX_CLOCK_SKEW,
    EffectivePolicy,
    Entry,
    FetchRecord,
    freshness,
    make_fetch_record,
    updated_entry,
)
from robotrules.http.origins import authority_end, origin_of, robots_url
from robotrules.tags import read_fields

ORIGIN, ROBOTS = "https://e.example", "https://e.example/robots.txt"
DAY, START = 86_400.0, 1_767_225_600.0
FROM_RESPONSE = (
    FailureReason.STATUS,
    FailureReason.REDIRECTS,
    FailureReason.LOOP,
    FailureReason.LOCATION,
)
NETWORK = [trouble for trouble in FailureReason if trouble not in FROM_RESPONSE]

# --- Responses ------------------------------------------------------------------------------------

# Few targets, so that loops occur; and invalid ones.
LOCATIONS = st.one_of(
    st.sampled_from(
        [
            *("/robots.txt", "/a", "/b", "/c", "a", "?a", "#a", "", "/", "//b.example/a", "///a"),
            *("https://b.example/a", "http://e.example/robots.txt", "HTTPS://E.EXAMPLE:443/a#b"),
            *("https://u:p@b.example/a", "ftp://e.example/", "https://", "https:a", "//", "\\\\a"),
            *("https://[::1]/", "https://[::1", "https://b\u00fccher.example/", "http://127.1/"),
        ]
    ).map(str.encode),
    st.binary(max_size=40),
    st.text(max_size=20).map(lambda text: f"https://{text}/".encode("utf-8", "surrogatepass")),
)
FIELDS = st.lists(
    st.one_of(
        st.tuples(st.just("Location"), LOCATIONS),
        st.tuples(st.just("ETag"), st.sampled_from([b'"a"', b'"b"', b"*", b"\xff"])),
        st.tuples(
            st.just("Cache-Control"),
            st.sampled_from([b"max-age=600", b"max-age=x", b"no-store", b"no-cache", b"max-age=0"]),
        ),
        st.tuples(st.just("Retry-After"), st.sampled_from([b"5", b"7200", b"999999999", b"soon"])),
        st.tuples(st.just("Age"), st.integers(0, 10**12).map(lambda age: str(age).encode())),
    ),
    max_size=4,
)
STATUSES = st.one_of(
    st.sampled_from([301, 302, 303, 307, 308]),
    st.sampled_from([200, 204, 206, 304, 401, 403, 404, 429, 503]),
    st.integers(0, 1000),
)
ANSWERS = st.one_of(
    st.builds(Response, STATUSES, FIELDS, st.binary(max_size=20), st.booleans()),
    st.builds(Response, st.just(302), st.tuples(st.tuples(st.just("Location"), LOCATIONS))),
    st.builds(Failure, st.sampled_from(NETWORK)),
)
STORED = st.none() | st.builds(
    CachedCopy,
    st.sampled_from([ROBOTS, f"{ORIGIN}/a", "https://b.example/a"]),
    st.binary(max_size=20),
    FIELDS.map(read_fields),
)
SECONDS = st.sampled_from([0.0, 60.0, 3_600.0, 12 * 3_600.0, 10 * DAY, inf])
PROFILES = st.sampled_from(list(ACCESS_PROFILES.values())) | st.builds(
    AccessProfile,
    name=st.just("any"),
    unreachable_4xx=st.sets(st.integers(400, 499), max_size=3).map(tuple),
    deny_on_401_403=st.booleans(),
    max_redirects=st.integers(5, 8),
    redirect_failure_unreachable=st.booleans(),
    broken_redirect=st.sampled_from(["unreachable", "unavailable"]),
    validators=st.booleans(),
    min_ttl=st.sampled_from([1.0, 300.0, 3_600.0]),
    max_ttl=st.sampled_from([3_600.0, DAY]),
    stale_after=SECONDS,
    without_copy=st.sampled_from(["disallow", "allow"]),
    give_up_after=SECONDS,
    on_give_up=st.sampled_from(["unavailable", "cached"]),
    initial_backoff=st.sampled_from([1.0, 60.0]),
    max_backoff=st.sampled_from([60.0, 3_600.0, inf]),
)


def drive_access(
    answers: list[Response | Failure], last: Response | Failure, **given: Any
) -> tuple[AccessResult, list[Request]]:
    """Drive the flow; after all answers, the last one is repeated."""
    flow = access(ORIGIN, **given)
    requests = [next(flow)]
    for _ in range(1_000):
        answer = answers.pop(0) if answers else last
        try:
            requests.append(flow.send(answer))
        except StopIteration as end:
            return end.value, requests
    raise AssertionError("the flow does not end")


class TestAccess:
    """RFC 9309 §2.3.1: every sequence of responses has a result."""

    @given(st.lists(ANSWERS, max_size=8), ANSWERS, PROFILES, STORED)
    def test_flow_ends(
        self,
        answers: list[Response | Failure],
        last: Response | Failure,
        profile: AccessProfile,
        stored: CachedCopy | None,
    ) -> None:
        """There is at most one request more than redirects, and no exception."""
        result, requests = drive_access(answers, last, profile=profile, cached=stored)

        urls = [request.url for request in requests]
        # After a 304 for another file the same URL is requested again, without conditions.
        twice = [first for first, second in pairwise(requests) if first.url == second.url]
        assert 1 <= len(set(urls)) <= profile.max_redirects + 1
        assert urls[0] == ROBOTS
        assert len(urls) == len(set(urls)) + len(twice)
        assert len(twice) <= 1
        assert all(request.headers for request in twice)
        urls = [*dict.fromkeys(urls)]
        assert result.origin == ORIGIN
        assert result.url == urls[-1]
        assert [hop.url for hop in result.hops] in (urls, urls[:-1])
        for request in requests:
            assert request.url.isascii()
            assert request.url.isprintable()
            assert not set(request.url) & set(" #")
            assert "@" not in request.url[: authority_end(request.url)]
            origin = origin_of(request.url)
            assert origin is not None
            assert request.url.startswith(f"{origin}/")
            if request.headers:
                assert stored is not None
                assert profile.validators
                assert request.url == stored.url

    @given(st.lists(ANSWERS, max_size=8), ANSWERS, PROFILES, STORED)
    def test_result_is_consistent(
        self,
        answers: list[Response | Failure],
        last: Response | Failure,
        profile: AccessProfile,
        stored: CachedCopy | None,
    ) -> None:
        """A file and a failure exclude each other; the substitute file agrees with the state."""
        result, _ = drive_access(answers, last, profile=profile, cached=stored)

        assert (result.state is AccessState.SUCCESS) == (result.failure_reason is None)
        assert (result.status is None) == (result.failure_reason in NETWORK)
        assert not result.body or result.state is AccessState.SUCCESS
        if result.failure_reason is FailureReason.STATUS:
            assert result.status is not None
            assert result.state is classify_status(result.status, profile)
        if result.revalidated:
            assert stored is not None
            assert (result.body, result.status) == (stored.body, 304)
        robots = result.robots()
        if result.state is not AccessState.SUCCESS:
            allowed = result.state is AccessState.UNAVAILABLE and not result.restricted
            assert bool(robots.check(f"{ORIGIN}/x", "a")) is allowed
        assert robots.check(ROBOTS, "a")
        assert result.as_dict()["state"] == result.state

    @given(st.lists(ANSWERS, max_size=8), ANSWERS, PROFILES)
    def test_cautious_only_restricts(
        self, answers: list[Response | Failure], last: Response | Failure, profile: AccessProfile
    ) -> None:
        """A cautious client makes the same requests; its result is the same or unreachable."""
        usual, requests = drive_access(
            [*answers], last, profile=profile.replace(redirect_failure_unreachable=False)
        )
        cautious, same_requests = drive_access(
            [*answers], last, profile=profile.replace(redirect_failure_unreachable=True)
        )

        assert requests == same_requests
        assert cautious.state in (usual.state, AccessState.UNREACHABLE)


# --- Fetches --------------------------------------------------------------------------------------

RESULTS = st.builds(
    lambda answer, profile, stored: drive_access([], answer, profile=profile, cached=stored)[0],
    ANSWERS,
    PROFILES,
    STORED,
)
# Mostly forwards; a clock may also jump backwards.
GAPS = st.one_of(
    st.sampled_from([0.0, 1.0, 59.0, 60.0, 300.0, 3_600.0, 77_760.0, DAY, 12 * 3_600.0, 30 * DAY]),
    st.floats(0, 40 * DAY),
    st.floats(-2 * DAY, 0),
)
VISITS = st.lists(st.tuples(GAPS, RESULTS), max_size=6)


def record_visits(
    visits: list[tuple[float, AccessResult]], profile: AccessProfile
) -> Iterator[tuple[Entry | None, FetchRecord]]:
    """Yield each fetch with the entry before it."""
    entry, now = None, START
    for gap, result in visits:
        now += gap
        names = {"agent": "a", "user_agent": "a/1"}
        visit = make_fetch_record(result, entry, at=now, **names, profile=profile)
        yield entry, visit
        entry = updated_entry(entry, visit)


def final_entry(
    visits: list[tuple[float, AccessResult]], profile: AccessProfile
) -> tuple[Entry | None, float]:
    """Return the entry after all fetches, and the time of the last."""
    entry, now = None, START
    for before, visit in record_visits(visits, profile):
        entry, now = updated_entry(before, visit), visit.at
    return entry, now


class TestFreshness:
    """RFC 9309 §2.4: at any time there is a policy, with the time until which it holds."""

    @given(VISITS, GAPS, PROFILES, PROFILES, st.booleans())
    def test_freshness_is_total(
        self,
        visits: list[tuple[float, AccessResult]],
        gap: float,
        writer: AccessProfile,
        reader: AccessProfile,
        background: bool,
    ) -> None:
        """For entries of any profile there is a result; it holds beyond now or is to be renewed."""
        entry, last = final_entry(visits, writer)
        now = last + gap
        found = freshness(entry, now, reader, stale_while_revalidate=background)

        assert found.until >= now
        assert not (found.must_refresh and found.may_refresh)
        assert found.must_refresh or found.may_refresh or found.until > now
        assert found.must_refresh or found.policy is not EffectivePolicy.NOTHING
        assert background or not found.may_refresh

    @given(VISITS, GAPS, PROFILES, st.booleans())
    def test_policy_is_not_too_old(
        self,
        visits: list[tuple[float, AccessResult]],
        gap: float,
        profile: AccessProfile,
        background: bool,
    ) -> None:
        """
        A file older than the longest lifetime, at most a day, allows nothing.

        The exception is a file that is unreachable for as long as the profile states.
        """
        entry, last = final_entry(visits, profile)
        now = last + gap
        found = freshness(entry, now, profile, stale_while_revalidate=background)
        if found.policy in (EffectivePolicy.RULES, EffectivePolicy.ALLOW):
            assert entry is not None
            good = entry.last_success
            if found.reason == "fresh":
                assert good is not None
                assert now < good.at + min(profile.max_ttl, DAY)
                assert background or now < good.until
            else:
                assert entry.last_failure is not None
                since = min(entry.failing_since, now)
                bound = {"stale-copy": profile.stale_after, "gave-up": profile.give_up_after}[
                    found.reason
                ]
                assert now - since >= bound
        if found.policy is EffectivePolicy.RULES:
            assert entry is not None
            assert entry.last_success is not None
            assert entry.last_success.digest is not None

    @given(VISITS, GAPS, PROFILES, st.booleans(), st.floats(0, 1, exclude_max=True))
    def test_nothing_changes_before_until(
        self,
        visits: list[tuple[float, AccessResult]],
        gap: float,
        profile: AccessProfile,
        background: bool,
        part: float,
    ) -> None:
        """
        Before *until*, the result is the same.

        If the clock was before a failure, *until* may become later.
        """
        entry, last = final_entry(visits, profile)
        now = last + gap
        found = freshness(entry, now, profile, stale_while_revalidate=background)
        assume(not found.must_refresh and not found.may_refresh and found.until < inf)
        then = now + (found.until - now) * part
        assume(then < found.until)

        again = freshness(entry, then, profile, stale_while_revalidate=background)
        assert again._replace(until=found.until) == found
        assert again.until >= found.until
        assert again.until == found.until or gap < 0

    @given(VISITS, GAPS, PROFILES)
    def test_background_uses_no_more_than_a_day(
        self, visits: list[tuple[float, AccessResult]], gap: float, profile: AccessProfile
    ) -> None:
        """Refresh in the background uses stale files, and none that is a day old."""
        entry, last = final_entry(visits, profile)
        now = last + gap
        later = freshness(entry, now, profile, stale_while_revalidate=True)
        first = freshness(entry, now, profile)

        if first.reason == "fresh" or later.reason != "fresh":
            assert later.policy is first.policy
        if later.reason == "fresh":
            assert entry is not None
            assert entry.last_success is not None
            assert now < entry.last_success.at + DAY

    @given(VISITS, PROFILES)
    def test_recording_a_fetch(
        self, visits: list[tuple[float, AccessResult]], profile: AccessProfile
    ) -> None:
        """A usable fetch clears all failures; a failure keeps the last usable fetch."""
        for before, visit in record_visits(visits, profile):
            entry = updated_entry(before, visit)
            assert entry.last_fetch_at >= visit.at - MAX_CLOCK_SKEW
            if visit.usable:
                assert entry == Entry(visit.origin, visit.agent, last_success=visit)
                continue
            assert entry.last_failure is visit
            assert entry.failing_since <= visit.at
            if before is None:
                assert (entry.last_success, entry.failures, entry.failing_since) == (
                    None,
                    1,
                    visit.at,
                )
                continue
            assert entry.failures == before.failures + 1
            assert (entry.last_success is None) == (before.last_success is None)
            if before.last_failure:
                assert entry.failing_since <= before.failing_since

    @given(VISITS, PROFILES)
    def test_bounds(self, visits: list[tuple[float, AccessResult]], profile: AccessProfile) -> None:
        """Lifetimes and back-offs stay within the bounds of the profile."""
        for _, visit in record_visits(visits, profile):
            held = visit.until - visit.at
            slack = 1e-6  # the precision of seconds since 1970
            if visit.usable:
                assert profile.min_ttl - slack <= held <= profile.max_ttl + slack
            else:
                assert held >= min(profile.initial_backoff, profile.max_backoff) - slack
                assert held <= max(profile.max_backoff, DAY) + slack


# --- Origins --------------------------------------------------------------------------------------

LABELS = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=8)
HOSTS = st.one_of(
    st.lists(LABELS, min_size=1, max_size=4).map(".".join),
    st.lists(st.text("abéßжлä日本ｅ", min_size=1, max_size=5), min_size=1, max_size=3).map(
        ".".join
    ),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(lambda address: f"[{address}]"),
)
PORTS = st.one_of(st.just(""), st.integers(1, 65_535).map(lambda port: f":{port}"))
USERS = st.sampled_from(["", "u@", "u:p@", "@"])
SCHEMES = st.sampled_from(["http", "https", "HTTP", "hTTpS"])
RESTS = st.sampled_from(["", "/", "/a", "?a", "#a", "/a@b", "/a:80", "//b.example/", "?u=//c/"])
URLS = st.builds(lambda *pieces: "".join(pieces), SCHEMES, st.just("://"), USERS, HOSTS, PORTS)


class TestOrigins:
    """RFC 9309 §2.3: one origin has one file, in every spelling."""

    @given(st.one_of(st.text(), st.binary(), URLS))
    def test_origin_is_total(self, url: str | bytes) -> None:
        """Any text has an origin or none; an origin is that of itself and of its robots.txt."""
        origin = origin_of(url)

        if origin is not None:
            assert origin.isascii()
            assert origin == origin.lower()
            assert origin_of(origin) == origin
            assert origin_of(robots_url(origin)) == origin
            assert authority_end(robots_url(origin)) == len(origin)

    @given(URLS, RESTS)
    def test_text_after_the_authority_is_ignored(self, url: str, rest: str) -> None:
        """Path, query and fragment are ignored, and so is the case of ASCII letters."""
        origin = origin_of(url)

        assert origin_of(url + rest) == origin
        assert origin_of((url + rest).encode()) == origin
        if url.isascii():
            assert origin_of(url.upper()) == origin_of(url.lower()) == origin

    @given(URLS, RESTS)
    def test_http_libraries_agree(self, url: str, rest: str) -> None:
        """httpx2 and yarl connect to the same origin, if both accept the URL."""
        origin = origin_of(url + rest)
        assume(origin is not None)

        for theirs in (_httpx2_origin(url + rest), _yarl_origin(url + rest)):
            assert theirs in (None, origin)


def _httpx2_origin(url: str) -> str | None:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return None
    return _join_origin(parsed.scheme, parsed.raw_host.decode("ascii"), parsed.port)


def _yarl_origin(url: str) -> str | None:
    try:
        parsed = yarl.URL(url)
    except ValueError:
        return None
    return _join_origin(parsed.scheme, parsed.raw_host or "", parsed.port)


def _join_origin(scheme: str, host: str, port: int | None) -> str:
    shown = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[scheme]
    return f"{scheme}://{shown}" + ("" if port in (None, default) else f":{port}")
