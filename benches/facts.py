"""
The machine and the software a run was made on, without names or paths of either.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from pathlib import Path


def machine() -> dict[str, str]:
    """What a reader needs to judge the figures."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} vCPU, {platform.system()} {platform.machine()}",
        "processor": _processor(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler of python": platform.python_compiler(),
        "load at start": _load(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def _load() -> str:
    if sys.platform == "win32":
        return "unknown"
    return f"{os.getloadavg()[0]:.2f}"
