"""
HTML to a `Page`: the `meta` elements of a document, and which of them stand in its head.

A real tree builder says what an element is and where the head ends (AMB-87 to AMB-89); no pattern
over the text could. Only as much is parsed as is needed. A prefix of the document is cut just
before its last `<`, so that no tag or text in it is half. If something stands in its body then,
the head is final, whatever follows: nothing in the body opens the head again. Otherwise four times
as much is tried, or sixteen if it is at hand, from 16 KiB to the limit.

Where a `noscript` stands in what was parsed, it is parsed with scripting on and off, each until the
head is final, and both answers are united: with scripting off the `meta` elements in it are
elements, and an `img` in it ends the head (AMB-88).

Sections: the values, the reader that is fed, the function that feeds it, the union.

It does not know what a `meta` says, nor HTTP. It does no I/O of its own; `read_page` reads from a
file that it is given. Whatever the octets are, there is a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import IO, Any, NamedTuple

from robotrules.tags.bounds import (
    BODY_TAGS,
    MOST_HEAD_TAGS,
    MOST_TAGS,
    beginning,
    bounded,
)
from robotrules.tags.encoding import decoded, encoding_of, well_formed
from robotrules.tags.trees import Attributes, Element, Tree, builder

__all__ = ["LEAST_HTML", "MOST_HTML", "ElementPosition", "Meta", "Page", "PageReader", "read_page"]

MOST_HTML = 2 * 1024 * 1024
# draft-illyes-repext §4 points to §3.1.1: never less than 8 KiB (AMB-92).
LEAST_HTML = 8 * 1024
# The first prefix holds the head of most pages and costs a fraction of a millisecond.
FIRST_PREFIX = 16 * 1024
GROWTH = 4
# `meta` elements in the body become a note, or count in one profile; a few hundred say it all.
MOST_IN_BODY = 500

Html = bytes | bytearray | memoryview | str | Iterable[bytes] | Iterable[str] | IO[bytes] | IO[str]


class ElementPosition(StrEnum):
    """Where a `meta` element stands."""

    HEAD = "head"
    """In the head, with scripting on."""
    NOSCRIPT = "noscript"
    """In the head only where scripting is off (AMB-88)."""
    BODY = "body"
    """Anywhere else in the document."""


class Meta(NamedTuple):
    """One `meta` element: attributes as they stand, None where there is none, and its place."""

    name: str | None
    content: str | None
    http_equiv: str | None
    property: str | None
    itemprop: str | None
    place: ElementPosition
    element: int
    """Its position among the `meta` elements of the document, from 1."""


class Page(NamedTuple):
    """The `meta` elements of a document, as far as it was read."""

    metas: tuple[Meta, ...]
    """In document order: all of the head; of the body those with a name, and 500 others."""
    encoding: str | None
    """What the octets were decoded as, by its name in lower case; None for text."""
    is_final: bool
    """False: the limit came first, so that more of the document could have changed the answer."""
    read: int
    """Octets, or characters of a text, that were looked at."""
    is_cut: bool = False
    """Whether the document goes on behind the limit, or behind what was given of it."""


class PageReader:
    """
    Reads a document as it comes: `feed()` until that returns True, or all is fed; then `page()`.

    It does no I/O, so that it serves sync and async callers alike. *charset* is the one of the
    Content-Type, *final_dom* says that scripts were run (so `noscript` is text), *whole* that the
    body is of interest too. No more than *limit* octets are looked at or kept. Not *complete*: what
    is fed was cut before the end of the document.

        >>> reader = PageReader()
        >>> reader.feed(b'<meta name=robots content=noindex>')
        False
        >>> reader.page().metas[0].content
        'noindex'
    """

    def __init__(
        self,
        *,
        charset: str | None = None,
        final_dom: bool = False,
        whole: bool = False,
        limit: int = MOST_HTML,
        complete: bool = True,
    ) -> None:
        check_limit(limit)
        if charset is not None and not isinstance(charset, str):
            raise TypeError(f"charset is a {type(charset).__name__}: give a str such as 'utf-8'")
        self._build = builder()
        self._charset = charset
        self._both_ways = not final_dom
        self._whole = whole
        self._limit = limit
        self._complete = complete
        self._stop = limit if whole else min(FIRST_PREFIX, limit)
        self._octets = bytearray()
        self._pieces: list[str] = []
        self._is_text: bool | None = None
        self._encoding: str | None = None
        self._size = 0
        self._trees: dict[bool, _Parsed] = {}
        self._page: Page | None = None

    def feed(self, chunk: bytes | bytearray | memoryview | str) -> bool:
        """Take a piece of the document; True: nothing more will be looked at."""
        piece = self._checked(chunk)
        start = 0
        while self._page is None and start < len(piece):
            if self._size == self._limit:
                self._end(cut=True)
                break
            taken = piece[start : start + self._stop - self._size]
            if isinstance(taken, str):
                self._pieces.append(taken)
            else:
                self._octets += taken
            start += len(taken)
            self._size += len(taken)
            if self._size == self._stop and not self._whole:
                if self._parse(ended=False):
                    self._close()
                # What is at hand costs little: only the head of it is parsed.
                at_hand = self._size + len(piece) - start
                wanted = max(self._stop * GROWTH, min(at_hand, self._stop * GROWTH**2))
                self._stop = min(wanted, self._limit)
        return self._page is not None

    def page(self) -> Page:
        """Return the page. If nothing made it final, the last chunk is all there is of it."""
        if self._page is not None:
            return self._page
        if self._complete:
            return self._end(cut=False)
        if not self._whole and self._parse(ended=False):
            return self._close()  # the head is over before the place where it was cut
        return self._end(cut=True)

    def _checked(self, chunk: object) -> memoryview | str:
        if not isinstance(chunk, (bytes, bytearray, memoryview, str)):
            raise TypeError(f"HTML comes as bytes or str, not as {type(chunk).__name__}")
        is_text = isinstance(chunk, str)
        if self._is_text not in (None, is_text):
            raise TypeError("a document came as bytes and as str: give all of it as one of them")
        self._is_text = is_text
        return chunk if isinstance(chunk, str) else memoryview(chunk).cast("B")

    def _end(self, *, cut: bool) -> Page:
        self._parse(ended=not cut, cut=cut)
        return self._close(cut=cut)

    def _close(self, *, cut: bool = False) -> Page:
        parsed = self._trees
        off = parsed[False].tree.metas() if False in parsed else None
        metas = _united(parsed[True].tree.metas(), off)
        is_final = all(one.is_final for one in parsed.values())
        self._page = Page(metas, self._encoding, is_final, self._size, cut)
        self._octets, self._pieces, self._trees = bytearray(), [], {}
        return self._page

    def _parse(self, *, ended: bool, cut: bool = False) -> bool:
        """
        Parse what there is, each way until its head is final; True if no more is needed.

        Where the limit cut the document, what is whole before it counts, up to the last octet
        (RTG-4-07); half a tag may then look like text behind the head, so nothing is final.
        """
        text = self._text()
        last = max(text.rfind("<"), 0)
        if not (ended or (cut and ">" in text[last:])):
            text = text[:last]
            if cut and not self._whole:
                return False  # just that has been parsed
        for scripting in self._ways(text):
            known = self._trees.get(scripting)
            if known is None or not known.is_done:
                parsed = self._parsed(text, scripting, ended)
                self._trees[scripting] = parsed._replace(is_final=False) if cut else parsed
        return all(parsed.is_done for parsed in self._trees.values())

    def _ways(self, text: str) -> tuple[bool, ...]:
        both = self._both_ways and (False in self._trees or "<noscript" in text.lower())
        return (True, False) if both else (True,)

    def _parsed(self, text: str, scripting: bool, ended: bool) -> _Parsed:
        if self._whole:
            length = bounded(text, scripting, None, MOST_TAGS)
        else:
            # Where there are many tags, the head is mostly over before the last of them.
            is_short = self._size <= FIRST_PREFIX
            length = (
                beginning(text) if is_short else bounded(text, scripting, BODY_TAGS, MOST_HEAD_TAGS)
            )
            if length < len(text):
                tree = self._build(text[:length], scripting)
                if tree.head_is_over():
                    return _Parsed(tree, True, True)
                length = bounded(text, scripting, None, MOST_HEAD_TAGS)
        tree = self._build(text[:length], scripting)
        # Cut for its nesting: with more of it the document would be cut at the same place.
        is_stuck = length < len(text)
        is_over = not self._whole and tree.head_is_over()
        return _Parsed(tree, is_over or (ended and not is_stuck), is_over or is_stuck)

    def _text(self) -> str:
        if self._is_text is False:
            data = bytes(self._octets)
            if self._encoding is None:
                self._encoding = encoding_of(data, self._charset)
            return decoded(data, self._encoding)
        self._pieces = ["".join(self._pieces)]
        return well_formed(self._pieces[0])


class _Parsed(NamedTuple):
    """A prefix of a document, parsed one way."""

    tree: Tree
    is_final: bool
    is_done: bool  # more of the document would not change it, or could not be parsed


def read_page(
    html: Html,
    *,
    charset: str | None = None,
    final_dom: bool = False,
    whole: bool = False,
    limit: int = MOST_HTML,
    complete: bool = True,
) -> Page:
    """
    Return the `meta` elements of an HTML document, and their places.

    *html* is octets or text: all of it, an iterable of chunks, or an open file. Chunks are taken
    and a file is read only until the head is final, or to the end of what *limit* allows where
    *whole* is set. The other arguments are those of `PageReader`. Raises MissingExtraError where
    no tree builder is installed, and TypeError for what is no HTML; content never raises.
    """
    reader = PageReader(
        charset=charset, final_dom=final_dom, whole=whole, limit=limit, complete=complete
    )
    for chunk in _chunks(html):
        if reader.feed(chunk):
            break
    return reader.page()


def check_limit(limit: int) -> None:
    """Raise ValueError for a limit below what has to be read of a document (AMB-92)."""
    if not isinstance(limit, int):
        raise TypeError(f"limit is a number of octets, not {limit!r}")
    if limit < LEAST_HTML:
        raise ValueError(
            f"limit is {limit}, and at least {LEAST_HTML} octets of a document are read "
            "(draft-illyes-repext §4): leave it out or give more"
        )


def _chunks(html: Any) -> Iterator[bytes | str]:
    if isinstance(html, (bytes, bytearray, memoryview, str)):
        return iter((html,))  # type: ignore[arg-type]
    if hasattr(html, "headers") and not hasattr(html, "readable"):
        # A response of httpx, requests or Scrapy has its octets at hand.
        for name in ("content", "body"):
            if isinstance(octets := getattr(html, name, None), bytes):
                return iter((octets,))
        raise TypeError(
            f"HTML comes as bytes or str, not as {type(html).__name__}: pass the body of the "
            "response, such as response.content or await response.read()"
        )
    if hasattr(html, "read"):
        return iter(lambda: html.read(FIRST_PREFIX) or b"", b"")
    if not isinstance(html, Iterable):
        raise TypeError(
            f"HTML comes as bytes, str, chunks of them or an open file, not as "
            f"{type(html).__name__}: pass the body of the response"
        )
    return iter(html)


def _united(on: list[Element], off: list[Element] | None) -> tuple[Meta, ...]:
    """Return the elements of one document parsed with scripting on and off, once each."""
    if off is None:
        return _numbered(
            (said, ElementPosition.HEAD if in_head else ElementPosition.BODY)
            for said, in_head, _ in on
        )
    same = _same(on, off)
    placed: list[tuple[tuple[int, int, int], Attributes, ElementPosition]] = []
    upcoming = len(off)
    for index in range(len(on) - 1, -1, -1):
        said, in_head, _ = on[index]
        place = ElementPosition.HEAD if in_head else ElementPosition.BODY
        if index in same:
            upcoming = same[index]
            if off[upcoming].in_head and not in_head:
                place = ElementPosition.NOSCRIPT
        # An element without a counterpart comes just before the next one that has one.
        placed.append(((upcoming, int(index in same), index), said, place))
    found = set(same.values())
    for index, (said, in_head, _) in enumerate(off):
        if index not in found:
            placed.append(
                ((index, 1, 0), said, ElementPosition.NOSCRIPT if in_head else ElementPosition.BODY)
            )
    placed.sort(key=lambda one: one[0])
    return _numbered((said, place) for _, said, place in placed)


def _numbered(placed: Iterable[tuple[Attributes, ElementPosition]]) -> tuple[Meta, ...]:
    """Return elements with their positions: not all that have no name and are in the body."""
    metas: list[Meta] = []
    in_body = 0
    for number, (said, place) in enumerate(placed, 1):
        if place is ElementPosition.BODY and said.name is None:
            in_body += 1  # microdata has hundreds; one with a name may be for robots
            if in_body > MOST_IN_BODY:
                continue
        metas.append(Meta(*said, place, number))
    return tuple(metas)


def _same(on: list[Element], off: list[Element]) -> dict[int, int]:
    """
    Return which element of the one tree is which of the other, by what they say, in their order.

    The head with scripting goes first, so that an element there stays one of the head (AMB-88).
    What stands in a noscript without scripting is no element with it, unless the noscript ends
    elsewhere.
    """
    same: dict[int, int] = {}
    for in_noscript in (False, True):
        waiting: dict[Attributes, list[int]] = {}
        for index in range(len(off) - 1, -1, -1):
            if off[index].in_noscript is in_noscript:
                waiting.setdefault(off[index].said, []).append(index)
        for in_head in (True, False) if not in_noscript else (False,):
            for index, element in enumerate(on):
                if element.in_head is in_head and index not in same:
                    if known := waiting.get(element.said):
                        same[index] = known.pop()
    return same
