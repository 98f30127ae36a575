"""Charts and reports of surveys: well-formed, legible, safe with hostile text, saved as files."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from robotrules.bulk.surveys import Survey, survey
from robotrules.bulk.surveys.chart_parts import percent, select_crawlers
from robotrules.bulk.surveys.svg_canvas import STYLE, fit, text_width
from tests.bulk.survey_facts import CRAWLERS, day, make_facts, make_row, site

HOSTILE = '<script>alert(1)</script>"&|`\x00\u202e' + "x" * 300


def sample(by: str | None) -> Survey:
    """Return a survey with all charts."""
    rows = []
    for number in range(120):
        for year in (2023, 2024, 2025):
            state = "none" if number % 7 < year - 2022 else "some" if number % 2 else "all"
            rows.append(
                make_row(
                    site(number),
                    {name: state for name in CRAWLERS if name != "bingbot"},
                    at=day(year),
                    named=["GPTBot", "CCBot"] if number % 3 else [],
                    access="success" if number % 10 else "unreachable",
                    country=("DE", "US", HOSTILE)[number % 3],
                    rank=number * 900 + 1,
                    notes=[("typo", 1), (HOSTILE, 2)],
                    user_agents=["*", HOSTILE],
                    content_signal=[(HOSTILE, HOSTILE)],
                )
            )
    return survey(make_facts(rows), by=by, title=f"Study {HOSTILE}")


@pytest.mark.parametrize(
    ("by", "extra"),
    [
        (None, set()),
        ("year", {"crawlers_by_time", "purposes_by_time", "changes"}),
        ("rank", {"crawlers_by_stratum", "purposes_by_stratum"}),
        ("country", {"crawlers_by_stratum", "purposes_by_stratum"}),
    ],
)
def test_charts_are_well_formed(by: str | None, extra: set[str]) -> None:
    """Each chart has a title, a description, text as text, and no text or shape outside."""
    charts = sample(by).charts()
    always = {"crawlers", "purposes", "access", "features", "user_agents", "notes"}
    assert set(charts) == always | extra
    for name, text in charts.items():
        tree = ElementTree.fromstring(text)
        space = {"s": "http://www.w3.org/2000/svg"}
        assert tree.findtext("s:title", "", space)
        assert "%" in tree.findtext("s:desc", "", space)
        width, height = float(tree.get("width", 0)), float(tree.get("height", 0))
        for element in tree.iter("{http://www.w3.org/2000/svg}text"):
            assert 10 <= float(element.get("font-size", 0)) <= 20
            assert 0 <= float(element.get("y", -1)) <= height - 8, name
            left, right = extent(element)
            assert left >= 0, (name, element.text)
            assert right <= width, (name, element.text)
        for element in tree.iter("{http://www.w3.org/2000/svg}rect"):
            end = float(element.get("x", 0)) + float(element.get("width", 0))
            assert end <= width + 0.1, name
        assert "<script" not in text
        assert "href" not in text
        assert "nan" not in re.sub(r">[^<]*<", "><", text)


def extent(element: Any) -> tuple[float, float]:
    """Return the estimated ends of a text."""
    x = float(element.get("x", 0))
    wide = text_width(element.text or "", float(element.get("font-size", 12)))
    look = (element.get("class") or "").split()
    if "end" in look:
        return x - wide, x
    return (x - wide / 2, x + wide / 2) if "mid" in look else (x, x + wide)


@pytest.mark.parametrize("by", ["year", "country"])
def test_labels_do_not_overlap(by: str) -> None:
    """No two texts on one line of a chart cover each other."""
    for name, text in sample(by).charts().items():
        lines: dict[str, list[tuple[float, float, str]]] = {}
        for element in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text"):
            left, right = extent(element)
            lines.setdefault(element.get("y", ""), []).append((left, right, element.text or ""))
        for texts in lines.values():
            texts.sort()
            for (_, end, first), (start, _, second) in pairwise(texts):
                assert end <= start + 2, (name, first, second)


@pytest.mark.parametrize(
    ("by", "parts"), [("month", (0, 2 / 12, 1)), ("quarter", (0, 1 / 4, 1)), ("year", (0, 1))]
)
def test_periods_are_at_their_place_in_time(by: str, parts: tuple[float, ...]) -> None:
    """January, March (or the second quarter) and January of the next year are not equidistant."""
    second = day(2024, 4 if by == "quarter" else 3)
    rows = [
        make_row(site(number), "none" if number else "all", at=at)
        for number in range(5)
        for at in (day(2024), second, day(2025))
    ]
    chart = survey(make_facts(rows), by=by).charts()["purposes_by_time"]
    places = [float(x) for x in re.findall(r'<circle class="one" cx="([\d.]+)"', chart)]
    first = places[: len(parts)]
    found = [(x - first[0]) / (first[-1] - first[0]) for x in first]
    assert found == pytest.approx(parts, abs=0.01)


def test_gaps_are_shown() -> None:
    """A stratum without an answer says so, and a line has a gap in a period without one."""
    rows = [
        make_row(site(year), access="unreachable" if year == 2023 else "success", at=day(year))
        for year in (2022, 2023, 2024)
    ]
    tables = survey(make_facts(rows), by="year")
    assert tables.charts()["crawlers_by_time"].count('class="line one-s"') == 2 * len(CRAWLERS)
    countries = [row | {"country": str(number)} for number, row in enumerate(rows)]
    chart = survey(make_facts(countries), by="country").charts()["crawlers_by_stratum"]
    assert chart.count(">no data<") == len(CRAWLERS)
    many = [make_row(site(number), at=day(2000 + number)) for number in range(20)]
    assert (
        "Sites by year: 1 to 1." in survey(make_facts(many), by="year").charts()["crawlers_by_time"]
    )


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    if len(colour) == 4:
        colour = "#" + "".join(digit * 2 for digit in colour[1:])
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_texts_have_contrast() -> None:
    """At least 4.5 to 1 against the paper for texts, in both schemes (WCAG 2.2 §1.4.3)."""
    light, dark = STYLE.split("@media")
    for scheme in (light, dark):
        colours = dict(re.findall(r"\.([a-z]+)\{fill:(#[0-9a-f]+)", scheme))
        paper = luminance(colours["paper"])
        for look in ("ink", "faint", "one"):
            text = luminance(colours[look])
            bright, dim = max(text, paper) + 0.05, min(text, paper) + 0.05
            assert bright / dim >= 4.5, look


def test_the_most_named_crawlers_are_shown() -> None:
    """Those that most files name, in the order of purposes and shares."""
    table = sample(None).tables["crawlers"].to_pylist()
    chosen = select_crawlers(table, 2)
    assert {row["crawler"] for row in chosen} == {"GPTBot", "CCBot"}
    assert len(select_crawlers(table, 100)) == len(CRAWLERS)


def test_numbers_in_charts_are_those_of_tables() -> None:
    """The shares and the number of sites are written in the chart."""
    found = sample(None)
    (row,) = [r for r in found.tables["crawlers"].to_pylist() if r["crawler"] == "GPTBot"]
    chart = found.charts()["crawlers"]
    assert f"{found.counts['counted']:,} sites that answered" in chart
    assert f">{percent(row['none_share'])}<" in chart
    assert f"GPTBot, no URL allowed: {row['none']:,} of {row['of']:,} sites" in chart


def test_percent_and_fit() -> None:
    """Small shares are not shown as zero; long texts are cut."""
    assert [percent(share) for share in (None, 0.0, 0.0001, 0.0006, 0.5, 1.0)] == [
        *("–", "0.0 %", "<0.1 %", "0.1 %", "50.0 %", "100.0 %"),
    ]
    assert fit("abc", 100, 12) == "abc"
    cut = fit("a very long name of a crawler", 60, 12)
    assert cut.endswith("…")
    assert text_width(cut, 12) <= 60


class _Page(HTMLParser):
    """Tags of a page, and what is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("by", [None, "year", "country"])
def test_saved_files(by: str | None, tmp_path: Path) -> None:
    """Page, Markdown, JSON, and a file for each table and chart; hostile text has no effect."""
    found = sample(by)
    folder = tmp_path / "a" / "b"
    paths = found.save(folder)
    assert sorted(paths) == sorted(folder.iterdir())
    assert {path.stem for path in paths if path.suffix == ".csv"} == set(found.tables)
    assert {path.stem for path in paths if path.suffix == ".svg"} == set(found.charts())
    page = (folder / "survey.html").read_text(encoding="utf-8")
    parser = _Page()
    parser.feed(page)
    assert parser.open == []
    assert not parser.tags & {"script", "img", "link", "iframe", "a"}
    assert page.count("<svg") == len(found.charts())
    markdown = (folder / "survey.md").read_text(encoding="utf-8")
    assert not re.search(r"(?<!\\)<script", markdown)
    for block in re.split(r"\n\n", markdown):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) <= 1
    data = json.loads((folder / "survey.json").read_text(encoding="utf-8"))
    assert data == found.as_dict()
    assert data["tables"]["crawlers"][0]["stratum"] == "all"
    with (folder / "crawlers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found.tables["crawlers"])
    assert paths == found.save(folder)


def test_save_refuses_a_file(tmp_path: Path) -> None:
    """The folder must not be a file."""
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="pass a folder"):
        sample(None).save(tmp_path / "file")
