"""Lines of access logs for tests: one request in every format, and reports of lines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

import robotrules
from robotrules.operations.logs import LogInput, LogReport, read_logs
from robotrules.operations.rule_history import RuleHistory, RulesAt
from robotrules.url_lists import BLOCK

GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
GPTBOT = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
BINGBOT = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
ROBOTS = "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n\nUser-agent: GPTBot\nDisallow: /\n"
NOON = datetime(2026, 10, 1, 12, tzinfo=UTC).timestamp()


class Seen(NamedTuple):
    """A request of a log."""

    target: str = "/a?x=1"
    agent: str = GOOGLEBOT
    at: float = NOON
    status: int = 200
    size: int = 512
    address: str = "192.0.2.7"
    host: str = "www.example.com"

    def time(self, form: str) -> str:
        """Return its time in UTC."""
        return datetime.fromtimestamp(self.at, UTC).strftime(form)


def combined(seen: Seen) -> str:
    """Return a line of the combined format."""
    return (
        f"{seen.address} - - [{seen.time('%d/%b/%Y:%H:%M:%S +0000')}] "
        f'"GET {seen.target} HTTP/1.1" {seen.status} {seen.size} "-" "{seen.agent}"'
    )


def nginx_json(seen: Seen) -> str:
    """Return a line as nginx writes it with escape=json."""
    return json.dumps(
        {
            "time_local": seen.time("%d/%b/%Y:%H:%M:%S +0000"),
            "remote_addr": seen.address,
            "host": seen.host,
            "request": f"GET {seen.target} HTTP/2.0",
            "request_time": "0.004",
            "status": str(seen.status),
            "body_bytes_sent": str(seen.size),
            "http_user_agent": seen.agent,
        }
    )


def caddy(seen: Seen) -> str:
    """Return a line of Caddy."""
    request = {
        "remote_ip": seen.address,
        "proto": "HTTP/2.0",
        "method": "GET",
        "host": seen.host,
        "uri": seen.target,
        "headers": {"Accept": ["*/*"], "User-Agent": [seen.agent]},
    }
    line = {"level": "info", "ts": seen.at + 0.5, "msg": "handled request", "request": request}
    return json.dumps({**line, "duration": 0.01, "size": seen.size, "status": seen.status})


def traefik(seen: Seen) -> str:
    """Return a line of Traefik."""
    return json.dumps(
        {
            "ClientHost": seen.address,
            "DownstreamContentSize": seen.size,
            "DownstreamStatus": seen.status,
            "Duration": 1234567,
            "RequestHost": seen.host,
            "RequestMethod": "GET",
            "RequestPath": seen.target,
            "StartUTC": seen.time("%Y-%m-%dT%H:%M:%S.123456789Z"),
            "level": "info",
            "request_User-Agent": seen.agent,
            "time": seen.time("%Y-%m-%dT%H:%M:%SZ"),
        }
    )


def cloudflare(seen: Seen) -> str:
    """Return a line of Cloudflare's Logpush, with a time in nanoseconds."""
    return json.dumps(
        {
            "ClientIP": seen.address,
            "ClientRequestHost": seen.host,
            "ClientRequestMethod": "GET",
            "ClientRequestURI": seen.target,
            "ClientRequestUserAgent": seen.agent,
            "EdgeResponseBytes": seen.size,
            "EdgeResponseStatus": seen.status,
            "EdgeStartTimestamp": int(seen.at) * 10**9,
        }
    )


def elastic(seen: Seen) -> str:
    """Return a line in the Elastic Common Schema."""
    return json.dumps(
        {
            "@timestamp": seen.time("%Y-%m-%dT%H:%M:%S.000Z"),
            "source": {"ip": seen.address},
            "url": {"original": seen.target, "domain": seen.host},
            "http": {"response": {"status_code": seen.status, "bytes": seen.size}},
            "user_agent": {"original": seen.agent},
        }
    )


def google_cloud(seen: Seen) -> str:
    """Return a line of a load balancer of Google Cloud."""
    request = {
        "remoteIp": seen.address,
        "requestUrl": f"https://{seen.host}{seen.target}",
        "requestMethod": "GET",
        "responseSize": str(seen.size),
        "status": seen.status,
        "userAgent": seen.agent,
    }
    return json.dumps({"httpRequest": request, "timestamp": seen.time("%Y-%m-%dT%H:%M:%S.5Z")})


IIS_HEAD = (
    "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n"
    "#Date: 2026-10-01 00:00:00\n"
    "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query c-ip cs-host cs(User-Agent) "
    "sc-status sc-bytes time-taken\n"
)


def iis(seen: Seen) -> str:
    """Return a line of IIS."""
    path, _, query = seen.target.partition("?")
    return (
        f"{seen.time('%Y-%m-%d %H:%M:%S')} 10.0.0.1 GET {path} {query or '-'} {seen.address} "
        f"{seen.host} {seen.agent.replace(' ', '+')} {seen.status} {seen.size} 31"
    )


CLOUDFRONT_HEAD = (
    "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) "
    "cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header\n"
)


def cloudfront(seen: Seen) -> str:
    """Return a line of CloudFront, with tabs."""
    path, _, query = seen.target.partition("?")
    first = (seen.time("%Y-%m-%d\t%H:%M:%S"), "FRA56-P1", str(seen.size), seen.address, "GET")
    last = ("-", quote(seen.agent, safe="/();,.:+=~_-"), query or "-", seen.host)
    return "\t".join((*first, "d111.cloudfront.net", path, str(seen.status), *last))


def alb(seen: Seen) -> str:
    """Return a line of an Application Load Balancer of AWS."""
    return (
        f"h2 {seen.time('%Y-%m-%dT%H:%M:%S.186641Z')} app/web/50dc6c495c0c9188 "
        f"{seen.address}:2817 10.0.0.1:80 0.000 0.001 0.000 {seen.status} {seen.status} 34 "
        f'{seen.size} "GET https://{seen.host}:443{seen.target} HTTP/2.0" "{seen.agent}" '
        'ECDHE-RSA TLSv1.2 arn:aws:x "Root=1" "www.example.com" "-" 0 -'
    )


def rules(text: str = ROBOTS) -> RuleHistory:
    """Return the history of one file."""
    return RuleHistory((), RulesAt(robotrules.parse(text.encode()), None, None, "robots.txt"))


def report(
    *lines: str | Seen, head: str = "", robots: str | None = ROBOTS, **options: Any
) -> LogReport:
    """Return the report of lines; a request is written in the combined format."""
    texts = [combined(line) if isinstance(line, Seen) else line for line in lines]
    octets = (head + "".join(f"{text}\n" for text in texts)).encode("utf-8", "surrogateescape")
    history = None if robots is None else rules(robots)
    options.setdefault("rules", history)
    blocks = [octets[start : start + BLOCK] for start in range(0, len(octets), BLOCK)]
    return read_logs([LogInput("access.log", blocks)], **options)
