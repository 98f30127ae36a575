"""HTML to a page: the exact octet of each limit, properties of a page, and texts of errors."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from robotrules.tags import html
from robotrules.tags.html import (
    FIRST_PREFIX,
    MIN_HTML_BYTES,
    ElementPosition,
    PageReader,
    read_page,
)
from tests.tags.test_html import HEAD, NOINDEX, NOSCRIPT_PIXEL, PARAGRAPH, parsed

__all__ = ["parsed"]

pytestmark = pytest.mark.usefixtures("tree_builder")


def filled(size: int, behind: str) -> str:
    """Return a head of that size, which ends with the text that is given."""
    return "<style>".ljust(size - len("</style>" + behind), "x") + "</style>" + behind


class TestPageProperties:
    """Encoding, and whether the document continues."""

    def test_encoding(self) -> None:
        """What the octets were decoded as; a text has none."""
        assert read_page(NOINDEX.encode(), charset="UTF-8").encoding == "utf-8"
        assert read_page((HEAD + PARAGRAPH * 1000).encode()).encoding == "utf-8"
        assert read_page(NOINDEX).encoding is None

    def test_a_document_that_continues(self) -> None:
        """Only after the limit, or if the caller states it."""
        assert not read_page(HEAD + PARAGRAPH * 1000).is_cut
        assert read_page(filled(MIN_HTML_BYTES + 1, ""), limit=MIN_HTML_BYTES).is_cut
        assert not read_page(filled(MIN_HTML_BYTES, ""), limit=MIN_HTML_BYTES).is_cut
        for half in ("", "<", "</", "<me"):  # what looks like text may be half a tag
            page = read_page(NOINDEX + half, complete=False)
            assert (page.is_final, page.is_cut) == (False, True)
        page = read_page(NOINDEX + "<p>x<p>", complete=False)
        assert (page.is_final, page.is_cut) == (True, False)

    def test_octets_of_another_shape(self) -> None:
        """A view of numbers is a view of their octets."""
        octets = array("I", NOINDEX.encode().ljust(40))
        assert octets.itemsize > 1
        page = read_page(memoryview(octets))
        assert (len(page.metas), page.read) == (1, 40)


class TestTheEnd:
    """What is whole before the limit counts (RTG-4-07)."""

    def test_a_tag_that_ends_at_it(self) -> None:
        """Up to the last octet; and one octet less is half a tag."""
        document = filled(MIN_HTML_BYTES, NOINDEX)
        page = read_page(document + PARAGRAPH, limit=MIN_HTML_BYTES)
        assert [meta.place for meta in page.metas] == [ElementPosition.HEAD]
        page = read_page(" " + document + PARAGRAPH, limit=MIN_HTML_BYTES)
        assert page.metas == ()

    def test_no_final_head(self) -> None:
        """What looks like text may be part of a tag."""
        document = filled(MIN_HTML_BYTES, "text")
        for whole in (False, True):
            page = read_page(document + " more", limit=MIN_HTML_BYTES, whole=whole)
            assert (page.is_final, page.is_cut) == (False, True)
        assert read_page(document, limit=MIN_HTML_BYTES).is_final


class TestCost:
    """How much is handed to the tree builder."""

    def test_a_long_head(self, parsed: list[int]) -> None:
        """Of the body only its beginning is parsed, also where a noscript looks like one."""
        head = filled(FIRST_PREFIX + 2000, f"<noscript>{PARAGRAPH * 50}</noscript>{NOINDEX}")
        page = read_page(head + PARAGRAPH * 3000, final_dom=True)
        assert [meta.place for meta in page.metas] == [ElementPosition.HEAD]
        assert len(parsed) == 2
        assert max(parsed) < len(head) + 30 * len(PARAGRAPH)

    def test_all_that_is_at_hand(self, parsed: list[int]) -> None:
        """Behind the first prefix as much is parsed at once as there is, up to a bound."""
        document = filled(70_000, NOINDEX) + PARAGRAPH * 3000
        chunks = iter((document[:10_000], document[10_000:100_000], document[100_000:]))
        page = read_page(chunks)
        assert [meta.place for meta in page.metas] == [ElementPosition.HEAD]
        assert (page.is_final, page.read) == (True, 100_000)
        assert len(parsed) == 2
        assert next(chunks) == document[100_000:]

    def test_a_long_head_in_small_chunks(self, parsed: list[int]) -> None:
        """It is parsed in three steps, each four times the one before."""
        document = filled(100_000, NOINDEX) + PARAGRAPH * 5000
        page = read_page(document[at : at + 1000] for at in range(0, len(document), 1000))
        assert [meta.place for meta in page.metas] == [ElementPosition.HEAD]
        assert (page.is_final, page.read) == (True, 16 * FIRST_PREFIX)
        assert len(parsed) == 3

    def test_the_beginning_of_a_body(self) -> None:
        """Elements among the first tags of a body are seen, those behind them are not."""
        for paragraphs in (3000, FIRST_PREFIX):
            short, long = "<p>x" * 100, "<p>x" * paragraphs
            page = read_page(f"{NOINDEX}{short}{NOINDEX}{long}{NOINDEX}")
            assert [meta.place for meta in page.metas] == [
                ElementPosition.HEAD,
                ElementPosition.BODY,
            ]

    def test_a_way_that_is_done(self, parsed: list[int]) -> None:
        """Without scripting the pixel ends the head, and no more is parsed that way."""
        head = filled(FIRST_PREFIX + 2000, NOINDEX)
        page = read_page(NOSCRIPT_PIXEL + head + PARAGRAPH * 3000)
        assert [meta.place for meta in page.metas] == [ElementPosition.HEAD]
        assert len(parsed) == 3

    def test_the_number_of_tags(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A head has fewer than a whole document."""
        monkeypatch.setattr(html, "MAX_HEAD_TAGS", 1000)
        monkeypatch.setattr(html, "MAX_TAGS", 4000)
        for metas, in_head, in_whole in (
            (900, True, True),
            (3500, False, True),
            (5000, False, False),
        ):
            document = "<meta a>" * metas
            assert read_page(document).is_final is in_head
            assert read_page(document, whole=True).is_final is in_whole
            # The first prefix has few tags here, and a body is behind the others.
            document = filled(FIRST_PREFIX, document[:800]) + document[800:] + PARAGRAPH * 10
            assert read_page(document).is_final is in_head

    def test_text_with_scripting(self) -> None:
        """What is nested in a noscript is text where scripts run, and no cause to cut."""
        document = f"<head><noscript>{'<div>' * 3000}</noscript>{NOINDEX}<p>"
        for whole in (False, True):
            page = read_page(document, final_dom=True, whole=whole)
            assert (len(page.metas), page.is_final) == (1, True)


class TestBothWays:
    """Elements with scripting and without are one, unless one of them is in a noscript."""

    def test_a_noscript_that_ends_elsewhere(self) -> None:
        """With scripting it ends within the style, and what is behind it is in the head."""
        page = read_page(f"<head><noscript>{NOINDEX}<style></noscript>{NOINDEX}</style></noscript>")
        assert [(meta.place, meta.element) for meta in page.metas] == [
            (ElementPosition.NOSCRIPT, 1),
            (ElementPosition.HEAD, 2),
        ]


class TestErrors:
    """Each contains a fix."""

    def test_chunks_of_two_sorts(self) -> None:
        """In either order."""
        for first, second in ((b"x", "x"), ("x", b"x")):
            reader = PageReader()
            reader.feed(first)
            with pytest.raises(TypeError) as told:
                reader.feed(second)
            assert str(told.value) == (
                "a document was fed as bytes and as str: pass all of it as one of them"
            )

    def test_arguments(self) -> None:
        """Chunks, charsets and limits of another type."""
        wrong: Any = 5
        with pytest.raises(TypeError) as told:
            PageReader().feed(wrong)
        assert str(told.value) == "HTML comes as bytes or str, not as int"
        with pytest.raises(TypeError) as told:
            PageReader(charset=wrong)
        assert str(told.value) == "charset is a int: give a str such as 'utf-8'"
        wrong = "5"
        with pytest.raises(TypeError) as told:
            PageReader(limit=wrong)
        assert str(told.value) == "limit must be a number of octets, not '5'"
        with pytest.raises(ValueError, match="limit is 5") as refused:
            PageReader(limit=5)
        assert str(refused.value) == (
            "limit is 5: pass at least 8192 octets (draft-illyes-repext §4), or leave it out"
        )
