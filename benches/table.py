"""
Markdown tables that are readable in a terminal, and numbers as text.

Does not know: what the figures mean.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "format_factor",
    "format_kib",
    "format_microseconds",
    "format_milliseconds",
    "format_number",
    "format_ratio",
    "render",
]


def render(header: Sequence[str], rows: Sequence[Sequence[str]], left: bool = False) -> str:
    """
    Return a Markdown table; the first column is left-aligned, the others are right-aligned.

    With *left*, all columns are left-aligned.
    """
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if left or number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * width if left or number == 0 else "-" * (width - 1) + ":"
        for number, width in enumerate(widths)
    ]
    return "\n".join([line(header), line(rule), *(line(row) for row in rows)])


def format_number(value: float) -> str:
    """Return a number with three significant digits, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 1:
        return f"{value:.2f}"
    return f"{value:.3f}"


def format_microseconds(value: float) -> str:
    """Return a time in microseconds."""
    return f"{format_number(value)} us"


def format_milliseconds(value: float) -> str:
    """Return a time in milliseconds."""
    return f"{format_number(value)} ms"


def format_kib(value: float) -> str:
    """Return a number of octets in KiB."""
    return f"{value / 1024:,.1f} KiB"


def format_ratio(value: float | None) -> str:
    """Return how many times faster than the reference; below 1 is slower."""
    if value is None:
        return "-"
    return f"{value:,.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 1 else f"{value:.2f}x"


def format_factor(value: float) -> str:
    """Return a factor: `x 1.5`."""
    return f"x {format_number(value)}"
