"""
The journal of an audit: a file with a line for each page, so that a run can continue.

The first line has the settings of the audit; a journal of other settings is refused. The last line,
if it was cut by a crash, is ignored, also if it is the first. Lines have no findings that need
other pages; those are found again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from robotrules.client.auditing.page_audit import PageAudit

__all__ = ["AuditJournal", "JournalError"]

JOURNAL_VERSION = 1
# A page has at most 40 findings of a few hundred characters.
LONGEST_LINE = 1024 * 1024


class JournalError(Exception):
    """A journal cannot be used; the message says why and what to do."""


class AuditJournal:
    """Reads the pages of an earlier run, then appends those of this one; a context manager."""

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        """Open a journal, or create it; *settings* are plain values for JSON."""
        self._path = Path(path)
        self._settings = {"journal": JOURNAL_VERSION, **settings}
        self.pages: list[PageAudit] = []
        """The pages of earlier runs."""
        end = self._read()
        self._file: BinaryIO = self._path.open("ab", buffering=0)
        if end < self._path.stat().st_size:
            self._file.truncate(end)
        if end == 0:
            self._write(self._settings)

    def __enter__(self) -> AuditJournal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, page: PageAudit) -> None:
        """Append a page; a crash loses at most the line that is being written."""
        self._write(page.as_dict())

    def _write(self, value: Mapping[str, Any]) -> None:
        self._file.write(_line(value))

    def _read(self) -> int:
        """Read a journal; return where its last whole line ends, 0 if there is none."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return 0
        with file:
            first = file.readline(LONGEST_LINE)
            # A run that ended while it wrote its settings has no page yet.
            if first != _line(self._settings) and _line(self._settings).startswith(first):
                return 0
            self._check_settings(first)
            if not first.endswith(b"\n"):
                raise JournalError("its first line was cut: pass another file to --resume")
            end = len(first)
            while line := file.readline(LONGEST_LINE):
                if not line.endswith(b"\n") and len(line) < LONGEST_LINE:
                    break
                try:
                    if not line.endswith(b"\n"):
                        raise ValueError("a line that is too long")
                    self.pages.append(PageAudit.from_dict(json.loads(line)))
                except (ValueError, OverflowError, RecursionError):
                    raise JournalError(
                        f"line {len(self.pages) + 2} of the journal is damaged: pass another file "
                        "to --resume, or remove this one"
                    ) from None
                end += len(line)
            return end

    def _check_settings(self, line: bytes) -> None:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or "journal" not in found:
            raise JournalError("it is not the journal of an audit: pass another file to --resume")
        changed = sorted(
            name
            for name in {*found, *self._settings}
            if found.get(name) != self._settings.get(name)
        )
        if changed:
            raise JournalError(
                f"it is the journal of another audit ({', '.join(changed)} differ): pass the same "
                "options, or another file to --resume"
            )


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"
