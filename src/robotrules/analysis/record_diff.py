"""
What records beside the rules say differently in two files.

Sitemaps, Host and Clean-param are of the file; delays, rates and times of a group; Content-Usage,
Content-Signal and App-Directives of a group and of paths. Statements about paths are compared by
what they come to for every URL, as verdicts are: which pattern counts in the one file and which in
the other is the same question that rules ask (`solver`), and the record's own reader says what that
comes to. Content-Usage and App-Directives are read over the groups of their own documents (AMB-29),
so crawlers that obey the same rules may be told different things. It does not know the rules, and
reads no record itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.analysis.crawlers import Crawler
from robotrules.analysis.solver import (
    IMPLICIT,
    MAX_STATES,
    NOBODY,
    DecisionList,
    Side,
    Solver,
    vetted,
)
from robotrules.analysis.values import Undecided, Witness
from robotrules.extensions.app_directives import DirectiveSet
from robotrules.extensions.app_lines import read_line
from robotrules.extensions.clean_param import clean_params
from robotrules.extensions.content_signal import content_signals
from robotrules.extensions.content_usage import preferences_for
from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.extensions.host import preferred_host
from robotrules.extensions.request_rate import request_rates
from robotrules.extensions.scoped import profile_of, records_for, split
from robotrules.extensions.sitemap import sitemaps
from robotrules.extensions.visit_time import visit_times
from robotrules.registries import SHIPPED
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Record

# More paths, or applications, than this are compared as they are written.
MOST_PATHS = 64
MOST_APPLICATIONS = 64
SCOPED = {
    "content-usage": "Content-Usage",
    "content-signal": "Content-Signal",
    "app-directives": "App-Directives",
    "app-directive": "App-Directives",
}


# What is compared costs so many states; to compile records costs some, whatever they say.
Spend = Callable[[int], None]
TO_COMPILE = 100


class RecordText(NamedTuple):
    """A statement as written."""

    text: str
    line: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"text": self.text, "line": self.line}


class RecordDifference(NamedTuple):
    """Records of one name that do not come to the same in both files."""

    record: str
    """The name of the record, such as `Sitemap`."""
    crawlers: tuple[Crawler, ...]
    """Whom they are for; empty: they are of the file."""
    removed: tuple[RecordText, ...]
    """Statements of the old file that the new one does not have."""
    added: tuple[RecordText, ...]
    witness: Witness | None = None
    """A URL for which they do not come to the same; None where they are not about URLs, or were
    compared as written."""

    @property
    def is_decided(self) -> bool:
        """Whether it is known that they differ, and not only that they are written otherwise."""
        return self.witness is not None or self.record not in SCOPED.values()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "record": self.record,
            "crawlers": [crawler.as_dict() for crawler in self.crawlers],
            "removed": [stated.as_dict() for stated in self.removed],
            "added": [stated.as_dict() for stated in self.added],
            "witness": self.witness.as_dict() if self.witness else None,
        }


def changed_statements(
    old: RobotsTxt,
    new: RobotsTxt,
    crawler: Crawler | None,
    named: tuple[Crawler, ...],
    *,
    budget: int = MAX_STATES,
    keys: Collection[str] | None = None,
    spend: Spend = lambda _: None,
) -> Iterator[RecordDifference]:
    """
    Yield what changes for a crawler, who stands for all of *named*; None: for the file.

    *keys* are those of the records there are, if the caller knows: of others nobody asks. *spend*
    is told what each record costs, in states.
    """
    keys = keys_of(old, new) if keys is None else keys
    if crawler is None:
        for record, read in _OF_FILES.items():
            yield from _compared(record, (), read(old), read(new))
        return
    for record, read_for in _OF_GROUPS.items():
        if record.lower() in keys:
            yield from _compared(record, named, read_for(old, crawler), read_for(new, crawler))
    for record in dict.fromkeys(name for key, name in SCOPED.items() if key in keys):
        yield from _scoped(record, named, old, new, crawler, budget, spend)


def keys_of(*files: RobotsTxt) -> frozenset[str]:
    """Return the keys of all records of some files."""
    return frozenset(record.key for robots in files for record in robots.records)


# --- Statements without a path --------------------------------------------------------------------

# What a statement comes to, and where and how it is written.
Read = list[tuple[Any, RecordText]]


def _written(record: Record) -> RecordText:
    return RecordText(record.text, record.line)


def _sitemaps(robots: RobotsTxt) -> Read:
    return [(found.url, _written(found.record)) for found in sitemaps(robots)]


def _host(robots: RobotsTxt) -> Read:
    found = preferred_host(robots)
    return [(found.record.text.lower(), _written(found.record))] if found else []


def _clean_params(robots: RobotsTxt) -> Read:
    found = clean_params(robots).records
    return [((frozenset(one.parameters), one.path), _written(one.record)) for one in found]


def _delay(robots: RobotsTxt, crawler: Crawler) -> Read:
    found = crawl_delay(robots, crawler.names, crawler.purposes)
    return [(found.seconds, _written(found.record))] if found else []


def _rates(robots: RobotsTxt, crawler: Crawler) -> Read:
    found = request_rates(robots, crawler.names, crawler.purposes)
    return [((one.seconds, one.window), _written(one.record)) for one in found]


def _times(robots: RobotsTxt, crawler: Crawler) -> Read:
    found = visit_times(robots, crawler.names, crawler.purposes)
    return [(one.window, _written(one.record)) for one in found]


_OF_FILES: dict[str, Callable[[RobotsTxt], Read]] = {
    "Sitemap": _sitemaps,
    "Host": _host,
    "Clean-param": _clean_params,
}
_OF_GROUPS: dict[str, Callable[[RobotsTxt, Crawler], Read]] = {
    "Crawl-delay": _delay,
    "Request-rate": _rates,
    "Visit-time": _times,
}


def _compared(
    record: str, named: tuple[Crawler, ...], old: Read, new: Read
) -> Iterator[RecordDifference]:
    """Yield what one list states and the other does not; order and repetition say nothing."""
    before, after = {meaning for meaning, _ in old}, {meaning for meaning, _ in new}
    removed = [stated for meaning, stated in old if meaning not in after]
    added = [stated for meaning, stated in new if meaning not in before]
    if removed or added:
        yield RecordDifference(record, named, tuple(removed), tuple(added))


# --- Statements about paths -----------------------------------------------------------------------


def _scoped(
    record: str,
    named: tuple[Crawler, ...],
    old: RobotsTxt,
    new: RobotsTxt,
    crawler: Crawler,
    budget: int,
    spend: Spend,
) -> Iterator[RecordDifference]:
    sides = [_records_of(record, robots, crawler) for robots in (old, new)]
    texts = [[(split(r).path, split(r).statement) for r in records] for records in sides]
    spend(sum(map(len, sides)))
    if texts[0] == texts[1]:
        return
    told = sorted(
        {
            name
            for side, robots in zip(sides, (old, new), strict=True)
            for found in side
            for name in read_line(found, robots).parameters
        }
    )
    witness: Witness | Undecided | None = Undecided(0)
    if max(map(len, sides)) <= MOST_PATHS and len(told) <= MOST_APPLICATIONS:
        before, after = (_answers(record, robots, crawler, told) for robots in (old, new))
        witness = _differing(
            old, new, sides, lambda url: bool(before(url) == after(url)), budget, spend
        )
    if witness is None:
        return
    written = [
        dict(zip(of_side, map(_written, side), strict=True))
        for of_side, side in zip(texts, sides, strict=True)
    ]
    removed = [stated for text, stated in written[0].items() if text not in written[1]]
    added = [stated for text, stated in written[1].items() if text not in written[0]]
    if not removed and not added:  # their order is what matters
        removed, added = (list(found.values()) for found in written)
    shown = None if isinstance(witness, Undecided) else witness
    yield RecordDifference(record, named, tuple(removed), tuple(added), shown)


def _records_of(record: str, robots: RobotsTxt, crawler: Crawler) -> list[Record]:
    # App directives know product tokens alone: see `_answers()`.
    purposes = () if record == "App-Directives" else crawler.purposes
    keys = [key for key, name in SCOPED.items() if name == record]
    return records_for(robots, keys, crawler.names, purposes)


def _answers(
    record: str, robots: RobotsTxt, crawler: Crawler, told: Sequence[str]
) -> Callable[[str], Any]:
    """Return what says what records come to for a URL."""
    token, purposes = crawler.names, crawler.purposes
    if record == "App-Directives":
        # Purposes do not count: draft-illyes-repext knows product tokens alone.
        sets = [DirectiveSet(robots, name, token, SHIPPED) for name in told]
        return lambda url: [_applied(found, url) for found in sets]
    if record == "Content-Usage":
        found = preferences_for(robots, token, purposes)._scoped
        return lambda url: dict(found.at(url).values)
    return lambda url: content_signals(robots, url, token, purposes).values()


def _applied(found: DirectiveSet, url: str) -> list[tuple[str, str, str]]:
    return sorted(
        (one.name, str(one.type), str(one.value)) for one in found.for_url(url).directives
    )


def _differing(
    old: RobotsTxt,
    new: RobotsTxt,
    sides: Sequence[Sequence[Record]],
    same: Callable[[str], bool],
    budget: int,
    spend: Spend,
) -> Witness | Undecided | None:
    """Return a URL for which records do not come to the same; None: proved that there is none."""
    sets = [
        RuleSet.from_patterns(
            dict.fromkeys(path for record in side if (path := split(record).path)),
            profile_of(robots),
            engine=robots._engine,
        )
        for side, robots in zip(sides, (old, new), strict=True)
    ]
    solver = Solver(*sets, budget=budget)
    try:
        return _sought(solver, same)
    finally:
        spend(TO_COMPILE + solver.states)


def _sought(solver: Solver, same: Callable[[str], bool]) -> Witness | Undecided | None:
    # `/robots.txt` is a path like others to these records.
    mine, other = (
        side.among(at for at, entry in side.entries.items() if entry.rule != IMPLICIT)
        for side in solver.sides
    )
    if _may_tie(solver, mine) or _may_tie(solver, other):
        return Undecided(solver.states)
    for at in (*mine.entries, NOBODY):
        passed: set[int] = set()
        while True:
            found = solver.seek(_counting(mine, at), other.saying(True, passed))
            if not found.decided:
                return Undecided(solver.states)
            if found.path is None:
                break
            witness = vetted(found.path, [])
            if not same(witness.url):
                return witness
            passed.add(solver.decider(other, found.path))
    return None


def _counting(side: Side, at: int) -> DecisionList:
    """Ask for where an entry counts, or none does."""
    if at != NOBODY:
        return side.decided_by([at])
    return [number << 1 for number in side.entries], True


def _may_tie(solver: Solver, side: Side) -> bool:
    """Tell whether two patterns may count together, which no decision list can ask for."""
    by_octets: dict[int, list[int]] = {}
    for at, entry in side.entries.items():
        by_octets.setdefault(len(entry.form), []).append(at)
    for tied in by_octets.values():
        forms = {side.entries[at].form: at for at in tied}
        if len(forms) > 1 and any(b"*" in form for form in forms):
            for number, a in enumerate(forms.values()):
                for b in list(forms.values())[number + 1 :]:
                    found = solver.seek(([a << 1 | 1], False), ([b << 1 | 1], False))
                    if not found.decided or found.path is not None:
                        return True
    return False
