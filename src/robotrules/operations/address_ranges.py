"""
Address ranges that operators publish for their crawlers, read from files that the user saved.

    ranges = AddressRanges.read(["Googlebot=googlebot.json", "crawler-ranges.json"])

A file has the JSON that Google, Microsoft, OpenAI, Apple and others publish, a list of ranges with
one per line, or a JSON object of crawlers and their ranges. A lookup is a binary search. A file
with an error is refused as a whole: a missing range would make an impostor of a real crawler.

Sections: the ranges · reading files · one range.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    collapse_addresses,
    ip_network,
)
from pathlib import Path
from typing import Any

from robotrules.errors import RobotrulesError
from robotrules.octets import visible
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler

__all__ = ["AddressRanges", "Network", "RangeSet", "RangesError"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Google's file has about 150 ranges; the largest published list that we know of has a few thousand.
LARGEST_FILE = 16 << 20
MOST_RANGES = 500_000
MOST_FILES = 1_000
# A longer line of a list is not a range.
LONGEST_LINE = 200
# No operator has larger ranges; such a range would make every visitor a crawler.
SHORTEST_PREFIX = {4: 8, 6: 16}
# Where operators put a range: Google and most others, Amazon, Ahrefs.
_KEYS = ("ipv4Prefix", "ipv6Prefix", "ip_prefix", "ipv6_prefix", "ip_address")
_LISTS = ("prefixes", "ips")


class RangesError(RobotrulesError, ValueError):
    """A file of address ranges that cannot be used; the message says where and what to do."""


# --- The ranges -----------------------------------------------------------------------------------


class RangeSet:
    """The ranges of one crawler, merged and sorted."""

    __slots__ = ("_networks", "_starts", "files")

    def __init__(self, networks: Iterable[Network], files: tuple[str, ...] = ()) -> None:
        self.files = files
        """The names of the files they were read from."""
        given = list(networks)
        self._networks: dict[int, list[Network]] = {
            4: sorted(collapse_addresses(n for n in given if isinstance(n, IPv4Network))),
            6: sorted(collapse_addresses(n for n in given if isinstance(n, IPv6Network))),
        }
        self._starts = {
            version: [int(network.network_address) for network in networks]
            for version, networks in self._networks.items()
        }

    def find(self, address: Address) -> Network | None:
        """Return the range of an address; None if it is in none."""
        place = bisect_right(self._starts[address.version], int(address)) - 1
        if place < 0:
            return None
        network = self._networks[address.version][place]
        return network if int(address) <= int(network.broadcast_address) else None

    def __iter__(self) -> Iterator[Network]:
        for networks in self._networks.values():
            yield from networks

    def __len__(self) -> int:
        return sum(map(len, self._networks.values()))

    def __repr__(self) -> str:
        return f"<RangeSet: {len(self):,} ranges>"


class AddressRanges:
    """Ranges by crawler."""

    def __init__(self, by_crawler: Mapping[str, Iterable[str]] | None = None) -> None:
        """*by_crawler* has ranges in CIDR notation, or addresses, by product token."""
        self._sets: dict[str, RangeSet] = {}
        for name, texts in (by_crawler or {}).items():
            token = _known_name(name, "").product_token
            self._add(token, [_network(text, repr(name)) for text in texts], "")

    @classmethod
    def read(cls, files: Iterable[str]) -> AddressRanges:
        """
        Read files, each given as `Googlebot=googlebot.json`, or as a file with many crawlers.

        Several names are separated by commas: `Googlebot,Googlebot-Image=googlebot.json`. Ranges of
        several files for one crawler are united. Raises `RangesError`, or `OSError` for a file that
        cannot be opened.
        """
        found = cls()
        for count, given in enumerate(files, start=1):
            if count > MOST_FILES:
                raise RangesError(f"more than {MOST_FILES:,} files of ranges: put them into one")
            names, file = _split(given)
            content = _read_file(file)
            if names:
                networks = list(_file_networks(content, file))
                for name in names:
                    found._add(_known_name(name, file).product_token, networks, file)
            else:
                for name, networks in _named_networks(content, file):
                    found._add(_known_name(name, file).product_token, networks, file)
        return found

    def _add(self, product_token: str, networks: list[Network], file: str) -> None:
        if not networks:
            where = _shown(file) if file else product_token
            raise RangesError(
                f"{where}: no ranges for {product_token}, so every address would be an impostor; "
                "download the file again"
            )
        before = self._sets.get(product_token)
        files: tuple[str, ...] = (os.path.basename(file),) if file else ()
        if before is not None:
            networks = [*before, *networks]
            files = (*before.files, *files)
        if len(networks) > MOST_RANGES:
            raise RangesError(f"more than {MOST_RANGES:,} ranges for {product_token}")
        self._sets[product_token] = RangeSet(networks, files)

    def get(self, product_token: str) -> RangeSet | None:
        """Return the ranges of a crawler, by the product token of the registry."""
        return self._sets.get(product_token)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)

    def __repr__(self) -> str:
        return f"<AddressRanges: {', '.join(self) or 'none'}>"


def _known_name(name: str, file: str) -> KnownCrawler:
    """Return the crawler of a name; a misspelt one would silently verify nothing."""
    known = KNOWN_CRAWLERS.get(name.strip())
    if known is not None:
        return known
    closest = KNOWN_CRAWLERS.closest(name[:100])
    hint = f"did you mean {closest.product_token}?" if closest else "see `robotrules crawlers`"
    where = f"{_shown(file)}: " if file else ""
    raise RangesError(f"{where}{_shown(name[:100])} is not a known crawler: {hint}")


# --- Reading files --------------------------------------------------------------------------------


def _split(given: str) -> tuple[list[str], str]:
    """Return the names and the file of `Googlebot=googlebot.json`; no names if there is no `=`."""
    if not isinstance(given, str):
        raise TypeError(f"pass 'Googlebot=googlebot.json', not {type(given).__name__}")
    names, equals, file = given.partition("=")
    # A path may contain `=`; a name contains no slash.
    if not equals or "/" in names or os.sep in names:
        return [], given
    if not file:
        raise RangesError(f"{_shown(given)} has no file: pass {_shown(names)}=FILE")
    listed = [name.strip() for name in names.split(",")]
    if not all(listed):
        raise RangesError(f"{_shown(given)} has an empty name: pass TOKEN=FILE")
    return listed, file


def _read_file(file: str) -> str:
    with Path(file).open("rb") as stream:
        octets = stream.read(LARGEST_FILE + 1)
    if len(octets) > LARGEST_FILE:
        raise RangesError(f"{_shown(file)} has more than {LARGEST_FILE >> 20} MiB: not ranges")
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = octets.count(b"\n", 0, error.start) + 1
        raise RangesError(f"{_shown(file)}:{line}: not UTF-8, so not a file of ranges") from None


def _file_networks(content: str, file: str) -> Iterator[Network]:
    """Yield the ranges of a file for one crawler."""
    if not content.lstrip().startswith(("{", "[")):
        yield from _list_networks(content, file)
        return
    value = _parse_json(content, file)
    if isinstance(value, dict) and not any(key in value for key in _LISTS):
        raise RangesError(
            f"{_shown(file)}: no list of 'prefixes'; for a file with many crawlers, pass the file "
            "without a name"
        )
    yield from _json_networks(value, file, "")


def _named_networks(content: str, file: str) -> Iterator[tuple[str, list[Network]]]:
    """Yield the crawlers and ranges of a file for many."""
    if not content.lstrip().startswith("{"):
        raise RangesError(
            f"{_shown(file)} does not name a crawler: pass Googlebot={visible(file)} if it is "
            "Googlebot's"
        )
    value = _parse_json(content, file)
    if any(key in value for key in _LISTS):
        raise RangesError(
            f"{_shown(file)} does not name a crawler: pass Googlebot={visible(file)} if it is "
            "Googlebot's"
        )
    if not value:
        raise RangesError(f"{_shown(file)} is empty: an object of crawlers and ranges is needed")
    for name, ranges in value.items():
        yield name, list(_json_networks(ranges, file, f"{_shown(name[:100])}: "))


def _parse_json(content: str, file: str) -> Any:
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise RangesError(
            f"{_shown(file)}:{error.lineno}:{error.colno}: invalid JSON: {error.msg}; download the "
            "file again"
        ) from None
    except (RecursionError, ValueError):
        raise RangesError(f"{_shown(file)}: nested too deeply, or has too long a number") from None


def _list_networks(content: str, file: str) -> Iterator[Network]:
    """Yield the ranges of a list with one per line; `#` begins a comment."""
    for number, line in enumerate(content.splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if text:
            yield _network(text, f"{_shown(file)}:{number}")


def _json_networks(value: Any, file: str, of: str) -> Iterator[Network]:
    """Yield the ranges of a JSON list, or of the object around it."""
    where = f"{_shown(file)}: {of}"
    if isinstance(value, dict):
        key = next((key for key in _LISTS if key in value), "prefixes")
        where += f"{key}"
        value = value.get(key)
    if not isinstance(value, list):
        raise RangesError(f"{where.rstrip(': ')}: a list of ranges is needed")
    for index, entry in enumerate(value):
        place = f"{where}[{index}]"
        texts = [entry] if isinstance(entry, str) else []
        if isinstance(entry, dict):
            texts = [entry[key] for key in _KEYS if key in entry]
        if not texts:
            raise RangesError(f"{place}: no range: an ipv4Prefix or an ipv6Prefix is needed")
        for text in texts:
            yield _network(text, place)


# --- One range ------------------------------------------------------------------------------------


def _network(text: Any, where: str) -> Network:
    if not isinstance(text, str) or len(text) > LONGEST_LINE:
        raise RangesError(f"{where}: not a range such as 192.0.2.0/24")
    try:
        network = ip_network(text.strip())
    except ValueError:
        raise RangesError(
            f"{where}: {_shown(text)} is not a range such as 192.0.2.0/24 or 2001:db8::/32"
        ) from None
    if network.version == 6 and network.prefixlen >= 96:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            network = IPv4Network((mapped, network.prefixlen - 96))
    if network.prefixlen < SHORTEST_PREFIX[network.version]:
        raise RangesError(
            f"{where}: {network} is larger than the range of any operator: everyone would be "
            "verified"
        )
    return network


def _shown(text: str) -> str:
    return f"'{visible(text)}'"
