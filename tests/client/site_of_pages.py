"""A site of some sixty pages with everything that an audit of many pages tells apart."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.cli.sites import Site, response, site

HTML, XML = "Content-Type: text/html", "Content-Type: application/xml"
NOINDEX = "<meta name=robots content=noindex>"
ROBOTS = (
    "User-agent: *\nDisallow: /private/\n\n"
    "User-agent: OtherBot\nDisallow: /news/\n\nSitemap: {origin}/index.xml\n"
)
# Listed in no sitemap.
UNLISTED = ("/unlisted", "/canonical-copy")
# Listed, and not on the site.
GONE = ("/gone/1", "/gone/2")


def pages() -> dict[str, bytes]:
    """Return the pages by path."""
    found = {f"/plain/{number}": response("<title>P</title>", HTML) for number in range(40)}
    found |= {
        "/": response("<title>Home</title>", HTML),
        "/meta": response(NOINDEX, HTML),
        "/header": response("<p>", HTML, "X-Robots-Tag: noindex"),
        "/disagree": response(
            "<meta name=robots content='index, max-snippet:5'>", HTML, "X-Robots-Tag: noindex"
        ),
        "/only-otherbot": response("<meta name=otherbot content=noindex>", HTML),
        "/news/1": response("<title>N</title>", HTML),
        "/private/1": response(NOINDEX, HTML),
        "/private/2": response("<title>Secret</title>", HTML),
        "/moved": response("", "Location: /plain/0", status="301 Moved"),
        "/moved-twice": response("", "Location: /moved", status="302 Found"),
        "/to-private": response("", "Location: /private/1", status="302 Found"),
        "/loop": response("", "Location: /loop", status="302 Found"),
        "/nowhere": response("", status="302 Found"),
        "/error": response(status="500 Error"),
        "/canonical": response("<link rel=canonical href=/canonical>", HTML),
        "/canonical-copy": response("<link rel=canonical href=/canonical>", HTML),
        "/canonical-noindex": response("<link rel=canonical href=/meta>", HTML),
        "/canonical-moved": response("<link rel=canonical href=/moved>", HTML),
        "/canonical-gone": response("<link rel=canonical href=/gone/1>", HTML),
        "/canonical-private": response("<p>", HTML, "Link: </private/2>; rel=canonical"),
        "/canonicals": response("<link rel=canonical href=/a><link rel=canonical href=/b>", HTML),
        "/noindex-canonical": response(f"{NOINDEX}<link rel=canonical href=/>", HTML),
        "/unlisted": response("<title>U</title>", HTML),
        "/report.pdf": response("%PDF", "Content-Type: application/pdf"),
    }
    return found


def urlset(origin: str, paths: list[str]) -> bytes:
    """Return a sitemap."""
    listed = "".join(f"<url><loc>{origin}{path}</loc></url>" for path in paths)
    return f"<urlset>{listed}</urlset>".encode()


@contextmanager
def site_of_pages(changes: Mapping[str, bytes] | None = None) -> Iterator[Site]:
    """Run the site; its index lists a plain and a gzipped sitemap."""
    with site({**pages(), **(changes or {})}) as running:
        listed = [path for path in pages() if path not in UNLISTED] + list(GONE)
        origin, answers = running.origin, running.answers
        index = "".join(
            f"<sitemap><loc>{origin}/{name}</loc></sitemap>" for name in ("1.xml", "2.xml.gz")
        )
        usual = {
            "/robots.txt": response(ROBOTS.format(origin=origin), "Content-Type: text/plain"),
            "/index.xml": response(f"<sitemapindex>{index}</sitemapindex>", XML),
            "/1.xml": response(urlset(origin, listed[:30]), XML),
            "/2.xml.gz": response(
                gzip.compress(urlset(origin, listed[30:])), "Content-Type: application/gzip"
            ),
        }
        running.answers = {**usual, **answers}
        yield running
