"""RobotsTxt: what goes in, which groups a crawler obeys, and being a value."""

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
    """Any bytes-like object or text is a robots.txt; nothing about its content raises."""

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
    def test_what_goes_in(self, read: Read, body: Any) -> None:
        """`str`, `bytes`, `bytearray` and `memoryview` are read alike."""
        robots = read(body)
        assert robots == read(TEXT)
        assert robots.body == TEXT.encode()
        assert not robots.check("/caf%C3%A9/noir", "x")

    def test_a_subclass_of_bytes_or_str(self, read: Read) -> None:
        """A subclass of the usual types is as good."""

        class Octets(bytes):
            pass

        class Text(str):
            __slots__ = ()

        assert read(Octets(TEXT.encode())) == read(Text(TEXT)) == read(TEXT)

    def test_surrogates_in_a_str(self, read: Read) -> None:
        """Octets that a lenient decoder smuggled into a str come out again."""
        latin = b"User-agent: *\nDisallow: /caf\xe9"
        assert read(latin.decode("utf-8", "surrogateescape")) == read(latin)
        assert not read(latin).check("/caf%E9", "x")
        assert read("User-agent: *\nDisallow: /\ud83c").records[1].value == b"/\xed\xa0\xbc"

    def test_a_buffer_that_changes_afterwards(self, read: Read) -> None:
        """What was read from a bytearray stays when the bytearray changes."""
        body = bytearray(b"User-agent: *\nDisallow: /x")
        robots = read(body)
        body[:] = b"changed"
        assert robots.body.startswith(b"User-agent")
        assert not robots.check("/x", "a")

    @pytest.mark.parametrize("body", [None, 1, ["User-agent: *"], object(), 1.5])
    def test_what_does_not_go_in(self, read: Read, body: Any) -> None:
        """Anything else is a TypeError that says the cure."""
        with pytest.raises(TypeError, match=r"bytes or str.*pass response\.content"):
            read(body)

    def test_the_engine_is_the_default_one(self) -> None:
        """Without *engine* the default one answers."""
        assert parse(TEXT) == parse(TEXT, engine=robotrules._engine.engine)
        assert parse(TEXT)._engine is robotrules._engine.engine

    @pytest.mark.parametrize("profile", ["strict", STRICT], ids=["name", "profile"])
    def test_the_engine_that_is_named(self, engine: ModuleType, profile: Any) -> None:
        """With *engine* that one answers."""
        assert parse(TEXT, profile, engine=engine)._engine is engine


class TestChoice:
    """Every group that names the token; if none, every star group; if none, nothing (§2.2.1)."""

    @pytest.mark.parametrize(
        ("token", "indices"),
        [
            ("a", [0, 1]),
            ("A", [0, 1]),
            ("b", [1]),
            ("c", [3]),  # the star in its group does not add the other star groups (AMB-27)
            ("x", [2, 3]),
            ("*", [2, 3]),
            (["x", "b", "a"], [1]),  # the first that has a group (AMB-30)
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
    def test_a_choice_has_its_cause(
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
        assert explained.because is match
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
        """`first_star_group_only` leaves the later star groups out (AMB-26)."""
        robots = read(GROUPS, DEFAULT.replace(first_star_group_only=True))
        assert [group.index for group in robots.select_groups("x").groups] == [2]
        assert [group.index for group in robots.select_groups("a").groups] == [0, 1]
        assert robots.check("/other-star", "x")
        told = robots.explain("/star", "x")
        assert (told.verdict.line, str(told.because), told.matched_tokens) == (7, "star", ())

    def test_no_group(self, read: Read) -> None:
        """Without a group and without a star group nothing is asked of the crawler."""
        robots = read("User-agent: a\nDisallow: /")
        assert robots.select_groups("b").groups == ()
        assert robots.check("/", "b").reason == "no-group"
        assert read("").select_groups("b").groups == ()


class TestTokens:
    """A product token is text that names somebody; what it may hold depends on the profile."""

    @pytest.mark.parametrize("token", ["", " ", "\t\n", [], (), ["a", ""]])
    def test_an_empty_token_is_an_error(self, read: Read, token: Any) -> None:
        """Nobody has no name."""
        for profile in ("default", "strict"):
            robots = read("User-agent: b\nDisallow: /", profile)
            for ask in (robots.select_groups, robots.rules_for):
                with pytest.raises(ProductTokenError, match="crawler's name"):
                    ask(token)
            with pytest.raises(ProductTokenError, match="crawler's name"):
                robots.check("/", token)
            with pytest.raises(ProductTokenError, match="crawler's name"):
                robots.explain("/", token)

    @pytest.mark.parametrize("token", ["", " ", ["", "c"], " b", "(b)"])
    def test_an_empty_token_obeys_the_star_in_profile_google(self, read: Read, token: Any) -> None:
        """As google/robotstxt has it; no name at all is still misuse (AMB-22)."""
        robots = read("User-agent: b\nDisallow: /b\nUser-agent: *\nDisallow: /star", "google")
        told = robots.explain("/star", token)
        assert (told.verdict.line, str(told.because), told.matched_tokens) == (4, "star", ())
        assert robots.check("/b", token)
        with pytest.raises(ProductTokenError) as none:
            robots.check("/", [])
        assert str(none.value) == "no product token was given: pass the crawler's name"

    @pytest.mark.parametrize(
        ("token", "cure"),
        [
            ("ExampleBot/1.0", "here, pass 'ExampleBot'"),
            ("ExampleBot ", "here, pass 'ExampleBot'"),
            (" ExampleBot", "here, pass 'ExampleBot'"),
            ("Example\u00a0Bot", "no white space"),
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
            ("https://example.com/x", r"is a URL .* check\(url, product_token\)"),
            ("/x", r"is a URL .* check\(url, product_token\)"),
            ("x" * 100 + "/1", "xxx...' is not"),
        ],
    )
    def test_what_is_no_name(self, read: Read, token: str, cure: str) -> None:
        """A header, a list or a URL would obey nothing: it raises with the cure (AMB-22)."""
        for profile in ("default", "strict"):
            robots = read("User-agent: ExampleBot\nDisallow: /", profile)
            asks: list[Callable[[Any], Any]] = [
                partial(robots.check, "/x"),
                partial(robots.explain, "/x"),
                robots.rules_for,
                robots.select_groups,
            ]
            for ask in asks:
                for given in (token, [token], ["b", token]):
                    for _ in range(2):  # nothing is remembered of it
                        with pytest.raises(ProductTokenError, match=cure):
                            ask(given)

    def test_swapped_arguments(self, read: Read) -> None:
        """The URL comes first: said in every profile, for paths too."""
        for profile in ("default", "strict", "google"):
            robots = read("User-agent: ExampleBot\nDisallow: /", profile)
            for url in ("https://example.com/x", "/x", "HTTP://example.com"):
                with pytest.raises(ProductTokenError, match="pass the URL first"):
                    robots.check("ExampleBot", url)

    def test_profile_google_takes_the_leading_name(self, read: Read) -> None:
        """Of a header, as google/robotstxt does of user-agent lines; other names as they are."""
        robots = read("User-agent: ExampleBot/2\nDisallow: /", "google")
        for token in ("ExampleBot/1.0", "ExampleBot (x)", "ExampleBot ", ["x", "ExampleBot;"]):
            assert not robots.check("/", token)
            assert robots.explain("/", token).matched_tokens == ("ExampleBot",)
        assert robots.check("/", "ExampleBot2")

    @pytest.mark.parametrize("token", ["MJ12bot", "archive.org_bot", "é", "a*", "\udce9"])
    def test_a_token_outside_the_grammar(self, read: Read, token: str) -> None:
        """`strict` raises and names the cure; other profiles compare it as it is."""
        with pytest.raises(ProductTokenError, match="letters, '_' and '-' only"):
            read("", "strict").check("/", token)
        for profile in ("default", "google", STRICT.replace(any_product_token=True)):
            assert read("", profile).check("/", token)

    def test_names_that_a_registry_has(self, read: Read) -> None:
        """Of each the part that the profile reads; where no group has one, the star's or none."""
        body = "User-agent: Sogou web spider\nDisallow: /s\nUser-agent: MJ12bot\nDisallow: /m\n"
        body += "User-agent: *\nDisallow: /star\n"
        for profile in ("default", "strict", "google"):
            robots = read(body, profile)
            assert robots.check("/s", CrawlerNames(["Sogou web spider"])).line == 2
            # Profile google compares it as it is, and reads MJ in the file (AMB-22).
            line = None if profile == "google" else 4
            assert robots.check("/m", CrawlerNames(["MJ12bot"])).line == line
            assert robots.check("/star", CrawlerNames(["360Spider"])).line == 6
            assert robots.select_groups(CrawlerNames(["x"], ignores_star=True)).groups == ()
            assert [group.index for group in robots.select_groups(CrawlerNames(["x"])).groups] == [
                2
            ]
            told = robots.explain("/s", CrawlerNames(["x", "Sogou web spider"]))
            assert (told.product_token, told.matched_tokens) == ("x", ("Sogou web spider",))

    def test_a_good_token_is_fine_in_strict(self, read: Read) -> None:
        """Letters, `_` and `-`, and the star itself, raise nowhere."""
        robots = read(GROUPS, "strict")
        assert robots.select_groups("Foo_Bar-baz").groups == robots.select_groups("*").groups

    @pytest.mark.parametrize(
        "token", [None, 1, 1.5, b"ExampleBot", [b"a"], [None], {"a"}, object()]
    )
    def test_what_is_no_token(self, read: Read, token: Any) -> None:
        """Anything but text is a TypeError that shows what one looks like."""
        robots = read("User-agent: *\nDisallow: /")
        wrong = token[0] if isinstance(token, list) else token
        name = type(wrong).__name__
        for ask in (robots.rules_for, robots.select_groups, lambda given: robots.check("/", given)):
            with pytest.raises(TypeError, match=f"such as 'ExampleBot'.*not {name}$"):
                ask(token)

    def test_a_mistake_stays_one_after_other_questions(self, read: Read) -> None:
        """What is remembered for one crawler never answers for what is no crawler."""
        robots = read("User-agent: a\nDisallow: /")
        assert robots.check("/", "b")
        assert not robots.check("/", "a")
        with pytest.raises(ProductTokenError):
            robots.check("/", ())
        with pytest.raises(TypeError):
            robots.check("/", (0,))  # type: ignore[arg-type]

    def test_what_is_remembered_answers_for_nobody_else(self, read: Read) -> None:
        """The answer to one crawler does not depend on who asked before it."""
        tokens = ["b", ["a"], "a", ("b", "a"), ["b"], ["b", "c"], "c", "*", ["a", "b"]]
        fresh = [read("User-agent: a\nDisallow: /").check("/x", token) for token in tokens]
        robots = read("User-agent: a\nDisallow: /")
        assert [robots.check("/x", token) for token in tokens] == fresh
        assert [robots.check("/x", token) for token in reversed(tokens)] == fresh[::-1]
        assert [bool(verdict) for verdict in fresh[:4]] == [True, False, False, False]


class TestExplaining:
    """An explanation has every rule that matches, and the notes of the groups obeyed."""

    def test_outcomes(self, read: Read) -> None:
        """The winner first, then those that tie, then those with fewer octets."""
        text = "User-agent: a\nDisallow: /x*\nAllow: /*x\nAllow: /xy\nDisallow: /\nAllow: /no"
        told = read(text).explain("/xyx", "a")
        assert [(match.rule.line, str(match.outcome)) for match in told.matches] == [
            (3, "wins"),
            (4, "later-line"),
            (2, "allow-wins-tie"),
            (5, "fewer-octets"),
        ]

    def test_robots_txt(self, read: Read) -> None:
        """Rules that match `/robots.txt` are shown, and not consulted."""
        told = read("User-agent: *\nDisallow: /").explain("/robots.txt", "a")
        assert [str(match.outcome) for match in told.matches] == ["not-consulted"]

    def test_notes(self, read: Read) -> None:
        """Notes outside the groups obeyed are left out, those about the file are not."""
        text = "\ufeffAllow: x\nUser-agent: a\nAllow: y\nUser-agent: b\nAllow: z"
        told = read(text).explain("/", "b")
        assert [(note.code, note.line) for note in told.notes] == [
            ("bom", None),
            ("pattern-start", 5),
        ]
        assert read(text).explain("/", "nobody").notes == read(text).notes[:1]


class TestWhatWasWritten:
    """Lines, records, groups and notes are tuples of values with octet positions."""

    def test_tuples(self, read: Read) -> None:
        """All four are tuples, equal each time they are asked for."""
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
        """What a profile tolerates is a warning; what it then does not use is an error."""
        body = b"User-agent: *\nDisallow: /\xe9\nDisallow: /a b"
        assert [(note.code, note.level) for note in read(body).notes] == [
            ("invalid-utf8", "warning"),
            ("space-in-pattern", "warning"),
        ]
        assert [note.level for note in read(body, "strict").notes] == ["error", "error"]

    def test_nothing(self, read: Read) -> None:
        """An empty file has nothing in it."""
        robots = read("")
        assert (robots.lines, robots.records, robots.groups, robots.notes) == ((), (), (), ())
        assert robots.body == b""
        assert robots.profile is DEFAULT


class TestBeingAValue:
    """A file compares by octets, profile and completeness; it cannot be changed."""

    def test_equality(self, read: Read) -> None:
        """Equal files are equal, whichever engine read them, and hash alike."""
        robots = read(TEXT)
        assert robots == parse(TEXT)
        assert hash(robots) == hash(parse(TEXT))
        assert robots != read(TEXT + " ")
        assert robots != read(TEXT, "google")
        assert robots != read(TEXT, complete=False)
        assert robots != TEXT
        assert len({robots, parse(TEXT), read(TEXT, "strict")}) == 2
        assert len({hash(read(f"Disallow: /{number}")) for number in range(9)}) > 1

    def test_asking_changes_nothing(self, read: Read) -> None:
        """A file that was asked is still equal to one that was not."""
        robots = read(TEXT)
        robots.check("/x", "a")
        assert robots == read(TEXT)
        assert hash(robots) == hash(read(TEXT))

    @pytest.mark.parametrize("name", ["profile", "body", "groups", "notes", "other"])
    def test_it_cannot_be_changed(self, read: Read, name: str) -> None:
        """No public attribute of a file can be set, and no other added."""
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

    def test_what_it_looks_like(self, read: Read) -> None:
        """Its repr says size, groups and profile."""
        assert repr(read(GROUPS)) == "<RobotsTxt: 152 octets, 4 groups, profile default>"


def test_complete_false_drops_an_unfinished_line(read: Read) -> None:
    """A body that was cut loses its last line unless a terminator ends it (AMB-12)."""
    text = "User-agent: *\nDisallow: /"
    assert not read(text).check("/x", "a")
    cut = read(text, complete=False)
    assert cut.check("/x", "a")
    assert [(note.code, note.line, note.start, note.end) for note in cut.notes] == [
        ("cut-line", 2, 14, 25)
    ]
    assert not read(text + "\n", complete=False).check("/x", "a")


def test_ten_threads_get_the_same_answers(read: Read) -> None:
    """One file may be shared: ten threads that ask at once hear what one alone does."""
    rules = "".join(f"Disallow: /{number}/*x\nAllow: /{number}/y\n" for number in range(60))
    text = GROUPS + "User-agent: many\n" + rules
    urls = [f"/{number}/{end}" for number in range(30) for end in "xyz"]
    tokens = ["a", "b", "many", "x", "*"]
    expected = [parse(text).check(url, token) for url in urls for token in tokens]
    robots = read(text)
    answers: list[Any] = [None] * 10
    gate = threading.Barrier(10)

    def ask(number: int) -> None:
        gate.wait()
        found = [robots.check(url, token) for url in urls for token in tokens]
        batched = [robots.rules_for(token).check_many(urls) for token in tokens]
        turned = [verdict for row in zip(*batched, strict=True) for verdict in row]
        notes = robots.notes, robots.groups, robots.records, robots.lines
        answers[number] = (found, turned, notes)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for found, batched, notes in answers:
        assert found == expected
        assert batched == expected
        assert notes == answers[0][2]


def test_normal_form_of_a_url_and_of_a_pattern(engine: ModuleType) -> None:
    """`normal_form` is what `explain` and rules show, for URLs and for patterns."""
    assert robotrules.normal_form("https://e.example/a%62*?x=/") == "/ab%2A?x=%2F"
    assert robotrules.normal_form("/a%62*?x=/$", pattern=True) == "/ab*?x=%2F$"
    assert robotrules.normal_form(b"/\xe9") == "/%E9"
    assert robotrules.normal_form("/a%62é*", pattern=True, profile="google") == "/a%62%C3%A9*"
    assert robotrules.normal_form("/a%62é*;", profile="google") == "/a%62é*;"
    for odd in (None, 1, bytearray(b"/")):
        with pytest.raises(TypeError, match="str or bytes"):
            robotrules.normal_form(odd)  # type: ignore[arg-type]


def test_a_file_that_was_cut_stays_cut(read: Read) -> None:
    """Its unfinished last line is not used after a journey either."""
    robots = read("User-agent: a\nDisallow: /x\nDisallow: /", complete=False)
    again = pickle.loads(pickle.dumps(robots))
    assert again == robots
    assert [again.check(url, "a").allowed for url in ("/x", "/y")] == [False, True]


class TestOtherRecords:
    """What readers of other records say is on the file too, as in other libraries."""

    BODY = (
        "User-agent: a\nCrawl-delay: 3\nRequest-rate: 1/5\nRequest-rate: 1/60 0600-0845\n"
        "Disallow: /x\nUser-agent: *\nCrawl-delay: 9\nAllow: /\n"
        "Sitemap: https://example.com/s.xml\n"
        "Clean-param: ref\nUser-agent: c\nDisallow: /c\n"
    )

    def test_they_say_what_the_functions_say(self, read: Read) -> None:
        """Each method is the function of the package, asked of this file."""
        robots = read(self.BODY)
        assert robots.sitemaps == robotrules.sitemaps(robots)
        assert [one.url for one in robots.sitemaps] == ["https://example.com/s.xml"]
        delay = robots.crawl_delay("a")
        assert delay == robotrules.crawl_delay(robots, "a")
        assert delay is not None
        assert delay.seconds == 3
        # A crawler with a group of its own sees the star's delay only if asked.
        assert robots.crawl_delay("c") is None
        star = robots.crawl_delay("c", star=True)
        assert star is not None
        assert star.seconds == 9
        assert robots.clean_url("https://example.com/?ref=1&b=2") == "https://example.com/?b=2"
        assert robots.clean_url(b"/?ref=1") == robotrules.clean_url(robots, b"/?ref=1")

    @pytest.mark.parametrize(
        ("at", "period"), [(None, 60), (time(7), 60), (time(9), 5), (time(5, 59), 5)]
    )
    def test_the_politest_rate_of_the_hour(self, read: Read, at: time | None, period: int) -> None:
        """Of several rates the slowest; with a time of day those for other hours are left out."""
        rate = read(self.BODY).request_rate("a", at=at)
        assert rate is not None
        assert rate.period == period

    def test_the_politest_has_the_most_seconds(self, read: Read) -> None:
        """Not the most requests, nor the longest period."""
        robots = read("User-agent: *\nRequest-rate: 5/60\nRequest-rate: 1/20\nRequest-rate: 9/90")
        rate = robots.request_rate("a")
        assert rate is not None
        assert rate.line == 3

    def test_groups_of_a_purpose(self, read: Read) -> None:
        """Where no group names the crawler, that of its purpose counts before the star's."""
        robots = read(
            "User-agent-purpose: P\nCrawl-delay: 3\nRequest-rate: 1/3\nAllow: /\n"
            "User-agent: *\nCrawl-delay: 9\nRequest-rate: 1/9\nAllow: /\n"
        )
        for purposes, seconds in ((["P"], 3), ([], 9)):
            delay, rate = robots.crawl_delay("a", purposes), robots.request_rate("a", purposes)
            assert delay is not None
            assert rate is not None
            assert delay.seconds == rate.seconds == seconds

    def test_nothing_said(self, read: Read) -> None:
        """An empty file says nothing, and changes no URL."""
        robots = read("")
        assert (robots.sitemaps, robots.crawl_delay("a"), robots.request_rate("a")) == (
            (),
            None,
            None,
        )
        assert robots.clean_url("/?a=1") == "/?a=1"

    def test_misuse(self, read: Read) -> None:
        """A header is no name there either."""
        for ask in (read("").crawl_delay, read("").request_rate):
            with pytest.raises(ProductTokenError, match="not a product token"):
                ask("a/1.0")
