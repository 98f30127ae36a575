"""
The matrix as an SVG picture for other pages: title, bands of purposes, marks, legend.

Marks are drawn as shapes, so that they do not depend on a font; text widths are estimated, and long
names are wrapped. The picture is well-formed XML for every file, and has no script and no link. The
module does not evaluate rules.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from robotrules.matrix.text import (
    FOOTNOTE,
    TITLE,
    badges,
    describe_cell,
    footnotes,
    format_counts,
    headline,
    may_not_obey,
    to_markup,
    to_plain_text,
    used_badges,
)
from robotrules.matrix.values import SUMMARIES, Matrix, MatrixRow, PurposeBand

MARGIN = 36
NAME = 262
SUMMARY = 106
CELL = 38
LINE = 27
BAND = 44
HEADINGS = 118
# Rows that are drawn; a picture of more is unreadable.
MAX_ROWS = 200
# The maximum length of a path, and of a line of a name.
MAX_PATH_LENGTH = 22
MAX_NAME_LENGTH = 28

STYLE = """
.paper{fill:#fff}.ink{fill:#1c2430}.faint{fill:#667085}.rule{stroke:#e4e7ec}
.y{fill:#dcedf9}.n{fill:#fde6d8}.s{fill:#f7edc9}.o{fill:#eaecf0}
.ym{stroke:#005e9e}.nm{stroke:#ad4100}.yt{fill:#005e9e}.nt{fill:#ad4100}.st{fill:#6a5400}.ot{fill:#535862}
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.mono{font-family:ui-monospace,"SF Mono","DejaVu Sans Mono",Menlo,Consolas,monospace}
.m{fill:none;stroke-width:2.2;stroke-linecap:round;stroke-linejoin:round}
@media (prefers-color-scheme:dark){
.paper{fill:#151a21}.ink{fill:#e6eaf0}.faint{fill:#98a2b3}.rule{stroke:#2a313c}
.y{fill:#113449}.n{fill:#4a2412}.s{fill:#3d3512}.o{fill:#2a313c}
.ym{stroke:#7cc4f5}.nm{stroke:#ffb38a}.yt{fill:#7cc4f5}.nt{fill:#ffb38a}.st{fill:#ecd67b}.ot{fill:#cbd2dc}}
"""
_LOOKS = dict(zip(SUMMARIES, "ysno", strict=True))


def picture(matrix: Matrix, *, date: str | None = None) -> str:
    """Return the picture; *date* is shown if given."""
    return "\n".join(_Picture(matrix, date).lines()) + "\n"


class _Picture:
    """A matrix as lines of SVG; each part is drawn from a height on, and returns its end."""

    def __init__(self, matrix: Matrix, date: str | None) -> None:
        rows = matrix.rows[:MAX_ROWS]
        self._matrix = matrix._replace(rows=rows)
        self._omitted = len(matrix.rows) - len(rows)
        self._date = date
        self._left = MARGIN + NAME + SUMMARY
        # Headings lean to the right, beyond their last column; the legend needs a minimum width.
        wide = self._left + CELL * len(matrix.columns) + 84
        self._width = max(wide + MARGIN, 760)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the picture."""
        body, height = self._body()
        whose = self._matrix.url
        title = f"{TITLE}: {to_markup(whose)}" if whose else TITLE
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{height}" '
            f'viewBox="0 0 {self._width} {height}" role="img" aria-labelledby="title what">'
        )
        yield f'<title id="title">{title}</title>'
        counts = [f"{band.title}: {format_counts(band.counts)}" for band in self._matrix.bands]
        yield f'<desc id="what">{to_markup("; ".join(counts), 4000)}. {FOOTNOTE}</desc>'
        yield f"<style>{STYLE.strip()}</style>"
        yield f'<rect class="paper" width="{self._width}" height="{height}" rx="14"/>'
        yield from body
        yield "</svg>"

    def _body(self) -> tuple[list[str], int]:
        parts = list(self._head())
        y = 152 + HEADINGS
        parts += self._headings(y)
        y += 6
        for band in self._matrix.bands:
            lines, y = self._band(band, y)
            parts += lines
        y += 30
        parts.append(self._rule(y))
        y += 26
        for sentence in self._foot():
            for line in textwrap.wrap(sentence, (self._width - 2 * MARGIN) // 6):
                parts.append(draw_text(MARGIN, y, line, 12, "faint"))
                y += 18
        return parts, y + 14

    def _head(self) -> Iterator[str]:
        name = self._matrix.url or "a robots.txt"
        day = f", {self._date}" if self._date else ""
        yield draw_text(MARGIN, 54, TITLE, 26, "ink", weight=700)
        yield draw_text(
            MARGIN, 80, f"What {to_plain_text(name, 70)} asks of crawlers{day}", 14, "faint"
        )
        yield draw_text(MARGIN, 103, headline(self._matrix), 14, "ink")
        x = MARGIN
        for look, words in (("y", "allowed"), ("n", "disallowed")):
            yield draw_mark(x + 9, 131, look, 18, "")
            yield draw_text(x + 25, 135, words, 12, "faint")
            x += 25 + 7 * len(words) + 16
        words = "All URLs: is everything allowed, some or nothing?"
        yield draw_text(x, 135, words, 12, "faint")

    def _headings(self, y: int) -> Iterator[str]:
        yield draw_text(MARGIN, y - 8, "Crawler", 12, "faint", weight=600)
        yield draw_text(MARGIN + NAME, y - 8, "All URLs", 12, "faint", weight=600)
        for number, column in enumerate(self._matrix.columns):
            x = self._left + CELL * number + CELL // 2
            path = to_markup(column.path, MAX_PATH_LENGTH)
            # A single rotated slash would look like a backslash.
            turned = (
                f'transform="translate({x + 3},{y - 8}) rotate(-48)"'
                if len(column.path) > 2
                else f'x="{x}" y="{y - 8}" text-anchor="middle" font-weight="700"'
            )
            yield f'<text class="ink mono" font-size="12" {turned}>{path}</text>'

    def _band(self, band: PurposeBand, y: int) -> tuple[list[str], int]:
        room = (self._width - 2 * MARGIN - 9 * len(band.title)) // 6
        suffix = _suffix(to_plain_text(band.sentence, room), 12)
        title = draw_text(MARGIN, y + BAND - 13, band.title, 15, "ink", weight=700, suffix=suffix)
        parts = [self._rule(y + 6), title]
        y += BAND
        for row in band.rows:
            lines, y = self._row(row, y)
            parts += lines
        return parts, y

    def _row(self, row: MatrixRow, y: int) -> tuple[list[str], int]:
        wrapped = textwrap.wrap(to_plain_text(row.name), MAX_NAME_LENGTH, break_on_hyphens=True)[:3]
        wrapped = wrapped or [""]
        height = LINE + 16 * (len(wrapped) - 1)
        middle = y + height // 2
        operator = row.known.operator if row.known else ""
        badge = " ".join(badges(row))
        width = 7.6 * len(wrapped[0]) + 6.4 * len(operator + badge) + (32 if badge else 24)
        fits = len(wrapped) == 1 and width < NAME
        parts = []
        for number, part in enumerate(wrapped):
            dagger = "†" if may_not_obey(row) and number == len(wrapped) - 1 else ""
            baseline = middle + 5 - 8 * (len(wrapped) - 1) + 16 * number
            suffix = _suffix(operator, 11) if operator and fits else ""
            if badge and number == len(wrapped) - 1:
                suffix += _suffix(badge, 10, "italic")
            text = part + dagger
            parts.append(draw_text(MARGIN, baseline, text, 13, "ink", weight=600, suffix=suffix))
        parts.append(draw_pill(MARGIN + NAME, middle, row.summary))
        for number, cell in enumerate(row.cells):
            x = self._left + CELL * number + CELL // 2
            parts.append(
                draw_mark(x, middle, "y" if cell.allowed else "n", 21, describe_cell(row, cell))
            )
        return parts, y + height

    def _foot(self) -> Iterator[str]:
        yield FOOTNOTE
        if self._omitted:
            noun = "crawler is" if self._omitted == 1 else "crawlers are"
            yield f"{self._omitted:,} more {noun} not drawn."
        if explained := used_badges(self._matrix):
            yield " ".join(f"{badge}: {meaning}." for badge, meaning in explained.items())
        yield " ".join(footnotes(self._matrix)) + " Made by robotrules."

    def _rule(self, y: int) -> str:
        return f'<path class="rule" d="M{MARGIN} {y}H{self._width - MARGIN}"/>'


def draw_text(
    x: int, y: int, text: str, size: int, look: str, *, weight: int = 400, suffix: str = ""
) -> str:
    """Return a line of text; *suffix* is markup."""
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    escaped = to_markup(text, 400)
    return f'<text class="{look}" x="{x}" y="{y}" font-size="{size}"{bold}>{escaped}{suffix}</text>'


def _suffix(text: str, size: int, style: str = "") -> str:
    """Return fainter text that continues where other text ends, however wide that is."""
    escaped = to_markup(text, 400)
    slant = f' font-style="{style}"' if style else ""
    return (
        f'<tspan class="faint" dx="8" font-size="{size}" font-weight="400"{slant}>{escaped}</tspan>'
    )


def draw_mark(x: int, y: int, look: str, size: int, tooltip: str) -> str:
    """Return a square with a tick or a cross in it, centred on a point."""
    half, arm = size // 2, size / 21
    drawn = (
        f"M{x - 5 * arm:.1f} {y + 0.5 * arm:.1f}l{3.4 * arm:.1f} {3.4 * arm:.1f} "
        f"{6.6 * arm:.1f}-{7.2 * arm:.1f}"
        if look == "y"
        else f"M{x - 4 * arm:.1f} {y - 4 * arm:.1f}l{8 * arm:.1f} {8 * arm:.1f}"
        f"M{x + 4 * arm:.1f} {y - 4 * arm:.1f}l-{8 * arm:.1f} {8 * arm:.1f}"
    )
    title = f"<title>{to_markup(tooltip, 300)}</title>" if tooltip else ""
    return (
        f'<g>{title}<rect class="{look}" x="{x - half}" y="{y - half}" width="{size}" '
        f'height="{size}" rx="5"/><path class="m {look}m" d="{drawn}"/></g>'
    )


def draw_pill(x: int, y: int, summary: str) -> str:
    """Return a summary with its colour, from a point on."""
    look = _LOOKS[summary]
    return (
        f'<rect class="{look}" x="{x}" y="{y - 10}" width="86" height="20" rx="10"/>'
        f'<text class="{look}t" x="{x + 43}" y="{y + 4}" font-size="11.5" font-weight="600" '
        f'text-anchor="middle">{summary}</text>'
    )
