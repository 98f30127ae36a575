"""
The contract of the server side: what a site sends to crawlers, whatever framework serves it.

A subclass has a fixture `port` of a server on loopback that runs an application with `POLICY` and
the routes below. Requests are written to the socket as bytes, so that no client library corrects
them. Counters are read over HTTP, so the server may be another process.

| route | response |
|---|---|
| `/`, `/drafts/x`, other pages | 200, the text `page` |
| `/drafts/own` | 200 with `X-Robots-Tag: noarchive` and `Content-Usage: train-ai=y` |
| `/widgets/own` | 200 with `X-Robots-Tag: noindex` |
| `/stream` | `first`, and after a request of `/release` also `second` |
| `/counters` | the counters as JSON |
| `/missing` | 404 |
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple

import pytest

import robotrules
from robotrules.serving import make_staging_robots
from robotrules.tags import usage_rules

POLICY = """
[everyone]
keep-out = ["/cart/"]

[everyone.use]
train-ai = false

[[tags]]
paths = ["/drafts/", "/*.pdf$"]
rules = ["noindex"]

[[tags]]
paths = ["/drafts/"]
rules = ["nosnippet"]
crawlers = ["ExampleBot"]

[[tags]]
paths = ["/ÿ", "/*?q=%FF"]
rules = ["noimageindex"]

[[tags]]
paths = ["/widgets/"]
rules = ["noindex", "indexifembedded"]

[[tags]]
paths = ["//twice/", "/twice/"]
rules = ["noarchive"]
"""
SHOP = "User-agent: *\nDisallow: /shop-only/\n"
HOSTS = {"shop.example": SHOP}
STAGING = ["staging.example"]
MAX_AGE = 1200
SETTINGS: dict[str, Any] = {
    "policy": POLICY,
    "hosts": HOSTS,
    "staging": STAGING,
    "max_age": MAX_AGE,
}
DISALLOW = "Disallow: /cart/\n"
MISTAKE = "User-agent: *\nDisalow: /x\n"
GPTBOT = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
CRAWLER = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
SECONDS = 10


class Received(NamedTuple):
    """A response as it was received."""

    status: int
    fields: list[tuple[str, str]]
    body: bytes

    def get(self, name: str) -> str | None:
        """Return the value of a field; several lines are joined."""
        values = [value for there, value in self.fields if there.lower() == name.lower()]
        return ", ".join(values) if values else None

    def tags(self, token: str = "AnyBot", field: str = "X-Robots-Tag") -> dict[str, Any]:
        """Return the tag rules of a field for a crawler."""
        lines = [(name, value) for name, value in self.fields if name.lower() == field.lower()]
        return dict(usage_rules(headers=lines, product_token=token).rules)


def write_request(target: bytes, method: str, host: bytes | None, fields: dict[str, str]) -> bytes:
    """Return a request as bytes; without a host it is one of HTTP/1.0."""
    version = b"1.0" if host is None else b"1.1"
    lines = [method.encode() + b" " + target + b" HTTP/" + version]
    lines += [] if host is None else [b"Host: " + host]
    lines += [f"{name}: {value}".encode("latin-1") for name, value in fields.items()]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def request(
    port: int,
    target: str | bytes,
    method: str = "GET",
    host: str | bytes | None = "www.example",
    **fields: str,
) -> Received:
    """Send a request, and read the connection to its end."""
    raw_target = target.encode() if isinstance(target, str) else target
    raw_host = host.encode("latin-1") if isinstance(host, str) else host
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as sock:
        sock.sendall(write_request(raw_target, method, raw_host, named))
        response = HTTPResponse(sock, method=method)
        response.begin()
        # A HEAD or 304 with a body would leave octets on the connection.
        rest = sock.makefile("rb")
        body = response.read() if response.length != 0 else (response.fp or rest).read()
        received = Received(response.status, response.getheaders(), body)
        response.close()
        rest.close()
    return received


class ServingContract:
    """What every integration does."""

    def test_robots_txt_by_host(self, port: int) -> None:
        """Each host has its file; a missing or unknown host has the default."""
        for host in ("www.example", "www.example:8080", "other.example", None):
            found = request(port, "/robots.txt", host=host)
            assert (found.status, DISALLOW in found.body.decode()) == (200, True), host
        for host in ("shop.example", "SHOP.example.", "shop.example:8443"):
            assert request(port, "/robots.txt", host=host).body == SHOP.encode()

    def test_fields_of_the_robots_txt(self, port: int) -> None:
        """Type, length, lifetime, entity-tag; no field of the policy is missing."""
        found = request(port, "/robots.txt")
        assert found.get("Content-Type") == "text/plain; charset=utf-8"
        assert found.get("Content-Length") == str(len(found.body))
        assert found.get("Cache-Control") == f"max-age={MAX_AGE}"
        assert found.get("Content-Usage") == "train-ai=n"
        assert found.get("Set-Cookie") is None

    def test_head(self, port: int) -> None:
        """HEAD has the fields of GET and no body."""
        got, head = (request(port, "/robots.txt", method) for method in ("GET", "HEAD"))
        assert (head.status, head.body) == (200, b"")
        for name in ("Content-Type", "Content-Length", "ETag", "Cache-Control"):
            assert head.get(name) == got.get(name)

    def test_conditional_requests(self, port: int) -> None:
        """If-None-Match with the entity-tag is answered by 304 without a body."""
        etag = request(port, "/robots.txt").get("ETag") or ""
        for method in ("GET", "HEAD"):
            same = request(port, "/robots.txt", method, If_None_Match=f'"x", W/{etag}')
            assert (same.status, same.body, same.get("ETag")) == (304, b"", etag)
            assert same.get("Content-Type") is None
            other = request(port, "/robots.txt", method, If_None_Match='"x"')
            assert (other.status, other.get("ETag")) == (200, etag)
        shop = request(port, "/robots.txt", host="shop.example", If_None_Match=etag)
        assert shop.status == 200

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
    def test_other_methods(self, port: int, method: str) -> None:
        """405, with the methods that are there."""
        refused = request(port, "/robots.txt", method, Content_Length="0")
        assert (refused.status, refused.get("Allow"), refused.body) == (405, "GET, HEAD", b"")
        assert refused.get("Content-Type") == "text/plain; charset=utf-8"
        assert refused.get("Content-Length") == "0"
        assert refused.get("ETag") is None

    def test_fields_by_path(self, port: int) -> None:
        """Tags and preferences of the policy are on pages and error pages."""
        page = request(port, "/")
        assert (page.status, page.body, page.tags()) == (200, b"page", {})
        assert page.get("Content-Usage") == "train-ai=n"
        for target in ("/drafts/x", "/x/y.pdf", "/%64rafts/x", "/drafts/x?y"):
            found = request(port, target)
            assert found.status == 200
            for field in ("Robots-Tag", "X-Robots-Tag"):
                assert found.tags(field=field) == {"noindex": True}, target
        for target in ("/x.pdf?x", "/Drafts/"):
            assert request(port, target).tags() == {}, target
        named = request(port, "/drafts/x").tags("ExampleBot")
        assert named == {"noindex": True, "nosnippet": True}
        assert request(port, "/missing").status == 404
        assert request(port, "/missing").get("Content-Usage") == "train-ai=n"
        assert request(port, "/", host="shop.example").get("Content-Usage") is None

    def test_head_of_a_page_has_the_fields(self, port: int) -> None:
        """As GET has them."""
        assert request(port, "/drafts/x", "HEAD").tags() == {"noindex": True}

    def test_fields_of_the_application_stay(self, port: int) -> None:
        """Its tag rules are added to; its Content-Usage takes precedence."""
        own = request(port, "/drafts/own")
        assert own.tags() == {"noindex": True, "noarchive": True}
        assert own.tags("ExampleBot") == {"noindex": True, "noarchive": True, "nosnippet": True}
        assert own.get("Content-Usage") == "train-ai=y"

    def test_a_noindex_of_the_application_is_not_lifted(self, port: int) -> None:
        """`indexifembedded` of the policy is for its own noindex only."""
        for field in ("Robots-Tag", "X-Robots-Tag"):
            assert request(port, "/widgets/x").tags(field=field) == {
                "noindex": True,
                "indexifembedded": True,
            }
            assert request(port, "/widgets/own").tags(field=field) == {"noindex": True}

    def test_staging_hosts(self, port: int) -> None:
        """One setting: everything is disallowed, and every response has noindex."""
        body = request(port, "/robots.txt", host="staging.example").body
        assert body.decode() == make_staging_robots()
        assert not robotrules.parse(body).check("/", "AnyBot")
        for target in ("/", "/missing", "/robots.txt"):
            page = request(port, target, host="staging.example:8000")
            assert page.tags() == {"noindex": True, "nofollow": True}, target

    def test_variants_of_the_path(self, port: int) -> None:
        """A query and percent-encoding of letters are the same resource; other paths are not."""
        body = request(port, "/robots.txt").body
        for target in ("/robots.txt?x", "/robots.txt?", "/%72obots.txt"):
            assert request(port, target).body == body, target
        for target in ("/robots.txt/", "/ROBOTS.TXT", "/x/robots.txt", "/robots"):
            assert request(port, target).body != body, target

    def test_two_slashes_of_a_page(self, port: int) -> None:
        """Matched as they were sent; servers that remove one send the path with one."""
        assert request(port, "//twice/x").tags() == {"noarchive": True}

    @pytest.mark.parametrize(
        "host",
        [
            b"evil.test",
            b"shop.example@evil.test",
            b"shop.example/evil",
            b"[::1",
            b"evil\"'<script>",
            b"\xff\xfe\xc3\xbc.example",
            b"xn--a.example",
            b"..",
            b":::::",
            b"",
            b"a" * 2_000,
            b"a." * 1_000,
            b"e" * 20_000,
        ],
        ids=lambda host: repr(host[:12]),
    )
    def test_hostile_hosts(self, port: int, host: bytes) -> None:
        """The default policy, or a refusal of the server; the host is in no response."""
        found = request(port, "/robots.txt", host=host)
        assert found.status in (200, 400, 431)
        assert found.status != 200 or DISALLOW in found.body.decode()
        page = request(port, "/", host=host)
        assert page.status in (200, 400, 431)
        for received in (found, page):
            sent = repr(received.fields)
            assert "evil" not in sent
            assert "script" not in sent

    def test_a_target_of_one_megabyte(self, port: int) -> None:
        """It is answered or refused at once, and the server goes on."""
        for target in (b"/" + b"a*" * 500_000, b"/?" + b"%25" * 333_000, b"/" + b"/.." * 333_000):
            before = time.monotonic()
            # A server may close the connection before it has read everything.
            with contextlib.suppress(OSError, HTTPException):
                assert request(port, target).status in (200, 400, 404, 414, 431)
            assert time.monotonic() - before < SECONDS
        assert request(port, "/").status == 200

    @pytest.mark.parametrize(
        "target",
        [
            b"/%ff%fe",
            b"/%00",
            b"/%",
            b"/%zz%2",
            b"/drafts/%2e%2e/robots.txt",
            b"/\xff\xfe",
            b"/?\xff",
            b"/" + b"%2f" * 300,
            b"/" + b"a" * 4_000,
            b"/?" + b"a=*&" * 1_000,
            b"/%0d%0aX-Robots-Tag:%20none",
            b"///",
            b"*",
            b"x",
            b"http://evil.test/x",
            b"http://evil.test/robots.txt",
            b"//evil.test/robots.txt",
            b"/#/robots.txt",
            b"/robots.txt%00",
            b"/robots.txt;x",
        ],
        ids=lambda target: repr(target[:16]),
    )
    def test_hostile_paths(self, port: int, target: bytes) -> None:
        """No failure of the server, and no field but those of the policy."""
        found = request(port, target, User_Agent=GPTBOT)
        assert found.status < 500
        # Servers decode octets that a URL must not have in different ways.
        assert found.status == 400 or found.tags() == {} or not target.isascii()

    def test_octets_that_are_not_utf8_match(self, port: int) -> None:
        """A query of other octets is matched as it was sent."""
        assert request(port, b"/x?q=%FF").tags() == {"noimageindex": True}
        assert request(port, "/%C3%BF").tags() == {"noimageindex": True}

    @pytest.mark.parametrize(
        "user_agent", ["(" * 5_000, "\xff\xfe GPTBot", "GPTBot/" * 500, "\t", "Mozilla/5.0 (" * 90]
    )
    def test_hostile_user_agents(self, port: int, user_agent: str) -> None:
        """Any User-Agent and any condition has a response."""
        for target in ("/", "/robots.txt"):
            found = request(port, target, User_Agent=user_agent, If_None_Match='"' * 5_000)
            assert found.status in (200, 400)

    def counts(self, port: int, crawler: str) -> dict[str, int]:
        """Return the counters of a crawler."""
        counted: dict[str, dict[str, int]] = json.loads(request(port, "/counters").body)
        return counted.get(crawler, {"robots_txt": 0, "allowed": 0, "disallowed": 0})

    def test_counters(self, port: int) -> None:
        """Requests of known crawlers, by what the robots.txt of the host asks of them."""
        before = self.counts(port, "bingbot")
        for target in ("/robots.txt", "/", "/cart/1", "/cart/2?x"):
            request(port, target, User_Agent=CRAWLER)
        request(port, "/cart/1", host="shop.example", User_Agent=CRAWLER)
        request(port, "/", host="staging.example", User_Agent=CRAWLER)
        request(port, "/cart/1", User_Agent="Mozilla/5.0 (X11) Firefox/140.0")
        after = self.counts(port, "bingbot")
        changes = {name: after[name] - before[name] for name in after}
        assert changes == {"robots_txt": 1, "allowed": 2, "disallowed": 3}

    def test_streams_are_not_buffered(self, port: int) -> None:
        """The first part arrives before the application makes the second."""
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as sock:
            sock.sendall(write_request(b"/stream", "GET", b"www.example", {}))
            response = HTTPResponse(sock)
            response.begin()
            assert response.read(5) == b"first"
            assert request(port, "/release").status == 200
            assert response.read() == b"second"
            assert response.getheader("Content-Usage") == "train-ai=n"
            response.close()

    def test_twenty_threads(self, port: int) -> None:
        """Requests of several hosts at once get their own responses, and all are counted."""
        before = self.counts(port, "GPTBot")

        def run(number: int) -> bool:
            host, line = [("www.example", DISALLOW), ("shop.example", "/shop-only/")][number % 2]
            body = request(port, "/robots.txt", host=host, User_Agent=GPTBOT).body
            page = request(port, "/cart/x", host=host, User_Agent=GPTBOT)
            return line in body.decode() and page.status == 200

        with ThreadPoolExecutor(20) as pool:
            assert all(pool.map(run, range(60)))
        after = self.counts(port, "GPTBot")
        changes = {name: after[name] - before[name] for name in after}
        assert changes == {"robots_txt": 60, "allowed": 30, "disallowed": 30}
