"""data-nosnippet (XRT-19)."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.tags.html import MIN_HTML_BYTES, nosnippet_texts

pytestmark = pytest.mark.usefixtures("tree_builder")


@pytest.mark.parametrize("name", ["span", "div", "section", "DIV"])
@pytest.mark.parametrize("value", ["", "=''", "=false", "='0'", "=true"])
def test_any_value_counts(name: str, value: str) -> None:
    """It is a boolean attribute of three elements."""
    assert nosnippet_texts(f"a<{name} data-nosnippet{value}>b</{name}>c") == ("b",)
    assert nosnippet_texts(f"a<{name} DATA-NOSNIPPET{value}>b</{name}>c") == ("b",)


@pytest.mark.parametrize("name", ["p", "a", "article", "body", "td", "x-span", "spans"])
def test_no_effect_on_other_elements(name: str) -> None:
    """Other elements do not have this attribute."""
    assert nosnippet_texts(f"<{name} data-nosnippet>b</{name}>") == ()
    assert nosnippet_texts(f"<{name}><div data-nosnippetx>b</div></{name}>") == ()


def test_the_outermost_element_counts() -> None:
    """A marked element in a marked one is not a second text; in an unmarked one it is."""
    assert nosnippet_texts(
        "<div data-nosnippet>a<span data-nosnippet>b</span>c</div>"
        "<div>d<section data-nosnippet>e</section></div>"
    ) == ("abc", "e")


def test_text_as_it_is_shown() -> None:
    """White space is one space; hidden content is not text."""
    assert nosnippet_texts(
        "<div data-nosnippet>\n a\t<b>b</b>\n<!--c--><script>d</script><style>e</style>"
        "<template>f</template><noscript>g</noscript>&amp;  </div>"
    ) == ("a b &",)


def test_content_that_is_not_text() -> None:
    """Comments, scripts, templates; and an element without text has none."""
    inner = "<div data-nosnippet>a</div>"
    assert nosnippet_texts(f"<!--{inner}--><template>{inner}</template>") == ()
    assert nosnippet_texts(f"<script>'{inner}'</script><textarea>{inner}</textarea>") == ()
    assert nosnippet_texts("<div data-nosnippet> <img></div>") == ()


def test_open_elements() -> None:
    """An element that is not closed continues to the end of its parent."""
    assert nosnippet_texts("<p><span data-nosnippet>a<p>b") == ("a",)
    assert nosnippet_texts("<div data-nosnippet>a<p>b") == ("ab",)


def test_octets_and_limit() -> None:
    """Octets are decoded as for metas, and only the limit is read."""
    marked = b"<div data-nosnippet>\xe9</div>"
    assert nosnippet_texts(marked) == ("\u00e9",)
    assert nosnippet_texts(marked, charset="windows-1251") == ("\u0439",)
    assert nosnippet_texts(marked.rjust(MIN_HTML_BYTES), limit=MIN_HTML_BYTES) == ("\u00e9",)
    assert nosnippet_texts(marked + b" " * MIN_HTML_BYTES + marked, limit=MIN_HTML_BYTES) == (
        "\u00e9",
    )


def test_hostile_nesting_is_cut() -> None:
    """What comes before it is found."""
    document = "<span data-nosnippet>a</span>" + "<div data-nosnippet>" * 100_000
    assert nosnippet_texts(document) == ("a",)


@pytest.mark.parametrize("thing", [5, None, ["x"]])
def test_misuse(thing: Any) -> None:
    """Octets or text, at least 8 KiB of them."""
    with pytest.raises(TypeError, match="bytes or str"):
        nosnippet_texts(thing)
    with pytest.raises(ValueError, match="at least"):
        nosnippet_texts("", limit=1)


def test_scripting_is_on() -> None:
    """The content of a noscript is text, at any depth."""
    marked = "<span data-nosnippet>x</span>"
    assert nosnippet_texts(f"<noscript>{marked}</noscript>") == ()
    assert nosnippet_texts(f"<body><noscript>{'<div>' * 1000}</noscript>{marked}") == ("x",)


def test_other_types() -> None:
    """Only octets and text are read."""
    with pytest.raises(TypeError) as told:
        nosnippet_texts(5)  # type: ignore[arg-type]
    assert str(told.value) == "HTML comes as bytes or str, not as int"
