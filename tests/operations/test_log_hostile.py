"""Logs are written by strangers: no line harms a terminal, a page, a spreadsheet or memory."""

from __future__ import annotations

import gzip
import html
import json
import random
import re
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from robotrules.cli.console import Output
from robotrules.cli.logs_csv import TABLES, csv_text
from robotrules.cli.logs_text import LogText
from robotrules.operations.logs import (
    LogFormatError,
    LogInput,
    counting,
    coverage,
    read_logs,
    tallies,
)
from robotrules.operations.logs.pages import log_page
from robotrules.operations.logs.summary import LogReport
from robotrules.operations.logs.templates import compile_template
from tests.operations import log_lines
from tests.operations.log_lines import GOOGLEBOT, GPTBOT, NOON, Seen, combined, report, rules

EVIL = (
    "\x1b[2J\x1b]0;title\x07",
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "=cmd|'/c calc'!A1",
    "@SUM(1)",
    "\u202egnp.exe",
    "\u200b\ufeff\u2028\x85",
    "\x00\x01\x7f\x9b31m",
    "%00%1b%0d%0a",
    "\udcff\udcfe",
    "{{7*7}}${jndi:ldap://a}",
    "\\x1b[31m\\n\\x00",
    "a" * 70_000,
)
DANGEROUS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")


def outputs(found: LogReport) -> Iterator[str]:
    """Yield all outputs of a report."""
    yield "\n".join(LogText(found, Output.to_file(None), 10).lines())  # type: ignore[arg-type]
    yield log_page(found)
    for table in TABLES:
        yield csv_text(found, table)
    yield json.dumps(found.as_dict(), ensure_ascii=False)


@pytest.mark.parametrize("line", [combined, log_lines.nginx_json, log_lines.caddy, log_lines.iis])
def test_hostile_text_is_escaped_everywhere(line: Callable[[Seen], str]) -> None:
    """URLs, names, hosts, addresses and statuses are shown escaped, or not at all."""
    lines = [line(Seen("/private/ok"))] * 60
    for evil in EVIL:
        lines += [
            line(Seen(f"/private/{evil}?{evil}=1")),
            line(Seen(f"/{evil}/x", GPTBOT, host=evil)),
            line(Seen("/private/", f"{evil} Evil-bot/1.0 (+http://{evil})")),
            line(Seen("/private/", f"Evil{evil}bot/1.0", address=evil)),
        ]
    head = log_lines.IIS_HEAD if line is log_lines.iis else ""
    found = report(*lines, "\x1b[31mbad", head=head, rules_name="a\x1b", site="\x1b<b>")
    assert len(found.crawlers) >= 2
    for text in outputs(found):
        assert not DANGEROUS.search(text), DANGEROUS.search(text)
    page = log_page(found)
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>" not in html.unescape(re.sub(r"<b>[\d,.% ]+</b>", "", page)) or "&lt;b&gt;" in page
    cells = re.findall(r"(?m)(?:^|,)(?!\")([^,\n]+)", csv_text(found, "violations"))
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]
    assert all(
        len(rule_url.url) <= 300
        for one in found.violators
        for rule in one.rules
        for rule_url in rule.urls
    )


def test_lines_of_a_mebibyte_and_endless_lines() -> None:
    """A long line is read if it has up to 1 MiB, and counted otherwise; memory stays small."""
    long = combined(Seen("/private/" + "a" * 1_000_000))
    too_long = combined(Seen("/private/" + "b" * 1_200_000))
    agent = combined(Seen("/private/", "x" * 900_000 + "bot"))
    found = report(Seen(), long, too_long, agent, Seen("/private/"))
    assert found.files[0].unread == 1
    assert (found.crawlers[0].requests, found.crawlers[0].violations) == (3, 2)

    def endless() -> Iterator[bytes]:
        yield (combined(Seen()) + "\n").encode()
        for _ in range(300):
            yield b"a" * 100_000

    tracemalloc.start()
    found = read_logs([LogInput("a", endless())])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.requests, found.files[0].unread) == (1, 1)
    assert peak < 20_000_000


def test_a_gzip_bomb_ends_early() -> None:
    """What expands more than 250 times is not read on."""
    bomb = gzip.compress((combined(Seen()) + "\n").encode() + b"a" * 100_000_000)
    found = read_logs(
        [LogInput("bomb.gz", [bomb[at : at + 16384] for at in range(0, len(bomb), 16384)])]
    )
    assert "expands to more than" in found.files[0].error
    assert found.requests == 1


def test_random_bytes_never_raise() -> None:
    """Damaged lines of every format give a report, or an error about the format."""
    chance = random.Random(20)
    makers = [combined, log_lines.nginx_json, log_lines.caddy, log_lines.iis, log_lines.alb]
    for _ in range(150):
        maker = chance.choice(makers)
        head = log_lines.IIS_HEAD if maker is log_lines.iis else ""
        lines = [maker(Seen(f"/private/{number}", at=NOON + number)) for number in range(9)]
        octets = bytearray((head + "\n".join(lines)).encode())
        for _ in range(chance.randrange(1, 60)):
            octets[chance.randrange(len(octets))] = chance.choice(b'\x00\xff"\\\n {}[]#\t:/9a')
        try:
            found = read_logs(
                [LogInput("a", [bytes(octets)])], rules(), since=chance.choice((None, 0.0))
            )
        except LogFormatError:
            continue
        for text in outputs(found):
            assert not DANGEROUS.search(text)


@pytest.mark.parametrize(
    "line",
    [
        '{"a":' * 5000,
        '{"time":"2026-10-01","uri":"/",' + ",".join(f'"k{n}":1' for n in range(9000)) + "}",
        '{"ts": 1e999, "uri": "/a"}',
        '{"ts": ' + "9" * 6000 + ', "uri": "/a"}',
        '{"ts": NaN, "uri": "/a"}',
        '{"time": "2026-10-01T12:00:00Z", "request": {"uri": {"a": 1}}, "user_agent": ["x"]}',
        '{"time": "2026-10-01T12:00:00Z", "uri": "\\ud800", "user_agent": "\\ud800bot"}',
        '{"user_agent": "Googlebot", "user_agent": "\\u0047PTBot/1 bot", "time": 1790856000}',
        "[1]",
        "{}",
        "{",
        'null {"user_agent": "Googlebot"}',
    ],
)
def test_odd_json(line: str) -> None:
    """Deep, wide, huge and half objects are lines like any other."""
    good = log_lines.caddy(Seen("/private/"))
    found = report(good, line, good, good)
    assert found.crawlers[0].requests >= 3
    report(line, good, good)


def test_escapes_in_json_do_not_hide_a_crawler() -> None:
    """A User-Agent is the same with escapes, and one in a URL is not taken for it."""
    line = log_lines.nginx_json(Seen("/private/"))
    escaped = line.replace("Googlebot", "\\u0047ooglebot").replace("/", "\\/")
    inside = log_lines.nginx_json(Seen('/a","http_user_agent":"GPTBot/1.0', agent="Firefox"))
    found = report(line, line, escaped, inside)
    assert [(one.name, one.violations) for one in found.crawlers] == [("Googlebot", 3)]


def test_tables_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is beyond a limit is counted together or as a lower bound, and a note says so."""
    for module, name, limit in (
        (counting, "MOST_OTHER_BOTS", 3),
        (counting, "MOST_AGENTS", 4),
        (counting, "MOST_ADDRESSES", 5),
        (counting, "MOST_DAYS", 4),
        (counting, "MOST_HOSTS", 2),
        (tallies, "MOST_URLS", 10),
        (counting, "MOST_RULES", 2),
        (coverage, "MOST_SECTIONS", 2),
        (coverage, "MOST_LISTED", 3),
    ):
        monkeypatch.setattr(module, name, limit)
    lines = [Seen("/private/", f"Bot{chr(97 + number)}bot/1.0") for number in range(9)]
    lines += [Seen(f"/private/{number}", address=f"192.0.2.{number}") for number in range(20)]
    lines += [Seen("/private/0")] * 5
    lines += [Seen("/private/", at=NOON + number * 86400) for number in range(20)]
    robots = "User-agent: *\nDisallow: /private/\nDisallow: /b\nDisallow: /c\nDisallow: /d\n"
    lines += [Seen(f"/{letter}/") for letter in "bcdd"]
    found = report(*lines, robots=robots, urls=[b"/%d" % number for number in range(9)])
    google = found.crawlers[0]
    assert (found.rest, len(found.crawlers)) == (6, 4)
    assert found.requests == found.crawler_requests == len(lines)
    assert (google.addresses, google.addresses_exact) == (5, False)
    assert google.days[-1].day == "later"
    assert sum(day.requests for day in google.days) == google.requests == 49
    first, second, third = google.rules
    assert (first.urls[0].url, first.url_counts_exact) == ("/private/", False)
    assert {second.rule, third.rule} == {"Disallow: /b", "further rules"}
    assert google.missing
    assert google.missing.allowed == 3
    assert len(found.notes) == 5
    for text in outputs(found):
        assert "later" in text or "Googlebot" in text or "crawler" in text


def test_addresses_urls_and_days_share_an_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    """All crawlers together have a limit too."""
    monkeypatch.setattr(counting, "MOST_URLS_IN_ALL", 5)
    monkeypatch.setattr(counting, "MOST_ADDRESSES_IN_ALL", 7)
    lines = [
        Seen(f"/private/{number}", agent, address=f"192.0.2.{number}")
        for agent in (GOOGLEBOT, "Foo-bot/1")
        for number in range(50)
    ]
    found = report(*lines)
    assert sum(one.addresses for one in found.crawlers) == 7
    assert all(len(one.rules[0].urls) <= 13 for one in found.crawlers)
    assert all(one.violations == 50 for one in found.crawlers)


@pytest.mark.slow
def test_memory_is_flat_with_distinct_values() -> None:
    """Many distinct User-Agents, URLs and addresses take the memory of a few."""

    def peak(count: int) -> int:
        def blocks() -> Iterator[bytes]:
            for start in range(0, count, 1000):
                yield "".join(
                    combined(
                        Seen(
                            f"/private/{number}-{'x' * 90}",
                            f"Bot{number}bot/{number} (+http://a)" if number % 2 else GOOGLEBOT,
                            address=f"{number:x}",
                        )
                    )
                    + "\n"
                    for number in range(start, start + 1000)
                ).encode()

        tracemalloc.start()
        read_logs([LogInput("a", blocks())], rules())
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(120_000) < peak(50_000) * 1.3 + 10_000_000


@pytest.mark.parametrize(
    "template",
    [
        '$remote_addr - $remote_user [$time_local] "$request" $status "$http_user_agent"',
        '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"',
        "$http_x_forwarded_for $upstream_addr $remote_addr $time_iso8601 $request_uri",
        "#Fields: date time c-ip cs-uri-stem cs(User-Agent)",
    ],
)
@pytest.mark.parametrize("piece", ['"', "\\", " ", ", ", "a ", "[", '\\"', " : ", '" "', "- "])
def test_matching_takes_linear_time(template: str, piece: str) -> None:
    """No line makes a template slow, however it is repeated."""
    pattern = compile_template(template).pattern
    start = "192.0.2.1 - - [01/Oct/2026:12:00:00 +0000] "

    def seconds(size: int) -> float:
        line = (start + piece * (size // len(piece))).encode()
        best = 9.0
        for _ in range(3):
            began = time.perf_counter()
            pattern.findall(line)
            best = min(best, time.perf_counter() - began)
        return best

    assert seconds(160_000) < 16 * seconds(20_000) + 0.05
