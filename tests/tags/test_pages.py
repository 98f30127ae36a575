"""The hostile pages: each has the metas that its file lists, with both tree builders."""

from __future__ import annotations

from collections import Counter

import pytest

from robotrules.tags.html import ElementPosition, PageReader, read_page
from robotrules.tags.tree_builders import find_tree_builder
from tests.tags.pages import PAGES, HostilePage

EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)


def test_they_are_many_and_have_names() -> None:
    """More than seventy, each with a unique id and a sentence on what it attacks."""
    assert len(PAGES) >= 70
    assert Counter(page.id for page in PAGES).most_common(1)[0][1] == 1
    assert all(page.attacks.endswith(".") for page in PAGES)


@EACH
def test_metas_are_as_recorded(tree_builder: str, page: HostilePage) -> None:
    """Name, content and place of every meta, in document order, and numbers from 1."""
    found = read_page(page.data, charset=page.charset)
    assert [(meta.name, meta.content, meta.place) for meta in found.metas] == page.metas
    assert [meta.element for meta in found.metas] == list(range(1, len(page.metas) + 1))
    assert found.is_final
    assert found.read == len(page.data)


@EACH
def test_chunks_do_not_change_the_result(tree_builder: str, page: HostilePage) -> None:
    """Octet by octet is the same as all at once, also within characters and tags."""
    reader = PageReader(charset=page.charset)
    assert not any(reader.feed(page.data[at : at + 1]) for at in range(len(page.data)))
    assert reader.page() == read_page(page.data, charset=page.charset)


@EACH
def test_a_head_with_scripting_stays_one(tree_builder: str, page: HostilePage) -> None:
    """
    The final DOM has the metas of the head that are not in a noscript alone (AMB-88).

    And the initial HTML has those and no fewer: the union only adds.
    """
    recorded = [meta for meta in page.metas if meta[2] == ElementPosition.HEAD]
    final = read_page(page.data, charset=page.charset, final_dom=True)
    assert [tuple(meta[:2]) for meta in final.metas if meta.place is ElementPosition.HEAD] == [
        meta[:2] for meta in recorded
    ]
    assert not [meta for meta in final.metas if meta.place is ElementPosition.NOSCRIPT]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
def test_a_long_body_does_not_change_the_head(tree_builder: str, page: HostilePage) -> None:
    """
    With a body of many tags behind it, the head of a page is the same (growing prefix).

    A page that ends inside a tag, a comment or raw text swallows what is appended: it is left out.
    """
    if page.charset not in (None, "utf-8", "latin1", "windows-1251") or page.data[:1] > b"\xf0":
        return
    appended = page.data + b"<p>x</p>" * 4000
    short, long = (
        read_page(data, charset=page.charset) for data in (page.data + b"<p>x</p>", appended)
    )
    if long.read < len(appended):
        assert [meta for meta in long.metas if meta.place is not ElementPosition.BODY] == [
            meta for meta in short.metas if meta.place is not ElementPosition.BODY
        ]


def test_the_builder_is_the_selected_one(tree_builder: str) -> None:
    """The fixture hides the other builder: the tests above really ran on both."""
    kind = type(find_tree_builder()("", True)).__name__
    assert kind == {"selectolax": "_LexborTree", "justhtml": "_JustHtmlTree"}[tree_builder]
