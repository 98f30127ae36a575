"""Records without a meaning here, and a word on each other record (AMB-120, REC-unused-01)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import RobotsTxt, Role
from robotrules.extensions import record_support
from robotrules.extensions.record_support import RecordSupport, find_support, notes, unused_records

Read = Callable[..., RobotsTxt]
UNUSED = (
    *("clean-param", "content-signal", "content-usage", "crawl-delay", "domain", "host"),
    *("noarchive", "nofollow", "noindex", "request-rate", "revisit-after", "visit-time"),
)


class TestNoindex:
    """Noindex, Nofollow and Noarchive lines have no effect (REC-noindex-01)."""

    @pytest.mark.parametrize("key", ["Noindex", "NOFOLLOW", "noarchive"])
    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    def test_noted_and_without_effect(self, read: Read, key: str, profile: str) -> None:
        """The record is kept, has one note in every profile, and does not disallow."""
        robots = read(f"User-agent: *\n{key}: /x\nDisallow: /y", profile)
        assert robots.check("/x", "a")
        (note,) = notes(robots)
        assert (note.code, note.level, note.line) == ("unsupported-record", "warning", 2)
        assert robots.body[note.start : note.end] == b"/x"
        (found,) = unused_records(robots)
        assert (found.standing, found.reader) == (RecordSupport.UNUSED, None)


class TestUnused:
    """Records that google/robotstxt reads without use, and unsupported ones (REC-unused-01)."""

    @pytest.mark.parametrize("key", UNUSED)
    def test_known_but_unused(self, read: Read, key: str) -> None:
        """Each name of the list, whatever its case."""
        assert find_support(key) is find_support(key.upper()) is RecordSupport.UNUSED
        (found,) = unused_records(read(f"User-agent: *\n{key.title()}: x"))
        assert (found.record.key, found.standing, found.line) == (key, RecordSupport.UNUSED, 2)

    def test_the_list_is_this_one(self) -> None:
        """No more and no less."""
        assert set(UNUSED) == record_support.UNUSED

    @pytest.mark.parametrize("key", ["Unicorn", "License", "Crawl-delay-x", "Crawl delay"])
    def test_unknown(self, read: Read, key: str) -> None:
        """Any other name is unknown; License among them, which is kept (REC-license-01)."""
        (found,) = unused_records(read(f"{key}: https://e.example/license.xml"))
        assert found.as_dict() == {
            "key": key.lower(),
            "value": "https://e.example/license.xml",
            "standing": "unknown",
            "reader": None,
            "line": 1,
        }

    @pytest.mark.parametrize("key", ["sitemap", "app-directives", "user-agent-purpose"])
    def test_read(self, read: Read, key: str) -> None:
        """A record that is not on the list and has a reader here."""
        (found,) = unused_records(read(f"{key}: https://e.example/"))
        assert found.standing is RecordSupport.READ
        assert found.reader == record_support.READERS[key]

    def test_a_reader_for_what_google_does_not_use(self, read: Read) -> None:
        """That Google does not use a record does not keep it from being read here."""
        (found,) = unused_records(read("User-agent: *\nCrawl-delay: 1\nDisallow: /\nAllow: /a"))
        assert (found.standing, found.reader) == (RecordSupport.UNUSED, "crawl_delay")

    @pytest.mark.parametrize("key", UNUSED)
    def test_noted_in_profile_google(self, read: Read, key: str) -> None:
        """There each has one note; elsewhere only unsupported records do."""
        body = f"User-agent: *\n{key}: 1"
        gone = key in record_support.UNSUPPORTED
        code = "unsupported-record" if gone else "unused-record"
        assert [note.code for note in notes(read(body, "google"))] == [code]
        assert [note.code for note in notes(read(body))] == ([code] if gone else [])

    def test_in_order(self, read: Read) -> None:
        """All other records of the file, in its order, and no rule or user-agent line."""
        robots = read("Host: x\nUser-agent: *\nAllow: /\nX: 1\nDisallow: /a\nX: 2\nDomain: y")
        assert [found.record.text for found in unused_records(robots)] == ["x", "1", "2", "y"]

    @given(
        st.lists(
            st.tuples(
                st.sampled_from([b"Noindex", b"Crawl-delay", b"X", b"Content-Usage", b"Allow"])
                | st.from_regex(rb"[A-Za-z][-A-Za-z]{0,8}", fullmatch=True),
                st.binary(max_size=20).map(lambda value: value.translate(None, b"\r\n#")),
            ),
            min_size=1,
            max_size=5,
        )
    )
    def test_any_octets(self, lines: list[tuple[bytes, bytes]]) -> None:
        """Whatever a file holds, each other record has a find_support, and none is left out."""
        robots = robotrules.parse(b"\n".join(b"%b: %b" % line for line in lines))
        found = unused_records(robots)
        others = [record for record in robots.records if record.role is Role.OTHER]
        assert [one.record for one in found] == others
        for one in found:
            assert one.as_dict()["standing"] in {"unused", "read", "unknown"}
        noted = {note.line for note in notes(robots)}
        assert noted <= {record.line for record in others}
        gone = {one.key.lower() for one in record_support.EXTENSIONS} & set(
            record_support.UNSUPPORTED
        )
        assert {record.line for record in others if record.key in gone} <= noted


def test_every_extension_is_named_once() -> None:
    """No record is declared twice, and each has its source."""
    keys = [extension.key.lower() for extension in record_support.EXTENSIONS]
    assert len(set(keys)) == len(keys)
    assert set(keys) > record_support.UNSUPPORTED
    assert all(extension.reference for extension in record_support.EXTENSIONS)
