"""Trees: both tree builders read a noscript in the head alike (HTML Standard 13.2.6.4.5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.tags import read_page
from robotrules.tags.html import FIRST_PREFIX, ElementPosition
from robotrules.tags.tree_builders import find_tree_builder as chosen_builder
from robotrules.tags.tree_builders import remove_ignored_end_tags
from tests.tags.builders import BUILDERS, only

META = "<meta name=robots content=noindex>"
PIECES = (
    *("<noscript>", "<noscript>", "</noscript>", "</head>", "</body>", "</html>", "</p>", "</foo>"),
    *(META, META, META.replace("noindex", "none"), "<link>", "<style></body></style>", "<!--x-->"),
    *("<title></body></title>", "<noframes></body></noframes>", "<head>", "<html>", "<body>"),
    *("<p>", " ", "x", "<", "<template>", "</template>", "<img alt='</body>'>"),
    "<script>a</script>",
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<noscript></body>", "<noscript>"),
        ("<NoScript a='>'></Body x></html\n></head>", "<NoScript a='>'>"),
        ("<noscript> <!--</body>--></body>", "<noscript> <!--</body>-->"),
        ("<noscript><meta content='</body>'></body>", "<noscript><meta content='</body>'>"),
        ("<noscript><style></body></style></body>x", "<noscript><style></body></style>x"),
        ("<noscript><style></body>", "<noscript><style></body>"),
        ("<noscript></p></body>", "<noscript></p>"),
        ("<noscript></noscript></body>", None),
        ("<noscript></br></body>", None),
        ("<noscript>x</body>", None),
        ("<noscript>\xa0</body>", None),
        ("<noscript><</body>", None),
        ("<noscript><p></body>", None),
        ("<script>'<noscript>'</script></body>", None),
        ("<p title='<noscript></body>'>", None),
        ("<!--<noscript>--></body>", None),
        ("</body>", None),
        ("<noscript></bodyx>", None),
        ("", None),
    ],
)
def test_end_tags_that_are_ignored(text: str, kept: str | None) -> None:
    """They are removed where they have no meaning, and only there."""
    assert remove_ignored_end_tags(text) == (text if kept is None else kept)


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_both_builders(text: str) -> None:
    """Which elements are in the head, and which of them only without scripting, is the same."""
    page = f"<head><noscript>{text}"
    places = []
    for name in BUILDERS:
        pytest.importorskip(name)
        with only(name):
            metas = read_page(page).metas
        places.append([(meta.content, meta.place) for meta in metas])
    assert places[0] == places[1]


@pytest.mark.parametrize("builder", BUILDERS)
def test_noindex_behind_an_end_of_the_body(builder: str) -> None:
    """The element is in the head for whoever runs no scripts, and so it counts."""
    pytest.importorskip(builder)
    with only(builder):
        [meta] = read_page(f"<noscript></body>{META}").metas
    assert (meta.content, meta.place) == ("noindex", "noscript")


@pytest.mark.usefixtures("tree_builder")
class TestBuilders:
    """Behaviour of both builders."""

    def test_frames(self) -> None:
        """A frameset is in place of the body, so the head ends."""
        page = read_page(f"<head>{META}</head><frameset>" + "<frame src=x>" * 10_000)
        assert [meta.place for meta in page.metas] == [ElementPosition.HEAD]
        assert (page.is_final, page.read) == (True, FIRST_PREFIX)

    def test_a_second_byte_order_mark(self) -> None:
        """The first is not part of the text, another is text of the body."""
        assert [meta.place for meta in read_page(f"\ufeff{META}").metas] == [ElementPosition.HEAD]
        assert [meta.place for meta in read_page(f"\ufeff\ufeff{META}").metas] == [
            ElementPosition.BODY
        ]

    def test_texts_of_the_outermost_elements(self) -> None:
        """However deep others are in them; in the order of the document."""
        tree = chosen_builder()(
            "<div hidden>a<p><i><b hidden>b</b></i></p><b hidden>c</b></div><b>d</b>"
            "<p><i><b hidden>e</b></i></p><p><i><b hidden>f<script>x</script></b></i></p>",
            True,
        )
        assert tree.texts(["div", "b"], "hidden") == ["abc", "e", "f"]

    def test_elements_of_the_head(self) -> None:
        """Children of the head alone, with their attributes."""
        tree = chosen_builder()(
            "<head><base><link rel=a><meta><link rel=b href><noscript><link rel=c></noscript>"
            "</head><body><link rel=d>",
            False,
        )
        assert [dict(one) for one in tree.in_head("base")] == [{}]
        found = [{name: value or "" for name, value in one.items()} for one in tree.in_head("link")]
        assert found == [{"rel": "a"}, {"rel": "b", "href": ""}]
        assert tree.in_head("title") == []


def test_no_element_occurs_twice() -> None:
    """A `selectedcontent` shows a copy of an option; in selectolax the copy is turned off."""
    pytest.importorskip("selectolax")
    option = f"<button><selectedcontent></selectedcontent></button><option selected>{META}"
    with only("selectolax"):
        page = read_page(f"<body><select>{option}</select>", whole=True)
    assert len(page.metas) == 1
