"""
Write the pictures of the page of `robotrules report`, docs/pictures/report*.png.

    python scripts/report_pictures.py

It needs what the browser tests need (`make test` installs it), and pngquant to make the files
small. The site is one of our own, so the pictures show no one's file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.operations.example_report import example_report  # noqa: E402
from tests.service.browsing import PHONE, chromium  # noqa: E402

from robotrules.operations.site_report.pages import report_page  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
SHAPES: dict[str, dict[str, Any]] = {
    "report": {"viewport": {"width": 1180, "height": 1150}},
    "report-dark": {"viewport": {"width": 1180, "height": 1150}, "color_scheme": "dark"},
    "report-phone": {"viewport": PHONE, "is_mobile": True, "device_scale_factor": 2},
}


def main() -> None:
    """Take all pictures."""
    written: list[str] = []
    with TemporaryDirectory() as folder, chromium() as browser:
        page_file = Path(folder) / "report.html"
        page_file.write_text(report_page(example_report(Path(folder))), encoding="utf-8")
        for name, options in SHAPES.items():
            context = browser.new_context(**options)
            page = context.new_page()
            page.goto(page_file.as_uri())
            path = PICTURES / f"{name}.png"
            page.screenshot(path=path)
            written.append(str(path))
            context.close()
    command = ["pngquant", "--force", "--strip", "--ext", ".png", "--speed", "1", "64", "--"]
    subprocess.run([*command, *written], check=True)


if __name__ == "__main__":
    main()
