"""
Sitemap files: the format of a file that a robots.txt lists as sitemap, and its URLs.

XML (urlset and sitemapindex, sitemaps.org), plain text with one URL per line, RSS and Atom, each
optionally gzipped. Files are untrusted: expat parses them, and a document that declares entities is
rejected before it can use one, so nothing is expanded and no external resource is read. The
uncompressed size and the number of URLs are limited. The module fetches nothing.
"""

from __future__ import annotations

import re
import zlib
from enum import StrEnum
from typing import Any, NamedTuple
from xml.parsers import expat

from robotrules.http.fields import Fields
from robotrules.http.media_types import parse_media_type

# sitemaps.org: 50,000 URLs per file. Its size limit of 50 MB is larger than what is read here.
MAX_URLS = 50_000
MAX_BYTES = 10 * 1024 * 1024
# sitemaps.org: fewer than 2,048 characters.
MAX_URL_LENGTH = 2_048

XML_TYPES = ("application/xml", "text/xml")
FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/rdf+xml")
GZIP_TYPES = ("application/gzip", "application/x-gzip")
# Media types of files that servers do not recognise.
PLAIN_TYPES = ("text/plain",)
UNNAMED_TYPES = ("application/octet-stream",)

_SPACE = re.compile(r"[ \t\r\n]+")
_HTML = re.compile(rb"<(?:!doctype\s+)?html\b", re.IGNORECASE)
_HTTP = re.compile(rb"https?://", re.IGNORECASE)


class SitemapForm(StrEnum):
    """The format of a file."""

    URLSET = "urlset"
    """A list of pages, in XML."""
    INDEX = "sitemapindex"
    """A list of sitemaps, in XML."""
    FEED = "feed"
    """RSS or Atom."""
    TEXT = "text"
    """One URL per line."""
    OTHER = "other"
    """None of these."""


class SitemapFile(NamedTuple):
    """The content of a sitemap file."""

    form: SitemapForm
    gzipped: bool
    urls: tuple[str, ...]
    """The pages of a list, or the sitemaps of an index."""
    complete: bool
    """False: the file is longer than what was read."""
    trouble: str = ""
    """Why it cannot be read completely; empty if it can."""


class _Content(NamedTuple):
    """The content of an uncompressed file; fields as in `SitemapFile`."""

    form: SitemapForm
    urls: tuple[str, ...]
    complete: bool
    trouble: str = ""


def read_sitemap(octets: bytes, *, complete: bool = True, limit: int = MAX_BYTES) -> SitemapFile:
    """Parse a file; *complete* is False if the bytes are only a part of it."""
    gzipped = octets.startswith(b"\x1f\x8b")
    trouble = ""
    if gzipped:
        try:
            octets, whole, trouble = _decompress(octets, limit, complete)
        except zlib.error:
            return SitemapFile(SitemapForm.OTHER, True, (), complete, "broken gzip data")
        complete = complete and whole
    elif len(octets) > limit:
        octets, complete = octets[:limit], False
    start = octets[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    if _HTML.match(start):
        # Sent with status 200 by servers that do not have the file.
        found = _Content(SitemapForm.OTHER, (), complete, "it is an HTML page")
    elif start.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        found = _Reader(complete).read(octets)
    elif _HTTP.match(start):
        found = _text(octets, complete)
    else:
        found = _Content(SitemapForm.OTHER, (), complete, "neither XML nor a list of URLs")
    return SitemapFile(found.form, gzipped, found.urls, found.complete, trouble or found.trouble)


def odd_media_type(fields: Fields, found: SitemapFile) -> str | None:
    """Return the media type of a response if it does not fit the file; else None."""
    named = parse_media_type(fields)
    usual = {
        SitemapForm.URLSET: XML_TYPES,
        SitemapForm.INDEX: XML_TYPES,
        SitemapForm.FEED: (*XML_TYPES, *FEED_TYPES),
        SitemapForm.TEXT: PLAIN_TYPES,
        SitemapForm.OTHER: (),
    }[found.form]
    if found.gzipped:
        usual = (*usual, *GZIP_TYPES, *UNNAMED_TYPES)
    return None if named is None or not usual or named in usual else named


def _decompress(octets: bytes, limit: int, complete: bool) -> tuple[bytes, bool, str]:
    """Return a gzip file uncompressed up to the limit, whether that is all, and the error."""
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
    found = unpack.decompress(octets, limit)
    if unpack.eof:
        return found, True, ""
    # All input is used up and the stream has not ended: it was truncated.
    cut = not unpack.unconsumed_tail and complete
    return found, False, "the gzip data ends early" if cut else ""


def _text(octets: bytes, complete: bool) -> _Content:
    """Read one URL per line (sitemaps.org, "Text file")."""
    lines = octets.decode("utf-8", "replace").removeprefix("\ufeff").split("\n", MAX_URLS)
    more = len(lines) > MAX_URLS
    if not complete or more:
        lines.pop()  # a truncated URL is a different one
    urls = (line.strip() for line in lines)
    kept = tuple(url for url in urls if url and len(url) < MAX_URL_LENGTH)
    return _Content(SitemapForm.TEXT, kept, complete and not more)


# By the name of the first element.
_FORMS = {
    "urlset": SitemapForm.URLSET,
    "sitemapindex": SitemapForm.INDEX,
    "rss": SitemapForm.FEED,
    "feed": SitemapForm.FEED,
    "RDF": SitemapForm.FEED,
}
# Elements that contain a URL, with their parent.
_PLACES = frozenset((("url", "loc"), ("sitemap", "loc"), ("item", "link")))
# A sitemap has three levels and a feed some more.
MAX_DEPTH = 100


class _Refused(Exception):
    """A rejected document, with the reason."""


class _LimitReached(Exception):
    """The limit of URLs is reached."""


class _Reader:
    """Reads URLs from XML as it is parsed: no tree is built."""

    _form: SitemapForm | None = None
    _text: list[str] | None = None
    _size = 0

    def __init__(self, complete: bool) -> None:
        self._complete = complete
        self._open: list[str] = []
        self.urls: list[str] = []

    def read(self, octets: bytes) -> _Content:
        """Parse a document; after an error the rest is ignored."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        # Entities and attribute defaults can expand a small document, and include external
        # resources. Both are declared in an internal document type.
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._declared
        parser.ExternalEntityRefHandler = lambda *_: 0
        trouble, complete = "", self._complete
        try:
            parser.Parse(octets, complete)
        except _Refused as error:
            trouble = str(error)
        except _LimitReached:
            complete = False
        except expat.ExpatError as error:
            trouble = f"not well-formed XML at line {error.lineno}: {expat.ErrorString(error.code)}"
        except (ValueError, LookupError):
            trouble = "an encoding that cannot be read"
        form = self._form or SitemapForm.OTHER
        if form is SitemapForm.OTHER and not trouble:
            trouble = "an XML document that is not a sitemap"
        return _Content(form, tuple(self.urls), complete, trouble)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if self._form is None:
            self._form = _FORMS.get(local)
            if self._form is None:
                raise _Refused(f"the element {local[:40]!r} is not the root of a sitemap")
        if len(self._open) >= MAX_DEPTH:
            raise _Refused(f"elements nested more than {MAX_DEPTH} deep")
        parent = self._open[-1] if self._open else ""
        self._open.append(local)
        self._text, self._size = None, 0
        if (parent, local) in _PLACES and not _is_extension(name):
            self._text = []
        elif (parent, local) == ("entry", "link"):
            if attributes.get("rel", "alternate") == "alternate":
                self._keep(attributes.get("href", ""))

    def _end(self, name: str) -> None:
        self._open.pop()
        if self._text is not None:
            self._keep("".join(self._text))
        self._text = None

    def _characters(self, text: str) -> None:
        if self._text is not None and self._size <= MAX_URL_LENGTH:
            self._size += len(text)
            self._text.append(text)

    def _keep(self, text: str) -> None:
        url = _SPACE.sub(" ", text).strip()
        if url and len(url) < MAX_URL_LENGTH:
            if len(self.urls) >= MAX_URLS:
                raise _LimitReached
            self.urls.append(url)

    def _doctype(self, name: str, system: str | None, public: str | None, own: int) -> None:
        if own:
            self._declared()

    @staticmethod
    def _declared(*_: Any) -> None:
        raise _Refused("it declares entities or a document type, which sitemaps do not need")


def _is_extension(name: str) -> bool:
    """Return whether a `loc` or `link` belongs to an extension: `image:loc` is not a page."""
    return "sitemap-" in name  # its namespace, and the local name
