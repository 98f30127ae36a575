"""The pages in docs/compat: their tables of answers hold, and they name the tests that differ."""

from __future__ import annotations

import re
import sys
import urllib.robotparser
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from robotrules import ProductTokenError
from robotrules.compat import protego, robotparser, robotspy
from robotrules.compat.reppy.robots import Robots
from tests.compat.suites import ROOT, known_differences

PAGES = ROOT / "docs" / "compat"
ANSWERS = ["robots.txt", "user agent", "URL", "original", "ours", "decided by"]
VALUES = ["robots.txt", "query", "original", "ours", "decided by"]
TESTS = ["test", "asserts", "ours", "decided by"]
SUITES = {"robotparser": "cpython", "protego": "protego"}


class Row(NamedTuple):
    """A row of a table of answers."""

    page: str
    text: str
    user_agent: str
    url: str
    original: str
    ours: str
    decided_by: str


def read_table(page: Path, header: list[str]) -> list[list[str]]:
    """Return the cells of the table with this header."""
    lines = page.read_text(encoding="utf-8").splitlines()
    rows: list[list[str]] = []
    inside = False
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if inside and not line.startswith("|"):
            break
        if inside and not line.startswith("|---"):
            rows.append([cell.strip("|").strip() for cell in cells])
        inside = inside or [cell.strip("| ") for cell in cells] == header
    return rows


def unescape(cell: str) -> str:
    """Replace `‹0D›` by the octet and `‹U+FEFF›` by the character."""
    return re.sub(r"‹(?:U\+)?([0-9A-F]+)›", lambda match: chr(int(match[1], 16)), cell)


def read_answers(page: str) -> list[Row]:
    """Return the rows of the table of answers of a page."""
    rows = []
    for text, agent, url, *others in read_table(PAGES / f"{page}.md", ANSWERS):
        lines = [line.strip() for line in unescape(text).strip("`").split("⏎")]
        # A CR has spaces on both sides in the table, as a line end has.
        body = "\n".join(lines).replace(" \r ", "\r")
        rows.append(Row(page, body, agent.strip("`"), unescape(url).strip("`"), *others))
    return rows


ROWS = [
    row for page in ("robotparser", "protego", "reppy", "robotspy") for row in read_answers(page)
]


def check_robotparser(module: Any, row: Row) -> bool:
    """Ask a class with urllib's methods."""
    parser = module.RobotFileParser()
    parser.parse(row.text.splitlines())
    return bool(parser.can_fetch(row.user_agent, row.url))


def check_protego(module: Any, row: Row) -> bool:
    """Ask a class with Protego's methods."""
    return bool(module.Protego.parse(row.text).can_fetch(row.url, row.user_agent))


def check_robotspy(module: Any, row: Row) -> bool:
    """Ask a class with robotspy's methods."""
    return bool(module.RobotsParser.from_string(row.text).can_fetch(row.user_agent, row.url))


def check_reppy(_: Any, row: Row) -> bool:
    """Ask our reppy."""
    robots = Robots.parse("https://example.com/robots.txt", row.text)
    return robots.allowed(row.url, row.user_agent)


OURS: dict[str, tuple[Callable[[Any, Row], bool], Any]] = {
    "robotparser": (check_robotparser, robotparser),
    "protego": (check_protego, protego),
    "robotspy": (check_robotspy, robotspy),
    "reppy": (check_reppy, None),
}


def in_words(allowed: bool) -> str:
    """Return the word of the tables."""
    return "allowed" if allowed else "blocked"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.page}-{row.url}-{row.user_agent}")
def test_our_answer(row: Row) -> None:
    """The column *ours* is what the drop-in answers."""
    check, module = OURS[row.page]
    if row.ours == "raises":
        with pytest.raises(ProductTokenError):
            check(module, row)
    else:
        assert in_words(check(module, row)) == row.ours


@pytest.mark.parametrize("page", ["robotparser", "protego", "robotspy"])
def test_the_answers_of_the_original(page: str) -> None:
    """The column *original* is what the original answers, and every row is a difference."""
    if page == "robotparser":
        if sys.version_info >= (3, 13):
            pytest.skip("the page has the answers of urllib.robotparser before Python 3.13")
        original: Any = urllib.robotparser
    else:
        name = {"protego": "protego", "robotspy": "robots"}[page]
        if find_spec(name) is None:
            pytest.skip(f"{page} is not installed")
        original = import_module(name)
    rows = read_answers(page)
    measured = [row._replace(original=in_words(OURS[page][0](original, row))) for row in rows]
    assert measured == rows
    assert all(row.original != row.ours for row in rows)


def test_every_page_has_answers() -> None:
    """A table that is not found would make the other tests pass."""
    counts = {page: sum(row.page == page for row in ROWS) for page in OURS}
    assert min(counts.values()) >= 8, counts
    for row in ROWS:
        assert re.search(r"§2\.|AMB-\d|our policy", row.decided_by), row


def read_values(page: str) -> list[list[str]]:
    """Return the rows of the table of values of a page, without marks."""
    rows = read_table(PAGES / f"{page}.md", VALUES)
    return [[cell.strip("`") for cell in row] for row in rows]


def run_query(page: str, module: Any, text: str, query: str) -> str:
    """Return the result of a query, such as `crawl_delay("x")`, as Python writes it."""
    body = "\n".join(line.strip() for line in text.split("⏎"))
    if page == "robotparser":
        parser = module.RobotFileParser()
        parser.parse(body.splitlines())
    else:
        parser = module.Protego.parse(body)
    name, called, arguments = query.partition("(")
    value = getattr(parser, name)
    if called:
        value = value(*re.findall(r'"(.*?)"', arguments))
    return repr(list(value) if isinstance(value, Iterator) else value)


@pytest.mark.parametrize("page", SUITES)
def test_values_that_differ(page: str) -> None:
    """The table of values has the results of the original and of ours; every row differs."""
    rows = read_values(page)
    assert len(rows) >= 8
    original: Any = None
    if page == "robotparser" and sys.version_info < (3, 13):
        original = urllib.robotparser
    if page == "protego" and find_spec("protego"):
        original = import_module("protego")
    for text, query, theirs, ours, decided_by in rows:
        assert run_query(page, OURS[page][1], text, query) == ours, text
        assert original is None or run_query(page, original, text, query) == theirs, text
        assert theirs != ours
        assert re.search(r"§2\.|AMB-\d|our policy", decided_by), text


@pytest.mark.parametrize("page", SUITES)
def test_the_tests_that_differ(page: str) -> None:
    """A page names exactly the tests of known_differences.toml, with what decides each."""
    rows = read_table(PAGES / f"{page}.md", TESTS)
    listed = [(re.findall(r"`([^`]+)`", tests), decided_by) for tests, _, _, decided_by in rows]
    expected = [([*row.tests], row.decided_by) for row in known_differences(SUITES[page])]
    assert listed == expected
    assert expected
