"""
What changes from one robots.txt to another, in sentences.

Text and Markdown say the same, so the sentences are here, once; a *mark* makes what a file holds
fit for one or the other. It does not know how a page is laid out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robotrules.analysis import Crawler, ObeyedGroups, RecordDifference
from robotrules.cli.diff_parts import (
    EVERYONE_ELSE,
    Decided,
    DiffSection,
    Happens,
    Parts,
    groups_change,
)
from robotrules.cli.text import CUT, plural
from robotrules.robotstxt.verdict import GroupMatch

# Makes what a file holds fit to be shown.
Mark = Callable[[str], str]

# Names and line numbers that a sentence has.
MOST_NAMES = 4
MOST_LINES = 3


# --- URLs -----------------------------------------------------------------------------------------


def urls_words(happens: Happens, mark: Mark) -> str:
    """Return which URLs: `/private*, but not /private/*`."""
    if not happens.patterns:
        words = "every URL"
    else:
        both = "both " if len(happens.patterns) > 1 else ""
        words = both + " and ".join(map(mark, happens.patterns))
    if not happens.but:
        return words
    names = [*map(mark, happens.but)]
    but = f"{', '.join(names)} {CUT}" if happens.more_but else joined(names, "or")
    return f"{words}, but not {but}"


def decided_words(decided: Decided, mark: Mark) -> str:
    """Return what decides: `line 2: Disallow: /private`."""
    words = f"{lines_words(decided.lines)}: {mark(decided.rule)}" if decided.rule else decided.words
    if not decided.others:
        return words
    rules = "another rule" if decided.others == 1 else f"{decided.others:,} other rules"
    return f"{words}; elsewhere {rules}"


# --- Groups ---------------------------------------------------------------------------------------


def groups_words(part: DiffSection) -> str:
    """Return which groups were obeyed and which are now; empty: that does not change."""
    changes, many = part.changes, len(part.crawlers) > 1
    if not groups_change(changes[0]):
        return ""
    # A well-known crawler without a group of its own may obey that of another name.
    old, new = _merged([one.old for one in changes]), _merged([one.new for one in changes])
    where_old, where_new = (f" ({lines_words(one.lines)})" for one in (old, new))
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
    # Whoever gets a group leaves the one that all obey, and few expect that (RFC 9309 §2.2.1).
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


# --- Other records --------------------------------------------------------------------------------


def statements_words(statements: RecordDifference, whom: str, mark: Mark) -> str:
    """Return which records, for whom, and where: `Content-Usage for *whom*, such as at /`."""
    words = f"{statements.record} for {whom}" if whom else statements.record
    if statements.witness:
        return f"{words}, such as at {mark(statements.witness.path)}"
    if not statements.is_decided:
        return f"{words}, written otherwise: whether that says the same is not decided"
    return words


# --- Sentences ------------------------------------------------------------------------------------


def joined(names: Sequence[str], word: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def some(names: Sequence[str], most: int, count: int | None = None) -> str:
    """Return so many of some names, and how many more there are; *count* is of all of them."""
    count = len(names) if count is None else count
    # One more takes no more room than saying so.
    if count <= most + 1:
        return joined(names)
    return f"{', '.join(names[:most])} and {count - most:,} more"


def lines_words(lines: Sequence[int]) -> str:
    """Return `line 3`, `lines 3, 8 and 9`."""
    noun = "line" if len(lines) == 1 else "lines"
    return f"{noun} {some([str(line) for line in lines], MOST_LINES)}"


def name_of(crawler: Crawler, mark: Mark, alone: bool = False) -> str:
    """Return what people call a crawler; *alone*: there is nobody else."""
    if crawler == EVERYONE_ELSE:
        return "every crawler" if alone else "everyone else"
    purposes = joined([mark(purpose) for purpose in crawler.purposes])
    noun = "purpose" if len(crawler.purposes) == 1 else "purposes"
    if _is_nameless(crawler):
        return f"{noun} {purposes}"
    token = mark(crawler.product_token)
    return f"{token} with {noun} {purposes}" if purposes else token


def names_of(crawlers: Sequence[Crawler], mark: Mark, most: int, alone: bool = False) -> str:
    """Return the names of crawlers, and how many more; everyone else is never among those."""
    named = [crawler for crawler in crawlers if crawler != EVERYONE_ELSE]
    everyone = EVERYONE_ELSE in crawlers
    names = [name_of(crawler, mark) for crawler in named[: most + 1]]
    if not everyone:
        return some(names, most, len(named))
    last = name_of(EVERYONE_ELSE, mark, alone)
    if len(named) <= most:
        return joined([*names, last])
    return f"{last} and {', '.join(names[:most])} and {len(named) - most:,} more"


def headline(parts: Parts, mark: Mark) -> tuple[str, str]:
    """Return the verdict on the whole: a word or two, and the rest of the sentence."""
    everybody = [*parts.crawlers, *parts.unchanged, *parts.unknown]
    if parts.changed:
        words = f"{_what_becomes(parts)} for {_whom(parts.crawlers, everybody, mark, parts.alone)}"
        if parts.records:
            words += f"; {_records_change(parts)} too"
        return "Different", f"{words}."
    if parts.records:
        same = "not every verdict is decided"
        if parts.complete and not parts.undecided:
            same = "every verdict is proved to stay"
        return "Different", f"{same}, but {_records_change(parts)}."
    if parts.equal is False:
        return "Different", "URLs get another verdict, and not everything could be compared."
    if parts.equal is None:
        return "Not decided", "no difference was found, and not everything could be compared."
    if parts.identical:
        return "Same meaning", "not an octet differs."
    if parts.alone:
        return "Same meaning", "proved for every crawler and every URL."
    return "Same meaning", f"proved for {_whom(everybody, everybody, mark)}, for every URL."


def elsewhere_words(parts: Parts) -> str:
    """Return a sentence where the files mean the same, but not as another profile reads them."""
    if not parts.equal:
        return ""
    differ = [name for name, equal in parts.elsewhere if equal is False]
    unknown = [name for name, equal in parts.elsewhere if equal is None]
    words = []
    if differ:
        noun = "profile" if len(differ) == 1 else "profiles"
        words.append(
            f"But as {noun} {joined(differ)} would read them, they differ: --profile {differ[0]} "
            "shows how."
        )
    if unknown:
        words.append(f"Whether they do under {joined(unknown)} is not decided.")
    return " ".join(words)


def known_words(parts: Parts) -> str:
    """Return how well-known crawlers choose groups, with source and day; empty: by their names."""
    known = parts.known
    if not known:
        return ""
    told = [
        f"{one.product_token} {' and '.join(one.departures)} ({one.source})"
        for one in known[:MOST_NAMES]
    ]
    more = [f"{len(known) - MOST_NAMES:,} more do likewise"] if len(known) > MOST_NAMES else []
    words = "; ".join([*told, *more])
    return f"By the registry of well-known crawlers {words}. --literal compares by names alone."


def _what_becomes(parts: Parts) -> str:
    ways = {
        region.new.allowed
        for part in parts.changed
        for change in part.changes
        for region in change.difference.regions
    }
    if len(ways) > 1:
        return "some URLs become disallowed, others allowed,"
    word = "allowed" if ways.pop() else "disallowed"
    first = next(parts.changed[0].happens(1))
    if len(parts.changed) == 1 and not first.patterns and not first.but:
        return f"every URL becomes {word}"
    return f"some URLs become {word}"


def _whom(some_: list[Crawler], everybody: list[Crawler], mark: Mark, alone: bool = False) -> str:
    """Return for whom: their names if they are few, otherwise how many."""
    if len(some_) < MOST_NAMES:
        return names_of(some_, mark, MOST_NAMES, alone)
    words = []
    for noun, names in (("named crawler", _tokens), ("purpose", _purposes)):
        count, whole = len(names(some_)), len(names(everybody))
        if count:
            of_all = plural(count, noun) if count == whole else f"{count:,} of {whole:,} {noun}s"
            words.append(of_all)
    if EVERYONE_ELSE in some_:
        words.append("everyone else")
    return joined(words)


def _tokens(crawlers: list[Crawler]) -> set[object]:
    return {crawler.product_token.lower() for crawler in crawlers if not _is_nameless(crawler)}


def _purposes(crawlers: list[Crawler]) -> set[object]:
    return {one.purposes for one in crawlers if _is_nameless(one) and one.purposes}


def _is_nameless(crawler: Crawler) -> bool:
    return crawler.product_token == EVERYONE_ELSE.product_token


def _records_change(parts: Parts) -> str:
    return f"{joined(parts.records)} change{'s' if len(parts.records) == 1 else ''}"
