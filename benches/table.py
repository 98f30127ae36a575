"""
Figures as text: Markdown tables that read well in a terminal.

Does not know: what the figures mean.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["microseconds", "milliseconds", "octets", "ratio", "render", "times"]


def render(header: Sequence[str], rows: Sequence[Sequence[str]], words: bool = False) -> str:
    """
    A Markdown table, first column to the left, the others to the right.

    With *words*, all columns to the left.
    """
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if words or number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * width if words or number == 0 else "-" * (width - 1) + ":"
        for number, width in enumerate(widths)
    ]
    return "\n".join([line(header), line(rule), *(line(row) for row in rows)])


def significant(value: float) -> str:
    """Three significant digits, without exponents."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 1:
        return f"{value:.2f}"
    return f"{value:.3f}"


def microseconds(value: float) -> str:
    """A time of some microseconds."""
    return f"{significant(value)} us"


def milliseconds(value: float) -> str:
    """A time of some milliseconds."""
    return f"{significant(value)} ms"


def octets(value: float) -> str:
    """An amount of memory in KiB."""
    return f"{value / 1024:,.1f} KiB"


def ratio(value: float | None) -> str:
    """How many times faster than the reference; below 1 is slower."""
    if value is None:
        return "-"
    return f"{value:,.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 1 else f"{value:.2f}x"


def times(value: float) -> str:
    """How many times more."""
    return f"x {significant(value)}"
