"""
Columns of URLs in plain Python: the bulk half of the pure engine.

The native engine reads Arrow data by the C Data Interface; this module reads it with pyarrow, which
is imported on first use, and has the same functions, classes and answers. It is for machines where
nothing was compiled, and for tests: a URL costs some microseconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robotrules._engine.pure import Matcher

Labels = Sequence[tuple[str, bool | None]]

# Numbers of origins and states with a meaning of their own: a URL without an origin, and one whose
# origin is not known. Null is a null.
NO_ORIGIN, MISSING = 2**32 - 1, 2**32 - 2
_MAX_NUMBER = 2**32 - 17
# Reasons by number, in the order of `robotstxt.verdict.Reason`.
_ALLOW_RULE, _DISALLOW_RULE, _NO_MATCH, _NO_RULES, _NO_GROUP, _IMPLICIT, _EMPTY_RULE = range(7)
_NO_ORIGIN_REASON, _MISSING_REASON = 10, 11
# The reason for a decision, by its two lowest bits.
_RULE_REASONS = (_DISALLOW_RULE, _ALLOW_RULE, _EMPTY_RULE, _EMPTY_RULE)

# Origins that need no work: lower case, letters and digits, no port, no international name. The
# last label starts with a letter, so the host is not an address. `find_origin` has the others.
_NORMAL_ORIGIN = r"^(?P<origin>https?://(?:[a-z0-9_-]{1,63}\.)*[a-z][a-z0-9_-]{0,62})(?:[/?#]|$)"
# "http://" and the longest host name (RFC 1035 §2.3.4).
_MAX_NORMAL_LENGTH = 7 + 253


def import_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its functions; this engine reads columns with them."""
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        raise ImportError(
            "pyarrow is not installed, and the pure engine reads columns with it: "
            "pip install 'robotrules[bulk]'"
        ) from None
    return pyarrow, pyarrow.compute


def read_octets(column: Any) -> Any:
    """Return a column of text or bytes, or the only column of a table, as large_binary."""
    pa, _ = import_pyarrow()
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        array = column
    elif hasattr(column, "__arrow_c_stream__"):
        array = pa.chunked_array(column)
    elif hasattr(column, "__arrow_c_array__"):
        array = pa.array(column)
    else:
        raise TypeError(
            f"{type(column).__name__} is not an Arrow column: pass an object with "
            "__arrow_c_array__ or __arrow_c_stream__, such as pyarrow.array(urls) or "
            "polars.Series(urls)"
        )
    array = _join_chunks(_only_column(array))
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        array = array.storage
        kind = array.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind):
        return pa.nulls(len(array), pa.large_binary())
    if not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary_view(kind)
    ):
        raise TypeError(
            "a column of URLs has the type string, large_string, string_view, binary or a "
            f"dictionary of these, not {kind}: cast it"
        )
    if pa.types.is_dictionary(array.type):
        return array.dictionary.cast(pa.large_binary()).take(array.indices)
    return array.cast(pa.large_binary())


def _only_column(array: Any) -> Any:
    """Return the only column of a table, which is an array of structs; a column stays as it is."""
    pa, pc = import_pyarrow()
    if not pa.types.is_struct(array.type):
        return array
    if array.type.num_fields != 1:
        names = [array.type.field(at).name for at in range(array.type.num_fields)]
        raise TypeError(f"this is a table with the columns {names}: pass one of them")
    if array.null_count:
        raise ValueError("a table has null rows: pass its column instead")
    return pc.struct_field(array, [0])


def _join_chunks(array: Any) -> Any:
    pa, _ = import_pyarrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # too long for one array of its type
            array = pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in array.chunks])
    return array


def origins_column(column: Any, threads: int, fallback: Callable[[bytes], str | None]) -> Any:
    """Return the origin of each URL; null where there is none."""
    pa, pc = import_pyarrow()
    octets = read_octets(column)
    normal = pc.struct_field(pc.extract_regex(octets, pattern=_NORMAL_ORIGIN), [0])
    is_normal = pc.and_(
        pc.less_equal(pc.binary_length(normal), _MAX_NORMAL_LENGTH),
        pc.invert(pc.match_substring(normal, pattern="xn--")),
    )
    is_normal = pc.fill_null(is_normal, False)
    origins = pc.if_else(is_normal, normal, None).cast(pa.string())
    rest = pc.and_(pc.invert(is_normal), pc.is_valid(octets))
    if not pc.any(rest).as_py():
        return origins
    values = octets.filter(rest).to_pylist()
    found = {value: fallback(value) for value in set(values)}
    others = pa.array([found[value] for value in values], pa.string())
    return pc.replace_with_mask(origins, rest, others)


# --- One rule set ---------------------------------------------------------------------------------


def allows_column(matcher: Matcher, column: Any) -> Any:
    """Return whether each URL is allowed."""
    pa, _ = import_pyarrow()
    octets = read_octets(column)
    allowed = {url: matcher.allows(url) for url in _distinct(octets)}
    return pa.array([allowed.get(url) for url in octets.to_pylist()], pa.bool_())


def decide_column(
    matcher: Matcher, column: Any, labels: Labels, no_match: int, lines: Sequence[int] | None
) -> Any:
    """Return the decision on each URL, as a struct of `allowed`, `reason` and `line`."""
    pa, _ = import_pyarrow()
    octets = read_octets(column)
    if lines is None:
        lines = [line for line, _ in matcher.rule_lines()]
    answers: dict[bytes | None, tuple[int, int | None]] = {}
    for url in _distinct(octets):
        decision = matcher.decide(url)
        reason, rule = _read_decision(decision, no_match)
        answers[url] = reason, lines[rule] if rule is not None else None
    rows = [answers.get(url) for url in octets.to_pylist()]
    return pa.StructArray.from_arrays(
        [
            pa.array([None if row is None else labels[row[0]][1] for row in rows], pa.bool_()),
            _make_reasons([None if row is None else row[0] for row in rows], labels),
            pa.array([None if row is None else row[1] for row in rows], pa.uint32()),
        ],
        names=["allowed", "reason", "line"],
        mask=pa.array([row is None for row in rows], pa.bool_()),
    )


def _distinct(octets: Any) -> Iterator[bytes]:
    _, pc = import_pyarrow()
    return (url for url in pc.unique(octets).to_pylist() if url is not None)


def _read_decision(decision: int, no_match: int) -> tuple[int, int | None]:
    """Return the reason for a decision, and the number of the deciding rule."""
    if decision >= 0:
        return _RULE_REASONS[decision & 3], decision >> 2
    return no_match if decision == -1 else _IMPLICIT, None


def _make_reasons(numbers: list[int | None], labels: Labels) -> Any:
    pa, _ = import_pyarrow()
    names = pa.array([name for name, _ in labels], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), names)


# --- Origins and states by number -----------------------------------------------------------------


class OriginIndex:
    """Origins, numbered from 0 in the order in which they were added."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._origins: list[str] = []

    def add(self, origins: Any) -> Any:
        pa, _ = import_pyarrow()
        numbers: list[int | None] = []
        known = self._numbers
        for octets in read_octets(origins).to_pylist():
            if octets is None:
                numbers.append(None)
                continue
            origin = octets.decode("utf-8", "replace")
            if origin not in known:
                known[origin] = len(known)
                self._origins.append(origin)
            numbers.append(known[origin])
        return pa.array(numbers, pa.uint32())

    def find(self, urls: Any, threads: int, fallback: Callable[[bytes], str | None]) -> Any:
        pa, pc = import_pyarrow()
        octets = read_octets(urls)
        origins = origins_column(octets, threads, fallback).to_pylist()
        known = self._numbers
        numbers = [NO_ORIGIN if name is None else known.get(name, MISSING) for name in origins]
        return pc.if_else(pc.is_valid(octets), pa.array(numbers, pa.uint32()), None)

    def origin(self, number: int) -> str:
        if not 0 <= number < len(self._origins):
            raise IndexError(f"there is no origin {number}")
        return self._origins[number]

    @property
    def memory(self) -> int:
        """The bytes that the index occupies, about."""
        return sum(map(len, self._origins)) + 200 * len(self._origins)

    def __len__(self) -> int:
        return len(self._origins)


class Timelines:
    """States of origins over time."""

    def __init__(self) -> None:
        self._by_origin: dict[int, tuple[list[float], list[int]]] = {}

    def set(self, origin: int, times: Sequence[float], states: Sequence[int]) -> None:
        times, states = list(times), list(states)
        if len(times) != len(states) or times != sorted(times):
            raise ValueError("a timeline has as many states as times, and its times are sorted")
        self._by_origin[origin] = times, states

    def missing(self, origins: Any) -> list[int]:
        return list(
            dict.fromkeys(
                number
                for number in _read_numbers(origins, "uint32")
                if number is not None and number <= _MAX_NUMBER and number not in self._by_origin
            )
        )

    def find(self, origins: Any, at: Any = None) -> Any:
        pa, _ = import_pyarrow()
        numbers = _read_numbers(origins, "uint32")
        times = [None] * len(numbers) if at is None else _read_numbers(at, "float64")
        if len(times) != len(numbers):
            raise ValueError("the columns of origins and times differ in length")
        found = [
            self._find(number, time, at is None)
            for number, time in zip(numbers, times, strict=True)
        ]
        return pa.array(found, pa.uint32())

    def _find(self, number: int | None, time: float | None, last: bool) -> int | None:
        if number is None or number > _MAX_NUMBER:
            return number
        times, states = self._by_origin.get(number, ((), ()))
        if last:
            return states[-1] if states else MISSING
        if number in self._by_origin and (time is None or time != time):
            return None
        after = bisect_right(times, time) if time is not None else 0
        return states[after - 1] if after else MISSING

    def clear(self) -> None:
        self._by_origin.clear()

    def __len__(self) -> int:
        return len(self._by_origin)


def _read_numbers(column: Any, kind: str) -> list[Any]:
    pa, _ = import_pyarrow()
    is_array = isinstance(column, (pa.Array, pa.ChunkedArray))
    values: list[Any] = (column if is_array else pa.array(column)).cast(kind).to_pylist()
    return values


class RuleTable:
    """Rule sets by the number of a state, for a join of URLs with the states of their origins."""

    def __init__(self, labels: Labels) -> None:
        self._labels = tuple(labels)
        if len(self._labels) <= _MISSING_REASON:
            raise ValueError("labels are those of all reasons, and 'missing'")
        self._slots: dict[int, tuple[Matcher | int, int]] = {}  # the last used is the last
        self._size = 0

    def missing(self, states: Any) -> list[int]:
        missing = []
        for state in dict.fromkeys(_read_numbers(states, "uint32")):
            if state is None or state > _MAX_NUMBER:
                continue
            if state in self._slots:
                self._slots[state] = self._slots.pop(state)
            else:
                missing.append(state)
        return missing

    def set(self, state: int, rules: Matcher | int, size: int) -> None:
        if not 0 <= state <= _MAX_NUMBER:
            raise ValueError(f"{state} is not the number of a state")
        if isinstance(rules, int):
            if not 0 <= rules < len(self._labels):
                raise TypeError("rules are a RuleSet or the number of a reason")
        elif not hasattr(rules, "rule_lines"):
            raise TypeError("rules are a RuleSet or the number of a reason")
        _, old = self._slots.pop(state, (0, 0))
        self._slots[state] = rules, size
        self._size += size - old

    def evict(self, max_bytes: int) -> int:
        evicted = 0
        while self._size > max_bytes and self._slots:
            _, size = self._slots.pop(next(iter(self._slots)))
            self._size -= size
            evicted += 1
        return evicted

    @property
    def size(self) -> int:
        return self._size

    def decide(self, urls: Any, states: Any, threads: int) -> Any:
        pa, _ = import_pyarrow()
        texts, numbers = read_octets(urls).to_pylist(), _read_numbers(states, "uint32")
        if len(texts) != len(numbers):
            raise ValueError("the columns of URLs and states differ in length")
        decide = _Decider(self._slots)
        rows = [decide.row(url, state) for url, state in zip(texts, numbers, strict=True)]
        labels = self._labels
        names = {text: number for number, text in enumerate(decide.texts)}
        rules = [None if row is None or row[2] is None else names[row[2]] for row in rows]
        return pa.StructArray.from_arrays(
            [
                pa.array([None if row is None else labels[row[0]][1] for row in rows], pa.bool_()),
                _make_reasons([None if row is None else row[0] for row in rows], labels),
                pa.array([None if row is None else row[1] for row in rows], pa.uint32()),
                pa.DictionaryArray.from_arrays(
                    pa.array(rules, pa.int32()), pa.array(list(names), pa.string())
                ),
            ],
            names=["allowed", "reason", "line", "rule"],
            mask=pa.array([row is None for row in rows], pa.bool_()),
        )


class _Decider:
    """Decides rows of a batch: each pair of URL and state once."""

    def __init__(self, slots: dict[int, tuple[Matcher | int, int]]) -> None:
        self._slots = slots
        self._rules: dict[int, tuple[int, list[tuple[int, str]]]] = {}
        self._known: dict[tuple[bytes, int], tuple[int, int | None, str | None]] = {}
        self.texts: dict[str, None] = {}

    def row(
        self, url: bytes | None, state: int | None
    ) -> tuple[int, int | None, str | None] | None:
        """Return the reason, the line and the text of the rule; None for a null."""
        if url is None or state is None:
            return None
        if state in (NO_ORIGIN, MISSING):
            return _NO_ORIGIN_REASON if state == NO_ORIGIN else _MISSING_REASON, None, None
        answer = self._known.get((url, state))
        if answer is None:
            answer = self._known[url, state] = self._decide(url, state)
        return answer

    def _decide(self, url: bytes, state: int) -> tuple[int, int | None, str | None]:
        if state not in self._slots:
            raise KeyError(f"there are no rules for state {state}: see missing()")
        matcher, _ = self._slots[state]
        if isinstance(matcher, int):
            return matcher, None, None
        if state not in self._rules:
            no_match = _NO_MATCH
            if not matcher.count_usable():
                no_match = _NO_RULES if matcher.has_groups() else _NO_GROUP
            self._rules[state] = no_match, matcher.rule_lines()
        no_match, lines = self._rules[state]
        reason, rule = _read_decision(matcher.decide(url), no_match)
        if rule is None:
            return reason, None, None
        line, text = lines[rule]
        self.texts[text] = None
        return reason, line, text
