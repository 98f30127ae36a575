"""
The harness of Protego (scrapy/protego): `python conformance/harnesses/protego_harness.py`.

Protego takes text, so the octets are decoded as UTF-8 with replacement characters, as its users
do. It returns allowed or not; known differences are in `known_differences/protego.txt`.
"""

from __future__ import annotations

from importlib import import_module, metadata

import protocol

# Imported by name, so that the type checker does not need the package.
Protego = import_module("protego").Protego


class ProtegoHarness(protocol.VerdictsOnly):
    """Protego's `can_fetch`, which takes the URL first."""

    name = "protego"
    version = metadata.version("protego")

    def load(self, body: bytes) -> protocol.CheckFunction:
        """Parse once for all checks of a vector."""
        rules = Protego.parse(body.decode("utf-8", errors="replace"))
        return lambda url, token: bool(rules.can_fetch(url, token))


if __name__ == "__main__":
    protocol.serve(ProtegoHarness())
