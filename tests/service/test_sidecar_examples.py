"""
The example crawlers in Go and Node: they run, against the real service and a site on loopback.

Where a language is not installed its tests are skipped. Go compiles its standard library first.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integrations.loopback_site import Answer, LoopbackSite
from tests.service.live_server import open_site, serve

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "sidecar"
FILES = {"go": EXAMPLES / "go" / "crawler.go", "node": EXAMPLES / "node" / "crawler.mjs"}
PAGE = ROOT / "docs" / "sidecar.md"
DELAY = 1.6
RETRY = 3
ROBOTS = f"""\
User-agent: ExampleBot
Crawl-delay: {DELAY}
Disallow: /private

User-agent: *
Disallow: /
"""
LINKS = """\
<a href="/a">a</a> <a href="/private/one">no</a> <a href="busy#part">busy</a>
<a href="mailto:owner@example.com">mail</a> <a href="http://[broken/">no URL</a> <a href="/a">a</a>
<a href="/moved">moved</a>
"""


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    """A site with links to URLs of all sorts."""
    with open_site(ROBOTS) as running:
        running.answers["/"] = Answer(body=LINKS.encode())
        running.answers["/busy"] = Answer(503, headers=(("Retry-After", str(RETRY)),))
        running.answers["/moved"] = Answer(302, headers=(("Location", "/private/two"),))
        yield running


@pytest.fixture(scope="module", params=FILES)
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs an example."""
    language: str = request.param
    if shutil.which(language) is None:
        pytest.skip(f"{language} is not installed here, so its example crawler was not run")
    if language == "node":
        return ["node", str(FILES["node"])]
    folder = tmp_path_factory.mktemp("go")
    program = folder / "crawler"
    # Without network and without a module: the standard library is enough.
    offline = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GO111MODULE": "off"}
    subprocess.run(
        ["go", "build", "-o", str(program), str(FILES["go"])],
        env=os.environ | offline | {"GOCACHE": str(folder / "cache")},
        check=True,
        timeout=300,
    )
    return [str(program)]


def run(command: list[str], *arguments: str) -> str:
    """Run a crawler to its end, and return what it prints."""
    direct = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    ran = subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=direct,
        check=True,
    )
    return ran.stdout


@pytest.mark.slow
def test_a_crawler_is_polite(command: list[str], site: LoopbackSite) -> None:
    """It requests what is allowed, once, at the delay of the site, and waits after a 503."""
    with serve() as service:
        began = time.monotonic()
        printed = run(command, service.url, site.url("/"))
        # A start page that is disallowed is not requested either.
        assert "skipped" in run(command, service.url, site.url("/private/start"))
    assert site.paths == ["/", "/a", "/busy", "/moved"]
    assert site.robots_requests == 1
    times = site.times("/", "/a", "/busy", "/moved")
    # The first slot begins after the start. A busy machine notes a request late, and so the next
    # one seems to follow early: only the time since the start is certain.
    for number, at in enumerate(times[:3]):
        assert at - began >= number * DELAY
    # Of this one it is: the response that postpones the next slot is sent after it was noted.
    assert times[3] - times[2] >= RETRY
    assert times[3] - began < 2 * DELAY + RETRY + 15
    agents = {request.headers["User-Agent"] for request in site.seen if request.path == "/a"}
    assert agents == {"ExampleBot/1.0 (+https://example.com/bot)"}
    assert "/private" not in printed
    assert f"503 {site.url('/busy')}" in printed


@pytest.mark.slow
def test_without_the_sidecar_nothing_is_fetched(command: list[str], site: LoopbackSite) -> None:
    """Also if the service refuses to fetch from the site."""
    run(command, "http://127.0.0.1:9", site.url("/"))
    with serve(fetch_hosts=("example.com",)) as service:
        printed = run(command, service.url, site.url("/"))
    assert f"skipped {site.url('/')}" in printed
    assert not site.seen


@pytest.mark.parametrize("language", FILES)
def test_examples_are_short(language: str) -> None:
    """At most 40 lines of code, without imports, comments and blank lines."""
    text = re.sub(r"(?m)^import \((.|\n)*?^\)", "", FILES[language].read_text(encoding="utf-8"))
    lines = [line.strip() for line in text.splitlines()]
    assert len([line for line in lines if line and not line.startswith("//")]) <= 40


@pytest.mark.parametrize(("language", "fence"), [("go", "go"), ("node", "js")])
def test_the_page_has_the_examples(language: str, fence: str) -> None:
    """As they are in the files."""
    code = FILES[language].read_text(encoding="utf-8")
    assert f"```{fence}\n{code}```\n" in PAGE.read_text(encoding="utf-8")
