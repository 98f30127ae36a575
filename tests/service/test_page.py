"""
The page in a real browser: what a person sees, clicks and types.

Needs Chromium: the one that the environment variable CHROMIUM names, or `chromium` on the PATH.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.service.running import RunningService, serving

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
VIEWS = ("Edit", "Compare", "Who", "Page", "Write", "Live")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser."""
    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that does not fetch."""
    with serving(tmp_path_factory.mktemp("page"), "--no-fetch") as running:
        yield running


class Visit:
    """A page, and what must stay empty while it is used."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page, self.origin = page, origin
        self.console: list[str] = []
        self.elsewhere: list[str] = []
        page.on("console", lambda message: self.console.append(message.text))
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.on("request", lambda request: self._see(request.url))

    def _see(self, url: str) -> None:
        if not url.startswith((f"{self.origin}/", "blob:", "data:")):
            self.elsewhere.append(url)

    def open(self, fragment: str = "") -> Page:
        """Open the page, with a fragment of its URL."""
        self.page.goto(f"{self.origin}/{fragment}")
        return self.page


@pytest.fixture
def visit(browser: Browser, service: RunningService) -> Iterator[Visit]:
    """A visit whose console stays empty, and that asks nobody but the service."""
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        found = Visit(context.new_page(), f"http://127.0.0.1:{service.port}")
        yield found
        assert (found.console, found.elsewhere) == ([], [])


def view(page: Page, name: str) -> None:
    """Change to a view."""
    page.get_by_role("tab", name=name, exact=True).click()


def text_of(page: Page) -> str:
    """Return the text of the editor, as the page puts it into a link."""
    page.get_by_role("button", name="Share", exact=True).click()
    link = page.get_by_label("Link", exact=True)
    expect(link).to_have_value(re.compile("#edit/."))
    data = link.input_value().partition("#edit/")[2]
    page.get_by_role("button", name="Close", exact=True).click()
    packed = base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
    found: str = json.loads(zlib.decompress(packed, -15))["robots"]
    return found


def fragment(name: str, fields: object) -> str:
    """Return the fragment of a view with a state."""
    squeezed = zlib.compressobj(wbits=-15)
    data = squeezed.compress(json.dumps(fields).encode()) + squeezed.flush()
    return f"#{name}/{base64.urlsafe_b64encode(data).decode().rstrip('=')}"


def test_the_first_screen_shows_answers_and_notes(visit: Visit) -> None:
    page = visit.open()
    answers = page.get_by_role("region", name="Answers")
    expect(answers.get_by_role("row")).to_have_count(6)
    expect(answers).to_contain_text("line 3: Disallow: /private/")
    expect(page.get_by_role("list", name="Notes on the file")).to_contain_text("typo")
    expect(page.locator("#editor .rr-token-keyword").first).to_be_visible()
    # The styles of the editor are there, although no <style> element is allowed.
    assert page.locator("#editor .cm-editor").evaluate("e => getComputedStyle(e).display") == "flex"
    assert page.evaluate("document.querySelectorAll('style').length") == 0


def test_a_fix_is_applied_and_undone(visit: Visit) -> None:
    page = visit.open()
    fix = page.get_by_role("button", name="Fix: Write 'Disallow'")
    fix.click()
    expect(fix).to_have_count(0)
    assert "\nDisallow: /drafts\n" in text_of(page)
    page.get_by_role("textbox", name="robots.txt", exact=True).focus()
    page.keyboard.press("Control+z")
    expect(fix).to_be_visible()
    page.locator("#editor .rr-fix").first.click()
    expect(fix).to_have_count(0)


def test_answers_follow_the_text_and_lines_light_up(visit: Visit) -> None:
    page = visit.open(
        fragment("edit", {"robots": "User-agent: *\nDisallow: /a\n", "as": "A", "urls": "/a/b"})
    )
    answers = page.get_by_role("region", name="Answers")
    lit = page.locator("#editor .rr-lit")
    expect(answers).to_contain_text("Blocked")
    expect(lit).to_have_count(1)
    expect(lit).to_contain_text("decides: blocked")
    page.get_by_role("textbox", name="robots.txt", exact=True).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("Allow: /a/b")
    page.keyboard.press("Escape")
    expect(answers).to_contain_text("line 3: Allow: /a/b")
    expect(lit).to_have_count(2)
    expect(page.locator("#editor .rr-lit.rr-allows")).to_contain_text("decides: allowed")
    expect(page.locator("#editor .rr-lit.rr-loses")).to_contain_text("shorter match")


def test_profiles_are_compared(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="https://example.com/drafts/1").click()
    expect(page.locator("#explanation")).to_contain_text("Strict (RFC 9309)✓Allowedno rule matches")


def test_a_pasted_sitemap_becomes_urls(visit: Visit, tmp_path: Path) -> None:
    page = visit.open()
    path = tmp_path / "sitemap.xml"
    path.write_text("<urlset><url><loc>https://example.com/private/1</loc></url></urlset>")
    page.set_input_files("#open-urls", path)
    field = page.get_by_label("URLs or paths, one per line")
    expect(field).to_have_value("https://example.com/private/1\n")
    expect(page.get_by_role("region", name="Answers").get_by_role("row")).to_have_count(2)


def test_line_ends_are_kept(visit: Visit, tmp_path: Path) -> None:
    page = visit.open()
    path = tmp_path / "robots.txt"
    path.write_bytes("User-agent: *\r\nDisallow: /ä😀\r\nDisalow: /b\r\n".encode())
    page.set_input_files("#open-robots", path)
    page.get_by_role("button", name="Fix: Write 'Disallow'").click()
    assert text_of(page) == "User-agent: *\r\nDisallow: /ä😀\r\nDisallow: /b\r\n"


def test_each_view_answers(visit: Visit) -> None:
    page = visit.open()
    view(page, "Compare")
    expect(page.locator("#differences")).to_contain_text("https://example.com/search")
    view(page, "Who")
    expect(page.get_by_role("region", name="Matrix of crawlers")).to_contain_text("GPTBot")
    view(page, "Page")
    expect(page.locator("#guidance")).to_contain_text("noindex – meta, element 2")
    view(page, "Write")
    expect(page.locator("#written")).to_contain_text("Proved: the file says what the form says")
    page.get_by_role("button", name="Open in the editor").click()
    assert "User-agent: GPTBot\n" in text_of(page)


def test_a_service_that_does_not_fetch_says_so(browser: Browser, service: RunningService) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{service.port}/#live")
        page.get_by_label("URL of any page of the site").fill("example.com")
        page.get_by_role("button", name="Fetch", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("This service does not fetch")


def test_a_link_brings_the_same_state(visit: Visit, browser: Browser) -> None:
    fields = {"robots": "User-agent: b\nDisallow: /é\n", "as": "B", "urls": "/é\n", "purpose": "x"}
    page = visit.open(fragment("edit", fields))
    page.get_by_role("button", name="Share", exact=True).click()
    field = page.get_by_label("Link", exact=True)
    expect(field).to_have_value(re.compile("#edit/."))
    link = field.input_value()
    with browser.new_context() as context:
        other = context.new_page()
        other.goto(link)
        expect(other.get_by_label("Crawler", exact=True).first).to_have_value("B")
        expect(other.get_by_label("URLs or paths, one per line")).to_have_value("/é\n")
        assert text_of(other) == fields["robots"]


def test_the_command_is_quoted_for_a_shell(visit: Visit) -> None:
    urls = ["/it's", "/$HOME", "/a b", "/`id`", "/x;y&z", '/"q"', "/*", "-x"]
    page = visit.open(fragment("edit", {"robots": "", "as": "A", "urls": "\n".join(urls)}))
    page.get_by_role("button", name="Share", exact=True).click()
    field = page.get_by_label("The same answer on the command line")
    expect(field).to_have_value(re.compile("robotrules check"))
    lines = field.input_value().splitlines()
    [check] = [line for line in lines if line.startswith("robotrules check")]
    assert shlex.split(check)[-len(urls) - 1 :] == ["--", *urls]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("#edit/AAAA", "damaged"),
        ("#edit/%%%", "damaged"),
        (fragment("edit", [1]), "damaged"),
        (fragment("edit", {"robots": "x" * 30_000_000}), "too large"),
        (fragment("edit", {"robots": 1, "as": {}, "urls": None}), ""),
        (fragment("write", {"policy": '[{"__proto__": 1}]'}), ""),
        (fragment("write", {"policy": '{"crawlers": [null, 5], "purposes": "x"}'}), ""),
        (fragment("nonsense", {}), ""),
    ],
)
def test_hostile_links_do_no_harm(visit: Visit, address: str, words: str) -> None:
    page = visit.open(address)
    expect(page.get_by_role("tab", selected=True)).to_be_visible()
    if words:
        expect(page.locator("#link-error")).to_contain_text(words)
    view(page, "Edit")
    page.get_by_role("button", name="Example", exact=True).click()
    expect(page.get_by_role("list", name="Notes on the file")).to_be_visible()


def test_markup_in_a_link_stays_text(visit: Visit) -> None:
    bad = "<img src=x onerror=alert(1)>"
    robots = f"User-agent: *\nDisallow: /{bad}\n# {bad}\nDisalow: {bad}\n"
    page = visit.open(fragment("edit", {"robots": robots, "as": "A", "urls": f"/{bad}"}))
    expect(page.locator("#explanation")).to_contain_text("onerror")
    for name in VIEWS:
        view(page, name)
        page.wait_for_timeout(400)
    assert page.locator("img[src=x]").count() == 0


def test_the_keyboard_is_not_trapped(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("textbox", name="robots.txt", exact=True).focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "editor"
    page.get_by_role("tab", name="Edit").focus()
    for name in (*VIEWS[1:], "Edit"):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", selected=True)).to_have_text(name)
        expect(page.get_by_role("tab", selected=True)).to_be_focused()
        expect(page.get_by_role("tabpanel")).to_have_count(1)


def test_a_phone_needs_no_sideways_scrolling(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 360, "height": 740})
    page = visit.open()
    for name in VIEWS:
        view(page, name)
        page.wait_for_timeout(700)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name


def test_a_token_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-that-nobody-guesses-0123456789\n")
    tokens.chmod(0o600)
    with (
        serving(tmp_path, "--no-fetch", "--token-file", str(tokens)) as running,
        browser.new_context() as context,
    ):
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{running.port}/")
        field = page.get_by_label("Token", exact=True)
        field.fill("wrong")
        field.press("Enter")
        expect(page.locator("#token-reason")).to_contain_text("not accepted")
        field.fill("a-token-that-nobody-guesses-0123456789")
        field.press("Enter")
        expect(field).to_be_hidden()
        expect(page.get_by_role("region", name="Answers")).to_contain_text("Blocked")
        expect(page.get_by_role("list", name="Notes on the file")).to_be_visible()
        expect(page.locator("#editor .rr-token-keyword").first).to_be_visible()
