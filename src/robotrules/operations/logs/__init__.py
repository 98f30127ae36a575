"""
Access logs by crawler: requests by day, and what robots.txt asks not to fetch.

    report = read_logs(["access.log", "access.log.1.gz"], fixed_rules(parse(body), "robots.txt"))
    for crawler in report.violators:
        print(crawler.name, crawler.violations, crawler.rules[0].rule)

A crawler is found by the name in its User-Agent header, which anyone can send; an
`IdentityChecker` says which violations were made by others under its name, and with address ranges
every request is checked: those of impostors are rows of their own. Memory does not depend
on the size of the logs: `tallies`, `counting` and `coverage` have the limits. Content never raises;
a file that cannot be opened does, and so does one whose format is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, tzinfo

from robotrules.operations.crawler_identity import IdentityChecker
from robotrules.operations.logs.building import build_report
from robotrules.operations.logs.counting import TrafficCounter, Wanted
from robotrules.operations.logs.coverage import UrlCoverage
from robotrules.operations.logs.entries import LogTimes, bare_host
from robotrules.operations.logs.files import LogInput, OpenLog, logs_in_order
from robotrules.operations.logs.formats import FORMATS, LogFormatError
from robotrules.operations.logs.summary import LogFileFacts, LogReport
from robotrules.operations.rule_history import RuleHistory

__all__ = ["FORMATS", "LogFormatError", "LogInput", "LogReport", "read_logs"]

# URLs of each rule, and rules of each crawler, in a report.
TOP = 10
Progress = Callable[[int, int], object]


def read_logs(
    logs: Sequence[str | LogInput],
    rules: RuleHistory | None = None,
    *,
    log_format: str = "",
    identity: IdentityChecker | None = None,
    urls: Iterable[bytes] | None = None,
    wanted: Wanted | None = None,
    since: float | None = None,
    until: float | None = None,
    host: str = "",
    zone: tzinfo = UTC,
    site: str = "",
    rules_name: str = "",
    top: int = TOP,
    progress: Progress | None = None,
) -> LogReport:
    """
    Return what access logs say about crawlers.

    *logs* are read in the order of their first requests. *rules* judge the requests; *rules_name*
    says in words which these are. *log_format* is one of `FORMATS` or a template; by default it is
    detected. *urls* are those of which the report says what a crawler never fetched. *wanted*
    chooses crawlers by name and registry entry; *since*, *until* and *host* choose requests. *zone*
    is that of times without one. *progress* is called with the number of requests and bytes that
    were read. Raises `OSError` for a file that cannot be read, and `LogFormatError`.
    """
    counter = TrafficCounter(
        rules,
        wanted=wanted,
        since=since,
        until=until,
        host=host,
        times=LogTimes(zone),
        coverage=UrlCoverage(urls, bare_host(host.encode("ascii" if host.isascii() else "idna"))),
        identity=identity,
    )
    files = [_read_log(log, counter, progress) for log in logs_in_order(logs, log_format, zone)]
    return build_report(counter, files, site=site, rules_name=rules_name, top=top, who=identity)


def _read_log(log: OpenLog, counter: TrafficCounter, progress: Progress | None) -> LogFileFacts:
    requests = octets = 0
    reader = log.reader
    bad_times = counter.bad_times
    if reader is not None:
        counter.agents.use(reader.decode_agent)
        counter.start_log()
        everyone = counter.counts_everyone
        for chunk in log.chunks():
            found = reader.read(chunk, counter.agents, everyone=everyone)
            counter.add(found)
            requests += found.total
            if progress is not None:
                before, octets = octets, log.source.octets_read
                progress(found.total, octets - before)
    bad_times = counter.bad_times - bad_times
    skipped = log.source.skipped
    return LogFileFacts(
        log.name,
        reader.name if reader else "",
        reader.has_agent if reader else True,
        requests - bad_times,
        (reader.unread if reader else 0) + bad_times + skipped.lines,
        tuple(reader.examples) if reader else (),
        log.source.error,
    )
