"""Formats of access logs: each is detected, and gives the same request."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from robotrules.operations.crawler_identity import AddressRanges, IdentityChecker
from robotrules.operations.logs import LogFormatError, LogInput, read_logs
from robotrules.operations.logs.entries import LogTimes
from robotrules.operations.logs.templates import TemplateError, compile_template
from tests.operations import log_lines
from tests.operations.log_lines import GOOGLEBOT, GPTBOT, NOON, PERSON, Seen, combined, report

COMBINED_TEMPLATE = (
    "$remote_addr - $remote_user [$time_local] "
    '"$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'
)
Line = Callable[[Seen], str]
FORMATS: dict[str, tuple[Line, str, str]] = {
    "combined": (combined, "", ""),
    "combined, by name": (combined, "", "combined"),
    "combined, by template": (combined, "", COMBINED_TEMPLATE),
    "combined, as in a configuration": (
        combined,
        "",
        "log_format main '$remote_addr - $remote_user [$time_local] \"$request\" '\n"
        '    \'$status $body_bytes_sent "$http_referer" "$http_user_agent"\';',
    ),
    "Apache": (combined, "", '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"'),
    "Apache, as in a configuration": (
        combined,
        "",
        r'LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" combined',
    ),
    "virtual host": (lambda seen: f"{seen.host}:443 {combined(seen)}", "", ""),
    "virtual host without a port": (lambda seen: f"{seen.host} {combined(seen)}", "", ""),
    "virtual host, by name": (lambda seen: f"{seen.host}:443 {combined(seen)}", "", "vhost"),
    "syslog": (lambda seen: f"<134>Oct  1 12:00:00 web nginx: {combined(seen)}", "", ""),
    "more fields": (lambda seen: f'{combined(seen)} "198.51.100.9" 0.004 "x y"', "", ""),
    "nginx JSON": (log_lines.nginx_json, "", ""),
    "JSON, by name": (log_lines.nginx_json, "", "json"),
    "Caddy": (log_lines.caddy, "", ""),
    "Traefik": (log_lines.traefik, "", ""),
    "Cloudflare": (log_lines.cloudflare, "", ""),
    "Elastic": (log_lines.elastic, "", ""),
    "Google Cloud": (log_lines.google_cloud, "", ""),
    "IIS": (log_lines.iis, log_lines.IIS_HEAD, ""),
    "IIS, by name": (log_lines.iis, log_lines.IIS_HEAD, "w3c"),
    "CloudFront": (log_lines.cloudfront, log_lines.CLOUDFRONT_HEAD, ""),
    "CloudFront without its head": (
        log_lines.cloudfront,
        "",
        log_lines.CLOUDFRONT_HEAD.splitlines()[1],
    ),
    "ALB": (log_lines.alb, "", ""),
    "msec, and a list of addresses": (
        lambda seen: (
            f"{seen.at:.3f}|{seen.address}|198.51.100.1, 198.51.100.2 {seen.status} "
            f'{seen.size} 0.1, 0.2 : 0.3 GET {seen.target} "{seen.agent}"'
        ),
        "",
        "$msec|$remote_addr|$http_x_forwarded_for $status $body_bytes_sent "
        '$upstream_response_time $request_method $request_uri "${http_user_agent}"',
    ),
    "path and query apart": (
        lambda seen: (
            f"{seen.address} {seen.time('%Y-%m-%dT%H:%M:%S+00:00')} a b {seen.status} "
            f"{seen.target.replace('?', ' ?')} {seen.size} {seen.agent}"
        ),
        "",
        "%a %{%Y-%m-%dT%H:%M:%S+00:00}t %{e}e %{f}e %>s %U %q %B %{User-Agent}i",
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_request(name: str) -> None:
    """Crawler, day, status, bytes, URL and address are read in every format."""
    line, head, log_format = FORMATS[name]
    seen = Seen("/private/x?key=1", at=NOON, status=404, size=77)
    found = report(line(seen), line(Seen(agent=PERSON)), head=head, log_format=log_format)
    assert [file.unread for file in found.files] == [0]
    assert (found.requests, found.people) == (2, 1)
    [crawler] = found.crawlers
    assert (crawler.name, crawler.requests, crawler.octets) == ("Googlebot", 1, 77)
    assert (crawler.statuses, crawler.addresses) == ((0, 0, 0, 1, 0, 0), 1)
    assert [day.day for day in crawler.days] == ["2026-10-01"]
    assert found.first[:16] == "2026-10-01T12:00"
    [rule] = crawler.rules
    assert (rule.rule, rule.line, rule.served) == ("Disallow: /private/", 2, 0)
    [url] = rule.urls
    assert url.url.endswith("/private/x?key=…")
    assert url.requests == 1


@pytest.mark.parametrize(
    "name", ["virtual host", "Caddy", "IIS", "CloudFront", "Traefik", "ALB", "Google Cloud"]
)
def test_a_host_of_the_log_chooses_requests(name: str) -> None:
    """With a host, requests for others are left out, whoever makes them."""
    line, head, log_format = FORMATS[name]
    other = Seen(host="other.example")
    lines = [
        line(Seen()),
        line(other),
        line(other._replace(agent=PERSON)),
        line(Seen(agent=PERSON)),
    ]
    found = report(*lines, head=head, log_format=log_format, host="www.EXAMPLE.com")
    assert (found.requests, found.people, found.left_out) == (2, 1, 2)
    hosts = report(*lines, head=head, log_format=log_format).hosts
    assert hosts[-1].startswith("www.example.com")


def test_a_log_without_a_user_agent_is_said() -> None:
    """In the common format no crawler can be recognized."""
    line = combined(Seen()).partition(' "-"')[0]
    found = report(line)
    assert found.files[0].form == "common"
    assert (found.requests, found.people, found.crawlers) == (1, 1, ())
    assert "no User-Agent" in found.notes[0]
    assert "no User-Agent" in report(line, log_format="common").notes[0]
    bare = '{"time": "2026-10-01T12:00:00Z", "uri": "/a", "status": 200}'
    assert "no User-Agent" in report(bare).notes[0]


def test_fields_may_change_in_a_w3c_log() -> None:
    """IIS writes a new #Fields line after a restart; lines before it have the old fields."""
    lines = [log_lines.iis(Seen("/private/1")), "#Software: Microsoft"]
    lines += ["#Fields: time date cs-uri-stem sc-status c-ip cs(User-Agent)"]
    lines += [f"12:00:01 2026-10-01 /private/2 200 192.0.2.8 {GOOGLEBOT.replace(' ', '+')}"]
    lines += ["#Fields:", "a b c"]
    found = report(*lines, head=log_lines.IIS_HEAD)
    [crawler] = found.crawlers
    assert (crawler.requests, crawler.addresses) == (2, 2)
    assert {url.url for url in crawler.rules[0].urls} == {"/private/1", "/private/2"}
    assert found.files[0].unread == 2
    assert [example.line for example in found.files[0].examples] == [9, 10]


def test_w3c_lines_before_their_fields_are_not_read() -> None:
    """A rotated log may begin in the middle."""
    found = report(log_lines.iis(Seen()), log_lines.IIS_HEAD.strip(), log_lines.iis(Seen()))
    assert (found.requests, found.files[0].unread) == (1, 1)


def test_an_unknown_format_is_an_error_that_says_what_to_do() -> None:
    """The error shows the first line and names the option."""
    with pytest.raises(LogFormatError, match=r"'access.log': its format is not known: pass --l"):
        report("what is this", "and this")
    with pytest.raises(LogFormatError, match="its #Fields line is missing"):
        report(log_lines.cloudfront(Seen()))
    with pytest.raises(LogFormatError, match="it is a JSON array; pass one object per line"):
        report("[", log_lines.caddy(Seen()) + ",", "]", "]")
    with pytest.raises(LogFormatError, match="no log format is called 'x\\\\x1b'"):
        report("a", log_format="x\x1b")
    with pytest.raises(LogFormatError, match="has no time"):
        report("a", log_format='$remote_addr "$request"')


def test_lines_that_do_not_fit_are_counted() -> None:
    """The first few are shown, with their numbers; blank lines and comments are not counted."""
    bad = ["x" * 300, "", "# comment", "\x1b[2Jy", combined(Seen()).replace("Oct", "Okt"), "z"]
    found = report(Seen(), *bad, Seen(agent=PERSON), log_format="combined")
    assert found.requests == 2
    [file] = found.files
    assert file.unread == 4
    assert [(one.line, one.text[:6]) for one in file.examples] == [
        (2, "xxxxxx"),
        (5, "\\x1b[2"),
        (7, "z"),
    ]
    assert len(file.examples[0].text) == 120


def test_invalid_times_are_lines_that_are_not_read() -> None:
    """A day that does not exist, and a year far away, are no request."""
    lines = [combined(Seen()).replace("01/Oct/2026", day) for day in ("32/Oct/2026", "01/Oct/9999")]
    found = report(*lines, Seen())
    assert (found.requests, found.files[0].requests, found.files[0].unread) == (1, 1, 2)
    lines = [log_lines.caddy(Seen(at=at)) for at in (NOON, 9e9, 1.0)]
    assert report(*lines).files[0].unread == 2
    # Also if the time of everyone is read.
    found = report(*lines, since=0.0)
    assert (found.requests, found.files[0].unread) == (1, 2)


@pytest.mark.parametrize(
    ("text", "at", "day"),
    [
        (b"01/Oct/2026:14:00:00 +0200", NOON, "2026-10-01"),
        (b"02/Oct/2026:01:00:00 +1300", NOON, "2026-10-02"),
        (b"30/Sep/2026:22:30:00 -1330", NOON, "2026-09-30"),
        (b"01/Oct/2026:12:00:60 +0000", NOON + 60, "2026-10-01"),
        (b"[01/Oct/2026:12:00:00.250 +0000]", NOON, "2026-10-01"),
        (b"2026-10-01T12:00:00Z", NOON, "2026-10-01"),
        (b"2026-10-01T14:00:00.5+02:00", NOON + 0.5, "2026-10-01"),
        (b"1790856000", NOON, "2026-10-01"),
        (b"1790856000.125", NOON + 0.125, "2026-10-01"),
        (b"1790856000000", NOON, "2026-10-01"),
        (b"1790856000000000", NOON, "2026-10-01"),
        (b"1790856000000000000", NOON, "2026-10-01"),
        (b"1.790856e+09", NOON, "2026-10-01"),
        (b"1.790856000e+09", NOON, "2026-10-01"),
        (b"31/Feb/2026:12:00:00 +0000", None, ""),
        (b"01/Foo/2026:12:00:00 +0000", None, ""),
        (b"01/Oct/2026:12:00:xx +0000", None, ""),
        (b"01/Oct/2026:12:00 00 +0000", None, ""),
        (b"99999999999999999999", None, ""),
        (b"9" * 500, None, ""),
        (b"01/Oct/2026:12:00:61 +0000", None, ""),
        (b"01/Oct/2026:12:00:99", None, ""),
        (b"01/Oct/2026:12:00:00 -9999", None, ""),
        (b"01/Oct/2026:12:00:00 +0160", None, ""),
        (b"2026-W40-4T12:00:00", None, ""),
        (b"20261001T120000Z", None, ""),
        (b"", None, ""),
        (b"\xff", None, ""),
    ],
)
def test_times(text: bytes, at: float | None, day: str) -> None:
    """All forms of a time are read; the day is as the log writes it."""
    for _ in range(2):  # the second one is remembered
        found = LogTimes().read(text)
        assert (found and found.at, found.day if found else "") == (at, day)


def test_times_without_a_zone() -> None:
    """They are in the zone that is passed, as is the day of a number of seconds."""
    berlin = LogTimes(ZoneInfo("Europe/Berlin"))
    assert berlin.read(b"01/Oct/2026:14:00:00") == (NOON, "2026-10-01")
    assert berlin.read(b"14:00:00", b"2026-10-01") == (NOON, "2026-10-01")
    late = datetime(2026, 10, 1, 23, 30, tzinfo=UTC).timestamp()
    assert berlin.read(b"%d" % late) == (late, "2026-10-02")
    assert LogTimes().read(b"12:00:00", b"2026-10-01") == (NOON, "2026-10-01")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("nothing", "no variable"),
        ("$time_local $status", "no request"),
        ("$remote_addr$time_local $request", "no text between remote_addr and time_local"),
        ("%h%t %r", None),
        ("%h %t", "no request"),
        ("$a " * 9000, "longer than 8,192"),
        ("$a " * 100 + "$time_local $request", "more than 90 variables"),
        ("#Fields: ", "names 0 fields"),
        ("#Fields: a b", "no time"),
        ("log_format", "no variable"),
    ],
)
def test_templates_that_cannot_be_used(template: str, words: str | None) -> None:
    """An error says what is missing."""
    if words is None:
        assert compile_template(template).columns
        return
    with pytest.raises(TemplateError, match=words):
        compile_template(template)


def test_templates_have_details() -> None:
    """Percent signs, names with blanks, IPv6 addresses before a port, and unused variables."""
    line = (
        '[2001:db8::1]:443 100% "jo hn" - [01/Oct/2026:12:00:00 +0000] "GET /private/ HTTP/1.1" "b"'
    )
    template = '%a:%{remote}p 100%% "%u" %l %t "%r" "%{User-Agent}i"'
    found = report(line.replace('"b"', f'"{GOOGLEBOT}"'), log_format=template)
    assert found.crawlers[0].violations == 1
    users = 'jo hn [01/Oct/2026:12:00:00 +0000] GET /private/ "' + GOOGLEBOT + '"'
    template = '$remote_user [$time_local] $request_method $uri "$http_user_agent"'
    assert report(users, log_format=template).crawlers[0].violations == 1
    # The time of Apache with a blank.
    spaced = '192.0.2.1 2026-10-01 12:00:00 "GET /private/ HTTP/1.1" "' + GOOGLEBOT + '"'
    template = '%h %{%Y-%m-%d %H:%M:%S}t "%r" "%{User-agent}i"'
    found = report(spaced, log_format=template)
    assert found.first == "2026-10-01T12:00:00Z"


def test_requests_that_are_no_urls_are_counted() -> None:
    """Binary requests, `*`, a host and port, and an empty request have no verdict."""
    lines = [
        combined(Seen()).replace("GET /a?x=1 HTTP/1.1", request)
        for request in (r"\x16\x03\x01", "OPTIONS * HTTP/1.1", "CONNECT a:443 HTTP/1.1", "-", "")
    ]
    [crawler] = report(*lines, robots="User-agent: *\nDisallow: /").crawlers
    assert (crawler.requests, crawler.violations) == (5, 0)


def test_targets_with_escapes_blanks_and_hosts() -> None:
    """A URL is judged as it was requested: escapes undone, with or without a host."""
    targets = [r"/private/\x22a", "/private/a b", "https://www.example.com/private/", "//private/"]
    lines = [Seen(target) for target in targets]
    [crawler] = report(*lines, host="www.example.com").crawlers
    assert [url.url for url in crawler.rules[0].urls] == [
        '/private/"a',
        "/private/a b",
        "https://www.example.com/private/",
    ]
    assert crawler.requests == 4


def test_a_gzip_file_stdin_and_utf_16(tmp_path: object) -> None:
    """The input may be compressed, in many blocks, without a line end, or in UTF-16."""
    lines = "\n".join(combined(Seen(f"/private/{number}")) for number in range(2000))
    octets = lines.encode()
    for whole in (gzip.compress(octets[:50_000]) + gzip.compress(octets[50_000:]), octets):
        blocks = [whole[start : start + 777] for start in range(0, len(whole), 777)]
        found = read_logs([LogInput("-", blocks)], log_lines.rules())
        assert found.violations == 2000
    assert report().requests == 0
    found = read_logs([LogInput("-", [lines.encode("utf-16")])], log_lines.rules())
    assert found.violations == 2000


def test_what_is_no_log_is_an_error() -> None:
    """A compressed or truncated file is named, and what was read is counted."""
    found = read_logs([LogInput("a.zip", [b"PK\x03\x04" + b"x" * 2000])])
    assert "ZIP" in found.files[0].error
    packed = gzip.compress((combined(Seen()) + "\n").encode() * 50_000)
    found = read_logs([LogInput("a.gz", [packed[:-500]])])
    assert "truncated" in found.files[0].error
    assert found.requests > 40_000


def test_a_url_in_a_json_line_is_not_taken_for_a_user_agent() -> None:
    """`url.original` has the same key as `user_agent.original`, and is what a visitor asked for."""
    lines = [log_lines.elastic(Seen("/private/GPTBot/1.0", agent=PERSON))] * 3
    found = report(log_lines.elastic(Seen("/private/Mozilla")), *lines)
    assert [(one.name, one.violations) for one in found.crawlers] == [("Googlebot", 1)]
    assert found.people == 3


def test_a_user_agent_in_json_is_unescaped_once() -> None:
    """A name that only two rounds of unescaping would show is none."""
    once = json.loads(log_lines.nginx_json(Seen("/private/", agent=PERSON)))
    lines = [json.dumps({**once, "http_user_agent": text}) for text in ("\\u0047PTBot/1", "GPTBot")]
    escaped = lines[1].replace("GPTBot", r"\u0047PTBot")
    assert [(one.name, one.requests) for one in report(*lines, escaped).crawlers] == [("GPTBot", 2)]


@pytest.mark.parametrize("first", ["no header", "another name", "another place"])
def test_fields_of_json_lines_are_found_again(first: str) -> None:
    """The first line may have no User-Agent, or another name for it, in the same object."""
    line = json.loads(log_lines.caddy(Seen("/private/x")))
    other = json.loads(log_lines.caddy(Seen("/private/y", agent=GPTBOT)))
    headers = other["request"]["headers"]
    value = headers.pop("User-Agent")
    if first == "another name":
        headers["user-agent"] = value
    elif first == "another place":
        other["request"]["user_agent"] = value[0]
        other["request"]["request_uri"] = other["request"].pop("uri")
    found = report(*map(json.dumps, (other, line, other, line)))
    expected = {"Googlebot": 2} if first == "no header" else {"Googlebot": 2, "GPTBot": 2}
    assert {one.name: one.violations for one in found.crawlers} == expected
    assert found.people == (2 if first == "no header" else 0)
    assert (found.notes, found.files[0].unread) == ((), 0)


def test_a_second_fields_line_loses_no_violation() -> None:
    """Fields that one or both of the heads lack do not get into each other."""
    lines = ["#Fields: date time cs-uri-stem sc-status c-ip cs(User-Agent) cs-host"]
    agent = GOOGLEBOT.replace(" ", "+")
    lines += [f"2026-10-01 12:00:01 /private/{n} 200 192.0.2.8 {agent} a.example" for n in "34"]
    head = "#Fields: date time cs-uri-stem cs(User-Agent)\n"
    first = [f"2026-10-01 12:00:00 /private/{n} {agent}" for n in "12"]
    [crawler] = report(*first, *lines, *lines, head=head).crawlers
    assert (crawler.requests, crawler.violations, crawler.addresses) == (6, 6, 2)
    assert crawler.statuses == (0, 4, 0, 0, 0, 2)


@pytest.mark.parametrize(
    "address",
    ["192.0.2.7:4431", "192.0.2.7, 10.0.0.1", '"192.0.2.7:1"', "[2001:db8::1]:443", "2001:db8::1"],
)
def test_addresses_have_no_port_and_no_proxies(address: str) -> None:
    """A port or the proxies of X-Forwarded-For make no other address, and it can be checked."""
    ranges = AddressRanges({"Googlebot": ["192.0.2.0/28", "2001:db8::/32"]})
    line = json.loads(log_lines.nginx_json(Seen("/private/")))
    lines = [json.dumps({**line, "remote_addr": address})] * 2
    plain = "2001:db8::1" if "db8" in address else "192.0.2.7"
    lines.append(json.dumps({**line, "remote_addr": plain}))
    [crawler] = report(*lines, identity=IdentityChecker(ranges)).crawlers
    assert crawler.addresses == 1
    assert crawler.identities is not None
    assert crawler.identities.verified == 3


def test_a_url_of_another_host_is_not_judged() -> None:
    """A server that is asked as a proxy; with a known host, or in a log of paths, it is told."""
    other, own = "http://other.example/private/", "https://www.example.com:443/private/"
    lines = [Seen("/a"), Seen("/private/"), Seen(other), Seen("http://other.example/robots.txt")]
    [crawler] = (found := report(*lines)).crawlers
    assert (crawler.requests, crawler.violations, crawler.robots_requests) == (4, 1, 0)
    assert found.notes == (
        "2 requests have a URL of another host, as for a proxy, and are not judged.",
    )
    hosts = [f"www.example.com {combined(Seen(target))}" for target in (other, own, "/private/")]
    for host in ("", "www.example.com", "www.example.com."):
        found = report(*hosts, host=host)
        assert found.crawlers[0].violations == 2
        assert found.notes == (
            "1 request has a URL of another host, as for a proxy, and is not judged.",
        )
    assert report(*[log_lines.alb(Seen("/private/"))] * 2).violations == 2
