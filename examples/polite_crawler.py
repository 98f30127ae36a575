"""A polite crawler: it asks first, waits for its turn, and stays out where it is asked to."""

import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from small_site import SmallSite

import robotrules
from robotrules.access import resolve_location
from robotrules.client import FetchResult
from robotrules.http.origins import origin_of


class Links(HTMLParser):
    """Where a page leads: `a href` of HTML, `loc` of a sitemap."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(body.decode("utf-8", "replace"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [to for name, to in attrs if (tag, name) == ("a", "href") and to]

    def handle_data(self, data: str) -> None:
        self.found += [data] if self.lasttag == "loc" else []


def crawl(client: robotrules.Client, start: str, most: int = 20) -> Iterator[FetchResult]:
    """Fetch what a site links to or lists, and its robots.txt allows."""
    site, busy = origin_of(start), set()
    queue = deque([start, *(sitemap.url for sitemap in robotrules.sitemaps(client.robots(start)))])
    seen = set(queue)
    for _ in range(most):
        if not queue:
            return
        url = queue.popleft()
        page = client.fetch(url)  # the rules, the turn, the redirects and the limits are in here
        yield page
        if page.status in (429, 503) and url not in busy:
            busy.add(url)  # once more: the next turn comes when Retry-After says
            queue.append(url)
        for link in Links(page.body).found if page.ok else ():
            to = resolve_location(page.url, link.strip())
            if to is not None and origin_of(to) == site and to not in seen:
                seen.add(to)
                queue.append(to)


def main() -> None:
    agent = "ExampleBot/1.0 (+https://example.com/bot)"
    if sys.argv[1:]:
        with robotrules.Client(agent) as client:
            for page in crawl(client, sys.argv[1]):
                print(page.status or page.failure_reason or page.verdict, page.url)
        return
    with SmallSite() as site, tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "robots.sqlite"
        with robotrules.Client(
            agent, store=store, allow_private=["127.0.0.1"], min_delay=0.02
        ) as client:
            for page in crawl(client, f"{site.url}/"):
                hops = "".join(f"{hop.url.removeprefix(site.url)} → " for hop in page.hops)
                print(f"{hops}{page.url.removeprefix(site.url)}  {page.status or page.verdict}")
            print(client.delay(site.url))
        print(f"{site.asked['/robots.txt']} robots.txt, {site.asked['/private/accounts']} secrets")


if __name__ == "__main__":
    main()
