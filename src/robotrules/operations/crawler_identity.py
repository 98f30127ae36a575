"""
Whether a visitor is the crawler that it claims to be: by published address ranges, and by DNS.

    ranges = AddressRanges.read(["Googlebot=googlebot.json"])
    checker = IdentityChecker(ranges, verify_dns=True)
    identity, reason = checker.check(KNOWN_CRAWLERS.get("Googlebot"), "66.249.66.1")

Anyone can send any User-Agent header, so a request in a log is a claim. *Verified*: the operator
says that this address is one of its crawler. *Impostor*: the operator says which addresses are, and
this is another one. *Not verified*: everything else; it is not an accusation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from robotrules.octets import visible
from robotrules.operations.address_ranges import Address, AddressRanges, RangesError, RangeSet
from robotrules.operations.reverse_dns import (
    Confirmation,
    ConfirmationOutcome,
    DnsLimits,
    DnsQuestion,
    DnsResolver,
    ReverseDnsConfirmer,
)
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler

__all__ = [
    "AddressRanges",
    "DnsLimits",
    "Identity",
    "IdentityChecker",
    "IdentityResult",
    "RangesError",
]

# A longer text is not an address: the longest one has 45 characters, and a zone.
LONGEST_ADDRESS = 64
REMEMBERED_CHECKS = 65_536


class Identity(StrEnum):
    """Whether a visitor is the crawler that it claims to be."""

    VERIFIED = "verified"
    NOT_VERIFIED = "not verified"
    IMPOSTOR = "impostor"


class IdentityResult(NamedTuple):
    """The result of a check, and the reason in words."""

    identity: Identity
    reason: str


class IdentityChecker:
    """
    Checks addresses of visitors that claim to be crawlers.

    With *verify_dns*, host names are looked up where the ranges do not verify an address, for
    crawlers whose operator documents these names; *resolver* replaces the system's, within
    *dns_limits*. Without it, nothing is looked up.
    """

    def __init__(
        self,
        ranges: AddressRanges | None = None,
        *,
        verify_dns: bool = False,
        resolver: DnsResolver | None = None,
        dns_limits: DnsLimits | None = None,
    ) -> None:
        self.ranges = AddressRanges() if ranges is None else ranges
        self._dns = ReverseDnsConfirmer(resolver, dns_limits or DnsLimits()) if verify_dns else None
        self._check_ranges = lru_cache(REMEMBERED_CHECKS)(self._check_ranges_once)

    def check(self, crawler: KnownCrawler, address: str) -> IdentityResult:
        """Return whether an address is one of a crawler."""
        return self.check_many([(crawler, address)])[crawler.product_token, address]

    def has_ranges(self, crawler: KnownCrawler) -> bool:
        """Tell whether address ranges were given for a crawler."""
        return self.ranges.get(crawler.product_token) is not None

    def is_outside_ranges(self, crawler: KnownCrawler, address: str) -> bool:
        """Tell whether the given ranges make an address an impostor; looks nothing up."""
        return self._check_ranges(crawler, address).result.identity is Identity.IMPOSTOR

    def check_many(
        self,
        pairs: Iterable[tuple[KnownCrawler, str]],
        progress: Callable[[int], None] | None = None,
    ) -> dict[tuple[str, str], IdentityResult]:
        """
        Return the results by product token and address; lookups run at the same time.

        *progress* is called with 1 for each address that was looked up.
        """
        results: dict[tuple[str, str], IdentityResult] = {}
        questions: dict[tuple[str, str], DnsQuestion] = {}
        for crawler, address in pairs:
            key = crawler.product_token, address
            if key in results:
                continue
            checked = self._check_ranges(crawler, address)
            results[key] = checked.result
            if self._dns is not None and checked.is_open and crawler.reverse_dns:
                questions[key] = DnsQuestion(checked.plain, crawler.reverse_dns)
        if self._dns is not None and questions:
            answers = self._dns.confirm_many(questions.values(), progress)
            for key, question in questions.items():
                results[key] = _weigh(results[key], answers[question])
        return results

    def _check_ranges_once(self, crawler: KnownCrawler, text: str) -> _RangeCheck:
        """Return what can be said without the DNS."""
        address = _parse_address(text)
        if address is None:
            return _settled(Identity.NOT_VERIFIED, "not an IP address")
        own = self.ranges.get(crawler.product_token)
        for ranges in [own] if own else self._related_ranges(crawler):
            network = ranges.find(address)
            if network is not None:
                files = f", published in {_files(ranges)}" if ranges.files else ""
                return _settled(Identity.VERIFIED, f"its address is in {network}{files}")
        # Imported late: ranges are checked without the client.
        from robotrules.client.ssrf import describe_special

        special = describe_special(address)
        if special is not None and "documentation" not in special:
            reason = f"not a public address, but {special}: the log may have that of a proxy"
            return _settled(Identity.NOT_VERIFIED, reason)
        is_open = special is None
        plain = str(address)
        if own:
            reason = f"its address is not in the published ranges ({_files(own)})"
            reason = reason.removesuffix(" ()")
            return _RangeCheck(IdentityResult(Identity.IMPOSTOR, reason), plain, is_open)
        if self._dns is None:
            reason = "no address ranges were given for it, and the DNS was not asked"
        else:
            reason = "its operator documents no host names, and no address ranges were given"
        return _RangeCheck(IdentityResult(Identity.NOT_VERIFIED, reason), plain, is_open)

    def _related_ranges(self, crawler: KnownCrawler) -> list[RangeSet]:
        """
        Return ranges of crawlers of the same operator whose groups it obeys.

        Googlebot-Image comes from the addresses of Googlebot. They can verify it, but an address
        outside them proves nothing.
        """
        related = (KNOWN_CRAWLERS.get(token) for token in crawler.also)
        same = [other for other in related if other and other.operator == crawler.operator]
        found = (self.ranges.get(other.product_token) for other in same)
        return [ranges for ranges in found if ranges is not None]


class _RangeCheck(NamedTuple):
    """A result, and whether the DNS may be asked about the address."""

    result: IdentityResult
    plain: str
    is_open: bool


def _settled(identity: Identity, reason: str) -> _RangeCheck:
    return _RangeCheck(IdentityResult(identity, reason), "", False)


def _files(ranges: RangeSet) -> str:
    return ", ".join(visible(file) for file in ranges.files)


def _parse_address(text: str) -> Address | None:
    """Return an address; one of IPv4 that IPv6 embeds is that of IPv4, and a zone is dropped."""
    if len(text) > LONGEST_ADDRESS:
        return None
    try:
        address = ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _weigh(before: IdentityResult, answer: Confirmation) -> IdentityResult:
    """Return the result with the answer of the DNS."""
    outcome, reason = answer
    if outcome is ConfirmationOutcome.CONFIRMED:
        if before.identity is Identity.IMPOSTOR:
            reason += ", though it is not in the published ranges: download them again"
        return IdentityResult(Identity.VERIFIED, reason)
    if before.identity is Identity.IMPOSTOR:
        return IdentityResult(Identity.IMPOSTOR, f"{before.reason}; {reason}")
    if outcome in (ConfirmationOutcome.OTHER_NAME, ConfirmationOutcome.NOT_CONFIRMED):
        return IdentityResult(Identity.IMPOSTOR, reason)
    return IdentityResult(Identity.NOT_VERIFIED, reason)
