"""
Pages in a browser: a Playwright route handler that follows robots.txt and reads the rules of pages.

    playwright_pages.py URL...     # with Playwright and its Chromium
    playwright_pages.py            # a local site, with a stand-in for the browser

Documents (pages and frames) are requested in a slot of their origin, if its rules allow them. What
a page loads is checked too, but needs no slot: a browser loads it at once. Playwright does not call
a handler for the target of a redirect, so no redirect is left to the browser.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

from stand_in_browser import PageSite, StandInPage

import robotrules
from robotrules.access import resolve_location

try:
    from playwright.async_api import Error
except ImportError:  # the stand-in needs no Playwright
    Error = OSError  # type: ignore[assignment,misc]

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
REDIRECTS = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 5


class RobotsRoutes:
    """The route handler of one page, and what it found out about the last navigation."""

    def __init__(self, client: robotrules.AsyncClient, page: Any, check_subresources: bool) -> None:
        self.client, self.page, self.check_subresources = client, page, check_subresources
        self.target: str | None = None
        """Where the document redirects to."""
        self.document: tuple[list[tuple[str, str]], bytes] | None = None
        """The fields and the HTML of the document."""
        self.disallowed: list[robotrules.DisallowedError] = []
        """What was not requested, since the last navigation."""

    async def handle(self, route: Any) -> None:
        """Fulfil a request by the rules of its origin, or abort it."""
        request = route.request
        try:
            if not request.url.startswith(("http://", "https://")):
                await route.continue_()
            elif request.resource_type == "document":
                await self.load_document(route)
            elif self.check_subresources:
                await self.load_subresource(route)
            else:
                await route.continue_()
        except robotrules.DisallowedError as error:
            self.disallowed.append(error)
            await route.abort("blockedbyclient")
        except Error:  # no connection, for example
            await route.abort("failed")

    async def load_document(self, route: Any) -> None:
        """Request a page or a frame in the next slot of its origin."""
        url, is_page = route.request.url, route.request.frame == self.page.main_frame
        async with self.client.checked_slot(url) as slot:
            response = await route.fetch(max_redirects=0)
            fields = [(field["name"], field["value"]) for field in response.headers_array]
            slot.record_response(response.status, fields)
        target = redirect_target(url, response)
        if is_page:
            self.target, self.document = target, (fields, await response.body())
        if target is not None:  # a page is visited there; a frame that redirects stays empty
            await route.abort("aborted")
        else:
            await route.fulfill(response=response)

    async def load_subresource(self, route: Any) -> None:
        """Request what a page needs, if the rules allow it; its redirects are checked."""
        url: str | None = route.request.url
        for _ in range(MAX_REDIRECTS):
            if url is None or not url.startswith(("http://", "https://")):
                break
            verdict = await self.client.check(url)
            if not verdict.allowed:
                raise robotrules.DisallowedError(url, verdict)
            response = await route.fetch(url=url, max_redirects=0)
            if response.status not in REDIRECTS:
                await route.fulfill(response=response)
                return
            url = redirect_target(url, response)
        await route.abort("failed")


def redirect_target(url: str, response: Any) -> str | None:
    """Return where a response redirects to."""
    location = response.headers.get("location")
    is_redirect = response.status in REDIRECTS and location
    return resolve_location(url, location) if is_redirect else None


async def visit(page: Any, routes: RobotsRoutes, url: str) -> robotrules.Guidance | None:
    """Open a URL, each redirect in its own slot; return the guidance of the page it leads to."""
    for _ in range(MAX_REDIRECTS + 1):
        routes.target, routes.document, routes.disallowed = None, None, []
        try:
            await page.goto(url)
        except Error:
            if routes.target is None:
                return None
            url = routes.target
            continue
        if routes.document is None:  # not HTTP, such as about:blank
            return None
        headers, html = routes.document
        return robotrules.guidance(
            url,
            routes.client.product_token,
            robots=await routes.client.robots(url),
            headers=headers,
            html=html,
            dom=await page.content(),
        )
    return None


async def show(
    page: Any, urls: list[str], write: Callable[[str], object] = print, **options: Any
) -> None:
    """Visit URLs, and write what their sites ask for."""
    async with robotrules.AsyncClient(AGENT, **options) as client:
        routes = RobotsRoutes(client, page, check_subresources=True)
        # The context: popups of the page are routed too.
        await page.context.route("**/*", routes.handle)
        for url in urls:
            found = await visit(page, routes, url)
            write(str(found) if found is not None else f"{url}\n  no page")
            for error in routes.disallowed:
                write(f"  not requested: {error}")


async def browse(urls: list[str], browser_options: dict[str, Any], **options: Any) -> None:
    """Do it with Chromium, which is launched with *browser_options*."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**browser_options)
        # Requests of service workers would bypass the handler.
        context = await browser.new_context(user_agent=AGENT, service_workers="block")
        await show(await context.new_page(), urls, **options)
        await browser.close()


if __name__ == "__main__":
    if sys.argv[1:]:
        asyncio.run(browse(sys.argv[1:], {"executable_path": os.environ.get("CHROMIUM")}))
    else:
        with PageSite() as site:
            options = {"store": "memory:", "allow_private": ["127.0.0.1"], "min_delay": 0.02}
            urls = [site.url + path for path in ("/", "/old", "/account", "/private/login")]
            asyncio.run(
                show(
                    StandInPage(AGENT, Error),
                    urls,
                    lambda text: print(text.replace(site.url, "http://site.example")),
                    **options,
                )
            )
            print("requested:", *site.asked)
