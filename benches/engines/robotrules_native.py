"""
robotrules with its native engine, the default.

Two calls are timed separately: `robots.check(url, token)`, which returns a verdict with its reason,
and `rules.allows(url)`, which returns a bool from a rule set that is compiled once.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from engines.protocol import Engine

# Profile DEFAULT reads 500 KiB, the minimum of RFC 9309 §2.5. Some hostile inputs are larger, and
# rivals read all of them; for the comparison robotrules does so too.
MAX_BYTES = 16 * 1024 * 1024


class RobotrulesNative(Engine):
    """The native engine under profile default, or another profile by name."""

    name = "robotrules"
    package = "robotrules"
    module = "robotrules"
    reads = "bytes"
    batches = True
    engine_module = "native"

    def __init__(self, profile: str = "default") -> None:
        self.profile: Any = profile
        if profile != "default":
            self.name = f"{self.name}, profile {profile}"
        self._parse: Any = None

    def bind(self, library: Any) -> str:
        engine = getattr(importlib.import_module("robotrules._engine"), self.engine_module, None)
        if engine is None:
            return f"the {self.engine_module} engine was not built"
        if self.profile == "default" and library.engine_name() == self.engine_module:
            self._parse = library.parse
        else:
            profile = self.profile

            def parse(body: bytes) -> Any:
                return library.parse(body, profile=profile, engine=engine)

            self._parse = parse
        return ""

    def raise_size_limit(self) -> None:
        """Raise the size limit, for inputs that are larger."""
        default = importlib.import_module("robotrules.profile").DEFAULT
        self.profile = default.replace(max_bytes=MAX_BYTES)
        self.bind(importlib.import_module("robotrules"))

    def parse(self, body: Any, token: str) -> Any:
        return self._parse(body)

    def rules_for(self, parsed: Any, token: str) -> Any:
        return parsed.rules_for(token)

    def check(self, parsed: Any, url: str, token: str) -> Any:
        return parsed.check(url, token)

    def parse_and_check(self, body: Any, url: str, token: str) -> Any:
        return self._parse(body).check(url, token)

    def check_each(self, parsed: Any, urls: Sequence[str], token: str) -> None:
        check = parsed.check
        for url in urls:
            check(url, token)

    def allows_each(self, rules: Any, urls: Sequence[str], token: str) -> None:
        allows = rules.allows
        for url in urls:
            allows(url)

    def check_batch(self, rules: Any, urls: Sequence[str], token: str) -> Any:
        return rules.allows_many(urls)
