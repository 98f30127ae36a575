"""The counts behind the page: exact while there is room, and honest when there is none."""

from __future__ import annotations

import pytest

from robotrules.json_results import url_counts
from robotrules.json_results.url_counts import (
    BlockingRule,
    DecidedColumn,
    UrlCounter,
    UrlDecision,
    UrlSummary,
)


def counted(urls: list[bytes], rules: list[BlockingRule | None], times: int = 1) -> UrlSummary:
    """Return the summary of URLs, each with what blocks it, for one crawler."""
    counter = UrlCounter(["AnyBot"])
    for _ in range(times):
        for url, rule in zip(urls, rules, strict=True):
            decision = UrlDecision(rule.origin if rule else "https://a.example", rule)
            counter.add([url], [DecidedColumn([0], {0: 1}, {0: decision})])
    return counter.summary()


def test_rare_rules_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded; the crawler's counts stay exact, and the summary is marked."""
    monkeypatch.setattr(url_counts, "RULES_APART", 3)
    rules = [BlockingRule(None, n, f"Disallow: /{n}") for n in range(20)]
    summary = counted([b"/"] * 23, [*rules, rules[1], rules[1], None])
    assert summary.crawlers[0].disallowed == 22
    assert summary.crawlers[0].allowed == 1
    assert len(summary.rules) <= 7
    assert not summary.exact


def test_rare_segments_and_origins_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The most frequent stay; those with equal counts are in the order of their names."""
    monkeypatch.setattr(url_counts, "SEGMENTS_APART", 3)
    monkeypatch.setattr(url_counts, "ORIGINS_APART", 2)
    urls = [b"/often/", *(b"/s%d/" % n for n in range(7)), b"/often/"]
    rules = [BlockingRule(f"https://{n}.example", 1, "Disallow: /") for n in range(9)]
    summary = counted(urls, [*rules])
    assert summary.segments[0].name == "/often/"
    assert not summary.exact
    assert len(summary.origins) <= 4
    assert summary.crawlers[0].disallowed == 9


def test_what_is_listed_and_what_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are cut, and the number of others is exact while nothing was dropped."""
    monkeypatch.setattr(url_counts, "MOST_RULES", 2)
    monkeypatch.setattr(url_counts, "MOST_SEGMENTS", 2)
    monkeypatch.setattr(url_counts, "MOST_ORIGINS", 2)
    rules = [BlockingRule(f"https://{n}.example", 1, "Disallow: /") for n in range(5)]
    summary = counted([b"/%d/x" % n for n in range(5)], [*rules])
    assert (summary.more_rules, summary.more_segments, summary.more_origins) == (3, 3, 3)
    assert summary.exact
    assert [one.rule.origin for one in summary.rules] == ["https://0.example", "https://1.example"]


def test_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to three different URLs of a rule, none of them very long; the search is bounded."""
    rule = BlockingRule(None, 1, "Disallow: /")
    counter = UrlCounter(["AnyBot"])
    urls = [b"/" + b"x" * 3000, b"/a", b"/a", b"/b", b"/c", b"/d"]
    column = DecidedColumn([7] * 6, {7: 6}, {7: UrlDecision(None, rule)})
    counter.add(urls, [column])
    counter.add(urls, [column])
    assert counter.summary().rules[0].examples == ("/a", "/b", "/c")
    many = DecidedColumn([7] * 100, {7: 100}, {7: UrlDecision(None, rule)})
    counter = UrlCounter(["AnyBot"])
    counter.add([*[b"/a"] * 99, b"/b"], [many])
    assert counter.summary().rules[0].examples == ("/a",)
