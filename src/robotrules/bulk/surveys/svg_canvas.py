"""
A canvas for charts: SVG with title and description, in colours that follow the reader's scheme.

Text stays text; its width is estimated, since a picture does not know the reader's fonts. Every
text is escaped, so the result is well-formed for all input. There is no script, no link and no
font. The module does not know what is drawn.
"""

from __future__ import annotations

from html import escape

from robotrules.octets import visible

MARGIN = 28
WIDTH = 900
# Colours that are distinguishable with every kind of colour vision; the states of a crawler also
# keep their order, and numbers are written beside them.
STYLE = """
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.end{text-anchor:end}.mid{text-anchor:middle}.b{font-weight:600}.num{font-variant-numeric:tabular-nums}
.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.w{stroke-width:1.6}
.paper{fill:#fff}.ink{fill:#1c2430}.faint{fill:#5b6472}.rule{stroke:#e4e7ec}.wh{stroke:#1c2430}
.none{fill:#c2500f}.some{fill:#f0d794}.all{fill:#cfe2f1}.gone{fill:#98a2b3}.odd{fill:#d0d5dd}
.bar{fill:#8bbbdd}.one{fill:#005e9e}.two{fill:#c2500f}.three{fill:#6f42c1}
.one-s{stroke:#005e9e}.two-s{stroke:#c2500f}.three-s{stroke:#6f42c1}.band{fill:#005e9e;opacity:.16}
@media (prefers-color-scheme:dark){
.paper{fill:#151a21}.ink{fill:#e6eaf0}.faint{fill:#a3adbb}.rule{stroke:#2a313c}.wh{stroke:#f2f4f7}
.none{fill:#e8743b}.some{fill:#6f5a1e}.all{fill:#1d3d54}.gone{fill:#667085}.odd{fill:#344054}
.bar{fill:#2c6791}.one{fill:#7cc4f5}.two{fill:#ff9a66}.three{fill:#c8a8ff}
.one-s{stroke:#7cc4f5}.two-s{stroke:#ff9a66}.three-s{stroke:#c8a8ff}.band{fill:#7cc4f5;opacity:.2}}
"""


def to_markup(text: str, most: int = 200) -> str:
    """Return text for SVG and HTML: escaped, controls visible, cut to *most* characters."""
    shown = text if len(text) <= most else text[: most - 1] + "…"
    return escape(visible(shown), quote=True)


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a text; fonts differ by some per cent."""
    return (
        sum(
            0.75 if c.isupper() or c in "mwMW%" else 0.34 if c in "ilj.,:;'|/ ()" else 0.57
            for c in text
        )
        * size
    )


def fit(text: str, room: float, size: float) -> str:
    """Return a text cut to a width, with controls visible."""
    text = visible(text)
    if text_width(text, size) <= room:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text + "…"


def wrap(text: str, room: float, size: float) -> list[str]:
    """Return the lines of a text; a word that is too long is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(fit(word, room, size))
    return lines


class Canvas:
    """Elements of a chart from the top down; `y` is where the next part begins."""

    def __init__(self, title: str, subtitle: str, description: str, width: int = WIDTH) -> None:
        self.width = width
        self.right = width - MARGIN
        self._title, self._description = title, description
        self._parts: list[str] = []
        self.text(MARGIN, 42, title, 20, "ink b")
        self.y = 48.0
        self.paragraph(subtitle, 13)
        self.y += 8

    def text(self, x: float, y: float, text: str, size: float, look: str, most: int = 200) -> None:
        """Draw a text that starts, ends or is centred at a point, as its look says."""
        self._parts.append(
            f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" font-size="{size:g}">'
            f"{to_markup(text, most)}</text>"
        )

    def paragraph(self, text: str, size: float) -> None:
        """Draw wrapped faint text at `y`, and move it on."""
        for line in wrap(visible(text), self.width - 2 * MARGIN, size):
            self.y += size + 5
            self.text(MARGIN, self.y, line, size, "faint", 400)

    def rect(
        self, x: float, y: float, width: float, height: float, look: str, tooltip: str = ""
    ) -> None:
        """Draw a rectangle; one without width is left out."""
        if width <= 0:
            return
        size = f'width="{width:.1f}" height="{height:.1f}"'
        shape = f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" {size}'
        title = f"<title>{to_markup(tooltip)}</title>" if tooltip else ""
        self._parts.append(f"{shape}>{title}</rect>" if title else f"{shape}/>")

    def path(self, drawn: str, look: str, below: int | None = None) -> None:
        """Draw a path; *below* is a `layer()`, and what was drawn since then covers it."""
        place = len(self._parts) if below is None else below
        self._parts.insert(place, f'<path class="{look}" d="{drawn}"/>')

    def layer(self) -> int:
        """Return the place of what is drawn next, for paths that belong below it."""
        return len(self._parts)

    def whisker(self, low: float, high: float, y: float, look: str = "wh") -> None:
        """Draw a horizontal interval with ends."""
        self.path(
            f"M{low:.1f} {y - 3:.1f}v6M{low:.1f} {y:.1f}H{high:.1f}M{high:.1f} {y - 3:.1f}v6",
            f"w {look}",
        )

    def mark(self, x: float, y: float, look: str, shape: int = 0) -> None:
        """Draw a point as a circle, a square or a diamond."""
        if shape == 0:
            self._parts.append(f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
        elif shape == 1:
            self._parts.append(
                f'<rect class="{look}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'
            )
        else:
            self.path(f"M{x:.1f} {y - 5.6:.1f}l5.6 5.6-5.6 5.6-5.6-5.6z", look)

    def rule(self, y: float) -> None:
        """Draw a thin line over the whole width."""
        self.path(f"M{MARGIN} {y:.1f}H{self.right}", "rule")

    def finish(self, foot: str) -> str:
        """Return the SVG, with a footnote below."""
        self.y += 6
        self.paragraph(foot, 11.5)
        height = round(self.y + 22)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height}" '
                f'viewBox="0 0 {self.width} {height}" role="img">',
                f"<title>{to_markup(self._title)}</title>",
                f"<desc>{to_markup(self._description, 4000)}</desc>",
                f"<style>{STYLE.strip()}</style>",
                f'<rect class="paper" width="{self.width}" height="{height}" rx="12"/>',
                *self._parts,
                "</svg>\n",
            ]
        )
