"""What is counted of access logs: crawlers, days, violations, ages, delays, what is missing."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import pytest

import robotrules
from robotrules.operations.crawler_identity import AddressRanges, IdentityChecker
from robotrules.operations.logs import LogInput, counting, read_logs, robots_fetches
from robotrules.operations.logs.sentences import (
    describe_crawler_traffic,
    format_size,
    headline,
    share_of,
    violator_title,
)
from robotrules.operations.rule_history import RuleChange, RuleHistory
from robotrules.registries.crawlers import KnownCrawler
from tests.operations import log_lines
from tests.operations.log_lines import (
    BINGBOT,
    GOOGLEBOT,
    GPTBOT,
    NOON,
    PERSON,
    Seen,
    combined,
    report,
)
from tests.operations.resolvers import TableResolver

DAY, HOUR = 86400.0, 3600.0


def history(*changes: tuple[float, str]) -> RuleHistory:
    """Return rules that changed at times; before the first they are not known."""
    return RuleHistory(
        RuleChange(at, f"version of {at:.0f}", partial(robotrules.parse, text))
        for at, text in changes
    )


def test_who_is_a_crawler() -> None:
    """Known crawlers, others that say they are one, and people; nobody else is listed."""
    agents = [
        GOOGLEBOT,
        "Mozilla/5.0 (iPhone) Safari/604.1 (compatible; Googlebot/2.1; +http://www.google.com/b)",
        "FooBot/1.0 (+https://foo.example/)",
        "Mozilla/5.0 (compatible; Bar-Spider/2; +http://bar.example)",
        "foobot",
        "Checker/3.1 (+https://example.com/about)",
        PERSON,
        "Mozilla/5.0 (Linux; Android 9; CUBOT_X19 Build/P) Chrome/100.0 Mobile",
        "curl/8.5.0",
        "-",
        "",
    ]
    found = report(*(Seen(agent=agent) for agent in agents))
    assert {one.name: (one.requests, one.is_known) for one in found.crawlers} == {
        "Googlebot": (2, True),
        "FooBot": (2, False),
        "Bar-Spider": (1, False),
        "Checker": (1, False),
    }
    assert (found.requests, found.people, found.crawler_requests) == (11, 5, 6)
    assert found.crawlers[1].operator == "Google" or found.crawlers[0].operator == "Google"


def test_days_bytes_and_status() -> None:
    """Each day has its requests, bytes and classes of status."""
    lines: list[Seen | str] = [
        Seen(status=200, size=10),
        Seen(status=304, size=0),
        Seen(at=NOON + DAY, status=503, size=5),
        Seen(at=NOON + DAY, status=99, size=5),
        combined(Seen(at=NOON + DAY)).replace(" 512 ", " - "),
        combined(Seen(at=NOON + DAY)).replace(" 512 ", f" {'9' * 400} "),
    ]
    [crawler] = report(*lines).crawlers
    assert [tuple(day) for day in crawler.days] == [
        ("2026-10-01", 2, 10, (0, 1, 1, 0, 0, 0), 0),
        ("2026-10-02", 4, 10, (0, 2, 0, 0, 1, 1), 0),
    ]


def test_violations_have_rule_line_and_urls() -> None:
    """A named group and the group for all; the most frequent URLs first, without query values."""
    lines = [Seen("/private/a?key=secret&b=2;c", status=403), *[Seen("/private/b")] * 3]
    lines += [Seen("/x", GPTBOT), Seen("/robots.txt", GPTBOT), Seen("/ok")]
    found = report(*lines)
    assert [(one.name, one.violations) for one in found.violators] == [
        ("Googlebot", 4),
        ("GPTBot", 1),
    ]
    google, gpt = (one.rules for one in found.violators)
    assert (google[0].rule, google[0].line, google[0].requests, google[0].served) == (
        *("Disallow: /private/", 2, 4, 3),
    )
    assert [tuple(url) for url in google[0].urls] == [
        ("/private/b", 3),
        ("/private/a?key=…&b=…;c", 1),
    ]
    assert (gpt[0].rule, gpt[0].line, gpt[0].source) == ("Disallow: /", 6, "robots.txt")
    assert google[0].first == google[0].last == "2026-10-01T12:00:00Z"
    assert "secret" not in json.dumps(found.as_dict())


def test_a_report_names_no_visitor() -> None:
    """Addresses are counted, and are in no output."""
    lines = [Seen("/private/", address=f"203.0.113.{number}") for number in range(7)]
    lines += [Seen(agent=PERSON, address="198.51.100.99")]
    found = report(*lines)
    assert found.crawlers[0].addresses == 7
    text = json.dumps(found.as_dict())
    assert "203.0.113" not in text
    assert "198.51.100" not in text


def test_without_rules_nothing_is_judged() -> None:
    """Requests are counted; there is no violation, and no note."""
    found = report(Seen("/private/"), robots=None)
    assert (found.violations, found.notes, found.rules) == (0, (), "")
    assert "asks" not in headline(found)


def test_the_age_of_a_robots_txt() -> None:
    """It is the time since the crawler's own last successful request for it in this log."""
    start = NOON
    lines = [
        Seen("/private/0", at=start),
        Seen("/robots.txt", at=start + 10),
        Seen("/private/1", at=start + 20),
        Seen("/robots.txt", at=start + 30, status=500),
        Seen("/robots.txt", at=start + 35, agent=BINGBOT),
        Seen("/private/2", at=start + 10 + 2 * HOUR),
        Seen("/private/3", at=start + 10 + 30 * HOUR),
        Seen("/robots.txt?x", at=start + 31 * HOUR, status=304),
        Seen("/private/4", at=start + 31 * HOUR),
    ]
    google, _ = report(*lines).crawlers
    assert google.name == "Googlebot"
    ages = google.ages
    assert (ages.up_to_hour, ages.up_to_day, ages.older, ages.unknown) == (2, 1, 1, 1)
    assert ages.oldest == 30 * HOUR
    assert google.robots_requests == 3


def test_crawlers_share_a_robots_txt() -> None:
    """Googlebot-Image obeys the groups of Googlebot, and uses its copy; Bingbot does not."""
    image = "Googlebot-Image/1.0"
    lines = [Seen("/robots.txt"), Seen("/private/", image, at=NOON + 60)]
    lines += [Seen("/private/", BINGBOT, at=NOON + 60)]
    found = {one.name: one.ages for one in report(*lines).crawlers}
    assert (found["Googlebot-Image"].oldest, found["Googlebot-Image"].unknown) == (60.0, 0)
    assert (found["bingbot"].oldest, found["bingbot"].unknown) == (None, 1)


def test_a_crawler_may_use_an_older_file_for_a_day() -> None:
    """What an older file allowed is no violation for a day, unless it saw the new one."""
    rules = history(
        (NOON - 9 * DAY, "User-agent: *\nAllow: /"), (NOON, "User-agent: *\nDisallow: /")
    )
    lines = [
        Seen("/before", at=NOON - 1),
        Seen("/within", at=NOON + HOUR),
        Seen("/robots.txt", at=NOON + 2 * HOUR, agent=BINGBOT),
        Seen("/knew", at=NOON + 3 * HOUR, agent=BINGBOT),
        Seen("/late", at=NOON + DAY + 1),
    ]
    google, bing = sorted(report(*lines, rules=rules).crawlers)
    assert (google.violations, google.in_transition) == (1, 1)
    assert google.rules[0].urls[0].url == "/late"
    assert google.rules[0].source == f"version of {NOON:.0f}"
    assert (bing.violations, bing.in_transition) == (1, 0)


def test_rules_that_are_not_known_judge_nobody() -> None:
    """Requests before the first version are counted in a note, and those of the day after it."""
    rules = history((NOON, "User-agent: *\nDisallow: /"))
    lines = [Seen(at=NOON - 1), Seen(at=NOON + 1), Seen(at=NOON + DAY + 1)]
    found = report(*lines, rules=rules)
    [crawler] = found.crawlers
    assert (crawler.violations, crawler.in_transition) == (1, 1)
    assert found.notes == ("1 request was made when the rules were not known, and is not judged.",)
    two = report(Seen(at=NOON - 1), Seen(at=NOON - 2), rules=rules)
    assert two.notes == ("2 requests were made when the rules were not known, and are not judged.",)


def test_the_delay_between_requests() -> None:
    """Intervals certainly shorter than Crawl-delay are counted; logs round seconds down."""
    times = [0, 9, 19, 29, 29, 28, 89]
    [crawler] = report(*(Seen(at=NOON + at) for at in times)).crawlers
    delay = crawler.delay
    assert (delay.asked, delay.line, delay.gaps, delay.sooner) == (10.0, 3, 6, 3)
    assert delay.median == 8.0
    fine = [log_lines.caddy(Seen(at=NOON + at)) for at in (0, 9.9, 19.9)]
    assert report(*fine).crawlers[0].delay.sooner == 1
    assert report(Seen(), robots="User-agent: *\nDisallow:").crawlers[0].delay.asked is None


def test_sections_that_others_fetch() -> None:
    """A folder counts if two other crawlers got it, and this one may fetch it."""
    agents = (GOOGLEBOT, BINGBOT, GPTBOT)
    lines = [Seen(f"/{name}/x", agent) for name in ("blog", "private") for agent in agents]
    lines += [Seen("/shop/x", GOOGLEBOT), Seen("/shop/x", GPTBOT), Seen("/blog/y?z=/a/", BINGBOT)]
    lines += [Seen("/gone/x", agent, status=404) for agent in (GOOGLEBOT, GPTBOT)]
    lines += [Seen("/only/x", GPTBOT), Seen("/flat", GPTBOT), Seen("/?a/b", GOOGLEBOT)]
    found = {one.name: one.missing for one in report(*lines).crawlers}
    assert found["bingbot"] == (2, 1, ("/shop/",))
    assert found["Googlebot"] == (1, 0, ())
    assert found["GPTBot"] is None
    unjudged = {one.name: one.missing for one in report(*lines, robots=None).crawlers}
    assert unjudged["bingbot"] == (3, 1, ("/shop/",))


def test_urls_that_a_crawler_never_fetched() -> None:
    """Those of a list, in any spelling and with any host; what it may not fetch does not count."""
    urls = [
        b"https://www.example.com/a#b",
        b"/%7euser",
        b"/private/x",
        b"/c?d=1",
        b"/a",
        b"http://x",
    ]
    lines = [Seen("/a"), Seen("/~user"), Seen("/%63?d=1", BINGBOT), Seen("/x", "FooBot/1 (+http:)")]
    found = {one.name: one.missing for one in report(*lines, urls=urls).crawlers}
    assert found["Googlebot"] == (4, 2, ("/c?d=…", "/"))
    assert found["bingbot"] == (4, 3, ("/a", "/%7euser", "/"))
    assert found["FooBot"] is None
    assert report(*lines, urls=urls).missing_of == "URLs"
    assert report(*lines, urls=[]).crawlers[0].missing is None


def test_impostors_are_told_from_crawlers() -> None:
    """Violations count as verified, of an impostor, or not verified."""
    checker = IdentityChecker(AddressRanges({"Googlebot": ["192.0.2.0/28"]}))
    lines = [Seen("/private/", address="192.0.2.1")] * 2
    lines += [Seen("/private/", address="203.0.113.1"), Seen("/private/", address="proxy\x1b")]
    lines += [Seen("/x", GPTBOT), Seen("/private/", "FooBot/1.0 (+http://foo.example)")]
    lines += [Seen("/ok", BINGBOT)]
    found = {one.name: one.identities for one in report(*lines, identity=checker).crawlers}
    assert found == {
        "Googlebot": (2, 1, 0),
        "impostors of Googlebot": (0, 0, 1),
        "GPTBot": (0, 1, 0),
        "FooBot": (0, 1, 0),
        "bingbot": None,
    }


def test_ranges_divide_all_requests() -> None:
    """Requests from elsewhere have counts, ages and sections of their own, also under `wanted`."""
    checker = IdentityChecker(AddressRanges({"Googlebot": ["192.0.2.0/28"]}))
    ours, other = "192.0.2.1", "203.0.113.1"
    lines = [Seen("/robots.txt", address=ours), Seen("/news/a", address=ours, size=7)]
    lines += [Seen("/shop/a", address=other, size=5)] * 3
    lines += [Seen("/private/", address=other, size=5), Seen("/news/a", GPTBOT, address=other)]
    lines += [Seen("/shop/a", agent) for agent in (BINGBOT, "A-bot/1")]
    found = report(*lines, identity=checker, rules_name="r")
    rows = {one.name: one for one in found.crawlers}
    google, fake = rows["Googlebot"], rows["impostors of Googlebot"]
    assert (google.requests, google.octets, google.addresses) == (2, 519, 1)
    assert (google.violations, google.identities, google.missing) == (0, None, (1, 1, ("/shop/",)))
    assert (fake.requests, fake.octets, fake.addresses, fake.impostor_of) == (4, 20, 1, "Googlebot")
    assert (fake.is_known, fake.violations, fake.missing, fake.operator) == (False, 1, None, "")
    # That the crawler requested /robots.txt says nothing about others.
    assert (fake.robots_requests, fake.ages.unknown) == (0, 1)
    assert fake.rules[0].identities == (0, 0, 1)
    assert found.crawler_requests + found.as_dict()["impostor_requests"] == found.requests == 9
    assert (found.impostor_requests, found.impostor_violations) == (
        {"Googlebot": 4},
        {"Googlebot": 1},
    )
    only = report(*lines, identity=checker, wanted=lambda name, known: name == "Googlebot")
    assert [one.name for one in only.crawlers] == ["impostors of Googlebot", "Googlebot"]


def test_addresses_of_impostors_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known addresses are not checked again; beyond the limit, each still counts in its row."""
    monkeypatch.setattr(counting, "MOST_ADDRESSES", 2)
    checker = IdentityChecker(AddressRanges({"Googlebot": ["192.0.2.0/28"]}))
    asked: list[str] = []
    check = checker.is_outside_ranges

    def counted(crawler: KnownCrawler, address: str) -> bool:
        asked.append(address)
        return check(crawler, address)

    monkeypatch.setattr(checker, "is_outside_ranges", counted)
    lines = [Seen("/private/", address=f"203.0.113.{number % 3}") for number in range(9)]
    lines += [Seen("/private/", address="192.0.2.1")] * 4
    found = {one.name: one for one in report(*lines, identity=checker).crawlers}
    assert len(asked) == 2 + 3 + 1
    assert found["impostors of Googlebot"].identities == (0, 0, 9)
    assert found["Googlebot"].identities == (4, 0, 0)


def test_host_names_tell_impostors_among_violations() -> None:
    """Without ranges, the row of the crawler has both, and neither sentence nor table blames it."""
    names = {"8.8.4.1": ["crawl.example"], "66.249.66.1": ["a.googlebot.com"]}
    resolver = TableResolver(names, {"a.googlebot.com": ["66.249.66.1"]})
    checker = IdentityChecker(verify_dns=True, resolver=resolver)
    lines = [Seen("/private/", address="8.8.4.1")] * 2 + [Seen("/x", address="8.8.4.9")]
    found = report(*lines, identity=checker, rules_name="r")
    [google] = found.crawlers
    assert (google.violations, google.row_violations, google.identities) == (2, 0, (0, 0, 2))
    assert google.rules[0].identities == (0, 0, 2)
    assert "8.8.4.9" not in resolver.asked
    assert violator_title(google) == ("impostors of Googlebot", "2 requests")
    assert headline(found).endswith(
        "It fetched no URL that robots.txt asks it not to fetch; 2 such requests only claimed to "
        "be Googlebot."
    )
    assert not [words for words in describe_crawler_traffic(google) if "age of" in words]
    lines += [Seen("/private/", address="66.249.66.1")]
    found = report(*lines, identity=checker, rules_name="r")
    [google] = found.crawlers
    assert violator_title(google) == ("Googlebot", "1 request, and 2 of impostors")
    assert (found.own_violations, found.has_uncounted_impostors) == ({"Googlebot": 1}, True)
    # Ranges that are out of date are contradicted by the DNS.
    ranges = AddressRanges({"Googlebot": ["192.0.2.0/28"]})
    checker = IdentityChecker(ranges, verify_dns=True, resolver=resolver)
    found = report(*lines, identity=checker, rules_name="r")
    assert (found.own_violations, found.impostor_violations) == ({"Googlebot": 1}, {"Googlebot": 2})
    assert "the address ranges are out of date, download them again" in found.notes[0]


def test_impostors_get_no_day_for_an_older_file() -> None:
    """A crawler may use an older file for a day; who only has its name has no file."""
    changes = history(
        (NOON - DAY * 9, "User-agent: *\nAllow: /"), (NOON, "User-agent: *\nDisallow: /")
    )
    checker = IdentityChecker(AddressRanges({"Googlebot": ["192.0.2.0/28"]}))
    lines = [Seen("/a", at=NOON + 9, address=one) for one in ("192.0.2.1", "203.0.113.1")]
    found = {one.name: one for one in report(*lines, rules=changes, identity=checker).crawlers}
    assert (found["Googlebot"].violations, found["Googlebot"].in_transition) == (0, 1)
    fake = found["impostors of Googlebot"]
    assert (fake.violations, fake.in_transition) == (1, 0)


def test_crawlers_and_times_are_chosen() -> None:
    """The others are left out, and of people those outside of the time."""
    lines = [Seen(), Seen(agent=GPTBOT), Seen(agent=PERSON), Seen(at=NOON + DAY)]
    lines += [Seen(agent=PERSON, at=NOON + DAY)]
    found = report(*lines, wanted=lambda name, known: name == "GPTBot")
    assert ([one.name for one in found.crawlers], found.left_out) == (["GPTBot"], 2)
    assert (found.requests, found.people) == (5, 2)
    found = report(*lines, since=NOON + 1, until=NOON + 2 * DAY)
    assert (found.requests, found.people, found.left_out) == (2, 1, 3)
    assert report(*lines, until=NOON).requests == 0


def test_rotated_files_are_read_in_the_order_of_time(tmp_path: Path) -> None:
    """The names and their order do not matter; each file is detected by itself."""
    first, second, third, empty = (tmp_path / name for name in ("z.log", "a.gz", "m.log", "empty"))
    first.write_text(combined(Seen("/robots.txt")) + "\n")
    second.write_bytes(gzip.compress(log_lines.caddy(Seen("/private/1", at=NOON + 60)).encode()))
    third.write_text(log_lines.IIS_HEAD + log_lines.iis(Seen("/private/2", at=NOON + 90)) + "\n")
    empty.write_text("")
    names = [str(path) for path in (third, empty, second, first)]
    late = LogInput("late", [(combined(Seen("/private/3", at=NOON + 99)) + "\n").encode()])
    found = read_logs([late, *names], log_lines.rules())
    assert [file.form for file in found.files] == [
        *("combined", "JSON lines", "W3C extended", "combined", ""),
    ]
    assert found.crawlers[0].ages.up_to_hour == 3
    with pytest.raises(FileNotFoundError):
        read_logs([str(tmp_path / "none")])


def test_progress_is_called() -> None:
    """With the requests and bytes of each chunk."""
    calls: list[tuple[int, int]] = []
    octets = (combined(Seen(agent=PERSON)) + "\n").encode() * 3000
    blocks = [octets[at : at + 100_000] for at in range(0, len(octets), 100_000)]
    read_logs([LogInput("a", blocks)], progress=lambda *counts: calls.append(counts))
    assert len(calls) > 3
    assert (sum(one for one, _ in calls), sum(one for _, one in calls)) == (3000, len(octets))


def test_the_headline() -> None:
    """It says when, who, how much, and who did not obey, in sentences."""
    assert headline(report()) == "No request was found in the log."
    person = report(Seen(agent=PERSON))
    assert headline(person) == "1 request, and no crawler made any of them."
    late = report(Seen(), Seen(), since=NOON + 1)
    assert headline(late) == "2 requests, and none at the chosen time and host."
    nobody = report(Seen(), wanted=lambda name, known: False)
    assert headline(nobody) == "1 request, and no chosen crawler made any of them."
    people = [Seen(agent=PERSON)] * 9
    assert headline(report(Seen(), *people, rules_name="robots.txt")) == (
        "On 2026-10-01, 1 well-known crawler made 1 request (10 % of all). It fetched no URL that "
        "robots.txt asks it not to fetch."
    )
    assert headline(report(Seen(), Seen(agent=BINGBOT), rules_name="r")).endswith(
        "None of them fetched a URL that robots.txt asks it not to fetch."
    )
    agents = (GPTBOT, "FooBot/1 (+http://a)", GOOGLEBOT, BINGBOT, "Bar-bot")
    lines = [
        Seen("/private/", agent, at=NOON + DAY * number)
        for number, agent in enumerate(agents)
        for _ in range(9 - number)
    ]
    assert headline(report(*lines, rules_name="robots.txt")) == (
        "From 2026-10-01 to 2026-10-05, 3 well-known crawlers made 22 requests (63 % of all). 2 "
        "others said to be crawlers. 5 of them fetched URLs that robots.txt asks them not to "
        "fetch: GPTBot (9), FooBot (8), Googlebot (7) and 2 more."
    )
    month = [Seen("/private/", GPTBOT), Seen("/private/", at=NOON + 30 * DAY)]
    assert headline(report(*month, rules_name="robots.txt")).endswith(
        "asks them not to fetch: GPTBot (1) and Googlebot (1)."
    )
    assert headline(report(*month)).startswith("In October 2026, 2 well-known")
    checker = IdentityChecker(AddressRanges({"Googlebot": ["203.0.113.0/28"]}))
    lines = [Seen("/private/"), Seen("/private/", GPTBOT)]
    assert headline(report(*lines, Seen(agent=BINGBOT), rules_name="r", identity=checker)) == (
        "On 2026-10-01, 2 well-known crawlers made 2 requests (67 % of all). 1 further request "
        "only claimed to be Googlebot. 1 of the crawlers fetched URLs that robots.txt asks it not "
        "to fetch: GPTBot (1); 1 more such request only claimed to be Googlebot."
    )
    nobody_obeyed = headline(report(*lines[:1], rules_name="r", identity=checker))
    assert (
        "No crawler is known to have fetched a URL that robots.txt asks it not to" in nobody_obeyed
    )
    ranges = {"Googlebot": ["203.0.113.0/28"], "GPTBot": ["203.0.113.0/28"]}
    both = IdentityChecker(AddressRanges(ranges))
    lines += [Seen(agent=agent, address="203.0.113.1") for agent in (GOOGLEBOT, BINGBOT)]
    assert headline(report(*lines, rules_name="r", identity=both)).endswith(
        "None of the crawlers fetched a URL that robots.txt asks it not to fetch; 2 such requests "
        "only claimed to be GPTBot (1) and Googlebot (1)."
    )


@pytest.mark.parametrize(
    ("octets", "shown"),
    [
        *((0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (9_949_999, "9.9 MB")),
        *((10_000_000, "10 MB"), (999_600, "1.0 MB"), (5 * 10**18, "5,000 PB")),
    ],
)
def test_sizes(octets: int, shown: str) -> None:
    """Bytes in decimal units, with two digits."""
    assert format_size(octets) == shown


def test_shares() -> None:
    """A share that is not zero is not shown as zero."""
    shares = [share_of(part, 10_000) for part in (0, 1, 10, 949, 950, 10_000)]
    assert shares == ["0 %", "<0.1 %", "0.1 %", "9.5 %", "10 %", "100 %"]


CHANGED = ((NOON - 9 * DAY, "User-agent: *\nAllow: /"), (NOON, "User-agent: *\nDisallow: /"))


def test_a_later_request_for_robots_txt_proves_nothing() -> None:
    """Logs of two servers overlap, and lines may be out of order: only earlier requests count."""
    first = [Seen("/robots.txt", at=NOON + HOUR), Seen("/b", at=NOON + 2 * HOUR)]
    second = [Seen("/a", at=NOON + 60), Seen("/c", at=NOON + 3 * HOUR)]
    for lines in ([first[0], second[0]], [*first[:1], *second[:1]]):
        [crawler] = report(*lines, rules=history(*CHANGED)).crawlers
        assert (crawler.violations, crawler.in_transition) == (0, 1)
    inputs = [
        LogInput(name, ["".join(f"{combined(one)}\n" for one in lines).encode()])
        for name, lines in (("a", [Seen("/x", at=NOON - 9), *first]), ("b", second))
    ]
    [crawler] = read_logs(inputs, history(*CHANGED)).crawlers
    assert (crawler.violations, crawler.in_transition) == (2, 1)
    # Also of many times that are known, the last one before the request counts.
    many = [Seen("/robots.txt", at=NOON + HOUR * number) for number in range(1, 20)]
    [crawler] = report(*many, Seen("/private/", at=NOON + 90 * 60)).crawlers
    assert crawler.ages.oldest == 30 * 60
    [crawler] = report(*many, Seen("/private/", at=NOON)).crawlers
    assert crawler.ages.unknown == 1


def test_others_do_not_shorten_the_day_of_a_crawler() -> None:
    """Anyone can request /robots.txt under its name; an address next to it is the crawler's."""
    page = Seen("/a", at=NOON + 2 * HOUR, address="192.0.2.7")
    fetch = Seen("/robots.txt", at=NOON + HOUR)
    expected = {
        "192.0.2.7": 1,
        "192.0.2.200": 1,
        "::ffff:192.0.2.9": 1,
        "192.0.3.7": 0,
        "2001:db8::7": 0,
        "someone": 0,
    }
    for address, violations in expected.items():
        lines = [fetch._replace(address=address), page]
        [crawler] = report(*lines, rules=history(*CHANGED)).crawlers
        assert (crawler.violations, crawler.in_transition) == (violations, 1 - violations), address
        assert report(*lines).crawlers[0].robots_requests == 1
    lines = [fetch._replace(address="2001:db8::1"), page._replace(address="2001:db8::ff:2")]
    assert report(*lines, rules=history(*CHANGED)).violations == 1


def test_the_networks_that_are_remembered_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those seen first are forgotten, which keeps the day; the last times of each are kept."""
    monkeypatch.setattr(robots_fetches, "MOST_NETWORKS", 2)
    monkeypatch.setattr(robots_fetches, "MOST_NETWORK_TIMES", 2)
    fetches = robots_fetches.RobotsFetches()
    for number, address in enumerate([b"192.0.1.1", b"192.0.2.1", b"192.0.1.2", b"192.0.3.1"]):
        fetches.add("a", address, float(number))
    ages = [fetches.network_age(["a"], 9.0, b"192.0.%d.9" % part) for part in (1, 2, 3)]
    assert ages == [7.0, None, 6.0]
    for at in (8.0, 5.0, 7.0):
        fetches.add("a", b"192.0.3.1", at)
    assert fetches.network_age(["a"], 6.0, b"192.0.3.1") is None
    assert fetches.network_age(["a"], 7.5, b"192.0.3.1") == 0.5
    assert fetches.age(["b", "a"], 6.0) == 1.0


def test_between_two_fetches_both_files_have_to_disallow() -> None:
    """The file changed at an unknown time between two fetches; a crawler may have seen either."""
    texts = ("User-agent: *\nDisallow: /a\nDisallow: /b", "User-agent: *\nDisallow: /b")
    changes = [
        RuleChange(NOON - 9 * DAY, "one", partial(robotrules.parse, texts[0])),
        RuleChange(NOON, "two", partial(robotrules.parse, texts[1]), changed_after=NOON - HOUR),
    ]
    lines = [Seen(path, at=NOON - age * HOUR) for path in ("/a", "/b") for age in (2, 0.5)]
    [crawler] = report(*sorted(lines, key=lambda one: one.at), rules=RuleHistory(changes)).crawlers
    assert (crawler.violations, crawler.in_transition) == (3, 1)
    lost = changes[1]._replace(load=lambda: None)
    rules = RuleHistory([changes[0], lost])
    assert report(Seen("/b", at=NOON - 60), rules=rules).violations == 0


def test_urls_of_other_hosts_in_a_list_are_left_out() -> None:
    """With the host of the site; they are counted in a note."""
    urls = [b"https://www.example.com:443/a", b"http://WWW.example.com?b", b"/c"]
    urls += [b"https://other.example/a", b"https://other.example?x"]
    found = report(Seen("/a"), urls=urls, host="www.example.com")
    assert found.crawlers[0].missing == (3, 2, ("/", "/c"))
    assert found.notes == ("2 URLs of the list are of other hosts, and are left out.",)
    assert report(Seen("/a"), urls=urls).notes == ()


def test_rules_that_were_not_fetched_for_long_are_told() -> None:
    """A file that was fetched in January says little about October."""
    changes = [RuleChange(NOON - 9 * DAY, "one", partial(robotrules.parse, "User-agent: *"))]
    rules = RuleHistory(changes, last_fetch=NOON - 2 * DAY).loaded()
    assert report(Seen(at=NOON - 2 * DAY + HOUR), rules=rules).notes == ()
    assert report(Seen(), rules=rules).notes == (
        "robots.txt was fetched last at 2026-09-29T12:00:00Z: later requests are judged by what "
        "was found then, although it may have changed.",
    )
