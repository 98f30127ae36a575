"""
The URLs of an XML sitemap (sitemaps.org), read as a stream in constant memory.

Expat parses it without building a tree. A document that declares entities or an internal DTD subset
is refused, so no entity is expanded and no external resource is read. A tag of more than 1 MiB ends
the parsing, because expat would buffer it. The sitemaps that an index lists are collected; nothing
is opened or fetched here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from robotrules.url_lists.line_formats import Skips, Unusable, url_of

# sitemaps.org allows fewer than 2,048 characters; common servers accept 8 KiB.
LONGEST_LOC = 8 * 1024
# Expat buffers a token (a tag, comment or declaration) until it ends.
LONGEST_TOKEN = 1024 * 1024
# A sitemap has three levels; some extensions add two.
MOST_DEEP = 100
# sitemaps.org: an index lists at most so many sitemaps.
MOST_SITEMAPS = 50_000
_INDEX = (
    "it is a sitemap index, which lists sitemaps instead of pages; save the sitemaps it lists and "
    "pass one of them"
)


class SitemapReader:
    """Reads the URLs of pages (`loc` in `url` in `urlset`) and ignores extensions."""

    def __init__(self, skips: Skips, *, accept_index: bool = False) -> None:
        """*accept_index*: an index is read, too, and refused otherwise."""
        self.sitemaps: list[bytes] | None = None
        """The URLs of the sitemaps that an index lists; None: it is not an index."""
        self._skips = skips
        self._accept_index = accept_index
        self._item = "url"
        self._open: list[str] = []
        self._space = ""
        self._text: list[str] | None = None
        self._size = 0
        self._urls: list[bytes] = []
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._declared
        parser.ExternalEntityRefHandler = lambda *_: 0

    def read(self, blocks: Iterator[bytes]) -> Iterator[list[bytes]]:
        """Yield URLs as they are read; an error is raised as `Unusable` after the last URL."""
        try:
            fed = 0
            for block in blocks:
                self._parser.Parse(block, False)
                fed += len(block)
                if fed - self._parser.CurrentByteIndex > LONGEST_TOKEN:
                    raise Unusable("it has a tag of more than 1 MiB; the rest was not read")
                yield self._taken()
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            why = expat.ErrorString(error.code)
            problem = f"it is not well-formed XML at line {error.lineno} ({why})"
        except (ValueError, LookupError):
            problem = "it has an encoding that cannot be read"
        except Unusable as error:
            problem = str(error)
        else:
            return
        # URLs before the error count.
        yield self._taken()
        raise Unusable(problem)

    def _taken(self) -> list[bytes]:
        urls, self._urls = self._urls, []
        return urls

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if not self._open:
            self._begin(space, local)
        if len(self._open) >= MOST_DEEP:
            raise Unusable(f"it has elements nested more than {MOST_DEEP} deep")
        # A `loc` of another namespace belongs to an image or video.
        page = self._open[1:] == [self._item] and local == "loc" and space == self._space
        self._open.append(local)
        self._text, self._size = ([], 0) if page else (None, 0)
        # Set only for `loc`: most of a sitemap is other text.
        self._parser.CharacterDataHandler = self._characters if page else None

    def _begin(self, space: str, local: str) -> None:
        self._space = space
        if local == "sitemapindex" and self._accept_index:
            self.sitemaps, self._item = [], "sitemap"
            return
        if local == "sitemapindex":
            raise Unusable(_INDEX)
        if local != "urlset":
            raise Unusable(f"its root element is {local[:40]!r}; that of a sitemap is 'urlset'")

    def _end(self, name: str) -> None:
        self._open.pop()
        if self._text is not None:
            self._parser.CharacterDataHandler = None
            text = "".join(self._text).encode("utf-8", "replace")
            url = url_of(text)
            if url is not None and self._size <= LONGEST_LOC:
                self._keep(url)
            else:
                self._skips.add(self._parser.CurrentLineNumber, text)
        self._text = None

    def _keep(self, url: bytes) -> None:
        if self.sitemaps is None:
            self._urls.append(url)
        elif len(self.sitemaps) < MOST_SITEMAPS:
            self.sitemaps.append(url)
        else:
            raise Unusable(f"it lists more than {MOST_SITEMAPS:,} sitemaps; the rest was not read")

    def _characters(self, text: str) -> None:
        if self._text is not None and self._size <= LONGEST_LOC:
            self._size += len(text)
            self._text.append(text)

    def _doctype(self, name: str, system: str | None, public: str | None, own: int) -> None:
        if own:
            self._declared()

    @staticmethod
    def _declared(*_: Any) -> None:
        raise Unusable("it declares entities or a DTD, which sitemaps do not need")
