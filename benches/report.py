"""
The report of a run: printed text, figures for a program, bars, and the machine it ran on.

Does not know: what is measured.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from pathlib import Path
from typing import Any


class Report:
    """Prints text at once, and collects figures and bars."""

    def __init__(self) -> None:
        self.figures: dict[str, Any] = {}
        self.bars: list[tuple[str, str, str, bool]] = []

    def say(self, *lines: str) -> None:
        """Print lines at once: a run is long."""
        print(*lines, sep="\n", flush=True)

    def add_bar(self, name: str, required: str, measured: str, met: bool) -> None:
        """Record a bar and whether it is met."""
        self.bars.append((name, required, measured, met))


def describe_machine() -> dict[str, str]:
    """Return the machine and the software, without host names or paths."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} vCPU, {platform.system()} {platform.machine()}",
        "processor": _read_processor(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler of python": platform.python_compiler(),
        "load at start": _read_load(),
    }


def _read_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def _read_load() -> str:
    if sys.platform == "win32":
        return "unknown"
    return f"{os.getloadavg()[0]:.2f}"
