"""
The interface of an engine. The native engine is a compiled module; `pure.py` has the same names.

Arguments and results are `bytes`, `str`, `int`, `bool`, tuples and opaque handles. Positions are
octets of `Document.body`. No content raises an exception; a URL that is neither `str` nor `bytes`
raises `TypeError`. Handles are immutable and may be shared between threads.

Hooks: what an engine calls on Python objects
---------------------------------------------
`RobotsTxt` and `RuleSet` are subclasses of an engine's `File` and `Matcher`, so that a check is one
call into the engine. In turn an engine calls these methods. The list is complete: an engine uses no
other name of a Python object, except for the built-in types.

`Matcher` calls
    `_make_verdict(number)`: in `check()` and `check_many()`, once for each different decision of a
    matcher. *number* is as in `decide()`; the result is cached and returned. Implemented by
    `RuleSet` (`robotstxt/ruleset.py`) and by the matcher of `ScopedSet` (`extensions/scoped.py`).
`File` calls
    `rules_for(product_token, purposes)`: in `check()`, with purposes, or if the token is not a
    `str`; in the pure engine at every call. Implemented by `RobotsTxt` (`robotstxt/__init__.py`).
    `_rules_for_new_token(token)`: in `check()` of the native engine, for a token that is not in
    `_by_name`. It adds the rule set to `_by_name` and `_by_groups`. Implemented by `RobotsTxt`.
    `check(url)`: on the result of the two hooks above; the native engine calls it only if that is
    not an instance of its `Matcher`.
`FactsReader` calls
    `read_values(kind, values)`: in `read()`, for values of records that the engine does not parse;
    at least once for each different list of values. *kind* is `sitemaps` (returns the URLs),
    `applications` (returns their names), `content_usage` or `content_signal` (return pairs of a key
    and a value). Implemented by `bulk/file_facts.py`.
Both engines call
    `url_type_error(url)`: for a URL of a wrong type. It returns the `TypeError` to raise.
    Implemented by the module `_engine/url_type.py`.
    `__arrow_c_array__()` or `__arrow_c_stream__()`: of the columns that are passed to them.
    `fallback(prefix)`: an argument of functions on origins, for URLs whose host is not plain.

`File` has attributes for its subclass: `_document`, `_profile`, `_engine`, `_received`, `_by_name`,
`_by_groups`. Only the subclass writes to the two dicts; the native engine reads `_by_name`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Self, final, overload

__all__ = [
    "MISSING",
    "NO_ORIGIN",
    "VERSION",
    "ArrowColumn",
    "Document",
    "FactsJob",
    "FactsReader",
    "File",
    "Languages",
    "Matcher",
    "OriginIndex",
    "RuleTable",
    "Settings",
    "Timelines",
    "normal_form",
    "origins_column",
    "parse",
]

VERSION: Final[str]
"""The version of the compiled crate."""
MISSING: Final[int]
"""The number for an origin that is not in an `OriginIndex`, and for its state."""
NO_ORIGIN: Final[int]
"""The number for a URL that has no origin, and for its state."""

# A column: any object with `__arrow_c_array__` or `__arrow_c_stream__`. Columns of URLs have the
# type string, large_string, string_view, the same for binary, or a dictionary of these; other types
# raise `TypeError`. The native engine does not copy them; the pure engine reads them by pyarrow.
_Column = Any
# The reasons by number, each with whether it allows: those of `Reason`, and "missing".
_Labels = Sequence[tuple[str, bool | None]]

@final
class Settings:
    """The settings of a profile."""

    def __new__(
        cls,
        switches: Sequence[str],
        keys: Sequence[tuple[bytes, bytes, str, bool]],
        max_bytes: int,
        max_line: int | None,
    ) -> Settings:
        """
        *switches*: names of the departures that are on; an unknown name raises `ValueError`.
        *keys*: spelling, canonical name, role (`START`, `RULE`, `OTHER`), and whether the name may
        appear without a colon and be recognized by its prefix.
        """

@final
class Document:
    """A parsed file: its body, and the positions of lines, records and groups."""

    @property
    def body(self) -> bytes:
        """The octets that were parsed: the file as received, truncated at the limit, or decoded."""

    @property
    def complete(self) -> bool:
        """Whether the last octet of the body is the last octet of the file."""

    def records(self) -> list[tuple[int, int, int, int, int, int, bytes, str, int]]:
        """Line, line start, key start, key end, value start, value end, key, role, group or -1."""

    def record(self, number: int) -> tuple[int, int, int, int, int, int, bytes, str, int] | None:
        """A record by its position in `records()`."""

    def lines(self) -> list[tuple[int, int, int, int | None]]:
        """Number, start, end, and where the comment starts."""

    def notes(self) -> list[tuple[str, int, int, int]]:
        """Code, line (0: the file), start, end; by start."""

    def group_count(self) -> int:
        """The number of groups."""

    def select(self, key: bytes, token: str | bytes) -> list[int]:
        """
        The groups in which a *key* line names *token*: user-agent lines as in RFC 9309 §2.2.1,
        where `*` selects the star groups; another START record by its whole value.
        """

    def choose(self, token: str | bytes) -> tuple[list[int], bool]:
        """The groups that name *token*, and True; else the star groups, and False."""

    def rules(self, groups: Sequence[int]) -> list[int]:
        """The numbers of the allow and disallow records of *groups*, merged in order."""

@final
class FactsReader:
    """Facts about files, as Arrow columns, with the settings of a profile and for some crawlers."""

    def __new__(
        cls,
        settings: Settings,
        crawlers: Sequence[tuple[str, Sequence[bytes], bool]],
        first_star_group_only: bool,
        read_values: Any,
    ) -> FactsReader:
        """
        *crawlers*: product token, the names that the profile compares in order of preference, its
        own first (an empty name is not compared), and whether it ignores the star groups.
        *read_values* is a hook.
        """

    def read(self, bodies: _Column, states: bytes, threads: int) -> ArrowColumn:
        """
        A struct of columns for a column of files. *states* has an octet for each row: 0 for a file,
        1 for a truncated file, 2 if it is unavailable, 3 if it is unreachable, 4 if it is missing.
        Rows without a file have nulls, except for the coverage of crawlers.
        """

    def start(self, bodies: _Column, states: bytes, threads: int) -> FactsJob:
        """Begin to `read()`; the files are read while the interpreter does something else."""

@final
class FactsJob:
    """Facts that are being read. One that is dropped waits for its end."""

    def result(self) -> ArrowColumn:
        """What `FactsReader.read()` returns; it waits, and can be called once."""

class Matcher:
    """
    Path patterns, compiled at the second URL.

    The base class of `robotrules.RuleSet`. A subclass implements the hook `_make_verdict()`.
    """

    @overload
    def __new__(cls, source: Document, selection: Sequence[int]) -> Self:
        """The rules of some groups; the number of a rule is its position in `Document.rules()`."""

    @overload
    def __new__(cls, source: Settings, selection: Sequence[tuple[bytes, bool]]) -> Self:
        """Patterns without a document; the flag says whether a pattern allows, and wins ties."""

    def count_usable(self) -> int:
        """The number of patterns that can match."""

    def allows(self, url: str | bytes) -> bool:
        """Whether the rules allow *url*."""

    def allows_many(self, urls: Iterable[str | bytes]) -> list[bool]:
        """`allows()` for many URLs; long chunks run with the interpreter lock (GIL) released."""

    def check(self, url: str | bytes) -> Any:
        """`self._make_verdict(number)` of `decide()`: a hook of the subclass, called once."""

    def decide(self, url: str | bytes) -> int:
        """
        The decision: -1 no rule matches, -2 the path is `/robots.txt`, else the number of the
        deciding rule shifted left by two, plus its outcome: 0 disallow, 1 allow, 3 empty rule.
        """

    def decide_many(self, urls: Iterable[str | bytes]) -> list[int]:
        """`decide()` for many URLs."""

    def check_many(self, urls: Iterable[str | bytes]) -> list[Any]:
        """`check()` for many URLs."""

    def allows_column(self, urls: _Column, threads: int) -> ArrowColumn:
        """
        `allows()` for a column of URLs, as a column of booleans; null stays null.

        The interpreter lock (GIL) is released. *threads* 0: one for each core.
        """

    def decide_column(
        self,
        urls: _Column,
        threads: int,
        labels: _Labels,
        no_match: int,
        lines: Sequence[int] | None = None,
    ) -> ArrowColumn:
        """
        A struct of `allowed`, `reason` (a dictionary of *labels*) and `line` for a column of URLs.

        *no_match* is the number of the reason where no rule matches. *lines* are those of the
        rules; by default those of the document.
        """

    def tied(self, url: str | bytes) -> list[int]:
        """The numbers of the patterns that tie for the greatest specificity."""

    def find_matches(self, url: str | bytes) -> tuple[bytes, list[tuple[int, int]]]:
        """The path of *url*; number and specificity in octets of each match, greatest first."""

class File:
    """
    A parsed file with a cache of rule sets by product token.

    The base class of `robotrules.RobotsTxt`, which implements the hooks `rules_for()` and
    `_rules_for_new_token()`.
    """

    def __new__(
        cls, profile: Any, engine: Any, settings: Settings, body: bytes, complete: bool
    ) -> Self:
        """Parse *body*, and keep the arguments."""

    @property
    def _document(self) -> Document:
        """The result of `parse()`."""

    @property
    def _profile(self) -> Any:
        """The argument *profile*."""

    @property
    def _engine(self) -> Any:
        """The argument *engine*."""

    @property
    def _received(self) -> bytes:
        """The argument *body*."""

    @property
    def _by_name(self) -> dict[Any, Any]:
        """A cache of rule sets by product token; empty at first, and filled by the subclass."""

    @property
    def _by_groups(self) -> dict[Any, Any]:
        """A cache of rule sets by the numbers of groups; filled by the subclass."""

    def check(
        self, url: str | bytes, product_token: str | Sequence[str], purposes: Sequence[str] = ()
    ) -> Any:
        """`check(url)` of the rule set for the token, which a hook of the subclass returns."""

@final
class Languages:
    """
    Path patterns as DFAs: paths that some of them match and others do not.

    Patterns are compiled as by `Matcher`, and are in order of precedence.
    """

    def __new__(cls, settings: Settings, patterns: Sequence[tuple[bytes, bool]]) -> Languages:
        """Patterns as written in a file; the flag says whether a pattern allows, and wins ties."""

    def entries(self) -> list[tuple[int, bytes, int]]:
        """
        The patterns that can match: number of the rule, normal form, and outcome, coded as in
        `Matcher.decide()`. The number is -2 for `/robots.txt` itself, which is the first entry.
        """

    def find_witness(
        self,
        decision_lists: Sequence[tuple[Sequence[int], bool]],
        max_states: int,
        shorter_than: int | None = None,
        shortest: bool = True,
    ) -> tuple[bool, bytes | None, int, list[list[int]]]:
        """
        Search for a shortest path that all *decision_lists* accept.

        A decision list has clauses in order of precedence, and a default for paths that no clause
        matches. A clause is a position in `entries()`, shifted left by one, plus 1 to accept; a
        position out of range raises `IndexError`. Only paths of less than *shorter_than* octets are
        returned; with *shortest* False, any of them, which costs less. Returns whether the search
        finished within *max_states* states; the path, if there is one; the number of states; and
        the entries of each decision list that rejected a path during the search. The interpreter
        lock (GIL) is released.
        """

    def first_match(self, entries: Sequence[int], path: bytes) -> int:
        """The first of some positions in `entries()` whose pattern matches a path, or -1."""

@final
class ArrowColumn:
    """A column of Arrow data that an engine made."""

    def __arrow_c_schema__(self) -> object:
        """The type, as a capsule of the Arrow C Data Interface."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The type and the data, as capsules; *requested_schema* is ignored."""

    def __len__(self) -> int: ...

@final
class OriginIndex:
    """Origins by number, from 0 in the order in which they were added."""

    def __new__(cls) -> OriginIndex: ...
    def add(self, origins: _Column) -> ArrowColumn:
        """Add origins in normal form; their numbers (uint32), also of those that were there."""

    def find(
        self, urls: _Column, threads: int, fallback: Callable[[bytes], str | None]
    ) -> ArrowColumn:
        """
        The number of each URL's origin (uint32): `MISSING` if it is not there, `NO_ORIGIN` if the
        URL has none, null for null. *fallback* is as in `origins_column()`.
        """

    def origin(self, number: int) -> str:
        """An origin by its number; an unknown one raises `IndexError`."""

    @property
    def memory(self) -> int:
        """The octets that it occupies."""

    def __len__(self) -> int: ...

@final
class Timelines:
    """The states of origins over time."""

    def __new__(cls) -> Timelines: ...
    def set(self, origin: int, times: Sequence[float], states: Sequence[int]) -> None:
        """Set the states of an origin, each in force from its time on; the times are sorted."""

    def missing(self, origins: _Column) -> list[int]:
        """The different numbers of origins in a column that are not set."""

    def find(self, origins: _Column, at: _Column | None = None) -> ArrowColumn:
        """
        The state (uint32) of each origin at its time (float64), or at the last time.

        `MISSING` before the first time, and where an origin is not set; null for a null.
        """

    def clear(self) -> None:
        """Remove all."""

    def __len__(self) -> int: ...

@final
class RuleTable:
    """Rule sets by the number of a state: a join of URLs with the states of their origins."""

    def __new__(cls, labels: _Labels) -> RuleTable: ...
    def missing(self, states: _Column) -> list[int]:
        """The different states of a column (uint32) without rules; the others count as used."""

    def set(self, state: int, rules: Matcher | int, size: int) -> None:
        """
        Set the rules of a state, which occupy *size* octets.

        A matcher of a document, or the number of a reason that is the same for all URLs.
        """

    def evict(self, max_bytes: int) -> int:
        """Remove the least recently used rules until the rest fits; return how many."""

    @property
    def size(self) -> int:
        """The octets that all rules occupy."""

    def decide(self, urls: _Column, states: _Column, threads: int) -> ArrowColumn:
        """
        A struct of `allowed`, `reason`, `line` and `rule` for each URL, by the rules of its state.

        A state without rules raises `KeyError`. The interpreter lock (GIL) is released.
        """

def origins_column(
    urls: _Column, threads: int, fallback: Callable[[bytes], str | None]
) -> ArrowColumn:
    """
    The origin of each URL as a column of strings; null if it has none.

    *fallback* returns the origin of a URL that consists of a scheme and an authority, if its host
    is not plain: for international names, addresses and the like. It is called once for each.
    """

def parse(body: bytes, settings: Settings, complete: bool) -> Document:
    """Parse a file; *complete* is False if it was truncated before."""

def normal_form(text: str | bytes, pattern: bool, settings: Settings) -> bytes:
    """The percent-encoding normal form of the path of a URL, or of a path pattern."""
