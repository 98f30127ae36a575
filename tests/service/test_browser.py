"""
The page in a real browser: what a person types, clicks and sees, by mouse and by keyboard alone.

After each test the console has to be empty, and no request may have left the service.
"""

from __future__ import annotations

import base64
import csv
import json
import random
import re
import shlex
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Error, Page, Request, Route, expect

from tests.cli.shell import COMMAND, process_environment
from tests.integrations.loopback_site import LoopbackSite
from tests.service.browsing import CHROMIUM, PHONE, Visit, axe_findings, chromium, until
from tests.service.live_server import LiveServer, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: CHROMIUM is not set, none on PATH"),
]

VIEWS = ("edit", "compare", "who", "page", "write", "live")
TOKEN = "a-token-of-the-tests-0123456789"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all tests."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def service() -> Iterator[LiveServer]:
    """A service that may fetch from loopback."""
    with serve() as started:
        yield started


@pytest.fixture
def visit(browser: Browser, service: LiveServer) -> Iterator[Visit]:
    """A window of the page, which must stay quiet."""
    opened = Visit(browser, f"{service.url}/")
    try:
        yield opened
        opened.assert_quiet()
    finally:
        opened.context.close()


def editor(page: Page) -> Any:
    """The editor of robots.txt."""
    return page.get_by_role("textbox", name="robots.txt", exact=True)


def write_robots(page: Page, text: str) -> None:
    """Replace the file by typing."""
    editor(page).click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def text_of(page: Page) -> str:
    """The lines of the file, without notes."""
    return "\n".join(page.locator("#editor .cm-line").all_inner_texts())


def show(page: Page, view: str) -> None:
    """Choose a tab."""
    page.locator(f"#tab-{view}").click()
    expect(page.locator(f"#view-{view}")).to_be_visible()


# --- Edit and ask ---------------------------------------------------------------------------------


def test_a_note_and_its_fix(visit: Visit) -> None:
    """A misspelt key gets a note below its line; its fix is a click, and the note goes away."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisalow: /private\n")
    note = page.locator("#editor").get_by_text("Google's parser reads 'Disalow'")
    expect(note).to_be_visible()
    page.get_by_role("button", name="Fix: Write 'Disallow'").click()
    expect(page.locator("#editor .cm-line").nth(1)).to_contain_text("Disallow: /private")
    expect(note).to_have_count(0)


def test_the_deciding_line_lights_up(visit: Visit) -> None:
    """So does the rule that loses; the answer is a word and not a colour alone."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /c\n")
    page.get_by_label("Crawler", exact=True).first.fill("ExampleBot")
    page.get_by_label("URLs or paths").fill("https://example.com/a/b\nhttps://example.com/c\n/d")
    answers = page.locator("table.answers tbody tr")
    expect(answers).to_have_count(3)
    expect(answers.nth(0)).to_contain_text("Allowed")
    expect(answers.nth(1)).to_contain_text("Blocked")
    expect(answers.nth(2)).to_contain_text("no rule matches")
    page.get_by_role("button", name="https://example.com/a/b").click()
    lines = page.locator("#editor .cm-line")
    expect(lines.nth(2)).to_contain_text("decides: allowed")
    expect(lines.nth(1)).to_contain_text("shorter match")
    page.get_by_role("button", name="https://example.com/c").click()
    expect(lines.nth(3)).to_contain_text("decides: blocked")
    expect(lines.nth(2)).not_to_contain_text("decides")


def test_profiles_side_by_side(visit: Visit) -> None:
    """Where the profiles differ, the answer says so."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisalow: /x\n")
    page.get_by_label("URLs or paths").fill("/x")
    row = page.locator("table.answers tbody tr").first
    expect(row).to_contain_text("Blocked")
    expect(row).to_contain_text("Strict (RFC 9309): Allowed")


def test_hover_explains_a_pattern(visit: Visit) -> None:
    """With URLs that match and miss; Escape closes the card."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /a*b$\n")
    # CodeMirror shows a card after the mouse has rested, and none while the text changes.
    expect(page.locator("#editor .rr-token-operator")).to_have_count(2)
    page.wait_for_timeout(1000)
    page.mouse.move(5, 5)
    page.locator("#editor .rr-token-operator").last.hover()
    card = page.locator(".rr-hover")
    expect(card).to_contain_text("/a")
    expect(card).to_contain_text(re.compile("match", re.IGNORECASE))
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)


def test_typing_over_a_selection(visit: Visit) -> None:
    """Chromium would keep the style of what was selected, as a style that the page refuses."""
    page = visit.page
    editor(page).click()
    page.keyboard.press("Control+A")
    page.keyboard.type("User-agent: a")
    expect(page.locator("#editor .cm-line").first).to_have_text("User-agent: a")
    page.keyboard.press("Control+Z")
    expect(page.locator("#editor .cm-line").nth(4)).to_be_visible()


def test_completion(visit: Visit) -> None:
    """Records and well-known crawlers."""
    page = visit.page
    write_robots(page, "User-agent: GPTB")
    page.keyboard.press("Control+Space")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("GPTBot")
    page.wait_for_timeout(200)  # CodeMirror ignores keys right after a list appears
    page.keyboard.press("Enter")
    expect(page.locator("#editor .cm-line").first).to_have_text("User-agent: GPTBot")
    page.keyboard.press("Escape")


def test_a_pasted_sitemap(visit: Visit) -> None:
    """The URLs of a sitemap are asked."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /b\n")
    sitemap = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<url><loc>https://example.com/a</loc></url><url><loc>https://example.com/b</loc></url>"
        "</urlset>"
    )
    page.set_input_files(
        "#open-urls", {"name": "s.xml", "mimeType": "text/xml", "buffer": sitemap.encode()}
    )
    answers = page.locator("table.answers tbody tr")
    expect(answers).to_have_count(2)
    expect(answers.nth(0)).to_contain_text("Allowed")
    expect(answers.nth(1)).to_contain_text("Blocked")


def test_line_ends_are_kept(visit: Visit) -> None:
    """A file with CRLF is asked about, and fixed, with CRLF."""
    page = visit.page
    bodies: list[str] = []

    def keep(request: Request) -> None:
        if "/check" in request.url:
            bodies.append(request.post_data or "")

    page.on("request", keep)
    page.set_input_files(
        "#open-robots",
        {"name": "r", "mimeType": "text/plain", "buffer": b"User-agent: *\r\nDisalow: /q\r\n"},
    )
    page.get_by_label("URLs or paths").fill("/q")
    page.get_by_role("button", name="Fix: Write 'Disallow'").click()
    expect(page.locator("#editor .cm-line").nth(1)).to_contain_text("Disallow")
    expect(page.get_by_label("Line ends")).to_have_value("CRLF")
    page.wait_for_timeout(300)
    assert json.loads(bodies[-1])["robots"] == "User-agent: *\r\nDisallow: /q\r\n"


def test_answers_to_typing_are_fast(visit: Visit) -> None:
    """In a file of 500 KiB the verdict follows a key within 50 ms; the limit here is for CI."""
    page = visit.page
    body = "User-agent: *\n" + "".join(
        f"Disallow: /section-{number % 97}/item-{number}/*\n" for number in range(14_700)
    )
    assert 480 * 1024 < len(body) <= 500 * 1024
    page.set_input_files(
        "#open-robots", {"name": "r", "mimeType": "text/plain", "buffer": body.encode()}
    )
    expect(page.locator("#file-status")).to_contain_text("14,70")
    page.get_by_label("URLs or paths").fill("/section-1/item-1/x\n/typed")
    row = page.locator("table.answers tbody tr").nth(1)
    expect(row).to_contain_text("Allowed")
    editor(page).click()
    page.keyboard.press("Control+End")
    page.evaluate("performance.clearMeasures()")
    page.keyboard.type("Disallow: /typed", delay=60)
    expect(row).to_contain_text("Blocked")
    durations = page.evaluate(
        "performance.getEntriesByName('robotrules: verdict').map(one => one.duration)"
    )
    assert len(durations) >= 5
    assert sorted(durations)[len(durations) // 2] < 250


# --- What a person typed is kept ------------------------------------------------------------------


def large_file() -> str:
    """A file that is too large for the address."""
    return "User-agent: *\n" + "".join(f"Disallow: /{number * 7919:x}\n" for number in range(9000))


def open_file(page: Page, field: str, text: str | bytes) -> None:
    """Choose a file."""
    body = text.encode() if isinstance(text, str) else text
    page.set_input_files(field, {"name": "f", "mimeType": "text/plain", "buffer": body})


def paste(page: Page, field: str, text: str) -> None:
    """Paste a text into a field; what the browser itself would insert is not inserted."""
    page.evaluate(
        "([field, text]) => { const data = new DataTransfer(); data.setData('text/plain', text);"
        " document.querySelector(field).dispatchEvent(new ClipboardEvent('paste',"
        " { clipboardData: data, bubbles: true, cancelable: true })) }",
        [field, text],
    )


def test_every_view_survives_a_reload(visit: Visit) -> None:
    """Also the views that are not shown, and what was typed just before."""
    page = visit.page
    show(page, "compare")
    page.locator("#compare-as").fill("GPTBot")
    show(page, "page")
    page.get_by_label("URL of the page").fill("https://example.com/kept")
    show(page, "write")
    page.get_by_label("Blocked paths").first.fill("/kept-policy")
    show(page, "edit")
    page.get_by_label("URLs or paths").fill("/kept-url")
    write_robots(page, "User-agent: *\nDisallow: /kept\n")
    page.reload()
    expect(editor(page)).to_contain_text("/kept")
    expect(page.get_by_label("URLs or paths")).to_have_value("/kept-url")
    expect(page.locator("#compare-as")).to_have_value("GPTBot")
    expect(page.get_by_label("URL of the page")).to_have_value("https://example.com/kept")
    expect(page.get_by_label("Blocked paths").first).to_have_value("/kept-policy")


def test_a_large_file_survives_a_reload(visit: Visit) -> None:
    """The address has no room for it."""
    page = visit.page
    open_file(page, "#open-robots", large_file())
    expect(page.locator("#file-status")).to_contain_text("9,001 lines")
    show(page, "who")
    page.reload()
    expect(page.locator("#view-who")).to_be_visible()
    show(page, "edit")
    expect(page.locator("#file-status")).to_contain_text("9,001 lines")


def test_without_storage(browser: Browser, service: LiveServer) -> None:
    """The page works where the browser keeps nothing."""
    visit = Visit(browser, f"{service.url}/")
    visit.context.add_init_script(
        "Storage.prototype.setItem = () => { throw new Error('full') };"
        "Storage.prototype.getItem = () => { throw new Error('off') };"
    )
    page = visit.open("/")
    write_robots(page, "User-agent: *\nDisallow: /typed\n")
    page.get_by_label("URLs or paths").fill("/typed")
    expect(page.locator("table.answers tbody tr")).to_have_count(1)
    expect(page.locator("table.answers tbody tr")).to_contain_text("Blocked")
    visit.assert_quiet()
    visit.context.close()


def test_a_link_in_the_same_tab_is_undone(visit: Visit) -> None:
    """Ctrl+Z returns the text before; Back returns everything."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /mine\n")
    page.get_by_label("URLs or paths").fill("/mine")
    expect(page.locator("table.answers tbody tr")).to_have_count(1)
    expect(page.locator("table.answers tbody tr")).to_contain_text("Blocked")
    data = fragment({"robots": "User-agent: *\nDisallow: /theirs\n", "as": "A", "urls": "/theirs"})
    page.evaluate("hash => { location.hash = hash }", f"edit/{data}")
    expect(editor(page)).to_contain_text("/theirs")
    editor(page).click()
    page.keyboard.press("Control+Z")
    expect(editor(page)).to_contain_text("/mine")
    page.go_back()
    expect(page.get_by_label("URLs or paths")).to_have_value("/mine")
    expect(editor(page)).to_contain_text("/mine")
    page.go_forward()
    expect(page.get_by_label("URLs or paths")).to_have_value("/theirs")


def test_back_returns_to_the_tab_before(visit: Visit) -> None:
    """It does not leave the page, and what was typed stays."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /typed\n")
    show(page, "who")
    show(page, "page")
    page.go_back()
    expect(page.locator("#view-who")).to_be_visible()
    page.go_back()
    expect(page.locator("#view-edit")).to_be_visible()
    expect(editor(page)).to_contain_text("/typed")


def test_a_list_is_pasted_where_the_cursor_is(visit: Visit) -> None:
    """The other URLs stay, and Ctrl+Z takes the list away again."""
    page = visit.page
    area = page.get_by_label("URLs or paths")
    area.fill("/one\n/three\n")
    area.evaluate("field => field.setSelectionRange(5, 5)")
    log = '127.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET /two HTTP/1.1" 200 5 "-" "A"\n'
    paste(page, "#urls", log)
    expect(area).to_have_value("/one\n/two\n/three\n")
    area.focus()
    page.keyboard.press("Control+Z")
    expect(area).to_have_value("/one\n/three\n")
    paste(page, "#urls", "no address\nin these lines\n")
    expect(page.locator("#urls-status")).to_contain_text("No URL found in what you pasted.")
    expect(area).to_have_value(re.compile("in these lines"))


def test_more_urls_than_are_used(visit: Visit) -> None:
    """The page says how many are used; a long list is undone too."""
    page = visit.page
    area = page.get_by_label("URLs or paths")
    area.fill("/one")
    sitemap = "".join(f"<url><loc>https://example.com/{number}</loc></url>" for number in range(20))
    paste(page, "#urls", f"<urlset>{sitemap}</urlset>")
    expect(page.locator("#urls-status")).to_contain_text("Read 20 URLs")
    long_list = "".join(f"/{number}\n" for number in range(20_000))
    paste(page, "#urls", f"# a list\n{long_list}")
    status = page.locator("#urls-status")
    expect(status).to_contain_text("10,021 URLs: only the first 10,000 are used.")
    area.focus()
    page.keyboard.press("Control+Z")
    expect(status).to_have_text("")
    expect(page.locator("table.answers tbody tr")).to_have_count(21)
    # As the browser inserts it.
    area.evaluate(
        "(field, text) => { field.value = text; field.dispatchEvent(new Event('input')) }",
        long_list,
    )
    expect(status).to_have_text("20,000 URLs: only the first 10,000 are used.")


def test_copying_without_a_clipboard(visit: Visit) -> None:
    """Over plain HTTP there is none: the page says so, and selects the text."""
    visit.context.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
    )
    page = visit.open("/")
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Copy the link").click()
    expect(page.locator("#share-copy")).to_have_text("Selected: press Ctrl+C")
    expect(page.locator("#share-dialog [role=status]")).to_contain_text("does not let")
    link = page.get_by_label("Link", exact=True)
    chosen = link.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    assert chosen == link.input_value() != ""


def test_a_file_that_is_too_large_for_a_link(visit: Visit) -> None:
    """There is no link that no browser opens."""
    page = visit.page
    noise = base64.b64encode(random.Random(1).randbytes(1_500_000)).decode()
    lines = [f"Disallow: /{noise[at : at + 60]}" for at in range(0, len(noise), 60)]
    open_file(page, "#open-robots", "User-agent: *\n" + "\n".join(lines))
    expect(page.locator("#file-status")).to_contain_text("33,3")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.locator("#share-hint")).to_have_text(
        "Too large for a link: download the file and send it."
    )
    expect(page.get_by_label("Link", exact=True)).to_be_hidden()
    # Chromium writes a line if the large file is more than the service takes at once.
    visit.failed.clear()
    visit.console.clear()


# --- Answers --------------------------------------------------------------------------------------


def test_the_filter_of_many_answers(visit: Visit) -> None:
    """Counts and rows follow the file, also when no row is left."""
    page = visit.page
    paths = [f"/{name}{number}" for number in range(200) for name in "ab"]
    write_robots(page, "User-agent: *\nDisallow: /a\n")
    page.get_by_label("URLs or paths").fill("\n".join(paths))
    summary, rows = page.locator("#answers .summary"), page.locator("table.answers tbody tr")
    expect(summary).to_contain_text("200 URLs blocked, 200 URLs allowed")
    page.get_by_label("Show", exact=True).select_option("blocked")
    expect(rows).to_have_count(200)
    expect(rows.last).to_contain_text("/a199")
    write_robots(page, "User-agent: *\nDisallow: /b\nDisallow: /a1\n")
    expect(summary).to_contain_text("311 URLs blocked, 89 URLs allowed")
    expect(rows.first).to_contain_text("/b0")
    assert all("Blocked" in text for text in rows.all_inner_texts())
    write_robots(page, "User-agent: *\n")
    expect(summary).to_contain_text("0 URLs blocked, 400 URLs allowed")
    expect(rows).to_have_count(0)
    expect(page.locator("#answers")).to_contain_text("No URL is blocked.")
    write_robots(page, "User-agent: *\nDisallow: /b7\n")
    expect(summary).to_contain_text("11 URLs blocked, 389 URLs allowed")
    expect(rows).to_have_count(11)


def test_answers_are_one_stop_of_the_tab_key(visit: Visit) -> None:
    """Arrows go from one to the next; the choice and the counts are announced."""
    page = visit.page
    buttons = page.locator("table.answers tbody button")
    expect(buttons).to_have_count(5)
    expect(page.locator("table.answers tbody button[tabindex='0']")).to_have_count(1)
    buttons.first.focus()
    page.keyboard.press("End")
    expect(buttons.last).to_be_focused()
    expect(page.locator("#announcements")).to_contain_text("3 URLs blocked, 2 URLs allowed")
    expect(page.locator("#announcements")).to_contain_text("drafts/1: Blocked")


def test_an_answer_that_is_chosen_stays_in_view(browser: Browser, service: LiveServer) -> None:
    """The line that decides is shown by the editor alone; the page does not scroll."""
    visit = Visit(browser, f"{service.url}/", viewport={"width": 800, "height": 700})
    page = visit.page
    rules = "".join(f"Disallow: /{number}$\n" for number in range(300))
    write_robots(page, f"User-agent: *\n{rules}")
    page.get_by_label("URLs or paths").fill("/0\n/299")
    chosen = page.locator("table.answers tbody button").nth(1)
    chosen.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    for at in (0, 1):
        before = page.evaluate("scrollY")
        page.locator("table.answers tbody button").nth(at).click()
        page.wait_for_timeout(500)
        assert page.evaluate("scrollY") == before > 0
        expect(chosen).to_be_in_viewport()
        page.evaluate("scrollTo(0, 0)")
        line = page.locator("#editor .rr-lit").first
        expect(line).to_contain_text(f"/{299 * at}$")
        expect(line).to_be_in_viewport()
        chosen.scroll_into_view_if_needed()
    visit.assert_quiet()
    visit.context.close()


def test_directions_in_a_url_are_shown(visit: Visit) -> None:
    """A path cannot be shown backwards."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /\u202etxt.secret\n")
    page.get_by_label("URLs or paths").fill("/\u202etxt.secret")
    answers = page.locator("#answers")
    expect(answers).to_contain_text("Disallow: /⟨U+202E⟩txt.secret")
    expect(page.locator("table.answers button")).to_have_text("/⟨U+202E⟩txt.secret")
    expect(page.locator("#explanation")).to_contain_text("⟨U+202E⟩")
    assert "\u202e" not in page.locator("#view-edit .ask-card").inner_text()


def test_the_filter_of_some_answers(visit: Visit) -> None:
    """More than ten URLs have it; it leaves one stop for the Tab key."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /a\n")
    area, filters = page.get_by_label("URLs or paths"), page.get_by_label("Show", exact=True)
    area.fill("\n".join(f"/a{number}" for number in range(10)))
    expect(page.locator("#answers .summary")).to_contain_text("10 URLs blocked, 0 URLs allowed")
    expect(filters).to_be_hidden()
    area.fill("\n".join(f"/{name}{number}" for number in range(6) for name in "ab"))
    filters.select_option("allowed")
    rows = page.locator("table.answers tbody tr:visible")
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("/b0")
    expect(page.locator("table.answers tbody tr:visible button[tabindex='0']")).to_have_count(1)
    expect(page.locator("#answers .summary")).not_to_contain_text("are listed")
    write_robots(page, "User-agent: *\nDisallow: /\n")
    expect(page.locator("#answers")).to_contain_text("No URL is allowed.")
    expect(rows).to_have_count(0)
    filters.select_option("")
    expect(rows).to_have_count(12)


def test_what_is_listed(visit: Visit) -> None:
    """The page says that some rows are missing only if some are."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /a\n")
    paths = [f"/a{number}" for number in range(90)] + [f"/b{number}" for number in range(210)]
    page.get_by_label("URLs or paths").fill("\n".join(paths))
    summary, words = page.locator("#answers .summary"), "the first 200 are listed"
    expect(summary).to_contain_text("90 URLs blocked, 210 URLs allowed")
    expect(summary).to_contain_text(words)
    page.get_by_label("Show", exact=True).select_option("blocked")
    expect(page.locator("table.answers tbody tr:visible")).to_have_count(90)
    expect(summary).not_to_contain_text(words)
    page.get_by_label("Show", exact=True).select_option("allowed")
    expect(summary).to_contain_text(words)


def test_downloaded_answers(visit: Visit) -> None:
    """CSV of all URLs, also those that are not listed; nothing in it is a formula."""
    page = visit.page
    write_robots(page, 'User-agent: *\nDisallow: /a,"b"\n')
    paths = ['/a,"b"c', "=1+1", *(f"/{number}" for number in range(300))]
    page.get_by_label("URLs or paths").fill("\n".join(paths))
    expect(page.locator("#answers .summary")).to_contain_text("1 URL blocked, 301 URLs allowed")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download answers").click()
    download = downloading.value
    assert download.suggested_filename == "answers.csv"
    with Path(download.path()).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[:2] == [
        ["url", "answer", "line", "rule"],
        ['/a,"b"c', "Blocked", "2", 'Disallow: /a,"b"'],
    ]
    assert rows[2][0] == "'=1+1"
    assert rows[3] == ["/0", "Allowed", "", "no rule matches"]
    assert len(rows) == 303


def test_a_log_has_each_url_once(visit: Visit) -> None:
    """Pasted or opened, the status says how many lines and whose they are."""
    page = visit.page
    line = '127.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET /{} HTTP/1.1" 200 5 "-" "A"\n'
    log = "".join(line.format(number % 85) for number in range(200))
    area, status = page.get_by_label("URLs or paths"), page.locator("#urls-status")
    for give, into in ((paste, "#urls"), (open_file, "#open-urls")):
        area.fill("")
        give(page, into, log)
        expect(status).to_have_text("200 lines, 85 different URLs (access log, all visitors).")
        assert area.input_value().split() == [f"/{number}" for number in range(85)]


def test_an_error_keeps_the_last_answer(visit: Visit) -> None:
    """While a name is typed; it is announced when typing pauses."""
    page = visit.page
    expect(page.locator("table.answers tbody tr")).to_have_count(5)
    page.get_by_label("Crawler", exact=True).first.fill("Googlebot/2.1")
    words = "Crawler: enter only the name, such as Googlebot."
    expect(page.locator("#answers .error")).to_have_text(words)
    expect(page.locator("table.answers tbody tr").first).to_contain_text("Allowed")
    assert page.locator("#answers [role=alert]").count() == 0
    expect(page.locator("#announcements")).to_contain_text(words)
    page.get_by_label("Crawler", exact=True).first.fill("Googlebot")
    expect(page.locator("#answers .error")).to_have_count(0)
    expect(page.locator("#answers .outdated")).to_have_count(0)
    visit.failed.clear()
    visit.console.clear()


# --- Fixes ----------------------------------------------------------------------------------------

MISSPELT = "User-agent: *\nDisalow: /a\nDisalow: /b\n"


def test_a_fix_in_the_text_is_undone_by_ctrl_z(visit: Visit) -> None:
    """The editor has the focus after a click on a fix."""
    page = visit.page
    write_robots(page, MISSPELT)
    page.locator("#editor .rr-fix").first.click()
    lines = page.locator("#editor .cm-line")
    expect(lines.nth(1)).to_have_text("Disallow: /a")
    expect(page.locator("#announcements")).to_contain_text("Applied on line 2")
    page.keyboard.press("Control+Z")
    expect(lines.nth(1)).to_contain_text("Disalow: /a")


def test_all_fixes_keep_the_focus(visit: Visit) -> None:
    """It goes to the editor: the button is gone."""
    page = visit.page
    write_robots(page, "user-agent: *\nAllow:/a\nAllow: /a\nAllow: /a\n")
    button = page.get_by_role("button", name="Apply all safe fixes")
    button.click()
    expect(button).to_have_count(0)
    assert page.evaluate("document.activeElement.id") == "editor"


def test_a_fix_right_after_typing(visit: Visit) -> None:
    """It is applied at its line, wherever that is now; not where the line was changed."""
    page = visit.page
    write_robots(page, MISSPELT)
    expect(page.locator("#editor .rr-fix")).to_have_count(2)
    # The notes of the text before stay while those of the text after are not there.
    page.route("**/v1/editor/notes", lambda _: None)
    page.keyboard.press("Control+Home")
    page.keyboard.type("# a comment\n")
    page.locator("#editor .rr-fix").first.click()
    lines = page.locator("#editor .cm-line")
    expect(lines.nth(2)).to_have_text("Disallow: /a")
    lines.nth(3).click()
    page.keyboard.press("End")
    page.keyboard.type("x")
    page.locator("#editor .rr-fix").last.click()
    expect(lines.nth(3)).to_contain_text("Disalow: /bx")
    expect(page.locator("#notes button.fix").last).to_be_disabled()
    expect(page.locator("#announcements")).to_contain_text("was changed")


# --- The other views ------------------------------------------------------------------------------


def test_compare(visit: Visit) -> None:
    """Exact differences, each with a URL."""
    page = visit.page
    show(page, "compare")
    for name, text in (
        ("before", "User-agent: *\nDisallow: /a\n"),
        ("after", "User-agent: *\nDisallow: /a\nDisallow: /b\n"),
    ):
        page.locator(f"#{name} .cm-content").click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(text)
    differences = page.locator("#differences")
    expect(differences).to_contain_text("URLs that match /b")
    expect(differences).to_contain_text("https://example.com/b")
    expect(differences).to_contain_text("Everyone")


@pytest.mark.parametrize("complete", [True, False, None])
def test_exceptions_that_are_not_listed(visit: Visit, complete: bool | None) -> None:
    """The list of a region says that it has more; an older service says nothing about that."""
    page = visit.page

    def answer(route: Route) -> None:
        found = route.fetch().json()
        for change in found["changes"]:
            for region in change["regions"]:
                region["unchanged"] = [{"pattern": "/api/"}, {"pattern": "/tmp/"}]
                region.pop("unchanged_complete", None)
                if complete is not None:
                    region["unchanged_complete"] = complete
        route.fulfill(json=found)

    page.route("**/v1/diff", answer)
    show(page, "compare")
    words = page.locator("#differences .patterns").first
    expect(words).to_have_text(
        re.compile("except /api/, /tmp/" + (" and others$" if complete is False else "$"))
    )


def test_matrix(visit: Visit) -> None:
    """Crawlers by purpose; a line number leads to the editor."""
    page = visit.page
    write_robots(page, "User-agent: GPTBot\nDisallow: /\n")
    show(page, "who")
    row = page.get_by_role("row", name=re.compile("^GPTBot"))
    expect(row).to_contain_text("Blocked")
    expect(page.get_by_role("row", name=re.compile("^Googlebot")).first).to_contain_text("Allowed")
    row.get_by_role("button", name="line 2").first.click()
    expect(page.locator("#view-edit")).to_be_visible()


def test_guidance_of_a_pasted_page(visit: Visit) -> None:
    """Robots.txt, header and element in one answer, each with its source."""
    page = visit.page
    write_robots(page, "User-agent: *\nAllow: /\nContent-Usage: train-ai=n\n")
    show(page, "page")
    page.get_by_label("URL of the page").fill("https://example.com/a")
    page.locator("#page-as").fill("Googlebot")
    page.get_by_label("Response headers").fill("X-Robots-Tag: noindex")
    page.get_by_label("HTML").fill('<meta name="robots" content="nofollow">')
    found = page.locator("#guidance")
    expect(found).to_contain_text("1st X-Robots-Tag header")
    expect(found).to_contain_text("1st meta element")
    expect(found).to_contain_text("Show it in search results")
    card = found.locator(":scope *").filter(has_text=re.compile("^Use to train AI")).first
    expect(card).to_contain_text("No")


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        (
            "HTTP/2 404\nX-Robots-Tag: noindex\n",
            "Status 404: search engines do not show such a page, whatever its tags say.",
        ),
        (
            "HTTP/1.1 301 Moved\nLocation: /b\n",
            "Status 301: search engines do not show such a page",
        ),
        ("HTTP/1.1 503 X\n", "Status 503: search engines do not read the tags of such a page"),
        (
            "HTTP/1.1 301 Moved\nX-Robots-Tag: none\n\nHTTP/1.1 200 OK\n",
            "May be shown in search results.",
        ),
        (
            "HTTP/2 200\nX-Robots-Tag: noindex\n",
            "Not shown in search results because of noindex in the 1st X-Robots-Tag header.",
        ),
        (
            "Request URL:\nhttps://example.com/a\nRequest Method:\nGET\nStatus Code:\n200 OK\n"
            "Remote Address:\n192.0.2.1:443\nReferrer Policy:\nno-referrer\n"
            "content-type:\ntext/html\nx-robots-tag:\ngooglebot: noindex\n",
            "Not shown in search results because of noindex in the 1st X-Robots-Tag header.",
        ),
        (
            "Request URL\nhttps://example.com/a\nStatus Code\n410 Gone\ncontent-type\ntext/html\n",
            "Status 410: search engines do not show such a page",
        ),
    ],
)
def test_pasted_headers(visit: Visit, headers: str, words: str) -> None:
    """Of curl or of the developer tools of a browser; one sentence comes first."""
    page = visit.page
    write_robots(page, "User-agent: *\nAllow: /\n")
    show(page, "page")
    page.get_by_label("URL of the page").fill("https://example.com/a")
    page.get_by_label("HTML").fill("<p>")
    page.get_by_label("Response headers").fill(headers)
    expect(page.locator("#guidance p").first).to_contain_text(words)
    cards = page.locator("#guidance .question")
    shown = cards.filter(has_text="Show it in search results")
    answers = {"Status 503": "Unknown", "May be": "Yes"}
    expected = next((answer for start, answer in answers.items() if words.startswith(start)), "No")
    expect(shown).to_contain_text(expected)


def test_a_blocked_page_in_one_sentence(visit: Visit) -> None:
    """Its tags are not read."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /\n")
    show(page, "page")
    expect(page.locator("#guidance p").first).to_have_text(
        "Not crawled because of line 2 of robots.txt, so its tags are not read."
    )


def test_write_a_policy(visit: Visit) -> None:
    """Blocking AI training gives a file that is proved to say so, and opens in the editor."""
    page = visit.page
    show(page, "write")
    form = page.get_by_role("form", name="Policy")
    form.get_by_label("AI training", exact=True).select_option(label="Block")
    form.get_by_label("SEO", exact=True).select_option(label="Allow")
    written = page.locator("#written")
    expect(written).to_contain_text("User-agent: GPTBot")
    expect(written).to_contain_text("Proved: the file says what the form says")
    written.get_by_role("button", name="Open in the editor").click()
    expect(page.locator("#view-edit")).to_be_visible()
    expect(editor(page)).to_contain_text("GPTBot")
    page.get_by_label("Crawler", exact=True).first.fill("GPTBot")
    page.get_by_label("URLs or paths").fill("/a")
    expect(page.locator("table.answers tbody tr")).to_have_count(1)
    expect(page.locator("table.answers tbody tr")).to_contain_text("Blocked")


def test_live(visit: Visit) -> None:
    """A site's file is fetched, with its access result and age, and opens in the editor."""
    page = visit.page
    with LoopbackSite("User-agent: *\nDisallow: /from-the-site\n") as site:
        show(page, "live")
        page.get_by_label("URL of any page of the site").fill(site.url("/any"))
        page.keyboard.press("Enter")
        found = page.locator("#live")
        expect(found).to_contain_text("/from-the-site")
        expect(found).to_contain_text(re.compile("second|just now|now"))
        found.get_by_role("button", name="Open in the editor").click()
    expect(editor(page)).to_contain_text("/from-the-site")
    expect(editor(page)).to_be_focused()
    page.keyboard.press("Control+Z")
    expect(editor(page)).to_contain_text("/private/press/")


def test_a_file_takes_the_place_of_the_example(visit: Visit) -> None:
    """The fields of all views that are still about the example are emptied."""
    page = visit.page
    expect(page.locator("table.answers tbody tr")).to_have_count(5)
    open_file(page, "#open-robots", "User-agent: *\nDisallow: /mine\n")
    expect(page.get_by_label("URLs or paths")).to_have_value("")
    expect(page.locator("#answers")).to_contain_text("Enter URLs or paths to see their answers.")
    show(page, "compare")
    for name in ("before", "after"):
        expect(page.locator(f"#{name} .cm-content")).to_have_text("")
    show(page, "page")
    for name in ("URL of the page", "Response headers", "HTML"):
        expect(page.get_by_label(name, exact=True)).to_have_value("")
    show(page, "write")
    expect(page.get_by_label("AI training", exact=True)).to_have_value("")
    page.reload()
    expect(page.get_by_label("AI training", exact=True)).to_have_value("")


def test_a_file_keeps_what_a_person_typed(visit: Visit) -> None:
    """Only the example goes."""
    page = visit.page
    page.get_by_label("URLs or paths").fill("/typed")
    show(page, "page")
    page.get_by_label("URL of the page").fill("https://example.com/typed")
    show(page, "edit")
    open_file(page, "#open-robots", "User-agent: *\nDisallow: /mine\n")
    expect(editor(page)).to_contain_text("/mine")
    expect(page.get_by_label("URLs or paths")).to_have_value("/typed")
    show(page, "page")
    expect(page.get_by_label("URL of the page")).to_have_value("https://example.com/typed")
    expect(page.get_by_label("HTML")).to_have_value(re.compile("<title>"))


def test_undoing_what_another_view_opened(visit: Visit) -> None:
    """The button returns the file and the URLs; typing takes the button away."""
    page = visit.page
    notice, urls = page.locator("#replaced"), page.get_by_label("URLs or paths")
    example = urls.input_value()
    show(page, "write")
    page.locator("#written").get_by_role("button", name="Open in the editor").click()
    expect(notice).to_contain_text("Your file was replaced. Undo with Ctrl+Z.")
    expect(urls).to_have_value("")
    notice.get_by_role("button", name="Undo").click()
    expect(editor(page)).to_contain_text("/private/press/")
    expect(urls).to_have_value(example)
    expect(notice).to_be_hidden()
    show(page, "write")
    expect(page.get_by_label("AI training", exact=True)).to_have_value("block")
    page.locator("#written").get_by_role("button", name="Open in the editor").click()
    expect(notice).to_be_visible()
    page.keyboard.type("#")
    expect(notice).to_be_hidden()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "0 lines, 0 bytes"),
        ("User-agent: *\n", "1 line, 14 bytes"),
        ("User-agent: *\nAllow: /", "2 lines, 22 bytes"),
        ("User-agent: *\n\n", "2 lines, 15 bytes"),
    ],
)
def test_lines_are_counted_as_wc_counts_them(visit: Visit, text: str, words: str) -> None:
    """What follows the last line end is not a line."""
    open_file(visit.page, "#open-robots", text)
    expect(visit.page.locator("#file-status")).to_contain_text(words)


def test_a_shared_link(visit: Visit) -> None:
    """Opened in a new window it shows the same; the command gives the same answer."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisallow: /shared 'ü'\n")
    page.get_by_label("URLs or paths").fill("/shared")
    expect(page.locator("table.answers tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Share", exact=True).click()
    field = page.get_by_label("Link", exact=True)
    expect(field).to_have_value(re.compile("^" + re.escape(visit.service) + "#edit/."))
    link = field.input_value()
    expect(page.locator("#share-local")).to_have_text(
        "This link opens on this computer only, while the service runs."
    )
    expect(page.locator("#share-local")).to_be_visible()
    assert "robotrules" in page.locator("#share-command").input_value()
    page.get_by_role("button", name="Close").click()
    other = visit.open("/" + link.removeprefix(visit.service))
    expect(editor(other)).to_contain_text("/shared 'ü'")
    expect(other.get_by_label("URLs or paths")).to_have_value("/shared")


def test_the_profile_of_the_matrix(visit: Visit) -> None:
    """It is chosen in the view, and it is in the link."""
    page = visit.page
    write_robots(page, "User-agent: *\nDisalow: /\n")
    show(page, "who")
    row = page.get_by_role("row", name=re.compile("^CCBot")).first
    expect(row).to_contain_text("Blocked")
    page.locator("#who-profile").select_option("strict")
    expect(row).to_contain_text("Allowed")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_label("Link", exact=True)).to_have_value(re.compile("#who/."))
    link = page.get_by_label("Link", exact=True).input_value()
    assert "--profile strict" in page.locator("#share-command").input_value()
    other = visit.open("/" + link.removeprefix(visit.service))
    expect(other.locator("#who-profile")).to_have_value("strict")


def test_a_path_with_a_comma(visit: Visit) -> None:
    """It is one column."""
    page = visit.page
    show(page, "who")
    page.get_by_label("Paths", exact=True).fill("/a,b /c")
    heads = page.locator("#matrix thead th code")
    expect(heads).to_have_text(["/a,b", "/c"])


MANY_PATHS = (
    "/ /news/ /private/press/ /shop/products/ /search "
    "/drafts/a/longer/path/ /a /b /cdn-cgi/ /images/*.jpg"
)


@pytest.mark.parametrize(
    "viewport", [{"width": 1366, "height": 768}, PHONE], ids=["laptop", "phone"]
)
def test_a_wide_matrix(browser: Browser, service: LiveServer, viewport: dict[str, int]) -> None:
    """It scrolls in its box, its cells are one line that fits, and crawlers stay in sight."""
    visit = Visit(browser, f"{service.url}/", viewport=viewport)
    page = visit.page
    show(page, "who")
    page.get_by_label("Paths", exact=True).fill(MANY_PATHS)
    expect(page.locator("#matrix thead th code")).to_have_count(10)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (
        page.evaluate(
            "[...document.querySelectorAll('#matrix tbody td')].filter(cell => {"
            " const range = document.createRange(); range.selectNodeContents(cell);"
            " const [inner, outer] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];"
            " return inner.right > outer.right - 8 || inner.height > 30 }).length"
        )
        == 0
    )
    box = page.get_by_role("region", name="Matrix of crawlers and paths")
    assert box.evaluate("e => { e.scrollLeft = 1e6; return e.scrollLeft }") > 50
    crawler = page.get_by_role("rowheader", name=re.compile("^Googlebot")).first.bounding_box()
    assert crawler is not None
    assert 0 <= crawler["x"] < 40
    line = page.get_by_text("10 paths: scroll sideways")
    (expect(line).to_be_visible if viewport == PHONE else expect(line).to_be_hidden)()
    visit.assert_quiet()
    visit.context.close()


def test_a_view_asks_again_after_an_error(visit: Visit) -> None:
    """It was shown when the service did not answer."""
    page = visit.page
    page.route("**/v1/matrix", lambda route: route.abort())
    show(page, "who")
    expect(page.locator("#matrix .error")).to_be_visible()
    page.unroute("**/v1/matrix")
    show(page, "edit")
    show(page, "who")
    expect(page.locator("#matrix tbody tr").first).to_be_visible()
    expect(page.locator("#matrix .error")).to_have_count(0)
    visit.console.clear()


def test_a_slow_fetch_does_not_replace_a_newer_one(visit: Visit) -> None:
    """The one before is ended."""
    page = visit.page
    waiting: list[Route] = []

    def answer(route: Route, name: str) -> None:
        facts = {"url": f"https://{name}/robots.txt", "state": "success", "status": 200}
        empty = dict.fromkeys(("failure", "failure_reason", "age", "robots_base64", "store_error"))
        rest = {"policy": "rules", "redirects": [], "bytes": 9, "complete": True, "source": None}
        route.fulfill(json=facts | empty | rest | {"robots": f"# {name}\n"})

    def delay(route: Route) -> None:
        if "slow.example" in route.request.url:
            waiting.append(route)
        else:
            answer(route, "fast.example")

    page.route("**/v1/robots?**", delay)
    show(page, "live")
    field = page.get_by_label("URL of any page of the site")
    field.fill("slow.example")
    page.keyboard.press("Enter")
    until(page, lambda: bool(waiting), "the first request")
    field.fill("fast.example")
    page.keyboard.press("Enter")
    shown = page.locator("#live pre")
    expect(shown).to_have_text("# fast.example\n")
    expect(page.locator("#live")).to_contain_text("fetched (HTTP 200)")
    with suppress(Error):  # the page has ended it
        answer(waiting[0], "slow.example")
    page.wait_for_timeout(300)
    expect(shown).to_have_text("# fast.example\n")


def test_a_private_address(visit: Visit) -> None:
    """That the service does not connect to it says nothing about crawlers."""
    page = visit.page
    show(page, "live")
    page.get_by_label("URL of any page of the site").fill("http://10.0.0.1/")
    page.keyboard.press("Enter")
    live = page.locator("#live")
    expect(live).to_contain_text("This service does not connect to that address.")
    expect(live).to_contain_text(
        "Start the service with --allow-private 10.0.0.1 to fetch from there."
    )
    expect(live).not_to_contain_text("must not fetch")


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("example.com/a", "https://example.com/a"),
        ("example.com:443", "https://example.com:443"),
        ("example.com:8080", "http://example.com:8080"),
        ("example.com:80/", "http://example.com:80/"),
        ("localhost", "http://localhost"),
        ("127.0.0.1/a", "http://127.0.0.1/a"),
        ("[::1]", "http://[::1]"),
        ("192.168.1.20", "http://192.168.1.20"),
        ("172.32.0.1", "https://172.32.0.1"),
        ("https://localhost/", "https://localhost/"),
    ],
)
def test_an_address_without_a_scheme(visit: Visit, typed: str, asked: str) -> None:
    """This computer, a private network or a port is tried with http."""
    page = visit.page
    urls: list[str] = []

    def answer(route: Route) -> None:
        urls.append(parse_qs(urlsplit(route.request.url).query)["url"][0])
        route.fulfill(json=failed_fetch(asked, "dns"))

    page.route("**/v1/robots?**", answer)
    show(page, "live")
    page.get_by_label("URL of any page of the site").fill(typed)
    page.keyboard.press("Enter")
    expect(page.locator("#live")).to_contain_text(
        "This computer cannot look up the name. "
        "If crawlers cannot either, they must not fetch anything."
    )
    assert urls == [asked]


def failed_fetch(url: str, reason: str) -> dict[str, Any]:
    """An answer about a file that was not fetched."""
    empty = dict.fromkeys(("status", "failure", "age", "robots", "robots_base64", "store_error"))
    rest = {"policy": "disallow", "redirects": [], "bytes": 0, "complete": True, "source": None}
    return empty | rest | {"url": url, "state": "unreachable", "failure_reason": reason}


def test_bytes_that_are_not_utf8(visit: Visit) -> None:
    """Each view that opens a file says so, until another text is there."""
    page = visit.page
    words = "bytes that are not UTF-8"
    open_file(page, "#open-robots", b"User-agent: \xff\n")
    expect(page.locator("#file-status")).to_contain_text(words)
    page.get_by_role("button", name="Load the example").click()
    expect(page.locator("#file-status")).to_contain_text("13 lines")
    expect(page.locator("#file-status")).not_to_contain_text(words)
    show(page, "compare")
    open_file(page, "#open-after", b"User-agent: \xff\n")
    expect(page.locator("#after-status")).to_contain_text(words)
    show(page, "page")
    open_file(page, "#open-html", b"<p>\xff")
    expect(page.locator("#html-status")).to_contain_text(words)


def test_removing_an_entry_of_the_policy(visit: Visit) -> None:
    """The focus goes to the next one, and the numbers have no gap."""
    page = visit.page
    show(page, "write")
    for name in ("A", "B", "C"):
        page.get_by_role("button", name="Add crawlers").click()
        page.keyboard.type(name)
    page.get_by_role("button", name="Remove crawlers 2").click()
    groups = page.get_by_role("group", name=re.compile("Crawlers by name, "))
    expect(groups).to_have_count(2)
    expect(
        page.get_by_role("group", name="Crawlers by name, 2").get_by_label("Names")
    ).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type("c")
    expect(page.locator("#written pre").first).to_contain_text("User-agent: Cc")


def test_a_policy_with_exceptions(visit: Visit) -> None:
    """Crawlers that are not blocked are named beside the proof; what is opened stays open."""
    page = visit.page
    show(page, "write")
    written = page.locator("#written")
    expect(written).to_contain_text("Proved: the file says what the form says")
    form = page.get_by_role("form", name="Policy")
    expect(form.get_by_label("Search", exact=True)).to_have_value("")
    for name in ("Blocked paths", "Sitemaps"):
        expect(form.get_by_label(name).first).to_have_value("")
    button = written.get_by_role("button", name="Block these, too")
    expect(button).to_have_count(0)
    form.get_by_label("Search", exact=True).select_option(label="Allow")
    expect(written).to_contain_text(
        "The file says what the form says, but 3 crawlers with a blocked purpose are not blocked: "
        "Amazonbot, Bytespider, Timpibot"
    )
    button.click()
    names = page.get_by_role("group", name="Crawlers by name, 1").get_by_label("Names")
    expect(names).to_have_value("Amazonbot, Bytespider, Timpibot")
    expect(written).to_contain_text("Proved: the file says what the form says")
    expect(written.locator("pre").first).to_contain_text("User-agent: Timpibot")
    expect(button).to_have_count(0)
    written.get_by_text("The policy as a file").click()
    policy = written.get_by_role("region", name="The policy")
    expect(policy).to_be_visible()
    page.get_by_label("Blocked paths").first.fill("/other/")
    expect(policy).to_contain_text("/other/")


def test_paper_has_the_complete_text(visit: Visit) -> None:
    """The editor has only the lines that are seen."""
    page = visit.page
    open_file(page, "#open-robots", large_file())
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = page.locator("#view-edit .printed-text")
    expect(printed).to_be_visible()
    expect(printed).to_have_text(large_file())
    expect(page.locator("#editor")).to_be_hidden()


# --- Everyone -------------------------------------------------------------------------------------


def test_keyboard_alone(visit: Visit) -> None:
    """Tabs, editor, a fix and answers are reached, and left, without a mouse."""
    page = visit.page
    expect(page.locator("#notes button").first).to_be_visible()

    def focus() -> str:
        found = page.evaluate(
            "() => { const e = document.activeElement;"
            " return e.id || e.getAttribute('aria-label') || e.textContent.slice(0, 60) }"
        )
        return str(found)

    order = []
    for _ in range(80):
        page.keyboard.press("Tab")
        order.append(focus())
        if order[-1].startswith("Fix: "):
            break
    assert order[:2] == ["skip", "tab-edit"]
    assert "editor" in order, order
    assert order[-1].startswith("Fix: "), order
    page.keyboard.press("Enter")
    expect(page.locator("#editor .cm-line").nth(5)).to_contain_text("Disallow: /drafts")
    page.locator("#tab-edit").focus()
    for view in VIEWS[1:]:
        page.keyboard.press("ArrowRight")
        expect(page.locator(f"#view-{view}")).to_be_visible()
        assert focus() == f"tab-{view}"
    page.keyboard.press("Home")
    expect(page.locator("#view-edit")).to_be_visible()
    page.locator("table.answers tbody button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#editor").get_by_text("decides: allowed")).to_be_visible()


@pytest.mark.parametrize(
    ("view", "answers"), [("edit", "answers"), ("who", "matrix"), ("page", "guidance")]
)
def test_the_first_stop_leads_to_the_answers(visit: Visit, view: str, answers: str) -> None:
    """Of the view that is shown; the address stays that of the view."""
    page = visit.page
    show(page, view)
    page.wait_for_timeout(600)
    page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges()")
    page.locator("#skip").focus()
    expect(page.locator("#skip")).to_be_in_viewport()
    address = page.url
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == answers
    assert page.url == address


def fill_every_view(page: Page, view: str) -> None:
    """Open a view and wait for what it shows."""
    show(page, view)
    shown = {
        "edit": "table.answers tbody tr",
        "compare": "#differences *",
        "who": "#matrix tbody tr",
        "page": "#guidance *",
        "write": "#written pre",
        "live": "#live-form button",
    }
    expect(page.locator(shown[view]).first).to_be_visible()
    page.wait_for_timeout(700)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["desktop", "phone"])
def test_axe_finds_nothing(browser: Browser, service: LiveServer, scheme: str, width: str) -> None:
    """In no view, light and dark, on a desktop and a phone, where nothing scrolls sideways."""
    options: dict[str, Any] = {"color_scheme": scheme}
    if width == "phone":
        options |= {"viewport": PHONE, "is_mobile": True, "has_touch": True}
    visit = Visit(browser, f"{service.url}/", **options)
    page = visit.page
    for view in VIEWS:
        fill_every_view(page, view)
        assert axe_findings(page) == [], view
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, view
    page.locator("#tab-edit").click()
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_label("Link", exact=True)).to_be_visible()
    assert axe_findings(page) == []
    visit.assert_quiet()
    visit.context.close()


def test_axe_would_find_something(visit: Visit) -> None:
    """The check can fail."""
    visit.page.evaluate(
        "document.querySelector('#crawler').insertAdjacentHTML('afterend', '<img>')"
    )
    assert any("image-alt" in line for line in axe_findings(visit.page))


def fragment(values: object) -> str:
    """A fragment as the page writes it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(json.dumps(values).encode()) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("#edit/AAAA", "damaged"),
        ("#edit/%%%", "damaged"),
        ("#edit/" + fragment([1, 2]), "damaged"),
        ("#edit/" + fragment({"robots": "x" * 30_000_000}), "too large"),
        ("#edit/" + fragment({"robots": 5, "as": {"a": 1}, "urls": None}), ""),
        ("#write/" + fragment({"policy": '[1,{"__proto__":1}]'}), ""),
        ("#write/" + fragment({"policy": '{"crawlers": [null, 5], "purposes": "x"}'}), ""),
        ("#page/" + fragment({"url": "javascript:alert(1)", "html": "<script>alert(1)"}), ""),
        ("#nothing/xx", ""),
    ],
)
def test_hostile_links(visit: Visit, link: str, words: str) -> None:
    """The page says what is wrong, runs nothing of them, and still works."""
    page = visit.open("/" + link)
    expect(page.get_by_role("tab", selected=True)).to_be_visible()
    if words:
        expect(page.locator("#link-error")).to_contain_text(words)
    show(page, "edit")
    page.get_by_role("button", name="Load the example").click()
    expect(page.get_by_role("list", name="Notes on the file")).to_be_visible()
    # Chromium writes a line for a refused body, such as the URL in the link.
    visit.failed.clear()
    visit.console[:] = [line for line in visit.console if "status of 422" not in line]


def test_the_command_gives_the_same_answers(visit: Visit, tmp_path: Path) -> None:
    """It is quoted for a shell, whatever the URLs have in them."""
    urls = ["/it's", "/$HOME", "/a b", "/`id`", "/x;y&z", '/"q"', "/*", "-x"]
    robots = "User-agent: *\nDisallow: /x\nDisallow: /it\n"
    page = visit.open("/#edit/" + fragment({"robots": robots, "as": "A", "urls": "\n".join(urls)}))
    rows = page.locator("table.answers tbody tr")
    expect(rows).to_have_count(len(urls))
    expect(rows.first).to_contain_text("Blocked")
    shown = ["Allowed" in text for text in rows.all_inner_texts()]
    page.get_by_role("button", name="Share", exact=True).click()
    field = page.get_by_label("The same answer on the command line")
    expect(field).to_have_value(re.compile("robotrules check"))
    [line] = [one for one in field.input_value().splitlines() if "robotrules check" in one]
    (tmp_path / "robots.txt").write_text(robots)
    words = shlex.split(line)
    assert words[-len(urls) - 1 :] == ["--", *urls]
    command = [*COMMAND, "check", "--json", *words[2:]]
    ran = subprocess.run(command, cwd=tmp_path, env=process_environment(), capture_output=True)
    assert [json.loads(one)["allowed"] for one in ran.stdout.splitlines()] == shown
    assert shown.count(False) == 2


def test_text_of_a_site_is_text(visit: Visit) -> None:
    """Elements in a file are shown as they are written."""
    page = visit.page
    hostile = "<img src=x onerror=document.title='run'>"
    write_robots(page, f"User-agent: {hostile}\nDisallow: /{hostile}\nDisalow{hostile}: /x\n")
    page.get_by_label("URLs or paths").fill(f"/{hostile}")
    expect(page.locator("table.answers tbody tr")).to_have_count(1)
    for view in VIEWS[:-1]:
        fill_every_view(page, view)
        assert page.locator("main img").count() == 0
    assert "run" not in page.title()


def test_a_token_is_asked_for(browser: Browser) -> None:
    """With a token file the page works once the token is typed."""
    with serve(tokens=(TOKEN,)) as protected:
        visit = Visit(browser, f"{protected.url}/")
        page = visit.page
        field = page.get_by_label("Token", exact=True)
        expect(field).to_be_visible()
        field.fill("wrong")
        page.keyboard.press("Enter")
        expect(page.locator("#token-reason")).to_have_text(
            "That token was not accepted. Try again."
        )
        expect(page.locator("#announcements")).to_contain_text("not accepted")
        expect(field).to_be_focused()
        field.fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("table.answers tbody tr").first).to_contain_text("Allowed")
        expect(field).to_be_hidden()
        expect(page.locator("#tab-edit")).to_be_focused()
        assert visit.elsewhere == []
        assert all(line.startswith("401 ") for line in visit.failed)
        visit.context.close()


def test_without_fetching(browser: Browser) -> None:
    """The view says that this service does not fetch."""
    with serve(fetches=False) as offline:
        visit = Visit(browser, f"{offline.url}/")
        page = visit.page
        show(page, "live")
        page.get_by_label("URL of any page of the site").fill("http://127.0.0.1/")
        page.keyboard.press("Enter")
        expect(page.locator("#live")).to_contain_text("does not fetch")
        visit.context.close()


def test_without_a_service(browser: Browser) -> None:
    """When the service has gone, the page says so and keeps what was typed."""
    with serve() as ending:
        visit = Visit(browser, f"{ending.url}/")
        page = visit.page
        expect(page.locator("table.answers tbody tr").first).to_contain_text("Allowed")
    page.get_by_label("URLs or paths").fill("/gone")
    expect(page.locator("#answers .error")).to_be_visible()
    assert "User-agent" in text_of(page)
    visit.context.close()
