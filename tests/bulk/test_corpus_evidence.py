"""A corpus of a client's store answers for a time as `Evidence` does."""

from __future__ import annotations

from math import inf, nextafter
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

from robotrules.access import (
    AccessProfile,
    AccessResult,
    AccessState,
    FailureReason,
    classify_failed_redirect,
    classify_status,
    find_access_profile,
)
from robotrules.bulk.corpus import Corpus
from robotrules.cache import Entry, Provenance, make_fetch_record, updated_entry
from robotrules.client import Evidence
from robotrules.client.stores import MemoryStore, SQLiteStore
from robotrules.http.fields import NO_FIELDS, read_fields

DAY = 86_400.0
BODIES = [
    b"User-agent: *\nDisallow: /x",
    b"User-agent: bot\nAllow: /x\n\nUser-agent: *\nDisallow: /",
    b"",
]
AGENTS = ["bot", "Other", "third"]
URLS = ["https://a.example/x", "https://a.example/y", "https://a.example/robots.txt"]
ACCESS: dict[str, AccessProfile | str] = {
    "default": AccessProfile(name="default"),
    "google": "google",
    "stale": "stale",
    "cautious": AccessProfile(name="cautious", deny_on_401_403=True, give_up_after=3 * DAY),
    "short": AccessProfile(
        name="short", stale_after=3_600.0, give_up_after=7_200.5, on_give_up="cached", max_ttl=600.0
    ),
}

# What a fetch found: status, body, failure.
OUTCOMES = st.one_of(
    st.builds(lambda body: (200, body, None), st.integers(0, len(BODIES) - 1)),
    st.sampled_from([(404, None, "status"), (403, None, "status"), (429, None, "status")]),
    st.sampled_from([(503, None, "status"), (None, None, "timeout"), (301, None, "location")]),
    st.sampled_from([(304, -1, None), (301, None, "loop"), (200, -2, None)]),
)
TIMES = st.one_of(
    st.integers(0, 400).map(lambda hours: hours * 1_800.0),
    st.floats(0, 40 * DAY, allow_nan=False).map(lambda time: round(time, 6)),
)
FETCHES = st.lists(
    st.tuples(
        TIMES, OUTCOMES, st.sampled_from(AGENTS), st.booleans(), st.sampled_from([0, 60, 900, None])
    ),
    max_size=9,
)


STATUSES = [200, 204, 403, 404, 429, 503, 300, None]


def make_store(fetches: list[tuple[Any, ...]], access: AccessProfile | str) -> MemoryStore:
    """Return a store with fetch records as clients would have written them."""
    profile, store = find_access_profile(access), MemoryStore()
    entries: dict[tuple[str, bool], Entry] = {}
    for at, (status, body, failure), agent, imported, lifetime in sorted(
        fetches, key=lambda x: x[0]
    ):
        entry = entries.get((agent, imported))
        good = entry.last_success if entry else None
        state, fields, content = AccessState.SUCCESS, NO_FIELDS, b""
        if failure is not None:
            state = AccessState.UNREACHABLE
            if failure == "status":
                state = classify_status(status, profile)
            elif failure != "timeout":
                state = classify_failed_redirect(FailureReason(failure), profile)
        elif body is not None and body >= 0:
            content = BODIES[body]
        if lifetime is not None:
            # A long Retry-After: the policy changes before the next fetch is due.
            retry = ("retry-after", str(100 * lifetime))
            fields = read_fields([("cache-control", f"max-age={lifetime}"), retry])
        if body == -2:
            fields, content = read_fields([("cache-control", "no-store")]), b"Disallow: /"
        revalidated = body == -1
        if revalidated and (good is None or good.state is not AccessState.SUCCESS):
            continue
        result = AccessResult(
            origin="https://a.example",
            state=state,
            status=status,
            failure_reason=FailureReason(failure) if failure else None,
            detail="",
            url="https://a.example/robots.txt",
            hops=(),
            fields=fields,
            body=content,
            complete=True,
            revalidated=revalidated,
            address=None,
        )
        record = make_fetch_record(
            result, entry, at=at, agent=agent, user_agent=agent, profile=profile
        )
        if revalidated and good is not None:
            record = record._replace(digest=good.digest, size=good.size)
        if imported:
            record = record._replace(provenance=Provenance("old.warc", "ab" * 32, 1.0))
        entry = entries[agent, imported] = updated_entry(entry, record)
        stored = (
            content
            if record.may_store and state is AccessState.SUCCESS and not revalidated
            else None
        )
        if imported:
            store.add([(record, stored)])
        else:
            store.put(record, stored, entry)
    return store


def ask(corpus: Corpus, url: str, times: list[float], token: Any) -> list[list[Any]]:
    """Return what a corpus answers for a URL and times."""
    table = pa.table({"url": [url] * len(times), "at": pa.array(times, pa.float64())})
    checked = corpus.check(table, product_tokens={"x": token}, at="at", threads=1)
    names = ["allowed", "reason", "line", "in_force", "fetched_at"]
    rows = checked.select(names).to_pylist()
    for row in rows:
        row["fetched_at"] = row["fetched_at"] and row["fetched_at"].timestamp()
    return [list(row.values()) for row in rows]


def expect(evidence: Evidence, url: str, time: float, token: Any, **options: Any) -> list[Any]:
    """Return what evidence answers."""
    found = evidence.at(url, time, token, **options)
    record = found.fetch_record
    at = None if record is None else round(record.at, 6)
    if found.verdict is None:
        return [None, "missing", None, bool(found.in_force), at]
    verdict = found.verdict
    return [verdict.allowed, str(verdict.reason), verdict.line, bool(found.in_force), at]


@given(
    FETCHES,
    st.lists(TIMES, max_size=4),
    st.sampled_from(list(ACCESS)),
    st.sampled_from(["bot", "OTHER", ("nobody", "third")]),
    st.sampled_from([None, "bot", "other"]),
    st.sampled_from([None, "own", "imported"]),
)
def test_a_corpus_agrees_with_evidence(
    fetches: list[tuple[Any, ...]],
    others: list[float],
    access: str,
    token: Any,
    agent: str | None,
    source: str | None,
) -> None:
    """Verdict, reason, line, `in_force` and the fetch are those of `Evidence.at`, at any time."""
    store = make_store(fetches, ACCESS[access])
    evidence = Evidence(store, access=ACCESS[access])
    corpus = Corpus.from_store(store, agent, source, access=ACCESS[access])
    records = list(store.fetch_records())
    profile = evidence.access
    changes = {delay for delay in (profile.stale_after, profile.give_up_after) if delay < inf}
    edges = {record.at for record in records} | {record.until for record in records}
    edges |= {record.at + delay for record in records for delay in (*changes, profile.max_ttl)}
    edges |= {nextafter(edge, side) for edge in edges for side in (-inf, inf)}
    # Times of columns have microseconds.
    times = sorted({round(time, 6) for time in [*edges, *others, 50 * DAY]})
    options = {"agent": agent, "source": source}
    for url in URLS:
        expected = [expect(evidence, url, time, token, **options) for time in times]
        assert ask(corpus, url, times, token) == expected


@given(FETCHES, st.sampled_from(list(ACCESS)))
def test_the_last_state_is_that_of_the_last_fetch(
    fetches: list[tuple[Any, ...]], access: str
) -> None:
    """Without `at=`, a corpus answers as evidence does for the time of the last fetch."""
    store = make_store(fetches, ACCESS[access])
    evidence = Evidence(store, access=ACCESS[access])
    records = list(store.fetch_records())
    corpus = Corpus.from_store(store, access=ACCESS[access])
    checked = corpus.check(pa.table({"url": URLS}), product_tokens="bot")
    rows = checked.select(["allowed", "reason", "line"]).to_pylist()
    if not records:
        assert [row["reason"] for row in rows] == ["missing"] * 3
        return
    last = max(record.at for record in records)
    for url, row in zip(URLS, rows, strict=True):
        assert list(row.values()) == expect(evidence, url, last, "bot")[:3]


@given(
    st.lists(
        st.tuples(
            TIMES, st.sampled_from([200, 204, 403, 404, 429, 503, 300, None]), st.integers(0, 2)
        ),
        max_size=8,
        unique_by=lambda fetch: fetch[0],
    ),
    st.sampled_from(list(ACCESS)),
)
def test_a_table_agrees_with_evidence(
    fetches: list[tuple[float, int | None, int]], access: str
) -> None:
    """A table of fetches is evidence like the records of a client without header fields."""
    outcomes = []
    for at, status, body in fetches:
        failure = "timeout" if status is None else "status"
        if status in (200, 204):
            outcome: tuple[Any, ...] = (status, body if status == 200 else 2, None)
        else:
            outcome = (status, None, "location" if status == 300 else failure)
        outcomes.append((at, outcome, "", False, None))
    store = make_store(outcomes, ACCESS[access])
    evidence = Evidence(store, access=ACCESS[access])
    table = pa.table(
        {
            "origin": pa.array(["https://a.example"] * len(fetches), pa.string()),
            "status": pa.array([status for _, status, _ in fetches], pa.int16()),
            "body": pa.array(
                [BODIES[body] if s == 200 else None for _, s, body in fetches], pa.binary()
            ),
            "fetched_at": pa.array([at for at, _, _ in fetches], pa.float64()),
        }
    )
    corpus = Corpus.from_table(table, access=ACCESS[access])
    edges = {record.at for record in store.fetch_records()}
    times = sorted(
        {round(edge + delay, 6) for edge in edges for delay in (0, 5, 60, DAY, 3 * DAY, 31 * DAY)}
    )
    for url in URLS:
        expected = [expect(evidence, url, time, "bot") for time in times]
        assert ask(corpus, url, times, "bot") == expected
    checked = corpus.check(pa.table({"url": URLS}), product_tokens="bot")
    if edges:
        last = [expect(evidence, url, max(edges), "bot")[:3] for url in URLS]
        assert [
            list(row.values()) for row in checked.select(["allowed", "reason", "line"]).to_pylist()
        ] == last


def test_a_304_of_a_table_confirms_the_file_before_it() -> None:
    """A 304 without a body renews the file of the fetch before; without one it says nothing."""
    rows = [
        {"origin": "a.example", "status": 304, "body": None, "fetched_at": 0.0},
        {
            "origin": "a.example",
            "status": 200,
            "body": b"User-agent: *\nDisallow: /",
            "fetched_at": 9.0,
        },
        {"origin": "a.example", "status": 304, "body": None, "fetched_at": DAY},
    ]
    corpus = Corpus.from_table(pa.Table.from_pylist(rows))
    answers = ask(corpus, "https://a.example/", [5.0, 9.0, DAY + 10.0, 3 * DAY], "bot")
    assert [row[:4] for row in answers] == [
        [None, "missing", None, True],
        [False, "disallow-rule", 2, True],
        [False, "disallow-rule", 2, True],
        [False, "disallow-rule", 2, False],
    ]


def test_several_crawlers_have_their_own_evidence() -> None:
    """If several crawlers fetched, each product token has its own state."""
    fetches = [
        (1.0, (200, 0, None), "bot", False, None),
        (2.0, (404, None, "status"), "Other", False, None),
    ]
    corpus = Corpus.from_store(make_store(fetches, "default"))
    table = pa.table({"url": ["https://a.example/x"], "at": [3.0]})
    checked = corpus.check(table, product_tokens=["bot", "other"], at="at")
    assert checked["bot.access"].to_pylist() == ["success"]
    assert checked["other.access"].to_pylist() == ["unavailable"]
    assert "access" not in checked.column_names
    assert checked["bot.allowed"].to_pylist() == [False]


def test_a_lost_body_is_missing() -> None:
    """Without the content of a file there is no verdict."""

    class Forgetful(MemoryStore):
        """A store that has lost its bodies."""

        def body(self, digest: str) -> bytes | None:
            return None

    store = Forgetful()
    for record, body in _records([(1.0, (200, 0, None), "bot", False, None)]):
        store.put(record, body, None)
    corpus = Corpus.from_store(store)
    table = pa.table({"url": ["https://a.example/x", "https://b.example/"]})
    checked = corpus.check(table, product_tokens="bot", missing="disallow")
    assert checked["access"].to_pylist() == ["missing", "missing"]
    assert checked["allowed"].to_pylist() == [False, False]


def _records(fetches: list[tuple[Any, ...]]) -> list[tuple[Any, bytes | None]]:
    store = make_store(fetches, "default")
    return [(record, store.body(record.digest or "")) for record in store.fetch_records()]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_saved_evidence_is_the_same(tmp_path: Path, kind: str) -> None:
    """A corpus of a store, saved and opened again, has the same answers without the store."""
    fetches = [
        (1.0, (200, 0, None), "bot", False, 60),
        (2 * DAY, (503, None, "status"), "bot", False, None),
        (3.0, (200, 1, None), "Other", True, None),
    ]
    store: Any = MemoryStore() if kind == "memory" else SQLiteStore(tmp_path / "robots.sqlite")
    for record, body in _records(fetches):
        if record.provenance:
            store.add([(record, body)])
        else:
            store.put(record, body, None)
    corpus = Corpus.from_store(store)
    corpus.save(tmp_path / "corpus.parquet")
    times = [0.0, 1.0, 2.0, 4.0, 90.0, 2 * DAY, 2 * DAY + 90, 40 * DAY]
    expected = [ask(corpus, url, times, "other") for url in URLS]
    store.close()
    with Corpus.open(tmp_path / "corpus.parquet") as opened:
        assert [ask(opened, url, times, "other") for url in URLS] == expected
        assert repr(opened) == repr(corpus)


def test_giving_up_between_two_fetches() -> None:
    """The policy changes while a long Retry-After runs, exactly when evidence says so."""
    access = AccessProfile(name="impatient", give_up_after=7_200.1)
    store = make_store([(0.1, (503, None, "status"), "bot", False, 900)], access)
    times = [0.1, 7_200.0, 7_200.199999, 7_200.2, 7_200.200001, 7_300.0]
    expected = [expect(Evidence(store, access=access), URLS[0], time, "bot") for time in times]
    assert ask(Corpus.from_store(store, access=access), URLS[0], times, "bot") == expected
    assert [row[1] for row in (expected[0], expected[-1])] == ["unreachable", "unavailable"]
