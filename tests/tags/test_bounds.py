"""How much a tree builder is handed: what is counted, skipped, and not trusted."""

from __future__ import annotations

import pytest

from robotrules.tags.bounds import FEW_TAGS, MOST_DEEP, UNSURE_TAGS, beginning, bounded

MANY = 2 * MOST_DEEP
DEEP = "<div>" * MANY


def is_cut(text: str, scripting: bool = True) -> bool:
    """Whether a text is not handed over as it is."""
    return bounded(text, scripting) < len(text)


@pytest.mark.parametrize(
    "text",
    [
        DEEP,
        "<template>" + DEEP,
        "<div x='" + "'>" + DEEP,
        "<!-- -->" + DEEP,
        "<title></title>" + DEEP,
        "<script><!-- </script>" + DEEP,
        "<b><li></b><b><dd></b>" * MANY,
        "<td><li></td><td><dd></td>" * MANY,
        "<b id=1><p>" * MANY,
        "<div/>" * MANY,
    ],
)
def test_depth_is_cut(text: str) -> None:
    """Open elements are counted, however they are dressed."""
    assert is_cut(text)


@pytest.mark.parametrize(
    "text",
    [
        f"<!-- {DEEP} -->",
        f"<title>{DEEP}</title>",
        f"<script>{DEEP}</script>",
        f"<link title='{DEEP}'>",
        f"<noscript>{DEEP}</noscript>",
        "<p>" * MANY,
        "<li><p>x" * MANY,
        "<ul><li>x<li>y</ul>" * MANY,
        "<dt>x<dd>y" * MANY,
        "<table><tr><td>x<td>y<tr><td>z</table>" * MANY,
        "<table>" + "<tbody><tr><td>x" * MANY,
        "<td><tr>" * MANY,
        "<div><b><i>x</i></b></div>" * MANY,
        "<svg viewBox=x><title>t</title><g><path d='M0'/></g></svg>" * MANY,
        "<select><option>a<option>b</select><textarea>x</textarea>" * MANY,
        "<template><script>x</script></template>" * MANY,
        "<br><img><input><meta>" * MANY,
        "x" * 20_000,
    ],
)
def test_what_is_not_deep_is_whole(text: str) -> None:
    """What is text, or closes itself, does not count."""
    assert not is_cut(text)


def test_noscript_by_scripting() -> None:
    """Without scripting a noscript has elements."""
    assert is_cut(f"<noscript>{DEEP}</noscript>", scripting=False)


@pytest.mark.parametrize(
    "opening",
    [
        "<svg><style>",
        "<svg><foreignObject>",
        "<svg><![CDATA[>",
        "<math><mi>",
        "<frameset>",
        "<plaintext>",
        "<select><title>",
        "<template><col><style>",
        "<script><!--<script></script>",
    ],
)
def test_what_is_not_sure_is_counted(opening: str) -> None:
    """Where a builder might see elements, every sign is one that stays open."""
    text = opening + "<p>x</p>" * MANY + "</title></style></script>"
    length = bounded(text, True)
    assert text[:length].count("<") <= UNSURE_TAGS + 5
    assert text[length] == "<"


def test_the_beginning() -> None:
    """Few tags, few characters, and cut before a sign; a short text is its own beginning."""
    assert beginning("<p>x") == 4
    text = "<p>x" * 1000
    assert text[: beginning(text)].count("<") < FEW_TAGS
    assert text[beginning(text)] == "<"
    assert beginning("x" * 20_000) == 0


def test_a_body_is_enough() -> None:
    """With a number of tags of the body, a text is cut behind as many; a template is no body."""
    text = "<title>x</title><template><p></template>" + "<div></div>" * 20_000
    assert 0 < text[: bounded(text, True, 10)].count("<div>") < 20
    assert bounded("<template>" + "<p></p>" * 5000, True, 10) > 10_000
