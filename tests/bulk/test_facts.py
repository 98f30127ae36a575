"""Facts about files: each column against the public readers, rows without a file, hostile files."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import robotrules
from robotrules import DEFAULT
from robotrules._engine import native, pure
from robotrules._engine.pure_facts import struct_type
from robotrules.bulk import Reject, facts, facts_batches
from robotrules.bulk.file_facts import COVERAGE, SCHEMA, make_schema
from robotrules.bulk.rejects import RejectWarning
from robotrules.bulk.robots_table import normalize
from robotrules.errors import ProductTokenError, ProfileError
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from tests.bulk.facts_oracle import coverage_by_analysis, expected_row, names_of, using
from tests.test_corpus import FILES, bodies

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
CRAWLERS = ["*", "GPTBot", "Googlebot-News", "AdsBot-Google", "MJ12bot", "360Spider", "ExampleBot"]

SAMPLES = {
    "empty": b"",
    "nothing": b"User-agent: *\nDisallow:\n",
    "everything": b"User-agent: *\nDisallow: /\n",
    "some": b"User-agent: *\nDisallow: /private/\nAllow: /private/press/\n",
    "named": (
        b"User-agent: GPTBot\nUser-agent: gptbot/2.0\nDisallow: /\n\nUser-agent: Googlebot\n"
        b"Disallow: /*?\nCrawl-delay: 2.5\n\nUser-agent: *\nAllow: /\nCrawl-delay: 10\n"
        b"Crawl-delay: 1\n"
    ),
    "digits": b"User-agent: MJ12bot\nUser-agent: 360Spider\nDisallow: /\n",
    "merged": (
        b"User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nAllow: /a\n\nUser-agent: *\n"
        b"Allow: /a\nCrawl-delay: 3\n\nUser-agent: examplebot\nDisallow: /\nCrawl-delay: 4\n"
    ),
    "ignores star": b"User-agent: *\nDisallow: /\n\nUser-agent: AdsBot-Google\nDisallow: /a\n",
    "needs a search": b"User-agent: *\nDisallow: /\nAllow: /a\nDisallow: /a*\n",
    "tie": b"User-agent: *\nAllow: /\nDisallow: /\n",
    "robots.txt": b"User-agent: *\nDisallow: /\nAllow: /robots.txt$\n",
    "sitemaps": (
        b"Sitemap: https://a.example/s.xml\nSitemap: https://a.example/s.xml\nsitemap: /s\n"
        b"Sitemap: https://a.example/caf\xe9\nSitemap: https://a.example/a b\nSitemap: mailto:x\n"
        b"Sitemap: https://[::1\nSitemap: https://[::1]/s\nSitemap:\nSitemap: a\x01b\n"
    ),
    "usual sitemaps": (
        b"Sitemap: s.xml\nSitemap: http:/a\nSitemap: a:b\nSitemap: ?x\nSitemap: h+1://?\n"
    ),
    "purposes": (
        b"User-agent-purpose: a\nDisallow: /\nUser-Agent-Purpose: b\nUser-Agent-Purpose: a\n"
    ),
    "usage": (
        b"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: / search=y\nDisallow: /x\n"
        b"User-agent: GPTBot\nContent-Usage: search=n\nContent-Signal: ai-train=no\n"
    ),
    "usage in other groups": (
        b"User-agent: GPTBot\nContent-Usage: train-ai=n\nUser-agent: *\n"
        b"Content-Usage: search=n, a=(b\n"
    ),
    "regrouped": (
        b"User-agent: *\nContent-Usage: train-ai=n\nUser-agent: GPTBot\nContent-Usage: train-ai=y\n"
        b"Content-Signal: search=yes, ai-train=no, other=x, search=no\nContent-Signal: /a b=c\n"
    ),
    "applications": (
        b"User-agent: *\nApp-Directives: one;x, two\nApp-Directive: /p three\nApp-Directives: (\n"
        b"User-agent: b\nApp-Directives: one, four\n"
    ),
    "notes": (
        b"\xef\xbb\xbfDisallow: /\nUser agent: a\nuser-agent: a, b\nDissallow: x\nno\n:\n"
        b"User-agent:\n"
    ),
    "utf-16": "User-agent: *\nDisallow: /\nSitemap: https://a.example/\n".encode("utf-16"),
    "nul": b"User-agent: *\0\nDisallow: /\0a\nCrawl-delay: 1\0\nSitemap: https://a.example/\0\n",
    "not utf-8": (
        b"User-agent: caf\xe9\nUser-agent: \xff\nDisallow: /\xe9\nUser-agent-purpose: \xe9\n"
    ),
    "cr": b"User-agent: *\rDisallow: /\r\rUser-agent: GPTBot\r\nAllow: /",
    "html": b"<!doctype html>\n<p>Not: found\n",
    "unterminated": b"User-agent: *\nDisallow: /a",
}


@pytest.fixture(autouse=True)
def _each_engine(engine: ModuleType) -> Iterator[None]:
    with using(engine):
        yield


def read(files: Any, **options: Any) -> list[dict[str, Any]]:
    """Return the rows of facts, after a full validation."""
    table = facts(files, **options)
    table.validate(full=True)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def as_files(samples: dict[str, bytes]) -> dict[str, bytes]:
    """Return samples by origins."""
    return {f"https://h{at}.example": body for at, body in enumerate(samples.values())}


# --- Columns --------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["default", "strict", "google"])
def test_every_column_equals_the_public_readers(profile: str) -> None:
    """Counts, names, delays, values and notes are those of the functions for one file."""
    rows = read(as_files(SAMPLES), profile=profile, crawlers=CRAWLERS)
    for (name, body), row in zip(SAMPLES.items(), rows, strict=True):
        expected = expected_row(body, profile, CRAWLERS)
        assert {column: row[column] for column in expected} == expected, name
        robots = robotrules.parse(body, profile)
        for token in CRAWLERS:
            rules = robots.rules_for(names_of(token))
            assert row["crawlers"][token] == coverage_by_analysis(rules, profile), (name, token)


def test_truncated_files() -> None:
    """An unterminated line of a truncated file is not used; `truncated` says why."""
    table = pa.table(
        {
            "origin": ["https://a.example", "https://b.example", "https://c.example"],
            "body": [SAMPLES["unterminated"], SAMPLES["unterminated"], b"#" * 600_000],
            "complete": [True, False, True],
        }
    )
    rows = read(table, crawlers=CRAWLERS)
    for row, complete in zip(rows, (True, False, True), strict=True):
        body = b"#" * 600_000 if row["size"] == 600_000 else SAMPLES["unterminated"]
        expected = expected_row(body, "default", CRAWLERS, complete=complete)
        assert {column: row[column] for column in expected} == expected
    assert [row["truncated"] for row in rows] == [False, True, True]
    assert [row["disallow_rules"] for row in rows] == [1, 0, 0]
    assert [row["crawlers"]["*"] for row in rows] == ["some", "all", "all"]


def test_profiles_with_other_limits_and_selection() -> None:
    """A custom profile: the first star group only, names in lists, and short lines."""
    profile = robotrules.DEFAULT.replace(
        first_star_group_only=True, comma_user_agents=True, max_line=40
    )
    body = (
        b"User-agent: x, GPTBot\nDisallow: /\nUser-agent: *\nAllow: /\nCrawl-delay: 1\n"
        b"Content-Signal: a=b, a-long-key=a-long-value\nContent-Usage: train-ai=y\nUser-agent: *\n"
        b"Disallow: /\nCrawl-delay: 5\nContent-Signal: c=d\nContent-Usage: search=n\n"
    )
    (row,) = read({"https://a.example": body}, profile=profile, crawlers=CRAWLERS)
    expected = expected_row(body, profile, CRAWLERS)
    assert {column: row[column] for column in expected} == expected
    assert row["crawl_delay"] == 1.0
    assert row["content_usage"] == [("train-ai", "allowed")]
    assert row["crawlers"]["*"] == "all"
    assert row["crawlers"]["GPTBot"] == "none"


# --- Rows without a file --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "access", "coverage"),
    [
        (200, "success", "some"),
        (201, "success", "some"),
        (204, "success", "all"),
        (206, "unreachable", "none"),
        (301, "missing", None),
        (304, "missing", None),
        (401, "unavailable", "all"),
        (404, "unavailable", "all"),
        (429, "unreachable", "none"),
        (500, "unreachable", "none"),
        (None, "success", "some"),
    ],
)
def test_access(status: int | None, access: str, coverage: str | None) -> None:
    """A status decides what crawlers may fetch; a redirect that was not followed leaves it open."""
    table = pa.table(
        {
            "url": ["https://a.example/robots.txt"],
            "status": pa.array([status], pa.int64()),
            "body": [SAMPLES["some"]],
            "fetched_at": [NOON],
        }
    )
    (row,) = read(table)
    assert (row["access"], row["status"]) == (access, status or 200)
    assert set(row["crawlers"].values()) <= {coverage, "all" if coverage == "some" else coverage}
    assert row["crawlers"]["GPTBot"] == coverage
    assert (row["origin"], row["url"]) == ("https://a.example", "https://a.example/robots.txt")
    assert row["fetched_at"] == NOON
    nothing = [name for name in SCHEMA.names[5:-1] if row[name] is None]
    without_file = [name for name in SCHEMA.names[5:-1] if name != "crawl_delay"]
    assert [name for name in nothing if name != "crawl_delay"] == (
        [] if access == "success" else without_file
    )


def test_no_response_and_no_body() -> None:
    """No response disallows everything; a success without its body says nothing about rules."""
    table = pa.table(
        {
            "origin": ["https://a.example", "https://b.example", "https://c.example"],
            "status": pa.array([None, 200, 204], pa.int16()),
            "body": pa.array([None, None, None], pa.binary()),
        }
    )
    rows = read(table, crawlers=["GPTBot"])
    assert [row["access"] for row in rows] == ["unreachable", "missing", "success"]
    assert [row["crawlers"]["GPTBot"] for row in rows] == ["none", None, "all"]
    assert [row["size"] for row in rows] == [None, None, 0]


def test_a_mapping_may_have_statuses() -> None:
    """A status in the place of a file, and None for no response."""
    rows = read({"https://a.example": 404, "https://b.example": None, "https://c.example": ""})
    assert [row["access"] for row in rows] == ["unavailable", "unreachable", "success"]
    assert [row["crawlers"]["GPTBot"] for row in rows] == ["all", "none", "all"]


def test_the_access_profile_belongs_to_the_profile() -> None:
    """Profile google treats only 429 of the 4xx statuses as unreachable."""
    table = pa.table({"origin": ["https://a.example"], "status": [425]})
    assert read(table)[0]["access"] == "unreachable"
    assert read(table, profile="google")[0]["access"] == "unavailable"


# --- Inputs ---------------------------------------------------------------------------------------


def test_schema() -> None:
    """The columns and types are those of SCHEMA, with a field for each well-known crawler."""
    table = facts(as_files(SAMPLES))
    assert table.schema.equals(SCHEMA)
    tokens = [known.product_token for known in KNOWN_CRAWLERS]
    assert SCHEMA.field("crawlers").type.names == tokens
    assert list(SCHEMA)[5:] == list(struct_type(tokens))
    assert facts(as_files(SAMPLES), crawlers=["*"]).schema.equals(make_schema(["*"]))
    assert facts({}, crawlers=[]).schema.equals(make_schema([]))
    assert read({"https://a.example": b""}, crawlers=[])[0]["crawlers"] == {}


def test_dictionaries_are_the_same_for_every_batch() -> None:
    """Batches can be written to one file: dictionaries do not depend on the rows."""
    for body in SAMPLES.values():
        column = facts({"https://a.example": body}, crawlers=["*"]).column("crawlers").chunk(0)
        assert column.field(0).dictionary.to_pylist() == list(COVERAGE)


def test_inputs_give_the_same_rows() -> None:
    """A table, batches, a mapping with text, a chunked table and another Arrow object agree."""
    files = as_files(SAMPLES)
    table = pa.table({"origin": list(files), "body": pa.array(files.values(), pa.binary_view())})
    expected = read(table)
    assert read(files) == expected
    assert read(table.to_batches(max_chunksize=3)) == expected
    assert read(table.slice(4)) == expected[4:]
    assert read(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(5))) == expected
    batches = [batch for batch, _ in normalize(table)]
    assert pa.Table.from_batches(facts_batches(batches)).to_pylist() == expected
    assert read(table, threads=2) == expected
    text = {"https://a.example": "User-agent: *\nDisallow: /caf\udce9\n"}
    assert read(text) == read({"https://a.example": b"User-agent: *\nDisallow: /caf\xe9\n"})


def test_threads_give_the_same_rows() -> None:
    """Blocks of rows on several threads are joined in order."""
    files = {
        f"https://h{at}.example": body + b"# %d\n" % at
        for at, body in enumerate(list(SAMPLES.values()) * 40)
    }
    one = facts(files, crawlers=CRAWLERS, threads=1)
    assert one.equals(facts(files, crawlers=CRAWLERS, threads=3))


def test_large_batches_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are too large for one call are read in several."""
    expected = facts(as_files(SAMPLES))
    monkeypatch.setattr("robotrules.bulk.file_facts._MAX_OCTETS", 200)
    split = facts(as_files(SAMPLES))
    assert split.column("size").num_chunks > 3
    assert split.to_pylist() == expected.to_pylist()


def test_rejects_are_not_lost() -> None:
    """A row that cannot be used is a reject; without a list for them there is a warning."""
    table = pa.table({"origin": ["https://a.example", "no origin"], "body": [b"", b""]})
    rejects: list[Reject] = []
    assert len(read(table, rejects=rejects)) == 1
    assert [reject.place for reject in rejects] == ["row 2"]
    with pytest.warns(RejectWarning, match=r"1 rows cannot be used.*row 2.*pass rejects=\[\]"):
        assert len(read(table)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(table.slice(0, 1))) == 1


def test_crawlers_can_be_chosen() -> None:
    """By name in any case, by entry of the registry, or a name that is not listed."""
    files = {"https://a.example": SAMPLES["named"]}
    gptbot = KNOWN_CRAWLERS.get("GPTBot")
    assert gptbot is not None
    assert read(files, crawlers=["gptbot"])[0]["crawlers"] == {"GPTBot": "none"}
    assert read(files, crawlers=[gptbot])[0]["crawlers"] == {"GPTBot": "none"}
    assert read(files, crawlers=["ExampleBot"])[0]["crawlers"] == {"ExampleBot": "all"}
    # Googlebot-News obeys the group of Googlebot, which its name alone does not.
    assert read(files, crawlers=["Googlebot-News"])[0]["crawlers"] == {"Googlebot-News": "some"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"crawlers": "GPTBot"}, TypeError, r"pass \['GPTBot'\]"),
        ({"crawlers": ["GPTBot", "gptbot"]}, ValueError, "twice"),
        ({"crawlers": ["a b"]}, ProductTokenError, "not a product token"),
        ({"crawlers": [3]}, TypeError, "product token is a str"),
        ({"profile": "none"}, ProfileError, "'none'"),
        ({"threads": -1}, ValueError, "threads is -1"),
        ({"threads": "2"}, ValueError, "threads is '2'"),
    ],
)
def test_misuse(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """Wrong arguments raise an error that says what to pass."""
    with pytest.raises(error, match=message):
        facts({"https://a.example": b""}, **options)


def test_misuse_of_files() -> None:
    """Something that is not a table, and batches that are not in the normal form."""
    with pytest.raises(TypeError, match="files are a table"):
        facts(b"User-agent: *")
    with pytest.raises(TypeError, match="files are a table"):
        facts(3)
    with pytest.raises(TypeError, match=r"a file is its content in bytes or str.*not list"):
        facts({"https://a.example": []})
    with pytest.raises(TypeError, match=r"a file is its content.*not bool"):
        facts({"https://a.example": True})
    with pytest.raises(TypeError, match="normal form"):
        list(facts_batches([pa.record_batch({"origin": ["a"]})]))


def test_states_and_bodies_have_the_same_length(engine: ModuleType) -> None:
    """The engine does not read rows without a state."""
    settings = robotrules.DEFAULT.settings(engine)
    reader = engine.FactsReader(settings, [], False, lambda kind, values: [])
    with pytest.raises(ValueError, match="2 bodies have 1 states"):
        reader.read(pa.array([b"", b""]), b"\0", 1)


def test_values_are_read_once(engine: ModuleType) -> None:
    """The hook gets each different list of values, and the rows get its answers."""
    calls: list[tuple[str, list[bytes]]] = []

    def read_values(kind: str, values: list[bytes]) -> list[Any]:
        calls.append((kind, values))
        return [("key", kind)] if kind.startswith("content") else [kind]

    settings = robotrules.DEFAULT.settings(engine)
    reader = engine.FactsReader(settings, [], False, read_values)
    body = (
        b"User-agent: *\nContent-Signal: a=b\nContent-Usage: c=d\nApp-Directives: e\n"
        b"Sitemap: https://a.example/\xc3\xa9\n"
    )
    column = pa.array(reader.read(pa.array([body, body, b""]), bytes(3), 1))
    for kind in ("sitemaps", "applications"):
        assert column.field(kind).to_pylist() == [[kind], [kind], []]
    for kind in ("content_usage", "content_signal"):
        assert column.field(kind).to_pylist() == [[("key", kind)], [("key", kind)], []]
    if engine is native:
        assert len(calls) == 4
    assert ("content_usage", [b"c=d"]) in calls


# --- Hostile files --------------------------------------------------------------------------------


def hostile_files() -> dict[str, bytes]:
    """Return files that are meant to be slow."""
    known = [crawler.product_token.encode() for crawler in KNOWN_CRAWLERS]
    shadowed = b"".join(b"Allow: /*a%d*b\nDisallow: /*a%d*b*\n" % (n, n) for n in range(90))
    return {
        "nul": b"\0" * 500_000,
        "octets": bytes(range(256)) * 2_000,
        "groups": b"User-agent:a\nAllow:\n" * 100_000,
        "user agents": b"".join(b"User-agent: b%d\n" % n for n in range(30_000)),
        "wildcards": b"User-agent: *\nDisallow: /\n"
        + b"".join(b"Allow: /*a%d*b*c$\nDisallow: /*a%d*b*c\n" % (n, n) for n in range(2_500)),
        "shadowed": b"User-agent: *\nDisallow: /\n"
        + b"".join(b"Allow: /*a%d*b\nDisallow: /*a%d*b*\n" % (n, n) for n in range(2_500)),
        "a search for each crawler": b"".join(
            b"User-agent: %b\nDisallow: /\n%b" % (token, shadowed) for token in known
        ),
        "overlapping groups": b"".join(b"User-agent: %b\nDisallow: /%b\n" % (t, t) for t in known)
        + b"".join(b"User-agent: %b\n" % token for token in known)
        + b"Disallow: /\n"
        + b"".join(b"Allow: /*a%d*b\nDisallow: /*a%d*b*\n" % (n, n) for n in range(9_000)),
        "sitemaps": b"".join(b"Sitemap: https://h/%d [\n" % n for n in range(15_000)),
        "delays": b"".join(
            b"User-agent: %d\nCrawl-delay: %d\nAllow:\n" % (n, n) for n in range(9_000)
        ),
    }


@pytest.mark.parametrize("name", hostile_files())
def test_hostile_files_take_bounded_time(name: str, engine: ModuleType) -> None:
    """Linear work and a bounded search: some hundred milliseconds for 500 KiB in native code."""
    body = hostile_files()[name]
    if engine is pure:
        body = body[:8_000]  # the pure engine is a hundred times slower
    start = time.perf_counter()
    (row,) = read({"https://a.example": body}, threads=1)
    assert time.perf_counter() - start < 20
    assert row["size"] == len(body)
    assert set(row["crawlers"].values()) <= {*COVERAGE, None}


def test_what_is_not_decided_is_null() -> None:
    """Beyond the limit on states the answer is null, never a guess."""
    body = hostile_files()["shadowed"]
    assert read({"https://a.example": body}, crawlers=["*"])[0]["crawlers"] == {"*": None}


# --- Real files -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(
    not FILES.exists(), reason=f"no collection of real files in {FILES.parent.name}"
)
def test_real_files(engine: ModuleType) -> None:
    """Both engines agree with the public readers and with the analysis on real files."""
    found = list(bodies())[:: 20 if engine is native else 100]
    files = {f"https://h{at}.example": body for at, (_, body) in enumerate(found)}
    rows = read(files)
    assert len(rows) == len(found) > 100
    undecided = 0
    for (name, body), row in zip(found, rows, strict=True):
        if engine is native:
            tokens = [known.product_token for known in KNOWN_CRAWLERS]
            expected = expected_row(body, "default", tokens)
            assert {column: row[column] for column in expected} == expected, name
        robots = robotrules.parse(body)
        by_rules: dict[int, str | None] = {}
        for known in KNOWN_CRAWLERS:
            rules = robots.rules_for(known.names)
            if id(rules) not in by_rules:
                by_rules[id(rules)] = coverage_by_analysis(rules, "default")
            assert row["crawlers"][known.product_token] == by_rules[id(rules)], (name, known)
        undecided += sum(one is None for one in row["crawlers"].values())
    assert undecided == 0


def test_reading_ahead_gives_the_same_rows(engine: ModuleType) -> None:
    """With several threads the next batch is taken while the engine reads one; nothing changes."""
    source = _engine_facts_reader(engine)
    bodies = pa.array([b"User-agent: *\nDisallow: /\n", b"", None] * 200, pa.large_binary())
    states = bytes([0, 1, 3] * 200)
    job = source.start(bodies, states, 2)
    assert pa.array(job.result()).equals(pa.array(source.read(bodies, states, 1)))
    with pytest.raises(ValueError, match="once"):
        job.result()
    with pytest.raises(ValueError, match="pass one each"):
        source.start(bodies, states[1:], 2)
    source.start(bodies, states, 2)  # dropped: it ends by itself


def _engine_facts_reader(engine: ModuleType) -> Any:
    crawlers = [("GPTBot", [b"GPTBot"], False)]
    return engine.FactsReader(DEFAULT.settings(engine), crawlers, False, lambda kind, values: [])


def test_one_batch_is_taken_ahead() -> None:
    """Memory is bounded: at most one batch is taken from the input before a result is taken."""
    taken = 0

    def batches() -> Iterator[Any]:
        nonlocal taken
        for number in range(10):
            taken += 1
            table = pa.table({"origin": [f"https://h{number}.example"], "body": [b"Disallow: /"]})
            yield from (batch for batch, _ in normalize(table))

    results = facts_batches(batches(), threads=2)
    for number in range(1, 9):
        next(results)
        assert taken == number + 1
