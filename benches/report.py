"""
What a run gathers: what is printed, figures for a program, and bars with whether they are met.

Does not know: what is measured.
"""

from __future__ import annotations

from typing import Any


class Report:
    """What is printed and what goes to the JSON file, gathered as the run goes on."""

    def __init__(self) -> None:
        self.figures: dict[str, Any] = {}
        self.bars: list[tuple[str, str, str, bool]] = []

    def say(self, *lines: str) -> None:
        """Print at once: a run is long, and a reader may be waiting."""
        print(*lines, sep="\n", flush=True)

    def bar(self, what: str, wanted: str, got: str, met: bool) -> None:
        """Note a bar and whether it is met."""
        self.bars.append((what, wanted, got, met))
