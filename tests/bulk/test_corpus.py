"""Corpus: robots.txt states by origin, joined with URLs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

import robotrules
from robotrules import PurposeWarning, RobotsTxt, TableError
from robotrules.access import AccessProfile
from robotrules.bulk.corpus import Corpus
from robotrules.bulk.rejects import Reject
from robotrules.http.origins import origin_of
from robotrules.robotstxt.tokens import CrawlerNames
from tests.bulk.warc_samples import http, member, record

ANSWER = ["allowed", "reason", "line", "rule", "access"]
FILES: dict[str, bytes] = {
    "https://a.example": b"User-agent: *\nDisallow: /x\nAllow: /x/y$\nDisallow: /*.gif\n",
    "http://a.example": b"User-agent: bot\nDisallow: /\n\nUser-agent: *\nAllow: /",
    "https://b.example:8080": b"",
    "https://xn--4ca.example": "User-agent: *\nDisallow: /ä\nAllow: /%C3%A4/\xfc".encode(),
    "https://[::1]": b"User-agent: *\nDisallow: /\xff\xe2(\nAllow: /",
    "https://same.example": b"",
}
URLS = st.one_of(
    st.sampled_from(
        [
            *("https://a.example/x", "https://a.example/x/y", "HTTPS://A.example:443/x?q", ""),
            *("http://a.example", "https://ä.example/ä", "https://xn--4ca.example/ä/ü", "x.gif"),
            *("https://b.example:8080/", "https://b.example/", "https://a.example./robots.txt"),
            *("https://user@a.example/x", "//a.example/x", "mailto:a@b.example", "https://"),
            *("https://[::1]/\udcff\udce2(", "https://[0:0::1]/%ff%e2%28", "https://a.example/%"),
        ]
    ),
    st.text(max_size=12),
    st.builds(
        lambda origin, rest: f"{origin}/{rest}", st.sampled_from(list(FILES)), st.text(max_size=12)
    ),
)
TYPES = [
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()),
    *(pa.binary_view(), pa.dictionary(pa.int32(), pa.string())),
]


def to_octets(url: str | None) -> bytes | None:
    """Return a URL as bytes; half surrogates are odd bytes."""
    try:
        return None if url is None else url.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"https://a.example/" + url.encode("utf-8", "surrogatepass")  # type: ignore[union-attr]


def make_column(urls: list[bytes | None], kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column in chunks, each a slice of a longer array."""
    array = pa.array([b"left out", *urls], pa.large_binary())
    if kind not in (pa.binary(), pa.large_binary(), pa.binary_view()):
        array = array.cast(pa.large_string(), safe=False)
    array, middle = array.cast(kind), len(urls) // 2
    return pa.chunked_array([array.slice(1, middle), array.slice(1 + middle)], kind)


def expect(url: bytes | None, files: dict[str, RobotsTxt], token: str) -> list[Any]:
    """Return the answer that `RobotsTxt.check` gives."""
    if url is None:
        return [None] * 5
    origin = origin_of(url)
    if origin is None:
        return [False, "no-origin", None, None, None]
    if origin not in files:
        return [None, "missing", None, None, "missing"]
    verdict = files[origin].check(url, token)
    rule = str(verdict.rule) if verdict.rule else None
    return [verdict.allowed, str(verdict.reason), verdict.line, rule, "success"]


def answers(table: Any, names: list[str] = ANSWER) -> list[list[Any]]:
    """Return the rows of the answer."""
    return [list(row.values()) for row in table.select(names).to_pylist()]


CORPUS = Corpus.from_mapping(FILES)
PARSED = {origin: robotrules.parse(body) for origin, body in FILES.items()}


@given(st.lists(st.none() | URLS, max_size=16), st.sampled_from(TYPES))
def test_rows_have_the_answers_of_check(urls: list[str | None], kind: pa.DataType) -> None:
    """Every row has the answer of `RobotsTxt.check` with the file of its origin."""
    octets = [to_octets(url) for url in urls]
    if kind not in (pa.binary(), pa.large_binary(), pa.binary_view()):
        octets = [url if url is None or is_utf8(url) else None for url in octets]
    table = pa.table({"n": range(len(urls)), "url": make_column(octets, kind)})
    checked = CORPUS.check(table, product_tokens="bot", threads=1)
    checked.validate(full=True)
    assert checked.column_names == ["n", "url", *ANSWER]
    assert answers(checked) == [expect(url, PARSED, "bot") for url in octets]


def is_utf8(octets: bytes) -> bool:
    """Tell whether octets are UTF-8."""
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_long_urls_and_many_rows() -> None:
    """A URL of 2 MB, more rows than are answered at once, and several threads."""
    long = "https://a.example/" + "a/../" * 400_000 + "x"
    few = [long, "https://a.example/x", None, "https://b.example/", "mailto:x", "http://a.example/"]
    urls = [
        few[number % len(few)] if number < 6 else few[1 + number % 5] for number in range(600_000)
    ]
    checked = CORPUS.check(pa.table({"url": urls}), product_tokens="bot", threads=2)
    expected = {url: expect(url.encode() if url else None, PARSED, "bot") for url in few}
    assert answers(checked) == [expected[url] for url in urls]


def test_several_crawlers() -> None:
    """Several crawlers have columns of their own, and names are those of `rules_for`."""
    crawlers = ["bot", ["Nobot", "bot"], CrawlerNames(["Third"], ignores_star=True)]
    table = pa.table({"url": ["http://a.example/", "https://a.example/x"]})
    checked = CORPUS.check(table, product_tokens=crawlers)
    columns = [f"{label}.{name}" for label in ("bot", "Nobot", "Third") for name in ANSWER[:4]]
    assert checked.column_names == ["url", *columns, "access"]
    assert checked.column("Nobot.allowed").to_pylist() == [False, False]
    assert checked.column("Third.reason").to_pylist() == ["no-group", "no-group"]
    one = CORPUS.check(table, product_tokens={"x": CrawlerNames(["bot", "Third"])})
    assert one.column("rule").to_pylist() == ["Disallow: /", "Disallow: /x"]
    assert CORPUS.check(table, product_tokens=["GPTBot"]).column("allowed").to_pylist() == [
        True,
        False,
    ]


def test_purposes() -> None:
    """Purposes select groups; a profile that does not read them warns once."""
    files = {"a.example": b"User-agent-purpose: search\nDisallow: /\n\nUser-agent: *\nAllow: /\n"}
    table = pa.table({"url": ["https://a.example/"] * 3})
    corpus = Corpus.from_mapping(files)
    assert (
        corpus.check(table, product_tokens="bot", purposes=["search"])["allowed"].to_pylist()
        == [False] * 3
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        strict = Corpus.from_mapping(files, profile="strict")
        checked = strict.check(table, product_tokens="bot", purposes=["search"])
    assert checked["allowed"].to_pylist() == [True] * 3
    assert [(warning.category, warning.filename) for warning in caught] == [
        (PurposeWarning, __file__)
    ]


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, [True, "no-group", "success"]),
        (204, [True, "no-group", "success"]),
        (404, [True, "unavailable", "unavailable"]),
        (403, [True, "unavailable", "unavailable"]),
        (429, [False, "unreachable", "unreachable"]),
        (503, [False, "unreachable", "unreachable"]),
        (206, [False, "unreachable", "unreachable"]),
        (999, [False, "unreachable", "unreachable"]),
        (100, [False, "unreachable", "unreachable"]),
        (300, [False, "unreachable", "unreachable"]),
        (301, [None, "missing", "missing"]),
        (304, [None, "missing", "missing"]),
        (None, [False, "unreachable", "unreachable"]),
    ],
)
def test_statuses(status: int | None, answer: list[Any]) -> None:
    """What a status means is what it means to a client; `/robots.txt` is always allowed."""
    table = pa.table(
        {"origin": ["a.example"], "status": pa.array([status], pa.int16()), "body": [None]}
    )
    if status == 200:
        table = table.set_column(2, "body", pa.array([b""]))
    urls = pa.table({"url": ["https://a.example/", "https://a.example/./robots.txt"]})
    for at in (None, "t"):
        timed = table.append_column("fetched_at", pa.array([1.0]))
        checked = Corpus.from_table(timed).check(
            urls.append_column("t", pa.array([2.0, 2.0])), product_tokens="bot", at=at
        )
        first, second = answers(checked, ["allowed", "reason", "access"])
        assert first == answer
        implicit = [True, "implicitly-allowed", answer[2]]
        assert second == (answer if answer[2] == "missing" else implicit)


@pytest.mark.parametrize("status", [301, 300, 304, 404, 503, 429])
@pytest.mark.parametrize("at", [None, "t"])
def test_the_body_of_an_error_is_not_a_file(status: int, at: str | None) -> None:
    """Pages of errors and redirects have no rules; an empty one does not allow everything."""
    for body in (b"", b"User-agent: *\nAllow: /", b"<html>"):
        if status == 304 and body:
            continue  # the file that the 304 confirms
        rows = {"origin": ["a.example"], "status": [status], "body": [body], "fetched_at": [1.0]}
        corpus = Corpus.from_table(pa.table(rows))
        table = pa.table({"url": ["https://a.example/x"], "t": [2.0]})
        (answer,) = answers(corpus.check(table, product_tokens="bot", at=at))
        assert answer[-1] in {301: ["missing"], 304: ["missing"], 404: ["unavailable"]}.get(
            status, ["unreachable"]
        )
        assert answer[0] == (True if status == 404 else None if status in (301, 304) else False)
    assert corpus.files == 0


def test_a_304_with_its_file() -> None:
    """A 304 that comes with the file has the rules of the file."""
    rows = {"origin": ["a.example"], "status": [304], "body": ["User-agent: *\nDisallow: /"]}
    table = pa.table({"url": ["https://a.example/x"]})
    checked = Corpus.from_table(pa.table(rows)).check(table, product_tokens="bot")
    assert answers(checked) == [[False, "disallow-rule", 2, "Disallow: /", "success"]]


def test_restricted() -> None:
    """401 and 403 are a disallow, with its own reason, if the access profile says so."""
    access = AccessProfile(name="cautious", deny_on_401_403=True)
    corpus = Corpus.from_mapping({"a.example": 403, "b.example": 404}, access=access)
    checked = corpus.check(
        pa.table({"url": ["https://a.example/", "https://b.example/"]}), product_tokens="bot"
    )
    assert answers(checked) == [
        [False, "restricted", None, None, "unavailable"],
        [True, "unavailable", None, None, "unavailable"],
    ]


def test_a_file_without_content_is_missing() -> None:
    """A 200 without a body says nothing about the rules."""
    corpus = Corpus.from_table(pa.table({"origin": ["a.example"], "status": [200]}))
    checked = corpus.check(pa.table({"url": ["https://a.example/"]}), product_tokens="bot")
    assert answers(checked) == [[None, "missing", None, None, "missing"]]


@pytest.mark.parametrize(
    ("missing", "allowed"), [(None, None), ("allow", True), ("disallow", False)]
)
def test_missing(missing: str | None, allowed: bool | None) -> None:
    """`missing=` decides URLs of unknown origins, and only these."""
    urls = ["https://unknown.example/", "https://a.example/", "mailto:x", None]
    checked = CORPUS.check(pa.table({"url": urls}), product_tokens="bot", missing=missing)
    assert checked["allowed"].to_pylist() == [allowed, True, False, None]
    assert checked["reason"].to_pylist() == ["missing", "no-match", "no-origin", None]


# --- Redirects ------------------------------------------------------------------------------------


def redirects(chain: dict[str, str], last: dict[str, bytes] | None = None) -> Corpus:
    """Return a corpus of redirects and files."""
    rows: list[dict[str, Any]] = [
        {"origin": origin, "status": 301, "location": target, "body": None, "fetched_at": 5.0}
        for origin, target in chain.items()
    ]
    for origin, body in (last or {}).items():
        rows.append({"origin": origin, "status": 200, "body": body, "fetched_at": 6.0})
    return Corpus.from_table(pa.Table.from_pylist(rows))


@pytest.mark.parametrize("at", [None, "t"])
def test_redirects_are_followed(at: str | None) -> None:
    """Up to five redirects lead to the rules of the last; a sixth, and others, are missing."""
    chain = {
        f"h{number}.example": f"https://h{number + 1}.example/robots.txt" for number in range(6)
    }
    others = {
        "loop.example": "https://pool.example/robots.txt",
        "pool.example": "https://loop.example/robots.txt",
        "self.example": "https://self.example/robots.txt",
        "gone.example": "https://nowhere.example/robots.txt",
        "path.example": "https://h6.example/other.txt",
    }
    corpus = redirects(chain | others, {"h6.example": b"User-agent: *\nDisallow: /x"})
    hosts = ["h6", "h5", "h1", "h0", "loop", "pool", "self", "gone", "path"]
    table = pa.table({"url": [f"https://{host}.example/x" for host in hosts], "t": [10.0] * 9})
    checked = corpus.check(table, product_tokens="bot", at=at)
    assert checked["access"].to_pylist() == ["success"] * 3 + ["missing"] * 6
    assert checked["allowed"].to_pylist() == [False] * 3 + [None] * 6
    assert checked["line"].to_pylist() == [2] * 3 + [None] * 6


def test_redirects_over_time() -> None:
    """The rules of a redirect are those of its target at that time."""
    to_b = "https://b.example/robots.txt"
    rows: list[dict[str, Any]] = [
        {"origin": "a.example", "status": 301, "location": to_b, "t": 0, "body": None},
        {"origin": "b.example", "status": 200, "body": b"User-agent: *\nDisallow: /", "t": 10},
        {"origin": "b.example", "status": 404, "t": 20},
        {"origin": "a.example", "status": 200, "body": b"User-agent: *\nDisallow: /x", "t": 30},
    ]
    corpus = Corpus.from_table(pa.Table.from_pylist(rows), columns={"fetched_at": "t"})
    times = [-1, 5, 10, 25, 30, 30 + 86_400, 29 - 86_400]
    table = pa.table({"url": ["https://a.example/"] * 7, "t": times})
    checked = corpus.check(table, product_tokens="bot", at="t")
    assert checked["access"].to_pylist() == [
        *("missing", "missing", "success", "unavailable", "success", "success", "missing")
    ]
    assert checked["allowed"].to_pylist() == [None, None, False, True, True, True, None]
    assert checked["in_force"].to_pylist() == [False, True, True, True, True, False, False]
    epoch = [
        None if time is None else time.timestamp() for time in checked["fetched_at"].to_pylist()
    ]
    assert epoch == [None, 0, 10, 20, 30, 30, None]


def test_an_expired_redirect_is_not_in_force() -> None:
    """A redirect is valid for a day, even if its target was fetched later."""
    corpus = Corpus.from_table(
        pa.table(
            {
                "origin": ["a.example", "b.example"],
                "status": [301, 200],
                "body": [None, b"User-agent: *\nDisallow: /"],
                "location": ["https://b.example/robots.txt", None],
                "fetched_at": [0.0, 86_000.0],
            }
        )
    )
    table = pa.table({"url": ["https://a.example/"] * 3, "t": [86_000.0, 86_400.0, 200_000.0]})
    checked = corpus.check(table, product_tokens="bot", at="t")
    assert checked["allowed"].to_pylist() == [False] * 3
    assert checked["in_force"].to_pylist() == [True, False, False]


# --- Times ----------------------------------------------------------------------------------------


def test_max_age() -> None:
    """An older fetch counts as missing."""
    corpus = Corpus.from_table(
        pa.table(
            {"origin": ["a.example"], "body": [b"User-agent: *\nDisallow: /"], "fetched_at": [0.0]}
        )
    )
    table = pa.table({"url": ["https://a.example/"] * 4, "t": [0.0, 60.0, 60.5, None]})
    for age in (60, 60.0, timedelta(minutes=1)):
        checked = corpus.check(table, product_tokens="bot", at="t", max_age=age)
        assert checked["allowed"].to_pylist() == [False, False, None, None]
        assert checked["access"].to_pylist() == ["success", "success", "missing", "missing"]
        assert checked["in_force"].to_pylist() == [True, True, False, False]


def test_the_type_of_times() -> None:
    """Times of rows may be timestamps, dates or text; what is not a time is missing."""
    corpus = Corpus.from_table(
        pa.table(
            {
                "origin": ["a.example"],
                "body": ["User-agent: *\nDisallow: /"],
                "fetched_at": ["2024-05-01"],
            }
        )
    )
    for times in (
        pa.array([datetime(2024, 5, 1, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC), None]),
        pa.array(["2024-05-01T01:00:00Z", "2024-04-01", "soon"]),
    ):
        table = pa.table({"url": ["https://a.example/"] * 3, "crawled_at": times})
        checked = corpus.check(table, product_tokens="bot", at="crawled_at")
        assert checked["allowed"].to_pylist() == [False, None, None]
        assert checked["in_force"].to_pylist() == [True, False, False]


def test_files_without_a_time() -> None:
    """Without `at=` the last row counts; with it, a fetch without a time is no evidence."""
    table = pa.table({"origin": ["a.example"] * 2, "body": ["User-agent: *\nDisallow: /", ""]})
    urls = pa.table({"url": ["https://a.example/"], "t": [5.0]})
    corpus = Corpus.from_table(table)
    assert corpus.check(urls, product_tokens="bot")["allowed"].to_pylist() == [True]
    assert corpus.check(urls, product_tokens="bot", at="t")["access"].to_pylist() == ["missing"]


# --- Sources, batches, misuse ---------------------------------------------------------------------


def test_from_mapping() -> None:
    """Values are content, parsed files, statuses, or None."""
    truncated = robotrules.parse(b"User-agent: *\nDisallow: /\nAllow: /a", complete=False)
    corpus = Corpus.from_mapping(
        {"a.example": truncated, "https://b.example/x": None, "c.example": "é"}
    )
    assert len(corpus) == 3
    assert corpus.origins.to_pylist() == [f"https://{host}.example" for host in "abc"]
    checked = corpus.check(pa.table({"url": ["https://a.example/a"]}), product_tokens="bot")
    assert checked["line"].to_pylist() == [2]
    assert repr(corpus) == "<Corpus: 3 origins, 3 fetches, 2 different files, profile default>"
    for value, message in [(7, "use 100 to 999"), (1.5, "pass bytes, str"), (True, "pass bytes")]:
        with pytest.raises((TypeError, ValueError), match=message):
            Corpus.from_mapping({"a.example": value})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="'a b' has no origin: use keys"):
        Corpus.from_mapping({"a b": b""})
    with pytest.raises(ValueError, match="pass profile='default'"):
        Corpus.from_mapping({"a.example": truncated}, profile="strict")


def test_rejects() -> None:
    """Rows that cannot be used are counted with their places."""
    corpus = Corpus.from_table(pa.table({"url": ["https://a.example", "?"], "status": [404, 404]}))
    assert corpus.rejects == (Reject("", "row 2", "no origin in '?': pass a URL or a host"),)
    assert "1 rejects" in repr(corpus)


def test_an_empty_corpus() -> None:
    """A corpus without files knows nothing."""
    corpus = Corpus.from_mapping({})
    urls = pa.table({"url": ["https://a.example/", None], "t": [1.0, 1.0]})
    for at in (None, "t"):
        checked = corpus.check(urls, product_tokens="bot", at=at)
        assert checked["access"].to_pylist() == ["missing", None]
    assert len(corpus.check(urls.slice(2), product_tokens="bot")) == 0
    assert corpus.check(urls.slice(2), product_tokens="bot").schema.names[-1] == "access"


def test_batches() -> None:
    """Batches, readers and tables are answered one after another, all alike."""
    urls = ["https://a.example/x", None, "http://a.example/"] * 5
    table = pa.table({"url": urls})
    whole = CORPUS.check(table, product_tokens="bot")
    readers: list[Any] = [
        table.to_batches(max_chunksize=4),
        table.to_reader(4),
        iter(table.to_batches(max_chunksize=1)),
        table,
    ]
    for reader in readers:
        batches = list(CORPUS.check_batches(reader, product_tokens="bot"))
        assert pa.Table.from_batches(batches).to_pylist() == whole.to_pylist()
        assert all(batch.schema.equals(whole.schema) for batch in batches)
    assert list(CORPUS.check_batches([], product_tokens="bot")) == []


def test_batches_are_lazy() -> None:
    """A batch is read when it is asked for."""
    read = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(5):
            read.append(number)
            yield pa.record_batch({"url": ["https://a.example/"]})

    checked = CORPUS.check_batches(batches(), product_tokens="bot")
    next(checked)
    assert read == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"product_tokens": ()}, r"pass product_tokens=\['ExampleBot'\]"),
        ({"product_tokens": 5}, "pass a list such as"),
        ({"product_tokens": ["bot", ["bot", "x"]]}, "two crawlers are called 'bot'"),
        ({"product_tokens": [""]}, "pass the crawler's name"),
        ({"url": "link"}, r"no column 'link' \(url=\): the table has url, n, allowed_by"),
        ({"url": "n"}, "column 'n' has the type int64; URLs are text: cast it"),
        ({"at": "when"}, r"no column 'when' \(at=\)"),
        ({"at": "flags"}, "column 'flags' has the type bool; times are"),
        ({"missing": "ignore"}, "use None, 'allow' or 'disallow'"),
        ({"max_age": 5}, "max_age needs at="),
        ({"max_age": -1, "at": "n"}, "pass seconds, 0 or more"),
        ({"max_age": "1d", "at": "n"}, "pass seconds, or a timedelta"),
        ({"threads": -1}, "pass 1 or more, or 0"),
        ({"purposes": "x"}, "purposes are a list of str"),
        (
            {"prefix": "robots_"},
            "columns called robots_rule already: rename them, or pass a prefix",
        ),
    ],
)
def test_misuse(arguments: dict[str, Any], message: str) -> None:
    """Misuse raises at once and says what to do instead."""
    names = ["url", "n", "allowed_by", "flags", "robots_rule"]
    table = pa.table([["x"], [1], ["x"], [True], ["x"]], names=names)
    with pytest.raises((TypeError, ValueError), match=message):
        CORPUS.check(table, **{"product_tokens": "bot", **arguments})
    with pytest.raises((TypeError, ValueError), match=message):
        CORPUS.check_batches(table.to_batches(), **{"product_tokens": "bot", **arguments})


def test_other_misuse() -> None:
    """Wrong tables, options and batches."""
    with pytest.raises(TypeError, match=r"pass pyarrow\.table"):
        CORPUS.check(["https://a.example"], product_tokens="bot")
    with pytest.raises(TypeError, match=r"pass table\.to_batches"):
        CORPUS.check_batches(5, product_tokens="bot")
    with pytest.raises(TypeError, match="unknown option 'profil': use profile, access"):
        Corpus.from_mapping({}, profil="strict")
    with pytest.raises(ValueError, match="pass a number of bytes"):
        Corpus.from_mapping({}, max_cache_bytes=-1)
    with pytest.raises(TableError, match="not the normal form"):
        Corpus.from_batches([(pa.record_batch({"origin": ["x"]}), [])])
    batches = [pa.record_batch({"url": ["x"]}), pa.record_batch({"url": [b"x"]})]
    with pytest.raises(TableError, match="pass batches of one schema"):
        list(CORPUS.check_batches(batches, product_tokens="bot"))


# --- The cache ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 3_000, 100_000])
def test_eviction(size: int) -> None:
    """A cache of any size gives the same answers, and keeps to its size."""
    files = {
        f"https://h{number}.example": b"User-agent: *\nDisallow: /%d\n" % (number % 40)
        for number in range(60)
    }
    parsed = {origin: robotrules.parse(body) for origin, body in files.items()}
    corpus = Corpus.from_mapping(files, max_cache_bytes=size)
    urls = [f"https://h{7 * number % 61}.example/{number % 40}" for number in range(500)]
    table = pa.table({"url": [*urls, None, "x"]})
    for _ in range(2):
        for token in ("bot", "other"):
            checked = corpus.check(table, product_tokens=token)
            assert answers(checked) == [
                expect(url and url.encode(), parsed, "bot") for url in table["url"].to_pylist()
            ]
        both = corpus.check(table, product_tokens=["a", "b"])
        assert both["b.rule"].to_pylist() == checked["rule"].to_pylist()
    assert corpus.cache_bytes <= size


def test_same_files_are_kept_once() -> None:
    """Files with the same content are one."""
    corpus = Corpus.from_mapping({f"h{number}.example": b"Disallow: /" for number in range(50)})
    assert (len(corpus), corpus.fetches, corpus.files) == (50, 50, 1)


def test_threads_share_a_corpus() -> None:
    """Ten threads with different questions get their own answers; the cache is too small."""
    files = {
        f"https://h{number}.example": b"User-agent: b%d\nDisallow: /\n\n" % (number % 10)
        + b"User-agent: *\nDisallow: /%d" % number
        for number in range(40)
    }
    parsed = {origin: robotrules.parse(body) for origin, body in files.items()}
    rows = [{"origin": origin, "body": body, "fetched_at": 1.0} for origin, body in files.items()]
    corpus = Corpus.from_table(pa.Table.from_pylist(rows), max_cache_bytes=20_000)
    urls = [f"https://h{number % 40}.example/{number % 3}" for number in range(400)]
    wrong: list[Any] = []

    def ask(token: str, at: str | None) -> None:
        table = pa.table({"url": urls, "t": [2.0] * len(urls)})
        for _ in range(5):
            checked = answers(corpus.check(table, product_tokens=token, at=at, threads=1))
            expected = [expect(url.encode(), parsed, token) for url in urls]
            if checked != expected:
                wrong.append(token)

    threads = [Thread(target=ask, args=(f"b{n}", "t" if n % 2 else None)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- WARC files -----------------------------------------------------------------------------------


def test_from_warc(tmp_path: Path) -> None:
    """Captures of several archives, with a redirect between origins, and a damaged record."""
    first, second = tmp_path / "a.warc.gz", tmp_path / "b.warc"
    moved = http(b"", "301 Moved", "Location: https://host1.example/robots.txt\r\n")
    first.write_bytes(
        member(record(1)) + member(record(2, moved)) + member(record(3, http(b"", "404 No")))
    )
    second.write_bytes(
        record(4, http(b"User-agent: *\nDisallow: /", "200 OK")) + b"WARC/1.1\r\nbroken"
    )
    corpus = Corpus.from_warc([first, second])
    table = pa.table({"url": [f"https://host{number}.example/x" for number in range(1, 6)]})
    checked = corpus.check(table, product_tokens="bot")
    assert checked["allowed"].to_pylist() == [False, False, True, False, None]
    assert checked["access"].to_pylist() == [
        *("success", "success", "unavailable", "success", "missing")
    ]
    assert [reject.source for reject in corpus.rejects] == [str(second)]
    assert len(Corpus.from_warc(first)) == 3


def test_a_column_without_times_is_the_wrong_column() -> None:
    """A column of text in which no value is a time raises; a single bad value does not."""
    corpus = Corpus.from_mapping({"https://a.example": "User-agent: *\nDisallow: /\n"})
    urls = ["https://a.example/x", "https://a.example/y"]
    table = pa.table({"url": urls, "at": ["yesterday", "2026-11-18T00:00:00Z"]})
    assert (
        corpus.check(table, at="at", product_tokens=["A"])["access"].to_pylist() == ["missing"] * 2
    )
    with pytest.raises(TableError, match=r"column 'url' has no time that can be read"):
        corpus.check(table, at="url", product_tokens=["A"])
