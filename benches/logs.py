"""
`robotrules logs` on a million lines of each format: seconds, lines per second and peak memory.

    python benches/logs.py [--lines 1000000] [--robots FILE] [--folder FOLDER]

The lines are made by this script, with a mix as of a real site: 82 % people, 15 % well-known
crawlers, the rest others. Each format is read by a process of its own, also at a tenth of the
lines, because memory has to be the same. Lines are divided by processor time, which depends less on
what else runs. As a yardstick, `awk` counts the User-Agents of the
combined log, and GoAccess makes its report of it, where they are installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

START = 1_790_000_000
PEOPLE = [
    f"Mozilla/5.0 ({system}) {engine} {browser}"
    for system, engine, browsers in (
        (
            "Windows NT 10.0; Win64; x64",
            "AppleWebKit/537.36 (KHTML, like Gecko)",
            [f"Chrome/{n}.0.0.0 Safari/537.36" for n in range(90, 150)],
        ),
        (
            "iPhone; CPU iPhone OS 18_1 like Mac OS X",
            "AppleWebKit/605.1.15 (KHTML, like Gecko)",
            [f"Version/{n}.1 Mobile/15E148 Safari/604.1" for n in range(12, 20)],
        ),
        (
            "X11; Linux x86_64; rv:140.0",
            "Gecko/20100101",
            [f"Firefox/{n}.0" for n in range(99, 141)],
        ),
        (
            "Linux; Android 10; K",
            "AppleWebKit/537.36 (KHTML, like Gecko)",
            [f"Chrome/{n}.0.0.0 Mobile Safari/537.36" for n in range(100, 150)],
        ),
    )
    for browser in browsers
]
CRAWLERS = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; "
    "+https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
    "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)",
]
OTHERS = [
    "FooBot/1.0 (+https://foobot.example/)",
    "python-requests/2.32.3",
    "curl/8.5.0",
    "-",
]
SECTIONS = ["blog", "shop", "docs", "news", "private", "search", "images", "forum"]
ROBOTS = """User-agent: *
Disallow: /private/
Disallow: /search
Crawl-delay: 2

User-agent: GPTBot
User-agent: CCBot
Disallow: /
"""


class Line(NamedTuple):
    """The values of a line."""

    address: str
    at: int
    path: str
    query: str
    status: int
    size: int
    agent: str


def lines(count: int) -> Iterator[Line]:
    """Yield the requests of ten days, the same in every run."""
    chance = random.Random(9309)
    for number in range(count):
        draw = chance.random()
        some = PEOPLE if draw < 0.82 else CRAWLERS if draw < 0.97 else OTHERS
        path = f"/{chance.choice(SECTIONS)}/{int(chance.paretovariate(0.7)) % 50_000}.html"
        if some is not PEOPLE and chance.random() < 0.01:
            path = "/robots.txt"
        yield Line(
            f"198.51.{chance.randrange(256)}.{chance.randrange(256)}",
            START + number * 864_000 // count,
            path,
            f"q={number}" if chance.random() < 0.1 else "",
            chance.choice((200, 200, 200, 200, 301, 304, 404, 500)),
            chance.randrange(200, 90_000),
            chance.choice(some),
        )


def _time(line: Line, form: str) -> str:
    return datetime.fromtimestamp(line.at, UTC).strftime(form)


def _target(line: Line) -> str:
    return line.path + ("?" + line.query if line.query else "")


def combined(line: Line) -> str:
    """Return a line of the combined format."""
    return (
        f"{line.address} - - [{_time(line, '%d/%b/%Y:%H:%M:%S +0000')}] "
        f'"GET {_target(line)} HTTP/1.1" {line.status} {line.size} "-" "{line.agent}"'
    )


def vhost(line: Line) -> str:
    """Return a line with a virtual host before it."""
    return f"www.example.com:443 {combined(line)}"


def template(line: Line) -> str:
    """Return a line of a format of nginx that somebody made."""
    return (
        f"{_time(line, '%Y-%m-%dT%H:%M:%S+00:00')} example.com {line.address} {line.status} "
        f'{line.size} 0.012 "GET {_target(line)} HTTP/2.0" "{line.agent}" "-"'
    )


TEMPLATE = (
    '$time_iso8601 $host $remote_addr $status $body_bytes_sent $request_time "$request" '
    '"$http_user_agent" "$http_referer"'
)


def nginx_json(line: Line) -> str:
    """Return a line of nginx as JSON."""
    return json.dumps(
        {
            "time_iso8601": _time(line, "%Y-%m-%dT%H:%M:%S+00:00"),
            "remote_addr": line.address,
            "request_method": "GET",
            "request_uri": _target(line),
            "status": str(line.status),
            "body_bytes_sent": str(line.size),
            "request_time": "0.012",
            "http_referrer": "-",
            "http_user_agent": line.agent,
        }
    )


def caddy(line: Line) -> str:
    """Return a line of Caddy."""
    return json.dumps(
        {
            "level": "info",
            "ts": line.at + 0.25,
            "logger": "http.log.access",
            "msg": "handled request",
            "request": {
                "remote_ip": line.address,
                "client_ip": line.address,
                "proto": "HTTP/2.0",
                "method": "GET",
                "host": "example.com",
                "uri": _target(line),
                "headers": {"User-Agent": [line.agent], "Accept": ["*/*"]},
            },
            "duration": 0.012,
            "size": line.size,
            "status": line.status,
            "resp_headers": {"Server": ["Caddy"]},
        }
    )


IIS_FIELDS = (
    "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n"
    "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip "
    "cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status sc-bytes time-taken\n"
)


def iis(line: Line) -> str:
    """Return a line of IIS."""
    agent = line.agent.replace(" ", "+")
    return (
        f"{_time(line, '%Y-%m-%d %H:%M:%S')} 10.0.0.1 GET {line.path} {line.query or '-'} 443 - "
        f"{line.address} {agent} - {line.status} 0 0 {line.size} 12"
    )


CLOUDFRONT_FIELDS = (
    "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) "
    "cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) "
    "x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken\n"
)


def cloudfront(line: Line) -> str:
    """Return a line of CloudFront."""
    return "\t".join(
        (
            _time(line, "%Y-%m-%d\t%H:%M:%S"),
            *("FRA56-P1", str(line.size), line.address, "GET", "d111.cloudfront.net", line.path),
            *(str(line.status), "-", quote(line.agent, safe="/();,.:+=~_-"), line.query or "-"),
            *("-", "Hit", "abc==", "www.example.com", "https", "321", "0.001"),
        )
    )


def alb(line: Line) -> str:
    """Return a line of an Application Load Balancer of AWS."""
    return (
        f"h2 {_time(line, '%Y-%m-%dT%H:%M:%S.000000Z')} app/web/50dc6c495c0c9188 "
        f"{line.address}:2817 10.0.0.1:80 0.000 0.001 0.000 {line.status} {line.status} 34 "
        f'{line.size} "GET https://www.example.com:443{_target(line)} HTTP/2.0" "{line.agent}" '
        'TLS_AES_128_GCM_SHA256 TLSv1.3 arn:aws:x "Root=1-58337262" "www.example.com" "-" 0 -'
    )


FORMS: dict[str, tuple[Callable[[Line], str], str, list[str]]] = {
    "combined": (combined, "", []),
    "vhost": (vhost, "", []),
    "nginx template": (template, "", ["--log-format", TEMPLATE]),
    "nginx JSON": (nginx_json, "", []),
    "Caddy JSON": (caddy, "", []),
    "IIS": (iis, IIS_FIELDS, []),
    "CloudFront": (cloudfront, CLOUDFRONT_FIELDS, []),
    "ALB": (alb, "", []),
}


class Measured(NamedTuple):
    """What a process took."""

    seconds: float
    cpu_seconds: float
    mebibytes: float


def measured(command: list[str], output: Path) -> Measured:
    """Run a command and return its time and its peak memory."""
    with output.open("wb") as file:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.PIPE)
        assert process.stderr is not None
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command[:3]}: {errors.decode()[-500:]}")
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    small = max(given.lines // 10, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        robots = folder / "robots.txt"
        robots.write_text(ROBOTS)
        run = [sys.executable, "-m", "robotrules", "logs", "--robots", str(robots), "--json"]
        print(
            f"{'format':<22}{'MiB':>7}{'s':>8}{'CPU s':>8}{'lines/CPU s':>13}{'peak MiB':>10}"
            f"{'at 1/10':>9}"
        )
        for form, (make, head, options) in FORMS.items():
            if given.only and form not in given.only:
                continue
            log, part = folder / "access.log", folder / "part.log"
            with log.open("w") as file, part.open("w") as shorter:
                file.write(head)
                shorter.write(head)
                for number, line in enumerate(lines(given.lines)):
                    text = make(line) + "\n"
                    file.write(text)
                    if number < small:
                        shorter.write(text)
            sizes = {}
            for file_name in (part, log):
                sizes[file_name] = measured([*run, *options, str(file_name)], folder / "out")
            report = json.loads((folder / "out").read_text())
            assert report["requests"] == given.lines, (form, report["requests"])
            _print(form, log, sizes[log], given.lines, sizes[part].mebibytes)
            if form != "combined":
                continue
            packed = folder / "access.log.gz"
            with log.open("rb") as plain, gzip.open(packed, "wb", 6) as file_gz:
                shutil.copyfileobj(plain, file_gz)
            taken = measured([*run, str(packed)], folder / "out")
            _print("combined, gzip", packed, taken, given.lines)
            packed.unlink()
            awk = ["awk", "-F", '"', "{n[$6]++} END {for (a in n) print n[a], a}", str(log)]
            _print("  awk, by User-Agent", log, measured(awk, folder / "out"), given.lines)
            if shutil.which("goaccess"):
                goaccess = ["goaccess", str(log), "--log-format=COMBINED", "--no-progress"]
                goaccess += ["-o", str(folder / "goaccess.html")]
                _print("  GoAccess", log, measured(goaccess, folder / "out"), given.lines)


def _print(form: str, log: Path, taken: Measured, count: int, less: float | None = None) -> None:
    shown = "" if less is None else f"{less:9.0f}"
    print(
        f"{form:<22}{log.stat().st_size / 2**20:7.0f}{taken.seconds:8.2f}{taken.cpu_seconds:8.2f}"
        f"{count / taken.cpu_seconds:13,.0f}{taken.mebibytes:10.0f}{shown}",
        flush=True,
    )


if __name__ == "__main__":
    main()
