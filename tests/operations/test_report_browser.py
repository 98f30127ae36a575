"""
The page of a report in a real browser: light, dark, phone and print, for everyone.

axe-core finds nothing, nothing is wider than a phone, the console is empty, nothing is requested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright", reason="the extra of the browser tests is not installed")

from playwright.sync_api import Browser

from robotrules import parse
from robotrules.matrix import matrix
from robotrules.matrix.hosts import HostMatrix, host_of_matrix, row_tokens
from robotrules.matrix.hosts_html import hosts_page
from robotrules.matrix.html import page as matrix_page
from robotrules.operations.site_report import SiteReport
from robotrules.operations.site_report.facts import HostFacts, SiteSource
from robotrules.operations.site_report.pages import report_page
from tests.cli.sites import response, site
from tests.operations.example_report import ROBOTS, example_facts, example_report
from tests.service.browsing import CHROMIUM, PHONE, Visit, axe_findings, chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: CHROMIUM is not set, none on PATH"),
]

SHAPES: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": PHONE, "is_mobile": True, "has_touch": True},
    "dark phone": {"viewport": PHONE, "is_mobile": True, "color_scheme": "dark"},
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    gone = HostFacts(SiteSource("https://away.example", problem="the robots.txt is unreachable"))
    hosts = (*(example_facts(f"https://h{n}.example") for n in range(3)), gone)
    robots, tokens = parse(ROBOTS), row_tokens()
    parts = [host_of_matrix(f"https://h{n}.example", robots, tokens) for n in range(3)]
    written = {
        "report": report_page(example_report(folder)),
        "hosts": report_page(SiteReport("Our sites", hosts)),
        "gone": report_page(SiteReport("Away", (gone,))),
        "matrix": matrix_page(matrix(robots, url="https://news.example")),
        "host-matrix": hosts_page(HostMatrix(tuple(parts), ("/",), "default")),
    }
    html = "Content-Type: text/html; charset=utf-8"
    answers = {f"/{name}.html": response(text, html) for name, text in written.items()}
    # What a browser requests by itself.
    answers |= {"/": response("<title>start</title>", html), "/favicon.ico": response("")}
    with site(answers) as running:
        yield running.origin


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["report", "hosts", "gone", "matrix", "host-matrix"])
def test_a_page_is_for_everyone(browser: Browser, pages: str, name: str, shape: str) -> None:
    """No finding of axe-core, no horizontal scrolling, an empty console, no request."""
    visit = Visit(browser, pages, **SHAPES[shape])
    try:
        page = visit.open(f"/{name}.html")
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1]
        assert axe_findings(page) == []
        visit.assert_quiet()
    finally:
        visit.context.close()


def test_column_heads_stay(browser: Browser, pages: str) -> None:
    """While the table scrolls in its box, its heads and the names of crawlers stay in view."""
    visit = Visit(browser, pages, viewport=PHONE)
    try:
        page = visit.open("/report.html")
        places = page.evaluate(
            """() => {
                const box = document.querySelector('.matrix');
                box.scrollTo(120, 500);
                const edge = box.getBoundingClientRect();
                const head = box.querySelector('thead th').getBoundingClientRect();
                const lefts = [...box.querySelectorAll('tbody th.who')]
                    .map(name => Math.abs(name.getBoundingClientRect().left - edge.left));
                return [box.scrollTop, head.top - edge.top, Math.max(...lefts)];
            }"""
        )
        assert places[0] > 0
        assert abs(places[1]) < 3
        assert places[2] < 3
    finally:
        visit.context.close()


def test_print(browser: Browser, pages: str) -> None:
    """On paper nothing scrolls, nothing is cut, and the colours are those of paper."""
    visit = Visit(browser, pages, viewport={"width": 760, "height": 1000})
    try:
        page = visit.open("/report.html")
        page.emulate_media(media="print", color_scheme="dark")
        cut = page.evaluate(
            """() => [...document.querySelectorAll('.scroll')].filter(box =>
                 getComputedStyle(box).overflow != 'visible').length"""
        )
        assert cut == 0
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
    finally:
        visit.context.close()
