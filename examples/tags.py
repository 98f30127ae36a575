"""Tags: what a response and a page say to one crawler, where they say it, and who reads it."""

from datetime import UTC, datetime, timedelta

import robotrules
from robotrules.tags import update_stored_fields, usage_rules
from robotrules.write import meta_elements, robots_tag_fields

headers = [
    ("Content-Type", "text/html; charset=utf-8"),
    ("Cache-Control", "max-age=3600"),
    ("Robots-Tag", "*;max-snippet=80, OtherBot;noindex"),
    ("X-Robots-Tag", "unavailable_after: Wed, 30 Dec 2026 12:00:00 GMT"),
]
page = b"""<!doctype html><head><title>News</title>
<meta name="robots" content="max-snippet:40, noarchive">
<meta name="examplebot" content="nofollow, shiny">
</head><body><meta name="robots" content="noindex">"""
then = datetime(2026, 11, 1, tzinfo=UTC)

rules = usage_rules(headers=headers, html=page, product_token="ExampleBot", received=then)
for name, value in rules.values:
    sources = ", ".join(str(mention.source) for mention in rules.mentions_of(name))
    print(f"{name}: {value} ({sources})")
later = then.replace(year=2027)
print(f"may index: {rules.may_index}; after that date: {rules.may_index_at(later)}")
print(f"unknown: {rules.unknown}; others that are spoken to: {rules.others}")
for note in rules.notes:
    print(f"{note.level} {note.code}: {note.source}")

# The page was not fetched again for a month. The rules go on; the crawler may want to look.
print(f"fresh until {rules.fresh_until}: {rules.freshness.is_fresh(then + timedelta(days=30))}")
now = update_stored_fields(headers, 304, [("Robots-Tag", "*;noindex")])
print(f"after a 304: {usage_rules(headers=now, html=page, product_token='ExampleBot')}")

# A robots.txt that keeps crawlers from the page keeps its noindex from them too.
robots = robotrules.parse("User-agent: *\nDisallow: /news/")
print(robotrules.guidance("https://example.com/news/1", "ExampleBot", robots=robots, headers=now))

wanted = {"*": ["nosnippet"], "ExampleBot": {"noindex": True, "max-snippet": 20}}
for name, value in robots_tag_fields(wanted, legacy=True):
    print(f"{name}: {value}")
print(meta_elements(wanted), end="")
