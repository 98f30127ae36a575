"""The watcher with real servers on the loopback: changes, failures, redirects and lies."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Timer
from typing import Any
from unittest import mock

import pytest

from robotrules import tags as tags_module
from robotrules.client.sync import Client
from robotrules.errors import StoreError
from robotrules.operations.watch import watcher
from robotrules.operations.watch.channels import DELIVERED, Delivery
from robotrules.operations.watch.events import WatchEvent
from robotrules.operations.watch.observations import PageObservation
from robotrules.operations.watch.outbox import DeliverySummary, Outbox
from robotrules.operations.watch.state import LostLeaseError, WatchState
from robotrules.operations.watch.watcher import (
    Look,
    Watcher,
    WatchTarget,
    make_test_event,
    parse_targets,
)
from tests.cli.sites import Site, response, site
from tests.client.fault_servers import (
    Behaviour,
    Peer,
    drips_body,
    message,
    never_answers,
    resets_at_once,
    resets_mid_body,
    says,
    serve,
)

AGENT = "WatchTest/1.0"
OPEN = "User-agent: *\nDisallow: /private/\n"


class Told:
    """A channel that keeps events."""

    key = name = "told"
    batch = 100

    def __init__(self) -> None:
        self.events: list[WatchEvent] = []

    def deliver(self, events: Any) -> Delivery:
        """Keep them."""
        self.events += events
        return DELIVERED

    def take(self) -> list[str]:
        """Return the kinds of new events, and forget them."""
        found = [str(event.kind) for event in self.events]
        self.events.clear()
        return found


class Watching:
    """A watch with everything that it needs."""

    def __init__(self, folder: Path, *urls: str, **options: Any) -> None:
        self.state = WatchState(folder / "store.sqlite")
        self.state.acquire()
        self.told = Told()
        self.looks: list[Look] = []
        self.deliveries: list[DeliverySummary] = []
        self.client = Client(
            AGENT,
            store=folder / "store.sqlite",
            allow_private=["127.0.0.1"],
            timeout=options.pop("timeout", 5.0),
            min_delay=0,
        )
        self.watcher = Watcher(
            self.client,
            self.state,
            parse_targets(urls),
            Outbox(self.state, [self.told]),
            on_look=self.looks.append,
            on_delivery=self.deliveries.append,
            **options,
        )

    def look(self) -> list[str]:
        """Look and deliver; return the kinds of the events."""
        self.watcher.look()
        self.watcher.deliver()
        return self.told.take()

    def close(self) -> None:
        """Close client and state."""
        self.client.close()
        self.state.close()


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Callable[..., Watching]]:
    """Return what opens a watch."""
    opened: list[Watching] = []

    def begin(*urls: str, **options: Any) -> Watching:
        opened.append(Watching(tmp_path, *urls, **options))
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


@pytest.fixture
def example() -> Iterator[Site]:
    """A site with a robots.txt and a page."""
    plain = "Content-Type: text/plain"
    with site(
        {
            "/robots.txt": response(OPEN, plain),
            "/a": response("<html><head></head></html>", "Content-Type: text/html"),
        }
    ) as running:
        yield running


class TestLooks:
    """What a site does, and what is told."""

    def test_the_first_look_tells_nothing(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """Nor does the second, if nothing changes; a 304 is nothing new."""
        watch = watching(f"{example.origin}/a")
        assert watch.look() == watch.look() == []
        assert [look.is_first for look in watch.looks] == [True, True, False, False]
        assert example.user_agents[0] == AGENT

    def test_changes(self, watching: Callable[..., Watching], example: Site) -> None:
        """Of the file and of the page, each once."""
        watch = watching(f"{example.origin}/a")
        watch.look()
        example.answers["/robots.txt"] = response("User-agent: GPTBot\nDisallow: /\n")
        example.answers["/a"] = response("", "X-Robots-Tag: noindex", "Content-Type: text/html")
        assert watch.look() == ["crawlers-blocked", "media-type-changed", "page-tags-changed"]
        assert watch.look() == []
        del example.answers["/robots.txt"]
        assert watch.look() == ["file-vanished"]
        assert watch.look() == []

    def test_a_page_that_becomes_disallowed_is_not_fetched(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """The watch obeys the rules that it watches."""
        watch = watching(f"{example.origin}/a")
        watch.look()
        example.answers["/robots.txt"] = response("User-agent: *\nDisallow: /a\n")
        example.asked.clear()
        assert "page-blocked" in watch.look()
        assert example.asked == ["/robots.txt"]

    def test_a_page_with_very_many_tags(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """It is parsed once for all names, and looked at for fewer of them."""
        tags = "".join(f'<meta name="bot{n}" content="nosnippet">' for n in range(25))
        many = '<meta name="bot1" content="nosnippet,noindex">' * 5_000
        html = "Content-Type: text/html"
        watch = watching(f"{example.origin}/a")
        for body, most in ((tags, 20), (tags + many, 7)):
            example.answers["/a"] = response(f"<html><head>{body}</head></html>", html)
            with mock.patch.object(tags_module, "read_page", wraps=tags_module.read_page) as read:
                watch.look()
            assert read.call_count == 1
            seen = watch.looks[-1].seen
            assert isinstance(seen, PageObservation)
            assert len(seen.tags) == 1 + most

    def test_redirects_of_both(self, watching: Callable[..., Watching], example: Site) -> None:
        """To another path of the same server."""
        watch = watching(f"{example.origin}/a")
        watch.look()
        example.answers["/r"] = example.answers["/robots.txt"]
        example.answers["/b"] = example.answers["/a"]
        example.answers["/robots.txt"] = response(b"", "Location: /r", status="301 Moved")
        example.answers["/a"] = response(b"", "Location: /b", status="302 Found")
        assert watch.look() == ["redirect-changed", "redirect-changed"]

    def test_an_error_page_with_status_200(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """It is told, although every crawler may fetch everything."""
        watch = watching(example.origin)
        watch.look()
        html = response(
            "<!DOCTYPE html><html><title>Error</title></html>", "Content-Type: text/html"
        )
        example.answers["/robots.txt"] = html
        assert watch.look() == ["media-type-changed", "html-page"]

    def test_sitemaps(self, watching: Callable[..., Watching], example: Site) -> None:
        """Fetched on request: they list what is blocked, get lost, and come back, gzipped."""
        origin = example.origin
        url = f"{origin}/s.xml"
        example.answers["/robots.txt"] = response(f"{OPEN}Sitemap: {url}\n")
        listed = "".join(f"<url><loc>{origin}{path}</loc></url>" for path in ("/a", "/private/b"))
        start = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        example.answers["/s.xml"] = response(f"{start}{listed}</urlset>")
        watch = watching(origin, fetch_sitemaps=True)
        assert watch.look() == ["sitemap-lists-blocked"]
        assert watch.look() == []
        example.answers["/s.xml"] = response("<html>")
        assert watch.look() == ["sitemap-lost"]
        example.answers["/s.xml"] = response(status="500 No")
        assert watch.look() == []
        packed = gzip.compress(f"{start}<url><loc>{origin}/a</loc></url></urlset>".encode())
        example.answers["/s.xml"] = response(packed)
        assert watch.look() == ["sitemap-lost"]
        index = f"<sitemapindex><sitemap><loc>{url}</loc></sitemap></sitemapindex>"
        example.answers["/s.xml"] = response(index)
        assert watch.look() == []
        example.answers["/robots.txt"] = response(f"{OPEN}Disallow: /s.xml\nSitemap: {url}\n")
        assert watch.look() == ["rules-changed", "sitemap-blocked"]

    def test_a_level(self, watching: Callable[..., Watching], example: Site) -> None:
        """What is less important is not told, and not told later either."""
        watch = watching(example.origin, min_level="warning")
        watch.look()
        example.answers["/robots.txt"] = response(f"# comment\n{OPEN}")
        assert watch.look() == ["media-type-changed"]

    def test_no_store(self, watching: Callable[..., Watching], example: Site) -> None:
        """Within a process the meaning is compared; after a restart it is known that it changed."""
        fields = ("Cache-Control: no-store", "Content-Type: text/plain")
        example.answers["/robots.txt"] = response(OPEN, *fields)
        watch = watching(example.origin)
        watch.look()
        example.answers["/robots.txt"] = response("User-agent: *\nDisallow: /x\n", *fields)
        assert watch.look() == ["rules-changed"]
        watch.close()
        again = watching(example.origin)
        example.answers["/robots.txt"] = response("User-agent: *\nDisallow: /y\n", *fields)
        assert again.look() == ["not-compared"]


def lies(peer: Peer) -> None:
    """Announce more than is sent."""
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nUser-agent: *\nDisallow: /\n")
    peer.farewell()


class TestFaults:
    """Servers that fail or lie: unreachable, and never an empty file."""

    @pytest.mark.parametrize(
        "fault",
        [
            lies,
            resets_at_once,
            resets_mid_body,
            drips_body,
            never_answers,
            says(b"not HTTP\r\n\r\n"),
            says(b"HTTP/1.1 503 No\r\n\r\n"),
        ],
        ids=["lies", "reset", "reset-in-body", "drips", "silent", "no-http", "503"],
    )
    def test_a_fault(self, watching: Callable[..., Watching], fault: Behaviour) -> None:
        """One is a blip, the second is told, the third is not; then it is reachable again."""
        current: list[Behaviour] = [says(message(OPEN.encode()))]
        with serve(lambda peer: current[0](peer)) as server:
            watch = watching(server.url, timeout=0.4)
            assert watch.look() == []
            current[0] = fault
            assert [watch.look() for _ in range(3)] == [[], ["unreachable"], []]
            current[0] = says(message(OPEN.encode()))
            assert watch.look() == ["reachable"]
            watch.close()

    def test_one_dead_site_does_not_hold_up_others(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """They are looked at concurrently, and recorded as they come."""
        with serve(never_answers) as dead:
            watch = watching(dead.url, example.origin, timeout=0.5)
            watch.look()
            assert [look.target for look in watch.looks] == [
                f"{example.origin}/robots.txt",
                f"{dead.url}/robots.txt",
            ]
            watch.close()


class TestRunning:
    """For ever, until it is stopped."""

    def test_it_looks_again_and_stops(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """A change is told within an interval."""
        watch = watching(example.origin)
        stop = Event()
        changed = response("User-agent: *\nDisallow: /x\n", "Content-Type: text/plain")
        change = Timer(0.3, example.answers.__setitem__, ("/robots.txt", changed))
        end = Timer(1.2, stop.set)
        change.start()
        end.start()
        watch.watcher.run(0.1, stop)
        change.join()
        end.join()
        assert watch.told.take() == ["rules-changed"]
        assert len(example.asked) >= 3
        assert sum(one.delivered for one in watch.deliveries) == 1

    def test_a_restart_asks_nothing_before_it_is_due(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """The time of the last look is in the state."""
        watch = watching(example.origin)
        watch.look()
        watch.close()
        again, stop = watching(example.origin), Event()
        end = Timer(0.3, stop.set)
        end.start()
        again.watcher.run(3_600, stop)
        end.join()
        assert len(example.asked) == 1

    def test_a_long_look_delivers_and_keeps_its_lease(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """What is found is told before the look ends, and no other process can take over."""
        with serve(never_answers) as dead:
            watch = watching(dead.url, f"{example.origin}/a", after=1, timeout=0.5)
            watch.look()
            example.answers["/robots.txt"] = response("User-agent: *\nDisallow: /x\n")
            with (
                mock.patch.object(watcher, "BETWEEN", 0.0),
                mock.patch.object(watcher, "RENEW", 0.0),
                mock.patch.object(watch.state, "renew", wraps=watch.state.renew) as renew,
            ):
                watch.watcher.look()
            assert "rules-changed" in watch.told.take()
            assert renew.called
            watch.close()

    def test_a_stop_before_a_look(self, watching: Callable[..., Watching], example: Site) -> None:
        """Nothing is asked."""
        watch, stop = watching(example.origin), Event()
        stop.set()
        watch.watcher.run(1, stop)
        assert watch.watcher.look(stop=stop) == 0
        assert example.asked == []

    def test_a_stop_while_a_server_hangs(self, watching: Callable[..., Watching]) -> None:
        """The look is left behind."""
        with serve(never_answers) as dead:
            watch, stop = watching(dead.url, timeout=20.0), Event()
            Timer(0.3, stop.set).start()
            began = time.monotonic()
            watch.watcher.run(3_600, stop)
            watch.close()
            assert time.monotonic() - began < 10

    @pytest.mark.parametrize("step", ["baseline", "record"])
    def test_a_store_that_is_busy(
        self, watching: Callable[..., Watching], example: Site, step: str
    ) -> None:
        """One look fails and is reported; the next one tells the change."""
        failed: list[tuple[str, Exception]] = []
        watch = watching(example.origin, on_error=lambda *found: failed.append(found))
        watch.look()
        example.answers["/robots.txt"] = response("User-agent: *\nDisallow: /x\n")
        error = StoreError("database is locked")
        with (
            mock.patch.object(watch.state, step, side_effect=error),
            mock.patch.object(watch.state, "renew", side_effect=error),
            mock.patch.object(watcher, "RENEW", 0.0),
        ):
            assert watch.look() == []
        assert failed == [(example.origin, error)]
        assert "rules-changed" in watch.look()

    def test_a_fault_of_this_program(
        self, watching: Callable[..., Watching], example: Site
    ) -> None:
        """Ends one look, and not the watch; nothing is said about the site."""
        failed: list[str] = []
        with site({"/robots.txt": response(OPEN)}) as other:
            watch = watching(
                example.origin, other.origin, on_error=lambda origin, _: failed.append(origin)
            )
            refresh = watch.client.refresh

            def fail(origin: str) -> Any:
                if origin == example.origin:
                    raise RuntimeError("a fault")
                return refresh(origin)

            with mock.patch.object(watch.client, "refresh", fail):
                assert watch.look() == []
            assert failed == [example.origin]
            assert [look.target for look in watch.looks] == [f"{other.origin}/robots.txt"]

    def test_a_lost_lease_ends_it(self, watching: Callable[..., Watching], example: Site) -> None:
        """Another process tells what changes from now on."""
        watch = watching(example.origin)
        error = LostLeaseError("taken")
        with (
            mock.patch.object(watch.state, "record", side_effect=error),
            pytest.raises(LostLeaseError),
        ):
            watch.look()


class TestTargets:
    """Origins and pages on the command line."""

    def test_forms(self) -> None:
        """A URL with a path is a page, `/` too; each is watched once."""
        assert parse_targets(
            [
                "https://Example.com",
                "https://example.com/robots.txt",
                "https://example.com/a#b",
                "https://example.com/a",
                "https://example.com/?q",
                "example.org",
                "example.org/p ",
                "https://user:secret@example.net/",
            ]
        ) == [
            WatchTarget("https://example.com", ("https://example.com/a", "https://example.com/?q")),
            WatchTarget("https://example.org", ("https://example.org/p",)),
            WatchTarget("https://example.net", ("https://example.net/",)),
        ]

    @pytest.mark.parametrize(
        "text", ["", "mailto:a@example.com", "/a", "https://example.com/\x1b", "x" * 3_000]
    )
    def test_what_is_none(self, text: str) -> None:
        """The error is printable."""
        with pytest.raises(ValueError, match="not an origin or URL") as caught:
            parse_targets([text])
        assert str(caught.value).isprintable()

    def test_too_many(self) -> None:
        """There is a limit."""
        with pytest.raises(ValueError, match="10,000"):
            parse_targets(["https://example.com"] * 10_001)

    def test_a_test_event(self) -> None:
        """It says that nothing changed."""
        assert make_test_event(1.0).level == "info"
