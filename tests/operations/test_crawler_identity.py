"""Verified, impostor, not verified: only the operator's own word makes an impostor."""

from __future__ import annotations

import socket

import pytest

from robotrules.operations.crawler_identity import (
    AddressRanges,
    DnsLimits,
    Identity,
    IdentityChecker,
    IdentityResult,
)
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from tests.operations.resolvers import TableResolver

VERIFIED, IMPOSTOR, NOT_VERIFIED = Identity.VERIFIED, Identity.IMPOSTOR, Identity.NOT_VERIFIED
RANGES = AddressRanges({"Googlebot": ["66.249.64.0/27", "2001:4860::/32"]})
INSIDE, OUTSIDE = "66.249.64.1", "66.249.99.1"
NAME = "crawl.googlebot.com"


def known(name: str) -> KnownCrawler:
    """Return a crawler of the registry."""
    crawler = KNOWN_CRAWLERS.get(name)
    assert crawler is not None
    return crawler


def identity(checker: IdentityChecker, address: str, name: str = "Googlebot") -> Identity:
    """Return the identity of an address."""
    return checker.check(known(name), address).identity


def test_words() -> None:
    """As reports print them."""
    assert [str(one) for one in Identity] == ["verified", "not verified", "impostor"]


class TestRanges:
    """With published ranges, and nothing looked up."""

    def test_inside_and_outside(self) -> None:
        checker = IdentityChecker(RANGES)
        assert checker.check(known("Googlebot"), INSIDE) == IdentityResult(
            VERIFIED, "its address is in 66.249.64.0/27"
        )
        assert checker.check(known("Googlebot"), OUTSIDE) == IdentityResult(
            IMPOSTOR, "its address is not in the published ranges"
        )

    @pytest.mark.parametrize(
        "address", [f"::ffff:{INSIDE}", f" {INSIDE} ", "2001:4860::1", "2001:4860::1%eth0"]
    )
    def test_spellings(self, address: str) -> None:
        assert identity(IdentityChecker(RANGES), address) is VERIFIED

    @pytest.mark.parametrize("address", ["", "-", "x", "1.2.3", "example.com", "1" * 10_000, "\0"])
    def test_no_address(self, address: str) -> None:
        """A log may have a name, or anything."""
        found = IdentityChecker(RANGES).check(known("Googlebot"), address)
        assert found == IdentityResult(NOT_VERIFIED, "not an IP address")

    @pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "::1", "fd00::1", "100.64.0.1"])
    def test_an_internal_address_is_that_of_a_proxy(self, address: str) -> None:
        """The log has the wrong address, so nobody is accused."""
        found = IdentityChecker(RANGES).check(known("Googlebot"), address)
        assert found.identity is NOT_VERIFIED
        assert "proxy" in found.reason

    def test_without_ranges(self) -> None:
        """Nothing is known about another crawler."""
        checker = IdentityChecker(RANGES)
        assert identity(checker, INSIDE, "GPTBot") is NOT_VERIFIED
        assert identity(IdentityChecker(), INSIDE) is NOT_VERIFIED

    def test_of_the_same_operator(self) -> None:
        """Googlebot's ranges verify Googlebot-Image, but prove nothing against it."""
        checker = IdentityChecker(RANGES)
        assert identity(checker, INSIDE, "Googlebot-Image") is VERIFIED
        assert identity(checker, OUTSIDE, "Googlebot-Image") is NOT_VERIFIED
        # Applebot obeys groups of Googlebot, and is another operator's.
        assert identity(checker, INSIDE, "Applebot") is NOT_VERIFIED


class TestDns:
    """With --verify, where the ranges do not verify."""

    @staticmethod
    def checker(
        names: list[str] | Exception, ranges: AddressRanges | None = None
    ) -> tuple[IdentityChecker, TableResolver]:
        resolver = TableResolver({OUTSIDE: names, INSIDE: names}, {NAME: [OUTSIDE]})
        return IdentityChecker(ranges, verify_dns=True, resolver=resolver), resolver

    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            ([NAME], VERIFIED),
            (["a.googlebot.com"], IMPOSTOR),
            (["static.example.net"], IMPOSTOR),
            ([], NOT_VERIFIED),
            (OSError(None, "down"), NOT_VERIFIED),
        ],
    )
    def test_without_ranges(self, names: list[str] | Exception, expected: Identity) -> None:
        """A failure, and a missing name, are not verified, never an impostor."""
        checker, _ = self.checker(names)
        assert identity(checker, OUTSIDE) is expected

    def test_outside_the_ranges(self) -> None:
        """The DNS is newer than a saved file; if it does not confirm, the file decides."""
        assert identity(self.checker([NAME], RANGES)[0], OUTSIDE) is VERIFIED
        found = self.checker([NAME], RANGES)[0].check(known("Googlebot"), OUTSIDE)
        assert "download them again" in found.reason
        answers: list[list[str] | Exception] = [["a.example.net"], [], OSError(None, "down")]
        for names in answers:
            checker, _ = self.checker(names, RANGES)
            assert identity(checker, OUTSIDE) is IMPOSTOR

    def test_what_is_not_looked_up(self) -> None:
        """What is verified, internal or reserved, and crawlers without documented names."""
        checker, resolver = self.checker([NAME], RANGES)
        assert identity(checker, INSIDE) is VERIFIED
        for address in ("10.0.0.1", "127.0.0.1", "192.0.2.1", "224.0.0.1", "::1", "fe80::1", "x"):
            identity(checker, address)
        assert identity(checker, OUTSIDE, "GPTBot") is NOT_VERIFIED
        assert resolver.asked == []

    def test_off_by_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without verify_dns nothing is looked up, whatever resolver is passed."""
        resolver = TableResolver()
        monkeypatch.setattr(socket, "gethostbyaddr", lambda text: pytest.fail("looked up"))
        assert identity(IdentityChecker(resolver=resolver), OUTSIDE) is NOT_VERIFIED
        assert identity(IdentityChecker(), OUTSIDE) is NOT_VERIFIED
        assert resolver.asked == []

    def test_many(self) -> None:
        """Pairs in one batch: an address is looked up for each operator whose name it bears."""
        resolver = TableResolver({OUTSIDE: [NAME]}, {NAME: [OUTSIDE]})
        checker = IdentityChecker(
            RANGES, verify_dns=True, resolver=resolver, dns_limits=DnsLimits(concurrency=1)
        )
        counted: list[int] = []
        pairs = [
            (known(name), address)
            for name in ("Googlebot", "Googlebot-Image", "bingbot", "GPTBot")
            for address in (INSIDE, OUTSIDE, "x", OUTSIDE)
        ]
        found = checker.check_many(pairs, counted.append)
        assert len(found) == 12
        assert found["Googlebot", OUTSIDE].identity is VERIFIED
        assert found["Googlebot-Image", OUTSIDE].identity is VERIFIED
        assert found["bingbot", OUTSIDE].identity is IMPOSTOR
        assert found["GPTBot", OUTSIDE].identity is NOT_VERIFIED
        # Google's once; Bing's for both addresses.
        assert sum(counted) == 3


def test_documented_domains() -> None:
    """Domains are plain host names in lower case, and those of a crawler that fetches."""
    documented = [crawler for crawler in KNOWN_CRAWLERS if crawler.reverse_dns]
    assert {crawler.operator for crawler in documented} >= {
        "Google",
        "Microsoft",
        "Apple",
        "Yandex",
    }
    for crawler in documented:
        assert not crawler.is_control
        assert crawler.documentation
        for domain in crawler.reverse_dns:
            assert domain == domain.lower().strip(".")
            assert domain.isascii()
            assert "." in domain
    # Anyone can rent an address with a name of Google's cloud.
    domains = {domain for crawler in documented for domain in crawler.reverse_dns}
    assert not {domain for domain in domains if "googleusercontent" in domain}
