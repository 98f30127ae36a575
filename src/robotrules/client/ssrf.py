"""
SSRF guard: resolves host names, and decides which addresses a client connects to (AMB-56).

A redirect may name any host, and a name may resolve to any address: this machine, its network, or
the metadata service of a cloud. A name is therefore resolved once per connection, each address is
checked, and the connection goes to a checked address, so that a later change of the name has no
effect (DNS rebinding). Only addresses of the public Internet pass; others need `allow_private`.

`ipaddress.is_global` is not sufficient: it is true for multicast, for `192.88.99.1`, and for IPv6
addresses that embed a private IPv4 address. A network's own NAT64 prefix is not known here: its
operator must keep the translator from private networks. This module opens no connections.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from inspect import iscoroutinefunction
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from robotrules.access import Failure, FailureReason
from robotrules.http.origins import origin_of

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Sequence[str]]
AsyncResolve = Callable[[str, int], Awaitable[Sequence[str]]]

# Only this many addresses of a name are tried: more would be a scan.
MAX_ADDRESSES = 8
# How details name the argument that allows an address; programs with a setting replace it.
ALLOW_OPTION = "pass allow_private="
_MAX_DETAIL_LENGTH = 300

# Networks that the IANA special-purpose registries (RFC 6890) list as not global, and others
# without web servers, each with its description.
_IPV4 = tuple(
    (IPv4Network(network), why)
    for network, why in (
        ("0.0.0.0/8", "this machine itself (RFC 791)"),
        ("10.0.0.0/8", "a private network (RFC 1918)"),
        ("100.64.0.0/10", "a provider's shared network (RFC 6598)"),
        ("127.0.0.0/8", "loopback (RFC 1122)"),
        # Not special in any registry: the host of a virtual machine in Azure.
        ("168.63.129.16/32", "a cloud's metadata"),
        ("169.254.0.0/16", "link-local (RFC 3927)"),
        ("172.16.0.0/12", "a private network (RFC 1918)"),
        ("192.0.0.0/24", "for protocols of the IETF (RFC 6890)"),
        ("192.0.2.0/24", "for documentation (RFC 5737)"),
        ("192.88.99.0/24", "a 6to4 relay (RFC 7526)"),
        ("192.168.0.0/16", "a private network (RFC 1918)"),
        ("198.18.0.0/15", "for benchmarks (RFC 2544)"),
        ("198.51.100.0/24", "for documentation (RFC 5737)"),
        ("203.0.113.0/24", "for documentation (RFC 5737)"),
        ("224.0.0.0/4", "multicast (RFC 1112)"),
        ("255.255.255.255/32", "broadcast (RFC 919)"),
        ("240.0.0.0/4", "reserved (RFC 1112)"),
    )
)
_IPV6 = tuple(
    (IPv6Network(network), why)
    for network, why in (
        ("::/128", "this machine itself (RFC 4291)"),
        ("::1/128", "loopback (RFC 4291)"),
        # The operator of the translator chose the position of the embedded IPv4 address.
        ("64:ff9b:1::/48", "for translation inside a network (RFC 8215)"),
        ("100::/64", "a black hole (RFC 6666)"),
        ("2001:2::/48", "for benchmarks (RFC 5180)"),
        ("2001:db8::/32", "for documentation (RFC 3849)"),
        ("2001::/23", "for protocols of the IETF (RFC 2928)"),
        ("3fff::/20", "for documentation (RFC 9637)"),
        ("5f00::/16", "for segment routing (RFC 9602)"),
        ("fc00::/7", "a private network (RFC 4193)"),
        ("fe80::/10", "link-local (RFC 4291)"),
        ("fec0::/10", "site-local (RFC 3879)"),
        ("ff00::/8", "multicast (RFC 4291)"),
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")

# IPv6 addresses that embed an IPv4 address, to which a translator or tunnel forwards.
_COMPATIBLE = IPv6Network("::/96")  # RFC 4291 §2.5.5.1
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")  # RFC 2765 §2.1
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052 §2.1
_TEREDO = IPv6Network("2001::/32")  # RFC 4380 §2.6
_6TO4 = IPv6Network("2002::/16")  # RFC 3056 §2

# Names that resolve to this machine or into a private network, with every resolver.
_PRIVATE_DOMAINS = (
    (".localhost", "loopback (RFC 6761)"),
    (".local", "link-local (RFC 6762)"),
    (".internal", "for private networks (ICANN, 2024)"),
    (".home.arpa", "for private networks (RFC 8375)"),
    (".localdomain", "loopback in the hosts file of many systems"),
    (".test", "for tests (RFC 6761)"),
    (".onion", "of the Tor network (RFC 7686)"),
    # Not delegated, and in use inside networks (RFC 6762 appendix G; ICANN, 2018: corp, home).
    *(
        (f".{name}", "a name of private networks")
        for name in ("corp", "home", "intranet", "lan", "private")
    ),
)

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]+")


class AddressPolicy:
    """The addresses that a client may connect to, and how it resolves names. Immutable."""

    __slots__ = ("_allowed", "_aresolve", "_names", "_networks", "_resolve", "_suffixes")

    def __init__(
        self,
        allow_private: Iterable[str] = (),
        resolve: Resolve | AsyncResolve | None = None,
    ) -> None:
        """
        Allow private destinations by name, address or network.

        `localhost` allows every address that this name resolves to; `*.internal` does so for all
        names below `internal`; `127.0.0.1` and `10.0.0.0/8` allow these addresses for any name.
        *resolve* replaces the system's resolver: a function from host and port to addresses, which
        may block and is called from several threads. An async function is awaited in the event
        loop without threads; `AsyncResolver` is one. Its results are checked like all others.
        """
        vet_allow_private(allow_private)
        if isinstance(allow_private, str):
            raise ValueError(
                f"allow_private is {allow_private!r}: pass a list, such as [{allow_private!r}]"
            )
        self._allowed = tuple(allow_private)
        self._aresolve: AsyncResolve | None = None
        self._resolve: Resolve = _resolve_with_system
        if resolve is not None:
            if is_async(resolve):
                self._aresolve = resolve  # type: ignore[assignment]
                self._resolve = self._resolve_in_new_loop
            else:
                self._resolve = resolve  # type: ignore[assignment]
        names, suffixes, networks = set(), [], []
        for allowed in self._allowed:
            if network := _parse_network(allowed):
                networks.append(network)
            elif allowed[:2] == "*.":
                suffixes.append("." + _parse_name(allowed[2:], allowed))
            else:
                names.add(_parse_name(allowed, allowed))
        self._names, self._suffixes = frozenset(names), tuple(suffixes)
        self._networks = tuple(networks)

    def __repr__(self) -> str:
        return f"AddressPolicy(allow_private={list(self._allowed)!r})"

    def vet(self, host: str, port: int) -> list[str] | Failure:
        """
        Return the addresses of *host* to connect to, in the resolver's order; at most eight.

        If none is left, return a Failure: `dns` if the name has no address, `refused-address` if
        all addresses are refused. This may block for a long time.
        """
        literal = literal_of(host)
        if literal is not None:
            return self._filter(host, [str(literal)])
        try:
            addresses = [str(address) for address in self._resolve(host, port)]
        # A user's resolver may raise any exception of its library.
        except Exception as error:
            return _resolution_failure(host, error)
        return self._filter(host, addresses)

    async def avet(self, host: str, port: int) -> list[str] | Failure:
        """Do the same in an event loop; only for policies with an async resolver."""
        assert self._aresolve is not None
        try:
            addresses = [str(address) for address in await self._aresolve(host, port)]
        except Exception as error:
            return _resolution_failure(host, error)
        return self._filter(host, addresses)

    @property
    def is_async(self) -> bool:
        """Whether the resolver is an async function."""
        return self._aresolve is not None

    @property
    def cacheable(self) -> bool:
        """Whether results of the resolver may be cached for a few seconds, for any port."""
        if self._resolve is _resolve_with_system:
            return True
        # A user's function is called each time: it may have its own cache.
        return bool(getattr(self._aresolve, "cacheable", False))

    def _resolve_in_new_loop(self, host: str, port: int) -> Sequence[str]:
        """Call an async resolver where no event loop runs, as in the threads of `Client`."""
        # The event loop ends with the call, and so must everything that the resolver opens in it.
        assert self._aresolve is not None
        resolve: AsyncResolve = getattr(self._aresolve, "resolve_once", self._aresolve)
        return asyncio.run(_await(resolve(host, port)))

    def _filter(self, host: str, addresses: list[str]) -> list[str] | Failure:
        """Return the addresses of a host that may be connected to."""
        passed: dict[str, None] = {}
        refusals = []
        for address in addresses:
            literal = literal_of(address)
            why = self.refusal_of_address(host, address)
            if literal is not None and why is None:
                passed[str(_unmap(literal))] = None
            elif literal is not None and why is not None:
                refusals.append(why)
        if passed:
            return list(passed)[:MAX_ADDRESSES]
        if refusals:
            return Failure(FailureReason.REFUSED, refusals[0])
        detail = "no address"
        if addresses:
            detail = f"the resolver returned {addresses[0]!r}, which is not an address"
        return Failure(FailureReason.DNS, one_line(f"{host}: {detail}"))

    def refusal_of_address(self, host: str, address: str) -> str | None:
        """Return why the client does not connect to *address* of *host*; None: it does."""
        literal = literal_of(address)
        if literal is None:
            return one_line(f"{host} is {address!r}, which is not an address")
        if self._is_allowed_name(host):
            return None
        plain = _unmap(literal)
        if any(form in network for network in self._networks for form in (plain, literal)):
            return None
        why = describe_special(plain)
        if why is None:
            return None
        subject = str(plain) if literal_of(host) else f"{host} is {plain}, which"
        return one_line(f"{subject} is {why}; to allow it, {ALLOW_OPTION}['{host}']")

    def refusal_of_name(self, host: str) -> str | None:
        """
        Return why *host* is not requested through a proxy, which resolves it; None: it is.

        Addresses that a proxy resolves cannot be checked. Names that are never public are refused:
        those below a domain of `_NOT_PUBLIC`, and names without a dot, which a proxy completes
        with the domain of its network. A literal address is checked as such.
        """
        name = host.lower().rstrip(".")
        if literal_of(name):
            return self.refusal_of_address(name, name)
        if self._is_allowed_name(name):
            return None
        why = next((why for suffix, why in _PRIVATE_DOMAINS if f".{name}".endswith(suffix)), None)
        if why is None and "." not in name:
            why = "a name without a dot, which belongs to a local network"
        if why is None:
            return None
        return one_line(f"{host} is {why}; to allow it, {ALLOW_OPTION}['{host}']")

    def _is_allowed_name(self, host: str) -> bool:
        if not self._names and not self._suffixes:
            return False
        name = host.lower().removesuffix(".")
        return name in self._names or name.endswith(self._suffixes)


def is_async(resolve: object) -> bool:
    """Return whether a resolver is an async function, or an object whose call is one."""
    return iscoroutinefunction(resolve) or iscoroutinefunction(
        getattr(resolve, "__call__", None)  # noqa: B004
    )


async def _await(answer: Awaitable[Sequence[str]]) -> Sequence[str]:
    return await answer


def _resolution_failure(host: str, error: Exception) -> Failure:
    message = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return Failure(FailureReason.DNS, one_line(f"{host}: {message}"))


def literal_of(host: str) -> Address | None:
    """Return the address that *host* is, with or without brackets; None: it is a name."""
    # An address contains a colon, or ends with a digit or a bracket: most names do not.
    if ":" not in host and host[-1:] not in "0123456789]":
        return None
    return _literal(host)


@lru_cache(maxsize=1024)
def _literal(host: str) -> Address | None:
    try:
        return ip_address(host[1:-1] if host[:1] == "[" and host[-1:] == "]" else host)
    except ValueError:
        return None


def one_line(text: str) -> str:
    """Return a short line of printable ASCII, with all other characters replaced."""
    line = " ".join(_UNPRINTABLE.sub(" ", text).split())
    return line if len(line) <= _MAX_DETAIL_LENGTH else line[: _MAX_DETAIL_LENGTH - 3] + "..."


def vet_allow_private(allow_private: object) -> None:
    """Raise ValueError for a value that names nothing, such as True."""
    if isinstance(allow_private, bytes) or not isinstance(allow_private, Iterable):
        raise ValueError(
            f"allow_private is {allow_private!r}: pass the hosts, addresses or networks to allow, "
            "such as ['localhost', '10.0.0.0/8']"
        )


# --- Allowed names and networks -------------------------------------------------------------------


def _parse_network(allowed: str) -> IPv4Network | IPv6Network | None:
    """Return the network of an address or network; None: it may be a name."""
    if not isinstance(allowed, str):
        raise ValueError(f"allow_private contains {allowed!r}: use host names and addresses")
    literal = literal_of(allowed)
    if literal is not None:
        return ip_network(_unmap(literal))
    if "/" not in allowed or "://" in allowed:
        return None
    try:
        return ip_network(allowed)
    except ValueError as error:
        raise ValueError(
            f"allow_private contains {allowed!r}, which is not a network ({error}): use one "
            "such as "
            "'10.0.0.0/8' or 'fd00::/8'"
        ) from None


def _parse_name(name: str, allowed: str) -> str:
    """Return a host name in the form it has in an origin."""
    origin = origin_of(f"http://{name}")
    if origin is None or not re.fullmatch(r"[^/:@?#*]+", name):
        raise ValueError(
            f"allow_private contains {allowed!r}, which is not a host name, address or network: "
            "use "
            "'localhost', '*.internal', '127.0.0.1' or '10.0.0.0/8', without scheme, port and path"
        )
    return origin.removeprefix("http://")


# --- Special addresses ----------------------------------------------------------------------------


def _unmap(address: Address) -> Address:
    """Return the IPv4 address of an IPv4-mapped one: sockets treat them alike."""
    return getattr(address, "ipv4_mapped", None) or address


def describe_special(address: Address) -> str | None:
    """Return a description of an address that is not on the public Internet; else None."""
    if isinstance(address, IPv4Address):
        return next((why for network, why in _IPV4 if address in network), None)
    # Teredo is an IETF protocol: the address that it embeds is checked below.
    for network, why in _IPV6 if address not in _TEREDO else ():
        if address in network:
            return why
    if address.scope_id is not None:
        return f"link-local (%{address.scope_id})"
    embedded = list(_embedded_ipv4(address))
    for how, inner in embedded:
        if why_inner := describe_special(inner):
            return f"{how} of {inner}, which is {why_inner}"
    if embedded or address in _GLOBAL_UNICAST:
        return None
    return "not global unicast (RFC 4291)"


def _embedded_ipv4(address: IPv6Address) -> Iterator[tuple[str, IPv4Address]]:
    """Yield the IPv4 addresses that an IPv6 address embeds, and how."""
    bits = int(address)
    last = IPv4Address(bits & 0xFFFF_FFFF)
    if address in _COMPATIBLE:
        yield "the IPv6 form", last
    elif address in _TRANSLATED or address in _NAT64:
        yield "the translation", last
    elif address in _TEREDO:
        yield "a tunnel by way", IPv4Address(bits >> 64 & 0xFFFF_FFFF)
        yield "a tunnel to the net", IPv4Address(bits & 0xFFFF_FFFF ^ 0xFFFF_FFFF)
    elif address in _6TO4:
        yield "the 6to4 net", IPv4Address(bits >> 80 & 0xFFFF_FFFF)


def _resolve_with_system(host: str, port: int) -> list[str]:
    """Call the system's resolver, which reads the DNS and the hosts file."""
    results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [
        # A link-local address needs its scope id.
        f"{where[0]}%{where[3]}" if len(where) == 4 and where[3] else str(where[0])
        for _, _, _, _, where in results
    ]


PUBLIC = AddressPolicy()
