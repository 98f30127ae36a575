"""No extension reader raises, both engines agree, and a batch equals single calls."""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import robotrules
from fuzz.generator import Case
from fuzz.targets.total import ENGINES
from robotrules import RobotsTxt, extensions

LINES = (
    b"App-Directives: %s x;a=1;b=?0, y;c",
    b"app-directive: %s x;a=%s",
    b"Content-Usage: %s train-ai=n, search=y;p",
    b"content-usage: %s train-ai=%s",
    b"Content-Signal: %s ai-train=no, search=%s",
    b"User-agent-purpose: %s",
    b"Clean-param: a&%s %s",
    b"Sitemap: %s",
    b"Crawl-delay: %s",
    b"Request-rate: 1/%s 0600-0845",
    b"Visit-time: 0600-%s",
    b"Host: %s",
)


def check(case: Case) -> None:
    """Add records of every extension, with parts of the case, and read them all."""
    random = Random(case.body)
    url = case.url if isinstance(case.url, bytes) else case.url.encode("utf-8", "surrogatepass")
    parts = [*case.body.split()[:20], url[:200], b"/", b"/*", b"", b"x", b"1", b'"', b"y"]
    added = []
    for line in random.choices(LINES, k=8):
        added.append(line % tuple(random.choice(parts) for _ in range(line.count(b"%s"))))
    body = case.body + b"\nUser-agent: *\n" + b"\n".join(added) + b"\n"
    snapshots = [snapshot(body, case, engine) for engine in ENGINES]
    for name, seen in snapshots[0].items():
        assert seen == snapshots[-1][name], f"{name}: {seen!r} != {snapshots[-1][name]!r}"


def snapshot(body: bytes, case: Case, engine: ModuleType) -> dict[str, Any]:
    """Return the results of all readers, by name, as plain values."""
    robots = robotrules.parse(body, case.profile(), engine=engine)
    urls = [case.url, b"/", b"/robots.txt", b"/x?a=1"]
    preferences = robotrules.preferences_for(robots, "*")
    directives = robotrules.directives_for(robots, "x")
    for found in (preferences, directives):
        assert found.for_urls(urls) == [found.for_url(url) for url in urls]
    return {
        "preferences": [one.as_dict() for one in preferences.for_urls(urls)],
        "directives": [one.as_dict() for one in directives.for_urls(urls)],
        "signals": robotrules.content_signals(robots, case.url, "*").as_dict(),
        "cleaned": robotrules.clean_params(robots).clean_many(urls),
        "others": others(robots),
        "notes": notes(robots),
    }


def others(robots: RobotsTxt) -> list[str]:
    """Return the results of the readers of de-facto records, as text."""
    return [
        repr(robotrules.sitemaps(robots, "https://e.example/robots.txt")),
        repr(robotrules.crawl_delay(robots, "*")),
        repr(robotrules.request_rates(robots, "*")),
        repr(robotrules.visit_times(robots, "*")),
        repr(robotrules.preferred_host(robots)),
        repr(robotrules.unused_records(robots)),
    ]


def notes(robots: RobotsTxt) -> list[dict[str, Any]]:
    """Return the notes of all readers; check that their spans are in the file."""
    found = extensions.notes(robots)
    for note in found:
        assert 0 <= note.start <= note.end <= len(robots.body), note
        assert note.message
    return [note.as_dict() for note in found]
