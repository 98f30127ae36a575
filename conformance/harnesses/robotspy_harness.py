"""
The harness of robotspy: `python conformance/harnesses/robotspy_harness.py`.

robotspy takes text, so the octets are decoded as UTF-8 with replacement characters. Its answers
can depend on the order of a set, so the harness restarts itself with a fixed hash seed to
make a run repeatable; known differences are in `known_differences/robotspy.txt`.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module, metadata

import protocol

# Imported by name, so that the type checker does not need the package.
RobotsParser = import_module("robots").RobotsParser
SEED = "0"


class RobotspyHarness(protocol.VerdictsOnly):
    """`RobotsParser.can_fetch`, which takes the product token first."""

    name = "robotspy"
    version = metadata.version("robotspy")

    def load(self, body: bytes) -> protocol.CheckFunction:
        """Parse once for all checks of a vector."""
        parser = RobotsParser.from_string(body.decode("utf-8", errors="replace"))
        return lambda url, token: bool(parser.can_fetch(token, url))


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != SEED:
        environment = {**os.environ, "PYTHONHASHSEED": SEED}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    protocol.serve(RobotspyHarness())
