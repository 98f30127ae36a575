"""
Charts of a report as SVG in the page: stacked columns over days, and shares as bars.

A chart has a title for screen readers, and the page shows its numbers in a table too: a picture is
never the only place of a fact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from robotrules.html_document import Html, element, fragment

__all__ = ["MOST_SERIES", "Series", "column_chart", "share_bar"]

MOST_SERIES = 5
WIDTH, HEIGHT = 760, 220
LEFT, RIGHT, TOP, BOTTOM = 56, 8, 12, 24
# More columns are too thin to see: neighbours are added up.
MOST_COLUMNS = 120
LABELS = 8
LABEL_WIDTH = 64
# Ends of an axis, in percent of a power of ten.
_STEPS = (100, 120, 150, 200, 250, 300, 400, 500, 600, 800, 1000)


class Series(NamedTuple):
    """The values of one colour, one for each column."""

    name: str
    values: Sequence[int]


def column_chart(title: str, labels: Sequence[str], series: Sequence[Series]) -> Html:
    """
    Return stacked columns with a legend; *labels* name the columns, such as days.

    At most `MOST_SERIES` series; the caller adds up the others.
    """
    labels, series = _merged(labels, series[:MOST_SERIES])
    totals = [sum(one.values[at] for one in series) for at in range(len(labels))]
    top = _round_up(max(totals, default=0))
    chart = element(
        "svg",
        element("title", title),
        list(_grid(top)),
        list(_columns(labels, series, top)),
        list(_column_labels(labels)),
        class_="chart",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=title,
    )
    keys = [
        element("li", element("i", class_=f"s{number}", aria_hidden="true"), one.name)
        for number, one in enumerate(series, 1)
    ]
    return fragment(chart, element("ul", keys, class_="keys"))


def share_bar(part: int, whole: int, rem: float = 8) -> Html:
    """Return a bar whose length is a share, *rem* wide at 100 %; a small share stays visible."""
    width = max(rem * part / whole, 0.15) if whole and part else 0
    return element("span", class_="share", style=f"width:{width:.2f}rem", aria_hidden="true")


def _merged(
    labels: Sequence[str], series: Sequence[Series]
) -> tuple[Sequence[str], Sequence[Series]]:
    step = math.ceil(len(labels) / MOST_COLUMNS)
    if step <= 1:
        return labels, series
    starts = range(0, len(labels), step)
    return [labels[at] for at in starts], [
        Series(one.name, [sum(one.values[at : at + step]) for at in starts]) for one in series
    ]


def _round_up(value: int) -> int:
    """Return the next round number for an axis: 1, or an even one, so that its half is whole."""
    power: int = 10 ** (len(str(max(value, 1))) - 1)
    tops = (step * power // 100 for step in _STEPS)
    return next(top for top in tops if top >= value and (top == 1 or top % 2 == 0))


def _grid(top: int) -> Iterator[Html]:
    for value in dict.fromkeys((0, top // 2, top)):
        y = _y(value, top)
        yield element(
            "line", class_="axis", x1=LEFT, x2=WIDTH - RIGHT, y1=f"{y:.1f}", y2=f"{y:.1f}"
        )
        yield element("text", f"{value:,}", x=LEFT - 6, y=f"{y + 4:.1f}", text_anchor="end")


def _y(value: int, top: int) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)


def _columns(labels: Sequence[str], series: Sequence[Series], top: int) -> Iterator[Html]:
    step = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    width = min(step * 0.8, 46)
    for at, label in enumerate(labels):
        x, below = LEFT + step * (at + 0.5) - width / 2, 0
        for number, one in enumerate(series, 1):
            value = one.values[at]
            if not value:
                continue
            y, bottom = _y(below + value, top), _y(below, top)
            yield element(
                "rect",
                element("title", f"{label}, {one.name}: {value:,}"),
                class_=f"s{number}",
                x=f"{x:.1f}",
                y=f"{y:.1f}",
                width=f"{width:.1f}",
                height=f"{max(bottom - y, 0.5):.1f}",
            )
            below += value


def _column_labels(labels: Sequence[str]) -> Iterator[Html]:
    step = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    every = math.ceil(len(labels) / LABELS) or 1
    for at in range(0, len(labels), every):
        x = LEFT + step * (at + 0.5)
        # A label at the edge would be cut.
        is_last = x + LABEL_WIDTH / 2 > WIDTH
        x, anchor = (WIDTH - RIGHT, "end") if is_last else (x, "middle")
        yield element("text", labels[at], x=f"{x:.1f}", y=HEIGHT - 6, text_anchor=anchor)
