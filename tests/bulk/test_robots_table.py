"""Tables of robots.txt files: what users have, in the normal form."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

from robotrules.bulk import Reject
from robotrules.bulk.robots_table import SCHEMA, normalize
from robotrules.errors import TableError
from robotrules.http.origins import parse_origin

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def read(
    data: Any, columns: dict[str, str] | None = None, source: str = ""
) -> tuple[list[dict[str, Any]], list[Reject]]:
    """Return the rows and rejects of a table, and check that none is lost."""
    rows: list[dict[str, Any]] = []
    rejects: list[Reject] = []
    for batch, wrong in normalize(data, columns=columns, source=source):
        assert batch.schema.equals(SCHEMA)
        batch.validate(full=True)
        rows += batch.to_pylist()
        rejects += wrong
    assert len(rows) + len(rejects) == (len(data) if hasattr(data, "__len__") else data.num_rows)
    return rows, rejects


def test_the_normal_form() -> None:
    """A table with all columns in other types, as users have them."""
    table = pa.table(
        {
            "url": ["HTTPS://Example.com:443/robots.txt", "http://b.example/robots.txt"],
            "status": ["200", "301"],
            "body": ["User-agent: *", None],
            "fetched_at": ["2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00"],
            "location": [None, "/other"],
            "complete": [None, False],
        }
    )
    rows, rejects = read(table, source="a.csv")
    assert rejects == []
    assert rows == [
        {
            "origin": "https://example.com",
            "url": "HTTPS://Example.com:443/robots.txt",
            "status": 200,
            "body": b"User-agent: *",
            "fetched_at": NOON,
            "location": None,
            "complete": True,
            "source": "a.csv",
        },
        {
            "origin": "http://b.example",
            "url": "http://b.example/robots.txt",
            "status": 301,
            "body": None,
            "fetched_at": NOON,
            "location": "http://b.example/other",
            "complete": False,
            "source": "a.csv",
        },
    ]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_binary()),
    ],
    ids=str,
)
def test_types_of_text(kind: pa.DataType) -> None:
    """Every type of text and bytes, with nulls, sliced and in chunks."""
    texts = pa.array(["drop", "https://a.example", None, "b.example"]).cast(kind)
    bodies = pa.array(["", "Disallow: /ä", "x", None]).cast(kind)
    table = pa.table(
        {
            "origin": pa.chunked_array([texts.slice(1, 1), texts.slice(2)]),
            "body": pa.chunked_array([bodies.slice(1)]),
        }
    )
    rows, rejects = read(table)
    assert [(row["origin"], row["status"], row["body"]) for row in rows] == [
        ("https://a.example", 200, "Disallow: /ä".encode()),
        ("https://b.example", None, None),
    ]
    assert rejects == [Reject("", "row 2", "no origin in None: pass a URL or a host")]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (pa.array([NOON], pa.timestamp("us", tz="Europe/Berlin")), NOON),
        (pa.array([NOON.replace(tzinfo=None)], pa.timestamp("ns")), NOON),
        (pa.array([NOON.replace(tzinfo=None)], pa.timestamp("s")), NOON),
        (pa.array([date(2024, 5, 1)], pa.date32()), NOON.replace(hour=0)),
        (pa.array([date(2024, 5, 1)], pa.date64()), NOON.replace(hour=0)),
        (pa.array([1714564800]), NOON),
        (pa.array([1714564800], pa.uint32()), NOON),
        (pa.array([1714564800.25]), NOON + timedelta(milliseconds=250)),
        (pa.array([float("nan")]), None),
        (pa.array(["2024-05-01"]), NOON.replace(hour=0)),
        (pa.array(["2024-05-01 12:00"]), NOON),
        (pa.array(["2024-05-01T12:00:00.000000"]), NOON),
        (pa.array([b" 2024-05-01T07:00:00-0500 "]), NOON),
        (pa.array(["20240501T120000Z"]), NOON),
        (pa.array([""]), None),
        (pa.nulls(1), None),
        (pa.array(["2024-05-01T12:00:00Z"]).dictionary_encode(), NOON),
    ],
    ids=str,
)
def test_times(times: pa.Array, expected: datetime | None) -> None:
    """All types of times; without a zone a time is UTC."""
    rows, rejects = read(pa.table({"origin": ["a.example"], "fetched_at": times}))
    assert rejects == []
    assert rows[0]["fetched_at"] == expected


def test_mixed_time_text() -> None:
    """Text with and without zones, and wrong text: each row by itself."""
    texts = ["2024-05-01T12:00:00", "2024-05-01T12:00:00Z", "2024-13-01T12:00:00", "soon", None]
    rows, rejects = read(pa.table({"origin": ["a.example"] * 5, "fetched_at": texts}))
    assert [row["fetched_at"] for row in rows] == [NOON, NOON, None]
    assert [reject.place for reject in rejects] == ["row 3", "row 4"]
    assert "'soon' is not a time: use" in rejects[1].reason


@pytest.mark.parametrize(
    "time",
    [
        pa.array([10**15]),
        pa.array([-1e300]),
        pa.array([2**62], pa.timestamp("s")),
        pa.array([2**62], pa.timestamp("us")),
        pa.array([2**62], pa.timestamp("ms", tz="UTC")),
    ],
    ids=str,
)
def test_times_out_of_range(time: pa.Array) -> None:
    """A time that no calendar has, such as milliseconds taken for seconds, is a reject."""
    table = pa.table({"origin": ["a.example"], "fetched_at": time})
    rows, rejects = read(table)
    assert rows == []
    assert "is not a time" in rejects[0].reason


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (pa.array([404], pa.uint16()), 404),
        (pa.array([404.0]), 404),
        (pa.array([float("nan")]), None),
        (pa.array([" 404 "]), 404),
        (pa.array([""]), None),
        (pa.array([None], pa.int64()), None),
        (pa.array([999]), 999),
        (pa.array(["404"]).dictionary_encode(), 404),
    ],
    ids=str,
)
def test_statuses(status: pa.Array, expected: int | None) -> None:
    """Numbers and text; null and empty text: there was no response."""
    rows, rejects = read(pa.table({"origin": ["a.example"], "status": status}))
    assert rejects == []
    assert rows[0]["status"] == expected


@pytest.mark.parametrize("status", [0, 99, 1000, -1, 2**40, 200.5, 1e300, "ok", "2 00", "20000"])
def test_wrong_statuses(status: Any) -> None:
    """A wrong status is a reject, and so is not a file."""
    rows, rejects = read(pa.table({"origin": ["a.example"], "status": [status], "body": [b"x"]}))
    assert rows == []
    assert rejects == [Reject("", "row 1", f"{status!r} is not an HTTP status from 100 to 999")]


def test_an_empty_body_of_a_failed_fetch() -> None:
    """CSV has no null: an empty body without a status must not become a file that allows all."""
    table = pa.table(
        {"origin": ["a.example"] * 3, "status": [None, 200, None], "body": ["", "", "x"]}
    )
    rows, _ = read(table)
    assert [(row["status"], row["body"]) for row in rows] == [(None, None), (200, b""), (200, b"x")]
    rows, _ = read(table.select(["origin", "body"]))
    assert [(row["status"], row["body"]) for row in rows] == [(200, b""), (200, b""), (200, b"x")]


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("https://www.a.example/robots.txt", "https://www.a.example/robots.txt"),
        ("HTTPS://user:secret@WWW.a.example#x", "https://www.a.example/"),
        ("//b.example/r", "https://b.example/r"),
        ("robots2.txt", "https://a.example/robots2.txt"),
        ("mailto:a@b", None),
        ("", None),
        ("//[", None),
    ],
)
@pytest.mark.parametrize("url", [None, "https://a.example/robots.txt", "/robots.txt"])
def test_locations(location: str, expected: str | None, url: str | None) -> None:
    """Targets of redirects are resolved; userinfo is left out."""
    table = pa.table(
        {
            "origin": ["a.example"] * 2,
            "url": [url] * 2,
            "status": [308, 200],
            "location": [location] * 2,
        }
    )
    rows, _ = read(table)
    assert [row["location"] for row in rows] == [expected, None]


def test_bytes_that_are_not_utf8() -> None:
    """Odd bytes in text are percent-encoded; in a host they are no origin."""
    urls = [b"https://a.example/\xff", b"https://\xff.example/", "https://ä.example/".encode()]
    rows, rejects = read(pa.table({"url": urls}))
    assert [(row["origin"], row["url"]) for row in rows] == [
        ("https://a.example", "https://a.example/%FF"),
        ("https://xn--4ca.example", "https://ä.example/"),
    ]
    assert [reject.place for reject in rejects] == ["row 2"]


def test_names_of_columns() -> None:
    """`columns=` names columns, and `robotstxt_url` is a name of `url`."""
    table = pa.table({"robotstxt_url": ["https://a.example/robots.txt"], "content": ["x"]})
    rows, _ = read(table, {"body": "content"})
    assert (rows[0]["origin"], rows[0]["body"]) == ("https://a.example", b"x")
    rows, _ = read(table, {"origin": "robotstxt_url"})
    assert (rows[0]["origin"], rows[0]["url"]) == ("https://a.example", None)


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        (pa.table({"page": ["x"], "body": ["y"]}), {}, "this one has page, body: rename one"),
        (pa.table({}), {}, "this one has no columns"),
        (pa.table({"url": ["x"]}), {"text": "url"}, "unknown name 'text': use origin, url"),
        (pa.table({"url": ["x"]}), {"body": "text"}, "no column 'text' .*the table has url"),
        (pa.table([["x"], ["y"]], names=["url", "url"]), {}, "2 columns are called 'url'"),
        (pa.table({"url": [1]}), {}, "column 'url' has the type int64; url is text: cast it"),
        (pa.table({"url": ["x"], "status": [[1]]}), {}, "'status' has the type list"),
        (pa.table({"url": ["x"], "fetched_at": [True]}), {}, "'fetched_at' has the type bool"),
        (pa.table({"url": ["x"], "complete": ["yes"]}), {}, "complete is bool"),
    ],
)
def test_wrong_tables(table: pa.Table, columns: dict[str, str], message: str) -> None:
    """A table that cannot be used raises at once: what, where, and how to fix it."""
    with pytest.raises(TableError, match=message):
        normalize(table, columns=columns)


def test_not_a_table() -> None:
    """Other values raise a TypeError that says what to pass."""
    with pytest.raises(TypeError, match=r"pass pyarrow\.table"):
        normalize([{"origin": "a.example"}])


def test_batches_and_places() -> None:
    """Rows of long tables come in batches; places count from the first row of the table."""
    count = 150_000
    origins = [f"https://h{number}.example" for number in range(count)]
    origins[140_000] = "nothing here"
    batches = list(normalize(pa.table({"origin": origins}), source="big.parquet"))
    assert len(batches) > 1
    assert [reject for _, rejects in batches for reject in rejects] == [
        Reject("big.parquet", "row 140001", "no origin in 'nothing here': pass a URL or a host")
    ]
    assert sum(len(batch) for batch, _ in batches) == count - 1


def test_a_record_batch_and_other_libraries() -> None:
    """A batch of pyarrow and a frame of Polars."""
    polars = pytest.importorskip("polars")
    batch = pa.record_batch({"origin": ["a.example"], "status": [404]})
    assert read(batch)[0][0]["status"] == 404
    rows, _ = read(polars.DataFrame({"origin": ["a.example"], "fetched_at": [NOON]}))
    assert rows[0]["fetched_at"] == NOON


HOSTS = st.one_of(
    st.text(max_size=30),
    st.from_regex(
        r"(https?://)?([a-zA-Z0-9-]{1,8}\.){0,3}[a-z0-9]{1,8}(:[0-9]{1,6})?(/.*)?", fullmatch=True
    ),
    st.sampled_from(
        [
            *(
                "https://xn--a-.example",
                "http://1.2.3.4",
                "http://0x7f.1",
                "//a.example",
                "a@b.example",
            ),
            *(
                "https://a.example.",
                "http://[::1]:80/",
                f"https://{'a' * 64}.example",
                "https://a..b",
            ),
            *(
                "https://" + "a." * 126 + "ab",
                "https://" + "a." * 126 + "abc",
                "https://foo-.example",
            ),
            *(
                "https://a.example\\@b.example",
                "https://a.example:443",
                "https://a_b.example?x",
                "ftp://a",
            ),
        ]
    ),
)


@given(st.lists(st.none() | HOSTS, max_size=8))
def test_origins_are_those_of_parse_origin(texts: list[str | None]) -> None:
    """Every text gets the origin that the rest of the package gives it."""
    rows, rejects = read(pa.table({"origin": pa.array(texts, pa.string())}))
    expected = [parse_origin(text) if text is not None else None for text in texts]
    assert [row["origin"] for row in rows] == [origin for origin in expected if origin]
    assert len(rejects) == expected.count(None)


def test_zones() -> None:
    """A zone is applied."""
    zone = timezone(timedelta(hours=-7))
    time = datetime(2024, 5, 1, 5, tzinfo=zone)
    table = pa.table({"origin": ["a.example"], "fetched_at": [time.isoformat()]})
    assert read(table)[0][0]["fetched_at"] == NOON
