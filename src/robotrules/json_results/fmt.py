"""The JSON of `robotrules fmt`: which files changed, and which could not be formatted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

# Increased when a JSON key changes its meaning or is removed.
SCHEMA_VERSION = 1


class FormattedFile(NamedTuple):
    """The result for one file."""

    file: str | None
    """Its name; None if it has none."""
    old: bytes = b""
    new: bytes = b""
    error: str = ""
    written: bool = False

    @property
    def changed(self) -> bool:
        """Whether its canonical form is another."""
        return self.old != self.new

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        octets = {"before": len(self.old), "after": len(self.new)}
        return {
            "file": self.file,
            "changed": self.changed,
            "written": self.written,
            "bytes": None if self.error else octets,
            "error": self.error or None,
        }


def formatting_values(files: Sequence[FormattedFile]) -> dict[str, Any]:
    """Return the results for files as plain values."""
    failed = sum(bool(one.error) for one in files)
    changed = sum(one.changed for one in files)
    counts = {"changed": changed, "same": len(files) - changed - failed, "failed": failed}
    return {"schema": SCHEMA_VERSION, **counts, "files": [one.as_dict() for one in files]}
