"""
RuleSet: the compiled rules of the groups that a crawler obeys (RFC 9309 §2.2.2).

Compiled once, immutable, safe to share between threads. A rule set is made from groups, not from a
product token, so that extension records with path patterns use the same matcher; they call
`tied_rules()`, which reports ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from robotrules._engine import engine as default_engine
from robotrules.octets import to_octets, to_text
from robotrules.profile import Profile, find_profile
from robotrules.robotstxt.reading import Reading
from robotrules.robotstxt.values import Rule
from robotrules.robotstxt.verdict import DISALLOWING, Reason, RuleSource, Verdict

URL = str | bytes
MAX_THREADS = 256
# The engine's results when no rule decides.
NO_MATCH, IMPLICIT = -1, -2
# Allowed and reason, by the two lowest bits of other results; the remaining bits are the rule's
# number.
_DECISIONS = (
    (False, Reason.DISALLOW_RULE),
    (True, Reason.ALLOW_RULE),
    (True, Reason.EMPTY_RULE),
    (True, Reason.EMPTY_RULE),
)


# The reasons by number, as engines have them in columns, each with whether it allows.
REASON_LABELS = tuple((str(reason), reason not in DISALLOWING) for reason in Reason)


class ArrowColumn(Protocol):
    """A column of Arrow data: pass it to `pyarrow.array()`, `polars.Series()` and the like."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return the schema and the data as capsules of the Arrow C Data Interface."""

    def __len__(self) -> int: ...


# Any object with `__arrow_c_array__` or `__arrow_c_stream__`; the engine checks it.
ArrowExporter = Any


def validate_threads(threads: object) -> int:
    """Return the number of threads, or raise an exception that says what to pass."""
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise TypeError(f"threads is {threads!r}: pass a number, or 0 for one thread per core")
    if threads < 0:
        raise ValueError(f"threads is {threads}: pass 1 or more, or 0 for one thread per core")
    return min(threads, MAX_THREADS)


class RuleSet:
    """Compiled rules. Rule sets are equal if they have the same rules and the same profile."""

    # An instance is also an engine's Matcher, so that a check is one call into the engine: see
    # `_make_class()`. `_engine/_native.pyi` lists the hooks that an engine calls.
    __slots__ = ()
    _profile: Profile
    _source: RuleSource
    _engine: Any

    if TYPE_CHECKING:
        # Members of the engine's Matcher, documented in `_native.pyi`.
        def __init__(self, of: Any, which: Any) -> None: ...

        tied: Callable[[URL], list[int]]
        find_matches: Callable[[URL], tuple[bytes, list[tuple[int, int]]]]
        count_usable: Callable[[], int]
        decide: Callable[[URL], int]
        allows_column: Callable[[ArrowExporter, int], ArrowColumn]
        decide_column: Callable[..., ArrowColumn]

    @property
    def profile(self) -> Profile:
        """The profile the rules were parsed with."""
        return self._profile

    @classmethod
    def from_patterns(
        cls, patterns: Iterable[str | bytes], profile: str | Profile = "default", engine: Any = None
    ) -> RuleSet:
        """Compile path patterns of any record; `tied_rules(url)` returns the winners' positions."""
        profile, engine = find_profile(profile), engine or default_engine
        settings = profile.settings(engine)
        if isinstance(patterns, (str, bytes)):
            raise TypeError(f"patterns are a list of str or bytes, not one: pass [{patterns!r}]")
        patterns = list(patterns)
        for pattern in patterns:
            if not isinstance(pattern, (str, bytes)):
                name = type(pattern).__name__
                raise TypeError(f"a path pattern is str or bytes such as '/private/', not {name}")
        written = [(to_octets(pattern), True) for pattern in patterns]
        forms = [engine.normal_form(pattern, True, settings) for pattern, _ in written]
        rules = tuple(
            Rule(True, to_text(pattern), to_text(form), len(form), 0, 0, 0, 0)
            for (pattern, _), form in zip(written, forms, strict=True)
        )
        return rule_set(engine, settings, written, _StoredRules(written, rules), profile)

    def allows(self, url: URL) -> bool:
        """Tell whether the rules allow *url*."""
        raise NotImplementedError

    def allows_many(self, urls: Iterable[URL]) -> list[bool]:
        """Tell for each URL whether the rules allow it, with one call into the engine."""
        raise NotImplementedError

    def check(self, url: URL) -> Verdict:
        """Return the verdict on *url*, with its reason and the deciding rule."""
        raise NotImplementedError

    def check_many(self, urls: Iterable[URL]) -> list[Verdict]:
        """Return the verdicts on many URLs, with one call into the engine."""
        raise NotImplementedError

    def allows_arrow(self, column: ArrowExporter, *, threads: int = 0) -> ArrowColumn:
        """
        Tell for each URL of an Arrow column whether the rules allow it, as a column of booleans.

        *column* is any object with `__arrow_c_array__` or `__arrow_c_stream__`, such as a
        `pyarrow.Array`, a `polars.Series` or a table with one column; its strings are not copied,
        and null stays null. *threads* 0: one for each core. The result has `__arrow_c_array__`:
        pass it to `pyarrow.array()` or `polars.Series()`.
        """
        return self.allows_column(column, validate_threads(threads))

    def decide_arrow(self, column: ArrowExporter, *, threads: int = 0) -> ArrowColumn:
        """
        Decide each URL of an Arrow column, as a struct of `allowed`, `reason` and `line`.

        The columns of `check_many()`: `reason` is a dictionary of the values of `Reason`, `line` is
        null where no rule decides. The arguments are those of `allows_arrow()`.
        """
        no_match = REASON_LABELS.index((str(self._find_reason(NO_MATCH)), True))
        lines = None if isinstance(self._source, Reading) else [rule.line for rule in self.rules]
        threads = validate_threads(threads)
        return self.decide_column(column, threads, REASON_LABELS, no_match, lines)

    def tied_rules(self, url: URL) -> tuple[int, ...]:
        """Return the positions of the rules that match with the most octets: those that tie."""
        return tuple(self.tied(url))

    def matches(self, url: URL) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the URL's path in normal form, and each match: position of the rule, octets."""
        path, matches = self.find_matches(url)
        return to_text(path), tuple(matches)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in the order of the file, including those that never match."""
        return self._source.rules()

    def _make_verdict(self, number: int) -> Verdict:
        """Return the verdict on a decision. A hook of the engine's Matcher: see `_native.pyi`."""
        if number >= 0:
            allowed, reason = _DECISIONS[number & 3]
            return Verdict(allowed, reason, (self._source, number >> 2), self._profile.name)
        return Verdict(True, self._find_reason(number), None, self._profile.name)

    def _find_reason(self, number: int) -> Reason:
        if number == IMPLICIT:
            return Reason.IMPLICIT
        if self.count_usable():
            return Reason.NO_MATCH
        return Reason.NO_GROUP if self._source.has_no_groups() else Reason.NO_RULES

    def __len__(self) -> int:
        return self._source.count()

    def __bool__(self) -> bool:
        return True  # an empty rule set is still a rule set

    def _identity(self) -> tuple[Any, ...]:
        return self.rules, self._profile, self._source.has_no_groups()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleSet):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        source = self._source
        return _unpickle, (source.written(), self.rules, source.has_no_groups(), self._profile)

    def __repr__(self) -> str:
        return f"<RuleSet: {len(self)} rules, profile {self._profile.name}>"


@cache
def _make_class(engine: Any) -> type[RuleSet]:
    """Return a class that is an engine's Matcher and a RuleSet; the engine's methods come first."""
    slots = ("_profile", "_source")
    members = {"__slots__": slots, "__module__": __name__, "_engine": engine}
    return cast("type[RuleSet]", type("RuleSet", (engine.Matcher, RuleSet), members))


def rule_set(engine: Any, of: Any, which: Any, source: RuleSource, profile: Profile) -> RuleSet:
    """Compile groups of a document, or patterns with settings; *source* has the rules."""
    rules = _make_class(engine)(of, which)
    rules._profile = profile  # type: ignore[misc]  # a slot of that class
    rules._source = source  # type: ignore[misc]  # a slot of that class
    return rules


class _StoredRules:
    """Rules that are not read from a file: given as patterns, or unpickled."""

    __slots__ = ("_no_groups", "_rules", "_written")

    def __init__(
        self, written: list[tuple[bytes, bool]], rules: tuple[Rule, ...], no_groups: bool = False
    ) -> None:
        self._written, self._rules, self._no_groups = written, rules, no_groups

    def rule(self, number: int) -> Rule:
        """Return a rule."""
        return self._rules[number]

    def rules(self) -> tuple[Rule, ...]:
        """Return all rules."""
        return self._rules

    def count(self) -> int:
        """Return how many rules there are."""
        return len(self._rules)

    def has_no_groups(self) -> bool:
        """Tell whether the crawler obeyed no group when the rules were compiled."""
        return self._no_groups

    def written(self) -> list[tuple[bytes, bool]]:
        """Return the patterns as written, each with whether it allows."""
        return self._written


def _unpickle(
    written: list[tuple[bytes, bool]], rules: tuple[Rule, ...], no_groups: bool, profile: Profile
) -> RuleSet:
    settings, source = profile.settings(default_engine), _StoredRules(written, rules, no_groups)
    return rule_set(default_engine, settings, written, source, profile)
