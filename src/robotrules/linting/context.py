"""
Lint context: the file or page that checks examine, and the results that they share.

A robots.txt is parsed once, before it gets here. Its notes, records by name, classes of crawlers
and the results of the exact analysis are computed when a check first needs them. How the file was
served is known only if the caller fetched it. This module does not know the checks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from robotrules import extensions
from robotrules.analysis.crawlers import EVERYONE_ELSE, Crawler, named_crawlers
from robotrules.extensions.scoped import document_groups
from robotrules.linting.rule_proofs import MAX_STATES, CrawlerClass, RuleProofs
from robotrules.octets import to_text
from robotrules.profile import DOCUMENT_RULES, Profile, find_profile
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import reparse
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.values import Group, Line, Note, Record, Rule
from robotrules.tags.codes import Carrier, TagNote

if TYPE_CHECKING:
    from robotrules.guide import Guidance
    from robotrules.tags.rules import UsageRules

# Crawlers whose rules are examined. Real files name some hundreds at most, and finding the groups
# of a crawler costs time in proportion to the groups of the file.
MOST_CRAWLERS = 1_000


class ServedResponse(NamedTuple):
    """How a robots.txt was served, as far as that is known."""

    url: str | None = None
    """The URL that was requested, or that a local file will have."""
    status: int | None = None
    media_type: str | None = None
    """Without parameters, in lower case; empty: the response has no Content-Type."""
    charset: str | None = None
    redirects: tuple[str, ...] = ()
    """The target of each redirect."""
    cache_control: str | None = None


class LintContext:
    """A parsed robots.txt, and everything that checks may look up about it."""

    def __init__(
        self,
        robots: RobotsTxt,
        received: ServedResponse | None = None,
        registries: Registries = SHIPPED,
        max_states: int = MAX_STATES,
    ) -> None:
        self.robots = robots
        self.received = received or ServedResponse()
        self.registries = registries
        self.max_states = max_states
        """States that a query of the exact analysis may visit."""
        self.ended: dict[str, str] = {}
        """Checks that were stopped after `MOST_NOTES` notes: slug by code."""
        self._by_profile: dict[Profile, RobotsTxt] = {robots.profile: robots}

    # --- Notes of the parser ------------------------------------------------------------------

    def parser_notes(self, code: str) -> tuple[Note, ...]:
        """Return the notes of the parser and of record readers with a code, in order."""
        return self._notes.get(code, ())

    @cached_property
    def _notes(self) -> dict[str, tuple[Note, ...]]:
        by_code: dict[str, list[Note]] = {}
        for note in (*self.robots.notes, *extensions.notes(self.robots, self.registries)):
            by_code.setdefault(note.code, []).append(note)
        return {code: tuple(notes) for code, notes in by_code.items()}

    # --- Lines, records and groups ------------------------------------------------------------

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Every line of the file."""
        return self.robots.lines

    @cached_property
    def _starts(self) -> list[int]:
        return [line.start for line in self.lines]

    def line(self, number: int) -> Line:
        """Return a line by its number, from 1."""
        return self.lines[number - 1]

    def whole_line(self, number: int) -> tuple[int, int]:
        """Return the span of a line with its line end, as a fix removes it."""
        end = self._starts[number] if number < len(self._starts) else len(self.robots.body)
        return self._starts[number - 1], end

    def place(self, start: int, end: int) -> tuple[int, int, int]:
        """Return line, column and end column of a span, cut at the end of its first line."""
        if not self.lines:
            return 1, 1, 1
        line = self.lines[max(bisect_right(self._starts, start) - 1, 0)]
        first = max(start, line.start)
        last = max(min(end, line.end), first)
        return line.number, first - line.start + 1, last - line.start + 1

    @property
    def groups(self) -> tuple[Group, ...]:
        """Every group of the file."""
        return self.robots.groups

    def names_a_crawler(self, group: int) -> bool:
        """Return whether a user-agent line of a group has a value."""
        return group in self._naming

    @cached_property
    def _naming(self) -> set[int]:
        # A group may have thousands of empty user-agent lines, each with a note.
        return {group.index for group in self.groups if any(s.value for s in group.starts)}

    def records(self, *keys: str) -> tuple[Record, ...]:
        """Return the records with these canonical names, in file order."""
        lists = [self._by_key.get(key, ()) for key in keys]
        if len(lists) == 1:
            return tuple(lists[0])
        return tuple(sorted((record for some in lists for record in some), key=_key_start))

    @property
    def keys(self) -> Iterable[str]:
        """The canonical names of the file's records."""
        return self._by_key.keys()

    @cached_property
    def _by_key(self) -> dict[str, list[Record]]:
        by_key: dict[str, list[Record]] = {}
        for record in self.robots.records:
            by_key.setdefault(record.key, []).append(record)
        return by_key

    @cached_property
    def by_line(self) -> dict[int, Record]:
        """The record of each line that has one."""
        return {record.line: record for record in self.robots.records}

    @cached_property
    def document_groups(self) -> dict[int, int | None]:
        """The group of each record whose draft defines its own grouping, by line (AMB-29)."""
        keys = [keys for keys in DOCUMENT_RULES.values() if any(key in self.keys for key in keys)]
        grouped = (document_groups(self.robots, names).items() for names in keys)
        return {line: group for some in grouped for line, group in some}

    # --- Other readings, crawlers and proofs --------------------------------------------------

    def parse_as(self, profile: str | Profile) -> RobotsTxt:
        """Return the same octets as another profile reads them; parsed once per profile."""
        profile = find_profile(profile)
        if profile not in self._by_profile:
            self._by_profile[profile] = reparse(self.robots, profile)
        return self._by_profile[profile]

    @cached_property
    def crawler_classes(self) -> tuple[CrawlerClass, ...]:
        """The crawlers of the file by the groups they obey; without those that obey none."""
        by_groups: dict[tuple[int, ...], list[Crawler]] = {}
        for crawler in self._crawlers:
            groups = choose_groups(self.robots, crawler.product_token, crawler.purposes).indices
            if groups:
                by_groups.setdefault(groups, []).append(crawler)
        return tuple(self._make_class(groups, some) for groups, some in by_groups.items())

    def _make_class(self, groups: tuple[int, ...], crawlers: list[Crawler]) -> CrawlerClass:
        rules = self.robots.rules_for(crawlers[0].product_token, crawlers[0].purposes)
        written = tuple(rule for number in groups for rule in self.groups[number].rules)
        return CrawlerClass(tuple(crawlers), groups, rules, written)

    @cached_property
    def _crawlers(self) -> tuple[Crawler, ...]:
        """The first crawlers that the file names, and one for all others."""
        named = islice(named_crawlers(self.robots), MOST_CRAWLERS)
        return (*dict.fromkeys(named), Crawler(EVERYONE_ELSE))

    @cached_property
    def proofs(self) -> RuleProofs:
        """The results of the exact analysis; groups of other crawlers count as undecided."""
        unexamined: list[Rule] = []
        if len(self._crawlers) > MOST_CRAWLERS:
            examined = {number for one in self.crawler_classes for number in one.groups}
            others = (group for group in self.groups if group.index not in examined)
            unexamined = [rule for group in others for rule in group.rules if rule.form]
        return RuleProofs(self.crawler_classes, self.max_states, unexamined)


def _key_start(record: Record) -> int:
    return record.key_start


class PageContext:
    """A page: the rules of its header fields and elements, alone and with the robots.txt."""

    def __init__(self, usage: UsageRules, guidance: Guidance | None = None) -> None:
        self.usage = usage
        self.guidance = guidance
        """The guidance of all carriers together; None if no robots.txt is known."""

    def tag_notes(self, code: str) -> Iterator[TagNote]:
        """Yield the notes of the tag readers with a code."""
        combined = self.guidance.notes if self.guidance else ()
        for note in dict.fromkeys((*self.usage.notes, *combined)):
            if note.code == code:
                yield note

    def text(self, note: TagNote) -> str:
        """Return the text that a note points at; empty where only the element is known."""
        source = note.source
        if source is None or source.carrier is Carrier.META or source.line is None:
            return ""
        lines = self.usage.fields.get(str(source.carrier))
        value = lines[source.line - 1] if 0 < source.line <= len(lines) else b""
        return to_text(value if note.start is None else value[note.start : note.end])
