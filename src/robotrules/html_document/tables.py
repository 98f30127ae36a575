"""Tables and tiles of a report; column heads stay visible while a long table scrolls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from robotrules.html_document import Child, Html, element

__all__ = ["TableColumn", "pill", "table", "tiles"]


class TableColumn(NamedTuple):
    """A column of a table."""

    title: str
    look: str = ""
    """Classes of its cells: `number` is right-aligned, `wide` has room for text and URLs."""


def table(
    caption: str,
    columns: Sequence[TableColumn | str],
    rows: Iterable[Sequence[Child]],
    *,
    row_headings: bool = True,
    stacked: bool = False,
) -> Html:
    """
    Return a table in a box that scrolls; *caption* is for screen readers.

    The first cell of a row is its heading, unless *row_headings* is off. With *stacked*, the cells
    of a row are below each other on a phone, each with the title of its column.
    """
    heads = [one if isinstance(one, TableColumn) else TableColumn(one) for one in columns]

    def cell(number: int, content: Child) -> Html:
        """Return a cell; the first of a row is its heading."""
        look = heads[number].look or None
        if number == 0 and row_headings:
            return element("th", content, scope="row", class_=look)
        label = heads[number].title if stacked and content not in (None, "") else None
        return element("td", content, class_=look, data_label=label)

    body = [
        element("tr", [cell(number, content) for number, content in enumerate(row)]) for row in rows
    ]
    return element(
        "div",
        element(
            "table",
            element("caption", caption, class_="unseen"),
            element(
                "thead",
                element(
                    "tr",
                    [
                        element("th", one.title, scope="col", class_=one.look or None)
                        for one in heads
                    ],
                ),
            ),
            element("tbody", body),
        ),
        # Keyboard users have to be able to scroll it.
        class_="scroll stacked" if stacked else "scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def tiles(facts: Iterable[tuple[Child, Child]]) -> Html:
    """Return large numbers, each with a label."""
    return element(
        "ul",
        [element("li", element("b", value), element("span", label)) for value, label in facts],
        class_="tiles",
    )


def pill(words: str, look: str = "") -> Html:
    """Return a word with a coloured background: yes, no, some, error, warning, ok, or grey."""
    return element("span", words, class_=f"pill {look}".strip())
