"""The polite crawler on an event loop: a task for each site, for each has one turn at a time."""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from polite_crawler import Links
from small_site import SmallSite

import robotrules
from robotrules.access import resolve_location
from robotrules.client import FetchResult
from robotrules.http.origins import origin_of


async def crawl(
    client: robotrules.AsyncClient, start: str, most: int = 20
) -> AsyncIterator[FetchResult]:
    """Fetch what a site links to or lists, and its robots.txt allows."""
    site, busy, robots = origin_of(start), set(), await client.robots(start)
    queue = deque([start, *(sitemap.url for sitemap in robotrules.sitemaps(robots))])
    seen = set(queue)
    for _ in range(most):
        if not queue:
            return
        url = queue.popleft()
        page = await client.fetch(url)
        yield page
        if page.status in (429, 503) and url not in busy:
            busy.add(url)
            queue.append(url)
        for link in Links(page.body).found if page.ok else ():
            to = resolve_location(page.url, link.strip())
            if to is not None and origin_of(to) == site and to not in seen:
                seen.add(to)
                queue.append(to)


async def crawled(client: robotrules.AsyncClient, start: str) -> list[FetchResult]:
    return [page async for page in crawl(client, start)]


async def main(starts: list[str], **options: Any) -> list[list[FetchResult]]:
    agent = "ExampleBot/1.0 (+https://example.com/bot)"
    async with robotrules.AsyncClient(agent, **options) as client:
        return await asyncio.gather(*(crawled(client, start) for start in starts))


if __name__ == "__main__":
    if sys.argv[1:]:
        for pages in asyncio.run(main(sys.argv[1:])):
            print(*(f"{page.status or page.verdict} {page.url}" for page in pages), sep="\n")
    else:
        with SmallSite() as one, SmallSite(robots_status=404) as two, SmallSite(503) as three:
            sites = {"a": one, "no": two, "no answer about a": three}
            starts = [f"{site.url}/" for site in sites.values()]
            options = {"store": "memory:", "allow_private": ["127.0.0.1"], "min_delay": 0.02}
            for what, pages in zip(sites, asyncio.run(main(starts, **options)), strict=True):
                print(f"With {what} robots.txt:")
                for page in pages:
                    print(f"  /{page.url.split('/', 3)[3]}  {page.status or page.verdict}")
