"""A browser for tests of the page: the Chromium of the system, which may reach loopback only."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request, Response, sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
LOOPBACK_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
# Milliseconds for what has to appear.
LONGEST = 20_000
PHONE = {"width": 360, "height": 740}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", LOOPBACK_ONLY]
        )
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A window of the page, and everything that it must not do."""

    def __init__(self, browser: Browser, service: str, **options: Any) -> None:
        self.service = service
        self.console: list[str] = []
        self.elsewhere: list[str] = []
        self.failed: list[str] = []
        settings = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        self.context: BrowserContext = browser.new_context(**{**settings, **options})
        self.context.set_default_timeout(LONGEST)
        self.page = self.open()

    def open(self, path: str = "/") -> Page:
        """Open another window."""
        page = self.context.new_page()
        page.on(
            "console", lambda message: self.console.append(f"{message.text} {message.location}")
        )
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.on("request", self._note_request)
        page.on("response", self._note_response)
        page.goto(self.service.rstrip("/") + path)
        return page

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((self.service, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def _note_response(self, response: Response) -> None:
        if response.status >= 400:
            self.failed.append(f"{response.status} {response.url}")

    def assert_quiet(self) -> None:
        """Fail if the console has a line, or a request left the origin or failed."""
        assert (self.console, self.elsewhere, self.failed) == ([], [], [])


def axe_findings(page: Page) -> list[str]:
    """Return what axe-core finds on a page, one line for each element."""
    source = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    # As a script of the debugger: the page's Content-Security-Policy allows its own files only.
    page.evaluate(source)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
        for rule in found
        for node in rule["nodes"]
    ]


def until(page: Page, condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds."""
    for _ in range(LONGEST // 50):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not in time: {what}")
