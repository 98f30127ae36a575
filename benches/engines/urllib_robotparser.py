"""
urllib.robotparser, the parser of the Python that runs the benchmarks.

Python 3.13 and 3.14 have a rewrite for RFC 9309; older versions match prefixes only, which is less
work and gives other verdicts. The table states the version.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any
from urllib.robotparser import RobotFileParser

from engines.protocol import Engine


class UrllibRobotparser(Engine):
    """The parser of the standard library."""

    name = "urllib.robotparser"
    package = ""
    module = "urllib.robotparser"

    @property
    def version(self) -> str:
        return f"Python {platform.python_version()}"

    def parse(self, body: Any, token: str) -> Any:
        parser = RobotFileParser()
        parser.parse(body.splitlines())
        return parser

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return parsed.can_fetch(token, url)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        can_fetch = parsed.can_fetch
        for url in urls:
            can_fetch(token, url)
