"""
Subject: what checks look at, and what is worked out once for all of them.

A robots.txt is parsed before it gets here, and by nobody after: its notes, records by name, kinds
of crawlers and the answers of the exact analysis are made when the first check asks. How the file
was served is known where somebody fetched it. It does not know any check.
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
from robotrules.linting.rule_proofs import BUDGET, Exact, Kind
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

# Crawlers whose rules are looked at. Real files name some hundreds at most, and to find the groups
# of one takes as long as the file has groups.
MOST_CRAWLERS = 1_000


class Received(NamedTuple):
    """How a robots.txt was served, as far as that is known."""

    url: str | None = None
    """Where it was asked for, or where a local file will be."""
    status: int | None = None
    media_type: str | None = None
    """Without parameters, in lower case; empty: the response names none."""
    charset: str | None = None
    redirects: tuple[str, ...] = ()
    """Where each redirect led."""
    cache_control: str | None = None


class LintContext:
    """A parsed robots.txt, and all that checks may ask about it."""

    def __init__(
        self,
        robots: RobotsTxt,
        received: Received | None = None,
        registries: Registries = SHIPPED,
        budget: int = BUDGET,
    ) -> None:
        self.robots = robots
        self.received = received or Received()
        self.registries = registries
        self.budget = budget
        """How many states a question of the exact analysis may see."""
        self.ended: dict[str, str] = {}
        """Checks that found more than is listed and were ended: the slug by the code."""
        self._under: dict[Profile, RobotsTxt] = {robots.profile: robots}

    # --- What was noted -----------------------------------------------------------------------

    def noted(self, code: str) -> tuple[Note, ...]:
        """Return what the parser and the readers of records noted under a code, in order."""
        return self._notes.get(code, ())

    @cached_property
    def _notes(self) -> dict[str, tuple[Note, ...]]:
        found: dict[str, list[Note]] = {}
        for note in (*self.robots.notes, *extensions.notes(self.robots, self.registries)):
            found.setdefault(note.code, []).append(note)
        return {code: tuple(notes) for code, notes in found.items()}

    # --- What was written ---------------------------------------------------------------------

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
        """Return the span of a line with its line end, as a fix takes it out."""
        end = self._starts[number] if number < len(self._starts) else len(self.robots.body)
        return self._starts[number - 1], end

    def place(self, start: int, end: int) -> tuple[int, int, int]:
        """Return line, column and end column of a span; of one with several lines, in the first."""
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

    def names_anybody(self, group: int) -> bool:
        """Tell whether a user-agent line of a group has a value."""
        return group in self._naming

    @cached_property
    def _naming(self) -> set[int]:
        # A group may have as many empty lines as a file has, and a note is made for each.
        return {one.index for one in self.groups if any(start.value for start in one.starts)}

    def records(self, *keys: str) -> tuple[Record, ...]:
        """Return the records of some canonical names, in the order of the file."""
        found = [self._by_key.get(key, ()) for key in keys]
        if len(found) == 1:
            return tuple(found[0])
        return tuple(sorted((one for some in found for one in some), key=lambda r: r.key_start))

    @property
    def keys(self) -> Iterable[str]:
        """The canonical names of the records that the file has."""
        return self._by_key.keys()

    @cached_property
    def _by_key(self) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        for record in self.robots.records:
            found.setdefault(record.key, []).append(record)
        return found

    @cached_property
    def by_line(self) -> dict[int, Record]:
        """The record of each line that has one."""
        return {record.line: record for record in self.robots.records}

    @cached_property
    def document_groups(self) -> dict[int, int | None]:
        """The groups of records that have a structure of their own, by line (AMB-29)."""
        keys = [keys for keys in DOCUMENT_RULES.values() if any(key in self.keys for key in keys)]
        found = (document_groups(self.robots, names).items() for names in keys)
        return {line: group for some in found for line, group in some}

    # --- What it means ------------------------------------------------------------------------

    def under(self, profile: str | Profile) -> RobotsTxt:
        """Return the same octets as another profile reads them; parsed once."""
        profile = find_profile(profile)
        if profile not in self._under:
            self._under[profile] = reparse(self.robots, profile)
        return self._under[profile]

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Crawlers that obey the same groups, together; those that obey none are left out."""
        kinds: dict[tuple[int, ...], list[Crawler]] = {}
        for crawler in self._crawlers:
            chosen = choose_groups(self.robots, crawler.product_token, crawler.purposes).indices
            if chosen:
                kinds.setdefault(chosen, []).append(crawler)
        return tuple(self._kind(groups, found) for groups, found in kinds.items())

    def _kind(self, groups: tuple[int, ...], found: list[Crawler]) -> Kind:
        rules = self.robots.rules_for(found[0].product_token, found[0].purposes)
        written = tuple(rule for number in groups for rule in self.groups[number].rules)
        return Kind(tuple(found), groups, rules, written)

    @cached_property
    def _crawlers(self) -> tuple[Crawler, ...]:
        """The first crawlers that the file names, and everyone else."""
        named = islice(named_crawlers(self.robots), MOST_CRAWLERS)
        return (*dict.fromkeys(named), Crawler(EVERYONE_ELSE))

    @cached_property
    def exact(self) -> Exact:
        """The answers of the exact analysis; of groups that nobody was asked for, there is none."""
        unasked: list[Rule] = []
        if len(self._crawlers) > MOST_CRAWLERS:
            asked = {number for kind in self.kinds for number in kind.groups}
            others = (group for group in self.groups if group.index not in asked)
            unasked = [rule for group in others for rule in group.rules if rule.form]
        return Exact(self.kinds, self.budget, unasked)


class Page:
    """A page: what its fields and elements say, alone and together with the robots.txt."""

    def __init__(self, usage: UsageRules, guidance: Guidance | None = None) -> None:
        self.usage = usage
        self.guidance = guidance
        """The answer over all carriers; None where no robots.txt is known."""

    def noted(self, code: str) -> Iterator[TagNote]:
        """Yield what readers of tags noted under a code."""
        together = self.guidance.notes if self.guidance else ()
        for note in dict.fromkeys((*self.usage.notes, *together)):
            if note.code == code:
                yield note

    def text(self, note: TagNote) -> str:
        """Return what a note points at; empty where only the element is known."""
        source = note.source
        if source is None or source.carrier is Carrier.META or source.line is None:
            return ""
        lines = self.usage.fields.get(str(source.carrier))
        value = lines[source.line - 1] if 0 < source.line <= len(lines) else b""
        return to_text(value if note.start is None else value[note.start : note.end])
