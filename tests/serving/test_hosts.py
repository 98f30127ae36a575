"""Host patterns: which value a Host header gets, and which configurations are ambiguous."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.serving import PolicyError, SitePolicy, make_staging_robots
from robotrules.serving.hosts import HostTable, normalize_host

ROBOTS = "User-agent: *\nDisallow: /a/\n"
STAGING = make_staging_robots().encode()


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("Shop.Example", "shop.example"),
        ("shop.example.:8080", "shop.example"),
        ("shop.example:", "shop.example"),
        ("shop%2eexample", "shop.example"),
        ("a_b.example", "a_b.example"),
        ("[::1]:80", "[::1]"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("shop.example:99999", None),
        ("shop.example:8a", None),
        ("shop.example..", None),
        ("shop.example, www.example", None),
        ("user@shop.example", None),
        ("shop.example#", None),
        (" shop.example", None),
        ("::1", None),
        ("", None),
        ("a" * 301, None),
    ],
)
def test_normal_form(header: str, host: str | None) -> None:
    """Without case, port and trailing dot; None if it is not a host."""
    assert normalize_host(header) == host


def test_the_longest_pattern_wins() -> None:
    """After the exact name; a pattern does not match the name that it is below."""
    table = HostTable([("*.example", 1), ("*.a.example", 2), ("a.example", 3)], 0, "hosts")
    found = {"example": 0, "x.example": 1, "a.example": 3, "b.a.example": 2, "c.b.a.example": 2}
    assert {host: table.find(host) for host in found} == found
    assert table.find("xexample") == table.find(".example") == 0


@pytest.mark.parametrize("pattern", ["*", "*.", "*.*.example", "a*.example", "**.example", "", 7])
def test_invalid_patterns(pattern: str) -> None:
    """One star, at the start, before a dot."""
    with pytest.raises(PolicyError, match=r"staging: .*a host"):
        SitePolicy(ROBOTS, staging=[pattern])


@pytest.mark.parametrize(
    ("host", "staging"),
    [
        ("shop.example", ["*.example"]),
        ("SHOP.example:80", ["*.example"]),
        ("a.shop.example", ["*.example", "other.example"]),
        ("*.shop.example", ["*.example"]),
        ("shop.example", ["*.example", "*.shop.example"]),
    ],
)
def test_a_pattern_does_not_make_a_host_with_a_policy_a_staging_host(
    host: str, staging: list[str]
) -> None:
    """Production could disappear from search engines, so the owner has to say what is meant."""
    words = f"staging: '*.example' also covers {host!r}, which has its own policy in hosts. If "
    with pytest.raises(PolicyError, match=re.escape(words)) as caught:
        SitePolicy(ROBOTS, hosts={host: ROBOTS}, staging=staging)
    assert "or by a narrower pattern such as '*.staging.example'" in str(caught.value)
    # The first cure of the message.
    site = SitePolicy(ROBOTS, hosts={host: ROBOTS}, staging=[*staging, host])
    assert site.robots_txt(host.replace("*", "x")) == STAGING


def test_what_is_not_ambiguous() -> None:
    """A narrower entry of `staging` wins, and `True` stands for every host."""
    hosts = {"*.example": ROBOTS, "example": ROBOTS}
    site = SitePolicy(ROBOTS, hosts=hosts, staging=["pr.example", "*.staging.example"])
    for host in ("pr.example", "a.staging.example"):
        assert site.robots_txt(host) == STAGING
    for host in ("www.example", "a.pr.example", "staging.example", "example"):
        assert site.robots_txt(host) == ROBOTS.encode()
    both = SitePolicy(ROBOTS, hosts={"*.example": ROBOTS}, staging=["*.example"])
    assert both.robots_txt("a.example") == STAGING
    assert SitePolicy(ROBOTS, hosts=hosts, staging=True).robots_txt("example") == STAGING


LABELS = st.sampled_from(["a", "b", "example"])
NAMES = st.lists(LABELS, min_size=1, max_size=3).map(".".join)
PATTERNS = st.builds(lambda star, name: f"*.{name}" if star else name, st.booleans(), NAMES)


@given(st.sets(PATTERNS, max_size=3), st.sets(PATTERNS, max_size=3), NAMES)
def test_a_staging_host_is_listed(hosts: set[str], staging: set[str], header: str) -> None:
    """A host that starts has the robots.txt of staging if the nearest entries ask for it."""
    try:
        site = SitePolicy(ROBOTS, hosts=dict.fromkeys(hosts, ROBOTS), staging=staging)
    except PolicyError:
        return
    covers = [
        pattern
        for pattern in staging
        if header == pattern or (pattern[:2] == "*." and header.endswith(pattern[1:]))
    ]
    assert (site.robots_txt(header) == STAGING) == bool(covers)
    assert not covers or header not in hosts or header in staging
