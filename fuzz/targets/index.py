"""Scan, index, prefilter and batch decide like matching the rules one by one."""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

from fuzz.generator import Case, pattern, url_from
from fuzz.targets.total import ENGINES


def check(case: Case) -> None:
    """Generate many rules from a case, and decide URLs in every implementation."""
    random = Random(case.body)
    values = [pattern(random) for _ in range(random.choice((3, 60, 129, 260)))]
    urls = [url_from(random, random.choice(values)) for _ in range(10)]
    patterns = [(value, random.random() < 0.5) for value in values]
    for engine in ENGINES:
        settings = case.profile().settings(engine)
        compare(engine, settings, patterns, urls)


def compare(
    engine: ModuleType, settings: Any, patterns: list[tuple[bytes, bool]], urls: list[bytes]
) -> None:
    """Assert that all implementations give the decision of the rules matched one by one."""
    singles = [engine.Matcher(settings, [pattern]) for pattern in patterns]
    scanned, indexed, listed = (engine.Matcher(settings, patterns) for _ in range(3))
    in_batch = indexed.decide_many(urls * 7)[: len(urls)]
    in_long_batch = listed.decide_many(urls * (200 // (len(urls) or 1) + 1))[: len(urls)]
    for url, batched, long in zip(urls, in_batch, in_long_batch, strict=True):
        found = []
        for rule, single in enumerate(singles):
            _, matches = single.find_matches(url)
            found += [(-octets, not patterns[rule][1], rule) for _, octets in matches]
        expected = -1
        if found:
            octets, disallow, rule = min(found)
            expected = rule << 2 | (3 if octets == 0 else not disallow)
        if any(single.decide(url) == -2 for single in singles):
            expected = -2
        answers = scanned.decide(url), batched, long, indexed.decide(url)
        assert answers == (expected,) * 4, (url, answers, expected)
        _, matches = indexed.find_matches(url)
        assert [(rule, octets) for rule, octets in matches] == [
            (rule, -octets) for octets, _, rule in sorted(found)
        ]
        best = [rule for octets, _, rule in sorted(found) if octets == min(found)[0]]
        assert indexed.tied(url) == best
