"""
Scrapy: the middleware, the parser and the add-on, with real spiders on loopback sites.

A reactor cannot be started twice, so crawls run in one other process (`scrapy_worker`).
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from select import select
from typing import Any

import pytest
import scrapy.robotstxt
import trustme
from scrapy.http import HtmlResponse
from scrapy.settings import default_settings
from scrapy.utils.test import get_crawler

from robotrules import Reason
from robotrules.integrations.scrapy import ResponseRules, RobotParser, crawl_warnings
from tests.integrations.contract import (
    ALL_BUT_PRIVATE,
    USER_AGENT,
    IntegrationContract,
    Outcome,
    client_options,
)
from tests.integrations.loopback_site import LATENESS, LOOPBACK, PRIVATE, Answer, LoopbackSite
from tests.integrations.tls_site import HTTP_2, TlsSite

ROOT = Path(__file__).parents[2]
ADDON = {"ADDONS": {"robotrules.integrations.scrapy.Addon": 0}}


class Worker:
    """The process that runs crawls; it ends with its input."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = trustme.CA()
        """What robotrules trusts in this process; Scrapy trusts every certificate."""
        self.authority.cert_pem.write_to_path(str(folder / "ca.pem"))
        self._log = (folder / "log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integrations.scrapy_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment(folder) | {"SSL_CERT_FILE": str(folder / "ca.pem")},
            cwd=ROOT,
        )

    def run(self, *crawls: dict[str, Any]) -> list[dict[str, Any]]:
        """Run crawls at once and return their results."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"crawls": crawls}).encode() + b"\n")
        self._process.stdin.flush()
        ready, _, _ = select([self._process.stdout], [], [], 60)
        line = self._process.stdout.readline() if ready else b""
        assert line, (self.folder / "log").read_text()
        results: list[dict[str, Any]] = json.loads(base64.b64decode(line))
        return results

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=30)
        self._log.close()


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process: the same sources, and a cache of its own."""
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT)))
    ours = {"PYTHONPATH": paths, "ROBOTRULES_CACHE_DIR": str(folder / "cache")}
    return {**os.environ, **ours, "PYTHONWARNINGS": "default"}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """One process for all crawls of this file."""
    worker = Worker(tmp_path_factory.mktemp("scrapy"))
    yield worker
    worker.close()


def settings(tasks: int = 16, **more: Any) -> dict[str, Any]:
    """Return the settings of a crawl of loopback sites."""
    return {
        **ADDON,
        "USER_AGENT": USER_AGENT,
        "CONCURRENT_REQUESTS": tasks,
        "CONCURRENT_REQUESTS_PER_DOMAIN": tasks,
        "RETRY_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": True,
        "ROBOTRULES_STORE": "memory:",
        "ROBOTRULES_ALLOW_PRIVATE": [LOOPBACK],
        **more,
    }


def crawl_of(urls: Sequence[str], tasks: int = 16, **options: Any) -> dict[str, Any]:
    """Return the job of a crawl; capital names are settings."""
    ours = {name: value for name, value in options.items() if name.isupper()}
    rest = {name: value for name, value in options.items() if not name.isupper()}
    return {"urls": list(urls), "settings": settings(tasks, **ours), **rest}


def outcome_of(result: dict[str, Any]) -> Outcome:
    """Return an outcome of the contract."""
    if "reason" in result:
        return Outcome(None, result["url"], Reason(result["reason"]), result["detail"])
    return Outcome(result.get("status"))


class TestScrapy(IntegrationContract):
    """The contract, with a spider for each crawl."""

    has_slots = False

    @pytest.fixture(autouse=True)
    def _worker(self, worker: Worker) -> None:
        self.worker = worker

    def crawl(self, urls: Sequence[str], *, tasks: int = 1, **options: Any) -> list[Outcome]:
        """Crawl with one spider."""
        job = crawl_of(urls, tasks, ROBOTRULES_CLIENT_OPTIONS=client_options(**options))
        (result,) = self.worker.run(job)
        assert (result["error"], len(result["outcomes"])) == (None, len(urls))
        return list(map(outcome_of, result["outcomes"]))

    def abandon(self, slow: str, then: str, after: float) -> Outcome:
        """Give up by DOWNLOAD_TIMEOUT."""
        (result,) = self.worker.run(crawl_of([slow, then], 1, DOWNLOAD_TIMEOUT=after))
        slow_result, then_result = result["outcomes"]
        assert "Timeout" in slow_result["error"]
        return outcome_of(then_result)


# --- Requests -------------------------------------------------------------------------------------


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    """A site that disallows `/private` to ExampleBot."""
    with LoopbackSite(ALL_BUT_PRIVATE) as site:
        yield site


def crawl(worker: Worker, urls: Sequence[str], tasks: int = 16, **options: Any) -> dict[str, Any]:
    """Run one crawl that starts, and return its results."""
    (result,) = worker.run(crawl_of(urls, tasks, **options))
    assert result["error"] is None, result
    return result


def test_other_schemes_pass(worker: Worker, site: LoopbackSite, tmp_path: Path) -> None:
    """Requests that are not HTTP have no robots.txt; the spider may request a robots.txt itself."""
    (tmp_path / "page.html").write_text("x")
    site.answers["/robots.txt"] = Answer(body=b"User-agent: *\nDisallow: /\n")
    urls = [(tmp_path / "page.html").as_uri(), "data:,x", site.url("/robots.txt"), site.url("/a")]
    result = crawl(worker, urls)
    assert ["error" in outcome for outcome in result["outcomes"]] == [False, False, False, True]
    assert site.paths == []
    assert site.robots_requests == 2


def test_exempt_requests(worker: Worker, site: LoopbackSite) -> None:
    """`dont_obey_robotstxt` in the meta of a request exempts it, as in Scrapy."""
    result = crawl(worker, [site.url("/private")], meta={"dont_obey_robotstxt": True})
    assert result["outcomes"] == [{"status": 200}]
    assert site.robots_requests == 0
    assert result["pages"] == [{"verdict": "None", "index": True}]


def test_statistics(worker: Worker, site: LoopbackSite) -> None:
    """The statistics name each reason, and each request for a robots.txt."""
    refused = site.url("/a", PRIVATE)
    result = crawl(worker, [site.url("/a"), site.url("/private"), refused])
    ours = {name: n for name, n in result["stats"].items() if name.startswith("robotrules/")}
    assert ours == {
        "robotrules/allowed": 1,
        "robotrules/disallowed": 2,
        "robotrules/disallowed/reason/disallow-rule": 1,
        "robotrules/disallowed/reason/unreachable": 1,
        "robotrules/robotstxt/failure_count/refused-address": 1,
        "robotrules/robotstxt/request_count": 2,
        "robotrules/robotstxt/response_status_count/200": 1,
    }
    assert "set ROBOTRULES_ALLOW_PRIVATE = [" in result["outcomes"][2]["error"]


def test_warnings(worker: Worker, site: LoopbackSite) -> None:
    """Each origin that is not crawled is warned of once, with the setting that changes it."""
    with (
        LoopbackSite(Answer(503)) as down,
        LoopbackSite("User-agent: *\nCrawl-delay: 600\n") as slow,
    ):
        refused = site.url("/a", PRIVATE)
        urls = [refused, down.url("/a"), down.url("/b"), slow.url("/a"), slow.url("/b")]
        result = crawl(worker, [*urls, site.url("/private")])
        texts = "\n".join(result["warnings"])
        assert len(result["warnings"]) == 3, texts
        assert f"Requests to http://{PRIVATE}:{site.port} are ignored: " in texts
        assert f"set ROBOTRULES_ALLOW_PRIVATE = ['{PRIVATE}']" in texts
        unreachable = "its robots.txt is unreachable: status 503"
        assert f"Requests to {down.url('')} are ignored: {unreachable}" in texts
        wait = "the site asks to wait 600 s, more than ROBOTRULES_MAX_DELAY"
        assert f"Requests to {LOOPBACK}:{slow.port} are ignored: {wait}" in texts


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Scrapy/2.19.0 (+https://scrapy.org)", None),
        ("ExampleBot/1.0", "USER_AGENT 'ExampleBot/1.0': "),
    ],
)
def test_warnings_of_the_user_agent(
    worker: Worker, site: LoopbackSite, name: str, words: str | None
) -> None:
    """A name that is not the crawler's own, and a header without contact."""
    name = name if words else default_settings.USER_AGENT
    (warning,) = crawl(worker, [site.url("/a")], USER_AGENT=name)["warnings"]
    assert (words or "USER_AGENT is Scrapy's default, so the rules for Scrapy apply") in warning


def test_crawl_warnings_are_bounded(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A crawl of many origins does not fill the memory with what it warned of."""
    monkeypatch.setattr(crawl_warnings, "MOST_REMEMBERED", 3)
    warnings = crawl_warnings.CrawlWarnings()
    for host in ("a", "a", "b", "c", "a", "d", "a"):
        warnings.warn_of_delay(host, "")
    hosts = [record.message.split()[2] for record in caplog.records]
    assert hosts == ["a", "b", "c", "d", "a"]


@pytest.mark.parametrize(
    ("header", "robots", "status"),
    [
        ("OtherBot/2.0", "User-agent: OtherBot\nDisallow: /\n", None),
        ("OtherBot/2.0", "User-agent: ExampleBot\nDisallow: /\n", 200),
        # A header without a name: both the rules for all crawlers and the crawler's own apply.
        ("Mozilla/5.0", "User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nAllow: /\n", None),
        ("Mozilla/5.0", "User-agent: ExampleBot\nDisallow: /\n", None),
        ("Mozilla/5.0", "User-agent: OtherBot\nDisallow: /\n", 200),
    ],
)
def test_user_agents(worker: Worker, header: str, robots: str, status: int | None) -> None:
    """The User-Agent of a request selects the rules, unless ROBOTSTXT_USER_AGENT does."""
    with LoopbackSite(robots) as site:
        options: dict[str, Any] = {"headers": {"User-Agent": header}}
        result = crawl(worker, [site.url("/a")], **options)
        assert result["outcomes"][0].get("status") == status
        assert ("No product token" in str(result["warnings"])) == (header == "Mozilla/5.0")
        result = crawl(worker, [site.url("/a")], ROBOTSTXT_USER_AGENT="ThirdBot", **options)
        third = None if robots.startswith("User-agent: *") else 200
        assert result["outcomes"][0].get("status") == third
        # robots.txt is requested under the name whose rules apply.
        fetches = [one for one in site.seen if one.path == "/robots.txt"]
        agents = [one.headers["User-Agent"] for one in fetches]
        assert agents == [USER_AGENT, "ThirdBot"]


@pytest.mark.parametrize(
    ("rotated", "robots", "status"),
    [
        ("Mozilla/5.0", "User-agent: OtherBot\nDisallow: /\n", 200),
        ("Mozilla/5.0", "User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nAllow: /\n", None),
        ("Mozilla/5.0", "User-agent: ExampleBot\nDisallow: /\n", None),
        ("OtherBot/2.0", "User-agent: OtherBot\nDisallow: /\n", None),
        ("OtherBot/2.0", "User-agent: ExampleBot\nDisallow: /\n", None),
        ("OtherBot/2.0", "User-agent: ThirdBot\nDisallow: /\n", 200),
        (USER_AGENT, "User-agent: OtherBot\nDisallow: /\n", 200),
    ],
)
def test_a_user_agent_of_another_middleware(
    worker: Worker, rotated: str, robots: str, status: int | None
) -> None:
    """A header that a middleware sets later is checked too, and one without a name is warned of."""
    with LoopbackSite(robots) as site:
        options: dict[str, Any] = {
            "DOWNLOADER_MIDDLEWARES": {"tests.integrations.scrapy_worker.RotateUserAgent": 760},
            "ROTATED_USER_AGENT": rotated,
        }
        result = crawl(worker, [site.url("/a"), site.url("/b")], **options)
        assert [outcome.get("status") for outcome in result["outcomes"]] == [status, status]
        pages = [one for one in site.seen if one.path != "/robots.txt"]
        assert [one.headers["User-Agent"] for one in pages] == ([rotated] * 2 if status else [])
        is_nameless = rotated == "Mozilla/5.0" and "ExampleBot\nDisallow" not in robots
        assert str(result["warnings"]).count("No product token") == is_nameless
        assert result["stats"].get("robotrules/allowed", 0) == (2 if status else 0)
        assert result["stats"].get("robotrules/disallowed", 0) == (0 if status else 2)


def test_a_name_of_another_crawler_and_then_none(worker: Worker) -> None:
    """Two changes of the header do not evade the rules for the crawler's own name."""
    with LoopbackSite("User-agent: ExampleBot\nDisallow: /\n") as site:
        options: dict[str, Any] = {
            "DOWNLOADER_MIDDLEWARES": {"tests.integrations.scrapy_worker.RotateUserAgent": 760},
            "ROTATED_USER_AGENT": "Mozilla/5.0",
            "headers": {"User-Agent": "OtherBot/1.0"},
        }
        (outcome,) = crawl(worker, [site.url("/a")], **options)["outcomes"]
        assert outcome.get("status") is None
        assert site.paths == []


@pytest.mark.parametrize("exemption", ["meta", "setting", "obey"])
def test_a_user_agent_of_another_middleware_is_exempt(worker: Worker, exemption: str) -> None:
    """What exempts a request from the first check exempts it from the second one too."""
    with LoopbackSite("User-agent: OtherBot\nDisallow: /\n") as site:
        options: dict[str, Any] = {
            "DOWNLOADER_MIDDLEWARES": {"tests.integrations.scrapy_worker.RotateUserAgent": 760},
            "ROTATED_USER_AGENT": "OtherBot/2.0",
        }
        if exemption == "meta":
            options["meta"] = {"dont_obey_robotstxt": True}
        elif exemption == "setting":
            options["ROBOTSTXT_USER_AGENT"] = "ExampleBot"
        else:
            options["ROBOTSTXT_OBEY"] = False
        assert crawl(worker, [site.url("/a")], **options)["outcomes"] == [{"status": 200}]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"USER_AGENT": "Mozilla/5.0 (X11; Linux x86_64)"},
            "CrawlerError: no product token in USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64)'",
        ),
        ({"ROBOTSTXT_USER_AGENT": "(none)"}, "no product token in ROBOTSTXT_USER_AGENT"),
        ({"ROBOTRULES_PROFILE": "gogle"}, "ConfigError: ROBOTRULES_PROFILE: there is no profile"),
        (
            {"ROBOTRULES_ALLOW_PRIVATE": ["::1/x"]},
            "ConfigError: ROBOTRULES_ALLOW_PRIVATE: allow_private contains '::1/x'",
        ),
        (
            {
                "ROBOTRULES_ALLOW_PRIVATE": ["10.0.0.0/8/access"],
                "ROBOTRULES_CLIENT_OPTIONS": {"access": "google"},
            },
            "ConfigError: ROBOTRULES_ALLOW_PRIVATE: allow_private contains '10.0.0.0/8/access'",
        ),
        ({"ROBOTRULES_PROXY": "x"}, "ConfigError: ROBOTRULES_PROXY: proxy is not the URL"),
        ({"ROBOTRULES_STORE": "other://y"}, "ConfigError: ROBOTRULES_STORE: unknown store"),
        (
            {"ROBOTRULES_CLIENT_OPTIONS": {"connections": -1}},
            "ConfigError: ROBOTRULES_CLIENT_OPTIONS: connections is -1",
        ),
        (
            {"ROBOTRULES_CLIENT_OPTIONS": {"min_dela": 1}},
            "ROBOTRULES_CLIENT_OPTIONS has the unknown option 'min_dela': did you mean 'min_",
        ),
        ({"ROBOTRULES_CLIENT_OPTIONS": {"x": 1}}, "unknown option 'x': use access, "),
        (
            {"ROBOTRULES_STOER": "x"},
            "ROBOTRULES_STOER: did you mean ROBOTRULES_STORE?",
        ),
        (
            {"ROBOTRULES_MIN_DELAY": 2},
            "ROBOTRULES_MIN_DELAY: set ROBOTRULES_CLIENT_OPTIONS = {'min_delay': ...}",
        ),
        ({"ROBOTRULES_TIMEOUT": "soon"}, "ROBOTRULES_TIMEOUT = 'soon': set a number of seconds"),
        ({"ROBOTRULES_MAX_DELAY": -1}, "ROBOTRULES_MAX_DELAY = -1: set a number of seconds"),
        ({"ROBOTRULES_CLIENT_OPTIONS": "x"}, "ROBOTRULES_CLIENT_OPTIONS = 'x': set a dict"),
        (
            {"ROBOTRULES_CLIENT_OPTIONS": {"conections": 1}},
            "unknown option 'conections'",
        ),
        ({"ROBOTRULES_CLIENT_OPTIONS": {"product_token": "A"}}, "set ROBOTSTXT_USER_AGENT instead"),
    ],
)
def test_invalid_settings_stop_the_crawl(
    worker: Worker, site: LoopbackSite, options: dict[str, Any], expected: str
) -> None:
    """A crawl with invalid settings does not start: it would not obey robots.txt."""
    (result,) = worker.run(crawl_of([site.url("/a")], **options))
    assert expected in result["error"]
    assert site.seen == []


def test_default_headers_name_the_crawler(worker: Worker) -> None:
    """A User-Agent in DEFAULT_REQUEST_HEADERS is what Scrapy sends, so its rules apply."""
    with LoopbackSite("User-agent: OtherBot\nDisallow: /\n") as site:
        result = crawl(
            worker, [site.url("/a")], DEFAULT_REQUEST_HEADERS={"user-agent": "OtherBot/1"}
        )
        assert result["outcomes"][0]["reason"] == "disallow-rule"
        assert [one.headers["User-Agent"] for one in site.seen] == ["OtherBot/1"]


@pytest.mark.parametrize(
    "robots", [b"\xff\xfe\x00", b"\x00" * 5000, b"User-agent" * 9000, b"\r" * 999]
)
def test_hostile_files(worker: Worker, robots: bytes) -> None:
    """Octets that are not a robots.txt have no rules, and are no error."""
    with LoopbackSite(Answer(body=robots)) as site:
        result = crawl(worker, [site.url("/a")])
        assert result["outcomes"] == [{"status": 200}]
        assert result["warnings"] == []


def test_one_fetch_for_concurrent_requests(worker: Worker) -> None:
    """Twenty requests to a new origin wait for one robots.txt, and it applies to all of them."""
    answer = Answer(body=b"User-agent: *\nDisallow: /\n", delay=0.2)
    with LoopbackSite(answer) as site:
        result = crawl(worker, [site.url(f"/{n}") for n in range(20)], tasks=20)
        assert {outcome["reason"] for outcome in result["outcomes"]} == {"disallow-rule"}
        assert (site.paths, site.robots_requests) == ([], 1)


def test_the_project_overrides_the_addon(worker: Worker, site: LoopbackSite) -> None:
    """ROBOTSTXT_OBEY = False of a project disables the middleware, and says so."""
    result = crawl(worker, [site.url("/private")], ROBOTSTXT_OBEY=False)
    assert result["outcomes"] == [{"status": 200}]
    assert "ROBOTSTXT_OBEY is False" in str(result["warnings"])


def test_without_the_addon(worker: Worker, site: LoopbackSite) -> None:
    """The middleware can be set by hand, with Scrapy's own left out."""
    middlewares = {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "robotrules.integrations.scrapy.RobotsTxtMiddleware": 100,
        "tests.integrations.scrapy_worker.RotateUserAgent": 400,
        "robotrules.integrations.scrapy.SentUserAgentMiddleware": 840,
    }
    options: dict[str, Any] = {
        "ADDONS": {},
        "ROBOTSTXT_OBEY": True,
        "DOWNLOADER_MIDDLEWARES": middlewares,
        "ROTATED_USER_AGENT": "OtherBot/2.0",
    }
    robots = f"{ALL_BUT_PRIVATE}\nUser-agent: OtherBot\nDisallow: /other\n"
    site.answers["/robots.txt"] = Answer(body=robots.encode())
    urls = [site.url(path) for path in ("/private", "/other", "/a")]
    result = crawl(worker, urls, **options)
    assert [outcome.get("status") for outcome in result["outcomes"]] == [None, None, 200]
    assert site.robots_requests == 1


def test_the_parser_alone(worker: Worker, site: LoopbackSite) -> None:
    """ROBOTSTXT_PARSER changes how Scrapy's own middleware reads a file."""
    parser = "robotrules.integrations.scrapy.RobotParser"
    options: dict[str, Any] = {"ADDONS": {}, "ROBOTSTXT_OBEY": True, "ROBOTSTXT_PARSER": parser}
    result = crawl(worker, [site.url("/private"), site.url("/a")], **options)
    assert [outcome.get("status") for outcome in result["outcomes"]] == [None, 200]
    assert result["stats"]["robotstxt/forbidden"] == 1


HANDLERS = "scrapy.core.downloader.handlers."


@pytest.mark.parametrize("name", ["Aiohttp", "Httpx"])
def test_download_handlers(worker: Worker, site: LoopbackSite, name: str) -> None:
    """Every download handler has the same rules."""
    module = f"{HANDLERS}_{name.lower()}"
    assert hasattr(pytest.importorskip(module), f"{name}DownloadHandler")
    options: dict[str, Any] = {"DOWNLOAD_HANDLERS": {"http": f"{module}.{name}DownloadHandler"}}
    result = crawl(worker, [site.url("/private"), site.url("/a")], **options)
    assert [outcome.get("status") for outcome in result["outcomes"]] == [None, 200]


def test_http2(worker: Worker) -> None:
    """Requests by HTTP/2 have the same rules; it is for `https` only."""
    handler = f"{HANDLERS}http2.H2DownloadHandler"
    pytest.importorskip(f"{HANDLERS}http2")
    with TlsSite(worker.authority, secure_robots=ALL_BUT_PRIVATE) as site:
        urls = [site.secure_url("/private"), site.secure_url("/a")]
        result = crawl(worker, urls, DOWNLOAD_HANDLERS={"https": handler})
        assert result["outcomes"][0]["reason"] == "disallow-rule"
        assert result["outcomes"][1] == {"status": 200}
        assert site.secure.robots_requests == 1
        pages = [one for one in site.secure.seen if one.path != "/robots.txt"]
        assert [(one.path, one.protocol) for one in pages] == [("/a", HTTP_2)]
        assert pages[0].headers["User-Agent"] == USER_AGENT
        assert site.seen == []


def test_two_schemes_are_two_origins(worker: Worker) -> None:
    """`http` and `https` with one host and port have a robots.txt each (§2.3)."""
    plain, secure = "User-agent: *\nDisallow: /plain\n", "User-agent: *\nDisallow: /secure\n"
    with TlsSite(worker.authority, plain, secure) as site:
        paths = ("/plain", "/secure")
        urls = [*map(site.url, paths), *map(site.secure_url, paths)]
        result = crawl(worker, urls)
        assert [one.get("status") for one in result["outcomes"]] == [None, 200, 200, None]
        assert (site.paths, site.secure.paths) == (["/secure"], ["/plain"])
        assert (site.robots_requests, site.secure.robots_requests) == (1, 1)


# --- Delays ---------------------------------------------------------------------------------------


def gaps(site: LoopbackSite) -> list[float]:
    """Return the seconds between the requests for pages."""
    times = [one.at for one in site.seen if one.path != "/robots.txt"]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


@pytest.mark.parametrize("more", [{}, {"AUTOTHROTTLE_ENABLED": True, "DOWNLOAD_DELAY": 0.01}])
def test_crawl_delay_in_the_slot(worker: Worker, more: dict[str, Any]) -> None:
    """Concurrent requests are apart, without jitter, and AutoThrottle does not shorten it."""
    more = more | {"AUTOTHROTTLE_START_DELAY": 0.01} if more else more
    with LoopbackSite("User-agent: *\nCrawl-delay: 0.3\n") as site:
        result = crawl(worker, [site.url(f"/{n}") for n in range(6)], **more)
        assert len(gaps(site)) == 5
        assert min(gaps(site)) >= 0.3 - LATENESS
        assert result["stats"]["robotrules/max_delay"] == 0.3


def test_a_longer_delay_is_kept(worker: Worker) -> None:
    """A shorter Crawl-delay changes neither DOWNLOAD_DELAY nor its jitter, of half of it."""
    with LoopbackSite("User-agent: *\nCrawl-delay: 0.05\n") as site:
        crawl(worker, [site.url(f"/{n}") for n in range(3)], DOWNLOAD_DELAY=0.4)
        assert min(gaps(site)) >= 0.2 - LATENESS


def test_jitter_does_not_shorten_a_crawl_delay(worker: Worker) -> None:
    """If the jitter could shorten DOWNLOAD_DELAY below Crawl-delay, there is none."""
    with LoopbackSite("User-agent: *\nCrawl-delay: 0.4\n") as site:
        crawl(worker, [site.url(f"/{n}") for n in range(5)], DOWNLOAD_DELAY=0.4)
        assert min(gaps(site)) >= 0.4 - LATENESS


def test_crawl_delay_above_the_maximum(worker: Worker) -> None:
    """A site that asks for a day between requests does not occupy the downloader."""
    with LoopbackSite("User-agent: *\nCrawl-delay: 86400\n") as slow, LoopbackSite() as site:
        result = crawl(worker, [slow.url("/a"), slow.url("/b"), site.url("/a")], tasks=1)
        assert [outcome.get("status") for outcome in result["outcomes"]] == [None, None, 200]
        assert "ROBOTRULES_MAX_DELAY" in result["outcomes"][0]["error"]
        assert result["stats"]["robotrules/dropped/delay"] == 2
        assert slow.paths == []


def test_retry_after_postpones_waiting_requests(worker: Worker, site: LoopbackSite) -> None:
    """Requests that wait in the slot are postponed too, and retries come after it."""
    site.answers["/busy"] = Answer(503, headers=(("Retry-After", "1"),))
    urls = [site.url("/busy"), *(site.url(f"/{n}") for n in range(5))]
    options: dict[str, Any] = {"DOWNLOAD_DELAY": 0.1, "RETRY_ENABLED": True, "RETRY_TIMES": 1}
    result = crawl(worker, urls, **options)
    assert site.paths.count("/busy") == 2
    assert gaps(site)[0] >= 1.0 - LATENESS
    assert result["stats"]["robotrules/retry_after"] == 2


def test_retry_after_above_the_maximum(worker: Worker, site: LoopbackSite) -> None:
    """Requests that would wait for an hour are ignored: waiting ones and later ones."""
    site.answers["/busy"] = Answer(503, headers=(("Retry-After", "3600"),))
    urls = [site.url("/busy"), *(site.url(f"/{n}") for n in range(40))]
    result = crawl(worker, urls, DOWNLOAD_DELAY=0.1)
    assert site.paths == ["/busy"]
    assert result["stats"]["robotrules/dropped/delay"] == 40


# --- Pages ----------------------------------------------------------------------------------------

HTML = (("Content-Type", "text/html"),)
NOINDEX = b"<!doctype html><meta name=robots content=noindex><title>x</title><p>x"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_items_of_noindex_pages(worker: Worker, site: LoopbackSite, asynchronous: bool) -> None:
    """`response.meta["robotrules"]` has the tag rules, and a setting drops items by them."""
    site.answers |= {
        "/meta": Answer(200, NOINDEX, HTML),
        "/field": Answer(200, b"x", (("X-Robots-Tag", "noindex"),)),
        "/other": Answer(200, b"x", (("X-Robots-Tag", "OtherBot: noindex"),)),
        "/text": Answer(200, NOINDEX),
    }
    urls = [site.url(path) for path in ("/meta", "/field", "/other", "/text")]
    result = crawl(worker, urls, tasks=1, asynchronous=asynchronous)
    assert [page["index"] for page in result["pages"]] == [False, False, True, True]
    assert {page["verdict"] for page in result["pages"]} == {"allowed: no rule matches"}
    assert result["items"] == urls
    options: dict[str, Any] = {"ROBOTRULES_DROP_NOINDEX": True, "asynchronous": asynchronous}
    result = crawl(worker, urls, tasks=1, **options)
    assert result["items"] == urls[2:]
    assert result["stats"]["robotrules/dropped/noindex"] == 2


@pytest.mark.parametrize("asynchronous", [False, True])
def test_noindex_without_the_downloader_middleware(
    worker: Worker, site: LoopbackSite, asynchronous: bool
) -> None:
    """ROBOTRULES_DROP_NOINDEX reads header fields and HTML itself if robots.txt is not obeyed."""
    site.answers |= {
        "/meta": Answer(200, NOINDEX, HTML),
        "/own": Answer(200, b"x", (("X-Robots-Tag", "ExampleBot: noindex"),)),
        "/other": Answer(200, b"x", (("X-Robots-Tag", "OtherBot: noindex"),)),
    }
    urls = [site.url(path) for path in ("/meta", "/own", "/other")]
    options: dict[str, Any] = {"ROBOTRULES_DROP_NOINDEX": True, "ROBOTSTXT_OBEY": False}
    result = crawl(worker, [*urls, "data:,x"], tasks=1, asynchronous=asynchronous, **options)
    assert sorted(result["items"]) == ["data:,x", urls[2]]
    assert result["stats"]["robotrules/dropped/noindex"] == 2
    assert result["pages"] == []
    # Without a name in USER_AGENT, the rules for all crawlers count.
    result = crawl(worker, urls, tasks=1, USER_AGENT="Mozilla/5.0", **options)
    assert sorted(result["items"]) == sorted(urls[1:])


# --- Crawlers -------------------------------------------------------------------------------------


def test_spiders_share_a_store(worker: Worker, site: LoopbackSite, tmp_path: Path) -> None:
    """Two spiders at once, and one afterwards, fetch a robots.txt once."""
    store = str(tmp_path / "robots.sqlite")
    job = crawl_of([site.url("/private"), site.url("/a")], ROBOTRULES_STORE=store)
    results = worker.run(job, job) + worker.run(job)
    for result in results:
        assert [outcome.get("status") for outcome in result["outcomes"]] == [None, 200]
    assert site.robots_requests == 1


def test_a_spider_that_closes(worker: Worker, site: LoopbackSite) -> None:
    """A spider that is closed while a robots.txt is fetched ends without errors."""
    with LoopbackSite(Answer(delay=0.6)) as slow:
        urls = [site.url("/a"), *(slow.url(f"/{n}") for n in range(30))]
        result = crawl(worker, urls, close=True)
        assert result["stats"]["finish_reason"] == "test"
        assert result["warnings"] == []


def test_queues_on_disk(worker: Worker, site: LoopbackSite, tmp_path: Path) -> None:
    """Requests are written to a queue on disk: what is in their meta can be pickled."""
    result = crawl(worker, [site.url("/a"), site.url("/private")], JOBDIR=str(tmp_path / "job"))
    assert [outcome.get("status") for outcome in result["outcomes"]] == [200, None]
    assert result["stats"]["scheduler/enqueued/disk"] == 2


SCRIPT = """
import sys
import scrapy
import scrapy.crawler

class PageSpider(scrapy.Spider):
    name = "page"
    start_urls = sys.argv[2:]
    custom_settings = {
        "ADDONS": {"robotrules.integrations.scrapy.Addon": 0},
        "USER_AGENT": "ExampleBot/1.0",
        "ROBOTRULES_ALLOW_PRIVATE": ["127.0.0.1"],
        "LOG_LEVEL": "WARNING",
    }

settings = {"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"}
process_class = scrapy.crawler.CrawlerProcess
if sys.argv[1] == "none":
    settings = {"TWISTED_REACTOR_ENABLED": False}
    process_class = scrapy.crawler.AsyncCrawlerProcess
process = process_class(settings)
process.crawl(PageSpider)
process.start()
"""


def run_script(folder: Path, *arguments: str) -> str:
    """Run a crawl in a process with another reactor, or without one, and return its log."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        capture_output=True,
        text=True,
        env=environment(folder),
        timeout=60,
    )
    return run.stderr


def test_another_reactor(site: LoopbackSite, tmp_path: Path) -> None:
    """Another reactor stops the crawl with an error that says what to set."""
    log = run_script(tmp_path, "select", site.url("/a"))
    assert "needs the asyncio reactor: set TWISTED_REACTOR" in log
    assert site.seen == []


def test_without_a_reactor(site: LoopbackSite, tmp_path: Path) -> None:
    """Scrapy 2.15 and later can run on an event loop without a reactor."""
    if scrapy.version_info < (2, 15):
        pytest.skip("this Scrapy needs a reactor")
    log = run_script(tmp_path, "none", site.url("/a"), site.url("/private"))
    assert site.paths == ["/a"], log
    assert site.robots_requests == 1


@pytest.mark.parametrize("command", [["fetch", "--nolog"], ["shell", "-c", "response.status"]])
def test_commands(site: LoopbackSite, tmp_path: Path, command: list[str]) -> None:
    """`scrapy fetch` and `scrapy shell` obey the rules, and end."""
    addons = json.dumps(ADDON["ADDONS"])
    options = ["-s", f"ADDONS={addons}", "-s", "ROBOTRULES_ALLOW_PRIVATE=127.0.0.1"]
    options += ["-s", f"USER_AGENT={USER_AGENT}"]
    for path in ("/a", "/private"):
        run = subprocess.run(
            [sys.executable, "-m", "scrapy", command[0], *options, *command[1:], site.url(path)],
            capture_output=True,
            text=True,
            env=environment(tmp_path),
            cwd=tmp_path,
            timeout=60,
        )
        assert "Traceback" not in run.stderr or path == "/private", run.stderr
        expected = "a page" if command[0] == "fetch" else "200"
        assert (expected in run.stdout) == (path == "/a"), run.stderr
    assert site.paths == ["/a"]
    assert site.robots_requests == 1


@pytest.mark.slow
def test_two_settings_of_a_new_project() -> None:
    """A new project fetches what it must not; with two settings changed it does not."""
    run = subprocess.run(
        [sys.executable, "benches/scrapy_project.py", "--rounds", "0", "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    requested = json.loads(run.stdout)["requested"]
    stock, ours = requested["Scrapy"], requested["robotrules"]
    forbidden = [case for case in ours if not case.startswith("allowed: ")]
    assert {case: ours[case] for case in forbidden} == {case: [] for case in forbidden}
    assert ours["allowed: no robots.txt (404)"] == ["/page"]
    assert ours["allowed: no rule matches"] == ["/open", "/open"]
    assert stock["robots.txt has status 503"] == ["/from-shop", "/page"]
    assert stock["robots.txt: connection closed"] == ["/from-shop", "/page"]
    assert stock["a private network, from a redirect"] == ["/secret"]
    if scrapy.version_info >= (2, 19):
        # Of the requests that wait for one robots.txt, Scrapy applies it to the first two; on a
        # busy machine, some of the others come later.
        fetched = stock["disallowed by a rule, six requests at once"]
        assert fetched
        assert fetched == [f"/private/{number}" for number in range(2, 6)][: len(fetched)]


# --- The parser -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user_agent", "allowed"),
    [
        ("ExampleBot", False),
        (b"ExampleBot/1.0 (+https://example.com/bot)", False),
        ("Mozilla/5.0 (compatible; ExampleBot/1.0; +https://example.com/bot)", False),
        ("OtherBot/1.0", True),
        # Without a name, the rules for all crawlers apply.
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36", True),
        ("", True),
        (b"\xff\x00\n", True),
    ],
)
def test_parser(user_agent: str | bytes, allowed: bool) -> None:
    """The product token in a User-Agent header selects the rules."""
    body = b"User-agent: *\nDisallow: /all\nCrawl-delay: 2\n\nUser-agent: examplebot\nDisallow: /"
    parser = RobotParser.from_crawler(get_crawler(), body)
    assert isinstance(parser, scrapy.robotstxt.RobotParser)
    assert parser.allowed("https://example.com/page", user_agent) is allowed
    assert parser.allowed(b"https://example.com/all", user_agent) is False
    assert parser.crawl_delay(user_agent) == (2.0 if allowed else None)


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"<html>", b"\x00" * 1000])
def test_parser_reads_anything(body: bytes) -> None:
    """Every file is a robots.txt."""
    parser = RobotParser.from_crawler(get_crawler(), body)
    assert parser.allowed("https://example.com/", "ExampleBot")
    assert parser.crawl_delay("ExampleBot") is None


def test_response_rules_are_pickled_without_the_page() -> None:
    """A queue on disk has no page, and the tags of a page that is gone are unknown."""
    response = HtmlResponse("https://example.com/a", body=NOINDEX, headers=dict(HTML))
    rules = ResponseRules(response.url, "ExampleBot", None, None, response)
    copy = pickle.loads(pickle.dumps(rules))
    assert (copy.url, copy.may_index) == (response.url, None)
    assert rules.may_index is False
    unread = ResponseRules(response.url, "ExampleBot", None, None, response)
    del response
    assert unread.may_index is None


def test_missing_scrapy(tmp_path: Path) -> None:
    """Without Scrapy, the error says what to install."""
    code = "import sys; sys.modules['scrapy'] = None; import robotrules.integrations.scrapy"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(tmp_path)
    )
    assert "pip install 'robotrules[scrapy]'" in run.stderr
