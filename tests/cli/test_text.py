"""Text for a person, the progress bar, and URLs in blocks."""

from __future__ import annotations

import io
from unittest import mock

from robotrules.cli.input_files import url_chunks
from robotrules.cli.progress import Progress
from robotrules.cli.text import Excerpt, Paint, cell_width, listed, truncate, use_colour
from robotrules.octets import visible
from tests.cli.shell import Stream


class TestText:
    """Text for a person."""

    def test_visible(self) -> None:
        assert visible("a b é漢") == "a b é漢"
        assert visible(b"\xff\x1b\xc2\x9b") == "\\xff\\x1b\\u009b"
        assert visible("\u2028\U000e0001\n\t\udc80") == "\\u2028\\U000e0001\\x0a\\x09\\udc80"

    def test_cells(self) -> None:
        assert [cell_width(text) for text in ("ab", "漢字", "e\u0301", "é")] == [2, 4, 1, 1]

    def test_shortened_and_listed(self) -> None:
        assert [truncate("abcd", room) for room in (5, 4, 3, 1, 0)] == [
            "abcd",
            "abcd",
            "ab…",
            "…",
            "…",
        ]
        assert listed(["a", "b", "c"], 3) == "a, b, c"
        assert listed(["a", "b", "c"], 2) == "a, b and 1 more"

    def test_when_colour_is_used(self) -> None:
        terminal, pipe = Stream(terminal=True), Stream()
        assert use_colour(terminal, {})
        assert not use_colour(pipe, {})
        assert not use_colour(terminal, {"TERM": "dumb"})
        assert not use_colour(terminal, {"NO_COLOR": "1", "FORCE_COLOR": "1"})
        assert use_colour(pipe, {"NO_COLOR": "", "FORCE_COLOR": "1"})
        assert not use_colour(pipe, {"FORCE_COLOR": "0"})
        pipe.close()
        assert not use_colour(pipe, {})

    def test_an_excerpt_keeps_its_carets_under_the_part(self) -> None:
        line = "漢\x1b: /é".encode()
        assert Excerpt(line, 6, 9, 60).lines("1", "x", Paint(False), "error") == [
            "1 | 漢\\x1b: /é",
            "  |         ^^  x",
        ]
        assert Excerpt(b"abc", 1, 1, 60).lines("1", "", Paint(False), "error")[1] == "  |  ^"
        assert Excerpt(b"abc", 9, 9, 60).lines("1", "", Paint(False), "error")[1] == "  |    ^"

    def test_an_excerpt_has_room_for_both_ends_of_a_long_line(self) -> None:
        lines = Excerpt(b"a" * 90 + b"bb" + b"c" * 90, 90, 92, 40).lines(
            "", "x", Paint(False), "error"
        )
        assert lines[0] == " | …" + "a" * 19 + "bb" + "c" * 17 + "…"
        assert lines[1] == " | " + " " * 20 + "^^  x"
        lines = Excerpt(b"b" * 90, 0, 90, 40).lines("", "words", Paint(False), "error")
        assert lines[1:] == [" | " + "^" * 40, " | words"]


class TestProgress:
    """The progress bar."""

    def test_by_octets(self) -> None:
        now = 0.0
        out = Stream(terminal=True)
        with Progress(out, 1000, "URL", clock=lambda: now) as progress:
            progress.add(10, 100)
            assert out.text() == ""
            now = 2.0
            progress.add(10, 100)
            assert progress.line() == f"[{'#' * 6}{'-' * 24}]  20%  20 URLs  10/s  0:08 left"
            now = 200.0
            assert progress.line().endswith("  0/s  13:20 left")
        assert progress.count == 20
        with Progress(None, 1000, "URL", clock=lambda: now) as progress:
            assert progress.line().endswith("  0%  0 URLs  0/s  0:00 left")

    def test_a_counter_where_the_size_is_not_known(self) -> None:
        now = 0.0
        progress = Progress(None, None, "URL", clock=lambda: now)
        progress.add(3000, 100)
        now = 2.0
        assert progress.line() == "3,000 URLs  1,500/s"


class TestURLs:
    """URLs as they come through a stream."""

    def test_blocks_of_every_size_give_the_same_urls(self) -> None:
        text = b"/a\n\n /b \r\n/c\n" * 5 + b"/d"
        for size in range(1, 20):
            blocks = [text[start : start + size] for start in range(0, len(text), size)]
            stream = mock.Mock(read1=mock.Mock(side_effect=[*blocks, b""]))
            chunks = list(url_chunks(stream, "-"))
            assert [url for chunk in chunks for url in chunk.urls] == [b"/a", b"/b", b"/c"] * 5 + [
                b"/d"
            ]
            assert sum(chunk.octets for chunk in chunks) == len(text)

    def test_a_byte_order_mark_is_one_at_the_start_only(self) -> None:
        """The same octets at the start of a later block belong to the URL there."""
        mark = b"\xef\xbb\xbf"
        stream = mock.Mock(read1=mock.Mock(side_effect=[mark + b"/a\n", mark + b"/b\n", b""]))
        urls = [url for chunk in url_chunks(stream, "-") for url in chunk.urls]
        assert urls == [b"/a", mark + b"/b"]

    def test_many_short_urls_are_read_in_chunks(self) -> None:
        sizes = [len(chunk.urls) for chunk in url_chunks(io.BytesIO(b"/\n" * 20_000), "-")]
        assert sizes == [8192, 8192, 3616, 0]
