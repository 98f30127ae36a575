"""RuleSet: compiled rules, asked one at a time or in batches, alone or between threads."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import pytest

from robotrules import DEFAULT, Reason, RobotsTxt, Rule, RuleSet

Read = Callable[..., RobotsTxt]
TEXT = "User-agent: *\nDisallow: /\nAllow: /shop\nDisallow: /*.gif$\nAllow:\nDisallow: shop\n"
URLS: list[str | bytes] = [
    "/",
    "/shop",
    "/shop/a.gif",
    "/robots.txt",
    "https://e.example/x",
    b"/shop",
    "",
    "/%73hop",
]


@pytest.fixture
def rules(read: Read) -> RuleSet:
    """A rule set read from a file by each engine."""
    return read(TEXT).rules_for("a")


class TestAsking:
    """One URL or many, a truth or a verdict: the answers are the same."""

    def test_allows_and_check(self, rules: RuleSet) -> None:
        """`allows` is the truth of `check`."""
        expected = [False, True, False, True, False, True, False, True]
        assert [rules.allows(url) for url in URLS] == expected
        assert [bool(rules.check(url)) for url in URLS] == expected

    def test_batches(self, rules: RuleSet) -> None:
        """A batch answers like one question after the other, whatever holds the URLs."""
        assert rules.allows_many(URLS) == [rules.allows(url) for url in URLS]
        assert rules.check_many(URLS) == [rules.check(url) for url in URLS]
        for urls in (tuple(URLS), iter(URLS), dict.fromkeys(URLS), (url for url in URLS)):
            assert rules.allows_many(urls) == rules.allows_many(URLS)
        assert rules.check_many(iter(URLS)) == rules.check_many(URLS)

    @pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 5000])
    def test_batches_of_any_size(self, rules: RuleSet, count: int) -> None:
        """No URL is lost or moved where the engine cuts a batch into chunks."""
        urls = [f"/shop/{number}.gif" if number % 3 else "/shop" for number in range(count)]
        assert rules.allows_many(urls) == [number % 3 == 0 for number in range(count)]
        assert [verdict.line for verdict in rules.check_many(urls)] == [
            4 if number % 3 else 3 for number in range(count)
        ]

    def test_an_iterator_that_fails(self, rules: RuleSet) -> None:
        """An exception of the caller's iterator comes out as it is."""

        def urls() -> Any:
            yield "/"
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            rules.allows_many(urls())
        with pytest.raises(TypeError):
            rules.allows_many(None)  # type: ignore[arg-type]

    @pytest.mark.parametrize("one", ["/abc", b"/abc"])
    def test_one_url_is_not_many(self, rules: RuleSet, one: Any) -> None:
        """A str is a sequence of str: taken for many URLs it would be asked octet by octet."""
        for ask in (rules.allows_many, rules.check_many):
            with pytest.raises(TypeError, match=r"pass \[url\]"):
                ask(one)

    def test_patterns_are_text(self, engine: ModuleType) -> None:
        """One pattern is not a list of patterns, and a number is none."""
        with pytest.raises(TypeError, match=r"pass \['/ab'\]"):
            RuleSet.from_patterns("/ab", engine=engine)
        with pytest.raises(TypeError, match="not int"):
            RuleSet.from_patterns([5], engine=engine)  # type: ignore[list-item]

    def test_verdicts_are_made_once(self, rules: RuleSet) -> None:
        """Answers that the same rule decided are one verdict."""
        assert rules.check("/shop/1") is rules.check("/shop/2")
        assert rules.check_many(["/shop/1", "/shop/2"])[0] is rules.check("/shop/3")

    def test_surrogates_in_a_url(self, read: Read) -> None:
        """Octets that were smuggled into a str are the octets they stand for."""
        rules = read(b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /\xed\xa0\xbc").rules_for("a")
        assert rules.allows_many(["/caf\udce9", b"/caf\xe9", "/caf%e9", "/\ud83c", "/caf"]) == [
            False,
            False,
            False,
            False,
            True,
        ]


class Text(str):
    """A str of somebody's own, which is a URL like any other."""

    __slots__ = ()

    def __str__(self) -> str:
        return "/shop/nothing-like-it"


class TestLongBatches:
    """A long batch is handed over as one text; whatever is in it, each URL is asked as if alone."""

    PLAIN: ClassVar[list[str]] = [f"https://example.com/shop/{number}" for number in range(200)]
    ODD: ClassVar[dict[str, list[str | bytes]]] = {
        "newlines": ["/shop/a\n/x", "/\n/shop/", "\n", "/x\n", "\n/shop/"],
        "bytes": [b"/shop/x", b"https://example.com/shop\n/", b"", b"/caf\xe9"],
        "surrogates": ["/shop/\ud83c", "/caf\udce9"],
        "not ASCII": ["/shop/é", "https://пример.example/shop/ж", "/😀", "/shop/%C3%A9"],
        "own types": [Text("/shop/x"), Text("/x")],
        "nothing": ["", "/", "?", "#", "//", "https://"],
        "references": ["//example.com/shop/x", "/shop/../x", "/x/../shop/y", "shop/x", "/shop/./"],
    }

    @pytest.mark.parametrize("odd", ODD)
    @pytest.mark.parametrize("place", [0, 1, 100, 200])
    def test_something_odd_among_plain(self, rules: RuleSet, odd: str, place: int) -> None:
        """The odd one changes no answer but its own."""
        urls: list[str | bytes] = [*self.PLAIN]
        urls[place:place] = self.ODD[odd]
        expected = [rules.allows(url) for url in urls]
        assert rules.allows_many(urls) == expected
        assert rules.allows_many(tuple(urls)) == expected
        assert rules.check_many(urls) == [rules.check(url) for url in urls]

    def test_all_bytes(self, rules: RuleSet) -> None:
        """Octets are URLs too, in any number."""
        urls = [url.encode() for url in self.PLAIN * 8]
        assert rules.allows_many(urls) == rules.allows_many(self.PLAIN * 8)

    @pytest.mark.parametrize("place", [0, 1, 150, 199, 1500])
    @pytest.mark.parametrize("what", [5, None, bytearray(b"/x"), ["/x"]])
    def test_what_is_no_url(self, rules: RuleSet, what: Any, place: int) -> None:
        """It raises wherever it stands, and says what to pass; without rules too."""
        urls: list[Any] = self.PLAIN * 8
        urls[place] = what
        nothing = RuleSet.from_patterns([])
        for ask in (rules.allows_many, rules.check_many, nothing.allows_many):
            with pytest.raises(TypeError, match=rf"^urls\[{place}\]: .*(pass|leave it out)"):
                ask(urls)

    def test_without_rules(self, engine: ModuleType) -> None:
        """No rule: everything is allowed, and there are as many answers as URLs."""
        nothing = RuleSet.from_patterns([], engine=engine)
        for odd in self.ODD.values():
            urls = [*odd, *self.PLAIN * 9]
            assert nothing.allows_many(urls) == [True] * len(urls)

    def test_robots_txt_itself(self, read: Read) -> None:
        """What no rule is asked about is allowed in a batch too (AMB-45)."""
        rules = read(b"User-agent: *\nDisallow: /").rules_for("a")
        urls = ["https://example.com/robots.txt", "https://example.com/robots.txt2"] * 100
        assert rules.allows_many(urls) == [True, False] * 100


class TestMatches:
    """`best` reports ties, `matches` every rule that matches, both by position."""

    def test_matches(self, rules: RuleSet) -> None:
        """The path in normal form, then position and octets, the most specific first."""
        assert rules.matches("/sh%6Fp/a.gif") == ("/shop/a.gif", ((2, 7), (1, 5), (0, 1)))
        assert rules.matches("/robots.txt") == ("/robots.txt", ((0, 1),))

    def test_best(self, rules: RuleSet) -> None:
        """Only those with the most octets."""
        assert rules.tied_rules("/shop") == (1,)
        assert rules.tied_rules("/x") == (0,)

    def test_nothing_matches(self, engine: ModuleType) -> None:
        """No match, no winner, and the path all the same."""
        rules = RuleSet.from_patterns(["/a"], engine=engine)
        assert rules.tied_rules("/b") == ()
        assert rules.matches("/b") == ("/b", ())

    def test_ties(self, read: Read) -> None:
        """All that tie are reported: allow before disallow, then the order of the file."""
        text = "User-agent: *\nDisallow: /a*\nAllow: /ab\nDisallow: /*b\nAllow: /a$\nAllow: /*b"
        rules = read(text).rules_for("a")
        assert rules.tied_rules("/ab") == (1, 4, 0, 2)
        assert rules.check("/ab").line == 3


class TestRules:
    """A rule set knows the rules it was made of, those that never match included."""

    def test_rules(self, read: Read, rules: RuleSet) -> None:
        """`rules` are those of the groups, in the order of the file."""
        assert rules.rules == read(TEXT).groups[0].rules
        assert [rule.line for rule in rules.rules] == [2, 3, 4, 5, 6]
        assert len(rules) == 5

    def test_truth(self, read: Read) -> None:
        """An empty rule set is still a rule set."""
        assert len(read("").rules_for("a")) == 0
        assert bool(read("").rules_for("a"))

    def test_merged_groups(self, read: Read) -> None:
        """Rules of several groups stand one after the other (§2.2.1)."""
        text = "User-agent: a\nAllow: /1\nUser-agent: b\nAllow: /2\nUser-agent: A\nAllow: /3"
        assert [rule.pattern for rule in read(text).rules_for("a").rules] == ["/1", "/3"]

    def test_a_verdict_names_the_rule_by_position(self, rules: RuleSet) -> None:
        """The rule of a verdict is the one at the position that wins."""
        for url in URLS:
            if (verdict := rules.check(url)).rule:
                assert verdict.rule == rules.rules[rules.tied_rules(url)[0]]


class TestFromPatterns:
    """Patterns of any record get the same matcher (house, section 5)."""

    def test_patterns(self, engine: ModuleType) -> None:
        """Text and octets are patterns; `best` gives their positions."""
        rules = RuleSet.from_patterns(["/a", b"/a/\xe9", "/*/b", "/a*"], engine=engine)
        assert rules.tied_rules("/a/%E9") == (1,)
        assert rules.tied_rules("/a") == (3,)
        assert rules.tied_rules("/x/b") == (2,)
        assert [rule.form for rule in rules.rules] == ["/a", "/a/%E9", "/*/b", "/a*"]
        assert len(rules) == 4

    def test_profile(self, engine: ModuleType) -> None:
        """A profile, by name or as such, says how patterns are compared."""
        for profile in ("google", DEFAULT.replace(minimal_encoding=True)):
            rules = RuleSet.from_patterns(["/a%62"], profile, engine=engine)
            assert rules.tied_rules("/ab") == ()
        assert RuleSet.from_patterns(["/a%62"], engine=engine).tied_rules("/ab") == (0,)

    def test_patterns_that_cannot_match_keep_their_position(self, engine: ModuleType) -> None:
        """Empty ones and those that start wrongly count, and never win."""
        rules = RuleSet.from_patterns(["", "a", "/a\x01", "/a"], engine=engine)
        assert rules.tied_rules("/a") == (3,)
        assert len(rules) == 4

    def test_no_patterns(self, engine: ModuleType) -> None:
        """No pattern at all is a rule set too, without rules."""
        rules = RuleSet.from_patterns([], engine=engine)
        assert rules.check("/").reason is Reason.NO_RULES
        assert rules.rules == ()

    def test_the_default_engine(self) -> None:
        """Without *engine* the default one compiles."""
        assert RuleSet.from_patterns(["/a"]).tied_rules("/a") == (0,)


class TestBeingAValue:
    """A rule set compares by its rules and profile; it cannot be changed."""

    def test_equality(self, read: Read, rules: RuleSet) -> None:
        """Equal rules under an equal profile are equal rule sets."""
        assert rules == read(TEXT).rules_for("b")
        assert hash(rules) == hash(read(TEXT).rules_for("b"))
        assert rules != read(TEXT, "google").rules_for("a")
        assert rules != read(TEXT + "Disallow: /x").rules_for("a")
        assert rules != 1
        sets = [RuleSet.from_patterns([f"/{number}"]) for number in range(9)]
        assert len(set(map(hash, sets))) > 1

    def test_patterns(self, engine: ModuleType) -> None:
        """Those made of patterns compare too."""
        one, other = (RuleSet.from_patterns(["/a", "/b"], engine=engine) for _ in range(2))
        assert one == other
        assert one != RuleSet.from_patterns(["/b", "/a"], engine=engine)

    def test_equal_rule_sets_answer_alike(self, read: Read) -> None:
        """No group and a group without rules both allow, for different reasons, and differ."""
        nobody, nothing = read("").rules_for("a"), read("User-agent: a").rules_for("a")
        assert nobody.check("/").reason != nothing.check("/").reason
        assert nobody != nothing

    @pytest.mark.parametrize("name", ["profile", "rules", "other"])
    def test_it_cannot_be_changed(self, rules: RuleSet, name: str) -> None:
        """No public attribute can be set, and no other added."""
        with pytest.raises(AttributeError):
            setattr(rules, name, DEFAULT)

    def test_it_survives_pickle(self, rules: RuleSet, engine: ModuleType) -> None:
        """A rule set is the same after a round trip, from a file or from patterns."""
        for made in (rules, RuleSet.from_patterns(["/a", "b"], "google", engine=engine)):
            for again in (pickle.loads(pickle.dumps(made)), copy.copy(made)):
                assert again == made
                assert again.check_many(URLS) == made.check_many(URLS)
                assert again.profile == made.profile

    def test_without_its_file(self, read: Read) -> None:
        """A rule set of no group keeps its reason after a round trip."""
        rules = pickle.loads(pickle.dumps(read("").rules_for("a")))
        assert rules.check("/").reason is Reason.NO_GROUP

    def test_what_it_looks_like(self, rules: RuleSet) -> None:
        """Its repr says how many rules and which profile."""
        assert repr(rules) == "<RuleSet: 5 rules, profile default>"


class TestThreads:
    """A rule set is shared between threads; a large batch lets the others run."""

    def test_ten_threads_get_the_same_answers(self, read: Read) -> None:
        """Ten threads that ask while the index is built hear what one alone does."""
        lines = [f"Disallow: /{n}*{n}$\nAllow: /{n}/open" for n in range(100)]
        text = "User-agent: *\n" + "\n".join(lines)
        urls = [f"/{n}/{end}" for n in range(60) for end in ("open", n, "x")]
        expected = read(text).rules_for("a").check_many(urls)
        rules = read(text).rules_for("a")
        answers: dict[int, Any] = {}
        gate = threading.Barrier(10)

        def ask(number: int) -> None:
            gate.wait()
            answers[number] = [rules.check(url) for url in urls]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answers[number] == expected for number in range(10)] == [True] * 10

    def test_a_large_batch_releases_the_interpreter_lock(self, native: ModuleType) -> None:
        """While the native engine decides a batch, Python code in another thread goes on."""
        # No gram tells these patterns apart, so each URL is tried against every rule: a chunk takes
        # long enough for another thread to be seen.
        patterns = [f"/*a*a*a*a*{'a' * (number % 7)}b$" for number in range(400)]
        rules = RuleSet.from_patterns(patterns, engine=native)
        urls = ["/" + "ab" * 2000 + "c"] * 1024
        ticks = 0
        stop, started = threading.Event(), threading.Event()

        def count() -> None:
            nonlocal ticks
            while not stop.is_set():
                ticks += 1
                started.set()
                time.sleep(0)  # offers the lock, since nobody is made to give it up below

        counter = threading.Thread(target=count)
        interval = sys.getswitchinterval()
        # From here on a thread runs until it releases the lock itself: the counter moves while the
        # main thread waits or has released it, and never otherwise.
        sys.setswitchinterval(1000)
        try:
            counter.start()
            started.wait()
            before = ticks
            sum(number * number for number in range(100_000))
            meanwhile = ticks - before
            before = ticks
            rules.allows_many(urls)
            during = ticks - before
        finally:
            stop.set()
            counter.join()
            sys.setswitchinterval(interval)
        assert meanwhile == 0
        assert during > 0


def test_patterns_that_stand_alone_allow(engine: ModuleType) -> None:
    """What matches a pattern of no file is allowed by it, and it stands nowhere."""
    rules = RuleSet.from_patterns(["/a", b"/b*"], engine=engine)
    verdict = rules.check("/a/x")
    assert (verdict.allowed, verdict.reason, verdict.profile) == (
        True,
        Reason.ALLOW_RULE,
        "default",
    )
    assert rules.rules[0] == Rule(True, "/a", "/a", 2, 0, 0, 0, 0)


def test_what_was_pickled_can_be_pickled_again(read: Callable[..., RobotsTxt]) -> None:
    """A rule set survives two journeys as it survives one."""
    rules = read("User-agent: a\nDisallow: /x\nAllow: /x/y").rules_for("a")
    once = pickle.loads(pickle.dumps(rules))
    twice = pickle.loads(pickle.dumps(once))
    for found in (once, twice):
        assert found == rules
        assert [found.allows(url) for url in ("/x", "/x/y", "/")] == [False, True, True]
        assert found.check("/x").line == 2


@pytest.mark.parametrize("profile", ["default", "strict", "google"])
def test_a_verdict_names_its_profile(read: Callable[..., RobotsTxt], profile: str) -> None:
    """Whether a rule decides or none does."""
    rules = read("User-agent: a\nDisallow: /x", profile).rules_for("a")
    assert [rules.check(url).profile for url in ("/x", "/")] == [profile, profile]
