"""
Charts of a survey as SVG text, one for each question.

    crawlers          stacked bars: no URL, some, all URLs, with the interval of the first
    purposes          points: at least one crawler of a purpose, all, at least one by name
    access            stacked bars of access results, by stratum
    features, user_agents, notes      bars with intervals
    crawlers_by_time, purposes_by_time      lines with bands, one small chart each
    crawlers_by_stratum, purposes_by_stratum      points with intervals, one small chart each
    changes           differences of the same sites, first to last period

A chart that would have no data is left out. Charts show what tables have, and compute nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from robotrules.bulk.surveys.inputs import ACCESS, ALL, NOT_KNOWN, PERIODS
from robotrules.bulk.surveys.svg_canvas import MARGIN, Canvas, fit, text_width
from robotrules.bulk.surveys.tables import PURPOSE_QUESTIONS
from robotrules.bulk.surveys.values import Survey
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS

# What a chart shows at most; tables have all.
MAX_CRAWLERS, MAX_BARS, MAX_PANELS, MAX_STRATA_SHOWN, MAX_CHANGES = 40, 20, 12, 10, 20
LINE = 21
STATE_LABELS = {"none": "no URL allowed", "some": "some URLs", "all": "all URLs allowed"}
ACCESS_LOOKS = {
    "success": ("one", "file (success)"),
    "unavailable": ("all", "no file (unavailable)"),
    "unreachable": ("none", "unreachable"),
    "missing": ("gone", "redirect target missing"),
    "unknown": ("odd", "unknown"),
}
Row = dict[str, Any]


def make_charts(survey: Survey) -> dict[str, str]:
    """Return the charts of a survey by name."""
    makers: dict[str, Callable[[Survey], str | None]] = {
        "crawlers": crawler_chart,
        "purposes": purpose_chart,
        "access": access_chart,
        "features": feature_chart,
        "user_agents": user_agent_chart,
        "notes": note_chart,
    }
    if survey.by in PERIODS:
        makers |= {
            "crawlers_by_time": lambda survey: time_chart(survey, "crawler"),
            "purposes_by_time": lambda survey: time_chart(survey, "purpose"),
            "changes": change_chart,
        }
    elif survey.by is not None:
        makers |= {
            "crawlers_by_stratum": lambda survey: stratum_chart(survey, "crawler"),
            "purposes_by_stratum": lambda survey: stratum_chart(survey, "purpose"),
        }
    charts = {name: make(survey) for name, make in makers.items()}
    return {name: chart for name, chart in charts.items() if chart is not None}


# --- Crawlers and purposes ------------------------------------------------------------------------


def crawler_chart(survey: Survey) -> str | None:
    """Draw stacked bars of crawlers, by purpose."""
    rows = [row for row in _rows(survey, "crawlers") if row["of"]]
    shown = select_crawlers(rows, MAX_CRAWLERS)
    if not shown:
        return None
    canvas = Canvas(
        "Which crawlers do sites disallow?",
        f"Share of {_sites(survey)} that allow each crawler no URL, some or all URLs; whiskers: "
        f"{_interval(survey)} of “no URL”.",
        _describe((row["crawler"], row["none_share"]) for row in shown),
    )
    left, numbers = 236.0, 130.0
    wide = canvas.right - numbers - left
    _legend(canvas, list(STATE_LABELS.items()), left)
    _header(canvas, [("no URL", canvas.right - 62), ("some", canvas.right)])
    start, below = canvas.y, canvas.layer()
    purpose = None
    for row in shown:
        if row["purpose"] != purpose:
            purpose = row["purpose"]
            canvas.y += 15
            canvas.text(MARGIN, canvas.y + 9, _title(purpose), 13, "ink b")
            canvas.rule(canvas.y - 7)
            canvas.y += 17
        middle = canvas.y + LINE / 2
        name = fit(row["crawler"], left - MARGIN - 10, 12.5)
        canvas.text(left - 10, middle + 4, name, 12.5, "ink end")
        x = left
        for state in STATE_LABELS:
            part = wide * row[f"{state}_share"]
            tip = f"{row['crawler']}, {STATE_LABELS[state]}: {row[state]:,} of {row['of']:,} sites"
            canvas.rect(x, canvas.y + 3, part, LINE - 6, state, tip)
            x += part
        canvas.whisker(left + wide * row["none_low"], left + wide * row["none_high"], middle)
        canvas.text(canvas.right - 62, middle + 4, percent(row["none_share"]), 12, "ink b end num")
        canvas.text(canvas.right, middle + 4, percent(row["some_share"]), 12, "faint end num")
        canvas.y += LINE
    _axis(canvas, left, wide, 1.0, start, below)
    hidden = len(rows) - len(shown)
    more = (
        f" Shown: the {len(shown)} crawlers that most files name; the table has {hidden} more."
        if hidden > 0
        else ""
    )
    return canvas.finish(_foot(survey) + more)


def select_crawlers(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the crawlers that most files name, by purpose, those most often disallowed first."""

    def weight(row: Row) -> tuple[int, bool, int, str]:
        known = KNOWN_CRAWLERS.get(row["crawler"])
        main = known is not None and known.is_main
        return -row["named"], not main, -row["none"], row["crawler"].lower()

    chosen = {row["crawler"] for row in sorted(rows, key=weight)[:most]}
    # The table is in the order of purposes and shares.
    return [row for row in rows if row["crawler"] in chosen]


def purpose_chart(survey: Survey) -> str | None:
    """Draw the shares of sites that disallow crawlers of a purpose."""
    rows = [row for row in _rows(survey, "purposes") if row["of"]]
    by_purpose: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_purpose.setdefault(row["purpose"], {})[row["disallows"]] = row
    if not by_purpose:
        return None
    first = PURPOSE_QUESTIONS[0]
    order = sorted(
        by_purpose, key=lambda name: -(by_purpose[name].get(first, {}).get("share") or 0.0)
    )
    canvas = Canvas(
        "What are crawlers that sites disallow for?",
        f"Share of {_sites(survey)} that allow no URL to crawlers of each purpose; whiskers: "
        f"{_interval(survey)}.",
        _describe((name, by_purpose[name].get(first, {}).get("share")) for name in order),
    )
    left, numbers = 190.0, 190.0
    wide = canvas.right - numbers - left
    top = _nice(max((row["high"] for row in rows), default=1.0))
    looks = dict(zip(PURPOSE_QUESTIONS, (("one", 0), ("two", 1), ("three", 2)), strict=True))
    labels = ("at least one crawler", "all crawlers", "at least one by its name")
    x = left
    for (look, shape), label in zip(looks.values(), labels, strict=True):
        canvas.mark(x + 5, canvas.y + 12, look, shape)
        canvas.text(x + 15, canvas.y + 16, label, 12, "faint")
        x += 34 + text_width(label, 12)
    canvas.y += 8
    ends = [canvas.right - 124, canvas.right - 62, canvas.right]
    _header(canvas, list(zip(("one", "all", "by name"), ends, strict=True)))
    step, start, below = 34, canvas.y, canvas.layer()
    for name in order:
        middle = canvas.y + step / 2
        some = next(iter(by_purpose[name].values()))
        canvas.text(left - 12, middle + 1, _title(name), 13, "ink end")
        noun = "crawler" if some["crawlers"] == 1 else "crawlers"
        canvas.text(left - 12, middle + 14, f"{some['crawlers']} {noun}", 10.5, "faint end")
        for place, question in enumerate(PURPOSE_QUESTIONS):
            if question not in by_purpose[name]:
                continue
            row = by_purpose[name][question]
            look, shape = looks[question]
            y = middle + (place - 1) * 8
            canvas.whisker(
                left + wide * row["low"] / top, left + wide * row["high"] / top, y, f"{look}-s"
            )
            canvas.mark(left + wide * row["share"] / top, y, look, shape)
            bold = "ink b" if place == 0 else "faint"
            canvas.text(ends[place], middle + 4, percent(row["share"]), 12, f"{bold} end num")
        canvas.y += step
    _axis(canvas, left, wide, top, start, below)
    note = (
        " Each crawler counts for its main purpose; retired crawlers and those that ignore groups "
        "for * do not count."
    )
    return canvas.finish(_foot(survey) + note)


# --- Bars -----------------------------------------------------------------------------------------


def access_chart(survey: Survey) -> str | None:
    """Draw the access results of all sites and of each stratum."""
    by_stratum: dict[str, list[Row]] = {}
    for row in survey.tables["access"].to_pylist():
        if row["of"]:
            by_stratum.setdefault(row["stratum"], []).append(row)
    if not by_stratum:
        return None
    shown = list(by_stratum)[: MAX_PANELS + 1]
    canvas = Canvas(
        "What did requests for robots.txt find?",
        f"Share of {survey.counts.get('sites', 0):,} sites by access result (RFC 9309 §2.3.1).",
        _describe((row["access"], row["share"]) for row in by_stratum[shown[0]]),
    )
    left, numbers = 190.0, 142.0
    wide = canvas.right - numbers - left
    found = {row["access"] for rows in by_stratum.values() for row in rows if row["sites"]}
    legend = [ACCESS_LOOKS[name] for name in (*ACCESS, "unknown") if name in found]
    _legend(canvas, legend, left)
    _header(canvas, [("file", canvas.right - 70), ("sites", canvas.right)])
    canvas.y += 4
    start, below = canvas.y, canvas.layer()
    for label in shown:
        rows, x = by_stratum[label], left
        middle = canvas.y + LINE / 2
        canvas.text(left - 10, middle + 4, fit(label, left - MARGIN - 10, 12.5), 12.5, "ink end")
        for row in rows:
            part = wide * row["share"]
            look, words = ACCESS_LOOKS[row["access"]]
            tip = f"{label}, {words}: {row['sites']:,} of {row['of']:,} sites"
            canvas.rect(x, canvas.y + 3, part, LINE - 6, look, tip)
            x += part
        canvas.text(canvas.right - 70, middle + 4, percent(rows[0]["share"]), 12, "ink b end num")
        canvas.text(canvas.right, middle + 4, f"{rows[0]['of']:,}", 12, "faint end num")
        canvas.y += LINE
    _axis(canvas, left, wide, 1.0, start, below)
    more = len(by_stratum) - len(shown)
    return canvas.finish(
        "Unreachable sites and missing redirect targets are not in the shares of crawlers."
        + (f" {more} more strata are in the table." if more else "")
    )


def feature_chart(survey: Survey) -> str | None:
    """Draw how many files use what."""
    return _bars(
        survey,
        "features",
        "meaning",
        "What do robots.txt files contain?",
        "Share of {files} that contain each of these; whiskers: {interval}.",
    )


def user_agent_chart(survey: Survey) -> str | None:
    """Draw the user agents that most files name."""
    return _bars(
        survey,
        "user_agents",
        "user_agent",
        "Which user agents do files name?",
        "Share of {files} with a user-agent line of each name, compared without case; whiskers: "
        "{interval}.",
    )


def note_chart(survey: Survey) -> str | None:
    """Draw the most frequent parser notes."""
    return _bars(
        survey,
        "notes",
        "note",
        "Which parser notes do files have?",
        "Share of {files} with at least one parser note of each kind; whiskers: {interval}.",
    )


def _bars(survey: Survey, table: str, label: str, title: str, subtitle: str) -> str | None:
    rows = [row for row in _rows(survey, table) if row["of"] and row["sites"]]
    rows = sorted(rows, key=lambda row: -row["share"])[:MAX_BARS]
    if not rows:
        return None
    files = f"{rows[0]['of']:,} sites with a file"
    canvas = Canvas(
        title,
        subtitle.format(files=files, interval=_interval(survey)),
        _describe((row[label], row["share"]) for row in rows),
    )
    left, numbers = 236.0, 142.0
    wide = canvas.right - numbers - left
    top = _nice(max(row["high"] for row in rows))
    _header(canvas, [("share", canvas.right - 70), ("sites", canvas.right)])
    start, below = canvas.y, canvas.layer()
    for row in rows:
        middle = canvas.y + LINE / 2
        name = fit(str(row[label]), left - MARGIN - 10, 12.5)
        canvas.text(left - 10, middle + 4, name, 12.5, "ink end")
        tip = f"{row[label]}: {row['sites']:,} of {row['of']:,} sites"
        canvas.rect(left, canvas.y + 4, wide * row["share"] / top, LINE - 8, "bar", tip)
        canvas.whisker(left + wide * row["low"] / top, left + wide * row["high"] / top, middle)
        canvas.text(canvas.right - 70, middle + 4, percent(row["share"]), 12, "ink b end num")
        canvas.text(canvas.right, middle + 4, f"{row['sites']:,}", 12, "faint end num")
        canvas.y += LINE
    _axis(canvas, left, wide, top, start, below)
    return canvas.finish(_foot(survey, files=True))


def change_chart(survey: Survey) -> str | None:
    """Draw the largest changes of the same sites between the first and the last period."""
    rows = survey.tables["changes"].to_pylist()
    if not rows:
        return None
    last = (rows[-1]["before"], rows[-1]["after"])
    rows = [row for row in rows if (row["before"], row["after"]) == last and row["of"]]
    rows = [row for row in rows if row["kind"] == "crawler" and row["started"] + row["stopped"]]
    rows = sorted(rows, key=lambda row: (-abs(row["difference"]), row["name"].lower()))
    rows = sorted(rows[:MAX_CHANGES], key=lambda row: -row["difference"])
    if not rows:
        return None
    canvas = Canvas(
        f"What changed from {last[0]} to {last[1]}?",
        f"Change of the share of sites that allow a crawler no URL, in percentage points, of the "
        f"same {max(row['of'] for row in rows):,} sites; whiskers: {_interval(survey)}.",
        _describe((row["name"], row["difference"]) for row in rows),
    )
    left, numbers = 236.0, 190.0
    wide = canvas.right - numbers - left
    below_zero = max(0.0, -min(row["low"] for row in rows))
    above_zero = max(0.0, max(row["high"] for row in rows))
    lowest = _nice(below_zero) if below_zero else 0.0
    highest = _nice(above_zero) if above_zero else 0.0
    scale = wide / (lowest + highest)
    zero = left + scale * lowest
    ends = [canvas.right - 124, canvas.right - 62, canvas.right]
    _header(canvas, list(zip(("points", "started", "stopped"), ends, strict=True)))
    start, below = canvas.y, canvas.layer()
    for row in rows:
        middle = canvas.y + LINE / 2
        name = fit(row["name"], left - MARGIN - 10, 12.5)
        canvas.text(left - 10, middle + 4, name, 12.5, "ink end")
        look = "two" if row["difference"] > 0 else "one"
        canvas.whisker(zero + scale * row["low"], zero + scale * row["high"], middle, f"{look}-s")
        canvas.mark(zero + scale * row["difference"], middle, look)
        points = f"{row['difference'] * 100:+.1f}".replace("-", "−")
        canvas.text(ends[0], middle + 4, points, 12, "ink b end num")
        canvas.text(ends[1], middle + 4, f"{row['started']:,}", 12, "faint end num")
        canvas.text(ends[2], middle + 4, f"{row['stopped']:,}", 12, "faint end num")
        canvas.y += LINE
    for tick in sorted({-lowest, -lowest / 2, 0.0, highest / 2, highest}):
        x = zero + scale * tick
        canvas.path(f"M{x:.1f} {start:.1f}V{canvas.y + 4:.1f}", "rule", below)
        # Beside a short half there is no room for the label of its middle.
        if tick in (-lowest, 0.0, highest) or abs(tick) * scale > 40:
            label = f"{tick * 100:+.3g}".replace("-", "−") if tick else "0"
            canvas.text(x, canvas.y + 19, label, 11, "faint mid")
    canvas.y += 22
    return canvas.finish(
        "started: sites that allowed the crawler some URL before and none after; stopped: the "
        "reverse. Interval of a paired difference by Bonett and Price (2012). Shown: the crawlers "
        "with the largest changes."
    )


# --- Small multiples ------------------------------------------------------------------------------


def time_chart(survey: Survey, kind: str) -> str | None:
    """Draw shares over time as lines with bands, one small chart for each crawler or purpose."""
    periods = [label for label in survey.strata if label != NOT_KNOWN]
    series = _series(survey, kind, periods)
    if len(periods) < 2 or not series:
        return None
    canvas = _panels_canvas(survey, kind, f"by {survey.by}", series, periods)
    top = _top(series)
    columns, gap, high = 3, 26, 118
    wide = (canvas.width - 2 * MARGIN - gap * (columns - 1) - 34 * columns) / columns
    start = canvas.y
    for place, (name, rows) in enumerate(series):
        column, line = place % columns, place // columns
        left = MARGIN + 34 + column * (wide + gap + 34)
        y = start + line * (high + 68) + 34
        _panel_frame(canvas, name, left, wide, y, high, top)
        step = wide / max(len(periods) - 1, 1)
        points = [(left + step * number, rows.get(label)) for number, label in enumerate(periods)]
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
    return canvas.finish(f"{_foot(survey)} Sites by {survey.by}: {sizes}. {_OTHER_SITES}")


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
        canvas.text(edge, y - 8, fit(_title(name), names + wide, 13), 13, "ink b")
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
    return canvas.finish(f"{_foot(survey)} Sites: {sizes}.{hidden}")


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
        f"Share of sites that allow no URL to {what}; {band}: {_interval(survey)}. All panels have "
        "the same scale.",
        _describe(ends),
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
    canvas.text(left - 30, y - 13, fit(_title(name), wide - 30, 13), 13, "ink b")
    for part in (0.0, 0.5, 1.0):
        level = y + high * (1 - part)
        canvas.path(f"M{left:.1f} {level:.1f}H{left + wide:.1f}", "rule")
        canvas.text(left - 6, level + 4, percent(top * part, 0), 10.5, "faint end")


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
    return _nice(max(row["high"] for _, rows in series for row in rows.values()))


def _numbers_of_sites(survey: Survey, strata: Sequence[str]) -> str:
    counted = {row["stratum"]: row["counted"] for row in survey.tables["sites"].to_pylist()}
    shown = [f"{fit(label, 150, 11.5)}: {counted[label]:,}" for label in strata]
    if len(shown) > 14:
        values = sorted(counted[label] for label in strata)
        return f"{values[0]:,} to {values[-1]:,}"
    return ", ".join(shown)


# --- Parts ----------------------------------------------------------------------------------------


def _rows(survey: Survey, table: str) -> list[Row]:
    return [row for row in survey.tables[table].to_pylist() if row["stratum"] == ALL]


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as per cent; a dash for None."""
    if share is None:
        return "–"
    if 0 < share < 0.0005 and digits:
        return "<0.1 %"
    return f"{share * 100:.{digits}f} %"


def _title(purpose: str) -> str:
    if purpose not in CRAWLER_PURPOSES:
        return purpose
    words = purpose.replace("ai-", "AI ").replace("seo", "SEO").replace("-", " ")
    return words[0].upper() + words[1:] if words not in ("in house",) else "In-house"


def _sites(survey: Survey) -> str:
    kind = "that answered" if survey.denominator == "answered" else "with a file"
    return f"{survey.counts.get('counted', 0):,} sites {kind}"


def _interval(survey: Survey) -> str:
    return f"{survey.confidence * 100:g} % interval"


def _foot(survey: Survey, *, files: bool = False) -> str:
    counts = survey.counts
    apart = counts.get("sites", 0) - counts.get("counted", 0)
    left_out = "" if files or not apart else f" {apart:,} sites without an answer are left out."
    return f"Wilson intervals.{left_out}"


def _describe(pairs: Iterable[tuple[str, float | None]]) -> str:
    return "; ".join(f"{name}: {percent(share)}" for name, share in pairs) + "."


def _nice(value: float) -> float:
    """Return the end of an axis: the next of 1, 2, 5, 10, 20, 40, 60, 80 and 100 per cent."""
    steps = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    return next((step for step in steps if value <= step), 1.0)


def _legend(canvas: Canvas, entries: Sequence[tuple[str, str]], x: float) -> None:
    for look, label in entries:
        canvas.rect(x, canvas.y + 5, 13, 13, look)
        canvas.text(x + 19, canvas.y + 16, label, 12, "faint")
        x += 40 + text_width(label, 12)
    canvas.y += 8


def _header(canvas: Canvas, columns: Sequence[tuple[str, float]]) -> None:
    for label, x in columns:
        canvas.text(x, canvas.y + 9, label, 11, "faint end")
    canvas.y += 16


def _axis(canvas: Canvas, left: float, wide: float, top: float, start: float, below: int) -> None:
    """Draw ticks below bars, and lines from *start* down behind them."""
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + wide * part
        canvas.path(f"M{x:.1f} {start:.1f}V{canvas.y + 5:.1f}", "rule", below)
        digits = 0 if abs(top * part * 100 - round(top * part * 100)) < 1e-9 else 1
        canvas.text(x, canvas.y + 19, percent(top * part, digits), 11, "faint mid")
    canvas.y += 22
