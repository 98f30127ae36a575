"""
The matrix as an SVG picture, to be shown on other pages: title, bands of purposes, marks, legend.

Shapes are drawn and not written, so that no font has to have them; text is measured by rule of
thumb and folded where a name is long. The picture is well-formed XML whatever a file holds, and has
no script and no link. It does not know what a verdict is.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from robotrules.matrix.values import SUMMARIES, Matrix, MatrixRow, PurposeBand
from robotrules.matrix.words import (
    FOOTNOTE,
    TITLE,
    badges,
    badges_of,
    cell_words,
    counted,
    headline,
    markup,
    may_not_obey,
    notes,
    plain,
)

MARGIN = 36
NAME = 262
SUMMARY = 106
CELL = 38
LINE = 27
BAND = 44
HEADINGS = 118
# Rows that are drawn; a picture of more is not looked at.
MOST_ASKED = 200
# How long text may be: of a path, and of a line of a name.
LONGEST_PATH = 22
LONGEST_NAME = 28

_STYLE = """
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
    """Return the picture; *date* is shown if somebody passes one."""
    return "\n".join(_Picture(matrix, date).lines()) + "\n"


class _Picture:
    """A matrix as lines of SVG; each part draws from a height on, and says where it ends."""

    def __init__(self, matrix: Matrix, date: str | None) -> None:
        shown = matrix.rows[:MOST_ASKED]
        self._matrix = matrix._replace(rows=shown)
        self._unseen = len(matrix.rows) - len(shown)
        self._date = date
        self._left = MARGIN + NAME + SUMMARY
        # Headings lean to the right, beyond their last column; and the legend wants its room.
        wide = self._left + CELL * len(matrix.columns) + 84
        self._width = max(wide + MARGIN, 760)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the picture."""
        body, height = self._body()
        whose = self._matrix.url
        title = f"{TITLE}: {markup(whose)}" if whose else TITLE
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{height}" '
            f'viewBox="0 0 {self._width} {height}" role="img" aria-labelledby="title what">'
        )
        yield f'<title id="title">{title}</title>'
        words = "; ".join(f"{band.title}: {counted(band.counts)}" for band in self._matrix.bands)
        yield f'<desc id="what">{markup(words, 4000)}. {FOOTNOTE}</desc>'
        yield f"<style>{_STYLE.strip()}</style>"
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
        for words in self._foot():
            for line in textwrap.wrap(words, (self._width - 2 * MARGIN) // 6):
                parts.append(_text(MARGIN, y, line, 12, "faint"))
                y += 18
        return parts, y + 14

    def _head(self) -> Iterator[str]:
        name = self._matrix.url or "a robots.txt"
        day = f", {self._date}" if self._date else ""
        yield _text(MARGIN, 54, TITLE, 26, "ink", weight=700)
        yield _text(MARGIN, 80, f"What {plain(name, 70)} asks of crawlers{day}", 14, "faint")
        yield _text(MARGIN, 103, headline(self._matrix), 14, "ink")
        x = MARGIN
        for look, words in (("y", "allowed"), ("n", "disallowed")):
            yield _mark(x + 9, 131, look, 18, "")
            yield _text(x + 25, 135, words, 12, "faint")
            x += 25 + 7 * len(words) + 16
        words = "All URLs: is everything allowed, some or nothing?"
        yield _text(x, 135, words, 12, "faint")

    def _headings(self, y: int) -> Iterator[str]:
        yield _text(MARGIN, y - 8, "Crawler", 12, "faint", weight=600)
        yield _text(MARGIN + NAME, y - 8, "All URLs", 12, "faint", weight=600)
        for number, column in enumerate(self._matrix.columns):
            x = self._left + CELL * number + CELL // 2
            path = markup(column.path, LONGEST_PATH)
            # A lone slash that leans over would look like a backslash.
            turned = (
                f'transform="translate({x + 3},{y - 8}) rotate(-48)"'
                if len(column.path) > 2
                else f'x="{x}" y="{y - 8}" text-anchor="middle" font-weight="700"'
            )
            yield f'<text class="ink mono" font-size="12" {turned}>{path}</text>'

    def _band(self, band: PurposeBand, y: int) -> tuple[list[str], int]:
        room = (self._width - 2 * MARGIN - 9 * len(band.title)) // 6
        beside = _beside(plain(band.sentence, room), 12)
        title = _text(MARGIN, y + BAND - 13, band.title, 15, "ink", weight=700, beside=beside)
        parts = [self._rule(y + 6), title]
        y += BAND
        for asked in band.rows:
            lines, y = self._asked(asked, y)
            parts += lines
        return parts, y

    def _asked(self, asked: MatrixRow, y: int) -> tuple[list[str], int]:
        folded = textwrap.wrap(plain(asked.name), LONGEST_NAME, break_on_hyphens=True)[:3]
        folded = folded or [""]
        tall = LINE + 16 * (len(folded) - 1)
        middle = y + tall // 2
        operator = asked.known.operator if asked.known else ""
        badge = " ".join(badges(asked))
        taken = 7.6 * len(folded[0]) + 6.4 * len(operator + badge) + (32 if badge else 24)
        fits = len(folded) == 1 and taken < NAME
        parts = []
        for number, part in enumerate(folded):
            dagger = "†" if may_not_obey(asked) and number == len(folded) - 1 else ""
            baseline = middle + 5 - 8 * (len(folded) - 1) + 16 * number
            beside = _beside(operator, 11) if operator and fits else ""
            if badge and number == len(folded) - 1:
                beside += _beside(badge, 10, "italic")
            words = part + dagger
            parts.append(_text(MARGIN, baseline, words, 13, "ink", weight=600, beside=beside))
        parts.append(_pill(MARGIN + NAME, middle, asked.summary))
        for number, cell in enumerate(asked.cells):
            x = self._left + CELL * number + CELL // 2
            parts.append(
                _mark(x, middle, "y" if cell.allowed else "n", 21, cell_words(asked, cell))
            )
        return parts, y + tall

    def _foot(self) -> Iterator[str]:
        yield FOOTNOTE
        if self._unseen:
            noun = "crawler is" if self._unseen == 1 else "crawlers are"
            yield f"{self._unseen:,} more {noun} not drawn."
        if explained := badges_of(self._matrix):
            yield " ".join(f"{badge}: {words}." for badge, words in explained.items())
        yield " ".join(notes(self._matrix)) + " Made by robotrules."

    def _rule(self, y: int) -> str:
        return f'<path class="rule" d="M{MARGIN} {y}H{self._width - MARGIN}"/>'


def _text(
    x: int, y: int, text: str, size: int, look: str, *, weight: int = 400, beside: str = ""
) -> str:
    heavy = f' font-weight="{weight}"' if weight != 400 else ""
    words = markup(text, 400)
    return f'<text class="{look}" x="{x}" y="{y}" font-size="{size}"{heavy}>{words}{beside}</text>'


def _beside(text: str, size: int, style: str = "") -> str:
    """Return fainter text that goes on where other text ends, however wide that is."""
    words = markup(text, 400)
    slant = f' font-style="{style}"' if style else ""
    return (
        f'<tspan class="faint" dx="8" font-size="{size}" font-weight="400"{slant}>{words}</tspan>'
    )


def _mark(x: int, y: int, look: str, size: int, words: str) -> str:
    """Return a square with a tick or a cross in it, around a point."""
    half, arm = size // 2, size / 21
    drawn = (
        f"M{x - 5 * arm:.1f} {y + 0.5 * arm:.1f}l{3.4 * arm:.1f} {3.4 * arm:.1f} "
        f"{6.6 * arm:.1f}-{7.2 * arm:.1f}"
        if look == "y"
        else f"M{x - 4 * arm:.1f} {y - 4 * arm:.1f}l{8 * arm:.1f} {8 * arm:.1f}"
        f"M{x + 4 * arm:.1f} {y - 4 * arm:.1f}l-{8 * arm:.1f} {8 * arm:.1f}"
    )
    title = f"<title>{markup(words, 300)}</title>" if words else ""
    return (
        f'<g>{title}<rect class="{look}" x="{x - half}" y="{y - half}" width="{size}" '
        f'height="{size}" rx="5"/><path class="m {look}m" d="{drawn}"/></g>'
    )


def _pill(x: int, y: int, summary: str) -> str:
    look = _LOOKS[summary]
    return (
        f'<rect class="{look}" x="{x}" y="{y - 10}" width="86" height="20" rx="10"/>'
        f'<text class="{look}t" x="{x + 43}" y="{y + 4}" font-size="11.5" font-weight="600" '
        f'text-anchor="middle">{summary}</text>'
    )
