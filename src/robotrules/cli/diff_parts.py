"""
The parts of what changes from one robots.txt to another, as people want to know them.

Crawlers to whom the same happens are one part. What is for everyone else comes first, then what is
about every URL. A path pattern is shown as what it matches: `/private` as `/private*`. It compares
nothing itself, has no sentences, and makes no character harmless.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from robotrules import Rule, RuleSet, Verdict
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
from robotrules.cli.impact import Reach
from robotrules.registries.crawlers import KnownCrawler

EVERYONE_ELSE = Crawler("*")
# Parts of a region in which nothing changes that are named, and the states that finding them may
# take: they help a reader, and nothing depends on them.
MOST_EXCEPTIONS = 3
EXCEPTION_BUDGET = 10_000
# Each costs as much time as the first.
MOST_REACHABLE = 50


class Decided(NamedTuple):
    """What decides before or now."""

    allowed: bool
    rule: str
    """As written; empty: no rule decides."""
    lines: tuple[int, ...]
    words: str
    """Why, where no rule decides."""
    others: int = 0
    """How many rules decide elsewhere among these URLs, and say the same."""


class Happens(NamedTuple):
    """URLs whose verdict changes."""

    patterns: tuple[str, ...]
    """As `shown_pattern()` shows them; empty: every URL."""
    but: tuple[str, ...]
    """Patterns of those among them to which nothing happens, none of them within another."""
    more_but: bool
    """Whether there may be more of these."""
    witness: str
    old: Decided
    new: Decided


class DiffSection(NamedTuple):
    """Crawlers to whom the same happens."""

    changes: tuple[CrawlerChange, ...]
    """What they were compared by: one for each set of groups, all of them alike."""

    @property
    def crawlers(self) -> tuple[Crawler, ...]:
        """Who they are."""
        return tuple(crawler for change in self.changes for crawler in change.crawlers)

    @property
    def regions(self) -> int:
        """How many regions change; none: that is not decided."""
        return len(self.changes[0].difference.regions)

    @property
    def complete(self) -> bool:
        """Whether these are all."""
        return self.changes[0].difference.complete

    @property
    def rules(self) -> tuple[RuleSet, RuleSet]:
        """What they obey before, and now."""
        return self.changes[0].old_rules, self.changes[0].new_rules

    @property
    def gathered(self) -> list[tuple[Rule, list[int]]]:
        """
        The regions by number, those together that one rule makes, and that rule.

        A crawler that gets a group of its own leaves each rule of the star's group, and whether no
        rule or an allow rule decides now is all the same to a reader.
        """
        regions = self.changes[0].difference.regions
        forms = [set(map(_key, rules.rules)) for rules in self.rules]
        makers = [_makers(region, *forms) for region in regions]
        # A rule that decides also where on the other side none does says it for all its regions.
        # Of another one's pattern a part may have been as it is before.
        says_it = {
            maker
            for region, of_region in zip(regions, makers, strict=True)
            for maker in of_region
            if not (region.old.rule and region.new.rule)
        }
        together: dict[object, tuple[Rule, list[int]]] = {}
        for number, of_region in enumerate(makers):
            maker = next((one for one in of_region if one in says_it), None)
            key = number if maker is None else (maker, regions[number].old.allowed)
            together.setdefault(key, ((maker or of_region[0])[1], []))[1].append(number)
        return list(together.values())

    def happens(self, most: int, first: int = 0) -> Iterator[Happens]:
        """Yield what happens, at most so much of it."""
        for rule, numbers in self.gathered[first : first + most]:
            yield _happens(self.changes, rule, numbers)


class Parts(NamedTuple):
    """All that is said about two files."""

    changed: tuple[DiffSection, ...]
    unchanged: tuple[Crawler, ...]
    """Those for whom nothing changes, which is proved."""
    undecided: tuple[DiffSection, ...]
    """Those for whom no difference was found, and that there is none is not decided."""
    statements: tuple[RecordDifference, ...]
    """Other records that do not come to the same, or of which that is not decided."""
    complete: bool
    """Whether everybody was asked."""
    proved: bool | None
    """Whether the files mean the same; None: not decided."""
    budget: int
    alone: bool
    """Whether no file names anybody, so that everyone else is everybody."""
    identical: bool = False
    """Whether the files are the same to the octet."""
    elsewhere: tuple[tuple[str, bool | None], ...] = ()
    """Of other profiles: whether the files mean the same under them."""
    reach: Reach | None = None
    """What changes on the URLs of a file, for `reachable` in their order."""

    @property
    def known(self) -> list[KnownCrawler]:
        """The well-known crawlers that were compared by other names or groups than their own."""
        everybody = (*self.crawlers, *self.unchanged, *self.unknown)
        found = (crawler.known for crawler in everybody if crawler.known)
        return [known for known in dict.fromkeys(found) if known.departures]

    @property
    def crawlers(self) -> list[Crawler]:
        """Everybody to whom something happens."""
        return [crawler for part in self.changed for crawler in part.crawlers]

    @property
    def unknown(self) -> list[Crawler]:
        """Everybody for whom it is not decided."""
        return [crawler for part in self.undecided for crawler in part.crawlers]

    @property
    def reachable(self) -> tuple[DiffSection, ...]:
        """The parts for which URLs of a file are counted; no more than there is time for."""
        return (*self.changed, *self.undecided)[:MOST_REACHABLE]

    @property
    def records(self) -> list[str]:
        """The names of other records that change for sure."""
        decided = (one.record for one in self.statements if one.is_decided)
        return list(dict.fromkeys(decided))

    @property
    def equal(self) -> bool | None:
        """True: proved to mean the same. None: not decided, and no URL of a file shows it."""
        return False if self.reach and self.reach.changed else self.proved


def parts_of(found: FileDifference, budget: int, *, asked: bool = False) -> Parts:
    """Return the parts of a comparison; *asked*: of some crawlers, and not of everybody."""
    alike: dict[object, list[CrawlerChange]] = {}
    unchanged: list[Crawler] = []
    for change in found.changes:
        if change.difference.equal:
            unchanged.extend(change.crawlers)
        else:
            alike.setdefault(_likeness(change), []).append(change)
    parts = [DiffSection(tuple(changes)) for changes in alike.values()]
    undecided = [part for part in parts if not part.regions]
    # Python's sort is stable: what is equally urgent stays in the order of the files.
    changed = sorted((part for part in parts if part.regions), key=_urgency)
    everybody = [crawler for change in found.changes for crawler in change.crawlers]
    return Parts(
        tuple(changed),
        tuple(unchanged),
        tuple(undecided),
        tuple(sorted(found.statements, key=_order)),
        found.complete,
        found.equal,
        budget,
        everybody == [EVERYONE_ELSE] and not asked,
    )


def _likeness(change: CrawlerChange) -> object:
    """Return what is the same for changes that read the same but for line numbers."""
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
    """Tell whether it is worth saying which groups are obeyed."""
    old, new = change.old, change.new
    if (old.matched_by, old.by) != (new.matched_by, new.by):
        return True
    return len(old.lines) != len(new.lines)


# --- Regions --------------------------------------------------------------------------------------


def shown_pattern(pattern: str) -> str:
    """Return a path pattern so that one sees where it ends; empty: every URL matches."""
    if pattern.endswith("$"):
        return pattern
    start = pattern.rstrip("*")
    return f"{start}*" if start not in ("", "/") else ""


def _is_everything(region: Region) -> bool:
    return not any(map(shown_pattern, region.patterns))


def _makers(
    region: Region, old: Set[tuple[bool, str]], new: Set[tuple[bool, str]]
) -> list[tuple[bool, Rule]]:
    """Return the deciding rules of a region that only one side has: one of the two is such."""
    sides = ((False, region.old.rule, new), (True, region.new.rule, old))
    found = [(side, rule) for side, rule, there in sides if rule and _key(rule) not in there]
    return found or [(side, rule) for side, rule, _ in sides if rule]


def _key(rule: Rule) -> tuple[bool, str]:
    return rule.allow, rule.form


def _happens(changes: Sequence[CrawlerChange], rule: Rule, numbers: Sequence[int]) -> Happens:
    first = changes[0]
    found = [first.difference.regions[number] for number in numbers]
    region = found[0] if len(found) == 1 else found[0]._replace(patterns=(rule.form,))
    but, complete = _exceptions(first, region)
    same = [change.difference.regions[numbers[0]] for change in changes]
    return Happens(
        tuple(filter(None, map(shown_pattern, region.patterns))),
        tuple(map(shown_pattern, but[:MOST_EXCEPTIONS])),
        len(but) > MOST_EXCEPTIONS or not complete,
        str(region.witness),
        _decided([region.old for region in same], [one.old for one in found]),
        _decided([region.new for region in same], [one.new for one in found]),
    )


def _exceptions(change: CrawlerChange, region: Region) -> tuple[list[str], bool]:
    """Return the widest patterns of those in a region to which nothing happens; are they all?"""
    rules, most = (change.old_rules, change.new_rules), 2 * MOST_EXCEPTIONS
    found = exceptions(*rules, region, most=most, budget=EXCEPTION_BUDGET)
    patterns = [one.pattern for one in found]
    widest = [
        pattern
        for pattern in patterns
        if not any(_is_within(pattern, other, change) for other in patterns if other != pattern)
    ]
    return widest, len(patterns) < most


def _is_within(pattern: str, other: str, change: CrawlerChange) -> bool:
    """Tell whether it is proved that all that a pattern matches another one does."""
    return includes(other, pattern, change.old_rules.profile, budget=EXCEPTION_BUDGET) is True


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
    "EXCEPTION_BUDGET",
    "MAX_REGIONS",
    "MOST_EXCEPTIONS",
    "Decided",
    "DiffSection",
    "Happens",
    "Parts",
    "groups_change",
    "parts_of",
    "shown_pattern",
]
