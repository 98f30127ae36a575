"""Trees: both tree builders read a noscript in the head alike (HTML Standard 13.2.6.4.5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.tags import read_page
from robotrules.tags.trees import without_ignored_ends
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
    """They go where they mean nothing, and nothing else does."""
    assert without_ignored_ends(text) == (text if kept is None else kept)


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
