"""`robotrules audit` on a real site of the loopback; what people see is in the transcripts."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from unittest import mock

import pytest

from robotrules.access import Response
from robotrules.cli.audit import AuditPage
from robotrules.cli.console import Output
from robotrules.client import Client
from robotrules.client.auditing import audit as find
from tests.cli.shell import Ran, Stream, robotrules
from tests.cli.sites import Site, response, site
from tests.client.test_audit import FINE, ORIGIN, OTHER, XML, Answers, Told
from tests.client.test_audit import PLAIN as PLAIN_TYPE
from tests.client.test_audit import ROBOTS as ROBOTS_BODY

ALLOW = ("--allow-private", "127.0.0.1")
ROBOTS = "User-agent: *\nDisallow: /private/\n"
PLAIN = "Content-Type: text/plain"


@pytest.fixture
def example() -> Iterator[Site]:
    """A site where little is wrong."""
    answers = {
        "/robots.txt": response(ROBOTS, PLAIN),
        "/a": response("<title>A</title><p>A", "Content-Type: text/html"),
        "/private/1": response("<meta name=robots content=noindex>", "Content-Type: text/html"),
    }
    with site(answers) as running:
        yield running


def page_of(changes: Answers) -> str:
    """Return what people see of an audit of a site with changes."""
    transport = Told({**FINE, **changes})
    out = Stream()
    with (
        Client("ExampleAudit/1.0", store="memory:", transport=transport, min_delay=0.0) as client,
        mock.patch.object(sys, "stdout", out),
    ):
        found = find(client, f"{ORIGIN}/p", "ExampleBot", ["EXAMPLE-PURPOSE-1"])
        return "".join(f"{line}\n" for line in AuditPage(found, "default", Output()).lines())


def audit(*more: str, terminals: tuple[str, ...] = ()) -> Ran:
    """Run the command as ExampleBot, with the loopback allowed."""
    return robotrules("audit", *more, "--as", "ExampleBot", *ALLOW, terminals=terminals)


class TestAudit:
    """One live page."""

    def test_a_clean_page(self, example: Site) -> None:
        """Information alone is exit code 0."""
        ran = audit(f"{example.origin}/a")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.endswith("\n0 errors, 0 warnings, 1 info\n")
        assert example.asked == ["/robots.txt", "/a"]

    def test_the_audit_always_fetches(self, example: Site) -> None:
        """The store is ignored, and `--refresh` is not an option."""
        audit(f"{example.origin}/a")
        example.answers["/robots.txt"] = response("User-agent: *\nDisallow: /\n", PLAIN)
        assert "disallowed, line 2: Disallow: /" in audit(f"{example.origin}/a").out
        assert audit(f"{example.origin}/a", "--refresh").code == 2

    def test_warnings_are_exit_code_1(self, example: Site) -> None:
        """And errors too."""
        assert audit(f"{example.origin}/missing").code == 1
        example.answers["/robots.txt"] = response(status="500 No")
        assert audit(f"{example.origin}/a").code == 1

    def test_json(self, example: Site) -> None:
        """One object."""
        ran = audit(f"{example.origin}/private/1", "--ignore-disallow", "--json")
        found = json.loads(ran.out)
        assert (ran.code, found["allowed"]) == (1, False)
        assert "noindex-not-seen" in [one["code"] for one in found["findings"]]
        assert found["page"]["status"] == 200
        assert found["user_agent"] == "robotrules/0.1.0 (command line)"

    def test_own(self, example: Site) -> None:
        """A disallowed page is read only with `--ignore-disallow`."""
        out = audit(f"{example.origin}/private/1").out
        assert "use --ignore-disallow" in out
        assert "/private/1" not in example.asked
        out = audit(f"{example.origin}/private/1", "--ignore-disallow").out
        assert "  not seen: meta element 1: noindex\n" in out

    def test_without_a_crawler(self, example: Site) -> None:
        """Without `--as` the audit is for '*', and the output states this."""
        ran = robotrules("audit", f"{example.origin}/a", *ALLOW)
        assert "evaluating the group for '*'; pass --as to select a crawler" in ran.err
        assert "for crawlers that no group names ('*')" in ran.out

    def test_a_long_crawl_delay_is_reported(self, example: Site) -> None:
        """The output explains the wait."""
        example.answers["/robots.txt"] = response(f"{ROBOTS}Crawl-delay: 30\n", PLAIN)
        ran = audit(f"{example.origin}/a", "--max-sitemaps", "0")
        assert "requests 30 s between requests (line 3)" in ran.err
        assert ran.code == 0

    def test_a_terminal(self, example: Site) -> None:
        """Colours, and a progress line that shows the current request and is removed."""
        drawn: list[str] = []
        with mock.patch(
            "robotrules.cli.progress._draw", side_effect=lambda stream, text: drawn.append(text)
        ):
            ran = audit(f"{example.origin}/private/1", terminals=("stdout", "stderr"))
        assert drawn == [
            f"fetching {example.origin}/robots.txt",
            f"fetching {example.origin}/private/1",
            "",
        ]
        assert "\x1b[31mdisallowed\x1b[0m, line 2" in ran.out
        assert "\x1b[33mwarning\x1b[0m not-crawled" in ran.out

    def test_a_private_address(self, example: Site) -> None:
        """The message explains how to allow it."""
        ran = robotrules("audit", f"http://localhost:{example.port}/a", "--as", "ExampleBot")
        assert (ran.code, "--allow-private localhost" in ran.err) == (1, True)
        assert "allow_private" not in ran.out

    def test_long_lists_are_cut_for_people(self, example: Site) -> None:
        """JSON has all of it."""
        example.answers["/robots.txt"] = response("Disalow: /\n" * 100, PLAIN)
        out = audit(f"{example.origin}/a").out
        assert "more (see --json)" in out
        assert len(json.loads(audit(f"{example.origin}/a", "--json").out)["findings"]) >= 100

    def test_control_characters_never_reach_a_terminal(self, example: Site) -> None:
        """Not of a page, a field or a file."""
        example.answers["/robots.txt"] = response(
            f"{ROBOTS}Sitemap: {example.origin}/\x1b[31m\nDisallow: /\x1b\n", PLAIN
        )
        example.answers["/a"] = response(
            "<meta name=robots content='noindex, x\x1b'><link rel=canonical href='/\x1b'>",
            "Content-Type: text/html",
            "Robots-Tag: *;\x1b",
        )
        out = audit(f"{example.origin}/a").out
        assert out.replace("\n", "").isprintable()

    def test_sitemaps_and_the_other_scheme(self) -> None:
        """Each sitemap has a separate line; http and https are compared."""
        missing = {f"{ORIGIN}/sitemap.xml": Response(404)}
        index = b"<sitemapindex><sitemap><loc>https://a.example/1</loc></sitemap></sitemapindex>"
        named = {
            f"{ORIGIN}/sitemap.xml": Response(200, XML, gzip.compress(index)),
            f"{ORIGIN}/1": Response(200, XML, b"<urlset/>", False),
        }
        bare = {f"{OTHER}/robots.txt": Response(500), f"{ORIGIN}/p": Response(404)}
        closed = {f"{ORIGIN}/robots.txt": Response(200, PLAIN_TYPE, ROBOTS_BODY + b"Disallow: /s")}
        pages = [page_of({}), page_of(missing), page_of(named), page_of(bare), page_of(closed)]
        assert "  http://a.example: the same robots.txt\n" in pages[0]
        assert "line 3; status 200, 58 bytes; urlset, 1 URL; lists the page\n" in pages[0]
        assert "Findings\n  none\n" in pages[0]
        assert "    named by robots.txt, line 3; status 404, 0 bytes\n" in pages[1]
        assert "sitemapindex, gzipped, 1 URL\n" in pages[2]
        assert f"  {ORIGIN}/1\n    named by {ORIGIN}/sitemap.xml; " in pages[2]
        assert "urlset, 0 URLs and more\n" in pages[2]
        assert "http://a.example: the robots.txt is unreachable (status 500)" in pages[3]
        assert "index     unknown       the page was not read\n" in pages[3]
        assert "http://a.example: another robots.txt\n" in pages[4]
        assert "line 3; disallowed, so not fetched\n" in pages[4]

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["/a"],
            ["example.com"],
            ["ftp://example.com/"],
            ["https://example.com/", " "],
            ["https://example.com/", "--purpose", ""],
            ["https://example.com/", "--profile", "none"],
            ["https://example.com/", "--max-sitemaps", "x"],
        ],
    )
    def test_misuse(self, arguments: list[str]) -> None:
        """Missing or invalid arguments give a one-line error and exit code 2."""
        ran = audit(*arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
