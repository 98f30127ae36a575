"""
Other records: sitemaps, crawl delays, visit times, and URL parameters without effect.

Run it: `python examples/records.py`. Nothing is fetched; the robots.txt is below.
"""

from __future__ import annotations

from datetime import time

import robotrules
from robotrules import extensions

ROBOTS_URL = "https://shop.example/robots.txt"
BODY = """\
Sitemap: https://shop.example/sitemap.xml
Sitemap: /news.xml

User-agent: ExampleBot
Disallow: /cart/
Crawl-delay: 2.5
Request-rate: 1/10m 0800-1959
Request-rate: 1/5s 2000-0759
Visit-time: 2200-0559

User-agent: *
Disallow: /cart/
Crawl-delay: soon
Noindex: /old/

Clean-param: utm_source&utm_medium
Clean-param: sid /forum/*.php
Host: https://shop.example
"""


def main() -> None:
    """Read each record and print its value."""
    robots = robotrules.parse(BODY)

    print("Sitemaps")
    for sitemap in robotrules.sitemaps(robots, ROBOTS_URL):
        print(f"  {sitemap.url}" + (" (written as a relative URL)" if sitemap.relative else ""))

    delay = robotrules.crawl_delay(robots, "ExampleBot")
    print(f"Crawl-delay: {delay.seconds} s, line {delay.line}" if delay else "No crawl-delay")

    print("Seconds between requests, and whether a visit is welcome")
    rates = robotrules.request_rates(robots, "ExampleBot")
    hours = robotrules.visit_times(robots, "ExampleBot")
    for at in (time(3), time(12), time(21)):
        # Several rates may apply: use the longest pause.
        pause = max((rate.seconds for rate in rates if rate.applies(at)), default=0.0)
        welcome = not hours or any(visit.contains(at) for visit in hours)
        print(f"  {at:%H:%M} UTC: {pause:g} s, {'yes' if welcome else 'rather not'}")

    print("Addresses")
    params = robotrules.clean_params(robots)
    for url in (
        "https://shop.example/shoes?utm_source=mail&size=42",
        "https://shop.example/forum/thread.php?sid=1f&t=9#last",
        "https://shop.example/search?sid=1f",
    ):
        print(f"  {url}\n    -> {params.clean(url)}")

    print(f"Preferred host: {robotrules.preferred_host(robots)}")

    print("Every other record")
    for found in robotrules.unused_records(robots):
        reader = f", read by {found.reader}()" if found.reader else ""
        print(f"  line {found.line}: {found.record.key}: {found.standing}{reader}")

    print("Notes")
    for note in extensions.notes(robots):
        print(f"  line {note.line}: {note.code}. {note.message}")

    # These records do not change verdicts.
    print(f"/old/ for AnyBot: {robots.check('/old/', 'AnyBot')}")


if __name__ == "__main__":
    main()
