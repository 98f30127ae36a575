"""The page of a log report: every number of a chart is in a table, and sections stand alone."""

from __future__ import annotations

import re
from functools import partial

import robotrules
from robotrules.cli.console import Output
from robotrules.cli.logs_text import LogText
from robotrules.html_document import Html
from robotrules.operations.crawler_identity import AddressRanges, IdentityChecker
from robotrules.operations.logs.pages import log_page, log_sections
from robotrules.operations.rule_history import RuleChange, RuleHistory
from tests.operations.log_lines import BINGBOT, GOOGLEBOT, GPTBOT, NOON, PERSON, Seen, report

DAY = 86400
AGENTS = (GOOGLEBOT, GPTBOT, BINGBOT, *(f"{name}-bot/1" for name in ("A", "B", "C", "D")))


def many() -> list[Seen]:
    """Return requests of seven crawlers over ten days, most of them not allowed."""
    return [
        Seen(f"/{folder}/{number}", agent, at=NOON + DAY * 3 * number, status=status)
        for agent in AGENTS
        for folder in ("private", "a", "b")
        for number, status in enumerate((200, 301, 404, 503))
    ]


def test_the_page_has_all_sections() -> None:
    """Charts with at most five colours, tables, violations with rule and line, and notes."""
    page = log_page(report(*many(), Seen(agent=PERSON), rules_name="robots.txt", site="https://x"))
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == [
        "At a glance",
        "Requests of crawlers by day",
        "Crawlers",
        "Not obeyed",
        "Responses by day",
        "About these numbers",
    ]
    assert "<title>Crawlers in the access log of https://x</title>" in page
    assert "Disallow: /private/" in page
    assert "line 2 of robots.txt" in page
    assert "3 others" in page
    assert page.count("<svg") == 3
    assert 'class="s5"' in page
    assert 'class="s6"' not in page
    assert "<script" not in page
    # Days without requests are columns too.
    assert "2026-10-02" not in re.sub(r"(?s)<svg.*?</svg>", "", page)


def test_sections_of_other_reports() -> None:
    """Without crawlers, without rules, and with something that was never fetched."""
    assert len(log_sections(report())) == 1
    sections = log_sections(report(Seen(), robots=None))
    assert all(isinstance(one, Html) for one in sections)
    assert not [one for one in sections if "obeyed" in one]
    text = "".join(log_sections(report(Seen("/a"), urls=[b"/a", b"/b"], rules_name="r")))
    assert "Never fetched, although allowed" in text
    assert "<code>/b</code>" in text
    assert "No crawler fetched what it is asked not to fetch." in text
    many_bots = [
        Seen("/private/", f"X{chr(97 + n // 26)}{chr(97 + n % 26)}-bot/1") for n in range(70)
    ]
    found = report(*many_bots, robots="User-agent: *\nDisallow: /", rules_name="r")
    text = "".join(log_sections(found))
    assert "10 more crawlers are in the JSON and CSV output." in text
    assert "45 more crawlers are in the JSON and CSV output." in text


def test_facts_about_a_crawler_that_did_not_obey() -> None:
    """Its copy of robots.txt, who it was, what its operator says, and its delay."""
    checker = IdentityChecker(AddressRanges({"Googlebot": ["203.0.113.0/28"]}))
    lines = [Seen("/robots.txt"), Seen("/private/", at=NOON + 1), Seen("/private/", at=NOON + 2)]
    lines += [Seen("/private/", "Bytespider"), Seen("/private/", "facebookexternalhit/1.1")]
    found = report(*lines, rules_name="robots.txt", identity=checker)
    words = re.sub(r"<[^>]+>", " ", log_page(found))
    assert "age of its robots.txt, by its requests in this log: up to an hour 2" in words
    assert "these addresses are not in the published ranges of Googlebot" in words
    assert "impostors of Googlebot" in words
    assert "2 of 3 requests" in words
    assert "Crawl-delay" not in words
    assert "it never requested /robots.txt in this log" in words
    assert "does not always obey robots.txt" in words


def test_the_crawl_delay_of_a_crawler_that_did_not_obey() -> None:
    """Intervals that are shorter than asked are counted."""
    lines = [Seen("/private/", at=NOON + number) for number in range(3)]
    words = re.sub(r"<[^>]+>", " ", log_page(report(*lines, rules_name="robots.txt")))
    assert "Crawl-delay: 10 (line 3): 2 of 2 intervals between requests were shorter" in words


def test_impostors_have_a_row_on_pages() -> None:
    """Tiles, chart, table and list have them apart; folders of logs are not shown."""
    checker = IdentityChecker(AddressRanges({"Googlebot": ["192.0.2.0/28"]}))
    lines = [Seen("/a", address="192.0.2.1")] * 3 + [Seen("/private/", address="203.0.113.1")] * 2
    found = report(*lines, rules_name="robots.txt", identity=checker)
    found = found._replace(files=(found.files[0]._replace(name="/srv/hidden/access.log"),))
    page = log_page(found, "Our logs")
    assert "<title>Our logs</title>" in page
    assert "/srv/hidden" not in page
    assert '<p class="subtitle">access.log' in page or "access.log, 2026-10-01" in page
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "2 requests that only claimed to be Googlebot" in words
    assert "0 requests of crawlers that robots.txt asks not to make 0 crawlers" in words
    assert "2 such requests of impostors" in words
    assert "impostors of Googlebot from other addresses 2 2" in words
    assert "2026-10-01, impostors of Googlebot: 2" in words
    assert "Rules that impostors of Googlebot did not obey" in words
    assert "Rules that Googlebot" not in words


def test_versions_of_a_rule_and_requests_in_transition() -> None:
    """A rule in two versions has a total; what an older file allowed is told without violations."""
    history = RuleHistory(
        RuleChange(at, f"version {number}", partial(robotrules.parse, text))
        for number, (at, text) in enumerate(
            [
                (NOON - 9 * DAY, "User-agent: *\nDisallow: /a\n"),
                (NOON, "User-agent: *\nAllow: /x\nDisallow: /a\nDisallow: /b\n"),
            ],
            1,
        )
    )
    lines = [Seen("/a", at=NOON - 60), Seen("/a", at=NOON + 60), Seen("/b", BINGBOT, at=NOON + 60)]
    found = report(*lines, rules=history, rules_name="git")
    text = "\n".join(LogText(found, Output.to_file(None), None).lines())  # type: ignore[arg-type]
    assert "Disallow: /a  2 requests in 2 versions\n" in text
    assert "a day: bingbot (1)." in text
    words = " ".join(re.sub(r"<[^>]+>", " ", log_page(found)).split())
    assert "; 2 requests in 2 versions" in words
    assert "in transition" in words
    assert "1 further request is not counted as not obeyed" in words


def test_text_fits_a_terminal() -> None:
    """On a narrow terminal, columns are left out; the number of violations never is."""
    robots = "User-agent: *\n" + "".join(f"Disallow: /{letter}\n" for letter in "abcde")
    lines = [Seen(f"/{letter}", agent) for letter in "abcde" for agent in AGENTS]
    found = report(*lines, robots=robots, rules_name="robots.txt", urls=[b"/z"])
    output = Output.to_file(None)  # type: ignore[arg-type]
    wide = list(LogText(found, output, 2).lines())
    assert any("addresses" in line for line in wide)
    assert "  5 more crawlers: see --top, or -o with a CSV file" in wide
    all_of_them = list(LogText(found, output, None).lines())
    assert sum(line.startswith("      /") or "  1  /" in line for line in all_of_them) == 15
    assert "    2 more rules: see --top, or --table violations" in all_of_them
    many = [line for line in LogText(found, output, 9).lines() if "  1  /" in line]
    assert len(many) == 35
    assert "    3 more rules: see --top, or --table violations" in wide
    assert any("0 of" in line or "1 of 1 URLs: /z" in line for line in wide)
    output.terminal, output.width = True, 60
    narrow = list(LogText(found, output, 2).lines())
    [head] = [line for line in narrow if line.startswith("crawler ")]
    assert "not obeyed" in head
    assert "3xx" not in head
    assert max(map(len, narrow)) <= 60
