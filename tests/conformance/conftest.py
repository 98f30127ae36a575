"""Add the files of the suite to the import path, as running a file of `conformance/` does."""

from __future__ import annotations

import sys
from pathlib import Path

CONFORMANCE = Path(__file__).resolve().parents[2] / "conformance"
sys.path[:0] = [str(CONFORMANCE), str(CONFORMANCE / "harnesses")]
