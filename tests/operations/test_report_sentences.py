"""
The sentences of a report: correct grammar, and no claim that the rules do not prove.

Every claim in a sentence is read back from its words, and checked against the rules by brute force:
crawlers of the registry, one by one, on many URLs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robotrules import RobotsTxt, parse
from robotrules.operations.site_report import SiteReport
from robotrules.operations.site_report.facts import (
    CrawlerAccess,
    HostFacts,
    PurposeFacts,
    SiteSource,
    host_facts,
)
from robotrules.operations.site_report.sentences import (
    host_sentence,
    hosts_sentence,
    number,
    purpose_clause,
)
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler

NUMBERS = {number(count): count for count in range(200)} | {"both": 2, "neither of the two": 2}
PATHS = ("/", "/a", "/a/b", "/c", "/c/d?e=f", "/zzz", "/a.html", "/index.html?x=1", "/%E2%82%AC")
TOKENS = (
    "*",
    "GPTBot",
    "ClaudeBot",
    "CCBot",
    "Googlebot",
    "bingbot",
    "Amazonbot",
    "Own",
    "AhrefsBot",
)
RULES = (
    "Disallow: /",
    "Allow: /",
    "Disallow:",
    "Disallow: /a",
    "Allow: /a",
    "Allow: /$",
    "Disallow: /*",
)


def facts_of(body: str, name: str = "a.example") -> HostFacts:
    """Return the facts about a file."""
    return host_facts(SiteSource(name, parse(body)))


def of_purpose(purpose: str) -> list[KnownCrawler]:
    """Return the active crawlers that count for a purpose, found anew."""
    return [
        known
        for known in KNOWN_CRAWLERS
        if known.status == "active"
        and (
            known.purposes[0] == purpose or (purpose == "ai-training" and purpose in known.purposes)
        )
    ]


def fetches(robots: RobotsTxt, known: KnownCrawler) -> list[bool]:
    """Return the verdicts on all paths."""
    return [robots.check(path, known.names).allowed for path in PATHS]


def may_everything(robots: RobotsTxt, known: KnownCrawler) -> bool:
    """Tell whether no path is blocked."""
    return all(fetches(robots, known))


def may_nothing(robots: RobotsTxt, known: KnownCrawler) -> bool:
    """Tell whether every path is blocked."""
    return not any(fetches(robots, known))


def home(robots: RobotsTxt, known: KnownCrawler) -> bool:
    """Tell whether the home page is allowed."""
    return bool(robots.check("/", known.names))


def count_in(words: str) -> int:
    """Return the number that words state."""
    return NUMBERS[words.removeprefix("all ").removeprefix("none of the ")]


def verify(clause: str, robots: RobotsTxt, purpose: str) -> None:
    """Check every claim of a clause by brute force."""
    known = of_purpose(purpose)
    main = [one for one in known if one.is_main]
    clause, _, but = clause.partition(", but ")
    scope = main if " main " in clause else known
    others = [one for one in known if one not in main]
    names = re.findall(r"(?:\(|, )([A-Z][\w.-]+)", clause)
    assert all(KNOWN_CRAWLERS.get(name) for name in names)
    if found := re.fullmatch(r"no known .* may fetch anything", clause):
        assert all(may_nothing(robots, one) for one in known)
    elif found := re.fullmatch(
        r"(all \w+|both) (?:known|main) .* may (fetch everything|read the home page)", clause
    ):
        assert len(scope) == count_in(found[1])
        test = may_everything if found[2] == "fetch everything" else home
        assert all(test(robots, one) for one in scope)
    elif found := re.fullmatch(
        r"(none of the \w+|neither of the two) (?:known|main) .* may "
        r"(fetch anything|read the home page)",
        clause,
    ):
        assert len(scope) == count_in(found[1])
        test = may_nothing if found[2] == "fetch anything" else lambda *who: not home(*who)
        assert all(test(robots, one) for one in scope)
    elif found := re.fullmatch(
        r"the (?:only known|main|only main) .*, (\S+), may (not )?(fetch anything|fetch everything|"
        r"read the home page)",
        clause,
    ):
        [one] = scope
        assert one.product_token == found[1]
        if found[3] == "read the home page":
            assert home(robots, one) == (not found[2])
        elif found[2]:
            assert may_nothing(robots, one)
        else:
            assert may_everything(robots, one)
    elif found := re.fullmatch(
        r"(\w+) of the (\w+) (?:known|main) [^(]*?(?: \((.*)\))? may not fetch anything, and "
        r"(?:the other )?(\w+) may read the home page",
        clause,
    ):
        assert len(scope) == count_in(found[2])
        blocked = [one.product_token for one in scope if may_nothing(robots, one)]
        assert len(blocked) == count_in(found[1])
        if found[3]:
            assert sorted(re.split(", | and ", found[3])) == sorted(blocked)
        readers = sum(home(robots, one) for one in scope)
        assert readers == (0 if found[4] == "none" else count_in(found[4]))
        assert ("the other" in clause) <= (readers + len(blocked) == len(scope))
    elif found := re.fullmatch(
        r"(\w+) of the (\w+) (?:known|main) [^(]*? may read the home page(?: \(not (.*)\))?", clause
    ):
        assert len(scope) == count_in(found[2])
        readers = sum(home(robots, one) for one in scope)
        assert readers == count_in(found[1])
        if found[3]:
            without = [one.product_token for one in scope if not home(robots, one)]
            assert sorted(re.split(", | or ", found[3])) == sorted(without)
    else:
        raise AssertionError(f"a form that is not checked: {clause!r}")
    if but:
        verify_others(but, robots, others)


def verify_others(but: str, robots: RobotsTxt, others: Sequence[KnownCrawler]) -> None:
    """Check what a clause says about crawlers that are not main ones."""
    for part in but.split(" and "):
        who, share = re.split(r" may ", part)
        matching = [
            one
            for one in others
            if {
                "not fetch anything": may_nothing(robots, one),
                "fetch everything": may_everything(robots, one),
            }.get(share, not may_nothing(robots, one) and not may_everything(robots, one))
        ]
        assert share in (
            *("not fetch anything", "fetch everything"),
            *("fetch some URLs", "fetch only some URLs"),
        )
        if found := re.fullmatch(r"the other known one, (\S+),", who):
            assert [one.product_token for one in others] == [found[1]]
            assert matching == others
        elif found := re.fullmatch(r"(\w+) of the (\w+) other known ones", who):
            assert (len(matching), len(others)) == (count_in(found[1]), count_in(found[2]))
        elif found := re.fullmatch(r"(all \w+|both) other known ones", who):
            assert len(matching) == len(others) == count_in(found[1])
        else:
            raise AssertionError(f"a form that is not checked: {but!r}")


@st.composite
def files(draw: st.DrawFn) -> str:
    """Groups of known crawlers with rules that block or allow much."""
    groups = []
    for _ in range(draw(st.integers(0, 4))):
        names = draw(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=5))
        if draw(st.integers(0, 3)) == 0:
            purpose = draw(st.sampled_from(sorted(CRAWLER_PURPOSES)))
            names = [one.product_token for one in of_purpose(purpose)] or names
        rules = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=3))
        groups.append("\n".join([*(f"User-agent: {name}" for name in names), *rules]))
    return "\n\n".join(groups) + "\n"


@given(files())
@settings(max_examples=60, deadline=None)
@example("User-agent: *\nDisallow: /\n")
@example("")
def test_every_claim_is_true(body: str) -> None:
    """Each clause of each purpose agrees with verdicts, crawler by crawler and URL by URL."""
    robots = parse(body)
    facts = facts_of(body)
    for purpose in facts.purposes:
        for brief in (False, True):
            verify(purpose_clause(purpose, brief=brief), robots, purpose.purpose)
    said = host_sentence(facts)
    if said == "Every crawler may fetch everything.":
        assert all(may_everything(robots, one) for one in KNOWN_CRAWLERS)
        assert all(robots.check(path, "Unknown").allowed for path in PATHS)
    elif said == "No crawler may fetch anything.":
        assert all(may_nothing(robots, one) for one in KNOWN_CRAWLERS)
    else:
        assert said[0].isupper()
        assert said.endswith(".")
        for clause, name in zip(said[:-1].split("; "), ("ai-training", "search"), strict=True):
            verify(clause[0].lower() + clause[1:], robots, name)


@given(st.lists(files(), min_size=2, max_size=5), st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_claims_over_hosts_are_true(bodies: list[str], unread: int) -> None:
    """Hosts are counted right, and those that could not be read are counted apart."""
    robots = [parse(body) for body in bodies]
    hosts = [facts_of(body, f"h{at}.example") for at, body in enumerate(bodies)]
    gone = [HostFacts(SiteSource(f"x{at}", problem="gone")) for at in range(unread)]
    said = hosts_sentence([*hosts, *gone])
    training = [
        sum(may_nothing(one, known) for known in of_purpose("ai-training")) for one in robots
    ]
    total = len(of_purpose("ai-training"))
    kinds = ["all" if n == total else "some" if n else "none" for n in training]
    clauses = said[:-1].split("; ")
    first = clauses[0].lower()
    count = len(bodies)
    if kinds.count("all") == count:
        assert first.startswith(
            "both files block all" if count == 2 else f"all {number(count)} files"
        )
    elif kinds.count("none") == count:
        assert "blocks any" in first
    elif kinds.count("some") == count:
        assert "some known" in first
    else:
        for kind, words in (("all", "all known"), ("some", "some of"), ("none", "none of them")):
            stated = re.search(rf"(\w+)(?: of \w+ files)? blocks? {words}", first)
            assert (count_in(stated[1]) if stated else 0) == kinds.count(kind), said
    mains = [one for one in of_purpose("search") if one.is_main]
    readers = sum(all(home(one, known) for known in mains) for one in robots)
    if readers == count:
        assert "may read the home page under" in clauses[1]
    elif not readers:
        assert clauses[1].startswith(("neither file lets", "none of the"))
    else:
        assert clauses[1].startswith(f"{number(readers)} of {number(count)} files let")
    if unread:
        assert clauses[-1] == f"the robots.txt of {number(unread)} more could not be read"
    else:
        assert len(clauses) == 2


class TestWords:
    """Grammar for one, two, some, all and none."""

    @pytest.mark.parametrize(
        ("summaries", "said"),
        [
            ("-nothing", "the only known crawler, O0, may not fetch anything"),
            ("everything", "the only known crawler, M0, may fetch everything"),
            ("some", "the main crawler, M0, may read the home page"),
            ("-some", "the only known crawler, O0, may read the home page"),
            ("nothing nothing", "no known crawler may fetch anything"),
            ("everything everything", "both known crawlers may fetch everything"),
            (
                "nothing nothing -some",
                "neither of the two main crawlers may fetch anything, but the other known one, "
                "O2, may fetch some URLs",
            ),
            (
                "everything everything -some",
                "both main crawlers may fetch everything, but the other known one, O2, may fetch "
                "only some URLs",
            ),
            (
                "nothing some",
                "one of the two main crawlers (M0) may not fetch anything, and one may read the "
                "home "
                "page",
            ),
            (
                "nothing some some",
                "one of the three main crawlers (M0) may not fetch anything, and the other two "
                "may read"
                " the home page",
            ),
            (
                "nothing blocked",
                "one of the two main crawlers (M0) may not fetch anything, and none may read the "
                "home "
                "page",
            ),
            ("blocked blocked", "neither of the two main crawlers may read the home page"),
            ("blocked", "the main crawler, M0, may not read the home page"),
            ("some blocked", "one of the two main crawlers may read the home page (not M1)"),
            (
                "nothing -undecided -undecided",
                "the main crawler, M0, may not fetch anything, but for two other known ones it "
                "was not "
                "decided",
            ),
            (
                "nothing -undecided -some",
                "the main crawler, M0, may not fetch anything, but one of the two other known "
                "ones may fetch some URLs "
                "and for one other known one it was not decided",
            ),
            (
                "nothing -some -some",
                "the main crawler, M0, may not fetch anything, but both other known ones may "
                "fetch some URLs",
            ),
            ("-some -some", "both known crawlers may read the home page"),
        ],
    )
    def test_clauses(self, summaries: str, said: str) -> None:
        """A minus stands before what is not a main crawler; `blocked` is the home page only."""
        crawlers = []
        for at, summary in enumerate(summaries.split()):
            is_main, plain = not summary.startswith("-"), summary.removeprefix("-")
            allowed = plain in ("everything", "some", "undecided")
            plain = {"blocked": "some", "undecided": "not decided"}.get(plain, plain)
            name = f"{'M' if is_main else 'O'}{at}"
            crawlers.append(CrawlerAccess(name, is_main, plain, allowed))
        clause = purpose_clause(PurposeFacts("seo", tuple(crawlers)))
        assert clause.replace("SEO ", "") == said

    def test_blocked(self) -> None:
        """All, some or none; not decided is neither."""

        def blocked(*summaries: str) -> str:
            """Return the word."""
            some = tuple(CrawlerAccess("x", True, one, False) for one in summaries)
            return PurposeFacts("ads", some).blocked

        assert blocked("nothing", "nothing") == "all"
        assert blocked("nothing", "some", "not decided") == "some"
        assert blocked("everything", "some") == "none"
        assert blocked("nothing", "not decided") == "not decided"
        assert blocked("some", "not decided") == "not decided"

    def test_hosts_and_files(self) -> None:
        """Sites are called hosts if an origin is known, and files otherwise."""
        named = [
            host_facts(SiteSource(f"https://{name}", parse(""), f"https://{name}"))
            for name in ("a.example", "b.example")
        ]
        said = hosts_sentence(named)
        assert said.startswith("Neither host blocks any AI-training crawler that is known; ")
        assert said.endswith(" may read the home page of both hosts.")
        assert "hosts" not in hosts_sentence([facts_of(""), facts_of("")])

    def test_no_host_is_known(self) -> None:
        """One or two that could not be read."""
        gone = HostFacts(SiteSource("x", problem="the robots.txt is unreachable (status 503)"))
        assert hosts_sentence([gone]) == "No robots.txt could be read."
        assert hosts_sentence([gone, gone]) == "Neither of the two robots.txt files could be read."
        assert host_sentence(gone) == "The robots.txt is unreachable (status 503)."
        assert SiteReport("t", (gone,)).sentence == "The robots.txt is unreachable (status 503)."

    def test_no_file(self) -> None:
        """Why everything is allowed is part of the sentence."""
        source = SiteSource(
            "x", parse(""), status="there is no robots.txt (status 404)", is_file=False
        )
        said = host_sentence(host_facts(source))
        assert said == "There is no robots.txt (status 404); every crawler may fetch everything."

    def test_crawlers_that_were_asked_for(self) -> None:
        """A clause for each share, with names."""
        body = (
            "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: Own\nDisallow: /a\n"
        )
        source = SiteSource("x", parse(body))
        facts = host_facts(source, crawlers=["GPTBot", "CCBot", "Own", "bingbot"])
        assert SiteReport("t", (facts,), crawlers=("GPTBot",)).sentence == (
            "GPTBot and CCBot may not fetch anything; bingbot may fetch everything; Own may "
            "fetch some "
            "URLs."
        )
        many = host_facts(source, crawlers=["GPTBot", "CCBot", "Own", "bingbot", "Googlebot"])
        assert host_sentence(many, selected=True).startswith("Of the 5 shown here, 2 may fetch")

    def test_not_decided_is_said(self) -> None:
        """Where the limit on states is reached, nothing is claimed."""
        body = "User-agent: *\nDisallow: /\nAllow: /*a*b*c$\n"
        facts = host_facts(
            SiteSource("x", parse(body)), crawlers=["GPTBot"], paths=["/"], max_states=1
        )
        assert facts.whole is None
        said = host_sentence(facts, selected=True)
        assert said == "What GPTBot may fetch was not decided."
        other = facts_of("")
        assert "for one it was not decided" in hosts_sentence([facts, other])

    def test_crawlers_over_hosts(self) -> None:
        """A clause for each, with the number of hosts; what was not decided is said."""
        bodies = ("User-agent: Own\nDisallow: /\n", "", "User-agent: *\nDisallow: /a\n", "")
        hosts = [host_facts(SiteSource("h", parse(body)), crawlers=["Own"]) for body in bodies]
        assert SiteReport("t", tuple(hosts), crawlers=("Own",)).sentence == (
            "Own may fetch nothing under one of four files, some URLs under one and everything "
            "under two."
        )
        assert hosts_sentence([hosts[1], hosts[3]], selected=True) == (
            "Own may fetch everything under both files."
        )
        open_body = "User-agent: *\nDisallow: /\nAllow: /*a*b*c$\n"
        source = SiteSource("h", parse(open_body))
        undecided = host_facts(source, crawlers=["Own"], paths=["/"], max_states=1)
        assert hosts_sentence([hosts[0], undecided], selected=True) == (
            "Own may fetch nothing under one of two files, and it was not decided under one."
        )
        assert hosts_sentence([undecided, undecided], selected=True) == (
            "What Own may fetch was not decided under both files."
        )
