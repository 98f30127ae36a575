"""
Testimony, to the word: every note with its level and its sentence, JSON with every key, and text.

The verdicts are tested in `test_evidence` and `test_sources`; this tests the wording.
"""

from __future__ import annotations

import io
import time
from datetime import datetime
from typing import Any

import pytest

from robotrules import StoreError
from robotrules.access import (
    ACCESS_PROFILES,
    AccessState,
    Failure,
    FailureReason,
    Response,
    classify_failed_redirect,
)
from robotrules.cache import FetchRecord, Provenance, body_digest
from robotrules.client.evidence import MAX_NAMES, Evidence
from robotrules.client.historical_verdict import (
    EvidenceNote,
    HistoricalVerdict,
    Period,
    describe_fetch,
    format_time,
)
from robotrules.client.stores import MemoryStore
from robotrules.client.warc import export_warc, import_warc
from tests.client.histories import DAY, SITE, START, History, file, refused, rules

A = f"{SITE}/a"
NO_FILE = Response(404)


def at(history: History, days: float, url: str = A, **options: Any) -> HistoricalVerdict:
    """Check as ExampleBot, a number of days after the start."""
    return Evidence(history.store).at(url, START + days * DAY, "ExampleBot", **options)


def notes(testimony: HistoricalVerdict) -> list[tuple[str, str, str]]:
    """Return the notes as plain values."""
    return [(note.code, note.level, note.message) for note in testimony.notes]


def told_days(*answers: Response | Failure) -> History:
    """Return a diary with an answer a day."""
    history = History()
    for day, answer in enumerate(answers):
        history.record_fetch(day, answer)
    return history


class TestNotes:
    """Code, level and sentence of each."""

    def test_no_origin(self) -> None:
        assert notes(at(History(), 0, "ftp://example.com/")) == [
            (
                "no-origin",
                "error",
                "This is not an http or https URL with a host, so no robots.txt applies to it.",
            )
        ]

    @pytest.mark.parametrize(
        ("options", "by"),
        [
            ({}, ""),
            ({"agent": "OtherBot"}, " by OtherBot"),
            ({"source": "own"}, " (own)"),
            ({"agent": "OtherBot", "source": "imported"}, " by OtherBot (imported)"),
        ],
    )
    def test_never_fetched(self, options: dict[str, str], by: str) -> None:
        """There may be fetches of another crawler, site or source."""
        history = History()
        history.record_fetch(-3, file("/a"), site="https://other.example")
        history.record_fetch(1, file("/a"), site="https://other.example")
        if options.get("agent"):
            history.record_fetch(-1, file("/a"))
            history.record_fetch(1, file("/a"))
        words = f"There is no fetch of {SITE}{by}"
        assert notes(at(history, 0, **options)) == [("never-visited", "error", f"{words}.")]
        if options.get("source") == "imported":
            return
        first = history.record_fetch(2, file("/a"), agent=options.get("agent", "ExampleBot"))
        history.record_fetch(3, file("/a"), agent=options.get("agent", "ExampleBot"))
        found = at(history, 0, **options)
        words += " before 2026-05-03T00:00:00Z, the first one."
        assert (notes(found), found.next_fetch_record) == (
            [("never-visited", "error", words)],
            first,
        )

    def test_never_fetched_by_an_archive(self) -> None:
        """The first fetch of the requested source, and of no other."""
        history, other = History(), History()
        history.record_fetch(1, file("/a"))
        history.record_fetch(3, file("/a"))
        other.record_fetch(2, file("/a"))
        stream = io.BytesIO()
        export_warc(other.store, stream)
        stream.seek(0)
        import_warc(history.store, stream)
        for source, day in (("own", 1), ("imported", 2)):
            found = at(history, 0, source=source)
            assert found.next_fetch_record is not None
            assert found.next_fetch_record.at == START + day * DAY

    def test_lapsed(self) -> None:
        words = (
            "The last known state expired on 2026-05-02T00:00:00Z, and nothing is known after it: "
        )
        assert notes(at(told_days(file("/a")), 5)) == [
            ("lapsed", "warning", f"{words}this is that state.")
        ]

    def test_renewal_in_doubt(self) -> None:
        """As an earlier version recorded it: a 304 for a copy without a validator."""
        found = History().record_fetch(0, file("/a"))
        again = found._replace(at=START + DAY, until=START + 2 * DAY, status=304, revalidated=True)
        store = MemoryStore()
        for fetch_record in (found, again):
            store.put(fetch_record, rules("/a"), None)
        assert notes(Evidence(store).at(A, START + 1.5 * DAY, "ExampleBot")) == [
            (
                "renewal-in-doubt",
                "warning",
                "The 304 of 2026-05-02T00:00:00Z has no validator of the copy, or "
                "answered a condition that any file meets: the file may have changed by then.",
            )
        ]

    def test_failing(self) -> None:
        words = "Fetching the file failed"
        history = told_days(refused())
        assert notes(at(history, 0)) == [
            ("failing", "info", f"{words} once, first on 2026-05-01T00:00:00Z.")
        ]
        history.record_fetch(1, refused())
        assert notes(at(history, 1)) == [
            ("failing", "info", f"{words} 2 times in a row, first on 2026-05-01T00:00:00Z.")
        ]

    @pytest.mark.parametrize(
        ("first", "later", "code", "words"),
        [
            (file("/a"), refused(), "failed-later", "failed"),
            (NO_FILE, refused(), "failed-later", "failed"),
            (file("/a"), file("/a"), "same-later", "found the same"),
            (NO_FILE, NO_FILE, "same-later", "found the same"),
            (file("/a"), file("/b"), "changed-later", "found another file"),
            (NO_FILE, file("/b"), "changed-later", "found a file"),
            (file("/a"), NO_FILE, "changed-later", "found no file"),
        ],
    )
    def test_later(self, first: Response, later: Response | Failure, code: str, words: str) -> None:
        [note] = notes(at(told_days(first, later), 0.5))
        assert note == (code, "info", f"The next fetch, on 2026-05-02T00:00:00Z, {words}.")

    def test_no_store(self) -> None:
        history = told_days(file("/a", ("Cache-Control", "no-store")))
        words = "The file has no-store, so its SHA-256 was stored but not its content."
        assert notes(at(history, 0)) == [("no-store", "error", words)]

    def test_bodies(self) -> None:
        """That are lost, altered, or not to be had."""

        class Failing(MemoryStore):
            """A store whose bodies cannot be read."""

            def body(self, digest: str) -> bytes | None:
                """Fail."""
                raise StoreError(f"no {digest[:4]}")

        class Altered(MemoryStore):
            """A store that gives other octets."""

            def body(self, digest: str) -> bytes | None:
                """Give others."""
                return b"User-agent: *\nAllow: /\n"

        digest = body_digest(rules("/a"))
        for store, code, words in (
            (Failing(), "body-missing", f"The store cannot read the file: no {digest[:4]}"),
            (
                Altered(),
                "body-damaged",
                "The content in the store is not that of the file: its SHA-256 differs.",
            ),
        ):
            history = History(store)
            history.record_fetch(0, file("/a"))
            found = at(history, 0.5)
            assert (notes(found), found.verdict) == ([(code, "error", words)], None)
        lost = MemoryStore()
        lost.add([(History().record_fetch(0, file("/a")), None)])
        words = "The store does not have the content of the file, or it is damaged."
        assert notes(at(History(lost), 0.5)) == [("body-missing", "error", words)]

    def test_crawlers_differ(self) -> None:
        """Some are named, and not all."""
        history = told_days(file("/a"))
        for number in range(MAX_NAMES + 1):
            history.record_fetch(0.1, file("/b"), agent="Bot" + "a" * number)
        found = at(history, 0.5)
        [(code, level, words)] = notes(found)
        assert (code, level) == ("crawlers-differ", "warning")
        start = "Crawlers found different files: this is what ExampleBot found; "
        assert words.startswith(start)
        assert words.endswith(" found something else.")
        names = words.removeprefix(start).removesuffix(" found something else.").split(", ")
        assert len(set(names)) == MAX_NAMES == 5
        assert set(names) <= {"Bot" + "a" * number for number in range(MAX_NAMES + 1)}

    def test_crawlers_that_do_not_differ(self) -> None:
        """What had been found before does not count where nothing can be reached now."""
        history = History()
        history.record_fetch(0, file("/a"))
        history.record_fetch(0, file("/b"), agent="OtherBot")
        for agent in ("ExampleBot", "OtherBot"):
            history.record_fetch(1, refused(), agent=agent)
        assert [note.code for note in at(history, 1).notes] == ["failing"]

    def test_imported(self) -> None:
        history, other = told_days(file("/a")), History()
        other.record_fetch(0.5, file("/b"))
        stream = io.BytesIO()
        export_warc(other.store, stream, now=START)
        stream.seek(0)
        done = import_warc(history.store, stream, name="x.warc", now=START)
        assert done.provenance is not None
        origin = f"imported from 'x.warc', SHA-256 {done.provenance.digest}, on "
        origin += "2026-05-01T00:00:00Z"
        ask = "own fetches take precedence; use source 'imported' to see it"
        fetch_record = f"A fetch by ExampleBot, {origin},"
        assert notes(at(history, 0.75)) == [
            ("import-differs", "warning", f"{fetch_record} found something else: {ask}.")
        ]
        held = f"{fetch_record} was valid at this time, and found something else: {ask}."
        lapsed = at(history, 1.25)
        assert notes(lapsed)[1:] == [("import-held", "info", held)]
        assert [note.code for note in lapsed.notes] == ["lapsed", "import-held"]
        assert notes(at(history, 0.75, source="imported")) == [
            (
                "imported",
                "warning",
                f"No client of this store fetched the file: the record was {origin}.",
            )
        ]

    def test_an_archive_without_the_file(self) -> None:
        """It names the archive."""
        archive = Provenance("x.warc", "0" * 64, START)
        store = MemoryStore()
        store.add([(History().record_fetch(0, file("/a"))._replace(provenance=archive), None)])
        assert notes(at(History(store), 0.5))[0] == (
            "body-missing",
            "error",
            "The archive did not have the content of the file, or it was altered: the record was "
            f"imported from 'x.warc', SHA-256 {'0' * 64}, on 2026-05-01T00:00:00Z.",
        )

    def test_as_dict(self) -> None:
        note = EvidenceNote("lapsed", "warning", "Words.")
        assert note.as_dict() == {"code": "lapsed", "level": "warning", "message": "Words."}


class TestJson:
    """Every key, and nothing else."""

    def test_known(self) -> None:
        history = told_days(file("/a"), NO_FILE)
        found = at(history, 0.5, purposes=["EXAMPLE-1"])
        values = found.as_dict()
        fetch_records = values.pop("fetch_record"), values.pop("next_fetch_record")
        assert found.fetch_record is not None
        assert found.next_fetch_record is not None
        assert fetch_records == (found.fetch_record.as_dict(), found.next_fetch_record.as_dict())
        explained = values.pop("explanation")
        assert explained["url"] == A
        assert "access" not in explained
        assert values == {
            "schema": 1,
            "url": A,
            "origin": SITE,
            "at": "2026-05-01T12:00:00.000+00:00",
            "product_token": "ExampleBot",
            "purposes": ["EXAMPLE-1"],
            "profile": "default",
            "access_profile": "default",
            "allowed": False,
            "reason": "disallow-rule",
            "line": 2,
            "policy": "rules",
            "policy_reason": "fresh",
            "in_force": True,
            "until": "2026-05-02T00:00:00.000+00:00",
            "agent": "ExampleBot",
            "source": "own",
            "failing_since": None,
            "failures": 0,
            "notes": [
                {
                    "code": "changed-later",
                    "level": "info",
                    "message": "The next fetch, on 2026-05-02T00:00:00Z, found no file.",
                }
            ],
        }

    def test_failing(self) -> None:
        values = at(told_days(refused(), refused()), 1).as_dict()
        assert (values["failing_since"], values["failures"]) == ("2026-05-01T00:00:00.000+00:00", 2)
        assert (values["allowed"], values["line"], values["reason"]) == (False, None, "unreachable")

    def test_unknown(self) -> None:
        values = at(History(), 0).as_dict()
        [note] = values.pop("notes")
        assert note["code"] == "never-visited"
        assert {key for key, value in values.items() if value is None} == {
            *("allowed", "reason", "line", "until", "agent", "source", "failing_since"),
            *("fetch_record", "next_fetch_record", "explanation"),
        }
        assert (values["policy"], values["policy_reason"]) == ("nothing", "never-fetched")
        assert (values["in_force"], values["failures"]) == (False, 0)

    def test_periods(self) -> None:
        history = told_days(file("/a"), file("/a"))
        [period] = Evidence(history.store).periods(SITE)
        last = period.last.as_dict()
        del last["at"]
        assert period.as_dict() == {
            "from": "2026-05-01T00:00:00.000+00:00",
            "to": "2026-05-02T00:00:00.000+00:00",
            "fetches": 2,
            "agent": "ExampleBot",
            **last,
        }


class TestText:
    """A few lines for a mail."""

    def test_known(self) -> None:
        digest = body_digest(rules("/a"))
        assert str(at(told_days(file("/a"), refused()), 0.5)) == (
            f"{A} for ExampleBot at 2026-05-01T12:00:00Z: disallowed by line 2: Disallow: /a\n"
            f"  fetched on 2026-05-01T00:00:00Z by ExampleBot from {SITE}/robots.txt, "
            f"SHA-256 {digest}\n"
            "  valid until 2026-05-02T00:00:00Z\n"
            "  info: The next fetch, on 2026-05-02T00:00:00Z, failed."
        )

    def test_unknown(self) -> None:
        assert str(at(History(), 0)) == (
            f"{A} for ExampleBot at 2026-05-01T00:00:00Z: unknown\n"
            f"  error: There is no fetch of {SITE}."
        )

    def test_fetches(self) -> None:
        history = told_days(file("/a", ("ETag", '"1"')), Response(304), NO_FILE, refused())
        first, renewed, none, failed = history.store.fetch_records()
        digest, on = body_digest(rules("/a")), "on 2026-05-0{}T00:00:00Z by ExampleBot"
        source = f"from {SITE}/robots.txt"
        assert describe_fetch(first) == f"fetched {on.format(1)} {source}, SHA-256 {digest}"
        assert (
            describe_fetch(renewed)
            == f"fetched {on.format(2)} {source}, unchanged (304), SHA-256 {digest}"
        )
        assert describe_fetch(none) == f"requested {on.format(3)}; no file: status 404"
        why = "unreachable: connection refused"
        assert describe_fetch(failed) == f"requested {on.format(4)}; {why}"
        silent = failed._replace(detail="")
        assert silent.failure_reason is FailureReason.CONNECT
        assert describe_fetch(silent) == (
            f"requested {on.format(4)}; unreachable: {silent.failure_reason.sentence}"
        )
        assert describe_fetch(silent._replace(failure_reason=None)).endswith("; unreachable: ")
        given = first._replace(provenance=Provenance("", "0" * 64, START))
        assert describe_fetch(given) == (
            f"fetched {on.format(1)} (imported from an archive, SHA-256 {'0' * 64}, on "
            f"2026-05-01T00:00:00Z) {source}, SHA-256 {digest}"
        )

    def test_moments(self) -> None:
        assert format_time(START + 0.9) == "2026-05-01T00:00:00Z"
        assert format_time(1e300) == "1e+300"

    def test_moments_are_utc(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Wherever they are shown."""
        with monkeypatch.context() as patch:
            patch.setenv("TZ", "Asia/Tokyo")
            time.tzset()
            assert format_time(START) == "2026-05-01T00:00:00Z"
        time.tzset()


class TestPeriods:
    """Which fetches form a period."""

    def periods(self, history: History, **options: Any) -> list[tuple[float, int]]:
        """Return the first day and the number of fetches of each."""
        found: list[Period] = Evidence(history.store).periods(SITE, **options)
        return [((one.first.at - START) / DAY, one.fetches) for one in found]

    def test_another_status(self) -> None:
        """404 and 410 both mean that there is no file, but they are reported separately."""
        assert self.periods(told_days(NO_FILE, Response(410), Response(410))) == [(0, 1), (1, 2)]

    def test_a_304_is_the_file_of_before(self) -> None:
        history = told_days(file("/a", ("ETag", '"1"')), Response(304), file("/a"))
        assert self.periods(history) == [(0, 3)]

    def test_chosen(self) -> None:
        history = told_days(file("/a"), file("/b"), file("/c"))
        history.record_fetch(0.5, file("/d"), agent="OtherBot")
        assert self.periods(history, after=START + DAY) == [(1, 1), (2, 1)]
        assert self.periods(history, before=START + DAY) == [(0, 1), (0.5, 1), (1, 1)]
        assert self.periods(history, agent="otherbot") == [(0.5, 1)]

    def test_fetches_in_text(self) -> None:
        """Chosen alike, and a URL without an origin is misuse."""
        history = told_days(file("/a"), file("/b"), refused())
        evidence = Evidence(history.store)
        found: list[FetchRecord] = list(
            evidence.fetch_records(A, after=START + 1, before=START + DAY)
        )
        assert [fetch_record.at for fetch_record in found] == [START + DAY]
        assert [fetch_record.state for fetch_record in evidence.fetch_records(A)][
            2
        ] is AccessState.UNREACHABLE
        with pytest.raises(ValueError, match=r"'/a' has no origin: pass a URL such as 'https://"):
            evidence.fetch_records("/a")


class TestMisuse:
    """An invalid time raises an error that names the argument."""

    @pytest.mark.parametrize(
        ("moment", "error", "words"),
        [
            (datetime(2026, 5, 1), ValueError, "^moment "),
            (True, TypeError, "^a moment must be a datetime with zone or seconds .*, not bool$"),
            ("2026", TypeError, "^a moment must be a datetime with zone or seconds .*, not str$"),
            (float("nan"), ValueError, r"^moment is nan: pass seconds since 1970, such as time"),
            (float("inf"), ValueError, r"^moment is inf: pass seconds since 1970, such as time"),
        ],
    )
    def test_moments(self, moment: Any, error: type[Exception], words: str) -> None:
        with pytest.raises(error, match=words):
            Evidence(MemoryStore()).at(A, moment, "ExampleBot")


class TestRedirects:
    """Redirects without a valid target, as the current profile reads them (AMB-54, AMB-55)."""

    @pytest.mark.parametrize("answers", [1, 2], ids=["loop", "no location"])
    def test_each_profile(self, answers: int) -> None:
        """The current profile decides, whichever profile recorded the fetch."""
        cautious = ACCESS_PROFILES["default"].replace(
            name="cautious", redirect_failure_unreachable=True
        )
        again = Response(301, {"Location": "/robots.txt" if answers == 1 else ""})
        for recorded in ("default", "strict", "google"):
            history = History(profile=recorded)
            fetch_record = history.record_fetch(0, again, again)
            assert fetch_record.failure_reason in (FailureReason.LOOP, FailureReason.LOCATION)
            for asked in (*map(ACCESS_PROFILES.get, ("default", "strict", "google")), cautious):
                assert asked is not None
                found = Evidence(history.store, access=asked).at(A, START, "ExampleBot")
                state = classify_failed_redirect(fetch_record.failure_reason, asked)
                assert found.allowed is (state is AccessState.UNAVAILABLE), (recorded, asked.name)
