"""Edge cases of foreign archives: cut, coded, empty or doubtful records, and their crawler."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from typing import Any

import pytest

from robotrules.access import AccessState, FailureReason, Response
from robotrules.cache import body_digest
from robotrules.client.warc.captures import LIMIT, MAX_AGENT_LENGTH, MAX_REQUESTS, MAX_WAITING
from robotrules.client.warc.metadata_records import (
    MAX_LIFETIME,
    _optional,
    _require_type,
    parse_metadata,
    serialize_metadata,
)
from robotrules.profile import LEAST_MAX_BYTES
from tests.client.histories import SITE, START, History, file, rules
from tests.client.warc_records import REQUEST, answer, exported, imported, only, record, skipped

SHORT = b"User-agent: *\n"
HOP = {"url": "x", "status": 301, "location": "y"}
OURS = record("warcinfo", b"robotrules-visits: 1\r\n")


def payload_digest(octets: bytes) -> dict[str, str]:
    """Return the header with the digest of a payload."""
    return {"WARC_Payload_Digest": f"sha1:{hashlib.sha1(octets).hexdigest()}"}


class TestFiles:
    """What of an answer is the file, and whether that is all of it."""

    def test_an_answer_without_a_body_is_an_empty_file(self) -> None:
        """A file without octets is a file."""
        fetch_record, body = only(record("response", answer(b"")))
        assert fetch_record.revalidated is False
        assert (fetch_record.state, fetch_record.digest, fetch_record.size) == (
            AccessState.SUCCESS,
            body_digest(b""),
            0,
        )
        assert body == b""

    def test_a_whole_file_is_complete(self) -> None:
        """Also one that has exactly as many octets as a client reads."""
        assert only(record("response", answer()))[0].complete is True
        fetch_record, body = only(record("response", answer(b"#" * LIMIT)))
        assert (fetch_record.complete, fetch_record.size, body) == (True, LIMIT, b"#" * LIMIT)
        fetch_record, body = only(record("response", answer(b"#" * (LIMIT + 1))))
        assert (fetch_record.complete, fetch_record.size, body) == (False, LIMIT, b"#" * LIMIT)

    def test_a_cut_file_counts_from_500_kib_on(self) -> None:
        """RFC 9309 §2.5: a client may leave the rest unread."""
        cut = {"WARC_Truncated": "length"}
        fetch_record, _ = only(record("response", answer(b"#" * LEAST_MAX_BYTES), **cut))
        assert (fetch_record.complete, fetch_record.size) == (False, LEAST_MAX_BYTES)
        short = record("response", answer(b"#" * (LEAST_MAX_BYTES - 1)), **cut)
        assert skipped(short) == {"cut": 1}

    def test_a_payload_with_blank_lines(self) -> None:
        """The payload starts after the first blank line, and not after the last."""
        body = b"User-agent: *\r\n\r\nDisallow: /a\r\n"
        assert only(record("response", answer(body), **payload_digest(body)))[1] == body

    def test_a_payload_digest_of_chunks(self) -> None:
        """Some writers hash the sent octets and some the decoded ones: both are accepted."""
        chunks = b"1b\r\n" + rules("/a") + b"\r\n0\r\n\r\n"
        for octets in (chunks, rules("/a")):
            block = answer(chunks, "Transfer-Encoding: chunked")
            assert only(record("response", block, **payload_digest(octets)))[1] == rules("/a")

    def test_a_payload_digest_of_a_cut_file(self) -> None:
        """The digest of the whole does not make a part an altered file."""
        block = answer(rules("/a")[:-3], f"Content-Length: {len(rules('/a'))}")
        assert skipped(record("response", block, **payload_digest(rules("/a")))) == {"cut": 1}

    def test_a_length_of_the_coded_body(self) -> None:
        """Content-Length counts what was sent: a decoded body may be shorter."""
        packed = gzip.compress(SHORT)
        assert len(packed) > len(SHORT)
        lines = ("Content-Encoding: gzip", f"Content-Length: {len(packed)}")
        assert only(record("response", answer(packed, *lines)))[1] == SHORT
        chunked = b"e\r\n" + SHORT + b"\r\n0\r\n\r\n"
        lines = ("Transfer-Encoding: chunked", f"Content-Length: {len(chunked)}")
        assert only(record("response", answer(chunked, *lines)))[1] == SHORT

    @pytest.mark.parametrize(("digits", "is_cut"), [(15, True), (16, False)])
    def test_a_length_that_no_file_has(self, digits: int, is_cut: bool) -> None:
        """A number of 16 digits is not a valid length, and is ignored."""
        archive = record("response", answer(SHORT, f"Content-Length: {'9' * digits}"))
        if is_cut:
            assert skipped(archive) == {"cut": 1}
        else:
            assert only(archive)[1] == SHORT

    def test_the_first_length_counts(self) -> None:
        """A second Content-Length changes nothing."""
        lines = (f"Content-Length: {len(SHORT)}", "Content-Length: 99")
        assert only(record("response", answer(SHORT, *lines)))[1] == SHORT


class TestWhoAsked:
    """The request that goes with an answer names the crawler."""

    def test_control_characters_are_left_out(self) -> None:
        """A User-Agent is shown to people and written in headers."""
        asked = record("request", REQUEST.replace(b"CCBot/2.0", b"CC\x01Bot\x7f/2.0"))
        assert only(asked + record("response", answer()))[0].user_agent == "CCBot/2.0 (x)"

    def test_a_long_name_is_cut(self) -> None:
        """No User-Agent is as long as this."""
        asked = record("request", REQUEST.replace(b"(x)", b"x" * 2 * MAX_AGENT_LENGTH))
        user_agent = only(asked + record("response", answer()))[0].user_agent
        assert len(user_agent) == MAX_AGENT_LENGTH
        assert user_agent.startswith("CCBot/2.0 xxx")

    def test_a_request_of_another_time(self) -> None:
        """Records that do not name each other belong together by date and URL."""
        other = record("request", REQUEST, WARC_Date="2026-05-01T00:00:01Z")
        assert only(other + record("response", answer()))[0].agent == "unknown"
        assert only(record("request", REQUEST) + record("response", answer()))[0].agent == "CCBot"

    @pytest.mark.parametrize("count", [2, MAX_WAITING, MAX_WAITING + 1])
    def test_requests_after_several_answers(self, count: int) -> None:
        """Answers wait for their requests: a few at a time, those that came last."""
        parts = [
            record(kind, block, WARC_Target_URI=f"https://s{number}.example/robots.txt")
            for kind, block in (("response", answer()), ("request", REQUEST))
            for number in range(count)
        ]
        fetch_records = imported(b"".join(parts))[0].fetch_records()
        agents = {fetch_record.origin: fetch_record.agent for fetch_record in fetch_records}
        lost = agents.pop("https://s0.example") if count > MAX_WAITING else "unknown"
        assert (lost, set(agents.values())) == ("unknown", {"CCBot"})

    @pytest.mark.parametrize("tie", ["request", "response"])
    def test_records_that_name_each_other(self, tie: str) -> None:
        """Whichever names the other, and whatever their dates are."""
        ids = {"request": "<urn:uuid:1>", "response": "<urn:uuid:2>"}
        other = ids["response" if tie == "request" else "request"]
        parts = {
            kind: record(
                kind,
                block,
                WARC_Record_ID=ids[kind],
                WARC_Date=date,
                WARC_Concurrent_To=other if kind == tie else "",
            )
            for kind, block, date in (
                ("request", REQUEST, "2026-05-01T00:00:00Z"),
                ("response", answer(), "2026-05-01T00:00:09Z"),
            )
        }
        assert only(parts["request"] + parts["response"])[0].agent == "CCBot"
        assert only(parts["response"] + parts["request"])[0].agent == "CCBot"

    @pytest.mark.parametrize("count", [MAX_REQUESTS, MAX_REQUESTS + 1])
    def test_requests_are_forgotten(self, count: int) -> None:
        """So many are remembered, those that came last."""
        sites = [f"https://s{number}.example" for number in range(count)]
        archive = [
            record("request", REQUEST, WARC_Target_URI=f"{site}/robots.txt") for site in sites
        ]
        for site in (sites[0], sites[-1]):
            archive.append(record("response", answer(), WARC_Target_URI=f"{site}/robots.txt"))
        fetch_records = imported(b"".join(archive))[0].fetch_records()
        agents = {fetch_record.origin: fetch_record.agent for fetch_record in fetch_records}
        assert agents[sites[-1]] == "CCBot"
        assert agents[sites[0]] == ("CCBot" if count == MAX_REQUESTS else "unknown")

    def test_the_crawler_of_earlier_answers(self) -> None:
        """The crawler named in an archive applies to the records that follow."""
        infos = [
            record("warcinfo", b"http-header-user-agent: %s/1\r\n" % name)
            for name in (b"OldBot", b"NewBot")
        ]
        archive = infos[0] + record("response", answer()) + infos[1]
        assert only(archive)[0].agent == "OldBot"


class TestArchivesOfOurs:
    """An archive that was written here, and came to harm."""

    def test_a_file_with_blank_lines(self) -> None:
        """The file starts after the first blank line."""
        body = b"User-agent: *\r\n\r\nDisallow: /a\r\n"
        history = History()
        fetch_record = history.record_fetch(0, Response(200, [], body))
        store, done = imported(exported(history.store))
        assert (done.added, done.skipped) == (1, {})
        assert store.body(fetch_record.digest or "") == body

    def test_a_fetch_that_may_not_have_its_file(self) -> None:
        """A fetch with no-store, or without a file, gets none, whatever record is next to it."""
        private = History().record_fetch(0, file("/a"))._replace(may_store=False)
        missing = History().record_fetch(0, Response(404))
        for fetch_record in (private, missing):
            archive = OURS + record("response", answer(), WARC_Record_ID="<urn:uuid:1>")
            archive += record(
                *("metadata", serialize_metadata(fetch_record)),
                Content_Type="application/json",
                WARC_Concurrent_To="<urn:uuid:1>",
            )
            store, done = imported(archive)
            assert (done.added, done.skipped) == (1, {})
            assert store.body(body_digest(rules("/a"))) is None

    def test_a_request_before_the_answer(self) -> None:
        """An answer of ours belongs to the fetch recorded with it, and not to others."""
        archive = OURS + record("request", REQUEST) + record("response", answer())
        assert skipped(archive) == {"alone": 1}

    def test_a_fetch_is_json(self) -> None:
        """Metadata of another kind does not describe a fetch."""
        facts = serialize_metadata(History().record_fetch(0, file("/a")))
        for media, added in (("application/JSON", 1), ("text/plain", 0), ("", 0)):
            archive = OURS + record("metadata", facts, Content_Type=media)
            assert imported(archive)[1].added == added

    def test_digests_of_what_is_not_read(self) -> None:
        """They are not looked at: what is not read need not be right."""
        wrong = {"WARC_Block_Digest": f"sha1:{'0' * 40}"}
        for archive, reason in (
            (OURS + record("conversion", b"x", **wrong), {"other": 1}),
            (OURS + record("metadata", b"x", **wrong), {}),
            (OURS + record("revisit", answer(), **wrong), {"bad-digest": 1}),
            (OURS + record("resource", b"x", **wrong), {"bad-digest": 1}),
            (record("resource", b"x", **wrong), {"other": 1}),
            (record("response", answer(), WARC_Target_URI=f"{SITE}/x", **wrong), {"other": 1}),
            (record("revisit", answer(), **wrong), {"revisit": 1}),
        ):
            assert skipped(archive) == reason

    def test_records_in_another_order(self) -> None:
        """An answer waits for its metadata until the next answer comes, and no longer."""
        history = History()
        fetch_records = [history.record_fetch(day, file(f"/{day}")) for day in range(2)]
        first, *rest = exported(history.store).split(b"WARC/1.1\r\n")[1:]
        kinds = (b"response", b"request", b"metadata")
        rest.sort(key=lambda one: [b"WARC-Type: " + kind in one for kind in kinds], reverse=True)
        archive = b"".join(b"WARC/1.1\r\n" + one for one in (first, *rest))
        store, done = imported(archive)
        assert (done.added, done.skipped) == (2, {"alone": 1})
        assert [store.body(fetch_record.digest or "") for fetch_record in fetch_records] == [
            None,
            rules("/1"),
        ]


class TestVisits:
    """A fetch record as JSON: edge cases of validity."""

    def test_octets(self) -> None:
        """The same fetch record is the same octets: sorted, a line for each part."""
        facts = serialize_metadata(History().record_fetch(0, file("/a")))
        again = json.dumps(json.loads(facts), indent=1, sort_keys=True)
        assert facts == again.encode() + b"\n"
        assert facts.startswith(b'{\n "address": "192.0.2.1",\n "agent": "ExampleBot",\n')

    @pytest.mark.parametrize(
        ("change", "is_one"),
        [
            ({"size": 2**63 - 1}, True),
            ({"size": 2**63}, False),
            ({"size": -1}, False),
            ({"size": True}, False),
            ({"hops": [HOP] * 101}, True),
            ({"hops": [HOP] * 102}, False),
            ({"until": START + MAX_LIFETIME}, True),
            ({"until": START}, True),
            ({"url": f"{SITE}/\r"}, False),
            ({"url": f"{SITE}/\n"}, False),
            ({"url": f"{SITE}/\xe9"}, False),
            ({"detail": "a\0b"}, False),
            ({"detail": "a\rb"}, True),
            ({"address": None}, True),
            ({"address": "x"}, True),
        ],
        ids=str,
    )
    def test_edges(self, change: dict[str, Any], is_one: bool) -> None:
        """Each bound, on both sides."""
        values = json.loads(serialize_metadata(History().record_fetch(0, file("/a"))))
        assert (parse_metadata(values | change) is not None) is is_one

    def test_readers(self) -> None:
        """Of a kind alone, or nothing."""
        assert _require_type(bool)(True) is True
        for kind, value in ((int, True), (str, 5), (bool, 1)):
            with pytest.raises(TypeError):
                _require_type(kind)(value)
        read = _optional(_require_type(int))
        assert (read(None), read(5)) == (None, 5)


class TestStatuses:
    """The result of an answer without a file."""

    def test_its_words(self) -> None:
        """A failure has its status, and no file."""
        fetch_record, body = only(record("response", answer(status="404 Not Found")))
        assert (fetch_record.failure_reason, fetch_record.detail, fetch_record.status) == (
            FailureReason.STATUS,
            "status 404",
            404,
        )
        assert (fetch_record.digest, fetch_record.size, body, fetch_record.complete) == (
            None,
            0,
            None,
            True,
        )
        assert only(record("response", answer()))[0].detail == ""

    @pytest.mark.parametrize("status", ["300 Choices", "399 Last"])
    def test_all_redirects(self, status: str) -> None:
        """The whole class is not followed."""
        assert skipped(record("response", answer(status=status))) == {"redirect": 1}

    def test_the_first_failure_is_none(self) -> None:
        """400 is not a redirect: there is no file."""
        assert (
            only(record("response", answer(status="400 Bad")))[0].state is AccessState.UNAVAILABLE
        )

    def test_an_answer_in_a_redirect(self) -> None:
        """What follows the first answer is its page, from 300 on."""
        block = answer(answer(), status="300 Choices")
        assert skipped(record("response", block)) == {"redirect": 1}
        block = answer(answer(), status="299 Last")
        assert skipped(record("response", block)) == {"no-http": 1}

    @pytest.mark.parametrize("status", ["204 No Content", "205 Reset Content"])
    def test_no_content(self, status: str) -> None:
        """A status that has no content is an empty file, whatever follows."""
        fetch_record, body = only(record("response", answer(b"x", status=status)))
        assert (fetch_record.state, fetch_record.size, body) == (AccessState.SUCCESS, 0, b"")

    def test_an_interim_answer_alone(self) -> None:
        """An answer below 200 is not the answer."""
        assert skipped(record("response", answer(b"", status="199 Almost"))) == {"no-http": 1}
        assert only(record("response", answer(b"", status="200 OK")))[0].status == 200


def test_a_date_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the archive is read."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        fetch_record, _ = only(record("response", answer(), WARC_Date="2026-05-01T00:00:00"))
        assert fetch_record.at == START
    time.tzset()


def test_long_addresses_are_cut() -> None:
    """The address of a server is text of a stranger."""
    fetch_record, _ = only(record("response", answer(), WARC_IP_Address="1" * 100))
    assert fetch_record.address == "1" * 64
    assert only(record("response", answer()))[0].address is None


def test_what_waits_at_the_end() -> None:
    """Answers without requests are also fetches, in the order of the archive."""
    sites = [f"https://s{number}.example" for number in range(20)]
    parts = [record("response", answer(), WARC_Target_URI=f"{site}/robots.txt") for site in sites]
    store, done = imported(b"".join(parts))
    assert (done.added, done.skipped) == (20, {})
    assert {fetch_record.origin for fetch_record in store.fetch_records()} == set(sites)


def test_a_fragment_is_not_part_of_the_address() -> None:
    """The requested URL ends before its fragment."""
    target = "http://u@EXAMPLE.com:80/robots.txt#a#b"
    fetch_record, _ = only(record("response", answer(), WARC_Target_URI=target))
    assert (fetch_record.origin, fetch_record.url) == (
        "http://example.com",
        "http://example.com/robots.txt",
    )
    assert SITE not in fetch_record.url
