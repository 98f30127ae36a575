"""Robots, Agent and the caches of reppy, on real responses from loopback."""

from __future__ import annotations

import copy
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.compat import reppy
from robotrules.compat.parsing import parse_supplied
from robotrules.compat.reppy import exceptions
from robotrules.compat.reppy.cache import AgentCache, RobotsCache
from robotrules.compat.reppy.cache.policy import DefaultObjectPolicy, ReraiseExceptionPolicy
from robotrules.compat.reppy.robots import Agent, AllowAll, AllowNone, Robots, make_fetch_options
from robotrules.compat.reppy.ttl import FieldsView, HeaderWithDefaultPolicy, TTLPolicyBase
from robotrules.robotstxt import RobotsTxt
from tests.compat.loopback import serving

URL = "https://example.com/robots.txt"
BODY = b"User-agent: *\nDisallow: /a\nCrawl-delay: 2\nSitemap: https://example.com/s.xml\n"


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> None:
    """Permit loopback."""
    monkeypatch.setattr(Robots, "allow_private", ("127.0.0.1",))


def test_the_names_of_reppy() -> None:
    """`reppy.Robots` and `reppy.Agent` are those of `reppy.robots`."""
    assert (reppy.Robots, reppy.Agent) == (Robots, Agent)


def test_parse() -> None:
    """Verdicts by URL and by path; another origin is never allowed."""
    robots = Robots.parse(URL, BODY)
    assert not robots.allowed("https://example.com/a", "my-user-agent")
    assert robots.allowed("/b", b"my-user-agent/1.0 (x)")
    assert not robots.allowed("https://other.example/b", "my-user-agent")
    assert robots.sitemaps == ["https://example.com/s.xml"]
    assert (robots.expires, robots.expired, robots.ttl) == (None, False, 0.0)
    assert Robots.parse(URL, BODY, time.time() + 60).ttl > 50
    assert Robots.parse(URL, BODY, 1.0).expired
    assert str(robots) == BODY.decode()
    assert AllowAll(URL).allowed("/a", "x")
    assert not AllowNone(URL).allowed("/a", "x")


def test_agents() -> None:
    """An agent is a copy: added rules do not change the file."""
    robots = Robots.parse(URL, BODY)
    agent = robots.agent("my-user-agent")
    assert (agent.delay, len(agent)) == (2.0, 1)
    assert not agent.allowed("https://example.com/a/b")
    assert not agent.allowed("https://other.example/")
    assert agent.allow("/a/b").allowed("/a/b")
    assert agent.disallow("/c").allowed("/d")
    assert not agent.allowed("/c")
    assert (agent.delay, len(agent)) == (2.0, 3)
    assert not robots.allowed("/a/b", "my-user-agent")
    assert Agent().allowed("/")
    assert Agent().delay is None
    assert not Agent().disallow("/").allowed("/x")
    assert "Disallow: /" in str(Agent().disallow(b"/"))
    with pytest.raises(ValueError, match="one line"):
        Agent().disallow("/a\nAllow: /")


def test_robots_url() -> None:
    """Scheme, host and a port that is not the default one."""
    url = "http://userinfo@example.com:8080/path;params?query#fragment"
    assert Robots.robots_url(url) == "http://example.com:8080/robots.txt"
    assert Robots.robots_url("https://example.com:443/a") == URL
    with pytest.raises(exceptions.MalformedUrl):
        Robots.robots_url("mailto:a@example.com")


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("status", "result"), [(200, Robots), (401, AllowNone), (403, AllowNone), (404, AllowAll)]
)
def test_fetch(status: int, result: type[Robots]) -> None:
    """A status gives the class that reppy gave."""
    hooked: list[Robots] = []
    fields = {"User-Agent": "MyBot/2.0", "From": "bot@example.com"}
    with serving(status, BODY, {"Cache-Control": "max-age=1200"}) as (origin, requested):
        robots = Robots.fetch(
            f"{origin}/robots.txt", headers=fields, timeout=(5, 5), after_parse_hook=hooked.append
        )
    assert type(robots) is result
    assert requested == [("/robots.txt", "MyBot/2.0")]
    assert 1190 < robots.ttl <= 1200
    assert robots.allowed(f"{origin}/a", "x") == (status == 404)
    assert hooked == ([robots] if status == 200 else [])


@pytest.mark.usefixtures("local")
def test_failures() -> None:
    """An unreachable file raises; the cache keeps what its policy says."""
    with serving(503) as (origin, requested):
        with pytest.raises(exceptions.BadStatusCode) as raised:
            Robots.fetch(origin)
        assert raised.value.url == origin
        assert 503 in raised.value.args
        cache = RobotsCache(capacity=2)
        assert not cache.allowed(f"{origin}/b", "x")
        assert not cache.allowed(f"{origin}/c", "x")
        assert len(requested) == 2, "a failure is kept for ten minutes"
        again = RobotsCache(1, cache_policy=ReraiseExceptionPolicy(ttl=0))
        with pytest.raises(exceptions.BadStatusCode):
            again.allowed(f"{origin}/b", "x")
        lax = RobotsCache(1, cache_policy=DefaultObjectPolicy(10, AllowAll))
        assert lax.allowed(f"{origin}/b", "x")
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch("http://127.0.0.1:9/robots.txt")
    with pytest.raises(exceptions.MalformedUrl):
        Robots.fetch("example.com")
    with pytest.raises(TypeError, match="not supported: verify"):
        Robots.fetch(URL, verify=False)
    redirecting = serving(302, fields={"Location": "/robots.txt"})
    with redirecting as (origin, _), pytest.raises(exceptions.ExcessiveRedirects):
        Robots.fetch(origin)


def test_a_cache_logs_a_failure_once(caplog: pytest.LogCaptureFixture) -> None:
    """Its answers have no reason: the warning has it, and how to allow a private address."""
    with serving(200) as (origin, requested):
        for cache in (RobotsCache(1), AgentCache("x", 1)):
            for path in ("/a", "/b"):
                arguments = (f"{origin}{path}", "x")[: 2 if isinstance(cache, RobotsCache) else 1]
                assert not cache.allowed(*arguments)
            (record,) = caplog.records
            caplog.clear()
            assert (record.name, record.levelname) == ("robotrules.compat.reppy.cache", "WARNING")
            text = record.getMessage()
            assert text.startswith(
                "robots.txt was not read, so the cache policy DefaultObjectPolicy decides: "
                f"{origin}/robots.txt: 127.0.0.1 is loopback"
            )
            assert text.endswith("to allow it, set Robots.allow_private = ['127.0.0.1']")
    assert requested == []


def test_a_cache_logs_other_errors_with_their_url(caplog: pytest.LogCaptureFixture) -> None:
    """Exceptions of a subclass's `fetch()` may not name it; misuse is raised, not logged."""

    class Failing(RobotsCache):
        error: Exception = KeyError("field")

        def fetch(self, url: str) -> tuple[float, Robots]:
            raise self.error

    cache = Failing(2)
    assert not cache.allowed("https://a.example/", "x")
    assert caplog.messages[0].endswith(": https://a.example/robots.txt: KeyError('field')")
    cache.error = TypeError()
    with pytest.raises(TypeError):
        cache.allowed("https://b.example/", "x")
    assert len(caplog.messages) == 1


def test_private_addresses_are_refused_by_default() -> None:
    """`allow_private` of the class permits them, and the error says so."""

    class Own(Robots):
        pass

    for cls in (Robots, Own):
        with (
            serving(200) as (origin, requested),
            pytest.raises(exceptions.ConnectionException) as raised,
        ):
            cls.fetch(origin)
        assert requested == []
        assert f"set {cls.__name__}.allow_private = ['127.0.0.1']" in str(raised.value)
        assert "allow_private=" not in str(raised.value)


INVALID_OPTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"verify": False}, TypeError, "not supported: verify"),
    ({"timeot": 3}, TypeError, "not supported: timeot"),
    ({"after_response_hook": print}, TypeError, "on_fetch"),
    ({"allow_private": ["a"]}, TypeError, r"set Robots\.allow_private = \['intranet\.example'\]"),
    ({"user_agent": "a"}, TypeError, r"set Robots\.user_agent = 'ExampleBot/1\.0'"),
    ({"after_parse_hook": 3}, TypeError, "after_parse_hook"),
    ({"headers": "From: x"}, TypeError, "headers is a str"),
    ({"headers": {"From": 3}}, TypeError, "names and values are str"),
    ({"headers": {"From": "a\nb"}}, ValueError, "From"),
    ({"headers": {"Host": "x"}}, ValueError, "Host"),
    ({"headers": {"User-Agent": ""}}, ValueError, "User-Agent"),
    ({"headers": {"user-agent": "https://example.com/"}}, ValueError, "is a URL"),
    ({"timeout": "5"}, TypeError, "timeout"),
    ({"timeout": True}, TypeError, "timeout"),
    ({"timeout": (5,)}, TypeError, "timeout"),
    ({"timeout": [5, 5]}, TypeError, "timeout"),
    ({"timeout": (5, 5, 5)}, TypeError, "timeout"),
    ({"timeout": 0}, ValueError, "timeout"),
    ({"timeout": (0, 5)}, ValueError, "timeout"),
    ({"timeout": (-3, 10)}, ValueError, "timeout"),
    ({"timeout": float("nan")}, ValueError, "timeout"),
    ({"timeout": (float("inf"), None)}, ValueError, "timeout"),
]


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(("options", "kind", "text"), INVALID_OPTIONS)
def test_invalid_options_raise_before_a_fetch(
    options: dict[str, Any], kind: type[Exception], text: str
) -> None:
    """Also when a cache is made: a cache would disallow everything for ten minutes."""
    with serving(200, BODY) as (origin, requested):
        for make in (
            lambda: Robots.fetch(origin, **options),
            lambda: RobotsCache(1, **options),
            lambda: AgentCache("x", 1, **options),
        ):
            with pytest.raises(kind, match=text):
                make()
    assert requested == []


def test_swapped_arguments_and_other_types() -> None:
    """Content that is the URL would be a file that allows everything."""
    with pytest.raises(ValueError, match=r"pass the URL of the robots\.txt first"):
        Robots.parse("User-agent: *\nDisallow: /", URL)
    assert Robots.parse("", "User-agent: *\nDisallow: /").robots.groups
    robots = Robots.parse(URL, BODY)
    for path in (None, 3):
        with pytest.raises(TypeError, match="a URL is str or bytes"):
            robots.allowed(path, "x")  # type: ignore[arg-type]


def test_invalid_arguments_of_caches() -> None:
    """Policies without the method that is called, a positional option, and a URL as agent."""
    with pytest.raises(TypeError, match="capacity is '9': pass the number of files"):
        RobotsCache("9")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"cache_policy .* exception\(\)"):
        RobotsCache(1, AllowNone)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"ttl_policy .* expires\(\)"):
        RobotsCache(1, None, 600)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not supported: \{\}"):
        RobotsCache(1, None, None, {})
    with pytest.raises(ValueError, match="is a URL"):
        AgentCache("https://example.com/", 1)


@pytest.mark.usefixtures("local")
def test_positional_arguments_of_reppy() -> None:
    """`fetch(url, ttl_policy, max_size)`, and caches with both policies and options of a fetch."""
    hooked: list[Robots] = []
    policies = (ReraiseExceptionPolicy(ttl=5), HeaderWithDefaultPolicy(default=60, minimum=30))
    with serving(200, BODY) as (origin, requested):
        assert 50 < Robots.fetch(origin, policies[1], 1_048_576).ttl <= 60
        cache = RobotsCache(
            2, *policies, max_size=1000, after_parse_hook=hooked.append, headers={"User-Agent": "A"}
        )
        assert not cache.allowed(f"{origin}/a", "x")
        assert (cache.cache_policy, cache.ttl_policy) == policies
        assert not AgentCache(b"x/1.0", 2, *policies, timeout=(None, 5)).allowed(f"{origin}/a")
    assert hooked == [cache.get(origin)]
    assert requested[1] == ("/robots.txt", "A")


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [(None, 30), (5, 5), ((2, 3.5), 5.5), ((None, 5), 35), ((5, None), 35), ((None, None), 60)],
)
def test_timeouts(timeout: object, seconds: float) -> None:
    """A pair limits the fetch by its sum; a part that is None counts as the default."""
    assert make_fetch_options((), {"timeout": timeout}).timeout == seconds


@pytest.mark.usefixtures("local")
def test_misuse_in_a_fetch_is_raised_and_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object that disallows everything would hide it. Failures still go to the policy."""

    class Failing(RobotsCache):
        error: Exception

        def fetch(self, url: str) -> tuple[float, Robots]:
            raise self.error

    with serving(200, BODY) as (origin, _):
        cache = RobotsCache(1)
        monkeypatch.setattr(Robots, "allow_private", ["not a host"])
        for _ in range(2):
            with pytest.raises(ValueError, match="allow_private"):
                cache.allowed(f"{origin}/b", "x")
        monkeypatch.setattr(Robots, "allow_private", ["127.0.0.1"])
        assert cache.allowed(f"{origin}/b", "x")
    failing = Failing(9)
    for number, error in enumerate((TypeError(), ValueError())):
        failing.error = error
        with pytest.raises(type(error)):
            failing.allowed(f"https://{number}.example/", "x")
    for number, error in enumerate((exceptions.MalformedUrl(), OSError(), UrlError(), KeyError())):
        failing.error = error
        assert not failing.allowed(f"https://failed-{number}.example/", "x")


class UrlError(OSError, ValueError):
    """As some errors of requests: about a URL, and both an OSError and a ValueError."""


def test_a_cached_exception_does_not_grow() -> None:
    """Each raise of one object would add to its traceback."""

    class Failing(RobotsCache):
        def fetch(self, url: str) -> tuple[float, Robots]:
            raise exceptions.ReadTimeout("no answer")

    cache = Failing(1, ReraiseExceptionPolicy(ttl=60))
    depths = []
    for _ in range(3):
        with pytest.raises(exceptions.ReadTimeout) as raised:
            cache.get("https://example.com/")
        depths.append(len(raised.traceback))
    assert len(set(depths)) == 1


def test_malformed_urls_are_value_errors() -> None:
    """Callers of reppy catch the one or the other."""
    for kind in (ValueError, exceptions.ReppyException, exceptions.MalformedUrl):
        with pytest.raises(kind):
            Robots.robots_url("example.com/a")
        with pytest.raises(kind):
            Robots.fetch("mailto:a@example.com")
        with pytest.raises(kind):
            RobotsCache(1).allowed("ftp://example.com/a", "x")


@pytest.mark.usefixtures("local")
def test_threads_share_a_cache() -> None:
    """Twenty threads fetch a file once, and all of them get its answers."""
    with serving(200, BODY) as (origin, requested):
        cache = RobotsCache(10)
        with ThreadPoolExecutor(20) as pool:
            paths = ["/a", "/b"] * 200
            answers = list(pool.map(lambda path: cache.allowed(f"{origin}{path}", "x"), paths))
    assert answers == [False, True] * 200
    assert len(requested) == 1


def test_many_rules_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy is parsed when it is asked, not for each rule, and may have more than 500 KiB."""
    parsed: list[object] = []

    def recording(text: bytes) -> RobotsTxt:
        parsed.append(text)
        return parse_supplied(text)

    monkeypatch.setattr("robotrules.compat.reppy.robots.parse_supplied", recording)
    agent = Agent()
    for number in range(40_000):
        agent.disallow(f"/{number}$")
    agent.allow("/39999").disallow("/\ud800").disallow(b"/\xff")
    assert not agent.allowed("/39998")
    assert not agent.allowed("/%FF")
    assert agent.allowed("/39998/a")
    assert len(agent) == 40_003
    assert len(parsed) == 2
    blocked = Agent().disallow("/")
    assert copy.copy(blocked).allow("/b").allowed("/b")
    assert not blocked.allowed("/b")
    other = Robots.parse(URL, BODY)
    assert copy.deepcopy(other.agent("x").disallow("/c")).allowed("/c") is False
    assert pickle.loads(pickle.dumps(other)).agent("x").delay == 2


@pytest.mark.usefixtures("local")
def test_caches() -> None:
    """A fresh file is fetched once; the least recently used is dropped."""
    with serving(200, BODY) as (origin, requested), serving(404) as (other, _):
        cache = RobotsCache(capacity=1)
        assert [cache.allowed(f"{origin}{path}", "x") for path in ("/a", "/b", "/c")] == [
            False,
            True,
            True,
        ]
        assert len(requested) == 1
        assert cache.get(origin).sitemaps
        assert cache.allowed(f"{other}/a", "x")
        assert cache.allowed(f"{origin}/b", "x")
        assert len(requested) == 2
        agents = AgentCache("x/1.0", capacity=2)
        assert (agents.allowed(f"{origin}/a"), agents.allowed(f"{origin}/b")) == (False, True)
        assert len(requested) == 3
        assert not AgentCache("x", 1).allowed("http://127.0.0.1:9/a")
        expires, robots = cache.fetch(f"{origin}/robots.txt")
        assert expires == robots.expires
    with pytest.raises(ValueError, match="capacity"):
        RobotsCache(0)


@pytest.mark.parametrize(
    ("fields", "ttl"),
    [
        ({}, 1800),
        ({"cache-control": "max-age=3000"}, 3000),
        ({"cache-control": "max-age=1"}, 600),
        ({"cache-control": "no-store, max-age=3000"}, 600),
        (
            {"expires": "Thu, 01 Jan 2026 01:00:00 GMT", "date": "Thu, 01 Jan 2026 00:00:00 GMT"},
            3600,
        ),
        ({"expires": "never"}, 600),
    ],
)
def test_ttl_policies(fields: dict[str, str], ttl: float) -> None:
    """Fields, then the default; never below the minimum."""
    policy = HeaderWithDefaultPolicy(default=1800, minimum=600)
    assert policy.ttl(FieldsView(200, fields)) == ttl
    assert policy.expires(FieldsView(200, fields)) > time.time()


@pytest.mark.usefixtures("local")
def test_a_file_is_used_for_a_day_at_most() -> None:
    """RFC 9309 §2.4, whatever a policy says."""

    class Week(TTLPolicyBase):
        def ttl(self, response: FieldsView) -> float:
            return 7 * 86_400

    with serving(200, BODY) as (origin, _):
        assert Robots.fetch(origin, ttl_policy=Week()).ttl <= 86_400


LINES = [
    "User-agent: *",
    "Disallow: /*$",
    "Disallow: /\u00e9",
    "Allow: /\udce9",
    "Crawl-delay: 1e999",
]
TEXTS = st.one_of(
    st.text(),
    st.binary(),
    st.lists(st.sampled_from([*LINES, "Sitemap: //[", "\ufeff", "\x00"])).map(
        lambda lines: "\r".join(["User-agent: *", *lines])
    ),
)


@given(TEXTS, st.one_of(st.text(), st.binary()), st.text())
def test_hostile_content_does_not_raise(content: str | bytes, path: str | bytes, url: str) -> None:
    """Neither a file, the URL of a file, nor a checked URL or path raises."""
    robots = Robots.parse(url, content)
    assert isinstance(robots.allowed(path, "foo"), bool)
    assert all(isinstance(sitemap, str) for sitemap in robots.sitemaps)
    assert isinstance(str(robots), str)
    agent = robots.agent(b"foo")
    assert isinstance(agent.allowed(path), bool)
    assert agent.delay is None or agent.delay > 0
    assert len(agent) >= 0
    agent.disallow("/").allow("/a")
    assert isinstance(str(agent), str)
