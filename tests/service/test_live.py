"""The verbs that fetch, over HTTP against a real server, with real origins on loopback."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime
from functools import partial
from itertools import islice, permutations
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from robotrules.client.stores.sqlite import SQLiteStore
from robotrules.errors import StoreError
from robotrules.service.live import pages
from robotrules.service.live.fetching import HostList, host_of
from tests.cli.shell import robotrules
from tests.client import fault_servers
from tests.client.fault_servers import Peer
from tests.integrations.loopback_site import Answer, LoopbackSite, resolve_localhost_names
from tests.service.live_server import LOOPBACK, LiveServer, open_site, serve
from tests.service.running import serving


def hang(peer: Peer) -> None:
    """Answer nothing for ten seconds."""
    peer.pause(10)


ROBOTS = """\
User-agent: *
Disallow: /private
Allow: /private/open

User-agent: SlowBot
Crawl-delay: 3
"""
SLOW = 0.4
CHANGES = ("source", "fetched_at", "until")


@pytest.fixture(scope="module")
def service() -> Iterator[LiveServer]:
    """A service for tests that need no settings of their own."""
    with serve() as running:
        yield running


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    """A site with rules."""
    with open_site(ROBOTS) as running:
        yield running


def limits(**values: Any) -> Any:
    """Return the default limits with some of them changed."""
    from robotrules.service.settings import Limits

    return Limits()._replace(**{"fetch_timeout": 1.0} | values)


def command(*arguments: str) -> Any:
    """Return what a command prints with --json."""
    ran = robotrules(*arguments, "--json", "--no-store", "--allow-private", "127.0.0.0/8")
    assert ran.code in (0, 1), ran.err
    return json.loads(ran.out)


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return values without some, which differ from one fetch to the next."""
    return {name: value for name, value in values.items() if name not in names}


def problem(response: httpx.Response, slug: str, status: int) -> dict[str, Any]:
    """Return the problem of a response, which never says that something is allowed."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    values: dict[str, Any] = response.json()
    assert values["type"] == f"/v1/problems#{slug}"
    assert "allowed" not in values
    return values


def check_alone(service: LiveServer, url: str) -> Any:
    """Return the answer to a check on a connection of its own."""
    query = {"url": url, "as": "ExampleBot"}
    return httpx.get(f"{service.url}/v1/check", params=query, timeout=30, trust_env=False).json()


class TestCheck:
    """GET and POST /v1/check."""

    @pytest.mark.parametrize("path", ["/a", "/private/a", "/private/open", "/robots.txt"])
    @pytest.mark.parametrize("name", ["ExampleBot", "Googlebot-News"])
    def test_is_what_the_command_prints(
        self, service: LiveServer, site: LoopbackSite, path: str, name: str
    ) -> None:
        """First after a fetch, then from memory."""
        url = site.url(path)
        expected = command("check", url, "--as", name)
        for source in ("fetched", "memory", "memory"):
            answer = service.check(url, as_=name)
            assert without(answer, *CHANGES) == without(expected, *CHANGES)
            assert answer["source"] == source
        assert service.post("/v1/check", {"url": url, "as": name}).json() == answer
        assert site.robots_requests == 2  # one by the command

    def test_crawlers_share_a_file(self, service: LiveServer, site: LoopbackSite) -> None:
        """One fetch for all crawlers, with different verdicts."""
        assert not service.check(site.url("/private"))["allowed"]
        assert service.check(site.url("/private"), as_="SlowBot")["allowed"]
        both = service.get("/v1/check", url=site.url("/private"), as_=["OtherBot", "SlowBot"])
        assert both.json()["product_token"] == "OtherBot, SlowBot"
        assert site.robots_requests == 1

    def test_profiles_and_purposes(self, service: LiveServer) -> None:
        """Each profile parses for itself; a purpose selects groups where the profile reads them."""
        robots = "User-agent: *\nDisallow: /a\n\nUser-agent-purpose: P-1\nDisallow: /b\n"
        with open_site(robots) as site:
            for profile in ("default", "strict", "google", "stale"):
                answer = service.check(site.url("/b"), purpose="P-1", profile=profile)
                expected = command(
                    *("check", site.url("/b"), "--as", "ExampleBot", "--purpose", "P-1"),
                    *("--profile", profile),
                )
                assert without(answer, *CHANGES) == without(expected, *CHANGES)

    def test_literal(self, service: LiveServer) -> None:
        """A well-known crawler selects groups by the registry, unless literal."""
        with open_site("User-agent: Googlebot\nDisallow: /\n") as site:
            assert not service.check(site.url("/a"), as_="Googlebot-News")["allowed"]
            answer = service.check(site.url("/a"), as_="Googlebot-News", literal="true")
            assert answer["allowed"]
            assert answer["known"] is None

    def test_many_urls(self, service: LiveServer, site: LoopbackSite) -> None:
        """A line for each URL, in order; a URL that cannot be answered has an error."""
        urls = [site.url("/private"), "mailto:a@example.com", site.url("/a")]
        response = service.post("/v1/check", {"urls": urls, "as": "ExampleBot"})
        assert response.headers["content-type"] == "application/x-ndjson"
        first, second, third = map(json.loads, response.text.splitlines())
        assert (first["url"], first["allowed"], third["allowed"]) == (urls[0], False, True)
        assert second["line"] == 2
        assert "allowed" not in second
        found = service.post("/v1/check", {"urls": ["x"] * 10_001, "as": "ExampleBot"})
        problem(found, "too-many-urls", 413)

    def test_the_crawler_of_the_user_agent(self, site: LoopbackSite) -> None:
        """It is asked about without `as`, and it is what origins see."""
        with serve(user_agent="SlowBot/2.0 (+https://example.com/bot)") as service:
            answer = service.get("/v1/check", url=site.url("/private")).json()
            assert (answer["allowed"], answer["product_token"]) == (True, "SlowBot")
        assert site.seen[0].headers["User-Agent"] == "SlowBot/2.0 (+https://example.com/bot)"

    def test_without_a_user_agent(self, tmp_path: Path) -> None:
        """A service that was started without one has no crawler of its own."""
        with serving(tmp_path) as running:
            answer = running.ask("GET", "/v1/check?url=http%3A%2F%2F127.0.0.1%3A9%2F")
            assert answer.status == 422
            assert answer.json()["at"] == "as"

    def test_international_hosts(self) -> None:
        """A name in any script is the origin of its A-labels."""
        with (
            resolve_localhost_names(),
            LoopbackSite(ROBOTS) as site,
            serve(allow_private=("*.localhost",)) as service,
        ):
            answer = service.check(f"http://bücher.localhost:{site.port}/private")
            assert answer["origin"] == f"http://xn--bcher-kva.localhost:{site.port}"
            assert answer["reason"] == "disallow-rule"

    @pytest.mark.parametrize(
        ("query", "at"),
        [
            ("as=ExampleBot", "url"),
            ("url=&as=ExampleBot", "url"),
            ("url=/private&as=ExampleBot", "url"),
            ("url=ftp://example.com/&as=ExampleBot", "url"),
            ("url=http://me:secret@example.com/&as=ExampleBot", "url"),
            ("url=http://@example.com/&as=ExampleBot", "url"),
            ("url=http://exa_mple..com/&as=ExampleBot", "url"),
            ("url=http://0x7f.1/&as=ExampleBot", "url"),
            ("url=http://example.com:99999/&as=ExampleBot", "url"),
            ("url=http://example.com/a+b&as=ExampleBot", "url"),
            ("url=http://example.com/%0A&as=ExampleBot", "url"),
            ("url=http://example.com/%FF&as=ExampleBot", "url"),
            ("url=http://example.com/a/..%5Cprivate&as=ExampleBot", "url"),
            ("url=http://example.com%5Cprivate&as=ExampleBot", "url"),
            (f"url=http://example.com/{'a' * 8192}&as=ExampleBot", "url"),
            ("url=http://example.com/&url=http://example.com/&as=ExampleBot", "url"),
            ("url=http://example.com/?a=1&b=2&as=ExampleBot", "url"),
            ("url=http://example.com/", "as"),
            ("url=http://example.com/&as=", "as"),
            ("url=http://example.com/&as=Mozilla/5.0+(X11)", "as"),
            ("url=http://example.com/&as=a,b", "as"),
            (f"url=http://example.com/&as={'a' * 1001}", "as"),
            ("url=http://example.com/" + "&as=a" * 17, "as"),
            ("url=http://example.com/&as=a&purpose=", "purpose"),
            ("url=http://example.com/&as=a&profile=lax", "profile"),
            ("url=http://example.com/&as=a&literal=yes", "literal"),
        ],
    )
    def test_misuse(self, service: LiveServer, query: str, at: str) -> None:
        """A problem that names the parameter; what a URL may mean is never guessed."""
        found = problem(service.client.get(f"/v1/check?{query}"), "invalid-request", 422)
        assert found["at"] == at
        assert "secret" not in str(found)

    @pytest.mark.parametrize(
        "tail", ["+b", "%0A", "/..%5Cb", "%FF", "&b=2", "&url=http://a/", "a" * 8192]
    )
    def test_misuse_about_a_known_origin(
        self, service: LiveServer, site: LoopbackSite, tail: str
    ) -> None:
        """The short way for files in memory refuses the same."""
        service.check(site.url("/a"))
        for query in (
            f"url={site.url('/a')}{tail}&as=ExampleBot",
            f"as=ExampleBot&url={site.url('/a')}{tail}",
        ):
            for _ in range(2):
                problem(service.client.get(f"/v1/check?{query}"), "invalid-request", 422)
        user = site.url("/a").replace("://", "://me@")
        for _ in range(2):
            problem(service.get("/v1/check", url=user, as_="ExampleBot"), "invalid-request", 422)

    def test_query_strings_are_decoded_once(self, service: LiveServer, site: LoopbackSite) -> None:
        """In either order of parameters, with encoded and plain characters."""
        path = "/private%2Fopen%253F?a=1&b=2%26%3d+"
        encoded = quote(site.url(path), safe="")
        for query in (f"url={encoded}&as=ExampleBot", f"as=ExampleBot&url={encoded}"):
            for _ in range(3):
                answer = service.client.get(f"/v1/check?{query}").json()
                assert answer["url"] == site.url(path)

    def test_a_given_file(self, service: LiveServer, site: LoopbackSite) -> None:
        """With a robots.txt nothing is fetched, also if the file is empty; null is no file."""
        url = site.url("/private")
        for robots, allowed in (("", True), ("User-agent: *\nDisallow: /p\n", False)):
            body = {"url": url, "as": "ExampleBot", "robots": robots}
            answer = service.post("/v1/check", body).json()
            assert answer["allowed"] is allowed
            assert "origin" not in answer
        assert not site.seen
        answer = service.post("/v1/check", {"url": url, "as": "ExampleBot"}).json()
        assert (answer["allowed"], answer["origin"]) == (False, site.origin)

    @pytest.mark.parametrize(
        "body",
        [
            {"as": "ExampleBot"},
            {"url": "http://example.com/", "urls": [], "as": "ExampleBot"},
            {"url": "http://example.com/", "as": "ExampleBot", "robot": "x"},
            {"url": 1, "as": "ExampleBot"},
            {"url": "http://example.com/ ", "as": "ExampleBot"},
            {"url": "http://example.com/"},
            {"url": "http://example.com/", "as": ["a"] * 17},
            {"url": "http://example.com/", "as": []},
            {"url": "http://example.com/a\\b", "as": "ExampleBot"},
            [],
        ],
    )
    def test_misuse_in_a_body(self, service: LiveServer, body: Any) -> None:
        """Also a field that does not exist."""
        problem(service.post("/v1/check", body), "invalid-request", 422)

    def test_a_body_that_is_not_json(self, service: LiveServer) -> None:
        """A problem of its own."""
        deep = b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        for content in (b"{", b"\xff", b'{"url": "\xff"}', deep):
            response = service.client.post(
                "/v1/check", content=content, headers={"Content-Type": "application/json"}
            )
            problem(response, "malformed-body", 400)


class TestQueries:
    """Parameters in every order, one request after the other, on one service."""

    ROBOTS = """\
User-agent: *
Disallow: /a

User-agent: Googlebot
Disallow: /a

User-agent-purpose: EXAMPLE-PURPOSE-1
Disallow: /papers/
"""

    @pytest.mark.parametrize(
        "other", ["purpose=EXAMPLE-PURPOSE-1", "profile=google", "literal=true", "as=OtherBot"]
    )
    def test_nothing_is_kept_from_another_request(self, other: str) -> None:
        """In whatever order the parameters were, only those of the request count."""
        with open_site(self.ROBOTS) as site, serve() as service:
            url = f"url={quote(site.url('/a'), safe='')}"
            plain = (f"as=Googlebot-News&{url}", f"{url}&as=Googlebot-News")
            expected = service.client.get(f"/v1/check?{plain[0]}").json()
            assert (expected["allowed"], expected["product_token"]) == (False, "Googlebot-News")
            for parts in permutations(("as=Googlebot-News", url, other)):
                changed = service.client.get(f"/v1/check?{'&'.join(parts)}").json()
                assert without(changed, *CHANGES) != without(expected, *CHANGES), parts
                for query in plain:
                    found = service.client.get(f"/v1/check?{query}").json()
                    assert without(found, *CHANGES) == without(expected, *CHANGES), parts

    @pytest.mark.parametrize("query", ["{url}", "{url}&as=MyBot", "as=MyBot", "as=MyBot&u={url}"])
    def test_a_url_without_its_name(self, service: LiveServer, query: str) -> None:
        """It is no parameter, also after requests that leave out all others."""
        with open_site(self.ROBOTS) as site, serve(user_agent="MyBot/1.0") as named:
            for running in (service, named):
                running.client.get("/v1/check", params={"url": site.url("/a")})
                answer = running.client.get(f"/v1/check?{query.format(url=site.url('/a'))}")
                assert answer.status_code == 422, answer.text

    @pytest.mark.parametrize("path", ["check", "explain", "guidance", "robots"])
    def test_a_url_whose_end_is_not_clear(self, service: LiveServer, path: str) -> None:
        """Parameters of the URL might be taken as those of the request."""
        with open_site(self.ROBOTS) as site:
            url = site.url("/list?b=1")
            for _ in range(2):
                unclear = service.client.get(f"/v1/{path}?url={url}&profile=google")
                assert unclear.status_code == 422
                assert "'?' as %3F" in unclear.json()["detail"]
            for clear in (f"profile=google&url={url}", f"url={quote(url)}&profile=google"):
                who = "" if path == "robots" else "as=MyBot&"
                assert service.client.get(f"/v1/{path}?{who}{clear}").status_code == 200


class TestFetching:
    """What is fetched, how often, and what failures mean."""

    def test_single_flight(self) -> None:
        """200 requests at once for a slow origin: one fetch."""
        with open_site(Answer(body=ROBOTS.encode(), delay=SLOW)) as site, serve() as service:
            urls = [site.url(f"/private/{number}") for number in range(200)]
            with ThreadPoolExecutor(200) as threads:
                began = time.monotonic()
                # A connection each: one client in 200 threads is not what is tested.
                answers = list(threads.map(partial(check_alone, service), urls))
            assert [answer["url"] for answer in answers] == urls
            assert {answer["reason"] for answer in answers} == {"disallow-rule"}
            assert site.robots_requests == 1
            assert time.monotonic() - began < 10

    @pytest.mark.parametrize(
        ("answer", "allowed", "state", "reason"),
        [
            (Answer(404), True, "unavailable", "unavailable"),
            (Answer(403), True, "unavailable", "unavailable"),
            (Answer(503), False, "unreachable", "unreachable"),
            (Answer(500, b"User-agent: *\nAllow: /\n"), False, "unreachable", "unreachable"),
            (Answer(200, b""), True, "success", "no-group"),
        ],
    )
    def test_statuses(
        self, service: LiveServer, answer: Answer, allowed: bool, state: str, reason: str
    ) -> None:
        """As RFC 9309 §2.3.1 says, from the fetch and from memory."""
        with open_site(answer) as site:
            for _ in range(2):
                found = service.check(site.url("/a"))
                values = found["allowed"], found["state"], found["reason"], found["status"]
                assert values == (allowed, state, reason, answer.status)
            assert site.robots_requests == 1

    def test_redirect_loops(self, service: LiveServer) -> None:
        """A loop ends; the file counts as the access profile says."""
        target = Answer(301, headers=(("Location", "/robots.txt"),))
        with open_site(target) as site:
            found = service.check(site.url("/a"))
            assert found["failure_reason"] == "loop"
            expected = command("check", site.url("/a"), "--as", "ExampleBot")
            assert without(found, *CHANGES) == without(expected, *CHANGES)
            assert site.robots_requests == 2

    @pytest.mark.parametrize("fault", ["hang", "reset", "trickle"])
    def test_faulty_servers(self, fault: str) -> None:
        """A server that hangs, resets or sends a byte now and then: nothing is allowed, in time."""

        def behave(peer: Peer) -> None:
            if fault == "reset":
                peer.reset()
            elif fault == "hang":
                peer.pause(15)
            else:
                peer.send(
                    b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nUser-agent: *\nAllow: /\n"
                )
                for _ in range(100):
                    if not peer.pause(0.1):
                        return
                    peer.send(b"#")

        with fault_servers.serve(behave) as site, serve(limits=limits()) as service:
            began = time.monotonic()
            answer = service.check(f"{site.url}/a")
            assert time.monotonic() - began < 4
            assert (answer["allowed"], answer["state"]) == (False, "unreachable")
            assert answer["failure_reason"] in (
                ("timeout",) if fault != "reset" else ("connect", "cut", "protocol")
            )
            again = service.check(f"{site.url}/a")
            assert (again["allowed"], again["source"]) == (False, "memory")

    def test_a_body_of_100_mib(self) -> None:
        """The first 500 KiB count; the rest is not read."""
        sent = []

        def behave(peer: Peer) -> None:
            size = 100 * 1024 * 1024
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            peer.send(b"User-agent: *\nDisallow: /private\n")
            block = b"# \n" * 20_000
            try:
                for _ in range(size // len(block)):
                    peer.sock.sendall(block)
                    sent.append(len(block))
            except OSError:
                return

        with fault_servers.serve(behave) as site, serve() as service:
            began = time.monotonic()
            assert not service.check(f"{site.url}/private")["allowed"]
            assert service.check(f"{site.url}/a")["allowed"]
            assert time.monotonic() - began < 5
        assert sum(sent) < 30 * 1024 * 1024

    def test_private_addresses_are_refused(self) -> None:
        """Without --allow-private nothing is requested, and nothing is allowed."""
        with open_site("User-agent: *\nAllow: /\n") as site, serve(allow_private=()) as service:
            for url in (site.url("/a"), "http://169.254.169.254/", "http://[::1]/"):
                answer = service.check(url)
                assert (answer["allowed"], answer["failure_reason"]) == (False, "refused-address")
            assert not site.seen

    def test_a_refused_address_has_a_hint(self) -> None:
        """In all answers about it, at the first time and from memory."""
        with open_site("User-agent: *\n") as site, serve(allow_private=()) as service:
            url, host = site.url("/"), site.origin.split("/")[2].split(":")[0]
            for _ in range(2):
                for found in (
                    service.check(url),
                    service.post("/v1/slot", {"url": url, "as": "A"}).json(),
                    service.get("/v1/robots", url=url).json(),
                ):
                    assert found["hint"].endswith(f"--allow-private {host}")
        with (
            open_site(Answer(302, headers=(("Location", "http://127.9.9.9/robots.txt"),))) as site,
            serve(fetch_hosts=(host_of(site.origin),)) as service,
        ):
            assert service.check(site.url("/"))["hint"].endswith("--fetch-host 127.9.9.9")

    def test_too_many_fetches(self) -> None:
        """Beyond the limit there is 503; origins in memory are answered all the same."""
        with (
            open_site(ROBOTS) as fast,
            fault_servers.serve(hang) as hanging,
            serve(limits=limits(max_fetches=1, fetch_timeout=2.0)) as service,
            ThreadPoolExecutor(4) as threads,
        ):
            service.check(fast.url("/a"))
            waits = [
                threads.submit(service.check, f"{hanging.url}/{number}") for number in range(2)
            ]
            time.sleep(0.5)
            busy = service.get("/v1/check", url="http://127.0.0.1:9/", as_="ExampleBot")
            problem(busy, "busy", 503)
            assert busy.headers["retry-after"] == "1"
            # Two requests may wait for one origin.
            third = service.get("/v1/check", url=f"{hanging.url}/3", as_="ExampleBot")
            problem(third, "busy", 503)
            assert service.check(fast.url("/b"))["allowed"]
            # A stream waits for its turn instead.
            [line] = service.stream([{"url": "http://127.0.0.1:9/"}])
            assert (line["allowed"], line["failure_reason"]) == (False, "connect")
            assert not any(wait.result()["allowed"] for wait in waits)

    def test_fetching_off(self) -> None:
        """All verbs that fetch say so."""
        with serve(fetches=False) as service:
            url = "http://127.0.0.1:9/a"
            for path in ("check", "explain", "guidance"):
                found = service.get(f"/v1/{path}", url=url, as_="ExampleBot")
                problem(found, "fetching-off", 403)
            problem(service.get("/v1/robots", url=url), "fetching-off", 403)
            for path in ("check", "check/stream", "slot"):
                found = service.post(f"/v1/{path}", {"url": url, "as": "ExampleBot"})
                problem(found, "fetching-off", 403)
            found = service.post("/v1/responses", {"url": url, "status": 200})
            problem(found, "fetching-off", 403)

    def test_listed_hosts(self) -> None:
        """Others are refused before anything is fetched, also as the target of a redirect."""
        with (
            LoopbackSite("User-agent: *\nAllow: /\n", "127.0.0.2") as other,
            LoopbackSite() as site,
            serve(fetch_hosts=("127.0.0.1",), allow_private=("127.0.0.0/8",)) as service,
        ):
            for path in ("/v1/check", "/v1/explain", "/v1/guidance"):
                found = service.get(path, url=other.url("/a"), as_="ExampleBot")
                problem(found, "host-not-allowed", 403)
            found = service.post("/v1/slot", {"url": other.url("/a"), "as": "ExampleBot"})
            problem(found, "host-not-allowed", 403)
            found = service.post("/v1/responses", {"url": other.url("/a"), "status": 503})
            problem(found, "host-not-allowed", 403)
            [line] = service.stream([{"url": other.url("/a")}])
            assert line["type"] == "/v1/problems#host-not-allowed"
            elsewhere = (("Location", other.url("/robots.txt")),)
            site.answers["/robots.txt"] = Answer(302, headers=elsewhere)
            assert not service.check(site.url("/a"))["allowed"]
            assert not other.seen

    def test_a_client_that_leaves_does_not_end_the_fetch(self) -> None:
        """The next request gets the file that the first one caused to be fetched."""
        with open_site(Answer(body=ROBOTS.encode(), delay=SLOW)) as site, serve() as service:
            with pytest.raises(httpx.ReadTimeout):
                service.client.get(
                    "/v1/check",
                    params={"url": site.url("/a"), "as": "ExampleBot"},
                    timeout=SLOW / 4,
                )
            assert not service.check(site.url("/private"))["allowed"]
            assert site.robots_requests == 1


class TestPages:
    """explain, robots and guidance of a URL."""

    def test_explain(self, service: LiveServer, site: LoopbackSite) -> None:
        """What the command prints."""
        url = site.url("/private/open?a=1")
        found = service.get("/v1/explain", url=url, as_="ExampleBot").json()
        expected = command("explain", url, "--as", "ExampleBot")
        assert found.pop("access").keys() == expected.pop("access").keys()
        assert found == expected

    @pytest.mark.parametrize(("more", "is_inline"), [(0, True), (1, False)])
    def test_where_explain_runs(
        self, more: int, is_inline: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In the event loop up to the bound of all verbs: the worst file takes less than 5 ms."""
        inline: list[bool] = []
        explain = pages._explanation_values

        def noted(*given: Any) -> dict[str, Any]:
            """Note whether an event loop runs in this thread."""
            try:
                asyncio.get_running_loop()
                inline.append(True)
            except RuntimeError:
                inline.append(False)
            return explain(*given)

        monkeypatch.setattr(pages, "_explanation_values", noted)
        body = b"User-agent: *\n".ljust(8 * 1024 + more, b"#")
        with open_site(Answer(body=body)) as site, serve() as service:
            assert service.get("/v1/explain", url=site.url("/"), as_="A").status_code == 200
        assert inline == [is_inline]

    def test_explain_a_long_file(self, service: LiveServer) -> None:
        """What the command prints; several at once are answered in turn."""
        with open_site(ROBOTS + "".join(f"Disallow: /{n}/*.x\n" for n in range(5_000))) as site:
            url = site.url("/private/open?a=1")
            with ThreadPoolExecutor(4) as threads:
                found = [
                    threads.submit(service.get, "/v1/explain", url=url, as_="ExampleBot")
                    for _ in range(4)
                ]
            expected = command("explain", url, "--as", "ExampleBot")
            for one in found:
                assert without(one.result().json(), "access") == without(expected, "access")

    def test_too_many_pages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """503 beyond a number of pages that are fetched at a time; checks go on."""
        most, more = 3, 2
        monkeypatch.setattr(pages, "MAX_PAGES", most)
        may_answer = Event()
        with open_site(ROBOTS) as site, serve() as service, ThreadPoolExecutor(5) as threads:
            answer = site.answer

            def wait(path: str, *arguments: Any) -> Answer:
                """Answer for no page before the test allows it."""
                assert path != "/slow" or may_answer.wait(30)
                return answer(path, *arguments)

            site.answer = wait  # type: ignore[method-assign, assignment]
            service.check(site.url("/a"))
            found = [
                threads.submit(service.get, "/v1/guidance", url=site.url("/slow"), as_="ExampleBot")
                for _ in range(most + more)
            ]
            try:
                refused = [one.result() for one in islice(as_completed(found), more)]
                assert service.check(site.url("/a"))["allowed"]
                assert sum(one.done() for one in found) == more
                for response in refused:
                    assert problem(response, "busy", 503)["detail"]
            finally:
                may_answer.set()
            assert sorted(one.result().status_code for one in found) == [200] * most + [503] * more

    @pytest.mark.parametrize("profile", ["default", "strict"])
    def test_explain_with_purposes(
        self, service: LiveServer, site: LoopbackSite, profile: str
    ) -> None:
        """Also where the profile does not read them: a note says so."""
        query = {"url": site.url("/a"), "as_": "ExampleBot", "purpose": "P-1", "profile": profile}
        found = service.get("/v1/explain", **query).json()
        expected = command(
            *("explain", site.url("/a"), "--as", "ExampleBot", "--purpose", "P-1"),
            *("--profile", profile),
        )
        assert without(found, "access") == without(expected, "access")

    @pytest.mark.parametrize("name", ["ExampleBot", "Googlebot", "SlowBot"])
    @pytest.mark.parametrize("path", ["/a", "/private", "/moved"])
    def test_guidance(self, service: LiveServer, name: str, path: str) -> None:
        """What the command prints; a page that is blocked is not requested."""
        with open_site("User-agent: *\nDisallow: /private\n") as site:
            site.answers["/a"] = Answer(
                body=b'<meta name="robots" content="noindex">',
                headers=(("Content-Type", "text/html"), ("X-Robots-Tag", "nosnippet")),
            )
            site.answers["/moved"] = Answer(302, headers=(("Location", "/private"),))
            found = service.get("/v1/guidance", url=site.url(path), as_=name).json()
            expected = command("guidance", site.url(path), "--as", name)
            for values in (found, expected):
                values["access"].pop("robots_until")
                if values["usage"]:
                    values["usage"].pop("freshness")
            assert found == expected
            assert "/private" not in site.paths

    def test_guidance_of_an_application(self, service: LiveServer, site: LoopbackSite) -> None:
        """The name is checked."""
        query = {"url": site.url("/a"), "as_": "ExampleBot"}
        found = problem(service.get("/v1/guidance", app="a b", **query), "invalid-request", 422)
        assert found["at"] == "app"
        assert service.get("/v1/guidance", app="examplesearch", **query).status_code == 200

    def test_robots(self, service: LiveServer, site: LoopbackSite) -> None:
        """The text, where it comes from, and its age."""
        site.answers["/moved.txt"] = site.answers["/robots.txt"]
        site.answers["/robots.txt"] = Answer(301, headers=(("Location", "/moved.txt"),))
        found = service.get("/v1/robots", url=site.url("/any?x")).json()
        assert found["robots"] == ROBOTS
        assert found["robots_base64"] is None
        assert found["bytes"] == len(ROBOTS)
        assert found["url"] == site.url("/moved.txt")
        assert found["redirects"][0]["url"] == site.url("/robots.txt")
        assert (found["state"], found["policy"], found["source"]) == ("success", "rules", "fetched")
        assert 0 <= found["age"] < 10
        time.sleep(0.02)
        again = service.get("/v1/robots", url=site.url("/")).json()
        assert again["age"] > found["age"]
        assert again["source"] == "memory"

    def test_robots_that_is_not_utf_8(self, service: LiveServer) -> None:
        """Its bytes are in robots_base64."""
        body = b"User-agent: *\nDisallow: /\xe9\n"
        with open_site(Answer(body=body)) as site:
            found = service.get("/v1/robots", url=site.url("/")).json()
            assert b64decode(found["robots_base64"]) == body
            assert "\ufffd" in found["robots"]

    @pytest.mark.parametrize("status", [404, 503])
    def test_no_robots(self, service: LiveServer, status: int) -> None:
        """Null, and how it was fetched."""
        with open_site(Answer(status, b"not rules")) as site:
            found = service.get("/v1/robots", url=site.url("/")).json()
            assert (found["robots"], found["robots_base64"]) == (None, None)
            assert found["status"] == status
            assert found["policy"] == {404: "allow", 503: "disallow"}[status]


class TestSlots:
    """/v1/slot and /v1/responses."""

    def test_slots_follow_each_other(self, service: LiveServer, site: LoopbackSite) -> None:
        """At the delay of the crawler that asks; all crawlers share an origin."""
        waits = []
        for name in ("ExampleBot", "SlowBot", "ExampleBot", "ExampleBot"):
            found = service.post("/v1/slot", {"url": site.url("/a"), "as": name}).json()
            assert (found["allowed"], found["origin"]) == (True, site.origin)
            assert found["delay"]["seconds"] == (3 if name == "SlowBot" else 1)
            waits.append(found["wait"])
        assert waits == pytest.approx([0, 3, 4, 5], abs=0.3)
        assert site.robots_requests == 1

    def test_a_disallowed_url_gets_no_slot(self, service: LiveServer, site: LoopbackSite) -> None:
        """And takes none from others."""
        for _ in range(3):
            found = service.post("/v1/slot", {"url": site.url("/private"), "as": "A"}).json()
            assert (found["allowed"], found["wait"]) == (False, None)
            assert found["reason"] == "disallow-rule"
        found = service.post("/v1/slot", {"url": site.url("/a"), "as": "A"}).json()
        assert found["wait"] == 0

    def test_why_there_is_no_slot(self, service: LiveServer) -> None:
        """A crawler can tell a failure from a rule, and knows when to ask again."""
        with open_site(Answer(503)) as site, socket.create_server((LOOPBACK, 0)) as closed:
            failing = service.post("/v1/slot", {"url": site.url("/a"), "as": "A"}).json()
            port = closed.getsockname()[1]
            closed.close()
            body = {"url": f"http://{LOOPBACK}:{port}/", "as": "A"}
            unconnected = service.post("/v1/slot", body).json()
        assert (failing["allowed"], failing["state"]) == (False, "unreachable")
        assert (failing["status"], failing["failure_reason"]) == (503, "status")
        assert failing["failure"] == "status 503"
        assert (unconnected["status"], unconnected["failure_reason"]) == (None, "connect")
        for found in (failing, unconnected):
            assert datetime.fromisoformat(found["until"]).timestamp() > time.time()
            assert (found["line"], found["hint"]) == (None, None)

    def test_the_line_of_the_rule(self, service: LiveServer, site: LoopbackSite) -> None:
        """As in check."""
        found = service.post("/v1/slot", {"url": site.url("/private"), "as": "A"}).json()
        assert found["line"] == service.check(site.url("/private"), as_="A")["line"] is not None

    @pytest.mark.parametrize(
        ("report", "seconds"),
        [
            ({"status": 503, "retry_after": "7"}, 7),
            ({"status": 429, "retry_after": 9}, 9),
            ({"status": 429}, 60),
            ({"status": 503, "retry_after": "soon"}, 60),
            ({"status": 200, "retry_after": "7"}, None),
            ({"status": 404}, None),
        ],
    )
    def test_responses(
        self, service: LiveServer, site: LoopbackSite, report: dict[str, Any], seconds: int | None
    ) -> None:
        """Retry-After postpones the next slot of the origin, for all crawlers."""
        found = service.post("/v1/responses", {"url": site.url("/a"), **report}).json()
        assert found == {"origin": site.origin, "postponed": seconds, "store_error": None}
        slot = service.post("/v1/slot", {"url": site.url("/b"), "as": "OtherBot"}).json()
        assert slot["wait"] == pytest.approx(seconds or 0, abs=0.5)

    @pytest.mark.parametrize(
        "report", [{}, {"status": 99}, {"status": "200"}, {"status": 503, "retry_after": "a\nb"}]
    )
    def test_misuse(self, service: LiveServer, report: dict[str, Any]) -> None:
        """A report without a status, or with a field that no response has."""
        body = {"url": "http://127.0.0.1:9/", **report}
        problem(service.post("/v1/responses", body), "invalid-request", 422)

    def test_two_services_share_a_store(self, site: LoopbackSite, tmp_path: Path) -> None:
        """One fetch and one sequence of slots, over one SQLite file."""
        store = str(tmp_path / "robots.sqlite")
        site.answers["/robots.txt"] = site.answers["/robots.txt"]._replace(delay=SLOW)
        with serve(store=store) as one, serve(store=store) as two:
            with ThreadPoolExecutor(8) as threads:
                answers = list(
                    threads.map(lambda at: (one, two)[at % 2].check(site.url("/private")), range(8))
                )
            assert {answer["reason"] for answer in answers} == {"disallow-rule"}
            assert site.robots_requests == 1
            waits = [
                service.post("/v1/slot", {"url": site.url("/a"), "as": "A"}).json()["wait"]
                for service in (one, two, one, two)
            ]
            assert waits == pytest.approx([0, 1, 2, 3], abs=0.4)
            two.post("/v1/responses", {"url": site.url("/a"), "status": 503, "retry_after": 30})
            found = one.post("/v1/slot", {"url": site.url("/a"), "as": "A"}).json()
            assert found["wait"] == pytest.approx(30, abs=1)

    def test_a_server_store_that_is_away(self, site: LoopbackSite) -> None:
        """Files are fetched and kept in memory; there are no slots, and no pages that need one."""
        with serve(store="redis://:secret@127.0.0.1:9/0") as service:
            assert not service.check(site.url("/private"))["allowed"]
            assert "127.0.0.1" in service.get("/v1/robots", url=site.url("/")).json()["store_error"]
            body = {"url": site.url("/a"), "as": "A"}
            for response in (
                service.post("/v1/slot", body),
                service.post("/v1/responses", {"url": site.url("/a"), "status": 503}),
                service.get("/v1/guidance", url=site.url("/a"), as_="A"),
            ):
                found = problem(response, "store-unavailable", 503)
                assert "secret" not in str(found)
                assert response.headers["retry-after"] == "5"
            # What asks for no delay and a URL that gets no slot need no store.
            report = {"url": site.url("/a"), "status": 200}
            assert service.post("/v1/responses", report).json()["postponed"] is None
            body = {"url": site.url("/private"), "as": "A"}
            assert service.post("/v1/slot", body).json()["allowed"] is False
            ready = service.client.get("/readyz")
            assert ready.status_code == 503
            assert ready.json()["reasons"] == ["the store is not available"]
        assert site.paths == ["/robots.txt"] or "/a" not in site.paths

    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_file_that_fails(
        self, site: LoopbackSite, tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """One process keeps the distance alone, and says so; several hand out no slots."""

        def fail(*_: object) -> None:
            raise StoreError("the disk is full")

        slot = {"url": site.url("/a"), "as": "SlowBot"}
        report = {"url": site.url("/a"), "status": 503, "retry_after": 30}
        with serve(store=str(tmp_path / "robots.sqlite"), workers=workers) as service:
            first = service.post("/v1/slot", slot).json()
            assert (first["wait"], first["store_error"]) == (0, None)
            assert service.client.get("/readyz").status_code == 200
            time.sleep(1.1)  # what the store answered is kept for a second
            with monkeypatch.context() as patch:
                for name in ("reserve_slot", "postpone_slot", "begin_slot", "lease"):
                    patch.setattr(SQLiteStore, name, fail)
                if workers == 2:
                    problem(service.post("/v1/slot", slot), "store-unavailable", 503)
                    problem(service.post("/v1/responses", report), "store-unavailable", 503)
                    assert service.client.get("/readyz").status_code == 503
                else:
                    found = [service.post("/v1/slot", slot).json() for _ in range(2)]
                    assert [one["wait"] for one in found] == pytest.approx([1.9, 4.9], abs=0.5)
                    assert {one["store_error"] for one in found} == {"the disk is full"}
                    answer = service.post("/v1/responses", report).json()
                    assert (answer["postponed"], answer["store_error"]) == (30, "the disk is full")
                    found = [service.post("/v1/slot", slot).json()]
                    assert found[0]["wait"] == pytest.approx(30, abs=1)
                    assert service.client.get("/readyz").status_code == 200
            # At once, when it works again.
            assert service.post("/v1/slot", slot).json()["store_error"] is None

    def test_memory_is_not_shared(self, site: LoopbackSite) -> None:
        """Several workers with a store in memory have no slots."""
        with serve(store="memory:", workers=2) as service:
            response = service.post("/v1/slot", {"url": site.url("/a"), "as": "A"})
            assert "--store" in problem(response, "store-unavailable", 503)["detail"]


# Spellings of URLs that programs change before they request them.
SPELLINGS = [
    *("/a/../private", "/a/%2e%2e/private", "/a/.%2E/private", "/%2e/private", "/./private"),
    *("/private/..", "/a/..;/private", "/private/%2E%2e/a", "//private", "/..%2fprivate"),
    *("/%70rivate", "/priv%61te", "/a?/../private", "?/../private", "/{x}", "/%7Bx", "/a|b"),
    *("/a^b", "/a`b", '/a"b', "/a<b>", "/é", "/%c3%a9", "/a%2", "/a'b", "/a%27b", "?q='"),
    *("/a%5c..%5cprivate", "/a?b=\\..\\c", "/a#\\private"),
]
REFUSED = [
    "/a/..\\private",
    "\\private",
    "/a\\..\\private",
    "/a\\..//private",
    "/a\\%2e%2e\\private?c",
]
SPELLED_RULES = """\
User-agent: *
Disallow: /private
Disallow: /%7Bx
Disallow: /a%7Cb
Disallow: /a%5Eb
Disallow: /a%60b
Disallow: /a%22b
Disallow: /a%3Cb
Disallow: /%C3%A9
Disallow: /a'b
Disallow: /*?q='
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_urls_that_node_changes(service: LiveServer) -> None:
    """The verdict is that on the URL that Node's fetch() requests, or the URL is refused."""
    program = "console.log(JSON.stringify(JSON.parse(process.argv[1]).map(x => new URL(x).href)))"
    with open_site(SPELLED_RULES) as site:
        urls = [site.origin + spelling for spelling in SPELLINGS + REFUSED]
        ran = subprocess.run(
            ["node", "-e", program, json.dumps(urls)], capture_output=True, text=True, check=True
        )
        requested = json.loads(ran.stdout)
        assert site.url("/private") in requested
        refused = []
        for url, other in zip(urls, requested, strict=True):
            response = service.get("/v1/check", url=url, as_="ExampleBot")
            if response.status_code == 422:
                refused.append(url.removeprefix(site.origin))
            else:
                assert response.json()["allowed"] is service.check(other)["allowed"], url
        assert refused == REFUSED


def test_backslashes_are_refused_everywhere(service: LiveServer, site: LoopbackSite) -> None:
    """Before the query; nothing is fetched."""
    url = site.url("/a/..\\private")
    for path in ("/v1/check", "/v1/explain", "/v1/guidance"):
        problem(service.get(path, url=url, as_="ExampleBot"), "invalid-request", 422)
    problem(service.get("/v1/robots", url=url), "invalid-request", 422)
    for path, body in (
        ("/v1/check", {"url": url, "as": "A"}),
        ("/v1/slot", {"url": url, "as": "A"}),
        ("/v1/responses", {"url": url, "status": 503}),
    ):
        assert problem(service.post(path, body), "invalid-request", 422)["at"] == "$.url"
    assert not site.seen
    service.check(site.url("/a"))
    lines = service.post("/v1/check", {"urls": [url, site.url("/a?b=\\c")], "as": "A"})
    first, second = map(json.loads, lines.text.splitlines())
    assert ("error" in first, second["allowed"]) == (True, True)
    assert "error" in service.stream([{"url": url}])[0]


class TestHostList:
    """The hosts that may be fetched from."""

    def test_names_and_hosts_below(self) -> None:
        """A name is that host alone; with an asterisk, the hosts below it alone."""
        hosts = HostList(["Example.com", "*.example.org", "[::1]", "bücher.example"])
        for origin in (
            *("https://example.com", "http://example.com:8080", "https://a.example.org"),
            *("https://a.b.example.org", "http://[::1]:80", "https://xn--bcher-kva.example"),
        ):
            assert hosts.allows(origin)
        for origin in (
            *("https://www.example.com", "https://example.org", "https://notexample.org"),
            *("https://example.com.evil.example", "http://[::2]", "https://a.example.org.example"),
        ):
            assert not hosts.allows(origin)
        assert HostList(()).allows("https://example.net")

    @pytest.mark.parametrize(
        "host",
        ["", "*", "https://example.com", "example.com:80", "a/b", "*.", "a b", "me@a.example"],
    )
    def test_misuse(self, host: str) -> None:
        """A list that would allow nothing, or everything, by a mistake is refused at start-up."""
        with pytest.raises(ValueError, match="is not a host"):
            HostList([host])
