"""Cache: what a fetch record contains, for how long, and when to retry (AMB-50, AMB-60)."""

from __future__ import annotations

import json
from math import inf

import pytest

from robotrules.access import CachedCopy, Hop
from robotrules.cache import (
    MAX_FIELD_BYTES,
    MAX_RETRY_AFTER,
    Entry,
    Provenance,
    body_digest,
    format_timestamp,
    is_truncated,
    make_cached_copy,
    parse_retry_after,
    updated_entry,
)
from robotrules.tags import read_fields
from tests.cache_samples import (
    DAY,
    DEFAULT,
    FILE,
    HOUR,
    ORIGIN,
    ROBOTS,
    START,
    entry_of,
    fetch_record,
    result,
)


def test_fetch_of_a_file() -> None:
    """A fetch record has all that evidence needs, and the digest of the body in place of it."""

    hops = (Hop(ROBOTS, 301, "/r.txt"),)
    made = fetch_record(
        0, result(200, ("ETag", '"a"'), url=f"{ORIGIN}/r.txt", hops=hops, complete=False)
    )

    assert made.digest == body_digest(FILE)
    assert (made.size, made.complete, made.usable, made.may_store) == (len(FILE), False, True, True)
    assert (made.at, made.until) == (START, START + DAY)
    told = json.loads(json.dumps(made.as_dict()))
    assert told["at"] == "2026-01-01T00:00:00.000+00:00"
    assert told["until"] == "2026-01-02T00:00:00.000+00:00"
    assert told["hops"] == [{"url": ROBOTS, "status": 301, "location": "/r.txt"}]
    assert (told["state"], told["failure_reason"], told["sha256"]) == ("success", None, made.digest)


def test_fetch_without_a_file() -> None:
    """Without a file there is no digest; an empty file has one."""

    assert fetch_record(0, result(404)).digest is None
    assert fetch_record(0, result(503)).digest is None
    assert fetch_record(0, result(503)).as_dict()["failure_reason"] == "status"
    assert fetch_record(0, result(200, body=b"")).digest == body_digest(b"")


def test_no_store() -> None:
    """A file with no-store may be cached but not stored; for a failure that is irrelevant."""

    field = ("Cache-Control", "no-store")

    assert not fetch_record(0, result(200, field)).may_store
    assert not fetch_record(0, result(404, field)).may_store
    assert fetch_record(0, result(503, field)).may_store
    assert fetch_record(0, result(200, ("Cache-Control", "private"))).may_store


def test_pauses() -> None:
    """Twice as long each time, at most an hour, however often."""

    entry, pauses = None, []
    for _ in range(9):
        made = fetch_record(0, result(503), entry)
        pauses.append(made.until - made.at)
        entry = updated_entry(entry, made)

    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert entry is not None
    many = entry._replace(failures=10**6)
    assert fetch_record(0, result(503), many).until - START == 3600
    forever = DEFAULT.replace(max_backoff=inf)
    assert fetch_record(0, result(503), many, forever).until - START == 60 * 2.0**32


def test_pause_after_a_usable_fetch() -> None:
    """Failures before the last usable fetch do not count."""

    entry = entry_of((0, result(503)), (60, result(503)), (180, result()))

    assert fetch_record(DAY, result(503), entry).until - START == DAY + 60


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("000120", 120),
        ("86400", MAX_RETRY_AFTER),
        ("86401", MAX_RETRY_AFTER),
        ("9" * 5_000, MAX_RETRY_AFTER),
        ("0" * 5_000 + "5", 5),
        ("Thu, 01 Jan 2026 00:10:00 GMT", 600),
        ("Thursday, 01-Jan-26 00:10:00 GMT", 600),
        ("Thu Jan  1 00:10:00 2026", 600),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", MAX_RETRY_AFTER),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("²", None),
        ("", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    """Seconds or a date, at most a day; of several lines the first."""

    fields = read_fields([("Retry-After", value.encode()), ("Retry-After", "5")])

    assert parse_retry_after(fields, START) == seconds
    assert parse_retry_after(read_fields([]), START) is None


def test_pause_until_a_date() -> None:
    """A Retry-After date is counted from the fetch; a pause shorter than usual is ignored."""

    asked = ("Retry-After", "Thu, 01 Jan 2026 00:10:00 GMT")

    assert fetch_record(60, result(503, asked)).until == START + 600
    assert fetch_record(590, result(503, asked)).until == START + 590 + 60


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ([("Expires", "Thu, 01 Jan 2026 01:00:00 GMT")], HOUR),
        (
            [
                ("Date", "Wed, 31 Dec 2025 23:50:00 GMT"),
                ("Expires", "Thu, 01 Jan 2026 01:00:00 GMT"),
            ],
            HOUR,
        ),
        ([("Date", "Wed, 31 Dec 2025 23:50:00 GMT"), ("Cache-Control", "max-age=3600")], 3_000),
        ([("Expires", "0")], 300),
        ([("Expires", "Thu, 01 Jan 2026 00:01:00 GMT")], 300),
        ([("Expires", "Fri, 02 Jan 2026 00:01:00 GMT")], DAY),
        # A tenth of ten hours would be an hour: that is a guess, which is not made here.
        ([("Last-Modified", "Wed, 31 Dec 2025 14:00:00 GMT")], DAY),
    ],
)
def test_lifetimes(fields: list[tuple[str, str]], seconds: float) -> None:
    """The lifetime of an answer counts from its arrival, from five minutes to a day (AMB-60)."""

    assert fetch_record(0, result(200, *fields)).until == START + seconds


def test_recorded_failures() -> None:
    """Failures are counted from the first after the last usable fetch."""

    entry = entry_of((0, result()), (DAY, result(503)), (2 * DAY, result(None)))

    assert entry.last_success is not None
    assert entry.last_failure is not None
    assert (entry.failing_since - START, entry.failures) == (DAY, 2)
    assert (entry.last_success.at - START, entry.last_failure.at - START) == (0, 2 * DAY)
    assert entry.last_fetch_at == entry.last_failure.at
    told = json.loads(json.dumps(entry.as_dict()))
    assert told["failing_since"] == "2026-01-02T00:00:00.000+00:00"
    assert told["failures"] == 2


def test_recorded_usable_fetch() -> None:
    """A usable fetch is all that counts from then on."""

    before = entry_of((0, result()), (DAY, result(503)))
    made = fetch_record(2 * DAY, result(404), before)

    assert updated_entry(before, made) == Entry(ORIGIN, "ExampleBot", last_success=made)
    told = updated_entry(before, made).as_dict()
    assert (told["last_failure"], told["failing_since"], told["failures"]) == (None, None, 0)


def test_fetches_as_plain_values() -> None:
    """Every field by its name; an entry has both fetches, or None."""

    hop = Hop(ROBOTS, 301, "/r")
    good = fetch_record(0, result(200, ("X", "1"), hops=(hop,), complete=False, revalidated=True))
    told = good.as_dict()

    assert told == {
        "origin": ORIGIN,
        "user_agent": "ExampleBot/1.0",
        "at": "2026-01-01T00:00:00.000+00:00",
        "state": "success",
        "status": 200,
        "failure_reason": None,
        "detail": "",
        "url": ROBOTS,
        "hops": [{"url": ROBOTS, "status": 301, "location": "/r"}],
        "fields": [{"name": "x", "value": "1"}],
        "sha256": body_digest(FILE),
        "octets": len(FILE),
        "complete": False,
        "revalidated": True,
        "until": "2026-01-02T00:00:00.000+00:00",
        "may_store": True,
        "address": "192.0.2.1",
        "source": "own",
        "archive": None,
    }
    failed = fetch_record(DAY, result(503, detail="status 503"), updated_entry(None, good))
    assert (failed.as_dict()["failure_reason"], failed.as_dict()["detail"]) == (
        "status",
        "status 503",
    )
    assert (failed.digest, failed.size, failed.may_store) == (None, 0, True)
    assert type(told["state"]) is type(failed.as_dict()["failure_reason"]) is str
    assert updated_entry(updated_entry(None, good), failed).as_dict() == {
        "origin": ORIGIN,
        "agent": "ExampleBot",
        "last_success": told,
        "last_failure": failed.as_dict(),
        "failing_since": "2026-01-02T00:00:00.000+00:00",
        "failures": 1,
    }


def test_imported_fetch_as_plain_values() -> None:
    """It names the archive that it came from."""

    own = fetch_record(0, result())
    imported = own._replace(provenance=Provenance("a.warc.gz", "00ff", START + 1))

    assert imported.as_dict() == own.as_dict() | {
        "source": "import",
        "archive": {
            "name": "a.warc.gz",
            "sha256": "00ff",
            "imported": "2026-01-01T00:00:01.000+00:00",
        },
    }


def test_last_fetch() -> None:
    """An entry without fetches is older than any."""

    assert Entry(ORIGIN, "ExampleBot").last_fetch_at == 0
    assert Entry(ORIGIN, "ExampleBot").as_dict()["last_success"] is None


def test_stored() -> None:
    """A 304 can renew a file whose octets are available, and nothing else."""

    fields = [("ETag", '"a"')]
    file = entry_of((0, result(200, *fields, complete=False)), (DAY, result(503)))

    assert make_cached_copy(file, FILE) == CachedCopy(
        ROBOTS, FILE, read_fields(fields), False, START
    )
    assert make_cached_copy(file, None) is None
    assert make_cached_copy(None, FILE) is None
    assert make_cached_copy(entry_of((0, result(503))), FILE) is None
    assert make_cached_copy(entry_of((0, result(404))), FILE) is None


def test_fields_that_are_many() -> None:
    """Of more than 16 KiB, caching fields are kept wherever they are, and others if they fit."""

    some = [(f"a-{number:03}", "a" * 95) for number in range(200)]
    caching = [
        *(("Age", "1"), ("Cache-Control", "max-age=900"), ("Content-Type", "text/plain")),
        *(("Date", "Thu, 01 Jan 2026 00:00:00 GMT"), ("ETag", '"a"')),
        ("Expires", "Thu, 01 Jan 2026 01:00:00 GMT"),
        ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"),
    ]
    made = fetch_record(0, result(200, *some, *caching))

    names = [name for name, _ in made.fields.lines]
    assert made.fields.apart is True
    assert names[:7] == [name.lower() for name, _ in caching]
    assert names[7:] == [name for name, _ in some[: len(names) - 7]]
    octets = sum(len(name) + len(value) for name, value in made.fields.lines)
    assert MAX_FIELD_BYTES - 100 < octets <= MAX_FIELD_BYTES
    assert made.until == START + 899
    # What is within the limit is as it came, to the last octet.
    room = MAX_FIELD_BYTES - len("x") - len("age")
    fits = fetch_record(0, result(200, ("x", "a" * room), ("age", "")))
    assert [name for name, _ in fits.fields.lines] == ["x", "age"]
    over = fetch_record(0, result(200, ("x", "a" * (room + 1)), ("age", "")))
    assert [name for name, _ in over.fields.lines] == ["age"]
    over = fetch_record(0, result(200, ("x", "a" * (room + 3)), ("y", "")))
    assert [name for name, _ in over.fields.lines] == ["x"]
    large = fetch_record(0, result(200, ("ETag", '"a"'), ("x", "a" * MAX_FIELD_BYTES), ("y", "")))
    assert [name for name, _ in large.fields.lines] == ["etag"]


def test_bad_validators_are_not_kept() -> None:
    """What must not be sent back is dropped before it is stored; other fields stay."""

    date = "Thu, 01 Jan 2026 00:00:01 GMT"
    fields = [("ETag", "*"), ("Last-Modified", date), ("X", "1")]

    assert fetch_record(0, result(200, *fields)).fields.lines == (("x", b"1"),)
    assert len(fetch_record(1, result(200, *fields)).fields.lines) == 2


def test_moments() -> None:
    """A moment is ISO 8601; what no calendar has is a number."""

    assert format_timestamp(START + 0.25) == "2026-01-01T00:00:00.250+00:00"
    for strange in (inf, -inf, float("nan"), 1e300):
        assert format_timestamp(strange) == str(strange)


@pytest.mark.parametrize(
    ("complete", "limit", "is_less"),
    [
        (True, 10**6, False),
        (False, len(FILE), False),
        (False, len(FILE) + 1, True),
        (False, 0, False),
    ],
)
def test_what_another_client_cut(complete: bool, limit: int, is_less: bool) -> None:
    """A file that was cut at fewer octets than this client reads is not the file it would read."""

    entry = entry_of((0, result(200, complete=complete)))

    assert is_truncated(entry.last_success, limit) is is_less
    assert (make_cached_copy(entry, FILE, limit) is None) is is_less
    assert not is_truncated(None, limit)
    assert make_cached_copy(entry_of((0, result(200, complete=False, body=b""))), b"") is not None
