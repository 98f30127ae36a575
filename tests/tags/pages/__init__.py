"""
Hostile pages of our own, and which meta elements each has where.

One JSON file for each topic: an id, what the page attacks, its octets (`html` in UTF-8, declared as
such by the transport; or `base64`, with the `charset` of the transport if there is one), and the
expected metas as name, content and place. The expectation was written from the HTML Standard; that
a browser agrees is shown by `test_chromium`.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class HostilePage(NamedTuple):
    """One page."""

    id: str
    attacks: str
    data: bytes
    charset: str | None
    metas: list[tuple[str | None, str | None, str]]

    @classmethod
    def of(cls, entry: dict[str, Any]) -> HostilePage:
        """Read an entry of a file."""
        text = entry.get("html")
        data = base64.b64decode(entry["base64"]) if text is None else text.encode()
        charset = entry.get("charset") if text is None else "utf-8"
        metas = [(name, content, place) for name, content, place in entry["metas"]]
        return cls(entry["id"], entry["attacks"], data, charset, metas)


PAGES = [
    HostilePage.of(entry)
    for path in sorted(HERE.glob("*.json"))
    for entry in json.loads(path.read_text(encoding="utf-8"))
]
