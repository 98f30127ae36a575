"""
The sections of a diff of two robots.txt files, as data for text, Markdown and JSON.

Crawlers with the same change share a section. The section of everyone else comes first, then
sections about every URL. A path pattern is shown as what it matches: `/private` as `/private*`.
Nothing is compared or escaped here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from robotrules.analysis import (
    Crawler,
    CrawlerChange,
    FileDifference,
    RecordDifference,
    Region,
    exceptions,
    includes,
)
from robotrules.analysis.compare import MAX_REGIONS
from robotrules.json_results.impact import Impact
from robotrules.registries.crawlers import KnownCrawler
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Rule
from robotrules.robotstxt.verdict import Verdict

EVERYONE_ELSE = Crawler("*")
# The number of exceptions shown in a region, and the state limit of the search for them: they help
# readers, and no result depends on them.
MOST_EXCEPTIONS = 3
EXCEPTION_MAX_STATES = 10_000
# Sections for which URLs of a file are counted; the time grows with their number.
MOST_IMPACT_SECTIONS = 50


class Decided(NamedTuple):
    """The rule or reason that decides, before or now."""

    allowed: bool
    rule: str
    """As written; empty if no rule decides."""
    lines: tuple[int, ...]
    words: str
    """The reason, if no rule decides."""
    others: int = 0
    """The number of other rules that decide some of these URLs with the same verdict."""


class RegionChange(NamedTuple):
    """URLs whose verdict changes."""

    patterns: tuple[str, ...]
    """As `shown_pattern()` returns them; empty means every URL."""
    but: tuple[str, ...]
    """Patterns of URLs among them that do not change; none includes another."""
    more_but: bool
    """Whether there may be more exceptions."""
    witness: str
    old: Decided
    new: Decided


class DiffSection(NamedTuple):
    """Crawlers with the same change."""

    changes: tuple[CrawlerChange, ...]
    """Their changes: one for each set of groups, all alike."""

    @property
    def crawlers(self) -> tuple[Crawler, ...]:
        """The crawlers."""
        return tuple(crawler for change in self.changes for crawler in change.crawlers)

    @property
    def regions(self) -> int:
        """The number of regions that change; 0 means undecided."""
        return len(self.changes[0].difference.regions)

    @property
    def complete(self) -> bool:
        """Whether these are all regions."""
        return self.changes[0].difference.complete

    @property
    def rules(self) -> tuple[RuleSet, RuleSet]:
        """The rules they obey before and now."""
        return self.changes[0].old_rules, self.changes[0].new_rules

    @property
    def gathered(self) -> list[tuple[Rule, list[int]]]:
        """
        The numbers of the regions, grouped by the rule that causes them, with that rule.

        A crawler that gets its own group no longer obeys the rules of the group for '*'. Whether an
        allow rule or no rule decides now makes no difference to a reader.
        """
        regions = self.changes[0].difference.regions
        forms = [set(map(_key, rules.rules)) for rules in self.rules]
        causes = [_causes(region, *forms) for region in regions]
        # A rule represents all its regions if in one of them no rule of the other side decides.
        # Otherwise a part of its pattern may have the same verdict as before.
        representative = {
            maker
            for region, of_region in zip(regions, causes, strict=True)
            for maker in of_region
            if not (region.old.rule and region.new.rule)
        }
        together: dict[object, tuple[Rule, list[int]]] = {}
        for number, of_region in enumerate(causes):
            maker = next((one for one in of_region if one in representative), None)
            key = number if maker is None else (maker, regions[number].old.allowed)
            together.setdefault(key, ((maker or of_region[0])[1], []))[1].append(number)
        return list(together.values())

    def region_changes(self, most: int, first: int = 0) -> Iterator[RegionChange]:
        """Yield at most *most* changes, starting at *first*."""
        for rule, numbers in self.gathered[first : first + most]:
            yield _region_change(self.changes, rule, numbers)


class DiffReport(NamedTuple):
    """The comparison of two files."""

    changed: tuple[DiffSection, ...]
    unchanged: tuple[Crawler, ...]
    """Crawlers for which it is proved that nothing changes."""
    undecided: tuple[DiffSection, ...]
    """Crawlers for which no difference was found and none was disproved."""
    statements: tuple[RecordDifference, ...]
    """Other records that are not equivalent, or for which that is undecided."""
    complete: bool
    """Whether all crawlers were compared."""
    proved: bool | None
    """Whether the files are equivalent; None if undecided."""
    max_states: int
    alone: bool
    """Whether the files name no crawler, so that '*' covers all."""
    identical: bool = False
    """Whether the files are byte for byte the same."""
    elsewhere: tuple[tuple[str, bool | None], ...] = ()
    """For each other profile: whether the files are equivalent under it."""
    impact: Impact | None = None
    """The impact on the URLs of a file, in the order of `impact_sections`."""

    @property
    def known(self) -> list[KnownCrawler]:
        """The well-known crawlers that select groups not only by their own name."""
        all_crawlers = (*self.crawlers, *self.unchanged, *self.unknown)
        found = (crawler.known for crawler in all_crawlers if crawler.known)
        return [known for known in dict.fromkeys(found) if known.departures]

    @property
    def crawlers(self) -> list[Crawler]:
        """All crawlers for which something changes."""
        return [crawler for part in self.changed for crawler in part.crawlers]

    @property
    def unknown(self) -> list[Crawler]:
        """All crawlers for which the result is undecided."""
        return [crawler for part in self.undecided for crawler in part.crawlers]

    @property
    def impact_sections(self) -> tuple[DiffSection, ...]:
        """The sections for which URLs of a file are counted; their number is bounded."""
        return (*self.changed, *self.undecided)[:MOST_IMPACT_SECTIONS]

    @property
    def records(self) -> list[str]:
        """The names of other records that certainly change."""
        decided = (one.record for one in self.statements if one.is_decided)
        return list(dict.fromkeys(decided))

    @property
    def equal(self) -> bool | None:
        """True if proved equivalent; None if undecided and no URL of a file changes."""
        return False if self.impact and self.impact.changed else self.proved


def build_report(found: FileDifference, max_states: int, *, asked: bool = False) -> DiffReport:
    """Return the sections of a comparison; *asked*: only of some crawlers."""
    alike: dict[object, list[CrawlerChange]] = {}
    unchanged: list[Crawler] = []
    for change in found.changes:
        if change.difference.equal:
            unchanged.extend(change.crawlers)
        else:
            alike.setdefault(_likeness(change), []).append(change)
    parts = [DiffSection(tuple(changes)) for changes in alike.values()]
    undecided = [part for part in parts if not part.regions]
    # The sort is stable: sections of equal urgency stay in the order of the files.
    changed = sorted((part for part in parts if part.regions), key=_urgency)
    all_crawlers = [crawler for change in found.changes for crawler in change.crawlers]
    return DiffReport(
        tuple(changed),
        tuple(unchanged),
        tuple(undecided),
        tuple(sorted(found.statements, key=_order)),
        found.complete,
        found.equal,
        max_states,
        all_crawlers == [EVERYONE_ELSE] and not asked,
    )


def _likeness(change: CrawlerChange) -> object:
    """Return a key that is equal for changes that differ only in line numbers."""
    whys = change.old.matched_by, change.new.matched_by
    names = change.old.by, change.new.by
    return whys, names, groups_change(change), *map(_written, (change.old_rules, change.new_rules))


def _written(rules: RuleSet) -> tuple[tuple[bool, str], ...]:
    return tuple((rule.allow, rule.pattern) for rule in rules.rules)


def _urgency(part: DiffSection) -> tuple[bool, bool]:
    regions = part.changes[0].difference.regions
    return (
        EVERYONE_ELSE not in part.crawlers,
        not any(_is_everything(region) for region in regions),
    )


def _order(statements: RecordDifference) -> tuple[bool, bool]:
    return bool(statements.crawlers), EVERYONE_ELSE not in statements.crawlers


def groups_change(change: CrawlerChange) -> bool:
    """Tell whether the obeyed groups change in a way worth showing."""
    old, new = change.old, change.new
    if (old.matched_by, old.by) != (new.matched_by, new.by):
        return True
    return len(old.lines) != len(new.lines)


# --- Regions --------------------------------------------------------------------------------------


def shown_pattern(pattern: str) -> str:
    """Return a path pattern with its end made explicit; empty if it matches every URL."""
    if pattern.endswith("$"):
        return pattern
    start = pattern.rstrip("*")
    return f"{start}*" if start not in ("", "/") else ""


def _is_everything(region: Region) -> bool:
    return not any(map(shown_pattern, region.patterns))


def _causes(
    region: Region, old: Set[tuple[bool, str]], new: Set[tuple[bool, str]]
) -> list[tuple[bool, Rule]]:
    """Return the deciding rules of a region that only one side has."""
    sides = ((False, region.old.rule, new), (True, region.new.rule, old))
    found = [(side, rule) for side, rule, there in sides if rule and _key(rule) not in there]
    return found or [(side, rule) for side, rule, _ in sides if rule]


def _key(rule: Rule) -> tuple[bool, str]:
    return rule.allow, rule.form


def _region_change(
    changes: Sequence[CrawlerChange], rule: Rule, numbers: Sequence[int]
) -> RegionChange:
    first = changes[0]
    found = [first.difference.regions[number] for number in numbers]
    region = found[0] if len(found) == 1 else found[0]._replace(patterns=(rule.form,))
    but, complete = _exceptions(first, region)
    same = [change.difference.regions[numbers[0]] for change in changes]
    return RegionChange(
        tuple(filter(None, map(shown_pattern, region.patterns))),
        tuple(map(shown_pattern, but[:MOST_EXCEPTIONS])),
        len(but) > MOST_EXCEPTIONS or not complete,
        str(region.witness),
        _decided([region.old for region in same], [one.old for one in found]),
        _decided([region.new for region in same], [one.new for one in found]),
    )


def _exceptions(change: CrawlerChange, region: Region) -> tuple[list[str], bool]:
    """Return the widest unchanged patterns in a region, and whether they are all."""
    rules, most = (change.old_rules, change.new_rules), 2 * MOST_EXCEPTIONS
    found = exceptions(*rules, region, limit=most, max_states=EXCEPTION_MAX_STATES)
    patterns = [one.pattern for one in found]
    widest = [
        pattern
        for pattern in patterns
        if not any(_is_within(pattern, other, change) for other in patterns if other != pattern)
    ]
    return widest, len(patterns) < most


def _is_within(pattern: str, other: str, change: CrawlerChange) -> bool:
    """Tell whether it is proved that *other* matches all that *pattern* matches."""
    return (
        includes(other, pattern, change.old_rules.profile, max_states=EXCEPTION_MAX_STATES) is True
    )


def _decided(verdicts: Sequence[Verdict], all_of_them: Sequence[Verdict]) -> Decided:
    others = {verdict.rule for verdict in all_of_them} - {None, verdicts[0].rule}
    rules = [verdict.rule for verdict in verdicts]
    lines = dict.fromkeys(rule.line for rule in rules if rule)
    first = verdicts[0]
    return Decided(
        first.allowed,
        str(rules[0] or ""),
        tuple(lines),
        "" if rules[0] else first.reason.sentence,
        len(others),
    )


__all__ = [
    "EVERYONE_ELSE",
    "EXCEPTION_MAX_STATES",
    "MAX_REGIONS",
    "MOST_EXCEPTIONS",
    "Decided",
    "DiffReport",
    "DiffSection",
    "RegionChange",
    "build_report",
    "groups_change",
    "shown_pattern",
]
