"""
HTML to a `Page`: the `meta` elements of a document, and which of them are in its head.

A tree builder decides what an element is and where the head ends (AMB-87 to AMB-89); regular
expressions cannot. No more is parsed than needed. A prefix of the document is cut just before its
last `<`, so that it ends with a complete tag or text. If the body of the prefix is not empty, the
head is final: nothing in the body opens the head again. Otherwise a prefix four times as long is
parsed, or sixteen times if that is available, from 16 KiB to the limit.

A prefix with a `noscript` is parsed with scripting on and off, each until the head is final, and
the results are united: with scripting off, the `meta` elements in it are elements, and an `img` in
it ends the head (AMB-88).

Sections: values, `PageReader`, `read_page`, the union of both trees, `nosnippet_texts`.

It does not interpret `meta` elements, and knows nothing of HTTP. The only I/O is that `read_page`
reads a file object. Every sequence of octets gives a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import IO, Any, NamedTuple

from robotrules.tags.encoding import decode_html, replace_surrogates, sniff_encoding
from robotrules.tags.parser_limits import (
    BODY_TAGS,
    MAX_HEAD_TAGS,
    MAX_TAGS,
    safe_length,
    unchecked_length,
)
from robotrules.tags.tree_builders import Attributes, Element, Tree, find_tree_builder

__all__ = [
    "MAX_HTML_BYTES",
    "MIN_HTML_BYTES",
    "ElementPosition",
    "Meta",
    "Page",
    "PageReader",
    "nosnippet_texts",
    "read_page",
]

MAX_HTML_BYTES = 2 * 1024 * 1024
# draft-illyes-repext §4 refers to §3.1.1: at least 8 KiB (AMB-92).
MIN_HTML_BYTES = 8 * 1024
# The first prefix contains the head of most pages and takes a fraction of a millisecond.
FIRST_PREFIX = 16 * 1024
GROWTH = 4
# `meta` elements in the body lead to a note, or count in one profile; a few hundred are enough.
MAX_IN_BODY = 500

Html = bytes | bytearray | memoryview | str | Iterable[bytes] | Iterable[str] | IO[bytes] | IO[str]


class ElementPosition(StrEnum):
    """The position of a `meta` element."""

    HEAD = "head"
    """In the head, with scripting on."""
    NOSCRIPT = "noscript"
    """In the head only if scripting is off (AMB-88)."""
    BODY = "body"
    """Anywhere else in the document."""


class Meta(NamedTuple):
    """One `meta` element: its attributes as written, None if missing, and its position."""

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
    """The encoding that the octets were decoded with, in lower case; None for text."""
    is_final: bool
    """False: the head did not end within the limit, so the rest could change the answer."""
    read: int
    """The number of octets, or characters of a text, that were read."""
    is_cut: bool = False
    """Whether the document continues after the limit, or after the part that was given."""


class PageReader:
    """
    Reads a document incrementally: `feed()` until it returns True or all is fed, then `page()`.

    It does no I/O, so it works for sync and async callers. *charset* is that of the Content-Type.
    Set *final_dom* if scripts were run (`noscript` is then text), and *whole* to read the body
    too. No more than *limit* octets are read or kept. Set *complete* to False if the document was
    cut before its end.

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
        limit: int = MAX_HTML_BYTES,
        complete: bool = True,
    ) -> None:
        check_limit(limit)
        if charset is not None and not isinstance(charset, str):
            raise TypeError(f"charset is a {type(charset).__name__}: give a str such as 'utf-8'")
        self._build = find_tree_builder()
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
        """Add a piece of the document; return True if no more of it is needed."""
        piece = self._require_html(chunk)
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
                # A longer prefix costs little if it is available: only its head is parsed.
                at_hand = self._size + len(piece) - start
                wanted = max(self._stop * GROWTH, min(at_hand, self._stop * GROWTH**2))
                self._stop = min(wanted, self._limit)
        return self._page is not None

    def page(self) -> Page:
        """Return the page; what was fed is the whole document, or all that is known of it."""
        if self._page is not None:
            return self._page
        if self._complete:
            return self._end(cut=False)
        if not self._whole and self._parse(ended=False):
            return self._close()  # the head ended before the cut
        return self._end(cut=True)

    def _require_html(self, chunk: object) -> memoryview | str:
        if not isinstance(chunk, (bytes, bytearray, memoryview, str)):
            raise TypeError(f"HTML comes as bytes or str, not as {type(chunk).__name__}")
        is_text = isinstance(chunk, str)
        if self._is_text not in (None, is_text):
            raise TypeError("a document was fed as bytes and as str: pass all of it as one of them")
        self._is_text = is_text
        return chunk if isinstance(chunk, str) else memoryview(chunk).cast("B")

    def _end(self, *, cut: bool) -> Page:
        self._parse(ended=not cut, cut=cut)
        return self._close(cut=cut)

    def _close(self, *, cut: bool = False) -> Page:
        parsed = self._trees
        off = parsed[False].tree.metas() if False in parsed else None
        metas = _unite_elements(parsed[True].tree.metas(), off)
        is_final = all(part.is_final for part in parsed.values())
        self._page = Page(metas, self._encoding, is_final, self._size, cut)
        self._octets, self._pieces, self._trees = bytearray(), [], {}
        return self._page

    def _parse(self, *, ended: bool, cut: bool = False) -> bool:
        """
        Parse the text so far with each scripting mode; return True if no more is needed.

        Where the limit cut the document, complete elements before it count, up to the last octet
        (RTG-4-07); half a tag may then look like text after the head, so nothing is final.
        """
        text = self._text()
        last = max(text.rfind("<"), 0)
        if not (ended or (cut and ">" in text[last:])):
            text = text[:last]
            if cut and not self._whole:
                return False  # this text has been parsed already
        for scripting in self._scripting_modes(text):
            known = self._trees.get(scripting)
            if known is None or not known.is_done:
                parsed = self._build_tree(text, scripting, ended)
                self._trees[scripting] = parsed._replace(is_final=False) if cut else parsed
        return all(parsed.is_done for parsed in self._trees.values())

    def _scripting_modes(self, text: str) -> tuple[bool, ...]:
        both = self._both_ways and (False in self._trees or "<noscript" in text.lower())
        return (True, False) if both else (True,)

    def _build_tree(self, text: str, scripting: bool, ended: bool) -> _Parsed:
        if self._whole:
            length = safe_length(text, scripting, None, MAX_TAGS)
        else:
            # Where there are many tags, the head usually ends before the last of them.
            is_short = self._size <= FIRST_PREFIX
            length = (
                unchecked_length(text)
                if is_short
                else safe_length(text, scripting, BODY_TAGS, MAX_HEAD_TAGS)
            )
            if length < len(text):
                tree = self._build(text[:length], scripting)
                if tree.head_is_over():
                    return _Parsed(tree, True, True)
                length = safe_length(text, scripting, None, MAX_HEAD_TAGS)
        tree = self._build(text[:length], scripting)
        # Cut because of its nesting: a longer prefix would be cut at the same position.
        is_stuck = length < len(text)
        is_over = not self._whole and tree.head_is_over()
        return _Parsed(tree, is_over or (ended and not is_stuck), is_over or is_stuck)

    def _text(self) -> str:
        if self._is_text is False:
            data = bytes(self._octets)
            if self._encoding is None:
                self._encoding = sniff_encoding(data, self._charset)
            return decode_html(data, self._encoding)
        self._pieces = ["".join(self._pieces)]
        return replace_surrogates(self._pieces[0])


class _Parsed(NamedTuple):
    """A prefix of a document, parsed in one scripting mode."""

    tree: Tree
    is_final: bool
    is_done: bool  # more of the document would not change the tree, or could not be parsed


def read_page(
    html: Html,
    *,
    charset: str | None = None,
    final_dom: bool = False,
    whole: bool = False,
    limit: int = MAX_HTML_BYTES,
    complete: bool = True,
) -> Page:
    """
    Return the `meta` elements of an HTML document, and their positions.

    *html* is octets or text: the whole document, an iterable of chunks, or an open file. Chunks and
    files are read only until the head is final, or up to *limit* if *whole* is set. The other
    arguments are those of `PageReader`. Raises MissingExtraError if no tree builder is installed,
    and TypeError if *html* has another type; content never raises.
    """
    reader = PageReader(
        charset=charset, final_dom=final_dom, whole=whole, limit=limit, complete=complete
    )
    for chunk in _chunks(html):
        if reader.feed(chunk):
            break
    return reader.page()


def check_limit(limit: int) -> None:
    """Raise ValueError if a limit is below the minimum that has to be read (AMB-92)."""
    if not isinstance(limit, int):
        raise TypeError(f"limit must be a number of octets, not {limit!r}")
    if limit < MIN_HTML_BYTES:
        raise ValueError(
            f"limit is {limit}: pass at least {MIN_HTML_BYTES} octets (draft-illyes-repext §4), or "
            "leave it out"
        )


def _chunks(html: Any) -> Iterator[bytes | str]:
    if isinstance(html, (bytes, bytearray, memoryview, str)):
        return iter((html,))  # type: ignore[arg-type]
    if hasattr(html, "headers") and not hasattr(html, "readable"):
        # A response of httpx, requests or Scrapy.
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


def _unite_elements(on: list[Element], off: list[Element] | None) -> tuple[Meta, ...]:
    """Return the elements of one document parsed with scripting on and off, each once."""
    if off is None:
        return _number_elements(
            (attributes, ElementPosition.HEAD if in_head else ElementPosition.BODY)
            for attributes, in_head, _ in on
        )
    same = _match_elements(on, off)
    placed: list[tuple[tuple[int, int, int], Attributes, ElementPosition]] = []
    upcoming = len(off)
    for index in range(len(on) - 1, -1, -1):
        attributes, in_head, _ = on[index]
        place = ElementPosition.HEAD if in_head else ElementPosition.BODY
        if index in same:
            upcoming = same[index]
            if off[upcoming].in_head and not in_head:
                place = ElementPosition.NOSCRIPT
        # An element without a counterpart comes just before the next one that has one.
        placed.append(((upcoming, int(index in same), index), attributes, place))
    matched = set(same.values())
    for index, (attributes, in_head, _) in enumerate(off):
        if index not in matched:
            place = ElementPosition.NOSCRIPT if in_head else ElementPosition.BODY
            placed.append(((index, 1, 0), attributes, place))
    placed.sort(key=lambda element: element[0])
    return _number_elements((attributes, place) for _, attributes, place in placed)


def _number_elements(placed: Iterable[tuple[Attributes, ElementPosition]]) -> tuple[Meta, ...]:
    """Return elements with their numbers; of those without a name in the body, the first ones."""
    metas: list[Meta] = []
    in_body = 0
    for number, (attributes, place) in enumerate(placed, 1):
        if place is ElementPosition.BODY and attributes.name is None:
            in_body += 1  # microdata has hundreds; an element with a name may be for robots
            if in_body > MAX_IN_BODY:
                continue
        metas.append(Meta(*attributes, place, number))
    return tuple(metas)


def _match_elements(on: list[Element], off: list[Element]) -> dict[int, int]:
    """
    Return the index in *off* of each element of *on*, matched by attributes and order.

    Elements in the head with scripting on are matched first, so that they stay in the head
    (AMB-88). An element in a noscript with scripting off is not an element with scripting on,
    unless the noscript ends elsewhere.
    """
    same: dict[int, int] = {}
    for in_noscript in (False, True):
        waiting: dict[Attributes, list[int]] = {}
        for index in range(len(off) - 1, -1, -1):
            if off[index].in_noscript is in_noscript:
                waiting.setdefault(off[index].attributes, []).append(index)
        for in_head in (True, False) if not in_noscript else (False,):
            for index, element in enumerate(on):
                if element.in_head is in_head and index not in same:
                    if candidates := waiting.get(element.attributes):
                        same[index] = candidates.pop()
    return same


# --- data-nosnippet (XRT-19) ----------------------------------------------------------------------

NOSNIPPET = "data-nosnippet"
NOSNIPPET_ELEMENTS = ("span", "div", "section")


def nosnippet_texts(
    html: bytes | str, *, charset: str | None = None, limit: int = MAX_HTML_BYTES
) -> tuple[str, ...]:
    """
    Return the texts that a page marks with data-nosnippet, in document order.

    The attribute counts on `span`, `div` and `section`, with any value or none. A marked element in
    a marked element adds nothing: the outermost has its text. The page is parsed with scripting on,
    as when snippets are made. Runs of white space become one space; scripts and styles are left
    out. Only *limit* octets or characters are read. Raises MissingExtraError if no tree builder is
    installed; content never raises.

        >>> nosnippet_texts("<p>Seen. <span data-nosnippet>Not <b>quoted</b>.</span></p>")
        ('Not quoted.',)
    """
    check_limit(limit)
    if isinstance(html, str):
        text = replace_surrogates(html[:limit])
    elif isinstance(html, (bytes, bytearray, memoryview)):
        data = bytes(memoryview(html).cast("B")[:limit])
        text = decode_html(data, sniff_encoding(data, charset))
    else:
        raise TypeError(f"HTML comes as bytes or str, not as {type(html).__name__}")
    tree = find_tree_builder()(text[: safe_length(text, True)], True)
    texts = (" ".join(marked.split()) for marked in tree.texts(NOSNIPPET_ELEMENTS, NOSNIPPET))
    return tuple(filter(None, texts))
