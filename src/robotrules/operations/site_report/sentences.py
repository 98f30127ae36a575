"""
The sentences of a report: what crawlers may fetch, in words for a reader who does not know rules.

Each is a pure function of facts, and claims only what is proved: `no` and `all` are about every
well-known crawler of a purpose, or about the main ones if the sentence says so. What was not
decided is said.

Sections: one host · many hosts · words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from robotrules.matrix.text import headline as matrix_headline
from robotrules.matrix.values import EVERYTHING, NOT_DECIDED, NOTHING, OTHERS, SOME
from robotrules.operations.site_report.facts import CrawlerAccess, HostFacts, PurposeFacts

__all__ = [
    "HEADLINE_PURPOSES",
    "host_sentence",
    "hosts_noun",
    "hosts_sentence",
    "number",
    "purpose_clause",
    "sentence",
]

# What the sentence for the boss is about.
HEADLINE_PURPOSES = ("ai-training", "search")
# Names that are listed in a clause, and crawlers of `--as` that have a clause of their own.
MOST_NAMES = 3
MOST_CLAUSES = 4
_NOUNS = {
    "search": ("search engine", "search engines"),
    "ai-search": ("AI search crawler", "AI search crawlers"),
    "user-triggered": ("user-triggered fetcher", "user-triggered fetchers"),
    "ai-training": ("AI-training crawler", "AI-training crawlers"),
    "research": ("research crawler", "research crawlers"),
    "archive": ("archive crawler", "archive crawlers"),
    "preview": ("link-preview crawler", "link-preview crawlers"),
    "feed": ("feed reader", "feed readers"),
    "shopping": ("shopping crawler", "shopping crawlers"),
    "seo": ("SEO crawler", "SEO crawlers"),
    "ads": ("advertising crawler", "advertising crawlers"),
    "monitoring": ("monitoring crawler", "monitoring crawlers"),
    "data": ("data crawler", "data crawlers"),
    "in-house": ("in-house crawler", "in-house crawlers"),
}
_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)


# --- One host -------------------------------------------------------------------------------------


def host_sentence(facts: HostFacts, purposes: Sequence[str] = (), *, selected: bool = False) -> str:
    """
    Return what crawlers may fetch on a host, in a sentence.

    *purposes* are those that it is about, by default AI training and search. With *selected*, it is
    about the crawlers of the matrix instead.
    """
    if not facts.is_known:
        return sentence(facts.source.problem or "the robots.txt could not be read")
    before = "" if facts.source.is_file else f"{facts.source.status}; "
    if facts.whole == EVERYTHING:
        return sentence(f"{before}every crawler may fetch everything")
    if facts.whole == NOTHING:
        return sentence("no crawler may fetch anything")
    if selected and facts.matrix is not None:
        return _selected_sentence(facts)
    found = [facts.purpose(purpose) for purpose in purposes or HEADLINE_PURPOSES]
    clauses = [purpose_clause(one, brief=True) for one in found if one is not None]
    return sentence("; ".join(clauses))


def purpose_clause(facts: PurposeFacts, *, brief: bool = False) -> str:
    """
    Return what the crawlers with one purpose may fetch, as a clause.

    *brief* leaves out less important crawlers that may not fetch all that the main ones may.
    """
    noun, nouns = _NOUNS[facts.purpose]
    known = facts.crawlers
    names = f"the only known {noun}, {known[0].name}," if len(known) == 1 else ""
    if facts.count(NOTHING) == len(known):
        return f"{names} may not fetch anything" if names else f"no known {noun} may fetch anything"
    if facts.count(EVERYTHING) == len(known):
        who = names or f"{_all(len(known))} known {nouns}"
        return f"{who} may fetch everything"
    return _scoped_clause(facts, noun, nouns, brief=brief)


def _scoped_clause(facts: PurposeFacts, noun: str, nouns: str, *, brief: bool) -> str:
    """Return a clause about the main crawlers, or about all if none is a main one."""
    some = facts.main or facts.crawlers
    scope, count = "main" if facts.main else "known", len(some)
    everything, nothing = (
        [one.name for one in some if one.summary == summary] for summary in (EVERYTHING, NOTHING)
    )
    readers = sum(one.home for one in some)
    others = [one for one in facts.crawlers if one not in some]
    one_name = f"the {'only ' if scope == 'known' else ''}{scope} {noun}, {some[0].name},"
    if len(nothing) == count:
        who = one_name if count == 1 else f"{_none(count)} {scope} {nouns}"
        verb = "may not fetch" if count == 1 else "may fetch"
        return f"{who} {verb} anything{_but_others(others, NOTHING)}"
    if len(everything) == count:
        who = one_name if count == 1 else f"{_all(count)} {scope} {nouns}"
        differing = "" if brief else _but_others(others, EVERYTHING)
        return f"{who} may fetch everything{differing}"
    if nothing:
        listed = f" ({_and(nothing)})" if len(nothing) <= MOST_NAMES else ""
        start = f"{number(len(nothing))} of the {number(count)} {scope} {nouns}{listed}"
        rest = (
            f"the other {number(readers)}"
            if len(nothing) + readers == count and readers > 1
            else (number(readers) if readers else "none")
        )
        return f"{start} may not fetch anything, and {rest} may read the home page"
    if readers == count:
        who = one_name if count == 1 else f"{_all(count)} {scope} {nouns}"
        return f"{who} may read the home page"
    if not readers:
        who = one_name if count == 1 else f"{_none(count)} {scope} {nouns}"
        return f"{who} may {'not ' if count == 1 else ''}read the home page"
    without = [one.name for one in some if not one.home]
    listed = f" (not {_and(without, 'or')})" if len(without) <= MOST_NAMES else ""
    return (
        f"{number(readers)} of the {number(count)} {scope} {nouns} may read the home page{listed}"
    )


def _but_others(others: Sequence[CrawlerAccess], summary: str) -> str:
    """Return how the crawlers that are not main ones differ; empty if they do not."""
    undecided = sum(one.summary == NOT_DECIDED for one in others)
    shares = {
        NOTHING: "may not fetch anything",
        SOME: "may fetch some URLs" if summary == NOTHING else "may fetch only some URLs",
        EVERYTHING: "may fetch everything",
    }
    parts = []
    for share, words in shares.items():
        count = 0 if share == summary else sum(one.summary == share for one in others)
        if count and len(others) == 1:
            parts.append(f"the other known one, {others[0].name}, {words}")
        elif count:
            who = f"{number(count)} of the {number(len(others))}"
            if count == len(others):
                who = _all(count)
            parts.append(f"{who} other known ones {words}")
    if undecided:
        parts.append(f"for {number(undecided)} other known {_ones(undecided)} it was not decided")
    return f", but {' and '.join(parts)}" if parts else ""


def _selected_sentence(facts: HostFacts) -> str:
    """Return a sentence about the crawlers of the matrix."""
    assert facts.matrix is not None
    shares = {
        NOTHING: "may not fetch anything",
        EVERYTHING: "may fetch everything",
        SOME: "may fetch some URLs",
    }
    by_summary: dict[str, list[str]] = {}
    for row in facts.matrix.rows:
        by_summary.setdefault(row.summary, []).append(row.name)
    if len(facts.matrix.rows) > MOST_CLAUSES:
        return matrix_headline(facts.matrix)
    clauses = [
        f"{_and(by_summary[summary])} {words}"
        for summary, words in shares.items()
        if summary in by_summary
    ]
    if undecided := by_summary.get(NOT_DECIDED):
        clauses.append(f"what {_and(undecided)} may fetch was not decided")
    said = f"{'; '.join(clauses)}."
    # Names keep their spelling, also at the start of a sentence.
    return sentence(said) if said.startswith(("what ", OTHERS)) else said


# --- Many hosts -----------------------------------------------------------------------------------


def hosts_sentence(
    hosts: Sequence[HostFacts], purposes: Sequence[str] = (), *, selected: bool = False
) -> str:
    """
    Return what crawlers may fetch on many hosts, in a sentence over hosts.

    Hosts whose robots.txt could not be read are counted apart. *purposes* and *selected*: as in
    `host_sentence`.
    """
    known = [host for host in hosts if host.is_known]
    unread = len(hosts) - len(known)
    if not known:
        count = _none(len(hosts)) if len(hosts) > 1 else "no"
        whose = "robots.txt files" if len(hosts) > 1 else "robots.txt"
        return sentence(f"{count} {whose} could be read")
    noun = hosts_noun(hosts)
    clauses = list(_selected_over_hosts(known, noun)) if selected else []
    for purpose in () if selected else purposes or HEADLINE_PURPOSES:
        clause = (
            _home_over_hosts(known, purpose, noun)
            if purpose == "search"
            else _blocked(known, purpose, noun)
        )
        clauses.append(clause)
    if unread:
        clauses.append(f"the robots.txt of {number(unread)} more could not be read")
    said = "; ".join(clauses)
    # Names keep their spelling, also at the start of a sentence.
    return f"{said}." if selected and not said.startswith(("what ", OTHERS)) else sentence(said)


def hosts_noun(hosts: Sequence[HostFacts]) -> str:
    """Return what some hosts are called: `file` if none of them names an origin, else `host`."""
    return "host" if any(host.source.origin for host in hosts) else "file"


def _blocked(hosts: Sequence[HostFacts], purpose: str, noun: str) -> str:
    """Return on how many hosts the crawlers with a purpose may fetch nothing."""
    nouns = f"known {_NOUNS[purpose][1]}"
    found = [facts.blocked for host in hosts if (facts := host.purpose(purpose)) is not None]
    total = len(hosts)
    for how, words in (("all", f"all {nouns}"), ("some", f"some {nouns}, but not all")):
        if found.count(how) == total:
            return f"{_every_host(total, noun)} {'blocks' if total == 1 else 'block'} {words}"
    if found.count("none") == total:
        return f"{_no_host(total, noun)} blocks any {_NOUNS[purpose][0]} that is known"
    parts: list[str] = []
    for how, some in (("all", f"all {nouns}"), ("some", "some of them"), ("none", "none of them")):
        if count := found.count(how):
            # The first part names what the others refer to.
            who = f"{number(count)} of {number(total)} {noun}s" if not parts else number(count)
            what = some if parts or how == "all" else f"{how} of the {nouns}"
            parts.append(f"{who} {'blocks' if count == 1 else 'block'} {what}")
    if undecided := found.count(NOT_DECIDED):
        parts.append(f"for {number(undecided)} it was not decided")
    return _and(parts)


def _home_over_hosts(hosts: Sequence[HostFacts], purpose: str, noun: str) -> str:
    """Return on how many hosts all main crawlers with a purpose may read the home page."""
    every, total = 0, len(hosts)
    who = ""
    for host in hosts:
        facts = host.purpose(purpose)
        if facts is None:
            continue
        some = facts.main or facts.crawlers
        who = f"{_all(len(some))} main {_NOUNS[purpose][1]}"
        every += all(one.home for one in some)
    if every == total:
        where = _every_host(total, noun)
        return f"{who} may read the home page {'under' if noun == 'file' else 'of'} {where}"
    if not every:
        whose = "the" if noun == "file" else "its"
        return f"{_no_host(total, noun)} lets {who} read {whose} home page"
    verb = "lets" if every == 1 else "let"
    return f"{number(every)} of {number(total)} {noun}s {verb} {who} read the home page"


def _selected_over_hosts(hosts: Sequence[HostFacts], noun: str) -> Iterator[str]:
    """Yield a clause for each crawler of the matrix; the first ones, if there are many."""
    preposition = "under" if noun == "file" else "on"
    matrices = [host.matrix for host in hosts if host.matrix is not None]
    for row, *others in islice(
        zip(*(matrix.rows for matrix in matrices), strict=True), MOST_CLAUSES
    ):
        found = [one.summary for one in (row, *others)]
        parts: list[str] = []
        for summary, share in (
            (NOTHING, "nothing"),
            (SOME, "some URLs"),
            (EVERYTHING, "everything"),
        ):
            if count := found.count(summary):
                of = f" of {number(len(found))} {noun}s" if not parts else ""
                where = _every_host(count, noun) if count == len(found) else f"{number(count)}{of}"
                parts.append(f"{share} {preposition} {where}")
        undecided = found.count(NOT_DECIDED)
        if not parts:
            where = f"{preposition} {_every_host(undecided, noun)}"
            yield f"what {row.name} may fetch was not decided {where}"
            continue
        clause = f"{row.name} may fetch {_and(parts)}"
        yield (
            f"{clause}, and it was not decided {preposition} {number(undecided)}"
            if undecided
            else clause
        )


def _every_host(total: int, noun: str) -> str:
    return {1: f"the {noun}", 2: f"both {noun}s"}.get(total, f"all {number(total)} {noun}s")


def _no_host(total: int, noun: str) -> str:
    return {1: f"no {noun}", 2: f"neither {noun}"}.get(
        total, f"none of the {number(total)} {noun}s"
    )


# --- Words ----------------------------------------------------------------------------------------


def sentence(clause: str) -> str:
    """Return a clause as a sentence."""
    clause = clause.strip().rstrip(".")
    return f"{clause[:1].upper()}{clause[1:]}."


def number(count: int) -> str:
    """Return a number in words up to twelve, in digits from then on."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def _ones(count: int) -> str:
    return "one" if count == 1 else "ones"


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {number(count)}"


def _none(count: int) -> str:
    return "neither of the two" if count == 2 else f"none of the {number(count)}"


def _and(names: Iterable[str], conjunction: str = "and") -> str:
    *first, last = names
    return f"{', '.join(first)} {conjunction} {last}" if first else last
