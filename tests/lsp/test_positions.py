"""Octets ↔ positions: lines as both sides have them, columns in three encodings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range

from robotrules.lsp.positions import PositionMap, octets_of_text, text_of_octets

# One unit of UTF-8 in the first, then two, three and four octets; the last is a surrogate pair.
MIXED = "a é € 😀 z"
COLUMNS = {"utf-8": (0, 2, 5, 9, 14), "utf-16": (0, 2, 4, 6, 9), "utf-32": (0, 2, 4, 6, 8)}


@pytest.mark.parametrize("encoding", COLUMNS)
def test_columns_count_units_of_the_encoding(encoding: str) -> None:
    """The same octets have other columns in another encoding, and the way back is the same."""
    octets = MIXED.encode()
    places = PositionMap(octets, encoding)
    offsets = [octets.index(sign.encode()) for sign in "aé€😀z"]
    for offset, column in zip(offsets, COLUMNS[encoding], strict=True):
        assert places.position(offset) == Position(0, column)
        assert places.offset(Position(0, column)) == offset


def test_another_encoding_is_refused() -> None:
    """What columns count is one of three."""
    with pytest.raises(ValueError, match="use utf-8, utf-16 or utf-32"):
        PositionMap(b"", "latin-1")


def test_lines_end_with_cr_lf_and_both_and_with_nothing_else() -> None:
    """A form feed, a next line or a line separator ends none (RFC 9309 §2.2, LSP 3.17)."""
    octets = "a\r\nb\rc\nd\x0be\x0cf\u0085g\u2028h".encode()
    places = PositionMap(octets)
    assert len(places) == 4
    assert [octets[slice(*places.span_of(line))] for line in range(3)] == [b"a", b"b", b"c"]
    assert places.position(octets.index(b"h")) == Position(3, 8)


def test_what_is_beyond_is_at_the_end() -> None:
    """Past a line its end, past the file its end; inside of a line end, the end of the line."""
    places = PositionMap(b"ab\r\ncd")
    assert places.offset(Position(0, 99)) == 2
    assert places.offset(Position(9, 0)) == 6
    assert places.position(3) == Position(0, 2)
    assert places.position(99) == Position(1, 2)
    assert places.span_of(99) == (4, 6)


def test_inside_of_a_character_is_where_it_starts() -> None:
    """Half a surrogate pair and half a character of UTF-8 are no places of their own."""
    octets = "😀x".encode()
    assert PositionMap(octets, "utf-16").offset(Position(0, 1)) == 0
    assert PositionMap(octets, "utf-8").offset(Position(0, 2)) == 0
    assert PositionMap(octets, "utf-16").position(2) == Position(0, 0)


def test_a_byte_order_mark_is_a_character_of_the_text() -> None:
    """An editor that shows one counts it."""
    places = PositionMap("\ufeffUser-agent: *".encode())
    assert places.position(3) == Position(0, 1)
    assert places.offset(Position(0, 1)) == 3


def test_half_a_pair_takes_the_place_of_one_unit() -> None:
    """A text that is no UTF-8 is read all the same, and nothing else moves."""
    text = "a\ud800b\udc80c😀d"
    octets = octets_of_text(text)
    assert text_of_octets(octets) == "a\ufffdb\ufffdc😀d"
    units = text.encode("utf-16-le", "surrogatepass")
    column = units.index("d".encode("utf-16-le")) // 2
    assert PositionMap(octets).position(octets.index(b"d")) == Position(0, column)


def test_a_range_is_never_backwards() -> None:
    """An end before its start is the start."""
    assert PositionMap(b"abc").range(2, 1) == Range(Position(0, 2), Position(0, 2))


TEXTS = st.text(st.sampled_from("a/é€😀\r\n\x0c\u2028\ufeff"), max_size=30)


class TestPositions:
    """LSP 3.17: a position and an octet that starts a character name each other."""

    @given(TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
    def test_there_and_back(self, text: str, encoding: str) -> None:
        """Every character's place leads back to it; an LF behind a CR has none of its own."""
        octets = text.encode()
        places = PositionMap(octets, encoding)
        at = 0
        for number, sign in enumerate(text):
            if not (sign == "\n" and text[number - 1 : number] == "\r"):
                assert places.offset(places.position(at)) == at
            at += len(sign.encode())

    @given(TEXTS, st.integers(0, 40), st.integers(0, 40))
    def test_any_position_is_somewhere(self, text: str, line: int, column: int) -> None:
        """Whatever a client sends, the octet starts a character of the text."""
        octets = text.encode()
        octets[: PositionMap(octets).offset(Position(line, column))].decode()
