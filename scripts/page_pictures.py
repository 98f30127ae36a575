"""
Write the screenshots of the page of `robotrules serve`, docs/pictures/page-*.png.

    python scripts/page_pictures.py

It needs what the browser tests need (`make test` installs it), and pngquant to make the files
small. The service, and the site that the view Live fetches from, are on loopback.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, expect  # noqa: E402
from tests.integrations.loopback_site import LoopbackSite  # noqa: E402
from tests.service.browsing import PHONE, Visit, chromium  # noqa: E402
from tests.service.live_server import serve  # noqa: E402
from tests.service.test_browser import VIEWS, fill_every_view  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
SHAPES: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {
        "viewport": PHONE,
        "is_mobile": True,
        "has_touch": True,
        "device_scale_factor": 2,
    },
}
# What a picture of a phone begins with: the answers, which are below the form.
FIRST_ON_PHONE = {"compare": "#differences", "page": "#guidance", "write": "#written"}
SITE = "User-agent: *\nDisallow: /cart\nCrawl-delay: 2\n\nUser-agent: GPTBot\nDisallow: /\n"


def fetch_a_site(page: Page, url: str) -> None:
    """Fill the view Live."""
    page.get_by_label("URL of any page of the site").fill(url)
    page.keyboard.press("Enter")
    expect(page.locator("#live")).to_contain_text("/cart")


def main() -> None:
    """Take all pictures."""
    written: list[str] = []
    with serve() as service, chromium() as browser, LoopbackSite(SITE) as site:
        for shape, options in SHAPES.items():
            visit = Visit(browser, f"{service.url}/", **options)
            for view in VIEWS:
                fill_every_view(visit.page, view)
                if view == "live":
                    fetch_a_site(visit.page, site.url("/any"))
                if shape == "phone" and view in FIRST_ON_PHONE:
                    visit.page.locator(FIRST_ON_PHONE[view]).evaluate("e => e.scrollIntoView()")
                path = PICTURES / f"page-{view}-{shape}.png"
                visit.page.screenshot(path=path)
                written.append(str(path))
                visit.page.evaluate("scrollTo(0, 0)")
            visit.context.close()
    command = ["pngquant", "--force", "--strip", "--ext", ".png", "--speed", "1", "96", "--"]
    subprocess.run([*command, *written], check=True)


if __name__ == "__main__":
    main()
