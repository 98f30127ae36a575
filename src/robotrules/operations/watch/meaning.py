"""
The change of meaning between two robots.txt files, as a sentence, a level and details.

The files are compared by `analysis`, exactly and for every crawler that they can distinguish; the
well-known crawlers are looked at one by one, to say which of them may fetch nothing any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from robotrules.analysis.crawlers import crawlers as all_crawlers
from robotrules.analysis.crawlers import displayed_crawlers
from robotrules.analysis.values import ORIGIN
from robotrules.json_results.crawler_names import format_names, join_some
from robotrules.json_results.diff import compare_files
from robotrules.json_results.diff_sections import (
    EVERYONE_ELSE,
    DiffReport,
    DiffSection,
    RegionChange,
)
from robotrules.json_results.diff_sentences import (
    describe_record_change,
    describe_rule,
    describe_urls,
)
from robotrules.matrix import matrix
from robotrules.matrix.values import NOT_DECIDED, NOTHING
from robotrules.octets import visible
from robotrules.operations.watch.events import EventKind
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import RobotsTxt

# Limits of one comparison: a watch of many hosts compares files that others write.
MAX_STATES, MIN_STATES = 200_000, 1_000
MAX_REGIONS = 200
# A state, and a change in words, cost time for each rule with a wildcard that a crawler obeys: of
# more rules, fewer states are searched, and fewer changes described.
MAX_STATE_WORK, MAX_DETAIL_WORK = 4_000_000, 5_000
# How much of a change is in its sentence, and in its details.
MOST_STATEMENTS, MOST_DETAILS = 3, 50
MOST_NAMES, MOST_NAMES_LISTED = 4, 200
MOST_RECORDS = 20
# Names of one file that are looked at one by one.
MOST_NAMED = 300
LONGEST = 120


class Meaning(NamedTuple):
    """What changes for crawlers."""

    kind: EventKind
    level: str
    sentence: str
    """Empty if nothing changes."""
    example: str
    """A URL whose verdict changes, with the crawler: `/private/ for everyone else`; or empty."""
    details: dict[str, Any]


def describe_meaning(old: RobotsTxt, new: RobotsTxt, crawlers: Sequence[str] = ()) -> Meaning:
    """Return what changes from one file to the other; *crawlers* are listed by name as well."""
    wildcards = _count_wildcards(old, new)
    states = min(max(MAX_STATE_WORK // wildcards, MIN_STATES), MAX_STATES)
    most_details = min(max(MAX_DETAIL_WORK // wildcards, 1), MOST_DETAILS)
    _, parts = compare_files(
        old, new, (), literal=False, max_regions=MAX_REGIONS, max_states=states
    )
    blocked, allowed = _newly_blocked(old, new, crawlers, states)
    statements = list(islice(_statements(parts), most_details))
    details: dict[str, Any] = {
        "equal": parts.equal,
        "changes": [one.details for one in statements],
        "more_changes": _count(parts) - len(statements),
        "complete": parts.complete and all(part.complete for part in parts.changed),
        "newly_blocked": [_mark(name) for name in blocked[:MOST_NAMES_LISTED]],
        "newly_allowed": [_mark(name) for name in allowed[:MOST_NAMES_LISTED]],
        "records": [_record(parts, index) for index in range(min(len(parts.statements), 20))],
    }
    if parts.changed:
        kind, level = EventKind.RULES_CHANGED, "warning"
        if blocked:
            kind = EventKind.CRAWLERS_BLOCKED
            level = "error" if _is_serious(blocked) else "warning"
        elif allowed:
            kind = EventKind.CRAWLERS_ALLOWED
        first = statements[0].details
        example = f"{first['example']} for {first['crawlers'][0]}"
        sentence = _sentence(parts, statements, blocked, allowed)
        return Meaning(kind, level, sentence, example, details)
    records = [one for one in details["records"] if one["decided"]]
    if records:
        words = "; ".join(one["sentence"] for one in records[:MOST_STATEMENTS])
        more = len(records) - MOST_STATEMENTS
        words += f"; and {more} more" if more > 0 else ""
        sentence = f"Other records changed, and no verdict: {words}."
        return Meaning(EventKind.RECORDS_CHANGED, "warning", sentence, "", details)
    if parts.equal is None:
        sentence = (
            "The robots.txt changed; no difference for crawlers was found, but not everything "
            "could be compared."
        )
        return Meaning(EventKind.NOT_COMPARED, "warning", sentence, "", details)
    return Meaning(EventKind.TEXT_CHANGED, "info", "", "", details)


def _count_wildcards(*files: RobotsTxt) -> int:
    """Return the most rules with a wildcard that a name has in a file; at least 1."""
    most = 1
    for robots in files:
        rules: Counter[bytes] = Counter()
        for group in robots.groups:
            count = sum("*" in rule.pattern.rstrip("*") for rule in group.rules)
            for token in {start.value.lower() for start in group.starts}:
                rules[token] += count  # groups of the same name are one
        most = max(most, *rules.values(), 0)
    return most


def describe_text_change(old: RobotsTxt, new: RobotsTxt) -> str:
    """Return the sentence about a change that does not change the meaning."""
    sizes = f"{len(old.body):,} to {len(new.body):,} bytes"
    return (
        f"The text of the robots.txt changed ({sizes}), and it means the same: proved for every "
        "crawler and every URL."
    )


# --- Sentences ------------------------------------------------------------------------------------


class _Statement(NamedTuple):
    words: str
    details: dict[str, Any]


def _mark(text: str) -> str:
    shown = visible(text[: LONGEST + 1])
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def _statements(parts: DiffReport) -> Iterator[_Statement]:
    """Yield what changes, for crawlers with the same change at a time."""
    for part in parts.changed[:MOST_DETAILS]:
        whom = format_names(part.crawlers, _mark, MOST_NAMES, parts.alone)
        for change in part.region_changes(MOST_DETAILS):
            kept = tuple(one for one in change.but if _is_opposite(one, part, change))
            # Only a rule with the other verdict can make an exception.
            opposite = any(rule.allow != change.new.allowed for rule in part.rules[1].rules)
            change = change._replace(but=kept, more_but=change.more_but and opposite)
            yield _Statement(_words(whom, change), _details(part, change))


def _is_opposite(pattern: str, part: DiffSection, change: RegionChange) -> bool:
    """
    Return whether what does not change has the other verdict: `/news/*` stays allowed.

    The rest of what does not change had the new verdict before, which is not worth a word.
    """
    path = pattern.removesuffix("$").replace("*", "")
    url = f"{ORIGIN}{path}"
    verdicts = {rules.check(url).allowed for rules in part.rules}
    return verdicts != {change.new.allowed}


def _words(whom: str, change: RegionChange) -> str:
    """Return `GPTBot may no longer fetch /news* (line 4: Disallow: /news)`."""
    verb, end = ("may fetch", "") if change.new.allowed else ("may no longer fetch", "")
    if whom == "every crawler" and not change.new.allowed:
        whom, verb, end = "no crawler", "may fetch", " any more"
    urls = describe_urls(change._replace(but=()), _mark)
    if not change.patterns:
        urls = "every URL" if change.new.allowed else "any URL"
    urls += end
    if change.but:
        names = tuple(map(_mark, change.but))
        # A list that is not complete must not look so: who relies on it would be wrong.
        more = f"{', '.join(names)} and others" if change.more_but else join_some(names, 3)
        urls += f", except {more}"
    elif change.more_but:
        urls += ", perhaps with exceptions"
    if change.new.rule or not change.old.rule:
        return f"{whom} {verb} {urls} ({describe_rule(change.new, _mark)})"
    return f"{whom} {verb} {urls} (before, {describe_rule(change.old, _mark)})"


def _details(part: DiffSection, change: RegionChange) -> dict[str, Any]:
    return {
        "crawlers": [_mark(one.name) for one in part.crawlers[:MOST_NAMES_LISTED]],
        "becomes": "allowed" if change.new.allowed else "disallowed",
        "patterns": [_mark(one) for one in change.patterns],
        "except": [_mark(one) for one in change.but],
        "except_complete": not change.more_but,
        "example": _mark(change.witness),
        "before": describe_rule(change.old, _mark),
        "now": describe_rule(change.new, _mark),
    }


def _count(parts: DiffReport) -> int:
    """Return the number of changes; there may be more if a section is not complete."""
    return sum(len(part.gathered) for part in parts.changed)


def _sentence(
    parts: DiffReport, statements: list[_Statement], blocked: list[str], allowed: list[str]
) -> str:
    words = [one.words for one in statements[:MOST_STATEMENTS]]
    rest = _count(parts) - len(words)
    if rest > 0:
        least = "" if all(part.complete for part in parts.changed) else "at least "
        words.append(f"and {least}{rest:,} more {'change' if rest == 1 else 'changes'}")
    text = "; ".join(words)
    text = f"{text[:1].upper()}{text[1:]}."
    stated = {one.product_token for part in parts.changed for one in part.crawlers}
    for names, what in ((blocked, "anything any more"), (allowed, "something again")):
        if not stated.issuperset(names):
            names = [name for name in names if name != EVERYONE_ELSE.product_token]
            verb = "may not fetch" if what.startswith("any") else "may fetch"
            noun = "crawlers" if len(names) > 1 else "crawler"
            shown = join_some([_mark(name) for name in names], 6)
            text += f" {len(names):,} {noun} {verb} {what}: {shown}."
    if parts.records:
        text += f" {join_some(parts.records, 4)} changed too."
    return text


def _record(parts: DiffReport, index: int) -> dict[str, Any]:
    found = parts.statements[index]
    whom = format_names(found.crawlers, _mark, MOST_NAMES, parts.alone)
    texts = {
        name: [f"line {one.line}: {_mark(one.text)}" for one in lines[:MOST_RECORDS]]
        for name, lines in (("removed", found.removed), ("added", found.added))
    }
    signs = [f"{name} {'; '.join(lines[:2])}" for name, lines in texts.items() if lines]
    words = describe_record_change(found, whom, _mark)
    return {
        "record": found.record,
        "decided": found.is_decided,
        **texts,
        "sentence": f"{words} ({', '.join(signs)})" if signs else words,
    }


# --- Well-known crawlers --------------------------------------------------------------------------


def _newly_blocked(
    old: RobotsTxt, new: RobotsTxt, crawlers: Sequence[str], states: int
) -> tuple[list[str], list[str]]:
    """Return the crawlers that may not fetch anything any more, and those that may again."""
    names = list(dict.fromkeys([EVERYONE_ELSE.product_token, *_listed(old, new), *crawlers]))
    before, now = (_blocked(robots, names, states) for robots in (old, new))
    decided = [name for name in now if name in before]
    blocked = [name for name in decided if now[name] and not before[name]]
    allowed = [name for name in decided if before[name] and not now[name]]
    return _important_first(blocked), _important_first(allowed)


def _listed(*files: RobotsTxt) -> Iterator[str]:
    """Yield the active well-known crawlers, and those that a file names."""
    for known in KNOWN_CRAWLERS:
        if known.status == "active":
            yield known.product_token
    named = displayed_crawlers(all_crawlers(*files))[:MOST_NAMED]
    for crawler in named:
        if crawler.product_token != EVERYONE_ELSE.product_token and not crawler.purposes:
            known_name = KNOWN_CRAWLERS.get(crawler.product_token)
            yield known_name.product_token if known_name else crawler.product_token


def _blocked(robots: RobotsTxt, names: Sequence[str], states: int) -> dict[str, bool]:
    """Return for each crawler whether it may fetch nothing; what is not decided is left out."""
    rows = matrix(robots, crawlers=names, paths=["/"], max_states=states).rows
    return {row.product_token: row.summary == NOTHING for row in rows if row.summary != NOT_DECIDED}


def _important_first(names: list[str]) -> list[str]:
    def order(name: str) -> tuple[bool, bool, str]:
        """Return the sort key: main crawlers first, of these search engines."""
        known = KNOWN_CRAWLERS.get(name)
        is_search = known is not None and known.purposes[0] == "search"
        return not (known and known.is_main), not is_search, name.lower()

    return sorted(names, key=order)


def _is_serious(blocked: Sequence[str]) -> bool:
    """Return whether everyone else or a main search engine is among the blocked."""
    if EVERYONE_ELSE.product_token in blocked:
        return True
    found = (KNOWN_CRAWLERS.get(name) for name in blocked)
    return any(known and known.is_main and "search" in known.purposes for known in found)
