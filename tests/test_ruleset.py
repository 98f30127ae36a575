"""RuleSet: compiled rules, for single URLs and batches, in one thread and in several."""

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
    """A rule set of a file, parsed by each engine."""
    return read(TEXT).rules_for("a")


class TestChecks:
    """One URL or many, bool or verdict: the results agree."""

    def test_allows_and_check(self, rules: RuleSet) -> None:
        """`allows` equals the truth value of `check`."""
        expected = [False, True, False, True, False, True, False, True]
        assert [rules.allows(url) for url in URLS] == expected
        assert [bool(rules.check(url)) for url in URLS] == expected

    def test_batches(self, rules: RuleSet) -> None:
        """A batch gives the same results as single calls, for any iterable of URLs."""
        assert rules.allows_many(URLS) == [rules.allows(url) for url in URLS]
        assert rules.check_many(URLS) == [rules.check(url) for url in URLS]
        for urls in (tuple(URLS), iter(URLS), dict.fromkeys(URLS), (url for url in URLS)):
            assert rules.allows_many(urls) == rules.allows_many(URLS)
        assert rules.check_many(iter(URLS)) == rules.check_many(URLS)

    @pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 5000])
    def test_batches_of_any_size(self, rules: RuleSet, count: int) -> None:
        """No URL is lost or moved when the engine splits a batch into chunks."""
        urls = [f"/shop/{number}.gif" if number % 3 else "/shop" for number in range(count)]
        assert rules.allows_many(urls) == [number % 3 == 0 for number in range(count)]
        assert [verdict.line for verdict in rules.check_many(urls)] == [
            4 if number % 3 else 3 for number in range(count)
        ]

    def test_an_iterator_that_fails(self, rules: RuleSet) -> None:
        """An exception of the caller's iterator is propagated."""

        def urls() -> Any:
            yield "/"
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            rules.allows_many(urls())
        with pytest.raises(TypeError):
            rules.allows_many(None)  # type: ignore[arg-type]

    @pytest.mark.parametrize("url", ["/abc", b"/abc"])
    def test_one_url_is_not_many(self, rules: RuleSet, url: Any) -> None:
        """A str is a sequence of str: as a list of URLs it would be checked octet by octet."""
        for check in (rules.allows_many, rules.check_many):
            with pytest.raises(TypeError, match=r"pass \[url\]"):
                check(url)

    def test_patterns_are_text(self, engine: ModuleType) -> None:
        """A single pattern is not accepted as a list, and a number is not a pattern."""
        with pytest.raises(TypeError, match=r"pass \['/ab'\]"):
            RuleSet.from_patterns("/ab", engine=engine)
        with pytest.raises(TypeError, match="not int"):
            RuleSet.from_patterns([5], engine=engine)  # type: ignore[list-item]

    def test_verdicts_are_cached(self, rules: RuleSet) -> None:
        """Results that the same rule decides are the same verdict object."""
        assert rules.check("/shop/1") is rules.check("/shop/2")
        assert rules.check_many(["/shop/1", "/shop/2"])[0] is rules.check("/shop/3")

    def test_surrogates_in_a_url(self, read: Read) -> None:
        """Surrogates from `surrogateescape` are compared as the octets they represent."""
        rules = read(b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /\xed\xa0\xbc").rules_for("a")
        assert rules.allows_many(["/caf\udce9", b"/caf\xe9", "/caf%e9", "/\ud83c", "/caf"]) == [
            False,
            False,
            False,
            False,
            True,
        ]


class Text(str):
    """A subclass of str, which is a valid URL."""

    __slots__ = ()

    def __str__(self) -> str:
        return "/shop/nothing-like-it"


class TestLongBatches:
    """A long batch is passed to the engine as one text; each URL is still checked separately."""

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
    def test_an_odd_url_among_plain_urls(self, rules: RuleSet, odd: str, place: int) -> None:
        """The odd URL does not change the results of other URLs."""
        urls: list[str | bytes] = [*self.PLAIN]
        urls[place:place] = self.ODD[odd]
        expected = [rules.allows(url) for url in urls]
        assert rules.allows_many(urls) == expected
        assert rules.allows_many(tuple(urls)) == expected
        assert rules.check_many(urls) == [rules.check(url) for url in urls]

    def test_all_bytes(self, rules: RuleSet) -> None:
        """URLs can be bytes, in any number."""
        urls = [url.encode() for url in self.PLAIN * 8]
        assert rules.allows_many(urls) == rules.allows_many(self.PLAIN * 8)

    @pytest.mark.parametrize("place", [0, 1, 150, 199, 1500])
    @pytest.mark.parametrize("what", [5, None, bytearray(b"/x"), ["/x"]])
    def test_other_types_of_url(self, rules: RuleSet, what: Any, place: int) -> None:
        """It raises an error at any position that says what to pass, also without rules."""
        urls: list[Any] = self.PLAIN * 8
        urls[place] = what
        nothing = RuleSet.from_patterns([])
        for check in (rules.allows_many, rules.check_many, nothing.allows_many):
            with pytest.raises(TypeError, match=rf"^urls\[{place}\]: .*(pass|leave it out)"):
                check(urls)

    def test_without_rules(self, engine: ModuleType) -> None:
        """Without rules everything is allowed, and there are as many results as URLs."""
        nothing = RuleSet.from_patterns([], engine=engine)
        for odd in self.ODD.values():
            urls = [*odd, *self.PLAIN * 9]
            assert nothing.allows_many(urls) == [True] * len(urls)

    def test_robots_txt_itself(self, read: Read) -> None:
        """`/robots.txt` is always allowed in a batch too (AMB-45)."""
        rules = read(b"User-agent: *\nDisallow: /").rules_for("a")
        urls = ["https://example.com/robots.txt", "https://example.com/robots.txt2"] * 100
        assert rules.allows_many(urls) == [True, False] * 100


class TestMatches:
    """`tied_rules` reports ties, `matches` every rule that matches, both by position."""

    def test_matches(self, rules: RuleSet) -> None:
        """The path in normal form, then position and octets, the most specific first."""
        assert rules.matches("/sh%6Fp/a.gif") == ("/shop/a.gif", ((2, 7), (1, 5), (0, 1)))
        assert rules.matches("/robots.txt") == ("/robots.txt", ((0, 1),))

    def test_tied_rules(self, rules: RuleSet) -> None:
        """Only rules with the most octets."""
        assert rules.tied_rules("/shop") == (1,)
        assert rules.tied_rules("/x") == (0,)

    def test_no_match(self, engine: ModuleType) -> None:
        """Without a match there is no winner; the path is still returned."""
        rules = RuleSet.from_patterns(["/a"], engine=engine)
        assert rules.tied_rules("/b") == ()
        assert rules.matches("/b") == ("/b", ())

    def test_ties(self, read: Read) -> None:
        """All ties are reported: allow before disallow, then in the order of the file."""
        text = "User-agent: *\nDisallow: /a*\nAllow: /ab\nDisallow: /*b\nAllow: /a$\nAllow: /*b"
        rules = read(text).rules_for("a")
        assert rules.tied_rules("/ab") == (1, 4, 0, 2)
        assert rules.check("/ab").line == 3


class TestRules:
    """A rule set has its rules, including those that never match."""

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
        """Rules of several groups follow one another (§2.2.1)."""
        text = "User-agent: a\nAllow: /1\nUser-agent: b\nAllow: /2\nUser-agent: A\nAllow: /3"
        assert [rule.pattern for rule in read(text).rules_for("a").rules] == ["/1", "/3"]

    def test_a_verdict_names_the_rule_by_position(self, rules: RuleSet) -> None:
        """The rule of a verdict is the rule at the winning position."""
        for url in URLS:
            if (verdict := rules.check(url)).rule:
                assert verdict.rule == rules.rules[rules.tied_rules(url)[0]]


class TestFromPatterns:
    """Patterns of other records use the same matcher (docs/architecture.md)."""

    def test_patterns(self, engine: ModuleType) -> None:
        """Patterns are str or bytes; `tied_rules` returns their positions."""
        rules = RuleSet.from_patterns(["/a", b"/a/\xe9", "/*/b", "/a*"], engine=engine)
        assert rules.tied_rules("/a/%E9") == (1,)
        assert rules.tied_rules("/a") == (3,)
        assert rules.tied_rules("/x/b") == (2,)
        assert [rule.form for rule in rules.rules] == ["/a", "/a/%E9", "/*/b", "/a*"]
        assert len(rules) == 4

    def test_profile(self, engine: ModuleType) -> None:
        """The profile, given by name or as a Profile, determines how patterns are compared."""
        for profile in ("google", DEFAULT.replace(minimal_encoding=True)):
            rules = RuleSet.from_patterns(["/a%62"], profile, engine=engine)
            assert rules.tied_rules("/ab") == ()
        assert RuleSet.from_patterns(["/a%62"], engine=engine).tied_rules("/ab") == (0,)

    def test_patterns_that_cannot_match_keep_their_position(self, engine: ModuleType) -> None:
        """Empty patterns and patterns with an invalid start keep a position, and never win."""
        rules = RuleSet.from_patterns(["", "a", "/a\x01", "/a"], engine=engine)
        assert rules.tied_rules("/a") == (3,)
        assert len(rules) == 4

    def test_no_patterns(self, engine: ModuleType) -> None:
        """An empty list of patterns gives a rule set without rules."""
        rules = RuleSet.from_patterns([], engine=engine)
        assert rules.check("/").reason is Reason.NO_RULES
        assert rules.rules == ()

    def test_the_default_engine(self) -> None:
        """Without *engine* the default engine compiles."""
        assert RuleSet.from_patterns(["/a"]).tied_rules("/a") == (0,)


class TestValue:
    """A rule set compares by its rules and profile; it is immutable."""

    def test_equality(self, read: Read, rules: RuleSet) -> None:
        """Rule sets with equal rules and an equal profile are equal."""
        assert rules == read(TEXT).rules_for("b")
        assert hash(rules) == hash(read(TEXT).rules_for("b"))
        assert rules != read(TEXT, "google").rules_for("a")
        assert rules != read(TEXT + "Disallow: /x").rules_for("a")
        assert rules != 1
        sets = [RuleSet.from_patterns([f"/{number}"]) for number in range(9)]
        assert len(set(map(hash, sets))) > 1

    def test_patterns(self, engine: ModuleType) -> None:
        """Rule sets made from patterns compare by value too."""
        rules, same = (RuleSet.from_patterns(["/a", "/b"], engine=engine) for _ in range(2))
        assert rules == same
        assert rules != RuleSet.from_patterns(["/b", "/a"], engine=engine)

    def test_no_group_differs_from_no_rules(self, read: Read) -> None:
        """No group and a group without rules both allow, for different reasons; they differ."""
        no_group, no_rules = read("").rules_for("a"), read("User-agent: a").rules_for("a")
        assert no_group.check("/").reason != no_rules.check("/").reason
        assert no_group != no_rules

    @pytest.mark.parametrize("name", ["profile", "rules", "other"])
    def test_it_is_immutable(self, rules: RuleSet, name: str) -> None:
        """No public attribute can be set, and no attribute can be added."""
        with pytest.raises(AttributeError):
            setattr(rules, name, DEFAULT)

    def test_it_survives_pickle(self, rules: RuleSet, engine: ModuleType) -> None:
        """A rule set is the same after a round trip, from a file or from patterns."""
        for made in (rules, RuleSet.from_patterns(["/a", "b"], "google", engine=engine)):
            for again in (pickle.loads(pickle.dumps(made)), copy.copy(made)):
                assert again == made
                assert again.check_many(URLS) == made.check_many(URLS)
                assert again.profile == made.profile

    def test_no_group_survives_pickle(self, read: Read) -> None:
        """A rule set without groups keeps its reason after a round trip."""
        rules = pickle.loads(pickle.dumps(read("").rules_for("a")))
        assert rules.check("/").reason is Reason.NO_GROUP

    def test_repr(self, rules: RuleSet) -> None:
        """The repr has the number of rules and the profile."""
        assert repr(rules) == "<RuleSet: 5 rules, profile default>"


class TestThreads:
    """A rule set can be shared between threads; a large batch lets other threads run."""

    def test_ten_threads_get_the_same_results(self, read: Read) -> None:
        """Ten threads that check while the index is built get the same results as one thread."""
        lines = [f"Disallow: /{n}*{n}$\nAllow: /{n}/open" for n in range(100)]
        text = "User-agent: *\n" + "\n".join(lines)
        urls = [f"/{n}/{end}" for n in range(60) for end in ("open", n, "x")]
        expected = read(text).rules_for("a").check_many(urls)
        rules = read(text).rules_for("a")
        answers: dict[int, Any] = {}
        gate = threading.Barrier(10)

        def check(number: int) -> None:
            gate.wait()
            answers[number] = [rules.check(url) for url in urls]

        threads = [threading.Thread(target=check, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answers[number] == expected for number in range(10)] == [True] * 10

    def test_a_large_batch_releases_the_interpreter_lock(self, native: ModuleType) -> None:
        """While the native engine checks a batch, Python code in another thread continues."""
        # No bigram distinguishes these patterns, so each URL is matched against every rule: a chunk
        # takes long enough to observe another thread.
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
                time.sleep(0)  # releases the lock, since threads are not preempted below

        counter = threading.Thread(target=count)
        interval = sys.getswitchinterval()
        # From here on a thread runs until it releases the lock itself: the counter changes only
        # while the main thread waits or has released the lock.
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


def test_patterns_without_a_file_allow(engine: ModuleType) -> None:
    """A pattern that is not from a file allows what it matches, and has no line."""
    rules = RuleSet.from_patterns(["/a", b"/b*"], engine=engine)
    verdict = rules.check("/a/x")
    assert (verdict.allowed, verdict.reason, verdict.profile) == (
        True,
        Reason.ALLOW_RULE,
        "default",
    )
    assert rules.rules[0] == Rule(True, "/a", "/a", 2, 0, 0, 0, 0)


def test_an_unpickled_rule_set_can_be_pickled(read: Callable[..., RobotsTxt]) -> None:
    """A rule set is the same after two pickle round trips."""
    rules = read("User-agent: a\nDisallow: /x\nAllow: /x/y").rules_for("a")
    once = pickle.loads(pickle.dumps(rules))
    twice = pickle.loads(pickle.dumps(once))
    for restored in (once, twice):
        assert restored == rules
        assert [restored.allows(url) for url in ("/x", "/x/y", "/")] == [False, True, True]
        assert restored.check("/x").line == 2


@pytest.mark.parametrize("profile", ["default", "strict", "google"])
def test_a_verdict_names_its_profile(read: Callable[..., RobotsTxt], profile: str) -> None:
    """A verdict has the profile's name, whether a rule decides or not."""
    rules = read("User-agent: a\nDisallow: /x", profile).rules_for("a")
    assert [rules.check(url).profile for url in ("/x", "/")] == [profile, profile]
