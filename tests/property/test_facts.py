"""Facts about any file: both engines agree, with the public readers and with the exact analysis."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import Profile
from robotrules._engine import pure
from robotrules._engine.pure_coverage import sample_url
from robotrules.bulk import facts
from tests.bulk.facts_oracle import coverage_by_analysis, expected_row, names_of, using
from tests.property.strategies import bodies, patterns, profiles

pytestmark = pytest.mark.usefixtures("native")

CRAWLERS = ["*", "a", "ExampleBot", "MJ12bot", "360Spider", "Googlebot-News", "AdsBot-Google"]
# Records that facts are about, beside those of the other strategies.
RECORDS = [
    *(b"Crawl-delay: 1", b"crawl-delay: 2.5", b"CRAWL-DELAY: .", b"Content-Usage: train-ai=n"),
    *(b"Content-Usage: / search=y", b"content-usage: (", b"Content-Signal: search=yes, a=b"),
    *(b"Content-Signal: /a search=no", b"App-Directives: one;x, two", b"App-Directive: /\xe9 b"),
    *(b"Sitemap: https://a.example/s", b"Sitemap: https://a.example/\xe9", b"Sitemap: a b"),
    *(b"Sitemap: https://[", b"Sitemap: a://\x7f", b"User-Agent-Purpose: p", b"User-agent: *"),
    *(b"User-agent: MJ12bot", b"User-agent: googlebot", b"User-agent: AdsBot-Google", b"Disallow:"),
    *(b"User-agent: a, ExampleBot", b"Disallow: /", b"Allow: /", b"Allow: /a", b"Disallow: /a*"),
]
records = st.lists(st.sampled_from(RECORDS), max_size=12).map(b"\n".join)
files = st.builds(lambda *parts: b"\n".join(parts), records, bodies, records)


def read(engine: ModuleType, body: bytes, profile: Profile, complete: bool) -> dict[str, Any]:
    """Return the row of a file."""
    with using(engine):
        table = pa.table({"origin": ["https://a.example"], "body": [body], "complete": [complete]})
        (row,) = facts(table, profile=profile, crawlers=CRAWLERS, threads=1).to_pylist()
        return dict(row)


@given(body=files, profile=profiles(), complete=st.booleans())
def test_engines_agree_with_the_readers(
    native: ModuleType, body: bytes, profile: Profile, complete: bool
) -> None:
    """Every column of both engines, under every profile."""
    row = read(native, body, profile, complete)
    assert row == read(pure, body, profile, complete)
    expected = expected_row(body, profile, CRAWLERS, complete)
    assert {column: row[column] for column in expected} == expected
    robots = robotrules.parse(body, profile, complete=complete)
    for token in CRAWLERS:
        rules = robots.rules_for(names_of(token))
        assert row["crawlers"][token] == coverage_by_analysis(rules, profile), token


rules = st.lists(st.tuples(st.sampled_from([b"Allow: ", b"Disallow: "]), patterns), max_size=8)


@given(rules=rules, profile=profiles(), near=st.lists(patterns, max_size=4))
def test_coverage_is_confirmed_by_urls(
    native: ModuleType, rules: list[tuple[bytes, bytes]], profile: Profile, near: list[bytes]
) -> None:
    """No URL contradicts `all` or `none`, and the exact analysis gives the same answer."""
    body = b"User-agent: *\n" + b"".join(key + value + b"\n" for key, value in rules)
    coverage = read(native, body, profile, True)["crawlers"]["*"]
    robots = robotrules.parse(body, profile)
    compiled = robots.rules_for("*")
    assert coverage == coverage_by_analysis(compiled, profile)
    samples = [value for _, value in rules] + near + [b"/", b"/a", b"/?a=b"]
    for value in samples:
        for star in (b"", b"a", b"/b?c"):
            url = sample_url(value, star)
            path = robotrules.normalize_path(url, profile=profile)
            if coverage != "some" and path != "/robots.txt":
                assert compiled.allows(url) is (coverage == "all"), url
