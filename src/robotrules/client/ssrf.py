"""
SSRF guard: how a host name becomes addresses, and which of them are connected to (AMB-56).

A redirect may name any host, and a name may lead anywhere: to this machine, into its network, to a
cloud's metadata. So a name is resolved once for a connection, each address is looked at, and the
connection goes to an address that passed: what the name says a moment later does not matter. Only
addresses of the public Internet pass; others need `allow_private`.

`ipaddress.is_global` does not answer this: it is true for multicast, for `192.88.99.1`, for IPv6
addresses that carry a private IPv4 one. A network's own NAT64 prefix is not known here: who has
one must keep its translator from private networks. It opens no connection.
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

# A name with more addresses is not tried at all of them: that would be a scan.
MOST_ADDRESSES = 8
_LONGEST_DETAIL = 300

# What the IANA's special-purpose registries (RFC 6890) say is not global, and what else is no
# place for a web server: first words of the reason.
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
        # Whoever runs the translator chose where in the address the IPv4 one stands.
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

# IPv6 addresses that carry an IPv4 one, where a translator or a tunnel goes on to.
_COMPATIBLE = IPv6Network("::/96")  # RFC 4291 §2.5.5.1
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")  # RFC 2765 §2.1
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052 §2.1
_TEREDO = IPv6Network("2001::/32")  # RFC 4380 §2.6
_6TO4 = IPv6Network("2002::/16")  # RFC 3056 §2

# Names that lead to this machine or into a network of one's own, wherever they are resolved.
_NOT_PUBLIC = (
    (".localhost", "loopback (RFC 6761)"),
    (".local", "of one link alone (RFC 6762)"),
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
    """Which addresses may be connected to, and how names become addresses. Immutable."""

    __slots__ = ("_allowed", "_aresolve", "_names", "_networks", "_resolve", "_suffixes")

    def __init__(
        self,
        allow_private: Iterable[str] = (),
        resolve: Resolve | AsyncResolve | None = None,
    ) -> None:
        """
        Allow private places by name, by address or by network.

        `localhost` allows whatever that name leads to; `*.internal` the same for all names below
        `internal`; `127.0.0.1` and `10.0.0.0/8` allow these addresses, whatever name leads there.
        *resolve* takes the place of the system's resolver: a function from host and port to
        addresses, which may take its time, and is called from several threads. If it is an async
        function, an event loop awaits it and needs no threads; `AsyncResolver` is one. What it
        returns is vetted like everything else.
        """
        vet_allow_private(allow_private)
        if isinstance(allow_private, str):
            raise ValueError(
                f"allow_private is {allow_private!r}: pass a list, such as [{allow_private!r}]"
            )
        self._allowed = tuple(allow_private)
        self._aresolve: AsyncResolve | None = None
        self._resolve: Resolve = _system
        if resolve is not None:
            if is_async(resolve):
                self._aresolve = resolve  # type: ignore[assignment]
                self._resolve = self._resolved_here
            else:
                self._resolve = resolve  # type: ignore[assignment]
        names, suffixes, networks = set(), [], []
        for allowed in self._allowed:
            if network := _network(allowed):
                networks.append(network)
            elif allowed[:2] == "*.":
                suffixes.append("." + _name(allowed[2:], allowed))
            else:
                names.add(_name(allowed, allowed))
        self._names, self._suffixes = frozenset(names), tuple(suffixes)
        self._networks = tuple(networks)

    def __repr__(self) -> str:
        return f"AddressPolicy(allow_private={list(self._allowed)!r})"

    def vet(self, host: str, port: int) -> list[str] | Failure:
        """
        Return the addresses of *host* to connect to, in the resolver's order; eight at most.

        Where none is left there is a Failure: `dns` if the name has no address, and
        `refused-address` if it has none that is connected to. This may block for long.
        """
        literal = literal_of(host)
        if literal is not None:
            return self._judged(host, [str(literal)])
        try:
            found = [str(address) for address in self._resolve(host, port)]
        # A resolver of the user's may raise what its library has for a name without address.
        except Exception as error:
            return _unresolved(host, error)
        return self._judged(host, found)

    async def avet(self, host: str, port: int) -> list[str] | Failure:
        """Return the same on an event loop; only for addresses whose resolver is async."""
        assert self._aresolve is not None
        try:
            found = [str(address) for address in await self._aresolve(host, port)]
        except Exception as error:
            return _unresolved(host, error)
        return self._judged(host, found)

    @property
    def is_async(self) -> bool:
        """Whether the resolver is an async function."""
        return self._aresolve is not None

    @property
    def cacheable(self) -> bool:
        """Whether what the resolver says holds for a few seconds, whatever the port."""
        if self._resolve is _system:
            return True
        # A user's function is asked each time: it may keep what it likes itself.
        return bool(getattr(self._aresolve, "cacheable", False))

    def _resolved_here(self, host: str, port: int) -> Sequence[str]:
        """Ask an async resolver where no event loop runs, as in the threads of `Client`."""
        # The event loop ends with the call: what a resolver opens on it has to end with it too.
        assert self._aresolve is not None
        resolve: AsyncResolve = getattr(self._aresolve, "resolve_once", self._aresolve)
        return asyncio.run(_awaited(resolve(host, port)))

    def _judged(self, host: str, found: list[str]) -> list[str] | Failure:
        """Return those of the addresses of a host that are connected to."""
        passed: dict[str, None] = {}
        refusals = []
        for address in found:
            plain = literal_of(address)
            why = self.refusal_of_address(host, address)
            if plain is not None and why is None:
                passed[str(_plain(plain))] = None
            elif plain is not None and why is not None:
                refusals.append(why)
        if passed:
            return list(passed)[:MOST_ADDRESSES]
        if refusals:
            return Failure(FailureReason.REFUSED, refusals[0])
        none = f"the resolver gave {found[0]!r}, which is no address" if found else "no address"
        return Failure(FailureReason.DNS, one_line(f"{host}: {none}"))

    def refusal_of_address(self, host: str, address: str) -> str | None:
        """Return why *address* is not connected to for the sake of *host*; None: it is."""
        found = literal_of(address)
        if found is None:
            return one_line(f"{host} is {address!r}, which is no address")
        if self._has_name(host):
            return None
        plain = _plain(found)
        if any(one in network for network in self._networks for one in (plain, found)):
            return None
        why = _why_not(plain)
        if why is None:
            return None
        subject = str(plain) if literal_of(host) else f"{host} is {plain}, which"
        return one_line(f"{subject} is {why}; to go there, pass allow_private=['{host}']")

    def refusal_of_name(self, host: str) -> str | None:
        """
        Return why *host* is not asked for through a proxy, which resolves it; None: it is.

        What a proxy resolves cannot be vetted. Names that are never public are refused: those
        below a domain of `_NOT_PUBLIC`, and names without a dot, which a proxy completes to one of
        its own network. An address is vetted as one.
        """
        name = host.lower().rstrip(".")
        if literal_of(name):
            return self.refusal_of_address(name, name)
        if self._has_name(name):
            return None
        why = next((why for suffix, why in _NOT_PUBLIC if f".{name}".endswith(suffix)), None)
        if why is None and "." not in name:
            why = "a name without a dot, which belongs to a local network"
        if why is None:
            return None
        return one_line(f"{host} is {why}; to go there, pass allow_private=['{host}']")

    def _has_name(self, host: str) -> bool:
        if not self._names and not self._suffixes:
            return False
        name = host.lower().removesuffix(".")
        return name in self._names or name.endswith(self._suffixes)


def is_async(resolve: object) -> bool:
    """Tell whether a resolver is an async function, or an object whose call is one."""
    return iscoroutinefunction(resolve) or iscoroutinefunction(
        getattr(resolve, "__call__", None)  # noqa: B004
    )


async def _awaited(answer: Awaitable[Sequence[str]]) -> Sequence[str]:
    return await answer


def _unresolved(host: str, error: Exception) -> Failure:
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return Failure(FailureReason.DNS, one_line(f"{host}: {words}"))


def literal_of(host: str) -> Address | None:
    """Return the address that *host* is, brackets or not; None: it is a name."""
    # An address has a colon, or ends with a digit or a bracket: most names do not.
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
    """Return a short line of printable ASCII, whatever a stranger put into it."""
    line = " ".join(_UNPRINTABLE.sub(" ", text).split())
    return line if len(line) <= _LONGEST_DETAIL else line[: _LONGEST_DETAIL - 3] + "..."


def vet_allow_private(allow_private: object) -> None:
    """Raise ValueError for what names nothing, such as True: what is allowed is said by name."""
    if isinstance(allow_private, bytes) or not isinstance(allow_private, Iterable):
        raise ValueError(
            f"allow_private is {allow_private!r}: name the hosts, addresses or networks that may "
            "be asked, such as ['localhost', '10.0.0.0/8']"
        )


# --- What is allowed ------------------------------------------------------------------------------


def _network(allowed: str) -> IPv4Network | IPv6Network | None:
    """Return the network of an address or a network; None: it may be a name."""
    if not isinstance(allowed, str):
        raise ValueError(f"allow_private has {allowed!r}: it is for host names and addresses")
    literal = literal_of(allowed)
    if literal is not None:
        return ip_network(_plain(literal))
    if "/" not in allowed or "://" in allowed:
        return None
    try:
        return ip_network(allowed)
    except ValueError as error:
        raise ValueError(
            f"allow_private has {allowed!r}, which is no network ({error}): write one such as "
            "'10.0.0.0/8' or 'fd00::/8'"
        ) from None


def _name(name: str, allowed: str) -> str:
    """Return a host name as it stands in an origin."""
    origin = origin_of(f"http://{name}")
    if origin is None or not re.fullmatch(r"[^/:@?#*]+", name):
        raise ValueError(
            f"allow_private has {allowed!r}, which is no host name, address or network: write "
            "'localhost', '*.internal', '127.0.0.1' or '10.0.0.0/8', without scheme, port and path"
        )
    return origin.removeprefix("http://")


# --- What an address is ---------------------------------------------------------------------------


def _plain(address: Address) -> Address:
    """Return the IPv4 address of an IPv4-mapped one: a socket makes no difference between them."""
    return getattr(address, "ipv4_mapped", None) or address


def _why_not(address: Address) -> str | None:
    """Return what an address is, if it is not one of the public Internet."""
    if isinstance(address, IPv4Address):
        return next((why for network, why in _IPV4 if address in network), None)
    # Teredo is one of the protocols of the IETF: what it leads to is looked at below.
    for network, why in _IPV6 if address not in _TEREDO else ():
        if address in network:
            return why
    if address.scope_id is not None:
        return f"of one link alone (%{address.scope_id})"
    carried = list(_carried(address))
    for how, inner in carried:
        if why_inner := _why_not(inner):
            return f"{how} of {inner}, which is {why_inner}"
    if carried or address in _GLOBAL_UNICAST:
        return None
    return "not global unicast (RFC 4291)"


def _carried(address: IPv6Address) -> Iterator[tuple[str, IPv4Address]]:
    """Yield the IPv4 addresses that an IPv6 one leads to, and how."""
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


def _system(host: str, port: int) -> list[str]:
    """Ask the system's resolver, which knows the DNS and the hosts file."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [
        # A link-local address without its link is none.
        f"{where[0]}%{where[3]}" if len(where) == 4 and where[3] else str(where[0])
        for _, _, _, _, where in found
    ]


PUBLIC = AddressPolicy()
