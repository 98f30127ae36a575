"""Address ranges are read as operators publish them, found fast, and refused with an error."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from robotrules.operations import address_ranges
from robotrules.operations.address_ranges import AddressRanges, RangesError, RangeSet

GOOGLE = {
    "creationTime": "2026-05-01T00:00:00.000000",
    "prefixes": [{"ipv6Prefix": "2001:4860:4801:10::/64"}, {"ipv4Prefix": "66.249.64.0/27"}],
}
Write = Callable[[str, object], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a file and returns its path; a value becomes JSON."""

    def write_file(name: str, content: object) -> str:
        path = tmp_path / name
        octets = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(octets)
        return str(path)

    return write_file


def found(ranges: AddressRanges, name: str, address: str) -> str | None:
    """Return the range of an address."""
    known = ranges.get(name)
    assert known is not None
    network = known.find(ip_address(address))
    return None if network is None else str(network)


@pytest.mark.parametrize(
    "content",
    [
        GOOGLE,
        {"prefixes": ["66.249.64.0/27", "2001:4860:4801:10::/64"]},
        ["66.249.64.0/27", {"ipv6Prefix": "2001:4860:4801:10::/64"}],
        {"prefixes": [{"ip_prefix": "66.249.64.0/27"}, {"ipv6_prefix": "2001:4860:4801:10::/64"}]},
        {"ips": [{"ip_address": "66.249.64.5"}, {"ip_address": "2001:4860:4801:10::1"}]},
        b"# Google\n66.249.64.0/27\n\n  2001:4860:4801:10::/64  # v6\r\n",
        b"\xef\xbb\xbf66.249.64.5\n2001:4860:4801:10::1",
        b"::ffff:66.249.64.0/123\n2001:4860:4801:10::/64",
    ],
)
def test_forms(write: Write, content: object) -> None:
    """The JSON of Google and others, of Amazon and of Ahrefs, and lists."""
    ranges = AddressRanges.read([f"Googlebot={write('googlebot.json', content)}"])
    assert found(ranges, "Googlebot", "66.249.64.5")
    assert found(ranges, "Googlebot", "2001:4860:4801:10::1")
    assert found(ranges, "Googlebot", "66.249.64.32") is None
    assert found(ranges, "Googlebot", "66.249.63.255") is None
    assert found(ranges, "Googlebot", "0.0.0.1") is None
    assert ranges.get("GPTBot") is None


def test_many_crawlers_in_one_file(write: Write) -> None:
    """Names are looked up in the registry; several files are united."""
    many = write(
        "many.json", {"googlebot": ["66.249.64.0/27"], "GPTBot": {"prefixes": ["8.8.8.8"]}}
    )
    more = write("a=b.txt", b"9.9.9.9\n")
    ranges = AddressRanges.read([many, f"Googlebot, gptbot={more}", f"GPTBot={more}"])
    assert sorted(ranges) == ["GPTBot", "Googlebot"]
    assert len(ranges) == 2
    assert found(ranges, "Googlebot", "9.9.9.9") == "9.9.9.9/32"
    assert found(ranges, "Googlebot", "66.249.64.1") == "66.249.64.0/27"
    known = ranges.get("GPTBot")
    assert known is not None
    assert (known.files, len(known)) == (("many.json", "a=b.txt", "a=b.txt"), 2)
    assert repr(ranges) == "<AddressRanges: Googlebot, GPTBot>"
    assert repr(known) == "<RangeSet: 2 ranges>"


def test_from_values() -> None:
    """Without files, for programs."""
    ranges = AddressRanges({"googlebot": ["66.249.64.0/27"]})
    assert found(ranges, "Googlebot", "66.249.64.1")
    with pytest.raises(RangesError, match="no ranges for Googlebot"):
        AddressRanges({"Googlebot": []})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!doctype html>\n<p>Not found", ":1: '<!doctype html>' is not a range"),
        (b"8.8.8.8\n8.8.8.8/33\n", ":2: '8.8.8.8/33' is not a range"),
        (b"8.8.8.1/24\n", ":1: '8.8.8.1/24' is not a range"),
        (b"0.0.0.0/0\n", "0.0.0.0/0 is larger than the range of any operator"),
        (b"::/1\n", "::/1 is larger"),
        (b"x" * 1000, ":1: not a range"),
        (b"8.8.8.8\n\xff\n", ":2: not UTF-8"),
        (b"", "no ranges for Googlebot, so every address would be an impostor"),
        (b"# nothing\n", "no ranges for Googlebot"),
        (b'{"prefixes": [', ":1:15: invalid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        ({"prefixes": []}, "no ranges for Googlebot"),
        ({"prefixes": {"a": 1}}, "prefixes: a list of ranges is needed"),
        ({"prefixes": [{"ipv4Prefix": 5}]}, r"prefixes\[0\]: not a range"),
        ({"prefixes": [{"service": "x"}]}, r"prefixes\[0\]: no range: an ipv4Prefix"),
        ({"prefixes": ["8.8.8.8", None]}, r"prefixes\[1\]: no range"),
        ({"prefixes": ["\x1b[31m"]}, r"'\\x1b\[31m' is not a range"),
        ({"Googlebot": ["8.8.8.8"]}, "pass the file without a name"),
    ],
)
def test_an_error_says_where(write: Write, content: object, message: str) -> None:
    """A file is used as a whole, or not at all."""
    with pytest.raises(RangesError, match=message):
        AddressRanges.read([f"Googlebot={write('g.json', content)}"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOGLE, "does not name a crawler: pass Googlebot="),
        (b"8.8.8.8\n", "does not name a crawler"),
        ({}, "is empty"),
        ({"Googlebto": ["8.8.8.8"]}, "'Googlebto' is not a known crawler: did you mean Googlebot?"),
        ({"x\x1b": ["8.8.8.8"]}, r"'x\\x1b' is not a known crawler: see `robotrules crawlers`"),
        ({"Googlebot": "8.8.8.8"}, "'Googlebot': a list of ranges is needed"),
        ({"Googlebot": ["8"]}, r"'Googlebot': \[0\]: '8' is not a range"),
    ],
)
def test_a_file_for_many_with_an_error(write: Write, content: object, message: str) -> None:
    """Names and ranges are checked, and the file is named."""
    with pytest.raises(RangesError, match=message):
        AddressRanges.read([write("many.json", content)])


def test_misuse(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments that name nothing, and limits."""
    file = write("g.txt", b"8.8.8.8\n9.9.9.9\n")
    for given, message in (
        ("Googlebot=", "has no file"),
        (f",={file}", "has an empty name"),
        (f"NoBot={file}", "'NoBot' is not a known crawler"),
    ):
        with pytest.raises(RangesError, match=message):
            AddressRanges.read([given])
    with pytest.raises(TypeError, match=r"pass 'Googlebot=.*, not int"):
        AddressRanges.read([5])  # type: ignore[list-item]
    with pytest.raises(FileNotFoundError):
        AddressRanges.read([f"Googlebot={tmp_path / 'absent'}"])
    for name, limit, message in (
        ("LARGEST_FILE", 5, "MiB: not ranges"),
        ("MOST_RANGES", 1, "more than 1 ranges"),
        ("MOST_FILES", 0, "more than 0 files"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(address_ranges, name, limit)
            with pytest.raises(RangesError, match=message):
                AddressRanges.read([f"Googlebot={file}"])


def test_a_lookup_agrees_with_the_obvious_loop() -> None:
    """Nested, adjacent and repeated ranges, at their edges."""
    chance = random.Random(7)
    networks = [
        ip_network((chance.getrandbits(32) >> (32 - bits) << (32 - bits), bits))
        for bits in [chance.randint(9, 32) for _ in range(300)]
    ]
    known = RangeSet(networks)
    edges = [int(n.network_address) + d for n in networks for d in (-1, 0, 1, n.num_addresses)]
    for value in edges + [chance.getrandbits(32) for _ in range(500)]:
        address = ip_address(value % 2**32)
        expected = any(address in network for network in networks)
        assert (known.find(address) is not None) is expected


def test_a_lookup_is_not_linear() -> None:
    """100,000 lookups among 10,000 ranges."""
    known = RangeSet(ip_network((i << 13, 24)) for i in range(1 << 13, (1 << 13) + 10_000))
    assert len(known) == 10_000
    address = ip_address((1 << 26) + (5 << 13) + 7)
    begun = time.perf_counter()
    for _ in range(100_000):
        assert known.find(address)
    assert time.perf_counter() - begun < 5
