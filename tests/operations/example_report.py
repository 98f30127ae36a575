"""A report on a site of our own, with all its sections: for tests in a browser and for pictures."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from robotrules import parse
from robotrules.access import Response
from robotrules.html_document import element, section
from robotrules.operations.logs import read_logs
from robotrules.operations.logs.pages import log_sections
from robotrules.operations.logs.sentences import headline
from robotrules.operations.rule_history import fixed_rules
from robotrules.operations.site_report import SiteReport
from robotrules.operations.site_report.facts import HostFacts, SiteSource, host_facts
from robotrules.operations.site_report.history import changes_from_store
from robotrules.operations.site_report.sitemap_coverage import SitemapUrls, sitemap_coverage
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from tests.client.histories import SITE, History, refused

NAME = "https://news.example"
TRAINING = "".join(
    f"User-agent: {known.product_token}\n"
    for known in KNOWN_CRAWLERS
    if known.status == "active" and "ai-training" in known.purposes
)
OPEN = """\
User-agent: *
Disallow: /account/
Disallow: /search
Disallow: /print/

User-agent: OAI-SearchBot
User-agent: PerplexityBot
Disallow: /account/
Disallow: /archive/
"""
ROBOTS = f"""{OPEN}
{TRAINING}Disallow: /
Disalow: /drafts/

User-agent: SchoolNewsReader
Disallow: /archive/

Sitemap: https://news.example/sitemap.xml
"""
PATHS = ("", "sports/", "archive/1926", "account/prices", "search?q=rain", *map(str, range(240)))
AGENTS = (
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0",
)
REQUESTS = 3_000


def write_log(path: Path) -> None:
    """Write an access log of a month; always the same."""
    chance = random.Random(1)
    start = datetime(2026, 4, 1, tzinfo=UTC)
    with path.open("w", encoding="ascii") as file:
        for number in range(REQUESTS):
            at = start + timedelta(days=30 * number / REQUESTS)
            agent = chance.choices(AGENTS, (9, 6, 3, 2, 20))[0]
            target = chance.choice(("robots.txt", "sports/", "archive/1926", "account/prices", "1"))
            size = chance.randint(400, 40_000)
            file.write(
                f"192.0.2.{chance.randint(1, 250)} - - [{at:%d/%b/%Y:%H:%M:%S +0000}] "
                f'"GET /{target} HTTP/1.1" {chance.choice((200, 200, 200, 304, 404))} {size} "-" '
                f'"{agent}"\n'
            )


def example_facts(name: str = NAME) -> HostFacts:
    """Return the facts about the site, with its sitemap and its history."""
    history = History()
    for day, answer in (
        (0, Response(200, [], b"User-agent: *\nDisallow: /account/\n")),
        (3, Response(200, [], OPEN.encode())),
        (9, Response(200, [], b"User-agent: *\nDisallow: /\n")),
        (10, refused()),
        (10.5, Response(200, [], OPEN.encode())),
        (20, Response(200, [], ROBOTS.encode())),
        (29, Response(200, [], ROBOTS.encode())),
    ):
        history.record_fetch(day - 30, answer)
    robots = parse(ROBOTS)
    changes, words = changes_from_store(history.store, SITE)
    urls = tuple(f"{NAME}/{path}" for path in PATHS)
    coverage = sitemap_coverage(robots, [SitemapUrls(f"{NAME}/sitemap.xml", urls)], NAME)
    facts = host_facts(SiteSource(name, robots, name, "status 200, fetched 2026-05-01 12:00 UTC"))
    return facts._replace(sitemaps=coverage, history=changes, history_words=words)


def example_report(folder: Path) -> SiteReport:
    """Return the report; a log is written to a folder."""
    log = folder / "access.log"
    write_log(log)
    facts = example_facts()
    assert facts.source.robots is not None
    found = read_logs(
        [str(log)],
        fixed_rules(facts.source.robots, "robots.txt"),
        site=NAME,
        rules_name="today's robots.txt",
    )
    intro = section("Crawlers in the access log", element("p", headline(found)))
    logs = (intro, *log_sections(found))
    return SiteReport("News Example: who may fetch what", (facts,), date="1 May 2026", logs=logs)
