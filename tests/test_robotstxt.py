"""RobotsTxt: the input of `parse()`, group selection, explanations, equality and pickling."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from datetime import time
from functools import partial
from types import ModuleType
from typing import Any

import pytest

import robotrules
from robotrules import DEFAULT, STRICT, GroupMatch, ProductTokenError, RobotsTxt, parse
from robotrules.robotstxt.tokens import CrawlerNames
from tests.file_samples import GROUPS

Read = Callable[..., RobotsTxt]
TEXT = "User-agent: *\nDisallow: /café\nAllow: /café/au-lait\n"


class TestBody:
    """Any bytes-like object or str can be parsed; content never raises an error."""

    @pytest.mark.parametrize(
        "body",
        [
            TEXT,
            TEXT.encode(),
            bytearray(TEXT.encode()),
            memoryview(TEXT.encode()),
            memoryview(b"".join(bytes([octet, 0]) for octet in TEXT.encode()))[::2],
        ],
        ids=["str", "bytes", "bytearray", "memoryview", "strided"],
    )
    def test_types_of_input(self, read: Read, body: Any) -> None:
        """`str`, `bytes`, `bytearray` and `memoryview` are parsed alike."""
        robots = read(body)
        assert robots == read(TEXT)
        assert robots.body == TEXT.encode()
        assert not robots.check("/caf%C3%A9/noir", "x")

    def test_a_subclass_of_bytes_or_str(self, read: Read) -> None:
        """Subclasses of bytes and str are accepted."""

        class Octets(bytes):
            pass

        class Text(str):
            __slots__ = ()

        assert read(Octets(TEXT.encode())) == read(Text(TEXT)) == read(TEXT)

    def test_surrogates_in_a_str(self, read: Read) -> None:
        """Surrogates from `surrogateescape` are turned back into octets."""
        latin = b"User-agent: *\nDisallow: /caf\xe9"
        assert read(latin.decode("utf-8", "surrogateescape")) == read(latin)
        assert not read(latin).check("/caf%E9", "x")
        assert read("User-agent: *\nDisallow: /\ud83c").records[1].value == b"/\xed\xa0\xbc"

    def test_a_buffer_that_changes_afterwards(self, read: Read) -> None:
        """A later change of the bytearray does not change the parsed file."""
        body = bytearray(b"User-agent: *\nDisallow: /x")
        robots = read(body)
        body[:] = b"changed"
        assert robots.body.startswith(b"User-agent")
        assert not robots.check("/x", "a")

    @pytest.mark.parametrize("body", [None, 1, ["User-agent: *"], object(), 1.5])
    def test_other_types_of_input(self, read: Read, body: Any) -> None:
        """Any other type raises a TypeError that states what to pass."""
        with pytest.raises(TypeError, match=r"bytes or str.*pass response\.content"):
            read(body)

    def test_the_engine_is_the_default_one(self) -> None:
        """Without *engine* the default engine parses."""
        assert parse(TEXT) == parse(TEXT, engine=robotrules._engine.engine)
        assert parse(TEXT)._engine is robotrules._engine.engine

    @pytest.mark.parametrize("profile", ["strict", STRICT], ids=["name", "profile"])
    def test_a_given_engine(self, engine: ModuleType, profile: Any) -> None:
        """With *engine* the given engine parses."""
        assert parse(TEXT, profile, engine=engine)._engine is engine


class TestGroupSelection:
    """Every group that names the token; otherwise every star group; otherwise none (§2.2.1)."""

    @pytest.mark.parametrize(
        ("token", "indices"),
        [
            ("a", [0, 1]),
            ("A", [0, 1]),
            ("b", [1]),
            ("c", [3]),  # the star in its group does not add the other star groups (AMB-27)
            ("x", [2, 3]),
            ("*", [2, 3]),
            (["x", "b", "a"], [1]),  # the first token with a group (AMB-30)
            (("x", "y"), [2, 3]),
            (["*"], [2, 3]),
            (["*", "a"], [0, 1]),
        ],
    )
    def test_groups(self, read: Read, token: Any, indices: list[int]) -> None:
        """The groups a crawler obeys, in the order of the file."""
        robots = read(GROUPS)
        choice = robots.select_groups(token)
        assert [group.index for group in choice.groups] == indices
        assert choice.groups == tuple(robots.groups[index] for index in indices)
        assert choice.indices == tuple(indices)
        explained = robots.explain("/", token)
        assert [group.index for group in explained.groups] == indices

    @pytest.mark.parametrize(
        ("token", "purposes", "match", "tokens", "by_purposes"),
        [
            ("A", [], GroupMatch.TOKEN, ("A",), ()),
            (["x", "b"], ["P"], GroupMatch.TOKEN, ("b",), ()),
            (CrawlerNames(["x", "a"]), [], GroupMatch.TOKEN, ("a",), ()),
            ("x", ["Q", "P"], GroupMatch.PURPOSE, (), ("P",)),
            ("x", ["Q"], GroupMatch.STAR, (), ()),
            (CrawlerNames(["x"], ignores_star=True), [], GroupMatch.NONE, (), ()),
        ],
    )
    def test_how_groups_were_selected(
        self,
        read: Read,
        token: Any,
        purposes: list[str],
        match: GroupMatch,
        tokens: tuple[str, ...],
        by_purposes: tuple[str, ...],
    ) -> None:
        """A choice has the same match, tokens and purposes as the explanation; it is a value."""
        body = f"{GROUPS}\nUser-agent-purpose: P\nDisallow: /purpose"
        robots = read(body)
        choice, explained = (
            robots.select_groups(token, purposes),
            robots.explain("/", token, purposes),
        )
        assert choice[2:] == (match, tokens, by_purposes)
        assert explained.matched_by is match
        assert (explained.matched_tokens, explained.matched_purposes) == (tokens, by_purposes)
        assert explained.groups == choice.groups
        assert choice.robots is robots
        same = read(body).select_groups(token, purposes)
        assert choice == same == pickle.loads(pickle.dumps(choice))
        assert hash(choice) == hash(same)

    def test_merged_tokens(self, read: Read) -> None:
        """Profile google merges the groups of all tokens, in the order of the file (AMB-30)."""
        robots = read(GROUPS, "google")
        assert [group.index for group in robots.select_groups(["c", "b", "x"]).groups] == [1, 3]
        assert [group.index for group in robots.select_groups(["x", "y"]).groups] == [2, 3]
        assert not robots.check("/two", ["c", "b"])

    def test_first_star_group_only(self, read: Read) -> None:
        """`first_star_group_only` ignores the later star groups (AMB-26)."""
        robots = read(GROUPS, DEFAULT.replace(first_star_group_only=True))
        assert [group.index for group in robots.select_groups("x").groups] == [2]
        assert [group.index for group in robots.select_groups("a").groups] == [0, 1]
        assert robots.check("/other-star", "x")
        explanation = robots.explain("/star", "x")
        assert (
            explanation.verdict.line,
            str(explanation.matched_by),
            explanation.matched_tokens,
        ) == (
            7,
            "star",
            (),
        )

    def test_no_group(self, read: Read) -> None:
        """Without a group and without a star group everything is allowed."""
        robots = read("User-agent: a\nDisallow: /")
        assert robots.select_groups("b").groups == ()
        assert robots.check("/", "b").reason == "no-group"
        assert read("").select_groups("b").groups == ()


class TestTokens:
    """Validation of product tokens, which depends on the profile."""

    @pytest.mark.parametrize("token", ["", " ", "\t\n", [], (), ["a", ""]])
    def test_an_empty_token_is_an_error(self, read: Read, token: Any) -> None:
        """An empty name raises a ProductTokenError."""
        for profile in ("default", "strict"):
            robots = read("User-agent: b\nDisallow: /", profile)
            for query in (robots.select_groups, robots.rules_for):
                with pytest.raises(ProductTokenError, match="crawler's name"):
                    query(token)
            with pytest.raises(ProductTokenError, match="crawler's name"):
                robots.check("/", token)
            with pytest.raises(ProductTokenError, match="crawler's name"):
                robots.explain("/", token)

    @pytest.mark.parametrize("token", ["", " ", ["", "c"], " b", "(b)"])
    def test_an_empty_token_obeys_the_star_in_profile_google(self, read: Read, token: Any) -> None:
        """As in google/robotstxt; an empty list of names is still an error (AMB-22)."""
        robots = read("User-agent: b\nDisallow: /b\nUser-agent: *\nDisallow: /star", "google")
        explanation = robots.explain("/star", token)
        assert (
            explanation.verdict.line,
            str(explanation.matched_by),
            explanation.matched_tokens,
        ) == (
            4,
            "star",
            (),
        )
        assert robots.check("/b", token)
        with pytest.raises(ProductTokenError) as none:
            robots.check("/", [])
        assert str(none.value) == "no product token was given: pass the crawler's name"

    @pytest.mark.parametrize(
        ("token", "message"),
        [
            ("ExampleBot/1.0", "here, pass 'ExampleBot'"),
            ("ExampleBot ", "here, pass 'ExampleBot'"),
            (" ExampleBot", "here, pass 'ExampleBot'"),
            ("Example\u00a0Bot", "no whitespace"),
            ("ExampleBot(x)", "here, pass 'ExampleBot'"),
            ("ExampleBot;", "here, pass 'ExampleBot'"),
            ("ExampleBot\0", "no control character .*; here, pass 'ExampleBot'"),
            ("Example\x1bBot", "no control character"),
            ("ExampleBot\x7f", "here, pass 'ExampleBot'"),
            (
                "Mozilla/5.0 (compatible; ExampleBot/1.0)",
                r"robotrules.product_token\(\); here",
            ),
            ("Mozilla/5.0 (X11) Firefox/1", "such as 'ExampleBot'"),
            ("a,b", r"as a list, \['a', 'b'\]"),
            ("a, b, c, d, e", r"as a list, \['a', 'b', 'c', 'd', ...\]"),
            ("a,b/1", "a name has no '/'"),
            ("https://example.com/x", r"is a URL, .* check\(url, product_token\)"),
            ("/x", r"is a URL, .* check\(url, product_token\)"),
            ("x" * 100 + "/1", "xxx...' is not"),
        ],
    )
    def test_invalid_names(self, read: Read, token: str, message: str) -> None:
        """A header, a list or a URL raises an error that says what to pass (AMB-22)."""
        for profile in ("default", "strict"):
            robots = read("User-agent: ExampleBot\nDisallow: /", profile)
            queries: list[Callable[[Any], Any]] = [
                partial(robots.check, "/x"),
                partial(robots.explain, "/x"),
                robots.rules_for,
                robots.select_groups,
            ]
            for query in queries:
                for given in (token, [token], ["b", token]):
                    for _ in range(2):  # an error is not cached
                        with pytest.raises(ProductTokenError, match=message):
                            query(given)

    def test_swapped_arguments(self, read: Read) -> None:
        """Every profile reports a URL or a path passed as product token."""
        for profile in ("default", "strict", "google"):
            robots = read("User-agent: ExampleBot\nDisallow: /", profile)
            for url in ("https://example.com/x", "/x", "HTTP://example.com"):
                with pytest.raises(ProductTokenError, match="pass the URL first"):
                    robots.check("ExampleBot", url)

    def test_profile_google_uses_the_leading_name(self, read: Read) -> None:
        """Of a header, as google/robotstxt does with user-agent lines; not of other names."""
        robots = read("User-agent: ExampleBot/2\nDisallow: /", "google")
        for token in ("ExampleBot/1.0", "ExampleBot (x)", "ExampleBot ", ["x", "ExampleBot;"]):
            assert not robots.check("/", token)
            assert robots.explain("/", token).matched_tokens == ("ExampleBot",)
        assert robots.check("/", "ExampleBot2")

    @pytest.mark.parametrize("token", ["MJ12bot", "archive.org_bot", "é", "a*", "\udce9"])
    def test_a_token_outside_the_grammar(self, read: Read, token: str) -> None:
        """`strict` raises an error that says what is allowed; other profiles compare literally."""
        with pytest.raises(ProductTokenError, match="only letters, '_' and '-' are allowed"):
            read("", "strict").check("/", token)
        for profile in ("default", "google", STRICT.replace(any_product_token=True)):
            assert read("", profile).check("/", token)

    def test_names_of_a_registry(self, read: Read) -> None:
        """The profile decides which part of each name counts; otherwise the star group, or none."""
        body = "User-agent: Sogou web spider\nDisallow: /s\nUser-agent: MJ12bot\nDisallow: /m\n"
        body += "User-agent: *\nDisallow: /star\n"
        for profile in ("default", "strict", "google"):
            robots = read(body, profile)
            assert robots.check("/s", CrawlerNames(["Sogou web spider"])).line == 2
            # Profile google compares the whole name, and reads MJ in the file (AMB-22).
            line = None if profile == "google" else 4
            assert robots.check("/m", CrawlerNames(["MJ12bot"])).line == line
            assert robots.check("/star", CrawlerNames(["360Spider"])).line == 6
            assert robots.select_groups(CrawlerNames(["x"], ignores_star=True)).groups == ()
            assert [group.index for group in robots.select_groups(CrawlerNames(["x"])).groups] == [
                2
            ]
            explanation = robots.explain("/s", CrawlerNames(["x", "Sogou web spider"]))
            assert (explanation.product_token, explanation.matched_tokens) == (
                "x",
                ("Sogou web spider",),
            )

    def test_a_valid_token_in_strict(self, read: Read) -> None:
        """Letters, `_`, `-` and the star never raise an error."""
        robots = read(GROUPS, "strict")
        assert robots.select_groups("Foo_Bar-baz").groups == robots.select_groups("*").groups

    @pytest.mark.parametrize(
        "token", [None, 1, 1.5, b"ExampleBot", [b"a"], [None], {"a"}, object()]
    )
    def test_other_types_of_token(self, read: Read, token: Any) -> None:
        """A token that is not a str raises a TypeError with an example."""
        robots = read("User-agent: *\nDisallow: /")
        wrong = token[0] if isinstance(token, list) else token
        name = type(wrong).__name__
        for query in (
            robots.rules_for,
            robots.select_groups,
            lambda given: robots.check("/", given),
        ):
            with pytest.raises(TypeError, match=f"such as 'ExampleBot'.*not {name}$"):
                query(token)

    def test_a_wrong_type_is_an_error_after_other_queries(self, read: Read) -> None:
        """A cached rule set is not used for a value of the wrong type."""
        robots = read("User-agent: a\nDisallow: /")
        assert robots.check("/", "b")
        assert not robots.check("/", "a")
        with pytest.raises(ProductTokenError):
            robots.check("/", ())
        with pytest.raises(TypeError):
            robots.check("/", (0,))  # type: ignore[arg-type]

    def test_a_cached_rule_set_is_not_used_for_others(self, read: Read) -> None:
        """The verdict for a crawler does not depend on earlier queries."""
        tokens = ["b", ["a"], "a", ("b", "a"), ["b"], ["b", "c"], "c", "*", ["a", "b"]]
        fresh = [read("User-agent: a\nDisallow: /").check("/x", token) for token in tokens]
        robots = read("User-agent: a\nDisallow: /")
        assert [robots.check("/x", token) for token in tokens] == fresh
        assert [robots.check("/x", token) for token in reversed(tokens)] == fresh[::-1]
        assert [bool(verdict) for verdict in fresh[:4]] == [True, False, False, False]


class TestExplain:
    """An explanation has every rule that matches, and the notes on the selected groups."""

    def test_outcomes(self, read: Read) -> None:
        """The winner comes first, then ties, then rules with fewer octets."""
        text = "User-agent: a\nDisallow: /x*\nAllow: /*x\nAllow: /xy\nDisallow: /\nAllow: /no"
        explanation = read(text).explain("/xyx", "a")
        assert [(match.rule.line, str(match.outcome)) for match in explanation.matches] == [
            (3, "wins"),
            (4, "later-line"),
            (2, "allow-wins-tie"),
            (5, "fewer-octets"),
        ]

    def test_robots_txt(self, read: Read) -> None:
        """Rules that match `/robots.txt` have the outcome not-consulted."""
        explanation = read("User-agent: *\nDisallow: /").explain("/robots.txt", "a")
        assert [str(match.outcome) for match in explanation.matches] == ["not-consulted"]

    def test_notes(self, read: Read) -> None:
        """Notes on other groups are left out; notes on the whole file are included."""
        text = "\ufeffAllow: x\nUser-agent: a\nAllow: y\nUser-agent: b\nAllow: z"
        explanation = read(text).explain("/", "b")
        assert [(note.code, note.line) for note in explanation.notes] == [
            ("bom", None),
            ("pattern-start", 5),
        ]
        assert read(text).explain("/", "other").notes == read(text).notes[:1]


class TestContent:
    """Lines, records, groups and notes are tuples of values with octet positions."""

    def test_tuples(self, read: Read) -> None:
        """All four are tuples, and equal on each access."""
        robots = read(b"foo\n" + GROUPS.encode())
        for name in ("lines", "records", "groups", "notes"):
            value = getattr(robots, name)
            assert isinstance(value, tuple)
            assert value
            assert value == getattr(robots, name)

    def test_records_before_the_first_group(self, read: Read) -> None:
        """A record before the first user-agent line has no group."""
        robots = read("Sitemap: s\nDisallow: /\nUser-agent: a\nSitemap: t")
        assert [record.group for record in robots.records] == [None, None, 0, 0]
        assert [len(group.records) for group in robots.groups] == [2]
        assert robots.groups[0].rules == ()

    def test_levels_of_notes(self, read: Read) -> None:
        """A tolerated line is a warning; an ignored line is an error."""
        body = b"User-agent: *\nDisallow: /\xe9\nDisallow: /a b"
        assert [(note.code, note.level) for note in read(body).notes] == [
            ("invalid-utf8", "warning"),
            ("space-in-pattern", "warning"),
        ]
        assert [note.level for note in read(body, "strict").notes] == ["error", "error"]

    def test_an_empty_file(self, read: Read) -> None:
        """An empty file has no lines, records, groups or notes."""
        robots = read("")
        assert (robots.lines, robots.records, robots.groups, robots.notes) == ((), (), (), ())
        assert robots.body == b""
        assert robots.profile is DEFAULT


class TestValue:
    """A file compares by octets, profile and completeness; it is immutable."""

    def test_equality(self, read: Read) -> None:
        """Files are equal, with equal hashes, whichever engine parsed them."""
        robots = read(TEXT)
        assert robots == parse(TEXT)
        assert hash(robots) == hash(parse(TEXT))
        assert robots != read(TEXT + " ")
        assert robots != read(TEXT, "google")
        assert robots != read(TEXT, complete=False)
        assert robots != TEXT
        assert len({robots, parse(TEXT), read(TEXT, "strict")}) == 2
        assert len({hash(read(f"Disallow: /{number}")) for number in range(9)}) > 1

    def test_queries_do_not_change_a_file(self, read: Read) -> None:
        """A file is equal to another file after queries on one of them."""
        robots = read(TEXT)
        robots.check("/x", "a")
        assert robots == read(TEXT)
        assert hash(robots) == hash(read(TEXT))

    @pytest.mark.parametrize("name", ["profile", "body", "groups", "notes", "other"])
    def test_it_is_immutable(self, read: Read, name: str) -> None:
        """No public attribute of a file can be set, and no attribute can be added."""
        robots = read(TEXT)
        with pytest.raises(AttributeError):
            setattr(robots, name, DEFAULT)

    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"\xef\xbb\xbf" + GROUPS.encode(),
            b"\xff\xfe" + GROUPS.encode("utf-16-le"),
            b"\xff\xfe" + ("\ufeff" + GROUPS).encode("utf-16-le"),
            b"\xfe\xff" + GROUPS.encode("utf-16-be") + b"\n",
            GROUPS.encode() + b"#" * 600_000 + b"\nDisallow: /",
        ],
        ids=["empty", "bom", "utf-16", "utf-16-two-marks", "utf-16-odd", "cut"],
    )
    def test_it_survives_pickle(self, read: Read, body: bytes, profile: str) -> None:
        """A file is the same after a round trip: octets, lines, records, groups and verdicts."""
        robots = read(body, profile)
        for again in (pickle.loads(pickle.dumps(robots)), copy.copy(robots)):
            assert again == robots
            assert again.lines == robots.lines
            assert again.groups == robots.groups
            for url in ("/one", "/two", "/star", "/x"):
                assert again.check(url, "a") == robots.check(url, "a")

    def test_repr(self, read: Read) -> None:
        """The repr has the size, the number of groups and the profile."""
        assert repr(read(GROUPS)) == "<RobotsTxt: 152 octets, 4 groups, profile default>"


def test_complete_false_drops_an_unfinished_line(read: Read) -> None:
    """The last line of a truncated body is ignored unless it has a terminator (AMB-12)."""
    text = "User-agent: *\nDisallow: /"
    assert not read(text).check("/x", "a")
    cut = read(text, complete=False)
    assert cut.check("/x", "a")
    assert [(note.code, note.line, note.start, note.end) for note in cut.notes] == [
        ("cut-line", 2, 14, 25)
    ]
    assert not read(text + "\n", complete=False).check("/x", "a")


def test_ten_threads_get_the_same_verdicts(read: Read) -> None:
    """Ten threads that share a file get the same verdicts as a single thread."""
    rules = "".join(f"Disallow: /{number}/*x\nAllow: /{number}/y\n" for number in range(60))
    text = GROUPS + "User-agent: many\n" + rules
    urls = [f"/{number}/{end}" for number in range(30) for end in "xyz"]
    tokens = ["a", "b", "many", "x", "*"]
    expected = [parse(text).check(url, token) for url in urls for token in tokens]
    robots = read(text)
    answers: list[Any] = [None] * 10
    gate = threading.Barrier(10)

    def query(number: int) -> None:
        gate.wait()
        found = [robots.check(url, token) for url in urls for token in tokens]
        batched = [robots.rules_for(token).check_many(urls) for token in tokens]
        turned = [verdict for row in zip(*batched, strict=True) for verdict in row]
        notes = robots.notes, robots.groups, robots.records, robots.lines
        answers[number] = (found, turned, notes)

    threads = [threading.Thread(target=query, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for found, batched, notes in answers:
        assert found == expected
        assert batched == expected
        assert notes == answers[0][2]


def test_normal_form_of_a_url_and_of_a_pattern(engine: ModuleType) -> None:
    """`normalize_path` returns the form in explanations and rules, for URLs and for patterns."""
    assert robotrules.normalize_path("https://e.example/a%62*?x=/") == "/ab%2A?x=%2F"
    assert robotrules.normalize_path("/a%62*?x=/$", pattern=True) == "/ab*?x=%2F$"
    assert robotrules.normalize_path(b"/\xe9") == "/%E9"
    assert robotrules.normalize_path("/a%62é*", pattern=True, profile="google") == "/a%62%C3%A9*"
    assert robotrules.normalize_path("/a%62é*;", profile="google") == "/a%62é*;"
    for odd in (None, 1, bytearray(b"/")):
        with pytest.raises(TypeError, match="str or bytes"):
            robotrules.normalize_path(odd)  # type: ignore[arg-type]


def test_a_truncated_file_stays_truncated(read: Read) -> None:
    """The unfinished last line is ignored after a pickle round trip too."""
    robots = read("User-agent: a\nDisallow: /x\nDisallow: /", complete=False)
    again = pickle.loads(pickle.dumps(robots))
    assert again == robots
    assert [again.check(url, "a").allowed for url in ("/x", "/y")] == [False, True]


class TestOtherRecords:
    """The readers of other records are also methods of a file, as in other libraries."""

    BODY = (
        "User-agent: a\nCrawl-delay: 3\nRequest-rate: 1/5\nRequest-rate: 1/60 0600-0845\n"
        "Disallow: /x\nUser-agent: *\nCrawl-delay: 9\nAllow: /\n"
        "Sitemap: https://example.com/s.xml\n"
        "Clean-param: ref\nUser-agent: c\nDisallow: /c\n"
    )

    def test_methods_equal_functions(self, read: Read) -> None:
        """Each method returns the result of the function of the package."""
        robots = read(self.BODY)
        assert robots.sitemaps == robotrules.sitemaps(robots)
        assert [sitemap.url for sitemap in robots.sitemaps] == ["https://example.com/s.xml"]
        delay = robots.crawl_delay("a")
        assert delay == robotrules.crawl_delay(robots, "a")
        assert delay is not None
        assert delay.seconds == 3
        # A crawler that has a group gets the star group's delay only with star=True.
        assert robots.crawl_delay("c") is None
        star = robots.crawl_delay("c", star=True)
        assert star is not None
        assert star.seconds == 9
        assert robots.clean_url("https://example.com/?ref=1&b=2") == "https://example.com/?b=2"
        assert robots.clean_url(b"/?ref=1") == robotrules.clean_url(robots, b"/?ref=1")

    @pytest.mark.parametrize(
        ("at", "period"), [(None, 60), (time(7), 60), (time(9), 5), (time(5, 59), 5)]
    )
    def test_the_slowest_rate_of_the_hour(self, read: Read, at: time | None, period: int) -> None:
        """The slowest of several rates; with a time of day, rates for other hours are ignored."""
        rate = read(self.BODY).request_rate("a", at=at)
        assert rate is not None
        assert rate.period == period

    def test_the_slowest_rate_has_the_most_seconds(self, read: Read) -> None:
        """The slowest rate has neither the most requests nor the longest period."""
        robots = read("User-agent: *\nRequest-rate: 5/60\nRequest-rate: 1/20\nRequest-rate: 9/90")
        rate = robots.request_rate("a")
        assert rate is not None
        assert rate.line == 3

    def test_groups_of_a_purpose(self, read: Read) -> None:
        """If no group names the crawler, the group of its purpose applies before the star group."""
        robots = read(
            "User-agent-purpose: P\nCrawl-delay: 3\nRequest-rate: 1/3\nAllow: /\n"
            "User-agent: *\nCrawl-delay: 9\nRequest-rate: 1/9\nAllow: /\n"
        )
        for purposes, seconds in ((["P"], 3), ([], 9)):
            delay, rate = robots.crawl_delay("a", purposes), robots.request_rate("a", purposes)
            assert delay is not None
            assert rate is not None
            assert delay.seconds == rate.seconds == seconds

    def test_no_such_records(self, read: Read) -> None:
        """An empty file has no such records, and does not change a URL."""
        robots = read("")
        assert (robots.sitemaps, robots.crawl_delay("a"), robots.request_rate("a")) == (
            (),
            None,
            None,
        )
        assert robots.clean_url("/?a=1") == "/?a=1"

    def test_misuse(self, read: Read) -> None:
        """These methods reject a User-Agent header as a name too."""
        for query in (read("").crawl_delay, read("").request_rate):
            with pytest.raises(ProductTokenError, match="not a product token"):
                query("a/1.0")
