"""
The harness of the standard library: `python conformance/harnesses/urllib_harness.py`.

`urllib.robotparser` was rewritten for RFC 9309 in later releases of Python; the version in use
depends on the Python that runs this file, and `known_differences/urllib.txt` names the one it was
made with. The octets are decoded and split as `RobotFileParser.read` does.
"""

from __future__ import annotations

import platform
from urllib.robotparser import RobotFileParser

import protocol


class UrllibHarness(protocol.VerdictsOnly):
    """`RobotFileParser.can_fetch`, which takes the product token first."""

    name = "urllib.robotparser"
    version = platform.python_version()

    def load(self, body: bytes) -> protocol.CheckFunction:
        """Parse once for all checks of a vector."""
        parser = RobotFileParser()
        parser.parse(body.decode("utf-8", errors="replace").splitlines())
        return lambda url, token: parser.can_fetch(token, url)


if __name__ == "__main__":
    protocol.serve(UrllibHarness())
