"""
Robots and Agent with the methods of reppy 0.4.14, answering by RFC 9309.

`Robots.fetch()` fetches with `robotrules.Client`; everything else has no I/O. A URL of another host
is not allowed, as in reppy: a file speaks for its own authority only (RFC 9309 §2.3).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from robotrules.access import FailureReason
from robotrules.cache import EffectivePolicy, FetchRecord
from robotrules.compat.fetching import USER_AGENT, describe_failure, fetch_state, open_client
from robotrules.compat.parsing import parse_supplied
from robotrules.compat.reppy import exceptions
from robotrules.compat.reppy.ttl import FieldsView, HeaderWithDefaultPolicy, TTLPolicyBase
from robotrules.compat.user_agents import ChecksByUserAgent, crawler_name
from robotrules.http.origins import origin_of
from robotrules.octets import to_octets
from robotrules.robotstxt import RobotsTxt

# RFC 9309 §2.4: a cached file is used for at most 24 hours.
_DAY = 86_400.0
_ERRORS: dict[FailureReason, type[exceptions.ReppyException]] = {
    FailureReason.TLS: exceptions.SSLException,
    FailureReason.TIMEOUT: exceptions.ReadTimeout,
    FailureReason.REDIRECTS: exceptions.ExcessiveRedirects,
    FailureReason.LOOP: exceptions.ExcessiveRedirects,
    FailureReason.LOCATION: exceptions.ExcessiveRedirects,
    FailureReason.STATUS: exceptions.BadStatusCode,
}
_DISALLOW_ALL = b"User-agent: *\nDisallow: /"
# Seconds for a fetch, or for a part of a timeout that is None.
_TIMEOUT = 30.0


class Agent:
    """The rules of one crawler. `allow()` and `disallow()` add rules to this copy."""

    def __init__(self) -> None:
        """Make an agent without rules, which allows everything."""
        self._host = ""
        self._parsed: RobotsTxt | None = parse_supplied(b"User-agent: *")
        self._name = "*"
        # The records of the copy; None until a rule is added.
        self._records: list[bytes] | None = None

    @classmethod
    def from_robots(cls, robots: Robots, name: str | bytes) -> Self:
        """Make the agent of a crawler."""
        agent = cls()
        agent._host, agent._parsed, agent._name = robots.host, robots.robots, name_of(name)
        return agent

    @property
    def _robots(self) -> RobotsTxt:
        """The rules, parsed when they are first used after a change: many may be added."""
        if self._parsed is None:
            self._parsed = parse_supplied(b"\n".join(self._records or []))
        return self._parsed

    @property
    def delay(self) -> float | None:
        """The Crawl-delay in seconds; None if there is none, or if it is 0."""
        delay = self._robots.crawl_delay(self._name)
        return delay.seconds if delay and delay.seconds else None

    def allow(self, path: str | bytes) -> Self:
        """Add a rule that allows a path pattern."""
        return self._add(b"Allow", path)

    def disallow(self, path: str | bytes) -> Self:
        """Add a rule that disallows a path pattern."""
        return self._add(b"Disallow", path)

    def _add(self, key: bytes, path: str | bytes) -> Self:
        pattern = to_octets(path)
        if b"\n" in pattern or b"\r" in pattern:
            raise ValueError(f"a path pattern is one line: {path!r}")
        if self._records is None:
            copied = [
                b"%s: %s" % (record.key.encode(), record.value)
                for group in self._robots.select_groups(self._name).groups
                for record in group.records
                if record.is_rule or record.key == "crawl-delay"
            ]
            self._records, self._name = [b"User-agent: *", *copied], "*"
        self._records.append(b"%s: %s" % (key, pattern.replace(b"#", b"%23")))
        self._parsed = None
        return self

    def allowed(self, path: str | bytes) -> bool:
        """Tell whether the crawler may fetch a URL or path."""
        if _is_external(path, self._host):
            return False
        return self._robots.rules_for(self._name).allows(path)

    def __copy__(self) -> Self:
        other = type(self)()
        other.__dict__.update(self.__dict__)
        # A rule that is added to a copy is not added to the original.
        other._records = None if self._records is None else list(self._records)
        return other

    def __len__(self) -> int:
        return sum(len(group.rules) for group in self._robots.select_groups(self._name).groups)

    def __str__(self) -> str:
        groups = self._robots.select_groups(self._name).groups
        return str([str(rule) for group in groups for rule in group.rules])


class Robots:
    """A parsed robots.txt with its expiry."""

    DEFAULT_TTL_POLICY: TTLPolicyBase = HeaderWithDefaultPolicy(default=3600, minimum=600)
    user_agent: str = USER_AGENT
    """The User-Agent header that `fetch()` sends, unless `headers` has one."""
    allow_private: Iterable[str] = ()
    """Private hosts, addresses and networks that `fetch()` may connect to."""

    def __init__(self, url: str, content: str | bytes, expires: float | None = None) -> None:
        """Parse *content*; *url* is the URL of the robots.txt."""
        self.host = origin_of(url) or ""
        """The origin that the file speaks for; empty if *url* has none."""
        self._expires = expires
        self._checks = ChecksByUserAgent(parse_supplied(content))
        # With the arguments swapped, the URL would be a file without rules, which allows all.
        if not self.host and len(self.robots.lines) == 1 and origin_of(content):
            raise ValueError(
                f"content is {content!r:.80}, and url is {url[:80]!r}: pass the URL of the "
                "robots.txt first, and its content after it"
            )

    @classmethod
    def parse(cls, url: str, content: str | bytes, expires: float | None = None) -> Self:
        """Parse a robots.txt. Never raises on content."""
        return cls(url, content, expires)

    @classmethod
    def fetch(
        cls,
        url: str,
        ttl_policy: TTLPolicyBase | None = None,
        max_size: int = 1_048_576,
        *arguments: Any,
        after_parse_hook: Callable[[Robots], object] | None = None,
        **options: Any,
    ) -> Robots:
        """
        Fetch and parse the robots.txt of the origin of *url*.

        401 and 403 return an `AllowNone`, other 4xx an `AllowAll`; failures raise a
        `ReppyException`. The options are *headers* and *timeout*, seconds or a pair for connecting
        and reading, whose sum limits the fetch. *max_size* is ignored: 500 KiB are read (RFC 9309
        §2.5). Other options of requests raise a TypeError: use `robotrules.Client` for these.
        """
        vet_hook(after_parse_hook)
        sent = make_fetch_options(arguments, options)
        state = fetch_state(
            url,
            user_agent=cls.user_agent if sent.user_agent is None else sent.user_agent,
            allow_private=cls.allow_private,
            headers=sent.headers,
            timeout=sent.timeout,
        )
        record = state.fetch_record if state is not None else None
        if state is None or record is None:
            raise _make_error(exceptions.MalformedUrl, url, f"{url!r} is not an http or https URL")
        if not record.usable:
            reason = record.failure_reason or FailureReason.STATUS
            kind = _ERRORS.get(reason, exceptions.ConnectionException)
            raise _make_error(kind, url, describe_failure(record, cls.__name__), record)
        view = FieldsView(record.status or 0, _text_fields(record))
        expires = (ttl_policy or cls.DEFAULT_TTL_POLICY).expires(view)
        expires = min(expires, time.time() + _DAY)
        if state.policy is EffectivePolicy.DISALLOW:
            return AllowNone(url, expires)
        if state.policy is EffectivePolicy.ALLOW:
            return AllowAll(url, expires)
        robots = cls(url, b"", expires)
        robots._checks = ChecksByUserAgent(state.robots)
        if after_parse_hook is not None:
            after_parse_hook(robots)
        return robots

    @classmethod
    def robots_url(cls, url: str) -> str:
        """Return the URL of the robots.txt for a URL."""
        origin = origin_of(url)
        if origin is None:
            raise _make_error(exceptions.MalformedUrl, url, f"{url!r} is not an http or https URL")
        return f"{origin}/robots.txt"

    @property
    def robots(self) -> RobotsTxt:
        """The file as a `robotrules.RobotsTxt`, which also gives reasons. Not in reppy."""
        return self._checks.robots

    @property
    def sitemaps(self) -> list[str]:
        """The URLs of the sitemaps in the order of the file, each once."""
        return [sitemap.url for sitemap in self.robots.sitemaps]

    def allowed(self, path: str | bytes, name: str | bytes) -> bool:
        """Tell whether a crawler, given by product token or User-Agent, may fetch a URL or path."""
        if _is_external(path, self.host):
            return False
        return self._checks[name if isinstance(name, str) else name_of(name)](path)

    def agent(self, name: str | bytes) -> Agent:
        """Return the rules of a crawler, as a copy."""
        return Agent.from_robots(self, name)

    @property
    def expires(self) -> float | None:
        """When the file expires, in seconds since 1970; None if it was parsed without a time."""
        return self._expires

    @property
    def expired(self) -> bool:
        """Whether the file has expired; a file without a time has not."""
        return self._expires is not None and time.time() > self._expires

    @property
    def ttl(self) -> float:
        """The remaining seconds until the file expires; 0 if it was parsed without a time."""
        return 0.0 if self._expires is None else max(self._expires - time.time(), 0)

    def __str__(self) -> str:
        return self.robots.body.decode("utf-8", "backslashreplace")


class AllowNone(Robots):
    """No requests are allowed."""

    def __init__(self, url: str, expires: float | None = None) -> None:
        """Make it for a URL."""
        super().__init__(url, _DISALLOW_ALL, expires)


class AllowAll(Robots):
    """All requests are allowed."""

    def __init__(self, url: str, expires: float | None = None) -> None:
        """Make it for a URL."""
        super().__init__(url, b"", expires)


class FetchOptions(NamedTuple):
    """The options of requests that `Robots.fetch()` and the caches accept, validated."""

    user_agent: str | None
    """The User-Agent in *headers*; None: that of the class."""
    headers: dict[str, str]
    timeout: float


def make_fetch_options(arguments: Sequence[Any], options: Mapping[str, Any]) -> FetchOptions:
    """Return the options of a fetch; an unsupported or invalid one raises."""
    unsupported = [name for name in options if name not in ("headers", "timeout")]
    unsupported += [repr(argument)[:40] for argument in arguments]
    if unsupported:
        fix = "for other options use robotrules.Client(..., transport=session)"
        if "after_response_hook" in options:
            fix = "use robotrules.Client(..., on_fetch=...) to see responses"
        if "allow_private" in options or "user_agent" in options:
            name = "allow_private" if "allow_private" in options else "user_agent"
            value = "['intranet.example']" if name == "allow_private" else "'ExampleBot/1.0'"
            fix = f"set Robots.{name} = {value}"
        raise TypeError(
            f"not supported: {', '.join(unsupported)}. Robots.fetch() passes headers= and timeout= "
            f"on; {fix}"
        )
    given = options.get("headers")
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"headers is a {type(given).__name__}: pass a dict of str")
    headers = dict(given or {})
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"headers contains {name!r}: {value!r}: names and values are str")
    agents = [headers.pop(name) for name in list(headers) if name.lower() == "user-agent"]
    sent = FetchOptions(agents[0] if agents else None, headers, _sum_timeout(options))
    # The client validates the values: opening one connects to no server.
    user_agent = USER_AGENT if sent.user_agent is None else sent.user_agent
    open_client(user_agent, headers=headers, timeout=sent.timeout).close()
    return sent


def vet_hook(hook: object) -> None:
    """Raise a TypeError unless *hook* can be called with a file, or is None."""
    if hook is not None and not callable(hook):
        raise TypeError(f"after_parse_hook is {hook!r}: pass a function of a Robots, or None")


def _sum_timeout(options: Mapping[str, Any]) -> float:
    """Return the seconds for a fetch; a part of a pair that is None counts as the default."""
    timeout = options.get("timeout")
    parts = timeout if isinstance(timeout, tuple) else (timeout,)
    if len(parts) != (2 if isinstance(timeout, tuple) else 1) or not all(
        part is None or (isinstance(part, (int, float)) and not isinstance(part, bool))
        for part in parts
    ):
        raise TypeError(f"timeout is {timeout!r}: pass seconds, or (connect, read) in seconds")
    # The client validates the sum, and names its limits.
    if not all(part is None or part > 0 for part in parts):
        raise ValueError(f"timeout is {timeout!r}: each part is more than 0 seconds, or None")
    total: float = sum(_TIMEOUT if part is None else part for part in parts)
    return total


def name_of(name: str | bytes) -> str:
    """Return the name that is compared with groups; a URL raises."""
    return crawler_name(name.decode("utf-8", "replace") if isinstance(name, bytes) else name)


def _is_external(path: str | bytes, host: str) -> bool:
    """Tell whether a URL has another origin than the file; a path has none."""
    # Other types are left to the check, which raises.
    if not host or not isinstance(path, (str, bytes)) or path[:1] in ("/", b"/"):
        return False
    origin = origin_of(path)
    return origin is not None and origin != host


def _text_fields(record: FetchRecord) -> dict[str, str]:
    names = ("cache-control", "expires", "date", "age")
    lines = {name: record.fields.get(name) for name in names}
    return {name: b", ".join(got).decode("latin-1") for name, got in lines.items() if got}


def _make_error(
    kind: type[exceptions.ReppyException], url: str, text: str, record: FetchRecord | None = None
) -> exceptions.ReppyException:
    status = (record.status,) if record is not None and record.status is not None else ()
    error = kind(text, *status)
    error.url = url
    return error
