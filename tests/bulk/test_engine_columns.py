"""Columns in the engines: both give the answers of one URL at a time."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

import robotrules
from robotrules.http.origins import origin_of
from robotrules.robotstxt.ruleset import REASON_LABELS
from tests.conftest import find_engine

NO_ORIGIN, MISSING = 2**32 - 1, 2**32 - 2
LABELS = (*REASON_LABELS, ("missing", None))
BODIES = [
    b"",
    b"User-agent: *\nDisallow: /a\nAllow: /a/b$\nDisallow: /*.gif\n",
    b"User-agent: *\nDisallow:\n",
    b"User-agent: other\nDisallow: /\n",
    "User-agent: *\nDisallow: /ä\nAllow: /\u00fc*%41\n".encode(),
    b"User-agent: *\nDisallow: /\nAllow: /index.html",
    b"User-agent: *\nDisallow: /\xff\xe2\x28\nAllow: /",
]
URLS = st.one_of(
    st.sampled_from(
        [
            *("https://a.example/a", "https://a.example/a/b", "/robots.txt", "", "x.gif", "//h/a"),
            *("https://a.example/%C3%A4", "https://ü.example/ä", "https://a.example/ü/A", "/a/b?"),
            *("https://a.example/./robots.txt", "http://a.example:80/a/../a/b", "mailto:a@b"),
            "https://a.example/%ff%e2%28",
        ]
    ),
    st.text(max_size=20),
    st.text(max_size=20).map(lambda text: f"https://a.example/{text}"),
)
TYPES = [
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()),
    *(pa.binary_view(), pa.dictionary(pa.int16(), pa.string())),
]


def make_column(urls: list[str | None], kind: pa.DataType) -> pa.Array:
    """Return a column of a type, as a slice of a longer one."""
    texts = ["https://left.out/", *urls]
    octets = [None if url is None else url.encode("utf-8", "surrogatepass") for url in texts]
    array = pa.array(octets, pa.large_binary())
    if kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        return array.cast(kind).slice(1)
    return array.cast(pa.large_string(), safe=False).cast(kind).slice(1)


@pytest.mark.parametrize("name", ["native", "pure"])
@given(st.lists(st.none() | URLS, max_size=12), st.sampled_from(BODIES), st.sampled_from(TYPES))
def test_a_column_has_the_verdicts_of_its_urls(
    name: str, urls: list[str | None], body: bytes, kind: pa.DataType
) -> None:
    """`allows_arrow` and `decide_arrow` are `check` for each URL; null stays null."""
    rules = robotrules.parse(body, engine=find_engine(name)).rules_for("bot")
    verdicts = [None if url is None else rules.check(url) for url in urls]
    column = make_column(urls, kind)
    allowed = pa.array(rules.allows_arrow(column)).to_pylist()
    assert allowed == [None if verdict is None else verdict.allowed for verdict in verdicts]
    decided = pa.array(rules.decide_arrow(column, threads=2)).to_pylist()
    assert decided == [
        None
        if verdict is None
        else {"allowed": verdict.allowed, "reason": str(verdict.reason), "line": verdict.line}
        for verdict in verdicts
    ]


@pytest.mark.parametrize("name", ["native", "pure"])
@given(
    st.lists(st.tuples(st.none() | URLS, st.integers(0, len(BODIES) + 1)), max_size=20),
    st.sampled_from(TYPES),
)
def test_a_join_has_the_verdicts_of_its_urls(
    name: str, rows: list[tuple[str | None, int]], kind: pa.DataType
) -> None:
    """`RuleTable.decide` is `check` with the rules of the row's state."""
    engine = find_engine(name)
    table = engine.RuleTable(LABELS)
    numbers = {len(BODIES): MISSING, len(BODIES) + 1: NO_ORIGIN}
    states = pa.array(
        [None if url is None else numbers.get(state, state) for url, state in rows], pa.uint32()
    )
    column = make_column([url for url, _ in rows], kind)
    files = [robotrules.parse(body, engine=engine) for body in BODIES]
    missing = table.missing(states)
    assert sorted(missing) == sorted(
        {state for url, state in rows if url is not None and state < len(BODIES)}
    )
    for state in missing:
        table.set(state, files[state].rules_for("bot"), 10)
    assert (table.missing(states), table.size) == ([], 10 * len(missing))
    expected: list[Any] = []
    for url, state in rows:
        if url is None:
            expected.append(None)
        elif state >= len(BODIES):
            reason, allowed = ("missing", None) if state == len(BODIES) else ("no-origin", False)
            expected.append({"allowed": allowed, "reason": reason, "line": None, "rule": None})
        else:
            verdict = files[state].check(url, "bot")
            rule = str(verdict.rule) if verdict.rule else None
            answer = {"allowed": verdict.allowed, "reason": str(verdict.reason)}
            expected.append({**answer, "line": verdict.line, "rule": rule})
    assert pa.array(table.decide(column, states, 1)).to_pylist() == expected


def test_constants_and_eviction(engine: ModuleType) -> None:
    """A constant reason decides all URLs; what was used last is evicted last."""
    table = engine.RuleTable(LABELS)
    for state in range(4):
        table.set(state, 7 + state % 2, 100)
    states = pa.array([0, 1, None], pa.uint32())
    urls = pa.array(["https://a.example/", "https://a.example/", "https://a.example/"])
    decided = pa.array(table.decide(urls, states, 1)).to_pylist()
    assert [row and row["reason"] for row in decided] == ["unavailable", "unreachable", None]
    assert table.missing(states) == []
    assert (table.evict(250), table.size) == (2, 200)
    assert table.missing(pa.array([0, 1, 2, 3], pa.uint32())) == [2, 3]
    with pytest.raises(KeyError, match="no rules for state 3"):
        table.decide(urls, pa.array([3, 3, 3], pa.uint32()), 1)
    with pytest.raises(ValueError, match="differ in length"):
        table.decide(urls, pa.array([1], pa.uint32()), 1)
    with pytest.raises(TypeError, match="number of a reason"):
        table.set(1, 99, 1)


def test_origins_by_number(engine: ModuleType) -> None:
    """Numbers are dense, and the numbers at the end have a meaning of their own."""
    index = engine.OriginIndex()
    added = index.add(
        pa.array(["https://a.example", None, "http://b.example", "https://a.example"])
    )
    assert pa.array(added).to_pylist() == [0, None, 1, 0]
    urls = ["HTTPS://A.example:443/x", "https://c.example", "mailto:x", None, "http://b.example?x"]
    found = pa.array(index.find(pa.array(urls), 2, origin_of)).to_pylist()
    assert found == [0, MISSING, NO_ORIGIN, None, 1]
    assert (len(index), index.origin(1)) == (2, "http://b.example")
    with pytest.raises(IndexError, match="no origin 2"):
        index.origin(2)


def test_timelines(engine: ModuleType) -> None:
    """The state at a time is that of the last time not after it."""
    lines = engine.Timelines()
    origins = pa.array([0, 0, 0, 1, MISSING, NO_ORIGIN, None, 0], pa.uint32())
    assert lines.missing(origins) == [0, 1]
    lines.set(0, [1.0, 2.0], [5, 6])
    lines.set(1, [], [])
    assert lines.missing(origins) == []
    times = pa.array([0.5, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0, None])
    found = pa.array(lines.find(origins, times)).to_pylist()
    assert found == [MISSING, 5, 6, MISSING, MISSING, NO_ORIGIN, None, None]
    last = pa.array(lines.find(origins, None)).to_pylist()
    assert last == [6, 6, 6, MISSING, MISSING, NO_ORIGIN, None, 6]
    with pytest.raises(ValueError, match="sorted"):
        lines.set(0, [2.0, 1.0], [1, 2])


@pytest.mark.parametrize("name", ["native", "pure"])
@given(st.lists(st.none() | URLS, max_size=8), st.sampled_from(TYPES))
def test_origins_of_a_column(name: str, urls: list[str | None], kind: pa.DataType) -> None:
    """`origins_column` is `origin_of` for each URL."""
    column = make_column(urls, kind)
    found = pa.array(find_engine(name).origins_column(column, 1, origin_of)).to_pylist()
    octets = [None if url is None else url.encode("utf-8", "surrogatepass") for url in urls]
    assert found == [None if url is None else origin_of(url) for url in octets]
