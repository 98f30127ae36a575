"""Reading archives, octet by octet: the same whatever a read returns, and damage is counted."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import zlib

import pytest

from robotrules.client.stores import MemoryStore
from robotrules.client.warc import WarcImport, import_warc
from robotrules.client.warc.reader import BLOCK, MAX_HEADER, WarcRecord, WarcSource, records
from tests.client.histories import SITE, History, file, rules
from tests.client.warc_records import answer, exported, imported, only, record, skipped


class Drip(io.BytesIO):
    """A stream that gives a few octets at a time."""

    def __init__(self, octets: bytes, most: int) -> None:
        super().__init__(octets)
        self._max_threads = most

    def read(self, size: int | None = -1) -> bytes:
        """Return at most so many."""
        return super().read(
            self._max_threads if size is None or size < 0 else min(size, self._max_threads)
        )


def parts(count: int) -> list[bytes]:
    """Return records of as many origins."""
    return [
        record(
            "response",
            answer(rules(f"/{number}")),
            WARC_Target_URI=f"https://s{number}.example/robots.txt",
            WARC_Record_ID=f"<urn:uuid:{number}>",
        )
        for number in range(count)
    ]


def dripped(archive: bytes, most: int) -> WarcImport:
    """Import an archive of which a read gives a few octets."""
    return import_warc(MemoryStore(), Drip(archive, most))._replace(provenance=None)


def kept(archive: bytes, keep: int) -> tuple[list[WarcRecord], list[int]]:
    """Return the records of an archive, so much of each; and what was lost."""
    lost: list[int] = []
    return list(records(WarcSource(io.BytesIO(archive)), lambda _: keep, lost.append)), lost


MEMBERS = [gzip.compress(one, mtime=0) for one in parts(3)]
BROKEN = MEMBERS[1][:10] + b"\xff" * 40
ARCHIVES = {
    "plain": (b"".join(parts(3)), 3, {}),
    "members": (b"".join(MEMBERS), 3, {}),
    "one member": (gzip.compress(b"".join(parts(3))), 3, {}),
    "padded": (b"\0\0\0\0\0".join(MEMBERS) + b"\0\0", 3, {}),
    "junk between": (MEMBERS[0] + b"junk" + MEMBERS[1], 2, {"damaged": 1}),
    "junk behind": (MEMBERS[0] + MEMBERS[1] + b"junk", 2, {"damaged": 1}),
    "an octet behind": (MEMBERS[0] + b"x", 1, {"damaged": 1}),
    "two octets behind": (MEMBERS[0] + b"xy", 1, {"damaged": 1}),
    "letters behind": (MEMBERS[0] + b"XXXX", 1, {"damaged": 1}),
    "a broken member": (MEMBERS[0] + BROKEN + MEMBERS[2], 2, {"damaged": 1}),
    "a member that is cut": (MEMBERS[0] + MEMBERS[1][:40] + MEMBERS[2], 2, {"damaged": 1}),
    "broken, and cut": (MEMBERS[0] + BROKEN + MEMBERS[2][:-30], 1, {"damaged": 2}),
    "broken, and junk": (BROKEN + MEMBERS[2] + b"junk", 1, {"damaged": 2}),
    "cut": (MEMBERS[0] + MEMBERS[1][:-30], 1, {"damaged": 1}),
    "plain, and cut": (b"".join(parts(2))[:-60], 1, {"damaged": 1}),
    "plain, and broken": (parts(1)[0] + b"WARC\r\n" + parts(2)[1], 1, {"damaged": 1}),
}


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7, 50, BLOCK])
@pytest.mark.parametrize("name", ARCHIVES)
def test_whatever_a_read_returns(name: str, most: int) -> None:
    """What is found and what is lost is the same, to the record."""
    archive, added, lost = ARCHIVES[name]
    assert dripped(archive, most) == WarcImport(added, 0, lost)


@pytest.mark.parametrize("most", [1, 5, BLOCK])
def test_members_of_few_octets(most: int) -> None:
    """Members may end anywhere, also within the first word of a record."""
    whole = b"".join(parts(2))
    for size in (1, 2, 4, 5, 6, 100):
        cut = [whole[at : at + size] for at in range(0, len(whole), size)]
        archive = b"".join(gzip.compress(one, 1) for one in cut)
        assert dripped(archive, most) == WarcImport(2, 0, {})


def test_a_member_that_comes_in_pieces() -> None:
    """Its first word may be inflated in two steps."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    archive = b""
    for octets in (b"WA", b"RC/", parts(1)[0].removeprefix(b"WARC/")):
        archive += packer.compress(octets) + packer.flush(zlib.Z_FULL_FLUSH)
    archive += packer.flush()
    for most in (2, 9, BLOCK):
        assert dripped(MEMBERS[1] + archive, most) == WarcImport(2, 0, {})


@pytest.mark.parametrize(
    ("digits", "lost"), [("{:015}", {}), ("{:016}", {"damaged": 1}), ("+{}", {"damaged": 1})]
)
def test_lengths(digits: str, lost: dict[str, int]) -> None:
    """A length has fifteen digits at most, and nothing else."""
    block = answer()
    archive = record("response", block, Content_Length=digits.format(len(block)))
    assert imported(archive)[1] == WarcImport(0 if lost else 1, 0, lost)


@pytest.mark.parametrize("keep", [0, 1, 100_000, BLOCK, 10**9])
def test_no_more_is_kept_than_is_wanted(keep: int) -> None:
    """However long a block is."""
    block = bytes(300_000)
    [found], lost = kept(record("resource", block), keep)
    assert (len(found.block), found.length, found.digest) == (min(keep, 300_000), 300_000, None)
    assert lost == []


def test_fields_of_a_header() -> None:
    """One that is not there is empty; names are written in any case."""
    [found], _ = kept(record("Resource", b"x", X_Some="a b"), 1)
    assert (found.kind, found.get("x-some"), found.get("X-None")) == ("resource", "a b", "")
    [found], _ = kept(record("resource", b"x", WARC_Target_URI=f"<{SITE}/>"), 1)
    assert found.target() == f"{SITE}/"
    assert only(record("Response", answer()))[0].origin == SITE


def test_digests_in_a_header() -> None:
    """Spaces and padding around them do not count."""
    [found], _ = kept(
        record("resource", b"", WARC_Block_Digest="sha1 : 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ=="), 1
    )
    assert found.digest is True
    [found], _ = kept(record("resource", b"x", WARC_Block_Digest="MD5:0"), 1)
    assert found.digest is False
    [found], _ = kept(record("resource", b"x", WARC_Block_Digest="crc32:0"), 1)
    assert found.digest is None


def test_digests_of_any_form() -> None:
    """The last letter of one may be any; and what is no digest is none of the block."""
    block = b"x"
    made = base64.b64encode(hashlib.sha1(block).digest()).decode()
    for digest, is_right in (
        (made, True),
        (made.rstrip("="), True),
        (f"{made}X", False),
        (f"a:{made}", False),
    ):
        [found], _ = kept(record("resource", block, WARC_Block_Digest=f"sha1:{digest}"), 1)
        assert found.digest is is_right


@pytest.mark.parametrize("junk", [b"XX", b"  ", b"\t", b"x\r\n"])
def test_junk_between_records(junk: bytes) -> None:
    """Only line ends are allowed there."""
    archive = parts(1)[0] + junk + parts(2)[1]
    assert imported(archive)[1] == WarcImport(1, 0, {"damaged": 1})


def test_blank_lines() -> None:
    """Up to a thousand of them are allowed before a record."""
    assert imported(b"\r\n" * 1023 + record("response", answer()))[1] == WarcImport(1, 0, {})
    assert skipped(b"\r\n" * 1024 + record("response", answer())) == {"damaged": 1}


def test_long_headers() -> None:
    """A line, and all lines together, have a bound."""
    room = len(b"X-Some: \r\n")
    line = {"X_Some": "y" * (BLOCK - room)}
    assert only(record("response", answer(), **line))[0].origin == SITE
    line = {"X_Some": "y" * (BLOCK - room + 1)}
    assert skipped(record("response", answer(), **line)) == {"damaged": 1}
    lines = {f"X_{number}": "y" * 60_000 for number in range(4)}
    assert only(record("response", answer(), **lines))[0].origin == SITE
    lines |= {"X_5": "y" * 30_000}
    assert skipped(record("response", answer(), **lines)) == {"damaged": 1}
    del lines["X_5"]
    made = record("resource", b"", **lines, X_5="z")
    used = len(made.partition(b"\r\n")[2]) - len(b"\r\n\r\n")
    for more, count in ((0, 1), (1, 0)):
        last = "z" * (MAX_HEADER - used + 1 + more)
        assert len(kept(record("resource", b"", **lines, X_5=last), 1)[0]) == count


def test_of_ours() -> None:
    """An archive of ours is read in small pieces as well."""
    history = History()
    for day in range(3):
        history.record_fetch(day, file(f"/{day}", ("ETag", f'"{day}"')))
    for compressed in (False, True):
        assert dripped(exported(history.store, gzip=compressed), 3) == WarcImport(3, 0, {})
