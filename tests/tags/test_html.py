"""HTML to a page: places, prefixes, limits, streams, misuse; the hostile pages are in their own."""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from robotrules.errors import MissingExtraError, RobotrulesError
from robotrules.tags import html
from robotrules.tags.html import (
    FIRST_PREFIX,
    MAX_HTML_BYTES,
    MAX_IN_BODY,
    MIN_HTML_BYTES,
    ElementPosition,
    Meta,
    Page,
    PageReader,
    read_page,
)
from robotrules.tags.parser_limits import MAX_ATTRIBUTES, MAX_DEPTH
from robotrules.tags.tree_builders import Tree, find_tree_builder
from tests.tags.builders import only

NOINDEX = "<meta name=robots content=noindex>"
HEAD = f"<!doctype html><html><head><meta charset=utf-8><title>x</title>{NOINDEX}</head>"
PARAGRAPH = "<p class='a b'>Some <a href=/x>text</a>.</p>\n"
NOSCRIPT_PIXEL = "<noscript><img src=x.gif></noscript>"

pytestmark = pytest.mark.usefixtures("tree_builder")


def said(page: Page) -> list[tuple[str | None, str]]:
    """Contents and places."""
    return [(meta.content, meta.place.value) for meta in page.metas]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The length of every text that was handed to the tree builder."""
    lengths: list[int] = []

    def counting() -> Any:
        build = find_tree_builder()

        def counted(text: str, scripting: bool) -> Tree:
            lengths.append(len(text))
            return build(text, scripting)

        return counted

    monkeypatch.setattr(html, "find_tree_builder", counting)
    return lengths


class TestMetas:
    """What a meta is here."""

    def test_attributes_of_elements(self) -> None:
        """Every attribute that may be intended as a rule; None: it is missing."""
        page = read_page(
            "<meta name=robots content='NoIndex '><meta http-equiv=X-Robots-Tag content>"
            "<meta property=a itemprop=b>"
        )
        assert page.metas == (
            Meta("robots", "NoIndex ", None, None, None, ElementPosition.HEAD, 1),
            Meta(None, "", "X-Robots-Tag", None, None, ElementPosition.HEAD, 2),
            Meta(None, None, None, "a", "b", ElementPosition.HEAD, 3),
        )

    def test_numbers_count_every_meta(self) -> None:
        """The position is among all meta elements, those in a noscript and in the body too."""
        page = read_page(f"<meta charset=utf-8><noscript>{NOINDEX}</noscript>{NOINDEX}<p>{NOINDEX}")
        assert [(meta.place, meta.element) for meta in page.metas] == [
            (ElementPosition.HEAD, 1),
            (ElementPosition.NOSCRIPT, 2),
            (ElementPosition.HEAD, 3),
            (ElementPosition.BODY, 4),
        ]

    def test_the_final_dom_has_scripting(self) -> None:
        """In a final DOM a noscript is text (AMB-88)."""
        document = f"<head><noscript>{NOINDEX}</noscript>"
        assert said(read_page(document)) == [("noindex", "noscript")]
        assert said(read_page(document, final_dom=True)) == []

    def test_a_pixel_in_a_noscript(self) -> None:
        """A meta after a noscript with an image is in the head if scripting is on."""
        document = f"<head>{NOSCRIPT_PIXEL}{NOINDEX}<p>x"
        assert said(read_page(document)) == [("noindex", "head")]

    def test_a_body_has_some_hundreds(self) -> None:
        """Metas without a name are bounded in the body, others are not."""
        nameless = "<meta itemprop=x content=y>"
        page = read_page(nameless * 700 + "<p>" + nameless * 700 + NOINDEX, whole=True)
        places = [meta.place for meta in page.metas]
        assert places.count(ElementPosition.HEAD) == 700
        assert places.count(ElementPosition.BODY) == MAX_IN_BODY + 1
        assert page.metas[-1].element == 1401


class TestThePrefix:
    """Only as much is parsed as is needed."""

    def test_a_long_page_costs_its_head(self, parsed: list[int]) -> None:
        """Two million octets of body are not looked at."""
        page = read_page((HEAD + PARAGRAPH * 50_000).encode())
        assert said(page) == [(None, "head"), ("noindex", "head")]
        assert (page.is_final, page.read) == (True, FIRST_PREFIX)
        assert sum(parsed) <= FIRST_PREFIX

    def test_a_long_head_costs_itself(self, parsed: list[int]) -> None:
        """A head of 200 KB is parsed in three steps, each four times the one before."""
        script = "<script>" + "x = 1 < 2; // <p>\n" * 10_000 + "</script>"
        page = read_page((f"<head>{script}{NOINDEX}</head>" + PARAGRAPH * 50_000).encode())
        assert said(page) == [("noindex", "head")]
        assert (page.is_final, page.read) == (True, 16 * FIRST_PREFIX)
        assert sum(parsed) <= 22 * FIRST_PREFIX

    @pytest.mark.parametrize("letter", ["x", " ", "<", "-", "<!", "\0"])
    @pytest.mark.parametrize("opening", ["", "<!--", "<title>", "<a title='", "<template>"])
    def test_unfinished_markup_is_parsed_a_few_times(
        self, parsed: list[int], opening: str, letter: str
    ) -> None:
        """An unfinished comment, tag or title does not restart the parser each time."""
        limit = 16 * FIRST_PREFIX
        page = read_page(opening + letter * 2 * limit, limit=limit)
        assert page.read <= limit
        assert sum(parsed) <= 1.5 * limit

    def test_both_ways_where_there_is_a_noscript(self, parsed: list[int]) -> None:
        """Twice the cost, and only if the parsed part contains a noscript."""
        read_page(HEAD + PARAGRAPH)
        assert len(parsed) == 1
        read_page(HEAD + PARAGRAPH * 1000 + NOSCRIPT_PIXEL)
        assert len(parsed) == 2
        read_page(HEAD + NOSCRIPT_PIXEL + PARAGRAPH)
        assert len(parsed) == 4
        read_page(HEAD + NOSCRIPT_PIXEL + PARAGRAPH, final_dom=True)
        assert len(parsed) == 5

    def test_each_way_goes_on_until_it_is_final(self) -> None:
        """Without scripting the pixel ends the head; with it the head goes on for 100 KB more."""
        filler = f"<style>{'x' * 100_000}</style>"
        page = read_page(
            f"<head><noscript>{NOINDEX}</noscript>{NOSCRIPT_PIXEL}{filler}"
            f"<meta name=robots content=nosnippet></head>{PARAGRAPH * 20_000}"
        )
        assert said(page) == [("noindex", "noscript"), ("nosnippet", "head")]
        assert page.is_final

    def test_whole_reads_the_body(self) -> None:
        """For a profile that counts metas anywhere (AMB-87)."""
        document = HEAD + PARAGRAPH * 1000 + NOINDEX
        assert said(read_page(document))[-1] == ("noindex", "head")
        page = read_page(document, whole=True)
        assert said(page)[-1] == ("noindex", "body")
        assert (page.is_final, page.read) == (True, len(document))


class TestTheLimit:
    """Never more than the limit is looked at or kept."""

    def test_a_head_beyond_it(self) -> None:
        """Elements after the limit are not read, and the page is marked as not final."""
        filler = f"<style>{'x' * MIN_HTML_BYTES}</style>"
        page = read_page(f"{NOINDEX}{filler}{NOINDEX}<p>", limit=MIN_HTML_BYTES)
        assert said(page) == [("noindex", "head")]
        assert (page.is_final, page.read) == (False, MIN_HTML_BYTES)

    @pytest.mark.parametrize("more", [-1, 0, 1])
    def test_to_the_octet(self, more: int) -> None:
        """A document that ends at the limit is whole; one octet more is not."""
        document = NOINDEX.encode().ljust(MIN_HTML_BYTES + more)
        page = read_page(document, limit=MIN_HTML_BYTES)
        assert page.is_final is (more <= 0)
        assert page.read == min(len(document), MIN_HTML_BYTES)
        assert read_page(iter([document]), limit=MIN_HTML_BYTES) == page
        assert read_page(document, limit=MIN_HTML_BYTES, whole=True) == page

    def test_whole_is_not_final_where_it_is_cut(self) -> None:
        """For the whole, final means that the document was read to its end."""
        document = HEAD + PARAGRAPH * 1000
        assert read_page(document, limit=MIN_HTML_BYTES).is_final
        assert not read_page(document, limit=MIN_HTML_BYTES, whole=True).is_final

    @pytest.mark.parametrize("character", ["\u00e9", "\u20ac", "\U0001f600"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "gb18030"])
    def test_half_a_character_at_it(self, encoding: str, character: str) -> None:
        """A character that the limit cuts does no harm."""
        label = encoding.replace("16-", "16")
        for shift in range(4):
            filler = f"<title>{'x' * shift}{character * MIN_HTML_BYTES}"
            page = read_page(
                (NOINDEX + filler).encode(encoding), charset=label, limit=MIN_HTML_BYTES
            )
            assert said(page) == [("noindex", "head")]

    def test_below_what_must_be_read(self) -> None:
        """At least 8 KiB: less is misuse (AMB-92)."""
        with pytest.raises(ValueError, match="at least 8192"):
            read_page("", limit=MIN_HTML_BYTES - 1)


class TestHostile:
    """Bounded in time and memory, whatever comes; these would take minutes or gigabytes."""

    @pytest.mark.parametrize("opening", ["<head>", "<head><template>", "<body>"])
    @pytest.mark.parametrize("whole", [False, True])
    def test_nesting(self, parsed: list[int], opening: str, whole: bool) -> None:
        """A hundred thousand deep: cut where a browser caps a tree."""
        document = NOINDEX + opening + "<div>" * 100_000
        page = read_page(document, whole=whole)
        assert said(page) == [("noindex", "head")]
        assert max(parsed) <= len(NOINDEX) + 20 + 5 * 2 * MAX_DEPTH
        # In a template the head may go on, and in the body it cannot.
        assert page.is_final is (not whole and "template" not in opening)

    @pytest.mark.parametrize("whole", [False, True])
    def test_formatting_made_anew(self, parsed: list[int], whole: bool) -> None:
        """Open formatting elements, all different, that every paragraph would have again."""
        filler = f"<style>{'x' * 2 * FIRST_PREFIX}</style>"
        document = filler + "".join(f"<b id={n}><p>" for n in range(100_000))
        page = read_page(document, whole=whole)
        assert page.is_final is not whole
        assert max(parsed) < len(filler) + 40 * MAX_DEPTH

    def test_attributes_without_end(self, parsed: list[int]) -> None:
        """A hundred thousand attributes of one tag, each compared with all before it."""
        names = " ".join(f"a{n}" for n in range(200_000))
        page = read_page(f"{NOINDEX}<link {names}>{NOINDEX}")
        assert said(page) == [("noindex", "head")]
        assert not page.is_final
        assert max(parsed) <= FIRST_PREFIX
        names = " ".join(f"a{n}" for n in range(MAX_ATTRIBUTES - 1))
        assert read_page(f"<link {names}>{NOINDEX}").is_final

    def test_a_long_attribute(self) -> None:
        """Ten million characters in one value: not final, and one of one million is read."""
        assert read_page(f"{NOINDEX}<meta content='{'x' * 10_000_000}'>{NOINDEX}").metas == (
            read_page(NOINDEX).metas
        )
        page = read_page(f"<meta content='{'x' * 1_000_000}'>{NOINDEX}<p>")
        assert len(page.metas) == 2

    @pytest.mark.slow
    def test_metas_without_end(self) -> None:
        """As many as there is room for."""
        page = read_page("<meta>" * 100_000)
        assert len(page.metas) == 100_000
        assert page.is_final

    def test_fifty_million_spaces(self, parsed: list[int]) -> None:
        """Only the limit is looked at."""
        page = read_page(b" " * 50_000_000)
        assert (page.metas, page.is_final, page.read) == ((), False, MAX_HTML_BYTES)
        assert sum(parsed) == 0

    @pytest.mark.parametrize(
        "piece",
        ["<a href=%>", "<table>", "<select><option>", "<svg>", "<math>", "</p>", "<font %>x</p>"],
    )
    def test_other_pieces_without_end(self, piece: str) -> None:
        """Tables, drawings, end tags that make paragraphs, with and without the whole."""
        document = NOINDEX + "<body>" + "".join(piece.replace("%", str(n)) for n in range(60_000))
        for whole in (False, True):
            assert said(read_page(document, whole=whole)) == [("noindex", "head")]

    @pytest.mark.slow
    def test_usual_pages_are_not_cut(self) -> None:
        """Lists, tables and paragraphs without end tags, drawings, scripts: all of it is read."""
        once = (
            "<ul><li>a<li><b>b</b><p>c</ul><table><tr><td>a<td>b<tr><th>c</table>"
            "<dl><dt>a<dd>b</dl><p>a<p>b<br><img src=x><select><option>a<option>b</select>"
            "<svg viewBox='0 0 1 1'><title>x</title><g><path d='M0'/></g></svg>"
            "<script>if (a < b) { x = '<div><div>' }</script><!-- <div> --><input value='<div>'>"
        )
        page = read_page(HEAD + once * 2000 + NOINDEX, whole=True)
        assert page.is_final
        assert said(page)[-1] == ("noindex", "body")

    @pytest.mark.parametrize("text", ["\ud800", "\udfff<p>", "\ud83d\ude00", "\ufeff"])
    def test_text_that_no_encoding_has(self, text: str) -> None:
        """A lone surrogate becomes U+FFFD, a pair is its character, a mark is removed."""
        page = read_page(f"<meta name='{text}'>")
        shown = {"\ud800": "\ufffd", "\udfff<p>": "\ufffd<p>", "\ud83d\ude00": "\U0001f600"}
        assert page.metas[0].name == shown.get(text, text)
        assert read_page(f"\ufeff{NOINDEX}").metas[0].place is ElementPosition.HEAD


class Watched(io.BytesIO):
    """A file that records how far it was read."""


class TestStreams:
    """Reading stops when the head is final."""

    def chunks(self, taken: list[int]) -> Iterator[bytes]:
        """A long document, a kilobyte at a time."""
        document = (HEAD + PARAGRAPH * 10_000).encode()
        for at in range(0, len(document), 1024):
            taken.append(at)
            yield document[at : at + 1024]

    def test_chunks_are_not_pulled_behind_it(self) -> None:
        """Sixteen chunks of a kilobyte, and no more."""
        taken: list[int] = []
        page = read_page(self.chunks(taken))
        assert said(page)[-1] == ("noindex", "head")
        assert len(taken) == FIRST_PREFIX // 1024

    def test_files_are_not_read_behind_it(self) -> None:
        """Binary and text."""
        document = HEAD + PARAGRAPH * 10_000
        binary, text = Watched(document.encode()), io.StringIO(document)
        assert read_page(binary).metas == read_page(text).metas == read_page(document).metas
        assert binary.tell() == text.tell() == FIRST_PREFIX

    def test_files_end(self) -> None:
        """A short file is read to its end, an empty one too."""
        assert said(read_page(io.StringIO(NOINDEX))) == [("noindex", "head")]
        assert said(read_page(io.BytesIO(NOINDEX.encode()))) == [("noindex", "head")]
        assert read_page(io.BytesIO()) == Page((), None, True, 0)
        assert read_page(iter(())) == Page((), None, True, 0)

    def test_feed_returns_whether_it_is_done(self) -> None:
        """feed() is True once no more input is needed, and stays so."""
        reader = PageReader()
        assert not reader.feed(HEAD.encode())
        assert reader.feed((PARAGRAPH * 1000).encode())
        assert reader.feed(b"<meta name=robots content=none>")
        assert said(reader.page()) == [(None, "head"), ("noindex", "head")]
        assert reader.page() is reader.page()

    def test_a_page_before_the_end(self) -> None:
        """page() ends the document: later input is ignored."""
        reader = PageReader()
        reader.feed(bytearray(NOINDEX.encode()))
        assert len(reader.page().metas) == 1
        assert reader.feed(memoryview(NOINDEX.encode()))
        assert len(reader.page().metas) == 1

    def test_empty_chunks_are_ignored(self) -> None:
        """An empty chunk is not the end."""
        page = read_page([b"", b"<meta name=", b"", b"robots>"])
        assert page.metas[0].name == "robots"

    def test_texts_are_joined(self) -> None:
        """Whatever they are cut in, the page is the one of the whole."""
        document = HEAD + PARAGRAPH
        for size in (1, 7, 1000):
            pieces = [document[at : at + size] for at in range(0, len(document), size)]
            assert read_page(pieces) == read_page(document)

    def test_no_chunk_is_read_after_the_limit(self) -> None:
        """The chunk that exceeds it is the last."""
        reader = PageReader(limit=MIN_HTML_BYTES)
        assert reader.feed(" " * MIN_HTML_BYTES) is False
        assert reader.feed(" ") is True
        chunks = iter([" " * MIN_HTML_BYTES, " ", "<p>"])
        assert read_page(chunks, limit=MIN_HTML_BYTES).is_cut
        assert list(chunks) == ["<p>"]


class TestMisuse:
    """Misuse raises an error with a fix."""

    @pytest.mark.parametrize("thing", [5, None, object()])
    def test_no_html(self, thing: Any) -> None:
        """What is neither octets nor text nor chunks of them."""
        with pytest.raises(TypeError) as told:
            read_page(thing)
        assert str(told.value) == (
            "HTML comes as bytes, str, chunks of them or an open file, not as "
            f"{type(thing).__name__}: pass the body of the response"
        )

    def test_responses(self) -> None:
        """The octets of a response are used, or the error requests them."""
        page = b"<meta name=robots content=noindex>"
        fields: dict[str, str] = {}
        for response in (
            SimpleNamespace(headers=fields, content=page),
            SimpleNamespace(headers=fields, body=page),
            SimpleNamespace(headers=fields, content="text", body=page),
            # An open file that has headers, as those of urllib have.
            SimpleNamespace(headers=fields, readable=bool, read=io.BytesIO(page).read),
        ):
            assert read_page(response).metas[0].name == "robots"
        with pytest.raises(TypeError) as told:
            read_page(SimpleNamespace(headers=fields))
        assert str(told.value) == (
            "HTML comes as bytes or str, not as SimpleNamespace: pass the body of the response, "
            "such as response.content or await response.read()"
        )

    def test_wrong_chunks(self) -> None:
        """Chunks that are none, or of two sorts."""
        with pytest.raises(TypeError, match="bytes or str, not as int"):
            read_page([1, 2])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="one of them"):
            read_page(iter([b"x", "x"]))  # type: ignore[arg-type]

    def test_wrong_charset(self) -> None:
        """A charset is a str."""
        with pytest.raises(TypeError, match="'utf-8'"):
            read_page(b"", charset=b"utf-8")  # type: ignore[arg-type]

    def test_without_a_tree_builder(self) -> None:
        """The error names the package to install, and is a RobotrulesError and an ImportError."""
        with only(), pytest.raises(MissingExtraError, match=r"pip install 'robotrules\[html\]'"):
            PageReader()
        assert issubclass(MissingExtraError, RobotrulesError)
        assert issubclass(MissingExtraError, ImportError)
