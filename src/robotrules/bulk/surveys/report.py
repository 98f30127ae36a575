"""
Reports of a survey: a Markdown page, and an HTML page with the charts in it.

Both have the same tables, with shares as per cent and their interval: `12.3 % (11.0–13.7)`. Tables
of all sites are cut after some rows, and strata are columns; the CSV files have everything. Texts
of files are escaped. The module computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.bulk.surveys.chart_parts import percent, select_crawlers
from robotrules.bulk.surveys.charts import make_charts
from robotrules.bulk.surveys.inputs import ALL
from robotrules.bulk.surveys.svg_canvas import to_markup
from robotrules.bulk.surveys.tables import PURPOSE_QUESTIONS
from robotrules.bulk.surveys.values import Survey
from robotrules.octets import visible

# Rows and strata of a table on a page.
MAX_ROWS, MAX_COLUMNS = 40, 12
Row = dict[str, Any]


class _Block(NamedTuple):
    """A table for a page: texts, and which charts belong to it."""

    heading: str
    sentence: str
    columns: list[str]
    rows: list[list[str]]
    charts: tuple[str, ...] = ()


def make_markdown(survey: Survey) -> str:
    """Return the survey as a Markdown page."""
    lines = [f"# {_escape(survey.title)}", ""]
    lines += [f"- {_escape(remark)}" for remark in survey.remarks]
    for block in _blocks(survey):
        lines += ["", f"## {_escape(block.heading)}", "", _escape(block.sentence), ""]
        if block.rows:
            lines.append(_markdown_line(block.columns))
            # The first column is text, the others are figures.
            lines.append("|---|" + "--:|" * (len(block.columns) - 1))
            lines += [_markdown_line(row) for row in block.rows]
    return "\n".join(lines) + "\n"


def make_html(survey: Survey) -> str:
    """Return the survey as one HTML page, with the charts in it."""
    charts = make_charts(survey)
    title = to_markup(survey.title)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_STYLE.strip()}</style></head><body><main>",
        f"<h1>{title}</h1>",
        "<ul>",
        *(f"<li>{to_markup(remark, 2000)}</li>" for remark in survey.remarks),
        "</ul>",
    ]
    for block in _blocks(survey):
        parts.append(f"<section><h2>{to_markup(block.heading)}</h2>")
        for name in block.charts:
            if name in charts:
                parts.append(f"<figure>{charts[name].strip()}</figure>")
        parts.append(f"<p>{to_markup(block.sentence, 1000)}</p>")
        if block.rows:
            head = "".join(f'<th scope="col">{to_markup(name)}</th>' for name in block.columns)
            parts.append(f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>')
            for first, *others in block.rows:
                cells = "".join(f"<td>{to_markup(cell)}</td>" for cell in others)
                parts.append(f'<tr><th scope="row">{to_markup(first)}</th>{cells}</tr>')
            parts.append("</tbody></table></div>")
        parts.append("</section>")
    parts.append("<footer>Made by robotrules.</footer></main></body></html>")
    return "\n".join(parts) + "\n"


# --- Tables for pages -----------------------------------------------------------------------------


def _blocks(survey: Survey) -> Iterator[_Block]:
    yield _sites(survey)
    yield _crawlers(survey)
    if survey.strata:
        yield _crawlers_by_stratum(survey)
    yield _purposes(survey)
    if survey.strata:
        yield _pivot(
            survey,
            "purposes",
            "purpose",
            f"Purposes by {survey.by}",
            "Share of sites that allow no URL to at least one crawler of the purpose.",
            lambda row: row["disallows"] == PURPOSE_QUESTIONS[0],
            ("purposes_by_time", "purposes_by_stratum"),
        )
    if "changes" in survey.tables:
        yield _changes(survey)
    yield _features(survey)
    yield _files(survey)
    yield _shares(
        survey,
        "crawl_delays",
        "seconds",
        "Crawl delays",
        "Crawl-delay for *, in seconds; shares are of the sites that have one.",
    )
    yield _preferences(survey)
    yield _shares(
        survey,
        "user_agents",
        "user_agent",
        "User agents",
        "Names in user-agent lines, compared without case; shares are of sites with a file.",
        ("user_agents",),
    )
    yield _shares(
        survey,
        "notes",
        "note",
        "Parser notes",
        "Shares are of sites with a file; a site counts once for each note.",
        ("notes",),
    )


def _sites(survey: Survey) -> _Block:
    columns = [
        *("", "sites", "file", "no file", "unreachable", "missing", "unknown"),
        *("counted", "first fetch", "last fetch"),
    ]
    rows = []
    for row in survey.tables["sites"].to_pylist():
        names = ("sites", "success", "unavailable", "unreachable", "missing", "unknown", "counted")
        times = [
            row[name].strftime("%Y-%m-%d") if row[name] else "–"
            for name in ("first_fetch", "last_fetch")
        ]
        rows.append([row["stratum"], *(f"{row[name]:,}" for name in names), *times])
    sentence = "Access results of the last fetch; counted: sites that shares of crawlers are of."
    return _Block("Sites", sentence, columns, rows[: MAX_ROWS + 1], ("access",))


def _crawlers(survey: Survey) -> _Block:
    every = [row for row in _of_all(survey, "crawlers") if row["of"]]
    shown = select_crawlers(every, MAX_ROWS)
    columns = [
        "crawler",
        "purpose",
        "sites",
        "no URL",
        "some URLs",
        "all URLs",
        "named by",
        "of “no URL”",
    ]
    rows = [
        [
            *(row["crawler"], row["purpose"], f"{row['of']:,}", _interval(row, "none_")),
            *(_interval(row, "some_"), _interval(row, "all_"), f"{row['named']:,}"),
            _part(row["none_named"], row["none"]),
        ]
        for row in sorted(shown, key=lambda row: -row["none_share"])
    ]
    sentence = (
        "Share of sites that allow the crawler no URL, some URLs, or all URLs. Named by: sites "
        "whose file names the crawler; of “no URL”: the part of the sites without a URL for it "
        "that name it; the others disallow it with a group for *."
    )
    return _Block("Crawlers", _cut(sentence, len(every), len(rows)), columns, rows, ("crawlers",))


def _crawlers_by_stratum(survey: Survey) -> _Block:
    every = [row for row in _of_all(survey, "crawlers") if row["of"]]
    shown = {row["crawler"] for row in select_crawlers(every, MAX_ROWS)}
    return _pivot(
        survey,
        "crawlers",
        "crawler",
        f"Crawlers by {survey.by}",
        "Share of sites that allow the crawler no URL.",
        lambda row: row["crawler"] in shown,
        ("crawlers_by_time", "crawlers_by_stratum"),
        "none_",
    )


def _purposes(survey: Survey) -> _Block:
    by_purpose: dict[str, list[Row]] = {}
    for row in _of_all(survey, "purposes"):
        by_purpose.setdefault(row["purpose"], []).append(row)
    rows = [
        [name, str(found[0]["crawlers"]), f"{found[0]['of']:,}", *(_interval(row) for row in found)]
        for name, found in by_purpose.items()
    ]
    return _Block(
        "Purposes",
        "Share of sites that allow no URL to crawlers of the purpose, with a group for * or by "
        "name. Each crawler counts for its main purpose; retired crawlers and those that ignore "
        "groups for * do not count.",
        ["purpose", "crawlers", "sites", *PURPOSE_QUESTIONS],
        rows,
        ("purposes",),
    )


def _pivot(
    survey: Survey,
    table: str,
    key: str,
    heading: str,
    sentence: str,
    is_shown: Any,
    charts: tuple[str, ...],
    prefix: str = "",
) -> _Block:
    strata = [ALL, *survey.strata[:MAX_COLUMNS]]
    cells: dict[str, dict[str, str]] = {}
    for row in survey.tables[table].to_pylist():
        if is_shown(row):
            cells.setdefault(row[key], {})[row["stratum"]] = _interval(row, prefix)
    rows = [
        [name, *(by_stratum.get(label, "–") for label in strata)]
        for name, by_stratum in cells.items()
    ]
    hidden = len(survey.strata) - MAX_COLUMNS
    more = f" {hidden} more strata are in the CSV file." if hidden > 0 else ""
    return _Block(heading, sentence + more, [key, *strata], rows, charts)


def _changes(survey: Survey) -> _Block:
    table = survey.tables["changes"].to_pylist()
    pair = (table[-1]["before"], table[-1]["after"]) if table else ("", "")
    rows = [row for row in table if (row["before"], row["after"]) == pair and row["of"]]
    rows = sorted(rows, key=lambda row: -abs(row["difference"]))
    columns = ["name", "sites", pair[0], pair[1], "points", "started", "stopped", "p", "p (Holm)"]
    shown = [
        [
            *(row["name"], f"{row['of']:,}", percent(row["before_share"])),
            *(percent(row["after_share"]), _points(row)),
            *(f"{row['started']:,}", f"{row['stopped']:,}", _p(row["p"]), _p(row["p_holm"])),
        ]
        for row in rows[:MAX_ROWS]
    ]
    if not table:
        sentence = "There are no two periods to compare."
    else:
        sentence = (
            f"The same sites in {pair[0]} and {pair[1]}: share that allows no URL to the crawler, "
            "or to at least one crawler of the purpose. The CSV file has all pairs of successive "
            "periods."
        )
        sentence = _cut(sentence, len(rows), len(shown))
    return _Block("Changes", sentence, columns, shown, ("changes",))


def _features(survey: Survey) -> _Block:
    sentence = "Shares are of sites with a file."
    if survey.strata:
        return _pivot(
            survey, "features", "meaning", "Content", sentence, lambda row: True, ("features",)
        )
    return _shares(survey, "features", "meaning", "Content", sentence, ("features",))


def _files(survey: Survey) -> _Block:
    names = ("mean", "p10", "p25", "median", "p75", "p90", "p99", "largest")
    rows = [
        [row["measure"], f"{row['files']:,}", *(_number(row[name]) for name in names)]
        for row in _of_all(survey, "files")
    ]
    sentence = (
        "Sizes in bytes, crawl delays in seconds. Quantiles of 1,000 and more have three "
        "significant digits."
    )
    return _Block("Files", sentence, ["measure", "files", *names], rows)


def _preferences(survey: Survey) -> _Block:
    rows = [
        [row["preference"], row["record"], f"{row['sites']:,}", f"{row['of']:,}", _interval(row)]
        for row in _of_all(survey, "preferences")[:MAX_ROWS]
    ]
    sentence = "Content-Signal and Content-Usage for *; shares are of sites with a file."
    if not rows:
        sentence += " No file has either."
    return _Block("Preferences", sentence, ["preference", "record", "sites", "of", "share"], rows)


def _shares(
    survey: Survey,
    table: str,
    key: str,
    heading: str,
    sentence: str,
    charts: tuple[str, ...] = (),
) -> _Block:
    every = _of_all(survey, table)
    rows = [
        [row[key], f"{row['sites']:,}", f"{row['of']:,}", _interval(row)]
        for row in every[:MAX_ROWS]
    ]
    label = key.replace("_", " ")
    return _Block(
        heading,
        _cut(sentence, len(every), len(rows)),
        [label, "sites", "of", "share"],
        rows,
        charts,
    )


def _of_all(survey: Survey, table: str) -> list[Row]:
    return [row for row in survey.tables[table].to_pylist() if row["stratum"] == ALL]


# --- Texts ----------------------------------------------------------------------------------------


def _interval(row: Row, prefix: str = "") -> str:
    share, low, high = (row[f"{prefix}{name}"] for name in ("share", "low", "high"))
    if share is None:
        return "no data"
    return f"{percent(share)} ({low * 100:.1f}–{high * 100:.1f})"


def _points(row: Row) -> str:
    figures = (row["difference"], row["low"], row["high"])
    first, low, high = (f"{value * 100:+.1f}".replace("-", "−") for value in figures)
    return f"{first} ({low} to {high})"


def _part(count: int, total: int) -> str:
    return percent(count / total, 0) if total else "–"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.1f}"


def _cut(sentence: str, every: int, shown: int) -> str:
    return f"{sentence} {every - shown} more are in the CSV file." if every > shown else sentence


def _escape(text: str) -> str:
    """Return text for Markdown: in one line, and without effect on tables and markup."""
    shown = visible(text)
    for sign in "\\`*_[]<>|#&":
        shown = shown.replace(sign, f"\\{sign}")
    return shown


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"


_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ground: #f5f6f8; --ink: #1c2430;
  --faint: #5b6472; --line: #e4e7ec; }
@media (prefers-color-scheme: dark) { :root { --paper: #151a21; --ground: #0d1117;
  --ink: #e6eaf0; --faint: #a3adbb; --line: #2a313c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial,
  sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 2rem 1.5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { margin: 2.4rem 0 .8rem; font-size: 1.3rem; }
ul { color: var(--faint); padding-left: 1.2rem; }
figure { margin: 0 0 1rem; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
p, footer { color: var(--faint); }
.wide { overflow-x: auto; background: var(--paper); border-radius: 10px; padding: .4rem .8rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .32rem .5rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
th:first-child { text-align: left; font-weight: 500; }
thead th { color: var(--faint); font-weight: 600; }
tbody tr:last-child > * { border-bottom: 0; }
"""
