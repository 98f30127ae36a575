"""
Draw docs/pictures/analysis-time.svg and analysis-histogram.svg from recorded figures.

    python benches/run.py --only analysis --json figures.json
    python benches/analysis_plot.py figures.json

The first has two panels, both axes logarithmic: the time to prove two files equivalent, and to
minimise a file, by number of rules. The second is the time of all analyses of one real file. Like
`plot.py` it uses no drawing library.

Does not know: how analyses are timed; see `analysis.py`.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plot import make_style_sheet, spread_labels

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
# Shape → (class in the style sheet, light colour, dark colour).
COLOURS = {
    "literal": ("literal", "#0969da", "#58a6ff"),
    "mixed": ("mixed", "#8250df", "#bc8cff"),
    "wildcard": ("wildcard", "#d1242f", "#ff7b72"),
}
NAMES = {"literal": "literal", "mixed": "mixed", "wildcard": "all wildcards"}
PANELS = {
    "equal": ("Proved equivalent", "equivalent(old, new)"),
    "minimise": ("Minimised", "minimise(rules)"),
}
WIDTH, HEIGHT = 1000, 500
TOP, BOTTOM = 112, 412
PANEL, LABELS = 320, 110
LEFTS = (78, 78 + PANEL + LABELS + 62)
TICKS = {-4: "0.1 ms", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s", 2: "100 s"}


def draw_card(title: str, subtitle: str, foot: str, height: int, parts: Sequence[str]) -> str:
    """Return an SVG with a title, a subtitle, a footer and the drawn parts."""
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-labelledby="title">',
        f'<title id="title">{html.escape(title)}</title>',
        f"<style>{make_style()}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>',
        f'<text class="head" x="28" y="38">{html.escape(title)}</text>',
        f'<text class="sub" x="28" y="60">{html.escape(subtitle)}</text>',
    ]
    end = [f'<text class="foot" x="28" y="{height - 18}">{html.escape(foot)}</text>', "</svg>"]
    return "\n".join([*head, *parts, *end]) + "\n"


# --- Time against rules ---------------------------------------------------------------------------


def draw_curves(figures: dict[str, Any]) -> str:
    """Return the picture of time by number of rules."""
    points = [p for p in figures["analysis"]["curves"] if p["shape"] in COLOURS]
    times = [max(point["seconds"], 1e-5) for point in points if point["asked"] in PANELS]
    low = max(math.floor(math.log10(min(times))), min(TICKS))
    high = max(math.ceil(math.log10(max(times))), low + 1)
    parts: list[str] = []
    for asked, left in zip(PANELS, LEFTS, strict=True):
        parts += draw_panel(asked, left, [p for p in points if p["asked"] == asked], low, high)
    machine = figures["machine"]
    subtitle = (
        f"Processor time of one analysis; both axes logarithmic. {machine['machine']}, "
        f"{machine['python']}, {machine['date']}."
    )
    foot = (
        "Generated files. Every rule is written differently in the second file, so every rule is "
        "compared. Hollow: not decided within the state limit."
    )
    return draw_card("Exact analysis by number of rules", subtitle, foot, HEIGHT, parts)


def draw_panel(
    asked: str, left: float, points: Sequence[dict[str, Any]], low: int, high: int
) -> Iterator[str]:
    """Yield one panel: grid, axes, a line for each shape, and its name at the line's end."""
    most, least = max(p["rules"] for p in points), min(p["rules"] for p in points)
    right = left + PANEL

    def x(rules: float) -> float:
        return left + PANEL * math.log(rules / least) / math.log(most / least)

    def y(seconds: float) -> float:
        power = min(max(math.log10(max(seconds, 1e-9)), low), high)
        return BOTTOM - (BOTTOM - TOP) * (power - low) / (high - low)

    heading, code = PANELS[asked]
    yield (
        f'<text class="panel" x="{left}" y="{TOP - 16}">{heading}'
        f'<tspan class="code" dx="10">{html.escape(code)}</tspan></text>'
    )
    for power in range(low, high + 1):
        at = y(10.0**power)
        yield f'<line class="grid" x1="{left}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>'
        yield f'<text class="tick end" x="{left - 8}" y="{at + 4:.1f}">{TICKS[power]}</text>'
    for rules in dict.fromkeys(p["rules"] for p in points):
        at = x(rules)
        yield f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{BOTTOM}"/>'
        if rules != 2_000:  # too near to its neighbours
            yield f'<text class="tick mid" x="{at:.1f}" y="{BOTTOM + 20}">{rules:,}</text>'
    yield (
        f'<text class="axis mid" x="{left + PANEL / 2}" y="{BOTTOM + 44}">rules in the file</text>'
    )
    ends: list[tuple[float, str]] = []
    for shape in COLOURS:
        line = sorted(
            (p["rules"], p["seconds"], p["undecided"]) for p in points if p["shape"] == shape
        )
        if not line:
            continue
        kind = COLOURS[shape][0]
        drawn = " ".join(f"{x(rules):.1f},{y(seconds):.1f}" for rules, seconds, _ in line)
        yield f'<polyline class="line {kind}" points="{drawn}"/>'
        for rules, seconds, undecided in line:
            hollow = " hollow" if undecided else ""
            yield (
                f'<circle class="dot {kind}{hollow}" cx="{x(rules):.1f}" cy="{y(seconds):.1f}" '
                'r="3.5"/>'
            )
        ends.append((y(line[-1][1]), shape))
    for (end, shape), at in zip(
        sorted(ends), spread_labels([end for end, _ in sorted(ends)]), strict=True
    ):
        kind = COLOURS[shape][0]
        line_to = f"M{right + 6:.1f} {end:.1f} L{right + 14:.1f} {at:.1f}"
        yield f'<path class="lead {kind}" d="{line_to}"/>'
        name = f'<text class="name {kind}" x="{right + 18:.1f}" y="{at + 4:.1f}">'
        yield f"{name}{NAMES[shape]}</text>"


# --- Time for one real file -----------------------------------------------------------------------


def draw_histogram(figures: dict[str, Any]) -> str:
    """Return the picture of the time of real files, for the first profile of the study."""
    study = figures["analysis"]["corpus"][0]
    steps = study["milliseconds"]["histogram"]
    left, right, top, bottom = 40.0, WIDTH - 40.0, 110.0, 330.0
    most = max(count for _, count in steps)
    width = (right - left) / len(steps)
    parts = [f'<line class="grid" x1="{left}" x2="{right}" y1="{bottom}" y2="{bottom}"/>']
    for number, (label, count) in enumerate(steps):
        height = max((bottom - top) * count / most, 1.5 if count else 0.0)
        middle = left + width * (number + 0.5)
        parts.append(
            f'<rect class="bar" x="{middle - width * 0.4:.1f}" y="{bottom - height:.1f}" '
            f'width="{width * 0.8:.1f}" height="{height:.1f}" rx="3"/>'
        )
        parts.append(
            f'<text class="count mid" x="{middle:.1f}" y="{bottom - height - 7:.1f}">'
            f"{count:,}</text>"
        )
        # "1 ms to 3 ms" in two lines.
        first, _, second = label.partition(" to ")
        lines = [first, f"to {second}"] if second else [first]
        for row, text in enumerate(lines):
            parts.append(
                f'<text class="tick mid" x="{middle:.1f}" y="{bottom + 20 + 15 * row}">'
                f"{html.escape(text)}</text>"
            )
    machine = figures["machine"]
    files = "real files" if study["real"] else "generated files (STAND-IN)"
    subtitle = (
        f"{study['files with rules']:,} {files} with {study['rules']:,} rules; processor time for "
        f"all rule sets of a file. {machine['machine']}, {machine['python']}, {machine['date']}."
    )
    foot = (
        f"Dead rules, redundant rules and minimise, profile {study['profile']}. Median "
        f"{study['milliseconds']['median']:.2f} ms; all files together "
        f"{study['milliseconds']['total'] / 1000:,.0f} s."
    )
    return draw_card("All analyses of one robots.txt", subtitle, foot, 410, parts)


def make_style() -> str:
    """Return the style sheet of these pictures."""

    def make_colours(which: int, card: str) -> str:
        rules = [f".bar{{fill:{COLOURS['literal'][which]}}}.dot.hollow{{fill:{card}}}"]
        for names in COLOURS.values():
            kind, colour = names[0], names[which]
            rules.append(f".line.{kind},.lead.{kind},.dot.{kind}{{stroke:{colour}}}")
            rules.append(f".name.{kind},.dot.{kind}:not(.hollow){{fill:{colour}}}")
        return "".join(rules)

    return make_style_sheet(".line{stroke-width:2.4}.dot{stroke-width:2}", make_colours)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read figures and draw both pictures."""
    parser = argparse.ArgumentParser(description="Draw the times of exact analysis.")
    parser.add_argument("figures", type=Path, metavar="FIGURES", help="output of run.py --json")
    parser.add_argument("--to", type=Path, default=PICTURES, metavar="FOLDER", help="for the SVGs")
    options = parser.parse_args(arguments)
    figures = json.loads(options.figures.read_text(encoding="utf-8"))
    options.to.mkdir(parents=True, exist_ok=True)
    for name, draw in (("analysis-time", draw_curves), ("analysis-histogram", draw_histogram)):
        (options.to / f"{name}.svg").write_text(draw(figures), encoding="utf-8")
        print(f"drawn: {name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
