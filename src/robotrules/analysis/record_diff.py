"""
Differences between the records of two files, except rules.

Sitemap, Host and Clean-param apply to the file; delays, rates and times to a group; Content-Usage,
Content-Signal and App-Directives to a group and to paths. Records about paths are compared by their
effect on every URL, as verdicts are: which pattern applies in each file is a query to the `solver`,
and the record's reader returns its effect. Content-Usage and App-Directives are read over the
groups of their own documents (AMB-29), so crawlers that obey the same rules may have different
records. The module does not use rules, and does not parse records itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.analysis.crawlers import Crawler
from robotrules.analysis.solver import (
    IMPLICIT,
    MAX_STATES,
    NO_ENTRY,
    DecisionList,
    Side,
    Solver,
    to_witness,
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
from robotrules.robotstxt.internals import get_engine
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Record

# More paths, or applications, than this are compared as text.
MAX_PATHS = 64
MAX_APPLICATIONS = 64
SCOPED = {
    "content-usage": "Content-Usage",
    "content-signal": "Content-Signal",
    "app-directives": "App-Directives",
    "app-directive": "App-Directives",
}


# A callback that counts states. Compiling records counts as TO_COMPILE states.
Spend = Callable[[int], None]
TO_COMPILE = 100


class RecordText(NamedTuple):
    """A record as written."""

    text: str
    line: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"text": self.text, "line": self.line}


class RecordDifference(NamedTuple):
    """Records of one name that do not have the same effect in both files."""

    record: str
    """The name of the record, such as `Sitemap`."""
    crawlers: tuple[Crawler, ...]
    """The crawlers they apply to; empty: they apply to the file."""
    removed: tuple[RecordText, ...]
    """Records of the old file that the new one does not have."""
    added: tuple[RecordText, ...]
    witness: Witness | None = None
    """A URL for which they differ; None if they do not apply to URLs, or were compared as text."""

    @property
    def is_decided(self) -> bool:
        """Whether their effects are known to differ, and not only their text."""
        return self.witness is not None or self.record not in SCOPED.values()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "record": self.record,
            "crawlers": [crawler.as_dict() for crawler in self.crawlers],
            "removed": [text.as_dict() for text in self.removed],
            "added": [text.as_dict() for text in self.added],
            "witness": self.witness.as_dict() if self.witness else None,
        }


def diff_records(
    old: RobotsTxt,
    new: RobotsTxt,
    crawler: Crawler | None,
    named: tuple[Crawler, ...],
    *,
    max_states: int = MAX_STATES,
    keys: Collection[str] | None = None,
    spend: Spend = lambda _: None,
) -> Iterator[RecordDifference]:
    """
    Yield the differences for a crawler, which represents all of *named*; None: for the file.

    *keys* are the keys of the records in the files, if the caller knows them; other records are
    skipped. *spend* is called with the states that each record costs.
    """
    keys = record_keys(old, new) if keys is None else keys
    if crawler is None:
        for record, read in _OF_FILES.items():
            yield from _diff_values(record, (), read(old), read(new))
        return
    for record, read_for in _OF_GROUPS.items():
        if record.lower() in keys:
            yield from _diff_values(record, named, read_for(old, crawler), read_for(new, crawler))
    for record in dict.fromkeys(name for key, name in SCOPED.items() if key in keys):
        yield from _diff_scoped(record, named, old, new, crawler, max_states, spend)


def record_keys(*files: RobotsTxt) -> frozenset[str]:
    """Return the keys of all records of the files."""
    return frozenset(record.key for robots in files for record in robots.records)


# --- Records without a path -----------------------------------------------------------------------

# The effect of each record, and its text.
Read = list[tuple[Any, RecordText]]


def _text_of(record: Record) -> RecordText:
    return RecordText(record.text, record.line)


def _sitemaps(robots: RobotsTxt) -> Read:
    return [(found.url, _text_of(found.record)) for found in sitemaps(robots)]


def _host(robots: RobotsTxt) -> Read:
    found = preferred_host(robots)
    return [(found.record.text.lower(), _text_of(found.record))] if found else []


def _clean_params(robots: RobotsTxt) -> Read:
    found = clean_params(robots).records
    return [((frozenset(r.parameters), r.path), _text_of(r.record)) for r in found]


def _delay(robots: RobotsTxt, crawler: Crawler) -> Read:
    found = crawl_delay(robots, crawler.names, crawler.purposes)
    return [(found.seconds, _text_of(found.record))] if found else []


def _rates(robots: RobotsTxt, crawler: Crawler) -> Read:
    found = request_rates(robots, crawler.names, crawler.purposes)
    return [((rate.seconds, rate.window), _text_of(rate.record)) for rate in found]


def _times(robots: RobotsTxt, crawler: Crawler) -> Read:
    found = visit_times(robots, crawler.names, crawler.purposes)
    return [(time.window, _text_of(time.record)) for time in found]


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


def _diff_values(
    record: str, named: tuple[Crawler, ...], old: Read, new: Read
) -> Iterator[RecordDifference]:
    """Yield the records that only one list has; order and repetition do not count."""
    before, after = {effect for effect, _ in old}, {effect for effect, _ in new}
    removed = [text for effect, text in old if effect not in after]
    added = [text for effect, text in new if effect not in before]
    if removed or added:
        yield RecordDifference(record, named, tuple(removed), tuple(added))


# --- Records about paths --------------------------------------------------------------------------


def _diff_scoped(
    record: str,
    named: tuple[Crawler, ...],
    old: RobotsTxt,
    new: RobotsTxt,
    crawler: Crawler,
    max_states: int,
    spend: Spend,
) -> Iterator[RecordDifference]:
    sides = [_records_for(record, robots, crawler) for robots in (old, new)]
    texts = [[(split(r).path, split(r).statement) for r in records] for records in sides]
    spend(sum(map(len, sides)))
    if texts[0] == texts[1]:
        return
    applications = sorted(
        {
            name
            for side, robots in zip(sides, (old, new), strict=True)
            for found in side
            for name in read_line(found, robots).parameters
        }
    )
    witness: Witness | Undecided | None = Undecided(0)
    if max(map(len, sides)) <= MAX_PATHS and len(applications) <= MAX_APPLICATIONS:
        before, after = (
            _effect_reader(record, robots, crawler, applications) for robots in (old, new)
        )
        witness = _find_differing_url(
            old, new, sides, lambda url: bool(before(url) == after(url)), max_states, spend
        )
    if witness is None:
        return
    written = [
        dict(zip(of_side, map(_text_of, side), strict=True))
        for of_side, side in zip(texts, sides, strict=True)
    ]
    removed = [text for key, text in written[0].items() if key not in written[1]]
    added = [text for key, text in written[1].items() if key not in written[0]]
    if not removed and not added:  # only their order differs
        removed, added = (list(found.values()) for found in written)
    url = None if isinstance(witness, Undecided) else witness
    yield RecordDifference(record, named, tuple(removed), tuple(added), url)


def _records_for(record: str, robots: RobotsTxt, crawler: Crawler) -> list[Record]:
    # App directives use product tokens only: see `_effect_reader()`.
    purposes = () if record == "App-Directives" else crawler.purposes
    keys = [key for key, name in SCOPED.items() if name == record]
    return records_for(robots, keys, crawler.names, purposes)


def _effect_reader(
    record: str, robots: RobotsTxt, crawler: Crawler, applications: Sequence[str]
) -> Callable[[str], Any]:
    """Return a function from a URL to the effect of the records on it."""
    token, purposes = crawler.names, crawler.purposes
    if record == "App-Directives":
        # Purposes do not count: draft-illyes-repext uses product tokens only.
        sets = [DirectiveSet(robots, name, token, SHIPPED) for name in applications]
        return lambda url: [_applied_directives(found, url) for found in sets]
    if record == "Content-Usage":
        found = preferences_for(robots, token, purposes)
        return lambda url: dict(found.stated_for_url(url).values)
    return lambda url: content_signals(robots, url, token, purposes).values()


def _applied_directives(found: DirectiveSet, url: str) -> list[tuple[str, str, str]]:
    return sorted((d.name, str(d.type), str(d.value)) for d in found.for_url(url).directives)


def _find_differing_url(
    old: RobotsTxt,
    new: RobotsTxt,
    sides: Sequence[Sequence[Record]],
    same: Callable[[str], bool],
    max_states: int,
    spend: Spend,
) -> Witness | Undecided | None:
    """Return a URL for which records differ in effect; None: proved that there is none."""
    sets = [
        RuleSet.from_patterns(
            dict.fromkeys(path for record in side if (path := split(record).path)),
            profile_of(robots),
            engine=get_engine(robots),
        )
        for side, robots in zip(sides, (old, new), strict=True)
    ]
    solver = Solver(*sets, max_states=max_states)
    try:
        return _search(solver, same)
    finally:
        spend(TO_COMPILE + solver.states)


def _search(solver: Solver, same: Callable[[str], bool]) -> Witness | Undecided | None:
    # For these records `/robots.txt` is a path like any other.
    mine, other = (
        side.among(at for at, entry in side.entries.items() if entry.rule != IMPLICIT)
        for side in solver.sides
    )
    if _may_tie(solver, mine) or _may_tie(solver, other):
        return Undecided(solver.states)
    for at in (*mine.entries, NO_ENTRY):
        excluded: set[int] = set()
        while True:
            lists = _decided_by(mine, at), other.with_verdict(True, excluded)
            found = solver.find_witness(*lists)
            if not found.decided:
                return Undecided(solver.states)
            if found.path is None:
                break
            witness = to_witness(found.path)
            if not same(witness.url):
                return witness
            excluded.add(solver.find_decider(other, found.path))
    return None


def _decided_by(side: Side, at: int) -> DecisionList:
    """Return a decision list that accepts what an entry, or no entry, decides."""
    if at != NO_ENTRY:
        return side.decided_by([at])
    return [number << 1 for number in side.entries], True


def _may_tie(solver: Solver, side: Side) -> bool:
    """Return whether two patterns may tie, which a decision list cannot express."""
    by_octets: dict[int, list[int]] = {}
    for at, entry in side.entries.items():
        by_octets.setdefault(len(entry.form), []).append(at)
    for tied in by_octets.values():
        forms = {side.entries[at].form: at for at in tied}
        if len(forms) > 1 and any(b"*" in form for form in forms):
            for number, a in enumerate(forms.values()):
                for b in list(forms.values())[number + 1 :]:
                    found = solver.find_witness(([a << 1 | 1], False), ([b << 1 | 1], False))
                    if not found.decided or found.path is not None:
                        return True
    return False
