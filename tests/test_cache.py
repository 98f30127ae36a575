"""
Cache: what decides at a moment, and what is remembered of a visit (RFC 9309 §2.4; AMB-58 to -60).

`conformance/vectors/cache/` has whole timelines. Here are the two pure functions for themselves,
with clocks that jump, entries that other profiles wrote, and refresh in the background.
"""

from __future__ import annotations

import json
from math import inf
from typing import Any

import pytest

from robotrules.access import ACCESS_PROFILES, AccessResult, Hop, State, Stored, Trouble
from robotrules.cache import (
    EARLY,
    LONGEST_RETRY_AFTER,
    MOST_FIELD_OCTETS,
    SKEW,
    Decides,
    Entry,
    Freshness,
    Visit,
    digest_of,
    freshness,
    is_cut,
    moment,
    recorded,
    retry_after,
    stored_of,
    visit_of,
)
from robotrules.tags import read_fields

ORIGIN, ROBOTS = "https://e.example", "https://e.example/robots.txt"
DEFAULT = ACCESS_PROFILES["default"]
STALE, GOOGLE = ACCESS_PROFILES["stale"], ACCESS_PROFILES["google"]
DAY, HOUR = 86_400.0, 3_600.0
# 2026-01-01T00:00:00Z
START = 1_767_225_600.0
FILE = b"User-agent: *\nDisallow: /x\n"


def result(status: int | None = 200, *fields: tuple[str, str], **changes: Any) -> AccessResult:
    """Return what came of an attempt; None: a network error."""
    states = {None: State.UNREACHABLE, 2: State.SUCCESS, 4: State.UNAVAILABLE, 5: State.UNREACHABLE}
    state = states[None if status is None else status // 100]
    trouble = None if state is State.SUCCESS else Trouble.STATUS if status else Trouble.CONNECT
    body = FILE if state is State.SUCCESS else b""
    made = AccessResult(
        *(ORIGIN, state, status, trouble, "", ROBOTS, (), read_fields(list(fields)), body),
        *(True, False, "192.0.2.1"),
    )
    return made._replace(**changes)


def visit(
    at: float, found: AccessResult, entry: Entry | None = None, profile: Any = DEFAULT
) -> Visit:
    """Return a visit that ended so."""
    names = {"agent": "ExampleBot", "user_agent": "ExampleBot/1.0"}
    return visit_of(found, entry, at=START + at, **names, profile=profile)


def entry_of(*visits: tuple[float, AccessResult], profile: Any = DEFAULT) -> Entry:
    """Return what is known after these visits."""
    entry = None
    for at, found in visits:
        entry = recorded(entry, visit(at, found, entry, profile))
    assert entry is not None
    return entry


def at(entry: Entry | None, now: float, profile: Any = DEFAULT, **given: Any) -> Freshness:
    """Return what decides so many seconds after the start; `until` counts from there too."""
    found = freshness(entry, START + now, profile, **given)
    return found._replace(until=found.until - START)


# --- What decides ---------------------------------------------------------------------------------


def test_nothing_is_known() -> None:
    """On first contact the origin is asked."""

    assert at(None, 5) == Freshness(Decides.NOTHING, 5, True, False, "never-fetched")
    empty = Entry(ORIGIN, "ExampleBot")
    assert at(empty, 5) == Freshness(Decides.NOTHING, 5, True, False, "never-fetched")


def test_a_file() -> None:
    """Its rules decide to the end of its lifetime."""

    entry = entry_of((0, result()))

    assert at(entry, 0) == Freshness(Decides.RULES, DAY, False, False, "fresh")
    assert at(entry, DAY - 0.001) == Freshness(Decides.RULES, DAY, False, False, "fresh")
    assert at(entry, DAY) == Freshness(Decides.NOTHING, DAY, True, False, "stale")


def test_no_file() -> None:
    """That there is none decides as long."""

    entry = entry_of((0, result(404, ("Cache-Control", "max-age=600"))))

    assert at(entry, 599) == Freshness(Decides.ALLOW, 600, False, False, "fresh")
    assert at(entry, 600).due


def test_restricted() -> None:
    """With deny_on_401_403 a 403 disallows, whoever recorded it; without it allows."""

    deny = DEFAULT.replace(deny_on_401_403=True)

    for profile in (DEFAULT, deny):
        entry = entry_of((0, result(403)), profile=profile)
        assert at(entry, 1, deny) == Freshness(Decides.DISALLOW, DAY, False, False, "fresh")
        assert at(entry, 1).decides is Decides.ALLOW
    assert at(entry_of((0, result(404))), 1, deny).decides is Decides.ALLOW


def test_a_failure() -> None:
    """Complete disallow, until it is time to try again; then the origin is asked first."""

    entry = entry_of((0, result(503)))

    assert at(entry, 1) == Freshness(Decides.DISALLOW, 60, False, False, "unreachable")
    assert at(entry, 60) == Freshness(Decides.DISALLOW, 60, True, False, "unreachable")


def test_next_change_comes_first() -> None:
    """What holds ends at whatever comes first: the next attempt, the copy, or the 30 days."""

    entry = entry_of((0, result()), (DAY, result(503, ("Retry-After", "86400"))))

    assert at(entry, DAY + 5).until == 2 * DAY
    assert at(entry, DAY + 5, GOOGLE).until == DAY + 12 * HOUR
    assert at(entry, DAY + 13 * HOUR, GOOGLE) == Freshness(
        Decides.RULES, 2 * DAY, False, False, "copy"
    )
    short = DEFAULT.replace(patience=HOUR)
    assert at(entry, DAY + 5, short).until == DAY + HOUR
    assert at(entry, DAY + HOUR, short) == Freshness(
        Decides.ALLOW, 2 * DAY, False, False, "patience"
    )


def test_patience_before_the_stop() -> None:
    """Where patience ends before the stop does, nothing is a copy."""

    entry = entry_of((0, result(503, ("Retry-After", "86400"))))
    profile = DEFAULT.replace(stop=2 * HOUR, patience=HOUR)

    assert at(entry, HOUR - 1, profile).until == HOUR
    assert at(entry, HOUR, profile).because == "patience"


@pytest.mark.parametrize(
    ("profile", "copy", "decides"),
    [
        (STALE, 200, Decides.RULES),
        (STALE, 404, Decides.ALLOW),
        (STALE, None, Decides.DISALLOW),
        (STALE.replace(deny_on_401_403=True), 403, Decides.DISALLOW),
        (STALE.replace(without_copy="allow"), None, Decides.ALLOW),
    ],
)
def test_copy(profile: Any, copy: int | None, decides: Decides) -> None:
    """While unreachable, the copy is whatever the last usable answer said."""

    visits = [(0.0, result(copy))] if copy else []
    entry = entry_of(*visits, (DAY, result(503)))

    assert at(entry, DAY + 1, profile) == Freshness(decides, DAY + 60, False, False, "copy")


@pytest.mark.parametrize(
    ("after", "copy", "decides"),
    [
        ("unavailable", 200, Decides.ALLOW),
        ("unavailable", None, Decides.ALLOW),
        ("cached", 200, Decides.RULES),
        ("cached", 404, Decides.ALLOW),
        ("cached", None, Decides.ALLOW),
    ],
)
def test_after_patience(after: str, copy: int | None, decides: Decides) -> None:
    """After 30 days the file counts as unavailable, or the copy goes on."""

    visits = [(0.0, result(copy))] if copy else []
    entry = entry_of(*visits, (DAY, result(503)), (31 * DAY - 1, result(503)))
    profile = DEFAULT.replace(after_patience=after)

    assert at(entry, 31 * DAY - 0.5, profile).decides is Decides.DISALLOW
    found = at(entry, 31 * DAY, profile)
    assert (found.decides, found.because, found.due) == (decides, "patience", False)


# --- Entries that another profile wrote -----------------------------------------------------------


def test_lifetime_of_another_profile() -> None:
    """A lifetime that was longer when it was written is cut to this profile's."""

    entry = entry_of((0, result()))

    assert at(entry, 0, DEFAULT.replace(longest=600)).until == 600
    assert at(entry, 600, DEFAULT.replace(longest=600)).due


def test_status_of_another_profile() -> None:
    """A 429 that counted as no file is nothing to a profile that takes it as unreachable."""

    lost = result(429, state=State.UNAVAILABLE)
    entry = entry_of((0, lost), profile=ACCESS_PROFILES["strict"])

    assert at(entry, 1, ACCESS_PROFILES["strict"]).decides is Decides.ALLOW
    assert at(entry, 1) == Freshness(Decides.NOTHING, 1, True, False, "never-fetched")


@pytest.mark.parametrize("trouble", [Trouble.LOOP, Trouble.REDIRECTS])
def test_lost_redirects_of_another_profile(trouble: Trouble) -> None:
    """Nor are redirects without a file to a cautious one."""

    entry = entry_of((0, result(404, trouble=trouble)._replace(status=302)))

    assert at(entry, 1).decides is Decides.ALLOW
    assert at(entry, 1, DEFAULT.replace(cautious=True)).due


def test_broken_redirect_of_another_profile() -> None:
    """A broken redirect that google recorded as no file is nothing to the others (AMB-54)."""

    google = ACCESS_PROFILES["google"]
    lost = result(404, trouble=Trouble.LOCATION)._replace(status=301)
    entry = entry_of((0, lost), profile=google)

    assert at(entry, 1, google).decides is Decides.ALLOW
    for name in ("default", "strict", "stale"):
        assert at(entry, 1, ACCESS_PROFILES[name]).due
    later = entry_of((0, lost), (DAY, result(503)), profile=google)
    assert at(later, DAY + 1).decides is Decides.DISALLOW
    assert at(later, DAY + 1, STALE).decides is Decides.DISALLOW


def test_copy_of_another_profile() -> None:
    """What is no answer here is no copy here."""

    lost = result(429, state=State.UNAVAILABLE)
    entry = entry_of((0, lost), (DAY, result(503)), profile=ACCESS_PROFILES["strict"])

    assert at(entry, DAY + 1, STALE).decides is Decides.DISALLOW


# --- In the background ----------------------------------------------------------------------------


def test_stale_file_is_used_meanwhile() -> None:
    """Past its own lifetime a file is used while it is fetched again, to the end of the day."""

    entry = entry_of((0, result(200, ("Cache-Control", "max-age=600"))))
    later: dict[str, Any] = {"background": True}

    assert at(entry, 599, **later) == Freshness(Decides.RULES, 600, False, False, "fresh")
    assert at(entry, 600, **later) == Freshness(Decides.RULES, 600, False, True, "fresh")
    assert at(entry, DAY - 1, **later) == Freshness(Decides.RULES, DAY - 1, False, True, "fresh")
    assert at(entry, DAY, **later) == Freshness(Decides.NOTHING, DAY, True, False, "stale")


def test_refresh_before_the_day_is_over() -> None:
    """A file that holds for a day is fetched again a little before."""

    entry = entry_of((0, result()))

    assert not at(entry, EARLY * DAY - 1, background=True).refresh
    assert at(entry, EARLY * DAY, background=True).refresh
    assert not at(entry, EARLY * DAY).refresh


def test_failure_in_the_background() -> None:
    """A failed refresh waits for its turn; the file goes on to the end of its day."""

    failed = (80_000.0, result(503))
    entry = entry_of((0, result()), failed)
    later: dict[str, Any] = {"background": True}

    assert at(entry, 80_001, **later) == Freshness(Decides.RULES, 80_060, False, False, "fresh")
    assert at(entry, 80_060, **later) == Freshness(Decides.RULES, 80_060, False, True, "fresh")
    assert at(entry, DAY, **later) == Freshness(Decides.DISALLOW, DAY, False, True, "unreachable")
    entry = entry_of((0, result()), failed, (DAY - 10, result(503)))
    assert at(entry, DAY - 5, **later).until == DAY
    assert at(entry, DAY, **later) == Freshness(
        Decides.DISALLOW, DAY + 110, False, False, "unreachable"
    )


def test_failure_while_fresh() -> None:
    """Without it, a fresh file decides whatever failed since."""

    entry = entry_of((0, result()), (5, result(503)))

    assert at(entry, 6) == Freshness(Decides.RULES, DAY, False, False, "fresh")


# --- Clocks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [result(), result(503)])
def test_clock_that_was_set_back(found: AccessResult) -> None:
    """A visit in the future is of unknown age, so the origin is asked; a minute is no matter."""

    entry = entry_of((1_000, found))

    assert at(entry, 1_000 - SKEW - 1) == Freshness(
        Decides.NOTHING, 1_000 - SKEW - 1, True, False, "clock"
    )
    assert at(entry, 1_000 - SKEW).because in ("fresh", "unreachable")


def test_failure_after_the_clock_was_set_back() -> None:
    """A file from the future is kept as a copy that is not fresh, for nobody knows its age."""

    entry = entry_of((10 * DAY, result()), (0, result(503)))

    assert entry.good is not None
    assert (entry.good.at, entry.good.until) == (START - DAY, START)
    assert at(entry, 1).decides is Decides.DISALLOW
    assert at(entry, 1, background=True).decides is Decides.DISALLOW
    assert at(entry, 1, STALE).decides is Decides.RULES
    near = entry_of((30, result()), (0, result(503)))
    assert near.good is not None
    assert near.good.at == START + 30


def test_since_is_never_in_the_future() -> None:
    """Failures that began in the future began now."""

    entry = entry_of((50, result(503)))

    assert at(entry, 0, DEFAULT.replace(patience=0.0)).because == "patience"
    assert at(entry, 0, GOOGLE).until == 110
    entry = entry_of((50, result(503)), (0, result(503)))
    assert entry.since == START


# --- What is remembered ---------------------------------------------------------------------------


def test_visit_of_a_file() -> None:
    """A visit has all that evidence needs, and the digest of the body in place of it."""

    hops = (Hop(ROBOTS, 301, "/r.txt"),)
    made = visit(0, result(200, ("ETag", '"a"'), url=f"{ORIGIN}/r.txt", hops=hops, complete=False))

    assert made.digest == digest_of(FILE)
    assert (made.size, made.complete, made.usable, made.may_store) == (len(FILE), False, True, True)
    assert (made.at, made.until) == (START, START + DAY)
    told = json.loads(json.dumps(made.as_dict()))
    assert told["at"] == "2026-01-01T00:00:00.000+00:00"
    assert told["until"] == "2026-01-02T00:00:00.000+00:00"
    assert told["hops"] == [{"url": ROBOTS, "status": 301, "location": "/r.txt"}]
    assert (told["state"], told["trouble"], told["sha256"]) == ("success", None, made.digest)


def test_visit_without_a_file() -> None:
    """Without a file there is no digest; an empty file has one."""

    assert visit(0, result(404)).digest is None
    assert visit(0, result(503)).digest is None
    assert visit(0, result(503)).as_dict()["trouble"] == "status"
    assert visit(0, result(200, body=b"")).digest == digest_of(b"")


def test_no_store() -> None:
    """What says no-store may be held and not stored; of a failure that is no matter."""

    field = ("Cache-Control", "no-store")

    assert not visit(0, result(200, field)).may_store
    assert not visit(0, result(404, field)).may_store
    assert visit(0, result(503, field)).may_store
    assert visit(0, result(200, ("Cache-Control", "private"))).may_store


def test_pauses() -> None:
    """Twice as long each time, at most an hour, however often."""

    entry, pauses = None, []
    for _ in range(9):
        made = visit(0, result(503), entry)
        pauses.append(made.until - made.at)
        entry = recorded(entry, made)

    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert entry is not None
    many = entry._replace(failures=10**6)
    assert visit(0, result(503), many).until - START == 3600
    forever = DEFAULT.replace(longest_retry=inf)
    assert visit(0, result(503), many, forever).until - START == 60 * 2.0**32


def test_pause_after_a_usable_visit() -> None:
    """What failed before the last usable visit does not count."""

    entry = entry_of((0, result(503)), (60, result(503)), (180, result()))

    assert visit(DAY, result(503), entry).until - START == DAY + 60


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("000120", 120),
        ("86400", LONGEST_RETRY_AFTER),
        ("86401", LONGEST_RETRY_AFTER),
        ("9" * 5_000, LONGEST_RETRY_AFTER),
        ("0" * 7 + "5", LONGEST_RETRY_AFTER),
        ("Thu, 01 Jan 2026 00:10:00 GMT", 600),
        ("Thursday, 01-Jan-26 00:10:00 GMT", 600),
        ("Thu Jan  1 00:10:00 2026", 600),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", LONGEST_RETRY_AFTER),
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

    assert retry_after(fields, START) == seconds
    assert retry_after(read_fields([]), START) is None


def test_recorded_failures() -> None:
    """Failures are counted from the first after the last usable visit."""

    entry = entry_of((0, result()), (DAY, result(503)), (2 * DAY, result(None)))

    assert entry.good is not None
    assert entry.bad is not None
    assert (entry.since - START, entry.failures) == (DAY, 2)
    assert (entry.good.at - START, entry.bad.at - START) == (0, 2 * DAY)
    assert entry.last == entry.bad.at
    told = json.loads(json.dumps(entry.as_dict()))
    assert told["failing_since"] == "2026-01-02T00:00:00.000+00:00"
    assert told["failures"] == 2


def test_recorded_usable_visit() -> None:
    """A usable visit is all that counts from then on."""

    before = entry_of((0, result()), (DAY, result(503)))
    made = visit(2 * DAY, result(404), before)

    assert recorded(before, made) == Entry(ORIGIN, "ExampleBot", good=made)
    told = recorded(before, made).as_dict()
    assert (told["bad"], told["failing_since"], told["failures"]) == (None, None, 0)


def test_visits_as_plain_values() -> None:
    """Every field by its name; an entry has both visits, or None."""

    hop = Hop(ROBOTS, 301, "/r")
    good = visit(0, result(200, ("X", "1"), hops=(hop,), complete=False, renewed=True))
    told = good.as_dict()

    assert told == {
        "origin": ORIGIN,
        "user_agent": "ExampleBot/1.0",
        "at": "2026-01-01T00:00:00.000+00:00",
        "state": "success",
        "status": 200,
        "trouble": None,
        "detail": "",
        "url": ROBOTS,
        "hops": [{"url": ROBOTS, "status": 301, "location": "/r"}],
        "fields": [{"name": "x", "value": "1"}],
        "sha256": digest_of(FILE),
        "octets": len(FILE),
        "complete": False,
        "renewed": True,
        "until": "2026-01-02T00:00:00.000+00:00",
        "may_store": True,
        "address": "192.0.2.1",
        "source": "own",
        "archive": None,
    }
    failed = visit(DAY, result(503, detail="status 503"), recorded(None, good))
    assert (failed.as_dict()["trouble"], failed.as_dict()["detail"]) == ("status", "status 503")
    assert (failed.digest, failed.size, failed.may_store) == (None, 0, True)
    assert type(told["state"]) is type(failed.as_dict()["trouble"]) is str
    assert recorded(recorded(None, good), failed).as_dict() == {
        "origin": ORIGIN,
        "agent": "ExampleBot",
        "good": told,
        "bad": failed.as_dict(),
        "failing_since": "2026-01-02T00:00:00.000+00:00",
        "failures": 1,
    }


def test_last_visit() -> None:
    """An entry without visits is older than any."""

    assert Entry(ORIGIN, "ExampleBot").last == 0
    assert Entry(ORIGIN, "ExampleBot").as_dict()["good"] is None


def test_stored() -> None:
    """A 304 can renew a file whose octets are there, and nothing else."""

    fields = [("ETag", '"a"')]
    file = entry_of((0, result(200, *fields, complete=False)), (DAY, result(503)))

    assert stored_of(file, FILE) == Stored(ROBOTS, FILE, read_fields(fields), False, START)
    assert stored_of(file, None) is None
    assert stored_of(None, FILE) is None
    assert stored_of(entry_of((0, result(503))), FILE) is None
    assert stored_of(entry_of((0, result(404))), FILE) is None


def test_fields_that_are_many() -> None:
    """Of more than 16 KiB, those of caching are kept wherever they stand, and what has room."""

    some = [(f"x-{number:03}", "a" * 95) for number in range(200)]
    caching = [
        *(("Age", "1"), ("Cache-Control", "max-age=900"), ("Content-Type", "text/plain")),
        *(("Date", "Thu, 01 Jan 2026 00:00:00 GMT"), ("ETag", '"a"')),
        ("Expires", "Thu, 01 Jan 2026 01:00:00 GMT"),
        ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"),
    ]
    made = visit(0, result(200, *some, *caching))

    names = [name for name, _ in made.fields.lines]
    assert names[:7] == [name.lower() for name, _ in caching]
    assert names[7:] == [name for name, _ in some[: len(names) - 7]]
    octets = sum(len(name) + len(value) for name, value in made.fields.lines)
    assert MOST_FIELD_OCTETS - 100 < octets <= MOST_FIELD_OCTETS
    assert made.until == START + 899
    # What is within the limit is as it came, to the last octet.
    used = 2 * len("x") + MOST_FIELD_OCTETS - 2
    fits = visit(0, result(200, ("x", "a" * (used - 2)), ("y", "")))
    assert [name for name, _ in fits.fields.lines] == ["x", "y"]
    over = visit(0, result(200, ("x", "a" * (used - 1)), ("y", "")))
    assert [name for name, _ in over.fields.lines] == ["x"]
    large = visit(0, result(200, ("ETag", '"a"'), ("x", "a" * MOST_FIELD_OCTETS), ("y", "")))
    assert [name for name, _ in large.fields.lines] == ["etag"]


def test_bad_validators_are_not_kept() -> None:
    """What must not be sent back is dropped before it is stored; other fields stay."""

    date = "Thu, 01 Jan 2026 00:00:01 GMT"
    fields = [("ETag", "*"), ("Last-Modified", date), ("X", "1")]

    assert visit(0, result(200, *fields)).fields.lines == (("x", b"1"),)
    assert len(visit(1, result(200, *fields)).fields.lines) == 2


def test_moments() -> None:
    """A moment is ISO 8601; what no calendar has is a number."""

    assert moment(START + 0.25) == "2026-01-01T00:00:00.250+00:00"
    for strange in (inf, -inf, float("nan"), 1e300):
        assert moment(strange) == str(strange)


@pytest.mark.parametrize(
    ("value", "grows"),
    [
        ("max-age=600", True),
        ("max-age=600, must-revalidate", False),
        ("max-age=600, Must-Revalidate", False),
        ("max-age=600, no-cache", False),
        ("no-store", False),
    ],
)
def test_what_may_grow_old(value: str, grows: bool) -> None:
    """In the background a file is used past its lifetime, unless it says not to."""

    entry = entry_of((0, result(200, ("Cache-Control", value))))
    found = at(entry, 601, background=True)

    assert (found.due, found.refresh) == (not grows, grows)
    assert found.decides is (Decides.RULES if grows else Decides.NOTHING)


@pytest.mark.parametrize(
    ("status", "decides"), [(401, "disallow"), (402, "allow"), (403, "disallow"), (404, "allow")]
)
def test_restricted_statuses(status: int, decides: str) -> None:
    """With deny_on_401_403 these two mean complete disallow (AMB-51)."""

    entry = entry_of((0, result(status)))

    assert at(entry, 1, DEFAULT.replace(deny_on_401_403=True)).decides == decides
    assert at(entry, 1).decides is Decides.ALLOW


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

    assert is_cut(entry.good, limit) is is_less
    assert (stored_of(entry, FILE, limit) is None) is is_less
    assert not is_cut(None, limit)
    assert stored_of(entry_of((0, result(200, complete=False, body=b""))), b"") is not None
