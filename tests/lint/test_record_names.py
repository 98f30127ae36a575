"""Record names: which record a misspelt name stands for, and which names are not misspellings."""

from __future__ import annotations

import pytest

from robotrules import extensions
from robotrules.linting.record_names import KNOWN, LONGEST_NAME, guess_record_name
from robotrules.profile import MORE_SPELLINGS


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("disalow", "Disallow"),
        ("disallwo", "Disallow"),
        ("desallow", "Disallow"),
        ("disallow.", "Disallow"),
        ("** disallow", "Disallow"),
        ("user-agnet", "User-agent"),
        ("user.agent", "User-agent"),
        ("alow", "Allow"),
        ("site_map", "Sitemap"),
        ("crawl delay", "Crawl-delay"),
        ("content-signals", "Content-Signal"),
        ("clean-params", "Clean-param"),
        ("user-agent-porpose", "User-Agent-Purpose"),
    ],
)
def test_misspellings(written: str, name: str) -> None:
    """Missing, doubled, wrong and swapped letters, and characters around or inside."""
    assert guess_record_name(written) == name


@pytest.mark.parametrize(
    "written",
    [
        *("contact", "index", "shallow", "display", "hosts", "post", "noindexes", "domains"),
        *("a", "", "abc", "x-disallow-these", "allowed-by", "disallow\u200b", "content-type"),
        "agent",
        "disallow" + " " * LONGEST_NAME,
    ],
)
def test_other_names(written: str) -> None:
    """Short names, other words, and names that other checks report."""
    assert guess_record_name(written) is None


def test_known_names_are_not_misspellings() -> None:
    """Every declared record is known; listed misspellings are found."""
    for name in ("user-agent", "allow", *(one.key.lower() for one in extensions.ALL)):
        assert name in KNOWN
        assert guess_record_name(name) is None
    for spelling, name in MORE_SPELLINGS:
        assert guess_record_name(spelling) == KNOWN[name]
