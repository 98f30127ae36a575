"""
Guarantees of the writer: safe for simpler parsers; values that are not safe raise or are escaped.

That everything comes back is in `property/test_write.py`. These tests are about the layout of
a file, error messages, and how other parsers read it (AMB-99).
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any
from urllib.robotparser import RobotFileParser

import pytest

from robotrules import Preference, RobotsTxt, is_product_token, parse
from robotrules.errors import WriteError
from robotrules.write import (
    PLACEHOLDER,
    NewGroup,
    NewRecord,
    NewRobotsTxt,
    NewRule,
    allow,
    app_directives_record,
    content_usage_record,
    disallow,
    most_specific_first,
    read_back,
    token_value,
    write,
)

Read = Callable[..., RobotsTxt]
Ask = Callable[[str, str], bool]


def lines(*groups: NewGroup, **more: Any) -> list[str]:
    """Return the lines of a file of some groups."""
    return write(NewRobotsTxt(groups, **more)).splitlines()


# --- Layout ---------------------------------------------------------------------------------------


def test_a_file_is_comment_records_groups() -> None:
    """The file's comment and records are first, a blank line before each group, none inside."""
    group = NewGroup(
        ["ExampleBot", "*"],
        ["EXAMPLE-PURPOSE-1"],
        [disallow("/b"), allow("/a")],
        [NewRecord("CRAWL-DELAY", " 5 ")],
        comment="Two\n\nparts",
    )
    sitemap = NewRecord("Sitemap", "https://e.example/s.xml")
    assert lines(group, NewGroup(["a"]), records=[sitemap], comment="Top") == [
        "# Top",
        "",
        "Sitemap: https://e.example/s.xml",
        "",
        "# Two",
        "#",
        "# parts",
        "User-agent: ExampleBot",
        "User-agent: *",
        "User-Agent-Purpose: EXAMPLE-PURPOSE-1",
        "Disallow: /b",
        "Allow: /a",
        "Crawl-delay: 5",
        "",
        "User-agent: a",
        "Disallow:",
    ]
    assert write(NewRobotsTxt()) == ""
    assert write(NewRobotsTxt(comment="x")) == "# x\n"


def test_a_purpose_only_group_starts_with_the_placeholder(read: Read) -> None:
    """The placeholder is a product token by the grammar, and is not read back."""
    group = NewGroup(purposes=["P"], rules=[disallow("/")])
    written = write(NewRobotsTxt([group]))
    assert written == f"User-agent: {PLACEHOLDER}\nUser-Agent-Purpose: P\nDisallow: /\n"
    assert is_product_token(PLACEHOLDER)
    assert read_back(read(written)).groups == (group,)
    assert read(written, "strict").notes == ()
    # Where purposes are not known, no crawler obeys the group, and such a group is not written.
    assert read_back(read(written, "strict")) == NewRobotsTxt()


def test_a_group_without_rules_stays_separate(read: Read) -> None:
    """Other records than rules do not split groups (RFC 9309 §2.2.4); an empty Disallow does."""
    groups = (NewGroup(["a"], records=[NewRecord("Crawl-delay", "1")]), NewGroup(["b"]))
    robots = read(write(NewRobotsTxt(groups)))
    assert [group.user_agents for group in robots.groups] == [("a",), ("b",)]
    assert lines(*groups)[1] == "Disallow:"


def test_an_empty_disallow_for_a_crawler_with_another_group(read: Read) -> None:
    """For crawler-commons an empty Disallow removes the rules of the other group."""
    groups = (NewGroup(["a"], rules=[disallow("/x")]), NewGroup(["A"]), NewGroup(["b"]))
    assert lines(*groups)[3:] == ["User-agent: A", "Allow: /robots.txt$", "", "User-agent: b",
                                  "Disallow:"]  # fmt: skip
    robots = read(write(NewRobotsTxt(groups)))
    assert read_back(robots).groups == groups
    assert not robots.check("/x", "a")
    assert NewGroup(["a"], rules=[allow("/robots.txt$")]).rules == ()


def test_order_is_kept_and_can_be_chosen() -> None:
    """Rules stay as given; `most_specific_first` is what the first match should be (§2.2.2)."""
    rules = (disallow("/a"), disallow("/a/é"), allow("/a/b"), disallow("/a/b"))
    assert NewGroup(["*"], rules=rules).rules == rules
    assert most_specific_first(rules) == (rules[1], rules[2], rules[3], rules[0])


# --- Escapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("/a b", "/a%20b"),
        ("/a ", "/a%20"),
        ("/a\tb", "/a%09b"),
        ("/a#b", "/a%23b"),
        ("/ツ", "/%E3%83%84"),
        ("/\x1b\x7f\u2028", "/%1B%7F%E2%80%A8"),
        ("/\udcff", "/%FF"),
        ("/100%", "/100%25"),
        ("/%zz%2f", "/%25zz%2f"),
        ("*/x$", "*/x$"),
    ],
)
def test_path_patterns_are_escaped_where_that_means_the_same(
    read: Read, given: str, written: str
) -> None:
    """What a line cannot hold is percent-encoded, and matches what was meant (§2.2.2)."""
    assert disallow(given).pattern == written
    assert disallow(written) == disallow(given)
    robots = read(write(NewRobotsTxt([NewGroup(["*"], rules=[disallow(given)])])))
    assert not robots.check(given.removesuffix("$").replace("*", "/q").replace("#", "%23"), "a")


def test_paths_of_records_are_escaped() -> None:
    """Content-Usage and App-Directives write their path like a rule does (plan-b §2.1)."""
    assert str(content_usage_record({"train-ai": True}, "/a b/")) == (
        "Content-Usage: /a%20b/ train-ai=y"
    )
    assert NewRecord("content-usage", "/é  train-ai=n") == NewRecord(
        "Content-Usage", "train-ai=n", "/é"
    )
    sitemap = NewRecord("Sitemap", "https://e.example/テ ス.xml")
    assert sitemap.value == "https://e.example/%E3%83%86%20%E3%82%B9.xml"


def test_app_directives_are_structured_fields_in_the_plural() -> None:
    """The record's name is written in the plural (AMB-101), values as RFC 9651 §4.1 has them."""
    values = {"widgets": False, "n": 20, "s": 'a "b"', "t": token_value("tok"), "b": b"\1"}
    record = app_directives_record({"examplesearch": values, "other": {"on": True}}, "/x/")
    assert str(record) == (
        'App-Directives: /x/ examplesearch;widgets=?0;n=20;s="a \\"b\\"";t=tok;b=:AQ==:, other;on'
    )
    assert str(NewRecord("app-directive", "a;b")) == "App-Directives: a;b"


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: disallow("/a\nAllow: /"), "line break or a NUL"),
        (lambda: disallow("/a\0"), "line break or a NUL"),
        (lambda: disallow("private/"), "write '/private/'"),
        (lambda: disallow(""), "leave it out"),
        (lambda: disallow("/" + "a" * 16_663), "make it shorter"),
        (lambda: NewGroup(["a" * 16_663]), "make it shorter"),
        (lambda: NewGroup(), "the group matches no crawler"),
        (lambda: NewGroup(["ExampleBot/1.0 (x)"]), "pass 'ExampleBot'"),
        (lambda: NewGroup([""]), "pass 'ExampleBot'"),
        (lambda: NewGroup(["* "]), "not a product token"),
        (lambda: NewGroup([PLACEHOLDER.upper()]), "not a product token"),
        (lambda: NewGroup(purposes=["*"]), "is not a purpose"),
        (lambda: NewGroup(purposes=["a b"]), "is not a purpose"),
        (lambda: NewGroup(["a"], records=[NewRecord("Sitemap", "x")]), "applies to the whole file"),
        (lambda: NewGroup(["a"], comment="é"), "visible ASCII"),
        (lambda: NewGroup(["a"])._replace(user_agents=()), "the group matches no crawler"),
        (lambda: NewRecord("Disallow-not", "x"), "as another record: choose another name"),
        (lambda: NewRecord("User-Agent-Purpose", "x"), "as another record: choose another name"),
        (lambda: NewRecord("a b", "x"), "is not a record name"),
        (lambda: NewRecord("Host", " "), "has no value"),
        (lambda: NewRecord("Host", "a\rb"), "visible ASCII"),
        (lambda: NewRecord("Host", "é.example"), "visible ASCII"),
        (lambda: NewRecord("Sitemap", "https://e.example/#x"), "starts a comment"),
        (lambda: NewRecord("Crawl-delay", "5", "/x"), "takes no path"),
        (lambda: NewRecord("Content-Usage", "train-ai=n,"), "trailing comma"),
        (lambda: NewRecord("Content-Usage", "train-ai=n", "*.pdf$"), "write '/\\*.pdf\\$'"),
        (lambda: NewRecord("App-Directives", "/x"), "has no value"),
        (lambda: app_directives_record({"1a": {}}), "Structured Field"),
        (lambda: app_directives_record({"a": {"B": 1}}), "Structured Field"),
        (lambda: app_directives_record({"a": {"b": "#"}}), "starts a comment"),
        (lambda: NewRobotsTxt(records=[NewRecord("Crawl-delay", "5")]), "applies to no crawler"),
        (
            lambda: NewRobotsTxt([NewGroup(["a"], rules=[disallow("/" + "x" * 9000)] * 57)]),
            "need not read more",
        ),
    ],
)
def test_errors_of_invalid_values_have_a_fix(make: Callable[[], object], words: str) -> None:
    """A value that no file can contain raises an error at construction."""
    with pytest.raises(WriteError, match=words):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: NewRule("disallow", "/"),  # type: ignore[arg-type]
        lambda: disallow(b"/"),  # type: ignore[arg-type]
        lambda: NewGroup("ExampleBot"),
        lambda: NewGroup(["a"], rules=["/"]),  # type: ignore[list-item]
        lambda: NewRobotsTxt(None),  # type: ignore[arg-type]
        lambda: write("User-agent: *"),  # type: ignore[arg-type]
        lambda: read_back("User-agent: *"),  # type: ignore[arg-type]
    ],
)
def test_misuse_is_a_type_error(make: Callable[[], object]) -> None:
    """A value of a wrong type raises an error that names the right type."""
    with pytest.raises(TypeError):
        make()


def test_strict_rejects_ambiguous_files() -> None:
    """Names outside the grammar, and App-Directives that are not in a `*` group."""
    write(NewRobotsTxt([NewGroup(["MJ12bot"])]))
    with pytest.raises(WriteError, match="letters, '_' and '-'"):
        write(NewRobotsTxt([NewGroup(["MJ12bot"])]), strict=True)
    own = NewGroup(["a"], records=[NewRecord("App-Directives", "x;y")])
    with pytest.raises(WriteError, match=r"not in a '\*' group"):
        write(NewRobotsTxt([own]), strict=True)
    star = own._replace(user_agents=("*",))
    assert write(NewRobotsTxt([own, star]), strict=True)


# --- Values ---------------------------------------------------------------------------------------


def test_values_are_values() -> None:
    """Immutable, hashable, copied and pickled as what they are, and plain for JSON."""
    record = content_usage_record({"train-ai": False}, "/x")
    group = NewGroup(["*"], rules=[disallow("/")], records=[record])
    robots = NewRobotsTxt([group], comment="c")
    assert {robots: 1}[copy.deepcopy(robots)] == 1
    assert pickle.loads(pickle.dumps(robots)) == robots
    assert type(pickle.loads(pickle.dumps(robots)).groups[0]) is NewGroup
    assert robots.as_dict() == {
        "comment": "c",
        "records": [],
        "groups": [
            {
                "comment": "",
                "user_agents": ["*"],
                "purposes": [],
                "rules": [{"key": "disallow", "pattern": "/"}],
                "records": [{"key": "content-usage", "path": "/x", "value": "train-ai=n"}],
            }
        ],
    }


def test_any_file_can_be_read_back(read: Read) -> None:
    """What has no effect is left out; names and records are made what can be written."""
    robots = read(
        b"# top\xff\n\nCrawl-delay: 1\nDisallow: /nobody\n# mine\nUser-agent: ExampleBot/1.0\n"
        b"User-agent: * everyone\nUser-agent:\nDisallow: \nDisallow: private\nDisallow: /\x01\n"
        b"Disallow: /a b\xff\nSitemap: https://e.example/s.xml\nApp-directive: a;b\n"
        b"Content-Usage: broken=\nLicense: \xc3\xa9\n\nUser-agent: /\nDisallow: /\n"
    )
    assert read_back(robots) == NewRobotsTxt(
        [
            NewGroup(
                ["ExampleBot", "*"],
                rules=[disallow("/a%20b%FF")],
                records=[NewRecord("App-Directives", "a;b")],
                comment="mine",
            )
        ],
        [NewRecord("Sitemap", "https://e.example/s.xml")],
    )
    both = read(b"User-agent: a, b\nDisallow: /", parse("").profile.replace(comma_user_agents=True))
    assert read_back(both).groups[0].user_agents == ("a", "b")


# --- Other parsers --------------------------------------------------------------------------------


def urllib_reads(text: str) -> Ask:
    """Check with the standard library."""
    parser = RobotFileParser()
    parser.parse(text.splitlines())
    return lambda url, token: parser.can_fetch(token, url)


def protego_reads(text: str) -> Ask:
    """Check with Protego."""
    protego = pytest.importorskip("protego", reason="Protego is a test dependency; install it")
    rules = protego.Protego.parse(text)
    return lambda url, token: bool(rules.can_fetch(url, token))


def robotspy_reads(text: str) -> Ask:
    """Check with robotspy."""
    robots = pytest.importorskip("robots", reason="robotspy is a test dependency; install it")
    parser = robots.RobotsParser.from_string(text)
    return lambda url, token: bool(parser.can_fetch(token, url))


def google_profile_reads(text: str) -> Ask:
    """Check with profile google, in place of google/robotstxt."""
    robots = parse(text, "google")
    return lambda url, token: bool(robots.check(url, token))


def rfc_9309_reads(text: str) -> Ask:
    """Check with a parser of the RFC without extensions."""
    robots = parse(text, "strict")
    return lambda url, token: bool(robots.check(url, token))


PARSERS = [urllib_reads, protego_reads, robotspy_reads, google_profile_reads, rfc_9309_reads]
# What google/robotstxt is spared by reading purposes as user agents (AMB-15).
FOOLED = [urllib_reads, protego_reads, robotspy_reads, rfc_9309_reads]
URLS = [f"https://e.example{path}" for path in ("/", "/x", "/a", "/a/b", "/private/", "/p/1")]
CRAWLERS = ["AnyBot", "ExampleBot", "purpose-only", "purpose", "only", "Purpose-Only-Bot"]


def hazards() -> list[list[NewGroup]]:
    """Return files in which a purpose's rules could leak, or a group be lost."""
    shut = NewGroup(purposes=["EXAMPLE-PURPOSE-1"], rules=[disallow("/")])
    unlimited = NewGroup(purposes=["EXAMPLE-PURPOSE-2"])
    star = NewGroup(["*"], rules=[disallow("/private/")])
    opened = NewGroup(["*"], rules=[allow("/")])
    own = NewGroup(["ExampleBot"], rules=[disallow("/a/b"), disallow("/x")])
    bare = NewGroup(["ExampleBot"], records=[NewRecord("Content-Usage", "train-ai=n")])
    return [
        [opened, shut],
        [star, shut, own],
        [own, shut, unlimited, star],
        [shut, shut, star],
        [bare, star],
        [star, bare],
        [bare, shut, star],
        [star, unlimited],
        [NewGroup(["*"]), NewGroup(["ExampleBot"], rules=[disallow("/")])],
    ]


@pytest.mark.parametrize("reads", PARSERS)
@pytest.mark.parametrize("groups", hazards())
def test_other_parsers_read_what_was_meant(
    reads: Callable[[str], Ask], groups: list[NewGroup]
) -> None:
    """A crawler without that purpose gets the verdict of a file without the purpose's group."""
    ask = reads(write(NewRobotsTxt(groups)))
    meant = parse(write(NewRobotsTxt([group for group in groups if group.user_agents])))
    for token in CRAWLERS:
        for url in URLS:
            assert ask(url, token) == bool(meant.check(url, token)), f"{token} {url}"


@pytest.mark.parametrize("reads", FOOLED)
def test_without_the_placeholder_all_crawlers_are_disallowed(reads: Callable[[str], Ask]) -> None:
    """The hazard (AMB-99): rules of a purpose become those of the group before it."""
    groups = [
        NewGroup(["*"], rules=[disallow("/private/")]),
        NewGroup(purposes=["EXAMPLE-PURPOSE-1"], rules=[disallow("/")]),
    ]
    safe = write(NewRobotsTxt(groups))
    # CPython's parser of old is spared where there is a blank line, and only there.
    naive = safe.replace(f"\nUser-agent: {PLACEHOLDER}\n", "")
    assert naive == (
        "User-agent: *\nDisallow: /private/\nUser-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /\n"
    )
    assert parse(naive).check("/x", "AnyBot"), "who knows purposes is not fooled"
    assert not reads(naive)("/x", "AnyBot"), "who does not know them is"
    assert reads(safe)("/x", "AnyBot")
    assert not reads(safe)("/private/x", "AnyBot")
    assert reads(safe.replace("\n\n", "\n"))("/x", "AnyBot"), "with no help from blank lines"


@pytest.mark.parametrize("reads", FOOLED)
def test_without_the_empty_rule_groups_are_one(reads: Callable[[str], Ask]) -> None:
    """A group without rules would join the next one, or be none."""
    groups = [NewGroup(["ExampleBot"]), NewGroup(["*"], rules=[disallow("/")])]
    safe = write(NewRobotsTxt(groups))
    assert reads(safe)("/x", "ExampleBot")
    assert not reads(safe.replace("Disallow:\n", ""))("/x", "ExampleBot")


def test_the_first_match_is_the_most_specific(read: Read) -> None:
    """Rules that are sorted are read by CPython's parser of old as RFC 9309 means them."""
    rules = [disallow("/a"), allow("/a/b"), disallow("/a/b/c"), allow("/")]
    written = write(NewRobotsTxt([NewGroup(["*"], rules=most_specific_first(rules))]))
    ask, robots = urllib_reads(written), read(written)
    for url in ("/", "/a", "/a/b", "/a/b/c", "/ab"):
        assert ask(url, "AnyBot") == bool(robots.check(url, "AnyBot"))


class TestContentUsage:
    """What was parsed can be written, and no preference is inverted."""

    def test_preferences_that_were_read(self) -> None:
        """A bool or a preference, each with its meaning."""
        said = {"train-ai": Preference.DISALLOWED, "search": Preference.ALLOWED}
        assert content_usage_record(said).value == "train-ai=n, search=y"
        assert content_usage_record({"train-ai": False}).value == "train-ai=n"

    @pytest.mark.parametrize("odd", ["n", "y", "disallowed", None, 0, 1, Preference.UNKNOWN])
    def test_invalid_preferences(self, odd: Any) -> None:
        """Text is true in Python, and would allow what it forbids."""
        with pytest.raises(WriteError, match="use True or False"):
            content_usage_record({"train-ai": odd})


@pytest.mark.parametrize("purpose", ["a/b", "_foo", "a+b", "!x", "*x"])
def test_a_registered_purpose_can_be_written(purpose: str) -> None:
    """The grammar of purposes is the registry's, and the group is kept."""
    robots = parse(f"User-agent: *\nAllow: /\nUser-agent-purpose: {purpose}\nDisallow: /\n")
    again = parse(write(read_back(robots)))
    assert not again.check("/x", "b", purposes=[purpose])
    assert again.check("/x", "b")


def test_a_comment_that_is_too_long_is_left_out() -> None:
    """A line that parsers cut has no effect on a crawler, so it is not an error."""
    text = "# " + "-" * 17_000 + "\nUser-agent: b\nDisallow: /\n"
    assert write(read_back(parse(text))) == "User-agent: b\nDisallow: /\n"


def parted(names: int, rules: int, values: int) -> bytes:
    """Return a file whose names a record of another document splits, with rules for all of them."""
    starts = (f"User-agent: a{n}\nContent-Usage: /{n % values} train-ai=n\n" for n in range(names))
    return "".join((*starts, *(f"Disallow: /r{n}\n" for n in range(rules)))).encode()


def test_equal_parts_become_one_group() -> None:
    """Names that Content-Usage splits with equal rules become one group with the rules once."""
    groups = read_back(parse(parted(6, 3, 2))).groups
    assert [group.user_agents for group in groups] == [("a0", "a2", "a4"), ("a1", "a3", "a5")]
    assert [len(group.rules) for group in groups] == [3, 3]
    assert [len(group.records) for group in groups] == [1, 1]


def test_copies_of_rules_are_bounded() -> None:
    """Parts times rules beyond what a file may have: whole, names would share records."""
    with pytest.raises(
        WriteError, match=r"line 1: .* split this group into 3,000 groups; with a copy"
    ):
        read_back(parse(parted(3000, 3000, 3000)))
    assert len(read_back(parse(parted(100, 100, 100))).groups) == 100
