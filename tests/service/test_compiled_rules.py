"""The cache of compiled rules: bounded, and never the rules of another question."""

from __future__ import annotations

import threading

import pytest

from robotrules.registries.crawlers import crawler
from robotrules.robotstxt import Tokens, parse
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.service.compiled_rules import ENTRY_OCTETS, CompiledRuleCache, RulesKey
from robotrules.service.verbs import deciding
from tests.service.answers import answer

FILE = b"User-agent: a\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n"
ENTRY = len(FILE) + ENTRY_OCTETS


def key(octets: bytes = FILE, names: Tokens = "a", purposes: tuple[str, ...] = ()) -> RulesKey:
    return RulesKey.of(octets, "default", names, purposes)


class Maker:
    """Makes rules and counts how often."""

    def __init__(self, octets: bytes = FILE) -> None:
        self.octets, self.count = octets, 0

    def __call__(self) -> RuleSet:
        self.count += 1
        return parse(self.octets).rules_for("a")


def test_the_same_question_is_parsed_once() -> None:
    cache, make = CompiledRuleCache(), Maker()
    assert cache.get(key(), make) is cache.get(key(bytes(bytearray(FILE))), make)
    assert (make.count, len(cache), cache.octets) == (1, 1, ENTRY)


def test_other_questions_have_other_rules() -> None:
    known = crawler("AdsBot-Google")
    assert known is not None
    assert known.names.ignores_star
    questions = [
        key(),
        key(FILE + b"\n"),
        key(names="b"),
        key(names=("a",)),
        key(names=("a", "b")),
        key(purposes=("p",)),
        key(names=known.names),
        key(names=tuple(known.names)),
        key(names=CrawlerNames(("a",))),
        key(names=CrawlerNames(("a",), ignores_star=True)),
        RulesKey.of(FILE, "google", "a", ()),
    ]
    cache = CompiledRuleCache()
    assert len({id(cache.get(question, Maker())) for question in questions}) == len(questions)


def test_the_oldest_are_dropped() -> None:
    size = ENTRY + 1
    cache = CompiledRuleCache(3 * size)
    files = [FILE + b"%d" % number for number in range(5)]
    made = {octets: cache.get(key(octets), Maker(octets)) for octets in files[:3]}
    assert cache.get(key(files[0]), Maker()) is made[files[0]]
    for octets in files[3:]:
        cache.get(key(octets), Maker(octets))
    assert (len(cache), cache.octets) == (3, 3 * size)
    assert cache.get(key(files[0]), Maker()) is made[files[0]]
    again = Maker()
    cache.get(key(files[1]), again)
    assert again.count == 1


def test_a_large_file_is_not_kept() -> None:
    """One larger than the cache would empty it."""
    octets = b"#" * 10_000
    cache, make = CompiledRuleCache(5_000), Maker(octets)
    assert cache.get(key(octets), make).allows("/")
    cache.get(key(octets), make)
    assert (make.count, len(cache), cache.octets) == (2, 0, 0)


def test_small_files_are_bounded_in_number() -> None:
    """Rules of ten bytes take more memory than the ten bytes."""
    cache = CompiledRuleCache(20 * ENTRY_OCTETS)
    for number in range(100):
        octets = b"#%d" % number
        cache.get(key(octets), Maker(octets))
    assert len(cache) == 19


def test_rules_made_twice_at_once_count_once() -> None:
    """While one thread makes rules, another has made the same."""
    cache = CompiledRuleCache()

    def slow() -> RuleSet:
        cache.get(key(), Maker())
        return Maker()()

    assert cache.get(key(), slow).allows("/")
    assert (len(cache), cache.octets) == (1, ENTRY)


def test_threads() -> None:
    """The count of bytes is right after many threads have filled and emptied the cache."""
    cache = CompiledRuleCache(10 * ENTRY)
    errors: list[Exception] = []

    def fill(first: int) -> None:
        try:
            for number in range(200):
                octets = FILE + b"#%d" % ((first + number) % 30)
                assert not cache.get(key(octets), Maker(octets)).allows("/a")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=fill, args=(start,)) for start in range(0, 24, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    kept = sum(len(one.octets) + ENTRY_OCTETS for one in cache._entries)
    assert cache.octets == kept <= 10 * ENTRY


def test_check_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The crawler, the profile and the file decide, whatever was asked before."""
    monkeypatch.setattr(deciding, "RULES", CompiledRuleCache())
    robots = FILE.decode()

    def ask(token: str, **more: object) -> bool:
        fields = {"robots": robots, "url": "/b", "as": token, **more}
        return bool(answer("check", **fields)["allowed"])

    expected = [True, False, True, False]
    for _ in range(2):
        found = [
            ask("a"),
            ask("b"),
            ask("AdsBot-Google"),
            ask("AdsBot-Google", literal=True),
        ]
        assert found == expected
    assert len(deciding.RULES) == 4
