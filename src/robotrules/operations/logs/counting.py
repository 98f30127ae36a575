"""
Counts the requests of all crawlers, judged by the rules in force at their time.

Requests are expected in the order of time, as servers write them: the age of a robots.txt and the
delay between requests are those of the log. The requests of a chunk of lines are judged together,
crawler by crawler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.octets import visible
from robotrules.operations.crawler_identity import IdentityChecker
from robotrules.operations.logs.coverage import UrlCoverage
from robotrules.operations.logs.entries import (
    Columns,
    LogTimes,
    bare_host,
    client_address,
    host_of_request,
    host_of_target,
    url_of_request,
)
from robotrules.operations.logs.formats import Requests
from robotrules.operations.logs.robots_fetches import RobotsFetches
from robotrules.operations.logs.tallies import (
    DAY,
    MOST_RULES,
    OTHER_RULES,
    STATUSES,
    Allowance,
    CrawlerTally,
    JudgedRequest,
    RuleTally,
)
from robotrules.operations.rule_history import RuleHistory, RulesAt
from robotrules.registries.crawlers import KNOWN_CRAWLERS, LONGEST_HEADER, KnownCrawler
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.tokens import can_be_name, product_token

__all__ = ["AgentTable", "TrafficCounter"]

# User-Agent headers that are remembered, each at most as long as those that the registry reads.
MOST_AGENTS = 32_768
# Crawlers that are in no registry, told apart by the name that they give themselves.
MOST_OTHER_BOTS = 100
LONGEST_NAME = 64
# Pairs of a crawler and a day; days beyond are counted as one.
MOST_DAYS = 50_000
OTHER_DAYS = "later"
# Addresses of each crawler, and of all.
MOST_ADDRESSES, MOST_ADDRESSES_IN_ALL, LONGEST_ADDRESS = 20_000, 200_000, 64
MOST_URLS_IN_ALL = 60_000
# Pairs of a violated rule and an address.
MOST_RULE_ADDRESSES = 200_000
MOST_HOSTS, LONGEST_HOST = 1000, 100
LONGEST_SIZE = 15
# Requests of each chunk that are looked at to see whether URLs have a host.
FORM_SAMPLES = 100

_BOT = re.compile(r"(?<!cu)bot|crawl|spider|slurp|archiv|scrap|\+https?://", re.IGNORECASE)
_ROBOTS = re.compile(rb"(?:https?://[^/?#]*+)?/robots\.txt(?:[?#].*+)?", re.DOTALL)
Wanted = Callable[[str, KnownCrawler | None], bool]


class AgentTable(dict[bytes, "CrawlerTally | None"]):
    """User-Agent headers as a log writes them, and whose they are; None for people."""

    def __init__(self, find: Callable[[str], CrawlerTally | None]) -> None:
        super().__init__()
        self._find = find
        self._decode: Callable[[bytes], str] = bytes.decode

    def use(self, decode: Callable[[bytes], str]) -> None:
        """Read the headers of another file, which may be written in another way."""
        self.clear()
        self._decode = decode

    def __missing__(self, raw: bytes) -> CrawlerTally | None:
        # An escape takes up to six bytes for one character.
        found = self._find(self._decode(raw[: 6 * LONGEST_HEADER])[:LONGEST_HEADER])
        if len(raw) <= LONGEST_HEADER:
            if len(self) >= MOST_AGENTS:
                self.clear()
            self[raw] = found
        return found


class TrafficCounter:
    """
    Counts requests; without *rules*, none is a violation.

    With the address ranges of *identity*, requests from outside of those of a crawler are counted
    apart, as those of its impostors.
    """

    def __init__(
        self,
        rules: RuleHistory | None,
        *,
        wanted: Wanted | None = None,
        since: float | None = None,
        until: float | None = None,
        host: str = "",
        times: LogTimes | None = None,
        coverage: UrlCoverage | None = None,
        identity: IdentityChecker | None = None,
    ) -> None:
        self.agents = AgentTable(self._find)
        self.tallies: dict[str, CrawlerTally] = {}
        self.requests = self.people = self.rest = self.left_out = self.bad_times = 0
        self.unjudged = 0
        self.first, self.last = float("inf"), float("-inf")
        self.hosts: dict[bytes, bool] = {}
        self.coverage = coverage or UrlCoverage()
        self.days_left = Allowance(MOST_DAYS)
        self.addresses_left = Allowance(MOST_ADDRESSES_IN_ALL)
        self.urls_left = Allowance(MOST_URLS_IN_ALL)
        self._rules, self._wanted, self._identity = rules, wanted, identity
        self._rule_addresses_left = Allowance(MOST_RULE_ADDRESSES) if identity else None
        self._since = float("-inf") if since is None else since
        self._until = float("inf") if until is None else until
        self._host = bare_host(host.encode("idna" if not host.isascii() else "ascii"))
        self._times = times or LogTimes()
        # The time in which the rules are in force; empty, so that they are looked up first.
        self._from, self._to = float("inf"), float("-inf")
        self._robots: RobotsTxt | None = None
        self._source = ""
        # The rules after these, if they came into force at an unknown time before they were found.
        self._next: RulesAt | None = None
        self._fetches = RobotsFetches()
        # Requests for other hosts, as to a proxy; and how many lines of the log have a path and
        # how many a URL with a host, as load balancers write it.
        self.elsewhere = 0
        self._forms = [0, 0]
        # Those whose requests wait to be judged.
        self._waiting: set[CrawlerTally] = set()
        self._others = 0
        self._rest = CrawlerTally("", None)
        self._unwanted = CrawlerTally("", None)

    @property
    def last_fetch(self) -> float | None:
        """When the rules were fetched for the last time, if they were."""
        return self._rules.last_fetch if self._rules is not None else None

    @property
    def counts_everyone(self) -> bool:
        """Whether the requests of people have to be read too, because not all of them count."""
        return bool(self._host) or self._since > float("-inf") or self._until < float("inf")

    # --- Requests ---------------------------------------------------------------------------------

    def add(self, requests: Requests) -> None:
        """Count the requests of some lines."""
        columns = requests.columns
        self._add_forms(requests)
        if self.counts_everyone:
            for who, fields in requests.picked:
                self._count(who, fields, columns)
        else:
            self.requests += requests.total
            self.people += requests.total - len(requests.picked)
            for who, fields in requests.picked:
                if not self._count_crawler(who, fields, columns):
                    self.requests -= 1
        self._judge()

    def _count(self, who: CrawlerTally | None, fields: Sequence[bytes], columns: Columns) -> None:
        """Count a request of anyone, if it is in the chosen time and of the chosen host."""
        if not self._is_chosen(fields, columns):
            return
        if who is None:
            self.requests += 1
            self.people += 1
        elif self._count_crawler(who, fields, columns):
            self.requests += 1

    def _is_chosen(self, fields: Sequence[bytes], columns: Columns) -> bool:
        moment = self._times.read(fields[columns.time], fields[columns.date])
        if moment is None:
            self.bad_times += 1
            return False
        chosen = self._since <= moment.at < self._until
        if chosen and self._host and (host := host_of_request(fields, columns)):
            chosen = bare_host(host) == self._host
            self._add_host(host)
        self.left_out += not chosen
        return chosen

    def start_log(self) -> None:
        """Forget how the requests of the log before were written."""
        self._forms = [0, 0]

    def _add_forms(self, requests: Requests) -> None:
        """Count how requests are written, by some of them."""
        for _, fields in requests.picked[:FORM_SAMPLES]:
            self._forms[bool(host_of_target(fields, requests.columns))] += 1

    def _is_elsewhere(self, fields: Sequence[bytes], columns: Columns) -> bool:
        """
        Tell whether a URL with a host is one of another site, as sent to a proxy.

        If no host is known, it is one in a log whose requests have paths.
        """
        host = host_of_target(fields, columns)
        if not host:  # a path that begins with `//`
            return False
        expected = self._host or bare_host(fields[columns.host])
        paths, urls = self._forms
        is_elsewhere = bare_host(host) != expected if expected else paths >= urls
        if is_elsewhere:
            self.elsewhere += 1
        else:
            self._add_host(host)
        return is_elsewhere

    def _add_host(self, host: bytes) -> None:
        if host not in self.hosts and len(self.hosts) < MOST_HOSTS and len(host) < LONGEST_HOST:
            self.hosts[host] = True

    def _count_crawler(
        self, tally: CrawlerTally, fields: Sequence[bytes], columns: Columns
    ) -> bool:
        """Count a request of a crawler; False if its line has no valid time."""
        moment = self._times.read(fields[columns.time], fields[columns.date])
        if moment is None:
            self.bad_times += 1
            return False
        if tally is self._unwanted:
            self.left_out += 1
            return True
        if tally is self._rest:
            self.rest += 1
            return True
        address = fields[columns.address]
        if b":" in address or b"," in address:
            address = client_address(address)
        address = address[:LONGEST_ADDRESS]
        if tally.impostors is not None:
            tally = self._by_address(tally, tally.impostors, address)
        at, day = moment
        if not self._from <= at < self._to:
            self._change_rules(at)
        if at < self.first:
            self.first = at
        if at > self.last:
            self.last = at
        if host := fields[columns.host]:
            self._add_host(host)
        counts = tally.days.get(day)
        if counts is None:
            counts = self._new_day(tally, day)
        counts[0] += 1
        size = fields[columns.size]
        if size.isdigit() and len(size) <= LONGEST_SIZE:
            counts[1] += int(size)
        status = fields[columns.status]
        kind = status[0] - 49 if len(status) == 3 else STATUSES - 1
        counts[3 + (kind if 0 <= kind < STATUSES else STATUSES - 1)] += 1
        if tally not in self._waiting:
            self._waiting.add(tally)
            self._use_rules(tally)
        tally.add_gap(at)
        if address not in tally.addresses:
            if len(tally.addresses) < MOST_ADDRESSES and self.addresses_left.take():
                tally.addresses[address] = 0
            else:
                tally.addresses_exact = False
        url = url_of_request(fields, columns)
        if url is None:
            return True
        served = kind in (1, 2)
        if url.startswith((b"/robots.txt", b"http")):
            if url.startswith(b"http") and self._is_elsewhere(fields, columns):
                return True
            if _ROBOTS.fullmatch(url):
                tally.robots_requests += 1
                if kind == 1 or status == b"304":
                    self._fetches.add(tally.readers[0], address, at)
                return True
        age = self._fetches.age(tally.readers, at)
        tally.waiting.append(JudgedRequest(url, at, counts, served, address, age))
        return True

    def _by_address(
        self, tally: CrawlerTally, impostors: CrawlerTally, address: bytes
    ) -> CrawlerTally:
        """Return the counts of a crawler, or those of its impostors."""
        assert self._identity is not None
        assert tally.known is not None
        if address in tally.addresses:
            return tally
        if address in impostors.addresses:
            return impostors
        text = address.decode("ascii", "replace")
        return impostors if self._identity.is_outside_ranges(tally.known, text) else tally

    def _new_day(self, tally: CrawlerTally, day: str) -> list[int]:
        if day != OTHER_DAYS and not self.days_left.take():
            return tally.days.get(OTHER_DAYS) or self._new_day(tally, OTHER_DAYS)
        counts = tally.days[day] = [0] * (3 + STATUSES)
        return counts

    # --- Crawlers ---------------------------------------------------------------------------------

    def _find(self, header: str) -> CrawlerTally | None:
        """Return the counts of the crawler that a User-Agent header names; None for people."""
        known = KNOWN_CRAWLERS.find_in_header(header)
        name = known.product_token if known else _bot_name(header)
        if not name:
            return None
        key = name.lower()
        found = self.tallies.get(key)
        if found is None:
            if self._wanted is not None and not self._wanted(name, known):
                return self._unwanted
            if known is None:
                if self._others >= MOST_OTHER_BOTS:
                    return self._rest
                self._others += 1
            found = self.tallies[key] = CrawlerTally(name, known)
            if known and self._identity is not None and self._identity.has_ranges(known):
                found.impostors = CrawlerTally(f"impostors of {name}", known, name)
                # A product token has no space.
                self.tallies[found.impostors.name.lower()] = found.impostors
        return found

    # --- Rules ------------------------------------------------------------------------------------

    def _change_rules(self, at: float) -> None:
        """Use the rules in force at a time; requests before it are judged by the old ones."""
        self._judge()
        if self._rules is None:
            self._from, self._to = float("-inf"), float("inf")
            return
        found = self._rules.at(at)
        self._robots, self._source = found.robots, found.source
        self._from = float("-inf") if found.since is None else found.since
        self._to = float("inf") if found.until is None else found.until
        after = None if found.until is None else self._rules.at(found.until)
        self._next = after if after is not None and after.changed_after is not None else None

    def _use_rules(self, tally: CrawlerTally) -> None:
        if self._robots is None:
            tally.rule_set = tally.delay = tally.delay_line = None
            return
        rules = self._robots.rules_for(tally.names)
        if rules is not tally.rule_set:
            tally.rule_set = rules
            delay = crawl_delay(self._robots, tally.names)
            tally.delay = delay.seconds if delay else None
            tally.delay_line = delay.line if delay else None

    def _judge(self) -> None:
        """Judge the requests that wait."""
        for tally in self._waiting:
            requests, tally.waiting = tally.waiting, []
            name = tally.name
            if not tally.impostor_of:
                for one in requests:
                    self.coverage.add(name, one.url, served=one.served)
            rules = tally.rule_set
            if rules is None:
                self.unjudged += len(requests) if self._rules is not None else 0
                continue
            urls = [one.url for one in requests]
            for one, allowed in zip(requests, rules.allows_many(urls), strict=True):
                if allowed:
                    continue
                if self._may_have_been_allowed(tally, one):
                    tally.in_transition += 1
                    continue
                verdict = rules.check(one.url)
                rule = str(verdict.rule) if verdict.rule else verdict.reason.sentence
                tally.add_violation(one, self._rule_tally(tally, rule, verdict.line))
        self._waiting.clear()

    def _may_have_been_allowed(self, tally: CrawlerTally, request: JudgedRequest) -> bool:
        """
        Tell whether an older file allowed a URL, which the crawler may still have used.

        It may use a copy for a day, unless it has requested the file since (RFC 9309 §2.4), from
        the same network: anyone can send its name. Between two fetches that found different files,
        either may have been in force.
        """
        if self._rules is None:
            return False
        after = self._next
        if (
            after is not None
            and request.at > (after.changed_after or 0.0)
            and (after.robots is None or self._allows(after.robots, tally, request))
        ):
            return True
        # An impostor has no copy of its own.
        if tally.impostor_of or self._from <= request.at - DAY:
            return False
        age = self._fetches.network_age(tally.readers, request.at, request.address)
        age = DAY if age is None else min(age, DAY)
        for older in self._rules.between(request.at - age, request.at)[:-1]:
            if older.robots is None or self._allows(older.robots, tally, request):
                return True
        return False

    @staticmethod
    def _allows(robots: RobotsTxt, tally: CrawlerTally, request: JudgedRequest) -> bool:
        return robots.rules_for(tally.names).allows(request.url)

    def _rule_tally(self, tally: CrawlerTally, rule: str, line: int | None) -> RuleTally:
        key = line, rule, self._source
        found = tally.rules.get(key)
        if found is None:
            if len(tally.rules) >= MOST_RULES:
                key, line, rule = (None, OTHER_RULES, ""), None, OTHER_RULES
                if key in tally.rules:
                    return tally.rules[key]
            found = tally.rules[key] = RuleTally(
                visible(rule[:1000]),
                line,
                self._source,
                self.urls_left,
                self._rule_addresses_left,
            )
        return found


def _bot_name(header: str) -> str:
    """Return the name of a crawler that says in its header that it is one; empty for others."""
    if not _BOT.search(header):
        return ""
    name = product_token(header)
    if not name or len(name) > LONGEST_NAME or not can_be_name(name):
        return ""
    # A header such as `curl/8.5 (+https://example.com/bot)` says who asks in its comment.
    return name if _BOT.search(name) or "+http" in header else ""
