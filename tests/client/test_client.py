"""
Client and AsyncClient: their requests and their answers (RFC 9309 §2.3, §2.4).

Every test runs on both, over a scripted server and a clock that is set by hand.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import robotrules
from robotrules import CrawlerError, ProductTokenError, ProfileError, Reason, StoreError
from robotrules.access import AccessProfile, AccessState, Failure, FailureReason, Request, Response
from robotrules.cache import EffectivePolicy
from robotrules.client import AsyncClient, Client, StateSource, open_store
from robotrules.json_results.schemas import load_schema
from tests.cli.schema import problems
from tests.client.scripted import START, AsyncServer, Clock, Server

FILE = b"User-agent: *\nDisallow: /private/\n\nUser-agent: otherbot\nDisallow: /\n"
SITE = "https://example.com"
ROBOTS = f"{SITE}/robots.txt"
DAY = 86_400.0
SCHEMA = load_schema("explain")
Make = Callable[..., Any]


@pytest.fixture
def server() -> Server:
    server = Server()
    server.answers[ROBOTS] = Response(200, {}, FILE)
    return server


class TestChecking:
    """A check fetches once, and then answers from the cache."""

    def test_fetches_once(self, make: Make, server: Server) -> None:
        client = make()
        assert not client.check(f"{SITE}/private/x")
        assert client.check(f"{SITE}/public")
        assert client.check(SITE)
        assert client.check(f"{SITE}?q=/private/")
        assert server.urls == [ROBOTS]

    def test_what_memory_has(self, make: Make, server: Server, clock: Clock) -> None:
        """`cached` uses neither the server nor the store."""
        store = open_store("memory:")
        client = make(store=store)
        assert client.cached(f"{SITE}/x") is None
        assert client.cached("mailto:x") is None
        state = client.lookup(SITE)
        assert client.cached(f"{SITE}/x").entry == state.entry
        clock.now += DAY
        assert client.cached(SITE) is None
        clock.now -= DAY
        client.clear_memory()
        assert client.cached(SITE) is None
        assert server.urls == [ROBOTS]

    def test_reports_the_line(self, make: Make) -> None:
        verdict = make().check(f"{SITE}/private/x")
        assert (verdict.line, verdict.reason) == (2, Reason.DISALLOW_RULE)

    def test_one_origin_is_one_file_however_it_is_written(self, make: Make, server: Server) -> None:
        client = make()
        for url in ("https://EXAMPLE.com:443/private/", "https://u:p@example.com./private/"):
            assert not client.check(url)
        assert not client.check(b"https://example.com/private/")
        assert server.urls == [ROBOTS]

    def test_scheme_host_and_port_have_separate_files(self, make: Make, server: Server) -> None:
        client = make()
        for site in ("http://example.com", "https://www.example.com", f"{SITE}:8443"):
            assert client.check(f"{site}/private/").reason is Reason.UNAVAILABLE
        assert len(server.urls) == 3

    def test_one_letter_more_is_another_origin(self, make: Make, server: Server) -> None:
        client = make()
        for url in ("https://example.co/", "https://example.com", "https://example.co/x"):
            client.check(url)
            client.check(url)
        assert not client.check("https://example.com/private/")
        assert client.check_many(["https://example.co/private/", "https://example.com"])[0]
        assert server.urls == ["https://example.co/robots.txt", ROBOTS]

    def test_about_another_crawler(self, make: Make) -> None:
        client = make()
        assert not client.check(f"{SITE}/a", "OtherBot")
        assert client.check(f"{SITE}/a", ["Nobody", "ExampleBot"])
        assert client.check(f"{SITE}/a")

    def test_by_purpose(self, make: Make, server: Server) -> None:
        server.answers[ROBOTS] = Response(200, {}, b"User-agent-purpose: P\nDisallow: /p\n")
        client = make(purposes=["P"], user_agent="ExampleBot/1.0 (P; +https://example.com)")
        assert not client.check(f"{SITE}/p")
        assert client.check(f"{SITE}/p", purposes=[])
        assert client.check(f"{SITE}/p", "ExampleBot")

    @pytest.mark.parametrize(
        "url", ["mailto:a@example.com", "/private/", "", "ftp://example.com/", "https://a b/"]
    )
    def test_what_has_no_origin(self, make: Make, url: str, server: Server) -> None:
        client = make()
        verdict = client.check(url)
        assert (verdict.allowed, verdict.reason) == (False, Reason.NO_ORIGIN)
        assert client.explain(url).verdict == verdict
        assert client.lookup(url) is None
        assert client.refresh(url) is None
        assert not server.asked
        for ask in (client.robots, client.delay):
            with pytest.raises(ValueError, match="http or https"):
                ask(url)

    def test_other_types_are_misuse(self, make: Make) -> None:
        with pytest.raises(TypeError, match="str or bytes"):
            make().check(1)


class TestStates:
    """Where no rules decide, the verdict names what does."""

    def test_unavailable(self, make: Make, server: Server) -> None:
        server.answers[ROBOTS] = Response(404)
        state = make().lookup(SITE)
        verdict = state.check(f"{SITE}/x", "ExampleBot")
        assert (verdict.allowed, verdict.reason) == (True, Reason.UNAVAILABLE)
        assert (state.state, state.policy) == (AccessState.UNAVAILABLE, EffectivePolicy.ALLOW)

    @pytest.mark.parametrize("answer", [Response(503), Failure(FailureReason.DNS, "no address")])
    def test_unreachable(self, make: Make, server: Server, answer: Any) -> None:
        server.answers[ROBOTS] = answer
        client = make()
        verdict = client.check(f"{SITE}/x")
        assert (verdict.allowed, verdict.reason) == (False, Reason.UNREACHABLE)
        assert client.check(ROBOTS).reason is Reason.IMPLICIT
        assert client.lookup(SITE).state is AccessState.UNREACHABLE
        assert [one.allowed for one in client.check_many([f"{SITE}/x", ROBOTS])] == [False, True]

    def test_unreachable_is_requested_again_after_a_while(
        self, make: Make, server: Server, clock: Clock
    ) -> None:
        server.answers[ROBOTS] = [Response(503), Response(503), Response(200, {}, FILE)]
        client = make()
        for seconds, requests, allowed in ((0, 1, False), (59, 1, False), (2, 2, False)):
            clock.now += seconds
            assert client.check(f"{SITE}/x").allowed is allowed
            assert len(server.asked) == requests
        clock.now += 119
        assert not client.check(f"{SITE}/x")
        clock.now += 2
        assert client.check(f"{SITE}/x")

    def test_restricted(self, make: Make, server: Server) -> None:
        server.answers[ROBOTS] = Response(403)
        assert make().check(f"{SITE}/x").reason is Reason.UNAVAILABLE
        deny = AccessProfile(name="careful", deny_on_401_403=True)
        verdict = make(access=deny).check(f"{SITE}/x")
        assert (verdict.allowed, verdict.reason) == (False, Reason.RESTRICTED)

    def test_a_profile_by_name_is_for_fetching_too(
        self, make: Make, server: Server, clock: Clock
    ) -> None:
        server.answers[ROBOTS] = [Response(200, {}, FILE), Response(503)]
        stale, default = make(profile="stale"), make()
        assert stale.check(f"{SITE}/x")
        server.answers[ROBOTS] = [Response(200, {}, FILE), Response(503)]
        assert default.check(f"{SITE}/x")
        clock.now += DAY + 1
        server.answers[ROBOTS] = Response(503)
        assert stale.check(f"{SITE}/x").reason is Reason.NO_MATCH
        assert stale.lookup(SITE).state is AccessState.UNREACHABLE
        assert default.check(f"{SITE}/x").reason is Reason.UNREACHABLE

    def test_a_lost_copy_decides_nothing(self, make: Make, server: Server, clock: Clock) -> None:
        server.answers[ROBOTS] = [Response(200, {}, FILE), Response(503)]
        client = make(profile="stale")
        assert client.check(f"{SITE}/x")
        store = client.store
        client.clear_memory()
        store.body = lambda digest: None
        clock.now += DAY + 1
        assert client.check(f"{SITE}/x").reason is Reason.UNREACHABLE


class TestKeeping:
    """What is fetched is kept: here, and in the store for the next process."""

    def test_a_day(self, make: Make, server: Server, clock: Clock) -> None:
        client = make()
        client.check(SITE)
        clock.now += DAY - 1
        client.check(SITE)
        assert len(server.asked) == 1
        clock.now += 2
        client.check(SITE)
        assert len(server.asked) == 2

    def test_sends_conditional_requests(self, make: Make, server: Server, clock: Clock) -> None:
        def answer(request: Request) -> Response:
            if dict(request.headers).get("If-None-Match") == '"1"':
                return Response(304, {"Cache-Control": "max-age=600"})
            return Response(200, {"ETag": '"1"', "Cache-Control": "max-age=600"}, FILE)

        server.answers[ROBOTS] = answer
        client = make()
        client.check(SITE)
        clock.now += 601
        assert not client.check(f"{SITE}/private/")
        fetch_record = client.lookup(SITE).fetch_record
        assert (fetch_record.status, fetch_record.revalidated, fetch_record.state) == (
            304,
            True,
            AccessState.SUCCESS,
        )
        assert fetch_record.until == clock.now + 600
        assert not client.refresh(SITE).check(f"{SITE}/private/", "ExampleBot")
        assert len(server.asked) == 3

    def test_the_store_serves_the_next_process(
        self, make: Make, server: Server, clock: Clock
    ) -> None:
        store = open_store("memory:")
        client = make(store=store)
        assert client.lookup(SITE).source is StateSource.FETCHED
        assert client.lookup(SITE).source is StateSource.MEMORY
        state = make(store=store).lookup(SITE)
        assert state.source is StateSource.STORE
        assert not state.check(f"{SITE}/private/", "ExampleBot")
        assert len(server.asked) == 1

    def test_another_crawler_has_separate_entries(self, make: Make, server: Server) -> None:
        store = open_store("memory:")
        make(store=store).check(SITE)
        make(store=store, user_agent="OtherBot/1.0 (+https://example.com)").check(SITE)
        assert len(server.asked) == 2

    def test_no_store_is_not_stored(self, make: Make, server: Server, clock: Clock) -> None:
        server.answers[ROBOTS] = Response(200, {"Cache-Control": "no-store"}, FILE)
        store = open_store("memory:")
        client = make(store=store)
        assert not client.check(f"{SITE}/private/")
        clock.now += 299
        assert not client.check(f"{SITE}/private/")
        assert len(server.asked) == 1
        assert store.get(SITE, "ExampleBot") is None
        (fetch_record,) = store.fetch_records()
        assert fetch_record.digest is not None
        assert store.body(fetch_record.digest) is None
        clock.now += 2
        server.answers[ROBOTS] = Response(503)
        assert client.check(f"{SITE}/x").reason is Reason.UNREACHABLE
        entry = store.get(SITE, "ExampleBot")
        assert entry is not None
        assert entry.last_success is None

    def test_what_this_client_would_not_do_is_not_stored(self, make: Make, server: Server) -> None:
        server.answers[ROBOTS] = Failure(FailureReason.REFUSED, "10.0.0.1 is private")
        client = make()
        assert not client.check(SITE)
        assert not list(client.store.fetch_records())

    def test_a_damaged_body_is_fetched_again(self, make: Make, server: Server) -> None:
        store = open_store("memory:")
        make(store=store).check(SITE)
        store.body = lambda digest: b"User-agent: *\nAllow: /"  # type: ignore[method-assign]
        assert not make(store=store).check(f"{SITE}/private/")
        assert len(server.asked) == 2

    @pytest.mark.parametrize("value", ['"a\x7fb"', '"a\x01"', "é", ""])
    def test_validators_that_cannot_be_sent_are_left_out(
        self, make: Make, server: Server, clock: Clock, value: str
    ) -> None:
        server.answers[ROBOTS] = Response(200, [("ETag", value), ("Last-Modified", value)], FILE)
        client = make()
        client.check(SITE)
        clock.now += DAY + 1
        assert not client.check(f"{SITE}/private/")
        assert [request.headers for request in server.asked] == [(), ()]

    def test_a_truncated_file_is_not_used_with_a_larger_limit(
        self, make: Make, server: Server
    ) -> None:
        body = b"User-agent: *\n" + b"Allow: /a\n" * 60_000 + b"Disallow: /secret\n"

        def answer(request: Request) -> Response:
            if request.headers:
                return Response(304)
            whole = len(body) <= request.limit
            return Response(200, {"ETag": '"1"'}, body[: request.limit], whole)

        server.answers[ROBOTS] = answer
        store = open_store("memory:")
        assert make(store=store).check(f"{SITE}/secret")
        more = robotrules.DEFAULT.replace(max_bytes=4_000_000)
        for _ in range(2):
            assert not make(store=store, profile=more).check(f"{SITE}/secret")
        assert len(server.asked) == 2

    def test_a_late_answer_does_not_restore_the_old_file(self, make: Make, clock: Clock) -> None:
        client = make()
        old = client.lookup(SITE)
        clock.now += 1
        new = client.refresh(SITE)
        client._cache_engine.memory.put(old, None, clock.now)
        assert client.lookup(SITE).entry is new.entry

    def test_refresh_always_sends_a_request(self, make: Make, server: Server) -> None:
        client = make()
        client.check(f"{SITE}/x")
        server.answers[ROBOTS] = Response(200, {}, b"User-agent: *\nDisallow: /")
        assert client.check(f"{SITE}/x")
        client.refresh(f"{SITE}/x")
        assert not client.check(f"{SITE}/x")

    def test_a_clock_that_was_set_back(self, make: Make, server: Server, clock: Clock) -> None:
        client = make()
        client.check(SITE)
        clock.now -= DAY
        client.check(SITE)
        assert len(server.asked) == 2
        clock.now += 10
        client.check(SITE)
        assert len(server.asked) == 2


class TestBackground:
    """What is old is used while it is fetched again, but never for more than a day."""

    def test_renewed_behind_the_answer(self, make: Make, server: Server, clock: Clock) -> None:
        server.answers[ROBOTS] = Response(200, {"Cache-Control": "max-age=600"}, FILE)
        client = make(stale_while_revalidate=True)
        assert client.check(f"{SITE}/x")
        server.answers[ROBOTS] = Response(200, {}, b"User-agent: *\nDisallow: /")
        clock.now += 601
        assert client.check(f"{SITE}/x")
        patience = time.monotonic() + 10
        while client.check(f"{SITE}/x"):
            assert time.monotonic() < patience, "it was not renewed"
            client.refresh("https://elsewhere.example")  # lets the event loop run
        assert server.urls.count(ROBOTS) == 2

    @pytest.mark.parametrize("words", ["no-cache", "no-store", "max-age=300, must-revalidate"])
    def test_not_what_is_to_be_validated(
        self, make: Make, server: Server, clock: Clock, words: str
    ) -> None:
        server.answers[ROBOTS] = Response(200, {"Cache-Control": words}, FILE)
        client = make(stale_while_revalidate=True)
        assert client.check(f"{SITE}/x")
        server.answers[ROBOTS] = Response(200, {}, b"User-agent: *\nDisallow: /")
        clock.now += 301
        assert not client.check(f"{SITE}/x")

    def test_what_the_store_has_is_renewed_too(
        self, make: Make, server: Server, clock: Clock
    ) -> None:
        server.answers[ROBOTS] = Response(200, {"Cache-Control": "max-age=600"}, FILE)
        store = open_store("memory:")
        make(store=store).check(SITE)
        clock.now += 601
        client = make(store=store, stale_while_revalidate=True)
        assert client.check_many([f"{SITE}/x"])[0]
        patience = time.monotonic() + 10
        while server.urls.count(ROBOTS) < 2:
            assert time.monotonic() < patience, "it was not renewed"
            client.refresh("https://elsewhere.example")

    def test_old_failures_do_not_allow_before_a_new_request(
        self, make: Make, server: Server, clock: Clock
    ) -> None:
        server.answers[ROBOTS] = Response(500)
        client = make(stale_while_revalidate=True)
        client.check(SITE)
        server.answers[ROBOTS] = Response(200, {}, b"User-agent: *\nDisallow: /")
        clock.now += 31 * DAY
        assert client.check(f"{SITE}/x").line == 2

    def test_not_past_a_day(self, make: Make, server: Server, clock: Clock) -> None:
        client = make(stale_while_revalidate=True)
        assert client.check(f"{SITE}/x")
        server.answers[ROBOTS] = Response(503)
        clock.now += DAY + 1
        assert not client.check(f"{SITE}/x")


class TestMany:
    """Many URLs of many origins, in their order."""

    def test_in_order(self, make: Make, server: Server) -> None:
        urls = [f"https://s{n % 7}.example/{'private/' if n % 2 else ''}{n}" for n in range(100)]
        for n in range(7):
            server.answers[f"https://s{n}.example/robots.txt"] = Response(200, {}, FILE)
        urls.insert(50, "mailto:x")
        client = make()
        verdicts = client.check_many(urls)
        assert [bool(verdict) for verdict in verdicts] == [
            url.startswith("https") and "private" not in url for url in urls
        ]
        assert len(server.asked) == 7
        assert client.check_many(urls) == verdicts
        assert client.check_many(iter([])) == []
        assert len(server.asked) == 7

    def test_one_url_is_misuse(self, make: Make) -> None:
        with pytest.raises(TypeError, match="a list of URLs"):
            make().check_many(SITE)

    def test_prefetch(self, make: Make, server: Server) -> None:
        server.answers["https://b.example/robots.txt"] = Response(500)
        seen: list[str] = []
        client = make()
        counts = client.prefetch(
            [SITE, f"{SITE}/x", "https://a.example", "https://b.example", "/no"],
            concurrency=2,
            progress=lambda state: seen.append(state.origin),
        )
        assert counts == (2, 1, 1, 1)
        assert sorted(set(seen)) == ["https://a.example", "https://b.example", SITE]
        assert len(server.asked) == 3
        with pytest.raises(ValueError, match="1 or more"):
            client.prefetch([], concurrency=0)
        with pytest.raises(TypeError, match="a list"):
            client.prefetch(SITE)
        for wrong in (None, 5):
            with pytest.raises(TypeError, match=r"a list such as \['https://example.com'\], not"):
                client.prefetch(wrong)
        with pytest.raises(TypeError, match=r"origins\[1\]: a URL is str or bytes, not NoneType"):
            client.prefetch([SITE, None])
        for number in ("5", 2.5, True):
            with pytest.raises(TypeError, match="use a whole number"):
                client.prefetch([], concurrency=number)

    @pytest.mark.parametrize("fresh", [False, True])
    def test_prefetch_takes_hosts(self, make: Make, server: Server, fresh: bool) -> None:
        """A host alone is its https origin, as `robotrules fetch` has it."""
        given = ["example.com", " Example.com/a?b=c:d@e", "a.example:8443", "http://b.example"]
        given += ["mailto:me@example.org", "ftp://c.example", "//d.example", "", "no host"]
        seen: list[str] = []
        counts = make().prefetch(given, refresh=fresh, progress=lambda one: seen.append(one.origin))
        assert counts.skipped == 5
        assert set(seen) == {SITE, "https://a.example:8443", "http://b.example"}

    def test_prefetch_requests_an_origin_once(self, make: Make, server: Server) -> None:
        client = make()
        client.check(SITE)
        client._cache_engine.clock.now += 1
        client.prefetch((f"{SITE}/{n}" for n in range(100)), concurrency=1, refresh=True)
        assert 2 <= len(server.asked) <= 4


class TestExplaining:
    """An explanation also reports how the file was fetched."""

    def test_with_rules(self, make: Make) -> None:
        explained = make().explain(f"{SITE}/private/x").as_dict()
        assert explained["winner"]["line"] == 2
        assert explained["access"]["state"] == "success"
        assert explained["access"]["fetch_record"]["status"] == 200

    def test_without_rules(self, make: Make, server: Server) -> None:
        server.answers[ROBOTS] = Response(503)
        explanation = make().explain(f"{SITE}/private/x")
        assert explanation.matches == explanation.groups == ()
        access = explanation.as_dict()["access"]
        assert (access["policy"], access["fetch_record"]["detail"]) == ("disallow", "status 503")

    def test_given_files_have_none(self) -> None:
        robots = robotrules.parse(FILE)
        assert robots.explain(f"{SITE}/x", "ExampleBot").as_dict()["access"] is None

    @pytest.mark.parametrize(
        "answer",
        [
            Response(200, {"ETag": '"é"'}, FILE),
            Response(301, {"Location": "/elsewhere"}),
            Response(403),
            Response(503),
            Failure(FailureReason.TLS, "no certificate"),
        ],
    )
    @pytest.mark.parametrize("access", ["default", "stale"])
    def test_as_the_schema_describes(
        self, make: Make, server: Server, clock: Clock, answer: Any, access: str
    ) -> None:
        server.answers[ROBOTS] = answer
        client = make(access=access)
        for url in (f"{SITE}/private/", ROBOTS, "mailto:x"):
            values = client.explain(url).as_dict()
            assert list(problems(json.loads(json.dumps(values)), SCHEMA)) == []


class _Down:
    """A store that can do nothing."""

    name, inline = "a store that is down", True

    def __getattr__(self, name: str) -> Any:
        def fail(*args: Any, **options: Any) -> None:
            raise StoreError("it is down")

        return fail

    def close(self) -> None:
        """Nothing is open."""


class TestStoreTrouble:
    """Without its store a client still follows RFC 9309, and reports the failure."""

    def test_goes_on(
        self, make: Make, server: Server, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        client = make(store=_Down())
        with caplog.at_level(logging.WARNING, "robotrules"):
            assert not client.check(f"{SITE}/private/")
            assert client.check(f"{SITE}/x")
            assert client.check("https://b.example/x").reason is not Reason.UNREACHABLE
        assert client.store_error == "it is down"
        assert client.lookup(SITE).store_error == "it is down"
        assert [record.getMessage() for record in caplog.records] == [
            "store unavailable; continuing without it: it is down"
        ]
        assert len(server.asked) == 2
        clock.now += DAY + 1
        server.answers[ROBOTS] = Response(503)
        assert client.check(f"{SITE}/x").reason is Reason.UNREACHABLE

    def test_comes_back(self, make: Make, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("robotrules.client.cache_engine.COOLDOWN", 0.0)
        store = open_store("memory:")
        get = store.get
        store.get = _Down().get  # type: ignore[method-assign]
        client = make(store=store)
        client.check(SITE)
        store.get = get  # type: ignore[method-assign]
        client.refresh(SITE)
        assert client.store_error is None

    def test_where_the_usual_file_cannot_be_made(
        self,
        make: Make,
        server: Server,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", str(tmp_path / "file" / "folder"))
        client = make(store=None)
        assert not client.check(f"{SITE}/private/")
        client.refresh(SITE)
        assert "cannot be created" in str(client.store_error)
        assert client.lookup(SITE).store_error == client.store_error
        assert len(caplog.records) == 1

    def test_what_is_not_ours_is_an_error(
        self, make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "robots.sqlite").write_bytes(b"x" * 10_000)
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", str(tmp_path))
        with pytest.raises(StoreError, match="another program"):
            make(store=None)
        with pytest.raises(StoreError, match="cannot be created"):
            make(store=tmp_path / "robots.sqlite" / "x")


class TestTurns:
    """When the next request to an origin may be sent."""

    @pytest.mark.parametrize(
        ("text", "delay"),
        [
            ("", (1.5, "min-delay", None)),
            ("Crawl-delay: 7", (7, "crawl-delay", 2)),
            ("Crawl-delay: 1", (1.5, "min-delay", None)),
            ("Request-rate: 1/10s", (10, "request-rate", 2)),
            ("Crawl-delay: 999999999", (86_400, "crawl-delay", 2)),
        ],
    )
    def test_delay(self, make: Make, server: Server, text: str, delay: Any) -> None:
        body = f"User-agent: *\n{text}\n".encode()
        server.answers[ROBOTS] = Response(200, {}, body)
        assert make(min_delay=1.5).delay(SITE) == delay

    def test_a_rate_outside_its_window(self, make: Make, server: Server, clock: Clock) -> None:
        """A Request-rate counts in its hours alone, by the clock of the day in UTC."""
        now = datetime.fromtimestamp(clock.now, UTC)
        hours = [f"{(now + timedelta(hours=n)):%H%M}" for n in (-2, -1, 1, 2)]
        body = "User-agent: *\nRequest-rate: 1/10s {}-{}\nRequest-rate: 1/5s {}-{}\n"
        outside = body.format(hours[0], hours[1], hours[2], hours[3])
        server.answers[ROBOTS] = Response(200, {}, outside.encode())
        client = make(min_delay=1.5)
        assert client.delay(SITE) == (1.5, "min-delay", None)
        clock.now += 5_400  # the second one begins
        assert client.delay(SITE) == (5, "request-rate", 3)

    def test_without_a_file(self, make: Make, server: Server) -> None:
        server.answers[ROBOTS] = Response(404)
        assert make(min_delay=2).delay(SITE).reason == "min-delay"

    def test_two_slots_are_apart(self, make: Make, clock: Clock) -> None:
        client = make(min_delay=10)
        for start in (START, START + 10, START + 20):
            with client.slot(f"{SITE}/x") as turn:
                assert clock.now == start
                assert turn.delay.seconds == 10
        with client.slot("https://other.example/"):
            assert clock.now == START + 20

    @pytest.mark.parametrize(
        ("status", "headers", "seconds"),
        [
            (429, {"Retry-After": "120"}, 120),
            (503, {}, 60),
            (429, {"Retry-After": "soon"}, 60),
            (200, {"Retry-After": "120"}, None),
            (299, {"Retry-After": "120"}, None),
            # RFC 9110 §10.2.3: with a redirect it is about the request that follows.
            (300, {"Retry-After": "120"}, 120),
            (301, {"Retry-After": "120"}, 120),
            (307, {}, None),
            (404, {}, None),
            (500, {"Retry-After": "99999999"}, 86_400),
        ],
    )
    def test_heed(
        self, make: Make, clock: Clock, status: int, headers: Any, seconds: float | None
    ) -> None:
        client = make()
        with client.slot(SITE) as turn:
            assert turn.record_response(status, headers) == seconds
        with client.slot(SITE):
            assert clock.now == START + (seconds or 0)

    @pytest.mark.parametrize("down", [False, True])
    @pytest.mark.parametrize("pauses", [(100, 10), (10, 100)])
    def test_a_second_pause_does_not_shorten_the_first(
        self, make: Make, clock: Clock, down: bool, pauses: tuple[int, int]
    ) -> None:
        """Of two pauses that an origin requests the later end counts, for all processes."""
        fields = [{"Retry-After": str(seconds)} for seconds in pauses]
        client = make(store=_Down() if down else "memory:")
        with client.slot(SITE) as turn:  # both in one slot
            assert [turn.record_response(503, field) for field in fields] == list(pauses)
        with client.slot(SITE):
            assert clock.now == START + 100
        for field in fields:  # and one after the other
            client.record_response(SITE, 429, field)
        assert client.reserve(SITE) == START + 200
        with client.slot(SITE):
            assert clock.now == START + 200

    def test_no_lease_is_kept_while_waiting(
        self, make: Make, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A caller that waits for a time leaves the slot to others, which may learn of a pause."""
        store = open_store("memory:")
        lease_holders: list[str | None] = []
        sleep = Clock.sleep

        def slept(self: Clock, seconds: float) -> None:
            lease_holders.append(store.holder(f"turn {SITE}"))
            sleep(self, seconds)

        monkeypatch.setattr(Clock, "sleep", slept)
        client = make(store=store, min_delay=10)
        with client.slot(SITE):
            assert store.holder(f"turn {SITE}") is not None
        with client.slot(SITE):
            assert clock.now >= START + 10
        assert lease_holders
        assert set(lease_holders) == {None}

    def test_through_a_store_that_is_down(self, make: Make, clock: Clock) -> None:
        client = make(store=_Down(), min_delay=3)
        for start in (START, START + 3):
            with client.slot(SITE) as turn:
                assert clock.now == start
        turn.record_response(503)
        with client.slot(SITE) as turn:
            turn.record_response(503)
        with client.slot(SITE):
            assert clock.now == START + 6 + 60

    def test_for_a_queue_of_ones_own(self, make: Make, clock: Clock) -> None:
        client = make(min_delay=4)
        assert [client.reserve(f"{SITE}/{n}") for n in range(3)] == [START, START + 4, START + 8]
        assert client.record_response(SITE, 200) is None
        assert client.record_response("mailto:x", 503) == 60
        assert client.record_response(f"{SITE}/x", 429, {"Retry-After": "30"}) == 30
        assert client.reserve(SITE) == START + 30
        assert not clock.slept
        with pytest.raises(ValueError, match="http or https"):
            client.reserve("mailto:x")

    def test_for_another_crawler(self, make: Make, server: Server) -> None:
        """Its own delay counts; the slots are those of the origin."""
        rules = b"User-agent: SlowBot\nCrawl-delay: 30\nDisallow: /x\n"
        server.answers[f"{SITE}/robots.txt"] = Response(200, {}, rules)
        client = make(min_delay=4)
        assert client.delay(SITE, "SlowBot") == (30.0, "crawl-delay", 2)
        assert (
            client.delay(SITE, ["OtherBot"], ["P-1"])
            == client.delay(SITE)
            == (4, "min-delay", None)
        )
        assert client.reserve(SITE) == START
        assert client.reserve(SITE, "SlowBot") == START + 30
        assert client.reserve(SITE, ["OtherBot", "SlowBot"]) == START + 60
        assert client.reserve(SITE) == START + 64
        with pytest.raises(ProductTokenError):
            client.reserve(SITE, "Slow/1.0")


class TestWho:
    """A client uses the name in its User-Agent (RFC 9309 §2.2.1)."""

    @pytest.mark.parametrize(
        ("agent", "options", "words"),
        [
            ("", {}, "cannot be sent"),
            ("ExampleBot\r\nX: y", {}, "cannot be sent"),
            ("Mozilla/5.0", {}, "no product token"),
            ("ExampleBot/1.0", {"product_token": "Googlebot"}, "is not in the User-Agent"),
            ("ExampleBot/1.0", {"product_token": ""}, "pass a name"),
            ("ExampleBot/1.0", {"product_token": []}, "pass a name"),
            ("ExampleBot/1.0", {"product_token": ["Googlebot", "ExampleBot"]}, "'Googlebot' is"),
        ],
    )
    def test_refused(self, make: Make, agent: str, options: Any, words: str) -> None:
        with pytest.raises(CrawlerError, match=words):
            make(user_agent=agent, **options)

    def test_invalid_urls_in_a_batch(self, make: Make, server: Server) -> None:
        """The error names the URL, and nothing is fetched."""
        with pytest.raises(TypeError, match=r"urls\[1\]: a URL is str or bytes, not NoneType"):
            make().check_many([f"{SITE}/x", None, f"{SITE}/y"])
        assert server.urls == []

    def test_a_header_as_product_token(self, make: Make, server: Server) -> None:
        """A header, a list or a URL is not a name: it raises before any fetch (AMB-22)."""
        client = make()
        for name in ("Other/1.0", "Other ", "a,b", ["Other", "a b"]):
            with pytest.raises(ProductTokenError, match="is not a product token"):
                client.check(f"{SITE}/x", name)
            with pytest.raises(ProductTokenError, match="is not a product token"):
                client.check_many([f"{SITE}/x"], name)
            with pytest.raises(ProductTokenError, match="is not a product token"):
                client.explain(f"{SITE}/x", name)
        with pytest.raises(ProductTokenError, match="pass the URL first"):
            client.check("ExampleBot", f"{SITE}/x")
        assert server.urls == []

    def test_a_header_as_own_name(self, make: Make) -> None:
        """A client cannot obey the rules of a header."""
        with pytest.raises(ProductTokenError, match="here, pass 'ExampleBot'"):
            make(user_agent="ExampleBot/1.0", product_token="ExampleBot/1.0")

    def test_token_from_the_user_agent(self, make: Make) -> None:
        agent = "Mozilla/5.0 (compatible; ExampleBot/2.1; +https://example.com/bot)"
        client = make(user_agent=agent)
        assert (client.product_token, client.user_agent) == ("ExampleBot", agent)

    def test_several_tokens(self, make: Make, server: Server) -> None:
        client = make(product_token=["ExampleBot-News", "ExampleBot"])
        assert client.check(f"{SITE}/x")
        assert client.product_token == ("ExampleBot-News", "ExampleBot")

    def test_notes(self, make: Make) -> None:
        assert not make().notes
        assert [note.code for note in make(user_agent="ExampleBot/1.0").notes] == ["no-contact"]

    def test_misuse(self, make: Make) -> None:
        with pytest.raises(TypeError, match="user_agent must be str"):
            make(user_agent=None)
        with pytest.raises(ProfileError, match="google, stale"):
            make(profile="none")
        with pytest.raises(ProfileError, match="access profile"):
            make(access="none")
        with pytest.raises(ValueError, match="min_delay"):
            make(min_delay=-1)
        with pytest.raises(ValueError, match="timeout"):
            make(timeout=0)
        with pytest.raises(TypeError, match="store must be a path"):
            make(store=5)

    def test_a_transport_that_returns_nothing(self, make: Make, server: Server) -> None:
        server.answers[ROBOTS] = lambda request: None  # type: ignore[assignment,return-value]
        with pytest.raises(TypeError, match="Response or Failure"):
            make().check(SITE)

    def test_closed(self, make: Make, caplog: pytest.LogCaptureFixture) -> None:
        client = make()
        assert client.check(SITE)
        close = getattr(client, "aclose", None) or client.close
        close()
        with pytest.raises(RuntimeError, match="this client is closed"):
            client.check(SITE)
        assert not caplog.records


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_conflicting_options_for_private_addresses(kind: Any) -> None:
    """Both ways to allow private addresses at once are refused."""
    from robotrules.client import AddressPolicy

    with pytest.raises(ValueError, match="cannot be combined"):
        kind("ExampleBot/1.0", addresses=AddressPolicy(), allow_private=["localhost"])
    transport = Server() if kind is Client else AsyncServer(Server())
    with pytest.raises(ValueError, match="have no effect on a transport"):
        kind("ExampleBot/1.0", transport=transport, allow_private="localhost")
