"""
Parts that charts of a survey share: which crawlers are shown, texts, legends and axes.

The module does not know the kinds of charts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from robotrules.bulk.surveys.inputs import ALL
from robotrules.bulk.surveys.svg_canvas import Canvas, text_width
from robotrules.bulk.surveys.values import Survey
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS

Row = dict[str, Any]


def select_crawlers(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the crawlers that most files name, by purpose, those most often disallowed first."""

    def _weight(row: Row) -> tuple[int, bool, int, str]:
        known = KNOWN_CRAWLERS.get(row["crawler"])
        main = known is not None and known.is_main
        return -row["named"], not main, -row["none"], row["crawler"].lower()

    chosen = {row["crawler"] for row in sorted(rows, key=_weight)[:most]}
    # The table is in the order of purposes and shares.
    return [row for row in rows if row["crawler"] in chosen]


def rows_of_all(survey: Survey, table: str) -> list[Row]:
    """Return the rows of a table that are about all sites."""
    return [row for row in survey.tables[table].to_pylist() if row["stratum"] == ALL]


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as per cent; a dash for None."""
    if share is None:
        return "–"
    if 0 < share < 0.0005 and digits:
        return "<0.1 %"
    return f"{share * 100:.{digits}f} %"


def purpose_title(purpose: str) -> str:
    """Return a purpose as a heading; other names as they are."""
    if purpose not in CRAWLER_PURPOSES:
        return purpose
    words = purpose.replace("ai-", "AI ").replace("seo", "SEO").replace("-", " ")
    return words[0].upper() + words[1:] if words not in ("in house",) else "In-house"


def counted_sites(survey: Survey) -> str:
    """Return the number of sites that shares are of, and which."""
    kind = "that answered" if survey.denominator == "answered" else "with a file"
    return f"{survey.counts.get('counted', 0):,} sites {kind}"


def interval_label(survey: Survey) -> str:
    """Return the confidence of the intervals."""
    return f"{survey.confidence * 100:g} % interval"


def footnote(survey: Survey, *, files: bool = False) -> str:
    """Return what a reader must know about the shares."""
    counts = survey.counts
    apart = counts.get("sites", 0) - counts.get("counted", 0)
    left_out = "" if files or not apart else f" {apart:,} sites without an answer are left out."
    return f"Wilson intervals.{left_out}"


def describe_shares(pairs: Iterable[tuple[str, float | None]]) -> str:
    """Return names and shares as text, for readers who do not see the chart."""
    return "; ".join(f"{name}: {percent(share)}" for name, share in pairs) + "."


def axis_end(value: float) -> float:
    """Return the end of an axis: the next share that has round quarters."""
    steps = (0.01, 0.02, 0.04, 0.06, 0.08, 0.12, 0.16, 0.2, 0.24, 0.32, 0.4, 0.6, 0.8, 1.0)
    return next((step for step in steps if value <= step), 1.0)


def draw_legend(canvas: Canvas, entries: Sequence[tuple[str, str]], x: float) -> None:
    """Draw colours and their meanings in one line."""
    for look, label in entries:
        canvas.rect(x, canvas.y + 5, 13, 13, look)
        canvas.text(x + 19, canvas.y + 16, label, 12, "faint")
        x += 40 + text_width(label, 12)
    canvas.y += 8


def draw_header(canvas: Canvas, columns: Sequence[tuple[str, float]]) -> None:
    """Draw the headings of columns of numbers, and move on."""
    for label, x in columns:
        canvas.text(x, canvas.y + 9, label, 11, "faint end")
    canvas.y += 16


def draw_axis(
    canvas: Canvas, left: float, wide: float, top: float, start: float, below: int
) -> None:
    """Draw ticks below bars, and lines from *start* down behind them."""
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + wide * part
        canvas.path(f"M{x:.1f} {start:.1f}V{canvas.y + 5:.1f}", "rule", below)
        digits = 0 if abs(top * part * 100 - round(top * part * 100)) < 1e-9 else 1
        canvas.text(x, canvas.y + 19, percent(top * part, digits), 11, "faint mid")
    canvas.y += 22
