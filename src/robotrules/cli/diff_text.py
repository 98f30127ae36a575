"""
A diff of two robots.txt files as text, and the sentences that text and Markdown share.

A *mark* function escapes the content of files for one format or the other.

Sections: groups · sentences · page. What stands for URLs and rules is in `json_results`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from robotrules.analysis import Crawler, ObeyedGroups, RecordDifference, RecordText
from robotrules.cli.console import Output
from robotrules.cli.impact import impact_lines
from robotrules.cli.text import Paint, cell_width, plural, truncate
from robotrules.json_results.crawler_names import (
    Mark,
    format_names,
    is_nameless,
    joined,
)
from robotrules.json_results.diff_sections import (
    EVERYONE_ELSE,
    MAX_REGIONS,
    Decided,
    DiffReport,
    DiffSection,
    RegionChange,
    groups_change,
)
from robotrules.json_results.diff_sentences import (
    describe_record_change,
    describe_rule,
    describe_urls,
    format_lines,
)
from robotrules.octets import visible
from robotrules.robotstxt.verdict import GroupMatch

# The most names in a sentence.
MOST_NAMES = 4
# How much of a long text or list is shown; JSON has all of it.
LONGEST = 200
MOST_PARTS = 12
MOST_NAMES_LISTED = 8
MOST_RECORDS = 10
MOST_STATED = 10
# The width in a pipe.
WIDTH = 80
NARROWEST = 40
# Spaces at which a line may end: `(line 4)` stays together.
_BREAKS = re.compile(r"(?<!\(line)(?<!\(lines) ")
HEADLINES = {"Same meaning": "allowed", "Different": "warning", "Not decided": "warning"}


# --- Groups ---------------------------------------------------------------------------------------


def describe_groups(part: DiffSection) -> str:
    """Return the groups obeyed before and now; empty if they do not change."""
    changes, many = part.changes, len(part.crawlers) > 1
    if not groups_change(changes[0]):
        return ""
    # A well-known crawler without its own group may obey that of another name.
    old, new = _merged([one.old for one in changes]), _merged([one.new for one in changes])
    where_old, where_new = (f" ({format_lines(one.lines)})" for one in (old, new))
    several = len(old.lines) > 1, len(new.lines) > 1
    before = {
        GroupMatch.TOKEN: (
            f"obeyed {_of_name(old.by, several[0])}{where_old}"
            if old.by
            else f"had {_own(many, several[0])}{where_old}"
        ),
        GroupMatch.PURPOSE: f"obeyed {_of_purpose(several[0])}{where_old}",
        GroupMatch.STAR: f"obeyed *{where_old}",
        GroupMatch.NONE: "had no group",
    }[old.matched_by]
    now = {
        GroupMatch.TOKEN: (
            f"obey{'' if many else 's'} {_of_name(new.by, several[1])}{where_new}"
            if new.by
            else f"{'have' if many else 'has'} {_own(many, several[1])}{where_new}"
        ),
        GroupMatch.PURPOSE: f"obey{'' if many else 's'} {_of_purpose(several[1])}{where_new}",
        GroupMatch.STAR: f"obey{'' if many else 's'} *{where_new}",
        GroupMatch.NONE: f"{'have' if many else 'has'} no group",
    }[new.matched_by]
    # A crawler with its own group ignores the group for '*' (RFC 9309 §2.2.1): point that out.
    leaves = old.matched_by is GroupMatch.STAR and new.matched_by in (
        GroupMatch.TOKEN,
        GroupMatch.PURPOSE,
    )
    return f"{before}, now {now}{' instead' if leaves else ''}"


def _merged(obeyed: Sequence[ObeyedGroups]) -> ObeyedGroups:
    lines = dict.fromkeys(line for one in obeyed for line in one.lines)
    return ObeyedGroups(obeyed[0].matched_by, tuple(lines), obeyed[0].by)


def _own(many: bool, several: bool) -> str:
    return f"{'their' if many else 'its'} own group{'s' if several else ''}"


def _of_name(name: str, several: bool) -> str:
    return f"the {'groups' if several else 'group'} of {name}"


def _of_purpose(several: bool) -> str:
    return "the groups of that purpose" if several else "the group of that purpose"


# --- Sentences ------------------------------------------------------------------------------------


def headline(parts: DiffReport, mark: Mark) -> tuple[str, str]:
    """Return the headline: a word or two, and the rest of the sentence."""
    all_crawlers = [*parts.crawlers, *parts.unchanged, *parts.unknown]
    if parts.changed:
        affected = _join_crawlers(parts.crawlers, all_crawlers, mark, parts.alone)
        words = f"{_what_becomes(parts)} for {affected}"
        if parts.records:
            words += f"; {_records_change(parts)} too"
        return "Different", f"{words}."
    if parts.records:
        same = "some verdicts are not decided"
        if parts.complete and not parts.undecided:
            same = "all verdicts are proved unchanged"
        return "Different", f"{same}, but {_records_change(parts)}."
    if parts.equal is False:
        return "Different", "the verdict on some URLs changes; not everything could be compared."
    if parts.equal is None:
        return "Not decided", "no difference was found, but not everything could be compared."
    if parts.identical:
        return "Same meaning", "the files are identical."
    if parts.alone:
        return "Same meaning", "proved for every crawler and every URL."
    return (
        "Same meaning",
        f"proved for {_join_crawlers(all_crawlers, all_crawlers, mark)}, for every URL.",
    )


def describe_other_profiles(parts: DiffReport) -> str:
    """Return a sentence about other profiles under which the files differ; or empty."""
    if not parts.equal:
        return ""
    differ = [name for name, equal in parts.elsewhere if equal is False]
    unknown = [name for name, equal in parts.elsewhere if equal is None]
    words = []
    if differ:
        noun = "profile" if len(differ) == 1 else "profiles"
        words.append(f"Under {noun} {joined(differ)} they differ: see --profile {differ[0]}.")
    if unknown:
        words.append(f"Under {joined(unknown)} it is not decided.")
    return " ".join(words)


def describe_known_crawlers(parts: DiffReport) -> str:
    """Return how well-known crawlers select groups, with source and date; or empty."""
    known = parts.known
    if not known:
        return ""
    described = [
        f"{one.product_token} {' and '.join(one.departures)} ({one.source})"
        for one in known[:MOST_NAMES]
    ]
    more = [f"{len(known) - MOST_NAMES:,} more do the same"] if len(known) > MOST_NAMES else []
    words = "; ".join([*described, *more])
    return f"Registry of well-known crawlers: {words}. --literal compares by product token only."


def _what_becomes(parts: DiffReport) -> str:
    ways = {
        region.new.allowed
        for part in parts.changed
        for change in part.changes
        for region in change.difference.regions
    }
    if len(ways) > 1:
        return "some URLs become disallowed, others allowed,"
    word = "allowed" if ways.pop() else "disallowed"
    first = next(parts.changed[0].region_changes(1))
    if len(parts.changed) == 1 and not first.patterns and not first.but:
        return f"every URL becomes {word}"
    return f"some URLs become {word}"


def _join_crawlers(
    some: list[Crawler], all_crawlers: list[Crawler], mark: Mark, alone: bool = False
) -> str:
    """Return the names of the crawlers if they are few, otherwise their number."""
    if len(some) < MOST_NAMES:
        return format_names(some, mark, MOST_NAMES, alone)
    words = []
    for noun, names in (("named crawler", _tokens), ("purpose", _purposes)):
        count, whole = len(names(some)), len(names(all_crawlers))
        if count:
            of_all = plural(count, noun) if count == whole else f"{count:,} of {whole:,} {noun}s"
            words.append(of_all)
    if EVERYONE_ELSE in some:
        words.append("everyone else")
    return joined(words)


def _tokens(crawlers: list[Crawler]) -> set[object]:
    return {crawler.product_token.lower() for crawler in crawlers if not is_nameless(crawler)}


def _purposes(crawlers: list[Crawler]) -> set[object]:
    return {one.purposes for one in crawlers if is_nameless(one) and one.purposes}


def _records_change(parts: DiffReport) -> str:
    return f"{joined(parts.records)} change{'s' if len(parts.records) == 1 else ''}"


# --- Page -----------------------------------------------------------------------------------------


class DiffPage:
    """A comparison as lines of text."""

    def __init__(self, parts: DiffReport, most: int, output: Output) -> None:
        """*most* regions are shown for each kind of crawlers."""
        self._parts = parts
        self._most = most
        self._paint: Paint = output.paint
        self._room = max(output.width, NARROWEST) if output.terminal else WIDTH

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        parts = self._parts
        word, rest = headline(parts, _name)
        yield from self._wrapped(f"{word}: {rest}", "", "", HEADLINES[word], len(word))
        if words := describe_other_profiles(parts):
            yield from self._wrapped(words, "", "", "warning", len(words))
        for part in parts.changed[:MOST_PARTS]:
            yield ""
            yield from self._part(part)
        yield from self._left_out()
        if parts.statements:
            yield ""
            yield self._paint("heading", "Other records")
            for statements in parts.statements[:MOST_RECORDS]:
                yield from self._statements(statements)
            yield from self._more(len(parts.statements) - MOST_RECORDS, "change", "")
        yield from self._unchanged()
        if words := describe_known_crawlers(parts):
            yield ""
            yield from self._wrapped(words, "", "")
        yield from self._impact()

    def _part(self, part: DiffSection) -> Iterator[str]:
        names = format_names(part.crawlers, _name, MOST_NAMES_LISTED, self._parts.alone)
        groups = describe_groups(part)
        whole = f"{names}: {groups}" if groups else names
        yield from self._wrapped(whole, "", "    ", "heading", len(names))
        for region_change in part.region_changes(self._most):
            yield from self._region_change(region_change)
        rest = len(part.gathered) - self._most
        if rest > 0:
            yield f"  and {plural(rest, 'region')} more (--max-regions {len(part.gathered)})"
        if not part.complete:
            many = f"the search stops after {MAX_REGIONS:,} regions"
            why = self._describe_limit() if part.regions < MAX_REGIONS else many
            yield from self._wrapped(f"there may be more: {why}", "  ", "  ")

    def _region_change(self, region_change: RegionChange) -> Iterator[str]:
        words = [
            "allowed" if one.allowed else "disallowed"
            for one in (region_change.old, region_change.new)
        ]
        change = f"{words[0]} → {words[1]}  "
        painted = f"{self._paint(words[0], words[0])} → {self._paint(words[1], words[1])}  "
        lines = self._wrapped(change + describe_urls(region_change, _mark), "  ", "      ")
        yield next(lines).replace(change, painted, 1)
        yield from lines
        yield from self._fact("such as", _mark(region_change.witness))
        yield from self._fact("before", _words(region_change.old))
        yield from self._fact("now", _words(region_change.new))

    def _fact(self, name: str, words: str) -> Iterator[str]:
        lines = self._wrapped(f"{name:7}  {words}", "    ", " " * 13)
        yield next(lines).replace(name, self._paint("faint", name), 1)
        yield from lines

    def _left_out(self) -> Iterator[str]:
        """Yield a line about the sections that are not shown."""
        rest = self._parts.changed[MOST_PARTS:]
        crawlers = [crawler for part in rest for crawler in part.crawlers]
        if crawlers:
            names = format_names(crawlers, _name, MOST_NAMES_LISTED)
            yield ""
            yield from self._wrapped(
                f"More changes, for {names}: use --as for one of them, or --json for all.", "", ""
            )

    def _statements(self, statements: RecordDifference) -> Iterator[str]:
        whom = format_names(statements.crawlers, _name, MOST_NAMES_LISTED, self._parts.alone)
        words = describe_record_change(statements, whom, _mark)
        yield from self._wrapped(words, "  ", "      ")
        yield from self._stated("-", "disallowed", statements.record, statements.removed)
        yield from self._stated("+", "allowed", statements.record, statements.added)

    def _stated(
        self, sign: str, style: str, record: str, found: Sequence[RecordText]
    ) -> Iterator[str]:
        for one in found[:MOST_STATED]:
            words = f"{sign} line {one.line}: {record}: {_mark(one.text)}"
            for line in self._wrapped(words, "    ", "      "):
                yield self._paint(style, line)
        yield from self._more(len(found) - MOST_STATED, "line", "    ")

    def _more(self, rest: int, noun: str, indent: str) -> Iterator[str]:
        if rest > 0:
            yield f"{indent}and {plural(rest, noun)} more (see --json)"

    def _unchanged(self) -> Iterator[str]:
        """Yield the crawlers for which nothing changes or nothing is decided."""
        parts = self._parts
        if parts.unchanged and (parts.changed or parts.undecided):
            yield ""
            names = format_names(parts.unchanged, _name, MOST_NAMES_LISTED)
            same = "Verdicts proved unchanged" if parts.statements else "Proved unchanged"
            yield from self._wrapped(f"{same}: {names}.", "", "  ")
        if parts.undecided:
            yield ""
            names = format_names(parts.unknown, _name, MOST_NAMES_LISTED, parts.alone)
            words = f"N{self._describe_limit()[1:]}: {names}; try a larger --max-states."
            yield from self._wrapped(words, "", "  ")
        if not parts.complete:
            yield ""
            yield from self._wrapped(
                "Not all crawlers were compared: the files name too many crawlers or purposes.",
                "",
                "  ",
            )

    def _impact(self) -> Iterator[str]:
        """Yield the impact on real URLs."""
        if self._parts.impact is not None:
            yield ""
            yield from impact_lines(self._parts.impact, self._paint, self._room)

    def _describe_limit(self) -> str:
        return f"not decided within {self._parts.max_states:,} states"

    def _wrapped(
        self, words: str, indent: str, hang: str, style: str = "", styled: int = 0
    ) -> Iterator[str]:
        """
        Yield words in lines of the terminal's width.

        The first *styled* characters are coloured. A word longer than a line is not broken, so that
        it can be copied.
        """
        line, used, done = indent, cell_width(indent), 0
        begun = False
        for word in _BREAKS.split(words):
            width = cell_width(word)
            fits = cell_width(hang) + width <= self._room
            if begun and fits and used + 1 + width > self._room:
                yield line.rstrip()
                line, used, begun = hang, cell_width(hang), False
            # The coloured part ends at the end of a word or before its colon.
            part = max(min(styled - done, len(word)), 0)
            shown = self._paint(style, word[:part]) + word[part:] if part else word
            line += f" {shown}" if begun else shown
            used += width + begun
            begun, done = True, done + len(word) + 1
        yield line


def _words(decided: Decided) -> str:
    return describe_rule(decided, _mark)


def _name(text: str) -> str:
    """Return the name of a crawler or purpose, in quotes if it contains separators."""
    shown = _mark(text)
    return f"'{shown}'" if set(shown) & set(" ,'") else shown


def _mark(text: str) -> str:
    # Cut before escaping: a pattern can be as long as a file.
    return truncate(visible(text[: LONGEST + 1]), LONGEST)
