"""
SitePolicy: what a site sends to crawlers, by host and path, from one policy.

Made once at start, where a mistake raises `PolicyError`; then it answers requests and never raises,
whatever they contain. An integration passes it the method, host, target and a few fields of each
request, and adds the fields that it returns to the response. Immutable except for its counters;
share it between threads and tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robotrules.errors import PolicyError, WriteError
from robotrules.linting import LEVELS, LintNote, select_checks
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.serving.counters import LONGEST_PATH, CrawlerCounters
from robotrules.serving.hosts import HostTable
from robotrules.serving.policy_lint import describe_note, lint_policy, refuse_notes
from robotrules.serving.policy_source import LoadedPolicy, PolicySource, load_policy, require_source
from robotrules.serving.response_fields import FieldTable, ResponseFields
from robotrules.serving.robots_response import ROBOTS_PATH, RobotsFile, RobotsResponse
from robotrules.serving.targets import make_url, shown_path
from robotrules.write import NewGroup, NewRobotsTxt, disallow, write
from robotrules.write.tag_policy import PathTags

# Crawlers check robots.txt again after an hour.
DEFAULT_MAX_AGE = 3600
# RFC 9309 §2.4: crawlers should not use a cached robots.txt for longer.
LONGEST_MAX_AGE = 24 * 3600
STAGING_COMMENT = "A staging site, not for crawlers."
# In addition to the tags of the policy.
STAGING_TAGS = PathTags(("/",), (("noindex", True), ("nofollow", True)))


def make_staging_robots() -> str:
    """Return a robots.txt that disallows everything, also to crawlers that ignore `*` groups."""
    names = [crawler.product_token for crawler in KNOWN_CRAWLERS if crawler.ignores_star]
    group = NewGroup([*names, "*"], rules=[disallow("/")])
    return write(NewRobotsTxt([group], comment=STAGING_COMMENT))


def require_argument_types(
    policy: object,
    *,
    hosts: object = None,
    staging: object = (),
    max_age: object = DEFAULT_MAX_AGE,
    min_level: object = "",
    ignore: object = (),
) -> None:
    """Raise TypeError for an argument of `SitePolicy` of a wrong type; its name comes first."""
    require_source(policy, "policy")
    if isinstance(max_age, bool) or not isinstance(max_age, int):
        raise TypeError(f"max_age is a number of seconds, not {max_age!r:.60}")
    if isinstance(staging, str) and staging.strip().lower() in ("true", "false"):
        value = staging.strip().capitalize()
        raise TypeError(f"staging is the text {staging!r}: write {value} without quotes")
    if isinstance(staging, str | Mapping) or not isinstance(staging, Iterable | bool):
        example = staging if staging and isinstance(staging, str) else "staging.example.com"
        raise TypeError(
            f"staging is a list of hosts, or True; not {staging!r:.60}: pass [{example!r}]"
        )
    if hosts is not None and not isinstance(hosts, Mapping):
        name = type(hosts).__name__
        raise TypeError(f"hosts has a policy for each host, such as {{host: file}}; not {name}")
    for host, source in (hosts or {}).items():
        require_source(source, f"hosts[{host!r}]")
    if isinstance(ignore, str) or not isinstance(ignore, Iterable):
        example = ignore if isinstance(ignore, str) else "RR510"
        raise TypeError(f"ignore is a list of names: pass [{example!r}]")


def require_site(site: object) -> None:
    """Raise TypeError unless the argument of a middleware is a `SitePolicy`."""
    if not isinstance(site, SitePolicy):
        name = type(site).__name__
        raise TypeError(f"site is a SitePolicy, not {name}: pass SitePolicy('policy.toml')")


class SitePolicy:
    """
    A policy that is ready to be served.

    *policy* is a file (a `Path`, or a str that ends in `.toml` or `.txt`) or a text with a line
    end: a policy in TOML, or a robots.txt. *hosts* has other policies for some hosts, by name or by
    a pattern such as `*.example.com`. *staging* lists hosts that crawlers should not use at all, by
    name or pattern; True: every host. A host that is also in *hosts* must be listed in *staging*
    itself: a wider pattern that covers it raises `PolicyError`. *max_age* is the lifetime of the
    robots.txt in seconds. Notes of lint of at least *min_level* raise `PolicyError`; *ignore* names
    checks that do not count.
    """

    def __init__(
        self,
        policy: PolicySource,
        *,
        hosts: Mapping[str, PolicySource] | None = None,
        staging: bool | Iterable[str] = (),
        max_age: int = DEFAULT_MAX_AGE,
        min_level: str = "warning",
        ignore: Iterable[str] = (),
    ) -> None:
        require_argument_types(policy, hosts=hosts, staging=staging, max_age=max_age, ignore=ignore)
        if not 0 <= max_age <= LONGEST_MAX_AGE:
            raise PolicyError(
                f"max_age is {max_age:,}: use 0 to {LONGEST_MAX_AGE:,} seconds; crawlers should "
                "not use a robots.txt for longer than 24 hours (RFC 9309 §2.4)"
            )
        if min_level not in LEVELS:
            raise PolicyError(f"min_level is {min_level!r}: use one of {', '.join(LEVELS)}")
        ignored = find_codes(ignore)
        self.counters = CrawlerCounters()
        """Requests of well-known crawlers."""
        patterns = [] if isinstance(staging, bool) else list(staging)
        hosts = dict(hosts or {})
        notes: list[LintNote] = []
        messages: list[str] = []
        served: dict[PolicySource, tuple[_HostPolicy, _HostPolicy | None]] = {}
        for host, source in [(None, policy), *hosts.items()]:
            if source not in served:
                loaded = load_policy(source, host)
                found = lint_policy(loaded, max_age, ignored)
                refuse_notes(loaded, found, min_level)
                notes += found
                messages += [describe_note(loaded, note) for note in found]
                served[source] = (
                    _HostPolicy.of(loaded, max_age),
                    _HostPolicy.staging_of(loaded, max_age) if staging or patterns else None,
                )
        self.notes = tuple(notes)
        """All notes of lint, also those that did not stop the start."""
        self.note_messages = tuple(messages)
        """A line of text for each of these notes: the file, the line, the problem and the fix."""
        entries = [(host, served[source]) for host, source in hosts.items()]
        self._hosts = HostTable(entries, served[policy], "hosts")
        self._staging = HostTable([(host, True) for host in patterns], staging is True, "staging")
        for host in hosts:
            _refuse_unlisted(host, self._staging.covering_pattern(host, "hosts"))
        # The host header is not read where it decides nothing.
        self._only = None if hosts or patterns else self._find_policy("")

    def _find_policy(self, host: str) -> _HostPolicy:
        usual, staging = self._hosts.find(host)
        return staging if staging and self._staging.find(host) else usual

    def robots_txt(self, host: str = "") -> bytes:
        """Return the robots.txt of a host."""
        return (self._only or self._find_policy(host)).body

    def robots_response(
        self, method: str, host: str = "", *, if_none_match: str = "", user_agent: str = ""
    ) -> RobotsResponse:
        """Return the response to a request for /robots.txt, and count it."""
        crawler = KNOWN_CRAWLERS.find_in_header(user_agent)
        if crawler is not None:
            self.counters.count_robots_txt(crawler.product_token)
        return (self._only or self._find_policy(host)).file.respond(method, if_none_match)

    def record_request(
        self, target: str | bytes, host: str = "", user_agent: str = ""
    ) -> ResponseFields:
        """
        Count a request of another URL, and return the fields for its response.

        *target* is path and query, percent-encoded, as in the request line.
        """
        policy = self._only or self._find_policy(host)
        url = make_url(target)
        crawler = KNOWN_CRAWLERS.find_in_header(user_agent)
        if crawler is not None:
            if policy.allows(url, crawler):
                self.counters.count_allowed(crawler.product_token)
            else:
                path = shown_path(target, LONGEST_PATH)
                self.counters.count_disallowed(crawler.product_token, path)
        return policy.fields.find(url)

    def response_fields(self, target: str | bytes, host: str = "") -> ResponseFields:
        """Return the fields for the response to a URL; nothing is counted."""
        return (self._only or self._find_policy(host)).fields.find(make_url(target))

    def __repr__(self) -> str:
        return f"<SitePolicy: {self._hosts.default[0].name}>"


def _refuse_unlisted(host: str, pattern: str | None) -> None:
    """
    Raise PolicyError if only a pattern of `staging` covers a host that has its own policy.

    Neither reading is safe: a production host would disappear from search engines, or a staging
    host would be indexed.
    """
    if pattern is not None:
        name = pattern.removeprefix("*.")
        raise PolicyError(
            f"staging: {pattern!r} also covers {host!r}, which has its own policy in hosts. If "
            f"{host!r} is a staging host, add it to staging; if not, replace {pattern!r} by the "
            f"names of the staging hosts, or by a narrower pattern such as '*.staging.{name}'"
        )


def find_codes(ignore: Iterable[str]) -> tuple[str, ...]:
    """Return the codes of ignored checks; an unknown name is an error, as in `lint`."""
    kept = {check.code for check in select_checks(ignore=ignore)}
    return tuple(check.code for check in select_checks() if check.code not in kept)


class _HostPolicy:
    """The robots.txt, the fields and the rules that requests of a host get."""

    def __init__(
        self, name: str, robots: RobotsTxt, body: bytes, fields: FieldTable, max_age: int
    ) -> None:
        self.name, self.body, self.fields = name, body, fields
        self._robots = robots
        own = fields.find(make_url(ROBOTS_PATH)).add_to([])
        self.file = RobotsFile(body, max_age, own)
        self._rules: dict[str, RuleSet] = {}

    @classmethod
    def of(cls, policy: LoadedPolicy, max_age: int) -> _HostPolicy:
        """Return what the hosts of a policy send."""
        fields = FieldTable(policy.robots, policy.tags)
        return cls(policy.name, policy.robots, policy.body, fields, max_age)

    @classmethod
    def staging_of(cls, policy: LoadedPolicy, max_age: int) -> _HostPolicy:
        """Return what staging hosts send: everything is disallowed, and there are more tags."""
        body = make_staging_robots().encode("ascii")
        # Tags and preferences of the policy stay: staging adds restrictions and removes none.
        try:
            fields = FieldTable(policy.robots, (*policy.tags, STAGING_TAGS))
        except WriteError as error:
            raise PolicyError(f"{policy.name}, on a staging host: {error}") from None
        return cls(policy.name, parse(body), body, fields, max_age)

    def allows(self, url: str | bytes, crawler: KnownCrawler) -> bool:
        """Return whether the rules for a well-known crawler allow a URL."""
        rules = self._rules.get(crawler.product_token)
        if rules is None:
            rules = self._rules[crawler.product_token] = self._robots.rules_for(crawler.names)
        return rules.allows(url)
