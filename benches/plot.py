"""
Draw docs/pictures/check-time.svg: the time of one check by the number of rules.

    python benches/plot.py                    measure, then draw
    python benches/plot.py --save points.json measure, keep the points, draw
    python benches/plot.py --from points.json draw points measured before

Two panels, literal and wildcard rules, both axes logarithmic. The SVG is written without a drawing
library; it has a background and follows the reader's light or dark scheme.

Does not know: how a check is timed; see `growth.py`.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import engines
import growth
from definitions import load_definition
from growth import Point
from report import describe_machine

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "check-time.svg"

# Engine → (class in the style sheet, colour on light, colour on dark).
COLOURS = {
    "robotrules": ("ours", "#d1242f", "#ff7b72"),
    "robotrules, pure": ("pure", "#d1242f", "#ff7b72"),
    "Protego": ("protego", "#0969da", "#58a6ff"),
    "urllib.robotparser": ("urllib", "#8250df", "#bc8cff"),
    "robotspy": ("robotspy", "#bf3989", "#f778ba"),
    "jwm.robotstxt": ("jwm", "#57606a", "#9aa4af"),
    "fast-robotstxt": ("fast", "#1a7f37", "#3fb950"),
    "texting_robots (Rust)": ("texting", "#9a6700", "#d29922"),
    "robotstxt (Rust)": ("folyd", "#0e7c86", "#39c5cf"),
}

WIDTH, HEIGHT = 1000, 540
TOP, BOTTOM = 104, 452
PANEL, LABELS = 290, 150
LEFTS = (72, 72 + PANEL + LABELS + 46)
LOW, HIGH = -2.0, 5.0  # powers of ten of microseconds
TICKS = {
    -2: "10 ns",
    -1: "100 ns",
    0: "1 µs",
    1: "10 µs",
    2: "100 µs",
    3: "1 ms",
    4: "10 ms",
    5: "100 ms",
}
HEADINGS = {"literal": "Literal rules", "wildcard": "Wildcard rules"}
EXAMPLES = {"literal": "Disallow: /store/item-00001/", "wildcard": "Disallow: /store/*/item-00001"}
LABEL_STEP = 16.0
FOOT = "jwm.robotstxt, fast-robotstxt and robotstxt (Rust) parse the file again for each check."
OLD_STDLIB = " urllib.robotparser before Python 3.13 does not support wildcards."


@dataclass(frozen=True, slots=True)
class Panel:
    """The position of a panel, and the scale of its axes."""

    left: float
    most: float

    def x(self, rules: float) -> float:
        """Return the position of a number of rules."""
        return self.left + PANEL * math.log10(rules) / math.log10(self.most)

    def y(self, microseconds: float) -> float:
        """Return the position of a time."""
        power = min(max(math.log10(microseconds), LOW), HIGH)
        return BOTTOM - (BOTTOM - TOP) * (power - LOW) / (HIGH - LOW)


def draw(points: Sequence[Point], subtitle: str, foot: str) -> str:
    """Return the SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title">',
        '<title id="title">Time of one check against the number of rules, '
        "for robotrules and other parsers</title>",
        f"<style>{make_style()}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="10"/>',
        '<text class="head" x="28" y="38">One check, as the rules grow</text>',
        f'<text class="sub" x="28" y="60">{html.escape(subtitle)}</text>',
    ]
    most = max(point.rules for point in points)
    for shape, left in zip(HEADINGS, LEFTS, strict=True):
        parts += draw_panel(Panel(left, most), shape, [p for p in points if p.shape == shape])
    parts.append(f'<text class="foot" x="28" y="{HEIGHT - 18}">{html.escape(foot)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def draw_panel(area: Panel, shape: str, points: Sequence[Point]) -> list[str]:
    """Return one panel: grid, axes, a line for each engine, and its name at the line's end."""
    right = area.left + PANEL
    parts = [
        f'<text class="panel" x="{area.left}" y="{TOP - 14}">{HEADINGS[shape]}'
        f'<tspan class="code" dx="10">{html.escape(EXAMPLES[shape])}</tspan></text>'
    ]
    for power, label in TICKS.items():
        y = area.y(10.0**power)
        parts.append(
            f'<line class="grid" x1="{area.left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(f'<text class="tick end" x="{area.left - 8}" y="{y + 4:.1f}">{label}</text>')
    for power in range(round(math.log10(area.most)) + 1):
        x = area.x(10**power)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{BOTTOM}"/>')
        parts.append(f'<text class="tick mid" x="{x:.1f}" y="{BOTTOM + 20}">{10**power:,}</text>')
    parts.append(
        f'<text class="axis mid" x="{area.left + PANEL / 2}" y="{BOTTOM + 44}">'
        "rules in the group</text>"
    )
    ends: list[tuple[float, str]] = []
    # robotrules last, so that it is drawn on top.
    for name in reversed(COLOURS):
        line = sorted((p.rules, p.check) for p in points if p.engine == name)
        if not line:
            continue
        drawn = " ".join(f"{area.x(rules):.1f},{area.y(check):.1f}" for rules, check in line)
        parts.append(f'<polyline class="line {COLOURS[name][0]}" points="{drawn}"/>')
        ends.append((area.y(line[-1][1]), name))
    for (end, name), y in zip(
        sorted(ends), spread_labels([end for end, _ in sorted(ends)]), strict=True
    ):
        kind = COLOURS[name][0]
        parts.append(
            f'<path class="lead {kind}" d="M{right + 2:.1f} {end:.1f} L{right + 12:.1f} {y:.1f}"/>'
        )
        parts.append(
            f'<text class="name {kind}" x="{right + 16:.1f}" y="{y + 4:.1f}">'
            f"{html.escape(name)}</text>"
        )
    return parts


def spread_labels(ends: Sequence[float]) -> list[float]:
    """Move sorted label positions apart until none overlaps, keeping each near its line."""
    blocks: list[tuple[float, int]] = []  # centre, labels in it
    for end in ends:
        centre, count = end, 1
        while blocks and blocks[-1][0] + (blocks[-1][1] + count) / 2 * LABEL_STEP > centre:
            other, others = blocks.pop()
            centre = (other * others + centre * count) / (others + count)
            count += others
        blocks.append((centre, count))
    return [
        centre + (number - (count - 1) / 2) * LABEL_STEP
        for centre, count in blocks
        for number in range(count)
    ]


def make_style() -> str:
    """Return the style sheet of this picture."""

    def make_colours(which: int, card: str) -> str:
        del card
        return "".join(
            f".line.{names[0]},.lead.{names[0]}{{stroke:{names[which]}}}"
            f".name.{names[0]}{{fill:{names[which]}}}"
            for names in COLOURS.values()
        )

    return make_style_sheet(
        ".line{stroke-width:1.8}.line.ours{stroke-width:4}"
        ".name.ours{font-weight:700;font-size:13px}"
        ".line.pure{stroke-width:2;stroke-dasharray:5 4}",
        make_colours,
    )


def make_style_sheet(extra: str, make_colours: Callable[[int, str], str]) -> str:
    """
    Return a style sheet whose colours follow the reader's scheme.

    *make_colours* returns the rules for the colours of a picture: the light ones (1) or the dark
    (2), on a card of that colour.
    """

    def scheme(card: str, edge: str, grid: str, soft: str, strong: str, which: int) -> str:
        return (
            f".card{{fill:{card};stroke:{edge}}}.grid{{stroke:{grid}}}"
            f".tick,.sub,.axis,.code,.foot{{fill:{soft}}}.head,.panel,.count{{fill:{strong}}}"
            + make_colours(which, card)
        )

    sans = "-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif"
    mono = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"
    return (
        f"text{{font-family:{sans};font-size:12px}}"
        ".head{font-size:20px;font-weight:600}.sub{font-size:13px}.foot{font-size:11px}"
        ".panel{font-size:14px;font-weight:600}"
        f".code{{font-family:{mono};font-size:11px;font-weight:400}}"
        ".end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke-width:1}"
        ".line{fill:none;stroke-linejoin:round;stroke-linecap:round}"
        ".lead{fill:none;stroke-width:1;opacity:.55}"
        + extra
        + scheme("#ffffff", "#d0d7de", "#eaeef2", "#57606a", "#1f2328", 1)
        + "@media (prefers-color-scheme:dark){"
        + scheme("#0d1117", "#30363d", "#21262d", "#9aa4af", "#f0f6fc", 2)
        + "}"
    )


def measure(sizes: Sequence[int], rounds: int) -> dict[str, Any]:
    """Time every available engine at every size; return the points and the captions."""
    found = [engine for engine in engines.ALL if engine.available()[0]]

    def progress(text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    points: list[Point] = []
    for shape in ("literal", "wildcard"):
        points += growth.measure_points(found, shape, sizes, rounds, progress)
    progress("")
    machine = describe_machine()
    return {
        "subtitle": f"Median time for one URL; both axes logarithmic. {machine['machine']}, "
        f"{machine['python']}, {machine['date']}.",
        "foot": FOOT + (OLD_STDLIB if sys.version_info < (3, 13) else ""),
        "points": [asdict(point) for point in points],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure or read, then draw."""
    parser = argparse.ArgumentParser(description="Draw the time of a check by number of rules.")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="points")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the points here")
    parser.add_argument("--to", type=Path, default=PICTURE, metavar="SVG", help="the picture")
    options = parser.parse_args(arguments)
    if options.source:
        data = json.loads(options.source.read_text(encoding="utf-8"))
    else:
        plan = load_definition("rules")["plot"]
        data = measure(plan["sizes"], plan["rounds"])
    if options.save:
        options.save.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    points = [Point(**point) for point in data["points"]]
    options.to.parent.mkdir(parents=True, exist_ok=True)
    options.to.write_text(draw(points, data["subtitle"], data["foot"]), encoding="utf-8")
    print(f"drawn: {options.to.name}, {len(points)} points")
    return 0


if __name__ == "__main__":
    sys.exit(main())
