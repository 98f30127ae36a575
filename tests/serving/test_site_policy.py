"""
A SitePolicy: the policy argument, hosts, staging, fields by path, responses, lint, counters.

Nothing is sent here: `tests/integrations` has the servers.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import robotrules
from robotrules.errors import CheckError, PolicyError
from robotrules.linting import lint
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.serving import SitePolicy, make_staging_robots
from robotrules.tags import usage_rules

ROBOTS = "User-agent: *\nDisallow: /secret-plans/\n"
POLICY = """
[everyone]
keep-out = ["/cart/"]

[everyone.use]
train-ai = false
"/press/" = { train-ai = true }

[[tags]]
paths = ["/drafts/", "/*.pdf$"]
rules = ["noindex", "max-snippet: 50"]

[[tags]]
paths = "/drafts/old/"
rules = ["max-snippet: 20", "unavailable_after: 2027-01-31T12:00:00Z"]
crawlers = ["ExampleBot"]
"""
GPTBOT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://x)"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def fields_of(site: SitePolicy, target: str, host: str = "") -> list[tuple[str, str]]:
    """Return the fields that a response without its own has."""
    return site.response_fields(target, host).add_to([])


# --- The policy argument --------------------------------------------------------------------------


def test_files_and_texts(tmp_path: Path) -> None:
    """A Path or a name with a known ending is a file; a str with a line end is the text."""
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "robots.txt").write_text(ROBOTS)
    (tmp_path / "rules").write_text(ROBOTS)
    from_toml = SitePolicy(tmp_path / "policy.toml").robots_txt()
    assert from_toml == SitePolicy(str(tmp_path / "policy.toml")).robots_txt()
    assert from_toml == SitePolicy(POLICY).robots_txt()
    assert from_toml.startswith(b"User-agent: *\nDisallow: /cart/\n")
    for source in (tmp_path / "robots.txt", str(tmp_path / "robots.txt"), tmp_path / "rules"):
        assert SitePolicy(source).robots_txt() == ROBOTS.encode()
    assert SitePolicy(ROBOTS).robots_txt() == ROBOTS.encode()


@pytest.mark.parametrize(
    ("text", "is_toml"),
    [
        ("[everyone]\n", True),
        ("# a = b\n\n  sitemaps = ['https://example.com/s']\n", True),
        ("\ufeff[everyone]\n", True),
        ("# comment\nUser-agent: *\nDisallow: /a=b\n", False),
        ("Sitemap: https://example.com/?a=b\n", False),
        ("# only a comment\n", False),
        ("\r\n\tUser-agent:*\nDisallow: /x", False),
    ],
)
def test_a_text_is_a_policy_or_a_robots_txt(text: str, is_toml: bool) -> None:
    """The first line decides; no text is both."""
    served = SitePolicy(text, ignore=["all"]).robots_txt()
    assert (served != text.encode()) == is_toml


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"policy": "User-agent: *"}, "end a text of one line with"),
        ({"policy": "missing.toml"}, "cannot be read: No such file"),
        ({"policy": "[everyone]\nkeepout = 1\n"}, "line 2: everyone.keepout: there is no key"),
        (
            {"policy": "[[tags]]\npaths = '/a'\nrules = 'noindx'\n"},
            "line 3: tags[1].rules: unknown",
        ),
        (
            {"policy": "[[tags]]\npaths = '/a'\nrules = 'noindex'\ncrawlers = ['Bot X']\n"},
            "line 4: tags[1].crawlers: X-Robots-Tag cannot name 'Bot X'",
        ),
        (
            {"policy": ROBOTS, "hosts": {"a.example": "[everyone]\nx = 1\n"}},
            "the policy text of host 'a.example', line 2: everyone.x: there is no key",
        ),
        ({"policy": ROBOTS, "max_age": 86_401}, "24 hours (RFC 9309 §2.4)"),
        ({"policy": ROBOTS, "max_age": -1}, "use 0 to 86,400 seconds"),
        ({"policy": ROBOTS, "min_level": "fatal"}, "use one of error, warning, info"),
        ({"policy": ROBOTS, "hosts": {"a b": ROBOTS}}, "hosts: 'a b' is not a host"),
        ({"policy": ROBOTS, "hosts": {"a.*": ROBOTS}}, "is not a host"),
        ({"policy": ROBOTS, "hosts": {"http://a.example": ROBOTS}}, "is not a host"),
        ({"policy": ROBOTS, "staging": ["a.example", "A.EXAMPLE:80"]}, "there twice"),
    ],
)
def test_a_mistake_raises_a_policy_error(arguments: dict[str, Any], words: str) -> None:
    """The message says what is wrong, where, and what to write."""
    with pytest.raises(PolicyError, match=re.escape(words)) as caught:
        SitePolicy(**arguments)
    assert caught.value.notes == ()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"policy": b"User-agent: *\n"}, "policy is the path of a file"),
        ({"policy": ["policy.toml"]}, "policy is the path of a file"),
        ({"policy": ROBOTS, "hosts": ["a.example"]}, "hosts has a policy for each host"),
        (
            {"policy": ROBOTS, "hosts": {"a.example": None}},
            "hosts['a.example'] is the path of a file, or its text as str; not NoneType",
        ),
        ({"policy": ROBOTS, "staging": "a.example"}, "pass ['a.example']"),
        ({"policy": ROBOTS, "staging": None}, "staging is a list of hosts, or True; not None"),
        (
            {"policy": ROBOTS, "staging": "True"},
            "staging is the text 'True': write True without quotes",
        ),
        ({"policy": ROBOTS, "staging": "false"}, "write False without quotes"),
        ({"policy": ROBOTS, "max_age": "1"}, "max_age is a number of seconds"),
        ({"policy": ROBOTS, "max_age": True}, "max_age is a number of seconds"),
        ({"policy": ROBOTS, "ignore": "RR301"}, "ignore is a list of names: pass ['RR301']"),
        ({"policy": ROBOTS, "ignore": 301}, "ignore is a list of names: pass ['RR510']"),
    ],
)
def test_wrong_types(arguments: dict[str, Any], words: str) -> None:
    """A wrong type is a TypeError that says what to pass."""
    with pytest.raises(TypeError, match=re.escape(words)):
        SitePolicy(**arguments)


def test_files_that_are_not_utf8_or_too_large(tmp_path: Path) -> None:
    """A policy is UTF-8 and at most 1 MiB."""
    (tmp_path / "a.toml").write_bytes(b"# \n# \xff\n")
    (tmp_path / "b.toml").write_bytes(b"#" * (1 << 20 | 1))
    with pytest.raises(PolicyError, match=r"line 2: this is not UTF-8"):
        SitePolicy(tmp_path / "a.toml")
    with pytest.raises(PolicyError, match="larger than 1 MiB"):
        SitePolicy(tmp_path / "b.toml")


# --- Lint -----------------------------------------------------------------------------------------


def test_a_note_stops_the_start() -> None:
    """With the line, the code and how to fix it; the error has the notes."""
    with pytest.raises(PolicyError) as caught:
        SitePolicy("User-agent: *\nDisalow: /x\n")
    assert [note.code for note in caught.value.notes] == ["RR301", "RR510"]
    assert "line 2 ('Disalow: /x'): warning RR301 typo:" in str(caught.value)
    assert "Write 'Disallow'" in str(caught.value)
    assert "ignore=['RR301', 'RR510']" in str(caught.value)


def test_min_level_and_ignore() -> None:
    """Warnings are kept as notes; a check can be ignored by code or slug."""
    text = "User-agent: *\nDisalow: /x\n"
    site = SitePolicy(text, min_level="error")
    assert [note.code for note in site.notes] == ["RR301", "RR510"]
    assert SitePolicy(text, ignore=["typo", "RR510"]).notes == ()
    with pytest.raises(CheckError, match="ignore names 'tipo', which is not a check: did you mean"):
        SitePolicy(text, ignore=["tipo"])
    with pytest.raises(PolicyError, match="path-disclosure"):
        SitePolicy("User-agent: *\nDisallow: /private/\n", min_level="info")


def test_tags_that_no_crawler_reads_stop_the_start() -> None:
    """A noindex for URLs that the robots.txt disallows is not seen: RR861 with the table's line."""
    policy = '[everyone]\nkeep-out = ["/d/"]\n\n[[tags]]\npaths = ["{}"]\nrules = ["{}"]\n'
    with pytest.raises(PolicyError, match=r"line 4, tags for '/d/x': warning RR861"):
        SitePolicy(policy.format("/d/x", "noindex"))
    with pytest.raises(PolicyError, match="RR862"):
        SitePolicy(policy.format("/d/x", "nosnippet"))
    SitePolicy(policy.format("/", "noindex"))  # some URLs can be fetched
    named = policy.format("/d/x", "noindex") + 'crawlers = ["ExampleBot"]\n'
    with pytest.raises(PolicyError, match="tags for '/d/x' and ExampleBot"):
        SitePolicy(named)
    SitePolicy(named + '[[for]]\ncrawlers = ["ExampleBot"]\nwelcome = ["/d/"]\n')


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("/.*[.]pdf$", "RR519"),
        ("/[0-9]", "RR519"),
        ("/*.pdf$x", "RR517"),
        ("/a$b", "RR517"),
    ],
)
def test_patterns_of_tags_that_do_not_match_as_meant(pattern: str, code: str) -> None:
    """They stop the start, with the line of the table; the words are about the server."""
    policy = f"[everyone]\n\n[[tags]]\npaths = ['/x/', '{pattern}']\nrules = ['noindex']\n"
    with pytest.raises(PolicyError) as caught:
        SitePolicy(policy)
    (note,) = caught.value.notes
    assert (note.code, note.level, note.line) == (code, "warning", 3)
    assert f"the policy text, line 3, tags for '{pattern}': warning {code}" in str(caught.value)
    assert "crawler" not in note.message
    assert "Google" not in note.message
    assert SitePolicy(policy, ignore=[code]).notes == ()


def test_alternatives_in_a_pattern_of_tags() -> None:
    """A regular expression with `$` inside has both notes."""
    policy = "[everyone]\n\n[[tags]]\npaths = ['/*.pdf$|/*.doc$']\nrules = ['noindex']\n"
    with pytest.raises(PolicyError) as caught:
        SitePolicy(policy)
    assert sorted(note.code for note in caught.value.notes) == ["RR517", "RR519"]


def test_patterns_of_tags_that_can_be_shorter() -> None:
    """For information; the reach of other patterns is still checked."""
    policy = "[everyone]\nkeep-out = ['/d/']\n[[tags]]\npaths = ['/x*', '/?', '/d/x*']\n"
    with pytest.raises(PolicyError, match="RR861") as caught:
        SitePolicy(policy + "rules = ['noindex']\n", min_level="info", ignore=["RR511"])
    assert sorted(note.code for note in caught.value.notes) == ["RR516", "RR523", "RR861"]


def test_crawlers_of_tags_that_do_not_exist() -> None:
    """A misspelt name stops the start, a retired one is for information; both are in the table."""
    policy = "[[tags]]\npaths = ['/d/']\nrules = ['noindex']\ncrawlers = {}\n"
    with pytest.raises(PolicyError) as caught:
        SitePolicy(policy.format(["ExampleBot", "Googelbot"]))
    where = "line 1, tags, crawler 'Googelbot': warning RR412"
    assert where in str(caught.value)
    assert "Did you mean Googlebot" in str(caught.value)
    site = SitePolicy(policy.format(["anthropic-ai", "Googlebot", "*"]))
    assert [(note.code, note.line) for note in site.notes] == [("RR114", None), ("RR414", 1)]
    assert "line 1, tags, crawler 'anthropic-ai': info RR414" in site.note_messages[1]


# --- Hosts and staging ----------------------------------------------------------------------------


def test_hosts() -> None:
    """An exact host, then the longest pattern, then the default; without case and port."""
    texts = {name: f"User-agent: *\nDisallow: /{name}/\n" for name in ("a", "b", "c", "d")}
    hosts = {"shop.example": texts["b"], "*.example": texts["c"], "*.shop.example": texts["d"]}
    site = SitePolicy(texts["a"], hosts={**hosts, "bücher.test": texts["b"]})
    expected = {
        "shop.example": "b",
        "SHOP.Example.:8080": "b",
        "x.example": "c",
        "y.x.example": "c",
        "www.shop.example": "d",
        "example": "a",
        "xn--bcher-kva.test": "b",
        "x.xn--bcher-kva.test": "a",
        "evil.test": "a",
        "shop.example@evil.test": "a",
        "shop.example/x": "a",
        "bücher.test": "b",
        "": "a",
        "[::1]:80": "a",
        "a" * 10_000: "a",
    }
    for host, name in expected.items():
        assert site.robots_txt(host) == texts[name].encode(), host


def test_staging_hosts_disallow_everything() -> None:
    """By robots.txt, also to crawlers that ignore `*`, and by tags on every response."""
    site = SitePolicy(POLICY, staging=["staging.example", "*.preview.example"])
    for host in ("staging.example", "pr-7.preview.example:8443"):
        body = site.robots_txt(host)
        assert body.decode() == make_staging_robots()
        robots = robotrules.parse(body)
        for crawler in KNOWN_CRAWLERS:
            assert not robots.check("/x", crawler.names)
        assert not robots.check("/x", "AnyBot")
        assert fields_of(site, "/x", host) == [
            ("Robots-Tag", "*;noindex;nofollow"),
            ("X-Robots-Tag", "noindex, nofollow"),
            ("Content-Usage", "train-ai=n"),
        ]
        # Staging adds restrictions to those of the policy, and removes none.
        tags = dict(fields_of(site, "/drafts/x", host))
        assert tags["Robots-Tag"] == "*;noindex;max-snippet=50;nofollow"
    assert b"/cart/" in site.robots_txt("www.example")
    assert site.robots_txt("preview.example") == site.robots_txt("www.example")


def test_staging_everywhere() -> None:
    """One setting, for a deployment that is nothing but staging."""
    site = SitePolicy(POLICY, staging=True)
    assert site.robots_txt("any.example").decode() == make_staging_robots()
    assert not [note for note in lint(make_staging_robots()) if note.level == "error"]
    assert SitePolicy(POLICY, staging=False).robots_txt() == SitePolicy(POLICY).robots_txt()
    other = SitePolicy(POLICY, staging=True, hosts={"a.example": ROBOTS})
    assert other.robots_txt("a.example").decode() == make_staging_robots()


# --- Fields by path -------------------------------------------------------------------------------


def test_fields_by_path() -> None:
    """All tables that match apply; both fields have the same rules."""
    site = SitePolicy(POLICY)
    assert fields_of(site, "/") == [("Content-Usage", "train-ai=n")]
    assert fields_of(site, "/press/x") == [("Content-Usage", "train-ai=y")]
    assert fields_of(site, "/x/y.pdf") == fields_of(site, "//y.pdf")
    assert fields_of(site, "/x.pdf?a") == fields_of(site, "/")
    headers = fields_of(site, "/drafts/old/x.pdf")
    for name in ("Robots-Tag", "X-Robots-Tag"):
        lines = [(there, value) for there, value in headers if there == name]
        everyone = usage_rules(headers=lines, product_token="OtherBot").rules
        assert everyone == {"noindex": True, "max-snippet": 50}
        named = usage_rules(headers=lines, product_token="ExampleBot")
        assert named.rules["max-snippet"] == 20
        assert named.unavailable_after is not None


def test_fields_are_added_and_never_removed() -> None:
    """Lines for all crawlers come first, scoped lines last; an own Content-Usage stays."""
    fields = SitePolicy(POLICY).response_fields("/drafts/old/")
    own = [("x-robots-tag", "noarchive"), ("CONTENT-USAGE", "train-ai=y"), ("A", "b")]
    added = fields.add_to(own)
    assert [name for name, _ in added] == [
        *("Robots-Tag", "X-Robots-Tag", "x-robots-tag", "CONTENT-USAGE", "A", "X-Robots-Tag")
    ]
    raw = [(name.lower().encode(), value.encode()) for name, value in own]
    expected = [(name.lower().encode(), value.encode()) for name, value in added]
    assert fields.add_to_raw(raw) == expected
    joined = fields.joined(own[:2])
    assert [name for name, _ in joined] == ["Robots-Tag", "X-Robots-Tag", "Content-Usage"]
    for token in ("OtherBot", "ExampleBot"):
        separate = usage_rules(headers=added, product_token=token).rules
        assert usage_rules(headers=joined, product_token=token).rules == separate
        assert separate["noarchive"] is True


def test_content_usage_agrees_with_the_file() -> None:
    """The field has what the file states for everyone, without what it lifts for some crawlers."""
    policy = "[everyone.use]\ntrain-ai = false\nsearch = true\n"
    partner = '[[for]]\ncrawlers = ["PartnerBot"]\nuse = { "/feed/" = { train-ai = true } }\n'
    site = SitePolicy(policy + partner)
    robots = robotrules.parse(site.robots_txt())
    for path, value in (("/", "train-ai=n, search=y"), ("/feed/x", "search=y")):
        assert fields_of(site, path) == [("Content-Usage", value)]
        for token in ("PartnerBot", "OtherBot"):
            alone = robotrules.preferences(path, token, robots=robots).values
            both = robotrules.preferences(path, token, robots=robots, field=value).values
            assert alone == both
    # Exceptions of many crawlers are compared once.
    many = "".join(partner.replace("Partner", f"Bot-{letter}-") for letter in "abcdef")
    site = SitePolicy(policy + partner + many)
    assert fields_of(site, "/feed/x") == [("Content-Usage", "search=y")]
    assert len(site._hosts.default[0].fields._exceptions) == 1
    purposes = '[[for]]\npurposes = ["EXAMPLE-PURPOSE-1"]\nuse = { train-ai = true }\n'
    assert fields_of(SitePolicy(policy + purposes), "/") == [("Content-Usage", "search=y")]


def test_a_robots_txt_has_fields_too() -> None:
    """A policy that is a robots.txt has Content-Usage, also for disallowed URLs, and no tags."""
    site = SitePolicy("User-agent: *\nDisallow: /x/\nContent-Usage: train-ai=n\n")
    assert fields_of(site, "/x/") == fields_of(site, "/") == [("Content-Usage", "train-ai=n")]
    assert not SitePolicy(ROBOTS).response_fields("/")


PIECES = st.sampled_from(["/", "a", "b", "*", "$", "%2F", "%41", "?", "=", "ü", ".pdf", "//"])
PATTERNS = st.lists(PIECES, max_size=5).map(lambda parts: "/" + "".join(parts))


@given(PATTERNS, st.lists(PIECES, max_size=6).map(lambda parts: "/" + "".join(parts)))
def test_paths_match_as_in_a_robots_txt(pattern: str, path: str) -> None:
    """A tag rule applies to exactly the URLs that a Disallow with the same pattern blocks."""
    # A `$` inside a pattern is a warning.
    policy = f"[[tags]]\npaths = ['{pattern}']\nrules = ['noindex']\n"
    site = SitePolicy(policy, min_level="error")
    robots = robotrules.parse(f"User-agent: *\nDisallow: {pattern}\n")
    disallowed = not robots.check(f"https://example.com{path}", "AnyBot")
    if path != "/robots.txt":
        assert bool(site.response_fields(path)) == disallowed


RULES = st.dictionaries(
    st.sampled_from(["noindex", "nosnippet", "nofollow", "noarchive", "max-snippet", "noai"]),
    st.integers(-1, 500),
    min_size=1,
    max_size=4,
)


@given(st.lists(st.tuples(RULES, st.sampled_from(["*", "ExampleBot", "OtherBot"])), max_size=4))
@example([({"nosnippet": 0, "max-snippet": -1}, "*")])
@example([({"max-snippet": 0}, "*"), ({"max-snippet": 5}, "ExampleBot")])
@example([({"max-snippet": 20}, "*"), ({"max-snippet": -1}, "*")])
def test_fields_read_back_as_written(tables: list[tuple[dict[str, int], str]]) -> None:
    """Each field alone, and both joined to one line, mean the union of the tables."""
    text = "\n"
    for rules, token in tables:
        listed = [f"{n}: {v}" if n == "max-snippet" else n for n, v in rules.items()]
        text += f"[[tags]]\npaths = ['/']\nrules = {listed}\ncrawlers = ['{token}']\n"
    fields = SitePolicy(f"# policy{text}\ncomment = ''\n" if not tables else text.lstrip())
    found = fields.response_fields("/x")
    for token in ("ExampleBot", "OtherBot", "ThirdBot"):
        expected: dict[str, Any] = {}
        for rules, scope in tables:
            for name, value in rules.items() if scope in ("*", token) else ():
                if name != "max-snippet":
                    expected[name] = True
                else:
                    limits = [v for v in (value, expected.get(name, -1)) if v != -1]
                    expected[name] = min(limits, default=-1)
        # `max-snippet: 0` is nosnippet (XRT-08), beside which no other limit has an effect.
        limit = expected.pop("max-snippet", -1)
        no_snippet = expected.pop("nosnippet", False) or limit == 0
        for lines in (found.add_to([]), found.joined([])):
            for field in ("Robots-Tag", "X-Robots-Tag"):
                own = [(name, value) for name, value in lines if name == field]
                usage = usage_rules(headers=own, product_token=token)
                others = dict(usage.rules)
                others.pop("max-snippet", None)
                others.pop("nosnippet", None)
                assert others == expected
                assert usage.may_snippet is not no_snippet
                if not no_snippet:
                    assert usage.rules.get("max-snippet", -1) == limit


# --- The response ---------------------------------------------------------------------------------


def test_get_head_and_other_methods() -> None:
    """200 with a body, without one for HEAD, and 405 with Allow."""
    site = SitePolicy(ROBOTS, max_age=600)
    found = site.robots_response("GET")
    headers = dict(found.headers)
    assert (found.status, found.reason, found.body) == (200, "OK", ROBOTS.encode())
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert headers["Cache-Control"] == "max-age=600"
    assert headers["Content-Length"] == str(len(ROBOTS))
    assert re.fullmatch(r'"[0-9a-f]{32}"', headers["ETag"])
    head = site.robots_response("HEAD")
    assert (head.status, head.headers, head.body) == (200, found.headers, b"")
    for method in ("POST", "OPTIONS", "get", ""):
        refused = site.robots_response(method)
        assert (refused.status, refused.body) == (405, b"")
        headers = dict(refused.headers)
        assert headers.pop("Allow") == "GET, HEAD"
        # PEP 3333 servers expect both, also for an empty body.
        expected = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": "0"}
        assert headers == expected


def test_conditional_requests() -> None:
    """Weak comparison with a list of tags, or `*` (RFC 9110 §13.1.2)."""
    site = SitePolicy(ROBOTS)
    etag = dict(site.robots_response("GET").headers)["ETag"]
    for current in (etag, f"W/{etag}", f'"a,b", {etag}', "*", f' "x" ,W/{etag}'):
        answer = site.robots_response("GET", if_none_match=current)
        assert (answer.status, answer.body) == (304, b"")
        assert dict(answer.headers) == {"ETag": etag, "Cache-Control": "max-age=3600"}
    for other in ("", '"x"', etag.strip('"'), etag[:-2] + '"', f'"{etag}', "W/*", '"*"'):
        assert site.robots_response("GET", if_none_match=other).status == 200
    assert dict(SitePolicy(POLICY).robots_response("GET").headers)["ETag"] != etag


def test_the_robots_txt_itself_has_fields() -> None:
    """Fields by path apply to it as to any other URL."""
    policy = "[[tags]]\npaths = ['/']\nrules = ['noindex']\n"
    assert dict(SitePolicy(policy).robots_response("GET").headers)["X-Robots-Tag"] == "noindex"


# --- Counters -------------------------------------------------------------------------------------


def test_counters() -> None:
    """Known crawlers, by what the rules for them say; others are not counted."""
    text = "User-agent: *\nDisallow: /x/\n\nUser-agent: Googlebot\nDisallow: /y/\n"
    site = SitePolicy(text, ignore=["star-not-inherited"])
    site.robots_response("GET", user_agent=GPTBOT)
    for target in ("/", "/x/a", "/x/b", "/y/"):
        site.record_request(target, user_agent=GPTBOT)
        site.record_request(target, user_agent=FIREFOX)
        site.record_request(target, user_agent="UnknownBot/1.0")
        site.record_request(target, user_agent="AdsBot-Google (+http://x)")  # ignores `*`
        site.record_request(target, user_agent="Googlebot-News")  # obeys Googlebot's group
    assert site.counters.as_dict() == {
        "AdsBot-Google": {"robots_txt": 0, "allowed": 4, "disallowed": 0},
        "Googlebot-News": {"robots_txt": 0, "allowed": 3, "disallowed": 1},
        "GPTBot": {"robots_txt": 1, "allowed": 2, "disallowed": 2},
    }
    assert site.counters.get("GPTBot").disallowed == 2
    assert site.counters.get("UnknownBot").disallowed == 0
    site.counters.clear()
    assert site.counters.as_dict() == {}


def test_disallowed_paths() -> None:
    """Which crawler requested what: different paths without query, the latest first."""
    site = SitePolicy(ROBOTS)
    for target in ("/a", "/secret-plans/x?token=1", b"/secret-plans/y", "/secret-plans/x?b#c"):
        site.record_request(target, user_agent=GPTBOT)
        site.record_request(target, user_agent=FIREFOX)
    paths = site.counters.disallowed_paths
    assert paths("GPTBot") == ("/secret-plans/x", "/secret-plans/y")
    assert paths("Googlebot") == paths("UnknownBot") == ()
    for number in range(3000):
        site.record_request(f"/secret-plans/{number}", user_agent=GPTBOT)
    assert paths("GPTBot") == tuple(f"/secret-plans/{n}" for n in range(2999, 2989, -1))
    site.counters.clear()
    assert paths("GPTBot") == ()


@pytest.mark.parametrize(
    "tail",
    ["x" * 1_000_000, "\x1b[2J" * 50, "\udcff", "\u202e" * 100, "\r\nForged: line", "ü" * 300],
)
def test_disallowed_paths_are_short_and_printable(tail: str) -> None:
    """Whatever a client sends, a log or a page can show it."""
    site = SitePolicy(ROBOTS)
    for target in (f"/secret-plans/{tail}", f"/secret-plans/{tail}".encode("utf-8", "replace")):
        site.record_request(target, user_agent=GPTBOT)
    for path in site.counters.disallowed_paths("GPTBot"):
        assert path.startswith("/secret-plans/")
        assert len(path) <= 200
        assert path.isprintable()
        path.encode()


def test_counters_are_thread_safe() -> None:
    """No request is lost."""
    site = SitePolicy(ROBOTS)

    def run() -> None:
        for number in range(500):
            site.record_request(f"/secret-plans/{number % 20}", user_agent=GPTBOT)
            assert len(site.counters.disallowed_paths("GPTBot")) <= 10

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert site.counters.get("GPTBot").disallowed == 4000


ANY_CHARACTER = st.characters(codec=None)  # lone surrogates too
HOSTILE = st.one_of(
    st.text(ANY_CHARACTER, max_size=60), st.binary(max_size=60).map(lambda b: b.decode("latin-1"))
)
SITE = SitePolicy(POLICY, hosts={"*.example": ROBOTS}, staging=["staging.example"])


@given(st.one_of(HOSTILE, st.binary(max_size=60)), HOSTILE, HOSTILE, HOSTILE)
def test_no_request_raises(target: str | bytes, host: str, agent: str, condition: str) -> None:
    """Whatever a client sends: every request has an answer, and the host is never part of it."""
    fields = SITE.record_request(target, host, agent)
    for value in (value for _, value in fields.add_to([])):
        assert value.isascii()
        assert value.isprintable()
    assert SITE.robots_response("GET", host, if_none_match=condition, user_agent=agent).body in (
        *(b"", ROBOTS.encode(), SITE.robots_txt(), make_staging_robots().encode()),
    )


def test_long_targets() -> None:
    """The fields of a long path or query are those of its beginning, in linear time."""
    for tail in ("a" * 1_000_000, "%2F" * 300_000, "/*" * 300_000, "?" * 500_000, "ü" * 300_000):
        found = dict(SITE.record_request(f"/drafts/{tail}", user_agent=GPTBOT).add_to([]))
        assert found["Robots-Tag"] == "*;noindex;max-snippet=50"


def test_a_file_that_changes_while_it_is_served(tmp_path: Path) -> None:
    """Files are read at the start; a change, a mistake or a removal has no effect until then."""
    file = tmp_path / "policy.txt"
    file.write_text(ROBOTS)
    site = SitePolicy(file)
    before = site.robots_response("GET")
    file.write_text("Disalow: /")
    assert site.robots_response("GET") == before
    file.unlink()
    assert site.robots_response("GET") == before


def test_start_with_many_patterns() -> None:
    """Hundreds of patterns are linted at the start, and the last one is found."""
    paths = [f"/section-{number}/" for number in range(500)]
    site = SitePolicy(f"[[tags]]\npaths = {paths}\nrules = ['noindex']\n")
    assert site.response_fields("/section-499/x")
    assert not site.response_fields("/section-500/x")


def test_unbounded_input_is_not_kept() -> None:
    """Hosts, User-Agents and matches that clients invent fill bounded caches only."""
    for number in range(3000):
        SITE.record_request(f"/{number}", f"h{number}.test", f"Agent{number}/1")
        SITE.robots_txt("x" * number)
    assert SITE._hosts._find.cache_info().currsize <= 1024
    assert len(SITE._hosts.default[0].fields._cache) < 10
