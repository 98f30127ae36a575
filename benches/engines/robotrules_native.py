"""
robotrules with its native engine: what `pip install robotrules` gives.

Two ways to ask are timed apart: `robots.check(url, token)`, which returns a verdict with its
reason, and `rules.allows(url)`, which returns a bool from a rule set taken once.

Does not know: that there are rivals.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from engines.protocol import Engine

# Profile DEFAULT reads 500 KiB as RFC 9309 §2.5 requires at least. Some hostile inputs are
# larger, and rivals read all of them; so do we when we are compared on those.
EVERY_OCTET = 16 * 1024 * 1024


class RobotrulesNative(Engine):
    """The native engine under profile default, or another profile by name."""

    name = "robotrules"
    package = "robotrules"
    module = "robotrules"
    reads = "bytes"
    batches = True
    wanted = "native"

    def __init__(self, profile: str = "default") -> None:
        self.profile: Any = profile
        if profile != "default":
            self.name = f"{self.name}, profile {profile}"
        self._parse: Any = None

    def bind(self, library: Any) -> str:
        engine = getattr(importlib.import_module("robotrules._engine"), self.wanted, None)
        if engine is None:
            return f"the {self.wanted} engine was not built"
        if self.profile == "default" and library.engine_name() == self.wanted:
            self._parse = library.parse
        else:
            profile = self.profile

            def parse(body: bytes) -> Any:
                return library.parse(body, profile=profile, engine=engine)

            self._parse = parse
        return ""

    def read_every_octet(self) -> None:
        """Raise the size limit, for inputs that are larger than it."""
        default = importlib.import_module("robotrules.profile").DEFAULT
        self.profile = default.replace(max_bytes=EVERY_OCTET)
        self.bind(importlib.import_module("robotrules"))

    def parse(self, body: Any, token: str) -> Any:
        return self._parse(body)

    def hold(self, parsed: Any, token: str) -> Any:
        return parsed.rules_for(token)

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return parsed.check(url, token)

    def first(self, body: Any, url: str, token: str) -> Any:
        return self._parse(body).check(url, token)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        check = parsed.check
        for url in urls:
            check(url, token)

    def allows_each(self, held: Any, urls: Sequence[str], token: str) -> None:
        allows = held.allows
        for url in urls:
            allows(url)

    def batch(self, held: Any, urls: Sequence[str], token: str) -> Any:
        return held.allows_many(urls)
