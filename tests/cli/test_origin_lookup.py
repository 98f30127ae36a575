"""Commands that fetch, on a real site of the loopback: `check`, `explain`, `guidance`, others."""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any
from unittest import mock

import pytest

from robotrules import url_lists
from robotrules.access import ACCESS_PROFILES, Failure, FailureReason, Request, Response
from robotrules.cache import EffectivePolicy, Entry, Freshness, FreshnessReason
from robotrules.cli import check_output, origin_lookup
from robotrules.cli import client as cli_client
from robotrules.cli.check_output import CheckedUrls, JSONLines, TextLines
from robotrules.cli.console import Output
from robotrules.cli.options import ACCESS_ONLY
from robotrules.cli.origin_lookup import host_of
from robotrules.client import memory_cache, sync
from robotrules.client.origin_state import OriginState, StateSource, make_origin_state
from robotrules.client.stores.sqlite import SQLiteStore
from robotrules.errors import StoreError
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.profile import DEFAULT, PROFILES
from tests.cli.shell import Ran, Stream, robotrules
from tests.cli.sites import Site, response, site

ALLOW = ("--allow-private", "127.0.0.1")
AS = ("--as", "ExampleBot")
ROBOTS = "User-agent: *\nDisallow: /x\nContent-Usage: train-ai=n\n"
PAGE = "<title>A</title><meta name=robots content=noindex><p>A"


@pytest.fixture
def example() -> Iterator[Site]:
    """A site with a robots.txt and a page."""
    answers = {
        "/robots.txt": response(ROBOTS, "Content-Type: text/plain"),
        "/a": response(PAGE, "Content-Type: text/html"),
        "/to-x": response("", "Location: /x", status="302 Found"),
    }
    with site(answers) as running:
        yield running


def asked(command: str, *more: str, stdin: bytes = b"", **variables: str) -> Ran:
    """Run a command as ExampleBot, with the loopback allowed."""
    return robotrules(command, *more, *AS, *ALLOW, stdin=stdin, **variables)


def values(ran: Ran) -> list[dict[str, Any]]:
    """Return the JSON lines of a run."""
    return [json.loads(line) for line in ran.out.splitlines()]


class TestCheck:
    """`robotrules check` without a file."""

    def test_verdicts(self, example: Site) -> None:
        """The robots.txt of the origin decides, and is fetched once."""
        ran = asked("check", f"{example.origin}/x", f"{example.origin}/a")
        assert ran == Ran(
            1,
            f"disallowed\t{example.origin}/x\tline 2: Disallow: /x\n"
            f"allowed\t{example.origin}/a\tno rule matches\n",
            "",
        )
        assert asked("check", f"{example.origin}/a").code == 0
        assert example.asked == ["/robots.txt"]

    def test_json(self, example: Site) -> None:
        """A line describes how the file was obtained."""
        [first] = values(asked("check", f"{example.origin}/x", "--json"))
        assert first["allowed"] is False
        assert (first["origin"], first["state"]) == (example.origin, "success")
        assert (first["status"], first["failure_reason"], first["source"]) == (200, None, "fetched")
        [second] = values(asked("check", f"{example.origin}/x", "--json"))
        assert second["source"] == "store"
        assert second["until"] == first["until"]

    def test_the_user_agent_is_not_the_evaluated_crawler(self, example: Site) -> None:
        """Requests name this program or the given value, and never the crawler of `--as`."""
        asked("check", f"{example.origin}/a", "--no-store")
        asked("check", f"{example.origin}/a", "--user-agent", "OtherBot/2.0 (+https://o.example)")
        assert example.user_agents == [
            cli_client.USER_AGENT,
            "OtherBot/2.0 (+https://o.example)",
        ]
        assert "ExampleBot" not in cli_client.USER_AGENT

    def test_fresh_and_no_store(self, example: Site, cache_folder: Path) -> None:
        """`--no-store` stores nothing; `--refresh` fetches once per run."""
        url = f"{example.origin}/a"
        asked("check", url, "--no-store")
        assert list(cache_folder.iterdir()) == []
        asked("check", url)
        urls = (url + "\n").encode() * 3
        assert asked("check", url, "--refresh", "--urls", "-", stdin=urls).code == 0
        assert example.asked == ["/robots.txt"] * 3

    def test_another_store(self, example: Site, tmp_path: Path, cache_folder: Path) -> None:
        """A store by option or by environment."""
        url, path = f"{example.origin}/a", tmp_path / "other.sqlite"
        asked("check", url, "--store", str(path))
        [line] = values(asked("check", url, "--json", ROBOTRULES_STORE=str(path)))
        assert line["source"] == "store"
        assert list(cache_folder.iterdir()) == []

    def test_many_origins_in_any_order(self, example: Site) -> None:
        """Answers come in the order of the URLs, however they are grouped."""
        with site({"/robots.txt": response("User-agent: *\nDisallow: /a\n")}) as other:
            urls = [f"{one.origin}/{n}" for n in "axax" for one in (example, other)]
            ran = asked("check", "--urls", "-", "--ordered", stdin="\n".join(urls).encode())
            lines = [line.split("\t") for line in ran.out.splitlines()]
            assert [url for _, url, _ in lines] == urls
            words = ["allowed", "disallowed", "disallowed", "allowed"]
            assert [word for word, _, _ in lines] == words * 2
            assert (len(example.asked), len(other.asked)) == (1, 1)

    def test_quiet_stops_at_the_first(self, example: Site) -> None:
        """Nothing is printed, and the exit code is the verdict."""
        assert asked("check", f"{example.origin}/x", "-q") == Ran(1, "", "")
        assert asked("check", f"{example.origin}/a", "-q") == Ran(0, "", "")

    @pytest.mark.parametrize(
        ("status", "allowed", "words"),
        [
            ("404 Not Found", True, "there is no robots.txt (status 404)"),
            (
                "401 No",
                True,
                "the robots.txt is unavailable (status 401), which counts as no robots.txt",
            ),
            ("503 Busy", False, "the robots.txt is unreachable (status 503); next attempt "),
            ("429 Slow", False, "the robots.txt is unreachable (status 429); next attempt "),
        ],
    )
    def test_states(self, status: str, allowed: bool, words: str) -> None:
        """Without a file, the line gives the reason and the time of the next fetch."""
        with site({"/robots.txt": response(status=status)}) as running:
            ran = asked("check", f"{running.origin}/a")
        assert ran.code == int(not allowed)
        assert words in ran.out

    def test_no_connection(self) -> None:
        """A network failure gives a verdict, not an error."""
        with site({}) as running:
            gone = running.origin
        ran = asked("check", f"{gone}/a", "--json")
        [line] = values(ran)
        assert (ran.code, line["state"], line["failure_reason"]) == (1, "unreachable", "connect")
        assert "no connection" in asked("check", f"{gone}/a").out

    def test_a_private_address_is_refused_with_a_fix(self, example: Site) -> None:
        """One hint per host; nothing is fetched or stored."""
        urls = [f"http://localhost:{port}/" for port in (example.port, 9, 10)]
        ran = robotrules("check", *urls, *AS)
        assert ran.code == 1
        assert ran.err.count("--allow-private localhost") == 1
        assert "allow_private" not in ran.out + ran.err
        assert example.asked == []
        assert asked("check", urls[0]).code == 0

    def test_a_file_of_paths(self) -> None:
        """The error for its first line requests a site; a later one is only an invalid URL."""
        ran = asked("check", "--urls", "-", stdin=b"/a\n/b\n")
        assert (ran.code, ran.out) == (2, "")
        assert "'/a' has no scheme and host:" in ran.err
        ran = asked("check", "--urls", "-", stdin=b"mailto://x\n/b\n")
        assert ran.code == 1
        assert ran.out.count("not an http or https URL") == 2

    def test_a_url_with_odd_octets(self, example: Site) -> None:
        """No part of a URL reaches a terminal as a control character."""
        ran = asked("check", "--urls", "-", stdin=f"{example.origin}/\x1b[31m".encode() + b"\xff\n")
        assert ran.out == f"allowed\t{example.origin}/\\x1b[31m\\xff\tno rule matches\n"

    def test_control_characters_of_a_server_are_visible(self) -> None:
        """A Location with control characters does not move a cursor."""
        moved = response("", "Location: http://x\x1b[31m/", status="301 Moved")
        with site({"/robots.txt": moved}) as running:
            out = asked("explain", f"{running.origin}/a").out
        assert "\x1b" not in out

    def test_options_without_effect(self, file: str) -> None:
        """With files nothing is fetched, and a hint reports the unused options."""
        ran = robotrules("check", "/", *AS, "--robots", file, "--refresh")
        assert (ran.code, "so --refresh has no effect" in ran.err) == (0, True)
        ran = robotrules("explain", "/", *AS, "--robots", file, "--no-store", "--timeout", "3")
        assert "so --no-store and --timeout have no effect" in ran.err
        assert robotrules("check", "/", *AS, "--robots", file, "-q", "--refresh").err == ""
        assert robotrules("check", "/", *AS, "--robots", file, ROBOTRULES_STORE="x").err == ""


class TestManyOrigins:
    """More origins than are kept in memory, with a fake transport."""

    @pytest.fixture
    def asked_for(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The URLs that were fetched."""
        seen: list[str] = []

        class Everywhere:
            def send(self, request: Request) -> Response | Failure:
                seen.append(request.url)
                if "broken" in request.url:
                    return Failure(FailureReason.TIMEOUT, "1 s in all")
                return Response(200, {}, f"User-agent: *\nDisallow: /{request.url[12]}".encode())

            def close(self) -> None:
                pass

        real = sync.Client

        def opened(user_agent: str, allow_private: Any = (), **options: Any) -> sync.Client:
            return real(user_agent, transport=Everywhere(), **options)

        monkeypatch.setattr(sync, "Client", opened)
        return seen

    @pytest.mark.parametrize("most", [(3, 65_536, 2**25), (256, 4, 2**25), (256, 65_536, 50)])
    @pytest.mark.parametrize("ordered", [True, False])
    def test_bounds(
        self,
        asked_for: list[str],
        monkeypatch: pytest.MonkeyPatch,
        most: tuple[int, int, int],
        ordered: bool,
    ) -> None:
        """Whatever bound is reached, each URL is answered once; in order where that is wanted."""
        for name, bound in zip(
            ("MOST_ORIGINS", "MOST_WAITING", "MOST_WAITING_OCTETS"), most, strict=True
        ):
            monkeypatch.setattr(origin_lookup, name, bound)
        monkeypatch.setattr(url_lists, "BATCH", 7)
        monkeypatch.setattr(origin_lookup, "MOST_SPELLINGS", 4)
        urls = [f"https://site{n}.example/{n}" for n in range(10)] * 2 + ["ftp://x/", "/a"]
        option = ["--ordered"] if ordered else []
        ran = robotrules("check", "--urls", "-", *AS, *option, stdin="\n".join(urls).encode())
        lines = [line.split("\t") for line in ran.out.splitlines()]
        answered = [url for _, url, _ in lines]
        assert answered == urls if ordered else sorted(answered) == sorted(urls)
        assert {word for word, _, _ in lines} == {"disallowed"}
        assert len(asked_for) == 10

    def test_shuffled_origins_are_grouped(
        self, asked_for: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """For any order of URLs, an origin is looked up a few times, not once per URL."""
        calls = []
        real = OriginState.check_many

        def counted(self: OriginState, urls: Any, *who: Any) -> Any:
            calls.append(len(urls))
            return real(self, urls, *who)

        monkeypatch.setattr(OriginState, "check_many", counted)
        urls = [f"https://site{n % 300:03}.example/{n}" for n in range(6000)]
        ran = robotrules("check", "--urls", "-", *AS, stdin="\n".join(urls).encode())
        assert sorted(line.split("\t")[1] for line in ran.out.splitlines()) == sorted(urls)
        assert sum(calls) == 6000
        assert len(calls) < 2000
        assert len(asked_for) == 300

    def test_a_slow_host_delays_only_its_own_urls(
        self, asked_for: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The others are written before it responds; with `--ordered` they wait for it."""
        written: list[str] = []
        answers = Event()
        held, add = origin_lookup.OriginLookup.look_up, TextLines.add

        def slow(self: origin_lookup.OriginLookup, origin: str) -> OriginState:
            if "slow" in origin:
                assert answers.wait(30)
            return held(self, origin)

        def noted(self: TextLines, checked: CheckedUrls) -> None:
            written.extend(url.decode() for url in checked.urls)
            add(self, checked)
            if len(written) >= 10:
                answers.set()

        monkeypatch.setattr(origin_lookup.OriginLookup, "look_up", slow)
        monkeypatch.setattr(TextLines, "add", noted)
        urls = ["https://slow.example/s", *(f"https://site{n}.example/{n}" for n in range(10))]
        ran = robotrules("check", "--urls", "-", *AS, stdin="\n".join(urls).encode())
        assert written[-1] == urls[0]
        assert sorted(written) == sorted(urls)
        assert "11 URLs: 1 allowed, 10 disallowed, in " in ran.err
        written.clear()
        robotrules("check", "--urls", "-", "--ordered", *AS, stdin="\n".join(urls).encode())
        assert written == urls

    def test_quiet_waits_for_no_other(
        self, asked_for: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first disallowed URL is the answer, whoever else has not answered."""
        answers = Event()
        held = origin_lookup.OriginLookup.look_up

        def slow(self: origin_lookup.OriginLookup, origin: str) -> OriginState:
            if "slow" in origin:
                assert answers.wait(30)
            return held(self, origin)

        monkeypatch.setattr(origin_lookup.OriginLookup, "look_up", slow)
        urls = b"https://slow.example/a\nhttps://site1.example/1\n"
        try:
            assert robotrules("check", "--urls", "-", "-q", *AS, stdin=urls) == Ran(1, "", "")
        finally:
            answers.set()

    def test_paths_of_a_log_have_no_site(self, asked_for: list[str]) -> None:
        """A log contains paths, even if they start with two slashes."""
        line = b'1.2.3.4 - - [01/May/2026:10:00:00 +0000] "GET %b HTTP/1.1" 200 5\n'
        for path in (b"/a", b"//a"):
            ran = robotrules("check", "--urls", "-", *AS, stdin=line % path)
            assert (ran.code, ran.out) == (2, "")
            assert "has no scheme and host:" in ran.err
        ran = robotrules(
            "check", "--urls", "-", *AS, stdin=line % b"https://site1.example/1" + line % b"//a"
        )
        assert [one.split("\t")[1] for one in ran.out.splitlines()] == [
            "//a",
            "https://site1.example/1",
        ]
        assert asked_for == ["https://site1.example/robots.txt"]

    def test_memory_is_bounded(self, asked_for: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """A client drops entries that the store has; the store still answers."""
        monkeypatch.setattr(memory_cache, "MAX_ORIGINS", 4)
        monkeypatch.setattr(origin_lookup, "MOST_REFRESHED", 2)
        urls = "\n".join(f"https://site{n}.example/" for n in [*range(10), *range(10)])
        robotrules("check", "--urls", "-", *AS, stdin=urls.encode())
        assert len(asked_for) == 10
        robotrules("check", "--urls", "-", *AS, "--refresh", stdin=urls.encode())
        assert len(asked_for) > 10

    def test_progress_goes_with_origins(self, asked_for: list[str], tmp_path: Path) -> None:
        """The bar moves as URLs are answered, and ends at the end of the file."""
        path = tmp_path / "urls"
        path.write_text("\n\n".join(f"https://site{n}.example/" for n in range(10)))
        parts: list[int] = []
        with mock.patch(
            "robotrules.cli.progress.Progress.add",
            side_effect=lambda _, octets: parts.append(octets),
        ):
            robotrules("check", "--urls", str(path), *AS)
        assert min(parts) >= 0
        assert sum(parts) == path.stat().st_size

    def test_a_failure_beside_others(self, asked_for: list[str]) -> None:
        """An origin that does not respond does not affect the others."""
        urls = ["https://broken.example/", "https://site1.example/"]
        ran = robotrules("check", *urls, *AS, "--json")
        first, second = values(ran)
        assert (first["state"], first["failure_reason"]) == ("unreachable", "timeout")
        assert second["state"] == "success"

    def test_lines_keep_little_of_origins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Entries of closed origins are dropped, and their ids may be reused."""
        entry = Entry("https://a.example", "robotrules")
        fresh = Freshness(EffectivePolicy.ALLOW, 0.0, False, False, FreshnessReason.FRESH)
        here = make_origin_state(entry, fresh, None, profile=DEFAULT, source=StateSource.MEMORY)
        with mock.patch.object(sys, "stdout", Stream()):
            lines = JSONLines(Output(), [CrawlerChoice("ExampleBot", "ExampleBot")], fetched=True)
            for _ in range(3):
                lines.add(CheckedUrls([b"/a"], [here.check_many(["/a"], "ExampleBot")], [here]))
            monkeypatch.setattr(check_output, "MOST_ENDS", 0)
            lines.add(CheckedUrls([b"/a"], [here.check_many(["/a"], "ExampleBot")], [here]))
        assert lines.disallowed == [0]
        assert (len(lines._verdicts[0]), len(lines._parts[0]), len(lines._entries)) == (1, 1, 1)

    def test_an_interrupt(self, asked_for: list[str]) -> None:
        """Ctrl-C ends it without a traceback."""
        urls = [f"https://site{n}.example/" for n in range(4)]
        with mock.patch("robotrules.cli.check_output.TextLines.add", side_effect=KeyboardInterrupt):
            assert robotrules("check", *urls, *AS).code == 130


class TestFresh:
    """`--refresh`, while the server fails and a copy is valid."""

    @pytest.fixture
    def failing(self, example: Site) -> Site:
        """A site with a stored robots.txt that can no longer be fetched."""
        asked("check", f"{example.origin}/a")
        example.answers["/robots.txt"] = response(status="503 No")
        return example

    def test_check(self, failing: Site) -> None:
        """A hint, once; JSON has it for each."""
        urls = [f"{failing.origin}/a", f"{failing.origin}/b"]
        ran = asked("check", *urls, "--refresh")
        assert (ran.code, ran.err.count("hint: ")) == (0, 1)
        assert ": status 503; the copy is valid until " in ran.err
        found = values(asked("check", *urls, "--refresh", "--json"))
        assert {one["failure"] for one in found} == {"status 503"}
        assert {one["state"] for one in found} == {"success"}
        assert "hint: " not in asked("check", *urls).err

    def test_others(self, failing: Site) -> None:
        """Pages report it where they describe how the file was obtained."""
        for command, more in (
            ("explain", ["--refresh"]),
            ("guidance", ["--refresh"]),
            ("audit", []),
        ):
            out = asked(command, f"{failing.origin}/a", *more).out
            assert "refresh failed " in out
            assert ": status 503" in out
            assert "(just now)" not in out
        found = json.loads(asked("guidance", f"{failing.origin}/a", "--refresh", "--json").out)
        assert found["access"]["robots_failure"] == "status 503"


class TestOptions:
    """Valid and invalid combinations."""

    def test_two_stores(self, tmp_path: Path, example: Site) -> None:
        """`--no-store` conflicts with `--store`, and overrides the variable."""
        where = str(tmp_path / "x.sqlite")
        ran = asked("check", f"{example.origin}/a", "--no-store", "--store", where)
        assert (ran.code, "--no-store and --store cannot be combined" in ran.err) == (2, True)
        url = f"{example.origin}/a"
        assert asked("check", url, "--no-store", ROBOTRULES_STORE=where).code == 0
        assert not Path(where).exists()

    def test_stale(self, example: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """An old copy counts while the file is unreachable."""
        url = f"{example.origin}/a"
        asked("check", url)
        example.answers["/robots.txt"] = response(status="503 No")
        later = cli_client.now() + 2 * 86_400
        monkeypatch.setattr(cli_client, "now", lambda: later)
        assert asked("check", url).code == 1
        for command in ("check", "explain", "guidance", "preferences"):
            assert asked(command, url, "--profile", "stale", "--refresh").code == 0
        stale = ("--profile", "stale", "--app", "examplesearch")
        assert asked("directives", url, *stale).code == 0
        # It was not reached all the same.
        assert robotrules("prefetch", url, *ALLOW, "--profile", "stale", "--refresh").code == 1

    @pytest.mark.parametrize("command", ["check", "explain", "guidance", "preferences"])
    def test_stale_is_about_fetching(self, file: str, command: str) -> None:
        """With a file, it is refused with a fix."""
        ran = robotrules(command, "/a", *AS, "--robots", file, "--profile", "stale")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert ran.err.endswith("remove it\n")

    def test_profiles_that_are_about_fetching(self) -> None:
        """They are named by hand, so that no command waits for them."""
        assert set(ACCESS_ONLY) == set(ACCESS_PROFILES) - set(PROFILES)

    def test_without_a_library_that_fetches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The message names the extra to install."""
        monkeypatch.setitem(sys.modules, "httpx2", None)
        monkeypatch.delitem(sys.modules, "robotrules.client.transports.httpx2", raising=False)
        ran = asked("check", "https://127.0.0.1:9/")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "fetching robots.txt files needs httpx2" in ran.err
        assert ran.err.endswith("pip install 'robotrules[http]'\n")

    def test_without_a_library_that_reads_html(
        self, example: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Only headers are read, and the message names the extra to install."""
        example.answers["/a"] = response(PAGE, "Content-Type: text/html", "Robots-Tag: *;noai")
        monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
        monkeypatch.setitem(sys.modules, "justhtml", None)
        for command in ("guidance", "audit"):
            ran = asked(command, f"{example.origin}/a", "--json")
            assert ran.err.count("pip install 'robotrules[html]'") == 1
            found = json.loads(ran.out)
            usage = (found if command == "guidance" else found["guidance"])["usage"]
            assert usage["read"] == ["headers"]


class TestExplain:
    """`robotrules explain` without a file."""

    def test_how_the_file_was_got(self, example: Site) -> None:
        """The rule, and the file's own history."""
        ran = asked("explain", f"{example.origin}/x")
        assert ran.code == 1
        assert "Because   line 2: Disallow: /x\n" in ran.out
        how = ran.out.partition("How the file was fetched\n")[2]
        assert f"  {example.origin}/robots.txt: status 200, {len(ROBOTS)} bytes\n" in how
        assert "(just now), valid until " in how
        assert "(from the store)" in asked("explain", f"{example.origin}/x").out

    def test_json(self, example: Site) -> None:
        """`access` is part of it."""
        found = json.loads(asked("explain", f"{example.origin}/x", "--json").out)
        assert found["access"]["state"] == "success"
        assert found["access"]["fetch_record"]["address"] == "127.0.0.1"

    def test_no_origin(self) -> None:
        """A URL that no robots.txt governs ends the command."""
        ran = asked("explain", "ftp://example.com/")
        assert (ran.code, ran.err.count("\n")) == (2, 1)

    def test_a_renewed_file(self, example: Site) -> None:
        """A 304 confirms that the file is unchanged."""
        tagged = response(ROBOTS, 'ETag: "1"')
        example.answers["/robots.txt"] = tagged
        asked("check", f"{example.origin}/a")
        example.answers["/robots.txt"] = response(status="304 Not Modified")
        out = asked("explain", f"{example.origin}/x", "--refresh").out
        assert "status 304, unchanged" in out
        assert "line 2: Disallow: /x" in out

    def test_a_copy(self, example: Site) -> None:
        """If an old copy decides, the output reports it (profile google, VEN-04)."""
        url, start = f"{example.origin}/x", 1_777_636_800.0
        google = ("--profile", "google")
        with mock.patch.object(cli_client, "now", return_value=start):
            asked("check", url, *google)
        example.answers["/robots.txt"] = response(status="500 No")
        for day, words in (
            (2, "is unreachable (status 500)"),
            (3, "from a copy fetched 2026-05-01"),
        ):
            with mock.patch.object(cli_client, "now", return_value=start + day * 86_400.0):
                assert words in asked("check", url, *google).out
                assert words in asked("explain", url, *google).out


class TestGuidance:
    """`robotrules guidance` with a URL alone."""

    def test_page_and_robots(self, example: Site) -> None:
        """Both are fetched, and read together."""
        ran = asked("guidance", f"{example.origin}/a", "--json")
        found = json.loads(ran.out)
        assert (ran.code, found["may_crawl"], found["may_index"]) == (0, True, False)
        assert found["preferences"]["preferences"]["train-ai"] == "disallowed"
        assert (found["status"], found["robots_origin"]) == (200, example.origin)
        assert found["access"]["robots_source"] == "fetched"
        assert example.asked == ["/robots.txt", "/a"]

    def test_a_disallowed_page_is_not_fetched(self, example: Site) -> None:
        """Neither directly nor after a redirect."""
        assert asked("guidance", f"{example.origin}/x").code == 1
        ran = asked("guidance", f"{example.origin}/to-x", "--json")
        found = json.loads(ran.out)
        assert (ran.code, found["url"]) == (1, f"{example.origin}/x")
        assert found["access"]["hops"][0]["status"] == 302
        assert "/x" not in example.asked

    def test_a_missing_page(self, example: Site) -> None:
        """Its tags are unknown, with the reason."""
        out = asked("guidance", f"{example.origin}/b").out
        assert "the page: status 404" in out
        assert "index     unknown       the page was not read" in out

    def test_a_private_address(self, example: Site) -> None:
        """The message explains how to allow it."""
        ran = robotrules("guidance", f"http://localhost:{example.port}/a", *AS)
        assert (ran.code, "--allow-private localhost" in ran.err) == (1, True)
        assert "The robots.txt is unreachable, so crawlers" in ran.out

    def test_notes_of_the_file(self) -> None:
        """Notes about the whole robots.txt are shown, for given and for fetched files."""
        with site({"/robots.txt": response("<!doctype html>")}) as running:
            err = asked("guidance", f"{running.origin}/a").err
        assert f"'{running.origin}': The file starts like an HTML page." in err

    def test_fresh(self, example: Site) -> None:
        """`--refresh` fetches the robots.txt again."""
        asked("check", f"{example.origin}/a")
        asked("guidance", f"{example.origin}/a", "--refresh")
        assert example.asked == ["/robots.txt", "/robots.txt", "/a"]


class TestScoped:
    """`robotrules directives` and `preferences` without a file."""

    def test_one_origin(self, example: Site) -> None:
        """The file of the origin is read."""
        ran = asked("preferences", f"{example.origin}/a", f"{example.origin}/b")
        assert ran.code == 0
        assert ran.out.count("line 3: Content-Usage: train-ai=n") == 2
        assert asked("directives", f"{example.origin}/a", "--app", "x").code == 0

    def test_questions_without_an_answer(self, example: Site) -> None:
        """Several origins, no origin, and an unreadable file."""
        for urls in (["http://127.0.0.1:9/", f"{example.origin}/"], ["ftp://x/"], ["/a"], ["a/b"]):
            ran = asked("preferences", *urls)
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        with site({"/robots.txt": response(status="500 No")}) as down:
            ran = asked("preferences", f"{down.origin}/")
        assert ran.code == 2
        assert f"{down.origin}: the robots.txt is unreachable" in ran.err

    def test_no_file(self) -> None:
        """There are no statements, and a hint gives the reason."""
        with site({}) as running:
            ran = asked("preferences", f"{running.origin}/")
        assert (ran.code, "there is no robots.txt (status 404)" in ran.err) == (0, True)


class TestClient:
    """Opening the client, and the messages if that fails."""

    def test_a_file_that_is_not_a_store(self, example: Site, tmp_path: Path) -> None:
        """A one-line error names the file and the option."""
        path = tmp_path / "notes.txt"
        path.write_text("no database\n" * 100)
        ran = asked("check", f"{example.origin}/", "--store", str(path))
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert str(path) in ran.err
        assert "--store" in ran.err
        assert example.asked == []

    @pytest.mark.parametrize(
        "options",
        [
            ["--store", "mysql://x"],
            ["--user-agent", ""],
            ["--user-agent", "1"],
            ["--user-agent", "Bot\x1b"],
            ["--allow-private", "http://localhost"],
            ["--timeout", "0"],
            ["--timeout", "x"],
        ],
    )
    def test_misuse(self, options: list[str]) -> None:
        """Invalid values give a one-line error with a fix."""
        ran = robotrules("check", "https://example.com/", *AS, *options)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "\x1b" not in ran.err

    def test_without_a_library_the_message_names_the_extra(
        self, example: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It names the packages of the extra."""
        monkeypatch.setitem(sys.modules, "httpx2", None)
        monkeypatch.delitem(sys.modules, "robotrules.client.transports.httpx2", raising=False)
        ran = asked("check", f"{example.origin}/")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "pip install 'robotrules[http]'" in ran.err

    def test_a_failing_store_is_reported_once(self, example: Site) -> None:
        """The command continues, and the warning has the format of its other messages."""
        fails = mock.Mock(side_effect=StoreError("the disk is full"))
        with mock.patch.object(SQLiteStore, "put", fails):
            ran = asked("check", f"{example.origin}/x", f"{example.origin}/a")
        assert ran.code == 1
        assert ran.err.startswith("robotrules check: warning: store unavailable; continuing")
        assert ran.err.count("the disk is full") == 1
        assert not logging.getLogger("robotrules").handlers

    def test_the_store_is_closed(self, example: Site, cache_folder: Path) -> None:
        """Stored data can be read by other processes."""
        asked("check", f"{example.origin}/x")
        [path] = cache_folder.glob("*.sqlite")
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.close()
        store = SQLiteStore(path)
        entry = store.get(example.origin, "robotrules")
        store.close()
        assert isinstance(entry, Entry)

    @pytest.mark.parametrize(
        ("url", "host"),
        [
            ("http://localhost:8000/a", "localhost"),
            ("https://[::1]:8443/", "::1"),
            ("https://Example.com", "example.com"),
            ("/a", ""),
        ],
    )
    def test_hosts(self, url: str, host: str) -> None:
        """A host is named as an option wants it."""
        assert host_of(url) == host
