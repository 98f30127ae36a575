"""The picture: well-formed XML without active content, with all information."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import parse
from robotrules.matrix import matrix
from robotrules.matrix.svg import MAX_ROWS, picture
from robotrules.matrix.text import FOOTNOTE, headline
from tests.matrix.test_html import BODY, NASTY

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {"svg", "title", "desc", "style", "rect", "path", "text", "tspan", "g"}


def read(text: str) -> ElementTree.Element:
    """Parse a picture as XML."""
    return ElementTree.fromstring(text.encode("utf-8"))


def words(root: ElementTree.Element) -> list[str]:
    """Return the texts of a picture."""
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def test_the_drawing() -> None:
    """Title, bands, names, paths, a mark for each cell with its reason, and the footnote."""
    found = matrix(parse(BODY), url="news.example")
    root = read(picture(found, date="16 November 2026"))
    texts = words(root)
    assert texts[:3] == [
        "Who may fetch what",
        "What news.example asks of crawlers, 16 November 2026",
        headline(found),
    ]
    for column in found.columns:
        assert column.path in texts
    for band in found.bands:
        assert any(text.startswith(band.title) for text in texts)
    for asked in found.rows:
        assert any(text.startswith(asked.name) for text in texts)
    titles = [node.text or "" for node in root.iter(f"{SVG}title")][1:]
    cells = [(asked, cell) for asked in found.rows for cell in asked.cells]
    assert len(titles) == len(cells)
    for title, (asked, cell) in zip(titles, cells, strict=True):
        assert title.startswith(f"{asked.name} and {cell.path}: {cell.verdict}")
    assert FOOTNOTE in " ".join(texts)


def test_shapes_and_colours_say_the_same() -> None:
    """A tick in blue, a cross in vermilion: one for each verdict, and two in the legend."""
    found = matrix(parse(BODY))
    text = picture(found)
    verdicts = [cell.allowed for asked in found.rows for cell in asked.cells]
    assert text.count('class="m ym"') == verdicts.count(True) + 1
    assert text.count('class="m nm"') == verdicts.count(False) + 1


def test_badges_are_explained() -> None:
    """Controls and retired names have badges, and the foot explains them only then."""
    texts = words(read(picture(matrix(parse(BODY)))))
    assert "Google-ExtendedGooglecontrol" in texts
    assert "anthropic-aiAnthropicretired" in texts
    foot = " ".join(texts)
    assert "control: fetches nothing; controls the use of what other crawlers fetch." in foot
    assert "retired: no crawler uses this name any more." in foot
    plain = " ".join(words(read(picture(matrix(parse(BODY), crawlers=["GPTBot"])))))
    assert "retired" not in plain
    assert "fetches nothing" not in plain


def test_the_picture_is_self_contained() -> None:
    """No script, no link, no font; light and dark are in its own style."""
    text = picture(matrix(parse(BODY), url="news.example"))
    root = read(text)
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= DRAWN
    names = {name for node in root.iter() for name in node.attrib}
    assert not [name for name in names if "href" in name or name.startswith("on")]
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]
    assert "prefers-color-scheme:dark" in text
    assert root.attrib["role"] == "img"


def test_everything_is_inside() -> None:
    """No text starts beyond the edge, and nothing is drawn below it."""
    root = read(picture(matrix(parse(BODY), all_crawlers=True)))
    wide, tall = int(root.attrib["width"]), int(root.attrib["height"])
    for node in root.iter(f"{SVG}text"):
        assert float(node.attrib.get("x", 0)) < wide
        assert float(node.attrib.get("y", 0)) < tall


def test_the_picture_of_the_documentation_is_current() -> None:
    """`robotrules matrix examples/matrix.txt --title harbour-post.example --svg …` makes it."""
    body = (ROOT / "examples" / "matrix.txt").read_bytes()
    drawn = picture(matrix(parse(body), url="harbour-post.example"))
    shown = ROOT / "docs" / "pictures" / "matrix.svg"
    assert shown.read_text(encoding="utf-8") == drawn


def test_long_names_are_folded() -> None:
    """Over three lines at most, and the line below makes room."""
    name = "An-extraordinarily-long-name-of-a-crawler-that-nobody-would-choose-but-somebody-did"
    root = read(picture(matrix(parse(f"User-agent: {name}\nDisallow: /"))))
    texts = words(root)
    at = texts.index("An-extraordinarily-long-")
    assert "".join(texts[at : at + 3]) == name[: len("".join(texts[at : at + 3]))]
    assert all(len(text) <= 28 for text in texts[at : at + 3])
    heights = [int(node.attrib.get("y", 0)) for node in root.iter(f"{SVG}text")]
    below = next(y for y, text in zip(heights, texts, strict=True) if text.startswith("Everyone"))
    mark = heights[at + 3]  # the summary of that line is centred
    assert heights[at] < mark < heights[at + 2] < below - 30


def test_many_rows_are_not_drawn() -> None:
    """A picture of hundreds of rows is cut, and states this."""
    letters = "abcdefghij"
    body = "".join(f"User-agent: x{a}{b}\n" for a in letters for b in letters) + "Disallow: /"
    found = matrix(parse(body), all_crawlers=True)
    more = len(found.rows) - MAX_ROWS
    assert more > 0
    assert f"{more} more crawlers are not drawn." in words(read(picture(found)))


@pytest.mark.parametrize("nasty", NASTY)
def test_hostile_text_is_text(nasty: str) -> None:
    """In a name, a path, and in the name of the file."""
    body = f"User-agent: {nasty}\nDisallow: /{nasty}"
    text = picture(matrix(parse(body), url=nasty, paths=["/", f"/{nasty}"]), date=nasty)
    assert {node.tag.removeprefix(SVG) for node in read(text).iter()} <= DRAWN


@given(body=st.binary(max_size=200), name=st.text(max_size=20))
def test_well_formed_for_any_file(body: bytes, name: str) -> None:
    """XML allows no control characters and no lone surrogates."""
    robots = parse(b"User-agent: x\nDisallow: /y\nUser-agent: " + body, "google")
    read(picture(matrix(robots, url=name)))
