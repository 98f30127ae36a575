"""Positions: byte offsets ↔ LSP positions, in three position encodings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range

from robotrules.editing.positions import PositionMap, decode_text, encode_text

# Characters of one, two, three and four bytes; the last of these is a surrogate pair in UTF-16.
MIXED = "a é € 😀 z"
COLUMNS = {"utf-8": (0, 2, 5, 9, 14), "utf-16": (0, 2, 4, 6, 9), "utf-32": (0, 2, 4, 6, 8)}


@pytest.mark.parametrize("encoding", COLUMNS)
def test_columns_are_code_units_of_the_encoding(encoding: str) -> None:
    """The same offset has another column in each encoding, and maps back."""
    octets = MIXED.encode()
    positions = PositionMap(octets, encoding)
    offsets = [octets.index(char.encode()) for char in "aé€😀z"]
    for offset, column in zip(offsets, COLUMNS[encoding], strict=True):
        assert positions.to_position(offset) == Position(0, column)
        assert positions.to_offset(Position(0, column)) == offset


def test_another_encoding_is_refused() -> None:
    """LSP defines three."""
    with pytest.raises(ValueError, match="use utf-8, utf-16 or utf-32"):
        PositionMap(b"", "latin-1")


def test_lines_end_with_cr_lf_and_both_and_with_nothing_else() -> None:
    """A form feed, U+0085 or U+2028 does not end a line (RFC 9309 §2.2, LSP 3.17)."""
    octets = "a\r\nb\rc\nd\x0be\x0cf\u0085g\u2028h".encode()
    positions = PositionMap(octets)
    assert len(positions) == 4
    assert [octets[slice(*positions.line_span(line))] for line in range(3)] == [b"a", b"b", b"c"]
    assert positions.to_position(octets.index(b"h")) == Position(3, 8)


def test_positions_past_the_end_are_clamped() -> None:
    """To the end of the line or file; inside a line end, to the end of the line."""
    positions = PositionMap(b"ab\r\ncd")
    assert positions.to_offset(Position(0, 99)) == 2
    assert positions.to_offset(Position(9, 0)) == 6
    assert positions.to_position(3) == Position(0, 2)
    assert positions.to_position(99) == Position(1, 2)
    assert positions.line_span(99) == (4, 6)


def test_a_position_inside_a_character_is_its_start() -> None:
    """Inside a surrogate pair, or inside a UTF-8 sequence."""
    octets = "😀x".encode()
    assert PositionMap(octets, "utf-16").to_offset(Position(0, 1)) == 0
    assert PositionMap(octets, "utf-8").to_offset(Position(0, 2)) == 0
    assert PositionMap(octets, "utf-16").to_position(2) == Position(0, 0)


def test_a_byte_order_mark_is_a_character_of_the_text() -> None:
    """An editor that keeps it counts it."""
    positions = PositionMap("\ufeffUser-agent: *".encode())
    assert positions.to_position(3) == Position(0, 1)
    assert positions.to_offset(Position(0, 1)) == 3


def test_a_lone_surrogate_is_one_code_unit() -> None:
    """It becomes U+FFFD, and all other positions stay the same."""
    text = "a\ud800b\udc80c😀d"
    octets = encode_text(text)
    assert decode_text(octets) == "a\ufffdb\ufffdc😀d"
    units = text.encode("utf-16-le", "surrogatepass")
    column = units.index("d".encode("utf-16-le")) // 2
    assert PositionMap(octets).to_position(octets.index(b"d")) == Position(0, column)


def test_a_range_is_never_reversed() -> None:
    """An end before the start is moved to the start."""
    assert PositionMap(b"abc").to_range(2, 1) == Range(Position(0, 2), Position(0, 2))


TEXTS = st.text(st.sampled_from("a/é€😀\r\n\x0c\u2028\ufeff"), max_size=30)


class TestPositions:
    """LSP 3.17: positions and offsets of characters map to each other."""

    @given(TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
    def test_round_trip(self, text: str, encoding: str) -> None:
        """For every character but an LF after a CR."""
        octets = text.encode()
        positions = PositionMap(octets, encoding)
        at = 0
        for number, char in enumerate(text):
            if not (char == "\n" and text[number - 1 : number] == "\r"):
                assert positions.to_offset(positions.to_position(at)) == at
            at += len(char.encode())

    @given(TEXTS, st.integers(0, 40), st.integers(0, 40))
    def test_any_position_is_valid(self, text: str, line: int, column: int) -> None:
        """Any position maps to the start of a character."""
        octets = text.encode()
        octets[: PositionMap(octets).to_offset(Position(line, column))].decode()
