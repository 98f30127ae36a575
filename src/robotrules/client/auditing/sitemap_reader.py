"""
Sitemaps of a site: fetched at its rate limit, with the files that an index lists.

`read_sitemaps(client, state)` reads those that a robots.txt names; it also takes URLs. Files, and
the URLs in all of them, are limited: a site of others decides how many there are. A file that fails
is a value, and what was not read is counted. The client checks the rules, so a sitemap that is
disallowed is not fetched. Formats are read by `sitemap_files`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from robotrules.client.auditing.checks import without_advice
from robotrules.client.auditing.sitemap_files import MAX_BYTES, SitemapFile, SitemapForm
from robotrules.client.auditing.sitemap_files import read_sitemap as parse_sitemap
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import FetchResult
from robotrules.client.sync import Client
from robotrules.extensions.sitemap import sitemaps
from robotrules.robotstxt import Tokens

__all__ = ["MAX_SITEMAPS", "MAX_SITEMAP_URLS", "SitemapFetch", "SitemapSet", "read_sitemaps"]

# The maximum number of sitemap files to fetch. An index may list 50,000.
MAX_SITEMAPS = 5
# The maximum number of URLs in all of them: those of as many full files.
MAX_SITEMAP_URLS = 250_000


class SitemapFetch(NamedTuple):
    """A sitemap file: where it is listed, how it was fetched, and its content."""

    url: str
    named_by: str
    """`robots.txt, line 3`, the URL of the sitemap index that lists it, or `the caller`."""
    page: FetchResult
    """The response, without its body unless that was asked for."""
    file: SitemapFile | None
    """None: there is no content."""

    @property
    def is_index(self) -> bool:
        """Whether it is a list of sitemaps."""
        return self.file is not None and self.file.form is SitemapForm.INDEX

    @property
    def urls(self) -> tuple[str, ...]:
        """The pages that it lists; none if it is an index, or was not read."""
        return () if self.file is None or self.is_index else self.file.urls

    @property
    def trouble(self) -> str:
        """Why it was not read, or not as a sitemap; empty if it was."""
        page = self.page
        if not page.verdict:
            rule = page.verdict.rule
            why = f"line {rule.line}: {rule}" if rule else page.verdict.reason.sentence
            return f"disallowed ({why})"
        if page.failure_reason is not None:
            detail = without_advice(page.failure_reason, page.detail)
            return detail or page.failure_reason.sentence
        if not page.ok:
            return f"status {page.status}"
        return self.file.trouble if self.file else ""


class SitemapSet(NamedTuple):
    """The sitemaps of a site, as far as they were read."""

    files: tuple[SitemapFetch, ...]
    """In the order of requests; an index comes before the files that it lists."""
    not_read: int
    """How many files are known and were not requested because of a limit."""
    is_cut: bool
    """Whether pages are left out: a file is too long, there are too many, or an index is nested."""

    @property
    def is_complete(self) -> bool:
        """Whether every file was read to its end, so that a missing URL is not listed."""
        return not (self.not_read or self.is_cut or self.failed)

    @property
    def failed(self) -> tuple[SitemapFetch, ...]:
        """The files that could not be read."""
        return tuple(one for one in self.files if one.trouble)

    def urls(self) -> Iterator[str]:
        """Yield the pages of all files, each once, in order."""
        seen: set[str] = set()
        for one in self.files:
            for url in one.urls:
                if url not in seen:
                    seen.add(url)
                    yield url


def read_sitemaps(
    client: Client,
    source: OriginState | Iterable[str],
    product_token: Tokens | None = None,
    purposes: Sequence[str] | None = None,
    *,
    max_files: int = MAX_SITEMAPS,
    max_urls: int = MAX_SITEMAP_URLS,
    keep_bodies: bool = False,
    progress: Callable[[str], object] | None = None,
) -> SitemapSet:
    """
    Fetch the sitemaps of a robots.txt, or those at some URLs, and the files of their indexes.

    *source* is the state of an origin, as `Client.lookup()` returns it, or the URLs of sitemaps. At
    most *max_files* are requested, indexes included, and *max_urls* pages kept. *keep_bodies*: the
    responses keep their text. *progress* is called with each URL before it is requested.
    *product_token* and *purposes*: as in `Client.fetch()`.
    """
    if isinstance(source, str):
        raise TypeError("source is a string: pass a list of URLs, such as [url]")
    # sitemaps.org: an index does not list an index, so only the first files may be one.
    waiting = deque((url, named_by, True) for url, named_by in _named(source))
    seen = {url for url, *_ in waiting}
    files: list[SitemapFetch] = []
    room, is_cut = max_urls, False
    while waiting and len(files) < max_files and room > 0:
        url, named_by, may_be_index = waiting.popleft()
        if progress is not None:
            progress(url)
        page = client.fetch(url, product_token, purposes, limit=MAX_BYTES)
        file = parse_sitemap(page.body, complete=page.complete) if page.ok else None
        found = SitemapFetch(url, named_by, page if keep_bodies else page._replace(body=b""), file)
        if file is not None and found.is_index:
            more = [one for one in dict.fromkeys(file.urls) if one not in seen]
            if may_be_index:
                waiting.extend((one, url, False) for one in more)
                seen.update(more)
            is_cut = is_cut or not may_be_index
        elif file is not None and len(file.urls) > room:
            found = found._replace(file=file._replace(urls=file.urls[:room], complete=False))
        room -= len(found.urls)
        is_cut = is_cut or (found.file is not None and not found.file.complete)
        files.append(found)
    return SitemapSet(tuple(files), len(waiting), is_cut)


def _named(source: OriginState | Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the URLs of sitemaps, each once, and what names them."""
    seen: set[str] = set()
    if isinstance(source, OriginState):
        # Without rules, the equivalent file lists no sitemap.
        record = source.fetch_record
        named = [
            (one.url, f"robots.txt, line {one.line}")
            for one in sitemaps(source.robots, record.url if record else source.origin)
        ]
    else:
        named = [(url, "the caller") for url in source]
    for url, named_by in named:
        if url not in seen:
            seen.add(url)
            yield url, named_by
