"""
Statements scoped by a path pattern: which of them count for a URL.

Content-Usage and App-Directives have the same form, `[path] statement`, and the same rule: the
longest matching path pattern counts, matched as for allow and disallow. The engine's matcher is
used; the reader decides what a tie means. It does not parse statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar, overload

from robotrules.profile import Profile
from robotrules.robotstxt import REMEMBERED, RobotsTxt, Tokens
from robotrules.robotstxt.internals import get_document_records, get_engine
from robotrules.robotstxt.ruleset import NO_MATCH, URL
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.values import Record

T = TypeVar("T")
A = TypeVar("A")


class Scoped(NamedTuple):
    """The value of a record, split into path and statement."""

    path: bytes | None
    """The path pattern; None: the statement covers every path."""
    statement: bytes
    start: int
    """Where the statement starts in the file."""


def split(record: Record) -> Scoped:
    """
    Split the value of a record into path and statement (draft-ietf-aipref-attach-05 §3.2).

    Only a leading `/` starts a path, which ends at the first space or tab (AMB-103, AMB-112).
    """
    value = record.value
    if not value.startswith(b"/"):
        return Scoped(None, value, record.start)
    length = next((at for at, octet in enumerate(value) if octet in b" \t"), len(value))
    rest = value[length:].lstrip(b" \t")
    return Scoped(value[:length], rest, record.end - len(rest))


def records_for(
    robots: RobotsTxt, keys: Sequence[str], product_token: Tokens, purposes: Sequence[str] = ()
) -> list[Record]:
    """
    Return the records of one document for a crawler, in the order of the file.

    *keys* are the document's names for its record; the group structure is that of the document
    (AMB-29).
    """
    chosen = choose_groups(robots.grouped_for(keys[0]), product_token, purposes).indices
    by_group = get_document_records(robots, keys).by_group
    records = [record for group in set(chosen) for record in by_group.get(group, ())]
    return sorted(records, key=lambda record: record.line)


def document_groups(robots: RobotsTxt, keys: Sequence[str]) -> dict[int, int | None]:
    """Return the group of each record, by line, in the document's group structure (AMB-29)."""
    return get_document_records(robots, keys).groups


def profile_of(robots: RobotsTxt) -> Profile:
    """Return the profile for patterns of these records: that of rules, with one exception."""
    profile = robots.profile
    # The index page switch is about Allow only (AMB-47).
    return profile.replace(index_page=False) if profile.index_page else profile


def is_usable(path: bytes, robots: RobotsTxt) -> bool:
    """Return whether a path pattern can match: profiles differ on some octets (AMB-05, AMB-06)."""
    if path.startswith(b"/") and path.isascii() and path.decode().isprintable():
        return True
    engine = get_engine(robots)
    return bool(engine.Matcher(robots.profile.settings(engine), [(path, True)]).count_usable())


def comparison_form(path: bytes, robots: RobotsTxt) -> bytes:
    """Return the normal form of a path: paths with the same form are one path (AMB-105)."""
    engine = get_engine(robots)
    form: bytes = engine.normal_form(path, True, profile_of(robots).settings(engine))
    return form


# The engine's answer is not enough: a possible tie, or `/robots.txt`, which is not matched with
# rules.
_UNSETTLED = object()


@cache
def _class_of(engine: Any) -> Any:
    """Return a Matcher class with the hook `_make_verdict()`: see `_engine/_native.pyi`."""

    def _make_verdict(self: Any, number: int) -> Any:
        return self.answer(number)

    return type(
        "Answers", (engine.Matcher,), {"__slots__": ("answer",), "_make_verdict": _make_verdict}
    )


class ScopedSet(Generic[T, A]):
    """
    Statements with their path patterns, compiled. Immutable.

    *make* turns the statements that count into a result; URLs with the same statements share one
    result.
    """

    __slots__ = ("_anywhere", "_by_ties", "_make", "_matcher", "_statements", "_unsettled")

    @overload
    def __init__(
        self: ScopedSet[T, tuple[T, ...]],
        entries: Sequence[tuple[bytes | None, T]],
        robots: RobotsTxt,
    ) -> None: ...

    @overload
    def __init__(
        self,
        entries: Sequence[tuple[bytes | None, T]],
        robots: RobotsTxt,
        make: Callable[[tuple[T, ...]], A],
    ) -> None: ...

    def __init__(
        self,
        entries: Sequence[tuple[bytes | None, T]],
        robots: RobotsTxt,
        make: Callable[[tuple[T, ...]], A] = tuple,  # type: ignore[assignment]
    ) -> None:
        """Compile statements with their paths; without *make* a result is their tuple."""
        self._make = make
        # A path that cannot match must not represent one with the same form that can.
        scoped = [
            (path, statement)
            for path, statement in entries
            if path is not None and is_usable(path, robots)
        ]
        engine = get_engine(robots)
        settings = profile_of(robots).settings(engine)
        # Paths with the same form are one path (AMB-105): one pattern, several statements.
        alike: dict[bytes, list[tuple[int, T]]] = {}
        for order, (path, statement) in enumerate(scoped):
            form = comparison_form(path, robots)
            alike.setdefault(form, []).append((order, statement))
        self._statements = list(alike.values())
        self._anywhere = make(tuple(statement for path, statement in entries if path is None))
        self._by_ties: dict[tuple[int, ...], A] = {}
        self._unsettled: list[int] = []
        patterns = [(scoped[statements[0][0]][0], True) for statements in self._statements]
        self._matcher = _class_of(engine)(settings, patterns)
        self._matcher.answer = self._answers(list(alike))

    def _answers(self, forms: Sequence[bytes]) -> Callable[[int], Any]:
        """Return the function that maps engine answers to results; it has no reference to self."""
        # Two patterns of equal length can both match one path only if one has a wildcard.
        as_long = Counter(map(len, forms))
        wild = {len(form) for form in forms if b"*" in form}
        settled = {
            at << 2 | 1: self._together([at])
            for at, form in enumerate(forms)
            if as_long[len(form)] == 1 or len(form) not in wild
        }
        make, anywhere, unsettled = self._make, self._anywhere, self._unsettled

        def answer(number: int) -> Any:
            """Return the result for the statements of a pattern's number."""
            if number == NO_MATCH:
                return anywhere
            if number in settled:
                return make(settled[number])
            unsettled.append(number)
            return _UNSETTLED

        return answer

    def at(self, url: URL) -> A:
        """
        Return the result for *url*: from the statements of the longest matching pattern.

        Patterns that tie count together, in the order of the file. Statements without a path count
        if no pattern matches.
        """
        answer = self._matcher.check(url)
        return self._tied(url) if answer is _UNSETTLED else answer

    def at_many(self, urls: Iterable[URL]) -> list[A]:
        """Return the same for many URLs, mostly with one call into the engine."""
        urls = urls if isinstance(urls, (list, tuple, str, bytes)) else list(urls)
        answers: list[A] = self._matcher.check_many(urls)
        if not self._unsettled:
            return answers
        return [
            self._tied(url) if answer is _UNSETTLED else answer
            for answer, url in zip(answers, urls, strict=True)
        ]

    def _tied(self, url: URL) -> A:
        """Return the result for a URL that several patterns of equal length may match."""
        tied = tuple(self._matcher.tied(url))
        if not tied:
            return self._anywhere
        if tied not in self._by_ties:
            if len(self._by_ties) >= REMEMBERED:
                self._by_ties.clear()
            self._by_ties[tied] = self._make(self._together(tied))
        return self._by_ties[tied]

    def _together(self, tied: Sequence[int]) -> tuple[T, ...]:
        """Return the statements of some patterns in the order of the file."""
        pairs = [pair for at in tied for pair in self._statements[at]]
        return tuple(statement for _, statement in sorted(pairs, key=lambda pair: pair[0]))
