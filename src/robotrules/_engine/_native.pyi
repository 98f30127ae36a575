"""
The contract of an engine. The native one has it compiled; `pure.py` has it in Python.

What crosses is `bytes`, `str`, `int`, `bool`, tuples and opaque handles. Positions are octets of
`Document.body`. Nothing here raises on content; a URL that is neither `str` nor `bytes` is a
`TypeError`. Handles are immutable and may be shared between threads.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Self, final, overload

__all__ = [
    "VERSION",
    "Document",
    "File",
    "Languages",
    "Matcher",
    "Settings",
    "normal_form",
    "parse",
]

VERSION: Final[str]
"""The version of the compiled crate."""

@final
class Settings:
    """A profile as the engine wants it."""

    def __new__(
        cls,
        switches: Sequence[str],
        keys: Sequence[tuple[bytes, bytes, str, bool]],
        max_bytes: int,
        max_line: int | None,
    ) -> Settings:
        """
        *switches*: names of the departures that are on; an unknown one is a `ValueError`.
        *keys*: spelling, canonical name, role (`START`, `RULE`, `OTHER`), and whether it may stand
        without a colon and be known by its beginning.
        """

@final
class Document:
    """A parsed file: its body and the positions of what is in it."""

    @property
    def body(self) -> bytes:
        """The octets that were parsed: the file as received, cut at the limit, or decoded."""

    @property
    def complete(self) -> bool:
        """Whether the last octet of the body is the last of the file."""

    def records(self) -> list[tuple[int, int, int, int, int, int, bytes, str, int]]:
        """Line, line start, key start, key end, value start, value end, key, role, group or -1."""

    def record(self, number: int) -> tuple[int, int, int, int, int, int, bytes, str, int] | None:
        """One of `records()`."""

    def lines(self) -> list[tuple[int, int, int, int | None]]:
        """Number, start, end, and where the comment starts."""

    def notes(self) -> list[tuple[str, int, int, int]]:
        """Code, line (0: the file), start, end; by start."""

    def group_count(self) -> int:
        """How many groups there are."""

    def select(self, key: bytes, token: str | bytes) -> list[int]:
        """
        The groups one of whose *key* lines names *token*. Of user-agent lines as RFC 9309 §2.2.1
        says, and `*` asks for the star groups; of another START record by its whole value.
        """

    def choose(self, token: str | bytes) -> tuple[list[int], bool]:
        """The groups whose user-agent lines name *token*, and True; else the star's, and False."""

    def rules(self, groups: Sequence[int]) -> list[int]:
        """The numbers of the allow and disallow records of *groups*, merged in order."""

class Matcher:
    """
    Path patterns, compiled at the second question.

    `robotrules.RuleSet` is made of it, so that a call crosses once.
    """

    @overload
    def __new__(cls, of: Document, which: Sequence[int]) -> Self:
        """The rules of some groups; a rule's number is its position in `Document.rules()`."""

    @overload
    def __new__(cls, of: Settings, which: Sequence[tuple[bytes, bool]]) -> Self:
        """Patterns that stand alone; the flag says whether a pattern wins ties."""

    def usable(self) -> int:
        """How many patterns can match."""

    def allows(self, url: str | bytes) -> bool:
        """Whether the rules allow *url*."""

    def allows_many(self, urls: Iterable[str | bytes]) -> list[bool]:
        """The same for many, a chunk at a time with the interpreter lock released."""

    def check(self, url: str | bytes) -> Any:
        """What `self._verdict(number)`, which a subclass has, makes of `decide()`; made once."""

    def decide(self, url: str | bytes) -> int:
        """
        What decides: -1 no rule, -2 the path is `/robots.txt`, else the number of the rule shifted
        left by two, plus 0 for disallow, 1 for allow, 3 for an empty rule.
        """

    def decide_many(self, urls: Iterable[str | bytes]) -> list[int]:
        """The same for many."""

    def check_many(self, urls: Iterable[str | bytes]) -> list[Any]:
        """`check()` for many."""

    def tied(self, url: str | bytes) -> list[int]:
        """The numbers of the patterns that match with the most octets: those that tie."""

    def found(self, url: str | bytes) -> tuple[bytes, list[tuple[int, int]]]:
        """The path of *url*, and number and octets of each match, the most specific first."""

class File:
    """A parsed file as it is asked. `robotrules.RobotsTxt` is made of it and has `rules_for()`."""

    def __new__(
        cls, profile: Any, engine: Any, settings: Settings, body: bytes, complete: bool
    ) -> Self:
        """Parse a file, and keep what it was parsed with."""

    @property
    def _document(self) -> Document:
        """What `parse()` gives."""

    @property
    def _profile(self) -> Any:
        """As given."""

    @property
    def _engine(self) -> Any:
        """As given."""

    @property
    def _received(self) -> bytes:
        """The body as given."""

    @property
    def _by_name(self) -> dict[Any, Any]:
        """The rule sets of those who asked; empty at first, and filled by `rules_for()`."""

    @property
    def _by_groups(self) -> dict[Any, Any]:
        """The same by the numbers of groups."""

    def check(
        self, url: str | bytes, product_token: str | Sequence[str], purposes: Sequence[str] = ()
    ) -> Any:
        """What `self.rules_for(product_token, purposes)`, which a subclass has, says of *url*."""

@final
class Languages:
    """
    Path patterns as automata: which paths some of them match and others not.

    Patterns are compiled as by `Matcher`, and stand in the order of precedence.
    """

    def __new__(cls, settings: Settings, patterns: Sequence[tuple[bytes, bool]]) -> Languages:
        """Patterns as written in a file; the flag says whether a pattern wins ties."""

    def entries(self) -> list[tuple[int, bytes, int]]:
        """
        The patterns that can match: number of the rule, normal form, and what it says, as in
        `Matcher.decide()`. The number is -2 for `/robots.txt` itself, which stands above all.
        """

    def seek(
        self,
        ladders: Sequence[tuple[Sequence[int], bool]],
        budget: int,
        shorter_than: int | None = None,
        shortest: bool = True,
    ) -> tuple[bool, bytes | None, int, list[list[int]]]:
        """
        Seek a shortest path to which all *ladders* say yes.

        A ladder has rungs in the order in which they are asked, and the word for paths that none of
        them matches. A rung is a position in `entries()`, shifted left by one, plus 1 for yes; one
        that is of no entry is an `IndexError`. Only paths of less than *shorter_than* octets count;
        where *shortest* is False any of them will do, and costs less. Returns whether it was
        decided within *budget* states; the path, if there is one; how many states were seen; and
        the entries of each ladder that said no to what was found on the way. The interpreter lock
        is released.
        """

    def decider(self, entries: Sequence[int], path: bytes) -> int:
        """The first of some positions in `entries()` whose pattern matches a path, or -1."""

def parse(body: bytes, settings: Settings, complete: bool) -> Document:
    """Parse a file; *complete* is False when it was cut before it got here."""

def normal_form(text: str | bytes, pattern: bool, settings: Settings) -> bytes:
    """The form in which a URL's path, or a path pattern, is compared."""
