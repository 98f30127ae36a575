"""
Charts of a survey as SVG text, one for each question.

    crawlers          stacked bars: no URL, some, all URLs, with the interval of the first
    purposes          points: at least one crawler of a purpose, all, at least one by name
    access            stacked bars of access results, by stratum
    features, user_agents, notes      bars with intervals
    crawlers_by_time, purposes_by_time      lines with bands, one small chart each
    crawlers_by_stratum, purposes_by_stratum      points with intervals, one small chart each
    changes           differences of the same sites, first to last period

Charts by time and by stratum are in `small_multiples.py`. A chart that would have no data is left
out. Charts show what tables have, and compute nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robotrules.bulk.surveys.chart_parts import (
    axis_end,
    counted_sites,
    describe_shares,
    draw_axis,
    draw_header,
    draw_legend,
    footnote,
    interval_label,
    percent,
    purpose_title,
    rows_of_all,
    select_crawlers,
)
from robotrules.bulk.surveys.inputs import ACCESS, PERIODS
from robotrules.bulk.surveys.small_multiples import stratum_chart, time_chart
from robotrules.bulk.surveys.svg_canvas import MARGIN, Canvas, fit, text_width
from robotrules.bulk.surveys.tables import PURPOSE_QUESTIONS
from robotrules.bulk.surveys.values import Survey

# What a chart shows at most; tables have all.
MAX_CRAWLERS, MAX_BARS, MAX_STRATA_SHOWN, MAX_CHANGES = 40, 20, 13, 20
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
    rows = [row for row in rows_of_all(survey, "crawlers") if row["of"]]
    shown = select_crawlers(rows, MAX_CRAWLERS)
    if not shown:
        return None
    canvas = Canvas(
        "Which crawlers do sites disallow?",
        f"Share of {counted_sites(survey)} that allow each crawler no URL, some or all URLs; "
        f"whiskers: {interval_label(survey)} of “no URL”.",
        describe_shares((row["crawler"], row["none_share"]) for row in shown),
    )
    left, numbers = 236.0, 130.0
    wide = canvas.right - numbers - left
    draw_legend(canvas, list(STATE_LABELS.items()), left)
    draw_header(canvas, [("no URL", canvas.right - 62), ("some", canvas.right)])
    start, below = canvas.y, canvas.layer()
    purpose = None
    for row in shown:
        if row["purpose"] != purpose:
            purpose = row["purpose"]
            canvas.y += 15
            canvas.text(MARGIN, canvas.y + 9, purpose_title(purpose), 13, "ink b")
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
    draw_axis(canvas, left, wide, 1.0, start, below)
    hidden = len(rows) - len(shown)
    more = (
        f" Shown: the {len(shown)} crawlers that most files name; the table has {hidden} more."
        if hidden > 0
        else ""
    )
    return canvas.finish(footnote(survey) + more)


def purpose_chart(survey: Survey) -> str | None:
    """Draw the shares of sites that disallow crawlers of a purpose."""
    rows = [row for row in rows_of_all(survey, "purposes") if row["of"]]
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
        f"Share of {counted_sites(survey)} that allow no URL to crawlers of each purpose; "
        f"whiskers: {interval_label(survey)}.",
        describe_shares((name, by_purpose[name].get(first, {}).get("share")) for name in order),
    )
    left, numbers = 190.0, 190.0
    wide = canvas.right - numbers - left
    top = axis_end(max((row["high"] for row in rows), default=1.0))
    looks = dict(zip(PURPOSE_QUESTIONS, (("one", 0), ("two", 1), ("three", 2)), strict=True))
    labels = ("at least one crawler", "all crawlers", "at least one by its name")
    x = left
    for (look, shape), label in zip(looks.values(), labels, strict=True):
        canvas.mark(x + 5, canvas.y + 12, look, shape)
        canvas.text(x + 15, canvas.y + 16, label, 12, "faint")
        x += 34 + text_width(label, 12)
    canvas.y += 8
    ends = [canvas.right - 124, canvas.right - 62, canvas.right]
    draw_header(canvas, list(zip(("one", "all", "by name"), ends, strict=True)))
    step, start, below = 34, canvas.y, canvas.layer()
    for name in order:
        middle = canvas.y + step / 2
        some = next(iter(by_purpose[name].values()))
        canvas.text(left - 12, middle + 1, purpose_title(name), 13, "ink end")
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
    draw_axis(canvas, left, wide, top, start, below)
    note = (
        " Each crawler counts for its main purpose; retired crawlers and those that ignore groups "
        "for * do not count."
    )
    return canvas.finish(footnote(survey) + note)


# --- Bars -----------------------------------------------------------------------------------------


def access_chart(survey: Survey) -> str | None:
    """Draw the access results of all sites and of each stratum."""
    by_stratum: dict[str, list[Row]] = {}
    for row in survey.tables["access"].to_pylist():
        if row["of"]:
            by_stratum.setdefault(row["stratum"], []).append(row)
    if not by_stratum:
        return None
    shown = list(by_stratum)[:MAX_STRATA_SHOWN]
    canvas = Canvas(
        "What did requests for robots.txt find?",
        f"Share of {survey.counts.get('sites', 0):,} sites by access result (RFC 9309 §2.3.1).",
        describe_shares((row["access"], row["share"]) for row in by_stratum[shown[0]]),
    )
    left, numbers = 190.0, 142.0
    wide = canvas.right - numbers - left
    found = {row["access"] for rows in by_stratum.values() for row in rows if row["sites"]}
    legend = [ACCESS_LOOKS[name] for name in (*ACCESS, "unknown") if name in found]
    draw_legend(canvas, legend, left)
    draw_header(canvas, [("file", canvas.right - 70), ("sites", canvas.right)])
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
    draw_axis(canvas, left, wide, 1.0, start, below)
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
        "Share of {files} with a user-agent line of each name, compared without case, without *; "
        "whiskers: {interval}.",
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
    rows = [row for row in rows_of_all(survey, table) if row["of"] and row["sites"]]
    rows = [row for row in rows if row[label] != "*"]
    rows = sorted(rows, key=lambda row: -row["share"])[:MAX_BARS]
    if not rows:
        return None
    files = f"{rows[0]['of']:,} sites with a file"
    canvas = Canvas(
        title,
        subtitle.format(files=files, interval=interval_label(survey)),
        describe_shares((row[label], row["share"]) for row in rows),
    )
    left, numbers = 236.0, 142.0
    wide = canvas.right - numbers - left
    top = axis_end(max(row["high"] for row in rows))
    draw_header(canvas, [("share", canvas.right - 70), ("sites", canvas.right)])
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
    draw_axis(canvas, left, wide, top, start, below)
    return canvas.finish(footnote(survey, files=True))


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
        f"same {max(row['of'] for row in rows):,} sites; whiskers: {interval_label(survey)}.",
        describe_shares((row["name"], row["difference"]) for row in rows),
    )
    left, numbers = 236.0, 190.0
    wide = canvas.right - numbers - left
    below_zero = max(0.0, -min(row["low"] for row in rows))
    above_zero = max(0.0, max(row["high"] for row in rows))
    lowest = axis_end(below_zero) if below_zero else 0.0
    highest = axis_end(above_zero) if above_zero else 0.0
    scale = wide / (lowest + highest)
    zero = left + scale * lowest
    ends = [canvas.right - 124, canvas.right - 62, canvas.right]
    draw_header(canvas, list(zip(("points", "started", "stopped"), ends, strict=True)))
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
