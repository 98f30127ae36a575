"""
Small multiples of a survey: one small chart for each crawler or purpose, all on the same scale.

Over time: lines with bands, at their place on the axis of time. By stratum: points with intervals.
The module computes nothing but places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from robotrules.bulk.surveys.chart_parts import (
    axis_end,
    describe_shares,
    footnote,
    interval_label,
    percent,
    purpose_title,
    select_crawlers,
)
from robotrules.bulk.surveys.inputs import ALL, NOT_KNOWN, PERIODS
from robotrules.bulk.surveys.svg_canvas import MARGIN, Canvas, fit
from robotrules.bulk.surveys.tables import PURPOSE_QUESTIONS
from robotrules.bulk.surveys.values import Survey

# What is shown at most; tables have all.
MAX_PANELS, MAX_STRATA_SHOWN = 12, 10
Row = dict[str, Any]


def time_chart(survey: Survey, kind: str) -> str | None:
    """Draw shares over time as lines with bands, one small chart for each crawler or purpose."""
    periods = [label for label in survey.strata if label != NOT_KNOWN]
    series = _series(survey, kind, periods)
    if len(periods) < 2 or not series:
        return None
    canvas = _panels_canvas(survey, kind, f"by {survey.by}", series, periods)
    top = _top(series)
    first, last = _moment(periods[0]), _moment(periods[-1])
    moments = [((_moment(label) - first) / (last - first), label) for label in periods]
    columns, gap, high = 3, 26, 118
    wide = (canvas.width - 2 * MARGIN - gap * (columns - 1) - 34 * columns) / columns
    start = canvas.y
    for place, (name, rows) in enumerate(series):
        column, line = place % columns, place // columns
        left = MARGIN + 34 + column * (wide + gap + 34)
        y = start + line * (high + 68) + 34
        _panel_frame(canvas, name, left, wide, y, high, top)
        points = [(left + wide * moment, rows.get(label)) for moment, label in moments]
        for x, _ in points:
            canvas.path(f"M{x:.1f} {y + high:.1f}v4", "rule")
        for run in _runs(points):
            upper = [f"{x:.1f} {y + high * (1 - r['high'] / top):.1f}" for x, r in run]
            lower = [f"{x:.1f} {y + high * (1 - r['low'] / top):.1f}" for x, r in reversed(run)]
            canvas.path("M" + "L".join([*upper, *lower]) + "Z", "band")
            middle = [f"{x:.1f} {y + high * (1 - r['share'] / top):.1f}" for x, r in run]
            canvas.path("M" + "L".join(middle), "line one-s")
            if len(run) == 1 or len(periods) <= 12:
                for x, row in run:
                    canvas.mark(x, y + high * (1 - row["share"] / top), "one")
        known = [row for _, row in points if row]
        canvas.text(left + wide, y - 13, percent(known[-1]["share"]), 12, "one b end num")
        canvas.text(left, y + high + 16, periods[0], 11, "faint")
        canvas.text(left + wide, y + high + 16, periods[-1], 11, "faint end")
    canvas.y = start + -(-len(series) // columns) * (high + 68)
    sizes = _numbers_of_sites(survey, periods)
    return canvas.finish(f"{footnote(survey)} Sites by {survey.by}: {sizes}. {_OTHER_SITES}")


_OTHER_SITES = (
    "Periods may have different sites: a change here may be one of the sample; the chart of "
    "changes has the same sites."
)


def stratum_chart(survey: Survey, kind: str) -> str | None:
    """Draw shares by stratum as points with intervals, one small chart each."""
    strata = list(survey.strata[:MAX_STRATA_SHOWN])
    series = _series(survey, kind, strata)
    if not strata or not series:
        return None
    canvas = _panels_canvas(survey, kind, f"by {survey.by}", series, strata)
    top = _top(series)
    columns, gap, names = 3, 22, 128.0
    wide = (canvas.width - 2 * MARGIN - gap * (columns - 1)) / columns - names - 54
    height = 18 * len(strata) + 66
    start = canvas.y
    for place, (name, rows) in enumerate(series):
        column, line = place % columns, place // columns
        edge = MARGIN + column * (wide + names + 54 + gap)
        left, y = edge + names, start + line * height + 26
        canvas.text(edge, y - 8, fit(purpose_title(name), names + wide, 13), 13, "ink b")
        bottom = y + 18 * len(strata) + 2
        for part in (0.0, 0.5, 1.0):
            x = left + wide * part
            canvas.path(f"M{x:.1f} {y:.1f}V{bottom:.1f}", "rule")
            canvas.text(x, bottom + 13, percent(top * part, 0), 10.5, "faint mid")
        for number, label in enumerate(strata):
            middle = y + 18 * number + 10
            canvas.text(edge, middle + 4, fit(label, names - 8, 11.5), 11.5, "ink")
            if (row := rows.get(label)) is None:
                canvas.text(left + wide + 54, middle + 4, "no data", 11, "faint end")
                continue
            canvas.whisker(
                left + wide * row["low"] / top, left + wide * row["high"] / top, middle, "one-s"
            )
            canvas.mark(left + wide * row["share"] / top, middle, "one")
            canvas.text(left + wide + 54, middle + 4, percent(row["share"]), 11.5, "ink end num")
    canvas.y = start + -(-len(series) // columns) * height - 8
    sizes = _numbers_of_sites(survey, strata)
    more = len(survey.strata) - len(strata)
    hidden = f" {more} more strata are in the table." if more else ""
    return canvas.finish(f"{footnote(survey)} Sites: {sizes}.{hidden}")


def _series(survey: Survey, kind: str, strata: Sequence[str]) -> list[tuple[str, dict[str, Row]]]:
    """Return name and shares by stratum for each small chart, the largest share first."""
    if kind == "crawler":
        table = survey.tables["crawlers"].to_pylist()
        chosen = select_crawlers([r for r in table if r["stratum"] == ALL and r["of"]], MAX_PANELS)
        rows = [
            {"name": row["crawler"], "stratum": row["stratum"], "of": row["of"]}
            | {end: row[f"none_{end}"] for end in ("share", "low", "high")}
            for row in table
        ]
        names = [row["crawler"] for row in chosen]
    else:
        first = PURPOSE_QUESTIONS[0]
        table = survey.tables["purposes"].to_pylist()
        rows = [row | {"name": row["purpose"]} for row in table if row["disallows"] == first]
        names = [row["name"] for row in rows if row["stratum"] == ALL and row["of"]]
    by_name: dict[str, dict[str, Row]] = {name: {} for name in names}
    overall: dict[str, float] = {}
    for row in rows:
        if row["name"] in by_name and row["of"]:
            if row["stratum"] in strata:
                by_name[row["name"]][row["stratum"]] = row
            elif row["stratum"] == ALL:
                overall[row["name"]] = row["share"]
    order = sorted((name for name in names if by_name[name]), key=lambda name: -overall[name])
    return [(name, by_name[name]) for name in order[:MAX_PANELS]]


def _panels_canvas(
    survey: Survey,
    kind: str,
    how: str,
    series: Sequence[tuple[str, dict[str, Row]]],
    strata: Sequence[str],
) -> Canvas:
    what = "each crawler" if kind == "crawler" else "at least one crawler of each purpose"
    title = "Which crawlers do sites disallow" if kind == "crawler" else "Disallowed purposes"
    ends = []
    for name, rows in series:
        known = [label for label in strata if label in rows]
        ends.append((f"{name} {known[-1]}", rows[known[-1]]["share"]))
    band = "band" if survey.by in PERIODS else "whiskers"
    return Canvas(
        f"{title}, {how}" + ("?" if kind == "crawler" else ""),
        f"Share of sites that allow no URL to {what}; {band}: {interval_label(survey)}. "
        "All panels have the same scale.",
        describe_shares(ends),
    )


def _panel_frame(
    canvas: Canvas,
    name: str,
    left: float,
    wide: float,
    y: float,
    high: float,
    top: float,
) -> None:
    canvas.text(left - 30, y - 13, fit(purpose_title(name), wide - 30, 13), 13, "ink b")
    for part in (0.0, 0.5, 1.0):
        level = y + high * (1 - part)
        canvas.path(f"M{left:.1f} {level:.1f}H{left + wide:.1f}", "rule")
        canvas.text(left - 6, level + 4, percent(top * part, 0), 10.5, "faint end")


def _moment(period: str) -> float:
    """Return where a period is on the axis of time, in years; 2024-Q3 and 2024-07 are 2024.5."""
    year, _, part = period.partition("-")
    if part.startswith("Q"):
        return int(year) + (int(part[1:]) - 1) / 4
    return int(year) + (int(part) - 1) / 12 if part else float(year)


def _runs(points: Iterable[tuple[float, Row | None]]) -> list[list[tuple[float, Row]]]:
    """Return points in runs without gaps."""
    runs: list[list[tuple[float, Row]]] = [[]]
    for x, row in points:
        if row is None:
            runs.append([])
        else:
            runs[-1].append((x, row))
    return [run for run in runs if run]


def _top(series: Sequence[tuple[str, dict[str, Row]]]) -> float:
    return axis_end(max(row["high"] for _, rows in series for row in rows.values()))


def _numbers_of_sites(survey: Survey, strata: Sequence[str]) -> str:
    counted = {row["stratum"]: row["counted"] for row in survey.tables["sites"].to_pylist()}
    shown = [f"{fit(label, 150, 11.5)}: {counted[label]:,}" for label in strata]
    if len(shown) > 14:
        values = sorted(counted[label] for label in strata)
        return f"{values[0]:,} to {values[-1]:,}"
    return ", ".join(shown)
