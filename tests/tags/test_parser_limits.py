"""How much a tree builder is handed: what is counted, skipped, and not trusted."""

from __future__ import annotations

import pytest

from robotrules.tags.parser_limits import (
    FEW_CHARACTERS,
    FEW_TAGS,
    MAX_ATTRIBUTES,
    MAX_BARE,
    MAX_DEPTH,
    MAX_FORMATTING,
    MAX_NAMES,
    UNSURE_TAGS,
    safe_length,
    unchecked_length,
)

MANY = 2 * MAX_DEPTH
DEEP = "<div>" * MANY
FLAT = "<p>x</p>" * MANY


def is_cut(text: str, scripting: bool = True) -> bool:
    """Whether a text is not handed over as it is."""
    return safe_length(text, scripting) < len(text)


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
        # End tags of elements that are not open have no effect.
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


@pytest.mark.parametrize("tags", ["<div>", "<table><td>", "<template><td>"])
def test_depth_is_exact(tags: str) -> None:
    """Every tag of these opens an element, and one more than the cap is handed over."""
    text = tags * MANY
    assert text[: safe_length(text, True)].count("<") == MAX_DEPTH + 1


def test_cuts_are_exact() -> None:
    """The number of tags, and of formatting elements that are made anew, may be reached."""
    assert safe_length("<br>" * MANY, True, None, FEW_TAGS) == len("<br>") * FEW_TAGS
    # 7,750 for the open ones themselves, and 125 for each tag behind them.
    opened, tags = "<b>" * 125, (MAX_FORMATTING - 7_750) // 125
    assert safe_length(opened + "<br>" * 5000, True) == len(opened + "<br>" * tags)


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
    length = safe_length(text, True)
    assert text[:length].count("<") <= UNSURE_TAGS + 5
    assert text[length] == "<"


def test_every_sign_counts_in_uncertain_text() -> None:
    """Two adjacent ones are two."""
    text = "<plaintext>" + "<" * MANY
    assert safe_length(text, True) == len("<plaintext>") + UNSURE_TAGS


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
    assert safe_length(opened + "<p></p>" * 2000, True) == len(opened + "<p></p>" * 400)
    assert not is_cut(opened + "</b>" * 400 + "<p></p>" * 2000)


def test_attributes_of_a_tag() -> None:
    """The name of the tag counts as one."""
    for count, whole in ((MAX_ATTRIBUTES - 1, True), (MAX_ATTRIBUTES, False)):
        text = FLAT + "<p" + " a=1" * count + ">" + FLAT
        assert safe_length(text, True) == (len(text) if whole else len(FLAT))


def with_attributes(count: int, each: int = 1) -> str:
    """Return tags that have so many attributes in all, no two of one name."""
    names = [f"a{number}" for number in range(count)]
    return "".join(f"<br {' '.join(names[at : at + each])}>" for at in range(0, count, each))


def test_names_of_tags() -> None:
    """They are counted from the first on, without case."""
    text = "".join(f"<link><n{number}></N{number}><LINK>" for number in range(MAX_NAMES))
    assert text[: safe_length(text, True)].endswith(f"</N{MAX_NAMES - 2}><LINK><link>")


@pytest.mark.parametrize(
    "tag", ["<br a{}>", "<br\ta{}='x y'/>", "<br a{} >", "<br\f={}>", "<br a\xa0{}=1>"]
)
def test_names_of_attributes(tag: str) -> None:
    """Behind the first tags each counts, whatever it is made of; that of the tag is another."""
    text = "".join(tag.format(number) for number in range(FEW_TAGS + 2 * MAX_NAMES))
    assert text[: safe_length(text, True)].count("<") == FEW_TAGS + MAX_NAMES - 1


@pytest.mark.parametrize(
    "tag", ["<br a>", "<br a={}>", "<br a = {}>", "<br a\n=\n'{}'>", "<br a={}={}/>"]
)
def test_equal_names(tag: str) -> None:
    """Values do not count, nor does the text around a name."""
    text = "".join(tag.format(number, number) for number in range(FEW_TAGS + MAX_NAMES))
    text += with_attributes(MAX_NAMES - 2)
    assert not is_cut(text)
    assert is_cut(text + "<hr>")


def test_what_has_no_attributes() -> None:
    """Whatever a tag ends with, its name is not taken for an attribute."""
    text = "<br></br><br/><br /></br >" * FEW_TAGS
    text += with_attributes(MAX_NAMES - 1)
    assert not is_cut(text)
    assert is_cut(text + "<br x>")


def test_names_in_the_first_characters() -> None:
    """Attributes of a tag that ends within them do not count; those of the next do."""
    near, far = "<br x>".rjust(FEW_CHARACTERS), with_attributes(MAX_NAMES - 1, 250)
    assert not is_cut(near + far)
    assert safe_length(near + far + "<br y>", True) == len(near + far)
    assert safe_length(" " + near + far, True) == 1 + len(near) + far.rfind("<")


@pytest.mark.parametrize("name", ["html", "BODY"])
def test_attributes_of_tags_that_are_merged(name: str) -> None:
    """Those of every further `html` and `body` are counted, from the first tag on, all together."""
    text = f"<{name} a=1 b>" * (MAX_ATTRIBUTES // 2)
    text += f"<{name}></{name}><{name} /></{name} >" * FEW_TAGS
    assert not is_cut(text)
    assert safe_length(text + f"<{name} a>", True) == len(text)


def test_signs_that_begin_no_tag() -> None:
    """They are counted anywhere; comments and inputs part texts in a table only."""
    assert safe_length("< " * 3000, True) == 2 * MAX_BARE
    for part in ("<!-- -->", "<input>"):
        assert not is_cut(part * 3000)
        assert not is_cut("<table></table>" + part * 3000)
        assert safe_length("<table>" + part * 3000, True) == len("<table>" + part * MAX_BARE)
        assert is_cut("<table><tr><td><table></table>" + part * 3000)


def test_the_beginning() -> None:
    """Few tags, few characters, and cut before a sign; a short text is its own beginning."""
    assert unchecked_length("<p>x") == 4
    text = "<p>x" * 1000
    assert text[: unchecked_length(text)].count("<") < FEW_TAGS
    assert text[unchecked_length(text)] == "<"
    assert unchecked_length("x" * 20_000) == 0
    assert unchecked_length("x" * FEW_CHARACTERS) == FEW_CHARACTERS
    assert unchecked_length("<p>" * FEW_TAGS) == len("<p>") * FEW_TAGS
    assert unchecked_length("x<p>" + "x" * 20_000) == 1


def test_a_body_is_enough() -> None:
    """With a number of tags of the body, a text is cut after them; a template is not a body."""
    text = "<title>x</title><template><p></template>" + "<div></div>" * 20_000
    assert 0 < text[: safe_length(text, True, 10)].count("<div>") < 20
    assert safe_length("<template>" + "<p></p>" * 5000, True, 10) > 10_000


def test_tags_of_a_body_are_counted_behind_the_first() -> None:
    """The first ends the head; then the requested number of tags is passed on."""
    text = "<link>" * 10 + "<div>" + "<br>" * FEW_TAGS
    assert safe_length(text, True, 10) == len("<link>" * 10 + "<div>" + "<br>" * 10)
