"""The growing prefix: a head that is final in a prefix is the head of the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from typing import AnyStr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.tags import html
from robotrules.tags.html import ElementPosition, Page, read_page
from tests.tags.builders import BUILDERS, only
from tests.tags.pages import PAGES, HostilePage

METAS = tuple(f"<meta name=robots content={letter}>" for letter in "abc")
# Markup that opens, ends or hides a head, complete and in pieces.
PIECES = (
    *METAS,
    *METAS,
    *(
        "<head>",
        "</head>",
        "<body>",
        "</body>",
        "<html>",
        "</html>",
        "<frameset>",
        "</frameset>",
    ),
    *("<noscript>", "</noscript>", "<template>", "</template>", "<title>", "</title>"),
    *("<script>", "</script>", "<style>", "</style>", "<!--", "-->", "--!>", "<!", "<?x", ">"),
    *("<p>", "</p>", "<div>", "</div>", "</br>", "<img>", "<link>", "<base>", "<svg>", "</svg>"),
    *("<table>", "<td>", "</table>", "<select>", "<textarea>", "</textarea>", "<math>", "<mi>"),
    *("<a title='", "'>", '<link title="', '">', " ", "\n", "x", "&#32;", "&#3", "2;", "&", "\0"),
    *("<", "</", "<m", "=", "/>", "<![CDATA[", "]]>", "\ufeff", "\u00e9", "<plaintext>"),
)
DOCUMENTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def head_metas(page: Page) -> Counter[tuple[str | None, str | None, ElementPosition]]:
    """Return the meta elements outside the body, with their places."""
    return Counter(
        (meta.name, meta.content, meta.place)
        for meta in page.metas
        if meta.place is not ElementPosition.BODY
    )


def read_from(monkeypatch: pytest.MonkeyPatch, prefix: int, data: str) -> Page:
    """Read a document as if the first prefix were this long."""
    monkeypatch.setattr(html, "FIRST_PREFIX", prefix)
    return read_page(data)


def split_chunks(whole: AnyStr, sizes: list[int]) -> Iterator[AnyStr]:
    """Yield a document in chunks of these sizes, which repeat."""
    at = 0
    for size in cycle(sizes):
        if at >= len(whole):
            return
        yield whole[at : at + size]
        at += size


@pytest.mark.parametrize("builder", BUILDERS)
class TestPrefix:
    """A head that is final in a prefix MUST be the head of the document (AMB-87)."""

    @given(document=DOCUMENTS, cuts=st.lists(st.integers(1, 400), min_size=8, max_size=8))
    def test_any_document(self, builder: str, document: str, cuts: list[int]) -> None:
        """Any content, cut anywhere."""
        with only(builder), pytest.MonkeyPatch.context() as patch:
            whole = head_metas(read_from(patch, html.MAX_HTML_BYTES, document))
            for cut in cuts:
                page = read_from(patch, cut, document)
                assert head_metas(page) == whole, cut
                assert page.is_final

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
    def test_hostile_pages(self, builder: str, page: HostilePage) -> None:
        """Cut after every character, with and without a body."""
        text = page.data.decode("latin-1")
        with only(builder), pytest.MonkeyPatch.context() as patch:
            for document in (text, f"{text}<p>x</p><meta name=z>"):
                whole = head_metas(read_from(patch, html.MAX_HTML_BYTES, document))
                # A short document is cut everywhere, a long one in steps.
                step = 1 if builder == "selectolax" and len(text) < 400 else 13
                for cut in range(1, len(document), step):
                    assert head_metas(read_from(patch, cut, document)) == whole, cut

    @given(
        document=DOCUMENTS.filter(bool), sizes=st.lists(st.integers(1, 50), min_size=1, max_size=20)
    )
    def test_chunks(self, builder: str, document: str, sizes: list[int]) -> None:
        """Chunks of any size give the same page as the whole, as octets and as text."""
        with only(builder), pytest.MonkeyPatch.context() as patch:
            patch.setattr(html, "FIRST_PREFIX", 64)
            data, charset = document.encode(), "utf-8"
            assert read_page(split_chunks(document, sizes)) == read_page(document)
            assert read_page(split_chunks(data, sizes), charset=charset) == read_page(
                data, charset=charset
            )

    @given(document=DOCUMENTS)
    def test_numbers_are_positions(self, builder: str, document: str) -> None:
        """The elements of a page are numbered in their order, each once."""
        with only(builder):
            numbers = [meta.element for meta in read_page(document).metas]
        assert numbers == sorted(set(numbers))

    @given(data=st.binary(max_size=600), charset=st.sampled_from([None, "utf-16", "sjis", "gbk"]))
    def test_any_octets(self, builder: str, data: bytes, charset: str | None) -> None:
        """Content never raises."""
        with only(builder):
            assert read_page(b"<meta name=x>" + data, charset=charset).is_final
            assert read_page(data, charset=charset, whole=True).read == len(data)


@given(document=DOCUMENTS)
def test_tree_builders_agree(document: str) -> None:
    """selectolax and justhtml find the same head, so that each can replace the other."""
    pages = []
    for name in BUILDERS:
        with only(name):
            pages.append(read_page(document))
    assert head_metas(pages[0]) == head_metas(pages[1])
