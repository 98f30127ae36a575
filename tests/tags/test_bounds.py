"""How much a tree builder is handed: what is counted, skipped, and not trusted."""

from __future__ import annotations

import pytest

from robotrules.tags.bounds import (
    FEW_CHARACTERS,
    FEW_TAGS,
    MOST_ATTRIBUTES,
    MOST_BARE,
    MOST_DEEP,
    UNSURE_TAGS,
    beginning,
    bounded,
)

MANY = 2 * MOST_DEEP
DEEP = "<div>" * MANY
FLAT = "<p>x</p>" * MANY


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
        # End tags of what is not open close nothing.
        "<div></b>" * MANY,
        "<div></template>" * MANY,
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
        "<div>" + "<ul><li><p>x</ul>" * MANY,
        "<div>" + "<template><p>x</template>" * MANY,
        "<table></table>" + "<caption>" * MANY,
        # A `<script` in a comment counts in a script only, and only there.
        "<style><!--<script></style>" + FLAT,
        "<!-- --><script>a<b</script>" + FLAT,
        "<script></script><style>a<b</style>" + FLAT,
        "<script><!-- a<b </script>" + FLAT,
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
        "<script><!--<script><!--</script>",
    ],
)
def test_what_is_not_sure_is_counted(opening: str) -> None:
    """Where a builder might see elements, every sign is one that stays open."""
    text = opening + "<p>x</p>" * MANY + "</title></style></script>"
    length = bounded(text, True)
    assert text[:length].count("<") <= UNSURE_TAGS + 5
    assert text[length] == "<"


def test_every_sign_counts_where_nothing_is_sure() -> None:
    """Two that stand side by side are two."""
    text = "<plaintext>" + "<" * MANY
    assert bounded(text, True) == len("<plaintext>") + UNSURE_TAGS


def test_a_short_text_is_whole() -> None:
    """Few tags in few characters are handed over whatever they are."""
    text = "<div>" * FEW_TAGS
    assert not is_cut(text)
    assert not is_cut(text.ljust(FEW_CHARACTERS))
    assert is_cut(text.ljust(FEW_CHARACTERS + 1))
    assert is_cut(text + "<p>")


def test_formatting_that_is_made_anew() -> None:
    """Each tag costs as many elements as there is open formatting."""
    opened = "<b>" * 400
    # 79,800 for these, and 400 for each tag behind them: the 801st is one too many.
    assert bounded(opened + "<p></p>" * 2000, True) == len(opened + "<p></p>" * 400)
    assert not is_cut(opened + "</b>" * 400 + "<p></p>" * 2000)


def test_attributes_of_a_tag() -> None:
    """The name of the tag counts as one."""
    for count, whole in ((MOST_ATTRIBUTES - 1, True), (MOST_ATTRIBUTES, False)):
        text = FLAT + "<p" + " a=1" * count + ">" + FLAT
        assert bounded(text, True) == (len(text) if whole else len(FLAT))


def test_signs_that_begin_no_tag() -> None:
    """They are counted anywhere; comments and inputs part texts in a table only."""
    assert bounded("< " * 3000, True) == 2 * MOST_BARE
    for part in ("<!-- -->", "<input>"):
        assert not is_cut(part * 3000)
        assert not is_cut("<table></table>" + part * 3000)
        assert bounded("<table>" + part * 3000, True) == len("<table>" + part * MOST_BARE)
        assert is_cut("<table><tr><td><table></table>" + part * 3000)


def test_the_beginning() -> None:
    """Few tags, few characters, and cut before a sign; a short text is its own beginning."""
    assert beginning("<p>x") == 4
    text = "<p>x" * 1000
    assert text[: beginning(text)].count("<") < FEW_TAGS
    assert text[beginning(text)] == "<"
    assert beginning("x" * 20_000) == 0
    assert beginning("x" * FEW_CHARACTERS) == FEW_CHARACTERS
    assert beginning("<p>" * FEW_TAGS) == len("<p>") * FEW_TAGS
    assert beginning("x<p>" + "x" * 20_000) == 1


def test_a_body_is_enough() -> None:
    """With a number of tags of the body, a text is cut behind as many; a template is no body."""
    text = "<title>x</title><template><p></template>" + "<div></div>" * 20_000
    assert 0 < text[: bounded(text, True, 10)].count("<div>") < 20
    assert bounded("<template>" + "<p></p>" * 5000, True, 10) > 10_000
