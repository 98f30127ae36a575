"""Addresses: which are connected to, which are not and why, and how names become addresses."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.access import Failure, FailureReason
from robotrules.client.ssrf import MAX_ADDRESSES, PUBLIC, AddressPolicy, one_line

PUBLIC_ADDRESSES = (
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.31.196.1",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "203.0.114.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2620:4f:8000::1",
    "2a00:1450:4001:81b::200e",
    "3fff:1000::1",
    "::ffff:8.8.8.8",
    "::8.8.8.8",
    "64:ff9b::8.8.8.8",
    "::ffff:0:8.8.8.8",
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:f7f7:f7f7",
)

# What it is, and the word that the refusal has for it.
PRIVATE_ADDRESSES = {
    "0.0.0.0": "this machine",
    "0.1.2.3": "this machine",
    "10.0.0.0": "private",
    "10.255.255.255": "private",
    "100.64.0.0": "shared",
    "100.100.100.200": "shared",
    "100.127.255.255": "shared",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "168.63.129.16": "metadata",
    "169.254.0.0": "link-local",
    "169.254.169.254": "link-local",
    "169.254.255.255": "link-local",
    "172.16.0.0": "private",
    "172.31.255.255": "private",
    "192.0.0.1": "IETF",
    "192.0.0.9": "IETF",
    "192.0.0.170": "IETF",
    "192.0.0.192": "IETF",
    "192.0.2.1": "documentation",
    "192.88.99.1": "6to4 relay",
    "192.168.0.0": "private",
    "192.168.255.255": "private",
    "198.18.0.1": "benchmarks",
    "198.19.255.255": "benchmarks",
    "198.51.100.7": "documentation",
    "203.0.113.7": "documentation",
    "224.0.0.1": "multicast",
    "233.252.0.1": "multicast",
    "239.255.255.250": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.254": "reserved",
    "255.255.255.255": "broadcast",
    "::": "this machine",
    "::1": "loopback",
    "100::1": "black hole",
    "100:0:0:1::1": "global unicast",
    "64:ff9b:2::1": "global unicast",
    "1::1": "global unicast",
    "2001:1::1": "IETF",
    "2001:2::1": "benchmarks",
    "2001:3::1": "IETF",
    "2001:10::1": "IETF",
    "2001:20::1": "IETF",
    "2001:30::1": "IETF",
    "2001:1ff:ffff::1": "IETF",
    "2001:db8::1": "documentation",
    "3fff::1": "documentation",
    "3fff:fff::1": "documentation",
    "4000::1": "global unicast",
    "5f00::1": "segment routing",
    "8000::1": "global unicast",
    "fc00::1": "private",
    "fd00:ec2::254": "private",
    "fdff:ffff::1": "private",
    "fe00::1": "global unicast",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "fe80::1%1": "link-local",
    "febf::1": "link-local",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
    "ff05::1:3": "multicast",
    "2606:4700::1%eth0": "link-local",
    # IPv6 addresses that lead to an IPv4 one.
    "::ffff:127.0.0.1": "loopback",
    "::ffff:7f00:1": "loopback",
    "::ffff:10.1.2.3": "private",
    "::ffff:169.254.169.254": "link-local",
    "::ffff:0.0.0.0": "this machine",
    "::ffff:224.0.0.1": "multicast",
    "::127.0.0.1": "loopback",
    "::10.0.0.1": "private",
    "::2": "this machine",
    "::ffff:0:127.0.0.1": "loopback",
    "::ffff:0:192.168.1.1": "private",
    "64:ff9b::127.0.0.1": "loopback",
    "64:ff9b::7f00:1": "loopback",
    "64:ff9b::10.0.0.1": "private",
    "64:ff9b::169.254.169.254": "link-local",
    "64:ff9b::192.88.99.1": "6to4 relay",
    # A network's own translator, whatever it makes of the rest (RFC 8215).
    "64:ff9b:1::": "RFC 8215",
    "64:ff9b:1::8.8.8.8": "RFC 8215",
    "64:ff9b:1::127.0.0.1": "RFC 8215",
    "64:ff9b:1:abcd::10.0.0.1": "RFC 8215",
    # RFC 6052 §2.2 with prefixes of 64, 56 and 48 bits; the last one with a suffix.
    "64:ff9b:1:0:7f:0:800:0": "RFC 8215",
    "64:ff9b:1:a:8:808::": "RFC 8215",
    "64:ff9b:1:808:8:800::": "RFC 8215",
    "64:ff9b:1:a00:0:100:808:808": "RFC 8215",
    "64:ff9b:1:ffff:ffff:ffff:ffff:ffff": "RFC 8215",
    "2002:7f00:1::": "loopback",
    "2002:a00:1::1": "private",
    "2002:c0a8:101::1": "private",
    "2002:a9fe:a9fe::1": "link-local",
    "2002:e000:1::1": "multicast",
    # Teredo: the server, or the client behind it.
    "2001:0:a00:1:8000:63bf:f7f7:f7f7": "private",
    "2001:0:4136:e378:8000:63bf:80ff:fffe": "loopback",
    "2001:0:4136:e378:8000:63bf:3f57:fefe": "private",
}


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_public_addresses_are_connected_to(address: str) -> None:
    assert PUBLIC.refusal_of_address("example.com", address) is None


@pytest.mark.parametrize(("address", "word"), PRIVATE_ADDRESSES.items())
def test_others_are_not(address: str, word: str) -> None:
    refusal = PUBLIC.refusal_of_address("example.com", address)
    assert refusal is not None
    assert word in refusal.partition(";")[0]
    assert "allow_private=['example.com']" in refusal


@pytest.mark.parametrize("address", PRIVATE_ADDRESSES)
def test_a_literal_is_vetted_like_a_name(address: str) -> None:
    found = PUBLIC.vet(address, 80)
    assert isinstance(found, Failure)
    assert found.reason is FailureReason.REFUSED


@given(st.integers(0, 2**32 - 1))
def test_nothing_that_python_calls_private_passes(number: int) -> None:
    """What `ipaddress` knows as not global, IPv4 or in an IPv6 form, is refused."""
    plain = IPv4Address(number)
    if not plain.is_global or plain.is_multicast:
        for form in (
            str(plain),
            str(IPv6Address(0xFFFF << 32 | number)),
            str(IPv6Address(int(IPv6Address("64:ff9b::")) | number)),
            str(IPv6Address(int(IPv6Address("2002::")) | number << 80 | 1)),
        ):
            assert PUBLIC.refusal_of_address("example.com", form), form


@given(st.integers(0, 2**128 - 1))
def test_nothing_that_python_calls_private_passes_in_ipv6(number: int) -> None:
    plain = IPv6Address(number)
    teredo = plain.teredo is not None
    if plain.ipv4_mapped is None and not teredo and not plain.is_global:
        inner = IPv4Address(number & 0xFFFF_FFFF)
        carries = number >> 32 == 0 or number >> 80 == 0x64_FF9B_0001
        assert (carries and inner.is_global) or PUBLIC.refusal_of_address("example.com", str(plain))


# --- What is allowed ------------------------------------------------------------------------------


def refused(found: list[str] | Failure) -> Failure:
    """Assert that the addresses of a host were found, and none is connected to."""
    assert isinstance(found, Failure), found
    assert found.reason is FailureReason.REFUSED, found
    return found


def to(*found: str) -> Callable[[str, int], Sequence[str]]:
    """Return a resolver that always gives these addresses."""
    return lambda host, port: list(found)


def test_a_name_allows_whatever_it_leads_to() -> None:
    allowed = AddressPolicy(["localhost"], to("10.1.2.3", "::1"))
    assert allowed.vet("localhost", 80) == ["10.1.2.3", "::1"]
    assert allowed.vet("LOCALHOST.", 80) == ["10.1.2.3", "::1"]
    refused(allowed.vet("localhost.example", 80))
    refused(allowed.vet("127.0.0.1", 80))


def test_names_below_a_name() -> None:
    allowed = AddressPolicy(["*.internal"], to("10.1.2.3"))
    assert allowed.vet("a.internal", 80) == ["10.1.2.3"]
    assert allowed.vet("a.b.Internal", 80) == ["10.1.2.3"]
    for other in ("internal", "ainternal", "internal.example"):
        refused(allowed.vet(other, 80))


def test_an_address_is_allowed_whatever_the_name() -> None:
    allowed = AddressPolicy(["127.0.0.1"], to("127.0.0.1"))
    assert allowed.vet("any.example", 80) == ["127.0.0.1"]
    assert allowed.vet("127.0.0.1", 80) == ["127.0.0.1"]
    assert allowed.refusal_of_address("x", "::ffff:127.0.0.1") is None
    assert allowed.refusal_of_address("x", "127.0.0.2")
    # A translator is another machine than this one.
    assert allowed.refusal_of_address("x", "64:ff9b::127.0.0.1")
    assert allowed.refusal_of_address("x", "2002:7f00:1::")


@pytest.mark.parametrize("written", ["::1", "[::1]", "0:0:0:0:0:0:0:1", "::/127"])
def test_ipv6_is_allowed_as_one_writes_it(written: str) -> None:
    assert AddressPolicy([written]).refusal_of_address("x", "::1") is None


@pytest.mark.parametrize("written", ["10.0.0.0/8", "::ffff:10.0.0.0/104"])
def test_a_network_is_allowed(written: str) -> None:
    allowed = AddressPolicy([written])
    assert allowed.refusal_of_address("x", "::ffff:10.9.8.7") is None
    assert allowed.refusal_of_address("x", "11.0.0.1") is None
    assert allowed.refusal_of_address("x", "192.168.0.1")


def test_an_international_name_is_its_a_label() -> None:
    allowed = AddressPolicy(["bücher.example"], to("10.0.0.1"))
    assert allowed.vet("xn--bcher-kva.example", 80) == ["10.0.0.1"]


@pytest.mark.parametrize(
    "wrong",
    [
        "http://localhost",
        "localhost:8080",
        "localhost/x",
        "user@localhost",
        "*",
        "*.",
        "a.*",
        "*.*.internal",
        "",
        "10.0.0.1/8",
        "10.0.0.0/33",
        "127.1",
        "0x7f.1",
        "two words",
    ],
)
def test_an_invalid_name_address_or_network_raises_with_the_fix(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"allow_private contains .*: use"):
        AddressPolicy([wrong])


def test_a_string_is_not_a_list() -> None:
    with pytest.raises(ValueError, match=r"pass a list, such as \['localhost'\]"):
        AddressPolicy("localhost")
    with pytest.raises(ValueError, match="host names and addresses"):
        AddressPolicy([127])  # type: ignore[list-item]


def test_its_repr_lists_what_it_allows() -> None:
    assert repr(AddressPolicy(["localhost"])) == "AddressPolicy(allow_private=['localhost'])"


# --- Names ----------------------------------------------------------------------------------------


def test_of_public_and_private_addresses_only_the_public_are_taken() -> None:
    mixed = AddressPolicy(resolve=to("10.0.0.1", "8.8.8.8", "::1", "2606:4700::1", "8.8.8.8"))
    assert mixed.vet("mixed.example", 80) == ["8.8.8.8", "2606:4700::1"]


def test_a_mapped_address_is_connected_to_as_ipv4() -> None:
    assert AddressPolicy(resolve=to("::ffff:8.8.8.8")).vet("x.example", 80) == ["8.8.8.8"]


def test_a_name_with_many_addresses_does_not_cause_a_scan() -> None:
    many = AddressPolicy(resolve=to(*(f"8.8.8.{last}" for last in range(200))))
    found = many.vet("many.example", 80)
    assert isinstance(found, list)
    assert len(found) == MAX_ADDRESSES


def test_a_refusal_names_the_option_to_allow_it() -> None:
    refused = AddressPolicy(resolve=to("169.254.169.254")).vet("metadata.example", 80)
    assert refused == Failure(
        FailureReason.REFUSED,
        "metadata.example is 169.254.169.254, which is link-local (RFC 3927); "
        "to allow it, pass allow_private=['metadata.example']",
    )
    assert PUBLIC.vet("127.0.0.1", 80) == Failure(
        FailureReason.REFUSED,
        "127.0.0.1 is loopback (RFC 1122); to allow it, pass allow_private=['127.0.0.1']",
    )


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (OSError(113, "No route to host"), "No route to host"),
        (UnicodeError("label too long"), "label too long"),
        (LookupError(), "LookupError"),
        (KeyError("no\nsuch \x1b[31mname"), "no\\nsuch \\x1b[31mname"),
    ],
)
def test_a_resolver_that_raises_is_a_failure(error: Exception, words: str) -> None:
    def raises(host: str, port: int) -> list[str]:
        raise error

    found = AddressPolicy(resolve=raises).vet("gone.example", 80)
    assert isinstance(found, Failure)
    assert found.reason is FailureReason.DNS
    assert found.detail.startswith("gone.example: ")
    assert words in found.detail
    assert found.detail.isprintable()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([], "no address"),
        (["gone"], "not an address"),
        ([""], "not an address"),
        (None, "NoneType"),
    ],
)
def test_a_resolver_that_gives_no_address_is_a_failure(answer: list[str], words: str) -> None:
    found = AddressPolicy(resolve=lambda host, port: answer).vet("odd.example", 80)
    assert isinstance(found, Failure)
    assert found.reason is FailureReason.DNS
    assert words in found.detail


def test_invalid_addresses_are_refused() -> None:
    assert "not an address" in (PUBLIC.refusal_of_address("x.example", "127.1") or "")


def test_the_resolver_is_called_once_with_the_port() -> None:
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["8.8.8.8"]

    found = AddressPolicy(resolve=resolve)
    assert found.vet("x.example", 8080) == ["8.8.8.8"]
    assert asked == [("x.example", 8080)]
    assert found.vet("9.9.9.9", 80) == ["9.9.9.9"]
    assert found.vet("[2606:4700::1]", 80) == ["2606:4700::1"]
    assert len(asked) == 1


def test_a_resolver_may_give_brackets_or_objects() -> None:
    """An IPv6 address in brackets is that address; so is one of `ipaddress`."""
    there = ["[2606:4700::1]", IPv6Address("2606:4700::2"), IPv4Address("8.8.8.8")]
    found = AddressPolicy(resolve=lambda host, port: there)  # type: ignore[arg-type]
    assert found.vet("x.example", 80) == ["2606:4700::1", "2606:4700::2", "8.8.8.8"]
    for address in PRIVATE_ADDRESSES:
        refused(AddressPolicy(resolve=to(f"[{address}]")).vet("x.example", 80))


# How people and attackers spell 127.0.0.1: what a system's resolver makes of it is loopback, or no
# address at all.
LOOPBACKS = (
    *("localhost", "LOCALHOST", "localhost.", "127.1", "127.0.1", "0x7f.0.0.1", "0x7f000001"),
    *("2130706433", "0177.0.0.1", "017700000001", "0x7F.1", "127.0.0.01"),
)


@pytest.mark.parametrize("host", LOOPBACKS)
def test_the_systems_resolver_is_not_believed(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However loopback is spelled, what the system makes of it is vetted, and that is refused."""

    def getaddrinfo(name: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(name)
        try:
            address = socket.inet_ntoa(socket.inet_aton(name))  # as C libraries read numbers
        except OSError:
            address = "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    asked: list[str] = []
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    found = refused(PUBLIC.vet(host, 80))
    assert asked == [host]
    assert "loopback" in found.detail


@pytest.mark.parametrize("host", ["a" * 70 + ".example", "a..example", "nul\x00.example", ""])
def test_a_host_that_no_resolver_takes_is_a_failure(host: str) -> None:
    """No address is reached: the failure is that of the name."""
    found = PUBLIC.vet(host, 80)
    assert isinstance(found, Failure)
    assert found.reason is FailureReason.DNS


def test_the_system_is_queried_for_all_families(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(*_: object, **__: object) -> list[tuple[object, ...]]:
        tail = (socket.SOCK_STREAM, 6, "")
        return [
            (socket.AF_INET6, *tail, ("fe80::1", 80, 0, 3)),
            (socket.AF_INET6, *tail, ("2606:4700::1", 80, 0, 0)),
            (socket.AF_INET, *tail, ("8.8.8.8", 80)),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert PUBLIC.vet("x.example", 80) == ["2606:4700::1", "8.8.8.8"]
    assert AddressPolicy(["x.example"]).vet("x.example", 80) == [
        "fe80::1%3",
        "2606:4700::1",
        "8.8.8.8",
    ]


def test_a_detail_is_one_short_line() -> None:
    assert one_line("a\r\n\tb\x1b[31m\u202e  c") == "a b [31m c"
    assert len(one_line("x" * 10_000)) == 300
    assert one_line("") == ""
