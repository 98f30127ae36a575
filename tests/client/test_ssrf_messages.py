"""Addresses and resolvers to the word: why an address or a name is refused, and what is asked."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import Any

import aiodns
import pytest

from robotrules.access import Failure, FailureReason
from robotrules.client.resolvers import AsyncResolver, _format_address, _query
from robotrules.client.ssrf import PUBLIC, AddressPolicy, is_async, literal_of, one_line


def words_of(act: Any, *args: Any, **options: Any) -> str:
    """Return the words of the error that a call raises."""
    with pytest.raises((ValueError, TypeError)) as caught:
        act(*args, **options)
    return str(caught.value)


class TestAddresses:
    """Why an address is not connected to."""

    @pytest.mark.parametrize(
        ("address", "why"),
        [
            ("::127.0.0.1", "the IPv6 form of 127.0.0.1, which is loopback (RFC 1122)"),
            ("64:ff9b::7f00:1", "the translation of 127.0.0.1, which is loopback (RFC 1122)"),
            ("::ffff:0:7f00:1", "the translation of 127.0.0.1, which is loopback (RFC 1122)"),
            (
                "2001:0:7f00:1:0:63bf:f7f7:f7f7",
                "a tunnel by way of 127.0.0.1, which is loopback (RFC 1122)",
            ),
            (
                "2001:0:4136:e378:8000:63bf:80ff:fffe",
                "a tunnel to the net of 127.0.0.1, which is loopback (RFC 1122)",
            ),
            ("2002:7f00:1::1", "the 6to4 net of 127.0.0.1, which is loopback (RFC 1122)"),
            ("4000::1", "not global unicast (RFC 4291)"),
            ("2606:4700::1%eth0", "link-local (%eth0)"),
        ],
    )
    def test_words(self, address: str, why: str) -> None:
        """What it is, and how to allow it."""
        shown = str(literal_of(address))
        assert PUBLIC.refusal_of_address("x.example", address) == (
            f"x.example is {shown}, which is {why}; to allow it, pass allow_private=['x.example']"
        )
        assert PUBLIC.refusal_of_address(address, address) == (
            f"{shown} is {why}; to allow it, pass allow_private=['{address}']"
        )

    def test_invalid_addresses(self) -> None:
        """A resolver may return anything."""
        words = "x.example is '127.1', which is not an address"
        assert PUBLIC.refusal_of_address("x.example", "127.1") == words

    @pytest.mark.parametrize(
        ("found", "words"),
        [
            ([], "odd.example: no address"),
            (["gone"], "odd.example: the resolver returned 'gone', which is not an address"),
        ],
    )
    def test_no_address(self, found: list[str], words: str) -> None:
        """A name that leads nowhere is a failure of the DNS."""
        given = AddressPolicy(resolve=lambda host, port: found)
        assert given.vet("odd.example", 80) == Failure(FailureReason.DNS, words)

    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
            (UnicodeError("label too long"), "label too long"),
            (LookupError(), "LookupError"),
        ],
    )
    def test_a_resolver_that_raises(self, error: Exception, words: str) -> None:
        """The words of the system without its number, those of others as they are."""

        def waits(host: str, port: int) -> list[str]:
            raise error

        async def awaits(host: str, port: int) -> list[str]:
            raise error

        expected = Failure(FailureReason.DNS, f"x.example: {words}")
        assert AddressPolicy(resolve=waits).vet("x.example", 80) == expected
        assert asyncio.run(AddressPolicy(resolve=awaits).avet("x.example", 80)) == expected

    def test_the_query(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Host and port, and the addresses of streams."""
        asked: list[Any] = []

        def getaddrinfo(*args: Any, **options: Any) -> list[Any]:
            asked.append((args, options))
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 80))]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        assert PUBLIC.vet("x.example", 8080) == ["8.8.8.8"]
        assert asked == [(("x.example", 8080), {"type": socket.SOCK_STREAM})]

        async def awaits(*args: Any) -> list[str]:
            asked.append(args)
            return ["8.8.8.8"]

        assert AddressPolicy(resolve=awaits).vet("y.example", 8443) == ["8.8.8.8"]
        assert asyncio.run(AddressPolicy(resolve=awaits).avet("z.example", 80)) == ["8.8.8.8"]
        assert asked[1:] == [("y.example", 8443), ("z.example", 80)]

    def test_a_value_that_is_not_callable_is_not_async(self) -> None:
        """It cannot even be called."""
        assert is_async(object()) is False

    def test_lines_of_the_greatest_length(self) -> None:
        """What is longer ends with dots."""
        assert one_line("x" * 300) == "x" * 300
        assert one_line("x" * 301) == "x" * 297 + "..."


class TestAllowing:
    """What names nothing that could be allowed."""

    @pytest.mark.parametrize(
        "wrong", ["http://localhost", "localhost:80", "two words", "*.*.internal", "*.", ""]
    )
    def test_no_name(self, wrong: str) -> None:
        """It is reported as it was given."""
        assert words_of(AddressPolicy, [wrong]) == (
            f"allow_private contains {wrong!r}, which is not a host name, address or network: use "
            "'localhost', '*.internal', '127.0.0.1' or '10.0.0.0/8', without scheme, port and path"
        )

    def test_no_network(self) -> None:
        """It gives the reason."""
        assert words_of(AddressPolicy, ["10.0.0.1/8"]) == (
            "allow_private contains '10.0.0.1/8', which is not a network (10.0.0.1/8 has host "
            "bits set): "
            "use one such as '10.0.0.0/8' or 'fd00::/8'"
        )

    @pytest.mark.parametrize("wrong", [True, None, 5, b"localhost"])
    def test_no_list(self, wrong: object) -> None:
        """Allowed hosts are listed by name."""
        assert words_of(AddressPolicy, wrong) == (
            f"allow_private is {wrong!r}: pass the hosts, addresses or networks to allow, such "
            "as ['localhost', '10.0.0.0/8']"
        )

    def test_a_text(self) -> None:
        """One host stands in a list."""
        words = "allow_private is 'localhost': pass a list, such as ['localhost']"
        assert words_of(AddressPolicy, "localhost") == words
        words = "allow_private contains 127: use host names and addresses"
        assert words_of(AddressPolicy, [127]) == words


class TestNames:
    """Names that a proxy would resolve, and that are never public."""

    @pytest.mark.parametrize(
        ("host", "why"),
        [
            ("localhost", "loopback (RFC 6761)"),
            ("A.LOCALHOST..", "loopback (RFC 6761)"),
            ("printer.local", "link-local (RFC 6762)"),
            ("intranet", "a name of private networks"),
            ("wiki", "a name without a dot, which belongs to a local network"),
            ("wiki.", "a name without a dot, which belongs to a local network"),
            ("127.0.0.1", "loopback (RFC 1122)"),
        ],
    )
    def test_words(self, host: str, why: str) -> None:
        """What the name is, and how to allow it."""
        words = f"{host} is {why}; to allow it, pass allow_private=['{host}']"
        assert PUBLIC.refusal_of_name(host) == words

    @pytest.mark.parametrize(
        "host", ["example.com", "example.com.", "local.example", "x.locale", "8.8.8.8", "[2606::1]"]
    )
    def test_public(self, host: str) -> None:
        """Others are looked up."""
        assert PUBLIC.refusal_of_name(host) is None

    def test_allowed(self) -> None:
        """By name, and an address by its network too."""
        allowed = AddressPolicy(["wiki", "*.lan", "10.0.0.0/8"])
        for host in ("wiki", "WIKI.", "a.lan", "10.1.2.3"):
            assert allowed.refusal_of_name(host) is None
        assert allowed.refusal_of_name("other")
        assert allowed.refusal_of_name("11.0.0.1") is None
        assert allowed.refusal_of_name("192.168.0.1")


class TestResolver:
    """DNS queries, and how their answers are used."""

    def test_options(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One is opened for each event loop, with the given options."""
        opened: list[Any] = []

        class Dns:
            def __init__(self, *args: Any, **options: Any) -> None:
                opened.append((args, options))

            async def getaddrinfo(self, *args: Any, **options: Any) -> Any:
                asked.append((args, options))
                return SimpleNamespace(nodes=[SimpleNamespace(addr=(b"8.8.8.8", 80))])

            async def close(self) -> None:
                pass

        asked: list[Any] = []
        monkeypatch.setattr(aiodns, "DNSResolver", Dns)
        resolve = AsyncResolver()

        async def main() -> None:
            loop = asyncio.get_running_loop()
            for _ in range(2):
                assert await resolve("x.example", 443) == ["8.8.8.8"]
            assert opened == [((None, loop), {"timeout": 5.0, "tries": 2})]
            once = AsyncResolver(["9.9.9.9"], timeout=60, tries=1)
            assert await once.resolve_once("y.example", 80) == ["8.8.8.8"]
            assert opened[1:] == [((["9.9.9.9"], loop), {"timeout": 60, "tries": 1})]

        asyncio.run(main())
        stream = {"type": socket.SOCK_STREAM}
        first = (("x.example", socket.AF_UNSPEC, 443), stream)
        assert asked == [first, first, (("y.example", socket.AF_UNSPEC, 80), stream)]

    @pytest.mark.parametrize(
        ("args", "words"),
        [((11, "Could not contact DNS servers"), "Could not contact DNS servers"), ((), "")],
    )
    def test_errors(self, args: tuple[object, ...], words: str) -> None:
        """Its words without its number."""

        class Dns:
            async def getaddrinfo(self, *args: Any, **options: Any) -> Any:
                raise error

        error = aiodns.error.DNSError(*args)
        with pytest.raises(OSError, match=words or "None") as caught:
            asyncio.run(_query(Dns(), "x.example", 80))  # type: ignore[arg-type]
        assert (caught.value.errno, caught.value.strerror) == (None, words)
        error = aiodns.error.DNSError("alone")
        with pytest.raises(OSError, match="alone"):
            asyncio.run(_query(Dns(), "x.example", 80))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("address", "text"),
        [
            ((b"8.8.8.8", 80), "8.8.8.8"),
            (("8.8.8.8", 80), "8.8.8.8"),
            ((b"fe80::1", 80, 0, 3), "fe80::1%3"),
            ((b"2606:4700::1", 80, 0, 0), "2606:4700::1"),
        ],
    )
    def test_addresses(self, address: tuple[object, ...], text: str) -> None:
        """One of a link alone has its link."""
        assert _format_address(address) == text

    def test_misuse(self) -> None:
        """The error states the expected type."""
        words = "nameservers must be a list: pass ['9.9.9.9']"
        assert words_of(AsyncResolver, "9.9.9.9") == words
        assert words_of(AsyncResolver, b"x") == "nameservers must be a list: pass [b'x']"
        for seconds in (0, 60.5):
            words = f"timeout is {seconds}: use more than 0 and at most 60 seconds"
            assert words_of(AsyncResolver, timeout=seconds) == words
        assert words_of(AsyncResolver, tries=0) == "tries is 0: use 1 or more"
